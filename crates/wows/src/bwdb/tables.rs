//! The tables of the three formats. A table is a name, columns, and how to count rows and read one cell.

mod cells;
mod children;
mod file;
mod nested;
mod paths;
mod records;
mod rows;
mod space;

pub(super) use cells::field_of;
pub(super) use space::{instances, models, space};

use super::prototypes::{Layout, PrototypeType};
use super::reach::SomeRecords;
use super::row_targets::{RowTarget, tables_of};
use super::{Blob, Database};
use crate::table::{Table, Value, column_index};
use children::{children, material_properties, skeleton_nodes};
use records::{Records, records};
use rows::DatabaseRows;

fn id64(key: &Value<'_>) -> Option<u64> {
    if let Value::Id64(id) = key { Some(*id) } else { None }
}

fn number(key: &Value<'_>) -> Option<usize> {
    if let Value::Uint(number) = key { usize::try_from(*number).ok() } else { None }
}

/// The tables of an `assets.bin`.
pub(super) fn all(db: &Database) -> Vec<Box<dyn Table + '_>> {
    with_blobs(db).into_iter().map(|(_, table)| table).collect()
}

/// The database whose records table `name` shows; `None` if there is no such table, or a database is damaged.
pub(super) fn blob_of<'a>(db: &'a Database, name: &str) -> Option<Blob<'a>> {
    let is_damaged = db.databases().any(|blob| blob.is_err());
    let shown = with_blobs(db).into_iter().find(|(_, table)| table.name() == name);
    shown.filter(|_| !is_damaged).and_then(|(blob, _)| blob)
}

/// The rows that show some records, by table; `None` where they are not found by their records.
pub(super) fn rows_of_records(db: &Database, records: &[SomeRecords<'_>]) -> Option<Vec<(String, Vec<usize>)>> {
    let mut found = Vec::new();
    let mut ids = Vec::new();
    for (blob, table) in with_blobs(db) {
        let Some(some) = records.iter().find(|some| blob.is_some_and(|blob| blob.index() == some.blob.index())) else {
            continue;
        };
        let record = column_index(&*table, "record")?;
        let rows = some.records.iter().map(|number| table.find(record, &Value::Uint(*number as u64))?.ok());
        found.push((table.name().to_owned(), rows.collect::<Option<Vec<_>>>()?.concat()));
    }
    for some in records {
        let rows = DatabaseRows { db, blob: some.blob };
        ids.extend(some.records.iter().flat_map(|record| rows.of_record(*record).filter_map(move |row| rows.id(row))));
    }
    let resources = file::resources(db);
    let id = column_index(&*resources, "id")?;
    let rows = ids.into_iter().map(|of| resources.find(id, &Value::Id64(of))?.ok());
    found.push((resources.name().to_owned(), rows.collect::<Option<Vec<_>>>()?.concat()));
    found.iter_mut().for_each(|(_, rows)| rows.sort_unstable());
    Some(found)
}

/// The tables, each with the database of its records, if it shows records of one.
fn with_blobs(db: &Database) -> Vec<(Option<Blob<'_>>, Box<dyn Table + '_>)> {
    let own = [paths::table(db), file::resources(db), file::strings(db), file::databases(db)];
    let mut tables: Vec<(Option<Blob<'_>>, Box<dyn Table + '_>)> = own.into_iter().map(|table| (None, table)).collect();
    for (blob, layout) in shown(db) {
        for (name, target) in tables_of(layout) {
            // Another database may have one of this name.
            if tables.iter().all(|(_, other)| other.name() != name) {
                tables.push((Some(blob), rows_of(name, DatabaseRows { db, blob }, target)));
            }
        }
    }
    tables
}

/// The databases with records that tables show, and their layouts: the first database of each built-in type, and all databases with
/// a declared layout.
pub(super) fn shown(db: &Database) -> impl Iterator<Item = (Blob<'_>, Layout)> {
    let blobs: Vec<(Blob<'_>, Layout)> =
        db.databases().flatten().filter_map(|blob| blob.layout().map(|layout| (blob, layout))).collect();
    let built_in = PrototypeType::ALL.iter().map(|of| blobs.iter().find(|(_, layout)| layout.prototype() == Some(*of)));
    let built_in: Vec<_> = built_in.flatten().copied().collect();
    built_in.into_iter().chain(blobs.into_iter().filter(|(_, layout)| layout.prototype().is_none()))
}

/// Why there is no table `name`, if its records are shown raw.
pub(super) fn absent(db: &Database, name: &str) -> Option<String> {
    let raw = db.databases().flatten().filter(|blob| blob.layout().is_none());
    let mut presumed = raw.flat_map(|blob| blob.presumed(&db.layouts).map(move |layout| (blob, layout)));
    let (blob, _) = presumed.find(|(_, layout)| tables_of(*layout).iter().any(|(table, _)| *table == name))?;
    blob.note()
}

fn rows_of<'a, R: Records<'a>>(name: &'static str, rows: R, target: RowTarget) -> Box<dyn Table + 'a> {
    match target {
        RowTarget::Records(of) => records(name, rows, of),
        RowTarget::Elements(array) => children(name, rows, array),
        RowTarget::Properties => material_properties(rows),
        RowTarget::Nodes { at } => skeleton_nodes(rows, at),
    }
}
