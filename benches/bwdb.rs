//! Prototype databases: questions to the map, against everything parsed into owned values.
//!
//! `cargo bench --bench bwdb` measures each case, then prints the ratios that the project promises, each pair measured
//! in turn in one run. Every case asserts its answer.
#![allow(
    missing_docs,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation
)]

mod common;

use assetq::bwdb::{Database, Location};
use assetq::sample::{Size, bwdb::demo};
use assetq::table::Value;
use assetq::{Reader as _, Source};
use common::{cached, claim, medians};
use criterion::{Criterion, Throughput, criterion_group};
use hashbrown::HashMap;
use std::hint::black_box;
use std::io::Write as _;
use std::path::{Path, PathBuf};

fn file() -> PathBuf {
    cached("bench-assets.bin", || demo(1, Size::Full))
}

fn open(path: &Path) -> Database {
    Database::open(Source::open(path).unwrap()).unwrap()
}

/// Everything in owned values, as a parser makes it: names, resources, paths; records stay bytes.
struct Parsed {
    strings: HashMap<u32, String>,
    resources: HashMap<u64, u32>,
    paths: HashMap<u64, (u64, String)>,
    blobs: Vec<Vec<u8>>,
}

impl Parsed {
    fn parse(bytes: &[u8]) -> Self {
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let target = |pointer: usize, base: usize| (base as i64 + u64_at(pointer) as i64) as usize;
        let text = |at: usize, len: usize| String::from_utf8(bytes[at..at + len].to_vec()).unwrap();
        let (capacity, buckets) = (u32_at(0x10) as usize, target(0x18, 0x10));
        let (values, pool) = (target(0x20, 0x10), target(0x30, 0x10));
        let strings = (0..capacity).filter(|i| u32_at(buckets + i * 8 + 4) != 0).map(|i| {
            let at = pool + u32_at(values + i * 4) as usize;
            let len = bytes[at..].iter().position(|&b| b == 0).unwrap();
            (u32_at(buckets + i * 8), text(at, len))
        });
        let strings = strings.collect();
        let (capacity, buckets, values) = (u32_at(0x38) as usize, target(0x40, 0x38), target(0x48, 0x38));
        let resources = (0..capacity)
            .filter(|i| u64_at(buckets + i * 16 + 8) != 0)
            .map(|i| (u64_at(buckets + i * 16), u32_at(values + i * 4)))
            .collect();
        let (count, entries) = (u32_at(0x50) as usize, target(0x58, 0x50));
        let paths = (0..count).map(|i| {
            let at = entries + i * 32;
            let name = text(target(at + 0x18, at + 0x10), u32_at(at + 0x10) as usize - 1);
            (u64_at(at), (u64_at(at + 8), name))
        });
        let paths = paths.collect();
        let (count, entries) = (u32_at(0x60) as usize, target(0x68, 0x10));
        let blobs = (0..count).map(|i| {
            let at = entries + i * 24;
            let blob = target(at + 16, at);
            bytes[blob..blob + u32_at(at + 8) as usize].to_vec()
        });
        let blobs = blobs.collect();
        Self { strings, resources, paths, blobs }
    }

    fn path(&self, id: u64) -> String {
        match self.paths.get(&id) {
            Some((0, name)) => name.clone(),
            Some((parent, name)) => format!("{}/{name}", self.path(*parent)),
            None => String::new(),
        }
    }
}

/// Ids of resources in random order, and as many that are not there.
fn ids(db: &Database) -> (Vec<u64>, Vec<u64>) {
    let mut hits: Vec<u64> = db.resources().map(|r| r.id()).collect();
    let mut rng = fastrand::Rng::with_seed(9);
    rng.shuffle(&mut hits);
    let misses = (0..hits.len()).map(|_| rng.u64(..)).collect();
    (hits, misses)
}

fn sum(db: &Database, ids: &[u64]) -> usize {
    ids.iter().filter_map(|&id| db.lookup(id).unwrap()).map(|r| r.record_index() + 1).sum()
}

fn sum_many(db: &Database, ids: &[u64], out: &mut [Option<Location>]) -> usize {
    db.lookup_many(ids, out).unwrap();
    out.iter().flatten().map(|r| r.record_index() + 1).sum()
}

fn sum_map(map: &HashMap<u64, u32>, ids: &[u64]) -> usize {
    ids.iter().filter_map(|id| map.get(id)).map(|v| (v >> 8) as usize + 1).sum()
}

/// All paths, a line each, as `ls` writes them.
fn list(db: &Database, out: &mut impl std::io::Write) -> usize {
    let table = db.table("paths").unwrap();
    let mut cursor = table.cursor(0);
    let mut count = 0;
    while cursor.advance().unwrap() {
        let Value::Text(path) = cursor.value(3).unwrap() else { panic!() };
        out.write_all(path.as_bytes()).unwrap();
        out.write_all(b"\n").unwrap();
        count += 1;
    }
    count
}

fn list_owned(bytes: &[u8], out: &mut impl std::io::Write) -> usize {
    let parsed = Parsed::parse_paths(bytes);
    let paths: Vec<String> = parsed.0.iter().map(|id| parsed.1.path(*id)).collect();
    paths.iter().for_each(|path| writeln!(out, "{path}").unwrap());
    paths.len()
}

impl Parsed {
    /// Only what listing paths needs, in file order.
    fn parse_paths(bytes: &[u8]) -> (Vec<u64>, Self) {
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (count, entries) = (u32_at(0x50) as usize, 0x50 + u64_at(0x58) as usize);
        let at = |i: usize| entries + i * 32;
        let name = |i: usize| {
            let start = at(i) + 0x10 + u64_at(at(i) + 0x18) as usize;
            String::from_utf8(bytes[start..start + u32_at(at(i) + 0x10) as usize - 1].to_vec()).unwrap()
        };
        let paths = (0..count).map(|i| (u64_at(at(i)), (u64_at(at(i) + 8), name(i)))).collect();
        let order = (0..count).map(|i| u64_at(at(i))).collect();
        (order, Self { strings: HashMap::new(), resources: HashMap::new(), paths, blobs: Vec::new() })
    }
}

fn cases(c: &mut Criterion) {
    let path = file();
    let db = open(&path);
    let bytes = std::fs::read(&path).unwrap();
    let parsed = Parsed::parse(&bytes);
    let (hits, misses) = ids(&db);
    let expected = sum_map(&parsed.resources, &hits);
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
    group.bench_function("hashbrown/hit", |b| b.iter(|| assert_eq!(sum_map(&parsed.resources, &hits), expected)));
    group.bench_function("hashbrown/miss", |b| b.iter(|| assert_eq!(sum_map(&parsed.resources, &misses), 0)));
    group.throughput(Throughput::Elements(db.paths().len() as u64));
    group.bench_function("list_paths", |b| {
        b.iter(|| assert_eq!(list(&db, &mut std::io::sink()), parsed.paths.len()));
    });
    group.bench_function("verify", |b| b.iter(|| assert!(db.verify(&Default::default()).ok())));
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

    let expected = sum_map(&parsed.resources, &hits);
    let hot = |ids: &[u64], expected: usize, what: &str| {
        let (a, b) = medians(
            41,
            || assert_eq!(sum(&db, ids), expected),
            || assert_eq!(sum_map(&parsed.resources, ids), expected),
        );
        claim(what, a, b, "<= 1.2");
        let mut out = vec![None; ids.len()];
        let (a, b) = medians(
            41,
            || assert_eq!(sum_many(&db, ids, &mut out), expected),
            || assert_eq!(sum_map(&parsed.resources, ids), expected),
        );
        claim(&format!("{what}, many at once"), a, b, "<= 0.7");
    };
    hot(&hits, expected, "lookup / hashbrown get, hits");
    hot(&misses, 0, "lookup / hashbrown get, misses");

    let some: Vec<(u64, String)> = hits.iter().take(20_000).map(|&id| (id, parsed.path(id))).collect();
    let (a, b) = medians(
        21,
        || some.iter().filter(|(_, p)| db.lookup_path(p).unwrap().is_some()).count(),
        || some.iter().filter(|(_, p)| db.lookup(assetq::codec::cityhash64(p.as_bytes())).unwrap().is_some()).count(),
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
            let position = db.paths().find(deep).unwrap();
            db.paths().path_at(position).unwrap()
        },
    );
    claim("one path by scanning / by an index built for it", a, b, "< 1");
    assert!(parsed.strings.len() > 300_000);
    std::io::stdout().flush().unwrap();
}

criterion_group!(benches, cases);

fn main() {
    benches();
    ratios();
    Criterion::default().configure_from_args().final_summary();
}
