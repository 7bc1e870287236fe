//! Tools that all commands share: opening files, writing output, progress.

use super::entries::Entries;
use super::failure::{Exit, Failure};
use super::global::{Color, Format, Global};
use super::output_files::ReadFiles;
use super::pager::{Pager, complain};
use super::progress::Unit;
use super::stdout::{Lost, Stdout};
use crate::archive::names::{Language, NameSources};
use crate::archive::{self, Address, Cache, Oodle, is_archive, open_inside};
use crate::asset::{self, Asset};
use crate::atomic_file::FileId;
use crate::error::{Error, Result};
use crate::files::{FileSet, FormatOf};
use crate::models::Meshes;
use crate::options::Options;
use crate::scene::{ShapeData, ShapeLink};
use crate::source::bounded::Bounded;
use crate::table::{Column, Kind, Table, Tree};
use crate::texture_files::TextureFiles;
use crate::write::rows::{RowFormat, RowWriter};
use crate::write::text::{Page, Style};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The default database of commands, below the current folder and its parents.
const DATABASES: [&str; 3] = ["assets.bin", "content/assets.bin", "res/content/assets.bin"];
const SHOWN_ERRORS: u64 = 10;

/// The settings of one run, and its faults so far.
pub(super) struct Context {
    pub(super) format: Cell<Format>,
    /// Whether rows have a header of column names.
    pub(super) headers: Cell<bool>,
    /// Whether only results and failures are shown.
    pub(super) quiet: bool,
    /// Whether arguments are in the documented order, whatever exists.
    pub(super) keeps_order: bool,
    pub(super) options: Options,
    /// The files with more names for ids.
    pub(super) names_files: Vec<PathBuf>,
    /// See [`Global::file_settings`].
    pub(super) file_settings: Vec<&'static str>,
    damaged: Cell<u64>,
    /// The errors that were shown, and how often they were met again.
    shown: RefCell<(Vec<String>, u64)>,
    worst: Cell<Exit>,
    /// The output that could not be written to standard output.
    pub(super) lost: Lost,
    /// The archive of the last address.
    archive: RefCell<Option<(Address, Asset)>>,
    read: RefCell<HashSet<FileId>>,
    /// The files of opened archives, and folders all of whose files are read.
    archive_files: RefCell<HashSet<PathBuf>>,
    /// The folders that the command writes, and makes if they are missing.
    written_folders: RefCell<Vec<PathBuf>>,
    pub(super) pager: Pager,
    /// Whether output of a prompt may go through a pager, and how wide it is there.
    pub(super) pages: Option<bool>,
    /// Whether lines for people are bold and coloured.
    pub(super) style: Style,
    /// The width of the terminal for tables; `None` if cells are not cut.
    pub(super) width: Option<usize>,
}

impl Context {
    /// Creates the context. With `is_paged`, output on a terminal goes through a pager, unless the user disabled it.
    pub(super) fn new(global: &Global, is_paged: bool) -> Result<Self, Failure> {
        let Global { format, quiet, no_mmap, no_cache, no_companions, strict, wide, color, no_pager, .. } = *global;
        let mut options = Options::default();
        options.strict = strict;
        options.no_mmap = no_mmap;
        if let Some(folder) = Cache::default_folder().filter(|_| !no_cache) {
            options = options.with(Arc::new(Cache::at(folder)));
        }
        let (key, oodle) = (global.key.as_slice(), global.oodle.as_slice());
        for (setting, files) in [("fields", &*global.fields), ("layouts", &*global.layouts), ("key", key)] {
            for file in files {
                options = configured(setting, &bytes_of(file)?, &file.to_string_lossy(), &options)?;
            }
        }
        if no_companions {
            options = configured("companions", &[], "--no-companions", &options)?;
        }
        if let Some(library) = &global.oodle {
            // Loaded when the first file needs it; a wrong path is an error at once.
            library.metadata().map_err(|error| Failure::io(library, "cannot open", error))?;
        }
        if let Some(oodle) = global.oodle.as_ref().map(Oodle::at).or_else(Oodle::of_environment) {
            options = options.with(Arc::new(oodle));
        }
        if let Some(game) = &global.game {
            options = configured("game", game.as_bytes(), "--game", &options)?;
        }
        if let Some(format) = &global.format_of {
            options = options.with(Arc::new(FormatOf(format.clone())));
        }
        if let Some(language) = &global.language {
            options = options.with(Arc::new(Language(language.clone())));
        }
        let mut context = Self {
            format: Cell::new(format),
            headers: Cell::new(true),
            quiet,
            keeps_order: global.keeps_order,
            options,
            names_files: global.more_names.clone(),
            file_settings: global.file_settings(),
            damaged: Cell::new(0),
            shown: RefCell::default(),
            worst: Cell::new(Exit::Done),
            lost: Lost::default(),
            archive: RefCell::default(),
            read: RefCell::default(),
            archive_files: RefCell::default(),
            written_folders: RefCell::default(),
            pager: if is_paged && !no_pager { Pager::on_terminal(wide) } else { Pager::default() },
            pages: Some(wide).filter(|_| !no_pager),
            style: style(color),
            width: terminal_width().filter(|_| !wide),
        };
        if !global.more_names.is_empty() {
            context.options = context.options.clone().with(Arc::new(context.names(&global.more_names)?));
        }
        for files in [&*global.fields, &*global.layouts, &*global.more_names, key, oodle] {
            context.reads(files);
        }
        for file in &global.more_names {
            let address = Address::of(file);
            context.reads(&[address.outer()]);
            if is_archive(address.outer()) {
                context.archive(&address).map_err(Failure::of_file(&file))?;
            }
        }
        Ok(context)
    }

    fn names(&self, files: &[PathBuf]) -> Result<NameSources, Failure> {
        let mut names = NameSources::default();
        for file in files {
            let added = self
                .with_progress_of("names", Unit::Files, |progress| names.add_file_with(file, &self.options, progress));
            added.map_err(Failure::of_file(file))?;
        }
        names.left_out().iter().for_each(|warning| complain(&format!("warning: {warning}")));
        Ok(names)
    }

    pub(super) fn format(&self) -> Format {
        self.format.get()
    }

    /// The worst exit code so far. Says how many reports were left out.
    pub(super) fn worst(&self) -> Exit {
        if let Some(more) = self.damaged.get().checked_sub(SHOWN_ERRORS).filter(|&m| m > 0) {
            complain(&format!("… and {more} more"));
            self.damaged.set(0);
        }
        let again = std::mem::take(&mut self.shown.borrow_mut().1);
        if again > 0 {
            complain(&format!("… and the same again {again} times"));
        }
        self.worst.get()
    }

    pub(super) fn has_failed(&self) -> bool {
        self.worst.get() != Exit::Done
    }

    /// Registers input files, which are never overwritten.
    pub(super) fn reads<P: AsRef<Path>>(&self, files: &[P]) {
        self.read.borrow_mut().extend(files.iter().filter_map(|file| FileId::of(file.as_ref())));
    }

    /// Registers the file or part of a file behind `asset`, and the files of an archive, which are never overwritten.
    fn reads_asset(&self, asset: &Asset) {
        if let Some((path, _)) = asset.source().on_disk() {
            self.reads(&[path]);
        }
        if let Some(archive) = asset.reader().archive() {
            self.archive_files.borrow_mut().extend(archive.files_on_disk());
        }
    }

    pub(super) fn files_read(&self) -> ReadFiles {
        ReadFiles::new(self.read.borrow().clone(), &self.archive_files.borrow())
    }

    /// Registers a folder that the command writes. It and folders in it are made if they are missing; an output that is a
    /// file needs a folder that exists.
    pub(super) fn writes_folder(&self, folder: &Path) {
        self.written_folders.borrow_mut().push(folder.to_owned());
    }

    pub(super) fn is_in_written_folder(&self, to: &Path) -> bool {
        self.written_folders.borrow().iter().any(|folder| to.starts_with(folder))
    }

    /// Has the command end with `exit`, unless its code is worse already.
    pub(super) fn worsen(&self, exit: Exit) {
        self.worst.set(self.worst.get().max(exit));
    }

    /// The value of `result`. A failure is reported, and the command continues.
    pub(super) fn or_failed<T>(&self, result: Result<T, Failure>) -> Option<T> {
        result.inspect_err(|failure| self.failed(failure)).ok()
    }

    /// The value that was read from `file`. Damage is reported, and the command continues.
    pub(super) fn or_damaged<T>(&self, file: &str, read: Result<T>) -> Option<T> {
        read.inspect_err(|error| self.damaged(file, error)).ok()
    }

    /// Reports that a requested thing was not found, and continues.
    pub(super) fn not_found(&self, message: &str) {
        complain(message);
        self.worsen(Exit::NotFound);
    }

    /// Reports why one of several requests failed, and continues.
    pub(super) fn failed(&self, failure: &Failure) {
        complain(&failure.message);
        self.worsen(failure.exit);
    }

    /// Reports a damaged part of a file, and continues. After a few reports the parts are only counted.
    pub(super) fn damaged(&self, file: &str, error: &Error) {
        let failure = Failure::in_file(file, error);
        self.worsen(failure.exit);
        let (shown, again) = &mut *self.shown.borrow_mut();
        // One damaged buffer is an error of all parts that use it.
        if shown.contains(&failure.message) {
            *again += 1;
            return;
        }
        self.damaged.set(self.damaged.get() + 1);
        if self.damaged.get() <= SHOWN_ERRORS {
            complain(&failure.message);
            shown.push(failure.message);
        }
    }

    /// Counts further damaged parts without details.
    pub(super) fn more_damaged(&self, count: u64) {
        if count > 0 {
            self.damaged.set(self.damaged.get() + count);
            self.worsen(Exit::Damaged);
        }
    }

    /// Opens a file, or a file in an archive (`ARCHIVE:INNER`).
    pub(super) fn open(&self, path: &Path) -> Result<Asset, Failure> {
        self.open_by(path, &self.options)
    }

    /// As [`Context::open`], with what the files `others` know of it beside their meshes: parameters and texts.
    pub(super) fn open_with<'o>(
        &self,
        path: &Path,
        others: impl IntoIterator<Item = &'o PathBuf>,
    ) -> Result<Asset, Failure> {
        let options = self.options_with(others)?;
        self.open_by(path, &options)
    }

    /// The options by which a file knows what the files `others` know of it beside their meshes.
    pub(super) fn options_with<'o>(
        &self,
        others: impl IntoIterator<Item = &'o PathBuf>,
    ) -> Result<Cow<'_, Options>, Failure> {
        let mut options = Cow::Borrowed(&self.options);
        // A folder that is no game's has textures at most. A pipe can be read once: it is left to the drawing.
        for other in others.into_iter().filter(|other| other.is_file() || is_archive(other) || !other.exists()) {
            let asset = self.open(other)?;
            let reader = asset.reader();
            if reader.facet::<dyn crate::armor::Plating>().is_some() || reader.archive().is_some() {
                let mut names =
                    options.get::<NameSources>().map_or_else(NameSources::default, |names| (*names).clone());
                names.add_asset(asset);
                options = Cow::Owned(options.into_owned().with(Arc::new(names)));
            }
        }
        Ok(options)
    }

    pub(super) fn open_by(&self, path: &Path, options: &Options) -> Result<Asset, Failure> {
        let failed = Failure::of_file(&path);
        let address = Address::of(path);
        self.reads(&[path, address.outer()]);
        let opened = match address.inner() {
            None => address.open_outer(options).map_err(failed),
            Some(inner) => {
                let outer = self.archive(&address).map_err(failed)?;
                // A missing file may belong to a damaged list.
                open_inside(&outer, inner, options).inspect_err(|_| self.warn(&outer)).map_err(failed)
            }
        };
        opened.inspect(|asset| {
            self.reads_asset(asset);
            self.check_language(asset);
        })
    }

    /// Reports that the game `asset` has no texts in the language of the user.
    fn check_language(&self, asset: &Asset) {
        let Some(language) = self.options.get::<Language>() else { return };
        let Some(archive) = asset.reader().archive() else { return };
        let Some(game) = archive.game() else { return };
        let texts = game.texts(Some(&language.0));
        if texts.is_some_and(|texts| matches!(archive.find(&texts), Ok(None))) {
            let languages = game.languages().join(", ");
            let there =
                if languages.is_empty() { "there are no texts".to_owned() } else { format!("there are {languages}") };
            let name = asset.source().name();
            self.not_found(&format!("{name}: no texts in the language {:?}; {there}", language.0));
        }
    }

    /// Opens one side of a comparison: as [`Context::open`], but any folder is an archive of its files.
    pub(super) fn open_side(&self, path: &Path) -> Result<Asset, Failure> {
        if path.is_dir() && !is_archive(path) {
            let folder = archive::Folder::open(path, &self.options);
            self.reads_asset(&folder);
            return Ok(folder);
        }
        self.open(path)
    }

    /// Opens the archive of an address. Keeps the last one open, because many addresses in one archive are usual.
    pub(super) fn archive(&self, address: &Address) -> crate::Result<Asset> {
        let address = address.without_inner();
        if let Some((_, open)) = self.archive.borrow().as_ref().filter(|(of, _)| *of == address) {
            return Ok(open.clone());
        }
        let open = address.open_outer(&self.options)?;
        self.check_language(&open);
        self.reads(&[address.outer()]);
        self.reads_asset(&open);
        *self.archive.borrow_mut() = Some((address, open.clone()));
        Ok(open)
    }

    /// The file to use as a database: `path` itself, or the database in the archive `path`.
    pub(super) fn database_in(&self, path: PathBuf) -> Result<PathBuf, Failure> {
        let address = Address::of(&path);
        if address.inner().is_some() || !is_archive(address.outer()) {
            return Ok(path);
        }
        let archive = self.archive(&address).map_err(Failure::of_file(&path))?;
        match archive.reader().archive().and_then(|archive| archive.database()) {
            Some(inner) => Ok(Address::within(&path, inner)),
            None => Ok(path),
        }
    }

    /// The open database of the archive around the file at `path`, if it has one.
    pub(super) fn database_beside(&self, path: &Path) -> Result<Option<Asset>, Failure> {
        let address = Address::of(path);
        let (Some(inner), Some(text)) = (address.inner(), path.to_str()) else { return Ok(None) };
        let archive = self.archive(&address).map_err(Failure::of_file(&path))?;
        let Some(archive) = archive.reader().archive() else { return Ok(None) };
        let Some(database) = archive.database().filter(|database| *database != inner) else { return Ok(None) };
        let outer = text.strip_suffix(inner).and_then(|outer| outer.strip_suffix(archive::MARK)).unwrap_or(text);
        match archive.find(database) {
            Ok(Some(_)) => self.open(&Address::within(Path::new(outer), database)).map(Some),
            _ => Ok(None),
        }
    }

    /// The open file with the table `table` among the files of the archive at `path` that describe the others: its parameters
    /// and its database.
    pub(super) fn inside_with_table(&self, path: &Path, asset: &Asset, table: &str) -> Result<Option<Asset>, Failure> {
        let Some(archive) = asset.reader().archive() else { return Ok(None) };
        for inner in [archive.parameters(), archive.database()].into_iter().flatten() {
            if matches!(archive.find(inner), Ok(Some(_))) {
                let inside = self.open(&Address::within(path, inner))?;
                if inside.reader().table(table).is_some() {
                    return Ok(Some(inside));
                }
            }
        }
        Ok(None)
    }

    /// The open file that has this ending instead of the ending of `path`, if present. One that cannot be opened is an error, but
    /// keeps no other file from being written.
    pub(super) fn companion_of(&self, path: &Path, ending: &str) -> Option<Asset> {
        let companion = path.with_extension(ending);
        let address = Address::of(&companion);
        let is_present = match address.inner() {
            None => companion.is_file(),
            Some(inner) => {
                let archive = self.archive(&address).ok()?;
                archive.reader().archive()?.find(inner).is_ok_and(|found| found.is_some())
            }
        };
        self.or_failed(is_present.then(|| self.open(&companion))?)
    }

    /// The geometry that a visual or a model leads to, with its path.
    pub(super) fn linked_shape<'o>(
        &self,
        path: &Path,
        asset: &Asset,
        with: impl IntoIterator<Item = &'o PathBuf>,
    ) -> Result<Option<(PathBuf, Asset)>, Failure> {
        let Some(link) = asset.reader().facet::<dyn ShapeLink>() else { return Ok(None) };
        let name = link.shape_file().map_err(Failure::of_file(&path))?;
        let linked = name.map(|name| path.with_file_name(name)).filter(|linked| Address::of(linked).exists());
        linked.map(|linked| self.open_with(&linked, with).map(|geometry| (linked, geometry))).transpose()
    }

    /// The file with the shapes that the file at `path` is about, and its path: the file itself, the geometry that it leads to, or, for a space, the
    /// one file in `with` that has meshes. The file itself takes the place of that one.
    pub(super) fn shape_of(
        &self,
        path: &Path,
        asset: Asset,
        with: &mut [PathBuf],
    ) -> Result<(PathBuf, Asset), Failure> {
        if let Some(linked) = self.linked_shape(path, &asset, with.iter())? {
            return Ok(linked);
        }
        if asset.reader().facet::<dyn ShapeData>().is_some() && asset.reader().facet::<dyn Meshes>().is_none() {
            for at in 0..with.len() {
                if with[at].is_file()
                    && self.open(&with[at]).is_ok_and(|other| other.reader().facet::<dyn Meshes>().is_some())
                {
                    let meshes = std::mem::replace(&mut with[at], path.to_owned());
                    let opened = self.open_with(&meshes, with.iter())?;
                    return Ok((meshes, opened));
                }
            }
        }
        Ok((path.to_owned(), asset))
    }

    /// Adds the places beside the file at `path`, or the archive or folder there, to the places of textures.
    pub(super) fn add_textures(&self, path: &Path, to: &mut TextureFiles) -> Result<(), Failure> {
        let address = Address::of(path);
        if address.inner().is_some() || is_archive(address.outer()) {
            to.add_archive(&self.archive(&address).map_err(Failure::of_file(&path))?);
        } else if path.is_dir() {
            to.add_folder(path);
        } else if let Some(folder) = path.parent() {
            to.add_folder(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        }
        Ok(())
    }

    /// Whether the file or folder at `path` contains files.
    pub(super) fn holds_files(&self, path: &Path) -> bool {
        Address::of(path).exists() && self.open(path).is_ok_and(|asset| asset.reader().archive().is_some())
    }

    pub(super) fn warn(&self, asset: &Asset) {
        if let Some(set) = asset.get::<FileSet>() {
            set.left_out().iter().for_each(|(file, error)| self.damaged(file, error));
            return;
        }
        for warning in asset.reader().warnings() {
            complain(&format!("{}: warning: {warning}", asset.source().name()));
        }
        for error in asset.reader().companion_damage() {
            // The table that shows the names and values of the file has reported it, if its last row was read.
            let message = error.to_string();
            if !self.shown.borrow().0.iter().any(|shown| shown.ends_with(&message)) {
                self.damaged(asset.source().name(), &error);
            }
        }
    }

    /// Reports why files of an archive are not known.
    pub(super) fn report_hidden(&self, asset: &Asset) {
        let hidden = asset.reader().archive().map_or_else(Vec::new, |archive| archive.damage());
        hidden.iter().for_each(|error| self.damaged(asset.source().name(), error));
    }

    /// The database: `given`, else `$ASSETQ_DB`, else the first one found here and upwards.
    pub(super) fn database_path(&self, given: Option<&Path>) -> Result<PathBuf, Failure> {
        if let Some(path) = given {
            return self.database_in(path.to_owned());
        }
        if let Some(path) = std::env::var_os("ASSETQ_DB").filter(|p| !p.is_empty()) {
            return self.database_in(path.into());
        }
        let here = std::env::current_dir().map_err(|e| Error::io("cannot find the current folder", e))?;
        for folder in here.ancestors() {
            if let Some(found) = DATABASES.iter().map(|name| folder.join(name)).find(|path| path.is_file()) {
                return Ok(found.strip_prefix(&here).map(Path::to_owned).unwrap_or(found));
            }
            if is_archive(folder) {
                let found = self.database_in(folder.to_owned())?;
                if found != folder {
                    return Ok(found);
                }
            }
        }
        Err(Failure::new(Exit::Io, "no database here: name one with --db FILE or --db GAME, or set ASSETQ_DB"))
    }

    pub(super) fn page(&self) -> Page<Stdout> {
        Page::new(self.stdout(), self.style)
    }

    pub(super) fn print_line(&self, line: &str) -> Result<(), Failure> {
        let mut page = self.page();
        page.line(line)?;
        Ok(page.flush()?)
    }

    /// Writes all of standard output.
    pub(super) fn print(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = self.stdout();
        out.write_all(bytes)?;
        Ok(out.flush()?)
    }

    pub(super) fn rows_of<const N: usize>(
        &self,
        columns: [(&'static str, Kind); N],
    ) -> Result<RowWriter<Stdout>, Failure> {
        self.rows(&columns.map(|(name, kind)| Column::new(name, kind)))
    }

    pub(super) fn rows(&self, columns: &[Column]) -> Result<RowWriter<Stdout>, Failure> {
        let format = RowFormat::from(self.format());
        let rows = if self.headers.get() { RowWriter::new } else { RowWriter::without_header };
        Ok(rows(self.stdout(), format, columns, self.style)?.fit_into(self.width))
    }

    /// Whole entries on standard output: one object or, with `many`, an array of any length.
    pub(super) fn entries(&self, many: bool) -> Result<Entries<Stdout>, Failure> {
        Entries::new(self.stdout(), self.format(), many)
    }

    /// The arguments, with `-` replaced by the lines of standard input that are not blank.
    pub(super) fn arguments<'a>(
        &self,
        given: impl IntoIterator<Item = &'a String>,
    ) -> impl Iterator<Item = Result<Cow<'a, str>, Failure>> {
        given.into_iter().flat_map(|argument| {
            let from_stdin = argument == "-";
            let lines = from_stdin.then(|| lines(io::stdin().lock())).into_iter().flatten();
            let lines = lines.filter(|line| line.as_ref().map_or(true, |line| !line.trim().is_empty()));
            let lines = lines.map(|line| match line {
                Ok(line) => Ok(line.into()),
                Err(error) => Err(Error::io("cannot read standard input", error).into()),
            });
            (!from_stdin).then(|| Ok(argument.as_str().into())).into_iter().chain(lines)
        })
    }

    /// The table `name`, or the main table.
    pub(super) fn table<'a>(&self, asset: &'a Asset, name: Option<&str>) -> Result<Box<dyn Table + 'a>, Failure> {
        let (file, reader) = (asset.source().name(), asset.reader());
        match name {
            Some(wanted) => reader.table(wanted).ok_or_else(|| {
                if let Some(damage) = reader.table_damage(wanted) {
                    return Failure::in_file(file, &damage.context(format_args!("no table {wanted}")));
                }
                // The file has the data of an absent table, and shows it raw.
                let exit = if reader.absent(wanted).is_some() { Exit::NotFound } else { Exit::Usage };
                Failure::new(exit, format!("{file}: {}", crate::reader::no_table(reader, wanted)))
            }),
            None => {
                let main = reader.tables().into_iter().next();
                main.ok_or_else(|| Failure::new(Exit::NotFound, format!("{file}: it has no tables")))
            }
        }
    }

    /// The entries most similar to `wanted`, as the end of a message. Ids have no suggestions.
    pub(super) fn hint(&self, asset: &Asset, wanted: &str) -> String {
        if crate::id::parse(wanted).is_some() {
            return String::new();
        }
        let reader = asset.reader();
        let Some(main) = reader.tables().into_iter().next() else { return String::new() };
        let mut names = crate::table::nearest_rows(wanted, &*main);
        // A name that several rows share, such as a format, is no entry everywhere.
        names.retain(|name| reader.cat(name, &mut Tree::default()).unwrap_or(true));
        crate::suggest::hint_of(&names)
    }

    pub(super) fn note(&self, file: impl AsRef<Path>, note: &str) {
        self.say(&format!("{}: note: {note}", file.as_ref().display()));
    }

    pub(super) fn notes(&self, file: &str, notes: &[impl AsRef<str>]) {
        notes.iter().for_each(|note| self.note(file, note.as_ref()));
    }

    /// Writes one line to standard error that reports no failure.
    pub(super) fn say(&self, message: &str) {
        if !self.quiet {
            complain(message);
        }
    }
}

/// Adds the value of the command's option `setting` to `options`: from a file, or from the command line itself.
fn configured(setting: &str, given: &[u8], from: &str, options: &Options) -> Result<Options, Failure> {
    let configured = asset::Format::configure(setting, given, from, options);
    configured.map_err(|e| Failure::usage(e.to_string()))
}

fn bytes_of(file: &Path) -> Result<Vec<u8>, Failure> {
    /// The largest size of a file of settings: a device has no end.
    const MOST: u64 = 16 << 20;
    let open = std::fs::File::open(file).map(io::BufReader::new);
    let read = open.and_then(|open| Bounded::new(open, MOST).bytes());
    read.map_err(|error| Failure::io(file, "cannot read", error))
}

/// Whether lines for people are bold and coloured.
fn style(color: Color) -> Style {
    let is_bold = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            // A stream of `anstream` has a console of Windows take escape sequences, which it shows as they are otherwise.
            let stream = anstream::AutoStream::auto(io::stdout());
            stream.current_choice() == anstream::ColorChoice::AlwaysAnsi && io::stdout().is_terminal()
        }
    };
    if is_bold { Style::Bold } else { Style::Plain }
}

fn terminal_width() -> Option<usize> {
    let (terminal_size::Width(width), _) = terminal_size::terminal_size_of(io::stdout())?;
    // Some programs provide terminals without a size.
    Some(usize::from(width)).filter(|width| *width > 0)
}

/// The lines of `input`; a line may be endless.
pub(super) fn lines(input: impl io::BufRead) -> impl Iterator<Item = io::Result<String>> {
    const LINE: u64 = 1 << 20;
    Bounded::new(input, u64::MAX).with_lines(LINE).lines()
}
