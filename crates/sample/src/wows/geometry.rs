//! Builds `.geometry` and `.splash` files in the order in which the game's own tools lay them out.

pub use super::armor::PlateShape;

use super::armor;
use crate::writer::bytes;
use crate::{Size, Writer};
use assetq_core::codec::murmur3;
use assetq_wows::geometry::encd::encode_indices;
use assetq_wows::geometry::layout::{ARMOR_TAG, COLLISION_TAG};
use assetq_wows::geometry::{Attribute, VertexFormat};
use std::f32::consts::{PI, TAU};

#[derive(Debug, Default, Clone)]
pub struct GeometryBuilder {
    vertex_buffers: Vec<VertexBlob>,
    index_buffers: Vec<IndexBlob>,
    pub(super) vertex_mappings: Vec<Mapping>,
    pub(super) index_mappings: Vec<Mapping>,
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
    pub id: u32,
    /// The buffer, by number.
    pub buffer: u16,
    /// Packed texel density.
    pub density: u16,
    /// The first item, and the number of items.
    pub start: u32,
    pub count: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct HullShape {
    pub vertices: Vec<[f32; 3]>,
    /// Polygons of vertices, by number.
    pub faces: Vec<Vec<u32>>,
}

impl HullShape {
    /// A box with corners `min` and `max`.
    pub fn cuboid(min: [f32; 3], max: [f32; 3]) -> Self {
        let vertices = (0..8).map(|i| [0, 1, 2].map(|axis| if i >> axis & 1 == 0 { min[axis] } else { max[axis] }));
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        Self { vertices: vertices.collect(), faces: faces.map(Vec::from).to_vec() }
    }
}

/// The attributes of a vertex, before it is packed. Attributes that its format lacks are not written.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Vertex {
    pub position: [f32; 3],
    pub normal: [f32; 3],
    pub uv: [f32; 2],
    /// The second pair of texture coordinates.
    pub uv2: [f32; 2],
    pub tangent: [f32; 3],
    pub binormal: [f32; 3],
    /// Bones, by number.
    pub bones: [u8; 3],
    /// Bone weights as stored.
    pub weights: [u8; 4],
    pub radius: f32,
    pub id: u32,
    pub colour: [u8; 4],
}

impl GeometryBuilder {
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

    /// The number of the next vertex buffer.
    pub fn buffers(&self) -> u16 {
        self.vertex_buffers.len() as u16
    }

    pub fn vertex_mapping(&mut self, mapping: Mapping) {
        self.vertex_mappings.push(mapping);
    }

    pub fn index_mapping(&mut self, mapping: Mapping) {
        self.index_mappings.push(mapping);
    }

    pub fn collision(&mut self, name: &str, hulls: Vec<HullShape>) {
        self.collision.push((name.into(), hulls));
    }

    pub fn armor(&mut self, name: &str, plates: Vec<PlateShape>) {
        self.armor.push((name.into(), plates));
    }

    pub fn build(&self) -> Vec<u8> {
        let mut w = Writer::new();
        let counts = [
            self.vertex_buffers.len(),
            self.index_buffers.len(),
            self.vertex_mappings.len(),
            self.index_mappings.len(),
            self.collision.len(),
            self.armor.len(),
        ];
        w.all(counts.map(|count| count as u32));
        w.zeros(48);
        for (pointer, mappings) in [(0x18, &self.vertex_mappings), (0x20, &self.index_mappings)] {
            begin(&mut w, pointer, mappings.len());
            for m in mappings {
                w.add(m.id);
                w.all([m.buffer, m.density]);
                w.all([m.start, m.count]);
            }
        }
        begin(&mut w, 0x28, self.vertex_buffers.len());
        let structs = w.zeros(0x20 * self.vertex_buffers.len());
        for (i, buffer) in self.vertex_buffers.iter().enumerate() {
            let at = structs + 0x20 * i;
            let format = VertexFormat::new(&buffer.format, buffer.stride);
            let data = w.push(&buffer.blob);
            w.point(at, at, data);
            string(&mut w, at + 8, &buffer.format);
            w.set(at + 0x18, buffer.blob.len() as u32);
            w.set(at + 0x1C, buffer.stride as u16);
            w.patch(at + 0x1E, [format.has(Attribute::Bones) as u8, format.has(Attribute::Tangent) as u8]);
        }
        begin(&mut w, 0x30, self.index_buffers.len());
        let structs = w.zeros(0x10 * self.index_buffers.len());
        for (i, buffer) in self.index_buffers.iter().enumerate() {
            let at = structs + 0x10 * i;
            let data = w.push(&buffer.blob);
            w.point(at, at, data);
            w.set(at + 8, buffer.blob.len() as u32);
            w.set(at + 0xE, buffer.width as u16);
        }
        let collision = self.collision.iter().map(|(name, hulls)| (name, collision_data(hulls))).collect::<Vec<_>>();
        let armor = self.armor.iter().map(|(name, plates)| (name, armor_data(plates))).collect::<Vec<_>>();
        for (pointer, models) in [(0x38, collision), (0x40, armor)] {
            begin(&mut w, pointer, models.len());
            let structs = w.zeros(0x20 * models.len());
            for (i, (name, data)) in models.iter().enumerate() {
                let at = structs + 0x20 * i;
                w.set(at, data.len() as i64);
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

/// Points to the array that is written next, unless it is empty.
fn begin(w: &mut Writer, pointer: usize, count: usize) {
    if count > 0 {
        w.point(pointer, 0, w.position());
    }
}

/// Appends `text` with its NUL, and fills the packed string at `at`.
fn string(w: &mut Writer, at: usize, text: &str) {
    let target = w.text(text);
    w.set(at, text.len() as u32 + 1);
    w.point(at + 8, at, target);
}

/// An ENCD blob: its header and `payload`.
pub fn encd(count: usize, payload: Vec<u8>) -> Vec<u8> {
    [b"ENCD", &(count as u32).to_le_bytes()[..], &payload].concat()
}

/// Packs vertices of `stride` bytes, a multiple of 4 up to 256, by the codec's version 0, which the game writes.
pub fn encode_vertices(bytes: &[u8], stride: usize) -> Vec<u8> {
    assetq_wows::geometry::encd::encode_vertices(bytes, stride, &[0xA0]).expect("the codec takes any bytes")
}

fn collision_data(hulls: &[HullShape]) -> Vec<u8> {
    let mut w = Writer::new();
    w.all([COLLISION_TAG, hulls.len() as u32]);
    for hull in hulls {
        // In the order in which faces have them.
        let mut edges: Vec<[u32; 2]> = Vec::new();
        let faces = hull.faces.iter().map(|face| {
            let sides = face.iter().zip(face.iter().cycle().skip(1)).map(|(&a, &b)| [a.min(b), a.max(b)]);
            let sides = sides.map(|side| {
                edges.iter().position(|edge| *edge == side).unwrap_or_else(|| {
                    edges.push(side);
                    edges.len() - 1
                }) as u32
            });
            sides.collect::<Vec<_>>()
        });
        let faces: Vec<Vec<u32>> = faces.collect();
        w.add(hull.vertices.len() as u32);
        w.all(hull.vertices.as_flattened());
        w.add(edges.len() as u32);
        w.all(edges.as_flattened());
        w.add(hull.faces.len() as u32);
        for (face, edges) in hull.faces.iter().zip(faces) {
            w.add(face.len() as u32);
            w.all(face);
            w.all(edges);
            w.add(0);
        }
    }
    w.into_bytes()
}

fn armor_data(plates: &[PlateShape]) -> Vec<u8> {
    let mut w = Writer::new();
    w.add(ARMOR_TAG);
    bounds(&mut w, plates.iter().flat_map(|p| p.triangles.as_flattened()));
    w.add(plates.len() as u32);
    for plate in plates {
        w.all([plate.material, plate.layer]);
        bounds(&mut w, plate.triangles.as_flattened().iter());
        w.add(plate.triangles.len() as u32 * 3);
        for &[a, b, c] in &plate.triangles {
            let [u, v] = [b, c].map(|p| [p[0] - a[0], p[1] - a[1], p[2] - a[2]]);
            // Seen from outside the corners turn right in files of the game.
            let normal = unit([v[1] * u[2] - v[2] * u[1], v[2] * u[0] - v[0] * u[2], v[0] * u[1] - v[1] * u[0]]);
            for p in [a, b, c] {
                w.all(p);
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
    w.all(min);
    w.all(max);
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
    let mut all = vec![0; stride * vertices.len()];
    for (vertex, out) in vertices.iter().zip(all.chunks_exact_mut(stride)) {
        let bones = vertex.bones.map(|b| b * 3);
        for (attribute, packed) in [
            (Attribute::Position, bytes(vertex.position)),
            (Attribute::Normal, pack_normal(vertex.normal).to_vec()),
            (Attribute::Uv, pack_uv(vertex.uv)),
            (Attribute::Uv2, pack_uv(vertex.uv2)),
            (Attribute::Bones, vec![bones[0], bones[1], bones[2], 0]),
            (Attribute::Weights, vertex.weights.to_vec()),
            (Attribute::Tangent, pack_normal(vertex.tangent).to_vec()),
            (Attribute::Binormal, pack_normal(vertex.binormal).to_vec()),
            (Attribute::Radius, bytes([vertex.radius])),
            (Attribute::Id, bytes([vertex.id])),
            (Attribute::Colour, vertex.colour.to_vec()),
        ] {
            if let Some(at) = layout.offset(attribute) {
                out[at..at + packed.len()].copy_from_slice(&packed);
            }
        }
    }
    all
}

fn pack_uv(uv: [f32; 2]) -> Vec<u8> {
    bytes(uv.map(|c| pack_half(c - 0.5)))
}

/// A closed hull-like surface of `rows` by `columns` quads with bumps from `seed`: vertices and triangles whose
/// corners turn left around the normals, as in files of the game.
pub fn surface(rows: u32, columns: u32, length: f32, seed: u64) -> (Vec<Vertex>, Vec<u32>) {
    let mut random = crate::random::Rng::with_seed(seed);
    let bump = random.f32() * 3.0 + 2.0;
    let mut vertices = Vec::with_capacity(((rows + 1) * (columns + 1)) as usize);
    for row in 0..=rows {
        let t = row as f32 / rows as f32;
        let radius = 0.05 + libm::sinf(t * PI) * (1.0 + 0.1 * libm::sinf(t * TAU * bump));
        for column in 0..=columns {
            let angle = column as f32 / columns as f32 * TAU;
            let (sin, cos) = libm::sincosf(angle);
            vertices.push(Vertex {
                position: [radius * cos, radius * sin, (t - 0.5) * length],
                normal: [cos, sin, 0.0],
                uv: [column as f32 / columns as f32, t],
                uv2: [t, 0.5],
                tangent: [-sin, cos, 0.0],
                binormal: [0.0, 0.0, 1.0],
                bones: [0, 1, 0],
                weights: [0, 75, 180, 0],
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
    let (rows, columns) = size.pick((8, 8), (400, 160));
    let mut builder = GeometryBuilder::new();
    let mut density = 0x3000;
    for (format, stride, levels) in [("set3/xyznuvtbpc", 28, 4), ("set3/xyznuvrpc", 24, 1)] {
        let (mut all, mut all_indices, buffer) = (Vec::new(), Vec::new(), builder.vertex_buffers.len() as u16);
        for level in 0..levels {
            let (vertices, indices) = surface((rows >> level).max(2), (columns >> level).max(3), 20.0, seed + level);
            for (what, mappings, start, count) in [
                ("vertices", &mut builder.vertex_mappings, all.len(), vertices.len()),
                ("indices", &mut builder.index_mappings, all_indices.len(), indices.len()),
            ] {
                let id = murmur3(format!("hull_{buffer}_lod{level}Shape.{what}").as_bytes());
                mappings.push(Mapping { id, buffer, density, start: start as u32, count: count as u32 });
            }
            all.extend(vertices);
            all_indices.extend(indices);
            density += 0x10;
        }
        builder.vertex_buffer(format, stride, &pack_vertices(format, stride, &all), true);
        builder.index_buffer(size.pick(2, 4), &all_indices, true);
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
    let plates = [(32, 0.6), (33, -0.6), (35, 0.0), (97, -0.2)].map(|(material, z)| PlateShape {
        material,
        layer: 1,
        triangles: vec![
            [[-0.5, 0.0, z], [0.5, 0.0, z], [0.5, 0.4, z]],
            [[-0.5, 0.0, z], [0.5, 0.4, z], [-0.5, 0.4, z]],
        ],
    });
    let mut builder = GeometryBuilder::new();
    builder.armor("CM_PA_united.armor", plates.to_vec());
    builder.build()
}

/// A turret whose vertices hang on two bones, as [`turret_visual`](super::text_models::turret_visual) names them.
pub fn turret() -> Vec<u8> {
    let (vertices, indices) = surface(8, 8, 20.0, 1);
    let (format, stride) = ("set3/xyznuviiiwwtbpc", 36);
    let mut builder = GeometryBuilder::new();
    builder.vertex_buffer(format, stride, &pack_vertices(format, stride, &vertices), true);
    builder.index_buffer(2, &indices, true);
    let mapping = |what: &str, count: usize| Mapping {
        id: murmur3(format!("TurretShape.{what}").as_bytes()),
        buffer: 0,
        density: 5,
        start: 0,
        count: count as u32,
    };
    builder.vertex_mapping(mapping("vertices", vertices.len()));
    builder.index_mapping(mapping("indices", indices.len()));
    builder.build()
}

/// Six plates of any materials, anywhere along a ship.
pub(super) fn few_plates(seed: u64) -> Vec<PlateShape> {
    let mut random = crate::random::Rng::with_seed(seed);
    let plates = (0..6).map(|i| {
        let (x, z) = (random.f32() * 2.0 - 1.0, random.f32() * 20.0 - 10.0);
        let [a, b, c, d] = [[x, 0.0, z], [x, 1.0, z], [x, 1.0, z + 2.0], [x, 0.0, z + 2.0]];
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
        let mapping = Mapping { id: i.into(), buffer: i, density: i, start: 0, count: vertices.len() as u32 };
        builder.vertex_mapping(mapping);
        builder.index_mapping(Mapping { count: indices.len() as u32, ..mapping });
    }
    builder.build()
}

/// A `.splash` file with these boxes: name, corner, opposite corner.
pub fn splash(boxes: &[(&str, [f32; 3], [f32; 3])]) -> Vec<u8> {
    let mut w = Writer::new();
    w.add(boxes.len() as u32);
    for (name, min, max) in boxes {
        w.add(name.len() as u32);
        w.push(name);
        w.all(min);
        w.all(max);
    }
    w.into_bytes()
}

/// A believable `.splash` file: boxes along a ship.
pub fn demo_splash(seed: u64, size: Size) -> Vec<u8> {
    let mut random = crate::random::Rng::with_seed(seed);
    let count = size.pick(8, 40);
    let named =
        (0..count).map(|i| (format!("CM_SB_{}_{i}", ["bow", "ssc", "cit", "stern"][i * 4 / count]), random.f32()));
    let named: Vec<(String, f32)> = named.collect();
    let boxes = named.iter().enumerate().map(|(i, (name, width))| {
        let z = i as f32 / count as f32 * 20.0 - 10.0;
        (name.as_str(), [-width - 0.1, -1.0, z], [width + 0.1, 1.0, z + 0.5])
    });
    let boxes: Vec<_> = boxes.collect();
    splash(&boxes)
}
