//! Texts by the ids that they hash to, sorted: in memory, or in a mapped file of the cache, where a lookup is a binary search.

use crate::bytes::{View, le};
use crate::codec::cityhash64;
use crate::error::{ErrorKind, Result};
use crate::id;
use crate::source::Source;
use std::collections::HashSet;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The header of an index: each array has one item for each text. The ids of paths follow, the starts of their texts, the ids of names,
/// the starts of theirs, the texts with their sizes before them, and a note.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Header {
    count: le::U64,
    /// The size of the texts in bytes.
    texts: le::U64,
}

/// An index of texts. The first of two texts with one id counts.
#[derive(Debug, Clone)]
pub(super) struct NameIndex {
    source: Source,
}

/// The parts of an index.
struct Parts<'a> {
    path_ids: &'a [le::U64],
    path_starts: &'a [le::U32],
    name_ids: &'a [le::U32],
    name_starts: &'a [le::U32],
    texts: &'a [u8],
    note: &'a [u8],
}

impl NameIndex {
    /// Opens an index that [`NameIndexBuilder::finish`] made.
    ///
    /// # Errors
    /// `OutOfBounds` if it is not complete.
    pub(super) fn open(source: Source) -> Result<Self> {
        let index = Self { source };
        index.parts()?;
        Ok(index)
    }

    fn parts(&self) -> Result<Parts<'_>> {
        let view = self.source.view("names");
        let header: &Header = view.read()?;
        let too_large = || view.error(ErrorKind::Damaged { what: "a count does not fit".into() });
        let count = usize::try_from(header.count.get()).map_err(|_| too_large())?;
        let mut next = view.skip(size_of::<Header>());
        fn array<'a, T: crate::bytes::Overlay>(next: &mut View<'a>, count: usize) -> Result<&'a [T]> {
            let items: &[T] = next.array(count)?;
            *next = next.skip(size_of_val(items));
            Ok(items)
        }
        Ok(Parts {
            path_ids: array(&mut next, count)?,
            path_starts: array(&mut next, count)?,
            name_ids: array(&mut next, count)?,
            name_starts: array(&mut next, count)?,
            texts: array(&mut next, usize::try_from(header.texts.get()).map_err(|_| too_large())?)?,
            note: next.rest(),
        })
    }

    /// The text whose hash as a path is `id`.
    ///
    /// # Errors
    /// When the index is damaged.
    pub(super) fn path(&self, id: u64) -> Result<Option<&str>> {
        let parts = self.parts()?;
        let at = parts.path_ids.partition_point(|other| other.get() < id);
        if parts.path_ids.get(at).is_none_or(|found| found.get() != id) {
            return Ok(None);
        }
        parts.path_starts.get(at).map(|start| self.text(start.get())).transpose()
    }

    /// The text whose hash as a name is `id`.
    ///
    /// # Errors
    /// As [`NameIndex::path`].
    pub(super) fn name(&self, id: u32) -> Result<Option<&str>> {
        let parts = self.parts()?;
        let at = parts.name_ids.partition_point(|other| other.get() < id);
        if parts.name_ids.get(at).is_none_or(|found| found.get() != id) {
            return Ok(None);
        }
        parts.name_starts.get(at).map(|start| self.text(start.get())).transpose()
    }

    fn text(&self, start: u32) -> Result<&str> {
        let texts = View::new(self.parts()?.texts, "texts").skip(start as usize);
        let size: &le::U32 = texts.read()?;
        let text = texts.skip(size_of::<le::U32>());
        text.utf8(text.take(size.get() as usize)?)
    }

    /// The note that was kept with the texts.
    pub(super) fn note(&self) -> &str {
        self.parts().ok().and_then(|parts| std::str::from_utf8(parts.note).ok()).unwrap_or_default()
    }

    /// The bytes of the index.
    pub(super) fn bytes(&self) -> &[u8] {
        self.source.bytes()
    }
}

/// Collects texts, each once.
#[derive(Debug, Default)]
pub(super) struct NameIndexBuilder {
    /// The texts with their sizes before them.
    texts: Vec<u8>,
    seen: HashSet<u64>,
}

impl NameIndexBuilder {
    /// Adds a text as a path and as a name.
    ///
    /// # Errors
    /// `Limit` for more than 4 GiB of texts.
    pub(super) fn add(&mut self, text: &str) -> Result<()> {
        if !self.seen.insert(cityhash64(text.as_bytes())) {
            return Ok(());
        }
        let limit = u32::MAX as usize;
        let size = self.texts.len().saturating_add(text.len()).saturating_add(size_of::<u32>());
        match u32::try_from(text.len()) {
            Ok(len) if size <= limit => {
                self.texts.extend_from_slice(&len.to_le_bytes());
                self.texts.extend_from_slice(text.as_bytes());
                Ok(())
            }
            _ => {
                let kind = ErrorKind::Limit { what: "bytes of names", value: size as u64, limit: limit as u64 };
                Err(crate::Error::of_part(kind, "names"))
            }
        }
    }

    /// The starts of the texts, and what `hash` makes of each, sorted.
    fn sorted<T: Ord>(&self, hash: fn(&str) -> T) -> Vec<(T, u32)> {
        let mut all = Vec::with_capacity(self.seen.len());
        let mut at = 0usize;
        while let Some((size, rest)) = self.texts.get(at..).and_then(<[u8]>::split_first_chunk) {
            let len = u32::from_le_bytes(*size) as usize;
            let text = rest.get(..len).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
            all.push((hash(text), u32::try_from(at).unwrap_or(u32::MAX)));
            at = at.saturating_add(size.len()).saturating_add(len);
        }
        all.sort_unstable();
        all
    }

    /// The index of the texts, with a note.
    pub(super) fn finish(mut self, note: &str) -> NameIndex {
        let seen = std::mem::take(&mut self.seen);
        let count = seen.len();
        drop(seen);
        let per_text = size_of::<u64>().saturating_add(size_of::<u32>().saturating_mul(3)).saturating_mul(count);
        let size = size_of::<Header>().saturating_add(per_text).saturating_add(self.texts.len());
        let mut bytes = Vec::with_capacity(size.saturating_add(note.len()));
        let header = Header { count: (count as u64).into(), texts: (self.texts.len() as u64).into() };
        bytes.extend_from_slice(header.as_bytes());
        let paths = self.sorted(id::of_path);
        paths.iter().for_each(|(id, _)| bytes.extend_from_slice(&id.to_le_bytes()));
        paths.iter().for_each(|(_, start)| bytes.extend_from_slice(&start.to_le_bytes()));
        drop(paths);
        let names = self.sorted(id::of_name);
        names.iter().for_each(|(id, _)| bytes.extend_from_slice(&id.to_le_bytes()));
        names.iter().for_each(|(_, start)| bytes.extend_from_slice(&start.to_le_bytes()));
        drop(names);
        bytes.extend_from_slice(&self.texts);
        bytes.extend_from_slice(note.as_bytes());
        NameIndex { source: Source::from_vec("names", bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_both_ids_and_the_first_counts() {
        let mut builder = NameIndexBuilder::default();
        for text in ["res/content/a.dds", "Scene Root", "content/a.dds", "Scene Root", ""] {
            builder.add(text).unwrap();
        }
        let index = NameIndex::open(builder.finish("a note").source).unwrap();
        assert_eq!(index.path(id::of_path("content/a.dds")).unwrap(), Some("res/content/a.dds"));
        assert_eq!(index.name(id::of_name("content/a.dds")).unwrap(), Some("content/a.dds"));
        assert_eq!(index.name(id::of_name("Scene Root")).unwrap(), Some("Scene Root"));
        assert_eq!((index.path(1).unwrap(), index.name(1).unwrap(), index.note()), (None, None, "a note"));
        assert_eq!(index.parts().unwrap().name_ids.len(), 4);
    }

    #[test]
    fn a_damaged_index_is_an_error() {
        let mut builder = NameIndexBuilder::default();
        builder.add("Scene Root").unwrap();
        let whole = builder.finish("").bytes().to_vec();
        for len in 0..whole.len() {
            assert!(NameIndex::open(Source::from_vec("names", whole[..len].to_vec())).is_err(), "{len}");
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x80;
            // Another text or an error.
            let _ = NameIndex::open(Source::from_vec("names", bytes)).map(|index| {
                let _ = index.name(id::of_name("Scene Root"));
                let _ = index.path(id::of_path("Scene Root"));
            });
        }
    }
}
