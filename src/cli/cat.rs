use super::{Context, Exit, Failure, Outcome};
use crate::asset::Asset;
use std::io::Write as _;
use std::path::PathBuf;

/// Show one entry whole, with its references resolved
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq cat assets.bin content/gameplay/…/JSD011_Akizuki_1944.visual
  assetq cat assets.bin 0x0DF5A921212A899E -f json
  assetq cat models.bin 3
  assetq cat savegame.vrb '[Main]' -f json     a whole chunk as JSON
  assetq cat savegame.vrb Sets.South.X         one value in the main chunk
  assetq cat savegame.vrb --raw Vertex_0 > v   the decompressed bytes of a chunk")]
pub(super) struct Args {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The entry: an id (0x…, 16 hex digits, or decimal), a path, or a name, as `assetq ls FILE` shows them
    #[arg(value_name = "ENTRY")]
    entry: String,
    /// Show the types of values, too, as "$type": `patch --entry` can change them then (.vrb)
    #[arg(long, conflicts_with = "raw")]
    types: bool,
    /// Write the entry's decompressed bytes as they are, whatever the format says they mean
    #[arg(long)]
    raw: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let asset = context.open(&args.file)?;
    let file = asset.source().name();
    if args.raw {
        let bytes = asset.reader().raw(&args.entry).map_err(|e| Failure::in_file(file, &e))?;
        let mut out = context.stdout();
        out.write_all(bytes.ok_or_else(|| not_found(&asset, &args.entry, context))?)?;
        out.flush()?;
        context.warn(&asset);
        return Ok(Exit::Done);
    }
    let mut found = false;
    let mut damaged = None;
    let mut entries = context.entries(false)?;
    entries.add(|out| {
        let reader = asset.reader();
        let shown = if args.types { reader.cat_typed(&args.entry, out) } else { reader.cat(&args.entry, out) };
        match shown {
            Ok(shown) => found = shown,
            Err(error) => match error.kind() {
                crate::ErrorKind::Io { .. } => return Err(error.into()),
                _ => damaged = Some(error),
            },
        }
        if found || damaged.is_some() { Ok(()) } else { Err(not_found(&asset, &args.entry, context)) }
    })?;
    entries.finish()?;
    context.warn(&asset);
    if let Some(error) = damaged {
        context.damaged(file, &error);
    }
    Ok(Exit::Done)
}

fn not_found(asset: &Asset, entry: &str, context: &Context) -> Failure {
    let file = asset.source().name();
    let hint = context.hint(asset, entry);
    let hint = if hint.is_empty() { "; `assetq ls` lists what there is" } else { &hint };
    Failure::new(Exit::NotFound, format!("{file}: no entry {entry:?}{hint}"))
}
