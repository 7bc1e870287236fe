//! FINAL FANTASY XIII trilogy: lists `filelist*.bin`, and the images `white_*.bin` that hold the files they name.
//!
//! [`WhiteArchive::open`] finds the lists. A list is mapped, deciphered and parsed on the first use of a file in it, its chunks
//! of texts are inflated until the file is found, and an image is mapped on the first read of a file's bytes.
//!
//! The bytes are described in docs/formats/white.md.

mod cipher;
mod folder;
mod game_kind;
pub mod layout;
mod list;
mod reader;
mod tables;
mod verify;

pub use game_kind::GameKind;

use crate::archive::{self, Archive, Codec, File, PathIndex, RepeatedPaths, Volume, VolumeFile};
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::{Lazy, ScanCost};
use crate::options::Options;
use crate::source::Source;
use assetq_core::Openable;
use folder::ListFile;
use list::{List, Text};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A data folder, or one list and its image.
#[derive(Debug)]
pub struct WhiteArchive {
    source: Source,
    kind: Option<GameKind>,
    lists: Vec<LazyList>,
    options: Options,
    /// The start of each list's files among all; the last number is the number of all files.
    starts: Lazy<Vec<usize>>,
    index: Lazy<PathIndex>,
    asked: ScanCost,
}

#[derive(Debug)]
struct LazyList {
    file: ListFile,
    image: VolumeFile,
    list: Lazy<Result<List>>,
}

/// The folder that paths of files without one begin with.
const UNNAMED: &str = "unnamed/";

impl WhiteArchive {
    /// Opens a data folder, the folder above it, or one list.
    ///
    /// # Errors
    /// `NotInstalled` when the folder has no list, `Io`.
    pub fn open(from: impl Openable, options: &Options) -> Result<Self> {
        let source = from.open_source(options)?;
        let given = options.get().map(|kind| *kind);
        let (places, folder) = folder::lists(&source)?;
        let kind = given.or_else(|| folder::kind_of(folder.as_deref()?));
        let lists: Vec<_> = places
            .into_iter()
            .map(|file| LazyList { image: file.image(options), file, list: Lazy::default() })
            .collect();
        if lists.is_empty() {
            let what = "filelist*.bin in sys or zone".to_owned();
            return Err(Error::of_part(ErrorKind::NotInstalled { what }, ""));
        }
        Ok(Self {
            source,
            kind,
            lists,
            options: options.clone(),
            starts: Lazy::default(),
            index: Lazy::default(),
            asked: ScanCost::default(),
        })
    }

    pub fn kind(&self) -> Option<GameKind> {
        self.kind
    }

    /// List `n`, laid out.
    fn list(&self, n: usize) -> Result<&List> {
        let list = self.lists.get(n).ok_or_else(|| archive::no_file(n))?;
        // Deciphered by rayon, so without a lock.
        match list.list.get_or_make(|| self.open_list(&list.file)) {
            Ok(list) => Ok(list),
            Err(error) if self.lists.len() == 1 => Err(error.clone()),
            Err(error) => Err(error.clone().context(&list.file.name)),
        }
    }

    fn open_list(&self, file: &ListFile) -> Result<List> {
        let source = match &file.path {
            Some(path) => self.options.source_in_folder(path)?,
            None => self.source.clone(),
        };
        let list = List::open(source, self.kind)?;
        match &list.mismatch {
            Some(mismatch) if self.options.strict => Err(mismatch.clone()),
            _ => Ok(list),
        }
    }

    /// The start of the files of each list; a list that cannot be read has none.
    fn starts(&self) -> &[usize] {
        self.starts.get_or_make(|| {
            let mut starts = vec![0usize];
            let mut at = 0usize;
            for n in 0..self.lists.len() {
                at = at.saturating_add(self.list(n).map_or(0, |list| list.files));
                starts.push(at);
            }
            starts
        })
    }

    /// The number of files of all lists.
    fn files(&self) -> usize {
        *self.starts().last().expect("the last start is the number of files")
    }

    /// The list of file `n`, and its number there.
    fn place(&self, n: usize) -> Result<(usize, usize)> {
        let starts = self.starts();
        let list = starts.partition_point(|&start| start <= n).saturating_sub(1);
        match starts.get(list) {
            Some(start) if list < self.lists.len() => Ok((list, n.saturating_sub(*start))),
            _ => Err(archive::no_file(n)),
        }
    }

    fn file_of(&self, list: usize, n: usize) -> Result<File<'_>> {
        let name = self.name_of(list);
        let Text { offset, size, stored_size, path } = self.list(list)?.text(n).map_err(|error| {
            let error = error.context(format_args!("file {n}"));
            if self.lists.len() == 1 { error } else { error.context(name) }
        })?;
        let path = path.unwrap_or_else(|| format!("{UNNAMED}{name}/{n}").into());
        let mut file = File::new(path, size, (list as u64) << 32 | n as u64);
        file.stored_size = stored_size;
        file.codec = if size == stored_size { Codec::None } else { Codec::Zlib };
        if let Some(found) = self.lists.get(list) {
            file.volume = Some(found.image.name().into());
            file.installed = found.image.is_installed();
        }
        file.offset = Some(offset);
        file.list = Some(name.into());
        Ok(file)
    }

    fn name_of(&self, list: usize) -> &str {
        self.lists.get(list).map_or("", |list| &list.file.name)
    }

    /// The list and number of the first file at `path`, without an index.
    fn seek(&self, path: &str) -> Option<(usize, usize)> {
        let named = (0..self.lists.len()).find_map(|list| Some((list, self.list(list).ok()?.find(path)?)));
        named.or_else(|| self.seek_unnamed(path))
    }

    fn seek_unnamed(&self, path: &str) -> Option<(usize, usize)> {
        let (list, number) = path.strip_prefix(UNNAMED)?.rsplit_once('/')?;
        let list = self.lists.iter().position(|own| own.file.name == list)?;
        let n = number.parse().ok().filter(|n: &usize| n.to_string() == number)?;
        self.list(list).ok()?.text(n).is_ok_and(|text| text.path.is_none()).then_some((list, n))
    }

    fn path_of(&self, n: usize) -> Option<Cow<'_, str>> {
        let (list, n) = self.place(n).ok()?;
        self.list(list).ok()?.text(n).ok()?.path
    }

    fn all_at(&self, path: &str) -> impl Iterator<Item = usize> {
        let index = self.index.get_or_make(|| {
            (0..self.lists.len()).filter_map(|n| self.list(n).ok()).for_each(List::inflate_all);
            PathIndex::new((0..self.files()).filter_map(|n| Some((n, self.path_of(n)?))))
        });
        index.candidates(path).filter(move |&n| self.path_of(n).is_some_and(|found| found == path))
    }

    /// The file without a path that is shown under `path`.
    fn unnamed_at(&self, path: &str) -> Option<usize> {
        let (list, n) = self.seek_unnamed(path)?;
        Some(self.starts().get(list)?.saturating_add(n))
    }

    /// The order that decides which of several files a path names: a search meets that one first.
    fn order(&self, n: usize) -> (usize, usize, usize) {
        let Ok((list, n)) = self.place(n) else { return (usize::MAX, 0, 0) };
        let entry = self.list(list).ok().and_then(|list| Some(list.entry(n)?.text(list.layout)));
        (list, entry.map_or(usize::MAX, |(chunk, _)| chunk), n)
    }
}

impl Archive for WhiteArchive {
    fn len(&self) -> Result<usize> {
        if let [_] = &*self.lists {
            return self.list(0).map(|list| list.files);
        }
        Ok(self.files())
    }

    /// A list alone that cannot be read is an error of [`Archive::len`].
    fn damage(&self) -> Vec<Error> {
        let is_alone = self.lists.len() == 1;
        let damage = (0..self.lists.len()).filter_map(|n| match self.list(n) {
            Ok(list) if is_alone => list.cut(),
            Ok(list) => Some(list.cut()?.context(self.name_of(n))),
            Err(_) if is_alone => None,
            Err(error) => Some(error),
        });
        damage.collect()
    }

    fn file(&self, n: usize) -> Result<File<'_>> {
        let (list, n) = self.place(n)?;
        self.file_of(list, n)
    }

    fn find(&self, path: &str) -> Result<Option<File<'_>>> {
        // An unreadable single list contains no files.
        if let [_] = &*self.lists {
            self.list(0)?;
        }
        if self.index.get().is_some() || !self.asked.is_first() {
            return self.position(path)?.map(|n| self.file(n)).transpose();
        }
        self.seek(path).map(|(list, n)| self.file_of(list, n)).transpose()
    }

    fn position(&self, path: &str) -> Result<Option<usize>> {
        let first = self.all_at(path).min_by_key(|&n| self.order(n));
        Ok(first.or_else(|| self.unnamed_at(path)))
    }

    fn repeated_paths(&self) -> Option<&dyn RepeatedPaths> {
        Some(self)
    }

    fn stored(&self, file: &File<'_>) -> Result<Source> {
        let list = usize::try_from(file.handle >> 32).ok().and_then(|list| self.lists.get(list));
        let (list, offset) = list.zip(file.offset).ok_or_else(|| archive::no_file(usize::MAX))?;
        list.image.slice(offset, file.stored_size)
    }

    fn files_on_disk(&self) -> Vec<PathBuf> {
        self.lists
            .iter()
            .flat_map(|list| list.file.path.as_deref().into_iter().chain(list.image.path()))
            .map(Path::to_owned)
            .collect()
    }

    fn volumes(&self) -> Result<Vec<Volume>> {
        let files = (0..self.lists.len()).map(|n| self.list(n).map_or(0, |list| list.files as u64));
        let lists = self.lists.iter().zip(files);
        Ok(lists.map(|(list, files)| Volume::new(list.image.name(), list.image.size(), files)).collect())
    }
}

impl RepeatedPaths for WhiteArchive {
    fn positions(&self, path: &str) -> Result<Vec<usize>> {
        Ok(self.all_at(path).chain(self.unnamed_at(path)).collect())
    }

    fn has_lists(&self) -> bool {
        true
    }
}
