//! Geometry: what decoding, opening and writing cost. `perf` measures decoding next to the decoder alone, and by threads.
//!
//! `cargo bench -p benches --bench geometry`. With `ASSETQ_SAMPLES` the largest real file is measured too.
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

mod common;

use assetq::Source;
use assetq::formats::Reader as _;
use assetq::formats::wows::geometry::Geometry;
use assetq::formats::wows::geometry::export::{Options, Scene};
use assetq::view::scene::glb;
use assetq_sample::geometry::many;
use common::cached;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

/// The generated file: twelve buffers of 250,000 vertices.
fn generated() -> PathBuf {
    cached("bench-12x250k.geometry", || many(12, 250_000, 1))
}

/// The files that are measured, by name.
fn files() -> Vec<(String, Source)> {
    let mut files = vec![("12x250k".to_owned(), Source::open(generated()).unwrap())];
    if let Some(root) = std::env::var_os("ASSETQ_SAMPLES").map(PathBuf::from) {
        for name in ["BSA013_Colossus_1945_MidBack", "r01_military_navigation.models"] {
            let path = root.join(format!("geometry/{name}.geometry"));
            files.push((name.to_owned(), Source::open(path).unwrap()));
        }
    }
    files
}

/// Opens and decodes everything, as a user does.
fn open_and_decode(source: &Source) -> u64 {
    let g = Geometry::open(source.clone()).unwrap();
    assert!(g.decode_all().is_empty());
    g.decoded_size().unwrap()
}

fn decode(c: &mut Criterion) {
    let mut group = c.benchmark_group("decode");
    group.sample_size(10).measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_millis(500));
    for (name, source) in files() {
        let size = open_and_decode(&source);
        group.throughput(Throughput::Bytes(size));
        group.bench_function(BenchmarkId::new("all threads", &name), |b| {
            b.iter(|| assert_eq!(open_and_decode(&source), size));
        });
    }
    group.finish();
}

fn open(c: &mut Criterion) {
    let file = generated();
    let mb = std::fs::metadata(&file).unwrap().len() >> 20;
    let mut group = c.benchmark_group("open");
    group.sample_size(20).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(300));
    group.bench_function(BenchmarkId::new("map, open and list", format!("{mb} MB")), |b| {
        b.iter(|| {
            let g = Geometry::open(Source::open(&file).unwrap()).unwrap();
            let table = g.table("vertex_buffers").unwrap();
            let mut cells = 0;
            // The columns of `assetq ls`.
            for row in 0..table.len().unwrap() {
                for column in 0..table.columns().len() {
                    cells += usize::from(!black_box(table.value(row, column).unwrap()).is_null());
                }
            }
            assert_eq!(cells, 12 * 11);
        });
    });
    group.finish();
}

fn export(c: &mut Criterion) {
    let source = Source::from_vec("many.geometry", many(4, 250_000, 1));
    let g = Geometry::open(source).unwrap();
    let groups = g.groups().unwrap();
    let scene = Scene::new("many", &g, groups, None, Options::default());
    let mut size = Vec::new();
    glb::write(&scene.model(), &mut size).unwrap();
    let mut group = c.benchmark_group("export");
    group.sample_size(10).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(300));
    group.throughput(Throughput::Bytes(size.len() as u64));
    group.bench_function("glb of decoded buffers", |b| {
        b.iter(|| {
            let mut out = Vec::with_capacity(size.len());
            glb::write(&scene.model(), &mut out).unwrap();
            assert_eq!(out.len(), size.len());
        });
    });
    group.finish();
}

criterion_group!(benches, decode, open, export);
criterion_main!(benches);
