//! Texts and patterns of texts to look for in cells.

use super::filter::pattern::FolderMatch;
use memchr::memmem;

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
    #[inline]
    pub fn first_in(&self, bytes: &[u8]) -> Option<usize> {
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
    #[inline]
    pub fn byte(&self) -> Option<u8> {
        match (self.text.as_bytes(), &self.needle, self.anchor) {
            (&[byte], Needle::Exact(_), Anchor::Anywhere) => Some(byte),
            _ => None,
        }
    }

    /// As [`Literal::is_in`], for the bytes of a text.
    #[inline]
    pub fn fits(&self, text: &[u8]) -> bool {
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
    #[inline]
    pub fn places<'b>(&'b self, bytes: &'b [u8]) -> impl Iterator<Item = usize> + 'b {
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

/// The number of the first pieces that `text` contains one after another; the text after them remains.
#[inline]
fn find_in_order(pieces: &[Literal], text: &mut &[u8]) -> usize {
    // The first position of each piece leaves most room for the others.
    let found = pieces.iter().take_while(|piece| {
        let found = piece.first_in(text);
        *text = found.map_or(*text, |at| &text[at + piece.text.len()..]);
        found.is_some()
    });
    found.count()
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
        is_equal(tail, end.as_bytes(), self.ignore_case) && find_in_order(&self.inner, &mut rest) == self.inner.len()
    }

    /// The part of the pattern that `folder`, which ends in '/', has.
    pub(super) fn in_folder(&self, folder: &[u8]) -> FolderMatch {
        // A piece with a '/' may begin in the folder and end in the name.
        if self.end.is_none() || self.inner.iter().any(|piece| piece.text.contains('/')) {
            return FolderMatch::Unknown;
        }
        let Some((head, mut rest)) = folder.split_at_checked(self.start.len()) else { return FolderMatch::Unknown };
        match is_equal(head, self.start.as_bytes(), self.ignore_case) {
            true => {
                u32::try_from(find_in_order(&self.inner, &mut rest)).map_or(FolderMatch::Unknown, FolderMatch::Found)
            }
            false => FolderMatch::Never,
        }
    }

    /// Whether a name matches in a folder that has the first `found` of the inner pieces; `None` if the pattern's end may begin in the
    /// folder.
    #[inline]
    pub(super) fn matches_after(&self, found: usize, name: &[u8]) -> Option<bool> {
        let end = self.end.as_deref()?.as_bytes();
        let (mut rest, tail) = name.split_at(name.len().checked_sub(end.len())?);
        let pieces = self.inner.get(found..)?;
        Some(is_equal(tail, end, self.ignore_case) && find_in_order(pieces, &mut rest) == pieces.len())
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
#[inline]
fn places_folded<'b>(wanted: &'b [u8], rare: usize, bytes: &'b [u8]) -> impl Iterator<Item = usize> + 'b {
    let (lower, upper) = (wanted[rare].to_ascii_lowercase(), wanted[rare].to_ascii_uppercase());
    // The first occurrence has this byte at offset `rare`.
    let places = bytes.get(rare..).into_iter().flat_map(move |bytes| memchr::memchr2_iter(lower, upper, bytes));
    places.filter(move |at| bytes[*at..].get(..wanted.len()).is_some_and(|found| found.eq_ignore_ascii_case(wanted)))
}
