//! The boxes of a map as named wireframes, as binary glTF.
//!
//! A map's axes are left-handed and glTF's are right-handed. The root node mirrors x, as viewers of the game's models
//! do; below it everything has the numbers of the file.

use super::plan::color;
use super::{BoxType, Map, Records};
use crate::error::{Error, ErrorKind, Result};
use gltf_json::validation::{Checked, USize64};
use gltf_json::{Accessor, Buffer, Index, Material, Mesh, Node, Root, Scene, accessor, buffer, material, mesh, scene};
use std::io::Write;

impl Map {
    /// Writes the boxes, animated backgrounds, item boxes and gimmicks as wireframes with their names, a node for each,
    /// below a node for each type; and the links of the waypoints as lines. Records that describe no space are left
    /// out.
    ///
    /// # Errors
    /// When a record cannot be read, `Limit` when there is more than glTF can count, or `out` fails.
    pub fn write_glb(&self, out: &mut dyn Write) -> Result<()> {
        self.find_all_boxes();
        let mut scene = Builder::new();
        for box_type in BoxType::ALL {
            let super::plan::Color(r, g, b) = color(box_type);
            scene.add(self.boxes(box_type)?, [r, g, b])?;
        }
        scene.add(self.ani_bgs()?, [0xb0; 3])?;
        scene.add(self.item_boxes()?, [0xd4, 0xa0, 0x17])?;
        scene.add(self.gimmicks()?, [0xc0, 0x39, 0x2b])?;
        scene.add_links(self)?;
        scene.write(out)
    }
}

/// An unfinished glTF: one buffer, which begins with the corners and the edges of a cube.
struct Builder {
    root: Root,
    bytes: Vec<u8>,
    corners: Index<Accessor>,
    edges: Index<Accessor>,
    /// The nodes of the types.
    groups: Vec<Index<Node>>,
}

impl Builder {
    fn new() -> Self {
        let root = Root::default();
        let placeholder = Index::new(0);
        let mut builder =
            Self { root, bytes: Vec::new(), corners: placeholder, edges: placeholder, groups: Vec::new() };
        let corners: Vec<[f32; 3]> =
            (0..8u16).map(|corner| [1, 2, 4].map(|bit| if corner & bit == 0 { -1.0 } else { 1.0 })).collect();
        builder.corners = builder.points(&corners);
        // An edge connects two corners with numbers that differ in one bit.
        let edges = (0..8u16).flat_map(|corner| {
            [1u16, 2, 4].into_iter().filter(move |bit| corner & bit == 0).flat_map(move |bit| [corner, corner | bit])
        });
        let start = builder.bytes.len();
        edges.for_each(|corner| builder.bytes.extend_from_slice(&corner.to_le_bytes()));
        builder.edges = builder.accessor(
            start,
            24,
            accessor::ComponentType::U16,
            accessor::Type::Scalar,
            buffer::Target::ElementArrayBuffer,
        );
        builder
    }

    /// Appends points to the buffer.
    fn points(&mut self, points: &[[f32; 3]]) -> Index<Accessor> {
        let start = self.bytes.len();
        points.iter().flatten().for_each(|number| self.bytes.extend_from_slice(&number.to_le_bytes()));
        let accessor = self.accessor(
            start,
            points.len(),
            accessor::ComponentType::F32,
            accessor::Type::Vec3,
            buffer::Target::ArrayBuffer,
        );
        let bounds = |pick: fn(f32, f32) -> f32, from: f32| {
            let all = points.iter().fold([from; 3], |[x, y, z], [a, b, c]| [pick(x, *a), pick(y, *b), pick(z, *c)]);
            Some(gltf_json::Value::from(all.to_vec()))
        };
        let (min, max) = (bounds(f32::min, f32::INFINITY), bounds(f32::max, f32::NEG_INFINITY));
        if let Some(accessor) = self.root.accessors.get_mut(accessor.value()) {
            (accessor.min, accessor.max) = (min, max);
        }
        accessor
    }

    /// An accessor for all that was appended since `start`.
    fn accessor(
        &mut self,
        start: usize,
        count: usize,
        component: accessor::ComponentType,
        kind: accessor::Type,
        target: buffer::Target,
    ) -> Index<Accessor> {
        let view = self.root.push(buffer::View {
            buffer: Index::new(0),
            byte_length: USize64::from(self.bytes.len().saturating_sub(start)),
            byte_offset: Some(USize64::from(start)),
            byte_stride: None,
            name: None,
            target: Some(Checked::Valid(target)),
            extensions: None,
            extras: Default::default(),
        });
        self.root.push(Accessor {
            buffer_view: Some(view),
            byte_offset: Some(USize64(0)),
            count: USize64::from(count),
            component_type: Checked::Valid(accessor::GenericComponentType(component)),
            type_: Checked::Valid(kind),
            min: None,
            max: None,
            name: None,
            normalized: false,
            sparse: None,
            extensions: None,
            extras: Default::default(),
        })
    }

    /// Lines of one colour.
    fn mesh(
        &mut self,
        name: &str,
        color: [u8; 3],
        points: Index<Accessor>,
        indices: Option<Index<Accessor>>,
    ) -> Index<Mesh> {
        let [r, g, b] = color.map(|value| f32::from(value) / 255.0);
        let material = self.root.push(Material {
            name: Some(name.to_owned()),
            pbr_metallic_roughness: material::PbrMetallicRoughness {
                base_color_factor: material::PbrBaseColorFactor([r, g, b, 1.0]),
                metallic_factor: material::StrengthFactor(0.0),
                ..Default::default()
            },
            // Lines have no normals, so that no light falls on them.
            emissive_factor: material::EmissiveFactor([r, g, b]),
            ..Default::default()
        });
        let attributes = [(Checked::Valid(mesh::Semantic::Positions), points)].into_iter().collect();
        let primitive = mesh::Primitive {
            attributes,
            indices,
            material: Some(material),
            mode: Checked::Valid(mesh::Mode::Lines),
            targets: None,
            extensions: None,
            extras: Default::default(),
        };
        self.root.push(Mesh {
            name: Some(name.to_owned()),
            primitives: vec![primitive],
            weights: None,
            extensions: None,
            extras: Default::default(),
        })
    }

    fn add(&mut self, records: Records<'_>, color: [u8; 3]) -> Result<()> {
        records.check()?;
        if records.is_empty() {
            return Ok(());
        }
        let name = records.shape().name;
        let mesh = self.mesh(name, color, self.corners, Some(self.edges));
        let mut children = Vec::with_capacity(records.len());
        for record in records.iter() {
            let (Some(obb), Some(_)) = (record.obb()?, record.volume()?) else { continue };
            let [x, y, z, w] = obb.rotation.map(|v| f64::from(v.get()));
            let length = (x * x + y * y + z * z + w * w).sqrt();
            #[expect(clippy::cast_possible_truncation, reason = "they are between -1 and 1")]
            let rotation = [x, y, z, w].map(|v| (v / length) as f32);
            let ([sx, sy, sz], [ex, ey, ez]) = (obb.scale.map(|v| v.get()), obb.extents.map(|v| v.get()));
            children.push(self.root.push(Node {
                name: Some(record.name()?.to_string()),
                mesh: Some(mesh),
                translation: Some(obb.position.map(|v| v.get())),
                rotation: Some(scene::UnitQuaternion(rotation)),
                scale: Some([(sx * ex).abs(), (sy * ey).abs(), (sz * ez).abs()]),
                ..Node::default()
            }));
        }
        self.group(name, children);
        Ok(())
    }

    fn group(&mut self, name: &str, children: Vec<Index<Node>>) {
        if !children.is_empty() {
            let node = Node { name: Some(name.to_owned()), children: Some(children), ..Node::default() };
            self.groups.push(self.root.push(node));
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
            if ends.iter().flatten().all(|number| number.is_finite()) {
                points.extend(ends);
            }
        }
        if points.is_empty() {
            return Ok(());
        }
        let super::plan::Color(r, g, b) = color(BoxType::WaypointBox);
        let points = self.points(&points);
        let mesh = self.mesh("waypoint_links", [r, g, b], points, None);
        let node = self.root.push(Node { mesh: Some(mesh), name: Some("links".to_owned()), ..Node::default() });
        self.group("waypoint_links", vec![node]);
        Ok(())
    }

    fn write(mut self, out: &mut dyn Write) -> Result<()> {
        let groups = std::mem::take(&mut self.groups);
        let map = self.root.push(Node {
            name: Some("map".to_owned()),
            children: (!groups.is_empty()).then_some(groups),
            scale: Some([-1.0, 1.0, 1.0]),
            ..Node::default()
        });
        let scene =
            self.root.push(Scene { nodes: vec![map], name: None, extensions: None, extras: Default::default() });
        self.root.scene = Some(scene);
        self.root.asset.generator = Some(concat!("assetq ", env!("CARGO_PKG_VERSION")).to_owned());
        self.root.push(Buffer {
            byte_length: USize64::from(self.bytes.len()),
            uri: None,
            name: None,
            extensions: None,
            extras: Default::default(),
        });
        let broken =
            |e: gltf_json::Error| Error::of_part(ErrorKind::Codec { codec: "glTF", message: e.to_string().into() }, "");
        let mut json = self.root.to_vec().map_err(broken)?;
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
