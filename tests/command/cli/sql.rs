//! `assetq sql`, run as a user runs it.

use super::{run_in, samples};
use assetq::formats::rusty_hearts::wdata::BoxType;
use assetq::table::{Value, column_index};
use assetq::{Asset, Source};
use assetq_sample::bwdb::DatabaseBuilder;
use assetq_sample::{FILES, Size};
use serde_json::Value as Json;
use std::fs;
use tempfile::TempDir;

fn sql(code: i32, args: &[&str]) -> (String, String) {
    run_in(samples(), code, &[&["sql"], args].concat(), "")
}

fn typed(code: i32, args: &[&str], stdin: &str) -> (String, String) {
    run_in(samples(), code, &[&["sql"], args].concat(), stdin)
}

fn json(args: &[&str]) -> Json {
    serde_json::from_str(&sql(0, &[args, &["-f", "json"]].concat()).0).unwrap()
}

#[test]
fn rows_of_a_table_are_those_that_ls_writes() {
    for (file, table) in [("assets.bin", "visuals"), ("space.bin", "instances"), ("town.wdata", "event_boxes")] {
        for format in ["json", "ndjson", "csv"] {
            let (ls, _) = run_in(samples(), 0, &["ls", file, "-t", table, "-f", format], "");
            let (rows, _) = sql(0, &[&format!("SELECT * FROM {table}"), file, "-f", format]);
            if format == "csv" {
                assert_eq!(rows, ls, "{file} {table}");
                continue;
            }
            // Single and double precision write the same number in different ways.
            let parse = |text: &str| -> Vec<Json> {
                serde_json::Deserializer::from_str(text).into_iter().map(Result::unwrap).collect()
            };
            assert_eq!(parse(&rows), parse(&ls), "{file} {table} {format}");
        }
    }
}

#[test]
fn an_answer_in_each_format() {
    let query = "SELECT 'a,b' AS t, 2 AS n, 1.5 AS f, NULL AS z, x'00FF' AS b, 3 AS n";
    assert_eq!(sql(0, &[query]).0, "t    n    f  z  b     n_2\na,b  2  1.5  -  00FF    3\n");
    assert_eq!(json(&[query]).to_string(), r#"[{"b":"00FF","f":1.5,"n":2,"n_2":3,"t":"a,b","z":null}]"#);
    assert_eq!(sql(0, &[query, "-f", "csv"]).0, "t,n,f,z,b,n_2\r\n\"a,b\",2,1.5,,00FF,3\r\n");
    // No rows are an answer, too.
    let none = "SELECT name FROM paths WHERE name = '?'";
    assert_eq!(sql(0, &[none, "assets.bin", "-f", "csv"]), ("name\r\n".into(), String::new()));
    assert_eq!(sql(0, &[none, "assets.bin", "-f", "json"]).0, "[]\n");
    assert_eq!(sql(0, &[none, "assets.bin"]).0, "");
}

/// Each cell of a compound select is what its own arm says.
#[test]
fn arms_of_other_kinds_keep_their_cells() {
    let ask = |query: &str, format: &str| sql(0, &[query, "ship.geometry", "-f", format]).0;
    let texts = "UNION ALL SELECT '1' UNION ALL SELECT 'null' UNION ALL SELECT '1e5'";
    let lines = "{\"y\":\"1\"}\n{\"y\":\"null\"}\n{\"y\":\"1e5\"}\n";
    for arm in ["SELECT min AS y FROM armor_models WHERE 0", "SELECT y FROM (SELECT min AS y FROM armor_models WHERE 0"]
    {
        let end = if arm.contains('(') { ")" } else { "" };
        assert_eq!(ask(&format!("{arm} {texts}{end}"), "ndjson"), lines);
        assert_eq!(ask(&format!("{arm} {texts}{end}"), "csv"), "y\r\n1\r\nnull\r\n1e5\r\n");
    }
    let truths =
        |arms: &str| ask(&format!("SELECT encoded AS y FROM vertex_buffers WHERE \"index\" = 0 {arms}"), "ndjson");
    assert_eq!(truths("UNION ALL SELECT 7"), truths("UNION ALL SELECT 7 ORDER BY y LIMIT 9"));
    assert!(truths("").contains(":true") || truths("").contains(":false"));
    assert!(truths("UNION ALL SELECT 1").ends_with("{\"y\":1}\n"));
    let inner = |arms: &str| truths("").replace(":true", ":1").replace(":false", ":0") + arms;
    let of_subquery = "SELECT y FROM (SELECT encoded AS y FROM vertex_buffers WHERE \"index\" = 0 UNION ALL SELECT 1)";
    assert_eq!(ask(of_subquery, "ndjson"), inner("{\"y\":1}\n"));
    let by_list = "SELECT encoded AS y FROM vertex_buffers WHERE \"index\" IN (SELECT 0 UNION SELECT 0)";
    assert_eq!(ask(by_list, "ndjson"), truths(""));
    // Columns of tables in all arms keep their kinds.
    let both = truths("UNION ALL SELECT skinned FROM vertex_buffers");
    assert!(both.contains(":false") && !both.contains(":0"), "{both}");
    let nested = ask(
        "WITH a AS (SELECT min FROM armor_models) SELECT min FROM a UNION ALL SELECT max FROM armor_models",
        "ndjson",
    );
    assert!(nested.lines().count() >= 2 && nested.lines().all(|line| line.starts_with("{\"min\":[")), "{nested}");
}

#[test]
fn json_is_one_document() {
    let two = "SELECT 1 AS a; SELECT 2 AS b";
    for (args, stdin) in [(&[two][..], ""), (&["-"], two), (&[], two)] {
        let (out, said) = typed(2, &[args, &["-f", "json"]].concat(), stdin);
        // Statements of standard input run as they arrive.
        assert!(out.is_empty() || args.is_empty(), "{out}");
        assert!(said.contains("-f ndjson writes the rows of several"), "{said}");
    }
    assert_eq!(typed(0, &[two, "-f", "ndjson"], "").0, "{\"a\":1}\n{\"b\":2}\n");
    assert_eq!(json(&["CREATE TEMP TABLE t AS SELECT 1 AS a; SELECT a FROM t"]).to_string(), "[{\"a\":1}]");
}

#[cfg(feature = "parquet")]
#[test]
fn whole_numbers_among_floats_are_floats_in_a_file_with_types() {
    let dir = TempDir::new().unwrap();
    let kept = |query: &str| {
        run_in(dir.path(), 0, &["sql", query, "--to", "x.parquet", "--force"], "");
        let file = fs::File::open(dir.path().join("x.parquet")).unwrap();
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        reader.schema().field(0).data_type().to_string()
    };
    assert_eq!(kept("SELECT 1 AS a UNION ALL SELECT 2.5"), "Float64");
    assert_eq!(kept("SELECT 2.5 AS a UNION ALL SELECT 1 UNION ALL SELECT NULL"), "Float64");
    assert_eq!(kept("SELECT 1 AS a UNION ALL SELECT 2"), "Int64");
    // A text keeps all digits of a number that a float would round.
    assert_eq!(kept("SELECT 9007199254740993 AS a UNION ALL SELECT 2.5"), "Utf8");
    assert_eq!(kept("SELECT 1 AS a UNION ALL SELECT 'x'"), "Utf8");
}

#[test]
fn several_files_and_names_for_them() {
    let counts = "SELECT (SELECT count(*) FROM a.paths) AS a, (SELECT count(*) FROM models.models) AS m";
    let counts = json(&[counts, "a=assets.bin", "models.bin"]);
    assert!(counts[0]["a"].as_u64().unwrap() > 10 && counts[0]["m"].as_u64().unwrap() > 1, "{counts}");
    let (_, err) = sql(0, &["SELECT count(*) FROM assets_2.paths", "assets.bin", "assets.bin"]);
    assert!(err.starts_with("assetq: assets.bin: is assets_2 here"), "{err}");
    // A folder stands for its files of one format.
    let all = json(&["SELECT count(*) AS n FROM records, vertex_buffers", "--format-of", "wdb", ".", "ship.geometry"]);
    assert!(all[0]["n"].as_u64().unwrap() > 0);
}

#[test]
fn mistakes_are_one_line_and_exit_code_2() {
    for (args, message) in [
        (
            &["SELECT FORM paths", "assets.bin"][..],
            "assetq: SQL: no such column: FORM; paths has id, parent_id, name, path (at character 8: FORM paths)\n",
        ),
        (
            &["SELECT 1;\nSELECT ü, FORM", "assets.bin"],
            "assetq: SQL: no such column: ü (at line 2, character 8: ü, FORM)\n",
        ),
        (
            &["DELETE FROM paths", "assets.bin"],
            "assetq: SQL: table paths may not be modified; --to NEW writes the change to a new file, --in-place to this one, and \
             --dry-run only shows it\n",
        ),
        (&["asets.bin"], "assetq: asets.bin: neither a file nor a query\n"),
        (
            &["assets.bin", "SELECT 1 FROM paths WHERE id = 2"],
            "assetq: the query comes before the files, as in: assetq sql \"SELECT * FROM paths\" assets.bin\n",
        ),
    ] {
        assert_eq!(sql(2, args).1, message, "{args:?}");
    }
    let (_, err) = sql(4, &["SELECT 1;", "--into", "x.sqlite", "-"]);
    assert!(err.starts_with("assetq: -: cannot open: ") && err.ends_with(" (os error 2)\n"), "{err}");
}

/// The number of rows that a file states is no answer before the rows are found.
#[test]
fn a_count_is_the_number_of_rows_that_are_found() {
    let dir = TempDir::new().unwrap();
    let town = FILES.iter().find(|(name, ..)| *name == "town.wdata").unwrap().2(1, Size::Small);
    let file = Asset::open(Source::from_vec("town.wdata", town.clone())).unwrap();
    let sections = file.reader().sections();
    let index = sections.iter().find(|section| section.name == "event_box_index").unwrap();
    let boxes = file.reader().table("waypoint_boxes").unwrap();
    let offset = column_index(&*boxes, "offset").unwrap();
    let Value::Uint(second) = boxes.value(1, offset).unwrap() else { panic!("offsets are numbers") };
    let count = index.offset as usize + 4 + 8 * usize::from(BoxType::WaypointBox.number()) + 4;
    let query = "SELECT count(*) FROM waypoint_boxes";
    // A name that does not end hides the later boxes.
    for (at, bytes, found) in [(count, 3_000_000u32, 0), (count, u32::MAX, 0), (second as usize, u32::MAX, 1)] {
        let mut damaged = town.clone();
        damaged[at..at + 4].copy_from_slice(&bytes.to_le_bytes());
        fs::write(dir.path().join("bad.wdata"), damaged).unwrap();
        let run = |code: i32, args: &[&str]| run_in(dir.path(), code, args, "");
        let (rows, _) = run(3, &["ls", "bad.wdata", "-t", "waypoint_boxes", "-f", "ndjson"]);
        assert_eq!(rows.lines().count(), found);
        let (out, err) = run(3, &["sql", query, "bad.wdata", "-f", "csv"]);
        assert!(!out.contains(char::is_numeric) && err.starts_with("assetq: bad.wdata: "), "{out}{err}");
        let (out, _) = run(3, &["sql", query, "bad.wdata", "-f", "csv", "--skip-damaged"]);
        assert_eq!(out, format!("count(*)\r\n{found}\r\n"));
        run(3, &["sql", "SELECT count(*) FROM event_boxes", "bad.wdata"]);
        run(3, &["export", "bad.wdata", "-t", "waypoint_boxes", "--to", "out.csv"]);
        let info: serde_json::Value = serde_json::from_str(&run(0, &["info", "bad.wdata", "-f", "json"]).0).unwrap();
        let tables = info["tables"].as_array().unwrap();
        let of = |name: &str| &tables.iter().find(|table| table["name"] == name).unwrap()["rows"];
        assert!(of("waypoint_boxes").is_null() && of("event_boxes").is_null() && of("npc_boxes").is_number(), "{info}");
    }
}

#[test]
fn damage_is_exit_code_3_with_or_without_an_answer() {
    let dir = TempDir::new().unwrap();
    let mut builder = DatabaseBuilder::with_capacities(16, 16);
    builder.path("root/a");
    builder.raw_path(4, 99, "lost");
    builder.path("root/b");
    fs::write(dir.path().join("bad.bin"), builder.build()).unwrap();
    let query = ["sql", "SELECT path FROM paths WHERE path LIKE '%/%'", "bad.bin"];
    let (out, err) = run_in(dir.path(), 3, &query, "");
    assert_eq!(out, "root/a\n");
    assert!(err.starts_with("assetq: bad.bin: paths: row 2: ") && err.contains("(at offset 0x"), "{err}");
    assert_eq!(err.lines().count(), 1);
    let (out, err) = run_in(dir.path(), 3, &[&query[..], &["--skip-damaged"]].concat(), "");
    assert_eq!(out, "root/a\nroot/b\n");
    assert!(err.lines().count() == 2 && err.ends_with("assetq: 1 damaged row left out\n"), "{err}");
    // A failure leaves no file.
    run_in(dir.path(), 3, &[&query[..], &["--into", "out.sqlite"]].concat(), "");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn rows_go_into_a_database() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("kept.sqlite");
    let out = out.to_str().unwrap();
    let keep = ["SELECT id, name FROM paths ORDER BY id", "assets.bin", "--into", out, "--as-table", "names"];
    let (_, note) = sql(0, &keep);
    assert!(note.contains("rows in names"), "{note}");
    let (_, err) = sql(4, &keep);
    assert!(err.contains("--force"), "{err}");
    sql(0, &[&keep[..], &["--force", "-q"]].concat());
    assert_eq!(json(&["SELECT * FROM names", out]), json(&[keep[0], "assets.bin"]));
    let same = "SELECT count(*) AS n FROM kept.names n JOIN assets.paths p ON p.id = n.id AND p.name = n.name";
    let rows = json(&["SELECT count(*) AS n FROM paths", "assets.bin"]);
    assert_eq!(json(&[same, out, "assets.bin"]), rows);
    let (_, err) = sql(2, &["DELETE FROM names", out]);
    assert!(err.contains("readonly"), "{err}");
    let (_, err) = sql(2, &["CREATE TEMP TABLE t(a)", "assets.bin", "--into", "none.sqlite"]);
    assert!(err.contains("a statement that gives rows"), "{err}");
    let (_, err) = sql(2, &["SELECT * FROM names", out, "--into", out, "--force"]);
    assert!(err.contains("is one of the files that are read"), "{err}");
}

#[test]
fn databases_that_cannot_be_attached_are_named() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name).into_os_string().into_string().unwrap();
    let names: Vec<String> = (0..11).map(|number| at(&format!("d{number}.sqlite"))).collect();
    for name in &names {
        rusqlite::Connection::open(name).unwrap().execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES (7)").unwrap();
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(json(&[&["SELECT a FROM d9.t"], &names[..10]].concat()).to_string(), r#"[{"a":7}]"#);
    let (_, err) = sql(2, &[&["SELECT 1"], &names[..]].concat());
    assert!(err.contains("SQLite takes at most 10 databases at once, and these are 11"), "{err}");
    let mut bytes = fs::read(names[0]).unwrap();
    bytes[16..100].fill(0xFF);
    fs::write(at("bad.sqlite"), bytes).unwrap();
    let (_, err) = sql(3, &["SELECT * FROM t", &at("bad.sqlite")]);
    assert!(err.contains("bad.sqlite") && err.contains("not a database"), "{err}");
}

#[test]
fn logarithms_are_null_where_there_is_none() {
    let logs = "SELECT log(100) AS a, log10(1000) AS b, log2(8) AS c, log2(0) AS d, ln(-1) AS e";
    assert_eq!(json(&[logs]).to_string(), r#"[{"a":2.0,"b":3.0,"c":3.0,"d":null,"e":null}]"#);
}

/// Many rows are read while others are written; a column has the type of its cells, and none if they are of several.
#[test]
fn an_answer_of_many_rows_is_a_table_of_them_all() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("many.sqlite");
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
                SELECT i, i * 0.5 AS half, 'row ' || i AS name, zeroblob(i % 3) AS bytes, nullif(i, i) AS absent, \
                iif(i = 1, 'one', i) AS mixed FROM n";
    sql(0, &[rows, "--into", out.to_str().unwrap(), "--as-table", "kept"]);
    let database = rusqlite::Connection::open(&out).unwrap();
    let text = |sql: &str| database.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    let declared =
        "CREATE TABLE \"kept\"(\"i\" INTEGER, \"half\" REAL, \"name\" TEXT, \"bytes\" BLOB, \"absent\", \"mixed\")";
    assert_eq!(text("SELECT sql FROM sqlite_schema"), declared);
    let sums = "SELECT concat_ws(' ', count(*), sum(i), sum(half), sum(length(bytes)), count(absent), sum(name = 'row ' || i), \
                sum(typeof(mixed) = 'text'), sum(i = rowid)) FROM kept";
    assert_eq!(text(sums), "20000 200010000 100005000.0 20001 0 20000 1 20000");
}

#[test]
fn an_answer_is_written_as_the_ending_of_its_file_says() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name).into_os_string().into_string().unwrap();
    let query = "SELECT type, count(*) AS n, avg(size) AS mean, NULL AS none, CASE WHEN count(*) > 2 THEN 1 ELSE 'few' END AS many \
                 FROM resources GROUP BY type ORDER BY type";
    for kind in ["csv", "json", "ndjson"] {
        let out = at(&format!("x.{kind}"));
        assert_eq!(sql(0, &[query, "assets.bin", "--to", &out]), (String::new(), String::new()), "{kind}");
        assert_eq!(fs::read_to_string(&out).unwrap(), sql(0, &[query, "assets.bin", "-f", kind]).0, "{kind}");
        assert!(sql(4, &[query, "assets.bin", "--to", &out]).1.contains("it exists; --force writes over it"));
        sql(0, &[query, "assets.bin", "--to", &out, "--force"]);
    }
    // A column has the type of its cells, and text if they are of several.
    #[cfg(feature = "parquet")]
    {
        let out = at("x.parquet");
        sql(0, &[query, "assets.bin", "--to", &out]);
        let file = fs::File::open(&out).unwrap();
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let types: Vec<_> = reader.schema().fields().iter().map(|field| field.data_type().to_string()).collect();
        assert_eq!(types, ["Utf8", "Int64", "Float64", "Utf8", "Utf8"]);
        let rows: usize = reader.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(rows, json(&[query, "assets.bin"]).as_array().unwrap().len());
        sql(0, &[query, "assets.bin", "--to", &at("x.arrow")]);
        assert!(fs::read(at("x.arrow")).unwrap().starts_with(b"ARROW1"));
    }
    // Many files are one input, as without --to.
    let count = "SELECT count(DISTINCT file) AS n FROM records";
    for (name, seed) in [("a.wdb", 1), ("b.wdb", 2)] {
        fs::write(dir.path().join(name), assetq_sample::wdb::demo(seed, assetq_sample::Size::Small)).unwrap();
    }
    sql(0, &[count, &at("*.wdb"), "--to", &at("n.ndjson")]);
    assert_eq!(fs::read_to_string(at("n.ndjson")).unwrap(), "{\"n\":2}\n");
    assert_eq!(typed(0, &["assets.bin", "--to", &at("typed.csv")], "SELECT 1 AS one;").0, "");
    assert_eq!(fs::read_to_string(at("typed.csv")).unwrap(), "one\r\n1\r\n");
    let before = fs::read_dir(dir.path()).unwrap().count();
    for (args, what) in [
        (&["--to", &at("x.bin")][..], "x.bin: a table is written as .csv, .json, .ndjson, .parquet"),
        (&["--to", &at("new.svg")], "new.svg: a table is written as"),
        (&["--in-place"], "without --in-place"),
        (&["--to", &at("new.csv"), "--undo", &at("undo.ndjson")], "without --undo"),
        (&["--to", &at("new.csv"), "--into", &at("new.db")], "without --into"),
        (&["--into", &at("new.parquet")], "new.parquet: --into writes a database of SQLite"),
        (&["--into", &at("new")], "new: --into writes a database of SQLite"),
    ] {
        let (_, err) = sql(2, &[&[query, "assets.bin"], args].concat());
        assert!(err.contains(what), "{args:?}: {err}");
    }
    assert!(sql(2, &["SELECT 1; SELECT 2", "assets.bin", "--to", &at("new.csv")]).1.contains("of one statement"));
    assert_eq!(sql(0, &["SELECT 7", "assets.bin", "--to", &at("new.csv"), "--dry-run"]).0, "7\n");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before);
}

#[test]
fn statements_come_from_standard_input() {
    let text =
        "SELECT 1 AS a;\n.tables\nSELECT\n  'x;' -- half;\n; SELECT 3;\n.schema paths\n.nothing\n.quit\nSELECT 4;";
    let (out, err) = typed(0, &["assets.bin"], text);
    assert!(out.starts_with("1\npaths\nresources\n"), "{out}");
    assert!(
        out.contains("\nx;\n3\nCREATE TABLE paths(id ID, parent_id ID, name TEXT, path TEXT);") && !out.contains('4'),
        "{out}"
    );
    assert_eq!(err, "assetq: .nothing: no such command; .help lists them\n");
    assert_eq!(typed(0, &["-", "assets.bin"], "SELECT 5; SELECT 6").0, "5\n6\n");
    let (out, err) = typed(2, &["assets.bin"], "SELECT 1;\nSELECT\n  nme FROM paths;\nSELECT 2;");
    assert_eq!(
        (out.as_str(), err.as_str()),
        (
            "1\n",
            "assetq: SQL: no such column: nme; did you mean name? paths has id, parent_id, name, path (at line 2, character 3: nme FROM paths;)\n"
        )
    );
    assert!(typed(0, &["assets.bin"], ".help\n").0.contains("path_id"));
}

/// An id of 16 digits without a letter, as other tools write it, has one meaning everywhere.
#[test]
fn ids_are_read_by_one_rule_everywhere() {
    let dir = TempDir::new().unwrap();
    let id_of = |path: &str| assetq::formats::id::Id64(assetq_core::codec::cityhash64(path.as_bytes())).to_string();
    let only_digits = |path: &String| {
        let id = id_of(path);
        // SQL would drop leading zeros of a number.
        !id.starts_with("0x0") && id[2..].bytes().all(|b| b.is_ascii_digit())
    };
    let path = (0..).map(|number| format!("root/{number}.visual")).find(only_digits).unwrap();
    let mut builder = DatabaseBuilder::with_capacities(16, 16);
    builder.path(&path);
    builder.path("root/other");
    fs::write(dir.path().join("assets.bin"), builder.build()).unwrap();
    let id = id_of(&path);
    let digits = &id[2..];
    let decimal = u64::from_str_radix(digits, 16).unwrap().to_string();
    let other = id_of("root/other");
    for form in [&id, digits, &decimal, &id.to_lowercase()] {
        let resolved = run_in(dir.path(), 0, &["resolve", form, "-f", "json"], "").0;
        assert!(resolved.contains(&path), "{resolved}");
        // Compared by the table's own index, by SQLite alone, and in a list.
        for query in [
            format!("SELECT path FROM paths WHERE id = '{form}'"),
            format!("SELECT path FROM (SELECT * FROM paths LIMIT 9) WHERE id = '{form}'"),
            format!("SELECT path FROM paths WHERE id IN ('{form}', '0x1')"),
            format!("SELECT p.path FROM (SELECT '{form}' AS wanted) JOIN paths p ON p.id = wanted"),
        ] {
            assert_eq!(run_in(dir.path(), 0, &["sql", &query, "assets.bin"], "").0, format!("{path}\n"), "{query}");
        }
        for condition in [format!("id = {form}"), format!("id = '{form}'")] {
            let rows = run_in(dir.path(), 0, &["ls", "assets.bin", "-w", &condition, "-c", "path"], "").0;
            assert_eq!(rows, format!("{path}\n"), "{condition}");
        }
        assert!(run_in(dir.path(), 0, &["cat", "assets.bin", form], "").0.contains(&path), "{form}");
    }
    // Without quotes, as with them.
    for query in
        [format!("SELECT path FROM paths WHERE id = {digits}"), format!("SELECT path FROM paths WHERE {digits} = id")]
    {
        assert_eq!(run_in(dir.path(), 0, &["sql", &query, "assets.bin"], "").0, format!("{path}\n"), "{query}");
    }
    let condition = format!("id = {}", &other[2..]);
    assert_eq!(run_in(dir.path(), 0, &["ls", "assets.bin", "-w", &condition, "-c", "path"], "").0, "root/other\n");
    run_in(dir.path(), 2, &["ls", "assets.bin", "-w", "id = 2k"], "");
}

/// SQLite has no whole numbers from 2^63 up.
#[test]
fn ids_of_64_bits_are_found_as_numbers() {
    let dir = TempDir::new().unwrap();
    let id_of = |path: &String| assetq_core::codec::cityhash64(path.as_bytes());
    let path = (0..).map(|number| format!("root/{number}.visual")).find(|path| id_of(path) >= 1 << 63).unwrap();
    let mut builder = DatabaseBuilder::with_capacities(16, 16);
    builder.path(&path);
    builder.path("root/other");
    fs::write(dir.path().join("assets.bin"), builder.build()).unwrap();
    let id = id_of(&path);
    let ask = |code: i32, query: &str| run_in(dir.path(), code, &["sql", query, "assets.bin"], "");
    for form in [id.to_string(), format!("{id:#x}")] {
        for query in [
            format!("SELECT path FROM paths WHERE id = {form}"),
            format!("SELECT path FROM paths WHERE {form} IS id"),
            format!("SELECT path FROM (SELECT * FROM paths LIMIT 9) WHERE id = {form}"),
            format!("SELECT path FROM paths WHERE id IN ({form}, 1)"),
            format!("SELECT path FROM paths WHERE id >= {form} AND id <= {form}"),
            format!("SELECT p.path FROM (SELECT {form} AS wanted) JOIN paths p ON p.id = wanted"),
            format!("CREATE TEMP VIEW found AS SELECT path FROM paths WHERE id = {form}; SELECT path FROM found"),
            format!("SELECT path FROM paths WHERE id = hex({form})"),
        ] {
            assert_eq!(ask(0, &query).0, format!("{path}\n"), "{query}");
        }
    }
    // Two ids that SQLite rounds to one number.
    let (_, said) = ask(2, &format!("SELECT path FROM paths WHERE id IN ({id}, {})", id ^ 1));
    assert!(said.contains("are equal: write ids in quotes"), "{said}");
    // Elsewhere such numbers are what they are in SQLite.
    let query = "SELECT 0xFFFFFFFFFFFFFFFF = -1 AND typeof(18446744073709551615) = 'real'";
    assert_eq!(ask(0, query).0, "1\n");
}

#[test]
fn statements_write_nothing_and_reach_no_file_that_was_not_named() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::copy(samples().join("assets.bin"), dir.path().join("assets.bin")).unwrap();
    let run = |code: i32, query: &str, files: &[&str]| run_in(dir.path(), code, &[&["sql", query], files].concat(), "");
    run(0, "SELECT 1 AS one", &["assets.bin", "--into", &at("mine.sqlite")]);
    run(0, "SELECT 2 AS two", &["assets.bin", "--into", &at("other.sqlite")]);
    let before = |name: &str| fs::read(dir.path().join(name)).unwrap();
    let (mine, other) = (before("mine.sqlite"), before("other.sqlite"));
    let (new, named) = (at("new.sqlite"), at("other.sqlite"));
    for query in [
        format!("ATTACH '{new}' AS n"),
        format!("ATTACH '{named}' AS n"),
        format!("ATTACH 'file:{new}?mode=rwc' AS n"),
        format!("ATTACH 'fi' || 'le:{new}' AS n"),
        "ATTACH '' AS n".to_owned(),
        format!("VACUUM INTO '{new}'"),
        format!("VACUUM main INTO '{new}'"),
        format!("VACUUM mine INTO '{new}'"),
        "DETACH mine".to_owned(),
        format!("PRAGMA temp_store_directory = '{}'", dir.path().display()),
        "PRAGMA mine.journal_mode = DELETE".to_owned(),
        "PRAGMA mine.user_version = 7".to_owned(),
        "PRAGMA writable_schema = ON".to_owned(),
        "PRAGMA mine.wal_checkpoint".to_owned(),
        "PRAGMA optimize".to_owned(),
        format!("SELECT load_extension('{new}')"),
        format!("SELECT writefile('{new}', 'x')"),
        "INSERT INTO mine.result VALUES (2)".to_owned(),
        "CREATE TABLE mine.t(a)".to_owned(),
        "DROP TABLE mine.result".to_owned(),
        "UPDATE sqlite_schema SET sql = ''".to_owned(),
    ] {
        let (out, err) = run(2, &query, &["assets.bin", "mine.sqlite"]);
        assert!(out.is_empty() && err.starts_with("assetq: SQL: ") && err.lines().count() == 1, "{query}: {out}{err}");
    }
    let (_, err) = run(2, &format!("VACUUM INTO '{new}'"), &["assets.bin"]);
    assert!(err.contains("statements reach no other files than those that the command names"), "{err}");
    assert_eq!((before("mine.sqlite"), before("other.sqlite")), (mine, other));
    let names = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.collect::<std::collections::BTreeSet<_>>().len(), 3);
}

#[test]
fn statements_work_in_memory_and_ask_what_there_is() {
    let text = "CREATE TEMP TABLE t AS SELECT name FROM paths; CREATE TEMP VIEW v AS SELECT count(*) AS n FROM t;\n\
                ATTACH ':memory:' AS m; CREATE TABLE m.u(a); INSERT INTO m.u VALUES (1); DELETE FROM t WHERE name = '';\n\
                PRAGMA table_info(paths); PRAGMA database_list; PRAGMA user_version; PRAGMA case_sensitive_like = ON;\n\
                SELECT count(*) > 3 FROM pragma_table_info('paths'); SELECT n > 10 FROM v; ANALYZE m;";
    let (out, _) = typed(0, &["assets.bin"], text);
    assert!(out.ends_with("1\n1\n"), "{out}");
}

/// A table answers LIKE by itself, unless a pragma makes LIKE distinguish case.
#[test]
fn a_pragma_of_like_holds_for_tables_and_texts_alike() {
    let counts = "SELECT (SELECT count(*) FROM paths WHERE name LIKE '%E%'), \
                  (SELECT count(*) FROM (SELECT name || '' AS name FROM paths) WHERE name LIKE '%E%')";
    let count = |before: &str| {
        let (out, _) = typed(0, &["assets.bin", "-f", "csv"], &format!("{before}{counts};"));
        let row = out.lines().last().unwrap().split_once(',').unwrap();
        assert_eq!(row.0, row.1, "{before}");
        row.0.parse::<usize>().unwrap()
    };
    let [usual, distinguished] = ["", "PRAGMA case_sensitive_like = ON; "].map(count);
    assert!(usual > distinguished, "{usual} {distinguished}");
    assert_eq!(count("PRAGMA case_sensitive_like = ON; PRAGMA case_sensitive_like = OFF; "), usual);
}

/// Damage of a database of SQLite's is damage, as that of any other file.
#[test]
fn a_damaged_database_is_damage() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("kept.sqlite");
    let database = rusqlite::Connection::open(&path).unwrap();
    let rows = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT hex(i) FROM n";
    database.execute_batch(&format!("CREATE TABLE t AS {rows};")).unwrap();
    drop(database);
    let whole = fs::read(&path).unwrap();
    let ask = |bytes: &[u8], code| {
        fs::write(&path, bytes).unwrap();
        run_in(dir.path(), code, &["sql", "SELECT count(*) FROM t", "kept.sqlite"], "")
    };
    assert_eq!(ask(&whole, 0).0, "2000\n");
    // The root of the table, the schema, and everything after the magic.
    for from in [4096, 100, 16] {
        let mut bytes = whole.clone();
        bytes[from..(from + 4096).min(whole.len())].fill(0xFF);
        let (out, err) = ask(&bytes, 3);
        assert!(out.is_empty() && err.starts_with("assetq: SQL: ") && err.lines().count() == 1, "{from}: {err}");
    }
    // A statement that is wrong is wrong, whatever it asks.
    fs::write(&path, &whole).unwrap();
    run_in(dir.path(), 2, &["sql", "SELECT no FROM t", "kept.sqlite"], "");
}

/// To read a database in the usual way SQLite makes two files beside it where it has a write-ahead log.
#[test]
fn a_database_with_a_write_ahead_log_is_read_without_a_trace() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("log.sqlite");
    let names = || -> Vec<_> { fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect() };
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1);").unwrap();
    let ask = || run_in(dir.path(), 0, &["sql", "SELECT sum(a) FROM t", "log.sqlite"], "").0;
    // Another process is writing to it.
    assert_eq!(ask(), "1\n");
    database.execute_batch("INSERT INTO t VALUES (2);").unwrap();
    assert_eq!(ask(), "3\n");
    assert_eq!(names().len(), 3);
    // It has crashed, and what it left was copied.
    let crashed = dir.path().join("crashed");
    fs::create_dir(&crashed).unwrap();
    for name in ["log.sqlite", "log.sqlite-wal"] {
        fs::copy(dir.path().join(name), crashed.join(name)).unwrap();
    }
    let (_, err) = run_in(&crashed, 4, &["sql", "SELECT sum(a) FROM t", "log.sqlite"], "");
    assert!(err.contains("log.sqlite: its write-ahead log has no -shm file"), "{err}");
    assert!(err.contains("PRAGMA wal_checkpoint(TRUNCATE)"), "{err}");
    assert_eq!(fs::read_dir(&crashed).unwrap().count(), 2);
    fs::remove_dir_all(&crashed).unwrap();
    // It is done.
    drop(database);
    assert_eq!(names().len(), 1);
    assert_eq!(ask(), "3\n");
    assert_eq!(names().len(), 1);
}

#[test]
fn the_prompt_changes_how_answers_are_written_and_ends_like_others() {
    let dir = tempfile::TempDir::new().unwrap();
    crate::common::run(dir.path(), 0, &["sample", ".", "--seed", "1"]);
    let asked = |text: &str| super::run_in(dir.path(), 0, &["sql", "pack.bin"], text);
    let query = "SELECT name, size FROM entries LIMIT 1;\n";
    assert_eq!(asked(&format!(".mode csv\n{query}")).0, "name,size\r\nbt_chainbonus,292\r\n");
    assert_eq!(asked(&format!(".mode csv\n.headers off\n{query}")).0, "bt_chainbonus,292\r\n");
    assert_eq!(asked(&format!(".headers off\n{query}")).0, "bt_chainbonus  292\n");
    assert_eq!(asked(&format!(".mode ndjson\n{query}")).0, "{\"name\":\"bt_chainbonus\",\"size\":292}\n");
    assert!(asked(".mode xml\n").1.contains("there are text, json, ndjson, csv"));
    for end in ["exit", "quit", "quit;", ".quit", "EXIT"] {
        assert_eq!(asked(&format!("{end}\n{query}")).0, "", "{end}");
    }
    assert!(asked("SELECT 1 AS\nexit;\n").0.starts_with("1"), "a name in a statement is no end");
}

#[test]
fn help_of_the_prompt_fits_80_columns_and_knows_other_prompts() {
    let (help, _) = typed(0, &["sheet.wdb"], "help\n");
    assert!(help.contains(".tables") && help.contains("path_id("), "{help}");
    let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:?}");
    for (command, how) in
        [(".open x", "assetq sql FILE..."), (".read x", "assetq sql - FILE <"), (".import x", "sqlite3")]
    {
        let (_, said) = typed(0, &["sheet.wdb"], &format!("{command}\n"));
        assert!(said.contains(how) && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn a_query_without_rows_names_its_columns() {
    let (out, _) = sql(0, &["SELECT record, sName FROM records WHERE record = 'none'", "sheet.wdb"]);
    assert_eq!(out, "record  sName\n");
    // A single column is one value a line, for programs.
    assert_eq!(sql(0, &["SELECT record FROM records WHERE record = 'none'", "sheet.wdb"]).0, "");
}

#[test]
fn texts_in_double_quotes_are_named() {
    let (_, err) = sql(2, &["SELECT record FROM records WHERE sName = \"it's\"", "sheet.wdb"]);
    assert!(err.contains("no such column: \"it's\"; texts go in single quotes: 'it''s'"), "{err}");
}

#[test]
fn ids_and_positions_are_found_where_they_are_asked_for() {
    let id = json(&["SELECT id FROM types LIMIT 1", "savegame.vrb"])[0]["id"].as_str().unwrap().to_owned();
    let (found, _) = run_in(samples(), 0, &["find", &id, "savegame.vrb", "-t", "types", "-f", "csv"], "");
    assert!(found.contains(&id), "{found}");
    let (found, _) = run_in(samples(), 0, &["find", "1", "town.wdata", "-t", "event_boxes", "-f", "csv"], "");
    assert!(found.contains(",index,1"), "{found}");
}

#[test]
fn a_model_is_no_reference_to_itself() {
    let id = json(&["SELECT id FROM models LIMIT 1", "models.bin"])[0]["id"].as_str().unwrap().to_owned();
    let (_, said) = run_in(samples(), 1, &["refs", &id, "models.bin", "--from"], "");
    assert!(said.contains("nothing refers to it"), "{said}");
}
