//! Vectors of DuckDB, filled with the cells of a table.

use crate::api::{Handle, api};
use crate::boundary::c_text;
use crate::kept::KeptColumn;
use arrow_schema::DataType;
use assetq::Error;
use assetq::formats::ErrorKind;
use assetq::formats::id::{Id32, Id64, ascii};
use assetq::table::{CellSink, Column, Value, member};
use assetq::write::arrow::ArrowBatches;
use assetq::write::cell_text;
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

/// Bytes of a text that lies in its vector rather than elsewhere.
const INLINE: usize = 12;
/// Bytes of text that a cell, and a vector apart from the texts in the map, may have.
const MOST_TEXT: usize = 1 << 30;

/// The type of a column in DuckDB, which is its type in Parquet.
#[derive(Debug, Clone)]
pub enum ColumnType {
    /// `BOOLEAN`.
    Bool,
    /// `BIGINT`.
    Int,
    /// `UBIGINT`.
    Uint,
    /// `FLOAT`.
    F32,
    /// `DOUBLE`.
    F64,
    /// `VARCHAR`.
    Text,
    /// A list of items of one type.
    List(Box<Self>),
    /// Members with names.
    Struct(Vec<(String, Self)>),
}

impl ColumnType {
    /// The types of `columns`.
    pub fn of(columns: &[Column]) -> Vec<Self> {
        let schema = ArrowBatches::new(columns, |_| Ok(())).schema();
        schema.fields().iter().map(|field| Self::from(field.data_type())).collect()
    }

    /// Bytes of a cell in its vector; `None` for lists and structs, whose parts are vectors of their own.
    pub fn width(&self) -> Option<usize> {
        match self {
            Self::Bool => Some(size_of::<bool>()),
            Self::F32 => Some(size_of::<f32>()),
            Self::Int | Self::Uint | Self::F64 => Some(size_of::<u64>()),
            Self::Text => Some(size_of::<StringRef>()),
            Self::List(_) | Self::Struct(_) => None,
        }
    }

    /// A type of DuckDB, which the caller owns.
    pub fn logical(&self) -> LogicalType {
        let number = match self {
            Self::Bool => 1,
            Self::Int => 5,
            Self::Uint => 9,
            Self::F32 => 10,
            Self::F64 => 11,
            Self::Text => 17,
            Self::List(item) => {
                let item = item.logical();
                // SAFETY: DuckDB copies the type of the items.
                return LogicalType(unsafe { (api().create_list_type)(item.0) });
            }
            Self::Struct(members) => {
                let types: Vec<LogicalType> = members.iter().map(|(_, member)| member.logical()).collect();
                let types: Vec<Handle> = types.iter().map(|member| member.0).collect::<Vec<_>>();
                let names: Vec<CString> = members.iter().map(|(name, _)| c_text(name)).collect();
                let names: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
                // SAFETY: both arrays have this number of items, which DuckDB copies.
                return LogicalType(unsafe {
                    (api().create_struct_type)(types.as_ptr(), names.as_ptr(), names.len() as u64)
                });
            }
        };
        // SAFETY: a number of a simple type.
        LogicalType(unsafe { (api().create_logical_type)(number) })
    }
}

impl From<&DataType> for ColumnType {
    fn from(of: &DataType) -> Self {
        match of {
            DataType::Boolean => Self::Bool,
            DataType::Int64 => Self::Int,
            DataType::UInt64 => Self::Uint,
            DataType::Float32 => Self::F32,
            DataType::Float64 => Self::F64,
            DataType::List(item) => Self::List(Box::new(item.data_type().into())),
            DataType::Struct(members) => {
                Self::Struct(members.iter().map(|member| (member.name().clone(), member.data_type().into())).collect())
            }
            _ => Self::Text,
        }
    }
}

/// A type that is freed after its use.
pub struct LogicalType(pub Handle);

impl Drop for LogicalType {
    fn drop(&mut self) {
        // SAFETY: the type is owned, and this is its last use.
        unsafe { (api().destroy_logical_type)(&mut self.0) };
    }
}

/// A text as DuckDB stores it (`duckdb_string_t`).
#[repr(C)]
#[derive(Clone, Copy)]
struct StringRef {
    len: u32,
    /// The text if it is short, otherwise its first bytes.
    first: [u8; 4],
    rest: Rest,
}

#[repr(C)]
#[derive(Clone, Copy)]
union Rest {
    bytes: [u8; 8],
    text: *const u8,
}

/// A list as DuckDB stores it (`duckdb_list_entry`).
#[repr(C)]
struct ListRef {
    first: u64,
    len: u64,
}

/// A vector that is filled row by row.
pub struct Vector {
    raw: Handle,
    of: ColumnType,
    /// The first cell, of the type that `of` has in DuckDB.
    data: Handle,
    /// The validity mask; null until a cell is null.
    validity: *mut u64,
    /// Generated texts: their bytes, and the rows and ends of the texts.
    made: Vec<u8>,
    ends: Vec<(usize, usize)>,
    scratch: String,
    /// The vectors of the members of structs, or of the items of lists.
    parts: Vec<Self>,
    /// Items of the lists so far, and the items that there is room for.
    items: usize,
    room: usize,
    /// The row that was filled last, and the number of items before it.
    last: (usize, usize),
}

// SAFETY: the pointers are set by `attach` before each use and belong to the chunk that one thread fills at a time.
unsafe impl Send for Vector {}

impl Vector {
    /// A vector that belongs to no chunk yet.
    pub fn new(of: &ColumnType) -> Self {
        let parts = match of {
            ColumnType::List(item) => vec![Self::new(item)],
            ColumnType::Struct(members) => members.iter().map(|(_, member)| Self::new(member)).collect(),
            _ => Vec::new(),
        };
        let (raw, data, validity) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let (made, ends, scratch) = (Vec::new(), Vec::new(), String::new());
        Self { raw, of: of.clone(), data, validity, made, ends, scratch, parts, items: 0, room: 0, last: (0, 0) }
    }

    /// Begins to fill `raw`, from its first row on.
    ///
    /// # Safety
    /// `raw` is a vector of this type, without cells, that nothing else uses before [`Vector::finish`].
    pub unsafe fn attach(&mut self, raw: Handle) {
        (self.items, self.room, self.last) = (0, 0, (0, 0));
        self.made.clear();
        self.ends.clear();
        // SAFETY: as the caller promises.
        unsafe {
            self.point_at(raw);
            for (at, part) in self.parts.iter_mut().enumerate() {
                part.attach(match self.of {
                    ColumnType::List(_) => (api().list_vector_get_child)(raw),
                    _ => (api().struct_vector_get_child)(raw, at as u64),
                });
            }
        }
    }

    /// # Safety
    /// `raw` is a vector of this type.
    unsafe fn point_at(&mut self, raw: Handle) {
        self.raw = raw;
        // SAFETY: as the caller promises.
        unsafe {
            self.data = (api().vector_get_data)(raw);
            self.validity = (api().vector_get_validity)(raw);
        }
    }

    /// Takes the new places of the cells after DuckDB moved them.
    unsafe fn moved(&mut self) {
        // SAFETY: the vectors are those of `attach`.
        unsafe {
            self.point_at(self.raw);
            if let ColumnType::Struct(_) = self.of {
                self.parts.iter_mut().for_each(|part| part.moved());
            }
        }
    }

    /// Sets the cell of `row`. A text within `map`, which outlives the query, is not copied.
    ///
    /// # Safety
    /// The vector is attached and has room for `row`.
    ///
    /// # Errors
    /// If the cell does not fit into the type of the column.
    #[inline]
    unsafe fn set(&mut self, row: usize, cell: &Value<'_>, map: &Range<usize>) -> assetq::Result<()> {
        // SAFETY: the cells have the type that `of` has in DuckDB, and there is room for `row`, as the caller promises.
        unsafe {
            match (&self.of, cell) {
                (_, Value::Null) => return self.set_null(row),
                (ColumnType::Text, Value::Text(text)) => return self.set_text(row, text, map),
                (ColumnType::Text, _) => {
                    let mut scratch = std::mem::take(&mut self.scratch);
                    let set = match cell_text(cell, &mut scratch)? {
                        Some(text) => self.set_text(row, text, &(0..0)),
                        None => self.set_null(row),
                    };
                    self.scratch = scratch;
                    return set;
                }
                (ColumnType::Bool, Value::Bool(truth)) => self.data.cast::<bool>().add(row).write(*truth),
                (ColumnType::Int, Value::Int(number)) => self.data.cast::<i64>().add(row).write(*number),
                (ColumnType::Int, Value::Uint(number)) => match i64::try_from(*number) {
                    Ok(number) => self.data.cast::<i64>().add(row).write(number),
                    Err(_) => return Err(does_not_fit(cell)),
                },
                (ColumnType::Uint, Value::Uint(number)) => self.data.cast::<u64>().add(row).write(*number),
                (ColumnType::Uint, Value::Int(number)) => match u64::try_from(*number) {
                    Ok(number) => self.data.cast::<u64>().add(row).write(number),
                    Err(_) => return Err(does_not_fit(cell)),
                },
                (ColumnType::F32, Value::F32(number)) if number.is_finite() => {
                    self.data.cast::<f32>().add(row).write(*number);
                }
                (ColumnType::F64, Value::F64(number)) if number.is_finite() => {
                    self.data.cast::<f64>().add(row).write(*number);
                }
                (ColumnType::F64, Value::F32(number)) if number.is_finite() => {
                    self.data.cast::<f64>().add(row).write(f64::from(*number));
                }
                (ColumnType::F32, Value::F32(_)) | (ColumnType::F64, Value::F32(_) | Value::F64(_)) => {
                    return self.set_null(row);
                }
                (ColumnType::List(_), Value::List(items)) => {
                    let first = self.items;
                    self.last = (row, first);
                    self.items = first.saturating_add(items.len());
                    self.reserve()?;
                    let list = ListRef { first: first as u64, len: items.len() as u64 };
                    self.data.cast::<ListRef>().add(row).write(list);
                    for (at, item) in (first..).zip(items) {
                        self.parts.iter_mut().try_for_each(|part| part.set(at, item, map))?;
                    }
                }
                (ColumnType::Struct(members), Value::Map(map_of)) => {
                    if map_of.iter().any(|(name, _)| members.iter().all(|(known, _)| name != known)) {
                        return Err(does_not_fit(cell));
                    }
                    for (place, ((name, _), part)) in members.iter().zip(&mut self.parts).enumerate() {
                        part.set(row, member(map_of, place, name).unwrap_or(&Value::Null), map)?;
                    }
                }
                _ => return Err(does_not_fit(cell)),
            }
            self.set_valid(row);
        }
        Ok(())
    }

    #[inline]
    unsafe fn set_text(&mut self, row: usize, text: &str, map: &Range<usize>) -> assetq::Result<()> {
        let start = text.as_ptr().addr();
        let is_kept = map.contains(&start) && text.len() <= map.end.saturating_sub(start);
        // SAFETY: there is room for `row`, as the caller promises.
        unsafe {
            if text.len() > INLINE && !(is_kept && text.len() <= MOST_TEXT) {
                return self.set_parts(row, text, "");
            }
            let place = self.data.cast::<StringRef>().add(row);
            place.write(StringRef::new(text.as_bytes(), text.as_ptr()));
            self.set_valid(row);
        }
        Ok(())
    }

    /// Sets a text to the copies of two parts.
    #[inline]
    unsafe fn set_parts(&mut self, row: usize, start: &str, end: &str) -> assetq::Result<()> {
        let len = start.len().saturating_add(end.len());
        if len > MOST_TEXT.saturating_sub(self.made.len()) {
            return Err(does_not_fit(&Value::text("a text of such a length")));
        }
        let first = self.made.len();
        self.made.extend_from_slice(start.as_bytes());
        self.made.extend_from_slice(end.as_bytes());
        // SAFETY: there is room for `row`, as the caller promises.
        unsafe {
            if len > INLINE {
                self.ends.push((row, self.made.len()));
            } else {
                let text = self.made.get(first..).expect("texts were added from there on");
                self.data.cast::<StringRef>().add(row).write(StringRef::new(text, ptr::null()));
                self.made.truncate(first);
            }
            self.set_valid(row);
        }
        Ok(())
    }

    /// The place of the cell of `row`. A text within `map`, which outlives the query, is not copied.
    ///
    /// # Safety
    /// The vector is attached and has room for `row`.
    #[inline]
    pub unsafe fn cell<'v>(&'v mut self, row: usize, map: &'v Range<usize>) -> VectorCell<'v> {
        VectorCell { vector: self, row, map }
    }

    /// Makes room for all items.
    unsafe fn reserve(&mut self) -> assetq::Result<()> {
        if self.items <= self.room {
            return Ok(());
        }
        self.room = self.items.next_power_of_two();
        // SAFETY: the vector is a list. DuckDB may move the items.
        unsafe {
            if (api().list_vector_reserve)(self.raw, self.room as u64) != 0 {
                let what = "the lists of a vector have too many items".into();
                return Err(Error::of_part(ErrorKind::Damaged { what }, ""));
            }
            self.parts.iter_mut().for_each(|part| part.moved());
        }
        Ok(())
    }

    #[inline]
    unsafe fn set_valid(&mut self, row: usize) {
        if !self.validity.is_null() {
            // SAFETY: the mask has a bit for `row`.
            unsafe { *self.validity.add(row / 64) |= 1 << (row % 64) };
        }
    }

    /// # Safety
    /// As [`Vector::set`].
    unsafe fn set_null(&mut self, row: usize) -> assetq::Result<()> {
        // SAFETY: as the caller promises.
        unsafe {
            if self.validity.is_null() {
                (api().vector_ensure_validity_writable)(self.raw);
                self.validity = (api().vector_get_validity)(self.raw);
            }
            *self.validity.add(row / 64) &= !(1 << (row % 64));
            match self.of {
                // DuckDB reads the bounds of a null list in some operators.
                ColumnType::List(_) => self.data.cast::<ListRef>().add(row).write(ListRef { first: 0, len: 0 }),
                ColumnType::Struct(_) => self.parts.iter_mut().try_for_each(|part| part.set_null(row))?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes back what was set of `row`, which is set again or not at all.
    pub fn take_back(&mut self, row: usize) {
        while self.ends.last().is_some_and(|(last, _)| *last >= row) {
            self.ends.pop();
        }
        self.made.truncate(self.ends.last().map_or(0, |(_, end)| *end));
        match self.of {
            ColumnType::List(_) if self.last.0 == row && self.items > self.last.1 => {
                self.items = self.last.1;
                let items = self.items;
                self.parts.iter_mut().for_each(|part| part.take_back(items));
            }
            ColumnType::Struct(_) => self.parts.iter_mut().for_each(|part| part.take_back(row)),
            _ => {}
        }
    }

    /// A copy of the first `rows` cells.
    ///
    /// # Safety
    /// The vector is attached, has no parts, and `rows` cells are set.
    unsafe fn copied(&self, rows: usize) -> KeptVector {
        let texts: Box<[u8]> = self.made.as_slice().into();
        let len = self.of.width().expect("a vector without parts has cells of one width").saturating_mul(rows);
        let mut cells = Box::new_uninit_slice(len);
        // SAFETY: as the caller promises. A text that was made lies in `texts`, whose address remains when the box moves. Cells need not
        // be aligned there.
        unsafe {
            let copy = cells.as_mut_ptr();
            copy.copy_from_nonoverlapping(self.data.cast::<MaybeUninit<u8>>(), len);
            let mut start = 0;
            for (row, end) in &self.ends {
                let text = texts.get(start..*end).expect("ends ascend up to the end of the texts");
                copy.cast::<StringRef>().add(*row).write_unaligned(StringRef::new(text, text.as_ptr()));
                start = *end;
            }
            let words = if self.validity.is_null() { 0 } else { rows.div_ceil(64) };
            let valid = (0..words).map(|word| self.validity.add(word).read()).collect();
            KeptVector { cells, valid, texts }
        }
    }

    /// Completes the vector, and keeps its cells as the rows of `column` from `first` on, if these are all of a chunk.
    ///
    /// # Safety
    /// As [`Vector::finish`], for a vector without parts that has `rows` cells. The query keeps `column`.
    pub unsafe fn finish_kept(&mut self, column: &KeptColumn, first: usize, rows: usize) {
        // SAFETY: as the caller promises.
        unsafe {
            let kept = match column.has_room(first, rows) {
                true => column.keep(first, self.copied(rows)),
                false => None,
            };
            match kept {
                Some(kept) => kept.write(self.raw),
                None => self.finish(),
            }
        }
    }

    /// Completes the vector: hands over the generated texts and the number of items.
    ///
    /// # Safety
    /// The vector is attached; its chunk still exists.
    pub unsafe fn finish(&mut self) {
        // SAFETY: as the caller promises. DuckDB copies the bytes into memory of the vector, and the first cell leads to them; the cell is
        // set again afterwards.
        unsafe {
            if let Some((row, _)) = self.ends.first() {
                let place = self.data.cast::<StringRef>().add(*row);
                (api().vector_assign_string_element_len)(
                    self.raw,
                    *row as u64,
                    self.made.as_ptr().cast(),
                    self.made.len() as u64,
                );
                // More than `INLINE` bytes, as each of the texts is longer.
                let copy = place.read().rest.text;
                let mut start = 0;
                for (row, end) in self.ends.drain(..) {
                    let text = self.made.get(start..end).expect("ends ascend up to the end of the texts");
                    self.data.cast::<StringRef>().add(row).write(StringRef::new(text, copy.add(start)));
                    start = end;
                }
            }
            if let ColumnType::List(_) = self.of {
                (api().list_vector_set_size)(self.raw, self.items as u64);
            }
            self.parts.iter_mut().for_each(|part| part.finish());
        }
    }
}

/// The place of a cell, in a vector that is attached and has room for it.
pub struct VectorCell<'v> {
    vector: &'v mut Vector,
    row: usize,
    /// Texts within these addresses outlive the query.
    map: &'v Range<usize>,
}

impl CellSink for VectorCell<'_> {
    #[inline]
    fn value(&mut self, cell: &Value<'_>) -> assetq::Result<()> {
        // SAFETY: the vector has room for the row, as the caller of `Vector::cell` promised.
        unsafe { self.vector.set(self.row, cell, self.map) }
    }

    #[inline]
    fn uint(&mut self, number: u64) -> assetq::Result<()> {
        let data = match (&self.vector.of, i64::try_from(number)) {
            (ColumnType::Uint, _) | (ColumnType::Int, Ok(_)) => self.vector.data.cast::<u64>(),
            _ => return self.value(&Value::Uint(number)),
        };
        // SAFETY: as above. A number below 2^63 has the same bits with a sign.
        unsafe {
            data.add(self.row).write(number);
            self.vector.set_valid(self.row);
        }
        Ok(())
    }

    #[inline]
    fn f32(&mut self, number: f32) -> assetq::Result<()> {
        match &self.vector.of {
            ColumnType::F32 if number.is_finite() => {}
            _ => return self.value(&Value::F32(number)),
        }
        // SAFETY: as above.
        unsafe {
            self.vector.data.cast::<f32>().add(self.row).write(number);
            self.vector.set_valid(self.row);
        }
        Ok(())
    }

    #[inline]
    fn text(&mut self, text: &str) -> assetq::Result<()> {
        match &self.vector.of {
            // SAFETY: as above.
            ColumnType::Text => unsafe { self.vector.set_text(self.row, text, self.map) },
            _ => self.value(&Value::text(text)),
        }
    }

    #[inline]
    fn joined(&mut self, start: &str, end: &str) -> assetq::Result<()> {
        if end.is_empty() {
            return self.text(start);
        }
        match &self.vector.of {
            // SAFETY: as above.
            ColumnType::Text => unsafe { self.vector.set_parts(self.row, start, end) },
            _ => self.value(&Value::owned([start, end].concat())),
        }
    }

    #[inline]
    fn id64(&mut self, id: Id64) -> assetq::Result<()> {
        self.text(ascii(&id.to_ascii()))
    }

    #[inline]
    fn id32(&mut self, id: Id32) -> assetq::Result<()> {
        self.text(ascii(&id.to_ascii()))
    }
}

/// The cells of a vector, as DuckDB stores them. Texts lie in the map of the file, or in `texts`.
#[derive(Default)]
pub struct KeptVector {
    cells: Box<[MaybeUninit<u8>]>,
    /// The validity mask; empty if no cell is null.
    valid: Box<[u64]>,
    texts: Box<[u8]>,
}

impl KeptVector {
    /// Its size.
    pub fn bytes(&self) -> usize {
        self.cells.len().saturating_add(size_of_val(&*self.valid)).saturating_add(self.texts.len())
    }

    /// Writes the cells into `raw`. The texts are not copied.
    ///
    /// # Safety
    /// `raw` is a vector of the type of the cells, without cells, that nothing else uses. The file and these cells outlive the query.
    pub unsafe fn write(&self, raw: Handle) {
        // SAFETY: the vector has room for as many cells as the one that they were taken from, and a bit of its mask for each.
        unsafe {
            let data = (api().vector_get_data)(raw).cast::<MaybeUninit<u8>>();
            data.copy_from_nonoverlapping(self.cells.as_ptr(), self.cells.len());
            if !self.valid.is_empty() {
                (api().vector_ensure_validity_writable)(raw);
                (api().vector_get_validity)(raw).copy_from_nonoverlapping(self.valid.as_ptr(), self.valid.len());
            }
        }
    }
}

impl StringRef {
    /// The text `bytes`, which lies at `at` if it is not short.
    #[inline]
    fn new(bytes: &[u8], at: *const u8) -> Self {
        let (mut first, mut rest) = ([0; 4], Rest { bytes: [0; 8] });
        let (head, tail) = bytes.split_at_checked(4).unwrap_or((bytes, &[]));
        for (to, from) in first.iter_mut().zip(head) {
            *to = *from;
        }
        if bytes.len() > INLINE {
            rest = Rest { text: at };
        } else {
            let mut all = [0; 8];
            for (to, from) in all.iter_mut().zip(tail) {
                *to = *from;
            }
            rest.bytes = all;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most MOST_TEXT")]
        Self { len: bytes.len() as u32, first, rest }
    }
}

#[cold]
fn does_not_fit(cell: &Value<'_>) -> Error {
    let shown: String = cell.to_string().chars().take(80).collect();
    Error::of_part(ErrorKind::Damaged { what: format!("{shown} does not fit into the type of the column").into() }, "")
}
