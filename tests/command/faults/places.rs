//! Special files under a name: nothing to read, empty, endless, not readable, links in circles; and a thousand files at once.

use super::{Ended, READING, assetq, end, names, run, samples, skipped, words};
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use tempfile::TempDir;

/// Runs a line of [`READING`] on `file`, with an output folder that is to stay empty; gives its code and its errors.
fn refused(line: &str, file: &str) -> (Option<i32>, String) {
    let out = TempDir::new().unwrap();
    let Ended { status, err, .. } = run(&words(line, file, "other.bin", out.path()));
    assert!(names(out.path()).is_empty(), "{line} {file}: {:?}", names(out.path()));
    // A command that finds nothing adds a line.
    let lines = err.lines().filter(|line| !line.contains("was found") && !line.contains(": note: ")).count();
    assert!(lines == 1 && err.starts_with("assetq: "), "{line} {file}: {err}");
    (status.code(), err)
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn an_empty_file_is_no_file_of_any_format() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("empty.bin");
    fs::write(&path, "").unwrap();
    // A list of names may have none, and git shows versions of a file that are empty.
    for line in READING.iter().filter(|line| !line.contains("--names") && !line.starts_with("textconv")) {
        for file in [path.to_str().unwrap(), "/dev/null"] {
            let (code, err) = refused(line, file);
            assert!(code == Some(3) && err.contains("the file is empty (at offset 0x0)"), "{line} {file}: {err}");
        }
    }
}

#[test]
fn links_in_a_circle_and_names_of_nothing_cannot_be_opened() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    symlink(at("loop"), at("loop")).unwrap();
    symlink(at("b"), at("a")).unwrap();
    symlink(at("a"), at("b")).unwrap();
    for line in READING.iter().filter(|line| !line.starts_with("paths-inside")) {
        for name in ["loop", "a", "nothing"] {
            let (code, err) = refused(line, at(name).to_str().unwrap());
            let is_told =
                err.contains("Too many levels of symbolic links") || err.contains("No such file or directory");
            // SQL takes what has no blank in it, and is no file, for a query.
            assert!(code == Some(4) && is_told, "{line} {name}: {code:?} {err}");
        }
    }
}

/// A hole takes neither room on the disk nor time: what is not asked for is not read.
#[test]
fn a_file_of_64_gigabytes_costs_what_is_in_it() {
    let dir = TempDir::new().unwrap();
    for (name, ..) in assetq_sample::FILES {
        let path = dir.path().join(name);
        fs::copy(samples().join(name), &path).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        if let Err(error) = file.set_len(64 << 30) {
            return skipped(&format!("no file of 64 GB can be made here: {error}"));
        }
        let lines: &[&str] = if *name == "assets.bin" { READING } else { &["info FILE", "ls FILE", "verify FILE"] };
        // A command that rewrites a file copies all of it.
        for line in lines.iter().filter(|line| !line.contains("UPDATE") && !line.starts_with("patch")) {
            let out = TempDir::new().unwrap();
            let args = words(line, path.to_str().unwrap(), "assets.bin", out.path());
            let script = "ulimit -d 1000000; exec \"$0\" \"$@\"";
            let mut command = Command::new("sh");
            command.current_dir(samples()).args(["-c", script, crate::common::program()]).args(&args);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let ended = end(command.spawn().unwrap(), line);
            assert!(matches!(ended.status.code(), Some(0..=3)), "{line} {name}: {ended:?}");
        }
    }
}

#[test]
fn a_device_without_end_is_read_up_to_a_bound() {
    for line in ["info FILE", "sql SELECT+1 FILE", "info sheet.wdb --layouts FILE", "info sheet.wdb --key FILE"] {
        let (code, err) = refused(line, "/dev/zero");
        let is_told = err.contains("more than 1073741824 bytes come from what is no file")
            || err.contains("more than 16777216 bytes")
            || err.contains("a key is 256 bytes");
        assert!(matches!(code, Some(2 | 4)) && is_told, "{line}: {err}");
    }
}

/// Of a pipe that is named every byte is read, and once: all commands say what they say of the file.
#[test]
fn a_pipe_is_the_file_that_comes_through_it() {
    for line in READING {
        let asked = |through_pipe: bool| {
            let (dir, out) = (TempDir::new().unwrap(), TempDir::new().unwrap());
            let path = dir.path().join("in.bin");
            let bytes = fs::read(samples().join("assets.bin")).unwrap();
            let writer = if through_pipe {
                fifo(&path);
                let path = path.clone();
                // Who ends before all is written is no failure of the writer.
                Some(thread::spawn(move || drop(fs::write(path, bytes))))
            } else {
                fs::write(&path, bytes).unwrap();
                None
            };
            let ended = run(&words(line, path.to_str().unwrap(), "assets.bin", out.path()));
            // A command that does not open it leaves its writer waiting.
            if let Some(writer) = writer.filter(|writer| !writer.is_finished()) {
                let _ = File::options().read(true).write(true).open(&path);
                writer.join().unwrap();
            }
            let plain = |text: &str| {
                text.replace(dir.path().to_str().unwrap(), "DIR").replace(out.path().to_str().unwrap(), "OUT")
            };
            (ended.status.code(), plain(&ended.out), plain(&ended.err), names(out.path()).len())
        };
        assert_eq!(asked(true), asked(false), "{line}");
    }
}

/// A pipe in a folder may have no writer, and a device has no end: folders skip both.
#[test]
fn pipes_and_devices_in_folders_are_not_waited_for() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    for (name, _, make) in assetq_sample::FOLDERS {
        let mut put = |path: &str, bytes: &[u8]| {
            let path = at(name).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
            Ok(())
        };
        make(3, assetq_sample::Size::Small, &mut put).unwrap();
        // In each of its folders, under the name of each kind of file that is looked for.
        let mut folders = vec![at(name)];
        let mut made = 0;
        while let Some(folder) = folders.pop() {
            let inside: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            for path in &inside {
                if path.is_dir() {
                    folders.push(path.clone());
                } else if let Some(ending) = path.extension() {
                    let ending = ending.to_str().unwrap();
                    let stem = if *name == "ff13" { "filelist_" } else { "zz" };
                    for (kind, pipe) in [("pipe", true), ("zero", false)] {
                        let new = folder.join(format!("{stem}{kind}.{ending}"));
                        match (new.symlink_metadata().is_ok(), pipe) {
                            (true, _) => {}
                            (false, true) => fifo(&new),
                            (false, false) => symlink("/dev/zero", &new).unwrap(),
                        }
                    }
                    made += 1;
                }
            }
        }
        assert!(made > 2, "{name}");
    }
    fs::create_dir(at("plain")).unwrap();
    fs::copy(samples().join("sheet.wdb"), at("plain/sheet.wdb")).unwrap();
    fifo(&at("plain/pipe.wdb"));
    symlink("/dev/zero", at("plain/zero.wdb")).unwrap();
    for name in assetq_sample::FOLDERS.iter().map(|folder| folder.0).chain(["plain"]) {
        let folder = at(name).to_str().unwrap().to_owned();
        for line in ["info FILE", "ls FILE", "find e FILE", "verify FILE", "diff FILE FILE", "extract FILE --to OUT"] {
            let out = TempDir::new().unwrap();
            let ended = run(&words(line, &folder, "", out.path()));
            // A pipe among the indexes of a game is damage, and told.
            assert!(matches!(ended.status.code(), Some(0 | 1 | 3 | 4)), "{line} {name}: {ended:?}");
            let is_told = format!("{}{}", ended.err, ended.out).contains("it is a pipe or a device");
            assert!(is_told || name != "wows" || line.starts_with("diff"), "{line} {name}: {ended:?}");
        }
    }
}

/// A folder that leads into itself by links has each of its files once.
#[test]
fn folders_that_lead_into_themselves_end() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("in/deeper")).unwrap();
    fs::copy(samples().join("sheet.wdb"), at("in/sheet.wdb")).unwrap();
    symlink("..", at("in/deeper/up")).unwrap();
    symlink(".", at("in/self")).unwrap();
    symlink(at("in"), at("in/whole")).unwrap();
    let folder = at("in").to_str().unwrap().to_owned();
    for (code, line) in [
        (0, "info FILE"),
        (0, "find e FILE"),
        (0, "verify FILE"),
        (0, "diff FILE FILE"),
        (0, "diff FILE FILE/self/deeper/up"),
    ] {
        let ended = run(&words(line, &folder, "", dir.path()));
        assert_eq!(ended.status.code(), Some(code), "{line}: {ended:?}");
    }
    fs::create_dir(at("empty")).unwrap();
    let ended = run(&["diff", at("empty").to_str().unwrap(), &folder, "-f", "ndjson"]);
    assert_eq!(ended.out.matches("sheet.wdb").count(), 1, "{ended:?}");
}

/// The command as another user, where this one may become one: the first user may read everything.
fn as_nobody(args: &[String]) -> Option<Command> {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|out| out.stdout == b"0\n");
    let mut command = if is_root {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", crate::common::program()]);
        let works = command.arg("--version").output().is_ok_and(|out| out.status.success());
        if !works {
            skipped("no other user can be had here, and this one may read everything");
            return None;
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", crate::common::program()]);
        command
    } else {
        Command::new(crate::common::program())
    };
    command.current_dir(samples()).args(args).env_remove("ASSETQ_DB").env("ASSETQ_CACHE", "/nowhere");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command)
}

#[test]
fn what_may_not_be_read_or_written_is_said_and_nothing_is_left() {
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    // Others may look into the folders of this test, which are made for its user alone.
    mode(samples(), 0o755);
    let dir = TempDir::new().unwrap();
    mode(dir.path(), 0o755);
    let at = |name: &str| dir.path().join(name);
    fs::copy(samples().join("assets.bin"), at("secret.bin")).unwrap();
    mode(&at("secret.bin"), 0o000);
    for closed in ["closed", "unlisted"] {
        fs::create_dir(at(closed)).unwrap();
        fs::copy(samples().join("assets.bin"), at(closed).join("in.bin")).unwrap();
    }
    mode(&at("closed"), 0o000);
    mode(&at("unlisted"), 0o711);
    fs::create_dir(at("out")).unwrap();
    mode(&at("out"), 0o555);
    for line in READING.iter().filter(|line| !line.starts_with("paths-inside")) {
        for name in ["secret.bin", "closed/in.bin"] {
            let Some(mut command) = as_nobody(&words(line, at(name).to_str().unwrap(), "other.bin", &at("out"))) else {
                return;
            };
            let ended = end(command.spawn().unwrap(), line);
            assert_eq!(ended.status.code(), Some(4), "{line} {name}: {ended:?}");
            assert!(ended.err.contains("ermission denied"), "{line} {name}: {ended:?}");
        }
    }
    // A folder that may not be listed has files that may be named.
    let Some(mut command) = as_nobody(&["info".to_owned(), at("unlisted/in.bin").display().to_string()]) else {
        return;
    };
    assert!(end(command.spawn().unwrap(), "info").status.success());
    for line in ["info FILE", "verify FILE", "find e FILE"] {
        let Some(mut command) = as_nobody(&words(line, at("unlisted").to_str().unwrap(), "", &at("out"))) else {
            return;
        };
        let ended = end(command.spawn().unwrap(), line);
        assert!(ended.status.code() == Some(4) && ended.err.contains("ermission denied"), "{line}: {ended:?}");
    }
    // A file that may not be read is not missing in a folder.
    fs::create_dir(at("mixed")).unwrap();
    for name in ["a.wdb", "b.wdb", "notes.txt"] {
        fs::copy(samples().join("sheet.wdb"), at("mixed").join(name)).unwrap();
    }
    for secret in ["b.wdb", "notes.txt"] {
        mode(&at("mixed").join(secret), 0o000);
        let folder = at("mixed").to_str().unwrap().to_owned();
        for line in
            ["verify FILE", "sql SELECT+count(*)+FROM+records FILE", "ls FILE/*", "ls FILE --strict", "find e FILE"]
        {
            let Some(mut command) = as_nobody(&words(line, &folder, "", &at("out"))) else { return };
            let ended = end(command.spawn().unwrap(), line);
            let is_told = ended.err.contains(&format!("{secret}: cannot open: Permission denied"));
            assert!(ended.status.code() == Some(4) && is_told, "{line} {secret}: {ended:?}");
            assert_eq!(ended.out.is_empty(), line.contains("--strict"), "{line} {secret}: {ended:?}");
        }
        mode(&at("mixed").join(secret), 0o644);
    }
    // Readable folders are not always writable.
    for line in READING.iter().filter(|line| line.contains("OUT") && !line.starts_with("snapshot")) {
        if line.starts_with("extract") || line.starts_with("patch") || line.contains("--with") {
            continue;
        }
        let Some(mut command) = as_nobody(&words(line, "assets.bin", "other.bin", &at("out"))) else { return };
        let ended = end(command.spawn().unwrap(), line);
        assert_eq!(ended.status.code(), Some(4), "{line}: {ended:?}");
        assert!(ended.err.contains("ermission denied") && names(&at("out")).is_empty(), "{line}: {ended:?}");
    }
    mode(&at("closed"), 0o755);
}

/// Files are closed once they are mapped: as many are read at once as there are, with few descriptors.
#[test]
fn a_thousand_files_at_once_need_few_descriptors() {
    let dir = TempDir::new().unwrap();
    let sheet = fs::read(samples().join("sheet.wdb")).unwrap();
    for folder in ["a", "b"] {
        fs::create_dir(dir.path().join(folder)).unwrap();
        (0..1000).for_each(|n| fs::write(dir.path().join(format!("{folder}/{n:04}.wdb")), &sheet).unwrap());
    }
    for line in [
        "info a -f ndjson",
        "verify a -f ndjson",
        "find text_1 a --count -f csv",
        "refs 0x1 a",
        "diff a b --deep",
        "history r0000001 a b",
        "export a --to out -t records --as csv",
        "sql SELECT+count(*)+FROM+\"0999.records\" a",
        "extract a/0001.wdb --to out2",
    ] {
        let asked = |limit: &str| {
            let _ = fs::remove_dir_all(dir.path().join("out"));
            let args = words(line, "", "", dir.path());
            let script = format!("{limit}exec \"$0\" \"$@\"");
            let mut command = Command::new("sh");
            command.args(["-c", &script, crate::common::program()]).args(args).current_dir(dir.path());
            command.env("ASSETQ_CACHE", dir.path().join("cache"));
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let ended = end(command.spawn().unwrap(), line);
            (ended.status.code(), ended.out, ended.err)
        };
        let few = asked("ulimit -n 32; ");
        assert!(!few.2.contains("Too many open files"), "{line}: {}", few.2);
        assert_eq!(few, asked(""), "{line}");
    }
}

/// Where there is no descriptor left at all, that is an error as any other.
#[test]
fn without_descriptors_nothing_is_opened() {
    let script = "ulimit -n 3; exec \"$0\" info assets.bin";
    let mut command = Command::new("sh");
    command.current_dir(samples()).args(["-c", script, crate::common::program()]);
    let ended = end(command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap(), script);
    assert!(!ended.status.success() && !ended.err.contains("panicked"), "{ended:?}");
    let ended = run(&["info", "assets.bin"]);
    assert!(ended.status.success() && assetq(&["--version"]).output().unwrap().status.success(), "{ended:?}");
}
