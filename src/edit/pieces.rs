//! A new file as ranges of the old one and new bytes.

use crate::error::{Error, ErrorKind, Result};
use std::ops::Range;

/// A piece of a new file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A range of the old file, from its first byte on.
    Keep(Range<usize>),
    /// New bytes.
    New(Vec<u8>),
}

/// How a new file is compared with the old one and what was asked for, before it gets its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Check {
    /// All tables are compared, and `verify` is run.
    #[default]
    All,
    /// The edited rows are compared, and the bytes that were kept. For writers that change fields in place and nothing that
    /// others depend on, so that an edit in a large file costs little more than to copy it.
    Rows,
}

/// A new file: pieces in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pieces {
    list: Vec<Piece>,
    /// How the result is compared with the old file.
    pub check: Check,
    /// Tables besides the edited ones, and besides those that are [derived](crate::table::Table::is_derived), whose rows
    /// change in consequence.
    pub also: Vec<String>,
    /// Numbers of the rows that come, by table, where they do not come last in it.
    pub added: Vec<(String, Vec<usize>)>,
    /// Columns of edited tables, by their numbers, whose cells may become others than was asked for: those that follow from
    /// another column that can be written, too, and those with texts of ids in them, which the file need not know.
    pub follows: Vec<(String, usize)>,
    /// Edited tables whose rows the writer has compared itself with what was asked for, as their order or their keys change.
    pub vouched: Vec<String>,
}

impl Pieces {
    /// No pieces yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The old file of `len` bytes as it is.
    pub fn whole(len: usize) -> Self {
        let mut pieces = Self::default();
        pieces.keep(0..len);
        pieces
    }

    /// The old file of `len` bytes, in which these stretches become others: ranges in order that do not overlap.
    ///
    /// # Errors
    /// `Damaged` for stretches that overlap or leave the file.
    pub fn replaced(len: usize, stretches: impl IntoIterator<Item = (Range<usize>, Vec<u8>)>) -> Result<Self> {
        let mut pieces = Self::default();
        let mut at = 0;
        for (range, bytes) in stretches {
            if range.start < at || range.end < range.start || range.end > len {
                let what = "parts that are to be written lie on each other".into();
                return Err(Error::new(ErrorKind::Damaged { what }, "", range.start as u64));
            }
            pieces.keep(at..range.start);
            pieces.put(bytes);
            at = range.end;
        }
        pieces.keep(at..len);
        Ok(pieces)
    }

    /// Continues with a range of the old file.
    pub fn keep(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        match self.list.last_mut() {
            Some(Piece::Keep(last)) if last.end == range.start => last.end = range.end,
            _ => self.list.push(Piece::Keep(range)),
        }
    }

    /// Continues with new bytes.
    pub fn put(&mut self, bytes: impl Into<Vec<u8>> + AsRef<[u8]>) {
        if bytes.as_ref().is_empty() {
            return;
        }
        match self.list.last_mut() {
            Some(Piece::New(last)) => last.extend_from_slice(bytes.as_ref()),
            _ => self.list.push(Piece::New(bytes.into())),
        }
    }

    /// Continues with other pieces of the same file.
    pub fn append(&mut self, more: Self) {
        for piece in more.list {
            match piece {
                Piece::Keep(range) => self.keep(range),
                Piece::New(bytes) => self.put(bytes),
            }
        }
    }

    /// The same pieces for a file that begins with `by` other bytes.
    #[must_use]
    pub fn shifted(mut self, by: usize) -> Self {
        for piece in &mut self.list {
            if let Piece::Keep(range) = piece {
                *range = range.start.saturating_add(by)..range.end.saturating_add(by);
            }
        }
        self
    }

    /// The pieces in order.
    pub fn list(&self) -> &[Piece] {
        &self.list
    }

    /// Bytes of the new file so far.
    pub fn len(&self) -> usize {
        let len = |piece: &Piece| match piece {
            Piece::Keep(range) => range.len(),
            Piece::New(bytes) => bytes.len(),
        };
        self.list.iter().map(len).fold(0, usize::saturating_add)
    }

    /// Whether the new file has no bytes.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether every byte that is kept stays where it was in a file of `len` bytes, which stays as long as it is.
    pub fn is_in_place(&self, len: usize) -> bool {
        let mut at = 0usize;
        for piece in &self.list {
            let (stays, size) = match piece {
                Piece::Keep(range) => (range.start == at, range.len()),
                Piece::New(bytes) => (true, bytes.len()),
            };
            if !stays {
                return false;
            }
            at = at.saturating_add(size);
        }
        at == len
    }

    /// The bytes of the new file, made from those of the old one: for small files, and for tests.
    pub fn bytes(&self, old: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        for piece in &self.list {
            match piece {
                Piece::Keep(range) => bytes.extend_from_slice(old.get(range.clone()).unwrap_or_default()),
                Piece::New(new) => bytes.extend_from_slice(new),
            }
        }
        bytes
    }

    /// The pieces of the new file that make the old one: what undoes them.
    pub fn inverse(&self, old: &[u8]) -> Self {
        let mut kept: Vec<(Range<usize>, usize)> = Vec::new();
        let mut at = 0usize;
        for piece in &self.list {
            match piece {
                Piece::Keep(range) => {
                    kept.push((range.clone(), at));
                    at = at.saturating_add(range.len());
                }
                Piece::New(bytes) => at = at.saturating_add(bytes.len()),
            }
        }
        kept.sort_by_key(|(range, _)| range.start);
        let mut back = Self::default();
        let mut done = 0usize;
        for (range, new) in kept {
            let start = range.start.max(done);
            if start >= range.end {
                continue;
            }
            back.put(old.get(done..start).unwrap_or_default());
            let skipped = start.saturating_sub(range.start);
            let new = new.saturating_add(skipped);
            back.keep(new..new.saturating_add(range.end.saturating_sub(start)));
            done = range.end;
        }
        back.put(old.get(done..).unwrap_or_default());
        back
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_replaced_and_come_back() {
        let old: Vec<u8> = (0..32).collect();
        let new = Pieces::replaced(32, [(4..8, vec![0xAA; 2]), (8..8, vec![0xBB]), (30..32, vec![])]).unwrap();
        let bytes = new.bytes(&old);
        assert_eq!((bytes.len(), new.len()), (29, 29));
        assert_eq!(bytes[..8], [0, 1, 2, 3, 0xAA, 0xAA, 0xBB, 8]);
        assert_eq!(new.inverse(&old).bytes(&bytes), old);
        assert!(Pieces::replaced(32, [(4..8, vec![]), (7..9, vec![])]).is_err());
        assert!(Pieces::replaced(32, [(4..33, vec![])]).is_err());
    }

    #[test]
    fn what_moved_or_was_doubled_comes_back() {
        let old: Vec<u8> = (0..64).collect();
        let mut new = Pieces::new();
        new.keep(32..48);
        new.put([1, 2, 3]);
        new.keep(0..40);
        let bytes = new.bytes(&old);
        assert_eq!(new.inverse(&old).bytes(&bytes), old);
    }

    #[test]
    fn in_place_is_told_from_moved() {
        let stays = Pieces::replaced(10, [(2..4, vec![9, 9])]).unwrap();
        let moves = Pieces::replaced(10, [(2..4, vec![9])]).unwrap();
        assert!(stays.is_in_place(10) && Pieces::whole(10).is_in_place(10));
        assert!(!moves.is_in_place(10) && !stays.is_in_place(11));
    }
}
