//! Rows and entries that are written as text and patched back.

use crate::command::{Place, assetq};
use crate::subject::{Subject, TableInfo};
use crate::{Ended, broken, hash};
use serde_json::Value;
use std::fs;

/// Each writable table as csv, ndjson or json, as a spreadsheet saves it, sorted, or with rows left out.
pub fn rows(subject: &Subject, place: &Place) -> Ended {
    let mut tried = false;
    for table in subject.written_tables() {
        let ending = ["csv", "ndjson", "json"][hash(&[&subject.name, &table.name]) % 3];
        let rows = place.path(&format!("rows.{ending}"));
        let answer = assetq(&["export", &place.address, "-t", &table.name, "--to", &rows, "--force"]);
        if answer.code != 0 {
            broken!("{}", answer.shown());
        }
        let text = fs::read_to_string(&rows).unwrap();
        let forms = match ending {
            "csv" => vec![text.clone(), as_spreadsheet(&text), half_of_csv(&text)],
            "ndjson" => vec![text.clone(), reversed(&text), half_of(&text)],
            _ => vec![text.clone(), reversed_json(&text)],
        };
        for (number, form) in forms.iter().enumerate() {
            fs::write(&rows, form).unwrap();
            if let Err(what) = gives_the_same_bytes(subject, place, table, &rows) {
                broken!("form {number} of {ending}: {what}");
            }
        }
        tried = true;
    }
    if tried { Ended::Whole } else { Ended::Absent("no table can be written") }
}

fn gives_the_same_bytes(subject: &Subject, place: &Place, table: &TableInfo, rows: &str) -> Result<(), String> {
    let new = place.path(&format!("new-{}", subject.file_name()));
    let answer = assetq(&["patch", &place.address, rows, "-t", &table.name, "--to", &new, "--force"]);
    if answer.code != 0 || !answer.out.is_empty() {
        return Err(answer.shown());
    }
    same_bytes(subject, &new)
}

fn same_bytes(subject: &Subject, new: &str) -> Result<(), String> {
    let (old, new_bytes) = (fs::read(subject.file()).unwrap(), fs::read(new).unwrap());
    if old == new_bytes {
        return Ok(());
    }
    let at = old.iter().zip(&new_bytes).position(|(a, b)| a != b);
    Err(format!("{new} differs from {}: {} and {} bytes, first at {at:?}", subject.name, new_bytes.len(), old.len()))
}

/// CSV as a spreadsheet of a country with decimal commas saves it: a BOM, semicolons, CRLF.
fn as_spreadsheet(text: &str) -> String {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let mut writer = csv::WriterBuilder::new()
        .delimiter(b';')
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::from("\u{feff}".as_bytes()));
    for record in reader.records() {
        let record = record.unwrap();
        writer.write_record(record.iter().map(with_comma)).unwrap();
    }
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

/// A number with a decimal comma; all other texts as they are.
fn with_comma(cell: &str) -> String {
    let is_number = cell.parse::<f64>().is_ok() && cell.contains('.') && !cell.contains(['n', 'i']);
    if is_number { cell.replace('.', ",") } else { cell.to_owned() }
}

/// The header line and each second row, the last one first.
fn half_of_csv(text: &str) -> String {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&records[0]).unwrap();
    for record in records[1..].iter().rev().step_by(2) {
        writer.write_record(record).unwrap();
    }
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

fn reversed(text: &str) -> String {
    text.lines().rev().flat_map(|line| [line, "\n"]).collect()
}

fn half_of(text: &str) -> String {
    text.lines().rev().step_by(2).flat_map(|line| [line, "\n"]).collect()
}

fn reversed_json(text: &str) -> String {
    let mut rows: Vec<Box<serde_json::value::RawValue>> = serde_json::from_str(text).unwrap();
    rows.reverse();
    serde_json::to_string(&rows).unwrap()
}

/// The first and the last entry of the main table, as `cat` shows them.
pub fn entries(subject: &Subject, place: &Place) -> Ended {
    if !subject.is_written {
        return Ended::Absent("the format is not written");
    }
    let Some(table) = subject.tables.first().filter(|table| table.rows.is_some_and(|rows| rows > 0)) else {
        return Ended::Absent("there is no entry");
    };
    let answer = assetq(&["ls", &place.address, "-t", &table.name, "-f", "ndjson"]);
    let labels: Vec<String> = answer
        .out
        .lines()
        .map(|line| match &serde_json::from_str::<Value>(line).unwrap()[&*table.label] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
        .collect();
    let mut tried = false;
    for label in [labels.first(), labels.last()].into_iter().flatten() {
        let entry =
            if table.name == "chunks" { format!("[{}]", label.trim_matches(['[', ']'])) } else { label.clone() };
        let shown = assetq(&["cat", &place.address, &entry, "-f", "json"]);
        if shown.code != 0 {
            // Two entries may have one name, and some files have entries that `cat` does not show.
            continue;
        }
        let (changes, new) = (place.path("entry.json"), place.path(&format!("new-{}", subject.file_name())));
        fs::write(&changes, &shown.out).unwrap();
        let answer = assetq(&["patch", &place.address, &changes, "--entry", &entry, "--to", &new, "--force"]);
        if answer.code != 0 || !answer.out.is_empty() {
            broken!("{}", answer.shown());
        }
        if let Err(what) = same_bytes(subject, &new) {
            broken!("--entry {entry}: {what}");
        }
        tried = true;
    }
    if tried { Ended::Whole } else { Ended::Absent("cat shows no entry by its label") }
}
