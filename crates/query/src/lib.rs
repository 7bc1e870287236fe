//! Queries of any format, through its tables: a part of `assetq`, which programs use instead. It changes without notice.

#![allow(missing_docs, missing_debug_implementations, reason = "an inner package: its items are public for the others")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "numbers of rows, columns and bytes in memory, which readers have checked"
)]
#![allow(clippy::expect_used, reason = "for what no input can reach: each message states why")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::cast_possible_truncation))]

use assetq_core::{
    Source, archive, asset, atomic_file, codec, compare, error, escape, id, options, paths, reader, relations, report,
    source, suggest, table, threads, writable,
};

pub mod diff;
pub mod edit;
pub mod files;
pub mod find;
mod hash_index;
pub mod history;
pub mod lines;
pub mod refs;
mod regex;
#[cfg(feature = "sql")]
pub mod sql;
pub mod write;

#[cfg(test)]
assetq_core::inventory::submit! {
    assetq_core::BuiltIn { formats: &[assetq_ff13::FORMATS, assetq_wows::FORMATS], prefixes: &[], archive_tables: &[] }
}
