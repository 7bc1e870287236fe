//! Searches texts that are stored plainly in the file: one search over the range that holds them all.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "offsets of hits, and numbers of rows and bytes in memory, which cannot overflow"
)]

use crate::table::{Anchor, Literal};
use crate::threads::prelude::*;
use std::ops::Range;

/// Whether a short text has this byte. Without a branch for each byte, which the compiler turns into wide loads: that
/// beats a search that sets out to find the place.
fn has(text: &[u8], byte: u8) -> bool {
    match text.last_chunk::<16>() {
        Some(last) => text.as_chunks::<16>().0.iter().fold(any_is(last, byte), |any, chunk| any | any_is(chunk, byte)),
        None => any_is(text, byte),
    }
}

#[inline]
fn any_is(bytes: &[u8], byte: u8) -> bool {
    bytes.iter().fold(false, |any, b| any | (*b == byte))
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
        let parts = self.range.len().div_ceil(SHARE).max(1);
        let share = self.rows.len().div_ceil(parts);
        let starts = (0..parts).into_par_iter().map(|part| self.rows.start + part * share);
        starts.flat_map_iter(|start| self.search_part(literal, start..(start + share).min(self.rows.end))).collect()
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
            let Some(texts) = self.bytes.get(start..end) else { break };
            for step in literal.places(texts) {
                let hit = start + step;
                if hit < judged {
                    continue;
                }
                row = self.row_at(hit, row..rows.end);
                let text = (self.place)(row);
                let behind = hit + literal.text().len();
                // A hit in a gap between texts, at least in part, may hide hits that begin on it.
                if hit < text.start && behind > text.start {
                    continue 'search;
                } else if hit < text.start {
                    continue;
                }
                let hides = behind > text.end;
                let fits = match literal.anchor() {
                    Anchor::Anywhere => !hides,
                    _ => self.bytes.get(text.clone()).is_some_and(|text| literal.fits(text)),
                };
                if fits {
                    found.push(row);
                }
                row += 1;
                if let Some(byte) = literal.byte() {
                    // If one row contains it, the next rows often do, too.
                    while row < rows.end && self.bytes.get((self.place)(row)).is_some_and(|text| has(text, byte)) {
                        found.push(row);
                        row += 1;
                    }
                    row += 1;
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
            let next = low + step;
            if next >= rows.end {
                break rows.end;
            }
            if (self.place)(next).start > at {
                break next;
            }
            low = next;
            step *= 2;
        };
        while high - low > 1 {
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
        let rows = self.rows.clone().into_par_iter().with_min_len(1 << 14);
        Some(rows.filter(|row| contains_hit(&hits, (self.place)(*row), literal)).collect())
    }
}

/// Whether one of `hits` is in `text` at the position that `literal` requires.
fn contains_hit(hits: &[usize], text: Range<usize>, literal: &Literal) -> bool {
    let Some(last) = text.end.checked_sub(literal.text().len()).filter(|last| *last >= text.start) else {
        return false;
    };
    let places = match literal.anchor() {
        Anchor::Anywhere => text.start..=last,
        Anchor::Start => text.start..=text.start,
        Anchor::End => last..=last,
        Anchor::Whole if last > text.start => return false,
        Anchor::Whole => last..=last,
    };
    hits.get(hits.partition_point(|hit| hit < places.start())).is_some_and(|hit| places.contains(hit))
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
    let (mut before, mut run) = (range.start, range.start);
    for &hit in &hits {
        run = memchr::memrchr(0, &bytes[before..hit]).map_or(run, |nul| before + nul + 1);
        runs.push(run);
        before = hit;
    }
    let rows = (0..rows()).into_par_iter().with_min_len(1 << 14);
    let found = rows.filter(|row| {
        let Some(start) = start(*row) else { return false };
        let next = hits.partition_point(|&hit| hit < start);
        match literal.anchor() {
            Anchor::Anywhere | Anchor::End => runs.get(next).is_some_and(|&run| run <= start),
            Anchor::Start | Anchor::Whole => hits.get(next) == Some(&start),
        }
    });
    Some(found.collect())
}

/// Whether `literal` occurs anywhere in `range` of `bytes`, whatever its anchor.
pub fn stands(bytes: &[u8], range: &Range<usize>, literal: &Literal) -> bool {
    shares(range).any(|share| {
        // A hit that begins in this share may end after it.
        let end = (share.end + literal.text().len()).min(range.end);
        bytes.get(share.start..end).is_some_and(|bytes| literal.is_in_bytes(bytes))
    })
}

/// The shares of a range that cores search by themselves.
fn shares(range: &Range<usize>) -> impl IndexedParallelIterator<Item = Range<usize>> {
    let Range { start, end } = *range;
    (0..range.len().div_ceil(SHARE)).into_par_iter().map(move |number| {
        let start = start + number * SHARE;
        start..end.min(start + SHARE)
    })
}

/// All positions of `literal` in `range` of `bytes`, in order. If it must be at the end of a text, a NUL must follow.
fn hits(bytes: &[u8], range: &Range<usize>, literal: &Literal) -> Option<Vec<usize>> {
    let at_end = matches!(literal.anchor(), Anchor::End | Anchor::Whole);
    let found = shares(range).flat_map_iter(|share| {
        // A hit that begins in this share may end after it.
        let end = (share.end + literal.text().len()).min(range.end);
        let mut hits = Vec::new();
        let mut at = share.start;
        // One by one, because they may overlap.
        while let Some(step) = bytes.get(at..end).and_then(|rest| literal.first_in(rest)) {
            let hit = at + step;
            if hit >= share.end || hits.len() > MOST_HITS {
                break;
            }
            if !at_end || bytes.get(hit + literal.text().len()) == Some(&0) {
                hits.push(hit);
            }
            at = hit + 1;
        }
        hits
    });
    let hits: Vec<usize> = found.collect();
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

    /// Out of order, one text a part of another, and one that several rows share.
    #[test]
    fn texts_at_any_place_are_found_as_by_reading_each() {
        let bytes = b"needle hay\0hay\0Needle\0";
        let places = [11..14, 0..10, 7..10, 15..21, 0..0, 11..14];
        let texts = PackedTexts {
            bytes,
            range: 0..bytes.len(),
            rows: 0..places.len(),
            place: |row: usize| places[row].clone(),
        };
        for needle in ["hay", "needle", "Needle", "needle hay", "e", "y", "hay\n", "straw"] {
            for anchor in [Anchor::Anywhere, Anchor::Start, Anchor::End, Anchor::Whole] {
                for ignore_case in [false, true] {
                    let fold = |text: &str| if ignore_case { text.to_ascii_lowercase() } else { text.to_owned() };
                    let is_found = |row: &usize| {
                        let text = fold(std::str::from_utf8(&bytes[places[*row].clone()]).unwrap());
                        let needle = &*fold(needle);
                        match anchor {
                            Anchor::Anywhere => text.contains(needle),
                            Anchor::Start => text.starts_with(needle),
                            Anchor::End => text.ends_with(needle),
                            Anchor::Whole => text == needle,
                        }
                    };
                    let expected: Vec<usize> = (0..places.len()).filter(is_found).collect();
                    let literal = Literal::new(needle, anchor, ignore_case).unwrap();
                    assert_eq!(texts.search_anywhere(&literal), Some(expected), "{needle} {anchor:?} {ignore_case}");
                }
            }
        }
    }
}
