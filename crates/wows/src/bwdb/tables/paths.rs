use super::super::layout::PathEntry;
use super::super::{Database, Paths};
use super::id64;
use crate::codec::cityhash64;
use crate::error::Result;
use crate::id::Id64;
use crate::table::{Column, DeclaredTable, Table, Value};
use std::cell::{Cell, OnceCell};

/// A path, joined on first use.
struct PathRow<'a> {
    number: usize,
    entry: &'a PathEntry,
    /// `None` if it cannot be joined.
    path: OnceCell<Option<String>>,
    /// The path of a row before, for this one to be written into.
    spare: Cell<String>,
}

impl<'a> PathRow<'a> {
    fn new(paths: Paths<'a>, number: usize, before: Option<Self>) -> Option<Self> {
        let entry = paths.entries().get(number)?;
        let spare = before.map_or_else(String::new, Self::into_spare).into();
        Some(Self { number, entry, path: OnceCell::new(), spare })
    }

    fn into_spare(self) -> String {
        self.path.into_inner().flatten().unwrap_or_else(|| self.spare.into_inner())
    }
}

/// `paths`, whose walks write each path over the one before.
pub(super) fn table(db: &Database) -> Box<dyn Table + '_> {
    let paths = db.paths();
    let table = DeclaredTable::walked(
        "paths",
        move || Ok(paths.len()),
        move |row, before| Ok(PathRow::new(paths, row, before)),
    );
    let table = table
        .random_access()
        .dictionary()
        .field(Column::id64("id").key(), |row| Ok(Id64(row.entry.self_id.get())))
        .found_by(move |key| Some(Ok(paths.all_with(id64(key)?))))
        .field(Column::id64("parent_id").reference(), |row| Ok(Id64(row.entry.parent_id.get())))
        .field(Column::text("name"), move |row| paths.name(row.entry))
        .searched_by(move |literal| paths.search_names(literal))
        .column_of_row(
            Column::text("path").brief().resolved().in_folders().text_for("id").ends_in("name"),
            move |row| {
                let path = row.path.get_or_init(|| {
                    let mut path = row.spare.take();
                    paths.write_path(row.number, &mut path).ok().map(|()| path)
                });
                match path {
                    Some(path) => Ok(Value::text(path)),
                    // A damaged path returns its error each time.
                    None => paths.path_at(row.number).map(Value::owned),
                }
            },
        )
        .label();
    let table = table.found_by(move |key| {
        let Value::Text(path) = key else { return None };
        let mut rows = paths.all_with(cityhash64(path.as_bytes()));
        // Two paths may have one hash, and a file may give an id to any path.
        let all = rows.iter().map(|&row| paths.path_at(row)).collect::<Result<Vec<String>>>();
        Some(all.map(|all| {
            let mut all = all.into_iter();
            rows.retain(|_| all.next().is_some_and(|found| found == **path));
            rows
        }))
    });
    Box::new(table.found_if(|| db.hashes_paths()))
}
