mod args;
mod drawings;
mod ship;
mod tables;

pub(super) use args::{ExportArgs, KindArg, ShipArgs};
pub(super) use drawings::{draw, report};
pub(super) use tables::{RowSource, check_bom, table_kind, whole_table, write, write_bom};

use super::{Context, Exit, Failure, Format, Outcome};
use args::kind_of;
use assetq_view::page::tables::quoted;
use drawings::drawings;
use std::path::Path;

/// The command writes files or a script, in no format of `-f`.
pub(super) const FORMATS: &[Format] = &[];

pub(super) fn run(args: &ExportArgs, context: &Context) -> Outcome {
    match &*args.ship.ship {
        [] => {}
        [query] => return ship::run(args, query, context),
        _ => return Err(Failure::usage("export writes one ship: --ship is given twice")),
    }
    let kind = match args.kind {
        Some(kind) => kind,
        None => {
            kind_of(&args.to).map_err(|failure| match args.files.iter().find(|file| context.holds_files(file)) {
                Some(archive) => {
                    let (archive, to) = (archive.to_string_lossy(), args.to.to_string_lossy());
                    let how = format!("; 'assetq extract {archive} --to {to}' writes the files in it");
                    Failure { message: failure.message + &how, ..failure }
                }
                None => failure,
            })?
        }
    };
    let ran = if kind.is_drawing() { drawings(args, context) } else { tables::run(args, context) };
    ran.map_err(|failure| match &*args.files {
        [game, query] if failure.exit == Exit::NotFound => with_ship(failure, game, &query.to_string_lossy(), context),
        _ => failure,
    })
}

/// The failure for a file that a game lacks, with the option for the ship of that name.
fn with_ship(failure: Failure, game: &Path, query: &str, context: &Context) -> Failure {
    match context.entity_of_game(game, query) {
        Ok(Some((_, name))) => {
            let message = format!(
                "{}; it is {name} of the parameters, and --ship {} writes a ship",
                failure.message,
                quoted(query)
            );
            Failure { message, ..failure }
        }
        _ => failure,
    }
}
