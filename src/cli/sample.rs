use super::{Context, Exit, Outcome};
use crate::sample::{self, Size};
use crate::table::{Column, Kind, Value};
use std::path::{Path, PathBuf};

/// Write one valid file of every format, to try commands on
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq sample demo                           small files, some kilobytes each
  assetq sample demo --altered                 also a later build of assets.bin, for `assetq diff`
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
    /// Write altered.bin, too: a later build of assets.bin, to compare with
    #[arg(long)]
    altered: bool,
    /// Write over files that exist and are others
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SizeArg {
    Small,
    Full,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let size = match args.size {
        SizeArg::Small => Size::Small,
        SizeArg::Full => Size::Full,
    };
    let columns = [Column::new("file", Kind::Text), Column::new("format", Kind::Text), Column::new("size", Kind::Uint)];
    let shown = if context.format() == super::Format::Text { 1 } else { columns.len() };
    let mut out = context.rows(columns.get(..shown).unwrap_or(&columns))?;
    let altered: &[_] = if args.altered { &[sample::ALTERED] } else { &[] };
    for (name, format, make) in sample::FILES.iter().chain(altered) {
        let path = args.dir.join(name);
        let bytes = make(args.seed, size);
        if !is_same(&path, &bytes) {
            context.create(&path, args.force, |out| Ok(out.write_all(&bytes)?))?;
        }
        let file = path.to_string_lossy();
        let cells = [Value::text(&file), format.name().into(), bytes.len().into()];
        out.row(cells.get(..shown).unwrap_or(&cells))?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

/// Whether the file is there already.
fn is_same(path: &Path, bytes: &[u8]) -> bool {
    let is_as_long = std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() == bytes.len() as u64);
    is_as_long && std::fs::read(path).is_ok_and(|found| found == bytes)
}
