//! Progress of long work, drawn on the terminal aside from all other output.

#[cfg(feature = "terminal")]
mod bar;
#[cfg(not(feature = "terminal"))]
#[path = "progress/no_bar.rs"]
mod bar;

use super::Context;
use crate::report::Progress;
pub(super) use bar::{aside, end};
use std::io::{self, IsTerminal as _};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Bytes,
    Files,
    Rows,
}

impl Context {
    /// Runs long work with a progress bar of bytes, if there is a terminal.
    pub(super) fn with_progress<T>(&self, what: &str, work: impl FnOnce(&Progress) -> T) -> T {
        self.with_progress_of(what, Unit::Bytes, work)
    }

    /// As [`Context::with_progress`], of any unit.
    pub(super) fn with_progress_of<T>(&self, what: &str, unit: Unit, work: impl FnOnce(&Progress) -> T) -> T {
        let progress = Progress::default();
        self.watch(what, unit, &progress, || work(&progress))
    }

    /// Runs long work that adds to `progress`, with a bar if there is a terminal.
    pub(super) fn watch<T>(&self, what: &str, unit: Unit, progress: &Progress, work: impl FnOnce() -> T) -> T {
        if self.typed.quiet || !io::stderr().is_terminal() {
            return work();
        }
        bar::beside(what, unit, progress, work)
    }
}
