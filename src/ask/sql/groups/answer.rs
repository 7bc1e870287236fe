//! Groups of rows and their aggregates, by all threads.

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
    Distinct(HashSet<Key>),
    /// The sum, the sum without signs, and the number of numbers.
    Sum(i128, u128, u64),
    /// The least or the greatest cell.
    Best(What, Value<'static>),
}

/// A cell that identifies a group.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Number(u64),
    Text(Box<str>),
    Guid([u8; 36]),
}

#[derive(Debug)]
struct Group {
    keys: Vec<Value<'static>>,
    /// A row of the group.
    row: usize,
    states: Vec<State>,
}

/// Groups of the rows of some shares.
#[derive(Debug, Default)]
struct Groups {
    index: HashTable<usize>,
    groups: Vec<Group>,
}

/// The rows of an answer: the cells of the columns, then the aggregates.
pub(super) type Rows = Vec<Vec<Value<'static>>>;

/// Why SQLite itself must answer: a number is outside of 63 bits, or a sum of such numbers.
fn outside() -> Error {
    Error::of_part(ErrorKind::Unsupported { what: "numbers of more than 63 bits in groups".into() }, "")
}

/// The most groups of a share of the rows. SQLite groups more of them faster: on two cores it took 0.74 s for 325,000 names
/// of skeleton nodes, and groups that are made here 1.6 s.
const MOST_GROUPS: usize = 512;

/// The plan for reading the rows of a table.
struct Reading<'q> {
    question: &'q Question,
    /// The columns that identify a group while rows are read: ids instead of their texts, where texts follow from ids.
    keys: Vec<usize>,
    columns: Vec<usize>,
    progress: &'q Progress,
}

/// Answers a question.
///
/// # Errors
/// Damage, and where SQLite must decide. It answers then.
pub(super) fn answer(question: &Question, table: &dyn Table, progress: &Progress) -> Result<Rows> {
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
    let reading = Reading { question, keys, columns, progress };
    let mut groups = match parts {
        Some(parts) => reading.all_parts(parts)?,
        None => reading.table(table)?,
    };
    if reading.keys != question.keys {
        groups = reading.by_text(table, groups)?;
    }
    if groups.groups.is_empty() && !question.is_grouped {
        let states = question.calls.iter().map(State::new).collect();
        groups.groups.push(Group { keys: Vec::new(), row: 0, states });
    }
    let mut groups = groups.groups;
    groups.sort_by(|a, b| {
        let keys = a.keys.iter().zip(&b.keys).zip(&question.descends);
        let orders = keys.map(|((a, b), descends)| if *descends { order(b, a) } else { order(a, b) });
        orders.fold(Ordering::Equal, Ordering::then)
    });
    let row = |group: Group| {
        let calls = question.calls.iter().zip(group.states).map(|(call, state)| state.value(*call));
        group.keys.into_iter().map(Ok).chain(calls).collect()
    };
    groups.into_iter().map(row).collect()
}

impl Reading<'_> {
    fn all_parts(&self, parts: &dyn TableParts) -> Result<Groups> {
        let may_match = |part: &usize| match &self.question.condition {
            Some(condition) => condition.answer(&|column| Ok(parts.common(*part, column))).ok() != Some(Some(false)),
            None => true,
        };
        let wanted: Vec<usize> = (0..parts.count()).filter(may_match).collect();
        let read = |part: usize| -> Result<Groups> {
            let Some(open) = parts.open(part)? else { return Ok(Groups::default()) };
            match self.table(open.table()) {
                Err(error) if !matches!(error.kind(), ErrorKind::Unsupported { .. }) => {
                    parts.leave_out(part, error).map(|()| Groups::default())
                }
                read => read,
            }
        };
        let merge = |groups: Result<Groups>, part: &usize| groups?.merged(read(*part)?);
        let shares = wanted.len().div_ceil(threads::count().saturating_mul(PER_THREAD)).clamp(1, 64);
        let read: Vec<Result<Groups>> =
            wanted.par_chunks(shares).map(|parts| parts.iter().fold(Ok(Groups::default()), merge)).collect();
        read.into_iter().try_fold(Groups::default(), |all, more| all.merged(more?))
    }

    /// The groups of a table, whose rows several threads share if a walk may begin anywhere.
    fn table(&self, table: &dyn Table) -> Result<Groups> {
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
        let read: Vec<Result<Groups>> = (0..count).into_par_iter().with_max_len(1).map(read).collect();
        read.into_iter().try_fold(Groups::default(), |all, more| all.merged(more?))
    }

    fn rows(&self, table: &dyn Table, rows: Range<usize>) -> Result<Groups> {
        let mut groups = Groups::default();
        let mut cursor = table.cursor_over(rows.start, &self.columns);
        let mut left = rows.len();
        while left > 0 && cursor.advance()? {
            left = left.saturating_sub(1);
            self.add(&mut groups, &*cursor)
                .map_err(|error| error.context(format_args!("{}: row {}", table.name(), cursor.row())))?;
        }
        self.progress.advance(rows.len().saturating_sub(left) as u64);
        Ok(groups)
    }

    /// Adds the current row of `row`.
    fn add(&self, groups: &mut Groups, row: &dyn RowCursor) -> Result<()> {
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
        let group = groups.group(keys, || row.row(), &self.question.calls)?;
        for (state, call) in group.states.iter_mut().zip(&self.question.calls) {
            match call.column {
                None => state.add(&Value::Bool(true))?,
                Some(column) => state.add(&row.value(column)?)?,
            }
        }
        Ok(())
    }

    /// The groups by the texts of the ids by which rows were grouped.
    fn by_text(&self, table: &dyn Table, groups: Groups) -> Result<Groups> {
        let mut by_text = Groups::default();
        for group in groups.groups {
            let mut keys = Vec::with_capacity(self.keys.len());
            for ((column, own), key) in self.question.keys.iter().zip(&self.keys).zip(group.keys) {
                keys.push(if column == own { key } else { table.value(group.row, *column)?.into_owned() });
            }
            by_text.take(Group { keys, ..group })?;
        }
        Ok(by_text)
    }
}

impl Groups {
    /// The group with these keys, which is made if it is new.
    fn group(&mut self, keys: &[Value<'_>], row: impl FnOnce() -> usize, calls: &[Call]) -> Result<&mut Group> {
        let hash = hash(keys)?;
        let Self { index, groups } = self;
        let is_same = |place: &usize| {
            groups.get(*place).is_some_and(|group| group.keys.iter().zip(keys).all(|(a, b)| is_same(a, b)))
        };
        let place = match index.find(hash, is_same) {
            Some(place) => *place,
            None => {
                let place = groups.len();
                if place >= MOST_GROUPS {
                    return Err(Error::of_part(ErrorKind::Unsupported { what: "so many groups".into() }, ""));
                }
                let keys = keys.iter().map(owned).collect();
                groups.push(Group { keys, row: row(), states: calls.iter().map(State::new).collect() });
                let hash_of = |place: &usize| {
                    groups.get(*place).and_then(|group| self::hash(&group.keys).ok()).unwrap_or_default()
                };
                index.insert_unique(hash, place, hash_of);
                place
            }
        };
        groups.get_mut(place).ok_or_else(outside)
    }

    /// Adds a group of other rows.
    fn take(&mut self, other: Group) -> Result<()> {
        let group = self.group(&other.keys, || other.row, &[])?;
        if group.states.is_empty() {
            group.states = other.states;
        } else {
            for (state, more) in group.states.iter_mut().zip(other.states) {
                state.merge(more);
            }
        }
        Ok(())
    }

    /// The groups of the rows of both; those of `other` come later.
    fn merged(mut self, other: Self) -> Result<Self> {
        if self.groups.is_empty() {
            return Ok(other);
        }
        other.groups.into_iter().try_for_each(|group| self.take(group))?;
        Ok(self)
    }
}

impl State {
    fn new(call: &Call) -> Self {
        match call.what {
            What::Count => Self::Count(0),
            What::CountDistinct => Self::Distinct(HashSet::new()),
            What::Sum | What::Total | What::Avg => Self::Sum(0, 0, 0),
            What::Min | What::Max => Self::Best(call.what, Value::Null),
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
                    Value::Bool(truth) => i128::from(*truth),
                    Value::Int(number) => i128::from(*number),
                    Value::Uint(number) => i128::from(i64::try_from(*number).map_err(|_| outside())?),
                    _ => return Err(outside()),
                };
                *sum = sum.saturating_add(number);
                *size = size.saturating_add(number.unsigned_abs());
                *count = count.saturating_add(1);
            }
            Self::Best(what, best) => {
                if matches!(cell, Value::Uint(number) if i64::try_from(*number).is_err()) {
                    return Err(outside());
                }
                if is_better(*what, cell, best) {
                    *best = owned(cell);
                }
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        match (self, other) {
            (Self::Count(count), Self::Count(more)) => *count = count.saturating_add(more),
            (Self::Distinct(keys), Self::Distinct(more)) => keys.extend(more),
            (Self::Sum(sum, size, count), Self::Sum(more, larger, further)) => {
                *sum = sum.saturating_add(more);
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
    fn value(self, call: Call) -> Result<Value<'static>> {
        Ok(match self {
            Self::Count(count) => Value::Uint(count),
            Self::Distinct(keys) => keys.len().into(),
            Self::Best(_, best) => best,
            Self::Sum(sum, size, count) => {
                // A sum that leaves 63 bits on its way is an error, or is added as floats.
                if i64::try_from(size).is_err() {
                    return Err(outside());
                }
                let sum = i64::try_from(sum).map_err(|_| outside())?;
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
