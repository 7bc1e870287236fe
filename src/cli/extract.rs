use super::file_names::{Inside, check_fit};
use super::output_files::MadeFolders;
use super::stdout::is_stdout;
use super::{Context, Failure, Format, Outcome};
use crate::archive::{self, Archive, Codec, File, check_crc32, choose};
use crate::atomic_file::sync_files;
use crate::paths::{glob_of, joined};
use crate::source::Source;
use crate::table::glob::Glob;
use crate::table::{Kind, Value};
use crate::threads::prelude::*;
use std::path::PathBuf;

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = Format::ROWS;

/// Write the files of an archive, decoded and checked
///
/// Folders are kept. A file whose path would leave the folder, or whose name Windows does not support (NUL.txt, a name
/// that ends in a dot or a blank, or contains one of \ : * ? " < > |), is reported and skipped, on all systems, and the
/// exit code is 3. Links in the folder are followed if they stay in it. `assetq extract ARCHIVE PATH --to -` writes
/// such a file to any place.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq extract wows \"content/gameplay/*.geometry\" --to ships
  assetq extract pack.bin \"*.wdb\" --to sheets
  assetq extract wows content/assets.bin --to - | xxd | head")]
pub(super) struct Args {
    /// The archive
    #[arg(value_name = "ARCHIVE")]
    file: PathBuf,
    /// The files: a glob over their paths, or one path
    #[arg(value_name = "GLOB", default_value = "*")]
    glob: String,
    /// The folder for the files, created if missing; - for standard output, for a single file
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Write over files that exist
    #[arg(long)]
    pub(super) force: bool,
}

/// Files that are decoded before their results are reported.
const TOGETHER: usize = 256;

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let asset = context.open(&args.file)?;
    let name = asset.source().name();
    let Some(archive) = asset.reader().archive() else {
        let what = format!("{name}: a {} file is no archive; extract is for packs and game folders", asset.format());
        return Err(Failure::usage(what));
    };
    let failed = Failure::of_file(name);
    let chosen = match archive::find(archive, &args.glob).map_err(failed)? {
        Some(file) => vec![(file.path.clone().into_owned(), file)],
        None => {
            let wanted = Glob::smart_case(&glob_of(&args.glob))?;
            choose(archive, |file| wanted.is_match(&file.path), |error| context.damaged(name, &error))
                .map_err(failed)?
        }
    };
    if chosen.is_empty() {
        let wanted = Glob::smart_case(&glob_of(&args.glob))?;
        let hint = match archive::other_build_with(archive, |path| wanted.is_match(path)) {
            Some(other) => format!("; {other} has such files"),
            None => Glob::hint(&args.glob),
        };
        context.not_found(&format!("{name}: nothing in it matches {:?}{hint}", args.glob));
    } else if is_stdout(&args.to) {
        to_stdout(archive, &chosen, name, context)?;
    } else {
        to_folder(archive, &chosen, args, name, context)?;
    }
    context.warn(&asset);
    Ok(())
}

fn to_stdout(
    archive: &dyn Archive,
    chosen: &[(String, File<'_>)],
    name: &str,
    context: &Context,
) -> Result<(), Failure> {
    let [(_, file)] = chosen else {
        return Err(Failure::usage(format!("{name}: {} files match; standard output takes one", chosen.len())));
    };
    context.print(decoded(archive, file, name)?.bytes())
}

fn to_folder(
    archive: &dyn Archive,
    chosen: &[(String, File<'_>)],
    args: &Args,
    name: &str,
    context: &Context,
) -> Result<(), Failure> {
    let mut out = context.rows_of([("path", Kind::Text)])?;
    let outputs = context.outputs();
    let inside = Inside::new(&args.to);
    let fitting = chosen.iter().filter(|(to, _)| check_fit(to, name, "written").is_ok());
    let paths: Vec<PathBuf> = fitting.map(|(to, _)| joined(&args.to, to)).collect();
    let _made = MadeFolders::of(paths.iter().filter_map(|path| path.parent()));
    context.with_progress("extract", |progress| {
        progress.announce(chosen.iter().map(|(_, file)| file.size).fold(0, u64::saturating_add));
        for together in chosen.chunks(TOGETHER) {
            let wrote = together.par_iter().map(|(to, file)| {
                let path = joined(&args.to, to);
                let wrote = check_fit(to, name, "written")
                    .map_err(|unfit| {
                        let message = format!("{}; --to - writes one file to standard output", unfit.message);
                        Failure { message, ..unfit }
                    })
                    .and_then(|()| inside.check(to, &path))
                    .and_then(|()| outputs.create(&path, args.force, decoded(archive, file, name)?.bytes()));
                progress.advance(file.size);
                wrote.map(|()| path)
            });
            // A file that cannot be written does not affect the others.
            for path in wrote.collect::<Vec<_>>().into_iter().filter_map(|wrote| context.or_failed(wrote)) {
                out.row(&[Value::Text(path.to_string_lossy())])?;
            }
        }
        if args.to.exists() {
            sync_files(&args.to)?;
        }
        Ok::<_, Failure>(())
    })?;
    Ok(out.finish()?)
}

/// The bytes of a file, checked even if they are uncompressed.
pub(super) fn decoded(archive: &dyn Archive, file: &File<'_>, name: &str) -> Result<Source, Failure> {
    let address = format!("{name}:{}", file.path);
    let failed = Failure::of_file(&address);
    let decoded = archive::open(archive, file, name).map_err(failed)?;
    if file.codec == Codec::None {
        check_crc32(&decoded, file).map_err(failed)?;
    }
    Ok(decoded)
}
