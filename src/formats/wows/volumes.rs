//! Volumes: the files that hold others. Each of them is mapped when one of its files is first asked for.

use super::index::{Index, VolumeEntry};
use super::layout::Trailer;
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::source::Source;
use std::collections::HashMap;
use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

/// What older indexes write before the name of a volume.
const PREFIX: &str = "//.//";

/// The volumes that the indexes of a build name.
#[derive(Debug)]
pub(super) struct Volumes {
    all: Vec<Volume>,
    by_id: HashMap<u64, usize>,
}

/// One volume.
#[derive(Debug)]
pub(super) struct Volume {
    name: Result<String>,
    on_disk: OnceLock<Option<(PathBuf, u64)>>,
    mapped: Lazy<Source>,
}

/// Where volumes are, and how they are read.
#[derive(Debug)]
pub(super) struct Folders {
    pub folders: Vec<PathBuf>,
    pub no_mmap: bool,
}

/// The name of the file on disk.
///
/// # Errors
/// When the name is damaged, or is none for a file in the folder of volumes.
pub(super) fn file_name<'a>(volume: &VolumeEntry<'a>) -> Result<&'a str> {
    let name = volume.name()?;
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    if matches!(name, "" | "." | "..") || name.contains(['/', '\\', ':', '\0']) {
        let what = format!("{name:?} is no name for a volume").into();
        return Err(volume.view().error(ErrorKind::Damaged { what }));
    }
    Ok(name)
}

impl Volumes {
    pub(super) fn of(indexes: &[Index]) -> Self {
        let mut volumes = Self { all: Vec::new(), by_id: HashMap::new() };
        for index in indexes {
            for entry in (0..index.volume_count()).map_while(|n| index.volume(n)) {
                let name = || file_name(&entry).map(str::to_owned).map_err(|e| e.within(index.name()));
                match volumes.by_id.entry(entry.id) {
                    Vacant(free) => {
                        free.insert(volumes.all.len());
                        let (name, on_disk, mapped) = (name(), OnceLock::new(), Lazy::default());
                        volumes.all.push(Volume { name, on_disk, mapped });
                    }
                    // One index may be damaged where another is not.
                    Occupied(known) => {
                        if let Some(volume) = volumes.all.get_mut(*known.get())
                            && volume.name.is_err()
                        {
                            volume.name = name();
                        }
                    }
                }
            }
        }
        volumes
    }

    pub(super) fn all(&self) -> &[Volume] {
        &self.all
    }

    /// The number of the volume with this id.
    pub(super) fn position(&self, id: u64) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    /// The volume with this id.
    pub(super) fn get(&self, id: u64) -> Option<&Volume> {
        self.all.get(self.position(id)?)
    }
}

impl Volume {
    /// Its file name.
    ///
    /// # Errors
    /// As [`file_name`].
    pub(super) fn name(&self) -> Result<&str> {
        self.name.as_deref().map_err(Error::again)
    }

    fn on_disk(&self, at: &Folders) -> Option<&(PathBuf, u64)> {
        let look = || {
            let name = self.name.as_ref().ok()?;
            at.folders.iter().find_map(|folder| {
                let path = folder.join(name);
                let meta = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
                Some((path, meta.len()))
            })
        };
        self.on_disk.get_or_init(look).as_ref()
    }

    /// Its bytes, where it is there.
    pub(super) fn size(&self, at: &Folders) -> Option<u64> {
        self.on_disk(at).map(|(_, size)| *size)
    }

    /// The file on disk with its size, for one that has `len` bytes at `offset`.
    fn holds(&self, at: &Folders, offset: u64, len: u64) -> Result<&(PathBuf, u64)> {
        let name = self.name()?;
        let Some(found) = self.on_disk(at) else {
            let what = format!("the volume {name}");
            return Err(Error::without_offset(ErrorKind::NotInstalled { what }, ""));
        };
        match found.1.checked_sub(offset) {
            Some(have) if have >= len => Ok(found),
            have => {
                let kind = ErrorKind::OutOfBounds { need: len, have: have.unwrap_or(0) };
                Err(Error::new(kind, "data", offset).within(name))
            }
        }
    }

    /// Checks that it has `len` bytes at `offset`.
    ///
    /// # Errors
    /// `NotInstalled`, `OutOfBounds`.
    pub(super) fn check_range(&self, at: &Folders, offset: u64, len: u64) -> Result<()> {
        self.holds(at, offset, len).map(drop)
    }

    /// `len` bytes at `offset`, mapped and not copied where volumes are mapped at all.
    ///
    /// # Errors
    /// `NotInstalled`, `OutOfBounds`, `Io`.
    pub(super) fn part(&self, at: &Folders, offset: u64, len: u64) -> Result<Source> {
        let (path, _) = self.holds(at, offset, len)?;
        let name = self.name()?;
        let part = || {
            if at.no_mmap {
                return Source::read_part(path, offset, len);
            }
            let mapped = self.mapped.get_or_try_init(|| Source::open(path))?;
            let range = usize::try_from(offset).ok().zip(usize::try_from(len).ok());
            let range = range.and_then(|(start, len)| Some(start..start.checked_add(len)?));
            // It may have become shorter since.
            let have = (mapped.bytes().len() as u64).saturating_sub(offset);
            let short = || Error::new(ErrorKind::OutOfBounds { need: len, have }, "data", offset);
            range.and_then(|range| mapped.slice(range, name)).ok_or_else(short)
        };
        part().map_err(|error| error.within(name))
    }

    /// Checks what lies behind a blob that ends at `end`.
    ///
    /// # Errors
    /// When it is not what the index says of the blob; as [`Volume::part`].
    pub(super) fn check_trailer(&self, at: &Folders, end: u64, crc32: u32, size: u64) -> Result<()> {
        let source = self.part(at, end, size_of::<Trailer>() as u64)?;
        let view = source.view("trailer");
        let trailer: &Trailer = view.read()?;
        let wrong = if trailer.zero.get() != 0 {
            view.bad_value("zero before the checksum", trailer.zero.get())
        } else if trailer.crc32.get() != crc32 {
            view.skip(4).bad_value("checksum, which the index has otherwise", trailer.crc32.get())
        } else if trailer.size.get() != size {
            view.skip(8).bad_value("size, which the index has otherwise", trailer.size.get())
        } else {
            return Ok(());
        };
        Err(wrong.within(self.name()?))
    }
}
