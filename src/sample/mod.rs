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

/// The size of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// A few kilobytes.
    Small,
    /// As large as the games' own files.
    Full,
}

/// An unfinished file, with relative pointers that are filled in once their target is known.
#[derive(Debug, Default, Clone)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Starts empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts empty, with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity) }
    }

    /// The next position.
    pub fn position(&self) -> usize {
        self.bytes.len()
    }

    /// Appends bytes; returns their position.
    pub fn push(&mut self, bytes: impl AsRef<[u8]>) -> usize {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(bytes.as_ref());
        at
    }

    /// Appends `count` zero bytes; returns their position.
    pub fn zeros(&mut self, count: usize) -> usize {
        let at = self.bytes.len();
        self.bytes.resize(at + count, 0);
        at
    }

    /// Appends zero bytes up to the next multiple of `alignment`.
    pub fn align(&mut self, alignment: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(alignment), 0);
    }

    /// Appends a little-endian u16; returns its position. The other widths below do the same.
    pub fn u16(&mut self, value: u16) -> usize {
        self.push(value.to_le_bytes())
    }

    /// Appends a little-endian u32.
    pub fn u32(&mut self, value: u32) -> usize {
        self.push(value.to_le_bytes())
    }

    /// Appends a little-endian i32.
    pub fn i32(&mut self, value: i32) -> usize {
        self.push(value.to_le_bytes())
    }

    /// Appends a little-endian u64.
    pub fn u64(&mut self, value: u64) -> usize {
        self.push(value.to_le_bytes())
    }

    /// Appends a little-endian i64.
    pub fn i64(&mut self, value: i64) -> usize {
        self.push(value.to_le_bytes())
    }

    /// Appends little-endian floats; returns the position of the first.
    pub fn f32s(&mut self, values: &[f32]) -> usize {
        let at = self.bytes.len();
        values.iter().for_each(|v| self.bytes.extend_from_slice(&v.to_le_bytes()));
        at
    }

    /// Overwrites the bytes at `at`, which must have been appended.
    pub fn patch(&mut self, at: usize, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Writes at `at` the relative pointer that leads from `base` to `target`.
    pub fn point(&mut self, at: usize, base: usize, target: usize) {
        self.patch(at, (target as i64 - base as i64).to_le_bytes());
    }

    /// The bytes so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The finished bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
