//! [`Archive`], the interface of a format whose files contain others by path; `archive` builds addresses, decoding and tables on it.

use crate::codec::Oodle;
use crate::error::{Error, Result};
use crate::source::Source;
use crate::table::Table;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

/// The sign between an archive and the path in it.
pub const MARK: char = ':';

/// The greatest depth of archives inside of archives.
pub const NESTED: usize = 16;

/// A word that stands for a folder in addresses, as `NAME:INNER` and `NAME@BUILD:INNER`: the prefix of an installed game.
#[derive(Debug)]
pub struct Prefix {
    pub name: &'static str,
    /// Finds its folder, or says where it was looked for.
    pub folder: fn() -> Result<PathBuf>,
}

/// The entry of a file in an archive, from the index alone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct File<'a> {
    /// The file's path in the archive, with `/` between parts, exactly as stored: it may be unfit as a file name.
    pub path: Cow<'a, str>,
    /// The id by which other files of the game refer to it, if the game has such ids.
    pub id: Option<u64>,
    /// The decoded size in bytes.
    pub size: u64,
    /// The stored size in bytes.
    pub stored_size: u64,
    /// The encoding of the stored bytes.
    pub codec: Codec,
    /// CRC-32 (zlib's) of the decoded bytes, if the archive has one.
    pub crc32: Option<u32>,
    /// The file on disk that contains it; `None` for a loose file.
    pub volume: Option<Cow<'a, str>>,
    /// The offset of the file's bytes in that volume.
    pub offset: Option<u64>,
    pub installed: bool,
    /// The list that contains it, in archives of several lists.
    pub list: Option<Cow<'a, str>>,
    /// The archive's own number of it.
    pub handle: u64,
}

impl<'a> File<'a> {
    /// A file of `size` bytes, stored uncompressed in an existing file.
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

/// The size and the checksum of a file's contents, under the id that is the hash of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    pub id: u64,
    /// The decoded size in bytes.
    pub size: u64,
    /// CRC-32 of the decoded bytes, if the archive has one.
    pub crc32: Option<u32>,
}

/// The encoding of a file's stored bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Codec {
    /// Uncompressed.
    None,
    /// A bare deflate stream (RFC 1951).
    Deflate,
    /// A zlib stream (RFC 1950).
    Zlib,
    /// A container of Oodle blocks, which only a proprietary library decodes: [`Archive::oodle`].
    Oodle,
    Unknown(u64),
}

impl Codec {
    /// The name that outputs use.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Self::None => "none".into(),
            Self::Deflate => "deflate".into(),
            Self::Zlib => "zlib".into(),
            Self::Oodle => "oodle".into(),
            Self::Unknown(number) => format!("unknown-{number:#x}").into(),
        }
    }

    /// Whether [`decode`](crate::archive::decode) supports it without a library of others.
    pub const fn is_known(self) -> bool {
        !matches!(self, Self::Oodle | Self::Unknown(_))
    }
}

/// A file on disk that holds files of an archive.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Volume {
    pub name: String,
    /// The volume's size in bytes, if it exists. An error if it exists and cannot be read.
    pub size: Result<Option<u64>>,
    pub files: u64,
}

impl Volume {
    /// A volume of `size` bytes, or a missing one.
    pub fn new(name: impl Into<String>, size: Result<Option<u64>>, files: u64) -> Self {
        Self { name: name.into(), size, files }
    }

    /// Its size in bytes, if it can be read.
    pub fn known_size(&self) -> Option<u64> {
        self.size.as_ref().ok().copied().flatten()
    }

    /// Whether it exists.
    pub fn is_installed(&self) -> bool {
        self.size.as_ref().map_or(true, Option::is_some)
    }
}

/// A state of a game. The game's folder may hold several.
#[derive(Debug, Clone)]
pub struct Build {
    /// The build's number or name.
    pub name: String,
    /// The number of its indexes, unless they cannot be listed.
    pub indexes: Result<u64>,
    /// The number of its files, unless an index cannot be read whole.
    pub files: Result<u64>,
}

/// The selected build of an archive: the text after `@` in `GAME@13015811`, passed to a format in
/// [`Options::with`](crate::Options::with). Default: the newest build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtBuild(pub String);

/// The files that make a folder an archive with the same list of files as another one, without their volumes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The folder of this build below the archive's: `bin/13015811`.
    pub folder: String,
    /// The indexes: the path of each, and its path below [`Snapshot::folder`].
    pub indexes: Vec<(PathBuf, String)>,
    /// The folder below [`Snapshot::folder`] for files by their path in the archive.
    pub loose: String,
}

impl Snapshot {
    /// Starts a snapshot without indexes.
    pub fn new(folder: impl Into<String>, loose: impl Into<String>) -> Self {
        Self { folder: folder.into(), indexes: Vec::new(), loose: loose.into() }
    }
}

/// Files by path. A damaged file, or one in a missing volume, is an error of its own; the other files remain readable.
///
/// A format must implement [`Archive::len`], [`Archive::file`] and [`Archive::stored`]. All else is optional: faster ways to a
/// file, and what only some archives have, such as builds.
#[expect(
    clippy::len_without_is_empty,
    reason = "the number of files may be an error, and nothing asks for none of them"
)]
pub trait Archive: Send + Sync {
    /// The number of listed files. The first call may read all indexes.
    ///
    /// # Errors
    /// When no list of files can be read at all.
    fn len(&self) -> Result<usize>;

    /// File `n`, in a fixed order: the archive's own, if any.
    ///
    /// # Errors
    /// Damage of this file's entry, or `NotFound` past the last.
    fn file(&self, n: usize) -> Result<File<'_>>;

    /// The facts of file `n` if [`Archive::file`] fails because its path cannot be found. The path is empty.
    fn unnamed_file(&self, _n: usize) -> Option<File<'_>> {
        None
    }

    /// The stored bytes of `file`, mapped and not copied.
    ///
    /// # Errors
    /// `NotInstalled` when its volume is missing, `OutOfBounds` when it leaves its volume, `Io`.
    fn stored(&self, file: &File<'_>) -> Result<Source>;

    /// The errors that hide files, or may hide them: one for each list or folder that cannot be read to its end.
    fn damage(&self) -> Vec<Error> {
        Vec::new()
    }

    /// The file at `path`, which must equal [`File::path`]. Avoids a list of all files if the format can.
    ///
    /// # Errors
    /// Damage of this file's entry, and as [`Archive::position`].
    fn find(&self, path: &str) -> Result<Option<File<'_>>> {
        self.position(path)?.map(|n| self.file(n)).transpose()
    }

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

    /// A fingerprint of all that decides where `path` leads in a volume: the names, sizes and modification times of the
    /// indexes, which are not opened for it. `None` if it would cost as much as the lookup itself.
    fn stamp(&self, _path: &str) -> Option<Vec<u8>> {
        None
    }

    /// The files on disk that hold its files.
    ///
    /// # Errors
    /// As [`Archive::len`].
    fn volumes(&self) -> Result<Vec<Volume>> {
        Ok(Vec::new())
    }

    /// The files on disk that list or hold its files; a folder stands for all files below it. A program that reads the
    /// archive must not write over them. Loose files that replace others are left out.
    fn files_on_disk(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The archive as a whole game, if it is one.
    fn game(&self) -> Option<&dyn Game> {
        None
    }

    /// The library that decodes [`Codec::Oodle`], if the user named one in [`Options::with`](crate::Options::with).
    fn oodle(&self) -> Option<Arc<Oodle>> {
        None
    }

    /// Whether its own tables show what its files hold, so that a search need not open them.
    fn shows_contents(&self) -> bool {
        false
    }

    /// The paths that several files may have, if the archive allows such paths.
    fn repeated_paths(&self) -> Option<&dyn RepeatedPaths> {
        None
    }

    /// Checks the bytes around `file`, such as a trailer after it, against the archive's description; `stored` was
    /// called before. The caller checks its CRC-32.
    ///
    /// # Errors
    /// When these bytes contradict the archive.
    fn check(&self, _file: &File<'_>) -> Result<()> {
        Ok(())
    }
}

/// A table that every archive has, whatever its format.
pub type ArchiveTable = for<'a> fn(&'a dyn Archive) -> Box<dyn Table + 'a>;

/// The paths of an archive that several files may have: several lists contain a path, or one list contains it twice.
pub trait RepeatedPaths: Send + Sync {
    /// The numbers of all files at `path`.
    ///
    /// # Errors
    /// As [`Archive::len`].
    fn positions(&self, path: &str) -> Result<Vec<usize>>;

    /// Whether files come from several lists, which [`File::list`] names.
    fn has_lists(&self) -> bool {
        false
    }
}

/// A game: its builds, the ids of its files, which are hashes of their paths, and the files that describe the others.
pub trait Game: Send + Sync {
    /// The identity of file `n` according to the archive; `None` past the last.
    fn identity(&self, n: usize) -> Option<Identity>;

    /// The path of a file or folder with the hash `id`: equality of the hash is the proof.
    ///
    /// # Errors
    /// Damage of the entry.
    fn path_of(&self, id: u64) -> Result<Option<Cow<'_, str>>>;

    /// The builds in its folder, the newest first.
    fn builds(&self) -> Vec<Build>;

    /// The names of the builds in its folder, the newest first, without opening them.
    fn build_names(&self) -> &[String];

    /// The build whose files the archive has.
    fn current_build(&self) -> Option<&str>;

    /// The address of the newest other build that `has` accepts, such as `GAME@7100000`.
    fn other_with(&self, has: &dyn Fn(&dyn Archive) -> bool) -> Option<String>;

    /// The index to keep for comparisons with later builds, if the build has one that can be used alone.
    ///
    /// # Errors
    /// `Io` when the folder cannot be read.
    fn snapshot(&self) -> Result<Option<Snapshot>>;

    /// The path of the file that resolves the ids of the whole game, such as `content/assets.bin`.
    fn database(&self) -> &'static str;

    /// The path of the file of parameters, which states how thick plates are.
    fn parameters(&self) -> &'static str;

    /// The path of the file of texts that the game shows in `language`: without one, in English or whichever is there.
    fn texts(&self, language: Option<&str>) -> Option<String>;

    /// The languages of its texts, in order.
    fn languages(&self) -> Vec<String>;

    /// Compares the checksums of its indexes with their bytes, if they have any.
    ///
    /// # Errors
    /// `Checksum` of the first index that differs.
    fn check_indexes(&self) -> Result<()> {
        Ok(())
    }

    /// The folder for changed files, if this build has one: the game prefers its files, by their paths, to its own.
    fn mods(&self) -> Option<PathBuf>;
}

impl<'a> dyn Archive + 'a {
    /// The numbers of all files at `path`: see [`RepeatedPaths::positions`].
    ///
    /// # Errors
    /// As [`Archive::len`].
    pub fn positions(&self, path: &str) -> Result<Vec<usize>> {
        match self.repeated_paths() {
            Some(repeated) => repeated.positions(path),
            None => Ok(self.position(path)?.into_iter().collect()),
        }
    }

    /// Whether files come from several lists, which [`File::list`] names.
    pub fn has_lists(&self) -> bool {
        self.repeated_paths().is_some_and(RepeatedPaths::has_lists)
    }

    /// Whether [`decode`](crate::archive::decode) supports `codec` with the libraries that the user named.
    pub fn decodes(&self, codec: Codec) -> bool {
        codec.is_known() || codec == Codec::Oodle && self.oodle().is_some()
    }

    /// The archive as a game whose folder holds builds, if it is one.
    pub fn builds(&self) -> Option<&dyn Game> {
        self.game().filter(|game| !game.build_names().is_empty())
    }

    /// The path of the file that resolves the ids of the whole game: see [`Game::database`].
    pub fn database(&self) -> Option<&'static str> {
        self.game().map(Game::database)
    }

    /// The path of the file of parameters: see [`Game::parameters`].
    pub fn parameters(&self) -> Option<&'static str> {
        self.game().map(Game::parameters)
    }

    /// The files, in the order of [`Archive::file`]. A damaged entry is an error of its own; if no list of files can be read, the
    /// error is the only item.
    pub fn files(&self) -> impl Iterator<Item = Result<File<'_>>> {
        let (count, fault) = match self.len() {
            Ok(count) => (count, None),
            Err(error) => (0, Some(Err(error))),
        };
        (0..count).map(|n| self.file(n)).chain(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    /// An archive by the three functions that a format must have: two files, and one whose entry is damaged.
    struct Pair;

    impl Archive for Pair {
        fn len(&self) -> Result<usize> {
            Ok(3)
        }

        fn file(&self, n: usize) -> Result<File<'_>> {
            match n {
                0 | 2 => Ok(File::new(["a.txt", "", "b/c.txt"][n].to_owned(), 2, n as u64)),
                _ => Err(Error::of_part(ErrorKind::damaged("the entry"), format!("file {n}"))),
            }
        }

        fn stored(&self, file: &File<'_>) -> Result<Source> {
            Ok(Source::from_vec(&file.path, vec![b'x'; 2]))
        }
    }

    /// All else that an archive can do follows, or is left out.
    #[test]
    fn an_archive_of_three_functions_finds_its_files_by_their_paths() {
        let archive: &dyn Archive = &Pair;
        assert_eq!(archive.find("b/c.txt").unwrap().unwrap().path, "b/c.txt");
        assert_eq!([archive.position("a.txt").unwrap(), archive.position("c.txt").unwrap()], [Some(0), None]);
        assert_eq!((archive.positions("b/c.txt").unwrap(), archive.positions("none").unwrap()), (vec![2], vec![]));
        let files: Vec<String> = archive
            .files()
            .map(|file| file.map_or_else(|error| error.to_string(), |file| file.path.to_string()))
            .collect();
        assert_eq!(files, ["a.txt", "file 1: the entry", "b/c.txt"]);
        let file = archive.file(0).unwrap();
        assert!(archive.check(&file).is_ok() && archive.stored(&file).unwrap().bytes() == b"xx");
        assert!(archive.unnamed_file(1).is_none() && archive.damage().is_empty() && archive.files_on_disk().is_empty());
        assert!(archive.volumes().unwrap().is_empty() && archive.stamp("a.txt").is_none());
        assert!(!archive.has_lists() && !archive.shows_contents() && archive.builds().is_none());
        assert!(archive.database().is_none() && archive.parameters().is_none() && archive.oodle().is_none());
    }

    #[test]
    fn codecs_are_named_and_oodle_needs_a_library() {
        let archive: &dyn Archive = &Pair;
        for (codec, name, is_decoded) in [
            (Codec::None, "none", true),
            (Codec::Deflate, "deflate", true),
            (Codec::Zlib, "zlib", true),
            (Codec::Oodle, "oodle", false),
            (Codec::Unknown(0x2A), "unknown-0x2a", false),
        ] {
            assert_eq!((&*codec.name(), archive.decodes(codec)), (name, is_decoded));
        }
    }

    #[test]
    fn a_volume_is_installed_unless_it_is_known_to_be_missing() {
        let unreadable = || Err(Error::of_part(ErrorKind::damaged("closed"), ""));
        for (size, known, is_installed) in
            [(Ok(Some(7)), Some(7), true), (Ok(None), None, false), (unreadable(), None, true)]
        {
            let volume = Volume::new("a.pkg", size, 1);
            assert_eq!((volume.known_size(), volume.is_installed()), (known, is_installed));
        }
    }
}
