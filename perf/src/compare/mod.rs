//! Measures assetq and its rivals in one run: the same input, in turns, answers checked before anything is timed.

mod archive;
mod changes;
mod codecs;
mod database;
mod geometry;
mod growth;
mod latency;
mod lookups;
mod pages;
mod params;
mod process;
mod textures;
mod threads;
mod writing;

use crate::record::{Bound, Growth, Ratio, Record, Spread, slope};
use crate::turns::median;
use crate::{machine, table};
use assetq::Source;
use assetq::bwdb::Database;
use std::path::Path;
use std::time::Duration;

#[derive(clap::Args)]
pub struct Args {
    /// Fewer rounds, and no file of a gigabyte: two minutes
    #[arg(long)]
    quick: bool,
    /// Only these groups; nothing is recorded then
    #[arg(long, value_name = "GROUP", value_parser = GROUPS.map(|(name, _)| name), num_args = 1..)]
    only: Vec<String>,
}

type Group = fn(&mut Run);

const GROUPS: [(&str, Group); 14] = [
    // First, as long as this process has mapped nothing: what is mapped stays in the page cache.
    ("process", process::run),
    ("writing", writing::run),
    ("lookups", lookups::run),
    ("database", database::run),
    ("geometry", geometry::run),
    ("codecs", codecs::run),
    ("archive", archive::run),
    ("changes", changes::run),
    ("pages", pages::run),
    ("params", params::run),
    ("textures", textures::run),
    ("latency", latency::run),
    ("threads", threads::run),
    ("growth", growth::run),
];

pub fn run(args: &Args) {
    let date = time::OffsetDateTime::now_utc().date().to_string();
    let record = Record { date, machine: machine::describe(), quick: args.quick, ..Record::default() };
    let mut run = Run { record, quick: args.quick };
    for (name, group) in GROUPS {
        if args.only.is_empty() || args.only.iter().any(|only| only == name) {
            eprintln!("measuring {name}");
            group(&mut run);
        }
    }
    table::print(&run.record);
    if args.only.is_empty() {
        run.record.write();
        println!("\nrecorded; `cargo run --release -- charts` draws it");
    }
}

/// An unfinished run.
pub struct Run {
    record: Record,
    quick: bool,
}

impl Run {
    /// `rounds`, or few of them.
    fn rounds(&self, rounds: usize) -> usize {
        if self.quick { (rounds / 4).max(3) } else { rounds }
    }

    /// Notes how long `calls` calls of one thing took next to as many of another.
    fn ratio(&mut self, group: &str, what: &str, times: [&[Duration]; 2], calls: usize, bound: Option<Bound>) {
        let seconds = times.map(|t| median(t).as_secs_f64() / calls as f64);
        let ratio = Spread::ratio(times[0], times[1]);
        self.record.ratios.push(Ratio { group: group.to_owned(), what: what.to_owned(), seconds, ratio, bound });
    }

    fn growth(&mut self, what: &str, unit: &str, points: Vec<(f64, f64)>, bound: Option<Bound>) {
        let (what, unit, slope) = (what.to_owned(), unit.to_owned(), slope(&points));
        self.record.growth.push(Growth { what, unit, points, slope, bound });
    }

    fn skip(&mut self, why: impl Into<String>) {
        self.record.skipped.push(why.into());
    }
}

fn open(path: &Path) -> Database {
    Database::open(Source::open(path).expect("it can be mapped")).expect("it is a database")
}

/// Runs `work` on a pool of `threads` threads.
fn on<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    pool(threads).install(work)
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started")
}
