use super::{Context, Outcome};
use clap_mangen::Man;
use std::path::PathBuf;

/// Write man pages into a folder
///
/// Pages of these names that are there already are replaced.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq man ~/.local/share/man/man1           then: man assetq-export
  assetq man pages && man ./pages/assetq.1")]
pub(super) struct Args {
    /// The folder, created if missing
    dir: PathBuf,
}

/// `commands` are the documented commands.
pub(super) fn run(args: &Args, commands: clap::Command, context: &Context) -> Outcome {
    context.writes_folder(&args.dir);
    let mut root = commands.disable_help_subcommand(true);
    root.build();
    let mut commands = vec![root];
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands().filter(|sub| !sub.is_hide_set()).cloned());
        let page = Man::new(command);
        context.create(&args.dir.join(page.get_filename()), true, |mut out| Ok(page.render(&mut out)?))?;
    }
    Ok(())
}
