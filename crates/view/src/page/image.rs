//! Textures in a page: levels as PNG.

use super::{Page, PageSection};
use crate::error::Result;
use crate::texture::{Texture, decode};
use serde_json::{Value, json};

/// Layers of an array that a page shows.
const LAYERS: u32 = 16;

/// Textures of a file that a page shows.
pub const TEXTURES: usize = 16;

/// Adds a part that shows the levels of the first layer, and the largest level of the others. A file with several
/// textures has a part for each, by its row in the table of textures.
///
/// # Errors
/// As [`decode`], and `Io` if the page cannot be written.
pub fn add(page: &mut Page<'_>, row: Option<usize>, texture: &dyn Texture) -> Result<()> {
    let (id, title) = match row {
        None => ("image".to_owned(), "Image".to_owned()),
        Some(row) => (format!("image-{row}"), format!("Texture {row}")),
    };
    let shape = texture.shape();
    let of_first = (0..shape.mips).map(|mip| (0, mip));
    let of_others = (1..shape.layers.min(LAYERS)).map(|layer| (layer, 0));
    let mut levels: Vec<Value> = Vec::new();
    for (layer, mip) in of_first.chain(of_others) {
        let pixels = decode(&texture.level(layer, mip)?)?;
        let (width, height) = (pixels.width, pixels.height);
        let block = format!("{id}-{layer}-{mip}");
        page.block(&block, &pixels.to_png()?)?;
        levels.push(json!({ "layer": layer, "mip": mip, "width": width, "height": height, "block": block }));
    }
    let meta = json!({ "levels": levels, "layers": shape.layers, "format": shape.format.name(), "row": row });
    page.part(PageSection { id, kind: "image", title, meta });
    Ok(())
}
