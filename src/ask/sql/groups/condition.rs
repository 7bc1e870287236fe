//! Conditions on the rows of one table, decided exactly as SQLite decides them.

use super::sources::SourceTables;
use super::token::{Placed, Token};
use crate::ask::sql::cells::widen;
use crate::error::Result;
use crate::id;
use crate::table::filter::pattern::{LONGEST, Pattern};
use crate::table::{Column, Kind, Value};
use std::cmp::Ordering;

/// The deepest nesting of a condition.
const DEEPEST: usize = 50;

/// A condition with the three answers of SQL.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
    Compare { column: usize, op: Compare, with: Literal },
    Like { column: usize, pattern: Pattern },
    Null { column: usize, negated: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Debug, Clone)]
pub(super) enum Literal {
    Integer(i64),
    Real(f64),
    Text(String),
    /// The id that a column of ids is compared with; `None` for a text that is no id, which is after all ids.
    Id(Option<u64>),
}

impl Compare {
    fn of(sign: &str) -> Option<Self> {
        Some(match sign {
            "=" | "==" => Self::Eq,
            "!=" | "<>" => Self::Ne,
            "<" => Self::Lt,
            "<=" => Self::Le,
            ">" => Self::Gt,
            ">=" => Self::Ge,
            _ => return None,
        })
    }

    /// The comparison with its sides exchanged.
    fn turned(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            same => same,
        }
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Eq => order.is_eq(),
            Self::Ne => order.is_ne(),
            Self::Lt => order.is_lt(),
            Self::Le => order.is_le(),
            Self::Gt => order.is_gt(),
            Self::Ge => order.is_ge(),
        }
    }
}

impl Literal {
    /// The order of a cell and this literal; `None` for null, and for cells that are compared by SQLite only.
    fn order(&self, cell: &Value<'_>) -> Option<Ordering> {
        match (cell, self) {
            (Value::Bool(truth), Self::Integer(number)) => Some(i64::from(*truth).cmp(number)),
            (Value::Int(whole), Self::Integer(number)) => Some(whole.cmp(number)),
            (Value::Uint(whole), Self::Integer(number)) => Some(i128::from(*whole).cmp(&i128::from(*number))),
            (Value::F32(real), Self::Real(number)) => widen(*real).partial_cmp(number),
            (Value::F64(real), Self::Real(number)) => real.partial_cmp(number),
            (Value::Text(text), Self::Text(other)) => Some(text.as_bytes().cmp(other.as_bytes())),
            (Value::Utf16(text), Self::Text(other)) => Some(text.to_string().as_bytes().cmp(other.as_bytes())),
            (Value::Id64(own), Self::Id(other)) => Some(other.map_or(Ordering::Less, |other| own.cmp(&other))),
            (Value::Id32(own), Self::Id(other)) => {
                Some(other.map_or(Ordering::Less, |other| u64::from(*own).cmp(&other)))
            }
            _ => None,
        }
    }
}

/// Joins the answers of several conditions. One with the answer `decides` is enough.
fn join(answers: impl Iterator<Item = Result<Option<bool>>>, decides: bool) -> Result<Option<bool>> {
    let mut answer = Some(!decides);
    for next in answers {
        match next? {
            Some(next) if next == decides => return Ok(Some(decides)),
            Some(_) => {}
            None => answer = None,
        }
    }
    Ok(answer)
}

impl Condition {
    /// The answer for a row with the cells that `cell` gives; `None` if it is unknown, as for null and for cells that
    /// `cell` does not know.
    ///
    /// # Errors
    /// The errors of `cell`.
    pub(super) fn answer<'v>(&self, cell: &dyn Fn(usize) -> Result<Option<Value<'v>>>) -> Result<Option<bool>> {
        match self {
            Self::And(all) => join(all.iter().map(|condition| condition.answer(cell)), false),
            Self::Or(any) => join(any.iter().map(|condition| condition.answer(cell)), true),
            Self::Not(condition) => Ok(condition.answer(cell)?.map(|holds| !holds)),
            Self::Compare { column, op, with } => {
                Ok(cell(*column)?.and_then(|cell| with.order(&cell)).map(|order| op.holds(order)))
            }
            Self::Like { column, pattern } => Ok(cell(*column)?.and_then(|cell| match cell {
                Value::Text(text) => Some(pattern.matches(&text)),
                Value::Utf16(text) => Some(pattern.matches(&text.to_string())),
                _ => None,
            })),
            Self::Null { column, negated } => {
                // A float that is not a number is null in SQL.
                let is_null = |cell: Value<'_>| match cell {
                    Value::F32(real) => real.is_nan(),
                    Value::F64(real) => real.is_nan(),
                    cell => cell.is_null(),
                };
                Ok(cell(*column)?.map(|cell| is_null(cell) != *negated))
            }
        }
    }

    /// The conditions that must all hold for it.
    pub(super) fn all(&self) -> Vec<&Self> {
        match self {
            Self::And(all) => all.iter().flat_map(Self::all).collect(),
            one => vec![one],
        }
    }

    /// Adds the columns that it is about, each once.
    pub(super) fn add_columns(&self, columns: &mut Vec<usize>) {
        match self {
            Self::And(all) | Self::Or(all) => all.iter().for_each(|condition| condition.add_columns(columns)),
            Self::Not(condition) => condition.add_columns(columns),
            Self::Compare { column, .. } | Self::Like { column, .. } | Self::Null { column, .. } => {
                if !columns.contains(column) {
                    columns.push(*column);
                }
            }
        }
    }

    /// Whether an index of the table, or a search in the file, finds the rows sooner than a scan.
    pub(super) fn is_probe(&self, tables: &SourceTables<'_>) -> bool {
        match self {
            Self::And(all) => all.iter().any(|condition| condition.is_probe(tables)),
            Self::Or(any) => any.iter().all(|condition| condition.is_probe(tables)),
            Self::Compare { column, op: Compare::Eq, .. } => {
                tables.table_of(*column).is_some_and(|(table, column)| table.finds(column))
            }
            Self::Like { column, pattern } => {
                let (literal, of) = (pattern.literal(), tables.table_of(*column));
                literal.zip(of).is_some_and(|(literal, (table, column))| {
                    table.parts().is_none() && table.search(column, &literal).is_some()
                })
            }
            _ => false,
        }
    }
}

/// Finds the column that the first of some words name, and the number of these words.
pub(super) type FindColumn<'t> = dyn Fn(&[Placed]) -> Option<(usize, usize)> + 't;

/// Reads a condition on a table that is called `alias`.
pub(super) struct Parser<'t> {
    pub(super) tokens: &'t [Placed],
    pub(super) columns: &'t [Column],
    pub(super) column: &'t FindColumn<'t>,
    pub(super) at: usize,
    pub(super) depth: usize,
}

impl Parser<'_> {
    /// The whole condition; `None` if SQLite must decide it.
    pub(super) fn whole(mut self) -> Option<Condition> {
        let condition = self.any()?;
        (self.at == self.tokens.len()).then_some(condition)
    }

    fn next_is(&mut self, is: impl Fn(&Placed) -> bool) -> bool {
        let found = self.tokens.get(self.at).is_some_and(is);
        self.at = self.at.saturating_add(usize::from(found));
        found
    }

    fn word(&mut self, word: &str) -> bool {
        self.next_is(|token| token.is_word(word))
    }

    fn sign(&mut self, sign: &str) -> bool {
        self.next_is(|token| token.is_sign(sign))
    }

    fn any(&mut self) -> Option<Condition> {
        let mut any = vec![self.all()?];
        while self.word("or") {
            any.push(self.all()?);
        }
        if any.len() == 1 { any.pop() } else { Some(Condition::Or(any)) }
    }

    fn all(&mut self) -> Option<Condition> {
        let mut all = vec![self.not()?];
        while self.word("and") {
            all.push(self.not()?);
        }
        if all.len() == 1 { all.pop() } else { Some(Condition::And(all)) }
    }

    fn not(&mut self) -> Option<Condition> {
        self.depth = self.depth.checked_add(1).filter(|depth| *depth < DEEPEST)?;
        let condition = if self.word("not") {
            Condition::Not(Box::new(self.not()?))
        } else if self.sign("(") {
            let inner = self.any()?;
            self.sign(")").then_some(inner)?
        } else {
            self.term()?
        };
        self.depth = self.depth.saturating_sub(1);
        Some(condition)
    }

    fn term(&mut self) -> Option<Condition> {
        let Some(column) = self.column() else {
            // A literal before its column.
            let literal = self.literal()?;
            let op = self.compare()?.turned();
            let column = self.column()?;
            return self.comparison(column, op, literal);
        };
        if self.word("is") {
            let negated = self.word("not");
            return self.word("null").then_some(Condition::Null { column, negated });
        }
        if self.word("isnull") {
            return Some(Condition::Null { column, negated: false });
        }
        if self.word("notnull") {
            return Some(Condition::Null { column, negated: true });
        }
        let negated = self.word("not");
        if negated && self.word("null") {
            return Some(Condition::Null { column, negated: true });
        }
        let condition = if self.word("in") {
            self.sign("(").then_some(())?;
            let mut any = Vec::new();
            loop {
                let literal = self.literal()?;
                any.push(self.comparison(column, Compare::Eq, literal)?);
                if !self.sign(",") {
                    break;
                }
            }
            self.sign(")").then_some(Condition::Or(any))?
        } else if self.word("between") {
            let low = self.literal()?;
            self.word("and").then_some(())?;
            let high = self.literal()?;
            let low = self.comparison(column, Compare::Ge, low)?;
            Condition::And(vec![low, self.comparison(column, Compare::Le, high)?])
        } else if self.word("like") {
            self.pattern(column, Pattern::like)?
        } else if self.word("glob") {
            self.pattern(column, Pattern::glob)?
        } else if negated {
            return None;
        } else {
            let op = self.compare()?;
            let literal = self.literal()?;
            return self.comparison(column, op, literal);
        };
        Some(if negated { Condition::Not(Box::new(condition)) } else { condition })
    }

    fn column(&mut self) -> Option<usize> {
        let (column, length) = (self.column)(self.tokens.get(self.at..)?)?;
        self.at = self.at.saturating_add(length);
        Some(column)
    }

    fn compare(&mut self) -> Option<Compare> {
        let Some(Placed { token: Token::Sign(sign), .. }) = self.tokens.get(self.at) else { return None };
        let op = Compare::of(sign)?;
        self.at = self.at.saturating_add(1);
        Some(op)
    }

    fn literal(&mut self) -> Option<Literal> {
        let negative = self.sign("-");
        let token = &self.tokens.get(self.at)?.token;
        self.at = self.at.saturating_add(1);
        Some(match (token, negative) {
            (Token::Integer(number), false) => Literal::Integer(*number),
            (Token::Integer(number), true) => Literal::Integer(number.checked_neg()?),
            (Token::Real(number), false) => Literal::Real(*number),
            (Token::Real(number), true) => Literal::Real(-number),
            (Token::Text(text), false) => Literal::Text(text.clone()),
            _ => return None,
        })
    }

    /// The comparison of a column with a literal of the same type; SQLite converts others.
    fn comparison(&self, column: usize, op: Compare, literal: Literal) -> Option<Condition> {
        let with = match (self.columns.get(column)?.kind, literal) {
            (Kind::Bool | Kind::Int | Kind::Uint, with @ Literal::Integer(_)) => with,
            (Kind::F32 | Kind::F64, with @ Literal::Real(_)) => with,
            (Kind::Text, with @ Literal::Text(_)) => with,
            (Kind::Id64 | Kind::Id32, Literal::Text(text)) => Literal::Id(id::parse(&text)),
            _ => return None,
        };
        Some(Condition::Compare { column, op, with })
    }

    fn pattern(&mut self, column: usize, pattern: impl Fn(&str) -> Pattern) -> Option<Condition> {
        let Literal::Text(text) = self.literal()? else { return None };
        let is_escaped = self.tokens.get(self.at).is_some_and(|token| token.is_word("escape"));
        let is_exact = self.columns.get(column)?.kind == Kind::Text && text.len() <= LONGEST && !is_escaped;
        is_exact.then(|| Condition::Like { column, pattern: pattern(&text) })
    }
}
