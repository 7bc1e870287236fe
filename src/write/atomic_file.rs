//! Files that appear under their name only once they are whole.
//!
//! A [`AtomicFile`] is written under a random name in the folder that it is for, hidden, as engines read a folder of files
//! while one is added. [`AtomicFile::commit`] gives it its name at once. Whatever ends before that (an error, a panic, a signal)
//! leaves nothing, neither a part of a file under the name nor the file that was meant to be replaced harmed.
//!
//! A link is never followed: it counts as a file that exists, and is itself what is replaced. What is no file at all, a
//! pipe or a device, is written to as it is.

use crate::source::signals::Unfinished;
pub use crate::source::signals::{
    exit_when_memory_runs_out, keep_running_at_size_limits, remove_unfinished_when_ended,
};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// The fate of a file that exists under the name of a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    /// It stays, and the new one is refused.
    Refuse,
    /// The new one takes its place and its permissions.
    Replace,
}

impl Overwrite {
    /// `Replace` where `force` is wanted.
    pub fn unless(force: bool) -> Self {
        if force { Self::Replace } else { Self::Refuse }
    }
}

/// A file in the making. All of its errors name it, for [`output_of`].
#[derive(Debug)]
pub struct AtomicFile {
    to: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Part(Part),
    /// A pipe or a device.
    Stream(BufWriter<File>),
}

#[derive(Debug)]
struct Part {
    out: BufWriter<File>,
    /// Removes the file where it is not kept.
    path: TempPath,
    overwrite: Overwrite,
    _unfinished: Unfinished,
}

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 16;

impl AtomicFile {
    /// Begins the file that is to be at `to`. Its folder is made where there is none.
    ///
    /// # Errors
    /// As [`check`], and when no file can be made in the folder.
    pub fn create(to: &Path, overwrite: Overwrite) -> io::Result<Self> {
        check(to, overwrite)?;
        let place = if is_stream(to) { Self::stream(to) } else { Self::part(to, overwrite) };
        place.map(|place| Self { to: to.to_owned(), place }).map_err(|error| about(to, error))
    }

    fn stream(to: &Path) -> io::Result<Place> {
        // A descriptor's file may hold lines of others already.
        let append = fs::metadata(to)?.is_file();
        let out = OpenOptions::new().write(true).append(append).open(to)?;
        Ok(Place::Stream(BufWriter::with_capacity(BUFFER, out)))
    }

    fn part(to: &Path, overwrite: Overwrite) -> io::Result<Place> {
        let folder = match to.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        fs::create_dir_all(folder)?;
        // Short, so that every name that a folder takes can be written.
        let name =
            tempfile::Builder::new().prefix(".assetq-").suffix(".part").rand_bytes(12).make_in(folder, |part| {
                let unfinished = Unfinished::at(part)?;
                // Read as well: what was written is compared.
                Ok((OpenOptions::new().read(true).write(true).create_new(true).open(part)?, unfinished))
            })?;
        let ((out, _unfinished), path) = name.into_parts();
        Ok(Place::Part(Part { out: BufWriter::with_capacity(BUFFER, out), path, overwrite, _unfinished }))
    }

    /// The name that the file has for now, for what opens files by name; `None` for a pipe or a device.
    pub fn part_path(&self) -> Option<&Path> {
        match &self.place {
            Place::Part(part) => Some(&part.path),
            Place::Stream(_) => None,
        }
    }

    /// Puts other bytes in place of those at `at`, and continues at the end.
    ///
    /// # Errors
    /// When they cannot be written: `NotSeekable` for a pipe.
    pub fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let out = self.out();
        let written = out.seek(SeekFrom::Start(at)).and_then(|_| out.write_all(bytes));
        let written = written.and_then(|()| out.seek(SeekFrom::End(0)).map(drop));
        written.map_err(|error| about(&self.to, error))
    }

    /// Reads the bytes at `at`, all that was written so far being in the file, and continues at the end.
    ///
    /// # Errors
    /// When the file has fewer, or they cannot be read: `NotSeekable` for a pipe.
    pub fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let out = self.out();
        let read = out.seek(SeekFrom::Start(at)).and_then(|_| out.get_mut().read_exact(into));
        let read = read.and_then(|()| out.seek(SeekFrom::End(0)).map(drop));
        read.map_err(|error| about(&self.to, error))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// When its last bytes cannot be written, or its name cannot be given to it or has come to exist meanwhile.
    pub fn commit(self) -> io::Result<()> {
        let Self { to, place } = self;
        match place {
            Place::Part(part) => part.keep(&to),
            Place::Stream(mut out) => out.flush(),
        }
        .map_err(|error| about(&to, error))
    }

    fn out(&mut self) -> &mut BufWriter<File> {
        match &mut self.place {
            Place::Part(part) => &mut part.out,
            Place::Stream(out) => out,
        }
    }
}

impl Part {
    fn keep(self, to: &Path) -> io::Result<()> {
        let file = self.out.into_inner().map_err(|error| error.into_error())?;
        if self.overwrite == Overwrite::Refuse {
            drop(file);
            return without_replacing(self.path, to);
        }
        if let Ok(old) = fs::symlink_metadata(to) {
            #[cfg(unix)]
            if old.is_file() {
                file.set_permissions(old.permissions())?;
            }
            // There is something to lose: the new name must not reach the disk before the new bytes do.
            if old.len() > 0 {
                file.sync_all()?;
            }
        }
        drop(file);
        Ok(self.path.persist(to)?)
    }
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

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out().write(bytes);
        written.map_err(|error| about(&self.to, error))
    }

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
pub(crate) fn is_stream(path: &Path) -> bool {
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
    /// The file at `path`, links followed; `None` where there is none.
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
    use tempfile::TempDir;

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
