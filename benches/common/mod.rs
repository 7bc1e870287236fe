//! Tools that several benches need: inputs made once, and ratios measured in one run.
#![allow(dead_code, clippy::pedantic, clippy::restriction)]

pub mod questions;
pub mod turns;

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

/// The file `name` below the target folder, made by `make` when it is not there.
pub fn cached(name: &str, make: impl FnOnce() -> Vec<u8>) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = dir.join(name);
    if !path.exists() {
        std::fs::create_dir_all(&dir).expect("the target folder can be written");
        std::fs::write(&path, make()).expect("the target folder can be written");
    }
    path
}

/// `rounds`, or few of them where the bench was asked to be quick.
pub fn rounds(rounds: usize) -> usize {
    if std::env::args().any(|argument| argument == "--quick") { (rounds / 4).max(3) } else { rounds }
}

/// Median times of one call of `a` and of `b`, measured in turn so that both meet the same machine.
pub fn medians<A, B>(count: usize, mut a: impl FnMut() -> A, mut b: impl FnMut() -> B) -> (Duration, Duration) {
    let times = turns::turns(rounds(count), &mut [&mut || drop(black_box(a())), &mut || drop(black_box(b()))]);
    (turns::median(&times[0]), turns::median(&times[1]))
}

/// Prints one claim: what was measured, the two medians, their ratio, and the bound that it should keep.
pub fn claim(what: &str, a: Duration, b: Duration, bound: &str) {
    let ratio = a.as_secs_f64() / b.as_secs_f64();
    println!("{what:<58} {a:>12.2?} / {b:>12.2?} = {ratio:>10.3}   (wanted: {bound})");
}
