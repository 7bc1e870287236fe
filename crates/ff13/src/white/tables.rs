//! The tables `lists` and `entries`, besides the tables of every archive.

use super::WhiteArchive;
use super::list::{Encryption, List};
use crate::archive::Archive as _;
use crate::error::Result;
use crate::table::{Column, DeclaredTable, Table, Value};

pub(super) fn tables(game: &WhiteArchive) -> Vec<Box<dyn Table + '_>> {
    vec![lists(game), entries(game)]
}

fn lists(game: &WhiteArchive) -> Box<dyn Table + '_> {
    let list = |n: &usize| game.list(*n);
    let number = |value: usize| Ok(Value::from(value));
    let table = DeclaredTable::new("lists", || Ok(game.lists.len()), |n| Ok((n < game.lists.len()).then_some(n)))
        .column(Column::text("name").brief().key(), |n| Ok(Value::text(game.name_of(*n))))
        .column(Column::text("image").brief(), |n| Ok(game.lists.get(*n).map(|list| list.image.name()).into()))
        .column(Column::uint("files").brief(), move |n| number(list(n)?.len()))
        .column(Column::uint("chunks").brief(), move |n| number(list(n)?.chunks()))
        .column(Column::text("encryption").brief(), move |n| Ok(list(n)?.encryption.name().into()))
        .column(Column::bool("checksum_ok"), move |n| {
            let list = list(n)?;
            Ok(if list.encryption == Encryption::None { Value::Null } else { list.mismatch.is_none().into() })
        })
        .derived();
    Box::new(table)
}

/// An entry: its list, and its number there.
type EntryRow<'a> = (usize, &'a List, usize);

fn entries(game: &WhiteArchive) -> Box<dyn Table + '_> {
    let locate = |n| -> Result<Option<EntryRow<'_>>> {
        if n >= game.len()? {
            return Ok(None);
        }
        let (list, n) = game.place(n)?;
        Ok(Some((list, game.list(list)?, n)))
    };
    let entry = |row: &EntryRow<'_>| row.1.entry(row.2).map(|entry| (*entry, row.1.layout));
    let table = DeclaredTable::new("entries", || game.len(), locate)
        .column(Column::text("list").brief().key(), |row| Ok(Value::text(game.name_of(row.0))))
        .column(Column::uint("number").brief().key(), |row| Ok(row.2.into()))
        .column(Column::id32("file_code").brief(), move |row| {
            Ok(entry(row).map_or(Value::Null, |(entry, _)| Value::Id32(entry.code.get())))
        })
        .column(Column::uint("kind").brief(), move |row| {
            Ok(entry(row)
                .and_then(|(entry, layout)| entry.kind(layout))
                .map_or(Value::Null, |kind| u64::from(kind).into()))
        })
        .column(Column::uint("chunk").place(), move |row| {
            Ok(entry(row).map(|(entry, layout)| entry.text(layout).0 as u64).into())
        })
        .column(Column::uint("position").place(), move |row| {
            Ok(entry(row).map(|(entry, layout)| entry.text(layout).1 as u64).into())
        })
        .column(Column::text("path").brief(), |(_, list, n)| Ok(list.text(*n)?.path.map_or(Value::Null, Value::Text)))
        .label();
    Box::new(table.random_access())
}
