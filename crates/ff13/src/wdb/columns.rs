//! The columns of the records of a sheet.

use super::fields::{FieldKind, SheetField};
use crate::table::{Accepts, Column, Kind};
use std::collections::{HashMap, HashSet};

/// The columns of `records`: the record's name, then the fields. A name that is there already gets a number.
pub(super) fn record_columns(fields: &[SheetField]) -> Vec<Column> {
    let mut taken: HashSet<&str> = fields.iter().map(|field| &*field.name).collect();
    taken.insert("record");
    let mut seen: HashMap<&str, u64> = HashMap::from([("record", 1)]);
    let mut columns = vec![Column::new("record", Kind::Text).brief().key().unique().accepts(Accepts::Bytes(0x10))];
    columns.extend(fields.iter().enumerate().map(|(index, field)| {
        let times = seen.entry(&field.name).and_modify(|times| *times = times.saturating_add(1)).or_insert(1);
        let mut name = field.name.clone();
        while *times > 1 {
            name = format!("{}_{times}", field.name);
            if !taken.contains(&*name) {
                break;
            }
            *times = times.saturating_add(1);
        }
        let (kind, accepts) = match field.kind {
            FieldKind::Uint | FieldKind::Wide => (Kind::Uint, Accepts::Bits(field.bits)),
            FieldKind::Int => (Kind::Int, Accepts::Bits(field.bits)),
            FieldKind::Float => (Kind::F32, Accepts::Any),
            FieldKind::Text | FieldKind::ArrayText(_) => (Kind::Text, Accepts::Any),
            FieldKind::Raw => (Kind::Id32, Accepts::Any),
            FieldKind::Fault(_) => (Kind::Any, Accepts::Nothing),
        };
        let mut column = Column::named(name, kind).accepts(accepts);
        // Short listings show the first fields.
        column.brief = index < 8;
        if field.kind == FieldKind::Wide { column.wide() } else { column }
    }));
    columns
}
