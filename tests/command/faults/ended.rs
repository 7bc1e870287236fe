//! Disks that become full and commands that are killed, at every tenth of what they write.

use super::{Ended, assetq, end, names, run, samples, signal, words};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use tempfile::TempDir;

/// Commands that write OUT/x for a while. `{in}` is a file that they may write over.
const WRITING: &[&str] = &[
    "export FILE -t resources --to OUT/x.csv",
    "export FILE -t resources --to OUT/x.parquet",
    "sql SELECT+*+FROM+resources FILE --into OUT/x.sqlite",
    "sql UPDATE+resources+SET+state='deleted'+WHERE+state='valid' FILE --to OUT/x.bin --force",
];

/// The only file in a folder, except unfinished files.
fn kept(dir: &Path) -> Option<Vec<u8>> {
    let name = names(dir).into_iter().find(|name| !name.starts_with('.'))?;
    Some(fs::read(dir.join(name)).unwrap())
}

fn is_part(name: &str) -> bool {
    name.starts_with(".assetq-") && name.ends_with(".part")
}

/// The bytes of the file that is being made in `dir`.
fn written(dir: &Path) -> u64 {
    let part = names(dir).into_iter().find(|name| is_part(name));
    part.and_then(|name| fs::metadata(dir.join(name)).ok()).map_or(0, |meta| meta.len())
}

#[test]
fn a_disk_that_fills_at_any_tenth_of_a_file_leaves_nothing() {
    // The bytes of a small file are written at its end.
    let small = ("sql UPDATE+resources+SET+state='deleted'+WHERE+rowid=1 FILE --to OUT/x.bin", "assets.bin");
    for (line, file) in WRITING.iter().map(|line| (*line, "large.bin")).chain([small]) {
        let whole = TempDir::new().unwrap();
        let args = words(line, file, "", whole.path());
        let ended = run(&args);
        assert!(ended.status.success(), "{line}: {ended:?}");
        let size = kept(whole.path()).unwrap().len();
        for tenth in 0..10 {
            let dir = TempDir::new().unwrap();
            // In blocks of 512 bytes.
            let script = format!("ulimit -f {}; exec \"$0\" \"$@\"", size * tenth / 10 / 512);
            let mut command = Command::new("sh");
            command.current_dir(samples()).args(["-c", &script, crate::common::program()]);
            command.args(words(line, file, "", dir.path()));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
            let Ended { status, err, .. } = end(command.spawn().unwrap(), line);
            assert_eq!((status.code(), err.lines().count()), (Some(4), 1), "{line} at {tenth}/10: {err}");
            assert!(err.starts_with("assetq: ") && err.contains("cannot write"), "{line} at {tenth}/10: {err}");
            assert_eq!(names(dir.path()).len(), 0, "{line} at {tenth}/10: {:?}", names(dir.path()));
        }
    }
}

/// A signal that can be caught leaves nothing. Any other leaves at most the unfinished file under its own name. A file under the final
/// name is complete.
#[test]
fn a_command_that_is_killed_at_any_tenth_leaves_a_whole_file_or_none() {
    let mut met = 0;
    for line in WRITING {
        let whole = TempDir::new().unwrap();
        assert!(run(&words(line, "large.bin", "", whole.path())).status.success());
        let expected = kept(whole.path()).unwrap();
        for (name, tenth) in (0..10).flat_map(|tenth| [("TERM", tenth), ("KILL", tenth)]) {
            let dir = TempDir::new().unwrap();
            let mut child = assetq(&words(line, "large.bin", "", dir.path())).stdout(Stdio::null()).spawn().unwrap();
            let wanted = expected.len() as u64 * tenth / 10;
            while child.try_wait().unwrap().is_none() && written(dir.path()) <= wanted {
                thread::yield_now();
            }
            signal(&child, name);
            let ended = end(child, line);
            match kept(dir.path()) {
                // Databases of SQLite differ in counters.
                Some(found) => assert!(found == expected || line.contains("--into"), "{line} {name} at {tenth}/10"),
                None => met += 1,
            }
            let left: Vec<String> = names(dir.path()).into_iter().filter(|name| name.starts_with('.')).collect();
            match name {
                "KILL" => assert!(left.len() <= 1 && left.iter().all(|name| is_part(name)), "{line}: {left:?}"),
                _ => assert!(left.is_empty(), "{line} {name} at {tenth}/10: {left:?} {ended:?}"),
            }
            // Nothing that is left is in the way.
            if !line.ends_with("--force") && !names(dir.path()).is_empty() {
                let again = run(&words(&format!("{line} --force"), "large.bin", "", dir.path()));
                assert!(again.status.success(), "{line}: {again:?}");
            }
        }
    }
    assert!(met >= 15, "{met} runs were killed before they had ended");
}

/// A file that is written over is the old one or the new one, whenever its command is killed.
#[test]
fn a_file_that_is_written_in_place_is_the_old_one_or_the_new_one() {
    let old = fs::read(samples().join("large.bin")).unwrap();
    let query = "UPDATE resources SET state = 'deleted' WHERE state = 'valid'";
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("in.bin");
    let begin = || {
        fs::write(&path, &old).unwrap();
        assetq(&["sql", query, path.to_str().unwrap(), "--in-place"]).spawn().unwrap()
    };
    assert!(end(begin(), query).status.success());
    let new = fs::read(&path).unwrap();
    assert!(new != old);
    for (tenth, name) in (0..10).flat_map(|tenth| [(tenth, "TERM"), (tenth, "KILL")]) {
        let mut child = begin();
        while child.try_wait().unwrap().is_none() && written(dir.path()) <= old.len() as u64 * tenth / 10 {
            thread::yield_now();
        }
        signal(&child, name);
        end(child, query);
        let found = fs::read(&path).unwrap();
        assert!(found == old || found == new, "{name} at {tenth}/10");
        for left in names(dir.path()).into_iter().filter(|name| name != "in.bin") {
            assert!(name == "KILL" && is_part(&left), "{name} at {tenth}/10: {left}");
            fs::remove_file(dir.path().join(left)).unwrap();
        }
    }
}

/// A game with a large file, so that a snapshot of it takes a while.
fn slow_game(dir: &Path) {
    assetq_sample::wows::game(3, assetq_sample::Size::Small, |path, bytes| {
        let path = dir.join("game").join(path);
        fs::create_dir_all(path.parent().unwrap())?;
        fs::write(path, bytes)
    })
    .unwrap();
    let build = fs::read_dir(dir.join("game/bin")).unwrap().map(|entry| entry.unwrap().path()).max().unwrap();
    fs::create_dir_all(build.join("res/content/large")).unwrap();
    let large = fs::File::create(build.join("res/content/large/x.bin")).unwrap();
    large.set_len(400 << 20).unwrap();
}

/// The folder of a snapshot is removed with all that is in it, and the one that it was to replace stays.
#[test]
fn a_snapshot_that_is_ended_leaves_nothing_of_itself() {
    let dir = TempDir::new().unwrap();
    slow_game(dir.path());
    let [game, to] = ["game", "builds"].map(|name| dir.path().join(name).into_os_string().into_string().unwrap());
    assert!(run(&["snapshot", &game, "--to", &to]).status.success());
    let builds = Path::new(&to).join("bin");
    let [build] = &names(&builds).into_iter().collect::<Vec<_>>()[..] else { panic!("one build") };
    let files = |folder: &Path| Command::new("find").arg(folder).output().unwrap().stdout;
    let mut ended_early = 0;
    // A killed process leaves its folder to the next snapshot, which removes it on Linux.
    let signals = ["TERM", "INT", "HUP", "KILL"].into_iter().take(if cfg!(target_os = "linux") { 4 } else { 3 });
    for name in signals {
        let before = files(Path::new(&to));
        let args = ["snapshot", &game, "content/*", "--to", &to, "--force"];
        let mut child = assetq(&args).stdout(Stdio::null()).spawn().unwrap();
        let is_written = || {
            let part = names(&builds).into_iter().find(|name| is_part(name)).map(|name| builds.join(name));
            part.is_some_and(|part| part.join("res/content/large").exists())
        };
        while child.try_wait().unwrap().is_none() && !is_written() {
            thread::yield_now();
        }
        signal(&child, name);
        let ended = end(child, name);
        if ended.status.code().is_some_and(|code| code > 128) {
            assert!(files(Path::new(&to)) == before, "{name}: {:?}", names(&builds));
            ended_early += 1;
        }
    }
    assert!(ended_early > 0, "no signal came in time");
    // On a busy machine the command may end before the signal.
    assert!(run(&["snapshot", &game, "--to", &to, "content/mods.xml", "--force"]).status.success());
    assert!(builds.join(build).join("res/content/mods.xml").exists(), "the new one");
    assert_eq!(names(&builds).len(), 1);
}

/// Only an allocation that failed is an error of the system; the other aborts are crashes and look like one.
#[test]
fn a_stack_overflow_stays_a_crash() {
    use std::os::unix::process::ExitStatusExt as _;
    let script = "ulimit -s 160; exec \"$0\" \"$@\"";
    let args = ["find", "e", "large.bin"];
    let mut command = Command::new("sh");
    command.current_dir(samples()).args(["-c", script, crate::common::program()]).args(args);
    let Ended { status, err, .. } = end(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap(), script);
    if !err.contains("has overflowed its stack") {
        return super::skipped("this much stack is enough");
    }
    assert_eq!(status.signal(), Some(6), "{status:?} {err}");
}
