//! Two builds of a prototype database with one in a hundred records changed, against reading both files once.
//!
//! `cargo bench -p benches --bench diff` prints the ratios that the project promises, each pair measured in turn in one run. Every
//! case asserts how many differences there are, which the builder of the files knows.
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

mod common;

use assetq::diff::{self, Differences};
use assetq::formats::report::Progress;
use assetq::{Asset, Source};
use assetq_sample::{Size, bwdb};
use common::{cached, claim, medians};
use criterion::{Criterion, criterion_group};
use std::hint::black_box;
use std::path::{Path, PathBuf};

/// The alterations by the builder of the second file, as `[added, removed, changed]` of each table.
struct Known {
    paths: [usize; 3],
    resources: [usize; 3],
    strings: [usize; 3],
}

fn files() -> (PathBuf, PathBuf, Known) {
    let altered = bwdb::altered(1, Size::Full);
    let known = Known {
        paths: [altered.added_paths.len(), altered.removed_paths.len(), 0],
        resources: [altered.added.len(), altered.removed.len(), altered.changed.len()],
        strings: [altered.added_strings.len(), 0, 0],
    };
    let old = cached("bench-assets.bin", || bwdb::demo(1, Size::Full));
    (old, cached("bench-assets-altered.bin", || altered.bytes), known)
}

fn open(path: &Path) -> Asset {
    Asset::open(Source::open(path).unwrap()).unwrap()
}

/// Opens both files, compares them, and shows each difference in words.
fn compare(old: &Path, new: &Path, known: &Known) -> usize {
    let (old, new) = (open(old), open(new));
    let mut fields = 0;
    for table in diff::tables(&old, &new, &[]).unwrap() {
        let found = table.find(&Progress::default(), 0);
        let Differences { added, removed, changed, fault_count: 0, .. } = &found else { panic!("{found:?}") };
        let counts = [added.len(), removed.len(), changed.len()];
        let expected = match table.name() {
            "paths" => known.paths,
            "resources" => known.resources,
            "strings" => known.strings,
            _ => [0; 3],
        };
        assert_eq!(counts, expected, "{}", table.name());
        for pair in found.pairs() {
            let change = table.change(pair, &mut |_, error| panic!("{error}"));
            fields += black_box(change).fields.len();
        }
    }
    fields
}

/// Maps both files and reads them once.
fn read(old: &Path, new: &Path) -> u64 {
    let sum = |path: &Path| {
        let source = Source::open(path).unwrap();
        let (words, _) = source.bytes().as_chunks::<8>();
        words.iter().fold(0u64, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
    };
    sum(old).wrapping_add(sum(new))
}

fn cases(c: &mut Criterion) {
    let (old, new, known) = files();
    let mut group = c.benchmark_group("diff");
    group.sample_size(10);
    group.bench_function("full size, 1% changed", |b| b.iter(|| compare(&old, &new, &known)));
    group.bench_function("reading both files", |b| b.iter(|| read(&old, &new)));
    group.finish();
}

fn claims() {
    let (old, new, known) = files();
    let (a, b) = medians(15, || compare(&old, &new, &known), || read(&old, &new));
    claim("diff of two builds / reading both files once", a, b, "at most 3");
    let same = Known { paths: [0; 3], resources: [0; 3], strings: [0; 3] };
    let (a, b) = medians(9, || compare(&old, &old, &same), || read(&old, &old));
    claim("diff of a file with itself / reading it twice", a, b, "at most 3");
}

criterion_group!(benches, cases);

fn main() {
    benches();
    claims();
}
