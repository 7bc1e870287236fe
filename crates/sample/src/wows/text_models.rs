//! Builds `.visual`, `.model`, `.mfm` and `.info` files as exporters write them: with tabs around values, in both dialects.

use crate::Size;
use std::fmt::Write as _;

/// The shape of a text model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The form of the Mods SDK: a render set names its buffers, and each level of detail is a file.
    Old,
    /// The form of records of `assets.bin`: a visual contains all levels of detail.
    New,
}

/// A node below another one.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    pub name: &'a str,
    /// The number of the node above; it is a node before this one.
    pub parent: Option<usize>,
    pub position: [f32; 3],
}

impl Node<'static> {
    /// The node above all others.
    const ROOT: Self = Node { name: "Scene Root", parent: None, position: [0.0; 3] };
}

/// A node below another one, with its matrix: four rows, and the position in the last.
#[derive(Debug, Clone)]
pub struct Joint {
    pub name: String,
    pub parent: Option<usize>,
    pub matrix: [f32; 16],
}

impl From<&Node<'_>> for Joint {
    fn from(node: &Node<'_>) -> Self {
        let mut matrix = [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.];
        matrix[12..15].copy_from_slice(&node.position);
        Self { name: node.name.to_owned(), parent: node.parent, matrix }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct RenderSet<'a> {
    /// The names of its buffers have `.vertices` and `.indices` at the end.
    pub name: &'a str,
    /// The nodes on which it hangs, with a space between two.
    pub node: &'a str,
    /// The name of its material, and its path.
    pub material: &'a str,
    pub mfm: &'a str,
    /// The level of detail that shows it.
    pub lod: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct Property<'a> {
    pub name: &'a str,
    /// The name of its element, such as `Texture`.
    pub kind: &'a str,
    pub value: &'a str,
}

/// An XML document, indented by tabs.
#[derive(Debug, Default)]
struct Lines {
    text: String,
    open: Vec<String>,
}

impl Lines {
    fn line(&mut self, text: &str) {
        let indent = "\t".repeat(self.open.len());
        writeln!(self.text, "{indent}{text}").unwrap();
    }

    fn begin(&mut self, name: &str) {
        self.line(&format!("<{name}>"));
        self.open.push(name.to_owned());
    }

    /// Begins a document, whose name is that of a file.
    fn document(name: &str) -> Self {
        let mut lines = Self::default();
        lines.begin(name);
        lines
    }

    /// Begins an element with a text before its children.
    fn begin_with(&mut self, name: &str, text: &str) {
        self.line(&format!("<{name}>\t{text}"));
        self.open.push(name.to_owned());
    }

    fn end(&mut self) {
        let name = self.open.pop().unwrap();
        self.line(&format!("</{name}>"));
    }

    fn value(&mut self, name: &str, value: &str) {
        self.line(&format!("<{name}>\t{value}\t</{name}>"));
    }

    /// An element of values.
    fn values(&mut self, name: &str, values: &[(&str, &str)]) {
        self.begin(name);
        values.iter().for_each(|(name, value)| self.value(name, value));
        self.end();
    }

    fn finish(mut self) -> Vec<u8> {
        while !self.open.is_empty() {
            self.end();
        }
        self.text.into_bytes()
    }
}

fn nodes_below(lines: &mut Lines, nodes: &[Joint], parent: Option<usize>) {
    for (index, node) in nodes.iter().enumerate().filter(|(_, node)| node.parent == parent) {
        lines.begin("node");
        lines.value("identifier", &node.name);
        let rows =
            node.matrix.chunks_exact(4).map(|row| row.iter().map(|cell| format!("{cell:.6}")).collect::<Vec<_>>());
        let rows: Vec<String> = rows.map(|row| row.join(" ")).collect();
        lines.values("transform", &[("row0", &rows[0]), ("row1", &rows[1]), ("row2", &rows[2]), ("row3", &rows[3])]);
        nodes_below(lines, nodes, Some(index));
        lines.end();
    }
}

/// A `.visual` called `name`, without the ending.
pub fn visual(name: &str, dialect: Dialect, nodes: &[Node<'_>], sets: &[RenderSet<'_>]) -> Vec<u8> {
    let joints: Vec<Joint> = nodes.iter().map(Joint::from).collect();
    jointed(name, dialect, &joints, sets)
}

/// As [`visual`], with nodes that may turn and mirror. Sets on several nodes are in the space of the world.
pub fn jointed(name: &str, dialect: Dialect, nodes: &[Joint], sets: &[RenderSet<'_>]) -> Vec<u8> {
    let mut lines = Lines::document(&format!("{name}.visual"));
    match dialect {
        Dialect::Old => {
            nodes_below(&mut lines, nodes, None);
            for set in sets {
                lines.begin("renderSet");
                lines.value("treatAsWorldSpaceObject", if set.node.contains("BlendBone") { "true" } else { "false" });
                set.node.split(' ').for_each(|node| lines.value("node", node));
                lines.begin("geometry");
                lines.value("vertices", &format!("{}.vertices", set.name));
                lines.value("primitive", &format!("{}.indices", set.name));
                lines.begin_with("primitiveGroup", "0");
                lines.values("material", &[("identifier", set.material), ("mfm", set.mfm)]);
                (0..3).for_each(|_| lines.end());
            }
        }
        Dialect::New => {
            lines.begin("skeleton");
            nodes_below(&mut lines, nodes, None);
            lines.end();
            lines.begin("renderSets");
            for set in sets {
                lines.begin("renderSet");
                lines.value("name", set.name);
                lines.value("treatAsWorldSpaceObject", if set.node.contains("BlendBone") { "true" } else { "false" });
                lines.values("nodes", &set.node.split(' ').map(|node| ("node", node)).collect::<Vec<_>>());
                lines.values("material", &[("identifier", set.material), ("mfm", set.mfm)]);
                lines.end();
            }
            lines.end();
            lines.begin("lods");
            for level in 0..sets.iter().fold(0, |levels, set| levels.max(set.lod + 1)) {
                lines.begin("lod");
                lines.value("extent", &format!("{:.4}", 4.0 * (level + 1) as f32));
                lines.value("castsShadow", if level == 0 { "true" } else { "false" });
                let shown = sets.iter().filter(|set| set.lod == level).map(|set| ("renderSet", set.name));
                lines.values("renderSets", &shown.collect::<Vec<_>>());
                lines.end();
            }
            lines.end();
        }
    }
    lines.finish()
}

/// A `.model` of the new dialect, called `name` without the ending: the path of its visual.
pub fn model(name: &str, visual: &str) -> Vec<u8> {
    let mut lines = Lines::document(&format!("{name}.model"));
    lines.value("visual", visual);
    lines.line("<animations />");
    lines.line("<dyes />");
    lines.value("metaData", "assetq");
    lines.finish()
}

/// A `.model` of the old dialect, called `name` without the ending. `visual` and `parent`, the model of the next level of
/// detail, are paths without endings.
pub fn level(name: &str, visual: &str, parent: Option<&str>, extent: f32) -> Vec<u8> {
    let mut lines = Lines::document(&format!("{name}.model"));
    lines.value("extent", &format!("{extent:.4}"));
    parent.into_iter().for_each(|parent| lines.value("parent", parent));
    lines.line("<materialNames />");
    lines.value("castsShadow", "true");
    lines.value("nodefullVisual", visual);
    lines.finish()
}

/// A `.mfm` called `name`, without the ending.
pub fn material(name: &str, fx: &str, properties: &[Property<'_>]) -> Vec<u8> {
    let mut lines = Lines::document(&format!("{name}.mfm"));
    lines.value("fx", fx);
    lines.value("collisionFlags", "0");
    for property in properties {
        lines.begin_with("property", property.name);
        lines.value(property.kind, property.value);
        lines.end();
    }
    lines.finish()
}

/// The folder in which the paths of samples are.
const FOLDER: &str = "PnFMods/Sample/gun";

/// Parts of a sample, each with a mesh on a node of its own.
fn parts(seed: u64, size: Size) -> usize {
    size.pick(2, 60) + (seed % 3) as usize
}

fn demo(name: &str, dialect: Dialect, seed: u64, size: Size) -> Vec<u8> {
    let parts: Vec<String> = (0..parts(seed, size)).map(|part| format!("Part{part}")).collect();
    let levels = if dialect == Dialect::Old { 1 } else { 3 };
    let mut nodes = vec![Node::ROOT];
    let parts_below = parts.iter().zip(0u16..);
    nodes.extend(parts_below.map(|(name, part)| Node { name, parent: Some(0), position: [part.into(), 0.25, -0.5] }));
    nodes.push(Node { name: "HP_gunFire1", parent: Some(1), position: [0.0, 0.0, 1.5] });
    let names: Vec<Vec<String>> =
        (0..levels).map(|lod| parts.iter().map(|part| set_name(part, lod)).collect()).collect();
    let mfm = format!("{FOLDER}/{name}.mfm");
    let mut sets = Vec::new();
    for (lod, names) in names.iter().enumerate() {
        for (name, node) in names.iter().zip(&parts) {
            sets.push(RenderSet { name, node, material: "SHIPMAT_PBS_Gun", mfm: &mfm, lod });
        }
    }
    visual(name, dialect, &nodes, &sets)
}

fn set_name(part: &str, lod: usize) -> String {
    if lod == 0 { format!("{part}Shape") } else { format!("{part}_lod{lod}Shape") }
}

pub fn demo_visual(seed: u64, size: Size) -> Vec<u8> {
    demo("turret", Dialect::New, seed, size)
}

pub fn demo_old_visual(seed: u64, size: Size) -> Vec<u8> {
    demo("0director", Dialect::Old, seed, size)
}

pub fn demo_model(seed: u64, _: Size) -> Vec<u8> {
    level("turret", &format!("{FOLDER}/turret"), Some(&format!("{FOLDER}/lods/turret_lod1")), 4.0 + (seed % 8) as f32)
}

pub fn demo_material(seed: u64, size: Size) -> Vec<u8> {
    let influence = format!("0.{}000", seed % 10);
    let [albedo, normals] = ["a", "n"].map(|end| format!("{FOLDER}/turret_{end}.dds"));
    let mut properties = vec![
        Property { name: "diffuseMap", kind: "Texture", value: &albedo },
        Property { name: "normalMap", kind: "Texture", value: &normals },
        Property { name: "g_detailAlbedoInfluence", kind: "Float", value: &influence },
        Property { name: "doubleSided", kind: "Bool", value: "false" },
        Property { name: "g_tint", kind: "Vector4", value: "1.000000 0.500000 0.250000 1.000000" },
    ];
    let more: Vec<String> = (0..parts(seed, size)).map(|part| format!("g_scale{part}")).collect();
    properties.extend(more.iter().map(|name| Property { name, kind: "Float", value: "1.0000" }));
    material("turret", "shaders/materials/pbs/ship_material.fx", &properties)
}

/// A believable `.info`: models with packed texts, which are Base64.
pub fn demo_info(seed: u64, size: Size) -> Vec<u8> {
    let mut lines = Lines::document("RootModels.info");
    for part in 0..=parts(seed, size) {
        lines.value(&format!("turret{part}.model"), "KAMAAABzBAAAAG5vZGVzBAAAAGd1bnM=");
    }
    lines.finish()
}

/// Nodes of a visual of the Mods SDK beside its root.
const NODES: usize = 12;

/// Writes a folder in the shape of the Mods SDK: `models` models with their visuals, every four of them the levels of one gun, and
/// the materials of the guns. The real one has 80,000 models and 23,000 materials, 655 MB in all.
///
/// # Errors
/// As `write`.
pub fn sdk<E>(models: usize, mut write: impl FnMut(&str, &[u8]) -> Result<(), E>) -> Result<(), E> {
    for number in 0..models {
        let (gun, lod) = (number / 4, number % 4);
        let nation = ["france", "germany", "japan", "uk", "usa", "ussr"][gun % 6];
        let name = format!("AGM{gun:05}_{}in50", 3 + gun % 14);
        let folder = format!("content/gameplay/{nation}/gun/main/{name}");
        let [(own, path), (_, parent)] = [lod, lod + 1].map(|lod| match lod {
            0 => (name.clone(), format!("{folder}/{name}")),
            lod => (format!("{name}_lod{lod}"), format!("{folder}/lods/{name}_lod{lod}")),
        });
        let names: Vec<String> = (0..NODES).map(|node| format!("{own}_node{node}")).collect();
        let y = gun as f32 / 8.0;
        let mut nodes = vec![Node::ROOT];
        for (name, number) in names.iter().zip(0u16..) {
            nodes.push(Node { name, parent: Some(0), position: [number.into(), y, -0.5] });
        }
        let mfms = [format!("{folder}/{name}.mfm"), "content/gameplay/common/wire.mfm".to_owned()];
        let sets = ["", "_wire"].map(|end| format!("{own}{end}Shape"));
        let sets = [0, 1].map(|part| RenderSet {
            name: &sets[part],
            node: nodes[1 + part].name,
            material: "SHIPMAT_PBS_Gun",
            mfm: &mfms[part],
            lod: 0,
        });
        write(&format!("{path}.visual"), &visual(&own, Dialect::Old, &nodes, &sets))?;
        let parent = (lod < 3).then_some(parent);
        write(&format!("{path}.model"), &self::level(&own, &path, parent.as_deref(), 4.0 * (lod + 1) as f32))?;
        if lod == 0 {
            let [albedo, normals] = ["a", "n"].map(|end| format!("{folder}/{name}_{end}.tga"));
            let properties = [
                Property { name: "diffuseMap", kind: "Texture", value: &albedo },
                Property { name: "normalMap", kind: "Texture", value: &normals },
                Property { name: "g_detailAlbedoInfluence", kind: "Float", value: "0.5000" },
                Property { name: "doubleSided", kind: "Bool", value: "false" },
            ];
            write(&mfms[0], &material(&name, "shaders/std_effects/PBS_ship.fx", &properties))?;
        }
    }
    write("content/gameplay/common/wire.mfm", &material("wire", "shaders/std_effects/PBS_wire.fx", &[]))
}

/// The visual of [`geometry::turret`](super::geometry::turret): nodes that turn and lift its gun, with a bone each that mirrors.
pub fn turret_visual() -> Vec<u8> {
    let node = |name, parent, position| Node { name, parent, position };
    let nodes = [
        Node::ROOT,
        node("Rotate_Y", Some(0), [0.0, 0.5, 0.0]),
        node("Rotate_Y_BlendBone", Some(1), [0.0, -0.5, 0.0]),
        node("Rotate_X", Some(1), [0.0, 0.25, 1.0]),
        node("Rotate_X_BlendBone", Some(3), [0.0, -0.75, -1.0]),
        node("HP_gunFire1", Some(3), [0.0, 0.0, 9.0]),
    ];
    let set = RenderSet {
        name: "TurretShape",
        node: "Rotate_Y_BlendBone Rotate_X_BlendBone",
        material: "SHIPMAT_PBS_Gun",
        mfm: "PnFMods/Sample/gun/turret.mfm",
        lod: 0,
    };
    let mut joints: Vec<Joint> = nodes.iter().map(Joint::from).collect();
    joints.iter_mut().filter(|joint| joint.name.ends_with("_BlendBone")).for_each(|bone| bone.matrix[10] = -1.0);
    jointed("gun", Dialect::Old, &joints, &[set])
}
