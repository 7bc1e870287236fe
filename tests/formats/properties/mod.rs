//! Properties of any file that the builders write.
//!
//! Each property runs on a few random files, so that all take seconds; `ASSETQ_CASES` sets another number. A failing file is shrunk,
//! and shown as the builder's values.

mod archives;
mod files;
mod questions;
mod writing;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// The configuration for `few` cases, or for the number in `ASSETQ_CASES`.
fn cases(few: u32) -> Config {
    let wanted = std::env::var("ASSETQ_CASES").ok().and_then(|cases| cases.parse().ok());
    // A few cases are the same every time, so that a failure comes from a change. Many cases differ each time.
    let rng_seed = if wanted.is_some() { RngSeed::Random } else { RngSeed::Fixed(20) };
    // A failing case becomes a separate test, not a file.
    Config { cases: wanted.unwrap_or(few), rng_seed, failure_persistence: None, ..Config::default() }
}

/// A name of a file or a folder that every system takes.
fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_]{0,6}[a-z0-9](\\.[a-z]{1,3}[0-9])?"
}

/// A path of a few folders.
fn path() -> impl Strategy<Value = String> {
    proptest::collection::vec(name(), 1..5).prop_map(|parts| parts.join("/"))
}

/// Text without control characters.
fn text() -> impl Strategy<Value = String> {
    "\\PC{0,16}"
}

/// Bytes of a file with many repetitions.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let few = proptest::collection::vec(0u8..4, 0..2000);
    let any = proptest::collection::vec(any::<u8>(), 0..300);
    prop_oneof![few, any]
}
