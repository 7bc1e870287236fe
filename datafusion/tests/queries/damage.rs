//! Damaged files and rows.

use super::*;

/// Three geometries. The second one ends too early.
fn ships() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (seed, name) in ["bow", "deck", "stern"].into_iter().enumerate() {
        let mut bytes = assetq::sample::geometry::demo(seed as u64, assetq::sample::Size::Small);
        if name == "deck" {
            bytes.truncate(100);
        }
        std::fs::write(folder.path().join(format!("{name}.geometry")), bytes).unwrap();
    }
    folder
}

#[test]
fn the_first_damage_is_an_error_that_names_its_place() {
    let folder = ships();
    let session = session_at(folder.path());
    let error = ask(&session, "SELECT sum(index) FROM vertices").unwrap_err().to_string();
    assert!(error.contains("deck.geometry") && error.contains("offset 0x"), "{error}");
    let file = ask(&session, "SELECT count(*) > 0 FROM vertices WHERE file NOT LIKE '%deck%'").unwrap();
    assert_eq!(file, [["1"]]);
}

#[test]
fn damage_is_left_out_and_reported() {
    let folder = ships();
    let catalog = AssetCatalog::open(folder.path()).unwrap().strict(false);
    let session = session(2);
    catalog.register(&session).unwrap();
    let rows = ask(&session, "SELECT count(DISTINCT file) FROM vertices WHERE index >= 0").unwrap();
    assert_eq!(rows, [["2"]]);
    let left_out = catalog.take_left_out();
    let error = left_out.findings()[0].to_string();
    assert!(left_out.found() == 1 && error.contains("deck.geometry") && error.contains("offset 0x"), "{error}");
}

/// A database with a path that is its own parent.
fn database() -> (Asset, usize) {
    let mut bytes = assetq::sample::bwdb::demo(1, assetq::sample::Size::Small);
    let whole = Asset::open(assetq::Source::from_vec("assets.bin", bytes.clone())).unwrap();
    let paths = whole.reader().table("paths").unwrap();
    let Value::Id64(id) = paths.value(0, 0).unwrap() else { panic!("the column has ids") };
    let at = bytes.windows(8).rposition(|window| window == id.to_le_bytes()).unwrap();
    bytes[at + 8..at + 16].copy_from_slice(&id.to_le_bytes());
    let len = paths.len().unwrap();
    drop(paths);
    (Asset::open(assetq::Source::from_vec("assets.bin", bytes)).unwrap(), len)
}

#[test]
fn a_damaged_row_is_an_error_of_its_columns_only() {
    let (asset, len) = database();
    let session = session_of(&asset, 2);
    let error = ask(&session, "SELECT path FROM paths").unwrap_err().to_string();
    assert!(error.contains("assets.bin: paths"), "{error}");
    assert_eq!(ask(&session, "SELECT id FROM paths").unwrap().len(), len);
}

#[test]
fn damaged_rows_are_left_out_and_counted() {
    let (asset, len) = database();
    let catalog = AssetCatalog::new(asset).strict(false).partition_rows(10);
    let session = session(2);
    catalog.register(&session).unwrap();
    let rows = ask(&session, "SELECT path FROM paths").unwrap().len();
    let left_out = catalog.take_left_out().found();
    assert!(left_out > 0);
    assert_eq!(rows as u64 + left_out, len as u64);
    assert_eq!(catalog.take_left_out().found(), 0);
}
