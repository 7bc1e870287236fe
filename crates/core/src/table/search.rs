//! Searches texts that are stored plainly in the file: one search over the range that holds them all.

use crate::threads::prelude::*;
use memchr::memmem;
use std::ops::Range;

/// The required position of a [`Literal`] in a cell's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Anywhere,
    Start,
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
    /// Upper and lower case of ASCII letters are the same; found by the byte at this position.
    Folded(usize),
}

impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.anchor == other.anchor && self.ignores_case() == other.ignores_case()
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
        let needle = match (0..bytes.len()).min_by_key(|at| commonness(bytes[*at])) {
            Some(rare) if ignore_case && bytes.iter().any(u8::is_ascii_alphabetic) => Needle::Folded(rare),
            _ => Needle::Exact(Box::new(memmem::Finder::new(bytes).into_owned())),
        };
        Some(Self { text: text.into(), anchor, needle })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn anchor(&self) -> Anchor {
        self.anchor
    }

    /// Whether upper and lower case of ASCII letters are the same to it.
    pub fn ignores_case(&self) -> bool {
        matches!(self.needle, Needle::Folded(_))
    }

    /// Whether it occurs anywhere in `bytes`.
    pub fn is_in_bytes(&self, bytes: &[u8]) -> bool {
        self.first_in(bytes).is_some()
    }

    /// The literal's first place in `bytes`.
    pub(crate) fn first_in(&self, bytes: &[u8]) -> Option<usize> {
        match &self.needle {
            Needle::Exact(finder) => finder.find(bytes),
            Needle::Folded(rare) => places_folded(self.text.as_bytes(), *rare, bytes).next(),
        }
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
        let rest = text.len().checked_sub(self.text.len());
        match self.anchor {
            Anchor::Anywhere => self.is_in_bytes(text),
            Anchor::Start => rest.is_some_and(|rest| self.equals(&text[..text.len() - rest])),
            Anchor::End => rest.is_some_and(|rest| self.equals(&text[rest..])),
            Anchor::Whole => self.equals(text),
        }
    }

    fn equals(&self, text: &[u8]) -> bool {
        is_equal(text, self.text.as_bytes(), self.ignores_case())
    }

    /// The literal's positions in `bytes`, in order. Overlapping occurrences may be skipped.
    fn places<'b>(&'b self, bytes: &'b [u8]) -> impl Iterator<Item = usize> + 'b {
        let (exact, folded) = match &self.needle {
            Needle::Exact(finder) => (Some(finder.find_iter(bytes)), None),
            Needle::Folded(rare) => (None, Some(places_folded(self.text.as_bytes(), *rare, bytes))),
        };
        exact.into_iter().flatten().chain(folded.into_iter().flatten())
    }
}

/// Whether two texts are equal, with `ignore_case` regardless of the case of ASCII letters.
#[inline]
pub(super) fn is_equal(a: &[u8], b: &[u8], ignore_case: bool) -> bool {
    if ignore_case { a.eq_ignore_ascii_case(b) } else { a == b }
}

/// Texts with anything between them, as nearly all patterns are: the first one begins a text that matches, the last one ends it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pieces {
    start: Box<str>,
    inner: Box<[Literal]>,
    /// `None` if the first text is the whole pattern.
    end: Option<Box<str>>,
    ignore_case: bool,
}

impl Pieces {
    /// The pattern of these texts, which have no NUL in them. `None` for no text at all.
    pub(super) fn new(mut pieces: Vec<String>, ignore_case: bool) -> Option<Self> {
        let end = if pieces.len() > 1 { pieces.pop() } else { None };
        let mut pieces = pieces.into_iter();
        let start = pieces.next()?.into();
        // An empty piece is everywhere.
        let inner = pieces.filter_map(|piece| Literal::new(&piece, Anchor::Anywhere, ignore_case)).collect();
        Some(Self { start, inner, end: end.map(Into::into), ignore_case })
    }

    /// Whether the whole of `text` matches.
    #[inline]
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        let Some((head, rest)) = text.split_at_checked(self.start.len()) else { return false };
        if !is_equal(head, self.start.as_bytes(), self.ignore_case) {
            return false;
        }
        let Some(end) = self.end.as_deref() else { return rest.is_empty() };
        let Some((mut rest, tail)) = rest.len().checked_sub(end.len()).map(|at| rest.split_at(at)) else {
            return false;
        };
        is_equal(tail, end.as_bytes(), self.ignore_case)
            // The first position of each piece leaves most room for the others.
            && self.inner.iter().all(|piece| {
                let found = piece.first_in(rest);
                rest = found.map_or(rest, |at| &rest[at + piece.text.len()..]);
                found.is_some()
            })
    }

    /// The text of a pattern that is a single text, and its required position.
    pub(super) fn literal(&self) -> Option<Literal> {
        let (text, anchor) = match (&*self.start, &*self.inner, self.end.as_deref()) {
            (text, [], None) => (text, Anchor::Whole),
            (text, [], Some("")) => (text, Anchor::Start),
            ("", [], Some(text)) => (text, Anchor::End),
            ("", [inner], Some("")) => return Some(inner.clone()),
            _ => return None,
        };
        Literal::new(text, anchor, self.ignore_case)
    }
}

/// The frequency of a byte in names, roughly: the lower the better to look for.
fn commonness(byte: u8) -> usize {
    const FROM_COMMON: &[u8] = b"esatinrold_mc/u.ph0g1bv2f3w4k5y6789xjzq-";
    let place = FROM_COMMON.iter().position(|&b| b == byte.to_ascii_lowercase());
    place.map_or(0, |place| FROM_COMMON.len() - place)
}

/// The places of `wanted`, by the places of its byte at `rare`.
fn places_folded<'b>(wanted: &'b [u8], rare: usize, bytes: &'b [u8]) -> impl Iterator<Item = usize> + 'b {
    let (lower, upper) = (wanted[rare].to_ascii_lowercase(), wanted[rare].to_ascii_uppercase());
    // The first occurrence has this byte at offset `rare`.
    let places = bytes.get(rare..).into_iter().flat_map(move |bytes| memchr::memchr2_iter(lower, upper, bytes));
    places.filter(move |at| bytes[*at..].get(..wanted.len()).is_some_and(|found| found.eq_ignore_ascii_case(wanted)))
}

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
                let behind = hit + literal.text.len();
                // A hit in a gap between texts, at least in part, may hide hits that begin on it.
                if hit < text.start && behind > text.start {
                    continue 'search;
                } else if hit < text.start {
                    continue;
                }
                let hides = behind > text.end;
                let fits = match literal.anchor {
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
    let Some(last) = text.end.checked_sub(literal.text.len()).filter(|last| *last >= text.start) else { return false };
    let places = match literal.anchor {
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
        match literal.anchor {
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
        let end = (share.end + literal.text.len()).min(range.end);
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
    let at_end = matches!(literal.anchor, Anchor::End | Anchor::Whole);
    let found = shares(range).flat_map_iter(|share| {
        // A hit that begins in this share may end after it.
        let end = (share.end + literal.text.len()).min(range.end);
        let mut hits = Vec::new();
        let mut at = share.start;
        // One by one, because they may overlap.
        while let Some(step) = bytes.get(at..end).and_then(|rest| literal.first_in(rest)) {
            let hit = at + step;
            if hit >= share.end || hits.len() > MOST_HITS {
                break;
            }
            if !at_end || bytes.get(hit + literal.text.len()) == Some(&0) {
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
}
