//! Shapes and drawings: what a format offers of its shapes, and what is drawn of them.
//!
//! A format whose files have a shape, alone or with other files, implements [`Shapes`]; files that have data for the shapes of others
//! implement [`ShapeData`].

use crate::asset::Asset;
use crate::atomic_file::{AtomicFile, Overwrite};
use crate::error::{Error, ErrorKind, Result};
use crate::texture_files::TextureFiles;
use crate::{figure, written};
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::Path;

/// Files that name, place or paint shapes of other files, such as a database of models. A reader with this facet is taken beside the
/// file that is drawn.
pub trait ShapeData: Sync {}

/// Other files with data about the shapes that are drawn.
#[derive(Clone, Default)]
pub struct Context<'a> {
    files: Vec<&'a Asset>,
    pub textures: Option<&'a TextureFiles>,
    /// The file that is drawn with the shapes: see [`Shapes::companion`].
    pub companion: Option<&'a Asset>,
    /// Whether the user named none of these files: then it is no note if none of them draws the shapes.
    pub is_implied: bool,
}

impl<'a> Context<'a> {
    /// The context that these files give, whichever they are.
    ///
    /// # Errors
    /// `Unsupported` for a file that knows nothing of shapes: see [`ShapeData`].
    pub fn from_assets(assets: impl IntoIterator<Item = &'a Asset>) -> Result<Self> {
        let files: Vec<&Asset> = assets.into_iter().collect();
        if let Some(other) = files.iter().find(|asset| asset.reader().facet::<dyn ShapeData>().is_none()) {
            let what = format!("naming or placing meshes by a {} file", other.format());
            return Err(Error::of_part(ErrorKind::Unsupported { what: what.into() }, ""));
        }
        Ok(Self { files, ..Self::default() })
    }

    /// The files with data. For data in several of them, the last one counts.
    pub fn files(&self) -> &[&'a Asset] {
        &self.files
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

    /// The shapes that pages show. `None` without any.
    ///
    /// # Errors
    /// When a shape cannot be read.
    fn figure(&self) -> Result<Option<figure::Figure<'_>>> {
        Ok(None)
    }

    /// Writes the shapes, and returns notes on skipped parts.
    ///
    /// # Errors
    /// `Unsupported` for a form that is not among [`Shapes::kinds`], when a part cannot be read, or when `out` fails.
    fn write(&self, kind: SceneFormat, out: &mut dyn Write) -> Result<Vec<String>>;
}

/// Draws the shapes of `asset` to the file `to`, in the form of its ending: `.glb`, `.obj` or `.svg`. A file there is replaced.
/// Returns notes on skipped parts.
///
/// # Errors
/// `Syntax` for another ending, `Unsupported` for a file without shapes or a form that they cannot have, damage, and `Io`.
pub fn draw(asset: &Asset, to: impl AsRef<Path>) -> Result<Vec<String>> {
    let to = to.as_ref();
    let kind = match to.extension().and_then(OsStr::to_str) {
        Some("glb") => SceneFormat::Glb,
        Some("obj") => SceneFormat::Obj,
        Some("svg") => SceneFormat::Svg,
        _ => {
            let what = format!("{}: drawings end in .glb, .obj or .svg", to.display()).into();
            return Err(Error::of_part(ErrorKind::Syntax { what }, ""));
        }
    };
    let shapes = asset.reader().facet::<dyn Shapes>().ok_or_else(|| no_such_kind(kind))?;
    let drawing = shapes.draw(&Context::default(), Options::of_kind(kind))?;
    for (name, bytes) in drawing.beside(kind)? {
        written(fs::write(to.with_file_name(name), bytes))?;
    }
    let mut file = written(AtomicFile::create(to, Overwrite::Replace))?;
    let mut notes = drawing.notes().to_vec();
    notes.extend(drawing.write(kind, &mut file)?);
    written(file.commit())?;
    Ok(notes)
}

/// The error of a drawing that cannot have a form.
pub fn no_such_kind(kind: SceneFormat) -> Error {
    Error::of_part(ErrorKind::Unsupported { what: format!("such shapes as {kind:?}").into() }, "")
}
