//! Builds `.trb` files with textures, and the `.imgb` files with their texels.

use super::dds::flat_block;
use super::{Size, Writer};
use assetq_ff13::gtex::layout;
use fastrand::Rng;

/// An unfinished texture: its format, its width and height, whether it is a cube map, and its levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GtexBuilder {
    /// How texels are stored: see [`layout::Header::format`].
    pub format: u8,
    /// Width and height of the largest level.
    pub size: [u16; 2],
    /// Whether it is a cube map.
    pub cube: bool,
    /// The levels of each face.
    pub levels: Vec<Vec<u8>>,
}

/// A `.trb` with these textures, and its `.imgb`.
pub fn build(textures: &[GtexBuilder]) -> (Vec<u8>, Vec<u8>) {
    let (mut trb, mut imgb) = (Writer::new(), Writer::new());
    trb.push(b"SEDBRES ");
    trb.zeros(0x28);
    for texture in textures {
        let faces = if texture.cube { 6 } else { 1 };
        trb.push(b"SEDBtxb ");
        trb.zeros(0x28);
        trb.push(layout::MAGIC);
        let mips = texture.levels.len() / faces;
        trb.push([1, 0, texture.format, mips as u8, 0, u8::from(texture.cube)]);
        for value in [texture.size[0], texture.size[1], 1] {
            trb.push(value.to_be_bytes());
        }
        trb.push(24u32.to_be_bytes());
        trb.zeros(4);
        for level in &texture.levels {
            trb.push((imgb.position() as u32).to_be_bytes());
            trb.push((level.len() as u32).to_be_bytes());
            imgb.push(level);
            imgb.align(128);
        }
    }
    (trb.into_bytes(), imgb.into_bytes())
}

fn textures(seed: u64, size: Size) -> Vec<GtexBuilder> {
    let mut rng = Rng::with_seed(seed);
    let side: u16 = if size == Size::Small { 16 } else { 512 };
    let blocks = |side: u16, rng: &mut Rng| -> Vec<u8> {
        let count = usize::from(side.div_ceil(4)).pow(2);
        (0..count).flat_map(|_| flat_block([rng.u8(..), rng.u8(..), rng.u8(..)])).collect()
    };
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

/// A `.trb` with several textures.
pub fn demo(seed: u64, size: Size) -> Vec<u8> {
    build(&textures(seed, size)).0
}

/// The texels of [`demo`].
pub fn demo_imgb(seed: u64, size: Size) -> Vec<u8> {
    build(&textures(seed, size)).1
}
