//! Lists of records with inserted and deleted rows.

use super::super::lists::{ArrayRef, RowTarget};
use super::super::record::{Elements, FieldType, Type};
use super::super::tables::field_of;
use super::Refuse;
use super::area::{Area, ArrayField, EditedPosition, To, Writer};
use super::entry::wanted;
use super::job::{Job, Listed, Wrong, column_name, rearranges, table};
use super::value::refers;
use super::{nodes, properties};
use crate::error::{Error, Result};
use crate::reader::Reader;
use crate::table::{Table, Value};
use crate::writable::{ColumnValues, EditPosition, Item, ListEdit, Lists, TableEdits, refused};
use std::borrow::Cow;
use std::collections::BTreeMap;

impl Job<'_, '_> {
    /// Writes a list of the record at `place`, completely or not at all.
    pub fn list<'a>(
        &mut self,
        area: &mut Area<'a>,
        place: EditedPosition<'a>,
        rows: RowTarget,
        edits: &TableEdits,
        list: &ListEdit,
        refuse: Refuse<'_>,
    ) -> Result<()> {
        let mark = self.patches.mark();
        let items = list.order(&edits.table).map_err(|(at, error)| Wrong::new(at, error));
        let written = items.and_then(|items| {
            let listed = Listed { edits, list, items: &items };
            match rows {
                RowTarget::Elements(array) => self.elements(area, place.skip(array.at), array, listed),
                RowTarget::Properties => self.properties(area, place, listed),
                RowTarget::Nodes { at } => self.nodes(area, place.skip(at), listed),
                RowTarget::Records(_) => {
                    Err(refused(format!("rows of {} can neither be added nor removed", edits.table)).into())
                }
            }
        });
        let Err(Wrong { at, error }) = written else { return Ok(()) };
        self.patches.back_to(mark);
        area.forget_counts();
        if let Some(at @ EditPosition::Set(_)) = at {
            return refuse(at, error);
        }
        // Without one of them, others would get other numbers than requested.
        let set = list.set.values().filter_map(|place| edits.set.get(*place)).map(|(row, _)| EditPosition::Set(*row));
        let mut refused: Vec<EditPosition> = list.moving().collect();
        if refused.is_empty() {
            refused.extend(set);
        }
        let more: Vec<(EditPosition, Error)> = refused.iter().skip(1).map(|at| (*at, error.clone())).collect();
        refused.first().map_or(Ok(()), |at| refuse(*at, error))?;
        more.into_iter().try_for_each(|(at, error)| refuse(at, error))
    }

    /// Writes a list that is one array of structs.
    fn elements<'a>(
        &mut self,
        area: &mut Area<'a>,
        owner: EditedPosition<'a>,
        array: ArrayRef,
        listed: Listed<'_>,
    ) -> Result<(), Wrong> {
        let name = self.table.name();
        let mut out = Writer { patches: self.patches, area, what: name.to_owned() };
        let element = array.element();
        let (old, to) = out.arrange(owner, array, listed)?;
        for (number, item) in listed.items.iter().enumerate() {
            let to = to.skip(number.saturating_mul(element.size));
            match item {
                Item::New(place) => {
                    let set = listed.edits.add.get(*place).map_or(&[][..], |set| set);
                    out.what = format!("{name}: the row that comes at index {number}");
                    let new = members(self.table, element, set);
                    let written = new.and_then(|new| out.fresh(to, element, &Value::Map(new)));
                    written.map_err(|error| Wrong::new(EditPosition::Add(*place), error))?;
                }
                Item::Kept(number) => {
                    let Some((row, cells)) = listed.edited(*number) else { continue };
                    let place = EditedPosition { view: old.view.skip(number.saturating_mul(element.size)), to };
                    let mut written = Ok(());
                    for (column, new) in cells {
                        let now = self.table.value(*row, *column)?;
                        if refers(&now) || refers(new) {
                            super::follow(self.follows, name, *column);
                        }
                        let column = column_name(self.table, *column);
                        out.what = format!("{name}: row {row}: column {column}");
                        let field = field_of(element, column).ok_or_else(|| out.refuse("this is not written"));
                        written = written.and_then(|()| out.set(place, element, field?, &now, new));
                    }
                    let written = written.and_then(|()| out.check_counts(element));
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
    for (at, value) in cells.iter().filter(|(at, _)| table.nature().item.is_some_and(|item| *at > item)) {
        let column = column_name(table, *at);
        let field = field_of(of, column).map(|field| of.field(field));
        let field = field.ok_or_else(|| refused(format!("{}: column {column} is not written", table.name())))?;
        members.push((field.name.into(), value.clone()));
    }
    let mut missing = Vec::new();
    for (number, field) in of.fields().iter().enumerate() {
        if of.is_count(number) || members.iter().any(|(name, _)| name == field.name) {
            continue;
        }
        if field.of.kind() == FieldType::Text && field.is_inline() {
            // No text is an empty one.
            members.push((field.name.into(), Value::Null));
            continue;
        }
        let shown = table.columns().iter().find(|column| field_of(of, &column.name) == Some(number));
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

impl<'a> Writer<'_, 'a> {
    /// Builds an array of these items, without changed cells and contents of inserted items. Returns the old elements, and the
    /// position of the new ones.
    fn arrange(
        &mut self,
        owner: EditedPosition<'a>,
        array: ArrayRef,
        listed: Listed<'_>,
    ) -> Result<(Elements<'a>, To)> {
        let ArrayField { at, count, elements } = self.array(owner, array.of, array.field)?;
        if array.of.counted_by(count).count() > 1 {
            return Err(self.refuse("other lists have as many elements: --entry writes all of them at once"));
        }
        let stays = listed.items.iter().enumerate().all(|(at, item)| *item == Item::Kept(at));
        let to = if !stays {
            let kept = listed.items.iter().map(|item| if let Item::Kept(old) = item { Some(*old) } else { None });
            let to = self.arranged(elements, kept)?;
            self.point(owner.to, at, to)?;
            to
        } else if listed.list.set.is_empty() {
            To::Old(elements.view.position())
        } else {
            self.own(owner, at, elements)?.to
        };
        if listed.items.len() != elements.len {
            self.fresh_count(owner.to, array.of, count, listed.items.len())?;
        }
        Ok((elements, to))
    }
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
        let lists = Lists::of(&*table, edit, |set| rearranges(rows, &*table, set))?;
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
                *value = wanted(of.field(field).of, &Value::Null, value);
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
