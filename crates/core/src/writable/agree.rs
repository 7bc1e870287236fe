//! The comparison of a written cell with its edit.

use super::fit;
use crate::compare::same_value;
use crate::error::Error;
use crate::table::Value;

/// The error of a written file that differs from its edits.
#[cold]
pub fn differs(what: String) -> Error {
    let what = format!("what was written is not what was asked, so nothing is kept: {what}");
    Error::io("cannot write", std::io::Error::other(what))
}

/// Whether a cell has the requested value. In nested values, items whose kind the file did not show are compared in the
/// kind that they received, and members that were left to the format may have any value.
pub fn agrees(value: &Value<'_>, wanted: &Value<'static>) -> bool {
    match (value, wanted) {
        (Value::List(values), Value::List(wanted)) => {
            let mut pairs = values.iter().zip(wanted);
            values.len() == wanted.len() && pairs.all(|(value, wanted)| wanted.is_null() || agrees(value, wanted))
        }
        (Value::Map(values), Value::Map(wanted)) => wanted.iter().all(|(name, wanted)| {
            wanted.is_null() || values.iter().any(|(other, value)| other == name && agrees(value, wanted))
        }),
        _ => {
            same_value(value, wanted)
                || fit::like(value, wanted.clone()).is_some_and(|wanted| same_value(value, &wanted))
        }
    }
}
