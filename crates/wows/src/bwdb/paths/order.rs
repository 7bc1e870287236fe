//! The first of many paths in the order of their texts.

use super::index::NO_PATH;
use super::{Folder, MAX_DEPTH, NO_FOLDER, Paths, parent_of};
use crate::bwdb::layout::PathEntry;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The share of all entries below which paths are joined one by one. A query may order many groups of rows, and each search needs
/// a number for each entry.
pub(super) const FEW: usize = 32;

impl<'a> Paths<'a> {
    /// The numbers of the first `len` paths with these ids, in the order of their texts; of equal texts the lower numbers. Few paths
    /// are joined: all paths in most folders are before or after the last path so far. `None` if one of the paths cannot be joined,
    /// and for few ids, whose paths cost less than the search.
    pub(in crate::bwdb) fn first(&self, ids: &[u64], len: usize, descends: bool) -> Option<Vec<usize>> {
        if ids.len() < self.len() / FEW {
            return None;
        }
        let positions = self.positions(ids.iter().map(|id| Some(*id)));
        let mut places: Vec<(u32, u32)> = positions.into_iter().zip(0..).collect();
        // In the order of the file, in which names follow each other.
        places.sort_unstable();
        let entries = places.iter().map(|(position, _)| self.entries.get(*position as usize));
        let entries = entries.collect::<Option<Vec<_>>>()?;
        let FolderTree { of_entries, folders } = FolderTree::of(self, &entries)?;
        let mut folders = KnownFolders::new(folders);
        let mut first = BinaryHeap::new();
        for (((position, number), entry), folder) in places.into_iter().zip(entries).zip(of_entries) {
            let (name, folder) = (self.name(entry).ok()?, folders.get(folder)?);
            if !folder.has_room_for(name) {
                return None;
            }
            if first.len() >= len {
                let Some((_, last)) = first.peek() else { break };
                let order = folder.order_of(name, &folders.other);
                let order = if descends { order.reverse() } else { order };
                if order.then(number.cmp(last)) != Ordering::Less {
                    continue;
                }
                first.pop();
            }
            first.push((PathKey::new(self.path_at(position as usize).ok()?, descends), number));
            if let Some((last, _)) = first.peek().filter(|_| first.len() >= len) {
                folders.compare_with(last.text());
            }
        }
        Some(first.into_sorted_vec().into_iter().map(|(_, number)| number as usize).collect())
    }
}

/// A path in an order that ascends or descends. All paths of an order are one or the other.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PathKey {
    Up(String),
    Down(Reverse<String>),
}

impl PathKey {
    fn new(path: String, descends: bool) -> Self {
        if descends { Self::Down(Reverse(path)) } else { Self::Up(path) }
    }

    fn text(&self) -> &str {
        let (Self::Up(path) | Self::Down(Reverse(path))) = self;
        path
    }
}

/// The folders of some entries, and the folders around them.
struct FolderTree<'a> {
    /// The number of the folder of each of the entries, or [`NO_FOLDER`].
    of_entries: Vec<u32>,
    folders: Vec<TreeFolder<'a>>,
}

struct TreeFolder<'a> {
    name: &'a str,
    /// The number of its own folder, or [`NO_FOLDER`].
    above: u32,
}

impl<'a> FolderTree<'a> {
    /// Finds the folders of these entries, a level at a time, as ids are found faster together. `None` if a folder is missing or its
    /// name is damaged.
    fn of(paths: &Paths<'a>, entries: &[&'a PathEntry]) -> Option<Self> {
        // The number of the folder that each entry of the file is.
        let mut numbers = vec![NO_FOLDER; paths.len()];
        let mut folders: Vec<TreeFolder<'a>> = Vec::new();
        // The positions of the folders of the entries, then the positions of the folders around each folder.
        let mut above = Vec::new();
        let mut level = entries.to_vec();
        for _ in 0..=MAX_DEPTH {
            let found = paths.positions(level.iter().map(|entry| parent_of(entry)));
            if level.iter().zip(&found).any(|(entry, found)| *found == NO_PATH && parent_of(entry).is_some()) {
                return None;
            }
            above.extend_from_slice(&found);
            let is_new = |position: &u32| numbers.get(*position as usize) == Some(&NO_FOLDER);
            let mut next: Vec<u32> = found.into_iter().filter(is_new).collect();
            if next.is_empty() {
                let of_folder = |position: &u32| numbers.get(*position as usize).copied().unwrap_or(NO_FOLDER);
                let (of_entries, of_folders) = above.split_at_checked(entries.len())?;
                for (folder, above) in folders.iter_mut().zip(of_folders) {
                    folder.above = of_folder(above);
                }
                return Some(Self { of_entries: of_entries.iter().map(of_folder).collect(), folders });
            }
            // In the order of the file, in which names follow each other.
            next.sort_unstable();
            next.dedup();
            level.clear();
            for position in next {
                let entry = paths.entries.get(position as usize)?;
                *numbers.get_mut(position as usize)? = u32::try_from(folders.len()).ok()?;
                folders.push(TreeFolder { name: paths.name(entry).ok()?, above: NO_FOLDER });
                level.push(entry);
            }
        }
        None
    }
}

/// Folders next to a text.
struct KnownFolders<'a> {
    folders: Vec<TreeFolder<'a>>,
    /// The text that paths are compared with.
    other: String,
    /// The number of the text. What is known of a folder under another number is out of date.
    round: u16,
    /// The folders, as far as they are compared with the text.
    known: Vec<(u16, FolderOrder)>,
    /// Folders from the one that is needed upwards.
    unknown: Vec<u32>,
}

impl<'a> KnownFolders<'a> {
    fn new(folders: Vec<TreeFolder<'a>>) -> Self {
        let known = vec![(0, FolderOrder::default()); folders.len()];
        Self { folders, other: String::new(), round: 1, known, unknown: Vec::new() }
    }

    fn compare_with(&mut self, other: &str) {
        other.clone_into(&mut self.other);
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            self.known.fill((0, FolderOrder::default()));
            1
        });
    }

    /// A folder next to the text; `None` for one whose path cannot be joined.
    fn get(&mut self, number: u32) -> Option<FolderOrder> {
        self.unknown.clear();
        let (mut next, mut folder) = (number, FolderOrder::default());
        while next != NO_FOLDER {
            let (round, order) = *self.known.get(next as usize)?;
            if round == self.round {
                folder = order;
                break;
            }
            if self.unknown.len() >= MAX_DEPTH {
                return None;
            }
            self.unknown.push(next);
            next = self.folders.get(next as usize)?.above;
        }
        while let Some(number) = self.unknown.pop() {
            folder = folder.inner(self.folders.get(number as usize)?.name, &self.other)?;
            *self.known.get_mut(number as usize)? = (self.round, folder);
        }
        Some(folder)
    }
}

/// A folder's path with a trailing '/', next to a text.
#[derive(Debug, Clone, Copy)]
struct FolderOrder {
    len: u16,
    /// Folders on the way to it, itself included.
    depth: u16,
    /// The order of all paths in it and the text, or `Equal` if the text begins with the folder's path.
    order: Ordering,
}

impl Default for FolderOrder {
    /// The folder of topmost entries.
    fn default() -> Self {
        Self { len: 0, depth: 0, order: Ordering::Equal }
    }
}

impl FolderOrder {
    fn has_room_for(self, name: &str) -> bool {
        Folder { start: 0, len: self.len, depth: self.depth }.has_room_for(name.len())
    }

    /// The text after the folder's path, which it begins with.
    fn rest(self, other: &str) -> &[u8] {
        other.as_bytes().get(self.len.into()..).unwrap_or_default()
    }

    /// The order of the path of a name in the folder and the text.
    fn order_of(self, name: &str, other: &str) -> Ordering {
        self.order.then_with(|| name.as_bytes().cmp(self.rest(other)))
    }

    /// The folder `name` in this one. `None` for one without room, and for a topmost one without a name, which has no '/'.
    fn inner(self, name: &str, other: &str) -> Option<Self> {
        if !self.has_room_for(name) || self.depth == 0 && name.is_empty() {
            return None;
        }
        let order = self.order.then_with(|| {
            let rest = self.rest(other);
            let (head, tail) = rest.split_at(rest.len().min(name.len()));
            name.as_bytes().cmp(head).then_with(|| tail.first().map_or(Ordering::Greater, |next| b'/'.cmp(next)))
        });
        let len = self.len.checked_add(u16::try_from(name.len()).ok()?)?.checked_add(1)?;
        Some(Self { len, depth: self.depth.checked_add(1)?, order })
    }
}
