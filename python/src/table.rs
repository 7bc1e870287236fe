//! Tables and answers: what Arrow, numpy and loops over rows take.

use crate::error::{self, OrRaise as _, simple};
use crate::value;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use assetq::formats::report::Check;
use assetq::table::filter::{Filter, Literal, Op};
use assetq::table::{Column, Kind, RowBuffer, RowCursor, Table as _, Value};
use assetq::write::arrow::ArrowBatches;
use assetq::write::rows::RowSink as _;
use assetq::write::stream::{OwnedRow, Portions, Selection};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyString, PyTuple};
use std::ffi::CStr;
use std::sync::{Arc, Mutex, PoisonError};

/// The names by which takers of Arrow know the two kinds of capsules.
const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// Rows of an open file.
#[pyclass(frozen, module = "assetq")]
pub struct Table {
    rows: Selection,
    left_out: Option<Arc<Mutex<Check>>>,
}

impl Table {
    pub fn new(asset: &assetq::Asset, name: &str) -> assetq::Result<Self> {
        Ok(Self { rows: Selection::new(asset.clone(), name)?, left_out: None })
    }

    fn file(&self) -> &str {
        self.rows.asset().source().name()
    }

    fn with(&self, rows: Selection) -> Self {
        Self { rows, left_out: self.left_out.clone() }
    }

    fn each_row(&self, py: Python<'_>, dicts: bool) -> PyResult<RowIterator> {
        let rows = if dicts {
            RowForm::Dicts(value::names(py, self.rows.chosen()))
        } else {
            RowForm::Tuples(value::row_class(py, self.rows.chosen())?)
        };
        let portions = self.rows.rows().or_raise(self.file())?;
        let file = self.file().to_owned();
        Ok(RowIterator { rows, file, state: Mutex::new(State { from: Some(portions), now: Vec::new().into_iter() }) })
    }

    /// The column that `key` is looked for in: one that the table finds rows by, else the one by which people name rows.
    fn key_column(&self, key: &Bound<'_, PyAny>) -> PyResult<String> {
        let asset = self.rows.asset();
        let table = asset.table(self.rows.table()).or_raise(self.file())?;
        let is_number = key.extract::<&str>().is_err();
        let is_id = value::id(key)?.is_some();
        let of = |kinds: &[Kind]| {
            let columns = table.columns().iter().enumerate();
            let mut found = columns.filter(|(n, column)| kinds.contains(&column.kind) && table.finds(*n));
            found.next().map(|(n, _)| n)
        };
        let (ids, numbers) = ([Kind::Id64, Kind::Id32], [Kind::Id64, Kind::Id32, Kind::Uint, Kind::Int]);
        let found = match (is_number, is_id) {
            (true, _) => of(&numbers),
            (false, true) => of(&ids).or_else(|| of(&[Kind::Text])),
            (false, false) => of(&[Kind::Text, Kind::Guid]),
        };
        let column = table.columns().get(found.unwrap_or_else(|| table.label()));
        Ok(column.map_or_else(String::new, |column| column.name.to_string()))
    }
}

#[pymethods]
impl Table {
    #[getter]
    fn name(&self) -> &str {
        self.rows.table()
    }

    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.rows.chosen().iter().map(|column| &*column.name).collect()
    }

    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        value::columns(py, self.rows.chosen())
    }

    /// The rows for which `condition` holds.
    fn r#where(&self, condition: &str) -> PyResult<Self> {
        Ok(self.with(self.rows.clone().filter(condition).or_raise(self.file())?))
    }

    /// The same rows with these columns only, in this order.
    #[pyo3(signature = (*names))]
    fn columns(&self, names: Vec<String>) -> PyResult<Self> {
        Ok(self.with(self.rows.clone().columns(&names).or_raise_missing_key(self.file())?))
    }

    /// The rows with the numbers from `first` on, up to `end`.
    #[pyo3(signature = (first, end=None))]
    fn slice(&self, first: usize, end: Option<usize>) -> Self {
        self.with(self.rows.clone().slice(first..end.unwrap_or(usize::MAX)))
    }

    /// The same rows beside a column called `name`: a column of the table that has this name becomes `name_2`.
    fn _beside(&self, name: &str) -> Self {
        self.with(self.rows.clone().beside(name))
    }

    #[getter]
    fn is_random_access(&self) -> PyResult<bool> {
        self.rows.is_random_access().or_raise(self.file())
    }

    /// The same rows less those that are damaged or cannot be found, which `damage` lists once they were met.
    fn skip_damaged(&self) -> Self {
        let left_out = Arc::new(Mutex::new(Check::new("rows")));
        Self { rows: self.rows.clone().leave_out_damaged(Arc::clone(&left_out)), left_out: Some(left_out) }
    }

    #[getter]
    fn damage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let errors = self.left_out.as_ref().map_or_else(Vec::new, |left_out| {
            error::list(self.file(), left_out.lock().unwrap_or_else(PoisonError::into_inner).findings())
        });
        PyList::new(py, errors)
    }

    #[getter]
    fn damage_count(&self) -> u64 {
        let found = |left_out: &Arc<Mutex<Check>>| left_out.lock().unwrap_or_else(PoisonError::into_inner).found();
        self.left_out.as_ref().map_or(0, found)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        // `list` asks for the length before it reads the rows, which note their damage.
        let rows = if self.left_out.is_some() { self.skip_damaged().rows } else { self.rows.clone() };
        py.detach(|| rows.count()).or_raise(self.file())
    }

    /// Always true: whether there are rows may take a walk over all of them.
    fn __bool__(&self) -> bool {
        true
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<RowIterator> {
        self.each_row(py, false)
    }

    /// The rows as dicts.
    fn dicts(&self, py: Python<'_>) -> PyResult<RowIterator> {
        self.each_row(py, true)
    }

    /// The rows whose key is `key`, as a list of dicts.
    #[pyo3(signature = (key, column=None))]
    fn find<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        column: Option<&str>,
    ) -> PyResult<Bound<'py, PyList>> {
        let literal = Literal::Text(key.str()?.to_string());
        let column = match column {
            Some(name) => name.to_owned(),
            None => self.key_column(key)?,
        };
        let filter = Filter::Compare { column, op: Op::Eq, literal };
        let rows = self.rows.clone().filter_by(&filter).or_raise(self.file())?;
        let found = py.detach(|| {
            let mut found: Vec<OwnedRow> = Vec::new();
            let columns = rows.numbers();
            rows.each(|row| {
                found.push(columns.iter().map(|&c| row.value(c).map(Value::into_owned)).collect::<Result<_, _>>()?);
                Ok(true)
            })?;
            Ok(found)
        });
        let found: Vec<OwnedRow> = found.or_raise(self.file())?;
        let names = value::names(py, rows.chosen());
        PyList::new(py, found.iter().map(|row| value::row(py, &names, row)).collect::<PyResult<Vec<_>>>()?)
    }

    /// A column of numbers, ids or truths as a numpy array.
    fn numpy<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.rows.clone().columns(&[column]).or_raise_missing_key(self.file())?;
        let kind = rows.chosen().first().map_or((Kind::Any, false), |column| (column.kind, column.wide));
        macro_rules! array {
            ($of:expr) => {{
                let cells = py.detach(|| cells(&rows, $of)).or_raise(self.file())?;
                Ok(PyArray1::from_vec(py, cells).into_any())
            }};
        }
        match kind {
            (Kind::Bool, _) => array!(|cell| match cell {
                Value::Bool(truth) => Some(truth),
                _ => None,
            }),
            (Kind::Id64, _) | (Kind::Uint, true) => array!(|cell| match cell {
                Value::Id64(number) | Value::Uint(number) => Some(number),
                _ => None,
            }),
            (Kind::Id32, _) => array!(|cell| match cell {
                Value::Id32(number) => Some(number),
                _ => None,
            }),
            (Kind::Int | Kind::Uint, _) => array!(|cell| match cell {
                Value::Int(number) => Some(number),
                Value::Uint(number) => i64::try_from(number).ok(),
                _ => None,
            }),
            (Kind::F32, _) => array!(|cell| match cell {
                Value::F32(number) => Some(number),
                Value::Null => Some(f32::NAN),
                _ => None,
            }),
            (Kind::F64, _) => array!(|cell| match cell {
                Value::F32(number) => Some(f64::from(number)),
                Value::F64(number) => Some(number),
                Value::Null => Some(f64::NAN),
                _ => None,
            }),
            _ => Err(simple("unsupported", format!("column {column} has no numbers; Arrow takes texts and lists"))),
        }
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Only a wish, which the interface lets us leave unanswered.
        let _ = requested_schema;
        capsule(py, Box::new(self.rows.batches().or_raise(self.file())?))
    }

    /// The rows in record batches, which are read ahead by a few.
    fn _batches(&self) -> PyResult<BatchIterator> {
        let batches = Mutex::new(self.rows.record_batches().or_raise(self.file())?);
        Ok(BatchIterator { batches, file: self.file().to_owned() })
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, self.rows.chosen())
    }

    /// The rows as a `pyarrow.Table`.
    fn arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        arrow(slf.as_any())
    }

    /// The rows as a `polars.DataFrame`.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// The rows as a `pandas.DataFrame`.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        arrow(slf.as_any())?.call_method0("to_pandas")
    }

    /// The first rows as a table of HTML, for notebooks.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let columns = self.rows.numbers();
        let shown = py.detach(|| {
            let mut shown: Vec<OwnedRow> = Vec::new();
            self.rows.each(|row| {
                shown.push(columns.iter().map(|&c| row.value(c).map(Value::into_owned)).collect::<Result<_, _>>()?);
                Ok(shown.len() <= SHOWN)
            })?;
            Ok(shown)
        });
        Ok(html(self.rows.chosen(), &shown.or_raise(self.file())?))
    }

    fn __repr__(&self) -> String {
        format!("<assetq.Table {:?} of {:?}: {}>", self.name(), self.file(), self.column_names().join(", "))
    }
}

/// The cells of the only column that is chosen. One that `of` makes nothing of is an error, as no array holds it.
fn cells<T: Send>(rows: &Selection, of: impl Fn(Value<'_>) -> Option<T> + Send) -> assetq::Result<Vec<T>> {
    let column = *rows.numbers().first().expect("the caller has chosen one column");
    let mut cells = Vec::new();
    rows.each(|row: &dyn RowCursor| {
        cells.push(of(row.value(column)?).ok_or_else(|| {
            let what = "it is null, for which an array of whole numbers has no sign".into();
            assetq::Error::of_part(assetq::formats::ErrorKind::Unsupported { what }, "")
        })?);
        Ok(true)
    })?;
    Ok(cells)
}

/// The rows of a table or an answer as a `pyarrow.Table`.
fn arrow<'py>(rows: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    rows.py().import("pyarrow")?.call_method1("table", (rows,))
}

/// The rows that a notebook shows.
const SHOWN: usize = 20;

/// The first of `rows` as a table of HTML.
fn html(columns: &[Column], rows: &[OwnedRow]) -> String {
    let mut html = "<table><thead><tr>".to_owned();
    columns.iter().for_each(|column| cell(&mut html, "th", &column.name));
    html.push_str("</tr></thead><tbody>");
    for row in rows.iter().take(SHOWN) {
        html.push_str("<tr>");
        row.iter().for_each(|value| cell(&mut html, "td", &value.to_string()));
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>");
    if rows.len() > SHOWN {
        html.push_str(&format!("<p>The first {SHOWN} rows</p>"));
    }
    html
}

/// Adds a cell. Text of a file is no markup.
fn cell(html: &mut String, tag: &str, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    html.push_str(&format!("<{tag}>{text}</{tag}>"));
}

fn capsule(py: Python<'_>, reader: Box<dyn RecordBatchReader + Send>) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

fn schema_capsule<'py>(py: Python<'py>, columns: &[Column]) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = ArrowBatches::new(columns, |_| Ok(())).schema();
    let schema = FFI_ArrowSchema::try_from(&*schema).map_err(|e| simple("unsupported", e.to_string()))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// Record batches one after another.
#[pyclass(frozen, module = "assetq")]
pub struct BatchIterator {
    batches: Mutex<Portions<RecordBatch>>,
    file: String,
}

#[pymethods]
impl BatchIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let batch = py.detach(|| self.batches.lock().unwrap_or_else(PoisonError::into_inner).next());
        Ok(batch.transpose().or_raise(&self.file)?.map(Batch))
    }
}

/// A record batch, as a stream of Arrow.
#[pyclass(frozen, module = "assetq")]
pub struct Batch(RecordBatch);

#[pymethods]
impl Batch {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let schema = self.0.schema();
        capsule(py, Box::new(RecordBatchIterator::new(std::iter::once(Ok(self.0.clone())), schema)))
    }
}

/// Rows one after another.
#[pyclass(frozen, module = "assetq", name = "Rows")]
pub struct RowIterator {
    rows: RowForm,
    file: String,
    state: Mutex<State>,
}

/// The Python object that a row becomes.
enum RowForm {
    /// Dicts with these names.
    Dicts(Vec<Py<PyString>>),
    /// Tuples of this class, which knows the names.
    Tuples(Py<PyAny>),
}

struct State {
    from: Option<Portions<Vec<OwnedRow>>>,
    now: std::vec::IntoIter<OwnedRow>,
}

#[pymethods]
impl RowIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let at_hand = self.state.try_lock().ok().and_then(|mut state| state.now.next());
        let row = match at_hand {
            Some(row) => Some(row),
            // Waits without the lock of Python, as another thread that iterates may wait for that.
            None => {
                py.detach(|| self.state.lock().unwrap_or_else(PoisonError::into_inner).read()).or_raise(&self.file)?
            }
        };
        let Some(row) = row else { return Ok(None) };
        match &self.rows {
            RowForm::Dicts(names) => value::row(py, names, &row),
            RowForm::Tuples(class) => value::tuple(class.bind(py), &row),
        }
        .map(Some)
    }
}

impl State {
    /// The next row, of the next portion where this one is at its end.
    fn read(&mut self) -> assetq::Result<Option<OwnedRow>> {
        loop {
            if let Some(row) = self.now.next() {
                return Ok(Some(row));
            }
            match self.from.as_mut().and_then(Iterator::next) {
                Some(Ok(rows)) => self.now = rows.into_iter(),
                Some(Err(error)) => {
                    self.from = None;
                    return Err(error);
                }
                None => {
                    self.from = None;
                    return Ok(None);
                }
            }
        }
    }
}

/// The rows that answer a statement of SQL.
#[pyclass(frozen, module = "assetq")]
pub struct Answer {
    rows: RowBuffer,
    damage: Vec<(String, assetq::Error)>,
    damage_count: usize,
}

impl Answer {
    pub fn new(rows: RowBuffer, damage: Vec<(String, assetq::Error)>, damage_count: usize) -> Self {
        Self { rows, damage, damage_count }
    }
}

#[pymethods]
impl Answer {
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.rows.columns().iter().map(|column| &*column.name).collect()
    }

    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        value::columns(py, self.rows.columns())
    }

    #[getter]
    fn damage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.damage.iter().map(|(file, damage)| error::raised(file, damage)))
    }

    #[getter]
    fn damage_count(&self) -> usize {
        self.damage_count
    }

    fn __len__(&self) -> usize {
        self.rows.values().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let class = value::row_class(py, self.rows.columns())?.into_bound(py);
        let rows = self.rows.values().iter().map(|row| value::tuple(&class, row)).collect::<PyResult<Vec<_>>>()?;
        Ok(PyTuple::new(py, rows)?.try_iter()?.into_any())
    }

    /// The rows as dicts.
    fn dicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let names = value::names(py, self.rows.columns());
        let rows = self.rows.values().iter().map(|row| value::row(py, &names, row)).collect::<PyResult<Vec<_>>>()?;
        Ok(PyTuple::new(py, rows)?.try_iter()?.into_any())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let (schema, batches) = py
            .detach(|| {
                let mut batches = Vec::new();
                let mut sink = ArrowBatches::new(self.rows.columns(), |batch| {
                    batches.push(batch);
                    Ok(())
                });
                let schema = sink.schema();
                self.rows.values().iter().try_for_each(|row| sink.row(row))?;
                sink.finish()?;
                drop(sink);
                Ok((schema, batches))
            })
            .or_raise("SQL")?;
        capsule(py, Box::new(RecordBatchIterator::new(batches.into_iter().map(Ok), schema)))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, self.rows.columns())
    }

    /// The rows as a `pyarrow.Table`.
    fn arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        arrow(slf.as_any())
    }

    /// The rows as a `polars.DataFrame`.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// The rows as a `pandas.DataFrame`.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        arrow(slf.as_any())?.call_method0("to_pandas")
    }

    /// The first rows as a table of HTML, for notebooks.
    fn _repr_html_(&self) -> String {
        html(self.rows.columns(), self.rows.values())
    }

    fn __repr__(&self) -> String {
        format!("<assetq.Answer of {} rows: {}>", self.rows.values().len(), self.column_names().join(", "))
    }
}
