//! Aggregates of groups.

use super::codes::{NULL, outside};
use super::shape::{Call, What};
use crate::error::Result;
use crate::table::Value;
use std::cmp::Ordering;
use std::collections::HashSet;

/// An aggregate of the rows of a group so far.
#[derive(Debug, Clone)]
pub(super) enum State {
    Count(u64),
    /// Codes of cells.
    #[expect(clippy::box_collection, reason = "most states are counts, and there is one for each group")]
    Distinct(Box<HashSet<u64>>),
    Sum(Box<Sum>),
    Best(Box<Best>),
}

/// The least or the greatest cell.
#[derive(Debug, Clone)]
pub(super) struct Best {
    what: What,
    cell: Value<'static>,
}

/// A sum, which is right if `size` fits into 63 bits.
#[derive(Debug, Clone, Default)]
pub(super) struct Sum {
    sum: i64,
    /// The sum without signs.
    size: u64,
    /// The number of numbers.
    count: u64,
}

// There is one for each group.
const _: () = assert!(size_of::<State>() == 16);

impl State {
    pub(super) fn new(call: &Call) -> Self {
        match call.what {
            What::Count => Self::Count(0),
            What::CountDistinct => Self::Distinct(Box::default()),
            What::Sum | What::Total | What::Avg => Self::Sum(Box::default()),
            What::Min | What::Max => Self::Best(Box::new(Best { what: call.what, cell: Value::Null })),
        }
    }

    /// Takes the state, and leaves an empty one.
    pub(super) const fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Count(0))
    }

    /// Counts this many rows.
    pub(super) fn count(&mut self, rows: u64) {
        if let Self::Count(count) = self {
            *count = count.saturating_add(rows);
        }
    }

    /// Adds the code of a cell to different ones.
    pub(super) fn add_code(&mut self, code: u64) {
        if let Self::Distinct(codes) = self
            && code != NULL
        {
            codes.insert(code);
        }
    }

    /// Adds the same cell of this many rows. Null cells, and floats that are not numbers, count for nothing.
    pub(super) fn add(&mut self, cell: &Value<'_>, rows: u64) -> Result<()> {
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
            Self::Count(_) => self.count(rows),
            Self::Distinct(_) => return Err(outside()),
            Self::Sum(sum) => {
                let number = match cell {
                    Value::Bool(truth) => i64::from(*truth),
                    Value::Int(number) => *number,
                    Value::Uint(number) => i64::try_from(*number).map_err(|_| outside())?,
                    _ => return Err(outside()),
                };
                sum.add(number.wrapping_mul(rows.cast_signed()), number.unsigned_abs().saturating_mul(rows), rows);
            }
            Self::Best(best) => {
                if matches!(cell, Value::Uint(number) if i64::try_from(*number).is_err()) {
                    return Err(outside());
                }
                if is_better(best.what, cell, &best.cell)? {
                    best.cell = cell.clone().into_owned();
                }
            }
        }
        Ok(())
    }

    /// Adds the rows of another state of the same aggregate.
    pub(super) fn merge(&mut self, other: &Self) -> Result<()> {
        match (self, other) {
            (Self::Count(count), Self::Count(more)) => *count = count.saturating_add(*more),
            (Self::Distinct(codes), Self::Distinct(more)) => codes.extend(&**more),
            (Self::Sum(sum), Self::Sum(more)) => sum.add(more.sum, more.size, more.count),
            (Self::Best(best), Self::Best(other))
                if !other.cell.is_null() && is_better(best.what, &other.cell, &best.cell)? =>
            {
                best.cell.clone_from(&other.cell);
            }
            _ => {}
        }
        Ok(())
    }

    /// The value of the aggregate, with SQLite's type.
    #[expect(clippy::cast_precision_loss, reason = "as SQLite does")]
    pub(super) fn value(&self, call: Call) -> Result<Value<'_>> {
        Ok(match *self {
            Self::Count(count) => Value::Uint(count),
            Self::Distinct(ref codes) => codes.len().into(),
            Self::Best(ref best) => best.cell.borrowed(),
            Self::Sum(ref all) => {
                let Sum { sum, size, count } = **all;
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

impl Sum {
    const fn add(&mut self, sum: i64, size: u64, count: u64) {
        self.sum = self.sum.wrapping_add(sum);
        self.size = self.size.saturating_add(size);
        self.count = self.count.saturating_add(count);
    }
}

/// Whether `cell` replaces the least or greatest cell so far. SQLite keeps the first of equal ones: it decides about floats that
/// differ by their signs only, because rows are not added in their order.
fn is_better(what: What, cell: &Value<'_>, best: &Value<'_>) -> Result<bool> {
    let differs = match (cell, best) {
        (Value::F32(a), Value::F32(b)) => a.to_bits() != b.to_bits(),
        (Value::F64(a), Value::F64(b)) => a.to_bits() != b.to_bits(),
        _ => false,
    };
    Ok(match order(cell, best) {
        _ if best.is_null() => true,
        Ordering::Less => what == What::Min,
        Ordering::Greater => what == What::Max,
        Ordering::Equal if differs => return Err(outside()),
        Ordering::Equal => false,
    })
}

pub(super) const fn directed(order: Ordering, descends: bool) -> Ordering {
    if descends { order.reverse() } else { order }
}

/// The order of two cells of one column in SQLite.
pub(super) fn order(a: &Value<'_>, b: &Value<'_>) -> Ordering {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Uint(a), Value::Uint(b)) | (Value::Id64(a), Value::Id64(b)) => a.cmp(b),
        (Value::Id32(a), Value::Id32(b)) => a.cmp(b),
        (Value::F32(a), Value::F32(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (Value::F64(a), Value::F64(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
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
