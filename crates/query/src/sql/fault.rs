//! Why a statement has no answer.

use crate::error::{Error, ErrorKind};
use rusqlite::ErrorCode;
use std::{fmt, io};

/// Why a statement has no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Fault {
    /// An error in the statement.
    Statement {
        /// SQLite's message.
        message: String,
        /// A place in the text of all statements.
        at: Option<usize>,
    },
    /// A file is damaged where the statement reads it.
    Damaged {
        /// The file.
        file: String,
        /// The damage.
        error: Error,
    },
    /// A database of SQLite's that the statement reads is damaged.
    Database(String),
    /// The system refused a request of SQLite: to read a database, or to store intermediate rows.
    System(String),
    /// The new database cannot be written.
    Output(String),
}

impl Fault {
    pub(super) fn message(message: impl Into<String>) -> Self {
        Self::Statement { message: message.into(), at: None }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Statement { message, .. }
            | Self::Database(message)
            | Self::System(message)
            | Self::Output(message) => f.write_str(message),
            Self::Damaged { file, error } => write!(f, "{file}: {error}"),
        }
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let kind = match fault {
            Fault::Damaged { file, error } => return error.context(file),
            Fault::Statement { message, .. } => ErrorKind::Syntax { what: message.into() },
            Fault::Database(message) => ErrorKind::Damaged { what: message.into() },
            Fault::System(message) => return Self::io("SQL", io::Error::other(message)),
            Fault::Output(message) => return Self::io("cannot write", io::Error::other(message)),
        };
        Self::of_part(kind, "SQL")
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqlInputError { error, msg, .. } if is_of_database(error.code) => Self::Database(msg),
            rusqlite::Error::SqlInputError { msg, offset, .. } => {
                Self::Statement { message: msg, at: usize::try_from(offset).ok() }
            }
            rusqlite::Error::SqliteFailure(code, message) => {
                let said = message.unwrap_or_else(|| code.to_string());
                match code.code {
                    code if is_of_system(code) => Self::System(said),
                    code if is_of_database(code) => Self::Database(said),
                    _ => Self::message(said),
                }
            }
            other => Self::message(other.to_string()),
        }
    }
}

/// Whether an error is the system's rather than one of the statement.
fn is_of_system(code: ErrorCode) -> bool {
    use ErrorCode::{CannotOpen, DiskFull, OutOfMemory, PermissionDenied, SystemIoFailure};
    matches!(code, CannotOpen | DiskFull | OutOfMemory | PermissionDenied | SystemIoFailure)
}

/// Whether an error is damage of a database rather than an error of the statement.
fn is_of_database(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    /// A program that catches errors of the library tells these apart by their kind.
    #[test]
    fn a_fault_is_an_error_with_its_message() {
        let damage = || Error::of_part(ErrorKind::damaged("a text that is no text"), "records");
        for (fault, kind, shown) in [
            (Fault::message("no such column: x"), "syntax", "SQL: no such column: x"),
            (
                Fault::Damaged { file: "a.wdb".into(), error: damage() },
                "damaged",
                "a.wdb: records: a text that is no text",
            ),
            (
                Fault::Database("database disk image is malformed".into()),
                "damaged",
                "SQL: database disk image is malformed",
            ),
            (Fault::System("disk I/O error".into()), "io", "SQL: disk I/O error"),
            (Fault::Output("database or disk is full".into()), "io", "cannot write: database or disk is full"),
        ] {
            assert!(shown.ends_with(&fault.to_string()) || shown.starts_with("a.wdb"), "{fault}");
            let error = Error::from(fault);
            assert_eq!((error.kind().name(), &*error.to_string()), (kind, shown));
        }
    }

    #[test]
    fn errors_of_sqlite_are_of_the_system_of_a_database_or_of_the_statement() {
        for (code, expected) in [
            (ffi::SQLITE_FULL, "System(\"why\")"),
            (ffi::SQLITE_IOERR, "System(\"why\")"),
            (ffi::SQLITE_NOMEM, "System(\"why\")"),
            (ffi::SQLITE_CANTOPEN, "System(\"why\")"),
            (ffi::SQLITE_CORRUPT, "Database(\"why\")"),
            (ffi::SQLITE_NOTADB, "Database(\"why\")"),
            (ffi::SQLITE_CONSTRAINT, "Statement { message: \"why\", at: None }"),
        ] {
            let failure = rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some("why".into()));
            assert_eq!(format!("{:?}", Fault::from(failure)), expected);
        }
        let other = Fault::from(rusqlite::Error::QueryReturnedNoRows);
        assert_eq!(other.to_string(), "Query returned no rows");
    }
}
