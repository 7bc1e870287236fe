//! The tables of an archive: `chunks`, `bundles`, `types`, `models` and `values`.

use super::shape::Shape;
use super::types::{Model, Parts, TypeDef, TypeId, TypeModel};
use super::values::Values;
use super::{Archive, Bundle, Chunk, ModelId};
use crate::error::Result;
use crate::lazy::Lazy;
use crate::table::{Column, IndexCursor, Kind, RowCursor, Table, Value, no_cell};
use std::borrow::Cow;
use std::sync::OnceLock;

/// The tables, the main one first.
pub(super) fn tables(archive: &Archive) -> Vec<Box<dyn Table + '_>> {
    vec![
        Box::new(Chunks::new(archive)),
        Box::new(Bundles::new(archive)),
        Box::new(Types::new(archive)),
        Box::new(Models::new(archive)),
        Box::new(Values::new(archive)),
    ]
}

/// `chunks`: the main chunk as `[Main]`, then those of the chunk table.
struct Chunks<'a> {
    archive: &'a Archive,
    columns: Vec<Column>,
    chunks: OnceLock<Vec<Chunk<'a>>>,
}

impl<'a> Chunks<'a> {
    fn new(archive: &'a Archive) -> Self {
        let columns = vec![
            Column::new("name", Kind::Text).brief().key(),
            Column::new("root_type", Kind::Text).brief(),
            Column::new("offset", Kind::Int).brief().place(),
            Column::new("stored_size", Kind::Int).brief(),
            Column::new("size", Kind::Int).brief(),
            Column::new("compression", Kind::Text).brief(),
            Column::new("checksum", Kind::Id64),
            Column::new("checksum_ok", Kind::Bool),
            Column::new("root_model", Kind::Id32).place(),
        ];
        Self { archive, columns, chunks: OnceLock::new() }
    }

    /// The chunks that can be listed.
    fn known(&self) -> &[Chunk<'a>] {
        self.chunks.get_or_init(|| self.archive.known_chunks().0)
    }
}

impl Table for Chunks<'_> {
    fn name(&self) -> &str {
        "chunks"
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        self.archive.known_chunks().1?;
        Ok(self.known().len())
    }

    fn cursor(&self, first: usize) -> Box<dyn RowCursor + '_> {
        // Those that can be listed, and then what keeps others from it.
        let fault = || self.archive.known_chunks().1.map(|()| false);
        Box::new(IndexCursor::new(self, first, move |row| if row < self.known().len() { Ok(true) } else { fault() }))
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        let chunk = self.known().get(row).ok_or_else(|| no_cell("chunks", row, column))?;
        let (part, file) = (chunk.part(), self.archive.source());
        let entry = part.entry();
        Ok(match column {
            0 => chunk.name().into(),
            1 => {
                let types = self.archive.types()?;
                types.type_name(types.type_of(chunk.root_model()?))?
            }
            2 => entry.offset.get().into(),
            3 => entry.entry_size.get().into(),
            4 => entry.uncompressed_size.get().into(),
            5 => Value::text(part.compression()?.name()),
            6 => Value::Id64(entry.checksum.get()),
            7 => (part.computed_checksum(file)? == entry.checksum.get()).into(),
            8 => id(chunk.root_index()),
            _ => return Err(no_cell("chunks", row, column)),
        })
    }
}

/// A stored index, which is negative only in damaged files.
fn id(stored: i32) -> Value<'static> {
    Value::Id32(u32::from_le_bytes(stored.to_le_bytes()))
}

/// `bundles`: the assemblies that the types come from.
struct Bundles<'a> {
    archive: &'a Archive,
    columns: Vec<Column>,
    bundles: Lazy<Vec<Bundle<'a>>>,
}

impl<'a> Bundles<'a> {
    fn new(archive: &'a Archive) -> Self {
        let columns = vec![Column::new("name", Kind::Text).brief().key(), Column::new("version", Kind::Text).brief()];
        Self { archive, columns, bundles: Lazy::default() }
    }
}

impl Table for Bundles<'_> {
    fn name(&self) -> &str {
        "bundles"
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        self.bundles.get_or_try_init(|| self.archive.bundles()).map(Vec::len)
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        let bundles = self.bundles.get_or_try_init(|| self.archive.bundles())?;
        let bundle = bundles.get(row).ok_or_else(|| no_cell("bundles", row, column))?;
        match column {
            0 => Ok(bundle.name.into()),
            1 => {
                let [major, minor, build, revision] = bundle.version;
                Ok(Value::owned(format!("{major}.{minor}.{build}.{revision}")))
            }
            _ => Err(no_cell("bundles", row, column)),
        }
    }
}

/// `types`: by number, from 0x200 on.
struct Types<'a> {
    archive: &'a Archive,
    columns: Vec<Column>,
}

impl<'a> Types<'a> {
    fn new(archive: &'a Archive) -> Self {
        let columns = vec![
            Column::new("id", Kind::Id32).brief().place(),
            Column::new("kind", Kind::Text).brief(),
            Column::new("name", Kind::Text).brief().key(),
        ];
        Self { archive, columns }
    }
}

/// The number of the type or model at `row`.
fn number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX).saturating_add(0x200)
}

impl Table for Types<'_> {
    fn name(&self) -> &str {
        "types"
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        Ok(self.archive.types()?.types().len())
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        let types = self.archive.types()?;
        let def = types.types().get(row).ok_or_else(|| no_cell("types", row, column))?;
        match column {
            0 => Ok(Value::Id32(number(row))),
            1 => Ok(Value::text(match def {
                TypeDef::Named { kind: 0, .. } => "class",
                TypeDef::Named { kind: 1, .. } => "struct",
                TypeDef::Named { .. } => "interface",
                TypeDef::Generic { .. } => "generic",
                TypeDef::Array { .. } => "array",
            })),
            2 => types.type_name(TypeId(number(row))),
            _ => Err(no_cell("types", row, column)),
        }
    }

    fn label(&self) -> usize {
        2
    }
}

/// `models`: how values are stored, by number, from 0x200 on.
struct Models<'a> {
    archive: &'a Archive,
    columns: Vec<Column>,
}

impl<'a> Models<'a> {
    fn new(archive: &'a Archive) -> Self {
        let columns = vec![
            Column::new("id", Kind::Id32).brief().place(),
            Column::new("kind", Kind::Text).brief().key(),
            Column::new("type", Kind::Text).brief().key(),
            Column::new("flags", Kind::Uint),
            Column::new("size", Kind::Uint),
            Column::new("parts", Kind::Nested),
        ];
        Self { archive, columns }
    }
}

impl Table for Models<'_> {
    fn name(&self) -> &str {
        "models"
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        Ok(self.archive.types()?.models().len())
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        let types = self.archive.types()?;
        let model = types.models().get(row).ok_or_else(|| no_cell("models", row, column))?;
        let has_flags = matches!(model.tag, b'C' | b'T');
        match column {
            0 => Ok(Value::Id32(number(row))),
            1 => Ok(Value::text(kind(model))),
            2 => types.type_name(model.ty),
            3 => Ok(has_flags.then_some(model.flags).into()),
            4 => Ok(model.size.into()),
            5 => parts(model, types),
            _ => Err(no_cell("models", row, column)),
        }
    }

    fn label(&self) -> usize {
        2
    }
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

/// What a model is made of: the names of its members with their types, or the types by role.
fn parts<'a>(model: &Model, types: &'a TypeModel) -> Result<Value<'a>> {
    let name = |id: ModelId| types.type_name(types.type_of(id));
    let named: Vec<(Cow<'a, str>, Value<'a>)> = match model.parts {
        Parts::Members(from, to) => types
            .members(from, to)
            .iter()
            .map(|m| Ok((Cow::Borrowed(types.member_name(m)), name(m.model)?)))
            .collect::<Result<_>>()?,
        Parts::Pair(key, value) => vec![("key".into(), name(key)?), ("value".into(), name(value)?)],
        Parts::One(element) => {
            let role = if model.tag == b'L' { "element" } else { "target" };
            vec![(role.into(), if element.0 == 0 { Value::Null } else { name(element)? })]
        }
    };
    Ok(Value::Map(named))
}
