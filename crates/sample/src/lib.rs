//! Builders that write valid files of every format: for `assetq sample`, for tests and for benches.
//!
//! They take values from a test and write them as the format's own tools do. They are not for edited game files.

#![allow(missing_docs, reason = "an inner package: its items are public for the others")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    clippy::expect_used
)]

pub mod dds;
#[cfg(feature = "ff13")]
mod ff13;
mod make;
#[cfg(feature = "rusty-hearts")]
pub mod rusty_hearts;
#[cfg(feature = "vrage")]
mod vrage;
#[cfg(feature = "wows")]
pub mod wows;
mod writer;

#[cfg(feature = "ff13")]
pub use ff13::{gtex, wdb, white};
pub use make::{Make, MakeFolder, Put, Size, Stopped};
#[cfg(feature = "rusty-hearts")]
pub use rusty_hearts::wdata;
#[cfg(feature = "vrage")]
pub use vrage::{se2, vrb};
#[cfg(feature = "wows")]
pub use wows::{bwdb, gameparams, geometry, pickle, prototypes, ship, space, text_models};
pub use writer::{Writer, deflate};

use assetq_core::Format;

/// A list of the entries whose condition, such as a game's feature, is met.
macro_rules! list {
    ($($condition:meta: [$($entry:expr),* $(,)?]),* $(,)?) => { &[$($(#[cfg($condition)] $entry,)*)*] };
}

/// Files that other files of [`FILES`] need beside them, and their builders.
pub const BESIDE: &[(&str, Make)] = list! {
    feature = "ff13": [("model.imgb", gtex::demo_imgb)],
};

/// A file of every format: its name, its format, and its builder.
pub const FILES: &[(&str, Format, Make)] = list! {
    feature = "wows": [
        ("assets.bin", assetq_wows::BWDB, bwdb::demo),
        ("models.bin", assetq_wows::MODELS, space::models_bin),
        ("space.bin", assetq_wows::SPACE, space::space_bin),
        ("ship.geometry", assetq_wows::GEOMETRY, geometry::demo),
        ("ship.splash", assetq_wows::SPLASH, geometry::demo_splash),
        ("turret.visual", assetq_wows::VISUAL, text_models::demo_visual),
        ("0director.visual", assetq_wows::VISUAL, text_models::demo_old_visual),
        ("turret.model", assetq_wows::MODEL, text_models::demo_model),
        ("turret.mfm", assetq_wows::MFM, text_models::demo_material),
        ("RootModels.info", assetq_wows::INFO, text_models::demo_info),
    ],
    all(): [("hull_a.dds", Format::of::<assetq_scene::dds::Dds>(), dds::demo)],
    feature = "ff13": [
        ("model.trb", assetq_ff13::GTEX, gtex::demo),
        ("sheet.wdb", assetq_ff13::WDB, wdb::demo),
        ("pack.bin", assetq_ff13::WPD, wdb::demo_pack),
    ],
    feature = "rusty-hearts": [("town.wdata", assetq_rusty_hearts::WDATA, wdata::demo)],
    feature = "vrage": [("savegame.vrb", assetq_vrage::VRB, vrb::demo)],
    feature = "wows": [
        ("GameParams.data", assetq_wows::GAMEPARAMS, gameparams::demo),
        ("global.mo", assetq_wows::MO, gameparams::demo_mo),
    ],
};

/// A folder of every format that reads one as a whole: its name, its format, and its builder.
pub const FOLDERS: &[(&str, Format, MakeFolder)] = list! {
    feature = "wows": [
        ("wows", assetq_wows::WOWS, |seed, size, write| wows::game(seed, size, write)),
        ("wows-ship", assetq_wows::WOWS, |_, _, write| ship::folder(write)),
    ],
    feature = "ff13": [("ff13", assetq_ff13::WHITE, |seed, size, write| {
        make::each(write, |write| drop(white::folder(seed, size, assetq_ff13::white::GameKind::First, write)))
    })],
    feature = "rusty-hearts": [("rusty-hearts", assetq_rusty_hearts::RUSTY_HEARTS, |seed, size, write| {
        make::each(write, |write| drop(rusty_hearts::folder(seed, size, &assetq_rusty_hearts::game_folder::layout::KEY, write)))
    })],
    feature = "vrage": [("se2", assetq_vrage::SE2, |seed, size, write| {
        make::each(write, |write| drop(se2::folder(seed, size, write)))
    })],
};

/// A later build of the `assets.bin` of the same seed; [`bwdb::altered`] lists the differences.
#[cfg(feature = "wows")]
pub const ALTERED: (&str, Format, Make) =
    ("altered.bin", assetq_wows::BWDB, |seed, size| bwdb::altered(seed, size).bytes);
