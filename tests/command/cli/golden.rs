//! Outputs for people, compared with `tests/golden`: a change of an output is a choice. `ASSETQ_GOLDEN=write` writes the files.

use crate::common::run;
use std::path::Path;
use std::{env, fs};

/// A name in `tests/golden`, the exit code, and the arguments.
const OUTPUTS: &[(&str, i32, &str)] = &[
    ("cat", 0, "cat assets.bin content/gameplay/usa/ship/submarine/USS000_Antenna/USS000_2.model"),
    ("diff", 1, "diff assets.bin altered.bin"),
    ("diff-markdown", 1, "diff assets.bin altered.bin -f markdown"),
    ("diff-stat", 1, "diff assets.bin altered.bin --stat"),
    ("find", 0, "find *.visual assets.bin"),
    ("find-count", 0, "find --count ship assets.bin ship.splash wows"),
    ("info", 0, "info assets.bin ship.geometry savegame.vrb town.wdata sheet.wdb ff13"),
    ("ls", 0, "ls assets.bin -t models"),
    ("ls-long", 0, "ls ship.geometry --table armor_models --long"),
    ("ls-tree", 0, "ls wows --tree --limit 12"),
    ("refs", 0, "refs content/gameplay/usa/ship/submarine/USS000_Antenna/USS0001.visual assets.bin"),
    ("resolve", 1, "resolve content/gameplay/usa/ship nosuchpath --db assets.bin"),
    (
        "sql",
        0,
        "sql SELECT\u{a0}type,\u{a0}count(*)\u{a0}AS\u{a0}boxes\u{a0}FROM\u{a0}event_boxes\u{a0}GROUP\u{a0}BY\u{a0}type town.wdata",
    ),
    ("textconv", 0, "textconv sheet.wdb"),
    (
        "verify",
        0,
        "verify assets.bin models.bin space.bin ship.geometry ship.splash savegame.vrb town.wdata sheet.wdb pack.bin",
    ),
    ("wrong-usage", 2, "ls assets.bin --where nosuchcolumn=1"),
    ("wrong-table", 2, "ls assets.bin -t nosuchtable"),
];

#[test]
fn outputs_for_people_are_those_that_were_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), 0, &["sample", ".", "--seed", "1", "--altered"]);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let write = env::var("ASSETQ_GOLDEN").is_ok_and(|value| value == "write");
    let mut differ = Vec::new();
    for (name, code, line) in OUTPUTS {
        // No-break spaces stand for those inside of an argument.
        let args: Vec<String> = line.split(' ').map(|arg| arg.replace('\u{a0}', " ")).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let (out, err) = run(dir.path(), *code, &args);
        let found = format!("$ assetq {}\n{out}{err}", args.join(" "));
        let path = golden.join(name).with_extension("txt");
        if write {
            fs::create_dir_all(&golden).unwrap();
            fs::write(&path, &found).unwrap();
        }
        if fs::read_to_string(&path).unwrap_or_default() != found {
            differ.push(format!("{name}:\n{found}"));
        }
    }
    assert!(differ.is_empty(), "look at them, then ASSETQ_GOLDEN=write:\n{}", differ.join("\n"));
}
