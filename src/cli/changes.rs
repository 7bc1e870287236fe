//! Changes of rows: as text, and as rows of a table.

use crate::diff::{self, Change, Pair, TableDiff};
use crate::table::{Column, Kind, Value};

/// A table, and the pairs of its selected rows that differ.
pub(super) struct Found<'d, 'a> {
    /// The table's name, after the path of its file if that is in an archive.
    pub(super) name: String,
    pub(super) table: &'d TableDiff<'a>,
    pub(super) pairs: Vec<Pair>,
}

/// The fields for people: the text of a reference, not its id.
pub(super) fn said<'f, 'a>(fields: &'f [diff::Field<'a>]) -> Vec<&'f diff::Field<'a>> {
    let next = fields.iter().skip(1).map(Some).chain([None]);
    let is_text = |field: &diff::Field<'_>, next: &diff::Field<'_>| {
        let stem = field.name.strip_suffix("_id").filter(|_| !next.old.is_null() || !next.new.is_null());
        stem.is_some_and(|stem| next.name == stem || next.name.strip_suffix("_path") == Some(stem))
    };
    fields
        .iter()
        .zip(next)
        .filter(|(field, next)| !next.is_some_and(|next| is_text(field, next)))
        .map(|(field, _)| field)
        .collect()
}

/// The amount by which a single-precision number changed: 7.4 from 12.6 to 20, as their shortest digits differ.
fn single_difference(old: f32, new: f32) -> Option<String> {
    let decimal = |number: f32| number.to_string().parse::<f64>().ok();
    #[expect(clippy::cast_possible_truncation, reason = "the digits of a single-precision number")]
    let difference = (decimal(new)? - decimal(old)?) as f32;
    difference.is_finite().then(|| format!("{difference:+}"))
}

/// The amount by which a number changed.
pub(super) fn difference(old: &Value<'_>, new: &Value<'_>) -> Option<String> {
    let whole = |value: &Value<'_>| match *value {
        Value::Int(v) => Some(i128::from(v)),
        Value::Uint(v) => Some(i128::from(v)),
        _ => None,
    };
    match (whole(old), whole(new)) {
        (Some(old), Some(new)) => Some(format!("{:+}", new.saturating_sub(old))),
        _ => match (old, new) {
            (Value::F32(old), Value::F32(new)) => single_difference(*old, *new),
            (Value::F64(old), Value::F64(new)) => Some(format!("{:+}", new - old)).filter(|_| (new - old).is_finite()),
            (Value::List(old), Value::List(new)) if old.len() == new.len() && (2..=4).contains(&old.len()) => {
                let parts = old.iter().zip(new).map(|(old, new)| difference(old, new));
                Some(format!("[{}]", parts.collect::<Option<Vec<_>>>()?.join(", ")))
            }
            _ => None,
        },
    }
}

/// A value on one line: long lists are counted.
pub(super) fn text(value: &Value<'_>) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::List(values) if values.len() > 16 => format!("[{} values]", values.len()),
        Value::Map(_) if let Some(named) = value.named() => text(named),
        Value::Map(parts) => {
            let parts: Vec<String> = parts.iter().map(|(name, value)| format!("{name} {}", text(value))).collect();
            parts.join(", ")
        }
        Value::List(values) => format!("[{}]", values.iter().map(text).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// The columns of rows of differences (the contract's `diff`).
pub(super) fn columns() -> [Column; 5] {
    [
        Column::new("table", Kind::Text),
        Column::new("change", Kind::Text),
        Column::new("key", Kind::Any),
        Column::new("old", Kind::Nested),
        Column::new("new", Kind::Nested),
    ]
}

/// The cells of a difference in [`columns`]: null on a side without the row.
pub(super) fn cells<'a>(table: &'a str, pair: Pair, change: Change<'a>) -> [Value<'a>; 5] {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for field in change.fields {
        old.push((field.name.clone(), field.old));
        new.push((field.name, field.new));
    }
    let side = |there: bool, fields| if there { Value::Map(fields) } else { Value::Null };
    [
        Value::text(table),
        change.kind.name().into(),
        change.key,
        side(pair.old.is_some(), old),
        side(pair.new.is_some(), new),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_floats_has_the_digits_of_the_floats() {
        let by = |old: f32, new: f32| difference(&Value::F32(old), &Value::F32(new)).unwrap();
        assert_eq!([by(12.6, 20.0), by(0.3, 0.1), by(1e10, 1e10)], ["+7.4", "-0.2", "+0"]);
        assert_eq!(difference(&Value::F32(0.0), &Value::F32(f32::NAN)), None);
    }
}
