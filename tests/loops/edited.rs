//! Edits that are listed as they are, given as a patch, and undone.

use crate::command::{Answer, Place, assetq};
use crate::subject::{Subject, TableInfo};
use crate::{Ended, broken, hash};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// A cell of each writable table gets the value of another row, by SQL, by `set`, or by an exported row that is patched back: the
/// change is listed, `diff` finds it and no other, the patch of `diff` makes the same file, and the undo restores every byte.
pub fn undone(subject: &Subject, place: &Place) -> Ended {
    let mut tried = false;
    for table in subject.written_tables() {
        match edit(subject, place, table) {
            Ok(edited) => tried |= edited,
            Err(what) => broken!("{}: {what}", table.name),
        }
    }
    if tried { Ended::Whole } else { Ended::Absent("no cell can take the value of another row") }
}

/// A cell, and the row whose value it gets.
struct CellEdit<'t> {
    table: &'t TableInfo,
    column: &'t str,
    row: usize,
    other: usize,
}

impl<'t> CellEdit<'t> {
    /// The edit of a table; `None` if no column besides its keys is written.
    fn of(subject: &Subject, table: &'t TableInfo) -> Option<Self> {
        let rows = table.rows?;
        let columns: Vec<&str> =
            table.columns.iter().filter(|c| c.is_writable && !c.is_key).map(|c| &*c.name).collect();
        let number = |what: &str| hash(&[&subject.name, &table.name, what]);
        let column = *columns.get(number("column") % columns.len().max(1))?;
        Some(Self { table, column, row: number("row") % rows, other: number("other") % rows })
    }

    fn statement(&self) -> String {
        let (name, column) = (&self.table.name, self.column);
        let (row, other) = (self.row, self.other);
        format!(
            r#"UPDATE "{name}" SET "{column}" = (SELECT "{column}" FROM "{name}" WHERE rowid = {other}) WHERE rowid = {row}"#
        )
    }

    fn by_sql(&self, place: &Place, output: &[&str]) -> Option<Answer> {
        Some(assetq(&[&["sql", &self.statement(), &place.address], output].concat()))
    }

    /// As a user who sees the row writes it; `None` for a null, which has no text.
    fn by_set(&self, place: &Place, output: &[&str]) -> Option<Answer> {
        let name = &self.table.name;
        let listed = assetq(&["ls", &place.address, "-t", name, "-f", "ndjson"]);
        let cell = |row: usize, column: &str| -> Option<String> {
            let row: Value = serde_json::from_str(listed.out.lines().nth(row)?).unwrap();
            match &row[column] {
                Value::Null => None,
                Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            }
        };
        let entry = format!("{}.{}", cell(self.row, &self.table.label)?, self.column);
        let value = cell(self.other, self.column)?;
        Some(assetq(&[&["set", "-t", name], output, &["--", &place.address, &entry, &value]].concat()))
    }

    fn by_rows(&self, place: &Place, output: &[&str]) -> Option<Answer> {
        let (name, rows) = (&self.table.name, place.path("rows.ndjson"));
        let exported = assetq(&["export", &place.address, "-t", name, "--to", &rows, "--force"]);
        assert!(exported.code == 0, "{}", exported.shown());
        let text = fs::read_to_string(&rows).unwrap();
        let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines[self.row][self.column] = lines[self.other][self.column].clone();
        fs::write(&rows, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        Some(assetq(&[&["patch", &place.address, &rows, "-t", name], output].concat()))
    }
}

fn edit(subject: &Subject, place: &Place, table: &TableInfo) -> Result<bool, String> {
    let Some(edit) = CellEdit::of(subject, table) else { return Ok(false) };
    let (new, undo, back) = (place.path(subject.file_name()), place.path("undo.ndjson"), place.path("back"));
    let _ = fs::remove_file(&undo);
    let output = ["--to", &new, "--undo", &undo, "--force", "-f", "ndjson"];
    // In each state of the file the edit goes another way.
    let answer = match (hash(&[&subject.name, &table.name, "way"]) + place.number) % 3 {
        0 => edit.by_sql(place, &output),
        1 => edit.by_set(place, &output),
        _ => edit.by_rows(place, &output),
    };
    // A value may be refused beside the other cells of its row, and a row may have no name of its own.
    let Some(answer) = answer.filter(|answer| answer.code != 1 && answer.code != 2) else { return Ok(false) };
    if answer.code != 0 {
        return Err(answer.shown());
    }
    let copy = place.path("copied");
    fs::create_dir_all(&copy).unwrap();
    let old = format!("{copy}/{}", subject.file_name());
    let _ = fs::remove_file(&old);
    fs::copy(subject.file(), &old).unwrap();
    let found = assetq(&["diff", &old, &new, "-f", "ndjson"]);
    if found.code > 1 {
        return Err(found.shown());
    }
    // Derived tables that `diff` leaves out may be listed, and the edited table is listed even if `diff` leaves it out.
    let (listed, differing) = (changes(&answer)?, changes(&found)?);
    if let Some(missing) = differing.difference(&listed).next() {
        return Err(format!("{missing} differs and was not listed by {}", answer.line));
    }
    let compared: BTreeSet<String> = compared_tables(&old)?;
    if let Some(more) = listed.iter().find(|change| compared.contains(table_of(change)) && !differing.contains(*change))
    {
        return Err(format!("{more} was listed by {} and does not differ", answer.line));
    }
    let patch = place.path("patch.ndjson");
    let written = assetq(&["diff", &old, &new, "-f", "patch"]);
    fs::write(&patch, &written.out).unwrap();
    if written.code > 1 && written.code != 5 {
        return Err(written.shown());
    }
    if !written.out.is_empty() && written.code != 5 {
        let patched = place.path(&format!("patched-{}", subject.file_name()));
        let answer = assetq(&["patch", &old, &patch, "--to", &patched, "--force"]);
        if answer.code != 0 {
            return Err(format!("{} with {}", answer.shown(), written.out));
        }
        let rest = assetq(&["diff", &patched, &new, "-f", "ndjson"]);
        if rest.code != 0 {
            return Err(format!("after the patch: {}", rest.shown()));
        }
    }
    let edited = fs::read(&new).unwrap() != fs::read(subject.file()).unwrap();
    if edited || fs::exists(&undo).unwrap() {
        let answer = assetq(&["patch", &new, &undo, "--to", &back, "--force"]);
        if answer.code != 0 || fs::read(&back).unwrap() != fs::read(subject.file()).unwrap() {
            return Err(format!("undo: {}", answer.shown()));
        }
    }
    Ok(true)
}

/// A cell of a table gets the value of another row in each file that a pattern matches, in place: every change is listed beside
/// its file, and the undo of each file restores its bytes.
pub fn several(subject: &Subject, place: &Place) -> Ended {
    let tables: Vec<&TableInfo> = subject.written_tables().collect();
    let Some(table) = tables.get(hash(&[&subject.name, "table"]) % tables.len().max(1)) else {
        return Ended::Absent("no table can be written");
    };
    let Some(edit) = CellEdit::of(subject, table) else { return Ended::Absent("only keys can be written") };
    let undo = place.path("undo");
    fs::create_dir(&undo).unwrap();
    let query = edit.statement();
    let answer = assetq(&["sql", &query, &place.address, "--in-place", "--undo", &undo, "--force", "-f", "ndjson"]);
    if answer.code == 1 || answer.code == 2 {
        return Ended::Absent("the value is refused beside the other cells of its row");
    }
    let listed = match changes(&answer) {
        Ok(listed) if answer.code == 0 => listed,
        _ => broken!("{}", answer.shown()),
    };
    let compared = match compared_tables(subject.file().to_str().unwrap()) {
        Ok(compared) => compared,
        Err(what) => broken!("{what}"),
    };
    let mut differing = BTreeSet::new();
    for entry in fs::read_dir(&place.folder).unwrap() {
        let (file, name) = entry.map(|entry| (entry.path(), entry.file_name().into_string().unwrap())).unwrap();
        let old = place.path(&name);
        fs::copy(subject.file(), &old).unwrap();
        let found = assetq(&["diff", &old, file.to_str().unwrap(), "-f", "ndjson"]);
        match changes(&found) {
            Ok(changes) if found.code < 2 => differing.extend(changes.iter().map(|change| format!("{name}:{change}"))),
            _ => broken!("{}", found.shown()),
        }
        let patch = format!("{undo}/{name}.ndjson");
        if fs::exists(&patch).unwrap() {
            let answer = assetq(&["patch", file.to_str().unwrap(), &patch, "--in-place", "--force"]);
            if answer.code != 0 {
                broken!("undo: {}", answer.shown());
            }
        }
        if fs::read(&file).unwrap() != fs::read(subject.file()).unwrap() {
            broken!("undo of {name}: other bytes, after {}", answer.line);
        }
    }
    if let Some(missing) = differing.difference(&listed).next() {
        broken!("{missing} differs and was not listed by {}", answer.shown());
    }
    let of_compared = |change: &&String| compared.contains(table_of(change).rsplit(':').next().unwrap());
    if let Some(more) = listed.difference(&differing).find(of_compared) {
        broken!("{more} was listed by {} and does not differ", answer.line);
    }
    Ended::Whole
}

/// The table, the change and the key of each row of an answer.
fn changes(answer: &Answer) -> Result<BTreeSet<String>, String> {
    answer
        .out
        .lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).map_err(|error| format!("{error} in {line}"))?;
            Ok(format!("{} {} {}", row["table"].as_str().unwrap_or("?"), row["change"], row["key"]))
        })
        .collect()
}

fn table_of(change: &str) -> &str {
    change.split(' ').next().unwrap()
}

/// The tables that `diff` compares by default.
fn compared_tables(file: &str) -> Result<BTreeSet<String>, String> {
    let asset = assetq::Asset::open(file).map_err(|error| error.to_string())?;
    let tables = asset.reader().tables();
    Ok(tables.iter().filter(|table| !table.nature().derived).map(|table| table.name().to_owned()).collect())
}
