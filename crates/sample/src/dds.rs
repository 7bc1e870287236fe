//! Builds `.dds` files.

use super::{Size, Writer};
use crate::random::Rng;
use assetq_scene::dds::layout;

/// The storage of the texels of a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texels {
    /// Four characters, in a header of 128 bytes.
    FourCc([u8; 4]),
    /// A number of DXGI, in a header of 148 bytes.
    Dxgi(u32),
    /// Bits of a texel and the masks of red, green, blue and opacity.
    Masks(u32, [u32; 4]),
}

/// An unfinished texture, with the width and height of its largest level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DdsBuilder {
    pub texels: Texels,
    pub width: u32,
    pub height: u32,
    pub mips: u32,
    /// Whether it is a cube map: six faces.
    pub cube: bool,
}

impl DdsBuilder {
    /// A flat texture with one level.
    pub fn new(texels: Texels, width: u32, height: u32) -> Self {
        Self { texels, width, height, mips: 1, cube: false }
    }

    /// A BC1 square with all levels.
    fn square(size: u32) -> Self {
        Self { mips: u32::BITS - size.leading_zeros(), ..Self::new(Texels::FourCc(*b"DXT1"), size, size) }
    }

    /// The header, and the level data as given.
    pub fn build(&self, levels: &[u8]) -> Vec<u8> {
        let (flags, four_cc, bits, masks) = match self.texels {
            Texels::FourCc(four_cc) => (layout::FOUR_CC, four_cc, 0, [0; 4]),
            Texels::Dxgi(_) => (layout::FOUR_CC, *b"DX10", 0, [0; 4]),
            Texels::Masks(bits, masks) => (layout::RGB | u32::from(masks[3] != 0), [0; 4], bits, masks),
        };
        let mut w = Writer::with_capacity(148 + levels.len());
        w.push(layout::MAGIC);
        w.all([layout::HEADER_SIZE, 0x1007, self.height, self.width, 0, 0, self.mips]);
        w.zeros(44);
        w.all([32, flags]);
        w.push(four_cc);
        w.add(bits);
        w.all(masks);
        w.all([0x1000, if self.cube { layout::CUBE | layout::FACES } else { 0 }]);
        w.zeros(12);
        if let Texels::Dxgi(number) = self.texels {
            w.all([number, 3, if self.cube { layout::DX10_CUBE } else { 0 }, 1, 0]);
        }
        w.push(levels);
        w.into_bytes()
    }

    /// The blocks of all levels: `block` gives the block of 4 by 4 texels at a column and a row of a level.
    pub fn blocks<const N: usize>(&self, mut block: impl FnMut(u32, [u32; 2]) -> [u8; N]) -> Vec<u8> {
        let mut out = Vec::new();
        for _ in 0..if self.cube { 6 } else { 1 } {
            for mip in 0..self.mips {
                let [width, height] = [self.width, self.height].map(|size| (size >> mip).max(1).div_ceil(4));
                for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
                    out.extend(block(mip, [x, y]));
                }
            }
        }
        out
    }
}

/// A BC1 block of one colour, with channels of 5, 6 and 5 bits.
pub fn flat_block([r, g, b]: [u8; 3]) -> [u8; 8] {
    let colour = u16::from(r >> 3) << 11 | u16::from(g >> 2) << 5 | u16::from(b >> 3);
    let [low, high] = colour.to_le_bytes();
    [low, high, low, high, 0, 0, 0, 0]
}

/// A BC1 block of 16 texels: its ends are the darkest and the brightest of them.
fn block(texels: &[[u8; 3]; 16]) -> [u8; 8] {
    let brightness = |[r, g, b]: [u8; 3]| 2 * u32::from(r) + 4 * u32::from(g) + u32::from(b);
    let packed = |[r, g, b]: [u8; 3]| u16::from(r >> 3) << 11 | u16::from(g >> 2) << 5 | u16::from(b >> 3);
    let by_brightness = |texel: &&[u8; 3]| brightness(**texel);
    let [dark, bright] = [texels.iter().min_by_key(by_brightness), texels.iter().max_by_key(by_brightness)]
        .map(|end| *end.expect("16 texels"));
    // A block whose first end is the greater number has four colours.
    let (first, last) = if packed(bright) >= packed(dark) { (bright, dark) } else { (dark, bright) };
    if packed(first) == packed(last) {
        return flat_block(first);
    }
    let mix =
        |of_first: i32| [0, 1, 2].map(|c| (i32::from(first[c]) * of_first + i32::from(last[c]) * (3 - of_first)) / 3);
    let colours = [mix(3), mix(0), mix(2), mix(1)];
    let nearest = |texel: &[u8; 3]| {
        let far = |colour: &[i32; 3]| (0..3).map(|c| (colour[c] - i32::from(texel[c])).pow(2)).sum::<i32>();
        (0..4).min_by_key(|colour| far(&colours[*colour])).expect("four colours") as u32
    };
    let bits = texels.iter().rev().fold(0, |bits, texel| bits << 2 | nearest(texel));
    let mut bytes = [0; 8];
    bytes[..2].copy_from_slice(&packed(first).to_le_bytes());
    bytes[2..4].copy_from_slice(&packed(last).to_le_bytes());
    bytes[4..].copy_from_slice(&bits.to_le_bytes());
    bytes
}

/// A BC1 square with all levels, whose texels are given by column and row. Each level is the mean of the one before.
pub fn painted(size: u32, texel: impl Fn([u32; 2]) -> [u8; 3]) -> Vec<u8> {
    let builder = DdsBuilder::square(size);
    let mut levels = vec![(0..size * size).map(|n| texel([n % size, n / size])).collect::<Vec<_>>()];
    for level in 1..builder.mips {
        let (side, above) = (size >> level, &levels[level as usize - 1]);
        let mean = |n: u32| {
            let corner = n / side * 4 * side + n % side * 2;
            let four = [0, 1, 2 * side, 2 * side + 1].map(|step| above[(corner + step) as usize]);
            [0, 1, 2].map(|c| (four.iter().map(|texel| u32::from(texel[c])).sum::<u32>() / 4) as u8)
        };
        levels.push((0..side * side).map(mean).collect());
    }
    builder.build(&builder.blocks(|level, [x, y]| {
        let side = size >> level;
        let at = |n: u32| [(4 * x + n % 4).min(side - 1), (4 * y + n / 4).min(side - 1)];
        block(&std::array::from_fn(|n| {
            let [x, y] = at(n as u32);
            levels[level as usize][(y * side + x) as usize]
        }))
    }))
}

/// A BC1 texture of one colour, with all levels.
pub fn flat(size: u32, colour: [u8; 3]) -> Vec<u8> {
    let builder = DdsBuilder::square(size);
    builder.build(&builder.blocks(|_, _| flat_block(colour)))
}

/// A texture with all levels: squares of many colours.
pub fn demo(seed: u64, size: Size) -> Vec<u8> {
    let mut rng = Rng::with_seed(seed);
    let builder = DdsBuilder::square(size.pick(64, 2048));
    builder.build(&builder.blocks(|_, at| {
        let [r, g] = at.map(|at| (at as u8).wrapping_mul(16));
        flat_block([r, g, rng.u8(..)])
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_texture_of_full_size_has_all_of_its_blocks() {
        let blocks: usize = (0..12).map(|mip| (2048_usize >> mip).div_ceil(4).pow(2)).sum();
        assert_eq!(demo(1, Size::Full).len(), 128 + blocks * 8);
    }
}
