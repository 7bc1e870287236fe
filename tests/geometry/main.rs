//! Tests of `.geometry` and `.splash`: reading, drawings, and scenes of several files.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    missing_docs
)]
#![cfg(feature = "sample")]

#[cfg(feature = "edit")]
#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "edit")]
mod edit;
mod export;
mod reader;
mod scene;
