//! The first programs of a newcomer, each a function whose body has at most eight lines: open, look up, iterate, decode, draw, query, compare,
//! edit, and read an archive.
//!
//! ```sh
//! cargo run --example first
//! ```
//!
//! It reads samples, which it makes in a temporary folder.

#![expect(clippy::arithmetic_side_effects, clippy::expect_used, reason = "a first program is written so")]

use assetq::edit::AssetEdit as _;
use assetq::formats::wows::bwdb::{Database, prototypes::Prototype};
use assetq::formats::wows::geometry::Geometry;
use assetq::{Asset, Result, diff, sql, view};
use std::path::Path;

/// A visual of the sample.
const VISUAL: &str = "content/gameplay/usa/ship/submarine/USS000_Antenna/USS0001.visual";

/// Opens a file of any format, and lists its tables.
fn open(path: &Path) -> Result<()> {
    let asset = Asset::open(path)?;
    println!("{}", asset.format());
    for table in asset.reader().tables() {
        println!("  {}: {} rows", table.name(), table.len()?);
    }
    Ok(())
}

/// Iterates over the rows of a table.
fn rows(path: &Path) -> Result<()> {
    let mut bytes = 0;
    for row in Asset::open(path)?.table("resources")?.rows() {
        bytes += row?.get::<Option<u64>>("size")?.unwrap_or(0);
    }
    println!("{bytes} bytes of records");
    Ok(())
}

/// Looks a row up by its name or key.
fn row(path: &Path) -> Result<()> {
    let sheet = Asset::open(path)?;
    let save: u64 = sheet.table("records")?.row("r0000005")?.get("u9SaveIndex")?;
    println!("r0000005 has index {save}");
    Ok(())
}

/// Looks a record up by its path, and reads the render sets of the visual there.
fn render_sets(path: &Path) -> Result<()> {
    let db = Database::open(path)?;
    if let Some(Prototype::Visual(visual)) = db.record(Database::path_id(VISUAL))? {
        for set in visual.render_sets()? {
            let set = set?;
            println!("{:?}: {:?}", db.string(set.name()?)?, db.path(set.mfm()?)?);
        }
    }
    Ok(())
}

/// Decodes the meshes of a geometry.
fn meshes(path: &Path) -> Result<()> {
    let geometry = Geometry::open(path)?;
    for group in &geometry.groups()?.groups {
        let vertices = geometry.mapped_vertices(group.vertices)?;
        println!("{}: {} vertices", group.name, vertices.len());
    }
    Ok(())
}

/// Draws a geometry as GLB.
fn glb(path: &Path) -> Result<()> {
    let notes = view::draw(&Asset::open(path)?, path.with_extension("glb"))?;
    println!("GLB with {} notes", notes.len());
    Ok(())
}

/// Queries a file in SQL.
fn query(path: &Path) -> Result<()> {
    let db = Asset::open(path)?;
    for row in &sql::query(&db, "SELECT type, count(*) AS n FROM resources GROUP BY type ORDER BY n DESC LIMIT 2")? {
        let row = row?;
        println!("{}: {}", row.get::<String>("type")?, row.get::<u64>("n")?);
    }
    Ok(())
}

/// Compares two files.
fn differences(old: &Path, new: &Path) -> Result<()> {
    for table in diff::tables(&Asset::open(old)?, &Asset::open(new)?, &[])? {
        for change in table.changes()? {
            println!("{}: {change}", table.name());
        }
    }
    Ok(())
}

/// Changes one value, and writes the new file.
fn edit(path: &Path, new: &Path) -> Result<()> {
    let sheet = Asset::open(path)?;
    sheet.edit().set("records", "r0000005", "u9SaveIndex", 300)?.write(new)?;
    Ok(())
}

/// Lists the files of an archive, and reads one of them.
fn archive(path: &Path) -> Result<()> {
    let pack = Asset::open(path)?;
    for file in pack.archive()?.files() {
        let file = file?;
        println!("{}: {} bytes", file.path, pack.read(&file.path)?.bytes().len());
    }
    Ok(())
}

/// Makes the samples, and runs the programs.
pub fn main() -> Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let at = |name: &str| folder.path().join(name);
    for (name, _, make) in assetq_sample::FILES {
        std::fs::write(at(name), make(1, assetq_sample::Size::Small)).expect("the folder is writable");
    }
    let (db, sheet, new) = (at("assets.bin"), at("sheet.wdb"), at("new.wdb"));
    open(&sheet)?;
    rows(&db)?;
    row(&sheet)?;
    render_sets(&db)?;
    meshes(&at("ship.geometry"))?;
    glb(&at("ship.geometry"))?;
    query(&db)?;
    edit(&sheet, &new)?;
    differences(&sheet, &new)?;
    archive(&at("pack.bin"))
}
