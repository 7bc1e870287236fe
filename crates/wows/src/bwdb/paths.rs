use super::layout::PathEntry;
use super::text_search::PackedTexts;
use crate::bytes::View;
use crate::codec::{cityhash64, spread};
use crate::error::{ErrorKind, Result};
use crate::lazy::{self, Lazy, ScanCost};
use crate::packed_string::PackedString;
use crate::source::Source;
use crate::table::{CellSink, Literal, PlainCell, Value};
use crate::threads::prelude::*;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hint::black_box;
use std::iter;
use std::ops::Range;

/// Folders that a path may be deep. The deepest paths of the game have about twelve.
const MAX_DEPTH: usize = 128;
/// Bytes that a path may be long. Names of a hostile file may overlap, so that their sum has no other bound.
const MAX_LENGTH: usize = 32 << 10;
/// The parent of the topmost folder, if not 0: the id of "res" in the game's package index.
const PACKAGE_ROOT: u64 = 0xDBB1_A1D1_B108_B927;

#[derive(Debug, Clone, Copy)]
pub struct Paths<'a> {
    source: &'a Source,
    entries: &'a [PathEntry],
    /// The start of the entries.
    first: usize,
    indexes: &'a Indexes,
}

/// A path, in the parts that are known of it.
#[derive(Debug)]
pub(super) enum PathText<'a> {
    /// The path of a folder with a trailing '/', and the name of an entry in it.
    InFolder {
        folder: &'a str,
        name: &'a str,
    },
    Joined(String),
}

impl PathText<'_> {
    pub(super) fn into_string(self) -> String {
        match self {
            Self::InFolder { folder, name } => [folder, name].concat(),
            Self::Joined(path) => path,
        }
    }
}

impl<'a> From<PathText<'a>> for Value<'a> {
    fn from(path: PathText<'a>) -> Self {
        Self::owned(path.into_string())
    }
}

impl<'a> PlainCell<'a> for PathText<'a> {
    fn put(self, sink: &mut dyn CellSink) -> Result<()> {
        match self {
            Self::InFolder { folder, name } => sink.joined(folder, name),
            Self::Joined(path) => sink.text(&path),
        }
    }
}

/// Indexes of the paths of a database, built on first use.
#[derive(Debug, Default)]
pub(super) struct Indexes {
    by_id: Lazy<Index>,
    /// Entries that were compared without `by_id`.
    scans: ScanCost,
    names: Lazy<NamePool>,
    folders: Lazy<Folders>,
    /// Names that were joined without `folders`.
    joins: ScanCost,
    /// Whether ids are hashes of paths.
    hashes: Lazy<bool>,
}

/// Finds path entries by id: positions only, the keys stay in the file. One table for each slice of the ids, so that
/// the tables are built in parallel.
#[derive(Debug)]
struct Index {
    shards: Vec<Slice>,
}

#[derive(Debug)]
struct Slice {
    /// The first entry with each id, which is the one that counts.
    firsts: HashTable<u32>,
    /// Further entries with a repeated id, by id and then in order.
    others: Vec<u32>,
}

impl Index {
    fn build(entries: &[PathEntry]) -> Self {
        let count = Self::shards(entries.len());
        Self {
            shards: lazy::parts(count, |shard| {
                let expected = entries.len().div_ceil(count);
                let mut firsts = HashTable::with_capacity(expected.saturating_add(expected / 16));
                let mut others = Vec::new();
                for (position, entry) in (0u32..).zip(entries) {
                    let id = entry.self_id.get();
                    if Self::shard(id, count) == shard {
                        match firsts.entry(spread(id), has_id(entries, id), |&p| self_id(entries, p).map_or(0, spread))
                        {
                            Entry::Vacant(place) => drop(place.insert(position)),
                            Entry::Occupied(_) => others.push(position),
                        }
                    }
                }
                others.sort_by_key(|&position| self_id(entries, position));
                Slice { firsts, others }
            }),
        }
    }

    /// The number of slices: a power of two.
    fn shards(entries: usize) -> usize {
        lazy::parts_for(entries, 1 << 14).next_power_of_two()
    }

    fn shard(id: u64, count: usize) -> usize {
        (id >> 32) as usize & count.saturating_sub(1)
    }

    fn find(&self, entries: &[PathEntry], id: u64) -> Option<usize> {
        let shard = self.shards.get(Self::shard(id, self.shards.len()))?;
        shard.firsts.find(spread(id), has_id(entries, id)).map(|&p| p as usize)
    }

    /// The entries with this id after the first one.
    fn others(&self, entries: &[PathEntry], id: u64) -> impl Iterator<Item = usize> {
        let others = self.shards.get(Self::shard(id, self.shards.len())).map_or(&[][..], |shard| &shard.others);
        let start = others.partition_point(|&p| self_id(entries, p) < Some(id));
        others.iter().skip(start).copied().take_while(has_id(entries, id)).map(|p| p as usize)
    }
}

/// The place of the names. Learned in one pass over the entries, at the first search.
#[derive(Debug, Clone)]
struct NamePool {
    start: usize,
    /// The position after the last NUL.
    end: usize,
    /// Whether the names follow each other in the order of entries, each with its NUL.
    ordered: bool,
}

impl NamePool {
    const EMPTY: Self = Self { start: usize::MAX, end: 0, ordered: true };

    fn learn(paths: &Paths<'_>) -> Self {
        let count = lazy::parts_for(paths.len(), 1 << 16);
        let share = paths.len().div_ceil(count);
        let file_end = paths.source.bytes().len();
        let parts = lazy::parts(count, |i| {
            let mut pool = Self::EMPTY;
            for row in i.saturating_mul(share)..i.saturating_add(1).saturating_mul(share).min(paths.len()) {
                let name = paths.place(row);
                let behind = name.end.saturating_add(1);
                pool.ordered &= name.start >= pool.end.max(1) && behind <= file_end;
                if name.start > 0 && behind <= file_end {
                    pool.start = pool.start.min(name.start);
                    pool.end = pool.end.max(behind);
                }
            }
            pool
        });
        parts.into_iter().fold(Self::EMPTY, |all, next| Self {
            start: all.start.min(next.start),
            end: all.end.max(next.end),
            ordered: all.ordered && next.ordered && all.end <= next.start,
        })
    }
}

fn self_id(entries: &[PathEntry], position: u32) -> Option<u64> {
    entries.get(position as usize).map(|e| e.self_id.get())
}

/// Whether the entry at a position has this id.
fn has_id(entries: &[PathEntry], id: u64) -> impl Fn(&u32) -> bool {
    move |&position| self_id(entries, position) == Some(id)
}

/// The id of the folder of a path; `None` for the topmost folders.
pub(super) fn parent_of(entry: &PathEntry) -> Option<u64> {
    Some(entry.parent_id.get()).filter(|id| !matches!(id, 0 | &PACKAGE_ROOT))
}

/// The position of an id without a path.
pub(super) const NO_PATH: u32 = u32::MAX;

/// Times that all entries can be compared with an id while the index is built. `benches/bwdb.rs` measures both sides of
/// this price and of the next one.
const SCANS: usize = 16;
/// Names of paths that are joined, for each hundred entries, while the paths of all folders are.
const JOINS: usize = 16;

impl<'a> Paths<'a> {
    pub(super) fn new(source: &'a Source, entries: &'a [PathEntry], first: usize, indexes: &'a Indexes) -> Self {
        Self { source, entries, first, indexes }
    }

    /// The entries, in file order.
    pub fn entries(&self) -> &'a [PathEntry] {
        self.entries
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn view(&self, entry: &'a PathEntry) -> View<'a> {
        self.source.view("paths").locate(entry)
    }

    /// The last component of a path.
    ///
    /// # Errors
    /// When it leaves the file or is not UTF-8.
    pub fn name(&self, entry: &'a PathEntry) -> Result<&'a str> {
        PackedString::text_at(&self.view(entry).locate(&entry.name).part("path name"))
    }

    /// The entry at `position`.
    ///
    /// # Errors
    /// `NotFound` past the end.
    pub fn entry(&self, position: usize) -> Result<&'a PathEntry> {
        self.entries.get(position).ok_or_else(|| crate::table::no_cell("paths", position, 0))
    }

    /// The stored last component of a path.
    ///
    /// # Errors
    /// When it leaves the file.
    pub fn name_bytes(&self, entry: &'a PathEntry) -> Result<&'a [u8]> {
        PackedString::bytes_at(&self.view(entry).locate(&entry.name).part("path name"))
    }

    /// The place that the name of the entry at `position` should have, without its NUL; at 0 for one without a name.
    #[inline]
    fn place(&self, position: usize) -> Range<usize> {
        let Some(entry) = self.entries.get(position) else { return 0..0 };
        let at = self.first.saturating_add(position.saturating_mul(size_of::<PathEntry>()));
        let base = at.saturating_add(std::mem::offset_of!(PathEntry, name));
        let target = isize::try_from(entry.name.text.get()).ok().and_then(|text| base.checked_add_signed(text));
        match (target, (entry.name.size.get() as usize).checked_sub(1)) {
            (Some(start), Some(len)) => start..start.saturating_add(len),
            _ => 0..0,
        }
    }

    /// The positions of the entries whose name contains `literal`, in order, by a search in all names at once; entries
    /// with unreadable names may be included. `None` if it is slower than reading each name.
    pub fn search_names(&self, literal: &Literal) -> Option<Vec<usize>> {
        let pool = self.indexes.names.get_or_init(|| NamePool::learn(self));
        let texts = PackedTexts {
            bytes: self.source.bytes(),
            range: pool.start..pool.end,
            rows: 0..self.len(),
            place: |position| self.place(position),
        };
        if pool.ordered {
            return Some(texts.search_ordered(literal));
        }
        // Names of a hostile file may be at any position, with any bytes between them.
        let usual = self.len().saturating_mul(256);
        if texts.range.len() > usual { None } else { texts.search_anywhere(literal) }
    }

    /// The position of the entry with this id: the only way from an id to a path. Compares entry after entry, which
    /// answers a single question ten times faster than an index that must be built first; builds it when the
    /// comparisons have cost as much. From then on, and after [`Paths::build_index`], this is one probe.
    pub fn find(&self, id: u64) -> Option<usize> {
        let price = self.len().saturating_mul(SCANS);
        match self.indexes.by_id.get() {
            Some(index) => index.find(self.entries, id),
            None if self.indexes.scans.is_below(price) => self.scan(id),
            None => self.index().find(self.entries, id),
        }
    }

    /// The positions of all entries with this id: several if the file repeats an id.
    pub(super) fn all_with(&self, id: u64) -> Vec<usize> {
        let Some(first) = self.find(id) else { return Vec::new() };
        let others: Vec<usize> = match self.indexes.by_id.get() {
            Some(index) => index.others(self.entries, id).collect(),
            None => {
                self.indexes.scans.pay(self.entries.len().saturating_sub(first));
                let behind = self.entries.iter().enumerate().skip(first.saturating_add(1));
                behind.filter(|(_, entry)| entry.self_id.get() == id).map(|(position, _)| position).collect()
            }
        };
        iter::once(first).chain(others).collect()
    }

    /// The position of the entry with this id. Entries are compared in blocks without a branch for each, which the
    /// compiler turns into wide loads.
    fn scan(&self, id: u64) -> Option<usize> {
        const BLOCK: usize = 64;
        let mut start = 0usize;
        let mut found = None;
        for block in self.entries.chunks(BLOCK) {
            let hit = block.iter().fold(false, |hit, e| hit | (e.self_id.get() == id));
            if hit {
                found = block.iter().position(|e| e.self_id.get() == id).and_then(|p| start.checked_add(p));
                break;
            }
            start = start.saturating_add(block.len());
        }
        self.indexes.scans.pay(start);
        found
    }

    /// Builds the index at once, for callers that look up thousands of ids.
    pub fn build_index(&self) {
        self.index();
    }

    fn index(&self) -> &'a Index {
        self.indexes.by_id.get_or_init(|| Index::build(self.entries))
    }

    /// The path of the entry at `position`.
    pub fn path_at(&self, position: usize) -> Result<String> {
        let mut path = String::new();
        self.write_path(position, &mut path)?;
        Ok(path)
    }

    /// As [`Paths::path_at`], in place of the text in `path`.
    pub(super) fn write_path(&self, position: usize, path: &mut String) -> Result<()> {
        match self.text_at(position)? {
            PathText::InFolder { folder, name } => {
                path.clear();
                path.reserve(folder.len().saturating_add(name.len()));
                path.push_str(folder);
                path.push_str(name);
            }
            PathText::Joined(joined) => *path = joined,
        }
        Ok(())
    }

    /// The path of the entry at `position`. The paths of folders are built for it when joining them repeatedly has cost as much.
    pub(super) fn text_at(&self, position: usize) -> Result<PathText<'a>> {
        let price = self.len().saturating_mul(JOINS) / 100;
        let folders = match self.indexes.folders.get() {
            None if self.indexes.joins.is_below(price) => None,
            None => Some(self.indexes.folders.get_or_init(|| Folders::build(self))),
            made => made,
        };
        if let Some((folders, entry)) = folders.zip(self.entries.get(position))
            && let Some((folder, text)) = folders.of(position, entry)
        {
            let name = self.name(entry)?;
            if folder.has_room_for(name) {
                return Ok(PathText::InFolder { folder: text, name });
            }
        }
        self.join(position).map(PathText::Joined)
    }

    /// The path with this id; `None` for an id without an entry.
    pub(super) fn path(&self, id: u64) -> Result<Option<PathText<'a>>> {
        self.find(id).map(|position| self.text_at(position)).transpose()
    }

    /// The position of the path of each id, or [`NO_PATH`], once paths are read by the thousand: see [`Paths::text_at`].
    pub(super) fn positions(&self, ids: impl IndexedParallelIterator<Item = Option<u64>>) -> Option<Vec<u32>> {
        self.indexes.folders.get()?;
        let index = self.index();
        let found = ids.with_min_len(1 << 14).map(|id| {
            let position = id.and_then(|id| index.find(self.entries, id)).and_then(|at| u32::try_from(at).ok());
            position.unwrap_or(NO_PATH)
        });
        Some(found.collect())
    }

    /// Whether each path, by its position, fits a test; `None` if one cannot be read.
    pub(super) fn fitting(&self, test: &(dyn Fn(&str) -> bool + Sync)) -> Option<Vec<bool>> {
        const SHARE: usize = 1 << 13;
        let folders = self.indexes.folders.get_or_init(|| Folders::build(self));
        let parts = self.entries.par_chunks(SHARE).enumerate().map(|(part, entries)| {
            // Neighbours are in one folder: its path remains in the buffer.
            let (mut path, mut last) = (String::new(), None);
            let fits = |(position, entry): (usize, &'a PathEntry)| {
                let in_folder = folders.of(position, entry).zip(self.name(entry).ok());
                let Some(((folder, text), name)) = in_folder.filter(|((folder, _), name)| folder.has_room_for(name))
                else {
                    return self.join(position).ok().map(|path| test(&path));
                };
                if last == Some(folder.id) {
                    path.truncate(text.len());
                } else {
                    path.clear();
                    path.push_str(text);
                    last = Some(folder.id);
                }
                path.push_str(name);
                Some(test(&path))
            };
            (part.saturating_mul(SHARE)..).zip(entries).map(fits).collect::<Option<Vec<bool>>>()
        });
        Some(parts.collect::<Option<Vec<_>>>()?.concat())
    }

    /// Prefetches these paths before they are read one by one, because memory serves many independent requests in the
    /// time of one. Useful once the index and the folders exist.
    pub(super) fn ahead(&self, ids: impl Iterator<Item = u64>) {
        let Some(index) = self.indexes.by_id.get() else { return };
        self.ahead_at(ids.filter_map(|id| index.find(self.entries, id)));
    }

    /// As [`Paths::ahead`], by positions.
    pub(super) fn ahead_at(&self, positions: impl Iterator<Item = usize>) {
        let Some(folders) = self.indexes.folders.get() else { return };
        // All positions first: reads that wait for memory run beside each other.
        let positions: Vec<usize> = positions.collect();
        let entries = positions.into_iter().filter_map(|position| Some((position, self.entries.get(position)?)));
        let entries: Vec<(usize, &'a PathEntry)> = entries.collect();
        let texts = entries.iter().filter_map(|(position, entry)| {
            let (_, folder) = folders.of(*position, entry)?;
            Some(self.name_bytes(entry).ok()?.first()? ^ folder.as_bytes().first()?)
        });
        black_box(texts.fold(0, |all, first| all ^ first));
    }

    /// The position of the parent of an entry; `None` for the root.
    pub(super) fn parent(&self, entry: &'a PathEntry) -> Result<Option<usize>> {
        match parent_of(entry) {
            None => Ok(None),
            Some(parent) => match self.find(parent) {
                Some(position) => Ok(Some(position)),
                None => {
                    let what = format!("parent {parent:#018x} of a path is not among the paths").into();
                    Err(self.view(entry).locate(&entry.parent_id).error(ErrorKind::Damaged { what }))
                }
            },
        }
    }

    fn join(&self, position: usize) -> Result<String> {
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
            next = self.parent(entry)?;
        }
        if let (Some(_), Some(entry)) = (next, last) {
            return Err(self.too_deep(position, entry));
        }
        self.indexes.joins.pay(used);
        let mut path = String::with_capacity(length);
        for name in names.iter().skip(MAX_DEPTH.saturating_sub(used)) {
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(name);
        }
        Ok(path)
    }

    fn parent_at(&self, position: usize) -> Option<usize> {
        self.parent(self.entries.get(position)?).ok().flatten()
    }

    /// Parents that do not end: a cycle, or merely more of them than are allowed.
    #[cold]
    fn too_deep(&self, start: usize, last: &'a PathEntry) -> crate::Error {
        // Brent's algorithm needs no memory; a cycle is at most as long as there are entries.
        let (mut slow, mut fast, mut limit, mut steps) = (start, self.parent_at(start), 1usize, 0usize);
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
            fast = self.parent_at(position);
        }
        let limit = MAX_DEPTH as u64;
        self.view(last).error(ErrorKind::Limit { what: "folders of a path", value: limit.saturating_add(1), limit })
    }

    /// Whether the ids of this file are the CityHash64 of the paths: checked once at its topmost folders.
    pub(super) fn hashes_paths(&self) -> Result<bool> {
        self.indexes
            .hashes
            .get_or_try_init(|| {
                let mut roots = self.entries.iter().filter(|entry| parent_of(entry).is_none()).take(64).peekable();
                let none = roots.peek().is_none();
                for entry in roots {
                    if cityhash64(self.name(entry)?.as_bytes()) == entry.self_id.get() {
                        return Ok(true);
                    }
                }
                Ok(none)
            })
            .copied()
    }

    /// The entry at this path, by comparing names: for files with ids that are not the paths' CityHash64.
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

/// The paths of folders, which most entries share. Built in one pass, for reading many paths. One list for each slice
/// of the ids, as in [`Index`]; each also contains the parent folders of its folders.
#[derive(Debug)]
struct Folders {
    shards: Vec<Shard>,
    /// The number of each entry's folder in its slice, or [`NO_FOLDER`].
    of_entry: Vec<u32>,
}

/// The number for an entry without a kept folder.
const NO_FOLDER: u32 = u32::MAX;

#[derive(Debug, Default)]
struct Shard {
    folders: Vec<Folder>,
    /// Numbers of folders by id.
    places: HashTable<u32>,
    /// Entries, and the numbers of their folders.
    of_entry: Vec<(u32, u32)>,
    /// The paths of folders, each with a trailing '/', concatenated.
    text: String,
}

#[derive(Debug, Clone)]
struct Folder {
    id: u64,
    /// Folders on the way to it, itself included.
    depth: usize,
    text: Range<usize>,
}

impl Folders {
    /// The limit of kept folders in bytes. All folders of the game need two million.
    const KEPT: usize = 32 << 20;

    fn build(paths: &Paths<'_>) -> Self {
        let count = Index::shards(paths.len());
        paths.build_index();
        let mut shards = lazy::parts(count, |number| {
            let (mut shard, mut unknown) = (Shard::default(), Vec::new());
            for (position, entry) in (0..).zip(paths.entries) {
                let Some(id) = parent_of(entry).filter(|id| Index::shard(*id, count) == number) else { continue };
                let known = shard.find(id);
                let folder = known.or_else(|| {
                    unknown.clear();
                    shard.add(paths, id, &mut unknown, Self::KEPT.div_ceil(count))
                });
                shard.of_entry.extend(folder.map(|folder| (position, folder)));
            }
            shard
        });
        let mut of_entry = vec![NO_FOLDER; paths.len()];
        for (position, folder) in shards.iter_mut().flat_map(|shard| std::mem::take(&mut shard.of_entry)) {
            if let Some(of_entry) = of_entry.get_mut(position as usize) {
                *of_entry = folder;
            }
        }
        Self { shards, of_entry }
    }

    /// The folder of the entry at `position`, and the folder's path with a trailing '/'.
    fn of(&self, position: usize, entry: &PathEntry) -> Option<(&Folder, &str)> {
        let number = *self.of_entry.get(position)?;
        let shard = self.shards.get(Index::shard(parent_of(entry)?, self.shards.len()))?;
        let folder = shard.folders.get(number as usize)?;
        Some((folder, shard.text.get(folder.text.clone())?))
    }
}

impl Shard {
    fn find(&self, id: u64) -> Option<u32> {
        self.places.find(spread(id), |&number| self.id(number) == Some(id)).copied()
    }

    fn folder(&self, number: u32) -> Option<&Folder> {
        self.folders.get(number as usize)
    }

    fn id(&self, number: u32) -> Option<u64> {
        self.folder(number).map(|folder| folder.id)
    }

    /// Adds the folder with this id and its parents. Skips a folder without a path, or with a path at a limit: a later lookup joins the
    /// path and returns the error.
    fn add<'a>(&mut self, paths: &Paths<'a>, id: u64, unknown: &mut Vec<&'a PathEntry>, kept: usize) -> Option<u32> {
        let (mut next, mut above) = (Some(id), None);
        while let (Some(id), None) = (next, &above) {
            above = self.find(id);
            if above.is_none() {
                let entry = paths.entries.get(paths.find(id)?).filter(|_| unknown.len() < MAX_DEPTH)?;
                unknown.push(entry);
                next = parent_of(entry);
            }
        }
        let topmost = Folder { id, depth: 0, text: 0..0 };
        let mut folder = above.and_then(|number| self.folder(number).cloned()).unwrap_or(topmost);
        let mut found = above;
        for entry in unknown.iter().rev() {
            let name = paths.name(entry).ok().filter(|name| folder.depth > 0 || !name.is_empty())?;
            let start = self.text.len();
            if !folder.has_room_for(name) || start > kept {
                return None;
            }
            self.text.extend_from_within(folder.text);
            self.text.push_str(name);
            self.text.push('/');
            let (id, depth) = (entry.self_id.get(), folder.depth.saturating_add(1));
            folder = Folder { id, depth, text: start..self.text.len() };
            let number = u32::try_from(self.folders.len()).ok()?;
            self.folders.push(folder.clone());
            let folders = &self.folders;
            self.places.insert_unique(spread(id), number, |number| {
                folders.get(*number as usize).map_or(0, |folder| spread(folder.id))
            });
            found = Some(number);
        }
        found
    }
}

impl Folder {
    /// Whether the path of an entry with this name in it keeps the limits.
    fn has_room_for(&self, name: &str) -> bool {
        self.depth < MAX_DEPTH && self.text.len().saturating_add(name.len()) < MAX_LENGTH
    }
}

#[cfg(test)]
mod tests {
    use super::super::Database;
    use super::*;
    use crate::reader::Reader as _;
    use std::collections::HashSet;

    fn sample() -> Source {
        Source::from_vec("assets.bin", assetq_sample::bwdb::demo_of(1, 1_000_000))
    }

    /// The price until the index is there, the comparison that reaches the price included.
    fn most(db: &Database) -> usize {
        db.paths().len() * (SCANS + 1)
    }

    /// Some columns resolve one path id in each row: a linear search for each takes minutes in a file of the usual size.
    #[test]
    fn a_walk_over_any_one_column_uses_the_index() {
        let source = sample();
        let db = Database::open(source.clone()).unwrap();
        let tables = db.tables();
        let columns = tables.iter().flat_map(|table| {
            let name = table.name().to_owned();
            (0..table.columns().len()).map(move |column| (name.clone(), column)).collect::<Vec<_>>()
        });
        let mut indexed = HashSet::new();
        for (name, column) in columns.collect::<Vec<_>>() {
            let db = Database::open(source.clone()).unwrap();
            let table = db.table(&name).unwrap();
            let mut cursor = table.cursor_over(0, Some(&[column]));
            while cursor.advance().unwrap() {
                drop(cursor.value(column).unwrap());
            }
            let (name, scanned) = (&table.columns()[column].name, db.path_indexes.scans.paid());
            assert!(scanned <= most(&db), "{} {name}: {scanned} comparisons", table.name());
            if db.path_indexes.by_id.get().is_some() {
                indexed.insert(format!("{}.{name}", table.name()));
            }
        }
        for column in ["render_sets.mfm_path", "materials.fx_path", "visuals.geometry_path", "models.visual_path"] {
            assert!(indexed.contains(column), "{column} is not among {indexed:?}");
        }
    }

    /// Ids are asked for one by one as well: by `resolve`, `refs`, `diff` and scenes.
    #[test]
    fn a_question_waits_for_no_index_and_many_share_one() {
        let db = Database::open(sample()).unwrap();
        let ids: Vec<u64> = db.paths().entries().iter().map(|entry| entry.self_id.get()).collect();
        let first = db.path(ids[ids.len() / 2]).unwrap();
        assert!(first.is_some() && db.path_indexes.by_id.get().is_none());
        for &id in &ids {
            assert_eq!(db.path(id).unwrap().map(|path| cityhash64(path.as_bytes())), Some(id));
            assert_eq!(db.path(!id).unwrap(), None);
        }
        assert!(db.path_indexes.by_id.get().is_some() && db.path_indexes.folders.get().is_some());
        assert!(db.path_indexes.scans.paid() <= most(&db));
    }
}
