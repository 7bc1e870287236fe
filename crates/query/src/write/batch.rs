//! Rows gathered into Arrow record batches, from which Parquet and Arrow files are written.
//!
//! Ids and GUIDs become text in the form that every other output has, a cell in a column of any kind the text that CSV has
//! for it; floats that are not finite are null, as in JSON and SQL. Nested values become lists and structs if their column
//! declares a shape, else their JSON.

use super::plain;
use super::rows::RowSink;
use super::shares::{ShareReader, SinkEvent, read_all};
use crate::error::{Error, ErrorKind, Result};
use crate::id::{Id32, Id64, ascii};
use crate::table::{CellSink, Column, Kind, RowCursor, Table, Value, ValueShape, member};
use crate::threads;
use arrow_array::builder::{
    BooleanBuilder, Float32Builder, Float64Builder, Int64Builder, StringBuilder, UInt64Builder,
};
use arrow_array::{ArrayRef, ListArray, RecordBatch, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

const ROWS: usize = 8192;
/// Bytes of text after which a batch is full whatever its rows.
const BYTES: usize = 8 << 20;
/// Batches that are read at once. More threads read more than the encoders keep up with.
const AT_ONCE: usize = 4;
/// Bytes that the text of a cell may have: the offsets of a batch are 32 bits wide.
const CELL: usize = 1 << 30;

/// Gathers rows, and returns them as batches of a bounded size.
#[derive(Debug)]
pub struct BatchBuilder {
    schema: SchemaRef,
    columns: Vec<Cells>,
    rows: usize,
    bytes: usize,
    /// Whether a part of a damaged row follows the rows.
    torn: bool,
    scratch: String,
}

/// An output that takes record batches.
pub trait BatchSink {
    fn take(&mut self, batch: RecordBatch) -> Result<()>;

    /// Ends the document after the last batch.
    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}

impl<F: FnMut(RecordBatch) -> Result<()>> BatchSink for F {
    fn take(&mut self, batch: RecordBatch) -> Result<()> {
        self(batch)
    }
}

/// Gathers rows into record batches, and passes each full batch on.
pub struct ArrowBatches<H> {
    batches: BatchBuilder,
    out: H,
}

impl<H> fmt::Debug for ArrowBatches<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrowBatches").field("batches", &self.batches).finish_non_exhaustive()
    }
}

impl<H: FnMut(RecordBatch) -> Result<()>> ArrowBatches<H> {
    /// Rows with these columns, handed to `hand_over`.
    pub fn new(columns: &[Column], hand_over: H) -> Self {
        Self { batches: BatchBuilder::new(columns), out: hand_over }
    }
}

impl<H: BatchSink> ArrowBatches<H> {
    pub(super) fn with(batches: BatchBuilder, out: H) -> Self {
        Self { batches, out }
    }

    /// The schema of all batches.
    pub fn schema(&self) -> SchemaRef {
        self.batches.schema()
    }

    fn hand_over(&mut self) -> Result<()> {
        self.batches.take()?.map_or(Ok(()), |batch| self.out.take(batch))
    }

    /// Passes the batch on if it is full after a row was `added`.
    fn after(&mut self, added: Result<()>) -> Result<()> {
        if self.batches.is_full() {
            self.hand_over()?;
        }
        added
    }

    /// As [`RowSink::rows_of`], for some of the rows.
    pub(super) fn rows_within<E: From<Error>>(
        &mut self,
        table: &dyn Table,
        rows: Range<usize>,
        columns: &[usize],
        met: impl FnMut(SinkEvent) -> Result<(), E>,
    ) -> Option<Result<(), E>> {
        self.batches.read_all(table, rows, columns, met, |batch| Ok(self.out.take(batch)?))
    }
}

impl<H: BatchSink> RowSink for ArrowBatches<H> {
    fn row(&mut self, cells: &[Value<'_>]) -> Result<()> {
        let added = self.batches.push(cells);
        self.after(added)
    }

    fn row_of(&mut self, row: &dyn RowCursor, columns: &[usize]) -> Result<()> {
        let added = self.batches.add(row, columns);
        self.after(added)
    }

    fn rows_of<E: From<Error>>(
        &mut self,
        table: &dyn Table,
        columns: &[usize],
        met: impl FnMut(SinkEvent) -> Result<(), E>,
    ) -> Option<Result<(), E>> {
        self.rows_within(table, 0..usize::MAX, columns, met)
    }

    fn finish(&mut self) -> Result<()> {
        self.hand_over()?;
        self.out.end()
    }
}

#[derive(Debug)]
enum Cells {
    Bool(BooleanBuilder),
    Int(Int64Builder),
    Uint(UInt64Builder),
    F32(Float32Builder),
    F64(Float64Builder),
    Text(StringBuilder),
    List(ListCells),
    Struct(StructCells),
}

#[derive(Debug)]
struct ListCells {
    field: FieldRef,
    items: Box<Cells>,
    lengths: Vec<usize>,
    valid: Vec<bool>,
}

#[derive(Debug)]
struct StructCells {
    fields: Fields,
    members: Vec<Cells>,
    valid: Vec<bool>,
}

impl BatchBuilder {
    pub(super) fn new(columns: &[Column]) -> Self {
        let cells: Vec<Cells> = columns.iter().map(Cells::new).collect();
        let fields =
            columns.iter().zip(&cells).map(|(column, cells)| Field::new(&*column.name, cells.data_type(), true));
        let schema = Schema::new(fields.collect::<Vec<_>>());
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

    /// Adds a row of as many cells as there are columns: the whole row, or nothing of it and an error.
    fn push(&mut self, cells: &[Value<'_>]) -> Result<()> {
        cells.iter().enumerate().try_for_each(|(place, cell)| self.put(place, |next| next.value(cell)))?;
        self.rows += 1;
        Ok(())
    }

    /// Adds the cell that `put` passes to a column, or tears the row.
    #[inline]
    fn put(&mut self, place: usize, put: impl FnOnce(&mut NextCell<'_>) -> Result<()>) -> Result<()> {
        let Some(cells) = self.columns.get_mut(place) else { return Ok(()) };
        let column = self.schema.field(place).name();
        let mut cell = NextCell { cells, column, scratch: &mut self.scratch, bytes: &mut self.bytes };
        put(&mut cell).inspect_err(|_| self.tear(place))
    }

    /// Leaves out the row whose cells lie in the columns before `place`. They stay in their columns, so that this ends
    /// the batch: it is cut off before that row.
    #[cold]
    fn tear(&mut self, place: usize) {
        self.columns.iter_mut().skip(place).for_each(Cells::push_null);
        self.torn = true;
    }

    /// Reads `columns` of the rows `range` of `table`, several batches at once where the table allows it, and hands them over
    /// in order.
    pub(super) fn read_all<E: From<Error>>(
        &self,
        table: &dyn Table,
        range: Range<usize>,
        columns: &[usize],
        met: impl FnMut(SinkEvent) -> Result<(), E>,
        mut hand_over: impl FnMut(RecordBatch) -> Result<(), E>,
    ) -> Option<Result<(), E>> {
        let chosen: Vec<Column> = columns.iter().map(|&column| table.columns()[column].clone()).collect();
        let readers = std::iter::repeat_with(|| Self { schema: self.schema(), ..Self::new(&chosen) });
        let readers = readers.take(threads::count().min(AT_ONCE) + 1).collect();
        read_all(readers, table, range, columns, met, |batch| batch.map_or(Ok(()), &mut hand_over))
    }
}

impl ShareReader for BatchBuilder {
    type Piece = Option<RecordBatch>;

    const ROWS: usize = ROWS;

    fn add(&mut self, row: &dyn RowCursor, columns: &[usize]) -> Result<()> {
        for (place, &column) in columns.iter().enumerate() {
            self.put(place, |cell| row.put(column, cell))?;
        }
        self.rows += 1;
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.rows >= ROWS || self.bytes >= BYTES || self.torn
    }

    /// The rows that were added since the last batch; `None` without any.
    fn take(&mut self) -> Result<Option<RecordBatch>> {
        let columns = self.columns.iter_mut().map(Cells::take).collect::<Result<_, _>>();
        let gathered = columns.and_then(|columns| RecordBatch::try_new(self.schema.clone(), columns));
        let batch = gathered.map_err(|e| Error::io("cannot gather rows", std::io::Error::other(e)))?;
        let whole_rows = if self.torn { batch.slice(0, self.rows) } else { batch };
        (self.rows, self.bytes, self.torn) = (0, 0, false);
        Ok(Some(whole_rows).filter(|batch| batch.num_rows() > 0))
    }
}

/// The place of the next cell of a column.
struct NextCell<'b> {
    cells: &'b mut Cells,
    column: &'b str,
    scratch: &'b mut String,
    bytes: &'b mut usize,
}

impl CellSink for NextCell<'_> {
    fn value(&mut self, cell: &Value<'_>) -> Result<()> {
        if !self.cells.takes(cell) {
            return Err(does_not_fit(self.column, cell));
        }
        *self.bytes += self.cells.push(cell, self.scratch)?;
        Ok(())
    }

    fn uint(&mut self, number: u64) -> Result<()> {
        match (&mut *self.cells, i64::try_from(number)) {
            (Cells::Uint(cells), _) => cells.append_value(number),
            (Cells::Int(cells), Ok(number)) => cells.append_value(number),
            _ => return self.value(&Value::Uint(number)),
        }
        *self.bytes += size_of::<u64>();
        Ok(())
    }

    fn f32(&mut self, number: f32) -> Result<()> {
        match &mut *self.cells {
            Cells::F32(cells) if number.is_finite() => cells.append_value(number),
            _ => return self.value(&Value::F32(number)),
        }
        *self.bytes += size_of::<u64>();
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<()> {
        match &mut *self.cells {
            Cells::Text(cells) if text.len() <= CELL => cells.append_value(text),
            _ => return self.value(&Value::text(text)),
        }
        *self.bytes += text.len();
        Ok(())
    }

    fn joined(&mut self, start: &str, end: &str) -> Result<()> {
        let mut joined = std::mem::take(self.scratch);
        joined.clear();
        joined.push_str(start);
        joined.push_str(end);
        let put = self.text(&joined);
        *self.scratch = joined;
        put
    }

    fn id64(&mut self, id: Id64) -> Result<()> {
        self.text(ascii(&id.to_ascii()))
    }

    fn id32(&mut self, id: Id32) -> Result<()> {
        self.text(ascii(&id.to_ascii()))
    }
}

#[cold]
fn does_not_fit(column: &str, cell: &Value<'_>) -> Error {
    let mut shown = cell.to_string();
    if let Some((end, _)) = shown.char_indices().nth(80) {
        shown.truncate(end);
    }
    let what = format!("{shown} does not fit into the type of the column");
    Error::of_part(ErrorKind::Damaged { what: what.into() }, column.to_owned())
}

impl Cells {
    fn new(column: &Column) -> Self {
        match &column.shape {
            Some(shape) if column.kind == Kind::Nested => Self::of_shape(shape),
            _ => Self::of_kind(column.kind, column.wide),
        }
    }

    fn of_shape(shape: &ValueShape) -> Self {
        match shape {
            ValueShape::Value { kind, wide } => Self::of_kind(*kind, *wide),
            ValueShape::List(item) => {
                let items = Box::new(Self::of_shape(item));
                let field = Arc::new(Field::new("item", items.data_type(), true));
                Self::List(ListCells { field, items, lengths: Vec::new(), valid: Vec::new() })
            }
            ValueShape::Map(members) => {
                let cells: Vec<Self> = members.iter().map(|(_, shape)| Self::of_shape(shape)).collect();
                let named = members.iter().zip(&cells);
                let fields = named.map(|((name, _), cells)| Field::new(&**name, cells.data_type(), true)).collect();
                Self::Struct(StructCells { fields, members: cells, valid: Vec::new() })
            }
        }
    }

    /// No cells yet, and no memory for them: a schema is made of cells, too.
    fn of_kind(kind: Kind, wide: bool) -> Self {
        match kind {
            Kind::Bool => Self::Bool(BooleanBuilder::with_capacity(0)),
            Kind::Uint if wide => Self::Uint(UInt64Builder::with_capacity(0)),
            // Signed, so that to subtract one from another is right in every engine: some refuse an unsigned
            // difference below 0, some wrap it around.
            Kind::Int | Kind::Uint => Self::Int(Int64Builder::with_capacity(0)),
            Kind::F32 => Self::F32(Float32Builder::with_capacity(0)),
            Kind::F64 => Self::F64(Float64Builder::with_capacity(0)),
            Kind::Id64 | Kind::Id32 | Kind::Guid | Kind::Text | Kind::Nested | Kind::Any => {
                Self::Text(StringBuilder::with_capacity(0, 0))
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
            Self::List(cells) => DataType::List(Arc::clone(&cells.field)),
            Self::Struct(cells) => DataType::Struct(cells.fields.clone()),
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
            (Self::List(cells), Value::List(items)) => {
                items.len() <= CELL && items.iter().all(|item| cells.items.takes(item))
            }
            (Self::Struct(cells), Value::Map(map)) => {
                map.iter().all(|(name, _): &(_, _)| cells.fields.iter().any(|field| field.name() == name))
                    && cells
                        .named()
                        .all(|(place, name, cells)| member(map, place, name).is_none_or(|value| cells.takes(value)))
            }
            _ => false,
        }
    }

    /// Adds a cell that fits the column. Returns the number of its bytes of text.
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
            Self::List(cells) => return cells.push(cell, scratch),
            Self::Struct(cells) => return cells.push(cell, scratch),
        }
        Ok(8)
    }

    fn push_null(&mut self) {
        self.push(&Value::Null, &mut String::new()).expect("a null is not written out");
    }

    fn take(&mut self) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::Bool(cells) => Arc::new(cells.finish()),
            Self::Int(cells) => Arc::new(cells.finish()),
            Self::Uint(cells) => Arc::new(cells.finish()),
            Self::F32(cells) => Arc::new(cells.finish()),
            Self::F64(cells) => Arc::new(cells.finish()),
            Self::Text(cells) => {
                // The next batch has about as much text, which is not to be moved while it grows.
                let room = cells.values_slice().len().min(BYTES);
                let next = StringBuilder::with_capacity(ROWS, room + room / 8);
                Arc::new(std::mem::replace(cells, next).finish())
            }
            Self::List(cells) => Arc::new(cells.take()?),
            Self::Struct(cells) => Arc::new(cells.take()?),
        })
    }
}

impl ListCells {
    fn push(&mut self, cell: &Value<'_>, scratch: &mut String) -> Result<usize> {
        let (items, is_valid) = match cell {
            Value::List(items) => (&items[..], true),
            _ => (&[][..], false),
        };
        let mut bytes = 8usize;
        for item in items {
            bytes += self.items.push(item, scratch)?;
        }
        self.lengths.push(items.len());
        self.valid.push(is_valid);
        Ok(bytes)
    }

    fn take(&mut self) -> Result<ListArray, ArrowError> {
        let offsets = OffsetBuffer::from_lengths(std::mem::take(&mut self.lengths));
        let valid = NullBuffer::from(std::mem::take(&mut self.valid));
        ListArray::try_new(Arc::clone(&self.field), offsets, self.items.take()?, Some(valid))
    }
}

impl StructCells {
    fn named(&self) -> impl Iterator<Item = (usize, &str, &Cells)> {
        let named = self.fields.iter().zip(&self.members).enumerate();
        named.map(|(place, (field, cells))| (place, field.name().as_str(), cells))
    }

    fn push(&mut self, cell: &Value<'_>, scratch: &mut String) -> Result<usize> {
        let map = match cell {
            Value::Map(map) => Some(map),
            _ => None,
        };
        let mut bytes = 0usize;
        for (place, (field, cells)) in self.fields.iter().zip(&mut self.members).enumerate() {
            let value = map.and_then(|map| member(map, place, field.name()));
            bytes += cells.push(value.unwrap_or(&Value::Null), scratch)?;
        }
        self.valid.push(map.is_some());
        Ok(bytes)
    }

    fn take(&mut self) -> Result<StructArray, ArrowError> {
        let valid = NullBuffer::from(std::mem::take(&mut self.valid));
        let members = self.members.iter_mut().map(Cells::take).collect::<Result<_, _>>()?;
        StructArray::try_new(self.fields.clone(), members, Some(valid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::DeclaredTable;
    use arrow_array::Array as _;
    use arrow_array::cast::AsArray as _;

    fn text(row: usize) -> Result<String> {
        match row {
            7 | 8 | 8191 | 30_000 => Err(Error::of_part(ErrorKind::Cycle { at: 1 }, "rows")),
            // More than a batch holds.
            9000..9006 => Ok("x".repeat(3 << 20)),
            _ => Ok(format!("row {row}")),
        }
    }

    /// Rows of a number and a text, which is long in some rows and damaged in others.
    fn numbered_texts(len: usize) -> impl Table {
        DeclaredTable::new("rows", move || Ok(len), move |row| Ok((row < len).then_some(row)))
            .column(Column::uint("row"), |row| Ok((*row).into()))
            .column(Column::text("text"), |row| text(*row).map(Value::owned))
            .random_access()
    }

    #[test]
    fn debug_output_of_batches_names_the_columns() {
        let batches = ArrowBatches::new(&[Column::text("title")], |_| Ok(()));
        assert!(format!("{batches:?}").contains("\"title\""), "{batches:?}");
    }

    #[test]
    fn several_batches_at_once_are_the_rows_in_order() {
        for len in [0, 1, 7, 8192, 8193, 100_000] {
            let table = numbered_texts(len);
            let (mut next, mut read, mut damage) = (0usize, 0usize, Vec::new());
            let met = |met| {
                match met {
                    SinkEvent::Rows(count) => read += count,
                    SinkEvent::Damage(row, _) => damage.push(row.unwrap()),
                }
                Ok::<_, Error>(())
            };
            let hand_over = |batch: RecordBatch| {
                assert!((1..=ROWS).contains(&batch.num_rows()));
                let texts = batch.column(0).as_string::<i32>();
                assert!(texts.value_data().len() < BYTES + (4 << 20));
                let rows = batch.column(1).as_primitive::<arrow_array::types::Int64Type>();
                for (found, row) in texts.iter().zip(rows.values()) {
                    next += (next..).take_while(|&row| text(row).is_err()).count();
                    assert_eq!(*row, next as i64);
                    assert_eq!(found.unwrap(), text(next).unwrap());
                    next += 1;
                }
                assert_eq!(rows.null_count(), 0);
                Ok(())
            };
            let chosen: Vec<Column> = table.columns().iter().rev().cloned().collect();
            BatchBuilder::new(&chosen).read_all(&table, 0..usize::MAX, &[1, 0], met, hand_over).unwrap().unwrap();
            assert_eq!(read, len);
            assert_eq!(damage, [7, 8, 8191, 30_000].into_iter().filter(|&row| row < len).collect::<Vec<_>>());
            assert_eq!(next, len - (0..len).rev().take_while(|&row| text(row).is_err()).count());
        }
    }

    /// A cell of each kind in a column of each kind: as Arrow shows it, or refused.
    #[test]
    fn a_cell_is_the_same_in_a_batch_or_does_not_fit() {
        let number = || ValueShape::of(Kind::Int);
        let nested = |shape| Column::nested("c").shaped(Some(shape));
        let map = |name: &'static str, cell| Value::Map(vec![(name.into(), cell)]);
        let text = || Value::text("1");
        for (column, fits, others) in [
            (Column::bool("c"), vec![(true.into(), "true")], vec![Value::Uint(1), Value::owned("x".repeat(100))]),
            (
                Column::uint("c"),
                vec![(Value::Uint(7), "7"), (Value::Int(-7), "-7")],
                vec![Value::Uint(u64::MAX), Value::F64(1.0), text()],
            ),
            (
                Column::uint("c").wide(),
                vec![(Value::Uint(u64::MAX), "18446744073709551615"), (Value::Int(7), "7")],
                vec![Value::Int(-1), true.into()],
            ),
            (
                Column::f32("c"),
                vec![(Value::F32(0.5), "0.5"), (Value::F32(f32::NAN), "")],
                vec![Value::F64(0.5), Value::Int(1)],
            ),
            (
                Column::new("c", Kind::F64),
                vec![(Value::F64(0.5), "0.5"), (Value::F32(0.25), "0.25"), (Value::F64(f64::INFINITY), "")],
                vec![Value::Int(1), text()],
            ),
            (
                Column::id64("c"),
                vec![(Value::Id64(31), "0x000000000000001F"), (Value::Int(-3), "-3"), (true.into(), "true")],
                vec![],
            ),
            (
                nested(ValueShape::list(number())),
                vec![(Value::List(vec![1.into(), Value::Null]), "[1, ]")],
                vec![Value::List(vec![text()]), map("a", 1.into()), 1.into()],
            ),
            (
                nested(ValueShape::Map(vec![("a".into(), number())])),
                vec![(map("a", 1.into()), "{a: 1}")],
                vec![map("a", text()), map("b", 1.into()), Value::List(vec![])],
            ),
        ] {
            // As a value, and as a field of the file without one.
            let shown = |cell: &Value<'_>, is_plain: bool| -> Result<String> {
                let mut batches = BatchBuilder::new(std::slice::from_ref(&column));
                batches.put(0, |next| match cell {
                    Value::Uint(number) if is_plain => next.uint(*number),
                    Value::F32(number) if is_plain => next.f32(*number),
                    Value::Text(text) if is_plain => next.text(text),
                    Value::Id64(id) if is_plain => next.id64(Id64(*id)),
                    cell => next.value(cell),
                })?;
                batches.rows = 1;
                Ok(arrow_cell(batches.take()?.expect("a row was added").column(0)))
            };
            for is_plain in [false, true] {
                assert_eq!(shown(&Value::Null, is_plain).unwrap(), "");
                for (cell, expected) in &fits {
                    assert_eq!(shown(cell, is_plain).unwrap(), *expected, "{cell} in {column:?}");
                }
                for cell in &others {
                    let error = shown(cell, is_plain).unwrap_err().to_string();
                    let cut: String = cell.to_string().chars().take(80).collect();
                    assert_eq!(error, format!("c: {cut} does not fit into the type of the column"));
                }
            }
        }
    }

    /// The first cell of a column, as text.
    fn arrow_cell(column: &ArrayRef) -> String {
        if column.is_null(0) {
            return String::new();
        }
        match column.data_type() {
            DataType::Boolean => column.as_boolean().value(0).to_string(),
            DataType::Int64 => column.as_primitive::<arrow_array::types::Int64Type>().value(0).to_string(),
            DataType::UInt64 => column.as_primitive::<arrow_array::types::UInt64Type>().value(0).to_string(),
            DataType::Float32 => column.as_primitive::<arrow_array::types::Float32Type>().value(0).to_string(),
            DataType::Float64 => column.as_primitive::<arrow_array::types::Float64Type>().value(0).to_string(),
            DataType::List(_) => {
                let items = column.as_list::<i32>().value(0);
                let items = (0..items.len()).map(|at| arrow_cell(&items.slice(at, 1)));
                format!("[{}]", items.collect::<Vec<_>>().join(", "))
            }
            DataType::Struct(fields) => {
                let members = fields.iter().zip(column.as_struct().columns());
                let members = members.map(|(field, cells)| format!("{}: {}", field.name(), arrow_cell(cells)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
            }
            _ => column.as_string::<i32>().value(0).to_owned(),
        }
    }

    #[test]
    fn the_first_error_ends_reading() {
        let table = numbered_texts(50_000);
        let mut rows = 0;
        let met = |met| match met {
            SinkEvent::Rows(_) => Ok(()),
            SinkEvent::Damage(row, error) => {
                assert_eq!(row, Some(7));
                Err(error)
            }
        };
        let hand_over = |batch: RecordBatch| {
            rows += batch.num_rows();
            Ok(())
        };
        let read = BatchBuilder::new(table.columns()).read_all(&table, 0..usize::MAX, &[0, 1], met, hand_over).unwrap();
        assert!(matches!(read.unwrap_err().kind(), ErrorKind::Cycle { .. }));
        assert_eq!(rows, 7);
    }
}
