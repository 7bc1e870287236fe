//! A game's folder of 400,000 files: one path found, all of them listed, and decoding next to wowsunpack's own.
#![allow(clippy::disallowed_methods)]

use super::process;
use super::run::{Run, pool};
use crate::inputs;
use crate::machine;
use crate::record::Bound::{AtLeast, AtMost};
use crate::record::{Ratio, Spread, Threads};
use crate::spawn::Order;
use crate::turns::{median, turns};
use assetq::formats::Reader as _;
use assetq::formats::wows::game_folder::WowsArchive;
use assetq::query::archive;
use assetq::query::archive::{Archive as _, Codec, File, Game as _};
use assetq::{Options, Source};
use rayon::prelude::*;
use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;
use wowsunpack::data::idx::{self, IdxFile};
use wowsunpack::data::pkg::PkgFileLoader;

/// Rows a second that are asked for.
const ROWS: f64 = 1e6;

pub fn run(run: &mut Run) {
    let folder = inputs::game();
    one_path(run, &folder);
    rows(run, &folder);
    decode(run, &folder);
}

/// A command with its arguments.
pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn open(folder: &Path) -> WowsArchive {
    WowsArchive::open(Source::of_folder(folder), &Options::default()).expect("it is a game")
}

/// Whole processes, from start to end.
fn one_path(run: &mut Run, folder: &Path) {
    let game = open(folder);
    let last = game.file(game.len().expect("it has files") / 2).expect("it is sound").path.into_owned();
    drop(game);
    let (program, folder) = (process::binary(), folder.to_str().expect("the path is text"));
    let program = program.to_str().expect("the path is text");
    let commands = vec![words(&[program, "--version"]), words(&[program, "cat", folder, &last])];
    let costs = Order { commands, rounds: run.rounds(100), drop: Vec::new() }.run();
    assert!(costs.iter().flatten().all(|cost| cost.code == 0), "a command failed");
    let middle = |n: usize| Spread::of(costs[n].iter().map(|cost| cost.seconds)).median;
    run.record.ratios.push(Ratio {
        group: "archive".to_owned(),
        what: "cat of one of 400,000 paths less --version, in seconds".to_owned(),
        seconds: [middle(1), middle(0)],
        ratio: Spread::of(costs[1].iter().zip(&costs[0]).map(|(one, version)| one.seconds - version.seconds)),
        bound: Some(AtMost(0.010)),
    });
}

/// All cells of all rows, the opening of the folder and the tree of paths included.
fn rows(run: &mut Run, folder: &Path) {
    let list = || {
        let game = open(folder);
        let table = game.table("files").expect("an archive has it");
        let mut cursor = table.cursor(0);
        let mut rows = 0usize;
        while cursor.advance().expect("it is sound") {
            rows += 1;
            (0..table.columns().len()).for_each(|column| {
                black_box(cursor.value(column).expect("it is sound"));
            });
        }
        rows
    };
    let count = list();
    let times = turns(run.rounds(12), &mut [&mut || assert_eq!(list(), count)]);
    let asked = vec![Duration::from_secs_f64(count as f64 / ROWS); times[0].len()];
    let what = format!("list {count} files, all columns / a million rows a second");
    run.ratio("archive", &what, [&times[0], &asked], 1, Some(AtMost(1.0)));
}

/// The entries that wowsunpack decodes, by both.
fn decode(run: &mut Run, folder: &Path) {
    let game = open(folder);
    let count = game.len().expect("it has files");
    let all: Vec<File<'_>> = (0..count).filter_map(|n| game.file(n).ok()).collect();
    let files: Vec<&File<'_>> = all.iter().filter(|file| file.installed && file.codec == Codec::Deflate).collect();
    let build = game.current_build().expect("it has one");
    let indexes: Vec<IdxFile> = game
        .indexes()
        .iter()
        .map(|index| {
            let path = folder.join("bin").join(build).join("idx").join(index.name());
            idx::parse(&std::fs::read(path).expect("it can be read")).expect("it is an index")
        })
        .collect();
    let volumes: HashMap<u64, &str> = indexes
        .iter()
        .flat_map(|index| index.volumes.iter().map(|volume| (volume.volume_id, &*volume.filename)))
        .collect();
    let infos: HashMap<u64, &idx::FileInfo> =
        indexes.iter().flat_map(|index| index.file_infos.iter().map(|info| (info.resource_id, info))).collect();
    let theirs: Vec<(&str, &idx::FileInfo)> = files
        .iter()
        .map(|file| infos[&file.id.expect("it has one")])
        .map(|info| (volumes[&info.volume_id], info))
        .collect();
    let loader = PkgFileLoader::new(folder.join("res_packages"));
    let size: u64 = files.iter().map(|file| file.size).sum();
    let ours = || {
        let open = |file: &&File<'_>| archive::open(&game, file, "GAME").expect("it decodes").bytes().len() as u64;
        assert_eq!(files.par_iter().map(open).sum::<u64>(), size);
    };
    let rival = || {
        let read = |(volume, info): &(&str, &idx::FileInfo)| {
            let mut out = Vec::with_capacity(info.unpacked_size as usize);
            loader.read(volume, info, &mut out).expect("it decodes");
            black_box(&out).len() as u64
        };
        assert_eq!(theirs.iter().map(read).sum::<u64>(), size);
    };
    let (one, two) = (pool(1), pool(2));
    let times =
        turns(run.rounds(12), &mut [&mut || one.install(ours), &mut || two.install(ours), &mut || one.install(rival)]);
    let what = |threads: usize| {
        format!("decode {} files, {} MB, {threads} threads / wowsunpack", files.len(), size / 1_000_000)
    };
    run.ratio("archive", &what(1), [&times[0], &times[2]], 1, Some(AtMost(1.0)));
    let two_cores = machine::cores() >= 2;
    run.ratio("archive", &what(2), [&times[1], &times[2]], 1, two_cores.then_some(AtMost(1.0 / 3.0)));
    eprintln!("decoded at {:.0} MB/s by one thread", size as f64 / 1e6 / median(&times[0]).as_secs_f64());
    run.record.threads.push(Threads {
        what: "decode of an archive's files".to_owned(),
        speedup: vec![(1, Spread::ratio(&times[0], &times[0])), (2, Spread::ratio(&times[0], &times[1]))],
        bound: two_cores.then_some(AtLeast(1.8)),
    });
}
