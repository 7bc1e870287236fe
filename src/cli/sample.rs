use super::bar::Unit;
use super::{Context, Exit, Failure, Outcome, tour};
use crate::paths::joined;
use crate::table::{Column, Kind, Value};
use assetq_sample::{self as sample, Size};
use std::path::{Path, PathBuf};

/// Write a valid file or folder of every format, to try commands on
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq sample demo                           small files, some kilobytes each
  assetq sample demo --tour                    then commands about them, each of which can be pasted
  assetq sample demo --altered                 also a later build of assets.bin, for `assetq diff`
  assetq sample demo --size full --seed 7      an assets.bin of 170 MB, a game of 400,000 files, the others as
                                               large as the games' own")]
pub(super) struct Args {
    /// The folder, created if missing
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// How big the files are
    #[arg(long, value_enum, default_value_t = SizeArg::Small)]
    size: SizeArg,
    /// Another seed gives other files
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write altered.bin, too: a later build of assets.bin, to compare with
    #[arg(long)]
    altered: bool,
    /// Write over existing files with other contents
    #[arg(long)]
    force: bool,
    /// Then show commands about the files, and run them
    #[arg(long, conflicts_with_all = ["size", "seed", "altered", "force"])]
    tour: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SizeArg {
    Small,
    Full,
}

/// `run` runs a command line.
pub(super) fn run(args: &Args, context: &Context, run: impl Fn(&[String]) -> Result<Exit, Failure>) -> Outcome {
    if args.tour {
        return tour::run(&args.dir, context, run);
    }
    let size = match args.size {
        SizeArg::Small => Size::Small,
        SizeArg::Full => Size::Full,
    };
    context.writes_folder(&args.dir);
    let columns = [Column::new("file", Kind::Text), Column::new("format", Kind::Text), Column::new("size", Kind::Uint)];
    let shown = if context.format() == super::Format::Text { 1 } else { columns.len() };
    let mut out = context.rows(columns.get(..shown).unwrap_or(&columns))?;
    let write = |path: &Path, bytes: &[u8]| {
        if is_same(path, bytes) {
            return Ok(());
        }
        context.create(path, args.force, |out| Ok(out.write_all(bytes)?))
    };
    let file = |path: &Path, make: sample::Make| -> Result<usize, Failure> {
        let bytes = make(args.seed, size);
        write(path, &bytes)?;
        Ok(bytes.len())
    };
    let mut made = |path: &Path, format: crate::Format, size: usize| {
        let file = path.to_string_lossy();
        let cells = [Value::text(&file), format.name().into(), size.into()];
        out.row(cells.get(..shown).unwrap_or(&cells))
    };
    context.with_progress_of("sample", Unit::Files, |progress| {
        for (name, format, make) in sample::FILES {
            let path = args.dir.join(name);
            made(&path, *format, file(&path, *make)?)?;
            progress.advance(1);
        }
        for (name, make) in sample::BESIDE {
            file(&args.dir.join(name), *make)?;
        }
        for (name, format, make) in sample::FOLDERS {
            let folder = args.dir.join(name);
            let (mut total, mut failed) = (0usize, None);
            let mut put = |path: &str, bytes: &[u8]| {
                total += bytes.len();
                progress.advance(1);
                write(&joined(&folder, path), bytes).map_err(|failure| {
                    failed = Some(failure);
                    sample::Stopped
                })
            };
            let done = make(args.seed, size, &mut put);
            if let (Err(sample::Stopped), Some(failure)) = (done, failed) {
                return Err(failure);
            }
            made(&folder, *format, total)?;
        }
        if args.altered {
            let (name, format, make) = sample::ALTERED;
            let path = args.dir.join(name);
            made(&path, format, file(&path, make)?)?;
        }
        Ok::<_, Failure>(())
    })?;
    out.finish()?;
    Ok(Exit::Done)
}

/// Whether the file is there already.
fn is_same(path: &Path, bytes: &[u8]) -> bool {
    let is_as_long = std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() == bytes.len() as u64);
    is_as_long && std::fs::read(path).is_ok_and(|found| found == bytes)
}
