//! A cell as plain text, for a field of CSV and for a column of text in Parquet and Arrow.

use super::json;
use crate::error::Result;
use crate::escape::escape;
use crate::id::{Id32, Id64, ascii};
use crate::table::{Value, write_digits};
use std::fmt::Write as _;

/// The text of `value`: nested values as JSON, ids in their fixed form, floats with the shortest digits, without an
/// exponent, and whole where they are whole. `None` for null and for floats that are not finite. Values other than
/// texts are written into `scratch`.
#[inline]
pub fn text<'t>(value: &'t Value<'_>, scratch: &'t mut String) -> Result<Option<&'t str>> {
    if let Value::Text(text) = value {
        return Ok(Some(text));
    }
    scratch.clear();
    match value {
        Value::Null => return Ok(None),
        Value::Text(text) => scratch.push_str(text),
        Value::Bool(truth) => scratch.push_str(if *truth { "true" } else { "false" }),
        Value::Uint(number) => scratch.push_str(itoa::Buffer::new().format(*number)),
        Value::Int(number) => scratch.push_str(itoa::Buffer::new().format(*number)),
        Value::F32(number) if !number.is_finite() => return Ok(None),
        Value::F64(number) if !number.is_finite() => return Ok(None),
        Value::F32(number) => float(zmij::Buffer::new().format_finite(*number), scratch),
        Value::F64(number) => float(zmij::Buffer::new().format_finite(*number), scratch),
        Value::Id64(id) => scratch.push_str(ascii(&Id64(*id).to_ascii())),
        Value::Id32(id) => scratch.push_str(ascii(&Id32(*id).to_ascii())),
        Value::Guid(_) | Value::Utf16(_) => shown(value, scratch),
        Value::List(_) | Value::Map(_) => json::append(value, scratch)?,
    }
    Ok(Some(scratch))
}

/// Appends `value` as it is shown to people, as its `Display` does and cleaned like all that people see, in less time.
pub fn push_escaped(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Text(text) => out.push_str(&escape(text)),
        Value::Utf16(text) => out.push_str(&escape(&text.to_string())),
        Value::Uint(number) => out.push_str(itoa::Buffer::new().format(*number)),
        Value::Int(number) => out.push_str(itoa::Buffer::new().format(*number)),
        Value::F32(number) if let Some(whole) = small_whole(*number) => match u8::try_from(whole) {
            Ok(digit @ 0..10) => out.push(char::from(b'0'.wrapping_add(digit))),
            _ => out.push_str(itoa::Buffer::new().format(whole)),
        },
        Value::F32(number) if number.is_finite() => float(zmij::Buffer::new().format_finite(*number), out),
        Value::F64(number) if number.is_finite() => float(zmij::Buffer::new().format_finite(*number), out),
        Value::Id64(id) => out.push_str(ascii(&Id64(*id).to_ascii())),
        Value::Id32(id) => out.push_str(ascii(&Id32(*id).to_ascii())),
        Value::List(values) => {
            out.push('[');
            for (at, value) in values.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                push_escaped(value, out);
            }
            out.push(']');
        }
        Value::Map(values) => {
            out.push('{');
            for (at, (name, value)) in values.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                out.push_str(&escape(name));
                out.push_str(": ");
                push_escaped(value, out);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::F32(_) | Value::F64(_) | Value::Guid(_) => shown(value, out),
    }
}

/// The number, if it is whole and small enough to be exact as an integer: most of those in matrices are 0 or 1.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "it is compared with what was cast")]
fn small_whole(number: f32) -> Option<i32> {
    const EXACT: f32 = 16_777_216.0;
    let whole = number as i32;
    let is_exact = whole as f32 == number && number.abs() < EXACT && (whole != 0 || number.is_sign_positive());
    is_exact.then_some(whole)
}

fn float(digits: &str, out: &mut String) {
    // To write to a string cannot fail.
    let _ = write_digits(digits, out);
}

fn shown(value: &Value<'_>, scratch: &mut String) {
    // To write to a string cannot fail.
    let _ = write!(scratch, "{value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Floats that lie in the middle between two texts of as many digits are among them.
    #[test]
    fn a_float_has_the_same_digits_in_every_output() {
        let mut rng = fastrand::Rng::with_seed(7);
        let singles = (0..3000).map(|_| f32::from_bits(rng.u32(..)));
        let ties = (0..3000).map(|n| n as f32 / 1024.0);
        let mut values: Vec<Value> = singles.chain(ties).map(Value::F32).collect();
        let doubles = (0..3000).map(|_| f64::from_bits(rng.u64(..)));
        let ends = [f64::MAX, f64::MIN_POSITIVE, 5e-324, -0.0, 1e16, 123456e9, 1.25e-6, 4.5e15];
        values.extend(doubles.chain(ends).map(Value::F64));
        for value in values.iter().filter(|value| value.to_string().bytes().all(|byte| !byte.is_ascii_alphabetic())) {
            let (mut scratch, mut clean) = (String::new(), String::new());
            push_escaped(value, &mut clean);
            let plain = text(value, &mut scratch).unwrap().unwrap();
            assert_eq!((plain, &*clean), (&*value.to_string(), &*value.to_string()));
            let json = json::to_string(value).unwrap();
            match *value {
                // JSON has exponents: with them, too, the digits are the same.
                Value::F32(number) => {
                    assert_eq!(plain.parse::<f32>().unwrap().to_bits(), number.to_bits());
                    assert_eq!(digits_of(&json), digits_of(plain), "{number:e}");
                }
                Value::F64(number) => {
                    assert_eq!(plain.parse::<f64>().unwrap().to_bits(), number.to_bits());
                    assert_eq!(digits_of(&json), digits_of(plain), "{number:e}");
                }
                _ => {}
            }
        }
        assert_eq!(Value::F32(378.0 / 1024.0).to_string(), "0.36914062");
    }

    /// The digits of a number without zeros at either end, its point and its exponent.
    fn digits_of(text: &str) -> String {
        let digits = text.split('e').next().unwrap_or_default().replace(['.', '-'], "");
        digits.trim_matches('0').to_owned()
    }

    #[test]
    fn values_are_pushed_as_they_are_displayed() {
        let floats = [1.0, -7.0, 0.0, -0.0, 0.5, 1e-9, 1e7, 3e8, f32::NAN];
        let map = Value::Map(vec![("a".into(), Value::floats(floats)), ("b".into(), Value::Null)]);
        let all =
            [7u64.into(), (-3i64).into(), 1e30f64.into(), true.into(), Value::Id64(5), Value::Id32(6), "x".into(), map];
        for value in all {
            let mut pushed = String::new();
            push_escaped(&value, &mut pushed);
            assert_eq!(pushed, value.to_string());
        }
        let mut pushed = String::new();
        push_escaped(&Value::List(vec!["a\nb".into()]), &mut pushed);
        assert_eq!(pushed, "[a\\nb]");
    }
}
