//! Any table, compared by the roles of its columns.

use crate::compare::{
    Comparable, Damaged, Each, Faults, FieldChange, Keys, Pair, Side, Verdict, differ, hash_value, same_value,
};
use crate::error::{Error, ErrorKind, Result};
use crate::table::{Kind, Role, RowCursor, Table, Value, advance, column_index, no_cell};
use crate::writable::keys;
use std::borrow::Cow;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// A column of both tables: its number on each [`Side`].
type ColumnPair = [usize; 2];

pub(super) struct Columns<'t> {
    tables: [&'t dyn Table; 2],
    keys: Vec<ColumnPair>,
    values: Vec<ColumnPair>,
    /// Seeded in each run, so that no file can provoke collisions.
    state: RandomState,
}

/// Names of columns that only one of the tables has.
pub(super) fn lone_columns(old: &dyn Table, new: &dyn Table) -> [Vec<String>; 2] {
    [(old, new), (new, old)].map(|(table, other)| {
        let lone = table.columns().iter().filter(|column| column_index(other, &column.name).is_none());
        lone.map(|column| column.name.to_string()).collect()
    })
}

/// The columns that both tables have, of these roles.
fn column_pairs(old: &dyn Table, new: &dyn Table, is_wanted: fn(Role) -> bool) -> Vec<ColumnPair> {
    let columns = old.columns().iter().enumerate().filter(|(_, column)| is_wanted(column.role));
    columns.filter_map(|(at, column)| Some([at, column_index(new, &column.name)?])).collect()
}

impl<'t> Columns<'t> {
    pub(super) fn new(old: &'t dyn Table, new: &'t dyn Table) -> Self {
        let keys = column_pairs(old, new, |role| role == Role::Key);
        let values = column_pairs(old, new, |role| matches!(role, Role::Value | Role::Reference));
        Self { tables: [old, new], keys, values, state: RandomState::new() }
    }

    fn side(&self, side: Side) -> &'t dyn Table {
        self.tables[side as usize]
    }

    fn hash(&self, row: &dyn RowCursor, side: Side, columns: &[ColumnPair]) -> Result<u64> {
        let mut hasher = self.state.build_hasher();
        for column in columns {
            hash_value(&row.value(column[side as usize])?, &mut hasher);
        }
        Ok(hasher.finish())
    }

    /// The hashes of the keys of the rows with a cell in column `key`, in order. `None` if several have one hash, or one
    /// cannot be read.
    fn hashed_rows(
        &self,
        seeker: &mut Seeker<'_>,
        key: ColumnPair,
        side: Side,
        cell: &Value<'_>,
    ) -> Option<Vec<(u64, u32)>> {
        let found = seeker.table.find(key[side as usize], cell)?.ok()?;
        let hashed = found
            .into_iter()
            .map(|row| Some((self.hash(seeker.seek(row).ok()?, side, &self.keys).ok()?, u32::try_from(row).ok()?)));
        let mut hashed = hashed.collect::<Option<Vec<_>>>()?;
        hashed.sort_unstable();
        hashed.is_sorted_by(|a, b| a.0 < b.0).then_some(hashed)
    }

    /// The rows that differ among the rows with one of these cells in column `key`.
    pub(super) fn among(&self, key: &str, cells: &[Value<'_>]) -> Option<super::Differences> {
        let [old, new] = self.tables;
        let key = *self.keys.iter().find(|both| old.columns()[both[0]].name == key)?;
        let (mut old, mut new) = (Seeker::new(old), Seeker::new(new));
        let mut found = super::Differences::default();
        for cell in cells {
            let before = self.hashed_rows(&mut old, key, Side::Old, cell)?;
            let after = self.hashed_rows(&mut new, key, Side::New, cell)?;
            let lone = after.iter().filter(|(hash, _)| before.binary_search_by_key(hash, |row| row.0).is_err());
            found.added.extend(lone.map(|(_, row)| *row));
            for (hash, row) in before {
                let Ok(other) = after.binary_search_by_key(&hash, |row| row.0) else {
                    found.removed.push(row);
                    continue;
                };
                let pair = (row, after[other].1);
                match self.verdict(old.seek(pair.0 as usize).ok()?, new.seek(pair.1 as usize).ok()?) {
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

    fn verdict(&self, old: &dyn RowCursor, new: &dyn RowCursor) -> Result<Verdict, (Side, Error)> {
        if !has_same_cells(&self.keys, old, new)? {
            return Ok(Verdict::Other);
        }
        Ok(if has_same_cells(&self.values, old, new)? { Verdict::Same } else { Verdict::Changed })
    }
}

fn has_same_cells(columns: &[ColumnPair], old: &dyn RowCursor, new: &dyn RowCursor) -> Result<bool, (Side, Error)> {
    for &[a, b] in columns {
        let a = old.value(a).map_err(|e| (Side::Old, e))?;
        let b = new.value(b).map_err(|e| (Side::New, e))?;
        if !same_value(&a, &b) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Adds the fields that differ, and the texts of ids among them.
pub(super) fn fields<'t>(
    old: &'t dyn Table,
    new: &'t dyn Table,
    rows: (u32, u32),
    fields: &mut Vec<FieldChange<'t>>,
    damaged: &mut Damaged<'_>,
) {
    for [a, b] in Columns::new(old, new).values {
        let before = fields.len();
        for (a, b) in std::iter::once((a, b)).chain(old.text_of(a).zip(new.text_of(b))) {
            let (had, has) = (cell(old, rows.0, a, Side::Old, damaged), cell(new, rows.1, b, Side::New, damaged));
            differ((&*old.columns()[a].name).into(), had, has, fields);
            if fields.len() == before {
                break;
            }
        }
    }
}

/// A cell; null with a note if it is damaged.
pub(super) fn cell<'t>(
    table: &'t dyn Table,
    row: u32,
    column: usize,
    side: Side,
    damaged: &mut Damaged<'_>,
) -> Value<'t> {
    table.value(row as usize, column).unwrap_or_else(|error| {
        damaged(side, error);
        Value::Null
    })
}

/// Adds the fields of a row that only one of the files has: all but its keys and places.
pub(super) fn lone_fields<'t>(
    table: &'t dyn Table,
    pair: Pair,
    fields: &mut Vec<FieldChange<'t>>,
    damaged: &mut Damaged<'_>,
) {
    let row = pair.old.or(pair.new).expect("a pair has a row");
    let (side, columns) = (if pair.old.is_some() { Side::Old } else { Side::New }, table.columns());
    let paths: Vec<usize> = keys(table).filter_map(|at| path_of_key(table, at)).collect();
    fields.reserve(columns.len());
    for (at, column) in columns.iter().enumerate() {
        if matches!(column.role, Role::Key | Role::Place) || paths.contains(&at) {
            continue;
        }
        let value = cell(table, row, at, side, damaged);
        let name = (&*column.name).into();
        fields.push(match side {
            Side::Old => FieldChange { name, old: value, new: Value::Null },
            Side::New => FieldChange { name, old: Value::Null, new: value },
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
    let row_number = row as usize;
    let mut parts: Vec<(Cow<'_, str>, Value<'_>)> = Vec::new();
    for at in keys(table) {
        let path = path_of_key(table, at).map(|path| Ok::<_, Error>((path, table.value(row_number, path)?)));
        let (at, value) = match path.transpose()? {
            Some((path, text)) if !text.is_null() => (path, text),
            _ => (at, table.value(row_number, at)?),
        };
        parts.push(((&*table.columns()[at].name).into(), value));
    }
    Ok(match parts.len() {
        0 => Value::from(row),
        1 => parts.remove(0).1,
        _ => Value::Map(parts),
    })
}

/// Rows that are skipped one by one before a new search.
const NEAR: usize = 256;

/// Goes from row to row of one table, forwards best.
pub struct Seeker<'t> {
    table: &'t dyn Table,
    cursor: Option<(Box<dyn RowCursor + 't>, usize)>,
}

impl<'t> Seeker<'t> {
    pub fn new(table: &'t dyn Table) -> Self {
        Self { table, cursor: None }
    }

    /// A cursor at `row`.
    pub fn seek(&mut self, row: usize) -> Result<&dyn RowCursor> {
        let near = self.cursor.take().filter(|(_, at)| (*at..=at + NEAR).contains(&row));
        let (mut cursor, mut at) = match near {
            Some(near) => near,
            None => {
                let mut cursor = self.table.cursor(row);
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

    fn step(&self, cursor: &mut dyn RowCursor, row: usize) -> Result<()> {
        let mut damage = None;
        if advance(cursor, |error| damage = Some(error)) {
            return Ok(());
        }
        Err(damage.unwrap_or_else(|| no_cell(self.table.name(), row, 0)))
    }
}

impl Comparable for Columns<'_> {
    fn keys(&self, side: Side, faults: &Faults) -> Keys {
        let mut keys = Keys::default();
        let mut cursor = self.side(side).cursor(0);
        while advance(&mut *cursor, |error| faults.add(side, error)) {
            let row = keys.hashes.len();
            if row >= MAX_ROWS {
                faults.add(side, too_many(self.side(side)));
                break;
            }
            keys.hashes.push(self.hash(&*cursor, side, &self.keys).unwrap_or_else(|error| {
                faults.add(side, error);
                keys.skipped.extend(u32::try_from(row));
                self.state.hash_one((side as u8, row))
            }));
        }
        keys
    }

    fn compare(&self, pairs: &[(u32, u32)], each: &mut Each<'_>) {
        let [old, new] = self.tables;
        let (mut old, mut new) = (Seeker::new(old), Seeker::new(new));
        for &pair in pairs {
            let verdict = match (old.seek(pair.0 as usize), new.seek(pair.1 as usize)) {
                (Ok(old), Ok(new)) => self.verdict(old, new),
                (Err(error), _) => Err((Side::Old, error)),
                (_, Err(error)) => Err((Side::New, error)),
            };
            each(pair, verdict);
        }
    }

    fn contents(&self, side: Side, rows: &[u32]) -> Vec<u64> {
        let mut seeker = Seeker::new(self.side(side));
        let contents = rows.iter().map(|&row| {
            let hash = seeker.seek(row as usize).and_then(|at| self.hash(at, side, &self.values));
            // An unreadable row equals no other; its damage is reported by the comparison.
            hash.unwrap_or_else(|_| self.state.hash_one((side as u8, row)))
        });
        contents.collect()
    }

    fn piece(&self) -> usize {
        1 << 13
    }
}

/// Rows of one table that are compared at most.
pub const MAX_ROWS: usize = 1 << 27;
