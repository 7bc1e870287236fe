//! Records of materials and visuals with chosen contents.

use super::bwdb::DatabaseBuilder;
use super::prototypes::{BlobWriter, u16s, u32s, u64s};
use super::text_models::Joint;
use crate::writer::bytes;

/// The slots of a ship's textures, and the endings of the files in them.
pub const SLOTS: [(&str, &str); 4] =
    [("diffuseMap", "a"), ("normalMap", "n"), ("metallicGlossMap", "mg"), ("ambientOcclusionMap", "ao")];

/// Fills the record at `at` with a material of these textures by slot, one flag and any numbers. Names and paths are added to the
/// database.
pub fn material(
    blob: &mut BlobWriter,
    at: usize,
    fx: &str,
    textures: &[(&str, String)],
    double_sided: bool,
    floats: &[(&str, f32)],
    builder: &mut DatabaseBuilder,
) {
    let names: Vec<u32> = textures.iter().map(|(slot, _)| builder.string(slot)).collect();
    let paths: Vec<u64> = textures.iter().map(|(_, path)| builder.path(path)).collect();
    let fx = builder.path(fx);
    let flag = builder.string("doubleSided");
    let numbers: Vec<u32> = floats.iter().map(|(name, _)| builder.string(name)).collect();
    let refs = (0..textures.len()).map(|n| (n << 4 | 4) as u16).chain([0]);
    let refs = refs.chain((0..floats.len()).map(|n| (n << 4 | 3) as u16));
    blob.data.set(at, (textures.len() + 1 + floats.len()) as u16);
    blob.data.patch(at + 2, [1, 0, 0, floats.len() as u8, textures.len() as u8]);
    blob.array(at, 0x10, u32s(names.into_iter().chain([flag]).chain(numbers)));
    blob.array(at, 0x18, u16s(refs));
    blob.array(at, 0x20, [u8::from(double_sided)]);
    blob.array(at, 0x38, bytes(floats.iter().map(|(_, number)| *number)));
    blob.array(at, 0x40, u64s(paths));
    blob.data.set(at + 0x68, fx);
}

/// A render set of a visual.
#[derive(Debug, Clone)]
pub struct DrawnSet<'a> {
    pub name: &'a str,
    pub material: &'a str,
    /// The ids of its mappings.
    pub mappings: [u32; 2],
    /// The id of its material.
    pub mfm: u64,
    pub nodes: &'a [String],
}

/// A visual with its nodes, render sets and levels of detail.
#[derive(Debug, Clone)]
pub struct DrawnVisual<'a> {
    pub geometry: &'a str,
    pub joints: &'a [Joint],
    pub bounds: [[f32; 3]; 2],
    pub sets: Vec<DrawnSet<'a>>,
    /// The extent of each level, and the names of its sets.
    pub lods: Vec<(f32, Vec<&'a str>)>,
}

impl DrawnVisual<'_> {
    /// Fills the record at `at`.
    pub fn write(&self, blob: &mut BlobWriter, at: usize, builder: &mut DatabaseBuilder) {
        let names = u32s(self.joints.iter().map(|joint| builder.string(&joint.name)).collect::<Vec<_>>());
        let count = self.joints.len();
        blob.data.set(at, count as i32);
        blob.array(at, 0x08, &names);
        blob.array(at, 0x10, u16s(0..count as u16));
        blob.array(at, 0x18, &names);
        blob.array(at, 0x20, bytes(self.joints.iter().flat_map(|joint| joint.matrix)));
        blob.array(at, 0x28, u16s(self.joints.iter().map(|joint| joint.parent.map_or(0xFFFF, |parent| parent as u16))));
        blob.data.set(at + 0x30, builder.path(self.geometry));
        blob.data.patch(at + 0x38, [0, 1, self.sets.len() as u8, 0, self.lods.len() as u8]);
        blob.floats(at + 0x40, &self.bounds[0]);
        blob.floats(at + 0x50, &self.bounds[1]);
        for (record, set) in blob.each(at, 0x60, self.sets.len(), 0x28).zip(&self.sets) {
            let [vertices, indices] = set.mappings;
            blob.data.patch(record, u32s([builder.string(set.name), builder.string(set.material), vertices, indices]));
            blob.data.set(record + 0x10, set.mfm);
            blob.data.patch(record + 0x18, [u8::from(set.nodes.len() > 1), set.nodes.len() as u8]);
            blob.array(record, 0x20, u32s(set.nodes.iter().map(|node| builder.string(node)).collect::<Vec<_>>()));
        }
        for (number, (record, (extent, sets))) in blob.each(at, 0x68, self.lods.len(), 0x10).zip(&self.lods).enumerate()
        {
            blob.floats(record, &[*extent]);
            blob.data.patch(record + 4, [u8::from(number == 0)]);
            blob.data.set(record + 6, sets.len() as u16);
            blob.array(record, 8, u32s(sets.iter().map(|set| builder.string(set)).collect::<Vec<_>>()));
        }
    }
}
