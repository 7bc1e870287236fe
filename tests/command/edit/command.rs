//! `assetq patch`: all forms of changes, their outputs and their messages.

use crate::common::utf16;
use assetq_sample::Size;
use assetq_sample::geometry::{demo_splash, splash};
use assetq_sample::wdb::{Cell, Game, Sheet, pack};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

fn sheet(scale: f32, text: &str) -> Vec<u8> {
    let sheet = Sheet::new(Game::Later, "Items").fields(["sName", "u9Index", "fScale"]);
    let rows = [("potion", "Potion", 10, 0.5), ("ether", text, 11, scale), ("elixir", "Elixir", 12, 0.25)];
    let sheet = rows.iter().fold(sheet, |sheet, (name, text, index, scale)| {
        sheet.record(name, [Cell::from(*text), Cell::Int(*index), Cell::Float(*scale)])
    });
    sheet.build()
}

pub fn folder() -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("old.wdb"), sheet(0.5, "Ether")).unwrap();
    fs::write(dir.path().join("new.wdb"), sheet(2.0, "Ether, strong")).unwrap();
    let files = [("items", "wdb", sheet(0.5, "Ether")), ("notes", "txt", b"hi".to_vec())];
    fs::write(dir.path().join("pack.bin"), pack(&files)).unwrap();
    dir
}

pub fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(crate::common::program());
    command.current_dir(dir).args(args).env_remove("ASSETQ_DB").env("ASSETQ_CACHE", dir.join(".cache"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Standard output and standard error of a run with this standard input that ends with `code`.
pub fn run_with(dir: &Path, code: i32, args: &[&str], input: &str) -> (String, String) {
    let mut child = command(dir, args).spawn().unwrap();
    // One that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let out = child.wait_with_output().unwrap();
    let (stdout, stderr) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert_eq!(out.status.code(), Some(code), "assetq {args:?}\n{stdout}{stderr}");
    (stdout, stderr)
}

pub fn run(dir: &Path, code: i32, args: &[&str]) -> (String, String) {
    run_with(dir, code, args, "")
}

pub fn read(dir: &TempDir, name: &str) -> Vec<u8> {
    fs::read(dir.path().join(name)).unwrap()
}

#[test]
fn the_name_of_an_unknown_column_is_shown_in_short() {
    let dir = folder();
    let long = "c".repeat(1 << 20);
    let (_, said) = run_with(dir.path(), 2, &["patch", "old.wdb", "-", "--dry-run"], &format!("record,{long}\na,1\n"));
    assert!(said.contains("no column \"ccc") && said.contains("ccc…") && said.len() < 600, "{said}");
}

/// The name of an entry may have the sign in it that stands between a pack and its entries.
#[test]
fn an_entry_whose_name_has_a_colon_is_written_into_its_pack() {
    let dir = folder();
    let inner = pack(&[("a:items", "wdb", sheet(0.5, "Ether")), ("items", "wdb", sheet(0.5, "Ether"))]);
    fs::write(dir.path().join("outer.bin"), pack(&[("in:ner", "bin", inner)])).unwrap();
    let (patch, _) = run(dir.path(), 1, &["diff", "old.wdb", "new.wdb", "-f", "patch"]);
    fs::write(dir.path().join("mod.ndjson"), patch).unwrap();
    let inner = ["outer.bin:in:ner.bin", "patch", "in.bin"];
    run(dir.path(), 0, &["patch", &format!("{}:a:items.wdb", inner[0]), "mod.ndjson", "--to", inner[2]]);
    let compared = ["diff", "new.wdb"];
    run(dir.path(), 0, &[&compared[..], &["in.bin:a:items.wdb"]].concat());
    run(dir.path(), 1, &[&compared[..], &["in.bin:items.wdb"]].concat());
}

#[test]
fn the_difference_of_two_files_makes_the_one_of_the_other() {
    let dir = folder();
    let (patch, _) = run(dir.path(), 1, &["diff", "old.wdb", "new.wdb", "-f", "patch"]);
    assert_eq!(
        patch,
        "{\"table\":\"records\",\"change\":\"changed\",\"key\":\"ether\",\
         \"old\":{\"sName\":\"Ether\",\"fScale\":0.5},\"new\":{\"sName\":\"Ether, strong\",\"fScale\":2.0}}\n"
    );
    fs::write(dir.path().join("mod.ndjson"), &patch).unwrap();
    let (rows, said) = run(dir.path(), 0, &["patch", "old.wdb", "mod.ndjson", "--to", "out.wdb", "-f", "ndjson"]);
    assert_eq!(rows, patch);
    assert!(said.contains("1 edit, 0 that the file has already, 0 left out"), "{said}");
    run(dir.path(), 0, &["diff", "out.wdb", "new.wdb"]);
    // A second time there is nothing to do.
    let (rows, said) = run(dir.path(), 0, &["patch", "out.wdb", "mod.ndjson", "--to", "again.wdb", "-f", "json"]);
    assert_eq!(rows, "[]\n");
    assert!(said.contains("0 edits, 1 that the file has already"), "{said}");
    assert_eq!(read(&dir, "again.wdb"), read(&dir, "out.wdb"));
}

/// All but the length of the table of entries can be written: the patch is good, and gets its name.
#[test]
fn a_patch_that_lacks_rows_is_written_to_its_file() {
    let dir = folder();
    fs::write(dir.path().join("less.bin"), pack(&[("items", "wdb", sheet(2.0, "Ether"))])).unwrap();
    let args = ["diff", "pack.bin", "less.bin", "-f", "patch"];
    let (patch, said) = run(dir.path(), 5, &args);
    let (_, said_again) = run(dir.path(), 5, &[&args[..], &["--to", "mod.ndjson"]].concat());
    assert!(patch.contains("\"fScale\":2.0") && read(&dir, "mod.ndjson") == patch.as_bytes(), "{patch}");
    assert!(said_again == said && said.contains("this patch lacks rows that differ"), "{said}{said_again}");
}

/// A box that gets the name of another one, and one with that name before it.
#[test]
fn rows_with_one_key_are_patched_wherever_they_are() {
    let dir = folder();
    fs::write(dir.path().join("old.splash"), demo_splash(1, Size::Small)).unwrap();
    let sql = |query: &str| run(dir.path(), 0, &["sql", query, "old.splash", "--to", "new.splash", "--force"]);
    let names = run(dir.path(), 0, &["ls", "old.splash", "-c", "name", "-f", "csv"]).0;
    let names: Vec<&str> = names.lines().skip(1).collect();
    for query in [
        format!("UPDATE boxes SET name = '{}' WHERE name = '{}'", names[4], names[2]),
        format!("UPDATE boxes SET name = '{}' WHERE name = '{}'", names[2], names[4]),
        format!("UPDATE boxes SET name = '{0}'; DELETE FROM boxes WHERE name = '{0}' AND min_z < 0", names[4]),
    ] {
        sql(&query);
        let (patch, _) = run(dir.path(), 1, &["diff", "old.splash", "new.splash", "-f", "patch"]);
        fs::write(dir.path().join("mod.ndjson"), &patch).unwrap();
        run(dir.path(), 0, &["patch", "old.splash", "mod.ndjson", "--to", "out.splash", "--force"]);
        run(dir.path(), 0, &["diff", "out.splash", "new.splash"]);
        if !query.contains("DELETE") {
            assert_eq!(read(&dir, "out.splash"), read(&dir, "new.splash"), "{query}: {patch}");
        }
    }
    // Inserted before the other row with its name.
    let [bow, stern, new] =
        [("bow", 0.0), ("stern", 4.0), ("stern", 8.0)].map(|(name, at)| (name, [at; 3], [at + 1.0; 3]));
    fs::write(dir.path().join("old.splash"), splash(&[bow, stern])).unwrap();
    fs::write(dir.path().join("new.splash"), splash(&[new, bow, stern])).unwrap();
    let (patch, _) = run(dir.path(), 1, &["diff", "old.splash", "new.splash", "-f", "patch"]);
    assert!(patch.contains(r#""key":{"name":"stern","nth":1}"#) && patch.lines().count() == 1, "{patch}");
    fs::write(dir.path().join("mod.ndjson"), &patch).unwrap();
    run(dir.path(), 0, &["patch", "old.splash", "mod.ndjson", "--to", "out.splash", "--force"]);
    run(dir.path(), 0, &["diff", "out.splash", "new.splash"]);
}

#[test]
fn a_row_that_no_undo_can_tell_is_an_error_of_its_file_and_leaves_nothing() {
    let (dir, scale) = (folder(), 2.5f32);
    let mut sheet = sheet(scale, "Ether");
    let behind_name = sheet.windows(4).position(|four| four == scale.to_be_bytes()).unwrap() - 4;
    sheet[behind_name - 4..behind_name].fill(0x7A);
    fs::write(dir.path().join("bad.wdb"), sheet).unwrap();
    let gone = r#"{"table":"records","change":"removed","key":"ether"}"#;
    let args = ["patch", "bad.wdb", "-", "--to", "out.wdb", "--undo", "undo.ndjson"];
    let (_, said) = run_with(dir.path(), 3, &args, gone);
    assert!(said.starts_with("assetq: bad.wdb: record ether, field sName"), "{said}");
    assert!(["out.wdb", "undo.ndjson"].iter().all(|name| !dir.path().join(name).exists()));
}

#[test]
fn exported_rows_are_edited_and_written_back() {
    let dir = folder();
    for ending in ["csv", "json", "ndjson"] {
        let (rows, new) = (format!("rows.{ending}"), format!("{ending}.wdb"));
        run(dir.path(), 0, &["export", "old.wdb", "--to", &rows]);
        run(dir.path(), 0, &["patch", "old.wdb", &rows, "--to", "same.wdb", "--force"]);
        assert_eq!(read(&dir, "same.wdb"), read(&dir, "old.wdb"));
        let text = fs::read_to_string(dir.path().join(&rows)).unwrap().replace("Elixir", "Élixir, \"grand\"");
        let text =
            if ending == "csv" { text.replace("Élixir, \"grand\"", "\"Élixir, \"\"grand\"\"\"") } else { text };
        let text = if ending == "csv" { text } else { text.replace("Élixir, \"grand\"", "Élixir, \\\"grand\\\"") };
        fs::write(dir.path().join(&rows), text).unwrap();
        let (shown, _) = run(dir.path(), 0, &["patch", "old.wdb", &rows, "--to", &new, "-f", "ndjson"]);
        let changed = "\"key\":\"elixir\",\"old\":{\"sName\":\"Elixir\"},\"new\":{\"sName\":\"Élixir, \\\"grand\\\"\"}";
        assert!(shown.contains(changed) && shown.lines().count() == 1, "{shown}");
    }
}

/// As a spreadsheet with decimal commas saves what it was given.
#[test]
fn decimal_commas_are_numbers_where_semicolons_divide_cells() {
    let dir = folder();
    let rows =
        "record;sName;u9Index;fScale\npotion;Potion, 1,5;10;-1,25\nether;Ether;11;0.5\nelixir;Elixir;12;2,5E-1\n";
    let (shown, _) = run_with(dir.path(), 0, &["patch", "old.wdb", "-", "--to", "a.wdb"], rows);
    assert_eq!(shown, "~ records potion\n    sName: Potion -> Potion, 1,5\n    fScale: 0.5 -> -1.25\n");
    let (_, said) =
        run_with(dir.path(), 2, &["patch", "old.wdb", "-", "--to", "b.wdb"], "record;fScale\nether;1.234,5\n");
    assert!(said.contains("column fScale: \"1.234,5\" does not fit: a finite number"), "{said}");
    let commas = "record,fScale\nether,\"1,5\"\n";
    let (_, said) = run_with(dir.path(), 2, &["patch", "old.wdb", "-", "--to", "b.wdb"], commas);
    assert!(said.contains("column fScale: \"1,5\" does not fit"), "{said}");
}

#[test]
fn rows_come_with_insert_and_go_with_delete_missing() {
    let dir = folder();
    let rows = "record,u9Index\npotion,10\nether,11\nphoenix,40\n";
    let (_, said) = run_with(dir.path(), 1, &["patch", "old.wdb", "-", "--to", "a.wdb"], rows);
    assert!(said.contains("\"phoenix\": not found; --insert adds rows"), "{said}");
    assert_eq!(read(&dir, "a.wdb"), read(&dir, "old.wdb"));
    let args = ["patch", "old.wdb", "-", "--to", "b.wdb", "--insert", "--delete-missing", "-f", "csv"];
    let (shown, _) = run_with(dir.path(), 0, &args, rows);
    let changes: Vec<&str> = shown.lines().skip(1).map(|line| line.split(",\"").next().unwrap()).collect();
    assert_eq!(changes, ["records,removed,elixir", "records,added,phoenix,"], "{shown}");
    let (listed, _) = run(dir.path(), 0, &["ls", "b.wdb", "-f", "csv"]);
    assert_eq!(
        listed.lines().skip(1).map(|l| l.split(',').next().unwrap()).collect::<Vec<_>>(),
        ["potion", "ether", "phoenix"]
    );
}

#[test]
fn what_is_not_as_the_patch_expects_is_left_out_or_with_strict_all() {
    let dir = folder();
    let patch = "{\"table\":\"records\",\"change\":\"changed\",\"key\":\"potion\",\"old\":{\"fScale\":9},\"new\":{\"fScale\":1}}\n\
                 {\"change\":\"changed\",\"key\":\"ether\",\"new\":{\"fScale\":1}}\n\
                 {\"change\":\"changed\",\"key\":\"nothing\",\"new\":{\"fScale\":1}}\n";
    let (_, said) = run_with(dir.path(), 1, &["patch", "old.wdb", "-", "--to", "a.wdb", "--strict"], patch);
    assert!(said.contains("records \"potion\": fScale is 0.5, not 9"), "{said}");
    assert!(said.contains("records \"nothing\": not found") && !dir.path().join("a.wdb").exists(), "{said}");
    let (shown, said) = run_with(dir.path(), 1, &["patch", "old.wdb", "-", "--to", "a.wdb"], patch);
    assert_eq!(shown, "~ records ether\n    fScale: 0.5 -> 1\n");
    assert!(said.contains("1 edit, 0 that the file has already, 2 left out"), "{said}");
}

#[test]
fn an_undo_brings_the_bytes_back_and_else_the_cells() {
    let dir = folder();
    let patch = "{\"change\":\"changed\",\"key\":\"ether\",\"new\":{\"sName\":\"x\",\"u9Index\":1}}\n\
                 {\"change\":\"removed\",\"key\":\"potion\"}\n\
                 {\"change\":\"added\",\"key\":\"phoenix\",\"new\":{\"sName\":\"Phoenix\"}}\n";
    run_with(dir.path(), 0, &["patch", "old.wdb", "-", "--to", "a.wdb", "--undo", "undo.ndjson"], patch);
    run(dir.path(), 0, &["patch", "a.wdb", "undo.ndjson", "--to", "back.wdb"]);
    assert_eq!(read(&dir, "back.wdb"), read(&dir, "old.wdb"));
    // The file has changed since: the rows of the undo still apply.
    let more = "{\"change\":\"changed\",\"key\":\"elixir\",\"new\":{\"u9Index\":99}}\n";
    run_with(dir.path(), 0, &["patch", "a.wdb", "-", "--in-place"], more);
    run(dir.path(), 0, &["patch", "a.wdb", "undo.ndjson", "--in-place"]);
    let (left, _) = run(dir.path(), 1, &["diff", "old.wdb", "a.wdb", "-f", "ndjson"]);
    assert!(left.contains("\"key\":\"elixir\"") && left.lines().count() == 1, "{left}");
}

/// `patch` reads a file by its ending, so that an undo under another one would be no way back.
#[test]
fn an_undo_has_a_name_that_patch_reads() {
    let dir = folder();
    let query = "UPDATE records SET u9Index = 3";
    for name in ["undo.csv", "undo.json", "undo.txt"] {
        let (_, err) = run(dir.path(), 2, &["sql", query, "old.wdb", "--to", "edited.wdb", "--undo", name]);
        assert!(err.contains("a patch is written as .ndjson or .jsonl"), "{err}");
        assert!(!dir.path().join("edited.wdb").exists() && !dir.path().join(name).exists());
    }
    for name in ["undo", "undo.jsonl"] {
        run(dir.path(), 0, &["sql", query, "old.wdb", "--to", "edited.wdb", "--undo", name, "--force"]);
        run(dir.path(), 0, &["patch", "edited.wdb", name, "--to", "back.wdb", "--force"]);
        assert_eq!(read(&dir, "back.wdb"), read(&dir, "old.wdb"));
    }
}

/// A record keeps its place under its new name, in a sheet alone and in the sheet of a pack.
#[test]
fn a_patch_between_files_renames_records() {
    let dir = TempDir::new().unwrap();
    run(dir.path(), 0, &["sample", ".", "--seed", "1"]);
    for (file, table) in [("pack.bin", "btscene"), ("sheet.wdb", "records")] {
        let script = format!(
            "UPDATE {table} SET record = 'foo', u7Race = 3 WHERE rowid = 0; DELETE FROM {table} WHERE rowid = 6; \
             UPDATE {table} SET record = 'bar' WHERE rowid = 4"
        );
        run(dir.path(), 0, &["sql", &script, file, "--to", "new.bin", "--force"]);
        let (patch, _) = run(dir.path(), 1, &["diff", "-f", "patch", file, "new.bin"]);
        assert!(patch.contains("\"new\":{\"record\":\"foo\",\"u7Race\":3}"), "{patch}");
        run_with(dir.path(), 0, &["patch", file, "-", "--to", "made.bin", "--force"], &patch);
        assert!(read(&dir, "made.bin") == read(&dir, "new.bin"), "{file}");
    }
}

#[test]
fn a_pack_is_written_anew_with_its_sheet() {
    let dir = folder();
    let patch = "{\"change\":\"changed\",\"key\":\"ether\",\"new\":{\"sName\":\"something longer\"}}";
    let (shown, _) = run_with(dir.path(), 0, &["patch", "pack.bin:items.wdb", "-", "--to", "new.bin"], patch);
    assert_eq!(shown, "~ records ether\n    sName: Ether -> something longer\n");
    let (listed, _) = run(dir.path(), 0, &["ls", "new.bin:items.wdb", "-f", "csv"]);
    assert!(listed.contains("ether,something longer,11,0.5"), "{listed}");
    run(dir.path(), 0, &["verify", "new.bin"]);
    run_with(dir.path(), 0, &["patch", "pack.bin:items.wdb", "-", "--in-place"], patch);
    assert_eq!(read(&dir, "pack.bin"), read(&dir, "new.bin"));
}

#[test]
fn nothing_is_left_behind_where_nothing_is_written() {
    let dir = folder();
    let one = |cell: &str| format!("{{\"change\":\"changed\",\"key\":\"ether\",\"new\":{{{cell}}}}}");
    let before = fs::read_dir(dir.path()).unwrap().count();
    for (patch, what) in [
        (one("\"u9Index\":512"), "column u9Index: 512 does not fit: a whole number from 0 to 511"),
        (one("\"u9Index\":1,\"nope\":2"), "no column \"nope\""),
        (format!("{}\n{}", one("\"u9Index\":1"), one("\"u9Index\":2")), "two edits of column u9Index"),
        (
            "{\"table\":\"sections\",\"change\":\"changed\",\"key\":\"!!string\",\"new\":{\"size\":5}}".to_owned(),
            "column size: 5",
        ),
        ("{".to_owned(), "line 1: no JSON"),
    ] {
        let (shown, said) = run_with(dir.path(), 2, &["patch", "old.wdb", "-", "--to", "a.wdb"], &patch);
        assert!(said.contains(what) && shown.is_empty(), "{said}");
    }
    run_with(dir.path(), 2, &["patch", "old.wdb", "-"], &one("\"u9Index\":1"));
    run_with(dir.path(), 2, &["patch", "old.wdb", "-", "--to", "old.wdb", "--force"], &one("\"u9Index\":1"));
    run_with(dir.path(), 4, &["patch", "old.wdb", "-", "--to", "new.wdb"], &one("\"u9Index\":1"));
    let (shown, _) = run_with(dir.path(), 0, &["patch", "old.wdb", "-", "--dry-run"], &one("\"u9Index\":1"));
    assert_eq!(shown, "~ records ether\n    u9Index: 11 -> 1\n");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before);
}

/// A sheet whose record `ether` has a text outside of the texts.
fn damaged() -> Vec<u8> {
    let scale = 2.5f32;
    let mut sheet = sheet(scale, "Ether");
    let scale = sheet.windows(4).position(|four| four == scale.to_be_bytes()).unwrap();
    sheet[scale - 8..scale - 4].fill(0x7A);
    sheet
}

#[test]
fn an_edit_of_a_damaged_file_says_that_it_is_damaged_and_adds_no_damage() {
    let dir = folder();
    fs::write(dir.path().join("bad.wdb"), damaged()).unwrap();
    let edit = r#"{"change":"changed","key":"potion","new":{"u9Index":1}}"#;
    let (shown, said) = run_with(dir.path(), 0, &["patch", "bad.wdb", "-", "--to", "out.wdb", "--quiet"], edit);
    assert_eq!(shown, "~ records potion\n    u9Index: 10 -> 1\n");
    assert_eq!(said, "assetq: bad.wdb: it is damaged, and so is the new file: verify has 1 finding\n");
    let findings = |name: &str| run(dir.path(), 3, &["verify", name, "-f", "csv"]).0;
    assert_eq!(findings("out.wdb").replace("out.wdb", "bad.wdb"), findings("bad.wdb"));
    // Without damage nothing is said.
    let (_, said) = run_with(dir.path(), 0, &["patch", "old.wdb", "-", "--to", "good.wdb", "--quiet"], edit);
    assert_eq!(said, "");
}

#[test]
fn edits_that_meet_no_row_write_no_file() {
    let dir = folder();
    let no_row = r#"{"change":"changed","key":"nothing","new":{"u9Index":1}}"#;
    for input in [no_row, "record,u9Index\nnothing,1\n"] {
        let (_, said) = run_with(dir.path(), 1, &["patch", "old.wdb", "-", "--to", "out.wdb"], input);
        assert!(said.contains("\"nothing\": not found") && said.contains("nothing is written"), "{said}");
        assert!(!dir.path().join("out.wdb").exists());
    }
    for sql in ["UPDATE records SET u9Index = 1 WHERE record = 'nothing'", "DELETE FROM records WHERE u9Index > 500"] {
        let (_, said) = run(dir.path(), 1, &["sql", sql, "old.wdb", "--to", "out.wdb"]);
        assert!(said.contains("these statements match no row") && !dir.path().join("out.wdb").exists(), "{said}");
    }
    // Rows that have the cells already are met.
    run(dir.path(), 0, &["sql", "UPDATE records SET u9Index = u9Index", "old.wdb", "--to", "out.wdb"]);
    assert_eq!(read(&dir, "out.wdb"), read(&dir, "old.wdb"));
}

#[test]
fn a_dry_run_writes_no_undo_and_shows_one() {
    let dir = folder();
    let edit = r#"{"change":"changed","key":"ether","new":{"u9Index":1}}"#;
    let args = ["patch", "old.wdb", "-", "--dry-run", "--undo", "undo.ndjson"];
    let (shown, _) = run_with(dir.path(), 0, &args, edit);
    assert_eq!(shown, "~ records ether\n    u9Index: 11 -> 1\n");
    assert!(!dir.path().join("undo.ndjson").exists());
    let (shown, _) = run_with(dir.path(), 0, &[&args[..5], &["-"]].concat(), edit);
    assert!(shown.contains("\"restored\""), "{shown}");
}

#[test]
fn a_name_that_an_edit_has_twice_is_refused() {
    let dir = folder();
    for (edit, name) in [
        (r#"{"change":"changed","key":"ether","key":"potion","new":{"u9Index":1}}"#, "key"),
        (r#"{"change":"changed","key":"ether","new":{"u9Index":1},"new":{"u9Index":2}}"#, "new"),
        (r#"{"change":"changed","key":"ether","new":{"u9Index":1,"u9Index":1}}"#, "u9Index"),
        (r#"{"change":"changed","key":{"record":"ether","record":"potion"},"new":{"u9Index":1}}"#, "record"),
        (r#"{"record":"ether","u9Index":1,"record":"potion"}"#, "record"),
    ] {
        for edit in [edit.to_owned(), format!("[{edit}]")] {
            let (_, said) = run_with(dir.path(), 2, &["patch", "old.wdb", "-", "--dry-run"], &edit);
            assert!(said.contains(&format!("row 1: \"{name}\" is there twice")), "{edit}: {said}");
        }
    }
}

#[test]
fn a_long_name_is_shown_in_short_and_a_long_number_whole() {
    let dir = folder();
    let long = "c".repeat(1 << 20);
    for edit in [
        format!(r#"{{"change":"changed","key":"{long}","new":{{"u9Index":1}}}}"#),
        format!(r#"{{"table":"{long}","change":"changed","key":"ether","new":{{"u9Index":1}}}}"#),
        format!(r#"{{"{long}":1,"change":"changed","key":"ether","new":{{"u9Index":1}}}}"#),
        format!(r#"{{"change":"{long}","key":"ether","new":{{"u9Index":1}}}}"#),
        format!(r#"{{"change":"changed","key":"ether","new":{{"{long}":1,"{long}":2}}}}"#),
        format!(r#"{{"record":"{long}","u9Index":1}}"#),
    ] {
        let mut child = command(dir.path(), &["patch", "old.wdb", "-", "--dry-run"]).spawn().unwrap();
        child.stdin.take().unwrap().write_all(edit.as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(!out.status.success() && said.contains("ccc…") && said.len() < 1_000, "{}", said.len());
    }
    for (number, form) in [("18446744073709551617", ""), ("-9223372036854775809", ""), ("18446744073709551617", "[")] {
        let edit = format!(r#"{{"change":"changed","key":"ether","new":{{"u9Index":{number}}}}}"#);
        let edit = if form == "[" { format!("[{edit}]") } else { edit };
        let (_, said) = run_with(dir.path(), 2, &["patch", "old.wdb", "-", "--dry-run"], &edit);
        assert!(said.contains(&format!("column u9Index: \"{number}\" does not fit")), "{said}");
    }
    // A float has room for it.
    let edit = r#"{"change":"changed","key":"ether","new":{"fScale":18446744073709551616}}"#;
    let (shown, _) = run_with(dir.path(), 0, &["patch", "old.wdb", "-", "--dry-run", "-f", "ndjson"], edit);
    assert!(shown.contains(r#""new":{"fScale":1.8446744e+19}"#), "{shown}");
}

/// Some programs write the mark before any text, and also before a list of one line.
#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let dir = folder();
    let mut builder = assetq_sample::bwdb::DatabaseBuilder::default();
    builder.path("content/a.model");
    builder.string("Scene Root");
    fs::write(dir.path().join("assets.bin"), builder.build()).unwrap();
    for (args, line) in [
        (["string", "-", "--db", "assets.bin", "-f", "csv"], "Scene Root"),
        (["resolve", "-", "--db", "assets.bin", "-f", "csv"], "content/a.model"),
    ] {
        let plain = run_with(dir.path(), 0, &args, &format!("{line}\n"));
        assert!(plain.0.contains(line), "{plain:?}");
        assert_eq!(run_with(dir.path(), 0, &args, &format!("\u{FEFF}{line}\n")), plain, "{args:?}");
    }
    let (entry, _) = run(dir.path(), 0, &["cat", "old.wdb", "potion", "-f", "json"]);
    let edited = format!("\u{FEFF}{}", entry.replace("Potion", "Elixir"));
    let args = ["patch", "old.wdb", "-", "--entry", "potion", "--dry-run"];
    let (shown, _) = run_with(dir.path(), 0, &args, &edited);
    assert!(shown.contains("Potion -> Elixir"), "{shown}");
}

/// Empty columns and rows, and a wrong cell, which is known by its line and the key of its row.
#[test]
fn a_spreadsheet_leaves_empty_cells_around_the_rows() {
    let dir = folder();
    let rows = "record;u9Index;;\r\npotion;15;;\r\n;;;\r\n;;;\r\n";
    let (shown, _) = run_with(dir.path(), 0, &["patch", "old.wdb", "-", "--dry-run"], rows);
    assert_eq!(shown, "~ records potion\n    u9Index: 10 -> 15\n");
    let wrong = "record;u9Index\r\npotion;10\r\nether;many\r\n";
    let (_, said) = run_with(dir.path(), 2, &["patch", "old.wdb", "-", "--dry-run"], wrong);
    assert!(said.contains("line 3: records \"ether\": ") && said.contains("column u9Index: \"many\""), "{said}");
}

/// `>` of Windows PowerShell 5 and "Unicode text" of spreadsheets are UTF-16 with a byte order mark.
#[test]
fn texts_in_utf16_are_read_wherever_a_user_gives_a_text() {
    let dir = folder();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), utf16(text)).unwrap();
    let expected = "~ records potion\n    u9Index: 10 -> 15\n";
    write("unicode.csv", "record\tu9Index\r\npotion\t15\r\n");
    write("rows.json", "[{\"record\":\"potion\",\"u9Index\":15}]\r\n");
    for file in ["unicode.csv", "rows.json"] {
        assert_eq!(run(dir.path(), 0, &["patch", "old.wdb", file, "--dry-run"]).0, expected, "{file}");
    }
    // Standard input: changes, and a list of ids.
    let piped = |file: &str, args: &[&str]| {
        let input = fs::File::open(dir.path().join(file)).unwrap();
        let out = command(dir.path(), args).stdin(input).output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{args:?} {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    assert_eq!(piped("unicode.csv", &["patch", "old.wdb", "-", "--dry-run"]), expected);
    write("query.sql", "SELECT u9Index FROM records\r\nWHERE record = 'potion';\r\n");
    for args in [&["sql", "-", "old.wdb", "-f", "csv"][..], &["sql", "old.wdb", "-f", "csv"]] {
        assert_eq!(piped("query.sql", args), "u9Index\r\n10\r\n");
    }
    fs::write(dir.path().join("assets.bin"), assetq_sample::bwdb::demo(1, assetq_sample::Size::Small)).unwrap();
    let path = "content/gameplay/common/nowhere.dds";
    let id = assetq_core::codec::cityhash64(path.as_bytes());
    write("ids.txt", &format!("0x{id:016X}\r\n"));
    write("names.txt", &format!("{path}\r\n"));
    let args = ["resolve", "-", "--db", "assets.bin", "--names", "names.txt", "-f", "csv"];
    let out = command(dir.path(), &args).stdin(fs::File::open(dir.path().join("ids.txt")).unwrap()).output().unwrap();
    let shown = String::from_utf8(out.stdout).unwrap();
    assert!(shown.contains(&format!("0x{id:016X}")) && shown.contains(path), "{shown}");
}

#[test]
fn csv_for_spreadsheets_begins_with_a_mark_and_is_read_back() {
    let dir = folder();
    run(dir.path(), 0, &["export", "old.wdb", "--to", "items.csv", "--bom"]);
    assert!(read(&dir, "items.csv").starts_with(b"\xEF\xBB\xBFrecord,"));
    run(dir.path(), 0, &["patch", "old.wdb", "items.csv", "--to", "same.wdb"]);
    assert_eq!(read(&dir, "same.wdb"), read(&dir, "old.wdb"));
    run(dir.path(), 2, &["export", "old.wdb", "--to", "items.json", "--bom"]);
    let query = ["sql", "SELECT record, u9Index FROM records", "old.wdb", "--bom", "--to"];
    run(dir.path(), 0, &[&query[..], &["answer.csv"]].concat());
    assert!(read(&dir, "answer.csv").starts_with(b"\xEF\xBB\xBFrecord,u9Index\r\n"));
    let (_, said) = run(dir.path(), 2, &[&query[..], &["answer.json"]].concat());
    assert!(said.contains("--bom is for csv") && !dir.path().join("answer.json").exists(), "{said}");
}

/// A row without any text looks like those that spreadsheets add at the end.
#[test]
fn a_row_without_any_text_is_kept_when_missing_rows_are_deleted() {
    let dir = folder();
    let sheet = Sheet::new(Game::Later, "Texts").fields(["sName"]);
    let sheet = sheet.record("a", [Cell::from("one")]).record("", [Cell::from("")]);
    fs::write(dir.path().join("texts.wdb"), sheet.build()).unwrap();
    run(dir.path(), 0, &["export", "texts.wdb", "--to", "texts.csv"]);
    let exported = String::from_utf8(read(&dir, "texts.csv")).unwrap();
    assert_eq!(exported, "record,sName\r\na,one\r\n,\r\n");
    let args = ["patch", "texts.wdb", "-", "--delete-missing", "--dry-run"];
    // The row alone, and with rows that a spreadsheet has added.
    for more in ["", ",\r\n,\r\n"] {
        let (shown, _) = run_with(dir.path(), 0, &args, &format!("{exported}{more}"));
        assert_eq!(shown, "", "{more:?}");
    }
    let (shown, _) = run_with(dir.path(), 0, &args, "record,sName\r\na,one\r\n");
    assert_eq!(shown.lines().filter(|line| line.starts_with("- records")).count(), 1, "{shown}");
    // No row of the table is empty.
    let (shown, _) =
        run_with(dir.path(), 0, &["patch", "old.wdb", "-", "--dry-run"], "record,sName\r\npotion,P\r\n,\r\n");
    assert_eq!(shown, "~ records potion\n    sName: Potion -> P\n");
}

/// Files of a pack that are no sheets have no rows: they are put back as they are.
#[test]
fn any_file_of_a_pack_is_replaced_by_another() {
    let dir = folder();
    fs::write(dir.path().join("other.txt"), "longer than before").unwrap();
    let args = ["patch", "pack.bin", "other.txt", "--entry", "notes.txt"];
    let (shown, _) = run(dir.path(), 0, &[&args[..], &["--to", "new.bin", "--undo", "undo.ndjson"]].concat());
    assert!(shown.starts_with("~ entries {name: notes, extension: txt}\n    size: 2 -> 18\n"), "{shown}");
    assert_eq!(run(dir.path(), 0, &["extract", "new.bin", "notes.txt", "--to", "-"]).0, "longer than before");
    run(dir.path(), 0, &["patch", "new.bin", "undo.ndjson", "--to", "back.bin"]);
    assert_eq!(read(&dir, "back.bin"), read(&dir, "pack.bin"));
    // A sheet is a file, too; an entry as JSON is its records.
    let (shown, _) =
        run(dir.path(), 0, &["patch", "pack.bin", "new.wdb", "--entry", "items.wdb", "--to", "sheets.bin"]);
    assert!(shown.contains("size: "), "{shown}");
    run(dir.path(), 0, &["extract", "sheets.bin", "items.wdb", "--to", "out"]);
    assert_eq!(read(&dir, "out/items.wdb"), read(&dir, "new.wdb"));
    let (_, said) = run(dir.path(), 1, &["patch", "pack.bin", "other.txt", "--entry", "absent.txt", "--to", "x.bin"]);
    assert!(said.contains("\"absent.txt\" not found"), "{said}");
}

/// A name in Shift-JIS is shown by its bytes. It is no name of a file that another system would understand, so none is made up.
#[test]
fn a_file_whose_name_is_not_utf8_is_extracted_to_standard_output() {
    let dir = folder();
    let mut bytes = read(&dir, "pack.bin");
    let at = bytes.windows(5).position(|name| name == b"notes").unwrap();
    bytes[at..at + 5].copy_from_slice(b"\x83e\x83Xx");
    fs::write(dir.path().join("pack.bin"), bytes).unwrap();
    let (_, said) = run(dir.path(), 3, &["extract", "pack.bin", "--to", "out"]);
    assert!(said.contains("is not written") && said.contains("--to - writes one file to standard output"), "{said}");
    assert!(dir.path().join("out/items.wdb").exists());
    assert_eq!(run(dir.path(), 0, &["extract", "pack.bin", r"\x83e\x83Xx.txt", "--to", "-"]).0, "hi");
}

/// A terminal shows JSON, and may take some characters for commands: their escapes are the same text.
#[test]
fn json_holds_no_character_that_a_terminal_obeys() {
    let dir = folder();
    let text = "a\u{9b}31m\u{202e}b\u{7f}";
    fs::write(dir.path().join("odd.wdb"), sheet(0.5, text)).unwrap();
    let (shown, _) = run(dir.path(), 0, &["ls", "odd.wdb", "-f", "ndjson"]);
    assert!(shown.contains(r"a\u009b31m\u202eb\u007f") && !shown.contains(text), "{shown}");
    let ether: serde_json::Value = serde_json::from_str(shown.lines().nth(1).unwrap()).unwrap();
    assert_eq!(ether["sName"], text);
}

/// The other rows with the old key have other numbers once one of them has another key.
#[test]
fn a_patch_gives_another_key_to_one_of_several_rows_once() {
    let dir = TempDir::new().unwrap();
    run(dir.path(), 0, &["sample", "."]);
    for (file, rename) in [
        ("space.bin", "UPDATE instances SET id = '0x0000000000000123' WHERE \"index\" = 25"),
        // A key that other rows have already, and another change of the next row with the old key.
        (
            "space.bin",
            "UPDATE instances SET id = '0xA46FD15E8B5FBFE3' WHERE \"index\" = 25;
             UPDATE instances SET flags = 1 WHERE \"index\" = 28",
        ),
        (
            "town.wdata",
            "UPDATE in_area_boxes SET name = 'Lind Bridge'
             WHERE rowid = (SELECT min(rowid) FROM in_area_boxes WHERE name = 'Bell Plaza')",
        ),
    ] {
        run(dir.path(), 0, &["sql", rename, file, "--to", "new", "--undo", "undo.ndjson", "--force"]);
        let (patch, _) = run(dir.path(), 1, &["diff", file, "new", "-f", "patch"]);
        run_with(dir.path(), 0, &["patch", file, "-", "--to", "made", "--force"], &patch);
        run(dir.path(), 0, &["diff", "made", "new"]);
        let (_, said) = run_with(dir.path(), 0, &["patch", "new", "-", "--to", "again", "--force"], &patch);
        assert!(said.contains("0 edits") && read(&dir, "again") == read(&dir, "new"), "{file}: {patch}{said}");
        // The rows of the undo, which are used once other bytes of the file have changed.
        if patch.lines().count() > 1 {
            continue;
        }
        let other = match file {
            "space.bin" => "UPDATE instances SET flags = flags + 1 WHERE \"index\" = 0",
            _ => "UPDATE portal_boxes SET pos_y = 7 WHERE rowid = 0",
        };
        run(dir.path(), 0, &["sql", other, "new", "--in-place"]);
        for (from, to) in [("new", "back"), ("back", "back2")] {
            run(dir.path(), 0, &["patch", from, "undo.ndjson", "--to", to, "--force"]);
            let (left, _) = run(dir.path(), 1, &["diff", file, to, "--stat", "-f", "csv"]);
            let changed: Vec<&str> = left.lines().skip(1).collect();
            assert!(changed.iter().all(|line| line.ends_with(",0,0,1")), "{file} {to}: {left}");
        }
    }
}
