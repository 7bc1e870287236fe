//! World of Warships `assets.bin`: looks a path up, and reads the record that it leads to.
//!
//! ```sh
//! cargo run --example assets_bin -- assets.bin content/gameplay/japan/ship/hull.visual
//! ```
//!
//! Without a file it asks a sample.

use assetq::formats::wows::bwdb::Database;
use assetq::formats::wows::bwdb::prototypes::Prototype;
use assetq::{Result, Source};
use assetq_sample::{Size, bwdb::demo};
use std::env;

/// Opens the database, and shows one visual of it.
pub fn main() -> Result<()> {
    let source = match env::args().nth(1) {
        Some(path) => Source::open(path)?,
        None => Source::from_vec("assets.bin", demo(1, Size::Small)),
    };
    // Two headers are read. The rest of the file, 170 MB of it, is not touched.
    let db = Database::open(source)?;
    println!("{} resources, {} strings", db.resource_count(), db.string_count());

    let path = match env::args().nth(2) {
        Some(path) => path,
        None => first_visual(&db)?.unwrap_or_default(),
    };
    // A probe of the file's own hash map. Nothing is allocated for it.
    let Some(resource) = db.lookup_path(&path)? else {
        println!("{path} is not in it");
        return Ok(());
    };
    println!("{path}\n  database {}, record {}", resource.database_index(), resource.record_index());

    // Fields are read where they lie, each when it is asked for, so each may be damaged by itself.
    if let Some(Prototype::Visual(visual)) = resource.record()? {
        println!("  from {:?} to {:?}", visual.min()?, visual.max()?);
        for set in visual.render_sets()?.iter() {
            let set = set?;
            let name = db.string(set.name()?.0)?.unwrap_or("?");
            let material = db.path(set.mfm()?.0)?.unwrap_or_default();
            println!("  {name}: {material}");
        }
    }
    Ok(())
}

/// The path of the first visual.
fn first_visual(db: &Database) -> Result<Option<String>> {
    for resource in db.resources() {
        if let Some(Prototype::Visual(_)) = resource.record()? {
            return db.path(resource.id());
        }
    }
    Ok(None)
}
