//! A shell for SQL over game-asset files: `shell FILE… [-c "SELECT …"] [--time]`. Without `-c` it reads statements from
//! standard input, one a line. `--time` adds a line with the seconds of each.
//!
//! The tables of a single file have their own names. Several files are schemas that are called after them:
//! `SELECT … FROM ship.armor_plates`. Damaged rows and files are left out and listed on standard error.

use assetq_datafusion::AssetCatalog;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::{SessionConfig, SessionContext};
use std::io::{self, BufRead, Write};
use std::time::Instant;

/// Answers the statement after `-c`, or each line of `input`.
pub fn run(arguments: impl IntoIterator<Item = String>, input: impl BufRead, out: &mut dyn Write) -> Result<()> {
    let (mut files, mut query, mut is_timed) = (Vec::new(), None, false);
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match &*argument {
            "-c" => query = arguments.next(),
            "--time" => is_timed = true,
            _ => files.push(argument),
        }
    }
    if files.is_empty() {
        return Err(DataFusionError::External("usage: shell FILE… [-c \"SELECT …\"]".into()));
    }
    let session = SessionContext::new_with_config(SessionConfig::new().with_information_schema(true));
    let catalogs = files.iter().map(|file| Ok(AssetCatalog::open(file)?.strict(false))).collect::<Result<Vec<_>>>()?;
    for catalog in &catalogs {
        match catalogs.as_slice() {
            [_] => catalog.register(&session)?,
            _ => catalog.register_as(&session, catalog.asset().source().stem())?,
        }
    }
    let runtime = tokio::runtime::Runtime::new()?;
    let mut answer = |query: &str| -> Result<()> {
        let start = Instant::now();
        let batches = runtime.block_on(async { session.sql(query).await?.collect().await })?;
        let took = start.elapsed().as_secs_f64();
        writeln!(out, "{}", pretty_format_batches(&batches)?)?;
        if is_timed {
            writeln!(out, "-- {took:.6} s")?;
        }
        for error in catalogs.iter().map(AssetCatalog::take_left_out).flat_map(|left_out| left_out.findings().to_vec())
        {
            eprintln!("left out: {error}");
        }
        Ok(())
    };
    match query {
        Some(query) => answer(&query)?,
        None => {
            for line in input.lines() {
                // A wrong statement does not end the shell.
                answer(&line?).unwrap_or_else(|error| eprintln!("{error}"));
            }
        }
    }
    Ok(())
}

#[cfg_attr(test, allow(dead_code, reason = "tests call `run`"))]
fn main() -> Result<()> {
    run(std::env::args().skip(1), io::stdin().lock(), &mut io::stdout().lock())
}
