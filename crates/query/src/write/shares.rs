//! Rows of a table, read by all threads in shares and handed over in order.

use crate::error::{Error, Result};
use crate::table::{RowCursor, Table};
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

    /// The most rows of a piece.
    const ROWS: usize;

    /// Adds the cells of `columns` of the current row of `row`: the whole row, or nothing of it and an error.
    ///
    /// # Errors
    /// For a damaged cell, and for a cell that the output cannot hold.
    fn add(&mut self, row: &dyn RowCursor, columns: &[usize]) -> Result<()>;

    /// Whether the piece ends here whatever its rows. It ends before a damaged row, so that damage is met in order.
    fn is_full(&self) -> bool;

    /// Takes the rows that were added since the last piece.
    ///
    /// # Errors
    /// When they cannot be put together.
    fn take(&mut self) -> Result<Self::Piece>;
}

/// The rows that one thread read at once.
struct Share<P> {
    piece: Result<P>,
    damage: Vec<(Option<usize>, Error)>,
    /// The number of rows that were read, damaged ones included.
    read: usize,
    /// Whether there are no further rows.
    ended: bool,
}

/// Reads `columns` of the rows `range` of `table` by all but one of `readers` at once, and hands their pieces over in order;
/// further rows are read meanwhile. The last reader reads rows that did not fit into their piece. `None` if a walk cannot
/// begin at any row.
///
/// # Errors
/// The errors of `met` and `hand_over`, and when the rows cannot be counted.
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
    let mut each = |share: Share<R::Piece>| {
        let (read, ended) = (share.read, share.ended);
        hand_over(share.piece?)?;
        met(SinkEvent::Rows(read))?;
        share.damage.into_iter().try_for_each(|(row, error)| met(SinkEvent::Damage(row, error)))?;
        Ok::<_, E>(if ended { None } else { Some(read) })
    };
    let mut rest = readers.pop()?;
    let count = readers.len();
    let mut read = || {
        let len = table.len()?.min(range.end);
        let rows = |next: usize, number: usize| {
            let start = (next + number.saturating_mul(R::ROWS)).min(len);
            start..(start + R::ROWS).min(len)
        };
        let read = |next: usize, readers: &mut [R]| -> Vec<Share<R::Piece>> {
            let read = |(number, reader)| read(reader, table, columns, rows(next, number));
            // No thread is needed for few rows.
            if len.saturating_sub(next) <= R::ROWS {
                return readers.first_mut().map(|reader| read((0, reader))).into_iter().collect();
            }
            Parallel::into_par_iter(readers).with_max_len(1).enumerate().map(read).collect()
        };
        let mut next = range.start;
        let mut shares = if next < len { read(next, &mut readers) } else { Vec::new() };
        while !shares.is_empty() {
            let after = rows(next, count).start;
            let mut give = || {
                for (number, share) in shares.drain(..).enumerate() {
                    let mut left = rows(next, number);
                    let mut taken = each(share)?;
                    // Rows with much text, and rows after a damaged one, are not in the first piece.
                    while let Some(read) = taken {
                        left.start += read;
                        if left.is_empty() {
                            break;
                        }
                        taken = each(self::read(&mut rest, table, columns, left.clone()))?;
                    }
                    if taken.is_none() {
                        return Ok(false);
                    }
                }
                Ok::<_, E>(true)
            };
            let mut ahead = Vec::new();
            let goes_on = match after < len {
                false => give()?,
                true if threads::count() > 1 => threads::scope(|scope| {
                    scope.spawn(|_| ahead = read(after, &mut readers));
                    give()
                })?,
                true => {
                    let goes_on = give()?;
                    ahead = if goes_on { read(after, &mut readers) } else { Vec::new() };
                    goes_on
                }
            };
            if !goes_on {
                break;
            }
            (next, shares) = (after, ahead);
        }
        Ok(())
    };
    Some(read())
}

/// Reads the first of `rows`, as many as one piece takes.
fn read<R: ShareReader>(reader: &mut R, table: &dyn Table, columns: &[usize], rows: Range<usize>) -> Share<R::Piece> {
    let (mut read, mut ended, mut damage) = (0usize, false, Vec::new());
    if !rows.is_empty() {
        let mut cursor = table.cursor_over(rows.start, columns);
        while read < rows.len() && !reader.is_full() {
            match cursor.advance() {
                Ok(true) => {}
                Ok(false) => ended = true,
                Err(error) => {
                    damage.push((None, error));
                    ended = true;
                }
            }
            if ended {
                break;
            }
            read += 1;
            if let Err(error) = reader.add(&*cursor, columns) {
                damage.push((Some(cursor.row()), error));
            }
        }
    }
    Share { piece: reader.take(), damage, read, ended }
}
