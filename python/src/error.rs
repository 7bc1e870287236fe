//! Errors as `assetq.Error`, with their kind, part, offset and file.

use assetq::formats::ErrorKind;
use assetq::sql::Fault;
use pyo3::PyErr;
use pyo3::prelude::*;

mod class {
    pyo3::import_exception!(assetq._types, Error);
    pyo3::import_exception!(assetq._types, MissingFileError);
    pyo3::import_exception!(assetq._types, NotFoundError);
}

/// The class of an exception.
#[derive(Clone, Copy)]
enum Class {
    Error,
    /// Also a `FileNotFoundError`.
    MissingFile,
    /// Also a `KeyError`.
    NotFound,
}

impl Class {
    fn of(error: &ErrorKind) -> Self {
        match error {
            ErrorKind::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => Self::MissingFile,
            ErrorKind::NotFound { .. } => Self::NotFound,
            _ => Self::Error,
        }
    }
}

/// The exception for `error` in `file`.
pub fn raised(file: &str, error: &assetq::Error) -> PyErr {
    raised_as(Class::of(error.kind()), file, error)
}

fn raised_as(class: Class, file: &str, error: &assetq::Error) -> PyErr {
    let message = if file.is_empty() { error.to_string() } else { format!("{file}: {error}") };
    new(class, message, error.kind().name(), error.part(), error.offset(), file)
}

/// An exception of this kind that concerns no place in a file.
pub fn simple(kind: &'static str, message: impl Into<String>) -> PyErr {
    let class = if kind == "not_found" { Class::NotFound } else { Class::Error };
    new(class, message.into(), kind, "", None, "")
}

/// The exception for a file that an archive does not have.
pub fn missing_file(file: &str, path: &str) -> PyErr {
    new(Class::MissingFile, format!("{file}: no file {path:?}"), "not_found", "", None, path)
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

fn new(class: Class, message: String, kind: &'static str, part: &str, offset: Option<u64>, file: &str) -> PyErr {
    let file = Some(file).filter(|file| !file.is_empty()).map(str::to_owned);
    let arguments = (message, kind, part.to_owned(), offset, file);
    match class {
        Class::Error => class::Error::new_err(arguments),
        Class::MissingFile => class::MissingFileError::new_err(arguments),
        Class::NotFound => class::NotFoundError::new_err(arguments),
    }
}

/// Results whose errors become exceptions.
pub trait OrRaise<T> {
    /// The value, or the exception that concerns `file`.
    fn or_raise(self, file: &str) -> PyResult<T>;

    /// The value, or the exception that concerns `file`, which may be a path that does not exist.
    fn or_raise_missing_file(self, file: &str) -> PyResult<T>;

    /// The value, or the exception that concerns `file` and a key that it does not have.
    fn or_raise_missing_key(self, file: &str) -> PyResult<T>;
}

impl<T> OrRaise<T> for assetq::Result<T> {
    fn or_raise(self, file: &str) -> PyResult<T> {
        self.map_err(|error| raised(file, &error))
    }

    fn or_raise_missing_file(self, file: &str) -> PyResult<T> {
        self.map_err(|error| match error.kind() {
            ErrorKind::NotFound { .. } | ErrorKind::NotInstalled { .. } => raised_as(Class::MissingFile, file, &error),
            _ => raised(file, &error),
        })
    }

    fn or_raise_missing_key(self, file: &str) -> PyResult<T> {
        self.map_err(|error| match error.kind() {
            ErrorKind::Syntax { .. } => raised_as(Class::NotFound, file, &error),
            _ => raised(file, &error),
        })
    }
}

/// Errors as a list of exceptions that are not raised.
pub fn list<'e>(file: &str, errors: impl IntoIterator<Item = &'e assetq::Error>) -> Vec<PyErr> {
    errors.into_iter().map(|error| raised(file, error)).collect()
}
