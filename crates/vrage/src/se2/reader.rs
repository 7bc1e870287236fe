//! The format as commands see it.

use super::{Se2Archive, content_folder, has_definitions, tables, verify};
use crate::archive::{self, Archive};
use crate::error::Result;
use crate::options::Options;
use crate::reader::entry::show_row;
use crate::reader::{Facet, FileFormat, Reader, facets};
use crate::relations::Relations;
use crate::report::{Progress, Report};
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use std::borrow::Cow;
use std::path::Path;

impl FileFormat for Se2Archive {
    const NAME: &'static str = "se2";
    const GAME: &'static str = "Space Engineers 2";
    const ABOUT: &'static str = "The content of the game";

    fn is_folder(folder: &Path) -> bool {
        content_folder(folder).is_some_and(|(folder, content)| has_definitions(&folder.join(content)))
    }

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        Self::open(source, options)
    }
}

impl Reader for Se2Archive {
    fn source(&self) -> &Source {
        &self.source
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Archive, Relations]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        let mut tables = archive::tables(self);
        tables.extend(tables::tables(self));
        tables
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let size = self.loose.files().iter().map(|file| file.size).fold(0, u64::saturating_add);
        vec![
            ("game".into(), "Space Engineers 2".into()),
            ("files".into(), self.loose.files().len().into()),
            ("bytes".into(), size.into()),
        ]
    }

    /// The facts about a file, or about a definition by its GUID or its unique name.
    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        if archive::show(self, entry, out)? {
            return Ok(true);
        }
        let Some(found) = self.gathered().find(entry) else { return Ok(false) };
        show_row(&*tables::definitions(self), found, out).map(|()| true)
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::game(self, progress)
    }
}
