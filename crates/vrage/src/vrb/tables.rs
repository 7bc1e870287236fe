//! The tables of an archive: `chunks`, `bundles`, `types`, `models` and `values`.

use super::shape::Shape;
use super::types::{Model, ModelId, Parts, TypeDef, TypeId, TypeModel};
use super::values::Values;
use super::{Bundle, VrbArchive};
use crate::error::Result;
use crate::lazy::Lazy;
use crate::table::{Column, DeclaredTable, Table, Value};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

/// The tables, the main one first.
pub(super) fn tables(archive: &VrbArchive) -> Vec<Box<dyn Table + '_>> {
    vec![chunks(archive), bundles(archive), types(archive), models(archive), Box::new(Values::new(archive))]
}

/// `chunks`: the main chunk as `[Main]`, then the chunks of the chunk table.
fn chunks(archive: &VrbArchive) -> Box<dyn Table + '_> {
    // The listable chunks. The error of the first other chunk follows them.
    let known = Arc::new(LazyLock::new(|| archive.known_chunks().0));
    let of_count = Arc::clone(&known);
    let table = DeclaredTable::new("chunks", move || Ok(of_count.len()), move |row| Ok(known.get(row).cloned()))
        .column(Column::text("name").brief().key(), |chunk| Ok(chunk.name().into()))
        .column(Column::text("root_type").brief(), |chunk| archive.types()?.model_name(chunk.root_model()?))
        .column(Column::int("offset").brief().place(), |chunk| Ok(chunk.part().entry().offset.get().into()))
        .column(Column::int("stored_size").brief(), |chunk| Ok(chunk.part().entry().entry_size.get().into()))
        .column(Column::int("size").brief(), |chunk| Ok(chunk.part().entry().uncompressed_size.get().into()))
        .column(Column::text("compression").brief(), |chunk| Ok(Value::text(chunk.part().compression()?.name())))
        .column(Column::id64("checksum"), |chunk| Ok(Value::Id64(chunk.part().entry().checksum.get())))
        .column(Column::bool("checksum_ok"), |chunk| {
            chunk.check_alone()?;
            let part = chunk.part();
            Ok((part.computed_checksum(archive.source())? == part.entry().checksum.get()).into())
        })
        .column(Column::id32("root_model").place(), |chunk| {
            // An index, which is negative only in damaged files.
            Ok(Value::Id32(u32::from_le_bytes(chunk.chunk.root.to_le_bytes())))
        })
        .damaged(|| archive.known_chunks().1.err());
    Box::new(table)
}

/// `bundles`: the assemblies of the types.
fn bundles(archive: &VrbArchive) -> Box<dyn Table + '_> {
    let bundles = Arc::new(Lazy::<Vec<Bundle<'_>>>::default());
    let of_count = Arc::clone(&bundles);
    let table = DeclaredTable::new(
        "bundles",
        move || of_count.get_or_try_init(|| archive.bundles()).map(Vec::len),
        move |row| Ok(bundles.get_or_try_init(|| archive.bundles())?.get(row).copied()),
    )
    .column(Column::text("name").brief().key(), |bundle: &Bundle<'_>| Ok(bundle.name.into()))
    .column(Column::text("version").brief(), |bundle| {
        let [major, minor, build, revision] = bundle.version;
        Ok(Value::owned(format!("{major}.{minor}.{build}.{revision}")))
    });
    Box::new(table)
}

/// `types`: by number, from 0x200 on.
fn types(archive: &VrbArchive) -> Box<dyn Table + '_> {
    let table = DeclaredTable::new(
        "types",
        || Ok(archive.types()?.types().len()),
        |row| Ok(archive.types()?.types().get(row).map(|def| (TypeId::at(row), def))),
    )
    .column(Column::id32("id").brief().place(), |(id, _)| Ok(Value::Id32(id.0)))
    .column(Column::text("kind").brief(), |(_, def)| {
        Ok(Value::text(match def {
            TypeDef::Named { kind: 0, .. } => "class",
            TypeDef::Named { kind: 1, .. } => "struct",
            TypeDef::Named { .. } => "interface",
            TypeDef::Generic { .. } => "generic",
            TypeDef::Array { .. } => "array",
        }))
    })
    .column(Column::text("name").brief().key(), |(id, _)| archive.types()?.type_name(*id))
    .label();
    Box::new(table)
}

/// `models`: how values are stored, by number, from 0x200 on.
fn models(archive: &VrbArchive) -> Box<dyn Table + '_> {
    let table = DeclaredTable::new(
        "models",
        || Ok(archive.types()?.models().len()),
        |row| Ok(archive.types()?.models().get(row).map(|model| (ModelId::at(row), model))),
    )
    .column(Column::id32("id").brief().place(), |(id, _)| Ok(Value::Id32(id.0)))
    .column(Column::text("kind").brief().key(), |(_, model)| Ok(Value::text(kind(model))))
    .column(Column::text("type").brief().key(), |(_, model)| archive.types()?.type_name(model.ty))
    .label()
    .column(Column::uint("flags"), |(_, model)| Ok(matches!(model.tag, b'C' | b'T').then_some(model.flags).into()))
    .column(Column::uint("size"), |(_, model)| Ok(model.size.into()))
    .column(Column::nested("parts"), |(_, model)| parts(model, archive.types()?))
    .derived();
    Box::new(table)
}

fn kind(model: &Model) -> &'static str {
    match (model.tag, model.shape) {
        (b'D', _) => "dictionary",
        (b'L', _) => "list",
        (b'T', Shape::Enum(_)) => "enum",
        (b'T', _) => "proxy",
        (_, Shape::Image { .. }) => "image",
        _ if model.flags & 0x04 != 0 => "struct",
        _ => "class",
    }
}

/// The parts of a model: the names of its members with their types, or the types by role.
fn parts<'a>(model: &Model, types: &'a TypeModel) -> Result<Value<'a>> {
    let named: Vec<(Cow<'a, str>, Value<'a>)> = match model.parts {
        Parts::Members(from, to) => types
            .members(from, to)
            .iter()
            .map(|m| Ok((Cow::Borrowed(types.member_name(m)), types.model_name(m.model)?)))
            .collect::<Result<_>>()?,
        Parts::Pair(key, value) => {
            vec![("key".into(), types.model_name(key)?), ("value".into(), types.model_name(value)?)]
        }
        Parts::One(element) => {
            let role = if model.tag == b'L' { "element" } else { "target" };
            vec![(role.into(), if element.0 == 0 { Value::Null } else { types.model_name(element)? })]
        }
    };
    Ok(Value::Map(named))
}
