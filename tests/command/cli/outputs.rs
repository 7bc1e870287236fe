//! Where output goes: what standard output cannot take is never lost in silence, and a file is whole or not there.

#[cfg(unix)]
use assetq_sample::Size;
#[cfg(unix)]
use assetq_sample::text_models::{Property, material};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;
#[cfg(unix)]
use {
    std::fs::File,
    std::io::Read as _,
    std::os::unix::fs::{FileTypeExt as _, symlink},
    std::os::unix::process::ExitStatusExt as _,
    std::process::Child,
};

/// The sample files, made once by the command itself.
fn samples() -> &'static Path {
    static DIR: OnceLock<TempDir> = OnceLock::new();
    DIR.get_or_init(|| {
        let dir = TempDir::new().unwrap();
        assert!(assetq(dir.path(), &["sample", ".", "--seed", "3"]).status.success());
        assetq_sample::wows::game(3, assetq_sample::Size::Small, |path, bytes| {
            let path = dir.path().join("game").join(path);
            fs::create_dir_all(path.parent().unwrap())?;
            fs::write(path, bytes)
        })
        .unwrap();
        fs::create_dir(dir.path().join("cache")).unwrap();
        fs::write(dir.path().join("cache/ab.decoded"), "abc").unwrap();
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        fs::write(dir.path().join("cache/ab.seal"), format!("{sha256} 352441c2 0-0-3-0\n")).unwrap();
        dir
    })
    .path()
}

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(crate::common::program());
    command.current_dir(dir).args(args).env_remove("ASSETQ_DB").env("ASSETQ_CACHE", "cache").stdin(Stdio::null());
    command
}

fn assetq(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().unwrap()
}

/// As [`command`], with files of at most `blocks` of 512 bytes: what a disk does that is full.
#[cfg(unix)]
fn limited(dir: &Path, blocks: usize, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    command.current_dir(dir).args(["-c", &script, crate::common::program()]).args(args).stdin(Stdio::null());
    command
}

/// The standard error of a run that ends with `code`.
fn said(out: &Output, code: i32, what: &str) -> String {
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(code), "assetq {what}\n{said}");
    said
}

fn run(dir: &Path, code: i32, args: &[&str]) -> String {
    said(&assetq(dir, args), code, &args.join(" "))
}

/// A folder with one file of the samples in it.
fn folder_with(file: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::copy(samples().join(file), dir.path().join(file)).unwrap();
    dir
}

fn names(dir: &Path) -> BTreeSet<String> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn set<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

/// Each command in the ways in which it writes on standard output; `NEW` is a folder that is not there yet.
#[cfg(target_os = "linux")]
const WRITING: &[&str] = &[
    "--help",
    "--version",
    "help",
    "help --all",
    "help options",
    "help ls",
    "ls --help",
    "info assets.bin",
    "ls assets.bin",
    "ls assets.bin -t paths --long",
    "ls assets.bin --tree",
    "ls assets.bin -n 1",
    "cat assets.bin content",
    "cat savegame.vrb Bounds",
    "cat savegame.vrb --raw [Main]",
    "refs content assets.bin",
    "refs content assets.bin --tree",
    "refs --dangling space.bin",
    "resolve content",
    "string diffuseMap",
    "diff assets.bin other.bin",
    "diff assets.bin other.bin --stat",
    "diff assets.bin assets.bin",
    "history content assets.bin other.bin",
    "export assets.bin --to - --as csv",
    "export assets.bin --to - --as json",
    "export assets.bin --to - --as ndjson",
    "export assets.bin --to - --as parquet",
    "export assets.bin --to - --as arrow",
    "export assets.bin --to - --as arrows",
    "export assets.bin --to /dev/stdout --as csv",
    "export ship.geometry --to - --as glb",
    "export town.wdata --to - --as svg",
    "view assets.bin --to -",
    "sql SELECT+1 assets.bin",
    "sql SELECT+*+FROM+paths assets.bin",
    "sql assets.bin",
    "verify assets.bin",
    "extract pack.bin --to NEW",
    "find c assets.bin",
    "find c assets.bin --count",
    "sample NEW",
    "sample NEW --tour",
    "completions bash",
    "textconv sheet.wdb",
    "set sheet.wdb r0000005.u9SaveIndex 300 --dry-run",
    "patch sheet.wdb rows.ndjson --dry-run",
    "paths-inside game:content",
    "snapshot game --to NEW",
    "extract game content/mods.xml --to -",
    "cache",
    "cache verify",
    "games",
    "info --environment",
];

fn words(line: &str, new: &str) -> Vec<String> {
    line.split(' ').map(|word| word.replace('+', " ").replace("NEW", new)).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn every_command_tells_when_standard_output_is_full() {
    let dir = samples();
    fs::write(dir.join("other.bin"), assetq_sample::bwdb::demo(4, assetq_sample::Size::Small)).unwrap();
    let row = r#"{"table":"records","change":"changed","key":"r0000005","new":{"u9SaveIndex":300}}"#;
    fs::write(dir.join("rows.ndjson"), row).unwrap();
    let help = String::from_utf8(assetq(dir, &["help", "--all"]).stdout).unwrap();
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let named = listed.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    for name in named.filter_map(|line| line.split_whitespace().next()) {
        // Man pages are files only.
        let tried = WRITING.iter().any(|line| line.split(' ').next() == Some(name));
        assert!(tried || name == "man", "{name} is a command that is not tried");
    }
    for (number, line) in WRITING.iter().enumerate() {
        for format in ["text", "json", "ndjson", "csv"] {
            if *line == "diff assets.bin assets.bin" && format == "ndjson" {
                // No rows are no lines.
                continue;
            }
            if *line == "ls assets.bin --tree" && format != "text" {
                // A tree of folders is text.
                continue;
            }
            let new = TempDir::new().unwrap();
            let mut args = words(line, new.path().join(format!("{number}")).to_str().unwrap());
            if !line.contains("help") && !line.contains("--version") {
                args.extend(["-f".to_owned(), format.to_owned()]);
            }
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let mut command = command(dir, &args);
            command.env("ASSETQ_WOWS", dir.join("game"));
            if *line == "sql assets.bin" {
                command.stdin(File::open(query()).unwrap());
            }
            let full = File::options().write(true).open("/dev/full").unwrap();
            let said = said(&command.stdout(full).output().unwrap(), 4, &args.join(" "));
            let lines: Vec<&str> = said.lines().filter(|line| !line.contains(": note: ")).collect();
            let expected = "assetq: standard output: cannot write: No space left on device (os error 28)";
            assert_eq!(lines, [expected], "{line} -f {format}");
        }
    }
}

/// A file with a query that `assetq sql` reads from its standard input.
#[cfg(target_os = "linux")]
fn query() -> &'static Path {
    static FILE: OnceLock<tempfile::NamedTempFile> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "SELECT 1;").unwrap();
        file
    });
    file.path()
}

#[cfg(unix)]
#[test]
fn a_disk_that_becomes_full_is_told() {
    for format in ["text", "json", "ndjson", "csv"] {
        let dir = folder_with("assets.bin");
        let listed = File::create(dir.path().join("listed")).unwrap();
        let args = ["ls", "assets.bin", "-t", "resources", "-f", format];
        let out = limited(dir.path(), 2, &args).stdout(listed).output().unwrap();
        let said = said(&out, 4, format);
        assert!(said.starts_with("assetq: standard output: cannot write: ") && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn a_closed_pipe_is_no_failure_in_any_format() {
    for format in ["text", "json", "ndjson", "csv"] {
        let mut child = command(samples(), &["ls", "assets.bin", "-t", "skeleton_nodes", "-f", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(said(&child.wait_with_output().unwrap(), 0, format), "");
    }
}

#[test]
fn of_two_exports_at_once_one_is_there_whole_and_the_other_is_refused() {
    let dir = folder_with("assets.bin");
    let whole = |table| assetq(dir.path(), &["ls", "assets.bin", "-t", table, "-f", "csv"]).stdout;
    let (paths, strings) = (whole("paths"), whole("strings"));
    for force in [false, true] {
        for _ in 0..5 {
            let begin = |table| {
                let args = ["export", "assets.bin", "-t", table, "--to", "out.csv", "--force"];
                let args = &args[..args.len() - usize::from(!force)];
                command(dir.path(), args).stderr(Stdio::piped()).spawn().unwrap()
            };
            let both = [begin("paths"), begin("strings")].map(|child| child.wait_with_output().unwrap());
            let mut codes = both.each_ref().map(|out| out.status.code().unwrap());
            codes.sort_unstable();
            // With --force, one that begins after the other has ended replaces its file.
            assert!(codes == [0, 4] || force && codes == [0, 0], "{both:?}");
            let found = fs::read(dir.path().join("out.csv")).unwrap();
            assert!(found == paths && (force || both[0].status.success()) || found == strings, "a mixture");
            assert_eq!(names(dir.path()), set(["assets.bin", "out.csv"]));
            fs::remove_file(dir.path().join("out.csv")).unwrap();
        }
    }
}

#[cfg(unix)]
#[test]
fn files_of_others_beside_an_export_stay() {
    let dir = folder_with("assets.bin");
    let at = |name: &str| dir.path().join(name);
    fs::write(at("precious"), "mine").unwrap();
    fs::write(at(".a.csv.part"), "mine").unwrap();
    symlink(at("precious"), at(".b.csv.part")).unwrap();
    for to in ["a.csv", "b.csv"] {
        run(dir.path(), 0, &["export", "assets.bin", "--to", to]);
    }
    for name in ["precious", ".a.csv.part", ".b.csv.part"] {
        assert_eq!(fs::read(at(name)).unwrap(), b"mine");
    }
    let longest = format!("{}.csv", "x".repeat(250));
    run(dir.path(), 0, &["export", "assets.bin", "--to", &longest]);
    assert!(at(&longest).exists());
}

/// A file beside an export has the name that the game's file gives it.
#[cfg(unix)]
#[test]
fn a_file_beside_an_export_whose_name_is_unfit_is_named_and_left_out() {
    let dir = TempDir::new().unwrap();
    let textures = ["diffuseMap", "normalMap"].into_iter().zip(["content/NUL.dds", "content/fit.dds"]);
    let textures = textures.map(|(name, value)| Property { name, kind: "Texture", value });
    fs::write(dir.path().join("m.mfm"), material("m", "shaders/a.fx", &textures.collect::<Vec<_>>())).unwrap();
    fs::write(dir.path().join("ship.geometry"), assetq_sample::geometry::demo(1, Size::Small)).unwrap();
    for name in ["NUL.dds", "fit.dds"] {
        fs::write(dir.path().join(name), assetq_sample::dds::demo(1, Size::Small)).unwrap();
    }
    let args = ["export", "ship.geometry", "--with", "m.mfm", "--textures", "files", "--to", "out/ship.glb"];
    fs::create_dir(dir.path().join("out")).unwrap();
    let err = run(dir.path(), 3, &args);
    assert!(err.contains("\"NUL.dds\" is not written, as its name is not fit for a file: it is a device"), "{err}");
    let mut written: Vec<_> = fs::read_dir(dir.path().join("out")).unwrap().map(|e| e.unwrap().file_name()).collect();
    written.sort_unstable();
    assert_eq!(written, ["fit.dds", "ship.glb"]);
}

/// A command that writes a file for as long as it is let, once it has begun with it.
#[cfg(unix)]
fn writing(dir: &Path) -> Child {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                   SELECT (SELECT count(name) FROM paths WHERE name > i) FROM n";
    let args = ["sql", endless, "assets.bin", "--into", "out.sqlite"];
    let child = command(dir, &args).stderr(Stdio::piped()).spawn().unwrap();
    while !names(dir).iter().any(|name| name.ends_with(".part")) {
        std::thread::yield_now();
    }
    child
}

/// Whether programs that this one starts ignore a signal from the beginning, where the system tells.
#[cfg(unix)]
fn is_ignored(number: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (number - 1) & 1 == 1
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_nothing_of_a_file_that_is_being_written() {
    let dir = folder_with("assets.bin");
    for (name, number, code) in
        [("INT", 2, Some(130)), ("TERM", 15, Some(143)), ("HUP", 1, Some(129)), ("ABRT", 6, None)]
    {
        // Under `nohup` the signal must do nothing.
        if is_ignored(number) {
            eprintln!("skipped: SIG{name} is ignored here");
            continue;
        }
        let mut child = writing(dir.path());
        let kill = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let status = child.wait().unwrap();
        assert_eq!((status.code(), status.signal()), (code, code.is_none().then_some(number)), "{name}");
        assert_eq!(names(dir.path()), set(["assets.bin"]), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_fault_leaves_nothing_of_a_file_that_is_being_written() {
    let dir = folder_with("assets.bin");
    let child = writing(dir.path());
    File::options().write(true).open(dir.path().join("assets.bin")).unwrap().set_len(0).unwrap();
    let said = said(&child.wait_with_output().unwrap(), 4, "sql");
    assert!(said.starts_with("assetq: assets.bin: the file became shorter while it was mapped"), "{said}");
    assert_eq!(names(dir.path()), set(["assets.bin"]));
}

#[test]
fn an_input_is_never_written_over() {
    let dir = folder_with("assets.bin");
    let at = |name: &str| dir.path().join(name);
    fs::copy(samples().join("ship.geometry"), at("ship.geometry")).unwrap();
    fs::copy(samples().join("models.bin"), at("models.bin")).unwrap();
    fs::copy(samples().join("pack.bin"), at("pack.bin")).unwrap();
    // Elsewhere a name that is replaced leaves the file to its other names.
    #[cfg(unix)]
    {
        fs::hard_link(at("assets.bin"), at("hard.bin")).unwrap();
        symlink("assets.bin", at("soft.bin")).unwrap();
        fs::hard_link(at("assets.bin"), at("hard.db")).unwrap();
        symlink("assets.bin", at("soft.db")).unwrap();
    }
    let before: Vec<_> =
        ["assets.bin", "ship.geometry", "models.bin", "pack.bin"].map(|name| fs::read(at(name)).unwrap()).into();
    for line in [
        "export assets.bin --as csv --force --to assets.bin",
        "export assets.bin --as csv --force --to ./assets.bin",
        "export assets.bin --as csv --force --to hard.bin",
        "export assets.bin --as csv --force --to soft.bin",
        "export soft.bin --as csv --force --to assets.bin",
        "export ship.geometry --as glb --force --to ship.geometry",
        "export ship.geometry --as glb --force --to models.bin --with models.bin",
        "export pack.bin:btscene.wdb --as csv --force --to pack.bin",
        "sql SELECT+1 assets.bin --force --into hard.db",
        "sql SELECT+1 x=assets.bin --force --into soft.db",
    ] {
        if cfg!(not(unix)) && (line.contains("hard.") || line.contains("soft.")) {
            continue;
        }
        let args = words(line, "");
        let said = run(dir.path(), 2, &args.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(said.contains("is one of the files that are read"), "{line}: {said}");
    }
    let after: Vec<_> =
        ["assets.bin", "ship.geometry", "models.bin", "pack.bin"].map(|name| fs::read(at(name)).unwrap()).into();
    assert!(before == after);
}

/// A game's folder with builds, a sheet with its changes, and a save with an entry.
fn folder_of_archives() -> TempDir {
    let dir = TempDir::new().unwrap();
    assert!(assetq(dir.path(), &["sample", ".", "--seed", "3"]).status.success());
    let row = r#"{"table":"records","change":"changed","key":"r0000005","new":{"u9SaveIndex":300}}"#;
    fs::write(dir.path().join("e.ndjson"), row).unwrap();
    fs::write(
        dir.path().join("main.json"),
        assetq(dir.path(), &["cat", "savegame.vrb", "[Main]", "-f", "json"]).stdout,
    )
    .unwrap();
    dir
}

/// All files below a folder, with their bytes.
fn tree(dir: &Path) -> std::collections::BTreeMap<std::path::PathBuf, Vec<u8>> {
    let (mut files, mut folders) = (std::collections::BTreeMap::new(), vec![dir.to_owned()]);
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
fn no_output_is_an_input_or_another_output() {
    let dir = folder_of_archives();
    let one_with = |ending: &str, folder: &str| {
        let mut files = tree(&dir.path().join(folder)).into_keys();
        let found = files.rfind(|path| path.to_str().unwrap().ends_with(ending)).unwrap();
        found.strip_prefix(dir.path()).unwrap().to_str().unwrap().to_owned()
    };
    let (volume, index) = (one_with(".pkg", "wows"), one_with(".idx", "wows"));
    let (pack, list) = (one_with(".pck", "rusty-hearts"), one_with(".bin", "ff13"));
    let before = tree(dir.path());
    let of_game = "wows:content/assets.bin";
    let game = format!("./{of_game}");
    let mut lines = vec![
        "patch sheet.wdb e.ndjson --force --to e.ndjson".to_owned(),
        "patch sheet.wdb e.ndjson --force --to new.wdb --undo e.ndjson".to_owned(),
        "patch sheet.wdb e.ndjson --force --in-place --undo sheet.wdb".to_owned(),
        "patch savegame.vrb main.json --entry [Main] --force --to new.vrb --undo main.json".to_owned(),
        "patch savegame.vrb main.json --entry [Main] --force --to main.json".to_owned(),
        "sql UPDATE+records+SET+u9SaveIndex=300 sheet.wdb --force --to new.wdb --undo new.wdb".to_owned(),
        "sql UPDATE+records+SET+u9SaveIndex=300 sheet.wdb --force --to new.wdb --undo ./wows/../new.wdb".to_owned(),
        "sql SELECT+1 sheet.wdb --to new.db --into ./new.db".to_owned(),
        format!("export ./rusty-hearts --as csv --force --to {pack}"),
        format!("export ./ff13 --as csv --force --to {list}"),
        format!("info sheet.wdb --names {game} --names wows"),
    ];
    lines.pop();
    for file in [&volume, &index] {
        lines.push(format!("export {game} --as csv --force --to {file}"));
        lines.push(format!("export assets.bin --names wows --as csv --force --to {file}"));
        lines.push(format!("view {game} --force --to {file}"));
        lines.push(format!("sql UPDATE+resources+SET+state='deleted' {game} --force --to {file}"));
        lines.push(format!("sql UPDATE+resources+SET+state='deleted' {game} --force --to new.bin --undo {file}"));
    }
    for line in lines {
        let args = words(&line, "");
        let said = run(dir.path(), 2, &args.iter().map(String::as_str).collect::<Vec<_>>());
        let is_told = ["is one of the files that are read", "are one file", "view writes", "ending"];
        assert!(is_told.iter().any(|what| said.contains(what)), "{line}: {said}");
        assert!(tree(dir.path()) == before, "{line}");
    }
    // A file of the game's folder that the game does not read is a file like any other.
    fs::write(dir.path().join("wows/notes.csv"), "").unwrap();
    run(dir.path(), 0, &["export", &game, "--to", "wows/notes.csv", "--force"]);
}

#[test]
fn only_an_output_that_is_a_folder_makes_folders() {
    let dir = folder_of_archives();
    let before = tree(dir.path());
    for line in [
        "export assets.bin --to none/x.csv",
        "export ship.geometry --to none/x.glb",
        "sql SELECT+1 assets.bin --to none/x.csv",
        "sql SELECT+1 assets.bin --into none/x.db",
        "sql UPDATE+records+SET+u9SaveIndex=300 sheet.wdb --to none/x.wdb",
        "sql UPDATE+records+SET+u9SaveIndex=300 sheet.wdb --to new.wdb --undo none/undo.ndjson",
        "patch sheet.wdb e.ndjson --to none/x.wdb",
        "set sheet.wdb r0000005.u9SaveIndex 300 --to none/x.wdb",
        "view assets.bin --to none/x.html",
        "history content assets.bin --to none/x.csv",
    ] {
        let args = words(line, "");
        let said = run(dir.path(), 4, &args.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(said.contains("there is no folder none"), "{line}: {said}");
        assert!(tree(dir.path()) == before && !dir.path().join("none").exists(), "{line}");
    }
    for (line, file) in [
        ("export assets.bin --to new/ --as csv", "new/paths.csv"),
        ("export assets.bin --to all/of/it --as csv --all-tables", "all/of/it/paths.csv"),
        ("export ship.geometry --to shapes/ --as glb", "shapes/ship.glb"),
        ("extract pack.bin --to out/of", "out/of/btscene.wdb"),
        ("sample some/where", "some/where/assets.bin"),
    ] {
        run(dir.path(), 0, &words(line, "").iter().map(String::as_str).collect::<Vec<_>>());
        assert!(dir.path().join(file).exists(), "{line}");
    }
}

/// To open a pipe would wait for its reader.
#[cfg(unix)]
#[test]
fn a_file_that_is_read_back_is_no_pipe() {
    let dir = folder_of_archives();
    assert!(
        Command::new("mkfifo").args([dir.path().join("pipe"), dir.path().join("x.db")]).status().unwrap().success()
    );
    for line in [
        "sql UPDATE+records+SET+u9SaveIndex=300 sheet.wdb --to pipe",
        "patch sheet.wdb e.ndjson --to pipe --force",
        "sql SELECT+1 sheet.wdb --into x.db",
    ] {
        let said = run(dir.path(), 2, &words(line, "").iter().map(String::as_str).collect::<Vec<_>>());
        assert!(said.contains("is no file"), "{line}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn an_undo_file_is_as_private_as_its_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = folder_of_archives();
    let mode = |name: &str| fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(dir.path().join("sheet.wdb"), fs::Permissions::from_mode(0o600)).unwrap();
    run(dir.path(), 0, &["patch", "sheet.wdb", "e.ndjson", "--in-place", "--undo", "undo.ndjson"]);
    assert_eq!((mode("sheet.wdb"), mode("undo.ndjson")), (0o600, 0o600));
    fs::set_permissions(dir.path().join("sheet.wdb"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::set_permissions(dir.path().join("undo.ndjson"), fs::Permissions::from_mode(0o666)).unwrap();
    run(dir.path(), 0, &["patch", "sheet.wdb", "undo.ndjson", "--in-place", "--undo", "redo.ndjson"]);
    assert_eq!((mode("sheet.wdb"), mode("redo.ndjson") & 0o037), (0o640, 0));
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_written_to_as_they_are() {
    let dir = folder_with("assets.bin");
    let listed = assetq(dir.path(), &["ls", "assets.bin", "-f", "csv"]).stdout;
    let path = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    // Open at both ends, so that neither end waits for the other.
    let mut pipe = File::options().read(true).write(true).open(&path).unwrap();
    for force in [&[][..], &["--force"]] {
        let args = [&["export", "assets.bin", "--as", "csv", "--to", "pipe"], force].concat();
        run(dir.path(), 0, &args);
        assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
        let mut written = vec![0; listed.len()];
        pipe.read_exact(&mut written).unwrap();
        assert!(written == listed);
        let args = [&["export", "assets.bin", "--as", "csv", "--to", "/dev/null"], force].concat();
        run(dir.path(), 0, &args);
        let args = [&["export", "assets.bin", "--as", "csv", "--to", "/dev/stdout"], force].concat();
        assert_eq!(assetq(dir.path(), &args).stdout, listed);
    }
    run(dir.path(), 2, &["sql", "SELECT 1", "assets.bin", "--into", "/dev/null"]);
    // A shell's `3>>log` has lines of others in it.
    fs::write(dir.path().join("log"), "first\n").unwrap();
    let script = "exec \"$0\" export assets.bin --as csv --to /dev/fd/3 3>>log";
    let status = Command::new("sh").current_dir(dir.path()).args(["-c", script, crate::common::program()]).status();
    assert!(status.unwrap().success());
    assert_eq!(fs::read(dir.path().join("log")).unwrap(), [b"first\n", &listed[..]].concat());
    assert_eq!(names(dir.path()), set(["assets.bin", "log", "pipe"]));
}

#[cfg(unix)]
#[test]
fn a_link_as_output_is_a_file_that_exists() {
    let dir = folder_with("assets.bin");
    let at = |name: &str| dir.path().join(name);
    symlink("nowhere", at("out.csv")).unwrap();
    symlink("nowhere", at("out.sqlite")).unwrap();
    for args in [
        &["export", "assets.bin", "--to", "out.csv"][..],
        &["sql", "SELECT 1 AS one", "assets.bin", "--into", "out.sqlite"],
    ] {
        let refused = run(dir.path(), 4, args);
        assert!(refused.contains(": it exists; --force writes over it"), "{refused}");
        assert!(fs::symlink_metadata(at(args.last().unwrap())).unwrap().is_symlink());
        run(dir.path(), 0, &[args, &["--force"]].concat());
        assert!(fs::symlink_metadata(at(args.last().unwrap())).unwrap().is_file());
    }
    assert!(!at("nowhere").exists());
}

#[cfg(unix)]
#[test]
fn entries_of_a_pack_replace_nothing_without_being_told() {
    let dir = folder_with("pack.bin");
    let at = |name: &str| dir.path().join(name);
    run(dir.path(), 0, &["extract", "pack.bin", "--to", "whole"]);
    let whole = names(&at("whole"));
    assert!(whole.len() > 2, "{whole:?}");
    let [file, link] = [0, 1].map(|n| whole.iter().nth(n).unwrap().clone());
    // A file of the user, and a link that leads to another.
    fs::create_dir(at("used")).unwrap();
    fs::write(at("precious"), "mine").unwrap();
    fs::write(at("used").join(&file), "mine").unwrap();
    symlink(at("precious"), at("used").join(&link)).unwrap();
    let said = run(dir.path(), 4, &["extract", "pack.bin", "--to", "used"]);
    assert_eq!(said.matches("it exists; --force writes over it").count(), 2, "{said}");
    assert_eq!(fs::read(at("used").join(&file)).unwrap(), b"mine");
    assert_eq!(names(&at("used")), whole);
    run(dir.path(), 0, &["extract", "pack.bin", "--to", "used", "--force"]);
    for name in &whole {
        assert!(fs::symlink_metadata(at("used").join(name)).unwrap().is_file());
        assert_eq!(fs::read(at("used").join(name)).unwrap(), fs::read(at("whole").join(name)).unwrap());
    }
    assert_eq!(fs::read(at("precious")).unwrap(), b"mine");
}

#[test]
fn samples_and_man_pages_are_whole_and_samples_replace_nothing_else() {
    let dir = TempDir::new().unwrap();
    run(dir.path(), 0, &["sample", ".", "--seed", "3"]);
    run(dir.path(), 0, &["sample", ".", "--seed", "3"]);
    let before = fs::read(dir.path().join("assets.bin")).unwrap();
    let said = run(dir.path(), 4, &["sample", ".", "--seed", "4"]);
    assert!(said.contains("assets.bin: it exists; --force writes over it"), "{said}");
    assert_eq!(fs::read(dir.path().join("assets.bin")).unwrap(), before);
    run(dir.path(), 0, &["sample", ".", "--seed", "4", "--force"]);
    assert_ne!(fs::read(dir.path().join("assets.bin")).unwrap(), before);
    run(dir.path(), 0, &["man", "pages"]);
    let pages = names(&dir.path().join("pages"));
    run(dir.path(), 0, &["man", "pages"]);
    assert!(pages.contains("assetq.1") && pages.contains("assetq-sql.1"), "{pages:?}");
    assert_eq!(names(&dir.path().join("pages")), pages);
}

/// Every way to write a file, as the words of a command and the output that its error names.
#[cfg(unix)]
const FILES: &[(&str, &str)] = &[
    ("export assets.bin --to OUT/x.csv", "x.csv"),
    ("export assets.bin --to OUT/x.json", "x.json"),
    ("export assets.bin --to OUT/x.ndjson", "x.ndjson"),
    ("export assets.bin --to OUT/x.parquet", "x.parquet"),
    ("export assets.bin --to OUT/x.arrow", "x.arrow"),
    ("export assets.bin --to OUT/x.arrows", "x.arrows"),
    ("export -q ship.geometry --to OUT/x.glb", "x.glb"),
    ("export -q ship.geometry --to OUT/x.obj", "x.obj"),
    ("export -q ship.geometry --to OUT/x.svg", "x.svg"),
    ("export town.wdata --to OUT/x.svg", "x.svg"),
    ("export town.wdata --to OUT/x.glb", "x.glb"),
    ("sql SELECT+*+FROM+paths assets.bin --into OUT/x.sqlite", "x.sqlite"),
    ("extract pack.bin btscene.wdb --to OUT", "btscene.wdb"),
    ("sample OUT", "assets.bin"),
    ("man OUT", "assetq"),
];

#[cfg(unix)]
#[test]
fn a_full_disk_is_told_with_the_name_of_the_output_and_leaves_nothing() {
    for (line, output) in FILES {
        let dir = TempDir::new().unwrap();
        let args = words(&line.replace("OUT", dir.path().to_str().unwrap()), "");
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let out = limited(samples(), 2, &args).output().unwrap();
        let said = said(&out, 4, line);
        let expected = format!("assetq: {}/{output}", dir.path().display());
        assert!(said.lines().next().unwrap_or_default().starts_with(&expected), "{line}: {said}");
        assert!(said.contains(": cannot write: "), "{line}: {said}");
        assert_eq!(said.lines().filter(|line| !line.starts_with(&expected)).count(), 0, "{line}: {said}");
        let left = names(dir.path());
        // Of several files those are there that were written whole.
        assert!(left.iter().all(|name| !name.ends_with(".part") && !name.starts_with('x')), "{line}: {left:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_told_with_the_name_of_the_output() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let mut folders = vec![dir.path().join("file").to_str().unwrap().to_owned()];
    folders.extend(cfg!(target_os = "linux").then(|| "/proc".to_owned()));
    for folder in folders {
        for (line, output) in FILES {
            let args = words(&line.replace("OUT", &folder), "");
            let said = run(samples(), 4, &args.iter().map(String::as_str).collect::<Vec<_>>());
            assert!(said.starts_with(&format!("assetq: {folder}/{output}")), "{line}: {said}");
            assert!(said.contains(": cannot write: "), "{line}: {said}");
        }
    }
}
