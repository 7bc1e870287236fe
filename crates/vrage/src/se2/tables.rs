//! Tables beside the ones of every archive: `definitions` and `assets`.

use super::Se2Archive;
use super::definitions::CACHE;
use crate::archive::{Archive as _, as_one};
use crate::error::Error;
use crate::table::{Column, DeclaredTable, Guid, Table, Value};

pub(super) fn tables(game: &Se2Archive) -> Vec<Box<dyn Table + '_>> {
    vec![definitions(game), assets(game)]
}

fn text(text: Option<&String>) -> Value<'_> {
    text.map_or(Value::Null, |text| Value::text(text))
}

/// GUIDs are texts in these tables, so that SQL finds rows by them at once.
fn guid(guid: Guid) -> Value<'static> {
    Value::owned(guid.to_string())
}

/// The GUID that a key is, in the form that cells have.
fn key_of(key: &Value<'_>) -> Option<Guid> {
    let text = key.as_text()?;
    Guid::parse(&text).filter(|guid| *text == guid.to_string())
}

pub(super) fn definitions(game: &Se2Archive) -> Box<dyn Table + '_> {
    let table = DeclaredTable::new("definitions", || Ok(game.definitions().len()), |n| Ok(game.definitions().get(n)))
        .column(Column::text("guid").brief().key(), |found| Ok(guid(found.guid)))
        .found_by(|key| {
            let found = key_of(key).and_then(|guid| game.gathered().position(guid));
            Some(Ok(found.into_iter().collect()))
        })
        .column(Column::text("type").brief(), |found| Ok(text(found.ty.as_ref())))
        .column(Column::text("name").brief(), |found| Ok(text(found.name.as_ref())))
        .label()
        .column(Column::text("file").brief(), |found| Ok(text(found.file.as_ref())))
        .column(Column::text("parent_guid"), |found| Ok(found.parent.map_or(Value::Null, guid)))
        .column(Column::bool("abstract"), |found| Ok(found.is_abstract.into()))
        .column(Column::uint("flags"), |found| Ok(found.flags.into()))
        .column(Column::uint("partial_kind"), |found| Ok(found.partial_kind.into()))
        // The number of rows is known once the definitions were gathered.
        .known(|| game.definitions.get().map(|gathered| gathered.definitions.len()))
        .damaged(|| hidden(game, |_| true));
    Box::new(table.random_access())
}

/// The errors of folders, and the `wanted` errors of files that hold definitions, as one error.
fn hidden(game: &Se2Archive, wanted: impl Fn(&Error) -> bool) -> Option<Error> {
    let files = game.gathered().failed.iter().filter(|error| wanted(error)).cloned();
    as_one(&game.damage().into_iter().chain(files).collect::<Vec<_>>())
}

fn assets(game: &Se2Archive) -> Box<dyn Table + '_> {
    let table = DeclaredTable::new("assets", || Ok(game.assets().len()), |n| Ok(game.assets().get(n)))
        .column(Column::text("guid").brief().key(), |asset| Ok(guid(asset.guid)))
        .column(Column::text("path").brief(), |asset| Ok(Value::text(&asset.path)))
        .label()
        .column(Column::bool("installed"), |asset| Ok(game.find(&asset.path)?.is_some().into()))
        .known(|| game.definitions.get().map(|gathered| gathered.assets.len()))
        .damaged(|| hidden(game, |error| error.part().starts_with(CACHE)));
    Box::new(table.random_access())
}
