//! Installed games: the folder of each, as Steam, the game centers and the registry of Windows record it.
//!
//! [`GameTitle::find`] returns the folder that `wows:` and the other prefixes stand for. On Linux and macOS the search
//! includes the prefixes of Wine and Proton. docs/formats/games.md lists the records and their sources.

mod record;
mod steam;
mod system;

pub use record::Record;

use crate::container::MARK;
use crate::error::{Error, ErrorKind, Result};
use crate::source::bounded::Bounded;
use record::RecordLocation;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A game whose files this crate reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GameTitle {
    /// World of Warships, of Wargaming or of Lesta.
    WorldOfWarships,
    /// Space Engineers 2.
    SpaceEngineers2,
    /// FINAL FANTASY XIII.
    FinalFantasy13,
    /// FINAL FANTASY XIII-2.
    FinalFantasy13Part2,
    /// Lightning Returns: FINAL FANTASY XIII.
    LightningReturns,
    /// Rusty Hearts.
    RustyHearts,
}

/// The constants of a game.
struct Facts {
    prefix: &'static str,
    variable: &'static str,
    name: &'static str,
    /// The number of the game at Steam.
    steam_app: u32,
    /// A file or folder that lies in the folder of this game only.
    marker: &'static str,
}

impl GameTitle {
    /// All games.
    pub const ALL: [Self; 6] = [
        Self::WorldOfWarships,
        Self::SpaceEngineers2,
        Self::FinalFantasy13,
        Self::FinalFantasy13Part2,
        Self::LightningReturns,
        Self::RustyHearts,
    ];

    const fn facts(self) -> Facts {
        match self {
            Self::WorldOfWarships => Facts {
                prefix: "wows",
                variable: "ASSETQ_WOWS",
                name: "World of Warships",
                steam_app: 552_990,
                marker: "bin/*/idx",
            },
            Self::SpaceEngineers2 => Facts {
                prefix: "se2",
                variable: "ASSETQ_SE2",
                name: "Space Engineers 2",
                steam_app: 1_133_870,
                marker: "GameData/Vanilla/Content",
            },
            Self::FinalFantasy13 => Facts {
                prefix: "ff13",
                variable: "ASSETQ_FF13",
                name: "FINAL FANTASY XIII",
                steam_app: 292_120,
                marker: "white_data",
            },
            Self::FinalFantasy13Part2 => Facts {
                prefix: "ff13-2",
                variable: "ASSETQ_FF13_2",
                name: "FINAL FANTASY XIII-2",
                steam_app: 292_140,
                marker: "alba_data",
            },
            Self::LightningReturns => Facts {
                prefix: "lr",
                variable: "ASSETQ_LR",
                name: "Lightning Returns: FINAL FANTASY XIII",
                steam_app: 345_350,
                marker: "weiss_data",
            },
            Self::RustyHearts => Facts {
                prefix: "rusty-hearts",
                variable: "ASSETQ_RUSTY_HEARTS",
                name: "Rusty Hearts",
                steam_app: 36_630,
                marker: "f00X.dat",
            },
        }
    }

    /// The word that stands for the game's folder in an address, as in `wows:content`.
    pub const fn prefix(self) -> &'static str {
        self.facts().prefix
    }

    /// The environment variable that names the game's folder.
    pub const fn variable(self) -> &'static str {
        self.facts().variable
    }

    /// The name of the game.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// Whether `folder` holds this game.
    fn is_in(self, folder: &Path) -> bool {
        match self.facts().marker.split_once("/*/") {
            None => folder.join(self.facts().marker).exists(),
            Some((above, below)) => folders_in(&folder.join(above)).iter().any(|one| one.join(below).exists()),
        }
    }

    /// The game that `folder` holds.
    fn of_folder(folder: &Path) -> Option<Self> {
        Self::ALL.into_iter().find(|title| title.is_in(folder))
    }

    /// The folder of this game: the value of its [variable](Self::variable), else the first installation found. The
    /// search runs once in a process.
    ///
    /// # Errors
    /// `NotFound` with the places that were searched, or with the value of the variable if it names no folder.
    pub fn find(self) -> Result<PathBuf> {
        static FOUND: [OnceLock<Option<PathBuf>>; GameTitle::ALL.len()] = [const { OnceLock::new() }; 6];
        if let Some(folder) = self.folder_in_variable() {
            if folder.is_dir() {
                return Ok(folder);
            }
            return Err(self.not_found(&format!("${} is {folder:?}, which is no folder", self.variable())));
        }
        let search = || Search::of_this_machine().installations().find(|found| found.title == self);
        let found = FOUND.iter().zip(Self::ALL).find(|(_, title)| *title == self);
        let folder = found.and_then(|(found, _)| found.get_or_init(|| Some(search()?.folder)).clone());
        folder.ok_or_else(|| self.not_found(&Search::of_this_machine().failure(&[self])))
    }

    fn not_found(self, why: &str) -> Error {
        Error::of_part(ErrorKind::NotFound { what: format!("{} ({why})", self.name()) }, "")
    }

    fn folder_in_variable(self) -> Option<PathBuf> {
        std::env::var_os(self.variable()).filter(|value| !value.is_empty()).map(PathBuf::from)
    }
}

/// An address that begins with the prefix of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GameAddress<'a> {
    pub(crate) title: GameTitle,
    /// The text between `@` and the mark.
    pub(crate) build: Option<&'a str>,
    /// The path in the game's folder, empty for the folder itself.
    pub(crate) inner: &'a str,
}

impl<'a> GameAddress<'a> {
    /// Splits `wows:INNER` or `wows@BUILD:INNER`. Returns `None` for any other text.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (game, inner) = text.split_once(MARK)?;
        let (prefix, build) = game.split_once('@').map_or((game, None), |(prefix, build)| (prefix, Some(build)));
        let title = GameTitle::ALL.into_iter().find(|title| title.prefix() == prefix)?;
        Some(Self { title, build, inner })
    }
}

/// A game found on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The game.
    pub title: GameTitle,
    /// Its folder.
    pub folder: PathBuf,
    /// The kind of record that led to the folder.
    pub found_by: Record,
    /// The file, folder or variable that led to it.
    pub record: String,
    /// The build that Steam recorded.
    pub steam_build: Option<String>,
}

/// A search of one machine.
#[derive(Debug)]
pub struct Search {
    places: Vec<RecordLocation>,
}

impl Search {
    /// The search of this machine, in the order in which records win.
    pub fn of_this_machine() -> Self {
        Self { places: record::places() }
    }

    /// The games named by variables, then those found on this machine. A folder is listed once.
    pub fn installations(&self) -> impl Iterator<Item = Installation> {
        let named = GameTitle::ALL.into_iter().filter_map(|title| {
            let folder = title.folder_in_variable().filter(|folder| folder.is_dir())?;
            let record = format!("${}", title.variable());
            Some(Installation { title, folder, found_by: Record::Variable, record, steam_build: None })
        });
        let mut seen = HashSet::new();
        let found = self.places.iter().flat_map(RecordLocation::installations);
        named.chain(found).filter(move |one| seen.insert(fs::canonicalize(&one.folder).ok()))
    }

    /// The message for games that were not found: the places that were searched, and what to do.
    pub fn failure(&self, wanted: &[GameTitle]) -> String {
        let mut message = "searched ".to_owned();
        for (n, place) in self.places.iter().enumerate() {
            // Writing to a `String` cannot fail.
            let _ = write!(message, "{}{place}", if n == 0 { "" } else { ", " });
        }
        let variables: Vec<&str> = wanted.iter().map(|title| title.variable()).collect();
        let _ = write!(message, "; set {} to the folder of a game", variables.join(" or "));
        message
    }
}

/// The folders in `folder`, in order of name; none if it cannot be read.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort_unstable();
    folders
}

/// The text of a record. Bytes that are not UTF-8 are replaced: they are no part of the syntax. `None` for a file that
/// cannot be read or is larger than any record.
fn text_of(path: &Path) -> Option<String> {
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
    fn an_address_of_a_game_has_a_prefix_and_perhaps_a_build() {
        let parsed = |text| GameAddress::parse(text).map(|at| (at.title.prefix(), at.build, at.inner));
        assert_eq!(parsed("wows:content/a.bin"), Some(("wows", None, "content/a.bin")));
        assert_eq!(parsed("wows@123:"), Some(("wows", Some("123"), "")));
        assert_eq!(parsed("ff13-2:a:b"), Some(("ff13-2", None, "a:b")));
        for other in ["wows", "WOWS:a", "ff14:a", "./wows:a", "C:\\wows:a", ":a", ""] {
            assert_eq!(parsed(other), None, "{other}");
        }
    }
}
