//! Blocks, read by an independent reader and compared with the GLB of the same drawing.

use super::*;
use crate::scene::{Context, Options, SceneFormat, Shapes};
use crate::{Asset, Source};
use assetq_sample::geometry::{GeometryBuilder, PlateShape, demo};
use assetq_sample::{self, Size};

/// A part as a browser decodes it: positions, normals and triangles.
struct Read {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
}

fn unfold(folded: u64) -> i64 {
    if folded.is_multiple_of(2) { (folded / 2) as i64 } else { -(folded.div_ceil(2) as i64) }
}

fn read(part: &Value, blocks: &[(String, Vec<u8>)]) -> Read {
    let number = |key: &str| part[key].as_u64().unwrap() as usize;
    let point = |key: &str| [0, 1, 2].map(|axis| part[key][axis].as_f64().unwrap());
    let (min, max, count) = (point("min"), point("max"), number("vertices"));
    let (_, bytes) = blocks.iter().find(|(name, _)| part["block"] == **name).unwrap();
    let mut rest = &bytes[number("at")..];
    let mut take = |count: usize| rest.split_off(..count).unwrap();
    let mut positions = vec![[0.0; 3]; count];
    for axis in 0..3 {
        let (low, high) = (take(count), take(count));
        let mut value = 0i64;
        for (i, (low, high)) in low.iter().zip(high).enumerate() {
            value = (value + unfold(u64::from(*low) + 256 * u64::from(*high))).rem_euclid(65536);
            positions[i][axis] = (min[axis] + (max[axis] - min[axis]) * value as f64 / 65535.0) as f32;
        }
    }
    let mut normals = Vec::new();
    if part["normals"] == true {
        let (mut u, mut v) = (0u8, 0u8);
        for (du, dv) in take(count).iter().zip(take(count)) {
            (u, v) = (u.wrapping_add(*du), v.wrapping_add(*dv));
            let [x, y] = [u, v].map(|c| f32::from(c as i8) / 127.0);
            let z = 1.0 - x.abs() - y.abs();
            let [x, y] = if z < 0.0 { [(1.0 - y.abs()).copysign(x), (1.0 - x.abs()).copysign(y)] } else { [x, y] };
            let length = (x * x + y * y + z * z).sqrt();
            normals.push([x / length, y / length, z / length]);
        }
    }
    let mut triangles = Vec::new();
    if part["indexed"] == true {
        let mut before = 0i64;
        let mut index = || {
            let (mut folded, mut shift) = (0u64, 0);
            loop {
                let byte = take(1)[0];
                folded |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    before = (before + unfold(folded)).rem_euclid(1 << 32);
                    return before as u32;
                }
            }
        };
        triangles.extend((0..number("triangles")).map(|_| [index(), index(), index()]));
    } else {
        triangles.extend((0..count as u32 / 3).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]));
    }
    Read { positions, normals, triangles }
}

/// The page's part of a file, and its GLB.
fn both(name: &str, bytes: Vec<u8>) -> (Part, Vec<u8>) {
    let asset = Asset::open(Source::from_vec(name, bytes)).unwrap();
    let drawing = asset.reader().facet::<dyn Shapes>().unwrap();
    let options = Options { lod: None, ..Options::default() };
    let drawing = drawing.draw(&Context::default(), options).unwrap();
    let mut glb = Vec::new();
    drawing.write(SceneFormat::Glb, &mut glb).unwrap();
    (shown(&drawing.figure().unwrap().unwrap()), glb)
}

#[test]
fn blocks_have_what_the_glb_has() {
    let ((shown, blocks), glb) = both("ship.geometry", demo(3, Size::Small));
    let glb = gltf::Gltf::from_slice(&glb).unwrap();
    let parts = shown.meta["parts"].as_array().unwrap();
    let meshes: Vec<_> = glb.document.meshes().collect();
    assert_eq!(parts.len(), meshes.len());
    for (part, mesh) in parts.iter().zip(meshes) {
        assert_eq!(part["name"], mesh.name().unwrap());
        let primitive = mesh.primitives().next().unwrap();
        let reader = primitive.reader(|_| glb.blob.as_deref());
        let ours = read(part, &blocks);
        let size = [0, 1, 2].map(|axis| part["max"][axis].as_f64().unwrap() - part["min"][axis].as_f64().unwrap());
        let positions: Vec<_> = reader.read_positions().unwrap().collect();
        assert_eq!(ours.positions.len(), positions.len());
        for (ours, theirs) in ours.positions.iter().zip(positions) {
            for axis in 0..3 {
                let apart = f64::from((ours[axis] - theirs[axis]).abs());
                assert!(apart <= size[axis] / 65535.0 * 0.501 + 1e-6, "{ours:?} {theirs:?}");
            }
        }
        for (ours, theirs) in ours.normals.iter().zip(reader.read_normals().unwrap()) {
            let cosine: f32 = (0..3).map(|i| ours[i] * theirs[i]).sum();
            assert!(cosine > 0.999, "{ours:?} {theirs:?}");
        }
        let indices = match reader.read_indices() {
            Some(indices) => indices.into_u32().collect(),
            None => (0..ours.positions.len() as u32).collect::<Vec<_>>(),
        };
        assert_eq!(ours.triangles.as_flattened(), indices);
        let material = &shown.meta["materials"][part["material"].as_u64().unwrap() as usize];
        assert_eq!(material["name"], primitive.material().name().unwrap());
    }
}

#[test]
fn plates_are_the_rows_of_their_table() {
    let triangle = |z: f32| [[0.0, 0.0, z], [1.0, 0.0, z], [0.0, 1.0, z]];
    let plate = |material, layer, count: u8| PlateShape {
        material,
        layer,
        triangles: (0..count).map(|i| triangle(f32::from(i))).collect(),
    };
    let mut builder = GeometryBuilder::new();
    builder.armor("hull.armor", vec![plate(12, 1, 2), plate(2, 7, 1), plate(12, 3, 5)]);
    builder.armor("turret.armor", vec![plate(12, 2, 4)]);
    let ((shown, _), _) = both("ship.geometry", builder.build());
    let plates = |part: &Value| (part["name"].as_str().unwrap().to_owned(), part["plates"].to_string());
    let found: Vec<_> = shown.meta["parts"].as_array().unwrap().iter().map(plates).collect();
    // Row, layer and triangles of each plate.
    let expected = [
        ("hull.armor/2 Dual_SSC_Bow_Side", "[1,7,1]"),
        ("hull.armor/12 Bottom", "[0,1,2,2,3,5]"),
        ("turret.armor/12 Bottom", "[3,2,4]"),
    ];
    assert_eq!(found, expected.map(|(name, plates)| (name.to_owned(), plates.to_owned())));
    assert_eq!(shown.meta["groups"], json!(["hull.armor", "turret.armor"]));
}

#[test]
fn a_page_is_smaller_than_the_glb_of_the_same_drawing() {
    let files =
        [("full.geometry", demo(1, Size::Full)), ("many.geometry", assetq_sample::geometry::many(1, 60_000, 1))];
    for (name, bytes) in files {
        let ((shown, blocks), glb) = both(name, bytes);
        let blocks: usize = blocks.iter().map(|(_, bytes)| super::super::Block::new(bytes).unwrap().0.len()).sum();
        let page = blocks + shown.meta.to_string().len();
        assert!(page * 4 < glb.len(), "{name}: {page} of {}", glb.len());
    }
}

#[test]
fn numbers_of_all_sizes_come_back() {
    for index in [0u32, 1, 127, 128, 16_383, 16_384, u32::MAX / 2, u32::MAX] {
        for before in [0u32, 5, 1 << 31, u32::MAX] {
            let mut out = Vec::new();
            varint(fold32(index.wrapping_sub(before)), &mut out);
            let folded = out.iter().rev().fold(0u64, |sum, byte| sum << 7 | u64::from(byte & 0x7f));
            assert_eq!((i64::from(before) + unfold(folded)).rem_euclid(1 << 32), i64::from(index));
        }
    }
    for normal in [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [0.0, 0.0, 1.0], [-0.6, 0.0, -0.8]] {
        let [u, v] = octahedral(normal).map(|c| f32::from(c as i8) / 127.0);
        let z = 1.0 - u.abs() - v.abs();
        let [x, y] = if z < 0.0 { [(1.0 - v.abs()).copysign(u), (1.0 - u.abs()).copysign(v)] } else { [u, v] };
        let length = (x * x + y * y + z * z).sqrt();
        let cosine = (x * normal[0] + y * normal[1] + z * normal[2]) / length;
        assert!(cosine > 0.9995, "{normal:?} {x} {y} {z}");
    }
}

#[test]
fn a_map_has_its_boxes_and_their_rows() {
    let asset = Asset::open(Source::from_vec("town.wdata", assetq_sample::wdata::demo(1, Size::Small))).unwrap();
    let drawing = asset.reader().facet::<dyn Shapes>().unwrap().draw(&Context::default(), Options::default()).unwrap();
    let (shown, blocks) = shown(&drawing.figure().unwrap().unwrap());
    let block = |key: &str| &blocks.iter().find(|(name, _)| shown.meta[key] == **name).unwrap().1;
    let texts: Value = serde_json::from_slice(block("texts")).unwrap();
    let numbers: Vec<f32> = block("boxes").as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    let rows: Vec<u32> = block("rows").as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
    let count = shown.meta["count"].as_u64().unwrap() as usize;
    assert!(count > 20 && numbers.len() == count * 12 && rows.len() == count * 2);
    for number in 0..count {
        let table = shown.meta["kinds"][rows[number * 2] as usize]["table"].as_str().unwrap();
        let table = asset.reader().table(table).unwrap();
        let cell = |name: &str| {
            let column = table.columns().iter().position(|column| column.name == name).unwrap();
            table.value(rows[number * 2 + 1] as usize, column).unwrap().to_string()
        };
        assert_eq!(texts["names"][number], cell("name"));
        assert_eq!(numbers[number * 12].to_string(), cell("pos_x"), "its centre");
    }
    assert!(!block("links").is_empty() && block("links").len() % 36 == 0);
}
