//! Tables beside the ones of every archive: `definitions` and `assets`.

use super::Se2Archive;
use super::definitions::CACHE;
use super::parts::guid_of;
use crate::archive::{Archive as _, as_one};
use crate::error::Error;
use crate::table::{Column, DeclaredTable, Kind, Table, Value};

pub(super) fn tables(game: &Se2Archive) -> Vec<Box<dyn Table + '_>> {
    vec![definitions(game), assets(game)]
}

fn text(text: Option<&String>) -> Value<'_> {
    text.map_or(Value::Null, |text| Value::text(text))
}

fn guid(name: &'static str) -> Column {
    Column::new(name, Kind::Guid)
}

pub(super) fn definitions(game: &Se2Archive) -> Box<dyn Table + '_> {
    let table = DeclaredTable::new("definitions", || Ok(game.definitions().len()), |n| Ok(game.definitions().get(n)))
        .column(guid("guid").brief().key(), |found| Ok(Value::Guid(found.guid)))
        .found_by(|key| {
            let found = guid_of(key).and_then(|guid| game.gathered().position(guid));
            Some(Ok(found.into_iter().collect()))
        })
        .column(Column::text("type").brief(), |found| Ok(text(found.ty.as_ref())))
        .column(Column::text("name").brief(), |found| Ok(text(found.name.as_ref())))
        .label()
        .column(Column::text("file").brief(), |found| Ok(text(found.file.as_ref())))
        .column(guid("parent_guid").reference(), |found| Ok(found.parent.map_or(Value::Null, Value::Guid)))
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
        .column(guid("guid").brief().key(), |asset| Ok(Value::Guid(asset.guid)))
        .column(Column::text("path").brief(), |asset| Ok(Value::text(&asset.path)))
        .label()
        .column(Column::bool("installed"), |asset| Ok(game.find(&game.in_content(&asset.path))?.is_some().into()))
        .known(|| game.definitions.get().map(|gathered| gathered.assets.len()))
        .damaged(|| hidden(game, |error| error.part().starts_with(CACHE)));
    Box::new(table.random_access())
}
