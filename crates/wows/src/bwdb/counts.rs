//! Positions of counted rows, which a file keeps.

use crate::budget::Budget;
use crate::table::RowEnds;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The rows of the children of each parent.
#[derive(Debug, Default)]
pub(super) struct Counted {
    pub(super) ends: RowEnds,
    /// The first parent whose children cannot be counted, and the number of such parents. They have no rows.
    pub(super) unreadable: Option<(usize, usize)>,
}

/// The rows of the children of all tables. A file caches their positions by the unique names of its tables, because the tables
/// themselves are built for each query.
#[derive(Debug, Default)]
pub(super) struct Counts(RwLock<HashMap<&'static str, Arc<Counted>>>);

impl Counts {
    pub(super) fn has(&self, table: &'static str) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains_key(table)
    }

    /// The positions of a table with rows of `size` bytes in a file of `file` bytes. The parent at which the rows exceed the limit of
    /// arrays in such a file, and all later parents, have no position. `None` stands for children that cannot be counted.
    pub(super) fn get(
        &self,
        table: &'static str,
        file: usize,
        size: usize,
        count: impl FnOnce() -> Vec<Option<usize>>,
    ) -> Arc<Counted> {
        if let Some(counted) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(table) {
            return Arc::clone(counted);
        }
        let most = Budget::of_arrays(file).limit().checked_div(size as u64).expect("rows have bytes");
        let counts = count();
        let first = counts.iter().position(Option::is_none);
        let unreadable = first.map(|first| (first, counts.iter().filter(|count| count.is_none()).count()));
        let mut counted = Counted { unreadable, ..Counted::default() };
        for rows in counts {
            let rows = rows.unwrap_or(0);
            if counted.ends.total().saturating_add(rows) as u64 > most {
                break;
            }
            counted.ends.push(rows);
        }
        Arc::clone(
            self.0.write().unwrap_or_else(PoisonError::into_inner).entry(table).or_insert_with(|| counted.into()),
        )
    }
}
