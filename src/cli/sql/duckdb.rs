//! Statements that the user's own `duckdb` program runs, with the extension and a view for each table.

use super::{Args, named};
use crate::cli::global::Format;
use crate::cli::{Context, Exit, Failure, Outcome};
use crate::files;
use std::collections::HashSet;
use std::path::PathBuf;
use std::process::Command;

const EXTENSION: &str = "ASSETQ_DUCKDB_EXTENSION";

pub(super) fn run(query: Option<&str>, given: &[PathBuf], args: &Args, context: &Context) -> Outcome {
    if args.into.is_some() || args.output.is_given() || !args.with.is_empty() {
        let what = "--engine duckdb only prints rows: leave out --into, --with and the options that write a file";
        return Err(Failure::usage(what));
    }
    let mut duckdb = Command::new("duckdb");
    duckdb.args([
        "-unsigned",
        "-batch",
        "-bail",
        match context.format() {
            Format::Text | Format::Markdown | Format::Html | Format::Atom => "-box",
            Format::Json => "-json",
            Format::Ndjson | Format::Patch => "-jsonlines",
            Format::Csv => "-csv",
        },
    ]);
    duckdb.arg("-cmd").arg(views(given, args, context)?);
    if let Some(query) = query.filter(|query| *query != "-") {
        duckdb.args(["-c", query]);
    }
    match duckdb.status() {
        Ok(status) => {
            // It printed why it failed.
            context.worsen(if status.success() { Exit::Done } else { Exit::Usage });
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let what = "--engine duckdb runs the program duckdb, which is not in the PATH: install it (for example pip install duckdb-cli)";
            Err(Failure::usage(what))
        }
        Err(error) => Err(crate::Error::io("cannot run duckdb", error).into()),
    }
}

/// The statements that load the extension and make the views.
fn views(given: &[PathBuf], args: &Args, context: &Context) -> Result<String, Failure> {
    let options = &context.options;
    let named_options = [("skip_damaged", args.skip_damaged), ("strict", options.strict), ("mmap", !options.no_mmap)];
    let named_options: String = named_options.iter().map(|(name, is)| format!(", {name} := {is}")).collect();
    let mut statements = format!("LOAD {};", quoted(&extension()?.to_string_lossy()));
    let mut schemas = HashSet::new();
    for argument in given {
        let (name, path) = named(argument);
        let asset = files::open(&path, options).map_err(Failure::of_file(&path))?;
        let schema = name.unwrap_or_else(|| asset.source().stem().to_owned());
        if !schemas.insert(schema.clone()) {
            let what = format!("two files are called {schema}: give one of them a name, as in NAME=FILE");
            return Err(Failure::usage(what));
        }
        let schema = if given.len() > 1 { schema } else { "main".to_owned() };
        statements.push_str(&format!("CREATE SCHEMA IF NOT EXISTS {};", identifier(&schema)));
        for table in asset.reader().tables() {
            let (file, table) = (quoted(&path.to_string_lossy()), table.name());
            let view = format!("{}.{}", identifier(&schema), identifier(table));
            let scan = format!("assetq({file}, {}{named_options})", quoted(table));
            statements.push_str(&format!("CREATE VIEW {view} AS FROM {scan};"));
        }
    }
    Ok(statements)
}

/// The extension: the file that the variable names, or the one beside the command.
fn extension() -> Result<PathBuf, Failure> {
    let found = std::env::var_os(EXTENSION).map(PathBuf::from);
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
