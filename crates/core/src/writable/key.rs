//! Keys of rows, as patches state them.

use super::{Cells, Change, Edit, is_same, refused, short, short_text};
use crate::compare::{hash_value, same_value};
use crate::error::Result;
use crate::table::{Accepts, Role, Table, Value, advance, column_index, hint_of_columns};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// The member of a key that selects one of several rows with this key, from 0 on.
pub const NTH: &str = "nth";

/// The number of each row among the rows with its key, for keys that several rows have.
pub struct Nth {
    numbers: HashMap<usize, usize>,
}

impl Nth {
    /// The numbers that inserted rows get: after all other rows with their keys, in the order of the table.
    pub fn of_inserted(table: &dyn Table, rows: impl Iterator<Item = usize> + Clone) -> Self {
        let last: HashSet<usize> = rows.clone().collect();
        Self::of_few(table, rows, &last)
    }

    fn with_last(table: &dyn Table, last: &HashSet<usize>) -> Self {
        let state = RandomState::new();
        let keys: Vec<usize> = keys(table).collect();
        let mut numbers = HashMap::new();
        if keys.is_empty() {
            return Self { numbers };
        }
        let mut hashes = key_hashes(table, &keys, &state);
        hashes.sort_unstable();
        for same in hashes.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            let mut rows: Vec<usize> = same.iter().map(|(_, row)| *row).collect();
            rows.sort_by_key(|row| last.contains(row));
            numbers.extend(numbered(table, &rows));
        }
        Self { numbers }
    }

    /// The numbers of some rows of the table. Rows that are few are looked for one by one.
    pub fn of_rows(table: &dyn Table, rows: impl Iterator<Item = usize> + Clone) -> Self {
        Self::of_few(table, rows, &HashSet::new())
    }

    fn of_few(table: &dyn Table, rows: impl Iterator<Item = usize> + Clone, last: &HashSet<usize>) -> Self {
        /// Rows that are looked for one by one.
        const FEW: usize = 8;
        let keys: Vec<usize> = keys(table).collect();
        if rows.clone().take(FEW + 1).count() > FEW {
            return Self::with_last(table, last);
        }
        let mut numbers = HashMap::new();
        for row in rows {
            let same = rows_like(table, &keys, row);
            match same.filter(|same| same.contains(&row)) {
                Some(mut same) => {
                    same.sort_by_key(|row| last.contains(row));
                    numbers.extend(numbered(table, &same).into_iter().filter(|(at, _)| *at == row));
                }
                None => return Self::with_last(table, last),
            }
        }
        Self { numbers }
    }

    /// Whether other rows have the key of a row.
    pub fn is_repeated(&self, row: usize) -> bool {
        self.numbers.contains_key(&row)
    }

    /// The key of a row, in the form of a patch.
    pub fn key(&self, table: &dyn Table, row: usize) -> Result<Value<'static>> {
        let mut parts = Cells::new();
        for at in keys(table) {
            parts.push((table.columns()[at].name.clone(), table.value(row, at)?.into_owned()));
        }
        match self.numbers.get(&row) {
            _ if parts.is_empty() => return Ok(row.into()),
            Some(nth) => parts.push((NTH.into(), (*nth).into())),
            None => {}
        }
        Ok(match <[_; 1]>::try_from(parts) {
            Ok([(_, key)]) => key,
            Err(parts) => Value::Map(parts),
        })
    }
}

/// The numbers of rows with one key, given in order. A row that is alone has no number, and a repeated row has the number of the
/// first one.
fn numbered(table: &dyn Table, rows: &[usize]) -> Vec<(usize, usize)> {
    let mut count = 0usize;
    let numbers = rows.iter().map(|row| {
        count += usize::from(table.repeated(*row).is_none());
        (*row, count.saturating_sub(1))
    });
    let numbers: Vec<(usize, usize)> = numbers.collect();
    if count > 1 { numbers } else { Vec::new() }
}

/// The hashes of the keys of all rows that can be found, and the numbers of the rows. A row whose key is damaged is left out.
pub fn key_hashes(table: &dyn Table, keys: &[usize], state: &RandomState) -> Vec<(u64, usize)> {
    let mut hashes = Vec::new();
    let mut rows = table.cursor_over(0, Some(keys));
    while advance(&mut *rows, drop) {
        let mut hasher = state.build_hasher();
        let read = keys.iter().try_for_each(|&key| rows.value(key).map(|value| hash_value(&value, &mut hasher)));
        if read.is_ok() {
            hashes.push((hasher.finish(), rows.row()));
        }
    }
    hashes
}

/// The rows with the keys of `row`, in order. `None` if no index finds them.
fn rows_like(table: &dyn Table, keys: &[usize], row: usize) -> Option<Vec<usize>> {
    let cells: Vec<Value<'_>> = keys.iter().map(|key| table.value(row, *key)).collect::<Result<_>>().ok()?;
    let mut rows = keys.iter().zip(&cells).find_map(|(key, cell)| table.find(*key, cell))?.ok()?;
    rows.retain(|at| {
        let mut pairs = keys.iter().zip(&cells);
        pairs.all(|(key, cell)| table.value(*at, *key).is_ok_and(|value| same_value(&value, cell)))
    });
    rows.sort_unstable();
    Some(rows)
}

pub fn keys(table: &dyn Table) -> impl Iterator<Item = usize> {
    table.columns().iter().enumerate().filter(|(_, column)| column.role == Role::Key).map(|(at, _)| at)
}

/// The edit that gives a row the cells of `new` that differ from its own; `None` if none differs. Derived cells that differ are left
/// out, unless no other cell differs: the editor then names them.
///
/// # Errors
/// `Syntax` for a column that the table does not have, and for another row: unique cells and positions stay.
pub fn edit_of_row(table: &dyn Table, row: usize, new: &Cells) -> Result<Option<Edit>> {
    let (mut cells, mut derived) = (Cells::new(), Cells::new());
    for (name, given) in new {
        let at = column_index(table, name).ok_or_else(|| {
            let hint = hint_of_columns(name, "there are", table.columns());
            refused(format!("{}: no column {}{hint}", table.name(), short_text(name)))
        })?;
        let (column, now) = (&table.columns()[at], table.value(row, at)?);
        let is_text = matches!(column.accepts, Accepts::Path | Accepts::Name);
        if is_same(&now, given) || is_text && given.is_null() {
            continue;
        }
        let is_derived = column.accepts == Accepts::Nothing;
        if column.unique || is_derived && column.role == Role::Place {
            let what =
                format!("{}: {name} is {}, so that {} is of another row", table.name(), short(&now), short(given));
            return Err(refused(what));
        }
        if is_derived { &mut derived } else { &mut cells }.push((name.clone(), given.clone()));
    }
    let cells = if cells.is_empty() { derived } else { cells };
    if cells.is_empty() {
        return Ok(None);
    }
    Ok(Some(Edit::new(Some(table.name()), key_of(table, row)?, Change::Set(cells))))
}

/// The key of a row, in the form of a patch: with its number among the rows with the same key, if there are several.
///
/// # Errors
/// When a key is damaged.
pub fn key_of(table: &dyn Table, row: usize) -> Result<Value<'static>> {
    Nth::of_rows(table, std::iter::once(row)).key(table, row)
}
