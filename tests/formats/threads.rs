//! Many threads query one open file, with pools of several sizes: the answers equal the answers of one thread.
//!
//! The thread sanitizer runs these tests, too: see docs/hostile.md.

use assetq::formats::wows::bwdb::Database;
use assetq::table::Tree;
use assetq::{Asset, Source};
use assetq_sample::{FILES, Size};
use rayon::ThreadPoolBuilder;
use std::fmt::Write as _;
use std::sync::Barrier;
use std::thread;

fn open(name: &str, bytes: &[u8]) -> Asset {
    Asset::open(Source::from_vec(name, bytes.to_vec())).unwrap()
}

/// Everything that an open file says: all rows of all tables, all checks, an entry, and what it finds.
fn answers(asset: &Asset, other: &Asset) -> String {
    let mut said = String::new();
    let reader = asset.reader();
    for table in reader.tables() {
        let mut rows = table.cursor(0);
        let mut shown = 0;
        while rows.advance().unwrap() {
            for column in 0..table.columns().len() {
                write!(said, "{:?},", rows.value(column).unwrap()).unwrap();
            }
            shown += 1;
            if shown == 1 {
                let mut tree = Tree::default();
                let entry = rows.value(table.label()).unwrap().to_string();
                let found = reader.cat(&entry, &mut tree).unwrap();
                write!(said, "{found} {tree:?}").unwrap();
            }
        }
        writeln!(said, "{} {} {shown}", table.name(), table.len().unwrap_or_default()).unwrap();
    }
    write!(said, "{:?} {:?}", reader.facts(), reader.sections()).unwrap();
    write!(said, "{:?}", reader.verify(&Default::default())).unwrap();
    said + &in_parallel(asset, other)
}

/// Results that several threads compute: checks, differences, references, many lookups, decoded meshes.
fn in_parallel(asset: &Asset, other: &Asset) -> String {
    let mut said = String::new();
    let reader = asset.reader();
    write!(said, "{:?}", reader.verify(&Default::default())).unwrap();
    if let Some(database) = asset.get::<Database>() {
        let ids: Vec<u64> = database.resources().map(|resource| resource.id()).collect();
        let mut out = vec![None; ids.len()];
        write!(said, "{}", database.lookup_many(&ids, &mut out).unwrap()).unwrap();
        for id in ids {
            write!(said, "{:?} {:?}", database.path(id).unwrap(), database.lookup(id).unwrap().map(|r| r.state()))
                .unwrap();
        }
    }
    if let Some(geometry) = asset.get::<assetq::formats::wows::geometry::Geometry>() {
        for group in &geometry.groups().unwrap().groups {
            let positions =
                geometry.mapped_vertices(group.vertices).unwrap().positions().map(Iterator::collect::<Vec<_>>);
            let triangles: Vec<_> = geometry.mapped_indices(group.indices).unwrap().triangles().collect();
            write!(said, "{positions:?} {triangles:?}").unwrap();
        }
    }
    for table in assetq::diff::tables(asset, other, &[]).unwrap() {
        write!(said, "{} {:?}", table.name(), table.find(&Default::default(), 0)).unwrap();
    }
    write!(said, "{:?}", assetq::query::refs::scan(asset, &|_, _| true)).unwrap();
    said
}

#[test]
fn sixteen_threads_on_one_file_are_told_what_one_is_told() {
    for (name, _, make) in FILES {
        let [bytes, other] = [5, 6].map(|seed| make(seed, Size::Small));
        let expected = answers(&open(name, &bytes), &open(name, &other));
        // Lazily decoded values are decoded while all threads query them.
        let (shared, other) = (open(name, &bytes), open(name, &other));
        let together = Barrier::new(16);
        thread::scope(|scope| {
            let ask = || {
                together.wait();
                answers(&shared, &other)
            };
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
            for said in threads.into_iter().map(|thread| thread.join().unwrap()) {
                assert!(said == expected, "{name}");
            }
        });
    }
}

#[test]
fn pools_of_any_size_give_the_same_answers_every_time() {
    type Made = (&'static str, Vec<u8>, Vec<u8>);
    let files: Vec<Made> =
        FILES.iter().map(|(name, _, make)| (*name, make(5, Size::Small), make(6, Size::Small))).collect();
    let ask = |(name, bytes, other): &Made| in_parallel(&open(name, bytes), &open(name, other));
    let expected: Vec<String> = files.iter().map(ask).collect();
    for threads in [1, 2, 8] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for time in 0..300 {
            let at = time % files.len();
            let said = pool.install(|| ask(&files[at]));
            assert!(said == expected[at], "{}, {threads} threads, time {time}", files[at].0);
        }
    }
}
