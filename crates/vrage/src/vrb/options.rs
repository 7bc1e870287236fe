//! Options of opening an archive, and the limits of its decoded sizes.

use crate::budget;
use crate::source::Source;

/// Bounds that keep hostile files from exhausting memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    pub depth: usize,
    /// Decompressed bytes of all parts together, however large the archive is.
    pub decoded: u64,
    /// The limit of decompressed bytes of all parts together for each byte of the archive, besides the 16 MiB that any
    /// archive may have.
    pub ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 512, decoded: 8 << 30, ratio: budget::EXPANSION }
    }
}

impl Limits {
    /// The most that all parts of `archive` may become.
    pub(super) fn decoded(&self, archive: &Source) -> u64 {
        budget::decoded(archive.bytes().len() as u64, self.ratio).min(self.decoded)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// A checksum that does not match is an error rather than a warning.
    pub strict: bool,
    pub limits: Limits,
}
