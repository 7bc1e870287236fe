//! Installed games, and the records that name their folders.

use super::title::GameTitle;
use std::path::PathBuf;

/// The kind of record that named a game's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstallRecord {
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

impl InstallRecord {
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

/// A game found on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The game.
    pub title: GameTitle,
    /// The installation's folder.
    pub folder: PathBuf,
    /// The kind of record that led to the folder.
    pub found_by: InstallRecord,
    /// The file, folder or variable that led to it.
    pub record: String,
    /// The build that Steam recorded.
    pub steam_build: Option<String>,
}

impl Installation {
    /// The game in a folder that `record` names, if it holds one.
    pub(super) fn in_folder(folder: PathBuf, found_by: InstallRecord, record: String) -> Option<Self> {
        Some(Self { title: GameTitle::of_folder(&folder)?, folder, found_by, record, steam_build: None })
    }
}
