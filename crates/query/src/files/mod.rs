//! The files that an argument selects: a file, a folder, a glob, `ARCHIVE:GLOB` or `GAME@BUILDS`.
//!
//! A [`FilePattern`] is the argument, a [`FileList`] is the ordered list of its files, without opening them. [`open`]
//! opens an argument as one asset: a pattern of many files becomes a [`FileSet`], whose tables are the tables of all
//! its files with a column `file`.
//!
//! ```
//! # fn main() -> assetq::Result<()> {
//! use assetq::Options;
//! use assetq::query::files;
//! let folder = std::env::temp_dir().join(format!("assetq-files-{}", std::process::id()));
//! std::fs::create_dir_all(&folder).expect("the folder can be created");
//! for name in ["bow", "stern"] {
//!     let bytes = assetq_sample::geometry::splash(&[(name, [-1.0; 3], [1.0; 3])]);
//!     std::fs::write(folder.join(format!("{name}.splash")), bytes).expect("the file can be written");
//! }
//! let ships = files::open(&folder.join("*.splash"), &Options::default())?;
//! let boxes = ships.reader().table("boxes").expect("the format has this table");
//! assert_eq!((boxes.len()?, &*boxes.columns()[0].name), (2, "file"));
//! assert_eq!(boxes.value(1, 1)?.to_string(), "stern");
//! # std::fs::remove_dir_all(&folder).expect("the folder can be removed");
//! # Ok(())
//! # }
//! ```

mod list;
mod set;
mod table;

pub use list::FileList;
#[cfg(feature = "parquet")]
pub(crate) use set::named_beside;
pub use set::{FileSet, FormatOf, WantedTable};

use crate::archive::{Address, is_archive};
use crate::asset::Asset;
use crate::error::Result;
use crate::options::Options;
use crate::paths::{glob_of, is_url};
use crate::reader;
use crate::report::Progress;
use crate::table::glob::Glob;
use list::{FileAddress, Listed};
use std::path::{Path, PathBuf};

/// An argument in place of a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum FilePattern {
    /// A file, or a folder that is an archive.
    File,
    /// The files below a folder that match by their path below it, as in a shell: only `**` matches a `/`.
    Below(PathBuf, Option<Glob>),
    /// The files in an archive that match a glob, or files of the builds that match one.
    Inside(Address),
}

impl FilePattern {
    /// Parses `path`. An existing path is that file, whatever characters are in it.
    pub fn parse(path: &Path) -> Self {
        if path.is_dir() {
            return if is_archive(path) { Self::File } else { Self::Below(path.to_owned(), None) };
        }
        if is_url(path) {
            return Self::File;
        }
        let address = Address::parse(path);
        if address.inner().is_some_and(Glob::is_glob) || address.build().is_some_and(Glob::is_glob) {
            return Self::Inside(address);
        }
        let glob = path.to_str().filter(|text| Glob::is_glob(text) && !address.exists()).map(split_glob);
        // An invalid glob is the name of a file that does not exist.
        match glob.and_then(|(root, glob)| Some((root, Glob::of_files(&glob).ok()?))) {
            Some((root, glob)) => Self::Below(root, Some(glob)),
            None => Self::File,
        }
    }

    /// Whether the pattern may select more than one file.
    pub fn is_many(&self) -> bool {
        !matches!(self, Self::File)
    }

    /// The name of the folder or archive that is searched, if it has one.
    pub fn stem(&self) -> Option<&str> {
        let root = match self {
            Self::File => return None,
            Self::Below(root, _) => root,
            Self::Inside(address) => address.outer(),
        };
        root.file_name()?.to_str()
    }

    /// Lists the files, without opening them. `progress` counts the files whose format is detected.
    ///
    /// # Errors
    /// `Io` if the folder or archive cannot be read, `Syntax` for an invalid glob.
    pub fn list(&self, given: &Path, options: &Options, progress: &Progress) -> Result<FileList> {
        self.list_by(given, options, progress, &|address| address.open_outer(options))
    }

    /// As [`FilePattern::list`], with archives that `open` opens.
    pub fn list_by(
        &self,
        given: &Path,
        options: &Options,
        progress: &Progress,
        open: &dyn Fn(&Address) -> Result<Asset>,
    ) -> Result<FileList> {
        let mut list = FileList::new(options);
        match self {
            Self::File => list.files.push(Listed::new(FileAddress::File(given.to_owned()))),
            Self::Below(root, glob) => list.add_below(root, glob.as_ref(), progress)?,
            Self::Inside(address) => {
                list.add_inside(given, address, open)?;
                list.drop_unknown(progress);
            }
        }
        Ok(list)
    }
}

/// The folder before the first part of a path that has a wildcard, and the glob below that folder.
fn split_glob(path: &str) -> (PathBuf, String) {
    let before = path.find(['*', '?', '[', '{']).map_or("", |first| &path[..first]);
    let start = before.rfind(std::path::is_separator).map_or(0, |at| at + 1);
    let (root, glob) = path.split_at(start);
    let root = if root.is_empty() { "." } else { root };
    (root.into(), glob_of(glob).into_owned())
}

/// Opens a file as [`Asset::open_at`] does, or all files of a pattern as one [`FileSet`].
///
/// # Errors
/// As [`Asset::open_at`], [`FilePattern::list`] and [`FileSet::open`].
pub fn open(address: &Path, options: &Options) -> Result<Asset> {
    let pattern = FilePattern::parse(address);
    if !pattern.is_many() {
        return Asset::open_at(address, options);
    }
    let mut list = pattern.list(address, options, &Progress::default())?;
    if matches!(pattern, FilePattern::Below(_, None)) {
        list.retain_files();
    }
    FileSet::open(&address.to_string_lossy(), list)
}

/// The addresses of the files that describe the others of a game, its parameters and its database. The game itself has none of their
/// tables. Of several builds, the patterns of the files.
pub fn describing_files(asset: &Asset) -> Vec<String> {
    let first = asset.get::<FileSet>().and_then(|set| set.list().open(0).ok());
    let Some(archive) = first.as_ref().unwrap_or(asset).reader().archive() else { return Vec::new() };
    let inside = [archive.parameters(), archive.database()].into_iter().flatten();
    let inside = inside.filter(|inner| matches!(archive.find(inner), Ok(Some(_))));
    let game = Path::new(asset.source().name());
    inside.map(|inner| Address::within(game, inner).to_string_lossy().into_owned()).collect()
}

/// The end of a message about the table `wanted`, which a game lacks: the file with this table, a similar table of a file, or the files
/// with tables of their own; and those that cannot be opened. Empty for other files.
pub fn hint_of_describing_files(asset: &Asset, wanted: &str) -> String {
    let files = describing_files(asset);
    let (mut opened, mut failed) = (Vec::new(), String::new());
    for file in &files {
        match open(Path::new(file), &Options::default()) {
            Ok(inside) => opened.push((file, inside)),
            Err(error) => failed.push_str(&format!("; {file}: {error}")),
        }
    }
    if let Some((file, _)) = opened.iter().find(|(_, inside)| inside.reader().table(wanted).is_some()) {
        return format!("; {file} has it");
    }
    let similar = opened.iter().find_map(|(file, inside)| {
        let hint = reader::hint_of_nearest_tables(inside.reader(), wanted);
        Some(format!("{} of {file}?", hint.strip_suffix('?')?))
    });
    let hint = similar.unwrap_or_else(|| match &*files {
        [] => String::new(),
        [file] => format!("; {file} has tables of its own"),
        files => format!("; {} have tables of their own", files.join(" and ")),
    });
    hint + &failed
}

#[cfg(test)]
mod tests {
    use super::*;
    use assetq_sample::wdb::{Cell, Game, Sheet};

    #[test]
    fn debug_output_of_several_files_names_them() {
        let folder = tempfile::TempDir::new().unwrap();
        for name in ["a.wdb", "b.wdb"] {
            let sheet = Sheet::new(Game::Later, "Items").fields(["u9Index"]).record("a", [Cell::Int(1)]);
            std::fs::write(folder.path().join(name), sheet.build()).unwrap();
        }
        let asset = open(&folder.path().join("*.wdb"), &Options::default()).unwrap();
        let shown = format!("{:?}", asset.get::<FileSet>().unwrap());
        assert!(shown.starts_with("FileSet {") && shown.contains("b.wdb"), "{shown}");
    }

    #[test]
    fn a_glob_begins_at_the_first_part_with_a_wildcard() {
        for (path, root, glob) in [
            ("a/b/*.wdb", "a/b/", "*.wdb"),
            ("*.wdb", ".", "*.wdb"),
            ("/x/y?/z", "/x/", "y?/z"),
            ("a{b,c}/d", ".", "a{b,c}/d"),
        ] {
            assert_eq!(split_glob(path), (root.into(), glob.into()), "{path}");
        }
    }
}
