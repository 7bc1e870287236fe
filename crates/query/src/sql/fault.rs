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
