//! Texts that lie in the file as they are, found by one search over the stretch that holds them all.

use memchr::memmem;
use rayon::prelude::*;
use std::ops::Range;

/// Where in a cell's text a [`Literal`] has to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Anywhere.
    Anywhere,
    /// At its start.
    Start,
    /// At its end.
    End,
    /// From start to end.
    Whole,
}

/// A text to look for in the cells of a column: [`Table::search`](super::Table::search).
#[derive(Debug, Clone)]
pub struct Literal {
    text: Box<str>,
    anchor: Anchor,
    /// The text, or where it has to stand at the end of a cell the text and the NUL behind it.
    needle: Needle,
}

#[derive(Debug, Clone)]
enum Needle {
    Exact(Box<memmem::Finder<'static>>),
    /// Upper and lower case of ASCII letters are the same; found by the byte at `rare`.
    Folded {
        bytes: Box<[u8]>,
        rare: usize,
    },
}

impl Literal {
    /// A text that stands where `anchor` says. `None` for an empty text, which is everywhere, and for one with a NUL
    /// in it, which ends texts in files.
    pub fn new(text: &str, anchor: Anchor, ignore_case: bool) -> Option<Self> {
        if text.is_empty() || text.contains('\0') {
            return None;
        }
        let mut bytes = text.as_bytes().to_vec();
        if matches!(anchor, Anchor::End | Anchor::Whole) {
            bytes.push(0);
        }
        let needle = if ignore_case && bytes.iter().any(u8::is_ascii_alphabetic) {
            let rare = (0..text.len()).min_by_key(|&i| bytes.get(i).map_or(0, |&b| commonness(b))).unwrap_or(0);
            Needle::Folded { bytes: bytes.into(), rare }
        } else {
            Needle::Exact(Box::new(memmem::Finder::new(&bytes).into_owned()))
        };
        Some(Self { text: text.into(), anchor, needle })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where it has to stand.
    pub fn anchor(&self) -> Anchor {
        self.anchor
    }

    /// Whether upper and lower case of ASCII letters are the same to it.
    pub fn ignores_case(&self) -> bool {
        matches!(self.needle, Needle::Folded { .. })
    }

    /// Whether it stands anywhere in `bytes`, which have the NUL where it needs one.
    pub fn is_in_bytes(&self, bytes: &[u8]) -> bool {
        self.find(bytes).is_some()
    }

    /// Whether `text` has it where it has to stand.
    pub fn is_in(&self, text: &str) -> bool {
        let (text, wanted) = (text.as_bytes(), self.text.as_bytes());
        let equal = |part: Option<&[u8]>| {
            part.is_some_and(|part| match self.needle {
                Needle::Exact(_) => part == wanted,
                Needle::Folded { .. } => part.eq_ignore_ascii_case(wanted),
            })
        };
        match self.anchor {
            Anchor::Anywhere => self.find(text).is_some(),
            Anchor::Start => equal(text.get(..wanted.len())),
            Anchor::End => equal(text.len().checked_sub(wanted.len()).and_then(|at| text.get(at..))),
            Anchor::Whole => equal(Some(text)),
        }
    }

    /// The first place in `bytes` where it stands, with the NUL that has to follow.
    #[inline]
    fn find(&self, bytes: &[u8]) -> Option<usize> {
        match &self.needle {
            Needle::Exact(finder) => finder.find(bytes),
            Needle::Folded { bytes: wanted, rare } => find_folded(wanted, *rare, bytes),
        }
    }

    /// Whether it fills its place in the text at `text` when it was found at `hit`.
    fn fits(&self, hit: usize, text: &Range<usize>) -> bool {
        let end = hit.saturating_add(self.text.len());
        let (starts, ends) = (hit == text.start, end == text.end);
        match self.anchor {
            Anchor::Anywhere => hit >= text.start && end <= text.end,
            Anchor::Start => starts && end <= text.end,
            Anchor::End => ends && hit >= text.start,
            Anchor::Whole => starts && ends,
        }
    }
}

/// How often a byte stands in names, roughly: the lower the better to look for.
fn commonness(byte: u8) -> usize {
    const FROM_COMMON: &[u8] = b"esatinrold_mc/u.ph0g1bv2f3w4k5y6789xjzq-";
    let place = FROM_COMMON.iter().position(|&b| b == byte.to_ascii_lowercase());
    place.map_or(0, |place| FROM_COMMON.len().saturating_sub(place))
}

fn find_folded(wanted: &[u8], rare: usize, bytes: &[u8]) -> Option<usize> {
    let byte = *wanted.get(rare)?;
    // The rare byte of the first place lies `rare` bytes in.
    let searched = bytes.get(rare..)?;
    let is_here = |at: usize| {
        at.checked_add(wanted.len()).and_then(|end| bytes.get(at..end)).is_some_and(|b| b.eq_ignore_ascii_case(wanted))
    };
    memchr::memchr2_iter(byte.to_ascii_lowercase(), byte.to_ascii_uppercase(), searched).find(|&at| is_here(at))
}

/// The texts of a column: `bytes` that hold them, and where the text of each row lies there, without the NUL behind
/// it.
pub(crate) struct Texts<'a, P> {
    pub(crate) bytes: &'a [u8],
    /// Where all of them lie.
    pub(crate) range: Range<usize>,
    pub(crate) rows: Range<usize>,
    pub(crate) place: P,
}

/// Bytes that one core searches before it is worth asking another.
const SHARE: usize = 1 << 20;

impl<P: Fn(usize) -> Range<usize> + Sync> Texts<'_, P> {
    /// The rows whose text has `literal`, in order, where the texts lie one behind another in the order of rows.
    pub(crate) fn search_ordered(&self, literal: &Literal) -> Vec<usize> {
        let (count, bytes) = (self.rows.len(), self.range.len());
        let parts = bytes.div_ceil(SHARE).min(rayon::current_num_threads()).max(1);
        let part = |i: usize| {
            let edge = |i: usize| {
                let share = count.checked_mul(i).and_then(|n| n.checked_div(parts)).unwrap_or(count);
                self.rows.start.saturating_add(share)
            };
            self.search_part(literal, edge(i)..edge(i.saturating_add(1)))
        };
        match parts {
            1 => self.search_part(literal, self.rows.clone()),
            _ => (0..parts).into_par_iter().flat_map_iter(part).collect(),
        }
    }

    fn search_part(&self, literal: &Literal, rows: Range<usize>) -> Vec<usize> {
        let mut found = Vec::new();
        let Some(last) = rows.end.checked_sub(1).filter(|last| *last >= rows.start) else { return found };
        // With the NUL behind the last text, for what has to stand at its end.
        let end = (self.place)(last).end.saturating_add(1);
        let mut row = rows.start;
        let mut at = (self.place)(row).start;
        while let Some(step) = self.bytes.get(at..end).and_then(|rest| literal.find(rest)) {
            let hit = at.saturating_add(step);
            row = self.row_at(hit, row..rows.end);
            let text = (self.place)(row);
            if literal.fits(hit, &text) {
                found.push(row);
            } else if literal.anchor == Anchor::End && hit < text.end {
                // A NUL in the text: its end may still come.
                at = hit.saturating_add(1);
                continue;
            }
            row = row.saturating_add(1);
            if row >= rows.end {
                break;
            }
            at = (self.place)(row).start;
        }
        found
    }

    /// The last of `rows` whose text begins at `at` or before it; the first one begins there.
    fn row_at(&self, at: usize, rows: Range<usize>) -> usize {
        // Hits are close to each other more often than not: steps that double, then halves.
        let (mut low, mut step) = (rows.start, 1usize);
        let mut high = loop {
            let next = low.saturating_add(step);
            if next >= rows.end {
                break rows.end;
            }
            if (self.place)(next).start > at {
                break next;
            }
            low = next;
            step = step.saturating_mul(2);
        };
        while high.saturating_sub(low) > 1 {
            let middle = low.midpoint(high);
            if (self.place)(middle).start <= at {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// Hits that are kept; a needle that is found more often than that is not looked for in this way.
const MOST_HITS: usize = 8 << 20;

impl<P: Fn(usize) -> Range<usize> + Sync> Texts<'_, P> {
    /// The rows whose text has `literal`, in order, wherever the texts lie: they may be in any order, shared, or
    /// parts of each other. `None` when it is found too often to be looked for in this way.
    pub(crate) fn search_anywhere(&self, literal: &Literal) -> Option<Vec<usize>> {
        let hits = hits(self.bytes, &self.range, literal)?;
        if hits.is_empty() {
            return Some(Vec::new());
        }
        let len = literal.text.len();
        let is_hit = |row: &usize| {
            let text = (self.place)(*row);
            let from = match literal.anchor {
                Anchor::End | Anchor::Whole => text.end.saturating_sub(len).max(text.start),
                Anchor::Anywhere | Anchor::Start => text.start,
            };
            let next = hits.get(hits.partition_point(|&hit| hit < from));
            next.is_some_and(|&hit| literal.fits(hit, &text))
        };
        Some(self.rows.clone().into_par_iter().with_min_len(1 << 14).filter(is_hit).collect())
    }
}

/// The rows whose text has `literal`, in order, where texts begin anywhere in `range` of `bytes` and end at the next
/// NUL. `None` as in [`Texts::search_anywhere`].
pub(crate) fn search_terminated(
    bytes: &[u8],
    range: &Range<usize>,
    rows: usize,
    start: impl Fn(usize) -> Option<usize> + Sync,
    literal: &Literal,
) -> Option<Vec<usize>> {
    let hits = hits(bytes, range, literal)?;
    // Where the stretch without a NUL begins in which a hit lies: a text that begins there or behind has the hit.
    let mut runs: Vec<usize> = Vec::with_capacity(hits.len());
    let mut before = range.start;
    for &hit in &hits {
        let nul = bytes.get(before..hit).and_then(|between| memchr::memrchr(0, between));
        let run = nul.map(|at| before.saturating_add(at).saturating_add(1));
        runs.push(run.or_else(|| runs.last().copied()).unwrap_or(range.start));
        before = hit;
    }
    if hits.is_empty() {
        return Some(Vec::new());
    }
    let is_hit = |row: &usize| {
        let Some(start) = start(*row) else { return false };
        let next = hits.partition_point(|&hit| hit < start);
        match literal.anchor {
            Anchor::Anywhere | Anchor::End => runs.get(next).is_some_and(|&run| run <= start),
            Anchor::Start | Anchor::Whole => hits.get(next) == Some(&start),
        }
    };
    Some((0..rows).into_par_iter().with_min_len(1 << 14).filter(is_hit).collect())
}

/// Every place in `range` of `bytes` where `literal` stands, in order.
fn hits(bytes: &[u8], range: &Range<usize>, literal: &Literal) -> Option<Vec<usize>> {
    let part = |i: usize| {
        let start = range.start.saturating_add(i.saturating_mul(SHARE));
        let behind = start.saturating_add(SHARE);
        // What begins in this share may end behind it, with its NUL.
        let end = behind.saturating_add(literal.text.len()).min(range.end);
        let mut hits = Vec::new();
        let mut at = start;
        while let Some(step) = bytes.get(at..end).and_then(|rest| literal.find(rest)) {
            let hit = at.saturating_add(step);
            if hit >= behind || hits.len() > MOST_HITS {
                break;
            }
            hits.push(hit);
            at = hit.saturating_add(1);
        }
        hits
    };
    let shares: Vec<Vec<usize>> = (0..range.len().div_ceil(SHARE)).into_par_iter().map(part).collect();
    let hits = shares.concat();
    (hits.len() <= MOST_HITS).then_some(hits)
}
