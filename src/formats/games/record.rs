//! Installed games, and the records that name their folders.

use super::title::GameTitle;
use std::path::PathBuf;

/// The kind of record that named a game's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Record {
    /// An environment variable.
    Variable,
    /// A library of Steam.
    Steam,
    /// Wargaming Game Center.
    Wargaming,
    /// Lesta Game Center.
    Lesta,
    /// The list of installed programs in the registry of Windows.
    Registry,
    /// A folder in which games are installed unless the user chooses another.
    Folder,
}

impl Record {
    /// The name that outputs use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Variable => "variable",
            Self::Steam => "steam",
            Self::Wargaming => "wargaming",
            Self::Lesta => "lesta",
            Self::Registry => "registry",
            Self::Folder => "folder",
        }
    }
}

/// A folder that a record names, and that may hold a game.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) folder: PathBuf,
    pub(super) record: String,
    pub(super) steam_build: Option<String>,
}

/// A game found on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The game.
    pub title: GameTitle,
    /// The installation's folder.
    pub folder: PathBuf,
    /// The kind of record that led to the folder.
    pub found_by: Record,
    /// The file, folder or variable that led to it.
    pub record: String,
    /// The build that Steam recorded.
    pub steam_build: Option<String>,
}
