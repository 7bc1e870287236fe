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

mod ask;
mod asset;
pub mod bytes;
#[cfg(feature = "cli")]
pub mod cli;
pub mod codec;
pub mod error;
mod formats;
pub mod id;
mod lazy;
pub mod reader;
pub mod report;
#[cfg(feature = "sample")]
pub mod sample;
#[cfg(feature = "export")]
pub mod scene;
pub mod source;
pub mod table;
#[cfg(feature = "export")]
pub mod write;

#[cfg(feature = "find")]
pub use ask::find;
#[cfg(feature = "sql")]
pub use ask::sql;
pub use ask::{diff, refs};
pub use asset::{Asset, Format};
pub use error::{Error, ErrorKind, Result};
pub use formats::{bwdb, geometry, vrb, wdata, wdb};
pub use lazy::Lazy;
pub use reader::{FileFormat, Options, Reader};
pub use source::Source;
