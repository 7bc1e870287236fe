//! World of Warships prototype databases: `assets.bin` (BWDB), and the `models.bin` and `space.bin` of a space.
//!
//! [`Database`] answers from the map: a lookup is a probe of the file's own hash map, a record is a view of its
//! bytes. Nothing is built at opening; a question that needs an index builds it on first use.

mod compare;
pub mod layout;
pub mod prototypes;
pub mod record;
pub mod record_references;

mod blob;
mod built_in;
mod cat;
mod counts;
mod drawing;
mod hashmap;
mod location;
mod models;
mod owners;
mod paths;
mod placements;
mod raw;
mod reach;
mod reader;
mod relations;
mod row_targets;
mod space;
mod tables;
mod text_layouts;
mod text_search;
mod verify;
mod walk;
mod writer;

pub use blob::Blob;
pub use location::{Location, State};
pub use models::{Models, Skeleton};
use paths::PathText;
pub use paths::Paths;
pub(crate) use placements::product;
pub use raw::RawLayout;
pub use record::{ById, Ids, NameLookup, Type};
pub use space::Space;
pub use text_layouts::Layouts;

use crate::bytes::{Overlay, View, le};
use crate::codec::cityhash64;
use crate::error::{ErrorKind, Result};
use crate::id::{self, Id64};
use crate::lazy::{Lazy, ScanCost};
use crate::reader::Section;
use crate::relations::IdTexts;
use crate::source::Source;
use crate::threads::prelude::*;
use assetq_core::{Openable, Options};
use hashmap::Modulus;
use layout::{Body, BwdbHeader, DatabaseEntry, PathEntry, ResourceBucket, StringBucket};
use owners::{Alias, Aliases, Owners};
use prototypes::Prototype;
use record::{NameId, PathId};
use std::borrow::Cow;
use std::fmt;
use std::hint::black_box;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use zerocopy::FromBytes as _;

/// An open `assets.bin`.
///
/// ```no_run
/// # fn main() -> assetq::Result<()> {
/// let db = assetq::formats::wows::bwdb::Database::open(assetq::Source::open("assets.bin")?)?;
/// if let Some(resource) = db.lookup_path("content/gameplay/japan/ship/destroyer/JSD011/JSD011.model")? {
///     println!("record {} of database {}", resource.record_index(), resource.database_index());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Database {
    source: Source,
    spans: Spans,
    resource_slots: Modulus,
    string_slots: Modulus,
    path_indexes: paths::Indexes,
    owners: Lazy<Owners>,
    aliases: Lazy<Aliases>,
    /// Work spent on linear scans so far; decides when `owners` is built.
    owner_walks: ScanCost,
    found_layouts: blob::FoundLayouts,
    layouts: Arc<Layouts>,
    /// Fallback names for ids whose text is not in this file.
    more_names: Arc<crate::archive::names::NameSources>,
    row_positions: Lazy<Vec<u32>>,
    row_paths: Lazy<paths::RowPaths>,
    resource_rows: Lazy<Vec<u32>>,
    resource_count: Lazy<usize>,
    string_rows: Lazy<Vec<u32>>,
    string_count: Lazy<usize>,
    counts: counts::Counts,
    /// The records of the ranges that the last edits asked about.
    reaching: Mutex<Vec<reach::Reaching>>,
}

/// The sections, with bounds checked at opening.
#[derive(Debug)]
struct Spans {
    string_buckets: Span<StringBucket>,
    string_values: Span<le::U32>,
    string_data: Span<u8>,
    resource_buckets: Span<ResourceBucket>,
    resource_values: Span<le::U32>,
    paths: Span<PathEntry>,
    databases: Span<DatabaseEntry>,
}

struct Span<T> {
    start: usize,
    /// The bytes of the structs, no more and no fewer.
    bytes: bytes::Bytes,
    element: PhantomData<fn() -> T>,
}

impl<T: Overlay> fmt::Debug for Span<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:#x}", self.get().len(), self.start)
    }
}

impl<T: Overlay> Span<T> {
    fn check<'a>(
        source: &Source,
        base: View<'a>,
        part: &'static str,
        pointer: &'a le::I64,
        count: le::U32,
    ) -> Result<Self> {
        let (view, count) = (base.part(part), count.get() as usize);
        let start = match count {
            0 => view.follow_nullable(pointer.get()).ok().flatten().unwrap_or(view),
            _ => view.follow_stored(pointer)?,
        };
        let len = size_of_val(start.array::<T>(count)?);
        let bytes = source.share(start.position(), len).expect("the array is in the file");
        Ok(Self { start: start.position(), bytes, element: PhantomData })
    }

    #[inline(always)]
    fn get(&self) -> &[T] {
        <[T]>::ref_from_bytes(&self.bytes).expect("`check` took as many bytes as the structs have")
    }

    fn section(&self, name: &'static str, source: &Source) -> Section {
        let offset = source.view("").at(self.start).offset();
        Section::new(name, offset, self.bytes.len() as u64, Some(self.get().len() as u64))
    }
}

/// A resource: the location of its record.
#[derive(Clone, Copy)]
pub struct Resource<'a> {
    db: &'a Database,
    id: u64,
    location: Location,
}

impl<'a> Resource<'a> {
    pub fn id(&self) -> u64 {
        self.id
    }

    #[inline]
    pub fn location(&self) -> Location {
        self.location
    }

    /// Whether its record can be read.
    #[inline]
    pub fn state(&self) -> State {
        self.location.state()
    }

    /// The number of the database that holds its record.
    #[inline]
    pub fn database_index(&self) -> usize {
        self.location.database_index()
    }

    /// The number of its record there.
    #[inline]
    pub fn record_index(&self) -> usize {
        self.location.record_index()
    }

    /// The database that holds its record.
    ///
    /// # Errors
    /// When there is no such database, or its header is damaged.
    pub fn database(&self) -> Result<Blob<'a>> {
        self.db.database(self.database_index()).map_err(|e| e.context(format_args!("resource {}", Id64(self.id))))
    }

    /// The bytes of its record; `None` when it is not valid.
    ///
    /// # Errors
    /// When the record does not exist or its size is not known.
    pub fn bytes(&self) -> Result<Option<&'a [u8]>> {
        match self.state() {
            State::Valid => {
                let (view, size) = self.database()?.record_span(self.record_index())?;
                view.take(size).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The typed record; `None` when it is not valid, or its type or size is not one that is laid out.
    ///
    /// # Errors
    /// When the record does not exist.
    pub fn record(&self) -> Result<Option<Prototype<'a>>> {
        match self.state() {
            State::Valid => self.database()?.record(self.record_index()),
            _ => Ok(None),
        }
    }
}

impl fmt::Debug for Resource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource")
            .field("id", &format_args!("{}", Id64(self.id)))
            .field("state", &self.state())
            .field("database", &self.database_index())
            .field("record", &self.record_index())
            .finish()
    }
}

impl Database {
    /// Opens `source`: reads its two headers and checks that every section is in the file.
    ///
    /// # Errors
    /// `BadMagic`, `BadVersion`, or the section that does not fit.
    pub fn open(from: impl Openable) -> Result<Self> {
        let source = from.open_source(&Options::default())?;
        Self::open_with(source, Arc::default())
    }

    /// As [`Database::open`], with layouts that are tried before the built-in ones.
    pub fn open_with(source: Source, layouts: Arc<Layouts>) -> Result<Self> {
        let view = source.view("header");
        check_header(view)?;
        let base = view.at(size_of::<BwdbHeader>()).part("body header");
        let Body { strings, resources, paths, databases } = base.read()?;
        let (at_strings, at_resources, at_paths) = (base.locate(strings), base.locate(resources), base.locate(paths));
        let (from, offsets) = (&source, &strings.offsets);
        let (string_buckets, string_values) = map(from, at_strings, ["strings.buckets", "strings.values"], offsets)?;
        let parts = ["resources.buckets", "resources.values"];
        let (resource_buckets, resource_values) = map(from, at_resources, parts, resources)?;
        let spans = Spans {
            string_buckets,
            string_values,
            string_data: Span::check(from, at_strings, "strings.data", &strings.data, strings.size)?,
            resource_buckets,
            resource_values,
            paths: Span::check(from, at_paths, "paths", &paths.data, paths.count)?,
            databases: Span::check(from, base, "databases", &databases.data, databases.count)?,
        };
        Ok(Self {
            spans,
            resource_slots: Modulus::new(resources.capacity.get()),
            string_slots: Modulus::new(offsets.capacity.get()),
            path_indexes: paths::Indexes::default(),
            owner_walks: ScanCost::default(),
            owners: Lazy::default(),
            aliases: Lazy::default(),
            found_layouts: blob::FoundLayouts::default(),
            layouts,
            more_names: Arc::default(),
            row_positions: Lazy::default(),
            row_paths: Lazy::default(),
            resource_rows: Lazy::default(),
            resource_count: Lazy::default(),
            string_rows: Lazy::default(),
            string_count: Lazy::default(),
            counts: counts::Counts::default(),
            reaching: Mutex::default(),
            source,
        })
    }

    pub fn source(&self) -> &Source {
        &self.source
    }

    #[inline(always)]
    fn resource_buckets(&self) -> &[ResourceBucket] {
        self.spans.resource_buckets.get()
    }

    #[inline(always)]
    fn resource_at(&self, slot: usize, id: u64) -> Option<Resource<'_>> {
        Some(self.resource(id, self.location_in_slot(slot)?))
    }

    #[inline(always)]
    fn location_in_slot(&self, slot: usize) -> Option<Location> {
        self.spans.resource_values.get().get(slot).map(|value| Location(value.get()))
    }

    /// The resource `id` that [`Database::lookup_many`] found at `location`.
    #[inline]
    pub fn resource(&self, id: u64, location: Location) -> Resource<'_> {
        Resource { db: self, id, location }
    }

    /// The resource with this path id: one probe of the file's hash map.
    #[inline]
    pub fn lookup(&self, path_id: impl Into<PathId>) -> Result<Option<Resource<'_>>> {
        let PathId(path_id) = path_id.into();
        let slot = hashmap::find(self.resource_buckets(), self.resource_slots, path_id);
        Ok(slot.and_then(|slot| self.resource_at(slot, path_id)))
    }

    /// The record with this path id, if the file has one whose type is known: see [`Resource::record`].
    ///
    /// # Errors
    /// When the record is outside of its database.
    pub fn record(&self, path_id: impl Into<PathId>) -> Result<Option<Prototype<'_>>> {
        self.lookup(path_id)?.map_or(Ok(None), |resource| resource.record())
    }

    /// Looks up many ids at once, into `out` (as long as `ids`); thousands of them on all cores. Returns the number of
    /// found ids. [`Database::resource`] combines an id and its location into a resource.
    ///
    /// # Errors
    /// `BadValue` when the slices differ in length.
    pub fn lookup_many(&self, ids: &[u64], out: &mut [Option<Location>]) -> Result<usize> {
        /// The number of ids that one core looks up before a second core pays off.
        const CHUNK: usize = 8192;
        if ids.len() != out.len() {
            let value = out.len() as i128;
            let what = Cow::Borrowed("length of the output");
            return Err(crate::Error::of_part(ErrorKind::BadValue { what, value }, "lookup_many"));
        }
        if ids.len() <= CHUNK {
            return Ok(self.locate_all(ids, out));
        }
        Ok(ids.par_chunks(CHUNK).zip(out.par_chunks_mut(CHUNK)).map(|(ids, out)| self.locate_all(ids, out)).sum())
    }

    fn locate_all(&self, ids: &[u64], out: &mut [Option<Location>]) -> usize {
        let buckets = self.resource_buckets();
        let mut found = 0usize;
        for (&id, out) in ids.iter().zip(out) {
            *out = hashmap::find(buckets, self.resource_slots, id).and_then(|slot| self.location_in_slot(slot));
            found = found.wrapping_add(usize::from(out.is_some()));
        }
        found
    }

    /// The resource at this path: its id is the path's CityHash64. Paths have '/' between components, keep their
    /// case, and begin below "res/". Builds that hash paths in another way are searched by name instead.
    pub fn lookup_path(&self, path: &str) -> Result<Option<Resource<'_>>> {
        // Most paths are written in the engine's form, and are found: nothing else is tried then.
        if let Some(resource) = self.lookup(cityhash64(path.as_bytes()))? {
            return Ok(Some(resource));
        }
        let normal = id::normal_path(path);
        if normal != path
            && let Some(resource) = self.lookup(cityhash64(normal.as_bytes()))?
        {
            return Ok(Some(resource));
        }
        if self.paths().hashes_paths()? {
            return Ok(None);
        }
        match self.paths().find_by_name(&normal)? {
            Some(entry) => self.lookup(entry.self_id.get()),
            None => Ok(None),
        }
    }

    /// The id of a path as the engine computes it.
    pub fn path_id(path: &str) -> u64 {
        id::of_path(path)
    }

    /// All resources, in the order of the map's slots.
    pub fn resources(&self) -> impl Iterator<Item = Resource<'_>> {
        let values = self.spans.resource_values.get();
        self.resource_buckets()
            .iter()
            .zip(values)
            .filter(|(bucket, _)| bucket.occupied.get() != 0)
            .map(|(bucket, value)| self.resource(bucket.key.get(), Location(value.get())))
    }

    pub fn resource_count(&self) -> usize {
        *self.resource_count.get_or_init(|| hashmap::count(self.resource_buckets()))
    }

    /// The resource in a row of the table of resources.
    ///
    /// # Errors
    /// `NotFound` past the last.
    pub fn resource_at_row(&self, row: usize) -> Result<Resource<'_>> {
        let slot = self.resource_rows().get(row).map_or(usize::MAX, |&slot| slot as usize);
        let id = self.resource_buckets().get(slot).map_or(0, |b| b.key.get());
        self.resource_at(slot, id).ok_or_else(|| crate::table::no_cell("resources", row, 0))
    }

    pub fn string_count(&self) -> usize {
        *self.string_count.get_or_init(|| hashmap::count(self.spans.string_buckets.get()))
    }

    /// The name id in a row of the table of strings, and its text; `None` past the last.
    pub fn string_at(&self, row: usize) -> Option<(u32, Result<&str>)> {
        let slot = *self.string_rows().get(row)? as usize;
        let bucket = self.spans.string_buckets.get().get(slot)?;
        Some((bucket.key.get(), self.string_in_slot(slot)))
    }

    /// The name id in each row of the table of strings, and the start of its text in the pool.
    pub(crate) fn string_places(&self) -> Vec<[u32; 2]> {
        hashmap::gather(self.spans.string_buckets.get(), self.spans.string_values.get(), |bucket, offset| {
            [bucket.key.get(), offset.get()]
        })
    }

    /// The id in each row of the table of resources.
    pub(crate) fn resource_ids(&self) -> Vec<u64> {
        hashmap::gather(self.resource_buckets(), self.spans.resource_values.get(), |bucket, _| bucket.key.get())
    }

    /// The location of the record of each row of the table of resources.
    pub(crate) fn resource_locations(&self) -> Vec<Location> {
        let values = hashmap::gather(self.resource_buckets(), self.spans.resource_values.get(), |_, value| value.get());
        values.into_iter().map(Location).collect()
    }

    /// The texts of all strings, each with a NUL at its end.
    pub(crate) fn string_pool(&self) -> &[u8] {
        self.spans.string_data.get()
    }

    /// The slots that resources have, in order.
    fn resource_rows(&self) -> &[u32] {
        self.resource_rows.get_or_init(|| hashmap::occupied(self.resource_buckets()))
    }

    /// The slots that strings have, in order.
    fn string_rows(&self) -> &[u32] {
        self.string_rows.get_or_init(|| hashmap::occupied(self.spans.string_buckets.get()))
    }

    pub fn paths(&self) -> Paths<'_> {
        let paths = &self.spans.paths;
        Paths::new(&self.source, paths.get(), paths.start, &self.path_indexes)
    }

    /// The id of the folder of a path; `None` for the topmost folders.
    pub fn parent_of(entry: &PathEntry) -> Option<u64> {
        paths::parent_of(entry)
    }

    /// The path with this id, with '/' between its components: from the file, by a walk over its parents with
    /// [`Paths::find`], or else from the names that the database was opened with ([`assetq_core::archive::names`]). `None` if neither
    /// contains it.
    ///
    /// # Errors
    /// `Cycle` when the parents form a cycle, and the errors of the names.
    pub fn path(&self, path_id: impl Into<PathId>) -> Result<Option<String>> {
        let PathId(path_id) = path_id.into();
        Ok(self.path_text(path_id)?.map(PathText::into_string))
    }

    /// For each row of the table of resources the position of its path.
    fn row_positions(&self) -> &[u32] {
        self.row_positions.get_or_init(|| self.paths().positions(self.resource_ids().iter().map(|id| Some(*id))))
    }

    /// As [`Database::path`], in parts.
    fn path_text(&self, path_id: u64) -> Result<Option<PathText<'_>>> {
        match self.paths().path(path_id)? {
            None => Ok(IdTexts::path(&*self.more_names, path_id)?.map(PathText::Joined)),
            path => Ok(path),
        }
    }

    /// The id of a name as the engine computes it.
    pub fn name_id(text: &str) -> u32 {
        id::of_name(text)
    }

    /// The text with this name id: one probe of the file's hash map.
    ///
    /// # Errors
    /// When the text is outside of the pool, has no end, or is not UTF-8.
    pub fn string(&self, name_id: impl Into<NameId>) -> Result<Option<&str>> {
        let NameId(name_id) = name_id.into();
        let buckets = self.spans.string_buckets.get();
        match hashmap::find(buckets, self.string_slots, name_id.into()) {
            Some(slot) => self.string_in_slot(slot).map(Some),
            None => Ok(None),
        }
    }

    /// The text that a slot of the strings map points to.
    fn string_in_slot(&self, slot: usize) -> Result<&str> {
        let values = self.spans.string_values.get();
        let pool = &self.spans.string_data;
        let view = self.source.view("strings.values").at(self.spans.string_values.start);
        let here = view.skip(slot.saturating_mul(size_of::<le::U32>()));
        let offset = values.get(slot).map_or(usize::MAX, |v| v.get() as usize);
        if offset >= pool.get().len() {
            return Err(here.bad_value("offset in the string pool", offset as i128));
        }
        let text = self.source.view("strings.data").at(pool.start.saturating_add(offset));
        let end = pool.start.saturating_add(pool.get().len());
        let room = end.saturating_sub(text.position());
        let bytes = text.take(room)?;
        match memchr::memchr(0, bytes).and_then(|len| bytes.get(..len)) {
            Some(bytes) => text.utf8(bytes),
            None => Err(text.error(ErrorKind::Damaged { what: "text without a terminating NUL".into() })),
        }
    }

    /// The place of the pool of texts.
    fn string_span(&self) -> std::ops::Range<usize> {
        let pool = &self.spans.string_data;
        pool.start..pool.start.saturating_add(pool.get().len())
    }

    /// The start of the text in a row of the table of strings; `None` if it is outside of the pool.
    fn start_of(&self, row: usize) -> Option<usize> {
        let slot = *self.string_rows().get(row)? as usize;
        let offset = self.spans.string_values.get().get(slot)?.get() as usize;
        let pool = self.string_span();
        pool.start.checked_add(offset).filter(|start| *start < pool.end)
    }

    /// All name ids with their texts, in the order of the map's slots.
    pub fn strings(&self) -> impl Iterator<Item = (u32, Result<&str>)> {
        let buckets = self.spans.string_buckets.get().iter().enumerate();
        buckets
            .filter(|(_, bucket)| bucket.occupied.get() != 0)
            .map(|(slot, bucket)| (bucket.key.get(), self.string_in_slot(slot)))
    }

    pub fn database_count(&self) -> usize {
        self.spans.databases.get().len()
    }

    /// The database with this number.
    ///
    /// # Errors
    /// `BadValue` without such a database, or when its blob or its header leaves the file.
    pub fn database(&self, index: usize) -> Result<Blob<'_>> {
        let view = self.source.view("databases").at(self.spans.databases.start);
        match self.spans.databases.get().get(index) {
            Some(entry) => Blob::open(index, entry, view.locate(entry), &self.layouts, &self.found_layouts)
                .map_err(|error| error.context(format_args!("database {index}"))),
            None => Err(view.bad_value("number of a database", index as i128)),
        }
    }

    pub fn databases(&self) -> impl Iterator<Item = Result<Blob<'_>>> {
        (0..self.database_count()).map(|i| self.database(i))
    }

    /// The further resources of the records of a database, by record and then by id. The resource with the smallest id of a
    /// record is not among them: it is the record's own.
    fn aliases(&self, database: usize) -> &[Alias] {
        let (buckets, values) = (self.resource_buckets(), self.spans.resource_values.get());
        self.aliases.get_or_init(|| Aliases::build(buckets, values, self.databases())).aliases_of(database)
    }

    /// The path id that names a record: the smallest id of its valid resources; `None` if it has none.
    pub fn owner(&self, database: usize, record: usize) -> Option<u64> {
        /// The number of walks over all locations that cost as much as sorting them once.
        const WALKS: usize = 8;
        let price = self.spans.resource_values.get().len().saturating_mul(WALKS);
        match self.owners.get() {
            None if self.owner_walks.is_below(price) => self.walk_to_owner(database, record),
            _ => self.owners(database, record).next(),
        }
    }

    /// The same by a walk over the locations: a few lookups are faster than sorting.
    fn walk_to_owner(&self, database: usize, record: usize) -> Option<u64> {
        let locations = self.spans.resource_values.get();
        self.owner_walks.pay(locations.len());
        // One of a record that can be read: its state is valid.
        let wanted = Location::new(database, record)?;
        let slots = locations.iter().enumerate().filter(|(_, location)| Location(location.get()) == wanted);
        let buckets = slots.filter_map(|(slot, _)| self.resource_buckets().get(slot));
        buckets.filter(|bucket| bucket.occupied.get() != 0).map(|bucket| bucket.key.get()).min()
    }

    /// Whether a record belongs to a valid resource.
    fn is_owned(&self, database: usize, record: usize) -> bool {
        !self.entries_of(database, record).is_empty()
    }

    /// The path ids of all valid resources with this record, in ascending order.
    pub fn owners(&self, database: usize, record: usize) -> impl Iterator<Item = u64> {
        self.entries_of(database, record).iter().map(|&entry| owners::id_of(self.resource_buckets(), entry))
    }

    fn entries_of(&self, database: usize, record: usize) -> &[u64] {
        let (buckets, values) = (self.resource_buckets(), self.spans.resource_values.get());
        self.owners.get_or_init(|| Owners::build(buckets, values)).owners_of(database, record)
    }

    /// Whether a path is missing if its hash is not found. Unreadable names are ignored.
    fn hashes_paths(&self) -> bool {
        self.paths().hashes_paths().unwrap_or(false)
    }
}

/// The buckets and the values of a map, in parts with these names.
fn map<B: Overlay>(
    source: &Source,
    base: View<'_>,
    [buckets, values]: [&'static str; 2],
    map: &layout::HashMap,
) -> Result<(Span<B>, Span<le::U32>)> {
    let buckets = Span::check(source, base, buckets, &map.buckets, map.capacity)?;
    Ok((buckets, Span::check(source, base, values, &map.values, map.capacity)?))
}

/// The header, if its values are the ones that this reader knows.
fn check_header(view: View<'_>) -> Result<()> {
    let header: &BwdbHeader = view.read()?;
    if ![layout::MAGIC, layout::MAGIC_IN_ORDER].contains(&header.magic) {
        let found = le::U32::from_bytes(header.magic).get().into();
        let expected = le::U32::from_bytes(layout::MAGIC).get().into();
        return Err(view.error(ErrorKind::BadMagic { expected, found }));
    }
    if header.version != 1 {
        return Err(view.locate(&header.version).error(ErrorKind::BadVersion { found: header.version.into() }));
    }
    match header.packed {
        1 => {}
        0 => return Err(crate::legends(view)),
        found => return Err(view.locate(&header.packed).error(ErrorKind::BadVersion { found: found.into() })),
    }
    if header.pointer_width.get() != 64 {
        return Err(view.locate(&header.pointer_width).bad_value("pointer width", header.pointer_width.get()));
    }
    if header.endianness.get() != 0 {
        return Err(view.locate(&header.endianness).bad_value("endianness", header.endianness.get()));
    }
    Ok(())
}

impl NameLookup for Database {
    fn ahead(&self, ids: &Ids) {
        let (buckets, values) = (self.spans.string_buckets.get(), self.spans.string_values.get());
        let homes = ids.names.iter().filter_map(|id| {
            let slot = self.string_slots.slot(id.0.into());
            Some(buckets.get(slot)?.key.get() ^ values.get(slot)?.get())
        });
        black_box(homes.fold(0, |all, home| all ^ home));
        let texts = ids.names.iter().filter_map(|id| {
            let slot = hashmap::find(buckets, self.string_slots, id.0.into())?;
            let (pool, start) = (self.string_pool(), values.get(slot)?.get() as usize);
            // Most texts are shorter than this, and half of these texts cross two lines of the cache.
            Some(pool.get(start)? ^ pool.get(start.saturating_add(31)).unwrap_or(&0))
        });
        black_box(texts.fold(0, |all, first| all ^ first));
        self.paths().ahead(ids.paths.iter().map(|id| id.0));
    }
}
