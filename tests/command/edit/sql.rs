//! `UPDATE`, `INSERT` and `DELETE` through the tables of a file, and the file that they make.

use super::command::{folder, read, run};
use assetq::formats::wows::bwdb::prototypes::PrototypeType;
use assetq_sample::bwdb::DatabaseBuilder;
use assetq_sample::prototypes::BlobWriter;
use assetq_sample::wdb::{Cell, Game, Sheet};

#[test]
fn statements_change_rows_and_see_what_those_before_them_changed() {
    let dir = folder();
    let query = "UPDATE records SET u9Index = u9Index + 1 WHERE fScale < 0.5;
                 INSERT INTO records(record, sName, u9Index) VALUES ('phoenix', 'Phoenix', 40), ('tent', '', 41);
                 DELETE FROM records WHERE record IN ('potion', 'tent');
                 UPDATE records SET sName = upper(sName) WHERE u9Index IN (13, 40)";
    let args = ["sql", query, "old.wdb", "--to", "a.wdb", "--undo", "undo.ndjson", "-f", "ndjson"];
    let (shown, said) = run(dir.path(), 0, &args);
    assert_eq!(shown.lines().count(), 3, "{shown}");
    assert!(said.contains("4 edits") || said.contains("3 edits"), "{said}");
    let (listed, _) = run(dir.path(), 0, &["ls", "a.wdb", "-f", "csv"]);
    assert_eq!(
        listed.replace('\r', ""),
        "record,sName,u9Index,fScale\nether,Ether,11,0.5\nelixir,ELIXIR,13,0.25\nphoenix,PHOENIX,40,0\n"
    );
    run(dir.path(), 0, &["patch", "a.wdb", "undo.ndjson", "--in-place"]);
    assert_eq!(read(&dir, "a.wdb"), read(&dir, "old.wdb"));
}

#[test]
fn a_transaction_that_is_rolled_back_changes_nothing() {
    let dir = folder();
    let query = "BEGIN; UPDATE records SET u9Index = 1; DELETE FROM records WHERE record = 'ether'; ROLLBACK;
                 UPDATE records SET u9Index = 2 WHERE record = 'ether'";
    let (shown, _) = run(dir.path(), 0, &["sql", query, "old.wdb", "--dry-run"]);
    assert_eq!(shown, "~ records ether\n    u9Index: 11 -> 2\n");
}

#[test]
fn a_statement_of_a_script_that_matches_no_row_is_named() {
    let dir = folder();
    let query = "UPDATE records SET u9Index = 2 WHERE record = 'ether'; DELETE FROM records WHERE record = 'nothing';
                 SELECT count(*) FROM records";
    let (_, said) = run(dir.path(), 0, &["sql", query, "old.wdb", "--to", "out.wdb"]);
    assert!(said.contains("SQL: note: statement 2 changes no row") && said.matches("statement").count() == 1, "{said}");
}

#[test]
fn a_table_that_several_files_have_is_the_first_one_which_is_named() {
    let dir = folder();
    let said = |query: &str| run(dir.path(), 0, &["sql", query, "old.wdb", "new.wdb"]).1;
    assert_eq!(
        said("SELECT count(*) FROM records"),
        "assetq: SQL: note: records without a schema is old.records, and not new.records\n"
    );
    assert_eq!(said("SELECT count(*) FROM old.records JOIN new.records USING (record)"), "");
}

#[test]
fn a_cell_that_does_not_fit_is_wrong_usage_and_nothing_is_written() {
    let dir = folder();
    for (query, what) in [
        (
            "UPDATE records SET u9Index = 512",
            "row potion: records: column u9Index: 512 does not fit: a whole number from 0 to 511",
        ),
        ("UPDATE records SET u9Index = 'x'", "column u9Index: \"x\" does not fit"),
        ("UPDATE records SET fScale = NULL", "column fScale: null does not fit"),
        ("UPDATE sections SET offset = 5", "column offset: 5 does not fit: it takes nothing"),
        ("UPDATE records SET u9Index = 18446744073709551616", "column u9Index: 1.8446744073709552e19 does not fit"),
        ("DELETE FROM fields", "rows of fields can neither be added nor removed"),
        ("UPDATE records SET sName = x'00'", "row potion: records: column sName: a blob fits into no column"),
        (
            "INSERT INTO records(record) VALUES ('ether')",
            "column record: \"ether\" does not fit: another row has this value",
        ),
    ] {
        let (_, said) = run(dir.path(), 2, &["sql", query, "old.wdb", "--to", "a.wdb"]);
        assert!(said.contains(what) && !dir.path().join("a.wdb").exists(), "{query}: {said}");
    }
    // Without a word of where to, nothing is changed, as ever.
    let (_, said) = run(dir.path(), 2, &["sql", "DELETE FROM records", "old.wdb"]);
    assert!(said.contains("may not be modified; --to NEW"), "{said}");
}

#[test]
fn a_question_that_counts_rows_does_not_stand_in_the_way_of_its_own_edit() {
    let dir = folder();
    // More records than are counted without being asked.
    let count = 4_200;
    let mut builder = DatabaseBuilder::default();
    let mut blob = BlobWriter::new(PrototypeType::Visual, count);
    for record in 0..count {
        let at = blob.record(record);
        blob.data.patch(at + 0x3C, [1]);
        blob.structs(at, 0x68, 1, 0x10);
        let id = builder.path(&format!("{record}.visual"));
        builder.resource(id, 0, record, 0);
    }
    builder.database(PrototypeType::Visual.magic(), 0, blob.finish());
    std::fs::write(dir.path().join("assets.bin"), builder.build()).unwrap();
    let query = "UPDATE lods SET extent = 7 WHERE record = 5";
    run(dir.path(), 0, &["sql", query, "assets.bin", "--to", "a.bin"]);
    let (sum, _) = run(dir.path(), 0, &["sql", "SELECT count(*), sum(extent) FROM lods", "a.bin", "-f", "csv"]);
    assert!(sum.contains("4200,7"), "{sum}");
}

#[test]
fn a_column_that_is_not_there_is_answered_with_those_that_are() {
    let dir = folder();
    let columns = "; records has record, sName, u9Index, fScale";
    for (sql, what) in [
        ("UPDATE records SET nope = 1", "no such column: nope"),
        ("DELETE FROM Records WHERE nope = 1", "no such column: nope"),
        ("INSERT INTO records (record, nope) VALUES ('x', 1)", "table records has no column named nope"),
    ] {
        let (_, said) = run(dir.path(), 2, &["sql", sql, "old.wdb", "--dry-run"]);
        assert!(said.contains(&format!("{what}{columns}")), "{said}");
    }
}

#[test]
fn one_file_is_written_and_others_are_read() {
    let dir = folder();
    let query = "UPDATE old.records SET fScale = (SELECT n.fScale FROM new.records n WHERE n.record = records.record)
                 WHERE record = 'ether'";
    let (shown, _) = run(dir.path(), 0, &["sql", query, "old.wdb", "new.wdb", "--to", "a.wdb"]);
    assert_eq!(shown, "~ records ether\n    fScale: 0.5 -> 2\n");
    let both = "DELETE FROM old.records; DELETE FROM new.records";
    let (_, said) = run(dir.path(), 2, &["sql", both, "old.wdb", "new.wdb", "--to", "b.wdb"]);
    assert!(said.contains("change several files"), "{said}");
}

/// Each row that a statement changes costs the same, however many it has changed before.
#[test]
fn a_statement_changes_many_rows_in_one_walk() {
    let dir = folder();
    let sheet = Sheet::new(Game::Later, "Items").fields(["u20Price"]);
    let sheet = (0..40_000).fold(sheet, |sheet, row| sheet.record(format!("it_{row:06}"), [Cell::Int(0)]));
    std::fs::write(dir.path().join("many.wdb"), sheet.build()).unwrap();
    let begin = std::time::Instant::now();
    let args = ["sql", "UPDATE records SET u20Price = 7", "many.wdb", "--to", "other.wdb", "-f", "csv"];
    let (shown, _) = run(dir.path(), 0, &args);
    assert_eq!(shown.lines().count(), 40_001);
    assert!(begin.elapsed().as_secs() < 30, "{:?}", begin.elapsed());
}

/// Each inserted row costs the same, however many rows precede it.
#[test]
fn many_rows_are_inserted_from_csv() {
    let dir = folder();
    let rows: String = (0..40_000).map(|row| format!("it_{row:06},{},1\n", row % 500)).collect();
    std::fs::write(dir.path().join("more.csv"), format!("record,u9Index,fScale\n{rows}")).unwrap();
    let begin = std::time::Instant::now();
    let args = ["patch", "old.wdb", "more.csv", "--insert", "--to", "other.wdb", "-f", "csv"];
    let (shown, _) = run(dir.path(), 0, &args);
    assert!(shown.lines().count() > 40_000, "{}", shown.lines().count());
    assert!(begin.elapsed().as_secs() < 30, "{:?}", begin.elapsed());
}

/// A format refuses what none of its files can hold, with the column and what fits.
#[test]
fn rows_that_a_file_cannot_hold_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), 0, &["sample", "."]);
    const PROPERTY: &str = "INSERT INTO material_properties (record, \"index\", name, type";
    for (file, edit, what) in [
        (
            "assets.bin",
            "INSERT INTO resources (state) VALUES ('valid')",
            "a row that is added has no id, and no path either",
        ),
        (
            "assets.bin",
            "INSERT INTO resources (id, state) VALUES ('0x0000000000000005', 'valid')",
            "the record that it leads to is missing: the columns database and record",
        ),
        (
            "assets.bin",
            "UPDATE material_properties SET texture_id = NULL WHERE rowid = 0",
            "column texture_id: null does not fit: the path of a texture, or its id, does",
        ),
        (
            "assets.bin",
            "UPDATE material_properties SET value = 'a.dds', texture_id = '0x0000000000000005' WHERE rowid = 0",
            "column value: \"a.dds\" does not fit: texture_id is 0x0000000000000005",
        ),
        (
            "assets.bin",
            &format!("{PROPERTY}, texture_id) VALUES (0, 0, 'newMap', 'float', '0x0000000000000005')"),
            "column texture_id: 0x0000000000000005 does not fit: the type is float",
        ),
        (
            "assets.bin",
            &format!("{PROPERTY}, value) VALUES (0, 0, 'newMap', 'texture', '')"),
            "column value: \"\" does not fit: the path of a texture does",
        ),
        (
            "assets.bin",
            &format!("{PROPERTY}, value) VALUES (0, 0, 'newMap', 'nothing', 1)"),
            "column type: \"nothing\" does not fit: bool, int, uint, float, texture, vec2, vec3, vec4, matrix do",
        ),
        (
            "models.bin",
            "INSERT INTO skeleton_nodes (skeleton, \"index\", matrix) VALUES (0, 0, NULL)",
            "skeleton_nodes: node 0: column name_id is missing",
        ),
        ("town.wdata", "INSERT INTO event_boxes (name) VALUES ('x')", "a new row of event_boxes needs a type_name"),
        ("town.wdata", "INSERT INTO scripts (path) VALUES ('x')", "a new row of scripts needs a kind and a path"),
        (
            "XGM101_Gun.mfm",
            "UPDATE properties SET value = 'a\\b' WHERE kind = 'Texture'",
            "property diffuseMap: \"a\\\\b\" does not fit: a Texture does",
        ),
    ] {
        let (_, err) = run(dir.path(), 2, &["sql", edit, file, "--to", "new.out"]);
        assert!(err.contains(what) && err.lines().count() == 1, "{edit}: {err}");
        assert!(!dir.path().join("new.out").exists(), "{edit}");
    }
}
