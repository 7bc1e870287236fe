//! Rows in any of the text formats.

pub use super::shares::SinkEvent;

use super::bytes::RowBytes;
use super::shares::{self, ShareReader};
use super::text::{Aligned, AlignedColumn, Fit, Style, TextPage};
use crate::error::{Error, Result};
use crate::table::{Column, Kind, Role, RowCursor, Table, Value};
use crate::threads;
use std::borrow::Cow;
use std::io::{self, Write};

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
    /// As `Csv`, on a terminal: characters that it could take for a command are escaped.
    EscapedCsv,
}

fn aligned(column: &Column) -> AlignedColumn {
    let name = &*column.name;
    let aligned = match column.kind {
        Kind::Int | Kind::Uint | Kind::F32 | Kind::F64 => AlignedColumn::number(name),
        Kind::Text | Kind::Nested | Kind::Any => AlignedColumn::text(name, Fit::Cut),
        Kind::Bool | Kind::Id64 | Kind::Id32 | Kind::Guid => AlignedColumn::text(name, Fit::Whole),
    };
    aligned.key(column.role == Role::Key)
}

/// An output that takes rows one by one.
pub trait RowSink {
    /// Writes a row of as many cells as there are columns, or nothing of the row if the format cannot hold a cell.
    ///
    /// # Errors
    /// When the output cannot be written, or for a cell that the format cannot hold.
    fn row(&mut self, cells: &[Value<'_>]) -> Result<()>;

    /// Writes the cells of `columns` of the current row of `row`, or nothing of the row if a cell is damaged.
    ///
    /// # Errors
    /// As [`RowSink::row`], and for a damaged cell.
    fn row_of(&mut self, row: &dyn RowCursor, columns: &[usize]) -> Result<()>;

    /// Writes the cells of `columns` of all rows, in order, if that is quicker than row by row; `None` otherwise. Calls `met` with
    /// the rows and the damage on the way; its error ends the walk.
    fn rows_of<E: From<Error>>(
        &mut self,
        table: &dyn Table,
        columns: &[usize],
        met: impl FnMut(SinkEvent) -> Result<(), E>,
    ) -> Option<Result<(), E>>;

    /// Ends the document and passes everything on.
    fn finish(&mut self) -> Result<()>;
}

impl<W: Write> RowSink for RowWriter<W> {
    fn row(&mut self, cells: &[Value<'_>]) -> Result<()> {
        Self::row(self, cells)
    }

    fn row_of(&mut self, row: &dyn RowCursor, columns: &[usize]) -> Result<()> {
        self.add(row, columns, Err)
    }

    fn rows_of<E: From<Error>>(
        &mut self,
        table: &dyn Table,
        columns: &[usize],
        met: impl FnMut(SinkEvent) -> Result<(), E>,
    ) -> Option<Result<(), E>> {
        // Widths of columns of text come from the first rows.
        let Self { out: Output::Bytes(bytes), rows } = self else { return None };
        let count = (threads::count() * 2).min(AT_ONCE) + 1;
        let writers = std::iter::repeat_with(|| PieceWriter {
            writer: RowWriter { out: Output::Bytes(bytes.part()), rows: 0 },
            is_torn: false,
        });
        let writers = writers.take(count).collect();
        shares::read_all(writers, table, 0..usize::MAX, columns, met, |piece| {
            bytes.append(&piece.text, *rows == 0 || piece.rows == 0)?;
            *rows += piece.rows;
            Ok(())
        })
    }

    fn finish(&mut self) -> Result<()> {
        Self::finish(self)
    }
}

/// Writes rows, one by one, in one of the formats.
#[derive(Debug)]
pub struct RowWriter<W: Write> {
    out: Output<W>,
    rows: u64,
}

#[derive(Debug)]
enum Output<W: Write> {
    /// Text of a single column: nothing to align, so one value a line.
    Lines(TextPage<W>),
    Text(Box<Aligned<W>>),
    Bytes(RowBytes<W>),
}

/// The most threads that write text at once, which bounds the memory for it.
const AT_ONCE: usize = 16;
/// Bytes of text after which a piece ends whatever its rows.
const PIECE: usize = 4 << 20;

struct Piece {
    text: Vec<u8>,
    rows: u64,
}

/// Writes rows of a table as pieces of text.
struct PieceWriter {
    writer: RowWriter<io::Sink>,
    /// Whether a row was damaged since the last piece.
    is_torn: bool,
}

impl ShareReader for PieceWriter {
    type Piece = Piece;

    const ROWS: usize = 4096;

    fn add(&mut self, row: &dyn RowCursor, columns: &[usize]) -> Result<()> {
        self.writer.add(row, columns, Err).inspect_err(|_| self.is_torn = true)
    }

    fn is_full(&self) -> bool {
        self.is_torn || matches!(&self.writer.out, Output::Bytes(bytes) if bytes.size() >= PIECE)
    }

    fn take(&mut self) -> Result<Piece> {
        self.is_torn = false;
        let text = match &mut self.writer.out {
            Output::Bytes(bytes) => bytes.take(),
            Output::Lines(_) | Output::Text(_) => Vec::new(),
        };
        Ok(Piece { text, rows: std::mem::take(&mut self.writer.rows) })
    }
}

impl<W: Write> RowWriter<W> {
    /// Rows with these columns, written to `out`.
    pub fn new(out: W, format: RowFormat, columns: &[Column], style: Style) -> Result<Self> {
        Self::open(out, format, columns, style, true)
    }

    /// As [`RowWriter::new`], without a line of column names in text and CSV.
    pub fn without_header(out: W, format: RowFormat, columns: &[Column], style: Style) -> Result<Self> {
        Self::open(out, format, columns, style, false)
    }

    fn open(out: W, format: RowFormat, columns: &[Column], style: Style, has_header: bool) -> Result<Self> {
        let out = match format {
            RowFormat::Text if columns.len() == 1 => Output::Lines(TextPage::new(out, style)),
            RowFormat::Text => {
                let text = Aligned::new(out, columns.iter().map(aligned).collect(), style);
                Output::Text(Box::new(if has_header { text } else { text.without_header() }))
            }
            format => Output::Bytes(RowBytes::new(out, format, columns, has_header)?),
        };
        Ok(Self { out, rows: 0 })
    }

    /// Fits text into a terminal of `width` columns. Other formats always have all of each cell.
    #[must_use]
    pub fn fit_into(mut self, width: Option<usize>) -> Self {
        if let Output::Text(text) = self.out {
            self.out = Output::Text(Box::new(text.fit_into(width)));
        }
        self
    }

    /// Names columns that text lacks, and the option of the command that shows them.
    #[must_use]
    pub fn without_columns(mut self, left_out: Vec<String>, option: &'static str) -> Self {
        if let Output::Text(text) = self.out {
            self.out = Output::Text(Box::new(text.without_columns(left_out, option)));
        }
        self
    }

    /// Writes a row of as many cells as there are columns.
    pub fn row(&mut self, cells: &[Value<'_>]) -> Result<()> {
        self.begin_row();
        cells.iter().enumerate().try_for_each(|(place, cell)| self.cell(place, cell))?;
        self.end_row()
    }

    fn begin_row(&mut self) {
        if let Output::Bytes(bytes) = &mut self.out {
            bytes.begin_row(self.rows == 0);
        }
    }

    #[inline]
    fn cell(&mut self, place: usize, cell: &Value<'_>) -> Result<()> {
        match &mut self.out {
            Output::Lines(page) => page.line(&text_cell(cell)),
            Output::Text(text) => {
                text.cell(cell);
                Ok(())
            }
            Output::Bytes(bytes) => bytes.cell(place, cell),
        }
    }

    fn end_row(&mut self) -> Result<()> {
        self.rows += 1;
        match &mut self.out {
            Output::Lines(_) => Ok(()),
            Output::Text(text) => text.end_row(),
            Output::Bytes(bytes) => bytes.end_row(),
        }
    }

    /// Writes the cells of `columns` of the current row of `row`. A damaged cell is empty, and `damaged` gets its error.
    pub fn row_of(&mut self, row: &dyn RowCursor, columns: &[usize], mut damaged: impl FnMut(Error)) -> Result<()> {
        self.add(row, columns, |error| {
            damaged(error);
            Ok(())
        })
    }

    /// Writes a row. A damaged cell is empty, or nothing of the row is written if `damaged` returns an error.
    fn add(
        &mut self,
        row: &dyn RowCursor,
        columns: &[usize],
        mut damaged: impl FnMut(Error) -> Result<()>,
    ) -> Result<()> {
        self.begin_row();
        for (place, &column) in columns.iter().enumerate() {
            // By reference: to move a value right after it was made stalls the processor.
            let written = match row.value(column) {
                Ok(ref cell) => self.cell(place, cell),
                Err(error) => damaged(error).and_then(|()| self.cell(place, &Value::Null)),
            };
            if written.is_err() {
                match &mut self.out {
                    Output::Lines(_) => {}
                    Output::Text(text) => text.discard_row(),
                    Output::Bytes(bytes) => bytes.discard_row(),
                }
                return written;
            }
        }
        self.end_row()
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
            Output::Bytes(bytes) => bytes.finish(),
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
    use crate::table::DeclaredTable;

    fn write(format: RowFormat, rows: &[Vec<Value<'_>>]) -> String {
        let header = [("id", Kind::Id64), ("name", Kind::Text), ("list", Kind::Nested)]
            .map(|(name, kind)| Column::new(name, kind));
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

    /// More rows than one thread takes at once. Some are damaged, and the texts of some fill a piece.
    #[test]
    fn rows_of_all_threads_are_the_rows_one_by_one() {
        let text = |row: &usize| match row {
            5 | 6 | 4095 | 9000 => Err(Error::of_part(crate::error::ErrorKind::Cycle { at: 1 }, "rows")),
            7000..7003 => Ok(Value::owned("x, \"".repeat(1 << 20))),
            row => Ok(Value::owned(format!("row {row}"))),
        };
        let header = ["row", "text"].map(Column::text);
        for len in [0, 3, 4096, 20_000] {
            let table = DeclaredTable::new("rows", move || Ok(len), move |row| Ok((row < len).then_some(row)))
                .column(Column::uint("row"), |row| Ok((*row).into()))
                .column(Column::text("text"), text)
                .random_access();
            for format in [RowFormat::Json, RowFormat::Ndjson, RowFormat::Csv] {
                let written = |fill: &dyn Fn(&mut RowWriter<&mut Vec<u8>>) -> Vec<usize>| {
                    let mut out = Vec::new();
                    let mut writer = RowWriter::new(&mut out, format, &header, Style::Plain).unwrap();
                    let damaged = fill(&mut writer);
                    writer.finish().unwrap();
                    drop(writer);
                    (String::from_utf8(out).unwrap(), damaged)
                };
                let one_by_one = written(&|writer| {
                    let (mut damaged, mut cursor) = (Vec::new(), table.cursor_over(0, None));
                    while cursor.advance().unwrap() {
                        if RowSink::row_of(writer, &*cursor, &[1, 0]).is_err() {
                            damaged.push(cursor.row());
                        }
                    }
                    damaged
                });
                let at_once = written(&|writer| {
                    let (mut damaged, mut read) = (Vec::new(), 0);
                    let met = |met| {
                        match met {
                            SinkEvent::Rows(count) => read += count,
                            SinkEvent::Damage(row, _) => damaged.push(row.unwrap()),
                        }
                        Ok::<_, Error>(())
                    };
                    writer.rows_of(&table, &[1, 0], met).unwrap().unwrap();
                    assert_eq!(read, len);
                    damaged
                });
                assert!(one_by_one == at_once, "{format:?} of {len} rows");
            }
        }
    }

    /// Nothing of a row is written if its reader refuses a damaged cell; the next row is whole.
    #[test]
    fn a_row_with_a_refused_cell_is_left_out_of_any_format() {
        let rows = [0u64, 1];
        let table = DeclaredTable::over("rows", &rows)
            .column(Column::uint("row"), |(_, row)| Ok(Value::Uint(**row)))
            .column(Column::text("text"), |(_, row)| match **row {
                0 => Err(Error::of_part(crate::error::ErrorKind::Cycle { at: 1 }, "rows")),
                row => Ok(Value::owned(format!("text {row}"))),
            });
        for (format, expected) in [
            (RowFormat::Text, "row  text\n  1  text 1\n"),
            (RowFormat::Csv, "row,text\r\n1,text 1\r\n"),
            (RowFormat::Ndjson, "{\"row\":1,\"text\":\"text 1\"}\n"),
        ] {
            let mut out = Vec::new();
            let mut writer = RowWriter::new(&mut out, format, Table::columns(&table), Style::Plain).unwrap();
            let mut cursor = table.cursor_over(0, None);
            assert!(cursor.advance().unwrap());
            assert!(RowSink::row_of(&mut writer, &*cursor, &[0, 1]).is_err());
            assert!(cursor.advance().unwrap());
            RowSink::row_of(&mut writer, &*cursor, &[0, 1]).unwrap();
            assert_eq!(writer.rows(), 1, "{format:?}");
            writer.finish().unwrap();
            drop(writer);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{format:?}");
        }
    }
}
