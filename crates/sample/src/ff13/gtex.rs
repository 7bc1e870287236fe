//! Builds `.trb` files with textures, and the `.imgb` files with their texels.

use crate::dds::flat_block;
use crate::random::Rng;
use crate::writer::bytes;
use crate::{Size, Writer};
use assetq_ff13::gtex::layout;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GtexBuilder {
    /// How texels are stored: see [`layout::GtexHeader::format`].
    pub format: u8,
    /// Width and height of the largest level.
    pub size: [u16; 2],
    pub cube: bool,
    pub levels: Vec<Vec<u8>>,
}

/// A `.trb` with these textures, and its `.imgb`.
pub fn build(textures: &[GtexBuilder]) -> (Vec<u8>, Vec<u8>) {
    let (mut trb, mut imgb) = (Writer::new(), Writer::new());
    section(&mut trb, b"RES ");
    trb.all([0, 0, textures.len() as u32]);
    trb.push(b"brt\0");
    let rows = trb.zeros(textures.len() * 16);
    let data = trb.position();
    for (number, texture) in textures.iter().enumerate() {
        let faces = if texture.cube { 6 } else { 1 };
        let start = section(&mut trb, b"txb ");
        // The place of the description.
        trb.all([0x40u32, 0, 0, 0]);
        trb.push(layout::MAGIC);
        let mips = texture.levels.len() / faces;
        trb.push([1, 0, texture.format, mips as u8, 0, u8::from(texture.cube)]);
        let [width, height] = texture.size;
        trb.all([width, height, 1].map(u16::to_be));
        trb.add(24u32.to_be());
        trb.zeros(4);
        for level in &texture.levels {
            trb.all([imgb.push(level), level.len()].map(|number| (number as u32).to_be()));
            imgb.align(128);
        }
        trb.align(16);
        let size = (trb.position() - start) as u32;
        trb.set(start + SIZE, size);
        trb.patch(rows + number * 16, bytes([number as u32, (start - data) as u32, size, 0]));
    }
    let size = trb.position() as u32;
    trb.set(SIZE, size);
    (trb.into_bytes(), imgb.into_bytes())
}

/// Where the size of a section stands in its header.
const SIZE: usize = 0x10;

/// Adds the header of a section without its size. Returns its position.
fn section(trb: &mut Writer, kind: &[u8; 4]) -> usize {
    let start = trb.push(layout::FILE_MAGIC);
    trb.push(kind);
    trb.add(0x0100u32);
    trb.all([0u16, layout::HEADER_SIZE as u16]);
    trb.zeros(layout::HEADER_SIZE - SIZE);
    start
}

/// A side of random blocks.
fn blocks(side: u16, rng: &mut Rng) -> Vec<u8> {
    let count = usize::from(side.div_ceil(4)).pow(2);
    (0..count).flat_map(|_| flat_block([rng.u8(..), rng.u8(..), rng.u8(..)])).collect()
}

fn textures(seed: u64, size: Size) -> Vec<GtexBuilder> {
    let mut rng = Rng::with_seed(seed);
    let side: u16 = size.pick(16, 512);
    let levels = (0..3).map(|mip| blocks(side >> mip, &mut rng)).collect();
    // The texels are in the other file: only a size makes the `.trb` of another seed differ.
    let face: u16 = if seed.is_multiple_of(2) { 16 } else { 8 };
    let faces = (0..6).map(|_| blocks(face, &mut rng)).collect();
    vec![
        GtexBuilder { format: 0x18, size: [side, side], cube: false, levels },
        GtexBuilder { format: 0x18, size: [face, face], cube: true, levels: faces },
        GtexBuilder { format: 4, size: [2, 1], cube: false, levels: vec![vec![1, 2, 3, 4, 5, 6, 7, 8]] },
    ]
}

pub fn demo(seed: u64, size: Size) -> Vec<u8> {
    build(&textures(seed, size)).0
}

/// The texels of [`demo`].
pub fn demo_imgb(seed: u64, size: Size) -> Vec<u8> {
    build(&textures(seed, size)).1
}
