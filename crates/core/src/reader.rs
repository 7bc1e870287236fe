//! [`Reader`], the interface of a format for all commands, and [`FileFormat`], which detects and opens its files.

#![allow(clippy::arithmetic_side_effects, reason = "numbers of rows, bytes and texts in memory, which cannot overflow")]

use crate::compare::Comparison;
use crate::container::Archive;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::relations::Relations;
use crate::report::{Progress, Report};
use crate::source::Source;
use crate::source::text_input::text_of;
use crate::table::{Table, Value, Visitor, rules};
use crate::writable::{Writable, short_text};
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::path::Path;

pub mod entry;

/// A named range of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    pub name: Cow<'static, str>,
    /// Absolute file offset.
    pub offset: u64,
    /// Length in bytes.
    pub size: u64,
    /// The number of entries in it, if it has entries.
    pub count: Option<u64>,
}

impl Section {
    pub fn new(name: impl Into<Cow<'static, str>>, offset: u64, size: u64, count: Option<u64>) -> Self {
        Self { name: name.into(), offset, size, count }
    }
}

/// An open file, with the operations that every command uses.
///
/// A format must implement [`Reader::source`] and [`Reader::tables`]. All other parts are optional: by default `cat` and
/// `verify` read the tables, and a command that needs another part refuses the file.
pub trait Reader: Any + fmt::Debug + Send + Sync {
    /// The bytes of the file.
    fn source(&self) -> &Source;

    /// The file's tables; the first one is the main table.
    fn tables(&self) -> Vec<Box<dyn Table + '_>>;

    /// The version in the file, in its usual form; empty if the format has none.
    fn version(&self) -> String {
        String::new()
    }

    /// The ranges of the file, in file order.
    fn sections(&self) -> Vec<Section> {
        Vec::new()
    }

    /// The table called `name`.
    fn table(&self, name: &str) -> Option<Box<dyn Table + '_>> {
        self.tables().into_iter().find(|t| t.name() == name)
    }

    /// Why `table` does not exist, if the file does contain its data.
    fn absent(&self, _table: &str) -> Option<String> {
        None
    }

    /// The damage of the part of the file that may have the rows of `table`, if no such table exists.
    fn table_damage(&self, _table: &str) -> Option<Error> {
        None
    }

    /// Facts for `info`, besides sections and tables.
    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        Vec::new()
    }

    /// Writes one whole entry to `out`, with its references resolved. Returns `false` for a missing entry, without any
    /// output. Default: the row of the main table whose only key is `entry`, or whose label is.
    ///
    /// # Errors
    /// When the entry is damaged (after the readable values), or `out` fails.
    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        let Some((table, row)) = self.entry_row(entry)? else { return Ok(false) };
        entry::show_row(&*table, row, out).map(|()| true)
    }

    /// The table and the row whose cells [`Reader::cat`] shows as `entry`, if it shows one row. Default: the first row of the
    /// main table with this key, or with this label.
    ///
    /// # Errors
    /// When the row cannot be looked up.
    fn entry_row(&self, entry: &str) -> Result<Option<(Box<dyn Table + '_>, usize)>> {
        let Some(table) = self.tables().into_iter().next() else { return Ok(None) };
        let row = match entry::row_of(&*table, entry)? {
            Some(row) => Some(row),
            None => entry::row_named(&*table, entry)?,
        };
        Ok(row.map(|row| (table, row)))
    }

    /// The other traits that the reader implements, such as [`Archive`] or [`Writable`]: a list by [`facets!`].
    fn facets(&self) -> &'static [Facet] {
        &[]
    }

    /// This file and a newer one, if the format compares some of their tables itself and `new` has the same format.
    fn compared<'a>(&'a self, _new: &'a dyn Reader) -> Option<Box<dyn Comparison<'a> + 'a>> {
        None
    }

    /// Notes about how the file is read, for `info`.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Warnings of faults that reading continued after, such as a wrong checksum.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Checks everything that can be checked, and lists all findings. Default: every cell of every table is read, and the rules
    /// that columns declare are checked.
    fn verify(&self, progress: &Progress) -> Report {
        let tables = self.tables();
        let cells = tables.iter().map(|table| entry::check_cells(&**table, progress));
        cells.chain(rules::check(&tables)).collect::<Vec<_>>().into()
    }
}

/// A capability of a reader beyond [`Reader`]: the reader as a `T`, such as a trait object.
#[derive(Clone, Copy)]
pub struct Facet(&'static (dyn Any + Send + Sync));

/// Casts a reader to a `T`.
#[derive(Debug)]
pub struct FacetCast<T: ?Sized + 'static>(pub fn(&dyn Any) -> Option<&T>);

impl Facet {
    /// The facet that `cast` returns.
    pub const fn new<T: ?Sized + 'static>(cast: &'static FacetCast<T>) -> Self {
        Self(cast)
    }
}

/// The list of traits for [`Reader::facets`], inside of `impl Reader`: `facets![Archive, Writable]`.
#[macro_export]
macro_rules! facets {
    ($($facet:path),+ $(,)?) => {
        const {
            &[$($crate::reader::Facet::new(const {
                &$crate::reader::FacetCast::<dyn $facet>(|reader| Some(reader.downcast_ref::<Self>()?))
            })),+]
        }
    };
}

pub use crate::facets;

impl dyn Reader {
    /// The reader as a `T`, if its type has this [facet](Reader::facets).
    pub fn facet<T: ?Sized + 'static>(&self) -> Option<&T> {
        let cast = self.facets().iter().find_map(|facet| facet.0.downcast_ref::<FacetCast<T>>())?;
        (cast.0)(self)
    }

    /// The reader as an archive, if it holds files by path.
    pub fn archive(&self) -> Option<&dyn Archive> {
        self.facet()
    }

    /// The reader's references and the ids of its entries, if any.
    pub fn relations(&self) -> Option<&dyn Relations> {
        self.facet()
    }

    /// The reader as a writable file.
    pub fn writable(&self) -> Option<&dyn Writable> {
        self.facet()
    }

    pub fn graphs(&self) -> Option<&dyn Graphs> {
        self.facet()
    }

    /// As [`Enriched::alone`]; the file itself if no other files add to its tables.
    pub fn alone(&self) -> &dyn Reader {
        self.facet::<dyn Enriched>().and_then(|file| file.alone()).unwrap_or(self)
    }

    /// As [`Reader::cat`], with the stated types of values, if the format has any: an edit needs them to give a value
    /// another type.
    pub fn cat_typed(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        match self.graphs() {
            Some(graphs) => graphs.show_typed(entry, out),
            None => self.cat(entry, out),
        }
    }

    /// As [`RawEntries::raw`]; `None` if no entry is a range of bytes.
    pub fn raw(&self, entry: &str) -> Result<Option<&[u8]>> {
        self.facet::<dyn RawEntries>().map_or(Ok(None), |entries| entries.raw(entry))
    }
}

/// A file whose entries are graphs of values, which are easiest to read unfolded.
pub trait Graphs {
    fn names(&self) -> Vec<Cow<'_, str>>;

    /// Writes the whole graph `name` to `out`, as [`Graphs::show_typed`].
    ///
    /// # Errors
    /// As [`Reader::cat`].
    fn show(&self, name: &str, out: &mut dyn Visitor) -> Result<bool>;

    /// As [`Reader::cat`], with the stated types of values.
    fn show_typed(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool>;

    /// The entry that is the file as one document, if its format has one: JSON outputs write it, not a table.
    fn document(&self) -> Option<&str>;
}

/// A file whose entries are ranges of bytes.
pub trait RawEntries {
    /// The decoded bytes of an entry, before any parsing, even if parsing fails. `None` for a missing entry.
    ///
    /// # Errors
    /// When the bytes cannot be decoded.
    fn raw(&self, entry: &str) -> Result<Option<&[u8]>>;
}

/// A file whose tables also show names and values of files around it.
pub trait Enriched {
    /// This file read alone; `None` if no other file adds to its tables. `diff` compares it so: equal bytes are equal, wherever
    /// they lie.
    fn alone(&self) -> Option<&dyn Reader>;

    /// The errors of the files around it.
    fn companion_damage(&self) -> Vec<Error>;
}

/// A file that `--names` accepts: it has names, but no table from ids to texts. Example: `GameParams.data`.
pub trait NameSource {}

/// The likeness of a file's first bytes to a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Likeness {
    /// The bytes cannot be a file of the format.
    No,
    /// The bytes make sense as its header, as the bytes of another format might by chance.
    Shape,
    /// The bytes have its magic.
    Magic,
}

impl Likeness {
    /// The likeness to a format that has a magic.
    pub const fn by_magic(found: bool) -> Self {
        if found { Self::Magic } else { Self::No }
    }

    /// The likeness to a format without a magic.
    pub const fn by_shape(fits: bool) -> Self {
        if fits { Self::Shape } else { Self::No }
    }
}

/// A format: its name, and how to detect and open its files.
///
/// A format must state its [`FileFormat::NAME`] and implement [`FileFormat::open_as`]. Its files are detected by
/// [`FileFormat::MAGIC`], by [`FileFormat::likeness`] if that takes more than a magic, or by [`FileFormat::ENDINGS`].
pub trait FileFormat: Reader + Sized {
    /// The name that outputs use.
    const NAME: &'static str;

    /// Opens a file of this format, or a folder at [`Source::path`]. Reads headers only; an error names the wrong
    /// header and its offset.
    fn open_as(source: Source, options: &Options) -> Result<Self>;

    /// The game whose files have this format; empty if many games have such files.
    const GAME: &'static str = "";

    /// The content of a file of this format, in a few words.
    const ABOUT: &'static str = "";

    /// Endings of file names, in lower case, that decide if no magic does.
    const ENDINGS: &'static [&'static str] = &[];

    /// Further endings of file names, in lower case, that only files of the format have. They do not decide: among the files of a
    /// folder, one of such a name and of no known format is damaged.
    const OWN_ENDINGS: &'static [&'static str] = &[];

    /// Whether tables or their columns differ between files of the format.
    const OWN_TABLES: bool = false;

    /// The first bytes of all files of the format; empty if they have no such bytes.
    const MAGIC: &'static [u8] = &[];

    /// Whether this format reads `folder` as a whole, such as a game's folder. Looks for a few names.
    fn is_folder(_folder: &Path) -> bool {
        false
    }

    /// The likeness of `data`, a whole file, to this format. Reads a few bytes at its beginning. Default: by
    /// [`FileFormat::MAGIC`].
    fn likeness(data: &[u8]) -> Likeness {
        Likeness::by_magic(!Self::MAGIC.is_empty() && data.starts_with(Self::MAGIC))
    }

    /// Whether a file that begins with `head`, and whose name has an ending of the format, may be a file of the format: a
    /// damaged one may. Formats whose endings other programs use, too, look at the bytes. Default: it may, whatever its bytes.
    fn confirms_ending(_head: &[u8]) -> bool {
        true
    }

    /// Adds a user's setting to `options`: `setting` is the name of the command's option, `given` its value or the
    /// content of the file that it names, and `from` its name in errors. `None` if the format has no such setting.
    ///
    /// # Errors
    /// When `given` is invalid.
    fn configure(_setting: &str, _given: &[u8], _from: &str, _options: &Options) -> Result<Option<Options>> {
        Ok(None)
    }
}

/// The text of a setting, from the bytes for [`FileFormat::configure`].
///
/// # Errors
/// `Text` if it is neither UTF-8 nor UTF-16.
pub fn setting_text<'a>(given: &'a [u8], from: &str) -> Result<Cow<'a, str>> {
    text_of(given).map_err(|error| error.context(from))
}

/// The message for a table that a file does not have: why, or the nearest tables, or all.
pub fn no_table(reader: &dyn Reader, wanted: &str) -> String {
    if let Some(why) = reader.absent(wanted) {
        return format!("no table {}: {why}", short_text(wanted));
    }
    format!("no table {}{}", short_text(wanted), hint_of_tables(reader, wanted, "it has"))
}

/// The end of a message about a missing table: the table with `wanted` among its other words, else the nearest ones, else all.
pub fn hint_of_tables(reader: &dyn Reader, wanted: &str, there_are: &str) -> String {
    let tables = reader.tables();
    match table_also_called(&tables, wanted) {
        Some(table) => crate::suggest::hint_of(&[table]),
        None => crate::suggest::hint_or_all(wanted, there_are, tables.iter().map(|table| table.name())),
    }
}

/// As [`hint_of_tables`], without the list of all.
pub fn hint_of_nearest_tables(reader: &dyn Reader, wanted: &str) -> String {
    let tables = reader.tables();
    match table_also_called(&tables, wanted) {
        Some(table) => crate::suggest::hint_of(&[table]),
        None => crate::suggest::hint(wanted, tables.iter().map(|table| table.name())),
    }
}

/// The table with `wanted` among its other words.
fn table_also_called<'t>(tables: &'t [Box<dyn Table + '_>], wanted: &str) -> Option<&'t str> {
    let word = wanted.to_lowercase();
    tables.iter().find(|table| table.nature().also.contains(&&*word)).map(|table| table.name())
}
