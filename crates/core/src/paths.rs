//! Paths as people write them on this system, and paths in archives, whose names have `/` between them.

use crate::bytes::shown;
use crate::source::metadata_if_present;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// `path` as tables show it: bytes that are not UTF-8 as `\xff`.
pub fn shown_path(path: &Path) -> Cow<'_, str> {
    shown(path.as_os_str().as_encoded_bytes())
}

/// `path` of an archive below `folder`, with the separators of this system.
pub fn joined(folder: &Path, path: &str) -> PathBuf {
    let mut joined = folder.to_owned();
    joined.extend(path.split('/'));
    joined
}

/// Whether `path` is a URL of a file on a server, and no file on this machine has this name.
pub fn is_url(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|text| text.split_once("://")).map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| ["https", "http", "s3"].iter().any(|known| scheme.eq_ignore_ascii_case(known)))
        && path.symlink_metadata().is_err()
}

/// A folder in which names are found in any letter case, as on Windows. Games that were copied from there to Linux may have
/// names in another case than the one that their program uses.
#[derive(Debug)]
pub struct CaselessFolder {
    path: PathBuf,
    /// The names in the folder by their lower case, listed when the first exact name is absent.
    names: OnceLock<BTreeMap<OsString, OsString>>,
}

impl CaselessFolder {
    /// The folder at `path`, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), names: OnceLock::new() }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the entry `name`. If that name is absent, the path of an entry whose name differs in the case of ASCII
    /// letters only; the first one in the order of bytes, if several do.
    pub fn entry(&self, name: &str) -> PathBuf {
        let exact = self.path.join(name);
        if !matches!(metadata_if_present(&exact), Ok(None)) {
            return exact;
        }
        let names = self.names.get_or_init(|| self.listed());
        names.get(&*OsStr::new(name).to_ascii_lowercase()).map_or(exact, |name| self.path.join(name))
    }

    fn listed(&self) -> BTreeMap<OsString, OsString> {
        let folder = if self.path.as_os_str().is_empty() { Path::new(".") } else { &self.path };
        let mut names: Vec<OsString> =
            folder.read_dir().into_iter().flatten().flatten().map(|e| e.file_name()).collect();
        // A later pair with the same key replaces an earlier one.
        names.sort_unstable_by(|a, b| b.cmp(a));
        names.into_iter().map(|name| (name.to_ascii_lowercase(), name)).collect()
    }
}

/// `path` below `folder`, each name in any letter case (see [`CaselessFolder::entry`]).
pub fn caseless(folder: &Path, path: &str) -> PathBuf {
    let mut found = folder.to_owned();
    let mut rest = Some(path);
    while let Some(path) = rest {
        let (name, after) = path.split_once('/').map_or((path, None), |(name, after)| (name, Some(after)));
        let entry = CaselessFolder::new(&*found).entry(name);
        // Nothing exists below an absent name.
        if matches!(metadata_if_present(&entry), Ok(None)) {
            return joined(&found, path);
        }
        (found, rest) = (entry, after);
    }
    found
}

/// A glob over paths of an archive. On Windows `\` separates names, as everywhere there, and `[*]` stands for a star.
pub fn glob_of(text: &str) -> Cow<'_, str> {
    if cfg!(windows) { slashed(text).map_or(Cow::Borrowed(text), Cow::Owned) } else { Cow::Borrowed(text) }
}

/// `path` with `/` in place of `\`. `None` if it has no `\`.
pub fn slashed(path: &str) -> Option<String> {
    path.contains('\\').then(|| path.replace('\\', "/"))
}

/// The names in a path for which files are looked up near a folder. Real paths have at most ten.
const NAMES: usize = 16;

/// The file near `folder` that another file states as `path`. The folder of a mod has any place: the file is at `path`, or at an end of
/// it with two names or more, below `folder` or a folder above it; or it lies in `folder`, or above it if it is a folder of levels.
pub fn file_near(folder: &Path, path: &str) -> Option<PathBuf> {
    let (stated, name) = path.rsplit_once('/').unwrap_or(("", path));
    file_in(&folders_near(folder, stated), name)
}

/// The first file called `name` in one of these folders.
pub fn file_in(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let mut files = folders.iter().filter(|_| is_plain(name)).map(|folder| folder.join(name));
    files.find(|path| path.is_file())
}

/// Whether a name of a file or folder leads nowhere else: neither by `..`, nor by a character that some systems take for a separator.
pub fn is_plain(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['\\', ':', '\0'])
}

/// The folders in which [`file_near`] looks for the files of the folder `stated`, those that exist.
pub fn folders_near(folder: &Path, stated: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let is_real = stated.split('/').all(is_plain) && stated.split('/').count() < NAMES;
    let mut end = Some(stated).filter(|_| is_real);
    while let Some(names) = end {
        found.extend(folder.ancestors().map(|above| joined(above, names)).filter(|path| path.is_dir()));
        end = names.split_once('/').map(|(_, names)| names);
    }
    if is_real || stated.is_empty() {
        found.push(folder.to_owned());
        found.extend(folder.parent().filter(|_| folder.ends_with("lods")).map(Path::to_owned));
    }
    found
}

/// The `.dds` that games read in place of a `.tga`, which older materials name.
pub fn texture_in_place_of(path: &str) -> Option<String> {
    path.strip_suffix(".tga").map(|stem| format!("{stem}.dds"))
}

/// The file that `path` leads to, links followed. Windows writes such paths with `\\?\` before them, which few people
/// know and few programs take.
pub fn resolved(path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    Some(real.to_str().and_then(plain).unwrap_or(real))
}

/// A path of Windows without `\\?\` before its drive or its server.
fn plain(path: &str) -> Option<PathBuf> {
    let path = path.strip_prefix(r"\\?\")?;
    match path.strip_prefix(r"UNC\") {
        Some(shared) => Some(format!(r"\\{shared}").into()),
        None => path.get(1..3).filter(|drive| *drive == r":\").map(|_| path.into()),
    }
}

/// `path` as the system takes it at any length: on Windows absolute and with `\\?\`, without which a path has at most 260 characters.
/// The standard library does so by itself; other libraries do not.
pub fn unlimited(path: &Path) -> Cow<'_, Path> {
    let long = cfg!(windows).then(|| std::path::absolute(path).ok().and_then(|path| verbatim(path.to_str()?)));
    long.flatten().map_or(Cow::Borrowed(path), Cow::Owned)
}

/// The opposite of [`plain`], for an absolute path; `None` for one that has such a prefix, and for a device.
fn verbatim(path: &str) -> Option<PathBuf> {
    match path.strip_prefix(r"\\") {
        Some(rest) if rest.starts_with(['?', '.']) => None,
        Some(shared) => Some(format!(r"\\?\UNC\{shared}").into()),
        None => path.get(1..3).filter(|drive| *drive == r":\").map(|_| format!(r"\\?\{path}").into()),
    }
}

/// The path in an environment variable; `None` if it is not set or empty. `set X="C:\my games"` of Windows makes the quotes a part of
/// the value.
pub fn of_variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(unquoted).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// `value` without the quotes around it.
fn unquoted(value: OsString) -> OsString {
    let inner = value.to_str().and_then(|text| text.strip_prefix('"')?.strip_suffix('"')).map(OsString::from);
    inner.unwrap_or(value)
}

/// Whether Windows opens a device in place of a file at `path`, as with `--to NUL`.
pub fn is_device_path(path: &Path) -> bool {
    let name = path.to_str().map(|text| text.strip_prefix(r"\\.\").unwrap_or(text));
    cfg!(windows) && name.is_some_and(|name| is_device(name) && !name.contains('.'))
}

/// Names of devices on Windows, with any extension.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

/// Whether Windows takes a name for a device, whatever its extension.
pub fn is_device(name: &str) -> bool {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem).trim_end_matches(' ').to_ascii_uppercase();
    let port = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    DEVICES.contains(&&*stem)
        || port.is_some_and(|port| {
            matches!(port, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_windows_has_a_form_without_a_limit() {
        for (given, long) in [
            (r"C:\a\b.bin", Some(r"\\?\C:\a\b.bin")),
            (r"\\nas\share\b.bin", Some(r"\\?\UNC\nas\share\b.bin")),
            (r"\\?\Z:\b.bin", None),
            (r"\\.\NUL", None),
            (r"\b.bin", None),
        ] {
            let found = verbatim(given);
            assert_eq!(found.as_deref(), long.map(Path::new), "{given}");
            if let Some(long) = long {
                assert_eq!(plain(long).as_deref(), Some(Path::new(given)));
            }
        }
    }

    #[test]
    fn quotes_of_a_variable_are_no_part_of_its_path() {
        for (value, path) in [("\"C:\\my games\"", "C:\\my games"), ("\"", "\""), ("a\"b", "a\"b"), ("\"\"", "")] {
            assert_eq!(unquoted(value.into()), path);
        }
    }

    #[test]
    fn names_are_joined_with_the_separators_of_the_system() {
        let expected: PathBuf = ["out", "a", "b.txt"].iter().collect();
        assert_eq!(joined(Path::new("out"), "a/b.txt").into_os_string(), expected.into_os_string());
    }

    #[test]
    fn a_name_in_another_case_is_found_unless_the_exact_one_exists() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("BIN/Idx")).unwrap();
        let found = |path: &str| caseless(folder.path(), path).strip_prefix(folder.path()).unwrap().to_owned();
        // On Windows the exact path is found, and returned as it was given.
        let lower = if cfg!(windows) { "bin/idx" } else { "BIN/Idx" };
        assert_eq!(found("bin/idx"), Path::new(lower));
        assert_eq!(found("bin/absent/x"), Path::new(lower).parent().unwrap().join("absent/x"));
        if cfg!(target_os = "linux") {
            std::fs::create_dir(folder.path().join("BIN/IDX")).unwrap();
            assert_eq!(found("bin/idx"), Path::new("BIN/IDX"));
            std::fs::create_dir(folder.path().join("BIN/idx")).unwrap();
            assert_eq!(found("BIN/idx"), Path::new("BIN/idx"));
        }
    }

    #[test]
    fn only_windows_takes_a_backslash_in_a_glob_for_a_separator() {
        assert_eq!(glob_of(r"a\*.bin"), if cfg!(windows) { "a/*.bin" } else { r"a\*.bin" });
    }

    #[test]
    fn a_path_of_windows_loses_its_prefix() {
        assert_eq!(plain(r"\\?\C:\games\x"), Some(r"C:\games\x".into()));
        assert_eq!(plain(r"\\?\UNC\host\share\x"), Some(r"\\host\share\x".into()));
        for other in [r"C:\games", r"\\?\Volume{1}\x", "/home/x", r"\\?\"] {
            assert_eq!(plain(other), None, "{other}");
        }
    }
}
