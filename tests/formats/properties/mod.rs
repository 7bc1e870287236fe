//! Properties: what holds for any file that the builders write, whatever is in it.
//!
//! Each is tried with a few files of chance, so that all take seconds; the variable `ASSETQ_CASES` says with how many
//! instead. What fails is made smaller until no smaller file fails, and shown as the builder's own values.

mod archives;
mod files;
mod questions;
mod writing;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// So many cases, or as many as `ASSETQ_CASES` says.
fn cases(few: u32) -> Config {
    let wanted = std::env::var("ASSETQ_CASES").ok().and_then(|cases| cases.parse().ok());
    // A few are the same ones every time, so that a change is to blame for what fails; many are others each time.
    let rng_seed = if wanted.is_some() { RngSeed::Random } else { RngSeed::Fixed(20) };
    // What fails becomes a test of its own, not a file beside it.
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

/// Bytes of a file, of which many are alike.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let few = proptest::collection::vec(0u8..4, 0..2000);
    let any = proptest::collection::vec(any::<u8>(), 0..300);
    prop_oneof![few, any]
}
