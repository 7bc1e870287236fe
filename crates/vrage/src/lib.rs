//! Space Engineers 2: a part of `assetq`, which programs use instead. It changes without notice.

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

#[cfg(test)]
use assetq_core::Source;
use assetq_core::{
    Format, archive, budget, bytes, codec, compare, error, id, lazy, options, paths, reader, relations, report, schema,
    source, table, threads, writable,
};

pub mod se2;
pub mod vrb;

pub const VRB: Format = Format::of::<vrb::VrbArchive>();
/// Content folder, or the game's folder that has one.
pub const SE2: Format = Format::of::<se2::Se2Archive>();

/// All formats of this game.
pub const FORMATS: &[Format] = &[VRB, SE2];

#[cfg(test)]
assetq_core::inventory::submit! {
    assetq_core::BuiltIn { formats: &[FORMATS], prefixes: &[], archive_tables: &[] }
}
