//! Entries as a stream, in every output format.

use super::{Failure, Format};
use crate::table::{Column, Kind, Tree, Value, Visitor};
use crate::write::json::JsonWriter;
use crate::write::rows::{RowFormat, RowWriter};
use crate::write::text::{Outline, Style};
use serde_json::ser::PrettyFormatter;
use std::io::Write;

pub(super) fn object<'v, const N: usize>(fields: [(&'v str, Value<'v>); N]) -> Value<'v> {
    Value::Map(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

pub(super) struct Entries<W: Write> {
    out: Output<W>,
    written: usize,
}

enum Output<W: Write> {
    Text(W),
    /// The document, and whether it is an array.
    Json(JsonWriter<W, PrettyFormatter<'static>>, bool),
    Ndjson(W),
    Csv(W),
}

impl<W: Write> Entries<W> {
    /// Starts a document. With `many` a JSON document is an array, for any number of entries.
    pub(super) fn new(out: W, format: Format, many: bool) -> Result<Self, Failure> {
        let out = match format {
            Format::Text | Format::Markdown | Format::Html => Output::Text(out),
            Format::Ndjson | Format::Patch => Output::Ndjson(out),
            Format::Csv => Output::Csv(out),
            Format::Json => {
                let mut json = JsonWriter::pretty(out);
                if many {
                    json.begin_list()?;
                }
                Output::Json(json, many)
            }
        };
        Ok(Self { out, written: 0 })
    }

    /// Writes an entry. One that fails before anything of it was shown leaves no trace.
    pub(super) fn add(&mut self, entry: impl FnOnce(&mut dyn Visitor) -> Result<(), Failure>) -> Result<(), Failure> {
        match &mut self.out {
            Output::Text(out) => {
                if self.written > 0 {
                    writeln!(out)?;
                }
                entry(&mut Outline::new(out))?;
            }
            Output::Json(json, _) => entry(json)?,
            Output::Ndjson(out) => {
                let mut json = JsonWriter::compact(&mut *out);
                entry(&mut json)?;
                json.end_line()?;
            }
            Output::Csv(out) => {
                let mut tree = Tree::default();
                entry(&mut tree)?;
                if let Value::Map(fields) = tree.into_value() {
                    let columns = fields.iter().map(|(name, _)| Column::named(name.to_string(), Kind::Any));
                    let columns: Vec<Column> = columns.collect();
                    let mut rows = RowWriter::new(out, RowFormat::from(Format::Csv), &columns, Style::Plain)?;
                    rows.row(&fields.into_iter().map(|(_, value)| value).collect::<Vec<_>>())?;
                    rows.finish()?;
                }
            }
        }
        self.written += 1;
        Ok(())
    }

    /// Ends the document and passes everything on.
    pub(super) fn finish(self) -> Result<(), Failure> {
        match self.out {
            Output::Text(mut out) | Output::Ndjson(mut out) | Output::Csv(mut out) => Ok(out.flush()?),
            Output::Json(mut json, many) => {
                if many {
                    json.end_list()?;
                }
                if many || self.written > 0 {
                    json.end_line()?;
                }
                Ok(json.flush()?)
            }
        }
    }
}
