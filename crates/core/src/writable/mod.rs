//! [`Writable`], the interface of formats whose files can be edited: resolved edits ([`TableEdits`]) in, the new file as
//! [`Pieces`]. The editor of any format is above the formats, in `edit`.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "numbers of rows, bytes and texts in memory, which cannot overflow; ranges of a file are checked before"
)]

mod agree;
mod fit;
mod items;
pub mod json;
mod key;
pub mod patches;
mod pieces;

pub use agree::{agrees, differs};
pub use fit::{ValueSource, is_same};
pub use fit::{cut, fit, id_of, key, like, short, short_text, single, typed, what_fits, whole_number};
pub use items::{Item, ListEdit, Lists};
pub use key::{NTH, edit_of_row, key_of};
pub use key::{Nth, key_hashes, keys};
pub use pieces::{Piece, Pieces, ReadBack, Seal};

use crate::error::{Error, ErrorKind, Result};
use crate::report::{Progress, Report};
use crate::table::{Table, Value, column_index};
use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Cells by the names of their columns, with stored values: ids and hashes rather than their texts.
pub type Cells = Vec<(Cow<'static, str>, Value<'static>)>;

/// One edit, as `diff` reports a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// The table; `None` for the main table.
    pub table: Option<Arc<str>>,
    /// The row: the cell of its only key column, or a map of all of them; its number in a table without keys.
    pub key: Value<'static>,
    /// The old cells, if given: the edit is skipped unless the row has them.
    pub old: Option<Cells>,
    pub change: Change,
    /// The line of the patch, or the number of the row, for messages.
    pub origin: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    Set(Cells),
    /// Inserts the row, with these cells besides its key.
    Add(Cells),
    Remove,
}

impl Edit {
    /// An edit of the row `key` of `table`.
    pub fn new(table: Option<&str>, key: Value<'static>, change: Change) -> Self {
        Self { table: table.map(Arc::from), key, old: None, change, origin: None }
    }
}

/// Resolved cells: numbers of columns, in order, and values of their kinds, which fit.
pub type ColumnValues = Vec<(usize, Value<'static>)>;

pub fn cell(cells: &ColumnValues, column: usize) -> Option<&Value<'static>> {
    cells.iter().find(|(at, _)| *at == column).map(|(_, value)| value)
}

pub fn cell_named<'c>(table: &dyn Table, cells: &'c ColumnValues, name: &str) -> Option<&'c Value<'static>> {
    cell(cells, column_index(table, name)?)
}

/// The edits of one table, resolved against a reader and checked: every row exists and is named once, every column is
/// writable and is named once in its row, every value fits its column, and differs from the file's value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableEdits {
    pub table: String,
    /// Rows with changed cells, in order.
    pub set: Vec<(usize, ColumnValues)>,
    /// Inserted rows, in order. A missing column gets the format's value for new rows, if it has one; otherwise the writer refuses the
    /// row.
    pub add: Vec<ColumnValues>,
    /// Deleted rows, in order. None of them is in `set`.
    pub remove: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EditPosition {
    /// The edit of this changed row.
    Set(usize),
    /// The inserted row with this number.
    Add(usize),
    /// This deleted row.
    Remove(usize),
}

impl TableEdits {
    /// Whether there are no edits.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.add.is_empty() && self.remove.is_empty()
    }
}

/// The rows and findings that depend on some bytes of a file.
#[derive(Debug, Default)]
pub struct Reached {
    /// Rows with cells that depend on the bytes, in order, by table.
    pub rows: Vec<(String, Vec<usize>)>,
    /// The checks of `verify` that depend on the bytes, of these rows alone.
    pub report: Report,
}

impl Reached {
    /// The rows of a table.
    pub fn rows_of(&self, table: &str) -> &[usize] {
        self.rows.iter().find(|(name, _)| name == table).map_or(&[], |(_, rows)| rows)
    }
}

/// A reader whose files can be edited.
pub trait Writable: Send + Sync {
    /// The new file, as ranges of the old one and new bytes. Edits without an effect are removed before. Bytes derived
    /// from the whole file are left to a [`Seal`].
    ///
    /// # Errors
    /// [`refused`] for an edit that the format cannot store, and damage in the parts that must be read.
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces>;

    /// Normalizes the edits to the values that the new file will show: ids in place of their texts in nested values of inserted rows, and
    /// rows without cells for rows that change as a consequence.
    ///
    /// # Errors
    /// As [`Writable::write`].
    fn settle(&self, _edits: &mut Vec<TableEdits>) -> Result<()> {
        Ok(())
    }

    /// The edits of one table that cannot be applied, with the reasons. A format that returns all of them is called
    /// once for thousands of edits; otherwise all edits fail.
    ///
    /// # Errors
    /// As [`Writable::write`], if the error does not show which of the edits is refused.
    fn refusals(&self, edits: &TableEdits) -> Result<Vec<(EditPosition, Error)>> {
        self.write(std::slice::from_ref(edits)).map(|_| Vec::new())
    }

    /// The edits that change `entry` to `new`: the edited tree of `cat ENTRY -f json`. `None` if the columns of the
    /// main table suffice.
    ///
    /// # Errors
    /// As [`Writable::write`], and `NotFound` for a missing entry.
    fn entry(&self, _entry: &str, _new: &Value<'static>) -> Result<Option<EntryEdit>> {
        Ok(None)
    }

    /// Compares the rows of a table in `new`, the reader of the written file, with this file and with the edits, faster
    /// than row by row. `false` if these edits cannot be compared in this way.
    ///
    /// # Errors
    /// [`differs`], and damage.
    fn compare(&self, _new: &dyn Any, _edits: &TableEdits) -> Result<bool> {
        Ok(false)
    }

    /// The checks of `verify` whose results may differ from those of `old`, the reader of the file that edits have made this one of.
    /// `None` if any may.
    fn verify_edited(&self, _old: &dyn Any, _progress: &Progress) -> Option<Report> {
        None
    }

    /// The rows and findings that depend on the bytes at these ranges, which are in order and disjoint. An edit has changed this file
    /// there; all other bytes are as in `old`, the reader of the old file, at the same offsets. Only these rows are compared and
    /// verified. `None` if any row may depend on these bytes.
    fn reached(&self, _old: &dyn Any, _changed: &[Range<usize>]) -> Option<Reached> {
        None
    }

    /// The new file with the meshes of a binary glTF. `None` if the format cannot import meshes.
    ///
    /// # Errors
    /// As [`Writable::write`], and `Damaged` for an invalid glTF.
    fn with_meshes(&self, _glb: &[u8]) -> Result<Option<Pieces>> {
        Ok(None)
    }

    /// This file with these pieces in place of the file `inner` in it, for archives. `None` if the archive cannot be
    /// written.
    ///
    /// # Errors
    /// As [`Writable::write`].
    fn replaced(&self, _inner: &str, _pieces: Pieces) -> Result<Option<Pieces>> {
        Ok(None)
    }

    /// The tables of a patch; by default all writable tables that are not derived.
    fn patched(&self) -> Option<Vec<String>> {
        None
    }

    /// The table that keys the rows of other tables: editing it changes their keys.
    fn keying(&self) -> Option<&'static str> {
        None
    }
}

/// The method of writing an edited entry.
#[derive(Debug)]
pub enum EntryEdit {
    /// By edits of rows.
    Edits(Vec<Edit>),
    /// By the format itself, which has compared it.
    Pieces(Pieces),
    /// By the format itself, with the part of the tree that `cat` must show.
    Shown(Pieces, Value<'static>),
}

/// The error for an entry that the file does not have.
#[cold]
pub fn no_entry(entry: &str) -> Error {
    Error::of_part(ErrorKind::NotFound { what: format!("entry {} not found", short_text(entry)) }, "")
}

/// The error of wrong usage: it names the column, the value and what fits.
#[cold]
pub fn refused(what: impl Into<Cow<'static, str>>) -> Error {
    Error::syntax(what)
}
