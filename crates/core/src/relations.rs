//! Relations: entries with ids, references between them, and the texts of ids.
//!
//! A format whose records refer to entries, its own or entries of other files, implements [`Relations`]. If its entries
//! have ids, [`Entries`] finds them; if it contains the texts of ids, [`IdTexts`] returns them. `refs`,
//! `resolve` and `string` use nothing else.

use crate::error::{Error, Result};
use crate::report::{Check, Progress};
use crate::table::Value;
use std::borrow::Cow;

/// A reference of an entry to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The referring entry; `None` for a row that is not an entry, such as an instance of a space, and for records
    /// without an entry.
    pub from: Option<u64>,
    pub to: u64,
    pub table: &'static str,
    /// The row there.
    pub row: usize,
    /// The position in the row, such as `render_sets[2].mfm`.
    pub column: String,
    /// The text there, if the reference is a text that no file of texts may know.
    pub text: Option<String>,
}

/// The column for the reference of a path to its folder.
pub const PARENT: &str = "parent_id";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum By {
    /// The id of an entry.
    Id,
    /// A text, by its id. Nothing states whether it is a path.
    Text,
}

/// Selects references, by the id of the target and the form of the reference.
pub type Keep<'k> = &'k (dyn Fn(u64, By) -> bool + Sync);

/// The references that a pass over a file found.
#[derive(Debug)]
pub struct Found {
    /// The references, in file order.
    pub edges: Vec<Edge>,
    /// Errors of records that could not be read.
    pub damage: Check,
    /// Skipped parts of the file, with the reasons.
    pub notes: Vec<String>,
}

impl Default for Found {
    fn default() -> Self {
        Self { edges: Vec::new(), damage: Check::new("references"), notes: Vec::new() }
    }
}

/// A file whose records refer to entries, or whose entries are targets.
pub trait Relations: Sync {
    /// The references that `keep` selects. `progress` counts rows.
    fn references(&self, _keep: Keep<'_>, _progress: &Progress) -> Found {
        Found::default()
    }

    /// The references of the entry `id`. A text counts if it is a path of the file.
    fn references_of(&self, _id: u64) -> Found {
        Found::default()
    }

    /// The file's entries, if they have ids.
    fn entries(&self) -> Option<&dyn Entries> {
        None
    }

    /// The file's texts of ids, if any.
    fn texts(&self) -> Option<&dyn IdTexts> {
        None
    }
}

pub trait Entries: Sync {
    /// Whether an entry has this id. Fast enough for millions of references.
    fn has(&self, _id: u64) -> bool {
        false
    }

    /// The entry with the id or path `query`. Its own path is resolved if `path` is set, or if nothing else is known of
    /// it. `damaged` gets damage found on the way.
    fn resolve(&self, query: &str, path: bool, damaged: &mut dyn FnMut(Error)) -> Result<Option<EntryLocation>>;
}

/// The location of an entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntryLocation {
    pub id: u64,
    /// The entry's path, if known and requested.
    pub path: Option<String>,
    /// The type of its record.
    pub kind: Option<String>,
    /// The number of the database that holds its record.
    pub database: Option<usize>,
    /// The number of its record there.
    pub record: Option<usize>,
    /// The entry's state in the file.
    pub state: Value<'static>,
    /// The offset of its record in the file, and the record's size.
    pub place: Option<(u64, usize)>,
}

/// The texts of ids. A format implements the methods for the kinds of ids that its files have.
pub trait IdTexts: Sync {
    fn path(&self, _id: u64) -> Result<Option<Cow<'_, str>>> {
        Ok(None)
    }

    fn name(&self, _id: u32) -> Result<Option<Cow<'_, str>>> {
        Ok(None)
    }

    /// Passes each text to `add`, and returns whether the file lists its texts: a file with many of them only looks them up.
    ///
    /// # Errors
    /// When the file is damaged.
    fn list(&self, _add: &mut dyn FnMut(&str)) -> Result<bool> {
        Ok(false)
    }

    /// The id of the entry at this path, which a file may compute differently from [`crate::id::of_path`].
    fn id_of_path(&self, _path: &str) -> Option<u64> {
        None
    }

    /// The text that a game shows for this id of a text, as in `IDS_PASB018`.
    ///
    /// # Errors
    /// When it is damaged.
    fn title(&self, _id: &str) -> Result<Option<Cow<'_, str>>> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A format implements what its files have, and has nothing of all else.
    #[test]
    fn a_format_without_texts_of_ids_has_none() {
        struct Without;
        impl IdTexts for Without {}
        let texts: &dyn IdTexts = &Without;
        assert!(texts.path(1).unwrap().is_none() && texts.name(1).unwrap().is_none());
        assert!(texts.id_of_path("a").is_none() && texts.title("IDS_A").unwrap().is_none());
        assert!(!texts.list(&mut |_| panic!("it has no text")).unwrap());
    }
}
