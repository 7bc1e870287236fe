mod tree;

use super::arguments::exists;
use super::stdout::Stdout;
use super::{Context, Failure, Format, Outcome, Unit};
use crate::archive::names::NameSources;
use crate::archive::{Address, is_archive, open_inside};
use crate::asset::Asset;
use crate::error::ErrorKind;
use crate::id;
use crate::models::{Meshes, meshes_drawn_by};
use crate::refs::{self, By, Destination, Edge, Found, IdTexts, KnownIds, LinkedFile, StatedPaths};
use crate::table::{Column, Kind, Value};
use crate::threads::prelude::*;
use crate::write::rows::RowWriter;
use assetq_view::page::tables::quoted;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = Format::ROWS;

/// Show what an entry refers to, and what refers to it, across files
///
/// References are in assets.bin, and in the models.bin and space.bin of a space. With a .geometry, the meshes that a visual
/// draws are shown, too. Paths come from the assets.bin among the files.
///
/// The .visual, .model and .mfm files of a mod refer to files by path: the folder of the mod may be anywhere, and a .tga may
/// be a .dds, as in the game. `found` is the file that a path leads to.
///
/// The definitions of Space Engineers 2 refer to their parents, and to the GUIDs in their files.
///
/// --dangling lists references to ids and paths that are in none of the files, and exits 1 if there are any. Folders around a
/// file count, and games among the files or given by --names: these are searched, and their own references are not listed
/// with --names. A path without a prototype, such as the path of a texture, is in the file; an id of 0 refers to nothing.
#[derive(Debug, clap::Args)]
#[command(override_usage = "assetq refs [OPTIONS] <ID> <FILE>...\n       assetq refs [OPTIONS] --dangling <FILE>...")]
#[command(after_help = "\
Examples:
  assetq refs content/location/harbour/buoy/buoy.visual assets.bin         the models that use it, its materials, its folder
  assetq refs content/location/harbour/buoy/buoy.model assets.bin space.bin   also where the files of a space place it
  assetq refs content/location/harbour/buoy/buoy.model assets.bin --tree   what it refers to, and what that refers to
  assetq refs content/location/harbour/buoy/buoy.visual assets.bin --from   only what refers to it
  assetq refs - assets.bin -f csv < ids.txt             of many entries, in one pass
  assetq refs --dangling assets.bin space.bin           what refers to nothing that exists
  assetq refs ship.geometry . --tree                    the materials of a model of a mod, and their textures
  assetq refs content/location/harbour/buoy/buoy.geometry wows --tree   those of a model of a game
  assetq refs gun_a.dds . --from                        the materials that use a texture
  assetq refs --dangling . --names wows                 what neither the mod nor the game has")]
pub(super) struct Args {
    /// An id (0x…, 16 hex digits, or decimal) or a path, or `-` for one a line from standard input; then the files; a
    /// folder means all files below it. The files may also precede the ID
    #[arg(required = true, value_names = ["ID", "FILE"])]
    arguments: Vec<PathBuf>,
    /// Only references of the entry
    #[arg(long, conflicts_with = "from")]
    to: bool,
    /// Only what refers to the entry
    #[arg(long)]
    from: bool,
    /// Show as a tree what the entry refers to, and what that refers to in turn
    #[arg(long, conflicts_with = "from")]
    tree: bool,
    /// Go at most this deep
    #[arg(long, value_name = "N", requires = "tree", default_value_t = 16)]
    depth: usize,
    /// List references to ids that are in none of the files
    #[arg(long, conflicts_with_all = ["to", "from", "tree"])]
    dangling: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let (asked, given) = asked(args, context)?;
    let (mut opened, elsewhere) = open(&given, args.dangling, context)?;
    if let Some(query) = asked.as_deref().filter(|query| *query != "-" && !opened.iter().any(|file| knows(file, query)))
    {
        for path in &given {
            let found = context.or_failed(context.entity_of_game(path, query)).flatten();
            let Some((parameters, name)) = found else { continue };
            let (known, of) = (if name == query { "an entity" } else { &*name }, parameters.source().name());
            context.note(query, &format!("it is {known} of {of}"));
            opened.push(linked(parameters));
        }
    }
    for file in &opened {
        if let Some(found) = file.stated() {
            report(file.name(), found, context);
        }
    }
    let search = Search {
        context,
        files: &opened,
        texts: opened.iter().filter_map(|file| Some((file.name(), refs::texts(file.asset()?)?))).collect(),
        databases: &elsewhere.databases,
        stated: StatedPaths::new(&opened, elsewhere.archives),
        file_of: RefCell::default(),
        notes: RefCell::default(),
        is_damaged: Cell::new(false),
    };
    if opened.is_empty() {
        let absent: &[&str] = if asked.is_none() { &["found"] } else { &["entry", "entry_path", "found"] };
        return Ok(ReferenceRows::new(&search, absent, false)?.out.finish()?);
    }
    match asked {
        None => search.dangling()?,
        Some(asked) => {
            let (mut entries, mut known) = (Vec::new(), HashSet::new());
            for query in context.arguments([&asked]) {
                let entry = search.entry(query?.into_owned());
                if known.insert(entry.id) {
                    entries.push(entry);
                }
            }
            if args.tree {
                search.trees(&entries, args.depth)?
            } else {
                search.list(&entries, args)?
            }
            if let ([entry], [file]) = (&*entries, &*opened)
                && entry.file.is_some()
                && (file.stated().is_some() || file.asset().is_some_and(has_meshes))
            {
                let tree = command_of_tree(Path::new(file.name()));
                context.note(file.name(), &format!("only this file was searched; {tree} follows it to others"));
            }
        }
    }
    opened.iter().filter_map(LinkedFile::asset).for_each(|asset| context.warn(asset));
    Ok(())
}

/// The requested entry, unless all dangling references are requested, and the arguments that are files.
fn asked(args: &Args, context: &Context) -> Result<(Option<String>, Vec<PathBuf>), Failure> {
    if args.dangling {
        return Ok((None, args.arguments.clone()));
    }
    let (id, files) = match &*args.arguments {
        [id, files @ ..] if !files.is_empty() => (id, files),
        [file] if !file.is_dir() && exists(file) && leads_to_files(&context.open(file)?) => {
            let (shown, tree) = (file.display(), command_of_tree(file));
            let what = format!("refs takes an ID and the files to look in: {tree} shows what {shown} refers to");
            return Err(Failure::usage(what));
        }
        _ => return Err(Failure::usage("refs takes an ID and the files to look in, or --dangling and files")),
    };
    // A file of a mod is an entry of the folders around it.
    let (entry, files) = match id.is_file() && files.iter().all(|path| path.is_dir() && !is_archive(path)) {
        true => (id.as_path(), files.to_vec()),
        false => context.entry_and_files(id, files)?,
    };
    Ok((Some(entry.to_string_lossy().into_owned()), files))
}

/// Whether a file refers to files around it by their paths, or is drawn by such files.
fn leads_to_files(asset: &Asset) -> bool {
    refs::states_paths(asset) || has_meshes(asset)
}

/// The command that shows what the file at `path` leads to among the files around it, in a message.
pub(super) fn command_of_tree(path: &Path) -> String {
    let address = Address::parse(path);
    let folder = || path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let (entry, place) = match address.inner() {
        Some(inner) => (inner.into(), address.archive_path()),
        None => (path.to_string_lossy(), folder().to_owned()),
    };
    let place = place.to_string_lossy();
    let (entry, place) = (quoted(&entry), quoted(&place));
    format!("assetq refs {entry} {place} --tree")
}

/// Whether an entry of the file is called `query`.
fn knows(file: &LinkedFile, query: &str) -> bool {
    let entries = file.asset().and_then(refs::entries);
    entries.is_some_and(|entries| matches!(entries.resolve(query, false, &mut |_| ()), Ok(Some(_))))
}

/// Opens the files of the arguments `given`. With `dangling`, archives around a file count as places, too.
fn open(given: &[PathBuf], dangling: bool, context: &Context) -> Result<(Vec<LinkedFile>, Elsewhere), Failure> {
    let (mut opened, mut elsewhere) = (Vec::new(), Elsewhere::of_names(context));
    let paths = context.files(given)?;
    let of_folders = open_files_of_folders(&paths, given, context);
    for (path, of_folder) in paths.iter().zip(of_folders) {
        opened.extend(match of_folder {
            Some(file) => context.or_failed(file),
            None => elsewhere.open(path, given.contains(path), dangling, context),
        });
    }
    Ok((opened, elsewhere))
}

/// Opens the files that folders among the arguments contain, on all cores; `None` for the other files.
fn open_files_of_folders(
    paths: &[PathBuf],
    given: &[PathBuf],
    context: &Context,
) -> Vec<Option<Result<LinkedFile, Failure>>> {
    let options = context.options();
    context.with_progress_of("refs", Unit::Files, |progress| {
        progress.announce(paths.len() as u64);
        let each = paths.par_iter().map(|path| {
            let opened = (!given.contains(path) && path.is_file()).then(|| {
                let opened = options.source_in_folder(path).and_then(|source| Asset::open_with(source, options));
                opened.map(linked).map_err(Failure::of_file(path))
            });
            progress.advance(1);
            opened
        });
        each.collect()
    })
}

fn report(file: &str, found: &Found, context: &Context) {
    for error in found.damage.findings() {
        context.damaged(file, error);
    }
    let more = found.damage.found() - found.damage.findings().len() as u64;
    if more > 0 {
        context.note(file, &format!("{more} more records could not be read"));
    }
}

/// Where paths and ids are looked up besides the files: archives, and their databases.
#[derive(Default)]
struct Elsewhere {
    archives: Vec<Asset>,
    databases: Vec<Asset>,
    /// The archives around files that were added.
    around: HashSet<PathBuf>,
}

impl Elsewhere {
    fn of_names(context: &Context) -> Self {
        let mut all = Self::default();
        let names = context.options().get::<NameSources>();
        names.iter().flat_map(|names| names.files()).for_each(|asset| all.add(asset, context));
        all
    }

    fn add(&mut self, asset: &Asset, context: &Context) {
        let Some(archive) = asset.reader().archive() else { return self.databases.push(asset.clone()) };
        self.archives.push(asset.clone());
        let Some(database) = archive.database() else { return };
        match open_inside(asset, database, context.options()) {
            Ok(database) => self.databases.push(database),
            Err(error) if matches!(error.kind(), ErrorKind::NotInstalled { .. } | ErrorKind::NotFound { .. }) => {
                context.note(asset.source().name(), WITHOUT_DATABASE);
            }
            Err(error) => context.damaged(asset.source().name(), &error),
        }
    }

    /// Opens the file at `path`, or the database of the archive there, and adds the archive, and with `dangling` the one around it.
    fn open(&mut self, path: &Path, is_named: bool, dangling: bool, context: &Context) -> Option<LinkedFile> {
        let address = Address::parse(path);
        if is_named
            && address.inner().is_none()
            && is_archive(address.outer())
            && let Ok(archive) = context.archive(&address)
        {
            self.archives.push(archive.clone());
            if dangling && !has_database(&archive) {
                context.note(path, WITHOUT_DATABASE);
                return None;
            }
        }
        if dangling
            && address.inner().is_some()
            && self.around.insert(address.archive_path())
            // A missing archive is reported when the file in it is opened.
            && let Ok(archive) = context.archive(&address)
        {
            self.add(&archive, context);
        }
        let opened = context.database_in(path.to_owned()).and_then(|path| context.open(&path));
        let asset = context.or_failed(opened)?;
        // In a folder, many files have no references.
        if is_named && !refs::refers(&asset) && !has_meshes(&asset) {
            context.note(
                asset.source().name(),
                &format!("refs follows no references of {} files; find searches their values", asset.format()),
            );
        }
        Some(linked(asset))
    }
}

/// Whether visuals and models of other files draw meshes of this one.
fn has_meshes(asset: &Asset) -> bool {
    asset.reader().facet::<dyn Meshes>().is_some()
}

fn linked(asset: Asset) -> LinkedFile {
    let is_target = has_meshes(&asset);
    LinkedFile::new(asset, is_target)
}

const WITHOUT_DATABASE: &str = "its database is not installed, and only its index is searched";

/// Whether the database of an archive can be read; an archive without one has nothing to miss.
fn has_database(asset: &Asset) -> bool {
    asset.reader().archive().is_some_and(|archive| {
        archive
            .database()
            .is_none_or(|path| archive.find(path).is_ok_and(|file| file.is_some_and(|file| file.installed)))
    })
}

struct Search<'a> {
    context: &'a Context,
    files: &'a [LinkedFile],
    /// The texts of ids in the files that have some, with the names of these files.
    texts: Vec<(&'a str, &'a dyn IdTexts)>,
    /// Files in which ids are looked up, and no references.
    databases: &'a [Asset],
    stated: StatedPaths<'a>,
    /// The files of ids that are hashes of stated paths.
    file_of: RefCell<HashMap<u64, usize>>,
    /// Notes that were shown already.
    notes: RefCell<HashSet<String>>,
    /// Whether some references could not be read.
    is_damaged: Cell<bool>,
}

/// A requested entry: an id, and a file if one is called so.
struct RequestedEntry {
    id: u64,
    query: String,
    file: Option<usize>,
    /// All ids by which files refer to the entry: its own id, and the ids of the paths that lead to the file.
    ids: BTreeSet<u64>,
}

struct ReferenceRow<'r> {
    direction: &'static str,
    id: Value<'r>,
    path: Option<String>,
    table: &'r str,
    column: &'r str,
    file: &'r str,
    row: usize,
    entry: Option<u64>,
    found: Option<String>,
}

/// The last part of a path without its endings.
fn stem(path: &str) -> Option<&str> {
    path.rsplit(['/', '\\', ':']).next()?.split('.').next()
}

/// Whether the names at the ends of a stated path and of a file are equal, without the endings: a quick test before the exact one.
fn may_lead_to(edge: &Edge, file: &str) -> bool {
    edge.text.as_deref().is_some_and(|path| stem(path) == stem(file))
}

const COLUMNS: [(&str, Kind); 10] = [
    ("direction", Kind::Text),
    ("id", Kind::Any),
    ("path", Kind::Text),
    ("table", Kind::Text),
    ("column", Kind::Text),
    ("file", Kind::Text),
    ("row", Kind::Uint),
    ("entry", Kind::Id64),
    ("entry_path", Kind::Text),
    ("found", Kind::Text),
];

struct ReferenceRows<'s> {
    search: &'s Search<'s>,
    out: RowWriter<Stdout>,
    /// Whether each of [`COLUMNS`] is shown.
    shown: [bool; COLUMNS.len()],
    is_short: bool,
    /// The entries that have a row.
    seen: HashSet<u64>,
}

impl<'s> ReferenceRows<'s> {
    /// Rows without the columns `absent`. A short row has the path of an entry in place of its id, and no column for the only file.
    fn new(search: &'s Search<'s>, absent: &[&str], is_short: bool) -> Result<Self, Failure> {
        let of_many = ["id", "entry", "file"].into_iter().take(if search.files.len() > 1 { 2 } else { 3 });
        let left_out: Vec<&str> = of_many.filter(|name| is_short && !absent.contains(name)).collect();
        let shown = COLUMNS.map(|(name, _)| !absent.contains(&name) && !left_out.contains(&name));
        let columns = COLUMNS.into_iter().zip(shown).filter(|(_, is_shown)| *is_shown);
        let columns: Vec<Column> = columns.map(|((name, kind), _)| Column::new(name, kind)).collect();
        let left_out = left_out.into_iter().map(str::to_owned).collect();
        let out = search.context.rows(&columns)?.without_columns(left_out, "--wide");
        Ok(Self { search, out, shown, is_short, seen: HashSet::new() })
    }

    fn write(&mut self, row: ReferenceRow<'_>) -> Result<(), Failure> {
        self.seen.extend(row.entry);
        let is_known_by_id = self.is_short && row.path.is_none() && !row.id.is_null();
        let path = if is_known_by_id { Some(row.id.to_string()) } else { row.path };
        let [.., has_entries, _] = self.shown;
        let entry_path = row.entry.filter(|_| has_entries).and_then(|id| self.search.path(id));
        let cells: [Value<'_>; COLUMNS.len()] = [
            row.direction.into(),
            row.id,
            path.into(),
            row.table.into(),
            row.column.into(),
            row.file.into(),
            row.row.into(),
            row.entry.map_or(Value::Null, Value::Id64),
            entry_path.into(),
            row.found.into(),
        ];
        let cells = cells.into_iter().zip(self.shown).filter(|(_, is_shown)| *is_shown).map(|(cell, _)| cell);
        Ok(self.out.row(&cells.collect::<Vec<_>>())?)
    }
}

impl Search<'_> {
    fn path(&self, id: u64) -> Option<String> {
        for (file, texts) in &self.texts {
            if let Some(path) = self.context.or_damaged(file, texts.path(id)).flatten() {
                return Some(path.into_owned());
            }
        }
        None
    }

    fn entry(&self, query: String) -> RequestedEntry {
        let given = id::parse(&query);
        let id = given.unwrap_or_else(|| {
            // A build with another hash of paths overrides the hash.
            let known = self.texts.iter().find_map(|(_, texts)| texts.id_of_path(&query));
            known.unwrap_or_else(|| id::of_path(&query))
        });
        let id = if self.has(id) { id } else { self.id_of_name(&query).unwrap_or(id) };
        let file = if given.is_none() { self.file_of_path(&query) } else { None };
        let ids = std::iter::once(id).chain(file.iter().flat_map(|&file| self.ids_of_file(file))).collect();
        RequestedEntry { id, query, file, ids }
    }

    /// The id of the entry that a file knows by another name than its path, such as a ship by its title.
    fn id_of_name(&self, query: &str) -> Option<u64> {
        let assets = self.files.iter().filter_map(LinkedFile::asset);
        let mut found = assets.filter_map(|asset| {
            let found = refs::entries(asset)?.resolve(query, false, &mut |_| ());
            self.context.or_damaged(asset.source().name(), found).flatten()
        });
        found.next().map(|found| found.id)
    }

    /// The file at `path`, else the file that a stated path leads to.
    fn file_of_path(&self, path: &str) -> Option<usize> {
        let from_here = |path| Path::new(path).strip_prefix(".").unwrap_or_else(|_| Path::new(path));
        let exact = self.files.iter().position(|file| from_here(file.name()) == from_here(path));
        exact.or_else(|| self.stated.file(path, None))
    }

    /// The ids of the paths that lead to the file with this number, in all files that state paths.
    fn ids_of_file(&self, file: usize) -> Vec<u64> {
        let mut ids = Vec::new();
        for from in self.files {
            for edge in from.stated().into_iter().flat_map(|found| &found.edges) {
                if may_lead_to(edge, self.files[file].name())
                    && self.destination(from, edge).is_some_and(|found| found.asset == Some(file))
                {
                    ids.push(edge.to);
                }
            }
        }
        ids
    }

    /// The file that a reference leads to, if `from` states paths.
    fn destination(&self, from: &LinkedFile, edge: &Edge) -> Option<Destination> {
        let path = edge.text.as_ref().filter(|_| from.stated().is_some())?;
        let found = self.context.or_damaged(from.name(), self.stated.find(path, from.name())).flatten()?;
        if let Some(file) = found.asset {
            self.file_of.borrow_mut().entry(edge.to).or_insert(file);
        }
        Some(found)
    }

    fn has(&self, id: u64) -> bool {
        self.files.iter().filter_map(LinkedFile::asset).any(|asset| refs::has(asset, id))
    }

    /// The references of an entry in one of the files: all of a file that is the entry.
    fn references(&self, from: &LinkedFile, number: usize, id: u64, file: Option<usize>) -> Found {
        match from.asset() {
            _ if file == Some(number) => self.scan(from, &|_, _| true),
            Some(asset) => self.said(from, refs::references_of(asset, id)),
            None => Found::default(),
        }
    }

    /// The references in a file that `keep` selects.
    fn scan(&self, file: &LinkedFile, keep: refs::Keep<'_>) -> Found {
        let found = match (file.stated(), file.asset()) {
            (Some(found), _) => LinkedFile::select(found, keep),
            (None, Some(asset)) => {
                self.context.with_progress_of("refs", Unit::Rows, |progress| refs::scan_with(asset, keep, progress))
            }
            (None, None) => Found::default(),
        };
        self.said(file, found)
    }

    /// `found`, after its notes and its damage were shown.
    fn said(&self, file: &LinkedFile, found: Found) -> Found {
        let file = file.name();
        for note in &found.notes {
            if self.notes.borrow_mut().insert(format!("{file} {note}")) {
                self.context.note(file, note);
            }
        }
        report(file, &found, self.context);
        self.is_damaged.set(self.is_damaged.get() || !found.damage.is_ok());
        found
    }

    fn list(&self, entries: &[RequestedEntry], args: &Args) -> Outcome {
        let has_paths = self.files.iter().any(|file| file.stated().is_some());
        let absent = [("entry", entries.len() == 1), ("entry_path", entries.len() == 1), ("found", !has_paths)];
        let absent: Vec<&str> = absent.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect();
        let is_short = self.context.settings.width.is_some() && self.context.format() == Format::Text;
        let mut out = ReferenceRows::new(self, &absent, is_short)?;
        if !args.from {
            entries.iter().try_for_each(|entry| self.list_to(entry, &mut out))?;
        }
        if !args.to {
            self.list_from(entries, &mut out)?;
        }
        out.out.finish()?;
        for RequestedEntry { id, query, file, .. } in entries.iter().filter(|entry| !out.seen.contains(&entry.id)) {
            let (what, hint) = match (file.is_some() || self.has(*id), args.to, args.from) {
                (false, ..) => {
                    let mut open = self.files.iter().filter_map(LinkedFile::asset);
                    let first = open.find(|asset| refs::entries(asset).is_some()).filter(|_| entries.len() == 1);
                    let hint = first.map_or_else(String::new, |asset| self.context.hint(asset, query));
                    ("is in none of the files", hint)
                }
                // An unreadable part may refer to it.
                _ if self.is_damaged.get() => continue,
                (true, false, false) => {
                    let root = file.and_then(|file| self.root_of(file)).map(|root| self.files[root].name());
                    let hint = root.map(|root| format!("; --tree shows the files of {root}, which draws it"));
                    ("refers to nothing, and nothing refers to it", hint.unwrap_or_default())
                }
                (true, true, _) => ("refers to nothing", String::new()),
                (true, ..) => ("nothing refers to it", String::new()),
            };
            self.context.not_found(&format!("{query:?}: {what}{hint}"));
        }
        Ok(())
    }

    fn list_to(&self, entry: &RequestedEntry, out: &mut ReferenceRows<'_>) -> Result<(), Failure> {
        for (number, asset) in self.files.iter().enumerate() {
            for edge in &self.references(asset, number, entry.id, entry.file).edges {
                let row = self.row("to", Some(edge.to), Some(entry.id), edge, asset);
                // Models and textures have no entry among the files, only a path in the cell.
                out.write(ReferenceRow { path: row.path.or_else(|| edge.text.clone()), ..row })?;
            }
            self.meshes(asset, entry.id, out)?;
        }
        Ok(())
    }

    /// Lists what refers to some entries: file by file, and in each in the order of the arguments.
    fn list_from(&self, entries: &[RequestedEntry], out: &mut ReferenceRows<'_>) -> Result<(), Failure> {
        let wanted: HashSet<u64> = entries.iter().flat_map(|entry| &entry.ids).copied().collect();
        for asset in self.files {
            let found = self.scan(asset, &|id, _| wanted.contains(&id));
            let mut edges: HashMap<u64, Vec<&Edge>> = HashMap::new();
            found.edges.iter().for_each(|edge| edges.entry(edge.to).or_default().push(edge));
            for entry in entries {
                for edge in entry.ids.iter().filter_map(|id| edges.get(id)).flatten() {
                    out.write(self.row("from", edge.from, Some(entry.id), edge, asset))?;
                }
            }
        }
        Ok(())
    }

    fn row<'r>(
        &self,
        direction: &'static str,
        id: Option<u64>,
        entry: Option<u64>,
        edge: &'r Edge,
        from: &'r LinkedFile,
    ) -> ReferenceRow<'r> {
        ReferenceRow {
            direction,
            id: id.map_or(Value::Null, Value::Id64),
            path: id.and_then(|id| self.path(id)),
            table: edge.table,
            column: &edge.column,
            file: from.name(),
            row: edge.row,
            entry,
            found: self.destination(from, edge).map(|found| found.address),
        }
    }

    /// Lists the meshes of the geometry files that the visual `id` draws.
    fn meshes(&self, from: &LinkedFile, id: u64, out: &mut ReferenceRows<'_>) -> Result<(), Failure> {
        let Some(asset) = from.asset() else { return Ok(()) };
        for other in self.files.iter().filter_map(LinkedFile::asset) {
            let file = other.source().name();
            for mesh in self.context.or_damaged(file, meshes_drawn_by(asset, id, other)).into_iter().flatten() {
                out.write(ReferenceRow {
                    direction: "to",
                    id: Value::Id32(mesh.mapping_id),
                    path: mesh.name,
                    table: mesh.table,
                    column: "mapping_id",
                    file,
                    row: mesh.row,
                    entry: Some(id),
                    found: None,
                })?;
            }
        }
        Ok(())
    }

    fn dangling(&self) -> Outcome {
        let known = KnownIds::new(self.files.iter().filter_map(LinkedFile::asset).chain(self.databases));
        if !known.has_texts() && !self.stated.has_archives() {
            let what = "no assets.bin among the files: references to what only it has count as dangling; \
                        --names GAME looks in a game, too";
            self.context.note("refs", what);
        }
        let mut out = ReferenceRows::new(self, &["found"], false)?;
        let (mut count, mut replaced) = (0, 0);
        for asset in self.files {
            for edge in &self.scan(asset, &|id, by| by == By::Id && !known.has(id)).edges {
                if let Some(found) = self.destination(asset, edge) {
                    replaced += usize::from(found.is_replacement);
                    continue;
                }
                count += 1;
                let row = self.row("to", Some(edge.to), edge.from, edge, asset);
                out.write(ReferenceRow { path: row.path.or_else(|| edge.text.clone()), ..row })?;
            }
        }
        out.out.finish()?;
        if replaced > 0 {
            let what =
                format!("{replaced} references name a .tga; only its .dds exists, and the game reads that instead");
            self.context.note("refs", &what);
        }
        if count > 0 {
            self.context.not_found(&format!("{count} references to ids that are in none of the files"));
        }
        Ok(())
    }
}
