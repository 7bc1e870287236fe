//! A new file as ranges of the old one and new bytes.

use crate::error::{Error, ErrorKind, Result};
use crate::source::Source;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A range of the old file, from its first byte on.
    Keep(Range<usize>),
    New(Vec<u8>),
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Self::Keep(range) => range.len(),
            Self::New(bytes) => bytes.len(),
        }
    }
}

/// The extent of the comparison of a new file with the old one and the edits, before it gets its name. In each case all
/// bytes are compared: kept bytes with the old ones, all others with the pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReadBack {
    /// All tables are compared, and `verify` runs.
    #[default]
    All,
    /// The edited tables are compared, and `verify` runs. For writers that rebuild whole parts, and keep all others.
    Parts,
    /// The rows that depend on changed bytes are compared and verified: see [`Writable::reached`](super::Writable::reached). For
    /// writers that change fields in place, so that an edit costs little more than a copy. As [`ReadBack::All`] if the format does not
    /// know these rows.
    Rows,
}

/// Bytes of a new file that are derived from all its other bytes, such as a checksum. They are computed during the
/// copy, because that takes as long.
#[derive(Debug, Clone)]
pub struct Seal {
    range: Range<usize>,
    make: fn(&Pieces, &Source) -> Result<Vec<u8>>,
}

impl Seal {
    /// The bytes at `range` of the new file, which `make` computes from the pieces and the old file.
    pub fn new(range: Range<usize>, make: fn(&Pieces, &Source) -> Result<Vec<u8>>) -> Self {
        Self { range, make }
    }
}

impl PartialEq for Seal {
    fn eq(&self, other: &Self) -> bool {
        self.range == other.range && std::ptr::fn_addr_eq(self.make, other.make)
    }
}

impl Eq for Seal {}

/// A new file: pieces in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pieces {
    list: Vec<Piece>,
    /// The checksum or digest that is still to be computed.
    pub seal: Option<Seal>,
    /// The extent of the comparison with the old file.
    pub read_back: ReadBack,
    /// Tables whose rows change as a consequence, besides the edited tables and the
    /// [derived](crate::table::Nature::derived) ones.
    pub also: Vec<String>,
    /// Numbers of the inserted rows by table, unless they are the last rows of it.
    pub added: Vec<(String, Vec<usize>)>,
    /// Columns of edited tables, by their numbers, whose cells may differ from the edits: columns derived from another
    /// writable column, and columns with texts of ids, which the file may not contain.
    pub follows: Vec<(String, usize)>,
    /// Edited tables that the writer has compared with the edits itself, because their order or keys change.
    pub vouched: Vec<String>,
    /// Facts about the new file that its user wants to know, in words.
    pub notes: Vec<String>,
    /// Parts of what was given that the new file does not hold, each in words: meshes of a GLB that no group is made of.
    pub left_out: Vec<String>,
}

impl Pieces {
    /// Starts without pieces.
    pub fn new() -> Self {
        Self::default()
    }

    /// The whole old file of `len` bytes.
    pub fn whole(len: usize) -> Self {
        let mut pieces = Self::default();
        pieces.keep(0..len);
        pieces
    }

    /// The old file of `len` bytes, with these ranges replaced: in order and disjoint.
    ///
    /// # Errors
    /// `Damaged` for ranges that overlap or leave the file.
    pub fn replaced(len: usize, stretches: impl IntoIterator<Item = (Range<usize>, Vec<u8>)>) -> Result<Self> {
        let mut pieces = Self::default();
        let mut at = 0;
        for (range, bytes) in stretches {
            if range.start < at || range.end < range.start || range.end > len {
                let what = "parts to be written overlap".into();
                return Err(Error::new(ErrorKind::Damaged { what }, "", range.start as u64));
            }
            pieces.keep(at..range.start);
            pieces.insert(bytes);
            at = range.end;
        }
        pieces.keep(at..len);
        Ok(pieces)
    }

    /// Appends a range of the old file.
    pub fn keep(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        match self.list.last_mut() {
            Some(Piece::Keep(last)) if last.end == range.start => last.end = range.end,
            _ => self.list.push(Piece::Keep(range)),
        }
    }

    /// Appends new bytes.
    pub fn insert(&mut self, bytes: impl Into<Vec<u8>> + AsRef<[u8]>) {
        if bytes.as_ref().is_empty() {
            return;
        }
        match self.list.last_mut() {
            Some(Piece::New(last)) => last.extend_from_slice(bytes.as_ref()),
            _ => self.list.push(Piece::New(bytes.into())),
        }
    }

    /// Appends other pieces of the same file.
    pub fn append(&mut self, more: Self) {
        for piece in more.list {
            match piece {
                Piece::Keep(range) => self.keep(range),
                Piece::New(bytes) => self.insert(bytes),
            }
        }
    }

    /// Shifts the pieces, for a file that begins with `by` other bytes.
    #[must_use]
    pub fn shifted(mut self, by: usize) -> Self {
        for piece in &mut self.list {
            if let Piece::Keep(range) = piece {
                *range = range.start + by..range.end + by;
            }
        }
        self
    }

    /// The pieces in order.
    pub fn list(&self) -> &[Piece] {
        &self.list
    }

    /// The number of bytes of the new file so far.
    pub fn len(&self) -> usize {
        self.list.iter().map(Piece::len).sum()
    }

    /// Whether the new file has no bytes.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether every kept byte keeps its offset, in a file that keeps its length of `len` bytes.
    pub fn is_in_place(&self, len: usize) -> bool {
        let mut at = 0;
        let stays = self.list.iter().all(|piece| {
            let stays = !matches!(piece, Piece::Keep(range) if range.start != at);
            at += piece.len();
            stays
        });
        stays && at == len
    }

    /// The ranges of new bytes in a file in which all others keep their offsets; `None` if some do not.
    pub fn changed(&self, len: usize) -> Option<Vec<Range<usize>>> {
        if !self.is_in_place(len) {
            return None;
        }
        let (mut at, mut changed) = (0, Vec::new());
        for piece in &self.list {
            let start = at;
            at += piece.len();
            if matches!(piece, Piece::New(_)) {
                changed.push(start..at);
            }
        }
        Some(changed)
    }

    /// The bytes of the new file, for small files and tests.
    pub fn bytes(&self, old: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        self.slices(old, 0).for_each(|slice| bytes.extend_from_slice(slice));
        bytes
    }

    /// The bytes of the new file after the first `skip`, as consecutive slices.
    pub fn slices<'a>(&'a self, old: &'a [u8], skip: usize) -> impl Iterator<Item = &'a [u8]> {
        let mut skip = skip;
        self.list.iter().map(move |piece| {
            let slice = match piece {
                Piece::Keep(range) => &old[range.clone()],
                Piece::New(bytes) => bytes.as_slice(),
            };
            let (skipped, rest) = slice.split_at(skip.min(slice.len()));
            skip -= skipped.len();
            rest
        })
    }

    /// The pieces with their seal computed, for callers that write them.
    ///
    /// # Errors
    /// When the old file is damaged.
    pub fn with_seal(self, old: &Source) -> Result<Self> {
        Ok(match self.made_seal(old)? {
            Some((range, bytes)) => self.sealed(range.start, &bytes),
            None => self,
        })
    }

    /// The seal with its range; `None` if absent or computed already.
    ///
    /// # Errors
    /// When the old file is damaged.
    pub fn made_seal(&self, old: &Source) -> Result<Option<(Range<usize>, Vec<u8>)>> {
        let Some(Seal { range, make }) = &self.seal else { return Ok(None) };
        Ok(Some((range.clone(), make(self, old)?)))
    }

    /// The range of the seal; empty if absent.
    pub fn seal_range(&self) -> Range<usize> {
        self.seal.as_ref().map_or(0..0, |seal| seal.range.clone())
    }

    /// These pieces of the file that `first` makes, as pieces of the file that `first` is made of.
    #[must_use]
    pub fn after(self, first: &Self) -> Self {
        let mut starts = Vec::with_capacity(first.list.len());
        let mut start = 0;
        for piece in &first.list {
            starts.push(start);
            start += piece.len();
        }
        let mut pieces = Self { list: Vec::new(), ..self };
        for piece in self.list {
            match piece {
                Piece::New(bytes) => pieces.insert(bytes),
                Piece::Keep(range) => {
                    let from = starts.partition_point(|start| *start <= range.start) - 1;
                    let end = starts.partition_point(|start| *start < range.end);
                    let start = starts[from];
                    pieces.append_range(&first.list[from..end], range.start - start..range.end - start);
                }
            }
        }
        pieces
    }

    /// Replaces the bytes at `at`, which are then no seal any more.
    #[must_use]
    pub fn sealed(mut self, at: usize, bytes: &[u8]) -> Self {
        let len = self.len();
        let list = std::mem::take(&mut self.list);
        self.seal = None;
        self.append_range(&list, 0..at);
        self.insert(bytes);
        self.append_range(&list, at + bytes.len()..len);
        self
    }

    /// Appends a range of the file that the pieces of `list` make.
    fn append_range(&mut self, list: &[Piece], range: Range<usize>) {
        let mut start = 0;
        for piece in list {
            let end = start + piece.len();
            let part = range.start.clamp(start, end) - start..range.end.clamp(start, end) - start;
            match piece {
                Piece::Keep(old) => self.keep(old.start + part.start..old.start + part.end),
                Piece::New(bytes) => self.insert(&bytes[part]),
            }
            start = end;
        }
    }

    /// The pieces of the new file that restore the old one.
    pub fn inverse(&self, old: &[u8]) -> Self {
        let mut kept: Vec<(Range<usize>, usize)> = Vec::new();
        let mut at = 0;
        for piece in &self.list {
            if let Piece::Keep(range) = piece {
                kept.push((range.clone(), at));
            }
            at += piece.len();
        }
        kept.sort_by_key(|(range, _)| range.start);
        let mut back = Self::default();
        let mut done = 0;
        for (range, new) in kept {
            let start = range.start.max(done);
            if start >= range.end {
                continue;
            }
            back.insert(&old[done..start]);
            let new = new + (start - range.start);
            back.keep(new..new + (range.end - start));
            done = range.end;
        }
        back.insert(&old[done..]);
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
        new.insert([1, 2, 3]);
        new.keep(0..40);
        let bytes = new.bytes(&old);
        assert_eq!(new.inverse(&old).bytes(&bytes), old);
        assert!(Pieces::new().is_empty() && !new.is_empty());
    }

    #[test]
    fn a_seal_takes_the_place_of_bytes_that_are_kept_and_of_new_ones() {
        let old: Vec<u8> = (0..16).collect();
        let new = Pieces::replaced(16, [(4..6, vec![0xAA; 4]), (9..9, vec![0xBB])]).unwrap();
        let bytes = new.bytes(&old);
        for at in 0..bytes.len() - 3 {
            let mut expected = bytes.clone();
            expected[at..at + 3].fill(0xCC);
            let sealed = new.clone().sealed(at, &[0xCC; 3]);
            assert_eq!(sealed.bytes(&old), expected, "{at}");
            assert_eq!(sealed.inverse(&old).bytes(&expected), old, "{at}");
        }
    }

    #[test]
    fn pieces_of_a_file_that_pieces_made_are_pieces_of_the_first_file() {
        let old: Vec<u8> = (0..64).collect();
        let first = Pieces::replaced(64, [(4..6, vec![0xAA; 4]), (20..20, vec![0xBB]), (40..64, vec![])]).unwrap();
        let between = first.bytes(&old);
        let mut moved = Pieces::new();
        moved.keep(5..30);
        moved.insert([1, 2]);
        moved.keep(0..between.len());
        for second in [moved, Pieces::whole(between.len()), Pieces::new()] {
            let (bytes, both) = (second.bytes(&between), second.after(&first));
            assert_eq!(both.bytes(&old), bytes);
            assert_eq!(both.inverse(&old).bytes(&bytes), old);
        }
    }

    #[test]
    fn in_place_is_told_from_moved() {
        let stays = Pieces::replaced(10, [(2..4, vec![9, 9])]).unwrap();
        let moves = Pieces::replaced(10, [(2..4, vec![9])]).unwrap();
        assert!(stays.is_in_place(10) && Pieces::whole(10).is_in_place(10));
        assert!(!moves.is_in_place(10) && !stays.is_in_place(11));
        let twice = Pieces::replaced(10, [(2..4, vec![9, 9]), (6..7, vec![9])]).unwrap();
        assert_eq!((twice.changed(10), moves.changed(10)), (Some(vec![2..4, 6..7]), None));
    }
}
