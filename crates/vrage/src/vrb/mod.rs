//! `.vrb`: archives of VRAGE 3 (Space Engineers 2), read without the game. Sections (§) in these docs are those of
//! docs/formats/vrb.md.
//!
//! An [`VrbArchive`] is a header, three small tables and chunks. The type table says how the values of the chunks are
//! stored; a chunk is one value, walked without building it ([`Node`], [`Walker`]).
//!
//! ```no_run
//! use assetq::Source;
//! use assetq::formats::vrage::vrb::{Path, VrbArchive};
//!
//! # fn main() -> assetq::Result<()> {
//! let archive = VrbArchive::open(Source::open("definitionsets.vrb")?)?;
//! let path = Path::parse("DefinitionSets.World._definitions[3].Guid").unwrap_or_default();
//! if let Some(node) = archive.main().root()?.find(&path)? {
//!     println!("{:?} at {:#x}", node.leaf()?, node.position());
//! }
//! # Ok(())
//! # }
//! ```

mod builtin;
mod difference;
mod graph;
pub mod layout;
mod node;
mod options;
mod part;
mod path;
mod reader;
mod shape;
mod tables;
mod types;
mod values;
mod verify;
mod writer;

pub use builtin::{Builtin, Extent};
pub use graph::{Event, Inferred, Walker};
pub use layout::{ArchiveEntry, ArchiveHeader, ChunkArchiveEntry, MAGIC, VERSION};
pub use node::Node;
pub use part::{ArchivePart, Compression};
pub use path::{Path, Step};
pub use shape::Shape;
pub use types::{Member, Model, ModelId, Parts, TypeDef, TypeId, TypeModel};

use crate::budget;
use crate::bytes::{Cursor, Utf16, View, clamp_to_usize, le};
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::source::Source;
use crate::writable::{refused, short_text};
use assetq_core::Openable;
use graph::{Graph, PendingValue};
pub use options::{Limits, Options};
use part::Room;
use std::collections::HashSet;
use std::mem::offset_of;
use std::sync::{Mutex, PoisonError};
use types::table_text;
use zerocopy::IntoBytes as _;

pub const MAIN: &str = "[Main]";

/// A record of the bundle table: an assembly with types.
#[derive(Debug, Clone, Copy)]
pub struct Bundle<'a> {
    /// The bundle's name; `@` marks one that is not the game's.
    pub name: Utf16<'a>,
    /// Major, minor, build, revision.
    pub version: [i32; 4],
}

/// A chunk as described by its entry.
#[derive(Debug)]
struct ChunkPart {
    name: String,
    part: ArchivePart,
    root: i32,
    /// The chunk's stored bytes belong to something else too.
    shared: bool,
    /// The number of leaves of its root value, once counted.
    leaves: Lazy<usize>,
    /// Whether it was checked before an edit.
    whole: Lazy<()>,
}

impl ChunkPart {
    fn new(name: String, part: ArchivePart, root: le::I32) -> Self {
        Self { name, part, root: root.get(), shared: false, leaves: Lazy::default(), whole: Lazy::default() }
    }
}

/// An open archive.
///
/// Tables and chunks are decoded when they are first asked for, and kept until the archive is closed: values borrow from
/// them, so that none could be let go while one is read. They are bounded all together, whatever the file says: by 16 MiB
/// and 128 bytes for each byte of the archive, and by 8 GiB ([`Limits`]). A part beyond that is
/// an error of the kind [`Limit`](ErrorKind::Limit), and [`ArchivePart::decode`] gives the bytes of one without keeping them.
#[derive(Debug)]
pub struct VrbArchive {
    source: Source,
    options: Options,
    bundle_table: ArchivePart,
    type_table: ArchivePart,
    chunk_table: ArchivePart,
    main: ChunkPart,
    /// The room for decoded parts that the parts above leave.
    room: Room,
    extra: Lazy<Vec<ChunkPart>>,
    types: Lazy<TypeModel>,
    warnings: Mutex<Warnings>,
}

/// Warnings, each once, in the order of their occurrence.
#[derive(Debug, Default)]
struct Warnings {
    said: Vec<String>,
    known: HashSet<String>,
}

impl VrbArchive {
    /// Opens `source`. Reads only the header; a wrong header checksum is a warning.
    ///
    /// # Errors
    /// `BadMagic`, `BadVersion`, `OutOfBounds` for a file shorter than the header.
    pub fn open(from: impl Openable) -> Result<Self> {
        let source = from.open_source(&assetq_core::Options::default())?;
        Self::open_with(source, Options::default())
    }

    /// As [`VrbArchive::open`], with other bounds, or strict.
    ///
    /// # Errors
    /// As [`VrbArchive::open`]; `Checksum` under strict options.
    pub fn open_with(from: impl Openable, options: Options) -> Result<Self> {
        let source = from.open_source(&assetq_core::Options::default())?;
        let view = source.view("header");
        let magic = view.read::<le::U32>()?.get();
        if magic != MAGIC {
            return Err(view.error(ErrorKind::BadMagic { expected: MAGIC.into(), found: magic.into() }));
        }
        let header = view.read::<ArchiveHeader>()?;
        if header.version.get() != VERSION {
            let view = view.locate(&header.version);
            return Err(view.error(ErrorKind::BadVersion { found: header.version.get().into() }));
        }
        let mut room = Room { limit: options.limits.decoded(&source), taken: 0 };
        let this = Self {
            options,
            bundle_table: part_in(view, "bundle table", &header.bundle_table, &mut room),
            type_table: part_in(view, "type table", &header.type_table, &mut room),
            chunk_table: part_in(view, "chunk table", &header.chunk_table, &mut room),
            main: ChunkPart::new(
                MAIN.into(),
                part_in(view, "chunk [Main]", &header.main_chunk.entry, &mut room),
                header.main_chunk.root_type,
            ),
            room,
            extra: Lazy::default(),
            types: Lazy::default(),
            warnings: Mutex::default(),
            source,
        };
        match this.check_header() {
            Err(error) if options.strict => return Err(error),
            Err(error) => this.warn(error),
            Ok(()) => {}
        }
        Ok(this)
    }

    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The header, in place (§1).
    pub fn header(&self) -> &ArchiveHeader {
        self.source.view("header").read().expect("the archive was opened with a header")
    }

    /// Checks that the header's checksum matches its bytes.
    ///
    /// # Errors
    /// `Checksum`.
    pub fn check_header(&self) -> Result<()> {
        let header = self.header();
        let (stored, computed) = (header.checksum.get(), header.computed_checksum());
        if stored == computed {
            return Ok(());
        }
        let view = self.source.view("header").locate(&header.checksum);
        Err(view.error(ErrorKind::Checksum { algorithm: "XXH64", stored, computed }))
    }

    /// Adds a warning, once.
    fn warn(&self, error: Error) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        let error = error.to_string();
        if warnings.known.insert(error.clone()) {
            warnings.said.push(error);
        }
    }

    fn data<'a>(&'a self, part: &'a ArchivePart) -> Result<&'a Source> {
        part.data(&self.source, &self.options, |error| self.warn(error))
    }

    /// The bundle table, the type table and the chunk table, in the header's order.
    pub fn tables_of_contents(&self) -> [&ArchivePart; 3] {
        [&self.bundle_table, &self.type_table, &self.chunk_table]
    }

    /// Bytes of text that a walk over all values may put together.
    fn text_limit(&self) -> u64 {
        budget::walked(clamp_to_usize(self.options.limits.decoded(&self.source)))
    }

    /// The bundles (§3).
    ///
    /// # Errors
    /// When the bundle table cannot be decoded, or has another number of records than the header.
    pub fn bundles(&self) -> Result<Vec<Bundle<'_>>> {
        let data = self.data(&self.bundle_table)?;
        self.bundles_in(data).map_err(|e| e.context(self.bundle_table.label()))
    }

    fn bundles_in<'a>(&self, data: &'a Source) -> Result<Vec<Bundle<'a>>> {
        let mut cursor = Cursor::new(data.view("bundles"));
        let count = self.count("bundle count", &self.header().bundle_count, 20, data)?;
        let mut bundles = Vec::new();
        for _ in 0..count {
            let name = table_text(&mut cursor)?;
            let version = [cursor.i32()?, cursor.i32()?, cursor.i32()?, cursor.i32()?];
            bundles.push(Bundle { name, version });
        }
        cursor.expect_end()?;
        Ok(bundles)
    }

    /// A count in the header, of records that take `least` bytes each in `table`.
    fn count(&self, what: &'static str, stored: &le::I32, least: u64, table: &Source) -> Result<u32> {
        match u32::try_from(stored.get()) {
            Ok(n) if u64::from(n).saturating_mul(least) <= table.bytes().len() as u64 => Ok(n),
            _ => Err(self.source.view("header").locate(stored).bad_value(what, stored.get())),
        }
    }

    /// The type table (§4).
    ///
    /// # Errors
    /// When it cannot be decoded or read.
    pub fn types(&self) -> Result<&TypeModel> {
        self.types.get_or_try_init(|| {
            let data = self.data(&self.type_table)?;
            TypeModel::parse(data.clone()).map_err(|e| e.context(self.type_table.label()))
        })
    }

    /// Whether the type table of `other` has the same bytes.
    fn has_types_of(&self, other: &Self) -> Result<bool> {
        Ok(self.data(&self.type_table)?.bytes() == other.data(&other.type_table)?.bytes())
    }

    pub fn main(&self) -> Chunk<'_> {
        Chunk { archive: self, chunk: &self.main }
    }

    /// All chunks, the main chunk first, then the chunks of the chunk table.
    ///
    /// # Errors
    /// When the chunk table is damaged; [`VrbArchive::main`] works all the same.
    pub fn chunks(&self) -> Result<Vec<Chunk<'_>>> {
        let extra = self.extra()?;
        Ok(std::iter::once(&self.main).chain(extra).map(|chunk| Chunk { archive: self, chunk }).collect())
    }

    /// The chunks that can be listed, and the error that hides the others.
    fn known_chunks(&self) -> (Vec<Chunk<'_>>, Result<()>) {
        match self.chunks() {
            Ok(chunks) => (chunks, Ok(())),
            Err(error) => (vec![self.main()], Err(error)),
        }
    }

    /// The chunk `name`, which may be in brackets; the main chunk is called [`MAIN`].
    ///
    /// # Errors
    /// When the chunk table is damaged and `name` is not the main chunk.
    pub fn chunk(&self, name: &str) -> Result<Option<Chunk<'_>>> {
        if name == MAIN {
            return Ok(Some(self.main()));
        }
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        let extra = self.extra()?;
        let chunk = [Some(name), bare].into_iter().flatten().find_map(|name| extra.iter().find(|c| c.name == name));
        Ok(chunk.map(|chunk| Chunk { archive: self, chunk }))
    }

    /// The records of the chunk table: a string and an entry each. No real file has one: the layout follows from the
    /// published description of the table and from how the other tables write strings (§7).
    fn extra(&self) -> Result<&Vec<ChunkPart>> {
        self.extra.get_or_try_init(|| {
            if self.header().chunk_count.get() == 0 {
                return Ok(Vec::new());
            }
            let data = self.data(&self.chunk_table)?;
            self.extra_in(data).map_err(|e| e.context(self.chunk_table.label()))
        })
    }

    fn extra_in(&self, data: &Source) -> Result<Vec<ChunkPart>> {
        let mut cursor = Cursor::new(data.view("chunks"));
        let count = self.count("chunk count", &self.header().chunk_count, 44, data)?;
        let (mut chunks, mut room) = (Vec::new(), self.room);
        for _ in 0..count {
            let name = table_text(&mut cursor)?.to_string();
            let at = cursor.view();
            let &ChunkArchiveEntry { entry, root_type } = cursor.read()?;
            let decoded = self.chunk_table.entry().compression_type != 0;
            let place = (at.offset(), decoded.then_some("chunk table, decompressed"));
            let part = ArchivePart::new(format!("chunk {name}"), entry, place, &mut room);
            chunks.push(ChunkPart::new(name, part, root_type));
        }
        cursor.expect_end()?;
        self.mark_shared(&mut chunks);
        Ok(chunks)
    }

    /// Marks the chunks whose stored bytes overlap another part. No known file has such chunks; a hostile one could
    /// require decoding the same bytes any number of times.
    fn mark_shared(&self, chunks: &mut [ChunkPart]) {
        let header = size_of::<ArchiveHeader>() as u64;
        let fixed = self.tables_of_contents().into_iter().chain([&self.main.part]);
        let mut ranges: Vec<(u64, u64, Option<usize>)> =
            fixed.filter_map(|p| p.range().map(|(start, end)| (start, end, None))).collect();
        let extra = chunks.iter().enumerate().filter_map(|(i, c)| c.part.range().map(|(s, e)| (s, e, Some(i))));
        ranges.extend(extra);
        ranges.retain(|(start, end, _)| start < end);
        ranges.sort_unstable();
        let mut covered = header;
        for (start, end, chunk) in ranges {
            if let Some(chunk) = chunk.filter(|_| start < covered).and_then(|i| chunks.get_mut(i)) {
                chunk.shared = true;
            }
            covered = covered.max(end);
        }
    }

    /// The value that `entry` names: a chunk by its name or by its name in brackets (`Entities`, `[Entities]`, `[Main]`), a
    /// path in a chunk (`Entities[3].Mass`, `[Entities][3].Mass`), or a path in the main chunk (`Roots[0]`).
    ///
    /// # Errors
    /// `Syntax` if a chunk and the main chunk both have a value of this name, with a name in brackets for each. Damage on
    /// the way to the value.
    pub fn find(&self, entry: &str) -> Result<Option<(Chunk<'_>, Node<'_>)>> {
        if let Some(rest) = entry.strip_prefix(MAIN) {
            return self.main().value(rest);
        }
        // The longest name wins if one chunk's name is a prefix of another's.
        let extra = self.extra()?.iter().filter(|chunk| !chunk.name.is_empty());
        let in_brackets = extra
            .clone()
            .filter_map(|chunk| Some((chunk, entry.strip_prefix('[')?.strip_prefix(&*chunk.name)?.strip_prefix(']')?)));
        if let Some((chunk, rest)) = in_brackets.max_by_key(|(chunk, _)| chunk.name.len()) {
            return Chunk { archive: self, chunk }.value(rest);
        }
        let bare = extra
            .filter_map(|chunk| Some((chunk, entry.strip_prefix(&*chunk.name)?)))
            .filter(|(_, rest)| rest.is_empty() || rest.starts_with(['.', '[']));
        let Some((chunk, rest)) = bare.max_by_key(|(chunk, _)| chunk.name.len()) else {
            return self.main().value(entry);
        };
        let found = Chunk { archive: self, chunk }.value(rest)?;
        // A damaged main chunk has no value of this name that could be shown instead.
        let of_main = self.main().value(entry);
        match (found, of_main) {
            (Some(_), Ok(Some(_))) => {
                let both = format!("[{}]{rest} or {MAIN}.{entry}", chunk.name);
                let what = format!("{} names two values; write {both}", short_text(entry));
                Err(refused(what))
            }
            (None, of_main) => of_main,
            (found, _) => Ok(found),
        }
    }
}

/// The part that an entry in the header describes.
fn part_in<'a>(header: View<'a>, name: &str, entry: &'a ArchiveEntry, room: &mut Room) -> ArchivePart {
    ArchivePart::new(name.into(), *entry, (header.locate(entry).offset(), None), room)
}

#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    archive: &'a VrbArchive,
    chunk: &'a ChunkPart,
}

impl<'a> Chunk<'a> {
    pub fn name(&self) -> &'a str {
        &self.chunk.name
    }

    /// Where and how it is stored.
    pub fn part(&self) -> &'a ArchivePart {
        &self.chunk.part
    }

    fn value(self, path: &str) -> Result<Option<(Self, Node<'a>)>> {
        let Some(path) = Path::parse(path.strip_prefix('.').unwrap_or(path)) else { return Ok(None) };
        Ok(self.root()?.find(&path)?.map(|node| (self, node)))
    }

    /// Checks that its stored bytes do not overlap another part.
    fn check_alone(&self) -> Result<()> {
        if !self.chunk.shared {
            return Ok(());
        }
        let what = "its bytes belong to another part of the archive too".into();
        let offset = self.chunk.part.range().map_or(0, |(start, _)| start);
        Err(Error::new(ErrorKind::Damaged { what }, format!("chunk {}", self.chunk.name), offset))
    }

    /// Compares the checksum of its stored bytes with its entry. Bytes that overlap another part are not checked: many
    /// chunks could consist of the whole file.
    fn check_checksum(&self) -> Result<()> {
        if self.chunk.shared { Ok(()) } else { self.chunk.part.check_checksum(&self.archive.source) }
    }

    /// Whether `other`, a chunk of another archive, has the same name, type and stored bytes. Bytes that overlap another part are not
    /// compared: many chunks could consist of the whole file.
    fn is_stored_as(&self, other: &Self) -> bool {
        let (entry, of_other) = (self.part().entry(), other.part().entry());
        let is_alike = (self.name(), self.chunk.root) == (other.name(), other.chunk.root)
            && !self.chunk.shared
            && !other.chunk.shared
            && ArchiveEntry { offset: of_other.offset, ..*entry }.as_bytes() == of_other.as_bytes();
        let stored = |chunk: &Self| chunk.part().stored(&chunk.archive.source).ok();
        is_alike && stored(self).zip(stored(other)).is_some_and(|(bytes, others)| bytes.bytes() == others.bytes())
    }

    /// The number of leaves of its root value.
    fn leaves(&self) -> Result<usize> {
        let count = || {
            let mut walker = self.root()?.walk();
            let leaves = walker.pass(usize::MAX)?;
            walker.expect_end().map(|()| leaves.unwrap_or_default())
        };
        self.chunk.leaves.get_or_try_init(count).copied()
    }

    /// Decodes its bytes without keeping them.
    fn decode(&self) -> Result<Source> {
        self.chunk.part.decode(&self.archive.source, &self.archive.options.limits)
    }

    /// The chunk's decoded bytes, kept.
    ///
    /// # Errors
    /// When they cannot be decoded; `Checksum` under strict options.
    pub fn data(&self) -> Result<&'a Source> {
        self.archive.data(&self.chunk.part)
    }

    /// The model of its root value.
    ///
    /// # Errors
    /// `BadValue` when there is no such model, and the errors of the type table.
    pub fn root_model(&self) -> Result<ModelId> {
        let types = self.archive.types()?;
        types.model_id(self.chunk.root).ok_or_else(|| {
            let kind = ErrorKind::BadValue { what: "root model".into(), value: self.chunk.root.into() };
            let at = self.chunk.part.place.0.saturating_add(offset_of!(ChunkArchiveEntry, root_type) as u64);
            Error::new(kind, self.chunk.part.label().to_owned(), at)
        })
    }

    /// The chunk's root value.
    ///
    /// # Errors
    /// As [`Chunk::data`] and [`Chunk::root_model`]; `Unsupported` for a delta-encoded chunk.
    pub fn root(&self) -> Result<Node<'a>> {
        self.check_alone()?;
        self.root_in(self.data()?)
    }

    /// The root value, read from decoded bytes that may not be the kept ones.
    fn root_in<'b>(&self, data: &'b Source) -> Result<Node<'b>>
    where
        'a: 'b,
    {
        self.chunk.part.check_plain()?;
        let types = self.archive.types()?;
        let (view, label) = (data.view("values"), self.chunk.part.label());
        let graph = Graph { types, view, label, depth: self.archive.options.limits.depth };
        Ok(Node::new(graph, PendingValue::plain(self.root_model()?), 0))
    }
}
