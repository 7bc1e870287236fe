//! Edits that are listed as they are, given as a patch, and undone.

use crate::command::{Answer, Place, assetq};
use crate::subject::{Subject, TableInfo};
use crate::{Ended, broken, hash};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// A cell of each writable table gets the value of another row: by SQL, the change is listed, `diff` finds it and no other,
/// the patch of `diff` makes the same file, and the undo restores every byte.
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

fn edit(subject: &Subject, place: &Place, table: &TableInfo) -> Result<bool, String> {
    let rows = table.rows.unwrap_or_default();
    let writable: Vec<&str> = table.columns.iter().filter(|c| c.is_writable && !c.is_key).map(|c| &*c.name).collect();
    if writable.is_empty() {
        return Ok(false);
    }
    let number = |what: &str| hash(&[&subject.name, &table.name, what]);
    let column = writable[number("column") % writable.len()];
    let (row, other) = (number("row") % rows, number("other") % rows);
    let name = &table.name;
    let statement = format!(
        r#"UPDATE "{name}" SET "{column}" = (SELECT "{column}" FROM "{name}" WHERE rowid = {other}) WHERE rowid = {row}"#
    );
    let (new, undo, back) = (place.path(subject.file_name()), place.path("undo.ndjson"), place.path("back"));
    let _ = fs::remove_file(&undo);
    let answer = assetq(&["sql", &statement, &place.address, "--to", &new, "--undo", &undo, "--force", "-f", "ndjson"]);
    if answer.code == 1 || answer.code == 2 {
        // A value may be refused beside the other cells of its row.
        return Ok(false);
    }
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
