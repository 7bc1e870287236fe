//! Appended records, and deleted last records, of a file without databases.
//!
//! Other parts refer to records by number, so that records in the middle cannot be deleted. The parts after the array
//! move as a whole: their relative pointers do not change. Only pointers of the header and of the records cross the
//! changed range.

use super::Refuse;
use crate::error::Result;
use crate::pointers::{Pointer, repointed};
use crate::writable::patches::Patches;
use crate::writable::{EditPosition, TableEdits, refused};

/// An array of records as it will be.
#[derive(Debug)]
pub(super) struct Records {
    /// Where it begins, or is to.
    pub start: usize,
    pub size: usize,
    pub count: usize,
    pub kept: usize,
    pub new: Vec<u8>,
}

impl Records {
    /// The position after the last one.
    pub fn end(&self) -> usize {
        self.start.saturating_add(self.count.saturating_mul(self.size))
    }

    /// The position after the last kept one.
    pub fn kept_end(&self) -> usize {
        self.start.saturating_add(self.kept.saturating_mul(self.size))
    }

    pub fn come(&self) -> usize {
        self.new.chunks_exact(self.size).len()
    }

    /// These records after the edits of `table`, if any are inserted or deleted. `other` is a part that does not follow all of them.
    pub fn with(
        mut self,
        edits: &[TableEdits],
        table: &str,
        other: Option<&str>,
        refuse: Refuse<'_>,
    ) -> Result<Option<Self>> {
        let Some(edits) = edits.iter().find(|edits| edits.table == table) else { return Ok(None) };
        if edits.add.is_empty() && edits.remove.is_empty() {
            return Ok(None);
        }
        if let Some(other) = other {
            return Err(refused(format!("{table}: {other} of this file lie before them, so that none comes or goes")));
        }
        for &row in edits.remove.iter().rev() {
            if row.checked_add(1) == Some(self.kept) {
                self.kept = row;
                continue;
            }
            let what = "later rows would get other numbers, and other parts may know them by number; only the last rows can be deleted";
            refuse(EditPosition::Remove(row), refused(format!("{table}: row {row} cannot be deleted: {what}")))?;
        }
        self.new = vec![0; edits.add.len().saturating_mul(self.size)];
        Ok(Some(self))
    }

    /// The new position of a position in the old file.
    pub fn moved(&self, at: usize) -> usize {
        if at < self.end() {
            return at;
        }
        at.saturating_sub(self.end()).saturating_add(self.kept_end()).saturating_add(self.new.len())
    }

    /// Adjusts pointers, each with its base and its position in the header or in a kept record, unless they were edited.
    pub fn repoint(
        &self,
        file: &[u8],
        pointers: impl IntoIterator<Item = (usize, usize)>,
        patches: &mut Patches,
    ) -> Result<()> {
        let pointers = pointers.into_iter().filter_map(|(base, at)| {
            let pointer = i64::from_le_bytes(*file.get(at..)?.first_chunk()?);
            let target = base.checked_add_signed(isize::try_from(pointer).ok()?)?;
            (target <= file.len() && !patches.has(at)).then_some((at, base, pointer))
        });
        let pointers: Vec<Pointer> = pointers.collect();
        repointed(pointers, |at| self.moved(at), |at, new| patches.write_at(at, &new.to_le_bytes()))
    }

    /// Writes the count and the offset into the header. Without records the offset stays, though no reader follows it: files are
    /// known by it.
    pub fn head(&self, file: &[u8], [count, pointer]: [usize; 2], patches: &mut Patches) -> Result<()> {
        let many = self.kept.saturating_add(self.come());
        let number = u32::try_from(many).map_err(|_| refused("too many records for a u32 count"))?;
        patches.write_at(count, &number.to_le_bytes())?;
        let start = (self.start as u64).to_le_bytes();
        if file.get(pointer..).is_some_and(|there| there.starts_with(&start)) {
            return Ok(());
        }
        patches.write_at(pointer, &start)
    }
}
