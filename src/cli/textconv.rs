use super::{Context, Exit, Format, Outcome};
use crate::codec::sha256_of;
use crate::error::ErrorKind;
use crate::report::counted;
use crate::source::Source;
use crate::{asset, lines};
use assetq_core::Openable as _;
use std::io::Write as _;
use std::path::PathBuf;

/// The command writes files or a script, in no format of `-f`.
pub(super) const FORMATS: &[Format] = &[];

/// Write a file as text that git compares: sorted, line by line
///
/// Configure git once:
///
///   git config --global diff.assetq.textconv 'assetq textconv'
///   git config --global diff.assetq.cachetextconv true
///   echo '*.wdb diff=assetq' >> .gitattributes
///
/// From then on `git diff`, `git show` and `git log -p` show what changed in such files, row by row. A file that is
/// empty or cannot be opened, and a pointer of Git LFS, is one line of text. Files beside FILE are not read.
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
    let mut out = context.stdout();
    // Equal bytes give equal text, whatever lies beside them: git writes one of the versions to a folder of its own.
    let options = asset::Format::configure("companions", &[], "", context.options())?;
    match context.open_by(&args.file, &options) {
        Ok(asset) => {
            let mut damaged = 0u64;
            lines::write(&asset, &mut out, |_| damaged += 1)?;
            context.warn(&asset);
            if damaged > 0 {
                context.note(&args.file, &format!("{} damaged, as the text states", counted(damaged, "part")));
            }
        }
        Err(failure) if failure.exit == Exit::Io => return Err(failure),
        // git stops at the first file that has no text.
        Err(failure) => {
            let Ok(source) = (&args.file).open_source(&options) else { return Err(failure) };
            context.say(&failure.message);
            writeln!(out, "{}", no_asset(&source))?;
        }
    }
    Ok(out.flush()?)
}

/// The only line of a file that cannot be opened. It differs if the bytes differ.
fn no_asset(source: &Source) -> String {
    match asset::Format::detect(source) {
        Err(error) if matches!(error.kind(), ErrorKind::GitLfsPointer { .. }) => error.to_string(),
        _ => {
            let bytes = source.bytes();
            format!("not an asset: {} bytes, sha256:{}", bytes.len(), sha256_of(&[bytes]))
        }
    }
}
