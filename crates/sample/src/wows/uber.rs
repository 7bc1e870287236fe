//! Builds the models of World of Warships: Legends: `prototypes.index.data` and `prototypes.data`. No real file was at hand:
//! docs/formats/legends.md.

use crate::Size;
use crate::writer::{Writer, bytes};
use assetq_core::codec::{cityhash64, murmur3};
use fastrand::Rng;

/// Bytes of the header of a model, with its skeleton.
const HEADER: usize = 0x68;

#[derive(Debug, Clone)]
pub struct UberModel {
    /// The path of the finest model.
    pub path: String,
    /// The levels of detail, the finest first.
    pub levels: Vec<Level>,
    pub materials: Vec<Material>,
    /// The names of the nodes; each hangs on the one before.
    pub nodes: Vec<String>,
}

/// A level of detail and its visual.
#[derive(Debug, Clone)]
pub struct Level {
    pub path: String,
    pub visual: String,
    pub geometry: String,
    pub extent: f32,
    pub min: [f32; 3],
    pub max: [f32; 3],
    pub render_sets: Vec<RenderSet>,
}

#[derive(Debug, Clone)]
pub struct RenderSet {
    /// The number of its material.
    pub material: usize,
    /// The name of its meshes, without the endings.
    pub mesh: String,
    /// The names of the nodes that its vertices follow.
    pub palette: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct Material {
    pub path: String,
    pub name: String,
    pub fx: String,
    pub flags: u16,
    pub properties: Vec<(String, Value)>,
}

#[derive(Debug, Clone)]
pub enum Value {
    Bool(bool),
    Int(i32),
    Float(f32),
    Texture(String),
    Vec3([f32; 3]),
    Vec2([f32; 2]),
    Matrix([f32; 16]),
    Vec4([f32; 4]),
}

impl Value {
    /// Its type in the file, and its bytes.
    fn stored(&self) -> (u8, Vec<u8>) {
        match self {
            Self::Bool(value) => (0, vec![u8::from(*value)]),
            Self::Int(value) => (1, bytes([*value])),
            Self::Float(value) => (2, bytes([*value])),
            Self::Texture(path) => (3, bytes([path_id(path)])),
            Self::Vec3(values) => (4, bytes(values)),
            Self::Vec2(values) => (5, bytes(values)),
            Self::Matrix(values) => (6, bytes(values)),
            Self::Vec4(values) => (7, bytes(values)),
        }
    }
}

fn path_id(path: &str) -> u64 {
    if path.is_empty() { 0 } else { cityhash64(path.as_bytes()) }
}

fn name_id(name: &str) -> u32 {
    murmur3(name.as_bytes())
}

pub fn blob(model: &UberModel) -> Vec<u8> {
    let mut w = Writer::new();
    w.all([model.levels.len() as u32, model.materials.len() as u32]);
    w.zeros(HEADER - 8);
    skeleton(&mut w, &model.nodes);
    w.align(8);
    let levels = w.zeros(0x48 * model.levels.len());
    for (n, level) in model.levels.iter().enumerate() {
        let at = levels + 0x48 * n;
        let next = model.levels.get(n + 1).map_or("", |next| &next.path);
        w.patch(at, bytes([path_id(next), path_id(&level.visual)]));
        w.set(at + 0x10, level.extent);
    }
    let ids = w.all(model.levels.iter().map(|level| path_id(&level.path)));
    let visuals = w.zeros(0x30 * model.levels.len());
    for (n, level) in model.levels.iter().enumerate() {
        let at = visuals + 0x30 * n;
        w.patch(at, bytes(level.min.iter().chain(&level.max)));
        w.set(at + 0x18, path_id(&level.geometry));
        w.set(at + 0x20, level.render_sets.len() as u32);
        let sets = w.zeros(0x20 * level.render_sets.len());
        w.point(at + 0x28, at, sets);
        for (n, set) in level.render_sets.iter().enumerate() {
            render_set(&mut w, sets + 0x20 * n, set, &model.materials[set.material]);
        }
        w.align(8);
    }
    for (field, position) in [(0x08, levels), (0x10, ids), (0x18, visuals)] {
        w.set(field, position as u64);
    }
    if !model.materials.is_empty() {
        materials(&mut w, &model.materials);
    }
    w.align(8);
    w.into_bytes()
}

fn skeleton(w: &mut Writer, nodes: &[String]) {
    const AT: usize = 0x38;
    w.set(AT, nodes.len() as u32);
    let count = nodes.len() as u16;
    let names = bytes(nodes.iter().map(|name| name_id(name)));
    // Each node is `n` above the root.
    let matrices =
        (0..count).flat_map(|n| (0..16).map(move |i| f32::from(u16::from(i % 5 == 0) + n * u16::from(i == 13))));
    for (field, array) in [
        (0x08, names.clone()),
        (0x10, bytes(0..count)),
        (0x18, names),
        (0x20, bytes(matrices)),
        (0x28, bytes((0..count).map(|n| n.wrapping_sub(1)))),
    ] {
        w.align(4);
        let at = w.push(array);
        w.point(AT + field, AT, at);
    }
}

fn render_set(w: &mut Writer, at: usize, set: &RenderSet, material: &Material) {
    w.set(at, path_id(&material.path));
    let [vertices, indices] = ["vertices", "indices"].map(|what| name_id(&format!("{}.{what}", set.mesh)));
    w.patch(at + 0x08, bytes([name_id(&material.name), vertices, indices]));
    w.patch(at + 0x14, [u8::from(set.palette.len() > 1), set.palette.len() as u8]);
    if !set.palette.is_empty() {
        let palette = w.all(set.palette.iter().map(|name| name_id(name)));
        w.point(at + 0x18, at, palette);
    }
}

fn materials(w: &mut Writer, materials: &[Material]) {
    let ids = w.all(materials.iter().map(|material| path_id(&material.path)));
    let names = w.all(materials.iter().map(|material| name_id(&material.name)));
    let records = w.zeros(0x70 * materials.len());
    for (field, position) in [(0x20, ids), (0x28, names), (0x30, records)] {
        w.set(field, position as u64);
    }
    for (n, material) in materials.iter().enumerate() {
        let at = records + 0x70 * n;
        w.set(at, path_id(&material.fx));
        w.patch(at + 0x0C, bytes([material.properties.len() as u16, material.flags]));
        let mut values: [Vec<Vec<u8>>; 8] = Default::default();
        let names = w.all(material.properties.iter().map(|(name, _)| name_id(name)));
        let mut codes = Vec::new();
        for (_, value) in &material.properties {
            let (kind, bytes) = value.stored();
            let of_kind = &mut values[usize::from(kind)];
            codes.push(kind | (of_kind.len() as u8) << 3);
            of_kind.push(bytes);
        }
        w.point(at + 0x18, at, names);
        let codes = w.push(codes);
        w.point(at + 0x20, at, codes);
        for (kind, of_kind) in values.iter().enumerate().filter(|(_, of_kind)| !of_kind.is_empty()) {
            w.align(8);
            let position = w.push(of_kind.concat());
            w.point(at + 0x28 + 8 * kind, at, position);
        }
    }
}

/// The index and the data of these models.
pub fn pair(models: &[UberModel]) -> [Vec<u8>; 2] {
    let mut data = Writer::new();
    let mut spans = Vec::new();
    for model in models {
        let blob = blob(model);
        spans.push((path_id(&model.path), data.push(&blob), blob.len()));
    }
    spans.sort_unstable();
    let mut index = Writer::new();
    index.all([spans.len() as u32, 0x5EED]);
    let keys = 24;
    index.all([(keys + 8 * spans.len()) as u64, keys as u64]);
    index.all(spans.iter().map(|(id, ..)| id));
    for (_, position, size) in spans {
        index.add((position as u64) << 32 | size as u64);
        index.add(0u32);
    }
    [index.into_bytes(), data.into_bytes()]
}

/// Believable models: a hull, guns of several levels, and a port without materials.
pub fn demo_models(seed: u64, size: Size) -> Vec<UberModel> {
    let mut rng = Rng::with_seed(seed);
    (0..size.pick(5, 5_000)).map(|n| demo_model(n, &mut rng)).collect()
}

fn demo_model(n: usize, rng: &mut Rng) -> UberModel {
    let stem = format!("content/gameplay/usa/gun/AG{n:03}_Gun");
    // A port has nodes only.
    let is_port = n % 5 == 4;
    let materials = if is_port { 0 } else { 1 + rng.usize(..3) };
    let levels = if is_port { 1 } else { 1 + rng.usize(..4) };
    let levels = (0..levels).map(|level| {
        let path = if level == 0 { stem.clone() } else { format!("{stem}_lod{level}") };
        let render_sets = (0..if is_port { 0 } else { 3 }).map(|set| RenderSet {
            material: set % materials,
            mesh: format!("AG{n:03}_{level}_{set}"),
            palette: (0..=set % 3).map(|node| format!("node_{node}")).collect(),
        });
        Level {
            path: format!("{path}.model"),
            visual: format!("{path}.visual"),
            geometry: format!("{stem}.geometry"),
            extent: 100.0 * (level + 1) as f32,
            min: [-1.0, -0.5, -2.0],
            max: [1.0, 0.5 + n as f32, 2.0],
            render_sets: render_sets.collect(),
        }
    });
    let materials = (0..materials as i32).map(|number| {
        let properties = [
            ("diffuseMap", Value::Texture(format!("{stem}_{number}_a.dds"))),
            ("normalMap", Value::Texture(format!("{stem}_{number}_n.dds"))),
            ("doubleSided", Value::Bool(number % 2 == 1)),
            ("alphaReference", Value::Int(-7 - number)),
            ("g_detailScale", Value::Float(0.25)),
            ("g_wind", Value::Vec3([1.0, 2.0, number as f32])),
            ("g_tiling", Value::Vec2([4.0, 8.0])),
            ("g_color", Value::Vec4([0.5, 0.25, 0.125, 1.0])),
            ("g_transform", Value::Matrix(std::array::from_fn(|i| i as f32))),
        ];
        Material {
            path: format!("{stem}_{number}.mfm"),
            name: format!("gun_{number}"),
            fx: "shaders/std_effects/PBS_ship.fx".to_owned(),
            flags: number as u16,
            properties: properties.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        }
    });
    UberModel {
        path: format!("{stem}.model"),
        levels: levels.collect(),
        materials: materials.collect(),
        nodes: (0..3 + n % 2).map(|node| format!("node_{node}")).collect(),
    }
}

pub fn demo_index(seed: u64, size: Size) -> Vec<u8> {
    let [index, _] = pair(&demo_models(seed, size));
    index
}

/// The `prototypes.data` of [`demo_index`].
pub fn demo_data(seed: u64, size: Size) -> Vec<u8> {
    let [_, data] = pair(&demo_models(seed, size));
    data
}
