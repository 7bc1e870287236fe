//! Boxes as binary glTF: a node for each box, over one cube.
//!
//! The axes of the game are left-handed and those of glTF are right-handed: x is mirrored. Below the root, which scales to metres,
//! everything else has the numbers of the file.

use crate::error::{Error, ErrorKind, Result};
use crate::geometry::METRES;
use serde_json::{Value, json};
use std::io::Write;

/// A box to be written.
pub(crate) struct GlbBox<'a> {
    pub(crate) name: &'a str,
    pub(crate) material: usize,
    pub(crate) center: [f64; 3],
    /// Vectors from the centre to three of its sides. A box without a size is shown as a small cube.
    pub(crate) sides: [[f64; 3]; 3],
}

/// Half the size of a box whose size is not known, as the file counts.
const SMALL: f64 = 0.05;

/// Writes boxes, with materials by their names and colours.
///
/// # Errors
/// `Limit` when the file would have more than 4 GiB, and `Io` when `out` fails.
pub(crate) fn write<'a>(
    name: &str,
    materials: impl Iterator<Item = (&'a str, [f32; 3])>,
    boxes: impl Iterator<Item = GlbBox<'a>>,
    out: &mut dyn Write,
) -> Result<()> {
    let binary = cube();
    let materials: Vec<Value> = materials
        .map(|(name, [r, g, b])| {
            json!({ "name": name, "doubleSided": true, "pbrMetallicRoughness":
                { "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.9 } })
        })
        .collect();
    let meshes: Vec<Value> = (0..materials.len())
        .map(|material| {
            let attributes = json!({ "POSITION": 0, "NORMAL": 1 });
            json!({ "primitives": [{ "attributes": attributes, "indices": 2, "material": material }] })
        })
        .collect();
    let mut nodes = vec![Value::Null];
    nodes.extend(boxes.map(|GlbBox { name, material, center: [x, y, z], sides }| {
        let unknown = sides.as_flattened().iter().all(|v| *v == 0.0);
        let [a, b, c] = if unknown { [[SMALL, 0.0, 0.0], [0.0, SMALL, 0.0], [0.0, 0.0, SMALL]] } else { sides }
            .map(|[x, y, z]| [-x, y, z]);
        let matrix = [&a[..], &[0.0], &b, &[0.0], &c, &[0.0, -x, y, z, 1.0]].concat();
        json!({ "name": name, "mesh": material, "matrix": matrix })
    }));
    let children: Vec<usize> = (1..nodes.len()).collect();
    if let Some(root) = nodes.first_mut() {
        *root = json!({ "name": name, "scale": [METRES, METRES, METRES], "children": children });
    }
    let accessor = |view: u8, count: u8, kind: &str, component: u16| json!({ "bufferView": view, "count": count, "type": kind, "componentType": component });
    let positions = json!({ "bufferView": 0, "count": 24, "type": "VEC3", "componentType": 5126,
        "min": [-1, -1, -1], "max": [1, 1, 1] });
    let [normals, indices] = [accessor(1, 24, "VEC3", 5126), accessor(2, 36, "SCALAR", 5123)];
    let view = |at: u16, length: u16, target: u16| json!({ "buffer": 0, "byteOffset": at, "byteLength": length, "target": target });
    let root = json!({
        "asset": { "version": "2.0", "generator": concat!("assetq ", env!("CARGO_PKG_VERSION")) },
        "scene": 0, "scenes": [{ "name": name, "nodes": [0] }], "nodes": nodes, "meshes": meshes, "materials": materials,
        "accessors": [positions, normals, indices],
        "bufferViews": [view(0, 288, 34962), view(288, 288, 34962), view(576, 72, 34963)],
        "buffers": [{ "byteLength": binary.len() }],
    });
    let mut text = root.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let total = text.len().saturating_add(binary.len()).saturating_add(28);
    let size = |value: usize| {
        let limit = ErrorKind::Limit { what: "size of a GLB file", value: total as u64, limit: u32::MAX.into() };
        u32::try_from(value).map(u32::to_le_bytes).map_err(|_| Error::of_part(limit, ""))
    };
    let (total, text_size, binary_size) = (size(total)?, size(text.len())?, size(binary.len())?);
    let parts =
        [&b"glTF"[..], &2u32.to_le_bytes(), &total, &text_size, b"JSON", &text, &binary_size, b"BIN\0", &binary];
    parts.iter().try_for_each(|part| out.write_all(part)).map_err(|error| Error::io("cannot write", error))
}

/// The vertices, normals and indices of a cube from -1 to 1.
fn cube() -> Vec<u8> {
    let (mut positions, mut normals, mut indices) = (Vec::new(), Vec::new(), Vec::new());
    for (face, (axis, sign)) in (0u16..).zip([0usize, 1, 2].into_iter().flat_map(|axis| [(axis, 1.0f32), (axis, -1.0)]))
    {
        // Two other axes, such that the corners turn left around the normal.
        for [u, v] in [[-1.0f32, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]] {
            let mut point = [sign, u * sign, v];
            let mut normal = [sign, 0.0, 0.0];
            point.rotate_right(axis);
            normal.rotate_right(axis);
            positions.extend(point.map(f32::to_le_bytes).as_flattened());
            normals.extend(normal.map(f32::to_le_bytes).as_flattened());
        }
        let first = face.saturating_mul(4);
        indices.extend([0u16, 1, 2, 0, 2, 3].map(|n| first.saturating_add(n).to_le_bytes()).as_flattened());
    }
    [positions, normals, indices].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_of_the_cube_turn_left_around_their_normals() {
        let bytes = cube();
        let floats: Vec<f32> = bytes[..576].as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        let indices: Vec<usize> =
            bytes[576..].as_chunks::<2>().0.iter().map(|b| u16::from_le_bytes(*b).into()).collect();
        let point = |n: usize| [0, 1, 2].map(|axis| floats[n * 3 + axis]);
        for &[i, j, k] in indices.as_chunks::<3>().0 {
            let ([a, b, c], normal) = ([point(i), point(j), point(k)], point(24 + i));
            let minus = |p: [f32; 3], q: [f32; 3]| [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
            let ([x, y, z], [u, v, w]) = (minus(b, a), minus(c, a));
            let turn = [y * w - z * v, z * u - x * w, x * v - y * u];
            assert_eq!(turn, normal.map(|n| n * 4.0));
        }
    }
}
