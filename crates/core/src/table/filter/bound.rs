//! Conditions for one table.

use super::condition::{Literal, Op, syntax};
use super::number::{Number, number};
use super::pattern::{LONGEST, LikePattern, text_of};
use crate::error::Result;
use crate::id;
use crate::table::glob::{Glob, has_uppercase};
use crate::table::{Anchor, Column, Kind, RowCursor, Table, Value, search};
use std::cmp::Ordering;

#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Bound {
    Compare(Compare),
    And(Vec<Bound>),
    /// At least one of these conditions.
    Or(Vec<Bound>),
    Not(Box<Bound>),
}

/// One comparison for one table.
#[derive(Debug, Clone)]
pub struct Compare {
    column: usize,
    kind: Kind,
    test: Test,
}

#[derive(Debug, Clone)]
pub(super) enum Test {
    Null {
        negated: bool,
    },
    Glob {
        glob: Glob,
        negated: bool,
    },
    /// A pattern for the text of a cell. A cell that is no text is let through.
    Pattern(LikePattern),
    /// A pattern for the shown form of a cell.
    Shown(LikePattern),
    Order {
        op: Op,
        with: Operand,
    },
}

/// A literal in all the ways in which a cell may want it.
#[derive(Debug, Clone)]
pub(super) struct Operand {
    text: String,
    number: Option<Number>,
    id: Option<u64>,
    truth: Option<bool>,
}

impl Compare {
    pub(super) fn bind(columns: &[Column], name: &str, op: Op, literal: &Literal) -> Result<Self> {
        let column = find_column(columns, name)?;
        let kind = columns.get(column).map_or(Kind::Any, |c| c.kind);
        let test = match (op, literal) {
            (Op::Eq | Op::Ne, Literal::Null) => Test::Null { negated: op == Op::Ne },
            (_, Literal::Null) => return Err(syntax("null can be compared with = and != only")),
            (Op::Glob | Op::NotGlob, literal) => {
                let glob = literal.to_string();
                Test::Glob { glob: Glob::new(&glob, !has_uppercase(&glob))?, negated: op == Op::NotGlob }
            }
            (Op::Like | Op::SqlGlob, literal) => {
                let text = literal.to_string();
                if text.len() > LONGEST {
                    return Err(syntax(format!("a pattern of {} bytes; the limit is {LONGEST}", text.len())));
                }
                Test::Shown(if op == Op::Like { LikePattern::like(&text) } else { LikePattern::glob(&text) })
            }
            (op, literal) => {
                let with = Operand::new(literal);
                let holds = match kind {
                    Kind::Int | Kind::Uint | Kind::F32 | Kind::F64 if with.number.is_none() => "numbers",
                    Kind::Id64 | Kind::Id32 if with.id.is_none() => "ids like 0x1F",
                    Kind::Bool if with.truth.is_none() => "true or false",
                    _ => return Ok(Self { column, kind, test: Test::Order { op, with } }),
                };
                return Err(syntax(format!("column {name} holds {holds}, not '{}'", with.text)));
            }
        };
        Ok(Self { column, kind, test })
    }

    /// A comparison with a value of the kind that the column holds, rather than with a text that people wrote. `None`
    /// for a value that no order is known for.
    pub fn with(column: usize, kind: Kind, op: Op, value: &Value<'_>) -> Option<Self> {
        let with = Operand::of(value)?;
        Some(Self { column, kind, test: Test::Order { op, with } })
    }

    /// Whether the cell is null, or with `negated` is not.
    pub fn null(column: usize, kind: Kind, negated: bool) -> Self {
        Self { column, kind, test: Test::Null { negated } }
    }

    /// Whether the cell's text matches. A cell that is no text is let through.
    pub fn pattern(column: usize, kind: Kind, pattern: LikePattern) -> Self {
        Self { column, kind, test: Test::Pattern(pattern) }
    }

    /// Whether it holds for `cell`. As in SQL it is unknown (`None`) for null, and for NaN, which SQL has no number for.
    #[inline]
    fn test(&self, cell: &Value<'_>) -> Option<bool> {
        Some(match &self.test {
            Test::Null { negated } => cell.is_null() != *negated,
            _ if is_unknown(cell) => return None,
            Test::Pattern(pattern) => text_of(cell).is_none_or(|text| pattern.matches(&text)),
            Test::Shown(pattern) => with_text(cell, |text| pattern.matches(text)),
            Test::Glob { glob, negated } => with_text(cell, |text| glob.is_match(text)) != *negated,
            Test::Order { op, with } => {
                let is_number = matches!(cell, Value::Int(_) | Value::Uint(_) | Value::F32(_) | Value::F64(_));
                // Among values of several kinds, what is less or more than a number is a number.
                let wants_number = self.kind == Kind::Any && with.number.is_some();
                if wants_number && !is_number && !matches!(op, Op::Eq | Op::Ne) {
                    return Some(false);
                }
                let order = with.order(cell);
                match op {
                    Op::Eq => order == Some(Ordering::Equal),
                    Op::Ne => order != Some(Ordering::Equal),
                    Op::Lt => order.is_some_and(Ordering::is_lt),
                    Op::Le => order.is_some_and(Ordering::is_le),
                    Op::Gt => order.is_some_and(Ordering::is_gt),
                    Op::Ge => order.is_some_and(Ordering::is_ge),
                    Op::Glob | Op::NotGlob | Op::Like | Op::SqlGlob => false,
                }
            }
        })
    }

    /// The cell value that this comparison requires, if it does.
    fn key(&self) -> Option<Value<'_>> {
        let Test::Order { op: Op::Eq, with } = &self.test else { return None };
        let whole = match with.number {
            Some(Number::Int(number)) => Some(number),
            _ => None,
        };
        Some(match self.kind {
            Kind::Text => Value::text(&with.text),
            Kind::Id64 => Value::Id64(with.id?),
            Kind::Id32 => Value::Id32(u32::try_from(with.id?).ok()?),
            Kind::Uint => Value::Uint(whole?.try_into().ok()?),
            Kind::Int => Value::Int(whole?.try_into().ok()?),
            Kind::Bool => Value::Bool(with.truth?),
            _ => return None,
        })
    }
}

/// The number of column `name`; case matters only if two names differ by nothing else.
///
/// # Errors
/// `Syntax` without such a column, or where several names differ from it by case only.
pub fn find_column(columns: &[Column], name: &str) -> Result<usize> {
    if let Some(exact) = columns.iter().position(|c| c.name == name) {
        return Ok(exact);
    }
    let mut alike = (0..).zip(columns).filter(|(_, c)| c.name.eq_ignore_ascii_case(name)).map(|(index, _)| index);
    if let (Some(index), None) = (alike.next(), alike.next()) {
        return Ok(index);
    }
    let hint = crate::table::hint_of_columns(name, "there are", columns);
    Err(syntax(format!("there is no column {name}{hint}")))
}

impl Operand {
    fn new(literal: &Literal) -> Self {
        let text = literal.to_string();
        let number = number(&text);
        let id = id::parse(&text);
        let truth = match (&*text, number) {
            ("true", _) | (_, Some(Number::Int(1))) => Some(true),
            ("false", _) | (_, Some(Number::Int(0))) => Some(false),
            _ => None,
        };
        Self { text, number, id, truth }
    }

    /// A value as a cell holds it.
    fn of(value: &Value<'_>) -> Option<Self> {
        let (text, number, id, truth) = match value {
            Value::Bool(truth) => (String::new(), None, None, Some(*truth)),
            Value::Int(number) => (String::new(), Some(Number::Int((*number).into())), None, None),
            Value::Uint(number) => (String::new(), Some(Number::Int((*number).into())), None, None),
            Value::F32(number) => (String::new(), Some(Number::Float((*number).into())), None, None),
            Value::F64(number) => (String::new(), Some(Number::Float(*number)), None, None),
            Value::Id64(id) => (String::new(), None, Some(*id), None),
            Value::Id32(id) => (String::new(), None, Some((*id).into()), None),
            Value::Text(_) | Value::Utf16(_) | Value::Guid(_) => (value.to_string(), None, None, None),
            Value::Null | Value::List(_) | Value::Map(_) => return None,
        };
        Some(Self { text, number, id, truth })
    }

    /// Compares `cell` with it; `None` if they cannot be compared.
    fn order(&self, cell: &Value<'_>) -> Option<Ordering> {
        match cell {
            Value::Null => None,
            Value::Bool(truth) => Some(truth.cmp(&self.truth?)),
            Value::Int(number) => self.number?.order_of((*number).into()),
            Value::Uint(number) => self.number?.order_of((*number).into()),
            Value::F32(number) => number.partial_cmp(&self.number?.single()),
            Value::F64(number) => number.partial_cmp(&self.number?.double()),
            Value::Id64(id) => Some(id.cmp(&self.id?)),
            Value::Id32(id) => Some(u64::from(*id).cmp(&self.id?)),
            Value::Text(text) => Some((**text).cmp(&*self.text)),
            Value::Utf16(text) => Some(text.to_string().cmp(&self.text)),
            Value::Guid(guid) => Some(guid.to_string().cmp(&self.text.to_ascii_lowercase())),
            nested @ (Value::List(_) | Value::Map(_)) => {
                // Nested values have no order; they equal their text.
                (nested.to_string() == self.text).then_some(Ordering::Equal)
            }
        }
    }
}

/// Whether every comparison with the cell is unknown.
#[inline]
fn is_unknown(cell: &Value<'_>) -> bool {
    match cell {
        Value::Null => true,
        Value::F32(number) => number.is_nan(),
        Value::F64(number) => number.is_nan(),
        _ => false,
    }
}

/// Calls `f` with the text of a cell as tables show it.
fn with_text<R>(cell: &Value<'_>, f: impl FnOnce(&str) -> R) -> R {
    match cell {
        Value::Text(text) => f(text),
        other => f(&other.to_string()),
    }
}

impl Bound {
    /// Whether the current row of `row` matches. A row for which the condition is unknown does not.
    ///
    /// # Errors
    /// When a cell that decides is damaged.
    pub fn matches(&self, row: &dyn RowCursor) -> Result<bool> {
        self.is(true, row, &mut None)
    }

    /// Whether the condition is known to be `wanted`, true or false.
    ///
    /// `last` is the cell that was looked at last, with its column: a cell is read once for all comparisons with it
    /// that follow each other.
    fn is<'r>(&self, wanted: bool, row: &'r dyn RowCursor, last: &mut Option<(usize, Value<'r>)>) -> Result<bool> {
        match self {
            Self::Compare(compare) => {
                let known = last.take().filter(|(column, _)| *column == compare.column);
                let (_, cell) = last.insert(match known {
                    Some(known) => known,
                    None => (compare.column, row.value(compare.column)?),
                });
                Ok(compare.test(cell) == Some(wanted))
            }
            Self::And(bounds) | Self::Or(bounds) => {
                let any_decides = self.is_decided_by_any(wanted);
                for bound in bounds {
                    if bound.is(wanted, row, last)? == any_decides {
                        return Ok(any_decides);
                    }
                }
                Ok(!any_decides)
            }
            Self::Not(bound) => bound.is(!wanted, row, last),
        }
    }

    /// Whether one of its parts that is `wanted` is enough for the whole to be. Else all parts must be.
    fn is_decided_by_any(&self, wanted: bool) -> bool {
        matches!(self, Self::Or(_)) == wanted
    }

    /// The column that a single comparison with `=` is about, and the hash of the cell that it looks for.
    pub fn hash(&self, hash: impl Fn(&Value<'_>) -> Option<u64>) -> Option<(usize, u64)> {
        match self {
            Self::Compare(compare) => Some((compare.column, hash(&compare.key()?)?)),
            _ => None,
        }
    }

    /// Whether it is a single comparison with `=`.
    pub fn is_equality(&self) -> bool {
        matches!(self, Self::Compare(Compare { test: Test::Order { op: Op::Eq, .. }, .. }))
    }

    /// The rows that a single pattern or text matches, if the table can search for it in the file. Rows whose text cannot be
    /// read may be included.
    pub fn search(&self, table: &dyn Table) -> Option<Vec<usize>> {
        match self {
            Self::Compare(Compare { column, test: Test::Pattern(pattern), .. }) => {
                let found = pattern.literal().and_then(|literal| table.search(*column, &literal));
                found.or_else(|| table.texts(*column)?.matching(pattern))
            }
            Self::Compare(Compare { column, kind: Kind::Text, test: Test::Order { op: Op::Eq, with } }) => {
                table.search(*column, &search::Literal::new(&with.text, Anchor::Whole, false)?)
            }
            _ => None,
        }
    }

    /// A superset of the matching rows, in order, by probes of the table's own indexes; `None` if only a walk over all rows finds them.
    /// If a probe meets damage, the walk has to find the rows before and after it, and reports the damage.
    pub fn candidates(&self, table: &dyn Table) -> Option<Vec<usize>> {
        let mut rows = match self {
            Self::Compare(compare) => table.find(compare.column, &compare.key()?)?.ok()?,
            Self::And(all) => all.iter().find_map(|bound| bound.candidates(table))?,
            Self::Or(any) => any.iter().map(|bound| bound.candidates(table)).collect::<Option<Vec<_>>>()?.concat(),
            Self::Not(_) => return None,
        };
        rows.sort_unstable();
        rows.dedup();
        Some(rows)
    }

    /// Adds the columns that it is about, each once.
    pub fn add_columns(&self, columns: &mut Vec<usize>) {
        match self {
            Self::Compare(compare) if columns.contains(&compare.column) => {}
            Self::Compare(compare) => columns.push(compare.column),
            Self::And(bounds) | Self::Or(bounds) => bounds.iter().for_each(|bound| bound.add_columns(columns)),
            Self::Not(bound) => bound.add_columns(columns),
        }
    }

    /// Whether a row with the cells that `known` gives may match. The other cells may be anything.
    pub fn may_match<'v>(&self, known: &dyn Fn(usize) -> Option<Value<'v>>) -> bool {
        self.may_be(true, known)
    }

    fn may_be<'v>(&self, wanted: bool, known: &dyn Fn(usize) -> Option<Value<'v>>) -> bool {
        match self {
            Self::Compare(compare) => known(compare.column).is_none_or(|cell| compare.test(&cell) == Some(wanted)),
            Self::And(bounds) | Self::Or(bounds) if self.is_decided_by_any(wanted) => {
                bounds.iter().any(|bound| bound.may_be(wanted, known))
            }
            Self::And(bounds) | Self::Or(bounds) => bounds.iter().all(|bound| bound.may_be(wanted, known)),
            Self::Not(bound) => bound.may_be(!wanted, known),
        }
    }
}
