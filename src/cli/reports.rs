//! Reports of a run: what was not found, what is damaged, notes, and the exit code that they lead to.

use super::pager::complain;
use super::{Context, Exit, Failure, Outcome};
use crate::asset::Asset;
use crate::error::{Error, Result};
use crate::files::FileSet;
use crate::reader::Enriched;
use std::cell::{Cell, RefCell};
use std::path::Path;

const SHOWN_ERRORS: u64 = 10;

/// The reports of a run so far.
#[derive(Default)]
pub(super) struct Reports {
    damaged: Cell<u64>,
    /// The errors that were shown, and how often they were met again.
    shown: RefCell<(Vec<String>, u64)>,
    worst: Cell<Exit>,
}

impl Context {
    /// Ends a command with this result: reports output that was lost silently.
    pub(super) fn close(&self, ran: Outcome) -> Result<Exit, Failure> {
        self.pager.finish();
        match (ran, self.lost.failure()) {
            (Ok(()), None) => Ok(self.worst()),
            (Ok(()), Some(lost)) => {
                self.worst();
                Err(lost)
            }
            (Err(failure), Some(lost)) if failure.exit != Exit::Io && !lost.closed_pipe => {
                complain(&failure.message);
                Err(lost)
            }
            // An earlier report may be worse than the failure.
            (Err(failure), _) => Err(Failure { exit: failure.exit.max(self.worst()), ..failure }),
        }
    }

    /// The worst exit code so far. Reports how many reports were left out.
    pub(super) fn worst(&self) -> Exit {
        if let Some(more) = self.reports.damaged.get().checked_sub(SHOWN_ERRORS).filter(|&m| m > 0) {
            complain(&format!("… and {more} more"));
            self.reports.damaged.set(0);
        }
        let again = std::mem::take(&mut self.reports.shown.borrow_mut().1);
        if again > 0 {
            complain(&format!("… and the same again {again} times"));
        }
        self.reports.worst.get()
    }

    pub(super) fn has_failed(&self) -> bool {
        self.reports.worst.get() != Exit::Done
    }

    /// Makes the command end with `exit`, unless its code is worse already.
    pub(super) fn worsen(&self, exit: Exit) {
        self.reports.worst.set(self.reports.worst.get().max(exit));
    }

    /// The value of `result`. A failure is reported, and the command continues.
    pub(super) fn or_failed<T>(&self, result: Result<T, Failure>) -> Option<T> {
        result.inspect_err(|failure| self.failed(failure)).ok()
    }

    /// The value that was read from `file`. Damage is reported, and the command continues.
    pub(super) fn or_damaged<T>(&self, file: &str, read: Result<T>) -> Option<T> {
        read.inspect_err(|error| self.damaged(file, error)).ok()
    }

    /// Reports that a requested thing was not found, and continues.
    pub(super) fn not_found(&self, message: &str) {
        complain(message);
        self.worsen(Exit::NotFound);
    }

    /// Reports why one of several requests failed, and continues.
    pub(super) fn failed(&self, failure: &Failure) {
        complain(&failure.message);
        self.worsen(failure.exit);
    }

    /// Reports a damaged part of a file, and continues. After a few reports the parts are only counted.
    pub(super) fn damaged(&self, file: &str, error: &Error) {
        let failure = Failure::in_file(file, error);
        self.worsen(failure.exit);
        let (shown, again) = &mut *self.reports.shown.borrow_mut();
        // One damaged buffer is an error of all parts that use it.
        if shown.contains(&failure.message) {
            *again += 1;
            return;
        }
        self.reports.damaged.set(self.reports.damaged.get() + 1);
        if self.reports.damaged.get() <= SHOWN_ERRORS {
            complain(&failure.message);
            shown.push(failure.message);
        }
    }

    /// Counts further damaged parts without details.
    pub(super) fn more_damaged(&self, count: u64) {
        if count > 0 {
            self.reports.damaged.set(self.reports.damaged.get() + count);
            self.worsen(Exit::Damaged);
        }
    }

    pub(super) fn warn(&self, asset: &Asset) {
        if let Some(set) = asset.get::<FileSet>() {
            set.left_out().iter().for_each(|(file, error)| self.damaged(file, error));
            return;
        }
        for warning in asset.reader().warnings() {
            complain(&format!("{}: warning: {warning}", asset.source().name()));
        }
        let companions = asset.reader().facet::<dyn Enriched>();
        for error in companions.map_or_else(Vec::new, |file| file.companion_damage()) {
            // The table that shows the names and values of the file has reported it, if its last row was read.
            let message = error.to_string();
            if !self.reports.shown.borrow().0.iter().any(|shown| shown.ends_with(&message)) {
                self.damaged(asset.source().name(), &error);
            }
        }
    }

    /// Reports why files of an archive are not known.
    pub(super) fn report_hidden(&self, asset: &Asset) {
        let hidden = asset.reader().archive().map_or_else(Vec::new, |archive| archive.damage());
        hidden.iter().for_each(|error| self.damaged(asset.source().name(), error));
    }

    pub(super) fn note(&self, file: impl AsRef<Path>, note: &str) {
        self.say(&format!("{}: note: {note}", file.as_ref().display()));
    }

    pub(super) fn notes(&self, file: &str, notes: &[impl AsRef<str>]) {
        notes.iter().for_each(|note| self.note(file, note.as_ref()));
    }

    /// Writes one line to standard error that reports no failure.
    pub(super) fn say(&self, message: &str) {
        if !self.typed.quiet {
            complain(message);
        }
    }
}
