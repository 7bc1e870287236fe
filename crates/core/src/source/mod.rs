//! The origin of bytes: a mapped file, a file read into memory, or the output of a codec.

pub mod bounded;
mod map;
pub mod signals;
mod state;
pub mod text_input;

use crate::bytes::{View, shown};
use crate::error::{Error, ErrorKind, Result};
use bytes::Bytes;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub use map::exit_when_a_mapped_file_shrinks;
pub(crate) use state::no_file;
pub use state::{FileState, is_absent, metadata_if_present};

/// The bytes of one file, shared and immutable. Cloning and slicing copy nothing.
///
/// A mapped file must not change while it is open: see [what the safety of `Source::open` rests
/// on](crate#what-the-safety-of-sourceopen-rests-on).
#[derive(Clone)]
pub struct Source {
    bytes: Bytes,
    /// Position of the first byte in the outermost file.
    origin: u64,
    name: Arc<str>,
    /// The file on disk with these bytes.
    place: Option<Arc<OpenedPath>>,
    /// Whether these are all bytes of that file.
    is_whole: bool,
    /// The file whose neighbours belong to this one, if that is not the file on disk with these bytes.
    stands_for: Option<Arc<StandsFor>>,
}

/// The path of the file that a source stands for, if that is a whole file on disk.
struct StandsFor(Option<Box<Path>>);

/// A file by its name, and its state when it was opened.
struct OpenedPath {
    path: Box<Path>,
    state: Option<FileState>,
    form: Form,
}

/// The way from a path to bytes.
#[derive(PartialEq, Eq)]
enum Form {
    Map,
    Copy,
    Folder,
}

impl OpenedPath {
    fn new(path: &Path, state: Option<FileState>, form: Form) -> Option<Arc<Self>> {
        Some(Arc::new(Self { path: path.into(), state, form }))
    }
}

impl Source {
    /// Maps the file at `path`. No program may change it while it is open. Sources that cannot be mapped (a pipe, an
    /// empty file, files of some network drives) are read, up to a gigabyte. On a system without maps, such as a browser,
    /// files of any size are read. So are files of less than a page on any system, for which a map costs more: a copy has the
    /// same bytes.
    ///
    /// # Errors
    /// `Io` when the file cannot be opened, is a directory, or cannot be mapped and is larger than that.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (file, state) = open_file(path)?;
        if let Some(small) = small(&file, state, path) {
            return Ok(small);
        }
        match mapped(&file, state, path) {
            Ok(mapped) => Ok(mapped),
            Err(error) if HAS_MAPS && state.is_some_and(|state| state.len() > UNSIZED) => Err(too_large(error)),
            Err(_) => Self::of_file(file, state, path),
        }
    }

    /// Maps the file at `path`. `None` if it cannot be mapped, but perhaps read.
    ///
    /// # Errors
    /// `Io` when the file cannot be opened, or is a directory.
    pub(crate) fn open_mapped(path: &Path) -> Result<Option<Self>> {
        let (file, state) = open_file(path)?;
        Ok(mapped(&file, state, path).ok())
    }

    /// Reads the whole file at `path` into memory: for network drives and files that change during use.
    ///
    /// # Errors
    /// `Io` when the file cannot be opened or read, or is a directory.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (file, state) = open_file(path)?;
        Self::of_file(file, state, path)
    }

    /// Reads all bytes of an open file.
    fn of_file(file: File, state: Option<FileState>, path: &Path) -> Result<Self> {
        Ok(Self::copied(read_all(file, state.map(|state| state.len()), UNSIZED)?, state, path))
    }

    /// Bytes that were read from the file at `path`.
    fn copied(bytes: Bytes, state: Option<FileState>, path: &Path) -> Self {
        let (name, place) = (name_of(path), OpenedPath::new(path, state, Form::Copy));
        Self { bytes, origin: 0, name, place, is_whole: true, stands_for: None }
    }

    /// Reads the `len` bytes at `at` of the file at `path`, instead of mapping a part. Errors in them name offsets of
    /// the whole file.
    pub fn read_part(path: impl AsRef<Path>, at: u64, len: u64) -> Result<Self> {
        let path = path.as_ref();
        let (mut file, state) = open_file(path)?;
        let size = state.map_or(0, |state| state.len());
        if at.checked_add(len).is_none_or(|end| end > size) {
            let kind = ErrorKind::OutOfBounds { need: len, have: size.saturating_sub(at) };
            return Err(Error::new(kind, "data", at));
        }
        file.seek(SeekFrom::Start(at)).map_err(unreadable)?;
        let mut bytes = with_room(len)?;
        file.take(len).read_to_end(&mut bytes).map_err(unreadable)?;
        if (bytes.len() as u64) < len {
            return Err(unreadable(io::ErrorKind::UnexpectedEof.into()));
        }
        let place = OpenedPath::new(path, state, Form::Copy);
        Ok(Self { bytes: bytes.into(), origin: at, name: name_of(path), place, is_whole: false, stands_for: None })
    }

    /// Bytes that are in memory already, under a name for error messages.
    pub fn from_vec(name: &str, bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into(), origin: 0, name: name.into(), place: None, is_whole: true, stands_for: None }
    }

    /// The part of this source at `range`, under its own name: a file inside of a pack. Errors in it name offsets of
    /// the outer file. `None` if the range leaves the source.
    pub fn slice(&self, range: Range<usize>, name: &str) -> Option<Self> {
        self.bytes.get(range.clone())?;
        let origin = self.origin.checked_add(range.start as u64)?;
        let (bytes, place) = (self.bytes.slice(range), self.place.clone());
        Some(Self { bytes, origin, name: name.into(), place, is_whole: false, stands_for: None })
    }

    /// A share of `len` bytes at `at`, which keeps them alive.
    pub fn share(&self, at: usize, len: usize) -> Option<Bytes> {
        let range = at..at.checked_add(len)?;
        self.bytes.get(range.clone())?;
        Some(self.bytes.slice(range))
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A view of the first byte, for reads that belong to `part`.
    #[inline]
    pub fn view(&self, part: &'static str) -> View<'_> {
        View::new(&self.bytes, part).with_origin(self.origin)
    }

    /// The name in error messages and outputs: the path as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A folder, which has no bytes; its files are separate sources.
    pub fn of_folder(path: &Path) -> Self {
        let place = OpenedPath::new(path, None, Form::Folder);
        Self { bytes: Bytes::new(), origin: 0, name: name_of(path), place, is_whole: true, stands_for: None }
    }

    /// The same bytes as a separate file under another name: offsets count from their first byte.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { origin: 0, name: name.into(), ..self }
    }

    /// The file or folder of this source, for a format whose files belong together; `None` for a part of a file, and
    /// for bytes from elsewhere.
    pub fn path(&self) -> Option<&Path> {
        self.place.as_deref().filter(|_| self.is_whole).map(|place| &*place.path)
    }

    /// The path of this folder; `None` for a file.
    pub fn folder(&self) -> Option<&Path> {
        self.place.as_deref().filter(|place| place.form == Form::Folder).map(|place| &*place.path)
    }

    /// The same bytes in place of `other`: under its name, with the files beside it. So new bytes of a file are read as the
    /// old ones were, wherever they lie.
    #[must_use]
    pub fn in_place_of(self, other: &Self) -> Self {
        let stands_for = StandsFor(other.neighbouring_path().map(Into::into));
        Self { stands_for: Some(Arc::new(stands_for)), ..self.named(&other.name) }
    }

    /// The path that files beside this one are found by: as [`Source::path`], or the path of the file in whose place this
    /// one is read.
    pub fn neighbouring_path(&self) -> Option<&Path> {
        self.stands_for.as_deref().map_or_else(|| self.path(), |other| other.0.as_deref())
    }

    /// The state of the file on disk when it was opened; `None` if this is not a regular file as a whole.
    pub fn state(&self) -> Option<FileState> {
        self.place.as_deref().filter(|_| self.is_whole)?.state
    }

    /// The file on disk that contains these bytes, whole or in part, and its state when it was opened.
    pub fn on_disk(&self) -> Option<(&Path, FileState)> {
        self.place.as_deref().and_then(|place| Some((&*place.path, place.state?)))
    }

    /// Whether the file that is mapped has become shorter than the map.
    pub fn is_cut(&self) -> bool {
        let mapped = self.place.as_ref().filter(|place| place.form == Form::Map && self.is_whole);
        let states =
            mapped.and_then(|place| Some((FileState::from_metadata(&place.path.metadata().ok()?), place.state?)));
        states.is_some_and(|(now, opened)| now.is_cut(&opened))
    }

    /// The file name without folders and without its last extension.
    pub fn stem(&self) -> &str {
        Path::new(&*self.name).file_stem().and_then(|s| s.to_str()).unwrap_or(&self.name)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.name).field("len", &self.bytes.len()).finish()
    }
}

fn name_of(path: &Path) -> Arc<str> {
    shown(path.as_os_str().as_encoded_bytes()).into()
}

/// The open file, and its state if it is a regular one.
fn open_file(path: &Path) -> Result<(File, Option<FileState>)> {
    let file = File::open(path).map_err(|e| Error::io("cannot open", e))?;
    let meta = file.metadata().map_err(|e| Error::io("cannot open", e))?;
    if meta.is_dir() {
        return Err(Error::io("cannot open", io::ErrorKind::IsADirectory.into()));
    }
    Ok((file, meta.is_file().then(|| FileState::from_metadata(&meta))))
}

/// Bytes of a page of memory: the least that a map takes.
const PAGE: usize = 4096;

/// The bytes of an open file of less than a page; `None` for other files. Also for one that has become shorter: what it is then, its map
/// decides as for any file.
fn small(mut file: &File, state: Option<FileState>, path: &Path) -> Option<Source> {
    let len = usize::try_from(state?.len()).ok().filter(|len| (1..PAGE).contains(len))?;
    let mut bytes = vec![0; len];
    if file.read_exact(&mut bytes).is_ok() {
        return Some(Source::copied(bytes.into(), state, path));
    }
    // A file that cannot be mapped is read from its beginning.
    file.rewind().ok()?;
    None
}

/// The map of an open file.
///
/// # Errors
/// The system's, and `InvalidInput` for a pipe, a device or an empty file.
fn mapped(file: &File, state: Option<FileState>, path: &Path) -> io::Result<Source> {
    if state.is_none_or(|state| state.len() == 0) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let name = name_of(path);
    let bytes = map::map(file, &name, path)?;
    Ok(Source {
        bytes,
        origin: 0,
        name,
        place: OpenedPath::new(path, state, Form::Map),
        is_whole: true,
        stands_for: None,
    })
}

/// The error for a file that cannot be mapped, and is too large to be read unasked.
fn too_large(error: io::Error) -> Error {
    let what = format!("{error}; --no-mmap reads the whole file into memory instead");
    Error::io("cannot map", io::Error::new(error.kind(), what))
}

/// The first bytes of the regular file at `path`. Pipes are not read: their bytes exist once, and a read could wait
/// forever.
pub fn head_of<const N: usize>(path: &Path) -> Option<[u8; N]> {
    let mut head = [0; N];
    path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).ok()?;
    Some(head)
}

/// Whether the system maps files.
const HAS_MAPS: bool = cfg!(any(unix, windows));

/// Bytes that are read of a source of unknown length: a pipe, or a device that may never end.
const UNSIZED: u64 = 1 << 30;

/// All bytes of `file`, which has the size `len` by its metadata, or otherwise at most `most` bytes.
fn read_all(file: File, len: Option<u64>, most: u64) -> Result<Bytes> {
    // A file of size 0 may be generated by the system during the read.
    let most = len.filter(|&len| len > 0).unwrap_or(most);
    let mut bytes = with_room(len.unwrap_or(0))?;
    // The file may have grown since: later bytes are left for the next reader.
    let mut file = file.take(if len == Some(most) { most } else { most.saturating_add(1) });
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > most {
        let what = format!("more than {most} bytes come from what is no file; save them to one first");
        return Err(unreadable(io::Error::new(io::ErrorKind::FileTooLarge, what)));
    }
    Ok(bytes.into())
}

/// An empty buffer with room for `len` bytes. A buffer that grows would need up to three times as much memory.
fn with_room(len: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let reserved = usize::try_from(len).is_ok_and(|len| bytes.try_reserve_exact(len).is_ok());
    if reserved {
        return Ok(bytes);
    }
    Err(Error::of_part(ErrorKind::no_memory(len), ""))
}

fn unreadable(error: io::Error) -> Error {
    Error::io("cannot read", error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn mapped_and_read_are_the_same_bytes() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[b'B'; PAGE]).unwrap();
        let mapped = Source::open(file.path()).unwrap();
        assert_eq!(mapped.bytes(), [b'B'; PAGE]);
        assert_eq!(Source::read(file.path()).unwrap().bytes(), mapped.bytes());
        // Some network drives have no shared maps.
        if let Ok(maps) = std::fs::read_to_string("/proc/self/maps") {
            let map = maps.lines().find(|line| line.ends_with(file.path().to_str().unwrap())).unwrap();
            assert!(map.contains(" r--p "), "{map}");
        }
    }

    #[test]
    fn a_file_of_less_than_a_page_is_read_and_has_the_same_bytes_and_state() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[7; PAGE - 1]).unwrap();
        let (opened, read) = (Source::open(file.path()).unwrap(), Source::read(file.path()).unwrap());
        assert_eq!((opened.bytes(), opened.state(), opened.path()), (read.bytes(), read.state(), read.path()));
        if let Ok(maps) = std::fs::read_to_string("/proc/self/maps") {
            assert!(!maps.contains(file.path().to_str().unwrap()), "it is not mapped");
        }
        // It became shorter after it was opened: what its map would show is left to the map.
        let (opened, state) = open_file(file.path()).unwrap();
        file.as_file().set_len(100).unwrap();
        assert!(small(&opened, state, file.path()).is_none());
    }

    /// As on network drives, files of `/sys` cannot be mapped.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_cannot_be_mapped_is_read() {
        let path = Path::new("/sys/devices/system/cpu/online");
        let Ok(text) = std::fs::read(path) else { return eprintln!("skipped: there is no {}", path.display()) };
        assert!(Source::open_mapped(path).unwrap().is_none());
        let read = Source::open(path).unwrap();
        assert_eq!((read.bytes(), read.is_cut()), (&*text, false));
        let error = too_large(io::ErrorKind::Unsupported.into()).to_string();
        assert_eq!(error, "cannot map: unsupported; --no-mmap reads the whole file into memory instead");
    }

    #[test]
    fn an_empty_file_is_empty_bytes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(Source::open(file.path()).unwrap().bytes().is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn what_never_ends_is_not_read_to_its_end() {
        let read = |most| read_all(File::open("/dev/zero").unwrap(), None, most);
        let error = read(1000).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Io { .. }), "{error}");
        assert!(error.to_string().contains("more than 1000 bytes come from what is no file"), "{error}");
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[7; 1000]).unwrap();
        let read = |len| read_all(File::open(file.path()).unwrap(), len, 1000).unwrap().len();
        assert_eq!((read(None), read(Some(1000)), read(Some(999)), read(Some(0))), (1000, 1000, 999, 1000));
    }

    #[test]
    fn a_file_is_read_into_as_much_memory_as_it_has_bytes_or_is_an_error() {
        assert_eq!(with_room(170_000_001).unwrap().capacity(), 170_000_001);
        let error = with_room(u64::MAX).unwrap_err().to_string();
        assert_eq!(error, "cannot read: there is no memory for its 18446744073709551615 bytes");
    }

    #[test]
    fn a_part_keeps_the_offsets_of_its_file() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&(0..32).collect::<Vec<u8>>()).unwrap();
        let part = Source::read_part(file.path(), 8, 4).unwrap();
        assert_eq!((part.bytes(), part.view("").skip(2).offset()), (&[8, 9, 10, 11][..], 10));
        assert!(Source::read_part(file.path(), 32, 0).unwrap().bytes().is_empty());
        for (at, len) in [(30, 3), (33, 0), (0, 33), (u64::MAX, 1), (1, u64::MAX)] {
            let error = Source::read_part(file.path(), at, len).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::OutOfBounds { .. }), "{at} {len}: {error}");
        }
    }

    #[test]
    fn a_directory_is_an_io_error() {
        let error = Source::open(std::env::temp_dir()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Io { .. }), "{error}");
    }

    #[test]
    fn a_slice_keeps_the_outer_offsets() {
        let pack = Source::from_vec("pack.bin", (0..32).collect());
        let entry = pack.slice(16..24, "entry").unwrap();
        let error = entry.view("entry data").take(9).unwrap_err();
        assert_eq!(error.offset(), Some(16));
        assert!(pack.slice(30..33, "beyond").is_none());
        let file = entry.named("pack.bin:entry");
        assert_eq!(file.view("data").skip(2).offset(), 2);
    }
}
