//! The list of the files that a snapshot wrote into the folder of a build. `--force` replaces a folder of listed files only.

use crate::codec;
use crate::source::Source;
use crate::source::bounded::Bounded;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

/// The name of the list, in the folder of the build.
pub(super) const NAME: &str = ".assetq-snapshot";
/// The largest size of a list in bytes: a million files with long paths.
const MOST: u64 = 256 << 20;

/// A line for each file: its CRC-32, its size, and its path below the folder.
#[derive(Debug, Default)]
pub(super) struct Manifest(String);

impl Manifest {
    pub(super) fn add(&mut self, path: &str, bytes: &[u8]) {
        self.0.push_str(&format!("{:08x} {} {path}\n", codec::crc32(bytes), bytes.len()));
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// The first file or link in `folder` that no snapshot wrote, or that was changed since. `folder` itself if it is no folder.
pub(super) fn foreign_file(folder: &Path) -> io::Result<Option<PathBuf>> {
    if !folder.symlink_metadata()?.is_dir() {
        return Ok(Some(folder.to_owned()));
    }
    let list = folder.join(NAME);
    let text = match list.symlink_metadata() {
        Ok(meta) if meta.is_file() => Bounded::new(BufReader::new(File::open(&list)?), MOST).bytes()?,
        Ok(_) => return Ok(Some(list)),
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let text = String::from_utf8_lossy(&text);
    let listed: HashMap<PathBuf, &str> = text.lines().filter_map(|line| file_of(folder, line)).collect();
    let mut folders = Vec::from([folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let meta = path.symlink_metadata()?;
            if meta.is_dir() {
                folders.push(path);
            } else if path != list
                && !(meta.is_file() && listed.get(&path).is_some_and(|line| is_unchanged(&path, line)))
            {
                return Ok(Some(path));
            }
        }
    }
    Ok(None)
}

/// The path of a line, and the rest of the line.
fn file_of<'l>(folder: &Path, line: &'l str) -> Option<(PathBuf, &'l str)> {
    let mut parts = line.match_indices(' ').map(|(at, _)| at);
    let (_, at) = (parts.next()?, parts.next()?);
    let (state, path) = line.split_at_checked(at)?;
    Some((folder.join(path.strip_prefix(' ')?), state))
}

fn is_unchanged(path: &Path, state: &str) -> bool {
    let read = Source::open(path);
    read.is_ok_and(|file| state == format!("{:08x} {}", codec::crc32(file.bytes()), file.bytes().len()))
}
