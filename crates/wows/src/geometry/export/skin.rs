//! Materials with textures, in the terms of glTF (docs/formats/textures.md §3).

use super::{Material, Scene};
use crate::error::Result;
use crate::models::{ModelFiles, Property, Surface};
use crate::scene::model::{Alpha, Image, Role, Skin};
use crate::scene::{Options, TextureMode};
use crate::table::Value;
use crate::texture::{Content, Pixels};
use crate::texture_files::TextureFiles;
use crate::threads::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// The cut of shaders that leave texels out and do not state one.
const CUT: f32 = 0.5;

/// The slot of a material that holds the texture of a role, and the end of the image's name.
const fn names(role: Role) -> [&'static str; 2] {
    match role {
        Role::Base | Role::Transparent => ["diffuseMap", "base"],
        Role::Normal => ["normalMap", "normal"],
        Role::MetalRoughness => ["metallicGlossMap", "metal_rough"],
        Role::Occlusion => ["ambientOcclusionMap", "occlusion"],
        Role::Emissive => ["diffuseMap", "emissive"],
    }
}

const fn slot(role: Role) -> &'static str {
    names(role)[0]
}

fn alpha_of(surface: &Surface) -> Alpha {
    let fx = crate::file_name(&surface.fx).to_ascii_lowercase();
    if surface.is_set("alphaTestEnable") {
        #[expect(clippy::cast_possible_truncation, reason = "it is between 0 and 1")]
        let cut = surface.number("alphaReference").map(|reference| (reference / 255.0).clamp(0.0, 1.0) as f32);
        Alpha::Mask(cut.unwrap_or(CUT))
    } else if ["glass", "propeller"].iter().any(|word| fx.contains(word)) {
        Alpha::Blend
    } else if ["wire", "grid_alpha"].iter().any(|word| fx.contains(word)) {
        Alpha::Mask(CUT)
    } else {
        Alpha::Opaque
    }
}

/// An image to be made.
pub(super) trait WantedImage: Sync {
    /// The path of its texture.
    fn texture(&self) -> &str;
    /// The end of its name, if it has one.
    fn ending(&self) -> Option<&'static str>;
    /// The image as PNG; `None` if its texture is not at hand.
    fn make(&self, files: &TextureFiles, size: u32) -> Result<Option<Vec<u8>>>;
}

/// An image of a material's texture.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RoleImage {
    role: Role,
    texture: String,
    /// The path of the texture that masks it.
    mask: Option<String>,
}

impl Scene<'_> {
    /// Gives materials the surfaces that `models` know, and their images. `path` returns the path of a material.
    pub(super) fn dress<'p>(
        &mut self,
        models: &ModelFiles<'_>,
        files: Option<&TextureFiles>,
        options: &Options,
        path: &dyn Fn(u64) -> Option<&'p str>,
    ) {
        let lone = models.lone_surfaces();
        let mut uses: Vec<(usize, RoleImage)> = Vec::new();
        let mut textures = BTreeSet::new();
        for number in 0..self.materials.len() {
            let path = self.materials[number].mfm.and_then(path);
            let Some(surface) = self.surface(number, path, models, &lone) else {
                if options.textures != TextureMode::None {
                    self.note_missing_material(number, path);
                }
                continue;
            };
            textures.extend(surface.textures().map(|(_, path)| path.to_owned()));
            uses.extend(self.materials[number].dress(&surface, options).into_iter().map(|image| (number, image)));
        }
        if options.textures == TextureMode::Files {
            return self.add_files(textures, files, options.texture_size);
        }
        let images: BTreeSet<&RoleImage> = uses.iter().map(|(_, image)| image).collect();
        let images: Vec<RoleImage> = images.into_iter().cloned().collect();
        let Some(files) = files else {
            let textures: BTreeSet<String> = images.into_iter().map(|image| image.texture).collect();
            return textures.iter().for_each(|texture| self.note_missing(texture));
        };
        let numbers = self.add_images(&images, files, options.texture_size);
        for (material, image) in uses {
            let number = numbers[images.binary_search(&image).expect("all images are listed")];
            let role = if image.role == Role::Transparent { Role::Base } else { image.role };
            let skin = self.materials[material].look.skin.as_mut().expect("it has images");
            skin.images.extend(number.map(|number| (role, number)));
        }
    }

    /// The surface of a material of meshes: by its id, or by its path or name among `lone` ones.
    fn surface(
        &mut self,
        number: usize,
        path: Option<&str>,
        models: &ModelFiles<'_>,
        lone: &[Surface],
    ) -> Option<Surface> {
        let Material { look, mfm, .. } = &self.materials.get(number).filter(|material| material.is_of_mesh)?;
        let name = &look.name;
        if let Some(surface) = mfm.and_then(|id| models.surface(id)) {
            let surface = surface.map_err(|error| error.context(format_args!("material {name}")));
            return self.note(surface);
        }
        let mut names = path.into_iter().chain([name.as_str()]);
        if let Some(named) = names.find_map(|name| lone.iter().find(|surface| stem(&surface.name) == stem(name))) {
            return Some(named.clone());
        }
        // A material with a path is in a file of its own.
        let [only] = lone else { return None };
        if path.is_some() {
            return None;
        }
        self.notes.push(format!("material {name}: {} is used, the one material given", only.name));
        Some(only.clone())
    }

    fn add_files(&mut self, textures: BTreeSet<String>, files: Option<&TextureFiles>, size: u32) {
        let mut names = BTreeSet::new();
        for texture in textures {
            let found = files.map_or(Ok(None), |files| files.file(&texture, size));
            match self.note(found) {
                Some(Some((path, source))) => self.files.push((unique(crate::file_name(&path), &mut names), source)),
                Some(None) => self.note_missing(&texture),
                None => {}
            }
        }
    }

    /// Makes images on all cores. Returns the number of each in [`Scene::images`], if it could be made.
    pub(super) fn add_images(
        &mut self,
        wanted: &[impl WantedImage],
        files: &TextureFiles,
        size: u32,
    ) -> Vec<Option<usize>> {
        let made: Vec<Result<Option<Vec<u8>>>> = wanted.par_iter().map(|image| image.make(files, size)).collect();
        let mut names: BTreeSet<String> = self.images.iter().map(|image| image.name.clone()).collect();
        let mut missing = BTreeSet::new();
        let mut numbers = Vec::new();
        for (image, made) in wanted.iter().zip(made) {
            let texture = image.texture();
            let number = match self.note(made.map_err(|error| error.context(texture))) {
                Some(Some(png)) => {
                    let file = crate::file_name(texture);
                    let mut name = file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned();
                    image.ending().into_iter().for_each(|ending| name = format!("{name}.{ending}"));
                    self.images.push(Image { name: unique(&name, &mut names), png });
                    Some(self.images.len() - 1)
                }
                Some(None) => {
                    missing.insert(texture);
                    None
                }
                None => None,
            };
            numbers.push(number);
        }
        missing.into_iter().for_each(|texture| self.note_missing(texture));
        numbers
    }

    fn note_missing_material(&mut self, number: usize, path: Option<&str>) {
        let Material { look, mfm, is_of_mesh, .. } = &self.materials[number];
        let name = &look.name;
        if !*is_of_mesh || mfm.is_none() && name == super::UNKNOWN {
            return;
        }
        let file = path.map_or("FILE.mfm", crate::file_name);
        let place = path.map_or_else(String::new, |path| format!(" ({path})"));
        let note = format!("material {name}{place} is not at hand: --with {file} or --with FOLDER finds it there");
        // Several materials may share a name.
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn note_missing(&mut self, texture: &str) {
        self.notes.push(format!("texture {texture} is not at hand: --with FOLDER or --with GAME finds it there"));
    }
}

impl Material {
    /// Gives the material a surface. Returns the images of its roles.
    fn dress(&mut self, surface: &Surface, options: &Options) -> Vec<RoleImage> {
        if self.look.name == super::UNKNOWN {
            self.look.name.clone_from(&surface.name);
        }
        self.look.double_sided |= surface.is_set("doubleSided");
        let alpha = alpha_of(surface);
        let base = if alpha == Alpha::Opaque { Role::Base } else { Role::Transparent };
        #[expect(clippy::cast_possible_truncation, reason = "a strength needs no more digits")]
        let emissive = surface.number("emissivePower").map_or(0.0, |power| power as f32);
        self.path.clone_from(&surface.name);
        self.base = surface.texture(slot(base)).map(str::to_owned);
        self.look.skin =
            Some(Skin { alpha, images: BTreeMap::new(), transform: None, emissive, extras: extras(surface) });
        let mut roles = match options.textures {
            TextureMode::None | TextureMode::Files => return Vec::new(),
            TextureMode::Png => vec![base, Role::Normal, Role::MetalRoughness, Role::Occlusion],
        };
        if options.emissive && emissive > 0.0 && surface.fx.contains("emissive") {
            roles.push(Role::Emissive);
        }
        let images = roles.into_iter().filter_map(|role| {
            let mask = surface.texture("metallicGlossMap").filter(|_| role == Role::Emissive).map(str::to_owned);
            Some(RoleImage { role, texture: surface.texture(slot(role))?.to_owned(), mask })
        });
        images.collect()
    }
}

impl WantedImage for RoleImage {
    fn texture(&self) -> &str {
        &self.texture
    }

    fn ending(&self) -> Option<&'static str> {
        Some(names(self.role)[1])
    }

    fn make(&self, files: &TextureFiles, size: u32) -> Result<Option<Vec<u8>>> {
        let Some(mut pixels) = files.pixels(&self.texture, size)? else { return Ok(None) };
        let content = match self.role {
            Role::Transparent | Role::Base | Role::Emissive => Content::Colour,
            Role::Normal => Content::Normal,
            Role::MetalRoughness | Role::Occlusion => Content::Number,
        };
        if content == Content::Normal {
            pixels.rgba.iter_mut().for_each(normal);
        }
        // A texture may have no level as small as that.
        let mut pixels = pixels.within(size, content);
        match self.role {
            Role::Transparent | Role::Normal => {}
            Role::Base => pixels.rgba.iter_mut().for_each(|[.., a]| *a = 255),
            Role::MetalRoughness => {
                pixels.rgba.iter_mut().for_each(|pixel| {
                    let [gloss, metal, ..] = *pixel;
                    *pixel = [255, 255 - gloss, metal, 255];
                });
            }
            Role::Occlusion => pixels.rgba.iter_mut().for_each(|pixel| {
                let [r, ..] = *pixel;
                *pixel = [r, r, r, 255];
            }),
            Role::Emissive => {
                let mask = self.mask.as_ref().map_or(Ok(None), |mask| files.pixels(mask, size))?;
                let Some(mask) = mask else { return Ok(None) };
                emit(&mut pixels, &mask);
            }
        }
        pixels.to_png().map(Some)
    }
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
    let (width, height) = (pixels.width, pixels.height);
    for (n, pixel) in pixels.rgba.iter_mut().enumerate() {
        let [.., paint, _] = scaled(mask, n, width, height);
        let [r, g, b, _] = *pixel;
        let [r, g, b] =
            [r, g, b].map(|v| u8::try_from(u16::from(v) * u16::from(paint) / 255).expect("parts of a byte"));
        *pixel = [r, g, b, 255];
    }
}

/// The pixel of `image` in the place of pixel `n` of an image of this size.
pub(super) fn scaled(image: &Pixels, n: usize, width: u32, height: u32) -> [u8; 4] {
    let [width, height, of_width, of_height] = [width, height, image.width, image.height].map(|size| size as usize);
    image.rgba[n / width * of_height / height * of_width + n % width * of_width / width]
}

/// The shader, the values and the paths of textures.
fn extras(surface: &Surface) -> serde_json::Value {
    let textures: serde_json::Map<_, _> =
        surface.textures().map(|(slot, path)| (slot.to_owned(), path.into())).collect();
    let values = surface.properties.iter().filter_map(|(name, property)| match property {
        Property::Value(value) => Some((name.clone(), to_json(value))),
        Property::Texture(_) => None,
    });
    let values: serde_json::Map<_, _> = values.collect();
    json!({ "mfm": surface.name, "fx": surface.fx, "textures": textures, "properties": values })
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
    let numbered = (2..).map(|number: u32| format!("{number}-{name}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let free = names.find(|name| !taken.contains(name)).expect("fewer names are taken");
    taken.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_of_materials_are_json_and_null_for_no_number() {
        let values = [
            Value::Bool(true),
            Value::Int(-3),
            Value::Uint(3),
            Value::F32(0.1),
            Value::F64(0.5),
            Value::F32(f32::NAN),
            Value::F64(f64::INFINITY),
            Value::Null,
            Value::text("a"),
        ];
        let shown = to_json(&Value::List(values.to_vec())).to_string();
        assert_eq!(shown, r#"[true,-3,3,0.1,0.5,null,null,null,"a"]"#);
    }

    struct Found(&'static str);

    impl WantedImage for Found {
        fn texture(&self) -> &str {
            self.0
        }

        fn ending(&self) -> Option<&'static str> {
            None
        }

        fn make(&self, _: &TextureFiles, _: u32) -> Result<Option<Vec<u8>>> {
            Ok(Some(Vec::new()))
        }
    }

    #[test]
    fn images_of_one_name_are_numbered() {
        let mut scene = Scene::default();
        let files = TextureFiles::new(&crate::options::Options::default());
        assert_eq!(scene.add_images(&[Found("a/x.dds")], &files, 64), [Some(0)]);
        assert_eq!(scene.add_images(&[Found("a/x.dds"), Found("b/y.dds")], &files, 64), [Some(1), Some(2)]);
        assert_eq!(scene.images.iter().map(|image| &*image.name).collect::<Vec<_>>(), ["x", "2-x", "y"]);
    }
}
