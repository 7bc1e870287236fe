mod args;
mod condition;
mod page;
mod show;

use super::changes::{ChangedTable, print_patch, side_of};
use super::output_files::check_patch_name;
use super::{Context, Exit, Failure, Format, Outcome};
use crate::archive::{self, Archive};
use crate::asset::Asset;
use crate::diff::{self, Differences, TableDiff};
use crate::error::Error;
use crate::report::Progress;
use crate::scene::figure::Figure;
use crate::scene::two_versions::TwoVersions;
use crate::scene::{Drawing, Options, Shapes};
use crate::threads::{self, prelude::*};
pub(super) use args::DiffArgs;
use condition::Condition;
pub(super) use page::short_names;
use show::{Compared, Inner, Out, Show, unfiltered};
use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;

/// The values of `-f` that the command takes: all.
pub(super) const FORMATS: &[Format] =
    &[Format::Text, Format::Json, Format::Ndjson, Format::Csv, Format::Markdown, Format::Html, Format::Patch];

pub(super) fn run(args: &DiffArgs, context: &Context) -> Outcome {
    let [old, new] =
        with_tables([context.open_side(&args.old)?, context.open_side(&args.new)?], &args.tables, context)?;
    if context.format() == Format::Patch {
        args.to.as_deref().map_or(Ok(()), check_patch_name)?;
    }
    context.divert(args.to.as_deref(), args.force, || print(args, context, &old, &new))
}

/// The files with the tables to compare: the two sides, or the files of two games that describe the others.
fn with_tables(sides: [Asset; 2], tables: &[String], context: &Context) -> Result<[Asset; 2], Failure> {
    let lacks = |table: &&String| sides.iter().all(|side| side.reader().table(table).is_none());
    let Some(table) = tables.iter().find(lacks) else { return Ok(sides) };
    let inside = [context.inside_with_table(&sides[0], table)?, context.inside_with_table(&sides[1], table)?];
    Ok(match inside {
        [Some(old), Some(new)] => [old, new],
        _ => sides,
    })
}

fn print(args: &DiffArgs, context: &Context, old: &Asset, new: &Asset) -> Outcome {
    if context.format() == Format::Patch {
        if print_patch(old, new, &args.tables, context)? {
            context.worsen(Exit::NotFound);
        }
        return Ok(());
    }
    let tables = diff::tables(old, new, &args.tables)?;
    let mut condition = args.condition.as_deref().map(Condition::parse).transpose()?;
    let filters = match &mut condition {
        Some(condition) if args.tables.is_empty() => condition.bind(None, &tables),
        Some(condition) => condition.bind_all(&tables)?,
        None => unfiltered(&tables),
    };
    let is_archive = new.reader().archive().is_some();
    // Files in archives may have the columns that no table of the archives has.
    if let Some(mistake) = condition.take_if(|_| !args.deep).map(|condition| condition.checked(is_archive)) {
        condition = Some(mistake?);
    }
    let all = find(context, old, new, &tables);
    let (old_name, new_name) = (label(&args.old, old), label(&args.new, new));
    let is_page = context.format() == Format::Html && !args.stat;
    let out = Out { rows: None, page: is_page.then(page::Tables::default) };
    let mut show = Show { args, context, old, new, out, differing: 0, meant: 0, condition };
    let found = show.found(None, &tables, &all, &filters);
    context.notes(new.source().name(), &diff::notes(old, new));
    context.warn(old);
    context.warn(new);
    let inner = if args.deep { inner(old, new, &tables, &all, &found) } else { Vec::new() };
    show.show(found)?;
    for (side, note) in tables.iter().flat_map(TableDiff::notes) {
        context.note(side_of(side, old, new).source().name(), &note);
    }
    deep(&mut show, &inner)?;
    let Show { out, differing, meant, condition, .. } = show;
    if let Some(condition) = condition {
        let condition = condition.checked(false)?;
        condition.note(meant == 0).iter().for_each(|note| context.note(new.source().name(), note));
    }
    let Out { rows, page } = out;
    if let Some(mut rows) = rows {
        rows.finish()?;
    }
    if let Some(tables) = page {
        let mut out = context.stdout();
        let title = page::title(&old_name, &new_name);
        let shapes = shapes(old, context).and_then(|old| Some((old, shapes(new, context)?)));
        let overlay = shapes.as_ref().and_then(|(old, new)| overlay(&**old, &**new));
        tables.write(&mut out, &title, overlay.as_ref())?;
        out.flush()?;
    }
    if differing == 0 && args.condition.is_none() && args.tables.is_empty() && !context.has_failed() {
        note_bytes(old, new, context);
    }
    match (&args.condition, differing, meant) {
        (Some(condition), 1.., 0) => context.not_found(&format!("nothing that differs matches {condition:?}")),
        // Rows that could not be read may differ.
        (_, 0, _) if matches!(context.format(), Format::Text | Format::Markdown) && !context.has_failed() => {
            context.print_line("no differences")?;
        }
        _ => {}
    }
    if differing > 0 {
        context.worsen(Exit::NotFound);
    }
    Ok(())
}

/// Notes that bytes of two files differ though no row does: bytes of a header, or between records.
fn note_bytes(old: &Asset, new: &Asset, context: &Context) {
    let [old, new_bytes] = [old, new].map(|side| side.source().bytes());
    if old == new_bytes {
        return;
    }
    let equal = old.iter().zip(new_bytes).take_while(|(old, new)| old == new).count();
    context.note(new.source().name(), &format!("no row differs, but bytes do, the first at offset {equal:#x}"));
}

/// The shapes of a file, if they can be drawn. What cannot be drawn differs in tables.
fn shapes<'a>(asset: &'a Asset, context: &Context) -> Option<Box<dyn Drawing + 'a>> {
    let options = Options { lod: None, ..Options::default() };
    let path = asset.source().path().unwrap_or_else(|| Path::new(""));
    super::export::draw(asset, asset.reader().facet::<dyn Shapes>()?, path, std::iter::empty(), options, context).ok()
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

/// A changed file in both archives.
struct InnerFile {
    paths: [String; 2],
    /// Whether the condition selects the file, and with it all rows in it.
    is_selected: bool,
}

/// The changed files that seem to be of a format whose tables can be compared.
fn inner(
    old: &Asset,
    new: &Asset,
    tables: &[TableDiff<'_>],
    all: &[Differences],
    found: &[ChangedTable<'_, '_>],
) -> Vec<InnerFile> {
    let (Some(old), Some(new)) = (old.reader().archive(), new.reader().archive()) else { return Vec::new() };
    let is_of_files = |table: &TableDiff<'_>| table.name() == archive::FILES;
    let selected: HashSet<_> = found
        .iter()
        .filter(|found| is_of_files(found.table))
        .flat_map(|found| &found.pairs)
        .filter_map(|pair| pair.new)
        .collect();
    let pairs = tables.iter().zip(all).filter(|(table, _)| is_of_files(table)).flat_map(|(_, found)| found.pairs());
    let changed = pairs.filter_map(|pair| {
        let (old_file, new_file) = (old.file(pair.old? as usize).ok()?, new.file(pair.new? as usize).ok()?);
        // A moved file has no changes.
        let moved = old_file.crc32.is_some() && (old_file.crc32, old_file.size) == (new_file.crc32, new_file.size);
        let is_comparable = !moved && format_of(old, &old_file)? == format_of(new, &new_file)?;
        let is_selected = selected.contains(&pair.new?);
        let paths = [old_file.path.into_owned(), new_file.path.into_owned()];
        is_comparable.then_some(InnerFile { paths, is_selected })
    });
    changed.collect()
}

/// The format that a file of an archive seems to have. An unreadable file is judged by its name alone.
fn format_of(archive: &dyn Archive, file: &archive::File<'_>) -> Option<crate::Format> {
    crate::Format::guess(&file.path, &archive::head(archive, file, 64).unwrap_or_default())
}

/// Compares files inside of the archives, and shows their differences under their inner address.
fn deep(show: &mut Show<'_>, inner: &[InnerFile]) -> Result<(), Failure> {
    let (archives, options) = ([show.old, show.new], show.context.options());
    // A single thread shows a file while its decoded bytes are still in the cache.
    let chunks = inner.chunks(if threads::count() > 1 { TOGETHER } else { 1 });
    let (mut files, mut compared): (&[InnerFile], _) = (&[], Vec::new());
    for next in chunks.chain([&[][..]]) {
        let mut next_compared = Vec::new();
        if threads::count() > 1 {
            threads::scope(|scope| {
                scope.spawn(|_| next_compared = compare(archives, next, options));
                show_inner(show, files, compared)
            })?;
        } else {
            show_inner(show, files, compared)?;
            next_compared = compare(archives, next, options);
        }
        (files, compared) = (next, next_compared);
    }
    Ok(())
}

fn show_inner(show: &mut Show<'_>, files: &[InnerFile], compared: Vec<Result<Inner, Error>>) -> Result<(), Failure> {
    files.iter().zip(compared).try_for_each(|(file, inner)| show.inner(&file.paths[1], file.is_selected, inner))
}

fn compare([old, new]: [&Asset; 2], files: &[InnerFile], options: &crate::Options) -> Vec<Result<Inner, Error>> {
    let compared = files.par_iter().map(|InnerFile { paths: [old_path, new_path], .. }| {
        let old = archive::open_inside(old, old_path, options)?;
        let new = archive::open_inside(new, new_path, options)?;
        diff::is_whole(&old).and_then(|()| diff::is_whole(&new))?;
        Ok(Inner::new([old, new], |[old, new]| {
            // No tables, if the two have none in common.
            let tables = diff::tables(old, new, &[]).unwrap_or_default();
            let differences = tables.iter().map(|table| table.find(&Progress::default(), 0)).collect();
            Compared { tables, differences }
        }))
    });
    compared.collect()
}

fn find(context: &Context, old: &Asset, new: &Asset, tables: &[TableDiff<'_>]) -> Vec<Differences> {
    let bytes = (old.source().bytes().len() as u64) + new.source().bytes().len() as u64;
    let share = bytes / tables.len().max(1) as u64;
    context.with_progress("comparing", |progress: &Progress| {
        progress.announce(bytes);
        tables.iter().map(|table| table.find(progress, share)).collect()
    })
}

/// The name of a side: as given, with the build if that was not given.
fn label(given: &Path, asset: &Asset) -> String {
    let (name, version) = (given.to_string_lossy(), asset.reader().version());
    if has_builds(asset) && !name.ends_with(&version) { format!("{name}@{version}") } else { name.into_owned() }
}

fn has_builds(asset: &Asset) -> bool {
    asset.reader().archive().is_some_and(|archive| archive.builds().is_some())
}
