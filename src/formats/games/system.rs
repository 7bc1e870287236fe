//! This machine, and each Windows that Wine or Proton keeps in a folder of it.

use assetq_core::paths::caseless;
use assetq_core::source::bounded::Bounded;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// A system whose records are read.
#[derive(Debug, Clone)]
pub(super) enum System {
    /// The system that this program runs on.
    This,
    /// A prefix of Wine: a Windows in a folder.
    Wine(PathBuf),
}

/// The keys of the registry that hold a folder of Steam, and the names of the values.
const STEAM: [(&str, &str); 3] = [
    (r"Software\Valve\Steam", "SteamPath"),
    (r"Software\Valve\Steam", "InstallPath"),
    (r"Software\Wow6432Node\Valve\Steam", "InstallPath"),
];

/// The keys of the registry that have one key below them for each installed program.
const UNINSTALL: [&str; 2] = [
    r"Software\Microsoft\Windows\CurrentVersion\Uninstall",
    r"Software\Wow6432Node\Microsoft\Windows\CurrentVersion\Uninstall",
];

/// The value of such a key that names the program's folder.
const LOCATION: &str = "InstallLocation";

/// Folders that a registry names, as Windows writes them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Registry {
    pub(super) steam: Vec<String>,
    pub(super) programs: Vec<String>,
}

impl System {
    /// The path on this machine of `path`, which this system wrote: an installer may have put it in quotes, or in terms of variables.
    pub(super) fn path_of(&self, path: &str) -> PathBuf {
        let path = &*expanded(path.trim().trim_matches('"'), |name| self.variable(name));
        // Steam writes `/` in the registry of Windows: the parts are joined with the separator of the system.
        let Self::Wine(prefix) = self else { return Path::new(path).components().collect() };
        let (drive, path) = match path.split_once(':') {
            Some((drive, path)) => (drive.to_ascii_lowercase(), path),
            None => ("c".to_owned(), path),
        };
        let path = path.replace('\\', "/");
        let linked = prefix.join("dosdevices").join(format!("{drive}:"));
        let root = if drive == "c" && !linked.exists() { prefix.join("drive_c") } else { linked };
        // Wine looks names up in any letter case, and Steam writes the names of its folder in lower case.
        caseless(&root, path.trim_matches('/'))
    }

    /// Whether this system has a registry and drives with letters.
    pub(super) fn is_windows(&self) -> bool {
        matches!(self, Self::Wine(_)) || cfg!(windows)
    }

    /// The folder for data of all users.
    pub(super) fn program_data(&self) -> PathBuf {
        let variable = matches!(self, Self::This).then(|| std::env::var_os("ProgramData")).flatten();
        variable.map_or_else(|| self.path_of(r"C:\ProgramData"), PathBuf::from)
    }

    /// A variable of the environment of this system.
    fn variable(&self, name: &str) -> Option<String> {
        /// Of every Windows that Wine makes.
        const OF_WINE: [(&str, &str); 6] = [
            ("ProgramData", r"C:\ProgramData"),
            ("ProgramFiles", r"C:\Program Files"),
            ("ProgramFiles(x86)", r"C:\Program Files (x86)"),
            ("ProgramW6432", r"C:\Program Files"),
            ("PUBLIC", r"C:\users\Public"),
            ("SystemDrive", "C:"),
        ];
        match self {
            Self::This => std::env::var(name).ok(),
            Self::Wine(_) => {
                let found = OF_WINE.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
                found.map(|(_, value)| (*value).to_owned())
            }
        }
    }

    pub(super) fn registry(&self) -> Registry {
        match self {
            Self::This => native::registry(),
            Self::Wine(prefix) => {
                let mut found = Registry::default();
                let files = ["user.reg", "system.reg"].map(|file| text_of(&prefix.join(file)));
                files.iter().flatten().for_each(|text| found.read(text));
                found
            }
        }
    }
}

impl Registry {
    /// Adds the folders that `text` names, a file of Wine's registry: `[Key\\Below] TIME`, then lines `"Name"="text"`, or
    /// `"Name"=str(2):"text"` for a text with variables.
    fn read(&mut self, text: &str) {
        let mut key = String::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix('[') {
                key = rest.split_once(']').map_or(rest, |(key, _)| key).replace(r"\\", r"\");
            } else if let Some((name, value)) = line.strip_prefix('"').and_then(|rest| rest.split_once("\"="))
                && let Some(value) = value.strip_prefix("str(2):").unwrap_or(value).strip_prefix('"')
                && let Some(value) = value.strip_suffix('"')
            {
                self.add(&key, name, unescaped(value));
            }
        }
    }

    fn add(&mut self, key: &str, name: &str, value: String) {
        let is_program = UNINSTALL.iter().any(|of| {
            let parts = key.split_at_checked(of.len());
            parts.is_some_and(|(front, rest)| front.eq_ignore_ascii_case(of) && rest.starts_with('\\'))
        });
        if STEAM.iter().any(|(of, wanted)| key.eq_ignore_ascii_case(of) && name.eq_ignore_ascii_case(wanted)) {
            self.steam.push(value);
        } else if name.eq_ignore_ascii_case(LOCATION) && is_program && !value.is_empty() {
            self.programs.push(value);
        }
    }
}

/// `text` with the values of the variables that it names, as in `%ProgramFiles%\Steam`. A `%` of a name that `value` does not know stays.
fn expanded(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((front, after)) = rest.split_once('%') {
        let named = after.split_once('%').and_then(|(name, after)| Some((value(name)?, after)));
        let (added, after) = named.unwrap_or_else(|| ("%".to_owned(), after));
        out.push_str(front);
        out.push_str(&added);
        rest = after;
    }
    out + rest
}

/// A text of Wine's registry: `\\`, `\"`, and `\x` with up to four hexadecimal digits for other characters.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((front, after)) = rest.split_once('\\') {
        plain.push_str(front);
        let mut chars = after.chars();
        match chars.next() {
            Some('x') => {
                let digits = chars.as_str().bytes().take(4).take_while(u8::is_ascii_hexdigit).count();
                let (number, left) = chars.as_str().split_at(digits);
                plain.extend(u32::from_str_radix(number, 16).ok().and_then(char::from_u32));
                rest = left;
            }
            other => {
                plain.extend(other);
                rest = chars.as_str();
            }
        }
    }
    plain + rest
}

#[cfg(windows)]
mod native {
    use super::{LOCATION, Registry, STEAM, UNINSTALL};
    use windows_registry::{CURRENT_USER, LOCAL_MACHINE};

    pub(super) fn registry() -> Registry {
        let mut found = Registry::default();
        for hive in [CURRENT_USER, LOCAL_MACHINE] {
            found.steam.extend(STEAM.iter().filter_map(|(key, name)| hive.open(key).ok()?.get_string(name).ok()));
            for key in UNINSTALL {
                let Ok(programs) = hive.open(key) else { continue };
                let Ok(names) = programs.keys() else { continue };
                let folders = names.filter_map(|name| programs.open(name).ok()?.get_string(LOCATION).ok());
                found.programs.extend(folders.filter(|folder| !folder.is_empty()));
            }
        }
        found
    }
}

#[cfg(not(windows))]
mod native {
    pub(super) fn registry() -> super::Registry {
        super::Registry::default()
    }
}

/// The prefixes of Wine below the home folder of this user, where Wine itself and the programs that manage prefixes
/// keep them.
pub(super) fn wine_prefixes(home: &Path) -> Vec<PathBuf> {
    /// Prefixes, and with `/*` folders of prefixes.
    const KNOWN: [&str; 8] = [
        ".wine",
        "Games/*",
        "Games/Heroic/Prefixes/*",
        "Games/Heroic/Prefixes/default/*",
        ".local/share/bottles/bottles/*",
        ".var/app/com.usebottles.bottles/data/bottles/bottles/*",
        "Library/Application Support/Wargaming.net Game Center/Bottles/*",
        "Library/Application Support/CrossOver/Bottles/*",
    ];
    let set = std::env::var_os("WINEPREFIX").filter(|value| !value.is_empty()).map(PathBuf::from);
    let known = KNOWN.iter().flat_map(|known| match known.strip_suffix("/*") {
        Some(folder) => folders_in(&home.join(folder)),
        None => vec![home.join(known)],
    });
    set.into_iter().chain(known).filter(|prefix| prefix.join("drive_c").is_dir()).collect()
}

/// The folders in `folder`, in order of name; none if it cannot be read.
pub(super) fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort_unstable();
    folders
}

/// The text of a record. Bytes that are not UTF-8 are replaced: they are no part of the syntax. `None` for a file that
/// cannot be read or is larger than any record.
pub(super) fn text_of(path: &Path) -> Option<String> {
    const MOST: u64 = 64 << 20;
    if !path.is_file() {
        return None;
    }
    let bytes = Bounded::new(BufReader::new(fs::File::open(path).ok()?), MOST).bytes().ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_read_from_a_registry_of_wine() {
        let text = r#"WINE REGISTRY Version 2
[Software\\Valve\\Steam] 1700000000
"Language"="english"
"SteamPath"="c:/program files (x86)/steam"

[Software\\Microsoft\\Windows\\CurrentVersion\\Uninstall\\WOWS.WW.PRODUCTION] 1700000000
"InstallLocation"="C:\\Games\\Schiffe \x4e00\""
"NoModify"=dword:00000001

[Software\\Microsoft\\Windows\\CurrentVersion\\UninstallOther\\x]
"InstallLocation"="C:\\no"
"#;
        let mut found = Registry::default();
        found.read(text);
        assert_eq!(found.steam, ["c:/program files (x86)/steam"]);
        assert_eq!(found.programs, ["C:\\Games\\Schiffe 一\""]);
        for cut in (0..text.len()).filter(|&n| text.is_char_boundary(n)) {
            Registry::default().read(&text[..cut]);
        }
        assert_eq!(unescaped(r"a\xd800\x\"), "a");
    }

    #[test]
    fn variables_and_quotes_of_a_path_in_the_registry_are_read() {
        let text = r#"[Software\\Valve\\Steam] 1
"InstallPath"=str(2):"%ProgramFiles(x86)%\\Steam"
[Software\\Microsoft\\Windows\\CurrentVersion\\Uninstall\\x] 1
"InstallLocation"="\"C:\\Games\\x\""
"#;
        let mut found = Registry::default();
        found.read(text);
        assert_eq!(found.steam, [r"%ProgramFiles(x86)%\Steam"]);
        let prefix = tempfile::tempdir().unwrap();
        let system = System::Wine(prefix.path().to_owned());
        let below = |path: &str| prefix.path().join("drive_c").join(path);
        assert_eq!(system.path_of(&found.steam[0]), below("Program Files (x86)/Steam"));
        assert_eq!(system.path_of(&found.programs[0]), below("Games/x"));
        assert_eq!(system.path_of(r"%systemdrive%\100%\50%"), below("100%/50%"));
    }

    // Wine is looked into from other systems only.
    #[cfg(not(windows))]
    #[test]
    fn a_path_of_wine_lies_below_its_drive() {
        let prefix = tempfile::tempdir().unwrap();
        let system = System::Wine(prefix.path().to_owned());
        assert_eq!(system.path_of(r"C:\Games\x\"), prefix.path().join("drive_c/Games/x"));
        assert_eq!(system.path_of("/Games"), prefix.path().join("drive_c/Games"));
        assert_eq!(system.path_of("Z:/mnt"), prefix.path().join("dosdevices/z:/mnt"));
    }
}
