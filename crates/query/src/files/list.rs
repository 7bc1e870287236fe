//! The ordered list of the files that a pattern selects, without opening them.

use crate::archive::{self, Address, Archive, Collected, collect, open_inside_by};
use crate::asset::{Asset, Format};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::paths::{glob_of, shown_path};
use crate::report::Progress;
use crate::table::glob::Glob;
use crate::threads::{lock, prelude::*};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The files that an argument selects, in order: sorted by path, the files of several builds by build first. They are
/// opened one by one.
#[derive(Debug, Default)]
pub struct FileList {
    pub(super) files: Vec<Listed>,
    archives: Vec<Address>,
    /// The archives that were opened last, with the options for files in them.
    open: Mutex<Vec<(usize, Asset, Options)>>,
    pub(super) options: Options,
    has_builds: bool,
    damaged: Vec<(String, Error)>,
    /// Matching files of no known format, which were dropped.
    unknown: usize,
}

#[derive(Debug)]
pub(super) struct Listed {
    place: FileAddress,
    size: Option<u64>,
    format: Option<Format>,
    /// Whether the caller or the name of the file promises that it has a known format.
    is_promised: bool,
}

impl Listed {
    pub(super) fn new(place: FileAddress) -> Self {
        Self { place, size: None, format: None, is_promised: true }
    }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FileAddress {
    File(PathBuf),
    /// An archive, by its number.
    Archive(usize),
    Inside(usize, String),
}

impl FileList {
    /// An empty list, whose files are opened with `options`.
    pub(super) fn new(options: &Options) -> Self {
        Self { options: options.clone(), ..Self::default() }
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether no file is selected.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The name of file `n` as outputs show it: without its build. Empty past the last.
    pub fn name(&self, n: usize) -> String {
        shown_path(&self.path(n, |archive| archive.outer().to_owned())).into_owned()
    }

    fn path(&self, n: usize, outer: impl Fn(&Address) -> PathBuf) -> PathBuf {
        match self.files.get(n).map(|file| &file.place) {
            Some(FileAddress::File(path)) => path.clone(),
            Some(FileAddress::Archive(archive)) => outer(&self.archives[*archive]),
            Some(FileAddress::Inside(archive, inner)) => Address::within(&outer(&self.archives[*archive]), inner),
            None => PathBuf::new(),
        }
    }

    /// The address of file `n`, which [`Asset::open_at`] takes: with its build, if it was selected by its build.
    pub fn address(&self, n: usize) -> PathBuf {
        self.path(n, Address::archive_path)
    }

    /// The addresses of all files, in order.
    pub fn addresses(&self) -> impl Iterator<Item = PathBuf> {
        (0..self.len()).map(|n| self.address(n))
    }

    /// The build of file `n`, if builds were selected by a glob.
    pub fn build(&self, n: usize) -> Option<&str> {
        match self.files.get(n).map(|file| &file.place)? {
            FileAddress::Archive(archive) | FileAddress::Inside(archive, _) if self.has_builds => {
                self.archives.get(*archive)?.build()
            }
            _ => None,
        }
    }

    /// Whether builds were selected by a glob.
    pub fn has_builds(&self) -> bool {
        self.has_builds
    }

    /// The decoded size of file `n` in bytes, if it is known without opening the file.
    pub fn size(&self, n: usize) -> Option<u64> {
        self.files.get(n)?.size
    }

    /// The folders and entries of archives that cannot be read, so that files may be missing in the list, and the names that lead to
    /// no file.
    pub fn damaged(&self) -> &[(String, Error)] {
        &self.damaged
    }

    /// The number of files in an archive that match, but are of no known format.
    pub fn unknown(&self) -> usize {
        self.unknown
    }

    /// Opens file `n`.
    ///
    /// # Errors
    /// As [`Asset::open_at`].
    pub fn open(&self, n: usize) -> Result<Asset> {
        match self.files.get(n).map(|file| &file.place) {
            Some(FileAddress::File(path)) if self.files.len() == 1 => Asset::open_at(path, &self.options),
            Some(FileAddress::File(path)) => Asset::open_with(self.options.source_in_folder(path)?, &self.options),
            Some(FileAddress::Archive(archive)) => self.archive(*archive).map(|(asset, _)| asset),
            Some(FileAddress::Inside(archive, inner)) => {
                let (archive, options) = self.archive(*archive)?;
                open_inside_by(&archive, inner, &options)
            }
            None => Err(archive::no_file(n)),
        }
    }

    /// Keeps the files for which `is_wanted` holds, by their name and build.
    pub fn retain(&mut self, mut is_wanted: impl FnMut(&str, Option<&str>) -> bool) {
        let kept: Vec<bool> = (0..self.len()).map(|n| is_wanted(&self.name(n), self.build(n))).collect();
        let mut kept = kept.into_iter();
        self.files.retain(|_| kept.next() == Some(true));
    }

    /// Drops the files of an archive that have no known format, as a search in a folder does, unless something promises one. `progress`
    /// counts the files that are opened for that.
    pub(super) fn drop_unknown(&mut self, progress: &Progress) {
        let unknown = |n: &usize| self.files.get(*n).is_some_and(|file| file.format.is_none() && !file.is_promised);
        let unknown: Vec<usize> = (0..self.len()).filter(unknown).collect();
        progress.announce(unknown.len() as u64);
        let dropped = unknown.into_par_iter().filter(|n| {
            progress.advance(1);
            self.open(*n).is_err_and(|error| matches!(error.kind(), ErrorKind::UnknownFormat { .. }))
        });
        let dropped: HashSet<usize> = dropped.collect();
        self.unknown = dropped.len();
        let mut numbers = 0..;
        self.files.retain(|_| numbers.next().is_some_and(|n| !dropped.contains(&n)));
    }

    /// Drops the archives among files of a folder: they need arguments of their own.
    pub fn retain_files(&mut self) {
        self.files.retain(|file| !matches!(&file.place, FileAddress::File(path) if path.is_dir()));
    }

    fn archive(&self, number: usize) -> Result<(Asset, Options)> {
        if let Some(known) = known(&lock(&self.open), number) {
            return Ok(known);
        }
        let asset = self.archives[number].open_outer(&self.options)?;
        // Another thread may have opened it meanwhile.
        let mut open = lock(&self.open);
        Ok(known(&open, number).unwrap_or_else(|| keep(&mut open, number, asset, &self.options)))
    }

    pub(super) fn add_below(&mut self, root: &Path, glob: Option<&Glob>, progress: &Progress) -> Result<()> {
        let deepest = glob.and_then(Glob::folders);
        let names_files = glob.is_some_and(Glob::has_ending);
        let is_wanted = |path: &str| glob.is_none_or(|glob| glob.is_match(path));
        let Collected { files, failed } = collect(root, is_wanted, deepest, names_files, &self.options, progress)?;
        // A glob without a folder before it names files in the current folder.
        let here = Path::new(".");
        let is_bare = glob.is_some() && root == here;
        let shown = |path: PathBuf| match path.strip_prefix(here) {
            Ok(rest) if is_bare => rest.to_owned(),
            // The argument may have other separators than the system.
            _ if cfg!(windows) => path.components().collect(),
            _ => path,
        };
        let failed = failed.into_iter().map(|(path, error)| (shown_path(&shown(path)).into_owned(), error));
        self.damaged.extend(failed);
        self.files.extend(files.into_iter().map(|file| {
            let place = FileAddress::File(shown(file.path));
            Listed { size: Some(file.size), format: file.format, ..Listed::new(place) }
        }));
        Ok(())
    }

    /// Adds the files in the archive at `address` that match the glob in it, in each of its selected builds.
    pub(super) fn add_inside(
        &mut self,
        given: &Path,
        address: &Address,
        open: &dyn Fn(&Address) -> Result<Asset>,
    ) -> Result<()> {
        let outer = address.without_inner();
        let Some(build) = address.build().filter(|build| Glob::is_glob(build)) else {
            let asset = open(&outer)?;
            // A file whose own path has wildcards, or a part of what is no archive.
            let is_file = match (asset.reader().archive(), address.inner()) {
                (Some(archive), Some(inner)) => archive::find(archive, inner)?.is_some(),
                (archive, _) => archive.is_none(),
            };
            if is_file {
                self.files.push(Listed::new(FileAddress::File(given.to_owned())));
                return Ok(());
            }
            return self.add_matching(outer, asset, address.inner());
        };
        self.has_builds = true;
        let wanted = Glob::smart_case(build)?;
        let asset = open(&outer.at_build(None))?;
        let builds = asset.reader().archive().and_then(|archive| archive.builds()).ok_or_else(|| {
            let what = format!("{}: a {} file has no builds", asset.source().name(), asset.format());
            Error::of_part(ErrorKind::Syntax { what: what.into() }, "")
        })?;
        let mut builds = builds.build_names().to_vec();
        builds.retain(|build| wanted.is_match(build));
        // Numbers of builds in their order; equal lengths are usual.
        builds.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        for build in builds {
            let outer = outer.at_build(Some(build));
            let asset = open(&outer)?;
            self.add_matching(outer, asset, address.inner())?;
        }
        Ok(())
    }

    /// Adds the files in one archive that match `glob`, or the archive itself without one.
    fn add_matching(&mut self, outer: Address, asset: Asset, glob: Option<&str>) -> Result<()> {
        let number = self.archives.len();
        let first = self.files.len();
        match (glob, asset.reader().archive()) {
            (None, _) | (_, None) => {
                let format = Some(asset.format());
                self.files.push(Listed { format, ..Listed::new(FileAddress::Archive(number)) });
            }
            (Some(path), Some(archive)) if !Glob::is_glob(path) => {
                if let Some(file) = archive::find(archive, path)? {
                    self.files.push(Listed::inside(number, archive, &file, true));
                }
            }
            (Some(glob), Some(archive)) => {
                let wanted = Glob::smart_case(&glob_of(glob))?;
                let name = asset.source().name();
                for n in 0..archive.len()? {
                    match archive.file(n) {
                        Ok(file) if wanted.is_match(&file.path) => {
                            self.files.push(Listed::inside(number, archive, &file, wanted.has_ending()));
                        }
                        Ok(_) => {}
                        Err(error) => self.damaged.push((name.to_owned(), error)),
                    }
                }
                self.damaged.extend(archive.damage().into_iter().map(|error| (name.to_owned(), error)));
            }
        }
        self.files[first..].sort_by(|a, b| a.place.cmp(&b.place));
        self.archives.push(outer);
        // With several builds, each open one has a tree of all its paths.
        if !self.has_builds {
            keep(&mut lock(&self.open), number, asset, &self.options);
        }
        Ok(())
    }

    /// The format of file `n`: by its name where that decides, else by its bytes.
    pub(super) fn format(&self, n: usize) -> Result<Format> {
        match self.files.get(n) {
            Some(Listed { format: Some(format), .. }) => Ok(*format),
            _ => Ok(self.open(n)?.format()),
        }
    }
}

impl Listed {
    fn inside(number: usize, archive: &dyn Archive, file: &archive::File<'_>, is_named: bool) -> Self {
        /// Bytes at the beginning of a file that tell most formats.
        const HEAD: usize = 64;
        let by_name = Format::guess(&file.path, &[]);
        let format = by_name.or_else(|| Format::guess(&file.path, &archive::head(archive, file, HEAD).ok()?));
        // A copy that failed leaves an empty file.
        let is_cut = file.size == 0 && Format::has_known_ending(&file.path);
        let is_promised = is_named || is_cut || Format::promised(&file.path).is_some();
        let place = FileAddress::Inside(number, file.path.clone().into_owned());
        Self { place, size: Some(file.size), format, is_promised }
    }
}

/// An archive that is open, with the options for files in it.
fn known(open: &[(usize, Asset, Options)], number: usize) -> Option<(Asset, Options)> {
    open.iter().find(|(n, ..)| *n == number).map(|(_, asset, options)| (asset.clone(), options.clone()))
}

/// Keeps an archive open, and forgets the oldest of too many.
fn keep(open: &mut Vec<(usize, Asset, Options)>, number: usize, asset: Asset, options: &Options) -> (Asset, Options) {
    if open.len() >= OPEN_ARCHIVES {
        open.remove(0);
    }
    let options = archive::options_inside(&asset, options);
    open.push((number, asset.clone(), options.clone()));
    (asset, options)
}

const OPEN_ARCHIVES: usize = 4;
