//! The format as commands see it.

use super::{Key, RustyHeartsArchive, layout, list, list_in, verify};
use crate::archive::{self, Archive};
use crate::error::Result;
use crate::options::Options;
use crate::reader::{Facet, FileFormat, Likeness, Reader, Section, facets};
use crate::report::{Progress, Report};
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

impl FileFormat for RustyHeartsArchive {
    const NAME: &'static str = "rusty-hearts";
    const GAME: &'static str = "Rusty Hearts";
    const ABOUT: &'static str = "The archives of the game";

    /// Decides for a list under a key that is not known.
    const ENDINGS: &'static [&'static str] = &["f00x.dat"];

    fn is_folder(folder: &Path) -> bool {
        list_in(folder).is_some()
    }

    /// `key`: see [`Key::parse`].
    fn configure(setting: &str, given: &[u8], from: &str, options: &Options) -> Result<Option<Options>> {
        if setting != "key" {
            return Ok(None);
        }
        let key = Key::parse(given).map_err(|error| error.context(from))?;
        Ok(Some(options.clone().with(Arc::new(key))))
    }

    fn likeness(data: &[u8]) -> Likeness {
        Likeness::by_shape(list::is_list(data, &layout::KEY))
    }

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        Self::open(source, options)
    }
}

impl Reader for RustyHeartsArchive {
    fn source(&self) -> &Source {
        &self.source
    }

    fn sections(&self) -> Vec<Section> {
        let (at, size) = (self.dat.view("").offset(), self.dat.bytes().len() as u64);
        vec![Section::new("list", at, size, Some(self.list().len() as u64))]
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Archive]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        archive::tables(self)
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let mut facts = vec![("game".into(), "Rusty Hearts".into())];
        facts.extend(archive::facts(self));
        facts.push(("records_without_name".into(), self.list().unnamed.into()));
        facts.push(("key".into(), if self.key == Key::default() { "built in" } else { "given" }.into()));
        facts
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        crate::archive::show(self, entry, out)
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::game(self, progress)
    }
}
