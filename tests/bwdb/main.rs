//! Tests of prototype databases: reading, records of all forms, and references.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    missing_docs
)]
#![cfg(feature = "sample")]

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "edit")]
mod edit;
mod reader;
mod records;
mod references;
#[cfg(feature = "edit")]
#[path = "../common/tree.rs"]
mod tree;
