//! The files that addresses led to before, so that a question about a kept file opens no index.

use super::cache::{own_text, remove_foreign};
use crate::atomic_file::{AtomicFile, Overwrite};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Addresses that are known at most; the ones that were added first go first.
const MOST: usize = 1024;
/// The largest size of a list in bytes; the oldest lines are removed until it fits.
const SIZE: usize = 1 << 20;

/// A list of addresses, one a line: the hash of the [stamp](super::Archive::stamp) of each, and its file. Damaged lines
/// are ignored.
#[derive(Debug)]
pub(super) struct RecentAddresses {
    path: PathBuf,
}

/// A kept file, and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) key: String,
    /// The volume that holds the stored bytes.
    pub(super) volume: PathBuf,
    /// The state of the volume, as text.
    pub(super) state: String,
}

impl Target {
    /// The target in a line of the list, without the stamp.
    fn parse(line: &str) -> Option<Self> {
        let (key, rest) = line.split_once(' ')?;
        let (state, volume) = rest.split_once(' ')?;
        Some(Self { key: key.to_owned(), volume: volume.into(), state: state.to_owned() })
    }
}

impl RecentAddresses {
    /// The list in `folder`.
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join("addresses") }
    }

    /// The file at the address with this stamp.
    pub(super) fn get(&self, stamp: &str) -> Option<Target> {
        self.text().lines().rev().find_map(|line: &str| Target::parse(line.strip_prefix(stamp)?.strip_prefix(' ')?))
    }

    /// Adds an address. If two processes add one at once, one of them may be lost, which costs a second search.
    ///
    /// # Errors
    /// When the list cannot be written, or the path of the volume is no line of text.
    pub(super) fn add(&self, stamp: &str, target: &Target) -> io::Result<()> {
        if self.get(stamp).as_ref() == Some(target) {
            return Ok(());
        }
        let volume = target.volume.to_str().filter(|volume| !volume.contains(['\n', '\r']));
        let volume = volume.ok_or(io::ErrorKind::InvalidInput)?;
        let line = format!("{stamp} {} {} {volume}\n", target.key, target.state);
        let text = self.text();
        let mut kept = Vec::from([line.as_str()]);
        let mut size = line.len();
        let others = text.split_inclusive('\n').rev().filter(|line| {
            let rest = line.strip_prefix(stamp);
            !rest.is_some_and(|rest| rest.starts_with(' '))
        });
        for line in others.take(MOST - 1) {
            size += line.len();
            if size > SIZE {
                break;
            }
            kept.push(line);
        }
        remove_foreign(&self.path)?;
        let mut new = AtomicFile::create_with_folders(&self.path, Overwrite::Replace)?;
        kept.iter().rev().try_for_each(|line| new.write_all(line.as_bytes()))?;
        // A list that is lost costs a second search.
        new.commit_unsynced()
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
        own_text(&self.path, SIZE as u64).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(key: &str) -> Target {
        Target { key: key.to_owned(), volume: "/games/some game/a.pkg".into(), state: "1-2-3-4".to_owned() }
    }

    #[test]
    fn the_last_line_counts_and_the_first_ones_go() {
        let folder = tempfile::tempdir().unwrap();
        let known = RecentAddresses::in_folder(folder.path());
        assert_eq!(known.get("7"), None);
        known.add("7", &target("a")).unwrap();
        known.add("7", &target("b")).unwrap();
        assert_eq!(known.get("7"), Some(target("b")));
        assert_eq!(known.text().lines().count(), 1);
        let lines: String = (0..MOST).map(|n| format!("s{n} key{n} 1-2-3-4 /games/some game/a.pkg\n")).collect();
        fs::write(&known.path, lines).unwrap();
        known.add("new", &target("c")).unwrap();
        assert_eq!(["s0", "s1", "new"].map(|s| known.get(s)), [None, Some(target("key1")), Some(target("c"))]);
        // A list has no more bytes than a list may have.
        let long = Target { volume: format!("/{}", "x".repeat(SIZE / 3)).into(), ..target("d") };
        (0..4).for_each(|n| known.add(&format!("long{n}"), &long).unwrap());
        assert_eq!(["long0", "long1", "long2", "long3"].map(|s| known.get(s).is_some()), [false, false, true, true]);
        known.clear().unwrap();
        known.clear().unwrap();
        assert_eq!(known.get("s1"), None);
    }

    #[test]
    fn lines_that_are_damaged_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let known = RecentAddresses::in_folder(folder.path());
        fs::write(&known.path, "\u{1}\nseven\nseven x\neight key 1-2-3-4 /games/some game/a.pkg").unwrap();
        assert_eq!((known.get("seven"), known.get("eight")), (None, Some(target("key"))));
        fs::write(&known.path, vec![b' '; SIZE + 1]).unwrap();
        assert_eq!(known.get("eight"), None);
        assert!(known.add("nine", &Target { volume: "a\nb".into(), ..target("e") }).is_err());
    }
}
