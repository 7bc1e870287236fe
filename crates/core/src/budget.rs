//! The bounds of work and memory, as multiples of the file's size.
//!
//! Counts, offsets and compressed parts let a small file demand any amount of work: its arrays may overlap, its entries may share their
//! bytes, a few bytes may expand to gigabytes. Real files do a little of all that. A file may therefore cost a multiple of its size, with
//! headroom above every known file. A greater cost is an error of the kind [`Limit`](ErrorKind::Limit).
//!
//! - Walked bytes: `OVERLAP` for each byte of the file, and `FLOOR` for the smallest files. A table counts its rows, and a walk over
//!   its rows counts the arrays in their cells.
//! - Decoded bytes of all parts of a file: `EXPANSION` for each byte of the file, and `DECODED` for small files that compress well.

#![allow(clippy::arithmetic_side_effects, reason = "sizes of files in memory, times small constants")]

use crate::bytes::View;
use crate::error::{ErrorKind, Result};
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of times that each byte of a file may be walked: records may share arrays.
const OVERLAP: u64 = 8;
/// The minimum budget, so that tiny files are not rejected.
const FLOOR: u64 = 1 << 16;
/// Decoded bytes for each byte of a file.
pub const EXPANSION: u64 = 128;
/// The minimum budget of decoded bytes.
const DECODED: u64 = 16 << 20;

/// The limit of decoded bytes of a file of `size` bytes, with `expansion` bytes for each of its own.
pub fn decoded(size: u64, expansion: u64) -> u64 {
    size.saturating_mul(expansion).saturating_add(DECODED)
}

/// The limit of walked bytes of a file of `size` bytes.
pub fn walked(size: usize) -> u64 {
    (size as u64).saturating_mul(OVERLAP).saturating_add(FLOOR)
}

/// Bytes that all threads together may still walk. A spent budget remains spent: later walks end at once.
#[derive(Debug)]
pub struct Budget {
    what: &'static str,
    limit: u64,
    spent: AtomicU64,
}

impl Budget {
    /// A budget of `limit` bytes, called `what` in its error.
    pub const fn new(what: &'static str, limit: u64) -> Self {
        Self { what, limit, spent: AtomicU64::new(0) }
    }

    /// A budget for one walk over a file of `size` bytes.
    pub fn of_file(what: &'static str, size: usize) -> Self {
        Self::new(what, walked(size))
    }

    /// A budget for one walk over the records of a file, or of two files, of `size` bytes in all. Arrays may be shared; without a bound,
    /// overlapping arrays could be walked without end.
    pub fn of_arrays(size: usize) -> Self {
        Self::of_file("bytes of the arrays of records, which overlap", size)
    }

    /// Charges `bytes` walked bytes.
    ///
    /// # Errors
    /// `Limit`; the caller adds the position.
    #[inline]
    pub fn spend(&self, bytes: u64) -> Result<(), ErrorKind> {
        let before = self.spent.update(Ordering::Relaxed, Ordering::Relaxed, |spent| spent.saturating_add(bytes));
        match before.saturating_add(bytes) {
            value if value <= self.limit => Ok(()),
            value => Err(ErrorKind::Limit { what: self.what, value, limit: self.limit }),
        }
    }

    #[inline]
    pub fn spend_at(&self, view: View<'_>, bytes: usize) -> Result<()> {
        self.spend(bytes as u64).map_err(|kind| view.error(kind))
    }

    /// The limit in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether the limit is exceeded.
    pub fn is_spent(&self) -> bool {
        self.spent.load(Ordering::Relaxed) > self.limit
    }
}

/// One thread's part of a [`Budget`], so that small charges need no shared memory.
#[derive(Debug)]
pub struct BudgetShare<'b> {
    budget: &'b Budget,
    left: u64,
}

impl<'b> BudgetShare<'b> {
    /// Bytes that are taken from the budget at once.
    const SHARE: u64 = 1 << 16;

    /// An empty share, which takes bytes from `budget` as needed.
    pub fn new(budget: &'b Budget) -> Self {
        Self { budget, left: 0 }
    }

    pub fn spend(&mut self, view: View<'_>, bytes: usize) -> Result<()> {
        let bytes = bytes as u64;
        if bytes > self.left {
            // Near the end it takes only the needed bytes, so that other threads can use the rest.
            let rest = self.budget.limit.saturating_sub(self.budget.spent.load(Ordering::Relaxed));
            let share = (bytes - self.left).max(Self::SHARE.min(rest / 64));
            self.budget.spend(share).map_err(|kind| view.error(kind))?;
            self.left += share;
        }
        self.left -= bytes;
        Ok(())
    }
}

impl Drop for BudgetShare<'_> {
    fn drop(&mut self) {
        if !self.budget.is_spent() {
            self.budget.spent.fetch_sub(self.left, Ordering::Relaxed);
        }
    }
}

/// The budget of a walk over the rows of a table, which grows from row to row: a walk over all rows has the budget of a
/// walk over the file, a walk over a few rows a proportional one, and any single row at least the size of the file.
#[derive(Debug)]
pub struct RowBudget {
    budget: Budget,
    each: u64,
}

impl RowBudget {
    /// The budget of the first row of a walk, or of a single row, of a table of `rows` rows.
    pub fn new(size: usize, rows: usize) -> Self {
        let mut budget = Budget::of_arrays(size);
        let each = budget.limit / rows.max(1) as u64;
        budget.limit = size as u64 + FLOOR;
        Self { budget, each }
    }

    #[inline]
    #[must_use]
    pub fn next(mut self) -> Self {
        self.budget.limit += self.each;
        self
    }

    /// The limit up to this row.
    #[inline]
    pub fn get(&self) -> &Budget {
        &self.budget
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(result: Result<(), ErrorKind>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn what_is_spent_stays_spent() {
        let budget = Budget::new("things", 100);
        assert!(budget.spend(60).is_ok() && budget.spend(40).is_ok() && !budget.is_spent());
        assert_eq!(said(budget.spend(7)), "things: 107 is more than the limit of 100");
        assert!(budget.is_spent() && budget.spend(0).is_err());
        assert!(budget.spend(u64::MAX).is_err() && budget.spend(1).is_err(), "does not come around");
    }

    #[test]
    fn threads_give_back_what_they_do_not_use() {
        let (budget, view) = (Budget::new("bytes", 1 << 20), View::new(&[], "array"));
        for _ in 0..1000 {
            assert!(BudgetShare::new(&budget).spend(view, 1 << 10).is_ok());
        }
        let mut last = BudgetShare::new(&budget);
        assert!((0..24).all(|_| last.spend(view, 1 << 10).is_ok()), "all of it can be used");
        assert!(last.spend(view, 1).is_err());
    }

    #[test]
    fn a_walk_over_all_rows_may_meet_what_a_file_may() {
        let (size, rows) = (1 << 20, 1000);
        let mut walk = RowBudget::new(size, rows);
        assert!(walk.get().spend(size as u64).is_ok(), "one row may have all of the file");
        for _ in 0..rows {
            walk = walk.next();
            assert!(walk.get().spend(8 << 10).is_ok());
        }
        for _ in 0..1 << 10 {
            let _ = walk.get().spend(1 << 12);
        }
        assert!(walk.get().is_spent());
    }
}
