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
mod run;
mod textures;
mod threads;
mod writing;

use crate::record::Record;
use crate::{machine, table};
use run::Run;

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
