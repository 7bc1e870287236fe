//! A cell as plain text: what CSV has in a field, and what a column of text in Parquet and Arrow has.

use super::json;
use crate::clean::clean;
use crate::error::Result;
use crate::id::{Id32, Id64};
use crate::table::Value;
use std::fmt::Write as _;

/// The text of `value`: nested values as JSON, ids in their fixed form, floats with the shortest digits, without an
/// exponent, and whole where they are whole. `None` for null and for floats that are not finite. What is not text
/// already is made in `scratch`.
#[inline]
pub(super) fn text<'t>(value: &'t Value<'_>, scratch: &'t mut String) -> Result<Option<&'t str>> {
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
        Value::F32(number) => float(zmij::Buffer::new().format_finite(*number), value, scratch),
        Value::F64(number) => float(zmij::Buffer::new().format_finite(*number), value, scratch),
        Value::Id64(id) => scratch.push_str(std::str::from_utf8(&Id64(*id).to_ascii()).unwrap_or_default()),
        Value::Id32(id) => scratch.push_str(std::str::from_utf8(&Id32(*id).to_ascii()).unwrap_or_default()),
        Value::Guid(_) | Value::Utf16(_) => shown(value, scratch),
        Value::List(_) | Value::Map(_) => json::append(value, scratch)?,
    }
    Ok(Some(scratch))
}

/// Appends `value` as it is shown to people, as its `Display` does and cleaned like all that people see, in less time.
pub(crate) fn push_clean(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Text(text) => out.push_str(&clean(text)),
        Value::Utf16(text) => out.push_str(&clean(&text.to_string())),
        Value::Uint(number) => out.push_str(itoa::Buffer::new().format(*number)),
        Value::Int(number) => out.push_str(itoa::Buffer::new().format(*number)),
        #[allow(clippy::cast_possible_truncation, reason = "it is whole and small")]
        Value::F32(number) if is_small_whole(*number) => out.push_str(itoa::Buffer::new().format(*number as i32)),
        Value::F32(number) if number.is_finite() => float(zmij::Buffer::new().format_finite(*number), value, out),
        Value::F64(number) if number.is_finite() => float(zmij::Buffer::new().format_finite(*number), value, out),
        Value::Id64(id) => out.push_str(std::str::from_utf8(&Id64(*id).to_ascii()).unwrap_or_default()),
        Value::Id32(id) => out.push_str(std::str::from_utf8(&Id32(*id).to_ascii()).unwrap_or_default()),
        Value::List(values) => {
            out.push('[');
            for (at, value) in values.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                push_clean(value, out);
            }
            out.push(']');
        }
        Value::Map(values) => {
            out.push('{');
            for (at, (name, value)) in values.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                out.push_str(&clean(name));
                out.push_str(": ");
                push_clean(value, out);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::F32(_) | Value::F64(_) | Value::Guid(_) => shown(value, out),
    }
}

/// Whether a number is whole, and small enough to be exact as an integer: most of those in matrices are 0 or 1.
fn is_small_whole(number: f32) -> bool {
    const EXACT: f32 = 16_777_216.0;
    number.trunc() == number && number.abs() < EXACT && (number != 0.0 || number.is_sign_positive())
}

fn float(digits: &str, value: &Value<'_>, scratch: &mut String) {
    if digits.contains('e') {
        // Far from 1; rare, so that the slow way does not matter.
        shown(value, scratch);
    } else {
        scratch.push_str(digits.strip_suffix(".0").unwrap_or(digits));
    }
}

fn shown(value: &Value<'_>, scratch: &mut String) {
    // To write to a string cannot fail.
    let _ = write!(scratch, "{value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_pushed_as_they_are_displayed() {
        let floats = [1.0, -7.0, 0.0, -0.0, 0.5, 1e-9, 1e7, 3e8, f32::NAN];
        let map = Value::Map(vec![("a".into(), Value::floats(floats)), ("b".into(), Value::Null)]);
        let all =
            [7u64.into(), (-3i64).into(), 1e30f64.into(), true.into(), Value::Id64(5), Value::Id32(6), "x".into(), map];
        for value in all {
            let mut pushed = String::new();
            push_clean(&value, &mut pushed);
            assert_eq!(pushed, value.to_string());
        }
        let mut pushed = String::new();
        push_clean(&Value::List(vec!["a\nb".into()]), &mut pushed);
        assert_eq!(pushed, "[a\\nb]");
    }
}
