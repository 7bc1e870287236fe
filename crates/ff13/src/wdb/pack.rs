//! WPD packs: files under names of 16 bytes and extensions of 8.

use super::known_fields::KnownFields;
use super::layout::WdbEntry;
use super::{Sheet, directory};
use crate::archive::{self, Archive, File, RepeatedPaths, Volume};
use crate::budget;
use crate::codec::{contents, xxh64};
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::reader::FileFormat as _;
use crate::source::Source;
use crate::table::{Value, Visitor};
use crate::threads::prelude::*;
use assetq_core::{Openable, Options};
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

#[derive(Debug)]
pub struct Pack {
    pub(super) source: Source,
    pub(super) entries: usize,
    pub(super) known: Arc<KnownFields>,
    sheets: Lazy<Vec<PackedSheet>>,
    contents: OnceLock<Vec<Result<u64>>>,
}

#[derive(Debug)]
pub struct PackedSheet {
    pub entry: usize,
    /// The name of its entry, from [`WdbEntry::file_name`].
    pub name: String,
    table: String,
    sheet: Result<Sheet>,
}

impl PackedSheet {
    /// The sheet and the name under which its records are a table of the pack.
    pub fn opened(&self) -> Option<(&str, &Sheet)> {
        self.sheet.as_ref().ok().map(|sheet| (&*self.table, sheet))
    }

    /// The sheet.
    ///
    /// # Errors
    /// The error of opening it; `Limit` for sheets that overlap each other.
    pub fn sheet(&self) -> Result<&Sheet> {
        self.sheet.as_ref().map_err(Error::clone)
    }
}

impl WdbEntry {
    /// The name of an entry of a pack with its extension: `name.ext`, or `name` without an extension.
    pub fn file_name(&self) -> String {
        match (self.name_text(), self.extension_text()) {
            (name, extension) if extension.is_empty() => name.into_owned(),
            (name, extension) => format!("{name}.{extension}"),
        }
    }

    /// Whether [`WdbEntry::file_name`] is `name`.
    fn is_called(&self, name: &str) -> bool {
        match name.strip_prefix(&*self.name_text()) {
            Some("") => self.extension_text().is_empty(),
            Some(".") | None => false,
            Some(rest) => rest.strip_prefix('.').is_some_and(|extension| extension == self.extension_text()),
        }
    }
}

impl Pack {
    /// Opens a pack. Checks the bounds of its entry table.
    ///
    /// # Errors
    /// `BadMagic`, or `OutOfBounds` when the entry table leaves the file.
    pub fn open(from: impl Openable) -> Result<Self> {
        let source = from.open_source(&Options::default())?;
        Self::open_with(source, KnownFields::builtin())
    }

    /// Opens a pack, with these names for the sheets in it that carry none.
    pub fn open_with(source: Source, known: Arc<KnownFields>) -> Result<Self> {
        let entries = directory::check(&source)?;
        Ok(Self { source, entries, known, sheets: Lazy::default(), contents: OnceLock::new() })
    }

    pub fn source(&self) -> &Source {
        &self.source
    }

    pub fn entries(&self) -> &[WdbEntry] {
        directory::entries(&self.source, self.entries)
    }

    /// The entry `name` with its extension, else the only entry with that name without its extension.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.entries().iter().position(|entry| entry.is_called(name)).or_else(|| {
            let mut bare = (0..).zip(self.entries()).filter(|(_, entry)| entry.name_text() == name);
            let (index, _) = bare.next()?;
            bare.next().is_none().then_some(index)
        })
    }

    /// The bytes of the entry called `name`, as [`Pack::find`] understands it, borrowed from the pack. Errors in them name offsets
    /// in the pack.
    ///
    /// # Errors
    /// `NotFound`, or `OutOfBounds` when the entry leaves the file.
    pub fn open_entry(&self, name: &str) -> Result<Source> {
        self.entry_source(self.wanted(name)?)
    }

    /// The entry that [`Pack::find`] finds.
    pub(super) fn wanted(&self, name: &str) -> Result<usize> {
        self.find(name).ok_or_else(|| {
            let what = format!("entry {name:?} not found");
            Error::of_part(ErrorKind::NotFound { what }, self.source.name().to_owned())
        })
    }

    /// The XXH64 of the bytes of entry `index`: equal ones hold the same.
    pub(super) fn content(&self, index: usize) -> Result<u64> {
        let contents = self.contents.get_or_init(|| {
            contents(
                self.entries,
                budget::walked(self.source.bytes().len()),
                |index| Ok(self.entries().get(index).map_or(0, |entry| entry.size.get()).into()),
                |index| Ok(xxh64(self.entry_source(index)?.bytes(), 0)),
            )
        });
        contents.get(index).expect("each entry has contents").clone()
    }

    /// The bytes of entry `index`.
    ///
    /// # Errors
    /// `NotFound` when there is no such entry, or `OutOfBounds` when it leaves the file.
    pub fn entry_source(&self, index: usize) -> Result<Source> {
        let Some(entry) = self.entries().get(index) else {
            let what = format!("entry {index} not found");
            return Err(Error::of_part(ErrorKind::NotFound { what }, self.source.name().to_owned()));
        };
        let range = entry.range();
        let name = format!("{}:{}", self.source.name(), entry.file_name());
        let inside = self.source.view("data").at(range.start).take(range.len());
        inside.map_err(|error| error.context(format_args!("entry {}", entry.file_name())))?;
        Ok(self.source.slice(range, &name).expect("a range inside of the file"))
    }

    /// All entries that are sheets, by their names or by their contents, opened at the first call, in parallel.
    pub fn sheets(&self) -> &[PackedSheet] {
        // By rayon, so without a lock.
        self.sheets.get_or_make(|| self.open_sheets())
    }

    fn open_sheets(&self) -> Vec<PackedSheet> {
        let mut taken: HashSet<String> = ["entries", "sheets"].map(String::from).into();
        // Sheets of a sound pack do not overlap. The bound keeps entries that do from being opened without end.
        let mut room = self.source.bytes().len();
        let mut found = Vec::new();
        for (index, entry) in self.entries().iter().enumerate() {
            if !self.is_sheet(entry) {
                continue;
            }
            let (name, table) = (entry.file_name(), entry.name_text().into_owned());
            let table = if taken.contains(&table) { format!("{name}#{index}") } else { table };
            taken.insert(table.clone());
            // An entry outside of the file takes no room.
            let size = self.source.bytes().get(entry.range()).map_or(0, <[u8]>::len);
            found.push((index, name, table, size <= room));
            room = room.saturating_sub(size);
        }
        let opened = found.into_par_iter().map(|(entry, name, table, fits)| {
            let sheet = if fits {
                self.open_sheet(entry)
            } else {
                Err(directory::damaged(directory::entry_view(&self.source, entry), "sheets of the pack overlap"))
            };
            PackedSheet { entry, name, table, sheet }
        });
        opened.collect()
    }

    /// The damage of the sheet with the table called `table`, or of the first entry outside of the file, which may be that sheet.
    pub(super) fn sheet_damage(&self, table: &str) -> Option<Error> {
        let sheet = self.sheets().iter().find(|sheet| sheet.table == table);
        let damage = sheet.and_then(|sheet| sheet.sheet.as_ref().err().cloned());
        damage.or_else(|| (0..self.entries).find_map(|entry| self.entry_source(entry).err()))
    }

    /// Whether the entry's name promises a sheet, or its data begins as a sheet does.
    pub(super) fn is_sheet(&self, entry: &WdbEntry) -> bool {
        let name = entry.file_name().to_ascii_lowercase();
        Sheet::OWN_ENDINGS.iter().any(|ending| name.ends_with(ending))
            || self.source.bytes().get(entry.range()).is_some_and(directory::is_sheet)
    }

    /// Opens entry `index` as a sheet.
    ///
    /// # Errors
    /// The errors of [`Pack::entry_source`] and of [`Sheet::open`], with the name of the entry.
    pub(super) fn open_sheet(&self, index: usize) -> Result<Sheet> {
        let source = self.entry_source(index)?;
        let name = self.entries().get(index).map_or_else(String::new, WdbEntry::file_name);
        Sheet::open_with(source, &self.known).map_err(|error| error.context(format_args!("entry {name}")))
    }
}

impl Archive for Pack {
    fn len(&self) -> Result<usize> {
        Ok(self.entries)
    }

    fn file(&self, n: usize) -> Result<File<'_>> {
        let entry = self.entries().get(n).ok_or_else(|| archive::no_file(n))?;
        let mut file = File::new(entry.file_name(), entry.size.get().into(), n as u64);
        file.volume = Some(self.source.name().into());
        file.offset = Some(self.source.view("").at(entry.range().start).offset());
        Ok(file)
    }

    fn position(&self, path: &str) -> Result<Option<usize>> {
        Ok(Pack::find(self, path))
    }

    /// The sheets are its tables.
    fn shows_contents(&self) -> bool {
        true
    }

    fn repeated_paths(&self) -> Option<&dyn RepeatedPaths> {
        Some(self)
    }

    /// Ignores the short names that [`Pack::find`] accepts.
    fn stored(&self, file: &File<'_>) -> Result<Source> {
        self.entry_source(usize::try_from(file.handle).map_err(|_| archive::no_file(usize::MAX))?)
    }

    fn volumes(&self) -> Result<Vec<Volume>> {
        Ok(vec![Volume::new(self.source.name(), Ok(Some(self.source.bytes().len() as u64)), self.entries as u64)])
    }
}

impl RepeatedPaths for Pack {
    fn positions(&self, path: &str) -> Result<Vec<usize>> {
        let entries = self.entries().iter().enumerate();
        Ok(entries.filter(|(_, entry)| entry.is_called(path)).map(|(n, _)| n).collect())
    }
}

/// Shows the records of a sheet; returns the first damage of an incomplete record.
pub(super) fn records(sheet: &Sheet, out: &mut dyn Visitor) -> Result<Option<Error>> {
    let mut damaged = None;
    out.field("sheet", &sheet.sheet_name().ok().flatten().map_or(Value::Null, Value::Text))?;
    out.key("records")?;
    out.begin_list()?;
    for row in 0..sheet.records().len() {
        damaged = damaged.or(sheet.show(row, out)?);
    }
    out.end_list()?;
    Ok(damaged)
}
