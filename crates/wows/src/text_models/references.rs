//! References of text models to files of the game by path, and the texts whose hashes are ids in other files.

use super::{Material, ModelFile, VisualFile};
use crate::error::Result;
use crate::id;
use crate::relations::{By, Edge, Found, IdTexts, Keep, Relations};
use crate::report::Progress;
use std::borrow::Cow;
use std::collections::HashMap;

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
    pub(super) fn new(paths: impl IntoIterator<Item = String>, names: Vec<String>) -> Self {
        Self {
            paths: paths.into_iter().map(|path| (id::of_path(&path), path)).collect(),
            names: names.into_iter().map(|name| (id::of_name(&name), name)).collect(),
        }
    }
}

/// The references among `paths` that `keep` selects. The file does not contain its own path, so that a reference has no entry
/// that it comes from.
fn references(paths: Result<Vec<PathCell>>, keep: Keep<'_>) -> Found {
    let mut found = Found::default();
    for PathCell { path, table, row, column } in found.damage.note(paths).into_iter().flatten() {
        let to = id::of_path(&path);
        if keep(to, By::Id) {
            found.edges.push(Edge { from: None, to, table, row, column: column.into_owned(), text: Some(path) });
        }
    }
    found
}

macro_rules! relations {
    ($($type:ty),+) => {$(
        impl Relations for $type {
            fn references(&self, keep: Keep<'_>, _: &Progress) -> Found {
                references(self.paths(), keep)
            }

            fn texts(&self) -> Option<&dyn IdTexts> {
                Some(self)
            }
        }

        impl IdTexts for $type {
            fn path(&self, id: u64) -> Result<Option<Cow<'_, str>>> {
                Ok(self.texts()?.paths.get(&id).map(|path| path.as_str().into()))
            }

            fn name(&self, id: u32) -> Result<Option<Cow<'_, str>>> {
                Ok(self.texts()?.names.get(&id).map(|name| name.as_str().into()))
            }

            fn list(&self, add: &mut dyn FnMut(&str)) -> Result<bool> {
                let Texts { paths, names } = self.texts()?;
                paths.values().chain(names.values()).for_each(|text| add(text));
                Ok(true)
            }
        }
    )+};
}

relations!(VisualFile, ModelFile, Material);
