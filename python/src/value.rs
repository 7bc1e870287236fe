//! Values of the engine as objects of Python.
//!
//! Ids and GUIDs are text in the one form that all outputs have, floats the double of the same value, maps dicts and
//! lists lists.

use assetq::table::{Column, Value};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::borrow::Cow;

/// `value` as an object.
pub fn object<'py>(py: Python<'py>, value: &Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Int(number) => number.into_pyobject(py)?.into_any(),
        Value::Uint(number) => number.into_pyobject(py)?.into_any(),
        Value::F32(number) => PyFloat::new(py, f64::from(*number)).into_any(),
        Value::F64(number) => PyFloat::new(py, *number).into_any(),
        Value::Text(given) => text(py, given),
        Value::List(values) => {
            let values = values.iter().map(|value| object(py, value)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, values)?.into_any()
        }
        Value::Map(values) => dict(py, values.iter().map(|(name, value)| (Cow::Borrowed(&**name), value)))?.into_any(),
        other => text(py, &other.to_string()),
    })
}

fn text<'py>(py: Python<'py>, text: &str) -> Bound<'py, PyAny> {
    PyString::new(py, text).into_any()
}

/// Names and values as a dict. A repeated name gets a number at its end, so that no value is lost.
pub fn dict<'py, 'v>(
    py: Python<'py>,
    values: impl IntoIterator<Item = (Cow<'v, str>, &'v Value<'v>)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in values {
        let mut key = name.clone();
        let mut again = 0u64;
        while dict.contains(&*key)? {
            again = again.saturating_add(1);
            key = format!("{name}_{again}").into();
        }
        dict.set_item(&*key, object(py, value)?)?;
    }
    Ok(dict)
}

/// The class of rows with these columns: a tuple whose cells have names, too.
pub fn row_class(py: Python<'_>, columns: &[Column]) -> PyResult<Py<PyAny>> {
    let names = PyTuple::new(py, names(py, columns))?;
    Ok(class(py, "Row")?.call_method1("of_columns", (names,))?.unbind())
}

/// The cells of a row as a tuple of the class that [`row_class`] makes.
pub fn tuple<'py>(class: &Bound<'py, PyAny>, row: &[Value<'_>]) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let cells = row.iter().map(|cell| object(py, cell)).collect::<PyResult<Vec<_>>>()?;
    class.call1((PyTuple::new(py, cells)?,))
}

/// A row under the names of its columns, which all differ.
pub fn row<'py>(py: Python<'py>, names: &[Py<PyString>], row: &[Value<'_>]) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    for (name, cell) in names.iter().zip(row) {
        dict.set_item(name, object(py, cell)?)?;
    }
    Ok(dict.into_any())
}

/// The names of columns, made once for all rows.
pub fn names(py: Python<'_>, columns: &[Column]) -> Vec<Py<PyString>> {
    columns.iter().map(|column| PyString::intern(py, &column.name).unbind()).collect()
}

/// Columns as a list of `assetq.Column`.
pub fn columns<'py>(py: Python<'py>, columns: &[Column]) -> PyResult<Bound<'py, PyList>> {
    let made = |column: &Column| {
        let word = |name: String| name.to_ascii_lowercase();
        let (kind, role) = (word(format!("{:?}", column.kind)), word(format!("{:?}", column.role)));
        class(py, "Column")?.call1((&*column.name, kind, role))
    };
    PyList::new(py, columns.iter().map(made).collect::<PyResult<Vec<_>>>()?)
}

/// A class of the module `assetq._types`, where records are declared.
pub fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("assetq._types").map(Bound::unbind))?;
    module.bind(py).getattr(name)
}

/// A whole number that is an id, or one of the texts that an id is written as.
pub fn id(given: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    match given.cast::<PyInt>() {
        Ok(number) => number.extract().map(Some),
        Err(_) => Ok(assetq::formats::id::parse(&given.extract::<Cow<'_, str>>()?)),
    }
}
