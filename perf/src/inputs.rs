//! The files that are measured, made once by the project's own builders and kept below `target/`.

use assetq::Source;
use assetq::formats::wows::bwdb::Database;
use assetq::formats::wows::bwdb::prototypes::PrototypeType;
use assetq_sample::vrb::{ArchiveBuilder, Codec, mesh, world};
use assetq_sample::{Size, bwdb, geometry, space, wows};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder that holds them.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/inputs")
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

/// `database_of`, with another value in one of a hundred visuals.
pub fn altered_of(mb: usize) -> PathBuf {
    cached(&format!("assets-{mb}-altered.bin"), || altered(&database_of(mb)))
}

/// A copy of a database with another value in one of a hundred visuals.
pub fn altered(path: &Path) -> Vec<u8> {
    let source = Source::open(path).expect("it can be mapped");
    let db = Database::open(source.clone()).expect("it is a database");
    let mut bytes = source.bytes().to_vec();
    let visual = PrototypeType::Visual.magic();
    let blobs = db.databases().map(|blob| blob.expect("it lies in the file"));
    let visuals = blobs.into_iter().find(|blob| blob.magic() == visual).expect("there are visuals");
    for record in (0..visuals.len()).step_by(100) {
        let (view, _) = visuals.record_span(record).expect("it lies in the file");
        // Its bounding box.
        bytes[view.offset() as usize + 0x50] ^= 1;
    }
    bytes
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

/// A game's folder of 400,000 files in 228 indexes.
pub fn game() -> PathBuf {
    let path = folder().join("game");
    if !path.exists() {
        eprintln!("making game");
        let part = path.with_extension("part");
        let _ = fs::remove_dir_all(&part);
        let write = |path: &str, bytes: &[u8]| {
            let path = part.join(path);
            fs::create_dir_all(path.parent().expect("it has one"))?;
            fs::write(path, bytes)
        };
        wows::game(1, Size::Full, write).expect("the target folder can be written");
        fs::rename(&part, &path).expect("the target folder can be written");
    }
    path
}

/// The game with a second build in which each hundredth file differs, and the names of both builds, the older one first. The builds share
/// volumes, because a comparison does not read them.
pub fn builds() -> (PathBuf, [String; 2]) {
    let game = game();
    let old = wows::BUILDS[1].to_owned();
    let new = format!("{}9", &old[..old.len() - 1]);
    let (from, to) = (game.join("bin").join(&old).join("idx"), game.join("bin").join(&new).join("idx"));
    if !to.exists() {
        let part = to.with_extension("part");
        fs::create_dir_all(&part).expect("the target folder can be written");
        let mut number = 0usize;
        for entry in fs::read_dir(&from).expect("it can be read") {
            let path = entry.expect("it can be read").path();
            let mut bytes = fs::read(&path).expect("it can be read");
            let word = |at: usize, bytes: &[u8]| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
            // The header has the number of files and their offset; the CRC-32 of a file is in its last 12 bytes.
            let files = u32::from_le_bytes(bytes[20..24].try_into().expect("four bytes")) as usize;
            let first = 16 + word(40, &bytes) as usize;
            for file in 0..files {
                if number.is_multiple_of(100) {
                    bytes[first + file * 48 + 36] ^= 1;
                }
                number += 1;
            }
            fs::write(part.join(path.file_name().expect("it has a name")), bytes).expect("it can be written");
        }
        fs::rename(&part, &to).expect("the target folder can be written");
    }
    (game, [old, new])
}

/// Two folders whose files all differ: a database of 170 MB, two spaces and 200 meshes.
pub fn changed_folders() -> [PathBuf; 2] {
    let database = database();
    [1, 2].map(|seed| {
        let path = folder().join(format!("changed-{seed}"));
        if !path.exists() {
            eprintln!("making changed-{seed}");
            let part = path.with_extension("part");
            let _ = fs::remove_dir_all(&part);
            fs::create_dir_all(&part).expect("the target folder can be written");
            let write = |name: &str, bytes: &[u8]| {
                fs::write(part.join(name), bytes).expect("the target folder can be written");
            };
            match seed {
                1 => fs::hard_link(&database, part.join("assets.bin")).expect("the target folder can be written"),
                _ => write("assets.bin", &altered(&database)),
            }
            for space in 0..2 {
                write(&format!("{space}-space.bin"), &space::space_bin(10 * space + seed, Size::Full));
            }
            for ship in 0..200 {
                write(&format!("{ship}.geometry"), &geometry::many(2, 10_000, 10 * ship + seed));
            }
            fs::rename(&part, &path).expect("the target folder can be written");
        }
        path
    })
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
