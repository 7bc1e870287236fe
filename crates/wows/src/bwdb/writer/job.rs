//! A table to write: its rows in the file, the patches of their bytes, and the edits that cannot be applied.

use crate::bwdb::lists::RowTarget;
use crate::error::{Error, Result};
use crate::reader::Reader;
use crate::table::{Table, Value, column_index};
use crate::writable::patches::Patches;
use crate::writable::{ColumnValues, EditPosition, Item, ListEdit, TableEdits, cell_named, refused, short_text};

/// Whether these cells of a row require rewriting the whole list.
pub(super) fn rearranges(rows: RowTarget, table: &dyn Table, cells: &ColumnValues) -> bool {
    let columns: &[&str] = match rows {
        RowTarget::Properties => &["type"],
        RowTarget::Nodes { .. } => &["name_id", PARENT],
        RowTarget::Records(_) | RowTarget::Elements(_) => &[],
    };
    columns.iter().any(|column| cell_named(table, cells, column).is_some())
}

/// A table that is written, and its edits.
pub(super) struct Job<'t, 'p> {
    pub(super) table: &'t dyn Table,
    pub(super) patches: &'p mut Patches,
    /// Columns of the table that are derived, or contain texts of ids.
    pub(super) follows: &'p mut Vec<(String, usize)>,
}

impl Job<'_, '_> {
    pub(super) fn follow(&mut self, column: usize) {
        follow(self.follows, self.table.name(), column);
    }

    pub(super) fn number(&self, row: usize, column: &str) -> Result<usize> {
        let at = column_index(self.table, column).ok_or_else(|| refused(format!("no column {column}")))?;
        match self.table.value(row, at)? {
            Value::Uint(number) => usize::try_from(number).map_err(|_| refused(format!("no row has number {number}"))),
            _ => Err(refused(format!("{}: row {row} has no {column}", self.table.name()))),
        }
    }
}

/// The name of a column with an edited cell.
pub(super) fn column_name(table: &dyn Table, column: usize) -> &str {
    &table.columns().get(column).expect("edits are resolved to columns of the table").name
}

/// Registers a column that is derived, or contains texts of ids.
pub(super) fn follow(follows: &mut Vec<(String, usize)>, table: &str, column: usize) {
    if !follows.iter().any(|(other, at)| other == table && *at == column) {
        follows.push((table.to_owned(), column));
    }
}

pub(super) fn table<'a>(reader: &'a dyn Reader, name: &str) -> Result<Box<dyn Table + 'a>> {
    reader.table(name).ok_or_else(|| refused(format!("no table {}", short_text(name))))
}

/// Why a list cannot be written, and the edit that is to blame, if it is one.
pub(super) struct Wrong {
    pub at: Option<EditPosition>,
    pub error: Error,
}

impl Wrong {
    pub fn new(at: EditPosition, error: Error) -> Self {
        Self { at: Some(at), error }
    }
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self { at: None, error }
    }
}

/// A list that is written, its edits among the edits of its table, and its items after them.
#[derive(Clone, Copy)]
pub(super) struct Listed<'e> {
    pub edits: &'e TableEdits,
    pub list: &'e ListEdit,
    pub items: &'e [Item],
}

impl<'e> Listed<'e> {
    /// The row and the cells of an edited item that is kept.
    pub fn edited(self, item: usize) -> Option<&'e (usize, ColumnValues)> {
        self.edits.set.get(*self.list.set.get(&item)?)
    }
}

/// The column of the number of a node's parent.
pub(super) const PARENT: &str = "parent";
