//! Loose files: files in folders of a game. They replace the files of its index, or are the only files.

use crate::codec::cityhash64;
use crate::lazy::Lazy;
use crate::paths::{is_plain, joined};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that a loose file may be deep.
const DEEP: usize = 64;

#[derive(Debug, Clone)]
pub struct LooseFile {
    pub folder: usize,
    pub path: String,
    pub size: u64,
}

impl LooseFile {
    pub fn id(&self) -> u64 {
        cityhash64(self.path.as_bytes())
    }
}

#[derive(Debug, Default)]
struct Found {
    files: Vec<LooseFile>,
    failed: Vec<(String, String)>,
}

/// The folders of loose files. Files of an earlier folder hide files of a later one.
#[derive(Debug, Default)]
pub struct Loose {
    folders: Vec<PathBuf>,
    found: Lazy<Found>,
}

/// `path` below `folder`; `None` if it leads elsewhere: by `..`, from a root or a drive, or by a character that only
/// some systems take for a separator.
pub fn below(folder: &Path, path: &str) -> Option<PathBuf> {
    path.split('/').all(is_plain).then(|| joined(folder, path))
}

impl Loose {
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, found: Lazy::default() }
    }

    /// The loose file at `path`, found without a list of the others.
    pub fn find(&self, path: &str) -> Option<LooseFile> {
        self.folders.iter().enumerate().find_map(|(folder, root)| {
            let meta = fs::metadata(below(root, path)?).ok().filter(fs::Metadata::is_file)?;
            Some(LooseFile { folder, path: path.to_owned(), size: meta.len() })
        })
    }

    /// The place of the file at `path` in folder number `folder`.
    pub fn place(&self, folder: usize, path: &str) -> Option<PathBuf> {
        below(self.folders.get(folder)?, path)
    }

    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// All loose files, by path.
    pub fn all(&self) -> &[LooseFile] {
        &self.found().files
    }

    /// The folders that cannot be listed, and why.
    pub fn failed(&self) -> &[(String, String)] {
        &self.found().failed
    }

    fn found(&self) -> &Found {
        self.found.get_or_init(|| self.list())
    }

    fn list(&self) -> Found {
        let (mut files, mut failed) = (Vec::new(), Vec::new());
        let mut taken = HashSet::new();
        for (folder, root) in self.folders.iter().enumerate() {
            let mut open = vec![(String::new(), 0usize)];
            while let Some((path, depth)) = open.pop() {
                let entries = match fs::read_dir(root.join(&path)) {
                    Ok(entries) => entries,
                    // A folder that need not be there.
                    Err(_) if depth == 0 => continue,
                    Err(error) => {
                        failed.push((path, error.to_string()));
                        continue;
                    }
                };
                for entry in entries.flatten() {
                    // A name that is not Unicode has no path in this program.
                    let Ok(name) = entry.file_name().into_string() else { continue };
                    let Ok(kind) = entry.file_type() else { continue };
                    let path = if path.is_empty() { name } else { format!("{path}/{name}") };
                    // A link to a folder may form a cycle.
                    if kind.is_dir() {
                        if depth < DEEP {
                            open.push((path, depth + 1));
                        }
                    } else if let Some(meta) = fs::metadata(entry.path()).ok().filter(fs::Metadata::is_file)
                        && below(root, &path).is_some()
                        && taken.insert(path.clone())
                    {
                        files.push(LooseFile { folder, path, size: meta.len() });
                    }
                }
            }
        }
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Found { files, failed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leaves_the_folder() {
        let root = Path::new("/game/res");
        assert_eq!(below(root, "a/b.txt"), Some(root.join("a/b.txt")));
        for path in ["", "/a", "a/", "a//b", "../a", "a/../../b", ".", "./a", "c:/a", "c:a", "a\\..\\b", "a\0b", "a/.."]
        {
            assert_eq!(below(root, path), None, "{path:?}");
        }
    }
}
