//! The command where the machine gives little, or the question asks for much.

use crate::common::sample_folder;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

fn assetq(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(crate::common::program());
    command.current_dir(dir).args(args);
    command
}

fn texts(out: &Output) -> (String, String) {
    (String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// No thread can have a stack of 2^46 bytes, so that none but the first can be started.
#[test]
fn one_thread_is_enough_for_every_command() {
    let dir = sample_folder();
    for (number, args) in [
        &["info", "assets.bin"][..],
        &["ls", "ship.geometry", "-t", "vertices"],
        &["ls", "town.wdata", "-t", "triggers"],
        &["cat", "assets.bin", "content"],
        &["resolve", "content", "--db", "assets.bin"],
        &["string", "Scene Root", "--db", "assets.bin"],
        &["find", "*.mfm", "assets.bin"],
        &["find", "e", "."],
        &["refs", "--dangling", "assets.bin"],
        &["sql", "SELECT count(*) FROM resources", "assets.bin"],
        &["verify", "."],
        &["diff", "assets.bin", "assets.bin"],
        &["diff", "savegame.vrb", "savegame.vrb"],
        &["export", "assets.bin", "-t", "render_sets", "--to", "OUT.csv"],
        &["export", "assets.bin", "-t", "render_sets", "--to", "OUT.parquet"],
        &["export", "ship.geometry", "--to", "OUT.glb"],
    ]
    .into_iter()
    .enumerate()
    {
        let run = |name: &str, lack: bool| {
            let name = format!("made{number}{name}");
            let args: Vec<String> = args.iter().map(|arg| arg.replace("OUT", &name)).collect();
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let mut command = assetq(dir.path(), &args);
            if lack {
                command.env("RUST_MIN_STACK", (1u64 << 46).to_string());
            }
            let out = command.output().unwrap();
            let (stdout, stderr) = texts(&out);
            let said = format!("{stdout}{stderr}").replace(&name, "OUT");
            let made = args.last().filter(|_| args.contains(&"--to"));
            (out.status.code(), said, made.map(|file| std::fs::read(dir.path().join(file)).unwrap_or_default()))
        };
        let (many, one) = (run("a", false), run("b", true));
        assert_eq!(many, one, "{args:?}");
        assert!(matches!(one.0, Some(0 | 1)) && one.2.is_none_or(|file| !file.is_empty()), "{args:?}: {}", one.1);
    }
}

#[test]
fn threads_are_a_few_for_each_core() {
    let dir = sample_folder();
    let threads = |count: &str| {
        let (stdout, stderr) =
            texts(&assetq(dir.path(), &["verify", "assets.bin", "--threads", count]).output().unwrap());
        assert!(stdout.contains("bwdb ok"), "{stdout}{stderr}");
        stderr
    };
    assert_eq!(threads("2"), "");
    let stderr = threads("60000");
    let most = std::thread::available_parallelism().unwrap().get() * 4;
    let expected = format!("assetq: --threads 60000 is more than this machine has cores for: using {most}\n");
    assert_eq!(stderr, expected);
}

/// A pattern and a condition that would be looked at for every row again and again.
#[test]
fn questions_without_measure_are_wrong_usage() {
    let dir = sample_folder();
    let condition = vec!["id=1"; 9000].join(" or ");
    for (args, what) in [
        (&["find", "-e", "a{0,50000}", "assets.bin"][..], "its repetitions come to 50000 characters"),
        (&["sql", "SELECT path FROM paths WHERE path REGEXP 'a{0,50000}'", "assets.bin"], "its repetitions come to"),
        (&["ls", "assets.bin", "-t", "resources", "--where", &condition], "more than 1000 comparisons"),
        (&["find", "x", "assets.bin", "--where", &condition], "more than 1000 comparisons"),
    ] {
        let out = assetq(dir.path(), args).output().unwrap();
        let (_, stderr) = texts(&out);
        assert_eq!(out.status.code(), Some(2), "{stderr}");
        assert!(stderr.starts_with("assetq: ") && stderr.lines().count() == 1 && stderr.contains(what), "{stderr}");
    }
}

/// A hole of 5 GiB after a file of a few kilobytes takes neither space nor time.
#[test]
fn a_hole_after_a_file_takes_no_time() {
    let dir = sample_folder();
    for name in ["assets.bin", "models.bin", "ship.geometry", "savegame.vrb", "space.bin"] {
        let file = std::fs::OpenOptions::new().write(true).open(dir.path().join(name)).unwrap();
        file.set_len(5 << 30).unwrap();
        let start = Instant::now();
        let out = assetq(dir.path(), &["verify", name]).output().unwrap();
        // Whether bytes that nothing refers to are damage depends on the format.
        assert!(matches!(out.status.code(), Some(0 | 3)), "{name}: {:?}", texts(&out));
        assert!(start.elapsed().as_secs() < 5, "{name}: {:?}", start.elapsed());
        file.set_len(0).unwrap();
    }
}

/// A line without end, as `yes | tr -d '\\n'` gives.
#[test]
fn a_line_without_end_is_refused() {
    let dir = sample_folder();
    let script = "ulimit -v 2000000; yes | tr -d '\\n' | \"$0\" resolve - --db assets.bin";
    let out = Command::new("sh").current_dir(dir.path()).args(["-c", script, crate::common::program()]).output();
    let out = out.unwrap();
    let (_, stderr) = texts(&out);
    assert_eq!(out.status.code(), Some(4), "{stderr}");
    assert!(stderr.contains("cannot read standard input: a line of more than 1048576 bytes"), "{stderr}");
    let script = "printf 'content\\r\\nno/such\\ncontent' | \"$0\" resolve - --db assets.bin -f ndjson";
    let out = Command::new("sh").current_dir(dir.path()).args(["-c", script, crate::common::program()]).output();
    assert_eq!(texts(&out.unwrap()).0.lines().filter(|line| line.contains("\"content\"")).count(), 2);
}

/// A file that needs more memory than there is may be sound.
#[test]
fn too_little_memory_for_a_stream_is_no_damage() {
    let Some(samples) = crate::common::samples() else { return };
    let mut codes = Vec::new();
    for megabytes in (80..220).step_by(20) {
        let script =
            format!("ulimit -v {}; exec \"$0\" ls GameParams.data -n 1 --no-cache --no-companions", megabytes << 10);
        let mut command = Command::new("sh");
        let args = ["-c", &script, crate::common::program()];
        let out = command.current_dir(samples.join("gameparams")).args(args).output().unwrap();
        codes.extend(out.status.code());
    }
    assert!(codes.contains(&4) && codes.iter().all(|code| [0, 4, 127].contains(code)), "{codes:?}");
}

/// With ever more memory the command comes ever further, and never ends in a crash. The shell becomes the command, so that
/// the status is the command's own: no code at all where a signal ends it.
#[test]
fn too_little_memory_is_an_error() {
    let dir = sample_folder();
    // As much again as the command needs is read into memory.
    let large = dir.path().join("large.bin");
    std::fs::copy(dir.path().join("assets.bin"), &large).unwrap();
    std::fs::OpenOptions::new().write(true).open(&large).unwrap().set_len(100 << 20).unwrap();
    for (file, wanted) in [("assets.bin", [Some(4), Some(0)]), ("large.bin --no-mmap", [Some(4), Some(3)])] {
        let mut codes = Vec::new();
        for megabytes in (8..400).step_by(14) {
            let script = format!("ulimit -v {}; exec \"$0\" verify {file}", megabytes << 10);
            let script = ["-c", &script, crate::common::program()];
            let mut command = Command::new("sh");
            let out = command.current_dir(dir.path()).env("RUST_BACKTRACE", "0").args(script).output().unwrap();
            let (stdout, stderr) = texts(&out);
            match out.status.code() {
                // The system has no room for the program itself, or its loader none for the libraries.
                None | Some(127)
                    if codes.is_empty() && !stderr.starts_with("assetq: ") && !stderr.contains("memory allocation") => {
                }
                // The standard library ends the process if a new thread finds no room for its signal stack, before any code of
                // the thread runs.
                None if stderr.contains("failed to allocate an alternative stack") => {}
                code => {
                    assert!(wanted.contains(&code), "{megabytes} MB: {:?}: {stdout}{stderr}", out.status);
                    // The standard library adds how to see more of it. Where memory runs out on two threads at once, each
                    // has its line, and the letters of one may stand in the other.
                    let of_std = |line: &&str| line.contains("memory alloc") || line.starts_with("skipping backtrace");
                    let lines = stderr.lines().filter(|line| !line.is_empty() && !line.starts_with("note: run with"));
                    let (of_std, own): (Vec<&str>, Vec<&str>) = lines.partition(of_std);
                    let said = own.len() + usize::from(!of_std.is_empty());
                    assert!(code != Some(4) || said == 1, "{megabytes} MB: {stderr}");
                    codes.push(code);
                }
            }
        }
        codes.dedup();
        // Between the memory of the program and that of its answer there may be less than a step.
        let comes_further = codes == wanted || file == "assets.bin" && codes == [Some(0)];
        assert!(comes_further, "{file}: {codes:?}");
    }
}

/// A pipe is read as a file is.
#[test]
fn a_pipe_is_read() {
    let dir = sample_folder();
    let pipe = Command::new("sh")
        .current_dir(dir.path())
        .args(["-c", "cat assets.bin | \"$0\" info /dev/stdin", crate::common::program()])
        .output()
        .unwrap();
    let (stdout, stderr) = texts(&pipe);
    assert!(pipe.status.success() && stdout.starts_with("/dev/stdin: bwdb"), "{stdout}{stderr}");
}

/// Changes, and files that say something about others, from what never ends.
#[cfg(unix)]
#[test]
fn what_is_said_without_end_is_refused() {
    let dir = sample_folder();
    let ran = |script: &str| {
        let script = format!("ulimit -v 3000000; {script}");
        let out = Command::new("sh").current_dir(dir.path()).args(["-c", &script, crate::common::program()]).output();
        let out = out.unwrap();
        (out.status.code(), texts(&out).1)
    };
    for (script, code, what) in [
        ("\"$0\" patch sheet.wdb /dev/zero --dry-run", 2, "/dev/zero: it has a NUL byte at offset 0x0"),
        ("\"$0\" patch sheet.wdb - --dry-run < /dev/zero", 2, "-: it has a NUL byte at offset 0x0"),
        ("yes | tr -d '\\n' | \"$0\" patch sheet.wdb - --dry-run", 4, "a line of more than 67108864 bytes"),
        ("\"$0\" info sheet.wdb --fields /dev/zero", 4, "/dev/zero: cannot read: it has more than 16777216 bytes"),
    ] {
        let (ended, stderr) = ran(script);
        assert_eq!(ended, Some(code), "{script}: {stderr}");
        assert!(stderr.contains(what) && stderr.lines().count() == 1, "{script}: {stderr}");
    }
}
