//! A file that another replaces: its lock and state, what the new file takes from it, and the renaming.

use super::Overwrite;
use super::output_path::open_regular;
use crate::source::FileState;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::thread;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Replaced {
    pub(super) state: FileState,
    /// The lock on it; `None` for a link, a file that may not be read, and on file systems without locks.
    pub(super) lock: Option<File>,
}

impl Replaced {
    /// Locks the file at `to`, if one is to be replaced.
    pub(super) fn hold(to: &Path, overwrite: Overwrite) -> io::Result<Option<Self>> {
        if overwrite == Overwrite::Refuse {
            return Ok(None);
        }
        let found = FileState::read(to)?;
        let held = found.map(|state| lock(to, state).map(|lock| Self { state, lock })).transpose()?;
        match overwrite {
            Overwrite::IfUnchanged(expected) if expected != found => Err(changed()),
            _ => Ok(held),
        }
    }
}

/// Gives `file` the owner, group and mode of the file that it replaces, without permissions beyond `most`.
#[cfg(unix)]
pub(super) fn take_access(file: &File, old: &fs::Metadata, most: u32) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    /// Setuid and setgid.
    const AS_OWNER: u32 = 0o6000;
    fn owners(meta: &fs::Metadata) -> (u32, u32) {
        (meta.uid(), meta.gid())
    }
    if owners(&file.metadata()?) != owners(old) {
        // Only some users may give files away; any user may give one to a group of its own.
        let _ = fchown(file, Some(old.uid()), Some(old.gid())).or_else(|_| fchown(file, None, Some(old.gid())));
    }
    let is_kept = owners(&file.metadata()?) == owners(old);
    let mode = old.permissions().mode() & if is_kept { most } else { most & !AS_OWNER };
    file.set_permissions(fs::Permissions::from_mode(mode & 0o7777))
}

/// Copies the access control list and the extended attributes of the file at `old`. Capabilities are for the old bytes
/// and are left out.
///
/// # Errors
/// If an attribute cannot be kept: the file could be open to more users then.
#[cfg(target_os = "linux")]
pub(super) fn copy_attributes(old: &Path, file: &File) -> io::Result<()> {
    use rustix::buffer::spare_capacity;
    use rustix::fs::{XattrFlags, fsetxattr, lgetxattr, llistxattr};
    /// The largest list of names, and the largest value, that Linux has.
    const MOST: usize = 1 << 16;
    let (mut names, mut value) = (Vec::with_capacity(MOST), Vec::with_capacity(MOST));
    // A file system may have no attributes at all.
    if llistxattr(old, spare_capacity(&mut names)).is_err() {
        return Ok(());
    }
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty() && *name != b"security.capability") {
        value.clear();
        let copied = lgetxattr(old, name, spare_capacity(&mut value))
            .and_then(|_| fsetxattr(file, name, &value, XattrFlags::empty()));
        // The labels of the system are its own matter: a new file has those that it is to have.
        if let Err(error) = copied
            && !name.starts_with(b"security.")
            && !name.starts_with(b"trusted.")
        {
            let what = format!("the attribute {} cannot be kept: {error}", String::from_utf8_lossy(name));
            return Err(io::Error::new(ErrorKind::PermissionDenied, what));
        }
    }
    Ok(())
}

/// Locks the file at `path`, which must be in `state`; `None` if it cannot be locked at all.
fn lock(path: &Path, state: FileState) -> io::Result<Option<File>> {
    let Some(file) = open_regular(path) else { return Ok(None) };
    let Ok(meta) = file.metadata() else { return Ok(None) };
    match file.try_lock() {
        Ok(()) if FileState::from_metadata(&meta) == state => Ok(Some(file)),
        Ok(()) => Err(changed()),
        Err(TryLockError::WouldBlock) => {
            let what = "another program is writing it; nothing is written";
            Err(io::Error::new(ErrorKind::ResourceBusy, what))
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// The error for a file or folder that another program changed.
pub fn changed() -> io::Error {
    let what = "it changed after it was opened; nothing is written: run the command again";
    io::Error::new(ErrorKind::ResourceBusy, what)
}

/// The waits after failed renames, in milliseconds.
const WAITS: [u64; 8] = [10, 20, 40, 80, 160, 320, 640, 1280];

/// Renames `part` to the name of the file that it replaces. Windows refuses that while another program has the file open,
/// as virus scanners have for a moment, and where it cannot replace open files also because of our own lock.
pub fn replace(part: &Path, to: &Path, mut lock: Option<File>) -> io::Result<()> {
    let mut waits = WAITS.into_iter();
    loop {
        let error = match fs::rename(part, to) {
            Err(error) if is_in_use(&error) => error,
            done => return done,
        };
        if lock.take().is_some() {
            continue;
        }
        let Some(wait) = waits.next() else {
            let what = format!("{error}; is it open in another program, or read-only?");
            return Err(io::Error::new(error.kind(), what));
        };
        thread::sleep(Duration::from_millis(wait));
    }
}

/// Whether an error of Windows may pass once another program has closed a file.
fn is_in_use(error: &io::Error) -> bool {
    const ACCESS_DENIED: i32 = 5;
    const SHARING_VIOLATION: i32 = 32;
    const LOCK_VIOLATION: i32 = 33;
    cfg!(windows) && matches!(error.raw_os_error(), Some(ACCESS_DENIED | SHARING_VIOLATION | LOCK_VIOLATION))
}
