//! World of Warships: a part of `assetq`, which programs use instead. It changes without notice.

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
    Error, ErrorKind, Format, archive, asset, budget, bytes, codec, compare, error, id, lazy, options, paths, reader,
    relations, report, schema, source, table, threads, writable,
};
use assetq_scene::{self as scene, texture, texture_files};

pub mod armor;
pub mod bwdb;
mod camouflage;
pub mod game_folder;
pub mod gameparams;
pub mod geometry;
mod hole;
mod materials;
pub mod mo;
pub mod models;
pub mod packed_string;
mod pointers;
pub mod ship;
pub mod text_models;

/// The error for a file of World of Warships: Legends that begins at `view`. No real file was ever at hand to check a reader with.
fn legends(view: bytes::View<'_>) -> Error {
    view.error(ErrorKind::Unsupported { what: "a file of World of Warships: Legends".into() })
}

/// The last component of a path in the game.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Prototype database, `assets.bin`.
pub const BWDB: Format = Format::of::<bwdb::Database>();
/// Geometry, `.geometry`.
pub const GEOMETRY: Format = Format::of::<geometry::Geometry>();
/// Merged models of a space, `models.bin`.
pub const MODELS: Format = Format::of::<bwdb::Models>();
/// Instances of a space, `space.bin`.
pub const SPACE: Format = Format::of::<bwdb::Space>();
/// Hit-location boxes, `.splash`.
pub const SPLASH: Format = Format::of::<geometry::Splash>();
/// Material of a mod, `.mfm`.
pub const MFM: Format = Format::of::<text_models::Material>();
/// Visual of a mod, `.visual`.
pub const VISUAL: Format = Format::of::<text_models::VisualFile>();
/// Model of a mod, `.model`.
pub const MODEL: Format = Format::of::<text_models::ModelFile>();
/// List of the models of a ship, `.info`.
pub const INFO: Format = Format::of::<text_models::ModelList>();
/// Parameters, `GameParams.data`.
pub const GAMEPARAMS: Format = Format::of::<gameparams::Params>();
/// Texts of the game, GNU MO.
pub const MO: Format = Format::of::<mo::Catalog>();
/// Archive: the game's folder, or an `.idx` of it.
pub const WOWS: Format = Format::of::<game_folder::WowsArchive>();

/// All formats of this game.
pub const FORMATS: &[Format] = &[BWDB, GEOMETRY, MODELS, SPACE, SPLASH, MFM, VISUAL, MODEL, INFO, GAMEPARAMS, MO, WOWS];

#[cfg(test)]
assetq_core::inventory::submit! {
    assetq_core::BuiltIn { formats: &[FORMATS], prefixes: &[], archive_tables: &[] }
}
