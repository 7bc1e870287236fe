//! Budgets: the cost of reading a damaged file of each format to its end.

use crate::{GLOBAL, common};
use assetq::formats::wows::game_folder::Variant;
use assetq::query::archive;
use assetq::table::Tree;
use assetq::{Asset, Options, Source};
use assetq_sample::vrb::{ArchiveBuilder, Codec, TypesBuilder, ValuesBuilder, builtin, seal};
use assetq_sample::wows::Package;
use assetq_sample::{FILES, Size, bwdb, deflate, geometry, wdata, wdb};
use stats_alloc::{Region, Stats};

/// All that was allocated while `work` ran, whether it was freed or not.
fn cost(work: impl FnOnce()) -> Stats {
    let region = Region::new(GLOBAL);
    work();
    region.change()
}

fn cases(few: usize) -> usize {
    std::env::var("ASSETQ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(few)
}

fn damaged_files_cost_little() {
    for (name, _, make) in FILES {
        let whole = make(7, Size::Small);
        let mut rng = fastrand::Rng::with_seed(11);
        for case in 0..cases(15) {
            let bytes = common::damaged(&mut rng, &whole);
            let kept = bytes.clone();
            let made = cost(|| _ = common::read_everything(name, bytes));
            // The sum of all that was allocated is more than there was at any time.
            let most = (64 << 20) + 2 * kept.len();
            assert!(
                made.bytes_allocated < most,
                "{name} {case}: {} bytes for a file of {}",
                made.bytes_allocated,
                kept.len()
            );
        }
    }
}

/// Three times the file is three times the work, counted by allocations: rows, cells, entries and checks.
fn work_grows_with_the_file() {
    let sheet = |rows: usize| wdb::generated(3, wdb::Game::Later, rows, 12).build();
    let map = |boxes: u32| wdata::write(&wdata::large(boxes)).bytes;
    type Make<'m> = (&'m str, &'m dyn Fn(usize) -> Vec<u8>);
    let makes: [Make<'_>; 4] = [
        ("assets.bin", &|times| bwdb::demo_of(3, times * 1_000_000)),
        ("ship.geometry", &|times| geometry::many(2, times as u32 * 1000, 3)),
        ("sheet.wdb", &|times| sheet(times * 100)),
        ("town.wdata", &|times| map(times as u32 * 400)),
    ];
    for (name, make) in makes {
        let [small, large] = [1, 3].map(|times| {
            let bytes = make(times);
            let size = bytes.len();
            let asset = Asset::open(Source::from_vec(name, bytes)).unwrap();
            let made = cost(|| {
                for table in asset.reader().tables() {
                    let mut rows = table.cursor(0);
                    while rows.advance().unwrap() {
                        (0..table.columns().len()).for_each(|column| drop(rows.value(column)));
                    }
                }
                assert!(asset.reader().verify(&Default::default()).is_ok(), "{name}");
            });
            (size as f64, made.allocations as f64, made.bytes_allocated as f64)
        });
        let grown = large.0 / small.0;
        assert!(grown > 2.0, "{name}: {grown}");
        for (what, ratio) in [("allocations", large.1 / small.1), ("bytes", large.2 / small.2)] {
            assert!(ratio < grown * 1.5, "{name}: {ratio:.1} times the {what} for {grown:.1} times the file");
        }
    }
}

/// A part that says that it is small, and is a bomb: no more is decoded than was said.
fn no_more_is_decoded_than_was_declared() {
    let bomb = vec![0u8; 32 << 20];
    // In an archive of VRage the size of a chunk follows its stored size.
    for codec in [Codec::Zlib, Codec::Deflate, Codec::Brotli] {
        let mut data = ValuesBuilder::new();
        data.present().i32(bomb.len() as i32).bytes(&bomb);
        let mut bytes = ArchiveBuilder::new(&TypesBuilder::new(), builtin::STRING, codec, data.into_bytes()).build();
        let declared = (bomb.len() as i64 + 5).to_le_bytes();
        let at = memchr::memmem::find(&bytes, &declared).unwrap();
        bytes[at..at + 8].copy_from_slice(&1000i64.to_le_bytes());
        seal(&mut bytes);
        let asset = Asset::open(Source::from_vec("a.vrb", bytes)).unwrap();
        let made = cost(|| assert!(asset.reader().cat("[Main]", &mut Tree::default()).is_err()));
        // A decoder of Brotli has a window of 4 MB.
        assert!(made.bytes_allocated < 8 << 20, "{codec:?}: {} bytes", made.bytes_allocated);
    }
    // In an archive of World of Warships it stands in the index.
    let mut package = Package::new(Variant::V2, "a.pkg");
    package.packed("bomb.xml", [5, 1], &deflate(&bomb, 9, false), 0, 1000);
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.idx"), package.index()).unwrap();
    std::fs::write(dir.path().join("a.pkg"), &package.volumes[0].1).unwrap();
    let game = Asset::open(Options::default().source(dir.path()).unwrap()).unwrap();
    let files = game.reader().archive().unwrap();
    let file = files.find("bomb.xml").unwrap().unwrap();
    let made = cost(|| assert!(archive::open(files, &file, "game").is_err()));
    assert!(made.bytes_allocated < 1 << 20, "{} bytes", made.bytes_allocated);
    // In a geometry it is the count of the buffer, which says how many there are whatever the stream holds.
    let mut builder = geometry::GeometryBuilder::new();
    let stored = geometry::encode_vertices(&bomb[..28 * 40_000], 28);
    builder.vertex_blob("set3/xyznuvtbpc", 28, geometry::encd(10, stored));
    let asset = Asset::open(Source::from_vec("a.geometry", builder.build())).unwrap();
    let made = cost(|| drop(asset.reader().verify(&Default::default())));
    assert!(made.bytes_allocated < 1 << 20, "{} bytes", made.bytes_allocated);
}

/// Pictures, pages and documents are as large as what they show, and as deep as the format is.
fn outputs_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    for (name, _, make) in FILES {
        for (folder, seed) in [("a", 1), ("b", 2)] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
            std::fs::write(dir.path().join(folder).join(name), make(seed, Size::Small)).unwrap();
        }
        let [a, b] = ["a", "b"].map(|folder| format!("{folder}/{name}"));
        let size = std::fs::metadata(dir.path().join(&a)).unwrap().len() as usize;
        let mut lines = vec![vec!["diff", &a, &b, "-f", "html"], vec!["info", &a, "-f", "json"]];
        if ["ship.geometry", "town.wdata"].contains(name) {
            lines.push(vec!["export", &a, "--to", "-", "--as", "svg"]);
        }
        if *name == "savegame.vrb" {
            lines.push(vec!["cat", &a, "[Main]", "-f", "json"]);
        }
        for args in lines {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_assetq"));
            let out = command.current_dir(dir.path()).args(&args).output().unwrap();
            let text = String::from_utf8(out.stdout).unwrap();
            assert!(matches!(out.status.code(), Some(0 | 1)) && !text.is_empty(), "{args:?}");
            // A page has its script in it, whatever it shows.
            assert!(text.len() < 64 * size + (512 << 10), "{args:?}: {} bytes for a file of {size}", text.len());
            let (opening, closing): (&[u8], &[u8]) =
                if text.starts_with(['{', '[']) { (b"[{", b"]}") } else { continue };
            let mut depth = 0i32;
            let mut deepest = 0;
            for byte in text.bytes() {
                depth += i32::from(opening.contains(&byte)) - i32::from(closing.contains(&byte));
                deepest = deepest.max(depth);
            }
            assert!(deepest < 64, "{args:?}: {deepest} deep");
        }
    }
}

pub fn damaged_files_stay_within_their_budgets() {
    damaged_files_cost_little();
    work_grows_with_the_file();
    no_more_is_decoded_than_was_declared();
    outputs_are_bounded();
}
