//! One run of a command: its options, and how it opens files.

use super::failure::{Exit, Failure};
use super::global::{Format, Global};
use super::output_files::UsedFiles;
use super::pager::{Pager, complain};
use super::progress::Unit;
use super::reports::Reports;
use super::settings::Settings;
use super::stdout::LostOutput;
use crate::archive::names::{Language, NameSources};
use crate::archive::{self, Address, is_archive, open_inside};
use crate::asset::Asset;
use crate::error::{Error, Result};
use crate::files::{describing_files, hint_of_describing_files};
use crate::models::Meshes;
use crate::options::Options;
use crate::paths::of_variable;
use crate::refs;
use crate::scene::{ShapeData, ShapeLink};
use crate::table::{Table, Tree};
use crate::texture_files::TextureFiles;
use std::borrow::Cow;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The default database of commands, below the current folder and its parents.
const DATABASES: [&str; 3] = ["assets.bin", "content/assets.bin", "res/content/assets.bin"];

/// One run of a command: its options, and what it has opened, written and reported so far.
pub(super) struct Context {
    /// The global options as they were typed.
    pub(super) typed: Global,
    pub(super) settings: Settings,
    pub(super) reports: Reports,
    pub(super) used: UsedFiles,
    pub(super) pager: Pager,
    /// The output that could not be written to standard output.
    pub(super) lost: LostOutput,
    /// The archive of the last address.
    archive: RefCell<Option<(Address, Asset)>>,
}

impl Context {
    /// Creates the context. With `is_paged`, output on a terminal goes through a pager, unless the user disabled it. With `is_diverted`,
    /// it goes into a file: see [`Context::divert`].
    pub(super) fn new(typed: Global, is_paged: bool, is_diverted: bool) -> Result<Self, Failure> {
        let settings = Settings::new(&typed, is_diverted)?;
        let pager = settings.pages.filter(|_| is_paged).map_or_else(Pager::default, Pager::on_terminal);
        let mut context = Self {
            typed,
            settings,
            reports: Reports::default(),
            used: UsedFiles::default(),
            pager,
            lost: LostOutput::default(),
            archive: RefCell::default(),
        };
        let Global { fields, layouts, key, oodle, more_names, .. } = &context.typed;
        for files in [fields, layouts, more_names, key.as_slice(), oodle.as_slice()] {
            context.reads(files);
        }
        if !more_names.is_empty() {
            let names = context.names(more_names)?;
            context.settings.options = context.settings.options.clone().with(Arc::new(names));
        }
        for file in &context.typed.more_names {
            let address = Address::parse(file);
            context.reads(&[address.outer()]);
            if is_archive(address.outer()) {
                context.archive(&address).map_err(Failure::of_file(&file))?;
            }
        }
        Ok(context)
    }

    pub(super) fn options(&self) -> &Options {
        &self.settings.options
    }

    fn names(&self, files: &[PathBuf]) -> Result<NameSources, Failure> {
        let mut names = NameSources::default();
        for file in files {
            let added = self
                .with_progress_of("names", Unit::Files, |progress| names.add_file_with(file, self.options(), progress));
            added.map_err(Failure::of_file(file))?;
        }
        names.left_out().iter().for_each(|warning| complain(&format!("warning: {warning}")));
        Ok(names)
    }

    pub(super) fn format(&self) -> Format {
        self.typed.format
    }

    /// Opens a file, or a file in an archive (`ARCHIVE:INNER`).
    pub(super) fn open(&self, path: &Path) -> Result<Asset, Failure> {
        self.open_by(path, self.options())
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
        let mut options = Cow::Borrowed(self.options());
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
        let address = Address::parse(path);
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
        let Some(language) = self.options().get::<Language>() else { return };
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
            let folder = archive::Folder::open(path, self.options());
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
        let open = address.open_outer(self.options())?;
        self.check_language(&open);
        self.reads(&[address.outer()]);
        self.reads_asset(&open);
        *self.archive.borrow_mut() = Some((address, open.clone()));
        Ok(open)
    }

    /// The file to use as a database: `path` itself, or the database in the archive `path`.
    pub(super) fn database_in(&self, path: PathBuf) -> Result<PathBuf, Failure> {
        let address = Address::parse(&path);
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
        let address = Address::parse(path);
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

    /// The open file with the table `table` among the files that describe the others of a game, or of several of its builds.
    pub(super) fn inside_with_table(&self, game: &Asset, table: &str) -> Result<Option<Asset>, Failure> {
        for file in describing_files(game) {
            let inside = self.open_all_with(Path::new(&file), &[], Some(table))?;
            if inside.reader().table(table).is_some() {
                return Ok(Some(inside));
            }
        }
        Ok(None)
    }

    /// The file with the table `table`: `asset` itself, or the file of a game that [describes](Context::inside_with_table) the others.
    pub(super) fn with_table(&self, asset: Asset, table: &str) -> Result<Asset, Failure> {
        if asset.reader().table(table).is_some() {
            return Ok(asset);
        }
        Ok(self.inside_with_table(&asset, table)?.unwrap_or(asset))
    }

    /// The open file `inner` of the archive `asset` at `path`, if the archive contains it.
    pub(super) fn inside(&self, path: &Path, asset: &Asset, inner: &str) -> Result<Option<Asset>, Failure> {
        let has = |archive: &dyn archive::Archive| matches!(archive.find(inner), Ok(Some(_)));
        let found = asset.reader().archive().is_some_and(has);
        found.then(|| self.open(&Address::within(path, inner))).transpose()
    }

    /// The parameters of the game at `path` and the name of the entity there that `query` names, such as a ship by its title.
    pub(super) fn entity_of_game(&self, path: &Path, query: &str) -> Result<Option<(Asset, String)>, Failure> {
        let address = Address::parse(path);
        if address.inner().is_some() || !is_archive(address.outer()) {
            return Ok(None);
        }
        let game = self.archive(&address).map_err(Failure::of_file(path))?;
        let Some(inner) = game.reader().archive().and_then(|archive| archive.parameters()) else { return Ok(None) };
        let Some(parameters) = self.inside(path, &game, inner)? else { return Ok(None) };
        let Some(entries) = refs::entries(&parameters) else { return Ok(None) };
        let found = entries.resolve(query, true, &mut |_| ());
        let found = found.map_err(Failure::of_file(parameters.source().name()))?;
        Ok(found.and_then(|found| found.path).map(|name| (parameters, name)))
    }

    /// The open file that has this ending instead of the ending of `path`, if present. One that cannot be opened is an error, but
    /// keeps no other file from being written.
    pub(super) fn companion_of(&self, path: &Path, ending: &str) -> Option<Asset> {
        let companion = path.with_extension(ending);
        let address = Address::parse(&companion);
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
        let linked = name.map(|name| path.with_file_name(name)).filter(|linked| Address::parse(linked).exists());
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
        let address = Address::parse(path);
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
        Address::parse(path).exists() && self.open(path).is_ok_and(|asset| asset.reader().archive().is_some())
    }

    /// The database: `given`, else `$ASSETQ_DB`, else the first one found here and upwards.
    pub(super) fn database_path(&self, given: Option<&Path>) -> Result<PathBuf, Failure> {
        if let Some(path) = given {
            return self.database_in(path.to_owned());
        }
        if let Some(path) = of_variable("ASSETQ_DB") {
            return self.database_in(path);
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
                let (what, hint) = (crate::reader::no_table(reader, wanted), hint_of_describing_files(asset, wanted));
                Failure::new(exit, format!("{file}: {what}{hint}"))
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
}
