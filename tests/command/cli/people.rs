//! Output for people: one shape of document whatever becomes of files, errors in one line, and text that no
//! terminal takes for a command.

use super::run_in as run;
use assetq_sample::bwdb::DatabaseBuilder;
use assetq_sample::wdb::{self, Cell, Game};
use serde_json::Value as Json;
use std::fs;
use std::process::Command;
use tempfile::TempDir;

/// A title for the terminal's window, a colour, a line break, and an override of direction.
const HOSTILE: &str = "\x1b]0;x\x07\x1b[31m\n\u{202e}";

/// Windows has no control characters in names.
const HOSTILE_NAME: &str = if cfg!(windows) { "a\u{202e}.wdb" } else { "a\x1b[31m\n.wdb" };

/// A folder of files in which every name and text is hostile, and the file's own name besides.
fn hostile() -> TempDir {
    let dir = TempDir::new().unwrap();
    let sheet = |extra: &str| {
        wdb::Sheet::new(Game::Later, "Hostile")
            .fields(["sName", "f\x1b]0;\x07\n"])
            .record("r\x1b[1m\n", [Cell::from(format!("{HOSTILE}{extra}").as_str()), 1.5.into()])
            .build()
    };
    let write = |name: &str, bytes: Vec<u8>| fs::write(dir.path().join(name), bytes).unwrap();
    write(HOSTILE_NAME, sheet(""));
    write("b.wdb", sheet("more"));
    write("pack.bin", wdb::pack(&[("p\x1b]0;\x07\n", "wdb", sheet("")), ("q\x1b[1m", "x\x1b[2m", vec![1])]));
    let mut builder = DatabaseBuilder::with_capacities(16, 16);
    builder.path(&format!("root/{HOSTILE}/leaf{HOSTILE}"));
    builder.string(HOSTILE);
    builder.raw_path(4, 99, HOSTILE);
    write("assets.bin", builder.build());
    dir
}

#[test]
fn names_and_texts_of_files_are_no_commands_for_a_terminal() {
    let dir = hostile();
    let (wdb, id) = (HOSTILE_NAME, "0x0000000000000004");
    let path = format!("root/{HOSTILE}");
    let entry = "r\x1b[1m\n";
    let unsafe_name = format!("no {HOSTILE} there");
    for (code, args, stdin) in [
        (0, &["info", wdb, "pack.bin", "assets.bin"][..], ""),
        (0, &["ls", wdb], ""),
        (0, &["ls", wdb, "--long"], ""),
        (0, &["ls", "pack.bin"], ""),
        (0, &["ls", "pack.bin", "-c", "name"], ""),
        (3, &["ls", "assets.bin", "--tree"], ""),
        (3, &["ls", "assets.bin"], ""),
        (0, &["cat", wdb, entry], ""),
        (0, &["verify", wdb, "pack.bin"], ""),
        (3, &["verify", "assets.bin"], ""),
        (3, &["find", "x", wdb, "assets.bin", "--full-path"], ""),
        (3, &["resolve", &path, id, "--db", "assets.bin"], ""),
        (0, &["string", HOSTILE, "--db", "assets.bin"], ""),
        (1, &["diff", wdb, "b.wdb"], ""),
        (1, &["diff", wdb, "b.wdb", "--stat"], ""),
        (0, &["refs", &path, "assets.bin"], ""),
        (0, &["refs", &path, "assets.bin", "--tree"], ""),
        (0, &["sql", "SELECT * FROM records", wdb], ""),
        (0, &["sql", "SELECT 1 AS \"a\x1b[31m\n\", 2", wdb], ""),
        (0, &["sql", wdb], ".tables\n.schema\n"),
        (0, &["sql", "pack.bin"], ".tables\n.schema\n.schema \x1b[31m\n"),
        // The message quotes the wrong name and the existing names.
        (2, &["ls", wdb, "-t", &unsafe_name], ""),
        (2, &["ls", wdb, "-c", &unsafe_name], ""),
        (2, &["ls", wdb, "-w", &unsafe_name], ""),
        (1, &["cat", wdb, &unsafe_name], ""),
        (4, &["info", &unsafe_name], ""),
        (2, &["sql", "SELECT \x1b[31m FROM", wdb], ""),
        (2, &["sql", "SELECT \"\x1b[31m\n\" FROM records", wdb], ""),
        (2, &["ls", "--\x1b[31mno"], ""),
        (2, &["\x1b[31m"], ""),
    ] {
        let (out, err) = run(dir.path(), code, args, stdin);
        let unfit = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!out.contains(unfit) && !err.contains(unfit), "{args:?}\n{out:?}\n{err:?}");
        assert!(
            err.lines().all(|line| line.starts_with("assetq: "))
                || args[0].contains('\x1b')
                || args[1] == "--\x1b[31mno",
            "{args:?}\n{err}"
        );
    }
    // Programs get all of it as it is.
    let rows: Json = serde_json::from_str(&run(dir.path(), 0, &["ls", wdb, "-f", "json"], "").0).unwrap();
    assert_eq!((rows[0]["sName"].as_str(), rows[0]["record"].as_str()), (Some(HOSTILE), Some(entry)));
    assert!(rows[0].get("f\x1b]0;\x07\n").is_some(), "{rows}");
    assert!(run(dir.path(), 0, &["ls", wdb, "-f", "csv"], "").0.contains(HOSTILE));
}

/// One file that is damaged among several changes nothing in how the others are written.
#[test]
fn documents_about_several_files_have_one_shape() {
    let dir = TempDir::new().unwrap();
    run(dir.path(), 0, &["sample", ".", "--seed", "1"], "");
    fs::create_dir(dir.path().join("folder")).unwrap();
    fs::copy(dir.path().join("sheet.wdb"), dir.path().join("folder/one.wdb")).unwrap();
    fs::write(dir.path().join("bad"), "no format").unwrap();
    for command in ["info", "verify"] {
        let document = |code: i32, files: &[&str]| -> Json {
            let (out, _) = run(dir.path(), code, &[&[command, "-f", "json"], files].concat(), "");
            serde_json::from_str(&out).unwrap()
        };
        assert!(document(0, &["sheet.wdb"]).is_object());
        for (code, files, count) in [
            (0, &["sheet.wdb", "space.bin"][..], 2),
            (3, &["sheet.wdb", "bad"], 1),
            (3, &["bad", "sheet.wdb"], 1),
            (3, &["bad", "bad"], 0),
            (4, &["sheet.wdb", "nowhere"], 1),
            (0, &["folder"], 1),
        ] {
            assert_eq!(document(code, files).as_array().map(Vec::len), Some(count), "{command} {files:?}");
            let (lines, _) = run(dir.path(), code, &[&[command, "-f", "ndjson"], files].concat(), "");
            assert_eq!(lines.lines().count(), count, "{command} {files:?}");
            lines.lines().for_each(|line| assert!(serde_json::from_str::<Json>(line).unwrap().is_object()));
            let (_, err) = run(dir.path(), code, &[&[command], files].concat(), "");
            assert_eq!(err.lines().count(), files.iter().filter(|f| ["bad", "nowhere"].contains(*f)).count(), "{err}");
        }
        assert_eq!(run(dir.path(), 3, &[command, "bad", "-f", "json"], "").0, "");
    }
    // The others that take several files write rows: no rows are a document, too.
    for args in [&["find", "x", "bad", "-f", "json"][..], &["refs", "0x1", "bad", "-f", "json"]] {
        assert_eq!(run(dir.path(), 3, args, "").0, "[]\n", "{args:?}");
    }
    // Nothing that was found is no empty line.
    for format in ["json", "ndjson", "csv", "text"] {
        assert_eq!(run(dir.path(), 1, &["cat", "sheet.wdb", "none", "-f", format], "").0, "", "{format}");
    }
}

/// Whatever cannot be matched is wrong usage, in every command that takes a glob.
#[test]
fn globs_of_any_shape_are_no_panic() {
    let dir = TempDir::new().unwrap();
    run(dir.path(), 0, &["sample", ".", "--seed", "1"], "");
    let nested = format!("{}a{}", "{".repeat(126), "}".repeat(126));
    let condition = format!("name ~ '{nested}'");
    // Windows takes command lines of up to 32767 characters.
    let long = "[!a]".repeat(if cfg!(windows) { 8_000 } else { 20_000 });
    for glob in [nested.as_str(), &long, "{a", "a[", "[z-a]"] {
        for args in [
            &["ls", "pack.bin", glob][..],
            &["ls", "pack.bin", "-w", &condition],
            &["extract", "pack.bin", glob, "--to", "out"],
            &["find", "-g", glob, "pack.bin"],
            &["find", glob, "pack.bin"],
            &["export", "pack.bin", "--to", "out.csv", "-w", &condition],
        ] {
            let (out, err) = run(dir.path(), 2, args, "");
            assert_eq!((out.as_str(), err.lines().count()), ("", 1), "{args:?} {err}");
        }
    }
    // One rule: a name that looks like a glob is found by it everywhere, and braces are a glob without being told.
    for args in [
        &["ls", "savegame.vrb", "[Main]", "-c", "name"][..],
        &["ls", "savegame.vrb", "-w", "name ~ '[Main]'", "-c", "name"],
        &["ls", "savegame.vrb", "{x,[[]Main]}", "-c", "name"],
    ] {
        assert_eq!(run(dir.path(), 0, args, "").0, "[Main]\n", "{args:?}");
    }
    let count =
        |args: &[&str]| run(dir.path(), 0, &[&["find"], args, &["assets.bin", "--count", "-f", "csv"]].concat(), "").0;
    assert_eq!(count(&["*.{visual,dds}"]), count(&["-e", "\\.(visual|dds)$"]));
}

/// A pack may call its entries anything; a file that is written has a name that every system takes for a file.
#[test]
fn a_url_is_an_error_that_says_to_download_the_file() {
    let dir = TempDir::new().unwrap();
    for url in ["https://host/a.bin", "s3://bucket/key?x=1", "HTTP://host/*.bin"] {
        for args in
            [&["ls", url][..], &["resolve", "0x1", "--db", url], &["find", "x", url], &["sql", "SELECT 1 AS n", url]]
        {
            let (out, err) = run(dir.path(), 4, args, "");
            let said = format!("assetq: {url}: cannot open: assetq opens no URL: download the file first\n");
            assert!(out.is_empty() && err.starts_with(&said), "{args:?}: {out}{err}");
        }
    }
}

#[test]
fn names_that_are_no_files_are_refused_and_the_rest_is_written() {
    let dir = TempDir::new().unwrap();
    let names = ["../up", "NUL", "a:b", "blank ", "dot.", "x\x1b[1m", "a\\b", "..", "", "good", "Good"];
    let entries: Vec<_> = names.iter().map(|name| (*name, "", name.as_bytes().to_vec())).collect();
    let entries: Vec<_> = entries.into_iter().chain([("con", "wdb", vec![1])]).collect();
    fs::write(dir.path().join("pack.bin"), wdb::pack(&entries)).unwrap();
    let (out, err) = run(dir.path(), 3, &["extract", "pack.bin", "--to", "out"], "");
    assert_eq!(out.replace('\\', "/"), "out/good\nout/Good~10\n");
    assert_eq!(err.lines().count(), 10, "{err}");
    assert!(
        err.contains("\"NUL\" is not written, as its name is not fit for a file: it is a device on Windows"),
        "{err}"
    );
    let written: Vec<_> = fs::read_dir(dir.path().join("out")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!((written.len(), fs::read_dir(dir.path()).unwrap().count()), (2, 2), "{written:?}");
    assert_eq!(run(dir.path(), 0, &["cat", "pack.bin", "a\\b", "--raw"], "").0, "a\\b");
}

/// The questions of the README about two builds can be asked of what a command makes.
#[test]
fn a_sample_comes_with_a_later_build() {
    let dir = TempDir::new().unwrap();
    let (out, _) = run(dir.path(), 0, &["sample", ".", "--altered", "--seed", "5"], "");
    assert!(out.replace('\\', "/").contains("./altered.bin\n"), "{out}");
    let made = fs::read(dir.path().join("altered.bin")).unwrap();
    assert!(made == assetq_sample::bwdb::altered(5, assetq_sample::Size::Small).bytes);
    run(dir.path(), 0, &["verify", "altered.bin"], "");
    let (out, _) = run(dir.path(), 1, &["diff", "assets.bin", "altered.bin", "--stat"], "");
    assert!(out.contains("ModelPrototype"), "{out}");
}

/// SQLite has ten schemas; there may be more files.
#[test]
fn dozens_of_files_are_asked_at_once() {
    let dir = TempDir::new().unwrap();
    let names: Vec<String> = (0..30).map(|number| format!("f{number}=s{number}.wdb")).collect();
    for number in 0..30i64 {
        let sheet = wdb::Sheet::new(Game::Later, "S").fields(["iNumber"]).record("r", [Cell::from(number)]);
        fs::write(dir.path().join(format!("s{number}.wdb")), sheet.build()).unwrap();
    }
    let sql = |code: i32, query: &str, files: &[&str], stdin: &str| {
        run(dir.path(), code, &[&["sql", query][..], files].concat(), stdin)
    };
    let files: Vec<&str> = names.iter().map(String::as_str).collect();
    let all: Vec<String> = (0..30).map(|n| format!("SELECT iNumber AS n FROM \"f{n}.records\"")).collect();
    let sum = format!("SELECT sum(n), count(*) FROM ({})", all.join(" UNION ALL "));
    let (out, err) = sql(0, &sum, &files, "");
    assert_eq!(out, "sum(n)  count(*)\n   435        30\n");
    assert_eq!(
        err,
        "assetq: of more than 10 files a table has the name of its file in its own, as in \"f29.records\"\n"
    );
    // A table name alone selects the first file with such a table, as with fewer files; conditions become probes.
    assert_eq!(sql(0, "SELECT iNumber FROM records", &files, "").0, "0\n");
    assert_eq!(sql(0, "SELECT iNumber FROM [F7.Records] WHERE record = 'r'", &files, "").0, "7\n");
    let (tables, _) =
        sql(0, "-", &[&files[..], &["-q"]].concat(), "SELECT count(*) FROM pragma_table_list WHERE type = 'virtual'");
    assert_eq!(tables, "93\n");
    let (out, _) = run(dir.path(), 0, &[&["sql"], &files[1..], &["s0.wdb", "-q"]].concat(), ".tables\n");
    assert!(out.lines().count() == 90 && out.lines().any(|line| line == "\"f17.fields\""), "{out}");
    let (_, err) = sql(2, "SELECT * FROM f7.records", &[&files[..], &["-q"]].concat(), "");
    assert!(err.starts_with("assetq: SQL: no such table: f7.records; did you mean \"f7.records\""), "{err}");
    // Ten are schemas, as ever.
    assert_eq!(sql(0, "SELECT iNumber FROM f9.records", &files[..10], "").0, "9\n");
    // Databases of SQLite go along with them.
    sql(0, "SELECT 7 AS seven", &["s0.wdb", "--into", "kept.sqlite"], "");
    let (out, _) =
        sql(0, "SELECT seven, iNumber FROM kept.result, \"f3.records\"", &[&files[..], &["kept.sqlite"]].concat(), "");
    assert_eq!(out, "seven  iNumber\n    7        3\n");
}

/// A count says how many there are without putting texts together.
#[test]
fn what_is_counted_is_what_is_listed() {
    let dir = TempDir::new().unwrap();
    run(dir.path(), 0, &["sample", ".", "--seed", "1"], "");
    for what in [
        &["*.visual"][..],
        &["*a*.dds"],
        &["-e", "[aeiou].*\\.m"],
        &["a"],
        &["-i", "*HULL*"],
        &["content/*.visual"],
        &["content/gameplay"],
        &["-p", "ship"],
        &["*"],
        &["?*"],
        &["a", "--where", "path ~ '*ship*'", "-t", "paths"],
    ] {
        for file in ["assets.bin", "town.wdata", "savegame.vrb", "sheet.wdb"] {
            if what.contains(&"paths") && file != "assets.bin" {
                continue;
            }
            let ask = |more: &[&str]| {
                let args: Vec<&str> = [&["find"], what, &[file], more].concat();
                let out = Command::new(crate::common::program()).current_dir(dir.path()).args(args).output().unwrap();
                String::from_utf8(out.stdout).unwrap()
            };
            let rows = ask(&["-f", "ndjson"]).lines().count();
            let counts = ask(&["--count", "-f", "ndjson"]);
            let counted =
                counts.lines().map(|line| serde_json::from_str::<Json>(line).unwrap()["count"].as_u64().unwrap());
            assert_eq!(counted.sum::<u64>(), rows as u64, "{what:?} {file}");
        }
    }
}

/// A terminal, as `script` makes one, with what a shell says on it.
#[cfg(unix)]
mod terminal {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::path::Path;
    use std::process::{Child, ChildStdin, ChildStdout, Stdio};

    struct Terminal {
        child: Child,
        keys: ChildStdin,
        screen: ChildStdout,
        seen: String,
    }

    impl Terminal {
        /// Runs a line of shell in `dir`; `None` where there is no `script`.
        fn run(dir: &Path, line: &str) -> Option<Self> {
            let spawned = Command::new("script")
                .args(["-qec", line, "/dev/null"])
                .current_dir(dir)
                .env("ASSETQ", crate::common::program())
                .env("XDG_STATE_HOME", dir)
                .env("TERM", "xterm")
                .env("ASSETQ_PAGER", "")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn();
            let Ok(mut child) = spawned else {
                eprintln!("skipped: there is no `script` to make a terminal");
                return None;
            };
            let (keys, screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            Some(Self { child, keys, screen, seen: String::new() })
        }

        /// Reads on until `text` is seen.
        fn wait_for(&mut self, text: &str) {
            self.wait_for_after("", text);
        }

        /// Reads until `text` appears after the first `mark`.
        fn wait_for_after(&mut self, mark: &str, text: &str) {
            let mut bytes = [0; 4096];
            let is_seen = |seen: &str| seen.split_once(mark).is_some_and(|(_, behind)| behind.contains(text));
            while !is_seen(&self.seen) {
                let read = self.screen.read(&mut bytes).unwrap();
                assert!(read > 0, "{text:?} is not in {:?}", self.seen);
                self.seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        }

        fn end(mut self) -> String {
            self.screen.read_to_string(&mut self.seen).unwrap();
            drop(self.keys);
            self.child.wait().unwrap();
            self.seen
        }
    }

    /// Whether this process was started with hang-ups ignored, which its children take over.
    fn ignores_hang_up() -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
    }

    #[test]
    fn a_prompt_that_is_told_to_end_gives_the_terminal_back() {
        let dir = TempDir::new().unwrap();
        super::run(dir.path(), 0, &["sample", ".", "--seed", "1"], "");
        // Under `nohup` a hang-up is ignored, and stays so.
        let signals = [("TERM", 143), ("HUP", 129)];
        let signals = signals.get(..if ignores_hang_up() { 1 } else { 2 }).unwrap();
        for (signal, code) in signals {
            let line =
                "sh -c 'echo \"pid=$$;\"; exec \"$ASSETQ\" sql sheet.wdb'; echo \"code=$?\"; stty -a; echo the end";
            let Some(mut terminal) = Terminal::run(dir.path(), line) else { return };
            terminal.wait_for("assetq> ");
            terminal.keys.write_all(b"SELECT 40 + 2;\r").unwrap();
            terminal.wait_for_after("\n42\r\n", "assetq> ");
            let pid = terminal.seen.split("pid=").nth(1).unwrap().split(';').next().unwrap().to_owned();
            assert!(Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap().success());
            terminal.wait_for("the end");
            let seen = terminal.end();
            assert!(seen.contains(&format!("code={code}")), "{seen}");
            for setting in ["icanon", "echo", "isig", "icrnl", "opost"] {
                let is_set = seen.split_whitespace().any(|word| word.trim_end_matches(';') == setting);
                assert!(is_set, "{setting} in {seen}");
            }
            // The query is remembered.
            assert!(fs::read_to_string(dir.path().join("assetq/sql_history")).unwrap().contains("SELECT 40 + 2;"));
        }
    }

    /// Words of other prompts: without a dot, also after an empty line in a statement.
    #[test]
    fn a_prompt_is_left_and_helps_by_words_and_pages_its_answers() {
        let dir = TempDir::new().unwrap();
        super::run(dir.path(), 0, &["sample", ".", "--seed", "1"], "");
        let line = "ASSETQ_PAGER='sed s/^/paged:/' \"$ASSETQ\" sql sheet.wdb; echo \"code=$?\"";
        let Some(mut terminal) = Terminal::run(dir.path(), line) else { return };
        terminal.wait_for("assetq> ");
        terminal.keys.write_all(b"SELECT 40 + 2;\r").unwrap();
        terminal.wait_for("paged:42");
        terminal.wait_for_after("paged:42", "assetq> ");
        terminal.keys.write_all(b".import x.csv\r").unwrap();
        terminal.wait_for("sqlite3 new.db");
        // In the middle of a statement, after an empty line.
        terminal.wait_for_after("sqlite3 new.db", "assetq> ");
        terminal.keys.write_all(b"SELECT 1\r").unwrap();
        terminal.wait_for("...> ");
        terminal.keys.write_all(b"\r").unwrap();
        terminal.wait_for_after("a statement ends with a ;   Ctrl-C", "...> ");
        terminal.keys.write_all(b"help\r").unwrap();
        terminal.wait_for_after("and may go over several lines", "...> ");
        terminal.keys.write_all(b"quit\r").unwrap();
        let seen = terminal.end();
        assert!(seen.contains("code=0"), "{seen}");
    }

    /// Leaving the pager drops the rest of an answer, and not the prompt.
    #[test]
    fn a_pager_that_is_left_stops_the_answer_only() {
        let dir = TempDir::new().unwrap();
        super::run(dir.path(), 0, &["sample", ".", "--seed", "1"], "");
        let line = "ASSETQ_PAGER='head -n 2' \"$ASSETQ\" sql sheet.wdb; echo \"code=$?\"";
        let Some(mut terminal) = Terminal::run(dir.path(), line) else { return };
        terminal.wait_for("assetq> ");
        let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n;\r";
        terminal.keys.write_all(endless.as_bytes()).unwrap();
        terminal.wait_for_after("FROM n;", "assetq> ");
        terminal.keys.write_all(b"SELECT 40 + 2;\r").unwrap();
        terminal.wait_for("\n42\r\n");
        terminal.keys.write_all(b"quit\r").unwrap();
        assert!(terminal.end().contains("code=0"));
    }

    /// Work that takes longer than people wait without a sign shows how far it is, and leaves nothing of that.
    #[test]
    fn long_work_shows_its_progress_on_a_terminal_only() {
        let dir = TempDir::new().unwrap();
        // A minute of counting; it is ended as soon as a sign is seen.
        let query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT count(*) FROM n";
        let line =
            |more: &str| format!("sh -c 'echo \"pid=$$;\"; exec \"$ASSETQ\" sql \"{query}\" {more}'; echo \"code=$?\"");
        let Some(mut terminal) = Terminal::run(dir.path(), &line("")) else { return };
        terminal.wait_for(" rows 0s");
        let pid = terminal.seen.split("pid=").nth(1).unwrap().split(';').next().unwrap().to_owned();
        assert!(Command::new("kill").arg(&pid).status().unwrap().success());
        terminal.wait_for("code=143");
        terminal.end();
        // It is not shown without a terminal, or with --quiet.
        let short = query.replace("1000000000", "3000000");
        let (out, err) = super::run(dir.path(), 0, &["sql", &short], "");
        assert_eq!((out.as_str(), err.as_str()), ("3000000\n", ""));
        let line = line("-q").replace("1000000000", "3000000");
        let Some(mut terminal) = Terminal::run(dir.path(), &line) else { return };
        terminal.wait_for("code=0");
        assert!(!terminal.end().contains(" rows "));
    }
}
