//! Volumes: the files that contain the archive's files.

use super::index::{Index, VolumeEntry};
use super::layout::Trailer;
use crate::archive::VolumeFile;
use crate::error::{ErrorKind, Result};
use crate::options::Options;
use crate::paths::CaselessFolder;
use std::collections::HashMap;
use std::sync::Arc;

/// The prefix that older indexes write before the name of a volume.
const PREFIX: &str = "//.//";

/// The volumes that the indexes of a build name.
#[derive(Debug)]
pub(super) struct Volumes {
    all: Vec<Volume>,
    by_id: HashMap<u64, usize>,
}

/// One volume; an error if its name in the index is not a file name.
pub(super) type Volume = Result<VolumeFile>;

/// The name of the file on disk.
///
/// # Errors
/// When the name is damaged, or is unfit for a file in the folder of volumes.
pub(super) fn file_name<'a>(volume: &VolumeEntry<'a>) -> Result<&'a str> {
    let name = volume.name()?;
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    if matches!(name, "" | "." | "..") || name.contains(['/', '\\', ':', '\0']) {
        return Err(volume.view().error(ErrorKind::damaged(format!("{name:?} is no name for a volume"))));
    }
    Ok(name)
}

impl Volumes {
    /// The volumes of `indexes`, each from the first of `folders` that contains it.
    pub(super) fn find(indexes: &[Index], folders: &[Arc<CaselessFolder>], options: &Options) -> Self {
        let mut volumes = Self { all: Vec::new(), by_id: HashMap::new() };
        for index in indexes {
            for entry in (0..index.volume_count()).map_while(|n| index.volume(n)) {
                let known = volumes.by_id.get(&entry.id).and_then(|known| volumes.all.get_mut(*known));
                // One index may be damaged where another is sound.
                if known.as_ref().is_some_and(|known| known.is_ok()) {
                    continue;
                }
                let name = file_name(&entry).map_err(|error| error.context(index.name()));
                let volume = name.map(|name| VolumeFile::new(folders, name, options));
                match known {
                    Some(known) => *known = volume,
                    None => {
                        volumes.by_id.insert(entry.id, volumes.all.len());
                        volumes.all.push(volume);
                    }
                }
            }
        }
        volumes
    }

    pub(super) fn all(&self) -> &[Volume] {
        &self.all
    }

    pub(super) fn position(&self, id: u64) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    pub(super) fn get(&self, id: u64) -> Option<&Volume> {
        self.all.get(self.position(id)?)
    }
}

/// Checks the trailer after a blob that ends at `end` of `volume`.
///
/// # Errors
/// If the trailer contradicts the index, and the errors of [`VolumeFile::slice`].
pub(super) fn check_trailer(volume: &VolumeFile, end: u64, crc32: u32, size: u64) -> Result<()> {
    let source = volume.slice(end, size_of::<Trailer>() as u64)?;
    let view = source.view("trailer");
    let trailer: &Trailer = view.read()?;
    let wrong = if trailer.zero.get() != 0 {
        view.bad_value("zero before the checksum", trailer.zero.get())
    } else if trailer.crc32.get() != crc32 {
        view.locate(&trailer.crc32).bad_value("checksum, which the index has otherwise", trailer.crc32.get())
    } else if trailer.size.get() != size {
        view.locate(&trailer.size).bad_value("size, which the index has otherwise", trailer.size.get())
    } else {
        return Ok(());
    };
    Err(wrong.context(volume.name()))
}
