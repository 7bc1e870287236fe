//! Builds the models of World of Warships: Legends: `prototypes.index.data` and `prototypes.data`. No real file was at hand:
//! docs/formats/legends.md.

use super::{Size, Writer};
use assetq_core::codec::{cityhash64, murmur3};
use fastrand::Rng;

/// Bytes of the header of a model, with its skeleton.
const HEADER: usize = 0x68;

/// A model.
#[derive(Debug, Clone)]
pub struct UberModel {
    /// The path of the finest model.
    pub path: String,
    /// The levels of detail, the finest first.
    pub levels: Vec<Level>,
    /// The materials.
    pub materials: Vec<Material>,
    /// The names of the nodes; each hangs on the one before.
    pub nodes: Vec<String>,
}

/// A level of detail and its visual.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Level {
    pub path: String,
    pub visual: String,
    pub geometry: String,
    pub extent: f32,
    pub min: [f32; 3],
    pub max: [f32; 3],
    pub render_sets: Vec<RenderSet>,
}

/// A draw group.
#[derive(Debug, Clone)]
pub struct RenderSet {
    /// The number of its material.
    pub material: usize,
    /// The name of its meshes, without the endings.
    pub mesh: String,
    /// The names of the nodes that its vertices follow.
    pub palette: Vec<String>,
}

/// A material.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Material {
    pub path: String,
    pub name: String,
    pub fx: String,
    pub flags: u16,
    pub properties: Vec<(String, Value)>,
}

/// The value of a property.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
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
        let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect();
        match self {
            Self::Bool(value) => (0, vec![u8::from(*value)]),
            Self::Int(value) => (1, value.to_le_bytes().to_vec()),
            Self::Float(value) => (2, value.to_le_bytes().to_vec()),
            Self::Texture(path) => (3, path_id(path).to_le_bytes().to_vec()),
            Self::Vec3(values) => (4, floats(values)),
            Self::Vec2(values) => (5, floats(values)),
            Self::Matrix(values) => (6, floats(values)),
            Self::Vec4(values) => (7, floats(values)),
        }
    }
}

fn path_id(path: &str) -> u64 {
    if path.is_empty() { 0 } else { cityhash64(path.as_bytes()) }
}

fn name_id(name: &str) -> [u8; 4] {
    murmur3(name.as_bytes()).to_le_bytes()
}

/// The bytes of a model.
pub fn blob(model: &UberModel) -> Vec<u8> {
    let mut w = Writer::new();
    w.zeros(HEADER);
    w.patch(0, (model.levels.len() as u32).to_le_bytes());
    w.patch(4, (model.materials.len() as u32).to_le_bytes());
    skeleton(&mut w, &model.nodes);
    w.align(8);
    let levels = w.zeros(0x48 * model.levels.len());
    for (n, level) in model.levels.iter().enumerate() {
        let at = levels + 0x48 * n;
        let next = model.levels.get(n + 1).map_or("", |next| &next.path);
        w.patch(at, path_id(next).to_le_bytes());
        w.patch(at + 8, path_id(&level.visual).to_le_bytes());
        w.patch(at + 0x10, level.extent.to_le_bytes());
    }
    let ids = w.position();
    for level in &model.levels {
        w.u64(path_id(&level.path));
    }
    let visuals = w.zeros(0x30 * model.levels.len());
    for (n, level) in model.levels.iter().enumerate() {
        let at = visuals + 0x30 * n;
        for (corner, axis) in level.min.iter().chain(&level.max).enumerate() {
            w.patch(at + 4 * corner, axis.to_le_bytes());
        }
        w.patch(at + 0x18, path_id(&level.geometry).to_le_bytes());
        w.patch(at + 0x20, (level.render_sets.len() as u32).to_le_bytes());
        let sets = w.zeros(0x20 * level.render_sets.len());
        w.point(at + 0x28, at, sets);
        for (n, set) in level.render_sets.iter().enumerate() {
            render_set(&mut w, sets + 0x20 * n, set, &model.materials[set.material]);
        }
        w.align(8);
    }
    for (field, position) in [(0x08, levels), (0x10, ids), (0x18, visuals)] {
        w.patch(field, (position as u64).to_le_bytes());
    }
    if !model.materials.is_empty() {
        materials(&mut w, &model.materials);
    }
    w.align(8);
    w.into_bytes()
}

fn skeleton(w: &mut Writer, nodes: &[String]) {
    const AT: usize = 0x38;
    w.patch(AT, (nodes.len() as u32).to_le_bytes());
    let mut array = |field: usize, bytes: Vec<u8>| {
        w.align(4);
        let at = w.push(bytes);
        w.point(AT + field, AT, at);
    };
    let names: Vec<u8> = nodes.iter().flat_map(|name| name_id(name)).collect();
    let identity = |n: usize| {
        (0..16).flat_map(move |i| f32::from(u8::from(i % 5 == 0) + (n as u8) * u8::from(i == 13)).to_le_bytes())
    };
    array(0x08, names.clone());
    array(0x10, (0..nodes.len() as u16).flat_map(u16::to_le_bytes).collect());
    array(0x18, names);
    array(0x20, (0..nodes.len()).flat_map(identity).collect());
    array(0x28, (0..nodes.len() as u16).flat_map(|n| n.wrapping_sub(1).to_le_bytes()).collect());
}

fn render_set(w: &mut Writer, at: usize, set: &RenderSet, material: &Material) {
    w.patch(at, path_id(&material.path).to_le_bytes());
    w.patch(at + 0x08, name_id(&material.name));
    w.patch(at + 0x0C, name_id(&format!("{}.vertices", set.mesh)));
    w.patch(at + 0x10, name_id(&format!("{}.indices", set.mesh)));
    w.patch(at + 0x14, [u8::from(set.palette.len() > 1), set.palette.len() as u8]);
    if !set.palette.is_empty() {
        let palette = w.position();
        for name in &set.palette {
            w.push(name_id(name));
        }
        w.point(at + 0x18, at, palette);
    }
}

fn materials(w: &mut Writer, materials: &[Material]) {
    let ids = w.position();
    for material in materials {
        w.u64(path_id(&material.path));
    }
    let names = w.position();
    for material in materials {
        w.push(name_id(&material.name));
    }
    let records = w.zeros(0x70 * materials.len());
    for (field, position) in [(0x20, ids), (0x28, names), (0x30, records)] {
        w.patch(field, (position as u64).to_le_bytes());
    }
    for (n, material) in materials.iter().enumerate() {
        let at = records + 0x70 * n;
        w.patch(at, path_id(&material.fx).to_le_bytes());
        w.patch(at + 0x0C, (material.properties.len() as u16).to_le_bytes());
        w.patch(at + 0x0E, material.flags.to_le_bytes());
        let mut values: [Vec<Vec<u8>>; 8] = Default::default();
        let names = w.position();
        for (name, _) in &material.properties {
            w.push(name_id(name));
        }
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
        let bytes = blob(model);
        let size = bytes.len();
        spans.push((path_id(&model.path), data.push(bytes), size));
    }
    spans.sort_unstable();
    let mut index = Writer::new();
    index.u32(spans.len() as u32);
    index.u32(0x5EED);
    let keys = 24;
    index.u64((keys + 8 * spans.len()) as u64);
    index.u64(keys as u64);
    for (id, ..) in &spans {
        index.u64(*id);
    }
    for (_, position, size) in spans {
        index.u64((position as u64) << 32 | size as u64);
        index.u32(0);
    }
    [index.into_bytes(), data.into_bytes()]
}

/// Believable models: a hull, guns of several levels, and a port without materials.
pub fn demo_models(seed: u64, size: Size) -> Vec<UberModel> {
    let count = match size {
        Size::Small => 5,
        Size::Full => 5_000,
    };
    let mut rng = Rng::with_seed(seed);
    (0..count).map(|n| demo_model(n, &mut rng)).collect()
}

fn demo_model(n: usize, rng: &mut Rng) -> UberModel {
    let stem = format!("content/gameplay/usa/gun/AG{n:03}_Gun");
    let level_path = |level: usize, ending: &str| match level {
        0 => format!("{stem}.{ending}"),
        _ => format!("{stem}_lod{level}.{ending}"),
    };
    // A port has nodes only.
    let is_port = n % 5 == 4;
    let materials = if is_port { 0 } else { 1 + rng.usize(..3) };
    let set = |level: usize, set: usize| RenderSet {
        material: set % materials,
        mesh: format!("AG{n:03}_{level}_{set}"),
        palette: (0..=set % 3).map(|node| format!("node_{node}")).collect(),
    };
    let level = |level: usize| Level {
        path: level_path(level, "model"),
        visual: level_path(level, "visual"),
        geometry: format!("{stem}.geometry"),
        extent: 100.0 * (level + 1) as f32,
        min: [-1.0, -0.5, -2.0],
        max: [1.0, 0.5 + n as f32, 2.0],
        render_sets: if is_port { Vec::new() } else { (0..3).map(|number| set(level, number)).collect() },
    };
    let levels = if is_port { 1 } else { 1 + rng.usize(..4) };
    let material = |number: usize| Material {
        path: format!("{stem}_{number}.mfm"),
        name: format!("gun_{number}"),
        fx: "shaders/std_effects/PBS_ship.fx".to_owned(),
        flags: number as u16,
        properties: vec![
            ("diffuseMap".to_owned(), Value::Texture(format!("{stem}_{number}_a.dds"))),
            ("normalMap".to_owned(), Value::Texture(format!("{stem}_{number}_n.dds"))),
            ("doubleSided".to_owned(), Value::Bool(number % 2 == 1)),
            ("alphaReference".to_owned(), Value::Int(-7 - number as i32)),
            ("g_detailScale".to_owned(), Value::Float(0.25)),
            ("g_wind".to_owned(), Value::Vec3([1.0, 2.0, number as f32])),
            ("g_tiling".to_owned(), Value::Vec2([4.0, 8.0])),
            ("g_color".to_owned(), Value::Vec4([0.5, 0.25, 0.125, 1.0])),
            ("g_transform".to_owned(), Value::Matrix(std::array::from_fn(|i| i as f32))),
        ],
    };
    UberModel {
        levels: (0..levels).map(level).collect(),
        materials: (0..materials).map(material).collect(),
        nodes: (0..3 + n % 2).map(|node| format!("node_{node}")).collect(),
        path: level_path(0, "model"),
    }
}

/// A believable `prototypes.index.data`.
pub fn demo_index(seed: u64, size: Size) -> Vec<u8> {
    let [index, _] = pair(&demo_models(seed, size));
    index
}

/// The `prototypes.data` of [`demo_index`].
pub fn demo_data(seed: u64, size: Size) -> Vec<u8> {
    let [_, data] = pair(&demo_models(seed, size));
    data
}
