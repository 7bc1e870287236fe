//! Materials with textures, in the terms of glTF (docs/formats/textures.md §3).

use super::Scene;
use crate::error::Result;
use crate::scene::{Context, Property, Surface, TextureMode};
use crate::table::Value;
use crate::texture::{Content, Pixels};
use crate::texture_files::TextureFiles;
use crate::threads::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// The part of a material that an image gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// Colour.
    Base,
    /// Colour with opacity.
    Transparent,
    /// The direction of the surface.
    Normal,
    /// Metal in blue, roughness in green.
    MetalRoughness,
    /// The share of light from all around, in red.
    Occlusion,
    /// Light of its own: colour where the paint mask is set.
    Emissive,
}

impl Role {
    /// The slot of a material that holds the texture.
    const fn slot(self) -> &'static str {
        match self {
            Self::Base | Self::Transparent | Self::Emissive => "diffuseMap",
            Self::Normal => "normalMap",
            Self::MetalRoughness => "metallicGlossMap",
            Self::Occlusion => "ambientOcclusionMap",
        }
    }

    /// The end of the image's name.
    const fn ending(self) -> &'static str {
        match self {
            Self::Base | Self::Transparent => "base",
            Self::Normal => "normal",
            Self::MetalRoughness => "metal_rough",
            Self::Occlusion => "occlusion",
            Self::Emissive => "emissive",
        }
    }
}

/// How the opacity of a material counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Alpha {
    Opaque,
    /// Texels of less than this opacity are left out.
    Mask(f32),
    Blend,
}

/// A material's shader, values and images.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Skin {
    /// The path of the material.
    pub path: String,
    /// The path of the texture of its colour.
    pub base: Option<String>,
    pub alpha: Alpha,
    /// The image of each role, by number in [`Scene::images`].
    pub images: BTreeMap<Role, usize>,
    /// The scale and the offset of the coordinates of the base colour, if they differ from the others.
    pub transform: Option<([f32; 2], [f32; 2])>,
    /// The strength of its own light.
    pub emissive: f32,
    /// The shader, the values and the paths of textures, as JSON.
    pub extras: String,
}

/// An image of one or several materials.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Image {
    /// The texture's file name without its ending, and the role.
    pub name: String,
    pub png: Vec<u8>,
}

/// The cut of shaders that leave texels out and do not state one.
const CUT: f32 = 0.5;

impl Alpha {
    fn of(surface: &Surface) -> Self {
        let fx = crate::file_name(&surface.fx).to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| fx.contains(word));
        if surface.is_set("alphaTestEnable") {
            #[expect(clippy::cast_possible_truncation, reason = "it is between 0 and 1")]
            let cut = surface.number("alphaReference").map(|reference| (reference / 255.0).clamp(0.0, 1.0) as f32);
            Self::Mask(cut.unwrap_or(CUT))
        } else if has(&["glass", "propeller"]) {
            Self::Blend
        } else if has(&["wire", "grid_alpha"]) {
            Self::Mask(CUT)
        } else {
            Self::Opaque
        }
    }
}

/// An image to be made: its role, the texture's path, and the path of a mask.
type Wanted = (Role, String, Option<String>);

impl Scene<'_> {
    /// Gives materials the surfaces that the files in `context` know, and their images.
    pub(super) fn dress(&mut self, context: &Context<'_>, options: &super::Options) {
        let lone = context.lone_surfaces();
        let mut missing: BTreeSet<String> = BTreeSet::new();
        let mut wanted: Vec<Wanted> = Vec::new();
        let mut by_material = Vec::new();
        for (number, material) in self.materials.iter_mut().enumerate().filter(|(_, material)| material.is_of_mesh) {
            let surface = match material.mfm.and_then(|id| context.surface(id)) {
                Some(Ok(surface)) => surface,
                Some(Err(error)) => {
                    self.damage.push(error.context(format_args!("material {}", material.name)));
                    continue;
                }
                None => {
                    let named = lone.iter().find(|surface| stem(&surface.name) == stem(&material.name));
                    let Some(surface) = named.or(if let [only] = &*lone { Some(only) } else { None }) else { continue };
                    if named.is_none() {
                        self.notes.push(format!(
                            "material {}: {} is used, the one material given",
                            material.name, surface.name
                        ));
                    }
                    surface.clone()
                }
            };
            if material.name == super::UNKNOWN {
                material.name.clone_from(&surface.name);
            }
            material.double_sided |= surface.is_set("doubleSided");
            let alpha = Alpha::of(&surface);
            let base = if alpha == Alpha::Opaque { Role::Base } else { Role::Transparent };
            let mut roles = match options.textures {
                TextureMode::Base => vec![base],
                _ => vec![base, Role::Normal, Role::MetalRoughness, Role::Occlusion],
            };
            #[expect(clippy::cast_possible_truncation, reason = "a strength needs no more digits")]
            let emissive = surface.number("emissivePower").unwrap_or(0.0) as f32;
            if options.emissive && emissive > 0.0 && surface.fx.contains("emissive") {
                roles.push(Role::Emissive);
            }
            let skin = Skin {
                path: surface.name.clone(),
                base: surface.texture(base.slot()).map(str::to_owned),
                alpha,
                images: BTreeMap::new(),
                transform: None,
                emissive,
                extras: extras(&surface),
            };
            material.skin = Some(skin);
            if matches!(options.textures, TextureMode::Png | TextureMode::Base) {
                for role in roles {
                    let Some(path) = surface.texture(role.slot()) else { continue };
                    let mask = (role == Role::Emissive).then(|| surface.texture("metallicGlossMap").map(str::to_owned));
                    let image = (role, path.to_owned(), mask.flatten());
                    by_material.push((number, image.clone()));
                    wanted.push(image);
                }
            }
            if options.textures == TextureMode::Files {
                wanted.extend(surface.textures().map(|(_, path)| (Role::Base, path.to_owned(), None)));
            }
        }
        wanted.sort();
        wanted.dedup();
        if wanted.is_empty() || options.textures == TextureMode::None {
            return;
        }
        let Some(files) = context.textures else {
            missing.extend(wanted.into_iter().map(|(_, path, _)| path));
            return self.note_missing(missing);
        };
        let size = options.texture_size;
        let mut names = BTreeSet::new();
        if options.textures == TextureMode::Files {
            for (_, path, _) in wanted {
                match files.file(&path, size) {
                    Ok(Some((path, source))) => {
                        self.files.push((unique(path.rsplit('/').next().unwrap_or(&path), &mut names), source))
                    }
                    Ok(None) => drop(missing.insert(path)),
                    Err(error) => self.damage.push(error),
                }
            }
            return self.note_missing(missing);
        }
        let made: Vec<Result<Option<Vec<u8>>>> = wanted.par_iter().map(|image| make(image, files, size)).collect();
        let mut numbers: BTreeMap<Wanted, usize> = BTreeMap::new();
        for (image, made) in wanted.into_iter().zip(made) {
            match made {
                Ok(Some(png)) => {
                    let (role, path, _) = &image;
                    let file = crate::file_name(path);
                    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
                    let name = unique(&format!("{stem}.{}", role.ending()), &mut names);
                    self.images.push(Image { name, png });
                    numbers.insert(image, self.images.len().saturating_sub(1));
                }
                Ok(None) => drop(missing.insert(image.1)),
                Err(error) => self.damage.push(error.context(&image.1)),
            }
        }
        for (material, image) in by_material {
            let skin = self.materials.get_mut(material).and_then(|material| material.skin.as_mut());
            if let (Some(skin), Some(number)) = (skin, numbers.get(&image)) {
                let role = if image.0 == Role::Transparent { Role::Base } else { image.0 };
                skin.images.insert(role, *number);
            }
        }
        self.note_missing(missing);
    }

    /// The image that a material has for a role.
    pub(super) fn image(&self, material: &super::Material, role: Role) -> Option<&Image> {
        self.images.get(*material.skin.as_ref()?.images.get(&role)?)
    }

    fn note_missing(&mut self, missing: BTreeSet<String>) {
        self.notes.extend(missing.into_iter().map(|path| format!("texture {path} is not at hand")));
    }
}

/// The image as PNG; `None` if its texture is not at hand.
fn make((role, path, mask): &Wanted, files: &TextureFiles, size: u32) -> Result<Option<Vec<u8>>> {
    let Some(mut pixels) = files.pixels(path, size)? else { return Ok(None) };
    let content = match role {
        Role::Transparent | Role::Base | Role::Emissive => Content::Colour,
        Role::Normal => Content::Normal,
        Role::MetalRoughness | Role::Occlusion => Content::Number,
    };
    if content == Content::Normal {
        pixels.rgba.iter_mut().for_each(normal);
    }
    // A texture may have no level as small as that.
    let mut pixels = pixels.within(size, content);
    match role {
        Role::Transparent | Role::Normal => {}
        Role::Base => pixels.rgba.iter_mut().for_each(|[.., a]| *a = 255),
        Role::MetalRoughness => {
            pixels.rgba.iter_mut().for_each(|pixel| {
                let [gloss, metal, ..] = *pixel;
                *pixel = [255, 255u8.saturating_sub(gloss), metal, 255];
            });
        }
        Role::Occlusion => pixels.rgba.iter_mut().for_each(|pixel| {
            let [r, ..] = *pixel;
            *pixel = [r, r, r, 255];
        }),
        Role::Emissive => {
            let mask = match mask {
                Some(mask) => files.pixels(mask, size)?,
                None => None,
            };
            let Some(mask) = mask else { return Ok(None) };
            emit(&mut pixels, &mask);
        }
    }
    pixels.to_png().map(Some)
}

/// Rebuilds z, as the third channel holds something else. Red and green stay as they are.
fn normal(pixel: &mut [u8; 4]) {
    let [x, y, z, a] = pixel;
    let [dx, dy] = [*x, *y].map(|v| f32::from(v) / 127.5 - 1.0);
    let up = (1.0 - dx * dx - dy * dy).max(0.0).sqrt();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 255")]
    let stored = ((up + 1.0) * 127.5).round() as u8;
    (*z, *a) = (stored, 255);
}

/// Keeps the colour where the third channel of `mask`, which may have another size, is set.
fn emit(pixels: &mut Pixels, mask: &Pixels) {
    let size = (pixels.width, pixels.height);
    for (n, pixel) in (0u64..).zip(&mut pixels.rgba) {
        let [.., paint, _] = scaled(mask, n, size);
        let [r, g, b, _] = *pixel;
        let [r, g, b] =
            [r, g, b].map(|v| u8::try_from(u16::from(v).saturating_mul(paint.into()) / 255).expect("parts of a byte"));
        *pixel = [r, g, b, 255];
    }
}

/// The pixel of `image` in the place of pixel `n` of an image of another size.
pub(super) fn scaled(image: &Pixels, n: u64, (width, height): (u32, u32)) -> [u8; 4] {
    let scaled = |at: Option<u64>, of: u32, to: u32| {
        at.unwrap_or(0).saturating_mul(to.into()).checked_div(of.into()).unwrap_or(0)
    };
    let row = scaled(n.checked_div(width.into()), height, image.height).saturating_mul(image.width.into());
    let at = row.saturating_add(scaled(n.checked_rem(width.into()), width, image.width));
    usize::try_from(at).ok().and_then(|at| image.rgba.get(at)).copied().unwrap_or_default()
}

/// The shader, the values and the paths of textures, as JSON.
fn extras(surface: &Surface) -> String {
    let textures: serde_json::Map<_, _> =
        surface.textures().map(|(slot, path)| (slot.to_owned(), path.into())).collect();
    let values = surface.properties.iter().filter_map(|(name, property)| match property {
        Property::Value(value) => Some((name.clone(), to_json(value))),
        Property::Texture(_) => None,
    });
    let values: serde_json::Map<_, _> = values.collect();
    json!({ "mfm": surface.name, "fx": surface.fx, "textures": textures, "properties": values }).to_string()
}

fn to_json(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Bool(flag) => (*flag).into(),
        Value::Int(number) => (*number).into(),
        Value::Uint(number) => (*number).into(),
        // As the shortest digits, and null for what is not a number.
        Value::F32(number) => number.to_string().parse::<f64>().ok().filter(|n| n.is_finite()).into(),
        Value::F64(number) => Some(*number).filter(|n| n.is_finite()).into(),
        Value::List(values) => values.iter().map(to_json).collect(),
        Value::Null => serde_json::Value::Null,
        other => other.to_string().into(),
    }
}

/// The name of a material's file without its ending.
fn stem(path: &str) -> &str {
    crate::file_name(path).trim_end_matches(".mfm")
}

/// The name, with a number in front if it is taken.
fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2u32..).map(|number| format!("{number}-{name}"));
    let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(free.clone());
    free
}
