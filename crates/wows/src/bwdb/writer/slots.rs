//! The map from resources to records, with changed, inserted and deleted rows.

use super::super::hashmap::{Bucket as _, Modulus};
use super::super::layout::ResourceBucket;
use super::super::{Database, Location};
use super::Refuse;
use super::job::table;
use crate::bytes::le;
use crate::error::Result;
use crate::id::Id64;
use crate::table::{Table, Value};
use crate::writable::patches::Patches;
use crate::writable::{ColumnValues, EditPosition, TableEdits, cell_named, refused, short};
use std::collections::{BTreeMap, HashSet};

/// A slot: the key, the mark of an occupied slot, and the location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HashSlot {
    key: u64,
    occupied: u64,
    value: u32,
}

impl HashSlot {
    const EMPTY: Self = Self { key: 0, occupied: 0, value: 0 };
}

/// The slots of a map, and the changed slots.
struct Slots<'a> {
    buckets: &'a [ResourceBucket],
    values: &'a [le::U32],
    modulus: Modulus,
    new: BTreeMap<usize, HashSlot>,
}

impl Slots<'_> {
    fn get(&self, at: usize) -> HashSlot {
        self.new.get(&at).copied().unwrap_or_else(|| match (self.buckets.get(at), self.values.get(at)) {
            (Some(bucket), Some(value)) => {
                HashSlot { key: bucket.key.get(), occupied: bucket.occupied.get(), value: value.get() }
            }
            _ => HashSlot::EMPTY,
        })
    }

    fn next(&self, at: usize) -> usize {
        let next = at.saturating_add(1);
        if next < self.buckets.len() { next } else { 0 }
    }

    /// The slot of a key, or the first empty one of its chain; `None` if the key is missing and no slot is empty.
    fn find(&self, key: u64) -> Option<(usize, bool)> {
        let mut at = self.modulus.slot(key);
        for _ in 0..self.buckets.len() {
            let slot = self.get(at);
            if slot.occupied == 0 || slot.key == key {
                return Some((at, slot.occupied != 0));
            }
            at = self.next(at);
        }
        None
    }

    /// Empties a slot, and moves the later slots of its chain up.
    fn remove(&mut self, at: usize) {
        let mut hole = at;
        let mut at = at;
        for _ in 0..self.buckets.len() {
            at = self.next(at);
            let slot = self.get(at);
            if slot.occupied == 0 || at == hole {
                break;
            }
            let home = self.modulus.slot(slot.key);
            let stays = if hole <= at { hole < home && home <= at } else { hole < home || home <= at };
            if !stays {
                self.new.insert(hole, slot);
                hole = at;
            }
        }
        self.new.insert(hole, HashSlot::EMPTY);
    }
}

/// Writes the edits of `resources`. Returns the numbers of the inserted rows.
pub(super) fn write(
    db: &Database,
    edits: &TableEdits,
    patches: &mut Patches,
    refuse: Refuse<'_>,
) -> Result<Vec<usize>> {
    let (buckets, values) = (db.resource_buckets(), db.spans.resource_values.get());
    let mut slots = Slots { buckets, values, modulus: db.resource_slots, new: BTreeMap::new() };
    let table = table(db, "resources")?;
    for (row, cells) in &edits.set {
        let at = slot_of(db, *row)?;
        let old = slots.get(at);
        if cell_named(&*table, cells, "id").is_some() {
            let what = "resources: column id: the key of a resource is its place: add one, and remove the other";
            refuse(EditPosition::Set(*row), refused(what))?;
            continue;
        }
        match located(&*table, db, cells, old.value) {
            Ok(value) => drop(slots.new.insert(at, HashSlot { value, ..old })),
            Err(error) => refuse(EditPosition::Set(*row), error)?,
        }
    }
    let mut gone = Vec::new();
    for row in &edits.remove {
        let at = slot_of(db, *row)?;
        gone.push(buckets.get(at).map_or(0, |bucket| bucket.key.get()));
    }
    for key in &gone {
        if let Some((at, true)) = slots.find(*key) {
            slots.remove(at);
        }
    }
    let occupied = buckets.iter().find(|bucket| bucket.is_occupied()).map_or(1, |bucket| bucket.occupied.get());
    let mut count = db.resource_count().saturating_sub(gone.len());
    let mut keys = Vec::new();
    for (number, cells) in edits.add.iter().enumerate() {
        let new = new_slot(&*table, db, cells).and_then(|(key, value)| {
            let shown = Id64(key);
            // A search ends at an empty slot.
            if count.saturating_add(1) >= buckets.len() {
                let what = format!("resources: {shown}: all {} slots of the map but one are occupied", buckets.len());
                return Err(refused(what));
            }
            match slots.find(key) {
                Some((at, false)) => Ok((at, key, value)),
                _ => Err(refused(format!("resources: {shown}: no slot of the map is free for it"))),
            }
        });
        match new {
            Ok((at, key, value)) => {
                slots.new.insert(at, HashSlot { key, occupied, value });
                count = count.saturating_add(1);
                keys.push((key, value));
            }
            Err(error) => refuse(EditPosition::Add(number), error)?,
        }
    }
    check(&slots, &gone, &keys)?;
    let (buckets_at, values_at) = (db.spans.resource_buckets.start, db.spans.resource_values.start);
    for (at, slot) in &slots.new {
        let bucket = [slot.key.to_le_bytes(), slot.occupied.to_le_bytes()].concat();
        patches.write_at(buckets_at.saturating_add(at.saturating_mul(bucket.len())), &bucket)?;
        let value = slot.value.to_le_bytes();
        patches.write_at(values_at.saturating_add(at.saturating_mul(value.len())), &value)?;
    }
    Ok(new_rows(&slots, &keys))
}

fn slot_of(db: &Database, row: usize) -> Result<usize> {
    let slot = db.resource_rows().get(row).map(|&slot| slot as usize);
    slot.ok_or_else(|| crate::table::no_cell("resources", row, 0))
}

/// The rows of the inserted keys after the edit.
fn new_rows(slots: &Slots<'_>, keys: &[(u64, u32)]) -> Vec<usize> {
    if keys.is_empty() {
        return Vec::new();
    }
    let rows: Vec<usize> = (0..slots.buckets.len()).filter(|at| slots.get(*at).occupied != 0).collect();
    let found = keys.iter().filter_map(|(key, _)| slots.find(*key));
    found.map(|(at, _)| rows.partition_point(|row| *row < at)).collect()
}

fn new_slot(table: &dyn Table, db: &Database, cells: &ColumnValues) -> Result<(u64, u32)> {
    let Some(Value::Id64(key)) = cell_named(table, cells, "id") else {
        return Err(refused("resources: a row that is added has no id, and no path either"));
    };
    if ["database", "record"].iter().any(|name| cell_named(table, cells, name).is_none()) {
        let what = "the record that it leads to is missing: the columns database and record";
        return Err(refused(format!("resources: {}: {what}", Id64(*key))));
    }
    Ok((*key, located(table, db, cells, 0)?))
}

/// Checks that every key that was touched is found as it should be.
fn check(slots: &Slots<'_>, gone: &[u64], keys: &[(u64, u32)]) -> Result<()> {
    let added: HashSet<u64> = keys.iter().map(|(key, _)| *key).collect();
    let missing = gone.iter().any(|key| !added.contains(key) && matches!(slots.find(*key), Some((_, true))));
    let occupied = slots.new.values().filter(|slot| slot.occupied != 0);
    let lost = occupied.clone().any(|slot| {
        let found = slots.find(slot.key).filter(|(_, there)| *there).map(|(at, _)| slots.get(at));
        found != Some(*slot)
    });
    if missing || lost {
        return Err(refused("resources: the map has a key twice, so that its rows can neither come nor go"));
    }
    Ok(())
}

/// The number in a cell of a row, or `old` without such a cell.
fn number(table: &dyn Table, cells: &ColumnValues, column: &str, old: usize) -> Result<usize> {
    let Some(value) = cell_named(table, cells, column) else { return Ok(old) };
    let number = if let Value::Uint(number) = value { usize::try_from(*number).ok() } else { None };
    number.ok_or_else(|| refused(format!("resources: column {column}: {} does not fit: a number does", short(value))))
}

/// The location in the cells of a row; missing cells are taken from `old`.
fn located(table: &dyn Table, db: &Database, cells: &ColumnValues, old: u32) -> Result<u32> {
    let old = Location(old);
    let database = number(table, cells, "database", old.database_index())?;
    let count = db.database_count();
    if database >= count && cell_named(table, cells, "database").is_some() {
        let what = format!("{database} does not fit: the file has {count} databases, from 0 on");
        return Err(refused(format!("resources: column database: {what}")));
    }
    let record = number(table, cells, "record", old.record_index())?;
    let state = match cell_named(table, cells, "state") {
        None => old.0 & 3,
        Some(value) => match (value, value.as_text().as_deref()) {
            (_, Some("valid")) => 0,
            (_, Some("deleted")) => 3,
            (Value::Uint(state @ 0..=3), _) => u32::try_from(*state).expect("at most 3"),
            (Value::Int(state @ 0..=3), _) => u32::try_from(*state).expect("from 0 to 3"),
            (other, _) => {
                let what = format!("{} does not fit: \"valid\", \"deleted\", 1 or 2 does", short(other));
                return Err(refused(format!("resources: column state: {what}")));
            }
        },
    };
    if state == 0 {
        let records = db.database(database)?.len();
        if record >= records {
            let what = format!("database {database} has {records} records, and number {record} is not one of them");
            return Err(refused(format!("resources: column record: {what}")));
        }
    }
    let located = Location::new(database, record);
    let located = located.ok_or_else(|| refused(format!("resources: no location can say {database} and {record}")))?;
    Ok(located.0 | state)
}
