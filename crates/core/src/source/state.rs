use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// The metadata of the file or folder at `path`. `None` if the name is free. The name of a link to
/// nothing is not free.
///
/// # Errors
/// If the name cannot be looked up.
pub fn metadata_if_present(path: &Path) -> io::Result<Option<Metadata>> {
    match path.metadata() {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if is_absent(&error) && path.symlink_metadata().is_err() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether `error` means that a name leads to nothing. After any other error the name may lead to a file that cannot be read.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename)
}

/// The error for a name that leads to no file: a folder, or a pipe or device, whose bytes exist once and may never end.
pub(crate) fn no_file(meta: &Metadata) -> io::Error {
    let what = "it is a pipe or a device, which is read only where it is named";
    if meta.is_dir() { io::ErrorKind::IsADirectory.into() } else { io::Error::new(io::ErrorKind::InvalidInput, what) }
}

/// The state of a file on disk at one moment. A write or a replacement changes the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState {
    /// Device and number; zeros on systems that do not number files.
    number: (u64, u64),
    len: u64,
    modified: Option<SystemTime>,
    /// The time of the last change, which no program can set back: seconds and nanoseconds. Zeros on systems without it.
    changed: (i64, i64),
}

impl FileState {
    /// The state of the file that has this metadata.
    pub fn from_metadata(meta: &Metadata) -> Self {
        Self { number: number(meta), len: meta.len(), modified: meta.modified().ok(), changed: changed(meta) }
    }

    /// The state of the file or link at `path`; `None` if the name is free.
    ///
    /// # Errors
    /// If the name cannot be looked up.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        match fs::symlink_metadata(path) {
            Ok(meta) => Ok(Some(Self::from_metadata(&meta))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The state as text without blanks.
    pub fn text(&self) -> String {
        let (device, number) = self.number;
        let modified = self.modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        let (seconds, nanoseconds) = self.changed;
        let modified = modified.map_or(0, |time| time.as_nanos());
        format!("{device:x}-{number:x}-{}-{modified}-{seconds}.{nanoseconds}", self.len)
    }

    /// Whether `file` is the file that had this state, by its number. `true` on systems that do not number files.
    pub(crate) fn is_same_file(&self, file: &File) -> bool {
        file.metadata().is_ok_and(|meta| number(&meta) == self.number)
    }

    /// In bytes.
    #[allow(clippy::len_without_is_empty, reason = "the length of a file")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether `self` is a later state of the file `earlier`, shorter than that.
    pub(super) fn is_cut(&self, earlier: &Self) -> bool {
        cfg!(unix) && self.number == earlier.number && self.len < earlier.len
    }
}

#[cfg(unix)]
fn changed(meta: &Metadata) -> (i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (meta.ctime(), meta.ctime_nsec())
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> (i64, i64) {
    (0, 0)
}

/// The number of a file, which no other file has as long as it exists.
#[cfg(unix)]
fn number(meta: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (meta.dev(), meta.ino())
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> (u64, u64) {
    (0, 0)
}
