mod html;
mod page;

use super::output::Stdout;
use super::{Context, Exit, Failure, Format, Outcome};
use crate::archive::{self, Archive};
use crate::ask::diff::{self, Change, DifferenceKind as Happened, Differences, Pair, Side, TableDiff};
use crate::asset::Asset;
use crate::codec::xxh64;
use crate::error::Error;
use crate::report::Progress;
use crate::scene::figure::Figure;
use crate::scene::two_versions::TwoVersions;
use crate::scene::{Drawing, Options};
use crate::source::FileState;
use crate::source::bounded::Bounded;
use crate::table::filter::{Bound, Filter};
use crate::table::{Column, Kind, Value};
use crate::threads::{self, prelude::*};
use crate::write::atom::{self, Entry};
use crate::write::rows::RowWriter;
use crate::write::text::{Mark, Page, escape};
use self_cell::self_cell;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::io::{BufReader, Read as _, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Show what differs between two files, builds or folders
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Rows are paired by what they are known by (path, name, id), wherever they lie. Exit code 0: no difference, 1: some. With
-f patch, 5: the patch is good, and leaves some rows that no patch can tell of, which are counted on standard error.

Examples:
  assetq diff old/assets.bin new/assets.bin          by folder, with the fields that changed
  assetq diff old/assets.bin new/assets.bin --stat   how many, by table and folder or type
  assetq diff OLD NEW -t resources -w 'type = \"VisualPrototype\"'
  assetq diff 0.10.2/CM001.geometry 0.11.5/CM001.geometry
  assetq diff old.wdb new.wdb -f json                objects of {table, change, key, old, new}
  assetq diff old.wdb new.wdb -f markdown            for a wiki or a post
  assetq diff old.wdb new.wdb -f patch > mod.ndjson   what `assetq patch` takes, for this file or a later one
  assetq diff GAME@13015811 GAME -f html > new.html  a page by itself, fields side by side
  assetq diff GAME@13015811 GAME --feed builds.xml   an entry more in a feed, unless it has it
  assetq diff GAME@13015811 GAME --deep              two builds: their files, and what changed in those
  assetq diff old/ new/ --stat --by folder,kind      two folders, by folder and by ending")]
pub(super) struct Args {
    /// The old file
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The new file
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Only this table, even if it is not compared by default; may be repeated (`assetq info FILE` lists them)
    #[arg(long = "table", short, value_name = "TABLE")]
    tables: Vec<String>,
    /// Only rows that match this condition in one of the files, such as 'type = "VisualPrototype"'; tables without its
    /// columns are skipped
    #[arg(long = "where", short = 'w', value_name = "CONDITION")]
    condition: Option<String>,
    /// Only count them, by table and by folder or type
    #[arg(long)]
    stat: bool,
    /// The groups of `--stat`: the folder, the kind (a type, or the ending of a file), or both. Default: the type if
    /// rows have one, else the folder
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',', requires = "stat")]
    by: Vec<By>,
    /// The depth of the folders of `--stat`, from the topmost one on
    #[arg(long, value_name = "N", default_value_t = 4, requires = "stat")]
    depth: usize,
    /// Show at most this many rows of each table
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    /// For archives, also compare changed files of known formats
    #[arg(long)]
    deep: bool,
    /// Add the differences as an entry to this Atom feed, or start one; a feed that has the entry does not change
    #[arg(long, value_name = "FILE", conflicts_with = "stat")]
    feed: Option<PathBuf>,
}

/// A property that rows are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum By {
    /// The folder of a path
    Folder,
    /// The type of a record, or the ending of a file's name
    Kind,
}

/// A table, and the pairs of its selected rows that differ.
struct Found<'d, 'a> {
    /// Its name, after the path of its file if that is in an archive.
    name: String,
    table: &'d TableDiff<'a>,
    pairs: Vec<Pair>,
}

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

/// Tables of two files, and the differences of each.
struct Compared<'a> {
    tables: Vec<TableDiff<'a>>,
    differences: Vec<Differences>,
}

self_cell!(
    /// Two files inside of the archives, old and new, with their tables, which are built once for comparison and
    /// output.
    struct Inner {
        owner: [Asset; 2],
        #[covariant]
        dependent: Compared,
    }
);

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

fn side_of<'s>(side: Side, old: &'s Asset, new: &'s Asset) -> &'s Asset {
    if side == Side::Old { old } else { new }
}

type Filters = [Option<Bound>; 2];

/// The condition for each table and side. A table without its columns is skipped, unless it was named.
fn bind(args: &Args, tables: &[TableDiff<'_>]) -> Result<Vec<Option<Filters>>, Failure> {
    let Some(condition) = &args.condition else { return Ok(tables.iter().map(|_| Some([None, None])).collect()) };
    let filter = Filter::parse(condition)?;
    let mut first = None;
    let mut filters = Vec::new();
    for table in tables {
        let bind = |side| table.side(side).map(|table| filter.bind(table.columns())).transpose();
        match (bind(Side::Old), bind(Side::New)) {
            (Ok(old), Ok(new)) => filters.push(Some([old, new])),
            (Err(error), _) | (_, Err(error)) if args.tables.is_empty() => {
                first.get_or_insert(error);
                filters.push(None);
            }
            (Err(error), _) | (_, Err(error)) => return Err(error.into()),
        }
    }
    match first {
        Some(error) if filters.iter().all(Option::is_none) => Err(error.into()),
        _ => Ok(filters),
    }
}

/// Compares all tables.
fn find(context: &Context, old: &Asset, new: &Asset, tables: &[TableDiff<'_>]) -> Vec<Differences> {
    let bytes = (old.source().bytes().len() as u64).saturating_add(new.source().bytes().len() as u64);
    let share = bytes.checked_div(tables.len() as u64).unwrap_or(0);
    context.with_progress("comparing", |progress: &Progress| {
        progress.announce(bytes);
        tables.iter().map(|table| table.find(progress, share)).collect()
    })
}

fn note_columns(context: &Context, old: &Asset, new: &Asset, table: &TableDiff<'_>) {
    for (columns, asset) in table.lone_columns().iter().zip([old, new]) {
        if !columns.is_empty() {
            let name = asset.source().name();
            let note = format!("only here has {} {}: not compared", table.name(), columns.join(", "));
            context.note(name, &note);
        }
    }
}

/// The folder of a path.
fn folder(key: &str) -> &str {
    key.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The ending of the last part of a path, with its dot.
fn ending(key: &str) -> &str {
    let name = key.rsplit('/').next().unwrap_or(key);
    name.rfind('.').and_then(|at| name.get(at..)).unwrap_or("")
}

/// The first `depth` folders of a path.
fn top(folder: &str, depth: usize) -> &str {
    let end = folder.match_indices('/').nth(depth.saturating_sub(1)).map(|(at, _)| at);
    end.and_then(|end| folder.get(..end)).unwrap_or(folder)
}

/// The outputs of differences, once for all files.
#[derive(Default)]
struct Out {
    /// Rows for machines, once there are any.
    rows: Option<RowWriter<Stdout>>,
    report: Report,
    /// Tables of the report.
    tables: usize,
}

/// A report in HTML.
#[derive(Default)]
enum Report {
    #[default]
    None,
    /// A page on standard output.
    Page(page::Tables),
    /// The content of a feed's entry.
    Entry(Vec<u8>),
}

/// The name of a side: as given, with the build if that was not given.
fn label(given: &Path, asset: &Asset) -> String {
    let (name, version) = (given.to_string_lossy(), asset.reader().version());
    let has_builds = asset.reader().archive().is_some_and(Archive::has_builds);
    if has_builds && !name.ends_with(&version) { format!("{name}@{version}") } else { name.into_owned() }
}

/// The subject of an entry: the two builds, or else the two names and a hash of the report.
fn subject(sides: &[(&String, &Asset)], html: &[u8]) -> String {
    let has_builds = |asset: &Asset| asset.reader().archive().is_some_and(Archive::has_builds);
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
    context.write_back(&to.canonicalize().unwrap_or_else(|_| to.clone()), state, feed.as_bytes())
}

struct Show<'s> {
    args: &'s Args,
    context: &'s Context,
    old: &'s Asset,
    new: &'s Asset,
    out: Out,
    /// Rows that differ.
    differing: usize,
    /// Selected rows that differ.
    meant: usize,
}

impl Show<'_> {
    /// The selected rows of the tables that differ. `path` is the path of the files in their archives.
    fn found<'d, 'a>(
        &mut self,
        path: Option<&str>,
        tables: &'d [TableDiff<'a>],
        all: &[Differences],
        filters: &[Option<Filters>],
    ) -> Vec<Found<'d, 'a>> {
        let (context, old, new) = (self.context, self.old, self.new);
        let mut found = Vec::new();
        for ((table, differences), filter) in tables.iter().zip(all).zip(filters) {
            for (side, error) in &differences.faults {
                context.damaged(side_of(*side, old, new).source().name(), error);
            }
            context.more_damaged(differences.fault_count.saturating_sub(differences.faults.len() as u64));
            let Some(filter) = filter else { continue };
            let mut pairs: Vec<Pair> = differences.pairs().collect();
            self.differing = self.differing.saturating_add(pairs.len());
            if self.args.condition.is_some() {
                pairs.retain(|pair| {
                    table.matches(*pair, filter).unwrap_or_else(|error| {
                        context.damaged(new.source().name(), &error);
                        false
                    })
                });
            }
            self.meant = self.meant.saturating_add(pairs.len());
            note_columns(context, old, new, table);
            let name = path.map_or_else(|| table.name().to_owned(), |path| format!("{path}:{}", table.name()));
            found.push(Found { name, table, pairs });
        }
        found
    }

    /// Shows the differences of two files inside of the archives.
    fn inner(&mut self, path: &str, inner: Result<Inner, Error>) -> Result<(), Failure> {
        let (args, context) = (self.args, self.context);
        let inner = match inner {
            Ok(inner) => inner,
            Err(error) => {
                context.failed(&Failure::in_file(path, &error));
                return Ok(());
            }
        };
        inner.with_dependent(|[old, new], Compared { tables, differences }| {
            let Ok(filters) = bind(args, tables) else { return Ok(()) };
            let out = std::mem::take(&mut self.out);
            let mut inside = Show { args, context, old, new, out, differing: 0, meant: 0 };
            let found = inside.found(Some(path), tables, differences, &filters);
            inside.show(found)?;
            self.out = std::mem::take(&mut inside.out);
            self.meant = self.meant.saturating_add(inside.meant);
            Ok(())
        })
    }

    fn show(&mut self, mut found: Vec<Found<'_, '_>>) -> Result<(), Failure> {
        match self.context.format() {
            _ if self.args.stat => self.stat(&found),
            _ if !matches!(self.out.report, Report::None) => self.html(&found),
            Format::Text => self.text(&mut found),
            Format::Markdown => self.markdown(&found),
            _ => self.rows(&found),
        }
    }

    /// The writer of rows with these columns, which all tables share.
    fn out(&mut self, columns: &[Column]) -> Result<RowWriter<Stdout>, Failure> {
        self.out.rows.take().map_or_else(|| self.context.rows(columns), Ok)
    }

    fn change<'d>(&self, table: &'d TableDiff<'_>, pair: Pair) -> Change<'d> {
        table.change(pair, &mut |side, error| {
            self.context.damaged(side_of(side, self.old, self.new).source().name(), &error);
        })
    }

    /// The text of a key.
    fn key(&self, table: &TableDiff<'_>, pair: Pair) -> String {
        match table.key(pair) {
            Ok(key) => text(&key),
            Err(error) => {
                self.context.damaged(self.new.source().name(), &error);
                String::new()
            }
        }
    }

    fn limit(&self) -> usize {
        self.args.limit.unwrap_or(usize::MAX)
    }

    /// Rows for machines.
    fn rows(&mut self, found: &[Found<'_, '_>]) -> Result<(), Failure> {
        let mut out = self.out(&columns())?;
        for Found { name, table, pairs } in found {
            for &pair in pairs.iter().take(self.limit()) {
                let change = self.change(table, pair);
                out.row(&cells(name, pair, change))?;
            }
        }
        self.out.rows = Some(out);
        Ok(())
    }

    /// Counts the rows that differ, by table and by the requested groups.
    fn stat(&mut self, found: &[Found<'_, '_>]) -> Result<(), Failure> {
        let text = |name| Column::new(name, Kind::Text);
        let names: &[&'static str] = match &*self.args.by {
            [] => &["group"],
            [By::Folder] => &["folder"],
            [By::Kind] => &["kind"],
            _ => &["folder", "kind"],
        };
        let counts = ["added", "removed", "changed"].map(|name| Column::new(name, Kind::Uint));
        let columns: Vec<Column> =
            [text("table")].into_iter().chain(names.iter().map(|name| text(name))).chain(counts).collect();
        let mut out = self.out(&columns)?;
        for Found { name, table, pairs } in found {
            let mut groups: BTreeMap<Vec<String>, [u64; 3]> = BTreeMap::new();
            for &pair in pairs {
                let (what, key) =
                    (table.what(pair), if table.has_paths() { self.key(table, pair) } else { String::new() });
                let group = |name: &&str| match (*name, &what) {
                    ("group" | "kind", Some(what)) => what.clone(),
                    ("kind", None) => ending(&key).to_owned(),
                    _ => top(folder(&key), self.args.depth).to_owned(),
                };
                let group: Vec<String> = names.iter().map(group).collect();
                if let Some(count) = groups.entry(group).or_default().get_mut(pair.kind() as usize) {
                    *count = count.saturating_add(1);
                }
            }
            for (group, counts) in groups {
                let group = group.into_iter().map(|group| if group.is_empty() { Value::Null } else { group.into() });
                let counts = counts.into_iter().map(Value::from);
                out.row(&[Value::text(name)].into_iter().chain(group).chain(counts).collect::<Vec<_>>())?;
            }
        }
        self.out.rows = Some(out);
        Ok(())
    }

    /// Text for people: by table and folder.
    fn text(&self, found: &mut [Found<'_, '_>]) -> Result<(), Failure> {
        let mut page = self.context.page();
        // A path that was added or removed with its resource is shown with the resource, with its type.
        let of_resources: HashSet<(Happened, String)> = found
            .iter()
            .filter(|found| found.table.name() == "resources")
            .flat_map(|found| found.pairs.iter().map(|&pair| (pair.kind(), self.key(found.table, pair))))
            .filter(|(kind, _)| *kind != Happened::Changed)
            .collect();
        for Found { name, table, pairs } in found {
            if pairs.is_empty() {
                continue;
            }
            let count = |kind: Happened| pairs.iter().filter(|pair| pair.kind() == kind).count();
            let counts = [Happened::Added, Happened::Removed, Happened::Changed].map(|kind| (kind, count(kind)));
            let counts: Vec<String> = counts
                .iter()
                .filter(|(_, count)| *count > 0)
                .map(|(kind, count)| format!("{count} {}", kind.name()))
                .collect();
            page.put_marked(name, Mark::Bold)?;
            page.put(&format!(": {}", counts.join(", ")))?;
            let mut at = None;
            let mut shown: Vec<(String, Pair)> = Vec::new();
            if table.has_paths() {
                shown.extend(pairs.iter().map(|&pair| (self.key(table, pair), pair)));
                shown.sort_by(|(a, _), (b, _)| (folder(a), a).cmp(&(folder(b), b)));
            }
            if table.name() == "paths" {
                shown.retain_mut(|(key, pair)| {
                    let told = (pair.kind(), std::mem::take(key));
                    let again = of_resources.contains(&told);
                    *key = told.1;
                    !again
                });
                let told = pairs.len().saturating_sub(shown.len());
                if told > 0 {
                    page.put(&format!("; {told} of them are shown among resources"))?;
                }
            }
            page.end_line()?;
            let sorted = shown.iter().map(|(key, pair)| (Some(key), *pair));
            let plain = pairs.iter().map(|pair| (None, *pair)).skip(if table.has_paths() { usize::MAX } else { 0 });
            for (key, pair) in sorted.chain(plain).take(self.limit()) {
                let change = self.change(table, pair);
                let key = key.map_or_else(|| Cow::Owned(text(&change.key)), |key| Cow::Borrowed(&**key));
                let folder = folder(&key);
                let (indent, name) = match table.has_paths() && !folder.is_empty() {
                    true => {
                        if at.as_deref() != Some(folder) {
                            page.line(&format!("  {folder}/"))?;
                            at = Some(folder.to_owned());
                        }
                        ("    ", key.rsplit('/').next().unwrap_or(&key))
                    }
                    false => ("  ", &*key),
                };
                self.one(&mut page, indent, name, &change)?;
            }
            let total = if table.has_paths() { shown.len() } else { pairs.len() };
            if let Some(more) = total.checked_sub(self.limit()).filter(|&more| more > 0) {
                page.line(&format!("  … and {more} more"))?;
            }
        }
        Ok(page.flush()?)
    }

    /// Text for wikis and posts: a heading for each table, and lists; long lists are collapsed.
    fn markdown(&self, found: &[Found<'_, '_>]) -> Result<(), Failure> {
        let mut page = self.context.page();
        for Found { name, table, pairs } in found.iter().filter(|found| !found.pairs.is_empty()) {
            page.line(&format!("## {}", code(name)))?;
            for kind in [Happened::Added, Happened::Removed, Happened::Changed] {
                let pairs: Vec<Pair> = pairs.iter().copied().filter(|pair| pair.kind() == kind).collect();
                if pairs.is_empty() {
                    continue;
                }
                let (count, what) = (pairs.len(), kind.name());
                let folded = count > UNFOLDED;
                page.line("")?;
                page.line(&if folded {
                    format!("<details><summary>{count} {what}</summary>")
                } else {
                    format!("**{count} {what}**")
                })?;
                page.line("")?;
                for &pair in pairs.iter().take(self.limit()) {
                    self.item(&mut page, &self.change(table, pair))?;
                }
                if let Some(more) = count.checked_sub(self.limit()).filter(|&more| more > 0) {
                    page.line(&format!("- … and {more} more"))?;
                }
                if folded {
                    page.line("")?;
                    page.line("</details>")?;
                }
            }
            page.line("")?;
        }
        Ok(page.flush()?)
    }

    /// A row as an item of a list, with an item for each field that changed.
    fn item(&self, page: &mut Page<impl Write>, change: &Change<'_>) -> Result<(), Failure> {
        let what = change.what.as_ref().map(|what| format!(" ({})", code(what))).unwrap_or_default();
        page.line(&format!("- {}{what}", code(&text(&change.key))))?;
        if change.kind == Happened::Changed {
            for field in said(&change.fields) {
                let by = difference(&field.old, &field.new).map(|by| format!(" ({by})")).unwrap_or_default();
                let (old, new) = (code(&text(&field.old)), code(&text(&field.new)));
                page.line(&format!("  - {}: {old} → {new}{by}", code(&field.name)))?;
            }
        }
        Ok(())
    }

    fn one(&self, page: &mut Page<impl Write>, indent: &str, name: &str, change: &Change<'_>) -> Result<(), Failure> {
        let (mark, colour) = match change.kind {
            Happened::Added => ("+", Mark::Green),
            Happened::Removed => ("-", Mark::Red),
            Happened::Changed => ("~", Mark::Yellow),
        };
        page.put(indent)?;
        page.put_marked(&format!("{mark} {name}"), colour)?;
        if let Some(what) = &change.what {
            page.put(&format!("  {what}"))?;
        }
        if change.kind != Happened::Changed {
            // The type was shown before; the rest fits on the line.
            let of_path = |name: &str| indent.len() > 2 && matches!(name, "parent_id" | "name");
            let said = |name: &str| change.what.is_some() && matches!(name, "type" | "state" | "size") || of_path(name);
            for field in change.fields.iter().filter(|field| !said(&field.name)) {
                let value = if change.kind == Happened::Added { &field.new } else { &field.old };
                if !value.is_null() {
                    page.put(&format!("  {}={}", field.name, text(value)))?;
                }
            }
            return Ok(page.end_line()?);
        }
        page.end_line()?;
        for field in said(&change.fields) {
            page.line(&format!("{indent}    {}: {} -> {}", field.name, text(&field.old), text(&field.new)))?;
        }
        Ok(())
    }

    /// A part of a page or of a feed's entry for each table.
    fn html(&mut self, found: &[Found<'_, '_>]) -> Result<(), Failure> {
        let mut report = std::mem::take(&mut self.out.report);
        let (out, most) = match &mut report {
            Report::None => return Ok(()),
            Report::Page(tables) => {
                let mut add = |found| tables.add(found, self.limit(), &|pair| self.change(found.table, pair));
                let added = found.iter().try_for_each(&mut add);
                self.out.report = report;
                return Ok(added?);
            }
            Report::Entry(out) => (out, self.args.limit.unwrap_or(IN_ENTRY)),
        };
        let written = (|| {
            if found.iter().any(|found| !found.pairs.is_empty()) {
                html::counts(out, found, self.out.tables)?;
            }
            for (n, found) in (self.out.tables..).zip(found) {
                html::table(out, n, found, most, &|pair| self.change(found.table, pair))?;
            }
            Ok::<_, Failure>(())
        })();
        self.out.tables = self.out.tables.saturating_add(found.len());
        self.out.report = report;
        written
    }
}

/// The default number of rows of a table and kind in an entry of a feed.
const IN_ENTRY: usize = 200;

/// The fields for people: the text of a reference, not its id.
fn said<'f, 'a>(fields: &'f [diff::Field<'a>]) -> Vec<&'f diff::Field<'a>> {
    let next = fields.iter().skip(1).map(Some).chain([None]);
    let is_text = |field: &diff::Field<'_>, next: &diff::Field<'_>| {
        let stem = field.name.strip_suffix("_id").filter(|_| !next.old.is_null() || !next.new.is_null());
        stem.is_some_and(|stem| next.name == stem || next.name.strip_suffix("_path") == Some(stem))
    };
    fields
        .iter()
        .zip(next)
        .filter(|(field, next)| !next.is_some_and(|next| is_text(field, next)))
        .map(|(field, _)| field)
        .collect()
}

/// Rows of a kind that are visible without a click.
const UNFOLDED: usize = 20;

/// Escapes `text` for Markdown.
fn code(text: &str) -> String {
    let text = escape(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.saturating_add(1));
    // A blank separates a character at the edge from the fence; in a text of blanks only it would be visible.
    let edge = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    if text.is_empty() { "(empty)".to_owned() } else { format!("{fence}{edge}{text}{edge}{fence}") }
}

/// The amount by which a number changed.
pub(super) fn difference(old: &Value<'_>, new: &Value<'_>) -> Option<String> {
    let whole = |value: &Value<'_>| match *value {
        Value::Int(v) => Some(i128::from(v)),
        Value::Uint(v) => Some(i128::from(v)),
        _ => None,
    };
    match (whole(old), whole(new)) {
        (Some(old), Some(new)) => Some(format!("{:+}", new.saturating_sub(old))),
        _ => match (old, new) {
            // The digits of a single-precision number.
            (Value::F32(old), Value::F32(new)) => Some(format!("{:+}", new - old)).filter(|_| (new - old).is_finite()),
            (Value::F64(old), Value::F64(new)) => Some(format!("{:+}", new - old)).filter(|_| (new - old).is_finite()),
            (Value::List(old), Value::List(new)) if old.len() == new.len() && (2..=4).contains(&old.len()) => {
                let parts = old.iter().zip(new).map(|(old, new)| difference(old, new));
                Some(format!("[{}]", parts.collect::<Option<Vec<_>>>()?.join(", ")))
            }
            _ => None,
        },
    }
}

/// A value on one line: long lists are counted.
pub(super) fn text(value: &Value<'_>) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::List(values) if values.len() > 16 => format!("[{} values]", values.len()),
        Value::Map(_) if let Some(named) = value.named() => text(named),
        Value::Map(parts) => {
            let parts: Vec<String> = parts.iter().map(|(name, value)| format!("{name} {}", text(value))).collect();
            parts.join(", ")
        }
        Value::List(values) => format!("[{}]", values.iter().map(text).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// The columns of rows of differences (the contract's `diff`).
pub(super) fn columns() -> [Column; 5] {
    [
        Column::new("table", Kind::Text),
        Column::new("change", Kind::Text),
        Column::new("key", Kind::Any),
        Column::new("old", Kind::Nested),
        Column::new("new", Kind::Nested),
    ]
}

/// The cells of a difference in [`columns`]: null on a side without the row.
pub(super) fn cells<'a>(table: &'a str, pair: Pair, change: Change<'a>) -> [Value<'a>; 5] {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for field in change.fields {
        old.push((field.name.clone(), field.old));
        new.push((field.name, field.new));
    }
    let side = |there: bool, fields| if there { Value::Map(fields) } else { Value::Null };
    [
        Value::text(table),
        change.kind.name().into(),
        change.key,
        side(pair.old.is_some(), old),
        side(pair.new.is_some(), new),
    ]
}
