//! Cells as SQLite sees them: which type a column is declared with, and which value a cell becomes.

use super::large_numbers::LargeNumbers;
use crate::codec::{spread, xxh64};
use crate::error::Result;
use crate::id::{self, Id32, Id64};
use crate::table::{CellSink, Guid, Kind, Value};
use crate::write::json;
use rusqlite::types::{ToSql, ToSqlOutput, Value as Owned, ValueRef};
use rusqlite::vtab::Context;
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

/// The order of ids: as numbers, before all texts that are not ids. Texts of `large` numbers are ids.
pub(super) fn order_of_ids(a: &str, b: &str, large: &LargeNumbers) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    // Ids as tables show them, with equally many digits.
    if a.len() == b.len() && is_shown(a) && is_shown(b) {
        return a.cmp(b);
    }
    let [id_a, id_b] = [a, b].map(|text| id::parse(text).or_else(|| large.number(ValueRef::Text(text.as_bytes()))));
    match (id_a, id_b) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// Whether a text is an id of at most 64 bits with upper-case digits after `0x`.
fn is_shown(id: &str) -> bool {
    let digits = id.strip_prefix("0x").map(str::as_bytes).filter(|digits| (1..=16).contains(&digits.len()));
    digits.is_some_and(|digits| digits.iter().fold(true, |all, b| all & matches!(b, b'0'..=b'9' | b'A'..=b'F')))
}

/// The double that is written as the shortest text of `single`: 0.1 rather than 0.10000000149.
pub(super) fn widen(single: f32) -> f64 {
    let wide = f64::from(single);
    // Whole numbers with few digits are written in full, so that both forms are equal.
    if single.fract() == 0.0 && single.abs() < 1e7 {
        return wide;
    }
    shortest(single).unwrap_or_else(|| zmij::Buffer::new().format(single).parse().unwrap_or(wide))
}

/// Powers of ten, which a double holds exactly.
const POWERS: [f64; 14] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13];

/// As [`widen`], without a text, for numbers of common sizes: the decimal number with the fewest digits, at most nine, that is nearest to
/// `single` among all single-precision floats.
fn shortest(single: f32) -> Option<f64> {
    let wide = f64::from(single.abs());
    if !(1e-3..1e7).contains(&wide) {
        return None;
    }
    // The power of ten that makes a number of six digits. A decimal number of six digits near a float is the only one.
    let before = POWERS.iter().take(8).position(|power| wide < *power)?;
    let small = usize::from(wide < 0.1) + usize::from(wide < 0.01);
    for digits in 6usize..=9 {
        let scale = *POWERS.get((digits + small).checked_sub(before)?)?;
        // Exact: a float has 24 bits, and the odd part of a power up to 10^11 has 26.
        let scaled = wide * scale;
        let whole = scaled.round();
        // Between two decimal numbers the text decides.
        if (scaled - scaled.trunc() - 0.5).abs() == 0.0 {
            return None;
        }
        // Both are exact, so that the quotient is the double nearest to the decimal number.
        let decimal = whole / scale;
        // The middle between two floats: rounding to a double may have moved the number there.
        if decimal.to_bits() & 0x1FFF_FFFF == 0x1000_0000 {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "it is compared")]
        if decimal as f32 == single.abs() {
            return Some(decimal.copysign(single.into()));
        }
    }
    None
}

/// A cell on its way to SQLite. Truths are 0 and 1; ids and GUIDs their text; numbers beyond 63 bits their decimal
/// text; nested values their JSON.
pub(super) struct SqlCell<'a>(pub(super) &'a Value<'a>);

impl ToSql for SqlCell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
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
                let text = json::to_string(self.0).map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?;
                ToSqlOutput::Owned(Owned::Text(text))
            }
        })
    }
}

/// Passes cells to SQLite, as [`SqlCell`] does.
pub(super) struct ResultSink<'c> {
    context: &'c mut Context,
    text: String,
    number: Option<ValueRef<'static>>,
    result: rusqlite::Result<()>,
}

impl<'c> ResultSink<'c> {
    /// A sink of one cell. `text` is room for a text in several parts.
    pub(super) fn new(context: &'c mut Context, text: String) -> Self {
        Self { context, text, number: None, result: Ok(()) }
    }

    /// The cell, if it is a number or null.
    pub(super) fn number(&self) -> Option<ValueRef<'static>> {
        self.number
    }

    fn take(&mut self, number: ValueRef<'static>) -> Result<()> {
        self.number = Some(number);
        self.result = self.context.set_result(ToSqlOutput::Borrowed(number));
        Ok(())
    }

    /// The room, and whether SQLite took the cell.
    pub(super) fn finish(self) -> (String, rusqlite::Result<()>) {
        (self.text, self.result)
    }
}

impl CellSink for ResultSink<'_> {
    fn value(&mut self, cell: &Value<'_>) -> Result<()> {
        match cell {
            Value::Null => self.take(ValueRef::Null),
            Value::Int(number) => self.take(ValueRef::Integer(*number)),
            Value::Uint(number) => self.uint(*number),
            Value::F32(number) => self.f32(*number),
            Value::F64(number) => self.take(ValueRef::Real(*number)),
            Value::Text(text) => self.text(text),
            cell => {
                self.result = self.context.set_result(SqlCell(cell));
                Ok(())
            }
        }
    }

    fn uint(&mut self, number: u64) -> Result<()> {
        match i64::try_from(number) {
            Ok(number) => self.take(ValueRef::Integer(number)),
            Err(_) => self.text(&number.to_string()),
        }
    }

    fn f32(&mut self, number: f32) -> Result<()> {
        self.take(ValueRef::Real(widen(number)))
    }

    fn text(&mut self, text: &str) -> Result<()> {
        self.result = self.context.set_result(text);
        Ok(())
    }

    fn joined(&mut self, start: &str, end: &str) -> Result<()> {
        self.text.clear();
        self.text.push_str(start);
        self.text.push_str(end);
        self.result = self.context.set_result(&*self.text);
        Ok(())
    }

    fn id64(&mut self, id: Id64) -> Result<()> {
        self.text(id::ascii(&id.to_ascii()))
    }

    fn id32(&mut self, id: Id32) -> Result<()> {
        self.text(id::ascii(&id.to_ascii()))
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
        let large = LargeNumbers::default();
        let same = ["0x000000000000002A", "0x2a", "0X2A", "42", "0042", "000000000000002a"];
        for (a, b) in same.iter().flat_map(|a| same.map(|b| (a, b))) {
            assert_eq!(order_of_ids(a, b, &large), Ordering::Equal, "{a} {b}");
        }
        let full: Vec<String> = (0..200u64).map(|n| Id64(n.wrapping_mul(0x9E37_79B9_7F4A_7C15)).to_string()).collect();
        for (a, b) in full.iter().flat_map(|a| full.iter().map(move |b| (a, b))) {
            assert_eq!(order_of_ids(a, b, &large), id::parse(a).cmp(&id::parse(b)), "{a} {b}");
        }
        let ascending = ["9", "0x000000000000000A", "0xFFFFFFFFFFFFFFFF", "", "-1", "0x", "18446744073709551616"];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(order_of_ids(a, b, &large), i.cmp(&j), "{a} {b}");
            }
        }
    }

    #[test]
    fn singles_are_seen_as_they_are_written() {
        for (single, wide) in [(0.1f32, 0.1f64), (16_777_216.0, 16_777_216.0), (1e30, 1e30), (-0.3, -0.3), (7.0, 7.0)] {
            assert_eq!(widen(single), wide);
            assert_eq!(super::single(wide), Some(single));
        }
        let mut rng = fastrand::Rng::with_seed(3);
        let bits = (0..200_000).map(|n| if n % 2 == 0 { rng.u32(..) } else { rng.u32(0x3A00_0000..0x4B80_0000) });
        let decimals: Vec<f32> =
            (0..100_000u32).map(|n| n as f32 / [1e1, 1e2, 1e3, 1e4, 1e6][n as usize % 5]).collect();
        for single in bits.map(f32::from_bits).chain(decimals).filter(|single| single.is_finite()) {
            for single in [single, -single] {
                let text: f64 = zmij::Buffer::new().format(single).parse().unwrap();
                assert_eq!(widen(single).to_bits(), text.to_bits(), "{single}");
            }
        }
        assert_eq!(super::single(0.100_000_001_490_116_12), None);
        assert!(widen(f32::NAN).is_nan() && widen(f32::INFINITY).is_infinite());
    }

    /// A cell that SQLite got is found again by a comparison with it, if cells of its kind can be compared.
    #[test]
    fn a_cell_of_each_kind_is_the_key_that_sqlite_gets() {
        for (kind, value) in [
            (Kind::Bool, Value::Bool(true)),
            (Kind::Int, Value::Int(-5)),
            (Kind::Uint, Value::Uint(7)),
            (Kind::F32, Value::F32(0.1)),
            (Kind::F64, Value::F64(0.1)),
            (Kind::Id64, Value::Id64(1 << 40)),
            (Kind::Id32, Value::Id32(9)),
            (Kind::Guid, Value::Guid(Guid([7; 16]))),
            (Kind::Text, Value::text("a")),
        ] {
            let cell = SqlCell(&value);
            let given = cell.to_sql().unwrap();
            let stored = match &given {
                ToSqlOutput::Borrowed(stored) => *stored,
                ToSqlOutput::Owned(stored) => ValueRef::from(stored),
                other => panic!("{other:?}"),
            };
            assert_eq!(key(kind, stored), Some(value.clone()), "{stored:?}");
            assert_eq!(hash(&value).is_some(), can_hash(kind), "{kind:?}");
        }
        for (kind, stored) in [
            (Kind::Uint, ValueRef::Integer(-1)),
            (Kind::Bool, ValueRef::Integer(2)),
            (Kind::Int, ValueRef::Text(b"5")),
            (Kind::Id32, ValueRef::Text(b"rope")),
            (Kind::Guid, ValueRef::Text(b"rope")),
            (Kind::Nested, ValueRef::Text(b"[]")),
            (Kind::F32, ValueRef::Real(f64::MAX)),
            (Kind::Text, ValueRef::Text(&[0xFF])),
        ] {
            assert_eq!(key(kind, stored), None, "{stored:?}");
        }
        // No integer of SQLite has 64 bits without a sign.
        let most = Value::Uint(u64::MAX);
        assert_eq!(SqlCell(&most).to_sql().unwrap(), ToSqlOutput::Owned(Owned::Text(u64::MAX.to_string())));
    }
}
