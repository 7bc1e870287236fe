//! Geometry: what decoding costs besides the decoder itself, what a second thread gives, and what opening costs.
//!
//! `cargo bench --bench geometry`. With `ASSETQ_SAMPLES` the largest real file is measured too.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs
)]

use assetq::geometry::Geometry;
use assetq::geometry::export::{Options, Scene, write_glb};
use assetq::sample::geometry::many;
use assetq::{Reader as _, Source};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rayon::prelude::*;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The files that are measured, by name.
fn files() -> Vec<(String, Source)> {
    let mut files = vec![("12x250k".to_owned(), Source::from_vec("many.geometry", many(12, 250_000, 1)))];
    if let Some(root) = std::env::var_os("ASSETQ_SAMPLES").map(PathBuf::from) {
        for name in ["BSA013_Colossus_1945_MidBack", "r01_military_navigation.models"] {
            let path = root.join(format!("geometry/{name}.geometry"));
            files.push((name.to_owned(), Source::open(path).unwrap()));
        }
    }
    files
}

/// The blobs of a file as the decoder wants them: payload, count, stride or size of an index.
struct Blobs<'a> {
    vertices: Vec<(&'a [u8], usize)>,
    indices: Vec<(&'a [u8], usize, usize)>,
    bytes: u64,
}

impl<'a> Blobs<'a> {
    fn of(g: &'a Geometry) -> Self {
        let vertices: Vec<_> = (0..g.vertices_prototypes().unwrap().len())
            .map(|i| {
                let buffer = g.vertex_buffer(i).unwrap();
                assert_eq!(buffer.stride(), 28);
                (buffer.encoded().unwrap().unwrap().payload, buffer.count().unwrap())
            })
            .collect();
        let indices: Vec<_> = (0..g.indices_prototypes().unwrap().len())
            .map(|i| {
                let buffer = g.index_buffer(i).unwrap();
                (buffer.encoded().unwrap().unwrap().payload, buffer.count().unwrap(), buffer.index_size().unwrap())
            })
            .collect();
        let bytes = vertices.iter().map(|v| v.1 * 28).sum::<usize>() + indices.iter().map(|i| i.1 * i.2).sum::<usize>();
        Self { vertices, indices, bytes: bytes as u64 }
    }

    /// The decoder alone, called by its own crate. All that is decoded is kept to the end, as a file keeps it: most
    /// of the time of large buffers goes into the first touch of their memory.
    fn decode(&self) -> usize {
        let vertices: Vec<_> = self
            .vertices
            .iter()
            .map(|&(payload, count)| meshopt::decode_vertex_buffer::<[u8; 28]>(payload, count).unwrap())
            .collect();
        let (mut narrow, mut wide) = (Vec::new(), Vec::new());
        for &(payload, count, width) in &self.indices {
            match width {
                2 => narrow.push(meshopt::decode_index_buffer::<u16>(payload, count).unwrap()),
                _ => wide.push(meshopt::decode_index_buffer::<u32>(payload, count).unwrap()),
            }
        }
        let vertices: usize = black_box(&vertices).iter().map(|v| v.len() * 28).sum();
        let narrow: usize = black_box(&narrow).iter().map(|v| v.len() * 2).sum();
        let wide: usize = black_box(&wide).iter().map(|v| v.len() * 4).sum();
        vertices + narrow + wide
    }
}

/// Decodes into buffers that are there already, spread over the current pool.
fn decode_into(g: &Geometry, out: &mut [Vec<u8>]) {
    let vertices = g.vertices_prototypes().unwrap().len();
    out.par_iter_mut().with_max_len(1).enumerate().for_each(|(i, out)| match i.checked_sub(vertices) {
        None => g.vertex_buffer(i).unwrap().decode_into(out).unwrap(),
        Some(i) => g.index_buffer(i).unwrap().decode_into(out).unwrap(),
    });
}

/// Opens and decodes everything, as a user does.
fn open_and_decode(source: &Source) -> u64 {
    let g = Geometry::open(source.clone()).unwrap();
    assert!(g.decode_all().is_empty());
    g.decoded_size().unwrap()
}

/// Times several ways of doing the same in turns, so that what disturbs one disturbs all. Gives the best of each.
fn in_turns<const N: usize>(rounds: usize, mut run: impl FnMut(usize)) -> [Duration; N] {
    let mut best = [Duration::MAX; N];
    for _ in 0..rounds {
        for (i, best) in best.iter_mut().enumerate() {
            let start = Instant::now();
            run(i);
            *best = start.elapsed().min(*best);
        }
    }
    best
}

fn decode(c: &mut Criterion) {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (one, two) = (pool(1), pool(2));
    let mut group = c.benchmark_group("decode");
    group.sample_size(10).measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_millis(500));
    for (name, source) in files() {
        let g = Geometry::open(source.clone()).unwrap();
        let blobs = Blobs::of(&g);
        assert_eq!(blobs.decode() as u64, open_and_decode(&source));
        group.throughput(Throughput::Bytes(blobs.bytes));
        group.bench_function(BenchmarkId::new("meshopt alone", &name), |b| b.iter(|| blobs.decode()));
        for (label, pool) in [("one thread", &one), ("two threads", &two)] {
            group.bench_function(BenchmarkId::new(label, &name), |b| {
                b.iter(|| pool.install(|| assert_eq!(open_and_decode(&source), blobs.bytes)));
            });
        }
        let sizes = (0..g.vertices_prototypes().unwrap().len()).map(|i| g.vertex_buffer(i).unwrap().size().unwrap());
        let indices = (0..g.indices_prototypes().unwrap().len()).map(|i| g.index_buffer(i).unwrap().size().unwrap());
        let mut out: Vec<Vec<u8>> = sizes.chain(indices).map(|size| vec![1; size]).collect();
        let [alone, whole, whole_by_two, into, into_by_two] = in_turns(15, |i| match i {
            0 => assert_eq!(blobs.decode() as u64, blobs.bytes),
            1 => assert_eq!(one.install(|| open_and_decode(&source)), blobs.bytes),
            2 => assert_eq!(two.install(|| open_and_decode(&source)), blobs.bytes),
            3 => one.install(|| decode_into(&g, &mut out)),
            _ => two.install(|| decode_into(&g, &mut out)),
        });
        assert!(out.iter().enumerate().all(|(i, out)| g.vertex_bytes(i).map_or(true, |bytes| bytes == out)));
        let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
        println!(
            "{name}: one thread at {:.2} of the decoder alone; two threads {:.2} times one; into buffers that are there \
             {:.2} GB/s, two threads {:.2} times one",
            ratio(alone, whole),
            ratio(whole, whole_by_two),
            blobs.bytes as f64 / into.as_secs_f64() / 1e9,
            ratio(into, into_by_two)
        );
    }
    group.finish();
}

fn open(c: &mut Criterion) {
    let bytes = many(12, 250_000, 1);
    let file = tempfile::Builder::new().suffix(".geometry").tempfile().unwrap();
    std::fs::write(file.path(), &bytes).unwrap();
    let mut group = c.benchmark_group("open");
    group.sample_size(20).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(300));
    group.bench_function(BenchmarkId::new("map, open and list", format!("{} MB", bytes.len() >> 20)), |b| {
        b.iter(|| {
            let g = Geometry::open(Source::open(file.path()).unwrap()).unwrap();
            let table = g.table("vertex_buffers").unwrap();
            let mut cells = 0;
            // What `assetq ls` shows.
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
    write_glb(&scene, &mut size).unwrap();
    let mut group = c.benchmark_group("export");
    group.sample_size(10).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(300));
    group.throughput(Throughput::Bytes(size.len() as u64));
    group.bench_function("glb of decoded buffers", |b| {
        b.iter(|| {
            let mut out = Vec::with_capacity(size.len());
            write_glb(&scene, &mut out).unwrap();
            assert_eq!(out.len(), size.len());
        });
    });
    group.finish();
}

criterion_group!(benches, decode, open, export);
criterion_main!(benches);
