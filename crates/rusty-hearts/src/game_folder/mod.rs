//! Rusty Hearts: the game's folder, whose files lie in volumes `NNN.pck` and are named by a list, `f00X.dat`.
//!
//! [`RustyHeartsArchive::open`] maps the list. It is deciphered and decoded when a file is asked for: up to that file at the first such
//! question, wholly at the next.
//!
//! The bytes are described in docs/formats/rusty_hearts.md.

pub mod layout;
mod list;
mod reader;
mod verify;

use crate::archive::{self, Archive, File, RepeatedPaths, Volume, VolumeFile};
use crate::atomic_file::parent_of;
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::{Lazy, ScanCost};
use crate::options::Options;
use crate::paths::{CaselessFolder, caseless};
use crate::source::Source;
use assetq_core::Openable;
use list::{List, ListRecord};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The key of a list. Versions of other regions may have one of their own: given in
/// [`Options::with`](assetq_core::Options::with).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; 256]);

impl Key {
    pub const fn new(bytes: [u8; 256]) -> Self {
        Self(bytes)
    }

    /// The key that a file holds: its 256 bytes, or twice as many hexadecimal digits, with any blanks between them.
    ///
    /// # Errors
    /// `Damaged` when it is neither.
    pub fn parse(file: &[u8]) -> Result<Self> {
        if let Ok(bytes) = file.try_into() {
            return Ok(Self(bytes));
        }
        let digits = file.iter().filter(|byte| !byte.is_ascii_whitespace());
        let digits: Option<Vec<u8>> = digits.map(|&byte| u8::try_from(char::from(byte).to_digit(16)?).ok()).collect();
        let bytes = digits.filter(|digits| digits.len() == 512).map(|digits| {
            let pairs = digits.chunks_exact(2);
            pairs.map(|pair| pair.iter().fold(0u8, |byte, digit| byte << 4 | digit)).collect::<Vec<u8>>()
        });
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| Error::of_part(ErrorKind::damaged("a key is 256 bytes, or 512 hexadecimal digits"), "key"))
    }
}

impl Default for Key {
    /// The key of the public versions.
    fn default() -> Self {
        Self(layout::KEY)
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Self::default() { "Key(the public one)" } else { "Key(another)" })
    }
}

/// The game's folder, or its list alone.
#[derive(Debug)]
pub struct RustyHeartsArchive {
    source: Source,
    /// The file with the list, which may be `source` itself.
    dat: Source,
    key: Key,
    list: Lazy<List>,
    /// Whether a file was asked for by its path.
    asked: ScanCost,
    folder: Option<Arc<CaselessFolder>>,
    options: Options,
    volumes: Vec<OnceLock<VolumeFile>>,
}

/// The number of volumes that a list can name.
const VOLUMES: usize = 1 << u8::BITS;

/// The file with the list in `folder`.
fn list_in(folder: &Path) -> Option<PathBuf> {
    Some(caseless(folder, layout::LIST)).filter(|path| path.is_file())
}

impl RustyHeartsArchive {
    /// Opens a folder that has a list, or a list.
    ///
    /// # Errors
    /// `NotInstalled` when the folder has no list, `Io`.
    pub fn open(from: impl Openable, options: &Options) -> Result<Self> {
        let source = from.open_source(options)?;
        let is_folder = source.folder().is_some();
        let folder = source.path().map(|path| if is_folder { path } else { parent_of(path) }).map(Path::to_owned);
        let dat = match &folder {
            Some(folder) if is_folder => {
                let Some(path) = list_in(folder) else {
                    return Err(Error::of_part(ErrorKind::NotInstalled { what: layout::LIST.to_owned() }, ""));
                };
                options.source_in_folder(&path)?
            }
            _ => source.clone(),
        };
        Ok(Self {
            source,
            dat,
            key: options.get().map_or_else(Key::default, |key| *key),
            list: Lazy::default(),
            asked: ScanCost::default(),
            folder: folder.map(|folder| Arc::new(CaselessFolder::new(folder))),
            options: options.clone(),
            volumes: (0..VOLUMES).map(|_| OnceLock::new()).collect(),
        })
    }

    /// The file with the list.
    pub fn list_source(&self) -> &Source {
        &self.dat
    }

    fn list(&self) -> &List {
        self.list.get_or_make(|| List::read(&self.dat, &self.key.0, |_| false).0)
    }

    fn volume(&self, number: u8) -> &VolumeFile {
        let volume = self.volumes.get(usize::from(number)).expect("there is one for each number");
        volume.get_or_init(|| VolumeFile::new(&self.folder, format!("{number:03}.pck"), &self.options))
    }

    /// File `n`, as its record describes it.
    fn file_of(&self, record: &ListRecord<'_>, n: usize) -> Result<File<'static>> {
        let place = record.place;
        let (size, offset) = (place.size.get(), place.offset.get());
        let path = record.path();
        let bytes =
            u64::try_from(size).map_err(|_| record.at.locate(&place.size).bad_value("size", size).context(&path))?;
        let offset = u64::try_from(offset)
            .map_err(|_| record.at.locate(&place.offset).bad_value("offset in the volume", offset).context(&path))?;
        let volume = self.volume(place.volume);
        let mut file = File::new(path, bytes, u64::from(place.volume) << 32 | n as u64);
        file.crc32 = Some(!place.hash.get());
        file.volume = Some(volume.name().to_owned().into());
        file.offset = Some(offset);
        file.installed = volume.is_installed();
        Ok(file)
    }
}

impl Archive for RustyHeartsArchive {
    fn len(&self) -> Result<usize> {
        Ok(self.list().len())
    }

    fn damage(&self) -> Vec<Error> {
        self.list().damage.iter().map(Error::clone).collect()
    }

    fn file(&self, n: usize) -> Result<File<'_>> {
        let record = self.list().record(n).ok_or_else(|| archive::no_file(n))?;
        self.file_of(&record, n)
    }

    fn find(&self, path: &str) -> Result<Option<File<'_>>> {
        if self.list.get().is_none() && self.asked.is_first() {
            let (list, found) = List::read(&self.dat, &self.key.0, |record| record.is_at(path));
            if let (true, Some(last)) = (found, list.len().checked_sub(1)) {
                return list.record(last).map(|record| self.file_of(&record, last)).transpose();
            }
            // Racing with another that reads it: both lists are the same.
            self.list.get_or_make(|| list);
        }
        self.position(path)?.map(|n| self.file(n)).transpose()
    }

    fn position(&self, path: &str) -> Result<Option<usize>> {
        Ok(self.list().find(path).next())
    }

    fn repeated_paths(&self) -> Option<&dyn RepeatedPaths> {
        Some(self)
    }

    fn stored(&self, file: &File<'_>) -> Result<Source> {
        let volume = u8::try_from(file.handle >> 32).ok().map(|number| self.volume(number));
        let (volume, offset) = volume.zip(file.offset).ok_or_else(|| archive::no_file(usize::MAX))?;
        volume.slice(offset, file.stored_size)
    }

    fn files_on_disk(&self) -> Vec<PathBuf> {
        let volumes = self.folder.iter().flat_map(|folder| archive::files_with_ending(folder.path(), ".pck"));
        self.dat.path().map(Path::to_owned).into_iter().chain(volumes).collect()
    }

    fn volumes(&self) -> Result<Vec<Volume>> {
        let list = self.list();
        let mut files = vec![0u64; VOLUMES];
        for record in (0..list.len()).filter_map(|n| list.record(n)) {
            if let Some(files) = files.get_mut(usize::from(record.place.volume)) {
                *files = files.saturating_add(1);
            }
        }
        let volumes = (0..=u8::MAX).zip(files).map(|(number, files)| (self.volume(number), files));
        let known = volumes.filter(|(volume, files)| *files > 0 || volume.is_installed());
        Ok(known.map(|(volume, files)| Volume::new(volume.name(), volume.size(), files)).collect())
    }
}

impl RepeatedPaths for RustyHeartsArchive {
    fn positions(&self, path: &str) -> Result<Vec<usize>> {
        Ok(self.list().find(path).collect())
    }
}
