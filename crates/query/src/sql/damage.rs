//! Damaged data that a statement meets: it stops there, or leaves rows out and counts them.

use super::file::OpenFile;
use crate::error::Error;
use crate::threads::lock;
use rusqlite::Error as SqlError;
use std::collections::HashSet;
use std::sync::Mutex;

/// The position of damage; without a row if the rest of a table is unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DamagePosition {
    pub(super) file: usize,
    pub(super) table: usize,
    pub(super) row: Option<usize>,
}

/// The limit on distinct rows that are counted, and on kept errors.
const MOST_ROWS: usize = 1_000_000;
const MOST_ERRORS: usize = 10;

#[derive(Debug, Default)]
pub(super) struct Damage {
    left_out: bool,
    met: Mutex<DamageLog>,
}

#[derive(Debug, Default)]
struct DamageLog {
    /// Why the statement stopped: the file and what is wrong in it.
    stopped: Option<(String, Error)>,
    places: HashSet<DamagePosition>,
    errors: Vec<(usize, Error)>,
}

/// Rows that were left out because they are damaged.
#[derive(Debug, Default)]
pub struct LeftOut {
    /// The number of rows, each counted once.
    pub rows: usize,
    /// The number of tables with further rows, which cannot be found.
    pub tables: usize,
    /// The number of the file and the damage, for the first few rows.
    pub errors: Vec<(usize, Error)>,
}

impl Damage {
    /// Damaged rows are errors or, with `left_out`, are left out and counted.
    pub(super) fn new(left_out: bool) -> Self {
        Self { left_out, met: Mutex::default() }
    }

    pub(super) fn is_left_out(&self) -> bool {
        self.left_out
    }

    /// Counts an error if damaged rows are skipped, otherwise returns it.
    #[cold]
    pub(super) fn skip_or_fail(&self, place: DamagePosition, error: Error) -> Result<(), Error> {
        if !self.left_out {
            return Err(error);
        }
        let mut met = lock(&self.met);
        // A table may have several places after which rows cannot be found.
        let is_new = met.places.len() < MOST_ROWS && met.places.insert(place);
        let is_named = || {
            let text = error.to_string();
            met.errors.iter().any(|(file, error)| *file == place.file && error.to_string() == text)
        };
        if met.errors.len() < MOST_ERRORS && (is_new || (place.row.is_none() && !is_named())) {
            met.errors.push((place.file, error));
        }
        Ok(())
    }

    /// Keeps an error for the caller, and reports it to SQLite, which stops.
    #[cold]
    pub(super) fn stop(&self, file: &OpenFile, error: Error) -> SqlError {
        let message = format!("{}: {error}", file.name());
        lock(&self.met).stopped = Some((file.name().to_owned(), error));
        SqlError::ModuleError(message)
    }

    /// Why the last statement stopped, if damage was the reason.
    pub(super) fn take_stopped(&self) -> Option<(String, Error)> {
        lock(&self.met).stopped.take()
    }

    /// Removes and returns the count and the errors of rows that were left out.
    pub(super) fn take_left_out(&self) -> LeftOut {
        let mut met = lock(&self.met);
        let places = std::mem::take(&mut met.places);
        let [rows, tables] = [true, false].map(|is_row| places.iter().filter(|at| at.row.is_some() == is_row).count());
        LeftOut { rows, tables, errors: std::mem::take(&mut met.errors) }
    }
}
