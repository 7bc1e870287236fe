//! Searches over the names of a full-size database, against one pass of `memmem` over the same bytes and against a
//! look at each name.
//!
//! `cargo bench -p benches --bench find` measures each case, then prints the ratios that the project promises, each pair measured
//! in turn in one run. Every case asserts that it finds what a look at each name finds.
#![allow(missing_docs, clippy::pedantic, clippy::restriction, clippy::field_reassign_with_default)]

mod common;

use assetq::Source;
use assetq::formats::Reader as _;
use assetq::formats::wows::bwdb::Database;
use assetq::query::find;
use assetq::query::find::{Pattern, PatternOptions, Syntax};
use assetq::table::Table;
use assetq_sample::{Size, bwdb::demo};
use common::{cached, claim, medians};
use criterion::{Criterion, criterion_group};
use hashbrown::HashMap;
use memchr::memmem;
use std::convert::Infallible;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

fn file() -> PathBuf {
    cached("bench-assets.bin", || demo(1, Size::Full))
}

fn open() -> Database {
    Database::open(Source::open(file()).unwrap()).unwrap()
}

/// The paths as a parser has them: owned names, and where each id is.
struct Owned {
    names: Vec<String>,
    parents: Vec<u64>,
    places: HashMap<u64, usize>,
}

impl Owned {
    fn parse(db: &Database) -> Self {
        let paths = db.paths();
        let entries = paths.entries();
        let names = entries.iter().map(|e| paths.name(e).unwrap().to_owned()).collect();
        let parents = entries.iter().map(|e| e.parent_id.get()).collect();
        let places = entries.iter().enumerate().map(|(i, e)| (e.self_id.get(), i)).collect();
        Self { names, parents, places }
    }

    fn path(&self, mut at: usize) -> String {
        let mut parts = vec![self.names[at].as_str()];
        while let Some(&parent) = self.places.get(&self.parents[at]) {
            parts.push(&self.names[parent]);
            at = parent;
        }
        parts.reverse();
        parts.join("/")
    }

    fn count(&self, matches: impl Fn(&str) -> bool) -> usize {
        self.names.iter().filter(|name| matches(name)).count()
    }

    /// The first path that ends like this, by a look at each: what public readers of the format offer.
    fn find_by_suffix(&self, suffix: &str) -> Option<(usize, String)> {
        // As there, the last component is looked for at each name.
        let ends = |i: &usize| self.names[*i].ends_with(black_box(suffix).rsplit('/').next().unwrap());
        (0..self.names.len()).filter(ends).map(|i| (i, self.path(i))).find(|(_, path)| path.ends_with(suffix))
    }
}

fn pattern(text: &str, syntax: Syntax) -> Pattern {
    let mut options = PatternOptions::default();
    options.syntax = syntax;
    Pattern::new(text, options).unwrap()
}

/// How many paths are found.
fn count(table: &dyn Table, text: &str, syntax: Syntax) -> usize {
    let (rows, sure) = find::candidates(table, 3, &pattern(text, syntax)).unwrap();
    assert!(sure);
    rows.len()
}

/// The hits, as text.
fn texts(table: &dyn Table, text: &str, syntax: Syntax) -> Vec<String> {
    let mut texts = Vec::new();
    let unreadable = |error| panic!("{error}");
    let flow = find::each(table, &[3], &pattern(text, syntax), unreadable, |hit| {
        texts.push(hit.text.to_string());
        Ok::<_, Infallible>(ControlFlow::Continue(()))
    });
    assert!(flow.unwrap().is_continue());
    texts
}

/// The bytes of all names, concatenated.
fn pool(db: &Database) -> &[u8] {
    let paths = db.paths();
    let place = |name: &str| name.as_ptr().addr() - db.source().bytes().as_ptr().addr();
    let names = || paths.entries().iter().map(|e| paths.name(e).unwrap());
    let start = names().map(place).min().unwrap();
    let end = names().map(|name| place(name) + name.len()).max().unwrap();
    &db.source().bytes()[start..end]
}

/// A whole name that only one path has.
fn rare(owned: &Owned) -> &str {
    owned.names.iter().rev().find(|name| name.ends_with(".visual")).unwrap()
}

fn cases(c: &mut Criterion) {
    let db = open();
    let owned = Owned::parse(&db);
    let table = db.table("paths").unwrap();
    let (pool, rare) = (pool(&db), rare(&owned));
    let mut group = c.benchmark_group("find");
    group.sample_size(20);
    for needle in [rare, ".visual", "_a.dds", "e", "nothing like it"] {
        let expected = owned.count(|name| name.contains(needle));
        group.bench_function(format!("rows/{needle}"), |b| {
            b.iter(|| assert_eq!(count(&*table, needle, Syntax::Text), expected));
        });
        let expected = memmem::find_iter(pool, needle).count();
        group.bench_function(format!("memmem/{needle}"), |b| {
            b.iter(|| assert_eq!(memmem::find_iter(pool, needle).count(), expected));
        });
    }
    let expected = owned.count(|name| name.ends_with(".visual"));
    group.bench_function("rows/*.visual", |b| {
        b.iter(|| assert_eq!(count(&*table, "*.visual", Syntax::Glob), expected));
    });
    group.bench_function("texts/*.visual", |b| {
        b.iter(|| assert_eq!(texts(&*table, "*.visual", Syntax::Glob).len(), expected));
    });
    let folded = owned.count(|name| name.to_ascii_lowercase().contains(".visual"));
    let mut options = PatternOptions::default();
    options.ignore_case = true;
    let pattern = Pattern::new(".Visual", options).unwrap();
    group.bench_function("rows/.Visual, any case", |b| {
        b.iter(|| assert_eq!(find::candidates(&*table, 3, &pattern).unwrap().0.len(), folded));
    });
    group.finish();
}

fn ratios() {
    let db = open();
    let owned = Owned::parse(&db);
    let table = db.table("paths").unwrap();
    let (pool, rare) = (pool(&db), rare(&owned));
    println!("\nratios, {} paths, {} bytes of names:", owned.names.len(), pool.len());

    for needle in [rare, "nothing like it", ".visual", "_a.dds", "S", "e"] {
        let expected = owned.count(|name| name.contains(needle));
        let places = memmem::find_iter(pool, needle).count();
        let (found, memmem) = medians(
            51,
            || assert_eq!(count(&*table, needle, Syntax::Text), expected),
            || assert_eq!(memmem::find_iter(pool, needle).count(), places),
        );
        let bound = memmem / 2 + Duration::from_millis(1);
        claim(&format!("find {needle} ({expected} paths) / memmem {memmem:.2?} / 2 + 1 ms"), found, bound, "<= 1");
    }

    let (first, memmem) = medians(
        11,
        || assert_eq!(count(&*open().table("paths").unwrap(), rare, Syntax::Text), 1),
        || assert_eq!(memmem::find_iter(pool, rare).count(), 1),
    );
    let bound = memmem / 2 + Duration::from_millis(1);
    claim("the same in a file that was just opened", first, bound, "told, not promised");

    let at = owned.names.iter().position(|name| name == rare).unwrap();
    let path = owned.path(at);
    let folder = path.rsplit('/').nth(1).unwrap();
    for (suffix, what) in [(rare.to_owned(), "a name"), (format!("{folder}/{rare}"), "a folder and a name")] {
        assert_eq!(owned.find_by_suffix(&suffix), Some((at, path.clone())));
        let glob = format!("*{suffix}");
        assert_eq!(texts(&*table, &glob, Syntax::Glob), [path.as_str()]);
        let (scan, found) =
            medians(31, || owned.find_by_suffix(&suffix), || assert_eq!(texts(&*table, &glob, Syntax::Glob).len(), 1));
        claim(&format!("a look at each / find by suffix, {what}"), scan, found, ">= 3");
    }
    let (scan, found) = medians(
        31,
        || assert_eq!(owned.find_by_suffix("none.visual"), None),
        || assert_eq!(count(&*table, "*none.visual", Syntax::Glob), 0),
    );
    claim("a look at each / find by suffix, no path", scan, found, ">= 3");
    let expected = owned.count(|name| name.ends_with(".visual"));
    let (scan, found) = medians(
        31,
        || assert_eq!(owned.count(|name| name.ends_with(".visual")), expected),
        || assert_eq!(count(&*table, "*.visual", Syntax::Glob), expected),
    );
    claim(&format!("a look at each / find by suffix, all {expected} visuals"), scan, found, ">= 3");
}

criterion_group!(benches, cases);

fn main() {
    benches();
    ratios();
    Criterion::default().configure_from_args().final_summary();
}
