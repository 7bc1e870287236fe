//! `sql --engine duckdb`: what the program duckdb is given. The tests of Python run the real one.

use crate::common;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with two files, an extension and a program `duckdb` that prints its arguments, one a line, and ends with `code`.
fn folder(code: u8) -> TempDir {
    let dir = TempDir::new().unwrap();
    let splash = assetq_sample::geometry::splash(&[("bow", [-1.0; 3], [1.0; 3])]);
    let mut write = common::writer(dir.path());
    write("ship's.splash", splash.clone());
    write("other/ship's.splash", splash);
    write("assetq.duckdb_extension", Vec::new());
    write("bin/duckdb", format!("#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit {code}\n").into_bytes());
    drop(write);
    fs::set_permissions(dir.path().join("bin/duckdb"), fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

fn sql(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assetq"))
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
    let [flags @ .., statements, "-c", "SELECT 1"] = &lines[..] else { panic!("{given}") };
    assert_eq!(flags, ["-unsigned", "-batch", "-bail", "-json", "-cmd"]);
    let extension = dir.path().join("assetq.duckdb_extension");
    assert!(statements.starts_with(&format!("LOAD '{}';", extension.display())), "{statements}");
    let view = r#"CREATE VIEW "main"."boxes" AS FROM assetq('ship''s.splash', 'boxes', skip_damaged := true, strict := false, mmap := true);"#;
    assert!(statements.ends_with(view), "{statements}");
}

#[test]
fn several_files_are_schemas_with_names_of_their_own() {
    let dir = folder(0);
    let out = sql(dir.path(), &["SELECT 1", "a=ship's.splash", "b=other/ship's.splash", "-f", "csv"]);
    let given = String::from_utf8(out.stdout).unwrap();
    assert!(given.contains("-csv") && given.contains(r#"CREATE VIEW "a"."boxes""#), "{given}");
    assert!(given.contains(r#"CREATE SCHEMA IF NOT EXISTS "b";CREATE VIEW "b"."boxes""#), "{given}");
    let out = sql(dir.path(), &["SELECT 1", "ship's.splash", "other/ship's.splash"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("two files are called ship's: give one of them a name"), "{}", stderr(&out));
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
