//! Shapes: meshes of one file, which other files name and place, and their drawings.
//!
//! A `.geometry` does not contain which vertices belong to which indices, or names and positions of its meshes. A
//! format that contains some of this implements [`Placements`]; a format with such meshes implements [`Meshes`]. A format
//! whose files have a shape, alone or with other files, implements [`Shapes`].

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "numbers of shapes in memory")]

use crate::asset::Asset;
use crate::error::{Error, ErrorKind, Result};
use crate::figure;
use crate::relations::{AllTexts, IdTexts};
use crate::table::Value;
use crate::texture_files::TextureFiles;
use std::collections::BTreeSet;
use std::io::Write;

/// The meshes of a model of the database or of a space. Each format with render sets fills it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    /// The id of its path, if it has one.
    pub id: Option<u64>,
    pub name: String,
    pub render_sets: Vec<RenderSet>,
    /// Levels of detail, the finest first: the render sets that each shows, by number.
    pub lods: Vec<Vec<usize>>,
    /// The lower and the upper corner of the box around it, if stated.
    pub bounds: Option<[[f32; 3]; 2]>,
}

/// A render set: vertices and indices to draw with one material.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenderSet {
    pub name: String,
    /// The render set's material's name.
    pub material: Option<String>,
    pub mfm: Option<u64>,
    /// The id of its vertex mapping.
    pub vertices: u32,
    /// The id of its index mapping.
    pub indices: u32,
}

/// A material: the shader that draws with it, its textures and its values.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Surface {
    /// The surface's name: a path, or a file name.
    pub name: String,
    pub fx: String,
    /// The surface's properties, in the order of the file.
    pub properties: Vec<(String, Property)>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Property {
    Texture(String),
    /// A number, a flag or several numbers.
    Value(Value<'static>),
}

impl Surface {
    /// A material without a shader and without properties.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// The surface's textures: the slot and the path of each.
    pub fn textures(&self) -> impl Iterator<Item = (&str, &str)> {
        self.properties.iter().filter_map(|(name, property)| match property {
            Property::Texture(path) => Some((name.as_str(), path.as_str())),
            Property::Value(_) => None,
        })
    }

    /// The path of the texture in a slot.
    pub fn texture(&self, slot: &str) -> Option<&str> {
        self.textures().find(|(name, _)| *name == slot).map(|(_, path)| path).filter(|path| !path.is_empty())
    }

    /// The number of a property; 1 or 0 for a flag.
    pub fn number(&self, name: &str) -> Option<f64> {
        let (_, property) = self.properties.iter().find(|(property, _)| property == name)?;
        match property {
            Property::Value(Value::Bool(flag)) => Some(f64::from(u8::from(*flag))),
            Property::Value(Value::F32(number)) => Some(f64::from(*number)),
            Property::Value(Value::Int(number)) => Some(*number as f64),
            Property::Value(Value::Uint(number)) => Some(*number as f64),
            _ => None,
        }
    }

    pub fn is_set(&self, name: &str) -> bool {
        self.number(name).is_some_and(|number| number != 0.0)
    }
}

/// A visual: meshes of one geometry, and nodes for other models.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Visual {
    pub geometry: String,
    /// The visual's render sets.
    pub model: Model,
    /// The name of each node, and its transform from the node to the model: see [`Placement::transform`].
    pub nodes: Vec<(String, [f32; 16])>,
}

/// The place of a model in a space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// The model, by number.
    pub model: usize,
    /// The number of the instance in its space.
    pub row: usize,
    /// Rows of a matrix that is multiplied by a row vector from the left; the last row is the position.
    pub transform: [f32; 16],
}

/// The placement of a model from another file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instance {
    /// The id of the model.
    pub id: u64,
    pub transform: [f32; 16],
}

/// The meshes of a render set, by the ids of their mappings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// The name of the render set, if known.
    pub name: Option<String>,
    /// The id of the vertex mapping.
    pub vertices: u32,
    /// The id of the index mapping.
    pub indices: u32,
}

/// A row of a table of meshes that a render set draws.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mesh {
    pub mapping_id: u32,
    /// The name of the render set that draws it, where it is known.
    pub name: Option<String>,
    /// The table with this row: `vertex_mappings` or `index_mappings`.
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

/// Files of meshes with ids that render sets of other files refer to.
pub trait Meshes: Sync {
    /// The meshes of these render sets that the file contains.
    fn find(&self, drawn: &[Drawn]) -> Result<Vec<Mesh>>;
}

/// The meshes in `geometry` that the entry `id` of `asset` draws: a visual of a database draws the meshes of the file
/// that it names, a model of a `models.bin` the meshes of any file that has its mappings. Empty where `id` draws
/// nothing.
///
/// # Errors
/// When the entry or the mappings cannot be read.
pub fn meshes_drawn_by(asset: &Asset, id: u64, geometry: &Asset) -> Result<Vec<Mesh>> {
    let placements = asset.reader().facet::<dyn Placements>();
    let Some((placements, meshes)) = placements.zip(geometry.reader().facet::<dyn Meshes>()) else {
        return Ok(Vec::new());
    };
    let drawn = placements.drawn_by(id, geometry.source().name())?;
    if drawn.is_empty() { Ok(Vec::new()) } else { meshes.find(&drawn) }
}

/// Files that assemble models from meshes in other files, or place models in a space.
pub trait Placements: Sync {
    /// The render sets of the entry `id`, if it draws meshes of `file`.
    fn drawn_by(&self, _id: u64, _file: &str) -> Result<Vec<Drawn>> {
        Ok(Vec::new())
    }

    /// All models of a file whose models draw one geometry, such as the models of a space. `texts` provides names.
    fn models(&self, _texts: Option<&dyn IdTexts>) -> Option<Result<Vec<Model>>> {
        None
    }

    /// The models that draw `file`, which has vertex mappings with the ids `vertices`.
    fn models_of(&self, _file: &str, _vertices: &BTreeSet<u32>) -> Option<Result<Vec<Model>>> {
        None
    }

    /// The placements of models in a space.
    fn instances(&self) -> Option<Vec<Instance>> {
        None
    }

    /// The visual at `path`, or of the model there.
    ///
    /// # Errors
    /// When the model, the visual or its nodes are damaged.
    fn visual(&self, _path: &str) -> Result<Option<Visual>> {
        Ok(None)
    }

    /// The material with this id. `texts` names its properties and textures.
    fn surface(&self, _id: u64, _texts: &dyn IdTexts) -> Option<Result<Surface>> {
        None
    }

    /// The material that the file consists of.
    fn lone_surface(&self) -> Option<Surface> {
        None
    }
}

/// A texture in place of a material's base colour.
#[derive(Debug, Clone, PartialEq)]
pub struct Coat {
    pub texture: String,
    /// Linear colours for its texels of black, red, green and blue, if the texture is such a mask.
    pub colours: Option<[[f32; 3]; 4]>,
    /// Whether the texture covers everything. Otherwise the material's own colour shows through black.
    pub is_tiled: bool,
    /// Factors of texture coordinates.
    pub scale: [f32; 2],
    /// Summands of texture coordinates.
    pub offset: [f32; 2],
}

/// Variants of materials, such as the camouflages of a ship.
pub trait Coats: Sync {
    fn names(&self) -> Vec<String>;

    /// The coat of the material at the path `material` in a variant, if it has one there.
    fn coat(&self, variant: usize, material: &str) -> Option<Coat>;
}

/// Other files with data about meshes: see [`Placements`].
#[derive(Clone, Default)]
pub struct Context<'a> {
    placements: Vec<&'a dyn Placements>,
    texts: AllTexts<'a>,
    pub textures: Option<&'a TextureFiles>,
    pub coats: Option<&'a dyn Coats>,
    /// The file that is drawn with the shapes: see [`Shapes::companion`].
    pub companion: Option<&'a Asset>,
    /// Whether the user named none of these files: then it is no note if none of them draws the shapes.
    pub is_implied: bool,
}

impl<'a> Context<'a> {
    /// The context that these files give, whichever they are.
    ///
    /// # Errors
    /// `Unsupported` for a file that knows nothing of meshes.
    pub fn from_assets(assets: impl IntoIterator<Item = &'a Asset>) -> Result<Self> {
        let mut context = Self::default();
        for asset in assets {
            let Some(placements) = asset.reader().facet::<dyn Placements>() else {
                let what = format!("naming or placing meshes by a {} file", asset.format());
                return Err(Error::of_part(ErrorKind::Unsupported { what: what.into() }, ""));
            };
            context.add(placements, asset.reader().relations().and_then(|relations| relations.texts()));
        }
        Ok(context)
    }

    /// Adds a file with its texts of ids. For data in several files, the last file counts.
    pub fn add(&mut self, placements: &'a dyn Placements, texts: Option<&'a dyn IdTexts>) {
        self.placements.push(placements);
        if let Some(texts) = texts {
            self.texts.add(texts);
        }
    }

    /// This context with a file that counts only for data that no other file has.
    #[must_use]
    pub fn after<'b>(&self, placements: &'b dyn Placements) -> Context<'b>
    where
        'a: 'b,
    {
        let mut all: Context<'b> = self.clone();
        all.placements.insert(0, placements);
        all
    }

    /// All models, if a file contains the models of one geometry: see [`Placements::models`].
    pub fn models(&self) -> Option<Result<Vec<Model>>> {
        self.placements.iter().rev().find_map(|placements| placements.models(Some(&self.texts)))
    }

    /// The models that draw a file: see [`Placements::models_of`].
    pub fn models_of(&self, file: &str, vertices: &BTreeSet<u32>) -> Option<Result<Vec<Model>>> {
        self.placements.iter().rev().find_map(|placements| placements.models_of(file, vertices))
    }

    /// The material with this id: see [`Placements::surface`].
    pub fn surface(&self, id: u64) -> Option<Result<Surface>> {
        self.placements.iter().rev().find_map(|placements| placements.surface(id, &self.texts))
    }

    /// The materials that are files of their own.
    pub fn lone_surfaces(&self) -> Vec<Surface> {
        self.placements.iter().filter_map(|placements| placements.lone_surface()).collect()
    }

    pub fn instances(&self) -> Option<Vec<Instance>> {
        self.placements.iter().rev().find_map(|placements| placements.instances())
    }
}

/// The parts of shapes to draw, if a file has such parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The level of detail, 0 the finest; `None` for all of them. A model with fewer levels shows its coarsest. Render
    /// groups with an unknown level are always written.
    pub lod: Option<usize>,
    /// Whether render groups are written.
    pub meshes: bool,
    /// Whether armour is written.
    pub armor: bool,
    /// Whether collision hulls are written.
    pub collision: bool,
    /// Whether the boxes of a companion are written: see [`Shapes::companion`].
    pub boxes: bool,
    pub textures: TextureMode,
    /// The greatest width and height of textures.
    pub texture_size: u32,
    /// Whether materials that emit light get an image of it.
    pub emissive: bool,
}

/// The output of the textures of materials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextureMode {
    None,
    /// As PNG, with the channels of glTF.
    Png,
    /// As [`TextureMode::Png`], base colours only.
    Base,
    /// Unchanged files beside the drawing.
    Files,
}

impl Options {
    /// The parts of a drawing in this form: armour and hulls would cover the meshes of a model.
    pub fn of_kind(kind: SceneFormat) -> Self {
        let is_model = matches!(kind, SceneFormat::Glb | SceneFormat::Obj);
        Self { armor: !is_model, collision: !is_model, ..Self::default() }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            lod: Some(0),
            meshes: true,
            armor: true,
            collision: true,
            boxes: false,
            textures: TextureMode::None,
            texture_size: 2048,
            emissive: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SceneFormat {
    /// Binary glTF.
    Glb,
    /// Wavefront OBJ.
    Obj,
    /// A drawing of lines and areas.
    Svg,
    Png,
}

/// Files that describe shapes of another file.
pub trait ShapeLink: Sync {
    /// The name of the file with the shapes, beside this one.
    ///
    /// # Errors
    /// When the file is damaged.
    fn shape_file(&self) -> Result<Option<String>>;
}

pub trait Shapes: Sync {
    /// The possible forms of their drawings.
    fn kinds(&self) -> &'static [SceneFormat];

    /// The format of the file with boxes around these shapes, which is also its ending. It lies beside theirs under the same stem.
    fn companion(&self) -> Option<&'static str> {
        None
    }

    /// The shapes that `options` select, named and placed as far as `context` allows.
    fn draw<'a>(&'a self, context: &Context<'_>, options: Options) -> Result<Box<dyn Drawing + 'a>>;
}

/// Shapes that are ready to be written.
pub trait Drawing {
    /// Guesses and skipped parts, as messages.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// Errors of parts that are skipped because they cannot be read.
    fn damage(&self) -> &[Error] {
        &[]
    }

    /// Files that belong beside the drawing, by name: descriptions of materials, and textures.
    ///
    /// # Errors
    /// When one of them cannot be built.
    fn beside(&self, _kind: SceneFormat) -> Result<Vec<(String, Vec<u8>)>> {
        Ok(Vec::new())
    }

    /// The shapes that pages and pictures show. `None` without any.
    ///
    /// # Errors
    /// When a shape cannot be read.
    fn figure(&self) -> Result<Option<figure::Figure<'_>>> {
        Ok(None)
    }

    /// Notes on parts that a picture of [`Drawing::figure`] leaves out.
    ///
    /// # Errors
    /// When a shape cannot be read.
    fn picture_notes(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Writes the shapes, and returns notes on skipped parts. Pictures are drawn from [`Drawing::figure`] instead.
    ///
    /// # Errors
    /// `Unsupported` for a form that is not among [`Shapes::kinds`], when a part cannot be read, or when `out` fails.
    fn write(&self, kind: SceneFormat, out: &mut dyn Write) -> Result<Vec<String>>;
}

/// The error of a drawing without shapes.
#[cold]
pub fn nothing_to_draw() -> Error {
    Error::of_part(ErrorKind::NotFound { what: "there are no meshes, armour, hulls or boxes to draw".to_owned() }, "")
}

/// The error of a drawing that cannot have a form.
pub fn no_such_kind(kind: SceneFormat) -> Error {
    Error::of_part(ErrorKind::Unsupported { what: format!("such shapes as {kind:?}").into() }, "")
}
