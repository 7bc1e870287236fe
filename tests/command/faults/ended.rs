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
    for line in WRITING {
        let whole = TempDir::new().unwrap();
        let args = words(line, "large.bin", "", whole.path());
        let ended = run(&args);
        assert!(ended.status.success(), "{line}: {ended:?}");
        let size = kept(whole.path()).unwrap().len();
        for tenth in 0..10 {
            let dir = TempDir::new().unwrap();
            // In blocks of 512 bytes.
            let script = format!("ulimit -f {}; exec \"$0\" \"$@\"", size * tenth / 10 / 512);
            let mut command = Command::new("sh");
            command.current_dir(samples()).args(["-c", &script, env!("CARGO_BIN_EXE_assetq")]);
            command.args(words(line, "large.bin", "", dir.path()));
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
            let again = run(&words(&format!("{line} --force"), "large.bin", "", dir.path()));
            assert!(line.ends_with("--force") || again.status.success(), "{line}: {again:?}");
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
