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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Tree;

    #[test]
    fn a_folder_is_an_archive_of_its_files() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("maps")).unwrap();
        for (name, text) in [("a.txt", "one"), ("maps/b.txt", "three")] {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let asset = Folder::open(dir.path(), &Options::default());
        let (reader, archive) = (asset.reader(), asset.reader().archive().unwrap());
        let paths: Vec<String> = (0..2).map(|n| archive.file(n).unwrap().path.into_owned()).collect();
        assert_eq!(paths, ["a.txt", "maps/b.txt"]);
        assert_eq!(archive.position("maps/b.txt").unwrap(), Some(1));
        assert_eq!(archive.position("maps").unwrap(), None);
        assert_eq!(archive.file(2).unwrap_err().to_string(), "files: file 2 not found");
        let facts = reader.facts();
        assert!(facts.iter().any(|(name, value)| name == "files" && *value == Value::Uint(2)), "{facts:?}");
        let mut tree = Tree::default();
        assert!(reader.cat("maps/b.txt", &mut tree).unwrap());
        assert!(tree.into_value().to_string().contains("size: 5"));
        assert!(reader.verify(&Progress::default()).is_ok());
        // The list is kept; a file that was deleted since is an error.
        let gone = archive.file(0).unwrap();
        std::fs::remove_file(dir.path().join("a.txt")).unwrap();
        assert!(archive.stored(&gone).is_err());
        let outside = File::new("../a.txt", 1, 0);
        assert_eq!(archive.stored(&outside).unwrap_err().to_string(), "file \"../a.txt\" not found");
    }

    #[test]
    fn only_a_folder_is_opened_as_one() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open_as(Source::of_folder(dir.path()), &Options::default()).unwrap();
        assert_eq!(folder.len().unwrap(), 0);
        let error = Folder::open_as(Source::from_vec("a.txt", Vec::new()), &Options::default()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::UnknownFolder), "{error}");
    }
}
