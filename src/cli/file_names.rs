//! Names of files from untrusted sources.

use super::{Exit, Failure};
use crate::atomic_file;
use crate::paths::{is_device, joined};
use crate::threads::lock;
use crate::write::text::escape;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Refuses a path of the archive `archive`, with `/` between its names, that is unfit for a file. `done` is the participle for
/// the message: "written", "extracted".
pub(super) fn check_fit(path: &str, archive: &str, done: &str) -> Result<(), Failure> {
    let why = if path.len() > LONGEST { Some("it is too long") } else { path.split('/').find_map(unfit) };
    why.map_or(Ok(()), |why| {
        let what = format!("{archive}: {path:?} is not {done}, as its name is not fit for a file: {why}");
        Err(Failure::new(Exit::Damaged, what))
    })
}

/// The greatest size of a path in bytes that every system supports.
const LONGEST: usize = 4000;

/// Why a name from a file is unfit as a file name in the user's folder, on this system or another one that may read the
/// folder; `None` if it is fit. An unfit name is refused, never rewritten, because no user would find the entry under
/// another name.
fn unfit(name: &str) -> Option<&'static str> {
    Some(match name {
        "" => "an empty name",
        "." | ".." => "it leads out of the folder",
        name if name.contains(['/', '\\']) => "it leads into another folder",
        name if escape(name) != name => "it has control characters",
        name if name.contains([':', '*', '?', '"', '<', '>', '|']) => "Windows has no such names",
        name if name.ends_with(['.', ' ']) => "Windows drops a dot or a blank at the end",
        name if is_device(name) => "it is a device on Windows",
        name if name.len() > 255 => "it is too long",
        _ => return None,
    })
}

/// A folder that receives files under paths from untrusted archives. It may already contain links: the author of an
/// archive and a folder could lead a file of the archive through a link of the folder.
///
/// A link that another program creates between the check and the write is not detected.
#[derive(Debug)]
pub(super) struct Inside<'f> {
    folder: &'f Path,
    /// Folders below it that were looked at.
    seen: Mutex<HashSet<PathBuf>>,
}

impl<'f> Inside<'f> {
    pub(super) fn new(folder: &'f Path) -> Self {
        Self { folder, seen: Mutex::default() }
    }

    /// Checks that the file `to`, whose `path` in the folder consists of fit names, would be inside of the folder, and would be a file.
    pub(super) fn check(&self, path: &str, to: &Path) -> Result<(), Failure> {
        for (end, _) in path.match_indices('/') {
            let at = joined(self.folder, &path[..end]);
            if lock(&self.seen).contains(&at) {
                continue;
            }
            match fs::symlink_metadata(&at) {
                // From here on folders are created.
                Err(_) => return Ok(()),
                Ok(meta) if meta.is_symlink() && self.leads_out(&at) => {
                    let what = format!("the link {} leads out of {}", at.display(), self.folder.display());
                    return Err(Failure::new(Exit::Io, format!("{}: {what}", to.display())));
                }
                Ok(_) => drop(lock(&self.seen).insert(at)),
            }
        }
        // A link to a stream would be written through; a link to a file is itself replaced.
        if atomic_file::is_stream(to) {
            return Err(Failure::new(Exit::Io, format!("{}: it exists and is no file", to.display())));
        }
        Ok(())
    }

    /// Whether `link` leads out of the folder, or nowhere.
    fn leads_out(&self, link: &Path) -> bool {
        let (Ok(folder), Ok(end)) = (self.folder.canonicalize(), link.canonicalize()) else { return true };
        !end.starts_with(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_some_system_takes_for_something_else() {
        let long =
            ["a.txt:stream", "con.tar.gz", "COM1", "com9.wdb", "\u{202e}gnp.exe", "zero\u{200b}width", "a\x1b[31m"];
        let short = [
            "", ".", "..", "../up", "a/b", "a\\b", "/etc", "a:b", "a*", "a?", "a|b", "a\"", "<a>", "end.", "end ",
            "NUL", "nul.txt", "Con", "aux .x", "LPT²", "CONIN$", "a\nb",
        ];
        for name in long.into_iter().chain(short) {
            assert!(unfit(name).is_some(), "{name:?}");
        }
        assert!(unfit(&"a".repeat(256)).is_some());
        for name in
            ["a", "bt_chainbonus.wdb", "console", "COM10", "nullable.txt", "a b", ".hidden", "日本.wdb", "~%1", "a..b"]
        {
            assert_eq!(unfit(name), None, "{name:?}");
        }
    }
}
