//! The position of a new file: beside its game, in its pack, and nowhere if the write fails.

#[cfg(unix)]
use super::command::command;
use super::command::{read, run, run_with};
use assetq_sample::Size;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
#[cfg(unix)]
use std::process::Command;
use tempfile::TempDir;

/// A folder that this writes files into.
fn folder(files: impl FnOnce(&mut dyn FnMut(&str, &[u8]))) -> TempDir {
    let dir = TempDir::new().unwrap();
    files(&mut |path, bytes| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    });
    dir
}

fn game() -> TempDir {
    folder(|write| {
        let write = |path: &str, bytes: &[u8]| {
            write(&format!("game/{path}"), bytes);
            Ok::<_, std::convert::Infallible>(())
        };
        assetq_sample::wows::game(3, Size::Small, write).unwrap();
    })
}

/// All files below a folder, by their paths, with their bytes.
fn all(dir: &Path) -> BTreeSet<(String, Vec<u8>)> {
    let mut files = BTreeSet::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(dir).unwrap().to_string_lossy().replace('\\', "/");
                    files.insert((name, fs::read(path).unwrap()));
                }
            }
        }
    }
    files
}

/// Windows would write to the device, and the game would find no file.
#[cfg(unix)]
#[test]
fn a_mod_whose_name_is_a_device_on_windows_is_refused() {
    let dir = game();
    for name in ["NUL.splash", "con/hull.splash", "LPT1"] {
        let path = dir.path().join("game/bin/7100000/res/content").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, assetq_sample::geometry::demo_splash(1, Size::Small)).unwrap();
    }
    let patch = "{\"change\":\"changed\",\"key\":\"CM_SB_bow_0\",\"new\":{\"min_x\":-1e6}}\n";
    let before = all(dir.path());
    for name in ["NUL.splash", "con/hull.splash", "LPT1"] {
        let file = format!("game:content/{name}");
        let (_, said) = run_with(dir.path(), 3, &["patch", &file, "-", "--to", "res_mods"], patch);
        assert!(
            said.contains("is not written, as its name is not fit for a file: it is a device on Windows"),
            "{said}"
        );
    }
    assert_eq!(all(dir.path()), before);
}

#[test]
fn a_mod_lands_in_the_newest_folder_of_mods_and_no_volume_is_written() {
    let dir = game();
    let before = all(dir.path());
    let (list, _) = run(dir.path(), 0, &["ls", "game", "*.splash", "-f", "csv"]);
    let inner = list.lines().nth(1).unwrap().split(',').next().unwrap().to_owned();
    let file = format!("game:{inner}");
    let (boxes, _) = run(dir.path(), 0, &["ls", &file, "-f", "csv"]);
    let name = boxes.lines().nth(1).unwrap().split(',').next().unwrap().to_owned();
    let patch = format!("{{\"change\":\"changed\",\"key\":\"{name}\",\"new\":{{\"min_x\":-1e6}}}}\n");
    let args = ["patch", &file, "-", "--to", "res_mods", "--undo", "undo.ndjson"];
    let (shown, said) = run_with(dir.path(), 0, &args, &patch);
    assert!(shown.starts_with(&format!("~ boxes {name}\n    min_x: ")), "{shown}");
    let place = format!("game/res_mods/0.10.0.0/{inner}");
    let said = said.replace('\\', "/");
    assert!(said.contains(&format!("the game takes {place} over its own file")), "{said}");
    let mut after = all(dir.path());
    after.retain(|file| !before.contains(file));
    assert_eq!(after.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), [place.as_str(), "undo.ndjson"]);
    // The mod is what the game has from now on, and its undo gives the bytes of the volume.
    let (shown, _) = run(dir.path(), 0, &["ls", &file, "-f", "csv"]);
    assert!(shown.contains("-1000000"), "{shown}");
    run(dir.path(), 4, &["patch", &file, "undo.ndjson", "--to", "res_mods"]);
    run(dir.path(), 0, &["patch", &place, "undo.ndjson", "--in-place"]);
    // A mod is written into the folder of mods, and not through a link to another folder.
    #[cfg(unix)]
    {
        let (mods, elsewhere) = (dir.path().join("game/res_mods/0.10.0.0/content"), dir.path().join("elsewhere"));
        fs::rename(&mods, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &mods).unwrap();
        let (_, said) = run_with(dir.path(), 4, &[&args[..5], &["--force"]].concat(), &patch);
        assert!(said.contains("leads out of"), "{said}");
    }
    let refused =
        "--to res_mods is for files of the newest build in a World of Warships folder that has res_mods/VERSION";
    let old_build = format!("game@{}", assetq_sample::wows::BUILDS[0]);
    let of_old_build = format!("{old_build}:content/assets.bin");
    let (_, said) = run_with(dir.path(), 2, &["patch", &of_old_build, "-", "--to", "res_mods"], &patch);
    assert!(said.contains(refused), "{said}");
    fs::remove_dir_all(dir.path().join("game/res_mods")).unwrap();
    let (_, said) = run_with(dir.path(), 2, &["patch", &file, "-", "--to", "res_mods"], &patch);
    assert!(said.contains(refused), "{said}");
    let (_, said) = run_with(dir.path(), 2, &["patch", &file, "-", "--in-place"], &patch);
    assert!(said.contains("not written in place"), "{said}");
}

#[test]
fn a_sheet_in_a_pack_in_a_game_is_written_with_its_pack() {
    let dir = folder(|write| {
        assetq_sample::white::folder(3, Size::Small, assetq::formats::ff13::white::GameKind::First, |path, bytes| {
            write(path, &bytes)
        });
    });
    let before = all(dir.path());
    let pack = "white_data:db/resident/wdbpack.bin";
    let (list, _) = run(dir.path(), 0, &["ls", pack, "-f", "csv"]);
    let sheet = list.lines().find(|line| line.contains("wdb")).unwrap();
    let sheet: Vec<&str> = sheet.split(',').collect();
    let sheet = format!("{}.{}", sheet[0], sheet[1]);
    let file = format!("{pack}:{sheet}");
    let (rows, _) = run(dir.path(), 0, &["export", &file, "--to", "-", "--as", "ndjson"]);
    // Nothing to change: the pack as it is in the game.
    run_with(dir.path(), 0, &["patch", &file, "-", "--to", "same.bin"], &rows);
    run(dir.path(), 0, &["extract", pack.split_once(':').unwrap().0, "db/resident/wdbpack.bin", "--to", "out"]);
    assert_eq!(read(&dir, "same.bin"), read(&dir, "out/db/resident/wdbpack.bin"));
    let first = rows.lines().next().unwrap();
    let (name, number) = first
        .split(",\"")
        .filter_map(|cell| cell.trim_end_matches('}').split_once("\":"))
        .find(|(_, value)| value.parse::<f64>().is_ok())
        .unwrap();
    let other = if number == "1" { "0" } else { "1" };
    let edited = first.replace(&format!("\"{name}\":{number}"), &format!("\"{name}\":{other}"));
    let (shown, _) = run_with(dir.path(), 0, &["patch", &file, "-", "--to", "new.bin", "-f", "ndjson"], &edited);
    assert_eq!(shown.lines().count(), 1, "{shown}");
    run(dir.path(), 0, &["verify", "new.bin"]);
    let (again, _) = run(dir.path(), 0, &["export", &format!("new.bin:{sheet}"), "--to", "-", "--as", "ndjson"]);
    assert_eq!(again, rows.replacen(first, &edited, 1));
    let (_, said) = run_with(dir.path(), 2, &["patch", &file, "-", "--in-place"], &edited);
    assert!(said.contains("not written in place"), "{said}");
    assert!(before.is_subset(&all(dir.path())), "the game is as it was");
}

/// The second undo file has a name that is too long; the first one got a folder of its own.
#[test]
fn an_edit_of_many_files_that_fails_leaves_no_folders() {
    let long = format!("{}.wdb", "l".repeat(248));
    let dir = folder(|write| {
        for name in ["sheets/more/a.wdb", &format!("sheets/{long}")] {
            write(name, &assetq_sample::wdb::demo(1, Size::Small));
        }
    });
    let before = all(dir.path());
    let update = "UPDATE records SET u7Race = 1";
    let (_, said) = run(dir.path(), 4, &["sql", update, "sheets", "--in-place", "--undo", "new/undo"]);
    assert!(said.contains("0 of 2 files were changed") && all(dir.path()) == before, "{said}");
    assert!(!dir.path().join("new").exists());
    fs::remove_file(dir.path().join("sheets").join(long)).unwrap();
    run(dir.path(), 0, &["sql", update, "sheets", "--in-place", "--undo", "new/undo"]);
    assert!(dir.path().join("new/undo/more/a.wdb.ndjson").exists());
}

/// A map, an edit of it, and what writes that over it.
#[cfg(unix)]
fn map() -> (TempDir, [&'static str; 6]) {
    let dir = folder(|write| {
        write("town.wdata", &assetq_sample::wdata::demo(3, Size::Full));
        let patch =
            b"{\"table\":\"portal_boxes\",\"change\":\"changed\",\"key\":\"portal_000\",\"new\":{\"pos_x\":1.5}}\n";
        write("mod.ndjson", patch);
    });
    (dir, ["patch", "town.wdata", "mod.ndjson", "--in-place", "--undo", "undo.ndjson"])
}

#[cfg(unix)]
fn names(dir: &Path) -> BTreeSet<String> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[cfg(unix)]
#[test]
fn a_disk_that_becomes_full_leaves_the_old_file() {
    let (dir, args) = map();
    let old = all(dir.path());
    let size = read(&dir, "town.wdata").len();
    // A limit on files in blocks of 512 bytes; the last limits suffice for the map but not for the rest.
    for blocks in [0, 1, size / 1024, size / 512] {
        for to in [&args[..], &["patch", "town.wdata", "mod.ndjson", "--to", "new.wdata"]] {
            let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
            let mut limited = Command::new("sh");
            limited.current_dir(dir.path()).args(["-c", &script, crate::common::program()]).args(to);
            let out = limited.output().unwrap();
            let said = String::from_utf8_lossy(&out.stderr);
            assert_eq!(out.status.code(), Some(4), "{blocks}: {said}");
            assert!(said.contains("cannot write: File too large"), "{said}");
            assert!(all(dir.path()) == old, "{blocks}: {:?}", names(dir.path()));
        }
    }
    let undo = ["patch", "town.wdata", "mod.ndjson", "--in-place", "--undo", "/dev/full"];
    let (_, said) = run(dir.path(), 4, &undo);
    assert!(said.contains("/dev/full: cannot write: No space left on device"), "{said}");
    assert!(all(dir.path()) == old, "without a way back nothing is written over");
    let (_, said) = run(dir.path(), 2, &["patch", "town.wdata", "mod.ndjson", "--to", "/dev/full", "--force"]);
    assert!(said.contains("is no file, so what is written there cannot be read back"), "{said}");
}

#[cfg(unix)]
#[test]
fn other_names_of_a_file_on_disk_are_named_as_they_keep_the_old_bytes() {
    let dir = super::command::folder();
    let old = read(&dir, "old.wdb");
    fs::hard_link(dir.path().join("old.wdb"), dir.path().join("same.wdb")).unwrap();
    let edit = ["sql", "UPDATE records SET u9Index = 5", "old.wdb", "--in-place"];
    let said = run(dir.path(), 0, &edit).1;
    assert!(said.contains("old.wdb: note: 1 other name of the same file on disk: the old bytes stay there"), "{said}");
    assert!(read(&dir, "same.wdb") == old && read(&dir, "old.wdb") != old);
    assert!(!run(dir.path(), 0, &edit).1.contains("other name"));
}

/// A closed and a full standard output stop no edit half done.
#[cfg(target_os = "linux")]
#[test]
fn a_lost_output_stops_no_edit_of_many_files() {
    let dir = super::command::folder();
    fs::create_dir(dir.path().join("many")).unwrap();
    for name in ["a.wdb", "b.wdb", "c.wdb"] {
        fs::copy(dir.path().join("old.wdb"), dir.path().join("many").join(name)).unwrap();
    }
    let edit = |index: u32, file: &str, out: std::process::Stdio, more: &[&str]| {
        let query = format!("UPDATE records SET u9Index = {index}");
        let mut command = Command::new(crate::common::program());
        let command = command.current_dir(dir.path()).args(["sql", &query, file, "--in-place"]).args(more);
        let ended =
            command.stdout(out).stderr(std::process::Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        (ended.status.code().unwrap(), String::from_utf8(ended.stderr).unwrap())
    };
    let closed = || std::process::Stdio::from(std::io::pipe().unwrap().1);
    let indexes = |file: &str| {
        let query = "SELECT DISTINCT u9Index FROM records";
        run(dir.path(), 0, &["sql", query, file, "-f", "csv"]).0
    };
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let (code, said) = edit(41, "many", full.into(), &[]);
    assert!(code == 4 && said.contains("standard output: cannot write: No space"), "{code} {said}");
    assert_eq!(indexes("many"), "u9Index\r\n41\r\n");
    let (code, said) = edit(42, "many", closed(), &[]);
    assert!(code == 0 && said.contains("many: 3 files changed"), "{code} {said}");
    assert_eq!(indexes("many"), "u9Index\r\n42\r\n");
    // The only way back is written before the file.
    let before = indexes("old.wdb");
    let (code, said) = edit(43, "old.wdb", closed(), &["--undo", "-"]);
    assert!(code == 4 && said.contains("Broken pipe") && said.contains("; nothing is written"), "{code} {said}");
    assert_eq!(indexes("old.wdb"), before);
}

#[cfg(unix)]
#[test]
fn a_write_that_is_interrupted_leaves_the_old_file_or_the_new_one() {
    use std::time::{Duration, Instant};
    let (dir, args) = map();
    let (old, patch) = (read(&dir, "town.wdata"), read(&dir, "mod.ndjson"));
    let is_part = |name: &String| name.starts_with(".assetq-") && name.ends_with(".part");
    // Runs it; where there is a signal, for so long after it has begun to write. Gives how long it took from there.
    let run = |signal: Option<&str>, wait: Duration| {
        let mut child = command(dir.path(), &args).spawn().unwrap();
        while child.try_wait().unwrap().is_none() && !names(dir.path()).iter().any(is_part) {
            std::thread::yield_now();
        }
        let begun = Instant::now();
        if let Some(signal) = signal {
            while begun.elapsed() < wait && child.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            // It may be through already.
            let _ = Command::new("kill").args([signal, &child.id().to_string()]).output();
        }
        child.wait().unwrap();
        begun.elapsed()
    };
    let took = run(None, Duration::ZERO);
    let (new, undo) = (read(&dir, "town.wdata"), read(&dir, "undo.ndjson"));
    assert!(new != old && names(dir.path()).len() == 3);
    for signal in ["-INT", "-KILL"] {
        for tenths in [0, 1, 3, 5, 7, 9] {
            fs::write(dir.path().join("town.wdata"), &old).unwrap();
            fs::remove_file(dir.path().join("undo.ndjson")).ok();
            run(Some(signal), took * tenths / 10);
            let now = read(&dir, "town.wdata");
            assert!(now == old || now == new, "{signal} after {tenths} tenths: a mixture");
            let mut left = names(dir.path());
            // A killed process cleans nothing up, and leaves a file that no game loads.
            if signal == "-KILL" {
                left.iter()
                    .filter(|name| is_part(name))
                    .for_each(|name| fs::remove_file(dir.path().join(name)).unwrap());
                left.retain(|name| !is_part(name));
            }
            match left.remove("undo.ndjson") {
                true => assert_eq!(read(&dir, "undo.ndjson"), undo),
                false => assert!(now == old, "{signal} after {tenths} tenths: no way back"),
            }
            assert_eq!(left, ["mod.ndjson", "town.wdata"].map(str::to_owned).into(), "{signal} after {tenths} tenths");
            assert_eq!(read(&dir, "mod.ndjson"), patch);
        }
    }
}
