//! Edits of the container: resized, inserted and deleted entries. Bytes between entries are kept.

use super::directory::{TABLE, damaged, entries, entry_view};
use super::layout::{WdbEntry, WdbHeader};
use crate::bytes::be;
use crate::error::Result;
use crate::source::Source;
use crate::writable::{Pieces, refused};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::offset_of;
use std::ops::Range;
use zerocopy::IntoBytes as _;

#[derive(Debug)]
pub(super) struct Added {
    pub name: [u8; 0x10],
    pub extension: [u8; 8],
    pub data: Vec<u8>,
}

/// The new contents of a container's entries, by their numbers.
#[derive(Debug)]
pub(super) struct Relay<'s> {
    source: &'s Source,
    count: usize,
    /// New data, in ranges of the file and new bytes.
    pub data: BTreeMap<usize, Pieces>,
    pub names: BTreeMap<usize, [u8; 0x10]>,
    pub removed: BTreeSet<usize>,
    /// They are last, in the table and in the file.
    pub added: Vec<Added>,
}

/// The largest alignment of entries that a container is assumed to have.
const MOST_ALIGNED: usize = 1 << 12;

/// An entry as it will be.
struct Placed {
    /// The entry's number; inserted entries have the numbers after the last one.
    index: usize,
    data: Pieces,
    /// Bytes before it, besides its padding.
    extra: Range<usize>,
}

impl<'s> Relay<'s> {
    pub fn new(source: &'s Source, count: usize) -> Self {
        let (data, names, removed, added) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new(), Vec::new());
        Self { source, count, data, names, removed, added }
    }

    fn entries(&self) -> &'s [WdbEntry] {
        entries(self.source, self.count)
    }

    /// The new file.
    ///
    /// # Errors
    /// `Damaged` if entries must move that overlap or leave the file.
    pub fn finish(self) -> Result<Pieces> {
        let len = self.source.bytes().len();
        let entries = self.entries();
        let keep_size = self
            .data
            .iter()
            .all(|(&index, data)| entries.get(index).is_some_and(|entry| entry.range().len() == data.len()));
        if keep_size && self.removed.is_empty() && self.added.is_empty() {
            return self.in_place(len);
        }
        self.moved(len)
    }

    /// Keeps the positions of entries; bytes between them are not read.
    fn in_place(self, len: usize) -> Result<Pieces> {
        let entries = self.entries();
        let mut stretches: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
        for (&index, name) in &self.names {
            let at = TABLE.saturating_add(index.saturating_mul(size_of::<WdbEntry>()));
            stretches.push((at..at.saturating_add(name.len()), name.to_vec()));
        }
        for (index, data) in &self.data {
            let Some(entry) = entries.get(*index) else { continue };
            stretches.push((entry.range(), data.bytes(self.source.bytes())));
        }
        stretches.sort_by_key(|(range, _)| range.start);
        Pieces::replaced(len, stretches)
    }

    fn moved(self, len: usize) -> Result<Pieces> {
        let entries = self.entries();
        let mut order: Vec<(Range<usize>, usize)> = entries.iter().map(WdbEntry::range).zip(0..).collect();
        order.sort_by_key(|(range, index)| (range.start, range.end, *index));
        let aligned = alignment(&order);
        let old_table = TABLE.saturating_add(self.count.saturating_mul(size_of::<WdbEntry>()));
        let mut placed: Vec<Placed> = Vec::new();
        let mut at = old_table;
        for (range, index) in order {
            if range.start < at || range.end > len {
                let view = entry_view(self.source, index).skip(offset_of!(WdbEntry, offset));
                return Err(damaged(view, "entries overlap or leave the file, so none can move"));
            }
            let extra = at.saturating_add(padding(at, aligned)).min(range.start)..range.start;
            at = range.end;
            if self.removed.contains(&index) {
                // Other bytes between the entries belong to no entry, and are kept.
                if !extra.is_empty() {
                    placed.push(Placed { index: usize::MAX, data: Pieces::new(), extra });
                }
                continue;
            }
            let data = self.data.get(&index).cloned().unwrap_or_else(|| {
                let mut data = Pieces::new();
                data.keep(range);
                data
            });
            placed.push(Placed { index, data, extra });
        }
        for (number, added) in self.added.iter().enumerate() {
            let mut data = Pieces::new();
            data.insert(added.data.as_slice());
            placed.push(Placed { index: self.count.saturating_add(number), data, extra: 0..0 });
        }
        let behind = at.saturating_add(padding(at, aligned)).min(len)..len;
        let ends_aligned = len.checked_rem(aligned) == Some(0);

        let count = self.count.saturating_sub(self.removed.len()).saturating_add(self.added.len());
        let table = TABLE.saturating_add(count.saturating_mul(size_of::<WdbEntry>()));
        let mut places: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let mut body = Pieces::new();
        let mut at = table;
        for Placed { index, data, extra } in placed {
            let pad = padding(at, aligned);
            body.insert(vec![0; pad]);
            body.keep(extra.clone());
            at = at.saturating_add(pad).saturating_add(extra.len());
            places.insert(index, (at, data.len()));
            at = at.saturating_add(data.len());
            body.append(data);
        }
        if ends_aligned {
            body.insert(vec![0; padding(at, aligned)]);
        }
        body.keep(behind);
        let head = self.head(count, &places)?;
        let mut pieces = Pieces::new();
        pieces.insert(head);
        pieces.append(body);
        Ok(pieces)
    }

    /// The header and the table of entries.
    fn head(&self, count: usize, places: &BTreeMap<usize, (usize, usize)>) -> Result<Vec<u8>> {
        let mut head = Vec::with_capacity(TABLE.saturating_add(count.saturating_mul(size_of::<WdbEntry>())));
        let header: &WdbHeader = self.source.view("header").read()?;
        head.extend_from_slice(WdbHeader { count: number(count)?, ..*header }.as_bytes());
        let old = self.entries().iter().map(|entry| (entry.name, entry.extension));
        let added = self.added.iter().map(|added| (added.name, added.extension));
        for (index, (name, extension)) in old.chain(added).enumerate() {
            if self.removed.contains(&index) {
                continue;
            }
            let name = *self.names.get(&index).unwrap_or(&name);
            let &(at, size) = places.get(&index).expect("each entry that is kept or inserted has a place");
            let entry = WdbEntry { name, offset: number(at)?, size: number(size)?, extension };
            head.extend_from_slice(entry.as_bytes());
        }
        Ok(head)
    }
}

/// A number of the header or of the table.
pub(super) fn number(n: usize) -> Result<be::U32> {
    u32::try_from(n).map(be::U32::from).map_err(|_| refused("the file would have more than 4 GB"))
}

/// The boundary at which all entries begin.
fn alignment(order: &[(Range<usize>, usize)]) -> usize {
    let starts = order.iter().filter(|(range, _)| !range.is_empty()).map(|(range, _)| range.start);
    let shift = starts.map(usize::trailing_zeros).min().unwrap_or(2).min(MOST_ALIGNED.trailing_zeros());
    1usize.checked_shl(shift).unwrap_or(1)
}

/// The bytes from `at` to the next boundary.
fn padding(at: usize, aligned: usize) -> usize {
    at.next_multiple_of(aligned.max(1)).saturating_sub(at)
}
