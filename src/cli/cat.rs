use super::{Context, Exit, Failure, Outcome};
use std::path::PathBuf;

/// Show one entry whole, with its references resolved
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq cat assets.bin content/gameplay/…/JSD011_Akizuki_1944.visual
  assetq cat assets.bin 0x0DF5A921212A899E -f json
  assetq cat models.bin 3")]
pub(super) struct Args {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The entry: an id (0x… or decimal), a path, or a name, as `assetq ls FILE` shows them
    #[arg(value_name = "ENTRY")]
    entry: String,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let asset = context.open(&args.file)?;
    let file = asset.source().name();
    let mut found = false;
    let mut damaged = None;
    context.entries(1, |_, out| {
        match asset.reader().cat(&args.entry, out) {
            Ok(shown) => found = shown,
            Err(error) => match error.kind() {
                crate::ErrorKind::Io { .. } => return Err(error.into()),
                _ => damaged = Some(error),
            },
        }
        if found || damaged.is_some() { Ok(()) } else { Err(not_found(file, &args.entry)) }
    })?;
    if let Some(error) = damaged {
        context.damaged(file, &error);
    }
    Ok(Exit::Done)
}

fn not_found(file: &str, entry: &str) -> Failure {
    Failure::new(Exit::NotFound, format!("{file}: no entry {entry:?}; `assetq ls` lists what there is"))
}
