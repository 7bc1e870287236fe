//! Archives: files and folders that hold other files by path, such as a game's folder.
//!
//! A format whose readers are archives implements [`Archive`]: it lists its files and returns their stored bytes. All
//! else is built on it once, for all formats: decoding ([`Archive::stored`] and [`open`]), the cache of decoded files,
//! addresses (`ARCHIVE:INNER`), the tables `files`, `volumes` and `builds`, and every command.

#![allow(clippy::arithmetic_side_effects, reason = "numbers of rows, bytes and texts in memory, which cannot overflow")]

mod address;
mod beside;
mod cache;
mod choose;
mod collect;
mod contents;
mod folder;
pub mod loose;
mod name_index;
pub mod names;
mod oodle;
mod paths;
mod recent;
mod tables;
mod volume;

pub use crate::codec::Oodle;
pub use crate::container::{
    Archive, ArchiveTable, AtBuild, Build, Codec, File, Game, Identity, MARK, NESTED, Prefix, RepeatedPaths, Snapshot,
    Volume,
};
pub use crate::reader::entry::fields;
pub use crate::reader::entry::show;
pub use address::{Address, holder, open_inside};
pub use address::{find, open_inside_by, options_inside, other_build_with, source_inside};
pub use beside::{beside, is_near};
pub use cache::{Cache, Cached};
pub use choose::choose;
pub use collect::{Collected, CollectedFile, collect, is_archive};
pub use contents::{check_crc32, decode, head, verify_deep, verify_places};
pub use folder::Folder;
pub use loose::{Loose, LooseFile};
pub use paths::PathIndex;
pub use tables::{FILES, as_one, computed, damage, facts, file_table, tables};
pub use volume::{VolumeFile, files_with_ending};

use crate::asset::Asset;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::source::Source;

/// The decoded bytes of `file`, under the name `ARCHIVE:PATH`: a slice of the map if they are uncompressed. Checks the
/// CRC-32 of decoded bytes.
///
/// # Errors
/// As [`Archive::stored`] and [`decode`].
pub fn open(archive: &dyn Archive, file: &File<'_>, name: &str) -> Result<Source> {
    let stored = archive.stored(file).map_err(|error| contents::in_volume(error, file))?;
    decode(stored, file, &format!("{name}:{}", file.path), archive.oodle().as_deref())
}

/// Opens `file` as an asset of its own format: see [`open`].
///
/// # Errors
/// As [`open`] and [`Asset::open_with`].
pub fn open_file(archive: &dyn Archive, file: &File<'_>, name: &str, options: &Options) -> Result<Asset> {
    Asset::open_with(open(archive, file, name)?, options)
}

/// The error for a number past the last file.
pub fn no_file(n: usize) -> Error {
    Error::of_part(ErrorKind::NotFound { what: format!("file {n} not found") }, "files")
}
