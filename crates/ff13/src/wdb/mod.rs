//! `.wdb` sheets of the FINAL FANTASY XIII trilogy, and the WPD packs that share their container.
//!
//! A [`Sheet`] is a table of records: rows with a name and 4-byte words. The sheet's fields are bits of these words; a
//! word may hold several. Positions of fields are computed once; a cell is read in place from its word. A [`Pack`] is a
//! folder of files, including sheets.
//!
//! ```no_run
//! use assetq::Source;
//! use assetq::formats::ff13::wdb::Sheet;
//!
//! # fn main() -> assetq::Result<()> {
//! let sheet = Sheet::open(Source::open("monster_book.wdb")?)?;
//! let record = sheet.find("m012").and_then(|row| sheet.record(row)).expect("the sheet has this record");
//! for (index, field) in sheet.fields().iter().enumerate() {
//!     println!("{}: {}", field.name, record.value(index)?);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The bytes are described in docs/formats/wdb.md.

mod columns;
mod directory;
mod fields;
mod known_fields;
pub mod layout;
mod pack;
mod reader;
mod relay;
mod sections;
mod tables;
mod verify;
mod writer;

pub use fields::{Fault, FieldKind, SheetField};
pub use known_fields::{KnownFields, SheetFields};
pub use layout::{ArrayInfo, MAGIC, WdbEntry, WdbHeader};
pub use pack::{Pack, PackedSheet};

use crate::error::{Error, ErrorKind, Result};
use crate::source::Source;
use crate::table::{Column, Value, Visitor};
use crate::text::{shown, unescaped};
use crate::threads::prelude::*;
use assetq_core::{Openable, Options};
use directory::damaged;
use fields::Layout;
use sections::{Arrays, MAX_TEXT, Sections, bits, signed_bits};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// A sheet: records and their fields.
#[derive(Debug)]
pub struct Sheet {
    source: Source,
    entries: usize,
    sections: usize,
    naming: Naming,
    layout: Layout,
    columns: Vec<Column>,
    pool: Option<Range<usize>>,
    /// `None` if no field indexes one.
    arrays: Option<Result<Arrays>>,
    order: OnceLock<Order>,
}

/// The source of the names of a sheet's fields.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Naming {
    /// From the sheet itself: XIII-2 and Lightning Returns.
    Sheet,
    /// From a list that fits the sheet's word kinds.
    Known {
        note: Option<String>,
        /// Whether the sheet's `!!typelist` counts the same fields of each type.
        confirmed: bool,
    },
    /// They are unknown: the first game, and a sheet that no list fits.
    Unknown,
}

/// The rows of the records in the order of their names; `None` if that is their order in the file.
#[derive(Debug)]
struct Order(Option<Vec<u32>>);

impl Sheet {
    /// Opens a sheet. Reads its sections, not its records.
    ///
    /// # Errors
    /// `BadMagic`; `OutOfBounds` when the entry table or the lists of word kinds and field names leave the file;
    /// `Damaged` when there is no list of word kinds; `Limit` for more than 65,536 fields.
    pub fn open(from: impl Openable) -> Result<Self> {
        let source = from.open_source(&Options::default())?;
        Self::open_with(source, &KnownFields::builtin())
    }

    /// Opens a sheet, with these names for sheets that carry none.
    pub fn open_with(source: Source, known: &KnownFields) -> Result<Self> {
        let entries = directory::check(&source)?;
        let all = directory::entries(&source, entries);
        let sections = Sections::find(&source, all)?;
        let kinds = sections.kinds()?;
        // If this list is unreadable, words without a name are shown as unknown bits, and `verify` reports why.
        let types = sections.types().ok().flatten().unwrap_or_default();
        let record = all.get(sections.entries.len()).map(|entry| entry.size.get() as usize);
        let (naming, layout) = match sections.names()? {
            Some(names) => (Naming::Sheet, fields::lay_out(names.iter().map(|n| &**n), &kinds, &types, record)),
            None => known_layout(&source, known, &kinds, &types, record),
        };
        let arrays = (layout.arrays > 0).then(|| Arrays::read(sections, &layout));
        let (pool, sections) = (sections.pool(), sections.entries.len());
        let columns = columns::record_columns(&layout.fields);
        Ok(Self { source, entries, sections, naming, layout, columns, pool, arrays, order: OnceLock::new() })
    }

    pub fn source(&self) -> &Source {
        &self.source
    }

    fn parts(&self) -> Sections<'_> {
        Sections { source: &self.source, entries: self.section_entries() }
    }

    /// The name of the sheet; the first game's have none.
    ///
    /// # Errors
    /// `OutOfBounds` when the section leaves the file.
    pub fn sheet_name(&self) -> Result<Option<Cow<'_, str>>> {
        self.parts().sheet_name()
    }

    /// The source of the names of the fields.
    pub fn naming(&self) -> &Naming {
        &self.naming
    }

    /// The fields of a record, in order.
    pub fn fields(&self) -> &[SheetField] {
        &self.layout.fields
    }

    /// The size of a record's fields in bytes.
    pub fn record_size(&self) -> usize {
        self.layout.size
    }

    pub fn section_entries(&self) -> &[WdbEntry] {
        directory::entries(&self.source, self.sections)
    }

    #[inline]
    pub fn records(&self) -> &[WdbEntry] {
        directory::entries(&self.source, self.entries).split_at(self.sections).1
    }

    #[inline]
    pub fn record(&self, row: usize) -> Option<SheetRecord<'_>> {
        self.records().get(row).map(|entry| SheetRecord::new(self, entry))
    }

    /// The row of the first record `name`, in the form of [`WdbEntry::name_text`]. Binary search if the records are in the
    /// order of their names, otherwise over an order of rows that the first call builds.
    #[inline]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.rows_named(name).next()
    }

    /// The rows of all records with the name `name`, in file order.
    pub fn rows_named(&self, name: &str) -> impl Iterator<Item = usize> {
        let records = self.records();
        let order = self.order.get_or_init(|| Order::new(records));
        let mut key = directory::wanted_key(name.as_bytes());
        let mut start = key.map_or(usize::MAX, |key| order.first(records, key));
        if key.is_none_or(|key| order.row(start).and_then(|row| records.get(row)).is_none_or(|e| e.key() != key)) {
            // The name may hold bytes that are shown escaped.
            if let Some(escaped) = unescaped(name).and_then(|bytes| directory::wanted_key(&bytes)) {
                (key, start) = (Some(escaped), order.first(records, escaped));
            }
        }
        (start..records.len())
            .map_while(move |place| order.row(place))
            .take_while(move |&row| records.get(row).is_some_and(|entry| Some(entry.key()) == key))
    }

    /// Shows a record as a map, without its unreadable fields; returns the first damage. For a missing row it shows
    /// nothing.
    fn show(&self, row: usize, out: &mut dyn Visitor) -> Result<Option<Error>> {
        let Some(record) = self.record(row) else { return Ok(None) };
        let mut damaged = None;
        out.begin_map()?;
        for (index, column) in self.columns.iter().enumerate() {
            match index.checked_sub(1) {
                None => out.field(&column.name, &Value::Text(record.name()))?,
                Some(field) => match record.value(field) {
                    Ok(value) => out.field(&column.name, &value)?,
                    Err(error) => damaged = damaged.or(Some(error)),
                },
            }
        }
        out.end_map()?;
        Ok(damaged)
    }

    #[inline]
    fn arrays(&self) -> Option<&Arrays> {
        self.arrays.as_ref()?.as_ref().ok()
    }

    /// The text at `offset` of the pool; `None` if absent.
    #[inline]
    fn text(&self, offset: u32) -> Option<Cow<'_, str>> {
        self.text_bytes(offset).map(shown)
    }

    /// The bytes of `!!string`, if they are inside of the file.
    #[inline]
    fn pool(&self) -> Option<&[u8]> {
        self.source.bytes().get(self.pool.clone()?)
    }

    #[inline]
    fn text_bytes(&self, offset: u32) -> Option<&[u8]> {
        let rest = self.pool()?.get(offset as usize..)?;
        let len = rest.iter().take(MAX_TEXT).position(|&b| b == 0)?;
        rest.get(..len)
    }

    #[cold]
    fn no_text(&self, offset: u32, cell: crate::bytes::View<'_>) -> Error {
        match self.parts().bytes(sections::POOL) {
            Err(error) => error,
            Ok(None) => damaged(cell, "the sheet has no !!string section for it"),
            Ok(Some((_, pool))) => match pool.get(offset as usize..) {
                None | Some([]) => cell.bad_value("offset in !!string", offset),
                Some(rest) if rest.len() > MAX_TEXT => {
                    let (value, limit) = (rest.len() as u64, MAX_TEXT as u64);
                    cell.error(ErrorKind::Limit { what: "bytes of a text", value, limit })
                }
                Some(_) => damaged(cell, format!("the text at {offset} of !!string has no terminating NUL")),
            },
        }
    }

    /// One cell of a record with this data; `None` if it is unreadable.
    #[inline]
    fn cell<'a>(&'a self, data: &'a [u8], field: &SheetField) -> Option<Value<'a>> {
        let at = data.get(field.offset..)?;
        let word = u32::from_be_bytes(*at.first_chunk()?);
        let shift = u32::from(field.shift);
        Some(match field.kind {
            FieldKind::Uint => Value::Uint(bits(word, shift, field.bits).into()),
            FieldKind::Int => Value::Int(signed_bits(word, shift, field.bits).into()),
            FieldKind::Float => Value::F32(f32::from_bits(word)),
            FieldKind::Text => Value::Text(self.text(word)?),
            FieldKind::ArrayText(array) => {
                let index = bits(word, shift, field.bits);
                let item = self.arrays()?.item(self.source.bytes(), array, index)?;
                Value::Text(self.text(item)?)
            }
            FieldKind::Wide => Value::Uint(u64::from_be_bytes(*at.first_chunk()?)),
            FieldKind::Raw => Value::Id32(word),
            FieldKind::Fault(_) => return None,
        })
    }

    #[cold]
    fn no_cell(&self, entry: &WdbEntry, data: &[u8], field: &SheetField) -> Error {
        let range = entry.range();
        let cell = self.source.view("cell").at(range.start).skip(field.offset);
        let word = data.get(field.offset..).and_then(<[u8]>::first_chunk).map(|word| u32::from_be_bytes(*word));
        let error = match (field.kind, word) {
            (FieldKind::Fault(fault), _) => damaged(cell, fault.to_string()),
            (FieldKind::Text, Some(word)) => self.no_text(word, cell),
            (FieldKind::ArrayText(array), Some(word)) => {
                let index = bits(word, field.shift.into(), field.bits);
                match (&self.arrays, self.arrays().and_then(|a| a.item(self.source.bytes(), array, index))) {
                    (Some(Err(error)), _) => error.clone(),
                    (_, Some(offset)) => self.no_text(offset, cell),
                    (_, None) => cell.bad_value("index into a string array", index),
                }
            }
            _ => match self.source.view("record").at(range.start).take(range.len()) {
                Err(error) => error,
                Ok(_) => {
                    let (found, size) = (range.len(), self.layout.size);
                    damaged(cell, format!("the record has {found} bytes, its sheet's fields take {size}"))
                }
            },
        };
        error.context(format_args!("record {}, field {}", entry.name_text(), field.name))
    }
}

/// The list of known names that fits the sheet; among several, a list that the sheet's types confirm is preferred.
fn known_layout(
    source: &Source,
    known: &KnownFields,
    kinds: &[u32],
    types: &[u32],
    record: Option<usize>,
) -> (Naming, Layout) {
    let fitting = known.lists_for(known_fields::stem(source.name())).filter_map(|list| {
        let layout = fields::lay_out(list.fields.iter().map(String::as_str), kinds, types, record);
        layout.fits().then(|| (layout.agrees_with(types), list, layout))
    });
    match fitting.reduce(|best, other| if other.0 && !best.0 { other } else { best }) {
        Some((confirmed, list, layout)) => (Naming::Known { note: list.note.clone(), confirmed }, layout),
        None => (Naming::Unknown, fields::lay_out(std::iter::empty(), kinds, types, record)),
    }
}

impl Order {
    fn new(records: &[WdbEntry]) -> Self {
        if records.is_sorted_by_key(WdbEntry::key) {
            return Self(None);
        }
        let mut rows: Vec<u32> = (0..).zip(records).map(|(row, _)| row).collect();
        rows.par_sort_unstable_by_key(|&row| (records.get(row as usize).map(WdbEntry::key), row));
        Self(Some(rows))
    }

    /// The first record whose name is not less than `key`.
    #[inline]
    fn first(&self, records: &[WdbEntry], key: u128) -> usize {
        match &self.0 {
            None => records.partition_point(|entry| entry.key() < key),
            Some(rows) => rows.partition_point(|&row| records.get(row as usize).is_some_and(|entry| entry.key() < key)),
        }
    }

    #[inline]
    fn row(&self, place: usize) -> Option<usize> {
        match &self.0 {
            None => Some(place),
            Some(rows) => rows.get(place).map(|&row| row as usize),
        }
    }
}

/// A record of a sheet, read in place.
#[derive(Debug, Clone, Copy)]
pub struct SheetRecord<'a> {
    sheet: &'a Sheet,
    entry: &'a WdbEntry,
    data: &'a [u8],
}

impl<'a> SheetRecord<'a> {
    #[inline]
    fn new(sheet: &'a Sheet, entry: &'a WdbEntry) -> Self {
        let range = entry.range();
        // Cells outside of the file are errors of their own; the others remain readable.
        let data = sheet.source.view("record").at(range.start).until(range.end).rest();
        Self { sheet, entry, data }
    }

    /// The record's name; bytes that are not UTF-8 are shown as `\xff`.
    #[inline]
    pub fn name(&self) -> Cow<'a, str> {
        self.entry.name_text()
    }

    pub fn entry(&self) -> &'a WdbEntry {
        self.entry
    }

    /// The value of the field with this number.
    ///
    /// # Errors
    /// Names record, field and offset: `OutOfBounds` when the record leaves the file; `Damaged` when it is shorter
    /// than its fields, the field cannot be read or a text has no end; `BadValue` for a text offset or an array
    /// index that leads nowhere; `NotFound` for a field that does not exist.
    #[inline]
    pub fn value(&self, field: usize) -> Result<Value<'a>> {
        let Some(field) = self.sheet.layout.fields.get(field) else {
            let what = format!("field {field} not found");
            return Err(Error::of_part(ErrorKind::NotFound { what }, self.name().into_owned()));
        };
        match self.sheet.cell(self.data, field) {
            Some(value) => Ok(value),
            None => Err(self.sheet.no_cell(self.entry, self.data, field)),
        }
    }
}
