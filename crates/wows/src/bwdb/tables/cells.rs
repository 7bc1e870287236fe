//! The columns of declared fields, and their cells.

use crate::budget::Budget;
use crate::bwdb::record::{FieldInfo, FieldType, Form, Leaf, PathId, Type, field_value};
use crate::bwdb::{NameLookup, built_in};
use crate::bytes::View;
use crate::error::Result;
use crate::table::{Accepts, Column, Kind, Role, Value};
use std::borrow::Cow;

/// A column made of a declared field, or of one half of a reference.
#[derive(Clone, Copy)]
pub(super) struct FieldColumn {
    pub(super) field: usize,
    pub(super) half: Half,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Half {
    Whole,
    Id,
    Text,
}

/// The columns of a field: their names, their kinds, and what they show.
fn halves(info: &FieldInfo) -> impl Iterator<Item = (Cow<'static, str>, Kind, Half)> {
    let name: Cow<'static, str> = info.name.into();
    let (first, text) = match info.shown() {
        Kind::Id32 => ((format!("{name}_id").into(), Kind::Id32, Half::Id), Some(name)),
        Kind::Id64 => ((format!("{name}_id").into(), Kind::Id64, Half::Id), Some(format!("{name}_path").into())),
        kind => ((name, kind, Half::Whole), None),
    };
    std::iter::once(first).chain(text.map(|text| (text, Kind::Text, Half::Text)))
}

/// The columns of a struct's fields, except fields that another table or column contains.
pub(super) fn field_columns(of: &'static Type) -> (Vec<Column>, Vec<FieldColumn>) {
    let mut columns = Vec::new();
    let mut sources = Vec::new();
    for (field, info) in of.fields().iter().enumerate().filter(|(_, field)| field.told_in.is_none()) {
        for (name, kind, half) in halves(info) {
            let role = match half {
                Half::Id if kind == Kind::Id64 => Role::Reference,
                Half::Text => Role::Resolved,
                Half::Id | Half::Whole => Role::Value,
            };
            let brief = half == Half::Text || (half == Half::Whole && kind != Kind::Nested && columns.len() < 8);
            let accepts = accepts(of, field, half);
            let shape = (kind == Kind::Nested).then(|| built_in::shape(info)).flatten();
            columns.push(Column { name, kind, brief, role, accepts, shape, ..Column::new("", Kind::Any) });
            sources.push(FieldColumn { field, half });
        }
    }
    (columns, sources)
}

/// The number of the field whose bytes the column `name` of a struct shows.
pub(in crate::bwdb) fn field_of(of: &'static Type, name: &str) -> Option<usize> {
    let shown = of.fields().iter().position(|field| {
        field.told_in.is_none() && halves(field).any(|(column, _, half)| half != Half::Text && column == name)
    });
    // A table may show a field by a column of its own.
    shown.or_else(|| of.fields().iter().position(|field| field.told_in == Some(name) && field.is_inline()))
}

/// The values that may be written to the column of a field.
fn accepts(of: &Type, field: usize, half: Half) -> Accepts {
    let info = of.field(field);
    match (half, info.form, info.of.kind()) {
        // How many elements an array has follows from it.
        _ if of.is_count(field) => Accepts::Nothing,
        (Half::Text, _, FieldType::Name) => Accepts::Name,
        (Half::Text, ..) => Accepts::Path,
        (_, Form::Inline, FieldType::U8) => Accepts::Bits(8),
        (_, Form::Inline, FieldType::U16 | FieldType::I16) => Accepts::Bits(16),
        (_, Form::Inline, FieldType::U32 | FieldType::I32) => Accepts::Bits(32),
        (_, Form::Inline, FieldType::U64) => Accepts::Bits(64),
        (_, Form::Inline, kind) => kind.floats().map_or(Accepts::Any, Accepts::Numbers),
        _ => Accepts::Any,
    }
}

/// The cell of a column of the struct at `view`.
pub(super) fn cell_of<'a>(
    of: &'static Type,
    view: View<'a>,
    column: FieldColumn,
    names: &'a dyn NameLookup,
    budget: &Budget,
) -> Result<Value<'a>> {
    let info = of.field(column.field);
    let Some(leaf) = info.leaf(view) else { return field_value(of, view, column.field, names, budget) };
    Ok(match (column.half, leaf.map_err(|error| error.context(info.name))?) {
        (_, Leaf::Value(value)) => value,
        (_, Leaf::Text(text)) => Value::text(text),
        (Half::Text, Leaf::Name(id)) => names.name(id.0)?.map_or(Value::Null, Value::Text),
        (_, Leaf::Name(id)) => Value::Id32(id.0),
        (Half::Text, Leaf::Path(PathId(0))) => Value::Null,
        (Half::Text, Leaf::Path(id)) => names.path(id.0)?.map_or(Value::Null, Value::Text),
        (_, Leaf::Path(id)) => Value::Id64(id.0),
    })
}
