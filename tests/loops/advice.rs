//! Advice in messages works: the test reads it from the message and follows it.

use crate::command::{Answer, Place, assetq};
use crate::subject::{Subject, TableInfo};
use crate::{Ended, broken};
use serde_json::Value;

/// A wrong command line, and the wrong name in it.
struct Try {
    args: Vec<String>,
    wrong: String,
}

impl Try {
    fn new(args: &[&str], wrong: &str) -> Self {
        Self { args: args.iter().map(|arg| (*arg).to_owned()).collect(), wrong: wrong.to_owned() }
    }
}

/// Wrong names of commands, tables, columns, entries, values and options; each message that advises something is followed.
pub fn works(subject: &Subject, place: &Place) -> Ended {
    let Some(table) = subject.small_tables().next() else { return Ended::Absent("no table with rows") };
    let mut followed = false;
    for wrong in tries(subject, place, table) {
        let answer = assetq(&wrong.args);
        if answer.code == 0 {
            broken!("a wrong name is taken: {}", answer.shown());
        }
        for advised in advice(&answer, &wrong, place, table) {
            let found = assetq(&advised.args);
            if !(advised.works)(found.code) {
                broken!("advice {:?} of {}: {}", advised.what, answer.shown(), found.shown());
            }
            followed = true;
        }
    }
    if followed { Ended::Whole } else { Ended::Absent("no message gives advice") }
}

fn tries(subject: &Subject, place: &Place, table: &TableInfo) -> Vec<Try> {
    let (address, name, label) = (&*place.address, &*table.name, &*table.label);
    let (wrong_table, wrong_column) = (misspelled(name), misspelled(label));
    let condition = format!("{wrong_column} = 1");
    let query = format!(r#"SELECT * FROM "{wrong_table}""#);
    let query_column = format!(r#"SELECT "{wrong_column}" FROM "{name}""#);
    let (csv, new) = (place.path("x.csv"), place.path(&format!("new-{}", subject.file_name())));
    let mut all = vec![
        Try::new(&["ls", address, "-t", &wrong_table], &wrong_table),
        Try::new(&["export", address, "-t", &wrong_table, "--to", &csv, "--force"], &wrong_table),
        Try::new(&["ls", address, "-t", name, "--where", &condition], &wrong_column),
        Try::new(&["ls", address, "-t", name, "-c", &wrong_column], &wrong_column),
        Try::new(&["ls", address, "-t", name, "--colums", label], "--colums"),
        Try::new(&["ls", address, "-t", name, "--top", "1"], "--top"),
        Try::new(&["sql", &query, address], &wrong_table),
        Try::new(&["sql", &query_column, address], &wrong_column),
        Try::new(&["exprot", address, "--to", &csv, "--force"], "exprot"),
        Try::new(&["tables", address], "tables"),
        Try::new(&["export", address, "--to", &place.path("folder")], "folder"),
    ];
    if let Some(table) = subject.tables.get(1).filter(|other| other.name != label) {
        all.push(Try::new(&["ls", address, &table.name], &table.name));
    }
    let listed = assetq(&["ls", address, "-t", name, "-f", "ndjson", "-n", "1"]);
    let row: Option<Value> = listed.out.lines().next().and_then(|line| serde_json::from_str(line).ok());
    let entry = row.as_ref().and_then(|row| row[label].as_str()).filter(|entry| entry.chars().count() > 4);
    if let Some(entry) = entry {
        let wrong = misspelled(entry);
        all.push(Try::new(&["cat", "--", address, &wrong], &wrong));
        if subject.is_written && place.file.is_some() {
            // An entry as a whole is no value; the message names one that is.
            all.push(Try::new(&["set", "--to", &new, "--force", "--", address, entry, "x"], entry));
            all.push(Try::new(&["set", "--to", &new, "--force", "--", address, &wrong, "x"], &wrong));
        }
    }
    all
}

/// A command line that a message advises, and whether an exit code is one of a line that works.
struct Advised {
    what: String,
    args: Vec<String>,
    works: fn(i32) -> bool,
}

impl Advised {
    /// The usage is right. A condition may match nothing, columns of numbers refuse texts in words of their own, and a real file
    /// may be damaged.
    const TAKEN: fn(i32) -> bool = |code| code != 2;
    /// The entry exists; what is set is no value of it.
    const FOUND: fn(i32) -> bool = |code| code != 1;
    const DONE: fn(i32) -> bool = |code| code == 0;
}

/// The command lines that a message advises: names in place of the wrong one, and whole commands.
fn advice(answer: &Answer, wrong: &Try, place: &Place, table: &TableInfo) -> Vec<Advised> {
    let mut all = Vec::new();
    let as_shown =
        |right: &str| -> Vec<String> { wrong.args.iter().map(|arg| arg.replace(&wrong.wrong, right)).collect() };
    for right in names_after(&answer.err, "did you mean ") {
        let works = match &*wrong.args[0] {
            "set" => Advised::FOUND,
            "cat" => Advised::DONE,
            _ => Advised::TAKEN,
        };
        all.push(Advised { args: as_shown(&right), works, what: right });
    }
    for option in names_after(&answer.err, "a similar argument exists: ") {
        all.push(Advised { args: as_shown(&option), works: Advised::TAKEN, what: option });
    }
    for path in names_after(&answer.err, "name one of its values, as in ") {
        // The value that the path has fits it.
        let steps = path.strip_prefix(&wrong.wrong).and_then(|steps| steps.strip_prefix('.'));
        let shown = assetq(&["cat", "-f", "json", "--", &place.address, &wrong.wrong]);
        let entry: Value = serde_json::from_str(&shown.out).unwrap_or_default();
        let value = steps.and_then(|steps| steps.split('.').try_fold(&entry, |value, step| value.get(step)));
        // A name with a dot in it is more than one step here.
        let Some(value) = value else { continue };
        let mut args = wrong.args.clone();
        let last = args.len() - 1;
        args[last] = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        args[last - 1] = path.clone();
        all.push(Advised { args, works: Advised::DONE, what: path });
    }
    if let Some((_, option)) = answer.err.split_once(" is a table: -t ") {
        let name = option.split(' ').next().unwrap();
        let args = ["ls", &place.address, "-t", name].map(str::to_owned);
        all.push(Advised { what: name.to_owned(), args: args.into(), works: Advised::TAKEN });
    }
    for command in commands(&answer.err) {
        let words = command.split(' ').skip(1).map(|word| filled(word, place, table));
        all.push(Advised { what: command.to_owned(), args: words.collect(), works: Advised::TAKEN });
    }
    all
}

/// The whole commands in a message, in quotes or backquotes.
fn commands(message: &str) -> Vec<&str> {
    ["`assetq ", "'assetq "]
        .iter()
        .flat_map(|begin| {
            message.match_indices(begin).filter_map(move |(at, _)| {
                let rest = &message[at + 1..];
                rest.split_once(&begin[..1]).map(|(command, _)| command)
            })
        })
        // The name of a command alone is no command line.
        .filter(|command| command.split(' ').count() > 2)
        .collect()
}

/// A word of an advised command, with a real name in place of one in capitals.
fn filled(word: &str, place: &Place, table: &TableInfo) -> String {
    match word {
        "FILE" => place.address.clone(),
        "TABLE" => table.name.clone(),
        "COLUMN:desc" => format!("{}:desc", table.label),
        "QUERY" => format!(r#"SELECT * FROM "{}" LIMIT 1"#, table.name),
        "OUT" => place.path("advised.csv"),
        word => word.to_owned(),
    }
}

/// The name without its second character.
fn misspelled(name: &str) -> String {
    name.chars().enumerate().filter(|(at, _)| *at != 1).map(|(_, c)| c).collect()
}

/// The names that a message lists after some words.
fn names_after(message: &str, words: &str) -> Vec<String> {
    let Some((_, rest)) = message.split_once(words) else { return Vec::new() };
    let rest = rest.lines().next().unwrap();
    let rest = rest.split(['?', ';']).next().unwrap();
    rest.split(", ")
        .flat_map(|part| part.split(" or "))
        .map(|name| name.trim().trim_matches(['"', '\'', '`']).to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}
