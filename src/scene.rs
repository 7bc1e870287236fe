//! Shapes: meshes that one file holds, others name and put into place, and drawings are made of.
//!
//! A `.geometry` does not know which of its vertices belong to which of its indices, what they are called, and where they
//! stand. A format that knows some of it implements [`Stage`]; a format that holds such meshes implements [`Meshes`]. A
//! format whose files have a shape, with or without the help of others, implements [`Shapes`].

#[cfg(feature = "view")]
pub mod sight;

use crate::error::Result;
#[cfg(feature = "export")]
use crate::error::{Error, ErrorKind};
use crate::relations::{AllTexts, Texts};
use std::collections::BTreeSet;
use std::fmt;
#[cfg(feature = "export")]
use std::io::Write;

/// A model of the database or of a space, as far as its meshes go. Filled by each format that knows render sets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    /// The id of its path, where it has one.
    pub id: Option<u64>,
    /// Its name, or its path.
    pub name: String,
    /// Its render sets.
    pub render_sets: Vec<RenderSet>,
    /// Levels of detail, the finest first: the render sets that each shows, by number.
    pub lods: Vec<Vec<usize>>,
}

/// A render set: vertices and indices to draw with one material.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenderSet {
    /// Its name.
    pub name: String,
    /// Its material's name.
    pub material: Option<String>,
    /// The id of its vertex mapping.
    pub vertices: u32,
    /// The id of its index mapping.
    pub indices: u32,
}

/// The place of a model in a space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// The model, by number.
    pub model: usize,
    /// Rows of a matrix that is multiplied by a row vector from the left; the last row is the position.
    pub transform: [f32; 16],
}

/// The place of a model that another file has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instance {
    /// The id of the model.
    pub id: u64,
    /// As [`Placement::transform`].
    pub transform: [f32; 16],
}

/// The meshes of a render set, by the ids of their mappings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// The name of the render set, where it is known.
    pub name: Option<String>,
    /// The id of the vertex mapping.
    pub vertices: u32,
    /// The id of the index mapping.
    pub indices: u32,
}

/// A row of a table of meshes that a render set names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mesh {
    /// The id of the mapping.
    pub mapping_id: u32,
    /// The name of the render set that draws it, where it is known.
    pub name: Option<String>,
    /// The table that it stands in: `vertex_mappings` or `index_mappings`.
    pub table: &'static str,
    /// The row there.
    pub row: usize,
}

impl Mesh {
    /// A mesh of `drawn` at a row of a table.
    pub fn new(mapping_id: u32, drawn: &Drawn, table: &'static str, row: usize) -> Self {
        Self { mapping_id, name: drawn.name.clone(), table, row }
    }
}

/// Files of meshes that render sets of other files name by ids.
pub trait Meshes: Sync {
    /// The meshes that these render sets name, as far as the file has them.
    fn find(&self, drawn: &[Drawn]) -> Result<Vec<Mesh>>;
}

/// Files that put models together of meshes in other files, or put models into a space.
pub trait Stage: Sync {
    /// The render sets of the entry `id`, where it draws meshes of the file called `file`.
    fn drawn_by(&self, id: u64, file: &str) -> Result<Vec<Drawn>> {
        let _ = (id, file);
        Ok(Vec::new())
    }

    /// All models of a file whose models draw one geometry, as the models of a space do. `texts` names them where it
    /// can.
    fn models(&self, texts: Option<&dyn Texts>) -> Option<Result<Vec<Model>>> {
        let _ = texts;
        None
    }

    /// The models that draw the file called `file`, which has vertex mappings with the ids `vertices`.
    fn models_of(&self, file: &str, vertices: &BTreeSet<u32>) -> Option<Result<Vec<Model>>> {
        let _ = (file, vertices);
        None
    }

    /// The places of models in a space.
    fn instances(&self) -> Option<Vec<Instance>> {
        None
    }
}

/// Other files that know of meshes: see [`Stage`].
#[derive(Clone, Default)]
pub struct Context<'a> {
    stages: Vec<&'a dyn Stage>,
    texts: AllTexts<'a>,
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("files", &self.stages.len()).finish_non_exhaustive()
    }
}

impl<'a> Context<'a> {
    /// Adds a file, and the texts of ids that it has. Of several that know the same, the last one counts.
    pub fn add(&mut self, stage: &'a dyn Stage, texts: Option<&'a dyn Texts>) {
        self.stages.push(stage);
        if let Some(texts) = texts {
            self.texts.add(texts);
        }
    }

    /// All models, where a file has the models of one geometry: see [`Stage::models`].
    pub fn models(&self) -> Option<Result<Vec<Model>>> {
        self.stages.iter().rev().find_map(|stage| stage.models(Some(&self.texts)))
    }

    /// The models that draw a file: see [`Stage::models_of`].
    pub fn models_of(&self, file: &str, vertices: &BTreeSet<u32>) -> Option<Result<Vec<Model>>> {
        self.stages.iter().rev().find_map(|stage| stage.models_of(file, vertices))
    }

    /// The places of models.
    pub fn instances(&self) -> Option<Vec<Instance>> {
        self.stages.iter().rev().find_map(|stage| stage.instances())
    }
}

/// The parts of shapes to draw, where a file has such parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The level of detail, 0 the finest; `None` for all of them. A model that has fewer shows its coarsest. Render
    /// groups whose levels are not known are always written.
    pub lod: Option<usize>,
    /// Whether render groups are written.
    pub meshes: bool,
    /// Whether armour is written.
    pub armor: bool,
    /// Whether collision hulls are written.
    pub collision: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { lod: Some(0), meshes: true, armor: true, collision: true }
    }
}

/// A form of drawings.
#[cfg(feature = "export")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Binary glTF.
    Glb,
    /// Wavefront OBJ.
    Obj,
    /// A drawing of lines and areas.
    Svg,
    /// A picture.
    #[cfg(feature = "view")]
    Png,
}

/// Files of shapes.
#[cfg(feature = "export")]
pub trait Shapes: Sync {
    /// The forms that their drawings can have.
    fn kinds(&self) -> &'static [Kind];

    /// The shapes that `options` ask for, named and put into place as far as `context` knows.
    fn draw<'a>(&'a self, context: &Context<'_>, options: Options) -> Result<Box<dyn Drawing + 'a>>;
}

/// Shapes that are ready to be written.
#[cfg(feature = "export")]
pub trait Drawing {
    /// Guesses and parts that were left out, in words.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// Errors of parts that are left out as they cannot be read.
    fn damage(&self) -> &[Error] {
        &[]
    }

    /// The shapes that pages and pictures show. `None` without any.
    ///
    /// # Errors
    /// When a shape cannot be read.
    #[cfg(feature = "view")]
    fn sight(&self) -> Result<Option<sight::Sight<'_>>> {
        Ok(None)
    }

    /// Writes the shapes, and gives notes on parts that were left out meanwhile.
    ///
    /// # Errors
    /// `Unsupported` for a form that is not among [`Shapes::kinds`], when a part cannot be read, or when `out` fails.
    fn write(&self, kind: Kind, out: &mut dyn Write) -> Result<Vec<String>>;
}

/// The error of a drawing that cannot have a form.
#[cfg(feature = "export")]
pub(crate) fn no_such_kind(kind: Kind) -> Error {
    Error::without_offset(ErrorKind::Unsupported { what: format!("such shapes as {kind:?}").into() }, "")
}

/// Colours for things that are told apart by them: the one with number `rank` of `count`. Hues are as far apart as so many
/// can be, and far from the hues of the numbers beside; where there are many, colours of like hues differ in
/// brightness.
#[cfg(feature = "export")]
pub(crate) fn colour(rank: usize, count: usize) -> [f32; 3] {
    const FEW: usize = 8;
    const BRIGHTNESS: [f64; 3] = [1.0, 0.74, 0.54];
    let count = count.max(1);
    // All numbers come up once, in golden steps.
    let shares_factor = |step: usize| (2..=step).any(|f| step.is_multiple_of(f) && count.is_multiple_of(f));
    let golden = count.saturating_mul(618) / 1000;
    let step = (golden.max(1)..count).find(|step| !shares_factor(*step)).unwrap_or(1);
    let place = rank.saturating_mul(step).checked_rem(count).unwrap_or(0);
    let hue = place as f64 / count as f64 * 6.0;
    // The last hue is beside the first one.
    let is_last = place.saturating_add(1) == count && count % 3 == 1;
    let brightness = match place {
        _ if count <= FEW => 1.0,
        place => BRIGHTNESS.get(if is_last { 1 } else { place % 3 }).copied().unwrap_or(1.0),
    };
    [2.0, 0.0, -2.0].map(|shift| {
        let at: f64 = (hue + shift).rem_euclid(6.0);
        let rise = at.min(4.0 - at).clamp(0.0, 1.0);
        #[allow(clippy::cast_possible_truncation, reason = "a colour needs no more digits")]
        let value = ((0.25 + 0.65 * rise) * brightness) as f32;
        value
    })
}

#[cfg(test)]
#[cfg(feature = "export")]
mod tests {
    use super::colour;

    /// Colours of armour are told apart by eye, whatever their number.
    #[test]
    fn no_two_colours_are_alike() {
        for count in 1..=64 {
            let all: Vec<[f32; 3]> = (0..count).map(|rank| colour(rank, count)).collect();
            let distance =
                |a: &[f32; 3], b: &[f32; 3]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt();
            for (n, a) in all.iter().enumerate() {
                for b in all.iter().skip(n + 1) {
                    assert!(distance(a, b) > 0.05, "{count}: {a:?} {b:?}");
                }
            }
            // Ids follow each other in many a file.
            for (a, b) in all.iter().zip(all.iter().skip(1)) {
                assert!(distance(a, b) > 0.25, "{count}: {a:?} {b:?}");
            }
        }
    }
}
