//! The entry table that sheets and packs share.

use super::layout::{MAGIC, WdbEntry, WdbHeader};
use crate::bytes::View;
use crate::error::{Error, ErrorKind, Result};
use crate::source::Source;
use crate::text::shown;
use std::borrow::Cow;
use std::ops::Range;

/// Where the entry table begins.
pub(super) const TABLE: usize = size_of::<WdbHeader>();

/// Checks the beginning of the file and that it contains its entry table; returns the number of entries.
pub(super) fn check(source: &Source) -> Result<usize> {
    let header: &WdbHeader = source.view("header").read()?;
    if header.magic != MAGIC {
        let (expected, found) = (u32::from_be_bytes(MAGIC).into(), u32::from_be_bytes(header.magic).into());
        return Err(source.view("header").error(ErrorKind::BadMagic { expected, found }));
    }
    let count = header.count.get() as usize;
    source.view("entry table").at(TABLE).array::<WdbEntry>(count)?;
    Ok(count)
}

/// The first `count` entries; [`check`] has found them inside of the file.
#[inline]
pub(super) fn entries(source: &Source, count: usize) -> &[WdbEntry] {
    source.view("entry table").at(TABLE).array(count).expect("the file was opened with its entries inside")
}

/// The view of entry `index` in the table.
pub(super) fn entry_view(source: &Source, index: usize) -> View<'_> {
    source.view("entry table").at(TABLE).skip(index.saturating_mul(size_of::<WdbEntry>()))
}

/// Whether data begins as a sheet does: its first entry is a section, with a name that begins with '!'.
pub(super) fn is_sheet(data: &[u8]) -> bool {
    data.starts_with(&MAGIC) && data.get(TABLE) == Some(&b'!')
}

#[cold]
pub(super) fn damaged(view: View<'_>, what: impl Into<Cow<'static, str>>) -> Error {
    view.error(ErrorKind::Damaged { what: what.into() })
}

impl WdbEntry {
    /// The entry's name up to the first NUL.
    #[inline]
    pub fn name_bytes(&self) -> &[u8] {
        until_nul(&self.name)
    }

    /// The entry's name; bytes that are not UTF-8 are shown as `\xff`.
    #[inline]
    pub fn name_text(&self) -> Cow<'_, str> {
        shown(self.name_bytes())
    }

    /// The entry's extension in a pack; empty in a sheet.
    pub fn extension_text(&self) -> Cow<'_, str> {
        shown(until_nul(&self.extension))
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
    let key = u128::from_be_bytes(*name);
    match (0u32..).zip(name).find(|(_, byte)| **byte == 0) {
        Some((len, _)) => key & !u128::MAX.wrapping_shr(len.wrapping_mul(8)),
        None => key,
    }
}

/// The key of a requested name; `None` if no entry can have the name.
pub(super) fn wanted_key(name: &[u8]) -> Option<u128> {
    let mut padded = [0; 0x10];
    padded.get_mut(..name.len())?.copy_from_slice(name);
    (!name.contains(&0)).then(|| name_key(&padded))
}

pub(super) fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.iter().position(|&b| b == 0).map_or(bytes, |len| bytes.split_at(len).0)
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
}
