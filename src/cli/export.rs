mod args;
mod drawings;
mod ship;
mod tables;

pub(super) use args::{Args, KindArg, LevelArgs, ShipArgs};
pub(super) use drawings::{draw, image};
pub(super) use tables::{RowSource, table_kind, write};

use super::{Context, Exit, Failure, Outcome};
use crate::asset::Asset;
use args::{Lod, kind_of};
use drawings::drawings;
use std::path::Path;

/// Writes the main table of `asset` in the kind of the ending of `to`.
pub(super) fn whole_table(asset: &Asset, to: &Path, force: bool, context: &Context) -> Result<(), Failure> {
    let args = Args {
        files: Vec::new(),
        to: to.to_owned(),
        kind: None,
        table: Vec::new(),
        all_tables: false,
        columns: Vec::new(),
        condition: None,
        limit: None,
        partition: Vec::new(),
        skip_damaged: false,
        force,
        db: None,
        with: Vec::new(),
        textures: None,
        texture_size: 2048,
        emissive: false,
        lod: Lod(Some(0)),
        only: Vec::new(),
        level: LevelArgs::default(),
        ship: ShipArgs::default(),
    };
    tables::main(&args, asset, context)
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    match &*args.ship.ship {
        [] => {}
        [query] => return ship::run(args, query, context),
        _ => return Err(Failure::new(Exit::Usage, "export writes one ship: --ship is given twice")),
    }
    if args.kind.is_some_and(KindArg::is_drawing) || args.kind.is_none() && kind_of(&args.to)?.is_drawing() {
        drawings(args, context)
    } else {
        tables::run(args, context)
    }
}
