use super::{Context, Exit, Outcome};
use crate::error::Error;
use crate::sample::{self, Size};
use crate::table::{Column, Kind, Value};
use std::path::PathBuf;

/// Write one valid file of every format, to try commands on
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq sample demo                           small files, some kilobytes each
  assetq sample demo --size full --seed 7      an assets.bin of 170 MB, the others as large as the games' own")]
pub(super) struct Args {
    /// The folder; made where it does not exist
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// How big the files are
    #[arg(long, value_enum, default_value_t = SizeArg::Small)]
    size: SizeArg,
    /// Another seed makes other files
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SizeArg {
    Small,
    Full,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let failed = |e| super::Failure::in_file(&args.dir.to_string_lossy(), &Error::io("cannot write", e));
    std::fs::create_dir_all(&args.dir).map_err(failed)?;
    let size = match args.size {
        SizeArg::Small => Size::Small,
        SizeArg::Full => Size::Full,
    };
    let columns = [Column::new("file", Kind::Text), Column::new("format", Kind::Text), Column::new("size", Kind::Uint)];
    let shown = if context.format() == super::Format::Text { 1 } else { columns.len() };
    let mut out = context.rows(columns.get(..shown).unwrap_or(&columns))?;
    for (name, format, make) in sample::FILES {
        let path = args.dir.join(name);
        let bytes = make(args.seed, size);
        context.create(&path, |out| Ok(out.write_all(&bytes)?))?;
        let file = path.to_string_lossy();
        let cells = [Value::text(&file), format.name().into(), bytes.len().into()];
        out.row(cells.get(..shown).unwrap_or(&cells))?;
    }
    out.finish()?;
    Ok(Exit::Done)
}
