//! glTF 2.0 in its binary form.

use super::coats::linear_channel;
use super::levels;
use super::part::ScenePart;
use super::skin::{Alpha, Role};
use super::{Scene, written};
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::{Attribute, METRES};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{BufWriter, Write};

/// Numbers that glTF has for types of numbers, and for what a part of the buffer holds.
mod code {
    pub(super) const U8: u32 = 5121;
    pub(super) const U16: u32 = 5123;
    pub(super) const U32: u32 = 5125;
    pub(super) const F32: u32 = 5126;
    pub(super) const VERTICES: u32 = 34962;
    pub(super) const INDICES: u32 = 34963;
    pub(super) const LINEAR: u32 = 9729;
    pub(super) const LINEAR_MIPMAP_LINEAR: u32 = 9987;
}

/// The arrays of a part, in the order in which they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Positions,
    Normals,
    Tangents,
    Uvs,
    Uv2s,
    Bones,
    Weights,
    Radii,
    Ids,
    Colours,
    Indices,
}

impl Stream {
    const ALL: [Self; 11] = [
        Self::Positions,
        Self::Normals,
        Self::Tangents,
        Self::Uvs,
        Self::Uv2s,
        Self::Bones,
        Self::Weights,
        Self::Radii,
        Self::Ids,
        Self::Colours,
        Self::Indices,
    ];

    /// Whether `part` has this attribute.
    fn is_in(self, part: &ScenePart<'_>) -> bool {
        match self {
            Self::Positions => true,
            Self::Normals => part.group_vertices().is_none() || part.has(Attribute::Normal),
            Self::Tangents => {
                [Attribute::Normal, Attribute::Tangent, Attribute::Binormal].into_iter().all(|a| part.has(a))
            }
            Self::Uvs => part.has(Attribute::Uv),
            Self::Uv2s => part.has(Attribute::Uv2),
            Self::Bones => part.has(Attribute::Bones),
            Self::Weights => part.has(Attribute::Weights),
            Self::Radii => part.has(Attribute::Radius),
            Self::Ids => part.has(Attribute::Id) && part.ids_fit,
            Self::Colours => part.has(Attribute::Colour),
            Self::Indices => part.indices.is_some(),
        }
    }

    /// The name of the attribute; `None` for indices. An attribute without a certain meaning in glTF is written under a
    /// name of its own: bone weights, as it is not known which byte belongs to which bone.
    fn semantic(self) -> Option<&'static str> {
        Some(match self {
            Self::Positions => "POSITION",
            Self::Normals => "NORMAL",
            Self::Tangents => "TANGENT",
            Self::Uvs => "TEXCOORD_0",
            Self::Uv2s => "TEXCOORD_1",
            Self::Bones => "_BONES",
            Self::Weights => "_BONE_WEIGHTS",
            Self::Radii => "_RADIUS",
            Self::Ids => "_ID",
            Self::Colours => "_COLOUR",
            Self::Indices => return None,
        })
    }

    /// The type of an element, and its bytes.
    fn element(self, part: &ScenePart<'_>) -> (u32, &'static str, u64) {
        match self {
            Self::Positions | Self::Normals => (code::F32, "VEC3", 12),
            Self::Tangents => (code::F32, "VEC4", 16),
            Self::Uvs | Self::Uv2s => (code::F32, "VEC2", 8),
            Self::Radii | Self::Ids => (code::F32, "SCALAR", 4),
            Self::Bones | Self::Weights | Self::Colours => (code::U8, "VEC4", 4),
            // The greatest number of 16 bits is kept for other uses.
            Self::Indices if part.greatest < 0xFFFF => (code::U16, "SCALAR", 2),
            Self::Indices => (code::U32, "SCALAR", 4),
        }
    }

    fn count(self, part: &ScenePart<'_>) -> u64 {
        match self {
            Self::Indices => part.indices.expect("a part without indices has no such stream") as u64,
            _ => part.vertices as u64,
        }
    }

    /// Bytes of all elements, without and with padding.
    fn size(self, part: &ScenePart<'_>) -> (u64, u64) {
        let size = self.count(part).saturating_mul(self.element(part).2);
        (size, padded(size))
    }

    /// Writes all elements, and their padding.
    fn write(self, part: &ScenePart<'_>, out: &mut impl Write) -> std::io::Result<()> {
        fn floats<const N: usize>(
            out: &mut impl Write,
            all: Option<impl Iterator<Item = [f32; N]>>,
        ) -> std::io::Result<()> {
            all.into_iter().flatten().try_for_each(|v| out.write_all(v.map(f32::to_le_bytes).as_flattened()))
        }
        let group = part.group_vertices();
        match self {
            Self::Positions => floats(out, Some(part.positions()))?,
            Self::Normals => floats(out, part.normals())?,
            Self::Tangents => floats(out, part.tangents())?,
            Self::Uvs => floats(out, group.and_then(|v| v.uvs()))?,
            Self::Uv2s => floats(out, group.and_then(|v| v.uv2s()))?,
            Self::Radii => floats(out, group.and_then(|v| v.radii()).map(|r| r.map(|r| [r])))?,
            #[allow(clippy::cast_precision_loss, reason = "ids that do not fit are left out")]
            Self::Ids => floats(out, group.and_then(|v| v.ids()).map(|i| i.map(|i| [i as f32])))?,
            Self::Bones => {
                let mut all = group.and_then(|v| v.bone_indices()).into_iter().flatten();
                all.try_for_each(|[a, b, c]| out.write_all(&[a, b, c, 0]))?;
            }
            Self::Weights => {
                group.and_then(|v| v.weights()).into_iter().flatten().try_for_each(|w| out.write_all(&w))?
            }
            Self::Colours => {
                group.and_then(|v| v.colours()).into_iter().flatten().try_for_each(|w| out.write_all(&w))?
            }
            Self::Indices => {
                let wide = self.element(part).2 == 4;
                for index in part.triangles().flatten() {
                    let bytes = index.to_le_bytes();
                    out.write_all(if wide { &bytes } else { bytes.first_chunk::<2>().map_or(&[], |b| b.as_slice()) })?;
                }
            }
        }
        let (size, padded) = self.size(part);
        (size..padded).try_for_each(|_| out.write_all(&[0]))
    }
}

/// The streams of a part.
fn streams<'p>(part: &'p ScenePart<'_>) -> impl Iterator<Item = Stream> + 'p {
    Stream::ALL.into_iter().filter(|s| s.is_in(part))
}

/// Writes `scene` as glTF 2.0 in its binary form. Vertices go out one by one: nothing but the description of the
/// scene is held in memory besides the decoded buffers.
///
/// # Errors
/// `Limit` when the file would have more than 4 GiB, and `Io` when `out` fails.
pub fn write_glb(scene: &Scene<'_>, out: &mut dyn Write) -> Result<()> {
    let (text, binary) = describe(scene).expect("a text takes all that is written to it");
    let mut text = text.into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let chunks = [text.len() as u64, binary].into_iter().filter(|size| *size > 0);
    let total = chunks.fold(12, |total: u64, size| total.saturating_add(8).saturating_add(size));
    let Ok(file_size) = u32::try_from(total) else {
        let kind = ErrorKind::Limit { what: "size of a GLB file", value: total, limit: u32::MAX.into() };
        return Err(Error::of_part(kind, ""));
    };
    let binary = u32::try_from(binary).expect("less than the file");
    written(write_chunks(scene, &text, binary, file_size, &mut BufWriter::with_capacity(1 << 16, out)))
}

fn write_chunks(
    scene: &Scene<'_>,
    text: &[u8],
    binary: u32,
    file_size: u32,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let text_size = u32::try_from(text.len()).expect("less than the file");
    out.write_all(b"glTF")?;
    out.write_all(&2u32.to_le_bytes())?;
    out.write_all(&file_size.to_le_bytes())?;
    out.write_all(&text_size.to_le_bytes())?;
    out.write_all(b"JSON")?;
    out.write_all(text)?;
    if binary > 0 {
        out.write_all(&binary.to_le_bytes())?;
        out.write_all(b"BIN\0")?;
        for part in &scene.parts {
            streams(part).try_for_each(|stream| stream.write(part, out))?;
        }
        for image in &scene.images {
            let size = image.png.len() as u64;
            out.write_all(&image.png)?;
            (size..padded(size)).try_for_each(|_| out.write_all(&[0]))?;
        }
    }
    out.flush()
}

/// A size with padding to a multiple of 4.
fn padded(size: u64) -> u64 {
    size.saturating_add(3) & !3
}

/// A node of the file.
#[derive(Debug, Clone)]
pub(super) struct GlbNode<'s> {
    pub name: Cow<'s, str>,
    part: Option<usize>,
    pub children: Vec<usize>,
    matrix: Option<&'s [f32; 16]>,
    /// Whether it is the top of a scene, where its units become metres.
    is_top: bool,
    /// The nodes of coarser levels of detail, to which this one leads.
    pub coarser: Vec<usize>,
}

impl GlbNode<'_> {
    /// Appends the node as JSON. A space has many: they are written without a [`Value`] each.
    fn put(&self, out: &mut String) -> fmt::Result {
        write!(out, "{{\"name\":{}", json!(self.name))?;
        if !self.children.is_empty() {
            write!(out, ",\"children\":{:?}", self.children)?;
        }
        if let Some(matrix) = self.matrix {
            write!(out, ",\"matrix\":{}", format!("{matrix:?}").replace(' ', ""))?;
        }
        if let Some(part) = self.part {
            write!(out, ",\"mesh\":{part}")?;
        }
        if self.is_top {
            // Buffers hold the numbers of the file, and the unit of glTF is the metre.
            write!(out, ",\"scale\":{}", json!([METRES, METRES, METRES]))?;
        }
        if !self.coarser.is_empty() {
            write!(out, ",\"extensions\":{}", json!({ levels::EXTENSION: { "ids": self.coarser } }))?;
        }
        out.write_char('}')
    }
}

/// The nodes of the file, and its scenes: the node of each, which has its name.
pub(super) struct Tree<'s> {
    pub nodes: Vec<GlbNode<'s>>,
    pub scenes: Vec<usize>,
}

impl<'s> Tree<'s> {
    /// Adds a node. Returns its number.
    pub(super) fn push(&mut self, node: GlbNode<'s>) -> usize {
        self.nodes.push(node);
        self.nodes.len().saturating_sub(1)
    }
}

/// Views of the buffer, and the accessors that use them.
#[derive(Default)]
struct Buffer {
    size: u64,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Buffer {
    /// Adds a view of the next bytes.
    fn add(&mut self, size: u64, target: Option<u32>) -> usize {
        let mut view = Map::from_iter([
            ("buffer".to_owned(), 0.into()),
            ("byteLength".to_owned(), size.into()),
            ("byteOffset".to_owned(), self.size.into()),
        ]);
        view.extend(target.map(|target| ("target".to_owned(), target.into())));
        self.views.push(view.into());
        self.size = self.size.saturating_add(padded(size));
        self.views.len().saturating_sub(1)
    }
}

/// The description of the scene as JSON, and how many bytes of vertices, indices and images it describes.
fn describe(scene: &Scene<'_>) -> Result<(String, u64), fmt::Error> {
    let mut buffer = Buffer::default();
    let meshes: Vec<Value> = scene.parts.iter().map(|part| mesh(scene, part, &mut buffer)).collect();
    let (mut images, mut textures) = (Vec::new(), Vec::new());
    for (number, image) in scene.images.iter().enumerate() {
        let view = buffer.add(image.png.len() as u64, None);
        images.push(json!({ "bufferView": view, "mimeType": "image/png", "name": image.name }));
        textures.push(json!({ "name": image.name, "sampler": 0, "source": number }));
    }
    let mut samplers = Vec::new();
    if !images.is_empty() {
        samplers.push(json!({ "magFilter": code::LINEAR, "minFilter": code::LINEAR_MIPMAP_LINEAR }));
    }
    let nodes = scene.nodes.iter().map(|node| GlbNode {
        name: (&node.name).into(),
        part: node.part,
        children: node.children.clone(),
        matrix: node.matrix.as_ref(),
        is_top: false,
        coarser: Vec::new(),
    });
    let mut tree =
        Tree { nodes: nodes.collect(), scenes: scene.roots.iter().chain(&scene.glb_only).copied().collect() };
    for &top in &tree.scenes {
        tree.nodes.get_mut(top).into_iter().for_each(|node| node.is_top = true);
    }
    let has_levels = levels::add(scene, &mut tree);
    let has_transforms =
        scene.materials.iter().filter_map(|material| material.skin.as_ref()).any(|skin| skin.transform.is_some());
    let extensions = [
        (!scene.variants.is_empty(), "KHR_materials_variants"),
        (has_transforms, "KHR_texture_transform"),
        (scene.materials.iter().any(|material| emission(material).is_some()), "KHR_materials_emissive_strength"),
        (has_levels, levels::EXTENSION),
    ];
    let used = extensions.into_iter().filter(|(is_used, _)| *is_used).map(|(_, name)| name.into()).collect();
    let names: Vec<Value> = scene.variants.iter().map(|variant| json!({ "name": variant.name })).collect();
    let scenes = tree.scenes.iter().filter_map(|&top| {
        let node = tree.nodes.get(top)?;
        Some(json!({ "name": node.name, "nodes": [top] }))
    });
    let buffers = if buffer.size > 0 { vec![json!({ "byteLength": buffer.size })] } else { Vec::new() };
    let generator = concat!("assetq ", env!("CARGO_PKG_VERSION"));
    let mut text = format!("{{\"asset\":{}", json!({ "generator": generator, "version": "2.0" }));
    if !names.is_empty() {
        write!(text, ",\"extensions\":{}", json!({ "KHR_materials_variants": { "variants": names } }))?;
    }
    let arrays: [(&str, Vec<Value>); 10] = [
        ("accessors", buffer.accessors),
        ("bufferViews", buffer.views),
        ("buffers", buffers),
        ("extensionsUsed", used),
        ("images", images),
        ("materials", scene.materials.iter().map(material).collect()),
        ("meshes", meshes),
        ("samplers", samplers),
        ("scenes", scenes.collect()),
        ("textures", textures),
    ];
    for (name, items) in arrays.into_iter().filter(|(_, items)| !items.is_empty()) {
        write!(text, ",\"{name}\":{}", Value::from(items))?;
    }
    if !tree.scenes.is_empty() {
        text.push_str(",\"scene\":0");
    }
    for (number, node) in tree.nodes.iter().enumerate() {
        text.push_str(if number == 0 { ",\"nodes\":[" } else { "," });
        node.put(&mut text)?;
    }
    text.push_str(if tree.nodes.is_empty() { "}" } else { "]}" });
    Ok((text, buffer.size))
}

/// The strength of the light that a material emits.
fn emission(material: &super::Material) -> Option<f32> {
    let skin = material.skin.as_ref()?;
    skin.images.contains_key(&Role::Emissive).then_some(skin.emissive)
}

/// Numbers with their shortest digits. A conversion to 64 bits would add digits.
fn digits<const N: usize>(numbers: [f32; N]) -> Value {
    numbers.map(|number| number.to_string().parse::<f64>().ok()).to_vec().into()
}

/// A colour of sRGB in the linear numbers that factors of glTF are.
fn linear([r, g, b, a]: [f32; 4]) -> [f32; 4] {
    [linear_channel(r), linear_channel(g), linear_channel(b), a]
}

fn material(material: &super::Material) -> Value {
    let skin = material.skin.as_ref();
    let image = |role| skin.and_then(|skin| skin.images.get(&role));
    // Opacity is stored in the base colour.
    let alpha = skin.filter(|skin| skin.images.contains_key(&Role::Base)).map(|skin| skin.alpha);
    let metal = image(Role::MetalRoughness);
    let [metallic, roughness] = if metal.is_some() { [1.0; 2] } else { [0.1, 0.8] };
    let colour = if alpha.is_some() { [1.0; 4] } else { linear(material.colour) };
    let mut surface =
        json!({ "baseColorFactor": digits(colour), "metallicFactor": metallic, "roughnessFactor": roughness });
    put(&mut surface, "metallicRoughnessTexture", metal.map(|index| json!({ "index": index })));
    let base = image(Role::Base).map(|index| match skin.and_then(|skin| skin.transform) {
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
        put(&mut described, name, image(role).map(|index| json!({ "index": index })));
    }
    if let Some(strength) = emission(material) {
        put(&mut described, "emissiveFactor", Some(json!([1, 1, 1])));
        let strength = json!({ "emissiveStrength": digits([strength]).get(0) });
        put(&mut described, "extensions", Some(json!({ "KHR_materials_emissive_strength": strength })));
    }
    put(&mut described, "extras", skin.and_then(|skin| serde_json::from_str(&skin.extras).ok()));
    described
}

/// Adds a member to an object, if there is one.
fn put(object: &mut Value, name: &str, member: Option<Value>) {
    let object = object.as_object_mut().expect("it was made with members");
    object.extend(member.map(|member| (name.to_owned(), member)));
}

fn mesh(scene: &Scene<'_>, part: &ScenePart<'_>, buffer: &mut Buffer) -> Value {
    let (mut attributes, mut indices) = (Map::new(), None);
    for stream in streams(part) {
        let target = if stream == Stream::Indices { code::INDICES } else { code::VERTICES };
        let view = buffer.add(stream.size(part).0, Some(target));
        let (component, kind, _) = stream.element(part);
        let count = stream.count(part);
        let mut accessor = json!({ "bufferView": view, "componentType": component, "count": count, "type": kind });
        if stream == Stream::Positions {
            put(&mut accessor, "min", Some(json!(part.min)));
            put(&mut accessor, "max", Some(json!(part.max)));
        }
        let number = Value::from(buffer.accessors.len());
        buffer.accessors.push(accessor);
        match stream.semantic() {
            Some(semantic) => drop(attributes.insert(semantic.to_owned(), number)),
            None => indices = Some(number),
        }
    }
    let mut primitive = json!({ "attributes": attributes, "material": part.material });
    put(&mut primitive, "indices", indices);
    // The materials of variants in place of the part's.
    let mappings = scene.variants.iter().enumerate().filter_map(|(variant, found)| {
        let material = found.materials.get(&part.material)?;
        Some(json!({ "material": material, "variants": [variant] }))
    });
    let mappings: Vec<Value> = mappings.collect();
    let variants = (!mappings.is_empty()).then(|| json!({ "KHR_materials_variants": { "mappings": mappings } }));
    put(&mut primitive, "extensions", variants);
    let mut mesh = json!({ "name": part.name, "primitives": [primitive] });
    put(&mut mesh, "extras", part.extras.as_ref().and_then(|text| serde_json::from_str(text).ok()));
    mesh
}
