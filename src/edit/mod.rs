//! Edits of any format, and files written anew with them.
//!
//! An [`Edit`] is what `diff` reports: a row of a table by its key, and the cells that become others; or a row that comes,
//! or goes. Edits are resolved against a reader ([`TableEdits`]: numbers of rows and columns, values of the columns' kinds),
//! and a format that writes ([`Writable`]) makes of them the new file as [`Pieces`]: ranges of the old one, and new bytes.
//! Bytes that no edit touches are therefore copied and not made again.
//!
//! Columns that can be written are declared where they are declared to be read: [`Column::writable`] and
//! [`Column::takes`](crate::table::Column::takes). All others are consequences, as offsets and counts are.
//!
//! [`Column::writable`]: crate::table::Column::writable

mod check;
mod copy;
mod editor;
mod fit;
mod index;
mod items;
pub mod patch;
mod pieces;
pub(crate) mod pointers;
pub mod read;
mod resolve;
mod restore;

pub(crate) use check::agrees;
pub use check::differs;
pub use editor::{Editor, Plan, Written};
pub use fit::{From, is_same};
pub(crate) use fit::{like, whole_number};
pub(crate) use items::{Item, ListEdit, Lists};
pub use patch::{Left, key_of};
pub use pieces::{Check, Piece, Pieces, Seal};
pub use resolve::{NTH, Outcome, check_cell, item_cells};
pub use restore::{Of, Restore};

use crate::error::{Error, ErrorKind, Result};
use crate::source::Source;
use crate::table::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// Cells by the names of their columns, with stored values: ids and hashes rather than their texts.
pub type Cells = Vec<(Cow<'static, str>, Value<'static>)>;

/// One edit, as `diff` reports a change.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Edit {
    /// The table; `None` for the main one.
    pub table: Option<Arc<str>>,
    /// The row: the cell of its only key column, or a map of all of them; its number in a table without keys.
    pub key: Value<'static>,
    /// Cells that the row must have for the edit to be made, where it says so.
    pub old: Option<Cells>,
    /// The change of the row.
    pub change: Change,
    /// The line of the patch, or the number of the row, for messages.
    pub origin: Option<u64>,
}

/// The change of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// These cells become others.
    Set(Cells),
    /// It comes, with these cells besides its key.
    Add(Cells),
    /// It goes.
    Remove,
}

impl Edit {
    /// An edit of the row `key` of `table`.
    pub fn new(table: Option<&str>, key: Value<'static>, change: Change) -> Self {
        Self { table: table.map(Arc::from), key, old: None, change, origin: None }
    }
}

/// Resolved cells: numbers of columns, in order, and values of their kinds, which fit.
pub type Set = Vec<(usize, Value<'static>)>;

/// The edits of one table, resolved against a reader and checked: every row is there and is named once, every column can be
/// written and is named once in its row, every value fits its column, and differs from what the file has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableEdits {
    /// The table.
    pub table: String,
    /// Rows of which cells become others, in order.
    pub set: Vec<(usize, Set)>,
    /// Rows that come, in the order in which they are to come. A column that is left out gets what a new row of the format
    /// has there, where there is such a thing; else the writer refuses it.
    pub add: Vec<Set>,
    /// Rows that go, in order. None of them is in `set`.
    pub remove: Vec<usize>,
}

/// One of the edits of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum At {
    /// That of the cells of this row.
    Set(usize),
    /// The row with this number among those that come.
    Add(usize),
    /// This row, which goes.
    Remove(usize),
}

impl TableEdits {
    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.add.is_empty() && self.remove.is_empty()
    }
}

/// A reader whose files can be written anew.
pub trait Writable: Send + Sync {
    /// The new file, as ranges of the old one and new bytes. Edits that do nothing do not come here. What follows from all of
    /// its bytes is left to a [`Seal`].
    ///
    /// # Errors
    /// [`refused`] for an edit that the format has no room for, and whatever is damaged in the parts that must be read.
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces>;

    /// Makes the edits say what the new file will show: ids for the texts of ids in nested values of rows that come, which the file
    /// need not know, and rows with no cells for those that change in consequence.
    ///
    /// # Errors
    /// As [`Writable::write`].
    fn settle(&self, edits: &mut Vec<TableEdits>) -> Result<()> {
        let _ = edits;
        Ok(())
    }

    /// The edits of one table that cannot be made, with the reasons. A format that names all of them at once is asked once
    /// for thousands; one that does not fails for all.
    ///
    /// # Errors
    /// As [`Writable::write`], where it does not show which of the edits is refused.
    fn refusals(&self, edits: &TableEdits) -> Result<Vec<(At, Error)>> {
        self.write(std::slice::from_ref(edits)).map(|_| Vec::new())
    }

    /// The edits that make `entry` what `new` is: the tree that `cat ENTRY -f json` shows, edited. `None` where the format
    /// leaves it to the columns of the main table.
    ///
    /// # Errors
    /// As [`Writable::write`], and `NotFound` for an entry that is not there.
    fn entry(&self, entry: &str, new: &Value<'static>) -> Result<Option<EntryEdit>> {
        let _ = (entry, new);
        Ok(None)
    }

    /// Compares the rows of a table in `new`, the file as it was written, with those of this one and with what was asked,
    /// faster than one by one. `false` where there is no such way for these edits.
    ///
    /// # Errors
    /// [`differs`], and damage.
    fn compare(&self, new: &Source, edits: &TableEdits) -> Result<bool> {
        let _ = (new, edits);
        Ok(false)
    }

    /// The new file with the meshes of a binary glTF. `None` where the format has no meshes that come back.
    ///
    /// # Errors
    /// As [`Writable::write`], and `Damaged` for what is no glTF.
    fn with_meshes(&self, glb: &[u8]) -> Result<Option<Pieces>> {
        let _ = glb;
        Ok(None)
    }

    /// This file with these pieces in place of the file `inner` in it: for archives. `None` where they are not written.
    ///
    /// # Errors
    /// As [`Writable::write`].
    fn replaced(&self, inner: &str, pieces: Pieces) -> Result<Option<Pieces>> {
        let _ = (inner, pieces);
        Ok(None)
    }

    /// The tables that a patch tells of, where those are not all that can be written and follow from no other.
    fn patched(&self) -> Option<Vec<String>> {
        None
    }

    /// The table by whose rows those of other tables are known: once it is edited, their keys are others.
    fn keying(&self) -> Option<&'static str> {
        None
    }
}

/// How an edited entry is written.
#[derive(Debug)]
pub enum EntryEdit {
    /// By edits of rows.
    Edits(Vec<Edit>),
    /// By the format itself, which has compared it.
    Pieces(Pieces),
    /// By the format itself, and the part that counts of the tree that `cat` is to show of it.
    Shown(Pieces, Value<'static>),
}

/// The error for an edit that is wrong usage: it names the column, the value and what fits.
#[cold]
pub fn refused(what: impl Into<Cow<'static, str>>) -> Error {
    Error::without_offset(ErrorKind::Syntax { what: what.into() }, "")
}
