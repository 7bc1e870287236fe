//! Volumes: files on disk that hold files of an archive.

use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::reader::Options;
use crate::source::Source;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// A volume of an archive, which may be missing. It is looked for when its size is asked for, and mapped when a file in it
/// is.
#[derive(Debug)]
pub struct VolumeFile {
    name: String,
    path: Option<PathBuf>,
    options: Options,
    size: OnceLock<Option<u64>>,
    source: Lazy<Source>,
}

impl VolumeFile {
    /// The volume called `name` in `folder`. Without a folder, and under a name that leads out of it, it is not installed.
    pub fn new(folder: Option<&Path>, name: impl Into<String>, options: &Options) -> Self {
        let name = name.into();
        let path = folder.filter(|_| is_file_name(&name)).map(|folder| folder.join(&name));
        Self { name, path, options: options.clone(), size: OnceLock::new(), source: Lazy::default() }
    }

    /// Its file name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its bytes; `None` where it is not there.
    pub fn size(&self) -> Option<u64> {
        *self.size.get_or_init(|| {
            let meta = self.path.as_ref()?.metadata().ok()?;
            meta.is_file().then_some(meta.len())
        })
    }

    /// The `len` bytes at `offset`.
    ///
    /// # Errors
    /// `NotInstalled` when it is not there, `OutOfBounds` when it has fewer bytes, `Io`.
    pub fn slice(&self, offset: u64, len: u64) -> Result<Source> {
        let (Some(path), Some(size)) = (&self.path, self.size()) else {
            let kind = ErrorKind::NotInstalled { what: self.name.clone() };
            return Err(Error::without_offset(kind, ""));
        };
        let part = || {
            // An image has gigabytes, of which one file is asked for.
            if self.options.no_mmap {
                return Source::read_part(path, offset, len);
            }
            let volume = self.source.get_or_try_init(|| Source::open(path))?;
            let start = usize::try_from(offset).unwrap_or(usize::MAX);
            let range = usize::try_from(len).ok().and_then(|len| Some(start..start.checked_add(len)?));
            let have = (volume.bytes().len() as u64).min(size).saturating_sub(offset);
            let short = || Error::new(ErrorKind::OutOfBounds { need: len, have }, "data", offset);
            range.and_then(|range| volume.slice(range, volume.name())).ok_or_else(short)
        };
        part().map_err(|error| error.within(&self.name))
    }
}

/// Whether `name` is that of a file in a folder, and leads nowhere else.
fn is_file_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
        && !name.contains(['\\', '\0', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_lends_what_it_has_and_is_missed_when_it_is_asked() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("000.pck"), b"0123456789").unwrap();
        for no_mmap in [false, true] {
            let mut options = Options::default();
            options.no_mmap = no_mmap;
            let volume = VolumeFile::new(Some(dir.path()), "000.pck", &options);
            assert_eq!((volume.size(), volume.slice(3, 4).unwrap().bytes()), (Some(10), &b"3456"[..]));
            // Without maps only the part is read.
            assert_eq!(volume.source.get().is_none(), no_mmap);
            for (offset, len) in [(3, 8), (11, 0), (u64::MAX, 1), (1, u64::MAX)] {
                let error = volume.slice(offset, len).unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::OutOfBounds { .. }), "{error}");
                assert!(error.to_string().starts_with("000.pck: data: "), "{error}");
            }
        }
        for missing in [
            VolumeFile::new(Some(dir.path()), "001.pck", &Options::default()),
            VolumeFile::new(None, "000.pck", &Options::default()),
        ] {
            assert_eq!(missing.size(), None);
            assert!(matches!(missing.slice(0, 0).unwrap_err().kind(), ErrorKind::NotInstalled { .. }));
        }
    }

    #[test]
    fn a_name_that_leads_out_of_the_folder_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("in");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(dir.path().join("secret"), b"1").unwrap();
        let absolute = dir.path().join("secret").to_string_lossy().into_owned();
        for name in ["../secret", "./../secret", "..", ".", "", "a\0b", "..\\secret", &absolute] {
            assert_eq!(VolumeFile::new(Some(&inner), name, &Options::default()).size(), None, "{name:?}");
        }
    }
}
