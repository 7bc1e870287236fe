//! One list: deciphered and parsed on first use, its chunks inflated one by one (docs/formats/white.md §2 to §4).

use super::cipher::{BLOCK, Keys, checksum};
use super::game_kind::GameKind;
use super::layout::{CRYPT_TAG, ChunkInfo, CryptHeader, CryptTrailer, Entry, EntryLayout, Header, SECTOR};
use crate::budget;
use crate::bytes::{View, peek_u32};
use crate::codec;
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::reader::Section;
use crate::source::Source;
use crate::threads::prelude::*;
use memchr::memmem;
use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The greatest size of the texts of a chunk: positions of texts in it are numbers of 16 bits.
const MAX_CHUNK: u64 = 1 << 17;

/// The greatest size of a text in bytes. The texts of the games are paths of up to some hundred bytes.
const MAX_TEXT: usize = 4096;

/// The number of chunks that are inflated one by one, before all of them are inflated.
const ONE_BY_ONE: usize = 3;

/// A parsed list.
#[derive(Debug)]
pub(super) struct List {
    /// The file from the crypt header or the header on.
    source: Source,
    /// The deciphered bytes of the list, if it was enciphered.
    plain: Option<Vec<u8>>,
    /// The start of the header, from the first byte of the file.
    base: usize,
    /// Bytes from the header on that belong to the list.
    size: usize,
    pub(super) layout: EntryLayout,
    pub(super) encryption: Encryption,
    /// The error of a wrong checksum.
    pub(super) mismatch: Option<Error>,
    files: usize,
    chunk_info: usize,
    chunk_data: usize,
    chunks: Vec<Lazy<Result<Vec<u8>>>>,
    inflated: AtomicUsize,
}

/// Whether a list is enciphered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encryption {
    /// The list was never enciphered.
    None,
    /// The list was enciphered, and has its crypt header still.
    Removed,
    /// The list is enciphered.
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

/// The parts of an entry's text.
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
    peek_u32(data, 20) == Some(CRYPT_TAG)
}

/// Whether `data` is plausible as a plain list: the tables fill the space between the header and the first chunk, which
/// is a zlib stream.
pub(super) fn is_plain(data: &[u8]) -> bool {
    let number = |at| peek_u32(data, at).map(u64::from);
    let (Some(info), Some(chunks), Some(files)) = (number(0), number(4), number(8)) else { return false };
    let entries = files.saturating_mul(size_of::<Entry>() as u64).saturating_add(size_of::<Header>() as u64);
    let table = chunks.checked_sub(info).filter(|&len| len > 0 && len.is_multiple_of(size_of::<ChunkInfo>() as u64));
    let at = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let first = number(at(info.saturating_add(8)));
    let stream = data.get(at(chunks)..).and_then(<[u8]>::first_chunk::<2>);
    files > 0
        && info == entries
        && table.is_some()
        && first == Some(0)
        && stream.is_some_and(|&[a, b]| a == 0x78 && u16::from_be_bytes([a, b]).is_multiple_of(31))
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
                return Err(at.skip(16).bad_value("size, which is no multiple of 8", header.size.get()));
            }
            base = size_of::<CryptHeader>();
            len = size;
            let body = source.view("list").at(base).take(size.saturating_add(size_of::<CryptTrailer>()))?;
            let (data, trailer) = if is_size(body, size) {
                encryption = Encryption::Removed;
                (Cow::Borrowed(body), body)
            } else {
                encryption = Encryption::Present;
                let deciphered = Keys::new(&header.seed).decrypt(body);
                let deciphered = plain.insert(deciphered);
                (Cow::Borrowed(&**deciphered), &**deciphered)
            };
            let at = source.view("crypt trailer").at(base.saturating_add(size));
            let trailer: &CryptTrailer = View::new(trailer, "crypt trailer").at(size).read()?;
            if trailer.size.get() as usize != size {
                let what = "size in the deciphered trailer, which is not that of the header";
                return Err(at.bad_value(what, trailer.size.get()));
            }
            let (computed, stored) = (checksum(data.get(..size).unwrap_or_default()), trailer.checksum.get());
            if computed != stored {
                let kind = ErrorKind::Checksum {
                    algorithm: "sum of every fourth byte:",
                    stored: stored.into(),
                    computed: computed.into(),
                };
                mismatch = Some(at.skip(4).error(kind));
            }
        }
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
        let header: &Header = at.read()?;
        let (info, data) = (header.chunk_info.get(), header.chunk_data.get());
        let files = header.files.get() as usize;
        self.view("entries").skip(size_of::<Header>()).array::<Entry>(files)?;
        let entries = files.saturating_mul(size_of::<Entry>()).saturating_add(size_of::<Header>());
        if (info as usize) < entries {
            return Err(at.bad_value("chunk table offset, which is before the end of the entries", info));
        }
        let Some(table) = data.checked_sub(info) else { return Err(at.skip(4).bad_value("chunk data offset", data)) };
        let chunks = (table as usize).checked_div(size_of::<ChunkInfo>()).unwrap_or(0);
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
        let (bytes, origin) = match &self.plain {
            Some(plain) => (plain.get(..self.size).unwrap_or_default(), self.base),
            None => {
                let end = self.base.saturating_add(self.size);
                (self.source.bytes().get(self.base..end).unwrap_or_default(), self.base)
            }
        };
        View::new(bytes, part).with_origin(self.source.view("").offset().saturating_add(origin as u64))
    }

    /// The number of files.
    pub(super) fn len(&self) -> usize {
        self.files
    }

    /// The number of chunks.
    pub(super) fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// Checks that the table of chunks ends with a complete row.
    pub(super) fn check(&self) -> Result<()> {
        let at = self.view("chunk table").skip(self.chunk_info);
        let table = self.chunk_data.saturating_sub(self.chunk_info);
        match table.checked_rem(size_of::<ChunkInfo>()) {
            Some(0) => Ok(()),
            _ => Err(at.bad_value("bytes of the table, which are no whole rows", table as u64)),
        }
    }

    /// The list's stretches, with offsets of the file.
    pub(super) fn sections(&self) -> Vec<Section> {
        let at = |at: usize| self.view("").at(at).offset();
        let (header, entries) = (size_of::<Header>(), self.files.saturating_mul(size_of::<Entry>()));
        let chunks = self.chunks.len().saturating_mul(size_of::<ChunkInfo>());
        let data = self.size.saturating_sub(self.chunk_data);
        let mut sections = vec![
            Section::new("header", at(0), header as u64, None),
            Section::new("entries", at(header), entries as u64, Some(self.files as u64)),
            Section::new("chunk_table", at(self.chunk_info), chunks as u64, Some(self.chunks.len() as u64)),
            Section::new("chunks", at(self.chunk_data), data as u64, None),
        ];
        if self.encryption != Encryption::None {
            let before = self.source.view("").offset();
            sections.insert(0, Section::new("crypt_header", before, size_of::<CryptHeader>() as u64, None));
            sections.push(Section::new("crypt_trailer", at(self.size), size_of::<CryptTrailer>() as u64, None));
        }
        sections
    }

    fn entries(&self) -> &[Entry] {
        self.view("entries").skip(size_of::<Header>()).array(self.files).unwrap_or_default()
    }

    /// The entry of file `n`.
    pub(super) fn entry(&self, n: usize) -> Option<&Entry> {
        self.entries().get(n)
    }

    fn entry_view(&self, n: usize) -> View<'_> {
        self.view("entries").skip(size_of::<Header>()).skip(n.saturating_mul(size_of::<Entry>()))
    }

    /// The texts of chunk `n`, inflated on first use.
    pub(super) fn chunk(&self, n: usize) -> Option<&Result<Vec<u8>>> {
        // By rayon or not, so without a lock.
        let Ok(chunk) = self.chunks.get(n)?.get_or_try_init(|| {
            self.inflated.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>(self.inflate(n))
        });
        Some(chunk)
    }

    fn inflate(&self, n: usize) -> Result<Vec<u8>> {
        let at = self.view("chunk table").skip(self.chunk_info).skip(n.saturating_mul(size_of::<ChunkInfo>()));
        let info: &ChunkInfo = at.read()?;
        let within = |error: Error| error.context(format_args!("chunk {n}"));
        let (value, limit) = (info.size.get().into(), MAX_CHUNK);
        if value > limit {
            return Err(within(at.error(ErrorKind::Limit { what: "bytes of the texts of a chunk", value, limit })));
        }
        let data = self.view("chunk").skip(self.chunk_data).skip(info.offset.get() as usize);
        let stored = data.take(info.stored_size.get() as usize).map_err(within)?;
        codec::zlib(stored, info.size.get() as usize).map_err(|kind| within(data.error(kind)))
    }

    /// Inflates all chunks on all cores.
    pub(super) fn inflate_all(&self) {
        (0..self.chunks.len()).into_par_iter().for_each(|n| {
            self.chunk(n);
        });
    }

    /// The text of file `n`.
    pub(super) fn text(&self, n: usize) -> Result<Text<'_>> {
        let at = self.entry_view(n);
        let entry: &Entry = at.read()?;
        let (chunk, position) = entry.text(self.layout);
        if self.chunks.get(chunk).is_some_and(|chunk| chunk.get().is_none())
            && self.inflated.load(Ordering::Relaxed) == ONE_BY_ONE
        {
            self.inflate_all();
        }
        let texts = match self.chunk(chunk) {
            Some(Ok(texts)) => texts,
            Some(Err(error)) => return Err(error.clone()),
            None => return Err(at.skip(4).bad_value("number of a chunk", chunk as u64)),
        };
        let Some(text) = text_at(texts, position) else {
            return Err(at.skip(4).bad_value("position of a text in its chunk", position as u64));
        };
        parse(text).ok_or_else(|| {
            let what = format!(
                "its text is {:?}, not SECTOR:SIZE:STORED:PATH",
                shown(text.get(..text.len().min(80)).unwrap_or_default())
            );
            at.error(ErrorKind::Damaged { what: what.into() })
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
            // Bytes that are not UTF-8 have a shown form that differs from the stored one.
            let may_have = |texts: &[u8]| needle.find(texts).is_some() || path.contains('\\');
            let Some(Ok(texts)) = self.chunk(chunk) else { continue };
            if !may_have(texts) {
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

    /// The chunk of file `n`, for the order in which [`List::find`] finds.
    pub(super) fn chunk_of(&self, n: usize) -> usize {
        self.entry(n).map_or(usize::MAX, |entry| entry.text(self.layout).0)
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

/// Takes a text apart: three hexadecimal numbers and a path, with `:` between them.
fn parse(text: &[u8]) -> Option<Text<'_>> {
    let mut parts = text.splitn(4, |&byte| byte == b':');
    let mut number = || {
        let digits = parts.next().filter(|digits| (1..=16).contains(&digits.len()))?;
        digits
            .iter()
            .try_fold(0u64, |number, &digit| Some(number.checked_mul(16)? | u64::from(char::from(digit).to_digit(16)?)))
    };
    let (sector, size, stored_size) = (number()?, number()?, number()?);
    let path = match parts.next()? {
        b"" | b" " => None,
        path => Some(shown(path)),
    };
    Some(Text { offset: sector.checked_mul(SECTOR)?, size, stored_size, path })
}

/// Bytes as text; bytes that are no UTF-8 as `\xff`.
fn shown(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.into();
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text.into()
}
