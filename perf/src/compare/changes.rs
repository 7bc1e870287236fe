//! Differences: two builds of a game, two folders with the records of their files, and a file as text for git.

use super::archive::words;
use super::process;
use super::run::Run;
use crate::inputs;
use crate::machine;
use crate::record::Bound::{AtLeast, AtMost};
use crate::record::{Ratio, Spread, Threads};
use crate::spawn::{Cost, Order};
use std::path::Path;

pub fn run(run: &mut Run) {
    two_builds(run);
    deep(run);
    lines(run);
}

/// The difference of two builds with 400,000 files, as a process.
fn two_builds(run: &mut Run) {
    let (folder, [old, new]) = inputs::builds();
    let side = |build: &str| format!("{}@{build}", folder.to_str().expect("the path is text"));
    let program = process::binary();
    let program = program.to_str().expect("the path is text");
    let commands = vec![words(&[program, "--version"]), words(&[program, "diff", &side(&old), &side(&new), "--stat"])];
    let costs = Order { commands, rounds: run.rounds(40), drop: Vec::new() }.run();
    assert!(costs[1].iter().all(|cost| cost.code == 1), "each hundredth file differs");
    let middle = |n: usize| Spread::of(costs[n].iter().map(|cost| cost.seconds)).median;
    run.record.ratios.push(Ratio {
        group: "changes".to_owned(),
        what: "diff of two builds of 400,000 files, 1 % changed, less --version, in seconds".to_owned(),
        seconds: [middle(1), middle(0)],
        ratio: Spread::of(costs[1].iter().zip(&costs[0]).map(|(diff, version)| diff.seconds - version.seconds)),
        bound: Some(AtMost(0.300)),
    });
}

/// Two folders with the records of their changed files, next to each pair of files alone, as processes. On one thread, and on
/// two.
fn deep(run: &mut Run) {
    let [old, new] = inputs::changed_folders();
    let program = process::binary();
    let program = program.to_str().expect("the path is text");
    let diff = |threads: &str, old: &Path, new: &Path, deep: &[&str]| {
        let [old, new] = [old, new].map(|path| path.to_str().expect("the path is text"));
        words(&[&[program, "diff", old, new, "--threads", threads][..], deep].concat())
    };
    let whole = ["1", "2"].map(|threads| diff(threads, &old, &new, &["--deep"]));
    let names: Vec<_> =
        std::fs::read_dir(&old).expect("it can be read").map(|e| e.expect("it can be read").file_name()).collect();
    let version = words(&[program, "--version"]);
    let parts = names.iter().map(|name| diff("1", &old.join(name), &new.join(name), &[]));
    let commands: Vec<_> = whole.into_iter().chain([version]).chain(parts).collect();
    let costs = Order { commands, rounds: run.rounds(8), drop: Vec::new() }.run();
    let [one, two, version, parts @ ..] = &*costs else { panic!("each command has costs") };
    let differ = [one, two].into_iter().chain(parts).flatten().all(|cost| cost.code == 1);
    assert!(differ, "each pair of files differs");
    let seconds = |costs: &[Cost]| costs.iter().map(|cost| cost.seconds).collect::<Vec<_>>();
    let (one, two, version) = (seconds(one), seconds(two), seconds(version));
    let sum: Vec<f64> = (0..one.len())
        .map(|n| parts.iter().map(|part| part[n].seconds - version[n]).sum::<f64>() + version[n])
        .collect();
    let ratios = |a: &[f64], b: &[f64]| Spread::of(a.iter().zip(b).map(|(a, b)| a / b));
    let middle = |seconds: &[f64]| Spread::of(seconds.iter().copied()).median;
    run.record.ratios.push(Ratio {
        group: "changes".to_owned(),
        what: format!("diff --deep of folders with {} changed files, 1 thread / each pair alone", names.len()),
        seconds: [middle(&one), middle(&sum)],
        ratio: ratios(&one, &sum),
        bound: Some(AtMost(1.5)),
    });
    run.record.threads.push(Threads {
        what: "diff --deep of folders".to_owned(),
        speedup: vec![(1, ratios(&one, &one)), (2, ratios(&one, &two))],
        bound: (machine::cores() >= 2).then_some(AtLeast(1.6)),
    });
}

/// A database of 170 MB as text for git, as a process.
fn lines(run: &mut Run) {
    let file = inputs::database();
    let program = process::binary();
    let program = program.to_str().expect("the path is text");
    let commands =
        vec![words(&[program, "--version"]), words(&[program, "textconv", file.to_str().expect("the path is text")])];
    let costs = Order { commands, rounds: run.rounds(6), drop: Vec::new() }.run();
    assert!(costs.iter().flatten().all(|cost| cost.code == 0), "a command failed");
    let middle = |n: usize| Spread::of(costs[n].iter().map(|cost| cost.seconds)).median;
    run.record.ratios.push(Ratio {
        group: "changes".to_owned(),
        what: "textconv of a database of 170 MB less --version, in seconds".to_owned(),
        seconds: [middle(1), middle(0)],
        ratio: Spread::of(costs[1].iter().zip(&costs[0]).map(|(lines, version)| lines.seconds - version.seconds)),
        bound: Some(AtMost(2.0)),
    });
}
