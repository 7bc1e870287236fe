//! Edits of `assets.bin`, `models.bin` and `space.bin` (docs/formats/bwdb.md §12): fields in place, and larger values appended.

mod area;
mod entry;
mod items;
mod job;
mod lists;
mod nodes;
mod properties;
mod records;
mod slots;
mod spaces;
mod value;

use super::reach::{self, Reaching};
use super::row_targets::{RowTarget, tables_of};
use super::tables::shown;
use super::{Blob, Database, layout};
use crate::codec;
use crate::error::{Error, ErrorKind, Result};
use crate::pointers::repointed;
use crate::reader::Reader;
use crate::source::Source;
use crate::table::{RowEdits, Value};
use crate::threads::lock;
use crate::writable::patches::Patches;
use crate::writable::{EditPosition, EntryEdit, Pieces, Reached, ReadBack, Seal, TableEdits, Writable, refused};
use area::{Area, EditedPosition, Writer};
use job::{Job, is_stored, table};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::offset_of;
use std::ops::Range;

/// Handles edits that cannot be applied: the first one ends the writing, or each is noted and skipped.
type Refuse<'r> = &'r mut dyn FnMut(EditPosition, Error) -> Result<()>;

/// Returns the impossible edits, which `write` names.
fn named(write: impl FnOnce(Refuse<'_>) -> Result<()>) -> Result<Vec<(EditPosition, Error)>> {
    let mut found = Vec::new();
    write(&mut |at, error| {
        found.push((at, error));
        Ok(())
    })?;
    Ok(found)
}

#[derive(Default)]
struct Changes<'a> {
    patches: Patches,
    areas: BTreeMap<usize, Area<'a>>,
    /// As in [`Pieces`].
    follows: Vec<(String, usize)>,
    added: Vec<(String, Vec<usize>)>,
    vouched: Vec<String>,
    also: Vec<String>,
}

impl Writable for Database {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        let mut changes = Changes::default();
        // A resource counts as changed if its record is.
        changes.also.push("resources".to_owned());
        edits.iter().try_for_each(|edits| self.rows(edits, &mut changes, &mut |_, error| Err(error)))?;
        let Changes { patches, areas, follows, added, vouched, also } = changes;
        let known = areas.iter().flat_map(|(database, area)| {
            area.known().into_iter().map(|(range, records)| Reaching { database: *database, range, records })
        });
        *lock(&self.reaching) = known.collect();
        let mut pieces = self.pieces(patches, areas)?;
        (pieces.follows, pieces.added, pieces.vouched, pieces.also) = (follows, added, vouched, also);
        Ok(pieces)
    }

    fn refusals(&self, edits: &TableEdits) -> Result<Vec<(EditPosition, Error)>> {
        named(|refuse| self.rows(edits, &mut Changes::default(), refuse))
    }

    fn settle(&self, edits: &mut Vec<TableEdits>) -> Result<()> {
        items::settle(self, edits, |table| {
            let (blob, rows) = self.shown_by(table).ok()?;
            Some((rows, blob.layout()?.table()))
        })
    }

    fn entry(&self, entry: &str, new: &Value<'static>) -> Result<Option<EntryEdit>> {
        entry::edited(self, entry, new).map(Some)
    }

    /// The tables of records and of their items, which `diff` leaves to the table of resources, and that table.
    fn patched(&self) -> Option<Vec<String>> {
        let layouts = self.databases().flatten().filter_map(|blob| blob.layout());
        let of_records: BTreeSet<&str> = layouts.flat_map(tables_of).map(|(table, _)| table).collect();
        let mut tables = Reader::tables(self);
        tables.retain(|table| {
            let is_stored = table.columns().iter().any(is_stored) && of_records.contains(table.name());
            table.nature().row_edits != RowEdits::None || is_stored
        });
        Some(tables.iter().map(|table| table.name().to_owned()).collect())
    }

    /// The checksum is computed of the new file's bytes as they are written.
    fn reached(&self, old: &dyn Any, changed: &[Range<usize>]) -> Option<Reached> {
        let changed: Vec<Range<usize>> = changed.iter().filter(|range| **range != CHECKSUM).cloned().collect();
        reach::reached(self, old.downcast_ref()?, &changed)
    }

    /// Records are identified by their resources.
    fn keying(&self) -> Option<&'static str> {
        Some("resources")
    }
}

impl Database {
    fn rows<'a>(&'a self, edits: &TableEdits, changes: &mut Changes<'a>, refuse: Refuse<'_>) -> Result<()> {
        if edits.table == "resources" {
            let rows = slots::write(self, edits, &mut changes.patches, refuse)?;
            if !edits.add.is_empty() {
                changes.added.push((edits.table.clone(), rows));
            }
            if !edits.remove.is_empty() {
                changes.vouched.push(edits.table.clone());
            }
            return Ok(());
        }
        let (blob, rows) = self.shown_by(&edits.table)?;
        // Other tables of the same records.
        let also = blob.layout().into_iter().flat_map(tables_of);
        changes.also.extend(also.map(|(table, _)| table.to_owned()));
        let table = table(self, &edits.table)?;
        let area = changes.areas.entry(blob.index()).or_insert_with(|| self.area(blob));
        let out = Writer { patches: &mut changes.patches, area, what: String::new() };
        let mut job = Job { table: &*table, rows, edits, out, follows: &mut changes.follows, refuse };
        if let RowTarget::Records(_) = rows {
            job.refuse_rows()?;
        }
        changes.added.extend(job.write(|_, record| Ok(Some(EditedPosition::old(blob.record_span(record)?.0))))?);
        Ok(())
    }

    /// The database with the records of a table, and their layout.
    fn shown_by(&self, table: &str) -> Result<(Blob<'_>, RowTarget)> {
        let mut all = shown(self).flat_map(|(blob, layout)| tables_of(layout).into_iter().map(move |of| (blob, of)));
        let found = all.find(|(_, (name, _))| *name == table).map(|(blob, (_, rows))| (blob, rows));
        found.ok_or_else(|| refused(format!("{table}: rows of this table are not written")))
    }

    fn area<'a>(&'a self, blob: Blob<'a>) -> Area<'a> {
        let range = blob.view().position()..blob.end();
        Area::new(self.source.view(""), range, blob.len(), move |record, reach| reach.walk(blob, record))
    }

    /// The file with these patches, and with what is appended to its databases.
    fn pieces(&self, mut patches: Patches, mut areas: BTreeMap<usize, Area<'_>>) -> Result<Pieces> {
        areas.values_mut().for_each(Area::finish);
        areas.retain(|_, area| !area.new.is_empty());
        let length = self.source.bytes().len();
        if areas.is_empty() && patches.is_empty() {
            return Ok(Pieces::whole(length));
        }
        let in_place = areas.is_empty();
        if !in_place {
            self.check_appended(&areas)?;
            self.repoint(&areas, &mut patches)?;
        }
        let mut stretches: Vec<(Range<usize>, Vec<u8>)> = patches.into_stretches().collect();
        stretches.extend(areas.into_values().map(|area| (area.range.end..area.range.end, area.new)));
        // Appended bytes precede changes at the start of the next database.
        stretches.sort_by_key(|(range, _)| (range.start, range.end));
        let mut pieces = Pieces::replaced(length, stretches)?;
        pieces.read_back = if in_place { ReadBack::Rows } else { ReadBack::All };
        pieces.seal = Some(Seal::new(CHECKSUM, checksum));
        Ok(pieces)
    }

    /// Checks that databases can grow: their ends must be inside of no other part.
    fn check_appended(&self, areas: &BTreeMap<usize, Area<'_>>) -> Result<()> {
        let sections = Reader::sections(self);
        let entries = self.source.view("paths").at(self.spans.paths.start);
        for area in areas.values() {
            let end = self.source.view("").at(area.range.end).offset();
            let mut inside = sections.iter().filter(|s| s.offset < end && end < s.offset.saturating_add(s.size));
            // Names of paths have no section: they must move with their entries.
            let mut apart = self.spans.paths.get().iter().filter(|entry| {
                let here = entries.locate(&entry.name);
                let name = here.follow_nullable(entry.name.text.get()).ok().flatten();
                name.is_some_and(|name| (name.offset() < end) != (here.offset() < end))
            });
            if inside.next().is_some() || apart.next().is_some() {
                let what = "parts of the file overlap, so that later parts cannot be moved".into();
                return Err(Error::new(ErrorKind::Damaged { what }, "databases", end));
            }
        }
        Ok(())
    }

    /// Updates the pointers of the headers to moved parts, and the sizes of databases.
    fn repoint(&self, areas: &BTreeMap<usize, Area<'_>>, patches: &mut Patches) -> Result<()> {
        let view = self.source.view("body header").at(size_of::<layout::BwdbHeader>());
        let body = view.read::<layout::Body>()?;
        let (strings, resources, paths) = (&body.strings, &body.resources, &body.paths);
        // Each pointer, with the position that it counts from (§2.4).
        let mut fields = vec![
            (&strings.offsets.buckets, view.locate(strings)),
            (&strings.offsets.values, view.locate(strings)),
            (&strings.data, view.locate(strings)),
            (&resources.buckets, view.locate(resources)),
            (&resources.values, view.locate(resources)),
            (&paths.data, view.locate(paths)),
            (&body.databases.data, view.locate(body)),
        ];
        for (index, entry) in self.spans.databases.get().iter().enumerate() {
            fields.push((&entry.data, view.locate(entry)));
            if let Some(area) = areas.get(&index) {
                let size = area.range.len().saturating_add(area.new.len());
                let size = u32::try_from(size).map_err(|_| refused("a database of 4 GiB has no room for more"))?;
                patches.put_field(view, &entry.size, &size.to_le_bytes())?;
            }
        }
        let pointers =
            fields.into_iter().map(|(pointer, base)| (view.locate(pointer).position(), base.position(), pointer.get()));
        repointed(pointers, |at| moved(areas, at), |at, new| patches.write_at(at, &new.to_le_bytes()))
    }
}

/// The new position of a position in the old file.
fn moved(areas: &BTreeMap<usize, Area<'_>>, at: usize) -> usize {
    let grown = areas.values().filter(|area| area.range.end <= at).map(|area| area.new.len());
    grown.fold(at, usize::saturating_add)
}

/// The position of the checksum of an `assets.bin`.
const CHECKSUM: Range<usize> = offset_of!(layout::BwdbHeader, checksum)..offset_of!(layout::BwdbHeader, pointer_width);

/// The checksum of a new file, of the kind that the old one has.
///
/// # Errors
/// `Checksum` if the old one matches neither kind: a damaged file must not get a valid checksum.
fn checksum(pieces: &Pieces, old: &Source) -> Result<Vec<u8>> {
    const HEADER: usize = size_of::<layout::BwdbHeader>();
    let view = old.view("header");
    let stored = view.read::<layout::BwdbHeader>()?.checksum.get();
    let body = view.skip(HEADER).rest();
    // Nearly all files have this kind.
    let (computed, murmur) = codec::murmur3_of_both(body, pieces.slices(old.bytes(), HEADER));
    let sum = if computed == stored {
        murmur
    } else if codec::crc32(body) == stored {
        codec::crc32_of(pieces.slices(old.bytes(), HEADER))
    } else {
        let (stored, computed) = (stored.into(), computed.into());
        return Err(view.skip(CHECKSUM.start).error(ErrorKind::Checksum {
            algorithm: "MurmurHash3",
            stored,
            computed,
        }));
    };
    Ok(sum.to_le_bytes().into())
}
