//! `sql --engine duckdb`: what the program duckdb is given. The tests of Python run the real one.

use crate::common;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with two files, an extension and a program `duckdb` that prints its arguments, one a line, and ends with `code`.
fn folder(code: u8) -> TempDir {
    folder_with(&format!("printf '%s\\n' \"$@\"\nexit {code}"))
}

/// A folder with two files, an extension and a program `duckdb` that runs `script`.
fn folder_with(script: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    let splash = assetq_sample::geometry::splash(&[("bow", [-1.0; 3], [1.0; 3])]);
    let mut write = common::writer(dir.path());
    write("ship's.splash", splash.clone());
    write("other/ship's.splash", splash);
    write("assetq.duckdb_extension", Vec::new());
    write("bin/duckdb", format!("#!/bin/sh\n{script}\n").into_bytes());
    drop(write);
    fs::set_permissions(dir.path().join("bin/duckdb"), fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

fn sql(dir: &Path, args: &[&str]) -> Output {
    Command::new(crate::common::program())
        .current_dir(dir)
        .args(["sql", "--engine", "duckdb"])
        .args(args)
        .env("PATH", dir.join("bin"))
        .env("ASSETQ_DUCKDB_EXTENSION", dir.join("assetq.duckdb_extension"))
        .output()
        .unwrap()
}

fn stderr(out: &Output) -> String {
    String::from_utf8(out.stderr.clone()).unwrap()
}

#[test]
fn duckdb_gets_the_extension_a_view_for_each_table_and_the_query() {
    let dir = folder(0);
    let out = sql(dir.path(), &["SELECT 1", "ship's.splash", "--skip-damaged", "-f", "json"]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let given = String::from_utf8(out.stdout).unwrap();
    let lines: Vec<&str> = given.lines().collect();
    let load = format!("LOAD '{}';", dir.path().join("assetq.duckdb_extension").display());
    let view = r#"CREATE SCHEMA IF NOT EXISTS "main";CREATE VIEW "main"."boxes" AS FROM assetq('ship''s.splash', 'boxes', skip_damaged := true, strict := false, mmap := true);"#;
    // The user's own settings are not read, and the query reaches no other file.
    let clean = ["-init", "/dev/null", "-unsigned", "-batch", "-bail", "-json"];
    assert_eq!(lines, [&clean[..], &["-cmd", &load, "-cmd", view, "-cmd", ".safe_mode", "-c", "SELECT 1"]].concat());
}

#[test]
fn options_of_files_go_on_or_are_refused() {
    let dir = folder(0);
    fs::write(dir.path().join("it's.txt"), "content/a.dds\n").unwrap();
    let out = sql(dir.path(), &["SELECT 1", "*.splash", "--names", "it's.txt", "--format-of", "splash"]);
    let given = String::from_utf8(out.stdout).unwrap();
    let options =
        "skip_damaged := false, strict := false, mmap := true, names := ['it''s.txt'], format_of := 'splash');";
    assert!(given.contains(&format!("FROM assetq('*.splash', 'boxes', {options}")), "{given}");
    for option in ["--no-companions", "--lang=de", "--game=lr", "--no-cache"] {
        let out = sql(dir.path(), &["SELECT 1", "ship's.splash", option]);
        let name = option.split('=').next().unwrap();
        assert!(out.status.code() == Some(2) && stderr(&out).contains(&format!("without {name}")), "{}", stderr(&out));
    }
    let out = sql(dir.path(), &[".shell echo hi", "ship's.splash"]);
    assert!(out.status.code() == Some(2) && stderr(&out).contains("begin with a dot"), "{}", stderr(&out));
}

#[test]
fn rows_and_messages_are_escaped_for_people_and_rows_that_are_left_out_are_damage() {
    let dir = folder_with(r"printf 'bow\033[2J\nstern\n'; printf 'assetq: a\033[2J: left out\n' >&2");
    let out = sql(dir.path(), &["SELECT 1", "ship's.splash"]);
    assert_eq!(String::from_utf8_lossy(&out.stdout), "bow\\u{1b}[2J\nstern\n");
    assert_eq!((out.status.code(), &*stderr(&out)), (Some(3), "assetq: a\\u{1b}[2J: left out\n"));
    let out = sql(dir.path(), &["SELECT 1", "ship's.splash", "-f", "json"]);
    assert_eq!(String::from_utf8_lossy(&out.stdout), "bow\u{1b}[2J\nstern\n");
}

#[test]
fn several_files_are_schemas_with_names_of_their_own() {
    let dir = folder(0);
    let out = sql(dir.path(), &["SELECT 1", "a=ship's.splash", "b=other/ship's.splash", "-f", "csv"]);
    let given = String::from_utf8(out.stdout).unwrap();
    assert!(given.contains("-csv") && given.contains(r#"CREATE VIEW "a"."boxes""#), "{given}");
    assert!(given.contains(r#"CREATE SCHEMA IF NOT EXISTS "b";CREATE VIEW "b"."boxes""#), "{given}");
    // DuckDB's names are equal in any case, and some are its own.
    for (names, why) in [
        (["", ""], "ship's is the name of two files"),
        (["Boat=", "boat="], "boat is the name of two files"),
        (["Temp=", ""], "Temp is a name of DuckDB itself"),
    ] {
        let [a, b] = [format!("{}ship's.splash", names[0]), format!("{}other/ship's.splash", names[1])];
        let out = sql(dir.path(), &["SELECT 1", &a, &b]);
        let advice = format!("{why}: give a file another name, as in NAME=FILE");
        assert!(out.status.code() == Some(2) && stderr(&out).contains(&advice), "{}", stderr(&out));
    }
}

#[test]
fn what_is_missing_is_said_with_how_to_get_it() {
    let dir = folder(1);
    // The program says why itself.
    let out = sql(dir.path(), &["SELECT nope", "ship's.splash"]);
    assert_eq!((out.status.code(), stderr(&out)), (Some(2), String::new()));
    let out = sql(dir.path(), &["SELECT 1", "ship's.splash", "--into", "x.sqlite"]);
    assert!(out.status.code() == Some(2) && stderr(&out).contains("leave out --into"), "{}", stderr(&out));
    fs::remove_file(dir.path().join("bin/duckdb")).unwrap();
    let out = sql(dir.path(), &["SELECT 1", "ship's.splash"]);
    assert!(out.status.code() == Some(2) && stderr(&out).contains("pip install duckdb-cli"), "{}", stderr(&out));
    fs::remove_file(dir.path().join("assetq.duckdb_extension")).unwrap();
    let out = sql(dir.path(), &["SELECT 1", "ship's.splash"]);
    assert!(out.status.code() == Some(2) && stderr(&out).contains("duckdb/package builds it"), "{}", stderr(&out));
}
