//! Installed games: the folder of each, as Steam, the game centers and the registry of Windows record it.
//!
//! [`GameTitle::find`] returns the folder that `wows:` and the other prefixes stand for. On Linux and macOS the search
//! includes the prefixes of Wine and Proton. docs/formats/games.md lists the records and their sources.

mod location;
mod record;
mod steam;
mod system;
mod title;

pub use record::{InstallRecord, Installation};
pub use title::{GameTitle, PREFIXES};

use assetq_core::Result;
use location::RecordLocation;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A search of one machine.
#[derive(Debug)]
pub struct Search {
    places: Vec<RecordLocation>,
}

impl Search {
    /// The search of this machine, in the order in which records win.
    pub fn of_this_machine() -> Self {
        Self { places: location::places() }
    }

    /// The games named by variables, then those found on this machine. A folder is listed once.
    pub fn installations(&self) -> impl Iterator<Item = Installation> {
        let named = GameTitle::ALL.into_iter().filter_map(|title| {
            let folder = title.folder_in_variable().filter(|folder| folder.is_dir())?;
            let record = format!("${}", title.variable());
            Some(Installation { title, folder, found_by: InstallRecord::Variable, record, steam_build: None })
        });
        let mut seen = HashSet::new();
        let found = self.places.iter().flat_map(RecordLocation::installations);
        named.chain(found).filter(move |one| seen.insert(fs::canonicalize(&one.folder).ok()))
    }

    /// The message for games that were not found: the places that were searched, and what to do.
    pub fn failure(&self, wanted: &[GameTitle]) -> String {
        if self.places.is_empty() {
            return "a page cannot see what is installed: drop the folder of a game on it".to_owned();
        }
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

impl GameTitle {
    /// The folder of this game: the value of its [variable](Self::variable), else the first installation found. The
    /// search runs once in a process.
    ///
    /// # Errors
    /// `NotFound` with the places that were searched, or with the value of the variable if it names no folder.
    pub fn find(self) -> Result<PathBuf> {
        static FOUND: [OnceLock<Option<PathBuf>>; GameTitle::ALL.len()] = [const { OnceLock::new() }; _];
        if let Some(folder) = self.folder_in_variable() {
            if folder.is_dir() {
                return Ok(folder);
            }
            return Err(self.not_found(&format!("${} is {folder:?}, which is no folder", self.variable())));
        }
        #[expect(clippy::indexing_slicing, reason = "there is a place for each game")]
        let found = FOUND[self as usize]
            .get_or_init(|| Some(Search::of_this_machine().installations().find(|found| found.title == self)?.folder));
        found.clone().ok_or_else(|| self.not_found(&Search::of_this_machine().failure(&[self])))
    }
}
