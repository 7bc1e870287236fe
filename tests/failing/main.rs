//! One call that fails: the n-th read, write, rename, allocation … of a command, for each n. The command ends with exit code 4, or
//! as without the failure; each file is the old or the new one; and an edited file has its undo patch.
//!
//! `failing.c` makes the call fail, by `LD_PRELOAD`. By default some failures are tried, the same ones each time; with more than a
//! hundred `ASSETQ_CASES`, each n up to 8 of every kind and command, and then about each eighth.
#![cfg(all(feature = "cli", target_os = "linux", target_env = "gnu"))]
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]
#![allow(clippy::disallowed_methods, reason = "a test needs no fallback where no thread can be started")]

use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The files that a command needs, and its words; `+` is a blank. None has companions, without which a command answers less.
const COMMANDS: &[(&[&str], &str)] = &[
    (&["assets.bin"], "info assets.bin"),
    (&["assets.bin"], "ls assets.bin -t resources -f csv"),
    (&["assets.bin"], "verify assets.bin"),
    (&["assets.bin"], "sql SELECT+type,+count(*)+FROM+resources+GROUP+BY+type assets.bin"),
    (&["assets.bin"], "sql SELECT+*+FROM+resources assets.bin --into out.sqlite"),
    (&["assets.bin"], "export assets.bin -t resources --to out.parquet"),
    (
        &["assets.bin"],
        "sql UPDATE+resources+SET+state='deleted'+WHERE+rowid=1 assets.bin --in-place --undo undo.ndjson",
    ),
    (&["enemy.wdb"], "sql UPDATE+records+SET+uHp=7+WHERE+record='e_golem' enemy.wdb --to new.wdb"),
    (&["savegame.vrb"], "export savegame.vrb -t values --to out.csv"),
    (&["wows"], "snapshot wows --to out"),
    (&["wows"], "extract wows content/* --to out"),
    (&["blue-hull-mod"], "ls blue-hull-mod"),
    (&["ship.splash"], "export ship.splash --to out.glb"),
    (&["town.wdata"], "view town.wdata --to out.html"),
];

/// Kinds of calls, and the errors that a system gives for them.
const FAILURES: &[(&str, &[i32])] = &[
    ("read", &[EIO, EINTR]),
    ("write", &[ENOSPC, EIO, EINTR]),
    ("sync", &[EIO]),
    ("truncate", &[ENOSPC]),
    ("rename", &[EIO]),
    ("remove", &[EIO]),
    ("make", &[ENOSPC]),
    ("mode", &[EPERM]),
    ("lock", &[EINTR]),
    ("stat", &[EIO]),
    ("list", &[EIO]),
    ("open", &[EMFILE, EACCES]),
    ("map", &[ENOMEM]),
    ("memory", &[ENOMEM]),
];
/// Failures that once left less or more than they should, of the first command that begins with these words: all calls up to a
/// number. They are tried each time.
const FOUND: &[(&str, &str, usize, i32)] = &[
    ("sql UPDATE+resources", "sync", 4, EIO),
    ("snapshot", "make", 6, ENOSPC),
    ("snapshot", "write", 3, ENOSPC),
    ("extract", "make", 12, ENOSPC),
    ("info", "abort", 2, ENOMEM),
    ("sql UPDATE+resources", "abort", 2, ENOMEM),
];
/// How panics begin of packages that have no memory: their code has an absolute path, or is a macro's (`self_cell`).
const PANICS: [&str; 2] = ["panicked at /", "called `Option::unwrap()` on a `None` value"];
const EPERM: i32 = 1;
const EINTR: i32 = 4;
const EIO: i32 = 5;
const ENOMEM: i32 = 12;
const EACCES: i32 = 13;
const EMFILE: i32 = 24;
const ENOSPC: i32 = 28;

/// A failure: the kind of call, which of them, and the error.
type Failure = (&'static str, usize, i32);

/// The files below a folder; a folder has no bytes.
type Files = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// Where commands run, and the library that makes calls fail.
struct Stage {
    dir: TempDir,
}

impl Stage {
    /// `None` where no C compiler is.
    fn new() -> Option<Self> {
        let stage = Self { dir: TempDir::new().unwrap() };
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/failing/failing.c");
        let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(stage.shim()).arg(source).status();
        compiled.is_ok_and(|status| status.success()).then_some(())?;
        let mut sample = Command::new(env!("CARGO_BIN_EXE_assetq"));
        sample.args(["sample", "."]).current_dir(stage.sample()).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(sample.status().unwrap().success());
        Some(stage)
    }

    fn shim(&self) -> PathBuf {
        self.dir.path().join("failing.so")
    }

    fn sample(&self) -> PathBuf {
        let folder = self.dir.path().join("sample");
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Runs a command in a folder with its files. Returns what it said, the files afterwards, and whether the failure was met.
    fn run(&self, (files, line): (&[&str], &str), failure: Option<Failure>) -> (Output, Files, bool) {
        let dir = TempDir::new_in(self.dir.path()).unwrap();
        let (folder, sign) = (dir.path().join("run"), dir.path().join("sign"));
        fs::create_dir(&folder).unwrap();
        files.iter().for_each(|file| copy(&self.sample().join(file), &folder.join(file)));
        let mut command = Command::new(env!("CARGO_BIN_EXE_assetq"));
        command.args(line.split(' ').map(|word| word.replace('+', " "))).current_dir(&folder).stdin(Stdio::null());
        command.env_remove("ASSETQ_DB").env("ASSETQ_CACHE", dir.path().join("cache"));
        command.env("RUST_BACKTRACE", "0");
        if let Some((kind, nth, error)) = failure {
            // With a backtrace, the message of an allocation that failed allocates more. A later one may be the C library's: the
            // system's last error, which tells it apart, must then be the one of the allocation.
            if kind == "memory" && nth <= 8 {
                command.env("RUST_BACKTRACE", "1");
            }
            command.env("LD_PRELOAD", self.shim()).env("FAILING", format!("{kind} {nth} {error} {}", sign.display()));
        }
        (command.output().unwrap(), read(&folder), sign.exists())
    }
}

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

fn read(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let bytes = if path.is_dir() { None } else { Some(fs::read(&path).unwrap()) };
            files.insert(path.strip_prefix(folder).unwrap().to_owned(), bytes);
            if path.is_dir() {
                open.push(path);
            }
        }
    }
    files
}

/// A command without failures.
struct Whole {
    before: Files,
    output: Output,
    after: Files,
}

/// The first fault after a failure of this kind.
fn fault(whole: &Whole, kind: &str, output: &Output, files: &Files) -> Option<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let is_as_whole =
        output.status == whole.output.status && output.stdout == whole.output.stdout && *files == whole.after;
    // Where packages panic, the published program aborts, with exit code 4 for lack of memory; the program of tests unwinds.
    let is_panic =
        kind == "memory" && output.status.code() == Some(101) && PANICS.iter().any(|panic| said.contains(panic));
    if !is_as_whole && !is_panic && output.status.code() != Some(4) {
        return Some(format!("it ended with {}: {said}", output.status));
    }
    if !is_as_whole && said.is_empty() {
        return Some("it said nothing".to_owned());
    }
    if let Some((path, _)) = whole.before.iter().find(|(path, _)| !files.contains_key(*path)) {
        return Some(format!("{} is gone: {said}", path.display()));
    }
    let is_known = |(path, bytes): (&PathBuf, &Option<Vec<u8>>)| {
        [&whole.before, &whole.after].iter().any(|known| known.get(path) == Some(bytes))
    };
    if let Some((path, _)) = files.iter().find(|file| !is_known(*file)) {
        return Some(format!("{} is neither old nor new: {said}", path.display()));
    }
    // An abort for lack of memory removes no folder.
    let is_empty = |folder: &Path| !files.keys().any(|path| path.parent() == Some(folder));
    let is_checked = !said.contains("memory allocation");
    let mut folders = files.iter().filter(|(_, bytes)| bytes.is_none()).map(|(path, _)| path);
    let left = folders.find(|path| is_checked && !whole.before.contains_key(*path) && is_empty(path));
    if let Some(path) = left {
        return Some(format!("{} is an empty folder: {said}", path.display()));
    }
    let undo = Path::new("undo.ndjson");
    let is_edited = whole.before.iter().any(|(path, bytes)| files[path] != *bytes);
    match (is_edited, files.contains_key(undo)) {
        (true, false) if whole.after.contains_key(undo) => Some(format!("an edited file has no undo patch: {said}")),
        (false, true) => Some(format!("a file that is not edited has an undo patch: {said}")),
        _ => None,
    }
}

/// The numbers of the calls that fail: each up to 8, then about each eighth; the last one is not met.
fn nths() -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |nth: &usize| Some(nth + 1 + nth / 8))
}

#[test]
fn a_call_that_fails_ends_a_command_and_loses_nothing() {
    let Some(stage) = Stage::new() else {
        eprintln!("skipped: no C compiler is at hand");
        return;
    };
    let cases = std::env::var("ASSETQ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(25);
    let whole: Vec<Whole> = COMMANDS
        .par_iter()
        .map(|(files, line)| {
            let before = read_sample(&stage, files);
            let (output, after, _) = stage.run((files, line), None);
            assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
            Whole { before, output, after }
        })
        .collect();
    let try_one = |command: usize, failure: Failure| {
        let (output, files, is_met) = stage.run(COMMANDS[command], Some(failure));
        let line = COMMANDS[command].1;
        let fault = fault(&whole[command], failure.0, &output, &files);
        let fault = fault.map(|fault| format!("{line}, {failure:?}: {fault}"));
        (is_met, fault)
    };
    let all: Vec<(usize, &str, i32)> = (0..COMMANDS.len())
        .flat_map(|command| FAILURES.iter().map(move |failure| (command, failure)))
        .flat_map(|(command, (kind, errors))| errors.iter().map(move |error| (command, *kind, *error)))
        .collect();
    let faults: Vec<String> = if cases > 100 {
        all.par_iter()
            .flat_map_iter(|(command, kind, error)| {
                let tried = nths().map(|nth| try_one(*command, (kind, nth, *error)));
                tried.take_while(|(is_met, _)| *is_met).filter_map(|(_, fault)| fault).collect::<Vec<_>>()
            })
            .collect()
    } else {
        let mut rng = fastrand::Rng::with_seed(1);
        let chosen: Vec<_> = (0..cases)
            .map(|_| {
                let most = 1 << rng.u32(..7);
                (all[rng.usize(..all.len())], 1 + rng.usize(..most))
            })
            .collect();
        let found = FOUND.iter().flat_map(|(words, kind, most, error)| {
            let command = COMMANDS.iter().position(|(_, line)| line.starts_with(words)).unwrap();
            (1..=*most).map(move |nth| ((command, *kind, *error), nth))
        });
        let found: Vec<_> = found.collect();
        chosen
            .par_iter()
            .chain(&found)
            .enumerate()
            .filter_map(|(at, ((command, kind, error), nth))| {
                let (is_met, fault) = try_one(*command, (kind, *nth, *error));
                // A library that fails no call would find nothing.
                assert!(at < cases || is_met || *nth > 1, "{}: no {kind} failed", COMMANDS[*command].1);
                fault
            })
            .collect()
    };
    assert_eq!(faults, [""; 0]);
}

/// The files of a command, as they are before it.
fn read_sample(stage: &Stage, files: &[&str]) -> Files {
    let dir = TempDir::new_in(stage.dir.path()).unwrap();
    files.iter().for_each(|file| copy(&stage.sample().join(file), &dir.path().join(file)));
    read(dir.path())
}
