//! Searches texts that are stored plainly in the file: one search over the range that holds them all.

use crate::threads::prelude::*;
use memchr::memmem;
use std::ops::Range;

/// The required position of a [`Literal`] in a cell's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Anywhere.
    Anywhere,
    /// The start of the text.
    Start,
    /// The end of the text.
    End,
    /// The whole text, from start to end.
    Whole,
}

/// A text to look for in the cells of a column: [`Table::search`](super::Table::search).
#[derive(Debug, Clone)]
pub struct Literal {
    text: Box<str>,
    anchor: Anchor,
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

impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        let of = |literal: &Self| (literal.anchor, literal.ignores_case());
        of(self) == of(other) && self.text == other.text
    }
}

impl Literal {
    /// A text at the position that `anchor` requires. `None` for an empty text, which matches everywhere, and for a text with a NUL, which
    /// ends texts in files.
    pub fn new(text: &str, anchor: Anchor, ignore_case: bool) -> Option<Self> {
        if text.is_empty() || text.contains('\0') {
            return None;
        }
        let bytes = text.as_bytes();
        let needle = if ignore_case && bytes.iter().any(u8::is_ascii_alphabetic) {
            let rare = (0..bytes.len()).min_by_key(|&i| bytes.get(i).map_or(0, |&b| commonness(b))).unwrap_or(0);
            Needle::Folded { bytes: bytes.into(), rare }
        } else {
            Needle::Exact(Box::new(memmem::Finder::new(bytes).into_owned()))
        };
        Some(Self { text: text.into(), anchor, needle })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The required position.
    pub fn anchor(&self) -> Anchor {
        self.anchor
    }

    /// Whether upper and lower case of ASCII letters are the same to it.
    pub fn ignores_case(&self) -> bool {
        matches!(self.needle, Needle::Folded { .. })
    }

    /// Whether it occurs anywhere in `bytes`.
    pub fn is_in_bytes(&self, bytes: &[u8]) -> bool {
        self.places(bytes).next().is_some()
    }

    /// The literal's first place in `bytes`.
    pub(crate) fn first_in(&self, bytes: &[u8]) -> Option<usize> {
        self.places(bytes).next()
    }

    /// Whether `text` contains it at the required position.
    pub fn is_in(&self, text: &str) -> bool {
        self.fits(text.as_bytes())
    }

    /// The literal's only byte, if it is one byte without a required position.
    fn byte(&self) -> Option<u8> {
        match (self.text.as_bytes(), &self.needle, self.anchor) {
            (&[byte], Needle::Exact(_), Anchor::Anywhere) => Some(byte),
            _ => None,
        }
    }

    #[inline]
    fn fits(&self, text: &[u8]) -> bool {
        let wanted = self.text.as_bytes();
        let equal = |part: Option<&[u8]>| {
            part.is_some_and(|part| match self.needle {
                Needle::Exact(_) => part == wanted,
                Needle::Folded { .. } => part.eq_ignore_ascii_case(wanted),
            })
        };
        match self.anchor {
            Anchor::Anywhere => self.is_in_bytes(text),
            Anchor::Start => equal(text.get(..wanted.len())),
            Anchor::End => equal(text.len().checked_sub(wanted.len()).and_then(|at| text.get(at..))),
            Anchor::Whole => equal(Some(text)),
        }
    }

    /// The literal's positions in `bytes`, in order. Overlapping occurrences may be skipped.
    fn places<'b>(&'b self, bytes: &'b [u8]) -> impl Iterator<Item = usize> + 'b {
        let (exact, folded) = match &self.needle {
            Needle::Exact(finder) => (Some(finder.find_iter(bytes)), None),
            Needle::Folded { bytes: wanted, rare } => (None, Some(places_folded(wanted, *rare, bytes))),
        };
        exact.into_iter().flatten().chain(folded.into_iter().flatten())
    }
}

/// The frequency of a byte in names, roughly: the lower the better to look for.
fn commonness(byte: u8) -> usize {
    const FROM_COMMON: &[u8] = b"esatinrold_mc/u.ph0g1bv2f3w4k5y6789xjzq-";
    let place = FROM_COMMON.iter().position(|&b| b == byte.to_ascii_lowercase());
    place.map_or(0, |place| FROM_COMMON.len().saturating_sub(place))
}

/// The places of `wanted`, by the places of its byte at `rare`.
fn places_folded<'b>(wanted: &'b [u8], rare: usize, bytes: &'b [u8]) -> impl Iterator<Item = usize> + 'b {
    let byte = wanted.get(rare).copied().unwrap_or_default();
    // The first occurrence has this byte at offset `rare`.
    let searched = bytes.get(rare..).unwrap_or_default();
    let is_here = move |at: &usize| {
        at.checked_add(wanted.len()).and_then(|end| bytes.get(*at..end)).is_some_and(|b| b.eq_ignore_ascii_case(wanted))
    };
    memchr::memchr2_iter(byte.to_ascii_lowercase(), byte.to_ascii_uppercase(), searched).filter(is_here)
}

/// Whether a short text has this byte. Without a branch for each byte, which the compiler turns into wide loads: that
/// beats a search that sets out to find the place.
fn has(text: &[u8], byte: u8) -> bool {
    let any = |bytes: &[u8]| bytes.iter().fold(false, |any, b| any | (*b == byte));
    match text.last_chunk::<16>() {
        Some(last) => text.as_chunks::<16>().0.iter().fold(any(last), |found, chunk| found | any(chunk)),
        None => any(text),
    }
}

/// The texts of a column: the `bytes` that hold them, and the range of each row's text, without its NUL.
pub struct PackedTexts<'a, P> {
    pub bytes: &'a [u8],
    /// The range that contains all of them.
    pub range: Range<usize>,
    pub rows: Range<usize>,
    pub place: P,
}

/// Bytes that one core searches before a second core pays off.
const SHARE: usize = 1 << 19;

impl<P: Fn(usize) -> Range<usize> + Sync> PackedTexts<'_, P> {
    /// The rows whose text contains `literal`, in order. The texts must be consecutive in the order of rows, each with a NUL at its end.
    pub fn search_ordered(&self, literal: &Literal) -> Vec<usize> {
        let count = self.rows.len();
        let parts = self.range.len().div_ceil(SHARE).max(1);
        let edge = |i: usize| {
            let share = count.checked_mul(i).and_then(|n| n.checked_div(parts)).unwrap_or(count);
            self.rows.start.saturating_add(share)
        };
        let part = |i: usize| self.search_part(literal, edge(i)..edge(i + 1));
        let found: Vec<Vec<usize>> = (0..parts).into_par_iter().map(part).collect();
        found.concat()
    }

    fn search_part(&self, literal: &Literal, rows: Range<usize>) -> Vec<usize> {
        let mut found = Vec::new();
        let Some(last) = rows.end.checked_sub(1).filter(|last| *last >= rows.start) else { return found };
        let end = (self.place)(last).end;
        let mut row = rows.start;
        // The search restarts at the start of a row.
        'search: while row < rows.end {
            let start = (self.place)(row).start;
            // Places before this one are in rows that were judged.
            let mut judged = start;
            for step in literal.places(self.bytes.get(start..end).unwrap_or_default()) {
                let hit = start.saturating_add(step);
                if hit < judged {
                    continue;
                }
                row = self.row_at(hit, row..rows.end);
                let text = (self.place)(row);
                let behind = hit.saturating_add(literal.text.len());
                // A hit in a gap between texts, at least in part, may hide hits that begin on it.
                if hit < text.start && behind > text.start {
                    continue 'search;
                } else if hit < text.start {
                    continue;
                }
                let hides = behind > text.end;
                let fits = match literal.anchor {
                    Anchor::Anywhere => !hides,
                    _ => literal.fits(self.bytes.get(text.clone()).unwrap_or_default()),
                };
                if fits {
                    found.push(row);
                }
                row += 1;
                if let Some(byte) = literal.byte() {
                    // If one row contains it, the next rows often do, too.
                    let has = |row: &usize| has(self.bytes.get((self.place)(*row)).unwrap_or_default(), byte);
                    let more = row..(row..rows.end).find(|row| !has(row)).unwrap_or(rows.end);
                    row = more.end + 1;
                    found.extend(more);
                    continue 'search;
                }
                if row >= rows.end || hides {
                    continue 'search;
                }
                judged = text.end;
            }
            break;
        }
        found
    }

    /// The last of `rows` whose text begins at `at` or before it; the first of them without such a row.
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

impl<P: Fn(usize) -> Range<usize> + Sync> PackedTexts<'_, P> {
    /// The rows whose text contains `literal`, in order, wherever the texts are: they may be in any order, shared, or parts
    /// of each other. `None` after too many hits for this method.
    pub fn search_anywhere(&self, literal: &Literal) -> Option<Vec<usize>> {
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
            let next = hits.get(hits.partition_point(|&hit| hit < from)).copied();
            next.is_some_and(|hit| match literal.anchor {
                Anchor::Anywhere => hit.saturating_add(len) <= text.end,
                Anchor::Start => hit == text.start && hit.saturating_add(len) <= text.end,
                Anchor::End => hit == from && hit.saturating_add(len) == text.end,
                Anchor::Whole => hit == text.start && hit.saturating_add(len) == text.end,
            })
        };
        Some(self.rows.clone().into_par_iter().with_min_len(1 << 14).filter(is_hit).collect())
    }
}

/// The rows whose text contains `literal`, in order, if texts begin anywhere in `range` of `bytes` and end at the
/// next NUL. `None` as in [`PackedTexts::search_anywhere`].
pub fn search_terminated(
    bytes: &[u8],
    range: &Range<usize>,
    rows: impl FnOnce() -> usize,
    start: impl Fn(usize) -> Option<usize> + Sync,
    literal: &Literal,
) -> Option<Vec<usize>> {
    let hits = hits(bytes, range, literal)?;
    if hits.is_empty() {
        return Some(Vec::new());
    }
    // The start of the stretch without a NUL around a hit: a text that begins there or later contains the hit.
    let mut runs: Vec<usize> = Vec::with_capacity(hits.len());
    let mut before = range.start;
    for &hit in &hits {
        let nul = bytes.get(before..hit).and_then(|between| memchr::memrchr(0, between));
        let run = nul.map(|at| before.saturating_add(at) + 1);
        runs.push(run.or_else(|| runs.last().copied()).unwrap_or(range.start));
        before = hit;
    }
    let is_hit = |row: &usize| {
        let Some(start) = start(*row) else { return false };
        let next = hits.partition_point(|&hit| hit < start);
        match literal.anchor {
            Anchor::Anywhere | Anchor::End => runs.get(next).is_some_and(|&run| run <= start),
            Anchor::Start | Anchor::Whole => hits.get(next) == Some(&start),
        }
    };
    Some((0..rows()).into_par_iter().with_min_len(1 << 14).filter(is_hit).collect())
}

/// Whether `literal` occurs anywhere in `range` of `bytes`, whatever its anchor.
pub fn stands(bytes: &[u8], range: &Range<usize>, literal: &Literal) -> bool {
    let part = |i: usize| {
        let start = range.start.saturating_add(i.saturating_mul(SHARE));
        // A hit that begins in this share may end after it.
        let end = start.saturating_add(SHARE).saturating_add(literal.text.len()).min(range.end);
        bytes.get(start..end).is_some_and(|bytes| literal.is_in_bytes(bytes))
    };
    (0..range.len().div_ceil(SHARE)).into_par_iter().any(part)
}

/// All positions of `literal` in `range` of `bytes`, in order. If it must be at the end of a text, a NUL must follow.
fn hits(bytes: &[u8], range: &Range<usize>, literal: &Literal) -> Option<Vec<usize>> {
    let at_end = matches!(literal.anchor, Anchor::End | Anchor::Whole);
    let part = |i: usize| {
        let start = range.start.saturating_add(i.saturating_mul(SHARE));
        let behind = start.saturating_add(SHARE);
        // A hit that begins in this share may end after it.
        let end = behind.saturating_add(literal.text.len()).min(range.end);
        let mut hits = Vec::new();
        let mut at = start;
        // One by one, because they may overlap.
        while let Some(step) = bytes.get(at..end).and_then(|rest| literal.places(rest).next()) {
            let hit = at.saturating_add(step);
            if hit >= behind || hits.len() > MOST_HITS {
                break;
            }
            if !at_end || bytes.get(hit.saturating_add(literal.text.len())) == Some(&0) {
                hits.push(hit);
            }
            at = hit + 1;
        }
        hits
    };
    let shares: Vec<Vec<usize>> = (0..range.len().div_ceil(SHARE)).into_par_iter().map(part).collect();
    let hits = shares.concat();
    (hits.len() <= MOST_HITS).then_some(hits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows that contain `text`, of rows at `places` with anything between them.
    fn rows(bytes: &[u8], places: &[Range<usize>], text: &str) -> Vec<usize> {
        let texts = PackedTexts {
            bytes,
            range: 0..bytes.len(),
            rows: 0..places.len(),
            place: |row: usize| places[row].clone(),
        };
        texts.search_ordered(&Literal::new(text, Anchor::Anywhere, false).unwrap())
    }

    #[test]
    fn a_gap_between_texts_hides_nothing_behind_it() {
        assert_eq!(rows(b"needle\0needle\0\0needle\0", &[0..6, 15..21], "needle"), [0, 1]);
        // The search finds the two that begin in the gap, and not the ones inside of the other text.
        assert_eq!(rows(b"aa\0aaab\0", &[0..2, 4..7], "aa"), [0, 1]);
    }
}
