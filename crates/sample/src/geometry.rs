//! Builds `.geometry` and `.splash` files in the order in which the game's own tools lay them out.

pub use super::armor::PlateShape;

use super::{Size, Writer, armor};
use assetq_core::codec::encd::encode_indices;
use assetq_wows::geometry::layout::{ARMOR_TAG, COLLISION_TAG};
use assetq_wows::geometry::{Attribute, VertexFormat};
use std::collections::BTreeMap;
use std::f32::consts::{PI, TAU};

/// An unfinished `.geometry` file.
#[derive(Debug, Default, Clone)]
pub struct GeometryBuilder {
    vertex_buffers: Vec<VertexBlob>,
    index_buffers: Vec<IndexBlob>,
    vertex_mappings: Vec<Mapping>,
    index_mappings: Vec<Mapping>,
    collision: Vec<(String, Vec<HullShape>)>,
    armor: Vec<(String, Vec<PlateShape>)>,
}

#[derive(Debug, Clone)]
struct VertexBlob {
    format: String,
    stride: usize,
    blob: Vec<u8>,
}

#[derive(Debug, Clone)]
struct IndexBlob {
    width: usize,
    blob: Vec<u8>,
}

/// A mapping: the items of a buffer that a render group uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mapping {
    /// The mapping's id.
    pub id: u32,
    /// The buffer, by number.
    pub buffer: u16,
    /// Packed texel density.
    pub density: u16,
    /// First item.
    pub start: u32,
    /// Items.
    pub count: u32,
}

/// A convex hull.
#[derive(Debug, Clone, PartialEq)]
pub struct HullShape {
    /// The hull's corners.
    pub vertices: Vec<[f32; 3]>,
    /// The hull's faces, each a polygon of corners by number.
    pub faces: Vec<Vec<u32>>,
}

impl HullShape {
    /// A box with corners `min` and `max`.
    pub fn cuboid(min: [f32; 3], max: [f32; 3]) -> Self {
        let corner = |i: usize| [0, 1, 2].map(|axis| if i >> axis & 1 == 0 { min[axis] } else { max[axis] });
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        Self { vertices: (0..8).map(corner).collect(), faces: faces.map(Vec::from).to_vec() }
    }
}

/// The attributes of a vertex, before it is packed. Attributes that its format lacks are not written.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Vertex {
    /// Position.
    pub position: [f32; 3],
    /// Unit normal.
    pub normal: [f32; 3],
    /// Texture coordinates.
    pub uv: [f32; 2],
    /// The second pair of texture coordinates.
    pub uv2: [f32; 2],
    /// Unit tangent.
    pub tangent: [f32; 3],
    /// Unit binormal.
    pub binormal: [f32; 3],
    /// Bones, by number.
    pub bones: [u8; 3],
    /// Bone weights as stored.
    pub weights: [u8; 4],
    /// Radius.
    pub radius: f32,
    /// Id.
    pub id: u32,
    /// Colour.
    pub colour: [u8; 4],
}

impl GeometryBuilder {
    /// An empty file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a vertex buffer with `bytes` of vertices of `stride` bytes, packed by the codec or raw. Gives its number.
    pub fn vertex_buffer(&mut self, format: &str, stride: usize, bytes: &[u8], packed: bool) -> u16 {
        let blob = if packed { encd(bytes.len() / stride, encode_vertices(bytes, stride)) } else { bytes.to_vec() };
        self.vertex_blob(format, stride, blob)
    }

    /// Adds a vertex buffer with the stored bytes `blob`, unchecked. Returns its number.
    pub fn vertex_blob(&mut self, format: &str, stride: usize, blob: Vec<u8>) -> u16 {
        self.vertex_buffers.push(VertexBlob { format: format.into(), stride, blob });
        self.vertex_buffers.len() as u16 - 1
    }

    /// Adds an index buffer of indices of `width` bytes (2 or 4), packed by the codec or raw. Gives its number.
    /// The codec may turn the corners of a triangle.
    pub fn index_buffer(&mut self, width: usize, indices: &[u32], packed: bool) -> u16 {
        let blob = if packed {
            encd(indices.len(), encode_indices(indices, &[]).expect("the codec takes any triangles"))
        } else {
            indices.iter().flat_map(|i| i.to_le_bytes().into_iter().take(width)).collect()
        };
        self.index_blob(width, blob)
    }

    /// Adds an index buffer with the stored bytes `blob`, unchecked. Returns its number.
    pub fn index_blob(&mut self, width: usize, blob: Vec<u8>) -> u16 {
        self.index_buffers.push(IndexBlob { width, blob });
        self.index_buffers.len() as u16 - 1
    }

    /// Adds a vertex mapping.
    pub fn vertex_mapping(&mut self, mapping: Mapping) {
        self.vertex_mappings.push(mapping);
    }

    /// Adds an index mapping.
    pub fn index_mapping(&mut self, mapping: Mapping) {
        self.index_mappings.push(mapping);
    }

    /// Adds a collision model.
    pub fn collision(&mut self, name: &str, hulls: Vec<HullShape>) {
        self.collision.push((name.into(), hulls));
    }

    /// Adds an armour model.
    pub fn armor(&mut self, name: &str, plates: Vec<PlateShape>) {
        self.armor.push((name.into(), plates));
    }

    /// Writes the file.
    pub fn build(&self) -> Vec<u8> {
        let mut w = Writer::new();
        for count in [
            self.vertex_buffers.len(),
            self.index_buffers.len(),
            self.vertex_mappings.len(),
            self.index_mappings.len(),
            self.collision.len(),
            self.armor.len(),
        ] {
            w.u32(count as u32);
        }
        w.zeros(48);
        let begin = |w: &mut Writer, pointer: usize, empty: bool| {
            if !empty {
                w.point(pointer, 0, w.position());
            }
        };
        for (pointer, mappings) in [(0x18, &self.vertex_mappings), (0x20, &self.index_mappings)] {
            begin(&mut w, pointer, mappings.is_empty());
            for m in mappings {
                w.u32(m.id);
                w.u16(m.buffer);
                w.u16(m.density);
                w.u32(m.start);
                w.u32(m.count);
            }
        }
        begin(&mut w, 0x28, self.vertex_buffers.is_empty());
        let structs = w.zeros(0x20 * self.vertex_buffers.len());
        for (i, buffer) in self.vertex_buffers.iter().enumerate() {
            let at = structs + 0x20 * i;
            let format = VertexFormat::new(&buffer.format, buffer.stride);
            let data = w.push(&buffer.blob);
            w.point(at, at, data);
            string(&mut w, at + 8, &buffer.format);
            w.patch(at + 0x18, (buffer.blob.len() as u32).to_le_bytes());
            w.patch(at + 0x1C, (buffer.stride as u16).to_le_bytes());
            w.patch(at + 0x1E, [format.has(Attribute::Bones) as u8, format.has(Attribute::Tangent) as u8]);
        }
        begin(&mut w, 0x30, self.index_buffers.is_empty());
        let structs = w.zeros(0x10 * self.index_buffers.len());
        for (i, buffer) in self.index_buffers.iter().enumerate() {
            let at = structs + 0x10 * i;
            let data = w.push(&buffer.blob);
            w.point(at, at, data);
            w.patch(at + 8, (buffer.blob.len() as u32).to_le_bytes());
            w.patch(at + 0xE, (buffer.width as u16).to_le_bytes());
        }
        let collision = self.collision.iter().map(|(name, hulls)| (name, collision_data(hulls))).collect::<Vec<_>>();
        let armor = self.armor.iter().map(|(name, plates)| (name, armor_data(plates))).collect::<Vec<_>>();
        for (pointer, models) in [(0x38, collision), (0x40, armor)] {
            begin(&mut w, pointer, models.is_empty());
            let structs = w.zeros(0x20 * models.len());
            for (i, (name, data)) in models.iter().enumerate() {
                let at = structs + 0x20 * i;
                w.patch(at, (data.len() as i64).to_le_bytes());
                let data = w.push(data);
                w.point(at + 0x18, at, data);
                if !name.is_empty() {
                    string(&mut w, at + 8, name);
                }
            }
        }
        w.into_bytes()
    }
}

/// Appends `text` with its NUL, and fills the packed string at `at`.
fn string(w: &mut Writer, at: usize, text: &str) {
    let target = w.push(text);
    w.push([0]);
    w.patch(at, (text.len() as u32 + 1).to_le_bytes());
    w.point(at + 8, at, target);
}

/// An ENCD blob: its header and `payload`.
pub fn encd(count: usize, payload: Vec<u8>) -> Vec<u8> {
    let mut blob = b"ENCD".to_vec();
    blob.extend((count as u32).to_le_bytes());
    blob.extend(payload);
    blob
}

/// Packs vertices of `stride` bytes, a multiple of 4 up to 256, by the codec's version 0, which the game writes.
pub fn encode_vertices(bytes: &[u8], stride: usize) -> Vec<u8> {
    assetq_core::codec::encd::encode_vertices(bytes, stride, &[0xA0]).expect("the codec takes any bytes")
}

fn collision_data(hulls: &[HullShape]) -> Vec<u8> {
    let mut w = Writer::new();
    w.u32(COLLISION_TAG);
    w.u32(hulls.len() as u32);
    for hull in hulls {
        let mut edges = BTreeMap::new();
        let sides = |face: &[u32]| {
            face.iter().zip(face.iter().cycle().skip(1)).map(|(&a, &b)| (a.min(b), a.max(b))).collect::<Vec<_>>()
        };
        for side in hull.faces.iter().flat_map(|f| sides(f)) {
            let next = edges.len() as u32;
            edges.entry(side).or_insert(next);
        }
        w.u32(hull.vertices.len() as u32);
        w.f32s(hull.vertices.as_flattened());
        w.u32(edges.len() as u32);
        let mut in_order: Vec<_> = edges.iter().collect();
        in_order.sort_by_key(|(_, number)| **number);
        for ((a, b), _) in in_order {
            w.u32(*a);
            w.u32(*b);
        }
        w.u32(hull.faces.len() as u32);
        for face in &hull.faces {
            w.u32(face.len() as u32);
            let edges = sides(face).into_iter().map(|side| edges[&side]);
            for number in face.iter().copied().chain(edges) {
                w.u32(number);
            }
            w.u32(0);
        }
    }
    w.into_bytes()
}

fn armor_data(plates: &[PlateShape]) -> Vec<u8> {
    let mut w = Writer::new();
    w.u32(ARMOR_TAG);
    bounds(&mut w, plates.iter().flat_map(|p| p.triangles.as_flattened()));
    w.u32(plates.len() as u32);
    for plate in plates {
        w.u16(plate.material);
        w.u16(plate.layer);
        bounds(&mut w, plate.triangles.as_flattened().iter());
        w.u32(plate.triangles.len() as u32 * 3);
        for &[a, b, c] in &plate.triangles {
            let [u, v] = [b, c].map(|p| [p[0] - a[0], p[1] - a[1], p[2] - a[2]]);
            // Seen from outside the corners turn right in files of the game.
            let normal = unit([v[1] * u[2] - v[2] * u[1], v[2] * u[0] - v[0] * u[2], v[0] * u[1] - v[1] * u[0]]);
            for p in [a, b, c] {
                w.f32s(&p);
                w.push(pack_normal(normal));
            }
        }
    }
    w.into_bytes()
}

fn bounds<'a>(w: &mut Writer, points: impl Iterator<Item = &'a [f32; 3]>) {
    let (mut min, mut max) = ([f32::MAX; 3], [f32::MIN; 3]);
    for p in points {
        for axis in 0..3 {
            min[axis] = min[axis].min(p[axis]);
            max[axis] = max[axis].max(p[axis]);
        }
    }
    w.f32s(&min);
    w.f32s(&max);
}

fn unit(v: [f32; 3]) -> [f32; 3] {
    let length = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt().max(f32::MIN_POSITIVE);
    v.map(|c| c / length)
}

/// Packs a unit vector as the game does: offset-binary bytes and a zero.
pub fn pack_normal(v: [f32; 3]) -> [u8; 4] {
    let [x, y, z] = v.map(|c| ((c + 1.0) * 127.5).round().clamp(0.0, 255.0) as u8);
    [x, y, z, 0]
}

/// A float as a half float: nearest, for values in the range of normal halves; smaller ones become 0.
pub fn pack_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let rounded = (bits & 0x7FFF_FFFF) + 0x1000;
    if rounded < 0x3880_0000 { sign } else { sign | ((rounded - 0x3800_0000) >> 13).min(0x7BFF) as u16 }
}

/// Packs vertices as `format` (a known name, as in `set3/xyznuvtbpc`) lays them out in `stride` bytes.
pub fn pack_vertices(format: &str, stride: usize, vertices: &[Vertex]) -> Vec<u8> {
    let layout = VertexFormat::new(format, stride);
    assert!(layout.is_known(), "{format} of {stride} bytes is not known");
    let mut bytes = vec![0; stride * vertices.len()];
    let half_pair = |uv: [f32; 2]| uv.map(|c| pack_half(c - 0.5).to_le_bytes()).as_flattened().to_vec();
    for (vertex, out) in vertices.iter().zip(bytes.chunks_exact_mut(stride)) {
        let bones = vertex.bones.map(|b| b * 3);
        for (attribute, packed) in [
            (Attribute::Position, vertex.position.map(f32::to_le_bytes).as_flattened().to_vec()),
            (Attribute::Normal, pack_normal(vertex.normal).to_vec()),
            (Attribute::Uv, half_pair(vertex.uv)),
            (Attribute::Uv2, half_pair(vertex.uv2)),
            (Attribute::Bones, vec![bones[0], bones[1], bones[2], 0]),
            (Attribute::Weights, vertex.weights.to_vec()),
            (Attribute::Tangent, pack_normal(vertex.tangent).to_vec()),
            (Attribute::Binormal, pack_normal(vertex.binormal).to_vec()),
            (Attribute::Radius, vertex.radius.to_le_bytes().to_vec()),
            (Attribute::Id, vertex.id.to_le_bytes().to_vec()),
            (Attribute::Colour, vertex.colour.to_vec()),
        ] {
            if let Some(at) = layout.offset(attribute) {
                out[at..at + packed.len()].copy_from_slice(&packed);
            }
        }
    }
    bytes
}

/// A closed hull-like surface of `rows` by `columns` quads with bumps from `seed`: vertices and triangles whose
/// corners turn left around the normals, as in files of the game.
pub fn surface(rows: u32, columns: u32, length: f32, seed: u64) -> (Vec<Vertex>, Vec<u32>) {
    let mut random = fastrand::Rng::with_seed(seed);
    let bump = random.f32() * 3.0 + 2.0;
    let mut vertices = Vec::with_capacity(((rows + 1) * (columns + 1)) as usize);
    for row in 0..=rows {
        let t = row as f32 / rows as f32;
        let radius = 0.05 + (t * PI).sin() * (1.0 + 0.1 * (t * TAU * bump).sin());
        for column in 0..=columns {
            let angle = column as f32 / columns as f32 * TAU;
            let (sin, cos) = angle.sin_cos();
            vertices.push(Vertex {
                position: [radius * cos, radius * sin, (t - 0.5) * length],
                normal: [cos, sin, 0.0],
                uv: [column as f32 / columns as f32, t],
                uv2: [t, 0.5],
                tangent: [-sin, cos, 0.0],
                binormal: [0.0, 0.0, 1.0],
                bones: [0, 1, 0],
                weights: [0, 0, 255, 0],
                radius: 0.002,
                id: row * (columns + 1) + column,
                colour: [random.u8(..), random.u8(..), random.u8(..), 255],
            });
        }
    }
    let mut indices = Vec::with_capacity((rows * columns * 6) as usize);
    for row in 0..rows {
        for column in 0..columns {
            let a = row * (columns + 1) + column;
            let (b, c, d) = (a + 1, a + columns + 1, a + columns + 2);
            indices.extend([a, b, c, b, d, c]);
        }
    }
    (vertices, indices)
}

/// A believable ship: four levels of detail in one merged buffer, masts in a second one, armour and a collision hull.
pub fn demo(seed: u64, size: Size) -> Vec<u8> {
    let (rows, columns) = match size {
        Size::Small => (8, 8),
        Size::Full => (400, 160),
    };
    let mut builder = GeometryBuilder::new();
    let mut density = 0x3000;
    for (format, stride, levels) in [("set3/xyznuvtbpc", 28, 4), ("set3/xyznuvrpc", 24, 1)] {
        let (mut all, mut all_indices, buffer) = (Vec::new(), Vec::new(), builder.vertex_buffers.len() as u16);
        for level in 0..levels {
            let (vertices, indices) = surface((rows >> level).max(2), (columns >> level).max(3), 20.0, seed + level);
            let name = format!("hull_{buffer}_lod{level}Shape");
            let id = |what| assetq_core::codec::murmur3(format!("{name}.{what}").as_bytes());
            let mapping = |id, buffer, start: usize, count: usize| Mapping {
                id,
                buffer,
                density,
                start: start as u32,
                count: count as u32,
            };
            builder.vertex_mappings.push(mapping(id("vertices"), buffer, all.len(), vertices.len()));
            builder.index_mappings.push(mapping(id("indices"), buffer, all_indices.len(), indices.len()));
            all.extend(vertices);
            all_indices.extend(indices);
            density += 0x10;
        }
        builder.vertex_buffer(format, stride, &pack_vertices(format, stride, &all), true);
        let width = if size == Size::Small { 2 } else { 4 };
        builder.index_buffer(width, &all_indices, true);
    }
    let plates = match size {
        Size::Small => few_plates(seed),
        Size::Full => armor::ship(),
    };
    builder.armor("CM_PA_united.armor", plates);
    builder.collision(
        "default",
        vec![
            HullShape::cuboid([-1.0, -1.0, -10.0], [1.0, 0.5, 10.0]),
            HullShape::cuboid([-0.3, 0.5, -2.0], [0.3, 3.0, 2.0]),
        ],
    );
    builder.build()
}

/// The armour of a believable battleship, and nothing else.
pub fn battleship() -> Vec<u8> {
    let mut builder = GeometryBuilder::new();
    builder.armor("CM_PA_united.armor", armor::ship());
    builder.build()
}

/// A turret: four plates. The parameters know three of them.
pub fn gun() -> Vec<u8> {
    let mut builder = GeometryBuilder::new();
    let plate = |material: u16, z: f32| PlateShape {
        material,
        layer: 1,
        triangles: vec![
            [[-0.5, 0.0, z], [0.5, 0.0, z], [0.5, 0.4, z]],
            [[-0.5, 0.0, z], [0.5, 0.4, z], [-0.5, 0.4, z]],
        ],
    };
    builder.armor("CM_PA_united.armor", vec![plate(32, 0.6), plate(33, -0.6), plate(35, 0.0), plate(97, -0.2)]);
    builder.build()
}

/// Six plates of any materials, anywhere along a ship.
pub(super) fn few_plates(seed: u64) -> Vec<PlateShape> {
    let mut random = fastrand::Rng::with_seed(seed);
    let plates = (0..6).map(|i| {
        let (x, z) = (random.f32() * 2.0 - 1.0, random.f32() * 20.0 - 10.0);
        let corner = |dx: f32, dy: f32, dz: f32| [x + dx, dy, z + dz];
        let [a, b, c, d] = [corner(0.0, 0.0, 0.0), corner(0.0, 1.0, 0.0), corner(0.0, 1.0, 2.0), corner(0.0, 0.0, 2.0)];
        PlateShape { material: random.u16(0..255), layer: i % 3 + 1, triangles: vec![[a, b, c], [a, c, d]] }
    });
    plates.collect()
}

/// Twelve packed buffers of 250,000 vertices, or of `vertices`, for measurements.
pub fn many(buffers: u16, vertices: u32, seed: u64) -> Vec<u8> {
    let mut builder = GeometryBuilder::new();
    let columns = 499.min(vertices / 4).max(3);
    let rows = (vertices / (columns + 1)).max(3) - 1;
    for i in 0..buffers {
        let (vertices, indices) = surface(rows, columns, 40.0, seed + u64::from(i));
        let format = "set3/xyznuvtbpc";
        builder.vertex_buffer(format, 28, &pack_vertices(format, 28, &vertices), true);
        builder.index_buffer(4, &indices, true);
        let mapping = |count: usize| Mapping { id: i.into(), buffer: i, density: i, start: 0, count: count as u32 };
        builder.vertex_mapping(mapping(vertices.len()));
        builder.index_mapping(mapping(indices.len()));
    }
    builder.build()
}

/// A `.splash` file with these boxes: name, corner, opposite corner.
pub fn splash(boxes: &[(&str, [f32; 3], [f32; 3])]) -> Vec<u8> {
    let mut w = Writer::new();
    w.u32(boxes.len() as u32);
    for (name, min, max) in boxes {
        w.u32(name.len() as u32);
        w.push(name);
        w.f32s(min);
        w.f32s(max);
    }
    w.into_bytes()
}

/// A believable `.splash` file: boxes along a ship.
pub fn demo_splash(seed: u64, size: Size) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    let count = if size == Size::Small { 8 } else { 40 };
    let named: Vec<(String, f32)> = (0..count)
        .map(|i| (format!("CM_SB_{}_{}", ["bow", "ssc", "cit", "stern"][i * 4 / count], i), random.f32()))
        .collect();
    let boxes: Vec<_> = named
        .iter()
        .enumerate()
        .map(|(i, (name, width))| {
            let z = i as f32 / count as f32 * 20.0 - 10.0;
            (name.as_str(), [-width - 0.1, -1.0, z], [width + 0.1, 1.0, z + 0.5])
        })
        .collect();
    splash(&boxes)
}
