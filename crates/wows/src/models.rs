//! Models: render sets that name meshes of a `.geometry`, their materials, and their places.
//!
//! A `.geometry` does not contain which vertices belong to which indices, or names and positions of its meshes. A
//! format that contains some of this implements [`Placements`]; the format with such meshes implements [`Meshes`].

use crate::asset::Asset;
use crate::error::Result;
use crate::relations::IdTexts;
use crate::scene::Context;
use crate::table::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;

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

/// The files of a context that have data about models. For data in several files, the last file counts.
#[derive(Clone, Default)]
pub struct ModelFiles<'a> {
    placements: Vec<&'a dyn Placements>,
    texts: AllTexts<'a>,
}

impl<'a> ModelFiles<'a> {
    pub fn new(context: &Context<'a>) -> Self {
        let mut all = Self::default();
        for asset in context.files() {
            all.placements.extend(asset.reader().facet::<dyn Placements>());
            if let Some(texts) = asset.reader().relations().and_then(|relations| relations.texts()) {
                all.texts.add(texts);
            }
        }
        all
    }

    /// These files, and one that counts only for data that no other file has.
    #[must_use]
    pub fn after<'b>(&self, placements: &'b dyn Placements) -> ModelFiles<'b>
    where
        'a: 'b,
    {
        let mut all: ModelFiles<'b> = self.clone();
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

/// The texts of several files; for an id with several texts, the last file counts.
#[derive(Clone, Default)]
struct AllTexts<'a>(Vec<&'a dyn IdTexts>);

impl<'a> AllTexts<'a> {
    /// Adds the texts of one more file.
    fn add(&mut self, texts: &'a dyn IdTexts) {
        self.0.push(texts);
    }

    fn last<T>(&self, ask: impl Fn(&'a dyn IdTexts) -> Result<Option<T>>) -> Result<Option<T>> {
        self.0.iter().rev().find_map(|texts| ask(*texts).transpose()).transpose()
    }
}

impl IdTexts for AllTexts<'_> {
    fn path(&self, id: u64) -> Result<Option<Cow<'_, str>>> {
        self.last(|texts| texts.path(id))
    }

    fn name(&self, id: u32) -> Result<Option<Cow<'_, str>>> {
        self.last(|texts| texts.name(id))
    }

    fn id_of_path(&self, path: &str) -> Option<u64> {
        self.0.iter().rev().find_map(|texts| texts.id_of_path(path))
    }

    fn title(&self, id: &str) -> Result<Option<Cow<'_, str>>> {
        self.last(|texts| texts.title(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that has one text for one id of each kind.
    struct OneText(u32, &'static str);

    impl IdTexts for OneText {
        fn path(&self, id: u64) -> Result<Option<Cow<'_, str>>> {
            Ok((id == u64::from(self.0)).then(|| self.1.into()))
        }

        fn name(&self, id: u32) -> Result<Option<Cow<'_, str>>> {
            self.path(id.into())
        }

        fn id_of_path(&self, path: &str) -> Option<u64> {
            (path == self.1).then(|| self.0.into())
        }

        fn title(&self, id: &str) -> Result<Option<Cow<'_, str>>> {
            Ok((id == self.0.to_string()).then(|| self.1.into()))
        }
    }

    #[test]
    fn the_last_file_with_a_text_counts() {
        let (first, last) = (OneText(1, "first"), OneText(1, "last"));
        let other = OneText(2, "other");
        let texts = AllTexts(vec![&first, &last, &other]);
        for (id, text) in [(1, Some("last")), (2, Some("other")), (3, None)] {
            assert_eq!(texts.path(id.into()).unwrap().as_deref(), text);
            assert_eq!(texts.name(id).unwrap().as_deref(), text);
            assert_eq!(texts.title(&id.to_string()).unwrap().as_deref(), text);
        }
        assert_eq!(["first", "other", "none"].map(|path| texts.id_of_path(path)), [Some(1), Some(2), None]);
    }

    #[test]
    fn a_property_of_one_value_is_a_number_and_a_flag_is_1_or_0() {
        let mut surface = Surface::new("hull");
        surface.properties = vec![
            ("flag".into(), Property::Value(Value::Bool(true))),
            ("float".into(), Property::Value(Value::F32(0.5))),
            ("int".into(), Property::Value(Value::Int(-3))),
            ("uint".into(), Property::Value(Value::Uint(0))),
            ("list".into(), Property::Value(Value::List(Vec::new()))),
            ("map".into(), Property::Texture("a.dds".into())),
        ];
        for (name, number) in [
            ("flag", Some(1.0)),
            ("float", Some(0.5)),
            ("int", Some(-3.0)),
            ("uint", Some(0.0)),
            ("list", None),
            ("map", None),
            ("none", None),
        ] {
            assert_eq!(
                (surface.number(name), surface.is_set(name)),
                (number, number.is_some_and(|n| n != 0.0)),
                "{name}"
            );
        }
    }
}
