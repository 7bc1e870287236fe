//! Files of known formats below a folder, for commands that take a folder or a glob in place of a file.

use crate::asset::Format;
use crate::bytes::shown;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::report::Progress;
use crate::source::{Source, is_absent, no_file};
use crate::threads::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The depth of folders that are searched, which bounds a walk through a file system without end.
const DEEPEST: usize = 64;
/// The number of folders and files after which a walk is refused.
const MOST: usize = 16 << 20;

/// The files below a folder.
#[derive(Debug, Default)]
pub struct Collected {
    /// The files of known formats, and the folders that are archives, sorted by path; also files that cannot be read, or whose
    /// name promises a format that they do not have.
    pub files: Vec<CollectedFile>,
    /// The folders that cannot be listed, and names that promise a file and lead to none.
    pub failed: Vec<(PathBuf, Error)>,
}

/// A file below a folder, or a folder there that is an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollectedFile {
    pub path: PathBuf,
    /// `None` for a file that cannot be opened.
    pub format: Option<Format>,
    /// The file's size in bytes; 0 for a folder.
    pub size: u64,
}

/// Finds the files below `folder` that have a known format and whose path below `folder` `is_wanted`. That path has `/`
/// between its parts; files below more than `deepest` folders are not looked for. A folder that is an archive, such as a game's, counts as one file: its content is not searched.
/// Links to folders are not followed, because they may form a cycle. With `names_files`, the caller names the wanted files, so
/// that files without a known format are listed, too. `progress` counts the files whose format is detected.
///
/// # Errors
/// `Io` if `folder` cannot be listed, and `Limit` if there are more than 16 million files and folders below it.
pub fn collect(
    folder: &Path,
    is_wanted: impl Fn(&str) -> bool + Sync,
    deepest: Option<usize>,
    names_files: bool,
    options: &Options,
    progress: &Progress,
) -> Result<Collected> {
    let deepest = deepest.map_or(DEEPEST, |deepest| deepest.min(DEEPEST));
    let (mut files, mut failed, seen) = (Vec::new(), Vec::new(), AtomicUsize::new(0));
    let mut level = vec![OpenFolder { path: folder.to_owned(), below: String::new() }];
    for depth in 0..=deepest {
        let is_last = depth == deepest;
        let listings: Vec<Listing> = level.par_iter().map(|folder| folder.list(&is_wanted, is_last, &seen)).collect();
        let seen = seen.load(Ordering::Relaxed);
        if seen > MOST {
            let kind = ErrorKind::Limit { what: "files in a folder", value: seen as u64, limit: MOST as u64 };
            return Err(Error::of_part(kind, ""));
        }
        let opened = std::mem::take(&mut level);
        for (folder, listing) in opened.into_iter().zip(listings) {
            match listing.failed {
                Some(error) if depth == 0 && listing.is_closed => return Err(error),
                Some(error) => failed.push((folder.path, error)),
                None => {}
            }
            files.extend(listing.files);
            level.extend(listing.folders);
        }
        if level.is_empty() {
            break;
        }
    }
    progress.announce(files.len() as u64);
    let known = files.into_par_iter().map(|(path, is_folder)| {
        progress.advance(1);
        known(&path, is_folder, names_files, options).map_err(|error| (path, error))
    });
    let mut files = Vec::new();
    for known in known.collect::<Vec<_>>() {
        match known {
            Ok(known) => files.extend(known),
            Err(unknown) => failed.push(unknown),
        }
    }
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    failed.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    Ok(Collected { files, failed })
}

/// A file that was found. `None` if it is of no interest: it has no known format, or its name leads to no file, and the name neither
/// promises a format nor is the caller's.
///
/// # Errors
/// `Io` for a name that leads to no file.
fn known(path: &Path, is_folder: bool, names_files: bool, options: &Options) -> Result<Option<CollectedFile>> {
    let file = |format, size| CollectedFile { path: path.to_owned(), format, size };
    if is_folder {
        return Ok(Format::detect(&Source::of_folder(path)).ok().map(|format| file(Some(format), 0)));
    }
    let name = path.to_string_lossy();
    let is_promised = names_files || Format::promised(&name).is_some();
    let size = match path.metadata() {
        Ok(meta) if meta.is_dir() => return Ok(None),
        Ok(meta) if meta.is_file() => meta.len(),
        Err(error) if !is_absent(&error) => 0,
        _ if !is_promised && Format::guess(&name, &[]).is_none() => return Ok(None),
        other => return Err(Error::io("cannot open", other.map_or_else(|error| error, |meta| no_file(&meta)))),
    };
    // A copy that failed leaves such a file.
    let is_cut = size == 0 && Format::has_known_ending(&name);
    match options.source_in_folder(path).and_then(|source| Format::detect(&source)) {
        Ok(format) => Ok(Some(file(Some(format), size))),
        Err(error) if matches!(error.kind(), ErrorKind::UnknownFormat { .. }) && !is_promised && !is_cut => Ok(None),
        Err(_) => Ok(Some(file(None, size))),
    }
}

/// A folder that is searched.
struct OpenFolder {
    path: PathBuf,
    /// Its path below the first one, with `/` at the end.
    below: String,
}

#[derive(Default)]
struct Listing {
    /// The files, and the folders that are archives, which are marked.
    files: Vec<(PathBuf, bool)>,
    folders: Vec<OpenFolder>,
    failed: Option<Error>,
    /// Whether nothing of the folder can be read.
    is_closed: bool,
}

impl OpenFolder {
    fn list(&self, is_wanted: &impl Fn(&str) -> bool, is_last: bool, seen: &AtomicUsize) -> Listing {
        let mut listing = Listing::default();
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) => return Listing { failed: Some(unreadable(error)), is_closed: true, ..listing },
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    listing.failed = Some(unreadable(error));
                    break;
                }
            };
            if seen.fetch_add(1, Ordering::Relaxed) >= MOST {
                break;
            }
            let path = entry.path();
            let name = format!("{}{}", self.below, shown(entry.file_name().as_encoded_bytes()));
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !is_archive(&path) {
                if !is_last {
                    listing.folders.push(OpenFolder { path, below: format!("{name}/") });
                }
            } else if is_wanted(&name) {
                listing.files.push((path, is_folder));
            }
        }
        listing
    }
}

fn unreadable(error: std::io::Error) -> Error {
    Error::io("cannot read the folder", error)
}

/// Whether the folder at `path` is an archive, such as the folder of a game.
pub fn is_archive(path: &Path) -> bool {
    path.is_dir() && Format::detect(&Source::of_folder(path)).is_ok()
}
