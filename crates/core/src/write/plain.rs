//! A cell as plain text, for a field of CSV and for a column of text in Parquet and Arrow.

use super::json;
use crate::error::Result;
use crate::escape::escape;
use crate::id::{Id32, Id64, ascii};
use crate::table::Value;
use std::fmt;

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
        Value::Bool(truth) => scratch.push_str(if *truth { "true" } else { "false" }),
        Value::Uint(number) => scratch.push_str(itoa::Buffer::new().format(*number)),
        Value::Int(number) => scratch.push_str(itoa::Buffer::new().format(*number)),
        Value::F32(number) if !number.is_finite() => return Ok(None),
        Value::F64(number) if !number.is_finite() => return Ok(None),
        Value::F32(number) => float(zmij::Buffer::new().format_finite(*number), scratch),
        Value::F64(number) => float(zmij::Buffer::new().format_finite(*number), scratch),
        Value::Id64(id) => scratch.push_str(ascii(&Id64(*id).to_ascii())),
        Value::Id32(id) => scratch.push_str(ascii(&Id32(*id).to_ascii())),
        Value::Text(_) | Value::Guid(_) | Value::Utf16(_) => push(value, false, scratch),
        Value::List(_) | Value::Map(_) => json::append(value, scratch)?,
    }
    Ok(Some(scratch))
}

/// The form for people, and the text form that the command line fixes for ids and GUIDs. Nested values are shown
/// the way Rust shows lists.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self, false, f)
    }
}

/// Appends `value` as it is shown to people, [escaped](escape) like all that people see.
pub fn push_escaped(value: &Value<'_>, out: &mut String) {
    push(value, true, out);
}

fn push(value: &Value<'_>, is_escaped: bool, out: &mut String) {
    // To write to a string cannot fail.
    let _ = show(value, is_escaped, out);
}

fn float(digits: &str, out: &mut String) {
    // To write to a string cannot fail.
    let _ = write_digits(digits, out);
}

/// Writes `value` as it is shown to people: floats without an exponent, nested values the way Rust shows lists. Texts are escaped if
/// `is_escaped`.
pub(crate) fn show(value: &Value<'_>, is_escaped: bool, out: &mut (impl fmt::Write + ?Sized)) -> fmt::Result {
    match value {
        Value::Null => Ok(()),
        Value::Bool(truth) => out.write_str(if *truth { "true" } else { "false" }),
        Value::Text(text) if is_escaped => out.write_str(&escape(text)),
        Value::Text(text) => out.write_str(text),
        Value::Utf16(text) if is_escaped => out.write_str(&escape(&text.to_string())),
        Value::Utf16(text) => write!(out, "{text}"),
        Value::Uint(number) => out.write_str(itoa::Buffer::new().format(*number)),
        Value::Int(number) => out.write_str(itoa::Buffer::new().format(*number)),
        Value::F32(number) if let Some(whole) = small_whole(*number) => match u8::try_from(whole) {
            Ok(digit @ 0..10) => out.write_char(char::from(b'0'.wrapping_add(digit))),
            _ => out.write_str(itoa::Buffer::new().format(whole)),
        },
        Value::F32(number) if number.is_finite() => write_digits(zmij::Buffer::new().format_finite(*number), out),
        Value::F64(number) if number.is_finite() => write_digits(zmij::Buffer::new().format_finite(*number), out),
        Value::F32(number) => write!(out, "{number}"),
        Value::F64(number) => write!(out, "{number}"),
        Value::Id64(id) => out.write_str(ascii(&Id64(*id).to_ascii())),
        Value::Id32(id) => out.write_str(ascii(&Id32(*id).to_ascii())),
        Value::Guid(guid) => out.write_str(ascii(&guid.to_ascii())),
        Value::List(values) => {
            out.write_str("[")?;
            for (at, value) in values.iter().enumerate() {
                out.write_str(if at == 0 { "" } else { ", " })?;
                show(value, is_escaped, out)?;
            }
            out.write_str("]")
        }
        Value::Map(values) => {
            out.write_str("{")?;
            for (at, (name, value)) in values.iter().enumerate() {
                out.write_str(if at == 0 { "" } else { ", " })?;
                show(&Value::text(name), is_escaped, out)?;
                out.write_str(": ")?;
                show(value, is_escaped, out)?;
            }
            out.write_str("}")
        }
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

/// Writes the digits of a finite float without an exponent, and a whole number as one. Of the shortest digits that are
/// read back as the same float, `zmij` chooses others than the standard library where two are as near: all outputs have
/// its choice, JSON by way of `serde_json`.
fn write_digits(digits: &str, out: &mut (impl fmt::Write + ?Sized)) -> fmt::Result {
    let Some((digits, exponent)) = digits.split_once('e') else {
        return out.write_str(digits.strip_suffix(".0").unwrap_or(digits));
    };
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    out.write_str(if unsigned.len() < digits.len() { "-" } else { "" })?;
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    // Exponents of floats are below 400.
    let exponent: i16 = exponent.parse().map_err(|_| fmt::Error)?;
    let shift = usize::from(exponent.unsigned_abs());
    if exponent < 0 {
        out.write_str("0.")?;
        (whole.len()..shift).try_for_each(|_| out.write_str("0"))?;
        out.write_str(whole)?;
        out.write_str(fraction)
    } else {
        let (before, behind) = fraction.split_at_checked(shift).unwrap_or((fraction, ""));
        out.write_str(whole)?;
        out.write_str(before)?;
        (fraction.len()..shift).try_for_each(|_| out.write_str("0"))?;
        out.write_str(if behind.is_empty() { "" } else { "." })?;
        out.write_str(behind)
    }
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
