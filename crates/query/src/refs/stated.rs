//! References by path: the files to which the paths lead that other files state, as text models do.

use super::{By, Found, Keep, refers, scan, texts};
use crate::archive;
use crate::asset::Asset;
use crate::error::Result;
use crate::paths::{file_in, folders_near, texture_in_place_of};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Whether `asset` is of a format whose files state the paths of other files, and have no ids of their own.
pub fn states_paths(asset: &Asset) -> bool {
    // A damaged file would list its texts.
    texts(asset).is_some_and(|texts| texts.list(&mut |_| ()).unwrap_or(true))
}

/// A file whose references are followed. A folder may have a hundred thousand files: those that state paths are read at once, and only
/// files that can be a target or a source in another way stay open.
#[derive(Debug)]
pub struct LinkedFile {
    name: String,
    asset: Option<Asset>,
    stated: Option<Found>,
}

impl LinkedFile {
    /// Reads the references of `asset` if it states paths. A file that does not stay open is neither a source nor, as `is_target` says, a
    /// target.
    pub fn new(asset: Asset, is_target: bool) -> Self {
        let name = asset.source().name().to_owned();
        if states_paths(&asset) {
            return Self { name, stated: Some(scan(&asset, &|_, _| true)), asset: None };
        }
        let is_used = is_target || refers(&asset) || !asset.reader().warnings().is_empty();
        Self { name, asset: Some(asset).filter(|_| is_used), stated: None }
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The open file, if it does not state paths.
    pub fn asset(&self) -> Option<&Asset> {
        self.asset.as_ref()
    }

    /// The references, if the file states paths.
    pub fn stated(&self) -> Option<&Found> {
        self.stated.as_ref()
    }

    /// The stated references that `keep` selects, without the damage of the file.
    pub fn select(found: &Found, keep: Keep<'_>) -> Found {
        let edges = found.edges.iter().filter(|edge| keep(edge.to, By::Id)).cloned().collect();
        Found { edges, ..Found::default() }
    }
}

/// The file to which a stated path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The file's address.
    pub address: String,
    /// The file's number among the given ones; `None` if it lies elsewhere.
    pub asset: Option<usize>,
    /// Whether a `.tga` is stated, and the file is the `.dds` in its place.
    pub is_replacement: bool,
}

/// The places in which stated paths are looked up: files, the folders around the file that states a path, and archives.
#[derive(Debug)]
pub struct StatedPaths<'a> {
    files: &'a [LinkedFile],
    /// The files by the last names of their paths.
    by_name: HashMap<&'a str, Vec<usize>>,
    archives: Vec<Asset>,
    /// The folders in which files of a stated folder are looked for, by the folder of the file that states it.
    near: RefCell<HashMap<(String, String), Vec<PathBuf>>>,
}

/// The names of a path or address, the last one first.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit(['/', '\\', archive::MARK])
}

fn folder(path: &str) -> &str {
    path.rfind(['/', '\\', archive::MARK]).map_or("", |at| &path[..at])
}

/// Whether the file called `name`, which is referred to from a file in the folder `from`, may lie at `path`. Returns the number
/// of equal names at their ends. The folder of a mod has any place: two equal names are enough, or one beside the referring file, or in
/// the folder above if that is a folder of levels.
fn likeness(name: &str, path: &str, from: Option<&str>) -> Option<usize> {
    let equal = names(name).zip(names(path)).take_while(|(name, path)| name == path).count();
    let is_beside = from.is_some_and(|from| {
        let above = names(from).next().filter(|name| *name == "lods").map(|_| self::folder(from));
        folder(name) == from || Some(folder(name)) == above
    });
    let is_whole = equal == names(path).count() || equal == names(name).count();
    (equal >= 2 || equal == 1 && (is_beside || is_whole)).then_some(equal)
}

impl<'a> StatedPaths<'a> {
    /// Looks paths up among `files` and near them, then in `archives`.
    pub fn new(files: &'a [LinkedFile], archives: Vec<Asset>) -> Self {
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, file) in files.iter().enumerate() {
            let name = names(&file.name).next().expect("a text has a last part");
            by_name.entry(name).or_default().push(number);
        }
        Self { files, by_name, archives, near: RefCell::default() }
    }

    /// Whether there are archives.
    pub fn has_archives(&self) -> bool {
        !self.archives.is_empty()
    }

    /// The number of the file that `path` leads to. `from` is the name of the file that states it.
    pub fn file(&self, path: &str, from: Option<&str>) -> Option<usize> {
        let from = from.map(folder);
        let alike = self.by_name.get(names(path).next()?)?;
        let alike = alike.iter().filter_map(|&number| {
            let equal = likeness(&self.files.get(number)?.name, path, from)?;
            Some((equal, std::cmp::Reverse(number)))
        });
        alike.max().map(|(_, number)| number.0)
    }

    /// The file that `path` leads to, stated in the file `from`. A `.tga` may be a `.dds`, as in the game.
    ///
    /// # Errors
    /// When the index of an archive is damaged.
    pub fn find(&self, path: &str, from: &str) -> Result<Option<Destination>> {
        if let Some(found) = self.exact(path, from)? {
            return Ok(Some(found));
        }
        let Some(other) = texture_in_place_of(path) else { return Ok(None) };
        Ok(self.exact(&other, from)?.map(|found| Destination { is_replacement: true, ..found }))
    }

    fn exact(&self, path: &str, from: &str) -> Result<Option<Destination>> {
        if let Some(number) = self.file(path, Some(from)) {
            let address = self.files[number].name.clone();
            return Ok(Some(Destination { address, asset: Some(number), is_replacement: false }));
        }
        let mut found = self.beside(path, from).map(|file| file.to_string_lossy().into_owned());
        for outer in &self.archives {
            if let Some(archive) = outer.reader().archive().filter(|_| found.is_none())
                && archive::find(archive, path)?.is_some()
            {
                found = Some(format!("{}{}{path}", outer.source().name(), archive::MARK));
            }
        }
        Ok(found.map(|address| Destination { address, asset: None, is_replacement: false }))
    }

    /// The file near `from` that `path` leads to: see [`file_near`](crate::paths::file_near).
    fn beside(&self, path: &str, from: &str) -> Option<PathBuf> {
        let (stated, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = Path::new(from).parent()?;
        let mut near = self.near.borrow_mut();
        let key = (folder.to_string_lossy().into_owned(), stated.to_owned());
        file_in(near.entry(key).or_insert_with(|| folders_near(folder, stated)), name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stated_path_ends_as_the_path_of_its_file() {
        let stated = "PnFMods/Ship/gun/a.mfm";
        for (file, from, equal) in [
            ("mods/gun/a.mfm", None, Some(2)),
            ("game:PnFMods/Ship/gun/a.mfm", None, Some(4)),
            ("a.mfm", None, Some(1)),
            ("mods/other/a.mfm", Some("mods/other"), Some(1)),
            ("mods/other/a.mfm", Some("mods/other/lods"), Some(1)),
            ("mods/other/a.mfm", Some("mods/gun"), None),
            ("mods/other/a.mfm", None, None),
            ("mods/gun/b.mfm", None, None),
        ] {
            assert_eq!(likeness(file, stated, from), equal, "{file} {from:?}");
        }
    }
}
