//! Answers to statements, and the commands of the prompt.

use crate::cli::rows::SelectedRows;
use crate::cli::stdout::RowForm;
use crate::cli::{Context, Exit, Failure, Format, Unit, complain};
use crate::report::counted;
use crate::sql::{Answer, Fault, ResultColumn, Session, functions};
use crate::table::{Column, Kind, Value};
use crate::write::rows::RowWriter;
use unicode_width::UnicodeWidthStr as _;

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Damaged { file, error } => Self::in_file(&file, &error),
            Fault::Database(what) => Self::new(Exit::Damaged, format!("SQL: {what}")),
            Fault::System(what) => Self::new(Exit::Io, format!("SQL: {what}")),
            other => Self::usage(format!("SQL: {other}{}", next_step(&other.to_string()))),
        }
    }
}

/// Advice for a message of SQLite that only names the fault.
fn next_step(message: &str) -> &'static str {
    if message.ends_with(" may not be modified") {
        "; --to NEW writes the change to a new file, --in-place to this one, and --dry-run only shows it"
    } else {
        ""
    }
}

/// A fault with its position in the statement.
pub(super) fn failure_in(text: &str, fault: Fault) -> Failure {
    match &fault {
        Fault::Statement { message, at: Some(at) } => {
            let (before, rest) = text.split_at_checked(*at).unwrap_or((text, ""));
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            let place = if text.trim_end().contains('\n') {
                format!("line {line}, character {column}")
            } else {
                format!("character {column}")
            };
            let rest: String = rest.lines().next().unwrap_or(rest).chars().take(20).collect();
            let rest = if rest.is_empty() { String::new() } else { format!(": {rest}") };
            Failure::usage(format!("SQL: {message}{} (at {place}{rest})", next_step(message)))
        }
        _ => fault.into(),
    }
}

/// Shows how many rows were read while a statement runs.
pub(super) fn watched<T>(session: &Session, context: &Context, run: impl FnOnce() -> T) -> T {
    context.watch("sql", Unit::Rows, session.progress(), run)
}

/// Whether a line is a command of the prompt rather than SQL.
pub(super) fn is_command(line: &str) -> bool {
    let word = line.trim().trim_end_matches(';').trim_end();
    word.starts_with('.') || ["exit", "quit", "help"].iter().any(|end| word.eq_ignore_ascii_case(end))
}

/// Runs a command of the prompt, which may change the form of answers. Returns `false` if the prompt is to end.
pub(super) fn dot(line: &str, session: &Session, form: &mut RowForm, context: &Context) -> Result<bool, Failure> {
    let mut page = context.page();
    let (command, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let argument = argument.trim().trim_end_matches(';').trim_matches('"');
    match &*command.trim_end_matches(';').to_ascii_lowercase() {
        ".quit" | ".exit" | ".q" | "quit" | "exit" => return Ok(false),
        ".mode" => match MODES.iter().find(|(name, _)| *name == argument) {
            Some((_, format)) => form.format = *format,
            None => {
                let names: Vec<&str> = MODES.iter().map(|(name, _)| *name).collect();
                context.say(&format!("no mode {argument:?}; there are {}", names.join(", ")));
            }
        },
        ".headers" => match argument {
            "on" => form.has_header = true,
            "off" => form.has_header = false,
            _ => context.say(".headers takes on or off"),
        },
        ".tables" => {
            for table in session.tables() {
                page.line(&table.shown())?;
            }
        }
        ".schema" => {
            let mut found = argument.is_empty();
            for table in session.tables() {
                let names = [&table.name, &table.shown().replace('"', "")];
                if argument.is_empty() || names.iter().any(|name| name.eq_ignore_ascii_case(argument)) {
                    page.line(&table.schema_text())?;
                    found = true;
                }
            }
            if !found {
                context.say(&format!("no table {argument}; .tables lists them"));
            }
        }
        ".help" | "help" => {
            page.line("A statement ends with a ; and may go over several lines. After an empty line,")?;
            page.line("help, quit and the commands below are commands again.")?;
            for (name, what) in DOT_COMMANDS.iter().chain(functions()) {
                described(name, what).iter().try_for_each(|line| page.line(line))?;
            }
        }
        other => match ELSEWHERE.iter().find(|(name, _)| *name == other) {
            Some((name, how)) => context.say(&format!("{name}: {how}")),
            None => context.say(&format!("{other}: no such command; .help lists them")),
        },
    }
    page.flush()?;
    Ok(true)
}

/// Commands of the prompt besides SQL.
pub(super) const DOT_COMMANDS: [(&str, &str); 6] = [
    (".tables", "the tables"),
    (".schema [TABLE]", "the columns of all tables, or of one"),
    (".mode MODE", "write answers as text, json, ndjson or csv"),
    (".headers on|off", "write the names of columns, or leave them out of text and csv"),
    (".help", "this; so does help"),
    (".quit", "leave; so do exit, quit and Ctrl-D"),
];

/// Commands of other prompts, and how to do the same here.
const ELSEWHERE: [(&str, &str); 11] = [
    (".open", "files are arguments: leave, and run assetq sql FILE..."),
    (".attach", "files are arguments: leave, and run assetq sql FILE..."),
    (".read", "statements of a file: assetq sql - FILE < statements.sql"),
    (
        ".import",
        "CSV is read into a database, which is a FILE: sqlite3 new.db '.import --csv x.csv x'; assetq sql new.db",
    ),
    (".output", "an answer is written by: assetq sql QUERY FILE --to OUT.csv, also json, parquet and arrow"),
    (".once", "an answer is written by: assetq sql QUERY FILE --to OUT.csv, also json, parquet and arrow"),
    (".save", "rows are kept by: assetq sql QUERY FILE --into OUT.sqlite"),
    (".backup", "rows are kept by: assetq sql QUERY FILE --into OUT.sqlite"),
    (".dump", "rows are written by: assetq export FILE --all-tables --to OUT/ --as csv"),
    (".indexes", "keys are probed: EXPLAIN QUERY PLAN SELECT … shows where"),
    (".databases", ".tables lists the tables of all files"),
];

const WIDTH: usize = 80;

/// A name and its description, on lines of at most 80 columns.
fn described(name: &str, what: &str) -> Vec<String> {
    const INDENT: usize = 25;
    let mut lines = vec![format!("{name:<INDENT$}", INDENT = INDENT - 1)];
    for word in what.split(' ') {
        if lines.last().is_some_and(|line: &String| line.width() + word.width() >= WIDTH) {
            lines.push(" ".repeat(INDENT - 1));
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines
}

const MODES: [(&str, Format); 4] =
    [("text", Format::Text), ("json", Format::Json), ("ndjson", Format::Ndjson), ("csv", Format::Csv)];

pub(super) fn show(answer: &mut Answer<'_>, form: RowForm, context: &Context) -> Result<(), Failure> {
    let columns = answer.columns().to_vec();
    let mut out = None;
    answer.rows::<Failure>(|cells| {
        let out = match &mut out {
            Some(out) => out,
            None => out.insert(context.rows_in(form, &header(&columns, cells))?),
        };
        Ok(RowWriter::row(out, cells)?)
    })?;
    match out {
        Some(mut out) => out.finish()?,
        None if columns.is_empty() => {}
        None if form.format == Format::Text => {
            let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
            // A single column is one value a line, for programs.
            if form.has_header && names.len() > 1 {
                context.print_line(&names.join("  "))?;
            }
        }
        None => context.rows_in(form, &header(&columns, &[]))?.finish()?,
    }
    Ok(())
}

/// The columns of rows; a computed column is shown by the kind of its cell in the first row.
fn header(columns: &[ResultColumn], first: &[Value<'_>]) -> Vec<Column> {
    let kinds = columns.iter().enumerate().map(|(index, column)| match (column.kind, first.get(index)) {
        (Some(kind), _) => kind,
        (None, Some(Value::Int(_))) => Kind::Int,
        (None, Some(Value::F64(_))) => Kind::F64,
        (None, _) => Kind::Any,
    });
    columns.iter().zip(kinds).map(|(column, kind)| Column::named(column.name.clone(), kind)).collect()
}

/// Reports the rows that were left out because they are damaged, and the tables that were read without what repeats their rows.
pub(super) fn say_left_out(session: &Session, context: &Context) {
    let left_out = session.take_left_out();
    let files: Vec<&str> = session.assets().map(|asset| asset.source().name()).collect();
    for (file, error) in &left_out.errors {
        context.damaged(files.get(*file).unwrap_or(&""), error);
    }
    if left_out.rows > 0 {
        complain(&format!("{} left out", counted(left_out.rows, "damaged row")));
    }
    if left_out.tables > 0 {
        complain(&format!("rows of {} that cannot be found are left out", counted(left_out.tables, "table")));
    }
    for (file, table, columns) in session.take_repeated() {
        context.note_repeated(files.get(file).unwrap_or(&""), &SelectedRows::new(table), &columns, "WHERE");
    }
}
