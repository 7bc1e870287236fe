mod args;
mod drawings;
mod ship;
mod tables;

pub(super) use args::{Args, KindArg, LevelArgs, ShipArgs};
pub(super) use drawings::{draw, image, report};
pub(super) use tables::{RowSource, table_kind, whole_table, write};

use super::{Context, Failure, Outcome};
use args::kind_of;
use drawings::drawings;

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    match &*args.ship.ship {
        [] => {}
        [query] => return ship::run(args, query, context),
        _ => return Err(Failure::usage("export writes one ship: --ship is given twice")),
    }
    if args.kind.is_some_and(KindArg::is_drawing) || args.kind.is_none() && kind_of(&args.to)?.is_drawing() {
        drawings(args, context)
    } else {
        tables::run(args, context)
    }
}
