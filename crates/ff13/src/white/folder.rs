//! The paths of a game's lists, and the image of each list (docs/formats/white.md §1).

use super::game_kind::GameKind;
use crate::archive::VolumeFile;
use crate::atomic_file::parent_of;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::paths::{CaselessFolder, caseless};
use crate::source::{Source, metadata_if_present};
use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folders of a data folder that have lists, the ones that win first.
const FOLDERS: [&str; 2] = ["sys", "zone"];

/// Names of lists begin like this.
const LIST: &str = "filelist";

/// A list on disk, or a list from another source with only a name.
#[derive(Debug, Clone)]
pub(super) struct ListFile {
    pub(super) path: Option<PathBuf>,
    pub(super) name: String,
    /// The folder of `path`, which holds the image.
    folder: Option<Arc<CaselessFolder>>,
}

impl ListFile {
    fn in_folder(folder: &Arc<CaselessFolder>, path: PathBuf) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Self { path: Some(path), name, folder: Some(folder.clone()) }
    }

    /// Its image, under the first of the possible names that is there.
    pub(super) fn image(&self, options: &Options) -> VolumeFile {
        let names = images(&self.name);
        let [likeliest, ..] = &names;
        let is_there = |folder: &CaselessFolder, name| !matches!(metadata_if_present(&folder.entry(name)), Ok(None));
        let found = names.iter().find(|name| self.folder.as_deref().is_some_and(|folder| is_there(folder, name)));
        VolumeFile::new(&self.folder, found.unwrap_or(likeliest), options)
    }
}

/// A parsed name of a list in lower case: `filelist`, the part that distinguishes the lists of a game, the platform, and a number if
/// the archive is split.
fn parts(name: &str) -> Option<(&str, &str, &str)> {
    let (middle, rest) = name.strip_prefix(LIST)?.split_once('.').unwrap_or((name.strip_prefix(LIST)?, ""));
    let (platform, part) = match rest.rsplit_once(".bin") {
        Some((platform, part)) => (platform, part),
        None => ("", rest.strip_prefix("bin")?),
    };
    part.bytes().all(|byte| byte.is_ascii_digit()).then_some((middle, platform, part))
}

/// The possible names of the image of the list `name`, the likeliest first, in lower case.
fn images(name: &str) -> [String; 3] {
    let name = &*name.to_ascii_lowercase();
    let Some((middle, platform, part)) = parts(name) else {
        return std::array::from_fn(|_| name.replacen(LIST, "white_img", 1));
    };
    let dot = if platform.is_empty() { "" } else { "." };
    let main = format!("white_img{middle}{dot}{platform}.bin{part}");
    let script = format!("white{middle}{dot}{platform}.bin{part}");
    let zone = format!("white{middle}_img{part}{dot}{platform}.bin");
    match middle {
        zoned if zoned.starts_with("_z") => [zone, script, main],
        scripted if scripted.starts_with('_') => [script, zone, main],
        _ => [main, script, zone],
    }
}

/// The lists in `folder`, the lists of the game before the lists of scripts, by name.
fn lists_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = folder.read_dir().and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|e| Error::io("cannot read the folder", e).context(folder.display()))?;
    let mut found = Vec::new();
    for path in entries.iter().map(DirEntry::path) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()).map(str::to_ascii_lowercase) else { continue };
        // One that is no file is a list that cannot be read.
        if parts(&name).is_some() {
            found.push((name.as_bytes().get(LIST.len()) == Some(&b'_'), path));
        }
    }
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// The data folder that `folder` is or holds.
pub(super) fn data_folder(folder: &Path) -> Option<PathBuf> {
    let has_lists = |folder: &Path| {
        FOLDERS.iter().any(|name| lists_in(&caseless(folder, name)).is_ok_and(|lists| !lists.is_empty()))
    };
    let below = GameKind::ALL.map(|kind| caseless(folder, kind.folder()));
    std::iter::once(folder.to_owned()).chain(below).find(|folder| has_lists(folder))
}

/// The lists that `source` is or has, and the path by which its game may be known.
pub(super) fn lists(source: &Source) -> Result<(Vec<ListFile>, Option<PathBuf>)> {
    if let Some(folder) = source.folder() {
        let Some(data) = data_folder(folder) else { return Ok((Vec::new(), None)) };
        let mut places = Vec::new();
        for folder in FOLDERS.map(|name| caseless(&data, name)).into_iter().filter(|folder| folder.is_dir()) {
            let shared = Arc::new(CaselessFolder::new(&*folder));
            places.extend(lists_in(&folder)?.into_iter().map(|path| ListFile::in_folder(&shared, path)));
        }
        return Ok((places, Some(data)));
    }
    match source.path() {
        Some(file) => {
            let folder = Arc::new(CaselessFolder::new(parent_of(file)));
            Ok((vec![ListFile::in_folder(&folder, file.to_owned())], Some(file.to_owned())))
        }
        None => {
            let name = source.name().rsplit_once(['/', ':']).map_or(source.name(), |(_, name)| name).to_owned();
            Ok((vec![ListFile { path: None, name, folder: None }], None))
        }
    }
}

/// The game that a data folder above `path` is of, by its name.
pub(super) fn kind_of(path: &Path) -> Option<GameKind> {
    // A given path may lack folders.
    kind_in(path).or_else(|| kind_in(&path.canonicalize().ok()?))
}

/// The game whose data folder has a name in `path`.
fn kind_in(path: &Path) -> Option<GameKind> {
    path.ancestors().find_map(|folder| {
        let name = folder.file_name()?.to_str()?.to_ascii_lowercase();
        GameKind::ALL.into_iter().find(|kind| kind.folder() == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_have_the_names_that_the_games_give_them() {
        let first = |name: &str| images(name)[0].clone();
        assert_eq!(first("filelistu.win32.bin"), "white_imgu.win32.bin");
        assert_eq!(first("filelist2a.win32.bin"), "white_img2a.win32.bin");
        assert_eq!(first("filelist_scru.win32.bin"), "white_scru.win32.bin");
        assert_eq!(first("filelist_z0049u.win32.bin"), "white_z0049u_img.win32.bin");
        assert_eq!(first("filelist_z0100a.win32.bin2"), "white_z0100a_img2.win32.bin");
        assert_eq!(first("filelistc.ps3.bin"), "white_imgc.ps3.bin");
        assert_eq!(first("filelist.bin"), "white_img.bin");
        for other in ["white_imgu.win32.bin", "filelistu.win32.bin.txt", "filelist.txt", "filelist"] {
            assert_eq!(parts(other), None, "{other}");
        }
    }
}
