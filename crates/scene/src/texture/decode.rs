//! Levels of textures as RGBA pixels, and these as PNG.

use super::{Level, Masks, TexelFormat};
use crate::error::{Error, ErrorKind, Result};
use std::io::Write;
use std::ops::Range;

/// Pixels of 8 bits in each of four channels, row by row from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    /// Pixels in a row.
    pub width: u32,
    pub height: u32,
    /// Red, green, blue and opacity of each pixel.
    pub rgba: Vec<[u8; 4]>,
}

/// Decodes the first slice of a level. One channel becomes grey; two become red and green with a blue of 0; floats are
/// clamped to 0 and 1; signed values from -1 to 1 are scaled to 0 to 255.
///
/// # Errors
/// `Unsupported` for a format that is not decoded, and `OutOfBounds` if the level has too few bytes.
pub fn decode(level: &Level<'_>) -> Result<Pixels> {
    let Level { format, width, height, texels, .. } = *level;
    let size = format.size(width, height).and_then(|size| usize::try_from(size).ok());
    let bytes = size.map(|size| texels.take(size)).transpose()?;
    let rgba = bytes.and_then(|bytes| match format {
        TexelFormat::Masked(Masks::RGBA8) => Some(bytes.as_chunks().0.to_vec()),
        TexelFormat::Masked(masks) => unmask(masks, width, bytes, channel),
        TexelFormat::Signed(masks) => unmask(masks, width, bytes, signed_channel),
        _ => blocks(format, width, height, bytes),
    });
    match rgba {
        Some(rgba) => Ok(Pixels { width, height, rgba }),
        None => Err(texels.error(ErrorKind::Unsupported { what: format!("texels of {}", format.name()).into() })),
    }
}

const SIDE: usize = 4;

type Block = [[u8; 4]; SIDE * SIDE];

fn blocks(format: TexelFormat, width: u32, height: u32, bytes: &[u8]) -> Option<Vec<[u8; 4]>> {
    let (width, height) = (usize::try_from(width).ok()?, usize::try_from(height).ok()?);
    let mut out = vec![[0u8; 4]; width.checked_mul(height)?];
    let row_size = format.block_size()?.checked_mul(width.div_ceil(SIDE))?;
    let mut block: Block = [[0; 4]; SIDE * SIDE];
    for (blocks, rows) in bytes.chunks_exact(row_size).zip(out.chunks_mut(width.checked_mul(SIDE)?)) {
        for (number, stored) in blocks.chunks_exact(format.block_size()?).enumerate() {
            decode_block(format, stored, &mut block);
            let left = number.checked_mul(SIDE)?;
            for (row, pixels) in rows.chunks_mut(width).zip(block.chunks_exact(SIDE)) {
                let there = row.get_mut(left..)?;
                let fits = there.len().min(SIDE);
                there.get_mut(..fits)?.copy_from_slice(pixels.get(..fits)?);
            }
        }
    }
    Some(out)
}

/// Decodes one block of the format's size.
fn decode_block(format: TexelFormat, stored: &[u8], out: &mut Block) {
    const PITCH: usize = SIDE * 4;
    match format {
        TexelFormat::Bc1 => bcdec_rs::bc1(stored, out.as_flattened_mut(), PITCH),
        TexelFormat::Bc2 => bcdec_rs::bc2(stored, out.as_flattened_mut(), PITCH),
        TexelFormat::Bc3 => bcdec_rs::bc3(stored, out.as_flattened_mut(), PITCH),
        TexelFormat::Bc7 => bcdec_rs::bc7(stored, out.as_flattened_mut(), PITCH),
        TexelFormat::Bc4 { signed: false } => {
            let mut values = [0u8; SIDE * SIDE];
            bcdec_rs::bc4(stored, &mut values, SIDE, false);
            out.iter_mut().zip(values).for_each(|(pixel, v)| *pixel = [v, v, v, 255]);
        }
        TexelFormat::Bc5 { signed: false } => {
            let mut values = [[0u8; 2]; SIDE * SIDE];
            bcdec_rs::bc5(stored, values.as_flattened_mut(), SIDE * 2, false);
            out.iter_mut().zip(values).for_each(|(pixel, [x, y])| *pixel = [x, y, 0, 255]);
        }
        TexelFormat::Bc4 { signed: true } => {
            let mut values = [0f32; SIDE * SIDE];
            bcdec_rs::bc4_float(stored, &mut values, SIDE, true);
            let grey = values.map(|v| to_u8(v * 0.5 + 0.5));
            out.iter_mut().zip(grey).for_each(|(pixel, v)| *pixel = [v, v, v, 255]);
        }
        TexelFormat::Bc5 { signed: true } => {
            let mut values = [[0f32; 2]; SIDE * SIDE];
            bcdec_rs::bc5_float(stored, values.as_flattened_mut(), SIDE * 2, true);
            let scaled = values.map(|both| both.map(|v| to_u8(v * 0.5 + 0.5)));
            out.iter_mut().zip(scaled).for_each(|(pixel, [x, y])| *pixel = [x, y, 0, 255]);
        }
        TexelFormat::Bc6h { signed } => {
            let mut values = [[0f32; 3]; SIDE * SIDE];
            bcdec_rs::bc6h_float(stored, values.as_flattened_mut(), SIDE * 3, signed);
            let clamped = values.map(|colour| colour.map(to_u8));
            out.iter_mut().zip(clamped).for_each(|(pixel, [r, g, b])| *pixel = [r, g, b, 255]);
        }
        TexelFormat::Masked(_) | TexelFormat::Signed(_) | TexelFormat::Dxgi(_) | TexelFormat::FourCc(_) => {}
    }
}

/// The nearest of 256 steps from 0 to 1; 0 for what is not a number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 255")]
fn to_u8(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

fn unmask(masks: Masks, width: u32, bytes: &[u8], channel: fn(u32, u32) -> u8) -> Option<Vec<[u8; 4]>> {
    let step = usize::try_from(masks.bits / 8).ok().filter(|step| (1..=4).contains(step))?;
    let row = usize::try_from(width).ok()?.checked_mul(step)?;
    let texels = bytes.chunks_exact(row).flat_map(|row| row.chunks_exact(step)).map(|bytes| {
        let value = bytes.iter().rev().fold(0u32, |value, &byte| value << 8 | u32::from(byte));
        let [r, g, b, a] = masks.channels;
        let opacity = if a == 0 { 255 } else { channel(value, a) };
        match masks.is_grey {
            true => [channel(value, r), channel(value, r), channel(value, r), opacity],
            false => [channel(value, r), channel(value, g), channel(value, b), opacity],
        }
    });
    Some(texels.collect())
}

/// The bits of `mask` in `value`, scaled to 8 bits; 0 for a channel without bits.
#[expect(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, reason = "32 bits, scaled to 8")]
fn channel(value: u32, mask: u32) -> u8 {
    if mask == 0 {
        return 0;
    }
    let [bits, most] = [value & mask, mask].map(|bits| u64::from(bits >> mask.trailing_zeros()));
    ((bits * 255 + most / 2) / most) as u8
}

/// The bits of `mask` in `value` as a signed number from -1 to 1, scaled to 8 bits; 0 for a channel without bits.
#[expect(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, reason = "32 bits, scaled to 8")]
fn signed_channel(value: u32, mask: u32) -> u8 {
    if mask == 0 {
        return 0;
    }
    let sign = 1i64 << (mask.count_ones() - 1);
    let bits = i64::from((value & mask) >> mask.trailing_zeros());
    // The sign bit stands for its negative worth.
    let number = if bits >= sign { bits - sign * 2 } else { bits };
    let share = (number as f64 / (sign - 1).max(1) as f64) as f32;
    to_u8(share * 0.5 + 0.5)
}

/// The meaning of pixels, by which they are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Colours of sRGB, averaged as light.
    Colour,
    /// Directions, whose average has a length of 1.
    Normal,
    Number,
}

/// The pixels of a row or column of `large` pixels that make pixel `at` of `small`.
#[expect(clippy::arithmetic_side_effects, reason = "twice a pixel of the smaller image is one of the larger")]
fn halved_range(at: u32, small: u32, large: u32) -> Range<usize> {
    let start = at as usize * 2;
    start..if at + 1 == small { large as usize } else { start + 2 }
}

/// The linear light of a byte of sRGB.
fn light(byte: u8) -> f32 {
    let channel = f32::from(byte) / 255.0;
    if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
}

/// The byte of sRGB for linear light.
fn srgb(light: f32) -> u8 {
    to_u8(if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 })
}

impl Pixels {
    /// Halves the pixels until no side has more than `size`: the mean of each square of four pixels, of up to nine at odd edges.
    #[must_use]
    pub fn within(mut self, size: u32, content: Content) -> Self {
        while self.width.max(self.height) > size.max(1) {
            self = self.halved(content);
        }
        self
    }

    #[expect(clippy::indexing_slicing, reason = "an image has all pixels of its rows")]
    fn halved(&self, content: Content) -> Self {
        let colours = (0..=255).map(|byte| match content {
            Content::Colour => light(byte),
            Content::Normal | Content::Number => f32::from(byte) / 255.0,
        });
        let colours: Vec<f32> = colours.collect();
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let mut rgba = Vec::new();
        for y in 0..height {
            let rows = halved_range(y, height, self.height);
            let rows = self.rgba.chunks_exact(self.width as usize).take(rows.end).skip(rows.start);
            for x in 0..width {
                let (columns, mut sum, mut count) = (halved_range(x, width, self.width), [0f32; 4], 0f32);
                for row in rows.clone() {
                    for [r, g, b, a] in &row[columns.clone()] {
                        let [r, g, b] = [r, g, b].map(|byte| colours[usize::from(*byte)]);
                        let channels = [r, g, b, f32::from(*a) / 255.0];
                        sum.iter_mut().zip(channels).for_each(|(sum, channel)| *sum += channel);
                        count += 1.0;
                    }
                }
                let [r, g, b, a] = sum.map(|sum| sum / count);
                let [r, g, b] = match content {
                    Content::Colour => [r, g, b].map(srgb),
                    Content::Number => [r, g, b].map(to_u8),
                    Content::Normal => {
                        let [x, y, z] = [r, g, b].map(|channel| channel * 2.0 - 1.0);
                        let length = (x * x + y * y + z * z).sqrt();
                        let unit = if length > 1e-3 { [x, y, z].map(|v| v / length) } else { [0.0, 0.0, 1.0] };
                        unit.map(|v| to_u8(v * 0.5 + 0.5))
                    }
                };
                rgba.push([r, g, b, to_u8(a)]);
            }
        }
        Self { width, height, rgba }
    }

    /// Writes the pixels as PNG: without opacity if all of them are opaque, and as shades of grey if they have no other
    /// colour. Compression is quick: a third larger than the smallest, in a tenth of the time. The written channels are moved
    /// together in the memory of the pixels: images of several threads take no more than their pixels.
    ///
    /// # Errors
    /// `Io` if `out` fails.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "four channels of each pixel are in memory"
    )]
    pub fn write_png(mut self, out: impl Write) -> Result<()> {
        let opaque = self.rgba.iter().all(|[.., a]| *a == 255);
        let grey = opaque && self.rgba.iter().all(|[r, g, b, _]| r == g && g == b);
        let (colour, channels) = match (grey, opaque) {
            (true, _) => (png::ColorType::Grayscale, 1usize),
            (_, true) => (png::ColorType::Rgb, 3),
            _ => (png::ColorType::Rgba, 4),
        };
        let count = self.rgba.len();
        let bytes = self.rgba.as_flattened_mut();
        let moved = if channels < 4 { count } else { 0 };
        for pixel in 0..moved {
            bytes.copy_within(pixel * 4..pixel * 4 + channels, pixel * channels);
        }
        let bytes = &bytes[..count * channels];
        let mut encoder = png::Encoder::new(out, self.width, self.height);
        encoder.set_color(colour);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(bytes)?;
            writer.finish()
        });
        written.map_err(|error| match error {
            png::EncodingError::IoError(error) => Error::io("cannot write", error),
            other => {
                let kind = ErrorKind::Codec { codec: "PNG", message: other.to_string().into() };
                Error::of_part(kind, "")
            }
        })
    }

    /// The pixels as the bytes of a PNG.
    ///
    /// # Errors
    /// As [`Pixels::write_png`].
    pub fn to_png(self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.write_png(&mut out)?;
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_halved_as_what_they_mean() {
        let halved = |width: u32, rgba: &[[u8; 4]], content| {
            let height = rgba.len() as u32 / width;
            let small = Pixels { width, height, rgba: rgba.to_vec() }.within(1, content);
            assert_eq!((small.width, small.height, small.rgba.len()), (1, 1, 1));
            small.rgba[0]
        };
        let (black, white) = ([0, 0, 0, 255], [255, 255, 255, 255]);
        // Half of the light is 188 of 255 in sRGB.
        assert_eq!(halved(2, &[black, white, white, black], Content::Colour), [188, 188, 188, 255]);
        assert_eq!(halved(2, &[black, white, white, black], Content::Number), [128, 128, 128, 255]);
        // Two directions, each tilted by 45 degrees, are up together.
        assert_eq!(halved(2, &[[218, 128, 218, 255], [37, 128, 218, 255]], Content::Normal), [128, 128, 255, 255]);
        assert_eq!(
            halved(3, &[[0, 0, 0, 0], [30, 0, 0, 0], [60, 0, 0, 0]], Content::Number),
            [30, 0, 0, 0],
            "an odd edge"
        );
        let large = Pixels { width: 8, height: 4, rgba: vec![white; 32] };
        assert_eq!(large.clone().within(8, Content::Colour), large);
        assert_eq!((large.clone().within(4, Content::Colour).width, large.within(3, Content::Colour).height), (4, 1));
    }

    #[test]
    fn signed_channels_reach_from_minus_one_to_one() {
        assert_eq!([0x80, 0x81, 0, 0x40, 0x7F].map(|byte| signed_channel(byte, 0xFF)), [0, 0, 128, 192, 255]);
        assert_eq!([0x8000, 0x7F00].map(|value| signed_channel(value, 0xFF00)), [0, 255]);
        assert_eq!(signed_channel(5, 0), 0);
    }
}
