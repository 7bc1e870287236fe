//! Decoded files that are used often, kept on disk.
//!
//! Databases of games are stored deflated: decoding one takes a second, mapping the decoded file no time. A [`Cache`]
//! in [`Options::with`](crate::Options::with) keeps the files that [`Address::open`](super::Address::open) decodes.
//! Several processes may use one cache at once.
//!
//! The name of a kept file is its key: the SHA-256 of its stored bytes, their codec, and the size and CRC-32 in the
//! archive. Two archives share a kept file only if they store the same bytes. Its seal is in a file beside it: the
//! SHA-256 of its content, and the state of the file after it was written: its number, size and times. A file without a
//! seal, in another state, or of another user is decoded again. [`Cache::check`] reads the content.
//!
//! The cache also maps addresses to kept files ([`Cache::recall`]), as long as the indexes and the volume keep their
//! sizes and modification times.

use super::recent::{RecentAddresses, Target};
use super::{Archive, Codec, File, MARK, decode};
use crate::atomic_file::{AtomicFile, Overwrite, remove_stale_parts};
use crate::codec::{self, sha256_of};
use crate::error::{Error, ErrorKind, Result};
use crate::paths::of_variable;
use crate::source::{FileState, Source};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

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
    pub path: PathBuf,
    /// In bytes.
    pub size: u64,
    /// The CRC-32 of its content in the archive; `None` without a seal.
    pub crc32: Option<u32>,
    /// The time of its creation or last use.
    pub used: SystemTime,
}

/// The description of a kept file, in a file beside it.
#[derive(Debug, PartialEq, Eq)]
struct Seal {
    /// The SHA-256 of its content.
    sha256: String,
    crc32: u32,
    /// The state of the file, as text.
    state: String,
}

impl Seal {
    fn read(path: &Path) -> Option<Self> {
        let text = own_text(path, SEAL)?;
        let mut parts = text.split_whitespace();
        let (sha256, crc32, state) = (parts.next()?, parts.next()?, parts.next()?);
        let crc32 = u32::from_str_radix(crc32, 16).ok()?;
        Some(Self { sha256: sha256.to_owned(), crc32, state: state.to_owned() })
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let mut file = AtomicFile::create(path, Overwrite::Replace)?;
        writeln!(file, "{} {:08x} {}", self.sha256, self.crc32, self.state)?;
        // A lost seal costs another decoding.
        file.commit_unsynced()
    }
}

/// The largest size of a seal in bytes.
const SEAL: u64 = 1 << 10;
/// The size of a cache above which the oldest files are removed: about twenty databases of a game.
const MOST: u64 = 4 << 30;
/// The smallest decoded size of a kept file: smaller ones are decoded faster than a file is created.
const LEAST: u64 = 1 << 20;
/// The time of change that kept files get, since 1970: a write at any later time shows.
const SEALED: Duration = Duration::from_secs(1 << 30);

impl Cache {
    /// A cache in `folder`, which is created with the first kept file.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), most: MOST, least: LEAST }
    }

    /// Sets the smallest decoded size of cached files, and the greatest total size of the cache.
    #[must_use]
    pub fn with_limits(self, least: u64, most: u64) -> Self {
        Self { least, most, ..self }
    }

    /// The folder that programs of this user share: `$ASSETQ_CACHE`, else `assetq` in the platform's folder for caches.
    pub fn default_folder() -> Option<PathBuf> {
        if let Some(folder) = of_variable("ASSETQ_CACHE") {
            return Some(folder);
        }
        let platform = match std::env::consts::OS {
            "windows" => of_variable("LOCALAPPDATA"),
            "macos" => std::env::home_dir().map(|home| home.join("Library").join("Caches")),
            _ => of_variable("XDG_CACHE_HOME").or_else(|| std::env::home_dir().map(|home| home.join(".cache"))),
        };
        platform.map(|folder| folder.join("assetq"))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The kept file that `path` in `archive` led to before, found by the archive's [stamp](Archive::stamp): no index is
    /// opened for it.
    pub fn recall(&self, archive: &dyn Archive, path: &str, name: &str) -> Option<Source> {
        let target = RecentAddresses::in_folder(&self.folder).get(&sha256_of(&[&archive.stamp(path)?]))?;
        let volume = FileState::from_metadata(&fs::metadata(&target.volume).ok()?).text();
        if volume != target.state {
            return None;
        }
        self.derived(&target.key, &inside(name, path))
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
        let stored = archive.stored(file)?;
        let key = key(file, crc32, stored.bytes());
        let volume = stored.on_disk().map(|(path, state)| (path.to_owned(), state.text()));
        let kept = match self.derived(&key, &inner) {
            Some(source) => source,
            None => {
                let decoded = decode(stored, file, &inner, archive.oodle().as_deref())?;
                let kept = self.keep(&key, crc32, &[decoded.bytes()]);
                let Some(source) = kept.ok().and_then(|()| self.derived(&key, &inner)) else { return Ok(decoded) };
                source
            }
        };
        if let Some((stamp, (volume, state))) = archive.stamp(&file.path).zip(volume) {
            // The next question looks for it, if this is not written.
            let _ = RecentAddresses::in_folder(&self.folder).add(&sha256_of(&[&stamp]), &Target { key, volume, state });
        }
        Ok(kept)
    }

    /// The key of the file of this kind that is made from the file with these stored bytes.
    pub fn key_of_derived(kind: &str, stored: &[u8]) -> String {
        sha256_of(&[kind.as_bytes(), b" ", stored])
    }

    /// Whether a file of this size is kept: smaller ones are made faster.
    pub fn is_worth(&self, size: u64) -> bool {
        size >= self.least
    }

    /// Keeps `pieces`, one after another. A cache that cannot be written loses nothing but time: they are made again.
    pub fn keep_derived(&self, key: &str, pieces: &[&[u8]]) {
        if pieces.iter().map(|piece| piece.len() as u64).sum::<u64>() <= self.most {
            let _ = self.keep(key, codec::crc32_of(pieces.iter().copied()), pieces);
        }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}{ENDING}"))
    }

    /// The kept file with this key, mapped, if it is as it was sealed.
    pub fn derived(&self, key: &str, name: &str) -> Option<Source> {
        let path = self.path(key);
        let seal_path = seal_of(&path);
        let seal = Seal::read(&seal_path)?;
        if !is_own_file(&path) {
            return None;
        }
        let source = Source::open(path).ok().filter(|source| source.state().is_some_and(|s| s.text() == seal.state))?;
        // So that the oldest is the one that was not used for longest.
        let _ = set_modified(&seal_path, SystemTime::now());
        Some(source.named(name))
    }

    fn keep(&self, key: &str, crc32: u32, pieces: &[&[u8]]) -> io::Result<()> {
        let path = self.path(key);
        remove_foreign(&path)?;
        remove_foreign(&seal_of(&path))?;
        let mut new = AtomicFile::create_with_folders(&path, Overwrite::Replace)?;
        pieces.iter().try_for_each(|piece| new.write_all(piece))?;
        new.commit()?;
        set_modified(&path, SystemTime::UNIX_EPOCH + SEALED)?;
        let state = FileState::from_metadata(&fs::metadata(&path)?).text();
        Seal { sha256: sha256_of(pieces), crc32, state }.write(&seal_of(&path))?;
        self.make_room(&path)
    }

    /// Removes the least recently used files, until the others fit. A file that another process removes meanwhile
    /// counts as removed; Windows keeps files that another process has mapped.
    fn make_room(&self, but: &Path) -> io::Result<()> {
        let mut files = self.files()?;
        let mut total: u64 = files.iter().map(|file| file.size).sum();
        files.sort_by_key(|file| file.used);
        for file in files.iter().filter(|file| file.path != but) {
            if total <= self.most {
                break;
            }
            if remove(&file.path).is_ok() {
                total -= file.size;
            }
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
            let Ok(meta) = path.symlink_metadata() else { continue };
            if meta.is_file() && is_kept(&path) {
                let seal_path = seal_of(&path);
                let crc32 = Seal::read(&seal_path).map(|seal| seal.crc32);
                let used = seal_path.symlink_metadata().unwrap_or_else(|_| meta.clone()).modified();
                let used = used.unwrap_or(SystemTime::UNIX_EPOCH);
                files.push(Cached { path, size: meta.len(), crc32, used });
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// Removes all files that are kept, and those that killed processes left unfinished; returns the number of kept ones.
    ///
    /// # Errors
    /// When some cannot be removed, such as mapped files of another process on Windows: names the first one.
    pub fn clear(&self) -> io::Result<usize> {
        let files = self.files()?;
        let removed = files.iter().map(|Cached { path, .. }| {
            remove(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.to_string_lossy())))
        });
        // All that can be removed, before the first error is returned.
        let removed: Vec<_> = removed.collect();
        RecentAddresses::in_folder(&self.folder).clear()?;
        match remove_stale_parts(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        removed.into_iter().collect::<io::Result<()>>()?;
        Ok(files.len())
    }

    /// Reads a kept file and compares it with its seal.
    ///
    /// # Errors
    /// `Checksum` and `Damaged` for another content, `Damaged` without a seal, `Io`.
    pub fn check(&self, file: &Cached) -> Result<()> {
        let seal = Seal::read(&seal_of(&file.path));
        let seal = seal.ok_or_else(|| damaged("it has no seal, so it is decoded again when it is needed"))?;
        let source = Source::open(&file.path)?;
        let computed = codec::crc32(source.bytes());
        if computed != seal.crc32 {
            let (stored, computed) = (seal.crc32.into(), computed.into());
            return Err(Error::new(ErrorKind::Checksum { algorithm: "CRC-32", stored, computed }, "", 0));
        }
        match sha256_of(&[source.bytes()]) == seal.sha256 {
            true => Ok(()),
            false => Err(damaged("its SHA-256 is not the one of its seal, although its CRC-32 is")),
        }
    }
}

fn damaged(what: &'static str) -> Error {
    Error::of_part(ErrorKind::Damaged { what: what.into() }, "")
}

const ENDING: &str = ".decoded";

/// Whether a file has the name of a kept one, of this version or of one before.
fn is_kept(path: &Path) -> bool {
    let key = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(ENDING));
    key.is_some_and(|key| key.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-'))
}

fn seal_of(kept: &Path) -> PathBuf {
    kept.with_extension("seal")
}

/// Whether the file at `path` is a regular file of this user, and no link. Other users may write into a shared folder.
pub(super) fn is_own_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file() && is_own(&meta))
}

#[cfg(unix)]
fn is_own(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    meta.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    true
}

/// The text of an own file of at most `most` bytes.
pub(super) fn own_text(path: &Path, most: u64) -> Option<String> {
    let mut text = String::new();
    let file = is_own_file(path).then(|| fs::File::open(path).ok()).flatten()?;
    file.take(most + 1).read_to_string(&mut text).ok()?;
    Some(text).filter(|text| text.len() as u64 <= most)
}

/// Removes what would be written to or take its permissions from others: all but own files and folders.
pub(super) fn remove_foreign(path: &Path) -> io::Result<()> {
    let is_foreign = !is_own_file(path) && fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_dir());
    if is_foreign { fs::remove_file(path) } else { Ok(()) }
}

fn remove(kept: &Path) -> io::Result<()> {
    fs::remove_file(kept)?;
    // A seal without a file is as good as none.
    let _ = fs::remove_file(seal_of(kept));
    Ok(())
}

fn set_modified(path: &Path, time: SystemTime) -> io::Result<()> {
    fs::File::options().write(true).open(path)?.set_modified(time)
}

/// The key of a file that is stored like this.
fn key(file: &File<'_>, crc32: u32, stored: &[u8]) -> String {
    sha256_of(&[format!("{} {} {crc32:08x} ", file.codec.name(), file.size).as_bytes(), stored])
}

/// The name of the file at `path` in the archive `name`.
fn inside(name: &str, path: &str) -> String {
    format!("{name}{MARK}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::DeflateEncoder;
    use std::cell::Cell;
    use std::time::Duration;

    /// An archive of one deflated file.
    struct One {
        stored: Vec<u8>,
        data: Vec<u8>,
    }

    impl One {
        fn new(data: &[u8]) -> Self {
            let mut out = DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(data).unwrap();
            Self { stored: out.finish().unwrap(), data: data.to_vec() }
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
            Ok(Source::from_vec("volume", self.stored.clone()))
        }
    }

    fn one_in_folder() -> (tempfile::TempDir, Cache, One) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(folder.path()).with_limits(1000, MOST);
        (folder, cache, One::new(&[7; 5000]))
    }

    #[test]
    fn a_file_is_decoded_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(folder.path().join("new")).with_limits(1000, MOST);
        let one = One::new(&[7; 5000]);
        let mut states = Vec::new();
        for _ in 0..3 {
            let source = cache.open(&one, &one.file(), "GAME").unwrap();
            assert_eq!((source.bytes(), source.name()), (&one.data[..], "GAME:content/assets.bin"));
            states.push(source.state().unwrap());
        }
        assert!(states.iter().all(|state| *state == states[0]), "{states:?}");
        let [kept] = &cache.files().unwrap()[..] else { panic!("one file is kept") };
        assert_eq!((kept.size, kept.crc32), (5000, one.file().crc32));
        cache.check(kept).unwrap();
        assert_eq!(cache.clear().unwrap(), 1);
        assert_eq!(fs::read_dir(cache.folder()).unwrap().count(), 0);
    }

    /// One that is damaged is found by a check, and decoded again before it is used.
    #[test]
    fn a_kept_file_with_another_content_is_not_used() {
        let (_folder, cache, one) = one_in_folder();
        let open = || cache.open(&one, &one.file(), "GAME").unwrap().bytes().to_vec();
        open();
        for other in [vec![7; 4999], vec![8; 5000], Vec::new()] {
            let kept = &cache.files().unwrap()[0];
            fs::write(&kept.path, &other).unwrap();
            let error = cache.check(kept).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{error}");
            assert_eq!(open(), one.data);
            cache.check(&cache.files().unwrap()[0]).unwrap();
        }
        let kept = &cache.files().unwrap()[0];
        fs::remove_file(kept.path.with_extension("seal")).unwrap();
        assert!(cache.check(kept).unwrap_err().to_string().contains("no seal"));
        assert_eq!(open(), one.data);
    }

    /// Files that others put into a shared folder: none is waited for, read whole, or used.
    #[cfg(unix)]
    #[test]
    fn planted_files_are_not_used() {
        use std::os::unix::fs::symlink;
        let (folder, cache, one) = one_in_folder();
        let open = || cache.open(&one, &one.file(), "GAME").unwrap().bytes().to_vec();
        open();
        let kept = cache.files().unwrap()[0].path.clone();
        for planted in [kept.clone(), seal_of(&kept), folder.path().join("addresses")] {
            let _ = fs::remove_file(&planted);
            assert!(std::process::Command::new("mkfifo").arg(&planted).status().unwrap().success());
            assert_eq!(open(), one.data);
            let files = cache.files().unwrap();
            assert_eq!((files.len(), files[0].crc32), (1, one.file().crc32));
        }
        // A link to the user's own file of the same bytes.
        let other = folder.path().join("other");
        fs::rename(&kept, &other).unwrap();
        symlink(&other, &kept).unwrap();
        assert_eq!(open(), one.data);
        assert!(fs::symlink_metadata(&kept).unwrap().is_file() && other.exists());
        // A seal of any size is not read whole.
        fs::File::create(seal_of(&kept)).unwrap().set_len(1 << 32).unwrap();
        assert_eq!(open(), one.data);
        assert!(fs::metadata(seal_of(&kept)).unwrap().len() <= SEAL);
    }

    #[cfg(unix)]
    #[test]
    fn a_kept_file_that_was_changed_and_has_its_old_time_is_not_used() {
        use std::os::unix::fs::FileExt as _;
        let (_folder, cache, one) = one_in_folder();
        let open = || cache.open(&one, &one.file(), "GAME").unwrap().bytes().to_vec();
        open();
        let kept = cache.files().unwrap()[0].path.clone();
        let time = fs::metadata(&kept).unwrap().modified().unwrap();
        // So that the clock of the file system has gone on.
        std::thread::sleep(Duration::from_millis(20));
        fs::File::options().write(true).open(&kept).unwrap().write_all_at(&[8], 100).unwrap();
        set_modified(&kept, time).unwrap();
        assert_eq!(open(), one.data);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn unfinished_files_go_with_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(folder.path());
        fs::write(folder.path().join(".assetq-0-0.part"), "left by a killed process").unwrap();
        fs::write(folder.path().join("notes.txt"), "mine").unwrap();
        assert_eq!(cache.clear().unwrap(), 0);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(Cache::in_folder(folder.path().join("none")).clear().unwrap(), 0);
    }

    /// The CRC-32 of one file is forged: its last four bytes make it equal to the other's.
    #[test]
    fn archives_share_no_file_because_of_its_crc32() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(folder.path()).with_limits(1000, MOST);
        let theirs = One::new(&[7; 5000]);
        let mut forged = vec![8; 5000];
        forge(&mut forged, theirs.file().crc32.unwrap());
        let forged = One::new(&forged);
        assert_eq!((forged.file().crc32, forged.file().size), (theirs.file().crc32, theirs.file().size));
        for one in [&forged, &theirs, &forged] {
            assert_eq!(cache.open(one, &one.file(), "GAME").unwrap().bytes(), one.data);
        }
        // A check distinguishes them, too.
        let files = cache.files().unwrap();
        fs::write(&files[0].path, fs::read(&files[1].path).unwrap()).unwrap();
        assert!(cache.check(&files[0]).unwrap_err().to_string().contains("SHA-256"));
    }

    /// Ends `bytes` so that their CRC-32 is `wanted`. A CRC is linear: each bit of the end changes certain bits of it.
    fn forge(bytes: &mut [u8], wanted: u32) {
        let end = bytes.len() - 4;
        bytes[end..].fill(0);
        let with = |bytes: &mut [u8], word: u32| {
            bytes[end..].copy_from_slice(&word.to_le_bytes());
            codec::crc32(bytes)
        };
        let zero = with(bytes, 0);
        // Rows of bits of the CRC with the last bits that produce them, in reduced form.
        let mut rows: Vec<(u32, u32)> = Vec::new();
        for bit in (0..32).map(|n| 1 << n) {
            let mut row = (with(bytes, bit) ^ zero, bit);
            for (crc, of) in &rows {
                if row.0 ^ crc < row.0 {
                    row = (row.0 ^ crc, row.1 ^ of);
                }
            }
            rows.push(row);
            rows.sort_unstable_by(|a, b| b.cmp(a));
        }
        let (mut left, mut word) = (wanted ^ zero, 0);
        for (crc, of) in rows {
            if left ^ crc < left {
                (left, word) = (left ^ crc, word ^ of);
            }
        }
        assert_eq!(with(bytes, word), wanted);
    }

    #[test]
    fn the_oldest_goes_first_and_files_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(folder.path()).with_limits(1, 2500);
        fs::write(folder.path().join("notes.txt"), [0; 5000]).unwrap();
        // A version before kept files under their CRC-32.
        fs::write(folder.path().join("352441c2-1000.decoded"), [0; 1000]).unwrap();
        let hour = Cell::new(0);
        let mut open = |byte: u8| {
            let one = One::new(&[byte; 1000]);
            cache.open(&one, &one.file(), "GAME").unwrap();
            let path = cache.path(&key(&one.file(), one.file().crc32.unwrap(), &one.stored));
            hour.set(hour.get() + 1);
            let used = SystemTime::now() + Duration::from_secs(3600 * hour.get());
            set_modified(&seal_of(&path), used).unwrap();
            path
        };
        let [first, second] = [1, 2].map(&mut open);
        assert!(!folder.path().join("352441c2-1000.decoded").exists());
        assert_eq!(open(1), first);
        let third = open(3);
        assert_eq!([&first, &second, &third].map(|path| path.exists()), [true, false, true]);
        assert!(folder.path().join("notes.txt").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5, "with two seals");
    }

    #[test]
    fn a_cache_that_cannot_be_written_keeps_nothing_from_being_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let one = One::new(&[7; 5000]);
        let cache = Cache::in_folder(file.path().join("below a file")).with_limits(1, MOST);
        assert_eq!(cache.open(&one, &one.file(), "GAME").unwrap().bytes(), one.data);
        // A file below the least size, and one that does not fit into the cache.
        let folder = tempfile::tempdir().unwrap();
        for (least, most) in [(5001, MOST), (1, 4999)] {
            let cache = Cache::in_folder(folder.path()).with_limits(least, most);
            assert_eq!(cache.open(&one, &one.file(), "GAME").unwrap().bytes(), one.data);
            assert!(cache.files().unwrap().is_empty());
        }
    }
}
