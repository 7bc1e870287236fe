//! Checks and converts requested values to the kinds and bounds of their columns.

use super::refused;
use crate::compare::same_value;
use crate::error::Result;
use crate::id;
use crate::table::{Accepts, Column, Guid, Kind, Value};
use std::collections::HashMap;

/// The source of a value, which decides how strictly its form is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSource {
    /// JSON or a program: numbers are numbers, and lists are lists.
    Typed,
    /// A cell of a CSV file: every value is text, and an absent value is empty text or null.
    Text,
    /// As CSV, with semicolons between cells, as from spreadsheets that write `1,5` for one and a half: a comma in a
    /// number is its decimal point.
    TextWithCommas,
    /// SQL: booleans are numbers, and nested values are text.
    Sql,
}

impl ValueSource {
    /// Whether every value is text.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::TextWithCommas)
    }
}

/// Replaces the decimal comma of a number by a point; `None` for any other text, such as a number with a point.
fn with_point(text: &str) -> Option<String> {
    let (whole, rest) = text.split_once(',')?;
    let mut chars = whole.chars().chain(rest.chars());
    chars.all(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | 'e' | 'E')).then(|| format!("{whole}.{rest}"))
}

/// The value of `column` after `given` is written over `now`.
///
/// # Errors
/// The column, the value and what fits, as a message.
pub fn fit(column: &Column, given: Value<'_>, from: ValueSource, now: Option<&Value<'_>>) -> Result<Value<'static>> {
    let fitted = typed(column.kind, &given, from, now).filter(|fitted| {
        // The present value always fits.
        now.is_some_and(|now| same_value(now, fitted)) || is_accepted(column, fitted, now)
    });
    fitted.ok_or_else(|| {
        let (name, value, what) = (&column.name, short(&given), what_fits(column));
        refused(format!("column {name}: {value} does not fit: {what}"))
    })
}

/// Whether a column accepts a value of its kind in place of `now`.
fn is_accepted(column: &Column, value: &Value<'_>, now: Option<&Value<'_>>) -> bool {
    match (column.accepts, value) {
        (Accepts::Bits(bits @ 0..64), Value::Uint(number)) => number >> bits == 0,
        (Accepts::Bits(bits @ 1..64), Value::Int(number)) => {
            let unused = 64 - bits;
            number << unused >> unused == *number
        }
        (Accepts::Bytes(most), Value::Text(text)) => text.len() <= most as usize,
        (Accepts::Path, Value::Text(text)) => !text.is_empty(),
        (Accepts::Numbers(count), Value::List(values)) => values.len() == usize::from(count),
        (Accepts::OrNull, Value::Null) => true,
        (_, Value::Null) => column.kind == Kind::Any || now.is_some_and(Value::is_null),
        _ => true,
    }
}

/// The values that a column takes, as a message.
pub fn what_fits(column: &Column) -> String {
    match (column.accepts, column.kind) {
        (Accepts::Nothing, _) if let Some(other) = column.read_from => format!("nothing, as it is read from {other}"),
        (Accepts::Nothing, _) => "nothing, as it follows from other cells or from where things lie".to_owned(),
        (Accepts::Path, _) => "a path".to_owned(),
        (Accepts::Name, _) => "a name".to_owned(),
        (Accepts::Bytes(most), _) => format!("a text of at most {most} bytes"),
        (Accepts::Numbers(count), _) => format!("a list of {count} numbers"),
        (Accepts::Bits(bits @ 0..64), Kind::Uint) => {
            format!("a whole number from 0 to {}", (1u64 << bits) - 1)
        }
        (Accepts::Bits(bits @ 1..65), Kind::Int) => {
            let least = i64::MIN >> (64 - bits);
            format!("a whole number from {least} to {}", !least)
        }
        (_, Kind::Bool) => "true or false".to_owned(),
        (_, Kind::Int) => "a whole number".to_owned(),
        (_, Kind::Uint) => "a whole number that is not negative".to_owned(),
        (_, Kind::F32 | Kind::F64) => "a finite number in its range".to_owned(),
        (_, Kind::Id64) => "an id, as 0x and 16 digits".to_owned(),
        (_, Kind::Id32) => "a hash, as 0x and 8 digits".to_owned(),
        (_, Kind::Guid) => "a GUID".to_owned(),
        (_, Kind::Text) => "a text".to_owned(),
        (_, Kind::Nested) => "a value of the form that the cell has, as JSON".to_owned(),
        (_, Kind::Any) => "a value of the kind that the cell has".to_owned(),
    }
}

/// A value for a message; long values are cut.
pub fn short(value: &Value<'_>) -> String {
    cut(match value {
        Value::Null => "null".to_owned(),
        Value::Text(text) => format!("{text:?}"),
        // Digits of a whole number would look exact.
        Value::F64(number) if number.is_finite() && number.abs() >= 9_007_199_254_740_992.0 => format!("{number:e}"),
        other => other.to_string(),
    })
}

/// A text for a message, cut if it is long.
pub fn cut(text: String) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// A text in quotes for a message, cut as [`short`] does.
pub fn short_text(text: &str) -> String {
    short(&Value::text(text))
}

/// The whole number of a nested value; JSON may write it as `3.0`, which is exact up to 2^53.
pub fn whole_number(value: &Value<'_>) -> Option<i128> {
    match value {
        Value::F32(_) => None,
        Value::Text(text) => text.parse().ok(),
        other => whole(other),
    }
}

/// Converts `given` to `kind`, in place of `now`; `None` if it is not such a value.
pub fn typed(kind: Kind, given: &Value<'_>, from: ValueSource, now: Option<&Value<'_>>) -> Option<Value<'static>> {
    let present = if kind == Kind::Any { now.and_then(Value::kind) } else { Some(kind) };
    if from == ValueSource::TextWithCommas
        && matches!(present, Some(Kind::Int | Kind::Uint | Kind::F32 | Kind::F64))
        && let Value::Text(text) = given
        && let Some(number) = with_point(text)
    {
        return typed(kind, &Value::owned(number), ValueSource::Text, now);
    }
    let text = match given {
        Value::Text(text) => Some(&**text),
        _ => None,
    };
    let is_empty = given.is_null() || (from.is_text() && text == Some(""));
    if let Some(now) = now.filter(|now| is_empty && has_no_form(now)) {
        return Some(now.clone().into_owned());
    }
    if given.is_null() {
        return Some(Value::Null);
    }
    Some(match kind {
        Kind::Bool => Value::Bool(truth(given, from)?),
        Kind::Int => Value::Int(whole(given)?.try_into().ok()?),
        Kind::Uint => Value::Uint(whole(given)?.try_into().ok()?),
        Kind::F32 => Value::F32(single(given)?),
        Kind::F64 => Value::F64(double(given)?),
        Kind::Id64 => Value::Id64(match given {
            Value::Id64(id) | Value::Uint(id) => *id,
            Value::Int(id) => id::parse(&id.to_string())?,
            _ => id::parse(text?)?,
        }),
        Kind::Id32 => Value::Id32(match given {
            Value::Id32(id) => *id,
            Value::Uint(id) => (*id).try_into().ok()?,
            Value::Int(id) => (*id).try_into().ok()?,
            _ => id::parse32(text?)?,
        }),
        Kind::Guid => Value::Guid(match given {
            Value::Guid(guid) => *guid,
            _ => Guid::parse(text?)?,
        }),
        Kind::Text => Value::owned(text?.to_owned()),
        Kind::Nested | Kind::Any => {
            let nested = match text {
                // Text stands for a nested value where nothing else can.
                Some(text) if from != ValueSource::Typed && !matches!(now, Some(Value::Text(_) | Value::Utf16(_))) => {
                    match super::json::value(text) {
                        // In place of a null, the text `null` asks for a text: it would change nothing otherwise.
                        Ok(Value::Null) if kind == Kind::Any && matches!(now, Some(Value::Null)) => {
                            given.clone().into_owned()
                        }
                        Ok(value) => value,
                        Err(_) if kind == Kind::Any => given.clone().into_owned(),
                        Err(_) => return None,
                    }
                }
                _ => given.clone().into_owned(),
            };
            like(now.unwrap_or(&Value::Null), nested)?
        }
    })
}

/// Whether JSON and CSV have no form for a value: null, and a float that is not finite.
fn has_no_form(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::F32(v) => !v.is_finite(),
        Value::F64(v) => !v.is_finite(),
        _ => false,
    }
}

/// Converts `given` to the kinds of `now`, as far as that shows them; `None` if impossible.
pub fn like(now: &Value<'_>, given: Value<'static>) -> Option<Value<'static>> {
    Some(match (now, given) {
        (Value::Null, given) => given,
        (now, Value::Null) if has_no_form(now) => now.clone().into_owned(),
        (_, Value::Null) => Value::Null,
        (Value::List(now), Value::List(given)) => {
            let kinds = now.iter().map(Some).chain(std::iter::repeat(now.first()));
            let items = given.into_iter().zip(kinds).map(|(given, now)| like(now.unwrap_or(&Value::Null), given));
            Value::List(items.collect::<Option<_>>()?)
        }
        (Value::Map(now), Value::Map(mut given)) => {
            let mut places = HashMap::with_capacity(now.len());
            for (at, (name, _)) in now.iter().enumerate() {
                places.entry(&**name).or_insert(at);
            }
            // Programs that read and write JSON may sort members. The order of names that are repeated is kept.
            if places.len() == now.len() {
                given.sort_by_key(|(name, _)| places.get(&**name).copied().unwrap_or(now.len()));
            }
            let parts = given.into_iter().map(|(name, given)| {
                let now = places.get(&*name).and_then(|at| now.get(*at)).map_or(&Value::Null, |(_, now)| now);
                Some((name, like(now, given)?))
            });
            Value::Map(parts.collect::<Option<_>>()?)
        }
        // A reference may be said by its id or its text alone.
        (Value::Map(now), given @ Value::Text(_))
            if now.len() == 2
                && now.iter().any(|(name, _)| name == "id")
                && now.iter().any(|(name, _)| matches!(&**name, "text" | "path")) =>
        {
            given
        }
        (now, given) => {
            let kind = now.kind().filter(|kind| *kind != Kind::Nested)?;
            typed(kind, &given, ValueSource::Sql, None).filter(|value| !value.is_null())?
        }
    })
}

/// Whether `given`, a JSON value, equals the file's value.
pub fn is_same(now: &Value<'_>, given: &Value<'static>) -> bool {
    like(now, given.clone()).is_some_and(|given| same_value(now, &given))
}

fn truth(given: &Value<'_>, from: ValueSource) -> Option<bool> {
    match given {
        Value::Bool(truth) => Some(*truth),
        // Spreadsheets write truths in capitals.
        Value::Text(text) if text.eq_ignore_ascii_case("true") => Some(true),
        Value::Text(text) if text.eq_ignore_ascii_case("false") => Some(false),
        Value::Text(_) => truth_of(given),
        _ if from != ValueSource::Typed => truth_of(given),
        _ => None,
    }
}

/// The truth that the numbers 0 and 1 stand for.
fn truth_of(given: &Value<'_>) -> Option<bool> {
    match whole(given)? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn whole(given: &Value<'_>) -> Option<i128> {
    match given {
        Value::Int(number) => Some((*number).into()),
        Value::Uint(number) => Some((*number).into()),
        Value::F64(number) => whole_of(*number),
        Value::F32(number) => whole_of((*number).into()),
        Value::Text(text) => match text.parse() {
            Ok(number) => Some(number),
            // As spreadsheets write what they take for a number of their own.
            Err(_) => whole_of(text.parse().ok()?),
        },
        _ => None,
    }
}

/// The whole number that a float equals exactly.
#[expect(clippy::cast_possible_truncation, reason = "in range and without a fraction")]
fn whole_of(number: f64) -> Option<i128> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i128)
}

#[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
fn double(given: &Value<'_>) -> Option<f64> {
    match given {
        Value::F64(number) => Some(*number),
        Value::F32(number) => Some((*number).into()),
        Value::Int(number) => Some(*number as f64),
        Value::Uint(number) => Some(*number as f64),
        Value::Text(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

/// The intended single-precision float: for a double, the one with the same digits, if any.
#[expect(clippy::cast_possible_truncation, reason = "the nearest float is what is asked for")]
pub fn single(given: &Value<'_>) -> Option<f32> {
    let (number, text) = match given {
        Value::F32(number) => return Some(*number),
        Value::Text(text) => return text.parse().ok().filter(|number: &f32| number.is_finite()),
        other => (double(other)?, other),
    };
    let near = number as f32;
    let digits = match text {
        Value::F64(number) => zmij::Buffer::new().format(*number).parse().unwrap_or(near),
        _ => near,
    };
    digits.is_finite().then_some(digits)
}

/// The id of a text, as its column stores it; `None` if the column takes no text for an id, and for an empty path.
pub fn id_of(takes: Accepts, text: &str) -> Option<Value<'static>> {
    match takes {
        Accepts::Path if !text.is_empty() => Some(Value::Id64(id::of_path(text))),
        Accepts::Name => Some(Value::Id32(id::of_name(text))),
        _ => None,
    }
}

/// Converts a cell of a key: as a cell of its column; an id may also be its path.
pub fn key(column: &Column, given: &Value<'_>) -> Option<Value<'static>> {
    match (column.kind, given) {
        (Kind::Any | Kind::Nested, given) => Some(given.clone().into_owned()),
        (Kind::Text, Value::Int(_) | Value::Uint(_)) => Some(Value::owned(given.to_string())),
        (kind, given) => typed(kind, given, ValueSource::Sql, None).or_else(|| match (kind, given) {
            (Kind::Id64, Value::Text(path)) => Some(Value::Id64(id::of_path(path))),
            (Kind::Id32, Value::Text(name)) => Some(Value::Id32(id::of_name(name))),
            _ => None,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(column: Column, given: impl Into<Value<'static>>) -> Result<Value<'static>, String> {
        fit(&column, given.into(), ValueSource::Typed, None).map_err(|e| e.to_string())
    }

    #[test]
    fn numbers_fit_by_their_bits_and_sign() {
        let bits = |kind, bits| Column::new("n", kind).accepts(Accepts::Bits(bits));
        assert_eq!(fits(bits(Kind::Uint, 4), 15u64), Ok(Value::Uint(15)));
        let error = fits(bits(Kind::Uint, 4), 16u64).unwrap_err();
        assert_eq!(error, "column n: 16 does not fit: a whole number from 0 to 15");
        assert_eq!(fits(bits(Kind::Int, 4), -8i64), Ok(Value::Int(-8)));
        let error = fits(bits(Kind::Int, 4), 8i64).unwrap_err();
        assert_eq!(error, "column n: 8 does not fit: a whole number from -8 to 7");
        assert_eq!(fits(bits(Kind::Uint, 64), u64::MAX), Ok(Value::Uint(u64::MAX)));
        assert_eq!(fits(bits(Kind::Int, 32), "-5"), Ok(Value::Int(-5)));
        assert!(fits(bits(Kind::Uint, 8), 1.5f64).is_err() && fits(bits(Kind::Uint, 8), -1i64).is_err());
    }

    #[test]
    fn a_refusal_says_what_fits_a_column() {
        let said = |column: Column| what_fits(&column);
        for (kind, fits) in [
            (Kind::Bool, "true or false"),
            (Kind::Int, "a whole number"),
            (Kind::Uint, "a whole number that is not negative"),
            (Kind::F64, "a finite number in its range"),
            (Kind::Id64, "an id, as 0x and 16 digits"),
            (Kind::Id32, "a hash, as 0x and 8 digits"),
            (Kind::Guid, "a GUID"),
            (Kind::Text, "a text"),
            (Kind::Nested, "a value of the form that the cell has, as JSON"),
            (Kind::Any, "a value of the kind that the cell has"),
        ] {
            assert_eq!(said(Column::new("c", kind).writable()), fits);
        }
        let accepts = |kind, accepts| said(Column::new("c", kind).accepts(accepts));
        assert_eq!(accepts(Kind::Text, Accepts::Path), "a path");
        assert_eq!(accepts(Kind::Text, Accepts::Name), "a name");
        assert_eq!(accepts(Kind::Text, Accepts::Bytes(8)), "a text of at most 8 bytes");
        assert_eq!(accepts(Kind::Nested, Accepts::Numbers(3)), "a list of 3 numbers");
        assert!(accepts(Kind::Text, Accepts::Nothing).starts_with("nothing, as it follows"));
    }

    #[test]
    fn an_id_is_also_a_number_or_a_text_of_digits() {
        let id = |kind, given: Value<'static>| fits(Column::new("id", kind).writable(), given).ok();
        for given in [Value::Id64(42), Value::Uint(42), Value::Int(42), "0x2A".into(), "42".into()] {
            assert_eq!(id(Kind::Id64, given), Some(Value::Id64(42)));
        }
        for given in [Value::Id32(42), Value::Uint(42), Value::Int(42), "0x2A".into()] {
            assert_eq!(id(Kind::Id32, given), Some(Value::Id32(42)));
        }
        for (kind, given) in
            [(Kind::Id64, Value::Int(-1)), (Kind::Id32, Value::Uint(1 << 32)), (Kind::Id32, true.into())]
        {
            assert_eq!(id(kind, given), None);
        }
    }

    #[test]
    fn singles_are_those_with_the_same_digits() {
        let column = || Column::f32("f").writable();
        assert_eq!(fits(column(), 0.1f64), Ok(Value::F32(0.1)));
        assert_eq!(fits(column(), "16777216"), Ok(Value::F32(16_777_216.0)));
        assert!(fits(column(), 1e39f64).is_err() && fits(column(), "1e39").is_err() && fits(column(), "x").is_err());
    }

    #[test]
    fn commas_are_decimal_where_semicolons_divide_cells() {
        let fits = |column: Column, text: &'static str, from| fit(&column, text.into(), from, None).ok();
        let number = || Column::f32("f").writable();
        assert_eq!(fits(number(), "-1,5", ValueSource::TextWithCommas), Some(Value::F32(-1.5)));
        assert_eq!(fits(number(), "1,5e-3", ValueSource::TextWithCommas), Some(Value::F32(0.0015)));
        assert_eq!(fits(number(), "1.5", ValueSource::TextWithCommas), Some(Value::F32(1.5)));
        // Which of the two is the decimal one is not said.
        assert_eq!(fits(number(), "1.234,5", ValueSource::TextWithCommas), None);
        assert_eq!(fits(number(), "1,234,5", ValueSource::TextWithCommas), None);
        assert_eq!(fits(number(), "1,5", ValueSource::Text), None);
        assert_eq!(fits(Column::text("t").writable(), "1,5", ValueSource::TextWithCommas), Some("1,5".into()));
        let any = Column::new("v", Kind::Any).writable();
        let now = Value::F64(2.0);
        assert_eq!(fit(&any, "0,25".into(), ValueSource::TextWithCommas, Some(&now)).ok(), Some(Value::F64(0.25)));
        let now = Value::text("x");
        assert_eq!(fit(&any, "0,25".into(), ValueSource::TextWithCommas, Some(&now)).ok(), Some("0,25".into()));
    }

    #[test]
    fn the_text_null_replaces_a_null() {
        let any = Column::new("v", Kind::Any).writable();
        let given = |now: &Value<'_>| fit(&any, "null".into(), ValueSource::Sql, Some(now)).unwrap();
        assert_eq!(given(&Value::Null), Value::text("null"));
        assert_eq!(given(&Value::Int(3)), Value::Null);
    }

    #[test]
    fn null_keeps_a_float_that_has_no_other_form() {
        let column = Column::f32("f").writable();
        let kept = fit(&column, Value::Null, ValueSource::Typed, Some(&Value::F32(f32::INFINITY))).unwrap();
        assert_eq!(kept, Value::F32(f32::INFINITY));
        assert!(fit(&column, Value::Null, ValueSource::Typed, Some(&Value::F32(1.0))).is_err());
        let nested = Column::nested("n").writable();
        let now = Value::floats([1.0, f32::INFINITY]);
        let given = Value::List(vec![Value::F64(2.0), Value::Null]);
        assert_eq!(fit(&nested, given, ValueSource::Typed, Some(&now)).unwrap(), Value::floats([2.0, f32::INFINITY]));
    }

    #[test]
    fn nested_floats_come_as_any_number() {
        let now = Value::List(vec![Value::F64(f64::NAN), Value::F64(1.0)]);
        let given = Value::List(vec![Value::Null, Value::F32(0.5)]);
        let Some(Value::List(items)) = like(&now, given) else { panic!() };
        assert!(matches!(items[..], [Value::F64(kept), Value::F64(0.5)] if kept.is_nan()));
        // A number in single precision may stand for several whole numbers.
        assert_eq!([Value::F32(3.0), Value::F64(3.0)].map(|number| whole_number(&number)), [None, Some(3)]);
    }

    #[test]
    fn nested_cells_keep_their_kinds_and_come_as_text_too() {
        let column = Column::nested("n").writable();
        let now = Value::Map(vec![("id".into(), Value::Id64(1)), ("at".into(), Value::floats([0.5]))]);
        let text = r#"{"id":"0x000000000000002A","at":[1,2.5]}"#;
        let fitted = fit(&column, text.into(), ValueSource::Text, Some(&now)).unwrap();
        let wanted = Value::Map(vec![("id".into(), Value::Id64(42)), ("at".into(), Value::floats([1.0, 2.5]))]);
        assert_eq!(fitted, wanted);
        let sorted = r#"{"at":[1,2.5],"id":"0x000000000000002A"}"#;
        assert_eq!(fit(&column, sorted.into(), ValueSource::Text, Some(&now)).unwrap(), wanted);
        assert!(fit(&column, "5".into(), ValueSource::Text, Some(&now)).is_err());
    }
}
