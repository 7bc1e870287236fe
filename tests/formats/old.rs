//! Files of earlier versions are read for ever: exports, patches, undo files, snapshots and caches in `tests/old`, a folder for
//! each version. `ASSETQ_OLD=write` adds the folder of this version, once: what a version wrote does not change any more.

use crate::common::run;
use assetq::query::archive::Cache;
use assetq::{Asset, Options};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::{env, fs};

/// Files, each with the statement that edits it.
const FILES: [(&str, &str); 3] = [
    ("enemy.wdb", "UPDATE records SET u7DropRate = 3 WHERE record = 'e_wyrm'"),
    ("models.bin", "UPDATE lods SET extent = extent + 1 WHERE rowid = 1"),
    ("town.wdata", "UPDATE respawn_boxes SET pos_x = 106 WHERE name = 'Reed bank'"),
];
/// A file of the game that a cache keeps, and one that a snapshot keeps.
const CACHED: &str = "content/assets.bin";
const SAVED: &str = "content/GameParams.data";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old")
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(path, to).unwrap();
        }
    }
}

/// The file that a cache in `folder` keeps, once it was asked for.
fn through_cache(game: &Path, folder: &Path) -> Vec<u8> {
    let cache = Cache::in_folder(folder).with_limits(1, 1 << 30);
    let address = format!("{}:{CACHED}", text(game));
    let asset = Asset::open_at(address, &Options::default().with(Arc::new(cache))).unwrap();
    asset.source().bytes().to_vec()
}

/// Writes what this version writes into `folder`.
fn write(folder: &Path) {
    let samples = tempfile::tempdir().unwrap();
    let dir = samples.path();
    run(dir, 0, &["sample", "."]);
    fs::create_dir_all(folder).unwrap();
    for (name, statement) in FILES {
        let to = |ending: &str| folder.join(format!("{name}{ending}"));
        fs::copy(dir.join(name), to("")).unwrap();
        run(dir, 0, &["export", name, "--to", text(&to(".csv"))]);
        run(dir, 0, &["export", name, "--to", text(&to(".parquet"))]);
        run(dir, 0, &["sql", statement, name, "--to", "changed", "--undo", text(&to(".undo.ndjson"))]);
        let (patch, _) = run(dir, 1, &["diff", name, "changed", "-f", "patch"]);
        fs::write(to(".patch.ndjson"), patch).unwrap();
        fs::remove_file(dir.join("changed")).unwrap();
    }
    run(dir, 0, &["snapshot", "wows", "--to", text(&folder.join("snapshot")), SAVED]);
    for file in ["bin/7100000/idx/content.idx", "res_packages/content_0001.pkg"] {
        let to = folder.join("game").join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(dir.join("wows").join(file), to).unwrap();
    }
    through_cache(&folder.join("game"), &folder.join("cache"));
    // Volumes are recorded by their paths on this machine.
    let addresses = folder.join("cache/addresses");
    let recorded = fs::read_to_string(&addresses).unwrap().replace(text(folder), "");
    fs::write(addresses, recorded).unwrap();
}

/// The folders of all versions, once that of this version is there.
fn versions() -> Vec<PathBuf> {
    static WRITTEN: Once = Once::new();
    let own = root().join(env!("CARGO_PKG_VERSION"));
    WRITTEN.call_once(|| {
        if !own.exists() && env::var("ASSETQ_OLD").is_ok_and(|value| value == "write") {
            write(&own);
        }
    });
    assert!(own.exists(), "a new version: ASSETQ_OLD=write keeps what it writes");
    fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
}

#[test]
fn files_of_earlier_versions_are_read() {
    for version in versions() {
        let dir = tempfile::tempdir().unwrap();
        for (name, _) in FILES {
            let old = version.join(name);
            let kept = |ending: &str| version.join(format!("{name}{ending}"));
            let bytes = fs::read(&old).unwrap();

            // An unedited export changes nothing, and its Parquet has as many rows.
            run(dir.path(), 0, &["patch", text(&old), text(&kept(".csv")), "--to", "same"]);
            assert_eq!(fs::read(dir.path().join("same")).unwrap(), bytes, "{}", old.display());
            let parquet = fs::File::open(kept(".parquet")).unwrap();
            let parquet = ParquetRecordBatchReaderBuilder::try_new(parquet).unwrap().build().unwrap();
            let rows: usize = parquet.map(|batch| batch.unwrap().num_rows()).sum();
            let csv = fs::read(kept(".csv")).unwrap();
            assert_eq!(rows, csv::Reader::from_reader(&*csv).records().count(), "{}", old.display());

            // The patch makes the file that the undo file takes back.
            run(dir.path(), 0, &["patch", text(&old), text(&kept(".patch.ndjson")), "--to", "changed"]);
            assert_ne!(fs::read(dir.path().join("changed")).unwrap(), bytes);
            run(dir.path(), 0, &["patch", "changed", text(&kept(".undo.ndjson")), "--to", "back"]);
            assert_eq!(fs::read(dir.path().join("back")).unwrap(), bytes, "{}", old.display());
            ["same", "changed", "back"].iter().for_each(|file| fs::remove_file(dir.path().join(file)).unwrap());
        }
    }
}

#[test]
fn snapshots_and_caches_of_earlier_versions_are_read() {
    for version in versions() {
        let dir = tempfile::tempdir().unwrap();
        let snapshot = version.join("snapshot");
        run(dir.path(), 0, &["verify", text(&snapshot)]);
        run(dir.path(), 0, &["extract", text(&snapshot), SAVED, "--to", "out"]);
        let build = fs::read_dir(snapshot.join("bin")).unwrap().next().unwrap().unwrap().path();
        assert_eq!(
            fs::read(dir.path().join("out").join(SAVED)).unwrap(),
            fs::read(build.join("res").join(SAVED)).unwrap()
        );

        // A copy of a cache is not the file that was sealed: it is decoded again, and kept.
        let cache = dir.path().join("cache");
        copy(&version.join("cache"), &cache);
        let fresh = through_cache(&version.join("game"), &dir.path().join("fresh"));
        for _ in 0..2 {
            assert_eq!(through_cache(&version.join("game"), &cache), fresh, "{}", version.display());
        }
    }
}

#[test]
fn old_files_are_small() {
    fn size(folder: &Path) -> u64 {
        let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
        entries
            .map(|entry| if entry.path().is_dir() { size(&entry.path()) } else { entry.metadata().unwrap().len() })
            .sum()
    }
    for version in versions() {
        assert!(size(&version) < 200_000, "{}: {} bytes", version.display(), size(&version));
    }
}
