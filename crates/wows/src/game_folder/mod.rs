//! World of Warships archives: indexes (`.idx`), the volumes (`.pkg`) that they describe, and the game's folder of both.
//!
//! A [`WowsArchive`] finds a file by the hash of its path, in the ids of the mapped indexes. The tree of all paths is built on
//! the first use of all of them.

pub mod layout;

mod archive;
mod ids;
mod index;
mod places;
mod reader;
mod tree;
mod verify;
mod volumes;

pub use index::{Index, Resource, StoredFile, Variant, VolumeEntry};

use crate::archive::{Archive as _, AtBuild, Build, File, Game as _, Loose, VolumeFile};
use crate::error::{Error, ErrorKind, Result};
use crate::id;
use crate::lazy::{Lazy, ScanCost};
use crate::options::Options;
use crate::paths::CaselessFolder;
use crate::source::Source;
use crate::threads::prelude::*;
use assetq_core::Openable;
use places::Places;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tree::Tree;
use volumes::Volumes;

/// A build of the game, or a folder of indexes, or one index.
#[derive(Debug)]
pub struct WowsArchive {
    source: Source,
    /// The folder of indexes and their names in it, in order; empty for a single index.
    folder: PathBuf,
    names: Vec<String>,
    opened: Lazy<Opened>,
    /// A single index, and the indexes beside it; empty for a folder, and without such.
    with_neighbours: Lazy<Vec<Index>>,
    volumes: Lazy<Volumes>,
    folders: Vec<Arc<CaselessFolder>>,
    loose: Loose,
    /// Why the folder of mods is unknown.
    failed: Option<Error>,
    tree: Lazy<Tree>,
    /// The cost of the searches through all indexes so far, before `tree` is built.
    looks: ScanCost,
    /// The build, if the folder has several.
    build: Option<String>,
    builds: Vec<String>,
    all_builds: Lazy<Vec<Build>>,
    options: Options,
}

/// The indexes, opened on first use.
#[derive(Debug, Default)]
struct Opened {
    indexes: Vec<Index>,
    /// The errors of other indexes, which could not be opened.
    damaged: Vec<Error>,
}

/// The sums over the entries of all indexes.
#[derive(Debug, Default)]
struct Sums {
    files: u64,
    size: u64,
    stored_size: u64,
    /// Files in volumes that are not there.
    missing: u64,
}

impl WowsArchive {
    /// Opens a game's folder, a folder of indexes, or an index. The indexes of a folder are opened on first use, and
    /// their headers are read; one that cannot be read is damage of the archive, unless `options` are strict.
    ///
    /// # Errors
    /// When a single index is damaged, a folder cannot be read, or the requested build is missing.
    pub fn open(from: impl Openable, options: &Options) -> Result<Self> {
        let source = from.open_source(options)?;
        match source.folder() {
            Some(folder) => Self::open_folder(folder, source.clone(), options),
            None => {
                let places = source.path().map_or_else(Places::default, Places::of_index);
                let index = Index::open(source.clone(), &short_name(source.name()))?;
                if options.strict {
                    index.check()?;
                }
                let game = Self::new(source, places, None, Vec::new(), options);
                Ok(Self { opened: Opened { indexes: vec![index], damaged: Vec::new() }.into(), ..game })
            }
        }
    }

    fn open_folder(folder: &Path, source: Source, options: &Options) -> Result<Self> {
        let builds = places::builds(folder)?;
        let (build, places) = match (options.get::<AtBuild>(), builds.first()) {
            (Some(wanted), Some(newest)) => match builds.iter().find(|build| **build == wanted.0) {
                Some(build) => (Some(build), Places::of_build(folder, build, build == newest)),
                None => {
                    let what = format!("there is no build {:?}; there are {}", wanted.0, builds.join(", "));
                    return Err(Error::of_part(ErrorKind::NotFound { what }, ""));
                }
            },
            (None, Some(newest)) => (Some(newest), Places::of_build(folder, newest, true)),
            (_, None) => (None, Places::of_indexes(folder)),
        };
        let indexes = places.indexes.clone().unwrap_or_else(|| folder.to_owned());
        let names = places::indexes_in(&indexes)?;
        let game = Self::new(source, places, build.cloned(), builds, options);
        let game = Self { folder: indexes, names, ..game };
        if options.strict
            && let Some(error) = game.opened().damaged.first()
        {
            return Err(error.clone());
        }
        Ok(game)
    }

    fn new(source: Source, places: Places, build: Option<String>, builds: Vec<String>, options: &Options) -> Self {
        Self {
            source,
            folder: PathBuf::new(),
            names: Vec::new(),
            opened: Lazy::default(),
            with_neighbours: Lazy::default(),
            volumes: Lazy::default(),
            folders: places.volumes,
            loose: Loose::new(places.loose),
            failed: places.failed,
            tree: Lazy::default(),
            looks: ScanCost::default(),
            build,
            builds,
            all_builds: Lazy::default(),
            options: options.clone(),
        }
    }

    /// The indexes that could be opened, by name.
    pub fn indexes(&self) -> &[Index] {
        &self.opened().indexes
    }

    /// The indexes whose names form paths, those of [`WowsArchive::indexes`] first: the folders of a single index may have
    /// their names in the indexes beside it.
    fn naming_indexes(&self) -> &[Index] {
        let [own] = self.indexes() else { return self.indexes() };
        let Some(path) = self.source.path().filter(|_| self.folder.as_os_str().is_empty()) else {
            return self.indexes();
        };
        // By rayon, so without a lock.
        let Ok(all) = self.with_neighbours.get_or_try_init(|| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let own_name = path.file_name().unwrap_or_default();
            let names = places::indexes_in(folder).unwrap_or_default();
            // The names of a neighbour that cannot be read are missing, as without it.
            let others: Vec<Index> = names
                .par_iter()
                .filter(|name| own_name != name.as_str())
                .filter_map(|name| Index::open(self.options.source_in_folder(&folder.join(name)).ok()?, name).ok())
                .collect();
            Ok::<_, Infallible>([own.clone()].into_iter().chain(others).collect())
        });
        all
    }

    fn opened(&self) -> &Opened {
        // By rayon, so without a lock.
        let Ok(opened) = self.opened.get_or_try_init(|| {
            let all = self.names.par_iter().map(|name| self.open_index(name).map_err(|error| error.context(name)));
            let mut opened = Opened::default();
            for index in all.collect::<Vec<_>>() {
                match index {
                    Ok(index) => opened.indexes.push(index),
                    Err(error) => opened.damaged.push(error),
                }
            }
            Ok::<_, Infallible>(opened)
        });
        opened
    }

    fn open_index(&self, name: &str) -> Result<Index> {
        let index = Index::open(self.options.source_in_folder(&self.folder.join(name))?, name)?;
        if self.options.strict {
            index.check()?;
        }
        Ok(index)
    }

    /// Whether the tree of all paths was built. A search for single files does not need it.
    pub fn has_tree(&self) -> bool {
        self.tree.get().is_some()
    }

    fn tree(&self) -> &Tree {
        // By rayon, so without a lock.
        let Ok(tree) = self
            .tree
            .get_or_try_init(|| Ok::<_, Infallible>(Tree::new(self.indexes(), self.naming_indexes(), &self.loose)));
        tree
    }

    fn volume_list(&self) -> &Volumes {
        self.volumes.get_or_init(|| Volumes::find(self.indexes(), &self.folders, &self.options))
    }

    /// The sums over the entries of all indexes, without the tree.
    fn sums(&self) -> Sums {
        let volumes = self.volume_list();
        let is_there: Vec<bool> =
            volumes.all().iter().map(|volume| volume.as_ref().is_ok_and(VolumeFile::is_installed)).collect();
        let sums = self.indexes().par_iter().map(|index| {
            let mut sums = Sums::default();
            for entry in (0..index.file_count()).map_while(|n| index.file(n)) {
                let is_there = volumes.position(entry.volume).and_then(|n| is_there.get(n)).copied().unwrap_or(false);
                sums.files = sums.files.saturating_add(1);
                sums.size = sums.size.saturating_add(entry.size);
                sums.stored_size = sums.stored_size.saturating_add(entry.stored_size);
                sums.missing = sums.missing.saturating_add(u64::from(!is_there));
            }
            sums
        });
        sums.reduce(Sums::default, |a, b| Sums {
            files: a.files.saturating_add(b.files),
            size: a.size.saturating_add(b.size),
            stored_size: a.stored_size.saturating_add(b.stored_size),
            missing: a.missing.saturating_add(b.missing),
        })
    }

    /// The file that `entry` names by path or by id.
    fn asked(&self, entry: &str) -> Result<Option<File<'_>>> {
        if let Some(file) = self.find(entry)? {
            return Ok(Some(file));
        }
        match id::parse(entry).map(|id| self.path_of(id)).transpose()?.flatten() {
            Some(path) => self.find(&path),
            None => Ok(None),
        }
    }
}

/// The last part of the name of a source, for messages.
fn short_name(name: &str) -> String {
    name.rsplit(['/', '\\', crate::archive::MARK]).next().unwrap_or(name).to_owned()
}
