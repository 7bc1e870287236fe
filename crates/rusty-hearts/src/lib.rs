//! Rusty Hearts: a part of `assetq`, which programs use instead. It changes without notice.

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

use assetq_core::{
    Format, archive, atomic_file, budget, bytes, codec, compare, error, lazy, options, paths, reader, report, schema,
    source, table, threads, writable,
};
use assetq_scene as scene;

pub mod game_folder;
pub mod wdata;

pub const WDATA: Format = Format::of::<wdata::Map>();
/// The game's folder, or its list `f00X.dat`.
pub const RUSTY_HEARTS: Format = Format::of::<game_folder::RustyHeartsArchive>();

/// All formats of this game.
pub const FORMATS: &[Format] = &[WDATA, RUSTY_HEARTS];
