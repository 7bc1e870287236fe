//! Addresses: `FILE`, or `ARCHIVE:INNER` for a file in an archive, which nests.

use super::names::NameSources;
use super::{Archive, AtBuild, Cache, File, MARK, NESTED};
use crate::asset::{Asset, BuiltIn};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::paths::slashed;
use crate::source::Source;
use crate::suggest;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The sign between an archive and its build.
const AT_BUILD: char = '@';

/// An address that begins with a [`Prefix`](super::Prefix).
struct PrefixedAddress<'a> {
    folder: fn() -> Result<PathBuf>,
    /// The text between `@` and the mark.
    build: Option<&'a str>,
    /// The path in the folder, empty for the folder itself.
    inner: &'a str,
}

impl<'a> PrefixedAddress<'a> {
    /// Splits `NAME:INNER` or `NAME@BUILD:INNER`. Returns `None` for any other text.
    fn parse(text: &'a str) -> Option<Self> {
        let (name, inner) = text.split_once(MARK)?;
        let (name, build) = name.split_once(AT_BUILD).map_or((name, None), |(name, build)| (name, Some(build)));
        let prefix = BuiltIn::prefixes().find(|prefix| prefix.name == name)?;
        Some(Self { folder: prefix.folder, build, inner })
    }

    /// As [`PrefixedAddress::parse`], if `path` is not the path of a file.
    fn of_path(path: &'a Path) -> Option<Self> {
        path.to_str().filter(|_| !path.exists()).and_then(Self::parse)
    }
}

/// A file on this machine, or one in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    outer: PathBuf,
    build: Option<String>,
    inner: Option<String>,
}

impl Asset {
    /// Opens the file or folder at `address`, or with `ARCHIVE:INNER` the file in an archive: see [`Address`].
    ///
    /// # Errors
    /// As [`Asset::open`] and [`Address::open`].
    pub fn open_at(address: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Address::parse(address.as_ref()).open(options)
    }

    /// The decoded bytes of the file at `path` in this archive.
    ///
    /// # Errors
    /// `NotFound` with the nearest path, and the errors of [`Archive::stored`] and of the codec.
    pub fn read(&self, path: impl AsRef<str>) -> Result<Source> {
        source_inside(self, path.as_ref(), &Options::default())
    }
}

impl Address {
    /// Splits `path`: an existing path is that file; otherwise the first part before a `:` that exists, without an
    /// `@BUILD` at its end, is the archive. With the feature `games`, `wows:` and the prefixes of
    /// other games are the folder of the installed game. If no part exists, the whole path is kept, so that opening it reports it as
    /// missing.
    pub fn parse(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let whole = Self { outer: path.to_owned(), build: None, inner: None };
        if path.symlink_metadata().is_ok() {
            return whole;
        }
        let splits = splits(path, MARK).into_iter().filter(|(outer, inner)| !is_drive(outer, inner));
        let splits = splits.map(|(outer, inner)| (outer, Some(inner)));
        for (outer, inner) in splits.chain([(path, None)]) {
            if inner.is_some() && outer.exists() {
                let inner = inner.filter(|inner| !inner.is_empty()).map(str::to_owned);
                return Self { outer: outer.to_owned(), build: None, inner };
            }
            if let Some((folder, build)) = self::splits(outer, AT_BUILD).pop()
                && !build.contains('/')
                && folder.exists()
            {
                let inner = inner.filter(|inner| !inner.is_empty()).map(str::to_owned);
                return Self { outer: folder.to_owned(), build: Some(build.to_owned()), inner };
            }
        }
        if let Some(game) = PrefixedAddress::of_path(path)
            && let Ok(outer) = (game.folder)()
        {
            let inner = Some(game.inner).filter(|inner| !inner.is_empty()).map(str::to_owned);
            return Self { outer, build: game.build.map(str::to_owned), inner };
        }
        whole
    }

    /// The path `inner` in the archive at `archive`, which may end with [`MARK`], as the prefix of a game does.
    pub fn within(archive: &Path, inner: &str) -> PathBuf {
        let mut address = archive.as_os_str().to_owned();
        let is_marked = address.to_string_lossy().ends_with(MARK) && !archive.exists();
        if !is_marked {
            address.push(MARK.to_string());
        }
        address.push(inner);
        address.into()
    }

    pub fn outer(&self) -> &Path {
        &self.outer
    }

    /// The build, if named.
    pub fn build(&self) -> Option<&str> {
        self.build.as_deref()
    }

    /// Whether the file or folder on this machine exists; a path inside of it may still lead to nothing.
    pub fn exists(&self) -> bool {
        self.outer.exists()
    }

    /// The path inside of it, with [`MARK`] before each path inside of another file.
    pub fn inner(&self) -> Option<&str> {
        self.inner.as_deref()
    }

    /// The archive and its build as an argument of [`Address::parse`].
    pub fn archive_path(&self) -> PathBuf {
        let mut path = self.outer.clone().into_os_string();
        if let Some(build) = &self.build {
            path.push(format!("{AT_BUILD}{build}"));
        }
        path.into()
    }

    #[must_use]
    pub fn without_inner(&self) -> Self {
        Self { inner: None, ..self.clone() }
    }

    /// The same file in another build, or in the newest one.
    #[must_use]
    pub fn at_build(&self, build: Option<String>) -> Self {
        Self { build, ..self.clone() }
    }

    /// Opens the file, through all archives around it.
    ///
    /// # Errors
    /// `NotFound` with the nearest path that exists, `Syntax` where a file that is no archive stands before a `:`, and
    /// the errors of opening the files on the way.
    pub fn open(&self, options: &Options) -> Result<Asset> {
        let outer = self.open_outer(options)?;
        match &self.inner {
            Some(inner) => open_inside(&outer, inner, options),
            None => Ok(outer),
        }
    }

    /// The bytes of the file, of any format, through all archives around it.
    ///
    /// # Errors
    /// As [`Address::open`].
    pub fn open_source(&self, options: &Options) -> Result<Source> {
        match (&self.inner, &self.build) {
            (None, None) => {
                self.check_prefix()?;
                options.source(&self.outer)
            }
            (None, Some(_)) => Ok(self.open_outer(options)?.source().clone()),
            (Some(inner), _) => source_inside(&self.open_outer(options)?, inner, options),
        }
    }

    /// Why the folder of a game is not found, if that is the file.
    fn check_prefix(&self) -> Result<()> {
        PrefixedAddress::of_path(&self.outer).map_or(Ok(()), |game| (game.folder)().map(drop))
    }

    /// The file or folder on this machine, as its build.
    ///
    /// # Errors
    /// As [`Address::open`].
    pub fn open_outer(&self, options: &Options) -> Result<Asset> {
        self.check_prefix()?;
        let at = self.build.as_ref().map(|build| options.clone().with(Arc::new(AtBuild(build.clone()))));
        let source = options.source(&self.outer)?;
        // Outputs and messages name the build, as two builds of a folder have the same paths.
        let source = match &self.build {
            Some(build) => {
                let name = format!("{}{AT_BUILD}{build}", source.name());
                source.named(&name)
            }
            None => source,
        };
        let outer = Asset::open_with(source, at.as_ref().unwrap_or(options))?;
        if let Some(build) = &self.build
            && outer.reader().archive().is_none_or(|archive| archive.builds().is_none())
        {
            let (name, format) = (outer.source().name(), outer.format());
            return Err(Error::syntax(format!("{name}: a {format} file has no builds, so no {AT_BUILD}{build}")));
        }
        Ok(outer)
    }
}

/// Whether a path begins with a drive of Windows, as in `C:\game` or `C:/game`. No path in an archive begins with a separator, so this
/// holds on every system.
fn is_drive(outer: &Path, inner: &str) -> bool {
    let is_letter = matches!(outer.as_os_str().as_encoded_bytes(), [letter] if letter.is_ascii_alphabetic());
    is_letter && inner.starts_with(['\\', '/'])
}

/// The path before each `mark` in `path` and the text after it, from the first mark on. Paths of files need not be UTF-8;
/// text after a mark that is not UTF-8 names nothing in an archive, so that such a mark is left out.
#[cfg(unix)]
fn splits(path: &Path, mark: char) -> Vec<(&Path, &str)> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let bytes = path.as_os_str().as_bytes();
    let marks = bytes.iter().enumerate().filter(|(_, byte)| char::from(**byte) == mark);
    let splits = marks.filter_map(|(at, _)| {
        let (outer, inner) = bytes.split_at(at);
        Some((Path::new(OsStr::from_bytes(outer)), std::str::from_utf8(inner).ok()?.strip_prefix(mark)?))
    });
    splits.collect()
}

#[cfg(not(unix))]
fn splits(path: &Path, mark: char) -> Vec<(&Path, &str)> {
    let Some(text) = path.to_str() else { return Vec::new() };
    let splits = text.match_indices(mark).map(|(at, _)| text.split_at(at));
    splits.filter_map(|(outer, inner)| Some((Path::new(outer), inner.strip_prefix(mark)?))).collect()
}

/// Opens the file `inner` in `outer`, with [`MARK`] before each path inside of another file.
///
/// # Errors
/// As [`Address::open`].
pub fn open_inside(outer: &Asset, inner: &str, options: &Options) -> Result<Asset> {
    open_inside_by(outer, inner, &options_inside(outer, options))
}

/// The options for files in the archive `outer`, which know the names that the archive has. Files that are opened by the
/// same options share what they look up there, such as parameters.
pub fn options_inside(outer: &Asset, options: &Options) -> Options {
    let mut names = options.get::<NameSources>().map(|names| NameSources::clone(&names)).unwrap_or_default();
    names.add_asset(outer.clone());
    options.clone().with(Arc::new(names))
}

/// As [`open_inside`], by [`options_inside`].
///
/// # Errors
/// As [`Address::open`].
pub fn open_inside_by(outer: &Asset, inner: &str, options: &Options) -> Result<Asset> {
    Asset::open_with(source_inside(outer, inner, options)?, options)
}

/// The decoded bytes of the file `inner` in `outer`: see [`open_inside`].
///
/// # Errors
/// As [`Address::open`].
pub fn source_inside(outer: &Asset, inner: &str, options: &Options) -> Result<Source> {
    let (mut holder, mut path) = (outer.clone(), inner);
    for _ in 0..NESTED {
        let (name, archive) = (holder.source().name(), holder.archive()?);
        // No index is opened for a kept file.
        if let Some(kept) = options.get::<Cache>().and_then(|cache| cache.recall(archive, path, name)) {
            return Ok(kept);
        }
        let (file, left) = first(archive, path)?;
        let source = contents(archive, &file, name, options)?;
        let Some(left) = left else { return Ok(source) };
        (holder, path) = (Asset::open_with(source, options)?, left);
    }
    Err(too_deep(outer))
}

/// Returns the archive in which the file at `inner` lies, which is `outer` or lies in it, and the file's path there.
///
/// # Errors
/// As [`Address::open`].
pub fn holder<'i>(outer: &Asset, inner: &'i str, options: &Options) -> Result<(Asset, &'i str)> {
    let (mut holder, mut path) = (outer.clone(), inner);
    for _ in 0..NESTED {
        let (file, left) = first(holder.archive()?, path)?;
        let Some(left) = left else { return Ok((holder, path)) };
        let source = contents(holder.archive()?, &file, holder.source().name(), options)?;
        (holder, path) = (Asset::open_with(source, options)?, left);
    }
    Err(too_deep(outer))
}

#[cold]
fn too_deep(outer: &Asset) -> Error {
    const AT_MOST: u64 = NESTED as u64;
    let kind = ErrorKind::Limit { what: "archives in each other", value: AT_MOST + 1, limit: AT_MOST };
    Error::of_part(kind, outer.source().name().to_owned())
}

/// The decoded bytes of a file, from the cache if `options` have one.
fn contents(archive: &dyn Archive, file: &File<'_>, name: &str, options: &Options) -> Result<Source> {
    match options.get::<Cache>() {
        Some(cache) => cache.open(archive, file, name),
        None => super::open(archive, file, name),
    }
}

/// The file that the whole of `inner` names, or else the file named by its part before a mark, with the rest as a path
/// inside of that file.
///
/// # Errors
/// `NotFound` without such a file, and as [`Archive::find`].
fn first<'a, 'i>(archive: &'a dyn Archive, inner: &'i str) -> Result<(File<'a>, Option<&'i str>)> {
    if let Some(file) = find(archive, inner)? {
        return Ok((file, None));
    }
    for (at, mark) in inner.match_indices(MARK) {
        let (path, left) = inner.split_at(at);
        if let Some(file) = find(archive, path)? {
            return Ok((file, left.strip_prefix(mark)));
        }
    }
    Err(not_found(archive, inner))
}

/// The file at `path`, in which `\` may stand for `/`, as people on Windows write it.
///
/// # Errors
/// As [`Archive::find`].
pub fn find<'a>(archive: &'a dyn Archive, path: &str) -> Result<Option<File<'a>>> {
    match (archive.find(path)?, slashed(path)) {
        (None, Some(path)) => archive.find(&path),
        (found, _) => Ok(found),
    }
}

/// The error for a path that is not there, with the nearest one that is. If a list cannot be read, the path may be in it.
fn not_found(archive: &dyn Archive, inner: &str) -> Error {
    if let Some(damage) = archive.damage().into_iter().next() {
        return damage.context(format_args!("file {inner:?} is not in the readable part of the list"));
    }
    // Quotes double each `\`.
    let inner = &*inner.replace('\\', "/");
    let what = match nearest(archive, inner) {
        Some(near) => format!("file {inner:?} not found; did you mean {near:?}?"),
        None => format!("file {inner:?} not found"),
    };
    // The newest build may be downloaded in part.
    let wanted = inner.split(MARK).next().unwrap_or(inner);
    let what = match other_build(archive, &|other| matches!(other.find(wanted), Ok(Some(_)))) {
        Some(other) => format!("file {inner:?} not found in this build; {other} has it"),
        None => what,
    };
    Error::of_part(ErrorKind::NotFound { what }, "")
}

/// The address of another build of `archive` that `has` accepts: see [`Game::other_with`](super::Game::other_with).
pub fn other_build(archive: &dyn Archive, has: &dyn Fn(&dyn Archive) -> bool) -> Option<String> {
    archive.builds()?.other_with(has)
}

/// The address of another build of `archive` with a file whose path `is_wanted`.
pub fn other_build_with(archive: &dyn Archive, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
    other_build(archive, &|other| {
        let len = other.len();
        len.is_ok_and(|len| (0..len).any(|n| other.file(n).is_ok_and(|file| is_wanted(&file.path))))
    })
}

/// The path of a file that is most alike to `inner`. If `inner` is a folder, the pattern of the files in it.
fn nearest(archive: &dyn Archive, inner: &str) -> Option<String> {
    let wanted = inner.split(MARK).next()?.trim_matches('/');
    let len = archive.len().ok()?;
    let paths = || (0..len).filter_map(|n| Some(archive.file(n).ok()?.path));
    if paths().any(|path: Cow<'_, str>| path.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('/'))) {
        return Some(format!("{wanted}/*"));
    }
    suggest::nearest(wanted, paths()).into_iter().next().map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::super::Prefix;
    use super::*;

    crate::inventory::submit! {
        BuiltIn { formats: &[], prefixes: &[Prefix { name: "game", folder: || Ok("folder".into()) }, Prefix { name: "game-2", folder: || Ok("folder".into()) }], archive_tables: &[] }
    }

    #[test]
    fn an_address_of_a_game_has_a_prefix_and_perhaps_a_build() {
        let parsed = |text| PrefixedAddress::parse(text).map(|at| (at.build, at.inner));
        assert_eq!(parsed("game:content/a.bin"), Some((None, "content/a.bin")));
        assert_eq!(parsed("game@123:"), Some((Some("123"), "")));
        assert_eq!(parsed("game-2:a:b"), Some((None, "a:b")));
        for other in ["game", "GAME:a", "game-3:a", "./game:a", "C:\\game:a", ":a", ""] {
            assert_eq!(parsed(other), None, "{other}");
        }
    }

    #[test]
    fn a_mark_after_an_archive_is_that_before_a_file_in_it() {
        let folder = env!("CARGO_MANIFEST_DIR");
        for (archive, build) in
            [(folder.to_owned(), None), (format!("{folder}:"), None), (format!("{folder}@12:"), Some("12"))]
        {
            let archive = Path::new(&archive);
            assert_eq!(Address::parse(archive).inner(), None, "{archive:?}");
            let inside = Address::parse(Address::within(archive, "a.bin"));
            assert_eq!((inside.build(), inside.inner()), (build, Some("a.bin")), "{archive:?}");
        }
    }
}
