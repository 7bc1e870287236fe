//! The one thing that a format gives to every command, [`Reader`], and how a format is told from others, [`FileFormat`].

use crate::archive::Archive;
use crate::bytes::View;
use crate::compare::Comparison;
#[cfg(feature = "edit")]
use crate::edit::Writable;
use crate::error::{Error, Result};
use crate::relations::Relations;
use crate::report::{Progress, Report};
#[cfg(feature = "export")]
use crate::scene::Shapes;
use crate::scene::{Meshes, Stage};
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use crate::texture::Texture;
use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A named stretch of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Absolute file offset.
    pub offset: u64,
    /// Length in bytes.
    pub size: u64,
    /// Entries in it, where it has entries.
    pub count: Option<u64>,
}

impl Section {
    /// A section of `size` bytes at `offset`.
    pub fn new(name: impl Into<Cow<'static, str>>, offset: u64, size: u64, count: Option<u64>) -> Self {
        Self { name: name.into(), offset, size, count }
    }
}

/// An open file, as every command sees it.
pub trait Reader: Any + fmt::Debug + Send + Sync {
    /// The bytes that are read.
    fn source(&self) -> &Source;

    /// The version that the file states, as people write it; empty where the format has none.
    fn version(&self) -> String {
        String::new()
    }

    /// The stretches of the file, in file order.
    fn sections(&self) -> Vec<Section> {
        Vec::new()
    }

    /// Its tables; the first one is the main table.
    fn tables(&self) -> Vec<Box<dyn Table + '_>>;

    /// The table called `name`.
    fn table(&self, name: &str) -> Option<Box<dyn Table + '_>> {
        self.tables().into_iter().find(|t| t.name() == name)
    }

    /// The reason for which there is no table called `table`, where the file has the data that it would show.
    fn absent(&self, table: &str) -> Option<String> {
        let _ = table;
        None
    }

    /// Facts that `info` shows besides sections and tables.
    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        Vec::new()
    }

    /// Shows one entry whole, with its references resolved. `false` when there is no such entry; nothing has been
    /// shown then.
    ///
    /// # Errors
    /// When the entry is damaged (the values that could be read have been shown), or `out` fails.
    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool>;

    /// As [`Reader::cat`], with the types that values say to have, where the format has any: an edited entry needs them
    /// where a value gets another type, or is null and gets one.
    fn cat_typed(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        self.cat(entry, out)
    }

    /// Entries that are graphs of values, which are read best by unfolding them; [`Reader::cat`] takes them.
    fn graphs(&self) -> Vec<Cow<'_, str>> {
        Vec::new()
    }

    /// The decoded bytes of an entry that is stored as a stretch of bytes, before anything is made of them; also of
    /// one whose meaning cannot be read. `None` when there is no such entry.
    ///
    /// # Errors
    /// When the bytes cannot be decoded.
    fn raw(&self, entry: &str) -> Result<Option<&[u8]>> {
        let _ = entry;
        Ok(None)
    }

    /// The reader as an archive, where it holds files by path.
    fn archive(&self) -> Option<&dyn Archive> {
        None
    }

    /// The reader's references and the ids of its entries, where it has any.
    fn relations(&self) -> Option<&dyn Relations> {
        None
    }

    /// The models that it puts together of meshes of other files, or stands somewhere.
    fn stage(&self) -> Option<&dyn Stage> {
        None
    }

    /// The reader as a file of meshes that others refer to by ids.
    fn meshes(&self) -> Option<&dyn Meshes> {
        None
    }

    /// The reader as a texture.
    fn texture(&self) -> Option<&dyn Texture> {
        None
    }

    /// The textures of a file that holds several, each with a name.
    fn textures(&self) -> Vec<(String, Result<Box<dyn Texture + '_>>)> {
        Vec::new()
    }

    /// The shapes in it, to be drawn.
    #[cfg(feature = "export")]
    fn shapes(&self) -> Option<&dyn Shapes> {
        None
    }

    /// The reader as one whose files can be written anew.
    #[cfg(feature = "edit")]
    fn writable(&self) -> Option<&dyn Writable> {
        None
    }

    /// This file and a newer one, where the format compares some of their tables itself and `new` is of the same format.
    fn compared<'a>(&'a self, new: &'a dyn Reader) -> Option<Box<dyn Comparison<'a> + 'a>> {
        let _ = new;
        None
    }

    /// Warnings of faults that reading has gone on from: a checksum that does not match, for one.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Checks everything that can be checked, and lists what is wrong rather than stop at the first finding.
    fn verify(&self, progress: &Progress) -> Report;
}

/// How much the first bytes of a file look like a format.
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

/// A format: its name, how its files are told from the files of others, and how one is opened.
pub trait FileFormat: Reader + Sized {
    /// The name that outputs use.
    const NAME: &'static str;

    /// Endings of file names, in lower case, that decide where no magic does.
    const ENDINGS: &'static [&'static str] = &[];

    /// Whether `folder` is one that this format reads as a whole, as a game's folder is. Looks for a few names.
    fn is_folder(folder: &Path) -> bool {
        let _ = folder;
        false
    }

    /// How much `data`, a whole file, looks like this format. Reads a few bytes at its beginning.
    fn likeness(data: &[u8]) -> Likeness;

    /// Adds to `options` the setting that a user gives: `setting` is the name of the command's option, `given` its
    /// value or the content of the file that it names, and errors call that `from`. `None` where the format has no such
    /// setting.
    ///
    /// # Errors
    /// When `given` is no such setting.
    fn configure(setting: &str, given: &[u8], from: &str, options: &Options) -> Result<Option<Options>> {
        let _ = (setting, given, from, options);
        Ok(None)
    }

    /// Opens a file of this format, or a folder, which [`Source::path`] tells. Reads headers only; an error says which of
    /// them is wrong, and where.
    fn open_as(source: Source, options: &Options) -> Result<Self>;
}

/// The text of a setting, from the bytes that [`FileFormat::configure`] was given.
///
/// # Errors
/// `Text` where it is not UTF-8.
pub fn setting_text<'a>(given: &'a [u8], from: &str) -> Result<&'a str> {
    View::new(given, "").utf8(given).map_err(|error| error.within(from))
}

/// Settings beside the file itself: strictness, and the settings that single formats know by types of their own.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// Whether a warning ([`Reader::warnings`]) is an error, in formats that check while they read.
    pub strict: bool,
    /// Whether files are read rather than mapped, as the files of a network drive should be.
    pub no_mmap: bool,
    own: Vec<(TypeId, Arc<dyn Any + Send + Sync>)>,
}

impl Options {
    /// The file or folder at `path`, mapped or read as these settings say.
    pub fn source(&self, path: &Path) -> Result<Source> {
        match if self.no_mmap { Source::read(path) } else { Source::open(path) } {
            // Asked only where opening fails: a game has hundreds of indexes to open.
            Err(_) if path.is_dir() => Ok(Source::of_folder(path)),
            opened => opened,
        }
    }

    /// As [`Options::source`], for a file that a folder has and nobody named: a pipe there is an error, as it may have no
    /// writer, and so is a device, which may have no end.
    pub(crate) fn source_in_folder(&self, path: &Path) -> Result<Source> {
        match path.metadata() {
            Ok(meta) if !meta.is_file() && !meta.is_dir() => {
                let what = "it is a pipe or a device, which is read only where it is named";
                Err(Error::io("cannot open", io::Error::new(io::ErrorKind::InvalidInput, what)))
            }
            _ => self.source(path),
        }
    }

    /// These options, with `value` for the format that asks for a `T`, such as [`crate::wdb::KnownFields`].
    #[must_use]
    pub fn with<T: Any + Send + Sync>(mut self, value: Arc<T>) -> Self {
        self.own.retain(|(id, _)| *id != TypeId::of::<T>());
        self.own.push((TypeId::of::<T>(), value));
        self
    }

    /// The value of type `T` that was given.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let (_, value) = self.own.iter().find(|(id, _)| *id == TypeId::of::<T>())?;
        Arc::clone(value).downcast().ok()
    }
}
