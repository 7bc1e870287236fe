//! One list: deciphered and parsed on first use, its chunks inflated one by one (docs/formats/white.md §2 to §4).

use super::cipher::{BLOCK, Keys, checksum};
use super::game_kind::GameKind;
use super::layout::{CRYPT_TAG, ChunkInfo, CryptHeader, CryptTrailer, EntryLayout, ListEntry, ListHeader, SECTOR};
use crate::budget;
use crate::bytes::{View, peek_u32};
use crate::codec;
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::reader::Section;
use crate::source::Source;
use crate::text::shown;
use crate::threads::prelude::*;
use memchr::memmem;
use std::borrow::Cow;
use std::mem::offset_of;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The greatest size of the texts of a chunk: positions of texts in it are numbers of 16 bits.
const MAX_CHUNK: u64 = 1 << 17;

/// The greatest size of a text in bytes. The texts of the games are paths of up to some hundred bytes.
const MAX_TEXT: usize = 4096;

/// The number of chunks that are inflated one by one, before all of them are inflated.
const ONE_BY_ONE: usize = 3;

#[derive(Debug)]
pub(super) struct List {
    /// The file from the crypt header or the header on.
    source: Source,
    /// The deciphered bytes of the list without its trailer, if it was enciphered.
    plain: Option<Vec<u8>>,
    /// The start of the header, from the first byte of the file.
    base: usize,
    /// Bytes from the header on that belong to the list.
    size: usize,
    pub(super) layout: EntryLayout,
    pub(super) encryption: Encryption,
    /// The error of a wrong checksum.
    pub(super) mismatch: Option<Error>,
    /// The number of files.
    pub(super) files: usize,
    chunk_info: usize,
    chunk_data: usize,
    pub(super) chunks: Vec<Lazy<Result<Vec<u8>>>>,
    inflated: AtomicUsize,
}

/// Whether a list is enciphered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encryption {
    /// The list was never enciphered.
    None,
    /// The list was enciphered, and has its crypt header still.
    Removed,
    Present,
}

impl Encryption {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Removed => "removed",
            Self::Present => "enciphered",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text<'a> {
    /// The offset in bytes of the image.
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) stored_size: u64,
    /// `None` for a file without one.
    pub(super) path: Option<Cow<'a, str>>,
}

/// Whether `data` has the header of a list that is or was enciphered.
pub(super) fn has_crypt_header(data: &[u8]) -> bool {
    peek_u32(data, offset_of!(CryptHeader, tag)) == Some(CRYPT_TAG)
}

/// Whether `data` is plausible as a plain list: the tables fill the space between the header and the first chunk, which
/// is a zlib stream.
pub(super) fn is_plain(data: &[u8]) -> bool {
    let view = View::new(data, "");
    let Ok(header) = view.read::<ListHeader>() else { return false };
    let (info, chunks) = (header.chunk_info.get() as usize, header.chunk_data.get() as usize);
    let Ok(first) = view.at(info).read::<ChunkInfo>() else { return false };
    let Ok(&[a, b]) = view.at(chunks).read::<[u8; 2]>() else { return false };
    header.files.get() > 0
        && info == header.entries_end()
        && chunks > info
        && chunks.saturating_sub(info).is_multiple_of(size_of::<ChunkInfo>())
        && first.offset.get() == 0
        && a == 0x78
        && u16::from_be_bytes([a, b]).is_multiple_of(31)
}

impl List {
    /// Parses the list in `source`, which is of `game` if known.
    ///
    /// # Errors
    /// `Syntax` when its game is unknown, or contradicts `game`; `OutOfBounds`, `BadValue` and `Damaged` when its
    /// header leads out of it or it was not deciphered correctly; `Limit` when its chunks promise too much.
    pub(super) fn open(source: Source, game: Option<GameKind>) -> Result<Self> {
        let mut base = 0;
        let mut len = source.bytes().len();
        let (mut encryption, mut plain, mut mismatch) = (Encryption::None, None, None);
        if has_crypt_header(source.bytes()) {
            let at = source.view("crypt header");
            let header: &CryptHeader = at.read()?;
            let size = header.size.get() as usize;
            if !size.is_multiple_of(BLOCK) {
                return Err(at.locate(&header.size).bad_value("size, which is no multiple of 8", header.size.get()));
            }
            base = size_of::<CryptHeader>();
            len = size;
            let body = source.view("list").at(base).take(size.saturating_add(size_of::<CryptTrailer>()))?;
            let body = if is_size(body, size) {
                encryption = Encryption::Removed;
                body
            } else {
                encryption = Encryption::Present;
                &**plain.insert(Keys::new(&header.seed).decrypt(body))
            };
            let at = source.view("crypt trailer").at(base.saturating_add(size));
            let (data, trailer) = body.split_at(size);
            let trailer: &CryptTrailer = View::new(trailer, "crypt trailer").read()?;
            if trailer.size.get() as usize != size {
                let what = "size in the deciphered trailer, which is not that of the header";
                return Err(at.bad_value(what, trailer.size.get()));
            }
            let (computed, stored) = (checksum(data), trailer.checksum.get());
            if computed != stored {
                let kind = ErrorKind::Checksum {
                    algorithm: "sum of every fourth byte:",
                    stored: stored.into(),
                    computed: computed.into(),
                };
                mismatch = Some(at.skip(offset_of!(CryptTrailer, checksum)).error(kind));
            }
        }
        plain.iter_mut().for_each(|plain| plain.truncate(len));
        let layout = match (encryption, game) {
            (Encryption::None, Some(GameKind::First)) => EntryLayout::First,
            (Encryption::None, None) => {
                let what = "the list does not say which game it is of: give --game ff13, ff13-2 or lr";
                return Err(Error::of_part(ErrorKind::Syntax { what: what.into() }, ""));
            }
            (_, Some(GameKind::First)) => {
                let what = "the list has the header of enciphered ones, which FINAL FANTASY XIII does not have";
                return Err(Error::of_part(ErrorKind::Syntax { what: what.into() }, ""));
            }
            _ => EntryLayout::Later,
        };
        let mut list = Self {
            source,
            plain,
            base,
            size: len,
            layout,
            encryption,
            mismatch,
            files: 0,
            chunk_info: 0,
            chunk_data: 0,
            chunks: Vec::new(),
            inflated: AtomicUsize::new(0),
        };
        list.lay_out()?;
        Ok(list)
    }

    fn lay_out(&mut self) -> Result<()> {
        let at = self.view("header");
        let header: &ListHeader = at.read()?;
        let (info, data) = (header.chunk_info.get(), header.chunk_data.get());
        let files = header.files.get() as usize;
        self.view("entries").skip(size_of::<ListHeader>()).array::<ListEntry>(files)?;
        if (info as usize) < header.entries_end() {
            return Err(at.bad_value("chunk table offset, which is before the end of the entries", info));
        }
        let Some(table) = data.checked_sub(info) else {
            return Err(at.locate(&header.chunk_data).bad_value("chunk data offset", data));
        };
        const ROW: usize = size_of::<ChunkInfo>();
        let chunks = table as usize / ROW;
        let infos: &[ChunkInfo] = self.view("chunk table").skip(info as usize).array(chunks)?;
        // Chunks may overlap, so that a few bytes promise any number of texts.
        let value = infos.iter().map(|info| u64::from(info.size.get())).fold(0, u64::saturating_add);
        let limit = budget::decoded(self.size as u64, budget::EXPANSION);
        if value > limit {
            let kind = ErrorKind::Limit { what: "bytes of all chunks together", value, limit };
            return Err(self.view("chunk table").skip(info as usize).error(kind));
        }
        (self.files, self.chunk_info, self.chunk_data) = (files, info as usize, data as usize);
        self.chunks = (0..chunks).map(|_| Lazy::default()).collect();
        Ok(())
    }

    /// The header, with offsets of the file. Deciphered bytes have the offsets of the enciphered ones.
    fn view(&self, part: &'static str) -> View<'_> {
        let bytes = match &self.plain {
            Some(plain) => plain,
            None => {
                let end = self.base.saturating_add(self.size);
                self.source.bytes().get(self.base..end).expect("the list was opened inside of the file")
            }
        };
        View::new(bytes, part).with_origin(self.source.view("").at(self.base).offset())
    }

    /// Checks that the table of chunks ends with a complete row.
    pub(super) fn check(&self) -> Result<()> {
        let at = self.view("chunk table").skip(self.chunk_info);
        let table = self.chunk_data.saturating_sub(self.chunk_info);
        if table.is_multiple_of(size_of::<ChunkInfo>()) {
            return Ok(());
        }
        Err(at.bad_value("bytes of the table, which are no whole rows", table as u64))
    }

    /// The error of the first chunk that is not whole in the file. No chunk is inflated.
    pub(super) fn cut(&self) -> Option<Error> {
        let chunks = 0..self.chunks.len();
        let mut errors = chunks.filter_map(|n| Some(self.stored(n).err()?.context(format_args!("chunk {n}"))));
        errors.next()
    }

    /// The list's stretches, with offsets of the file.
    pub(super) fn sections(&self) -> Vec<Section> {
        let start = self.view("");
        let (header, entries) = (size_of::<ListHeader>(), self.files.saturating_mul(size_of::<ListEntry>()));
        let chunks = self.chunks.len().saturating_mul(size_of::<ChunkInfo>());
        let data = self.size.saturating_sub(self.chunk_data);
        let mut sections = vec![
            Section::new("header", start.offset(), header as u64, None),
            Section::new("entries", start.at(header).offset(), entries as u64, Some(self.files as u64)),
            Section::new(
                "chunk_table",
                start.at(self.chunk_info).offset(),
                chunks as u64,
                Some(self.chunks.len() as u64),
            ),
            Section::new("chunks", start.at(self.chunk_data).offset(), data as u64, None),
        ];
        if self.encryption != Encryption::None {
            let before = self.source.view("").offset();
            sections.insert(0, Section::new("crypt_header", before, size_of::<CryptHeader>() as u64, None));
            let after = start.at(self.size).offset();
            sections.push(Section::new("crypt_trailer", after, size_of::<CryptTrailer>() as u64, None));
        }
        sections
    }

    fn entries(&self) -> &[ListEntry] {
        self.entry_view(0).array(self.files).expect("the list was opened with its entries inside")
    }

    pub(super) fn entry(&self, n: usize) -> Option<&ListEntry> {
        self.entries().get(n)
    }

    fn entry_view(&self, n: usize) -> View<'_> {
        self.view("entries").skip(size_of::<ListHeader>()).skip(n.saturating_mul(size_of::<ListEntry>()))
    }

    /// The texts of chunk `n`, inflated on first use.
    pub(super) fn chunk(&self, n: usize) -> Option<&Result<Vec<u8>>> {
        // By rayon or not, so without a lock.
        Some(self.chunks.get(n)?.get_or_make(|| {
            self.inflated.fetch_add(1, Ordering::Relaxed);
            self.inflate(n).map_err(|error| error.context(format_args!("chunk {n}")))
        }))
    }

    /// The stored bytes of the texts of chunk `n`, and their view and decoded size.
    fn stored(&self, n: usize) -> Result<(View<'_>, &[u8], usize)> {
        let at = self.view("chunk table").skip(self.chunk_info).skip(n.saturating_mul(size_of::<ChunkInfo>()));
        let info: &ChunkInfo = at.read()?;
        let (value, limit) = (info.size.get().into(), MAX_CHUNK);
        if value > limit {
            return Err(at.error(ErrorKind::Limit { what: "bytes of the texts of a chunk", value, limit }));
        }
        let data = self.view("chunk").skip(self.chunk_data).skip(info.offset.get() as usize);
        Ok((data, data.take(info.stored_size.get() as usize)?, info.size.get() as usize))
    }

    fn inflate(&self, n: usize) -> Result<Vec<u8>> {
        let (data, stored, size) = self.stored(n)?;
        codec::zlib(stored, size).map_err(|kind| data.error(kind))
    }

    pub(super) fn inflate_all(&self) {
        (0..self.chunks.len()).into_par_iter().for_each(|n| {
            self.chunk(n);
        });
    }

    pub(super) fn text(&self, n: usize) -> Result<Text<'_>> {
        let at = self.entry_view(n);
        let entry: &ListEntry = at.read()?;
        let (chunk, position) = entry.text(self.layout);
        if self.chunks.get(chunk).is_some_and(|chunk| chunk.get().is_none())
            && self.inflated.load(Ordering::Relaxed) == ONE_BY_ONE
        {
            self.inflate_all();
        }
        let texts = match self.chunk(chunk) {
            Some(Ok(texts)) => texts,
            Some(Err(error)) => return Err(error.clone()),
            None => return Err(entry.place(at).bad_value("number of a chunk", chunk as u64)),
        };
        let Some(text) = text_at(texts, position) else {
            return Err(entry.place(at).bad_value("position of a text in its chunk", position as u64));
        };
        parse(text).ok_or_else(|| {
            let (begin, _) = text.split_at(text.len().min(80));
            at.error(ErrorKind::damaged(format!("its text is {:?}, not SECTOR:SIZE:STORED:PATH", shown(begin))))
        })
    }

    /// The file at `path` with the smallest chunk, and then the smallest number; no further chunk is inflated.
    pub(super) fn find(&self, path: &str) -> Option<usize> {
        if path.len() > MAX_TEXT {
            return None;
        }
        let needle = [b":", path.as_bytes()].concat();
        let needle = memmem::Finder::new(&needle);
        for chunk in 0..self.chunks.len() {
            let Some(Ok(texts)) = self.chunk(chunk) else { continue };
            // Bytes that are not UTF-8 have a shown form that differs from the stored one.
            if needle.find(texts).is_none() && !path.contains('\\') {
                continue;
            }
            for (n, entry) in self.entries().iter().enumerate() {
                let (own, position) = entry.text(self.layout);
                if own == chunk
                    && let Some(text) = text_at(texts, position).and_then(parse)
                    && text.path.as_deref() == Some(path)
                {
                    return Some(n);
                }
            }
        }
        None
    }
}

/// Whether the deciphered trailer follows `size` bytes of `body`.
fn is_size(body: &[u8], size: usize) -> bool {
    peek_u32(body, size).is_some_and(|found| found as usize == size)
}

/// The bytes from `position` to the next NUL or the end.
fn text_at(texts: &[u8], position: usize) -> Option<&[u8]> {
    let rest = texts.get(position..).filter(|rest| !rest.is_empty())?;
    let rest = rest.get(..rest.len().min(MAX_TEXT)).unwrap_or(rest);
    rest.get(..memchr::memchr(0, rest).unwrap_or(rest.len()))
}

/// Splits a text into three hexadecimal numbers and a path, with `:` between them.
fn parse(text: &[u8]) -> Option<Text<'_>> {
    let mut parts = text.splitn(4, |&byte| byte == b':');
    let (sector, size, stored_size) = (number(parts.next()?)?, number(parts.next()?)?, number(parts.next()?)?);
    let path = match parts.next()? {
        b"" | b" " => None,
        path => Some(shown(path)),
    };
    Some(Text { offset: sector.checked_mul(SECTOR)?, size, stored_size, path })
}

/// A hexadecimal number of 1 to 16 digits.
fn number(digits: &[u8]) -> Option<u64> {
    if !(1..=16).contains(&digits.len()) {
        return None;
    }
    digits
        .iter()
        .try_fold(0u64, |number, &digit| Some(number.checked_mul(16)? | u64::from(char::from(digit).to_digit(16)?)))
}
