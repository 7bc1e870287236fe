//! The folders of a game for its builds, indexes, volumes and loose files.

use super::layout::MAGIC;
use crate::archive::Snapshot;
use crate::error::{Error, Result};
use crate::paths::{CaselessFolder, caseless};
use crate::source::{head_of, is_absent};
use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

const BUILDS: &str = "bin";
const INDEXES: &str = "idx";
const VOLUMES: &str = "res_packages";
const LOOSE: &str = "res";
const MODS: &str = "res_mods";
/// The number of files that are read before a folder counts as one without an index.
const TRIED: usize = 16;

/// The folders of a game, or of a folder of indexes.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The folder of indexes, if present.
    pub indexes: Option<PathBuf>,
    /// Folders of volumes, in the order of the search.
    pub volumes: Vec<Arc<CaselessFolder>>,
    /// Folders of loose files: an earlier folder hides the files of a later one.
    pub loose: Vec<PathBuf>,
    /// Why a folder that may hold further files is unknown.
    pub failed: Option<Error>,
}

/// Whether `name` is the name of an index, and not of a file that macOS adds on other systems' drives.
fn is_index(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".idx") && !name.starts_with("._")
}

/// The names in `folder`, in order; none if nothing is there.
///
/// # Errors
/// `Io` when the folder cannot be read.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) && folder.symlink_metadata().is_err() => Vec::new(),
        Err(error) => return Err(Error::io("cannot read the folder", error).context(folder.display())),
    };
    let mut names: Vec<String> = entries.iter().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    Ok(names)
}

/// The names of the indexes in `folder`, in order.
///
/// # Errors
/// `Io` when the folder cannot be read.
pub(super) fn indexes_in(folder: &Path) -> Result<Vec<String>> {
    let mut names = names(folder)?;
    names.retain(|name| is_index(name));
    Ok(names)
}

/// The names, sizes and modification times of the indexes of `folder`, and `path`.
pub(super) fn stamp(folder: &Path, names: &[String], path: &str) -> Option<Vec<u8>> {
    let mut text = Vec::from(folder.as_os_str().as_encoded_bytes());
    text.push(0);
    for name in names {
        let meta = fs::metadata(folder.join(name)).ok()?;
        let changed = meta.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        text.extend_from_slice(name.as_bytes());
        text.push(0);
        text.extend_from_slice(&meta.len().to_le_bytes());
        text.extend_from_slice(&changed.as_nanos().to_le_bytes());
    }
    text.extend_from_slice(path.as_bytes());
    Some(text)
}

/// The folder of one build of the game in `folder`.
fn build_folder(folder: &Path, build: &str) -> PathBuf {
    caseless(folder, BUILDS).join(build)
}

/// The files that describe a build without its volumes.
///
/// # Errors
/// As [`indexes_in`].
pub(super) fn snapshot(folder: &Path, build: &str) -> Result<Snapshot> {
    let indexes = caseless(&build_folder(folder, build), INDEXES);
    let mut snapshot = Snapshot::new(format!("{BUILDS}/{build}"), LOOSE);
    let names = indexes_in(&indexes)?;
    snapshot.indexes = names.into_iter().map(|name| (indexes.join(&name), format!("{INDEXES}/{name}"))).collect();
    Ok(snapshot)
}

/// The builds of the game in `folder`, the newest one first. A build whose indexes cannot be listed counts: without it an
/// older one would be the newest.
///
/// # Errors
/// `Io` when the folder of builds cannot be read.
pub(super) fn builds(folder: &Path) -> Result<Vec<String>> {
    let bin = caseless(folder, BUILDS);
    let numbered = names(&bin)?.into_iter().filter(|name| name.bytes().all(|b| b.is_ascii_digit()));
    let numbered = numbered.filter_map(|name| Some((name.parse::<u64>().ok()?, name)));
    let builds = numbered.filter(|(_, name)| {
        indexes_in(&caseless(&bin.join(name), INDEXES)).map_or(true, |indexes| !indexes.is_empty())
    });
    let mut builds: Vec<(u64, String)> = builds.collect();
    builds.sort_by(|a, b| Reverse(a.0).cmp(&Reverse(b.0)).then_with(|| a.1.cmp(&b.1)));
    Ok(builds.into_iter().map(|(_, name)| name).collect())
}

/// Whether `folder` is the folder of a game: it has builds, or volumes beside a folder of builds that cannot be read.
pub(super) fn is_game(folder: &Path) -> bool {
    builds(folder).map_or_else(|_| caseless(folder, VOLUMES).is_dir(), |builds| !builds.is_empty())
}

pub(super) fn has_index(folder: &Path) -> bool {
    let Ok(names) = names(folder) else { return false };
    let mut tried = names.iter().filter(|name| is_index(name)).take(TRIED);
    tried.any(|name| head_of(&folder.join(name)) == Some(MAGIC))
}

/// The folders that may hold the volumes of the indexes in `folder`: the folder itself, or the game's folders for them.
fn volumes_of(folder: &Path) -> Vec<Arc<CaselessFolder>> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let folders = [folder.to_owned(), caseless(&folder.join("../../.."), VOLUMES)];
    folders.into_iter().map(|folder| Arc::new(CaselessFolder::new(folder))).collect()
}

impl Places {
    pub(super) fn of_build(folder: &Path, build: &str, is_newest: bool) -> Self {
        let build = build_folder(folder, build);
        let (mods, failed) = match if is_newest { newest_mods(folder) } else { Ok(None) } {
            Ok(mods) => (mods, None),
            Err(error) => (None, Some(error)),
        };
        Self {
            indexes: Some(caseless(&build, INDEXES)),
            volumes: vec![Arc::new(CaselessFolder::new(caseless(folder, VOLUMES)))],
            loose: mods.into_iter().chain([caseless(&build, LOOSE)]).collect(),
            failed,
        }
    }

    pub(super) fn of_indexes(folder: &Path) -> Self {
        Self { indexes: Some(folder.to_owned()), volumes: volumes_of(folder), ..Self::default() }
    }

    /// The folders of the index at `path`.
    pub(super) fn of_index(path: &Path) -> Self {
        Self { volumes: path.parent().map_or_else(Vec::new, volumes_of), ..Self::default() }
    }
}

/// The folder of mods of the latest version that the game in `folder` has: `13.10.0` is later than `13.9.1`.
///
/// # Errors
/// `Io` when the folder of all mods cannot be read.
pub(super) fn newest_mods(folder: &Path) -> Result<Option<PathBuf>> {
    let mods = caseless(folder, MODS);
    let versions = names(&mods)?.into_iter().filter_map(|name| {
        let version: Option<Vec<u64>> = name.split('.').map(|part| part.parse().ok()).collect();
        Some((version?, name))
    });
    let newest = versions.filter(|(_, name)| mods.join(name).is_dir()).max();
    Ok(newest.map(|(_, newest)| mods.join(newest)))
}
