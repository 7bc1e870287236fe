//! Positions of counted rows, which a file keeps.

use crate::budget::Budget;
use crate::table::RowEnds;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The rows of the children of each parent. A file caches their positions by the unique names of its tables, because the tables
/// themselves are built for each query.
#[derive(Debug, Default)]
pub(super) struct Counts(RwLock<HashMap<&'static str, Arc<RowEnds>>>);

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
    ) -> Arc<RowEnds> {
        if let Some(ends) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(table) {
            return Arc::clone(ends);
        }
        let most = Budget::of_arrays(file).limit().checked_div(size as u64).expect("rows have bytes");
        let mut ends = RowEnds::default();
        for rows in count() {
            if ends.total().saturating_add(rows) as u64 > most {
                break;
            }
            ends.push(rows);
        }
        Arc::clone(self.0.write().unwrap_or_else(PoisonError::into_inner).entry(table).or_insert_with(|| ends.into()))
    }
}
