//! People at a terminal: tables that fit, a pager, suggestions, folders, and commands that can be pasted.

use crate::common::{run, sample_folder};
use std::fs;
use tempfile::TempDir;
#[cfg(unix)]
use {std::path::Path, std::process::Command};

/// The output of `assetq ARGS` on a terminal with `columns` columns, if the system has the program `script`.
#[cfg(target_os = "linux")]
fn on_terminal(dir: &Path, columns: usize, env: &[(&str, &str)], args: &str) -> Option<String> {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: there is no `script`");
        return None;
    }
    let line = format!("stty cols {columns} rows 40; {} {args}", crate::common::program());
    let mut command = Command::new("script");
    command.current_dir(dir).args(["-qec", &line, "/dev/null"]);
    for name in ["PAGER", "ASSETQ_PAGER", "LESS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    let out = command.env("TERM", "xterm").envs(env.iter().copied()).output().unwrap();
    Some(String::from_utf8(out.stdout).unwrap().replace('\r', ""))
}

/// The number of columns of a table of the sample.
#[cfg(target_os = "linux")]
fn json_columns(dir: &Path, table: &str) -> usize {
    let (rows, _) = run(dir, 0, &["ls", "assets.bin", "-t", table, "-n", "1", "-f", "ndjson"]);
    serde_json::from_str::<serde_json::Value>(&rows).unwrap().as_object().unwrap().len()
}

/// At 80 columns a reference is known by its path: an id of 18 digits and the name of the only file take no room.
#[cfg(target_os = "linux")]
#[test]
fn references_on_a_terminal_show_paths() {
    let dir = sample_folder();
    let visual = "content/gameplay/usa/ship/submarine/USS000_Antenna/USS0001.visual";
    let line = format!("refs {visual} assets.bin --no-pager --color never");
    let Some(shown) = on_terminal(dir.path(), 80, &[], &line) else { return };
    assert!(
        shown.lines().next().unwrap().split_whitespace().eq(["direction", "path", "table", "column", "row"]),
        "{shown}"
    );
    assert!(shown.contains("2 more columns with --wide: id file") && !shown.contains("0x"), "{shown}");
    let longest =
        shown.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1)).map(|path| path.chars().count());
    assert!(longest.max() > Some(30), "{shown}");
    let two = on_terminal(dir.path(), 80, &[], &line.replace("assets.bin", "assets.bin models.bin")).unwrap();
    assert!(two.lines().next().unwrap().contains("file"), "{two}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_table_is_as_wide_as_the_terminal_and_whole_in_a_pipe() {
    let dir = sample_folder();
    let list = "ls assets.bin -t render_sets --no-pager --color never";
    for columns in [80, 120, 200] {
        let Some(shown) = on_terminal(dir.path(), columns, &[], list) else { return };
        let widest = shown.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns && widest > columns - 12, "{columns}: {widest}\n{shown}");
        // All columns that are not shown are counted, whether they are too wide or outside of the short form.
        let all = json_columns(dir.path(), "render_sets");
        let shown_columns = shown.lines().next().unwrap().split_whitespace().count();
        let note = format!(
            "… {} more columns with {}",
            all - shown_columns,
            if columns == 80 { "--long --wide" } else { "--long" }
        );
        assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(&note), "{note}: {shown}");
    }
    let whole = on_terminal(dir.path(), 80, &[], &format!("{list} --long --wide")).unwrap();
    assert!(!whole.contains('…'), "{whole}");
    let wide = on_terminal(dir.path(), 80, &[], &format!("{list} --wide")).unwrap();
    let (piped, aside) = run(dir.path(), 0, &["ls", "assets.bin", "-t", "render_sets"]);
    assert!(aside.contains("more columns with --long: "), "{aside}");
    assert!(wide.starts_with(&piped) && wide.ends_with(&aside), "{wide}");
    assert!(piped.lines().all(|line| !line.contains('…')), "{piped}");
    // An id is never cut, however narrow the terminal is.
    let ids = on_terminal(dir.path(), 40, &[], "ls assets.bin -t resources --long --no-pager --color never").unwrap();
    assert!(ids.lines().skip(1).take(5).all(|line| line.split(' ').next().unwrap().len() == 18), "{ids}");
    let info = on_terminal(dir.path(), 80, &[], "info assets.bin --no-pager --color never").unwrap();
    assert!(info.contains("vertices_name") && info.lines().all(|line| line.chars().count() <= 80), "{info}");
}

#[cfg(target_os = "linux")]
#[test]
fn output_on_a_terminal_goes_through_the_pager_that_is_wanted() {
    let dir = sample_folder();
    let pager = [("PAGER", "sed s/^/:/")];
    let Some(paged) = on_terminal(dir.path(), 80, &pager, "ls sheet.wdb -n 2") else { return };
    // Lines about the rows go to standard error.
    let mut rows = paged.lines().filter(|line| !line.is_empty() && !line.starts_with("assetq: "));
    assert!(rows.by_ref().take(3).filter(|line| line.starts_with(':')).count() == 3, "{paged}");
    assert!(rows.all(|line| line.starts_with(':')), "{paged}");
    let (with_shell, own) = ([("PAGER", "sed 's/^/;/'")], [("PAGER", "false"), ("ASSETQ_PAGER", "sed s/^/:/")]);
    assert!(on_terminal(dir.path(), 80, &with_shell, "ls pack.bin").unwrap().starts_with(';'));
    assert!(on_terminal(dir.path(), 80, &own, "ls pack.bin").unwrap().starts_with(':'));
    for (env, args) in [
        (&[("PAGER", "cat")], "ls pack.bin"),
        (&[("PAGER", "sed s/^/:/")], "ls pack.bin --no-pager"),
        (&[("PAGER", "sed s/^/:/")], "sample other"),
    ] {
        let shown = on_terminal(dir.path(), 80, env, args).unwrap();
        assert!(!shown.lines().any(|line| line.starts_with(':')) && shown.lines().count() > 2, "{args}: {shown}");
    }
    // A pager that does not exist loses nothing.
    let shown = on_terminal(dir.path(), 80, &[("PAGER", "no-such-pager")], "ls pack.bin").unwrap();
    assert!(shown.contains("the pager \"no-such-pager\" cannot be run") && shown.contains("btscene"), "{shown}");
}

#[cfg(target_os = "linux")]
#[test]
fn colour_is_as_the_user_says() {
    let dir = sample_folder();
    let bold = "\x1b[1m";
    assert!(run(dir.path(), 0, &["ls", "pack.bin", "--color", "always"]).0.contains(bold));
    assert!(!run(dir.path(), 0, &["ls", "pack.bin"]).0.contains(bold));
    for (args, is_bold) in [("", true), ("--color=never", false), ("--color=always", true)] {
        let Some(shown) = on_terminal(dir.path(), 80, &[], &format!("ls pack.bin --no-pager {args}")) else { return };
        assert_eq!(shown.contains(bold), is_bold, "{args}");
    }
    let shown = on_terminal(dir.path(), 80, &[("NO_COLOR", "1")], "ls pack.bin --no-pager").unwrap();
    assert!(!shown.contains(bold), "{shown}");
}

#[test]
fn a_name_that_does_not_exist_gets_the_nearest_ones() {
    let dir = sample_folder();
    let visual = "content/gameplay/usa/ship/submarine/USS000_Antenna/USS0001.visual";
    for (code, args, message) in [
        (2, &["ls", "assets.bin", "-t", "render_set"][..], "no table \"render_set\"; did you mean render_sets?"),
        (2, &["ls", "assets.bin", "-c", "idd"], "paths has no column \"idd\"; did you mean id?"),
        (2, &["ls", "sheet.wdb", "-w", "Race = 1"], "there is no column Race; did you mean u7Race or u7Race_1?"),
        (1, &["ls", "assets.bin", "content/gamplay"], "did you mean content/gameplay?"),
        (1, &["ls", "assets.bin", "resources"], "; resources is a table: -t resources lists it"),
        (1, &["cat", "assets.bin", "content/USS00001.visual"], visual),
        (1, &["resolve", "content/usa/USS0001.visual", "--db", "assets.bin"], visual),
        (1, &["refs", "content/usa/USS0001.visual", "assets.bin"], visual),
        (1, &["info", "wows:content/asset.bin"], "did you mean \"content/assets.bin\"?"),
        (1, &["info", "pack.bin:bt_chain.wdb"], "did you mean \"bt_chainbonus.wdb\"?"),
        (2, &["export", "assets.bin", "-t", "visual", "--to", "v.csv"], "did you mean visuals?"),
        (2, &["diff", "assets.bin", "assets.bin", "-t", "pahts"], "did you mean paths?"),
        (2, &["sql", "SELECT nme FROM paths", "assets.bin"], "no such column: nme; did you mean name? paths has id, "),
        (2, &["sql", "SELECT * FROM pahts", "assets.bin"], "no such table: pahts; did you mean paths? There are "),
    ] {
        let err = run(dir.path(), code, args).1;
        assert!(err.contains(message), "{args:?}: {err}");
    }
    // Nothing is near enough.
    let err = run(dir.path(), 2, &["ls", "assets.bin", "-t", "nosuchtable"]).1;
    assert!(err.contains("it has paths, resources") && !err.contains("did you mean"), "{err}");
}

#[test]
fn a_folder_stands_for_all_files_below_it() {
    let dir = sample_folder();
    let deep = dir.path().join("deep/er/still");
    fs::create_dir_all(&deep).unwrap();
    fs::copy(dir.path().join("sheet.wdb"), deep.join("sheet.wdb")).unwrap();
    fs::copy(dir.path().join("ship.geometry"), dir.path().join("deep/ship.geometry")).unwrap();
    fs::write(deep.join("readme.txt"), "no known format").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("..", deep.join("up")).unwrap();

    let slashed = |text: String| text.replace("\\\\", "/").replace('\\', "/");
    let info = slashed(run(dir.path(), 0, &["info", "deep", "-f", "ndjson"]).0);
    let files: Vec<&str> = info.lines().map(|line| line.split('"').nth(3).unwrap()).collect();
    assert_eq!(files, ["deep/er/still/sheet.wdb", "deep/ship.geometry"]);
    assert_eq!(run(dir.path(), 0, &["verify", "deep"]).0.matches(" ok\n").count(), 2);
    assert!(slashed(run(dir.path(), 0, &["find", "sName", "deep"]).0).contains("deep/er/still/sheet.wdb"));
    // A game's folder is one file, wherever it lies.
    fs::rename(dir.path().join("wows"), dir.path().join("deep/wows")).unwrap();
    // The text is also the name of a file here.
    let found = slashed(run(dir.path(), 0, &["find", "--", "assets.bin", "deep"]).0);
    assert!(found.contains("deep/wows") && found.contains("content/assets.bin"), "{found}");

    // As in a shell, only ** goes into folders.
    for (glob, count) in [
        ("deep/*.wdb", 0),
        ("deep/**/*.wdb", 1),
        ("deep/**/*.WDB", 0),
        ("deep/*", 2),
        ("deep/**", 3),
        ("deep/er/*/[r-s]*", 1),
    ] {
        let code = i32::from(count == 0);
        assert_eq!(run(dir.path(), code, &["info", glob, "-f", "ndjson"]).0.lines().count(), count, "{glob}");
    }
    assert!(run(dir.path(), 0, &["info", "deep/**/*.wdb", "-f", "json"]).0.starts_with('['));
    let tables = ["export", "deep/**/*.wdb", "deep", "--to", "out", "--as", "csv", "-t", "sections"];
    run(dir.path(), 2, &tables);
    run(dir.path(), 0, &["export", "deep/er", "deep/ship.geometry", "--to", "out/", "--as", "csv"]);
    assert!(dir.path().join("out/records/still/sheet.csv").is_file());
    let empty = dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let err = run(dir.path(), 1, &["verify", "empty"]).1;
    assert!(err.contains("no file of a known format in this folder or below it"), "{err}");
}

#[test]
fn patterns_in_lower_case_ignore_case() {
    let dir = sample_folder();
    let count = |args: &[&str]| run(dir.path(), 0, args).0.lines().count();
    let all = count(&["ls", "assets.bin", "*.visual"]);
    assert_eq!(count(&["ls", "assets.bin", "*uss*.visual"]), count(&["ls", "assets.bin", "*USS*.visual"]));
    assert!(all > count(&["ls", "assets.bin", "*USS*.visual"]));
    run(dir.path(), 1, &["ls", "assets.bin", "*.VISUAL"]);
    for (lower, upper) in [("uss0", "USS0"), ("uss0*", "USS0*")] {
        let found = run(dir.path(), 0, &["find", lower, "assets.bin"]).0;
        assert_eq!(found, run(dir.path(), 0, &["find", upper, "assets.bin"]).0, "{lower}");
        run(dir.path(), 1, &["find", "-s", lower, "assets.bin"]);
    }
    assert!(run(dir.path(), 1, &["find", "Uss0", "assets.bin"]).1.contains("-i ignores case"));
}

/// A line that is broken cannot be pasted.
#[cfg(target_os = "linux")]
#[test]
fn examples_are_whole_lines_on_a_narrow_terminal() {
    let dir = sample_folder();
    let Some(help) = on_terminal(dir.path(), 50, &[], "export --help") else { return };
    let example = "  assetq export assets.bin --table render_sets --to sets.csv --columns path,name,mfm_path\n";
    assert!(help.contains(example), "{help}");
    for line in ["help sql", "sql -h", "sql --help"] {
        assert_eq!(on_terminal(dir.path(), 80, &[], line).unwrap().matches("\nExamples:\n").count(), 1, "{line}");
    }
    // Columns in examples exist.
    let columns = ["export", "assets.bin", "-t", "render_sets", "--to", "-", "--as", "csv", "-c", "path,name,mfm_path"];
    run(dir.path(), 0, &columns);
}

/// `--where uHp>1000` would write to a file of that name.
#[cfg(unix)]
#[test]
fn the_commands_of_the_tour_can_be_pasted() {
    let dir = TempDir::new().unwrap();
    let (out, _) = run(dir.path(), 0, &["sample", "a folder", "--tour"]);
    let lines: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert!(lines.len() > 10, "{out}");
    let program = Path::new(crate::common::program());
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let before = fs::read_dir(dir.path()).unwrap().count();
    for line in lines {
        let done = Command::new("sh").current_dir(dir.path()).env("PATH", &path).args(["-c", line]).output().unwrap();
        assert!(done.status.success(), "{line}\n{}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before, "{line}");
        let shown = String::from_utf8(done.stdout).unwrap();
        assert!(line.contains(" sample ") || out.contains(&shown), "{line}\n{shown}");
    }
}

/// Bytes of a file that would control the terminal are escaped there, and kept for programs.
#[cfg(target_os = "linux")]
#[test]
fn csv_on_a_terminal_has_no_control_characters() {
    let dir = sample_folder();
    let query = "SELECT 'a' || char(27) || '[2J' || char(155) || 'b' AS x";
    let line = format!("sql \"{query}\" -f csv --no-pager");
    let Some(shown) = on_terminal(dir.path(), 80, &[], &line) else { return };
    assert_eq!(shown, "x\na\\u{1b}[2J\\u{9b}b\n");
    assert_eq!(run(dir.path(), 0, &["sql", query, "-f", "csv"]).0, "x\r\na\u{1b}[2J\u{9b}b\r\n");
}

/// SQLite stops between two steps of a statement, and one call of a function is one step.
#[cfg(target_os = "linux")]
#[test]
fn three_interrupts_end_the_prompt_in_the_middle_of_a_function() {
    use std::io::{Read as _, Write as _};
    use std::process::Stdio;
    use std::time::{Duration, Instant};
    let dir = sample_folder();
    if Command::new("script").arg("--version").output().is_err() {
        return;
    }
    let line = format!("{} sql assets.bin", crate::common::program());
    let mut command = Command::new("script");
    command.current_dir(dir.path()).args(["-qec", &line, "/dev/null"]).env("TERM", "xterm");
    command.env("XDG_STATE_HOME", dir.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut keys, mut shown) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut seen = [0; 4096];
    // The prompt is there once it has asked.
    let mut text = String::new();
    while !text.contains("assetq>") {
        let read = shown.read(&mut seen).unwrap();
        assert!(read > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&seen[..read]));
    }
    std::thread::spawn(move || std::io::copy(&mut shown, &mut std::io::sink()));
    // A search whose time grows with the square of the length.
    writeln!(keys, "SELECT instr(printf('%.*c', 4000000, 'a'), printf('%.*c', 2000000, 'a') || 'b');").unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(40), "it goes on");
        std::thread::sleep(Duration::from_millis(700));
        let _ = keys.write_all(b"\x03");
        let _ = keys.flush();
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(begun.elapsed() > Duration::from_millis(1500), "the third one ends it");
}
