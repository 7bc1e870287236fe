//! Pending changes of statements: cells and rows that replace the file's own until it is written.

use super::cells::Cell;
use crate::edit::{ColumnValues, TableEdits, check_cell, item_cells, key_of, refused, rows_may_change};
use crate::error::Result;
use crate::table::{Accepts, Table, Value};
use crate::threads::lock;
use crate::writable::cell;
use rusqlite::types::{ToSql as _, ToSqlOutput, Value as Owned, ValueRef};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

#[derive(Debug, Clone, Default)]
pub(super) struct Pending {
    set: BTreeMap<usize, ColumnValues>,
    removed: BTreeSet<usize>,
    /// Inserted rows; `None` for a row that was deleted again.
    added: Vec<Option<ColumnValues>>,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.removed.is_empty() && self.added.is_empty()
    }

    pub(super) fn is_removed(&self, row: usize) -> bool {
        self.removed.contains(&row)
    }

    /// The changed cell of a row of the file, if changed.
    pub(super) fn cell(&self, row: usize, column: usize) -> Option<&Value<'static>> {
        cell(self.set.get(&row)?, column)
    }

    /// The first inserted row from number `from` on that still exists.
    pub(super) fn next_added(&self, from: usize) -> Option<usize> {
        let rows = self.added.iter().enumerate().skip(from);
        rows.filter(|(_, row)| row.is_some()).map(|(number, _)| number).next()
    }

    pub(super) fn added_cell(&self, number: usize, column: usize) -> Value<'static> {
        let row = self.added.get(number).and_then(Option::as_ref);
        row.and_then(|row| cell(row, column)).map_or(Value::Null, Clone::clone)
    }

    fn edits(&self, table: &str) -> TableEdits {
        TableEdits {
            table: table.to_owned(),
            set: self.set.iter().map(|(row, set)| (*row, set.clone())).collect(),
            add: self.added.iter().flatten().cloned().collect(),
            remove: self.removed.iter().copied().collect(),
        }
    }
}

fn put(set: &mut ColumnValues, column: usize, value: Value<'static>) {
    match set.iter_mut().find(|(other, _)| *other == column) {
        Some((_, old)) => *old = value,
        None => {
            set.push((column, value));
            set.sort_by_key(|(column, _)| *column);
        }
    }
}

/// The changes of all tables, by file and table.
#[derive(Debug, Default)]
pub(super) struct Changes(Mutex<HashMap<(usize, usize), Arc<Pending>>>);

impl Changes {
    pub(super) fn of(&self, table: (usize, usize)) -> Arc<Pending> {
        Arc::clone(lock(&self.0).entry(table).or_default())
    }

    pub(super) fn restore(&self, table: (usize, usize), pending: Arc<Pending>) {
        lock(&self.0).insert(table, pending);
    }

    fn change(&self, table: (usize, usize), change: impl FnOnce(&mut Pending)) {
        change(Arc::make_mut(lock(&self.0).entry(table).or_default()));
    }

    /// The edits of all tables, by file.
    pub(super) fn edits<'n>(&self, name: impl Fn(usize, usize) -> Option<&'n str>) -> BTreeMap<usize, Vec<TableEdits>> {
        let mut edits: BTreeMap<usize, Vec<TableEdits>> = BTreeMap::new();
        let mut all: Vec<_> = lock(&self.0).iter().map(|(at, pending)| (*at, Arc::clone(pending))).collect();
        all.sort_by_key(|(at, _)| *at);
        for ((file, table), pending) in all {
            if let Some(name) = name(file, table).filter(|_| !pending.is_empty()) {
                edits.entry(file).or_default().push(pending.edits(name));
            }
        }
        edits
    }

    pub(super) fn delete(&self, at: (usize, usize), table: &dyn Table, row: usize) -> Result<()> {
        rows_may_change(table)?;
        let len = table.len()?;
        self.change(at, |pending| match row.checked_sub(len) {
            Some(number) => {
                if let Some(added) = pending.added.get_mut(number) {
                    *added = None;
                }
            }
            None => {
                pending.set.remove(&row);
                pending.removed.insert(row);
            }
        });
        Ok(())
    }

    pub(super) fn insert(
        &self,
        at: (usize, usize),
        table: &dyn Table,
        values: impl Iterator<Item = Result<Value<'static>>>,
        alias: Option<usize>,
    ) -> Result<usize> {
        rows_may_change(table)?;
        let mut values: Vec<Result<Value<'static>>> = values.collect();
        let hidden = values.get(table.columns().len()).is_some_and(|value| !matches!(value, Ok(Value::Null)));
        if let Some(column) = alias.filter(|_| hidden) {
            values.swap(column, table.columns().len());
        }
        let mut set = ColumnValues::new();
        let item = table.nature().item;
        let mut of_list = Vec::new();
        for ((number, column), value) in table.columns().iter().enumerate().zip(values) {
            let value = value?;
            if value.is_null() {
                continue;
            }
            if item.is_some_and(|item| number <= item) {
                of_list.push((number, value));
                continue;
            }
            let checked = check_cell(table, number, value, None);
            let (to, value) = checked.map_err(|error| error.context("an added row"))?;
            if column.accepts != Accepts::Nothing {
                put(&mut set, to, value);
            }
        }
        if let Some(item) = item {
            item_cells(table, item, of_list)?.into_iter().for_each(|(to, value)| put(&mut set, to, value));
        }
        let mut number = 0;
        self.change(at, |pending| {
            number = pending.added.len();
            pending.added.push(Some(set));
        });
        Ok(table.len()? + number)
    }

    /// Sets the changed cells of a row. `alias` is the column that the hidden one after all others stands for.
    pub(super) fn update(
        &self,
        at: (usize, usize),
        table: &dyn Table,
        row: usize,
        values: &[ValueRef<'_>],
        alias: Option<usize>,
    ) -> Result<()> {
        let hidden = values.get(table.columns().len());
        let pending = self.of(at);
        let number = row.checked_sub(table.len()?);
        let mut cursor = table.cursor(row);
        if number.is_none() && !cursor.advance()? {
            return Err(crate::table::no_cell(table.name(), row, 0));
        }
        let mut changed = ColumnValues::new();
        for (column, wanted) in values.iter().enumerate().take(table.columns().len()) {
            let now = match number {
                Some(number) => pending.added_cell(number, column),
                None => match pending.cell(row, column) {
                    Some(value) => value.clone(),
                    None => cursor.value(column)?.into_owned(),
                },
            };
            let hidden = hidden.filter(|_| alias == Some(column));
            let wanted = if is_seen_as(&now, wanted) { hidden.unwrap_or(wanted) } else { wanted };
            if is_seen_as(&now, wanted) {
                continue;
            }
            // A value of another type differs from the present one.
            let is_retyped = table.typed_by(column).is_some_and(|types| cell(&changed, types).is_some());
            let given = owned(*wanted).map_err(|error| match table.columns().get(column) {
                Some(column) => error.context(format_args!("{}: column {}", table.name(), column.name)),
                None => error,
            });
            let checked = given.and_then(|given| check_cell(table, column, given, Some(&now).filter(|_| !is_retyped)));
            let (to, value) = checked.map_err(|error| match (number, key_of(table, row)) {
                (None, Ok(key)) => error.context(format_args!("row {key}")),
                _ => error.context("an added row"),
            })?;
            put(&mut changed, to, value);
        }
        // With other holders, the changes of all rows would be copied for this one.
        drop(pending);
        self.change(at, |pending| {
            let set = match number {
                Some(number) => pending.added.get_mut(number).and_then(Option::as_mut),
                None => Some(pending.set.entry(row).or_default()),
            };
            if let Some(set) = set {
                changed.into_iter().for_each(|(column, value)| put(set, column, value));
            }
        });
        Ok(())
    }
}

fn is_seen_as(now: &Value<'_>, wanted: &ValueRef<'_>) -> bool {
    let cell = Cell(now.clone());
    match cell.to_sql() {
        Ok(ToSqlOutput::Borrowed(seen)) => seen == *wanted,
        Ok(ToSqlOutput::Owned(Owned::Text(text))) => *wanted == ValueRef::Text(text.as_bytes()),
        _ => false,
    }
}

/// Converts a value of SQLite to a value of an edit.
pub(super) fn owned(value: ValueRef<'_>) -> Result<Value<'static>> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::F64(number),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Value::owned(text.to_owned()),
            Err(_) => return Err(refused("a text that is not UTF-8")),
        },
        ValueRef::Blob(_) => return Err(refused("a blob fits into no column")),
    })
}
