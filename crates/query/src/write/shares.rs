//! Rows of a table, read by all threads in shares and handed over in order.

use crate::error::{Error, Result};
use crate::table::{RowCursor, Table, advance};
use crate::threads::{self, prelude::*};
use std::ops::Range;

/// Rows and damage that a walk of all threads meets.
#[derive(Debug)]
pub enum SinkEvent {
    /// A number of further rows.
    Rows(usize),
    /// A row that is not taken, by its number, or no further row where one should be.
    Damage(Option<usize>, Error),
}

/// Gathers rows into the pieces of an output. Several readers work at once.
pub(super) trait ShareReader: Send {
    /// Rows as the output takes them.
    type Piece: Send;

    const ROWS: usize;

    /// Adds the cells of `columns` of the current row of `row`: the whole row, or nothing of it and an error.
    fn add(&mut self, row: &dyn RowCursor, columns: &[usize]) -> Result<()>;

    /// Whether the piece ends here whatever its rows. It ends before a damaged row, so that damage is met in order.
    fn is_full(&self) -> bool;

    /// Removes and returns the rows that were added since the last piece.
    fn take(&mut self) -> Result<Self::Piece>;
}

struct Share<P> {
    piece: Result<P>,
    damage: Vec<(Option<usize>, Error)>,
    /// The number of rows that were read, damaged ones included.
    read: usize,
    ended: bool,
}

/// Reads `columns` of the rows `range` of `table` by all but one of `readers` at once, and hands their pieces over in order;
/// further rows are read meanwhile. The last reader reads rows that did not fit into their piece. `None` if a walk cannot
/// begin at any row, or its end is not known.
pub(super) fn read_all<R: ShareReader, E: From<Error>>(
    mut readers: Vec<R>,
    table: &dyn Table,
    range: Range<usize>,
    columns: &[usize],
    mut met: impl FnMut(SinkEvent) -> Result<(), E>,
    mut hand_over: impl FnMut(R::Piece) -> Result<(), E>,
) -> Option<Result<(), E>> {
    if !table.nature().random_access {
        return None;
    }
    let mut rest = readers.pop()?;
    // A walk in order reads the rows before the damage for which they cannot be counted.
    let walk = Walk { table, columns, len: table.len().ok()?.min(range.end) };
    Some(walk.read(readers, range.start, |mut left, mut share| {
        loop {
            hand_over(share.piece?)?;
            met(SinkEvent::Rows(share.read))?;
            share.damage.into_iter().try_for_each(|(row, error)| met(SinkEvent::Damage(row, error)))?;
            left.start += share.read;
            if share.ended || left.is_empty() {
                return Ok(!share.ended);
            }
            // Rows with much text, and rows after a damaged one, are not in the first piece.
            share = walk.share(&mut rest, left.clone());
        }
    }))
}

struct Walk<'t> {
    table: &'t dyn Table,
    columns: &'t [usize],
    /// The number of rows up to the end of the walk.
    len: usize,
}

impl Walk<'_> {
    /// The rows of share `number`, of shares that begin at row `first`.
    fn rows<R: ShareReader>(&self, first: usize, number: usize) -> Range<usize> {
        let start = (first + number * R::ROWS).min(self.len);
        start..(start + R::ROWS).min(self.len)
    }

    /// A share for each reader, from row `first` on; none past the last row.
    fn shares<R: ShareReader>(&self, first: usize, readers: &mut [R]) -> Vec<Share<R::Piece>> {
        match self.len.saturating_sub(first) {
            0 => Vec::new(),
            // No thread is needed for few rows.
            left if left <= R::ROWS => {
                readers.iter_mut().take(1).map(|reader| self.share(reader, first..self.len)).collect()
            }
            _ => {
                let readers = Parallel::into_par_iter(readers).with_max_len(1).enumerate();
                readers.map(|(number, reader)| self.share(reader, self.rows::<R>(first, number))).collect()
            }
        }
    }

    /// Reads all rows from row `next` on, and gives the shares to `each` with the rows that each should have, until it
    /// returns `false`. Further shares are read meanwhile.
    fn read<R: ShareReader, E>(
        &self,
        mut readers: Vec<R>,
        mut next: usize,
        mut each: impl FnMut(Range<usize>, Share<R::Piece>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut shares = self.shares(next, &mut readers);
        while !shares.is_empty() {
            let after = self.rows::<R>(next, readers.len()).start;
            let mut ahead = Vec::new();
            let goes_on = if threads::count() > 1 && after < self.len {
                threads::scope(|scope| {
                    scope.spawn(|_| ahead = self.shares(after, &mut readers));
                    self.give::<R, E>(next, shares, &mut each)
                })?
            } else {
                self.give::<R, E>(next, shares, &mut each)?
            };
            if !goes_on {
                break;
            }
            shares = if ahead.is_empty() { self.shares(after, &mut readers) } else { ahead };
            next = after;
        }
        Ok(())
    }

    fn give<R: ShareReader, E>(
        &self,
        first: usize,
        shares: Vec<Share<R::Piece>>,
        each: &mut impl FnMut(Range<usize>, Share<R::Piece>) -> Result<bool, E>,
    ) -> Result<bool, E> {
        for (number, share) in shares.into_iter().enumerate() {
            if !each(self.rows::<R>(first, number), share)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads the first of `rows`, as many as one piece takes.
    fn share<R: ShareReader>(&self, reader: &mut R, rows: Range<usize>) -> Share<R::Piece> {
        let (mut read, mut ended, mut damage) = (0usize, false, Vec::new());
        if !rows.is_empty() {
            let mut cursor = self.table.cursor_over(rows.start, Some(self.columns));
            while read < rows.len() && !reader.is_full() {
                ended = !advance(&mut *cursor, |error| damage.push((None, error)));
                if ended {
                    break;
                }
                read += 1;
                if let Err(error) = reader.add(&*cursor, self.columns) {
                    damage.push((Some(cursor.row()), error));
                }
            }
        }
        Share { piece: reader.take(), damage, read, ended }
    }
}
