use super::{Context, Exit, Failure, Outcome};
use crate::asset::Asset;
use crate::error::Error;
use crate::write::page::{Page, tables, tree};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Look at a file in the browser
///
/// What is shown is one page, whole in one file, that needs no network and can be passed on.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq view assets.bin                       all tables: sort, filter, follow references
  assetq view savegame.vrb --to save.html      a page to keep or to pass on; its graph unfolds, branch by branch
  assetq view GAME:content/assets.bin          a file in an archive")]
pub(super) struct Args {
    /// The file; with ARCHIVE:INNER one in an archive
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write the page to this file rather than open it in the browser, '-' for standard output
    #[arg(long, value_name = "OUT")]
    to: Option<PathBuf>,
    /// Write over a file that exists
    #[arg(long, requires = "to")]
    force: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let asset = context.open(&args.file)?;
    match &args.to {
        Some(to) => write(&asset, &args.file, to, args.force, context)?,
        None => {
            let to = place(&args.file)?;
            write(&asset, &args.file, &to, false, context)?;
            let mut page = context.page();
            page.line(&to.to_string_lossy())?;
            page.flush()?;
            if !open(&to) {
                context.say("no browser could be started: open that file in one");
            }
        }
    }
    context.warn(&asset);
    Ok(Exit::Done)
}

fn write(asset: &Asset, given: &Path, to: &Path, force: bool, context: &Context) -> Result<(), Failure> {
    let (name, version) = (asset.source().name(), asset.reader().version());
    let size = asset.source().bytes().len();
    let about = [asset.format().name(), &version, &format!("· {size} bytes")].join(" ");
    context.create(to, force, |out| {
        let mut page = Page::new(out, name, &about)?;
        let mut met = |errors: Vec<Error>, count: u64| {
            context.more_damaged(count.saturating_sub(errors.len() as u64));
            errors.iter().for_each(|error| context.damaged(name, error));
        };
        tree::add(&mut page, asset.reader(), &mut |error| context.damaged(name, &error))?;
        tables::add(&mut page, &asset.reader().tables(), &given.to_string_lossy(), &mut met)?;
        Ok(page.finish()?)
    })
}

/// Where a page that is only looked at stays: in a folder of its own, which nobody else can have made.
fn place(file: &Path) -> Result<PathBuf, Failure> {
    let failed = |error| Failure::from(Error::io("cannot make a folder for the page", error));
    let folder = tempfile::Builder::new().prefix("assetq-").tempdir().map_err(failed)?.keep();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    Ok(folder.join(format!("{name}.html")))
}

/// Opens `page` in the platform's browser. Whether there was something to open it with.
fn open(page: &Path) -> bool {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let mut command = Command::new(program);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
