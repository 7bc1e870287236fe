//! The boxes of a map as named wireframes, as binary glTF.
//!
//! A map's axes are left-handed and glTF's are right-handed. The root node mirrors x, as viewers of the game's models
//! do; below it everything has the numbers of the file.

use super::drawing::{WAYPOINT, placed};
use super::{Map, Records};
use crate::error::{Error, ErrorKind, Result};
use serde_json::json;
use std::io::Write;

/// Writes the boxes, animated backgrounds, item boxes and gimmicks as wireframes with their names, a node for each,
/// below a node for each type; and the links of the waypoints as lines. Records that describe no space are left out.
pub(super) fn write(map: &Map, out: &mut dyn Write) -> Result<()> {
    let mut scene = Builder::new();
    for (_, colour, records) in placed(map)? {
        scene.add(records, colour)?;
    }
    scene.add_links(map)?;
    scene.write(out)
}

/// Numbers of the types that glTF has for elements of accessors.
const U16: u32 = 5123;
const F32: u32 = 5126;
/// The number of the mode in which primitives are lines.
const LINES: u32 = 1;

/// An unfinished glTF: one buffer, which begins with the corners and the edges of a cube, and the descriptions of its parts as JSON.
#[derive(Default)]
struct Builder {
    bytes: Vec<u8>,
    views: Vec<String>,
    accessors: Vec<String>,
    materials: Vec<String>,
    meshes: Vec<String>,
    nodes: Vec<String>,
    /// The nodes of the types.
    groups: Vec<usize>,
}

/// Appends an item. Returns its number.
fn push(items: &mut Vec<String>, item: impl ToString) -> usize {
    items.push(item.to_string());
    items.len().saturating_sub(1)
}

/// The accessors of the corners and the edges of the cube.
const CUBE: [usize; 2] = [0, 1];

impl Builder {
    fn new() -> Self {
        let mut builder = Self::default();
        let corners = (0..8u16).map(|corner| [1, 2, 4].map(|bit| if corner & bit == 0 { -1.0 } else { 1.0 }));
        builder.points(&corners.collect::<Vec<_>>());
        // An edge connects two corners with numbers that differ in one bit.
        let edges = (0..8u16).flat_map(|corner| {
            [1u16, 2, 4].into_iter().filter(move |bit| corner & bit == 0).flat_map(move |bit| [corner, corner | bit])
        });
        let edges: Vec<u8> = edges.flat_map(u16::to_le_bytes).collect();
        let view = builder.view(&edges);
        let edges = json!({"bufferView": view, "componentType": U16, "count": edges.len() / 2, "type": "SCALAR"});
        push(&mut builder.accessors, edges);
        builder
    }

    /// Appends bytes to the buffer.
    fn view(&mut self, bytes: &[u8]) -> usize {
        let view = json!({"buffer": 0, "byteLength": bytes.len(), "byteOffset": self.bytes.len()});
        self.bytes.extend_from_slice(bytes);
        push(&mut self.views, view)
    }

    /// Appends points to the buffer. Returns their accessor.
    fn points(&mut self, points: &[[f32; 3]]) -> usize {
        let bytes: Vec<u8> = points.as_flattened().iter().flat_map(|number| number.to_le_bytes()).collect();
        let view = self.view(&bytes);
        let (mut min, mut max) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for point in points {
            min.iter_mut().zip(point).for_each(|(min, number)| *min = min.min(*number));
            max.iter_mut().zip(point).for_each(|(max, number)| *max = max.max(*number));
        }
        let (count, of) = (points.len(), "VEC3");
        let points = json!({
            "bufferView": view, "componentType": F32, "count": count, "type": of, "min": min, "max": max
        });
        push(&mut self.accessors, points)
    }

    /// Lines of one colour.
    fn mesh(&mut self, name: &str, colour: [u8; 3], points: usize, edges: Option<usize>) -> usize {
        let [r, g, b] = colour.map(|value| f32::from(value) / 255.0);
        let surface = json!({"baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0});
        // Lines have no normals, so that no light falls on them.
        let material = json!({"name": name, "pbrMetallicRoughness": surface, "emissiveFactor": [r, g, b]});
        let material = push(&mut self.materials, material);
        let attributes = json!({"POSITION": points});
        let primitive = match edges {
            Some(edges) => json!({"attributes": attributes, "indices": edges, "material": material, "mode": LINES}),
            None => json!({"attributes": attributes, "material": material, "mode": LINES}),
        };
        push(&mut self.meshes, json!({"name": name, "primitives": [primitive]}))
    }

    fn add(&mut self, records: Records<'_>, colour: [u8; 3]) -> Result<()> {
        let name = records.shape().name;
        let [corners, edges] = CUBE;
        let mesh = self.mesh(name, colour, corners, Some(edges));
        let mut children = Vec::with_capacity(records.len());
        for record in records.iter() {
            let (Some(obb), Some(_)) = (record.obb()?, record.volume()?) else { continue };
            let [x, y, z, w] = obb.rotation.map(|v| f64::from(v.get()));
            let length = (x * x + y * y + z * z + w * w).sqrt();
            #[expect(clippy::cast_possible_truncation, reason = "they are between -1 and 1")]
            let rotation = [x, y, z, w].map(|v| (v / length) as f32);
            let ([sx, sy, sz], [ex, ey, ez]) = (obb.scale.map(|v| v.get()), obb.extents.map(|v| v.get()));
            let (place, scale) = (obb.position.map(|v| v.get()), [(sx * ex).abs(), (sy * ey).abs(), (sz * ez).abs()]);
            // The numbers with the digits of 32 bits, which `json!` lacks.
            let name = json!(record.name()?.to_string());
            let node = format!(
                r#"{{"mesh":{mesh},"name":{name},"rotation":{rotation:?},"scale":{scale:?},"translation":{place:?}}}"#
            );
            children.push(push(&mut self.nodes, node));
        }
        self.group(name, &children);
        Ok(())
    }

    fn group(&mut self, name: &str, children: &[usize]) {
        if !children.is_empty() {
            let node = push(&mut self.nodes, json!({"name": name, "children": children}));
            self.groups.push(node);
        }
    }

    /// Each link as a line between the centres of its waypoints.
    fn add_links(&mut self, map: &Map) -> Result<()> {
        let mut points = Vec::new();
        for link in map.links() {
            let link = link?;
            let Some((_, to)) = link.to else { continue };
            let (Some(from), Some(to)) = (link.from.1.obb()?, to.obb()?) else { continue };
            let ends = [from, to].map(|obb| obb.position.map(|v| v.get()));
            if ends.as_flattened().iter().all(|number| number.is_finite()) {
                points.extend(ends);
            }
        }
        if !points.is_empty() {
            let points = self.points(&points);
            let mesh = self.mesh("waypoint_links", WAYPOINT, points, None);
            let node = push(&mut self.nodes, json!({"mesh": mesh, "name": "links"}));
            self.group("waypoint_links", &[node]);
        }
        Ok(())
    }

    fn write(mut self, out: &mut dyn Write) -> Result<()> {
        let map = match self.groups.as_slice() {
            [] => json!({"name": "map", "scale": [-1, 1, 1]}),
            groups => json!({"name": "map", "children": groups, "scale": [-1, 1, 1]}),
        };
        let map = push(&mut self.nodes, map);
        let arrays = [
            ("accessors", self.accessors),
            ("bufferViews", self.views),
            ("materials", self.materials),
            ("meshes", self.meshes),
            ("nodes", self.nodes),
        ];
        let arrays = arrays.iter().filter(|(_, items)| !items.is_empty());
        let arrays: String = arrays.map(|(name, items)| format!(r#""{name}":[{}],"#, items.join(","))).collect();
        let generator = concat!("assetq ", env!("CARGO_PKG_VERSION"));
        let (asset, size) = (json!({"generator": generator, "version": "2.0"}), self.bytes.len());
        let json = format!(
            r#"{{"asset":{asset},{arrays}"buffers":[{{"byteLength":{size}}}],"scene":0,"scenes":[{{"nodes":[{map}]}}]}}"#
        );
        let mut json = json.into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);

        // The header of 12 bytes and the headers of the two chunks, 8 bytes each.
        let total = json.len().saturating_add(self.bytes.len()).saturating_add(28);
        let [size, json_size, bytes_size] = [total, json.len(), self.bytes.len()].map(|size| {
            u32::try_from(size).map(u32::to_le_bytes).map_err(|_| {
                let (what, limit) = ("size of a GLB", u32::MAX.into());
                Error::of_part(ErrorKind::Limit { what, value: total as u64, limit }, "")
            })
        });
        let header = [*b"glTF", 2u32.to_le_bytes(), size?, json_size?, *b"JSON"];
        let bytes_header = [bytes_size?, *b"BIN\0"];
        for part in [header.as_flattened(), &json, bytes_header.as_flattened(), &self.bytes] {
            out.write_all(part).map_err(|e| Error::io("cannot write", e))?;
        }
        Ok(())
    }
}
