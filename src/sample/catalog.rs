//! The samples of all formats: files and folders, each with its builder.

#[cfg(feature = "se2")]
use super::se2;
use super::{Size, bwdb, dds, gameparams, geometry, gtex, rusty_hearts, ship, space, vrb, wdata, wdb, white, wows};
use crate::asset::Format;
use crate::formats::rusty_hearts::layout::KEY;
use crate::formats::white::GameKind;

/// Makes a sample from a seed.
pub type Make = fn(u64, Size) -> Vec<u8>;

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

/// Takes a file of an unfinished folder, by its path in the folder; an error ends the folder.
pub type Put<'p> = dyn FnMut(&str, &[u8]) -> Result<(), Stopped> + 'p;

/// Builds a folder from a seed, and stops if a file is refused.
pub type MakeFolder = fn(u64, Size, &mut Put<'_>) -> Result<(), Stopped>;

/// The end of an unfinished folder; its caller keeps the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

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

/// Passes files on until one is refused.
fn each(write: &mut Put<'_>, make: impl FnOnce(&mut dyn FnMut(&str, Vec<u8>))) -> Result<(), Stopped> {
    let mut wanted = Ok(());
    make(&mut |path, bytes| {
        if wanted.is_ok() {
            wanted = write(path, &bytes);
        }
    });
    wanted
}

/// A later build of the `assets.bin` of the same seed; [`bwdb::altered`] lists the differences.
pub const ALTERED: (&str, Format, Make) = ("altered.bin", Format::BWDB, |seed, size| bwdb::altered(seed, size).bytes);
