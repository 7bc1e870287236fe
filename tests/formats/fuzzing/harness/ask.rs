//! Questions about whole files: `verify`, references, exports, pages, SQL, differences of two files, and histories.

use super::input::{File, any, below, file, turn};
use super::read::ROWS;
use arbitrary::Unstructured;
use assetq::diff::{self, Side};
use assetq::edit::patch;
use assetq::formats::ErrorKind;
use assetq::formats::report::Progress;
use assetq::query::find;
use assetq::query::find::Pattern;
use assetq::query::history::{EntryState, History};
use assetq::query::{lines, refs};
use assetq::sql::{Fault, Input, Session, statements};
use assetq::table::{Table, Tree};
use assetq::view::page::{self, Page};
use assetq::view::scene::{Context, Options, SceneFormat, Shapes};
use assetq::write::arrow::ArrowRows;
use assetq::write::json::JsonWriter;
use assetq::write::parquet;
use assetq::write::rows::{RowFormat, RowSink, RowWriter};
use assetq::write::text::{Outline, Style};
use assetq::{Asset, Error};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::LazyLock;
use tempfile::TempDir;

/// Checks all of a file, or follows all of its references, or searches it.
pub fn verify(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let file = file(&mut u, None);
    let Ok(asset) = file.open() else { return };
    match any::<u8>(&mut u) % 3 {
        0 => check(&file, &asset),
        1 => references(&mut u, &asset),
        _ => search(&asset, ["e", "*a*"][below(&mut u, 2)]),
    }
}

fn check(file: &File, asset: &Asset) {
    let reader = asset.reader();
    let report = reader.verify(&Progress::default());
    let first = report.checks.iter().find(|check| !check.is_ok());
    assert!(report.is_ok() == first.is_none(), "{report:?}");
    assert!(!file.is_valid || report.is_ok(), "{}: {first:?}", file.name);
    for check in &report.checks {
        assert!(check.findings().len() as u64 <= check.found());
        assert!(check.findings().iter().all(|error| !error.to_string().is_empty()));
    }
    reader.warnings();
}

pub fn references(u: &mut Unstructured<'_>, asset: &Asset) {
    let found = refs::scan(asset, &|_, _| true);
    for edge in found.edges.iter().take(ROWS) {
        let _ = format!("{edge:?}");
    }
    refs::references_of(asset, any(u));
    refs::has(asset, any(u));
    if let Some(entries) = asset.reader().relations().and_then(|relations| relations.entries()) {
        for edge in found.edges.iter().take(8) {
            let _ = entries.resolve(&format!("{edge:?}"), true, &mut |_| {});
        }
        let _ = entries.resolve("content/x.visual", true, &mut |_| {});
    }
}

/// The hits of a pattern in all texts.
pub fn search(asset: &Asset, text: &str) {
    let Ok(pattern) = Pattern::new(text, find::PatternOptions::default()) else { return };
    let mut hits = 0;
    for (table, columns) in find::tables(asset, &pattern) {
        let mut each = |_: &find::Hit<'_>| {
            hits += 1;
            Ok(if hits < ROWS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        };
        let _: Result<_, Error> = find::each(&*table, &columns, &pattern, |_| {}, &mut each);
    }
}

/// Counts what is written, and ends what writes without end.
#[derive(Debug, Default)]
struct Counted(u64);

/// The most bytes of any output of a small file.
const MOST_WRITTEN: u64 = 256 << 20;

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        assert!(self.0 < MOST_WRITTEN, "more than {MOST_WRITTEN} bytes are written");
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes some tables and some of their entries, or all shapes of a file, in all forms; or all of it as a page.
pub fn export(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let file = file(&mut u, None);
    let Ok(asset) = file.open() else { return };
    let way = any::<u8>(&mut u);
    match asset.reader().facet::<dyn Shapes>() {
        Some(shapes) if way & 1 == 0 => draw(&mut u, shapes),
        _ if way & 6 == 2 => batches(&mut u, &asset),
        _ if way & 6 == 4 => whole_page(&asset),
        _ => rows(&mut u, &asset),
    }
}

/// Writes some tables as Parquet and as Arrow, in a file and as a stream.
fn batches(u: &mut Unstructured<'_>, asset: &Asset) {
    let tables = asset.reader().tables();
    for table in (0..tables.len()).filter(turn(u, tables.len())).map(|at| &*tables[at]) {
        let columns = table.columns();
        let as_parquet = parquet::write(Counted::default(), columns, &[], |mut rows| all_rows(table, &mut rows));
        let arrow = |mut rows: ArrowRows<Counted>| all_rows(table, &mut rows);
        let as_file = ArrowRows::file(Counted::default(), columns, &[]).and_then(arrow);
        let as_stream = ArrowRows::stream(Counted::default(), columns, &[]).and_then(arrow);
        for written in [as_parquet, as_file, as_stream] {
            // A damaged table has an error of its own. The format holds whatever tables have, and the output takes all.
            let is_refused = matches!(&written, Err(error) if matches!(error.kind(), ErrorKind::Io { .. }));
            assert!(!is_refused, "{}: {written:?}", table.name());
        }
    }
}

/// Passes all rows at once if possible, otherwise one by one, as exports do.
fn all_rows(table: &dyn Table, out: &mut impl RowSink) -> assetq::Result<()> {
    let columns: Vec<usize> = (0..table.columns().len()).collect();
    if out.rows_of(table, &columns, |_| Ok::<_, Error>(())).transpose()?.is_none() {
        let mut rows = table.cursor(0);
        while rows.advance().unwrap_or(false) {
            match out.row_of(&*rows, &columns) {
                Err(error) if matches!(error.kind(), ErrorKind::Io { .. }) => return Err(error),
                _ => {}
            }
        }
    }
    out.finish()
}

/// Writes the page that shows all of a file.
fn whole_page(asset: &Asset) {
    let (mut out, reader) = (Counted::default(), asset.reader());
    let mut page = Page::new(&mut out, "title", "about").unwrap();
    let drawing =
        reader.facet::<dyn Shapes>().and_then(|shapes| shapes.draw(&Context::default(), Options::default()).ok());
    if let Some(figure) = drawing.as_ref().and_then(|drawing| drawing.figure().ok().flatten()) {
        let _ = page::scene::add(&mut page, &figure);
    }
    let has_graphs = page::tree::add(&mut page, reader, &mut |_| {}).unwrap();
    let tables = reader.tables();
    page::tables::add(page::tables::TableLimits::SHOWN, &mut page, &tables, has_graphs, "f", &mut |_, _| {}).unwrap();
    page.finish().unwrap();
}

fn rows(u: &mut Unstructured<'_>, asset: &Asset) {
    let reader = asset.reader();
    let tables = reader.tables();
    for table in (0..tables.len()).filter(turn(u, tables.len())).map(|at| &tables[at]) {
        let columns: Vec<usize> = (0..table.columns().len()).collect();
        let forms = [RowFormat::Text, RowFormat::Json, RowFormat::Ndjson, RowFormat::Csv];
        let mut outs: Vec<_> = forms
            .iter()
            .map(|form| RowWriter::new(Counted::default(), *form, table.columns(), Style::Plain).unwrap())
            .collect();
        let mut rows = table.cursor(0);
        for row in 0..ROWS {
            if !rows.advance().unwrap_or(false) {
                break;
            }
            for out in &mut outs {
                out.row_of(&*rows, &columns, |_| {}).unwrap();
            }
            if row < 4
                && let Ok(label) = rows.value(table.label())
            {
                let entry = label.to_string();
                let _ = reader.cat(&entry, &mut JsonWriter::pretty(Counted::default()));
                let _ = reader.cat(&entry, &mut Outline::new(Counted::default()));
            }
        }
        outs.iter_mut().for_each(|out| out.finish().unwrap());
    }
}

pub fn draw(u: &mut Unstructured<'_>, shapes: &dyn Shapes) {
    let models = super::models::all();
    let stage = &models[below(u, models.len())];
    let stage = Asset::open(assetq::Source::from_vec(stage.name, stage.bytes.clone())).unwrap();
    let named = Context::from_assets([&stage]).unwrap_or_default();
    for (context, lod) in [(&Context::default(), Some(0)), (&named, None)] {
        let mut options = Options::default();
        options.lod = lod;
        for &kind in shapes.kinds() {
            if let Ok(drawing) = shapes.draw(context, options) {
                drawing.notes();
                drawing.damage();
                let mut out = Vec::new();
                if drawing.write(kind, &mut out).is_ok() {
                    assert!((out.len() as u64) < MOST_WRITTEN);
                    assert!(kind != SceneFormat::Glb || out.starts_with(b"glTF"));
                }
            }
        }
    }
}

/// Asks a file in SQL, or changes it.
pub fn sql(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let file = file(&mut u, None);
    if let Ok(asset) = file.open() {
        statements_over(&mut u, &asset, file.is_valid);
    }
}

/// Questions or edits of some tables of a file.
pub fn statements_over(u: &mut Unstructured<'_>, asset: &Asset, is_valid: bool) {
    let left_out = any::<u8>(u) & 1 == 0;
    let number: u64 = any(u);
    let input = || vec![("f".to_owned(), Input::Asset(asset.clone()))];
    let is_question = any::<u8>(u) & 1 == 0;
    let session = if is_question {
        Session::new(input(), left_out)
    } else {
        Session::for_writing(input(), left_out, &assetq::Options::default())
    };
    let Ok(session) = session else { return };
    let tables = asset.reader().tables();
    let shown: Vec<String> = session.tables().map(|table| table.shown()).collect();
    let in_turn: Vec<usize> = (0..tables.len()).filter(turn(u, tables.len())).collect();
    for (table, shown) in in_turn.iter().map(|&at| (&tables[at], &shown[at])) {
        let column = table.columns().get(number as usize % table.columns().len().max(1));
        let column = assetq::sql::in_sql(column.map_or("x", |column| &column.name));
        if !is_question {
            let _ = run(&session, &format!("UPDATE {shown} SET {column} = {column}"));
            let _ = run(&session, &format!("UPDATE {shown} SET {column} = 'x' WHERE rowid = {}", number % 8));
            let _ = run(&session, &format!("DELETE FROM {shown} WHERE rowid = {}", number % 4));
            let _ = run(&session, &format!("INSERT INTO {shown} ({column}) VALUES ({})", number as i64));
            continue;
        }
        let asked = run(&session, &format!("SELECT count(*) FROM {shown}"));
        if let (true, Ok(len)) = (is_valid, table.len()) {
            assert_eq!(asked, Ok(vec![vec![len.to_string()]]), "{shown}");
        }
        let _ = run(&session, &format!("SELECT * FROM {shown} LIMIT 60"));
        let _ = run(&session, &format!("SELECT * FROM {shown} WHERE {column} = {number} OR {column} = '0x{number:X}'"));
        let _ = run(&session, &format!("SELECT {column}, count(*) FROM {shown} GROUP BY 1 ORDER BY 2 DESC LIMIT 9"));
        let _ = run(
            &session,
            &format!("SELECT a.{column} FROM {shown} a JOIN {shown} b ON a.{column} = b.{column} LIMIT 60"),
        );
    }
    if is_question && let Some(shown) = shown.get(below(u, shown.len())) {
        kept(&session, shown);
    }
    session.take_left_out();
    let _ = session.edits();
}

/// Keeps the first rows of a table as a database of SQLite.
fn kept(session: &Session, shown: &str) {
    static FOLDER: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().unwrap());
    let to = FOLDER.path().join("kept.db");
    let _ = std::fs::remove_file(&to);
    let question = format!("SELECT * FROM {shown} LIMIT {ROWS}");
    for mut answer in statements(&question).filter_map(|statement| session.ask(statement).ok()) {
        let rows = assetq::sql::keep(&to, "kept", &mut answer);
        assert!(!matches!(rows, Err(Fault::Output(_))), "{shown}: {rows:?}");
    }
}

/// The first rows of a statement as text.
pub fn run(session: &Session, sql: &str) -> Result<Vec<Vec<String>>, String> {
    let mut all = Vec::new();
    for statement in statements(sql) {
        let mut answer = session.ask(statement).map_err(|fault| fault.to_string())?;
        let ended = answer.rows(|cells| {
            all.push(cells.iter().map(|cell| cell.to_string()).collect());
            if all.len() < ROWS { Ok(()) } else { Err(Fault::Output("enough".to_owned())) }
        });
        match ended {
            Err(Fault::Output(_)) => {}
            ended => ended.map_err(|fault| fault.to_string())?,
        }
    }
    Ok(all)
}

/// Compares a file with itself or with another, makes the patch from one to the other or the history of an entry in both;
/// or writes one as lines.
pub fn diff(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let file_of = |u: &mut Unstructured<'_>| -> Option<(Asset, File)> {
        let file = file(u, None);
        Some((file.open().ok()?, file))
    };
    let Some((old, old_file)) = file_of(&mut u) else { return };
    let Some((new, new_file)) = file_of(&mut u) else { return };
    match any::<u8>(&mut u) % 6 {
        0 => compare(&old, &old, true),
        1 => between(&old, &new),
        4 => lines::write(&old, &mut Counted::default(), |_| {}).unwrap(),
        5 => history(&mut u, &old, &new),
        _ => compare(&old, &new, old_file.bytes == new_file.bytes && old_file.name == new_file.name),
    }
}

fn compare(old: &Asset, new: &Asset, is_same: bool) {
    let Ok(tables) = diff::tables(old, new, &[]) else { return };
    diff::notes(old, new);
    for table in tables {
        let found = table.find(&Progress::default(), 0);
        assert!(!is_same || found.is_empty() || !found.faults.is_empty(), "{} differs from itself", table.name());
        table.lone_columns();
        table.has_paths();
        for pair in found.pairs().take(ROWS) {
            let change = table.change(pair, &mut |_: Side, _| {});
            let _ = format!("{:?}", change.fields.len());
        }
    }
}

fn between(old: &Asset, new: &Asset) {
    let mut rows = 0;
    let _ = patch::between(old, new, &assetq::Options::default(), &[], &mut |_, _| {}, &mut |row| {
        rows += 1;
        let mut tree = Tree::default();
        assetq::table::Visitor::value(&mut tree, &row)?;
        if rows < ROWS { Ok(()) } else { Err(assetq::edit::refused("enough")) }
    });
}

/// The history of an entry of `old` in both files.
fn history(u: &mut Unstructured<'_>, old: &Asset, new: &Asset) {
    let tables = old.reader().tables();
    let Some(table) = tables.get(below(u, tables.len())) else { return };
    let row = below(u, table.len().unwrap_or(0).min(ROWS));
    let Ok(label) = table.value(row, table.label()) else { return };
    let entry = label.to_string();
    let state = |name: &str, asset: &Asset| Some((name.to_owned(), EntryState::read(asset, &entry, &[]).ok()?));
    let states: Vec<(String, EntryState)> =
        [state("old", old), state("again", old), state("new", new)].into_iter().flatten().collect();
    for event in History::new(&entry, &states).events() {
        assert!(event.build != "again", "{entry} differs from itself: {event:?}");
    }
}
