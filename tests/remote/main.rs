//! Files on servers: the requests of a question, answers equal to the local file's, and faults of servers.
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

mod errors;
mod rows;
mod server;
mod store;

use server::Server;
use std::path::Path;
use std::process::{Command, Stdio};

/// Standard output and standard error of a command that ends with `code`.
fn run(dir: &Path, code: i32, args: &[&str], env: &[(&str, &str)]) -> (String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_assetq"))
        .current_dir(dir)
        .args(args)
        .env_remove("ASSETQ_DB")
        .env_remove("AWS_SESSION_TOKEN")
        .envs(env.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert_eq!(out.status.code(), Some(code), "assetq {args:?}\n{stdout}{stderr}");
    (stdout, stderr)
}
