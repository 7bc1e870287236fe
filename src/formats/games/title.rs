//! The known games.

use super::system::folders_in;
use assetq_core::{Error, ErrorKind};
use std::path::{Path, PathBuf};

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
pub(super) struct Facts {
    prefix: &'static str,
    variable: &'static str,
    name: &'static str,
    /// The number of the game at Steam.
    pub(super) steam_app: u32,
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

    pub(super) const fn facts(self) -> Facts {
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
    pub(super) fn is_in(self, folder: &Path) -> bool {
        match self.facts().marker.split_once("/*/") {
            None => folder.join(self.facts().marker).exists(),
            Some((above, below)) => folders_in(&folder.join(above)).iter().any(|one| one.join(below).exists()),
        }
    }

    /// The game that `folder` holds.
    pub(super) fn of_folder(folder: &Path) -> Option<Self> {
        Self::ALL.into_iter().find(|title| title.is_in(folder))
    }

    pub(super) fn not_found(self, why: &str) -> Error {
        Error::of_part(ErrorKind::NotFound { what: format!("{} was not found: {why}", self.name()) }, "")
    }

    pub(super) fn folder_in_variable(self) -> Option<PathBuf> {
        std::env::var_os(self.variable()).filter(|value| !value.is_empty()).map(PathBuf::from)
    }
}
