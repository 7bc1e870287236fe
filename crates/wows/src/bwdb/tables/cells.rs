//! The columns of declared fields, and their cells.

use crate::budget::Budget;
use crate::bwdb::record::{
    FieldColumns, FieldInfo, FieldType, Form, Ids, Leaf, PathId, Prototype, Walker, field_value, single_leaf,
};
use crate::bwdb::{NameLookup, built_in};
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

/// The columns of a struct's fields, except fields that another table or column contains.
pub(super) fn field_columns(fields: &'static [FieldInfo]) -> (Vec<Column>, Vec<FieldColumn>) {
    let mut columns = Vec::new();
    let mut sources = Vec::new();
    for (field, info) in fields.iter().enumerate().filter(|(_, field)| field.told_in.is_none()) {
        let name: Cow<'static, str> = info.name.into();
        let (first, second) = match info.shown {
            FieldColumns::Plain(kind) => ((name, kind, Half::Whole), None),
            FieldColumns::Name => {
                ((format!("{name}_id").into(), Kind::Id32, Half::Id), Some((name, Kind::Text, Half::Text)))
            }
            FieldColumns::Path => {
                let text = format!("{name}_path").into();
                ((format!("{name}_id").into(), Kind::Id64, Half::Id), Some((text, Kind::Text, Half::Text)))
            }
        };
        for (name, kind, half) in std::iter::once(first).chain(second) {
            let role = match half {
                Half::Id if kind == Kind::Id64 => Role::Reference,
                Half::Text => Role::Resolved,
                Half::Id | Half::Whole => Role::Value,
            };
            let brief = half == Half::Text || (half == Half::Whole && kind != Kind::Nested && columns.len() < 8);
            let accepts = accepts(fields, info, half);
            let shape = (kind == Kind::Nested).then(|| built_in::shape(fields, info)).flatten();
            columns.push(Column { name, kind, brief, role, accepts, shape, ..Column::new("", Kind::Any) });
            sources.push(FieldColumn { field, half });
        }
    }
    (columns, sources)
}

/// The values that may be written to the column of a field.
pub(super) fn accepts(fields: &[FieldInfo], info: &FieldInfo, half: Half) -> Accepts {
    let is_count = fields.iter().any(|field| matches!(field.form, Form::Array { count } if count == info.name));
    match (half, info.form, info.of) {
        // How many elements an array has follows from it.
        _ if is_count => Accepts::Nothing,
        (Half::Text, _, FieldType::Name) => Accepts::Name,
        (Half::Text, ..) => Accepts::Path,
        (_, Form::Inline, FieldType::U8) => Accepts::Bits(8),
        (_, Form::Inline, FieldType::U16 | FieldType::I16) => Accepts::Bits(16),
        (_, Form::Inline, FieldType::U32 | FieldType::I32) => Accepts::Bits(32),
        (_, Form::Inline, FieldType::U64) => Accepts::Bits(64),
        (_, Form::Inline, of) => of.floats().map_or(Accepts::Any, Accepts::Numbers),
        _ => Accepts::Any,
    }
}

pub(super) fn field_cell<'a, T: Prototype<'a>>(
    record: &T,
    column: FieldColumn,
    names: &'a dyn NameLookup,
    budget: &Budget,
) -> Result<Value<'a>> {
    cell_of(|field, walker| record.walk_field(field, walker), column, names, budget)
}

/// The cell of a column; `walk` shows a field of its row to a walker.
pub(super) fn cell_of<'a>(
    walk: impl Fn(usize, &mut dyn Walker<'a>),
    column: FieldColumn,
    names: &'a dyn NameLookup,
    budget: &Budget,
) -> Result<Value<'a>> {
    let leaf = match single_leaf(&walk, column.field)? {
        Some(leaf) => leaf,
        // A path id of 0 refers to nothing.
        None if column.half == Half::Id => return Ok(Value::Id64(0)),
        None => return field_value(&walk, column.field, names, budget),
    };
    match (column.half, leaf) {
        (_, Leaf::Value(value)) => Ok(value),
        (Half::Whole, _) => field_value(&walk, column.field, names, budget),
        (Half::Id, Leaf::Name(id)) => Ok(Value::Id32(id.0)),
        (Half::Text, Leaf::Name(id)) => Ok(names.name(id)?.map_or(Value::Null, Value::Text)),
        (Half::Id, Leaf::Path(id)) => Ok(Value::Id64(id.0)),
        (Half::Text, Leaf::Path(PathId(0))) => Ok(Value::Null),
        (Half::Text, Leaf::Path(id)) => Ok(names.path(id)?.map_or(Value::Null, Value::Text)),
    }
}

/// Appends the ids in the fields of a struct.
pub(super) fn ids_of<'a, P: Prototype<'a>>(of: &P, ids: &mut Ids) {
    let fields = P::FIELDS.iter().enumerate().filter(|(_, field)| field.texts.any());
    fields.for_each(|(field, _)| of.walk_field(field, ids));
}

/// Whether a walk over its field meets the texts of a column.
pub(super) const fn may_be_searched(shown: FieldColumns) -> bool {
    matches!(shown, FieldColumns::Plain(Kind::Nested | Kind::Text))
}
