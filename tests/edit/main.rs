//! Tests of writing: each format's writer against a plain reader of its bytes, and the command.
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

mod command;
mod made;
mod places;
mod sql;
mod wdata;
mod wdb;
