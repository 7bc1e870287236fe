//! A table of your own: what the folders of an `assets.bin` hold. Conditions and outputs take it like any other.
//!
//! ```sh
//! cargo run --example custom_table -- assets.bin 'bytes > 1M'
//! ```
//!
//! Without a file it counts in a sample.

use assetq::formats::wows::bwdb::Database;
use assetq::table::filter::Filter;
use assetq::table::{Column, DeclaredTable, Kind, Table};
use assetq::write::rows::{RowFormat, RowWriter};
use assetq::write::text::Style;
use assetq::{Result, Source};
use assetq_sample::{Size, bwdb::demo};
use std::collections::BTreeMap;
use std::env;
use std::io::stdout;

/// A row: anything, here something counted.
#[derive(Debug, Default)]
struct Folder {
    name: String,
    records: u64,
    bytes: u64,
}

/// Counts the records in each folder, and writes those that fit a condition as CSV.
pub fn main() -> Result<()> {
    let source = match env::args().nth(1) {
        Some(path) => Source::open(path)?,
        None => Source::from_vec("assets.bin", demo(1, Size::Small)),
    };
    let folders = count(&Database::open(source)?)?;

    // One line a column: its name, what it holds, and how a cell is read from a row.
    let table: &dyn Table = &DeclaredTable::over("folders", &folders)
        .column(Column::new("folder", Kind::Text).key(), |(_, folder)| Ok(folder.name.as_str().into()))
        .column(Column::new("records", Kind::Uint), |(_, folder)| Ok(folder.records.into()))
        .column(Column::new("bytes", Kind::Uint), |(_, folder)| Ok(folder.bytes.into()));

    let condition = env::args().nth(2).unwrap_or_else(|| "folder ~ \"*/ship/*\" and records > 2".to_owned());
    let filter = Filter::parse(&condition)?.bind(table.columns())?;
    let mut out = RowWriter::new(stdout().lock(), RowFormat::Csv, table.columns(), Style::Plain)?;
    let mut rows = table.cursor(0);
    while rows.advance()? {
        if filter.matches(&*rows)? {
            out.row_of(&*rows, &[0, 1, 2], |error| eprintln!("{error}"))?;
        }
    }
    out.finish()
}

fn count(db: &Database) -> Result<Vec<Folder>> {
    let mut folders: BTreeMap<String, Folder> = BTreeMap::new();
    for resource in db.resources() {
        let path = db.path(resource.id())?.unwrap_or_default();
        let name = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = folders.entry(name.to_owned()).or_default();
        folder.records = folder.records.saturating_add(1);
        folder.bytes = folder.bytes.saturating_add(resource.bytes()?.unwrap_or_default().len() as u64);
    }
    Ok(folders.into_iter().map(|(name, folder)| Folder { name, ..folder }).collect())
}
