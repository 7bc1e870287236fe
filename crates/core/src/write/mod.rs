//! Values as text and as JSON.

pub mod json;
pub mod plain;

use crate::error::Error;

/// The error of an output that cannot be written.
pub fn cannot_write(error: std::io::Error) -> Error {
    Error::io("cannot write", error)
}
