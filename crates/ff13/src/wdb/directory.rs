//! The entry table that sheets and packs share.

use super::layout::{Entry, Header, MAGIC};
use crate::bytes::View;
use crate::error::{ErrorKind, Result};
use crate::source::Source;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// Where the entry table begins.
pub(super) const TABLE: usize = size_of::<Header>();

/// Checks the beginning of the file and that it contains its entry table; returns the number of entries.
pub(super) fn check(source: &Source) -> Result<usize> {
    let header: &Header = source.view("header").read()?;
    if header.magic != MAGIC {
        let (expected, found) = (u32::from_be_bytes(MAGIC).into(), u32::from_be_bytes(header.magic).into());
        return Err(source.view("header").error(ErrorKind::BadMagic { expected, found }));
    }
    let count = header.count.get() as usize;
    source.view("entry table").at(TABLE).array::<Entry>(count)?;
    Ok(count)
}

/// The first `count` entries; [`check`] has found them inside of the file.
#[inline]
pub(super) fn entries(source: &Source, count: usize) -> &[Entry] {
    source.view("entry table").at(TABLE).array(count).unwrap_or_default()
}

/// The view of entry `index` in the table.
pub(super) fn entry_view(source: &Source, index: usize) -> View<'_> {
    source.view("entry table").at(TABLE).skip(index.saturating_mul(size_of::<Entry>()))
}

impl Entry {
    /// The entry's name up to the first NUL.
    #[inline]
    pub fn name_bytes(&self) -> &[u8] {
        until_nul(&self.name)
    }

    /// The entry's name; bytes that are not UTF-8 are shown as `\xff`.
    #[inline]
    pub fn name_text(&self) -> Cow<'_, str> {
        text(self.name_bytes())
    }

    /// The entry's extension in a pack; empty in a sheet.
    pub fn extension_text(&self) -> Cow<'_, str> {
        text(until_nul(&self.extension))
    }

    /// The range of its data according to the table, inside of the file or not. It is right even if the sum exceeds 32
    /// bits.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        let start = self.offset.get() as usize;
        start..start.saturating_add(self.size.get() as usize)
    }

    /// The entry's name as a number that sorts as the name does, ordinally.
    #[inline]
    pub(super) fn key(&self) -> u128 {
        name_key(&self.name)
    }
}

/// The 16 bytes of a name as a number with the same order. Bytes after the first NUL do not count.
#[inline]
pub(super) fn name_key(name: &[u8; 0x10]) -> u128 {
    let bits = match name.iter().position(|&b| b == 0) {
        Some(len) => u32::try_from(len).unwrap_or(0).saturating_mul(8),
        None => return u128::from_be_bytes(*name),
    };
    let mask = u128::MAX.checked_shr(bits).map_or(u128::MAX, |unused| !unused);
    u128::from_be_bytes(*name) & mask
}

/// The key of a requested name; `None` if no entry can have the name.
pub(super) fn wanted_key(name: &[u8]) -> Option<u128> {
    let mut padded = [0; 0x10];
    padded.get_mut(..name.len())?.copy_from_slice(name);
    (!name.contains(&0)).then(|| name_key(&padded))
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&b| b == 0).next().unwrap_or_default()
}

/// The shown form of a text: bytes that are not UTF-8 are shown as `\xff`, so that nothing is lost.
#[inline]
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(escaped(bytes)),
    }
}

#[cold]
fn escaped(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len().saturating_mul(2));
    for chunk in bytes.utf8_chunks() {
        shown.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|b| {
            let _ = write!(shown, "\\x{b:02x}");
        });
    }
    shown
}

/// The bytes of the shown form `shown`, if it contains escapes.
pub(super) fn unescaped(shown: &str) -> Option<Vec<u8>> {
    memchr::memchr(b'\\', shown.as_bytes())?;
    let mut parts = shown.split("\\x");
    let mut bytes = parts.next()?.as_bytes().to_vec();
    let mut any = false;
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(b"\\x"),
        }
        let rest = if byte.is_some() { part.get(2..) } else { Some(part) };
        bytes.extend_from_slice(rest.unwrap_or_default().as_bytes());
        any |= byte.is_some();
    }
    any.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_as_names_do_and_stop_at_the_first_nul() {
        let key = |name: &str| wanted_key(name.as_bytes()).unwrap();
        let mut names = ["m012_break", "m012", "", "m1", "Z", "sixteen_letters_", "sixteen_letters"];
        names.sort_unstable_by_key(|name| key(name));
        assert!(names.is_sorted(), "{names:?}");
        assert_eq!(name_key(b"m012\0garbage\0\0\0\0"), key("m012"));
        assert_eq!(name_key(b"\0arbage\0\0\0\0\0\0\0\0\0"), key(""));
        assert_eq!(wanted_key(b"seventeen_letters"), None);
        assert_eq!(wanted_key(b"a\0b"), None);
    }

    #[test]
    fn bytes_that_are_not_text_are_escaped_and_come_back() {
        let bytes = b"a\xFFb\x83\x5Cc";
        assert_eq!(text(bytes), "a\\xffb\\x83\\c");
        assert_eq!(unescaped(&text(bytes)).unwrap(), bytes);
        assert_eq!(text("Über".as_bytes()), "Über");
        assert_eq!(unescaped("plain\\xzz"), None);
    }
}
