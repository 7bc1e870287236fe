//! The game as an archive: files by path and by number, their stored bytes, and the paths of ids.

use super::index::{Index, StoredFile};
use super::tree::{FileOrigin, Tree, join};
use super::volumes::check_trailer;
use super::{WowsArchive, places, tree};
use crate::archive::{self, Archive, AtBuild, Build, File, Game, Identity, LooseFile, Snapshot, Volume, VolumeFile};
use crate::codec::{Oodle, cityhash64};
use crate::error::{Error, ErrorKind, Result};
use crate::source::Source;
use crate::threads::prelude::*;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of structs that one thread compares with an id in the time of starting threads.
const SHARED: usize = 1 << 16;
/// The number of searches through the ids of all resources in the time of building the tree.
const LOOKS: usize = 16;
/// The lower half of a handle: the number of a file in its index. The upper half is the number of the index.
const LOWER: u64 = 0xFFFF_FFFF;
/// The upper half of the handle of a loose file. Its lower half is the number of its folder.
const LOOSE: u64 = LOWER;

fn handle(upper: u64, lower: usize) -> u64 {
    upper << 32 | lower as u64 & LOWER
}

fn halves(handle: u64) -> (usize, usize) {
    ((handle >> 32) as usize, (handle & LOWER) as usize)
}

/// The result of `look` in the first index with a result, among the indexes with `structs` to search.
fn first_of<T: Send>(
    indexes: &[Index],
    structs: usize,
    look: impl Fn(usize, &Index) -> Option<T> + Sync + Send,
) -> Option<T> {
    if structs < SHARED {
        return indexes.iter().enumerate().find_map(|(n, index)| look(n, index));
    }
    indexes.par_iter().enumerate().find_map_first(|(n, index)| look(n, index))
}

impl WowsArchive {
    /// The result of `look` in the first index with a file and a result.
    fn first<T: Send>(&self, look: impl Fn(usize, &Index) -> Option<T> + Sync + Send) -> Option<T> {
        let indexes = self.indexes();
        first_of(indexes, indexes.iter().map(Index::file_count).sum(), look)
    }

    /// The resource with this id in the index with the number `near`, else in the first index with such a resource.
    fn resource(&self, id: u64, near: Option<usize>) -> Option<tree::ResourcePosition> {
        let indexes = self.naming_indexes();
        let near = near.and_then(|n| Some((n, indexes.get(n)?.find_resource(id)?)));
        near.or_else(|| {
            self.looks.pay(1);
            let resources = indexes.iter().map(Index::resource_count).sum();
            first_of(indexes, resources, |n, index| Some((n, index.find_resource(id)?)))
        })
    }

    /// The path of the file or folder with this id, found without the tree.
    fn look_up(&self, id: u64) -> Result<Option<String>> {
        if let Some(place) = self.resource(id, None) {
            return join(self.naming_indexes(), place, |parent, near| self.resource(parent, Some(near))).map(Some);
        }
        Ok(self.loose.files().iter().find(|file| file.id() == id).map(|file| file.path.clone()))
    }

    /// Whether the resource at `place` has the path `path`: its name is the end of the path, and its folder has the
    /// hash of the rest as id. In a damaged index the folder may have another id; then all names up to the root must
    /// equal the names in the path.
    fn is_called(&self, place: tree::ResourcePosition, path: &str) -> Result<bool> {
        let (index, n) = place;
        let Some(resource) = self.naming_indexes().get(index).and_then(|index| index.resource(n)) else {
            return Ok(false);
        };
        let (parent, name) =
            path.rsplit_once('/').map_or((tree::ROOT, path), |(folder, name)| (cityhash64(folder.as_bytes()), name));
        if resource.name()? != name {
            return Ok(false);
        }
        Ok(resource.parent == parent
            || self.tree().join(self.naming_indexes(), place).is_ok_and(|joined| joined == path))
    }

    /// The file at `path` of the first index that contains it: its id is the hash of the path. Its name and folder must
    /// be the path's, because the ids of a damaged index may be anything.
    fn indexed(&self, path: &str) -> Result<Option<(usize, usize)>> {
        let id = cityhash64(path.as_bytes());
        let unnamed = AtomicBool::new(false);
        if let Some(found) = self.first(|n, index| {
            let file = index.find_file(id, 0)?;
            let Some(resource) = index.find_resource(id) else {
                unnamed.store(true, Ordering::Relaxed);
                return None;
            };
            match self.is_called((n, resource), path) {
                Ok(true) => Some(Ok((n, file))),
                Ok(false) => None,
                Err(error) => Some(Err(error.context(format_args!("{}: file {file}", index.name())))),
            }
        }) {
            return found.map(Some);
        }
        // Its name may be in another index than its file.
        if unnamed.into_inner()
            && let Some(resource) = self.resource(id, None)
            && self.is_called(resource, path)?
        {
            return Ok(self.first(|n, index| Some((n, index.find_file(id, 0)?))));
        }
        Ok(None)
    }

    /// File `n` of the index with the number `index`, as that describes it.
    fn indexed_file<'a>(&'a self, index: usize, n: usize, path: impl Into<Cow<'a, str>>) -> Result<File<'a>> {
        let found = self.indexes().get(index).and_then(|from| Some((from, from.file(n)?)));
        let (from, entry) = found.ok_or_else(|| archive::no_file(n))?;
        let volume = self.volume_of(from, n, &entry)?;
        let mut file = File::new(path, entry.size, handle(index as u64, n));
        file.id = Some(entry.id);
        file.stored_size = entry.stored_size;
        file.codec = entry.codec();
        file.crc32 = Some(entry.crc32);
        file.volume = Some(volume.name().into());
        file.offset = Some(entry.offset);
        file.installed = volume.is_installed();
        Ok(file)
    }

    pub(super) fn volume_of(&self, index: &Index, n: usize, entry: &StoredFile) -> Result<&VolumeFile> {
        let volume = self.volume_list().get(entry.volume).ok_or_else(|| {
            index.file_view(n).error(ErrorKind::damaged(format!("volume {:#018X} is in no index", entry.volume)))
        });
        let volume = volume.and_then(|volume| volume.as_ref().map_err(Error::clone));
        volume.map_err(|error| error.context(format_args!("{}: file {n}", index.name())))
    }

    fn loose_file(file: &LooseFile) -> File<'static> {
        let mut loose = File::new(file.path.clone(), file.size, handle(LOOSE, file.folder));
        loose.id = Some(file.id());
        loose
    }

    /// The index that `file` is in, and its entry there; `None` for a loose one.
    pub(super) fn entry(&self, file: &File<'_>) -> Option<(&Index, StoredFile)> {
        let (index, n) = halves(file.handle);
        let index = self.indexes().get(index)?;
        Some((index, index.file(n)?))
    }

    /// The row of this build, called `name`, among all builds.
    fn as_build(&self, name: &str) -> Build {
        let files = archive::damage(self).map_or_else(|| Ok(self.tree().rows.len() as u64), Err);
        Build { name: name.to_owned(), indexes: Ok(self.names.len() as u64), files }
    }

    fn row(&self, tree: &Tree, n: usize) -> Result<File<'_>> {
        let row = *tree.rows.get(n).ok_or_else(|| archive::no_file(n))?;
        match row {
            FileOrigin::Loose(n) => match self.loose.files().get(n as usize) {
                Some(file) => Ok(Self::loose_file(file)),
                None => Err(archive::no_file(n as usize)),
            },
            FileOrigin::Indexed { index, file: n, .. } => {
                let (index, n) = (index as usize, n as usize);
                let of = self.indexes().get(index).ok_or_else(|| archive::no_file(n))?;
                let path = tree.path_of_row(self.naming_indexes(), &self.loose, row).and_then(|path| {
                    path.ok_or_else(|| of.file_view(n).error(ErrorKind::damaged("no index has the name of the file")))
                });
                let path = path.map_err(|error| error.context(format_args!("{}: file {n}", of.name())))?;
                self.indexed_file(index, n, path)
            }
        }
    }
}

impl Archive for WowsArchive {
    fn len(&self) -> Result<usize> {
        Ok(self.tree().rows.len())
    }

    fn damage(&self) -> Vec<Error> {
        self.opened().damaged.iter().chain(&self.failed).chain(self.loose.failed()).cloned().collect()
    }

    fn file(&self, n: usize) -> Result<File<'_>> {
        self.row(self.tree(), n)
    }

    fn unnamed_file(&self, n: usize) -> Option<File<'_>> {
        match *self.tree().rows.get(n)? {
            FileOrigin::Loose(_) => None,
            FileOrigin::Indexed { index, file, .. } => self.indexed_file(index as usize, file as usize, "").ok(),
        }
    }

    fn find(&self, path: &str) -> Result<Option<File<'_>>> {
        if let Some(file) = self.loose.find(path)? {
            return Ok(Some(Self::loose_file(&file)));
        }
        match self.indexed(path)? {
            Some((index, n)) => self.indexed_file(index, n, path.to_owned()).map(Some),
            None => Ok(None),
        }
    }

    fn position(&self, path: &str) -> Result<Option<usize>> {
        let tree = self.tree();
        let Some(n) = tree.row(cityhash64(path.as_bytes())) else { return Ok(None) };
        let found = tree
            .rows
            .get(n)
            .map(|&row| tree.path_of_row(self.naming_indexes(), &self.loose, row))
            .transpose()?
            .flatten();
        Ok(found.is_some_and(|found| found == path).then_some(n))
    }

    fn stamp(&self, path: &str) -> Option<Vec<u8>> {
        if self.names.is_empty() || !matches!(self.loose.find(path), Ok(None)) {
            return None;
        }
        let folder = self.folder.canonicalize().ok()?;
        places::stamp(&folder, &self.names, path)
    }

    fn stored(&self, file: &File<'_>) -> Result<Source> {
        let (upper, lower) = halves(file.handle);
        if upper as u64 == LOOSE {
            let Some(place) = self.loose.place(lower, &file.path) else {
                let what = format!("file {:?} not found", file.path);
                return Err(Error::of_part(ErrorKind::NotFound { what }, ""));
            };
            return self.options.source_in_folder(&place);
        }
        let (index, entry) = self.entry(file).ok_or_else(|| archive::no_file(lower))?;
        self.volume_of(index, lower, &entry)?.slice(entry.offset, entry.stored_size)
    }

    fn volumes(&self) -> Result<Vec<Volume>> {
        let volumes = self.volume_list();
        let mut files = vec![0u64; volumes.all().len()];
        for index in self.indexes() {
            for entry in (0..index.file_count()).map_while(|n| index.file(n)) {
                if let Some(files) = volumes.position(entry.volume).and_then(|n| files.get_mut(n)) {
                    *files = files.saturating_add(1);
                }
            }
        }
        let named = volumes.all().iter().zip(files).filter_map(|(volume, files)| Some((volume.as_ref().ok()?, files)));
        Ok(named.map(|(volume, files)| Volume::new(volume.name(), volume.size(), files)).collect())
    }

    fn files_on_disk(&self) -> Vec<PathBuf> {
        let indexes = self.names.iter().map(|name| self.folder.join(name));
        indexes
            .chain(self.folders.iter().flat_map(|folder| archive::files_with_ending(folder.path(), ".pkg")))
            .collect()
    }

    fn game(&self) -> Option<&dyn Game> {
        Some(self)
    }

    fn oodle(&self) -> Option<Arc<Oodle>> {
        self.options.get()
    }

    fn check(&self, file: &File<'_>) -> Result<()> {
        let Some((index, entry)) = self.entry(file).filter(|(index, _)| index.variant().has_trailers()) else {
            return Ok(());
        };
        let (_, n) = halves(file.handle);
        let end = entry.offset.saturating_add(entry.stored_size);
        check_trailer(self.volume_of(index, n, &entry)?, end, entry.crc32, entry.size)
    }
}

impl Game for WowsArchive {
    fn identity(&self, n: usize) -> Option<Identity> {
        match *self.tree().rows.get(n)? {
            FileOrigin::Loose(n) => {
                self.loose.files().get(n as usize).map(|file| Identity { id: file.id(), size: file.size, crc32: None })
            }
            FileOrigin::Indexed { index, file, .. } => {
                let entry = self.indexes().get(index as usize)?.file(file as usize)?;
                Some(Identity { id: entry.id, size: entry.size, crc32: Some(entry.crc32) })
            }
        }
    }

    fn path_of(&self, id: u64) -> Result<Option<Cow<'_, str>>> {
        let path = match self.tree.get() {
            None if self.looks.is_below(LOOKS) => self.look_up(id)?,
            _ => self.tree().path(self.naming_indexes(), &self.loose, id)?,
        };
        // The ids of a damaged index may be anything: a path is proved by its hash.
        Ok(path.filter(|path| cityhash64(path.as_bytes()) == id).map(Cow::Owned))
    }

    fn builds(&self) -> Vec<Build> {
        let builds = self.builds.iter().map(|name| {
            if Some(&**name) == self.current_build() {
                return self.as_build(name);
            }
            let at = self.options.clone().with(Arc::new(AtBuild(name.clone())));
            match Self::open(self.source.clone(), &at) {
                Ok(other) => other.as_build(name),
                Err(error) => Build { name: name.clone(), indexes: Err(error.clone()), files: Err(error) },
            }
        });
        self.all_builds.get_or_make(|| builds.collect()).clone()
    }

    fn build_names(&self) -> &[String] {
        &self.builds
    }

    fn current_build(&self) -> Option<&str> {
        self.build.as_deref()
    }

    fn other_with(&self, has: &dyn Fn(&dyn Archive) -> bool) -> Option<String> {
        let others = self.builds.iter().filter(|build| Some(&***build) != self.current_build());
        let found = others.filter_map(|build| {
            let at = self.options.clone().with(Arc::new(AtBuild(build.clone())));
            Some((build, Self::open(self.source.clone(), &at).ok()?))
        });
        let (build, _) = found.into_iter().find(|(_, other)| has(other))?;
        let name = self.source.name();
        let own = self.current_build().and_then(|own| name.strip_suffix(own)?.strip_suffix('@'));
        Some(format!("{}@{build}", own.unwrap_or(name)))
    }

    fn snapshot(&self) -> Result<Option<Snapshot>> {
        let (Some(folder), Some(build)) = (self.source.path(), self.current_build()) else { return Ok(None) };
        Ok(Some(places::snapshot(folder, build)?))
    }

    fn database(&self) -> &'static str {
        "content/assets.bin"
    }

    fn texts(&self, language: Option<&str>) -> Option<String> {
        const FIRST: &str = "en";
        let wanted = format!("texts/{}/LC_MESSAGES/global.mo", language.unwrap_or(FIRST));
        if language.is_some() || matches!(self.find(&wanted), Ok(Some(_))) {
            return Some(wanted);
        }
        // Texts lie loose in the folder of a build.
        let others = self.loose.files().iter().map(|file| &file.path);
        let (front, end) = wanted.split_once(FIRST)?;
        others.filter(|path| path.starts_with(front) && path.ends_with(end)).min().cloned()
    }

    fn languages(&self) -> Vec<String> {
        let files = (0..self.tree().rows.len()).filter_map(|n| self.file(n).ok());
        let languages = files.filter_map(|file| {
            let language = file.path.strip_prefix("texts/")?.strip_suffix("/LC_MESSAGES/global.mo")?;
            Some(language.to_owned())
        });
        let mut languages: Vec<String> = languages.collect();
        languages.sort_unstable();
        languages
    }

    fn parameters(&self) -> &'static str {
        "content/GameParams.data"
    }

    fn check_indexes(&self) -> Result<()> {
        // An index by itself is no build, and a part of one still lists files.
        if self.build.is_none() {
            return Ok(());
        }
        let differs = |index: &Index| index.check().err().map(|error| error.context(index.name()));
        self.indexes().par_iter().find_map_first(differs).map_or(Ok(()), Err)
    }

    fn mods(&self) -> Option<PathBuf> {
        // The game looks for changed files of the newest build there.
        if self.build.as_ref() != self.builds.first() {
            return None;
        }
        places::newest_mods(self.source.path()?).ok()?
    }
}
