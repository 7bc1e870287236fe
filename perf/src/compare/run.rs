//! An unfinished run, and what its groups need to measure.

use crate::record::{Bound, Growth, Ratio, Record, Spread, slope};
use crate::turns::median;
use assetq::Source;
use assetq::formats::wows::bwdb::Database;
use std::path::Path;
use std::time::Duration;

/// An unfinished run.
pub struct Run {
    pub(super) record: Record,
    pub(super) quick: bool,
}

impl Run {
    /// `rounds`, or few of them.
    pub(super) fn rounds(&self, rounds: usize) -> usize {
        if self.quick { (rounds / 4).max(3) } else { rounds }
    }

    /// Notes how long `calls` calls of one thing took next to as many of another.
    pub(super) fn ratio(
        &mut self,
        group: &str,
        what: &str,
        times: [&[Duration]; 2],
        calls: usize,
        bound: Option<Bound>,
    ) {
        let seconds = times.map(|t| median(t).as_secs_f64() / calls as f64);
        let ratio = Spread::ratio(times[0], times[1]);
        self.record.ratios.push(Ratio { group: group.to_owned(), what: what.to_owned(), seconds, ratio, bound });
    }

    pub(super) fn growth(&mut self, what: &str, unit: &str, points: Vec<(f64, f64)>, bound: Option<Bound>) {
        let (what, unit, slope) = (what.to_owned(), unit.to_owned(), slope(&points));
        self.record.growth.push(Growth { what, unit, points, slope, bound });
    }

    pub(super) fn skip(&mut self, why: impl Into<String>) {
        self.record.skipped.push(why.into());
    }
}

pub(super) fn open(path: &Path) -> Database {
    Database::open(Source::open(path).expect("it can be mapped")).expect("it is a database")
}

/// Runs `work` on a pool of `threads` threads.
pub(super) fn on<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    pool(threads).install(work)
}

pub(super) fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started")
}
