//! How fast assetq is, next to others: see README.md.

mod bare;
mod charts;
mod compare;
mod heap;
mod inputs;
mod machine;
#[allow(dead_code)]
mod owned;
#[path = "../../benches/common/questions.rs"]
mod questions;
mod record;
mod spawn;
mod table;
#[path = "../../benches/common/turns.rs"]
mod turns;

use clap::Parser;
use std::path::PathBuf;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// How fast assetq is, next to others
#[derive(Parser)]
enum Command {
    /// Measure everything, print a table, write a record
    Compare(compare::Args),
    /// Draw a record as SVG
    Charts {
        /// The record; else the newest in `record/`
        record: Option<PathBuf>,
    },
    /// Print the table of a record again
    Table {
        /// The record; else the newest in `record/`
        record: Option<PathBuf>,
    },
}

fn main() {
    // Before anything that takes memory: what is started from here must not be larger than what it measures.
    if std::env::args().nth(1).as_deref() == Some(spawn::STARTER) {
        return spawn::answer();
    }
    match Command::parse() {
        Command::Compare(args) => compare::run(&args),
        Command::Charts { record } => charts::draw(&record::read(record)),
        Command::Table { record } => table::print(&record::read(record)),
    }
}
