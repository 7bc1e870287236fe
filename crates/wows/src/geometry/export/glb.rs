//! glTF 2.0 in its binary form.

use super::coats::linear_channel;
use super::levels;
use super::part::ScenePart;
use super::skin::{Alpha, Image, Role};
use super::{Node, Scene, written};
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::{Attribute, METRES};
use gltf_json as json;
use json::accessor::{ComponentType, GenericComponentType, Type};
use json::buffer::Target;
use json::extensions::scene::khr_materials_variants::Variant;
use json::mesh::Semantic;
use json::validation::Checked::Valid;
use json::validation::USize64;
use json::{Index, Root};
use std::io::{BufWriter, Write};

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
    fn semantic(self) -> Option<Semantic> {
        Some(match self {
            Self::Positions => Semantic::Positions,
            Self::Normals => Semantic::Normals,
            Self::Tangents => Semantic::Tangents,
            Self::Uvs => Semantic::TexCoords(0),
            Self::Uv2s => Semantic::TexCoords(1),
            Self::Bones => Semantic::Extras("BONES".into()),
            Self::Weights => Semantic::Extras("BONE_WEIGHTS".into()),
            Self::Radii => Semantic::Extras("RADIUS".into()),
            Self::Ids => Semantic::Extras("ID".into()),
            Self::Colours => Semantic::Extras("COLOUR".into()),
            Self::Indices => return None,
        })
    }

    /// The type of an element, and its bytes.
    fn element(self, part: &ScenePart<'_>) -> (ComponentType, Type, u64) {
        match self {
            Self::Positions | Self::Normals => (ComponentType::F32, Type::Vec3, 12),
            Self::Tangents => (ComponentType::F32, Type::Vec4, 16),
            Self::Uvs | Self::Uv2s => (ComponentType::F32, Type::Vec2, 8),
            Self::Radii | Self::Ids => (ComponentType::F32, Type::Scalar, 4),
            Self::Bones | Self::Weights | Self::Colours => (ComponentType::U8, Type::Vec4, 4),
            // The greatest number of 16 bits is kept for other uses.
            Self::Indices if part.greatest < 0xFFFF => (ComponentType::U16, Type::Scalar, 2),
            Self::Indices => (ComponentType::U32, Type::Scalar, 4),
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
    let (root, leads, binary) = describe(scene);
    let mut text = levels::to_json(&root, &leads)
        .map_err(|e| Error::of_part(ErrorKind::Damaged { what: e.to_string().into() }, "glTF"))?;
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

/// The description of the scene, the nodes that lead to coarser levels, and how many bytes of vertices, indices and images it
/// describes.
fn describe(scene: &Scene<'_>) -> (Root, Vec<levels::Leads>, u64) {
    let mut root = Root {
        asset: json::Asset {
            generator: Some(concat!("assetq ", env!("CARGO_PKG_VERSION")).into()),
            ..Default::default()
        },
        materials: scene.materials.iter().map(material).collect(),
        ..Root::default()
    };
    let mut offset = 0u64;
    for part in &scene.parts {
        let mut mesh = mesh(part, &mut root, &mut offset);
        mesh.primitives.iter_mut().for_each(|primitive| primitive.extensions = variants_of(scene, part.material));
        root.meshes.push(mesh);
    }
    root.extensions = variants(scene);
    if root.extensions.is_some() {
        root.extensions_used.push("KHR_materials_variants".into());
    }
    if scene.materials.iter().filter_map(|material| material.skin.as_ref()).any(|skin| skin.transform.is_some()) {
        root.extensions_used.push("KHR_texture_transform".into());
    }
    for image in &scene.images {
        add_image(image, &mut root, &mut offset);
    }
    if !scene.images.is_empty() {
        root.samplers.push(json::texture::Sampler {
            mag_filter: Some(Valid(json::texture::MagFilter::Linear)),
            min_filter: Some(Valid(json::texture::MinFilter::LinearMipmapLinear)),
            wrap_s: Valid(json::texture::WrappingMode::Repeat),
            wrap_t: Valid(json::texture::WrappingMode::Repeat),
            ..Default::default()
        });
    }
    if scene.materials.iter().any(|material| emission(material).is_some()) {
        root.extensions_used.push("KHR_materials_emissive_strength".into());
    }
    if offset > 0 {
        root.buffers.push(json::Buffer {
            byte_length: USize64(offset),
            name: None,
            uri: None,
            extensions: None,
            extras: None,
        });
    }
    root.nodes = scene.nodes.iter().map(node).collect();
    for number in scene.roots.iter().chain(&scene.glb_only).copied() {
        let Some(top) = root.nodes.get_mut(number) else { continue };
        // Buffers hold the numbers of the file, and the unit of glTF is the metre.
        top.scale = Some([METRES; 3]);
        let (name, nodes) = (top.name.clone(), vec![index(number)]);
        root.scenes.push(json::Scene { extensions: None, extras: None, name, nodes });
    }
    root.scene = (!root.scenes.is_empty()).then(|| index(0));
    let leads = levels::add(scene, &mut root);
    (root, leads, offset)
}

pub(super) fn index<T>(number: usize) -> Index<T> {
    Index::new(short(number))
}

fn short(number: usize) -> u32 {
    u32::try_from(number).expect("a scene has less than 2^32 parts")
}

/// An image, and the texture of the same number.
fn add_image(image: &Image, root: &mut Root, offset: &mut u64) {
    let view = root.push(json::buffer::View {
        buffer: index(0),
        byte_length: USize64(image.png.len() as u64),
        byte_offset: Some(USize64(*offset)),
        byte_stride: None,
        name: None,
        target: None,
        extensions: None,
        extras: None,
    });
    *offset = offset.saturating_add(padded(image.png.len() as u64));
    let source = root.push(json::Image {
        buffer_view: Some(view),
        mime_type: Some(json::image::MimeType("image/png".into())),
        name: Some(image.name.clone()),
        uri: None,
        extensions: None,
        extras: None,
    });
    root.textures.push(json::Texture {
        name: Some(image.name.clone()),
        sampler: Some(index(0)),
        source,
        extensions: None,
        extras: None,
    });
}

/// The strength of the light that a material emits.
fn emission(material: &super::Material) -> Option<f32> {
    let skin = material.skin.as_ref()?;
    skin.images.contains_key(&Role::Emissive).then_some(skin.emissive)
}

/// The names of variants.
#[allow(clippy::needless_update, reason = "features of gltf-json that others enable add fields")]
fn variants(scene: &Scene<'_>) -> Option<json::extensions::Root> {
    let variants = scene.variants.iter().map(|variant| Variant { name: variant.name.clone() }).collect::<Vec<_>>();
    let variants = json::extensions::root::KhrMaterialsVariants { variants };
    let root = json::extensions::Root { khr_materials_variants: Some(variants), ..Default::default() };
    (!scene.variants.is_empty()).then_some(root)
}

/// The materials of variants in place of a material.
#[allow(clippy::needless_update, reason = "features of gltf-json that others enable add fields")]
fn variants_of(scene: &Scene<'_>, material: usize) -> Option<json::extensions::mesh::Primitive> {
    let mappings = scene.variants.iter().enumerate().filter_map(|(variant, found)| {
        let material = short(*found.materials.get(&material)?);
        Some(json::extensions::mesh::Mapping { material, variants: vec![short(variant)] })
    });
    let mappings: Vec<_> = mappings.collect();
    let variants = (!mappings.is_empty()).then_some(json::extensions::mesh::KhrMaterialsVariants { mappings });
    variants.map(|variants| json::extensions::mesh::Primitive {
        khr_materials_variants: Some(variants),
        ..Default::default()
    })
}

/// The place of a texture that differs from the place of the material's other textures.
#[allow(clippy::needless_update, reason = "features of gltf-json that others enable add fields")]
fn transform(scale: [f32; 2], offset: [f32; 2]) -> json::extensions::texture::Info {
    use json::extensions::texture::{TextureTransform, TextureTransformOffset, TextureTransformScale};
    let transform = TextureTransform {
        offset: TextureTransformOffset(offset),
        scale: TextureTransformScale(scale),
        // The default would be written as null, which is no number.
        tex_coord: Some(0),
        ..Default::default()
    };
    json::extensions::texture::Info { texture_transform: Some(transform), ..Default::default() }
}

/// A colour of sRGB in the linear numbers that factors of glTF are.
fn linear([r, g, b, a]: [f32; 4]) -> [f32; 4] {
    [linear_channel(r), linear_channel(g), linear_channel(b), a]
}

#[allow(clippy::needless_update, reason = "features of gltf-json that others enable add fields")]
fn material(material: &super::Material) -> json::Material {
    use json::material::{
        AlphaCutoff, AlphaMode, EmissiveFactor, NormalTexture, OcclusionTexture, PbrBaseColorFactor,
        PbrMetallicRoughness, StrengthFactor,
    };
    let skin = material.skin.as_ref();
    let image = |role| skin.and_then(|skin| skin.images.get(&role)).map(|number| index(*number));
    let info =
        |role| image(role).map(|index| json::texture::Info { index, tex_coord: 0, extensions: None, extras: None });
    // Opacity is stored in the base colour.
    let alpha = skin.filter(|skin| skin.images.contains_key(&Role::Base)).map(|skin| skin.alpha);
    let (alpha_mode, cut) = match alpha {
        Some(Alpha::Mask(cut)) => (AlphaMode::Mask, Some(AlphaCutoff(cut))),
        Some(Alpha::Blend) => (AlphaMode::Blend, None),
        None if material.colour[3] < 1.0 => (AlphaMode::Blend, None),
        _ => (AlphaMode::Opaque, None),
    };
    let metal = info(Role::MetalRoughness);
    let factor = |without: f32| StrengthFactor(if metal.is_some() { 1.0 } else { without });
    json::Material {
        name: Some(material.name.clone()),
        alpha_mode: Valid(alpha_mode),
        alpha_cutoff: cut,
        double_sided: material.double_sided,
        pbr_metallic_roughness: PbrMetallicRoughness {
            base_color_factor: PbrBaseColorFactor(if alpha.is_some() { [1.0; 4] } else { linear(material.colour) }),
            base_color_texture: info(Role::Base).map(|info| json::texture::Info {
                extensions: skin.and_then(|skin| skin.transform).map(|(scale, offset)| transform(scale, offset)),
                ..info
            }),
            metallic_factor: factor(0.1),
            roughness_factor: factor(0.8),
            metallic_roughness_texture: metal,
            ..Default::default()
        },
        normal_texture: image(Role::Normal).map(|index| NormalTexture {
            index,
            scale: 1.0,
            tex_coord: 0,
            extensions: None,
            extras: None,
        }),
        occlusion_texture: image(Role::Occlusion).map(|index| OcclusionTexture {
            index,
            strength: StrengthFactor(1.0),
            tex_coord: 0,
            extensions: None,
            extras: None,
        }),
        emissive_texture: info(Role::Emissive),
        emissive_factor: EmissiveFactor(if image(Role::Emissive).is_some() { [1.0; 3] } else { [0.0; 3] }),
        extensions: emission(material).map(|strength| json::extensions::material::Material {
            emissive_strength: Some(json::extensions::material::EmissiveStrength {
                emissive_strength: json::extensions::material::EmissiveStrengthFactor(strength),
            }),
            ..Default::default()
        }),
        extras: skin.and_then(|skin| serde_json::value::RawValue::from_string(skin.extras.clone()).ok()),
    }
}

fn node(node: &Node) -> json::Node {
    json::Node {
        camera: None,
        children: (!node.children.is_empty()).then(|| node.children.iter().map(|&i| index(i)).collect()),
        extensions: None,
        extras: None,
        matrix: node.matrix,
        mesh: node.part.map(index),
        name: Some(node.name.clone()),
        rotation: None,
        scale: None,
        translation: None,
        skin: None,
        weights: None,
    }
}

fn mesh(part: &ScenePart<'_>, root: &mut Root, offset: &mut u64) -> json::Mesh {
    let mut primitive = json::mesh::Primitive {
        attributes: Default::default(),
        extensions: None,
        extras: None,
        indices: None,
        material: Some(index(part.material)),
        mode: Valid(json::mesh::Mode::Triangles),
        targets: None,
    };
    for stream in streams(part) {
        let (size, padded) = stream.size(part);
        let target = if stream == Stream::Indices { Target::ElementArrayBuffer } else { Target::ArrayBuffer };
        let view = root.push(json::buffer::View {
            buffer: index(0),
            byte_length: USize64(size),
            byte_offset: Some(USize64(*offset)),
            byte_stride: None,
            name: None,
            target: Some(Valid(target)),
            extensions: None,
            extras: None,
        });
        *offset = offset.saturating_add(padded);
        let (component, kind, _) = stream.element(part);
        let [min, max] =
            [part.min, part.max].map(|v| (stream == Stream::Positions).then(|| json::Value::from(v.to_vec())));
        let accessor = root.push(json::Accessor {
            buffer_view: Some(view),
            byte_offset: Some(USize64(0)),
            count: USize64(stream.count(part)),
            component_type: Valid(GenericComponentType(component)),
            extensions: None,
            extras: None,
            type_: Valid(kind),
            min,
            max,
            name: None,
            normalized: false,
            sparse: None,
        });
        match stream.semantic() {
            Some(semantic) => drop(primitive.attributes.insert(Valid(semantic), accessor)),
            None => primitive.indices = Some(accessor),
        }
    }
    let extras = part.extras.clone().and_then(|text| serde_json::value::RawValue::from_string(text).ok());
    json::Mesh { extensions: None, extras, name: Some(part.name.clone()), primitives: vec![primitive], weights: None }
}
