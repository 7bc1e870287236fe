//! Rows as JSON and CSV, which are passed on many at a time.
//!
//! CSV is RFC 4180: cells between commas, quoted where they must be, lines that end in CR LF.

use super::json::JsonWriter;
use super::rows::RowFormat;
use super::{cannot_write, plain};
use crate::error::Result;
use crate::escape::escape;
use crate::table::{Column, Value, Visitor as _};
use serde_json::ser::CompactFormatter;
use std::io::{self, Write};

/// Bytes of rows that are passed on together.
const ROOM: usize = 64 << 10;

/// Rows as bytes, without a count of them. A drop passes all whole rows on.
#[derive(Debug)]
pub(super) struct RowBytes<W: Write> {
    out: W,
    format: RowFormat,
    /// The names of the columns as keys of a JSON object.
    keys: Vec<Vec<u8>>,
    /// Rows that were not passed on, and the cells of the current row.
    text: JsonWriter<Vec<u8>, CompactFormatter>,
    row: usize,
    room: usize,
    scratch: String,
}

impl<W: Write> RowBytes<W> {
    pub(super) fn new(out: W, format: RowFormat, columns: &[Column], has_header: bool) -> Result<Self> {
        let text = JsonWriter::compact(Vec::new());
        let mut bytes = Self { out, format, keys: Vec::new(), text, row: 0, room: ROOM, scratch: String::new() };
        match format {
            RowFormat::Json | RowFormat::Ndjson => {
                for column in columns {
                    bytes.text.leaf(&Value::text(&column.name))?;
                    bytes.text.out().push(b':');
                    bytes.keys.push(std::mem::take(bytes.text.out()));
                }
                if format == RowFormat::Json {
                    bytes.text.out().push(b'[');
                }
            }
            _ if has_header => {
                let mut names = columns.iter().enumerate();
                names.try_for_each(|(place, column)| bytes.cell(place, &Value::text(&column.name)))?;
                bytes.end_row()?;
            }
            _ => {}
        }
        bytes.row = bytes.text.written().len();
        Ok(bytes)
    }

    /// Rows for a part of this document, which [`RowBytes::take`] returns.
    pub(super) fn part(&self) -> RowBytes<io::Sink> {
        RowBytes {
            out: io::sink(),
            format: self.format,
            keys: self.keys.clone(),
            text: JsonWriter::compact(Vec::new()),
            row: 0,
            room: usize::MAX,
            scratch: String::new(),
        }
    }

    /// Begins a row, which is the first one of the document or not.
    pub(super) fn begin_row(&mut self, is_first: bool) {
        self.text.out().extend_from_slice(match self.format {
            RowFormat::Json if !is_first => b",\n{",
            RowFormat::Json | RowFormat::Ndjson => b"{",
            _ => b"",
        });
    }

    /// Adds a cell. In CSV, floats that are not finite are empty, as null is; nested values are their JSON.
    #[inline]
    pub(super) fn cell(&mut self, place: usize, cell: &Value<'_>) -> Result<()> {
        let text = self.text.out();
        if place > 0 {
            text.push(b',');
        }
        if matches!(self.format, RowFormat::Json | RowFormat::Ndjson) {
            text.extend_from_slice(&self.keys[place]);
            return self.text.value(cell);
        }
        let cell = plain::text(cell, &mut self.scratch)?.unwrap_or_default();
        if self.format == RowFormat::EscapedCsv {
            push_cell(&escape(cell), text);
        } else {
            push_cell(cell, text);
        }
        Ok(())
    }

    /// Ends the row. A CSV line that is a single empty cell is written as `""`, as an empty line is not a row.
    pub(super) fn end_row(&mut self) -> Result<()> {
        let text = self.text.out();
        text.extend_from_slice(match self.format {
            RowFormat::Json => b"}",
            RowFormat::Ndjson => b"}\n",
            _ if text.len() == self.row => b"\"\"\r\n",
            _ => b"\r\n",
        });
        self.row = text.len();
        if self.row >= self.room { self.pass_on() } else { Ok(()) }
    }

    pub(super) fn discard_row(&mut self) {
        self.text.out().truncate(self.row);
    }

    pub(super) fn size(&self) -> usize {
        self.row
    }

    pub(super) fn take(&mut self) -> Vec<u8> {
        self.row = 0;
        std::mem::take(self.text.out())
    }

    /// Appends rows of [`RowBytes::part`], which begin the document or not.
    pub(super) fn append(&mut self, rows: &[u8], is_first: bool) -> Result<()> {
        self.pass_on()?;
        let separator: &[u8] = if self.format == RowFormat::Json && !is_first { b",\n" } else { b"" };
        self.out.write_all(separator).and_then(|()| self.out.write_all(rows)).map_err(cannot_write)
    }

    fn pass_on(&mut self) -> Result<()> {
        let text = self.text.out();
        let written = self.out.write_all(&text[..self.row]);
        // Rows that could not be written are not written again.
        text.drain(..self.row);
        self.row = 0;
        written.map_err(cannot_write)
    }

    /// Ends the document and passes everything on.
    pub(super) fn finish(&mut self) -> Result<()> {
        if self.format == RowFormat::Json {
            self.text.out().extend_from_slice(b"]\n");
            self.row = self.text.written().len();
        }
        self.pass_on()?;
        self.out.flush().map_err(cannot_write)
    }
}

impl<W: Write> Drop for RowBytes<W> {
    fn drop(&mut self) {
        // The caller that wants to know of errors finishes.
        let _ = self.pass_on().and_then(|()| self.out.flush().map_err(cannot_write));
    }
}

#[inline]
fn push_cell(cell: &str, text: &mut Vec<u8>) {
    // Judged without a branch for each byte.
    let is_quoted = cell.bytes().fold(false, |quoted, byte| quoted | matches!(byte, b',' | b'"' | b'\r' | b'\n'));
    if !is_quoted {
        text.extend_from_slice(cell.as_bytes());
        return;
    }
    text.push(b'"');
    for (number, part) in cell.split('"').enumerate() {
        text.extend_from_slice(if number == 0 { b"" } else { b"\"\"" });
        text.extend_from_slice(part.as_bytes());
    }
    text.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Guid;

    fn written(lines: &[Vec<Value<'_>>]) -> String {
        let mut out = Vec::new();
        let mut csv = RowBytes::new(&mut out, RowFormat::Csv, &[], false).unwrap();
        for line in lines {
            line.iter().enumerate().for_each(|(place, cell)| csv.cell(place, cell).unwrap());
            csv.end_row().unwrap();
        }
        csv.finish().unwrap();
        drop(csv);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_kind_of_cell() {
        let line = vec![
            Value::Null,
            true.into(),
            (-5i64).into(),
            u64::MAX.into(),
            0.1f32.into(),
            1e30f64.into(),
            f32::NAN.into(),
            Value::Id64(1),
            Value::Id32(2),
            Guid([0; 16]).into(),
            Value::List(vec![1u64.into(), "a\"b".into()]),
        ];
        let id = "0x0000000000000001,0x00000002,00000000-0000-0000-0000-000000000000";
        let expected = format!(",true,-5,{},0.1,{},,{id},\"[1,\"\"a\\\"\"b\"\"]\"\r\n", u64::MAX, 1e30f64);
        assert_eq!(written(&[line]), expected);
    }

    #[test]
    fn floats_come_back_and_are_as_short_as_elsewhere() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut floats: Vec<Value<'_>> =
            [0.0f32, -0.0, 1.0, -1.5, 1e7, 123_456_790.0, 1e16, 1e-5, 1e-9, f32::MIN, f32::MIN_POSITIVE]
                .map(Value::F32)
                .into();
        for _ in 0..5000 {
            floats.push(Value::F32(f32::from_bits(rng.u32(..))));
            floats.push(Value::F64(f64::from_bits(rng.u64(..))));
            floats.push(Value::F64(f64::from(rng.i32(..)) / 1000.0));
        }
        floats
            .retain(|v| !matches!(v, Value::F32(f) if !f.is_finite()) && !matches!(v, Value::F64(f) if !f.is_finite()));
        for float in floats {
            let line = written(&[vec![float.clone()]]);
            let (text, shown) = (line.trim_end(), float.to_string());
            // Where two shortest forms are equally near, either is right.
            assert_eq!(text.len(), shown.len(), "{text} {shown}");
            match float {
                Value::F32(v) => assert_eq!(text.parse::<f32>().unwrap().to_bits(), v.to_bits()),
                Value::F64(v) => assert_eq!(text.parse::<f64>().unwrap().to_bits(), v.to_bits()),
                other => panic!("{other:?}"),
            }
        }
    }

    /// Text comes back as it was, read by the csv crate.
    #[test]
    fn text_is_quoted_where_it_must_be() {
        let texts = ["", "plain", "a,b", "\"", "\"\"", "line\nline", "\r", " blank ", "#", "ü,\u{1F600}", "a\"b\"c"];
        let lines: Vec<Vec<Value<'_>>> = texts.iter().map(|t| vec![Value::text(t), Value::text(t)]).collect();
        let written_pairs = written(&lines);
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(written_pairs.as_bytes());
        let back: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(back.len(), texts.len());
        assert!(back.iter().zip(texts).all(|(record, text)| record.iter().eq([text, text])), "{written_pairs}");
        assert_eq!(written(&[vec!["".into()], vec!["a".into()], vec![Value::Null]]), "\"\"\r\na\r\n\"\"\r\n");
        assert_eq!(written(&[vec!["plain".into(), "a b".into()]]), "plain,a b\r\n");
    }

    #[test]
    fn lines_are_those_of_the_csv_crate() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut theirs = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).flexible(true).from_writer(vec![]);
        let mut lines: Vec<Vec<Value<'_>>> = Vec::new();
        for _ in 0..2000 {
            let mut cell = || {
                (0..rng.usize(..12))
                    .map(|_| rng.choice(['a', 'b', ',', '\"', '\r', '\n', ' ', 'ü']).unwrap())
                    .collect::<String>()
            };
            let cells = [cell(), cell(), cell()];
            let cells = cells.get(..rng.usize(1..=3)).unwrap();
            theirs.write_record(cells).unwrap();
            lines.push(cells.iter().cloned().map(Value::owned).collect());
        }
        assert_eq!(written(&lines), String::from_utf8(theirs.into_inner().unwrap()).unwrap());
    }

    #[test]
    fn a_discarded_row_leaves_nothing() {
        let mut csv = RowBytes::new(Vec::new(), RowFormat::Csv, &[], false).unwrap();
        csv.cell(0, &"a".into()).unwrap();
        csv.discard_row();
        csv.cell(0, &"b".into()).unwrap();
        csv.end_row().unwrap();
        assert_eq!(csv.take(), b"b\r\n");
    }

    #[test]
    fn more_than_the_buffer_is_passed_on_in_order() {
        let lines: Vec<Vec<Value<'_>>> = (0..30_000u64).map(|i| vec![i.into()]).collect();
        let expected: String = (0..30_000).map(|i| format!("{i}\r\n")).collect();
        assert!(written(&lines) == expected);
    }
}
