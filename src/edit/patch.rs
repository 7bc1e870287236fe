//! Patches: changes as rows that [`Editor`](super::Editor) takes, each complete, with stored values.

use super::editor::stored;
use super::{Cells, NTH, TableEdits, refused};
use crate::ask::diff::{self, Side};
use crate::asset::Asset;
use crate::compare::{Kind, Pair, hash_value, same_value};
use crate::error::{Error, Result};
use crate::report::Progress;
use crate::table::{Column, Role, Table, Takes, Value};
use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// The row of a patch.
fn row(table: &str, change: Kind, key: Value<'static>, old: Option<Cells>, new: Option<Cells>) -> Value<'static> {
    let side = |cells: Option<Cells>| cells.map_or(Value::Null, Value::Map);
    Value::Map(vec![
        ("table".into(), Value::owned(table.to_owned())),
        ("change".into(), change.name().into()),
        ("key".into(), key),
        ("old".into(), side(old)),
        ("new".into(), side(new)),
    ])
}

/// Which of the rows with the same key each row is, for keys that several rows have.
struct Nth {
    numbers: HashMap<usize, usize>,
}

impl Nth {
    fn of(table: &dyn Table) -> Self {
        let state = RandomState::new();
        let keys: Vec<usize> = keys(table).collect();
        let mut numbers = HashMap::new();
        if keys.is_empty() {
            return Self { numbers };
        }
        let mut seen: HashMap<u64, (usize, usize)> = HashMap::new();
        let mut rows = table.cursor_over(0, &keys);
        while let Ok(true) = rows.advance() {
            let mut hasher = state.build_hasher();
            let mut read = |&key: &usize| rows.value(key).map(|value| hash_value(&value, &mut hasher));
            if keys.iter().try_for_each(&mut read).is_err() {
                continue;
            }
            let at = rows.row();
            let (first, times) = seen.entry(hasher.finish()).or_insert((at, 0));
            if *times > 0 {
                numbers.insert(*first, 0);
                numbers.insert(at, *times);
            }
            *times = times.saturating_add(1);
        }
        Self { numbers }
    }

    /// As [`Nth::of`], for some rows of the table only: where they are few, past all others.
    fn of_rows(table: &dyn Table, rows: impl Iterator<Item = usize> + Clone) -> Self {
        /// Rows that are looked for one by one.
        const FEW: usize = 8;
        let keys: Vec<usize> = keys(table).collect();
        let number = |row: usize| -> Option<usize> {
            let cells: Vec<Value<'_>> = keys.iter().map(|key| table.value(row, *key)).collect::<Result<_>>().ok()?;
            let rows = keys.iter().zip(&cells).find_map(|(key, cell)| table.find(*key, cell))?.ok()?;
            let is_same = |at: &usize| {
                let mut pairs = keys.iter().zip(&cells);
                pairs.all(|(key, cell)| table.value(*at, *key).is_ok_and(|value| same_value(&value, cell)))
            };
            let mut same: Vec<usize> = rows.into_iter().filter(is_same).collect();
            same.sort_unstable();
            let number = same.iter().position(|at| *at == row)?;
            // One that is alone has no number.
            Some(if same.len() > 1 { number } else { usize::MAX })
        };
        if rows.clone().take(FEW.saturating_add(1)).count() > FEW {
            return Self::of(table);
        }
        let numbers: Option<HashMap<usize, usize>> = rows.map(|row| Some((row, number(row)?))).collect();
        match numbers {
            Some(mut numbers) => {
                numbers.retain(|_, number| *number != usize::MAX);
                Self { numbers }
            }
            None => Self::of(table),
        }
    }

    /// The key of a row, as a patch has it.
    fn key(&self, table: &dyn Table, row: usize) -> Result<Value<'static>> {
        let mut parts = Cells::new();
        for at in keys(table) {
            let Some(column) = table.columns().get(at) else { continue };
            parts.push((column.name.clone(), table.value(row, at)?.into_owned()));
        }
        Ok(match (parts.len(), self.numbers.get(&row)) {
            (0, _) => Value::from(row),
            (1, None) => parts.pop().map(|(_, key)| key).unwrap_or_default(),
            (_, None) => Value::Map(parts),
            (_, Some(nth)) => {
                parts.push((NTH.into(), (*nth).into()));
                Value::Map(parts)
            }
        })
    }
}

fn keys(table: &dyn Table) -> impl Iterator<Item = usize> {
    table.columns().iter().enumerate().filter(|(_, column)| column.role == Role::Key).map(|(at, _)| at)
}

/// The key of a row, as a patch has it: with its number among those of the same key, where there are several.
///
/// # Errors
/// When a key is damaged.
pub fn key_of(table: &dyn Table, row: usize) -> Result<Value<'static>> {
    Nth::of_rows(table, std::iter::once(row)).key(table, row)
}

/// Whether a patch tells of a column.
fn is_stored(column: &Column) -> bool {
    !matches!(column.takes, Takes::Nothing | Takes::Path | Takes::Name)
}

fn is_written(table: &dyn Table) -> bool {
    table.takes_rows() || table.columns().iter().any(is_stored)
}

/// The patch that makes of `old` what `new` is: gives each row to `each`, and what cannot be read to `damaged`. Only
/// `tables`, where some are named.
///
/// # Errors
/// `Syntax` where the format is not written, or there is no such table, and those of `each`.
pub fn between(
    old: &Asset,
    new: &Asset,
    tables: &[String],
    damaged: &mut dyn FnMut(Side, Error),
    each: &mut dyn FnMut(Value<'static>) -> Result<()>,
) -> Result<()> {
    let format = old.format();
    let writable = old.reader().writable();
    let writable = writable.ok_or_else(|| refused(format!("{format} files are read and not written")))?;
    let wanted: Vec<String> = match tables {
        [] => writable.patched().unwrap_or_else(|| {
            let all = old.reader().tables();
            let told = all.iter().filter(|table| is_written(&***table) && !table.is_derived());
            told.map(|table| table.name().to_owned()).collect()
        }),
        some => some.to_vec(),
    };
    if wanted.is_empty() {
        return Ok(());
    }
    for table in diff::tables(old, new, &wanted)? {
        let (Some(before), Some(after)) = (table.side(Side::Old), table.side(Side::New)) else { continue };
        if !is_written(before) {
            return Err(refused(format!("table {} follows from others, so no patch tells of it", table.name())));
        }
        let found = table.find(&Progress::default(), 0);
        found.faults.into_iter().for_each(|(side, error)| damaged(side, error));
        let differences = diff::Differences { faults: Vec::new(), ..found };
        if differences.is_empty() {
            continue;
        }
        let nth = (Nth::of(before), Nth::of(after));
        for pair in differences.pairs() {
            match told(table.name(), pair, before, after, &nth) {
                Ok(Some(row)) => each(row)?,
                Ok(None) => {}
                Err(error) => damaged(if pair.new.is_some() { Side::New } else { Side::Old }, error),
            }
        }
    }
    Ok(())
}

/// The row of a patch for a row that differs; `None` where no stored cell does.
fn told(
    name: &str,
    pair: Pair,
    before: &dyn Table,
    after: &dyn Table,
    nth: &(Nth, Nth),
) -> Result<Option<Value<'static>>> {
    let rows = (pair.old.map(|row| row as usize), pair.new.map(|row| row as usize));
    Ok(match rows {
        (Some(old), Some(new)) => {
            let (mut had, mut has) = (Cells::new(), Cells::new());
            for (at, column) in before.columns().iter().enumerate().filter(|(_, column)| is_stored(column)) {
                let Some(other) = after.columns().iter().position(|c| c.name == column.name) else { continue };
                let (a, b) = (before.value(old, at)?, after.value(new, other)?);
                if !same_value(&a, &b) {
                    had.push((column.name.clone(), a.into_owned()));
                    has.push((column.name.clone(), b.into_owned()));
                }
            }
            if had.is_empty() {
                None
            } else {
                Some(row(name, pair.kind(), nth.0.key(before, old)?, Some(had), Some(has)))
            }
        }
        (Some(old), None) => {
            Some(row(name, Kind::Removed, nth.0.key(before, old)?, Some(stored(before, old, false)?), None))
        }
        (None, Some(new)) => {
            Some(row(name, Kind::Added, nth.1.key(after, new)?, None, Some(stored(after, new, false)?)))
        }
        (None, None) => None,
    })
}

/// The patch that undoes these edits, as rows: for a file that has them, whatever else it has become.
///
/// # Errors
/// When a row that goes is damaged, and those of `each`.
pub fn undo(old: &Asset, edits: &[TableEdits], each: &mut dyn FnMut(Value<'static>) -> Result<()>) -> Result<()> {
    for edit in edits {
        let Some(before) = old.reader().table(&edit.table) else { continue };
        let rows = edit.set.iter().map(|(row, _)| *row).chain(edit.remove.iter().copied());
        let nth = Nth::of_rows(&*before, rows);
        for (at, set) in &edit.set {
            let (mut had, mut has) = (Cells::new(), Cells::new());
            for (column, value) in set {
                let Some(of) = before.columns().get(*column) else { continue };
                had.push((of.name.clone(), before.value(*at, *column)?.into_owned()));
                has.push((of.name.clone(), value.clone()));
            }
            let mut key = nth.key(&*before, *at)?;
            // By the key that the row has now, where that became another one.
            for (column, value) in set {
                let Some(of) = before.columns().get(*column).filter(|c| c.role == Role::Key) else { continue };
                match &mut key {
                    Value::Map(parts) => {
                        parts.retain(|(name, _)| name != NTH);
                        if let Some((_, part)) = parts.iter_mut().find(|(name, _)| *name == of.name) {
                            *part = value.clone();
                        }
                    }
                    only => *only = value.clone(),
                }
            }
            each(row(&edit.table, Kind::Changed, key, Some(has), Some(had)))?;
        }
        for set in &edit.add {
            let cell = |at: usize| set.iter().find(|(column, _)| *column == at).map(|(_, value)| value.clone());
            let mut key = Cells::new();
            let mut cells = Cells::new();
            for (at, column) in before.columns().iter().enumerate() {
                let Some(value) = cell(at) else { continue };
                let to = if column.role == Role::Key { &mut key } else { &mut cells };
                to.push((column.name.clone(), value));
            }
            let key = if key.len() == 1 { key.pop().map(|(_, key)| key).unwrap_or_default() } else { Value::Map(key) };
            each(row(&edit.table, Kind::Removed, key, Some(cells), None))?;
        }
        for &at in &edit.remove {
            each(row(&edit.table, Kind::Added, nth.key(&*before, at)?, None, Some(stored(&*before, at, false)?)))?;
        }
    }
    Ok(())
}
