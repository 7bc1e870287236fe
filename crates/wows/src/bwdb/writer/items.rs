//! Lists of records with inserted and deleted rows.

use super::super::record::{Type, TypeKind};
use super::super::row_targets::{ArrayRef, RowTarget};
use super::super::tables::field_of;
use super::area::{ArrayField, EditedPosition, To};
use super::entry::{wanted, without_counts};
use super::job::{Job, Listed, Wrong, column_name, rearranges, table};
use super::{nodes, properties};
use crate::error::Result;
use crate::reader::Reader;
use crate::table::{Column, Table, Value};
use crate::writable::{ColumnValues, EditPosition, Item, ListEdit, Lists, TableEdits, refused};
use std::borrow::Cow;
use std::collections::BTreeMap;

impl<'a> Job<'_, 'a> {
    /// Writes a list of the record at `place`, completely or not at all.
    pub fn list(&mut self, place: EditedPosition<'a>, list: &ListEdit) -> Result<()> {
        let mark = self.out.patches.mark();
        let edits = self.edits;
        self.out.what = edits.table.clone();
        let items = list.order(&edits.table).map_err(|(at, error)| Wrong::new(at, error));
        let written = items.and_then(|items| {
            let listed = Listed { list, items: &items };
            match self.rows {
                RowTarget::Elements(array) => self.elements(place.skip(array.at), array, listed),
                RowTarget::Properties => self.properties(place, listed),
                RowTarget::Nodes { at } => self.nodes(place.skip(at), listed),
                RowTarget::Records(_) => {
                    Err(refused(format!("rows of {} can neither be added nor removed", edits.table)).into())
                }
            }
        });
        let Err(Wrong { at, error }) = written else { return Ok(()) };
        self.back_to(mark);
        if let Some(at @ EditPosition::Set(_)) = at {
            return (self.refuse)(at, error);
        }
        // Without one of them, others would get other numbers than requested.
        let mut refused: Vec<EditPosition> = list.moving().collect();
        if refused.is_empty() {
            let set = list.set.values().filter_map(|place| edits.set.get(*place));
            refused.extend(set.map(|(row, _)| EditPosition::Set(*row)));
        }
        refused.into_iter().try_for_each(|at| (self.refuse)(at, error.clone()))
    }

    /// Writes a list that is one array of structs.
    fn elements(
        &mut self,
        owner: EditedPosition<'a>,
        array: ArrayRef,
        Listed { list, items }: Listed<'_>,
    ) -> Result<(), Wrong> {
        let element = array.element();
        let ArrayField { at, count, elements: old } = self.out.array(owner, array.of, array.field)?;
        if array.of.counted_by(count).count() > 1 {
            let what = "other lists have as many elements: --entry writes all of them at once";
            return Err(self.out.refuse(what).into());
        }
        let stays = items.iter().enumerate().all(|(at, item)| *item == Item::Kept(at));
        let to = if !stays {
            let kept = items.iter().map(|item| if let Item::Kept(old) = item { Some(*old) } else { None });
            let to = self.out.arranged(old, kept)?;
            self.out.point(owner.to, at, to)?;
            to
        } else if list.set.is_empty() {
            To::Old(old.view.position())
        } else {
            self.out.own(owner, at, old)?.to
        };
        if items.len() != old.len {
            self.out.put_count(owner.to, array.of, count, items.len())?;
        }
        for (number, item) in items.iter().enumerate() {
            let to = to.skip(number.saturating_mul(element.size));
            match item {
                Item::New(place) => {
                    self.out.what = format!("{}: the row that comes at index {number}", self.table.name());
                    let new = members(self.table, element, self.edits.add.get(*place).map_or(&[][..], |set| set));
                    let place_of = EditedPosition::new(to);
                    let written = new.and_then(|new| self.out.set_value(place_of, element, None, &Value::Map(new)));
                    written.map_err(|error| Wrong::new(EditPosition::Add(*place), error))?;
                }
                Item::Kept(number) => {
                    let Some((row, cells)) = self.edited(list, *number) else { continue };
                    let place = EditedPosition { view: old.view.skip(number.saturating_mul(element.size)), to };
                    let written = self.fields(place, element, *row, cells);
                    written.map_err(|error| Wrong::new(EditPosition::Set(*row), error))?;
                }
            }
        }
        Ok(())
    }
}

/// The members of a struct that is inserted as a row with these cells.
fn members(
    table: &dyn Table,
    of: &'static Type,
    cells: &[(usize, Value<'static>)],
) -> Result<Vec<(Cow<'static, str>, Value<'static>)>> {
    let mut members: Vec<(Cow<'static, str>, Value<'static>)> = Vec::new();
    // The columns before the item's number identify its list and position.
    for (at, value) in cells.iter().filter(|(at, _)| table.nature().item().is_some_and(|item| *at > item)) {
        let column = column_name(table, *at);
        let field = field_of(of, column).map(|field| field.info());
        let field = field.ok_or_else(|| refused(format!("{}: column {column} is not written", table.name())))?;
        members.push((field.name.into(), value.clone()));
    }
    let mut missing = Vec::new();
    for (number, field) in of.fields().iter().enumerate() {
        if of.is_count(number) || members.iter().any(|(name, _)| name == field.name) {
            continue;
        }
        if field.of.kind() == TypeKind::Text && field.is_inline() {
            // No text is an empty one.
            members.push((field.name.into(), Value::Null));
            continue;
        }
        let is_shown = |column: &&Column| field_of(of, &column.name).is_some_and(|place| place.field == number);
        let shown = table.columns().iter().find(is_shown);
        missing.push(shown.map_or(field.name, |column| &*column.name));
    }
    if missing.is_empty() {
        return Ok(members);
    }
    Err(refused(format!(
        "{}: an inserted row needs all columns; these are missing: {}",
        table.name(),
        missing.join(", ")
    )))
}

/// Removes the numbers of elements from the edited nested values of a table with a column for each field of `of`: they follow from
/// the lists.
pub(super) fn drop_counts(table: &dyn Table, of: &'static Type, edits: &mut TableEdits) -> Result<()> {
    for (row, cells) in &mut edits.set {
        for (at, value) in cells {
            if let Some(field) = field_of(of, column_name(table, *at))
                && matches!(value, Value::List(_) | Value::Map(_))
            {
                without_counts(field.info().of, &table.value(*row, *at)?, value);
            }
        }
    }
    Ok(())
}

/// As [`Writable::settle`](crate::writable::Writable::settle). `of` gives the rows of a table of lists, and the table whose rows have
/// these lists.
pub(super) fn settle(
    reader: &dyn Reader,
    edits: &mut [TableEdits],
    of: impl Fn(&str) -> Option<(RowTarget, &'static str)>,
) -> Result<()> {
    let mut owners: BTreeMap<&'static str, Vec<usize>> = BTreeMap::new();
    for edit in edits.iter_mut() {
        let Some((rows, owner)) = of(&edit.table) else { continue };
        let table = table(reader, &edit.table)?;
        match rows {
            RowTarget::Records(of) => drop_counts(&*table, of, edit)?,
            RowTarget::Elements(array) => drop_counts(&*table, array.element(), edit)?,
            RowTarget::Properties | RowTarget::Nodes { .. } => {}
        }
        let lists = Lists::new(&*table, edit, |set| rearranges(rows, &*table, set))?;
        lists.note_moved(edit);
        owners.entry(owner).or_default().extend(lists.0.keys());
        match rows {
            RowTarget::Properties => edit.add.iter_mut().try_for_each(|set| properties::settle(&*table, set))?,
            RowTarget::Nodes { .. } => nodes::settle(&*table, &lists, edit)?,
            RowTarget::Records(_) | RowTarget::Elements(_) => {}
        }
        let RowTarget::Elements(array) = rows else { continue };
        let of = array.element();
        for (at, value) in edit.add.iter_mut().flatten() {
            if let Some(field) = field_of(of, column_name(&*table, *at))
                && matches!(value, Value::List(_) | Value::Map(_))
            {
                *value = wanted(field.info().of, &Value::Null, value);
            }
        }
    }
    // How many elements they have changes in rows that are not edited.
    for (owner, rows) in owners {
        let Some(edit) = edits.iter_mut().find(|edit| edit.table == owner) else { continue };
        // These edits contain all contents of inserted and deleted items.
        let there = table(reader, owner)?.len()?;
        let rows: Vec<usize> =
            rows.into_iter().filter(|row| *row < there && edit.remove.binary_search(row).is_err()).collect();
        let mut set: BTreeMap<usize, ColumnValues> = std::mem::take(&mut edit.set).into_iter().collect();
        for row in rows {
            set.entry(row).or_default();
        }
        edit.set = set.into_iter().collect();
    }
    Ok(())
}
