//! Statements that the user's own `duckdb` program runs, with the extension and a view for each table.

use super::{SqlArgs, named};
use crate::cli::global::Format;
use crate::cli::pager::message;
use crate::cli::{Context, Exit, Failure, Outcome};
use crate::escape::escape;
use crate::files::{self, FormatOf};
use crate::paths::of_variable;
use crate::write::rows::RowFormat;
use std::collections::HashSet;
use std::io::{self, BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::thread;

const EXTENSION: &str = "ASSETQ_DUCKDB_EXTENSION";
/// A file of settings without any.
const NO_SETTINGS: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };
/// Names that mean something else in DuckDB: its catalogs, and its schemas of system tables.
const OWN_NAMES: [&str; 5] = ["memory", "temp", "system", "information_schema", "pg_catalog"];

pub(super) fn run(query: Option<&str>, given: &[PathBuf], args: &SqlArgs, context: &Context) -> Outcome {
    if args.into.is_some() || args.output.is_given() || !args.with.is_empty() {
        let what = "--engine duckdb only prints rows: leave out --into, --with and the options that write a file";
        return Err(Failure::usage(what));
    }
    if let Some(option) = context.typed.file_settings().first() {
        return Err(Failure::usage(format!("--engine duckdb opens files without {option}: leave it out")));
    }
    if query.is_some_and(|query| query.trim_start().starts_with('.')) {
        return Err(Failure::usage("--engine duckdb runs SQL, and none of the commands that begin with a dot"));
    }
    let mut duckdb = Command::new("duckdb");
    duckdb.args([
        "-init",
        NO_SETTINGS,
        "-unsigned",
        "-batch",
        "-bail",
        match context.format() {
            Format::Text | Format::Markdown | Format::Html => "-box",
            Format::Json => "-json",
            Format::Ndjson | Format::Patch => "-jsonlines",
            Format::Csv => "-csv",
        },
    ]);
    for statements in views(given, args, context)? {
        duckdb.arg("-cmd").arg(statements);
    }
    // The query reads no other file by DuckDB, writes none, and runs no program.
    duckdb.args(["-cmd", ".safe_mode"]);
    if let Some(query) = query.filter(|query| *query != "-") {
        duckdb.args(["-c", query]);
    }
    let failed = |error| Failure::from(crate::Error::io("cannot run duckdb", error));
    match duckdb.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
        Ok(child) => {
            let (status, has_left_out) = printed(child, context)?;
            // It printed why it failed.
            context.worsen(if status.map_err(failed)?.success() { Exit::Done } else { Exit::Usage });
            context.worsen(if has_left_out { Exit::Damaged } else { Exit::Done });
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let what = "--engine duckdb runs the program duckdb, which is not in the PATH: install it (for example pip install duckdb-cli)";
            Err(Failure::usage(what))
        }
        Err(error) => Err(failed(error)),
    }
}

/// Prints what the program prints, escaped if it is for people. Returns how it ended, and whether it left out rows.
fn printed(mut child: Child, context: &Context) -> Result<(io::Result<ExitStatus>, bool), Failure> {
    let (out, messages) = (child.stdout.take(), child.stderr.take());
    let messages = thread::Builder::new()
        .spawn(|| messages.is_some_and(complaints))
        .map_err(|error| crate::Error::io("cannot start a thread", error))?;
    let copied = out.map_or(Ok(()), |out| {
        let mut out = BufReader::new(out);
        if !matches!(RowFormat::from(context.format()), RowFormat::Text | RowFormat::EscapedCsv) {
            io::copy(&mut out, &mut context.stdout())?;
            return Ok(());
        }
        let mut page = context.page();
        for line in out.split(b'\n') {
            page.line(String::from_utf8_lossy(&line?).trim_end_matches('\r'))?;
        }
        Ok(page.flush()?)
    });
    // If printing failed, its output is closed, so that it ends.
    let status = child.wait();
    let has_left_out = messages.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    copied.map(|()| (status, has_left_out))
}

/// Prints the program's messages. Returns whether one is of the extension, which reports rows and files that it left out.
fn complaints(messages: ChildStderr) -> bool {
    let mut has_left_out = false;
    for line in BufReader::new(messages).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        message(&escape(line.trim_end_matches('\r')));
        has_left_out |= line.starts_with("assetq: ");
    }
    has_left_out
}

/// The statements that load the extension, and for each file the statements that make its views.
fn views(given: &[PathBuf], args: &SqlArgs, context: &Context) -> Result<Vec<String>, Failure> {
    let options = context.options();
    let named_options = [("skip_damaged", args.skip_damaged), ("strict", options.strict), ("mmap", !options.no_mmap)];
    let mut named_options: String = named_options.iter().map(|(name, is)| format!(", {name} := {is}")).collect();
    let more_names = &context.typed.more_names;
    if !more_names.is_empty() {
        let names: Vec<String> = more_names.iter().map(|file| quoted(&file.to_string_lossy())).collect();
        named_options.push_str(&format!(", names := [{}]", names.join(", ")));
    }
    if let Some(format) = options.get::<FormatOf>() {
        named_options.push_str(&format!(", format_of := {}", quoted(&format.0)));
    }
    let mut all = vec![format!("LOAD {};", quoted(&extension()?.to_string_lossy()))];
    let mut schemas: HashSet<String> = OWN_NAMES.map(str::to_owned).into();
    for argument in given {
        let (name, path) = named(argument);
        let asset = files::open(&path, options).map_err(Failure::of_file(&path))?;
        let schema = name.unwrap_or_else(|| asset.source().stem().to_owned());
        let schema = if given.len() > 1 { schema } else { "main".to_owned() };
        // DuckDB's names are equal in any case.
        if !schemas.insert(schema.to_lowercase()) {
            let is_own = OWN_NAMES.iter().any(|own| own.eq_ignore_ascii_case(&schema));
            let what = if is_own { "is a name of DuckDB itself" } else { "is the name of two files" };
            return Err(Failure::usage(format!("{schema} {what}: give a file another name, as in NAME=FILE")));
        }
        let mut statements = format!("CREATE SCHEMA IF NOT EXISTS {};", identifier(&schema));
        for table in asset.reader().tables() {
            let (file, table) = (quoted(&path.to_string_lossy()), table.name());
            let view = format!("{}.{}", identifier(&schema), identifier(table));
            let scan = format!("assetq({file}, {}{named_options})", quoted(table));
            statements.push_str(&format!("CREATE VIEW {view} AS FROM {scan};"));
        }
        all.push(statements);
    }
    Ok(all)
}

/// The extension: the file that the variable names, or the one beside the command.
fn extension() -> Result<PathBuf, Failure> {
    let found = of_variable(EXTENSION);
    let found = found.or_else(|| Some(std::env::current_exe().ok()?.with_file_name("assetq.duckdb_extension")));
    found.filter(|path| path.is_file()).ok_or_else(|| {
        let what = format!(
            "--engine duckdb needs assetq.duckdb_extension beside this command, or its path in {EXTENSION}: \
             duckdb/package builds it, and each release has it"
        );
        Failure::usage(what)
    })
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
