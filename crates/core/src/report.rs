//! Findings of `verify`, and the progress of long work.

#![allow(clippy::arithmetic_side_effects, reason = "numbers of rows, bytes and texts in memory, which cannot overflow")]

use crate::error::Error;
use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A number and its noun: "1 edit", "2 edits", "2 entries".
pub fn counted(count: impl fmt::Display, noun: &str) -> String {
    let count = count.to_string();
    match noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u'])) {
        _ if count == "1" => format!("1 {noun}"),
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {noun}s"),
    }
}

/// The number of findings kept of one check; further ones are counted.
const KEPT: usize = 100;

/// The outcome of checking one file.
#[derive(Debug, Default)]
pub struct Report {
    /// The checks, in order.
    pub checks: Vec<Check>,
}

impl From<Vec<Check>> for Report {
    fn from(checks: Vec<Check>) -> Self {
        Self { checks }
    }
}

impl Report {
    /// Whether every check passed.
    pub fn is_ok(&self) -> bool {
        self.checks.iter().all(Check::is_ok)
    }
}

#[derive(Debug)]
#[must_use]
pub struct Check {
    pub name: Cow<'static, str>,
    /// A summary of the checked or notable things, such as "246065 paths".
    pub detail: String,
    findings: Vec<Error>,
    found: u64,
}

impl Check {
    /// A check without findings.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), detail: String::new(), findings: Vec::new(), found: 0 }
    }

    /// Whether the check found no errors.
    pub fn is_ok(&self) -> bool {
        self.found == 0
    }

    /// The first findings, at most 100 errors.
    pub fn findings(&self) -> &[Error] {
        &self.findings
    }

    /// The number of all errors.
    pub fn found(&self) -> u64 {
        self.found
    }

    pub fn fail(&mut self, error: Error) {
        self.fail_with(|| error);
    }

    /// Notes an error that is built only if it is kept: for millions of findings.
    pub fn fail_with(&mut self, make: impl FnOnce() -> Error) {
        self.found += 1;
        if self.findings.len() < KEPT {
            self.findings.push(make());
        }
    }

    /// Notes the error of `result`, or returns its value.
    pub fn note<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|e| self.fail(e)).ok()
    }

    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    /// Adds `outer` to the part of the findings.
    pub fn context(mut self, outer: impl fmt::Display) -> Self {
        self.findings = self.findings.into_iter().map(|error| error.context(&outer)).collect();
        self
    }

    /// Adds the findings of the same check in another part of the file.
    pub fn merge(mut self, other: Self) -> Self {
        self.found += other.found;
        let room = KEPT - self.findings.len();
        self.findings.extend(other.findings.into_iter().take(room));
        self
    }
}

/// The progress of long work: workers add to it, a progress bar reads it.
#[derive(Debug, Default)]
pub struct Progress {
    total: AtomicU64,
    done: AtomicU64,
    is_unknown: AtomicBool,
}

impl Progress {
    pub fn announce(&self, steps: u64) {
        self.total.fetch_add(steps, Ordering::Relaxed);
    }

    /// Announces an unknown number of steps: from now on there is no total.
    pub fn announce_unknown(&self) {
        self.is_unknown.store(true, Ordering::Relaxed);
    }

    /// Notes `steps` as done. Cheap, but intended for thousands of steps at once.
    pub fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }

    /// Steps done and steps announced, which are 0 if their number is not known.
    pub fn state(&self) -> (u64, u64) {
        let total = if self.is_unknown.load(Ordering::Relaxed) { 0 } else { self.total.load(Ordering::Relaxed) };
        (self.done.load(Ordering::Relaxed), total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn work_of_unknown_length_has_no_total() {
        let progress = Progress::default();
        progress.announce(5);
        progress.advance(3);
        assert_eq!(progress.state(), (3, 5));
        progress.announce_unknown();
        progress.advance(7);
        progress.announce(1);
        assert_eq!(progress.state(), (10, 0));
    }

    #[test]
    fn findings_are_bounded_but_all_counted() {
        let fail = |check: &mut Check| check.fail(Error::new(ErrorKind::Damaged { what: "x".into() }, "part", 0));
        let (mut a, mut b) = (Check::new("a"), Check::new("b"));
        (0..80).for_each(|_| fail(&mut a));
        (0..80).for_each(|_| fail(&mut b));
        let mut made = 0;
        let mut many = Check::new("many");
        for _ in 0..1000 {
            many.fail_with(|| {
                made += 1;
                Error::new(ErrorKind::Damaged { what: "x".into() }, "part", 0)
            });
        }
        assert_eq!((many.found(), made), (1000, 100));
        let merged = a.merge(b);
        assert_eq!((merged.findings().len(), merged.found(), merged.is_ok()), (100, 160, false));
    }
}
