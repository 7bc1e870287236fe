//! Walks over the rows of a table by all threads.

use crate::error::{Error, ErrorKind, Result};
use crate::report::Progress;
use crate::table::{RowCursor, Table};
use crate::threads::{self, prelude::*};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Rows of a share that one thread reads at once: at least, and at most.
const SHARE: (usize, usize) = (4096, 128 << 10);
/// Shares for each thread, so that threads end at about the same time.
const PER_THREAD: usize = 8;
/// Rows that a thread reads before it looks whether the statement was stopped.
const UNSTOPPED: usize = 1024;

/// The progress of a statement, and whether it was stopped.
#[derive(Clone, Copy)]
pub(super) struct Walk<'q> {
    pub(super) progress: &'q Progress,
    pub(super) stop: &'q AtomicBool,
}

impl Walk<'_> {
    /// Hands each row to `each`, with what `begin` makes for a thread. `end` takes it after the last row.
    pub(super) fn rows<W>(
        &self,
        table: &dyn Table,
        columns: &[usize],
        begin: impl Fn() -> W + Sync,
        each: impl Fn(&mut W, &dyn RowCursor) -> Result<()> + Sync,
        end: impl Fn(W) -> Result<()> + Sync,
    ) -> Result<()> {
        let len = if table.is_random_access() { table.len()? } else { 0 };
        let threads = threads::count();
        let share = len.div_ceil(threads.saturating_mul(PER_THREAD)).clamp(SHARE.0, SHARE.1);
        if len <= share {
            let mut own = begin();
            self.share(table, columns, 0..usize::MAX, |row| each(&mut own, row))?;
            return end(own);
        }
        let next = AtomicUsize::new(0);
        let work = |_| {
            let mut own = begin();
            loop {
                let start = next.fetch_add(share, Relaxed);
                if start >= len {
                    return end(own);
                }
                let rows = start..start.saturating_add(share).min(len);
                // After an error no thread begins another share.
                self.share(table, columns, rows, |row| each(&mut own, row))
                    .inspect_err(|_| next.store(len, Relaxed))?;
            }
        };
        (0..len.div_ceil(share).min(threads)).into_par_iter().with_max_len(1).try_for_each(work)
    }

    fn share(
        &self,
        table: &dyn Table,
        columns: &[usize],
        rows: Range<usize>,
        mut each: impl FnMut(&dyn RowCursor) -> Result<()>,
    ) -> Result<()> {
        let mut cursor = table.cursor_over(rows.start, columns);
        let mut left = rows.len();
        while left > 0 && cursor.advance()? {
            left = left.saturating_sub(1);
            self.check(left)?;
            each(&*cursor).map_err(|error| error.context(format_args!("{}: row {}", table.name(), cursor.row())))?;
        }
        self.progress.advance(rows.len().saturating_sub(left) as u64);
        Ok(())
    }

    /// Fails if the statement was stopped. Looks for that at some numbers of rows only.
    pub(super) fn check(&self, row: usize) -> Result<()> {
        if row % UNSTOPPED == UNSTOPPED.wrapping_sub(1) { self.check_now() } else { Ok(()) }
    }

    /// Fails if the statement was stopped.
    pub(super) fn check_now(&self) -> Result<()> {
        match self.stop.load(Relaxed) {
            true => Err(Error::of_part(ErrorKind::Unsupported { what: "a stopped statement".into() }, "")),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, DeclaredTable};

    #[test]
    fn a_stopped_walk_ends_within_a_few_rows_of_each_thread() {
        const STOPPED_AT: usize = 5000;
        for is_random_access in [false, true] {
            let (read, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
            let table = DeclaredTable::new("numbers", || Ok(1 << 20), |row| Ok(Some(row)))
                .column(Column::uint("number"), |row| Ok((*row).into()));
            let table = if is_random_access { table.random_access() } else { table };
            let each = |(): &mut (), _: &dyn RowCursor| {
                stop.fetch_or(read.fetch_add(1, Relaxed) == STOPPED_AT, Relaxed);
                Ok(())
            };
            let walk = Walk { progress: &Progress::default(), stop: &stop };
            let ended = walk.rows(&table, &[0], || (), each, |()| Ok(()));
            let most = STOPPED_AT + UNSTOPPED * (threads::count() + 1);
            assert!(ended.is_err() && read.into_inner() <= most, "{is_random_access}");
        }
    }
}
