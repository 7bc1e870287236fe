//! Rows in any of the text formats.

use super::csv::CsvWriter;
use super::json::JsonWriter;
use super::text::{Aligned, AlignedColumn, Fit, Page, Style};
use crate::error::{Error, Result};
use crate::table::{Kind, RowCursor, Table, Value, Visitor as _};
use serde_json::ser::CompactFormatter;
use std::borrow::Cow;
use std::io::Write;

/// The formats that rows are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowFormat {
    /// Aligned columns for people.
    Text,
    /// One array of objects.
    Json,
    /// An object a line.
    Ndjson,
    /// RFC 4180 with a header line.
    Csv,
}

/// A column as outputs see it.
#[derive(Debug, Clone)]
pub struct Header {
    /// Its name.
    pub name: String,
    /// The kind of its cells.
    pub kind: Kind,
}

/// An output that takes rows one by one.
pub trait RowSink {
    /// Takes a row of as many cells as there are columns. Where a cell cannot be held, nothing of the row is.
    ///
    /// # Errors
    /// When the output cannot be written, or for a cell that the format cannot hold.
    fn row(&mut self, cells: &[Value<'_>]) -> Result<()>;

    /// Takes the cells of `columns` of the current row of `row`. Where one is damaged, nothing of the row is taken.
    ///
    /// # Errors
    /// As [`RowSink::row`], and for a damaged cell.
    fn row_of(&mut self, row: &dyn RowCursor, columns: &[usize]) -> Result<()> {
        let cells = columns.iter().map(|&column| row.value(column)).collect::<Result<Vec<_>>>()?;
        self.row(&cells)
    }

    /// Takes the cells of `columns` of all rows, in order, if that is quicker than row by row; `None` otherwise. `met` gets the rows and the
    /// damage on the way; its error ends the walk.
    fn rows_of<E: From<Error>>(
        &mut self,
        table: &dyn Table,
        columns: &[usize],
        met: impl FnMut(SinkEvent) -> Result<(), E>,
    ) -> Option<Result<(), E>> {
        let _ = (table, columns, met);
        None
    }

    /// Ends the document and passes everything on.
    fn finish(&mut self) -> Result<()>;
}

/// Rows and damage that [`RowSink::rows_of`] meets.
#[derive(Debug)]
pub enum SinkEvent {
    /// A number of further rows.
    Rows(usize),
    /// A row that is not taken, by its number, or no further row where one should be.
    Damage(Option<usize>, Error),
}

impl<W: Write> RowSink for RowWriter<W> {
    fn row(&mut self, cells: &[Value<'_>]) -> Result<()> {
        Self::row(self, cells)
    }

    fn finish(&mut self) -> Result<()> {
        Self::finish(self)
    }
}

/// Writes rows, one by one, in one of the formats.
pub struct RowWriter<W: Write> {
    names: Vec<String>,
    out: Output<W>,
    rows: u64,
}

enum Output<W: Write> {
    /// Text of a single column: nothing to align, so one value a line.
    Lines(Page<W>),
    Text(Aligned<W>),
    Json(JsonWriter<W, CompactFormatter>),
    Ndjson(JsonWriter<W, CompactFormatter>),
    Csv(Box<CsvWriter<W>>),
}

impl<W: Write> std::fmt::Debug for RowWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowWriter").field("names", &self.names).field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl<W: Write> RowWriter<W> {
    /// Rows with these columns, written to `out`.
    pub fn new(out: W, format: RowFormat, header: &[Header], style: Style) -> Result<Self> {
        Self::open(out, format, header, style, true)
    }

    /// As [`RowWriter::new`], without a line of column names in text and CSV.
    pub fn without_header(out: W, format: RowFormat, header: &[Header], style: Style) -> Result<Self> {
        Self::open(out, format, header, style, false)
    }

    fn open(out: W, format: RowFormat, header: &[Header], style: Style, has_header: bool) -> Result<Self> {
        let names: Vec<String> = header.iter().map(|h| h.name.clone()).collect();
        let out = match format {
            RowFormat::Text if names.len() == 1 => Output::Lines(Page::new(out, style)),
            RowFormat::Text => {
                let column = |header: &Header| match header.kind {
                    Kind::Int | Kind::Uint | Kind::F32 | Kind::F64 => AlignedColumn::number(&*header.name),
                    Kind::Text | Kind::Nested | Kind::Any => AlignedColumn::text(&*header.name, Fit::Cut),
                    Kind::Bool | Kind::Id64 | Kind::Id32 | Kind::Guid => AlignedColumn::text(&*header.name, Fit::Whole),
                };
                let text = Aligned::new(out, header.iter().map(column).collect(), style);
                Output::Text(if has_header { text } else { text.without_header() })
            }
            RowFormat::Json => {
                let mut json = JsonWriter::compact(out);
                json.begin_list()?;
                Output::Json(json)
            }
            RowFormat::Ndjson => Output::Ndjson(JsonWriter::compact(out)),
            RowFormat::Csv => {
                let mut csv = CsvWriter::new(out);
                if has_header {
                    names.iter().try_for_each(|name| csv.text_cell(name))?;
                    csv.end_line()?;
                }
                Output::Csv(Box::new(csv))
            }
        };
        Ok(Self { names, out, rows: 0 })
    }

    /// Fits text into a terminal of `width` columns. Other formats always have all of each cell.
    #[must_use]
    pub fn fit_into(mut self, width: Option<usize>) -> Self {
        if let Output::Text(text) = self.out {
            self.out = Output::Text(text.fit_into(width));
        }
        self
    }

    /// Writes a row of as many cells as there are columns.
    pub fn row(&mut self, cells: &[Value<'_>]) -> Result<()> {
        self.rows = self.rows.saturating_add(1);
        match &mut self.out {
            Output::Lines(page) => cells.iter().try_for_each(|cell| page.line(&text_cell(cell))),
            Output::Text(text) => text.row(cells.iter().map(|cell| text_cell(cell).into_owned()).collect()),
            Output::Json(json) | Output::Ndjson(json) => {
                let first = self.rows == 1;
                json.begin_row(first)?;
                for (name, value) in self.names.iter().zip(cells) {
                    json.field(name, value)?;
                }
                json.end_map()?;
                if json.is_line_end() { json.end_line() } else { Ok(()) }
            }
            Output::Csv(csv) => {
                cells.iter().try_for_each(|cell| csv.cell(cell))?;
                csv.end_line()
            }
        }
    }

    /// Writes the cells of `columns` of the current row of `row`. A damaged cell is empty, and `damaged` gets its error.
    pub fn row_of(&mut self, row: &dyn RowCursor, columns: &[usize], mut damaged: impl FnMut(Error)) -> Result<()> {
        if let Output::Csv(csv) = &mut self.out {
            self.rows = self.rows.saturating_add(1);
            for &column in columns {
                // By reference: to move a value right after it was made stalls the processor.
                match row.value(column) {
                    Ok(ref value) => csv.cell(value)?,
                    Err(error) => {
                        damaged(error);
                        csv.cell(&Value::Null)?;
                    }
                }
            }
            return csv.end_line();
        }
        let mut cell = |&column: &usize| {
            row.value(column).unwrap_or_else(|error| {
                damaged(error);
                Value::Null
            })
        };
        if let Output::Lines(page) = &mut self.out {
            self.rows = self.rows.saturating_add(1);
            return columns.iter().try_for_each(|column| page.line(&text_cell(&cell(column))));
        }
        let cells: Vec<Value<'_>> = columns.iter().map(cell).collect();
        self.row(&cells)
    }

    /// Rows written so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Ends the document and passes everything on.
    pub fn finish(&mut self) -> Result<()> {
        match &mut self.out {
            Output::Lines(page) => page.flush(),
            Output::Text(text) => text.finish(),
            Output::Json(json) => {
                json.end_list()?;
                json.end_line()?;
                json.flush()
            }
            Output::Ndjson(json) => json.flush(),
            Output::Csv(csv) => csv.flush(),
        }
    }
}

fn text_cell<'v>(value: &'v Value<'_>) -> Cow<'v, str> {
    match value {
        Value::Null => "-".into(),
        Value::Text(text) => Cow::Borrowed(text),
        other => other.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(format: RowFormat, rows: &[Vec<Value<'_>>]) -> String {
        let header = [("id", Kind::Id64), ("name", Kind::Text), ("list", Kind::Nested)]
            .map(|(name, kind)| Header { name: name.into(), kind });
        let mut out = Vec::new();
        let mut writer = RowWriter::new(&mut out, format, &header, Style::Plain).unwrap();
        rows.iter().for_each(|row| writer.row(row).unwrap());
        writer.finish().unwrap();
        drop(writer);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_same_rows_in_each_format() {
        let rows = [
            vec![Value::Id64(1), "a,\"b\"".into(), Value::floats([1.0, f32::INFINITY])],
            vec![Value::Id64(2), Value::Null, Value::List(vec![])],
        ];
        assert_eq!(
            write(RowFormat::Json, &rows),
            "[{\"id\":\"0x0000000000000001\",\"name\":\"a,\\\"b\\\"\",\"list\":[1.0,null]},\n\
             {\"id\":\"0x0000000000000002\",\"name\":null,\"list\":[]}]\n"
        );
        assert_eq!(write(RowFormat::Ndjson, &rows[1..]), "{\"id\":\"0x0000000000000002\",\"name\":null,\"list\":[]}\n");
        assert_eq!(
            write(RowFormat::Csv, &rows),
            "id,name,list\r\n0x0000000000000001,\"a,\"\"b\"\"\",\"[1.0,null]\"\r\n0x0000000000000002,,[]\r\n"
        );
        assert_eq!(write(RowFormat::Json, &[]), "[]\n");
        assert_eq!(write(RowFormat::Csv, &[]), "id,name,list\r\n");
    }
}
