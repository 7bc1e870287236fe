//! Files that get their name once they are complete.
//!
//! An [`AtomicFile`] is written under a hidden name in the folder of its final name, because games read a folder
//! while a file is added to it. [`AtomicFile::commit`] syncs the file and renames it. If the process ends before that by an
//! error, a panic or a signal, the unfinished file is removed and the file that it was to replace is unchanged. A process
//! that is killed leaves its unfinished file. On Linux the file is locked as long as it is written, and the next write to
//! the same name, or [`remove_stale_parts`], removes it once no process has the lock.
//!
//! A new file that replaces another takes its owner, group and mode, and on Linux its access control list and extended
//! attributes. Where the owner or the group cannot be kept, setuid and setgid are not, either. On Windows it takes the access
//! control list, and it stays hidden. On other systems access control lists and extended attributes are lost.
//!
//! A file that is to be replaced is locked while the new one is written, and must be in the same state at the end: of two
//! programs that replace it at once, the second fails. The lock is advisory; programs that do not ask for it are only
//! noticed by what they changed.
//!
//! A link is never followed: it counts as a file that exists, and is replaced itself. A pipe or a device is written to
//! directly.

#[cfg(windows)]
mod access_list;
mod output_path;
mod replaced;
mod unfinished;

use crate::paths::unlimited;
use crate::source::FileState;
use crate::source::signals::Unfinished;
pub use crate::source::signals::{
    exit_when_memory_runs_out, keep_running_at_size_limits, remove_unfinished_when_ended,
};
pub use output_path::{FileId, are_same_output, check_folder, is_inside, is_stream, of_output, output_of, parent_of};
use output_path::{about, exists, is_regular};
use replaced::Replaced;
#[cfg(target_os = "linux")]
use replaced::copy_attributes;
#[cfg(unix)]
use replaced::take_access;
pub use replaced::{changed, replace};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;
use unfinished::{PART_BEGIN, PART_END, new_part};
pub use unfinished::{PartFolder, remove_stale_parts};

/// The fate of a file that has the name of a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    /// It stays, and the new file is an error.
    Refuse,
    /// The new file replaces it and takes its permissions.
    Replace,
    /// As `Replace`, if the file is in this state, in which the program read it, or is still missing.
    IfUnchanged(Option<FileState>),
}

impl Overwrite {
    /// `Replace` with `force`, else `Refuse`.
    pub fn if_forced(force: bool) -> Self {
        if force { Self::Replace } else { Self::Refuse }
    }
}

/// An unfinished file. All of its errors name it, for [`output_of`].
#[derive(Debug)]
pub struct AtomicFile {
    to: PathBuf,
    place: Destination,
}

#[derive(Debug)]
enum Destination {
    Part(Box<PartFile>),
    /// A pipe or a device.
    Stream(BufWriter<File>),
}

#[derive(Debug)]
struct PartFile {
    out: BufWriter<File>,
    /// Removes the file unless it is committed.
    path: TempPath,
    overwrite: Overwrite,
    replaced: Option<Replaced>,
    /// The permissions that the file may have.
    #[cfg(unix)]
    most: u32,
    /// The folders with a new entry: the one of the file, and the parents of folders that were made for it.
    folders: Vec<PathBuf>,
    _unfinished: Unfinished,
}

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 16;

impl AtomicFile {
    /// Begins the file that is to be at `to`, in a folder that exists.
    ///
    /// # Errors
    /// As [`check`]; `ResourceBusy` if the file to replace is being written by another program or is not in the expected
    /// state; and if no file can be made in the folder.
    pub fn create(to: &Path, overwrite: Overwrite) -> io::Result<Self> {
        check_folder(to)?;
        Self::create_with_folders(to, overwrite)
    }

    /// As [`AtomicFile::create`], for a file of a folder that is written: makes the folder and its parents if they are
    /// missing.
    pub fn create_with_folders(to: &Path, overwrite: Overwrite) -> io::Result<Self> {
        check(to, overwrite)?;
        let place = if is_stream(to) { Self::stream(to) } else { Self::part(to, overwrite) };
        place.map(|place| Self { to: to.to_owned(), place }).map_err(|error| about(to, error))
    }

    /// Restricts the permissions of the file: only users who may read or write the file at `model` may do so with it.
    ///
    /// # Errors
    /// If the permissions cannot be set.
    pub fn restrict_as(&mut self, model: &Path) -> io::Result<()> {
        #[cfg(unix)]
        if let (Destination::Part(part), Ok(meta)) = (&mut self.place, fs::metadata(model)) {
            use std::os::unix::fs::PermissionsExt as _;
            part.most = meta.permissions().mode() & 0o777;
            let file = part.out.get_ref();
            let mode = file.metadata()?.permissions().mode() & part.most;
            file.set_permissions(fs::Permissions::from_mode(mode)).map_err(|error| about(&self.to, error))?;
        }
        #[cfg(windows)]
        if let Destination::Part(part) = &self.place
            && is_regular(model)
        {
            access_list::copy_access_list(&unlimited(model), &part.path).map_err(|error| about(&self.to, error))?;
        }
        let _ = model;
        Ok(())
    }

    fn stream(to: &Path) -> io::Result<Destination> {
        // A descriptor's file may hold lines of others already.
        let append = fs::metadata(to).is_ok_and(|meta| meta.is_file());
        let out = OpenOptions::new().write(true).append(append).open(to)?;
        Ok(Destination::Stream(BufWriter::with_capacity(BUFFER, out)))
    }

    fn part(to: &Path, overwrite: Overwrite) -> io::Result<Destination> {
        let replaced = Replaced::hold(to, overwrite)?;
        let folder = parent_of(to);
        let folders = make_folder(folder)?;
        // A link is replaced by a new file like any other.
        let replaces_file = replaced.is_some() && is_regular(to);
        let ((file, _unfinished), path) = new_part(to, &unlimited(folder), replaces_file)?.into_parts();
        #[cfg(target_os = "linux")]
        if replaces_file {
            copy_attributes(to, &file)?;
        }
        #[cfg(windows)]
        if replaces_file {
            access_list::copy_access_list(&unlimited(to), &path)?;
        }
        let out = BufWriter::with_capacity(BUFFER, file);
        Ok(Destination::Part(Box::new(PartFile {
            out,
            path,
            overwrite,
            replaced,
            #[cfg(unix)]
            most: 0o7777,
            folders,
            _unfinished,
        })))
    }

    /// The temporary name of the file, for code that opens files by name; `None` for a pipe or a device.
    pub fn part_path(&self) -> Option<&Path> {
        match &self.place {
            Destination::Part(part) => Some(&part.path),
            Destination::Stream(_) => None,
        }
    }

    /// A second handle of the file, to sync what is written so far while more is written; `None` for a pipe or a device.
    ///
    /// # Errors
    /// If the system gives no more handles.
    pub fn second_handle(&self) -> io::Result<Option<File>> {
        match &self.place {
            Destination::Part(part) => part.out.get_ref().try_clone().map(Some),
            Destination::Stream(_) => Ok(None),
        }
    }

    /// Replaces the bytes at `at`, and continues at the end.
    ///
    /// # Errors
    /// If they cannot be written: `NotSeekable` for a pipe.
    pub fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.at(at, |out| out.write_all(bytes))
    }

    /// Reads the bytes at `at` after all pending writes, and continues at the end.
    ///
    /// # Errors
    /// If the file has fewer bytes, or they cannot be read: `NotSeekable` for a pipe.
    pub fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.at(at, |out| out.get_mut().read_exact(into))
    }

    fn at(&mut self, at: u64, access: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
        let out = self.out();
        let accessed = out.seek(SeekFrom::Start(at)).and_then(|_| access(out));
        let accessed = accessed.and_then(|()| out.seek(SeekFrom::End(0)).map(drop));
        accessed.map_err(|error| about(&self.to, error))
    }

    /// Renames the file to its final name. The bytes are on the disk before the name, and the name before this returns.
    ///
    /// On Windows no map of the replaced file may be open in any program.
    ///
    /// # Errors
    /// If its last bytes cannot be written, or the file cannot be renamed; `AlreadyExists` if the name was taken in the
    /// meantime, `ResourceBusy` if the file to replace has changed.
    pub fn commit(self) -> io::Result<()> {
        self.finish(true)
    }

    /// As [`AtomicFile::commit`], for one of many files: only bytes that replace others are on the disk before the name,
    /// because the sync of a small file takes many times longer than to write it. [`sync_files`] syncs them together.
    pub fn commit_unsynced(self) -> io::Result<()> {
        self.finish(false)
    }

    fn finish(self, sync: bool) -> io::Result<()> {
        let Self { to, place } = self;
        match place {
            Destination::Part(part) => part.commit(&to, sync),
            Destination::Stream(mut out) => out.flush(),
        }
        .map_err(|error| about(&to, error))
    }

    fn out(&mut self) -> &mut BufWriter<File> {
        match &mut self.place {
            Destination::Part(part) => &mut part.out,
            Destination::Stream(out) => out,
        }
    }
}

/// Waits until all files on the file system of `folder` are on the disk, on Linux; no other system has a call for that.
///
/// # Errors
/// If some could not be written.
pub fn sync_files(folder: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        let opened = match File::open(folder) {
            // A folder may be written and not read.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(()),
            opened => opened,
        };
        opened.and_then(|folder| Ok(rustix::fs::syncfs(folder)?)).map_err(|error| about(folder, error))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        Ok(())
    }
}

impl PartFile {
    fn commit(self, to: &Path, sync: bool) -> io::Result<()> {
        #[cfg(unix)]
        let most = self.most;
        let Self { out, mut path, overwrite, replaced, folders, _unfinished, .. } = self;
        let file = out.into_inner().map_err(|error| error.into_error())?;
        #[cfg(unix)]
        if replaced.is_some()
            && let Some(old) = fs::symlink_metadata(to).ok().filter(fs::Metadata::is_file)
        {
            take_access(&file, &old, most)?;
        }
        // The new name must not reach the disk before the new bytes.
        if sync || replaced.as_ref().is_some_and(|replaced| replaced.state.len() > 0) {
            self::sync(&file, &path)?;
        }
        // The lock of the unfinished file ends with its name. Windows renames no file that is open.
        let file = cfg!(unix).then_some(file);
        match replaced {
            Some(Replaced { state, lock }) => {
                if FileState::read(to)? != Some(state) {
                    return Err(changed());
                }
                replace(&path, to, lock)?;
                path.disable_cleanup(true);
            }
            None => without_replacing(path, to).map_err(|error| match overwrite {
                Overwrite::Refuse => error,
                _ if error.kind() == ErrorKind::AlreadyExists => changed(),
                _ => error,
            })?,
        }
        drop(file);
        if sync { folders.iter().try_for_each(|folder| sync_folder(folder)) } else { Ok(()) }
    }
}

/// Renames `part` to `to`, which must be free.
fn without_replacing(part: TempPath, to: &Path) -> io::Result<()> {
    let to = &*unlimited(to);
    match part.persist_noclobber(to) {
        Ok(()) => Ok(()),
        // Some file systems know neither that question nor links.
        Err(failed) if failed.error.kind() != ErrorKind::AlreadyExists && !exists(to) => Ok(failed.path.persist(to)?),
        Err(failed) => Err(failed.error),
    }
}

/// Adds the name `link` to the file at `file`, in place of the file that has the name.
///
/// # Errors
/// If the file system has no such names, or the folder cannot be written.
pub fn replace_link(file: &Path, link: &Path) -> io::Result<()> {
    let mut part = tempfile::Builder::new();
    part.prefix(PART_BEGIN).suffix(PART_END);
    let part = part
        .make_in(unlimited(parent_of(link)), |part| fs::hard_link(file, part))
        .map_err(|error| about(link, error))?;
    part.into_temp_path().persist(unlimited(link)).map_err(|error| about(link, error.error))
}

/// The folders that are missing on the way to `folder`, itself included; the deepest first.
pub fn missing_folders(folder: &Path) -> impl Iterator<Item = &Path> {
    folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
}

/// Makes `folder` and its parents if they are missing. Returns the folders that have a new entry once a file is in it.
fn make_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let parents = missing_folders(folder).map(|folder| parent_of(folder).to_owned());
    let changed = std::iter::once(folder.to_owned()).chain(parents).collect();
    fs::create_dir_all(folder)?;
    Ok(changed)
}

/// Waits until the entries of `folder` are on the disk.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(folder).and_then(|file| sync(&file, folder)) {
        // A folder that may be written and not read, and file systems that sync no folders.
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidInput) => Ok(()),
        done => done,
    }
}

/// Waits until the bytes of `file`, which is at `path`, are on the disk.
fn sync(file: &File, path: &Path) -> io::Result<()> {
    #[cfg(test)]
    tests::SYNCED.with_borrow_mut(|synced| synced.push(path.to_owned()));
    let _ = path;
    file.sync_all()
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out().write(bytes);
        written.map_err(|error| about(&self.to, error))
    }

    /// At once: what does not fit into a full disk is an error of this call, and waits in no buffer.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.out().write_all(bytes);
        written.map_err(|error| about(&self.to, error))
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out().flush();
        flushed.map_err(|error| about(&self.to, error))
    }
}

/// Whether a file can be begun at `to` as far as its name goes.
///
/// # Errors
/// `AlreadyExists` for a file or a link that is to stay, `IsADirectory`, and when the name cannot be looked up.
pub fn check(to: &Path, overwrite: Overwrite) -> io::Result<()> {
    if is_stream(to) {
        return Ok(());
    }
    if to.is_dir() {
        return Err(about(to, ErrorKind::IsADirectory.into()));
    }
    match fs::symlink_metadata(to) {
        Ok(_) if overwrite == Overwrite::Refuse => {
            let what = "the file exists, and this write may not overwrite it";
            Err(about(to, io::Error::new(ErrorKind::AlreadyExists, what)))
        }
        Err(error) if error.kind() != ErrorKind::NotFound => Err(about(to, error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
