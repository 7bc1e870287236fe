//! Prototype databases: paths and strings as they lie there, resources by what their records say.

use super::pair::{Each, Faults, Keys, Rows, Verdict};
use super::value::{Field, differ};
use super::{Damaged, Pair, Side, Special};
use crate::error::{Error, Result};
use crate::formats::bwdb::compare::{Allowance, Budget, differ_record, plain_fields, same_record};
use crate::formats::bwdb::{Blob, Database, Location, Resource, State};
use crate::id::Id64;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The rows of `table` that are compared in a way of their own.
pub(super) fn special<'a>(table: &str, old: &'a Database, new: &'a Database) -> Option<Box<dyn Special + 'a>> {
    match table {
        "paths" => Some(Box::new(Paths([old, new]))),
        "strings" => Some(Box::new(Strings::new([old, new]))),
        "resources" => Some(Box::new(Resources::new(old, new))),
        _ => None,
    }
}

/// Databases whose records cannot be compared, unless all of their bytes are the same.
pub(super) fn notes(old: &Database, new: &Database) -> Vec<String> {
    let mut notes = Vec::new();
    for blob in old.databases().flatten() {
        let others = || new.databases().flatten().filter(|other| other.magic() == blob.magic());
        let raw = others().find(|other| blob.layout().is_none() || other.layout().is_none());
        let Some(other) = raw else { continue };
        let same = match (blob.view().take(blob.size()), other.view().take(other.size())) {
            (Ok(a), Ok(b)) => a == b,
            _ => false,
        };
        if !same {
            let why = blob.note().or_else(|| other.note()).unwrap_or_default();
            let name = blob.type_name_or_magic();
            notes.push(format!("records of type {name} are not compared, though they may differ: {why}"));
        }
    }
    notes
}

fn pick<T: Copy>(both: [T; 2], side: Side) -> T {
    let [old, new] = both;
    if side == Side::Old { old } else { new }
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

impl Rows for Paths<'_> {
    fn keys(&self, side: Side, _: &Faults) -> Keys {
        let entries = pick(self.0, side).paths().entries();
        Keys { hashes: entries.par_iter().map(|entry| entry.self_id.get()).collect(), damaged: Vec::new() }
    }

    fn compare(&self, pairs: &[(u32, u32)], each: &mut Each<'_>) {
        compare(pairs, each, |old, new| {
            verdict((old, new), |side, row| {
                let paths = pick(self.0, side).paths();
                let entry = paths.entry(row as usize)?;
                Ok((entry.self_id.get(), (entry.parent_id.get(), paths.name_bytes(entry)?)))
            })
        });
    }

    fn contents(&self, side: Side, rows: &[u32]) -> Vec<u64> {
        let paths = pick(self.0, side).paths();
        let content = |&row: &u32| {
            let entry = paths.entry(row as usize)?;
            Ok::<_, Error>(crate::codec::xxh64(paths.name_bytes(entry)?, entry.parent_id.get()))
        };
        rows.iter().map(|row| content(row).unwrap_or(0)).collect()
    }
}

impl Special for Paths<'_> {
    fn fields<'s>(&'s self, _: (u32, u32), _: &mut Vec<Field<'s>>, _: &mut Damaged<'_>) {}

    fn what(&self, _: Pair) -> Option<String> {
        None
    }
}

struct Strings<'a> {
    dbs: [&'a Database; 2],
    /// The id of each row, and where its text begins in the pool.
    places: [OnceLock<Vec<[u32; 2]>>; 2],
    /// Texts that begin before this place are the same in both pools, and need not be looked at.
    same: u32,
}

impl<'a> Strings<'a> {
    fn new(dbs: [&'a Database; 2]) -> Self {
        const BLOCK: usize = 1 << 12;
        let [old, new] = dbs.map(Database::string_pool);
        let alike = |(a, b): &(&[u8], &[u8])| a == b;
        let blocks = old.chunks_exact(BLOCK).zip(new.chunks_exact(BLOCK)).take_while(alike).count();
        let common = old.get(..blocks.saturating_mul(BLOCK)).unwrap_or_default();
        // The last of them may go on behind what is the same.
        let same = memchr::memrchr(0, common).map_or(0, |nul| nul.saturating_add(1));
        Self { dbs, places: Default::default(), same: u32::try_from(same).unwrap_or(u32::MAX) }
    }

    fn places(&self, side: Side) -> &[[u32; 2]] {
        let [old, new] = &self.places;
        let places = if side == Side::Old { old } else { new };
        places.get_or_init(|| pick(self.dbs, side).string_places())
    }
}

impl Rows for Strings<'_> {
    fn keys(&self, side: Side, _: &Faults) -> Keys {
        let ids = self.places(side).iter().map(|&[id, _]| id.into());
        Keys { hashes: ids.collect(), damaged: Vec::new() }
    }

    fn compare(&self, pairs: &[(u32, u32)], each: &mut Each<'_>) {
        let (of_old, of_new) = (self.places(Side::Old), self.places(Side::New));
        compare(pairs, each, |old, new| {
            let places = (of_old.get(old as usize), of_new.get(new as usize));
            if places.0 == places.1 && places.0.is_some_and(|&[_, offset]| offset < self.same) {
                return Ok(Verdict::Same);
            }
            verdict((old, new), |side, row| match pick(self.dbs, side).string_at(row as usize) {
                Some((id, text)) => Ok((id, text?)),
                None => Ok((0, "")),
            })
        });
    }

    fn contents(&self, side: Side, rows: &[u32]) -> Vec<u64> {
        let db = pick(self.dbs, side);
        let content = |&row: &u32| Some(crate::codec::xxh64(db.string_at(row as usize)?.1.ok()?.as_bytes(), 0));
        rows.iter().map(|row| content(row).unwrap_or(0)).collect()
    }
}

impl Special for Strings<'_> {
    fn fields<'s>(&'s self, _: (u32, u32), _: &mut Vec<Field<'s>>, _: &mut Damaged<'_>) {}

    fn what(&self, _: Pair) -> Option<String> {
        None
    }
}

/// Resources and the records that they have.
struct Resources<'a> {
    dbs: [&'a Database; 2],
    blobs: [Vec<Option<Blob<'a>>>; 2],
    /// Where the record of each row is: the file's map is read once in its own order, which is not that of records.
    locations: [OnceLock<Vec<Location>>; 2],
    budget: Budget,
    /// For those that are shown.
    shown: Budget,
    /// How often [`Resources::faulty`] was asked.
    faulty: AtomicUsize,
}

impl<'a> Resources<'a> {
    fn new(old: &'a Database, new: &'a Database) -> Self {
        // A resource has six bits for the number of its database.
        let blobs = |db: &'a Database| db.databases().take(64).map(|blob| blob.ok()).collect();
        let budget = || Budget::new(old.source().bytes().len(), new.source().bytes().len());
        Self {
            dbs: [old, new],
            blobs: [blobs(old), blobs(new)],
            locations: Default::default(),
            budget: budget(),
            shown: budget(),
            faulty: AtomicUsize::new(0),
        }
    }

    fn get(&self, side: Side, row: u32) -> Result<(Resource<'a>, Blob<'a>)> {
        let resource = pick(self.dbs, side).resource_at_row(row as usize)?;
        Ok((resource, resource.database()?))
    }

    fn locations(&self, side: Side) -> &[Location] {
        let [old, new] = &self.locations;
        let locations = if side == Side::Old { old } else { new };
        locations.get_or_init(|| pick(self.dbs, side).resource_locations())
    }

    /// The location in a row, and the database there.
    fn locate(&self, side: Side, row: u32) -> Result<(Location, Cow<'_, Blob<'a>>), (Side, Error)> {
        let [old, new] = &self.blobs;
        let blobs = if side == Side::Old { old } else { new };
        if let Some(&location) = self.locations(side).get(row as usize)
            && let Some(Some(blob)) = blobs.get(location.database_index())
        {
            return Ok((location, Cow::Borrowed(blob)));
        }
        let (resource, blob) = self.get(side, row).map_err(|error| (side, error))?;
        Ok((resource.location(), Cow::Owned(blob)))
    }

    /// Compares two rows of one id: the hashes of keys are the ids themselves.
    fn verdict(&self, old: u32, new: u32, allowance: &mut Allowance<'_>) -> Result<Verdict, (Side, Error)> {
        let (a, of_a) = self.locate(Side::Old, old)?;
        let (b, of_b) = self.locate(Side::New, new)?;
        if a.state() != b.state() || of_a.magic() != of_b.magic() {
            return Ok(Verdict::Changed);
        }
        let (Some(layout), Some(new_layout), State::Valid) = (of_a.layout(), of_b.layout(), a.state()) else {
            return Ok(Verdict::Same);
        };
        let (at_a, _) = of_a.record_span(a.record_index()).map_err(|e| (Side::Old, e))?;
        let (at_b, _) = of_b.record_span(b.record_index()).map_err(|e| (Side::New, e))?;
        let both = || match (self.get(Side::Old, old), self.get(Side::New, new)) {
            (Ok(old), Ok(new)) => Ok((old, new)),
            (Err(error), _) => Err((Side::Old, error)),
            (_, Err(error)) => Err((Side::New, error)),
        };
        let same = if layout == new_layout {
            match same_record(layout, at_a, at_b, allowance) {
                Ok(same) => same,
                Err(error) => {
                    let (old, _) = both()?;
                    return Err((self.faulty(old), error.within(format_args!("resource {}", Id64(old.0.id())))));
                }
            }
        } else {
            let (old, new) = both()?;
            let mut fields = Vec::new();
            let mut fault = None;
            self.fields_of(old, new, &mut fields, &mut |side, error| {
                fault.get_or_insert((side, error));
            });
            if let Some(fault) = fault {
                return Err(fault);
            }
            fields.is_empty()
        };
        Ok(if same { Verdict::Same } else { Verdict::Changed })
    }

    /// Which file the damage is in that comparing the record of `old` with another one met: it is read once more by
    /// itself. Of many damaged records, only the first ones are; the others are said to be the new file's.
    fn faulty(&self, (old, blob): (Resource<'_>, Blob<'_>)) -> Side {
        const ASKED: usize = 16;
        if self.faulty.fetch_add(1, Ordering::Relaxed) >= ASKED {
            return Side::New;
        }
        let names = pick(self.dbs, Side::Old);
        match blob.record(old.record_index()) {
            Ok(Some(record)) if plain_fields(&record, names).1.is_empty() => Side::New,
            _ => Side::Old,
        }
    }

    /// Adds the fields in which the records of two resources of one type differ.
    fn fields_of<'s>(
        &'s self,
        (a, of_a): (Resource<'s>, Blob<'s>),
        (b, of_b): (Resource<'s>, Blob<'s>),
        fields: &mut Vec<Field<'s>>,
        damaged: &mut Damaged<'_>,
    ) {
        let [old_db, new_db] = self.dbs;
        match (of_a.layout(), of_b.layout()) {
            (Some(layout), Some(other)) if layout == other => {
                let spans = (of_a.record_span(a.record_index()), of_b.record_span(b.record_index()));
                let (at_a, at_b) = match spans {
                    (Ok((a, _)), Ok((b, _))) => (a, b),
                    (a, b) => {
                        a.err().into_iter().for_each(|error| damaged(Side::Old, error));
                        b.err().into_iter().for_each(|error| damaged(Side::New, error));
                        return;
                    }
                };
                let mut out = |name: &str, old, new| fields.push(Field { name: name.to_owned().into(), old, new });
                let errors = differ_record(layout, (at_a, at_b), [old_db, new_db], &mut out, &self.shown);
                errors.into_iter().for_each(|error| damaged(self.faulty((a, of_a)), error));
            }
            (Some(_), Some(_)) => {
                let records = (of_a.record(a.record_index()), of_b.record(b.record_index()));
                let (Ok(Some(old)), Ok(Some(new))) = records else { return };
                let ((old, old_errors), (new, new_errors)) = (plain_fields(&old, old_db), plain_fields(&new, new_db));
                // Of two layouts, fields that both have can be compared.
                for (name, value) in old {
                    if let Some((_, other)) = new.iter().find(|(other, _)| *other == name) {
                        differ(name, value, other.clone(), fields);
                    }
                }
                old_errors.into_iter().for_each(|error| damaged(Side::Old, error));
                new_errors.into_iter().for_each(|error| damaged(Side::New, error));
            }
            _ => {}
        }
    }
}

impl Rows for Resources<'_> {
    fn keys(&self, side: Side, _: &Faults) -> Keys {
        Keys { hashes: pick(self.dbs, side).resource_ids(), damaged: Vec::new() }
    }

    fn arranged(&self, pairs: &mut dyn Iterator<Item = (u32, u32)>) -> Option<Vec<(u32, u32)>> {
        // Rows lie in the order of their hashes, which is none; records are read faster one behind the other.
        let locations = self.locations(Side::Old);
        let place = |row: u32| locations.get(row as usize).map_or(0, |location| location.place());
        let mut placed: Vec<(u32, (u32, u32))> = pairs.map(|pair| (place(pair.0), pair)).collect();
        placed.par_sort_unstable();
        Some(placed.into_iter().map(|(_, pair)| pair).collect())
    }

    fn compare(&self, pairs: &[(u32, u32)], each: &mut Each<'_>) {
        let mut allowance = Allowance::new(&self.budget);
        compare(pairs, each, |old, new| self.verdict(old, new, &mut allowance));
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
    fn fields<'s>(&'s self, rows: (u32, u32), fields: &mut Vec<Field<'s>>, damaged: &mut Damaged<'_>) {
        let (old, new) = match (self.get(Side::Old, rows.0), self.get(Side::New, rows.1)) {
            (Ok(old), Ok(new)) => (old, new),
            (old, new) => {
                old.err().into_iter().for_each(|error| damaged(Side::Old, error));
                new.err().into_iter().for_each(|error| damaged(Side::New, error));
                return;
            }
        };
        let valid = old.0.state() == State::Valid && new.0.state() == State::Valid;
        if valid && old.1.magic() == new.1.magic() {
            self.fields_of(old, new, fields, damaged);
        }
    }

    fn what(&self, pair: Pair) -> Option<String> {
        let of = |side, row: Option<u32>| Some(self.get(side, row?).ok()?.1.type_name_or_magic());
        of(Side::New, pair.new).or_else(|| of(Side::Old, pair.old))
    }
}
