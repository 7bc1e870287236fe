//! Whole processes of the command, from start to end.

use super::{Run, open};
use crate::inputs;
use crate::questions::ids;
use crate::record::{Bound::AtMost, Process, Ratio, Spread};
use crate::spawn::{Cost, Order, instructions, left_when_dropped};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The command, built as users build it.
pub fn binary() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let out = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["build", "--release", "--locked", "--bin", "assetq", "--message-format", "json-render-diagnostics"])
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

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Questions with a second file or a format of their own are asked where the command has them.
fn has(binary: &str, subcommand: &str) -> bool {
    Command::new(binary).args([subcommand, "--help"]).output().is_ok_and(|out| out.status.success())
}

pub fn run(run: &mut Run) {
    let binary = binary();
    let program = binary.to_str().expect("the path is text").to_owned();
    let file = inputs::database();
    let db = file.to_str().expect("the path is text").to_owned();
    let (path, id) = entry(&file);
    let query = format!("SELECT path FROM resources WHERE id = '{id}'");
    let mut commands: Vec<(&str, Vec<String>)> = vec![
        ("--version", words(&["--version"])),
        ("resolve ID --no-path", words(&["resolve", &id, "--no-path", "--db", &db])),
        ("resolve PATH", words(&["resolve", &path, "--db", &db])),
        ("resolve ID", words(&["resolve", &id, "--db", &db])),
        ("cat PATH", words(&["cat", &db, &path])),
        ("info", words(&["info", &db])),
        ("ls", words(&["ls", &db])),
        ("verify", words(&["verify", &db])),
    ];
    if has(&program, "sql") {
        commands.insert(4, ("sql, one id", words(&["sql", &query, &db])));
    } else {
        run.skip("sql: the command has none in this build");
    }
    for (_, command) in &mut commands {
        command.insert(0, program.clone());
    }
    for (name, command) in &commands {
        let out = Command::new(&command[0]).args(&command[1..]).output().expect("it starts");
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
        // Every answer about the entry names it.
        assert!(
            name.starts_with("--")
                || *name == "info"
                || text.contains(&path)
                || text.contains(&id)
                || text.contains("ok"),
            "{name}: {text}"
        );
    }

    let quiet = |rounds: usize, from: usize, to: usize, drop: &[PathBuf]| {
        let commands = commands[from..to].iter().map(|(_, command)| command.clone()).collect();
        let costs = Order { commands, rounds, drop: drop.to_vec() }.run();
        assert!(costs.iter().flatten().all(|cost| cost.code == 0), "a command failed");
        costs
    };
    // The quick ones often; those that read everything less often.
    let few = commands.len() - 2;
    let mut warm = quiet(run.rounds(200), 0, few, &[]);
    warm.extend(quiet(run.rounds(12), few, commands.len(), &[]));
    let left = left_when_dropped(&file);
    let cold = match left {
        0 => Some(quiet(run.rounds(12), 0, commands.len(), &[file, binary])),
        left => {
            run.skip(format!("cold page cache: {left} pages of the file stay when they are to be dropped"));
            None
        }
    };
    let mut counted = 0;
    for (i, (name, command)) in commands.iter().enumerate() {
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

    // Differences, which tell more than ratios where most of the time is the start of a process.
    let version = &warm[0];
    for (i, (name, _)) in commands.iter().enumerate().take(few).skip(1) {
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
