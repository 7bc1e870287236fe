//! [`Openable`]: what a file is opened from.

use crate::archive::Address;
use crate::asset::Asset;
use crate::error::Result;
use crate::options::Options;
use crate::source::Source;
use std::path::Path;

/// A [`Source`], or anything that is a path: of a file or folder, an address `ARCHIVE:INNER` of a file in an archive. See
/// [`Address`].
pub trait Openable: Sized {
    /// The bytes of the file.
    ///
    /// # Errors
    /// As [`Address::open`], with the path.
    fn open_source(self, options: &Options) -> Result<Source>;

    /// The file, in its detected format.
    ///
    /// # Errors
    /// As [`Asset::open`].
    fn open_asset(self, options: &Options) -> Result<Asset>;
}

impl Asset {
    /// Detects the format of a file and opens it: by its path, its address, or its [`Source`]. Reads headers only.
    ///
    /// # Errors
    /// `UnknownFormat`, the errors of the headers, and of a path the errors of [`Address::open`].
    pub fn open(from: impl Openable) -> Result<Self> {
        from.open_asset(&Options::default())
    }

    /// As [`Asset::open`], with options.
    pub fn open_with(from: impl Openable, options: &Options) -> Result<Self> {
        from.open_asset(options)
    }
}

impl Openable for Source {
    fn open_source(self, _: &Options) -> Result<Source> {
        Ok(self)
    }

    fn open_asset(self, options: &Options) -> Result<Asset> {
        Asset::of_source(self, options)
    }
}

impl<T: AsRef<Path>> Openable for T {
    fn open_source(self, options: &Options) -> Result<Source> {
        let path = self.as_ref();
        Address::parse(path).open_source(options).map_err(|error| error.context(path.display()))
    }

    fn open_asset(self, options: &Options) -> Result<Asset> {
        let path = self.as_ref();
        Address::parse(path).open(options).map_err(|error| error.context(path.display()))
    }
}
