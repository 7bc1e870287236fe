//! Rules between rows, which columns declare: unique values, and references to rows. They hold in the file after all edits
//! together, so that two rows can swap their values, and rows can be deleted with all that refer to them.

use super::resolve::misfit;
use super::{EditPosition, TableEdits, refused};
use crate::compare::hash_values;
use crate::error::{Error, Result};
use crate::reader::Reader;
use crate::table::rules::references;
use crate::table::{Table, Value, advance};
use crate::writable::{cell, short};
use std::collections::HashMap;
use std::hash::RandomState;

pub(super) struct Violation {
    pub(super) table: String,
    pub(super) at: EditPosition,
    pub(super) error: Error,
}

/// The edits that break a rule of a column. What breaks it in the old file already, is no edit's fault.
pub(super) fn violations(reader: &dyn Reader, edits: &[TableEdits]) -> Result<Vec<Violation>> {
    let (state, mut found) = (RandomState::new(), Vec::new());
    for edit in edits {
        let Some(table) = reader.table(&edit.table) else { continue };
        for (at, column) in table.columns().iter().enumerate() {
            if column.unique {
                doubled(&*table, at, edit, &state, &mut found);
            }
        }
    }
    for table in reader.tables() {
        for (at, column) in table.columns().iter().enumerate() {
            let target = column.refers_to.and_then(|name| reader.table(name));
            if let Some(target) = target {
                let (table, target) = (Edited::new(&*table, edits), Edited::new(&*target, edits));
                dangling(&table, at, &target, &state, &mut found)?;
            }
        }
    }
    Ok(found)
}

struct Edited<'t> {
    table: &'t dyn Table,
    edits: Option<&'t TableEdits>,
}

impl<'t> Edited<'t> {
    fn new(table: &'t dyn Table, edits: &'t [TableEdits]) -> Self {
        Self { table, edits: edits.iter().find(|edits| edits.table == table.name()) }
    }

    fn written(&self, column: usize) -> impl Iterator<Item = (EditPosition, &'t Value<'static>)> {
        let set = self.edits.into_iter().flat_map(|edits| &edits.set);
        let set = set.map(|(row, cells)| (EditPosition::Set(*row), cells));
        let add = self.edits.into_iter().flat_map(|edits| edits.add.iter().enumerate());
        let add = add.map(|(number, cells)| (EditPosition::Add(number), cells));
        set.chain(add).filter_map(move |(at, cells)| Some((at, cell(cells, column)?)))
    }

    /// The rows whose cell in a column is deleted or replaced.
    fn replaced(&self, column: usize) -> impl Iterator<Item = EditPosition> {
        let set = self.edits.into_iter().flat_map(|edits| &edits.set);
        let set = set.filter(move |(_, cells)| cell(cells, column).is_some()).map(|(row, _)| EditPosition::Set(*row));
        set.chain(self.edits.into_iter().flat_map(|edits| &edits.remove).map(|row| EditPosition::Remove(*row)))
    }

    fn is_replaced(&self, row: usize, column: usize) -> bool {
        self.edits.is_some_and(|edits| {
            let set = edits.set.binary_search_by_key(&row, |(row, _)| *row).ok().and_then(|at| edits.set.get(at));
            edits.remove.binary_search(&row).is_ok() || set.is_some_and(|(_, cells)| cell(cells, column).is_some())
        })
    }

    /// Calls `each` with the stored cells of a column.
    fn stored(&self, column: usize, mut each: impl FnMut(usize, &Value<'_>)) {
        let stored = self.table.stored_len();
        let mut rows = self.table.cursor_over(0, Some(&[column]));
        while advance(&mut *rows, drop) && stored.is_none_or(|stored| rows.row() < stored) {
            if let Ok(value) = rows.value(column) {
                each(rows.row(), &value);
            }
        }
    }

    /// Calls `each` with the cells of a column after the edits.
    fn cells(&self, column: usize, mut each: impl FnMut(EditPosition, &Value<'_>)) {
        self.stored(column, |row, value| {
            if !self.is_replaced(row, column) {
                each(EditPosition::Set(row), value);
            }
        });
        self.written(column).for_each(|(at, value)| each(at, value));
    }

    /// The name of a row after the edits, for messages.
    fn shown(&self, at: EditPosition) -> String {
        let (table, label) = (self.table.name(), self.table.label());
        let written = self.written(label).find(|(other, _)| *other == at).map(|(_, value)| short(value));
        let name = written.or_else(|| match at {
            EditPosition::Set(row) | EditPosition::Remove(row) => Some(short(&self.table.value(row, label).ok()?)),
            EditPosition::Add(_) => None,
        });
        name.map_or_else(|| table.to_owned(), |name| format!("{table} {name}"))
    }
}

/// How many rows have a value, and the edits that write it.
#[derive(Default)]
struct Count {
    before: usize,
    after: usize,
    written: Vec<EditPosition>,
}

/// Finds the edits that write a value which another row has.
fn doubled(table: &dyn Table, column: usize, edits: &TableEdits, state: &RandomState, found: &mut Vec<Violation>) {
    let edited = Edited { table, edits: Some(edits) };
    let mut counts: HashMap<u64, Count> = HashMap::new();
    for (at, value) in edited.written(column).filter(|(_, value)| !value.is_null()) {
        let count = counts.entry(hash_values([value], state)).or_default();
        count.after += 1;
        count.written.push(at);
    }
    if counts.is_empty() {
        return;
    }
    edited.stored(column, |row, value| {
        if let Some(count) = counts.get_mut(&hash_values([value], state)) {
            count.before += 1;
            count.after += usize::from(!edited.is_replaced(row, column));
        }
    });
    for (at, value) in edited.written(column) {
        let Some(count) = counts.get(&hash_values([value], state)) else { continue };
        // If all rows with the value are edited, the first of them may keep the value.
        let is_first = count.after == count.written.len() && count.written.first() == Some(&at);
        if count.after > 1 && count.after > count.before && !is_first {
            let error = misfit(table, &table.columns()[column], value, "does not fit: another row has this value");
            found.push(Violation { table: table.name().to_owned(), at, error });
        }
    }
}

/// Finds the edits after which a cell of `column` refers to no row of `target`.
fn dangling(
    table: &Edited<'_>,
    column: usize,
    target: &Edited<'_>,
    state: &RandomState,
    found: &mut Vec<Violation>,
) -> Result<()> {
    let Some(id) = target.table.columns().iter().position(|column| column.unique) else { return Ok(()) };
    // The ids that no row has any more, with the edits of their rows.
    let mut gone = HashMap::new();
    for at in target.replaced(id) {
        if let EditPosition::Set(row) | EditPosition::Remove(row) = at {
            let value = target.table.value(row, id)?;
            gone.extend(references(&value, state).map(|(hash, _)| (hash, at)));
        }
    }
    let mut wanted: HashMap<u64, Vec<EditPosition>> = HashMap::new();
    for (at, value) in table.written(column) {
        references(value, state).for_each(|(hash, _)| wanted.entry(hash).or_default().push(at));
    }
    if gone.is_empty() && wanted.is_empty() {
        return Ok(());
    }
    target.cells(id, |_, value| {
        for (hash, _) in references(value, state) {
            gone.remove(&hash);
            wanted.remove(&hash);
        }
    });
    let (name, id_name) = (&table.table.columns()[column].name, &target.table.columns()[id].name);
    for (at, value) in table.written(column) {
        let old = match at {
            EditPosition::Set(row) => table.table.value(row, column)?,
            _ => Value::Null,
        };
        // A reference that led nowhere before may stay.
        let lost = references(value, state).find(|(hash, _)| {
            wanted.contains_key(hash)
                && !gone.contains_key(hash)
                && !references(&old, state).any(|(old, _)| old == *hash)
        });
        if let Some((_, item)) = lost {
            let what = format!("no row of {} has this {id_name}", target.table.name());
            let what = format!("{}: column {name}: {} does not fit: {what}", table.shown(at), short(item));
            found.push(Violation { table: table.table.name().to_owned(), at, error: refused(what) });
        }
    }
    if gone.is_empty() {
        return Ok(());
    }
    table.cells(column, |at, value| {
        for (hash, item) in references(value, state) {
            if let Some(row) = gone.remove(&hash) {
                let what = format!("{id_name} {} cannot go alone", short(item));
                let what = format!("{}: {what}: {} refers to it", target.table.name(), table.shown(at));
                found.push(Violation { table: target.table.name().to_owned(), at: row, error: refused(what) });
            }
        }
    });
    Ok(())
}
