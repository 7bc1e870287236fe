//! The format as commands see it.

use super::{WowsArchive, layout, places, verify};
use crate::archive::{Archive, tables};
use crate::error::Result;
use crate::options::Options;
use crate::reader::{Facet, FileFormat, Reader, Section, facets};
use crate::report::{Progress, Report};
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use std::borrow::Cow;
use std::path::Path;

impl FileFormat for WowsArchive {
    const NAME: &'static str = "wows";
    const GAME: &'static str = "World of Warships";
    const ABOUT: &'static str = "The archives of the game";
    const ENDINGS: &'static [&'static str] = &[".idx"];
    const MAGIC: &'static [u8] = &layout::MAGIC;

    fn is_folder(folder: &Path) -> bool {
        places::is_game(folder) || places::has_index(folder)
    }

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        Self::open(source, options)
    }
}

impl Reader for WowsArchive {
    fn source(&self) -> &Source {
        &self.source
    }

    fn version(&self) -> String {
        match &self.build {
            Some(build) => build.clone(),
            None => self.indexes().first().map_or_else(String::new, |index| index.variant().to_string()),
        }
    }

    /// The sections of an index; the indexes of a folder have offsets of their own.
    fn sections(&self) -> Vec<Section> {
        match self.indexes() {
            [index] if !self.source.bytes().is_empty() => index.sections(),
            _ => Vec::new(),
        }
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Archive]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        tables(self)
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let mut facts: Vec<(Cow<'static, str>, Value<'_>)> = vec![("game".into(), "World of Warships".into())];
        if let Some(build) = &self.build {
            facts.push(("build".into(), Value::text(build)));
            let builds = self.builds.iter().map(|build| Value::text(build));
            facts.push(("builds".into(), Value::List(builds.collect())));
        }
        let sums = self.sums();
        facts.push(("indexes".into(), self.indexes().len().into()));
        facts.push(("files".into(), sums.files.into()));
        facts.push(("unpacked_size".into(), sums.size.into()));
        facts.push(("stored_size".into(), sums.stored_size.into()));
        if self.build.is_some() {
            facts.push(("loose_files".into(), self.loose.files().len().into()));
        }
        let volumes = self.volume_list().all();
        let missing = volumes.iter().flatten().filter(|volume| !volume.is_installed());
        let missing: Vec<Value<'_>> = missing.map(|volume| Value::text(volume.name())).collect();
        facts.push(("volumes".into(), volumes.len().into()));
        facts.push(("files_not_installed".into(), sums.missing.into()));
        facts.push(("volumes_not_installed".into(), Value::List(missing)));
        facts
    }

    /// The facts about a file, by its path or its id.
    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        let Some(file) = self.asked(entry)? else { return Ok(false) };
        out.begin_map()?;
        crate::archive::fields(&file, out)?;
        if let Some((index, entry)) = self.entry(&file) {
            out.field("index", &Value::text(index.name()))?;
            out.field("method", &entry.method.into())?;
            out.field("codec_number", &entry.codec.into())?;
        }
        out.end_map()?;
        Ok(true)
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::game(self, progress)
    }
}
