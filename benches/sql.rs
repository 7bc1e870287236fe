//! SQL over the mapped tables: a key probe, a scan, a join and a sum, against hand-written code over the same map.
//! `perf` measures whole processes.
//!
//! `cargo bench -p benches --bench sql` measures each case, then prints the ratios that the project promises, each pair measured
//! in turn in one run. Every case asserts its answer.
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

mod common;

use assetq::sql::{Answer, Fault, Input, Session, statements};
use assetq::table::Value;
use assetq::{Asset, Source};
use assetq_sample::{Size, bwdb::demo};
use common::{cached, claim, medians};
use criterion::{Criterion, criterion_group};
use std::path::{Path, PathBuf};

const COUNT: &str = "SELECT count(*) FROM paths WHERE name LIKE '%.visual'";
const JOIN: &str = "SELECT count(*) FROM render_sets s JOIN paths p ON p.id = s.mfm_id";
const SUM: &str = "SELECT type, sum(size) FROM resources GROUP BY type";

fn file() -> PathBuf {
    cached("bench-assets.bin", || demo(1, Size::Full))
}

fn session(path: &Path) -> Session {
    let asset = Asset::open(Source::open(path).unwrap()).unwrap();
    Session::new(vec![("assets".to_owned(), Input::Asset(asset))], false).unwrap()
}

fn prepare<'s>(session: &'s Session, sql: &str) -> Answer<'s> {
    session.ask(statements(sql).next().unwrap()).unwrap()
}

/// The rows of an answer, and the number in the last cell of the last one.
fn run(answer: &mut Answer<'_>) -> (usize, i64) {
    let (mut rows, mut last) = (0, 0);
    answer
        .rows::<Fault>(|cells| {
            rows += 1;
            if let Some(Value::Int(number)) = cells.last() {
                last = *number;
            }
            Ok(())
        })
        .unwrap();
    (rows, last)
}

/// Names that end with `.visual`, read from the bytes by what is known of the layout and nothing else.
fn scan(bytes: &[u8]) -> i64 {
    let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (count, entries) = (u32_at(0x50) as usize, 0x50 + u64_at(0x58) as usize);
    let matches = |i: &usize| {
        let at = entries + i * 32;
        let start = at + 0x10 + u64_at(at + 0x18) as usize;
        let name = &bytes[start..start + u32_at(at + 0x10) as usize - 1];
        name.len() >= 7 && name[name.len() - 7..].eq_ignore_ascii_case(b".visual")
    };
    (0..count).filter(matches).count() as i64
}

/// An id in the middle of the paths, as text.
fn some_id(session: &Session) -> String {
    let mut id = String::new();
    let mut answer = prepare(session, "SELECT id FROM paths LIMIT 1 OFFSET 100000");
    let mut keep = |cells: &[Value<'_>]| {
        id = cells[0].to_string();
        Ok(())
    };
    answer.rows::<Fault>(&mut keep).unwrap();
    id
}

fn cases(c: &mut Criterion) {
    let path = file();
    let session = session(&path);
    let id = some_id(&session);
    let expected = scan(&std::fs::read(&path).unwrap());
    let mut group = c.benchmark_group("sql");
    group.sample_size(10);
    group.bench_function("open", |b| b.iter(|| self::session(&path).schemas().count()));
    let key = format!("SELECT name FROM paths WHERE id = '{id}'");
    // The first questions are answered without an index, which is built when more are asked.
    (0..20).for_each(|_| assert_eq!(run(&mut prepare(&session, &key)).0, 1));
    group.bench_function("key/from_text", |b| b.iter(|| assert_eq!(run(&mut prepare(&session, &key)).0, 1)));
    let mut prepared = prepare(&session, &key);
    group.bench_function("key/prepared", |b| b.iter(|| assert_eq!(run(&mut prepared).0, 1)));
    group.bench_function("count_like", |b| b.iter(|| assert_eq!(run(&mut prepare(&session, COUNT)), (1, expected))));
    let (_, joined) = run(&mut prepare(&session, JOIN));
    assert!(joined > 1000);
    group.bench_function("join", |b| b.iter(|| assert_eq!(run(&mut prepare(&session, JOIN)).1, joined)));
    group.bench_function("sum", |b| b.iter(|| assert!(run(&mut prepare(&session, SUM)).0 > 3)));
    group.finish();
}

fn ratios() {
    let path = file();
    let session = session(&path);
    let id = some_id(&session);
    println!("\nratios, SQL over {}:", path.display());

    let source = Source::open(&path).unwrap();
    let expected = scan(source.bytes());
    let (a, b) = medians(
        21,
        || assert_eq!(run(&mut prepare(&session, COUNT)).1, expected),
        || assert_eq!(scan(source.bytes()), expected),
    );
    claim("count(*) LIKE '%.visual' / a hand-written scan", a, b, "<= 3");

    let (a, b) = medians(
        11,
        || {
            assert!(
                run(&mut prepare(&self::session(&path), &format!("SELECT path FROM paths WHERE id = '{id}'"))).0 == 1
            )
        },
        || assert!(run(&mut prepare(&self::session(&path), "SELECT path FROM paths")).0 > 1),
    );
    claim("open, and one path by its id / all paths", a, b, "<= 0.1");
}

criterion_group!(benches, cases);

fn main() {
    benches();
    ratios();
    Criterion::default().configure_from_args().final_summary();
}
