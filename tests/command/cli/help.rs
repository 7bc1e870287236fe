//! Help: one page for beginners, pages about single subjects, and a page for each command.

use crate::common::run;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn help(args: &[&str]) -> String {
    run(&env::temp_dir(), 0, args).0
}

/// The names in a list of commands.
fn commands() -> BTreeSet<String> {
    let all = help(&["help", "--all"]);
    let listed = all.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn the_first_page_is_short_and_leads_on() {
    let first = help(&["help"]);
    assert!(first.lines().count() <= 48, "{first}");
    for other in [["-h"], ["--help"]] {
        assert_eq!(help(&other), first);
    }
    // Without arguments it is wrong usage.
    let bare = Command::new(crate::common::program()).output().unwrap();
    assert_eq!((bare.status.code(), bare.stdout.len()), (Some(2), 0));
    assert_eq!(String::from_utf8(bare.stderr).unwrap(), first);
    let commands = commands();
    let examples = first.lines().filter_map(|line| line.strip_prefix("  assetq "));
    let shown: BTreeSet<&str> = examples.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(shown.iter().all(|name| commands.contains(*name)), "{shown:?}");
    for wanted in ["info", "ls", "cat", "find", "refs", "sql", "view", "diff", "set", "patch", "export", "games"] {
        assert!(shown.contains(wanted), "{wanted}");
    }
    for machine in ["textconv", "completions", "man"] {
        assert!(commands.contains(machine) && !shown.contains(machine), "{machine}");
    }
    assert!(!commands.contains("paths-inside"));
}

/// The arguments in `'…'` of a command line that ends before its description.
fn in_single_quotes(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\'']).filter(|at| !rest[..*at].contains("  ") && !rest[..*at].contains(" | "))
    {
        let (quote, after) = rest[at..].split_at(1);
        let end = after.find(quote).unwrap_or_else(|| panic!("an open quote in {line}"));
        if quote == "'" {
            found.push(&after[..end]);
        }
        rest = &after[end + 1..];
    }
    found
}

/// `"…"` is an argument in every shell. Shells of Unix replace some characters in it, and cmd passes `'` on.
#[test]
fn examples_have_quotes_that_every_shell_takes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = fs::read_dir(root.join("docs/guide")).unwrap().map(|entry| entry.unwrap().path());
    let pages = guide.chain([root.join("README.md")]).map(|path| fs::read_to_string(path).unwrap());
    let code = pages.flat_map(|page| page.split("```").skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>());
    let commands = commands();
    let helps = commands.iter().filter(|name| *name != "help").map(|name| help(&[name, "-h"]));
    let texts: Vec<String> = helps.chain([help(&["help"])]).chain(code).collect();
    let lines = texts.iter().flat_map(|text| text.lines()).map(|line| line.trim_start().trim_start_matches("$ "));
    let mut examples = lines.filter(|line| line.starts_with("assetq ")).peekable();
    assert!(examples.peek().is_some());
    for line in examples {
        let needless = in_single_quotes(line).into_iter().find(|text| !text.contains(['"', '$', '!', '`']));
        assert_eq!(needless, None, "{line}");
    }
}

#[test]
fn help_fits_80_columns() {
    let mut pages = vec!["help", "help --all", "help options", "help environment", "help formats"]
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    pages.extend(commands().iter().filter(|name| *name != "help").map(|name| format!("{name} -h")));
    for line in pages {
        let page = help(&line.split(' ').collect::<Vec<_>>());
        // An example that is broken cannot be pasted.
        let page = page.split("\nExample").next().unwrap();
        let wide: Vec<&str> = page.lines().filter(|shown| shown.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{line}: {wide:?}");
    }
}

#[test]
fn a_command_has_its_own_options_and_names_the_page_of_the_others() {
    let ls = help(&["ls", "-h"]);
    assert!(ls.contains("--where") && ls.contains("--format <FORMAT>") && !ls.contains("--no-mmap"), "{ls}");
    assert!(ls.contains("\nGlobal options: see `assetq help options`\n"), "{ls}");
    let options = help(&["help", "options"]);
    assert!(options.contains("--no-mmap") && options.contains("--names"), "{options}");
    assert!(help(&["help", "--all"]).contains("Exit codes: 0 done"));
}

#[test]
fn every_format_and_every_variable_has_a_line() {
    let formats = help(&["help", "formats"]);
    for format in assetq::formats::BuiltIn::formats() {
        assert!(formats.split([' ', ',', '\n']).any(|word| word == format.name()), "{}", format.name());
    }
    let environment = help(&["help", "environment"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src"), root.join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.extend(Some(path).filter(|path| !path.ends_with("tests")));
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                // Tests have variables of their own.
                let code = text.split("#[cfg(test)]").next().unwrap();
                for name in code.split('"').filter(|word| word.starts_with("ASSETQ_") && !word.contains(' ')) {
                    assert!(environment.contains(name), "{name} in {}", path.display());
                }
            }
        }
    }
}

#[test]
fn a_word_that_is_no_command_names_the_commands() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.wdb"), "").unwrap();
    for (args, tip) in [
        (&["b.wdb"][..], "a command precedes the file, as in 'assetq info b.wdb'; the commands are info, ls, cat"),
        (&["a.wdb", "b"], "a command precedes the file, as in 'assetq info a.wdb'; the commands are info, ls, cat"),
        (&["armor", "a.wdb"], "the commands are info, ls, cat"),
        (&["search", "a.wdb"], "'assetq find TEXT FILE' finds texts; the commands are info"),
        (&["unpack", "a.bin"], "'assetq extract ARCHIVE --to DIR' unpacks files; the commands are"),
        (&["Tables", "a.bin"], "'assetq ls FILE' lists rows"),
        (&["version"], "'assetq --version' prints the version"),
        (&["x/*.info"], "a command precedes the file, as in 'assetq info x/*.info'; the commands are"),
        (&["exprot", "a.bin"], "did you mean 'export'? the commands are"),
    ] {
        let (_, said) = run(dir.path(), 2, args);
        assert!(said.contains(tip) && !said.contains("textconv") && !said.contains("similar"), "{said}");
    }
}

/// The message of an unknown option names what does the same, and no way to pass it as the name of a file.
#[test]
fn an_argument_that_is_not_taken_leads_to_what_is() {
    let dir = tempfile::tempdir().unwrap();
    for (args, tip) in [
        (&["sql", "SELECT 1", "-n", "5"][..], "LIMIT 10 in 'assetq sql'"),
        (&["refs", "a.bin", "--missing"], "'assetq refs --dangling FILE'"),
        (&["ls", "a.bin", "--near", "1,2,3"], "'assetq ls FILE --at 0,0,0'"),
        (&["ls", "a.wdb", "b.wdb", "c.wdb"], "a pattern in quotes, as in 'assetq ls \"*.wdb\"'"),
        (&["ls", "a.wdb", "--colums", "x"], "'--columns'"),
        (&["find", "-5", "a.wdb"], "'-- -5'"),
    ] {
        let (_, said) = run(dir.path(), 2, args);
        assert!(said.contains(tip), "{args:?}: {said}");
        assert!(!said.contains("-- --") && !said.contains("-- -n"), "{args:?}: {said}");
    }
}

#[test]
fn a_format_that_a_command_does_not_write_is_refused_with_the_commands_that_write_it() {
    let dir = env::temp_dir();
    let refused = |args: &[&str]| run(&dir, 2, args).1;
    let patches = "assetq: -f patch works with these commands only: diff, set, patch, sql\n";
    assert_eq!(refused(&["ls", "x.wdb", "-f", "patch"]), patches);
    assert_eq!(refused(&["history", "x", "y.wdb", "-f", "patch"]), patches);
    let pages = "assetq: -f html works with these commands only: diff, history\n";
    assert_eq!(refused(&["set", "x.wdb", "a.b", "1", "-f", "html"]), pages);
    // The help of a command lists what the command takes.
    assert!(help(&["history", "-h"]).contains("csv, html]"), "{}", help(&["history", "-h"]));
}
