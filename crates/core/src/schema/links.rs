//! References between the rows of a declared file: the columns that refer to a table.

use super::{DeclaredFile, FileSchema};
use crate::error::{Error, Result};
use crate::id;
use crate::reader::Reader as _;
use crate::relations::{By, Edge, Entries, EntryLocation, Found, Keep, Relations};
use crate::report::Progress;
use crate::table::{Table, Value};

/// The id of a row, as its unique column and references state it: a number, or an id.
fn id_of(value: &Value<'_>) -> Option<u64> {
    match value {
        Value::Uint(id) | Value::Id64(id) => Some(*id),
        Value::Id32(id) => Some((*id).into()),
        _ => None,
    }
}

/// The column whose cells identify the rows of a table.
fn unique_column(table: &dyn Table) -> Option<usize> {
    table.columns().iter().position(|column| column.unique)
}

impl<F: FileSchema> DeclaredFile<F> {
    /// Calls `each` with every reference, and the row's own id if it has one.
    fn each_reference(&self, found: &mut Found, progress: &Progress, keep: impl Fn(&Edge) -> bool) {
        for (table, array) in self.tables().iter().zip(F::ARRAYS) {
            let id = unique_column(&**table);
            for (at, column) in table.columns().iter().enumerate().filter(|(_, column)| column.refers_to.is_some()) {
                let mut rows = table.cursor(0);
                while let Ok(true) = rows.advance() {
                    progress.advance(1);
                    let Some(value) = found.damage.note(rows.value(at)) else { continue };
                    let Some(to) = id_of(&value) else { continue };
                    let from = id.and_then(|id| rows.value(id).ok()).as_ref().and_then(id_of);
                    let column = column.name.clone().into_owned();
                    let edge = Edge { from, to, table: array.name, row: rows.row(), column, text: None };
                    if keep(&edge) {
                        found.edges.push(edge);
                    }
                }
            }
        }
    }

    /// The table with the entry `id`, and its row there. Entries are the rows of tables that others refer to.
    fn entry_row(&self, id: u64) -> Option<(&'static str, usize)> {
        self.tables().iter().zip(F::ARRAYS).find_map(|(table, array)| {
            let column = unique_column(&**table)?;
            let mut rows = table.cursor_over(0, &[column]);
            while let Ok(true) = rows.advance() {
                if rows.value(column).is_ok_and(|value| id_of(&value) == Some(id)) {
                    return Some((array.name, rows.row()));
                }
            }
            None
        })
    }
}

impl<F: FileSchema> Relations for DeclaredFile<F> {
    fn references(&self, keep: Keep<'_>, progress: &Progress) -> Found {
        let mut found = Found::default();
        self.each_reference(&mut found, progress, |edge| keep(edge.to, By::Id));
        found
    }

    fn references_of(&self, id: u64) -> Found {
        let mut found = Found::default();
        self.each_reference(&mut found, &Progress::default(), |edge| edge.from == Some(id));
        found
    }

    fn entries(&self) -> Option<&dyn Entries> {
        Some(self)
    }
}

impl<F: FileSchema> Entries for DeclaredFile<F> {
    fn has(&self, id: u64) -> bool {
        self.entry_row(id).is_some()
    }

    fn resolve(&self, query: &str, _: bool, _: &mut dyn FnMut(Error)) -> Result<Option<EntryLocation>> {
        let Some(id) = id::parse(query) else { return Ok(None) };
        Ok(self.entry_row(id).map(|(table, row)| EntryLocation {
            id,
            kind: Some(table.to_owned()),
            record: Some(row),
            ..EntryLocation::default()
        }))
    }
}
