//! Two tables as one, whose rows are the pairs with equal ids or whole numbers.

use crate::ask::sql::cells;
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::table::{Column, Kind, Literal, RowCursor, Table, Value, no_cell};
use crate::threads::prelude::*;
use hashbrown::HashTable;
use std::ops::Range;

/// The most rows that an index is made of.
const MOST: usize = 8 << 20;

/// Two joined tables. The rows of one are walked, and each leads to rows of the other by an index.
///
/// As a [`Table`], its length and the first row of a walk count rows of the walked table. The number of a pair has the
/// numbers of both rows.
pub(super) struct JoinedTable<'a> {
    tables: [&'a dyn Table; 2],
    /// The equal columns.
    on: [usize; 2],
    /// The columns of the first table, then the columns of the second.
    columns: Vec<Column>,
    /// Whether the second table is walked.
    walks_second: bool,
    index: Lazy<Index>,
}

/// The rows of a table by the hashes of their cells in one column.
pub(super) struct Index {
    /// A hash, and the last row with it.
    last: HashTable<(u64, u32)>,
    /// For each row, the row before with the same hash.
    before: Vec<u32>,
}

/// No row.
const NONE: u32 = u32::MAX;

/// Whether cells of the two kinds are equal in SQLite just if their hashes are.
const fn joins(a: Kind, b: Kind) -> bool {
    const fn is_id(kind: Kind) -> bool {
        matches!(kind, Kind::Id64 | Kind::Id32)
    }
    const fn is_whole(kind: Kind) -> bool {
        matches!(kind, Kind::Bool | Kind::Int | Kind::Uint)
    }
    is_id(a) && is_id(b) || is_whole(a) && is_whole(b)
}

/// The hash of a cell, which no other whole number or id has; `None` for null.
fn hash(cell: &Value<'_>) -> Result<Option<u64>> {
    match cell {
        Value::Uint(number) if i64::try_from(*number).is_err() => {
            Err(Error::of_part(ErrorKind::Unsupported { what: "a join of numbers of more than 63 bits".into() }, ""))
        }
        cell => Ok(cells::hash(cell)),
    }
}

/// The hashes of the cells of at most `count` rows.
fn hashes(table: &dyn Table, column: usize, first: usize, count: usize) -> Result<Vec<Option<u64>>> {
    let mut hashes = Vec::new();
    let mut cursor = table.cursor_over(first, &[column]);
    while hashes.len() < count && cursor.advance()? {
        hashes.push(hash(&cursor.value(column)?)?);
    }
    Ok(hashes)
}

impl Index {
    fn new(table: &dyn Table, column: usize) -> Result<Self> {
        /// Rows that one thread reads at once.
        const SHARE: usize = 4096;
        let len = if table.is_random_access() { table.len()? } else { 0 };
        let read = |share: usize| hashes(table, column, share.saturating_mul(SHARE), SHARE);
        let shares: Vec<Vec<Option<u64>>> = match len {
            0..=SHARE => vec![hashes(table, column, 0, MOST)?],
            _ => (0..len.div_ceil(SHARE)).into_par_iter().map(read).collect::<Result<_>>()?,
        };
        let rows = shares.iter().map(Vec::len).sum();
        if rows >= MOST {
            return Err(Error::of_part(
                ErrorKind::Unsupported { what: "a join of more rows than a share may have".into() },
                "",
            ));
        }
        let (mut last, mut before) = (HashTable::with_capacity(rows), Vec::with_capacity(rows));
        for (row, hash) in (0u32..).zip(shares.into_iter().flatten()) {
            let Some(hash) = hash else {
                before.push(NONE);
                continue;
            };
            match last.find_mut(hash, |(other, _): &(u64, u32)| *other == hash) {
                Some((_, same)) => before.push(std::mem::replace(same, row)),
                None => {
                    before.push(NONE);
                    last.insert_unique(hash, (hash, row), |(hash, _)| *hash);
                }
            }
        }
        Ok(Self { last, before })
    }

    fn last(&self, hash: u64) -> u32 {
        self.last.find(hash, |(other, _)| *other == hash).map_or(NONE, |(_, row)| *row)
    }
}

impl<'a> JoinedTable<'a> {
    /// `None` where SQLite joins them sooner, or joins other rows.
    pub(super) fn new(tables: [&'a dyn Table; 2], on: [usize; 2]) -> Option<Self> {
        let [first, second] = tables;
        let (a, b) = (first.columns().get(on[0])?, second.columns().get(on[1])?);
        if !joins(a.kind, b.kind) || first.parts().is_some() || second.parts().is_some() {
            return None;
        }
        let len = |table: &dyn Table| table.known_len().unwrap_or(usize::MAX);
        let walks_second = len(second) > len(first);
        let columns = first.columns().iter().chain(second.columns()).cloned().collect();
        let this = Self { tables, on, columns, walks_second, index: Lazy::default() };
        // SQLite finds the few rows that match few others.
        const FEW: usize = 64;
        let ((walked, column), (found, _)) = (this.walked(), this.found());
        let is_probe = walked.finds(column) && len(found).saturating_mul(FEW) < len(walked);
        (!is_probe).then_some(this)
    }

    /// The table that is walked, and its column of the pair.
    fn walked(&self) -> (&'a dyn Table, usize) {
        let ([first, second], [a, b]) = (self.tables, self.on);
        if self.walks_second { (second, b) } else { (first, a) }
    }

    fn found(&self) -> (&'a dyn Table, usize) {
        let ([first, second], [a, b]) = (self.tables, self.on);
        if self.walks_second { (first, a) } else { (second, b) }
    }

    /// The table with this column, its own number of the column, and whether that table is walked.
    fn of(&self, column: usize) -> (&'a dyn Table, usize, bool) {
        let [first, second] = self.tables;
        match column.checked_sub(first.columns().len()) {
            None => (first, column, !self.walks_second),
            Some(column) => (second, column, self.walks_second),
        }
    }

    /// The index, made on first use.
    pub(super) fn index(&self) -> Result<&Index> {
        let (found, column) = self.found();
        self.index.get_or_try_init(|| Index::new(found, column))
    }

    /// The pairs of these rows of the walked table.
    pub(super) fn cursor_within(&self, rows: Range<usize>, columns: &[usize]) -> Result<Box<dyn RowCursor + '_>> {
        let index = self.index()?;
        let (walked, column) = self.walked();
        let of_walk = columns.iter().map(|column| self.of(*column)).filter(|(.., is_walked)| *is_walked);
        let columns: Vec<usize> = of_walk.map(|(_, column, _)| column).chain([column]).collect();
        let walk = walked.cursor_over(rows.start, &columns);
        Ok(Box::new(Pairs { joined: self, index, walk, left: rows.len(), found: NONE }))
    }

    /// A number for a pair.
    fn pair(&self, walked: usize, found: u32) -> Option<usize> {
        walked.checked_mul(self.index().ok()?.before.len())?.checked_add(found as usize)
    }
}

/// A walk over pairs.
struct Pairs<'t, 'a> {
    joined: &'t JoinedTable<'a>,
    index: &'t Index,
    walk: Box<dyn RowCursor + 't>,
    /// Rows of the walk that are left.
    left: usize,
    found: u32,
}

impl RowCursor for Pairs<'_, '_> {
    fn advance(&mut self) -> Result<bool> {
        let before = self.index.before.get(self.found as usize);
        self.found = before.copied().unwrap_or(NONE);
        while self.found == NONE {
            if self.left == 0 || !self.walk.advance()? {
                return Ok(false);
            }
            self.left = self.left.saturating_sub(1);
            let hash = hash(&self.walk.value(self.joined.walked().1)?)?;
            self.found = hash.map_or(NONE, |hash| self.index.last(hash));
        }
        match self.joined.pair(self.walk.row(), self.found) {
            Some(_) => Ok(true),
            None => Err(no_cell("join", self.walk.row(), 0)),
        }
    }

    fn row(&self) -> usize {
        self.joined.pair(self.walk.row(), self.found).unwrap_or(usize::MAX)
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        match self.joined.of(column) {
            (_, column, true) => self.walk.value(column),
            (table, column, false) => table.value(self.found as usize, column),
        }
    }
}

impl Table for JoinedTable<'_> {
    fn name(&self) -> &str {
        "join"
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        self.walked().0.len()
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        let found = self.index()?.before.len();
        let (walked, found) = (row.checked_div(found), row.checked_rem(found));
        let (table, own, is_walked) = self.of(column);
        let row = if is_walked { walked } else { found };
        table.value(row.ok_or_else(|| no_cell("join", 0, column))?, own)
    }

    fn is_random_access(&self) -> bool {
        self.walked().0.is_random_access()
    }

    fn finds(&self, column: usize) -> bool {
        let (table, column, _) = self.of(column);
        table.finds(column)
    }

    fn search(&self, column: usize, literal: &Literal) -> Option<Vec<usize>> {
        let (table, column, _) = self.of(column);
        table.search(column, literal)
    }

    fn text_of(&self, column: usize) -> Option<usize> {
        let (table, own, _) = self.of(column);
        let before = column.checked_sub(own)?;
        table.text_of(own)?.checked_add(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::DeclaredTable;

    /// More rows than one thread reads at once; some have no key, and several have the same one.
    #[test]
    fn the_pairs_are_those_of_two_loops() {
        let numbers = |name, len: usize, modulus: usize| {
            let key = move |row: &usize| Ok(Some(row % modulus).filter(|key| *key > 2).into());
            DeclaredTable::new(name, move || Ok(len), move |row| Ok((row < len).then_some(row)))
                .column(Column::uint("row"), |row| Ok((*row).into()))
                .column(Column::uint("key"), key)
                .random_access()
        };
        let (many, few) = (numbers("many", 20_000, 9000), numbers("few", 10_000, 7000));
        let key = |row: usize, modulus: usize| Some(row % modulus).filter(|key| *key > 2);
        let mut expected: Vec<(usize, usize)> = Vec::new();
        for a in 0..20_000 {
            expected.extend((0..10_000).step_by(7000).filter_map(|start| {
                let b = key(a, 9000)?.checked_add(start).filter(|b| *b < 10_000)?;
                (key(b, 7000) == key(a, 9000)).then_some((a, b))
            }));
        }
        for tables in [[&many as &dyn Table, &few], [&few, &many]] {
            let joined = JoinedTable::new(tables, [1, 1]).unwrap();
            let row_of_many = usize::from(joined.walks_second).saturating_mul(2);
            let columns = [row_of_many, 2 - row_of_many];
            let mut pairs = Vec::new();
            for rows in [0..5000, 5000..20_000] {
                let mut cursor = joined.cursor_within(rows, &columns).unwrap();
                while cursor.advance().unwrap() {
                    let [a, b] = columns.map(|column| cursor.value(column).unwrap());
                    assert_eq!(joined.value(cursor.row(), columns[1]).unwrap(), b);
                    let (Value::Uint(a), Value::Uint(b)) = (a, b) else { panic!() };
                    pairs.push((a as usize, b as usize));
                }
            }
            pairs.sort_unstable();
            assert_eq!(pairs, expected);
        }
    }
}
