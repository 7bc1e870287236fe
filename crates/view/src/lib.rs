//! Pages of tables and shapes: a part of `assetq`, which programs use instead. It changes without notice.

#![allow(missing_docs, missing_debug_implementations, reason = "an inner package: its items are public for the others")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "numbers of rows, cells, vertices and pixels in memory, which readers have checked"
)]
#![allow(clippy::expect_used, reason = "for what no input can reach: each message states why")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::cast_possible_truncation))]

#[cfg(test)]
use assetq_core::{Asset, Source};
use assetq_core::{Error, codec, error, escape, reader, table, threads, write};
use assetq_scene::{self as scene, texture};

pub mod page;

#[cfg(test)]
assetq_core::inventory::submit! {
    assetq_core::BuiltIn { formats: &[assetq_rusty_hearts::FORMATS, assetq_wows::FORMATS], prefixes: &[], archive_tables: &[] }
}
