//! The edits of a record, and of the records of a run.

use super::super::layout::Obb;
use super::super::shapes;
use super::super::tables::RecordTable;
use crate::compare::same_value;
use crate::error::Result;
use crate::table::Value;
use crate::writable::refused;
use std::collections::{BTreeMap, BTreeSet};

/// The edits of one record, or the values of an inserted one.
#[derive(Debug, Default)]
pub(super) struct RecordEdit {
    pub(super) name: Option<Value<'static>>,
    pub(super) obb: [Option<f32>; 13],
    pub(super) fields: BTreeMap<usize, Value<'static>>,
    /// Of the second record that a scene has.
    pub(super) element: BTreeMap<usize, Value<'static>>,
}

/// The edits of the records of one kind, by their numbers.
#[derive(Debug, Default)]
pub(super) struct RunEdit {
    pub(super) set: BTreeMap<usize, RecordEdit>,
    pub(super) remove: BTreeSet<usize>,
    pub(super) add: Vec<RecordEdit>,
}

/// A part of a record that a column shows.
pub(super) enum RecordPart {
    Name,
    Obb(usize),
    Field(usize),
    Element(usize),
}

impl RecordPart {
    pub(super) fn of(rows: RecordTable, name: &str) -> Option<Self> {
        let shape = rows.shape();
        if shape.placed && name == "name" {
            return Some(Self::Name);
        }
        if let Some(at) = Obb::NAMES.iter().position(|other| *other == name).filter(|_| shape.placed) {
            return Some(Self::Obb(at));
        }
        let own = shape.field(name).map(Self::Field);
        own.or_else(|| shapes::SCENE_ELEMENTS.field(name).filter(|_| rows == RecordTable::Scenes).map(Self::Element))
    }
}

impl RecordEdit {
    /// Notes a cell; two of one part must be the same.
    pub(super) fn put(&mut self, part: RecordPart, value: &Value<'static>, name: &str) -> Result<()> {
        let is_same = match (part, value) {
            (RecordPart::Obb(at), Value::F32(number)) => {
                let before = self.obb.get_mut(at).and_then(|slot| slot.replace(*number));
                before.is_none_or(|before| before.to_bits() == number.to_bits())
            }
            (RecordPart::Obb(_), _) => false,
            (RecordPart::Name, value) => is_none_or_same(self.name.replace(value.clone()), value),
            (RecordPart::Field(at), value) => is_none_or_same(self.fields.insert(at, value.clone()), value),
            (RecordPart::Element(at), value) => is_none_or_same(self.element.insert(at, value.clone()), value),
        };
        if is_same {
            return Ok(());
        }
        Err(refused(format!("column {name}: there are two edits of it, by two tables")))
    }
}

/// Whether there was no cell before, or the same one.
fn is_none_or_same(before: Option<Value<'static>>, now: &Value<'static>) -> bool {
    before.is_none_or(|before| same_value(&before, now))
}
