//! One `.idx`: its tables, read in place, whichever variant it is.

#![allow(clippy::useless_conversion, reason = "fields of one name have other widths in other variants")]

use super::layout::{IndexHeader, MAGIC, v1, v2};
use crate::archive::Codec;
use crate::bytes::{Overlay, View, le};
use crate::codec::murmur3;
use crate::error::{ErrorKind, Result};
use crate::reader::Section;
use crate::source::Source;
use std::fmt;
use std::mem::offset_of;

/// A layout of indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Today's.
    V2,
    /// The variant of 32 bits.
    V1,
}

impl Variant {
    const ALL: [Self; 2] = [Self::V2, Self::V1];
    /// The number in the header of an index of World of Warships: Legends.
    const LEGENDS: u32 = 0x0101_0005;

    /// The number in the header.
    pub const fn number(self) -> u32 {
        match self {
            Self::V2 => 0x0200_0000,
            Self::V1 => 0x0101_0004,
        }
    }

    const fn pointer_width(self) -> u32 {
        match self {
            Self::V2 => 64,
            Self::V1 => 32,
        }
    }

    /// Whether blobs are known to have a trailer.
    pub(super) const fn has_trailers(self) -> bool {
        matches!(self, Self::V2)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::V2 => "2",
            Self::V1 => "1",
        })
    }
}

/// The name of a folder or a file.
#[derive(Debug, Clone, Copy)]
pub struct Resource<'a> {
    /// CityHash64 of the path.
    pub id: u64,
    /// The id of its folder.
    pub parent: u64,
    name: Name<'a>,
}

impl<'a> Resource<'a> {
    /// The last part of the path.
    ///
    /// # Errors
    /// When it leaves the file, has no NUL at its end, or is not UTF-8.
    pub fn name(&self) -> Result<&'a str> {
        self.name.text()
    }

    pub(super) fn view(&self) -> View<'a> {
        self.name.base
    }
}

/// The place of a file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredFile {
    /// The id of its resource.
    pub id: u64,
    /// The id of its volume.
    pub volume: u64,
    /// The entry's first byte in the volume.
    pub offset: u64,
    /// How it is stored, with `codec`.
    pub method: u32,
    /// How it is stored, with `method`.
    pub codec: u32,
    /// Bytes in the volume.
    pub stored_size: u64,
    /// CRC-32 of the decoded bytes.
    pub crc32: u32,
    /// The decoded size in bytes.
    pub size: u64,
}

impl StoredFile {
    /// The codec that `method` and `codec` mean.
    pub fn codec(&self) -> Codec {
        match (self.method, self.codec) {
            (0 | 6, 0) => Codec::None,
            (5, 1) => Codec::Deflate,
            (6, 3..=7) => Codec::Oodle,
            (method, codec) => Codec::Unknown(u64::from(codec) << 32 | u64::from(method)),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct VolumeEntry<'a> {
    /// CityHash64 of the name.
    pub id: u64,
    name: Name<'a>,
}

impl<'a> VolumeEntry<'a> {
    /// The stored name; in older files it begins with `//.//`.
    ///
    /// # Errors
    /// As [`Resource::name`].
    pub fn name(&self) -> Result<&'a str> {
        self.name.text()
    }

    pub(super) fn view(&self) -> View<'a> {
        self.name.base
    }
}

/// A text with its length, and its offset from `base`.
#[derive(Debug, Clone, Copy)]
struct Name<'a> {
    base: View<'a>,
    len: u64,
    pointer: i64,
}

impl<'a> Name<'a> {
    fn text(self) -> Result<&'a str> {
        let start = self.base.follow(self.pointer)?;
        let len = usize::try_from(self.len).map_err(|_| self.base.bad_value("length of a name", self.len))?;
        let bytes = start.take(len)?;
        match bytes.split_last() {
            Some((0, text)) => start.utf8(text),
            _ => Err(start.error(ErrorKind::damaged("a name does not end with a NUL"))),
        }
    }
}

/// Structs of one kind, which were found inside of the file at opening.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    count: usize,
    size: usize,
}

impl Span {
    /// Unsigned pointers are taken for signed ones; they are checked against the file in any case.
    fn check<T: Overlay>(
        base: View<'_>,
        part: &'static str,
        pointer: impl Into<u64>,
        count: impl Into<u64>,
    ) -> Result<Self> {
        let (view, pointer, count) = (base.part(part), pointer.into().cast_signed(), count.into());
        let count = usize::try_from(count).map_err(|_| view.bad_value("count", count))?;
        let start = if count == 0 { view } else { view.follow(pointer)? };
        start.array::<T>(count)?;
        Ok(Self { start: start.position(), count, size: size_of::<T>() })
    }

    fn at(&self, n: usize) -> usize {
        self.start.saturating_add(n.saturating_mul(self.size))
    }
}

/// An open index. Its tables are read in place.
#[derive(Debug, Clone)]
pub struct Index {
    source: Source,
    name: String,
    variant: Variant,
    resources: Span,
    files: Span,
    volumes: Span,
}

/// Evaluates an expression with `$of` as the structs of a variant, whose fields of the same names are at other places and of other
/// widths.
macro_rules! by_variant {
    ($variant:expr, $of:ident => $value:expr) => {
        match $variant {
            Variant::V2 => {
                use v2 as $of;
                $value
            }
            Variant::V1 => {
                use v1 as $of;
                $value
            }
        }
    };
}

/// Rows with ids in the tables of an index.
trait HasId: Overlay {
    fn id(&self) -> u64;
}

macro_rules! has_id {
    ($($of:ty),*) => {
        $(impl HasId for $of {
            #[inline(always)]
            fn id(&self) -> u64 {
                self.id.get()
            }
        })*
    };
}
has_id!(v2::ResourceRow, v2::FileRow, v1::ResourceRow, v1::FileRow);

/// The first of `items` with this id, and not before number `from`. They are compared in blocks without a branch for
/// each.
fn position<T: HasId>(items: &[T], id: u64, from: usize) -> Option<usize> {
    const BLOCK: usize = 32;
    let mut start = from;
    for block in items.get(from..)?.chunks(BLOCK) {
        if block.iter().fold(false, |hit, item| hit | (item.id() == id)) {
            let at = block.iter().position(|item| item.id() == id)?;
            return start.checked_add(at);
        }
        start = start.saturating_add(block.len());
    }
    None
}

impl Index {
    /// Opens an index that is called `name` in messages: reads its header and checks that its tables are in the file.
    ///
    /// # Errors
    /// `BadMagic`, `BadVersion`, `BadValue` for a width of pointers that the variant does not have, or the table that does
    /// not fit.
    pub fn open(source: Source, name: &str) -> Result<Self> {
        let view = source.view("header");
        let header: &IndexHeader = view.read()?;
        if header.magic != MAGIC {
            let found = le::U32::from_bytes(header.magic).get().into();
            return Err(view.error(ErrorKind::BadMagic { expected: u32::from_le_bytes(MAGIC).into(), found }));
        }
        let number = header.variant.get();
        if number == Variant::LEGENDS {
            return Err(crate::legends(view));
        }
        let Some(variant) = Variant::ALL.into_iter().find(|variant| variant.number() == number) else {
            return Err(view.locate(&header.variant).error(ErrorKind::BadVersion { found: number.into() }));
        };
        if header.pointer_width.get() != variant.pointer_width() {
            return Err(view.locate(&header.pointer_width).bad_value("pointer width", header.pointer_width.get()));
        }
        let base = view.at(size_of::<IndexHeader>()).part("metadata");
        let [resources, files, volumes] = by_variant!(variant, of => {
            let m: &of::Metadata = base.read()?;
            [
                Span::check::<of::ResourceRow>(base, "resources", m.resources_at.get(), m.resources.get())?,
                Span::check::<of::FileRow>(base, "files", m.files_at.get(), m.files.get())?,
                Span::check::<of::VolumeRow>(base, "volumes", m.volumes_at.get(), m.volumes.get())?,
            ]
        });
        Ok(Self { name: name.to_owned(), variant, resources, files, volumes, source })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The bytes it reads.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The index's layout.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The number of folders and files that it names.
    pub fn resource_count(&self) -> usize {
        self.resources.count
    }

    /// The number of its files.
    pub fn file_count(&self) -> usize {
        self.files.count
    }

    /// The number of its volumes.
    pub fn volume_count(&self) -> usize {
        self.volumes.count
    }

    /// All of a table, which was found inside of the file at opening.
    #[inline]
    fn all<T: Overlay>(&self, span: Span) -> &[T] {
        self.source.view("").at(span.start).array(span.count).expect("opening found the table inside of the file")
    }

    /// The view of struct `n` of a table, and the base of its pointer, `skip` bytes into it.
    fn base(&self, part: &'static str, span: Span, n: usize, skip: usize) -> View<'_> {
        self.source.view(part).at(span.at(n).saturating_add(skip))
    }

    /// Resource `n`; `None` past the end.
    pub fn resource(&self, n: usize) -> Option<Resource<'_>> {
        Some(by_variant!(self.variant, of => {
            let r = self.all::<of::ResourceRow>(self.resources).get(n)?;
            let base = self.base("resource", self.resources, n, offset_of!(of::ResourceRow, name_len));
            let name = Name { base, len: r.name_len.get().into(), pointer: r.name.get().into() };
            Resource { id: r.id.get(), parent: r.parent.get(), name }
        }))
    }

    /// File `n`; `None` past the end.
    #[inline]
    pub fn file(&self, n: usize) -> Option<StoredFile> {
        Some(by_variant!(self.variant, of => {
            let f = self.all::<of::FileRow>(self.files).get(n)?;
            StoredFile {
                id: f.id.get(),
                volume: f.volume.get(),
                offset: f.offset.get(),
                method: f.method.get(),
                codec: f.codec.get(),
                stored_size: f.stored_size.get().into(),
                crc32: f.crc32.get(),
                size: f.size.get().into(),
            }
        }))
    }

    /// Volume `n`; `None` past the end.
    pub fn volume(&self, n: usize) -> Option<VolumeEntry<'_>> {
        Some(by_variant!(self.variant, of => {
            let v = self.all::<of::VolumeRow>(self.volumes).get(n)?;
            let base = self.base("volume", self.volumes, n, offset_of!(of::VolumeRow, name_len));
            let name = Name { base, len: v.name_len.get().into(), pointer: v.name.get().into() };
            VolumeEntry { id: v.id.get(), name }
        }))
    }

    /// The number of the first file with this id, from number `from` on, by a scan.
    pub fn find_file(&self, id: u64, from: usize) -> Option<usize> {
        by_variant!(self.variant, of => position(self.all::<of::FileRow>(self.files), id, from))
    }

    /// The number of the first resource with this id, by a scan.
    pub fn find_resource(&self, id: u64) -> Option<usize> {
        by_variant!(self.variant, of => position(self.all::<of::ResourceRow>(self.resources), id, 0))
    }

    /// Compares the checksum in the header with the bytes after it.
    ///
    /// # Errors
    /// `Checksum`.
    pub fn check(&self) -> Result<()> {
        let view = self.source.view("header");
        let header: &IndexHeader = view.read()?;
        let (stored, computed) = (header.checksum.get(), murmur3(view.at(size_of::<IndexHeader>()).rest()));
        if stored == computed {
            return Ok(());
        }
        let (algorithm, stored, computed) = ("MurmurHash3", stored.into(), computed.into());
        Err(view.locate(&header.checksum).error(ErrorKind::Checksum { algorithm, stored, computed }))
    }

    pub(super) fn file_view(&self, n: usize) -> View<'_> {
        self.base("file", self.files, n, 0)
    }

    /// The index's stretches, in the order in which they are read.
    pub(super) fn sections(&self) -> Vec<Section> {
        let metadata = by_variant!(self.variant, of => size_of::<of::Metadata>());
        let view = self.source.view("");
        let mut sections = vec![
            Section::new("header", view.offset(), size_of::<IndexHeader>() as u64, None),
            Section::new("metadata", view.at(size_of::<IndexHeader>()).offset(), metadata as u64, None),
        ];
        for (name, span) in [("resources", self.resources), ("files", self.files), ("volumes", self.volumes)] {
            let size = span.count.saturating_mul(span.size) as u64;
            sections.push(Section::new(name, view.at(span.start).offset(), size, Some(span.count as u64)));
        }
        sections
    }
}
