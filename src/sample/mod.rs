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

mod armor;
pub mod bwdb;
pub mod dds;
pub mod gameparams;
pub mod geometry;
pub mod gtex;
mod make;
pub mod pickle;
pub mod prototypes;
pub mod rusty_hearts;
pub mod se2;
pub mod ship;
pub mod space;
pub mod vrb;
pub mod wdata;
pub mod wdb;
pub mod white;
pub mod wows;
mod writer;

pub use make::{Make, MakeFolder, Put, Size, Stopped};
pub use writer::Writer;

use crate::asset::Format;
use crate::formats::rusty_hearts::layout::KEY;
use crate::formats::white::GameKind;
use make::each;

/// A file of every format: its name, its format, and its builder.
pub const FILES: &[(&str, Format, Make)] = &[
    ("assets.bin", Format::BWDB, bwdb::demo),
    ("models.bin", Format::MODELS, space::models_bin),
    ("space.bin", Format::SPACE, space::space_bin),
    ("ship.geometry", Format::GEOMETRY, geometry::demo),
    ("ship.splash", Format::SPLASH, geometry::demo_splash),
    ("hull_a.dds", Format::DDS, dds::demo),
    ("model.trb", Format::GTEX, gtex::demo),
    ("sheet.wdb", Format::WDB, wdb::demo),
    ("pack.bin", Format::WPD, wdb::demo_pack),
    ("town.wdata", Format::WDATA, wdata::demo),
    ("savegame.vrb", Format::VRB, vrb::demo),
    ("GameParams.data", Format::GAMEPARAMS, gameparams::demo),
    ("global.mo", Format::MO, gameparams::demo_mo),
];

/// A folder of every format that reads one as a whole: its name, its format, and its builder.
pub const FOLDERS: &[(&str, Format, MakeFolder)] = &[
    ("wows", Format::WOWS, |seed, size, write| wows::game(seed, size, write)),
    ("wows-ship", Format::WOWS, |_, _, write| ship::folder(write)),
    ("ff13", Format::WHITE, |seed, size, write| {
        each(write, |write| drop(white::folder(seed, size, GameKind::First, write)))
    }),
    ("rusty-hearts", Format::RUSTY_HEARTS, |seed, size, write| {
        each(write, |write| drop(rusty_hearts::folder(seed, size, &KEY, write)))
    }),
    #[cfg(feature = "se2")]
    ("se2", Format::SE2, |seed, size, write| each(write, |write| drop(se2::folder(seed, size, write)))),
];

/// A later build of the `assets.bin` of the same seed; [`bwdb::altered`] lists the differences.
pub const ALTERED: (&str, Format, Make) = ("altered.bin", Format::BWDB, |seed, size| bwdb::altered(seed, size).bytes);
