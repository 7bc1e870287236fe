use super::{Context, Format, Outcome};
use crate::archive::Address;
use crate::asset::Asset;
use crate::refs::{self, EntryLocation};
use crate::table::{Column, Kind, Value};
use assetq_view::page::tables::quoted;
use std::path::PathBuf;

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = Format::ROWS;

/// Find the prototypes of ids or paths
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq resolve content/location/harbour/buoy/buoy.model assets.bin
  assetq resolve 0x3CEDAD43CB9C7E37 -f json
  cut -f1 ids.txt | assetq resolve - -f ndjson

Each query that is found has a row. Queries that are not found are named on standard error, and the exit code is 1.")]
pub(super) struct Args {
    /// Ids (0x…, 16 hex digits, or decimal) or paths; `-` reads one a line from standard input. One of the arguments may be
    /// the database
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// The database (or a models.bin); else $ASSETQ_DB, else the assets.bin here or above
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Leave the path out, and the walk that finds it
    #[arg(long)]
    no_path: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let (asset, queries) = context.database_and_entries(&args.ids, args.db.as_deref(), |asset| {
        refs::entries(asset).map(drop).ok_or("is no database; an assets.bin and a models.bin are")
    })?;
    let file = asset.source().name();
    #[expect(clippy::expect_used, reason = "the kind of database was checked")]
    let entries = refs::entries(&asset).expect("the file serves as a database");
    let mut columns = vec![
        Column::new("query", Kind::Text),
        Column::new("id", Kind::Id64),
        Column::new("path", Kind::Text),
        Column::new("type", Kind::Text),
        Column::new("database", Kind::Uint),
        Column::new("record", Kind::Uint),
        Column::new("state", Kind::Any),
        Column::new("offset", Kind::Uint),
        Column::new("size", Kind::Uint),
    ];
    columns.retain(|column| !(args.no_path && column.name == "path"));
    let mut out = context.rows(&columns)?;
    // A search by names walks through all of them.
    let is_suggesting = queries.len() < 4 && queries.iter().all(|id| *id != "-");
    for query in context.arguments(queries) {
        let query = query?;
        match entries.resolve(&query, !args.no_path, &mut |error| context.damaged(file, &error)) {
            Ok(Some(EntryLocation { id, path, kind, database, record, state, place })) => {
                let mut cells = vec![Value::text(&query), Value::Id64(id)];
                if !args.no_path {
                    cells.push(path.into());
                }
                let (offset, size) = place.unzip();
                cells.extend([kind.into(), database.into(), record.into(), state, offset.into(), size.into()]);
                out.row(&cells)?;
            }
            Ok(None) => {
                let hint = if is_suggesting { hint(&asset, &query, context) } else { String::new() };
                context.not_found(&format!("{file}: {query:?} not found{hint}"));
            }
            Err(error) => context.damaged(file, &error),
        }
    }
    Ok(out.finish()?)
}

/// The end of a message about a query that the database lacks: the parameters of its game if they contain the entry, else similar
/// entries.
fn hint(database: &Asset, query: &str, context: &Context) -> String {
    let game = Address::parse(database.source().name()).archive_path();
    // Damage of the parameters is no reason to fail: the database alone was asked.
    match context.entity_of_game(&game, query) {
        Ok(Some((parameters, name))) => {
            format!("; it is {name} of the parameters: --db {}", quoted(parameters.source().name()))
        }
        _ => context.hint(database, query),
    }
}
