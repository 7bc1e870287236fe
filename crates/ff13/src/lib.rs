//! FINAL FANTASY XIII trilogy: a part of `assetq`, which programs use instead. It changes without notice.

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
    Format, archive, atomic_file, budget, bytes, codec, error, lazy, options, paths, reader, report, schema, source,
    table, threads, writable,
};
use assetq_scene::texture;

pub mod gtex;
mod text;
pub mod wdb;
pub mod white;

pub const WDB: Format = Format::of::<wdb::Sheet>();
/// Pack that holds no sheet.
pub const WPD: Format = Format::of::<wdb::Pack>();
/// Textures, `.trb` and `.txbh` with `.imgb`.
pub const GTEX: Format = Format::of::<gtex::Textures>();
/// Data folder, or a list `filelist*.bin`.
pub const WHITE: Format = Format::of::<white::WhiteArchive>();

/// All formats of this game.
pub const FORMATS: &[Format] = &[WDB, WPD, GTEX, WHITE];
