//! Files that are written in place: by two commands at once, while others hold them, and for a dry run.

use super::command::{command, folder, read, run, run_with};
use std::fs;
use std::process::Stdio;
use tempfile::TempDir;

fn price(index: u32) -> String {
    format!(r#"{{"table":"records","change":"changed","key":"ether","new":{{"u9Index":{index}}}}}"#)
}

/// The second one has opened the file before the first one writes it, and would bring the old rows back.
#[cfg(target_os = "linux")]
#[test]
fn of_two_commands_that_edit_a_file_at_once_the_second_fails() {
    use std::io::Write as _;
    for map in [&[][..], &["--no-mmap"]] {
        for file in ["old.wdb", "pack.bin:items.wdb"] {
            let dir = folder();
            let outer = file.split(':').next().unwrap();
            let args = [&["patch", file, "-", "--in-place"], map].concat();
            let mut second = command(dir.path(), &args).spawn().unwrap();
            // Waits for its changes once it has opened the file.
            let is_waiting = |pid: u32| {
                let wchan = fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
                wchan.starts_with("0 0x0 ")
            };
            while !is_waiting(second.id()) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            run_with(dir.path(), 0, &args, &price(77));
            let first = read(&dir, outer);
            second.stdin.take().unwrap().write_all(price(88).as_bytes()).unwrap();
            let out = second.wait_with_output().unwrap();
            let said = String::from_utf8(out.stderr).unwrap();
            assert_eq!((out.status.code(), said.lines().count()), (Some(4), 1), "{file}: {said}");
            assert!(said.contains("it changed after it was opened") && said.contains(outer), "{file}: {said}");
            assert!(read(&dir, outer) == first);
            let (rows, _) = run(dir.path(), 0, &["ls", file, "-t", "records", "-f", "csv"]);
            assert!(rows.contains(",77,") && !rows.contains(",88,"), "{rows}");
        }
    }
}

#[test]
fn a_file_that_another_program_has_locked_is_not_replaced() {
    let dir = folder();
    fs::write(dir.path().join("rows.ndjson"), price(77)).unwrap();
    fs::create_dir(dir.path().join("out")).unwrap();
    fs::write(dir.path().join("out/items.wdb"), "theirs").unwrap();
    for (file, args) in [
        ("old.wdb", &["patch", "old.wdb", "rows.ndjson", "--in-place"][..]),
        ("old.wdb", &["sql", "UPDATE records SET u9Index = 3", "old.wdb", "--in-place"]),
        ("out/items.wdb", &["extract", "pack.bin", "items.wdb", "--to", "out", "--force"]),
        ("new.wdb", &["patch", "old.wdb", "rows.ndjson", "--to", "new.wdb", "--force"]),
    ] {
        let before = read(&dir, file);
        let lock = fs::File::open(dir.path().join(file)).unwrap();
        lock.lock().unwrap();
        let said = run(dir.path(), 4, args).1.replace('\\', "/");
        assert!(said.contains("another program is writing it") && said.contains(file), "{args:?}: {said}");
        assert_eq!(read(&dir, file), before);
        drop(lock);
    }
}

/// Not even in the folder for temporary files, where the file of a version before may be another user's.
#[test]
fn a_dry_run_writes_nothing() {
    let (dir, temp) = (folder(), TempDir::new().unwrap());
    fs::create_dir(temp.path().join("assetq-dry-run")).unwrap();
    fs::write(dir.path().join("rows.ndjson"), price(77)).unwrap();
    let list = || fs::read_dir(dir.path()).unwrap().count();
    let before = (list(), read(&dir, "old.wdb"), read(&dir, "pack.bin"));
    for args in [
        &["patch", "old.wdb", "rows.ndjson", "--dry-run", "-f", "ndjson"][..],
        &["patch", "pack.bin:items.wdb", "rows.ndjson", "--dry-run", "-f", "ndjson"],
        &["sql", "UPDATE records SET u9Index = 77 WHERE record = 'ether'", "old.wdb", "--dry-run", "-f", "ndjson"],
    ] {
        let mut command = command(dir.path(), args);
        command.env("TMPDIR", temp.path()).env("TEMP", temp.path()).env("TMP", temp.path()).stdin(Stdio::null());
        let out = command.output().unwrap();
        let (rows, said) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
        assert!(out.status.success() && said.contains("nothing is written"), "{args:?}: {said}");
        assert!(rows.contains("\"new\":{\"u9Index\":77}"), "{args:?}: {rows}");
    }
    assert_eq!((list(), read(&dir, "old.wdb"), read(&dir, "pack.bin")), before);
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
}

/// Garbage is refused rather than taken for an empty patch.
#[test]
fn changes_that_name_nothing_of_the_table_are_wrong_usage() {
    let dir = folder();
    let patch = |changes: &str, text: &str| {
        if changes != "-" {
            fs::write(dir.path().join(changes), text).unwrap();
        }
        run_with(dir.path(), 2, &["patch", "old.wdb", changes, "--to", "out.wdb"], text).1
    };
    for (changes, text, why) in [
        ("-", "garbage\n", "\"garbage\" names no column of records; it has record"),
        ("-", "foo,bar\n", "\"foo,bar\" names no column of records"),
        ("rows.csv", "", "names no column of records"),
        ("rows.csv", "foo;bar\n1;2\n", "names no column of records"),
        ("rows.parquet", "garbage", "changes end in .ndjson, .jsonl, .json, .csv or .tsv, not in \"parquet\""),
        (".parquet", "garbage", "not in \"parquet\""),
        ("rows.txt", "record,u9Index\nether,1\n", "not in \"txt\""),
        ("rows.json", "[{}]", "a row without columns"),
        ("rows.ndjson", "garbage", "no JSON"),
        ("rows.json", "", "no JSON"),
    ] {
        let said = patch(changes, text);
        assert!(said.contains(why) && said.lines().count() == 1, "{changes} {text:?}: {said}");
        assert!(!dir.path().join("out.wdb").exists());
    }
    // No rows, of a table or of a patch, are no changes.
    for (changes, text) in [("rows.csv", "record,u9Index\n"), ("rows.json", "[]"), ("rows.ndjson", ""), ("rows", "")] {
        fs::write(dir.path().join(changes), text).unwrap();
        run(dir.path(), 0, &["patch", "old.wdb", changes, "--to", "out.wdb", "--force"]);
    }
}

#[test]
fn statements_that_are_no_edits_are_wrong_usage_where_a_file_is_written() {
    let dir = folder();
    for statement in [
        "DROP TABLE records",
        "CREATE TABLE t(a)",
        "CREATE TEMP TABLE t AS SELECT * FROM records",
        "CREATE VIEW v AS SELECT 1",
        "ALTER TABLE records RENAME TO r",
        "EXPLAIN UPDATE records SET u9Index = 1",
        "UPDATE records SET u9Index = 1; DROP TABLE records",
        "PRAGMA user_version",
        "ANALYZE records",
        "VACUUM main",
        "REINDEX records",
        "/* SELECT */ REINDEX records",
    ] {
        for output in [&["--to", "out.wdb"][..], &["--in-place"], &["--dry-run"]] {
            let before = read(&dir, "old.wdb");
            let (_, said) = run(dir.path(), 2, &[&["sql", statement, "old.wdb"], output].concat());
            assert!(said.contains("SQL: "), "{statement}: {said}");
            assert!(!dir.path().join("out.wdb").exists() && read(&dir, "old.wdb") == before, "{statement}");
        }
    }
    let (_, said) = run(dir.path(), 2, &["sql", "DROP TABLE records", "old.wdb", "--to", "out.wdb"]);
    assert!(said.contains("a file is edited by UPDATE, INSERT and DELETE"), "{said}");
    let edits = "BEGIN; WITH x AS (SELECT 5 AS n) UPDATE records SET u9Index = (SELECT n FROM x); SELECT 1; COMMIT";
    run(dir.path(), 0, &["sql", edits, "old.wdb", "--to", "out.wdb"]);
}
