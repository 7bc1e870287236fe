//! A cell as plain text: what CSV has in a field, and what a column of text in Parquet and Arrow has.

use super::json;
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
