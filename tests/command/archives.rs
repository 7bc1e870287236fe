//! Archives as people ask them: the folder of a game, its builds, and the files inside.

use assetq::formats::wows::game_folder::Variant;
use assetq_sample::Size;
use assetq_sample::wows::{BUILDS, FileEntry, How, Package, game};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use tempfile::TempDir;

/// Writes a small game of two builds into `folder`.
pub(crate) fn write_game(folder: &Path) {
    game(1, Size::Small, |path, bytes| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap())?;
        fs::write(path, bytes)
    })
    .unwrap();
}

/// A small game of two builds.
static GAME: LazyLock<TempDir> = LazyLock::new(|| {
    let dir = TempDir::new().unwrap();
    write_game(&dir.path().join("game"));
    dir
});

fn assetq(args: &[&str]) -> Output {
    Command::new(crate::common::program())
        .current_dir(GAME.path())
        .args(args)
        .env_remove("ASSETQ_DB")
        .env("ASSETQ_CACHE", GAME.path().join("cache"))
        .output()
        .unwrap()
}

/// Standard output and standard error of a run that ends with `code`.
fn run(code: i32, args: &[&str]) -> (String, String) {
    let out = assetq(args);
    let (stdout, stderr) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert_eq!(out.status.code(), Some(code), "assetq {args:?}\n{stdout}{stderr}");
    (stdout, stderr)
}

fn json(code: i32, args: &[&str]) -> Vec<Json> {
    let args: Vec<&str> = args.iter().copied().chain(["-f", "json"]).collect();
    serde_json::from_str(&run(code, &args).0).unwrap()
}

fn json_of(args: &[&str]) -> Json {
    serde_json::from_str(&run(0, &[args, &["-f", "json"]].concat()).0).unwrap()
}

fn texts<'j>(rows: &'j [Json], column: &str) -> BTreeSet<&'j str> {
    rows.iter().filter_map(|row| row[column].as_str()).collect()
}

#[test]
fn a_file_inside_answers_as_one_outside() {
    let out = TempDir::new().unwrap();
    let to = out.path().to_str().unwrap();
    run(0, &["extract", "game", "content/assets.bin", "--to", to]);
    let outside = out.path().join("content/assets.bin");
    let outside = outside.to_str().unwrap();
    for args in [&["ls", "FILE", "-f", "csv"][..], &["find", "--count", "a", "FILE", "-f", "csv"], &["verify", "FILE"]]
    {
        let of = |file| run(0, &args.iter().map(|a| if *a == "FILE" { file } else { *a }).collect::<Vec<_>>()).0;
        assert_eq!(of("game:content/assets.bin").replace("game:content/assets.bin", outside), of(outside), "{args:?}");
    }
    // A file that is stored as it is has the offsets of its own, too.
    run(0, &["sample", "samples", "--seed", "1"]);
    run(0, &["extract", "samples/pack.bin", "--to", to]);
    for entry in json(0, &["ls", "samples/pack.bin", "--where", "extension = 'wdb'"]) {
        let sheet = format!("{}.wdb", entry["name"].as_str().unwrap());
        let (inside, outside) = (format!("samples/pack.bin:{sheet}"), format!("{to}/{sheet}"));
        let sections = |file: &str| json_of(&["info", file])["sections"].clone();
        assert_eq!(sections(&inside), sections(&outside));
        assert_eq!(sections(&inside)[0]["offset"], 0);
    }
    let bytes = assetq(&["extract", "game", "content/assets.bin", "--to", "-"]).stdout;
    assert_eq!(bytes, fs::read(outside).unwrap());
    let (_, err) = run(1, &["ls", "game:content/Assets.bin"]);
    assert!(err.contains("did you mean \"content/assets.bin\"?"), "{err}");
    let (_, err) = run(2, &["ls", "game:content/assets.bin:more"]);
    assert!(err.contains("is no archive"), "{err}");
}

#[cfg(unix)]
#[test]
fn names_of_files_that_are_not_utf8_are_shown_by_their_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let dir = TempDir::new().unwrap();
    for name in [&b"caf\xe9.geometry"[..], b"caf\xe8.geometry"] {
        let bytes = assetq_sample::geometry::many(1, 60, 1);
        std::fs::write(dir.path().join(OsStr::from_bytes(name)), bytes).unwrap();
    }
    for files in [".", "*.geometry"] {
        let query = ["sql", "SELECT file FROM vertex_buffers", files, "-f", "csv"];
        let (rows, _) = crate::common::run(dir.path(), 0, &query);
        let names: Vec<&str> = rows.lines().skip(1).map(|name| name.trim_start_matches("./")).collect();
        assert_eq!(names, [r"caf\xe8.geometry", r"caf\xe9.geometry"]);
    }
}

#[cfg(unix)]
#[test]
fn a_folder_whose_name_is_not_utf8_is_an_archive_too() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let dir = TempDir::new().unwrap();
    std::os::unix::fs::symlink(GAME.path().join("game"), dir.path().join(OsStr::from_bytes(b"caf\xe9"))).unwrap();
    let rows = |address: &OsStr| {
        let out = Command::new(crate::common::program())
            .current_dir(dir.path())
            .args(["find", "a", "--format", "csv", "--no-cache"])
            .arg(address)
            .output()
            .unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        out.stdout.split(|byte| *byte == b'\n').count()
    };
    let inside = rows(OsStr::from_bytes(b"caf\xe9:content/assets.bin"));
    assert!(inside > 2);
    assert_eq!(rows(OsStr::from_bytes(b"caf\xe9:content/*.bin")), inside);
    let build = [b"caf\xe9@", BUILDS[0].to_string().as_bytes(), b":content/assets.bin"].concat();
    assert!(rows(OsStr::from_bytes(&build)) > 2);
}

#[test]
fn the_game_is_the_database_of_ids() {
    let path = json(0, &["ls", "game:content/assets.bin", "-t", "visuals", "-n", "1"])[0]["path"].clone();
    let path = path.as_str().unwrap();
    let inside = json(0, &["resolve", path, "--db", "game:content/assets.bin"]);
    assert_eq!(json(0, &["resolve", path, "--db", "game"]), inside);
    assert_eq!(inside[0]["type"], "VisualPrototype");
    // Also from inside of the game's folder.
    let out = Command::new(crate::common::program())
        .current_dir(GAME.path().join("game/res_packages"))
        .env_remove("ASSETQ_DB")
        .args(["resolve", path, "-f", "json"])
        .output()
        .unwrap();
    assert_eq!(serde_json::from_slice::<Vec<Json>>(&out.stdout).unwrap(), inside);
    assert_eq!(json(0, &["string", "diffuseMap", "--db", "game"])[0]["id"], "0x820F0280");
    assert!(!json(0, &["refs", path, "game"]).is_empty());
}

#[test]
fn sql_joins_the_files_of_a_game_with_tables_inside() {
    let query = "SELECT count(*) AS n FROM game.files f JOIN assets.resources r ON r.id = f.id";
    let joined = json(0, &["sql", query, "game", "game:content/assets.bin"]);
    let files = json(0, &["ls", "game"]);
    let (ids, resources) = (texts(&files, "id"), json(0, &["ls", "game:content/assets.bin", "-t", "resources"]));
    let both = texts(&resources, "id").intersection(&ids).count();
    assert_eq!(joined[0]["n"].as_u64().unwrap(), both as u64);
}

#[test]
fn builds_are_compared_by_their_indexes_and_deeper_by_what_changed() {
    let [old, new] = BUILDS;
    let (old_game, new_game) = (format!("game@{old}"), format!("game@{new}"));
    let rows = json(1, &["diff", &old_game, &new_game]);
    let (before, after) = (json(0, &["ls", &old_game]), json(0, &["ls", &new_game]));
    let (before, after) = (texts(&before, "path"), texts(&after, "path"));
    let of = |change: &str| rows.iter().filter(|r| r["change"] == change).cloned().collect::<Vec<_>>();
    let (added, removed, changed) = (of("added"), of("removed"), of("changed"));
    assert_eq!(texts(&added, "key"), after.difference(&before).copied().collect());
    assert_eq!(texts(&removed, "key"), before.difference(&after).copied().collect());
    let database = changed.iter().find(|row| row["key"] == "content/assets.bin").unwrap();
    assert_ne!(database["old"]["crc32"], database["new"]["crc32"]);

    let deep = json(1, &["diff", &old_game, &new_game, "--deep"]);
    assert_eq!(deep[..rows.len()], rows);
    let inner = &deep[rows.len()..];
    for path in ["content/assets.bin", "content/GameParams.data"] {
        let of_file =
            inner.iter().filter(|row| row["table"].as_str().unwrap().starts_with(&format!("{path}:"))).count();
        let (a, b) = (format!("{old_game}:{path}"), format!("{new_game}:{path}"));
        assert_eq!(of_file, json(1, &["diff", &a, &b]).len(), "{path}");
    }
    assert_eq!(texts(&changed, "key").len(), 2);
    let (text, _) = run(1, &["diff", &old_game, &new_game, "--deep"]);
    assert!(text.contains("content/assets.bin:resources: "), "{text}");
    assert_eq!(json(0, &["diff", &new_game, "game"]), [] as [Json; 0]);
    let (_, err) = run(1, &["ls", "game@1"]);
    assert!(err.contains(new) && err.contains(old), "{err}");
}

#[test]
fn a_snapshot_stands_for_a_build() {
    let dir = TempDir::new().unwrap();
    let to = dir.path().join("builds");
    let to = to.to_str().unwrap();
    let [old, new] = BUILDS;
    run(0, &["snapshot", &format!("game@{old}"), "--to", to]);
    let rows = json(0, &["snapshot", "game", "--to", to, "spaces/*"]);
    assert!(texts(&rows, "path").iter().any(|path| path.ends_with("models.bin")));
    run(4, &["snapshot", "game", "--to", to]);
    run(0, &["snapshot", "game", "--to", to, "--force"]);
    // It lists the same files, and contains the bytes of the database.
    let without_places = |args: &[&str]| {
        let rows =
            json(0, args).into_iter().map(|r| (r["path"].to_string(), r["id"].to_string(), r["size"].to_string()));
        rows.collect::<BTreeSet<_>>()
    };
    let kept = without_places(&["ls", &format!("{to}@{old}")]);
    assert_eq!(kept, without_places(&["ls", &format!("game@{old}")]));
    let inside = |game: &str| run(0, &["ls", &format!("{game}:content/assets.bin"), "-f", "csv"]).0;
    assert_eq!(inside(to), inside("game"));
    let diff = |a: &str, b: &str| json(1, &["diff", a, b]).len();
    assert!(diff(&format!("{to}@{old}"), "game") > 0);
    assert!(!fs::read_dir(Path::new(to).join("bin")).unwrap().any(|entry| {
        let name = entry.unwrap().file_name();
        name.to_string_lossy().starts_with('.')
    }));
    assert_eq!(new, json(0, &["ls", to, "-t", "builds"])[0]["build"]);
}

/// No index lists a loose file.
#[test]
fn a_snapshot_of_a_build_does_not_differ_from_it() {
    let dir = TempDir::new().unwrap();
    let [game, to] = ["game", "builds"].map(|name| dir.path().join(name));
    write_game(&game);
    for build in BUILDS {
        let texts = game.join("bin").join(build).join("res/texts/en/LC_MESSAGES");
        fs::create_dir_all(&texts).unwrap();
        fs::write(texts.join("global.mo"), build).unwrap();
        let [of_game, of_snapshot] = [&game, &to].map(|game| format!("{}@{build}", game.to_str().unwrap()));
        run(0, &["snapshot", &of_game, "--to", to.to_str().unwrap()]);
        for [a, b] in [[&of_game, &of_snapshot], [&of_snapshot, &of_game]] {
            assert_eq!(run(0, &["diff", a, b]).0, "no differences\n");
        }
        let kept = to.join("bin").join(build).join("res/texts/en/LC_MESSAGES/global.mo");
        assert_eq!(fs::read_to_string(kept).unwrap(), build);
    }
    let [a, b] = [game, to].map(|path| path.to_str().unwrap().to_owned());
    let (_, said) = run(1, &["snapshot", &a, "--to", &format!("{b}2"), "nothing/*"]);
    assert!(said.contains("nothing in it matches"), "{said}");
}

#[test]
fn a_file_that_moved_is_told_as_one() {
    use assetq::formats::wows::game_folder::Variant;
    use assetq_sample::wows::{How, Package};
    let dir = TempDir::new().unwrap();
    let build = |build: &str, files: &[(&str, &str)]| {
        let mut package = Package::new(Variant::V2, &format!("a{build}.pkg"));
        for (path, text) in files {
            package.file(path, text.as_bytes(), How::Stored);
        }
        let folder = dir.path().join("bin").join(build).join("idx");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.idx"), package.index()).unwrap();
    };
    build("1", &[("a/one.txt", "one"), ("a/two.txt", "two"), ("a/empty.txt", "")]);
    build("2", &[("b/one.txt", "one"), ("a/TWO.txt", "two"), ("b/empty.txt", "")]);
    let game = dir.path().to_str().unwrap();
    let rows = json(1, &["diff", &format!("{game}@1"), game]);
    let told: BTreeSet<_> = rows
        .iter()
        .map(|row| [&row["change"], &row["key"], &row["old"]["path"]].map(|t| t.as_str().unwrap_or("").to_owned()))
        .collect();
    let expected = [
        ["changed", "b/one.txt", "a/one.txt"],
        ["changed", "a/TWO.txt", "a/two.txt"],
        // An empty file may have come from anywhere.
        ["removed", "a/empty.txt", ""],
        ["added", "b/empty.txt", ""],
    ];
    assert_eq!(told, expected.map(|row| row.map(str::to_owned)).into());
}

#[test]
fn many_files_are_drawn_and_verified_at_once() {
    let out = TempDir::new().unwrap();
    let to = out.path().join("ships");
    run(0, &["export", "game", "content/*.geometry", "--to", to.to_str().unwrap(), "--as", "glb"]);
    let files = json(0, &["ls", "game", "content/*.geometry"]);
    assert!(files.len() > 1);
    for path in texts(&files, "path") {
        let glb = to.join(Path::new(path).with_extension("glb"));
        assert!(fs::read(&glb).unwrap().starts_with(b"glTF"), "{}", glb.display());
    }
    let reports = json(0, &["verify", "game:content/*.geometry", "game:spaces/*"]);
    assert!(reports.len() > files.len() && reports.iter().all(|report| report["ok"] == true));
    let report = json(0, &["verify", "game", "--deep"]);
    let contents = report[0]["checks"].as_array().unwrap().iter().find(|check| check["name"] == "contents").unwrap();
    let detail = contents["detail"].as_str().unwrap();
    assert!(detail.contains("not installed") && detail.contains("not checked"), "{detail}");
}

#[test]
fn what_cannot_be_extracted_is_named_and_the_rest_is_there() {
    let out = TempDir::new().unwrap();
    let (stdout, err) = run(3, &["extract", "game", "--to", out.path().to_str().unwrap(), "-f", "csv"]);
    let files = json(0, &["ls", "game"]);
    let refused = |row: &&Json| row["codec"] == "oodle" || row["installed"] == false;
    let refused = files.iter().filter(refused).count();
    assert!(refused >= 2);
    assert_eq!(stdout.lines().count() - 1 + refused, files.len());
    assert_eq!(err.lines().count(), refused, "{err}");
    assert!(err.contains("is not installed") && err.contains("$ASSETQ_OODLE"), "{err}");
    let (_, err) = run(1, &["extract", "game", "gui/battle/aim.xml", "--to", out.path().to_str().unwrap()]);
    assert!(err.contains("is not installed"), "{err}");
}

#[test]
fn an_error_names_the_address_once_and_where_it_is_on_disk() {
    let dir = TempDir::new().unwrap();
    write_game(dir.path());
    let volume = dir.path().join("res_packages/content_0001.pkg");
    let mut bytes = fs::read(&volume).unwrap();
    bytes[..64].fill(0xFF);
    fs::write(volume, bytes).unwrap();
    let index = dir.path().join(format!("bin/{}/idx/spaces.idx", BUILDS[1]));
    let bytes = fs::read(&index).unwrap();
    fs::write(index, &bytes[..700]).unwrap();
    let game = dir.path().to_str().unwrap();
    let address = format!("{game}:content/assets.bin");
    let (_, err) = run(3, &["info", &address]);
    let [error] = err.lines().collect::<Vec<_>>()[..] else { panic!("{err}") };
    let place = "data in content_0001.pkg at 0x0: deflate: ";
    assert!(error.starts_with(&format!("assetq: {address}: {place}")) && !error.contains("(at offset"), "{err}");
    // A missing file may be in the damaged part.
    let (_, err) = run(3, &["info", &format!("{game}:spaces/sample/space.bin")]);
    assert!(err.contains("is not in the readable part of the list: spaces.idx: "), "{err}");
}

#[cfg(unix)]
#[test]
fn a_shell_completes_paths_inside() {
    use assetq_sample::wdb;
    let (script, _) = run(0, &["completions", "bash"]);
    let script_file = GAME.path().join("completions.bash");
    fs::write(&script_file, script).unwrap();
    let complete = |word: &str| {
        let test = format!(
            "source {}; COMP_LINE='assetq ls {word}'; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({} ls {word}); \
             _assetq_inside assetq; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script_file.display(),
            crate::common::program(),
        );
        let out = Command::new("bash").current_dir(GAME.path()).args(["-c", &test]).output().unwrap();
        String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    if Command::new("bash").arg("--version").output().is_err() {
        return eprintln!("skipped: there is no bash");
    }
    assert_eq!(complete("game:content/ass"), ["content/assets.bin"]);
    let folders = complete("game:");
    assert!(folders.contains(&"content/".to_owned()) && folders.contains(&"spaces/".to_owned()), "{folders:?}");
    assert!(complete("game:nothing/").concat().is_empty());
    // Names with a colon, and archives in each other.
    let sheet = || wdb::demo(1, Size::Small);
    let inner = wdb::pack(&[("deep", "wdb", sheet())]);
    let pack = wdb::pack(&[("we:ird", "wdb", sheet()), ("inner", "bin", inner)]);
    fs::write(GAME.path().join("pack.bin"), pack).unwrap();
    assert_eq!(complete("pack.bin:we"), ["we:ird.wdb"]);
    assert_eq!(complete("pack.bin:we:i"), ["ird.wdb"]);
    assert_eq!(complete("pack.bin:inner.bin:"), ["deep.wdb"]);
}

#[test]
fn archives_in_each_other_are_opened_up_to_a_limit() {
    use assetq_sample::wdb;
    let dir = TempDir::new().unwrap();
    let mut file = wdb::pack(&[("sheet", "wdb", wdb::demo(1, Size::Small))]);
    for _ in 0..16 {
        file = wdb::pack(&[("in", "bin", file)]);
    }
    fs::write(dir.path().join("pack.bin"), file).unwrap();
    let address = |packs: usize| format!("pack.bin{}", ":in.bin".repeat(packs));
    assert!(crate::common::run(dir.path(), 0, &["ls", &address(15)]).0.contains("in"));
    let too_deep = "pack.bin: archives in each other: 17 is more than the limit of 16";
    for args in [["info", &format!("{}:sheet.wdb", address(16))], ["ls", &address(17)]] {
        let (_, err) = crate::common::run(dir.path(), 3, &args);
        assert!(err.contains(too_deep), "{args:?}: {err}");
    }
}

/// All files below a folder, with their bytes.
fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    files
}

#[test]
fn a_snapshot_replaces_nothing_but_a_snapshot() {
    let dir = TempDir::new().unwrap();
    let [game_dir, builds] = ["game", "builds"].map(|name| dir.path().join(name));
    write_game(&game_dir);
    let [game, to] = [&game_dir, &builds].map(|path| path.to_str().unwrap());
    let before = files_below(&game_dir);
    let [inner, upper] = [format!("{game}/deep/er"), format!("{game}/bin/../../game")];
    let mut own = vec![game, &inner, &upper];
    let [link, bin] = ["link", "half/bin"].map(|name| dir.path().join(name));
    if cfg!(unix) {
        fs::create_dir(dir.path().join("half")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&game_dir, &link).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(game_dir.join("bin"), &bin).unwrap();
        own.extend([link.to_str().unwrap(), bin.parent().unwrap().to_str().unwrap()]);
    }
    for to in own {
        for force in [&["--force"][..], &[]] {
            let (_, err) = run(2, &[&["snapshot", game, "--to", to], force].concat());
            assert!(err.contains("the archive lies there; a snapshot needs another folder"), "{err}");
        }
    }
    assert!(files_below(&game_dir) == before);
    // A folder with a foreign file is kept, whether the file is new or changed.
    run(0, &["snapshot", game, "--to", to]);
    run(0, &["snapshot", game, "--to", to, "--force"]);
    let home = builds.join("bin").join(BUILDS[1]);
    let index = files_below(&home.join("idx")).into_keys().next().unwrap();
    for foreign in [home.join("notes.txt"), home.join("res/content/new/own.bin"), index] {
        // With the separators of the system, as in messages.
        let foreign: PathBuf = foreign.components().collect();
        let old = fs::read(&foreign).ok();
        fs::create_dir_all(foreign.parent().unwrap()).unwrap();
        fs::write(&foreign, "mine").unwrap();
        for force in [&["--force"][..], &[]] {
            let (_, err) = run(2, &[&["snapshot", game, "--to", to], force].concat());
            assert!(err.contains("no snapshot wrote this file") && err.contains(foreign.to_str().unwrap()), "{err}");
        }
        assert_eq!(fs::read(&foreign).unwrap(), b"mine");
        match old {
            Some(old) => fs::write(&foreign, old).unwrap(),
            None => fs::remove_file(&foreign).unwrap(),
        }
    }
    run(0, &["snapshot", game, "--to", to, "--force"]);
}

#[test]
fn an_entry_is_followed_through_builds_and_snapshots() {
    let [old, new] = BUILDS;
    let dir = TempDir::new().unwrap();
    let kept = dir.path().join("kept");
    let kept = kept.to_str().unwrap();
    run(0, &["snapshot", &format!("game@{old}"), "--to", kept]);
    let (old_game, new_game) = (format!("game@{old}"), format!("game@{new}"));
    let rows = json(1, &["diff", &old_game, &new_game, "--deep"]);
    let of_path = |row: &&Json| row["table"] == "content/assets.bin:resources" && row["change"] != "changed";
    for row in rows.iter().filter(of_path).take(6) {
        let path = row["key"].as_str().unwrap();
        let events = json(0, &["history", path, "game"]);
        let (change, build) = if row["change"] == "added" { ("added", new) } else { ("removed", new) };
        let last = events.iter().rfind(|event| event["table"] == "resources").unwrap();
        assert_eq!((&last["change"], &last["build"]), (&change.into(), &build.into()), "{path}");
        // The snapshot has the old build, and the game the new one.
        assert_eq!(json(0, &["history", path, kept, &new_game]), events);
        assert_eq!(json(0, &["history", path, &new_game, kept]), events, "in the order of builds");
    }
    let file = json(0, &["history", "content/assets.bin", "game@*"]);
    let crc32 = file.iter().find(|event| event["field"] == "crc32").unwrap();
    assert_eq!((&crc32["build"], &crc32["change"]), (&new.into(), &"changed".into()));
    assert_eq!(file[0]["change"], "present");
    // A snapshot that keeps the file says nothing else of it than the game.
    let kept_file = json(0, &["history", "content/assets.bin", kept, &new_game]);
    assert_eq!(kept_file, file);
    let csv = dir.path().join("file.csv");
    run(0, &["history", "content/assets.bin", "game", "--to", csv.to_str().unwrap()]);
    assert!(fs::read_to_string(&csv).unwrap().starts_with("build,change,table,part,field,old,new\r\n"));
    run(4, &["history", "content/assets.bin", "game", "--to", csv.to_str().unwrap()]);
    let query = "SELECT new FROM history WHERE field = 'crc32'";
    assert_eq!(json(0, &["history", "content/assets.bin", "game", "--sql", query])[0]["new"], crc32["new"]);
    let (text, _) = run(0, &["history", "content/assets.bin", "game"]);
    assert!(text.contains(&format!("{new}\n  ~ files  ")), "{text}");
    let (_, err) = run(1, &["history", "content/nothing.visual", "game"]);
    assert!(err.contains("is in none of 2 builds"), "{err}");
}

#[test]
fn two_folders_are_compared_by_their_files() {
    let dir = TempDir::new().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let sheet = |points: i64| {
        use assetq_sample::wdb::{Cell, Game, Sheet};
        let sheet = Sheet::new(Game::Later, "Monsters").fields(["sName", "u16HitPoints"]);
        sheet.record("bat", [Cell::from("bat"), points.into()]).build()
    };
    write("old/a/same.txt", b"same");
    write("new/a/same.txt", b"same");
    write("old/a/one.txt", b"moved");
    write("new/b/two.txt", b"moved");
    write("old/a/long.bin", b"123");
    write("new/a/long.bin", b"124");
    write("old/monsters.wdb", &sheet(3));
    write("new/monsters.wdb", &sheet(5));
    write("new/b/new.dds", b"new!");
    let (old, new) = (dir.path().join("old"), dir.path().join("new"));
    let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
    let rows = json(1, &["diff", old, new]);
    let told = |row: &Json| format!("{} {} {} {}", row["change"], row["key"], row["old"], row["new"]).replace('"', "");
    let told: BTreeSet<String> = rows.iter().map(told).collect();
    let crc32 = |bytes: &[u8]| format!("0x{:08X}", assetq_core::codec::crc32(bytes));
    let (was, is) = (crc32(b"123"), crc32(b"124"));
    assert!(told.contains("changed b/two.txt {path:a/one.txt} {path:b/two.txt}"), "{told:?}");
    assert!(told.contains(&format!("changed a/long.bin {{crc32:{was}}} {{crc32:{is}}}")), "{told:?}");
    assert!(told.iter().any(|row| row.starts_with("added b/new.dds")) && told.len() == 4, "{told:?}");
    let deep = json(1, &["diff", old, new, "--deep"]);
    let cell = deep.iter().find(|row| row["table"] == "monsters.wdb:records").unwrap();
    assert_eq!((&cell["old"]["u16HitPoints"], &cell["new"]["u16HitPoints"]), (&3.into(), &5.into()));
    let by = json(1, &["diff", old, new, "--stat", "--by", "folder,kind"]);
    let count =
        |folder: &str, kind: &str| by.iter().find(|row| row["folder"] == folder && row["kind"] == kind).unwrap();
    assert_eq!((&count("b", ".dds")["added"], &count("a", ".bin")["changed"]), (&1.into(), &1.into()));
    assert_eq!(json(0, &["diff", old, old]), [] as [Json; 0]);
    // An archive and the folder that it was unpacked to have the same files.
    let unpacked = dir.path().join("unpacked");
    let unpacked = unpacked.to_str().unwrap();
    assetq(&["extract", "game", "content/*.geometry", "--to", unpacked]);
    let rows = json(1, &["diff", "game", unpacked]);
    assert!(!rows.is_empty() && rows.iter().all(|row| row["change"] == "removed"), "{rows:?}");
}

/// Many names of one small file in a small archive are written, as are all files of a hostile archive that its budget allows.
#[test]
fn names_that_share_their_bytes_are_extracted() {
    let dir = TempDir::new().unwrap();
    let mut package = Package::new(Variant::V2, "one_0001.pkg");
    package.file("shared/00.txt", b"all of them are this text", How::Stored);
    for number in 1..40 {
        let id = package.name(&format!("shared/{number:02}.txt"));
        let first = package.files[0].clone();
        package.files.push(FileEntry { id, ..first });
    }
    for (path, bytes) in
        [("bin/1/idx/one.idx", package.index()), ("res_packages/one_0001.pkg", package.volumes[0].1.clone())]
    {
        let path = dir.path().join("game").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let game = dir.path().join("game");
    let to = dir.path().join("out");
    let (written, _) = run(0, &["extract", game.to_str().unwrap(), "--to", to.to_str().unwrap(), "-f", "ndjson"]);
    assert_eq!(written.lines().count(), 40);
    assert_eq!(fs::read(to.join("shared/39.txt")).unwrap(), b"all of them are this text");
    run(0, &["verify", game.to_str().unwrap(), "--deep"]);
}

/// A build that is not downloaded whole has one index, and is the newest.
#[test]
fn what_only_an_older_build_has_is_named_there() {
    let dir = TempDir::new().unwrap();
    let game = dir.path().join("game");
    write_game(&game);
    fs::create_dir_all(game.join("bin/7200000/idx")).unwrap();
    fs::copy(game.join("bin/7100000/idx/gui.idx"), game.join("bin/7200000/idx/gui.idx")).unwrap();
    let run = |args: &[&str]| crate::common::run(dir.path(), 1, args).1;
    let said = run(&["info", "game:content/assets.bin"]);
    assert!(said.contains("not found in this build; game@7100000 has it"), "{said}");
    let said = run(&["info", "game@7200000:content/assets.bin"]);
    assert!(said.contains("not found in this build; game@7100000 has it"), "{said}");
    for args in [&["extract", "game", "content/*.bin", "--to", "out"][..], &["ls", "game", "content/*.bin"]] {
        let said = run(args);
        assert!(said.contains("game@7100000 has such files"), "{args:?}: {said}");
    }
    let said = run(&["ls", "game", "nowhere/*"]);
    assert!(!said.contains('@'), "{said}");
}
