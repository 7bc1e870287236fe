//! Questions about groups: all threads give the answer that SQLite gives alone.

use assetq::sample::bwdb::demo_of;
use assetq::sample::wdb::{self as sheets, Cell, Game};
use assetq::sample::{FILES, Size};
use assetq::sql::{Fault, Input, Session, statements};
use assetq::table::{Table, Value};
use assetq::write::json;
use assetq::{Asset, Options, Source, files};
use fastrand::Rng;
use std::fs;
use tempfile::TempDir;

/// The columns and rows of an answer, or the fault, and whether all threads gave it.
type Answered = (Result<(Vec<String>, Vec<Vec<String>>), String>, bool);

fn ask(session: &Session, sql: &str) -> Answered {
    let statement = statements(sql).next().unwrap();
    let mut answer = match session.ask(statement) {
        Ok(answer) => answer,
        Err(fault) => return (Err(fault.to_string()), false),
    };
    let columns = answer.columns().iter().map(|column| format!("{} {:?}", column.name, column.kind)).collect();
    let shown = |value: &Value<'_>| match value {
        Value::Text(text) => format!("'{text}'"),
        Value::F64(number) => format!("{:x}", number.to_bits()),
        other => json::to_string(other).unwrap(),
    };
    let mut rows = Vec::new();
    let asked = answer.rows::<Fault>(|cells| {
        rows.push(cells.iter().map(shown).collect());
        Ok(())
    });
    let is_parallel = answer.is_parallel();
    (asked.map(|()| (columns, rows)).map_err(|fault| fault.to_string()), is_parallel)
}

/// The same file twice: asked by all threads, and by SQLite alone.
fn both(asset: &Asset) -> [Session; 2] {
    let session = || Session::new(vec![("file".to_owned(), Input::Asset(asset.clone()))], false).unwrap();
    let mut alone = session();
    alone.by_sqlite_alone();
    [session(), alone]
}

/// Asserts that both answers are equal, and returns whether all threads gave one.
fn same(sessions: &[Session; 2], sql: &str) -> bool {
    let (difference, is_parallel) = compare(sessions, sql);
    assert_eq!(difference, None);
    is_parallel
}

/// The difference between the answers, and whether all threads gave one.
fn compare([session, alone]: &[Session; 2], sql: &str) -> (Option<String>, bool) {
    let (expected, by_threads) = ask(alone, sql);
    assert!(!by_threads);
    let (answer, is_parallel) = ask(session, sql);
    let difference = (answer != expected).then(|| format!("{sql}\n   {answer:?}\n   not {expected:?}"));
    (difference, is_parallel)
}

fn open(name: &str, bytes: Vec<u8>) -> Asset {
    Asset::open(Source::from_vec(name, bytes)).unwrap()
}

fn pick<'t, T>(rng: &mut Rng, from: &'t [T]) -> &'t T {
    &from[rng.usize(..from.len())]
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A cell of the table, as a literal.
fn literal(rng: &mut Rng, table: &dyn Table, column: usize, len: usize) -> String {
    let value = table.value(rng.usize(..len.max(1)), column).unwrap_or(Value::Null);
    match value {
        Value::Null | Value::List(_) | Value::Map(_) => "7".to_owned(),
        Value::Bool(truth) => i32::from(truth).to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::F32(number) => format!("{number:?}"),
        Value::F64(number) => format!("{number:?}"),
        text => format!("'{}'", text.to_string().replace('\'', "''")),
    }
}

fn condition(rng: &mut Rng, table: &dyn Table, len: usize, depth: usize) -> String {
    let column = rng.usize(..table.columns().len());
    let name = quoted(&table.columns()[column].name);
    let mut cell = || literal(rng, table, column, len);
    let (a, b) = (cell(), cell());
    let part: String = a.trim_matches('\'').chars().filter(|c| c.is_ascii_alphanumeric()).take(3).collect();
    match rng.usize(..if depth < 3 { 14 } else { 10 }) {
        0 => format!("{name} IS NULL"),
        1 => format!("{name} IS NOT NULL"),
        2 => format!("{name} IN ({a}, {b})"),
        3 => format!("{name} NOT IN ({a}, {b})"),
        4 => format!("{name} BETWEEN {a} AND {b}"),
        5 => format!("{name} LIKE '%{part}%'"),
        6 => format!("{name} NOT GLOB '*{part}*'"),
        7 => format!("{a} < {name}"),
        8 | 9 => format!("{name} {} {a}", pick(rng, &["=", "<>", "<", "<=", ">", ">=", "=="])),
        10 => format!("NOT {}", condition(rng, table, len, depth + 1)),
        11 => format!("({} OR {})", condition(rng, table, len, depth + 1), condition(rng, table, len, depth + 1)),
        _ => format!("{} AND {}", condition(rng, table, len, depth + 1), condition(rng, table, len, depth + 1)),
    }
}

/// A question about groups of the table.
fn question(rng: &mut Rng, table: &dyn Table, len: usize) -> String {
    let names: Vec<String> = table.columns().iter().map(|column| quoted(&column.name)).collect();
    let keys: Vec<String> = (0..rng.usize(..3)).map(|_| pick(rng, &names).clone()).collect();
    let call = |rng: &mut Rng| {
        let column = pick(rng, &names).clone();
        match rng.usize(..9) {
            0 | 1 => "count(*)".to_owned(),
            2 => format!("count(DISTINCT {column})"),
            3 => format!("count(t.{column})"),
            4 => format!("round(avg({column}), 3)"),
            5 => format!("coalesce(sum({column}), -1)"),
            n => format!("{}({column})", ["min", "max", "total"][n - 6]),
        }
    };
    let calls: Vec<String> = (0..rng.usize(1..3)).map(|_| call(rng)).collect();
    let items: Vec<String> = keys.iter().chain(&calls).cloned().collect();
    let mut sql = format!("SELECT {} FROM {} AS t", items.join(", "), quoted(table.name()));
    if rng.bool() {
        sql += &format!(" WHERE {}", condition(rng, table, len, 0));
    }
    if !keys.is_empty() {
        sql += &format!(" GROUP BY {}", keys.join(", "));
        if rng.u8(..4) == 0 {
            sql += " HAVING count(*) > 1";
        }
    }
    if rng.bool() {
        sql += &format!(" ORDER BY {} {}", rng.usize(1..=items.len()), pick(rng, &["", "DESC"]));
        if rng.bool() {
            sql += &format!(", {} {}", pick(rng, &items), pick(rng, &["ASC", "desc"]));
        }
    }
    if rng.bool() {
        sql += &format!(" LIMIT {}", rng.u8(1..6));
    }
    sql
}

/// A question about groups of rows that are joined by a pair of columns.
fn join_question(rng: &mut Rng, tables: &[Box<dyn Table + '_>]) -> String {
    let sides = ["a", "b"].map(|alias| (alias, pick(rng, tables)));
    let column = |rng: &mut Rng| {
        let (alias, table) = &sides[rng.usize(..2)];
        format!("{alias}.{}", quoted(&pick(rng, table.columns()).name))
    };
    // Ids and numbers. Some pairs have the same kind.
    let equal = |rng: &mut Rng, (alias, table): (&str, &dyn Table)| {
        let numbers =
            |column: &&assetq::table::Column| ["Id64", "Id32", "Uint", "Int"].contains(&&*format!("{:?}", column.kind));
        let named: Vec<_> = table.columns().iter().filter(numbers).collect();
        let name = if named.is_empty() { &table.columns()[0].name } else { &pick(rng, &named).name };
        format!("{alias}.{}", quoted(name))
    };
    let [first, second] = sides.map(|(alias, table)| equal(rng, (alias, &**table)));
    let keys: Vec<String> = (0..rng.usize(..3)).map(|_| column(rng)).collect();
    let calls: Vec<String> = (0..rng.usize(1..3))
        .map(|_| match rng.usize(..9) {
            0 | 1 => "count(*)".to_owned(),
            2 => format!("count(DISTINCT {})", column(rng)),
            n => format!("{}({})", ["count", "sum", "max", "min", "avg", "total"][n - 3], column(rng)),
        })
        .collect();
    let items: Vec<String> = keys.iter().chain(&calls).cloned().collect();
    let [(_, a), (_, b)] = sides;
    let (a, b) = (quoted(a.name()), quoted(b.name()));
    let mut sql = format!("SELECT {} FROM {a} a JOIN {b} AS b ON {second} = {first}", items.join(", "));
    if rng.bool() {
        let part = |rng: &mut Rng| match rng.usize(..3) {
            0 => format!("{} IS NOT NULL", column(rng)),
            1 => format!("{} LIKE '%a%'", column(rng)),
            _ => format!("{} {} 3", column(rng), pick(rng, &["<", ">=", "<>"])),
        };
        sql += &format!(" WHERE {}", part(rng));
        for _ in 0..rng.usize(..3) {
            sql += &format!(" {} {}", pick(rng, &["AND", "OR"]), part(rng));
        }
    }
    if !keys.is_empty() {
        sql += &format!(" GROUP BY {}", keys.join(", "));
        if rng.u8(..4) == 0 {
            sql += " HAVING count(*) > 1";
        }
    }
    if rng.bool() {
        sql += &format!(" ORDER BY {} {}", rng.usize(1..=items.len()), pick(rng, &["", "DESC"]));
    }
    sql + " LIMIT 500"
}

#[test]
fn random_questions_about_joined_tables_have_the_same_answer() {
    let (mut parallel, mut all) = (0, 0);
    for name in ["assets.bin", "ship.geometry", "GameParams.data", "models.bin", "space.bin"] {
        let (_, _, make) = FILES.iter().find(|(known, ..)| *known == name).unwrap();
        let asset = open(name, make(3, Size::Small));
        let (sessions, mut rng) = (both(&asset), Rng::with_seed(11));
        let tables: Vec<_> = asset.reader().tables();
        let few: Vec<_> = tables.into_iter().filter(|table| table.len().is_ok_and(|len| len < 400)).collect();
        for _ in 0..150 {
            parallel += usize::from(same(&sessions, &join_question(&mut rng, &few)));
            all += 1;
        }
    }
    assert!(parallel * 5 > all, "all threads answered {parallel} of {all} questions");
}

fn ask_much(asset: &Asset, seed: u64, count: usize) -> (usize, usize) {
    let sessions = both(asset);
    let mut rng = Rng::with_seed(seed);
    let (mut parallel, mut all) = (0, 0);
    let mut differences = Vec::new();
    for table in asset.reader().tables() {
        let len = table.len().unwrap_or(0);
        for _ in 0..count {
            let sql = question(&mut rng, &*table, len);
            let (difference, is_parallel) = compare(&sessions, &sql);
            differences.extend(difference);
            parallel += usize::from(is_parallel);
            all += 1;
        }
    }
    assert!(
        differences.is_empty(),
        "{} of {all}: {}",
        differences.len(),
        differences[..differences.len().min(5)].join("\n")
    );
    (parallel, all)
}

#[test]
fn random_questions_have_the_same_answer() {
    let (mut parallel, mut all) = (0, 0);
    for (seed, (name, _, make)) in (0..).zip(FILES) {
        let (some, of) = ask_much(&open(name, make(seed, Size::Small)), seed, 25);
        (parallel, all) = (parallel + some, all + of);
    }
    assert!(parallel * 4 > all, "all threads answered {parallel} of {all} questions");
}

#[test]
fn random_questions_about_many_files_have_the_same_answer() {
    for (name, _, make) in FILES.iter().filter(|(name, ..)| ["ship.geometry", "sheet.wdb", "models.bin"].contains(name))
    {
        let dir = TempDir::new().unwrap();
        for seed in 0..4 {
            fs::write(dir.path().join(format!("{seed}{name}")), make(seed, Size::Small)).unwrap();
        }
        let set = files::open(dir.path(), &Options::default()).unwrap();
        ask_much(&set, 5, 20);
    }
}

/// Tables with more rows than a thread reads at once, and more groups than it keeps to itself.
#[test]
fn questions_about_many_rows_have_the_same_answer() {
    let asset = open("assets.bin", demo_of(7, 5_000_000));
    let (sessions, mut rng) = (both(&asset), Rng::with_seed(23));
    let (mut many, mut parallel) = (0, 0);
    for table in asset.reader().tables() {
        let len = table.len().unwrap_or(0);
        if ["resources", "skeleton_nodes", "material_properties"].contains(&table.name()) {
            many += usize::from(len > 10_000);
            for _ in 0..15 {
                parallel += usize::from(same(&sessions, &question(&mut rng, &*table, len)));
            }
        }
    }
    assert!(many == 2 && parallel > 15, "{many} tables have many rows, and all threads answered {parallel} questions");
    for sql in [
        "SELECT name, count(*) FROM skeleton_nodes GROUP BY name",
        "SELECT name, type, count(*), count(DISTINCT texture_id), min(\"index\") FROM material_properties GROUP BY name, type",
        "SELECT name, count(*) AS n FROM skeleton_nodes GROUP BY 1 ORDER BY n DESC, name DESC LIMIT 7",
        "SELECT m.path, count(*) AS sets FROM render_sets s JOIN materials m ON m.id = s.mfm_id GROUP BY m.path \
         ORDER BY sets DESC, m.path LIMIT 5",
        "SELECT m.path, s.name, count(*), count(DISTINCT s.path), sum(m.sort_order), avg(s.\"index\"), max(m.fx_path), min(s.path) \
         FROM render_sets s JOIN materials m ON m.id = s.mfm_id WHERE s.\"index\" > 0 OR m.path LIKE '%1%' GROUP BY 1, 2",
        "SELECT p.type, count(*), sum(s.\"index\") FROM material_properties p JOIN render_sets s ON s.mfm_id = p.id GROUP BY 1",
    ] {
        assert!(same(&sessions, sql), "{sql}");
    }
}

/// A third of all names has the same text, and a third has no text.
#[test]
fn ids_with_the_same_text_are_one_group() {
    let mut bytes = demo_of(7, 1_000_000);
    // The map of names is first in a built file: keys with a flag, and the positions of texts.
    let (slots_at, keys) = (16, 112);
    let slots = u32::from_le_bytes(bytes[slots_at..keys].first_chunk().copied().unwrap()) as usize;
    let values = keys + slots * 8;
    let used: Vec<usize> = (0..slots).filter(|slot| bytes[keys + slot * 8 + 7] != 0).collect();
    let first = values + used[0] * 4;
    for three in used.chunks_exact(3) {
        bytes.copy_within(first..first + 4, values + three[0] * 4);
        bytes[keys + three[1] * 8..][..4].fill(0);
    }
    let sessions = both(&open("assets.bin", bytes));
    for sql in [
        "SELECT name, count(*), min(parent) FROM skeleton_nodes GROUP BY name ORDER BY 2 DESC LIMIT 9",
        "SELECT type, name, count(*) FROM material_properties GROUP BY name, type",
        "SELECT count(DISTINCT name), count(DISTINCT name_id), count(name) FROM skeleton_nodes",
        "SELECT s.name, count(*) FROM render_sets s JOIN materials m ON m.id = s.mfm_id GROUP BY s.name",
    ] {
        assert!(same(&sessions, sql), "{sql}");
    }
}

/// A statement that is stopped before its first row ends, and SQLite does not begin it again.
#[test]
fn a_stopped_question_about_groups_ends() {
    let asset = open("assets.bin", demo_of(7, 1_000_000));
    let [session, _] = both(&asset);
    for sql in [
        "SELECT name, count(*) FROM skeleton_nodes GROUP BY name",
        "SELECT count(*) FROM skeleton_nodes a JOIN skeleton_nodes b ON b.id = a.id",
    ] {
        let mut answer = session.ask(statements(sql).next().unwrap()).unwrap();
        assert!(answer.is_parallel());
        session.stopper()();
        let ended = answer.rows::<Fault>(|_| Ok(()));
        assert_eq!(ended.unwrap_err().to_string(), "interrupted", "{sql}");
        let (rows, _) = ask(&session, &sql.replace("name", "parent"));
        assert!(rows.is_ok());
    }
}

#[test]
fn what_the_threads_cannot_answer_is_answered_by_sqlite() {
    let sheet = sheets::Sheet::new(Game::Later, "S").fields(["sName", "iNumber", "fPart"]);
    let names = ["a", "B", "a", "", "b", "a"];
    let sheet = (0..).zip(names).fold(sheet, |sheet, (n, name)| {
        sheet.record(format!("r{n}"), [Cell::from(name), (i64::from(i32::MAX) - n).into(), 0.1f32.into()])
    });
    let sessions = both(&open("s.wdb", sheet.build()));
    let mut wrong: Vec<&str> = Vec::new();
    for (sql, is_parallel) in [
        ("SELECT sName, count(*) FROM records GROUP BY sName", true),
        ("SELECT sName AS n, sum(iNumber) AS s FROM records r GROUP BY n HAVING s > 5 ORDER BY s DESC, n", true),
        (
            "SELECT s.sName, upper(s.sName) || count(*) AS x FROM main.records AS s GROUP BY 1 ORDER BY -count(*), 1",
            true,
        ),
        ("SELECT count(*), min(record), max(fPart), avg(iNumber) FROM records WHERE iNumber < 0", true),
        ("SELECT max(n) FROM (SELECT sName, count(*) AS n FROM records GROUP BY 1)", true),
        (
            "WITH g AS (SELECT sName, min(iNumber) AS m FROM records GROUP BY 1) SELECT * FROM g JOIN records r ON r.iNumber = g.m",
            true,
        ),
        ("SELECT sName, count(*) FROM records GROUP BY 1 UNION ALL SELECT record, 1 FROM records ORDER BY 2, 1", true),
        (
            "SELECT CASE WHEN count(*) > 2 THEN 'many' ELSE sName END AS x FROM records GROUP BY sName ORDER BY sName",
            true,
        ),
        // Sums of floats depend on the order of rows; the row of a bare column is SQLite's choice.
        ("SELECT sum(fPart) FROM records", false),
        ("SELECT sName, record, max(iNumber) FROM records GROUP BY 1", false),
        ("SELECT DISTINCT sName FROM records", false),
        ("SELECT count(*) FILTER (WHERE iNumber > 5) FROM records", false),
        ("SELECT sName, count(*) OVER () FROM records GROUP BY 1", false),
        ("SELECT group_concat(sName) FROM records GROUP BY sName", false),
        ("SELECT count(*) FROM records a JOIN records b USING (sName)", false),
        ("SELECT count(*) FROM records WHERE sName = 5", false),
        ("SELECT count(*) FROM records WHERE iNumber = '5'", false),
        ("SELECT count(*) FROM records WHERE record = 'r1'", false),
        ("SELECT count(*) FROM records WHERE rowid > 1", false),
        ("SELECT sName, count(*) AS iNumber FROM records GROUP BY 1 ORDER BY iNumber", false),
        ("WITH records AS (SELECT 1 AS x) SELECT count(*) FROM records", false),
        ("SELECT count(*) FROM records WHERE iNumber > (SELECT min(iNumber) FROM records)", true),
        ("SELECT lower(sName), count(*) FROM records GROUP BY lower(sName)", false),
        ("SELECT count(nothing) FROM records", false),
    ] {
        wrong.extend((same(&sessions, sql) != is_parallel).then_some(sql));
    }
    for (sql, is_parallel) in [
        ("SELECT b.sName, count(*) AS n FROM records a JOIN records b ON b.record = a.record GROUP BY b.sName", true),
        (
            "SELECT a.sName, b.iNumber, count(*), max(a.iNumber), sum(a.iNumber) FROM records AS a INNER JOIN records b ON a.sName = b.sName \
          WHERE b.iNumber > 5 AND a.sName <> '' GROUP BY 1, 2 HAVING count(*) > 0 ORDER BY 2, 1 LIMIT 9",
            true,
        ),
        (
            "SELECT sName, count(*) AS n FROM records a JOIN records b USING (sName) GROUP BY sName ORDER BY n DESC, sName",
            true,
        ),
        ("SELECT name, count(*) FROM records r JOIN sections s ON s.name = r.record GROUP BY 1", true),
        ("SELECT a.sName, count(*) FROM records a LEFT JOIN records b ON b.record = a.sName GROUP BY 1", false),
        (
            "SELECT a.sName, max(b.iNumber + a.iNumber) FROM records a JOIN records b ON b.record = a.record GROUP BY 1",
            false,
        ),
        (
            "SELECT a.sName, max(b.iNumber), max(a.iNumber) FROM records a JOIN records b ON b.record = a.record GROUP BY 1",
            false,
        ),
        ("SELECT a.sName, avg(a.iNumber) FROM records a JOIN records b ON b.record = a.record GROUP BY 1", false),
        (
            "SELECT a.sName, count(*) FROM records a JOIN records b ON b.record = a.record AND b.iNumber = a.iNumber GROUP BY 1",
            false,
        ),
        ("SELECT sName, count(*) FROM records a JOIN records b ON b.record = a.record GROUP BY 1", false),
        // Joined by numbers: groups of both tables.
        (
            "SELECT a.sName, b.sName AS sName, count(*) FROM records a JOIN records b ON a.iNumber = b.iNumber GROUP BY 1",
            false,
        ),
        (
            "SELECT b.sName AS record, a.record, avg(a.iNumber), max(b.iNumber) FROM records a JOIN records b ON a.iNumber = b.iNumber \
          WHERE a.sName > 'A' OR b.sName = 'a' GROUP BY a.record, b.sName HAVING count(*) > 0 ORDER BY record DESC, a.record",
            true,
        ),
        ("SELECT count(*), sum(a.iNumber) FROM records a JOIN records AS b ON b.iNumber = a.iNumber", true),
        ("SELECT max(a.fPart) FROM records a JOIN records b ON b.iNumber = a.iNumber", false),
        ("SELECT count(*) FROM records a JOIN records b ON b.iNumber = a.iNumber WHERE a.record = 'r1'", false),
        ("SELECT count(*) FROM records a JOIN records b ON b.iNumber = a.record", false),
        ("SELECT a.rowid, count(*) FROM records a JOIN records b ON b.iNumber = a.iNumber GROUP BY 1", false),
    ] {
        wrong.extend((same(&sessions, sql) != is_parallel).then_some(sql));
    }
    assert_eq!(wrong, [""; 0]);
    // A view of the user hides the table of the file.
    for session in &sessions {
        ask(session, "CREATE TEMP VIEW records AS SELECT 1 AS one").0.unwrap();
    }
    assert!(!same(&sessions, "SELECT count(*) FROM records"));
}

#[test]
fn a_float_that_is_no_number_is_null_in_every_condition() {
    let cells = [("a", 0.5f32), ("b", f32::NAN)];
    let sheet = sheets::Sheet::new(Game::Later, "S").fields(["fPart"]);
    let sheet = cells.iter().fold(sheet, |sheet, (name, part)| sheet.record(*name, [(*part).into()]));
    let [session, alone] = both(&open("s.wdb", sheet.build()));
    for (condition, expected) in [("IS NULL", "'b'"), ("IS NOT NULL", "'a'"), ("IS NOT 7", "'b'"), ("= 0.5", "'a'")] {
        for session in [&session, &alone] {
            let (rows, _) = ask(session, &format!("SELECT max(record) FROM records WHERE fPart {condition}"));
            assert_eq!(rows.unwrap().1, [[expected]], "fPart {condition}");
        }
    }
}
