//! Every column of every table of a prototype database: a query of one column never costs much more than a query of the whole
//! table.
//!
//! `cargo bench -p benches --bench columns` reads each column with `export` (CSV) and with SQL (`count`), each time from a newly opened file. It
//! compares the answers with the whole table, and fails if a column costs more than 1.5 times its table and 20 ms. `-- --quick` does so with a smaller file.
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

mod common;

use assetq::sql::{Fault, Input, Session, in_sql, statements};
use assetq::table::Value;
use assetq::write::rows::{RowFormat, RowWriter};
use assetq::write::text::Style;
use assetq::{Asset, Source};
use assetq_sample::Size;
use assetq_sample::bwdb::{demo, demo_of};
use common::cached;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The cost that a column may have, as a share of its whole table's.
const TIMES: f64 = 1.5;
/// The cost that it may have besides: opening the file, and an index that the whole table needs as well.
const BESIDES: Duration = Duration::from_millis(20);

fn quick() -> bool {
    std::env::args().any(|argument| argument == "--quick")
}

fn file() -> PathBuf {
    match quick() {
        true => cached("bench-columns-20MB.bin", || demo_of(1, 20_000_000)),
        false => cached("bench-assets.bin", || demo(1, Size::Full)),
    }
}

fn open(path: &Path) -> Asset {
    Asset::open(Source::open(path).unwrap()).unwrap()
}

/// These columns of a table, as `export` writes them.
fn export(path: &Path, table: &str, columns: &[usize]) -> Vec<u8> {
    let asset = open(path);
    let table = asset.reader().table(table).unwrap();
    let header: Vec<_> = columns.iter().map(|&c| table.columns()[c].clone()).collect();
    let mut out = Vec::new();
    let mut sink = RowWriter::new(&mut out, RowFormat::Csv, &header, Style::Plain).unwrap();
    let mut cursor = table.cursor_over(0, Some(columns));
    while cursor.advance().unwrap() {
        sink.row_of(&*cursor, columns, |error| panic!("{error}")).unwrap();
    }
    sink.finish().unwrap();
    drop(sink);
    out
}

/// How many cells of these columns are not null, by SQL.
fn counts(path: &Path, table: &str, columns: &[&str]) -> Vec<i64> {
    let session = Session::new(vec![("assets".to_owned(), Input::Asset(open(path)))], false).unwrap();
    let counts: Vec<String> = columns.iter().map(|column| format!("count({})", in_sql(column))).collect();
    let query = format!("SELECT {} FROM {}", counts.join(", "), in_sql(table));
    let mut answer = session.ask(statements(&query).next().unwrap()).unwrap();
    let mut found = Vec::new();
    let mut keep = |cells: &[Value<'_>]| {
        found.extend(cells.iter().map(|cell| match cell {
            Value::Int(count) => *count,
            other => panic!("{other} is no count"),
        }));
        Ok(())
    };
    answer.rows::<Fault>(&mut keep).unwrap();
    found
}

/// The least of a few times, and the answer.
fn time<T>(mut ask: impl FnMut() -> T) -> (Duration, T) {
    let mut timed = || {
        let start = Instant::now();
        let answer = ask();
        (start.elapsed(), answer)
    };
    let (first, answer) = timed();
    // A slow column is not measured again.
    let again = if first > Duration::from_millis(500) { 0 } else { 2 };
    ((0..again).map(|_| timed().0).fold(first, Duration::min), answer)
}

/// The cells of CSV rows, by column.
fn by_column(rows: &[u8]) -> Vec<Vec<String>> {
    let mut columns: Vec<Vec<String>> = Vec::new();
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(rows);
    for row in reader.records() {
        let row = row.unwrap();
        columns.resize(columns.len().max(row.len()), Vec::new());
        columns.iter_mut().zip(row.iter()).for_each(|(column, cell)| column.push(cell.to_owned()));
    }
    columns
}

/// Prints how a column compares with its table; whether it costs more than it may.
fn is_dear(what: &str, column: Duration, whole: Duration) -> bool {
    let dear = column > whole.mul_f64(TIMES) + BESIDES;
    let ratio = column.as_secs_f64() / whole.as_secs_f64();
    println!("{what:<52} {column:>10.2?} / {whole:>10.2?} = {ratio:>7.2}{}", if dear { "   TOO DEAR" } else { "" });
    dear
}

fn main() -> ExitCode {
    let path = file();
    let asset = open(&path);
    let (mut columns_seen, mut dear) = (0, Vec::new());
    for table in asset.reader().tables() {
        let name = table.name();
        let columns: Vec<&str> = table.columns().iter().map(|c| &*c.name).collect();
        let all: Vec<usize> = (0..columns.len()).collect();
        let (whole_export, written) = time(|| export(&path, name, &all));
        let (whole_sql, counted) = time(|| counts(&path, name, &columns));
        let written = by_column(&written);
        for (index, column) in columns.iter().enumerate() {
            let (alone, cells) = time(|| export(&path, name, &[index]));
            assert_eq!(by_column(&cells), written[index..=index], "{name}.{column}");
            let what = format!("export {name}.{column}");
            dear.extend(is_dear(&what, alone, whole_export).then_some(what));
            let (alone, count) = time(|| counts(&path, name, &[column]));
            assert_eq!(count, counted[index..=index], "{name}.{column}");
            let what = format!("sql count({name}.{column})");
            dear.extend(is_dear(&what, alone, whole_sql).then_some(what));
            columns_seen += 1;
        }
    }
    println!("{columns_seen} columns, {} cost more than {TIMES} times their table", dear.len());
    dear.iter().for_each(|what| println!("too dear: {what}"));
    if dear.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
