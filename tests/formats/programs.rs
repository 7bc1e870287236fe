//! Functions that programs call first: rows by the names of their columns, answers of SQL, edits in one expression.

use assetq::edit::AssetEdit as _;
use assetq::table::{Kind, Value};
use assetq::{Asset, Result, Source, diff, sql};
use assetq_sample::wdb::{Cell, Game, Sheet};

fn sheet(monsters: &[(&str, &str, i64)]) -> Asset {
    let sheet = Sheet::new(Game::Later, "Monsters").fields(["sName", "u9SaveIndex", "fScale"]);
    let sheet = monsters
        .iter()
        .fold(sheet, |sheet, (name, text, index)| sheet.record(name, [(*text).into(), Cell::Int(*index), 0.5.into()]));
    Asset::open(Source::from_vec("monsters.wdb", sheet.build())).unwrap()
}

fn monsters() -> Asset {
    sheet(&[("m001", "flan", 10), ("m002", "wolf", 11), ("m003", "golem", 400)])
}

fn said<T>(result: Result<T>) -> String {
    result.map(drop).unwrap_err().to_string()
}

#[test]
fn rows_are_read_by_number_and_by_name() {
    let asset = monsters();
    let table = asset.table("records").unwrap();
    let names = table.rows().map(|row| row?.get::<String>("sName")).collect::<Result<Vec<_>>>();
    assert_eq!(names.unwrap(), ["flan", "wolf", "golem"]);
    assert_eq!(table.row_at(2).unwrap().get::<u16>("u9SaveIndex").unwrap(), 400);
    let wolf = table.row("m002").unwrap();
    assert_eq!((wolf.number(), wolf.columns().len()), (1, table.columns().len()));
    assert_eq!(wolf.value("fScale").unwrap(), Value::F32(0.5));
    assert_eq!(said(table.row_at(3)), "row 3 of records not found");
    assert_eq!(said(table.row("m02")), r#""m02" not found in records; did you mean m002?"#);
}

#[test]
fn a_cell_that_a_program_cannot_have_is_an_error_with_its_place() {
    let asset = monsters();
    let table = asset.table("records").unwrap();
    let golem = table.row("m003").unwrap();
    assert_eq!(
        said(golem.get::<u8>("u9SaveIndex")),
        "row 2 of records, column u9SaveIndex: 400 is no whole number of 8 bits"
    );
    assert_eq!(
        said(golem.value("SaveIndex")),
        "table records: no column SaveIndex; did you mean u9SaveIndex? it has record, sName, u9SaveIndex, fScale"
    );
    assert!(format!("{golem:?} {:?}", table.rows()).starts_with(r#"Row { table: "records", number: 2, .. } Rows"#));
}

#[test]
fn rows_of_a_table_that_is_walked_in_order_keep_their_cells() {
    let archive = assetq_sample::vrb::demo(1, assetq_sample::Size::Small);
    let asset = Asset::open(Source::from_vec("content.vrb", archive)).unwrap();
    let table = asset.table("values").unwrap();
    assert!(table.nature().sequential);
    let rows: Vec<_> = table.rows().take(40).collect::<Result<_>>().unwrap();
    for (number, row) in rows.iter().enumerate().rev() {
        for (at, column) in row.columns().iter().enumerate() {
            // As texts: two cells that are no number do not equal each other.
            assert_eq!(row.value(&column.name).unwrap().to_string(), table.value(number, at).unwrap().to_string());
        }
    }
}

#[test]
fn rows_end_after_the_first_one_that_cannot_be_found() {
    let mut archive = assetq_sample::vrb::demo(1, assetq_sample::Size::Small);
    let whole = archive.len();
    archive.truncate(whole - whole / 3);
    let asset = Asset::open(Source::from_vec("content.vrb", archive)).unwrap();
    let table = asset.table("values").unwrap();
    let mut rows = table.rows().skip_while(Result::is_ok);
    rows.next().unwrap().unwrap_err();
    assert!(rows.next().is_none());
}

/// The answer of `statement` to the sheet of monsters: its rows as texts, and the kinds of its columns.
fn answer(statement: &str) -> (Vec<String>, Vec<Kind>) {
    let answer = sql::query(&monsters(), statement).unwrap();
    let rows =
        answer.values().iter().map(|cells| cells.iter().map(|c| format!("{c} ")).collect::<String>().trim().to_owned());
    let table: &dyn assetq::table::Table = &answer;
    (rows.collect(), table.columns().iter().map(|column| column.kind).collect())
}

#[test]
fn an_answer_of_sql_has_the_kinds_that_all_its_cells_have() {
    let (rows, kinds) = answer("SELECT record, u9SaveIndex, fScale FROM records WHERE u9SaveIndex > 10");
    assert_eq!(rows, ["m002 11 0.5", "m003 400 0.5"]);
    assert_eq!(kinds, [Kind::Text, Kind::Int, Kind::F64]);
    // Whole numbers beside others are floats, and nulls beside them change nothing.
    let (rows, kinds) = answer("SELECT 1 AS x, NULL AS y UNION ALL SELECT 2.5, 7 UNION ALL SELECT NULL, 8");
    assert_eq!((kinds, rows.len()), (vec![Kind::F64, Kind::Int], 3));
    let halves = sql::query(&monsters(), "SELECT 1 AS x UNION ALL SELECT 2.5").unwrap();
    assert_eq!(halves.values(), [[Value::F64(1.0)], [Value::F64(2.5)]]);
    // A column with cells of several kinds may hold anything.
    let kinds = |statement| answer(statement).1;
    assert_eq!(kinds("SELECT 1 UNION ALL SELECT 'one'"), [Kind::Any]);
    assert_eq!(kinds("SELECT 'one' UNION ALL SELECT 1"), [Kind::Any]);
    assert_eq!(kinds("SELECT NULL"), [Kind::Any]);
    assert_eq!(kinds("SELECT 'one' UNION ALL SELECT NULL"), [Kind::Text]);
}

#[test]
fn the_last_statement_with_a_result_answers_and_its_answer_is_a_table() {
    let asset = monsters();
    let answer = sql::query(&asset, "SELECT 1; SELECT record, sName AS name FROM records; BEGIN").unwrap();
    let mut names = Vec::new();
    for row in &answer {
        names.push(row.unwrap().get::<String>("name").unwrap());
    }
    assert_eq!(names, ["flan", "wolf", "golem"]);
    let table: &dyn assetq::table::Table = &answer;
    assert_eq!((table.name(), table.len().unwrap()), ("answer", 3));
    assert_eq!(table.row("m003").unwrap().get::<String>("name").unwrap(), "golem");
    assert_eq!(said(table.value(3, 0)), "answer: row 3, column 0 not found");
    assert_eq!(sql::query(&asset, "").unwrap().rows().count(), 0);
    assert!(said(sql::query(&asset, "SELECT hull FROM records")).contains("no such column: hull"));
}

#[test]
fn edits_in_one_expression_change_insert_and_delete_rows_of_a_new_file() {
    let dir = tempfile::tempdir().unwrap();
    let new = dir.path().join("new.wdb");
    let asset = monsters();
    let edited = asset
        .edit()
        .set("records", "m002", "u9SaveIndex", 300)
        .and_then(|edit| edit.insert("records", "m004", [("sName", "imp".into()), ("fScale", 1.5_f32.into())]))
        .and_then(|edit| edit.delete("records", "m001")?.write(&new))
        .unwrap();
    let rows = sql::query(&edited, "SELECT record, sName, u9SaveIndex, fScale FROM records").unwrap();
    let texts: Vec<String> =
        rows.values().iter().map(|cells| format!("{} {} {} {}", cells[0], cells[1], cells[2], cells[3])).collect();
    assert_eq!(texts, ["m002 wolf 300 0.5", "m003 golem 400 0.5", "m004 imp 0 1.5"]);
    // The file that was opened is as it was, and the new one is not replaced.
    assert_eq!(asset.table("records").unwrap().row("m002").unwrap().get::<u16>("u9SaveIndex").unwrap(), 11);
    assert!(said(asset.edit().write(&new)).contains("exists"), "{}", said(asset.edit().write(&new)));
}

#[test]
fn an_edit_that_cannot_be_stored_is_refused_when_it_is_added() {
    let asset = monsters();
    for (refused, why) in [
        (asset.edit().set("records", "m002", "u9SaveIndex", 512), "512"),
        (asset.edit().set("records", "m009", "u9SaveIndex", 1), "m009"),
        (asset.edit().set("records", "m002", "u9Save", 1), "u9Save"),
        (asset.edit().set("nothing", "m002", "u9SaveIndex", 1), "nothing"),
        (asset.edit().insert("records", "m003", [("u9SaveIndex", 1.into())]), "m003"),
        (asset.edit().delete("records", "m000"), "m000"),
    ] {
        let error = said(refused);
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_difference_is_one_line_of_text() {
    let (old, new) = (monsters(), sheet(&[("m002", "wolf", 12), ("m003", "golem", 400), ("m004", "imp", 5)]));
    let tables = diff::tables(&old, &new, &["records".to_owned()]).unwrap();
    let mut lines: Vec<String> = tables[0].changes().unwrap().iter().map(ToString::to_string).collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "added m004, sName: imp, u9SaveIndex: 5, fScale: 0.5",
            "changed m002, u9SaveIndex: 11 -> 12",
            "removed m001, sName: flan, u9SaveIndex: 10, fScale: 0.5"
        ]
    );
    assert!(
        said(diff::tables(&old, &new, &["recods".to_owned()])).contains("no table \"recods\"; did you mean records")
    );
}
