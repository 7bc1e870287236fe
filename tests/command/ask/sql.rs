//! SQL: the same answers as SQLite gives over its own tables with the same rows, and what is more than that.

use crate::common::damage::with_damaged_row;
use assetq::sql::{Fault, FileEdits, Input, Session, keep, statements};
use assetq::table::filter::{Filter, find_column};
use assetq::table::{Kind, Table, Value};
use assetq::write::json;
use assetq::{Asset, Options, Source};
use assetq_sample::bwdb::DatabaseBuilder;
use assetq_sample::wdb::{self as sheets, Cell, Game};
use assetq_sample::{FILES, Size};
use rusqlite::types::{Value as Sql, ValueRef};
use tempfile::TempDir;

fn asset(name: &str, bytes: Vec<u8>) -> (String, Input) {
    (name.to_owned(), Input::Asset(Asset::open(Source::from_vec(name, bytes)).unwrap()))
}

fn one(name: &str, bytes: Vec<u8>) -> Session {
    Session::new(vec![asset(name, bytes)], false).unwrap()
}

fn demo(name: &str) -> Vec<u8> {
    let (_, _, make) = FILES.iter().find(|(file, ..)| *file == name).unwrap();
    make(3, Size::Small)
}

/// A cell as text that tells its type.
fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(truth) => format!("{}", i32::from(*truth)),
        Value::Int(number) => number.to_string(),
        Value::F64(number) => format!("{number:?}f"),
        Value::Text(text) => format!("'{text}'"),
        nested => format!("'{}'", json::to_string(nested).unwrap()),
    }
}

fn try_ask(session: &Session, sql: &str) -> Result<Vec<Vec<String>>, Fault> {
    let mut rows = Vec::new();
    for statement in statements(sql) {
        session.ask(statement)?.rows::<Fault>(|cells| {
            rows.push(cells.iter().map(shown).collect());
            Ok(())
        })?;
    }
    Ok(rows)
}

fn ask(session: &Session, sql: &str) -> Vec<Vec<String>> {
    try_ask(session, sql).unwrap_or_else(|fault| panic!("{sql}: {fault}"))
}

/// The only column of an answer.
fn list(session: &Session, sql: &str) -> Vec<String> {
    ask(session, sql).into_iter().map(|row| row.into_iter().next().unwrap()).collect()
}

/// The rows of a table for which a condition of `--where` holds: record and index.
fn chosen(asset: &Asset, table: &str, condition: &str) -> Vec<Vec<String>> {
    let table = asset.reader().table(table).unwrap();
    let bound = Filter::parse(condition).and_then(|filter| filter.bind(table.columns())).unwrap();
    let mut rows = bound.walk_over(&*table, None);
    let columns = ["record", "index"].map(|name| find_column(table.columns(), name).unwrap());
    let mut found = Vec::new();
    while rows.advance().unwrap() {
        if bound.matches(&*rows).unwrap() {
            found.push(columns.map(|column| rows.value(column).unwrap().to_string()).to_vec());
        }
    }
    found
}

#[test]
fn a_condition_has_the_answers_of_sql() {
    let session = one("assets.bin", demo("assets.bin"));
    let asset = Asset::open(Source::from_vec("assets.bin", demo("assets.bin"))).unwrap();
    let mut answers = Vec::new();
    for condition in [
        "texture_id IS NULL",
        "texture_id IS NOT NULL AND record <= 2",
        "texture_id != '0x0000000000000000'",
        "NOT texture_id LIKE '0x%8%'",
        "NOT (texture_id LIKE '0x%8%' OR record > 3)",
        "NOT (texture_id LIKE '0x%8%' AND record > 3)",
        "texture_id NOT LIKE '0x%8%'",
        "path GLOB '*[0-4].mfm' AND \"index\" BETWEEN 1 AND 3",
        "type IN ('texture', 'float') AND record NOT IN (0, 1)",
        "type NOT BETWEEN 'b' AND 'g'",
        "name <> 'x' AND (record = 1 OR record = 2) AND NOT \"index\" = 2",
        "path LIKE '%/_S%' OR path == ''",
    ] {
        let rows = chosen(&asset, "material_properties", condition);
        let sql = format!("SELECT record, \"index\" FROM material_properties WHERE {condition}");
        assert_eq!(rows, ask(&session, &sql), "{condition}");
        answers.push(rows.len());
    }
    let all = ask(&session, "SELECT 1 FROM material_properties").len();
    assert!(answers.iter().filter(|count| (1..all).contains(count)).count() >= 10, "{answers:?} of {all}");
}

/// How SQLite says that it will read a table.
fn plan(session: &Session, sql: &str) -> String {
    let rows = ask(session, &format!("EXPLAIN QUERY PLAN {sql}"));
    rows.iter().map(|row| row[3].trim_matches('\'')).collect::<Vec<_>>().join("\n")
}

mod reference {
    //! The rows of the sample files copied into tables of SQLite's own, which are then asked the same.
    use super::*;
    use crate::common::made::undone;
    use assetq::edit::Editor;
    use assetq::table::Accepts;
    use assetq::write::atomic_file::Overwrite;
    use fastrand::Rng;
    use std::collections::BTreeMap;

    fn stored(value: Value<'_>) -> Sql {
        match value {
            Value::Null => Sql::Null,
            Value::Bool(truth) => Sql::Integer(truth.into()),
            Value::Int(number) => Sql::Integer(number),
            Value::Uint(number) => i64::try_from(number).map_or_else(|_| Sql::Text(number.to_string()), Sql::Integer),
            // As in JSON.
            Value::F32(number) if number.is_finite() => Sql::Real(json::to_string(&value).unwrap().parse().unwrap()),
            Value::F32(number) => Sql::Real(number.into()),
            Value::F64(number) => Sql::Real(number),
            nested @ (Value::List(_) | Value::Map(_)) => Sql::Text(json::to_string(&nested).unwrap()),
            text => Sql::Text(text.to_string()),
        }
    }

    fn declared(kind: Kind) -> &'static str {
        match kind {
            Kind::Bool => "BOOLEAN",
            Kind::Int | Kind::Uint => "INTEGER",
            Kind::F32 | Kind::F64 => "REAL",
            Kind::Guid => "TEXT COLLATE NOCASE",
            Kind::Any => "",
            _ => "TEXT",
        }
    }

    fn quoted(name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    /// Copies the rows of a table that can be read. Their numbers become row ids. Returns how many rows were copied.
    fn copy(connection: &rusqlite::Connection, table: &dyn Table) -> usize {
        let columns = table.columns();
        let list: Vec<String> = columns.iter().map(|c| format!("{} {}", quoted(&c.name), declared(c.kind))).collect();
        connection.execute_batch(&format!("CREATE TABLE {}({})", quoted(table.name()), list.join(", "))).unwrap();
        let names: Vec<String> = columns.iter().map(|c| quoted(&c.name)).collect();
        let places = vec!["?"; columns.len() + 1].join(", ");
        let insert = format!("INSERT INTO {}(rowid, {}) VALUES ({places})", quoted(table.name()), names.join(", "));
        let mut insert = connection.prepare(&insert).unwrap();
        let (mut cursor, mut copied) = (table.cursor(0), 0);
        while cursor.advance().is_ok_and(|is_row| is_row) {
            let cells: Result<Vec<Sql>, _> =
                (0..columns.len()).map(|column| cursor.value(column).map(stored)).collect();
            let Ok(cells) = cells else { continue };
            let row = std::iter::once(Sql::Integer(cursor.row() as i64)).chain(cells);
            copied += insert.execute(rusqlite::params_from_iter(row)).unwrap();
        }
        copied
    }

    fn literal(value: &Sql) -> String {
        match value {
            Sql::Null => "NULL".into(),
            Sql::Integer(number) => number.to_string(),
            Sql::Real(number) if number.is_infinite() => if *number > 0.0 { "9e999" } else { "-9e999" }.into(),
            Sql::Real(number) => format!("{number:?}"),
            Sql::Text(text) => format!("'{}'", text.replace('\'', "''")),
            Sql::Blob(_) => unreachable!(),
        }
    }

    /// A part of `text` with wildcards for `LIKE`, or with `glob` for `GLOB`.
    fn pattern(rng: &mut Rng, text: &str, glob: bool) -> String {
        let chars: Vec<char> = text.chars().collect();
        let (start, end) = (rng.usize(0..=chars.len()), rng.usize(0..=chars.len()));
        let part: String = chars[start.min(end)..start.max(end)].iter().collect();
        let (any, one) = if glob { ("*", "?") } else { ("%", "_") };
        let part = match rng.u8(0..6) {
            0 => part.to_uppercase(),
            1 => part.replacen(['a', 'e'], one, 1),
            2 => part.replacen('/', any, 1),
            3 if glob => part.replacen(['1', 'a'], "[0-9^a]", 1),
            4 if glob => part.replacen('0', "[^1-9]", 1),
            _ => part,
        };
        match rng.u8(0..4) {
            0 => format!("{any}{part}"),
            1 => format!("{part}{any}"),
            2 => format!("{any}{part}{any}"),
            _ => text.to_owned(),
        }
    }

    struct Generator<'t> {
        rng: Rng,
        table: &'t dyn Table,
        rows: usize,
    }

    impl Generator<'_> {
        /// Something that a cell of `column` may be compared with.
        fn operand(&mut self, column: usize) -> Sql {
            let row = self.rng.usize(0..self.rows);
            let cell = self.table.value(row, column).map_or(Sql::Null, stored);
            let id = matches!(self.table.columns()[column].kind, Kind::Id64 | Kind::Id32);
            match (self.rng.u8(0..12), cell) {
                (0, _) => Sql::Null,
                // Other forms of ids are equal here, and for plain text are not.
                (_, id_text) if id => id_text,
                (1, Sql::Integer(number)) => Sql::Real(number as f64 + 0.5),
                (2, Sql::Integer(number)) => Sql::Text(number.to_string()),
                (3, Sql::Integer(number)) => Sql::Integer(number.wrapping_add(1)),
                (4, Sql::Integer(number)) => Sql::Real(number as f64),
                (1, Sql::Real(number)) => Sql::Integer(number as i64),
                (2, Sql::Real(number)) => Sql::Real(number + 1e-9),
                (3, Sql::Real(number)) => Sql::Real(f64::from(number as f32)),
                (4, Sql::Real(number)) => Sql::Text(format!("{number:?}")),
                (1, Sql::Text(text)) => Sql::Text(text.to_uppercase()),
                (2, Sql::Text(text)) => Sql::Text(text + "x"),
                (3, Sql::Text(_)) => Sql::Integer(7),
                (4, Sql::Text(_)) => Sql::Real(0.1),
                (5, _) => Sql::Integer(i64::MAX),
                (6, _) => Sql::Text(String::new()),
                (_, cell) => cell,
            }
        }

        fn condition(&mut self) -> String {
            let column = self.rng.usize(0..self.table.columns().len());
            let name = quoted(&self.table.columns()[column].name);
            let one = |generator: &mut Self| literal(&generator.operand(column));
            match self.rng.u8(0..22) {
                0..6 => format!("{name} = {}", one(self)),
                6 => format!("{name} != {}", one(self)),
                7 => format!("{name} < {}", one(self)),
                8 => format!("{name} <= {}", one(self)),
                9 => format!("{name} > {}", one(self)),
                10 => format!("{name} >= {}", one(self)),
                11 => format!("{name} IS {}", one(self)),
                12 => format!("{name} IS NOT {}", one(self)),
                13 => format!("{name} IS NULL"),
                14 => format!("{name} IS NOT NULL"),
                15 => format!("{name} IN ({}, {}, {})", one(self), one(self), one(self)),
                16 => format!("{name} NOT IN ({}, {})", one(self), one(self)),
                17 => format!("{name} BETWEEN {} AND {}", one(self), one(self)),
                kind @ 18..21 => {
                    let text = match self.operand(column) {
                        Sql::Text(text) => text,
                        Sql::Integer(number) => number.to_string(),
                        _ => "a%".to_owned(),
                    };
                    let not = if self.rng.bool() { "NOT " } else { "" };
                    let (operator, glob) = if kind == 18 { ("GLOB", true) } else { ("LIKE", false) };
                    format!("{name} {not}{operator} {}", literal(&Sql::Text(pattern(&mut self.rng, &text, glob))))
                }
                _ => format!("rowid = {}", self.rng.usize(0..self.rows + 2)),
            }
        }

        fn query(&mut self) -> String {
            let mut condition = self.condition();
            for _ in 0..self.rng.u8(0..3) {
                let join = if self.rng.u8(0..3) == 0 { "OR" } else { "AND" };
                condition = format!("{condition} {join} {}", self.condition());
            }
            let end = match self.rng.u8(0..4) {
                0 => format!(" LIMIT {} OFFSET {}", self.rng.usize(0..9), self.rng.usize(0..self.rows)),
                1 => format!(" LIMIT {}", self.rng.usize(0..9)),
                _ => String::new(),
            };
            let table = quoted(self.table.name());
            if self.rng.u8(0..12) == 0 {
                // In the order of the rows, which both keep.
                return format!("SELECT rowid, * FROM {table}{end}");
            }
            let column = self.rng.usize(0..self.table.columns().len());
            let order = match self.rng.u8(0..4) {
                0 => format!("{}, rowid", quoted(&self.table.columns()[column].name)),
                1 => format!("{} DESC, rowid DESC", quoted(&self.table.columns()[column].name)),
                _ => "rowid".to_owned(),
            };
            if self.rng.u8(0..6) == 0 {
                return format!("SELECT rowid, * FROM {table} ORDER BY {order}{end}");
            }
            format!("SELECT rowid, * FROM {table} WHERE {condition} ORDER BY {order}{end}")
        }
    }

    fn answer(connection: &rusqlite::Connection, sql: &str) -> Vec<Vec<String>> {
        let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let count = statement.column_count();
        let cell = |cell: ValueRef<'_>| match cell {
            ValueRef::Null => "null".into(),
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Real(number) => format!("{number:?}f"),
            ValueRef::Text(text) => format!("'{}'", str::from_utf8(text).unwrap()),
            ValueRef::Blob(_) => unreachable!(),
        };
        let rows = statement.query_map([], |row| Ok((0..count).map(|i| cell(row.get_ref(i).unwrap())).collect()));
        rows.unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn every_table_gives_the_same_answers_as_a_copy_of_it() {
        let (mut asked, mut found) = (0, 0);
        for (file, _, make) in FILES {
            let bytes = make(3, Size::Small);
            let session = one(file, bytes.clone());
            let copied = Asset::open(Source::from_vec(file, bytes)).unwrap();
            let reference = rusqlite::Connection::open_in_memory().unwrap();
            for table in copied.reader().tables() {
                let rows = copy(&reference, &*table);
                assert_eq!(rows, table.len().unwrap());
                if rows == 0 {
                    continue;
                }
                let seed = (file.len() * 1000 + table.name().len()) as u64;
                let mut generator = Generator { rng: Rng::with_seed(seed), table: &*table, rows };
                for _ in 0..40 {
                    let sql = generator.query();
                    let expected = answer(&reference, &sql);
                    assert_eq!(ask(&session, &sql), expected, "{file}: {sql}\n{}", plan(&session, &sql));
                    asked += 1;
                    found += usize::from(!expected.is_empty());
                }
            }
        }
        // Most questions have an answer, so that they tell something.
        assert!(asked > 1000 && found * 3 > asked, "{found} of {asked}");
    }

    /// With damaged rows left out, a file answers as a copy without them. Otherwise the answer is the same, or an error of damage
    /// that is counted when it is left out.
    #[test]
    fn a_damaged_table_gives_the_answers_of_its_whole_rows() {
        let (mut asked, mut met, mut whole) = (0, 0, 0);
        let damaged = |file: &str, bytes: &[u8]| {
            (0..4).filter_map(|n| with_damaged_row(&format!("{file}{n}"), file, bytes)).collect::<Vec<_>>()
        };
        for (file, bytes) in FILES.iter().flat_map(|(file, _, make)| {
            damaged(file, &make(3, Size::Small)).into_iter().map(move |bytes| (file, bytes))
        }) {
            let strict = one(file, bytes.clone());
            let session = Session::new(vec![asset(file, bytes.clone())], true).unwrap();
            let copied = Asset::open(Source::from_vec(file, bytes)).unwrap();
            let reference = rusqlite::Connection::open_in_memory().unwrap();
            for table in copied.reader().tables() {
                let rows = table.known_len().filter(|rows| (1..3000).contains(rows)).unwrap_or(0);
                let lost = rows.saturating_sub(copy(&reference, &*table));
                if lost == 0 {
                    continue;
                }
                let mut generator = Generator { rng: Rng::with_seed(rows as u64), table: &*table, rows };
                for _ in 0..40 {
                    let sql = generator.query();
                    let expected = answer(&reference, &sql);
                    let answered = ask(&session, &sql);
                    let left_out = session.take_left_out().rows;
                    assert_eq!(
                        answered,
                        expected,
                        "{file}, {lost} of {rows} rows lost: {sql}\n{}",
                        plan(&session, &sql)
                    );
                    match try_ask(&strict, &sql) {
                        // Unread rows before the first one may be damaged.
                        Ok(answer) => {
                            assert!(sql.contains("OFFSET") || answer == expected, "{file}: {sql}: {answer:?}")
                        }
                        Err(Fault::Damaged { error, .. }) => assert!(left_out > 0, "{file}: {sql}: {error}"),
                        Err(fault) => panic!("{file}: {sql}: {fault}"),
                    }
                    asked += 1;
                    met += usize::from(left_out > 0);
                    whole += usize::from(left_out == 0);
                }
            }
        }
        assert!(asked > 500 && met > 100 && whole > 100, "{asked} questions, {met} with damage, {whole} without");
    }

    /// The file that statements of edits make; `None` if they change nothing.
    fn edited(name: &str, bytes: &[u8], sql: &str) -> Result<Option<Vec<u8>>, String> {
        let asset = Asset::open(Source::from_vec(name, bytes.to_vec())).unwrap();
        let input = vec![(name.to_owned(), Input::Asset(asset.clone()))];
        let session = Session::for_writing(input, false, &Options::default()).unwrap();
        try_ask(&session, sql).map_err(|fault| fault.to_string())?;
        let edits = session.edits().map_err(|fault| fault.to_string())?.into_values().next();
        let Some(edits) = edits else { return Ok(None) };
        let mut editor = Editor::new(&asset).unwrap();
        match edits {
            FileEdits::Rows(edits) => {
                edits
                    .into_iter()
                    .try_for_each(|edit| editor.resolved_edits(edit))
                    .map_err(|error| error.to_string())?;
            }
            FileEdits::Steps(steps) => editor.steps(*steps),
        }
        let plan = editor.finish().map_err(|error| error.to_string())?;
        let dir = TempDir::new().unwrap();
        let new = dir.path().join(name);
        let written = plan.write(&new, Overwrite::Refuse).map_err(|error| error.to_string())?;
        let undo = plan.undo(&written);
        written.commit().unwrap();
        let new = std::fs::read(&new).unwrap();
        assert!(undone(name, &new, &undo) == bytes, "{name}: {sql}: what was undone has other bytes");
        Ok(Some(new))
    }

    /// A cell as text, as far as a file that stores it in 32 bits keeps it. A column of any kind keeps the kind that a cell had.
    fn kept(cell: &Sql) -> String {
        let number = match cell {
            Sql::Integer(number) => Some(*number as f32),
            Sql::Real(number) => Some(*number as f32),
            Sql::Text(text) => text.parse().ok(),
            _ => None,
        };
        match number {
            // SQLite has no such number.
            Some(number) if number.is_nan() => "NULL".to_owned(),
            Some(number) => format!("{number:?}"),
            None => literal(cell),
        }
    }

    /// The cells of some columns, row by row, in an order of their own: writers keep rows in the order of the format.
    fn cells_of(mut rows: Vec<Vec<Sql>>) -> Vec<Vec<String>> {
        let mut cells: Vec<Vec<String>> = rows.iter_mut().map(|row| row.iter().map(kept).collect()).collect();
        cells.sort();
        cells
    }

    /// A random statement that changes cells of `column`, or that inserts or deletes rows. Returns which of both.
    fn edit(generator: &mut Generator<'_>, column: usize) -> (String, bool) {
        let table = quoted(generator.table.name());
        let name = quoted(&generator.table.columns()[column].name);
        let (kind, other) = (generator.table.columns()[column].kind, literal(&generator.operand(column)));
        let row = generator.rng.usize(0..generator.rows);
        let condition = match generator.rng.u8(0..3) {
            0 => format!("rowid = {row}"),
            1 => format!("rowid % 3 = {}", row % 3),
            _ => generator.condition(),
        };
        match generator.rng.u8(0..12) {
            0 => return (format!("DELETE FROM {table} WHERE {condition}"), true),
            1 => {
                let columns = generator.table.columns().iter().filter(|column| column.accepts != Accepts::Nothing);
                let names: Vec<String> = columns.map(|column| quoted(&column.name)).collect();
                let names = names.join(", ");
                return (
                    format!("INSERT INTO {table} ({names}) SELECT {names} FROM {table} WHERE rowid = {row}"),
                    true,
                );
            }
            _ => {}
        }
        let value = match (generator.rng.u8(0..6), kind) {
            (0, Kind::Int | Kind::Uint) => format!("{name} + 1"),
            (1, Kind::Int | Kind::Uint) => format!("(SELECT max({name}) FROM {table})"),
            (0, Kind::F32 | Kind::F64) => format!("{name} * 2"),
            (1, Kind::F32 | Kind::F64) => format!("-{name}"),
            (0, Kind::Text) => format!("{name} || 'x'"),
            (1, Kind::Text) => format!("upper({name})"),
            (0, Kind::Bool) => format!("NOT {name}"),
            (2, _) => format!("CASE WHEN rowid = {row} THEN {other} ELSE {name} END"),
            _ => other,
        };
        (format!("UPDATE {table} SET {name} = {value} WHERE {condition}"), false)
    }

    /// A statement changes a file as it changes a copy in SQLite, unless it is refused. The undo has the first bytes.
    #[test]
    fn statements_of_edits_change_what_they_change_in_a_copy() {
        let (mut changed, mut refused) = (0, BTreeMap::<&str, usize>::new());
        for (file, _, make) in FILES {
            let bytes = make(3, Size::Small);
            let copied = Asset::open(Source::from_vec(file, bytes.clone())).unwrap();
            let mut rng = Rng::with_seed(file.len() as u64);
            let written = |table: &dyn Table| {
                let columns = table.columns().iter().enumerate();
                columns.filter(|(_, column)| column.accepts != Accepts::Nothing).map(|(at, _)| at).collect::<Vec<_>>()
            };
            let mut tables = copied.reader().tables();
            tables.retain(|table| !written(&**table).is_empty() && table.len().unwrap() > 0);
            for _ in 0..if tables.is_empty() { 0 } else { 16 } {
                let table = &tables[rng.usize(0..tables.len())];
                let columns = written(&**table);
                let column = columns[rng.usize(0..columns.len())];
                let rows = table.len().unwrap();
                let mut generator = Generator { rng: rng.fork(), table: &**table, rows };
                let (sql, moves) = edit(&mut generator, column);
                let reference = rusqlite::Connection::open_in_memory().unwrap();
                copy(&reference, &**table);
                reference.execute_batch(&sql).unwrap();
                let new = match edited(file, &bytes, &sql) {
                    Ok(new) => new,
                    Err(_) => {
                        *refused.entry(file).or_default() += 1;
                        continue;
                    }
                };
                let new = Asset::open(Source::from_vec(file, new.unwrap_or_else(|| bytes.clone()))).unwrap();
                let new = new.reader().table(table.name()).unwrap();
                let compared = if moves { columns.clone() } else { vec![column] };
                let ours = (0..new.len().unwrap())
                    .map(|row| compared.iter().map(|&at| stored(new.value(row, at).unwrap())).collect());
                let names: Vec<String> = compared.iter().map(|&at| quoted(&table.columns()[at].name)).collect();
                let select = format!("SELECT {} FROM {}", names.join(", "), quoted(table.name()));
                let mut select = reference.prepare(&select).unwrap();
                let theirs = select.query_map([], |row| (0..compared.len()).map(|at| row.get(at)).collect()).unwrap();
                let theirs: Vec<Vec<Sql>> = theirs.map(Result::unwrap).collect();
                let (ours, theirs) = (cells_of(ours.collect()), cells_of(theirs));
                let differing = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
                assert!(ours == theirs, "{file}: {sql}: {} and {} rows, {differing:?}", ours.len(), theirs.len());
                changed += 1;
            }
        }
        assert!(changed > 60, "{changed} statements were carried out; refused: {refused:?}");
    }

    #[test]
    fn joins_and_groups_are_the_same_too() {
        let bytes = demo("assets.bin");
        let session = one("assets.bin", bytes.clone());
        let copied = Asset::open(Source::from_vec("assets.bin", bytes)).unwrap();
        let reference = rusqlite::Connection::open_in_memory().unwrap();
        copied.reader().tables().iter().for_each(|table| assert!(copy(&reference, &**table) > 0));
        for sql in [
            "SELECT r.path, s.name FROM resources r JOIN render_sets s ON s.id = r.id ORDER BY 1, 2",
            "SELECT p.name, c.name FROM paths p JOIN paths c ON c.parent_id = p.id ORDER BY 1, 2",
            "SELECT p.path, count(c.id) FROM paths p LEFT JOIN paths c ON c.parent_id = p.id GROUP BY p.id ORDER BY 1",
            "SELECT a.path, b.path FROM paths a, paths b WHERE a.name = b.name AND a.rowid < b.rowid ORDER BY 1, 2",
            "SELECT p.path FROM paths p LEFT JOIN resources r ON r.id = p.id WHERE r.id IS NULL ORDER BY 1",
            "SELECT p.path, c.name FROM paths p LEFT JOIN paths c ON c.parent_id = p.id AND c.name LIKE '%.visual' \
             WHERE p.name NOT LIKE '%.%' ORDER BY 1, 2",
            "SELECT p.path FROM paths p LEFT JOIN visuals v ON v.id = p.id AND NOT v.underwater WHERE v.path IS NOT NULL",
            "SELECT type, count(*), min(size), max(offset) FROM resources GROUP BY type ORDER BY type",
            "SELECT name, count(*) FROM material_properties WHERE texture_id IS NOT NULL GROUP BY name ORDER BY name",
            "SELECT s.text FROM strings s WHERE s.id IN (SELECT name_id FROM render_sets) ORDER BY 1",
            "SELECT path FROM visuals WHERE id IN (SELECT id FROM resources WHERE size > 100) ORDER BY path DESC",
            "SELECT DISTINCT parent_id FROM paths ORDER BY parent_id LIMIT 3 OFFSET 1",
            "WITH RECURSIVE up(id, n) AS (SELECT id, 0 FROM paths WHERE name LIKE '%.visual' UNION ALL \
             SELECT p.parent_id, n + 1 FROM up JOIN paths p ON p.id = up.id) SELECT n, count(*) FROM up GROUP BY n",
        ] {
            let expected = answer(&reference, sql);
            assert!(!expected.is_empty(), "{sql}");
            assert_eq!(ask(&session, sql), expected, "{sql}\n{}", plan(&session, sql));
        }
    }
}

/// The promise of [`Table::finds`], against the answers of [`Table::find`].
#[test]
fn tables_find_rows_by_the_columns_that_they_say() {
    let mut found = Vec::new();
    for (file, _, make) in FILES {
        let asset = Asset::open(Source::from_vec(file, make(3, Size::Small))).unwrap();
        for table in asset.reader().tables() {
            for (column, of) in table.columns().iter().enumerate() {
                for row in 0..table.len().unwrap().min(40) {
                    let cell = table.value(row, column).unwrap();
                    if cell.is_null() {
                        continue;
                    }
                    let rows = table.find(column, &cell).transpose().unwrap();
                    assert_eq!(rows.is_some(), table.finds(column), "{file} {} {}", table.name(), of.name);
                    let same = |row: &usize| table.value(*row, column).unwrap() == cell;
                    if let Some(mut rows) = rows {
                        rows.sort_unstable();
                        let all: Vec<usize> = (0..table.len().unwrap()).filter(same).collect();
                        assert_eq!(rows, all, "{file} {} {} {cell}", table.name(), of.name);
                        found.push((table.name().to_owned(), of.name.to_string()));
                    }
                }
            }
        }
    }
    found.dedup();
    assert!(found.len() > 20, "{found:?}");
}

mod ids {
    use super::*;

    const LARGEST: &str = "'0xFFFFFFFFFFFFFFFF'";

    fn paths() -> Session {
        let mut builder = DatabaseBuilder::with_capacities(16, 16);
        builder.raw_path(1, 0, "root");
        for (id, name) in [(u64::MAX, "last"), (u64::MAX - 1, "before"), (1 << 63, "half"), ((1 << 63) - 1, "less")] {
            builder.raw_path(id, 1, name);
        }
        builder.raw_path(0x1234_5678_9012_3456, u64::MAX, "digits");
        one("assets.bin", builder.build())
    }

    #[test]
    fn all_64_bits_are_exact() {
        let session = paths();
        assert_eq!(list(&session, "SELECT id FROM paths WHERE name = 'last'"), [LARGEST]);
        assert_eq!(list(&session, "SELECT max(id) FROM paths"), [LARGEST]);
        assert_eq!(
            list(&session, "SELECT name FROM paths ORDER BY id"),
            ["'root'", "'digits'", "'less'", "'half'", "'before'", "'last'"]
        );
        assert_eq!(
            list(&session, "SELECT c.name FROM paths p JOIN paths c ON c.parent_id = p.id AND p.id != '1'"),
            ["'digits'"]
        );
        assert_eq!(
            list(&session, "SELECT name FROM paths WHERE id > 0x7FFFFFFFFFFFFFFF ORDER BY 1"),
            ["'before'", "'half'", "'last'"]
        );
    }

    #[test]
    fn every_way_to_write_an_id_means_it() {
        for (id, name) in [
            ("'0xFFFFFFFFFFFFFFFF'", "'last'"),
            ("'0xffffffffffffffff'", "'last'"),
            ("'18446744073709551615'", "'last'"),
            ("'18446744073709551614'", "'before'"),
            ("18446744073709551615", "'last'"),
            ("0xFFFFFFFFFFFFFFFE", "'before'"),
            ("9223372036854775807", "'less'"),
            ("9223372036854775808", "'half'"),
            ("1", "'root'"),
            ("'0x1'", "'root'"),
            ("'0X0001'", "'root'"),
            // Sixteen digits without a letter are hexadecimal, as everywhere.
            ("1234567890123456", "'digits'"),
            ("'1234567890123456'", "'digits'"),
            ("1311768467284833366", "'digits'"),
            ("'FFFFFFFFFFFFFFFF'", "'last'"),
        ] {
            // By a probe, by a scan, in a list, and as something computed.
            for sql in [
                format!("SELECT name FROM paths WHERE id = {id}"),
                format!("SELECT name FROM paths WHERE id = {id} OR name IS NULL"),
                format!("SELECT name FROM paths WHERE id IN ({id}, '0x99')"),
                format!("SELECT name FROM paths WHERE CASE WHEN id = {id} THEN 1 ELSE 0 END"),
            ] {
                assert_eq!(list(&paths(), &sql), [name], "{sql}");
            }
        }
        for no_id in ["'last'", "''", "-1", "1.5", "NULL", "18446744073709551616", "'18446744073709551616'", "x'01'"] {
            let sql = format!("SELECT name FROM paths WHERE id = {no_id}");
            assert!(ask(&paths(), &sql).is_empty(), "{sql}");
        }
    }

    #[test]
    fn functions_give_ids_as_columns_hold_them() {
        let session = one("assets.bin", demo("assets.bin"));
        let wrong = "SELECT count(*) FROM paths WHERE id != path_id(path) OR hex(id) != id";
        assert_eq!(list(&session, wrong), ["0"]);
        assert_eq!(list(&session, "SELECT count(*) FROM strings WHERE id != name_id(text)"), ["0"]);
        assert_eq!(list(&session, "SELECT count(*) > 10 FROM paths WHERE path REGEXP '^content/.*\\.[a-z]+$'"), ["1"]);
    }
}

mod plans {
    use super::*;

    #[test]
    fn keys_are_probes() {
        let session = one("assets.bin", demo("assets.bin"));
        for (sql, expected) in [
            ("SELECT name FROM paths WHERE id = '0x2A'", "SCAN paths VIRTUAL TABLE INDEX 0:probe id ="),
            ("SELECT name FROM paths WHERE path IN ('a', 'b')", "probe path ="),
            ("SELECT path FROM visuals WHERE record = 3 AND path LIKE '%x'", "probe record =, path LIKE"),
            ("SELECT name FROM paths WHERE id IS '0x2A' AND name > 'a'", "probe id IS, name >"),
            ("SELECT name FROM paths WHERE rowid = 4", "row rowid ="),
            ("SELECT name FROM paths WHERE name LIKE '%.visual'", "scan name LIKE"),
            ("SELECT name FROM paths WHERE name IN ('a', 'b')", "scan"),
            ("SELECT name FROM paths LIMIT 3 OFFSET 5", "scan from OFFSET"),
            ("SELECT name FROM paths WHERE path = 'a' COLLATE NOCASE", "scan"),
        ] {
            assert!(plan(&session, sql).ends_with(expected), "{sql}: {}", plan(&session, sql));
        }
        let join = plan(&session, "SELECT * FROM render_sets s JOIN paths p ON p.id = s.mfm_id");
        assert!(
            join.starts_with("SCAN s") && join.contains(":scan\nSCAN p") && join.ends_with(":probe id ="),
            "{join}"
        );
        let join = plan(&session, "SELECT * FROM paths a JOIN paths b ON a.name = b.name");
        assert!(join.contains("hash name ="), "{join}");
    }

    #[test]
    fn a_collation_of_the_query_is_kept() {
        let session = one("assets.bin", demo("assets.bin"));
        let upper = "SELECT count(*) FROM paths WHERE path = upper('content') COLLATE NOCASE";
        assert_eq!(list(&session, upper), ["1"]);
        let binary = "SELECT count(*) FROM paths WHERE id = lower(path_id('content')) COLLATE BINARY";
        assert_eq!(list(&session, binary), ["0"]);
    }
}

#[test]
fn files_are_schemas_and_join() {
    let sheet = |power: i64| {
        let sheet = sheets::Sheet::new(Game::Later, "Weapon").fields(["sName", "uPower"]);
        let sheet = sheet.record("w_a", [Cell::from("sword"), power.into()]);
        sheet.record("w_b", [Cell::from("lance"), 7.into()]).build()
    };
    let session = Session::new(vec![asset("old", sheet(5)), asset("new", sheet(6))], false).unwrap();
    let changed = "SELECT n.record, o.uPower, n.uPower FROM new.records n JOIN old.records o USING (record) \
                   WHERE n.uPower != o.uPower";
    assert_eq!(ask(&session, changed), [["'w_a'", "5", "6"]]);
    // Without a schema the first file is selected.
    assert_eq!(list(&session, "SELECT uPower FROM records LIMIT 1"), ["5"]);
    assert!(plan(&session, changed).contains("probe record ="));
    // By what no table has an index for: the first question scans, the others use one that is made then.
    let by_name = "SELECT n.record, o.record FROM new.records n JOIN old.records o ON n.sName = o.sName ORDER BY 1";
    assert_eq!(ask(&session, by_name), [["'w_a'", "'w_a'"], ["'w_b'", "'w_b'"]]);
    assert!(plan(&session, by_name).contains("hash sName ="), "{}", plan(&session, by_name));
}

#[test]
fn equal_names_of_files_get_numbers_and_a_note() {
    let files = || ["a", "A", "main"].map(|name| asset(name, demo("sheet.wdb"))).into();
    let session = Session::new(files(), false).unwrap();
    assert_eq!(session.schemas().collect::<Vec<_>>(), ["a", "A_2", "main_2"]);
    assert_eq!(session.notes().len(), 2);
    assert!(session.notes()[0].contains("A_2"), "{:?}", session.notes());
    assert!(!ask(&session, "SELECT * FROM main_2.records, a_2.sections").is_empty());
    // Too many for schemas: the names of tables begin with the names of their files, and stay distinct.
    let names = (0..10).map(|_| "a").chain(["a_2.records"]);
    let session = Session::new(names.map(|name| asset(name, demo("sheet.wdb"))).collect(), false).unwrap();
    let tables: Vec<String> = session.tables().map(|table| table.name).collect();
    assert_eq!(
        (tables[0].as_str(), tables[3].as_str(), tables[30].as_str()),
        ("a.records", "a_2.records", "a_2.records.records")
    );
    assert!(session.notes().last().unwrap().contains("\"a_2.records.records\""), "{:?}", session.notes());
    for name in &tables {
        assert!(!ask(&session, &format!("SELECT * FROM \"{name}\"")).is_empty(), "{name}");
    }
}

#[test]
fn a_single_file_also_has_a_schema() {
    let session = one("my sheet", demo("sheet.wdb"));
    assert_eq!(ask(&session, "SELECT * FROM \"my sheet\".sections"), ask(&session, "SELECT * FROM sections"));
    assert!(list(&session, "SELECT name FROM sqlite_schema").contains(&"'records'".to_owned()));
}

#[test]
fn hostile_names_are_names() {
    let names = ["a\"b", "A\"B", "select", " ", "x'); DROP TABLE y; --", "a b", "[c]", "ä", "Ä", "record_2"];
    let cells = (0..).zip(names).map(|(n, name)| if name == "select" { Cell::from("x") } else { Cell::from(n) });
    let bytes = sheets::Sheet::new(Game::Later, "Odd").fields(names).record("r", cells).build();
    let session = one("odd", bytes.clone());
    let table = session.tables().find(|table| table.name == "records").unwrap();
    let columns: Vec<String> = table.columns.iter().map(|c| format!("\"{}\"", c.replace('"', "\"\""))).collect();
    let row = ask(&session, &format!("SELECT {} FROM records", columns.join(", "))).remove(0);
    assert_eq!(row[0], "'r'");
    assert_eq!(row.len(), names.len() + 1);
    assert_eq!(table.columns[1..3], ["a\"b", "A\"B_2"]);
    assert!(session.notes()[0].contains("A\\\"B_2"), "{:?}", session.notes());
    // Tables of a pack are called after its entries, and files as people like.
    let pack =
        sheets::pack(&[("it\"em", "wdb", bytes.clone()), ("IT\"EM", "wdb", bytes.clone()), ("sqlite_x", "wdb", bytes)]);
    let session = one("p\"ack", pack);
    for table in session.tables() {
        let select = format!("SELECT count(*) FROM \"p\"\"ack\".{}", assetq::sql::in_sql(&table.name));
        assert_eq!(list(&session, &select).len(), 1, "{select}");
    }
    let names: Vec<String> = session.tables().map(|table| table.name).collect();
    assert!(names.iter().any(|n| n.contains("_sqlite_x")), "{names:?}");
}

#[test]
fn numbers_beyond_63_bits_are_their_text() {
    let sheet = sheets::Sheet::new(Game::Later, "Wide").fields(["sName", "u64Big", "fScale"]);
    let wide = u64::MAX.cast_signed();
    let bytes = sheet.record("r", [Cell::from("x"), wide.into(), 0.1.into()]).build();
    let session = one("wide", bytes);
    assert_eq!(ask(&session, "SELECT u64Big, fScale FROM records"), [["'18446744073709551615'", "0.1f"]]);
    assert_eq!(list(&session, "SELECT record FROM records WHERE fScale = 0.1 AND u64Big > 5"), ["'r'"]);
}

mod damage {
    use super::*;

    /// Five rows; the fourth has no path, because its folder is missing.
    fn bytes() -> Vec<u8> {
        let mut builder = DatabaseBuilder::with_capacities(16, 16);
        builder.path("root/p2");
        builder.path("root/p3");
        builder.raw_path(4, 99, "p4");
        builder.path("root/p5");
        builder.build()
    }

    #[test]
    fn a_damaged_row_is_an_error_with_its_place() {
        let session = one("assets.bin", bytes());
        let Err(Fault::Damaged { file, error }) = try_ask(&session, "SELECT path FROM paths") else { panic!() };
        assert_eq!(file, "assets.bin");
        assert!(error.to_string().starts_with("paths: row 3: "), "{error}");
        assert!(error.offset().is_some());
        // Columns outside of the query are not read.
        assert_eq!(list(&session, "SELECT name FROM paths").len(), 5);
        assert_eq!(list(&session, "SELECT path FROM paths LIMIT 3"), ["'root'", "'root/p2'", "'root/p3'"]);
        assert!(try_ask(&session, "SELECT path FROM paths LIMIT 4").is_err());
        assert_eq!(list(&session, "SELECT path FROM paths WHERE id = path_id('root/p5')"), ["'root/p5'"]);
    }

    /// Of a row that is not among the first by the first term, no further cell is read.
    #[test]
    fn rows_that_lose_need_no_further_cells() {
        let session = one("assets.bin", bytes());
        let first = |rows: usize| format!("SELECT path FROM paths ORDER BY name, path LIMIT {rows}");
        assert_eq!(list(&session, &first(2)), ["'root/p2'", "'root/p3'"]);
        let Err(Fault::Damaged { error, .. }) = try_ask(&session, &first(3)) else { panic!() };
        assert!(error.to_string().starts_with("paths: row 3: "), "{error}");
        let left_out = Session::new(vec![asset("assets.bin", bytes())], true).unwrap();
        assert_eq!(list(&left_out, &first(3)), ["'root/p2'", "'root/p3'", "'root/p5'"]);
        assert_eq!(left_out.take_left_out().rows, 1);
    }

    /// A walk in the order of rows ends after the rows that are wanted, and meets no damage after them.
    #[test]
    fn the_first_rows_in_their_own_order_need_no_later_row() {
        let session = one("assets.bin", bytes());
        let three = "SELECT path FROM paths WHERE path LIKE 'root%' ORDER BY rowid LIMIT 3";
        assert_eq!(list(&session, three), ["'root'", "'root/p2'", "'root/p3'"]);
        assert!(!plan(&session, three).contains("first 3"), "{}", plan(&session, three));
        assert!(try_ask(&session, &three.replace('3', "4")).is_err());
    }

    #[test]
    fn or_is_left_out_and_counted() {
        let session = Session::new(vec![asset("assets.bin", bytes())], true).unwrap();
        let all = ["'root'", "'root/p2'", "'root/p3'", "'root/p5'"];
        for sql in [
            "SELECT path FROM paths",
            "SELECT path FROM paths WHERE path LIKE '%'",
            "SELECT a.path FROM paths a JOIN paths b ON a.path = b.path",
            "SELECT path FROM paths WHERE id IN (SELECT id FROM paths WHERE name LIKE '%')",
        ] {
            // A list is asked for in an order of its own.
            let mut found = list(&session, sql);
            found.sort();
            assert_eq!(found, all, "{sql}");
            let left_out = session.take_left_out();
            assert_eq!((left_out.rows, left_out.errors.len()), (1, 1), "{sql}");
            assert!(left_out.errors[0].1.to_string().contains("paths: row 3: "), "{:?}", left_out.errors);
        }
        // A count is the number of rows of a list.
        assert_eq!(list(&session, "SELECT count(*) FROM paths"), ["4"]);
        assert_eq!(session.take_left_out().rows, 1);
        assert_eq!(list(&session, "SELECT path FROM paths LIMIT 2 OFFSET 3"), ["'root/p5'"]);
        assert_eq!(session.take_left_out().rows, 1);
    }
}

#[test]
fn mistakes_are_explained() {
    let session = one("assets.bin", demo("assets.bin"));
    for (sql, message, at) in [
        ("SELECT 1; SELECT FORM paths", "no such column: FORM", Some(17)),
        ("SELECT * FROM path", "no such table: path; did you mean paths? There are paths, resources, ", None),
        ("SELECT index FROM databases", "near \"index\": syntax error; as a name it goes in double quotes", Some(7)),
        (
            "SELECT \"nme\" FROM paths",
            "no such column: \"nme\"; did you mean name? paths has id, parent_id, name, path",
            Some(7),
        ),
        ("SELECT count(* FROM paths", "syntax error", Some(15)),
        ("DELETE FROM paths", "table paths may not be modified", None),
        ("UPDATE paths SET name = 'x'", "table paths may not be modified", None),
        ("INSERT INTO paths(id) VALUES ('0x1')", "table paths may not be modified", None),
        ("SELECT 'a' REGEXP '('", "unclosed group", None),
        ("SELECT * FROM paths WHERE id = ?", "", None),
    ] {
        match try_ask(&session, sql) {
            Err(Fault::Statement { message: found, at: place }) => {
                assert!(found.contains(message), "{sql}: {found}");
                assert!(at.is_none() || place == at, "{sql}: {place:?}");
            }
            other => assert!(message.is_empty(), "{sql}: {other:?}"),
        }
    }
}

#[test]
fn an_answer_is_kept_as_a_database() {
    let session = one("assets.bin", demo("assets.bin"));
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("out.sqlite");
    let sql = "SELECT id, path, size, size / 2.0 AS half, id, type = 'x' AS flag, NULL AS empty, \
               CASE WHEN size > 100 THEN size ELSE 'small' END AS mixed FROM resources";
    let statement = statements(sql).next().unwrap();
    let rows = keep(&path, "it's \"kept\"", &mut session.ask(statement).unwrap()).unwrap();
    let kept = rusqlite::Connection::open(&path).unwrap();
    let types: Vec<(String, String)> = kept
        .prepare("SELECT name, type FROM pragma_table_info('it''s \"kept\"')")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let expected = [
        ("id", "TEXT"),
        ("path", "TEXT"),
        ("size", "INTEGER"),
        ("half", "REAL"),
        ("id_2", "TEXT"),
        ("flag", "INTEGER"),
        ("empty", ""),
        ("mixed", ""),
    ];
    assert_eq!(types, expected.map(|(name, kind)| (name.to_owned(), kind.to_owned())));
    assert_eq!(kept.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
    let count: u32 = kept.query_row("SELECT count(*) FROM \"it's \"\"kept\"\"\"", [], |row| row.get(0)).unwrap();
    assert_eq!(u64::from(count), rows);
    drop(kept);
    // And may be asked together with the file that it came from; nothing is written to it.
    let inputs = vec![asset("assets", demo("assets.bin")), ("kept".to_owned(), Input::Database(path.clone()))];
    assert!(Input::is_database(&path));
    let session = Session::new(inputs, false).unwrap();
    let table = "kept.\"it's \"\"kept\"\"\"";
    let join = format!("SELECT count(*) FROM {table} k JOIN resources r ON r.id = k.id WHERE r.path = k.path");
    assert_eq!(list(&session, &join), [rows.to_string()]);
    let Err(fault) = try_ask(&session, &format!("DELETE FROM {table}")) else { panic!() };
    assert!(fault.to_string().contains("readonly"), "{fault}");
}

/// More rows than are written at once: another thread writes them while later ones are read.
#[test]
fn a_long_answer_is_kept_in_its_order() {
    let session = one("assets.bin", demo("assets.bin"));
    let dir = TempDir::new().unwrap();
    let long = |last: &str| {
        format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) \
             SELECT i, 'row ' || i AS text, i / 2.0 AS half, CAST(i AS BLOB) AS bytes, NULL AS empty, {last} AS last FROM n"
        )
    };
    let try_keep = |name: &str, sql: &str| {
        let path = dir.path().join(name);
        keep(&path, "kept", &mut session.ask(statements(sql).next().unwrap()).unwrap()).map(|rows| (path, rows))
    };
    let (path, rows) = try_keep("long.sqlite", &long("i")).unwrap();
    assert_eq!(rows, 30_000);
    let kept = rusqlite::Connection::open(&path).unwrap();
    let right = "SELECT count(*) FROM kept WHERE i = rowid AND text = 'row ' || rowid AND half = rowid / 2.0 \
                 AND bytes = CAST(rowid AS BLOB) AND empty IS NULL AND last = rowid";
    assert_eq!(kept.query_row(right, [], |row| row.get::<_, u32>(0)).unwrap(), 30_000);
    // The error of a late row.
    let failing = long("CASE WHEN i < 29000 THEN i ELSE abs(-9223372036854775807 - 1) END");
    match try_keep("failing.sqlite", &failing) {
        Err(Fault::Statement { message, .. }) => assert!(message.contains("integer overflow"), "{message}"),
        other => panic!("{other:?}"),
    }
}

/// A name that a statement gives to a column or a table hides the name in the file, as SQLite's rules are.
#[test]
fn names_of_a_statement_hide_names_of_the_file() {
    let session = one("assets.bin", demo("assets.bin"));
    let with_as = ask(&session, "SELECT count(*) AS type FROM resources GROUP BY type ORDER BY type LIMIT 3");
    let without = ask(&session, "SELECT count(*) type FROM resources GROUP BY type ORDER BY type LIMIT 3");
    assert_eq!(without, with_as);
    let mut counts = list(&session, "SELECT count(*) FROM resources GROUP BY type");
    counts.sort_by_key(|count| count.parse::<u64>().unwrap());
    counts.truncate(3);
    assert_eq!(without.concat(), counts);

    let nested = "SELECT * FROM (WITH resources AS (SELECT 1 AS x) SELECT count(*) FROM resources)";
    assert_eq!(ask(&session, nested), [["1"]]);
}

/// `EXPLAIN` lists the scan of the table itself, without an engine in between.
#[test]
fn explain_shows_the_plan_that_runs() {
    let session = one("assets.bin", demo("assets.bin"));
    let sql = "SELECT type, count(*) FROM resources GROUP BY type";
    assert!(plan(&session, sql).contains("resources VIRTUAL TABLE"), "{}", plan(&session, sql));
    let tables = list(&session, "SELECT name FROM sqlite_schema WHERE sql NOT LIKE '%USING assetq(%'");
    assert_eq!(tables, [""; 0]);
}

#[test]
fn rows_that_are_in_order_are_not_sorted() {
    let session = one("assets.bin", demo("assets.bin"));
    for (sql, is_sorted) in [
        ("SELECT name FROM paths WHERE name LIKE '%a%' ORDER BY rowid LIMIT 3", false),
        ("SELECT name FROM paths ORDER BY rowid DESC", true),
        ("SELECT name FROM paths ORDER BY rowid DESC LIMIT 3", false),
        ("SELECT path, size FROM resources ORDER BY size DESC, path LIMIT 12 OFFSET 2", false),
        (
            "SELECT path FROM resources WHERE type = 'VisualPrototype' AND path LIKE '%a%b%' ORDER BY size LIMIT 3",
            false,
        ),
        ("SELECT path FROM resources WHERE size > 100.5 ORDER BY size LIMIT 3", true),
        ("SELECT path FROM resources ORDER BY length(path) LIMIT 3", true),
        ("SELECT name FROM paths ORDER BY rowid, name", true),
        ("SELECT name FROM paths WHERE id IN (SELECT id FROM resources) ORDER BY rowid", true),
    ] {
        assert_eq!(
            plan(&session, sql).contains("TEMP B-TREE FOR ORDER BY"),
            is_sorted,
            "{sql}\n{}",
            plan(&session, sql)
        );
    }
}

#[test]
fn a_cell_is_not_read_again_for_a_condition_that_means_the_same() {
    let session = one("assets.bin", demo("assets.bin"));
    for (condition, is_read) in [
        ("size > 100", false),
        ("type = 'VisualPrototype'", false),
        ("path LIKE '%a%b%'", false),
        ("size > 100.5", true),
        ("size IN (100, 120)", true),
        ("id = '42'", true),
    ] {
        let steps = ask(&session, &format!("EXPLAIN SELECT count(*) FROM resources WHERE {condition}"));
        assert_eq!(steps.iter().any(|step| step[1] == "'VColumn'"), is_read, "{condition}: {steps:?}");
    }
}

#[test]
fn a_float_that_is_no_number_is_null_in_every_condition() {
    let sheet = sheets::Sheet::new(Game::Later, "S").fields(["fPart"]);
    let sheet = sheet.record("a", [0.5f32.into()]).record("b", [f32::NAN.into()]);
    let session = one("s.wdb", sheet.build());
    for (condition, expected) in [("IS NULL", "'b'"), ("IS NOT NULL", "'a'"), ("IS NOT 7", "'b'"), ("= 0.5", "'a'")] {
        let rows = list(&session, &format!("SELECT max(record) FROM records WHERE fPart {condition}"));
        assert_eq!(rows, [expected], "fPart {condition}");
    }
}

/// Words of SQL need quotes as names; other names of the same tables and columns need none, and no answer shows them unasked.
#[test]
fn tables_and_columns_named_as_words_of_sql_have_another_name() {
    let session = one("assets.bin", demo("assets.bin"));
    let both = ask(&session, "SELECT \"index\", position FROM databases WHERE position > 6 ORDER BY position DESC");
    assert_eq!(both, [["9", "9"], ["8", "8"], ["7", "7"]]);
    assert_eq!(list(&session, "SELECT count(*) FROM lods WHERE position = 0 AND record = 1"), ["1"]);
    let all = ask(&session, "SELECT * FROM databases");
    assert_eq!(all[0].len(), ask(&session, "SELECT * FROM pragma_table_info('databases')").len());
    let plan = |column: &str| ask(&session, &format!("EXPLAIN QUERY PLAN SELECT path FROM lods WHERE {column} = 1"));
    assert_eq!(plan("position"), plan("\"index\""));
    let fault = try_ask(&session, "SELECT index FROM databases").unwrap_err();
    assert!(fault.to_string().ends_with("\"index\", or is called position"), "{fault}");

    let save = one("savegame.vrb", demo("savegame.vrb"));
    let count = "SELECT count(*) FROM";
    assert_eq!(list(&save, &format!("{count} fields")), list(&save, &format!("{count} \"values\"")));
    // A table of that name wins, also that of another file.
    let sheet = || asset("sheet", demo("sheet.wdb"));
    let two = Session::new(vec![asset("save", demo("savegame.vrb")), sheet()], false).unwrap();
    assert_eq!(list(&two, "SELECT name FROM fields LIMIT 1"), ["'sName'"]);

    let written =
        Session::for_writing(vec![asset("models.bin", demo("models.bin"))], false, &Options::default()).unwrap();
    ask(
        &written,
        "INSERT INTO lods(model, position, extent, casts_shadow, render_sets)
                   SELECT model, 0, 50, casts_shadow, render_sets FROM lods WHERE model = 2",
    );
    let edits = written.edits().unwrap().into_values().next();
    assert!(matches!(&edits, Some(FileEdits::Rows(edits)) if edits[0].add.len() == 1), "{edits:?}");
}
