//! The columns of declared fields, and their cells.

use crate::budget::Budget;
use crate::bwdb::record::{FieldInfo, Form, Leaf, PathId, Type, TypeKind, field_value};
use crate::bwdb::{NameLookup, built_in};
use crate::bytes::View;
use crate::error::Result;
use crate::table::{Accepts, Column, Kind, Role, Value};
use std::borrow::Cow;

/// A field of a row's struct, or of a struct in it at an offset.
#[derive(Clone, Copy)]
pub(in crate::bwdb) struct FieldPlace {
    pub(in crate::bwdb) at: usize,
    pub(in crate::bwdb) of: &'static Type,
    pub(in crate::bwdb) field: usize,
}

impl FieldPlace {
    pub(in crate::bwdb) fn info(self) -> &'static FieldInfo {
        self.of.field(self.field)
    }

    fn within(self, outer: &FieldInfo) -> Self {
        Self { at: self.at.saturating_add(outer.at), ..self }
    }
}

/// A column made of a declared field, or of one half of a reference.
#[derive(Clone, Copy)]
pub(super) struct FieldColumn {
    pub(super) place: FieldPlace,
    half: Half,
}

#[derive(Clone, Copy, PartialEq)]
enum Half {
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

/// Whether a row of a built-in struct shows the fields of a struct in it, which is one that tables show elsewhere by itself.
fn is_spread(of: &Type, field: &FieldInfo) -> bool {
    !of.is_declared && field.is_inline() && field.of.table.is_some()
}

/// The columns of a struct's fields, except fields that another table or column contains.
pub(super) fn field_columns(of: &'static Type) -> (Vec<Column>, Vec<FieldColumn>) {
    let mut columns = Vec::new();
    let mut sources = Vec::new();
    for (field, info) in of.fields().iter().enumerate().filter(|(_, field)| field.told_in.is_none()) {
        if is_spread(of, info) {
            let (inner, places) = field_columns(info.of);
            columns.extend(inner);
            sources.extend(places.into_iter().map(|inner| FieldColumn { place: inner.place.within(info), ..inner }));
            continue;
        }
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
            sources.push(FieldColumn { place: FieldPlace { at: 0, of, field }, half });
        }
    }
    (columns, sources)
}

/// The field whose bytes the column `name` of a struct shows.
pub(in crate::bwdb) fn field_of(of: &'static Type, name: &str) -> Option<FieldPlace> {
    let mut fields = of.fields().iter().enumerate();
    let shown = fields.clone().filter(|(_, info)| info.told_in.is_none()).find_map(|(field, info)| {
        if is_spread(of, info) {
            return field_of(info.of, name).map(|found| found.within(info));
        }
        let is_its = halves(info).any(|(column, _, half)| half != Half::Text && column == name);
        is_its.then_some(FieldPlace { at: 0, of, field })
    });
    // A table may show a field by a column of its own.
    let own = fields.find(|(_, info)| info.told_in == Some(name) && info.is_inline());
    shown.or_else(|| own.map(|(field, _)| FieldPlace { at: 0, of, field }))
}

/// The values that may be written to the column of a field.
fn accepts(of: &Type, field: usize, half: Half) -> Accepts {
    let info = of.field(field);
    match (half, info.form, info.of.kind()) {
        // How many elements an array has follows from it.
        _ if of.is_count(field) => Accepts::Nothing,
        (Half::Text, _, TypeKind::Name) => Accepts::Name,
        (Half::Text, ..) => Accepts::Path,
        (_, Form::Inline, kind) => match kind.floats() {
            Some(numbers) => Accepts::Numbers(numbers),
            None if kind.integers().is_some() => {
                Accepts::Bits(u8::try_from(info.of.size.saturating_mul(8)).expect("numbers have 64 bits at most"))
            }
            None => Accepts::Any,
        },
        _ => Accepts::Any,
    }
}

/// The cell of a column of the struct at `view`.
pub(super) fn cell_of<'a>(
    view: View<'a>,
    column: FieldColumn,
    names: &'a dyn NameLookup,
    budget: &Budget,
) -> Result<Value<'a>> {
    let FieldPlace { at, of, field } = column.place;
    let (view, info) = (view.skip(at), of.field(field));
    let Some(leaf) = info.leaf(view) else { return field_value(of, view, field, names, budget) };
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
