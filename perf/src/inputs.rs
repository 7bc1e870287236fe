//! The files that are measured, made once by the project's own builders and kept below `target/`.

use assetq::sample::vrb::{ArchiveBuilder, Codec, mesh, world};
use assetq::sample::{Size, bwdb, geometry};
use std::fs;
use std::path::PathBuf;

/// The folder that holds them.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/inputs")
}

/// The file called `name`, made by `make` where it is not there yet.
pub fn cached(name: &str, make: impl FnOnce() -> Vec<u8>) -> PathBuf {
    let path = folder().join(name);
    if !path.exists() {
        eprintln!("making {name}");
        let part = path.with_extension("part");
        fs::create_dir_all(folder()).expect("the target folder can be written");
        fs::write(&part, make()).expect("the target folder can be written");
        fs::rename(&part, &path).expect("the target folder can be written");
    }
    path
}

/// A database with the section sizes of a real one.
pub fn database() -> PathBuf {
    cached("assets.bin", || bwdb::demo(1, Size::Full))
}

/// A database of about `mb` megabytes.
pub fn database_of(mb: usize) -> PathBuf {
    cached(&format!("assets-{mb}.bin"), || bwdb::demo_of(1, mb * 1_000_000))
}

/// Vertices of each buffer of a mesh file.
const VERTICES: u32 = 62_500;
/// Bytes of a vertex and of its share of the indices, decoded: 28, and six of 4.
const DECODED: usize = 52;

/// Packed buffers that decode to about `mb` megabytes.
pub fn geometry_of(mb: usize) -> PathBuf {
    let (buffers, vertices) = match mb * 1_000_000 / (VERTICES as usize * DECODED) {
        0 => (1, (mb * 1_000_000 / DECODED) as u32),
        buffers => (buffers as u16, VERTICES),
    };
    cached(&format!("ship-{mb}.geometry"), || geometry::many(buffers, vertices, 1))
}

/// Meshes in six chunks, stored by one codec.
pub fn archive(name: &str, codec: Codec) -> PathBuf {
    cached(&format!("{name}.vrb"), || {
        let world = world();
        let hull = mesh(2, 300_000);
        let main = ArchiveBuilder::new(&world.types, world.mesh, codec, hull.clone());
        (0..5).fold(main, |b, i| b.chunk(&format!("Vertex_{i}"), world.mesh, codec, hull.clone())).build()
    })
}
