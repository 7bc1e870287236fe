use super::{Context, Failure, Format, Outcome};
use crate::archive::Cache;
use crate::report::counted;
use crate::table::{Column, Kind, Value};
use assetq_core::dates::rfc3339;

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = Format::ROWS;

/// Show, check or clear the cache of decoded files
///
/// Deflated files of an archive that are needed often, such as the database of a game, are decoded once and kept in
/// $ASSETQ_CACHE, or else in the platform's folder for caches. A cached file is found by the SHA-256 of the stored
/// bytes, or by its address as long as the game's indexes and the volume keep their sizes and modification times. Above
/// 4 GiB the least recently used files are removed. The names in a large folder of --names are kept, too, until one of
/// its files changes. --no-cache disables the cache.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq cache                                 what is kept
  assetq cache verify                          reads it all, and names what is damaged
  assetq cache clear                           removes it")]
pub(super) struct Args {
    /// The action
    #[arg(value_enum, value_name = "ACTION", default_value_t = Action::Show)]
    action: Action,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Action {
    /// List the files
    Show,
    /// Check each file against its SHA-256 and CRC-32
    Verify,
    /// Remove all files
    Clear,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let Some(cache) = Cache::default_folder().map(Cache::in_folder) else {
        return Err(Failure::usage("this user has no folder for caches: set ASSETQ_CACHE to one"));
    };
    let folder = cache.folder();
    if args.action == Action::Clear {
        let count = cache.clear().map_err(|error| Failure::io(folder, "cannot remove a file", error))?;
        context.say(&format!("{}: {} removed", folder.display(), counted(count, "file")));
        return Ok(());
    }
    let mut columns = vec![
        Column::new("crc32", Kind::Id32),
        Column::new("size", Kind::Uint),
        Column::new("used", Kind::Text),
        Column::new("file", Kind::Text),
    ];
    let verify = args.action == Action::Verify;
    if verify {
        columns.push(Column::new("ok", Kind::Bool));
    }
    let mut out = context.rows(&columns)?;
    for file in cache.files().map_err(|error| Failure::io(folder, "cannot read the folder", error))? {
        let path = file.path.to_string_lossy();
        let used = rfc3339(file.used);
        let mut cells =
            vec![file.crc32.map_or(Value::Null, Value::Id32), file.size.into(), Value::owned(used), Value::text(&path)];
        if verify {
            cells.push(context.or_damaged(&path, cache.check(&file)).is_some().into());
        }
        out.row(&cells)?;
    }
    Ok(out.finish()?)
}
