//! Sheets: opening, records by name, all cells to CSV against a reader that builds a map for each record.
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

use assetq::Source;
use assetq::formats::Reader;
use assetq::formats::ff13::wdb::{FieldKind, Sheet};
use assetq::table::filter::Filter;
use assetq::table::{Table, Value};
use assetq::write::rows::{RowFormat, RowWriter};
use assetq::write::text::Style;
use assetq_sample::wdb::{Game, generated};
use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use std::collections::HashMap;
use std::hint::black_box;
use std::io::Write as _;
use std::time::Duration;

const RECORDS: usize = 100_000;
const FIELDS: usize = 60;
/// Records of the sheet that is written as CSV: enough to be slow for the reader that builds maps.
const WRITTEN: usize = 20_000;

/// One cell of the reader to compare with.
enum Owned {
    Int(i64),
    Float(f32),
    Text(String),
}

/// The way of the public readers: each record becomes a map from field names to values of its own.
struct Maps {
    fields: Vec<(String, FieldKind, usize, u32, u32)>,
    pool: Vec<u8>,
    arrays: Vec<Vec<u32>>,
    records: Vec<(String, Vec<u8>)>,
}

impl Maps {
    fn read(file: &[u8]) -> Self {
        let u32_at = |data: &[u8], at: usize| u32::from_be_bytes(data[at..at + 4].try_into().unwrap());
        let mut sections = HashMap::new();
        let mut records = Vec::new();
        for at in (0..u32_at(file, 4) as usize).map(|i| 0x10 + i * 0x20) {
            let name = String::from_utf8(file[at..at + 16].split(|&b| b == 0).next().unwrap().to_vec()).unwrap();
            let start = u32_at(file, at + 16) as usize;
            let data = file[start..start + u32_at(file, at + 20) as usize].to_vec();
            if name.starts_with('!') {
                sections.insert(name, data);
            } else {
                records.push((name, data));
            }
        }
        let info = &sections["!!strArrayInfo"];
        let (per_word, bits) = (u32::from(info[2]), u32::from(info[3]));
        let items = sections["!!strArray"].chunks(4).flat_map(|word| {
            let word = u32_at(word, 0);
            (0..per_word).map(move |slot| (word >> (slot * bits)) & ((1 << bits) - 1))
        });
        let arrays = vec![items.collect()];
        // Where fields lie is the same work for both, so it is taken from the library.
        let end = file.len().min(0x10 + 0x20 * 16 + (1 << 23));
        let sheet = Sheet::open(Source::from_vec("x.wdb", file[..end].to_vec())).unwrap();
        let place = |f: &assetq::formats::ff13::wdb::SheetField| {
            (f.name.clone(), f.kind, f.offset, f.shift.into(), f.bits.into())
        };
        let fields = sheet.fields().iter().map(place).collect();
        Self { fields, pool: sections["!!string"].clone(), arrays, records }
    }

    fn text(&self, offset: u32) -> String {
        let rest = &self.pool[offset as usize..];
        String::from_utf8(rest[..rest.iter().position(|&b| b == 0).unwrap()].to_vec()).unwrap()
    }

    fn record(&self, data: &[u8]) -> HashMap<String, Owned> {
        let mut map = HashMap::new();
        for (name, kind, offset, shift, bits) in &self.fields {
            let word = u32::from_be_bytes(data[*offset..offset + 4].try_into().unwrap());
            let value = (word >> shift) & (u32::MAX >> (32 - bits));
            let owned = match kind {
                FieldKind::Uint => Owned::Int(value.into()),
                FieldKind::Int => Owned::Int((((value << (32 - bits)) as i32) >> (32 - bits)).into()),
                FieldKind::Float => Owned::Float(f32::from_bits(word)),
                FieldKind::Text => Owned::Text(self.text(word)),
                FieldKind::ArrayText(array) => Owned::Text(self.text(self.arrays[*array as usize][value as usize])),
                other => panic!("{other:?}"),
            };
            map.insert(name.clone(), owned);
        }
        map
    }

    /// All records as maps.
    fn records(&self) -> Vec<(String, HashMap<String, Owned>)> {
        self.records.iter().map(|(name, data)| (name.clone(), self.record(data))).collect()
    }

    fn header(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"record");
        self.fields.iter().for_each(|(field, ..)| write!(out, ",{field}").unwrap());
        out.extend_from_slice(b"\r\n");
    }

    fn line(&self, name: &str, map: &HashMap<String, Owned>, out: &mut Vec<u8>) {
        out.extend_from_slice(name.as_bytes());
        for (field, ..) in &self.fields {
            match &map[field] {
                Owned::Int(value) => write!(out, ",{value}").unwrap(),
                Owned::Float(value) => write!(out, ",{value}").unwrap(),
                Owned::Text(value) => write!(out, ",{value}").unwrap(),
            }
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// All cells through the table layer, as the command writes them.
fn csv(table: &dyn Table, out: &mut Vec<u8>) {
    let columns: Vec<usize> = (0..table.columns().len()).collect();
    let mut csv = RowWriter::new(out, RowFormat::Csv, table.columns(), Style::Plain).unwrap();
    let mut rows = table.cursor(0);
    while rows.advance().unwrap() {
        csv.row_of(&*rows, &columns, |error| panic!("{error}")).unwrap();
    }
    csv.finish().unwrap();
}

fn benches(c: &mut Criterion) {
    let built = generated(1, Game::Later, RECORDS, FIELDS);
    let file = built.build();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("generated.wdb");
    std::fs::write(&path, &file).unwrap();
    let sheet = Sheet::open(Source::open(&path).unwrap()).unwrap();

    let mut group = c.benchmark_group("wdb");
    group.sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    group.bench_function("open", |b| {
        let source = Source::open(&path).unwrap();
        b.iter(|| {
            let sheet = Sheet::open(black_box(&source).clone()).unwrap();
            assert_eq!((sheet.records().len(), sheet.fields().len()), (RECORDS, FIELDS));
            sheet
        });
    });
    group.bench_function("map and open", |b| {
        b.iter(|| Sheet::open(Source::open(black_box(&path)).unwrap()).unwrap());
    });

    let names: Vec<String> = (0..1000).map(|i| format!("r{:07}", i * 7919 % RECORDS)).collect();
    group.throughput(Throughput::Elements(names.len() as u64));
    group.bench_function("1000 records by name, in order", |b| {
        b.iter(|| {
            for (i, name) in names.iter().enumerate() {
                assert_eq!(sheet.find(black_box(name)), Some(i * 7919 % RECORDS));
            }
        });
    });
    let mut shuffled = file.clone();
    // Two names exchanged: the order of the file is of no use any more.
    let entry = |row: usize| 0x10 + (sheet.section_entries().len() + row) * 0x20;
    let name = |file: &[u8], row: usize| -> [u8; 16] { file[entry(row)..entry(row) + 16].try_into().unwrap() };
    let (a, b) = (name(&file, 10), name(&file, 90_000));
    shuffled[entry(10)..entry(10) + 16].copy_from_slice(&b);
    shuffled[entry(90_000)..entry(90_000) + 16].copy_from_slice(&a);
    let unordered = Sheet::open(Source::from_vec("shuffled.wdb", shuffled)).unwrap();
    group.bench_function("1000 records by name, out of order", |b| {
        b.iter(|| {
            for (i, name) in names.iter().enumerate() {
                assert_eq!(unordered.find(black_box(name)), Some(i * 7919 % RECORDS));
            }
        });
    });
    group.throughput(Throughput::Elements(1));
    group.bench_function("first record by name, out of order", |b| {
        let source = unordered.source().clone();
        b.iter(|| assert_eq!(Sheet::open(source.clone()).unwrap().find("r0000010"), Some(90_000)));
    });

    let file = generated(1, Game::Later, WRITTEN, FIELDS).build();
    let path = folder.path().join("written.wdb");
    std::fs::write(&path, &file).unwrap();
    let written = Sheet::open(Source::open(&path).unwrap()).unwrap();
    let mut expected = Vec::new();
    let maps = Maps::read(&file);
    maps.header(&mut expected);
    maps.records().iter().for_each(|(name, map)| maps.line(name, map, &mut expected));
    let table = written.table("records").unwrap();
    let mut out = Vec::with_capacity(expected.len());
    csv(&*table, &mut out);
    assert!(out == expected, "both readers say the same");
    group.sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_millis(1));
    group
        .sample_size(10)
        .measurement_time(Duration::from_millis(500))
        .throughput(Throughput::Bytes(expected.len() as u64));
    group.bench_function("all cells", |b| {
        b.iter(|| {
            let mut rows = table.cursor(0);
            let mut sum = 0u64;
            while rows.advance().unwrap() {
                for column in 0..=FIELDS {
                    sum = sum.wrapping_add(match &rows.value(column) {
                        Ok(Value::Uint(value)) => *value,
                        Ok(Value::Int(value)) => *value as u64,
                        Ok(Value::Text(text)) => text.len() as u64,
                        Ok(_) => 1,
                        Err(error) => panic!("{error}"),
                    });
                }
            }
            assert_ne!(sum, 0);
            sum
        });
    });
    group.bench_function("all cells to CSV", |b| {
        b.iter(|| {
            out.clear();
            let sheet = Sheet::open(Source::open(&path).unwrap()).unwrap();
            csv(&*sheet.table("records").unwrap(), &mut out);
            assert_eq!(out.len(), expected.len());
        });
    });
    // Each map is dropped once its line is written: better than the public readers, which keep them all.
    group.bench_function("all cells to CSV by maps, one at a time", |b| {
        b.iter(|| {
            out.clear();
            let maps = Maps::read(&file);
            maps.header(&mut out);
            maps.records.iter().for_each(|(name, data)| maps.line(name, &maps.record(data), &mut out));
            assert_eq!(out.len(), expected.len());
        });
    });
    group.bench_function("all cells to CSV by maps, all kept", |b| {
        b.iter(|| {
            out.clear();
            let maps = Maps::read(&file);
            maps.header(&mut out);
            maps.records().iter().for_each(|(name, map)| maps.line(name, map, &mut out));
            assert_eq!(out.len(), expected.len());
        });
    });
    let table = sheet.table("records").unwrap();
    group.throughput(Throughput::Elements(RECORDS as u64));
    group.bench_function("where u9SaveIndex > 500", |b| {
        let bound = Filter::parse("u9SaveIndex > 500").unwrap().bind(table.columns()).unwrap();
        b.iter(|| {
            let mut rows = bound.walk_over(&*table, None);
            let mut count = 0;
            while rows.advance().unwrap() {
                count += usize::from(bound.matches(&*rows).unwrap());
            }
            assert!(count > 0 && count < RECORDS / 10);
            count
        });
    });
    group.finish();
}

criterion_group!(wdb, benches);
criterion_main!(wdb);
