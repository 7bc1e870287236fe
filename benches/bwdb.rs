//! Prototype databases: questions to the map. `perf` measures them next to other readers.
//!
//! `cargo bench -p benches --bench bwdb` measures each case, then prints what indexes cost next to scans, each pair measured in turn
//! in one run. Every case asserts its answer.
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

mod common;

use assetq::Source;
use assetq::formats::Reader as _;
use assetq::formats::wows::bwdb::Database;
use assetq_sample::{Size, bwdb::demo};
use common::questions::{ids, list, sum, sum_many};
use common::{cached, claim, medians, rounds};
use criterion::{Criterion, Throughput, criterion_group};
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
    let (hits, misses) = ids(&db);
    let expected = hits.iter().map(|&id| db.lookup(id).unwrap().unwrap().record_index() + 1).sum::<usize>();
    let mut out = vec![None; hits.len()];

    let mut group = c.benchmark_group("bwdb");
    group.sample_size(10);
    group.bench_function("open", |b| b.iter(|| open(&path).database_count()));
    group.bench_function("open_and_lookup", |b| {
        b.iter(|| assert!(open(&path).lookup(hits[0]).unwrap().is_some()));
    });
    group.throughput(Throughput::Elements(hits.len() as u64));
    group.bench_function("lookup/hit", |b| b.iter(|| assert_eq!(sum(&db, &hits), expected)));
    group.bench_function("lookup/miss", |b| b.iter(|| assert_eq!(sum(&db, &misses), 0)));
    group.bench_function("lookup/many", |b| b.iter(|| assert_eq!(sum_many(&db, &hits, &mut out), expected)));
    let names: Vec<u32> = db.strings().map(|(id, _)| id).collect();
    assert!(names.len() > 300_000);
    group.throughput(Throughput::Elements(names.len() as u64));
    group.bench_function("string", |b| {
        b.iter(|| assert!(names.iter().all(|&id| db.string(id).unwrap().is_some())));
    });
    let some: Vec<String> = hits.iter().take(20_000).map(|&id| db.path(id).unwrap().unwrap()).collect();
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
        b.iter(|| assert_eq!(list(&db, &mut std::io::sink()), db.paths().len()));
    });
    group.bench_function("verify", |b| b.iter(|| assert!(db.verify(&Default::default()).is_ok())));
    group.finish();
}

fn ratios() {
    let path = file();
    let db = open(&path);
    let (hits, _) = ids(&db);
    println!("\nratios, {} resources, {} paths:", hits.len(), db.paths().len());
    let depth = |id: &u64| db.path(*id).unwrap().unwrap().matches('/').count();
    let deep = hits.iter().copied().max_by_key(depth).unwrap();
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
