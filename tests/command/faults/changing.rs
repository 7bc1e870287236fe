//! Files that another program shortens, replaces and rewrites while they are mapped.

use super::{Ended, READING, assetq, end, names, run, samples, signal, words};
use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Begins a command and holds it as soon as it has mapped the file at `path`. Gives whether it was still there to be held.
fn held(args: &[String], path: &Path) -> (Child, bool) {
    let mut child = assetq(args).spawn().unwrap();
    let maps = format!("/proc/{}/maps", child.id());
    let path = path.to_str().unwrap();
    while child.try_wait().unwrap().is_none() {
        if fs::read_to_string(&maps).is_ok_and(|maps| maps.contains(path)) {
            signal(&child, "STOP");
            return (child, true);
        }
        // A loop without a pause takes a core from the command.
        thread::sleep(Duration::from_micros(100));
    }
    (child, false)
}

/// A file in a separate folder, and an empty folder for outputs.
struct Workspace {
    dir: TempDir,
    path: PathBuf,
    out: PathBuf,
}

impl Workspace {
    fn of(bytes: &[u8]) -> Self {
        let dir = TempDir::new().unwrap();
        let (path, out) = (dir.path().join("in.bin"), dir.path().join("out"));
        fs::write(&path, bytes).unwrap();
        fs::create_dir(&out).unwrap();
        Self { dir, path, out }
    }

    fn args(&self, line: &str) -> Vec<String> {
        words(line, self.path.to_str().unwrap(), "other.bin", &self.out)
    }

    /// Runs a command on the file, to which `change` happens as soon as the command has mapped it. Gives whether the
    /// command had not ended by then.
    fn meanwhile(&self, line: &str, change: impl FnOnce(&Self)) -> (Ended, bool) {
        let (child, is_held) = held(&self.args(line), &self.path);
        change(self);
        signal(&child, "CONT");
        (end(child, line), is_held)
    }

    fn file(&self) -> fs::File {
        fs::OpenOptions::new().write(true).open(&self.path).unwrap()
    }
}

/// One line, that names the file and says what became of it.
fn says_that_it_shrank(err: &str, path: &Path) -> bool {
    let expected = format!("assetq: {}: the file became shorter while it was mapped", path.display());
    err.lines().any(|line| line.starts_with(&expected))
}

#[test]
fn a_file_that_shrinks_under_any_command_is_an_error_in_one_line() {
    let whole = fs::read(samples().join("large.bin")).unwrap();
    let (mut met, mut tried) = (0, 0);
    for line in READING {
        for left in [0, whole.len() / 2] {
            let place = Workspace::of(&whole);
            let (ended, _) = place.meanwhile(line, |place| place.file().set_len(left as u64).unwrap());
            let out = names(&place.out);
            let code = ended.status.code();
            // Bytes that were not read again were not missed; a file that was opened again is damaged.
            assert!(matches!(code, Some(0..=5)), "{line} {left}: {ended:?}");
            assert!(!ended.err.contains("panicked"), "{line} {left}: {ended:?}");
            tried += 1;
            if ended.err.contains("became shorter") {
                assert!(code == Some(4) && says_that_it_shrank(&ended.err, &place.path), "{line} {left}: {ended:?}");
                // Of several files those are there that were whole before.
                assert!(out.iter().all(|name| !name.contains(".part")), "{line} {left}: {out:?}");
                assert!(line.contains("OUT/ ") || out.is_empty(), "{line} {left}: {out:?}");
                met += 1;
            }
        }
    }
    // Some of them read no more than the header, and some had ended.
    assert!(met * 3 > tried, "{met} of {tried} runs met the end");
}

/// A map is of the file that was opened: a new one under its name changes nothing.
#[test]
fn a_file_that_is_replaced_under_any_command_changes_nothing() {
    let whole = fs::read(samples().join("assets.bin")).unwrap();
    let other = fs::read(samples().join("other.bin")).unwrap();
    let mut held = 0;
    for line in READING {
        let mut asked = |replace: bool| {
            let place = Workspace::of(&whole);
            let new = place.dir.path().join("new.bin");
            fs::write(&new, &other).unwrap();
            let ended = if replace {
                let (ended, is_held) = place.meanwhile(line, |place| fs::rename(&new, &place.path).unwrap());
                held += usize::from(is_held);
                ended
            } else {
                run(&place.args(line))
            };
            let made: Vec<_> = names(&place.out).into_iter().filter(|name| !name.ends_with(".sqlite")).collect();
            let plain = |text: &str| text.replace(place.dir.path().to_str().unwrap(), "DIR");
            let read = |name: &String| fs::read(place.out.join(name)).unwrap_or_default();
            let made: Vec<_> = made.iter().map(|name| plain(&String::from_utf8_lossy(&read(name)))).collect();
            (ended.status.code(), plain(&ended.out), plain(&ended.err), made)
        };
        // Pages are too long to be shown.
        assert!(asked(true) == asked(false), "{line}");
    }
    // Some commands never map the file, and some had ended.
    assert!(held * 2 > READING.len(), "{held} commands were held");
}

/// Bytes that change under the reader are numbers of the old file or of the new one. Text that was UTF-8 when it was looked
/// at may not be any more, which nothing can promise anything about (see SECURITY.md); all that is asked is that the command
/// ends, and leaves nothing half written.
#[test]
fn a_command_on_a_file_that_is_rewritten_ends_and_leaves_nothing() {
    // A small file: rows whose cells are all damaged are a hundred times as many bytes of text.
    let whole = fs::read(samples().join("assets.bin")).unwrap();
    let mut other = fs::read(samples().join("other.bin")).unwrap();
    other.resize(whole.len(), 0);
    let noise: Vec<u8> = noise(whole.len());
    for line in READING {
        for new in [&other, &noise, &vec![0xFF; whole.len()]] {
            let place = Workspace::of(&whole);
            let (ended, _) = place.meanwhile(line, |place| place.file().write_all(new).unwrap());
            let out = names(&place.out);
            // Only a build with assertions notices invalid text.
            let is_text = ended.err.contains("unsafe precondition") || ended.err.contains("byte index ");
            let is_ended = matches!(ended.status.code(), Some(0..=5)) && !ended.err.contains("panicked");
            assert!(is_ended || is_text, "{line}: {:?} {}", ended.status.signal(), ended.err);
            assert!(out.iter().all(|name| !name.contains(".part")), "{line}: {out:?}");
        }
    }
}

/// With `--no-mmap` none of it is met: the file is a copy.
#[test]
fn a_file_that_is_read_may_change_meanwhile() {
    let whole = fs::read(samples().join("large.bin")).unwrap();
    for line in ["verify FILE", "ls FILE -f csv", "find e FILE", "sql SELECT+*+FROM+paths FILE"] {
        let place = Workspace::of(&whole);
        let mut args = place.args(line);
        let expected = run(&args);
        args.push("--no-mmap".to_owned());
        let mut child = assetq(&args).spawn().unwrap();
        // Long enough for a command to have begun, wherever it is then.
        let mut out = child.stdout.take().unwrap();
        let mut first = [0];
        std::io::Read::read_exact(&mut out, &mut first).unwrap();
        place.file().set_len(0).unwrap();
        let mut rest = Vec::from(first);
        std::io::Read::read_to_end(&mut out, &mut rest).unwrap();
        let ended = end(child, line);
        assert_eq!((ended.status.code(), String::from_utf8(rest).unwrap()), (expected.status.code(), expected.out));
    }
}

fn noise(len: usize) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(5);
    (0..len).map(|_| rng.u8(..)).collect()
}
