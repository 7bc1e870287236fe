//! Archives: files and folders that hold other files by path, such as a game's folder.
//!
//! A format whose readers are archives implements [`Archive`]: it lists its files and returns their stored bytes. All
//! else is built on it once, for all formats: decoding ([`Archive::stored`] and [`open`]), the cache of decoded files,
//! addresses (`ARCHIVE:INNER`), the tables `files`, `volumes` and `builds`, and every command.

#![allow(clippy::arithmetic_side_effects, reason = "numbers of rows, bytes and texts in memory, which cannot overflow")]

mod address;
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
    Archive, AtBuild, Build, Codec, File, Game, Identity, MARK, NESTED, RepeatedPaths, Snapshot, Volume,
};
pub use crate::reader::entry::fields;
pub use crate::reader::entry::show;
pub use address::{Address, Prefix, holder, open_inside};
pub use address::{find, open_inside_by, options_inside, other_build_with, source_inside};
pub use cache::{Cache, Cached};
pub use choose::choose;
pub use collect::{Collected, CollectedFile, collect, is_archive};
pub use contents::{check_crc32, decode, head, verify_deep, verify_places};
pub use folder::Folder;
pub use loose::{Loose, LooseFile};
pub use paths::PathIndex;
pub use tables::{ArchiveTable, FILES, as_one, computed, damage, facts, file_table, tables};
pub use volume::{VolumeFile, files_with_ending};

use crate::asset::Asset;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::paths::file_near;
use crate::source::{Source, is_absent};
use std::path::{Component, Path};

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

/// The file at `path`, relative to the folder, or to the folder of the archive, that `source` lies in. `None` if it is absent,
/// or if `path` leads out of that folder.
///
/// # Errors
/// If it is there and cannot be read, with its path.
pub fn beside(source: &Source, options: &Options, path: &str) -> Result<Option<Source>> {
    if !Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) {
        return Ok(None);
    }
    if let Some(file) = source.neighbouring_path() {
        let file = file.with_file_name(path);
        return match file.metadata() {
            Ok(meta) if meta.is_dir() => Ok(None),
            Err(error) if is_absent(&error) => Ok(None),
            _ => options.source_in_folder(&file).map(Some).map_err(|error| error.context(path)),
        };
    }
    let Some(names) = options.get::<names::NameSources>() else { return Ok(None) };
    for outer in names.files().iter().rev() {
        let name = outer.source().name();
        let inner = source.name().strip_prefix(name).and_then(|rest| rest.strip_prefix(MARK));
        let (Some(inner), Some(archive)) = (inner, outer.reader().archive()) else { continue };
        let inner = inner.rsplit_once('/').map_or(path.to_owned(), |(folder, _)| format!("{folder}/{path}"));
        if let Some(file) = archive.find(&inner).map_err(|error| error.context(path))? {
            return open(archive, &file, name).map(Some).map_err(|error| error.context(path));
        }
    }
    Ok(None)
}

/// Whether a file lies at `path`, as the file `source` states it: near that file, or in the archive around it. `None` for bytes that are in
/// no folder.
pub fn is_near(source: &Source, options: &Options, path: &str) -> Option<bool> {
    if let Some(folder) = source.neighbouring_path().and_then(Path::parent) {
        return Some(file_near(folder, path).is_some());
    }
    let names = options.get::<names::NameSources>()?;
    let around = names.files().iter().rev().find_map(|outer| {
        source.name().strip_prefix(outer.source().name())?.strip_prefix(MARK)?;
        outer.reader().archive()
    })?;
    // A damaged index is reported by the archive.
    Some(around.find(path).map_or(true, |file| file.is_some()))
}

/// The error for a number past the last file.
pub fn no_file(n: usize) -> Error {
    Error::of_part(ErrorKind::NotFound { what: format!("file {n} not found") }, "files")
}
