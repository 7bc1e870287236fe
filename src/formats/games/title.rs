//! The known games.

use super::system::folders_in;
use assetq_core::archive::Prefix;
use assetq_core::paths::{caseless, of_variable};
use assetq_core::{Error, ErrorKind};
use std::path::{Path, PathBuf};

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

macro_rules! games {
    ($(
        $(#[$about:meta])*
        $title:ident: $prefix:literal, $variable:literal, $name:literal, $steam_app:literal, $marker:literal;
    )+) => {
        /// A game whose files this crate reads.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum GameTitle {
            $($(#[$about])* $title,)+
        }

        /// The prefix of each game, for addresses.
        pub const PREFIXES: &[Prefix] = &[$(Prefix { name: $prefix, folder: || GameTitle::$title.find() },)+];

        impl GameTitle {
            /// All games.
            pub const ALL: [Self; PREFIXES.len()] = [$(Self::$title,)+];

            pub(super) const fn facts(self) -> Facts {
                match self {
                    $(Self::$title => Facts {
                        prefix: $prefix,
                        variable: $variable,
                        name: $name,
                        steam_app: $steam_app,
                        marker: $marker,
                    },)+
                }
            }
        }
    };
}

games! {
    /// World of Warships, of Wargaming or of Lesta.
    WorldOfWarships: "wows", "ASSETQ_WOWS", "World of Warships", 552_990, "bin/*/idx";
    /// Space Engineers 2.
    SpaceEngineers2: "se2", "ASSETQ_SE2", "Space Engineers 2", 1_133_870, "GameData/Vanilla/Content";
    /// FINAL FANTASY XIII.
    FinalFantasy13: "ff13", "ASSETQ_FF13", "FINAL FANTASY XIII", 292_120, "white_data";
    /// FINAL FANTASY XIII-2.
    FinalFantasy13Part2: "ff13-2", "ASSETQ_FF13_2", "FINAL FANTASY XIII-2", 292_140, "alba_data";
    /// Lightning Returns: FINAL FANTASY XIII.
    LightningReturns: "lr", "ASSETQ_LR", "Lightning Returns: FINAL FANTASY XIII", 345_350, "weiss_data";
    /// Rusty Hearts.
    RustyHearts: "rusty-hearts", "ASSETQ_RUSTY_HEARTS", "Rusty Hearts", 36_630, "f00X.dat";
}

impl GameTitle {
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
            None => caseless(folder, self.facts().marker).exists(),
            Some((above, below)) => {
                folders_in(&caseless(folder, above)).iter().any(|one| caseless(one, below).exists())
            }
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
        of_variable(self.variable())
    }
}
