//! `--undo`: the way back, by any address of the file and in any order of the edits.

use super::command::{read, run, run_with};
use std::fs;
use tempfile::TempDir;

/// The sample files with names for people: enemies, items and texts in a pack, a save, a map, databases.
fn demo() -> TempDir {
    let dir = TempDir::new().unwrap();
    run(dir.path(), 0, &["sample", "."]);
    dir
}

const TEXT: [&str; 4] = ["set", "pack.bin:text.wdb", "t_sh_jeweller.sEnglish", "Jewellers of the town"];
const ITEM: [&str; 4] = ["set", "pack.bin:item.wdb", "it_potion.u16Price", "1"];

/// Edits a file in place, with this undo file.
fn edit(dir: &TempDir, edit: &[&str], undo: &str) {
    run(dir.path(), 0, &[edit, &["--in-place", "--undo", undo]].concat());
}

fn undo(dir: &TempDir, file: &str, undo: &str) -> String {
    run(dir.path(), 0, &["patch", file, undo, "--in-place"]).1
}

#[test]
fn a_pack_is_restored_by_its_own_address_and_by_the_address_of_the_file_in_it() {
    let dir = demo();
    let pack = read(&dir, "pack.bin");
    edit(&dir, &TEXT, "undo.ndjson");
    for file in ["pack.bin:text.wdb", "pack.bin"] {
        assert_ne!(read(&dir, "pack.bin"), pack);
        run(dir.path(), 0, &["patch", file, "undo.ndjson", "--to", "back.bin", "--force"]);
        assert_eq!(read(&dir, "back.bin"), pack, "{file}");
        let line = String::from_utf8(read(&dir, "undo.ndjson")).unwrap();
        run_with(dir.path(), 0, &["patch", file, "-", "--to", "back.bin", "--force"], &line);
        assert_eq!(read(&dir, "back.bin"), pack, "{file}");
    }
    // The restored pack has no change left.
    undo(&dir, "pack.bin", "undo.ndjson");
    for file in ["pack.bin:text.wdb", "pack.bin"] {
        let said = undo(&dir, file, "undo.ndjson");
        assert!(said.contains("0 edits, 1 that the file has already, 0 left out"), "{said}");
        assert_eq!(read(&dir, "pack.bin"), pack, "{file}");
    }
    // The file by itself is restored, too.
    edit(&dir, &TEXT, "again.ndjson");
    run(dir.path(), 0, &["extract", "pack.bin", "text.wdb", "--to", "."]);
    undo(&dir, "text.wdb", "again.ndjson");
    fs::write(dir.path().join("pack.bin"), &pack).unwrap();
    run(dir.path(), 0, &["extract", "pack.bin", "text.wdb", "--to", "old"]);
    assert_eq!(read(&dir, "text.wdb"), read(&dir, "old/text.wdb"));
}

#[test]
fn an_edit_of_a_pack_that_changes_nothing_is_undone_by_either_address() {
    let dir = demo();
    let pack = read(&dir, "pack.bin");
    edit(&dir, &["sql", "UPDATE records SET u1IsKeyItem = u1IsKeyItem", "pack.bin:item.wdb"], "undo.ndjson");
    assert_eq!(read(&dir, "pack.bin"), pack);
    for file in ["pack.bin:item.wdb", "pack.bin"] {
        undo(&dir, file, "undo.ndjson");
        assert_eq!(read(&dir, "pack.bin"), pack, "{file}");
    }
}

#[test]
fn edits_of_two_files_of_a_pack_are_undone_in_any_order() {
    let dir = demo();
    let pack = read(&dir, "pack.bin");
    for (addresses, order) in [
        (["pack.bin", "pack.bin"], [0, 1]),
        (["pack.bin", "pack.bin"], [1, 0]),
        (["pack.bin:item.wdb", "pack.bin:text.wdb"], [0, 1]),
        (["pack.bin:item.wdb", "pack.bin:text.wdb"], [1, 0]),
    ] {
        let undos = [0, 1].map(|number| format!("{addresses:?}{order:?}{number}.ndjson").replace([':', '"', ' '], ""));
        edit(&dir, &ITEM, &undos[0]);
        edit(&dir, &TEXT, &undos[1]);
        for number in order {
            undo(&dir, addresses[number], &undos[number]);
        }
        assert!(read(&dir, "pack.bin") == pack, "{addresses:?} {order:?}");
    }
}

#[test]
fn edits_of_nested_values_are_undone_in_any_order() {
    let dir = demo();
    let (listed, _) = run(dir.path(), 0, &["ls", "assets.bin", "-t", "visuals", "-c", "path", "-n", "2", "-f", "csv"]);
    let visuals: Vec<String> = listed.lines().skip(1).map(|path| format!("{path}.lods[0].extent")).collect();
    for (file, [one, two], value) in [
        ("savegame.vrb", ["HoursPlayed", "Players[0].Position.Y"], "360"),
        ("models.bin", ["2.lods[0].extent", "1.lods[0].extent"], "91"),
        ("assets.bin", [&*visuals[0], &*visuals[1]], "91"),
    ] {
        let old = read(&dir, file);
        edit(&dir, &["set", file, one, value], &format!("{file}.1.ndjson"));
        edit(&dir, &["set", file, two, value], &format!("{file}.2.ndjson"));
        undo(&dir, file, &format!("{file}.1.ndjson"));
        let (left, _) = run(dir.path(), 0, &["patch", file, &format!("{file}.2.ndjson"), "--to", "back", "--force"]);
        assert!(left.contains(&format!("{value} -> ")), "{file}: {left}");
        fs::write(dir.path().join(file), old).unwrap();
        run(dir.path(), 0, &["diff", file, "back"]);
    }
}

/// The rows of the second undo would be passed over once the first one has restored the bytes.
#[test]
fn undo_files_are_applied_one_by_one() {
    let dir = demo();
    edit(&dir, &ITEM, "1.ndjson");
    edit(&dir, &TEXT, "2.ndjson");
    let both = ["2.ndjson", "1.ndjson"].map(|name| String::from_utf8(read(&dir, name)).unwrap()).concat();
    let (_, said) = run_with(dir.path(), 2, &["patch", "pack.bin", "-", "--to", "back.bin"], &both);
    assert!(said.contains("another undo begins after the first one: apply undo files one by one"), "{said}");
    assert!(!dir.path().join("back.bin").exists());
}

/// The bytes of one file in a pack are in no row. The rows of a script of several steps undo it.
#[test]
fn an_undo_whose_rows_do_not_suffice_names_what_they_leave() {
    let dir = demo();
    let texts = "UPDATE text SET sEnglish = 'a'; UPDATE text SET sEnglish = sEnglish || 'b'";
    fs::write(dir.path().join("other.txt"), "other").unwrap();
    for (edit, code) in
        [(&["sql", texts, "pack.bin"][..], 0), (&["patch", "pack.bin", "other.txt", "--entry", "readme.txt"], 1)]
    {
        run(dir.path(), 0, &[edit, &["--to", "new.bin", "--undo", "undo.ndjson", "--force"]].concat());
        run(dir.path(), 0, &["set", "new.bin:item.wdb", "it_potion.u16Price", "1", "--in-place"]);
        let (_, said) = run(dir.path(), code, &["patch", "new.bin", "undo.ndjson", "--dry-run"]);
        assert_eq!(said.contains("and its rows do not undo all changes: entries"), code == 1, "{said}");
    }
}

#[test]
fn an_undo_that_holds_already_is_done() {
    let dir = demo();
    for (file, edit) in [
        ("savegame.vrb", ["set", "savegame.vrb", "HoursPlayed", "7.5"]),
        ("models.bin", ["set", "models.bin", "2.lods[0].extent", "91"]),
        ("enemy.wdb", ["sql", "UPDATE records SET record = 'e_wolf2' WHERE record = 'e_wolf'", "enemy.wdb", "-q"]),
    ] {
        run(dir.path(), 0, &[&edit[..], &["--to", "new", "--undo", "undo.ndjson", "--force"]].concat());
        let (shown, said) = run(dir.path(), 0, &["patch", file, "undo.ndjson", "--dry-run"]);
        assert!(shown.is_empty() && said.contains("0 edits, 1 that the file has already, 0 left out"), "{said}");
    }
}

/// The row of the old key is gone, as it was renamed.
#[test]
fn a_key_that_a_row_of_a_patch_gives_may_be_there_already() {
    let dir = demo();
    let rename = |table: &str, column: &str, from: &str, to: &str| {
        let key = if table == "records" { format!("{from:?}") } else { format!("{{\"name\":{from:?},\"index\":0}}") };
        format!("{{\"table\":\"{table}\",\"change\":\"changed\",\"key\":{key},\"new\":{{\"{column}\":{to:?}}}}}\n")
    };
    let (code, row) = (0, rename("records", "record", "e_wolf2", "e_wolf"));
    let (_, said) = run_with(dir.path(), code, &["patch", "enemy.wdb", "-", "--dry-run"], &row);
    assert!(said.contains("0 edits, 1 that the file has already, 0 left out"), "{said}");
    // No row has either key.
    let row = rename("records", "record", "e_wolf2", "e_wolf3");
    let (_, said) = run_with(dir.path(), 1, &["patch", "enemy.wdb", "-", "--dry-run"], &row);
    assert!(said.contains("records \"e_wolf2\": not found"), "{said}");
    // The undo of a renamed row of a map, whose other bytes have changed.
    let rename = "UPDATE portal_boxes SET name = name || '2' WHERE rowid = 0";
    run(dir.path(), 0, &["sql", rename, "town.wdata", "--to", "new.wdata", "--undo", "undo.ndjson"]);
    run(dir.path(), 0, &["sql", "UPDATE portal_boxes SET pos_y = 7 WHERE rowid = 0", "town.wdata", "--in-place"]);
    let (_, said) = run(dir.path(), 0, &["patch", "town.wdata", "undo.ndjson", "--dry-run"]);
    assert!(said.contains("0 edits, 1 that the file has already, 0 left out"), "{said}");
}

#[test]
fn an_exported_table_without_rows_deletes_all_rows() {
    let dir = demo();
    run(dir.path(), 0, &["sql", "DELETE FROM records", "enemy.wdb", "--to", "empty.wdb"]);
    for name in ["empty.csv", "empty.json"] {
        run(dir.path(), 0, &["export", "empty.wdb", "--to", name]);
        run(dir.path(), 0, &["patch", "enemy.wdb", name, "--delete-missing", "--to", "new.wdb", "--force"]);
        assert_eq!(run(dir.path(), 0, &["ls", "new.wdb", "-f", "ndjson"]).0, "", "{name}");
    }
    // A file without a byte may be one that was never written.
    run(dir.path(), 0, &["export", "empty.wdb", "--to", "empty.ndjson"]);
    let (_, said) = run(dir.path(), 2, &["patch", "enemy.wdb", "empty.ndjson", "--delete-missing", "--dry-run"]);
    assert!(
        said.contains("empty.ndjson: it is empty; --delete-missing deletes all rows for the header line"),
        "{said}"
    );
}

#[test]
fn a_damaged_file_of_many_is_named_once() {
    let dir = demo();
    let mut bytes = read(&dir, "enemy.wdb");
    // The offset of a record, after its name.
    let record = bytes.windows(7).position(|name| name == b"e_wolf\0").unwrap();
    bytes[record + 16..record + 20].fill(0xFF);
    fs::create_dir(dir.path().join("many")).unwrap();
    fs::write(dir.path().join("many/a.wdb"), read(&dir, "enemy.wdb")).unwrap();
    fs::write(dir.path().join("many/b.wdb"), bytes).unwrap();
    let query = "UPDATE records SET u7DropRate = u7DropRate + 1";
    let (_, said) = run(dir.path(), 3, &["sql", query, "many/*.wdb", "--dry-run"]);
    assert!(said.contains("record e_wolf, field u7DropRate") && said.matches("b.wdb").count() == 1, "{said}");
}

/// The statements of an undo file are checked before a byte is written.
#[test]
fn an_undo_whose_pieces_do_not_make_the_old_file_is_refused() {
    let dir = demo();
    edit(&dir, &["set", "enemy.wdb", "e_golem.uHp", "3"], "undo.ndjson");
    let lines = String::from_utf8(read(&dir, "undo.ndjson")).unwrap();
    let row: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let size = row["new"]["size"].as_u64().unwrap();
    for (pieces, what) in [
        (serde_json::json!([[0, size + 1]]), "an undo that leaves the file"),
        (serde_json::json!([[5, 4]]), "an undo that leaves the file"),
        (serde_json::json!([[0, size - 1]]), "an undo that gives a file of another size than it says"),
        (serde_json::json!([[0, size], [0, size], "00"]), "an undo that gives a file of another size than it says"),
    ] {
        let mut row = row.clone();
        row["new"]["pieces"] = pieces;
        let patch = ["patch", "enemy.wdb", "-", "--to", "back.wdb"];
        let (_, err) = run_with(dir.path(), 2, &patch, &format!("{row}\n"));
        assert!(err.contains(what) && !dir.path().join("back.wdb").exists(), "{err}");
    }
}
