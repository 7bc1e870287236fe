use super::{Context, Format, Outcome, tour};
use std::path::PathBuf;

/// The command writes files or a script, in no format of `-f`.
pub(super) const FORMATS: &[Format] = &[];

/// The old name of `assetq sample DIR --tour`
#[derive(Debug, clap::Args)]
#[command(hide = true, after_help = "Example:\n  assetq demo /tmp/try")]
pub(super) struct Args {
    /// The folder for the files
    #[arg(value_name = "DIR", default_value = "assetq-demo")]
    dir: PathBuf,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let dir = args.dir.to_string_lossy();
    context.say(&format!("note: the name of this command is now `assetq sample {dir} --tour`"));
    tour::run(&args.dir, context)
}
