//! Prototype databases: paths and strings are compared in place, resources by the values of their records.

use super::record::differ::{differ_record, digest, plain_fields, same_record};
use super::{Blob, Database, Location, RawLayout, Resource, State, tables};
use crate::budget::{Budget, BudgetShare};
use crate::compare::{
    Comparable, Comparison, Damaged, Differences, Each, Faults, FieldChange, Keys, Pair, Side, Special, Verdict, differ,
};
use crate::error::{Error, Result};
use crate::id::Id64;
use crate::table::Value;
use crate::threads::{self, prelude::*};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two databases: paths, strings and resources are compared otherwise than by columns, and so are records that no resource
/// names.
pub(super) struct DatabaseComparison<'a> {
    pub(super) old: &'a Database,
    pub(super) new: &'a Database,
}

impl<'a> Comparison<'a> for DatabaseComparison<'a> {
    fn table(&self, name: &str, all: bool) -> Option<Box<dyn Special + 'a>> {
        let Self { old, new } = *self;
        match name {
            "paths" => Some(Box::new(Paths([old, new]))),
            "strings" => Some(Box::new(Strings::new([old, new]))),
            "resources" => Some(Box::new(Resources::new(old, new))),
            // A table of records is compared by its columns if it is named.
            _ if all => unnamed(name, old, new),
            _ => None,
        }
    }

    /// Records are compared with their resources, if all records of the table have resources and a known layout, the same
    /// in both files.
    fn decisive(&self, table: &str) -> Option<&'static str> {
        let Self { old, new } = *self;
        let (a, b) = tables::blob_of(old, table).zip(tables::blob_of(new, table))?;
        let is_same = a.magic() == b.magic() && a.layout() == b.layout();
        (is_same && !has_unnamed(old, a) && !has_unnamed(new, b)).then_some("resources")
    }

    /// The extent of a comparison of databases with a layout that is unknown in one file, unless all of their bytes are
    /// equal.
    fn notes(&self) -> Vec<String> {
        raw_pairs(self.old, self.new).filter_map(|(a, b)| {
            let same = match (a.view().take(a.size()), b.view().take(b.size())) {
                (Ok(a), Ok(b)) => a == b,
                _ => false,
            };
            let (why, name) = (a.note().or_else(|| b.note())?, a.type_name_or_magic());
            let counts = format!("{} and {} records of type {name}", a.len(), b.len());
            match raw_layout(&a, &b) {
                _ if same => None,
                Some(RawLayout { size, .. }) => Some(format!(
                    "{counts} are compared by their own bytes less pointers, as records of {size:#x} bytes; what they point \
                     to, and those that no resource names, are not: {why}"
                )),
                None => Some(format!("{counts} are not compared, though they may differ: {why}")),
            }
        }).collect()
    }
}

/// Databases of one type that are not laid out in both files.
fn raw_pairs<'a>(old: &'a Database, new: &'a Database) -> impl Iterator<Item = (Blob<'a>, Blob<'a>)> {
    old.databases().flatten().filter_map(|blob| {
        let mut others = new.databases().flatten().filter(|other| other.magic() == blob.magic());
        others.find(|other| blob.layout().is_none() || other.layout().is_none()).map(|other| (blob, other))
    })
}

/// The likely layout of the records of two raw databases; `None` without evidence, or if the two differ.
fn raw_layout(old: &Blob<'_>, new: &Blob<'_>) -> Option<RawLayout> {
    if old.layout().is_some() || new.layout().is_some() {
        return None;
    }
    RawLayout::common(old.raw_layout()?, new.raw_layout()?)
}

fn pick<T>(both: &[T; 2], side: Side) -> &T {
    let [old, new] = both;
    if side == Side::Old { old } else { new }
}

/// The hashes of the contents of rows. A damaged row has the hash 0: its comparison reports the damage.
fn contents(rows: &[u32], hash: impl FnMut(&u32) -> Option<u64>) -> Vec<u64> {
    rows.iter().map(hash).map(|hash| hash.unwrap_or(0)).collect()
}

/// Compares by one function that may fail on either side.
fn compare(
    pairs: &[(u32, u32)],
    each: &mut Each<'_>,
    mut verdict: impl FnMut(u32, u32) -> Result<Verdict, (Side, Error)>,
) {
    for &pair in pairs {
        each(pair, verdict(pair.0, pair.1));
    }
}

/// The parts of both files; `None` if one of them is damaged.
fn both<T>(parts: (Result<T>, Result<T>), damaged: &mut Damaged<'_>) -> Option<(T, T)> {
    match parts {
        (Ok(old), Ok(new)) => Some((old, new)),
        (old, new) => {
            old.err().into_iter().for_each(|error| damaged(Side::Old, error));
            new.err().into_iter().for_each(|error| damaged(Side::New, error));
            None
        }
    }
}

/// The contents of both rows, got in one way, and whether they are the same.
fn verdict<T: PartialEq, K: PartialEq>(
    rows: (u32, u32),
    mut get: impl FnMut(Side, u32) -> Result<(K, T)>,
) -> Result<Verdict, (Side, Error)> {
    let old = get(Side::Old, rows.0).map_err(|e| (Side::Old, e))?;
    let new = get(Side::New, rows.1).map_err(|e| (Side::New, e))?;
    Ok(match old.0 == new.0 {
        false => Verdict::Other,
        true if old.1 == new.1 => Verdict::Same,
        true => Verdict::Changed,
    })
}

struct Paths<'a>([&'a Database; 2]);

impl Comparable for Paths<'_> {
    fn keys(&self, side: Side, _: &Faults) -> Keys {
        let entries = pick(&self.0, side).paths().entries();
        Keys { hashes: entries.par_iter().map(|entry| entry.self_id.get()).collect(), skipped: Vec::new() }
    }

    fn compare(&self, pairs: &[(u32, u32)], each: &mut Each<'_>) {
        compare(pairs, each, |old, new| {
            verdict((old, new), |side, row| {
                let paths = pick(&self.0, side).paths();
                let entry = paths.entry(row as usize)?;
                Ok((entry.self_id.get(), (entry.parent_id.get(), paths.name_bytes(entry)?)))
            })
        });
    }

    fn contents(&self, side: Side, rows: &[u32]) -> Vec<u64> {
        let paths = pick(&self.0, side).paths();
        contents(rows, |&row| {
            let entry = paths.entries().get(row as usize)?;
            Some(crate::codec::xxh64(paths.name_bytes(entry).ok()?, entry.parent_id.get()))
        })
    }
}

impl Special for Paths<'_> {
    fn fields<'s>(&'s self, _: (u32, u32), _: &mut Vec<FieldChange<'s>>, _: &mut Damaged<'_>) {}
}

struct Strings<'a> {
    dbs: [&'a Database; 2],
    /// The id of each row, and the start of its text in the pool.
    places: [OnceLock<Vec<[u32; 2]>>; 2],
    /// Texts that begin before this place are the same in both pools, and need not be looked at.
    same: u32,
}

impl<'a> Strings<'a> {
    fn new(dbs: [&'a Database; 2]) -> Self {
        const BLOCK: usize = 1 << 12;
        let [old, new] = dbs.map(Database::string_pool);
        let blocks = old.chunks_exact(BLOCK).zip(new.chunks_exact(BLOCK)).take_while(|(a, b)| a == b).count();
        let (common, _) = old.split_at(blocks.saturating_mul(BLOCK));
        // The last of them may continue after the common part.
        let same = memchr::memrchr(0, common).map_or(0, |nul| nul.saturating_add(1));
        Self {
            dbs,
            places: Default::default(),
            same: same.try_into().expect("the header states the pool's size as u32"),
        }
    }

    fn places(&self, side: Side) -> &[[u32; 2]] {
        pick(&self.places, side).get_or_init(|| pick(&self.dbs, side).string_places())
    }
}

impl Comparable for Strings<'_> {
    fn keys(&self, side: Side, _: &Faults) -> Keys {
        let ids = self.places(side).iter().map(|&[id, _]| id.into());
        Keys { hashes: ids.collect(), skipped: Vec::new() }
    }

    fn compare(&self, pairs: &[(u32, u32)], each: &mut Each<'_>) {
        let (of_old, of_new) = (self.places(Side::Old), self.places(Side::New));
        compare(pairs, each, |old, new| {
            let places = (of_old.get(old as usize), of_new.get(new as usize));
            if places.0 == places.1 && places.0.is_some_and(|&[_, offset]| offset < self.same) {
                return Ok(Verdict::Same);
            }
            verdict((old, new), |side, row| match pick(&self.dbs, side).string_at(row as usize) {
                Some((id, text)) => Ok((id, text?)),
                None => Ok((0, "")),
            })
        });
    }

    fn contents(&self, side: Side, rows: &[u32]) -> Vec<u64> {
        let db = pick(&self.dbs, side);
        contents(rows, |&row| Some(crate::codec::xxh64(db.string_at(row as usize)?.1.ok()?.as_bytes(), 0)))
    }
}

impl Special for Strings<'_> {
    fn fields<'s>(&'s self, _: (u32, u32), _: &mut Vec<FieldChange<'s>>, _: &mut Damaged<'_>) {}
}

struct Records<'a> {
    dbs: [&'a Database; 2],
    budget: Budget,
    /// For the shown resources.
    shown: Budget,
    /// The number of calls of [`Records::faulty`].
    faulty: AtomicUsize,
    /// Layouts of raw databases, by their numbers in both files.
    raw: OnceLock<HashMap<[usize; 2], RawLayout>>,
}

/// A record: its database, and its number there.
type RecordRef<'r, 'a> = (&'r Blob<'a>, usize);

impl<'a> Records<'a> {
    fn new(dbs: [&'a Database; 2]) -> Self {
        let bytes = dbs.iter().fold(0usize, |bytes, db| bytes.saturating_add(db.source().bytes().len()));
        let [budget, shown] = [bytes; 2].map(Budget::of_arrays);
        Self { dbs, budget, shown, faulty: AtomicUsize::new(0), raw: OnceLock::new() }
    }

    /// The bytes of two records without a known layout, and their apparent layout.
    fn raw(
        &self,
        (of_a, a): RecordRef<'_, 'a>,
        (of_b, b): RecordRef<'_, 'a>,
    ) -> Option<(&RawLayout, &'a [u8], &'a [u8])> {
        let layouts = self.raw.get_or_init(|| {
            let [old, new] = self.dbs;
            raw_pairs(old, new).filter_map(|(a, b)| Some(([a.index(), b.index()], raw_layout(&a, &b)?))).collect()
        });
        let layout = layouts.get(&[of_a.index(), of_b.index()])?;
        Some((layout, of_a.raw_record(layout, a)?, of_b.raw_record(layout, b)?))
    }

    /// Whether two records of one type have equal contents.
    fn same(
        &self,
        (of_a, a): RecordRef<'_, 'a>,
        (of_b, b): RecordRef<'_, 'a>,
        share: &mut BudgetShare<'_>,
    ) -> Result<bool, (Side, Error)> {
        let (Some(layout), Some(new_layout)) = (of_a.layout(), of_b.layout()) else {
            let raw = self.raw((of_a, a), (of_b, b));
            return Ok(raw.is_none_or(|(layout, old, new)| layout.differences(old, new).is_empty()));
        };
        let (at_a, _) = of_a.record_span(a).map_err(|e| (Side::Old, e))?;
        let (at_b, _) = of_b.record_span(b).map_err(|e| (Side::New, e))?;
        if layout == new_layout {
            return same_record(layout, at_a, at_b, share).map_err(|error| (self.faulty((of_a, a)), error));
        }
        let (mut fields, mut fault) = (Vec::new(), None);
        self.fields((of_a, a), (of_b, b), &mut fields, &mut |side, error| {
            fault.get_or_insert((side, error));
        });
        fault.map_or(Ok(fields.is_empty()), Err)
    }

    /// The file with the damage that a comparison of two records found: the old record is read again alone. Among many
    /// damaged records this is done for the first ones only; the others are attributed to the new file.
    fn faulty(&self, (blob, record): RecordRef<'_, 'a>) -> Side {
        const ASKED: usize = 16;
        if self.faulty.fetch_add(1, Ordering::Relaxed) >= ASKED {
            return Side::New;
        }
        let [old, _] = self.dbs;
        match blob.record(record) {
            Ok(Some(record)) if plain_fields(&record, old, &self.shown).1.is_empty() => Side::New,
            _ => Side::Old,
        }
    }

    /// Adds the fields in which two records of one type differ.
    fn fields<'s>(
        &'s self,
        (of_a, a): RecordRef<'_, 'a>,
        (of_b, b): RecordRef<'_, 'a>,
        fields: &mut Vec<FieldChange<'s>>,
        damaged: &mut Damaged<'_>,
    ) {
        let [old_db, new_db] = self.dbs;
        match (of_a.layout(), of_b.layout()) {
            (Some(layout), Some(other)) if layout == other => {
                let spans = (of_a.record_span(a), of_b.record_span(b));
                let Some(((at_a, _), (at_b, _))) = both(spans, damaged) else { return };
                let errors = differ_record(
                    layout,
                    at_a,
                    at_b,
                    [old_db, new_db],
                    &mut |name, old, new| fields.push(FieldChange { name: name.to_owned().into(), old, new }),
                    &self.shown,
                );
                errors.into_iter().for_each(|error| damaged(self.faulty((of_a, a)), error));
            }
            (Some(_), Some(_)) => {
                let (Ok(Some(old)), Ok(Some(new))) = (of_a.record(a), of_b.record(b)) else { return };
                let (old, old_errors) = plain_fields(&old, old_db, &self.shown);
                let (new, new_errors) = plain_fields(&new, new_db, &self.shown);
                // Of two layouts, fields that both have can be compared.
                for (name, value) in old {
                    if let Some((_, other)) = new.iter().find(|(other, _)| *other == name) {
                        differ(name, value, other.clone(), fields);
                    }
                }
                old_errors.into_iter().for_each(|error| damaged(Side::Old, error));
                new_errors.into_iter().for_each(|error| damaged(Side::New, error));
            }
            _ => {
                let Some((layout, old, new)) = self.raw((of_a, a), (of_b, b)) else { return };
                for place in layout.differences(old, new) {
                    let name = format!("bytes[{:#x}..{:#x}]", place.start, place.end).into();
                    let [old, new] = [old, new].map(|record| {
                        let bytes = record.get(place.clone()).expect("the layout compares what both records have");
                        Value::owned(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
                    });
                    fields.push(FieldChange { name, old, new });
                }
            }
        }
    }
}

struct Resources<'a> {
    dbs: [&'a Database; 2],
    blobs: [Vec<Option<Blob<'a>>>; 2],
    /// The location of each row's record: the file's map is read once in its own order, which differs from the order of
    /// records.
    locations: [OnceLock<Vec<Location>>; 2],
    records: Records<'a>,
}

impl<'a> Resources<'a> {
    fn new(old: &'a Database, new: &'a Database) -> Self {
        let dbs = [old, new];
        let blobs = dbs.map(|db| db.databases().take(Location::DATABASES).map(Result::ok).collect());
        Self { dbs, blobs, locations: Default::default(), records: Records::new(dbs) }
    }

    fn get(&self, side: Side, row: u32) -> Result<(Resource<'a>, Blob<'a>)> {
        let resource = pick(&self.dbs, side).resource_at_row(row as usize)?;
        Ok((resource, resource.database()?))
    }

    fn locations(&self, side: Side) -> &[Location] {
        pick(&self.locations, side).get_or_init(|| pick(&self.dbs, side).resource_locations())
    }

    /// The location in a row, and the database there.
    fn locate(&self, side: Side, row: u32) -> Result<(Location, Blob<'a>), (Side, Error)> {
        if let Some(&location) = self.locations(side).get(row as usize)
            && let Some(Some(blob)) = pick(&self.blobs, side).get(location.database_index())
        {
            return Ok((location, *blob));
        }
        let (resource, blob) = self.get(side, row).map_err(|error| (side, error))?;
        Ok((resource.location(), blob))
    }

    /// Compares two rows of one id: the hashes of keys are the ids themselves.
    fn verdict(&self, old: u32, new: u32, share: &mut BudgetShare<'_>) -> Result<Verdict, (Side, Error)> {
        let (a, of_a) = self.locate(Side::Old, old)?;
        let (b, of_b) = self.locate(Side::New, new)?;
        if a.state() != b.state() || of_a.magic() != of_b.magic() {
            return Ok(Verdict::Changed);
        }
        if a.state() != State::Valid {
            return Ok(Verdict::Same);
        }
        let same = self.records.same((&of_a, a.record_index()), (&of_b, b.record_index()), share);
        let same = same.map_err(|(side, error)| match self.get(Side::Old, old) {
            Ok((resource, _)) => (side, error.context(format_args!("resource {}", Id64(resource.id())))),
            Err(_) => (side, error),
        })?;
        Ok(if same { Verdict::Same } else { Verdict::Changed })
    }
}

impl Comparable for Resources<'_> {
    fn keys(&self, side: Side, _: &Faults) -> Keys {
        Keys { hashes: pick(&self.dbs, side).resource_ids(), skipped: Vec::new() }
    }

    fn arranged(&self, pairs: &mut dyn Iterator<Item = (u32, u32)>) -> Option<Vec<(u32, u32)>> {
        // Rows are in the order of their hashes; reading records in file order is faster.
        let locations = self.locations(Side::Old);
        let mut placed: Vec<(u32, (u32, u32))> =
            pairs.map(|pair| (locations.get(pair.0 as usize).map_or(0, |location| location.place()), pair)).collect();
        placed.par_sort_unstable();
        Some(placed.into_iter().map(|(_, pair)| pair).collect())
    }

    fn compare(&self, pairs: &[(u32, u32)], each: &mut Each<'_>) {
        let mut share = BudgetShare::new(&self.records.budget);
        compare(pairs, each, |old, new| self.verdict(old, new, &mut share));
    }

    fn contents(&self, _: Side, rows: &[u32]) -> Vec<u64> {
        // Ids repeat in damaged files only: their records go together in order.
        vec![0; rows.len()]
    }

    fn piece(&self) -> usize {
        1 << 9
    }
}

impl Special for Resources<'_> {
    fn fields<'s>(&'s self, rows: (u32, u32), fields: &mut Vec<FieldChange<'s>>, damaged: &mut Damaged<'_>) {
        let found = (self.get(Side::Old, rows.0), self.get(Side::New, rows.1));
        let Some(((a, of_a), (b, of_b))) = both(found, damaged) else { return };
        let valid = a.state() == State::Valid && b.state() == State::Valid;
        if valid && of_a.magic() == of_b.magic() {
            self.records.fields((&of_a, a.record_index()), (&of_b, b.record_index()), fields, damaged);
        }
    }

    fn what(&self, pair: Pair) -> Option<String> {
        let rows = [(Side::New, pair.new), (Side::Old, pair.old)];
        rows.into_iter().find_map(|(side, row)| Some(self.get(side, row?).ok()?.1.type_name_or_magic()))
    }
}

/// The records of one type without a resource. They are paired by their contents only.
struct Unnamed<'a> {
    blobs: [Option<Blob<'a>>; 2],
    records: Records<'a>,
}

/// The rows of a table of records that no resource names, if any. Other records are compared with their resources.
fn unnamed<'a>(table: &str, old: &'a Database, new: &'a Database) -> Option<Box<dyn Special + 'a>> {
    let dbs = [old, new];
    // As in the table: the first of the type.
    let blobs =
        dbs.map(|db| db.databases().flatten().find(|blob| blob.layout().is_some_and(|layout| layout.table() == table)));
    // Rows that a file shows raw are no rows that it lacks.
    let mut raw = dbs.iter().flat_map(|db| db.databases().flatten()).filter(|blob| blob.layout().is_none());
    if raw.any(|raw| blobs.iter().flatten().any(|blob| blob.magic() == raw.magic())) {
        return None;
    }
    let has_any = dbs.into_iter().zip(&blobs).any(|(db, blob)| blob.is_some_and(|blob| has_unnamed(db, blob)));
    has_any.then(|| Box::new(Unnamed { blobs, records: Records::new(dbs) }) as Box<dyn Special>)
}

fn has_unnamed(db: &Database, blob: Blob<'_>) -> bool {
    !(0..blob.len()).all(|record| db.is_owned(blob.index(), record))
}

impl<'a> Unnamed<'a> {
    fn place(&self, side: Side, row: u32) -> Option<RecordRef<'_, 'a>> {
        Some((pick(&self.blobs, side).as_ref()?, row as usize))
    }

    fn is_named(&self, side: Side, blob: &Blob<'_>, row: u32) -> bool {
        pick(&self.records.dbs, side).is_owned(blob.index(), row as usize)
    }

    fn rows(blob: &Blob<'_>) -> Range<u32> {
        0..blob.len().try_into().expect("a database has fewer records than bytes, and these are a u32")
    }

    fn digest(&self, side: Side, row: u32, share: &mut BudgetShare<'_>) -> Option<u64> {
        let (blob, record) = self.place(side, row)?;
        digest(&blob.record(record).ok()??, share)
    }

    fn has_digest_in(&self, side: Side, row: u32, others: &HashSet<u64>) -> bool {
        let digest = self.digest(side, row, &mut BudgetShare::new(&self.records.budget));
        digest.is_some_and(|digest| others.contains(&digest))
    }

    fn digests_of_named(&self, side: Side) -> HashSet<u64> {
        let Some(blob) = pick(&self.blobs, side) else { return HashSet::new() };
        let rows = Self::rows(blob).into_par_iter().with_min_len(self.piece());
        let named = rows.filter(|&row| self.is_named(side, blob, row));
        let digests =
            named.map_init(|| BudgetShare::new(&self.records.budget), |share, row| self.digest(side, row, share));
        digests.flatten_iter().collect()
    }
}

impl Comparable for Unnamed<'_> {
    fn keys(&self, side: Side, _: &Faults) -> Keys {
        let mut keys = Keys::default();
        let Some(blob) = pick(&self.blobs, side) else { return keys };
        for row in Self::rows(blob) {
            if self.is_named(side, blob, row) {
                keys.skipped.push(row);
                keys.hashes.push((side as u64).saturating_add(1) << 32 | u64::from(row));
            } else {
                keys.hashes.push(0);
            }
        }
        keys
    }

    fn compare(&self, pairs: &[(u32, u32)], each: &mut Each<'_>) {
        let mut share = BudgetShare::new(&self.records.budget);
        compare(pairs, each, |old, new| {
            let (Some(a), Some(b)) = (self.place(Side::Old, old), self.place(Side::New, new)) else {
                return Ok(Verdict::Other);
            };
            let same = self.records.same(a, b, &mut share);
            let same = same.map_err(|(side, error)| (side, error.context(format_args!("record {old} or {new}"))))?;
            Ok(if same { Verdict::Same } else { Verdict::Changed })
        });
    }

    fn contents(&self, side: Side, rows: &[u32]) -> Vec<u64> {
        let mut share = BudgetShare::new(&self.records.budget);
        contents(rows, |&row| self.digest(side, row, &mut share))
    }

    fn piece(&self) -> usize {
        1 << 9
    }
}

impl Special for Unnamed<'_> {
    fn fields<'s>(&'s self, rows: (u32, u32), fields: &mut Vec<FieldChange<'s>>, damaged: &mut Damaged<'_>) {
        if let (Some(a), Some(b)) = (self.place(Side::Old, rows.0), self.place(Side::New, rows.1)) {
            self.records.fields(a, b, fields, damaged);
        }
    }

    fn settle(&self, found: &mut Differences) {
        if found.is_empty() {
            return;
        }
        // A record that lost or got its name is reported by its resource.
        let (old, new) = threads::join(|| self.digests_of_named(Side::Old), || self.digests_of_named(Side::New));
        for pair in std::mem::take(&mut found.changed) {
            if self.has_digest_in(Side::Old, pair.0, &new) || self.has_digest_in(Side::New, pair.1, &old) {
                found.removed.push(pair.0);
                found.added.push(pair.1);
            } else {
                found.changed.push(pair);
            }
        }
        found.removed.retain(|&row| !self.has_digest_in(Side::Old, row, &new));
        found.added.retain(|&row| !self.has_digest_in(Side::New, row, &old));
        found.removed.sort_unstable();
        found.added.sort_unstable();
    }

    fn key(&self, pair: Pair) -> Option<Value<'static>> {
        Some(Value::Map(vec![("record".into(), pair.new.or(pair.old)?.into())]))
    }

    fn says_all(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use assetq_sample::{Size, bwdb};

    /// The later build has records without resources among the contours, and these alone decide nothing about other tables.
    #[test]
    fn resources_decide_about_tables_whose_records_all_have_some() {
        let open = |bytes| Database::open(Source::from_vec("assets.bin", bytes)).unwrap();
        let (old, new) = (open(bwdb::demo(1, Size::Small)), open(bwdb::altered(1, Size::Small).bytes));
        let compared = DatabaseComparison { old: &old, new: &new };
        for table in ["materials", "material_properties", "visuals", "render_sets", "models", "effects"] {
            assert_eq!(compared.decisive(table), Some("resources"), "{table}");
        }
        for table in ["atlas_contours", "skeleton_extenders", "paths", "resources", "none"] {
            assert_eq!(compared.decisive(table), None, "{table}");
        }
    }

    fn open(bytes: &[u8]) -> Database {
        Database::open(Source::from_vec("assets.bin", bytes.to_vec())).unwrap()
    }

    /// In damaged files ids repeat. The records of resources are paired in their order.
    #[test]
    fn rows_with_one_id_are_paired_by_their_contents() {
        let database = open(&bwdb::demo(1, Size::Small));
        let compared = DatabaseComparison { old: &database, new: &database };
        for (table, distinct) in [("paths", 3), ("strings", 3), ("resources", 1)] {
            let special = compared.table(table, true).unwrap();
            let [of_old, of_new] = [Side::Old, Side::New].map(|side| special.contents(side, &[0, 1, 2]));
            assert_eq!(of_old, of_new, "{table}");
            assert_eq!(of_old.into_iter().collect::<HashSet<u64>>().len(), distinct, "{table}");
            if table != "resources" {
                assert_eq!(special.contents(Side::Old, &[u32::MAX]), [0], "{table}: a row that cannot be read");
            }
        }
    }

    #[test]
    fn a_resource_of_a_missing_database_is_damage_of_its_side() {
        let bytes = bwdb::demo(1, Size::Small);
        let whole = open(&bytes);
        let mut damaged = bytes.clone();
        let at = whole.spans.resource_values.start + whole.resource_rows()[0] as usize * 4;
        damaged[at..at + 4].copy_from_slice(&(63u32 << 2).to_le_bytes());
        let damaged = open(&damaged);
        let id = Id64(whole.resource_at_row(0).unwrap().id());
        for (old, new, side) in [(&damaged, &whole, Side::Old), (&whole, &damaged, Side::New)] {
            let special = Resources::new(old, new);
            let (mut fields, mut faults) = (Vec::new(), Vec::new());
            special.fields((0, 0), &mut fields, &mut |side, error| faults.push((side, error.to_string())));
            let [(of, message)] = &faults[..] else { panic!("{faults:?}") };
            assert!(fields.is_empty() && *of == side, "{faults:?}");
            assert!(message.contains(&format!("resource {id}")) && message.contains("63"), "{message}");
        }
    }

    /// The first ones are read again to find the damaged file; more would be slow.
    #[test]
    fn of_many_damaged_records_sixteen_are_attributed_to_their_file() {
        let bytes = bwdb::demo(1, Size::Small);
        let whole = open(&bytes);
        let of_whole = Resources::new(&whole, &whole);
        let is_material = |row: &u32| {
            let (resource, blob) = of_whole.get(Side::Old, *row).unwrap();
            resource.state() == State::Valid && blob.layout().is_some_and(|layout| layout.table() == "materials")
        };
        let row = (0..whole.resource_ids().len() as u32).find(is_material).unwrap();
        let (resource, blob) = of_whole.get(Side::Old, row).unwrap();
        let (record, size) = blob.record_span(resource.location().record_index()).unwrap();
        let at = record.offset() as usize;
        let mut damaged = bytes.clone();
        damaged[at..at + size].fill(0x7F);
        let damaged = open(&damaged);
        for (old, new, first) in [(&damaged, &whole, Side::Old), (&whole, &damaged, Side::New)] {
            let mut sides = Vec::new();
            Resources::new(old, new).compare(&[(row, row); 18], &mut |_, verdict| {
                let (side, error) = verdict.unwrap_err();
                assert!(error.to_string().contains(&format!("resource {}", Id64(resource.id()))), "{error}");
                sides.push(side);
            });
            assert_eq!((&sides[..16], &sides[16..]), (&[first; 16][..], &[Side::New; 2][..]));
        }
    }
}
