//! The fast way past records: their descriptions, compiled for one file's versions into steps that advance a reader.
//!
//! Consecutive fields of fixed size become one step, and version gates are evaluated once. A record that does not fit
//! ends a walk silently; the plain walk over the description, which reaches the same position, then reports the fault.

use super::fields::{Gate, MapField, StoredKind, Versions};
use crate::bytes::le;

/// The steps past a record.
#[derive(Debug)]
pub(super) struct SkipPlan(Vec<Op>);

#[derive(Debug)]
enum Op {
    Bytes(usize),
    Text,
    /// A count of later items.
    Count,
    /// A count that this version does not have.
    NoCount,
    /// As many items of this size as the count with that number.
    Items {
        size: usize,
        count: usize,
    },
    /// A number of texts, each after `before` bytes.
    Texts {
        before: usize,
        count: usize,
    },
    /// As many records.
    Records {
        program: SkipPlan,
        count: usize,
    },
    /// A number of records.
    Times {
        program: SkipPlan,
        times: usize,
    },
    /// A program for the first of several records only.
    First(SkipPlan),
    /// A program for all but the last of several records.
    NotLast(SkipPlan),
    /// A program for records in which a count is not 0.
    Any(SkipPlan, usize),
}

impl SkipPlan {
    pub(super) fn new(fields: &[MapField], versions: &Versions) -> Self {
        let mut program = Self(Vec::new());
        program.add(fields, versions);
        program
    }

    fn add(&mut self, fields: &[MapField], versions: &Versions) {
        for field in fields {
            match field.gate.decide(versions) {
                Some(true) => self.kind(&field.kind, versions),
                Some(false) if matches!(field.kind, StoredKind::Count) => self.0.push(Op::NoCount),
                Some(false) => {}
                None => {
                    let program = Self::new(&[super::fields::field(field.name, field.kind)], versions);
                    self.0.push(match field.gate {
                        Gate::NotLast => Op::NotLast(program),
                        Gate::Any(count) => Op::Any(program, count),
                        _ => Op::First(program),
                    });
                }
            }
        }
    }

    fn kind(&mut self, kind: &StoredKind, versions: &Versions) {
        match *kind {
            StoredKind::Text => self.0.push(Op::Text),
            StoredKind::Count => self.0.push(Op::Count),
            StoredKind::Record(fields) => self.add(fields, versions),
            StoredKind::Array(StoredKind::Record(fields), times) => {
                self.0.push(Op::Times { program: Self::new(fields, versions), times });
            }
            StoredKind::Array(item, times) => match item.size() {
                Some(size) => self.bytes(size.saturating_mul(times)),
                None => (0..times).for_each(|_| self.kind(item, versions)),
            },
            StoredKind::List(item, count) => self.0.push(match (item.size(), item) {
                (Some(size), _) => Op::Items { size, count },
                (None, StoredKind::Text) => Op::Texts { before: 0, count },
                (None, StoredKind::Record(fields)) => {
                    let program = Self::new(fields, versions);
                    match program.0.as_slice() {
                        [Op::Text] => Op::Texts { before: 0, count },
                        [Op::Bytes(before), Op::Text] => Op::Texts { before: *before, count },
                        _ => Op::Records { program, count },
                    }
                }
                (None, other) => {
                    let mut program = Self(Vec::new());
                    program.kind(other, versions);
                    Op::Records { program, count }
                }
            }),
            StoredKind::Bool | StoredKind::Int | StoredKind::Uint | StoredKind::Float => self.bytes(4),
        }
    }

    /// Adds bytes, joined with a preceding step of bytes.
    fn bytes(&mut self, count: usize) {
        match self.0.last_mut() {
            Some(Op::Bytes(before)) => *before = before.saturating_add(count),
            _ => self.0.push(Op::Bytes(count)),
        }
    }

    /// The end of the record that begins at `at`; `None` when it does not end in `data`.
    pub(super) fn end(&self, data: &[u8], at: usize) -> Option<usize> {
        self.run(data, at, true, true).filter(|end| *end <= data.len())
    }

    fn run(&self, data: &[u8], mut at: usize, first: bool, last: bool) -> Option<usize> {
        let mut counts = [0usize; 11];
        let mut known = 0usize;
        for op in &self.0 {
            match op {
                Op::Bytes(count) => at = at.saturating_add(*count),
                Op::Text => at = text_end(data, at)?,
                Op::Count | Op::NoCount => {
                    let mut value = 0;
                    if matches!(op, Op::Count) {
                        value = count(data, at)?;
                        at = at.saturating_add(4);
                    }
                    *counts.get_mut(known)? = value;
                    known = known.saturating_add(1);
                }
                Op::Items { size, count } => at = at.saturating_add(nth(&counts, *count).saturating_mul(*size)),
                Op::Texts { before, count } => {
                    for _ in 0..nth(&counts, *count) {
                        at = text_end(data, at.saturating_add(*before))?;
                    }
                }
                Op::Records { program, count } => at = program.several(data, at, nth(&counts, *count))?,
                Op::Times { program, times } => at = program.several(data, at, *times)?,
                Op::First(program) if first => at = program.run(data, at, true, true)?,
                Op::NotLast(program) if !last => at = program.run(data, at, true, true)?,
                Op::Any(program, count) if nth(&counts, *count) != 0 => at = program.run(data, at, true, true)?,
                Op::First(_) | Op::NotLast(_) | Op::Any(..) => {}
            }
        }
        Some(at)
    }

    fn several(&self, data: &[u8], mut at: usize, count: usize) -> Option<usize> {
        for number in 0..count {
            at = self.run(data, at, number == 0, number.saturating_add(1) == count)?;
        }
        Some(at)
    }
}

/// A count of a record: 0 if its version lacks it.
#[inline]
fn nth(counts: &[usize; 11], number: usize) -> usize {
    *counts.get(number).expect("no shape has more counts")
}

#[inline]
fn text_end(data: &[u8], at: usize) -> Option<usize> {
    let units = le::U16::from_bytes(*data.get(at..)?.first_chunk()?).get();
    Some(at.saturating_add(2).saturating_add(usize::from(units).saturating_mul(2)))
}

/// A plausible count: every item has at least two bytes.
#[inline]
fn count(data: &[u8], at: usize) -> Option<usize> {
    let (word, rest) = data.get(at..)?.split_first_chunk()?;
    let count = usize::try_from(le::I32::from_bytes(*word).get()).ok()?;
    (count.saturating_mul(2) <= rest.len()).then_some(count)
}
