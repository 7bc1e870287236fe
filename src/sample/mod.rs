//! Builders that write valid files of every format: for `assetq sample`, for tests and for benches.
//!
//! They take values from a test and write them as the format's own tools do. They are not for edited game files.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    clippy::expect_used
)]

mod armor;
pub mod bwdb;
mod catalog;
pub mod dds;
pub mod gameparams;
pub mod geometry;
pub mod gtex;
pub mod pickle;
pub mod prototypes;
pub mod rusty_hearts;
pub mod se2;
pub mod ship;
pub mod space;
pub mod vrb;
pub mod wdata;
pub mod wdb;
pub mod white;
pub mod wows;
mod writer;

pub use catalog::{ALTERED, FILES, FOLDERS, Make, MakeFolder, Put, Stopped};
pub use writer::Writer;

/// The size of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// A few kilobytes.
    Small,
    /// As large as the games' own files.
    Full,
}
