//! The format as commands see it.

use super::difference::ArchiveComparison;
use super::{ArchiveHeader, ArchivePart, MAIN, Options, VrbArchive, node, tables, verify};
use crate::bytes::le;
use crate::compare::Comparison;
use crate::error::Result;
use crate::reader::{Facet, FileFormat, Graphs, RawEntries, Reader, Section, facets};
use crate::report::{Progress, Report};
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use crate::writable::Writable;
use std::any::Any;
use std::borrow::Cow;
use std::sync::PoisonError;

impl FileFormat for VrbArchive {
    const NAME: &'static str = "vrb";
    const GAME: &'static str = "Space Engineers 2";
    const ABOUT: &'static str = "Objects of a saved game or a model";
    const OWN_ENDINGS: &'static [&'static str] = &[".vrb"];
    const MAGIC: &'static [u8] = b"VR3B";

    fn open_as(source: Source, options: &crate::options::Options) -> Result<Self> {
        Self::open_with(source, Options { strict: options.strict, ..Options::default() })
    }
}

/// A part as a section. Negative numbers, which `verify` reports, are shown as 0.
fn section(name: &str, part: &ArchivePart, count: Option<le::I32>) -> Section {
    let count = count.and_then(|count| count.get().try_into().ok());
    let offset = part.entry().offset.get().max(0).unsigned_abs();
    Section::new(name.to_owned(), offset, part.stored_size(), count)
}

impl Reader for VrbArchive {
    fn source(&self) -> &Source {
        &self.source
    }

    fn version(&self) -> String {
        self.header().version.get().to_string()
    }

    fn sections(&self) -> Vec<Section> {
        let header = self.header();
        let mut sections = vec![
            Section::new("header", 0, size_of::<ArchiveHeader>() as u64, None),
            section(MAIN, &self.main.part, None),
            section("bundle table", &self.bundle_table, Some(header.bundle_count)),
            section("type table", &self.type_table, None),
        ];
        if header.chunk_count.get() != 0 {
            sections.push(section("chunk table", &self.chunk_table, Some(header.chunk_count)));
        }
        // `verify` reports a damaged chunk table.
        for chunk in self.extra().ok().into_iter().flatten() {
            sections.push(section(&chunk.name, &chunk.part, None));
        }
        sections.sort_by_key(|s| s.offset);
        sections
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Writable, Graphs, RawEntries]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        tables::tables(self)
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let root = self.main().root_model().and_then(|id| self.types()?.model_name(id));
        let compression = self.main.part.compression().map(|c| Value::text(c.name()));
        // A damaged part has no facts; `verify` reports the damage.
        let facts = [("root_type", root.ok()), ("compression", compression.ok())];
        facts.into_iter().filter_map(|(name, value)| Some((name.into(), value?))).collect()
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        let Some((chunk, node)) = self.find(entry)? else { return Ok(false) };
        let mut walker = node.walk();
        node::visit(&mut walker, out)?;
        if (node.position(), node.model()) == (0, chunk.root_model()?) {
            walker.expect_end()?;
        }
        Ok(true)
    }

    fn compared<'a>(&'a self, new: &'a dyn Reader) -> Option<Box<dyn Comparison<'a> + 'a>> {
        let new: &dyn Any = new;
        Some(Box::new(ArchiveComparison { old: self, new: new.downcast_ref()? }))
    }

    /// Values read by a rule that no known file confirms. Reads all chunks.
    fn notes(&self) -> Vec<String> {
        verify::inferred(self).describe().into_iter().collect()
    }

    /// Checksums that do not match.
    fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).said.clone()
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::verify(self, None, progress)
    }
}

impl Graphs for VrbArchive {
    /// The readable chunks. `verify` reports a damaged chunk table.
    fn names(&self) -> Vec<Cow<'_, str>> {
        let extra = self.extra().ok().into_iter().flatten().filter(|chunk| chunk.part.check_plain().is_ok());
        let main = Some(MAIN).filter(|_| self.main.part.check_plain().is_ok());
        main.into_iter().map(Cow::from).chain(extra.map(|chunk| Cow::from(&*chunk.name))).collect()
    }

    fn show(&self, name: &str, out: &mut dyn Visitor) -> Result<bool> {
        let Some(chunk) = self.chunk(name)? else { return Ok(false) };
        chunk.root()?.visit_typed(out)?;
        Ok(true)
    }

    fn show_typed(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        let Some((_, node)) = self.find(entry)? else { return Ok(false) };
        node.visit_typed(out)?;
        Ok(true)
    }

    fn document(&self) -> Option<&str> {
        Some(MAIN)
    }
}

impl RawEntries for VrbArchive {
    fn raw(&self, entry: &str) -> Result<Option<&[u8]>> {
        self.chunk(entry)?.map(|chunk| Ok(chunk.data()?.bytes())).transpose()
    }
}
