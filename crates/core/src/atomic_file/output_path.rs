//! Paths of outputs: what is there, which of them are one file, and errors that name them.

use crate::paths::is_device_path;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

/// The folder of `path`.
pub fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether there is a folder for a file at `to`.
///
/// # Errors
/// `NotFound` without one.
pub fn check_folder(to: &Path) -> io::Result<()> {
    let folder = parent_of(to);
    if folder.is_dir() {
        return Ok(());
    }
    let what = format!("there is no folder {}", folder.to_string_lossy());
    Err(about(to, io::Error::new(ErrorKind::NotFound, what)))
}

/// Whether something has this name, if only a link that leads nowhere.
pub(super) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Whether a regular file, and no link to one, has this name.
pub(super) fn is_regular(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

pub(super) fn open_regular(path: &Path) -> Option<File> {
    if is_regular(path) { File::open(path).ok() } else { None }
}

/// Whether `path` is written to as it is, having no content that could be whole: a pipe, a device, an open descriptor.
pub fn is_stream(path: &Path) -> bool {
    is_device_path(path)
        || fs::metadata(path).is_ok_and(|meta| !meta.is_dir() && (!meta.is_file() || is_descriptor(path)))
}

/// Whether `path` names one of the files that a process has open, as `/dev/fd/3` does.
fn is_descriptor(path: &Path) -> bool {
    /// Links that are followed: as many as Linux does.
    const LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Some(folder) = path.parent().and_then(|folder| folder.canonicalize().ok()) else { return false };
        if folder == Path::new("/dev/fd") || folder.starts_with("/proc") {
            return true;
        }
        match fs::read_link(&path) {
            Ok(next) => path = folder.join(next),
            Err(_) => return false,
        }
    }
    false
}

/// A file that exists, by whichever of its names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileId(Id);

#[cfg(unix)]
type Id = (u64, u64);
#[cfg(not(unix))]
type Id = std::path::PathBuf;

impl FileId {
    /// The file at `path`, links followed; `None` if the name is free.
    pub fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        let id = fs::metadata(path).ok().map(|meta| {
            use std::os::unix::fs::MetadataExt as _;
            (meta.dev(), meta.ino())
        });
        #[cfg(not(unix))]
        let id = path.canonicalize().ok();
        id.map(Self)
    }
}

/// Whether `path`, or the nearest existing folder above it, is the file or folder with this id or lies in it.
pub fn is_inside(path: &Path, folder: &FileId) -> bool {
    let nearest = path
        .ancestors()
        .find_map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path }.canonicalize().ok());
    nearest.is_some_and(|nearest| nearest.ancestors().any(|path| FileId::of(path).as_ref() == Some(folder)))
}

/// Whether two outputs are one file, or would be one once they are written.
pub fn are_same_output(one: &Path, other: &Path) -> bool {
    if let (Some(one_id), Some(other_id)) = (FileId::of(one), FileId::of(other)) {
        return one_id == other_id && !is_stream(one);
    }
    let [one_folder, other_folder] = [one, other].map(|path| parent_of(path).canonicalize().ok());
    let (Some(one), Some(other)) = (one.file_name(), other.file_name()) else { return false };
    // File systems of other systems take names in any case for one.
    let is_same_name = one == other || cfg!(not(target_os = "linux")) && one.eq_ignore_ascii_case(other);
    is_same_name && one_folder.is_some() && one_folder == other_folder
}

/// An error that knows which output it is about.
#[derive(Debug)]
struct OfOutput {
    output: String,
    error: io::Error,
}

impl fmt::Display for OfOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for OfOutput {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

pub(super) fn about(to: &Path, error: io::Error) -> io::Error {
    of_output(&to.to_string_lossy(), error)
}

/// `error` with the name of the output that it is about, which [`output_of`] gives back.
pub fn of_output(output: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), OfOutput { output: output.to_owned(), error })
}

/// The name of the output that an error is about, where it is about one.
pub fn output_of(error: &io::Error) -> Option<&str> {
    error.get_ref()?.downcast_ref::<OfOutput>().map(|of| of.output.as_str())
}
