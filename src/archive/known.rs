//! The files that addresses led to before, so that a question about a kept file opens no index.

use crate::write::atomic_file::{AtomicFile, Overwrite};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Addresses that are known at most; the ones that were added first go first.
const MOST: usize = 4096;
/// Bytes of a line: a stamp, a CRC-32 and a size at their longest.
const LINE: usize = 17 + 9 + 21;

/// A list of [stamps](super::Archive::stamp) with the CRC-32 and size of the file that each of them stands for, one in a
/// line. A line that is damaged is as good as none.
#[derive(Debug)]
pub(super) struct Known {
    path: PathBuf,
}

impl Known {
    /// The list in `folder`.
    pub(super) fn of(folder: &Path) -> Self {
        Self { path: folder.join("addresses") }
    }

    /// The CRC-32 and size of the file at the address with this stamp.
    pub(super) fn get(&self, stamp: u64) -> Option<(u32, u64)> {
        let line = |line: &str| {
            let (of, file) = line.split_once(' ')?;
            let (crc32, size) = file.split_once('-')?;
            (u64::from_str_radix(of, 16).ok()? == stamp)
                .then(|| Some((u32::from_str_radix(crc32, 16).ok()?, size.parse().ok()?)))
                .flatten()
        };
        self.text().lines().rev().find_map(line)
    }

    /// Adds an address. Of two processes that do so at once one may be forgotten, which costs a second search.
    ///
    /// # Errors
    /// When the list cannot be written.
    pub(super) fn add(&self, stamp: u64, crc32: u32, size: u64) -> io::Result<()> {
        let text = self.text();
        let mut new = AtomicFile::create(&self.path, Overwrite::Replace)?;
        for line in text.lines().skip(text.lines().count().saturating_add(1).saturating_sub(MOST)) {
            writeln!(new, "{line}")?;
        }
        writeln!(new, "{stamp:016x} {crc32:08x}-{size}")?;
        new.commit()
    }

    /// Forgets all addresses.
    ///
    /// # Errors
    /// When the list cannot be removed.
    pub(super) fn clear(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Empty without a list, or for one that cannot be a list of ours.
    fn text(&self) -> String {
        let fits = |meta: &fs::Metadata| meta.is_file() && meta.len() <= (MOST * LINE) as u64;
        let there = fs::metadata(&self.path).is_ok_and(|meta| fits(&meta));
        there.then(|| fs::read_to_string(&self.path).ok()).flatten().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_and_the_first_ones_go() {
        let folder = tempfile::tempdir().unwrap();
        let known = Known::of(folder.path());
        assert_eq!(known.get(7), None);
        known.add(7, 0xABC, 5).unwrap();
        known.add(7, 0xABD, u64::MAX).unwrap();
        assert_eq!(known.get(7), Some((0xABD, u64::MAX)));
        let lines: String = (0..MOST as u64).map(|n| format!("{n:016x} {n:08x}-{n}\n")).collect();
        fs::write(&known.path, lines).unwrap();
        known.add(1 << 40, 1, 2).unwrap();
        assert_eq!([0, 1, 1 << 40].map(|stamp| known.get(stamp)), [None, Some((1, 1)), Some((1, 2))]);
        known.clear().unwrap();
        known.clear().unwrap();
        assert_eq!(known.get(1), None);
    }

    #[test]
    fn lines_that_are_damaged_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let known = Known::of(folder.path());
        fs::write(&known.path, "\u{1}\n0000000000000007\n0000000000000007 x-1\n0000000000000008 00000001-2").unwrap();
        assert_eq!((known.get(7), known.get(8)), (None, Some((1, 2))));
        fs::write(&known.path, vec![b' '; MOST * LINE + 1]).unwrap();
        assert_eq!(known.get(7), None);
    }
}
