//! Completion in a shell: tables, columns, entries, builds and games, each asked of the files on the line.

use crate::common::{run, sample_folder};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The words that may stand in place of the last one.
fn words(dir: &Path, line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let (out, _) = run(dir, 0, &[&["paths-inside", "--"], &words[..]].concat());
    out.lines().map(str::to_owned).collect()
}

#[test]
fn tables_columns_entries_builds_and_games() {
    let dir = sample_folder();
    for (line, found) in [
        ("ls ship.geometry -t armor", &["armor_models", "armor_plates", "armor_triangles"][..]),
        ("export ship.geometry --to x -t vertices,armor_m", &["vertices,armor_models"]),
        ("ls assets.bin -t lods -c path,ext", &["path,extent"]),
        ("ls sheet.wdb --sort u7", &["u7Race", "u7Race_1"]),
        ("cat assets.bin con", &["content/"]),
        ("cat assets.bin content/", &["content/gameplay/", "content/lights/", "content/skeletons/"]),
        ("cat town.wdata portal_00", &["portal_000", "portal_001", "portal_002", "portal_003"]),
        ("cat savegame.vrb Bounds.", &["Bounds.Max", "Bounds.Min", "Bounds.Solid"]),
        ("set sheet.wdb r0000005.u7", &["r0000005.u7Race", "r0000005.u7Race_1"]),
        ("ls wows@", &["wows@7000000", "wows@7100000"]),
        ("ls wows:con", &["wows:content/"]),
        // As people on Windows write it.
        ("ls wows:content\\ga", &["wows:content/gameplay/"]),
        // The shell itself knows these.
        ("ls she", &[]),
        ("ls nofile.bin -t x", &[]),
        ("ls --wh", &[]),
    ] {
        assert_eq!(words(dir.path(), line), found, "{line}");
    }
    assert_eq!(words(dir.path(), "ls ship.geometry -t ").len(), 13);
    let empty = TempDir::new().unwrap();
    let mut command = Command::new(crate::common::program());
    let command = command.current_dir(empty.path()).args(["paths-inside", "--", "info", "wo"]);
    let out = command.env("ASSETQ_WOWS", dir.path().join("wows")).output().unwrap();
    assert_eq!(String::from_utf8(out.stdout).unwrap(), "wows:\n");
}

/// PowerShell takes the last script block that is registered. Without an answer that one calls the first, which knows options.
#[test]
fn powershell_asks_the_program() {
    let (script, _) = run(Path::new("."), 0, &["completions", "powershell"]);
    assert_eq!(script.matches("Register-ArgumentCompleter").count(), 1, "{script}");
    let (options, inside) = script.split_once("Register-ArgumentCompleter").unwrap();
    assert!(options.contains("$global:assetqCommands = {") && options.contains("'--table'"), "{options}");
    assert!(
        inside.contains("assetq paths-inside '--' @words") && inside.contains("& $global:assetqCommands"),
        "{inside}"
    );
}

#[cfg(unix)]
#[test]
fn bash_asks_the_program() {
    let dir = sample_folder();
    let (script, _) = run(dir.path(), 0, &["completions", "bash"]);
    std::fs::write(dir.path().join("c.bash"), script).unwrap();
    if Command::new("bash").arg("--version").output().is_err() {
        return eprintln!("skipped: there is no bash");
    }
    let complete = |line: &str| {
        let program = crate::common::program();
        let test = format!(
            "source ./c.bash; COMP_LINE='assetq {line}'; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({program} {line}); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _assetq_inside assetq; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let out = Command::new("bash").current_dir(dir.path()).args(["-c", &test]).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    assert_eq!(complete("ls ship.geometry -t armor_p"), "armor_plates\n");
    assert_eq!(complete("cat assets.bin content/l"), "content/lights/\n");
    assert_eq!(complete("ls wows:con"), "content/\n");
}
