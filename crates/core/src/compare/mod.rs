//! Comparison of two files of one format: queries of a table on both sides, and formats with better answers than a
//! comparison of columns.
//!
//! `diff` compares any table by the roles of its columns. A format with rows that refer to more data,
//! such as resources with records elsewhere, implements [`Comparison`] and returns its own tables ([`Special`]) for
//! some names.

#![allow(clippy::arithmetic_side_effects, reason = "numbers of rows, bytes and texts in memory, which cannot overflow")]

mod value;

pub use value::{FieldChange, same_value};
pub use value::{differ, hash_value, hash_values};

use crate::error::Error;
use crate::table::Value;
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Old = 0,
    New = 1,
}

/// The change of a row between two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DifferenceKind {
    Added,
    Removed,
    /// Both have the row, with different contents.
    Changed,
}

impl DifferenceKind {
    /// The name that outputs use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

/// A row that differs: its number in each file that contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    pub old: Option<u32>,
    pub new: Option<u32>,
}

impl Pair {
    /// The newest file that has the row.
    pub const fn side(self) -> Side {
        if self.new.is_some() { Side::New } else { Side::Old }
    }

    /// Whether the row was added, removed or changed.
    pub const fn kind(self) -> DifferenceKind {
        match (self.old, self.new) {
            (Some(_), Some(_)) => DifferenceKind::Changed,
            (Some(_), None) => DifferenceKind::Removed,
            (None, _) => DifferenceKind::Added,
        }
    }
}

/// The rows of a table that differ. If the rows of either file could not all be found by their keys, none is added or removed.
#[derive(Debug, Default)]
pub struct Differences {
    /// Rows of the old file that the new one does not have, in order.
    pub removed: Vec<u32>,
    /// Rows of the new file that the old one does not have, in order.
    pub added: Vec<u32>,
    /// Rows of both files, in the order of the old one.
    pub changed: Vec<(u32, u32)>,
    /// Rows of the old file that were compared; 0 if a [`Finder`] has found the rows.
    pub rows_old: u64,
    pub rows_new: u64,
    /// Errors of rows that could not be compared: at most 100.
    pub faults: Vec<(Side, Error)>,
    /// The number of errors in all.
    pub fault_count: u64,
}

impl Differences {
    /// The number of rows that differ.
    pub fn len(&self) -> usize {
        self.removed.len() + self.added.len() + self.changed.len()
    }

    /// Whether all rows are equal.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows that differ: removed and changed ones in the order of the old file, then added ones.
    pub fn pairs(&self) -> impl Iterator<Item = Pair> + '_ {
        let (mut removed, mut changed) = (self.removed.iter().peekable(), self.changed.iter().peekable());
        let of_old = std::iter::from_fn(move || match (removed.peek(), changed.peek()) {
            (Some(&&r), c) if c.is_none_or(|c| r < c.0) => {
                removed.next();
                Some(Pair { old: Some(r), new: None })
            }
            _ => changed.next().map(|&(old, new)| Pair { old: Some(old), new: Some(new) }),
        });
        of_old.chain(self.added.iter().map(|&row| Pair { old: None, new: Some(row) }))
    }
}

/// The result of comparing two rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Same,
    /// The rows have one key and different contents.
    Changed,
    /// The rows have different keys.
    Other,
}

/// The hashes of the keys of all rows of one side.
#[derive(Debug, Default)]
pub struct Keys {
    pub hashes: Vec<u64>,
    /// Rows that are not compared, in order: their key is unreadable, or another comparison covers them.
    pub skipped: Vec<u32>,
}

/// A function that receives each pair of rows, and the result of its comparison.
pub type Each<'e> = dyn FnMut((u32, u32), Result<Verdict, (Side, Error)>) + 'e;

/// A table on both sides; rows are paired by hashes of their keys.
pub trait Comparable: Sync {
    fn keys(&self, side: Side, faults: &Faults) -> Keys;

    /// Pairs of rows, which are in the order of the old rows, in the best order to compare them, if it differs.
    fn arranged(&self, _pairs: &mut dyn Iterator<Item = (u32, u32)>) -> Option<Vec<(u32, u32)>> {
        None
    }

    /// Compares pairs of rows in the order of the old rows, or in the order of [`Comparable::arranged`].
    fn compare(&self, pairs: &[(u32, u32)], each: &mut Each<'_>);

    /// A hash of all compared data of each row: equal hashes mean that rows of one key are likely equal.
    fn contents(&self, side: Side, rows: &[u32]) -> Vec<u64>;

    /// The number of rows that a core compares at once.
    fn piece(&self) -> usize {
        1 << 12
    }
}

/// Errors on both sides. The first ones are kept, all are counted.
#[derive(Debug, Default)]
pub struct Faults(Mutex<(Vec<(Side, Error)>, u64)>);

/// Errors that are kept.
const KEPT: usize = 100;

impl Faults {
    /// Notes an error in one of the files.
    pub fn add(&self, side: Side, error: Error) {
        let (kept, count) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        if kept.len() < KEPT {
            kept.push((side, error));
        }
    }

    /// Whether there are no errors so far.
    pub fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1 == 0
    }

    /// The kept errors, in the order of the files, and the number of all errors.
    pub fn into_inner(self) -> (Vec<(Side, Error)>, u64) {
        let (mut kept, count) = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Threads report them in any order.
        kept.sort_by_key(|(side, error)| (*side == Side::New, error.offset()));
        (kept, count)
    }
}

/// A table on both sides with its own comparison of rows.
pub trait Special: Comparable + Send {
    /// Adds the differing fields that no column shows. `damaged` gets the errors of unreadable fields.
    fn fields<'s>(&'s self, row: (u32, u32), fields: &mut Vec<FieldChange<'s>>, damaged: &mut Damaged<'_>);

    /// The kind of a row, such as the type of a resource.
    fn what(&self, _pair: Pair) -> Option<String> {
        None
    }

    /// The key of a row, if no key column contains it.
    fn key(&self, _pair: Pair) -> Option<Value<'static>> {
        None
    }

    /// Removes differences from `found` that are reported elsewhere.
    fn settle(&self, _found: &mut Differences) {}

    /// Limits of the comparison so far, as messages, each with the side that causes it.
    fn notes(&self) -> Vec<(Side, String)> {
        Vec::new()
    }

    /// Whether `fields` adds all differing fields, including the fields that columns show.
    fn says_all(&self) -> bool {
        false
    }
}

/// A function that receives the errors of reading, with the file that they are in.
pub type Damaged<'d> = dyn FnMut(Side, Error) + 'd;

/// The parts of two files that a comparison reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedParts {
    All,
    /// Parts that differ. An edit has made the new file of the old one, and has checked the parts that it changed.
    Edited,
}

/// A search for the rows of a table that differ. `None` if rows may have been inserted or deleted, or cannot be read.
pub type Finder<'a> = Box<dyn Fn(ComparedParts) -> Option<Differences> + Send + Sync + 'a>;

/// Two files of one format that the format compares itself, in part.
pub trait Comparison<'a> {
    /// Table `name`, if it has its own comparison. With `all`, all tables of the files are compared, and no table need
    /// repeat the differences of another one.
    fn table(&self, name: &str, all: bool) -> Option<Box<dyn Special + 'a>>;

    /// A search for the differing rows of a table that is faster than a comparison by the keys of all rows.
    fn finder(&self, _table: &str) -> Option<Finder<'a>> {
        None
    }

    /// The table with a differing row for every row of `table` that differs, under the same key; `None` if rows of `table`
    /// may differ by themselves.
    fn decisive(&self, _table: &str) -> Option<&'static str> {
        None
    }

    /// Why rows are not compared, except for damage, as messages.
    fn notes(&self) -> Vec<String>;
}
