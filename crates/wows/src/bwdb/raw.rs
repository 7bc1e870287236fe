//! Records of an unknown layout: their likely size, and the positions of their pointers.

use super::Blob;
use crate::bytes::le;
use std::num::NonZeroUsize;
use std::ops::Range;
use zerocopy::FromBytes as _;

/// The longest record that is looked for, in bytes; the raw ones that are known have 112.
const LONGEST: usize = 4096;
/// Records that are looked at before all are.
const SAMPLES: usize = 64;
/// Sizes for which all records are looked at.
const TRIED: usize = 16;
/// The greatest padding between the records and the data that they point to.
const PADDING: usize = 16;

/// The layout that the records of a raw database seem to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawLayout {
    /// Bytes of one record.
    pub size: usize,
    /// Offsets of the pointers in it, in order.
    pub pointers: Vec<usize>,
}

/// At most `most` records of `count`, evenly from the first to the last.
pub(super) fn samples(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let samples = count.min(most);
    let last = count.saturating_sub(1);
    let steps = NonZeroUsize::new(samples.saturating_sub(1)).unwrap_or(NonZeroUsize::MIN);
    (0..samples).map(move |sample| sample.saturating_mul(last) / steps)
}

/// The records of a blob, and the data after them.
struct Stride<'a> {
    bytes: &'a [u8],
    count: usize,
    size: usize,
}

impl Stride<'_> {
    fn end(&self) -> usize {
        self.count.saturating_mul(self.size)
    }

    /// The target of the pointer in a field; `None` where it is null, `Err` where no pointer of a record can lead. The
    /// base may be any struct in the record.
    fn target(&self, record: usize, field: usize) -> Result<Option<usize>, ()> {
        let base = record.saturating_mul(self.size);
        let at = base.saturating_add(field);
        let (pointer, _) = le::I64::ref_from_prefix(self.bytes.get(at..).ok_or(())?).map_err(|_| ())?;
        if pointer.get() == 0 {
            return Ok(None);
        }
        let target = isize::try_from(pointer.get()).ok().and_then(|pointer| base.checked_add_signed(pointer));
        let least = self.end().saturating_sub(self.size);
        target.filter(|target| (least..=self.bytes.len()).contains(target)).map(Some).ok_or(())
    }

    /// Whether a field holds pointers in these records, and not only null pointers.
    fn points(&self, field: usize, mut records: impl Iterator<Item = usize>) -> bool {
        let mut any = false;
        records.all(|record| self.target(record, field).map(|target| any |= target.is_some()).is_ok()) && any
    }

    /// The offsets of pointers, as a few records show them.
    fn pointers(&self) -> Vec<usize> {
        (0..self.size).step_by(8).filter(|&field| self.points(field, samples(self.count, SAMPLES))).collect()
    }
}

impl<'a> Blob<'a> {
    /// Infers the record size from the bytes of all records: with the right size, all pointers lead past the last
    /// record, and the first pointer leads to its end. `None` without evidence.
    pub fn raw_layout(&self) -> Option<RawLayout> {
        let bytes = self.behind()?;
        let (count, most) = (self.len(), bytes.len().checked_div(self.len())?);
        if count == 1 {
            return Some(RawLayout { size: most, pointers: Vec::new() });
        }
        let mut tried = 0usize;
        for size in (8..=most.min(LONGEST)).step_by(8).filter(|_| count >= 4) {
            let stride = Stride { bytes, count, size };
            let mut pointers = stride.pointers();
            if pointers.is_empty() {
                continue;
            }
            tried = tried.saturating_add(1);
            pointers.retain(|&field| stride.points(field, 0..count));
            let targets = pointers.iter().flat_map(|&field| (0..count).map(move |record| (record, field)));
            let first = targets.filter_map(|(record, field)| stride.target(record, field).ok().flatten()).min();
            if first.is_some_and(|first| first < stride.end().saturating_add(PADDING)) {
                return Some(RawLayout { size, pointers });
            }
            if tried >= TRIED {
                return None;
            }
        }
        // Without pointers the data consists of records only.
        let rest = bytes.len().checked_rem(count)?;
        let plain = count > PADDING && rest < PADDING && most.is_multiple_of(4) && (1..=LONGEST).contains(&most);
        plain.then_some(RawLayout { size: most, pointers: Vec::new() })
    }

    /// The bytes of a record in this layout.
    pub fn raw_record(&self, layout: &RawLayout, record: usize) -> Option<&'a [u8]> {
        let at = record.checked_mul(layout.size).filter(|_| record < self.len())?;
        self.behind()?.get(at..at.checked_add(layout.size)?)
    }

    /// The bytes from the first record on.
    fn behind(&self) -> Option<&'a [u8]> {
        self.records().take(self.end().checked_sub(self.records().position())?).ok()
    }
}

impl RawLayout {
    /// The layout of two databases with records of the same size.
    pub fn common(old: Self, new: Self) -> Option<Self> {
        let Self { size, mut pointers } = old;
        pointers.extend(new.pointers);
        pointers.sort_unstable();
        pointers.dedup();
        (size == new.size).then_some(Self { size, pointers })
    }

    /// The positions where two records differ: words outside of pointers, adjacent ones as one.
    pub fn differences(&self, old: &[u8], new: &[u8]) -> Vec<Range<usize>> {
        const WORD: usize = 4;
        let mut found: Vec<Range<usize>> = Vec::new();
        for (word, (a, b)) in old.chunks(WORD).zip(new.chunks(WORD)).enumerate() {
            let at = word.saturating_mul(WORD);
            if a == b || self.pointers.binary_search(&(at & !7)).is_ok() {
                continue;
            }
            let end = at.saturating_add(a.len());
            match found.last_mut().filter(|last| last.end == at) {
                Some(last) => last.end = end,
                None => found.push(at..end),
            }
        }
        found
    }
}
