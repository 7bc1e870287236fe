//! RFC 4180: cells between commas, quoted where they must be, lines that end in CR LF.

use super::json;
use crate::error::{Error, Result};
use crate::table::Value;
use std::io::{self, Write};

/// Bytes that are gathered before they are passed on.
const GATHERED: usize = 1 << 16;

/// Writes lines of CSV. Gathers them in a buffer of its own, so that a cell costs no allocation and no call.
#[derive(Debug)]
pub struct CsvWriter<W: Write> {
    out: W,
    gathered: Vec<u8>,
    cells: usize,
}

fn cannot_write(error: io::Error) -> Error {
    Error::io("cannot write", error)
}

impl<W: Write> CsvWriter<W> {
    /// No lines yet.
    pub fn new(out: W) -> Self {
        Self { out, gathered: Vec::with_capacity(GATHERED), cells: 0 }
    }

    /// The next cell of the line. Floats that are not finite are empty, as null is; nested values are their JSON.
    ///
    /// # Errors
    /// When a nested value cannot be written as JSON.
    #[inline]
    pub fn cell(&mut self, value: &Value<'_>) -> Result<()> {
        if self.cells > 0 {
            self.gathered.push(b',');
        }
        self.cells = self.cells.saturating_add(1);
        match value {
            Value::Null => {}
            Value::Text(text) => self.text(text.as_bytes()),
            Value::Uint(number) => self.gathered.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
            Value::Int(number) => self.gathered.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
            Value::F32(number) if !number.is_finite() => {}
            Value::F64(number) if !number.is_finite() => {}
            Value::List(_) | Value::Map(_) => self.text(json::to_string(value)?.as_bytes()),
            Value::F32(number) => self.float(zmij::Buffer::new().format_finite(*number), value),
            Value::F64(number) => self.float(zmij::Buffer::new().format_finite(*number), value),
            // None of these needs quotes, and to write to memory cannot fail.
            Value::Bool(_) | Value::Id64(_) | Value::Id32(_) | Value::Guid(_) => {
                let _ = write!(self.gathered, "{value}");
            }
            Value::Utf16(text) => self.text(text.to_string().as_bytes()),
        }
        Ok(())
    }

    /// The next cell of the line, where that is text.
    pub fn text_cell(&mut self, text: &str) {
        if self.cells > 0 {
            self.gathered.push(b',');
        }
        self.cells = self.cells.saturating_add(1);
        self.text(text.as_bytes());
    }

    /// The shortest digits of a float, without an exponent, and whole where it is whole.
    fn float(&mut self, digits: &str, value: &Value<'_>) {
        if digits.contains('e') {
            // Far from 1; rare, so that the slow way does not matter. To write to memory cannot fail.
            let _ = write!(self.gathered, "{value}");
        } else {
            self.gathered.extend_from_slice(digits.strip_suffix(".0").unwrap_or(digits).as_bytes());
        }
    }

    #[inline]
    fn text(&mut self, text: &[u8]) {
        if text.iter().any(|b| matches!(b, b',' | b'"' | b'\r' | b'\n')) {
            self.quoted(text);
        } else {
            self.gathered.extend_from_slice(text);
        }
    }

    #[cold]
    fn quoted(&mut self, text: &[u8]) {
        self.gathered.push(b'"');
        for &byte in text {
            if byte == b'"' {
                self.gathered.push(b'"');
            }
            self.gathered.push(byte);
        }
        self.gathered.push(b'"');
    }

    /// Ends the line. One that is a single empty cell is written as `""`, as an empty line is none.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn end_line(&mut self) -> Result<()> {
        if self.cells == 1 && matches!(self.gathered.last(), None | Some(b'\n')) {
            self.gathered.extend_from_slice(b"\"\"");
        }
        self.gathered.extend_from_slice(b"\r\n");
        self.cells = 0;
        // What is passed on ends with a line, so that the check above sees the last one.
        if self.gathered.len() >= GATHERED { self.pass_on() } else { Ok(()) }
    }

    fn pass_on(&mut self) -> Result<()> {
        self.out.write_all(&self.gathered).map_err(cannot_write)?;
        self.gathered.clear();
        Ok(())
    }

    /// Passes everything on.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn flush(&mut self) -> Result<()> {
        self.pass_on()?;
        self.out.flush().map_err(cannot_write)
    }
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
    fn more_than_the_buffer_is_passed_on_in_order() {
        let lines: Vec<Vec<Value<'_>>> = (0..30_000u64).map(|i| vec![i.into()]).collect();
        let expected: String = (0..30_000).map(|i| format!("{i}\r\n")).collect();
        assert!(written(&lines) == expected);
    }
}
