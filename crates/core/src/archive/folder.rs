//! Plain folders: files by their path, for comparisons of two folders. Every other command reads such a folder as the
//! set of its files.

use super::{Archive, File, Loose, facts, no_file, tables, verify_places};
use crate::asset::Asset;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::reader::{Facet, FileFormat, Reader, facets};
use crate::report::{Progress, Report};
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Any folder on this machine. Its files are listed on first use.
#[derive(Debug)]
pub struct Folder {
    source: Source,
    loose: Loose,
    options: Options,
}

impl Folder {
    /// The folder at `path`, as an archive of its files.
    pub fn open(path: &Path, options: &Options) -> Asset {
        let source = Source::of_folder(path);
        Self { source, loose: Loose::new(vec![path.to_owned()]), options: options.clone() }.into()
    }
}

impl Archive for Folder {
    fn len(&self) -> Result<usize> {
        Ok(self.loose.files().len())
    }

    fn file(&self, n: usize) -> Result<File<'_>> {
        let file = self.loose.files().get(n).ok_or_else(|| no_file(n))?;
        Ok(File::new(&*file.path, file.size, n as u64))
    }

    fn find(&self, path: &str) -> Result<Option<File<'_>>> {
        Ok(self.loose.find(path)?.map(|file| File::new(file.path, file.size, 0)))
    }

    fn position(&self, path: &str) -> Result<Option<usize>> {
        Ok(self.loose.files().binary_search_by(|file| (*file.path).cmp(path)).ok())
    }

    fn damage(&self) -> Vec<Error> {
        self.loose.failed().to_vec()
    }

    fn files_on_disk(&self) -> Vec<PathBuf> {
        self.loose.folders().to_vec()
    }

    fn stored(&self, file: &File<'_>) -> Result<Source> {
        let place = self.loose.place(0, &file.path).ok_or_else(|| {
            Error::of_part(ErrorKind::NotFound { what: format!("file {:?} not found", file.path) }, "")
        })?;
        self.options.source_in_folder(&place)
    }
}

impl FileFormat for Folder {
    const NAME: &'static str = "folder";
    const ABOUT: &'static str = "A folder of files";

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        let folder = source.path().ok_or_else(|| Error::of_part(ErrorKind::UnknownFolder, ""))?;
        Ok(Self { loose: Loose::new(vec![folder.to_owned()]), options: options.clone(), source })
    }
}

impl Reader for Folder {
    fn source(&self) -> &Source {
        &self.source
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Archive]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        tables(self)
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        facts(self)
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        crate::reader::entry::show(self, entry, out)
    }

    fn verify(&self, progress: &Progress) -> Report {
        let mut report = Report::default();
        verify_places(self, &mut report, progress);
        report
    }
}
