use super::{Context, Exit, Failure, Format, Outcome};
use crate::asset::Asset;
use crate::error::{Error, ErrorKind};
use crate::find::paths_named;
use crate::paths::slashed;
use crate::table::Visitor;
use std::path::PathBuf;

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = Format::ROWS;

/// Show one whole entry, with its references resolved
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq cat assets.bin content/location/harbour/buoy/buoy.visual
  assetq cat assets.bin 0x3CEDAD43CB9C7E37 -f json
  assetq cat models.bin 3
  assetq cat wows Aurora                       a ship of a game, by its title, its index or its name
  assetq cat savegame.vrb \"[Main]\" -f json     a whole chunk as JSON
  assetq cat savegame.vrb HoursPlayed          one value in the main chunk
  assetq cat savegame.vrb --raw \"Miner Pell\" > grid   the decompressed bytes of a chunk")]
pub(super) struct Args {
    /// The file; it may also follow ENTRY
    file: PathBuf,
    /// The entry: an id (0x…, 16 hex digits, or decimal), a path or its last part, or a name, as `assetq ls FILE` shows them.
    /// Of a game also an entry of its database or its parameters
    entry: PathBuf,
    /// Show the types of values, too, as "$type": `patch --entry` can change them then (.vrb)
    #[arg(long, conflicts_with = "raw")]
    types: bool,
    /// Write the entry's decompressed bytes, without any interpretation
    #[arg(long)]
    raw: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let (path, entry) = context.file_and_entry(&args.file, &args.entry)?;
    let entry = &*entry.to_string_lossy();
    let asset = context.open(path)?;
    let file = asset.source().name();
    if args.raw {
        let mut bytes = asset.reader().raw(entry).map_err(Failure::of_file(file))?;
        if let (None, Some(entry)) = (bytes, slashed(entry)) {
            bytes = asset.reader().raw(&entry).map_err(Failure::of_file(file))?;
        }
        let bytes = bytes.ok_or_else(|| match asset.reader().cat(entry, &mut crate::table::Tree::default()) {
            Ok(true) => {
                let what =
                    "this entry is no stretch of bytes; `assetq info` lists sections, and columns named offset places";
                Failure::new(Exit::NotFound, format!("{file}: {}: {what}", crate::writable::short_text(entry)))
            }
            _ => not_found(&asset, entry, context),
        })?;
        context.print(bytes)?;
        context.warn(&asset);
        return Ok(());
    }
    let mut damaged = None;
    let mut entries = context.entries(false)?;
    let mut shown = asset.clone();
    entries.add(|out| {
        if find(&asset, entry, args.types, out, &mut damaged)? {
            return Ok(());
        }
        let (archive, mut unread) = (asset.reader().archive(), Vec::new());
        for inner in archive.into_iter().flat_map(|archive| [archive.database(), archive.parameters()]).flatten() {
            match context.inside(path, &asset, inner) {
                Ok(Some(inside)) if find(&inside, entry, args.types, out, &mut damaged)? => {
                    shown = inside;
                    return Ok(());
                }
                Ok(_) => {}
                Err(failure) => unread.push(failure),
            }
        }
        unread.iter().for_each(|failure| context.failed(failure));
        Err(not_found(&asset, entry, context))
    })?;
    entries.finish()?;
    context.warn(&shown);
    if let Some(error) = damaged {
        context.damaged(shown.source().name(), &error);
    }
    Ok(())
}

/// Shows the entry of a file that the user calls `entry`. Returns whether it exists.
fn find(
    asset: &Asset,
    entry: &str,
    types: bool,
    out: &mut dyn Visitor,
    damaged: &mut Option<Error>,
) -> Result<bool, Failure> {
    if show(asset, entry, types, out, damaged)? {
        return Ok(true);
    }
    // Paths of an archive, as people on Windows write them.
    if let Some(entry) = slashed(entry)
        && show(asset, &entry, types, out, damaged)?
    {
        return Ok(true);
    }
    let paths = paths_named(asset.reader(), entry, CANDIDATES + 1);
    match &*paths {
        [] => Ok(false),
        [path] => show(asset, path, types, out, damaged),
        [shown @ .., more] => {
            let last = if shown.len() < CANDIDATES { format!("{more:?}") } else { "…".to_owned() };
            let all: Vec<String> = shown.iter().map(|path| format!("{path:?}")).chain([last]).collect();
            let file = asset.source().name();
            let what = format!("{file}: {entry:?} is the name of several entries: {}", all.join(", "));
            Err(Failure::new(Exit::NotFound, what))
        }
    }
}

/// Shows an entry, up to its damage. Returns whether it exists.
fn show(
    asset: &Asset,
    entry: &str,
    types: bool,
    out: &mut dyn Visitor,
    damaged: &mut Option<Error>,
) -> Result<bool, Failure> {
    let reader = asset.reader();
    match if types { reader.cat_typed(entry, out) } else { reader.cat(entry, out) } {
        Ok(shown) => Ok(shown),
        Err(error) if matches!(error.kind(), ErrorKind::Io { .. }) => Err(error.into()),
        Err(error) if matches!(error.kind(), ErrorKind::Syntax { .. }) => {
            Err(Failure::in_file(asset.source().name(), &error))
        }
        Err(error) => {
            *damaged = Some(error);
            Ok(true)
        }
    }
}

/// Entries of one name that a message lists.
const CANDIDATES: usize = 10;

fn not_found(asset: &Asset, entry: &str, context: &Context) -> Failure {
    let file = asset.source().name();
    context.report_hidden(asset);
    let hint = context.hint(asset, entry);
    let values = if asset.reader().graphs().is_none() { "" } else { ", with `-t values` the values in them" };
    let lists = format!("; `assetq ls {file}` lists what there is{values}");
    let hint = if hint.is_empty() { &lists } else { &hint };
    Failure::new(Exit::NotFound, format!("{file}: no entry {}{hint}", crate::writable::short_text(entry)))
}
