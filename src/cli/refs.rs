use super::arguments::EntryInFiles;
use super::bar::Unit;
use super::{Context, Exit, Failure, Format, Outcome};
use crate::archive::names::NameSources;
use crate::archive::{Address, is_archive, open_inside};
use crate::asset::Asset;
use crate::error::{Error, ErrorKind};
use crate::id;
use crate::refs::{self, By, Destination, Edge, Found, IdTexts, Known, LinkedFile, StatedPaths};
use crate::table::{Column, Kind, Value};
use crate::threads::prelude::*;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Show what an entry refers to, and what refers to it, across files
///
/// References are in assets.bin, and in the models.bin and space.bin of a space. With a .geometry, the meshes that a visual
/// draws are shown, too. Paths come from the assets.bin among the files.
///
/// The .visual, .model and .mfm files of a mod refer to files by path: the folder of the mod may be anywhere, and a .tga may
/// be a .dds, as in the game. `found` is the file that a path leads to.
///
/// --dangling lists references to ids and paths that are in none of the files, and exits 1 if there are any. Folders around a
/// file count, and games among the files or given by --names: these are searched, and their own references are not listed
/// with --names. A path without a prototype, such as the path of a texture, is in the file; an id of 0 refers to nothing.
#[derive(Debug, clap::Args)]
#[command(override_usage = "assetq refs [OPTIONS] <ID> <FILE>...\n       assetq refs [OPTIONS] --dangling <FILE>...")]
#[command(after_help = "\
Examples:
  assetq refs content/…/JSD011.visual assets.bin        the models that use it, its materials, its folder
  assetq refs 0x0DF5A921212A899E assets.bin spaces/r01  also where the files of a space place it
  assetq refs content/…/JSD011.model assets.bin --tree  what it refers to, and what that refers to
  assetq refs content/…/JSD011_a.dds assets.bin --from  only what refers to it
  assetq refs - assets.bin -f csv < ids.txt             of many entries, in one pass
  assetq refs --dangling assets.bin space.bin           what refers to nothing that exists
  assetq refs gun/turret.visual gun --tree              the materials of a visual of a mod, and their textures
  assetq refs turret_a.dds gun --from                   the materials that use a texture
  assetq refs --dangling gun --names GAME               what neither the mod nor the game has")]
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
    let (asked, files) = if args.dangling {
        (None, args.arguments.clone())
    } else {
        let Some((id, files)) = args.arguments.split_first().filter(|(_, files)| !files.is_empty()) else {
            let what = "refs takes an ID and the files to look in, or --dangling and files";
            return Err(Failure::new(Exit::Usage, what));
        };
        // A file of a mod is an entry of the folders around it.
        if id.is_file() && files.iter().all(|path: &PathBuf| path.is_dir() && !is_archive(path)) {
            (Some(id.to_string_lossy().into_owned()), files.to_vec())
        } else {
            let EntryInFiles { entry, files } = context.entry_and_files(id, files)?;
            (Some(entry.to_string_lossy().into_owned()), files)
        }
    };
    let mut opened = Vec::new();
    let mut elsewhere = Elsewhere::of_names(context);
    let mut outers = HashSet::new();
    let has_meshes = |asset: &Asset| asset.reader().meshes().is_some();
    let paths = context.files(&files)?;
    let of_folders = open_files_of_folders(&paths, &files, context);
    for (path, of_folder) in paths.into_iter().zip(of_folders) {
        match of_folder {
            Some(Ok(file)) => {
                opened.push(file);
                continue;
            }
            Some(Err(error)) => {
                context.failed(&Failure::in_file(&path.to_string_lossy(), &error));
                continue;
            }
            None => {}
        }
        let is_named = files.contains(&path);
        if is_named && let Some(archive) = archive_at(&path, context) {
            let is_installed = has_database(&archive);
            elsewhere.archives.push(archive);
            if args.dangling && !is_installed {
                context.note(&path.to_string_lossy(), WITHOUT_DATABASE);
                continue;
            }
        }
        let address = Address::of(&path);
        if args.dangling && address.inner().is_some() && outers.insert(address.archive_path()) {
            // A missing archive is reported when the file in it is opened.
            context.archive(&address).into_iter().for_each(|archive| elsewhere.add(&archive, context));
        }
        match context.database_in(path).and_then(|path| context.open(&path)) {
            Ok(asset) => {
                // In a folder, many files have no references.
                if is_named && !refs::refers(&asset) && !has_meshes(&asset) {
                    context.note(asset.source().name(), &format!("a {} file refers to nothing", asset.format()));
                }
                opened.push(LinkedFile::new(asset));
            }
            Err(failure) => context.failed(&failure),
        }
    }
    for file in &opened {
        if let Some(found) = file.stated() {
            report(file.name(), found, context);
        }
    }
    if opened.is_empty() {
        context.rows(&columns(asked.is_none()))?.finish()?;
        return Ok(Exit::Done);
    }
    let search = Search {
        context,
        files: &opened,
        databases: &elsewhere.databases,
        paths: Paths::new(&opened),
        stated: StatedPaths::new(&opened, elsewhere.archives),
        file_of: RefCell::default(),
        said: RefCell::default(),
    };
    let exit = match asked {
        None => search.dangling()?,
        Some(asked) => {
            let (mut entries, mut known) = (Vec::new(), HashSet::new());
            for query in context.arguments([&asked]) {
                let entry = search.entry(&query?);
                if known.insert(entry.id) {
                    entries.push(entry);
                }
            }
            if args.tree { search.trees(&entries, args.depth)? } else { search.list(&entries, !args.from, !args.to)? }
        }
    };
    opened.iter().filter_map(LinkedFile::asset).for_each(|asset| context.warn(asset));
    Ok(exit)
}

/// Opens the files that folders among the arguments contain, on all cores; `None` for the other files.
fn open_files_of_folders(
    paths: &[PathBuf],
    given: &[PathBuf],
    context: &Context,
) -> Vec<Option<Result<LinkedFile, Error>>> {
    let options = context.options();
    let open = |path: &Path| Asset::open_with(options.source_in_folder(path)?, options).map(LinkedFile::new);
    context.with_progress_of("refs", Unit::Files, |progress| {
        progress.announce(paths.len() as u64);
        let each = paths.par_iter().map(|path| {
            let opened = (!given.contains(path) && path.is_file()).then(|| open(path));
            progress.advance(1);
            opened
        });
        each.collect()
    })
}

/// Shows the damage of references.
fn report(file: &str, found: &Found, context: &Context) {
    for error in found.damage.findings() {
        context.damaged(file, error);
    }
    let more = found.damage.found().saturating_sub(found.damage.findings().len() as u64);
    if more > 0 {
        context.note(file, &format!("{more} more records could not be read"));
    }
}

/// Where paths and ids are looked up besides the files: archives, and their databases.
#[derive(Default)]
struct Elsewhere {
    archives: Vec<Asset>,
    databases: Vec<Asset>,
}

impl Elsewhere {
    /// The files of `--names`.
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
}

/// The note about an archive that has an index alone.
const WITHOUT_DATABASE: &str = "its database is not installed, and only its index is searched";

/// The archive at `path`.
fn archive_at(path: &Path, context: &Context) -> Option<Asset> {
    let address = Address::of(path);
    let is_whole = address.inner().is_none() && is_archive(address.outer());
    is_whole.then(|| context.archive(&address).ok()).flatten().map(|archive| Asset::clone(&archive))
}

/// Whether the database of an archive can be read; an archive without one has nothing to miss.
fn has_database(asset: &Asset) -> bool {
    asset.reader().archive().is_some_and(|archive| {
        archive
            .database()
            .is_none_or(|path| archive.find(path).is_ok_and(|file| file.is_some_and(|file| file.installed)))
    })
}

/// Paths of ids, from any file that knows some.
struct Paths<'a> {
    /// The files with their names.
    files: Vec<(&'a str, &'a dyn IdTexts)>,
}

impl<'a> Paths<'a> {
    fn new(files: &'a [LinkedFile]) -> Self {
        let texts = |file: &'a LinkedFile| Some((file.name(), refs::texts(file.asset()?)?));
        Self { files: files.iter().filter_map(texts).collect() }
    }

    fn get(&self, id: u64, context: &Context) -> Option<String> {
        for (file, texts) in &self.files {
            match texts.path(id) {
                Ok(None) => {}
                Ok(path) => return path.map(Cow::into_owned),
                Err(error) => context.damaged(file, &error),
            }
        }
        None
    }
}

struct Search<'a> {
    context: &'a Context,
    files: &'a [LinkedFile],
    /// Files in which ids are looked up, and no references.
    databases: &'a [Asset],
    paths: Paths<'a>,
    stated: StatedPaths<'a>,
    /// The files of ids that are hashes of stated paths.
    file_of: RefCell<HashMap<u64, usize>>,
    /// Notes that were shown already.
    said: RefCell<HashSet<String>>,
}

/// A requested entry: an id, and a file if one is called so.
struct RequestedEntry {
    id: u64,
    query: String,
    /// The number of the file.
    file: Option<usize>,
    /// The ids of the paths that lead to the file.
    also: Vec<u64>,
}

impl RequestedEntry {
    /// All ids by which files refer to the entry.
    fn ids(&self) -> impl Iterator<Item = u64> {
        std::iter::once(self.id).chain(self.also.iter().copied())
    }
}

/// A row of the output.
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

/// Whether the names at the ends of a stated path and of a file are equal, without the endings: a quick test before the exact one.
fn may_lead_to(edge: &Edge, file: &str) -> bool {
    let stem =
        |path: &str| path.rsplit(['/', '\\', ':']).next().and_then(|name| name.split('.').next().map(str::to_owned));
    edge.text.as_deref().is_some_and(|path| stem(path) == stem(file))
}

fn columns(many: bool) -> Vec<Column> {
    let mut columns = vec![
        Column::new("direction", Kind::Text),
        Column::new("id", Kind::Any),
        Column::new("path", Kind::Text),
        Column::new("table", Kind::Text),
        Column::new("column", Kind::Text),
        Column::new("file", Kind::Text),
        Column::new("row", Kind::Uint),
    ];
    if many {
        columns.extend([Column::new("entry", Kind::Id64), Column::new("entry_path", Kind::Text)]);
    }
    columns
}

/// The columns that are shown.
struct Layout {
    shown: Vec<usize>,
    columns: Vec<Column>,
    left_out: Vec<String>,
}

impl Layout {
    /// All columns; on a terminal an entry with a path is known by it, and a single file needs no column.
    fn new(all: Vec<Column>, search: &Search<'_>) -> Self {
        let is_short = search.context.width().is_some() && search.context.format() == Format::Text;
        let is_shown = |column: &Column| match &*column.name {
            "id" | "entry" => !is_short,
            "file" => !is_short || search.files.len() > 1,
            _ => true,
        };
        let shown = (0..).zip(&all).filter(|(_, column)| is_shown(column)).map(|(index, _)| index).collect();
        let (columns, others): (Vec<Column>, Vec<Column>) = all.into_iter().partition(is_shown);
        Self { shown, columns, left_out: others.into_iter().map(|column| column.name.into_owned()).collect() }
    }

    fn is_short(&self) -> bool {
        !self.left_out.is_empty()
    }

    /// The shown ones of the cells of all columns.
    fn of<'v>(&self, cells: Vec<Value<'v>>) -> Vec<Value<'v>> {
        (0..).zip(cells).filter(|(index, _)| self.shown.contains(index)).map(|(_, cell)| cell).collect()
    }
}

impl Search<'_> {
    fn id(&self, query: &str) -> u64 {
        id::parse(query).unwrap_or_else(|| {
            // A build with another hash of paths overrides the hash.
            let known = self.paths.files.iter().find_map(|(_, texts)| texts.id_of_path(query));
            known.unwrap_or_else(|| id::of_path(query))
        })
    }

    fn entry(&self, query: &str) -> RequestedEntry {
        let id = self.id(query);
        let file = id::parse(query).is_none().then(|| self.stated.file(query, None)).flatten();
        let also = file.map(|file| self.ids_of_file(file)).unwrap_or_default();
        RequestedEntry { id, query: query.to_owned(), file, also }
    }

    /// The ids of the paths that lead to the file with this number, in all files that state paths.
    fn ids_of_file(&self, file: usize) -> Vec<u64> {
        let mut ids = Vec::new();
        let name = self.files.get(file).map(LinkedFile::name).unwrap_or_default();
        for from in self.files {
            for edge in from.stated().into_iter().flat_map(|found| &found.edges) {
                if may_lead_to(edge, name)
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
        let found = self.stated.find(path, from.name()).unwrap_or_else(|error| {
            self.context.damaged(from.name(), &error);
            None
        })?;
        if let Some(file) = found.asset {
            self.file_of.borrow_mut().entry(edge.to).or_insert(file);
        }
        Some(found)
    }

    /// Whether any file has this id.
    fn has(&self, id: u64) -> bool {
        self.files.iter().filter_map(LinkedFile::asset).any(|asset| refs::has(asset, id))
    }

    /// The references of an entry in one of the files: all of a file that is the entry.
    fn references(&self, from: &LinkedFile, number: usize, id: u64, file: Option<usize>) -> Found {
        match from.asset() {
            _ if file == Some(number) => self.scan(from, &|_, _| true),
            Some(asset) => refs::of(asset, id),
            None => Found::new(),
        }
    }

    /// Shows the notes and the damage of a pass besides references.
    fn say(&self, file: &LinkedFile, found: &Found) {
        let file = file.name();
        for note in &found.notes {
            if self.said.borrow_mut().insert(format!("{file} {note}")) {
                self.context.note(file, note);
            }
        }
        report(file, found, self.context);
    }

    fn scan(&self, file: &LinkedFile, keep: refs::Keep<'_>) -> Found {
        match (file.stated(), file.asset()) {
            (Some(found), _) => LinkedFile::select(found, keep),
            (None, Some(asset)) => {
                self.context.with_progress_of("refs", Unit::Rows, |progress| refs::scan_with(asset, keep, progress))
            }
            (None, None) => Found::new(),
        }
    }

    fn list(&self, entries: &[RequestedEntry], to: bool, from: bool) -> Outcome {
        let many = entries.len() != 1;
        let has_paths = self.files.iter().any(|file| file.stated().is_some());
        let mut all = columns(many);
        all.extend(has_paths.then(|| Column::new("found", Kind::Text)));
        let layout = Layout::new(all, self);
        let mut out = self.context.rows(&layout.columns)?.without_columns(layout.left_out.clone(), "--wide");
        let mut seen: HashSet<u64> = HashSet::new();
        let mut write = |row: ReferenceRow<'_>| {
            seen.extend(row.entry);
            let known = row.path.or_else(|| (layout.is_short() && !row.id.is_null()).then(|| row.id.to_string()));
            let mut cells = vec![
                row.direction.into(),
                row.id,
                known.into(),
                row.table.into(),
                row.column.into(),
                row.file.into(),
                row.row.into(),
            ];
            if many {
                cells.push(row.entry.map(Value::Id64).unwrap_or_default());
                cells.push(row.entry.and_then(|id| self.paths.get(id, self.context)).into());
            }
            cells.extend(has_paths.then(|| row.found.into()));
            out.row(&layout.of(cells)).map_err(Failure::from)
        };
        if to {
            for &RequestedEntry { id, file, .. } in entries {
                for (number, asset) in self.files.iter().enumerate() {
                    let found = self.references(asset, number, id, file);
                    self.say(asset, &found);
                    for edge in &found.edges {
                        let row = self.row("to", Some(edge.to), Some(id), edge, asset);
                        // Models and textures have no entry among the files, only a path in the cell.
                        write(ReferenceRow { path: row.path.or_else(|| edge.text.clone()), ..row })?;
                    }
                    self.meshes(asset, id, &mut write)?;
                }
            }
        }
        if from {
            let wanted: HashSet<u64> = entries.iter().flat_map(RequestedEntry::ids).collect();
            for asset in self.files {
                let found = self.scan(asset, &|id, _| wanted.contains(&id));
                self.say(asset, &found);
                // The entries in the order of the arguments.
                let mut edges: HashMap<u64, Vec<&Edge>> = HashMap::new();
                found.edges.iter().for_each(|edge| edges.entry(edge.to).or_default().push(edge));
                for entry in entries {
                    let ids: BTreeSet<u64> = entry.ids().collect();
                    for edge in ids.iter().flat_map(|id| edges.get(id).into_iter().flatten()) {
                        write(self.row("from", edge.from, Some(entry.id), edge, asset))?;
                    }
                }
            }
        }
        out.finish()?;
        for RequestedEntry { id, query, file, .. } in entries.iter().filter(|entry| !seen.contains(&entry.id)) {
            let what = match (file.is_some() || self.has(*id), to, from) {
                (false, ..) => "is in none of the files",
                (true, true, true) => "refers to nothing, and nothing refers to it",
                (true, true, _) => "refers to nothing",
                (true, ..) => "nothing refers to it",
            };
            let is_unknown = what == "is in none of the files" && entries.len() == 1;
            let mut open = self.files.iter().filter_map(LinkedFile::asset);
            let first = open.find(|asset| refs::entries(asset).is_some()).filter(|_| is_unknown);
            let hint = first.map_or_else(String::new, |asset| self.context.hint(asset, query));
            self.context.not_found(&format!("{query:?}: {what}{hint}"));
        }
        Ok(Exit::Done)
    }

    fn row<'r>(
        &self,
        direction: &'static str,
        id: Option<u64>,
        entry: Option<u64>,
        edge: &'r Edge,
        from: &'r LinkedFile,
    ) -> ReferenceRow<'r> {
        let path = id.and_then(|id| self.paths.get(id, self.context));
        let id = id.map(Value::Id64).unwrap_or_default();
        let (table, column) = (edge.table, edge.column.as_str());
        let found = self.destination(from, edge).map(|found| found.address);
        ReferenceRow { direction, id, path, table, column, file: from.name(), row: edge.row, entry, found }
    }

    /// The meshes of the geometry files that the visual `id` draws.
    fn meshes(
        &self,
        from: &LinkedFile,
        id: u64,
        write: &mut impl FnMut(ReferenceRow<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Some(asset) = from.asset() else { return Ok(()) };
        for other in self.files.iter().filter_map(LinkedFile::asset) {
            let file = other.source().name();
            let meshes = refs::meshes(asset, id, other).unwrap_or_else(|error| {
                self.context.damaged(file, &error);
                Vec::new()
            });
            for mesh in meshes {
                write(ReferenceRow {
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
        let known = Known::new(self.files.iter().filter_map(LinkedFile::asset).chain(self.databases));
        if !known.has_texts() && !self.stated.has_archives() {
            let what = "no assets.bin among the files: references to what only it has count as dangling; \
                        --names GAME looks in a game, too";
            self.context.note("refs", what);
        }
        let columns = columns(true);
        let mut out = self.context.rows(&columns)?;
        let (mut count, mut replaced) = (0usize, 0usize);
        for asset in self.files {
            let mut found = self.scan(asset, &|id, by| by == By::Id && !known.has(id));
            self.say(asset, &found);
            found.edges.retain(|edge| match self.destination(asset, edge) {
                Some(found) => {
                    replaced = replaced.saturating_add(found.is_replacement.into());
                    false
                }
                None => true,
            });
            count += found.edges.len();
            for edge in &found.edges {
                let ReferenceRow { direction, id, path, table, column, file, row, entry, .. } =
                    self.row("to", Some(edge.to), edge.from, edge, asset);
                let path = path.or_else(|| edge.text.clone());
                let entry_path = entry.and_then(|id| self.paths.get(id, self.context));
                out.row(&[
                    direction.into(),
                    id,
                    path.into(),
                    table.into(),
                    column.into(),
                    file.into(),
                    row.into(),
                    entry.map(Value::Id64).unwrap_or_default(),
                    entry_path.into(),
                ])?;
            }
        }
        out.finish()?;
        if replaced > 0 {
            let what =
                format!("{replaced} references name a .tga; only its .dds exists, and the game reads that instead");
            self.context.note("refs", &what);
        }
        if count > 0 {
            self.context.not_found(&format!("{count} references to ids that are in none of the files"));
        }
        Ok(Exit::Done)
    }

    fn trees(&self, entries: &[RequestedEntry], depth: usize) -> Outcome {
        let mut page = self.context.page();
        for RequestedEntry { id, query, file, .. } in entries {
            if file.is_none() && !self.has(*id) {
                self.context.not_found(&format!("{query:?}: is in none of the files"));
                continue;
            }
            match file {
                Some(file) => {
                    self.file_of.borrow_mut().insert(*id, *file);
                    page.line(query)?;
                }
                None => page.line(&self.name(*id))?,
            }
            let mut shown = HashSet::from([*id]);
            // Depth first, without recursion: how deep references go is the file's to choose.
            let mut open = vec![self.edges(*id).into_iter()];
            while let Some(level) = open.last_mut() {
                let Some((edge, end)) = level.next() else {
                    open.pop();
                    continue;
                };
                let last = level.len() == 0;
                for level in open.iter().take(open.len().saturating_sub(1)) {
                    page.put(if level.len() > 0 { "│   " } else { "    " })?;
                }
                let branch = if last { "└── " } else { "├── " };
                let first = shown.insert(edge.to);
                let below = if open.len() < depth || !first { self.edges(edge.to) } else { Vec::new() };
                let again = if first || below.is_empty() { "" } else { "  (shown above)" };
                let name = edge.text.clone().unwrap_or_else(|| self.name(edge.to));
                page.line(&format!("{branch}{}  {name}{end}{again}", edge.column))?;
                if first {
                    open.push(below.into_iter());
                }
            }
        }
        page.flush()?;
        Ok(Exit::Done)
    }

    /// The references of an entry, each target once, without its folder, and what is known of the file that a path leads to.
    fn edges(&self, id: u64) -> Vec<(Edge, String)> {
        let mut edges: Vec<(Edge, String)> = Vec::new();
        let mut seen = HashSet::from([id]);
        let file = self.file_of.borrow().get(&id).copied();
        for (number, asset) in self.files.iter().enumerate() {
            let found = self.references(asset, number, id, file);
            self.say(asset, &found);
            let is_new = |edge: &Edge| edge.column != refs::PARENT && seen.insert(edge.to);
            edges.extend(found.edges.into_iter().filter(is_new).map(|edge| {
                let end = self.end_of(asset, &edge);
                (edge, end)
            }));
        }
        edges
    }

    /// The end of the line of a reference: whether the file is missing, or differs from the stated one.
    fn end_of(&self, from: &LinkedFile, edge: &Edge) -> String {
        match self.destination(from, edge) {
            Some(found) if found.is_replacement => format!("  (is {})", found.address),
            None if from.stated().is_some() && !self.has(edge.to) => "  (missing)".to_owned(),
            _ => String::new(),
        }
    }

    fn name(&self, id: u64) -> String {
        self.paths.get(id, self.context).unwrap_or_else(|| Value::Id64(id).to_string())
    }
}
