//! The tables `lists` and `entries`, besides the tables of every archive.

use super::WhiteArchive;
use super::layout::ListEntry;
use super::list::{Encryption, List};
use crate::archive::{self, Archive as _};
use crate::error::Result;
use crate::table::{Column, DeclaredTable, Table, Value};

pub(super) fn tables(game: &WhiteArchive) -> Vec<Box<dyn Table + '_>> {
    vec![lists(game), entries(game)]
}

fn lists(game: &WhiteArchive) -> Box<dyn Table + '_> {
    let table = DeclaredTable::over("lists", &game.lists)
        .column(Column::text("name").brief().key(), |(_, list)| Ok(Value::text(&list.file.name)))
        .column(Column::text("image").brief(), |(_, list)| Ok(list.image.name().into()))
        .column(Column::uint("files").brief(), |(n, _)| Ok(game.list(*n)?.files.into()))
        .column(Column::uint("chunks").brief(), |(n, _)| Ok(game.list(*n)?.chunks.len().into()))
        .column(Column::text("encryption").brief(), |(n, _)| Ok(game.list(*n)?.encryption.name().into()))
        .column(Column::bool("checksum_ok"), |(n, _)| {
            let list = game.list(*n)?;
            Ok(if list.encryption == Encryption::None { Value::Null } else { list.mismatch.is_none().into() })
        })
        .derived();
    Box::new(table)
}

/// An entry, its list, and its number there.
struct EntryRow<'a> {
    list_name: &'a str,
    list: &'a List,
    number: usize,
    entry: &'a ListEntry,
}

fn entry_row(game: &WhiteArchive, n: usize) -> Result<Option<EntryRow<'_>>> {
    if n >= game.len()? {
        return Ok(None);
    }
    let (list_number, number) = game.place(n)?;
    let (list_name, list) = (game.name_of(list_number), game.list(list_number)?);
    Ok(list.entry(number).map(|entry| EntryRow { list_name, list, number, entry }))
}

fn entries(game: &WhiteArchive) -> Box<dyn Table + '_> {
    let table = DeclaredTable::new("entries", || game.len(), |n| entry_row(game, n))
        .column(Column::text("list").brief().key(), |row| Ok(Value::text(row.list_name)))
        .column(Column::uint("number").brief().key(), |row| Ok(row.number.into()))
        .column(Column::id32("file_code").brief(), |row| Ok(Value::Id32(row.entry.code.get())))
        .column(Column::uint("kind").brief(), |row| Ok(row.entry.kind(row.list.layout).into()))
        .column(Column::uint("chunk").place(), |row| Ok(row.entry.text(row.list.layout).0.into()))
        .column(Column::uint("position").place(), |row| Ok(row.entry.text(row.list.layout).1.into()))
        .column(Column::text("path").brief(), |row| {
            Ok(row.list.text(row.number)?.path.map_or(Value::Null, Value::Text))
        })
        .label()
        .damaged(|| archive::damage(game));
    Box::new(table.random_access())
}
