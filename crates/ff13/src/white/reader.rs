//! The format as commands see it.

use super::{GameKind, WhiteArchive, folder, list, tables, verify};
use crate::archive::{self, Archive};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::reader::{Facet, FileFormat, Likeness, Reader, Section, facets, setting_text};
use crate::report::{Progress, Report};
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

impl FileFormat for WhiteArchive {
    const NAME: &'static str = "white";
    const GAME: &'static str = "FINAL FANTASY XIII trilogy";
    const ABOUT: &'static str = "The archives of the game";

    fn is_folder(folder: &Path) -> bool {
        folder::data_folder(folder).is_some()
    }

    /// `game`: the name of a [`GameKind`].
    fn configure(setting: &str, given: &[u8], from: &str, options: &Options) -> Result<Option<Options>> {
        if setting != "game" {
            return Ok(None);
        }
        let name = setting_text(given, from)?;
        let kind = GameKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let what = format!("{name:?} is no game: it is ff13, ff13-2 or lr").into();
            Error::of_part(ErrorKind::Syntax { what }, from.to_owned())
        })?;
        Ok(Some(options.clone().with(Arc::new(kind))))
    }

    fn likeness(data: &[u8]) -> Likeness {
        if list::has_crypt_header(data) { Likeness::Magic } else { Likeness::by_shape(list::is_plain(data)) }
    }

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        Self::open(source, options)
    }
}

impl Reader for WhiteArchive {
    fn source(&self) -> &Source {
        &self.source
    }

    fn version(&self) -> String {
        self.kind.map_or_else(String::new, |kind| kind.name().to_owned())
    }

    fn sections(&self) -> Vec<Section> {
        match (&*self.lists, self.list(0)) {
            ([_], Ok(list)) => list.sections(),
            _ => Vec::new(),
        }
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Archive]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        let mut tables = archive::tables(self);
        tables.extend(tables::tables(self));
        tables
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let mut facts = vec![("game".into(), self.kind.map_or(Value::Null, |kind| kind.title().into()))];
        facts.push(("lists".into(), self.lists.len().into()));
        facts.extend(archive::facts(self));
        facts
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        crate::archive::show(self, entry, out)
    }

    fn warnings(&self) -> Vec<String> {
        let laid_out = self.lists.iter().filter_map(|list| Some((&list.file.name, list.list.get()?.as_ref().ok()?)));
        laid_out.filter_map(|(name, list)| Some(format!("{name}: {}", list.mismatch.as_ref()?))).collect()
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::game(self, progress)
    }
}
