//! Files of changes: rows of a patch, exported rows, and entries.

use super::{Cells, Change, Edit, Restore, ValueSource, refused};
use crate::error::{Error, Result};
use crate::source::bounded::Bounded;
use crate::source::text_input::TextInput;
use crate::table::Value;
pub use crate::writable::json::value;
use crate::writable::json::{self, wrong_json};
use crate::writable::{short, short_text};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{BufRead, Read as _};
use std::sync::Arc;

/// Cells by the names of their columns, of a row that is looked at and not kept.
pub type Given<'r> = Vec<(Cow<'r, str>, Value<'r>)>;

/// A row of a file of changes.
#[derive(Debug)]
pub enum InputRow<'r> {
    /// A row of a patch.
    Edit(Edit),
    /// The pieces that bring the bytes of a file back.
    Restore(Restore),
    /// The columns of exported rows, before the rows: CSV has a header also without rows.
    Columns(Vec<&'r str>),
    /// No rows: `[]`, as an empty table is exported.
    Empty,
    /// A row as it was exported: cells by the names of columns.
    Exported {
        /// The row's line, or its number in its list.
        origin: u64,
        /// The row's cells.
        cells: Given<'r>,
        /// How they are written.
        from: ValueSource,
    },
    /// A row without any text after all others: an exported row, or one that a spreadsheet has added.
    Blank {
        /// Empty cells by the names of columns.
        cells: Given<'r>,
        /// How they are written.
        from: ValueSource,
    },
}

/// How a file of changes is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesFormat {
    /// A list of objects, or one.
    Json,
    /// An object a line.
    Ndjson,
    /// A header and lines.
    Csv,
}

impl ChangesFormat {
    /// The form of a file of this name; `None` for a name without ending.
    ///
    /// # Errors
    /// `Syntax` for another ending.
    pub fn of_name(name: &str) -> Result<Option<Self>> {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let Some((_, ending)) = file.rsplit_once('.') else { return Ok(None) };
        match ending.to_ascii_lowercase().as_str() {
            "json" => Ok(Some(Self::Json)),
            "ndjson" | "jsonl" => Ok(Some(Self::Ndjson)),
            "csv" | "tsv" => Ok(Some(Self::Csv)),
            _ => Err(refused(format!("changes end in .ndjson, .jsonl, .json, .csv or .tsv, not in {ending:?}"))),
        }
    }

    /// The form of a file that begins like this.
    pub fn of_head(head: &[u8]) -> Self {
        match TextInput::new(head).fill_buf().unwrap_or_default().trim_ascii_start().first() {
            Some(b'[') => Self::Json,
            Some(b'{') | None => Self::Ndjson,
            Some(_) => Self::Csv,
        }
    }
}

/// Calls `each` with the rows of `input`, one by one. In JSON, an object with a member `change` is a row of a patch, and any
/// other object is an exported row.
///
/// # Errors
/// The errors of `each`, `Syntax` with the line of a text that cannot be understood and for several undo files in one, and
/// `Io`.
pub fn rows(input: impl BufRead, form: ChangesFormat, each: &mut dyn FnMut(InputRow<'_>) -> Result<()>) -> Result<()> {
    let input = TextInput::new(input);
    let mut may_restore = true;
    let each = &mut |row: InputRow<'_>| {
        // Bytes of an archive precede the bytes of the file in it, and both precede rows.
        if let InputRow::Restore(restore) = &row {
            if !may_restore {
                return Err(refused("another undo begins after the first one: apply undo files one by one"));
            }
            may_restore = restore.inner.is_some();
        } else {
            may_restore = false;
        }
        each(row)
    };
    match form {
        ChangesFormat::Json => document(input, each),
        ChangesFormat::Ndjson => ndjson(Bounded::new(input, u64::MAX).with_lines(LINE), each),
        ChangesFormat::Csv => csv(Bounded::new(input, u64::MAX).with_lines(LINE), each),
    }
}

/// The largest size of a line in bytes.
const LINE: u64 = 64 << 20;

/// The file in an archive that the rows of an undo file are about, by the first line of `input`, which is added to `line`.
/// `None` for any other line, and for one that cannot be understood.
///
/// # Errors
/// `Io`.
pub fn inner_of_undo(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<Option<String>> {
    input.take(LINE).read_until(b'\n', line).map_err(|e| Error::io("cannot read", e))?;
    Ok(inner_of(line))
}

fn inner_of(line: &[u8]) -> Option<String> {
    let text = str::from_utf8(line.trim_ascii()).ok()?;
    match row(json::value_of(text).ok()?, 1) {
        Ok(InputRow::Restore(restore)) => restore.inner,
        _ => None,
    }
}

fn ndjson(mut input: impl BufRead, each: &mut dyn FnMut(InputRow<'_>) -> Result<()>) -> Result<()> {
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        let read = input.read_until(b'\n', &mut line).map_err(|e| Error::io("cannot read", e))?;
        if read == 0 {
            break;
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let text = str::from_utf8(text).map_err(|e| refused(format!("line {number}: not valid UTF-8: {e}")))?;
        each(row(json::value_of(text).map_err(|e| wrong_json(e, number))?, number)?)?;
    }
    Ok(())
}

fn document(mut input: impl BufRead, each: &mut dyn FnMut(InputRow<'_>) -> Result<()>) -> Result<()> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(|e| Error::io("cannot read", e))?;
    let items: serde_json::Result<Vec<&RawValue>> = match bytes.trim_ascii_start().first() {
        Some(b'[') => serde_json::from_slice(&bytes),
        _ => serde_json::from_slice(&bytes).map(|item| vec![item]),
    };
    let items = items.map_err(|e| wrong_json(e, 0))?;
    if items.is_empty() {
        return each(InputRow::Empty);
    }
    for (number, item) in (1..).zip(items) {
        let value = json::value_of(item.get()).map_err(|e| wrong_json(e, 0))?;
        each(row(value, number)?)?;
    }
    Ok(())
}

/// The row that an object is: a row of a patch, where it says a change.
fn row(value: Value<'static>, origin: u64) -> Result<InputRow<'static>> {
    let Value::Map(parts) = value else {
        return Err(refused(format!("row {origin}: {} is no object", short(&value))));
    };
    let inner = parts.iter().filter_map(|(name, part)| match (&**name, part) {
        ("key" | "old" | "new", Value::Map(cells)) => Some(cells),
        _ => None,
    });
    if let Some(name) = std::iter::once(&parts).chain(inner).find_map(doubled) {
        return Err(refused(format!("row {origin}: {} is there twice", short_text(name))));
    }
    let is_edit = parts.iter().any(|(name, _)| name == "change")
        && parts.iter().any(|(name, _)| matches!(&**name, "key" | "new" | "old"));
    if is_edit {
        return edit(parts, origin).map_err(|what| refused(format!("row {origin}: {what}")));
    }
    Ok(InputRow::Exported { origin, cells: parts, from: ValueSource::Typed })
}

fn doubled(parts: &Cells) -> Option<&str> {
    let mut names = HashSet::new();
    parts.iter().map(|(name, _)| &**name).find(|name| !names.insert(*name))
}

/// The edit that a row of a patch is.
fn edit(parts: Cells, origin: u64) -> Result<InputRow<'static>, String> {
    let (mut table, mut change, mut key, mut old, mut new) = (None, None, Value::Null, None, None);
    for (name, part) in parts {
        match (&*name, part) {
            ("table", Value::Null) | ("what", _) => {}
            ("table", Value::Text(text)) => table = Some(Arc::from(&*text)),
            ("change", Value::Text(text)) => change = Some(text),
            ("key", part) => key = part,
            ("old", Value::Null) | ("new", Value::Null) => {}
            ("old", Value::Map(cells)) => old = Some(cells),
            ("new", Value::Map(cells)) => new = Some(cells),
            (name @ ("old" | "new"), _) => return Err(format!("{name} is no object of columns")),
            (name @ ("table" | "change"), _) => return Err(format!("{name} is no text")),
            (name, _) => {
                let name = short_text(name);
                return Err(format!("{name} is no part of a change: it has table, change, key, old, new"));
            }
        }
    }
    let change = match (change.as_deref(), new) {
        (Some("restored"), new) => {
            let restore = Restore::read(&key, old.as_ref(), new.as_ref());
            return restore.map(InputRow::Restore).ok_or_else(|| "an undo that cannot be understood".to_owned());
        }
        (Some("changed"), Some(new)) => Change::Set(new),
        (Some("added"), Some(new)) => Change::Add(new),
        (Some("added"), None) => Change::Add(Cells::new()),
        (Some("removed"), None) => Change::Remove,
        (Some("changed"), None) => return Err("a changed row needs new".to_owned()),
        (Some("removed"), Some(_)) => return Err("a removed row has nothing new".to_owned()),
        (other, _) => {
            let other = short_text(other.unwrap_or("null"));
            return Err(format!("change is {other}; it is added, removed or changed"));
        }
    };
    Ok(InputRow::Edit(Edit { table, key, old, change, origin: Some(origin) }))
}

/// Rows of a CSV file, whose header has the names of the columns. Commas, or semicolons or tabs where the header has no
/// comma, as spreadsheets of some countries write it: where semicolons divide cells, commas are decimal.
fn csv(mut input: impl BufRead, each: &mut dyn FnMut(InputRow<'_>) -> Result<()>) -> Result<()> {
    let head = input.fill_buf().map_err(|e| Error::io("cannot read", e))?;
    let line = head.split_inclusive(|&b| b == b'\n').next().unwrap_or(head);
    // A first line that only states the delimiter, as some spreadsheets write it.
    let (delimiter, skip) = match line.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line)) {
        Some([b's', b'e', b'p', b'=', sign]) => (*sign, line.len()),
        _ => ([b',', b';', b'\t'].into_iter().find(|sign| line.contains(sign)).unwrap_or(b','), 0),
    };
    let first = 1 + u64::from(skip > 0);
    // The parser counts the ends of lines, and meets the last byte of "\r\n" after it returned the row.
    let before = first - 1 + u64::from(line.ends_with(b"\r\n"));
    input.consume(skip);
    let from = if delimiter == b';' { ValueSource::TextWithCommas } else { ValueSource::Text };
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(input);
    let names = reader.byte_headers().map_err(wrong_csv)?.clone();
    let names = texts(&names, first)?;
    let names = without_empty_end(&names);
    each(InputRow::Columns(names.to_vec()))?;
    let mut record = csv::ByteRecord::new();
    // Rows without any text, which spreadsheets write after the last one.
    let mut empty = Vec::new();
    while reader.read_byte_record(&mut record).map_err(wrong_csv)? {
        let origin = record.position().map_or(0, csv::Position::line) + before;
        if names.len() > 1 && record.iter().all(<[u8]>::is_empty) {
            empty.push(origin);
            continue;
        }
        for origin in empty.drain(..) {
            each(InputRow::Exported { origin, cells: blank(names), from })?;
        }
        let cells = texts(&record, origin)?;
        let count = names.len().max(without_empty_end(&cells).len());
        if cells.len() < names.len() || count > names.len() {
            let (len, names) = (cells.len(), names.len());
            return Err(refused(format!("line {origin}: {len} cells, and the header has {names}")));
        }
        let cells = names.iter().copied().map(Cow::Borrowed).zip(cells.into_iter().map(Value::text)).collect();
        each(InputRow::Exported { origin, cells, from })?;
    }
    empty.into_iter().try_for_each(|_| each(InputRow::Blank { cells: blank(names), from }))
}

fn blank<'n>(names: &[&'n str]) -> Given<'n> {
    names.iter().map(|name| (Cow::Borrowed(*name), Value::text(""))).collect()
}

/// The cells of a line as texts.
fn texts(record: &csv::ByteRecord, line: u64) -> Result<Vec<&str>> {
    let cells = record.iter().map(|cell| {
        let cell = str::from_utf8(cell).map_err(|_| {
            refused(format!(
                "line {line}: {} is not valid UTF-8, so the file may be in Windows-1252: save it as CSV UTF-8",
                short_bytes(cell)
            ))
        })?;
        match cell.contains('\0') {
            true => Err(refused(format!("line {line}: {} has a NUL byte", short_text(cell)))),
            false => Ok(cell),
        }
    });
    cells.collect()
}

/// Bytes of another encoding, such as Windows-1252, for a message.
fn short_bytes(bytes: &[u8]) -> String {
    short_text(&bytes.escape_ascii().to_string())
}

/// The cells without the empty ones at the end, which spreadsheets write for columns without names.
fn without_empty_end<'c, 't>(cells: &'c [&'t str]) -> &'c [&'t str] {
    let len = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
    cells.get(..len).unwrap_or(cells)
}

fn wrong_csv(error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::io("cannot read", error),
        other => refused(format!("no CSV: {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, form: ChangesFormat) -> Result<Vec<InputRow<'static>>, String> {
        let mut found = Vec::new();
        rows(text.as_bytes(), form, &mut |row| {
            found.push(match row {
                InputRow::Exported { origin, cells, from } => {
                    let owned =
                        |(name, value): (Cow<'_, str>, Value<'_>)| (Cow::Owned(name.into_owned()), value.into_owned());
                    InputRow::Exported { origin, cells: cells.into_iter().map(owned).collect(), from }
                }
                InputRow::Columns(_) | InputRow::Empty | InputRow::Blank { .. } => return Ok(()),
                InputRow::Edit(edit) => InputRow::Edit(edit),
                InputRow::Restore(restore) => InputRow::Restore(restore),
            });
            Ok(())
        })
        .map_err(|e| e.to_string())?;
        Ok(found)
    }

    #[test]
    fn rows_of_patches_and_exported_rows_are_told_apart() {
        let patch = r#"{"table":"records","change":"changed","key":"a","old":{"x":1},"new":{"x":2}}"#;
        for (text, form) in [
            (patch.to_owned(), ChangesFormat::Ndjson),
            (format!("[{patch}]"), ChangesFormat::Json),
            (patch.to_owned(), ChangesFormat::Json),
        ] {
            let found = all(&text, form).unwrap();
            let [InputRow::Edit(edit)] = &found[..] else { panic!("{found:?}") };
            assert_eq!((edit.table.as_deref(), &edit.key), (Some("records"), &"a".into()));
            assert_eq!(edit.change, Change::Set(vec![("x".into(), 2u64.into())]));
        }
        let found = all("{\"record\":\"a\",\"x\":1.5}\n\n{\"record\":\"b\"}\n", ChangesFormat::Ndjson).unwrap();
        assert!(
            matches!(&found[..], [InputRow::Exported { origin: 1, .. }, InputRow::Exported { origin: 3, .. }]),
            "{found:?}"
        );
    }

    #[test]
    fn a_change_that_is_none_is_named_with_its_row() {
        for (parts, what) in [
            (r#""change":"changed","key":"a","new":5"#, "row 1: new is no object of columns"),
            (r#""change":"changed","key":"a","old":[1],"new":{}"#, "row 1: old is no object of columns"),
            (r#""change":"changed","key":"a","table":7,"new":{}"#, "row 1: table is no text"),
            (r#""change":7,"key":"a","new":{}"#, "row 1: change is no text"),
            (r#""change":"changed","key":"a","New":{}"#, "is no part of a change: it has table, change, key, old, new"),
            (r#""change":"changed","key":"a","new":{"x":1,"x":2}"#, "is there twice"),
            (r#""change":"changed","key":"a","old":{"x":1}"#, "row 1: a changed row needs new"),
            (r#""change":"removed","key":"a","new":{"x":1}"#, "row 1: a removed row has nothing new"),
            (r#""change":"restored","key":"a""#, "row 1: an undo that cannot be understood"),
            (r#""change":null,"key":"a""#, "row 1: change is no text"),
        ] {
            let error = all(&format!("{{{parts}}}"), ChangesFormat::Ndjson).unwrap_err();
            assert!(
                error.starts_with("row 1: ") && error.ends_with(what.trim_start_matches("row 1: ")),
                "{parts}: {error}"
            );
        }
    }

    #[test]
    fn csv_of_spreadsheets() {
        for text in [
            "record,x\r\na,1\r\n",
            "\u{FEFF}record;x\na;1\n",
            "record\tx\na\t1\n",
            "\u{FEFF}sep=;\r\nrecord;x\r\na;1\r\n",
            "sep=\t\nrecord\tx\na\t1\n",
            "record;x;;\r\na;1;;\r\n;;;\r\n;;;\r\n",
        ] {
            let found = all(text, ChangesFormat::Csv).unwrap();
            let [InputRow::Exported { cells, from, .. }] = &found[..] else { panic!("{found:?}") };
            assert_eq!(cells[..], [("record".into(), "a".into()), ("x".into(), "1".into())]);
            assert_eq!(*from == ValueSource::TextWithCommas, text.contains(';'), "{text}");
        }
        assert_eq!(all("a,b\n1\n", ChangesFormat::Csv).unwrap_err(), "line 2: 1 cells, and the header has 2");
    }

    #[test]
    fn lines_are_counted_as_editors_count_them() {
        for (text, line) in [
            ("a,b\n1,2\n3\n", 3),
            ("a,b\r\n1,2\r\n3\r\n", 3),
            ("sep=;\na;b\n1;2\n3\n", 4),
            ("sep=;\r\na;b\r\n1;2\r\n3\r\n", 4),
            ("a,b\n\"1\n\",2\n3\n", 4),
        ] {
            let error = all(text, ChangesFormat::Csv).unwrap_err();
            assert!(error.starts_with(&format!("line {line}: 1 cells")), "{text:?}: {error}");
        }
    }

    #[test]
    fn other_encodings_are_named() {
        let of = |bytes: &[u8]| rows(bytes, ChangesFormat::Csv, &mut |_| Ok(())).unwrap_err().to_string();
        let western = of(b"record,x\r\na,\xc4ther\r\n");
        assert!(
            western.contains("line 2: ") && western.contains("xc4ther") && western.contains("Windows-1252"),
            "{western}"
        );
        let nul = of(b"record,x\na,b\0\n");
        assert!(nul.contains("line 2: ") && nul.contains("NUL byte"), "{nul}");
    }

    #[test]
    fn a_line_has_a_limit() {
        let long = format!("{{\"record\":\"a\"}}\n{{\"record\":\"{}\"}}\n", "x".repeat(LINE as usize + (1 << 16)));
        let (mut rows_read, input) = (0, std::io::BufReader::new(long.as_bytes()));
        let read = rows(input, ChangesFormat::Ndjson, &mut |_| {
            rows_read += 1;
            Ok(())
        });
        let error = read.unwrap_err().to_string();
        assert!(rows_read == 1 && error.contains("a line of more than 67108864 bytes"), "{error}");
    }

    #[test]
    fn what_cannot_be_understood_is_named() {
        let change = |text: &str| all(text, ChangesFormat::Ndjson).unwrap_err();
        assert!(change("{\"a\":1}\n{").starts_with("line 2: no JSON"), "{}", change("{\"a\":1}\n{"));
        assert!(change("5").contains("5 is no object"));
        assert!(change(r#"{"change":"moved","key":1}"#).contains("added, removed or changed"));
        assert!(change(r#"{"change":"changed","key":1,"mew":{}}"#).contains("\"mew\""));
        assert!(change(r#"{"change":"changed","key":1,"new":5}"#).contains("no object of columns"));
        assert!(all("[1", ChangesFormat::Json).is_err() && all("[{}] x", ChangesFormat::Json).is_err());
    }
}
