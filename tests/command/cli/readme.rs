//! The README and the book: every command in them runs, ends in time, and prints the output that is shown.
//!
//! The commands of a page run in order in one folder. Each page of the book starts in a folder of samples.

use assetq_sample::{Size, WORLD};
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs};

/// More time than any command needs: each is answered within a second or two, also without optimizations.
const TOO_LONG: Duration = Duration::from_secs(120);

/// A command of a session, and the lines that are shown below it.
#[derive(Debug)]
struct SessionCommand {
    line: usize,
    command: String,
    output: Vec<String>,
}

/// The commands of all blocks of this language.
fn commands(page: &str, language: &str) -> Vec<SessionCommand> {
    let mut found: Vec<SessionCommand> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        let shown =
            |command: &str| SessionCommand { line: number + 1, command: command.to_owned(), output: Vec::new() };
        match (inside, line.strip_prefix("```"), line.strip_prefix("$ ")) {
            (false, Some(of), _) => inside = of == language,
            (true, Some(_), _) => inside = false,
            (true, None, Some(command)) => found.push(shown(command)),
            (true, None, None) if language == "console" => found.last_mut().unwrap().output.push(line.to_owned()),
            (true, None, None) => found.push(shown(line.split('#').next().unwrap().trim())),
            (false, None, _) => {}
        }
    }
    found
}

/// Whether a line is shown as it came out; an ellipsis stands for any text.
fn is_line(shown: &str, line: &str) -> bool {
    let mut parts = shown.trim_end().split('…');
    let Some(mut rest) = parts.next().and_then(|first| line.trim_end().strip_prefix(first)) else { return false };
    let mut elided = false;
    let last = parts.clone().next_back();
    let between = parts.clone().count().saturating_sub(1);
    for part in parts.take(between) {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        elided = true;
    }
    match last {
        Some(last) => rest.ends_with(last),
        None => !elided && rest.is_empty(),
    }
}

/// The first shown line that did not come out. A line of nothing but an ellipsis stands for any lines.
fn missing<'s>(shown: &'s [String], lines: &[&str]) -> Option<&'s str> {
    let (mut next, mut elided) = (0, false);
    for wanted in shown {
        if wanted.trim() == "…" {
            elided = true;
            continue;
        }
        let end = if elided { lines.len() } else { lines.len().min(next + 1) };
        match lines[next..end].iter().position(|line| is_line(wanted, line)) {
            Some(at) => next += at + 1,
            None => return Some(wanted),
        }
        elided = false;
    }
    let more = !elided && next < lines.len();
    more.then_some("(nothing more)")
}

#[test]
fn an_ellipsis_stands_for_text_and_for_lines() {
    assert!(is_line("a … d …", "a b c d e") && is_line("a…", "a") && is_line("a", "a  "));
    assert!(!is_line("a", "a b") && !is_line("a … d", "a b c d e") && !is_line("a…", "b"));
    let check = |shown: &[&str], lines: &[&str]| {
        let shown: Vec<String> = shown.iter().map(|line| (*line).to_owned()).collect();
        missing(&shown, lines).map(str::to_owned)
    };
    assert_eq!(check(&["a", "…", "d"], &["a", "b", "c", "d"]), None);
    assert_eq!(check(&["a", "…"], &["a", "b"]), None);
    assert_eq!(check(&["a", "c"], &["a", "b", "c"]).as_deref(), Some("c"));
    assert_eq!(check(&["a"], &["a", "b"]).as_deref(), Some("(nothing more)"));
}

/// Everything from `from`, on a thread of its own.
fn read(mut from: impl Read + Send + 'static) -> std::sync::mpsc::Receiver<String> {
    let (tell, told) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        drop(tell.send(String::from_utf8_lossy(&bytes).into_owned()));
    });
    told
}

/// Runs a command line by the shell: its exit code, standard output and standard error.
fn run(command: &str, dir: &Path) -> Result<(i32, String, String), String> {
    let binary = Path::new(crate::common::program());
    let old = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([binary.parent().unwrap().to_owned()].into_iter().chain(env::split_paths(&old)));
    // In place of the shell, so that it can be ended.
    let line = if command.contains(" | ") { command.to_owned() } else { format!("exec {command}") };
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(dir).env("PATH", path.unwrap()).env_remove("ASSETQ_DB");
    let mut child = shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (out, err) = (read(child.stdout.take().unwrap()), read(child.stderr.take().unwrap()));
    let end = Instant::now() + TOO_LONG;
    let mut texts = Vec::new();
    for text in [out, err] {
        match text.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(text) => texts.push(text),
            Err(RecvTimeoutError::Timeout) => {
                child.kill().unwrap();
                child.wait().unwrap();
                return Err(format!("it does not end in {TOO_LONG:?}"));
            }
            Err(RecvTimeoutError::Disconnected) => panic!("the output of {command} cannot be read"),
        }
    }
    let code = child.wait().unwrap().code().ok_or("it was ended by a signal")?;
    let [out, err] = <[String; 2]>::try_from(texts).unwrap();
    Ok((code, out, err))
}

/// Puts the file `name` into `dir` where the command that names it would find it.
fn provide(name: &str, dir: &Path) {
    match WORLD.altered.iter().find(|(altered, ..)| *altered == name) {
        Some((.., make)) => fs::write(dir.join(name), make(1, Size::Small)).unwrap(),
        None => assert!(dir.join(name).exists(), "{name}: this test must learn to provide the file"),
    }
}

/// The files that a command reads: names with the ending of a file, where none follows an option that names an output.
fn files(command: &str) -> Vec<String> {
    let endings = [".bin", ".data", ".geometry", ".mo", ".splash", ".txt", ".vrb", ".wdata", ".wdb"];
    let words: Vec<&str> = command.split_whitespace().collect();
    let is_read = |at: &usize| *at == 0 || !matches!(words[at - 1], "--to" | "--into" | ">");
    let name = |word: &str| {
        let word = word.rsplit('=').next().unwrap().split(':').next().unwrap();
        let plain = !word.contains(['\'', '"', '/', '*', '(', '`']);
        (plain && endings.iter().any(|ending| word.ends_with(ending))).then(|| word.to_owned())
    };
    (0..words.len()).filter(is_read).filter_map(|at| name(words[at])).collect()
}

/// The faults of a command and of the output that is shown below it.
fn check(shown: &SessionCommand, dir: &Path) -> Result<(), String> {
    files(&shown.command).iter().for_each(|name| provide(name, dir));
    let (code, out, err) = run(&shown.command, dir)?;
    let expected =
        i32::from(["assetq diff ", "assetq refs --dangling "].iter().any(|of| shown.command.starts_with(of)));
    if code != expected {
        return Err(format!("exit code {code}\n{out}{err}"));
    }
    let mut lines: Vec<&str> = out.lines().collect();
    let mut output = shown.output.clone();
    if shown.command.starts_with("find ") {
        // As the folder has them.
        lines.sort_unstable();
        output.sort_unstable();
    }
    match missing(&output, &lines).filter(|_| !output.is_empty()) {
        Some(line) => Err(format!("it does not show\n{line}\nbut\n{out}{err}")),
        None => Ok(()),
    }
}

#[test]
fn the_minimum_rust_version_is_the_declared_one() {
    let needs = format!("Rust {} or newer", env!("CARGO_PKG_RUST_VERSION"));
    for page in ["README.md", "CONTRIBUTING.md"] {
        assert!(self::page(page).contains(&needs), "{page} does not say {needs:?}");
    }
}

/// The faults of a page: of its sessions, which start in `dir`, and of the commands that its text mentions.
fn faults(name: &str, page: &str, mut dir: PathBuf) -> String {
    let mut wrong = String::new();
    for shown in &commands(page, "console") {
        if let Some(folder) = shown.command.strip_prefix("cd ") {
            dir.push(folder);
            assert!(
                WORLD.files.iter().all(|(name, ..)| dir.join(name).exists()),
                "{folder} has a file of every format"
            );
        } else if let Err(why) = check(shown, &dir) {
            writeln!(wrong, "{name}:{}: {}: {why}\n", shown.line, shown.command).unwrap();
        }
    }
    for mention in page.split('`').filter(|span| span.starts_with("assetq ") && !span.contains('\n')) {
        let command = mention.split_whitespace().nth(1).unwrap();
        match run(&format!("assetq {command} --help"), &dir) {
            Ok((0, ..)) => {}
            _ if command.chars().all(char::is_uppercase) => {}
            other => writeln!(wrong, "{name}: `{mention}`: {other:?}\n").unwrap(),
        }
    }
    wrong
}

fn page(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn every_command_of_the_readme_runs_and_shows_what_it_says() {
    let readme = page("README.md");
    // `cargo test` is what runs here.
    let [session, fresh] = [clone(), clone()];
    let mut wrong = faults("README.md", &readme, session.path().to_owned());
    for shown in commands(&readme, "sh").iter().filter(|shown| shown.command != "cargo test") {
        let command = shown.command.replace("cargo run --release --", "assetq");
        match run(&command, fresh.path()) {
            Ok((0, out, err)) if !out.is_empty() && err.is_empty() => {}
            other => writeln!(wrong, "README.md:{}: {}: {other:?}\n", shown.line, shown.command).unwrap(),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    for clone in [session, fresh] {
        let (_, left, _) = run("git status --porcelain --untracked-files=all", clone.path()).unwrap();
        assert_eq!(left, "", "git sees what these commands wrote: .gitignore must list it");
    }
}

/// A folder with a sample.
fn sampled() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    run("assetq sample .", dir.path()).unwrap();
    dir
}

/// Words of examples that name what a sample lacks: other builds, mods and lists, or a program besides the command.
const ELSEWHERE: [&str; 20] = [
    "OLD",
    "old",
    "old/",
    "old/assets.bin",
    "old.bin",
    "old.wdb",
    "old=a.bin",
    "0.10.2/CM001.geometry",
    "kept",
    "unpacked-1.0/",
    "1.0/item.wdb",
    "vanilla.wdb",
    "newer.wdb",
    "item.wdb",
    "icon.dds",
    "main.json",
    "mod.ndjson",
    "monster_book.wdb",
    "ids.txt",
    "duckdb",
];

#[test]
fn every_example_of_help_that_names_files_of_the_sample_runs_in_it() {
    let commands = [
        "info", "ls", "cat", "find", "refs", "resolve", "string", "sql", "diff", "history", "verify", "view", "export",
        "extract", "set", "patch", "snapshot", "textconv",
    ];
    let (mut wrong, mut ran) = (String::new(), 0);
    let read = sampled();
    for name in commands {
        // Examples of one command follow each other, and may write files that another's would write, too.
        let own = ["sql", "export", "set", "patch"].contains(&name).then(sampled);
        let dir = own.as_ref().unwrap_or(&read);
        let (_, help, _) = run(&format!("assetq {name} --help"), dir.path()).unwrap();
        let examples = help.lines().filter_map(|line| line.strip_prefix("  assetq "));
        // A description follows after two spaces.
        for example in examples.filter_map(|line| line.split("  ").next()) {
            let is_elsewhere = example.split_whitespace().any(|word| ELSEWHERE.contains(&word));
            if is_elsewhere || ["jq", "xxd", "less"].iter().any(|program| example.contains(program)) {
                continue;
            }
            let page = if name == "view" && !example.contains("--to") { " --to page.html --force" } else { "" };
            let expected = i32::from(["diff ", "refs --dangling . "].iter().any(|of| example.starts_with(of)));
            match run(&format!("assetq {example}{page}"), dir.path()) {
                Ok((code, ..)) if code == expected => ran += 1,
                other => writeln!(wrong, "{name}: assetq {example}: {other:?}\n").unwrap(),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(ran > 80, "{ran} examples ran");
}

/// A repository of git with the list of ignored files that a clone has.
fn clone() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(".gitignore"), page(".gitignore")).unwrap();
    for command in ["git init -q", "git add .gitignore", "git -c user.name=a -c user.email=a commit -q -m clone"] {
        assert_eq!(run(command, dir.path()).unwrap().0, 0, "{command}");
    }
    dir
}

/// The pages of the book, by their paths in `docs`.
fn pages() -> Vec<String> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let mut found = Vec::new();
    for folder in ["", "decisions/", "guide/", "formats/"] {
        let names = fs::read_dir(docs.join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".md"));
        found.extend(names.map(|name| format!("{folder}{name}")));
    }
    found
}

#[test]
fn every_command_of_the_book_runs_and_shows_what_it_says() {
    let (mut wrong, mut sessions) = (String::new(), 0);
    for name in pages() {
        let page = page(&format!("docs/{name}"));
        let dir = tempfile::tempdir().unwrap();
        if !commands(&page, "console").is_empty() {
            run("assetq sample .", dir.path()).unwrap();
            sessions += 1;
        }
        wrong += &faults(&name, &page, dir.path().to_owned());
    }
    assert!(sessions > 5, "{sessions} pages have sessions");
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_page_of_the_book_is_in_its_table_of_contents() {
    let summary = page("docs/SUMMARY.md");
    for name in pages().iter().filter(|name| *name != "SUMMARY.md") {
        assert!(summary.contains(&format!("({name})")), "docs/SUMMARY.md lacks {name}");
    }
}
