//! Files of any format: telling which one it is, and opening it.

use crate::container::{Archive, ArchiveTable, Prefix};
use crate::error::{Error, ErrorKind, Result};
use crate::lfs;
use crate::options::Options;
use crate::reader::{FileFormat, Likeness, Reader, no_table};
use crate::source::Source;
use crate::table::Table;
use std::any::Any;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// A format. The built-in formats are constants of this type; [`Format::of`] gives the format of any reader.
#[derive(Clone, Copy)]
pub struct Format(&'static Entry);

struct Entry {
    name: &'static str,
    game: &'static str,
    about: &'static str,
    endings: &'static [&'static str],
    own_endings: &'static [&'static str],
    own_tables: bool,
    is_folder: fn(&Path) -> bool,
    likeness: fn(&[u8]) -> Likeness,
    confirms_ending: fn(&[u8]) -> bool,
    open: fn(Source, &Options) -> Result<Box<dyn Reader>>,
    configure: Configure,
}

/// [`FileFormat::configure`].
type Configure = fn(&str, &[u8], &str, &Options) -> Result<Option<Options>>;

/// Formats and prefixes that a program has from its beginning. The package `assetq` submits the formats of all games:
///
/// ```
/// # use assetq_core::{BuiltIn, inventory};
/// inventory::submit! { BuiltIn { formats: &[], prefixes: &[], archive_tables: &[] } }
/// ```
#[derive(Debug)]
pub struct BuiltIn {
    /// Formats, each list in the order of detection of files without a magic.
    pub formats: &'static [&'static [Format]],
    /// Words for folders in addresses.
    pub prefixes: &'static [Prefix],
    /// Tables that every archive has besides its own.
    pub archive_tables: &'static [ArchiveTable],
}

inventory::collect!(BuiltIn);

static LISTED: OnceLock<&BuiltIn> = OnceLock::new();

impl BuiltIn {
    /// Adds these formats and prefixes unless any are submitted. A linker that takes only what is called from a static library leaves
    /// out what is submitted: a static library calls this first, any number of times.
    pub fn list(&'static self) {
        if Self::all().next().is_none() {
            LISTED.get_or_init(|| self);
        }
    }

    fn all() -> impl Iterator<Item = &'static Self> {
        inventory::iter::<Self>.into_iter().chain(LISTED.get().copied())
    }

    pub fn formats() -> impl Iterator<Item = Format> {
        Self::all().flat_map(|submitted| submitted.formats.iter().copied().flatten().copied())
    }

    pub fn prefixes() -> impl Iterator<Item = &'static Prefix> {
        Self::all().flat_map(|submitted| submitted.prefixes)
    }

    pub fn archive_tables() -> impl Iterator<Item = &'static ArchiveTable> {
        Self::all().flat_map(|submitted| submitted.archive_tables)
    }
}

/// Formats of other crates, which are detected before the built-in ones.
static ADDED: RwLock<Vec<Format>> = RwLock::new(Vec::new());

impl Format {
    /// The format whose files `T` reads.
    pub const fn of<T: FileFormat>() -> Self {
        Self(
            const {
                &Entry {
                    name: T::NAME,
                    game: T::GAME,
                    about: T::ABOUT,
                    endings: T::ENDINGS,
                    own_endings: T::OWN_ENDINGS,
                    own_tables: T::OWN_TABLES,
                    is_folder: T::is_folder,
                    likeness: T::likeness,
                    confirms_ending: T::confirms_ending,
                    open: |source, options| Ok(Box::new(T::open_as(source, options)?)),
                    configure: T::configure,
                }
            },
        )
    }

    /// Makes every later [`Asset::open`] of this process know this format too, and the commands with it. A format of
    /// the same name is replaced.
    pub fn add(self) {
        let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
        added.retain(|format| *format != self);
        added.push(self);
    }

    /// The name that outputs use.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// The game whose files have the format; empty if many games have such files.
    pub const fn game(self) -> &'static str {
        self.0.game
    }

    /// The content of a file of the format, in a few words.
    pub const fn about(self) -> &'static str {
        self.0.about
    }

    /// As [`FileFormat::OWN_TABLES`].
    pub const fn has_own_tables(self) -> bool {
        self.0.own_tables
    }

    /// All formats, the added ones first. Copied, so that no lock is held while a format looks at a file: its code may
    /// detect the format of another file, or add a format.
    fn all() -> Vec<Self> {
        let mut all = ADDED.read().unwrap_or_else(PoisonError::into_inner).clone();
        all.extend(BuiltIn::formats());
        all
    }

    /// Adds the setting `setting` to `options`, of the format that declares it: see [`FileFormat::configure`].
    ///
    /// # Errors
    /// As [`FileFormat::configure`], and `NotFound` where no format has such a setting.
    pub fn configure(setting: &str, given: &[u8], from: &str, options: &Options) -> Result<Options> {
        for format in Self::all() {
            if let Some(options) = (format.0.configure)(setting, given, from, options)? {
                return Ok(options);
            }
        }
        Err(Error::of_part(
            ErrorKind::NotFound { what: format!("no format has the setting {setting}") },
            from.to_owned(),
        ))
    }

    /// The format of `source`: by its magic if the format has one, then by the ending of the file name, then by the
    /// plausibility of the header. A folder is detected by the names in it.
    ///
    /// # Errors
    /// `UnknownFormat` with the first bytes, `GitLfsPointer`, `UnknownFolder`.
    pub fn detect(source: &Source) -> Result<Self> {
        let data = source.bytes();
        if let Some(folder) = source.folder() {
            let found = Self::all().into_iter().find(|format| (format.0.is_folder)(folder));
            return found.ok_or_else(|| Error::of_part(ErrorKind::UnknownFolder, ""));
        }
        if let Some(pointer) = lfs::pointer(data) {
            return Err(pointer);
        }
        let mut all = Self::all().into_iter();
        let found = Self::guess(source.name(), data);
        found.or_else(|| all.find(|format| (format.0.likeness)(data) == Likeness::Shape)).ok_or_else(|| {
            let head = data.iter().take(8).copied().collect();
            Error::new(ErrorKind::UnknownFormat { head }, "", 0)
        })
    }

    /// Guesses the format of a file from its name and first bytes: by its magic, then by the ending of its name. Without any
    /// bytes, a name guesses only formats whose [endings](FileFormat::confirms_ending) need no bytes.
    pub fn guess(name: &str, head: &[u8]) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let all = Self::all();
        let by_magic = all.iter().find(|format| (format.0.likeness)(head) == Likeness::Magic);
        let mut rest = all.iter();
        let by_ending =
            |format: &&Self| format.0.endings.iter().any(|end| name.ends_with(end)) && (format.0.confirms_ending)(head);
        by_magic.or_else(|| rest.find(by_ending)).copied()
    }

    /// Whether files of some format have names with this ending, whatever else may have one.
    pub fn has_known_ending(name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        Self::all().iter().any(|format| format.0.endings.iter().any(|end| name.ends_with(end)))
    }

    /// The format that a file of this name has, unless it is damaged: see [`FileFormat::OWN_ENDINGS`].
    pub fn promised(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        // macOS adds such files beside others on the drives of other systems.
        let is_sidecar = name.rsplit(['/', '\\']).next().is_some_and(|name| name.starts_with("._"));
        let mut all = Self::all().into_iter().filter(|_| !is_sidecar);
        all.find(|format| format.0.own_endings.iter().any(|end| name.ends_with(end)))
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.name()).finish()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An open file of any format. A clone is the same open file.
#[derive(Clone)]
pub struct Asset {
    format: Format,
    reader: Arc<dyn Reader>,
    options: Arc<Options>,
}

/// Readers have lists of all that they read.
impl fmt::Debug for Asset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.source().name();
        f.debug_struct("Asset").field("name", &name).field("format", &self.format.name()).finish_non_exhaustive()
    }
}

impl Asset {
    /// The file with the bytes of `source`.
    pub(crate) fn of_source(source: Source, options: &Options) -> Result<Self> {
        let format = Format::detect(&source)?;
        Ok(Self { format, reader: (format.0.open)(source, options)?.into(), options: Arc::new(options.clone()) })
    }

    pub fn of_format(format: Format, reader: impl Reader) -> Self {
        Self { format, reader: Arc::new(reader), options: Arc::default() }
    }

    pub fn format(&self) -> Format {
        self.format
    }

    pub fn source(&self) -> &Source {
        self.reader.source()
    }

    /// The options that it was opened with: a file in an archive knows the names that the archive has.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The reader, as every command sees it.
    pub fn reader(&self) -> &dyn Reader {
        &*self.reader
    }

    /// The table called `name`.
    ///
    /// # Errors
    /// `Syntax` with the nearest tables, or the reason why the file has no such table.
    pub fn table(&self, name: &str) -> Result<Box<dyn Table + '_>> {
        let reader = self.reader();
        reader.table(name).ok_or_else(|| Error::syntax(no_table(reader, name)).context(self.source().name()))
    }

    /// The file as an archive of other files.
    ///
    /// # Errors
    /// `Syntax` for a file of a format that holds no files.
    pub fn archive(&self) -> Result<&dyn Archive> {
        self.reader().archive().ok_or_else(|| {
            let (name, format) = (self.source().name(), self.format());
            Error::syntax(format!("{name}: a {format} file is no archive, so nothing lies in it"))
        })
    }

    /// The reader of one format, such as a database; `None` for a file of another format.
    pub fn get<T: Reader>(&self) -> Option<&T> {
        let reader: &dyn Any = &*self.reader;
        reader.downcast_ref()
    }
}

impl<T: FileFormat> From<T> for Asset {
    fn from(reader: T) -> Self {
        Self { format: Format::of::<T>(), reader: Arc::new(reader), options: Arc::default() }
    }
}
