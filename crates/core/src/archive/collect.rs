//! Files of known formats below a folder, for commands that take a folder or a glob in place of a file.

use crate::asset::Format;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::report::Progress;
use crate::source::Source;
use crate::threads::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// The depth of folders that are searched, which bounds a walk through a file system without end.
const DEEPEST: usize = 64;
/// The number of folders and files after which a walk is refused.
const MOST: usize = 16 << 20;

/// The files below a folder.
#[derive(Debug, Default)]
pub struct Collected {
    /// The files of known formats, and the folders that are archives, sorted by path.
    pub files: Vec<CollectedFile>,
    /// The folders that cannot be listed.
    pub failed: Vec<(PathBuf, Error)>,
}

/// A file of a known format, or a folder that is an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollectedFile {
    /// The file's path.
    pub path: PathBuf,
    /// The file's format.
    pub format: Format,
    /// The file's size in bytes; 0 for a folder.
    pub size: u64,
}

/// Finds the files below `folder` that have a known format and whose path below `folder` `is_wanted`. That path has `/`
/// between its parts; files below more than `deepest` folders are not looked for. A folder that is an archive, such as a game's, counts as one file: its content is not searched.
/// Links to folders are not followed, because they may form a cycle. `progress` counts the files whose format is
/// detected.
///
/// # Errors
/// `Io` if `folder` cannot be listed, and `Limit` if there are more than 16 million files and folders below it.
pub fn collect(
    folder: &Path,
    is_wanted: impl Fn(&str) -> bool,
    deepest: Option<usize>,
    options: &Options,
    progress: &Progress,
) -> Result<Collected> {
    let deepest = deepest.map_or(DEEPEST, |deepest| deepest.min(DEEPEST));
    let (mut files, mut failed, mut seen) = (Vec::new(), Vec::new(), 0usize);
    let mut open = vec![(folder.to_owned(), String::new(), 0usize)];
    while let Some((at, below, depth)) = open.pop() {
        let entries = match fs::read_dir(&at) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(Error::io("cannot read the folder", error)),
            Err(error) => {
                failed.push((at, Error::io("cannot read the folder", error)));
                continue;
            }
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    failed.push((at, Error::io("cannot read the folder", error)));
                    break;
                }
            };
            seen += 1;
            if seen > MOST {
                let kind = ErrorKind::Limit { what: "files in a folder", value: seen as u64, limit: MOST as u64 };
                return Err(Error::of_part(kind, ""));
            }
            let path = entry.path();
            let name = format!("{below}{}", entry.file_name().to_string_lossy());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !is_archive(&path) {
                if depth < deepest {
                    open.push((path, format!("{name}/"), depth + 1));
                }
            } else if is_wanted(&name) {
                files.push((path, is_folder));
            }
        }
    }
    progress.announce(files.len() as u64);
    let detect = |(path, is_folder): &(PathBuf, bool)| {
        let source = match is_folder {
            true => Some(Source::of_folder(path)),
            false => path.is_file().then(|| options.source_in_folder(path).ok()).flatten(),
        };
        let format = source.as_ref().and_then(|source| Format::detect(source).ok());
        progress.advance(1);
        format.zip(source.map(|source| source.bytes().len() as u64))
    };
    let known: Vec<_> = files.par_iter().map(detect).collect();
    let known = files.into_iter().zip(known);
    let mut files: Vec<CollectedFile> = known
        .filter_map(|((path, _), known)| known.map(|(format, size)| CollectedFile { path, format, size }))
        .collect();
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    failed.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    Ok(Collected { files, failed })
}

/// Whether the folder at `path` is an archive, such as the folder of a game.
pub fn is_archive(path: &Path) -> bool {
    path.is_dir() && Format::detect(&Source::of_folder(path)).is_ok()
}
