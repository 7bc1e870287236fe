//! Variants of materials: other colours, as camouflages of ships have (docs/formats/textures.md §3).

use super::Scene;
use super::skin::{WantedImage, scaled};
use crate::camouflage::Camouflages;
use crate::error::Result;
use crate::models::Coat;
use crate::scene::model::{Alpha, Role, Variant};
use crate::scene::{Options, TextureMode, linear_channel};
use crate::texture::{Content, Pixels};
use crate::texture_files::TextureFiles;
use std::collections::BTreeMap;

/// An image to be made: a coat's texture, its colours, and the texture that shows through it.
#[derive(Debug, PartialEq)]
struct Paint {
    texture: String,
    colours: Option<[[f32; 3]; 4]>,
    base: Option<String>,
}

/// The share of texels that must be black, red, green or blue for a texture to be a mask of four colours.
const MASK: f64 = 0.9;

impl Scene<'_> {
    /// Adds a material for each coat of a material whose texture is at hand.
    pub(super) fn add_variants(&mut self, camouflages: &Camouflages, files: &TextureFiles, options: &Options) {
        if options.textures != TextureMode::Png {
            return;
        }
        let names = camouflages.names();
        let mut paints: Vec<Paint> = Vec::new();
        let mut uses: Vec<(usize, usize, usize, Coat)> = Vec::new();
        for (number, material) in self.materials.iter().enumerate() {
            // Glass and wires keep their look.
            if material.look.skin.as_ref().is_none_or(|skin| skin.alpha != Alpha::Opaque) {
                continue;
            }
            for variant in 0..names.len() {
                let Some(coat) = camouflages.coat(variant, &material.path) else { continue };
                let base = material.base.clone().filter(|_| !coat.is_tiled && coat.colours.is_some());
                let paint = Paint { texture: coat.texture.clone(), colours: coat.colours, base };
                let at = paints.iter().position(|known| *known == paint).unwrap_or_else(|| {
                    paints.push(paint);
                    paints.len() - 1
                });
                uses.push((variant, number, at, coat));
            }
        }
        let images = self.add_images(&paints, files, options.texture_size);
        let variants = names.into_iter().map(|name| Variant { name, materials: BTreeMap::new() });
        let mut variants: Vec<Variant> = variants.collect();
        for (variant, number, at, coat) in uses {
            let Some(image) = images[at] else { continue };
            let mut material = self.materials[number].clone();
            material.look.name = format!("{} {}", material.look.name, variants[variant].name);
            if let Some(skin) = &mut material.look.skin {
                skin.images.insert(Role::Base, image);
                skin.transform = Some((coat.scale, coat.offset)).filter(|both| *both != ([1.0; 2], [0.0; 2]));
            }
            let new = self.material(material);
            variants[variant].materials.insert(number, new);
        }
        variants.retain(|variant| !variant.materials.is_empty());
        self.variants = variants;
    }
}

impl WantedImage for Paint {
    fn texture(&self) -> &str {
        &self.texture
    }

    fn ending(&self) -> Option<&'static str> {
        None
    }

    fn make(&self, files: &TextureFiles, size: u32) -> Result<Option<Vec<u8>>> {
        let Some(pixels) = files.pixels(&self.texture, size)? else { return Ok(None) };
        let mut pixels = pixels.within(size, Content::Colour);
        match self.colours.filter(|_| is_mask(&pixels)) {
            None => pixels.rgba.iter_mut().for_each(|[.., a]| *a = 255),
            Some(colours) => {
                let base = self.base.as_ref().map_or(Ok(None), |path| files.pixels(path, size))?;
                paint(&mut pixels, &colours, base.as_ref());
            }
        }
        pixels.to_png().map(Some)
    }
}

/// Whether the texels choose colours rather than being colours.
fn is_mask(pixels: &Pixels) -> bool {
    let pure = pixels.rgba.iter().filter(|[r, g, b, _]| {
        let channels = [*r, *g, *b];
        channels.iter().all(|channel| !(32..=223).contains(channel))
            && channels.iter().filter(|channel| **channel > 223).count() <= 1
    });
    pure.count() as f64 >= MASK * pixels.rgba.len() as f64
}

/// Replaces a mask by its colours: the first one for black, the others for red, green and blue. Of `base`, which may have another
/// size, the texels under black show through.
fn paint(pixels: &mut Pixels, colours: &[[f32; 3]; 4], base: Option<&Pixels>) {
    let decoded: Vec<f32> = (0..=255u8).map(|byte| linear_channel(f32::from(byte) / 255.0)).collect();
    let (width, height) = (pixels.width, pixels.height);
    let [under, red, green, blue] = colours;
    for (n, pixel) in pixels.rgba.iter_mut().enumerate() {
        let under = match base {
            Some(base) => {
                let [r, g, b, _] = scaled(base, n, width, height);
                [r, g, b].map(|byte| decoded[usize::from(byte)])
            }
            None => *under,
        };
        let [r, g, b, _] = pixel.map(|byte| f32::from(byte) / 255.0);
        let rest = (1.0 - r - g - b).max(0.0);
        let [r, g, b] = [0, 1, 2].map(|c| encoded(rest * under[c] + r * red[c] + g * green[c] + b * blue[c]));
        *pixel = [r, g, b, 255];
    }
}

/// A linear channel as a byte of an sRGB image.
fn encoded(channel: f32) -> u8 {
    let channel = channel.clamp(0.0, 1.0);
    let srgb = if channel <= 0.003_130_8 { channel * 12.92 } else { 1.055 * channel.powf(1.0 / 2.4) - 0.055 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 255")]
    let byte = (srgb * 255.0).round() as u8;
    byte
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(rgba: &[[u8; 4]]) -> Pixels {
        Pixels { width: rgba.len() as u32, height: 1, rgba: rgba.to_vec() }
    }

    #[test]
    fn every_byte_comes_back() {
        assert!((0..=255u8).all(|byte| encoded(linear_channel(f32::from(byte) / 255.0)) == byte));
    }

    #[test]
    fn a_mask_gets_its_colours_and_shows_what_is_below() {
        let mask = [[0, 0, 0, 9], [255, 0, 0, 9], [0, 255, 0, 9], [0, 0, 255, 9]];
        let colours = [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
        let painted = |base: Option<&Pixels>| {
            let mut pixels = pixels(&mask);
            paint(&mut pixels, &colours, base);
            pixels.rgba
        };
        let rest = [[255, 255, 255, 255], [255, 0, 0, 255], [0, 0, 255, 255]];
        assert_eq!(painted(None), [&[[0, 0, 0, 255]][..], &rest].concat());
        assert_eq!(painted(Some(&pixels(&[[10, 20, 30, 0]]))), [&[[10, 20, 30, 255]][..], &rest].concat());
        assert!(is_mask(&pixels(&mask)));
        assert!(!is_mask(&pixels(&[[90, 100, 110, 255]])), "a painted texture is its own colour");
    }
}
