//! Relations: entries that files know by ids, references between them, and the texts that ids stand for.
//!
//! A format whose records refer to entries, its own or entries of other files, implements [`Relations`]. Where its
//! entries have ids, [`Entries`] finds them; where it knows the texts of ids, [`Texts`] gives them.
//! [`refs`](crate::refs), `resolve` and `string` ask for nothing else.

use crate::error::{Error, Result};
use crate::report::{Check, Progress};
use crate::table::Value;
use std::borrow::Cow;
use std::fmt;

/// A reference of an entry to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edge {
    /// The entry that refers; `None` for a row that is no entry, as the instances of a space, and for records that belong
    /// to none.
    pub from: Option<u64>,
    /// The entry that it refers to.
    pub to: u64,
    /// The table in which the reference stands.
    pub table: &'static str,
    /// The row there.
    pub row: usize,
    /// The place in the row, as in `render_sets[2].mfm`.
    pub column: String,
}

/// The column of a reference of a path to the folder that it lies in.
pub const PARENT: &str = "parent_id";

/// The form of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum By {
    /// The id of an entry.
    Id,
    /// A text, whose id is given. Whether it is the text of a path nothing says.
    Text,
}

/// Tells which references are wanted, by the id that is referred to and the form of the reference.
pub type Keep<'k> = &'k (dyn Fn(u64, By) -> bool + Sync);

/// The references that a pass over a file found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Found {
    /// The references, in file order.
    pub edges: Vec<Edge>,
    /// Errors of records that could not be read.
    pub damage: Check,
    /// Parts of the file that were left out, and the reasons.
    pub notes: Vec<String>,
}

impl Found {
    /// An empty one.
    pub fn new() -> Self {
        Self { edges: Vec::new(), damage: Check::new("references"), notes: Vec::new() }
    }
}

impl Default for Found {
    fn default() -> Self {
        Self::new()
    }
}

/// A file whose records refer to entries, or whose entries others refer to.
pub trait Relations: Sync {
    /// The references that `keep` wants. `progress` counts rows.
    fn references(&self, keep: Keep<'_>, progress: &Progress) -> Found;

    /// The references of the entry `id`. A text counts where it is a path of the file.
    fn references_of(&self, id: u64) -> Found {
        let _ = id;
        Found::new()
    }

    /// Its entries, where they have ids.
    fn entries(&self) -> Option<&dyn Entries> {
        None
    }

    /// Its texts of ids, where it has some.
    fn texts(&self) -> Option<&dyn Texts> {
        None
    }
}

/// Entries that are known by ids.
pub trait Entries: Sync {
    /// Whether an entry has this id. Quick enough to be asked for each of millions of references.
    fn has(&self, id: u64) -> bool;

    /// The entry with the id or path `query`. Its own path is resolved if `path` is set, or if nothing else is known of
    /// it. `damaged` gets damage found on the way.
    fn resolve(&self, query: &str, path: bool, damaged: &mut dyn FnMut(Error)) -> Result<Option<Entry>>;
}

/// The place of an entry.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// Its id.
    pub id: u64,
    /// Its path, where it is known and was asked for.
    pub path: Option<String>,
    /// The type of its record.
    pub kind: Option<String>,
    /// The number of the database that holds its record.
    pub database: Option<usize>,
    /// The number of its record there.
    pub record: Option<usize>,
    /// The state that the file gives it.
    pub state: Value<'static>,
    /// The offset of its record in the file, and the bytes that it has.
    pub place: Option<(u64, usize)>,
}

/// Texts that ids stand for.
pub trait Texts: Sync {
    /// The path with this id.
    fn path(&self, id: u64) -> Result<Option<Cow<'_, str>>>;

    /// The name with this id.
    fn name(&self, id: u32) -> Result<Option<Cow<'_, str>>>;

    /// The id of the entry at this path, which a file may make otherwise than [`crate::id::of_path`].
    fn id_of_path(&self, path: &str) -> Option<u64>;
}

/// The texts of several files: of two that know the same, the last one counts.
#[derive(Clone, Default)]
pub struct AllTexts<'a>(Vec<&'a dyn Texts>);

impl fmt::Debug for AllTexts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AllTexts of {} files", self.0.len())
    }
}

impl<'a> AllTexts<'a> {
    /// Adds the texts of one more file.
    pub fn add(&mut self, texts: &'a dyn Texts) {
        self.0.push(texts);
    }

    fn last<T>(&self, ask: impl Fn(&'a dyn Texts) -> Result<Option<T>>) -> Result<Option<T>> {
        self.0.iter().rev().find_map(|texts| ask(*texts).transpose()).transpose()
    }
}

impl Texts for AllTexts<'_> {
    fn path(&self, id: u64) -> Result<Option<Cow<'_, str>>> {
        self.last(|texts| texts.path(id))
    }

    fn name(&self, id: u32) -> Result<Option<Cow<'_, str>>> {
        self.last(|texts| texts.name(id))
    }

    fn id_of_path(&self, path: &str) -> Option<u64> {
        self.0.iter().rev().find_map(|texts| texts.id_of_path(path))
    }
}
