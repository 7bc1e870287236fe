//! Volumes: files on disk that hold files of an archive.

use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::options::Options;
use crate::paths::{CaselessFolder, is_plain};
use crate::source::{Source, metadata_if_present, no_file};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A volume of an archive, which may be missing. It is located when its size is needed, and mapped when a file in it
/// is.
#[derive(Debug)]
pub struct VolumeFile {
    name: String,
    /// The folders that may hold the file; the first one that does is used.
    folders: Vec<Arc<CaselessFolder>>,
    no_mmap: bool,
    found: OnceLock<Result<Option<FoundVolume>>>,
    /// The map; `None` if the file cannot be mapped.
    source: Lazy<Option<Source>>,
}

#[derive(Debug)]
struct FoundVolume {
    path: PathBuf,
    /// In bytes.
    size: u64,
}

impl VolumeFile {
    /// The volume `name`, in any letter case, in one of `folders`. Without a folder, and under a name that leads elsewhere,
    /// it counts as not installed.
    pub fn new<'f>(
        folders: impl IntoIterator<Item = &'f Arc<CaselessFolder>>,
        name: impl Into<String>,
        options: &Options,
    ) -> Self {
        let name = name.into();
        let folders = folders.into_iter().filter(|_| is_plain(&name) && !name.contains('/')).cloned().collect();
        Self { name, folders, no_mmap: options.no_mmap, found: OnceLock::new(), source: Lazy::default() }
    }

    /// The file's name, without its folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn found(&self) -> Result<Option<&FoundVolume>> {
        match self.found.get_or_init(|| self.look()) {
            Ok(found) => Ok(found.as_ref()),
            Err(error) => Err(error.clone()),
        }
    }

    fn look(&self) -> Result<Option<FoundVolume>> {
        let mut unreadable = None;
        for path in self.folders.iter().map(|folder| folder.entry(&self.name)) {
            match metadata_if_present(&path) {
                Ok(Some(meta)) if meta.is_file() => return Ok(Some(FoundVolume { path, size: meta.len() })),
                Ok(Some(meta)) => unreadable = Some(no_file(&meta)),
                Ok(None) => {}
                Err(error) => unreadable = Some(error),
            }
        }
        unreadable.map_or(Ok(None), |error| Err(Error::io("cannot open", error).context(&self.name)))
    }

    /// `None` if it is missing or unreadable.
    pub fn path(&self) -> Option<&Path> {
        Some(&self.found().ok()??.path)
    }

    /// The file's bytes; `None` if it is missing.
    ///
    /// # Errors
    /// `Io` when its name exists, and leads to no file that can be read.
    pub fn size(&self) -> Result<Option<u64>> {
        Ok(self.found()?.map(|found| found.size))
    }

    /// Whether its name exists. The file may be unreadable.
    pub fn is_installed(&self) -> bool {
        self.found().map_or(true, |found| found.is_some())
    }

    /// Checks that it has `len` bytes at `offset`.
    ///
    /// # Errors
    /// `NotInstalled` when it is not there, `OutOfBounds` when it has fewer bytes, and as [`VolumeFile::size`].
    pub fn check(&self, offset: u64, len: u64) -> Result<()> {
        self.place_of(offset, len).map(drop)
    }

    fn place_of(&self, offset: u64, len: u64) -> Result<&Path> {
        let Some(FoundVolume { path, size }) = self.found()? else {
            let kind = ErrorKind::NotInstalled { what: self.name.clone() };
            return Err(Error::of_part(kind, ""));
        };
        match offset.checked_add(len) {
            Some(end) if end <= *size => Ok(path),
            _ => Err(self.too_short(offset, len, *size)),
        }
    }

    /// The error for `need` bytes at `offset` of a volume of `size` bytes.
    fn too_short(&self, offset: u64, need: u64, size: u64) -> Error {
        let have = size.saturating_sub(offset);
        Error::new(ErrorKind::OutOfBounds { need, have }, "data", offset).in_file(&self.name)
    }

    /// The `len` bytes at `offset`, mapped and not copied if files are mapped at all.
    ///
    /// # Errors
    /// As [`VolumeFile::check`], and `Io`.
    pub fn slice(&self, offset: u64, len: u64) -> Result<Source> {
        let path = self.place_of(offset, len)?;
        let volume = if self.no_mmap {
            &None
        } else {
            self.source.get_or_try_init(|| Source::open_mapped(path)).map_err(|error| error.context(&self.name))?
        };
        // A volume has gigabytes, and one file of it is read.
        let Some(volume) = volume else {
            return Source::read_part(path, offset, len).map_err(|error| error.context(&self.name));
        };
        let range = usize::try_from(offset).ok().zip(usize::try_from(len).ok());
        let range = range.and_then(|(start, len)| Some(start..start.checked_add(len)?));
        // The volume may have become shorter since it was found.
        let size = volume.bytes().len() as u64;
        range.and_then(|range| volume.slice(range, &self.name)).ok_or_else(|| self.too_short(offset, len, size))
    }
}

/// The files in `folder` whose names end with `ending`, in any letter case; none if it cannot be read.
pub fn files_with_ending(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.to_str().is_some_and(|path| path.to_ascii_lowercase().ends_with(ending))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_of(dir: &tempfile::TempDir) -> Arc<CaselessFolder> {
        Arc::new(CaselessFolder::new(dir.path()))
    }

    #[test]
    fn a_volume_lends_what_it_has_and_is_missed_when_it_is_asked() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("000.pck"), b"0123456789").unwrap();
        for no_mmap in [false, true] {
            let mut options = Options::default();
            options.no_mmap = no_mmap;
            let volume = VolumeFile::new(&[folder_of(&dir)], "000.pck", &options);
            assert_eq!((volume.size().unwrap(), volume.slice(3, 4).unwrap().bytes()), (Some(10), &b"3456"[..]));
            // Without maps only the part is read.
            assert_eq!(volume.source.get().is_none(), no_mmap);
            for (offset, len) in [(3, 8), (11, 0), (u64::MAX, 1), (1, u64::MAX)] {
                let error = volume.slice(offset, len).unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::OutOfBounds { .. }), "{error}");
                assert!(error.to_string().starts_with("data in 000.pck at 0x"), "{error}");
            }
        }
        for missing in [
            VolumeFile::new(&[folder_of(&dir)], "001.pck", &Options::default()),
            VolumeFile::new(None, "000.pck", &Options::default()),
        ] {
            assert_eq!((missing.size().unwrap(), missing.is_installed()), (None, false));
            assert!(matches!(missing.slice(0, 0).unwrap_err().kind(), ErrorKind::NotInstalled { .. }));
        }
    }

    #[test]
    fn a_volume_is_found_in_any_letter_case() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("Ships.PKG"), b"0123456789").unwrap();
        let volume = VolumeFile::new(&[folder_of(&dir)], "ships.pkg", &Options::default());
        assert_eq!(volume.slice(1, 2).unwrap().bytes(), b"12");
        assert_eq!(files_with_ending(dir.path(), ".pkg").len(), 1);
    }

    #[test]
    fn a_volume_that_cannot_be_read_is_not_missing() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(dir.path().join("000.pck")).unwrap();
        let volume = VolumeFile::new(&[folder_of(&dir), folder_of(&other)], "000.pck", &Options::default());
        let error = volume.slice(0, 0).unwrap_err().to_string();
        assert!(volume.is_installed() && error.starts_with("000.pck: cannot open: "), "{error}");
        // A file in another folder is as good.
        std::fs::write(other.path().join("000.pck"), b"0123456789").unwrap();
        let volume = VolumeFile::new(&[folder_of(&dir), folder_of(&other)], "000.pck", &Options::default());
        assert_eq!(volume.slice(1, 2).unwrap().bytes(), b"12");
    }

    #[test]
    fn a_name_that_leads_out_of_the_folder_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("in");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(dir.path().join("secret"), b"1").unwrap();
        let absolute = dir.path().join("secret").to_string_lossy().into_owned();
        for name in ["../secret", "./../secret", "..", ".", "", "a\0b", "..\\secret", &absolute] {
            assert!(
                !VolumeFile::new(&[Arc::new(CaselessFolder::new(&inner))], name, &Options::default()).is_installed(),
                "{name:?}"
            );
        }
    }
}
