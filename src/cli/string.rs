use super::{Context, Format, Outcome};
use crate::id;
use crate::refs;
use crate::table::{Kind, Value};
use std::path::PathBuf;

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = Format::ROWS;

/// Turn name ids into their texts, and texts into their ids
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq string 0x820F0280 --db assets.bin     the text with this id
  assetq string diffuseMap \"Scene Root\"        the ids of these texts, and whether the database has them
  assetq string IDS_PGSB521 --db global.mo     the text that the game shows

Each query has a row, and the column `present` says whether the database has the text. Queries that are not found are also
named on standard error, and the exit code is 1.")]
pub(super) struct Args {
    /// Name ids (0x…, 16 hex digits, or decimal) or texts; `-` reads one a line from standard input. One of the arguments may
    /// be the database
    #[arg(required = true, value_name = "ID_OR_TEXT")]
    names: Vec<String>,
    /// The database; else $ASSETQ_DB, else the assets.bin here or above
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Take every argument as a text, also one that looks like an id
    #[arg(long)]
    text: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let (asset, queries) = context.database_and_entries(&args.names, args.db.as_deref(), |asset| {
        refs::texts(asset).map(drop).ok_or("has no names; an assets.bin and a global.mo have")
    })?;
    let file = asset.source().name();
    #[expect(clippy::expect_used, reason = "the kind of database was checked")]
    let texts = refs::texts(&asset).expect("the file serves as a database");
    let columns = [("query", Kind::Text), ("id", Kind::Id32), ("text", Kind::Text), ("present", Kind::Bool)];
    let mut out = context.rows_of(columns)?;
    for query in context.arguments(queries) {
        let query = query?;
        let given = if args.text { None } else { id::parse32(&query) };
        let id = given.unwrap_or_else(|| id::of_name(&query));
        // A file of texts knows them by texts.
        if let Some(title) = context.or_damaged(file, texts.title(&query)).flatten() {
            out.row(&[Value::text(&query), Value::Null, Value::text(&title), true.into()])?;
            continue;
        }
        let stored = context.or_damaged(file, texts.name(id)).flatten();
        let stored = stored.as_deref();
        let (text, present) = match given {
            Some(_) => (stored, stored.is_some()),
            None => (Some(&*query), stored == Some(&*query)),
        };
        if !present {
            context.not_found(&format!("{file}: {query:?} not found"));
        }
        out.row(&[Value::text(&query), Value::Id32(id), text.into(), present.into()])?;
    }
    Ok(out.finish()?)
}
