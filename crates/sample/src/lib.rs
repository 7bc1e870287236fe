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

/// A list of the entries whose condition, such as a game's feature, is met.
macro_rules! list {
    ($($condition:meta: [$($entry:expr),* $(,)?]),* $(,)?) => { &[$($(#[cfg($condition)] $entry,)*)*] };
}

pub mod dds;
#[cfg(feature = "ff13")]
mod ff13;
mod make;
mod random;
#[cfg(feature = "rusty-hearts")]
pub mod rusty_hearts;
#[cfg(feature = "vrage")]
mod vrage;
pub mod worlds;
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
pub use wows::{bwdb, gameparams, geometry, pickle, prototypes, ship, space, text_models, world};
pub use writer::{Writer, deflate};

use assetq_core::Format;

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

/// A folder: its name, its format, and its builder.
type Folder = (&'static str, Format, MakeFolder);

#[cfg(feature = "ff13")]
const FF13: Folder = ("ff13", assetq_ff13::WHITE, |seed, size, write| {
    make::each(write, |write| drop(white::folder(seed, size, assetq_ff13::white::GameKind::First, write)))
});
#[cfg(feature = "rusty-hearts")]
const RUSTY_HEARTS: Folder = ("rusty-hearts", assetq_rusty_hearts::RUSTY_HEARTS, |seed, size, write| {
    make::each(write, |write| {
        drop(rusty_hearts::folder(seed, size, &assetq_rusty_hearts::game_folder::layout::KEY, write))
    })
});
#[cfg(feature = "vrage")]
const SE2: Folder =
    ("se2", assetq_vrage::SE2, |seed, size, write| make::each(write, |write| drop(se2::folder(seed, size, write))));

/// A folder of every format that reads one as a whole.
pub const FOLDERS: &[Folder] = list! {
    feature = "wows": [
        ("wows", assetq_wows::WOWS, |seed, size, write| wows::game(seed, size, write)),
        ("wows-ship", assetq_wows::WOWS, |_, _, write| ship::folder(write)),
    ],
    feature = "ff13": [FF13],
    feature = "rusty-hearts": [RUSTY_HEARTS],
    feature = "vrage": [SE2],
};

/// A later build of the `assets.bin` of the same seed; [`bwdb::altered`] lists the differences.
#[cfg(feature = "wows")]
pub const ALTERED: (&str, Format, Make) =
    ("altered.bin", assetq_wows::BWDB, |seed, size| bwdb::altered(seed, size).bytes);

/// The files and folders of a sample.
#[derive(Debug, Clone, Copy)]
pub struct Contents {
    /// Files that are worth a look: names, formats, and builders.
    pub files: &'static [(&'static str, Format, Make)],
    /// Writes the files that others need beside them.
    pub beside: MakeFolder,
    /// Folders of games.
    pub folders: &'static [(&'static str, Format, MakeFolder)],
    /// Later builds of files, to compare with.
    pub altered: &'static [(&'static str, Format, Make)],
}

impl Contents {
    /// Random contents for a seed and for large files, and a small world otherwise; and the seed of what is random.
    pub fn of(seed: Option<u64>, size: Size) -> (&'static Self, u64) {
        let is_world = seed.is_none() && size == Size::Small;
        (if is_world { &WORLD } else { &RANDOM }, seed.unwrap_or(1))
    }
}

/// Random contents: the same ones for the same seed.
pub const RANDOM: Contents = Contents {
    files: FILES,
    beside: |seed, size, write| BESIDE.iter().try_for_each(|(name, make)| write(name, &make(seed, size))),
    folders: FOLDERS,
    altered: list! { feature = "wows": [ALTERED] },
};

/// A small world: a ship and what belongs to it, the same in each file.
pub const WORLD: Contents = Contents {
    files: list! {
        feature = "wows": [
            ("assets.bin", assetq_wows::BWDB, |_, _| world::database(world::Build::Now)),
            ("GameParams.data", assetq_wows::GAMEPARAMS, |_, _| world::parameters(world::Build::Now)),
            ("global.mo", assetq_wows::MO, |_, _| world::titles(0)),
            ("models.bin", assetq_wows::MODELS, |_, _| world::harbour_models()),
            ("space.bin", assetq_wows::SPACE, |_, _| world::harbour_space()),
            ("models.geometry", assetq_wows::GEOMETRY, |_, _| world::harbour_geometry()),
            ("ship.geometry", assetq_wows::GEOMETRY, |_, _| world::ship_geometry()),
            ("ship.visual", assetq_wows::VISUAL, |_, _| world::ship_visual()),
            ("ship.model", assetq_wows::MODEL, |_, _| world::ship_model()),
            ("ship.splash", assetq_wows::SPLASH, |_, _| world::ship_splash()),
            ("turret.geometry", assetq_wows::GEOMETRY, |_, _| world::turret_geometry()),
            ("turret.visual", assetq_wows::VISUAL, |_, _| world::turret_visual()),
            ("turret.model", assetq_wows::MODEL, |_, _| world::turret_model()),
            ("ship_Hull.mfm", assetq_wows::MFM, |_, _| world::material(world::Skin::Hull)),
            ("RootModels.info", assetq_wows::INFO, text_models::demo_info),
            ("hull_a.dds", Format::of::<assetq_scene::dds::Dds>(), |_, _| world::albedo(world::Skin::Hull)),
        ],
        feature = "ff13": [
            ("icons.trb", assetq_ff13::GTEX, |_, _| worlds::ff13::icons().0),
            ("enemy.wdb", assetq_ff13::WDB, |_, _| worlds::ff13::enemies()),
            ("pack.bin", assetq_ff13::WPD, |_, _| worlds::ff13::pack()),
        ],
        feature = "rusty-hearts": [
            ("town.wdata", assetq_rusty_hearts::WDATA, |_, _| wdata::write(&worlds::rusty_hearts::town()).bytes),
        ],
        feature = "vrage": [("savegame.vrb", assetq_vrage::VRB, |_, _| worlds::vrage::save())],
    },
    beside: |_, _, write| {
        #[cfg(feature = "ff13")]
        write("icons.imgb", &worlds::ff13::icons().1)?;
        #[cfg(feature = "wows")]
        world::beside(write)?;
        Ok(())
    },
    folders: list! {
        feature = "wows": [("wows", assetq_wows::WOWS, |_, _, write| world::folder(write))],
        feature = "ff13": [("ff13", assetq_ff13::WHITE, |_, _, write| worlds::ff13::folder(write))],
        feature = "rusty-hearts": [("rusty-hearts", assetq_rusty_hearts::RUSTY_HEARTS, |_, _, write| {
            worlds::rusty_hearts::folder(write)
        })],
        feature = "vrage": [
            ("se2", assetq_vrage::SE2, |_, _, write| worlds::vrage::folder(write)),
            ("se2-mod", assetq_vrage::SE2, |_, _, write| worlds::vrage::mod_folder(write)),
        ],
    },
    altered: list! {
        feature = "wows": [("altered.bin", assetq_wows::BWDB, |_, _| world::database(world::Build::Next))],
    },
};
