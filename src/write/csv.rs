//! RFC 4180: cells between commas, quoted where they must be, lines that end in CR LF.

use super::plain;
use crate::error::{Error, Result};
use crate::table::Value;
use std::io::Write;

/// Writes lines of CSV. Only nested values allocate.
#[derive(Debug)]
pub struct CsvWriter<W: Write> {
    out: csv::Writer<W>,
    scratch: String,
}

fn cannot_write(error: csv::Error) -> Error {
    // The error of the output as it is: its kind tells a closed pipe from other errors.
    let error = match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    };
    Error::io("cannot write", error)
}

impl<W: Write> CsvWriter<W> {
    /// No lines yet.
    pub fn new(out: W) -> Self {
        // Lines may differ in length, as the header of an entry has its own.
        let out = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).flexible(true).from_writer(out);
        Self { out, scratch: String::new() }
    }

    /// The next cell of the line. Floats that are not finite are empty, as null is; nested values are their JSON.
    #[inline]
    pub fn cell(&mut self, value: &Value<'_>) -> Result<()> {
        let text = plain::text(value, &mut self.scratch)?.unwrap_or_default();
        self.out.write_field(text).map_err(cannot_write)
    }

    /// Writes the next cell of the line as text.
    pub fn text_cell(&mut self, text: &str) -> Result<()> {
        self.out.write_field(text).map_err(cannot_write)
    }

    /// Ends the line. One that is a single empty cell is written as `""`, as an empty line is not a row.
    pub fn end_line(&mut self) -> Result<()> {
        self.out.write_record(None::<&[u8]>).map_err(cannot_write)
    }

    /// Passes everything on.
    pub fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(|e| Error::io("cannot write", e))
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
    fn more_than_the_buffer_is_passed_on_in_order() {
        let lines: Vec<Vec<Value<'_>>> = (0..30_000u64).map(|i| vec![i.into()]).collect();
        let expected: String = (0..30_000).map(|i| format!("{i}\r\n")).collect();
        assert!(written(&lines) == expected);
    }
}
