//! Steam: its libraries and the games in them, from text files in Valve's KeyValues notation.
//!
//! `steamapps/libraryfolders.vdf` lists the libraries; `steamapps/appmanifest_NUMBER.acf` of a library names the folder
//! of one game below `steamapps/common`.

use super::record::{InstallRecord, Installation};
use super::system::{System, folders_in, text_of};
use super::title::GameTitle;
use assetq_core::paths::{CaselessFolder, caseless};
use std::path::{Path, PathBuf};

/// The folders of the libraries of the Steam in `root`, as paths of this machine.
pub(super) fn libraries(root: &Path, system: &System) -> Vec<PathBuf> {
    let mut libraries = vec![root.to_owned()];
    let Some(text) = text_of(&list_of(root)) else { return libraries };
    for (key, value) in pairs(&text) {
        // Before 2021 a library was a pair of a number and a path.
        if key == "path" || (key.bytes().all(|b| b.is_ascii_digit()) && value.contains(['/', '\\'])) {
            libraries.push(system.path_of(&value));
        }
    }
    libraries
}

/// The folder of the games in `library`. Some libraries have `SteamApps`.
pub(super) fn apps_of(library: &Path) -> PathBuf {
    caseless(library, "steamapps")
}

/// The file in which the Steam in `root` lists its libraries.
pub(super) fn list_of(root: &Path) -> PathBuf {
    caseless(&apps_of(root), "libraryfolders.vdf")
}

pub(super) fn installations(library: &Path) -> Vec<Installation> {
    let apps = CaselessFolder::new(apps_of(library));
    let common = CaselessFolder::new(apps.entry("common"));
    let found = GameTitle::ALL.into_iter().filter_map(|title| {
        let manifest = apps.entry(&format!("appmanifest_{}.acf", title.facts().steam_app));
        let pairs = pairs(&text_of(&manifest)?);
        let folder = common.entry(value_of(&pairs, "installdir")?);
        let record = manifest.to_string_lossy().into_owned();
        let steam_build = value_of(&pairs, "buildid").map(str::to_owned);
        Some(Installation { steam_build, ..Installation::in_folder(folder, InstallRecord::Steam, record)? })
    });
    found.collect()
}

fn value_of<'p>(pairs: &'p [(String, String)], wanted: &str) -> Option<&'p str> {
    pairs.iter().find(|(key, _)| key == wanted).map(|(_, value)| value.as_str())
}

/// The prefixes of Wine that Proton made in `library`.
pub(super) fn proton_prefixes(library: &Path) -> Vec<PathBuf> {
    let made = folders_in(&caseless(&apps_of(library), "compatdata"));
    made.into_iter().map(|folder| folder.join("pfx")).filter(|prefix| prefix.is_dir()).collect()
}

/// The pairs of a key and a text, at any depth. Keys are in lower case, as Steam does not tell their cases apart.
fn pairs(text: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut key: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                let mut word = String::new();
                loop {
                    match chars.next() {
                        Some('\\') => word.extend(chars.next()),
                        Some('"') | None => break,
                        Some(c) => word.push(c),
                    }
                }
                match key.take() {
                    Some(key) => pairs.push((key, word)),
                    None => key = Some(word.to_ascii_lowercase()),
                }
            }
            '{' | '}' => key = None,
            '/' => chars.by_ref().take_while(|&c| c != '\n').for_each(drop),
            _ => {}
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_at_any_depth() {
        let text = "// a comment with \"quotes\"\n\"LibraryFolders\"\n{\n\t\"0\"\n\t{\n\t\t\"Path\"\t\t\"D:\\\\Steam \\\"x\\\"\"\n\t\t\
                    \"apps\" { \"552990\" \"7\" }\n\t}\n\t\"1\" \"/mnt/games\"\n}\n";
        let found = pairs(text);
        let found: Vec<_> = found.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(found, [("path", "D:\\Steam \"x\""), ("552990", "7"), ("1", "/mnt/games")]);
    }

    #[test]
    fn a_text_that_is_cut_anywhere_gives_what_is_left() {
        let text = "\"a\" { \"path\" \"C:\\\\x\" // y\n }";
        (0..text.len()).for_each(|end| drop(pairs(&text[..end])));
        assert_eq!(pairs("\"a\" \"b"), [("a".to_owned(), "b".to_owned())]);
    }
}
