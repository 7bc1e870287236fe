//! Tools that several test files need.
#![allow(dead_code)]

#[cfg(feature = "edit")]
pub mod made;
pub mod maps;
#[cfg(feature = "edit")]
pub mod tree;

use assetq::table::{Tree, Value};
use assetq::{Asset, Source};
use std::path::{Path, PathBuf};

/// The folder of real files. Without one, prints that the test is skipped.
pub fn samples() -> Option<PathBuf> {
    let dir = std::env::var_os("ASSETQ_SAMPLES").map(PathBuf::from);
    if dir.is_none() {
        eprintln!("skipped: ASSETQ_SAMPLES is not set");
    }
    dir
}

/// The files in a folder of real files.
pub fn files_in(folder: &str) -> Vec<PathBuf> {
    let Some(dir) = samples() else { return Vec::new() };
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(dir.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Opens bytes as whatever they are, and reads everything in them: every table cell, an entry, and `verify`.
/// Gives the number of errors met; that nothing panics or hangs is what callers want to see.
pub fn read_everything(name: &str, bytes: Vec<u8>) -> usize {
    let asset = match Asset::open(Source::from_vec(name, bytes)) {
        Ok(asset) => asset,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return 1;
        }
    };
    let reader = asset.reader();
    let mut errors = 0;
    reader.sections();
    reader.facts();
    for table in reader.tables() {
        let mut cursor = table.cursor(0);
        // Hostile counts may promise any number of rows.
        for _ in 0..200 {
            match cursor.advance() {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => {
                    errors += 1;
                    break;
                }
            }
            for column in 0..table.columns().len() {
                match cursor.value(column) {
                    Ok(value) if column == table.label() => {
                        let entry = value.to_string();
                        let mut tree = Tree::default();
                        errors += usize::from(reader.cat(&entry, &mut tree).is_err());
                    }
                    Ok(_) => {}
                    Err(_) => errors += 1,
                }
            }
        }
    }
    let report = reader.verify(&Default::default());
    errors + report.checks.iter().map(|c| c.found() as usize).sum::<usize>()
}

/// Writes files under `dir`, in folders that are made for them.
pub fn writer(dir: &Path) -> impl FnMut(&str, Vec<u8>) {
    move |path, bytes| {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// Runs the command in `dir`, asserts its exit code, and returns standard output and standard error.
#[cfg(feature = "cli")]
pub fn run(dir: &Path, code: i32, args: &[&str]) -> (String, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_assetq"));
    let command = command.current_dir(dir).args(args).env_remove("ASSETQ_DB").env_remove("COLUMNS");
    let out = command.stdin(std::process::Stdio::null()).output().unwrap();
    let (stdout, stderr) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert_eq!(out.status.code(), Some(code), "assetq {args:?}\n{stdout}{stderr}");
    (stdout, stderr)
}

/// Asks an archive everything: all of its files, each found by its path and decoded, its tables, and `verify`. Gives the
/// number of errors met, and bounds it for hostile counts.
pub fn ask_archive(asset: &Asset) -> usize {
    let archive = asset.reader().archive().unwrap();
    let mut errors = 0;
    for n in 0..archive.len().unwrap_or(1).min(1000) {
        match archive.file(n) {
            Ok(file) => {
                assert!(archive.find(&file.path).unwrap().is_some(), "{} is not found", file.path);
                errors += usize::from(assetq::archive::open(archive, &file, "GAME").is_err());
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                errors += 1;
            }
        }
    }
    errors += archive.damage().len();
    assert!(archive.file(usize::MAX).is_err());
    let _ = archive.volumes();
    asset.reader().facts();
    asset.reader().sections();
    for table in asset.reader().tables() {
        let mut cursor = table.cursor(0);
        for _ in 0..200 {
            if !cursor.advance().unwrap_or(false) {
                break;
            }
            (0..table.columns().len()).for_each(|column| errors += usize::from(cursor.value(column).is_err()));
        }
    }
    let report = asset.reader().verify(&Default::default());
    errors + report.checks.iter().map(|c| c.found() as usize).sum::<usize>()
}

/// The value of a field in a map.
pub fn field<'v>(value: &'v Value<'_>, name: &str) -> &'v Value<'v> {
    match value {
        Value::Map(fields) => fields.iter().find(|(n, _)| n == name).map(|(_, v)| v).unwrap_or(&Value::Null),
        _ => &Value::Null,
    }
}
