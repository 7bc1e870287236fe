use super::{RowCursor, Table, no_cell};
use crate::error::Result;

/// Rows that are skipped one by one rather than looked for anew.
const NEAR: usize = 256;

/// Goes from row to row of one table, forwards best.
pub(crate) struct Seeker<'t> {
    table: &'t dyn Table,
    cursor: Option<(Box<dyn RowCursor + 't>, usize)>,
}

impl<'t> Seeker<'t> {
    pub(crate) fn new(table: &'t dyn Table) -> Self {
        Self { table, cursor: None }
    }

    /// A cursor that stands at `row`.
    ///
    /// # Errors
    /// When there is no such row, or it cannot be reached.
    pub(crate) fn at(&mut self, row: usize) -> Result<&dyn RowCursor> {
        let near = |at: usize| row.checked_sub(at).is_some_and(|gap| gap <= NEAR);
        let (mut cursor, mut at) = match self.cursor.take().filter(|(_, at)| near(*at)) {
            Some(cursor) => cursor,
            None => {
                let mut cursor = self.table.cursor(row);
                self.step(&mut *cursor, row)?;
                (cursor, row)
            }
        };
        while at < row {
            self.step(&mut *cursor, row)?;
            at = at.saturating_add(1);
        }
        let (cursor, _) = self.cursor.insert((cursor, row));
        Ok(&**cursor)
    }

    fn step(&self, cursor: &mut dyn RowCursor, row: usize) -> Result<()> {
        if cursor.advance()? { Ok(()) } else { Err(no_cell(self.table.name(), row, 0)) }
    }
}
