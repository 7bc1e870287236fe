use super::names::unfit;
use super::{Context, Exit, Failure, Outcome};
use crate::formats::wdb::Pack;
use crate::table::glob::Glob;
use crate::table::{Column, Kind, Value};
use std::path::PathBuf;

/// Write the entries of a pack as files
///
/// An entry whose name would lead out of the folder, or that Windows has no such files for (NUL.txt, a name that ends in a
/// dot or a blank, or has one of \ / : * ? " < > | in it), is named and left out, on all systems; the exit code is 3
/// then. `assetq cat FILE ENTRY --raw` writes it wherever you like.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq extract wdbpack.bin --to sheets
  assetq extract wdbpack.bin 'bt_*.wdb' --to sheets")]
pub(super) struct Args {
    /// The pack
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Which entries: a glob over their names with extension
    #[arg(value_name = "GLOB", default_value = "*")]
    glob: String,
    /// The folder that they go into; it is made where there is none
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Write over files that exist
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let asset = context.open(&args.file)?;
    let file = asset.source().name();
    let Some(pack) = asset.get::<Pack>() else {
        let what = format!("{file}: a {} file is no pack; extract is for packs", asset.format());
        return Err(Failure::new(Exit::Usage, what));
    };
    let wanted = Glob::new(&args.glob, false)?;
    let files = pack.files(|name| wanted.is_match(name)).map_err(|e| Failure::in_file(file, &e))?;
    if files.is_empty() {
        context.not_found(&format!("{file}: nothing in entries matches {:?}", args.glob));
    }
    let columns = [Column::new("path", Kind::Text)];
    let mut out = context.rows(&columns)?;
    for (name, entry) in &files {
        if let Some(why) = unfit(name) {
            let what = format!("{file}: {name:?} is not written, as its name is not fit for a file: {why}");
            context.failed(&Failure::new(Exit::Damaged, what));
            continue;
        }
        let path = args.to.join(name);
        // An entry that cannot be written does not keep the others from being written.
        match context.create(&path, args.force, |out| Ok(out.write_all(entry.bytes())?)) {
            Ok(()) => out.row(&[Value::Text(path.to_string_lossy())])?,
            Err(failure) => context.failed(&failure),
        }
    }
    out.finish()?;
    Ok(Exit::Done)
}
