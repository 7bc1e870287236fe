//! Tests of the command line.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    missing_docs
)]
#![cfg(feature = "cli")]

#[path = "../common/mod.rs"]
mod common;

mod commands;
mod export;
mod golden;
mod limits;
mod outputs;
mod people;
mod readme;
mod sql;
