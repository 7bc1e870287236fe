mod index;
mod order;

use super::layout::PathEntry;
use super::text_search::PackedTexts;
use crate::bytes::View;
use crate::codec::cityhash64;
use crate::error::{ErrorKind, Result};
use crate::lazy::{self, Lazy, ScanCost};
use crate::packed_string::PackedString;
use crate::source::Source;
use crate::table::filter::pattern::{FolderMatch, LikePattern};
use crate::table::{CellSink, Literal, PlainCell, Value};
use index::{Index, NO_PATH};
use std::borrow::Cow;
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
    Joined(Cow<'a, str>),
}

impl PathText<'_> {
    pub(super) fn into_string(self) -> String {
        match self {
            Self::InFolder { folder, name } => [folder, name].concat(),
            Self::Joined(path) => path.into_owned(),
        }
    }
}

impl<'a> From<PathText<'a>> for Value<'a> {
    fn from(path: PathText<'a>) -> Self {
        match path {
            PathText::InFolder { .. } => Self::owned(path.into_string()),
            PathText::Joined(path) => Self::Text(path),
        }
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
    /// The mark of each entry's id.
    marks: Lazy<Vec<u16>>,
    /// Marks that were compared without `by_id`.
    scans: ScanCost,
    names: Lazy<NamePool>,
    folders: Lazy<Folders>,
    /// Names that were joined without `folders`.
    joins: ScanCost,
    /// Whether ids are hashes of paths.
    hashes: Lazy<bool>,
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

/// The id of the folder of a path; `None` for the topmost folders.
pub(super) fn parent_of(entry: &PathEntry) -> Option<u64> {
    Some(entry.parent_id.get()).filter(|id| !matches!(id, 0 | &PACKAGE_ROOT))
}

/// A part of an id. Few of the ids of a file, which are hashes, share it.
fn mark(id: u64) -> u16 {
    (id >> 48) as u16
}

/// The number for an entry that is no row's path.
const NO_ROW: u32 = u32::MAX;

/// Times that all marks can be compared while the index is built. `benches/bwdb.rs` measures both sides of this price and of
/// the next one.
const SCANS: usize = 128;
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

    /// The position of the entry with this id: the only way from an id to a path. Compares the marks of all ids, which
    /// answers a few questions ten times faster than an index that must be built first; builds it when the
    /// comparisons have cost as much. From then on, and after [`Paths::build_index`], this is one probe.
    pub fn find(&self, id: u64) -> Option<usize> {
        let price = self.len().saturating_mul(SCANS);
        match self.indexes.by_id.get() {
            Some(index) => index.find(id).map(|position| position as usize),
            None if self.indexes.scans.is_below(price) => self.scan(id, 0),
            None => self.index().find(id).map(|position| position as usize),
        }
    }

    /// The positions of all entries with this id: several if the file repeats an id.
    pub(super) fn all_with(&self, id: u64) -> Vec<usize> {
        let first = self.find(id);
        if let Some(index) = self.indexes.by_id.get() {
            return index.all(id).map(|position| position as usize).collect();
        }
        iter::successors(first, |before| self.scan(id, before.saturating_add(1))).collect()
    }

    /// The position of the first entry from `first` on with this id. Marks are compared in blocks without a branch for each, which
    /// the compiler turns into wide loads.
    fn scan(&self, id: u64, first: usize) -> Option<usize> {
        const BLOCK: usize = 256;
        let marks = self.indexes.marks.get_or_init(|| self.entries.iter().map(|e| mark(e.self_id.get())).collect());
        let marks = marks.get(first..)?;
        let entries = self.entries.get(first..)?;
        let mut before = 0usize;
        let found = marks.chunks(BLOCK).zip(entries.chunks(BLOCK)).find_map(|(marks, entries)| {
            let hit = marks.iter().fold(false, |hit, other| hit | (*other == mark(id)));
            let found = if hit { entries.iter().position(|entry| entry.self_id.get() == id) } else { None };
            before = before.saturating_add(found.unwrap_or(marks.len()));
            found
        });
        self.indexes.scans.pay(before);
        found.and_then(|_| first.checked_add(before))
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
            PathText::Joined(joined) => *path = joined.into_owned(),
        }
        Ok(())
    }

    /// The path of the entry at `position`. The paths of folders are built for it when joining them repeatedly has cost as much.
    pub(super) fn text_at(&self, position: usize) -> Result<PathText<'a>> {
        let price = self.len().saturating_mul(JOINS) / 100;
        let folders = match self.indexes.folders.get() {
            None if self.indexes.joins.is_below(price) => None,
            None => Some(self.folders()),
            made => made,
        };
        if let Some((folder, text)) = folders.and_then(|folders| folders.of(position)) {
            let name = self.name(self.entry(position)?)?;
            if folder.has_room_for(name.len()) {
                return Ok(PathText::InFolder { folder: text, name });
            }
        }
        Ok(PathText::Joined(self.join(position)?.into()))
    }

    fn folders(&self) -> &'a Folders {
        self.indexes.folders.get_or_init(|| Folders::build(self))
    }

    /// The path with this id; `None` for an id without an entry.
    pub(super) fn path(&self, id: u64) -> Result<Option<PathText<'a>>> {
        self.find(id).map(|position| self.text_at(position)).transpose()
    }

    /// The position of the path of each id, or [`NO_PATH`].
    pub(super) fn positions(&self, ids: impl ExactSizeIterator<Item = Option<u64>> + Clone) -> Vec<u32> {
        self.index().positions(ids)
    }

    /// The number of the row at each entry's position, or [`NO_ROW`], for rows whose paths are at `positions`. `None` if two rows have
    /// one path.
    fn rows(&self, positions: &[u32]) -> Option<Vec<u32>> {
        let mut rows = vec![NO_ROW; self.len()];
        for (row, position) in (0u32..).zip(positions) {
            if let Some(place) = rows.get_mut(*position as usize)
                && std::mem::replace(place, row) != NO_ROW
            {
                return None;
            }
        }
        Some(rows)
    }

    /// The rows whose paths are at these positions and match a pattern, in order; `None` if one of the paths cannot be read.
    pub(super) fn matching(&self, positions: &[u32], pattern: &LikePattern) -> Option<Vec<usize>> {
        let folders = self.folders();
        let in_folders = folders.folders.iter().map(|folder| pattern.in_folder(folders.text_of(*folder)));
        let in_folders: Vec<FolderMatch> = in_folders.collect();
        // In the order of the file, in which names follow each other.
        let entries = self.entries.iter().enumerate().zip(self.rows(positions)?);
        let mut matches = vec![false; positions.len()];
        for ((position, entry), row) in entries.filter(|(_, row)| *row != NO_ROW) {
            let number = folders.number_of(position);
            let folder = number.and_then(|number| folders.folders.get(number).zip(in_folders.get(number)));
            let name = self.name(entry).ok();
            let name = name.filter(|name| folder.is_some_and(|(folder, _)| folder.has_room_for(name.len())));
            let known = folder.zip(name).and_then(|((_, found), name)| pattern.matches_in(*found, name));
            *matches.get_mut(row as usize)? = match known {
                Some(known) => known,
                None => pattern.matches(&self.path_at(position).ok()?),
            };
        }
        Some(matches.into_iter().enumerate().filter(|(_, matches)| *matches).map(|(row, _)| row).collect())
    }

    /// The paths of rows, whose paths are at these positions.
    pub(super) fn paths_of(&self, positions: &[u32]) -> RowPaths {
        let folders = self.folders();
        let Some(rows) = self.rows(positions) else { return RowPaths::default() };
        let entries = self.entries.iter().enumerate().zip(&rows).filter(|(_, row)| **row != NO_ROW);
        let mut places = vec![RowPlace::default(); positions.len()];
        for ((position, entry), row) in entries.clone() {
            let name = (entry.name.size.get() as usize).saturating_sub(1);
            let folder = folders.number_of(position).and_then(|number| folders.folders.get(number));
            if let Some(folder) = folder.filter(|folder| folder.has_room_for(name))
                && let Some(place) = places.get_mut(*row as usize)
            {
                place.len = u32::from(folder.len).saturating_add(u32::try_from(name).unwrap_or(0));
            }
        }
        let mut end = 0u32;
        for place in &mut places {
            if end as usize > RowPaths::KEPT {
                place.len = 0;
            }
            place.start = end;
            end = end.saturating_add(place.len);
        }
        let mut text = vec![0u8; end as usize];
        for ((position, entry), row) in entries {
            let Some(place) = places.get_mut(*row as usize).filter(|place| place.len > 0) else { continue };
            let written = folders.of(position).zip(self.name(entry).ok()).and_then(|((_, folder), name)| {
                let (head, tail) = text.get_mut(place.range())?.split_at_mut_checked(folder.len())?;
                head.copy_from_slice(folder.as_bytes());
                (tail.len() == name.len()).then(|| tail.copy_from_slice(name.as_bytes()))
            });
            if written.is_none() {
                place.len = 0;
            }
        }
        match String::from_utf8(text) {
            Ok(text) => RowPaths { text, places },
            Err(_) => RowPaths::default(),
        }
    }

    /// Prefetches these paths before they are read one by one, because memory serves many independent requests in the
    /// time of one. Useful once the index and the folders exist.
    pub(super) fn ahead(&self, ids: impl Iterator<Item = u64>) {
        let (Some(index), Some(folders)) = (self.indexes.by_id.get(), self.indexes.folders.get()) else { return };
        // All positions first: reads that wait for memory run beside each other.
        let positions: Vec<usize> = ids.filter_map(|id| index.find(id)).map(|position| position as usize).collect();
        let entries = positions.into_iter().filter_map(|position| Some((position, self.entries.get(position)?)));
        let entries: Vec<(usize, &'a PathEntry)> = entries.collect();
        let texts = entries.iter().filter_map(|(position, entry)| {
            let (_, folder) = folders.of(*position)?;
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

/// The paths of folders, which most entries share, for reading many paths. Texts are in the order of their folders' entries.
#[derive(Debug)]
struct Folders {
    folders: Vec<Folder>,
    /// The number of each entry's folder, or [`NO_FOLDER`].
    of_entry: Vec<u32>,
    /// The paths of folders, each with a trailing '/', concatenated.
    text: String,
}

/// The number for an entry without a kept folder.
const NO_FOLDER: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Folder {
    start: u32,
    len: u16,
    /// Folders on the way to it, itself included.
    depth: u16,
}

impl Folders {
    /// The limit of kept folders in bytes. All folders of the game need two million.
    const KEPT: usize = 32 << 20;

    fn build(paths: &Paths<'_>) -> Self {
        let parents = paths.index().positions(paths.entries.iter().map(parent_of));
        let mut built = FolderBuilder {
            paths,
            parents: &parents,
            numbers: vec![NO_FOLDER; paths.len()],
            made: Self { folders: Vec::new(), of_entry: Vec::new(), text: String::new() },
            unknown: Vec::new(),
        };
        let mut is_folder = vec![false; paths.len()];
        for parent in &parents {
            if let Some(is_folder) = is_folder.get_mut(*parent as usize) {
                *is_folder = true;
            }
        }
        for (position, _) in (0..).zip(is_folder).filter(|(_, is_folder)| *is_folder) {
            built.add(position);
        }
        let FolderBuilder { numbers, mut made, .. } = built;
        let of_parent = parents.iter().map(|parent| numbers.get(*parent as usize).copied().unwrap_or(NO_FOLDER));
        made.of_entry = of_parent.collect();
        made
    }

    /// The number of the folder of the entry at `position`.
    fn number_of(&self, position: usize) -> Option<usize> {
        self.of_entry.get(position).filter(|number| **number != NO_FOLDER).map(|number| *number as usize)
    }

    /// The path of a folder with a trailing '/'.
    fn text_of(&self, folder: Folder) -> &str {
        self.text.get(folder.text()).unwrap_or_default()
    }

    /// The folder of the entry at `position`, and the folder's path with a trailing '/'.
    fn of(&self, position: usize) -> Option<(Folder, &str)> {
        let folder = *self.folders.get(self.number_of(position)?)?;
        Some((folder, self.text_of(folder)))
    }
}

/// Joins the paths of folders, each after the path of its own folder.
struct FolderBuilder<'b, 'a> {
    paths: &'b Paths<'a>,
    /// The position of the parent of each entry, or [`NO_PATH`].
    parents: &'b [u32],
    /// The number of the folder that each entry is, or [`NO_FOLDER`].
    numbers: Vec<u32>,
    made: Folders,
    /// Folders from the one to add upwards.
    unknown: Vec<u32>,
}

impl FolderBuilder<'_, '_> {
    /// Adds the folder at `position` and the folders around it. Skips a folder without a path, or with a path at a limit: a later
    /// lookup joins the path and returns the error.
    fn add(&mut self, position: u32) -> Option<()> {
        self.unknown.clear();
        let (mut next, mut above) = (position, NO_FOLDER);
        while next != NO_PATH && self.unknown.len() <= MAX_DEPTH {
            above = *self.numbers.get(next as usize)?;
            if above != NO_FOLDER {
                break;
            }
            self.unknown.push(next);
            next = *self.parents.get(next as usize)?;
        }
        let topmost = Folder { start: 0, len: 0, depth: 0 };
        let mut folder = self.made.folders.get(above as usize).copied().unwrap_or(topmost);
        while let Some(position) = self.unknown.pop() {
            let entry = self.paths.entries.get(position as usize)?;
            // The topmost one may have a parent that is not among the paths, or be the last of too many.
            if folder.depth == 0 && parent_of(entry).is_some() {
                return None;
            }
            let name = self.paths.name(entry).ok().filter(|name| folder.depth > 0 || !name.is_empty())?;
            let text = &mut self.made.text;
            let start = u32::try_from(text.len()).ok().filter(|_| text.len() <= Folders::KEPT)?;
            if !folder.has_room_for(name.len()) {
                return None;
            }
            text.extend_from_within(folder.text());
            text.push_str(name);
            text.push('/');
            let len = u16::try_from(text.len().saturating_sub(start as usize)).ok()?;
            folder = Folder { start, len, depth: folder.depth.saturating_add(1) };
            *self.numbers.get_mut(position as usize)? = u32::try_from(self.made.folders.len()).ok()?;
            self.made.folders.push(folder);
        }
        Some(())
    }
}

impl Folder {
    fn text(self) -> Range<usize> {
        let start = self.start as usize;
        start..start.saturating_add(self.len.into())
    }

    /// Whether the path of an entry with a name of this length in it keeps the limits.
    fn has_room_for(self, name: usize) -> bool {
        usize::from(self.depth) < MAX_DEPTH && usize::from(self.len).saturating_add(name) < MAX_LENGTH
    }
}

/// The paths of many rows, concatenated in the order of rows.
#[derive(Debug, Default)]
pub(super) struct RowPaths {
    text: String,
    places: Vec<RowPlace>,
}

/// The place of a row's path; empty for a path that is not kept.
#[derive(Debug, Clone, Copy, Default)]
struct RowPlace {
    start: u32,
    len: u32,
}

impl RowPlace {
    fn range(self) -> Range<usize> {
        self.start as usize..self.start.saturating_add(self.len) as usize
    }
}

impl RowPaths {
    /// The limit of kept paths in bytes. The resources of the game need ten million.
    const KEPT: usize = 64 << 20;

    /// The path of a row, if it is kept.
    pub(super) fn get(&self, row: usize) -> Option<&str> {
        let place = self.places.get(row).filter(|place| place.len > 0)?;
        self.text.get(place.range())
    }
}

#[cfg(test)]
mod tests;
