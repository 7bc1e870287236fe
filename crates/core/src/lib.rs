//! The inner part of `assetq`: bytes, sources, errors, codecs, tables, and the traits of formats, archives and addresses.
//!
//! It knows no game. It changes without notice: programs use the package `assetq`.

#![allow(missing_docs, missing_debug_implementations, reason = "an inner package: its items are public for the others")]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::cast_possible_truncation
    )
)]

pub mod archive;
pub mod asset;
pub mod atomic_file;
pub mod budget;
pub mod bytes;
pub mod codec;
pub mod compare;
pub mod container;
pub mod dates;
pub mod error;
pub mod escape;
pub mod id;
pub mod lazy;
mod lfs;
pub mod openable;
pub mod options;
pub mod paths;
pub mod reader;
pub mod relations;
pub mod report;
pub mod schema;
pub mod source;
pub mod suggest;
pub mod table;
pub mod threads;
pub mod writable;
pub mod write;

pub use asset::{Asset, BuiltIn, Format};
pub use error::{Error, ErrorKind, Result};
pub use inventory;
pub use openable::Openable;
pub use options::Options;
pub use reader::{FileFormat, Reader};
pub use source::Source;
