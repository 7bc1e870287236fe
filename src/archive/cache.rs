//! Decoded files that are asked often, kept on disk under their CRC-32 and size.
//!
//! A database of a game is stored deflated: decoding it takes a second, mapping the decoded file nothing. A [`Cache`] that
//! is given to [`Options::with`](crate::Options::with) keeps the files that [`Address::open`](super::Address::open)
//! decodes. A kept file is whole or not there, was checked against its CRC-32 before it got its name, and is trusted by
//! its name and its size from then on; [`Cache::check`] reads it again. Several processes may use one cache at once.
//!
//! The cache also knows which kept file an address led to ([`Cache::recall`]), as long as the indexes on the way keep their
//! sizes and times of change.

use super::known::Known;
use super::{Archive, Codec, File, MARK, decode};
use crate::codec;
use crate::error::{Error, ErrorKind, Result};
use crate::source::Source;
use crate::write::atomic_file::{AtomicFile, Overwrite};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A folder of decoded files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
    most: u64,
    least: u64,
}

/// A file in a cache.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cached {
    /// Its path.
    pub path: PathBuf,
    /// The CRC-32 that its name says.
    pub crc32: u32,
    /// The bytes that its name says.
    pub size: u64,
    /// Bytes that it has.
    pub found: u64,
    /// The time when it was made, or last used.
    pub used: SystemTime,
}

/// Bytes that a cache holds before the oldest files go: some twenty databases of a game.
const MOST: u64 = 4 << 30;
/// Decoded bytes from which on a file is kept: less is decoded faster than a file is made.
const LEAST: u64 = 1 << 20;

impl Cache {
    /// A cache in `folder`, which is made when the first file is kept.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), most: MOST, least: LEAST }
    }

    /// The same cache, in which files of `least` decoded bytes and more are kept, and no more than `most` bytes together.
    #[must_use]
    pub fn with_limits(self, least: u64, most: u64) -> Self {
        Self { least, most, ..self }
    }

    /// The folder that programs of this user share: `$ASSETQ_CACHE`, else `assetq` in the platform's folder for caches.
    pub fn default_folder() -> Option<PathBuf> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let platform = || match std::env::consts::OS {
            "windows" => set("LOCALAPPDATA"),
            "macos" => std::env::home_dir().map(|home| home.join("Library").join("Caches")),
            _ => set("XDG_CACHE_HOME").or_else(|| std::env::home_dir().map(|home| home.join(".cache"))),
        };
        set("ASSETQ_CACHE").or_else(|| platform().map(|folder| folder.join("assetq")))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The kept file that `path` in `archive` led to before, found by the archive's [stamp](Archive::stamp): no index is
    /// opened for it.
    pub fn recall(&self, archive: &dyn Archive, path: &str, name: &str) -> Option<Source> {
        let (crc32, size) = Known::of(&self.folder).get(archive.stamp(path)?)?;
        self.kept(crc32, size, &inside(name, path))
    }

    /// The decoded bytes of `file`, mapped: from the cache, or decoded and kept now. A cache that cannot be written does
    /// not keep the file from being read.
    ///
    /// # Errors
    /// As [`super::open`].
    pub fn open(&self, archive: &dyn Archive, file: &File<'_>, name: &str) -> Result<Source> {
        let is_kept =
            file.crc32.filter(|_| file.codec != Codec::None && file.size >= self.least && file.size <= self.most);
        let Some(crc32) = is_kept else { return super::open(archive, file, name) };
        let inner = inside(name, &file.path);
        let kept = match self.kept(crc32, file.size, &inner) {
            Some(source) => source,
            None => {
                let decoded = decode(archive.stored(file)?, file, &inner)?;
                let kept = self.keep(&self.path(crc32, file.size), decoded.bytes());
                let Some(source) = kept.ok().and_then(|()| self.kept(crc32, file.size, &inner)) else {
                    return Ok(decoded);
                };
                source
            }
        };
        if let Some(stamp) = archive.stamp(&file.path) {
            // The next question looks for it, if this is not written.
            let _ = Known::of(&self.folder).add(stamp, crc32, file.size);
        }
        Ok(kept)
    }

    fn path(&self, crc32: u32, size: u64) -> PathBuf {
        self.folder.join(format!("{crc32:08x}-{size}{ENDING}"))
    }

    /// The kept file under this name, mapped.
    fn kept(&self, crc32: u32, size: u64, name: &str) -> Option<Source> {
        let path = self.path(crc32, size);
        let source = map(&path, size)?;
        // So that the oldest is the one that was not used for longest.
        let _ = fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(source.named(name))
    }

    fn keep(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut new = AtomicFile::create(path, Overwrite::Replace)?;
        new.write_all(bytes)?;
        new.commit()?;
        self.make_room(path)
    }

    /// Removes the files that were not used for longest, until the others fit. A file that another process removes
    /// meanwhile is gone as well.
    fn make_room(&self, but: &Path) -> io::Result<()> {
        let mut files = self.files()?;
        let mut total = files.iter().map(|file| file.found).fold(0, u64::saturating_add);
        files.sort_by_key(|file| file.used);
        for file in files.iter().filter(|file| file.path != but) {
            if total <= self.most {
                break;
            }
            let _ = fs::remove_file(&file.path);
            total = total.saturating_sub(file.found);
        }
        Ok(())
    }

    /// The files that are kept, in order of name. Other files in the folder are left out.
    ///
    /// # Errors
    /// When the folder cannot be read; one that is not there holds no files.
    pub fn files(&self) -> io::Result<Vec<Cached>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let Some((crc32, size)) = named(&path) else { continue };
            let Ok(meta) = path.symlink_metadata() else { continue };
            if meta.is_file() {
                let used = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                files.push(Cached { path, crc32, size, found: meta.len(), used });
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// Removes all files that are kept; gives how many there were.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn clear(&self) -> io::Result<usize> {
        let files = self.files()?;
        files.iter().try_for_each(|file| fs::remove_file(&file.path))?;
        Known::of(&self.folder).clear()?;
        Ok(files.len())
    }

    /// Reads a file that is kept and holds it against its name.
    ///
    /// # Errors
    /// `Checksum`, `Damaged` for another size, `Io`.
    pub fn check(&self, file: &Cached) -> Result<()> {
        if file.found != file.size {
            let what = format!("it has {} bytes, its name says {}", file.found, file.size).into();
            return Err(Error::without_offset(ErrorKind::Damaged { what }, ""));
        }
        match codec::crc32(Source::open(&file.path)?.bytes()) {
            computed if computed == file.crc32 => Ok(()),
            computed => {
                let (stored, computed) = (file.crc32.into(), computed.into());
                Err(Error::new(ErrorKind::Checksum { algorithm: "CRC-32", stored, computed }, "", 0))
            }
        }
    }
}

/// The ending of files in a cache.
const ENDING: &str = ".decoded";

/// The CRC-32 and size that the name of a kept file says.
fn named(path: &Path) -> Option<(u32, u64)> {
    let (crc32, size) = path.file_name()?.to_str()?.strip_suffix(ENDING)?.split_once('-')?;
    let crc32 = Some(crc32).filter(|text| text.len() == 8).and_then(|text| u32::from_str_radix(text, 16).ok())?;
    Some((crc32, size.parse().ok()?))
}

/// The name of the file at `path` in the archive called `name`.
fn inside(name: &str, path: &str) -> String {
    format!("{name}{MARK}{path}")
}

/// The file at `path`, where it is a whole one.
fn map(path: &Path, size: u64) -> Option<Source> {
    let source = Source::open(path).ok()?;
    (source.bytes().len() as u64 == size).then_some(source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::DeflateEncoder;
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// An archive of one deflated file, which counts how often its stored bytes are asked for.
    struct One {
        stored: Vec<u8>,
        data: Vec<u8>,
        asked: AtomicUsize,
    }

    impl One {
        fn new(data: &[u8]) -> Self {
            let mut out = DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(data).unwrap();
            Self { stored: out.finish().unwrap(), data: data.to_vec(), asked: AtomicUsize::new(0) }
        }

        fn file(&self) -> File<'static> {
            let crc32 = Some(codec::crc32(&self.data));
            File { codec: Codec::Deflate, crc32, ..File::new("content/assets.bin", self.data.len() as u64, 0) }
        }
    }

    impl Archive for One {
        fn len(&self) -> Result<usize> {
            Ok(1)
        }

        fn file(&self, _: usize) -> Result<File<'_>> {
            Ok(self.file())
        }

        fn find(&self, _: &str) -> Result<Option<File<'_>>> {
            Ok(Some(self.file()))
        }

        fn stored(&self, _: &File<'_>) -> Result<Source> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            Ok(Source::from_vec("volume", self.stored.clone()))
        }
    }

    #[test]
    fn a_file_is_decoded_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("new")).with_limits(1000, MOST);
        let one = One::new(&[7; 5000]);
        for _ in 0..3 {
            let source = cache.open(&one, &one.file(), "GAME").unwrap();
            assert_eq!((source.bytes(), source.name()), (&one.data[..], "GAME:content/assets.bin"));
        }
        assert_eq!(one.asked.load(Ordering::Relaxed), 1);
        let [kept] = &cache.files().unwrap()[..] else { panic!("one file is kept") };
        assert_eq!((kept.size, kept.found, Some(kept.crc32)), (5000, 5000, one.file().crc32));
        cache.check(kept).unwrap();
        // One of another size is decoded anew; one with other bytes is found by a check.
        fs::write(&kept.path, [7; 4999]).unwrap();
        assert!(cache.check(&cache.files().unwrap()[0]).unwrap_err().to_string().contains("4999 bytes"));
        assert_eq!(cache.open(&one, &one.file(), "GAME").unwrap().bytes(), one.data);
        assert_eq!(one.asked.load(Ordering::Relaxed), 2);
        fs::write(&kept.path, [8; 5000]).unwrap();
        let error = cache.check(&cache.files().unwrap()[0]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{error}");
        assert_eq!(cache.clear().unwrap(), 1);
        assert!(cache.files().unwrap().is_empty());
    }

    #[test]
    fn the_oldest_goes_first_and_files_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path()).with_limits(1, 2500);
        fs::write(folder.path().join("notes.txt"), [0; 5000]).unwrap();
        let hour = Cell::new(0);
        let mut open = |byte: u8| {
            let one = One::new(&[byte; 1000]);
            cache.open(&one, &one.file(), "GAME").unwrap();
            let path = folder.path().join(format!("{:08x}-1000{ENDING}", one.file().crc32.unwrap()));
            hour.set(hour.get() + 1);
            let used = SystemTime::UNIX_EPOCH + Duration::from_secs(3600 * hour.get());
            fs::File::options().write(true).open(&path).unwrap().set_modified(used).unwrap();
            path
        };
        let [first, second] = [1, 2].map(&mut open);
        assert_eq!(open(1), first);
        let third = open(3);
        assert_eq!([&first, &second, &third].map(|path| path.exists()), [true, false, true]);
        assert!(folder.path().join("notes.txt").exists());
    }

    #[test]
    fn a_cache_that_cannot_be_written_keeps_nothing_from_being_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let one = One::new(&[7; 5000]);
        let cache = Cache::at(file.path().join("below a file")).with_limits(1, MOST);
        assert_eq!(cache.open(&one, &one.file(), "GAME").unwrap().bytes(), one.data);
        // A file below the least size, and one that does not fit into the cache.
        let folder = tempfile::tempdir().unwrap();
        for (least, most) in [(5001, MOST), (1, 4999)] {
            let cache = Cache::at(folder.path()).with_limits(least, most);
            assert_eq!(cache.open(&one, &one.file(), "GAME").unwrap().bytes(), one.data);
            assert!(cache.files().unwrap().is_empty());
        }
    }
}
