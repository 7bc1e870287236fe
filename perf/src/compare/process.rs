//! Whole processes of the command, from start to end.

use super::run::{Run, open};
use crate::inputs;
use crate::questions::ids;
use crate::record::{Bound::AtMost, Process, Ratio, Spread};
use crate::spawn::{Cost, Order, instructions, left_when_dropped};
use assetq::formats::wows::bwdb::layout::PathEntry;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The command, built as users build it.
pub fn binary() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let out = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["build", "--profile", "dist", "--locked", "--bin", "assetq", "--message-format=json-render-diagnostics"])
        .arg("--manifest-path")
        .arg(manifest)
        .output()
        .expect("cargo runs");
    assert!(out.status.success(), "the command builds:\n{}", String::from_utf8_lossy(&out.stderr));
    let messages = String::from_utf8(out.stdout).expect("cargo writes text");
    let executable = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(PathBuf::from(message.get("executable")?.as_str()?))
    };
    messages.lines().filter_map(executable).next_back().expect("cargo says where the command is")
}

/// Path and id of an entry that has a record, one that many questions can be asked about.
pub fn entry(file: &Path) -> (String, String) {
    let db = open(file);
    let (hits, _) = ids(&db);
    let found = hits.iter().find_map(|&id| {
        let path = db.path(id).expect("it is sound")?;
        path.ends_with(".visual").then_some((path, format!("{id:#018X}").replacen("0X", "0x", 1)))
    });
    found.expect("there are visuals")
}

/// How many paths are called so.
fn visuals(file: &Path) -> usize {
    let db = open(file);
    let named = |entry: &&PathEntry| db.paths().name(entry).expect("it is sound").ends_with(".visual");
    db.paths().entries().iter().filter(named).count()
}

/// Whether the command has this subcommand.
pub fn has(binary: &str, subcommand: &str) -> bool {
    Command::new(binary).args([subcommand, "--help"]).output().is_ok_and(|out| out.status.success())
}

/// A page over all tables.
const PAGE: &str = "view, all tables";

pub fn run(run: &mut Run) {
    let binary = binary();
    let program = binary.to_str().expect("the path is text").to_owned();
    let file = inputs::database();
    let db = file.to_str().expect("the path is text").to_owned();
    let (path, id) = entry(&file);
    let query = format!("SELECT path FROM resources WHERE id = '{id}'");
    let altered = inputs::cached("assets-altered.bin", || inputs::altered(&file));
    let altered = altered.to_str().expect("the path is text").to_owned();
    let visuals = visuals(&file).to_string();
    // The page has a row for each path.
    let rows = format!("\"rows\":{},\"starts\":[0", open(&file).paths().entries().len());
    // The query, a part of its answer, and whether it reads much of the file.
    let questions: [(&str, &[&str], &str, bool); 13] = [
        ("--version", &["--version"], "assetq", false),
        ("resolve ID --no-path", &["resolve", &id, "--no-path", "--db", &db], &id, false),
        ("resolve PATH", &["resolve", &path, "--db", &db], &id, false),
        ("resolve ID", &["resolve", &id, "--db", &db], &path, false),
        ("cat PATH", &["cat", &db, &path], "render_sets", false),
        ("info", &["info", &db], "resources.buckets", false),
        ("sql, one id", &["sql", &query, &db], &path, false),
        (
            "sql, count of all paths",
            &["sql", "SELECT count(*) FROM paths WHERE name LIKE '%.visual'", &db],
            &visuals,
            true,
        ),
        ("find .visual --count", &["find", ".visual", &db, "--count"], &visuals, true),
        ("ls", &["ls", &db], &path, true),
        ("diff --stat, 1% of visuals changed", &["diff", "--stat", &db, &altered], "280", true),
        ("verify", &["verify", &db], "ok", true),
        (PAGE, &["view", &db, "--to", "-"], &rows, true),
    ];
    let mut commands: Vec<(&str, Vec<String>, bool)> = Vec::new();
    for (name, arguments, answer, reads_much) in questions {
        if !arguments[0].starts_with("--") && !has(&program, arguments[0]) {
            run.skip(format!("{name}: this build of the command cannot do that"));
            continue;
        }
        let command: Vec<String> = [&*program].iter().chain(arguments).map(|&word| word.to_owned()).collect();
        let out = Command::new(&command[0]).args(&command[1..]).output().expect("it starts");
        let text = String::from_utf8_lossy(&out.stdout);
        // That files differ is an answer too, with an exit code of its own.
        assert!(matches!(out.status.code(), Some(0 | 1)), "{name}: {}", String::from_utf8_lossy(&out.stderr));
        assert!(text.contains(answer), "{name}: no {answer:?} in the answer");
        commands.push((name, command, reads_much));
    }
    // The quick ones first.
    let few = commands.iter().take_while(|command| !command.2).count();

    let quiet = |rounds: usize, from: usize, to: usize, drop: &[PathBuf]| {
        let commands = commands[from..to].iter().map(|(_, command, _)| command.clone()).collect();
        let costs = Order { commands, rounds, drop: drop.to_vec() }.run();
        assert!(costs.iter().flatten().all(|cost| matches!(cost.code, 0 | 1)), "a command failed");
        costs
    };
    // The quick ones often.
    let mut warm = quiet(run.rounds(200), 0, few, &[]);
    warm.extend(quiet(run.rounds(12), few, commands.len(), &[]));
    let left = left_when_dropped(&file);
    let cold = match left {
        0 => Some(quiet(run.rounds(12), 0, commands.len(), &[file, binary])),
        left => {
            run.skip(format!("cold page cache: {left} pages of the file are not dropped"));
            None
        }
    };
    let mut counted = 0;
    for (i, (name, command, _)) in commands.iter().enumerate() {
        let spread = |costs: &[Cost], of: fn(&Cost) -> f64| Spread::of(costs.iter().map(of));
        // Callgrind runs a command a hundred times slower: too slow for what reads everything.
        let instructions = if i < few || !run.quick { instructions(command) } else { None };
        counted += usize::from(instructions.is_some());
        run.record.processes.push(Process {
            command: (*name).to_owned(),
            warm: spread(&warm[i], |c| c.seconds),
            cold: cold.as_ref().map(|cold| spread(&cold[i], |c| c.seconds)),
            cpu: spread(&warm[i], |c| c.cpu),
            peak_mb: spread(&warm[i], |c| c.peak_mb).median,
            minor_faults: spread(&warm[i], |c| c.minor_faults as f64).median as u64,
            major_faults_cold: cold.as_ref().map(|cold| spread(&cold[i], |c| c.major_faults as f64).median as u64),
            instructions,
        });
    }
    if counted == 0 {
        run.skip("instructions: there is no valgrind here");
    }

    if let Some(page) = commands.iter().position(|(name, ..)| *name == PAGE) {
        let seconds = Spread::of(warm[page].iter().map(|c| c.seconds));
        run.record.ratios.push(Ratio {
            group: "process".to_owned(),
            what: format!("{PAGE}, in seconds"),
            seconds: [seconds.median, 1.0],
            ratio: seconds,
            bound: Some(AtMost(2.0)),
        });
    }

    // Differences, which tell more than ratios where most of the time is the start of a process.
    let version = &warm[0];
    for (i, (name, ..)) in commands.iter().enumerate().take(few).skip(1) {
        let bound = match *name {
            "resolve PATH" | "resolve ID --no-path" => Some(AtMost(0.001)),
            "sql, one id" => Some(AtMost(0.005)),
            _ => None,
        };
        let over = Spread::of(warm[i].iter().zip(version).map(|(c, v)| c.seconds - v.seconds));
        let middle = |costs: &[Cost]| Spread::of(costs.iter().map(|c| c.seconds)).median;
        run.record.ratios.push(Ratio {
            group: "process".to_owned(),
            what: format!("{name} less --version, in seconds"),
            seconds: [middle(&warm[i]), middle(version)],
            ratio: over,
            bound,
        });
    }
}
