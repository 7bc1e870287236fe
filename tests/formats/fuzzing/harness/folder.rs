//! Folders of files. Each run changes one file.

use super::input::{fields, lie};
use arbitrary::Unstructured;
use assetq::Options;
use assetq_sample::Put;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

#[derive(Debug)]
pub struct Folder {
    dir: TempDir,
    files: BTreeMap<PathBuf, Vec<u8>>,
    changed: Option<PathBuf>,
}

impl Folder {
    /// A folder with the files that `make` gives.
    pub fn new(make: impl FnOnce(&mut Put<'_>)) -> Self {
        let mut folder = Self { dir: TempDir::new().unwrap(), files: BTreeMap::new(), changed: None };
        let root = folder.path();
        make(&mut |path, bytes| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, bytes).unwrap();
            folder.files.insert(path, bytes.to_vec());
            Ok(())
        });
        folder
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().join("game")
    }

    /// The paths of the files that `wanted` accepts by their names.
    pub fn files(&self, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        self.files.keys().filter(|path| wanted(&name(path))).cloned().collect()
    }

    /// Restores the file that the last run changed, and lets `change` change `path`. Returns whether it did.
    pub fn change(&mut self, path: &Path, change: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        if let Some(path) = self.changed.take() {
            fs::write(&path, &self.files[&path]).unwrap();
        }
        let mut bytes = self.files[path].clone();
        let is_changed = change(&mut bytes);
        if is_changed {
            fs::write(path, &bytes).unwrap();
            self.changed = Some(path.to_owned());
        }
        is_changed
    }

    /// As [`Folder::change`], by lies about fields.
    pub fn lie(&mut self, u: &mut Unstructured<'_>, path: &Path) -> bool {
        self.change(path, |bytes| {
            let fields = fields(bytes);
            lie(u, bytes, &fields) > 0
        })
    }
}

/// Options by which no file is mapped: a mapped file that is rewritten would change under its reader.
pub fn unmapped() -> Options {
    let mut options = Options::default();
    options.no_mmap = true;
    options
}
