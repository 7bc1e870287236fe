//! References by path: the files to which the paths lead that other files state, as text models do.

use super::texts;
use crate::archive;
use crate::asset::Asset;
use crate::error::Result;
use crate::paths::{file_near, texture_in_place_of};
use std::collections::HashMap;
use std::path::Path;

/// Whether `asset` is of a format whose files state the paths of other files, and have no ids of their own.
pub fn states_paths(asset: &Asset) -> bool {
    // A damaged file would list its texts.
    texts(asset).is_some_and(|texts| texts.list(&mut |_| ()).unwrap_or(true))
}

/// The file to which a stated path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The file's address.
    pub address: String,
    /// The file's number among the open ones; `None` if it lies elsewhere.
    pub asset: Option<usize>,
    /// Whether a `.tga` is stated, and the file is the `.dds` in its place.
    pub is_replacement: bool,
}

/// The places in which stated paths are looked up: open files, the folders around the file that states a path, and archives.
#[derive(Debug)]
pub struct StatedPaths<'a> {
    assets: &'a [Asset],
    /// The open files by the last names of their paths.
    by_name: HashMap<&'a str, Vec<usize>>,
    archives: Vec<Asset>,
}

/// The names of a path or address, the last one first.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit(['/', '\\', archive::MARK])
}

/// The path without its last name.
fn folder(path: &str) -> &str {
    path.rfind(['/', '\\', archive::MARK]).and_then(|at| path.get(..at)).unwrap_or_default()
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
    /// Looks paths up among `assets` and near them, then in `archives`.
    pub fn new(assets: &'a [Asset], archives: Vec<Asset>) -> Self {
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, asset) in assets.iter().enumerate() {
            by_name.entry(names(asset.source().name()).next().unwrap_or_default()).or_default().push(number);
        }
        Self { assets, by_name, archives }
    }

    /// Whether there are archives.
    pub fn has_archives(&self) -> bool {
        !self.archives.is_empty()
    }

    /// The open file that `path` leads to. `from` is the file that states it.
    pub fn open_file(&self, path: &str, from: Option<&Asset>) -> Option<usize> {
        let from = from.map(|from| folder(from.source().name()));
        let alike = self.by_name.get(names(path).next()?)?;
        let alike = alike.iter().filter_map(|&number| {
            let equal = likeness(self.assets.get(number)?.source().name(), path, from)?;
            Some((equal, std::cmp::Reverse(number)))
        });
        alike.max().map(|(_, number)| number.0)
    }

    /// The file that `path` leads to, stated in the file `from`. A `.tga` may be a `.dds`, as in the game.
    ///
    /// # Errors
    /// When the index of an archive is damaged.
    pub fn find(&self, path: &str, from: &Asset) -> Result<Option<Destination>> {
        if let Some(found) = self.exact(path, from)? {
            return Ok(Some(found));
        }
        let Some(other) = texture_in_place_of(path) else { return Ok(None) };
        Ok(self.exact(&other, from)?.map(|found| Destination { is_replacement: true, ..found }))
    }

    fn exact(&self, path: &str, from: &Asset) -> Result<Option<Destination>> {
        let found = |address: String, asset| Some(Destination { address, asset, is_replacement: false });
        if let Some(number) = self.open_file(path, Some(from)) {
            let name = self.assets[number].source().name();
            return Ok(found(name.to_owned(), Some(number)));
        }
        let beside = from.source().path().and_then(Path::parent).and_then(|folder| file_near(folder, path));
        if let Some(file) = beside {
            return Ok(found(file.to_string_lossy().into_owned(), None));
        }
        for outer in &self.archives {
            if let Some(archive) = outer.reader().archive()
                && archive::find(archive, path)?.is_some()
            {
                return Ok(found(format!("{}{}{path}", outer.source().name(), archive::MARK), None));
            }
        }
        Ok(None)
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
