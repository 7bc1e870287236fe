//! VRage 3 `.vrb`: lists the chunks of an archive, finds a value by its path, and writes it as JSON.
//!
//! ```sh
//! cargo run --example vrb -- savegame.vrb Bounds.Max
//! ```
//!
//! Without a file it reads a sample.

use assetq::formats::vrage::vrb::VrbArchive;
use assetq::write::json::JsonWriter;
use assetq::{Result, Source};
use assetq_sample::{Size, vrb::demo};
use std::env;
use std::io::stdout;

/// Opens the archive, and shows one value of it.
pub fn main() -> Result<()> {
    let source = match env::args().nth(1) {
        Some(path) => Source::open(path)?,
        None => Source::from_vec("savegame.vrb", demo(1, Size::Small)),
    };
    let archive = VrbArchive::open(source)?;

    // The type table in the file says what each chunk is.
    let types = archive.types()?;
    println!("{} types", types.types().len());
    for chunk in archive.chunks()? {
        println!("{}: {} bytes", chunk.name(), chunk.data()?.bytes().len());
    }

    // Earlier values are skipped, and nothing is built: the value streams from the decoded chunk.
    let path = env::args().nth(2).unwrap_or_else(|| "Bounds".to_owned());
    match archive.find(&path)? {
        Some((chunk, value)) => {
            println!("{path}, in {} at {:#x}:", chunk.name(), value.position());
            let mut json = JsonWriter::pretty(stdout().lock());
            value.visit(&mut json)?;
            json.end_line()?;
        }
        None => println!("{path} is not in it"),
    }
    Ok(())
}
