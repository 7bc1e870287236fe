use super::Database;
use super::layout::PathEntry;
use crate::bytes::View;
use crate::codec::cityhash64;
use crate::error::{ErrorKind, Result};
use hashbrown::HashTable;
use rayon::prelude::*;
use std::sync::atomic::Ordering;

/// Folders that a path may be deep. The deepest paths of the game have about twelve.
const MAX_DEPTH: usize = 128;
/// Bytes that a path may be long. Names of a hostile file may overlap, so that their sum has no other bound.
const MAX_LENGTH: usize = 32 << 10;
/// The parent of the topmost folder, where it is not 0: the id of "res" in the game's package index.
const PACKAGE_ROOT: u64 = 0xDBB1_A1D1_B108_B927;

/// The paths of a database.
#[derive(Debug, Clone, Copy)]
pub struct Paths<'a> {
    db: &'a Database,
    entries: &'a [PathEntry],
}

/// Finds path entries by id: positions only, the keys stay in the file. One table for each slice of the ids, so that
/// the tables are built in parallel.
#[derive(Debug)]
pub(super) struct Index {
    shards: Vec<HashTable<u32>>,
}

impl Index {
    fn build(entries: &[PathEntry]) -> Self {
        let count = rayon::current_num_threads().next_power_of_two().min(64);
        let build = |shard: usize| {
            let expected = entries.len().checked_div(count).unwrap_or(0);
            let mut table = HashTable::with_capacity(expected.saturating_add(expected / 16));
            for (position, entry) in (0u32..).zip(entries) {
                let id = entry.self_id.get();
                if Self::shard(id, count) == shard {
                    let same = |&other: &u32| self_id(entries, other) == Some(id);
                    // The first entry with an id is the one that counts.
                    table.entry(hash(id), same, |&p| self_id(entries, p).map_or(0, hash)).or_insert(position);
                }
            }
            table
        };
        Self { shards: (0..count).into_par_iter().map(build).collect() }
    }

    fn shard(id: u64, count: usize) -> usize {
        (id >> 32) as usize & count.saturating_sub(1)
    }

    fn find(&self, entries: &[PathEntry], id: u64) -> Option<usize> {
        let shard = self.shards.get(Self::shard(id, self.shards.len()))?;
        shard.find(hash(id), |&p| self_id(entries, p) == Some(id)).map(|&p| p as usize)
    }
}

/// Ids are hashes already; the table wants entropy in the top bits as well, and the ids of a hostile file may have
/// none there.
pub(super) fn hash(id: u64) -> u64 {
    id.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32)
}

fn self_id(entries: &[PathEntry], position: u32) -> Option<u64> {
    entries.get(position as usize).map(|e| e.self_id.get())
}

/// Ids that are sought before an index is worth its while: building it takes as long as comparing for ten or twenty.
const FEW_SEEKS: u32 = 16;

impl<'a> Paths<'a> {
    pub(super) fn new(db: &'a Database) -> Self {
        Self { db, entries: db.spans.paths.get() }
    }

    /// The entries, in file order.
    pub fn entries(&self) -> &'a [PathEntry] {
        self.entries
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn view(&self, entry: &'a PathEntry) -> View<'a> {
        self.db.source.view("paths").locate(entry)
    }

    /// The last component of a path.
    ///
    /// # Errors
    /// When it leaves the file or is not UTF-8.
    pub fn name(&self, entry: &'a PathEntry) -> Result<&'a str> {
        self.view(entry).locate(&entry.name).part("path name").packed_str()
    }

    /// The position of the entry with this id, by the index, which is built now where it does not exist.
    pub fn find(&self, id: u64) -> Option<usize> {
        self.db.path_index.get_or_init(|| Index::build(self.entries)).find(self.entries, id)
    }

    /// The position of the entry with this id, by comparing entry after entry unless the index exists.
    ///
    /// For a single id this is about ten times faster than building the index first.
    pub fn scan(&self, id: u64) -> Option<usize> {
        match self.db.path_index.get() {
            Some(index) => index.find(self.entries, id),
            None => scan(self.entries, id),
        }
    }

    /// As [`Paths::find`] for those who may ask for one id or for thousands: the first few are found by comparing.
    pub(super) fn seek(&self, id: u64) -> Option<usize> {
        let few = || self.db.path_seeks.fetch_add(1, Ordering::Relaxed) < FEW_SEEKS;
        match self.db.path_index.get() {
            None if few() => scan(self.entries, id),
            _ => self.find(id),
        }
    }

    /// As [`Paths::path_at`] for those who may ask for one path or for thousands.
    pub(super) fn seek_path(&self, position: usize) -> Result<String> {
        self.join(position, |paths, id| paths.seek(id))
    }

    /// The path with this id. Walks the parents by scanning as long as there is no index.
    pub(super) fn path(&self, id: u64) -> Result<Option<String>> {
        match self.scan(id) {
            Some(position) => self.join(position, |p, id| p.scan(id)).map(Some),
            None => Ok(None),
        }
    }

    /// The path of the entry at `position`, by the index.
    ///
    /// # Errors
    /// As [`Database::path`].
    pub fn path_at(&self, position: usize) -> Result<String> {
        self.join(position, |paths, id| paths.find(id))
    }

    /// The position of the parent of an entry; `None` for the root.
    pub(super) fn parent(
        &self,
        entry: &'a PathEntry,
        find: impl Fn(&Self, u64) -> Option<usize>,
    ) -> Result<Option<usize>> {
        match entry.parent_id.get() {
            0 | PACKAGE_ROOT => Ok(None),
            parent => match find(self, parent) {
                Some(position) => Ok(Some(position)),
                None => {
                    let what = format!("parent {parent:#018x} of a path is not among the paths").into();
                    Err(self.view(entry).skip(8).error(ErrorKind::Damaged { what }))
                }
            },
        }
    }

    fn join(&self, position: usize, find: impl Fn(&Self, u64) -> Option<usize> + Copy) -> Result<String> {
        let mut names = [""; MAX_DEPTH];
        let mut next = Some(position);
        let mut used = 0usize;
        let mut length = 0usize;
        let mut last = None;
        for slot in names.iter_mut().rev() {
            let Some(entry) = next.and_then(|p| self.entries.get(p)) else { break };
            *slot = self.name(entry)?;
            used = used.saturating_add(1);
            length = length.saturating_add(slot.len()).saturating_add(1);
            if length > MAX_LENGTH {
                let (value, limit) = (length as u64, MAX_LENGTH as u64);
                return Err(self.view(entry).error(ErrorKind::Limit { what: "bytes of a path", value, limit }));
            }
            last = Some(entry);
            next = self.parent(entry, find)?;
        }
        if let (Some(_), Some(entry)) = (next, last) {
            return Err(self.too_deep(position, entry, find));
        }
        let mut path = String::with_capacity(length);
        for name in names.iter().skip(MAX_DEPTH.saturating_sub(used)) {
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(name);
        }
        Ok(path)
    }

    /// Parents that do not end: a cycle, or merely more of them than are allowed.
    #[cold]
    fn too_deep(
        &self,
        start: usize,
        last: &'a PathEntry,
        find: impl Fn(&Self, u64) -> Option<usize> + Copy,
    ) -> crate::Error {
        let step = |position: usize| {
            let entry = self.entries.get(position)?;
            self.parent(entry, find).ok().flatten()
        };
        // Brent's algorithm needs no memory; a cycle is at most as long as there are entries.
        let (mut slow, mut fast, mut limit, mut steps) = (start, step(start), 1usize, 0usize);
        while let Some(position) = fast {
            if position == slow {
                let at = self.entries.get(position).map_or(0, |e| e.self_id.get());
                return self.view(last).error(ErrorKind::Cycle { at });
            }
            steps = steps.saturating_add(1);
            if steps == limit {
                slow = position;
                limit = limit.saturating_mul(2);
                if limit > MAX_DEPTH.saturating_mul(4) && limit > self.len().saturating_mul(2) {
                    break;
                }
                steps = 0;
            }
            fast = step(position);
        }
        let limit = MAX_DEPTH as u64;
        self.view(last).error(ErrorKind::Limit { what: "folders of a path", value: limit.saturating_add(1), limit })
    }

    /// Whether the ids of this file are the CityHash64 of the paths: seen at its topmost folders.
    pub(super) fn hashes_paths(&self) -> Result<bool> {
        let mut roots = self.entries.iter().filter(|e| matches!(e.parent_id.get(), 0 | PACKAGE_ROOT)).peekable();
        if roots.peek().is_none() {
            return Ok(true);
        }
        for entry in roots.take(64) {
            if cityhash64(self.name(entry)?.as_bytes()) == entry.self_id.get() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The entry at this path, by comparing names: for files whose ids are not the paths' CityHash64.
    pub(super) fn find_by_name(&self, path: &str) -> Result<Option<&'a PathEntry>> {
        let Some(last) = path.rsplit('/').next() else { return Ok(None) };
        for (position, entry) in self.entries.iter().enumerate() {
            if entry.name.size.get() as usize == last.len().saturating_add(1)
                && self.name(entry)? == last
                && self.path_at(position)? == path
            {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }
}

/// The position of the entry with this id. Entries are compared in blocks without a branch for each, which the
/// compiler turns into wide loads.
fn scan(entries: &[PathEntry], id: u64) -> Option<usize> {
    const BLOCK: usize = 64;
    let mut start = 0usize;
    for block in entries.chunks(BLOCK) {
        let hit = block.iter().fold(false, |hit, e| hit | (e.self_id.get() == id));
        if hit {
            return block.iter().position(|e| e.self_id.get() == id).and_then(|p| start.checked_add(p));
        }
        start = start.saturating_add(block.len());
    }
    None
}
