//! Files of every format: told, opened, and read cell by cell.

use super::input::{File, any, file, one_of, turn};
use super::models::Family;
use arbitrary::Unstructured;
use assetq::table::{Table, Tree, Value};
use assetq::view::texture::{self, Texture, decode};
use assetq::{Asset, Format, Source};

/// Rows of a table that are read: hostile counts may promise any number.
pub const ROWS: usize = 60;

/// One row in this many is also read directly.
const ASKED: usize = 16;

/// Entries of a table that are shown whole, and keys that are looked for.
const SHOWN: usize = 8;

/// Opens any bytes under any name, and asks what their headers answer.
pub fn detect(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let file = file(&mut u, None);
    let _ = Format::guess(&file.name, &file.bytes);
    open(&file);
    // Without its name, or under that of another format.
    let name = *one_of(&mut u, &["x", "x.geometry", "x.wdb", "x.idx", "x.splash", "models.bin", "x.wdata"]);
    if let Ok(asset) = Asset::open(Source::from_vec(name, file.bytes)) {
        headers(&asset);
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

pub fn gameparams(data: &[u8]) {
    tables(data, Family::Params);
}

pub fn text_models(data: &[u8]) {
    tables(data, Family::Text);
}

fn tables(data: &[u8], family: Family) {
    let mut u = Unstructured::new(data);
    let file = file(&mut u, Some(family));
    if let Some(asset) = open(&file) {
        ask(&mut u, &asset, file.is_valid);
        let one = asset.reader().facet::<dyn Texture>().into_iter();
        let several = texture::textures(asset.reader());
        let several = several.iter().filter_map(|(_, texture)| texture.as_deref().ok());
        one.chain(several).for_each(|texture| pixels(texture, &file));
    }
}

/// Decodes the first and the last level of a texture.
fn pixels(texture: &dyn Texture, file: &File) {
    let shape = texture.shape();
    for (layer, mip) in [(0, 0), (shape.layers - 1, shape.mips - 1)] {
        let decoded = texture.level(layer, mip).and_then(|level| decode(&level));
        // The texels of some lie in another file.
        assert!(!file.is_valid || decoded.is_ok() || file.name.ends_with(".trb"), "{}", file.name);
    }
}

/// Asks some tables in one of the ways in which rows are asked for.
pub fn ask(u: &mut Unstructured<'_>, asset: &Asset, is_valid: bool) {
    let way = any::<u8>(u) % WAYS;
    let tables = asset.reader().tables();
    let turn = turn(u, tables.len());
    for table in (0..tables.len()).filter(turn).map(|at| &*tables[at]) {
        match way {
            0 => cells(table, is_valid),
            1 => entries(asset, table),
            2 => finds(table, is_valid),
            _ => probes(table, any(u)),
        }
    }
    if way == 3 {
        let number: u64 = any(u);
        for entry in ["", "0", "[Main]", "18446744073709551615", "a.b[0].c", &number.to_string()] {
            let _ = asset.reader().cat(entry, &mut Tree::default());
            let _ = asset.reader().raw(entry);
        }
    }
}

/// The number of ways in which rows are asked for: a run goes one of them, so that it is short.
pub const WAYS: u8 = 4;

/// Reads every cell, in a walk and some of them by themselves.
fn cells(table: &dyn Table, is_valid: bool) {
    let len = table.len();
    assert!(len.is_ok() || !is_valid, "{}: {len:?}", table.name());
    let mut cursor = table.cursor(0);
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
            assert!(cell.is_ok() || !is_valid, "{}[{row}, {column}]", table.name());
            // A walk and a single question agree. The question may have to walk, too.
            if row.is_multiple_of(ASKED) {
                match (&cell, table.value(row, column)) {
                    (Ok(cell), Ok(alone)) => {
                        assert_eq!(cell.to_string(), alone.to_string(), "{}[{row}, {column}]", table.name());
                    }
                    (Err(_), Err(_)) => {}
                    (cell, alone) => panic!("{}[{row}, {column}]: {cell:?}, {alone:?}", table.name()),
                }
            }
        }
    }
}

/// Shows entries whole.
fn entries(asset: &Asset, table: &dyn Table) {
    let mut cursor = table.cursor(0);
    for _ in 0..SHOWN {
        if !cursor.advance().unwrap_or(false) {
            break;
        }
        if let Ok(label) = cursor.value(table.label()) {
            let entry = label.to_string();
            let _ = asset.reader().cat(&entry, &mut Tree::default());
            let _ = asset.reader().cat_typed(&entry, &mut Tree::default());
            let _ = asset.reader().raw(&entry);
        }
    }
}

/// A probe gives all the rows that a walk finds, and no others.
fn finds(table: &dyn Table, is_valid: bool) {
    for column in (0..table.columns().len()).filter(|&column| table.finds(column)) {
        let mut rows = Vec::new();
        let mut cursor = table.cursor(0);
        while rows.len() < ROWS && cursor.advance().unwrap_or(false) {
            let Ok(cell) = cursor.value(column) else { break };
            rows.push(cell.into_owned());
        }
        for key in rows.iter().take(SHOWN) {
            let Some(Ok(found)) = table.find(column, key) else { continue };
            if is_valid {
                let walked: Vec<usize> = (0..rows.len()).filter(|&row| rows[row] == *key).collect();
                let found: Vec<usize> = found.into_iter().filter(|&row| row < rows.len()).collect();
                assert_eq!(found, walked, "{}, {} = {key}", table.name(), table.columns()[column].name);
            }
        }
    }
}

/// Asks for rows that are not there, or lie at the end.
fn probes(table: &dyn Table, number: u64) {
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
