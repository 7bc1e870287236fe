//! The tables of every file declare nothing that contradicts itself: [`validate`].

use crate::common::writer;
use assetq::table::validate;
use assetq::{Asset, Source};
use assetq_sample::Size;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Adds what is wrong with the tables of a file, and of the files in it, by format. Returns the number of tables.
fn tables_below(asset: &Asset, faults: &mut BTreeSet<String>) -> usize {
    let (format, tables) = (asset.format().name(), asset.reader().tables());
    faults.extend(validate(&tables).into_iter().map(|fault| format!("{format}: {fault}")));
    let Ok(archive) = asset.archive() else { return tables.len() };
    let files = (0..archive.len().unwrap()).filter_map(|number| archive.file(number).ok());
    let files = files.filter_map(|file| Asset::open(asset.read(&file.path).ok()?).ok());
    tables.len() + files.map(|asset| tables_below(&asset, faults)).sum::<usize>()
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files_below(&path, files) } else { files.push(path) }
    }
}

#[test]
fn samples_have_valid_tables() {
    let (dir, mut faults) = (TempDir::new().unwrap(), BTreeSet::new());
    for (name, _, make) in assetq_sample::FILES {
        let asset = Asset::open(Source::from_vec(name, make(3, Size::Small))).unwrap();
        assert!(tables_below(&asset, &mut faults) > 0, "{name}");
    }
    for (name, _, make) in assetq_sample::FOLDERS {
        let folder = dir.path().join(name);
        let mut write = writer(&folder);
        make(3, Size::Small, &mut |path, bytes| {
            write(path, bytes.to_vec());
            Ok(())
        })
        .unwrap();
        assert!(tables_below(&Asset::open(&*folder).unwrap(), &mut faults) > 1, "{name}");
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn real_files_have_valid_tables() {
    let Some(samples) = crate::common::samples() else { return };
    let (mut files, mut faults) = (Vec::new(), BTreeSet::new());
    files_below(&samples, &mut files);
    let assets = files.iter().filter_map(|path| Asset::open(&**path).ok());
    assert!(assets.map(|asset| tables_below(&asset, &mut faults)).sum::<usize>() > 0);
    assert!(faults.is_empty(), "{faults:#?}");
}
