//! FINAL FANTASY XIII `.wdb`: finds a record of a sheet by its name, and unpacks its fields.
//!
//! ```sh
//! cargo run --example wdb -- item.wdb it_potion
//! ```
//!
//! Without a file it reads a sample.

use assetq::formats::ff13::wdb::Sheet;
use assetq::{Result, Source};
use assetq_sample::{Size, wdb::demo};
use std::env;

/// Opens the sheet, and shows one record of it.
pub fn main() -> Result<()> {
    let source = match env::args().nth(1) {
        Some(path) => Source::open(path)?,
        None => Source::from_vec("sheet.wdb", demo(1, Size::Small)),
    };
    let sheet = Sheet::open(source)?;
    println!("{} records of {} fields", sheet.records().len(), sheet.fields().len());

    let name = env::args().nth(2).unwrap_or_else(|| "r0000005".to_owned());
    // A binary search of the file's own directory, which is in the order of the names.
    let Some(record) = sheet.find(&name).and_then(|row| sheet.record(row)) else {
        println!("no record is called {name}");
        return Ok(());
    };
    println!("{}:", record.name());
    for (number, field) in sheet.fields().iter().enumerate() {
        // Numbers of 1 to 32 bits are cut out of the words of the record; texts are borrowed from the string section.
        println!("  {} ({}, {} bits): {}", field.name, field.kind.name(), field.bits, record.value(number)?);
    }
    Ok(())
}
