//! The command on sheets and packs: conditions, entries of packs, field names from a file, folders.

use crate::common::{json, run, utf16};
use assetq_sample::wdb::{Cell, Game, Sheet, pack};
use serde_json::Value as Json;
use std::fs;
use tempfile::TempDir;

/// A folder with a sheet, an unknown sheet of the first game, and a pack of both.
fn folder() -> TempDir {
    let dir = TempDir::new().unwrap();
    let monsters = Sheet::new(Game::Later, "Monsters").fields(["sName", "u9SaveIndex", "fScale"]);
    let monsters = [("m001", "flan", 10), ("m002", "wolf", 11), ("m003", "golem", 400)]
        .iter()
        .fold(monsters, |sheet, (name, text, index)| {
            sheet.record(name, [Cell::from(*text), Cell::Int(*index), 0.5.into()])
        });
    let unknown = Sheet::new(Game::First, "").fields(["u8A", "i8B", "sC"]);
    let unknown = unknown.record("r", [Cell::Int(200), Cell::Int(-3), Cell::from("text")]);
    fs::write(dir.path().join("monsters.wdb"), monsters.build()).unwrap();
    fs::write(dir.path().join("mystery.wdb"), unknown.build()).unwrap();
    let files =
        [("monsters", "wdb", monsters.build()), ("mystery", "wdb", unknown.build()), ("notes", "txt", b"hi".to_vec())];
    fs::write(dir.path().join("wdbpack.bin"), pack(&files)).unwrap();
    fs::write(dir.path().join("mine.txt"), "[mystery]\nnote: mine\nu8A\ni8B\nsC\n").unwrap();
    dir
}

#[test]
fn ls_shows_the_rows_for_which_a_condition_holds() {
    let dir = folder();
    let names = |args: &[&str]| {
        let rows = json(dir.path(), &[&["ls", "monsters.wdb", "-f", "json"], args].concat());
        rows.as_array().unwrap().iter().map(|row| row["record"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["--where", "u9SaveIndex > 10"]), ["m002", "m003"]);
    assert_eq!(names(&["--where", "u9SaveIndex > 10", "*3"]), ["m003"]);
    assert_eq!(names(&["-w", "record = 'm002' or sName ~ 'f*'"]), ["m001", "m002"]);
    assert_eq!(names(&["-w", "fScale = 0.5", "-n", "1"]), ["m001"]);
    let (out, err) = run(dir.path(), 1, &["ls", "monsters.wdb", "-w", "u9SaveIndex > 1k"]);
    assert!(out.is_empty());
    assert_eq!(err, "assetq: monsters.wdb: nothing in records matches \"u9SaveIndex > 1k\"\n");
    for (condition, what) in [("u9SaveIndex >", "a value is needed"), ("nobody = 1", "there is no column nobody")] {
        let (_, err) = run(dir.path(), 2, &["ls", "monsters.wdb", "-w", condition]);
        assert!(err.starts_with("assetq: filter: ") && err.contains(what) && err.lines().count() == 1, "{err}");
    }
}

#[test]
fn an_entry_of_a_pack_is_named_behind_a_colon() {
    let dir = folder();
    let (inside, _) = run(dir.path(), 0, &["ls", "wdbpack.bin:monsters.wdb", "-f", "csv"]);
    assert_eq!(inside, run(dir.path(), 0, &["ls", "monsters.wdb", "-f", "csv"]).0);
    assert_eq!(run(dir.path(), 0, &["ls", "wdbpack.bin", "-t", "monsters", "-f", "csv"]).0, inside);
    assert_eq!(run(dir.path(), 0, &["ls", "--no-mmap", "wdbpack.bin:monsters.wdb", "-f", "csv"]).0, inside);
    let record = json(dir.path(), &["cat", "wdbpack.bin:monsters.wdb", "m003", "-f", "json"]);
    assert_eq!((record["sName"].as_str(), record["u9SaveIndex"].as_u64()), (Some("golem"), Some(400)));
    let (_, err) = run(dir.path(), 1, &["ls", "wdbpack.bin:nobody.wdb"]);
    assert!(err.contains("file \"nobody.wdb\" not found") && err.lines().count() == 1, "{err}");
    run(dir.path(), 4, &["ls", "nowhere.bin:monsters.wdb"]);
    run(dir.path(), 3, &["ls", "wdbpack.bin:notes.txt"]);
    // A file whose name holds a colon is that file.
    fs::copy(dir.path().join("monsters.wdb"), dir.path().join("wdbpack.bin:mystery.wdb")).unwrap();
    assert_eq!(run(dir.path(), 0, &["ls", "wdbpack.bin:mystery.wdb", "-f", "csv"]).0, inside);
}

#[test]
fn field_names_can_be_added_from_a_file() {
    let dir = folder();
    let without = json(dir.path(), &["ls", "mystery.wdb", "-f", "json"]);
    assert_eq!(without[0]["field_0"], "0x0000FDC8");
    for file in ["mystery.wdb", "wdbpack.bin:mystery.wdb"] {
        let with = json(dir.path(), &["ls", file, "--fields", "mine.txt", "-f", "json"]);
        assert_eq!((with[0]["u8A"].as_u64(), with[0]["i8B"].as_i64()), (Some(200), Some(-3)), "{file}");
    }
    let info = json(dir.path(), &["info", "mystery.wdb", "--fields", "mine.txt", "-f", "json"]);
    assert_eq!(
        (info["field_names"].as_str(), info["names_note"].as_str()),
        (Some("from the list of known names"), Some("mine"))
    );
    let names = fs::read_to_string(dir.path().join("mine.txt")).unwrap();
    fs::write(dir.path().join("unicode.txt"), utf16(&names.replace('\n', "\r\n"))).unwrap();
    let list = |names| run(dir.path(), 0, &["ls", "mystery.wdb", "--fields", names, "-f", "json"]);
    assert_eq!(list("unicode.txt"), list("mine.txt"));
    fs::write(dir.path().join("wrong.txt"), "u8A\n").unwrap();
    let (_, err) = run(dir.path(), 2, &["ls", "mystery.wdb", "--fields", "wrong.txt"]);
    assert_eq!(err, "assetq: wrong.txt: line 1: a field before the first [stem ...]\n");
    run(dir.path(), 4, &["ls", "mystery.wdb", "--fields", "nowhere.txt"]);
}

#[test]
fn entries_are_written_as_files() {
    let dir = folder();
    let (out, _) = run(dir.path(), 0, &["extract", "wdbpack.bin", "*.wdb", "--to", "out/sheets", "-f", "csv"]);
    assert_eq!(out.lines().count(), 3);
    let read = |path: &str| fs::read(dir.path().join(path)).unwrap();
    assert_eq!(read("out/sheets/monsters.wdb"), read("monsters.wdb"));
    assert_eq!(fs::read_dir(dir.path().join("out/sheets")).unwrap().count(), 2);
    run(dir.path(), 1, &["extract", "wdbpack.bin", "*.nobody", "--to", "out"]);
    run(dir.path(), 2, &["extract", "monsters.wdb", "--to", "out"]);
}

#[test]
fn a_folder_stands_for_the_files_in_it() {
    let dir = folder();
    let reports = json(dir.path(), &["verify", ".", "-f", "json"]);
    let file = |report: &Json| report["file"].as_str().unwrap().replace('\\', "/");
    let files: Vec<_> = reports.as_array().unwrap().iter().map(|r| (file(r), r["ok"] == true)).collect();
    let expected = ["./monsters.wdb", "./mystery.wdb", "./wdbpack.bin"].map(|name| (name.to_owned(), true));
    assert_eq!(files, expected);
    fs::create_dir(dir.path().join("empty")).unwrap();
    run(dir.path(), 1, &["info", "empty"]);
}
