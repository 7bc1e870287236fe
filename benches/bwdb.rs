//! Prototype databases: questions to the map, against everything parsed into owned values.
//!
//! `cargo bench -p benches --bench bwdb` measures each case, then prints the ratios that the project promises, each pair measured
//! in turn in one run. Every case asserts its answer.
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

mod common;

use assetq::Source;
use assetq::formats::Reader as _;
use assetq::formats::wows::bwdb::Database;
use assetq_sample::{Size, bwdb::demo};
use common::owned::{Parsed, list as list_owned};
use common::questions::{ids, list, sum, sum_many};
use common::{cached, claim, medians, rounds};
use criterion::{Criterion, Throughput, criterion_group};
use std::hint::black_box;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn file() -> PathBuf {
    cached("bench-assets.bin", || demo(1, Size::Full))
}

fn open(path: &Path) -> Database {
    Database::open(Source::open(path).unwrap()).unwrap()
}

fn cases(c: &mut Criterion) {
    let path = file();
    let db = open(&path);
    let bytes = std::fs::read(&path).unwrap();
    let parsed = Parsed::parse(&bytes);
    let (hits, misses) = ids(&db);
    let expected = parsed.sum(&hits);
    let mut out = vec![None; hits.len()];

    let mut group = c.benchmark_group("bwdb");
    group.sample_size(10);
    group.bench_function("open", |b| b.iter(|| open(&path).database_count()));
    group.bench_function("open_and_lookup", |b| {
        b.iter(|| assert!(open(&path).lookup(hits[0]).unwrap().is_some()));
    });
    group.bench_function("full_parse", |b| b.iter(|| Parsed::parse(black_box(&bytes)).blobs.len()));
    group.throughput(Throughput::Elements(hits.len() as u64));
    group.bench_function("lookup/hit", |b| b.iter(|| assert_eq!(sum(&db, &hits), expected)));
    group.bench_function("lookup/miss", |b| b.iter(|| assert_eq!(sum(&db, &misses), 0)));
    group.bench_function("lookup/many", |b| b.iter(|| assert_eq!(sum_many(&db, &hits, &mut out), expected)));
    group.bench_function("hashbrown/hit", |b| b.iter(|| assert_eq!(parsed.sum(&hits), expected)));
    group.bench_function("hashbrown/miss", |b| b.iter(|| assert_eq!(parsed.sum(&misses), 0)));
    let names: Vec<u32> = parsed.strings.keys().copied().collect();
    group.throughput(Throughput::Elements(names.len() as u64));
    group.bench_function("string", |b| {
        b.iter(|| assert!(names.iter().all(|&id| db.string(id).unwrap().is_some())));
    });
    let some: Vec<String> = hits.iter().take(20_000).map(|&id| parsed.path(id)).collect();
    group.throughput(Throughput::Elements(some.len() as u64));
    group.bench_function("lookup_path", |b| {
        b.iter(|| assert!(some.iter().all(|path| db.lookup_path(path).unwrap().is_some())));
    });
    // Without an index, as one question is answered.
    group.throughput(Throughput::Elements(1));
    group.bench_function("path_of_an_id/scan", |b| {
        b.iter(|| assert_eq!(open(&path).path(hits[0]).unwrap().as_ref(), Some(&some[0])));
    });
    for name in ["paths", "resources", "materials", "visuals", "render_sets"] {
        let table = db.table(name).unwrap();
        group.throughput(Throughput::Elements(table.len().unwrap() as u64));
        group.bench_function(format!("table/{name}"), |b| {
            b.iter(|| {
                let mut cursor = table.cursor(0);
                let mut cells = 0usize;
                while cursor.advance().unwrap() {
                    cells += (0..table.columns().len()).filter(|&c| !cursor.value(c).unwrap().is_null()).count();
                }
                assert!(cells > table.len().unwrap());
            });
        });
    }
    group.throughput(Throughput::Elements(db.paths().len() as u64));
    group.bench_function("list_paths", |b| {
        b.iter(|| assert_eq!(list(&db, &mut std::io::sink()), parsed.paths.len()));
    });
    group.bench_function("verify", |b| b.iter(|| assert!(db.verify(&Default::default()).is_ok())));
    group.finish();
}

fn ratios() {
    let path = file();
    let bytes = std::fs::read(&path).unwrap();
    let parsed = Parsed::parse(&bytes);
    let db = open(&path);
    let (hits, misses) = ids(&db);
    let one = hits[0];
    println!("\nratios, {} resources, {} paths:", parsed.resources.len(), parsed.paths.len());

    let (a, b) = medians(
        11,
        || Parsed::parse(&std::fs::read(&path).unwrap()).resources[&one],
        || open(&path).lookup(one).unwrap().unwrap().record_index() as u32,
    );
    claim("full parse + lookup / open + one lookup", a, b, ">= 1000");

    let expected = parsed.sum(&hits);
    let one_core = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let hot = |ids: &[u64], expected: usize, what: &str| {
        let (a, b) = medians(41, || assert_eq!(sum(&db, ids), expected), || assert_eq!(parsed.sum(ids), expected));
        claim(what, a, b, "<= 1.0");
        let mut out = vec![None; ids.len()];
        let many = || assert_eq!(sum_many(&db, ids, &mut out), expected);
        let (a, b) = one_core.install(|| medians(41, many, || assert_eq!(parsed.sum(ids), expected)));
        claim(&format!("{what}, many at once on one core"), a, b, "<= 0.5");
    };
    hot(&hits, expected, "lookup / hashbrown get, hits");
    hot(&misses, 0, "lookup / hashbrown get, misses");

    let some: Vec<(u64, String)> = hits.iter().take(20_000).map(|&id| (id, parsed.path(id))).collect();
    let (a, b) = medians(
        21,
        || some.iter().filter(|(_, p)| db.lookup_path(p).unwrap().is_some()).count(),
        || {
            some.iter()
                .filter(|(_, p)| db.lookup(assetq_core::codec::cityhash64(p.as_bytes())).unwrap().is_some())
                .count()
        },
    );
    claim("lookup_path / hash + lookup", a, b, "<= 1.5");

    let tmp = path.with_extension("paths");
    let create = || std::io::BufWriter::with_capacity(1 << 16, std::fs::File::create(&tmp).unwrap());
    let (a, b) = medians(9, || list_owned(&bytes, &mut create()), || list(&open(&path), &mut create()));
    assert_eq!(list_owned(&bytes, &mut create()), list(&db, &mut create()));
    claim("list all paths with owned strings / from the map", a, b, ">= 3");

    let deep = hits.iter().copied().max_by_key(|&id| parsed.path(id).matches('/').count()).unwrap();
    let (a, b) = medians(
        11,
        || open(&path).path(deep).unwrap().unwrap(),
        || {
            let db = open(&path);
            db.paths().build_index();
            let position = db.paths().find(deep).unwrap();
            db.paths().path_at(position).unwrap()
        },
    );
    claim("one path by scanning / by an index built for it", a, b, "< 1");
    prices(&path);
    assert!(parsed.strings.len() > 300_000);
    std::io::stdout().flush().unwrap();
}

/// The prices of indexes that `bwdb/paths.rs` sets: what is paid before one is made, and what making it costs.
fn prices(path: &Path) {
    let (mut scans, mut index, mut joins, mut folders) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds(9) {
        let db = open(path);
        // No entry has this id. The longest question is the one that makes the index.
        let times: Vec<Duration> = (0..40).map(|_| timed(|| assert_eq!(db.paths().find(1), None))).collect();
        let (paid, made) = paid_and_made(&times);
        scans.push(paid);
        index.push(made);
        let positions = (0..db.paths().len()).step_by(7);
        let times: Vec<Duration> =
            positions.map(|at| timed(|| assert!(!db.paths().path_at(at).unwrap().is_empty()))).collect();
        let (paid, made) = paid_and_made(&times);
        joins.push(paid);
        folders.push(made);
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    claim("scans until the index of ids is made / making it", median(&mut scans), median(&mut index), "0.3 to 3");
    claim(
        "joins until the paths of folders are made / making them",
        median(&mut joins),
        median(&mut folders),
        "0.3 to 3",
    );
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// The sum of the times before the longest, and the longest.
fn paid_and_made(times: &[Duration]) -> (Duration, Duration) {
    let longest = (0..times.len()).max_by_key(|&at| times[at]).unwrap();
    (times[..longest].iter().sum(), times[longest])
}

criterion_group!(benches, cases);

fn main() {
    benches();
    ratios();
    Criterion::default().configure_from_args().final_summary();
}
