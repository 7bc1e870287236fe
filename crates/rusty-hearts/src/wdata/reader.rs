//! The format as commands see it.

use super::tables::{RecordTable, links, paths, records, scripts};
use super::{Map, cat, shapes, verify};
use crate::error::Result;
use crate::options::Options;
use crate::reader::{Facet, FileFormat, Likeness, Reader, Section, facets};
use crate::report::{Progress, Report};
use crate::scene::Shapes;
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use crate::writable::Writable;
use std::borrow::Cow;

impl FileFormat for Map {
    const NAME: &'static str = "wdata";
    const GAME: &'static str = "Rusty Hearts";
    const ABOUT: &'static str = "A map: boxes, triggers and waypoints";
    const OWN_ENDINGS: &'static [&'static str] = &[".wdata"];

    fn likeness(data: &[u8]) -> Likeness {
        // A counted UTF-16 "stairwaygames.", with or without its NUL.
        let signature = "stairwaygames.".encode_utf16().flat_map(u16::to_le_bytes);
        let signed = data.iter().skip(2).take(28).copied().eq(signature);
        Likeness::by_magic(matches!(data.first_chunk(), Some([14 | 15, 0])) && signed)
    }

    fn open_as(source: Source, _: &Options) -> Result<Self> {
        Self::open(source)
    }
}

impl Map {
    fn section_at(&self, name: &'static str, start: usize, end: usize, count: Option<usize>) -> Section {
        let size = end.saturating_sub(start) as u64;
        Section::new(name, self.view().at(start).offset(), size, count.map(|count| count as u64))
    }
}

impl Reader for Map {
    fn source(&self) -> &Source {
        self.source()
    }

    fn version(&self) -> String {
        self.versions().main.to_string()
    }

    fn sections(&self) -> Vec<Section> {
        let mut sections: Vec<Section> = Vec::new();
        sections.push(self.section_at("header", 0, self.paths.start, None));
        sections.push(self.section_at("paths", self.paths.start, self.paths.found_end, None));
        if self.versions().main >= 7
            && let (Ok(start), Ok(end), Ok(entries)) = (self.index_at(), self.index_end(), self.box_index())
        {
            sections.push(self.section_at("event_box_index", start, end, Some(entries.len())));
            self.find_all_boxes();
            for box_type in self.box_types().into_iter().flatten() {
                if let Ok(run) = self.box_run(box_type) {
                    sections.push(self.section_at(run.shape.name, run.start, run.found_end, Some(run.count)));
                }
            }
        }
        for section in super::Section::all() {
            if let Ok(Some(run)) = self.any_run(section) {
                // A count belongs to the section that it precedes.
                let (before, count) = if section.has_count() { (4, Some(run.count)) } else { (0, None) };
                let start = run.start.saturating_sub(before);
                sections.push(self.section_at(run.shape.name, start, run.found_end, count));
            }
        }
        sections
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Shapes, Writable]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        let rows = std::iter::once(RecordTable::EventBoxes).chain(RecordTable::all());
        rows.map(|rows| records(self, rows)).chain([links(self), paths(self), scripts(self)]).collect()
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let header = self.header().damaged_or_not();
        let stored = shapes::HEADER.fields.iter().enumerate();
        let stored = stored.map(|(number, field)| (field.name.into(), header.get(number).unwrap_or(Value::Null)));
        let mut facts: Vec<(Cow<'static, str>, Value<'_>)> = stored.collect();
        facts.push(("texts".into(), self.text_form().name().into()));
        match self.trigger_layout() {
            Ok((layout, choice)) => {
                facts.push(("trigger_layout".into(), layout.name().into()));
                facts.push(("trigger_layout_reason".into(), choice.reason().into()));
            }
            Err(error) => facts.push(("trigger_layout_reason".into(), Value::owned(error.to_string()))),
        }
        facts.push(("server_side".into(), self.is_server_side().ok().into()));
        match self.end() {
            Ok(end) => {
                let left = self.source().bytes().len().saturating_sub(end);
                facts.push(("bytes_left_over".into(), left.into()));
            }
            Err(error) => facts.push(("damage".into(), Value::owned(error.to_string()))),
        }
        facts
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        cat::show(self, &cat::find(self, entry)?, out)
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::verify(self, progress)
    }
}
