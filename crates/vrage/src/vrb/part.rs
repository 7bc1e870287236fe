//! A table or chunk of an archive: its position, and its bytes after the first use.

use super::layout::{ArchiveEntry, MAGIC};
use super::options::{Limits, Options};
use crate::codec;
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::source::Source;
use std::mem::offset_of;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    None,
    /// Deflate, with a zlib header or bare.
    Zlib,
    Brotli,
}

impl Compression {
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Zlib => "zlib",
            Self::Brotli => "brotli",
        }
    }
}

/// Bytes that the parts of an archive may have together when they are decoded, and that they have so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub limit: u64,
    pub taken: u64,
}

impl Room {
    /// Reserves the decoded size that a part declares, if there is room for it. Returns the bytes that were reserved
    /// before. A part that is stored without compression needs no room.
    fn take(&mut self, entry: &ArchiveEntry) -> u64 {
        let before = self.taken;
        if entry.compression_type != 0
            && let Ok(size) = u64::try_from(entry.uncompressed_size.get())
            && let Some(after) = before.checked_add(size).filter(|after| *after <= self.limit)
        {
            self.taken = after;
        }
        before
    }
}

/// A table or chunk. Its bytes are decoded when they are first asked for, and kept: the bytes of all parts together are
/// bounded.
#[derive(Debug)]
pub struct ArchivePart {
    /// The name of the part in errors.
    name: String,
    /// The name of its decoded bytes in errors.
    label: String,
    entry: ArchiveEntry,
    /// The place of the entry: in the file, or, with a name, in a decoded table.
    pub(super) place: (u64, Option<&'static str>),
    /// Decoded bytes of the earlier parts.
    before: u64,
    data: Lazy<Source>,
    computed: Lazy<u64>,
}

impl ArchivePart {
    pub(super) fn new(name: String, entry: ArchiveEntry, place: (u64, Option<&'static str>), room: &mut Room) -> Self {
        let before = room.take(&entry);
        let label = if entry.compression_type == 0 { name.clone() } else { format!("{name}, decompressed") };
        Self { name, label, entry, place, before, data: Lazy::default(), computed: Lazy::default() }
    }

    pub fn entry(&self) -> &ArchiveEntry {
        &self.entry
    }

    /// The part's name in errors of its decoded bytes: offsets in them are the file's only where it is stored as it is.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The size of the stored bytes as declared; 0 for a negative number, which is an error of [`ArchivePart::stored`].
    pub(super) fn stored_size(&self) -> u64 {
        self.entry.entry_size.get().max(0).unsigned_abs()
    }

    /// An error in a field of the entry, at `field` bytes from its start.
    fn entry_error(&self, kind: ErrorKind, field: usize) -> Error {
        let (at, table) = self.place;
        let error = Error::new(kind, self.name.clone(), at.saturating_add(field as u64));
        match table {
            Some(table) => error.context(table),
            None => error,
        }
    }

    /// A `BadValue` in a field of the entry.
    fn bad_value(&self, what: &'static str, value: impl Into<i128>, field: usize) -> Error {
        self.entry_error(ErrorKind::BadValue { what: what.into(), value: value.into() }, field)
    }

    fn not_negative(&self, what: &'static str, value: i64, field: usize) -> Result<u64> {
        u64::try_from(value).map_err(|_| self.bad_value(what, value, field))
    }

    fn offset(&self) -> Result<u64> {
        self.not_negative("offset", self.entry.offset.get(), offset_of!(ArchiveEntry, offset))
    }

    /// How it is stored.
    ///
    /// # Errors
    /// `BadValue` for a number that stands for no compression.
    pub fn compression(&self) -> Result<Compression> {
        match self.entry.compression_type {
            0 => Ok(Compression::None),
            1 => Ok(Compression::Zlib),
            2 => Ok(Compression::Brotli),
            byte => Err(self.bad_value("compression type", byte, offset_of!(ArchiveEntry, compression_type))),
        }
    }

    /// Checks that the bytes of the entry that are zero in every known file are zero.
    pub(super) fn check_padding(&self) -> Result<()> {
        const DELTA: usize = offset_of!(ArchiveEntry, delta_encoded);
        const PADDING: usize = offset_of!(ArchiveEntry, padding);
        let [a, b] = self.entry.padding;
        for (what, value, field) in [
            ("delta encoding", self.entry.delta_encoded, DELTA),
            ("padding", a, PADDING),
            ("padding", b, PADDING.saturating_add(1)),
        ] {
            if value != 0 {
                return Err(self.bad_value(what, value, field));
            }
        }
        Ok(())
    }

    /// Checks that it is not delta-encoded.
    pub(super) fn check_plain(&self) -> Result<()> {
        match self.entry.delta_encoded {
            0 => Ok(()),
            byte => {
                let what = format!("delta encoding (byte {byte:#04x})").into();
                Err(self.entry_error(ErrorKind::Unsupported { what }, offset_of!(ArchiveEntry, delta_encoded)))
            }
        }
    }

    /// The range of the stored bytes in the file, if they are inside of it.
    pub(super) fn range(&self) -> Option<(u64, u64)> {
        let start = u64::try_from(self.entry.offset.get()).ok()?;
        Some((start, start.checked_add(u64::try_from(self.entry.entry_size.get()).ok()?)?))
    }

    /// The stored bytes in `file`, borrowed.
    ///
    /// # Errors
    /// `BadValue` for a negative offset or size, `OutOfBounds` when they are not in the file.
    pub fn stored(&self, file: &Source) -> Result<Source> {
        let offset = self.offset()?;
        let field = offset_of!(ArchiveEntry, entry_size);
        let size = self.not_negative("stored size", self.entry.entry_size.get(), field)?;
        let range = usize::try_from(offset).ok().zip(offset.checked_add(size).and_then(|e| usize::try_from(e).ok()));
        range.and_then(|(start, end)| file.slice(start..end, &self.name)).ok_or_else(|| {
            let have = (file.bytes().len() as u64).saturating_sub(offset);
            Error::new(ErrorKind::OutOfBounds { need: size, have }, self.name.clone(), offset)
        })
    }

    /// The checksum of the stored bytes, computed once.
    pub fn computed_checksum(&self, file: &Source) -> Result<u64> {
        self.computed.get_or_try_init(|| Ok(codec::xxh64(self.stored(file)?.bytes(), MAGIC.into()))).copied()
    }

    /// Checks that the checksum is the one in the entry.
    ///
    /// # Errors
    /// `Checksum`, and as [`ArchivePart::stored`].
    pub fn check_checksum(&self, file: &Source) -> Result<()> {
        let (stored, computed) = (self.entry.checksum.get(), self.computed_checksum(file)?);
        if stored == computed {
            return Ok(());
        }
        let kind = ErrorKind::Checksum { algorithm: "XXH64", stored, computed };
        Err(self.entry_error(kind, offset_of!(ArchiveEntry, checksum)))
    }

    /// The decoded bytes, kept: borrowed from the file where they are stored as they are. `warn` is given a checksum
    /// that does not match, unless the options are strict.
    ///
    /// # Errors
    /// As [`ArchivePart::decode`]; `Checksum` under strict options.
    pub(super) fn data(&self, file: &Source, options: &Options, warn: impl FnOnce(Error)) -> Result<&Source> {
        self.data.get_or_try_init(|| {
            let checked = self.check_checksum(file);
            // A wrong checksum explains the following error of decoding, so it is reported first.
            match checked {
                Err(error) if options.strict => return Err(error),
                Err(error) => warn(error),
                Ok(()) => {}
            }
            self.decode(file, &options.limits)
        })
    }

    /// The decoded bytes, if they were used before.
    pub(super) fn kept(&self) -> Option<&Source> {
        self.data.get()
    }

    /// Decodes the bytes without keeping them.
    ///
    /// # Errors
    /// As [`ArchivePart::stored`]; `BadValue` for an unknown compression, `Limit` for a size that the options do not allow,
    /// `Codec`, and `Damaged` when the declared size is not met.
    pub fn decode(&self, file: &Source, limits: &Limits) -> Result<Source> {
        let compression = self.compression()?;
        let stored = self.stored(file)?;
        let field = offset_of!(ArchiveEntry, uncompressed_size);
        let size = self.not_negative("size", self.entry.uncompressed_size.get(), field)?;
        let have = stored.bytes().len() as u64;
        let decode = match compression {
            Compression::None if size == have => return Ok(stored),
            Compression::None => {
                let what = format!("stored as it is with {have} bytes, but its size is said to be {size}").into();
                return Err(self.entry_error(ErrorKind::Damaged { what }, field));
            }
            Compression::Zlib => codec::zlib,
            Compression::Brotli => codec::brotli,
        };
        let (limit, value) = (limits.decoded(file), self.before.saturating_add(size));
        let bytes = match usize::try_from(size) {
            Ok(bytes) if value <= limit => bytes,
            _ => {
                let what = "decompressed size of all parts up to this one";
                return Err(self.entry_error(ErrorKind::Limit { what, value, limit }, field));
            }
        };
        let offset = self.offset()?;
        let data = decode(stored.bytes(), bytes).map_err(|kind| Error::new(kind, self.name.clone(), offset))?;
        Ok(Source::from_vec(&self.label, data))
    }
}
