//! The fuzz targets (`fuzz/`) without libFuzzer: their seeds, the inputs that are kept, and bytes of a seeded generator.
//!
//! A run has a fixed number of inputs, not of seconds: it is the same on every machine. `ASSETQ_FUZZ=100000` runs more inputs.

mod harness;

use fastrand::Rng;
use harness::{TARGETS, dictionary, kept};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Inputs of each target beside its seeds, unless more are asked for.
const INPUTS: u64 = 60;

/// Runs an input, and says which one it was where that fails.
fn run(name: &str, run: fn(&[u8]), input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(input))) {
        eprintln!("target {name} fails with {input:?}");
        resume_unwind(panic);
    }
}

/// A seed with some bytes changed and more appended, or random bytes.
fn mutated(rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut input = rng.choice(seeds).filter(|_| rng.u8(..) > 60).cloned().unwrap_or_default();
    for _ in 0..rng.usize(..6) {
        if let Some(at) = (0..input.len()).next_back().map(|last| rng.usize(..=last)) {
            input[at] = rng.u8(..);
        }
    }
    for _ in 0..rng.usize(..120) {
        input.push(rng.u8(..));
    }
    input
}

fn target(name: &str) {
    let wanted = std::env::var("ASSETQ_FUZZ").ok().and_then(|count| count.parse().ok()).unwrap_or(INPUTS);
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    let seeds = (target.seeds)();
    // As many of them as other inputs, from all over their list.
    for seed in seeds.iter().step_by(1 + seeds.len() / wanted.max(1) as usize) {
        run(name, target.run, seed);
    }
    for input in kept(name) {
        run(name, target.run, &input);
    }
    for number in 0..wanted {
        let input = mutated(&mut Rng::with_seed(number), &seeds);
        run(name, target.run, &input);
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            target(stringify!($name));
        })*

        #[test]
        fn all_targets_are_run() {
            assert_eq!(TARGETS.iter().map(|target| target.name).collect::<Vec<_>>(), [$(stringify!($name)),*]);
            assert!(dictionary().lines().count() > 100);
            // Few enough that every run of the tests can run them.
            for target in TARGETS {
                let kept = kept(target.name);
                assert!(kept.len() <= 60, "{}: {} kept inputs", target.name, kept.len());
                assert!(kept.iter().all(|input| input.len() <= 500), "{}", target.name);
            }
        }
    };
}

targets!(detect bwdb geometry vrb wdata wdb gameparams text_models archives codecs verify export sql diff text edit patch
    set companions several camouflages);
