//! RFC 4180: cells between commas, quoted where they must be, lines that end in CR LF.

use super::{cannot_write, plain};
use crate::error::Result;
use crate::escape::escape;
use crate::table::Value;
use std::io::Write;

/// Bytes of lines that are passed on together.
const ROOM: usize = 64 << 10;

/// Writes lines of CSV. Only nested values allocate. A drop passes all whole lines on.
#[derive(Debug)]
pub struct CsvWriter<W: Write> {
    out: W,
    /// Lines that were not passed on, and the cells of the current line.
    text: Vec<u8>,
    /// The beginning of the current line.
    line: usize,
    has_cell: bool,
    is_escaped: bool,
    scratch: String,
}

impl<W: Write> CsvWriter<W> {
    /// No lines yet.
    pub fn new(out: W) -> Self {
        Self { out, text: Vec::new(), line: 0, has_cell: false, is_escaped: false, scratch: String::new() }
    }

    /// Sets whether characters that a terminal could take for a command are escaped.
    #[must_use]
    pub fn with_escapes(mut self, is_escaped: bool) -> Self {
        self.is_escaped = is_escaped;
        self
    }

    pub(super) fn is_escaped(&self) -> bool {
        self.is_escaped
    }

    /// The next cell of the line. Floats that are not finite are empty, as null is; nested values are their JSON.
    #[inline]
    pub fn cell(&mut self, value: &Value<'_>) -> Result<()> {
        let Self { text, has_cell, scratch, is_escaped, .. } = self;
        let cell = plain::text(value, scratch)?.unwrap_or_default();
        if *is_escaped {
            push_cell(&escape(cell), text, has_cell);
        } else {
            push_cell(cell, text, has_cell);
        }
        Ok(())
    }

    /// Writes the next cell of the line as text.
    pub fn text_cell(&mut self, text: &str) -> Result<()> {
        let text = if self.is_escaped { escape(text) } else { text.into() };
        push_cell(&text, &mut self.text, &mut self.has_cell);
        Ok(())
    }

    /// Ends the line. One that is a single empty cell is written as `""`, as an empty line is not a row.
    pub fn end_line(&mut self) -> Result<()> {
        if self.text.len() == self.line {
            self.text.extend_from_slice(b"\"\"");
        }
        self.text.extend_from_slice(b"\r\n");
        self.has_cell = false;
        self.line = self.text.len();
        if self.line >= ROOM { self.pass_on() } else { Ok(()) }
    }

    pub(super) fn discard_line(&mut self) {
        self.text.truncate(self.line);
        self.has_cell = false;
    }

    /// The output, after all whole lines.
    pub(super) fn out(&mut self) -> Result<&mut W> {
        self.pass_on()?;
        Ok(&mut self.out)
    }

    /// The output, without the lines that were not passed on.
    pub(super) fn written(&self) -> &W {
        &self.out
    }

    fn pass_on(&mut self) -> Result<()> {
        let written = self.out.write_all(&self.text[..self.line]);
        // Lines that could not be written are not written again.
        self.text.drain(..self.line);
        self.line = 0;
        written.map_err(cannot_write)
    }

    /// Passes everything on.
    pub fn flush(&mut self) -> Result<()> {
        self.pass_on()?;
        self.out.flush().map_err(cannot_write)
    }
}

impl<W: Write> Drop for CsvWriter<W> {
    fn drop(&mut self) {
        // The caller that wants to know of errors flushes.
        let _ = self.flush();
    }
}

#[inline]
fn push_cell(cell: &str, text: &mut Vec<u8>, has_cell: &mut bool) {
    if std::mem::replace(has_cell, true) {
        text.push(b',');
    }
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
        let mut csv = CsvWriter::new(&mut out);
        for line in lines {
            line.iter().for_each(|cell| csv.cell(cell).unwrap());
            csv.end_line().unwrap();
        }
        csv.flush().unwrap();
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
    fn a_discarded_line_leaves_nothing() {
        let mut csv = CsvWriter::new(Vec::new());
        csv.cell(&"a".into()).unwrap();
        csv.discard_line();
        csv.cell(&"b".into()).unwrap();
        csv.end_line().unwrap();
        assert_eq!(csv.out().unwrap(), b"b\r\n");
    }

    #[test]
    fn more_than_the_buffer_is_passed_on_in_order() {
        let lines: Vec<Vec<Value<'_>>> = (0..30_000u64).map(|i| vec![i.into()]).collect();
        let expected: String = (0..30_000).map(|i| format!("{i}\r\n")).collect();
        assert!(written(&lines) == expected);
    }
}
