//! Tests of FINAL FANTASY XIII sheets and packs: reading, damage, and the command line.
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

mod command;
mod damage;
mod reader;
mod sheets;
