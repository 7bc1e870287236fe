//! Files that get their name once they are complete.
//!
//! An [`AtomicFile`] is written under a random, hidden name in the folder of its final name, because games read a folder
//! while a file is added to it. [`AtomicFile::commit`] syncs the file and renames it. If the process ends before that by an
//! error, a panic or a signal, the unfinished file is removed and the file that it was to replace is unchanged.
//!
//! A file that is to be replaced is locked while the new one is written, and must be in the same state at the end: of two
//! programs that replace it at once, the second fails. The lock is advisory; programs that do not ask for it are only
//! noticed by what they changed.
//!
//! A link is never followed: it counts as a file that exists, and is replaced itself. A pipe or a device is written to
//! directly.

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
use tempfile::TempPath;

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
    Part(PartFile),
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
    /// The folders with a new entry: the one of the file, and the parents of folders that were made for it.
    folders: Vec<PathBuf>,
    _unfinished: Unfinished,
}

/// The file that has the name of the new one.
#[derive(Debug)]
struct Replaced {
    state: FileState,
    /// The lock on it; `None` for a link, a file that may not be read, and on file systems without locks.
    lock: Option<File>,
}

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 16;

impl AtomicFile {
    /// Begins the file that is to be at `to`. Makes its folder if it is missing.
    ///
    /// # Errors
    /// As [`check`]; `ResourceBusy` if the file to replace is being written by another program or is not in the expected
    /// state; and if no file can be made in the folder.
    pub fn create(to: &Path, overwrite: Overwrite) -> io::Result<Self> {
        check(to, overwrite)?;
        let place = if is_stream(to) { Self::stream(to) } else { Self::part(to, overwrite) };
        place.map(|place| Self { to: to.to_owned(), place }).map_err(|error| about(to, error))
    }

    fn stream(to: &Path) -> io::Result<Destination> {
        // A descriptor's file may hold lines of others already.
        let append = fs::metadata(to)?.is_file();
        let out = OpenOptions::new().write(true).append(append).open(to)?;
        Ok(Destination::Stream(BufWriter::with_capacity(BUFFER, out)))
    }

    fn part(to: &Path, overwrite: Overwrite) -> io::Result<Destination> {
        let replaced = Replaced::hold(to, overwrite)?;
        let folder = parent_of(to);
        let folders = make_folder(folder)?;
        // Short, so that every name that a folder takes can be written.
        let name =
            tempfile::Builder::new().prefix(".assetq-").suffix(".part").rand_bytes(12).make_in(folder, |part| {
                let unfinished = Unfinished::at(part)?;
                // Read as well: what was written is compared.
                Ok((OpenOptions::new().read(true).write(true).create_new(true).open(part)?, unfinished))
            })?;
        let ((out, _unfinished), path) = name.into_parts();
        let out = BufWriter::with_capacity(BUFFER, out);
        Ok(Destination::Part(PartFile { out, path, overwrite, replaced, folders, _unfinished }))
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
        let out = self.out();
        let written = out.seek(SeekFrom::Start(at)).and_then(|_| out.write_all(bytes));
        let written = written.and_then(|()| out.seek(SeekFrom::End(0)).map(drop));
        written.map_err(|error| about(&self.to, error))
    }

    /// Reads the bytes at `at` after all pending writes, and continues at the end.
    ///
    /// # Errors
    /// If the file has fewer bytes, or they cannot be read: `NotSeekable` for a pipe.
    pub fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let out = self.out();
        let read = out.seek(SeekFrom::Start(at)).and_then(|_| out.get_mut().read_exact(into));
        let read = read.and_then(|()| out.seek(SeekFrom::End(0)).map(drop));
        read.map_err(|error| about(&self.to, error))
    }

    /// Gives the file its name. The bytes are on the disk before the name, and the name before this returns.
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
    ///
    /// # Errors
    /// As [`AtomicFile::commit`].
    pub fn commit_unsynced(self) -> io::Result<()> {
        self.finish(false)
    }

    fn finish(self, sync: bool) -> io::Result<()> {
        let Self { to, place } = self;
        // Zeros in place of bytes that a server failed to send get no name.
        #[cfg(feature = "remote")]
        crate::source::remote::check_faults()?;
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
        let Self { out, mut path, overwrite, replaced, folders, _unfinished } = self;
        let file = out.into_inner().map_err(|error| error.into_error())?;
        #[cfg(unix)]
        if replaced.is_some()
            && let Some(old) = fs::symlink_metadata(to).ok().filter(fs::Metadata::is_file)
        {
            file.set_permissions(old.permissions())?;
        }
        // The new name must not reach the disk before the new bytes.
        if sync || replaced.as_ref().is_some_and(|replaced| replaced.state.len() > 0) {
            self::sync(&file, &path)?;
        }
        drop(file);
        match replaced {
            Some(Replaced { state, lock }) => {
                if FileState::at(to)? != Some(state) {
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
        if sync { folders.iter().try_for_each(|folder| sync_folder(folder)) } else { Ok(()) }
    }
}

impl Replaced {
    /// Locks the file at `to`, if one is to be replaced.
    fn hold(to: &Path, overwrite: Overwrite) -> io::Result<Option<Self>> {
        let found = match overwrite {
            Overwrite::Refuse => return Ok(None),
            Overwrite::Replace | Overwrite::IfUnchanged(_) => FileState::at(to)?,
        };
        let lock = if found.is_some() { lock(to)? } else { None };
        let is_other = |state: FileState| found != Some(state);
        if lock.as_ref().is_some_and(|(_, locked)| is_other(*locked))
            || matches!(overwrite, Overwrite::IfUnchanged(expected) if expected != found)
        {
            return Err(changed());
        }
        Ok(found.map(|state| Self { state, lock: lock.map(|(lock, _)| lock) }))
    }
}

/// Locks the file at `path`, and returns the lock with the state of the locked file; `None` if it cannot be locked at all.
fn lock(path: &Path) -> io::Result<Option<(File, FileState)>> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    let Some(file) = is_file.then(|| File::open(path).ok()).flatten() else { return Ok(None) };
    let Ok(meta) = file.metadata() else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some((file, FileState::of(&meta)))),
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

/// The wait after the first failed rename; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(10);
/// The longest wait.
const LAST_WAIT: Duration = Duration::from_millis(1280);

/// Renames `part` to the name of the file that it replaces. Windows refuses that while another program has the file open,
/// as virus scanners have for a moment, and where it cannot replace open files also because of our own lock.
pub fn replace(part: &Path, to: &Path, lock: Option<File>) -> io::Result<()> {
    let mut lock = lock;
    let mut wait = FIRST_WAIT;
    loop {
        match fs::rename(part, to) {
            Err(error) if is_in_use(&error) && wait <= LAST_WAIT => {
                if lock.take().is_none() {
                    thread::sleep(wait);
                    wait = wait.saturating_mul(2);
                }
            }
            Err(error) if is_in_use(&error) => {
                let what = format!("{error}; is it open in another program, or read-only?");
                return Err(io::Error::new(error.kind(), what));
            }
            done => return done,
        }
    }
}

/// Whether an error of Windows may pass once another program has closed a file.
fn is_in_use(error: &io::Error) -> bool {
    const ACCESS_DENIED: i32 = 5;
    const SHARING_VIOLATION: i32 = 32;
    const LOCK_VIOLATION: i32 = 33;
    cfg!(windows) && matches!(error.raw_os_error(), Some(ACCESS_DENIED | SHARING_VIOLATION | LOCK_VIOLATION))
}

/// Gives `part` the name `to`, which must be free.
fn without_replacing(part: TempPath, to: &Path) -> io::Result<()> {
    match part.persist_noclobber(to) {
        Ok(()) => Ok(()),
        // Some file systems know neither that question nor links.
        Err(failed) if failed.error.kind() != ErrorKind::AlreadyExists && !exists(to) => Ok(failed.path.persist(to)?),
        Err(failed) => Err(failed.error),
    }
}

/// The folder of `path`.
fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes `folder` and its parents if they are missing. Returns the folders that have a new entry once a file is in it.
fn make_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing = folder.ancestors().take_while(is_missing).map(|folder| parent_of(folder).to_owned());
    let changed = std::iter::once(folder.to_owned()).chain(missing).collect();
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
        #[cfg(feature = "remote")]
        crate::source::remote::prefetch(bytes);
        let written = self.out().write(bytes);
        written.map_err(|error| about(&self.to, error))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        #[cfg(feature = "remote")]
        crate::source::remote::prefetch(bytes);
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
        Ok(_) if overwrite == Overwrite::Refuse => Err(about(to, ErrorKind::AlreadyExists.into())),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(about(to, error)),
        _ => Ok(()),
    }
}

/// Whether something has this name, if only a link that leads nowhere.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Whether `path` is written to as it is, having no content that could be whole: a pipe, a device, an open descriptor.
pub fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| !meta.is_dir() && (!meta.is_file() || is_descriptor(path)))
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
    use tempfile::TempDir;

    thread_local! {
        /// The files and folders that were synced.
        pub(super) static SYNCED: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
    }

    fn write(to: &Path, overwrite: Overwrite, text: &str) -> io::Result<()> {
        let mut file = AtomicFile::create(to, overwrite)?;
        file.write_all(text.as_bytes())?;
        file.commit()
    }

    fn names(folder: &TempDir) -> Vec<String> {
        let names = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_file_has_its_name_once_it_is_whole() {
        let folder = TempDir::new().unwrap();
        let to = folder.path().join("deep/er/out.csv");
        let mut file = AtomicFile::create(&to, Overwrite::Refuse).unwrap();
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
        let folder = TempDir::new().unwrap();
        let to = folder.path().join("out.csv");
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
        let folder = TempDir::new().unwrap();
        let to = folder.path().join("out.csv");
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
        let folder = TempDir::new().unwrap();
        let to = folder.path().join("out.csv");
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
        let folder = TempDir::new().unwrap();
        let to = folder.path().join("out.csv");
        fs::write(&to, "old").unwrap();
        let read = Overwrite::IfUnchanged(FileState::at(&to).unwrap());
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
        let folder = TempDir::new().unwrap();
        let to = folder.path().join("out.csv");
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
                let read = Overwrite::IfUnchanged(FileState::at(&to).unwrap());
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
            let file = AtomicFile::create(to, overwrite).unwrap();
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
