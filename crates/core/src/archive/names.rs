//! Names for ids whose texts a file does not contain.
//!
//! The game's files refer to paths and names by their hashes. A text with the hash of an id **is** the text of the id:
//! no two paths of a game share a hash of 64 bits, so that a match is a proof. Hashes of names have 32 bits. For a list
//! of all names of a game, some hundred thousand, a match is as reliable as in the game itself; among many millions of
//! made-up texts, a few would match by chance.

use super::name_index::{NameIndex, NameIndexBuilder};
use super::{self as archive, Archive, Cache, Loose};
use crate::asset::Asset;
use crate::bytes::without_bom;
use crate::error::{Error, ErrorKind, Result};
use crate::id;
use crate::lazy::Lazy;
use crate::options::Options;
use crate::reader::NameSource;
use crate::relations::IdTexts;
use crate::report::{Progress, counted};
use crate::source::FileState;
use crate::source::text_input::text_of;
use crate::threads::prelude::*;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// Paths and names by their ids, from lists and from other files. [`Options::with`](crate::Options::with) passes them
/// to formats, which use them for ids whose texts the file does not contain.
///
/// ```
/// use assetq::query::archive::names::NameSources;
/// use assetq::formats::relations::IdTexts as _;
/// let mut names = NameSources::default();
/// names.add_lines("content/gameplay/hull.dds\ndiffuseMap\n")?;
/// let id = assetq::formats::id::of_path("content/gameplay/hull.dds");
/// assert_eq!(names.path(id)?.as_deref(), Some("content/gameplay/hull.dds"));
/// assert_eq!(names.name(0x820F_0280)?.as_deref(), Some("diffuseMap"));
/// # Ok::<(), assetq::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct NameSources {
    /// The texts of lists and folders, in the order of their addition.
    indexes: Vec<Arc<NameIndex>>,
    left_out: Vec<String>,
    files: Vec<Asset>,
    /// The files of texts and of parameters in the archives among `files`, opened on first use.
    inside: Arc<Inside>,
}

/// The language of texts, as in `en` or `pt_br`, given to formats by [`Options::with`](crate::Options::with). Without one,
/// texts are in English where a game has these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Language(pub String);

/// Files in archives that describe other files.
#[derive(Debug, Default)]
struct Inside {
    texts: Lazy<Vec<Asset>>,
    parameters: Lazy<Vec<Asset>>,
}

/// The texts of a file of a known format that lists them.
fn texts_in(path: &Path, options: &Options) -> Result<Vec<Box<str>>> {
    let mut texts = Vec::new();
    match Asset::open_with(options.source_in_folder(path)?, options) {
        Ok(asset) => {
            if let Some(listed) = texts_of(&asset) {
                listed.list(&mut |text| texts.push(text.into()))?;
            }
            Ok(texts)
        }
        Err(error) if matches!(error.kind(), ErrorKind::UnknownFormat { .. }) => Ok(texts),
        Err(error) => Err(error),
    }
}

/// The kind of kept indexes of names. The number changes when their content does.
const KIND: &str = "names-1";

/// The key of the index of a folder's files: it changes with any of them.
fn key_of_files(folder: &Path, loose: &Loose) -> String {
    let lines = loose.files().par_iter().map(|archive::LooseFile { path, .. }| {
        let meta = folder.join(path).metadata();
        let state = meta.map_or_else(|error| error.to_string(), |meta| FileState::from_metadata(&meta).text());
        // No path has a NUL.
        format!("{path}\0{state}\0")
    });
    Cache::key_of_derived(KIND, lines.collect::<Vec<String>>().concat().as_bytes())
}

/// Reads the names of all files in a folder. Damaged files are left out, and counted in the note of the index.
fn index_of_files(folder: &Path, loose: &Loose, options: &Options, progress: &Progress) -> Result<NameIndex> {
    /// Files whose texts are held at once.
    const FILES: usize = 512;
    let mut builder = NameIndexBuilder::default();
    let mut failed: Vec<String> = loose.failed().iter().map(ToString::to_string).collect();
    progress.announce(loose.files().len() as u64);
    for files in loose.files().chunks(FILES) {
        let texts = files.par_iter().map(|file| texts_in(&folder.join(&file.path), options));
        let texts: Vec<Result<Vec<Box<str>>>> = texts.collect();
        for (file, texts) in files.iter().zip(texts) {
            builder.add(&file.path)?;
            match texts {
                Ok(texts) => texts.iter().try_for_each(|text| builder.add(text))?,
                Err(error) if options.strict => return Err(error.context(&file.path)),
                Err(error) => failed.push(error.context(&file.path).to_string()),
            }
        }
        progress.advance(files.len() as u64);
    }
    Ok(builder.finish(failed.first().map_or(String::new(), |first| {
        format!("names of {} are left out, which cannot be read; the first: {first}", counted(failed.len(), "file"))
    })))
}

impl NameSources {
    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.indexes.is_empty()
    }

    pub fn files(&self) -> &[Asset] {
        &self.files
    }

    /// Warnings about files that were left out, because they cannot be read.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Adds each line of `text` as a path and as a name, without surrounding white space. The first of two texts with
    /// one id counts.
    ///
    /// # Errors
    /// `Limit` for more than 4 GiB.
    pub fn add_lines(&mut self, text: &str) -> Result<()> {
        let mut builder = NameIndexBuilder::default();
        without_bom(text)
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .try_for_each(|line| builder.add(line))?;
        self.indexes.push(Arc::new(builder.finish(String::new())));
        Ok(())
    }

    /// Adds the paths of the files in `folder`, relative to it, and the texts of those that list theirs: from the [`Cache`] in `options`, if
    /// no file has changed since they were kept. Files that cannot be read are left out. `progress` counts files.
    ///
    /// # Errors
    /// When one of the files is damaged, if `options` are strict, and `Limit` for more than 4 GiB of names.
    pub fn add_folder(&mut self, folder: &Path, options: &Options, progress: &Progress) -> Result<()> {
        let loose = Loose::new(vec![folder.to_owned()]);
        let cache = options.get::<Cache>().map(|cache| (key_of_files(folder, &loose), cache));
        let kept = cache.as_ref().and_then(|(key, cache)| NameIndex::open(cache.derived(key, KIND)?).ok());
        let index = match kept.filter(|kept| !options.strict || kept.note().is_empty()) {
            Some(kept) => kept,
            None => {
                let index = index_of_files(folder, &loose, options, progress)?;
                if let Some((key, cache)) = cache.filter(|(_, cache)| cache.is_worth(index.bytes().len() as u64)) {
                    cache.keep_derived(&key, &[index.bytes()]);
                }
                index
            }
        };
        if !index.note().is_empty() {
            self.left_out.push(format!("{}: {}", folder.display(), index.note()));
        }
        self.indexes.push(Arc::new(index));
        Ok(())
    }

    /// Adds the paths of an archive, or the texts of a file with texts, which is queried for each id.
    pub fn add_asset(&mut self, asset: Asset) {
        self.files.push(asset);
        self.inside = Arc::default();
    }

    /// The files that `path` names in the archives. An archive may lack such a file.
    fn inside(&self, options: &Options, path: impl Fn(&dyn Archive) -> Option<String>) -> Result<Vec<Asset>> {
        let mut found = Vec::new();
        for asset in &self.files {
            let Some(archive) = asset.reader().archive() else { continue };
            if let Some(path) = path(archive)
                && archive.find(&path)?.is_some()
            {
                let opened = archive::open_inside(asset, &path, options);
                found.push(opened.map_err(|error| error.context(path))?);
            }
        }
        Ok(found)
    }

    /// The text that the game shows for this id of a text: from the files that were added, and from the texts of the archives
    /// among them, in the [`Language`] of `options`.
    ///
    /// # Errors
    /// When a text is damaged, or a file of texts cannot be read.
    pub fn title(&self, id: &str, options: &Options) -> Result<Option<Cow<'_, str>>> {
        let inside = self.inside.texts.get_or_try_init(|| {
            let language = options.get::<Language>();
            let language = language.as_ref().map(|language| &*language.0);
            self.inside(options, |archive| archive.game()?.texts(language))
        })?;
        for texts in self.files.iter().chain(inside).filter_map(texts_of) {
            if let Some(title) = texts.title(id)? {
                return Ok(Some(title));
            }
        }
        Ok(None)
    }

    /// The build of the first archive that is of one.
    pub fn build(&self) -> Option<&str> {
        self.files.iter().find_map(|asset| asset.reader().archive()?.game()?.current_build())
    }

    /// The readers' facets of type `T` (see [`Reader::facet`](crate::Reader)): of the files that were added, and of the
    /// parameters of the archives among them.
    ///
    /// # Errors
    /// When a file of parameters cannot be opened.
    pub fn facets<T: ?Sized + 'static>(&self, options: &Options) -> Result<Vec<&T>> {
        let inside = self
            .inside
            .parameters
            .get_or_try_init(|| self.inside(options, |archive| archive.parameters().map(str::to_owned)))?;
        Ok(self.files.iter().chain(inside).filter_map(|asset| asset.reader().facet()).collect())
    }

    /// Adds the file or folder at `address` (see [`Address`](crate::archive::Address)): an archive, a file with texts
    /// of ids, a list with one text a line, or a folder of such files.
    ///
    /// # Errors
    /// When it cannot be read, is not text, or is of a format without names.
    pub fn add_file(&mut self, address: &Path, options: &Options) -> Result<()> {
        self.add_file_with(address, options, &Progress::default())
    }

    /// As [`NameSources::add_file`]; `progress` counts the files of a folder.
    pub fn add_file_with(&mut self, address: &Path, options: &Options, progress: &Progress) -> Result<()> {
        if address.is_dir() && !archive::is_archive(address) {
            return self.add_folder(address, options, progress);
        }
        match Asset::open_at(address, options) {
            Ok(asset)
                if asset.reader().archive().is_some()
                    || asset.reader().facet::<dyn NameSource>().is_some()
                    || texts_of(&asset).is_some() =>
            {
                self.add_asset(asset);
                Ok(())
            }
            Ok(asset) => Err(Error::syntax(format!("a {} file has no names for ids", asset.format()))),
            Err(error) if matches!(error.kind(), ErrorKind::UnknownFormat { .. }) => {
                let source = options.source(address)?;
                self.add_lines(&text_of(source.bytes()).map_err(|error| error.context("list of names"))?)
            }
            Err(error) => Err(error),
        }
    }
}

fn texts_of(asset: &Asset) -> Option<&dyn IdTexts> {
    asset.reader().relations()?.texts()
}

/// Lists precede files; files are in the order of their addition.
impl IdTexts for NameSources {
    fn path(&self, id: u64) -> Result<Option<Cow<'_, str>>> {
        if id == 0 {
            return Ok(None);
        }
        for index in &self.indexes {
            if let Some(path) = index.path(id)? {
                return Ok(Some(id::normal_path(path)));
            }
        }
        for asset in &self.files {
            let found = match (asset.reader().archive(), texts_of(asset)) {
                (Some(archive), _) => archive.game().map_or(Ok(None), |game| game.path_of(id))?,
                (None, Some(texts)) => texts.path(id)?,
                (None, None) => None,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn name(&self, id: u32) -> Result<Option<Cow<'_, str>>> {
        for index in &self.indexes {
            if let Some(name) = index.name(id)? {
                return Ok(Some(Cow::Borrowed(name)));
            }
        }
        for texts in self.files.iter().filter_map(texts_of) {
            if let Some(name) = texts.name(id)? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_paths_and_names() {
        let mut names = NameSources::default();
        assert!(names.is_empty());
        names.add_lines("res/content/a.dds\r\n\n  Scene Root \ncontent\\b.dds").unwrap();
        for path in ["content/a.dds", "content/b.dds"] {
            assert_eq!(names.path(id::of_path(path)).unwrap().as_deref(), Some(path));
        }
        assert_eq!(names.name(0x10C3_0510).unwrap().as_deref(), Some("Scene Root"));
        assert_eq!((names.path(0).unwrap(), names.path(1).unwrap(), names.name(1).unwrap()), (None, None, None));
        assert!(!names.is_empty());
    }

    #[test]
    fn a_file_of_no_known_format_has_no_texts_and_an_absent_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.bin");
        std::fs::write(&file, [0xFF; 32]).unwrap();
        assert_eq!(texts_in(&file, &Options::default()).unwrap(), [""; 0].map(Box::from));
        assert!(texts_in(&folder.path().join("absent"), &Options::default()).is_err());
        let mut names = NameSources::default();
        std::fs::write(&file, "content/a.dds\n").unwrap();
        names.add_file(&file, &Options::default()).unwrap();
        assert_eq!(names.path(id::of_path("content/a.dds")).unwrap().as_deref(), Some("content/a.dds"));
    }
}
