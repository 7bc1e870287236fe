//! Groups of rows and their aggregates, by all threads.

use super::joined::JoinedTable;
use super::shape::{Call, MOST_KEYS, Question, What};
use crate::ask::sql::cells;
use crate::error::{Error, ErrorKind, Result};
use crate::report::Progress;
use crate::table::{Kind, RowCursor, Table, TableParts, Value};
use crate::threads::{self, prelude::*};
use hashbrown::HashTable;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::ops::Range;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Rows of a share that one thread reads at once: at least, and at most.
const SHARE: (usize, usize) = (4096, 128 << 10);
/// Shares for each thread, so that threads end at about the same time.
const PER_THREAD: usize = 4;

/// The cells of a row in the columns of the question.
type Keys<'v> = [Value<'v>; MOST_KEYS];

/// An aggregate of a group of the rows so far.
#[derive(Debug, Clone)]
enum State {
    Count(u64),
    #[expect(clippy::box_collection, reason = "most states are counts, and there is one for each group")]
    Distinct(Box<HashSet<Key>>),
    /// The sum, the sum without signs, and the number of numbers. The first is right if the second fits into 63 bits.
    Sum(i64, u64, u64),
    /// The least or the greatest cell.
    Best(What, Box<Value<'static>>),
}

/// A cell that identifies a group.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Number(u64),
    Text(Box<str>),
    Guid([u8; 36]),
}

/// Groups are divided by their hashes into this many partitions. One thread merges a partition.
const PARTITIONS: usize = 16;

/// Groups of the rows of some shares.
#[derive(Debug, Default)]
struct Groups<'k>([Partition<'k>; PARTITIONS]);

/// The groups with the same bits in their hashes. `keys` and `states` have the first group's cells, then the second's.
#[derive(Debug, Default)]
struct Partition<'k> {
    index: HashTable<usize>,
    hashes: Vec<u64>,
    /// A row of each group.
    rows: Vec<usize>,
    keys: Vec<Value<'k>>,
    states: Vec<State>,
}

/// The rows of an answer: the cells of the columns, then the aggregates.
#[derive(Debug)]
pub(super) struct Rows {
    cells: Vec<Value<'static>>,
    /// The cells of one row.
    width: usize,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.cells.len().checked_div(self.width).unwrap_or(0)
    }

    pub(super) fn cell(&self, row: usize, column: usize) -> Option<&Value<'static>> {
        part(&self.cells, row, self.width).get(column)
    }
}

/// The part with this number of a slice of parts.
fn part<T>(all: &[T], number: usize, width: usize) -> &[T] {
    let start = number.saturating_mul(width);
    all.get(start..start.saturating_add(width)).unwrap_or_default()
}

/// Why SQLite itself must answer: a number is outside of 63 bits, or a sum of such numbers.
fn outside() -> Error {
    Error::of_part(ErrorKind::Unsupported { what: "numbers of more than 63 bits in groups".into() }, "")
}

/// Why SQLite itself must answer: memory and time for an answer are bounded.
fn so_many(what: &str) -> Error {
    Error::of_part(ErrorKind::Unsupported { what: format!("so many {what}").into() }, "")
}

/// The most joined rows of one share of a table.
const MOST_JOINED: usize = 1 << 24;

/// The most groups that are made while rows are read, which bounds the memory for them. SQLite answers where there are more.
const MOST_GROUPS: usize = 2 << 20;

/// The plan for reading the rows of a table.
struct Reading<'q> {
    question: &'q Question,
    /// The join that the rows are of, if any.
    joined: Option<&'q JoinedTable<'q>>,
    /// The columns that identify a group while rows are read: ids instead of their texts, where texts follow from ids.
    keys: Vec<usize>,
    columns: Vec<usize>,
    /// The groups made so far.
    made: AtomicUsize,
    progress: &'q Progress,
}

/// Answers a question.
///
/// # Errors
/// Damage, and where SQLite must decide. It answers then.
pub(super) fn answer(
    question: &Question,
    table: &dyn Table,
    joined: Option<&JoinedTable<'_>>,
    progress: &Progress,
) -> Result<Rows> {
    let parts = table.parts();
    let is_id_of = |id: &usize, text: usize| {
        let kind = table.columns().get(*id).map(|column| column.kind);
        matches!(kind, Some(Kind::Id64 | Kind::Id32)) && table.text_of(*id) == Some(text)
    };
    // The texts of one id may differ between files.
    let by_id = |column: &usize| match parts {
        None => (0..table.columns().len()).find(|id| is_id_of(id, *column)).unwrap_or(*column),
        Some(_) => *column,
    };
    let keys: Vec<usize> = question.keys.iter().map(by_id).collect();
    let mut columns = keys.clone();
    columns.extend(question.calls.iter().filter_map(|call| call.column));
    if let Some(condition) = &question.condition {
        condition.add_columns(&mut columns);
    }
    columns.sort_unstable();
    columns.dedup();
    let reading = Reading { question, joined, keys, columns, made: AtomicUsize::new(0), progress };
    if let Some(joined) = joined {
        // Not in a thread that shares work: all of them make the index.
        joined.index()?;
    }
    let groups = match parts {
        Some(parts) => reading.all_parts(parts)?,
        None => reading.table(table)?,
    };
    if reading.keys == question.keys {
        return reading.sorted(groups);
    }
    reading.sorted(reading.by_text(table, groups)?)
}

impl Reading<'_> {
    fn all_parts(&self, parts: &dyn TableParts) -> Result<Groups<'static>> {
        let may_match = |part: &usize| match &self.question.condition {
            Some(condition) => condition.answer(&|column| Ok(parts.common(*part, column))).ok() != Some(Some(false)),
            None => true,
        };
        let wanted: Vec<usize> = (0..parts.count()).filter(may_match).collect();
        let read = |part: usize| -> Result<Groups<'static>> {
            let Some(open) = parts.open(part)? else { return Ok(Groups::default()) };
            match self.table(open.table()) {
                Err(error) if !matches!(error.kind(), ErrorKind::Unsupported { .. }) => {
                    parts.leave_out(part, error).map(|()| Groups::default())
                }
                read => read,
            }
        };
        let shares = wanted.len().div_ceil(threads::count().saturating_mul(PER_THREAD)).clamp(1, 64);
        let read_all = |parts: &[usize]| {
            parts.iter().try_fold(Groups::default(), |all, part| {
                let more = read(*part)?;
                all.0.into_iter().zip(more.0).map(|(all, more)| self.merged(all, more)).collect()
            })
        };
        let read: Result<Vec<Groups<'_>>> = wanted.par_chunks(shares).map(read_all).collect();
        self.all_merged(read?)
    }

    /// The groups of a table, whose rows several threads share if a walk may begin anywhere.
    fn table(&self, table: &dyn Table) -> Result<Groups<'static>> {
        let len = if table.is_random_access() { table.len()? } else { 0 };
        let shares = threads::count().saturating_mul(PER_THREAD);
        let share = len.div_ceil(shares).clamp(SHARE.0, SHARE.1);
        if len <= share {
            return self.rows(table, 0..usize::MAX);
        }
        let count = len.div_ceil(share);
        let read = |number: usize| {
            let start = number.saturating_mul(share);
            self.rows(table, start..start.saturating_add(share).min(len))
        };
        let read: Result<Vec<Groups<'_>>> = (0..count).into_par_iter().with_max_len(1).map(read).collect();
        self.all_merged(read?)
    }

    fn rows(&self, table: &dyn Table, rows: Range<usize>) -> Result<Groups<'static>> {
        let mut groups = Groups::default();
        let (mut cursor, mut left) = match self.joined {
            Some(joined) => (joined.cursor_within(rows.clone(), &self.columns)?, MOST_JOINED),
            None => (table.cursor_over(rows.start, &self.columns), rows.len()),
        };
        while left > 0 && cursor.advance()? {
            left = left.saturating_sub(1);
            self.add(&mut groups, &*cursor)
                .map_err(|error| error.context(format_args!("{}: row {}", table.name(), cursor.row())))?;
        }
        if self.joined.is_some() {
            // SQLite can be stopped in the midst of a join.
            return if left == 0 { Err(so_many("joined rows")) } else { Ok(groups) };
        }
        self.progress.advance(rows.len().saturating_sub(left) as u64);
        Ok(groups)
    }

    /// Adds the current row of `row`.
    fn add(&self, groups: &mut Groups<'static>, row: &dyn RowCursor) -> Result<()> {
        if let Some(condition) = &self.question.condition
            && condition.answer(&|column| row.value(column).map(Some))? != Some(true)
        {
            return Ok(());
        }
        let mut keys: Keys<'_> = [const { Value::Null }; MOST_KEYS];
        for (key, column) in keys.iter_mut().zip(&self.keys) {
            *key = row.value(*column)?;
        }
        let keys = keys.get(..self.keys.len()).unwrap_or_default();
        let hash = hash(keys)?;
        let partition = of_hash(&mut groups.0, hash)?;
        let (place, is_new) = self.place(partition, hash, keys, row.row())?;
        if is_new {
            partition.keys.extend(keys.iter().map(owned));
        }
        for (state, call) in self.states(partition, place).iter_mut().zip(&self.question.calls) {
            match call.column {
                None => state.add(&Value::Bool(true))?,
                Some(column) => state.add(&row.value(column)?)?,
            }
        }
        Ok(())
    }

    /// The place of the group with these keys, and whether it is new: its keys must be added then.
    fn place(&self, partition: &mut Partition<'_>, hash: u64, keys: &[Value<'_>], row: usize) -> Result<(usize, bool)> {
        let Partition { index, hashes, rows, keys: all, states } = partition;
        let is_own = |place: &usize| {
            hashes.get(*place) == Some(&hash)
                && part(all, *place, keys.len()).iter().zip(keys).all(|(a, b)| is_same(a, b))
        };
        if let Some(place) = index.find(hash, is_own) {
            return Ok((*place, false));
        }
        if self.made.fetch_add(1, Relaxed) >= MOST_GROUPS {
            return Err(so_many("groups"));
        }
        let place = hashes.len();
        hashes.push(hash);
        rows.push(row);
        states.extend(self.question.calls.iter().map(State::new));
        index.insert_unique(hash, place, |place| hashes.get(*place).copied().unwrap_or_default());
        Ok((place, true))
    }

    fn states<'p>(&self, partition: &'p mut Partition<'_>, place: usize) -> &'p mut [State] {
        let calls = self.question.calls.len();
        let start = place.saturating_mul(calls);
        partition.states.get_mut(start..start.saturating_add(calls)).unwrap_or_default()
    }

    /// Adds groups of later rows to the partitions `to`.
    fn add_all<'k>(&self, to: &mut [Partition<'k>], from: Partition<'k>) -> Result<()> {
        let (mut states, mut keys) = (from.states.into_iter(), from.keys.into_iter());
        for (hash, row) in from.hashes.into_iter().zip(from.rows) {
            let mut own: Keys<'k> = [const { Value::Null }; MOST_KEYS];
            own.iter_mut().zip(keys.by_ref().take(self.keys.len())).for_each(|(to, key)| *to = key);
            let partition = of_hash(to, hash)?;
            let (place, is_new) = self.place(partition, hash, own.get(..self.keys.len()).unwrap_or_default(), row)?;
            if is_new {
                partition.keys.extend(own.into_iter().take(self.keys.len()));
            }
            self.states(partition, place).iter_mut().zip(&mut states).for_each(|(state, more)| state.merge(more));
        }
        Ok(())
    }

    /// The groups of the rows of both; those of `other` come later.
    fn merged<'k>(&self, mut all: Partition<'k>, other: Partition<'k>) -> Result<Partition<'k>> {
        if all.hashes.is_empty() {
            return Ok(other);
        }
        self.add_all(slice::from_mut(&mut all), other)?;
        Ok(all)
    }

    /// The groups of all shares, which are in the order of their rows.
    fn all_merged<'k>(&self, shares: Vec<Groups<'k>>) -> Result<Groups<'k>> {
        let mut partitions: [Vec<Partition<'k>>; PARTITIONS] = Default::default();
        for share in shares {
            partitions.iter_mut().zip(share.0).for_each(|(all, partition)| all.push(partition));
        }
        let merged = |shares: Vec<Partition<'k>>| {
            shares.into_iter().try_fold(Partition::default(), |all, more| self.merged(all, more))
        };
        let merged: Result<Vec<Partition<'k>>> = partitions.into_par_iter().with_max_len(1).map(merged).collect();
        Ok(merged?.into_iter().collect())
    }

    /// The groups by the texts of the ids by which rows were grouped.
    fn by_text<'t>(&self, table: &'t dyn Table, groups: Groups<'static>) -> Result<Groups<'t>> {
        let named = |partition: Partition<'static>| -> Result<Partition<'t>> {
            let mut own = partition.keys.into_iter();
            let mut keys = Vec::with_capacity(own.len());
            let mut hashes = Vec::with_capacity(partition.rows.len());
            for row in &partition.rows {
                let start = keys.len();
                for ((column, own_column), own) in self.question.keys.iter().zip(&self.keys).zip(&mut own) {
                    keys.push(if column == own_column { own } else { table.value(*row, *column)? });
                }
                hashes.push(hash(keys.get(start..).unwrap_or_default())?);
            }
            Ok(Partition { keys, hashes, index: HashTable::new(), ..partition })
        };
        let named: Result<Vec<Partition<'t>>> = groups.0.into_par_iter().with_max_len(1).map(named).collect();
        let named = named?;
        let mut hashes: Vec<u64> = named.iter().flat_map(|partition| &partition.hashes).copied().collect();
        hashes.par_sort_unstable();
        if hashes.windows(2).all(|pair| pair.first() != pair.last()) {
            return Ok(named.into_iter().collect());
        }
        // Several ids have one text, or none.
        self.made.store(0, Relaxed);
        let regrouped = |partition: Partition<'t>| {
            let mut by_text = Groups::default();
            self.add_all(&mut by_text.0, partition).map(|()| by_text)
        };
        let by_text: Result<Vec<Groups<'t>>> = named.into_par_iter().with_max_len(1).map(regrouped).collect();
        self.all_merged(by_text?)
    }

    /// The answer: the groups in the order of their keys, or the first ones if the question wants no others.
    fn sorted(&self, groups: Groups<'_>) -> Result<Rows> {
        let question = self.question;
        let Question { keys, calls, descends, .. } = question;
        let width = keys.len().saturating_add(calls.len());
        // Without grouped columns there is one row, even of no rows.
        if !question.is_grouped && groups.0.iter().all(|partition| partition.hashes.is_empty()) {
            let cells: Result<Vec<Value<'static>>> =
                calls.iter().map(|call| Ok(State::new(call).value(*call)?.into_owned())).collect();
            return Ok(Rows { cells: cells?, width });
        }
        let key = |(partition, place): (usize, usize), column: usize| {
            groups.0.get(partition).and_then(|partition| part(&partition.keys, place, keys.len()).get(column))
        };
        let states = |(partition, place): (usize, usize)| {
            groups.0.get(partition).map_or(&[][..], |partition| part(&partition.states, place, calls.len()))
        };
        let directed = |a: &Value<'_>, b: &Value<'_>, descends| if descends { order(b, a) } else { order(a, b) };
        let by_key = |a: (usize, usize), b: (usize, usize), column: usize, descends: bool| {
            key(a, column).zip(key(b, column)).map_or(Ordering::Equal, |(a, b)| directed(a, b, descends))
        };
        let by_keys = |a: &(usize, usize), b: &(usize, usize)| {
            let mut orders = (0..).zip(descends).map(|(column, descends)| by_key(*a, *b, column, *descends));
            orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        let by_terms = |a: &(usize, usize), b: &(usize, usize)| {
            let term = |(column, descends): &(usize, bool)| {
                let Some(call) = column.checked_sub(keys.len()) else { return by_key(*a, *b, *column, *descends) };
                let value =
                    |group| states(group).get(call).zip(calls.get(call)).map(|(state, call)| state.value(*call));
                match (value(*a), value(*b)) {
                    (Some(Ok(a)), Some(Ok(b))) => directed(&a, &b, *descends),
                    _ => Ordering::Equal,
                }
            };
            let mut orders = question.first.iter().flat_map(|first| &first.terms).map(term);
            orders.find(|order| order.is_ne()).unwrap_or_else(|| by_keys(a, b))
        };
        let count = question.first.as_ref().map_or(usize::MAX, |first| first.count);
        // Twice as many as wanted, so that the worse half goes seldom.
        let most = count.saturating_mul(2).max(SHARE.0);
        let mut chosen: Vec<(usize, usize)> = Vec::new();
        let mut last = None;
        for (number, partition) in groups.0.iter().enumerate() {
            for place in 0..partition.hashes.len() {
                let group = (number, place);
                // A sum that SQLite refuses is one in a group that is not shown, too.
                for (state, call) in states(group).iter().zip(calls) {
                    state.value(*call)?;
                }
                if last.as_ref().is_some_and(|last| by_terms(&group, last).is_gt()) {
                    continue;
                }
                chosen.push(group);
                if chosen.len() >= most
                    && let Some(at) = count.checked_sub(1)
                {
                    last = Some(*chosen.select_nth_unstable_by(at, by_terms).1);
                    chosen.truncate(count);
                }
            }
        }
        if count < chosen.len() {
            chosen.select_nth_unstable_by(count, by_terms);
            chosen.truncate(count);
        }
        let descends_first = descends.first().copied().unwrap_or_default();
        let leading = |group: &(usize, usize)| {
            let first = key(*group, 0).map_or(0, leading);
            if descends_first { !first } else { first }
        };
        let mut sorted: Vec<(u64, (usize, usize))> = chosen.iter().map(|group| (leading(group), *group)).collect();
        sorted.par_sort_unstable_by(|(a_first, a), (b_first, b)| a_first.cmp(b_first).then_with(|| by_keys(a, b)));
        let mut cells = Vec::with_capacity(sorted.len().saturating_mul(width));
        for (_, group) in sorted {
            cells.extend((0..keys.len()).filter_map(|column| key(group, column)).map(owned));
            for (state, call) in states(group).iter().zip(calls) {
                cells.push(state.value(*call)?.into_owned());
            }
        }
        Ok(Rows { cells, width })
    }
}

impl<'k> FromIterator<Partition<'k>> for Groups<'k> {
    fn from_iter<I: IntoIterator<Item = Partition<'k>>>(partitions: I) -> Self {
        let mut all = Self::default();
        all.0.iter_mut().zip(partitions).for_each(|(place, partition)| *place = partition);
        all
    }
}

/// The partition of the groups with this hash.
fn of_hash<'p, 'k>(partitions: &'p mut [Partition<'k>], hash: u64) -> Result<&'p mut Partition<'k>> {
    let number = (hash >> 40).checked_rem(partitions.len() as u64);
    number.and_then(|number| partitions.get_mut(usize::try_from(number).ok()?)).ok_or_else(outside)
}

impl State {
    fn new(call: &Call) -> Self {
        match call.what {
            What::Count => Self::Count(0),
            What::CountDistinct => Self::Distinct(Box::default()),
            What::Sum | What::Total | What::Avg => Self::Sum(0, 0, 0),
            What::Min | What::Max => Self::Best(call.what, Box::default()),
        }
    }

    /// Adds a cell. Null cells, and floats that are not numbers, count for nothing.
    fn add(&mut self, cell: &Value<'_>) -> Result<()> {
        let is_null = match cell {
            Value::Null => true,
            Value::F32(real) => real.is_nan(),
            Value::F64(real) => real.is_nan(),
            _ => false,
        };
        if is_null {
            return Ok(());
        }
        match self {
            Self::Count(count) => *count = count.saturating_add(1),
            Self::Distinct(keys) => {
                keys.insert(key(cell)?);
            }
            Self::Sum(sum, size, count) => {
                let number = match cell {
                    Value::Bool(truth) => i64::from(*truth),
                    Value::Int(number) => *number,
                    Value::Uint(number) => i64::try_from(*number).map_err(|_| outside())?,
                    _ => return Err(outside()),
                };
                *sum = sum.wrapping_add(number);
                *size = size.saturating_add(number.unsigned_abs());
                *count = count.saturating_add(1);
            }
            Self::Best(what, best) => {
                if matches!(cell, Value::Uint(number) if i64::try_from(*number).is_err()) {
                    return Err(outside());
                }
                if is_better(*what, cell, best) {
                    **best = owned(cell);
                }
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        match (self, other) {
            (Self::Count(count), Self::Count(more)) => *count = count.saturating_add(more),
            (Self::Distinct(keys), Self::Distinct(more)) => keys.extend(*more),
            (Self::Sum(sum, size, count), Self::Sum(more, larger, further)) => {
                *sum = sum.wrapping_add(more);
                *size = size.saturating_add(larger);
                *count = count.saturating_add(further);
            }
            (Self::Best(what, best), Self::Best(_, other)) if !other.is_null() && is_better(*what, &other, best) => {
                *best = other;
            }
            _ => {}
        }
    }

    /// The value of the aggregate, with SQLite's type.
    #[expect(clippy::cast_precision_loss, reason = "as SQLite does")]
    fn value(&self, call: Call) -> Result<Value<'_>> {
        Ok(match *self {
            Self::Count(count) => Value::Uint(count),
            Self::Distinct(ref keys) => keys.len().into(),
            Self::Best(_, ref best) => best.borrowed(),
            Self::Sum(sum, size, count) => {
                // A sum that leaves 63 bits on its way is an error, or is added as floats.
                if i64::try_from(size).is_err() {
                    return Err(outside());
                }
                match call.what {
                    What::Total => Value::F64(sum as f64),
                    _ if count == 0 => Value::Null,
                    What::Avg => Value::F64(sum as f64 / count as f64),
                    _ => Value::Int(sum),
                }
            }
        })
    }
}

/// Whether `cell` replaces the least or greatest cell so far: the first of equal ones is kept.
fn is_better(what: What, cell: &Value<'_>, best: &Value<'_>) -> bool {
    match order(cell, best) {
        _ if best.is_null() => true,
        Ordering::Less => what == What::Min,
        Ordering::Greater => what == What::Max,
        Ordering::Equal => false,
    }
}

/// A number that orders cells of one column as `order` does. Cells with equal numbers may still differ.
fn leading(cell: &Value<'_>) -> u64 {
    match cell {
        Value::Bool(truth) => (*truth).into(),
        Value::Uint(number) | Value::Id64(number) => *number,
        Value::Id32(number) => (*number).into(),
        other => other.as_text().map_or(0, |text| {
            let mut first = [0; 8];
            first.iter_mut().zip(text.as_bytes()).for_each(|(to, byte)| *to = *byte);
            u64::from_be_bytes(first)
        }),
    }
}

fn owned(cell: &Value<'_>) -> Value<'static> {
    cell.clone().into_owned()
}

/// The order of two cells of one column in SQLite.
fn order(a: &Value<'_>, b: &Value<'_>) -> Ordering {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Uint(a), Value::Uint(b)) | (Value::Id64(a), Value::Id64(b)) => a.cmp(b),
        (Value::Id32(a), Value::Id32(b)) => a.cmp(b),
        (Value::F32(a), Value::F32(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (Value::F64(a), Value::F64(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (Value::Guid(a), Value::Guid(b)) => a.to_ascii().cmp(&b.to_ascii()),
        (Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        _ => match (a.as_text(), b.as_text()) {
            (Some(a), Some(b)) => a.as_bytes().cmp(b.as_bytes()),
            _ => Ordering::Equal,
        },
    }
}

/// Whether two cells of one column are in one group.
fn is_same(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Uint(a), Value::Uint(b)) | (Value::Id64(a), Value::Id64(b)) => a == b,
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::Null, other) | (other, Value::Null) => other.is_null() && a.is_null(),
        _ => order(a, b).is_eq(),
    }
}

/// The hash of cells that identify a group.
fn hash(keys: &[Value<'_>]) -> Result<u64> {
    keys.iter().try_fold(0u64, |all, key| {
        let own = match key {
            Value::Null => 0,
            Value::Uint(number) if i64::try_from(*number).is_err() => return Err(outside()),
            Value::Guid(guid) => guid.to_ascii().iter().fold(0u64, |all, byte| all.rotate_left(5) ^ u64::from(*byte)),
            key => cells::hash(key).ok_or_else(outside)?,
        };
        Ok((all.rotate_left(23) ^ own).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    })
}

fn key(cell: &Value<'_>) -> Result<Key> {
    Ok(match cell {
        Value::Bool(truth) => Key::Number((*truth).into()),
        Value::Int(number) => Key::Number(number.cast_unsigned()),
        Value::Uint(number) | Value::Id64(number) => Key::Number(*number),
        Value::Id32(number) => Key::Number((*number).into()),
        Value::Guid(guid) => Key::Guid(guid.to_ascii()),
        other => Key::Text(other.as_text().ok_or_else(outside)?.into()),
    })
}
