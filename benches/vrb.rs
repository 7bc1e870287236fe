//! `.vrb`: opening, checking and writing as JSON, on an archive of 200 MB with chunks of each codec. `perf` measures
//! decoding next to the bare codecs.
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

mod common;

use assetq::Source;
use assetq::formats::Reader;
use assetq::formats::report::Progress;
use assetq::formats::vrage::vrb::{MAIN, VrbArchive};
use assetq::write::json::JsonWriter;
use assetq_sample::vrb::{ArchiveBuilder, Codec, entities, mesh, world, world_values};
use common::cached;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::time::Duration;

/// The archives, built once.
struct Files {
    /// 200 MB when decoded: a world (Brotli), meshes and entities as they are, by zlib, bare deflate and Brotli.
    mixed: Source,
    mixed_size: u64,
    /// Entities alone, stored as they are.
    graph: Source,
    graph_size: u64,
}

fn files() -> Files {
    let world = world();
    let crowd = entities(&world, 1, 250_000);
    let hull = mesh(2, 900_000);
    let main = world_values(&world, 3, 250_000);
    let source = |name: &str, builder: &ArchiveBuilder| Source::open(cached(name, || builder.build())).unwrap();
    let mixed = ArchiveBuilder::new(&world.types, world.world, Codec::Brotli, main)
        .chunk("Vertex_0", world.mesh, Codec::None, hull.clone())
        .chunk("Vertex_1", world.mesh, Codec::Zlib, hull.clone())
        .chunk("Vertex_2", world.mesh, Codec::Brotli, hull.clone())
        .chunk("Entities_0", world.entities, Codec::None, crowd.clone())
        .chunk("Entities_1", world.entities, Codec::Deflate, crowd.clone());
    let graph = ArchiveBuilder::new(&world.types, world.entities, Codec::None, crowd);
    let size = |builder: &ArchiveBuilder| builder.chunks.iter().map(|c| c.data.len() as u64).sum();
    Files {
        mixed: source("bench-mixed.vrb", &mixed),
        mixed_size: size(&mixed),
        graph: source("bench-graph.vrb", &graph),
        graph_size: size(&graph),
    }
}

fn verify(source: &Source) -> u64 {
    let report = VrbArchive::open(source.clone()).unwrap().verify(&Progress::default());
    assert!(report.is_ok());
    report.checks.len() as u64
}

/// Counts what is written to it.
struct Count(u64);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn json(archive: &VrbArchive) -> u64 {
    let mut count = Count(0);
    let mut out = JsonWriter::compact(BufWriter::with_capacity(1 << 16, &mut count));
    assert!(archive.cat(MAIN, &mut out).unwrap());
    drop(out);
    count.0
}

fn benches(c: &mut Criterion) {
    let files = files();
    let mut group = c.benchmark_group("vrb");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));

    group.bench_function("open", |b| b.iter(|| VrbArchive::open(black_box(files.mixed.clone())).unwrap()));
    // As `ls` shows it: names, root types, places, sizes, codecs of all chunks.
    group.bench_function("open and list", |b| {
        b.iter(|| {
            let archive = VrbArchive::open(files.mixed.clone()).unwrap();
            let table = archive.table("chunks").unwrap();
            let mut text = 0;
            for row in 0..table.len().unwrap() {
                text += (0..6).map(|column| table.value(row, column).unwrap().to_string().len()).sum::<usize>();
            }
            assert!(text > 300);
            text
        });
    });

    group.throughput(Throughput::Bytes(files.mixed_size));
    group.bench_function("verify mixed", |b| b.iter(|| verify(&files.mixed)));

    let graph = VrbArchive::open(files.graph.clone()).unwrap();
    let written = json(&graph);
    assert!(written > files.graph_size, "{written}");
    group.throughput(Throughput::Bytes(files.graph_size));
    group.bench_function("graph to JSON, by bytes read", |b| b.iter(|| assert_eq!(json(&graph), written)));
    group.throughput(Throughput::Bytes(written));
    group.bench_function("graph to JSON, by bytes written", |b| b.iter(|| assert_eq!(json(&graph), written)));
    group.throughput(Throughput::Bytes(files.graph_size));
    group.bench_function("pass over the graph", |b| b.iter(|| graph.main().root().unwrap().end().unwrap()));
    group.bench_function("values", |b| {
        b.iter(|| {
            let rows = graph.table("values").unwrap().len().unwrap();
            assert!(rows > 2_000_000);
            rows
        });
    });
    group.finish();
}

criterion_group!(vrb, benches);
criterion_main!(vrb);
