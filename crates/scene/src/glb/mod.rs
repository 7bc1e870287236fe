//! glTF 2.0 in its binary form.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "numbers are positions in lists of a model in memory, whose format has looked at all indices of files"
)]

mod levels;
pub mod read;

use crate::colours::linear_channel;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Alpha, Attribute, Material, Model, Node, Part, Rig, Role, Values};
use crate::written;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::{self, BufWriter, Write};

/// Numbers that glTF has for types of numbers, and for what a part of the buffer holds.
mod code {
    pub(super) const U8: u32 = 5121;
    pub(super) const U16: u32 = 5123;
    pub(super) const U32: u32 = 5125;
    pub(super) const F32: u32 = 5126;
    pub(super) const VERTICES: u32 = 34962;
    pub(super) const INDICES: u32 = 34963;
    /// The mode in which primitives are lines.
    pub(super) const LINES: u32 = 1;
    pub(super) const LINEAR: u32 = 9729;
    pub(super) const LINEAR_MIPMAP_LINEAR: u32 = 9987;
}

impl Values<'_> {
    /// The type of the numbers, the type of the elements, and the bytes of an element, which are whole words.
    fn layout(&self) -> (u32, &'static str, usize) {
        match self {
            Self::Scalar(_) => (code::F32, "SCALAR", 4),
            Self::Vec2(_) => (code::F32, "VEC2", 8),
            Self::Vec3(_) => (code::F32, "VEC3", 12),
            Self::Vec4(_) => (code::F32, "VEC4", 16),
            Self::Bytes(_) | Self::Shares(_) => (code::U8, "VEC4", 4),
        }
    }

    fn write(self, out: &mut impl Write) -> io::Result<()> {
        fn floats<const N: usize>(mut all: impl Iterator<Item = [f32; N]>, out: &mut impl Write) -> io::Result<()> {
            all.try_for_each(|v| out.write_all(v.map(f32::to_le_bytes).as_flattened()))
        }
        match self {
            Self::Scalar(all) => floats(all, out),
            Self::Vec2(all) => floats(all, out),
            Self::Vec3(all) => floats(all, out),
            Self::Vec4(all) => floats(all, out),
            Self::Bytes(mut all) | Self::Shares(mut all) => all.try_for_each(|v| out.write_all(&v)),
        }
    }
}

/// The indices of a part: their number, their type, and the size of each.
fn index_layout(part: &dyn Part) -> Option<(usize, u32, usize)> {
    let count = part.edges().map(|edges| 2 * edges.len()).or(part.index_count())?;
    // The greatest number of 16 bits is kept for other uses.
    let (component, size) = if part.greatest_index() < 0xFFFF { (code::U16, 2) } else { (code::U32, 4) };
    Some((count, component, size))
}

fn write_indices(part: &dyn Part, out: &mut impl Write) -> io::Result<()> {
    let Some((count, _, size)) = index_layout(part) else { return Ok(()) };
    let mut write = |index: u32| out.write_all(&index.to_le_bytes()[..size]);
    match part.edges() {
        Some(edges) => edges.into_iter().flatten().try_for_each(&mut write)?,
        None => part.triangles().flatten().try_for_each(&mut write)?,
    }
    pad(count * size, out)
}

/// Writes `model` as glTF 2.0 in its binary form. Vertices go out one by one: nothing but the description of the
/// model is held in memory besides the decoded buffers.
///
/// # Errors
/// `Limit` when the file would have more than 4 GiB, and `Io` when `out` fails.
pub fn write(model: &Model<'_>, out: &mut dyn Write) -> Result<()> {
    let (tree, has_levels) = tree(model);
    let (text, binary) = describe(model, &tree, has_levels).expect("a text takes all that is written to it");
    let mut text = text.into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let total = 20 + text.len() as u64 + if binary > 0 { 8 + binary as u64 } else { 0 };
    let Ok(file_size) = u32::try_from(total) else {
        let kind = ErrorKind::Limit { what: "size of a GLB file", value: total, limit: u32::MAX.into() };
        return Err(Error::of_part(kind, ""));
    };
    let [text_size, binary] = [text.len(), binary].map(|size| u32::try_from(size).expect("less than the file"));
    let header = [*b"glTF", 2u32.to_le_bytes(), file_size.to_le_bytes(), text_size.to_le_bytes(), *b"JSON"];
    let mut out = BufWriter::with_capacity(1 << 16, out);
    written(
        out.write_all(header.as_flattened()).and_then(|()| write_chunks(model, &tree.rigs, &text, binary, &mut out)),
    )
}

fn write_chunks(model: &Model<'_>, rigs: &[Rig], text: &[u8], binary: u32, out: &mut impl Write) -> io::Result<()> {
    out.write_all(text)?;
    if binary > 0 {
        out.write_all(&binary.to_le_bytes())?;
        out.write_all(b"BIN\0")?;
        for part in &model.parts {
            part.attributes().into_iter().try_for_each(|attribute| attribute.values.write(out))?;
            write_indices(*part, out)?;
        }
        for rig in rigs {
            rig.inverse.iter().flatten().try_for_each(|number| out.write_all(&number.to_le_bytes()))?;
        }
        for image in model.images {
            out.write_all(&image.png)?;
            pad(image.png.len(), out)?;
        }
    }
    out.flush()
}

/// Writes the padding after `size` bytes.
fn pad(size: usize, out: &mut impl Write) -> io::Result<()> {
    out.write_all(&[0; 3][..size.next_multiple_of(4) - size])
}

impl Node {
    /// Appends the node as JSON. A space has many: they are written without a [`Value`] each.
    fn put(&self, scale: Option<[f32; 3]>, coarser: Option<&Vec<usize>>, out: &mut String) -> fmt::Result {
        write!(out, "{{\"name\":{}", json!(&*self.name))?;
        if !self.children.is_empty() {
            write!(out, ",\"children\":{:?}", self.children)?;
        }
        if let Some(matrix) = self.matrix {
            write!(out, ",\"matrix\":{}", format!("{matrix:?}").replace(' ', ""))?;
        }
        if let Some(part) = self.part {
            write!(out, ",\"mesh\":{part}")?;
        }
        if let Some(rig) = self.rig {
            write!(out, ",\"skin\":{rig}")?;
        }
        if let Some(scale) = scale {
            // Buffers hold the numbers of the file, and the unit of glTF is the metre.
            write!(out, ",\"scale\":{}", digits(scale))?;
        }
        if let Some(coarser) = coarser {
            write!(out, ",\"extensions\":{}", json!({ levels::EXTENSION: { "ids": coarser } }))?;
        }
        out.write_char('}')
    }
}

/// The nodes of the file, and its scenes: the node of each, which has its name.
pub(super) struct Tree<'s> {
    pub nodes: Cow<'s, [Node]>,
    pub rigs: Cow<'s, [Rig]>,
    pub scenes: Vec<usize>,
    /// The nodes of coarser levels of detail, to which a node leads.
    pub coarser: BTreeMap<usize, Vec<usize>>,
}

impl Tree<'_> {
    /// Adds a node. Returns its number.
    pub(super) fn push(&mut self, node: Node) -> usize {
        self.nodes.to_mut().push(node);
        self.nodes.len() - 1
    }
}

/// Views of the buffer, and the accessors that use them.
#[derive(Default)]
struct Buffer {
    size: usize,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Buffer {
    /// Adds a view of the next bytes. Returns its number.
    fn add(&mut self, size: usize, target: Option<u32>) -> usize {
        let mut view = json!({ "buffer": 0, "byteLength": size, "byteOffset": self.size });
        put(&mut view, "target", target.map(Value::from));
        self.views.push(view);
        self.size += size.next_multiple_of(4);
        self.views.len() - 1
    }

    /// Adds an accessor of the next `count` elements of `size` bytes. Returns its number.
    fn add_accessor(&mut self, count: usize, size: usize, component: u32, kind: &str, target: Option<u32>) -> Value {
        let view = self.add(count * size, target);
        let accessor = json!({ "bufferView": view, "componentType": component, "count": count, "type": kind });
        self.accessors.push(accessor);
        (self.accessors.len() - 1).into()
    }
}

/// The nodes of the model in its levels of detail, and whether it has several.
fn tree<'s>(model: &Model<'s>) -> (Tree<'s>, bool) {
    let scenes = model.roots.iter().chain(model.glb_only).copied().collect();
    let mut tree = Tree { nodes: model.nodes.into(), rigs: model.rigs.into(), scenes, coarser: BTreeMap::new() };
    let has_levels = levels::add(model, &mut tree);
    (tree, has_levels)
}

/// The description of the model as JSON, and how many bytes of vertices, indices and images it describes.
fn describe(model: &Model<'_>, tree: &Tree<'_>, has_levels: bool) -> Result<(String, usize), fmt::Error> {
    let mut buffer = Buffer::default();
    let meshes: Vec<Value> = model.parts.iter().map(|part| mesh(model, *part, &mut buffer)).collect();
    let skins = tree.rigs.iter().map(|rig| {
        let inverse = buffer.add_accessor(rig.inverse.len(), 64, code::F32, "MAT4", None);
        json!({ "inverseBindMatrices": inverse, "joints": rig.joints })
    });
    let skins: Vec<Value> = skins.collect();
    let (mut images, mut textures) = (Vec::new(), Vec::new());
    for (number, image) in model.images.iter().enumerate() {
        let view = buffer.add(image.png.len(), None);
        images.push(json!({ "bufferView": view, "mimeType": "image/png", "name": image.name }));
        textures.push(json!({ "name": image.name, "sampler": 0, "source": number }));
    }
    let sampler = json!({ "magFilter": code::LINEAR, "minFilter": code::LINEAR_MIPMAP_LINEAR });
    let samplers = if images.is_empty() { Vec::new() } else { vec![sampler] };
    let mut surfaces = model.materials.iter().filter_map(|material| material.skin.as_ref());
    let extensions = [
        (!model.variants.is_empty(), "KHR_materials_variants"),
        (surfaces.any(|skin| skin.transform.is_some()), "KHR_texture_transform"),
        (model.materials.iter().any(|material| emission(material).is_some()), "KHR_materials_emissive_strength"),
        (has_levels, levels::EXTENSION),
    ];
    let coarser: Vec<usize> = tree.coarser.values().flatten().copied().collect();
    let finest: Vec<usize> = tree.scenes.iter().copied().filter(|top| !coarser.contains(top)).collect();
    let main = (!finest.is_empty()).then_some((model.name, finest));
    let levels = coarser.iter().map(|&top| (&*tree.nodes[top].name, vec![top]));
    let scenes = main.into_iter().chain(levels).map(|(name, nodes)| json!({ "name": name, "nodes": nodes }));
    let buffers = if buffer.size > 0 { vec![json!({ "byteLength": buffer.size })] } else { Vec::new() };
    let arrays: [(&str, Vec<Value>); 11] = [
        ("accessors", buffer.accessors),
        ("bufferViews", buffer.views),
        ("buffers", buffers),
        (
            "extensionsUsed",
            extensions.into_iter().filter(|(is_used, _)| *is_used).map(|(_, name)| name.into()).collect(),
        ),
        ("images", images),
        ("materials", model.materials.iter().map(|material| describe_material(material)).collect()),
        ("meshes", meshes),
        ("samplers", samplers),
        ("scenes", scenes.collect()),
        ("skins", skins),
        ("textures", textures),
    ];
    let mut root = json!({ "asset": { "generator": concat!("assetq ", env!("CARGO_PKG_VERSION")), "version": "2.0" } });
    for (name, items) in arrays.into_iter().filter(|(_, items)| !items.is_empty()) {
        put(&mut root, name, Some(items.into()));
    }
    put(&mut root, "scene", tree.scenes.first().map(|_| 0.into()));
    if !model.variants.is_empty() {
        let variants: Vec<Value> = model.variants.iter().map(|variant| json!({ "name": variant.name })).collect();
        put(&mut root, "extensions", Some(json!({ "KHR_materials_variants": { "variants": variants } })));
    }
    let mut text = root.to_string();
    text.pop().expect("the brace at the end, as nodes follow");
    for (number, node) in tree.nodes.iter().enumerate() {
        text.push_str(if number == 0 { ",\"nodes\":[" } else { "," });
        let scale = tree.scenes.contains(&number).then_some(model.scale);
        node.put(scale, tree.coarser.get(&number), &mut text)?;
    }
    text.push_str(if tree.nodes.is_empty() { "}" } else { "]}" });
    Ok((text, buffer.size))
}

/// The strength of the light that a material emits.
fn emission(material: &Material) -> Option<f32> {
    material.image(Role::Emissive).and(material.skin.as_ref()).map(|skin| skin.emissive)
}

/// Numbers with their shortest digits. A conversion to 64 bits would add digits.
fn digits<const N: usize>(numbers: [f32; N]) -> Value {
    numbers.map(|number| number.to_string().parse::<f64>().ok()).to_vec().into()
}

/// A colour of sRGB in the linear numbers that factors of glTF are.
fn linear([r, g, b, a]: [f32; 4]) -> [f32; 4] {
    [linear_channel(r), linear_channel(g), linear_channel(b), a]
}

fn describe_material(material: &Material) -> Value {
    let skin = material.skin.as_ref();
    // Opacity is stored in the base colour.
    let alpha = skin.filter(|skin| skin.images.contains_key(&Role::Base)).map(|skin| skin.alpha);
    let metal = material.image(Role::MetalRoughness);
    let [metallic, roughness] = match metal {
        Some(_) => [1.0; 2],
        None if material.is_unlit => [0.0, 1.0],
        None => [0.1, 0.8],
    };
    let colour = if alpha.is_some() { [1.0; 4] } else { linear(material.colour) };
    let mut surface =
        json!({ "baseColorFactor": digits(colour), "metallicFactor": metallic, "roughnessFactor": roughness });
    put(&mut surface, "metallicRoughnessTexture", metal.map(|index| json!({ "index": index })));
    let base = material.image(Role::Base).map(|index| match skin.and_then(|skin| skin.transform) {
        None => json!({ "index": index }),
        Some((scale, offset)) => {
            let transform = json!({ "offset": digits(offset), "scale": digits(scale), "texCoord": 0 });
            json!({ "index": index, "extensions": { "KHR_texture_transform": transform } })
        }
    });
    put(&mut surface, "baseColorTexture", base);
    let mut described = json!({ "name": material.name, "pbrMetallicRoughness": surface });
    match alpha {
        Some(Alpha::Mask(cut)) => {
            put(&mut described, "alphaMode", Some("MASK".into()));
            put(&mut described, "alphaCutoff", digits([cut]).get(0).cloned());
        }
        Some(Alpha::Opaque) => {}
        None if material.colour[3] >= 1.0 => {}
        None | Some(Alpha::Blend) => put(&mut described, "alphaMode", Some("BLEND".into())),
    }
    put(&mut described, "doubleSided", material.double_sided.then(|| true.into()));
    for (role, name) in
        [(Role::Normal, "normalTexture"), (Role::Occlusion, "occlusionTexture"), (Role::Emissive, "emissiveTexture")]
    {
        put(&mut described, name, material.image(role).map(|index| json!({ "index": index })));
    }
    if material.is_unlit {
        let [r, g, b, _] = linear(material.colour);
        put(&mut described, "emissiveFactor", Some(digits([r, g, b])));
    }
    if let Some(strength) = emission(material) {
        put(&mut described, "emissiveFactor", Some(json!([1, 1, 1])));
        let strength = json!({ "emissiveStrength": digits([strength]).get(0) });
        put(&mut described, "extensions", Some(json!({ "KHR_materials_emissive_strength": strength })));
    }
    put(&mut described, "extras", skin.map(|skin| skin.extras.clone()));
    described
}

/// Adds a member to an object, if there is one.
fn put(object: &mut Value, name: &str, member: Option<Value>) {
    let object = object.as_object_mut().expect("it was made with members");
    object.extend(member.map(|member| (name.to_owned(), member)));
}

fn mesh(model: &Model<'_>, part: &dyn Part, buffer: &mut Buffer) -> Value {
    let mut attributes = Map::new();
    for Attribute { semantic, values } in part.attributes() {
        let (component, kind, size) = values.layout();
        let number = buffer.add_accessor(part.vertices(), size, component, kind, Some(code::VERTICES));
        if let (Values::Shares(_), Some(accessor)) = (&values, buffer.accessors.last_mut()) {
            put(accessor, "normalized", Some(true.into()));
        }
        if let ("POSITION", Some(accessor)) = (semantic, buffer.accessors.last_mut()) {
            let (min, max) = part.bounds();
            put(accessor, "min", Some(json!(min)));
            put(accessor, "max", Some(json!(max)));
        }
        attributes.insert(semantic.to_owned(), number);
    }
    let indices = index_layout(part)
        .map(|(count, component, size)| buffer.add_accessor(count, size, component, "SCALAR", Some(code::INDICES)));
    let mut primitive = json!({ "attributes": attributes, "material": part.material() });
    put(&mut primitive, "indices", indices);
    put(&mut primitive, "mode", part.edges().map(|_| code::LINES.into()));
    // The materials of variants in place of the part's.
    let mappings = model.variants.iter().enumerate().filter_map(|(variant, found)| {
        let material = found.materials.get(&part.material())?;
        Some(json!({ "material": material, "variants": [variant] }))
    });
    let mappings: Vec<Value> = mappings.collect();
    let variants = (!mappings.is_empty()).then(|| json!({ "KHR_materials_variants": { "mappings": mappings } }));
    put(&mut primitive, "extensions", variants);
    let mut mesh = json!({ "name": part.name(), "primitives": [primitive] });
    put(&mut mesh, "extras", part.extras());
    mesh
}
