//! A zero-copy, memory-mapped query engine for five families of game-asset files.

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

pub mod bwdb;
pub mod bytes;
#[cfg(feature = "cli")]
pub mod cli;
pub mod codec;
pub mod diff;
pub mod error;
#[cfg(feature = "export")]
pub mod export;
#[cfg(feature = "find")]
pub mod find;
pub mod format;
pub mod geometry;
mod lazy;
pub mod refs;
pub mod report;
#[cfg(feature = "sample")]
pub mod sample;
pub mod source;
#[cfg(feature = "sql")]
pub mod sql;
pub mod table;
pub mod vrb;
pub mod wdata;
pub mod wdb;

pub use error::{Error, ErrorKind, Result};
pub use format::{Asset, Format, Reader};
pub use lazy::Lazy;
pub use source::Source;
