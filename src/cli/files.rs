//! The files of arguments: a folder, a glob, or a glob in an archive may select many.

use super::{Context, Exit, Failure, Unit};
use crate::asset::Asset;
use crate::files::{FileList, FilePattern, FileSet, WantedTable};
use crate::options::Options;
use crate::table::glob::Glob;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether arguments select more than one file, so that a document about the files is an array: also if some of them
/// cannot be read, and however many a folder holds.
pub(super) fn are_many(given: &[PathBuf]) -> bool {
    !matches!(given, [file] if !file.is_dir() && !FilePattern::parse(file).is_many())
}

/// The path of `file` below the folder of one of the arguments `given`, else its name alone.
pub(super) fn path_below<'f>(given: &[PathBuf], file: &'f Path) -> &'f Path {
    let mut below = given.iter().filter_map(|given| match FilePattern::parse(given) {
        // A glob without a folder before it names files in the current folder, without `./`.
        FilePattern::Below(root, Some(_)) if root == Path::new(".") && file.is_relative() => {
            Some(file.strip_prefix(".").unwrap_or(file))
        }
        FilePattern::Below(root, _) => file.strip_prefix(root).ok(),
        _ => None,
    });
    below.next().unwrap_or_else(|| file.file_name().map_or(file, Path::new))
}

impl Context {
    /// The files of the arguments. A folder selects the files of known formats below it, a glob the files with a
    /// matching path, and `ARCHIVE:GLOB` the matching files in an archive. A folder that is an archive is one file.
    /// Files of one argument are sorted by path.
    pub(super) fn files(&self, given: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
        let mut files = Vec::new();
        for path in given {
            match FilePattern::parse(path) {
                FilePattern::File => files.push(path.clone()),
                pattern => {
                    let list = self.list(path, &pattern, self.options())?;
                    if list.is_empty() && list.damaged().is_empty() {
                        self.not_found(&no_match(path, &pattern, &list));
                    }
                    files.extend(list.addresses());
                }
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

    /// As [`Context::open_with`]; all files of a pattern are one file, whose tables have the rows of all of them.
    /// Files of several formats are those with the table `table`.
    pub(super) fn open_all_with(&self, path: &Path, others: &[PathBuf], table: Option<&str>) -> Result<Asset, Failure> {
        let mut options = self.options_with(others)?;
        if let Some(table) = table {
            options = Cow::Owned(options.into_owned().with(Arc::new(WantedTable(table.to_owned()))));
        }
        let pattern = FilePattern::parse(path);
        if !pattern.is_many() {
            return self.open_by(path, &options);
        }
        let mut list = self.list(path, &pattern, &options)?;
        if list.is_empty() {
            let what = match list.damaged() {
                [] => no_match(path, &pattern, &list),
                _ => format!("{}: no other file of a known format matches", path.display()),
            };
            return Err(Failure::new(Exit::NotFound, what));
        }
        if matches!(pattern, FilePattern::Below(_, None)) {
            list.retain_files();
        }
        list.addresses().for_each(|address| self.reads(&[address]));
        FileSet::open(&path.to_string_lossy(), list).map_err(Failure::of_file(path))
    }

    /// The files of an argument that may select many. Reports the folders and entries that cannot be read.
    fn list(&self, given: &Path, pattern: &FilePattern, options: &Options) -> Result<FileList, Failure> {
        let text = given.to_string_lossy();
        let root = match pattern {
            FilePattern::Below(root, _) => root.to_string_lossy().into_owned(),
            _ => text.clone().into_owned(),
        };
        let found = self.with_progress_of("looking for files", Unit::Files, |progress| {
            pattern.list_by(given, options, progress, &|address| self.archive(address))
        });
        let list = found.map_err(Failure::of_file(&root))?;
        match list.damaged() {
            [(file, error), ..] if options.strict => return Err(Failure::in_file(file, error)),
            damaged => damaged.iter().for_each(|(file, error)| self.damaged(file, error)),
        }
        Ok(list)
    }
}

/// The message for a pattern that no file matches.
fn no_match(given: &Path, pattern: &FilePattern, list: &FileList) -> String {
    let text = given.display();
    match pattern {
        FilePattern::Below(_, None) => format!("{text}: no file of a known format in this folder or below it"),
        FilePattern::Inside(_) if list.unknown() > 0 => format!("{text}: no file of a known format matches"),
        FilePattern::Inside(address) => match address.inner() {
            Some(inner) => {
                format!("{}: nothing in it matches {inner:?}{}", address.archive_path().display(), Glob::hint(inner))
            }
            None => format!("{text}: no build matches"),
        },
        FilePattern::Below(_, Some(glob)) if glob.folders().is_some() => {
            format!("{text}: no file of a known format matches; only ** matches files in folders below")
        }
        _ => format!("{text}: no file of a known format matches"),
    }
}
