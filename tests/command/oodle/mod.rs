//! Files packed by Oodle, decoded by a library that the user names: here a toy with the same function.

use crate::archives::write_game;
use assetq::formats::wows::game_folder::Variant;
use assetq_sample::wows::{How, OODLE_FILE, Package};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;
use tempfile::TempDir;

/// A folder with the library `toy`, one without the function, and a game.
static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("empty.rs"), "").unwrap();
    let toy = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command/oodle/library.rs");
    for (source, name) in [(toy, "toy"), (dir.path().join("empty.rs"), "empty")] {
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
        rustc.args(["--crate-type", "cdylib", "--edition", "2021", "-C", "panic=abort", "-o", name]).arg(source);
        assert!(rustc.current_dir(dir.path()).status().unwrap().success());
    }
    write_game(&dir.path().join("game"));
    dir
});

/// Runs the command with the library for Oodle that does `fault`.
fn assetq_with(fault: &str, args: &[&str]) -> Output {
    let mut command = Command::new(crate::common::program());
    command.current_dir(FOLDER.path()).args(args).env("TOY_OODLE", fault);
    command.env_remove("ASSETQ_DB").env_remove("ASSETQ_OODLE").env("ASSETQ_CACHE", FOLDER.path().join("cache"));
    command.output().unwrap()
}

/// Standard output, and standard error as text, of a run that ends with `code`.
fn run(code: i32, fault: &str, args: &[&str]) -> (Vec<u8>, String) {
    let out = assetq_with(fault, args);
    let err = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(code), "assetq {args:?}\n{err}");
    (out.stdout, err)
}

/// Writes an index with one Oodle file of four blocks, the last one short, and its volume; returns the file's bytes.
fn package(dir: &Path) -> Vec<u8> {
    let bytes: Vec<u8> = (0..800_000u32).map(|n| (n / 1000) as u8).collect();
    let mut package = Package::new(Variant::V2, "content_0001.pkg");
    package.file("content/a.xml", &bytes, How::Oodle);
    fs::write(dir.join("content.idx"), package.index()).unwrap();
    for (name, volume) in &package.volumes {
        fs::write(dir.join(name), volume).unwrap();
    }
    bytes
}

#[test]
fn files_are_decoded_by_the_library() {
    let dir = TempDir::new().unwrap();
    let bytes = package(dir.path());
    let index = dir.path().join("content.idx");
    let index = index.to_str().unwrap();
    let extract = ["extract", index, "content/a.xml", "--to", "-"];
    assert_eq!(run(0, "", &[&extract[..], &["--oodle", "toy"]].concat()).0, bytes);
    // A text of the decoded file is found, and the whole archive is checked.
    let (out, _) = run(0, "", &["verify", "game", "--deep", "--oodle", "toy"]);
    let out = String::from_utf8(out).unwrap();
    assert!(!out.contains("not supported") && out.contains("ok"), "{out}");
}

#[test]
fn the_environment_names_the_library_too() {
    let mut command = Command::new(crate::common::program());
    command.current_dir(FOLDER.path()).args(["extract", "game", OODLE_FILE, "--to", "-"]).env("ASSETQ_OODLE", "toy");
    let out = command.env("ASSETQ_CACHE", FOLDER.path().join("cache")).output().unwrap();
    assert!(out.status.success() && out.stdout.starts_with(b"DDS "), "{}", String::from_utf8_lossy(&out.stderr));
    // The file answers as any other, and so do the tables of all textures.
    let file = format!("game:{OODLE_FILE}");
    let (info, _) = run(0, "", &["info", &file, "--oodle", "toy", "-f", "csv"]);
    assert!(String::from_utf8(info).unwrap().contains("dds"));
    let query = format!("SELECT width FROM textures WHERE path = '{OODLE_FILE}'");
    let sql = |args: &[&str]| run(0, "", &[&["sql", &query, "game", "-f", "csv"], args].concat()).0;
    assert_eq!((&*sql(&[]), &*sql(&["--oodle", "toy"])), (&b"width\r\n\"\"\r\n"[..], &b"width\r\n1436\r\n"[..]));
}

#[test]
fn without_a_library_the_error_names_the_option_the_variable_and_the_file() {
    let (_, err) = run(3, "", &["extract", "game", OODLE_FILE, "--to", "-"]);
    for part in ["--oodle", "$ASSETQ_OODLE", "oo2core_*_win64.dll", "liboo2core*.so", ".dylib", "content_0002.pkg"] {
        assert!(err.contains(part), "{part}: {err}");
    }
}

#[test]
fn a_wrong_library_is_an_error_with_its_name() {
    let (_, err) = run(4, "", &["ls", "game", "--oodle", "no/such.dll"]);
    assert!(err.contains("no/such.dll: cannot open"), "{err}");
    for wrong in ["empty.rs", "empty"] {
        let (_, err) = run(4, "", &["extract", "game", OODLE_FILE, "--to", "-", "--oodle", wrong]);
        assert!(err.contains("cannot load the library for Oodle") && err.contains(wrong), "{err}");
    }
}

#[test]
fn a_library_that_returns_another_length_is_not_believed() {
    let extract = ["extract", "game", OODLE_FILE, "--to", "-", "--oodle", "toy"];
    for (fault, said) in [
        ("more", "the library decoded 3001 bytes, not 3000"),
        ("less", "the library decoded 2999 bytes, not 3000"),
        ("negative", "the library decoded -1 bytes, not 3000"),
        ("nothing", "the library cannot decode it"),
        ("wrong", "CRC-32"),
    ] {
        let (out, err) = run(3, fault, &extract);
        assert!(out.is_empty() && err.contains(said), "{fault}: {err}");
    }
}

/// The library runs in this process (docs/unsafe.md): its crash ends the command, which writes no file then.
#[test]
#[cfg(unix)]
fn a_library_that_crashes_ends_the_command() {
    use std::os::unix::process::ExitStatusExt as _;
    let to = FOLDER.path().join("crashed");
    let out = assetq_with("crash", &["extract", "game", OODLE_FILE, "--to", "crashed", "--oodle", "toy"]);
    assert!(out.status.signal().is_some() && out.status.code().is_none(), "{:?}", out.status);
    let file = to.join(OODLE_FILE);
    assert!(!file.exists());
}

#[test]
fn damaged_containers_are_errors_at_their_field() {
    let dir = TempDir::new().unwrap();
    package(dir.path());
    let index = dir.path().join("content.idx");
    let volume = dir.path().join("content_0001.pkg");
    let whole = fs::read(&volume).unwrap();
    // Without a library, because a damaged container is one all the same.
    for (at, value, said) in [
        (0x00, 4, "size of the header"),
        (0x00, u32::MAX, "bytes follow the header"),
        (0x10, 5, "decoded size"),
        (0x18, 5, "size of all blocks"),
        (0x20, 5, "number of blocks"),
        (0x24, 5, "block size"),
        (0x38, 5, "size of all blocks"),
    ] {
        let mut bytes = whole.clone();
        bytes[at..at + 4].copy_from_slice(&u32::to_le_bytes(value));
        fs::write(&volume, bytes).unwrap();
        let (_, err) = run(3, "", &["extract", index.to_str().unwrap(), "content/a.xml", "--to", "-"]);
        assert!(err.contains(said), "{at:#x}: {err}");
    }
}
