//! Rows gathered into Arrow record batches: what Parquet and Arrow files are written from.
//!
//! Ids and GUIDs become text in the form that every other output has, nested values their JSON, a cell that says itself
//! what it is the text that CSV has for it; floats that are not finite are null, as in JSON and SQL.

use super::plain;
use crate::error::{Error, ErrorKind, Result};
use crate::table::{Column, Kind, Value};
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
        Self { schema: Arc::new(schema), columns: cells, rows: 0, bytes: 0, scratch: String::new() }
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

    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Whether it is time to take the batch.
    pub(super) fn is_full(&self) -> bool {
        self.rows >= ROWS || self.bytes >= BYTES
    }

    /// Adds a row of as many cells as there are columns: the whole row, or nothing of it and an error.
    ///
    /// # Errors
    /// For a cell that its column cannot hold.
    pub(super) fn push(&mut self, cells: &[Value<'_>]) -> Result<()> {
        for ((column, cell), field) in self.columns.iter().zip(cells).zip(self.schema.fields()) {
            if !column.takes(cell) {
                return Err(does_not_fit(field.name(), cell));
            }
        }
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            self.bytes = self.bytes.saturating_add(column.push(cell, &mut self.scratch)?);
        }
        self.rows = self.rows.saturating_add(1);
        Ok(())
    }

    /// The rows that were added since the last time.
    pub(super) fn take(&mut self) -> Result<RecordBatch> {
        (self.rows, self.bytes) = (0, 0);
        let columns = self.columns.iter_mut().map(Cells::take).collect();
        RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|e| Error::io("cannot gather rows", std::io::Error::other(e)))
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
