//! Any table, compared by the roles of its columns.

use crate::compare::{
    Comparable, Damaged, Each, Faults, Field, Keys, Pair, Side, Verdict, differ, hash_value, same_value,
};
use crate::error::{Error, ErrorKind, Result};
use crate::table::{Kind, Role, RowCursor, Table, Value, no_cell};
use std::borrow::Cow;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// A column of both tables: its number in each.
type ColumnPair = (usize, usize);

/// A table that both files have.
pub(super) struct Columns<'t> {
    tables: [&'t dyn Table; 2],
    keys: Vec<ColumnPair>,
    values: Vec<ColumnPair>,
    /// Seeded in each run, so that no file can provoke collisions.
    state: RandomState,
}

/// Names of columns that only one of the tables has.
pub(super) fn lone_columns(old: &dyn Table, new: &dyn Table) -> [Vec<String>; 2] {
    let lone = |a: &dyn Table, b: &dyn Table| {
        let missing = |name: &str| b.columns().iter().all(|c| c.name != name);
        a.columns().iter().filter(|c| missing(&c.name)).map(|c| c.name.to_string()).collect()
    };
    [lone(old, new), lone(new, old)]
}

impl<'t> Columns<'t> {
    pub(super) fn new(old: &'t dyn Table, new: &'t dyn Table) -> Self {
        let both = |wanted: &dyn Fn(Role) -> bool| {
            let columns = old.columns().iter().enumerate().filter(|(_, c)| wanted(c.role));
            columns
                .filter_map(|(at, column)| {
                    let other = new.columns().iter().position(|c| c.name == column.name)?;
                    Some((at, other))
                })
                .collect()
        };
        let keys = both(&|role| role == Role::Key);
        let values = both(&|role| matches!(role, Role::Value | Role::Reference));
        Self { tables: [old, new], keys, values, state: RandomState::new() }
    }

    fn side(&self, side: Side) -> &'t dyn Table {
        let [old, new] = self.tables;
        if side == Side::Old { old } else { new }
    }

    fn hash(&self, row: &dyn RowCursor, side: Side, columns: &[ColumnPair]) -> Result<u64> {
        let mut hasher = self.state.build_hasher();
        for &column in columns {
            hash_value(&row.value(pick(column, side))?, &mut hasher);
        }
        Ok(hasher.finish())
    }

    /// The rows that differ among the rows with one of these cells in column `key`.
    pub(super) fn among(&self, key: &str, cells: &[Value<'_>]) -> Option<super::Differences> {
        let [old, new] = self.tables;
        let is_it = |both: &&ColumnPair| old.columns().get(both.0).is_some_and(|column| column.name == key);
        let key = *self.keys.iter().find(is_it)?;
        let mut seekers = (Seeker::new(old), Seeker::new(new));
        let mut found = super::Differences::default();
        for cell in cells {
            let rows = |side, table: &dyn Table, seeker: &mut Seeker<'_>| -> Option<Vec<(u64, u32)>> {
                let found = table.find(pick(key, side), cell)?.ok()?;
                let hashed = found.into_iter().map(|row| {
                    let row = u32::try_from(row).ok()?;
                    Some((self.hash(seeker.at(row).ok()?, side, &self.keys).ok()?, row))
                });
                let mut hashed = hashed.collect::<Option<Vec<_>>>()?;
                hashed.sort_unstable();
                hashed.is_sorted_by(|a, b| a.0 < b.0).then_some(hashed)
            };
            let before = rows(Side::Old, old, &mut seekers.0)?;
            let after = rows(Side::New, new, &mut seekers.1)?;
            let has = |rows: &[(u64, u32)], hash| rows.binary_search_by_key(&hash, |row| row.0).is_ok();
            found.added.extend(after.iter().filter(|(hash, _)| !has(&before, *hash)).map(|(_, row)| *row));
            for (hash, row) in before {
                let Ok(other) = after.binary_search_by_key(&hash, |row| row.0) else {
                    found.removed.push(row);
                    continue;
                };
                let pair = (row, after.get(other)?.1);
                match self.verdict(seekers.0.at(pair.0).ok()?, seekers.1.at(pair.1).ok()?) {
                    Ok(Verdict::Same) => {}
                    Ok(Verdict::Changed) => found.changed.push(pair),
                    // Two keys of one hash, or damage: all rows are compared.
                    _ => return None,
                }
            }
        }
        found.removed.sort_unstable();
        found.added.sort_unstable();
        found.changed.sort_unstable();
        // A key may be given more than once.
        found.removed.dedup();
        found.added.dedup();
        found.changed.dedup();
        Some(found)
    }

    /// How two rows compare.
    fn verdict(&self, old: &dyn RowCursor, new: &dyn RowCursor) -> Result<Verdict, (Side, Error)> {
        let same = |columns: &[ColumnPair]| {
            for column in columns {
                let a = old.value(column.0).map_err(|e| (Side::Old, e))?;
                let b = new.value(column.1).map_err(|e| (Side::New, e))?;
                if !same_value(&a, &b) {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        if !same(&self.keys)? {
            return Ok(Verdict::Other);
        }
        Ok(if same(&self.values)? { Verdict::Same } else { Verdict::Changed })
    }
}

fn pick(column: ColumnPair, side: Side) -> usize {
    if side == Side::Old { column.0 } else { column.1 }
}

/// Adds the fields that differ, and the texts of ids among them.
pub(super) fn fields<'t>(
    old: &'t dyn Table,
    new: &'t dyn Table,
    rows: (u32, u32),
    fields: &mut Vec<Field<'t>>,
    damaged: &mut Damaged<'_>,
) {
    for (a, b) in Columns::new(old, new).values {
        let before = fields.len();
        let mut cells = |a: usize, b: usize, name: &'t str| {
            let mut cell = |table: &'t dyn Table, row: u32, column, side| {
                table.value(row as usize, column).unwrap_or_else(|error| {
                    damaged(side, error);
                    Value::Null
                })
            };
            let (old, new) = (cell(old, rows.0, a, Side::Old), cell(new, rows.1, b, Side::New));
            differ(name.into(), old, new, fields);
            fields.len() > before
        };
        let text = |table: &'t dyn Table, at: usize| {
            table.text_of(at).and_then(|text| Some((text, &*table.columns().get(text)?.name)))
        };
        let Some(column) = old.columns().get(a) else { continue };
        if cells(a, b, &column.name)
            && let (Some((a, name)), Some((b, _))) = (text(old, a), text(new, b))
        {
            cells(a, b, name);
        }
    }
}

/// Adds the fields of a row that only one of the files has: all but its keys and places.
pub(super) fn lone_fields<'t>(
    table: &'t dyn Table,
    pair: Pair,
    fields: &mut Vec<Field<'t>>,
    damaged: &mut Damaged<'_>,
) {
    let row = pair.old.or(pair.new).expect("a pair has a row") as usize;
    let (side, columns) = (if pair.old.is_some() { Side::Old } else { Side::New }, table.columns());
    let keys = columns.iter().enumerate().filter(|(_, column)| column.role == Role::Key);
    let paths: Vec<usize> = keys.filter_map(|(at, _)| path_of_key(table, at)).collect();
    fields.reserve(columns.len());
    for (at, column) in columns.iter().enumerate() {
        if matches!(column.role, Role::Key | Role::Place) || paths.contains(&at) {
            continue;
        }
        let value = table.value(row, at).unwrap_or_else(|error| {
            damaged(side, error);
            Value::Null
        });
        let name = (&*column.name).into();
        fields.push(match side {
            Side::Old => Field { name, old: value, new: Value::Null },
            Side::New => Field { name, old: Value::Null, new: value },
        });
    }
}

/// The number of readable rows of a table, and the error that makes the rest unreadable.
pub(super) fn count(table: &dyn Table) -> (u32, Option<Error>) {
    let mut cursor = table.cursor(0);
    let mut count = 0u32;
    loop {
        match cursor.advance() {
            Ok(true) if (count as usize) < MAX_ROWS => count += 1,
            Ok(true) => return (count, Some(too_many(table))),
            Ok(false) => return (count, None),
            Err(error) => return (count, Some(error)),
        }
    }
}

fn too_many(table: &dyn Table) -> Error {
    let limit = MAX_ROWS as u64;
    let kind = ErrorKind::Limit { what: "rows that are compared", value: limit + 1, limit };
    Error::of_part(kind, table.name().to_owned())
}

/// The column with the path of the id at `at`, if rows are identified by it.
pub(crate) fn path_of_key(table: &dyn Table, at: usize) -> Option<usize> {
    table.columns().get(at).filter(|column| column.role == Role::Key && column.kind == Kind::Id64)?;
    table.text_of(at)
}

/// The key of a row: the values of its key columns, or its number in a table without keys. A path that is known for
/// an id stands for it.
pub(super) fn key(table: &dyn Table, row: u32) -> Result<Value<'_>> {
    let mut parts: Vec<(Cow<'_, str>, Value<'_>)> = Vec::new();
    for (at, column) in table.columns().iter().enumerate().filter(|(_, c)| c.role == Role::Key) {
        let text = path_of_key(table, at).and_then(|at| Some((table.columns().get(at)?, at)));
        let text = text.map(|(column, at)| Ok::<_, Error>((column, table.value(row as usize, at)?))).transpose()?;
        parts.push(match text.filter(|(_, text)| !text.is_null()) {
            Some((column, text)) => ((&*column.name).into(), text),
            None => ((&*column.name).into(), table.value(row as usize, at)?),
        });
    }
    Ok(match parts.len() {
        0 => Value::from(row),
        1 => parts.remove(0).1,
        _ => Value::Map(parts),
    })
}

/// Rows that are skipped one by one before a new search.
const NEAR: u32 = 256;

/// Goes from row to row of one table, forwards best.
pub struct Seeker<'t> {
    table: &'t dyn Table,
    cursor: Option<(Box<dyn RowCursor + 't>, u32)>,
}

impl<'t> Seeker<'t> {
    pub fn new(table: &'t dyn Table) -> Self {
        Self { table, cursor: None }
    }

    /// A cursor at `row`.
    pub fn at(&mut self, row: u32) -> Result<&dyn RowCursor> {
        let near = |at: u32| row.checked_sub(at).is_some_and(|gap| gap <= NEAR);
        let (mut cursor, mut at) = match self.cursor.take().filter(|(_, at)| near(*at)) {
            Some(cursor) => cursor,
            None => {
                let mut cursor = self.table.cursor(row as usize);
                self.step(&mut *cursor, row)?;
                (cursor, row)
            }
        };
        while at < row {
            self.step(&mut *cursor, row)?;
            at += 1;
        }
        let (cursor, _) = self.cursor.insert((cursor, row));
        Ok(&**cursor)
    }

    fn step(&self, cursor: &mut dyn RowCursor, row: u32) -> Result<()> {
        if cursor.advance()? { Ok(()) } else { Err(no_cell(self.table.name(), row as usize, 0)) }
    }
}

impl Comparable for Columns<'_> {
    fn keys(&self, side: Side, faults: &Faults) -> Keys {
        let mut keys = Keys::default();
        let mut cursor = self.side(side).cursor(0);
        loop {
            match cursor.advance() {
                Ok(true) => {}
                Ok(false) => return keys,
                Err(error) => {
                    faults.add(side, error);
                    return keys;
                }
            }
            let row = keys.hashes.len();
            if row >= MAX_ROWS {
                faults.add(side, too_many(self.side(side)));
                return keys;
            }
            keys.hashes.push(self.hash(&*cursor, side, &self.keys).unwrap_or_else(|error| {
                faults.add(side, error);
                keys.skipped.extend(u32::try_from(row));
                self.state.hash_one((side as u8, row))
            }));
        }
    }

    fn compare(&self, pairs: &[(u32, u32)], each: &mut Each<'_>) {
        let [old, new] = self.tables;
        let (mut old, mut new) = (Seeker::new(old), Seeker::new(new));
        for &pair in pairs {
            let verdict = match (old.at(pair.0), new.at(pair.1)) {
                (Ok(old), Ok(new)) => self.verdict(old, new),
                (Err(error), _) => Err((Side::Old, error)),
                (_, Err(error)) => Err((Side::New, error)),
            };
            each(pair, verdict);
        }
    }

    fn contents(&self, side: Side, rows: &[u32]) -> Vec<u64> {
        let mut seeker = Seeker::new(self.side(side));
        // An unreadable row equals no other; its damage is reported by the comparison.
        let content = |&row: &u32| seeker.at(row).and_then(|at| self.hash(at, side, &self.values)).unwrap_or(0);
        rows.iter().map(content).collect()
    }

    fn piece(&self) -> usize {
        1 << 13
    }
}

/// Rows of one table that are compared at most.
pub const MAX_ROWS: usize = 1 << 27;
