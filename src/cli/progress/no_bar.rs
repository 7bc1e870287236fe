//! In place of the bar, in a build without terminals.

use super::Unit;
use crate::report::Progress;

pub(in crate::cli) fn aside<T>(write: impl FnOnce() -> T) -> T {
    write()
}

pub(in crate::cli) fn end() {}

pub(super) fn beside<T>(_: &str, _: Unit, _: &Progress, work: impl FnOnce() -> T) -> T {
    work()
}
