use super::{Context, Outcome};
use crate::lines;
use std::path::PathBuf;

/// Write a file as text that git compares: sorted, line by line
///
/// Configure git once:
///
///   git config --global diff.assetq.textconv 'assetq textconv'
///   git config --global diff.assetq.cachetextconv true
///   echo '*.wdb diff=assetq' >> .gitattributes
///
/// From then on `git diff`, `git show` and `git log -p` show what changed in such files, row by row.
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  assetq textconv monster_book.wdb | less
  diff <(assetq textconv old.wdb) <(assetq textconv new.wdb)
  git diff HEAD~1 -- monster_book.wdb          once git is set up as above"
)]
pub(super) struct Args {
    /// The file
    file: PathBuf,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let asset = context.open(&args.file)?;
    let file = asset.source().name();
    let mut out = context.stdout();
    lines::write(&asset, &mut out, |error| context.damaged(file, &error))?;
    std::io::Write::flush(&mut out)?;
    context.warn(&asset);
    Ok(())
}
