//! Rows gathered into Arrow record batches: what Parquet and Arrow files are written from.
//!
//! Ids and GUIDs become text in the form that every other output has, nested values their JSON, a cell that says itself
//! what it is the text that CSV has for it; floats that are not finite are null, as in JSON and SQL.

use super::plain;
use crate::error::{Error, ErrorKind, Result};
use crate::table::{Column, Kind, RowCursor, Value};
use arrow_array::builder::{
    BooleanBuilder, Float32Builder, Float64Builder, Int64Builder, StringBuilder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::collections::HashMap;
use std::sync::Arc;

/// Rows of one batch.
const ROWS: usize = 8192;
/// Bytes of text after which a batch is full whatever its rows.
const BYTES: usize = 8 << 20;
/// Bytes that the text of a cell may have: the offsets of a batch are 32 bits wide.
const CELL: usize = 1 << 30;

/// Gathers rows, and hands them out as batches of a bounded size.
#[derive(Debug)]
pub(super) struct Batches {
    schema: SchemaRef,
    columns: Vec<Cells>,
    rows: usize,
    bytes: usize,
    /// Whether a part of a row lies behind the rows, as one of its cells is damaged.
    torn: bool,
    scratch: String,
}

/// The cells of one column.
#[derive(Debug)]
enum Cells {
    Bool(BooleanBuilder),
    Int(Int64Builder),
    Uint(UInt64Builder),
    F32(Float32Builder),
    F64(Float64Builder),
    Text(StringBuilder),
}

impl Batches {
    /// No rows yet, of these columns.
    pub(super) fn new(columns: &[Column]) -> Self {
        let cells: Vec<Cells> = columns.iter().map(Cells::new).collect();
        let field = |(column, cells): (&Column, &Cells)| Field::new(&*column.name, cells.data_type(), true);
        let schema = Schema::new(columns.iter().zip(&cells).map(field).collect::<Vec<_>>());
        Self { schema: Arc::new(schema), columns: cells, rows: 0, bytes: 0, torn: false, scratch: String::new() }
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The schema with keys and values of its own.
    pub(super) fn schema_with(&mut self, metadata: &[(&str, String)]) -> SchemaRef {
        let metadata: HashMap<_, _> = metadata.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        self.schema = Arc::new(self.schema.as_ref().clone().with_metadata(metadata));
        self.schema()
    }

    /// Whether it is time to take the batch.
    pub(super) fn is_full(&self) -> bool {
        self.rows >= ROWS || self.bytes >= BYTES || self.torn
    }

    /// Adds a row of as many cells as there are columns: the whole row, or nothing of it and an error.
    ///
    /// # Errors
    /// For a cell that its column cannot hold.
    pub(super) fn push(&mut self, cells: &[Value<'_>]) -> Result<()> {
        cells.iter().enumerate().try_for_each(|(place, cell)| self.push_cell(place, cell))?;
        self.rows = self.rows.saturating_add(1);
        Ok(())
    }

    /// Adds the cells of `columns` of the current row of `row`, as [`Batches::push`] does.
    ///
    /// # Errors
    /// As [`Batches::push`], and for a damaged cell.
    pub(super) fn push_row(&mut self, row: &dyn RowCursor, columns: &[usize]) -> Result<()> {
        for (place, &column) in columns.iter().enumerate() {
            // By reference: to move a value right after it was made stalls the processor.
            match row.value(column) {
                Ok(ref cell) => self.push_cell(place, cell)?,
                Err(error) => {
                    self.tear(place);
                    return Err(error);
                }
            }
        }
        self.rows = self.rows.saturating_add(1);
        Ok(())
    }

    fn push_cell(&mut self, place: usize, cell: &Value<'_>) -> Result<()> {
        let Some(column) = self.columns.get_mut(place) else { return Ok(()) };
        let pushed = if column.takes(cell) {
            column.push(cell, &mut self.scratch)
        } else {
            let name = self.schema.fields().get(place).map_or("", |field| field.name());
            Err(does_not_fit(name, cell))
        };
        match pushed {
            Ok(bytes) => self.bytes = self.bytes.saturating_add(bytes),
            Err(_) => self.tear(place),
        }
        pushed.map(drop)
    }

    /// Leaves the row out whose cells lie in the columns before `place`. What was added to a column stays in it, so
    /// that this ends the batch: its rows are cut off there.
    #[cold]
    fn tear(&mut self, place: usize) {
        self.columns.iter_mut().skip(place).for_each(Cells::push_null);
        self.torn = true;
    }

    /// The rows that were added since the last time; `None` where there are none.
    pub(super) fn take(&mut self) -> Result<Option<RecordBatch>> {
        let columns = self.columns.iter_mut().map(Cells::take).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|e| Error::io("cannot gather rows", std::io::Error::other(e)))?;
        let batch = if self.torn { batch.slice(0, self.rows) } else { batch };
        (self.rows, self.bytes, self.torn) = (0, 0, false);
        Ok(Some(batch).filter(|batch| batch.num_rows() > 0))
    }
}

#[cold]
fn does_not_fit(column: &str, cell: &Value<'_>) -> Error {
    let mut shown = cell.to_string();
    if let Some((end, _)) = shown.char_indices().nth(80) {
        shown.truncate(end);
    }
    let what = format!("{shown} does not fit into the type of the column");
    Error::without_offset(ErrorKind::Damaged { what: what.into() }, column.to_owned())
}

impl Cells {
    fn new(column: &Column) -> Self {
        match column.kind {
            Kind::Bool => Self::Bool(BooleanBuilder::new()),
            Kind::Uint if column.wide => Self::Uint(UInt64Builder::new()),
            // Signed, so that to subtract one from another is right in every engine: some refuse an unsigned
            // difference below 0, some wrap it around.
            Kind::Int | Kind::Uint => Self::Int(Int64Builder::new()),
            Kind::F32 => Self::F32(Float32Builder::new()),
            Kind::F64 => Self::F64(Float64Builder::new()),
            Kind::Id64 | Kind::Id32 | Kind::Guid | Kind::Text | Kind::Nested | Kind::Any => {
                Self::Text(StringBuilder::new())
            }
        }
    }

    fn data_type(&self) -> DataType {
        match self {
            Self::Bool(_) => DataType::Boolean,
            Self::Int(_) => DataType::Int64,
            Self::Uint(_) => DataType::UInt64,
            Self::F32(_) => DataType::Float32,
            Self::F64(_) => DataType::Float64,
            Self::Text(_) => DataType::Utf8,
        }
    }

    /// Whether the column can hold `cell` as it is.
    fn takes(&self, cell: &Value<'_>) -> bool {
        match (self, cell) {
            (_, Value::Null)
            | (Self::Bool(_), Value::Bool(_))
            | (Self::Int(_), Value::Int(_))
            | (Self::Uint(_), Value::Uint(_))
            | (Self::F32(_), Value::F32(_))
            | (Self::F64(_), Value::F32(_) | Value::F64(_)) => true,
            (Self::Int(_), Value::Uint(number)) => i64::try_from(*number).is_ok(),
            (Self::Uint(_), Value::Int(number)) => *number >= 0,
            (Self::Text(_), Value::Text(text)) => text.len() <= CELL,
            (Self::Text(_), _) => true,
            _ => false,
        }
    }

    /// Adds a cell that the column takes. Gives its bytes of text.
    #[inline]
    fn push(&mut self, cell: &Value<'_>, scratch: &mut String) -> Result<usize> {
        match self {
            Self::Text(cells) => {
                let text = plain::text(cell, scratch)?;
                cells.append_option(text);
                return Ok(text.map_or(0, str::len));
            }
            Self::Bool(cells) => cells.append_option(match cell {
                Value::Bool(truth) => Some(*truth),
                _ => None,
            }),
            Self::Int(cells) => cells.append_option(match cell {
                Value::Int(number) => Some(*number),
                Value::Uint(number) => i64::try_from(*number).ok(),
                _ => None,
            }),
            Self::Uint(cells) => cells.append_option(match cell {
                Value::Uint(number) => Some(*number),
                Value::Int(number) => u64::try_from(*number).ok(),
                _ => None,
            }),
            Self::F32(cells) => cells.append_option(match cell {
                Value::F32(number) => Some(*number).filter(|n| n.is_finite()),
                _ => None,
            }),
            Self::F64(cells) => cells.append_option(match cell {
                Value::F32(number) => Some(f64::from(*number)).filter(|n| n.is_finite()),
                Value::F64(number) => Some(*number).filter(|n| n.is_finite()),
                _ => None,
            }),
        }
        Ok(8)
    }

    fn push_null(&mut self) {
        match self {
            Self::Bool(cells) => cells.append_null(),
            Self::Int(cells) => cells.append_null(),
            Self::Uint(cells) => cells.append_null(),
            Self::F32(cells) => cells.append_null(),
            Self::F64(cells) => cells.append_null(),
            Self::Text(cells) => cells.append_null(),
        }
    }

    fn take(&mut self) -> ArrayRef {
        match self {
            Self::Bool(cells) => Arc::new(cells.finish()),
            Self::Int(cells) => Arc::new(cells.finish()),
            Self::Uint(cells) => Arc::new(cells.finish()),
            Self::F32(cells) => Arc::new(cells.finish()),
            Self::F64(cells) => Arc::new(cells.finish()),
            Self::Text(cells) => Arc::new(cells.finish()),
        }
    }
}
