//! Unfinished files and folders: their names, their locks, and the removal of those that no process fills.

use super::output_path::{exists, open_regular};
#[cfg(target_os = "linux")]
use crate::codec;
use crate::source::FileState;
use crate::source::signals::Unfinished;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;
use tempfile::{NamedTempFile, TempDir};

/// Makes a new file in `folder` for unfinished bytes of `to`. If it replaces a file, only this user may read it: it gets the
/// permissions of the replaced file at last.
pub(super) fn new_part(to: &Path, folder: &Path, replaces_file: bool) -> io::Result<NamedTempFile<(File, Unfinished)>> {
    let replaced = replaces_file.then_some(to);
    #[cfg(target_os = "linux")]
    if let Some(name) = to.file_name() {
        let name = codec::xxh64(name.as_encoded_bytes(), 0);
        for number in 0..NUMBERED {
            let part = format!("{PART_BEGIN}{name:016x}-{number}{PART_END}");
            let mut builder = tempfile::Builder::new();
            builder.prefix(&part).rand_bytes(0);
            let mut made = builder.make_in(folder, |part| create_part(part, replaced));
            if is_taken(&made) && remove_stale(&folder.join(&part)) {
                made = builder.make_in(folder, |part| create_part(part, replaced));
            }
            if !is_taken(&made) {
                return made;
            }
        }
    }
    // Short, so that every name that a folder takes can be written.
    let mut builder = tempfile::Builder::new();
    builder.prefix(PART_BEGIN).suffix(PART_END).rand_bytes(12);
    builder.make_in(folder, |part| create_part(part, replaced))
}

/// Creates and locks the unfinished file at `part`, which replaces the file at `replaced`.
///
/// # Errors
/// `AlreadyExists` for the unfinished file of another process.
pub(super) fn create_part(part: &Path, replaced: Option<&Path>) -> io::Result<(File, Unfinished)> {
    let mut options = OpenOptions::new();
    // Read as well: what was written is compared.
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if replaced.is_some() { 0o600 } else { 0o666 });
    #[cfg(windows)]
    if let Some(old) = replaced.and_then(|path| fs::symlink_metadata(path).ok()) {
        use std::os::windows::fs::{MetadataExt as _, OpenOptionsExt as _};
        /// Hidden, of the system, and not indexed for searches.
        const KEPT: u32 = 0x2 | 0x4 | 0x2000;
        options.attributes(old.file_attributes() & KEPT);
    }
    let _ = replaced;
    // A signal to this process must not remove the file of another.
    if exists(part) {
        return Err(ErrorKind::AlreadyExists.into());
    }
    // Before the file is there, so that a signal at any time finds it.
    let unfinished = Unfinished::register(part)?;
    let file = options.open(part)?;
    // Another process may have taken the new file for a stale one.
    let is_ours = if !cfg!(target_os = "linux") {
        Ok(true)
    } else if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        Ok(false)
    } else {
        FileState::read(part).map(|now| now.is_some_and(|now| now.is_same_file(&file)))
    };
    match is_ours {
        Ok(true) => Ok((file, unfinished)),
        Ok(false) => Err(ErrorKind::AlreadyExists.into()),
        Err(error) => {
            let _ = fs::remove_file(part);
            Err(error)
        }
    }
}

#[cfg(target_os = "linux")]
fn is_taken<T>(made: &io::Result<T>) -> bool {
    made.as_ref().err().is_some_and(|error| error.kind() == ErrorKind::AlreadyExists)
}

/// The beginning of the names of unfinished files.
pub(super) const PART_BEGIN: &str = ".assetq-";
/// The end of the names of unfinished files.
pub(super) const PART_END: &str = ".part";
/// The most unfinished files of one name at once. A later write looks for stale ones among them.
#[cfg(target_os = "linux")]
const NUMBERED: usize = 8;

/// Removes the unfinished files in `folder` that no process is writing, on Linux. Returns their number.
///
/// # Errors
/// If the folder cannot be read.
pub fn remove_stale_parts(folder: &Path) -> io::Result<usize> {
    if cfg!(not(target_os = "linux")) {
        return Ok(0);
    }
    Ok(parts(folder)?.iter().filter(|entry| remove_stale(&entry.path())).count())
}

/// The entries of `folder` whose names are names of unfinished files and folders.
fn parts(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    fn is_part(entry: &fs::DirEntry) -> bool {
        entry.file_name().to_str().is_some_and(|name| name.starts_with(PART_BEGIN) && name.ends_with(PART_END))
    }
    let entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    Ok(entries.into_iter().filter(is_part).collect())
}

/// A folder that is being filled. It is locked on Linux, so that [`PartFolder::create`] removes it after its process was killed.
#[derive(Debug)]
pub struct PartFolder {
    folder: TempDir,
    lock: Option<File>,
}

impl PartFolder {
    /// Creates an unfinished folder in `parent`, and removes the unfinished folders there that no process fills, on Linux.
    ///
    /// # Errors
    /// If `parent` cannot be read or written.
    pub fn create(parent: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PART_BEGIN).suffix(PART_END);
        if cfg!(not(target_os = "linux")) {
            return Ok(Self { folder: builder.tempdir_in(parent)?, lock: None });
        }
        // No other process removes the new folder before it is locked. A file system may have no locks.
        let all = File::open(parent)?;
        if all.lock().is_ok() {
            parts(parent)?.iter().for_each(|entry| remove_stale_folder(&entry.path()));
        }
        let folder = builder.tempdir_in(parent)?;
        let lock = File::open(folder.path())?;
        let _ = lock.try_lock();
        Ok(Self { folder, lock: Some(lock) })
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves the folder to the caller, with its lock.
    pub fn into_parts(self) -> (TempDir, Option<File>) {
        (self.folder, self.lock)
    }
}

/// Removes the unfinished folder at `part`, unless a process holds its lock or it cannot be removed.
fn remove_stale_folder(part: &Path) {
    let is_folder = fs::symlink_metadata(part).is_ok_and(|meta| meta.is_dir());
    if is_folder && File::open(part).is_ok_and(|folder| folder.try_lock().is_ok()) {
        let _ = fs::remove_dir_all(part);
    }
}

/// Removes the unfinished file at `part`, unless a process holds its lock. Returns whether it was removed.
fn remove_stale(part: &Path) -> bool {
    let Some(file) = open_regular(part) else { return false };
    // The name may belong to another file since.
    file.try_lock().is_ok()
        && FileState::read(part).is_ok_and(|now| now.is_some_and(|now| now.is_same_file(&file)))
        && fs::remove_file(part).is_ok()
}
