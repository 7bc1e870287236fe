//! JSON: entries as a stream of events, rows as objects.

use super::cannot_write;
use crate::error::Result;
use crate::escape::{escape, visible_json};
use crate::id::{Id32, Id64};
use crate::table::{Value, Visitor};
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write;

/// Writes JSON event by event, in constant memory.
#[derive(Debug)]
pub struct JsonWriter<W, F> {
    out: W,
    formatter: F,
    /// For each open map or list, whether nothing was written into it yet.
    open: Vec<Open>,
    /// UTF-16 text on its way.
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Open {
    Map { first: bool },
    List { first: bool },
}

impl<W: Write> JsonWriter<W, CompactFormatter> {
    /// JSON without white space.
    pub fn compact(out: W) -> Self {
        Self { out, formatter: CompactFormatter, open: Vec::new(), text: String::new() }
    }
}

impl<W: Write> JsonWriter<W, PrettyFormatter<'static>> {
    /// JSON with one value a line.
    pub fn pretty(out: W) -> Self {
        Self { out, formatter: PrettyFormatter::new(), open: Vec::new(), text: String::new() }
    }
}

/// Writes a string without signs that JSON has to escape.
fn quoted(text: &[u8], out: &mut impl Write) -> Result<()> {
    [b"\"", text, b"\""].iter().try_for_each(|part| out.write_all(part)).map_err(cannot_write)
}

impl<W: Write, F: Formatter> JsonWriter<W, F> {
    /// Ends a document with a line break.
    pub fn end_line(&mut self) -> Result<()> {
        self.out.write_all(b"\n").map_err(cannot_write)
    }

    pub fn written(&self) -> &W {
        &self.out
    }

    /// The output, after everything that was written so far.
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }

    /// Passes everything on.
    pub fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(cannot_write)
    }

    fn before_value(&mut self) -> Result<()> {
        if let Some(Open::List { first }) = self.open.last_mut() {
            let was_first = std::mem::replace(first, false);
            self.formatter.begin_array_value(&mut self.out, was_first).map_err(cannot_write)?;
        }
        Ok(())
    }

    fn after_value(&mut self) -> Result<()> {
        match self.open.last() {
            Some(Open::List { .. }) => self.formatter.end_array_value(&mut self.out).map_err(cannot_write),
            Some(Open::Map { .. }) => self.formatter.end_object_value(&mut self.out).map_err(cannot_write),
            None => Ok(()),
        }
    }

    /// Writes a string. Characters that a terminal could take for a command, or that reorder other text, become escapes.
    fn string(&mut self, text: &str) -> Result<()> {
        // Nearly all texts are themselves in JSON.
        if text.bytes().fold(true, |all, byte| all & matches!(byte, b' '..=b'~') & !matches!(byte, b'"' | b'\\')) {
            return quoted(text.as_bytes(), &mut self.out);
        }
        if let Cow::Owned(_) = escape(text) {
            let json = serde_json::to_string(text).map_err(|e| cannot_write(e.into()))?;
            return self.out.write_all(visible_json(&json).as_bytes()).map_err(cannot_write);
        }
        serde_json::to_writer(&mut self.out, text).map_err(|e| cannot_write(e.into()))
    }
}

impl<W: Write, F: Formatter> Visitor for JsonWriter<W, F> {
    fn begin_map(&mut self) -> Result<()> {
        self.before_value()?;
        self.open.push(Open::Map { first: true });
        self.formatter.begin_object(&mut self.out).map_err(cannot_write)
    }

    fn key(&mut self, name: &str) -> Result<()> {
        if let Some(Open::Map { first }) = self.open.last_mut() {
            let was_first = std::mem::replace(first, false);
            self.formatter.begin_object_key(&mut self.out, was_first).map_err(cannot_write)?;
        }
        self.string(name)?;
        self.formatter.end_object_key(&mut self.out).map_err(cannot_write)?;
        self.formatter.begin_object_value(&mut self.out).map_err(cannot_write)
    }

    fn end_map(&mut self) -> Result<()> {
        self.open.pop();
        self.formatter.end_object(&mut self.out).map_err(cannot_write)?;
        self.after_value()
    }

    fn begin_list(&mut self) -> Result<()> {
        self.before_value()?;
        self.open.push(Open::List { first: true });
        self.formatter.begin_array(&mut self.out).map_err(cannot_write)
    }

    fn end_list(&mut self) -> Result<()> {
        self.open.pop();
        self.formatter.end_array(&mut self.out).map_err(cannot_write)?;
        self.after_value()
    }

    fn leaf(&mut self, value: &Value<'_>) -> Result<()> {
        self.before_value()?;
        let out = &mut self.out;
        match value {
            Value::Null => self.formatter.write_null(out).map_err(cannot_write)?,
            Value::Bool(v) => self.formatter.write_bool(out, *v).map_err(cannot_write)?,
            Value::Int(v) => self.formatter.write_i64(out, *v).map_err(cannot_write)?,
            Value::Uint(v) => self.formatter.write_u64(out, *v).map_err(cannot_write)?,
            Value::F32(v) if v.is_finite() => self.formatter.write_f32(out, *v).map_err(cannot_write)?,
            Value::F64(v) if v.is_finite() => self.formatter.write_f64(out, *v).map_err(cannot_write)?,
            Value::F32(_) | Value::F64(_) => self.formatter.write_null(out).map_err(cannot_write)?,
            Value::Guid(guid) => quoted(&guid.to_ascii(), out)?,
            Value::Id64(id) => quoted(&Id64(*id).to_ascii(), out)?,
            Value::Id32(id) => quoted(&Id32(*id).to_ascii(), out)?,
            Value::Text(text) => self.string(text)?,
            Value::Utf16(text) => {
                let mut buffer = std::mem::take(&mut self.text);
                buffer.clear();
                // Writing to a String cannot fail.
                let _ = write!(buffer, "{text}");
                self.string(&buffer)?;
                self.text = buffer;
            }
            // `value` takes these apart before they come here.
            Value::List(_) | Value::Map(_) => self.formatter.write_null(out).map_err(cannot_write)?,
        }
        self.after_value()
    }
}

/// `value` as JSON text, as nested cells are written in CSV.
pub fn to_string(value: &Value<'_>) -> Result<String> {
    let mut text = String::new();
    append(value, &mut text)?;
    Ok(text)
}

/// Adds `value` as JSON to `text`.
pub fn append(value: &Value<'_>, text: &mut String) -> Result<()> {
    let mut out = std::mem::take(text).into_bytes();
    JsonWriter::compact(&mut out).value(value)?;
    *text = String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Guid;

    #[test]
    fn agrees_with_serde_json_on_every_kind_of_value() {
        let value = Value::Map(vec![
            ("id".into(), Value::Id64(u64::MAX)),
            ("hash".into(), Value::Id32(7)),
            ("guid".into(), Value::Guid(Guid([0; 16]))),
            ("list".into(), Value::List(vec![1.5f32.into(), f32::NAN.into(), (-3i32).into(), true.into()])),
            ("empty".into(), Value::List(vec![])),
            ("text \"x\"".into(), "a\n\u{1}ü".into()),
            ("plain".into(), " ~/[]{}':".into()),
            ("signs".into(), "C:\\ship \"a\"\u{7f}".into()),
            ("map".into(), Value::Map(vec![("big".into(), u64::MAX.into()), ("f".into(), 0.1f32.into())])),
            ("null".into(), Value::Null),
        ]);
        let expected = serde_json::json!({
            "id": "0xFFFFFFFFFFFFFFFF", "hash": "0x00000007", "guid": "00000000-0000-0000-0000-000000000000",
            "list": [1.5, null, -3, true], "empty": [], "text \"x\"": "a\n\u{1}ü",
            "plain": " ~/[]{}':", "signs": "C:\\ship \"a\"\u{7f}",
            "map": {"big": u64::MAX, "f": 0.1}, "null": null,
        });
        for pretty in [false, true] {
            let mut out = Vec::new();
            if pretty {
                JsonWriter::pretty(&mut out).value(&value).unwrap();
            } else {
                JsonWriter::compact(&mut out).value(&value).unwrap();
            }
            assert_eq!(serde_json::from_slice::<serde_json::Value>(&out).unwrap(), expected);
        }
    }
}
