//! Tests of the command line.

mod commands;
mod completion;
#[cfg(feature = "parquet")]
mod export;
mod golden;
mod help;
#[cfg(unix)]
mod limits;
mod outputs;
mod people;
#[cfg(unix)]
mod readme;
mod sql;
mod terminal;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The files of `assetq sample . --seed 3`, made once. No test writes into their folder, other than folders of its own.
fn samples() -> &'static Path {
    static DIR: OnceLock<TempDir> = OnceLock::new();
    let dir = DIR.get_or_init(|| {
        let dir = TempDir::new().unwrap();
        run_in(dir.path(), 0, &["sample", ".", "--seed", "3"], "");
        dir
    });
    dir.path()
}

/// Standard output and standard error of a run that ends with `code`.
fn run_in(dir: &Path, code: i32, args: &[&str], stdin: &str) -> (String, String) {
    let mut child = Command::new(crate::common::program())
        .current_dir(dir)
        .args(args)
        .env_remove("ASSETQ_DB")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that reads nothing may be gone already.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let out = child.wait_with_output().unwrap();
    let (stdout, stderr) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert_eq!(out.status.code(), Some(code), "assetq {args:?}\n{stdout}{stderr}");
    (stdout, stderr)
}
