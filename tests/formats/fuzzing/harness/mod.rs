//! The bodies of all fuzz targets: each takes any bytes, makes of them what its part of the library takes, and asks that
//! everything.
//!
//! libFuzzer runs them (`fuzz/`), and so does an ordinary test of the project (`tests/formats/fuzzing.rs`), with bytes of a seeded
//! generator. A target finds a panic, an overflow, or an answer that contradicts another; the process around it finds what
//! takes too long or too much memory.
#![allow(
    dead_code,
    missing_docs,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used
)]

mod archives;
mod ask;
mod beside;
mod codecs;
mod edit;
mod folder;
mod input;
mod models;
mod read;
mod seeds;
mod text;

pub use seeds::dictionary;

use std::fs;
use std::path::Path;

/// A fuzz target.
#[derive(Debug)]
pub struct Target {
    /// Its name, that of its file in `fuzz_targets/`.
    pub name: &'static str,
    /// Does with an input all that it tries.
    pub run: fn(&[u8]),
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target { name: "detect", run: read::detect, seeds: seeds::files },
    Target { name: "bwdb", run: read::bwdb, seeds: seeds::bwdb },
    Target { name: "geometry", run: read::geometry, seeds: seeds::geometry },
    Target { name: "vrb", run: read::vrb, seeds: seeds::vrb },
    Target { name: "wdata", run: read::wdata, seeds: seeds::wdata },
    Target { name: "wdb", run: read::wdb, seeds: seeds::wdb },
    Target { name: "gameparams", run: read::gameparams, seeds: seeds::gameparams },
    Target { name: "text_models", run: read::text_models, seeds: seeds::text_models },
    Target { name: "archives", run: archives::archives, seeds: seeds::archives },
    Target { name: "codecs", run: codecs::codecs, seeds: seeds::codecs },
    Target { name: "verify", run: ask::verify, seeds: seeds::files },
    Target { name: "export", run: ask::export, seeds: seeds::files },
    Target { name: "sql", run: ask::sql, seeds: seeds::files },
    Target { name: "diff", run: ask::diff, seeds: seeds::pairs },
    Target { name: "text", run: text::text, seeds: seeds::texts },
    Target { name: "edit", run: edit::edit, seeds: seeds::files },
    Target { name: "patch", run: edit::patch, seeds: seeds::patches },
    Target { name: "set", run: edit::set, seeds: seeds::files },
    Target { name: "companions", run: beside::companions, seeds: seeds::beside },
    Target { name: "several", run: beside::several, seeds: seeds::beside },
    Target { name: "camouflages", run: beside::camouflages, seeds: seeds::beside },
];

/// Runs the target called `name`.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    (target.run)(data);
}

/// The inputs of a target that are kept because each reached code first: a line of hexadecimal digits each.
pub fn kept(name: &str) -> Vec<Vec<u8>> {
    // Of the workspace, or of the folder of the targets in it.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [root.join("fuzz/corpus"), root.join("corpus")];
    let texts = folders.iter().filter_map(|folder| fs::read_to_string(folder.join(format!("{name}.txt"))).ok());
    let text: String = texts.collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    text.lines().map(|line| line.as_bytes().chunks(2).map(byte).collect()).collect()
}
