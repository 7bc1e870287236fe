//! Shapes and textures of any format: what a format offers of them, figures of them, and the files that are written of them.
//!
//! An inner package: programs use the package `assetq`.

#![allow(missing_docs, missing_debug_implementations, reason = "an inner package: its items are public for the others")]
#![allow(clippy::expect_used, reason = "for what no input can reach: each message states why")]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::cast_possible_truncation
    )
)]

// Short paths for the code of this package.
use assetq_core::{
    archive, asset, atomic_file, bytes, codec, error, escape, options, paths, reader, report, schema, source, table,
    writable,
};

pub mod beside;
mod colours;
pub mod cube;
pub mod dds;
mod drawing;
pub mod figure;
pub mod glb;
pub mod matrix;
pub mod model;
pub mod obj;
pub mod outline;
pub mod plates;
pub mod svg;
pub mod texture;
pub mod texture_files;
pub mod two_versions;
pub mod vector;

pub use colours::{colour, colour_of_id, linear_channel};
pub use drawing::*;

/// The result of writing a drawing.
fn written<T>(result: std::io::Result<T>) -> error::Result<T> {
    result.map_err(|error| error::Error::io("cannot write", error))
}
