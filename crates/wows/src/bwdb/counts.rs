//! Positions of counted rows, which a file keeps.

use crate::budget::Budget;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

/// Positions of counted rows: for each parent, the end of its children's rows. A file caches them by the unique names
/// of its tables, because the tables themselves are built for each query.
#[derive(Debug, Default)]
pub(super) struct Counts(RwLock<HashMap<&'static str, Arc<[usize]>>>);

impl Counts {
    pub(super) fn has(&self, table: &'static str) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains_key(table)
    }

    /// The positions of a table with rows of `size` bytes in a file of `file` bytes. The parent at which the rows exceed the limit of
    /// arrays in such a file, and all later parents, have no position.
    pub(super) fn get(
        &self,
        table: &'static str,
        file: usize,
        size: usize,
        count: impl FnOnce() -> Vec<usize>,
    ) -> Arc<[usize]> {
        if let Some(ends) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(table) {
            return Arc::clone(ends);
        }
        let most = Budget::of_arrays(file).limit().checked_div(size as u64).expect("rows have bytes");
        let mut sum = 0usize;
        let ends: Arc<[usize]> = count()
            .into_iter()
            .map_while(|n| {
                sum = sum.saturating_add(n);
                (sum as u64 <= most).then_some(sum)
            })
            .collect();
        Arc::clone(self.0.write().unwrap_or_else(PoisonError::into_inner).entry(table).or_insert(ends))
    }
}

/// The rows of the parent with a number, whose rows end at `ends`.
pub(super) fn rows_of(ends: &[usize], parent: usize) -> Range<usize> {
    let start = ends.get(..parent).and_then(<[usize]>::last).map_or(0, |end| *end);
    start..ends.get(parent).map_or(start, |end| *end)
}
