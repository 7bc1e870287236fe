//! Behaviour that Windows asks for: its paths, its folders, its locks. Most of it shows there only.

use crate::common::{run, sample_folder};
use std::fs;
use std::path::Path;

fn rows(dir: &Path, args: &[&str]) -> Vec<String> {
    run(dir, 0, args).0.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn a_backslash_separates_folders_inside_of_an_archive() {
    let dir = sample_folder();
    let file = rows(dir.path(), &["ls", "wows", "*.geometry", "-f", "csv", "-n", "1"])[0].clone();
    let file = file.split(',').next().unwrap();
    let slashed = run(dir.path(), 0, &["ls", &format!("wows:{file}"), "-f", "csv"]).0;
    let address = format!("wows:{}", file.replace('/', "\\"));
    assert_eq!(run(dir.path(), 0, &["ls", &address, "-f", "csv"]).0, slashed);
    run(dir.path(), 0, &["extract", "wows", &file.replace('/', "\\"), "--to", "out"]);
    assert!(dir.path().join("out").join(file).is_file());
    let cat = |entry: &str| run(dir.path(), 0, &["cat", "wows", entry]).0;
    assert_eq!(cat("content\\assets.bin"), cat("content/assets.bin"));
    // A near miss is suggested all the same.
    let (_, err) = run(dir.path(), 1, &["info", &address.to_uppercase().replace("WOWS:", "wows:")]);
    assert!(err.contains(&format!("did you mean {file:?}")), "{err}");
    // The files of a folder are a pattern.
    for folder in ["wows:content\\gameplay", "wows:content/gameplay/"] {
        let (_, err) = run(dir.path(), 1, &["ls", folder]);
        assert!(err.contains("file \"content/gameplay"), "no separator is doubled: {err}");
        assert!(err.contains("did you mean \"content/gameplay/*\"?"), "{err}");
    }
}

#[test]
fn the_environment_is_listed_for_a_report() {
    let (out, _) = run(Path::new("."), 0, &["info", "--environment", "-f", "json"]);
    let facts: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(facts["version"], env!("CARGO_PKG_VERSION"));
    assert!(facts["target"].as_str().unwrap().contains(std::env::consts::OS), "{out}");
    assert!(facts["features"].as_str().unwrap().contains("parquet"), "{out}");
    run(Path::new("."), 2, &["info"]);
    run(Path::new("."), 2, &["info", "--environment", "x"]);
}

#[test]
fn a_file_whose_name_is_a_letter_is_no_drive() {
    let dir = sample_folder();
    fs::copy(dir.path().join("pack.bin"), dir.path().join("C")).unwrap();
    let (_, err) = run(dir.path(), 4, &["info", r"C:\no\sheet.wdb"]);
    assert!(err.starts_with(r"assetq: C:\no\sheet.wdb: cannot open"), "{err}");
    let (_, err) = run(dir.path(), 4, &["info", "C:/no/*.wdb"]);
    assert!(err.contains("C:/no/: cannot read the folder"), "{err}");
    run(dir.path(), 4, &["resolve", "content", "--db", r"C:\no\assets.bin"]);
    // The file itself is an archive as any other is.
    let inner = rows(dir.path(), &["ls", "C", "-f", "csv", "-n", "1"])[0].clone();
    run(dir.path(), 0, &["info", &format!("C:{}", inner.split(',').next().unwrap())]);
}

/// As `\\nas\share\kept.sqlite`, whose first name is a server and no part of an address.
#[cfg(unix)]
#[test]
fn a_database_may_have_a_path_that_begins_with_two_separators() {
    let dir = sample_folder();
    run(dir.path(), 0, &["sql", "SELECT 7 AS seven", "sheet.wdb", "--into", "kept.sqlite"]);
    let path = format!("/{}", dir.path().join("kept.sqlite").display());
    assert!(path.starts_with("//"));
    assert_eq!(rows(dir.path(), &["sql", "SELECT seven FROM result", &path, "-f", "csv"]), ["7"]);
}

/// `>` of Windows PowerShell 5 would write UTF-16.
#[test]
fn differences_go_into_a_file() {
    let dir = sample_folder();
    run(dir.path(), 0, &["sql", "UPDATE records SET u9SaveIndex = 3", "sheet.wdb", "--to", "new.wdb"]);
    let diff = ["diff", "sheet.wdb", "new.wdb", "-f", "patch"];
    let (printed, _) = run(dir.path(), 1, &diff);
    let (out, _) = run(dir.path(), 1, &[&diff[..], &["--to", "mod.ndjson"]].concat());
    assert_eq!((out, fs::read_to_string(dir.path().join("mod.ndjson")).unwrap()), (String::new(), printed.clone()));
    assert_eq!(run(dir.path(), 1, &[&diff[..], &["--to", "-"]].concat()).0, printed);
    run(dir.path(), 0, &["patch", "sheet.wdb", "mod.ndjson", "--to", "again.wdb"]);
    // A file that exists, and one that is read, stay.
    run(dir.path(), 4, &[&diff[..], &["--to", "mod.ndjson"]].concat());
    run(dir.path(), 2, &[&diff[..], &["--to", "new.wdb", "--force"]].concat());
    for format in ["text", "json", "ndjson", "csv", "markdown", "html"] {
        let diff = ["diff", "sheet.wdb", "new.wdb", "-f", format];
        run(dir.path(), 1, &[&diff[..], &["--to", "mod.ndjson", "--force"]].concat());
        assert_eq!(fs::read_to_string(dir.path().join("mod.ndjson")).unwrap(), run(dir.path(), 1, &diff).0);
    }
    // `patch` would read another form by the ending.
    let (_, err) = run(dir.path(), 2, &[&diff[..], &["--to", "mod.json"]].concat());
    assert!(err.contains("mod.json: a patch is written as .ndjson or .jsonl"), "{err}");
    // Of an answer that ends by an error, no half is kept.
    run(dir.path(), 2, &["diff", "sheet.wdb", "new.wdb", "-t", "nothing", "--to", "half.ndjson"]);
    assert!(!dir.path().join("half.ndjson").exists());
}

/// `set ASSETQ_DB="C:\my game"` of cmd keeps the quotes.
#[test]
fn quotes_around_the_path_in_a_variable_are_no_part_of_it() {
    let dir = sample_folder();
    let mut command = std::process::Command::new(crate::common::program());
    let quoted = format!("\"{}\"", dir.path().join("wows").display());
    let out = command.env("ASSETQ_DB", quoted).args(["resolve", "content", "-f", "csv"]).output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
}

#[cfg(windows)]
mod there {
    use super::*;
    use crate::common::writer;
    use assetq_sample::{self as sample, Size};
    use std::fs::OpenOptions;
    use std::os::windows::fs::{MetadataExt as _, OpenOptionsExt as _};

    #[test]
    fn a_backslash_in_a_glob_over_an_archive_separates_folders() {
        let dir = sample_folder();
        let slashed = rows(dir.path(), &["ls", "wows", "content/gameplay/*", "-f", "csv"]);
        assert!(slashed.len() > 1);
        assert_eq!(rows(dir.path(), &["ls", "wows", "content\\gameplay\\*", "-f", "csv"]), slashed);
    }

    #[test]
    fn paths_that_are_printed_have_one_kind_of_separator() {
        let dir = sample_folder();
        let written = rows(dir.path(), &["extract", "wows", "content/gameplay/*.geometry", "--to", "out", "-f", "csv"]);
        assert!(written.iter().all(|path| path.starts_with("out\\content\\") && !path.contains('/')), "{written:?}");
        let change = r#"{"table":"records","change":"changed","key":"r0000001","new":{"u9SaveIndex":3}}"#;
        fs::write(dir.path().join("edit.ndjson"), format!("{change}\n")).unwrap();
        let (out, err) = run(dir.path(), 0, &["patch", "sheet.wdb", "edit.ndjson", "--in-place"]);
        assert!(!out.contains("\\\\?\\") && !err.contains("\\\\?\\"), "{out}{err}");
        let (out, _) = run(dir.path(), 0, &["ls", "sheet.wdb", "r0000001", "-f", "ndjson"]);
        assert!(out.contains("\"u9SaveIndex\":3"), "{out}");
    }

    #[test]
    fn a_path_may_be_longer_than_260_characters() {
        let dir = tempfile::tempdir().unwrap();
        let deep = ["a-folder-with-a-name-of-fifty-characters-0123456789"; 6].join("\\");
        run(dir.path(), 0, &["sample", &deep, "--seed", "1"]);
        let (out, _) = run(dir.path(), 0, &["info", &format!("{deep}\\sheet.wdb"), "-f", "json"]);
        assert!(out.contains("wdb"), "{out}");
        run(dir.path(), 0, &["sql", "UPDATE records SET u9SaveIndex = 3", &format!("{deep}\\sheet.wdb"), "--in-place"]);
        let (sheet, kept) = (format!("{deep}\\sheet.wdb"), format!("{deep}\\kept.sqlite"));
        run(dir.path(), 0, &["sql", "SELECT 7 AS seven", &sheet, "--into", &kept]);
        assert_eq!(rows(dir.path(), &["sql", "SELECT seven FROM result", &kept, "-f", "csv"]), ["7"]);
        let verbatim = dir.path().canonicalize().unwrap().join(&kept);
        let verbatim = verbatim.to_str().unwrap();
        assert!(verbatim.starts_with(r"\\?\"));
        assert_eq!(rows(dir.path(), &["sql", "SELECT seven FROM result", verbatim, "-f", "csv"]), ["7"]);
    }

    #[test]
    fn a_hidden_file_stays_hidden() {
        const HIDDEN: u32 = 2;
        let dir = sample_folder();
        let path = dir.path().join("hidden.wdb");
        let mut hidden = OpenOptions::new().write(true).create_new(true).attributes(HIDDEN).open(&path).unwrap();
        std::io::copy(&mut fs::File::open(dir.path().join("sheet.wdb")).unwrap(), &mut hidden).unwrap();
        drop(hidden);
        run(dir.path(), 0, &["sql", "UPDATE records SET u9SaveIndex = 3", "hidden.wdb", "--in-place"]);
        assert_eq!(fs::metadata(&path).unwrap().file_attributes() & HIDDEN, HIDDEN);
    }

    /// The new file and its undo patch have the access list of the old file.
    #[test]
    fn a_file_of_one_user_stays_so() {
        let dir = sample_folder();
        let icacls = |args: &[&str]| {
            let out = std::process::Command::new("icacls").current_dir(dir.path()).args(args).output();
            out.ok().filter(|out| out.status.success()).map(|out| String::from_utf8_lossy(&out.stdout).into_owned())
        };
        let user = std::env::var("USERNAME").unwrap_or_default();
        icacls(&["sheet.wdb", "/inheritance:r", "/grant:r", &format!("{user}:F")]);
        let before = icacls(&["sheet.wdb"]);
        run(
            dir.path(),
            0,
            &["sql", "UPDATE records SET u9SaveIndex = 3", "sheet.wdb", "--in-place", "--undo", "undo.ndjson"],
        );
        match before.filter(|list| list.contains(&user)) {
            None => eprintln!("skipped: this system shows no access lists, as Wine"),
            Some(before) => {
                assert_eq!(icacls(&["sheet.wdb"]).unwrap(), before);
                assert_eq!(icacls(&["undo.ndjson"]).unwrap().replace("undo.ndjson", "sheet.wdb"), before);
            }
        }
    }

    #[test]
    fn the_device_that_drops_all_takes_output() {
        let dir = sample_folder();
        for device in ["NUL", "nul", r"\\.\NUL"] {
            run(dir.path(), 0, &["export", "sheet.wdb", "--as", "csv", "--to", device]);
            run(dir.path(), 0, &["diff", "sheet.wdb", "sheet.wdb", "--to", device]);
        }
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| !name.eq_ignore_ascii_case("nul")), "{left:?}");
    }

    #[test]
    fn a_column_of_files_has_one_kind_of_separator() {
        let dir = sample_folder();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        fs::copy(dir.path().join("sheet.wdb"), dir.path().join("a/b/sheet.wdb")).unwrap();
        for files in ["a/b/*.wdb", "a/**/*.wdb", "./a/b"] {
            let files = rows(dir.path(), &["sql", "SELECT DISTINCT file FROM records", files, "-f", "csv"]);
            assert!(files.iter().all(|file| file.ends_with(r"a\b\sheet.wdb") && !file.contains('/')), "{files:?}");
        }
    }

    #[test]
    fn a_quote_that_swallows_options_is_explained() {
        let dir = sample_folder();
        let (_, err) = run(dir.path(), 4, &["extract", "pack.bin", "*", "--to", "out dir\" --force"]);
        assert!(err.contains("leave out the \\ before the quote that ends a folder"), "{err}");
    }

    #[test]
    fn a_file_that_another_program_keeps_to_itself_is_named() {
        let dir = sample_folder();
        let path = dir.path().join("sheet.wdb");
        let kept = OpenOptions::new().read(true).share_mode(0).open(&path).unwrap();
        let (_, err) = run(dir.path(), 4, &["info", "sheet.wdb"]);
        assert!(err.starts_with("assetq: sheet.wdb: cannot open") && err.lines().count() == 1, "{err}");
        drop(kept);
        run(dir.path(), 0, &["info", "sheet.wdb"]);
    }

    #[test]
    fn a_file_that_another_program_reads_is_not_replaced_by_half() {
        let dir = sample_folder();
        let path = dir.path().join("sheet.wdb");
        let before = fs::read(&path).unwrap();
        // As a game opens its files: for others to read, not to be replaced.
        let game = OpenOptions::new().read(true).share_mode(1).open(&path).unwrap();
        let change = ["sql", "UPDATE records SET u9SaveIndex = 3", "sheet.wdb", "--in-place"];
        let (_, err) = run(dir.path(), 4, &change);
        assert!(err.contains("sheet.wdb: cannot write: ") && err.contains("open in another program"), "{err}");
        assert_eq!((err.lines().count(), fs::read(&path).unwrap()), (1, before.clone()), "{err}");
        drop(game);
        run(dir.path(), 0, &change);
        assert_ne!(fs::read(&path).unwrap(), before);
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| !name.to_string_lossy().contains("part")), "{left:?}");
    }

    #[test]
    fn files_of_an_archive_whose_names_differ_in_case_are_all_written() {
        let dir = tempfile::tempdir().unwrap();
        let sheets = [1, 2].map(|seed| sample::wdb::demo(seed, Size::Small));
        let pack = sample::wdb::pack(&[("A", "txt", sheets[0].clone()), ("a", "txt", sheets[1].clone())]);
        fs::write(dir.path().join("pack.bin"), pack).unwrap();
        for force in [&[][..], &["--force"]] {
            let args = [&["extract", "pack.bin", "--to", "out", "-f", "csv"], force].concat();
            assert_eq!(rows(dir.path(), &args), ["out\\A.txt", "out\\a.txt~1"]);
            assert_eq!(["A.txt", "a.txt~1"].map(|name| fs::read(dir.path().join("out").join(name)).unwrap()), sheets);
        }
    }

    #[test]
    fn a_file_of_an_archive_that_is_called_as_a_device_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let sheet = || sample::wdb::demo(1, Size::Small);
        let files = [("CON", "wdb", sheet()), ("aux", "txt", sheet()), ("console", "wdb", sheet())];
        fs::write(dir.path().join("pack.bin"), sample::wdb::pack(&files)).unwrap();
        let (out, err) = run(dir.path(), 3, &["extract", "pack.bin", "--to", "out", "-f", "csv"]);
        assert_eq!(out.lines().skip(1).collect::<Vec<_>>(), ["out\\console.wdb"]);
        for name in ["CON.wdb", "aux.txt"] {
            assert!(err.contains(&format!("{name:?} is not written")) && err.contains("a device on Windows"), "{err}");
        }
        // Such a file is read all the same, and written under another name.
        run(dir.path(), 0, &["info", "pack.bin:aux.txt"]);
    }

    #[test]
    fn a_file_that_exists_under_a_name_of_another_case_is_kept() {
        let dir = sample_folder();
        let names = rows(dir.path(), &["extract", "pack.bin", "*", "--to", "out", "-f", "csv"]);
        let first = dir.path().join(&names[0]);
        let other = first.with_file_name(first.file_name().unwrap().to_string_lossy().to_uppercase());
        fs::rename(&first, &other).unwrap();
        fs::write(&other, "mine").unwrap();
        run(dir.path(), 4, &["extract", "pack.bin", "*", "--to", "out"]);
        assert_eq!(fs::read(&other).unwrap(), b"mine");
    }

    #[test]
    fn the_cache_lies_in_the_folder_for_local_data() {
        let dir = sample_folder();
        let mut command = std::process::Command::new(crate::common::program());
        command.env_remove("ASSETQ_CACHE").env("LOCALAPPDATA", dir.path()).args(["info", "--environment"]);
        let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert!(out.contains(&format!("cache: {}", dir.path().join("assetq").display())), "{out}");
    }

    /// As `setx ASSETQ_DB` sets it for later consoles.
    #[test]
    fn a_variable_names_the_database_by_a_path_of_windows() {
        let dir = sample_folder();
        let mut command = std::process::Command::new(crate::common::program());
        command.env("ASSETQ_DB", dir.path().join("wows")).args(["resolve", "content", "-f", "csv"]);
        let out = command.output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        let said = String::from_utf8(out.stdout).unwrap();
        assert_eq!(said, run(dir.path(), 0, &["resolve", "content", "--db", "wows", "-f", "csv"]).0);
        assert!(said.lines().count() > 1, "{said}");
    }

    #[test]
    fn files_are_written_over_while_the_command_has_them_open() {
        let dir = sample_folder();
        run(dir.path(), 0, &["extract", "pack.bin", "*", "--to", "out"]);
        run(dir.path(), 0, &["extract", "pack.bin", "*", "--to", "out", "--force"]);
        for _ in 0..2 {
            run(dir.path(), 0, &["snapshot", "wows", "--to", "kept", "--force"]);
        }
        for value in [3, 4] {
            let update = format!("UPDATE records SET u9SaveIndex = {value}");
            run(dir.path(), 0, &["sql", &update, "sheet.wdb", "--to", "new.wdb", "--force"]);
            run(dir.path(), 0, &["sql", &update, "sheet.wdb", "--in-place"]);
        }
    }

    #[test]
    fn the_cache_is_checked_and_cleared() {
        let dir = sample_folder();
        let cached = |args: &[&str]| {
            let mut command = std::process::Command::new(crate::common::program());
            let out = command.current_dir(dir.path()).env("ASSETQ_CACHE", "cache").args(args).output().unwrap();
            assert_eq!(out.status.code(), Some(0), "{args:?} {}", String::from_utf8_lossy(&out.stderr));
            String::from_utf8(out.stdout).unwrap()
        };
        fs::create_dir(dir.path().join("cache")).unwrap();
        fs::write(dir.path().join("cache/ab.decoded"), "abc").unwrap();
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        fs::write(dir.path().join("cache/ab.seal"), format!("{sha256} 352441c2 0-0-3-0\n")).unwrap();
        let kept = cached(&["cache", "verify", "-f", "csv"]);
        assert!(kept.contains("cache\\ab.decoded,true") && !kept.contains('/'), "{kept}");
        cached(&["cache", "clear"]);
        assert_eq!(fs::read_dir(dir.path().join("cache")).unwrap().count(), 0);
    }

    #[test]
    fn names_beyond_ascii_are_read_and_printed() {
        let dir = tempfile::tempdir().unwrap();
        writer(dir.path())("Großes Schiff/船.wdb", sample::wdb::demo(1, Size::Small));
        let (out, _) = run(dir.path(), 0, &["info", "Großes Schiff\\船.wdb"]);
        assert!(out.starts_with("Großes Schiff\\船.wdb: wdb"), "{out}");
    }
}
