//! Files of every format: told, opened, and read cell by cell.

use super::input::{File, any, file};
use super::models::Family;
use arbitrary::Unstructured;
use assetq::table::{Tree, Value};
use assetq::{Asset, Format, Source};

/// Rows of a table that are read: hostile counts may promise any number.
pub const ROWS: usize = 60;

/// One of so many rows is read by itself, besides.
const ASKED: usize = 16;

/// Entries of a table that are shown whole.
const ENTRIES: usize = 8;

/// Opens any bytes under any name, and asks what their headers answer.
pub fn detect(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let file = file(&mut u, None);
    let _ = Format::guess(&file.name, &file.bytes);
    open(&file);
    // Without its name, and under that of another format.
    for name in ["x", "x.geometry", "x.wdb", "x.idx", "x.splash", "models.bin", "x.wdata"] {
        if let Ok(asset) = Asset::open(Source::from_vec(name, file.bytes.clone())) {
            headers(&asset);
        }
    }
}

fn headers(asset: &Asset) {
    let reader = asset.reader();
    reader.sections();
    reader.version();
    reader.facts();
    reader.warnings();
}

fn open(file: &File) -> Option<Asset> {
    match file.open() {
        Ok(asset) => {
            headers(&asset);
            Some(asset)
        }
        Err(error) => {
            assert!(!file.is_valid, "{}: {error}", file.name);
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

pub fn bwdb(data: &[u8]) {
    tables(data, Family::Bwdb);
}

pub fn geometry(data: &[u8]) {
    tables(data, Family::Geometry);
}

pub fn vrb(data: &[u8]) {
    tables(data, Family::Vrb);
}

pub fn wdata(data: &[u8]) {
    tables(data, Family::Wdata);
}

pub fn wdb(data: &[u8]) {
    tables(data, Family::Wdb);
}

fn tables(data: &[u8], family: Family) {
    let mut u = Unstructured::new(data);
    let file = file(&mut u, Some(family));
    if let Some(asset) = open(&file) {
        cells(&asset, file.is_valid);
        let rest: u64 = any(&mut u);
        probes(&asset, rest);
    }
}

/// Reads every cell of every table, shows some entries whole, and asks each index for what it holds.
pub fn cells(asset: &Asset, is_valid: bool) {
    let reader = asset.reader();
    for table in reader.tables() {
        let len = table.len();
        assert!(len.is_ok() || !is_valid, "{}: {len:?}", table.name());
        let mut cursor = table.cursor(0);
        let mut shown = 0;
        for _ in 0..ROWS {
            match cursor.advance() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    assert!(!is_valid, "{}: {error}", table.name());
                    break;
                }
            }
            let row = cursor.row();
            for column in 0..table.columns().len() {
                let cell = cursor.value(column);
                // A walk and a single question agree. The question may have to walk, too.
                if row % ASKED == 0 {
                    match (&cell, table.value(row, column)) {
                        (Ok(cell), Ok(alone)) => {
                            assert_eq!(cell.to_string(), alone.to_string(), "{}[{row}, {column}]", table.name());
                        }
                        (Err(_), Err(_)) => {}
                        (cell, alone) => panic!("{}[{row}, {column}]: {cell:?}, {alone:?}", table.name()),
                    }
                }
                let Ok(cell) = cell else {
                    assert!(!is_valid, "{}[{row}, {column}]", table.name());
                    continue;
                };
                if column == table.label() && shown < ENTRIES {
                    shown += 1;
                    let entry = cell.to_string();
                    let _ = reader.cat(&entry, &mut Tree::default());
                    let _ = reader.cat_typed(&entry, &mut Tree::default());
                    let _ = reader.raw(&entry);
                }
                if table.finds(column)
                    && shown < ENTRIES
                    && let Some(Ok(found)) = table.find(column, &cell)
                {
                    assert!(!is_valid || found.contains(&row), "{}[{row}, {column}] is not found", table.name());
                }
            }
        }
    }
}

/// Asks for entries and rows that are not there, or lie at the end.
fn probes(asset: &Asset, number: u64) {
    let reader = asset.reader();
    for entry in ["", "0", "[Main]", "18446744073709551615", "a.b[0].c"] {
        let _ = reader.cat(entry, &mut Tree::default());
        let _ = reader.raw(entry);
    }
    let _ = reader.cat(&number.to_string(), &mut Tree::default());
    for table in reader.tables() {
        for row in [usize::MAX, number as usize, table.known_len().unwrap_or(0)] {
            for column in [0, table.columns().len(), usize::MAX] {
                let _ = table.value(row, column);
            }
            let _ = table.cursor(row).advance();
        }
        for column in 0..table.columns().len() {
            for key in [Value::Uint(number), Value::Id64(number), Value::from("x"), Value::Null] {
                let _ = table.find(column, &key);
            }
        }
    }
}
