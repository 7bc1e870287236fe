//! References of text models to files of the game by path, and the texts whose hashes are ids in other files.

use super::{Material, ModelFile, VisualFile};
use crate::error::Result;
use crate::id;
use crate::relations::{By, Edge, Found, IdTexts, Keep, Relations};
use crate::report::Progress;
use std::borrow::Cow;
use std::collections::HashMap;

/// A path in a cell of a table.
#[derive(Debug)]
pub(super) struct PathCell {
    pub(super) path: String,
    pub(super) table: &'static str,
    pub(super) row: usize,
    pub(super) column: Cow<'static, str>,
}

/// The paths and the names of a file by the ids that they hash to.
#[derive(Debug, Default)]
pub(super) struct Texts {
    paths: HashMap<u64, String>,
    names: HashMap<u32, String>,
}

impl Texts {
    pub(super) fn new(paths: Vec<PathCell>, names: Vec<String>) -> Self {
        Self {
            paths: paths.into_iter().map(|cell| (id::of_path(&cell.path), cell.path)).collect(),
            names: names.into_iter().map(|name| (id::of_name(&name), name)).collect(),
        }
    }

    fn path(&self, id: u64) -> Option<Cow<'_, str>> {
        self.paths.get(&id).map(|path| path.as_str().into())
    }

    fn name(&self, id: u32) -> Option<Cow<'_, str>> {
        self.names.get(&id).map(|name| name.as_str().into())
    }

    fn list(&self, add: &mut dyn FnMut(&str)) {
        self.paths.values().chain(self.names.values()).for_each(|text| add(text));
    }
}

/// The references among `paths` that `keep` selects. The file does not contain its own path, so that a reference has no entry
/// that it comes from.
fn references(paths: Result<Vec<PathCell>>, keep: Keep<'_>) -> Found {
    let mut found = Found::new();
    for PathCell { path, table, row, column } in found.damage.note(paths).into_iter().flatten() {
        let to = id::of_path(&path);
        if keep(to, By::Id) {
            found.edges.push(Edge { from: None, to, table, row, column: column.into_owned(), text: Some(path) });
        }
    }
    found
}

impl Relations for VisualFile {
    fn references(&self, keep: Keep<'_>, _: &Progress) -> Found {
        references(self.paths(), keep)
    }

    fn texts(&self) -> Option<&dyn IdTexts> {
        Some(self)
    }
}

impl IdTexts for VisualFile {
    fn path(&self, id: u64) -> Result<Option<Cow<'_, str>>> {
        Ok(self.texts()?.path(id))
    }

    fn name(&self, id: u32) -> Result<Option<Cow<'_, str>>> {
        Ok(self.texts()?.name(id))
    }

    fn list(&self, add: &mut dyn FnMut(&str)) -> Result<bool> {
        self.texts()?.list(add);
        Ok(true)
    }
}

impl Relations for ModelFile {
    fn references(&self, keep: Keep<'_>, _: &Progress) -> Found {
        references(self.paths(), keep)
    }

    fn texts(&self) -> Option<&dyn IdTexts> {
        Some(self)
    }
}

impl IdTexts for ModelFile {
    fn path(&self, id: u64) -> Result<Option<Cow<'_, str>>> {
        let paths = self.paths()?.into_iter().map(|cell| cell.path);
        Ok(paths.map(Cow::Owned).find(|path| id::of_path(path) == id))
    }

    fn list(&self, add: &mut dyn FnMut(&str)) -> Result<bool> {
        self.paths()?.iter().for_each(|cell| add(&cell.path));
        Ok(true)
    }
}

impl Relations for Material {
    fn references(&self, keep: Keep<'_>, _: &Progress) -> Found {
        references(Ok(self.paths()), keep)
    }

    fn texts(&self) -> Option<&dyn IdTexts> {
        Some(self)
    }
}

impl IdTexts for Material {
    fn path(&self, id: u64) -> Result<Option<Cow<'_, str>>> {
        let surface = self.surface();
        let mut paths = surface.textures().map(|(_, path)| path).chain([surface.fx.as_str()]);
        Ok(paths.find(|path| id::of_path(path) == id).map(Cow::Borrowed))
    }

    fn name(&self, id: u32) -> Result<Option<Cow<'_, str>>> {
        let mut names = self.surface().properties.iter().map(|(name, _)| name.as_str());
        Ok(names.find(|name| id::of_name(name) == id).map(Cow::Borrowed))
    }

    fn list(&self, add: &mut dyn FnMut(&str)) -> Result<bool> {
        let surface = self.surface();
        surface.textures().map(|(_, path)| path).chain([surface.fx.as_str()]).for_each(&mut *add);
        surface.properties.iter().for_each(|(name, _)| add(name));
        Ok(true)
    }
}
