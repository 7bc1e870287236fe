use super::{Cli, Context, Exit, Outcome};
use clap::CommandFactory as _;
use std::io::Write as _;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  assetq completions bash > ~/.local/share/bash-completion/completions/assetq")]
pub(super) struct Args {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: clap_complete::Shell,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "assetq", &mut script);
    let mut out = context.stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Done)
}
