//! Tables written as files: CSV by its speed, Parquet against the crate that writes it when it is fed ready arrays.
//!
//! `cargo bench -p benches --bench export` prints ratios, each pair measured in turn in one run. Every case asserts its answer.
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

mod common;

use arrow_array::RecordBatch;
use assetq::Source;
use assetq::formats::Reader as _;
use assetq::formats::wows::bwdb::Database;
use assetq::table::Table;
use assetq::write::parquet::{self as export, properties};
use assetq::write::rows::{RowFormat, RowSink, RowWriter, SinkEvent};
use assetq::write::text::Style;
use assetq_sample::{Size, bwdb::demo};
use bytes::Bytes;
use common::{cached, claim, medians};
use criterion::{Criterion, Throughput, criterion_group};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::time::Duration;

fn open() -> Database {
    let path = cached("bench-assets.bin", || demo(1, Size::Full));
    Database::open(Source::open(&path).unwrap()).unwrap()
}

fn rows_into(table: &dyn Table, mut sink: impl RowSink) -> usize {
    let columns: Vec<usize> = (0..table.columns().len()).collect();
    let mut rows = 0;
    let at_once = sink.rows_of(table, &columns, |met| match met {
        SinkEvent::Rows(count) => {
            rows += count;
            Ok(())
        }
        SinkEvent::Damage(_, error) => Err(error),
    });
    if let Some(done) = at_once {
        done.unwrap();
    } else {
        let mut cursor = table.cursor(0);
        while cursor.advance().unwrap() {
            sink.row_of(&*cursor, &columns).unwrap();
            rows += 1;
        }
    }
    sink.finish().unwrap();
    rows
}

/// All rows of a table of a file that was just opened, as CSV.
fn csv(table: &str) -> Vec<u8> {
    let db = open();
    let table = db.table(table).unwrap();
    let mut out = Vec::with_capacity(64 << 20);
    let sink = RowWriter::new(&mut out, RowFormat::Csv, table.columns(), Style::Plain).unwrap();
    assert_eq!(rows_into(&*table, sink), table.len().unwrap());
    out
}

/// All rows of a table of a file that was just opened, as Parquet.
fn parquet(table: &str) -> Vec<u8> {
    let db = open();
    let table = db.table(table).unwrap();
    let mut out = Vec::with_capacity(64 << 20);
    let written = export::write(&mut out, table.columns(), &[], |sink| {
        assert_eq!(rows_into(&*table, sink), table.len().unwrap());
        Ok::<_, assetq::Error>(())
    });
    written.unwrap();
    out
}

/// The crate's own output of the same rows with the same settings, when they are arrays already.
fn ready(batches: &[RecordBatch]) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 << 20);
    let mut writer = ArrowWriter::try_new(&mut out, batches[0].schema(), Some(properties(&[]))).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
    out
}

fn batches(file: Vec<u8>) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file)).unwrap().with_batch_size(8192);
    reader.build().unwrap().map(Result::unwrap).collect()
}

fn cases(c: &mut Criterion) {
    let written = csv("paths").len();
    let mut group = c.benchmark_group("export");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(written as u64));
    group.bench_function("paths/csv", |b| b.iter(|| assert_eq!(csv("paths").len(), written)));
    group.bench_function("paths/parquet", |b| b.iter(|| assert!(parquet("paths").ends_with(b"PAR1"))));
    group.finish();
}

fn ratios() {
    println!();
    let paths = csv("paths");
    let (time, _) = medians(11, || assert_eq!(csv("paths").len(), paths.len()), || ());
    let at_200 = Duration::from_secs_f64(paths.len() as f64 / 200e6);
    println!("paths as csv: {} bytes, {:.0} MB/s", paths.len(), paths.len() as f64 / time.as_secs_f64() / 1e6);
    claim("csv of all paths / its bytes at 200 MB/s", time, at_200, "<= 1");
    for table in ["paths", "resources", "material_properties", "skeleton_nodes"] {
        let batches = batches(parquet(table));
        assert_eq!(ready(&batches).len(), parquet(table).len());
        let (a, b) = medians(11, || parquet(table).len(), || ready(&batches).len());
        claim(&format!("{table} as parquet / from ready arrays"), a, b, "<= 1.5");
    }
}

criterion_group!(benches, cases);

fn main() {
    benches();
    ratios();
    Criterion::default().configure_from_args().final_summary();
}
