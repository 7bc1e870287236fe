//! The rows that answer a statement.

use super::cells::kind_of;
use super::compound::{arms, inner};
use super::functions::digits;
use super::names::unique;
use super::{Fault, Session};
use crate::table::{Kind, Value};
use crate::writable::json;
use rusqlite::Statement;
use rusqlite::types::ValueRef;

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultColumn {
    /// The column's name, unique among the columns.
    pub name: String,
    /// The kind of its cells, if it is an unchanged column of a table. In a compound select it is one in each arm.
    pub kind: Option<Kind>,
}

/// A statement that was understood, and its rows.
#[derive(Debug)]
pub struct Answer<'s> {
    statement: Statement<'s>,
    columns: Vec<ResultColumn>,
    session: &'s Session,
}

impl<'s> Answer<'s> {
    pub(super) fn new(statement: Statement<'s>, text: &str, session: &'s Session) -> Self {
        let mut kinds = kinds(&statement);
        if kinds.iter().any(Option::is_some) {
            for of_arm in kinds_of_arms(&arms(text), session) {
                for (n, kind) in kinds.iter_mut().enumerate() {
                    *kind = kind.filter(|kind| of_arm.get(n) == Some(&Some(*kind)));
                }
            }
            let mixed: Vec<Kind> = inner(text).iter().flat_map(|arms| mixed(&kinds_of_arms(arms, session))).collect();
            kinds.iter_mut().for_each(|kind| *kind = kind.filter(|kind| !mixed.contains(kind)));
        }
        let names = unique(statement.columns().map(|c| c.name().to_owned()).collect::<Vec<_>>().iter().map(|n| &**n));
        let columns = names.into_iter().zip(kinds).map(|(name, kind)| ResultColumn { name, kind }).collect();
        Self { statement, columns, session }
    }

    /// The answer's columns; empty for a statement without a result.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// Whether the statement has rows and changes nothing.
    pub fn is_query(&self) -> bool {
        !self.columns.is_empty() && self.statement.readonly()
    }

    /// How many rows the statement changed when it ran; `None` for a query.
    pub fn changed_rows(&self) -> Option<u64> {
        (!self.statement.readonly()).then(|| self.session.connection.changes())
    }

    /// Runs the statement and calls `each` with each row.
    ///
    /// # Errors
    /// SQLite's errors, damage of a file, and the errors of `each`.
    pub fn rows<E: From<Fault>>(&mut self, mut each: impl FnMut(&[Value<'_>]) -> Result<(), E>) -> Result<(), E> {
        let kinds: Vec<Option<Kind>> = self.columns.iter().map(|column| column.kind).collect();
        self.raw_rows(|cells| {
            let cells: Vec<Value<'_>> = cells.iter().zip(&kinds).map(|(cell, kind)| value(*cell, *kind)).collect();
            each(&cells)
        })
    }

    /// As [`Answer::rows`], with cells as SQLite has them.
    pub(super) fn raw_rows<E: From<Fault>>(
        &mut self,
        mut each: impl FnMut(&[ValueRef<'_>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let ran = self.run(&mut each);
        self.session.note_changes(ran.is_ok())?;
        ran
    }

    fn run<E: From<Fault>>(&mut self, each: &mut impl FnMut(&[ValueRef<'_>]) -> Result<(), E>) -> Result<(), E> {
        let (session, count) = (self.session, self.columns.len());
        let mut rows = self.statement.query([]).map_err(|error| session.fault(error))?;
        while let Some(row) = rows.next().map_err(|error| session.fault(error))? {
            let cells = (0..count).map(|column| row.get_ref(column));
            let cells = cells.collect::<Result<Vec<_>, _>>().map_err(|error| session.fault(error))?;
            each(&cells)?;
        }
        Ok(())
    }
}

/// The kinds of the columns of a statement, as far as SQLite knows them.
fn kinds(statement: &Statement<'_>) -> Vec<Option<Kind>> {
    statement.columns().map(|column| column.decl_type().and_then(kind_of)).collect()
}

/// The kinds of the columns of each arm. An arm that is no statement of its own shows nothing about its columns.
fn kinds_of_arms(arms: &[String], session: &Session) -> Vec<Vec<Option<Kind>>> {
    let kinds = arms.iter().map(|arm| session.connection.prepare(arm).map_or_else(|_| Vec::new(), |arm| kinds(&arm)));
    kinds.collect()
}

/// The kinds of columns that only some of the arms have, among the kinds that change the form of a cell.
fn mixed(arms: &[Vec<Option<Kind>>]) -> Vec<Kind> {
    let kinds = arms.iter().flat_map(|arm| arm.iter().enumerate());
    let kinds = kinds.filter_map(|(n, kind)| {
        let kind = kind.filter(|kind| matches!(kind, Kind::Bool | Kind::Nested))?;
        arms.iter().any(|arm| arm.get(n) != Some(&Some(kind))).then_some(kind)
    });
    kinds.collect()
}

fn value(cell: ValueRef<'_>, kind: Option<Kind>) -> Value<'_> {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(truth @ (0 | 1)) if kind == Some(Kind::Bool) => Value::Bool(truth == 1),
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::F64(number),
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text);
            match kind {
                // Cells of a nested column are lists and maps; other texts come from another part of the query.
                Some(Kind::Nested) if text.starts_with(['[', '{']) => json::value(&text).unwrap_or(Value::Text(text)),
                _ => Value::Text(text),
            }
        }
        ValueRef::Blob(bytes) => Value::owned(digits(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::json::to_string;

    #[test]
    fn nested_values_come_out_as_they_went_in() {
        let text = r#"{"z":[1.0,0.1,null,true],"a":{"id":"0x0000000000000001","n":18446744073709551615,"m":-3}}"#;
        let nested = value(ValueRef::Text(text.as_bytes()), Some(Kind::Nested));
        assert_eq!(to_string(&nested).unwrap(), text);
        assert_eq!(value(ValueRef::Text(b"[1"), Some(Kind::Nested)), "[1".into());
        let long = value(ValueRef::Text(b"[99999999999999999999]"), Some(Kind::Nested));
        assert_eq!(long, Value::List(vec!["99999999999999999999".into()]));
        for text in ["1", "null", "1e5", "true", "\"x\""] {
            assert_eq!(value(ValueRef::Text(text.as_bytes()), Some(Kind::Nested)), text.into());
        }
    }
}
