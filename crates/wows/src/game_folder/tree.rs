//! Paths: names of folders and files, joined from the id of a file up to the root.

use super::ids::Ids;
use super::index::Index;
use crate::archive::Loose;
use crate::error::{ErrorKind, Result};
use crate::threads::{self, prelude::*};

/// The id that the parents of the topmost folders and files have: the CityHash64 of `.`.
pub(super) const ROOT: u64 = 0xDBB1_A1D1_B108_B927;
/// Folders that a path may be deep.
const DEEP: usize = 64;
/// Bytes that a path may be long. Names of a hostile index may overlap, so that their sum has no other bound.
const LONG: usize = 4 << 10;

/// The number for no entry.
const NONE: u32 = u32::MAX;

/// A resource: the number of its index, and its own number there.
pub(super) type ResourcePosition = (usize, usize);

#[derive(Debug, Clone, Copy)]
pub(super) enum FileOrigin {
    Loose(u32),
    /// File `file` of an index. `resource` has its name, unless only another index has the name.
    Indexed {
        index: u32,
        file: u32,
        resource: u32,
    },
}

/// All files in their order, and all folders.
#[derive(Debug)]
pub(super) struct Tree {
    pub rows: Vec<FileOrigin>,
    row_of: Ids,
    folders: Vec<Folder>,
    folder_of: Ids,
}

#[derive(Debug, Clone, Copy)]
struct Folder {
    index: u32,
    resource: u32,
    parent: u32,
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(NONE)
}

/// The tree of a single index: for each of its files the resource with its name, and the resources without a file.
fn of_index(index: &Index) -> (Vec<u32>, Vec<u32>) {
    let files = index.file_count();
    let mut numbers = Ids::with_capacity(files);
    let mut resources = vec![NONE; files];
    for (n, file) in (0..files).map_while(|n| Some((n, index.file(n)?))) {
        numbers.insert(file.id, n);
    }
    let mut others = Vec::new();
    for (n, resource) in (0..index.resource_count()).map_while(|n| Some((n, index.resource(n)?))) {
        match numbers.get(resource.id).and_then(|file| resources.get_mut(file)) {
            Some(named) if *named == NONE => *named = number(n),
            Some(_) => {}
            None => others.push(number(n)),
        }
    }
    (resources, others)
}

impl Tree {
    /// The files of `indexes`, by the names in `naming`, which begins with `indexes`.
    pub(super) fn new(indexes: &[Index], naming: &[Index], loose: &Loose) -> Self {
        let parts: Vec<_> = naming.par_iter().map(of_index).collect();
        let ((rows, row_of), (folders, folder_of)) = threads::join(
            || rows(indexes, loose, parts.iter().map(|(resources, _)| &**resources)),
            || folders(naming, parts.iter().map(|(_, others)| &**others)),
        );
        Self { rows, row_of, folders, folder_of }
    }

    pub(super) fn row(&self, id: u64) -> Option<usize> {
        self.row_of.get(id)
    }

    /// The resource that is no file of its index.
    fn folder(&self, id: u64) -> Option<ResourcePosition> {
        self.place(self.folder_of.get(id)?)
    }

    fn place(&self, folder: usize) -> Option<ResourcePosition> {
        let folder = self.folders.get(folder)?;
        Some((folder.index as usize, folder.resource as usize))
    }

    /// The path of the file or folder with this id.
    pub(super) fn path(&self, indexes: &[Index], loose: &Loose, id: u64) -> Result<Option<String>> {
        if let Some(place) = self.folder(id) {
            return self.join(indexes, place).map(Some);
        }
        match self.row(id).and_then(|row| self.rows.get(row)) {
            Some(&row) => self.path_of_row(indexes, loose, row),
            None => Ok(None),
        }
    }

    /// The path of a row; `None` if no index has a name for its file.
    pub(super) fn path_of_row(&self, indexes: &[Index], loose: &Loose, row: FileOrigin) -> Result<Option<String>> {
        let place = match row {
            FileOrigin::Loose(n) => return Ok(loose.files().get(n as usize).map(|file| file.path.clone())),
            FileOrigin::Indexed { index, file, resource: NONE } => {
                let entry = indexes.get(index as usize).and_then(|index| index.file(file as usize));
                entry.and_then(|entry| self.folder(entry.id))
            }
            FileOrigin::Indexed { index, resource, .. } => Some((index as usize, resource as usize)),
        };
        place.map(|place| self.join(indexes, place)).transpose()
    }

    pub(super) fn join(&self, indexes: &[Index], place: ResourcePosition) -> Result<String> {
        // The number of the folder that was found last: folders know their parents' numbers.
        let mut below = None;
        join(indexes, place, |parent, _| {
            let known = below.and_then(|folder: usize| self.folders.get(folder)).map(|folder| folder.parent);
            let folder = match known {
                Some(NONE) => None,
                Some(folder) => Some(folder as usize),
                None => self.folder_of.get(parent),
            };
            below = folder;
            self.place(folder?)
        })
    }
}

/// A row for each file, in the order of the indexes. If several files have one id, the first with a resource is used, otherwise the first.
/// A loose file replaces the row with its id, or is appended.
fn rows<'p>(indexes: &[Index], loose: &Loose, parts: impl Iterator<Item = &'p [u32]>) -> (Vec<FileOrigin>, Ids) {
    let count = indexes.iter().map(Index::file_count).fold(0, usize::saturating_add);
    let mut rows = Vec::with_capacity(count);
    let mut row_of = Ids::with_capacity(count);
    for ((at, index), resources) in indexes.iter().enumerate().zip(parts) {
        for (n, &resource) in resources.iter().enumerate() {
            let Some(file) = index.file(n) else { break };
            let row = FileOrigin::Indexed { index: number(at), file: number(n), resource };
            if row_of.insert(file.id, rows.len()) {
                rows.push(row);
            } else if resource != NONE
                && let Some(known @ FileOrigin::Indexed { resource: NONE, .. }) =
                    row_of.get(file.id).and_then(|row| rows.get_mut(row))
            {
                *known = row;
            }
        }
    }
    for (n, file) in loose.files().iter().enumerate() {
        let row = FileOrigin::Loose(number(n));
        if row_of.insert(file.id(), rows.len()) {
            rows.push(row);
        } else if let Some(known) = row_of.get(file.id()).and_then(|row| rows.get_mut(row)) {
            *known = row;
        }
    }
    (rows, row_of)
}

/// The folders of all indexes, each once.
fn folders<'p>(indexes: &[Index], parts: impl Iterator<Item = &'p [u32]>) -> (Vec<Folder>, Ids) {
    let mut folders = Vec::new();
    let mut parents = Vec::new();
    let mut folder_of = Ids::with_capacity(0);
    for ((at, index), others) in indexes.iter().enumerate().zip(parts) {
        for &n in others {
            if let Some(resource) = index.resource(n as usize)
                && folder_of.insert(resource.id, folders.len())
            {
                folders.push(Folder { index: number(at), resource: n, parent: NONE });
                parents.push(resource.parent);
            }
        }
    }
    for (folder, parent) in folders.iter_mut().zip(parents) {
        folder.parent = folder_of.get(parent).map_or(NONE, number);
    }
    (folders, folder_of)
}

/// The path of a resource. `up` finds the resource with an id, first in the index with the given number.
pub(super) fn join(
    indexes: &[Index],
    place: ResourcePosition,
    mut up: impl FnMut(u64, usize) -> Option<ResourcePosition>,
) -> Result<String> {
    let mut names = [""; DEEP];
    // Brent's way to notice a cycle: an id is compared with the ids that follow, each time for twice as many.
    let mut mark = None;
    let (mut place, mut length, mut used) = (Some(place), 0usize, 0usize);
    for (at, slot) in names.iter_mut().enumerate() {
        let Some((index, resource)) = place.and_then(|(i, n)| Some((i, indexes.get(i)?.resource(n)?))) else { break };
        if mark == Some(resource.id) {
            return Err(resource.view().error(ErrorKind::Cycle { at: resource.id }));
        }
        if at.is_power_of_two() || at == 0 {
            mark = Some(resource.id);
        }
        *slot = resource.name()?;
        length = length.saturating_add(slot.len()).saturating_add(1);
        if length > LONG {
            let (value, limit) = (length as u64, LONG as u64);
            return Err(resource.view().error(ErrorKind::Limit { what: "bytes of a path", value, limit }));
        }
        used = at.saturating_add(1);
        if resource.parent == ROOT {
            place = None;
            break;
        }
        place = up(resource.parent, index);
        if place.is_none() {
            return Err(resource
                .view()
                .error(ErrorKind::damaged(format!("folder {:#018X} is in no index", resource.parent))));
        }
    }
    if let Some((index, n)) = place
        && let Some(resource) = indexes.get(index).and_then(|index| index.resource(n))
    {
        let (value, limit) = (DEEP.saturating_add(1) as u64, DEEP as u64);
        return Err(resource.view().error(ErrorKind::Limit { what: "folders of a path", value, limit }));
    }
    let mut path = String::with_capacity(length);
    for name in names.iter().take(used).rev() {
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(name);
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::cityhash64;

    #[test]
    fn the_root_is_a_dot() {
        assert_eq!(ROOT, cityhash64(b"."));
    }
}
