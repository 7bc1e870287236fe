//! The bar.

use super::Unit;
use crate::cli::pager;
use crate::report::Progress;
use crate::threads::lock;
use crate::write::text::escape;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Writes to the terminal of a bar: the bar is hidden meanwhile.
pub(in crate::cli) fn aside<T>(write: impl FnOnce() -> T) -> T {
    let bar = lock(&BAR);
    match &*bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Removes the bar. No other bar is drawn while a pager has the terminal.
pub(in crate::cli) fn end() {
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

/// Runs work, and draws its progress meanwhile.
pub(super) fn beside<T>(what: &str, unit: Unit, progress: &Progress, work: impl FnOnce() -> T) -> T {
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
