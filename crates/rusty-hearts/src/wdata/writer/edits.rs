//! The edits of a record, and of the records of a run.

use super::super::Section;
use super::super::shapes;
use super::super::tables::RecordTable;
use crate::compare::same_value;
use crate::error::Result;
use crate::table::{Table, Value, no_cell};
use crate::writable::{ColumnValues, refused};
use std::collections::{BTreeMap, BTreeSet};

/// The values of fields, by their numbers.
pub(super) type FieldValues = BTreeMap<usize, Value<'static>>;

/// The edits of one record, or the values of an inserted one.
#[derive(Debug, Default)]
pub(super) struct RecordEdit {
    pub(super) fields: FieldValues,
    /// Of the second record that a scene has.
    pub(super) element: FieldValues,
}

/// The edits of the records of one kind, by their numbers.
#[derive(Debug, Default)]
pub(super) struct RunEdit {
    pub(super) set: BTreeMap<usize, RecordEdit>,
    pub(super) remove: BTreeSet<usize>,
    pub(super) add: Vec<RecordEdit>,
}

impl RecordEdit {
    /// Notes the cells of a row; two cells of one field must be the same.
    pub(super) fn put_all(&mut self, rows: RecordTable, table: &dyn Table, set: &ColumnValues) -> Result<()> {
        for (at, value) in set {
            let name = &*table.columns().get(*at).ok_or_else(|| no_cell(table.name(), 0, *at))?.name;
            let element = shapes::SCENE_ELEMENTS.field(name).filter(|_| rows == RecordTable::Section(Section::Scenes));
            let before = match (rows.shape().field(name), element) {
                (Some(field), _) => self.fields.insert(field, value.clone()),
                (None, Some(field)) => self.element.insert(field, value.clone()),
                (None, None) => return Err(refused(format!("column {name} is not written"))),
            };
            if before.is_some_and(|before| !same_value(&before, value)) {
                return Err(refused(format!("column {name}: there are two edits of it, by two tables")));
            }
        }
        Ok(())
    }
}
