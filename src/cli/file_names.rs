//! Names of files from untrusted sources.

use crate::atomic_file;
use crate::write::text::escape;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Names of devices on Windows, with any extension.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

/// As [`unfit`], of a path with `/` between its names.
pub(super) fn unfit_path(path: &str) -> Option<&'static str> {
    if path.len() > LONGEST {
        return Some("it is too long");
    }
    path.split('/').find_map(unfit)
}

/// The greatest size of a path in bytes that every system supports.
const LONGEST: usize = 4000;

/// Why a name from a file is unfit as a file name in the user's folder, on this system or another one that may read the
/// folder; `None` if it is fit. An unfit name is refused, never rewritten, because no user would find the entry under
/// another name.
fn unfit(name: &str) -> Option<&'static str> {
    let device = |stem: &str| {
        let stem = stem.trim_end_matches(' ').to_ascii_uppercase();
        let port = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
        let numbered =
            |port: &str| matches!(port, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³");
        DEVICES.contains(&&*stem) || port.is_some_and(numbered)
    };
    let stem = name.split('.').next().unwrap_or_default();
    Some(match name {
        "" => "an empty name",
        "." | ".." => "it leads out of the folder",
        name if name.contains(['/', '\\']) => "it leads into another folder",
        name if escape(name) != name => "it has control characters",
        name if name.contains([':', '*', '?', '"', '<', '>', '|']) => "Windows has no such names",
        name if name.ends_with(['.', ' ']) => "Windows drops a dot or a blank at the end",
        _ if device(stem) => "it is a device on Windows",
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

    /// Checks that a file at `path`, which consists of fit names, would be inside of the folder, and would be a file.
    ///
    /// # Errors
    /// The obstacle, as words that follow its name.
    pub(super) fn check(&self, path: &str) -> Result<(), String> {
        let mut at = self.folder.to_owned();
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            at.push(name);
            if names.peek().is_none() {
                // A link to a stream would be written through; a link to a file is itself replaced.
                return if atomic_file::is_stream(&at) { Err("it exists and is no file".to_owned()) } else { Ok(()) };
            }
            if self.seen().contains(&at) {
                continue;
            }
            match fs::symlink_metadata(&at) {
                // From here on folders are created.
                Err(_) => return Ok(()),
                Ok(meta) if meta.is_symlink() && self.leads_out(&at) => {
                    return Err(format!("the link {} leads out of {}", at.display(), self.folder.display()));
                }
                Ok(_) => drop(self.seen().insert(at.clone())),
            }
        }
        Ok(())
    }

    fn seen(&self) -> impl std::ops::DerefMut<Target = HashSet<PathBuf>> + '_ {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
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
        for name in [
            "",
            ".",
            "..",
            "../up",
            "a/b",
            "a\\b",
            "/etc",
            "a:b",
            "a.txt:stream",
            "a*",
            "a?",
            "a|b",
            "a\"",
            "<a>",
            "end.",
            "end ",
            "NUL",
            "nul.txt",
            "Con",
            "con.tar.gz",
            "aux .x",
            "COM1",
            "com9.wdb",
            "LPT²",
            "CONIN$",
            "a\nb",
            "a\x1b[31m",
            "\u{202e}gnp.exe",
            "zero\u{200b}width",
        ] {
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
