//! Files that get their name once they are complete.
//!
//! An [`AtomicFile`] is written under a hidden name in the folder of its final name, because games read a folder
//! while a file is added to it. [`AtomicFile::commit`] syncs the file and renames it. If the process ends before that by an
//! error, a panic or a signal, the unfinished file is removed and the file that it was to replace is unchanged. A process
//! that is killed leaves its unfinished file. On Linux the file is locked as long as it is written, and the next write to
//! the same name, or [`remove_stale_parts`], removes it once no process has the lock.
//!
//! A new file that replaces another takes its owner, group and mode, and on Linux its access control list and extended
//! attributes. Where the owner or the group cannot be kept, setuid and setgid are not, either. On Windows it stays hidden.
//! Elsewhere access control lists and extended attributes are lost: on Windows the new file has the list of its folder.
//!
//! A file that is to be replaced is locked while the new one is written, and must be in the same state at the end: of two
//! programs that replace it at once, the second fails. The lock is advisory; programs that do not ask for it are only
//! noticed by what they changed.
//!
//! A link is never followed: it counts as a file that exists, and is replaced itself. A pipe or a device is written to
//! directly.

#[cfg(target_os = "linux")]
use crate::codec;
use crate::paths::{is_device_path, unlimited};
use crate::source::FileState;
use crate::source::signals::Unfinished;
pub use crate::source::signals::{
    exit_when_memory_runs_out, keep_running_at_size_limits, remove_unfinished_when_ended,
};
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use tempfile::{NamedTempFile, TempDir, TempPath};

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

#[derive(Debug)]
struct Replaced {
    state: FileState,
    /// The lock on it; `None` for a link, a file that may not be read, and on file systems without locks.
    lock: Option<File>,
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

/// Makes a new file in `folder` for unfinished bytes of `to`. If it replaces a file, only this user may read it: it gets the
/// permissions of the replaced file at last.
fn new_part(to: &Path, folder: &Path, replaces_file: bool) -> io::Result<NamedTempFile<(File, Unfinished)>> {
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
fn create_part(part: &Path, replaced: Option<&Path>) -> io::Result<(File, Unfinished)> {
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
const PART_BEGIN: &str = ".assetq-";
/// The end of the names of unfinished files.
const PART_END: &str = ".part";
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

/// Gives `file` the owner, group and mode of the file that it replaces, without permissions beyond `most`.
#[cfg(unix)]
fn take_access(file: &File, old: &fs::Metadata, most: u32) -> io::Result<()> {
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
fn copy_attributes(old: &Path, file: &File) -> io::Result<()> {
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

impl Replaced {
    /// Locks the file at `to`, if one is to be replaced.
    fn hold(to: &Path, overwrite: Overwrite) -> io::Result<Option<Self>> {
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

/// Makes `folder` and its parents if they are missing. Returns the folders that have a new entry once a file is in it.
fn make_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let missing = folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let parents = missing.map(|folder| parent_of(folder).to_owned());
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

/// Whether something has this name, if only a link that leads nowhere.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Whether a regular file, and no link to one, has this name.
fn is_regular(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

fn open_regular(path: &Path) -> Option<File> {
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
type Id = PathBuf;

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

fn about(to: &Path, error: io::Error) -> io::Error {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    thread_local! {
        pub(super) static SYNCED: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
    }

    fn write(to: &Path, overwrite: Overwrite, text: &str) -> io::Result<()> {
        let mut file = AtomicFile::create(to, overwrite)?;
        file.write_all(text.as_bytes())?;
        file.commit()
    }

    fn output() -> (TempDir, PathBuf) {
        let folder = TempDir::new().unwrap();
        let to = folder.path().join("out.csv");
        (folder, to)
    }

    fn names(folder: &TempDir) -> Vec<String> {
        let names = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_file_has_its_name_once_it_is_whole() {
        let folder = TempDir::new().unwrap();
        let to = folder.path().join("deep/er/out.csv");
        let error = AtomicFile::create(&to, Overwrite::Refuse).unwrap_err();
        assert_eq!((error.kind(), output_of(&error)), (ErrorKind::NotFound, to.to_str()));
        assert_eq!(names(&folder), [""; 0]);
        let mut file = AtomicFile::create_with_folders(&to, Overwrite::Refuse).unwrap();
        file.write_all(b"whole").unwrap();
        assert!(!to.exists());
        assert_eq!(file.part_path().unwrap().parent(), to.parent());
        file.commit().unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"whole");
        assert_eq!(fs::read_dir(to.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_not_kept_leaves_nothing() {
        let folder = TempDir::new().unwrap();
        let mut file = AtomicFile::create(&folder.path().join("out.csv"), Overwrite::Refuse).unwrap();
        file.write_all(&[0; 200_000]).unwrap();
        assert_eq!(names(&folder).len(), 1);
        drop(file);
        assert_eq!(names(&folder), [""; 0]);
    }

    #[test]
    fn bytes_that_are_known_late_come_to_their_place() {
        let (_folder, to) = output();
        let mut file = AtomicFile::create(&to, Overwrite::Refuse).unwrap();
        file.write_all(b"sum 0000 of ").unwrap();
        file.write_at(4, b"1234").unwrap();
        let mut back = [0; 6];
        file.read_at(4, &mut back).unwrap();
        assert_eq!(&back, b"1234 o");
        file.write_all(b"all").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"sum 1234 of all");
    }

    #[test]
    fn the_longest_name_can_be_written() {
        let folder = TempDir::new().unwrap();
        let name = format!("{}.csv", "x".repeat(251));
        write(&folder.path().join(&name), Overwrite::Refuse, "whole").unwrap();
        assert_eq!(names(&folder), [name]);
    }

    #[test]
    fn what_exists_stays_unless_it_may_be_replaced() {
        let (folder, to) = output();
        fs::write(&to, "old").unwrap();
        let error = write(&to, Overwrite::Refuse, "new").unwrap_err();
        assert_eq!((error.kind(), output_of(&error)), (ErrorKind::AlreadyExists, to.to_str()));
        assert_eq!(fs::read(&to).unwrap(), b"old");
        write(&to, Overwrite::Replace, "new").unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"new");
        let error = write(folder.path(), Overwrite::Replace, "new").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IsADirectory);
    }

    /// As two commands do that begin at once.
    #[test]
    fn of_two_new_files_of_one_name_the_second_is_refused() {
        let (folder, to) = output();
        let begin = |text: &str| {
            let mut file = AtomicFile::create(&to, Overwrite::Refuse).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file
        };
        let (first, second) = (begin("first"), begin("second"));
        first.commit().unwrap();
        assert_eq!(second.commit().unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&to).unwrap(), b"first");
        assert_eq!(names(&folder), ["out.csv"]);
    }

    /// As two commands do that read a file and write it back.
    #[test]
    fn a_file_is_replaced_by_one_writer_at_a_time() {
        let (folder, to) = output();
        fs::write(&to, "old").unwrap();
        let read = Overwrite::IfUnchanged(FileState::read(&to).unwrap());
        let mut first = AtomicFile::create(&to, read).unwrap();
        for second in [Overwrite::Replace, read] {
            let error = AtomicFile::create(&to, second).unwrap_err();
            assert_eq!((error.kind(), output_of(&error)), (ErrorKind::ResourceBusy, to.to_str()));
            assert!(error.to_string().contains("another program is writing it"), "{error}");
        }
        first.write_all(b"first").unwrap();
        first.commit().unwrap();
        let error = AtomicFile::create(&to, read).unwrap_err();
        assert!(error.to_string().contains("it changed after it was opened"), "{error}");
        assert_eq!(fs::read(&to).unwrap(), b"first");
        assert_eq!(names(&folder), ["out.csv"]);
    }

    /// On Windows the lock keeps other programs from it.
    #[cfg(unix)]
    #[test]
    fn a_file_that_another_program_changes_meanwhile_is_not_replaced() {
        let (folder, to) = output();
        // Written, replaced, removed, and made where there was none.
        let by_others: [(&str, &dyn Fn()); 4] = [
            ("old", &|| fs::write(&to, "theirs").unwrap()),
            ("old", &|| {
                fs::write(folder.path().join("other"), "old").unwrap();
                fs::rename(folder.path().join("other"), &to).unwrap();
            }),
            ("old", &|| fs::remove_file(&to).unwrap()),
            ("", &|| fs::write(&to, "theirs").unwrap()),
        ];
        for (before, by_other) in by_others {
            for is_read in [false, true] {
                let _ = fs::remove_file(&to);
                if !before.is_empty() {
                    fs::write(&to, before).unwrap();
                }
                let read = Overwrite::IfUnchanged(FileState::read(&to).unwrap());
                let file = AtomicFile::create(&to, if is_read { read } else { Overwrite::Replace }).unwrap();
                by_other();
                let theirs = fs::read(&to).ok();
                let error = file.commit().unwrap_err();
                assert!(error.to_string().contains("it changed after it was opened"), "{error}");
                assert_eq!(fs::read(&to).ok(), theirs);
            }
        }
    }

    #[test]
    fn a_file_and_its_new_folders_are_synced() {
        let synced = |to: &Path, overwrite, commit: fn(AtomicFile) -> io::Result<()>| {
            let file = AtomicFile::create_with_folders(to, overwrite).unwrap();
            let part = file.part_path().unwrap().to_owned();
            SYNCED.take();
            commit(file).unwrap();
            SYNCED.take().into_iter().map(|path| if path == part { "PART".into() } else { path }).collect::<Vec<_>>()
        };
        let folder = TempDir::new().unwrap();
        let at = |path: &str| folder.path().join(path);
        let part = PathBuf::from("PART");
        let folders = if cfg!(unix) { vec![at("a/b"), at("a"), folder.path().to_owned()] } else { Vec::new() };
        assert_eq!(
            synced(&at("a/b/out"), Overwrite::Refuse, AtomicFile::commit),
            [vec![part.clone()], folders].concat()
        );
        let folders = if cfg!(unix) { vec![at("a/b")] } else { Vec::new() };
        assert_eq!(
            synced(&at("a/b/out"), Overwrite::Replace, AtomicFile::commit),
            [vec![part.clone()], folders].concat()
        );
        // One of many is synced with the others, unless it replaces bytes.
        #[cfg(target_os = "linux")]
        {
            fs::write(at("old"), "old").unwrap();
            assert!(synced(&at("many"), Overwrite::Refuse, AtomicFile::commit_unsynced).is_empty());
            assert_eq!(synced(&at("old"), Overwrite::Replace, AtomicFile::commit_unsynced), [part]);
            sync_files(folder.path()).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_never_followed() {
        use std::os::unix::fs::symlink;
        let folder = TempDir::new().unwrap();
        let [target, link, dangling] = ["target", "link", "dangling"].map(|name| folder.path().join(name));
        fs::write(&target, "precious").unwrap();
        symlink(&target, &link).unwrap();
        symlink(folder.path().join("nowhere"), &dangling).unwrap();
        for link in [&link, &dangling] {
            assert_eq!(write(link, Overwrite::Refuse, "new").unwrap_err().kind(), ErrorKind::AlreadyExists);
            write(link, Overwrite::Replace, "new").unwrap();
            assert!(fs::symlink_metadata(link).unwrap().is_file());
        }
        assert_eq!(fs::read(&target).unwrap(), b"precious");
        assert!(!folder.path().join("nowhere").exists());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_any_new_file_or_of_the_old_one() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = TempDir::new().unwrap();
        let [plain, to] = ["plain", "out"].map(|name| folder.path().join(name));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        fs::write(&plain, "").unwrap();
        write(&to, Overwrite::Refuse, "new").unwrap();
        assert_eq!(mode(&to), mode(&plain));
        fs::set_permissions(&to, fs::Permissions::from_mode(0o640)).unwrap();
        write(&to, Overwrite::Replace, "newer").unwrap();
        assert_eq!(mode(&to) & 0o777, 0o640);
    }

    /// As a killed process leaves it: not locked.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_unfinished_file_of_a_killed_process_is_removed_by_the_next_write() {
        let (folder, to) = output();
        let part = |file: &AtomicFile| file.part_path().unwrap().to_owned();
        let begin = || AtomicFile::create(&to, Overwrite::Refuse).unwrap();
        let left = part(&begin());
        fs::write(&left, "left by a killed process").unwrap();
        let (first, second) = (begin(), begin());
        // The stale one is gone, and of two that are written each has its own.
        assert_eq!((part(&first), fs::metadata(&left).unwrap().len()), (left.clone(), 0));
        assert_ne!(part(&second), left);
        let other = folder.path().join(".assetq-abc.part");
        fs::write(&other, "of another name").unwrap();
        fs::write(folder.path().join(".assetq-abc.old"), "of a snapshot").unwrap();
        std::os::unix::fs::symlink(&other, folder.path().join(".assetq-link.part")).unwrap();
        fs::create_dir(folder.path().join(".assetq-folder.part")).unwrap();
        assert_eq!(remove_stale_parts(folder.path()).unwrap(), 1);
        assert!(!other.exists() && part(&first).exists() && part(&second).exists());
        first.commit().unwrap();
        drop(second);
        let mut left = names(&folder);
        left.sort_unstable();
        assert_eq!(left, [".assetq-abc.old", ".assetq-folder.part", ".assetq-link.part", "out.csv"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_unfinished_folder_of_a_killed_process_is_removed_by_the_next_one() {
        let parent = TempDir::new().unwrap();
        let (other, stale) = (PartFolder::create(parent.path()).unwrap(), parent.path().join(".assetq-abc.part"));
        fs::create_dir(&stale).unwrap();
        fs::write(stale.join("x"), "left by a killed process").unwrap();
        fs::create_dir(parent.path().join("abc.part")).unwrap();
        let next = PartFolder::create(parent.path()).unwrap();
        assert!(!stale.exists() && other.path().exists() && next.path().exists());
        drop((other, next));
        assert_eq!(names(&parent), ["abc.part"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_private_while_it_is_written_and_keeps_its_owner() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
        let folder = TempDir::new().unwrap();
        let to = folder.path().join("out");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        fs::write(&to, "old").unwrap();
        for kept in [0o600, 0o4755, 0o2644] {
            set(&to, kept);
            let file = AtomicFile::create(&to, Overwrite::Replace).unwrap();
            assert_eq!(mode(file.part_path().unwrap()), 0o600);
            file.commit().unwrap();
            assert_eq!(mode(&to), kept);
        }
        // Beside a private file a new one is as private, whatever it replaces.
        set(&to, 0o600);
        let undo = folder.path().join("undo");
        for _ in 0..2 {
            let mut file = AtomicFile::create(&undo, Overwrite::Replace).unwrap();
            file.restrict_as(&to).unwrap();
            assert_eq!(mode(file.part_path().unwrap()), 0o600);
            file.commit().unwrap();
            assert_eq!(mode(&undo), 0o600);
            set(&undo, 0o644);
        }
        // Only root can give files away.
        if fs::metadata(&to).unwrap().uid() == 0 && chown(&to, Some(1000), Some(1001)).is_ok() {
            set(&to, 0o4755);
            write(&to, Overwrite::Replace, "new").unwrap();
            let meta = fs::metadata(&to).unwrap();
            assert_eq!((meta.uid(), meta.gid(), mode(&to)), (1000, 1001, 0o4755));
        }
    }

    #[cfg(unix)]
    #[test]
    fn of_a_file_that_cannot_keep_its_owner_no_right_to_act_as_the_owner_is_kept() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let folder = TempDir::new().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        fs::write(&old, "").unwrap();
        fs::set_permissions(&old, fs::Permissions::from_mode(0o6755)).unwrap();
        let file = File::create(&new).unwrap();
        let mode = || fs::metadata(&new).unwrap().mode() & 0o7777;
        take_access(&file, &fs::metadata(&old).unwrap(), 0o7777).unwrap();
        assert_eq!(mode(), 0o6755);
        // A file of the system's, which only root could imitate.
        let of_root = fs::metadata("/").unwrap();
        if fs::metadata(&old).unwrap().uid() != of_root.uid() {
            take_access(&file, &of_root, 0o7777).unwrap();
            assert_eq!(mode() & 0o6000, 0);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn extended_attributes_are_kept() {
        use rustix::fs::{XattrFlags, lgetxattr, lsetxattr};
        let folder = TempDir::new().unwrap();
        let to = folder.path().join("out");
        fs::write(&to, "old").unwrap();
        if lsetxattr(&to, "user.origin", b"mine", XattrFlags::empty()).is_err() {
            eprintln!("skipped: this file system has no attributes");
            return;
        }
        // A list that lets the user 1000 read, and is more than the mode can say.
        let acl: Vec<u8> =
            [(1u16, 6u16, u32::MAX), (2, 4, 1000), (4, 0, u32::MAX), (16, 4, u32::MAX), (32, 0, u32::MAX)].iter().fold(
                2u32.to_le_bytes().to_vec(),
                |mut list, (tag, may, id)| {
                    list.extend(tag.to_le_bytes());
                    list.extend(may.to_le_bytes());
                    list.extend(id.to_le_bytes());
                    list
                },
            );
        let has_list = lsetxattr(&to, "system.posix_acl_access", &acl, XattrFlags::empty()).is_ok();
        let mode = fs::metadata(&to).unwrap().permissions();
        write(&to, Overwrite::Replace, "new").unwrap();
        let mut value = [0; 100];
        let len = lgetxattr(&to, "user.origin", &mut value).unwrap();
        assert_eq!(&value[..len], b"mine");
        if has_list {
            let len = lgetxattr(&to, "system.posix_acl_access", &mut value).unwrap();
            assert_eq!(&value[..len], acl);
        }
        assert_eq!(fs::metadata(&to).unwrap().permissions(), mode);
    }

    #[test]
    fn outputs_are_one_file_by_identity() {
        let folder = TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        assert!(are_same_output(&at("new"), &at("sub/../new")) && !are_same_output(&at("new"), &at("sub/new")));
        fs::write(at("old"), "").unwrap();
        assert!(are_same_output(&at("old"), &at("./old")) && !are_same_output(&at("old"), &at("new")));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("sub"), at("link")).unwrap();
            assert!(are_same_output(&at("link/new"), &at("sub/new")));
            assert!(!are_same_output(Path::new("/dev/null"), Path::new("/dev/null")));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_to_and_stays_one() {
        use std::os::unix::fs::FileTypeExt as _;
        for overwrite in [Overwrite::Refuse, Overwrite::Replace] {
            write(Path::new("/dev/null"), overwrite, "new").unwrap();
        }
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn a_file_is_known_by_all_of_its_names() {
        let folder = TempDir::new().unwrap();
        let [file, link, other] = ["file", "link", "other"].map(|name| folder.path().join(name));
        fs::write(&file, "").unwrap();
        fs::write(&other, "").unwrap();
        assert_eq!(FileId::of(&file), FileId::of(&folder.path().join(".").join("file")));
        assert_ne!(FileId::of(&file), FileId::of(&other));
        assert_eq!(FileId::of(&link), None);
        #[cfg(unix)]
        {
            fs::hard_link(&file, &link).unwrap();
            assert_eq!(FileId::of(&file), FileId::of(&link));
        }
    }
}
