//! Archives: files and folders that hold other files by path, as a game's own folder does.
//!
//! A format whose readers are archives implements [`Archive`]: it tells of its files and gives their stored bytes. Decoding
//! ([`Archive::stored`] and [`open`]), the cache of decoded files, addresses (`ARCHIVE:INNER`), the tables `files`, `volumes`
//! and `builds`, and every command are written once over that.

mod address;
#[cfg(feature = "export")]
mod cache;
mod choose;
mod collect;
mod contents;
mod facts;
mod folder;
#[cfg(feature = "export")]
mod known;
pub(crate) mod loose;
mod paths;
mod show;
mod tables;
mod volume;

pub use address::{Address, MARK, NESTED, open_inside};
#[cfg(feature = "export")]
pub use cache::{Cache, Cached};
pub use choose::choose;
pub use collect::{Collected, collect, is_archive};
pub use contents::{check_crc32, decode, head};
pub use facts::facts;
pub use folder::Folder;
pub(crate) use loose::{Loose, LooseFile};
pub use paths::PathIndex;
pub(crate) use show::fields;
pub use show::show;
pub use tables::{FILES, tables};
pub use volume::VolumeFile;

use crate::asset::Asset;
use crate::error::{Error, ErrorKind, Result};
use crate::reader::Options;
use crate::report::{Progress, Report};
use crate::source::Source;
use std::borrow::Cow;
use std::path::PathBuf;

/// The entry of a file in an archive, which is read without the file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct File<'a> {
    /// Its path in the archive, with `/` between parts, as the archive says it: it may be no name for a file.
    pub path: Cow<'a, str>,
    /// The id by which the game's other files name it, where the game has such ids.
    pub id: Option<u64>,
    /// Bytes, once decoded.
    pub size: u64,
    /// Bytes as they are stored.
    pub stored_size: u64,
    /// How they are stored.
    pub codec: Codec,
    /// CRC-32 (zlib's) of the decoded bytes, where the archive has one.
    pub crc32: Option<u32>,
    /// The file on disk that it lies in; `None` for a loose one.
    pub volume: Option<Cow<'a, str>>,
    /// Its place in that file, in bytes.
    pub offset: Option<u64>,
    /// Whether that file is there.
    pub installed: bool,
    /// The list that names it, in archives of several lists.
    pub list: Option<Cow<'a, str>>,
    /// The number by which the archive itself knows it.
    pub handle: u64,
}

impl<'a> File<'a> {
    /// A file of so many bytes, stored as they are in a file that is there.
    pub fn new(path: impl Into<Cow<'a, str>>, size: u64, handle: u64) -> Self {
        Self {
            path: path.into(),
            id: None,
            size,
            stored_size: size,
            codec: Codec::None,
            crc32: None,
            volume: None,
            offset: None,
            installed: true,
            list: None,
            handle,
        }
    }
}

/// The sizes and the checksum by which an archive knows the contents of a file, under the id that is the hash of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity {
    /// The hash of its path.
    pub id: u64,
    /// Bytes, once decoded.
    pub size: u64,
    /// CRC-32 of the decoded bytes, where the archive has one.
    pub crc32: Option<u32>,
}

impl Identity {
    /// The identity of a file of so many bytes.
    pub const fn new(id: u64, size: u64, crc32: Option<u32>) -> Self {
        Self { id, size, crc32 }
    }
}

/// How the bytes of a file are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Codec {
    /// The bytes as they are.
    None,
    /// A bare deflate stream (RFC 1951).
    Deflate,
    /// Chunks of 64 KiB behind a list of their sizes, each of them bare deflate or stored: World of Warships: Legends.
    DeflateChunks,
    /// A zlib stream (RFC 1950).
    Zlib,
    /// An Oodle container, which only a proprietary library decodes.
    Oodle,
    /// Numbers that no known reader explains.
    Unknown(u64),
}

impl Codec {
    /// The name that outputs use.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Self::None => "none".into(),
            Self::Deflate => "deflate".into(),
            Self::DeflateChunks => "deflate-chunks".into(),
            Self::Zlib => "zlib".into(),
            Self::Oodle => "oodle".into(),
            Self::Unknown(number) => format!("unknown-{number:#x}").into(),
        }
    }

    /// Whether [`decode`] decodes it.
    pub const fn is_known(self) -> bool {
        !matches!(self, Self::Oodle | Self::Unknown(_))
    }
}

/// A file on disk that holds files of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Volume {
    /// Its file name.
    pub name: String,
    /// Its bytes, where it is there.
    pub size: Option<u64>,
    /// Files that lie in it.
    pub files: u64,
}

impl Volume {
    /// A volume of so many bytes, or one that is not there.
    pub fn new(name: impl Into<String>, size: Option<u64>, files: u64) -> Self {
        Self { name: name.into(), size, files }
    }
}

/// A state of a game, of which its folder may hold several.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Build {
    /// Its number, or how else it is called.
    pub name: String,
    /// Indexes that it has.
    pub indexes: u64,
    /// Files that it shows.
    pub files: u64,
}

impl Build {
    /// A build of so many indexes and files.
    pub fn new(name: impl Into<String>, indexes: u64, files: u64) -> Self {
        Self { name: name.into(), indexes, files }
    }
}

/// The build that an archive is opened at: the text behind `@` in `GAME@13015811`, given to a format in
/// [`Options::with`](crate::Options::with). Without one, an archive is its newest build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtBuild(pub String);

/// The files that make a folder an archive that tells of the same files as another one, without their volumes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The folder of this build below the archive's: `bin/13015811`.
    pub folder: String,
    /// The indexes: where each is, and its path below [`Snapshot::folder`].
    pub indexes: Vec<(PathBuf, String)>,
    /// The folder below [`Snapshot::folder`] whose files are found by their path in the archive.
    pub loose: String,
}

impl Snapshot {
    /// A snapshot without indexes yet.
    pub fn new(folder: impl Into<String>, loose: impl Into<String>) -> Self {
        Self { folder: folder.into(), indexes: Vec::new(), loose: loose.into() }
    }
}

/// Files by path. A file that is damaged, or whose volume is missing, is an error of its own and no failure of the rest.
pub trait Archive: Send + Sync {
    /// The number of files that are listed. The first call may read all indexes.
    ///
    /// # Errors
    /// When no list of files can be made at all.
    fn len(&self) -> Result<usize>;

    /// Whether the archive is empty.
    ///
    /// # Errors
    /// As [`Archive::len`].
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The errors for which files may be missing from the list: one for each list that cannot be read to its end.
    fn damage(&self) -> Vec<Error> {
        Vec::new()
    }

    /// File `n`, in an order that stays: the archive's own where it has one.
    ///
    /// # Errors
    /// Damage of this file's entry, or `NotFound` behind the last one.
    fn file(&self, n: usize) -> Result<File<'_>>;

    /// The contents of file `n` as the archive tells them, without its path; `None` where the game's files have no ids that
    /// are hashes of their paths.
    fn identity(&self, n: usize) -> Option<Identity> {
        let _ = n;
        None
    }

    /// The file at `path`, exactly as [`File::path`] has it. Makes no list of all files where the format can do without.
    ///
    /// # Errors
    /// Damage of this file's entry.
    fn find(&self, path: &str) -> Result<Option<File<'_>>>;

    /// The number of the file at `path` for [`Archive::file`].
    ///
    /// # Errors
    /// As [`Archive::len`].
    fn position(&self, path: &str) -> Result<Option<usize>> {
        for n in 0..self.len()? {
            if self.file(n).is_ok_and(|file| file.path == path) {
                return Ok(Some(n));
            }
        }
        Ok(None)
    }

    /// The numbers of all files at `path`: of more than one where several lists name it, or one names it twice.
    ///
    /// # Errors
    /// As [`Archive::len`].
    fn positions(&self, path: &str) -> Result<Vec<usize>> {
        Ok(self.position(path)?.into_iter().collect())
    }

    /// Bytes that change as soon as `path` may lead to another place in a volume: the names, sizes and times of change of
    /// the indexes, which are not opened for it. `None` if the bytes cost as much as a look at the file.
    fn stamp(&self, path: &str) -> Option<Vec<u8>> {
        let _ = path;
        None
    }

    /// The path that has `id`, of a file or of a folder, in a game whose files name others by the hash of their path: the
    /// match is a proof.
    ///
    /// # Errors
    /// Damage of the entry.
    fn path_of(&self, id: u64) -> Result<Option<Cow<'_, str>>> {
        let _ = id;
        Ok(None)
    }

    /// The bytes of `file` as they are stored, mapped and not copied.
    ///
    /// # Errors
    /// `NotInstalled` when its volume is not there, `OutOfBounds` when it leaves its volume, `Io`.
    fn stored(&self, file: &File<'_>) -> Result<Source>;

    /// The files on disk that hold its files.
    ///
    /// # Errors
    /// As [`Archive::len`].
    fn volumes(&self) -> Result<Vec<Volume>> {
        Ok(Vec::new())
    }

    /// The builds that its folder has, the newest first; none where the format has no such thing.
    ///
    /// # Errors
    /// `Io` when the folder cannot be read.
    fn builds(&self) -> Result<Vec<Build>> {
        Ok(Vec::new())
    }

    /// The names of the builds that its folder has, the newest first, told without a look into them where that can be.
    ///
    /// # Errors
    /// As [`Archive::builds`].
    fn build_names(&self) -> Result<Vec<String>> {
        Ok(self.builds()?.into_iter().map(|build| build.name).collect())
    }

    /// The path of the file that answers questions about the ids of the whole game, as `content/assets.bin` does.
    fn database(&self) -> Option<&'static str> {
        None
    }

    /// The folder whose files the game takes over its own, where there is one: a changed file goes there under its path.
    fn mods(&self) -> Option<PathBuf> {
        None
    }

    /// The index that is kept of the archive to compare it with later builds, where the format has an index that stands alone.
    ///
    /// # Errors
    /// As [`Archive::len`].
    fn snapshot(&self) -> Result<Option<Snapshot>> {
        Ok(None)
    }

    /// Whether its folder has builds at all, told without a look at them.
    fn has_builds(&self) -> bool {
        false
    }

    /// Whether files come from several lists, which [`File::list`] names.
    fn has_lists(&self) -> bool {
        false
    }

    /// Checks the bytes around `file`, which `stored` has been given for, against the archive's description: a trailer
    /// behind them, for one. The caller checks its CRC-32.
    ///
    /// # Errors
    /// When bytes there are not as the archive describes them.
    fn check(&self, file: &File<'_>) -> Result<()> {
        let _ = file;
        Ok(())
    }
}

/// The decoded bytes of `file`, under the name `ARCHIVE:PATH`: a slice of the map where they are stored as they are.
/// Checks the CRC-32 of decoded bytes.
///
/// # Errors
/// As [`Archive::stored`] and [`decode`].
pub fn open(archive: &dyn Archive, file: &File<'_>, name: &str) -> Result<Source> {
    let stored = archive.stored(file).map_err(|error| contents::in_volume(error, file))?;
    decode(stored, file, &format!("{name}:{}", file.path))
}

/// The file at `file`, as an asset of its own format: see [`open`].
///
/// # Errors
/// As [`open`] and [`Asset::open_with`].
pub fn open_file(archive: &dyn Archive, file: &File<'_>, name: &str, options: &Options) -> Result<Asset> {
    Asset::open_with(open(archive, file, name)?, options)
}

/// The error for a number behind the last file.
pub fn no_file(n: usize) -> Error {
    Error::without_offset(ErrorKind::NotFound { what: format!("file {n}") }, "files")
}

/// Checks that the entry of every file can be read and that the file lies inside of its volume; reads no byte of it. A file
/// whose volume is missing is counted.
pub fn verify_places(archive: &dyn Archive, report: &mut Report, progress: &Progress) {
    contents::verify_places(archive, report, progress);
}

/// Decodes and checks every file, in parallel: the checks that `verify --deep` adds to `verify`. A file whose volume is
/// missing or whose codec is not known is counted and not checked.
pub fn verify_deep(archive: &dyn Archive, report: &mut Report, progress: &Progress) {
    contents::verify(archive, report, progress);
}
