//! Texts of games, GNU MO (`global.mo`). Sections (§) in these docs refer to docs/formats/mo.md.
//!
//! A [`Catalog`] finds a text by its id by a binary search in the mapped file.

pub mod layout;

use crate::budget::Budget;
use crate::bytes::View;
use crate::bytes::le::U32;
use crate::error::{Error, ErrorKind, Result};
use crate::id;
use crate::lazy::Lazy;
use crate::options::Options;
use crate::reader::{Facet, FileFormat, Reader, Section, facets};
use crate::relations::{Entries, EntryLocation, IdTexts, Relations};
use crate::report::{Check, Progress, Report};
use crate::source::Source;
use crate::table::{Column, DeclaredTable, RowEnds, Table, Value, Visitor};
use assetq_core::Openable;
use layout::{MAGIC, MoHeader, Stretch};
use std::borrow::Cow;
use std::cmp::Ordering;

/// The sign between the forms of a text by number.
const NUL: u8 = 0;

/// An open `.mo`.
#[derive(Debug)]
pub struct Catalog {
    source: Source,
    is_big_endian: bool,
    /// The rows of each message: one for each form. A damaged message has one.
    rows: Lazy<RowEnds>,
    /// The numbers of the messages whose ids can be read, once a search has met another one.
    readable: Lazy<Vec<usize>>,
}

/// A text with its id.
#[derive(Debug, Clone, Copy)]
struct Message<'a> {
    row: usize,
    id: &'a [u8],
    /// Where the id begins.
    id_at: View<'a>,
    text: &'a [u8],
    text_at: View<'a>,
}

impl<'a> Message<'a> {
    /// The message's id: what stands before the form for many.
    fn id(&self) -> Result<&'a str> {
        self.id_at.utf8(until_nul(self.id))
    }

    /// The message's forms by number: one of most texts.
    fn forms(&self) -> impl Iterator<Item = &'a [u8]> {
        self.text.split(|byte| *byte == NUL)
    }

    /// Charges the bytes of the id and the text.
    fn spend(&self, budget: &Budget) -> Result<()> {
        let bytes = (self.id.len() as u64).saturating_add(self.text.len() as u64);
        budget.spend(bytes).map_err(|kind| self.text_at.error(kind))
    }

    fn form(&self, number: usize) -> Result<Option<&'a str>> {
        self.forms().nth(number).map(|form| self.text_at.utf8(form)).transpose()
    }
}

impl Catalog {
    /// Opens `source`. Reads the header.
    ///
    /// # Errors
    /// `BadMagic`, `BadVersion`, `OutOfBounds` where the tables leave the file, and `Damaged` where they overlap.
    pub fn open(from: impl Openable) -> Result<Self> {
        let source = from.open_source(&Options::default())?;
        let view = source.view("header");
        let header = view.read::<MoHeader>()?;
        let magic = header.magic.get();
        if magic != MAGIC && magic != MAGIC.swap_bytes() {
            return Err(view.error(ErrorKind::BadMagic { expected: MAGIC.into(), found: magic.into() }));
        }
        let is_big_endian = magic != MAGIC;
        let revision = number(is_big_endian, header.revision);
        if revision >> 16 != 0 {
            let kind = ErrorKind::BadVersion { found: revision.into() };
            return Err(view.locate(&header.revision).error(kind));
        }
        let catalog = Self { source, is_big_endian, rows: Lazy::default(), readable: Lazy::default() };
        catalog.stretches()?;
        let header = catalog.header()?;
        let size = catalog.number(header.count).saturating_mul(size_of::<Stretch>());
        let (ids, texts) = (catalog.number(header.ids), catalog.number(header.texts));
        for (part, at) in [("ids", ids), ("texts", texts)] {
            let is_in_header = size > 0 && at < size_of::<MoHeader>();
            let overlaps = part == "texts" && at < ids.saturating_add(size) && ids < at.saturating_add(size);
            if is_in_header || overlaps {
                return Err(catalog
                    .source
                    .view(part)
                    .at(at)
                    .error(ErrorKind::damaged(format!("the table of {part} overlaps another part"))));
            }
        }
        Ok(catalog)
    }

    /// A number in the byte order of the file.
    fn number(&self, stored: U32) -> usize {
        number(self.is_big_endian, stored) as usize
    }

    fn header(&self) -> Result<&MoHeader> {
        self.source.view("header").read()
    }

    /// The places of ids and of texts.
    fn stretches(&self) -> Result<(&[Stretch], &[Stretch])> {
        let header = self.header()?;
        let count = self.number(header.count);
        let ids = self.source.view("ids").at(self.number(header.ids)).array(count)?;
        Ok((ids, self.source.view("texts").at(self.number(header.texts)).array(count)?))
    }

    /// The number of ids.
    pub fn len(&self) -> usize {
        self.header().map_or(0, |header| self.number(header.count))
    }

    /// Whether there are no ids.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes at `stretch`, with the NUL after them checked, and the place where they begin.
    fn bytes<'a>(&'a self, stretch: &'a Stretch, part: &'static str) -> Result<(&'a [u8], View<'a>)> {
        let at = self.source.view(part).at(self.number(stretch.at));
        let bytes = at.take(self.number(stretch.len).saturating_add(1))?;
        match bytes.split_last() {
            Some((&NUL, bytes)) => Ok((bytes, at)),
            _ => Err(at.error(ErrorKind::damaged("text without a NUL after it"))),
        }
    }

    fn message(&self, row: usize) -> Result<Option<Message<'_>>> {
        let (ids, texts) = self.stretches()?;
        let (Some(id), Some(text)) = (ids.get(row), texts.get(row)) else { return Ok(None) };
        let (id, id_at) = self.bytes(id, "id")?;
        let (text, text_at) = self.bytes(text, "text")?;
        Ok(Some(Message { row, id, id_at, text, text_at }))
    }

    /// A budget for one walk over all texts, which may overlap.
    fn budget(&self) -> Budget {
        Budget::of_file("bytes of texts, which overlap", self.source.bytes().len())
    }

    fn rows(&self) -> Result<&RowEnds> {
        self.rows.get_or_try_init(|| self.count_forms())
    }

    fn count_forms(&self) -> Result<RowEnds> {
        let budget = self.budget();
        let mut ends = RowEnds::default();
        for row in 0..self.len() {
            let mut forms = 1;
            if let Ok(Some(message)) = self.message(row) {
                message.spend(&budget)?;
                forms = message.forms().count();
            }
            ends.push(forms);
        }
        Ok(ends)
    }

    /// The message in a row of the table, and the number of the form there.
    fn form_of_row(&self, row: usize) -> Result<Option<(Message<'_>, usize)>> {
        let Some((number, form)) = self.rows()?.locate(row) else { return Ok(None) };
        Ok(self.message(number)?.map(|message| (message, form)))
    }

    fn rows_with_id(&self, id: &str) -> Result<Vec<usize>> {
        let Some(number) = self.position(id)? else { return Ok(Vec::new()) };
        Ok(self.rows()?.rows(number).collect())
    }

    /// The number of the message with this id: ids are in order. If an id on the way is damaged, the others are searched.
    fn position(&self, wanted: &str) -> Result<Option<usize>> {
        let damage = match self.search(wanted, self.len(), Some) {
            Err(damage) => damage,
            found => return found,
        };
        let readable = self.readable.get_or_try_init(|| self.readable_ids())?;
        let found = self.search(wanted, readable.len(), |place| readable.get(place).copied())?;
        found.map_or(Err(damage), |number| Ok(Some(number)))
    }

    /// The numbers of the messages whose ids can be read.
    fn readable_ids(&self) -> Result<Vec<usize>> {
        let (ids, _) = self.stretches()?;
        let readable = ids.iter().enumerate().filter(|(_, stretch)| self.bytes(stretch, "id").is_ok());
        Ok(readable.map(|(number, _)| number).collect())
    }

    /// Searches `count` messages, whose numbers `number` gives in order.
    fn search(&self, wanted: &str, count: usize, number: impl Fn(usize) -> Option<usize>) -> Result<Option<usize>> {
        let (ids, _) = self.stretches()?;
        let (mut from, mut to) = (0, count);
        while from < to {
            let middle = from.midpoint(to);
            let Some((number, stretch)) = number(middle).and_then(|number| Some((number, ids.get(number)?))) else {
                break;
            };
            let (id, _) = self.bytes(stretch, "id")?;
            match until_nul(id).cmp(wanted.as_bytes()) {
                Ordering::Less => from = middle.saturating_add(1),
                Ordering::Greater => to = middle,
                Ordering::Equal => return Ok(Some(number)),
            }
        }
        Ok(None)
    }

    /// The text with this id; of one that has forms by number, the first.
    ///
    /// # Errors
    /// When it is damaged, or it is absent and an id on the way to it is damaged.
    pub fn get(&self, id: &str) -> Result<Option<&str>> {
        let Some(row) = self.position(id)? else { return Ok(None) };
        self.message(row)?.map_or(Ok(None), |message| message.form(0))
    }

    /// The value of a line of the header, the text of the empty id, as in `Language: en`.
    fn line(&self, name: &str) -> Option<&str> {
        let lines = self.get("").ok()??.lines();
        let mut values = lines.filter_map(|line| line.split_once(':')).filter(|(found, _)| *found == name);
        values.next().map(|(_, value)| value.trim())
    }

    /// The encoding of the texts by their header, as in `Content-Type: text/plain; charset=UTF-8`.
    fn charset(&self) -> Option<&str> {
        let (_, charset) = self.line("Content-Type")?.split_once("charset=")?;
        Some(charset.split(';').next()?.trim())
    }
}

fn number(is_big_endian: bool, stored: U32) -> u32 {
    if is_big_endian { stored.get().swap_bytes() } else { stored.get() }
}

/// The first id, if several are joined by NULs.
fn until_nul(id: &[u8]) -> &[u8] {
    id.split(|byte| *byte == NUL).next().expect("a text has a first part")
}

impl FileFormat for Catalog {
    const NAME: &'static str = "mo";
    const GAME: &'static str = "World of Warships";
    const ABOUT: &'static str = "The texts of one language";
    const ENDINGS: &'static [&'static str] = &[".mo"];
    const MAGIC: &'static [u8] = &MAGIC.to_le_bytes();

    fn open_as(source: Source, _: &Options) -> Result<Self> {
        Self::open(source)
    }
}

impl Reader for Catalog {
    fn source(&self) -> &Source {
        &self.source
    }

    fn version(&self) -> String {
        self.header().map_or_else(|_| String::new(), |header| self.number(header.revision).to_string())
    }

    fn sections(&self) -> Vec<Section> {
        let Ok(header) = self.header() else { return Vec::new() };
        let origin = self.source.view("file").offset();
        let count = self.number(header.count) as u64;
        let size = count.saturating_mul(8);
        let mut sections = vec![
            Section::new("header", origin, size_of::<MoHeader>() as u64, None),
            Section::new("ids", origin.saturating_add(self.number(header.ids) as u64), size, Some(count)),
            Section::new("texts", origin.saturating_add(self.number(header.texts) as u64), size, Some(count)),
        ];
        let hashes = self.number(header.hash_size) as u64;
        if hashes > 0 {
            let at = origin.saturating_add(self.number(header.hashes) as u64);
            sections.push(Section::new("hashes", at, hashes.saturating_mul(4), Some(hashes)));
        }
        sections.sort_by_key(|section| section.offset);
        sections
    }

    /// A row for each form of a text.
    fn facets(&self) -> &'static [Facet] {
        facets![Relations]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        let table = DeclaredTable::new("texts", || Ok(self.rows()?.total()), |row| self.form_of_row(row))
            .column(Column::text("id").brief().key(), |(message, _): &(Message<'_>, usize)| Ok(message.id()?.into()))
            .found_by(|key| Some(self.rows_with_id(&key.as_text()?)))
            .column(Column::uint("plural").brief().key(), |(_, form)| Ok((*form).into()))
            .column(Column::text("text").brief(), |(message, form)| Ok(message.form(*form)?.into()))
            .column(Column::uint("message").place(), |(message, _)| Ok(message.row.into()))
            .column(Column::uint("offset").place(), |(message, _)| Ok(message.text_at.offset().into()));
        vec![Box::new(table.random_access())]
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        vec![
            ("ids".into(), self.len().into()),
            ("language".into(), self.line("Language").into()),
            ("charset".into(), self.charset().into()),
        ]
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        let Some(row) = self.position(entry)? else { return Ok(false) };
        let Some(message) = self.message(row)? else { return Ok(false) };
        out.begin_map()?;
        out.field("id", &message.id()?.into())?;
        out.key("texts")?;
        out.begin_list()?;
        for number in 0..message.forms().count() {
            out.leaf(&message.form(number)?.into())?;
        }
        out.end_list()?;
        out.end_map()?;
        Ok(true)
    }

    fn verify(&self, progress: &Progress) -> Report {
        progress.announce(self.len() as u64);
        let mut texts = Check::new("texts").with_detail(format!("{} ids", self.len()));
        let mut order = Check::new("order").with_detail("each id after the one before");
        let mut before: Option<&[u8]> = None;
        let budget = self.budget();
        for row in 0..self.len() {
            let message = texts.note(self.message(row).map_err(|error| error.context(format_args!("message {row}"))));
            if let Some(Some(message)) = message {
                if texts.note(message.spend(&budget)).is_none() {
                    break;
                }
                texts.note(message.id_at.utf8(message.id));
                texts.note(message.text_at.utf8(message.text));
                if before.is_some_and(|before| before >= message.id) {
                    order.fail_with(|| {
                        message
                            .id_at
                            .error(ErrorKind::damaged(format!("message {row}: its id is not after the one before")))
                    });
                }
                before = Some(message.id);
            }
            progress.advance(1);
        }
        Report::from(vec![texts, order])
    }
}

impl Relations for Catalog {
    fn entries(&self) -> Option<&dyn Entries> {
        Some(self)
    }

    fn texts(&self) -> Option<&dyn IdTexts> {
        Some(self)
    }
}

impl IdTexts for Catalog {
    fn title(&self, id: &str) -> Result<Option<Cow<'_, str>>> {
        Ok(self.get(id)?.map(Cow::Borrowed))
    }
}

/// The ids are texts; other files know none of them by a number.
impl Entries for Catalog {
    fn resolve(&self, query: &str, _: bool, _: &mut dyn FnMut(Error)) -> Result<Option<EntryLocation>> {
        let Some(row) = self.position(query)? else { return Ok(None) };
        let Some(message) = self.message(row)? else { return Ok(None) };
        Ok(Some(EntryLocation {
            id: id::of_path(query),
            path: message.form(0)?.map(str::to_owned),
            kind: Some("text".to_owned()),
            record: Some(row),
            place: Some((message.text_at.offset(), message.text.len())),
            ..EntryLocation::default()
        }))
    }
}
