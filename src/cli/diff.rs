mod args;
mod html;
mod page;
mod show;

use super::changes::Found;
use super::{Context, Exit, Failure, Format, Outcome};
use crate::archive;
use crate::asset::Asset;
use crate::codec::xxh64;
use crate::diff::{self, Differences, Pair, TableDiff};
use crate::error::Error;
use crate::paths::resolved;
use crate::report::Progress;
use crate::scene::figure::Figure;
use crate::scene::two_versions::TwoVersions;
use crate::scene::{Drawing, Options};
use crate::source::FileState;
use crate::source::bounded::Bounded;
use crate::threads::{self, prelude::*};
use crate::write::atom::{self, Entry};
use crate::write::text::escape;
pub(super) use args::Args;
pub(super) use page::short_names;
use show::{Compared, Inner, Out, Report, Show, bind, side_of};
use std::io::{BufReader, Read as _, Write};
use std::path::Path;
use std::time::SystemTime;

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let (old, new) = (context.open_side(&args.old)?, context.open_side(&args.new)?);
    if context.format() == Format::Patch {
        return super::patch::between(&old, &new, &args.tables, context);
    }
    let tables = diff::tables(&old, &new, &args.tables)?;
    let filters = bind(args, &tables)?;
    let all = find(context, &old, &new, &tables);
    let (old_name, new_name) = (label(&args.old, &old), label(&args.new, &new));
    let report = match context.format() {
        _ if args.feed.is_some() => Report::Entry(Vec::new()),
        _ if args.stat => Report::None,
        Format::Atom => Report::Entry(Vec::new()),
        Format::Html => Report::Page(page::Tables::default()),
        _ => Report::None,
    };
    let out = Out { rows: None, report, tables: 0 };
    let mut show = Show { args, context, old: &old, new: &new, out, differing: 0, meant: 0 };
    let found = show.found(None, &tables, &all, &filters);
    diff::notes(&old, &new).iter().for_each(|note| context.note(new.source().name(), note));
    context.warn(&old);
    context.warn(&new);
    let inner = if args.deep { inner(&old, &new, &found) } else { Vec::new() };
    show.show(found)?;
    for (side, note) in tables.iter().flat_map(TableDiff::notes) {
        context.note(side_of(side, &old, &new).source().name(), &note);
    }
    deep(&mut show, &inner)?;
    let Show { out, differing, meant, .. } = show;
    let Out { rows, report, .. } = out;
    if let Some(mut rows) = rows {
        rows.finish()?;
    }
    match report {
        Report::None => {}
        Report::Page(tables) => {
            let mut out = context.stdout();
            let title = page::title(&old_name, &new_name);
            match shapes(&old, &new, context) {
                Some([old, new]) => tables.write(&mut out, &title, overlay(&*old, &*new).as_ref())?,
                None => tables.write(&mut out, &title, None)?,
            }
            out.flush()?;
        }
        Report::Entry(html) if meant > 0 || args.feed.is_none() => {
            let subject = subject(&[(&old_name, &old), (&new_name, &new)], &html);
            entry(args, context, &subject, &page::title(&old_name, &new_name), &html)?;
        }
        Report::Entry(_) => {}
    }
    match (&args.condition, differing, meant) {
        (Some(condition), 1.., 0) => context.not_found(&format!("nothing that differs matches {condition:?}")),
        (_, 0, _) if matches!(context.format(), Format::Text | Format::Markdown) => {
            let mut page = context.page();
            page.line("no differences")?;
            page.flush()?;
        }
        _ => {}
    }
    Ok(if differing > 0 { Exit::NotFound } else { Exit::Done })
}

/// The shapes of both files, if both have some that can be drawn. What cannot be drawn differs in tables.
fn shapes<'a>(old: &'a Asset, new: &'a Asset, context: &Context) -> Option<[Box<dyn Drawing + 'a>; 2]> {
    let draw = |asset: &'a Asset| {
        let options = Options { lod: None, ..Options::default() };
        let path = asset.source().path().unwrap_or_else(|| Path::new(""));
        super::export::draw(asset, asset.reader().shapes()?, path, std::iter::empty(), options, context).ok()
    };
    Some([draw(old)?, draw(new)?])
}

/// Both versions of solids in one scene, if they differ.
fn overlay<'d>(old: &'d dyn Drawing, new: &'d dyn Drawing) -> Option<TwoVersions<'d>> {
    match (old.figure(), new.figure()) {
        (Ok(Some(Figure::Solids(old))), Ok(Some(Figure::Solids(new)))) => TwoVersions::new(&old, &new),
        _ => None,
    }
}

/// Inner files that are compared together, while earlier ones are shown.
const TOGETHER: usize = 8;

/// The paths of changed files that seem to be of a format whose tables can be compared.
fn inner(old: &Asset, new: &Asset, found: &[Found<'_, '_>]) -> Vec<[String; 2]> {
    let (Some(old), Some(new)) = (old.reader().archive(), new.reader().archive()) else { return Vec::new() };
    let pairs = found.iter().filter(|found| found.table.name() == archive::FILES).flat_map(|found| &found.pairs);
    let paths = |pair: &Pair| {
        let (old_file, new_file) = (old.file(pair.old? as usize).ok()?, new.file(pair.new? as usize).ok()?);
        // Enough to detect a format; an unreadable file is judged by its name alone.
        let head = |archive, file| archive::head(archive, file, 64).unwrap_or_default();
        let (a, b) = (head(old, &old_file), head(new, &new_file));
        let is_same_format = crate::Format::guess(&old_file.path, &a) == crate::Format::guess(&new_file.path, &b);
        let is_known = crate::Format::guess(&new_file.path, &b).is_some();
        // A moved file has no changes.
        let moved = old_file.crc32.is_some() && (old_file.crc32, old_file.size) == (new_file.crc32, new_file.size);
        (is_known && is_same_format && !moved).then(|| [old_file.path.into_owned(), new_file.path.into_owned()])
    };
    pairs.filter_map(paths).collect()
}

/// Compares files inside of the archives, and shows their differences under their inner address.
fn deep(show: &mut Show<'_>, inner: &[[String; 2]]) -> Result<(), Failure> {
    let (old_outer, new_outer, options) = (show.old, show.new, show.context.options());
    let compare = |[old, new]: &[String; 2]| -> Result<Inner, Error> {
        let old = archive::open_inside(old_outer, old, options)?;
        let new = archive::open_inside(new_outer, new, options)?;
        Ok(Inner::new([old, new], |[old, new]| {
            // No tables, if the two have none in common.
            let tables = diff::tables(old, new, &[]).unwrap_or_default();
            let differences = tables.iter().map(|table| table.find(&Progress::default(), 0)).collect();
            Compared { tables, differences }
        }))
    };
    let all = |paths: &[[String; 2]]| paths.par_iter().map(compare).collect::<Vec<_>>();
    // A single thread shows a file while its decoded bytes are still in the cache.
    let mut chunks = inner.chunks(if threads::count() > 1 { TOGETHER } else { 1 });
    let (mut paths, mut compared) = (chunks.next().unwrap_or_default(), Vec::new());
    compared.extend(all(paths));
    while !paths.is_empty() {
        let (next, mut next_compared) = (chunks.next().unwrap_or_default(), Vec::new());
        let mut shown =
            || paths.iter().zip(compared.drain(..)).try_for_each(|([_, path], inner)| show.inner(path, inner));
        if threads::count() > 1 {
            threads::scope(|scope| {
                scope.spawn(|_| next_compared = all(next));
                shown()
            })?;
        } else {
            shown()?;
            next_compared = all(next);
        }
        (paths, compared) = (next, next_compared);
    }
    Ok(())
}

/// Compares all tables.
fn find(context: &Context, old: &Asset, new: &Asset, tables: &[TableDiff<'_>]) -> Vec<Differences> {
    let bytes = (old.source().bytes().len() as u64) + new.source().bytes().len() as u64;
    let share = bytes.checked_div(tables.len() as u64).unwrap_or(0);
    context.with_progress("comparing", |progress: &Progress| {
        progress.announce(bytes);
        tables.iter().map(|table| table.find(progress, share)).collect()
    })
}

/// The name of a side: as given, with the build if that was not given.
fn label(given: &Path, asset: &Asset) -> String {
    let (name, version) = (given.to_string_lossy(), asset.reader().version());
    let has_builds = asset.reader().archive().is_some_and(|archive| archive.builds().is_some());
    if has_builds && !name.ends_with(&version) { format!("{name}@{version}") } else { name.into_owned() }
}

/// The subject of an entry: the two builds, or else the two names and a hash of the report.
fn subject(sides: &[(&String, &Asset)], html: &[u8]) -> String {
    let has_builds = |asset: &Asset| asset.reader().archive().is_some_and(|archive| archive.builds().is_some());
    if sides.iter().all(|(_, asset)| has_builds(asset)) {
        let builds: Vec<String> =
            sides.iter().map(|(_, asset)| format!("{}@{}", asset.format(), asset.reader().version())).collect();
        return builds.join(" ");
    }
    let names: Vec<&str> = sides.iter().map(|(name, _)| name.as_str()).collect();
    format!("{} {:016x}", names.join(" "), xxh64(html, 0))
}

/// The largest size of a feed in bytes.
const FEED: u64 = 256 << 20;

/// Writes the entry as a new feed, or into the given one.
fn entry(args: &Args, context: &Context, subject: &str, title: &str, html: &[u8]) -> Result<(), Failure> {
    let html = String::from_utf8_lossy(html);
    let entry = Entry { subject, title: &escape(title), updated: SystemTime::now(), html: &html };
    let name = "What changed";
    let Some(to) = &args.feed else {
        let mut out = context.stdout();
        out.write_all(atom::feed(name, &entry).as_bytes())?;
        return Ok(out.flush()?);
    };
    let failed = |error: &Error| Failure::in_file(&to.to_string_lossy(), error);
    let mut state = None;
    let feed = match std::fs::File::open(to) {
        Ok(file) => {
            let meta = file.metadata().map_err(|error| failed(&Error::io("cannot open", error)))?;
            state = meta.is_file().then(|| FileState::of(&meta));
            let mut text = String::new();
            let read = Bounded::new(BufReader::new(file), FEED).read_to_string(&mut text);
            read.map_err(|error| failed(&Error::io("cannot read", error)))?;
            match atom::with_entry(&text, &entry).map_err(|error| failed(&error))? {
                Some(feed) => feed,
                None => {
                    context.note(&to.to_string_lossy(), "it has this entry already");
                    return Ok(());
                }
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => atom::feed(name, &entry),
        Err(error) => return Err(failed(&Error::io("cannot open", error))),
    };
    // A link is kept, and its target is written.
    context.write_back(&resolved(to).unwrap_or_else(|| to.clone()), state, feed.as_bytes())
}
