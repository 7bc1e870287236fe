//! Cells as SQLite sees them: which type a column is declared with, and which value a cell becomes.

use crate::codec::{spread, xxh64};
use crate::id;
use crate::table::{Guid, Kind, Value};
use crate::write::json;
use rusqlite::types::{ToSql, ToSqlOutput, Value as Owned, ValueRef};
use std::cmp::Ordering;

/// The collation of ids: ids with the same number are equal, in any form.
pub(super) const ID_COLLATION: &str = "ASSET_ID";

/// The declared type of a column, by which SQLite knows how to compare and outputs know what to show.
pub(super) const fn declared(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "BOOLEAN",
        Kind::Int | Kind::Uint => "INTEGER",
        Kind::F32 | Kind::F64 => "REAL",
        Kind::Id64 | Kind::Id32 => "TEXT COLLATE ASSET_ID",
        Kind::Guid => "TEXT COLLATE NOCASE",
        Kind::Text => "TEXT",
        Kind::Nested => "JSON TEXT",
        // Without a type cells compare as what they are.
        Kind::Any => "",
    }
}

/// The kind of a result column, by its declared type; `None` for a computed column.
pub(super) fn kind_of(declared: &str) -> Option<Kind> {
    Some(match declared {
        "BOOLEAN" => Kind::Bool,
        "INTEGER" => Kind::Int,
        "REAL" => Kind::F64,
        "TEXT" => Kind::Text,
        "JSON TEXT" => Kind::Nested,
        _ => return None,
    })
}

/// The order of ids: as numbers, before all texts that are not ids.
pub(super) fn order_of_ids(a: &str, b: &str) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    match (id::parse(a), id::parse(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// The double that is written as the shortest text of `single`: 0.1 rather than 0.10000000149.
pub(super) fn widen(single: f32) -> f64 {
    let wide = f64::from(single);
    // Whole numbers with few digits are written in full, so that both forms are equal.
    if single.fract() == 0.0 && single.abs() < 1e7 {
        return wide;
    }
    zmij::Buffer::new().format(single).parse().unwrap_or(wide)
}

/// A cell on its way to SQLite. Truths are 0 and 1; ids and GUIDs their text; numbers beyond 63 bits their decimal
/// text; nested values their JSON.
pub(super) struct SqlCell<'a>(pub(super) Value<'a>);

impl ToSql for SqlCell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match &self.0 {
            Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Value::Bool(truth) => ToSqlOutput::Borrowed(ValueRef::Integer((*truth).into())),
            Value::Int(number) => ToSqlOutput::Borrowed(ValueRef::Integer(*number)),
            Value::Uint(number) => match i64::try_from(*number) {
                Ok(number) => ToSqlOutput::Borrowed(ValueRef::Integer(number)),
                Err(_) => ToSqlOutput::Owned(Owned::Text(number.to_string())),
            },
            Value::F32(number) => ToSqlOutput::Borrowed(ValueRef::Real(widen(*number))),
            Value::F64(number) => ToSqlOutput::Borrowed(ValueRef::Real(*number)),
            Value::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Value::Id64(_) | Value::Id32(_) | Value::Guid(_) | Value::Utf16(_) => {
                ToSqlOutput::Owned(Owned::Text(self.0.to_string()))
            }
            Value::List(_) | Value::Map(_) => {
                let text =
                    json::to_string(&self.0).map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?;
                ToSqlOutput::Owned(Owned::Text(text))
            }
        })
    }
}

/// The cell of a column of this kind that equals `value` exactly. `None` if SQLite would convert one of them before the
/// comparison, or if no cell can be equal.
pub(super) fn key(kind: Kind, value: ValueRef<'_>) -> Option<Value<'_>> {
    Some(match (kind, value) {
        (Kind::Int, ValueRef::Integer(number)) => Value::Int(number),
        (Kind::Uint, ValueRef::Integer(number)) => Value::Uint(number.try_into().ok()?),
        (Kind::Bool, ValueRef::Integer(number @ (0 | 1))) => Value::Bool(number == 1),
        (Kind::F64, ValueRef::Real(number)) => Value::F64(number),
        (Kind::F64, ValueRef::Integer(number)) => Value::F64(exact(number)?),
        (Kind::F32, ValueRef::Real(number)) => Value::F32(single(number)?),
        (Kind::F32, ValueRef::Integer(number)) => Value::F32(single(exact(number)?)?),
        (Kind::Id64, ValueRef::Text(text)) => Value::Id64(id::parse(str::from_utf8(text).ok()?)?),
        // SQLite compares the number's text with the column.
        (Kind::Id64, ValueRef::Integer(number)) => Value::Id64(id::parse(itoa::Buffer::new().format(number))?),
        (Kind::Id32, ValueRef::Text(text)) => Value::Id32(id::parse32(str::from_utf8(text).ok()?)?),
        (Kind::Id32, ValueRef::Integer(number)) => Value::Id32(id::parse32(itoa::Buffer::new().format(number))?),
        (Kind::Text, ValueRef::Text(text)) => Value::text(str::from_utf8(text).ok()?),
        (Kind::Guid, ValueRef::Text(text)) => Value::Guid(Guid::parse(str::from_utf8(text).ok()?)?),
        _ => return None,
    })
}

/// Whether cells of this kind that are equal have equal hashes.
pub(super) const fn can_hash(kind: Kind) -> bool {
    matches!(kind, Kind::Int | Kind::Uint | Kind::Bool | Kind::Id64 | Kind::Id32 | Kind::Guid | Kind::Text)
}

/// The hash of a cell; `None` for null, which equals nothing.
pub(super) fn hash(value: &Value<'_>) -> Option<u64> {
    const SEED: u64 = 0x5EED;
    let number: u64 = match value {
        Value::Bool(truth) => (*truth).into(),
        Value::Int(whole) => whole.cast_unsigned(),
        Value::Uint(whole) | Value::Id64(whole) => *whole,
        Value::Id32(whole) => (*whole).into(),
        Value::Guid(guid) => return Some(xxh64(&guid.0, SEED)),
        Value::Text(text) => return Some(xxh64(text.as_bytes(), SEED)),
        Value::Utf16(text) => return Some(xxh64(text.to_string().as_bytes(), SEED)),
        _ => return None,
    };
    Some(spread(number))
}

/// Whole numbers that a double holds exactly, with all smaller ones.
#[expect(clippy::cast_precision_loss, reason = "checked")]
fn exact(number: i64) -> Option<f64> {
    (number.unsigned_abs() <= 1 << 53).then_some(number as f64)
}

/// The single-precision cell that is seen as `number`.
#[expect(clippy::cast_possible_truncation, reason = "the way back is checked")]
fn single(number: f64) -> Option<f32> {
    let single = number as f32;
    (widen(single) == number).then_some(single)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_ordered_by_number_however_they_are_written() {
        let same = ["0x000000000000002A", "0x2a", "0X2A", "42", "0042", "000000000000002a"];
        for (a, b) in same.iter().flat_map(|a| same.map(|b| (a, b))) {
            assert_eq!(order_of_ids(a, b), Ordering::Equal, "{a} {b}");
        }
        let ascending = ["9", "0x000000000000000A", "0xFFFFFFFFFFFFFFFF", "", "-1", "0x", "18446744073709551616"];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(order_of_ids(a, b), i.cmp(&j), "{a} {b}");
            }
        }
    }

    #[test]
    fn singles_are_seen_as_they_are_written() {
        for (single, wide) in [(0.1f32, 0.1f64), (16_777_216.0, 16_777_216.0), (1e30, 1e30), (-0.3, -0.3), (7.0, 7.0)] {
            assert_eq!(widen(single), wide);
            assert_eq!(super::single(wide), Some(single));
        }
        assert_eq!(super::single(0.100_000_001_490_116_12), None);
        assert!(widen(f32::NAN).is_nan() && widen(f32::INFINITY).is_infinite());
    }
}
