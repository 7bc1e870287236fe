//! Builders that write valid files of every format: for `assetq sample`, for tests and for benches.
//!
//! They take values from a test and write them as the format's own tools do. They are not for edited game files.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    clippy::expect_used
)]

#[cfg(feature = "wows")]
mod armor;
#[cfg(feature = "wows")]
pub mod bwdb;
pub mod dds;
#[cfg(feature = "wows")]
pub mod gameparams;
#[cfg(feature = "wows")]
pub mod geometry;
#[cfg(feature = "ff13")]
pub mod gtex;
mod make;
#[cfg(feature = "wows")]
pub mod pickle;
#[cfg(feature = "wows")]
pub mod prototypes;
#[cfg(feature = "rusty-hearts")]
pub mod rusty_hearts;
#[cfg(feature = "vrage")]
pub mod se2;
#[cfg(feature = "wows")]
pub mod ship;
#[cfg(feature = "wows")]
pub mod space;
#[cfg(feature = "wows")]
pub mod text_models;
#[cfg(feature = "wows")]
pub mod uber;
#[cfg(feature = "vrage")]
pub mod vrb;
#[cfg(feature = "rusty-hearts")]
pub mod wdata;
#[cfg(feature = "ff13")]
pub mod wdb;
#[cfg(feature = "ff13")]
pub mod white;
#[cfg(feature = "wows")]
pub mod wows;
mod writer;

pub use make::{Make, MakeFolder, Put, Size, Stopped};
pub use writer::Writer;

use assetq_core::Format;
#[cfg(feature = "ff13")]
use assetq_ff13::white::GameKind;
#[cfg(feature = "rusty-hearts")]
use assetq_rusty_hearts::rusty_hearts::layout::KEY;
#[cfg(any(feature = "ff13", feature = "rusty-hearts", feature = "vrage"))]
use make::each;

/// Files that other files of [`FILES`] need beside them, and their builders.
pub const BESIDE: &[(&str, Make)] = &[
    #[cfg(feature = "ff13")]
    ("model.imgb", gtex::demo_imgb),
    #[cfg(feature = "wows")]
    ("prototypes.data", uber::demo_data),
];

/// A file of every format: its name, its format, and its builder.
pub const FILES: &[(&str, Format, Make)] = &[
    #[cfg(feature = "wows")]
    ("assets.bin", assetq_wows::BWDB, bwdb::demo),
    #[cfg(feature = "wows")]
    ("models.bin", assetq_wows::MODELS, space::models_bin),
    #[cfg(feature = "wows")]
    ("space.bin", assetq_wows::SPACE, space::space_bin),
    #[cfg(feature = "wows")]
    ("prototypes.index.data", assetq_wows::PROTOTYPES, uber::demo_index),
    #[cfg(feature = "wows")]
    ("ship.geometry", assetq_wows::GEOMETRY, geometry::demo),
    #[cfg(feature = "wows")]
    ("ship.splash", assetq_wows::SPLASH, geometry::demo_splash),
    #[cfg(feature = "wows")]
    ("turret.visual", assetq_wows::VISUAL, text_models::demo_visual),
    #[cfg(feature = "wows")]
    ("0director.visual", assetq_wows::VISUAL, text_models::demo_old_visual),
    #[cfg(feature = "wows")]
    ("turret.model", assetq_wows::MODEL, text_models::demo_model),
    #[cfg(feature = "wows")]
    ("turret.mfm", assetq_wows::MFM, text_models::demo_material),
    #[cfg(feature = "wows")]
    ("RootModels.info", assetq_wows::INFO, text_models::demo_info),
    ("hull_a.dds", Format::of::<assetq_core::dds::Dds>(), dds::demo),
    #[cfg(feature = "ff13")]
    ("model.trb", assetq_ff13::GTEX, gtex::demo),
    #[cfg(feature = "ff13")]
    ("sheet.wdb", assetq_ff13::WDB, wdb::demo),
    #[cfg(feature = "ff13")]
    ("pack.bin", assetq_ff13::WPD, wdb::demo_pack),
    #[cfg(feature = "rusty-hearts")]
    ("town.wdata", assetq_rusty_hearts::WDATA, wdata::demo),
    #[cfg(feature = "vrage")]
    ("savegame.vrb", assetq_vrage::VRB, vrb::demo),
    #[cfg(feature = "wows")]
    ("GameParams.data", assetq_wows::GAMEPARAMS, gameparams::demo),
    #[cfg(feature = "wows")]
    ("global.mo", assetq_wows::MO, gameparams::demo_mo),
];

/// A folder of every format that reads one as a whole: its name, its format, and its builder.
pub const FOLDERS: &[(&str, Format, MakeFolder)] = &[
    #[cfg(feature = "wows")]
    ("wows", assetq_wows::WOWS, |seed, size, write| wows::game(seed, size, write)),
    #[cfg(feature = "wows")]
    ("wows-ship", assetq_wows::WOWS, |_, _, write| ship::folder(write)),
    #[cfg(feature = "ff13")]
    ("ff13", assetq_ff13::WHITE, |seed, size, write| {
        each(write, |write| drop(white::folder(seed, size, GameKind::First, write)))
    }),
    #[cfg(feature = "rusty-hearts")]
    ("rusty-hearts", assetq_rusty_hearts::RUSTY_HEARTS, |seed, size, write| {
        each(write, |write| drop(rusty_hearts::folder(seed, size, &KEY, write)))
    }),
    #[cfg(feature = "vrage")]
    ("se2", assetq_vrage::SE2, |seed, size, write| each(write, |write| drop(se2::folder(seed, size, write)))),
];

/// A later build of the `assets.bin` of the same seed; [`bwdb::altered`] lists the differences.
#[cfg(feature = "wows")]
pub const ALTERED: (&str, Format, Make) =
    ("altered.bin", assetq_wows::BWDB, |seed, size| bwdb::altered(seed, size).bytes);
