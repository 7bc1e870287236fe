//! Scripts of statements: each sees the file that those before it have made, and what is rolled back is not written.

use super::command::{folder as sheets, run};
use assetq_sample::{FILES, Size};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Sheets, and the files of the sample.
fn folder() -> TempDir {
    let dir = sheets();
    for file in ["assets.bin", "models.bin", "sheet.wdb", "space.bin", "town.wdata"] {
        let (_, _, make) = FILES.iter().find(|(name, ..)| *name == file).unwrap();
        fs::write(dir.path().join(file), make(3, Size::Small)).unwrap();
    }
    dir
}

fn csv(dir: &Path, query: &str, file: &str) -> String {
    run(dir, 0, &["sql", query, file, "-f", "csv"]).0.replace('\r', "").lines().skip(1).collect::<Vec<_>>().join(" ")
}

/// The columns of `render_sets` with which a row is inserted, besides the name.
const COLUMNS: &str = "material_name_id, vertices_name_id, indices_name_id, mfm_id, skinned, nodes";

#[test]
fn what_is_rolled_back_is_not_written() {
    let dir = folder();
    let dry = |code: i32, query: &str| run(dir.path(), code, &["sql", query, "old.wdb", "--dry-run"]);
    let second = "UPDATE records SET u9Index = 2 WHERE record = 'ether'";
    let shown = "~ records ether\n    u9Index: 11 -> 2\n";
    for undone in [
        "SAVEPOINT a; UPDATE records SET u9Index = 7; ROLLBACK TO a; RELEASE a",
        "BEGIN; SAVEPOINT a; SAVEPOINT b; DELETE FROM records; RELEASE b; ROLLBACK TO A; COMMIT",
        // Both names are of one table.
        "BEGIN; UPDATE records SET u9Index = 7; UPDATE old.records SET fScale = u9Index; ROLLBACK",
        "SAVEPOINT a; UPDATE old.records SET u9Index = 7; SELECT * FROM records; ROLLBACK TO a; RELEASE a",
    ] {
        assert_eq!(dry(1, undone).0.lines().filter(|line| line.starts_with('~')).count(), 0, "{undone}");
        let (listed, _) = dry(0, &format!("{undone}; {second}"));
        assert!(listed.ends_with(shown), "{undone}: {listed}");
    }
    let kept =
        "UPDATE records SET u9Index = 2 WHERE record = 'ether'; SAVEPOINT a; UPDATE records SET u9Index = u9Index + 1;
                ROLLBACK TO a; RELEASE a";
    assert_eq!(dry(0, kept).0, shown);
    // SQLite rolls back what no COMMIT ends.
    let (listed, said) = dry(2, &format!("BEGIN; {second}"));
    assert!(listed.is_empty() && said.contains("a transaction is open at the end"), "{said}");
}

/// A statement reads the file that the statements before it have made: ids by their new texts, and all columns that show the same
/// bytes.
#[test]
fn a_statement_reads_what_those_before_it_have_made() {
    let dir = folder();
    let dir = dir.path();
    let old = csv(dir, "SELECT name FROM render_sets WHERE rowid = 0", "assets.bin");
    for (query, file, question, answer) in [
        (
            "UPDATE render_sets SET name = 'AAA' WHERE rowid = 0; UPDATE render_sets SET name = name || 'b' WHERE name = 'AAA'",
            "assets.bin",
            "SELECT name_id = name_id('AAAb') FROM render_sets WHERE rowid = 0",
            "1",
        ),
        (
            "UPDATE instances SET transform = '[1,0,0,0,0,1,0,0,0,0,1,0,5,6,7,1]' WHERE rowid = 0;
             UPDATE instances SET x = x + 1, y = z WHERE x = 5",
            "space.bin",
            "SELECT json_extract(transform, '$[12]', '$[13]', '$[14]'), x FROM instances WHERE rowid = 0",
            "\"[6.0,7.0,7.0]\",6",
        ),
        (
            "UPDATE event_boxes SET pos_x = 3; UPDATE respawn_boxes SET pos_x = pos_x + 1 WHERE rowid = 0;
             UPDATE event_boxes SET pos_y = pos_x WHERE pos_x = 4",
            "town.wdata",
            "SELECT pos_x, pos_y FROM respawn_boxes WHERE rowid = 0",
            "4,4",
        ),
        (
            "DELETE FROM models WHERE \"index\" = (SELECT max(\"index\") FROM models); UPDATE lods SET extent = 7",
            "models.bin",
            "SELECT min(extent), max(extent), (SELECT count(*) FROM models) FROM lods",
            "7,7,5",
        ),
    ] {
        run(dir, 0, &["sql", query, file, "--to", "new", "--undo", "undo.ndjson", "--force"]);
        assert_eq!(csv(dir, question, "new").replace(", ", ","), answer, "{query}");
        run(dir, 0, &["patch", "new", "undo.ndjson", "--in-place"]);
        assert!(fs::read(dir.join("new")).unwrap() == fs::read(dir.join(file)).unwrap(), "{query}");
    }
    // There and back again.
    let back = format!(
        "UPDATE render_sets SET name = 'AAA' WHERE rowid = 0; UPDATE render_sets SET name = '{old}' WHERE rowid = 0"
    );
    run(dir, 0, &["sql", &back, "assets.bin", "--to", "same.bin"]);
    assert!(fs::read(dir.join("same.bin")).unwrap() == fs::read(dir.join("assets.bin")).unwrap());
}

/// Rows keep the numbers by which statements know them, wherever other rows are inserted and deleted.
#[test]
fn a_row_keeps_its_number_in_a_script() {
    let dir = folder();
    let query = "DELETE FROM records WHERE rowid = 0; UPDATE records SET u9Index = 5 WHERE rowid = 1;
                 INSERT INTO records (record) VALUES ('tent'); UPDATE records SET u9Index = rowid WHERE record = 'tent';
                 DELETE FROM records WHERE rowid = 2";
    run(dir.path(), 0, &["sql", query, "old.wdb", "--to", "made.wdb"]);
    let question = "SELECT group_concat(record || u9Index) FROM (SELECT * FROM records ORDER BY rowid)";
    let before = csv(dir.path(), "SELECT record FROM records WHERE rowid = 1", "old.wdb");
    assert_eq!(csv(dir.path(), question, "made.wdb"), format!("\"{before}5,tent3\""));
}

#[test]
fn cells_that_contradict_each_other_are_refused_by_every_route() {
    let dir = folder();
    let dir = dir.path();
    let refused = |args: &[&str], what: &str| {
        let (_, said) = run(dir, 2, &[args, &["--to", "none"]].concat());
        assert!(said.contains(what) && !dir.join("none").exists(), "{args:?}: {said}");
    };
    let both = "UPDATE render_sets SET name_id = '0x11111111', name = 'other' WHERE rowid = 0";
    refused(&["sql", both, "assets.bin"], "column name: \"other\" does not fit: name_id is 0x11111111");
    let copy = |name: &str| {
        format!(
            "INSERT INTO render_sets (record, name_id, name, {COLUMNS})
             SELECT record, '0x11111111', {name}, {COLUMNS} FROM render_sets WHERE rowid = 0"
        )
    };
    refused(&["sql", &copy("'other'"), "assets.bin"], "column name: \"other\" does not fit: name_id is 0x11111111");
    let matrix = "[1,0,0,0,0,1,0,0,0,0,1,0,5,6,7,1]";
    let moved = format!("UPDATE instances SET transform = '{matrix}', y = 9 WHERE rowid = 0");
    refused(&["sql", &moved, "space.bin"], "column y: 9 does not fit: the transform has 6");
    let moved = "INSERT INTO instances (path, name, transform, flags, x)
                 SELECT path, 'new', transform, flags, x + 1 FROM instances LIMIT 1";
    refused(&["sql", moved, "space.bin"], "column x: ");
    let key = csv(dir, "SELECT id FROM instances WHERE rowid = 0", "space.bin");
    let patch = format!(
        r#"{{"table":"instances","change":"changed","key":{{"id":"{key}","name":{}}},"new":{{"transform":{matrix},"x":9}}}}"#,
        match csv(dir, "SELECT quote(name) FROM instances WHERE rowid = 0", "space.bin").trim_matches('\'') {
            "NULL" => "null".to_owned(),
            name => format!("\"{name}\""),
        }
    );
    fs::write(dir.join("patch.ndjson"), patch).unwrap();
    refused(&["patch", "space.bin", "patch.ndjson"], "column x: 9 does not fit: the transform has 5");
    // The text of the old id yields.
    run(dir, 0, &["sql", &copy("name"), "assets.bin", "--to", "new.bin"]);
    let count = "SELECT count(*) FROM render_sets WHERE name_id = '0x11111111'";
    assert_eq!(csv(dir, count, "new.bin"), "1");
    let kept = "UPDATE render_sets SET name_id = '0x11111111', name = name WHERE rowid = 0";
    run(dir, 0, &["sql", kept, "assets.bin", "--to", "kept.bin"]);
    assert_eq!(csv(dir, count, "kept.bin"), "1");
}

#[test]
fn values_of_sql_fit_as_those_of_other_routes_do() {
    let dir = folder();
    let dir = dir.path();
    let said = |code: i32, query: &str, file: &str| run(dir, code, &["sql", query, file, "--dry-run"]).1;
    let wrong = said(2, "UPDATE resources SET database = 58 WHERE rowid = 0", "assets.bin");
    assert!(wrong.contains("resources: column database: 58 does not fit: the file has "), "{wrong}");
    said(0, "UPDATE lods SET casts_shadow = casts_shadow * 1.0", "models.bin");
    for query in ["UPDATE records SET sName", "UPDATE records SET record"] {
        let long = said(2, &format!("{query} = replace(hex(zeroblob(40000)), '00', 'ab')"), "sheet.wdb");
        assert!(long.len() < 400, "{} bytes: {}", long.len(), &long[..400]);
    }
    let (shown, _) = run(
        dir,
        0,
        &[
            "sql",
            "UPDATE event_boxes SET pos_x = 0; UPDATE event_boxes SET pos_x = -0.0 WHERE rowid = 0",
            "town.wdata",
            "--to",
            "zero.wdata",
        ],
    );
    assert!(shown.contains("-> -0\n"), "{shown}");
    let same = said(0, "UPDATE records SET sName = sName", "sheet.wdb");
    assert!(same.contains("0 edits, ") && !same.contains(" 0 that the file has already"), "{same}");
    // A copy of a row has its derived cells, too.
    let copy = "INSERT INTO lods SELECT * FROM lods WHERE rowid = 0";
    assert!(said(0, copy, "models.bin").contains("1 edit,"));
}
