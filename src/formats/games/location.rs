//! Places of records of installed games, in the order in which they win.

use super::record::{InstallRecord, Installation};
use super::steam;
use super::system::{System, folders_in, text_of, wine_prefixes};
use std::fmt;
use std::path::{Path, PathBuf};

/// A place of records.
#[derive(Debug)]
pub(super) struct RecordLocation {
    system: System,
    kind: InstallRecord,
    /// The library of Steam, the folder of a game center, the folder of games, or the prefix whose registry it is.
    path: PathBuf,
}

impl RecordLocation {
    /// The games that the records in this place name.
    pub(super) fn installations(&self) -> Vec<Installation> {
        let folders = match self.kind {
            InstallRecord::Variable => Vec::new(),
            InstallRecord::Steam => return steam::installations(&self.path),
            InstallRecord::Folder => folders_in(&self.path),
            InstallRecord::Registry => {
                self.system.registry().programs.iter().map(|path| self.system.path_of(path)).collect()
            }
            InstallRecord::Wargaming | InstallRecord::Lesta => {
                let named = game_center(&self.path).into_iter().filter_map(|(path, record)| {
                    let record = record.to_string_lossy().into_owned();
                    Installation::in_folder(self.system.path_of(&path), self.kind, record)
                });
                return named.collect();
            }
        };
        let folders = folders.into_iter();
        folders.filter_map(|folder| Installation::in_folder(folder, self.kind, self.to_string())).collect()
    }
}

impl fmt::Display for RecordLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, &self.system) {
            (InstallRecord::Registry, System::This) => f.write_str("the registry"),
            (InstallRecord::Registry, System::Wine(prefix)) => write!(f, "the registry of {}", prefix.display()),
            (InstallRecord::Steam, _) => steam::apps_of(&self.path).display().fmt(f),
            _ => self.path.display().fmt(f),
        }
    }
}

/// The folders that a game center in `data` manages, each with the file that names it: the only line of
/// `apps/GAME/HASH`, and `<working_dir>` in `preferences.xml`.
fn game_center(data: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for app in folders_in(&data.join("apps")) {
        for entry in std::fs::read_dir(app).into_iter().flatten().flatten() {
            let Some(text) = text_of(&entry.path()) else { continue };
            if let Some(line) = text.trim_start_matches('\u{feff}').lines().next().filter(|line| !line.is_empty()) {
                found.push((line.trim().to_owned(), entry.path()));
            }
        }
    }
    // Folders are listed in no order.
    found.sort_unstable();
    let preferences = data.join("preferences.xml");
    let Some(text) = text_of(&preferences) else { return found };
    for part in text.split("<working_dir>").skip(1) {
        let folder = part.split_once("</working_dir>").map_or(part, |(folder, _)| folder).trim();
        // `&` is the only character of a path of Windows that XML escapes.
        found.push((folder.replace("&amp;", "&"), preferences.clone()));
    }
    found
}

pub(super) fn places() -> Vec<RecordLocation> {
    let mut places = Vec::new();
    let home = std::env::home_dir();
    let mut systems = vec![System::This];
    if let Some(home) = home.as_deref().filter(|_| !cfg!(windows)) {
        systems.extend(wine_prefixes(home).into_iter().map(System::Wine));
    }
    let mut n = 0;
    while let Some(system) = systems.get(n).cloned() {
        for root in steam_roots(&system, home.as_deref()) {
            for library in steam::libraries(&root, &system) {
                // A prefix of Proton is one more Windows, and has no Steam of its own that lists others.
                if matches!(system, System::This) && !cfg!(windows) {
                    systems.extend(steam::proton_prefixes(&library).into_iter().map(System::Wine));
                }
                places.push(RecordLocation { system: system.clone(), kind: InstallRecord::Steam, path: library });
            }
        }
        if system.is_windows() {
            let data = system.program_data();
            for (kind, owner) in [(InstallRecord::Wargaming, "Wargaming.net"), (InstallRecord::Lesta, "Lesta")] {
                places.push(RecordLocation { system: system.clone(), kind, path: data.join(owner).join("GameCenter") });
            }
            places.push(RecordLocation { system: system.clone(), kind: InstallRecord::Registry, path: PathBuf::new() });
            // The folder that both game centers suggest.
            let path = system.path_of(r"C:\Games");
            places.push(RecordLocation { system: system.clone(), kind: InstallRecord::Folder, path });
        }
        n = n.saturating_add(1);
    }
    let mut seen = std::collections::HashSet::new();
    places.retain(|place| place.path.as_os_str().is_empty() || seen.insert((place.kind.name(), real(&place.path))));
    places
}

/// A path as the system spells it, so that links to one folder are one place.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The folders in which a Steam of `system` may be. The first is where it is installed unless the user chooses another.
fn steam_roots(system: &System, home: Option<&Path>) -> Vec<PathBuf> {
    if system.is_windows() {
        let suggested = system.path_of(r"C:\Program Files (x86)\Steam");
        let recorded = system.registry().steam.into_iter().map(|path| system.path_of(&path));
        return [suggested].into_iter().chain(recorded).collect();
    }
    let below: &[&str] = if cfg!(target_os = "macos") {
        &["Library/Application Support/Steam"]
    } else {
        // Debian's package, Valve's, Flatpak's and Snap's.
        &[
            ".local/share/Steam",
            ".steam/steam",
            ".steam/root",
            ".var/app/com.valvesoftware.Steam/.local/share/Steam",
            "snap/steam/common/.local/share/Steam",
        ]
    };
    home.into_iter().flat_map(|home| below.iter().map(|path| home.join(path))).collect()
}
