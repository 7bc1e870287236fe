//! The files of arguments: a folder, a glob, or a glob in an archive may select many.

use super::progress::Unit;
use super::{Context, Failure};
use crate::archive::{self, Address, Collected, collect, is_archive};
use crate::error::Error;
use crate::paths::glob_of;
use crate::table::glob::Glob;
use std::path::{Path, PathBuf};

/// An argument in place of a file.
enum FileArgument {
    /// A file, or a folder that is an archive.
    File,
    /// The files below a folder that match by their path below it.
    Below(PathBuf, Option<Glob>),
    /// The files in an archive that match this glob.
    Inside(Address),
}

impl FileArgument {
    fn of(path: &Path) -> Self {
        if path.is_dir() {
            return if is_archive(path) { Self::File } else { Self::Below(path.to_owned(), None) };
        }
        let address = Address::of(path);
        if address.inner().is_some_and(Glob::is_glob) {
            return Self::Inside(address);
        }
        let glob = path.to_str().filter(|text| Glob::is_glob(text) && !address.exists()).map(split_glob);
        // An invalid glob is the name of a file that does not exist.
        match glob.and_then(|(root, glob)| Some((root, Glob::smart_case(&glob).ok()?))) {
            Some((root, glob)) => Self::Below(root, Some(glob)),
            None => Self::File,
        }
    }
}

/// The folder before the first part of a path that has a wildcard, and the glob below that folder.
fn split_glob(path: &str) -> (PathBuf, String) {
    let first = path.find(['*', '?', '[', '{']).unwrap_or(0);
    let before = path.get(..first).unwrap_or_default();
    let start = before.rfind(std::path::is_separator).map_or(0, |at| at.saturating_add(1));
    let (root, glob) = path.split_at_checked(start).unwrap_or(("", path));
    let root = if root.is_empty() { "." } else { root };
    (root.into(), glob_of(glob).into_owned())
}

/// Whether arguments stand for more than one file, so that a document about the files is an array: also if some of them
/// cannot be read, and however many a folder holds.
pub(super) fn are_many(given: &[PathBuf]) -> bool {
    !matches!(given, [file] if !file.is_dir() && matches!(FileArgument::of(file), FileArgument::File))
}

/// The path of `file` below the folder of one of the arguments `given`, else its name alone.
pub(super) fn path_below<'f>(given: &[PathBuf], file: &'f Path) -> &'f Path {
    let below = |given: &PathBuf| match FileArgument::of(given) {
        FileArgument::Below(root, _) => file.strip_prefix(root).ok(),
        _ => None,
    };
    given.iter().find_map(below).unwrap_or_else(|| file.file_name().map_or(file, Path::new))
}

impl Context {
    /// The files of the arguments. A folder selects the files of known formats below it, a glob the files with a
    /// matching path, and `ARCHIVE:GLOB` the matching files in an archive. A folder that is an archive is one file.
    /// Files of one argument are sorted by path.
    pub(super) fn files(&self, given: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
        let mut files = Vec::new();
        for path in given {
            match FileArgument::of(path) {
                FileArgument::File => files.push(path.clone()),
                FileArgument::Below(root, glob) => files.append(&mut self.below(path, &root, glob.as_ref())?),
                FileArgument::Inside(address) => files.append(&mut self.inside(path, &address)?),
            }
        }
        Ok(files)
    }

    /// The files of the arguments, without archives below a folder: these need arguments of their own.
    pub(super) fn files_without_archives(&self, given: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
        let mut files = self.files(given)?;
        files.retain(|file| given.contains(file) || !file.is_dir());
        Ok(files)
    }

    /// The files below the folder `root` of the argument `given`.
    fn below(&self, given: &Path, root: &Path, glob: Option<&Glob>) -> Result<Vec<PathBuf>, Failure> {
        let is_wanted = |path: &str| glob.is_none_or(|glob| glob.is_match(path));
        let found = self.with_progress_of("looking for files", Unit::Files, |progress| {
            collect(root, is_wanted, self.options(), progress)
        });
        let Collected { files, failed } = found.map_err(|e| Failure::in_file(&root.to_string_lossy(), &e))?;
        for (folder, error) in &failed {
            self.failed(&Failure::in_file(&folder.to_string_lossy(), error));
        }
        if files.is_empty() {
            let what = match glob {
                Some(_) => "no file of a known format matches",
                None => "no file of a known format in this folder or below it",
            };
            self.not_found(&format!("{}: {what}", given.to_string_lossy()));
        }
        // A glob without a folder before it names files in the current folder.
        let here = Path::new(".");
        let is_bare = glob.is_some() && root == here;
        let name = |file: PathBuf| match file.strip_prefix(here) {
            Ok(rest) if is_bare => rest.to_owned(),
            _ => file,
        };
        Ok(files.into_iter().map(name).collect())
    }

    /// The files of the archive at `address` that match the glob in it, as addresses.
    fn inside(&self, path: &Path, address: &Address) -> Result<Vec<PathBuf>, Failure> {
        let failed = |e: Error| Failure::in_file(&path.to_string_lossy(), &e);
        let glob = address.inner().unwrap_or_default();
        let asset = self.archive(address).map_err(failed)?;
        let outer = address.archive_path();
        let Some(archive) = asset.reader().archive() else { return Ok(vec![path.to_owned()]) };
        if archive::find(archive, glob).map_err(failed)?.is_some() {
            return Ok(vec![path.to_owned()]);
        }
        let wanted = Glob::smart_case(&glob_of(glob))?;
        let mut found = Vec::new();
        for n in 0..archive.len().map_err(failed)? {
            match archive.file(n) {
                Ok(file) if wanted.is_match(&file.path) => found.push(Address::within(&outer, &file.path)),
                Ok(_) => {}
                Err(error) => self.damaged(asset.source().name(), &error),
            }
        }
        archive.damage().iter().for_each(|error| self.damaged(asset.source().name(), error));
        if found.is_empty() {
            self.not_found(&format!("{}: nothing in it matches {glob:?}", outer.display()));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
