//! Sheets for tests, and their cells and findings.

#![allow(dead_code)]

use assetq::Source;
use assetq::formats::Reader;
use assetq::formats::ff13::wdb::Sheet;
use assetq::formats::report::Progress;
use assetq_sample::wdb::{self as build, Cell, Game};

pub fn sheet(bytes: Vec<u8>) -> Sheet {
    Sheet::open(Source::from_vec("test.wdb", bytes)).unwrap()
}

pub fn named(name: &str, bytes: Vec<u8>) -> Sheet {
    Sheet::open(Source::from_vec(name, bytes)).unwrap()
}

/// A record as the library reads it, field by field; errors as text.
pub fn cells(sheet: &Sheet, row: usize) -> Vec<String> {
    let record = sheet.record(row).unwrap();
    (0..sheet.fields().len()).map(|f| record.value(f).map_or_else(|e| format!("!{e}"), |v| format!("{v:?}"))).collect()
}

pub fn findings(reader: &dyn Reader) -> Vec<String> {
    let report = reader.verify(&Progress::default());
    report.checks.iter().flat_map(|c| c.findings().iter().map(|e| format!("{}: {e}", c.name))).collect()
}

/// The position of the data of entry `name` in the file.
pub fn at(bytes: &[u8], name: &str) -> usize {
    entry(bytes, name).1
}

/// The position of the table entry called `name`, and of its data.
pub fn entry(bytes: &[u8], name: &str) -> (usize, usize) {
    let entries = (0x10..).step_by(0x20).take_while(|&at| at + 0x20 <= bytes.len());
    let found = entries.into_iter().find(|&at| {
        bytes[at..at + 16].starts_with(name.as_bytes()) && bytes[at..at + 16][name.len()..].iter().all(|&b| b == 0)
    });
    let entry = found.unwrap_or_else(|| panic!("no entry {name}"));
    (entry, u32::from_be_bytes(bytes[entry + 16..entry + 20].try_into().unwrap()) as usize)
}

pub fn patch(bytes: &mut [u8], at: usize, with: &[u8]) {
    bytes[at..at + with.len()].copy_from_slice(with);
}

pub fn small() -> Vec<u8> {
    build::Sheet::new(Game::Later, "Small")
        .fields(["sName", "u7Race", "u9SaveIndex", "i8Random", "fScale", "uFlags", "iDelta", "s4Family"])
        .record(
            "a",
            [Cell::from("one"), 5.into(), 300.into(), (-3).into(), 0.5.into(), 7.into(), (-1).into(), "flan".into()],
        )
        .record(
            "b",
            [
                Cell::from("two"),
                127.into(),
                511.into(),
                127.into(),
                (-2.0).into(),
                0xFFFF_FFFF.into(),
                1.into(),
                "".into(),
            ],
        )
        .record(
            "c",
            [Cell::from(""), 0.into(), 0.into(), (-128).into(), 0.0.into(), 0.into(), 0.into(), "beast".into()],
        )
        .build()
}
