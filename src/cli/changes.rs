//! Changes of rows: as text, and as rows of a table.

use super::{Context, Exit, Failure, Unit, complain};
use crate::asset::Asset;
use crate::diff::{self, ChangedRow, DifferenceKind, Differences, Pair, Side, TableDiff};
use crate::edit::patch;
use crate::table::{Kind, Value, Visitor as _};
use crate::write::json::JsonWriter;
use crate::write::text::Mark;
use std::io::Write as _;

/// A table, and the pairs of its selected rows that differ.
pub(super) struct ChangedTable<'d, 'a> {
    /// The table's name, after the path of its file if that is in an archive.
    pub(super) name: String,
    pub(super) table: &'d TableDiff<'a>,
    pub(super) pairs: Vec<Pair>,
}

/// The kinds of differences, in the order in which they are shown.
pub(super) const KINDS: [DifferenceKind; 3] = [DifferenceKind::Added, DifferenceKind::Removed, DifferenceKind::Changed];

impl ChangedTable<'_, '_> {
    pub(super) fn of_kind(&self, kind: DifferenceKind) -> impl Iterator<Item = Pair> {
        self.pairs.iter().copied().filter(move |pair| pair.kind() == kind)
    }

    pub(super) fn counts(&self) -> [usize; 3] {
        KINDS.map(|kind| self.of_kind(kind).count())
    }
}

/// The value of a field of an inserted or deleted row, unless it is null or a part of the row's kind.
pub(super) fn lone_value<'f, 'a>(change: &ChangedRow<'a>, field: &'f diff::FieldChange<'a>) -> Option<&'f Value<'a>> {
    let value = if change.kind == DifferenceKind::Added { &field.new } else { &field.old };
    let is_said = change.what.is_some() && matches!(&*field.name, "type" | "state" | "size");
    Some(value).filter(|value| !value.is_null() && !is_said)
}

/// The fields for people: the text of a reference, not its id.
pub(super) fn said<'f, 'a>(fields: &'f [diff::FieldChange<'a>]) -> Vec<&'f diff::FieldChange<'a>> {
    let next = fields.iter().skip(1).map(Some).chain([None]);
    let said = fields.iter().zip(next).filter(|(field, next)| !next.is_some_and(|next| is_text_of(next, field)));
    said.map(|(field, _)| field).collect()
}

fn is_text_of(text: &diff::FieldChange<'_>, field: &diff::FieldChange<'_>) -> bool {
    let stem = field.name.strip_suffix("_id").filter(|_| !text.old.is_null() || !text.new.is_null());
    stem.is_some_and(|stem| text.name == stem || text.name.strip_suffix("_path") == Some(stem))
}

/// A number with its shortest digits.
fn decimal(number: f32) -> Option<f64> {
    number.to_string().parse().ok()
}

/// The amount by which a number changed. A single-precision number changed as its shortest digits differ: by 7.4 from 12.6 to 20.
pub(super) fn difference(old: &Value<'_>, new: &Value<'_>) -> Option<String> {
    match (old, new) {
        (Value::F32(old), Value::F32(new)) => {
            #[expect(clippy::cast_possible_truncation, reason = "the digits of a single-precision number")]
            let difference = (decimal(*new)? - decimal(*old)?) as f32;
            difference.is_finite().then(|| format!("{difference:+}"))
        }
        (Value::F64(old), Value::F64(new)) => Some(format!("{:+}", new - old)).filter(|_| (new - old).is_finite()),
        (Value::List(old), Value::List(new)) if old.len() == new.len() && (2..=4).contains(&old.len()) => {
            let parts = old.iter().zip(new).map(|(old, new)| difference(old, new));
            Some(format!("[{}]", parts.collect::<Option<Vec<_>>>()?.join(", ")))
        }
        _ => Some(format!("{:+}", whole(new)? - whole(old)?)),
    }
}

fn whole(value: &Value<'_>) -> Option<i128> {
    match *value {
        Value::Int(number) => Some(number.into()),
        Value::Uint(number) => Some(number.into()),
        _ => None,
    }
}

/// The amount by which a number changed, in brackets after a blank; empty if it is no number.
pub(super) fn by(old: &Value<'_>, new: &Value<'_>) -> String {
    difference(old, new).map_or_else(String::new, |by| format!(" ({by})"))
}

pub(super) fn side_of<'s>(side: Side, old: &'s Asset, new: &'s Asset) -> &'s Asset {
    if side == Side::Old { old } else { new }
}

/// Reports the rows that could not be compared.
pub(super) fn report_faults(found: &Differences, old: &Asset, new: &Asset, context: &Context) {
    for (side, error) in &found.faults {
        context.damaged(side_of(*side, old, new).source().name(), error);
    }
    context.more_damaged(found.fault_count - found.faults.len() as u64);
}

pub(super) fn mark(kind: DifferenceKind) -> (char, Mark) {
    match kind {
        DifferenceKind::Added => ('+', Mark::Green),
        DifferenceKind::Removed => ('-', Mark::Red),
        DifferenceKind::Changed => ('~', Mark::Yellow),
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
pub(super) const COLUMNS: [(&str, Kind); 5] =
    [("table", Kind::Text), ("change", Kind::Text), ("key", Kind::Any), ("old", Kind::Nested), ("new", Kind::Nested)];

/// The cells of a difference in [`COLUMNS`]: null on a side without the row.
pub(super) fn cells<'a>(table: &'a str, pair: Pair, change: ChangedRow<'a>) -> [Value<'a>; 5] {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for field in change.fields {
        old.push((field.name.clone(), field.old));
        new.push((field.name, field.new));
    }
    let old = if pair.old.is_some() { Value::Map(old) } else { Value::Null };
    let new = if pair.new.is_some() { Value::Map(new) } else { Value::Null };
    [Value::text(table), change.kind.name().into(), change.key, old, new]
}

/// Writes the patch from one file to the other to standard output: `diff -f patch`. Returns whether they differ.
pub(super) fn print_patch(old: &Asset, new: &Asset, tables: &[String], context: &Context) -> Result<bool, Failure> {
    let mut out = context.stdout();
    let mut rows = 0u64;
    let mut json = JsonWriter::compact(&mut out);
    let left = context.with_progress_of("comparing", Unit::Rows, |progress| {
        patch::between(
            old,
            new,
            context.options(),
            tables,
            &mut |side, error| context.damaged(side_of(side, old, new).source().name(), &error),
            &mut |row| {
                rows += 1;
                progress.advance(1);
                json.value(&row)?;
                json.end_line()
            },
        )
    })?;
    out.flush()?;
    context.warn(old);
    context.warn(new);
    if !left.is_empty() {
        let name = new.source().name();
        left.reasons.iter().for_each(|reason| complain(&format!("{name}: {reason}")));
        let tables = left.tables.iter().map(|(table, count)| format!("{table} {count}")).collect::<Vec<_>>().join(", ");
        let what = "this patch lacks rows that differ, because they cannot be written";
        complain(&format!("{name}: {what}: {tables}"));
        // The patch is good, and gets its name.
        context.worsen(Exit::Partial);
    }
    Ok(rows > 0)
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
