//! What rows take from elsewhere in the file, looked for before they are asked for it: memory answers many questions in
//! the time of one, where none waits for the answer to another.

use crate::error::Result;
use crate::table::{RowCursor, Value};
use std::cell::Cell;
use std::ops::Range;

/// Looks for what several rows take from elsewhere.
pub(super) type Look<'a> = Box<dyn Fn(Range<usize>) + Send + Sync + 'a>;

/// How far a walk has looked for what its rows take from elsewhere in the file.
pub(super) struct Ahead(Cell<usize>);

impl Ahead {
    /// Rows that are looked at together.
    const ROWS: usize = 64;

    /// Of a walk from row `first` on. That one is not looked for: many walks end behind it.
    pub(super) fn from(first: usize) -> Self {
        Self(Cell::new(first.saturating_add(1)))
    }

    /// The rows to look for at `row`, not beyond `end`; `None` where that was done.
    pub(super) fn of(&self, row: usize, end: usize) -> Option<Range<usize>> {
        let rows = row..end.min(row.saturating_add(Self::ROWS));
        let due = row >= self.0.get();
        due.then(|| self.0.set(rows.end));
        due.then_some(rows)
    }
}

/// A walk by the numbers of rows that looks for the cells of one column ahead.
pub(super) struct FarCursor<'t, 'a, R> {
    rows: R,
    column: usize,
    look: &'t Look<'a>,
    ahead: Ahead,
}

impl<'t, 'a, R> FarCursor<'t, 'a, R> {
    /// The walk `rows` from row `first` on.
    pub(super) fn new(rows: R, first: usize, column: usize, look: &'t Look<'a>) -> Self {
        Self { rows, column, look, ahead: Ahead::from(first) }
    }
}

impl<R: RowCursor> RowCursor for FarCursor<'_, '_, R> {
    fn advance(&mut self) -> Result<bool> {
        self.rows.advance()
    }

    fn row(&self) -> usize {
        self.rows.row()
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        if column == self.column
            && let Some(rows) = self.ahead.of(self.row(), usize::MAX)
        {
            (self.look)(rows);
        }
        self.rows.value(column)
    }
}
