//! Levels of textures as RGBA pixels, and these as PNG.

use super::{Level, Masks, TexelFormat};
use crate::error::{Error, ErrorKind, Result};
use std::io::Write;

/// Pixels of 8 bits in each of four channels, row by row from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
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
    let unsupported = || texels.error(ErrorKind::Unsupported { what: format!("texels of {}", format.name()).into() });
    let size = format.size(width, height).and_then(|size| usize::try_from(size).ok()).ok_or_else(unsupported)?;
    let bytes = texels.take(size)?;
    let rgba = match format {
        TexelFormat::Masked(masks) => unmask(masks, width, bytes),
        _ => blocks(format, width, height, bytes),
    };
    let rgba = rgba.ok_or_else(unsupported)?;
    Ok(Pixels { width, height, rgba })
}

/// Pixels on a side of a block.
const SIDE: usize = 4;

/// A decoded block.
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
        TexelFormat::Masked(_) | TexelFormat::Dxgi(_) | TexelFormat::FourCc(_) => {}
    }
}

/// The nearest of 256 steps from 0 to 1; 0 for what is not a number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 255")]
fn to_u8(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

fn unmask(masks: Masks, width: u32, bytes: &[u8]) -> Option<Vec<[u8; 4]>> {
    let step = usize::try_from(masks.bits / 8).ok().filter(|step| (1..=4).contains(step))?;
    let row = usize::try_from(width).ok()?.checked_mul(step)?;
    if masks == Masks::RGBA8 {
        return Some(bytes.as_chunks().0.to_vec());
    }
    let texel = |bytes: &[u8]| {
        let value = bytes.iter().rev().fold(0u32, |value, &byte| value << 8 | u32::from(byte));
        let [r, g, b, a] = masks.channels;
        let opacity = if a == 0 { 255 } else { channel(value, a) };
        match masks.is_grey {
            true => [channel(value, r), channel(value, r), channel(value, r), opacity],
            false => [channel(value, r), channel(value, g), channel(value, b), opacity],
        }
    };
    Some(bytes.chunks_exact(row).flat_map(|row| row.chunks_exact(step).map(texel)).collect())
}

/// The bits of `mask` in `value`, scaled to 8 bits.
fn channel(value: u32, mask: u32) -> u8 {
    let shift = mask.trailing_zeros();
    let most = u64::from(mask.checked_shr(shift).unwrap_or(0));
    let bits = u64::from((value & mask).checked_shr(shift).unwrap_or(0));
    let scaled = bits.saturating_mul(255).saturating_add(most / 2).checked_div(most).unwrap_or(0);
    u8::try_from(scaled).unwrap_or(u8::MAX)
}

impl Pixels {
    /// Writes the pixels as PNG: without opacity if all of them are opaque, and as shades of grey if they have no other
    /// colour. Compression is quick: a third larger than the smallest, in a tenth of the time. The written channels are moved
    /// together in the memory of the pixels: images of several threads take no more than their pixels.
    ///
    /// # Errors
    /// `Io` if `out` fails.
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
            let (from, to) = (pixel.saturating_mul(4), pixel.saturating_mul(channels));
            bytes.copy_within(from..from.saturating_add(channels), to);
        }
        let bytes = bytes.get(..count.saturating_mul(channels)).unwrap_or_default();
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
