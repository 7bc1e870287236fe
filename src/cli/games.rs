use super::{Context, Format, Outcome};
use crate::archive::MARK;
use crate::asset::Asset;
use crate::games::{GameTitle, Search};
use crate::table::{Kind, Value};
use std::collections::HashSet;

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = Format::ROWS;

/// List the installed games
///
/// Games are found by environment variables, by the libraries of Steam, by Wargaming Game Center and Lesta Game Center, and
/// by the registry of Windows; on Linux and macOS in the prefixes of Wine and Proton, too. The address of a row stands
/// for its folder wherever a file may stand, as in `assetq ls wows:content/*.visual`. A file or folder of that name wins
/// over it, and so does the variable: ASSETQ_WOWS, ASSETQ_SE2, ASSETQ_FF13, ASSETQ_FF13_2, ASSETQ_LR, ASSETQ_RUSTY_HEARTS.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq games                                 what is installed, and where
  assetq ls wows:\"content/*.geometry\"          files of World of Warships
  assetq info se2:                             the folder of Space Engineers 2")]
pub(super) struct Args {}

pub(super) fn run(_: &Args, context: &Context) -> Outcome {
    let search = Search::of_this_machine();
    let mut found: Vec<_> = search.installations().collect();
    if found.is_empty() {
        context.not_found(&format!("no game found: {}", search.failure(&GameTitle::ALL)));
        return Ok(());
    }
    // Stable, so that the first of a title is the one that its prefix stands for.
    found.sort_by_key(|one| GameTitle::ALL.iter().position(|title| *title == one.title));
    let names = ["address", "game", "build", "folder", "found_by", "record"];
    let mut out = context.rows_of(names.map(|name| (name, Kind::Text)))?;
    let mut titles = HashSet::new();
    for one in found {
        // A folder that cannot be opened is listed, too: opening it says why.
        let asset = Asset::open_at(&one.folder, context.options()).ok();
        let version = asset.filter(|asset| asset.reader().archive().is_some_and(|archive| archive.builds().is_some()));
        let build = version.map(|asset| asset.reader().version()).or(one.steam_build);
        let address = titles.insert(one.title).then(|| format!("{}{MARK}", one.title.prefix()));
        out.row(&[
            address.into(),
            one.title.name().into(),
            build.into(),
            Value::Text(one.folder.to_string_lossy()),
            one.found_by.name().into(),
            one.record.into(),
        ])?;
    }
    Ok(out.finish()?)
}
