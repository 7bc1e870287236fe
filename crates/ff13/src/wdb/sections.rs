//! The sections that a sheet begins with (docs/formats/wdb.md §1.2 and §4), and what is read from them.

use super::directory::{damaged, until_nul};
use super::fields::Layout;
use super::known_fields::MAX_FIELDS;
use super::layout::{ArrayInfo, WdbEntry};
use crate::bytes::{View, be};
use crate::error::{ErrorKind, Result};
use crate::source::Source;
use crate::text::shown;
use std::borrow::Cow;
use std::ops::Range;

/// Sheets have about ten sections. With a bound, opening one does not walk all of its records.
const MAX_SECTIONS: usize = 64;

/// Longest text of the pool: the games' are ids of a few dozen bytes.
pub(super) const MAX_TEXT: usize = 1 << 16;

pub(super) const SHEET_NAME: &str = "!!sheetname";
pub(super) const ARRAY: &str = "!!strArray";
pub(super) const ARRAY_INFO: &str = "!!strArrayInfo";
pub(super) const ARRAY_LIST: &str = "!!strArrayList";
pub(super) const POOL: &str = "!!string";
pub(super) const KINDS: &str = "!!strtypelist";
pub(super) const KINDS_BYTES: &str = "!!strtypelistb";
pub(super) const TYPES: &str = "!!typelist";
pub(super) const VERSION: &str = "!!version";
pub(super) const NAMES: &str = "!structitem";
pub(super) const NAME_COUNT: &str = "!structitemnum";

#[derive(Debug, Clone, Copy)]
pub(super) struct Sections<'a> {
    pub(super) source: &'a Source,
    pub(super) entries: &'a [WdbEntry],
}

impl<'a> Sections<'a> {
    /// The sections at the beginning of `entries`: with field names all that begin with "!", else, in the first
    /// game, only those that begin with "!!".
    pub fn find(source: &'a Source, entries: &'a [WdbEntry]) -> Result<Self> {
        let sections = Self { source, entries: marked(entries, b"!") };
        if sections.entries.len() > MAX_SECTIONS {
            let (value, limit) = (sections.entries.len() as u64, MAX_SECTIONS as u64);
            return Err(source.view("entry table").error(ErrorKind::Limit { what: "sections", value, limit }));
        }
        if sections.entry(NAMES).is_some() {
            return Ok(sections);
        }
        Ok(Self { source, entries: marked(entries, b"!!") })
    }

    pub fn entry(&self, name: &str) -> Option<&'a WdbEntry> {
        self.entries.iter().find(|e| e.name_bytes() == name.as_bytes())
    }

    /// The position of a section, inside of the file or not.
    pub fn view(&self, name: &'static str) -> Option<View<'a>> {
        Some(self.source.view(name).at(self.entry(name)?.offset.get() as usize))
    }

    /// The bytes of a section and their position.
    pub fn bytes(&self, name: &'static str) -> Result<Option<(View<'a>, &'a [u8])>> {
        let Some((view, entry)) = self.view(name).zip(self.entry(name)) else { return Ok(None) };
        Ok(Some((view, view.take(entry.size.get() as usize)?)))
    }

    /// The bytes of a section that the sheet must have.
    fn required(&self, name: &'static str) -> Result<(View<'a>, &'a [u8])> {
        self.bytes(name)?.ok_or_else(|| damaged(self.source.view(name), "section is missing"))
    }

    /// The words of a section; bytes after the last whole word do not count.
    pub fn words(&self, name: &'static str) -> Result<Option<(View<'a>, &'a [be::U32])>> {
        let Some((view, bytes)) = self.bytes(name)? else { return Ok(None) };
        Ok(Some((view, view.array(bytes.len() / 4)?)))
    }

    pub fn number(&self, name: &'static str) -> Result<Option<u32>> {
        let Some((view, words)) = self.words(name)? else { return Ok(None) };
        match words {
            [number] => Ok(Some(number.get())),
            _ => Err(view.bad_value("words in a section of one number", words.len() as u64)),
        }
    }

    /// The name of the sheet, with or without its NUL in the file.
    pub fn sheet_name(&self) -> Result<Option<Cow<'a, str>>> {
        Ok(self.bytes(SHEET_NAME)?.map(|(_, bytes)| shown(until_nul(bytes))))
    }

    /// The word kinds of a record, as stored.
    pub fn kinds(&self) -> Result<Vec<u32>> {
        if let Some((view, bytes)) = self.bytes(KINDS_BYTES)? {
            limit(view, "words of a record", bytes.len())?;
            return Ok(bytes.iter().map(|&b| b.into()).collect());
        }
        match self.numbers(KINDS)? {
            Some(kinds) => Ok(kinds),
            None => {
                let view = self.source.view("sections");
                Err(damaged(view, "the sheet has neither !!strtypelist nor !!strtypelistb"))
            }
        }
    }

    /// The first game's second list: one type for each field.
    pub fn types(&self) -> Result<Option<Vec<u32>>> {
        self.numbers(TYPES)
    }

    fn numbers(&self, name: &'static str) -> Result<Option<Vec<u32>>> {
        let Some((view, words)) = self.words(name)? else { return Ok(None) };
        limit(view, "words of a record", words.len())?;
        Ok(Some(words.iter().map(|w| w.get()).collect()))
    }

    /// The names of the fields. Empty names at the end that the count does not know of are padding.
    pub fn names(&self) -> Result<Option<Vec<Cow<'a, str>>>> {
        let Some((view, bytes)) = self.bytes(NAMES)? else { return Ok(None) };
        let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        let mut names: Vec<_> = bytes.split(|&b| b == 0).take(MAX_FIELDS.saturating_add(1)).map(shown).collect();
        limit(view, "fields", names.len())?;
        let declared = self.number(NAME_COUNT).ok().flatten();
        while declared.is_none_or(|count| names.len() > count as usize)
            && names.last().is_some_and(|name| name.is_empty())
        {
            names.pop();
        }
        Ok(Some(names))
    }

    /// Where the texts are, when they are inside of the file.
    pub fn pool(&self) -> Option<Range<usize>> {
        let pool = self.bytes(POOL).ok().flatten();
        pool.and_then(|_| Some(self.entry(POOL)?.range()))
    }
}

/// The first entries that have names which begin with `mark`: one more than sections are allowed at most.
fn marked<'a>(entries: &'a [WdbEntry], mark: &[u8]) -> &'a [WdbEntry] {
    let count = entries.iter().take(MAX_SECTIONS.saturating_add(1)).take_while(|e| e.name.starts_with(mark)).count();
    entries.split_at(count).0
}

fn limit(view: View<'_>, what: &'static str, value: usize) -> Result<()> {
    if value > MAX_FIELDS {
        let (value, limit) = (value as u64, MAX_FIELDS as u64);
        return Err(view.error(ErrorKind::Limit { what, value, limit }));
    }
    Ok(())
}

/// The string arrays (§4): offsets into `!!string`, bit-packed, one array for each s# field.
#[derive(Debug, Clone)]
pub(super) struct Arrays {
    pub(super) per_word: u32,
    pub(super) bits: u8,
    /// The bytes of each array in the file.
    pub(super) spans: Vec<Range<usize>>,
}

impl Arrays {
    /// The arrays for the s# fields of `layout`.
    pub fn read(sections: Sections<'_>, layout: &Layout) -> Result<Self> {
        let (view, info) = sections.required(ARRAY_INFO)?;
        if info.len() != size_of::<ArrayInfo>() {
            return Err(view.bad_value("size of the section", info.len() as u64));
        }
        let info: &ArrayInfo = view.read()?;
        if u32::from(info.per_word).saturating_mul(info.bits.into()) > 32 || info.per_word == 0 || info.bits == 0 {
            let stored = u16::from_be_bytes([info.per_word, info.bits]);
            return Err(view.bad_value("items in a word and their bits", stored));
        }
        let (view, starts) = sections.required(ARRAY_LIST)?;
        let starts: &[be::U32] = view.array(starts.len() / 4)?;
        if starts.len() != layout.arrays as usize {
            let what = format!("{} arrays for {} fields that index them", starts.len(), layout.arrays);
            return Err(damaged(view, what));
        }
        let (view, words) = sections.required(ARRAY)?;
        // An array ends where the next one begins, in the order of their starts; the list may have another order.
        let mut order: Vec<usize> = (0..starts.len()).collect();
        order.sort_by_key(|&array| starts.get(array).map(|start| start.get()));
        let mut spans = vec![0..0; starts.len()];
        let mut end = words.len();
        for &array in order.iter().rev() {
            let start = starts.get(array).map_or(0, |start| start.get() as usize);
            if start > words.len() {
                return Err(view.bad_value("start of a string array", start as u64));
            }
            if let Some(span) = spans.get_mut(array) {
                *span = view.skip(start).position()..view.skip(end).position();
            }
            end = start;
        }
        Ok(Self { per_word: info.per_word.into(), bits: info.bits, spans })
    }

    /// The offset in the pool that item `index` of `array` holds.
    #[inline]
    pub fn item(&self, file: &[u8], array: u32, index: u32) -> Option<u32> {
        let words = file.get(self.spans.get(array as usize)?.clone())?;
        let (word, slot) = (index.checked_div(self.per_word)?, index.checked_rem(self.per_word)?);
        let word = words.get((word as usize).checked_mul(4)?..)?.first_chunk()?;
        Some(bits(u32::from_be_bytes(*word), slot.checked_mul(self.bits.into())?, self.bits))
    }

    /// How many items an array holds, the unused ones of its last word included.
    pub fn items(&self, array: u32) -> usize {
        let words = self.spans.get(array as usize).map_or(0, |span| span.len() / 4);
        words.saturating_mul(self.per_word as usize)
    }
}

/// `width` bits of `word` from bit `shift` on: `width` is 1 to 32 and both together are at most 32.
#[inline]
pub(super) fn bits(word: u32, shift: u32, width: u8) -> u32 {
    let unused = 32u32.wrapping_sub(width.into());
    word.wrapping_shl(unused.wrapping_sub(shift)).wrapping_shr(unused)
}

/// The same as [`bits`], with the highest of them as the sign.
#[inline]
pub(super) fn signed_bits(word: u32, shift: u32, width: u8) -> i32 {
    let unused = 32u32.wrapping_sub(width.into());
    word.wrapping_shl(unused.wrapping_sub(shift)).cast_signed().wrapping_shr(unused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_from_the_lowest() {
        // The example of §4: two items of 15 bits.
        let word = 285_212_676;
        assert_eq!((bits(word, 0, 15), bits(word, 15, 15)), (4, 8704));
        assert_eq!(bits(u32::MAX, 0, 32), u32::MAX);
        assert_eq!(bits(0x8000_0000, 31, 1), 1);
        assert_eq!(signed_bits(0x0000_7E00, 8, 8), 0x7E);
        assert_eq!(signed_bits(0x0000_FF00, 8, 8), -1);
        assert_eq!(signed_bits(0x8000_0000, 0, 32), i32::MIN);
        assert_eq!(signed_bits(0x0000_0010, 0, 5), -16);
    }
}
