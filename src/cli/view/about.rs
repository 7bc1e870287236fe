//! The first part of a page: what a file is, what `verify` finds, and the types of an archive's files.

use super::super::{Context, Failure};
use crate::asset::Asset;
use crate::report::counted;
use crate::scene::beside::bounds;
use crate::scene::figure::Figure;
use crate::ship::Ship;
use crate::table::Value;
use assetq_view::page::tables::quoted;
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::path::Path;

/// Files up to this size are verified while their page is written.
const VERIFIED: usize = 32 << 20;
const ENDINGS: usize = 12;
const LISTED: usize = 8;

/// A line about a file: its kind, game, format, version and size.
pub(super) fn line(asset: &Asset) -> String {
    let format = asset.format();
    let version = [format.name(), &asset.reader().version()].join(" ");
    let all = [format.about(), format.game(), version.trim_end(), &file_size(asset)];
    all.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// The size of a file; empty for a folder, which has no bytes of its own.
fn file_size(asset: &Asset) -> String {
    let is_folder = asset.source().path().is_some_and(Path::is_dir);
    if is_folder { String::new() } else { super::size(asset.source().bytes().len() as u64) }
}

/// The data of the first part. `file` is the name of the file without its folder, which is private.
pub(super) fn facts(asset: &Asset, file: &str, context: &Context) -> Result<Json, Failure> {
    let (format, reader) = (asset.format(), asset.reader());
    let mut facts = vec![
        ("game".to_owned(), format.game().to_owned()),
        ("format".to_owned(), format.name().to_owned()),
        ("version".to_owned(), reader.version()),
        ("size".to_owned(), file_size(asset)),
    ];
    for (name, value) in reader.facts() {
        // The file's own statement is more precise than the format's.
        facts.retain(|(known, _)| *known != name);
        facts.push((name.into_owned(), text(&value)));
    }
    facts.retain(|(_, text)| !text.is_empty());
    let game = facts.iter().find(|(name, _)| name == "game").map(|(_, game)| game.clone());
    let endings = endings(asset)?;
    Ok(json!({ "what": format.about(), "game": game, "facts": facts, "endings": endings,
        "verify": verify(asset, file, context) }))
}

/// The data of the first part of a page of a ship. The command that wrote the page verifies no file.
pub(super) fn ship(ship: &Ship, figure: Option<&Figure<'_>>) -> Json {
    let mut facts = vec![("name", ship.name.clone()), ("hull", ship.hull.clone())];
    facts.extend(ship.facts.iter().cloned());
    if let Some(Figure::Solids(solids)) = figure {
        let (low, high) = bounds(solids);
        let metres = solids.metres.unwrap_or(1.0);
        for (name, low, high) in [("length", low[2], high[2]), ("beam", low[0], high[0])] {
            facts.push((name, format!("{:.1} m", (high - low) * metres)));
        }
    }
    facts.retain(|(_, text)| !text.is_empty());
    json!({ "what": "Ship", "game": "World of Warships", "facts": facts, "endings": [] })
}

/// A value in a line; the first values of a list.
fn text(value: &Value<'_>) -> String {
    let Value::List(all) = value else { return value.to_string() };
    let mut texts: Vec<String> = all.iter().take(LISTED).map(ToString::to_string).collect();
    texts.extend(all.len().checked_sub(LISTED).filter(|more| *more > 0).map(|more| format!("… and {more} more")));
    texts.join(", ")
}

/// The outcome of `verify` in one line, and the command that lists all of it.
fn verify(asset: &Asset, file: &str, context: &Context) -> Json {
    let command = format!("assetq verify {}", quoted(file));
    if asset.source().bytes().len() > VERIFIED {
        let text = "The page has read the cells that it shows. To check all of the file:";
        return json!({ "isOk": null, "text": text, "command": command });
    }
    let report = context.with_progress("verify", |progress| asset.reader().verify(progress));
    let all = counted(report.checks.len(), "check");
    let failed = report.checks.iter().filter(|check| !check.is_ok()).count();
    let found: u64 = report.checks.iter().map(|check| check.found()).sum();
    let text = if failed == 0 {
        format!("{all}, nothing wrong:")
    } else {
        format!("{failed} of {all} found {}:", counted(found, "fault"))
    };
    json!({ "isOk": failed == 0, "text": text, "command": command })
}

/// The most frequent types of files of an archive, by the ending of their names, with their sizes.
fn endings(asset: &Asset) -> crate::Result<Vec<Json>> {
    let Some(archive) = asset.reader().archive() else { return Ok(Vec::new()) };
    let mut all: HashMap<String, (usize, u64)> = HashMap::new();
    // Damage among the files is for `verify`.
    for file in (0..archive.len()?).filter_map(|number| archive.file(number).ok()) {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
        let (count, bytes) = all.entry(ending).or_default();
        *count += 1;
        *bytes += file.size;
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_unstable_by(|(a, (count, _)), (b, (other, _))| other.cmp(count).then_with(|| a.cmp(b)));
    let shown = all.into_iter().take(ENDINGS).map(|(name, (count, bytes))| {
        let bytes = super::size(bytes);
        json!({ "name": name, "count": count, "bytes": bytes })
    });
    Ok(shown.collect())
}
