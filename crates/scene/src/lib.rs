//! Shapes and textures of any format: what a format offers of them, figures of them, and the files that are written of them.
//!
//! An inner package: programs use the package `assetq`.

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

// Short paths for the code of this package.
use assetq_core::{
    archive, asset, bytes, codec, error, options, paths, reader, relations, report, schema, source, table,
};

pub mod beside;
mod colours;
pub mod dds;
mod drawing;
pub mod figure;
pub mod outline;
pub mod plates;
pub mod texture;
pub mod texture_files;
pub mod two_versions;

pub use colours::{colour, colour_of_id};
pub use drawing::*;
