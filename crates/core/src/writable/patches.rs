//! The patches of a file's bytes, such as cells in the fields of their columns.

use super::{TableEdits, refused, short, what_fits};
use crate::bytes::View;
use crate::error::{Error, Result};
use crate::table::{Column, Value, no_cell};
use std::collections::BTreeMap;
use std::ops::Range;

/// The changed bytes of a file.
#[derive(Debug, Default)]
pub struct Patches {
    new: BTreeMap<usize, Vec<u8>>,
    /// Where they are, in the order in which they were noted.
    noted: Vec<usize>,
}

impl Patches {
    /// The number of notes so far, to return to.
    pub fn mark(&self) -> usize {
        self.noted.len()
    }

    /// Drops all changes after a mark.
    pub fn back_to(&mut self, mark: usize) {
        for at in self.noted.drain(mark.min(self.noted.len())..) {
            self.new.remove(&at);
        }
    }

    /// Notes that `bytes` are at `at`.
    ///
    /// # Errors
    /// Wrong usage if another edit writes different bytes to some of them.
    pub fn write_at(&mut self, at: usize, bytes: &[u8]) -> Result<()> {
        let end = at + bytes.len();
        let near = self.new.range(..end).next_back();
        if let Some((&other, old)) = near
            && other + old.len() > at
        {
            return if (other, old.as_slice()) == (at, bytes) { Ok(()) } else { Err(two_edits()) };
        }
        self.new.insert(at, bytes.to_vec());
        self.noted.push(at);
        Ok(())
    }

    /// Notes the new bytes of a field that was borrowed from `file`.
    ///
    /// # Errors
    /// As [`Patches::write_at`].
    pub fn put_field<'a, T>(&mut self, file: View<'a>, field: &'a T, bytes: &[u8]) -> Result<()> {
        self.write_at(file.locate(field).position(), bytes)
    }

    /// Notes the changed cells of a table, each in the declared field of its column. `record` returns the position of the record
    /// of a row.
    ///
    /// # Errors
    /// [`refused`] for a cell that is no field, and the errors of `record` and [`Patches::write_at`].
    pub fn set<'a>(
        &mut self,
        columns: &[Column],
        edits: &TableEdits,
        record: impl Fn(usize) -> Result<View<'a>>,
    ) -> Result<()> {
        for (row, cells) in &edits.set {
            let record = record(*row)?;
            for (number, value) in cells {
                let column = columns.get(*number).ok_or_else(|| no_cell(&edits.table, *row, *number))?;
                let Some(field) = column.field else { return Err(unfit(edits, column, value)) };
                let bytes = field.encode(value).ok_or_else(|| unfit(edits, column, value))?;
                self.write_at(record.skip(field.offset).position(), &bytes)?;
            }
        }
        Ok(())
    }

    /// Whether the byte at `at` changes.
    pub fn has(&self, at: usize) -> bool {
        let near = self.new.range(..=at).next_back();
        near.is_some_and(|(start, bytes)| at < start + bytes.len())
    }

    pub fn into_stretches(self) -> impl Iterator<Item = (Range<usize>, Vec<u8>)> {
        self.new.into_iter().map(|(at, bytes)| (at..at + bytes.len(), bytes))
    }

    pub fn is_empty(&self) -> bool {
        self.new.is_empty()
    }
}

/// The error of two edits that would write one place.
#[cold]
pub fn two_edits() -> Error {
    refused("two edits write the same bytes: a value that is shown by two columns, or in two tables")
}

#[cold]
fn unfit(edits: &TableEdits, column: &Column, value: &Value<'_>) -> Error {
    let what = what_fits(column);
    refused(format!("{}: column {}: {} does not fit: {what}", edits.table, column.name, short(value)))
}
