//! Progress of long work, drawn on the terminal aside from all other output.

use super::bar::{BAR, Unit, end};
use super::{Context, pager};
use crate::report::Progress;
use crate::write::text::escape;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal as _};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Work that ends before needs no bar.
const PATIENCE: Duration = Duration::from_millis(400);
const TICK: Duration = Duration::from_millis(50);

/// The knowledge about the amount of some work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// That it goes on.
    Nothing,
    /// How much of it is done.
    Done,
    /// How much there is.
    Total,
}

/// The style of a bar, which shows as much as is known.
fn style(unit: Unit, known: Known) -> ProgressStyle {
    let template = match (unit, known) {
        (Unit::Bytes, Known::Nothing) => "{prefix} {elapsed}",
        (Unit::Bytes, Known::Total) => "{prefix} [{bar:40}] {bytes}/{total_bytes} {elapsed}",
        (Unit::Bytes, Known::Done) => "{prefix} {bytes} {elapsed}",
        (Unit::Files, Known::Total) => "{prefix} [{bar:40}] {human_pos}/{human_len} files {elapsed}",
        (Unit::Files, _) => "{prefix} {human_pos} files {elapsed}",
        (Unit::Rows, Known::Total) => "{prefix} [{bar:40}] {human_pos}/{human_len} rows {elapsed}",
        (Unit::Rows, _) => "{prefix} {human_pos} rows {elapsed}",
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Draws the bar of some work until it is done.
fn draw(what: &str, unit: Unit, progress: &Progress, done: &AtomicBool) {
    let mut waited = Duration::ZERO;
    let mut shown = None;
    while !done.load(Ordering::Acquire) {
        std::thread::park_timeout(TICK);
        waited += TICK;
        if waited < PATIENCE {
            continue;
        }
        let (steps, total) = progress.state();
        let known = match (steps, total) {
            (0, 0) => Known::Nothing,
            (_, 0) => Known::Done,
            _ => Known::Total,
        };
        let mut bar = BAR.lock().unwrap_or_else(PoisonError::into_inner);
        if pager::is_running() {
            continue;
        }
        // A terminal that cannot be drawn on shows nothing.
        let bar = bar.get_or_insert_with(|| ProgressBar::new(0).with_prefix(escape(what).into_owned()));
        if shown.replace(known) != Some(known) {
            bar.set_style(style(unit, known));
        }
        bar.set_length(total);
        bar.set_position(steps);
    }
    end();
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
        if self.is_quiet() || !io::stderr().is_terminal() {
            return work();
        }
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // If no thread is available, the work runs without a bar.
            let drawing = std::thread::Builder::new().spawn_scoped(scope, || draw(what, unit, progress, &done)).ok();
            let result = work();
            done.store(true, Ordering::Release);
            if let Some(drawing) = drawing {
                drawing.thread().unpark();
            }
            result
        })
    }
}
