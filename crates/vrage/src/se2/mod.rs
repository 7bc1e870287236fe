//! Space Engineers 2: the game's content folder, which is no archive but a folder of files, and the definitions in it.
//!
//! [`Se2Archive::open`] looks at nothing but the folder's name. Its files are listed, and its definitions gathered, when they are
//! asked for; a file is found by its path without a list.
//!
//! The files are described in docs/formats/se2.md.

mod definitions;
mod parts;
mod reader;
mod relations;
mod tables;
mod verify;

pub use definitions::{Asset, Definition};

use crate::archive::{self, Archive, File, Loose};
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::options::Options;
use crate::paths::caseless;
use crate::source::Source;
use assetq_core::Openable;
use definitions::{Definitions, SETS, is_definition};
use std::path::{Path, PathBuf};

/// The place of the content in the game's folder.
const CONTENT: &str = "GameData/Vanilla/Content";

/// The place of the content in the folder of a mod, which has a project file.
const OF_MOD: &str = "Content";

/// Entries of a folder that are looked at for a `.def` file, or for a project file.
const LOOKED_AT: usize = 10_000;

#[derive(Debug)]
pub struct Se2Archive {
    source: Source,
    options: Options,
    loose: Loose,
    /// The path of the content in the folder, with a `/` at its end; empty if it is the folder itself.
    content: String,
    definitions: Lazy<Definitions>,
}

/// The folder whose files are read for `folder`, and the path of the content in it.
fn content_folder(folder: &Path) -> Option<(PathBuf, String)> {
    let of_mod = caseless(folder, OF_MOD);
    let content = of_mod.file_name().map_or_else(String::new, |name| format!("{}/", name.to_string_lossy()));
    let folders =
        [(folder.to_owned(), String::new()), (caseless(folder, CONTENT), String::new()), (folder.to_owned(), content)];
    let mut found = folders.into_iter().filter(|(folder, content)| folder.join(content).join(SETS).is_file());
    found.find(|(folder, content)| content.is_empty() || has_project(folder))
}

/// Whether a project file of a mod is in `folder`.
fn has_project(folder: &Path) -> bool {
    let entries = folder.read_dir().into_iter().flatten().flatten().take(LOOKED_AT);
    entries.map(|entry| entry.file_name()).any(|name| {
        let name = name.to_string_lossy();
        name.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("vrgproj"))
    })
}

/// Whether there is a `.def` file in `folder`, or near enough.
fn has_definitions(folder: &Path) -> bool {
    let mut open = std::collections::VecDeque::from([folder.to_owned()]);
    let mut left = LOOKED_AT;
    while let Some(folder) = open.pop_front() {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            let Some(rest) = left.checked_sub(1) else { return false };
            left = rest;
            match entry.file_type() {
                // A link to a folder may lead back.
                Ok(kind) if kind.is_dir() => open.push_back(entry.path()),
                Ok(_) if is_definition(&entry.file_name().to_string_lossy()) => return true,
                _ => {}
            }
        }
    }
    false
}

impl Se2Archive {
    /// Opens a content folder, or the folder of the game or of a mod that has one.
    ///
    /// # Errors
    /// `NotInstalled` without a content folder.
    pub fn open(from: impl Openable, options: &Options) -> Result<Self> {
        let source = from.open_source(options)?;
        let Some((folder, content)) = source.folder().and_then(content_folder) else {
            return Err(Error::of_part(ErrorKind::NotInstalled { what: SETS.to_owned() }, ""));
        };
        let loose = Loose::new(vec![folder]);
        Ok(Self { source, options: options.clone(), loose, content, definitions: Lazy::default() })
    }

    /// The definitions in its files, gathered at the first call.
    pub fn definitions(&self) -> &[Definition] {
        &self.gathered().definitions
    }

    pub fn assets(&self) -> &[Asset] {
        &self.gathered().assets
    }

    /// The path in this archive of a file of the content.
    fn in_content(&self, path: &str) -> String {
        format!("{}{path}", self.content)
    }

    fn gathered(&self) -> &Definitions {
        // By rayon, so without a lock.
        self.definitions.get_or_make(|| Definitions::gather(self, &self.options))
    }
}

impl Archive for Se2Archive {
    fn len(&self) -> Result<usize> {
        Ok(self.loose.files().len())
    }

    fn file(&self, n: usize) -> Result<File<'_>> {
        let file = self.loose.files().get(n).ok_or_else(|| archive::no_file(n))?;
        Ok(File::new(&*file.path, file.size, n as u64))
    }

    fn find(&self, path: &str) -> Result<Option<File<'_>>> {
        let found = self.loose.find(path)?;
        Ok(found.map(|file| File::new(file.path, file.size, 0)))
    }

    fn position(&self, path: &str) -> Result<Option<usize>> {
        Ok(self.loose.files().binary_search_by(|file| (*file.path).cmp(path)).ok())
    }

    fn damage(&self) -> Vec<Error> {
        self.loose.failed().to_vec()
    }

    fn files_on_disk(&self) -> Vec<PathBuf> {
        self.loose.folders().to_vec()
    }

    fn stored(&self, file: &File<'_>) -> Result<Source> {
        // A path that leads out of the folder, or to no file, is not in the archive.
        match self.loose.find(&file.path)?.and_then(|_| self.loose.place(0, &file.path)) {
            Some(path) => self.options.source_in_folder(&path),
            None => {
                let what = format!("file {:?} not found", file.path);
                Err(Error::of_part(ErrorKind::NotFound { what }, ""))
            }
        }
    }
}
