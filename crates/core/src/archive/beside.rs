//! Files beside a file: in its folder, or in the archive around it.

use super::names::NameSources;
use super::{MARK, open};
use crate::error::Result;
use crate::options::Options;
use crate::paths::file_near;
use crate::source::{Source, is_absent};
use std::path::{Component, Path};

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
    let Some(names) = options.get::<NameSources>() else { return Ok(None) };
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
    let names = options.get::<NameSources>()?;
    let around = names.files().iter().rev().find_map(|outer| {
        source.name().strip_prefix(outer.source().name())?.strip_prefix(MARK)?;
        outer.reader().archive()
    })?;
    // A damaged index is reported by the archive.
    Some(around.find(path).map_or(true, |file| file.is_some()))
}
