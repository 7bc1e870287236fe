//! Embedding: a tool of your own opens files of any format, reads tables and entries, and tells what is damaged.
//!
//! ```sh
//! cargo run --example embedding -- FILE
//! ```
//!
//! Without a file it reads a sample, whole and cut short.

use assetq::formats::report::Progress;
use assetq::table::{Table, Tree};
use assetq::{Asset, Result, Source};
use assetq_sample::{Size, geometry::demo_splash};
use std::env;

/// Shows a file, and the same file as a broken download leaves it.
pub fn main() -> Result<()> {
    if let Some(path) = env::args().nth(1) {
        // A map. Another program must not change the file while it is open: `Source::read` makes a copy instead.
        return show(Source::open(path)?);
    }
    // Bytes from anywhere: an archive, the network, another program. The name is for outputs and errors.
    let mut bytes = demo_splash(1, Size::Small);
    show(Source::from_vec("ship.splash", bytes.clone()))?;

    // Everything before the damage can be read, and an error names the offset.
    bytes.pop();
    show(Source::from_vec("cut.splash", bytes))
}

fn show(source: Source) -> Result<()> {
    // Tells the format by the first bytes, else by the name. Reads headers only.
    let asset = Asset::open(source)?;
    let reader = asset.reader();
    println!("{}: {}", asset.source().name(), asset.format());

    for table in reader.tables() {
        let columns: Vec<_> = table.columns().iter().map(|column| &*column.name).collect();
        println!("  table {}: {}", table.name(), columns.join(" "));
        if let Err(error) = first_rows(&*table) {
            // As text: what, in which part, at which offset, with what value. And each of these by itself.
            println!("    {error}");
            println!("    {:?}, in {:?}, at offset {:?}", error.kind(), error.part(), error.offset());
        }
    }

    // An entry as a tree; large ones stream into a `Visitor` of your own.
    let mut tree = Tree::default();
    if reader.cat("CM_SB_bow_1", &mut tree)? {
        println!("  {}", tree.into_value());
    }

    // Everything that can be checked. Another thread may watch the progress.
    let report = reader.verify(&Progress::default());
    for check in &report.checks {
        println!("  {}: {} wrong", check.name, check.found());
    }
    Ok(())
}

/// The rows of a table, as far as they can be read. Values borrow from the file: nothing is copied.
fn first_rows(table: &dyn Table) -> Result<()> {
    let mut rows = table.cursor(0);
    for _ in 0..3 {
        if !rows.advance()? {
            break;
        }
        println!("    {}: {}", rows.row(), rows.value(table.label())?);
    }
    // The length also shows whether later rows are missing.
    println!("    {} rows", table.len()?);
    Ok(())
}
