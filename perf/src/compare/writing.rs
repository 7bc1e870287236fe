//! Edits by the command, next to a plain copy.

use super::process;
use super::run::{Run, open};
use crate::inputs;
use crate::record::{Bound::AtMost, Ratio, Spread};
use crate::turns::median;
use assetq::formats::Reader as _;
use assetq::table::{Value, column_index};
use assetq::{Asset, Source};
use assetq_sample::Size;
use assetq_sample::vrb;
use assetq_sample::wdb::{Cell, Game, Sheet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Rows of the sheet, all edited.
const ROWS: usize = 100_000;

/// The time that `command` takes to make `new`, which is not there before.
fn time(command: &[&str], new: &Path) -> Duration {
    let _ = fs::remove_file(new);
    let begin = Instant::now();
    let mut child = Command::new(command[0]);
    let status = child.args(&command[1..]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.expect("it starts").success(), "{command:?} failed");
    begin.elapsed()
}

/// A cell of the row with this number.
fn cell(file: &Path, table: &str, row: usize, column: &str) -> Value<'static> {
    let asset = Asset::open(Source::open(file).expect("it can be mapped")).expect("its format is known");
    let table = asset.reader().table(table).expect("it has the table");
    let column = column_index(&*table, column).expect("it has the column");
    table.value(row, column).expect("it is sound").into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("the path is text")
}

pub fn run(run: &mut Run) {
    let binary = process::binary();
    let binary = text(&binary);
    if !process::has(binary, "patch") {
        run.skip("writing: this build of the command cannot do that");
        return;
    }
    let file = inputs::database();
    let new = file.with_file_name("written.bin");
    large(run, binary, &file, &new);
    let save = inputs::cached("savegame.vrb", || vrb::demo(1, Size::Full));
    let patch = "{\"table\":\"values\",\"change\":\"changed\",\"key\":{\"chunk\":\"[Main]\",\"path\":\"Seed\"},\
                 \"new\":{\"value\":77}}\n";
    let edit = inputs::cached("savegame.ndjson", || patch.into());
    let written = save.with_file_name("written.vrb");
    let command = [binary, "patch", text(&save), text(&edit), "--to", text(&written), "--quiet"];
    time(&command, &written);
    assert_eq!(cell(&written, "values", 2, "value"), 77u64.into(), "the value changed");
    seconds(run, "one value of a 13 MB save, in seconds", &command, &written, 1.0);
    let (sheet, rows) = sheet();
    let written = sheet.with_file_name("written.wdb");
    let command = [binary, "patch", text(&sheet), text(&rows), "--to", text(&written), "--quiet"];
    time(&command, &written);
    for row in [0, ROWS / 2, ROWS - 1] {
        assert_eq!(cell(&written, "records", row, "u20Price"), (row as u64 + 1).into(), "row {row}");
    }
    seconds(run, "100,000 rows of a sheet from CSV, in seconds", &command, &written, 2.0);
    for file in [new, written, save.with_file_name("written.vrb")] {
        let _ = fs::remove_file(file);
    }
}

/// One edit in a database of the size of a real one, next to a copy of it.
fn large(run: &mut Run, binary: &str, file: &Path, new: &Path) {
    let first = open(file);
    let table = first.table("materials").expect("it has materials");
    let column = |name| column_index(&*table, name).expect("it has the column");
    let (id, old) = (column("id"), column("sort_order"));
    let row = ROWS / 4;
    let (id, old) = (table.value(row, id).expect("it is sound"), table.value(row, old).expect("it is sound"));
    let wanted = if old == Value::from(9) { 8 } else { 9 };
    let patch = format!(
        "{{\"table\":\"materials\",\"change\":\"changed\",\"key\":\"{id}\",\"new\":{{\"sort_order\":{wanted}}}}}\n"
    );
    let edit = file.with_extension("ndjson");
    fs::write(&edit, patch).expect("the target folder can be written");
    let patch = [binary, "patch", text(file), text(&edit), "--to", text(new), "--quiet"];
    let copy = ["cp", text(file), text(new)];
    time(&patch, new);
    assert_eq!(cell(new, "materials", row, "sort_order").to_string(), wanted.to_string(), "the value is another");
    let (before, after) = (fs::read(file).expect("it is there"), fs::read(new).expect("it is there"));
    let others = before.iter().zip(&after).filter(|(a, b)| a != b).count();
    assert!(before.len() == after.len() && (2..=8).contains(&others), "{others} bytes differ");
    let (mut patched, mut copied) = (Vec::new(), Vec::new());
    for _ in 0..run.rounds(20) {
        patched.push(time(&patch, new));
        copied.push(time(&copy, new));
    }
    run.ratio("writing", "one edit in 170 MB / cp", [&patched, &copied], 1, Some(AtMost(3.0)));
}

/// Notes how long a command takes that makes `new`.
fn seconds(run: &mut Run, what: &str, command: &[&str], new: &Path, most: f64) {
    let times: Vec<Duration> = (0..run.rounds(12)).map(|_| time(command, new)).collect();
    let ratio = Spread::of(times.iter().map(Duration::as_secs_f64));
    run.record.ratios.push(Ratio {
        group: "writing".to_owned(),
        what: what.to_owned(),
        seconds: [median(&times).as_secs_f64(), 1.0],
        ratio,
        bound: Some(AtMost(most)),
    });
}

/// A sheet, and all of its rows as CSV with other prices.
fn sheet() -> (PathBuf, PathBuf) {
    let name = |row: usize| format!("it_{row:06}");
    let sheet = inputs::cached("sheet.wdb", || {
        let sheet = Sheet::new(Game::Later, "Items").fields(["sName", "u20Price", "fScale"]);
        let record = |sheet: Sheet, row: usize| {
            sheet.record(name(row), [Cell::from(&*name(row)), Cell::Int(0), Cell::Float(0.5)])
        };
        (0..ROWS).fold(sheet, record).build()
    });
    let rows = inputs::cached("sheet.csv", || {
        let row = |row: usize| format!("{},{},{},0.5\n", name(row), name(row), row + 1);
        format!("record,sName,u20Price,fScale\n{}", (0..ROWS).map(row).collect::<String>()).into_bytes()
    });
    (sheet, rows)
}
