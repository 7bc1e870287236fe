//! [`Options`]: how files are opened, and the settings of single formats.

use crate::error::{Error, Result};
use crate::paths::is_url;
use crate::source::{Source, no_file};
use std::any::{Any, TypeId};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Settings besides the file: strictness, and settings of single formats, by types of their own.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// Whether a warning ([`Reader::warnings`](crate::Reader::warnings)) is an error, in formats that check during reading.
    pub strict: bool,
    /// Whether files are read rather than mapped, for network drives.
    pub no_mmap: bool,
    own: Vec<(TypeId, Arc<dyn Any + Send + Sync>)>,
}

impl Options {
    /// Opens the file or folder at `path`, mapped or read according to these settings.
    pub fn source(&self, path: &Path) -> Result<Source> {
        match if self.no_mmap { Source::read(path) } else { Source::open(path) } {
            // Checked only after a failure: a game has hundreds of indexes to open.
            Err(_) if path.is_dir() => Ok(Source::of_folder(path)),
            Err(_) if is_url(path) => {
                let what = "assetq opens no URL: download the file first";
                Err(Error::io("cannot open", io::Error::new(io::ErrorKind::NotFound, what)))
            }
            opened => opened,
        }
    }

    /// As [`Options::source`], for a file that was found in a folder, not named by the user: a pipe is an error,
    /// because it may have no writer, and so is a device, which may have no end.
    pub fn source_in_folder(&self, path: &Path) -> Result<Source> {
        match path.metadata() {
            Ok(meta) if !meta.is_file() && !meta.is_dir() => Err(Error::io("cannot open", no_file(&meta))),
            _ => self.source(path),
        }
    }

    /// Adds `value` for the format that reads a `T`, such as the known fields of sheets.
    #[must_use]
    pub fn with<T: Any + Send + Sync>(mut self, value: Arc<T>) -> Self {
        self.own.retain(|(id, _)| *id != TypeId::of::<T>());
        self.own.push((TypeId::of::<T>(), value));
        self
    }

    /// The value of type `T`, if given.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let (_, value) = self.own.iter().find(|(id, _)| *id == TypeId::of::<T>())?;
        Arc::clone(value).downcast().ok()
    }
}
