//! The bar that is drawn at present, and writes aside of it.

use indicatif::ProgressBar;
use std::sync::{Mutex, PoisonError};

/// The unit of a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Bytes,
    Files,
    Rows,
}

/// The bar that is drawn at present.
pub(super) static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Writes to the terminal of a bar: the bar is hidden meanwhile.
pub(super) fn aside<T>(write: impl FnOnce() -> T) -> T {
    let bar = BAR.lock().unwrap_or_else(PoisonError::into_inner);
    match &*bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Takes the bar away, and draws no other one while a pager has the terminal.
pub(super) fn end() {
    if let Some(bar) = BAR.lock().unwrap_or_else(PoisonError::into_inner).take() {
        bar.finish_and_clear();
    }
}
