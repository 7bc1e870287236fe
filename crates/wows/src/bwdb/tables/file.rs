//! The tables of a database file's own parts: its resources, its strings, its databases.

use super::id64;
use super::rows::at_path;
use crate::bwdb::hashmap::{self, Bucket, Modulus, occupied};
use crate::bwdb::layout::ResourceBucket;
use crate::bwdb::paths::PathText;
use crate::bwdb::text_search::search_terminated;
use crate::bwdb::{Blob, Database, Resource, State};
use crate::bytes::View;
use crate::error::Result;
use crate::id::{Id32, Id64};
use crate::lazy::{Lazy, ScanCost};
use crate::table::filter::pattern::LikePattern;
use crate::table::{Accepts, Column, ColumnTexts, DeclaredTable, Kind, Table, Value, no_cell};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

struct ResourceRows<'a> {
    db: &'a Database,
    slots: Slots<'a, ResourceBucket>,
    /// The databases, opened once for all rows. `None` for a damaged one, which returns its error each time.
    blobs: Box<[Option<Blob<'a>>]>,
    types: Box<[Option<&'static str>]>,
    /// Paths that walks were going to read.
    announced: ScanCost,
}

impl<'a> ResourceRows<'a> {
    fn locate(&self, row: usize) -> Result<Option<ResourceRow<'a>>> {
        let Some(slot) = self.slots.slot(row) else { return Ok(None) };
        let id = self.db.resource_buckets().get(slot).map_or(0, |bucket| bucket.key.get());
        Ok(self.db.resource_at(slot, id).map(|resource| ResourceRow { number: row, resource }))
    }

    fn path(&self, row: &ResourceRow<'a>) -> Result<Option<PathText<'a>>> {
        match self.db.row_paths.get().and_then(|paths| paths.get(row.number)) {
            Some(path) => Ok(Some(PathText::Joined(path.into()))),
            None => self.db.path_text(row.resource.id()),
        }
    }

    fn with_id(&self, id: u64) -> Result<Vec<usize>> {
        Ok(self.slots.row_of(self.db.resource_slots, id).into_iter().collect())
    }

    /// Prepares the reading of paths, which a walk announces.
    fn look(&self, rows: Range<usize>) -> usize {
        /// The part of all rows after whose paths the others are joined at once.
        const PART: usize = 16;
        // Two rows without the index take as long as the index.
        self.db.paths().build_index();
        self.announced.pay(rows.len());
        if !self.announced.is_below(self.db.resource_count() / PART) {
            self.db.row_paths.get_or_init(|| self.db.paths().paths_of(self.db.row_positions()));
        }
        rows.end
    }

    fn type_name(&self, resource: &Resource<'a>) -> Result<Cow<'static, str>> {
        match self.types.get(resource.database_index()) {
            Some(Some(name)) => Ok(Cow::Borrowed(name)),
            _ => Ok(Cow::Owned(resource.database()?.type_name_or_magic())),
        }
    }

    /// The place of a record and its size, if the resource is valid and the layout of its records is known.
    fn place(&self, resource: &Resource<'a>) -> Result<Option<(View<'a>, usize)>> {
        if resource.state() != State::Valid {
            return Ok(None);
        }
        let blob = match self.blobs.get(resource.database_index()) {
            Some(Some(blob)) => *blob,
            _ => resource.database()?,
        };
        blob.layout().map(|_| blob.record_span(resource.record_index())).transpose()
    }
}

impl ColumnTexts for ResourceRows<'_> {
    /// Paths of other files are read one by one.
    fn matching(&self, pattern: &LikePattern) -> Option<Vec<usize>> {
        if !self.db.more_names.is_empty() {
            return None;
        }
        self.db.paths().matching(self.db.row_positions(), pattern)
    }

    fn first(&self, rows: &[usize], len: usize, descends: bool) -> Option<Vec<usize>> {
        let ids = rows.iter().map(|row| Some(self.locate(*row).ok()??.resource.id()));
        self.db.paths().first(&ids.collect::<Option<Vec<_>>>()?, len, descends)
    }
}

/// A resource, and the number of its row.
struct ResourceRow<'a> {
    number: usize,
    resource: Resource<'a>,
}

pub(super) fn resources(db: &Database) -> Box<dyn Table + '_> {
    let blobs: Box<[_]> = db.databases().map(Result::ok).collect();
    let types = blobs.iter().map(|blob| blob.as_ref()?.type_name()).collect();
    let slots = Slots::new(db.resource_buckets(), &db.resource_rows);
    let rows = Arc::new(ResourceRows { db, slots, blobs, types, announced: ScanCost::default() });
    let [of_row, of_id, of_text, of_texts, of_path, of_ahead, of_type, of_place, of_size] =
        std::array::from_fn(|_| Arc::clone(&rows));
    let table = DeclaredTable::new("resources", move || Ok(db.resource_count()), move |row| of_row.locate(row))
        .random_access()
        .own_texts(false)
        .with_writable_rows()
        .field(Column::id64("id").brief().key().unique().writable(), |row| Ok(Id64(row.resource.id())))
        .found_by(move |key| Some(of_id.with_id(id64(key)?)))
        .field(Column::text("path").brief().resolved().in_folders().accepts(Accepts::Path), move |row| {
            of_text.path(row)
        })
        .known_texts(of_texts)
        .looked_ahead(move |rows| of_ahead.look(rows))
        .found_by(move |key| match key {
            Value::Text(path) => Some(at_path(db, path, |id| of_path.with_id(id))),
            _ => None,
        })
        .found_if(|| db.hashes_paths())
        .field(Column::text("type").brief(), move |row| of_type.type_name(&row.resource))
        .field(Column::uint("database").place().accepts(Accepts::Bits(6)), |row| Ok(row.resource.database_index()))
        .field(Column::uint("record").place().accepts(Accepts::Bits(24)), |row| Ok(row.resource.record_index()))
        .column(Column::new("state", Kind::Any).writable(), |row| Ok(row.resource.state().into()))
        .field(Column::uint("offset").place(), move |row| {
            Ok(of_place.place(&row.resource)?.map(|(view, _)| view.offset()))
        })
        .field(Column::uint("size"), move |row| Ok(of_size.place(&row.resource)?.map(|(_, size)| size)));
    Box::new(table)
}

/// The rows of a map's table and its slots.
struct Slots<'a, B> {
    buckets: &'a [B],
    rows: &'a Lazy<Vec<u32>>,
    /// The row that was found last without them, and in the lower half its slot.
    last: AtomicU64,
    asked: AtomicU32,
}

/// Lookups answered by counting, before the full index is built.
const FEW_ROWS: u32 = 8;

impl<'a, B: Bucket> Slots<'a, B> {
    fn new(buckets: &'a [B], rows: &'a Lazy<Vec<u32>>) -> Self {
        Self { buckets, rows, last: AtomicU64::new(u64::MAX), asked: AtomicU32::new(0) }
    }

    fn all(&self) -> &'a [u32] {
        self.rows.get_or_init(|| occupied(self.buckets))
    }

    /// The slot of a row.
    fn slot(&self, row: usize) -> Option<usize> {
        let last = self.last.load(Ordering::Relaxed);
        if self.rows.get().is_none() && last >> 32 == row as u64 {
            return Some(usize::try_from(last & u64::from(u32::MAX)).expect("a slot is below 2^32"));
        }
        self.all().get(row).map(|&slot| slot as usize)
    }

    fn row_of(&self, modulus: Modulus, key: u64) -> Option<usize> {
        self.row(hashmap::find(self.buckets, modulus, key)?)
    }

    fn row(&self, slot: usize) -> Option<usize> {
        let number = u32::try_from(slot).ok()?;
        if self.rows.get().is_none() && self.asked.fetch_add(1, Ordering::Relaxed) < FEW_ROWS {
            let before = self.buckets.get(..slot)?.iter().filter(|bucket| bucket.is_occupied()).count();
            self.last.store((before as u64) << 32 | u64::from(number), Ordering::Relaxed);
            return Some(before);
        }
        self.all().binary_search(&number).ok()
    }
}

pub(super) fn strings(db: &Database) -> Box<dyn Table + '_> {
    let buckets = db.spans.string_buckets.get();
    let slots = Arc::new(Slots::new(buckets, &db.string_rows));
    let [of_row, of_id, of_text] = std::array::from_fn(|_| Arc::clone(&slots));
    let table = DeclaredTable::new("strings", move || Ok(db.string_count()), move |row| Ok(of_row.slot(row)))
        .random_access()
        .dictionary()
        .field(Column::id32("id").brief().key(), |&slot| {
            Ok(Id32(buckets.get(slot).ok_or_else(|| no_cell("strings", slot, 0))?.key.get()))
        })
        .found_by(move |key| match key {
            Value::Id32(id) => Some(Ok(of_id.row_of(db.string_slots, (*id).into()).into_iter().collect())),
            _ => None,
        })
        .field(Column::text("text").brief(), |&slot| db.string_in_slot(slot))
        .found_by(move |key| {
            let Value::Text(text) = key else { return None };
            let id = Database::name_id(text);
            let Some(row) = of_text.row_of(db.string_slots, id.into()) else { return Some(Ok(Vec::new())) };
            // Another text may have the same hash.
            Some(db.string(id).map(|found| if found == Some(&**text) { vec![row] } else { Vec::new() }))
        })
        .searched_by(|literal| {
            search_terminated(
                db.source.bytes(),
                &db.string_span(),
                || db.string_count(),
                |row| db.start_of(row),
                literal,
            )
        });
    Box::new(table)
}

pub(super) fn databases(db: &Database) -> Box<dyn Table + '_> {
    let table = DeclaredTable::new("databases", || Ok(db.database_count()), |row| Ok(Some((row, db.database(row)?))))
        .random_access()
        .own_texts(false)
        .column(Column::uint("index").brief().place(), |(index, _)| Ok((*index).into()))
        .column(Column::text("type").brief().key(), |(_, blob)| Ok(blob.type_name().into()))
        .column(Column::id32("magic").brief().key(), |(_, blob)| Ok(Value::Id32(blob.magic())))
        .column(Column::id32("checksum"), |(_, blob)| Ok(Value::Id32(blob.checksum())))
        .column(Column::uint("records").brief(), |(_, blob)| Ok(blob.len().into()))
        .column(Column::uint("record_size").brief(), |(_, blob)| Ok(blob.record_size().into()))
        .column(Column::uint("size").brief().place(), |(_, blob)| Ok(blob.size().into()))
        .column(Column::uint("offset").place(), |(_, blob)| Ok(blob.view().offset().into()))
        .column(Column::text("note").brief(), |(_, blob)| Ok(blob.note().into()));
    Box::new(table)
}
