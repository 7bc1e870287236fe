//! Loose files: files in folders of a game. They replace the files of its index, or are the only files.

use crate::codec::cityhash64;
use crate::error::{Error, Result};
use crate::lazy::Lazy;
use crate::paths::{is_plain, joined};
use crate::source::is_absent;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

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
    failed: Vec<Error>,
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
    ///
    /// # Errors
    /// `Io` when there may be one, in a folder that cannot be searched.
    pub fn find(&self, path: &str) -> Result<Option<LooseFile>> {
        for (folder, root) in self.folders.iter().enumerate() {
            let Some(place) = below(root, path) else { continue };
            match fs::metadata(&place) {
                Ok(meta) if meta.is_file() => {
                    return Ok(Some(LooseFile { folder, path: path.to_owned(), size: meta.len() }));
                }
                Err(error) if !is_absent(&error) => {
                    return Err(Error::io("cannot open", error).context(place.display()));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// The place of the file at `path` in folder number `folder`.
    pub fn place(&self, folder: usize, path: &str) -> Option<PathBuf> {
        below(self.folders.get(folder)?, path)
    }

    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// All loose files, by path.
    pub fn files(&self) -> &[LooseFile] {
        &self.found().files
    }

    /// The errors of folders that cannot be listed, and of files whose size cannot be looked up.
    pub fn failed(&self) -> &[Error] {
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
                let listed = joined(root, &path);
                let entries = fs::read_dir(&listed).and_then(Iterator::collect::<io::Result<Vec<_>>>);
                let entries = match entries {
                    Ok(entries) => entries,
                    // A folder that need not be there.
                    Err(error) if depth == 0 && is_absent(&error) => continue,
                    Err(error) => {
                        failed.push(Error::io("cannot read the folder", error).context(listed.display()));
                        continue;
                    }
                };
                for entry in entries {
                    // A name that is not Unicode has no path in this program.
                    let Ok(name) = entry.file_name().into_string() else { continue };
                    let path = if path.is_empty() { name } else { format!("{path}/{name}") };
                    // A link to a folder may form a cycle.
                    if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                        if depth < DEEP {
                            open.push((path, depth + 1));
                        }
                        continue;
                    }
                    match fs::metadata(entry.path()) {
                        Ok(meta) if meta.is_file() && below(root, &path).is_some() && taken.insert(path.clone()) => {
                            files.push(LooseFile { folder, path, size: meta.len() });
                        }
                        Err(error) if !is_absent(&error) => {
                            failed.push(Error::io("cannot open", error).context(entry.path().display()));
                        }
                        _ => {}
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

    /// A file in a folder that cannot be searched may hide a file of a later folder.
    #[cfg(unix)]
    #[test]
    fn what_cannot_be_looked_up_is_no_absent_file() {
        let (mods, game) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink("gui", mods.path().join("gui")).unwrap();
        fs::create_dir(game.path().join("gui")).unwrap();
        fs::write(game.path().join("gui/a.xml"), "").unwrap();
        fs::write(game.path().join("b.xml"), "").unwrap();
        let loose = Loose::new([&mods, &game].map(|dir| dir.path().to_owned()).to_vec());
        let error = loose.find("gui/a.xml").unwrap_err().to_string();
        assert!(error.contains("a.xml: cannot open: "), "{error}");
        assert!(loose.find("b.xml").unwrap().is_some() && loose.find("c.xml").unwrap().is_none());
        let [failed] = loose.failed() else { panic!("{:?}", loose.failed()) };
        assert!(failed.to_string().contains("gui: cannot open: "), "{failed}");
        assert!(Loose::new(vec![game.path().join("nothing")]).failed().is_empty());
    }

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
