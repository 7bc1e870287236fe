//! Builds the `models.bin` and `space.bin` of a space.

use crate::writer::bytes;
use crate::{Size, Writer};
use assetq_core::codec::{cityhash64, murmur3};
use fastrand::Rng;

/// The paths of the models in [`models_bin`].
pub fn model_paths(size: Size) -> Vec<String> {
    (0..size.pick(6, 2_500)).map(|i| format!("content/location/space_models/rock_{i:04}.model")).collect()
}

pub fn model_ids(size: Size) -> Vec<u64> {
    model_paths(size).iter().map(|path| cityhash64(path.as_bytes())).collect()
}

/// A believable `models.bin`: models with their visuals, and one skeleton for all.
pub fn models_bin(seed: u64, size: Size) -> Vec<u8> {
    let mut rng = Rng::with_seed(seed);
    let ids = model_ids(size);
    let geometry = cityhash64(b"spaces/sample/models.geometry");
    let mut w = Writer::new();
    w.add(ids.len() as u32);
    w.push([1, 0, 1, 0]);
    w.add(0x18i64);
    let skeletons = w.add(0i64);
    let records = w.zeros(ids.len() * 0xA8);
    for (index, id) in ids.iter().enumerate() {
        let at = records + index * 0xA8;
        w.patch(at, bytes([*id, cityhash64(format!("rock_{index:04}.visual").as_bytes())]));
        w.patch(at + 0x11, [4]);
        let visual = at + 0x30;
        let sets = 1 + rng.usize(..4);
        w.set(visual + 0x30, geometry);
        w.patch(visual + 0x38, [0, 1, sets as u8, 0, 1]);
        for (corner, sign) in [(0x40, -1f32), (0x50, 1.0)] {
            w.patch(visual + corner, bytes([(); 3].map(|()| sign * (1.0 + rng.f32() * 9.0))));
        }
        let array = w.zeros(sets * 0x28);
        w.point(visual + 0x60, visual, array);
        let names: Vec<u32> = (0..sets).map(|set| murmur3(format!("set_{set}").as_bytes())).collect();
        for (set, name) in names.iter().enumerate() {
            let at = array + set * 0x28;
            let [vertices, indices] =
                ["vertices", "indices"].map(|what| murmur3(format!("rock_{index}_{set}.{what}").as_bytes()));
            w.patch(at, bytes([*name, murmur3(b"rock"), vertices, indices]));
            w.set(at + 0x10, cityhash64(b"content/location/rock.mfm"));
            w.patch(at + 0x19, [1]);
            let nodes = w.add(murmur3(b"Scene Root"));
            w.point(at + 0x20, at, nodes);
        }
        let lod = w.zeros(0x10);
        w.point(visual + 0x68, visual, lod);
        w.set(lod, 1000f32);
        w.patch(lod + 4, [1]);
        w.set(lod + 6, sets as u16);
        let names = w.all(names);
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

const IDENTITY: [f32; 16] = [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.];

/// A believable `space.bin`: instances of the models in [`models_bin`], some with a name, and two point lights.
pub fn space_bin(seed: u64, size: Size) -> Vec<u8> {
    let mut rng = Rng::with_seed(seed);
    let ids = model_ids(size);
    let count = ids.len() * 4;
    let mut w = Writer::new();
    w.all([count as u32, 0, 0, 2]);
    w.zeros(0x10);
    let pointers = w.zeros(0x40);
    let instances = w.zeros(count * 0x70);
    w.point(pointers, 0, instances);
    for index in 0..count {
        let at = instances + index * 0x70;
        let mut transform = IDENTITY;
        for position in &mut transform[12..15] {
            *position = (rng.f32() * 2000.0 - 1000.0).round();
        }
        w.patch(at, bytes(transform));
        w.set(at + 0x50, ids[rng.usize(..ids.len())]);
        w.set(at + 0x58, 0x0400_0001u32);
        if index % 5 == 0 {
            let name = format!("{:08X}.{:08X}\0", rng.u32(..), rng.u32(..));
            w.set(at + 0x40, name.len() as u32);
            let text = w.push(name);
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
