use super::{Context, Exit, Failure, Format, Outcome, changes, sql};
use crate::archive::{self, Address, Archive};
use crate::asset::Asset;
use crate::diff;
use crate::error::{Error, ErrorKind};
use crate::history::{EntryState, EventKind, History, HistoryEvent};
use crate::refs;
use crate::report::counted;
use crate::table::Value;
use crate::table::glob::Glob;
use crate::threads::prelude::*;
use crate::write::text::{Mark, TextPage};
use assetq_view::page::tables::quoted;
use assetq_view::page::{Page, tables};
use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Ndjson, Format::Csv, Format::Html];

/// Show one entry through all builds: its addition, its changes, its removal
///
/// Builds of a game's folder and of snapshots are ordered by number, other files and folders are taken in the given
/// order. ENTRY is an argument of `cat`: a path, an id, or the key of a record. In an archive it is a file,
/// `FILE:ENTRY` in a file, or an entry of the game's database or its parameters, such as a ship by name or title.
///
/// The rows of -f csv and of --sql have the columns build, change, table, part, field, old and new. `change` is `present` for a row
/// of the first build; `added` or `removed` for a row that the build before lacks, or alone has; and `changed` for a field, with its
/// values in `old` and `new`. Text for people marks them with =, +, - and ~.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq history Aurora wows                            a ship of the parameters, by its title, through all builds
  assetq history Aurora wows@7000000 wows               what changed for it between two builds
  assetq history content/…/JSD011.visual GAME kept      a visual through the builds of a game and its snapshots
  assetq history content/location/harbour/buoy/buoy.geometry wows   a file: its size and CRC
  assetq history GAME.wdb:potion unpacked-1.0/ unpacked-1.1/
  assetq history potion 1.0/item.wdb 1.1/item.wdb 1.2/item.wdb -f csv
  assetq history content/…/JSD011.visual kept --to ship.parquet
  assetq history potion 1.0/item.wdb 1.1/item.wdb --sql \"SELECT build, new FROM history WHERE field = 'u16Price'\"")]
pub(super) struct Args {
    /// The entry; it may also follow the builds
    entry: PathBuf,
    /// Games, snapshots, folders or files: GAME is all of its builds, GAME@BUILD one; BUILD may be a glob
    #[arg(value_name = "DIR", required = true)]
    dirs: Vec<PathBuf>,
    /// Only its rows in this table; may be repeated
    #[arg(long = "table", short, value_name = "TABLE")]
    tables: Vec<String>,
    /// Write the table to this file, with the format of its ending: csv, json, ndjson, parquet, arrow
    #[arg(long, value_name = "FILE", conflicts_with = "sql")]
    to: Option<PathBuf>,
    /// Write over a file that exists
    #[arg(long, requires = "to")]
    force: bool,
    /// Query the table, which is called history, in SQL
    #[arg(long, value_name = "QUERY")]
    sql: Option<String>,
}

struct Step {
    name: String,
    asset: Asset,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let (entry, files) = context.entry_and_files(&args.entry, &args.dirs)?;
    let entry = &*entry.to_string_lossy();
    let steps = steps(&files, context)?;
    let places = places(entry, &steps)?;
    let (mut readable, mut builds): (Vec<&Step>, _) = (steps.iter().collect(), Vec::new());
    for place in &places {
        builds = states(&mut readable, place, args, context);
        if is_absent(&builds)
            && let Some(name) = own_name(&readable, place, context)?
        {
            context.note(entry, &format!("it is {name}"));
            builds = states(&mut readable, &EntryPlace { entry: name.into(), ..*place }, args, context);
        }
        if !is_absent(&builds) {
            break;
        }
    }
    steps.iter().for_each(|step| context.warn(&step.asset));
    if is_absent(&builds) {
        let hint = match (&*steps, Glob::is_glob(entry)) {
            ([old, .., new], true) => {
                let [old, new] = [old, new].map(|step| quoted(step.asset.source().name()));
                format!("; history follows one entry, and assetq diff {old} {new} compares all")
            }
            _ => hint(&steps, &places, context),
        };
        context.not_found(&format!("{entry:?} is in none of {}{hint}", counted(builds.len(), "build")));
        return Ok(());
    }
    let history = History::new(entry, &builds);
    match (&args.sql, &args.to, context.format()) {
        (Some(query), ..) => sql::ask("history", history.into(), query, context)?,
        (_, Some(to), _) => super::export::whole_table(&history.into(), to, args.force, context)?,
        (None, None, Format::Text) => text(&history, context)?,
        (None, None, Format::Html) => html(&history, entry, builds.len(), context)?,
        (None, None, _) => rows(&history, context)?,
    }
    Ok(())
}

/// All builds and files, in order.
fn steps(dirs: &[PathBuf], context: &Context) -> Result<Vec<Step>, Failure> {
    let mut steps: Vec<(Option<u64>, Step)> = Vec::new();
    for dir in dirs {
        let address = Address::parse(dir);
        let wanted = address.build().filter(|build| Glob::is_glob(build)).map(Glob::smart_case).transpose()?;
        let asset = context.open_side(if wanted.is_some() { address.outer() } else { dir })?;
        let archive = asset.reader().archive().and_then(|archive| archive.builds());
        if wanted.is_some() && archive.is_none() {
            let what = format!("{}: a {} file has no builds", asset.source().name(), asset.format());
            return Err(Failure::usage(what));
        }
        let Some(builds) = archive.filter(|_| wanted.is_some() || address.inner().is_none()) else {
            steps.push((None, Step { name: dir.to_string_lossy().into_owned(), asset }));
            continue;
        };
        let own = asset.reader().version();
        let names = match (address.build(), &wanted) {
            (Some(_), None) => vec![own.clone()],
            (_, wanted) => {
                let names = builds.build_names().iter();
                names.filter(|name| wanted.as_ref().is_none_or(|glob| glob.is_match(name))).cloned().collect()
            }
        };
        if names.is_empty() {
            return Err(Failure::new(Exit::NotFound, format!("{}: no build matches", dir.display())));
        }
        for name in names {
            let number = name.parse().ok();
            // If several folders contain a build, the first is used.
            if number.is_some() && steps.iter().any(|(other, _)| *other == number) {
                continue;
            }
            let place = address.at_build(Some(name.clone())).archive_path();
            let asset = match address.inner() {
                Some(inner) => context.open(&Address::within(&place, inner))?,
                None if name == own => asset.clone(),
                None => context.open(&place)?,
            };
            steps.push((number, Step { name, asset }));
        }
    }
    if steps.iter().all(|(number, _)| number.is_some()) {
        steps.sort_by_key(|(number, _)| *number);
    }
    Ok(steps.into_iter().map(|(_, step)| step).collect())
}

/// A place where the entry may be.
struct EntryPlace<'e> {
    /// The file in the archives; `None` if the entry is itself a file of the archives, and without archives.
    inner: Option<&'e str>,
    /// The name of the entry there.
    entry: Cow<'e, str>,
}

impl EntryPlace<'_> {
    /// The file of a build that may have the entry, if it can be opened.
    fn file(&self, step: &Step, context: &Context) -> Option<Asset> {
        match self.inner {
            Some(inner) => archive::open_inside(&step.asset, inner, context.options()).ok(),
            None => Some(step.asset.clone()),
        }
    }
}

/// The places where the entry may be: a file that it names, else the files of the archives that describe the others, their database
/// and their parameters.
fn places<'e>(entry: &'e str, steps: &'e [Step]) -> Result<Vec<EntryPlace<'e>>, Failure> {
    let archives: Vec<_> =
        steps.iter().filter_map(|step| Some((&*step.name, step.asset.reader().archive()?))).collect();
    if archives.is_empty() || are_with(&archives, entry)? {
        return Ok(vec![EntryPlace { inner: None, entry: entry.into() }]);
    }
    for (at, mark) in entry.match_indices(archive::MARK) {
        if are_with(&archives, &entry[..at])? {
            return Ok(vec![EntryPlace { inner: Some(&entry[..at]), entry: entry[at + mark.len()..].into() }]);
        }
    }
    let database = archives.iter().find_map(|(_, archive)| archive.database());
    let parameters = archives.iter().find_map(|(_, archive)| archive.parameters());
    let mut places = Vec::new();
    for inner in [database, parameters].into_iter().flatten() {
        if are_with(&archives, inner)? {
            places.push(EntryPlace { inner: Some(inner), entry: entry.into() });
        }
    }
    Ok(if places.is_empty() { vec![EntryPlace { inner: None, entry: entry.into() }] } else { places })
}

/// The entry in all builds. Reports the builds that cannot be read, and drops them.
fn states(steps: &mut Vec<&Step>, place: &EntryPlace<'_>, args: &Args, context: &Context) -> Vec<(String, EntryState)> {
    let options = context.options();
    let states = context.with_progress("history", |progress| {
        progress.announce(steps.len() as u64);
        let states = steps.par_iter().map(|step| {
            let state = state(step, place, args, options).map_err(Failure::of_file(&step.name));
            progress.advance(1);
            state
        });
        states.collect::<Vec<_>>()
    });
    let mut builds = Vec::new();
    for (step, state) in std::mem::take(steps).into_iter().zip(states) {
        // Nothing is known of a build that cannot be read: the entry counts neither as present nor as missing.
        if let Some(state) = context.or_failed(state) {
            builds.push((step.name.clone(), state));
            steps.push(step);
        }
    }
    builds
}

fn is_absent(builds: &[(String, EntryState)]) -> bool {
    builds.iter().all(|(_, state)| state.is_empty())
}

/// The name that the newest build with the entry has for it, if the user named it otherwise, such as by a title.
fn own_name(steps: &[&Step], place: &EntryPlace<'_>, context: &Context) -> Result<Option<String>, Failure> {
    for step in steps.iter().rev() {
        let Some(file) = place.file(step, context) else { continue };
        let Some(entries) = refs::entries(&file) else { continue };
        let found = entries.resolve(&place.entry, true, &mut |_| ()).map_err(Failure::of_file(&step.name))?;
        let name = found.and_then(|found| found.path).filter(|name| **name != *place.entry);
        if name.is_some() {
            return Ok(name);
        }
    }
    Ok(None)
}

/// Entries of the builds that the user may have meant, or the command that finds parts of names, as the end of a message.
fn hint(steps: &[Step], places: &[EntryPlace<'_>], context: &Context) -> String {
    let mut hints = places.iter().flat_map(|place| steps.iter().rev().map(move |step| (place, step)));
    hints
        .find_map(|(place, step)| {
            let file = place.file(step, context);
            let hint = context.hint(file.as_ref().unwrap_or(&step.asset), &place.entry);
            (!hint.is_empty()).then_some(hint)
        })
        .unwrap_or_else(|| "; 'assetq find TEXT FILE...' finds parts of names and texts".to_owned())
}

/// Whether one of the named archives has a file at `path`.
fn are_with(archives: &[(&str, &dyn Archive)], path: &str) -> Result<bool, Failure> {
    for (name, archive) in archives {
        if archive.find(path).map_err(Failure::of_file(name))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The entry in one build.
fn state(step: &Step, place: &EntryPlace<'_>, args: &Args, options: &crate::Options) -> crate::Result<EntryState> {
    let (inner, entry) = (place.inner, &*place.entry);
    diff::is_whole(&step.asset)?;
    match (inner, step.asset.reader().archive()) {
        (Some(inner), Some(archive)) => match archive.find(inner)? {
            None => Ok(EntryState::default()),
            Some(_) => EntryState::read(&archive::open_inside(&step.asset, inner, options)?, entry, &args.tables),
        },
        (Some(inner), None) => {
            let what = format!("{inner} in what is no archive").into();
            Err(Error::of_part(ErrorKind::Unsupported { what }, ""))
        }
        // Other tables of an archive describe it as a whole.
        (None, Some(archive)) => EntryState::read_file(archive, entry),
        (None, None) => EntryState::read(&step.asset, entry, &args.tables),
    }
}

fn rows(history: &History, context: &Context) -> Result<(), Failure> {
    use crate::reader::Reader as _;
    for table in history.tables() {
        let columns: Vec<usize> = (0..table.columns().len()).collect();
        let mut out = context.rows(table.columns())?;
        let mut cursor = table.cursor(0);
        while cursor.advance()? {
            out.row_of(&*cursor, &columns, |error| context.damaged("history", &error))?;
        }
        out.finish()?;
    }
    Ok(())
}

/// Writes the history as a page: its table, with filters and order.
fn html(history: &History, entry: &str, builds: usize, context: &Context) -> Result<(), Failure> {
    use crate::reader::Reader as _;
    let mut out = context.stdout();
    let mut page = Page::new(&mut out, entry, &format!("history · {builds} builds"))?;
    tables::add(tables::TableLimits::SHOWN, &mut page, &history.tables(), false, entry, &mut |errors, _| {
        errors.iter().for_each(|error| context.damaged("history", error));
    })?;
    page.finish()?;
    Ok(out.flush()?)
}

/// Writes the history for people: a paragraph for each build with a change.
fn text(history: &History, context: &Context) -> Result<(), Failure> {
    /// Rows of a table that are shown of an entry that is added or removed as a whole.
    const SHOWN: usize = 8;
    let (mut page, mut is_counted) = (context.page(), false);
    for of_build in history.events().chunk_by(|a, b| a.build == b.build) {
        let Some(first) = of_build.first() else { continue };
        page.put_marked(&first.build, Mark::Bold)?;
        page.end_line()?;
        let is_whole = first.kind != EventKind::Changed && of_build.iter().all(|event| event.kind == first.kind);
        for rows in of_build.chunk_by(|a, b| a.table == b.table) {
            if is_whole && rows.len() > SHOWN {
                is_counted = true;
                let (mark, colour) = mark(first.kind);
                let table = rows.first().map_or("", |event| &event.table);
                page.put_marked(&format!("  {mark} {table}"), colour)?;
                page.line(&format!("  {} rows", rows.len()))?;
                continue;
            }
            rows.iter().try_for_each(|event| event_line(&mut page, event))?;
        }
    }
    page.flush()?;
    if is_counted {
        context.say("rows of long tables are counted; -f csv lists them");
    }
    Ok(())
}

const fn mark(kind: EventKind) -> (&'static str, Mark) {
    match kind {
        EventKind::Present => ("=", Mark::Bold),
        EventKind::Added => ("+", Mark::Green),
        EventKind::Removed => ("-", Mark::Red),
        EventKind::Changed => ("~", Mark::Yellow),
    }
}

fn event_line(page: &mut TextPage<impl Write>, event: &HistoryEvent) -> Result<(), Failure> {
    let row = if event.part.is_empty() { event.table.clone() } else { format!("{}  {}", event.table, event.part) };
    let (mark, colour) = mark(event.kind);
    page.put_text("  ")?;
    page.put_marked(&format!("{mark} {row}"), colour)?;
    match &event.field {
        Some(field) => {
            let (old, new) = (&event.old, &event.new);
            let by = changes::by(old, new);
            page.put_text(&format!("  {field}: {} -> {}{by}", changes::text(old), changes::text(new)))?;
        }
        None => {
            let fields = if event.kind == EventKind::Removed { &event.old } else { &event.new };
            if let Value::Map(fields) = fields {
                for (name, value) in fields {
                    page.put_text(&format!("  {name}={}", changes::text(value)))?;
                }
            }
        }
    }
    Ok(page.end_line()?)
}
