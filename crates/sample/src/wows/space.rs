//! Builds the `models.bin` and `space.bin` of a space.

use crate::random::Rng;
use crate::writer::bytes;
use crate::{Size, Writer};
use assetq_core::codec::{cityhash64, murmur3};

/// The paths of the models in [`models_bin`].
pub fn model_paths(size: Size) -> Vec<String> {
    (0..size.pick(6, 2_500)).map(|i| format!("content/location/space_models/rock_{i:04}.model")).collect()
}

pub fn model_ids(size: Size) -> Vec<u64> {
    model_paths(size).iter().map(|path| cityhash64(path.as_bytes())).collect()
}

/// A model of a space, with the ids of its paths.
#[derive(Debug, Clone)]
pub struct SpaceModel {
    pub id: u64,
    pub visual: u64,
    pub geometry: u64,
    pub bounds: [[f32; 3]; 2],
    pub sets: Vec<SpaceSet>,
}

/// A render set: ids of names, and of the path of its material.
#[derive(Debug, Clone, Copy)]
pub struct SpaceSet {
    pub name: u32,
    pub material: u32,
    pub vertices: u32,
    pub indices: u32,
    pub mfm: u64,
}

/// A model in its place.
#[derive(Debug, Clone)]
pub struct Placed {
    pub id: u64,
    pub transform: [f32; 16],
    pub name: Option<String>,
}

/// A believable `models.bin`: models with their visuals, and one skeleton for all.
pub fn models_bin(seed: u64, size: Size) -> Vec<u8> {
    let mut rng = Rng::with_seed(seed);
    let models = model_ids(size).into_iter().enumerate().map(|(index, id)| {
        let count = 1 + rng.usize(..4);
        let bounds = [-1f32, 1.0].map(|sign| [(); 3].map(|()| sign * (1.0 + rng.f32() * 9.0)));
        let sets = (0..count).map(|set| {
            let [vertices, indices] =
                ["vertices", "indices"].map(|what| murmur3(format!("rock_{index}_{set}.{what}").as_bytes()));
            let (name, material) = (murmur3(format!("set_{set}").as_bytes()), murmur3(b"rock"));
            SpaceSet { name, material, vertices, indices, mfm: cityhash64(b"content/location/rock.mfm") }
        });
        let visual = cityhash64(format!("rock_{index:04}.visual").as_bytes());
        let geometry = cityhash64(b"spaces/sample/models.geometry");
        SpaceModel { id, visual, geometry, bounds, sets: sets.collect() }
    });
    write_models(&models.collect::<Vec<_>>())
}

/// A `models.bin` of these models, with one skeleton for all.
pub fn write_models(models: &[SpaceModel]) -> Vec<u8> {
    let mut w = Writer::new();
    w.add(models.len() as u32);
    w.push([1, 0, 1, 0]);
    w.add(0x18i64);
    let skeletons = w.add(0i64);
    let records = w.zeros(models.len() * 0xA8);
    for (index, model) in models.iter().enumerate() {
        let at = records + index * 0xA8;
        w.patch(at, bytes([model.id, model.visual]));
        w.patch(at + 0x11, [4]);
        let visual = at + 0x30;
        let sets = model.sets.len();
        w.set(visual + 0x30, model.geometry);
        w.patch(visual + 0x38, [0, 1, sets as u8, 0, 1]);
        for (corner, place) in [0x40, 0x50].into_iter().zip(model.bounds) {
            w.patch(visual + corner, bytes(place));
        }
        let array = w.zeros(sets * 0x28);
        w.point(visual + 0x60, visual, array);
        for (number, set) in model.sets.iter().enumerate() {
            let at = array + number * 0x28;
            w.patch(at, bytes([set.name, set.material, set.vertices, set.indices]));
            w.set(at + 0x10, set.mfm);
            w.patch(at + 0x19, [1]);
            let nodes = w.add(murmur3(b"Scene Root"));
            w.point(at + 0x20, at, nodes);
        }
        let lod = w.zeros(0x10);
        w.point(visual + 0x68, visual, lod);
        w.set(lod, 1000f32);
        w.patch(lod + 4, [1]);
        w.set(lod + 6, sets as u16);
        let names = w.all(model.sets.iter().map(|set| set.name));
        w.point(lod + 8, lod, names);
        w.patch(at + 0xA4, bytes([index as u16, sets as u16]));
    }
    let skeleton = w.zeros(0x30);
    w.point(skeletons, 0, skeleton);
    w.set(skeleton, 1i32);
    let name = bytes([murmur3(b"Scene Root")]);
    let parts =
        [(0x08, name.clone()), (0x10, vec![0, 0]), (0x18, name), (0x20, bytes(IDENTITY)), (0x28, vec![0xFF, 0xFF])];
    for (field, bytes) in parts {
        let at = w.push(bytes);
        w.point(skeleton + field, skeleton, at);
    }
    w.into_bytes()
}

/// A hostile `models.bin`: all of its models have the same 255 levels of detail and the same `sets` render sets, which
/// all have the same 255 nodes; each level of detail shows as many sets as there are, of an array that all share.
pub fn models_that_share(models: usize, sets: u16) -> Vec<u8> {
    let mut w = Writer::new();
    w.add(models as u32);
    w.push([0; 4]);
    w.all([0x18i64, 0]);
    let records = w.zeros(models * 0xA8);
    let render_sets = w.zeros(usize::from(sets) * 0x28);
    let lods = w.zeros(255 * 0x10);
    let names = w.zeros(usize::from(sets).max(255) * 4);
    for index in 0..models {
        let visual = records + index * 0xA8 + 0x30;
        w.set(visual + 0x3A, sets);
        w.patch(visual + 0x3C, [255]);
        w.point(visual + 0x60, visual, render_sets);
        w.point(visual + 0x68, visual, lods);
    }
    for set in (0..usize::from(sets)).map(|i| render_sets + i * 0x28) {
        w.patch(set + 0x19, [255]);
        w.point(set + 0x20, set, names);
    }
    for lod in (0..255).map(|i| lods + i * 0x10) {
        w.set(lod + 6, sets);
        w.point(lod + 8, lod, names);
    }
    w.into_bytes()
}

pub(super) const IDENTITY: [f32; 16] = [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.];

/// A believable `space.bin`: instances of the models in [`models_bin`], some with a name, and two point lights.
pub fn space_bin(seed: u64, size: Size) -> Vec<u8> {
    let mut rng = Rng::with_seed(seed);
    let ids = model_ids(size);
    let placed = (0..ids.len() * 4).map(|index| {
        let mut transform = IDENTITY;
        for position in &mut transform[12..15] {
            *position = (rng.f32() * 2000.0 - 1000.0).round();
        }
        let id = ids[rng.usize(..ids.len())];
        let name = (index % 5 == 0).then(|| format!("{:08X}.{:08X}", rng.u32(..), rng.u32(..)));
        Placed { id, transform, name }
    });
    write_space(&placed.collect::<Vec<_>>())
}

/// A `space.bin` of these instances, and two point lights.
pub fn write_space(placed: &[Placed]) -> Vec<u8> {
    let mut w = Writer::new();
    w.all([placed.len() as u32, 0, 0, 2]);
    w.zeros(0x10);
    let pointers = w.zeros(0x40);
    let instances = w.zeros(placed.len() * 0x70);
    w.point(pointers, 0, instances);
    for (index, placed) in placed.iter().enumerate() {
        let at = instances + index * 0x70;
        w.patch(at, bytes(placed.transform));
        w.set(at + 0x50, placed.id);
        w.set(at + 0x58, 0x0400_0001u32);
        if let Some(name) = &placed.name {
            w.set(at + 0x40, name.len() as u32 + 1);
            let text = w.text(name);
            w.point(at + 0x48, at + 0x40, text);
        }
    }
    let lights = w.zeros(2 * 0xC0);
    w.point(pointers + 3 * 8, 0, lights);
    for light in [lights, lights + 0xC0] {
        w.patch(light, bytes(IDENTITY));
        for (curve, width) in [(0x50, 5), (0x70, 2)] {
            w.set(light + curve, 1f32);
            w.set(light + curve + 0x10, 2i32);
            let at = w.all((0..2 * width).map(|i| i as f32 / 10.0));
            w.point(light + curve + 0x18, light + curve + 0x10, at);
        }
        w.set(light + 0xB0, 12.5f32);
    }
    w.into_bytes()
}
