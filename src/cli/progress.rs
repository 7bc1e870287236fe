//! Progress of long work, drawn on the terminal aside from all other output.

use super::{Context, pager};
use crate::report::Progress;
use crate::threads::lock;
use crate::write::text::escape;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal as _};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Bytes,
    Files,
    Rows,
}

static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Writes to the terminal of a bar: the bar is hidden meanwhile.
pub(super) fn aside<T>(write: impl FnOnce() -> T) -> T {
    let bar = lock(&BAR);
    match &*bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Removes the bar. No other bar is drawn while a pager has the terminal.
pub(super) fn end() {
    if let Some(bar) = lock(&BAR).take() {
        bar.finish_and_clear();
    }
}

/// Work that ends before needs no bar.
const PATIENCE: Duration = Duration::from_millis(400);
const TICK: Duration = Duration::from_millis(50);

/// The template of a bar. It shows the elapsed time, the work done, and the total, as far as they are known.
fn template(unit: Unit, done: u64, total: u64) -> &'static str {
    match (unit, done, total) {
        (Unit::Bytes, 0, 0) => "{prefix} {elapsed}",
        (Unit::Bytes, _, 0) => "{prefix} {bytes} {elapsed}",
        (Unit::Bytes, ..) => "{prefix} [{bar:40}] {bytes}/{total_bytes} {elapsed}",
        (Unit::Files, _, 0) => "{prefix} {human_pos} files {elapsed}",
        (Unit::Files, ..) => "{prefix} [{bar:40}] {human_pos}/{human_len} files {elapsed}",
        (Unit::Rows, _, 0) => "{prefix} {human_pos} rows {elapsed}",
        (Unit::Rows, ..) => "{prefix} [{bar:40}] {human_pos}/{human_len} rows {elapsed}",
    }
}

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
        let template = template(unit, steps, total);
        let mut bar = lock(&BAR);
        if pager::is_running() {
            continue;
        }
        // A terminal that cannot be drawn on shows nothing.
        let bar = bar.get_or_insert_with(|| ProgressBar::new(0).with_prefix(escape(what).into_owned()));
        if shown.replace(template) != Some(template) {
            let style = ProgressStyle::with_template(template);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
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
        if self.typed.quiet || !io::stderr().is_terminal() {
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
