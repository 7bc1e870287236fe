use super::output_files::ReadFiles;
use super::{Context, Failure, Format, Outcome, Unit, tour};
use crate::paths::joined;
use crate::table::{Column, Kind, Value};
use assetq_sample::{self as sample, Contents, Size};
use std::path::{Path, PathBuf};

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = Format::ROWS;

/// Write a valid file or folder of every format, to try commands on
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq sample demo                           a cruiser with all that belongs to her, and small files of other games
  assetq sample demo --tour                    then commands about them, each of which can be pasted
  assetq sample demo --altered                 also a later build of assets.bin, for `assetq diff`
  assetq sample demo --seed 7                  small files with random contents
  assetq sample demo --size full --seed 7      about 1 GB: an assets.bin of 170 MB, a game of 400,000 files, the
                                               others as large as the games' own")]
pub(super) struct Args {
    /// The folder, created if missing
    dir: PathBuf,
    /// How big the files are
    #[arg(long, value_enum, default_value_t = SizeArg::Small)]
    size: SizeArg,
    /// Write random contents, the same ones for the same seed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
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

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    if args.tour {
        return tour::run(&args.dir, context);
    }
    let size = match args.size {
        SizeArg::Small => Size::Small,
        SizeArg::Full => Size::Full,
    };
    let (contents, seed) = Contents::of(args.seed, size);
    let outputs = context.outputs();
    let columns = [Column::new("file", Kind::Text), Column::new("format", Kind::Text), Column::new("size", Kind::Uint)];
    let shown = if context.format() == super::Format::Text { 1 } else { columns.len() };
    let mut out = context.rows(&columns[..shown])?;
    context.with_progress_of("sample", Unit::Files, |progress| {
        let altered = if args.altered { contents.altered } else { &[] };
        let mut file = |(name, format, make): &(&str, crate::Format, sample::Make)| {
            let (path, bytes) = (args.dir.join(name), make(seed, size));
            write(&path, &bytes, args, &outputs)?;
            out.row(&cells(&path, *format, bytes.len())[..shown])?;
            progress.advance(1);
            Ok::<_, Failure>(())
        };
        contents.files.iter().chain(altered).try_for_each(&mut file)?;
        let folder = |folder: &Path, make: sample::MakeFolder| {
            let (mut total, mut failed) = (0, None);
            let done = make(seed, size, &mut |path, bytes| {
                total += bytes.len();
                progress.advance(1);
                write(&joined(folder, path), bytes, args, &outputs).map_err(|failure| {
                    failed = Some(failure);
                    sample::Stopped
                })
            });
            match (done, failed) {
                (Err(sample::Stopped), Some(failure)) => Err(failure),
                _ => Ok(total),
            }
        };
        folder(&args.dir, contents.beside)?;
        for (name, format, make) in contents.folders {
            let path = args.dir.join(name);
            let total = folder(&path, *make)?;
            out.row(&cells(&path, *format, total)[..shown])?;
        }
        Ok::<_, Failure>(())
    })?;
    Ok(out.finish()?)
}

fn cells(path: &Path, format: crate::Format, size: usize) -> [Value<'_>; 3] {
    [Value::Text(path.to_string_lossy()), format.name().into(), size.into()]
}

/// Writes a file, unless it is there already.
fn write(path: &Path, bytes: &[u8], args: &Args, outputs: &ReadFiles) -> Result<(), Failure> {
    let is_as_long = std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() == bytes.len() as u64);
    if is_as_long && std::fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    // Not synced: a sample can be written again, and a full one has thousands of files.
    outputs.create(path, args.force, bytes)
}
