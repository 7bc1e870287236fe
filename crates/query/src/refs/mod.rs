//! References of entries to each other, across files.
//!
//! The references of one entry are read from its record. References *to* entries are found by one pass over the
//! references of all records on all cores, for any number of entries at once.

use crate::asset::Asset;
use crate::report::Progress;

mod stated;

pub use crate::relations::{By, Edge, Entries, EntryLocation, Found, IdTexts, Keep, PARENT, Relations};
pub use stated::{Destination, LinkedFile, StatedPaths, states_paths};

/// The references in `asset` that `keep` selects. A format without [`Relations`] has none.
pub fn scan(asset: &Asset, keep: Keep<'_>) -> Found {
    scan_with(asset, keep, &Progress::default())
}

/// As [`scan`]; `progress` counts rows.
pub fn scan_with(asset: &Asset, keep: Keep<'_>, progress: &Progress) -> Found {
    asset.reader().relations().map_or_else(Found::default, |relations| relations.references(keep, progress))
}

/// Whether `asset` is of a format that knows references.
pub fn refers(asset: &Asset) -> bool {
    asset.reader().relations().is_some()
}

/// The references of the entry `id` in `asset`. Texts count if they are paths of the file.
pub fn references_of(asset: &Asset, id: u64) -> Found {
    asset.reader().relations().map_or_else(Found::default, |relations| relations.references_of(id))
}

/// The entries of `asset`, if they have ids.
pub fn entries(asset: &Asset) -> Option<&dyn Entries> {
    asset.reader().relations()?.entries()
}

/// The texts of ids in `asset`, if any.
pub fn texts(asset: &Asset) -> Option<&dyn IdTexts> {
    asset.reader().relations()?.texts()
}

/// Whether `asset` has an entry with this id: a path, a resource, or a model of a `models.bin`.
pub fn has(asset: &Asset, id: u64) -> bool {
    entries(asset).is_some_and(|entries| entries.has(id))
}

/// Every id that some files have, for asking often.
pub struct KnownIds<'a> {
    entries: Vec<&'a dyn Entries>,
    has_texts: bool,
}

impl std::fmt::Debug for KnownIds<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KnownIds").field("files", &self.entries.len()).finish_non_exhaustive()
    }
}

impl<'a> KnownIds<'a> {
    /// The ids of these files.
    pub fn new(assets: impl IntoIterator<Item = &'a Asset>) -> Self {
        let mut known = Self { entries: Vec::new(), has_texts: false };
        for asset in assets {
            known.entries.extend(entries(asset));
            known.has_texts |= entries(asset).is_some() && texts(asset).is_some();
        }
        known
    }

    /// Whether one of the files has the texts of ids, as a prototype database does: then it has all paths that there are.
    pub fn has_texts(&self) -> bool {
        self.has_texts
    }

    /// Whether one of the files has this id.
    pub fn has(&self, id: u64) -> bool {
        self.entries.iter().any(|entries| entries.has(id))
    }
}
