//! The builders of samples, and the files that they write.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// A few kilobytes.
    Small,
    /// As large as the games' own files.
    Full,
}

impl Size {
    /// The first of two values for a small sample, the other for a full one.
    pub fn pick<T>(self, small: T, full: T) -> T {
        if self == Self::Small { small } else { full }
    }
}

pub type Make = fn(u64, Size) -> Vec<u8>;

/// Takes a file of an unfinished folder, by its path in the folder; an error ends the folder.
pub type Put<'p> = dyn FnMut(&str, &[u8]) -> Result<(), Stopped> + 'p;

/// Builds a folder from a seed, and stops if a file is refused.
pub type MakeFolder = fn(u64, Size, &mut Put<'_>) -> Result<(), Stopped>;

/// The end of an unfinished folder; its caller keeps the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// Passes files on until one is refused.
#[cfg(any(feature = "ff13", feature = "rusty-hearts", feature = "vrage"))]
pub(super) fn each(write: &mut Put<'_>, make: impl FnOnce(&mut dyn FnMut(&str, Vec<u8>))) -> Result<(), Stopped> {
    let mut wanted = Ok(());
    make(&mut |path, bytes| {
        if wanted.is_ok() {
            wanted = write(path, &bytes);
        }
    });
    wanted
}
