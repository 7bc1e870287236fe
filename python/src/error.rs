//! Errors as `assetq.Error`, with their kind, part, offset and file.

use assetq::sql::Fault;
use pyo3::PyErr;
use pyo3::prelude::*;

mod class {
    pyo3::import_exception!(assetq._types, Error);
}

/// The exception for `error` in `file`.
pub fn raised(file: &str, error: &assetq::Error) -> PyErr {
    let message = if file.is_empty() { error.to_string() } else { format!("{file}: {error}") };
    new(message, error.kind().name(), error.part(), error.offset(), file)
}

/// An exception of this kind that concerns no place in a file.
pub fn simple(kind: &'static str, message: impl Into<String>) -> PyErr {
    new(message.into(), kind, "", None, "")
}

/// The exception for a statement without an answer.
pub fn of_sql(fault: &Fault) -> PyErr {
    match fault {
        Fault::Damaged { file, error } => raised(file, error),
        Fault::Database(_) => simple("damaged", format!("SQL: {fault}")),
        Fault::System(_) | Fault::Output(_) => simple("io", format!("SQL: {fault}")),
        _ => simple("syntax", format!("SQL: {fault}")),
    }
}

fn new(message: String, kind: &'static str, part: &str, offset: Option<u64>, file: &str) -> PyErr {
    let file = Some(file).filter(|file| !file.is_empty()).map(str::to_owned);
    class::Error::new_err((message, kind, part.to_owned(), offset, file))
}

/// Results whose errors become exceptions.
pub trait OrRaise<T> {
    /// The value, or the exception that concerns `file`.
    fn or_raise(self, file: &str) -> PyResult<T>;
}

impl<T> OrRaise<T> for assetq::Result<T> {
    fn or_raise(self, file: &str) -> PyResult<T> {
        self.map_err(|error| raised(file, &error))
    }
}

/// Errors as a list of exceptions that are not raised.
pub fn list<'e>(file: &str, errors: impl IntoIterator<Item = &'e assetq::Error>) -> Vec<PyErr> {
    errors.into_iter().map(|error| raised(file, error)).collect()
}
