//! World of Warships `.geometry`: decodes its meshes, and measures its armour.
//!
//! ```sh
//! cargo run --example geometry -- hull.geometry
//! ```
//!
//! Without a file it reads a sample.

use assetq::formats::wows::geometry::{Geometry, material_name};
use assetq::view::scene::vector::bounds;
use assetq::{Result, Source};
use assetq_sample::{Size, geometry::demo};
use std::env;

/// Opens the file, and lists its meshes and armour.
pub fn main() -> Result<()> {
    let source = match env::args().nth(1) {
        Some(path) => Source::open(path)?,
        None => Source::from_vec("ship.geometry", demo(1, Size::Small)),
    };
    let geometry = Geometry::open(source)?;

    // A group is a stretch of a vertex buffer and one of an index buffer. A buffer is decoded when the first group
    // asks for it, and kept; `decode_all` decodes every buffer, in parallel.
    for group in &geometry.groups()?.groups {
        let vertices = geometry.mapped_vertices(group.vertices)?;
        let triangles = geometry.mapped_indices(group.indices)?.triangles().count();
        println!("{}: {} vertices, {triangles} triangles", group.name, vertices.len());
        if let Some((min, max)) = vertices.positions().and_then(bounds) {
            println!("  from {min:?} to {max:?}");
        }
    }

    for index in 0..geometry.armor_prototypes()?.len() {
        let armor = geometry.armor_model(index)?;
        println!("{}:", armor.name()?);
        for plate in armor.plates()? {
            let plate = plate?;
            let material = plate.header().material_id.get();
            println!("  {}: {} triangles", material_name(material).unwrap_or("?"), plate.triangles().len());
        }
    }
    Ok(())
}
