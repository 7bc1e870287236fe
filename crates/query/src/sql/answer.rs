//! The rows that answer a statement.

use super::Fault;
use super::cells::kind_of;
use super::damage::Damage;
use super::names::unique;
use super::rights::Rights;
use crate::table::{Kind, Value};
use rusqlite::Statement;
use rusqlite::types::ValueRef;
use serde::de::{Deserialize, Deserializer, Error as DeError, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::fmt::Write as _;

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultColumn {
    /// The column's name, unique among the columns.
    pub name: String,
    /// The kind of its cells, if it is an unchanged column of a table.
    pub kind: Option<Kind>,
}

/// A statement that was understood, and its rows.
pub struct Answer<'s> {
    statement: Statement<'s>,
    columns: Vec<ResultColumn>,
    damage: &'s Damage,
    rights: &'s Rights,
}

impl fmt::Debug for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl<'s> Answer<'s> {
    pub(super) fn new(statement: Statement<'s>, damage: &'s Damage, rights: &'s Rights) -> Self {
        let given = statement.columns();
        let kinds: Vec<Option<Kind>> = given.map(|column| column.decl_type().and_then(kind_of)).collect();
        let names = unique(statement.columns().map(|c| c.name().to_owned()).collect::<Vec<_>>().iter().map(|n| &**n));
        let columns = names.into_iter().zip(kinds).map(|(name, kind)| ResultColumn { name, kind }).collect();
        Self { statement, columns, damage, rights }
    }

    /// The answer's columns; empty for a statement without a result.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// Whether the statement has rows and changes nothing.
    pub fn is_query(&self) -> bool {
        !self.columns.is_empty() && self.statement.readonly()
    }

    /// Runs the statement and hands each row to `each`.
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
        let (damage, rights, count) = (self.damage, self.rights, self.columns.len());
        let fault = |error: rusqlite::Error| match (damage.take_stopped(), rights.take_refused()) {
            (Some((file, error)), _) => Fault::Damaged { file, error },
            (None, Some(why)) => Fault::message(format!("not authorized: {why}")),
            (None, None) => Fault::from(error),
        };
        let mut rows = self.statement.query([]).map_err(fault)?;
        while let Some(row) = rows.next().map_err(fault)? {
            let cells = (0..count).map(|column| row.get_ref(column));
            each(&cells.collect::<Result<Vec<_>, _>>().map_err(fault)?)?;
        }
        Ok(())
    }
}

/// A cell as outputs know it.
fn value(cell: ValueRef<'_>, kind: Option<Kind>) -> Value<'_> {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(truth @ (0 | 1)) if kind == Some(Kind::Bool) => Value::Bool(truth == 1),
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::F64(number),
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text);
            match kind {
                Some(Kind::Nested) => nested(&text).unwrap_or(Value::Text(text)),
                _ => Value::Text(text),
            }
        }
        ValueRef::Blob(bytes) => Value::owned(bytes.iter().fold(String::new(), |mut text, byte| {
            // To write to a text does not fail.
            let _ = write!(text, "{byte:02X}");
            text
        })),
    }
}

/// A nested value by its JSON.
fn nested(text: &str) -> Option<Value<'static>> {
    serde_json::from_str::<Json>(text).ok().map(|json| json.0)
}

/// JSON as a value, with the names of maps in their order.
struct Json(Value<'static>);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(JsonVisitor).map(Self)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Value<'static>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: DeError>(self) -> Result<Self::Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: DeError>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E: DeError>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Value::Int(number))
    }

    fn visit_u64<E: DeError>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Value::Uint(number))
    }

    fn visit_f64<E: DeError>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Value::F64(number))
    }

    fn visit_str<E: DeError>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Value::owned(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Json(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        while let Some((name, Json(value))) = map.next_entry::<String, Json>()? {
            values.push((name.into(), value));
        }
        Ok(Value::Map(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::json;

    #[test]
    fn nested_values_come_out_as_they_went_in() {
        let text = r#"{"z":[1.0,0.1,null,true],"a":{"id":"0x0000000000000001","n":18446744073709551615,"m":-3}}"#;
        assert_eq!(json::to_string(&nested(text).unwrap()).unwrap(), text);
        assert_eq!(nested("[1"), None);
    }
}
