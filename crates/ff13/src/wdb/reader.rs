//! Sheets and packs as commands see them.

use super::known_fields::KnownFields;
use super::layout::{WdbEntry, WdbHeader};
use super::pack::{Pack, records};
use super::{Naming, Sheet, directory, tables, verify};
use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::reader::RawEntries;
use crate::reader::{Facet, FileFormat, Likeness, Reader, Section, facets, setting_text};
use crate::report::{Progress, Report};
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use crate::writable::Writable;
use std::borrow::Cow;
use std::sync::Arc;

/// The names for sheets without names: the given lists, else the built-in ones.
fn known_fields(options: &Options) -> Arc<KnownFields> {
    options.get().unwrap_or_else(KnownFields::builtin)
}

impl FileFormat for Sheet {
    const NAME: &'static str = "wdb";
    const GAME: &'static str = "FINAL FANTASY XIII trilogy";
    const ABOUT: &'static str = "Records of the game";
    const OWN_ENDINGS: &'static [&'static str] = &[".wdb"];
    const OWN_TABLES: bool = true;

    fn likeness(data: &[u8]) -> Likeness {
        Likeness::by_magic(directory::is_sheet(data))
    }

    /// `fields`: lists of field names that are tried before the known ones, the last file first.
    fn configure(setting: &str, given: &[u8], from: &str, options: &Options) -> Result<Option<Options>> {
        if setting != "fields" {
            return Ok(None);
        }
        let known = known_fields(options).extended(KnownFields::parse(&setting_text(given, from)?, from)?);
        Ok(Some(options.clone().with(Arc::new(known))))
    }

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        Self::open_with(source, &known_fields(options))
    }
}

impl Reader for Sheet {
    fn source(&self) -> &Source {
        &self.source
    }

    /// The number in `!!version`, of unknown meaning.
    fn version(&self) -> String {
        let version = self.parts().number(super::sections::VERSION).ok().flatten();
        version.map_or_else(String::new, |version| format!("0x{version:08X}"))
    }

    fn sections(&self) -> Vec<Section> {
        let table = (self.entries as u64).saturating_mul(size_of::<WdbEntry>() as u64);
        let mut sections = vec![
            Section::new("header", self.source.view("").offset(), size_of::<WdbHeader>() as u64, None),
            Section::new("entries", directory::entry_view(&self.source, 0).offset(), table, Some(self.entries as u64)),
        ];
        sections.extend(self.section_entries().iter().map(|entry| {
            let at = self.source.view("").at(entry.offset.get() as usize).offset();
            Section::new(entry.name_text().into_owned(), at, entry.size.get().into(), None)
        }));
        if let [first, ..] = self.records()
            && let Some(last) = self.records().last()
        {
            let (start, end) = (first.range().start, last.range().end);
            let (at, count) = (self.source.view("").at(start).offset(), self.records().len() as u64);
            sections.push(Section::new("records", at, end.saturating_sub(start) as u64, Some(count)));
        }
        sections
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Writable]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        tables::of_sheet(self)
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let names = match &self.naming {
            Naming::Sheet => "in the sheet",
            Naming::Known { .. } => "from the list of known names",
            Naming::Unknown => "unknown",
        };
        let mut facts = vec![
            ("sheet".into(), self.sheet_name().ok().flatten().map_or(Value::Null, Value::Text)),
            ("records".into(), self.records().len().into()),
            ("fields".into(), self.fields().len().into()),
            ("field_names".into(), names.into()),
        ];
        if let Naming::Known { note, confirmed } = &self.naming {
            facts.push(("names_match_typelist".into(), (*confirmed).into()));
            facts.push(("names_note".into(), note.as_deref().into()));
        }
        facts
    }

    /// One record: its name and its fields. Those that cannot be read are left out.
    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        let Some(row) = self.find(entry) else { return Ok(false) };
        self.show(row, out)?.map_or(Ok(true), Err)
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::sheet(self, progress)
    }
}

impl FileFormat for Pack {
    const NAME: &'static str = "wpd";
    const GAME: &'static str = "FINAL FANTASY XIII trilogy";
    const ABOUT: &'static str = "A pack of files";
    const MAGIC: &'static [u8] = &super::layout::MAGIC;

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        Self::open_with(source, known_fields(options))
    }
}

impl Reader for Pack {
    fn source(&self) -> &Source {
        &self.source
    }

    fn sections(&self) -> Vec<Section> {
        let header = self.source.view("");
        let table = header.at(size_of::<WdbHeader>());
        let table_size = size_of_val(self.entries());
        let data = table.skip(table_size);
        vec![
            Section::new("header", header.offset(), size_of::<WdbHeader>() as u64, None),
            Section::new("entries", table.offset(), table_size as u64, Some(self.entries as u64)),
            Section::new("data", data.offset(), data.rest().len() as u64, None),
        ]
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Archive, Writable, RawEntries]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        tables::of_pack(self)
    }

    fn table_damage(&self, table: &str) -> Option<Error> {
        self.sheet_damage(table)
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        vec![("entries".into(), self.entries.into()), ("sheets".into(), self.sheets().len().into())]
    }

    /// One entry: its row of the table and, for a sheet, all of its records.
    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        let Some((index, found)) = self.find(entry).and_then(|index| Some((index, self.entries().get(index)?))) else {
            return Ok(false);
        };
        let source = self.entry_source(index)?;
        out.begin_map()?;
        out.field("name", &Value::Text(found.name_text()))?;
        out.field("extension", &Value::Text(found.extension_text()))?;
        out.field("offset", &source.view("").offset().into())?;
        out.field("size", &found.size.get().into())?;
        let mut damaged = None;
        if self.is_sheet(found) {
            match self.open_sheet(index) {
                Ok(sheet) => damaged = records(&sheet, out)?,
                Err(error) => damaged = Some(error),
            }
        }
        out.end_map()?;
        damaged.map_or(Ok(true), Err)
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::pack(self, progress)
    }
}

impl RawEntries for Pack {
    fn raw(&self, entry: &str) -> Result<Option<&[u8]>> {
        let Some(index) = self.find(entry) else { return Ok(None) };
        // Reports the fault if the entry leaves the file.
        self.entry_source(index)?;
        Ok(self.entries().get(index).and_then(|entry| self.source.bytes().get(entry.range())))
    }
}
