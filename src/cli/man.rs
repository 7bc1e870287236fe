use super::{Cli, Context, Exit, Outcome};
use crate::error::Error;
use clap::CommandFactory as _;
use std::path::PathBuf;

/// Write man pages into a folder
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  assetq man ~/.local/share/man/man1")]
pub(super) struct Args {
    /// The folder; made where it does not exist
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(super) fn run(args: &Args, _: &Context) -> Outcome {
    let failed = |e| super::Failure::in_file(&args.dir.to_string_lossy(), &Error::io("cannot write", e));
    std::fs::create_dir_all(&args.dir).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), &args.dir).map_err(failed)?;
    Ok(Exit::Done)
}
