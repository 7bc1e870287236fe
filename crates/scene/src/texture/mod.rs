//! Textures: arrays of texels at several sizes, in any container that holds some.
//!
//! A format whose files are textures implements [`Texture`]. [`decode`] turns one level into RGBA pixels.

mod decode;
mod in_archive;
mod texels;

pub use decode::{Content, Pixels, decode};
pub use in_archive::in_archive;
pub use texels::{Masks, TexelFormat};

use crate::bytes::View;
use crate::error::{Error, ErrorKind, Result};
use crate::reader::Reader;
use crate::table::{Column, DeclaredTable, Value};

/// The greatest width, height and depth of a texture: the limit of Direct3D 11.
pub const MAX_SIZE: u32 = 16_384;

/// The most layers of an array of textures: the limit of Direct3D 11.
pub const MAX_LAYERS: u32 = 2048;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub format: TexelFormat,
    /// Width of the largest level, in texels.
    pub width: u32,
    /// Height of the largest level, in texels.
    pub height: u32,
    /// Slices of the largest level: 1 for a flat texture.
    pub depth: u32,
    /// Textures of an array, or 6 faces for each cube map.
    pub layers: u32,
    /// Levels of each layer.
    pub mips: u32,
    /// Whether six layers are the faces of a cube.
    pub is_cube: bool,
}

impl Shape {
    /// Width, height and depth of level `mip`.
    pub fn extent(&self, mip: u32) -> [u32; 3] {
        [self.width, self.height, self.depth].map(|size| (size >> mip.min(31)).max(1))
    }

    /// Bytes of level `mip` of one layer. `None` if texels of the format have no known size.
    pub fn level_size(&self, mip: u32) -> Option<u64> {
        let [width, height, depth] = self.extent(mip);
        self.format.size(width, height)?.checked_mul(depth.into())
    }

    /// Bytes from the first texel to level `mip` of `layer`. `None` if texels of the format have no known size.
    pub fn offset(&self, layer: u32, mip: u32) -> Option<u64> {
        self.size_of_levels(self.mips)?.checked_mul(layer.into())?.checked_add(self.size_of_levels(mip)?)
    }

    /// Bytes of the largest `mips` levels of one layer.
    fn size_of_levels(&self, mips: u32) -> Option<u64> {
        (0..mips).try_fold(0u64, |sum, mip| sum.checked_add(self.level_size(mip)?))
    }

    /// The number of the largest level whose sides have at most `size` texels, or of the smallest level.
    pub fn mip_within(&self, size: u32) -> u32 {
        let last = self.mips.saturating_sub(1);
        (0..last).find(|&mip| self.extent(mip).iter().all(|&side| side <= size)).unwrap_or(last)
    }

    /// The kind of texture: `2d`, `cube` or `volume`, with `-array` for several of them.
    pub fn kind(&self) -> &'static str {
        match (self.is_cube, self.depth, self.layers) {
            (true, _, 0..=6) => "cube",
            (true, ..) => "cube-array",
            (false, 2.., _) => "volume",
            (false, _, 0..=1) => "2d",
            (false, ..) => "2d-array",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Level<'a> {
    pub format: TexelFormat,
    pub width: u32,
    pub height: u32,
    pub depth: u32,
    /// The texels: the view ends with the level.
    pub texels: View<'a>,
}

/// A file that is a texture.
pub trait Texture: Sync {
    fn shape(&self) -> Shape;

    /// Level `mip` of `layer`.
    ///
    /// # Errors
    /// `NotFound` without such a level, `OutOfBounds` if the file ends before it, `Unsupported` if the size of texels is
    /// not known.
    fn level(&self, layer: u32, mip: u32) -> Result<Level<'_>>;
}

/// A file that holds several textures.
pub trait TextureSet {
    /// The textures, each with a name.
    fn textures(&self) -> Vec<(String, Result<Box<dyn Texture + '_>>)>;
}

/// The textures of a file that holds several, each with a name.
pub fn textures(reader: &dyn Reader) -> Vec<(String, Result<Box<dyn Texture + '_>>)> {
    reader.facet::<dyn TextureSet>().map_or_else(Vec::new, TextureSet::textures)
}

/// The error for a level that a texture does not have.
#[cold]
pub fn no_level(shape: &Shape, layer: u32, mip: u32) -> Error {
    let what = format!(
        "there is no level {mip} of layer {layer}; there are {} levels and {} layers",
        shape.mips, shape.layers
    );
    Error::of_part(ErrorKind::NotFound { what }, "levels")
}

/// Endings of the files of one texture of World of Warships: the whole chain, and single levels above it, each twice the size
/// of the one before.
pub const TIERS: [&str; 4] = ["dds", "dd2", "dd1", "dd0"];

/// The tier of a file, by the ending of its name.
pub fn tier(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    TIERS.into_iter().find(|tier| ending.eq_ignore_ascii_case(tier))
}

/// First bytes of a texture's file that tell its shape, whatever its format.
pub const HEADER: usize = 148;

/// The name of the table of textures.
pub const TABLE: &str = "textures";

/// Adds the columns of a shape. Their cells are null if `shape` gives none.
pub fn columns<'a, R>(
    table: DeclaredTable<'a, R>,
    shape: impl Fn(&R) -> Result<Option<Shape>> + Send + Sync + Clone + 'a,
) -> DeclaredTable<'a, R> {
    let numbers = ["width", "height", "mips"].map(|name| Column::uint(name).brief());
    let (of_text, of_kind) = (shape.clone(), shape.clone());
    table
        .columns(numbers, move |row, number| {
            let shape = shape(row)?;
            Ok(shape.and_then(|s| [s.width, s.height, s.mips].get(number).copied()).into())
        })
        .column(Column::text("format").brief(), move |row| {
            Ok(of_text(row)?.map_or(Value::Null, |shape| Value::Text(shape.format.name())))
        })
        .column(Column::text("kind"), move |row| Ok(of_kind(row)?.map(|shape| shape.kind()).into()))
}
