//! The patches of a file's bytes, and the refusal of edits that cannot be applied.

use crate::error::{Error, Result};
use crate::writable::{EditPosition, refused};
use std::collections::BTreeMap;
use std::ops::Range;

/// The changed bytes of a file.
#[derive(Debug, Default)]
pub(super) struct Patches {
    new: BTreeMap<usize, Vec<u8>>,
    /// Where they are, in the order in which they were noted.
    noted: Vec<usize>,
}

impl Patches {
    /// The number of notes so far, to return to.
    pub fn mark(&self) -> usize {
        self.noted.len()
    }

    /// Drops all changes after a mark.
    pub fn back_to(&mut self, mark: usize) {
        for at in self.noted.drain(mark.min(self.noted.len())..) {
            self.new.remove(&at);
        }
    }

    /// Notes that `bytes` are at `at`.
    ///
    /// # Errors
    /// Wrong usage if another edit writes different bytes to some of them.
    pub fn put(&mut self, at: usize, bytes: &[u8]) -> Result<()> {
        let end = at.saturating_add(bytes.len());
        let near = self.new.range(..end).next_back();
        if let Some((&other, old)) = near
            && other.saturating_add(old.len()) > at
        {
            return if (other, old.as_slice()) == (at, bytes) { Ok(()) } else { Err(two_edits()) };
        }
        self.new.insert(at, bytes.to_vec());
        self.noted.push(at);
        Ok(())
    }

    /// Whether the byte at `at` changes.
    pub fn has(&self, at: usize) -> bool {
        let near = self.new.range(..=at).next_back();
        near.is_some_and(|(start, bytes)| at < start.saturating_add(bytes.len()))
    }

    pub fn into_stretches(self) -> impl Iterator<Item = (Range<usize>, Vec<u8>)> {
        self.new.into_iter().map(|(at, bytes)| (at..at.saturating_add(bytes.len()), bytes))
    }

    pub fn is_empty(&self) -> bool {
        self.new.is_empty()
    }
}

/// The error of two edits that would write one place.
#[cold]
pub(super) fn two_edits() -> Error {
    refused("two edits write the same bytes: a value that is shown by two columns, or in two tables")
}

/// Handles edits that cannot be applied: the first one ends the writing, or each is noted and skipped.
pub(super) type Refuse<'r> = &'r mut dyn FnMut(EditPosition, Error) -> Result<()>;
