//! Models, `.model`: the visual that a model shows, and in older files the model of the next level of detail.

use super::document::{Document, ElementRef};
use super::references::{PathCell, Texts};
use super::visual::{flag, number, text_list, texts};
use crate::error::Result;
use crate::lazy::Lazy;
use crate::options::Options;
use crate::reader::{Facet, Reader, facets};
use crate::relations::Relations;
use crate::scene::ShapeLink;
use crate::source::Source;
use crate::table::{Column, DeclaredTable, Table};
use crate::writable::Writable;

/// The ending of names of files.
pub(super) const ENDING: &str = ".model";

/// An open `.model` file.
#[derive(Debug)]
pub struct ModelFile {
    pub(super) source: Source,
    document: Lazy<Document>,
    texts: Lazy<Texts>,
}

impl ModelFile {
    fn read(source: Source, _: &Options) -> Result<Self> {
        Ok(Self { source, document: Lazy::default(), texts: Lazy::default() })
    }

    pub(super) fn root(&self) -> Result<ElementRef<'_>> {
        Ok(self.document.get_or_try_init(|| Document::parse(&self.source))?.root(&self.source))
    }

    /// The path of the visual, with its ending.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn visual(&self) -> Result<Option<String>> {
        visual(self.root()?)
    }

    /// The path of the model of the next level of detail, with its ending; older files alone have one.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn parent(&self) -> Result<Option<String>> {
        parent(self.root()?)
    }

    /// The paths of the visual and of the next level's model.
    pub(super) fn paths(&self) -> Result<Vec<PathCell>> {
        let mut cells = Vec::new();
        for (column, path) in [("visual", self.visual()?), ("parent", self.parent()?)] {
            cells.extend(path.map(|path| PathCell { path, table: "models", row: 0, column: column.into() }));
        }
        Ok(cells)
    }

    pub(super) fn texts(&self) -> Result<&Texts> {
        self.texts.get_or_try_init(|| Ok(Texts::new(self.paths()?.into_iter().map(|cell| cell.path), Vec::new())))
    }
}

/// `path` with `/` between folders and with an ending: older files leave the ending out.
fn with_ending(path: &str, ending: &str) -> String {
    let path = path.replace('\\', "/");
    if path.ends_with(ending) { path } else { path + ending }
}

pub(super) fn visual_element(root: ElementRef<'_>) -> Result<Option<ElementRef<'_>>> {
    for name in ["visual", "nodefullVisual", "nodelessVisual"] {
        if let Some(node) = root.child(name)
            && !node.text()?.is_empty()
        {
            return Ok(Some(node));
        }
    }
    Ok(None)
}

fn visual(root: ElementRef<'_>) -> Result<Option<String>> {
    let path = visual_element(root)?.map(ElementRef::text).transpose()?;
    Ok(path.map(|path| with_ending(&path, super::visual::ENDING)))
}

fn parent(root: ElementRef<'_>) -> Result<Option<String>> {
    Ok(root.text_of("parent")?.map(|path| with_ending(&path, ENDING)))
}

super::text_format!(ModelFile, "model", ENDING, "A model of a mod");

impl ShapeLink for ModelFile {
    fn shape_file(&self) -> Result<Option<String>> {
        let visual = self.visual()?;
        let stem = visual.as_deref().map(|path| crate::file_name(path).trim_end_matches(super::visual::ENDING));
        Ok(stem.map(|stem| format!("{stem}{}", super::visual::GEOMETRY)))
    }
}

impl Reader for ModelFile {
    fn source(&self) -> &Source {
        &self.source
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Writable, Relations, ShapeLink]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        let models = DeclaredTable::new("models", || Ok(1), |row| (row == 0).then(|| self.root()).transpose())
            .column(Column::text("visual").brief().writable(), |root| Ok(visual(*root)?.into()))
            .column(Column::text("parent").brief().writable(), |root| Ok(parent(*root)?.into()))
            .column(Column::f32("extent").brief().writable(), |root| number(*root, "extent"))
            .column(Column::bool("casts_shadow").brief().writable(), |root| flag(*root, "castsShadow"))
            .column(text_list("animations"), |root| texts(root.child("animations"), "animation"))
            .column(text_list("dyes"), |root| texts(root.child("dyes"), "dye"));
        vec![Box::new(models)]
    }
}
