//! Texts by the ids that they hash to, sorted: in memory, or in a mapped file of the cache, where a lookup is a binary search.

use crate::bytes::{View, clamp_to_usize, le};
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
    note: String,
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

impl<'a> Parts<'a> {
    fn of(source: &'a Source) -> Result<Self> {
        let view = source.view("names");
        let header: &Header = view.read()?;
        let [count, texts] = [header.count, header.texts].map(|count| clamp_to_usize(count.get()));
        let mut next = view.skip(size_of::<Header>());
        fn array<'a, T: crate::bytes::Overlay>(next: &mut View<'a>, count: usize) -> Result<&'a [T]> {
            let items: &[T] = next.array(count)?;
            *next = next.skip(size_of_val(items));
            Ok(items)
        }
        Ok(Self {
            path_ids: array(&mut next, count)?,
            path_starts: array(&mut next, count)?,
            name_ids: array(&mut next, count)?,
            name_starts: array(&mut next, count)?,
            texts: array(&mut next, texts)?,
            note: next.rest(),
        })
    }

    /// The first text with this id.
    fn text<I: Copy + Into<u64>>(&self, ids: &[I], starts: &[le::U32], id: u64) -> Result<Option<&'a str>> {
        let at = ids.partition_point(|other| (*other).into() < id);
        let found = ids.get(at).filter(|found| (**found).into() == id).and_then(|_| starts.get(at));
        let Some(start) = found else { return Ok(None) };
        let texts = View::new(self.texts, "texts").skip(start.get() as usize);
        let size: &le::U32 = texts.read()?;
        let text = texts.skip(size_of::<le::U32>());
        text.utf8(text.take(size.get() as usize)?).map(Some)
    }
}

impl NameIndex {
    /// Opens an index that [`NameIndexBuilder::finish`] made.
    ///
    /// # Errors
    /// `OutOfBounds` if it is not complete.
    pub(super) fn open(source: Source) -> Result<Self> {
        let view = source.view("names");
        let note = view.utf8(Parts::of(&source)?.note)?.to_owned();
        Ok(Self { source, note })
    }

    /// The text whose hash as a path is `id`.
    ///
    /// # Errors
    /// When the index is damaged.
    pub(super) fn path(&self, id: u64) -> Result<Option<&str>> {
        let parts = Parts::of(&self.source)?;
        parts.text(parts.path_ids, parts.path_starts, id)
    }

    /// The text whose hash as a name is `id`.
    ///
    /// # Errors
    /// As [`NameIndex::path`].
    pub(super) fn name(&self, id: u32) -> Result<Option<&str>> {
        let parts = Parts::of(&self.source)?;
        parts.text(parts.name_ids, parts.name_starts, id.into())
    }

    pub(super) fn note(&self) -> &str {
        &self.note
    }

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
    /// The ids of the texts as paths and as names, and the starts of the texts.
    paths: Vec<(u64, u32)>,
    names: Vec<(u32, u32)>,
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
        let (Ok(start), Ok(len)) = (u32::try_from(self.texts.len()), u32::try_from(text.len())) else {
            let value = (self.texts.len() + text.len()) as u64;
            let kind = ErrorKind::Limit { what: "bytes of names", value, limit: u32::MAX.into() };
            return Err(crate::Error::of_part(kind, "names"));
        };
        self.texts.extend_from_slice(&len.to_le_bytes());
        self.texts.extend_from_slice(text.as_bytes());
        self.paths.push((id::of_path(text), start));
        self.names.push((id::of_name(text), start));
        Ok(())
    }

    /// The index of the texts, with a note.
    pub(super) fn finish(self, note: String) -> NameIndex {
        let Self { texts, seen, mut paths, mut names } = self;
        drop(seen);
        paths.sort_unstable();
        names.sort_unstable();
        let header = Header { count: (paths.len() as u64).into(), texts: (texts.len() as u64).into() };
        let mut bytes = header.as_bytes().to_vec();
        bytes.reserve_exact(paths.len() * (8 + 4 + 4 + 4) + texts.len() + note.len());
        paths.iter().for_each(|(id, _)| bytes.extend_from_slice(&id.to_le_bytes()));
        paths.iter().for_each(|(_, start)| bytes.extend_from_slice(&start.to_le_bytes()));
        names.iter().for_each(|(id, _)| bytes.extend_from_slice(&id.to_le_bytes()));
        names.iter().for_each(|(_, start)| bytes.extend_from_slice(&start.to_le_bytes()));
        bytes.extend_from_slice(&texts);
        bytes.extend_from_slice(note.as_bytes());
        NameIndex { source: Source::from_vec("names", bytes), note }
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
        let index = NameIndex::open(builder.finish("a note".to_owned()).source).unwrap();
        assert_eq!(index.path(id::of_path("content/a.dds")).unwrap(), Some("res/content/a.dds"));
        assert_eq!(index.name(id::of_name("content/a.dds")).unwrap(), Some("content/a.dds"));
        assert_eq!(index.name(id::of_name("Scene Root")).unwrap(), Some("Scene Root"));
        assert_eq!((index.path(1).unwrap(), index.name(1).unwrap(), index.note()), (None, None, "a note"));
        assert_eq!(Parts::of(&index.source).unwrap().name_ids.len(), 4);
    }

    #[test]
    fn a_damaged_index_is_an_error() {
        let mut builder = NameIndexBuilder::default();
        builder.add("Scene Root").unwrap();
        let whole = builder.finish(String::new()).bytes().to_vec();
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
