//! The tables of every archive: `files`, `volumes`, those of [`BuiltIn::archive_tables`], and `builds` if it has builds; and the facts that `info` shows.
//!
//! Comparisons ignore how and where a file is stored: two archives with the same contents are equal.

use super::{Archive, Build, File, Volume};
use crate::asset::BuiltIn;
use crate::container::Game;
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::table::{Column, DeclaredTable, Table, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// The tables of `archive`, the main one first. `volumes` and `builds` are read on first use.
pub fn tables(archive: &dyn Archive) -> Vec<Box<dyn Table + '_>> {
    let mut tables = vec![files(archive), volumes(archive)];
    tables.extend(BuiltIn::archive_tables().map(|table| table(archive)));
    tables.extend(archive.builds().map(builds));
    tables
}

/// The number of files of an archive and of its volumes, the bytes of these, and the volumes that are not installed.
pub fn facts(archive: &dyn Archive) -> Vec<(Cow<'static, str>, Value<'static>)> {
    let mut facts = vec![("files".into(), archive.len().map_or(Value::Null, Value::from))];
    if let Ok(volumes) = archive.volumes() {
        let there = volumes.iter().filter_map(Volume::known_size).fold(0, u64::saturating_add);
        let missing = volumes.iter().filter(|volume| !volume.is_installed());
        let missing: Vec<_> = missing.map(|volume| Value::text(&volume.name).into_owned()).collect();
        facts.push(("volumes".into(), volumes.len().into()));
        facts.push(("volume_bytes".into(), there.into()));
        facts.push(("not_installed".into(), Value::List(missing)));
    }
    facts
}

pub const FILES: &str = "files";

/// A row of the table of files.
struct FileRow<'a> {
    file: File<'a>,
    /// Why its path is unknown.
    unnamed: Option<Error>,
}

impl<'a> FileRow<'a> {
    fn of(archive: &'a dyn Archive, n: usize) -> Result<Self> {
        match archive.file(n) {
            Ok(file) => Ok(Self { file, unnamed: None }),
            Err(error) => match archive.unnamed_file(n) {
                Some(file) => Ok(Self { file, unnamed: Some(error) }),
                None => Err(error),
            },
        }
    }

    fn path(&self) -> Result<Value<'_>> {
        self.unnamed.clone().map_or_else(|| Ok(Value::text(&self.file.path)), Err)
    }
}

fn files(archive: &dyn Archive) -> Box<dyn Table + '_> {
    let table = DeclaredTable::new(
        FILES,
        || archive.len(),
        |n| if n < archive.len()? { FileRow::of(archive, n).map(Some) } else { Ok(None) },
    );
    let table = with_columns(table, archive, |path| archive.positions(path));
    Box::new(table.damaged(|| damage(archive)).random_access())
}

/// The table of files with one row: it needs no list of all files.
pub fn file_table<'a>(archive: &'a dyn Archive, file: File<'a>) -> Box<dyn Table + 'a> {
    let path = file.path.clone();
    let row = move |n| Ok((n == 0).then(|| FileRow { file: file.clone(), unnamed: None }));
    let table = DeclaredTable::new(FILES, || Ok(1), row);
    Box::new(with_columns(table, archive, move |wanted| Ok((0..1).filter(|_| wanted == path).collect())))
}

/// Adds the columns of files; `positions` finds the rows of a path.
fn with_columns<'a>(
    table: DeclaredTable<'a, FileRow<'a>>,
    archive: &'a dyn Archive,
    positions: impl Fn(&str) -> Result<Vec<usize>> + Send + Sync + 'a,
) -> DeclaredTable<'a, FileRow<'a>> {
    let table = table
        .column_of_row(Column::text("path").brief().key().in_folders(), FileRow::path)
        .found_by(move |key| {
            let path = key.as_text()?;
            Some(positions(&path))
        })
        .label()
        .column(Column::id64("id"), |row| Ok(row.file.id.map_or(Value::Null, Value::Id64)))
        .column(Column::uint("size").brief(), |row| Ok(row.file.size.into()))
        .column(Column::uint("stored_size").brief().place(), |row| Ok(row.file.stored_size.into()))
        .column(Column::text("codec").brief().place(), |row| Ok(Value::Text(row.file.codec.name())))
        .column(Column::id32("crc32"), |row| Ok(row.file.crc32.map_or(Value::Null, Value::Id32)))
        .column_of_row(Column::text("volume").brief().place(), |row| Ok(row.file.volume.as_deref().into()))
        .column(Column::uint("offset").place(), |row| Ok(row.file.offset.into()))
        .column(Column::bool("installed").place(), |row| Ok(row.file.installed.into()));
    if archive.has_lists() {
        return table.column_of_row(Column::text("list").key(), |row| Ok(row.file.list.as_deref().into()));
    }
    table
}

/// The damage that hides files, as one error.
pub fn damage(archive: &dyn Archive) -> Option<Error> {
    as_one(&archive.damage())
}

/// The worst of the errors of several files, with their number. What cannot be read is worse than what is damaged.
pub fn as_one(all: &[Error]) -> Option<Error> {
    let unreadable = all.iter().find(|error| matches!(error.kind(), ErrorKind::Io { .. }));
    let worst = unreadable.or(all.first())?.clone();
    Some(match all.len() {
        1 => worst,
        count => worst.context(format_args!("{count} files cannot be read; `assetq verify` names all, this is one")),
    })
}

/// A table over values that are computed together on first use; `row` makes a row of each.
pub fn computed<'a, T: Send + Sync + 'a, R: 'a>(
    name: &'static str,
    make: impl Fn() -> Result<Vec<T>> + Send + Sync + Clone + 'a,
    row: impl Fn(&T) -> Result<R> + Send + Sync + 'a,
) -> DeclaredTable<'a, R> {
    let rows = Arc::new(Lazy::default());
    let (count, counting) = (Arc::clone(&rows), make.clone());
    DeclaredTable::new(
        name,
        move || Ok(count.get_or_try_init(&counting)?.len()),
        move |n| rows.get_or_try_init(&make)?.get(n).map(&row).transpose(),
    )
}

fn volumes(archive: &dyn Archive) -> Box<dyn Table + '_> {
    let table = computed("volumes", || archive.volumes(), |volume| Ok(volume.clone()))
        .column_of_row(Column::text("name").brief().key(), |volume: &Volume| Ok(Value::text(&volume.name)))
        .column(Column::uint("size").brief(), |volume| Ok(volume.size.clone()?.into()))
        .column(Column::bool("installed").brief(), |volume| Ok(volume.is_installed().into()))
        .column(Column::uint("files").brief(), |volume| Ok(volume.files.into()))
        .derived()
        .damaged(|| damage(archive));
    Box::new(table)
}

fn builds(game: &dyn Game) -> Box<dyn Table + '_> {
    let table = computed("builds", || Ok(game.builds()), |build| Ok(build.clone()))
        .column_of_row(Column::text("build").brief().key(), |build: &Build| Ok(Value::text(&build.name)))
        .column(Column::uint("indexes").brief(), |build| Ok(build.indexes.clone()?.into()))
        .column(Column::uint("files").brief(), |build| Ok(build.files.clone()?.into()))
        .derived();
    Box::new(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    /// An archive that finds a file and cannot list its files.
    struct Unlisted;

    fn no_list<T>() -> Result<T> {
        Err(Error::of_part(ErrorKind::NotFound { what: "there is no list".to_owned() }, ""))
    }

    impl Archive for Unlisted {
        fn len(&self) -> Result<usize> {
            no_list()
        }

        fn file(&self, _: usize) -> Result<File<'_>> {
            no_list()
        }

        fn stored(&self, _: &File<'_>) -> Result<Source> {
            no_list()
        }
    }

    #[test]
    fn the_row_of_a_found_file_needs_no_list() {
        let table = file_table(&Unlisted, File::new("a/b", 5, 0));
        assert_eq!((table.len().unwrap(), table.value(0, 0).unwrap().to_string()), (1, "a/b".to_owned()));
        let rows = |path| table.find(0, &Value::text(path)).unwrap().unwrap();
        assert_eq!((rows("a/b"), rows("a")), (vec![0], Vec::new()));
        assert!(table.value(1, 0).is_err());
    }
}
