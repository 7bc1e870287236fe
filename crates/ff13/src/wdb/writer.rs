//! Edits of sheets and packs (docs/formats/wdb.md §7).

use super::directory::damaged;
use super::layout::ArrayInfo;
use super::relay::{self, Added, Relay};
use super::sections::{self, MAX_TEXT, bits};
use super::{FieldKind, Pack, Sheet, SheetField};
use crate::bytes::be;
use crate::error::{Error, Result};
use crate::reader::Reader;
use crate::table::{Tree, Value};
use crate::text::unescaped;
use crate::writable::{
    ColumnValues, EntryEdit, Pieces, ReadBack, TableEdits, Writable, edit_of_row, is_same, no_entry, refused, short,
    short_text,
};
use std::borrow::Cow;
use std::collections::HashMap;
use zerocopy::IntoBytes as _;

impl Writable for Sheet {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        match edits {
            [edit] if edit.table == "records" => Writer::new(self).write(edit),
            _ => Err(refused("only records are written")),
        }
    }
}

impl Writable for Pack {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        let mut relay = Relay::new(self.source(), self.entries().len());
        let mut read_back = ReadBack::Rows;
        for edit in edits {
            let found = self.sheets().iter().find_map(|packed| {
                let (table, sheet) = packed.opened()?;
                (table == edit.table).then_some((packed.entry, sheet))
            });
            let (entry, sheet) = found.ok_or_else(|| refused(format!("table {} is not written", edit.table)))?;
            let pieces = Writer::new(sheet).write(edit)?;
            if pieces.read_back == ReadBack::All {
                read_back = ReadBack::All;
            }
            relay.data.insert(entry, self.of_pack(entry, pieces));
        }
        let mut pieces = relay.finish()?;
        pieces.read_back = read_back;
        pieces.also = ["entries", "sheets"].map(str::to_owned).into();
        Ok(pieces)
    }

    /// The records of a sheet that differ.
    fn entry(&self, entry: &str, new: &Value<'static>) -> Result<Option<EntryEdit>> {
        let Some(index) = self.find(entry) else { return Err(no_entry(entry)) };
        let mut now = Tree::default();
        Reader::cat(self, entry, &mut now)?;
        let (Value::Map(now), Value::Map(new)) = (now.into_value(), new) else {
            return Err(refused("an entry is an object, as `cat ENTRY -f json` shows it"));
        };
        let table = self.sheets().iter().filter(|packed| packed.entry == index).find_map(|packed| packed.opened());
        let table = table.and_then(|(table, _)| Reader::table(self, table));
        let mut edits = Vec::new();
        for (name, given) in new {
            let old = now.iter().find(|(old, _)| old == name).map(|(_, old)| old);
            match (old, given, &table) {
                (Some(old), given, _) if is_same(old, given) => {}
                (Some(Value::List(had)), Value::List(has), Some(table)) if had.len() == has.len() => {
                    for (row, record) in has.iter().enumerate() {
                        let Value::Map(cells) = record else { return Err(refused("a record is an object of columns")) };
                        edits.extend(edit_of_row(&**table, row, cells)?);
                    }
                }
                _ => {
                    let what = "is not written: only cells of records are, and none comes or goes";
                    return Err(refused(format!("{} {what}", short_text(name))));
                }
            }
        }
        Ok(Some(EntryEdit::Edits(edits)))
    }

    fn replaced(&self, inner: &str, pieces: Pieces) -> Result<Option<Pieces>> {
        let index = self.wanted(inner)?;
        let mut relay = Relay::new(self.source(), self.entries().len());
        let (read_back, also, added) = (pieces.read_back, pieces.also.clone(), pieces.added.clone());
        relay.data.insert(index, self.of_pack(index, pieces));
        let mut pieces = relay.finish()?;
        (pieces.read_back, pieces.also, pieces.added) = (read_back, also, added);
        Ok(Some(pieces))
    }
}

impl Pack {
    fn of_pack(&self, entry: usize, pieces: Pieces) -> Pieces {
        pieces.shifted(self.entries().get(entry).map_or(0, |entry| entry.range().start))
    }
}

struct Writer<'s, 'e> {
    sheet: &'s Sheet,
    pool: &'s [u8],
    /// Texts to write, and their offsets in the pool.
    texts: HashMap<Cow<'e, [u8]>, Option<u32>>,
    /// The bytes after the pool.
    more: Vec<u8>,
    arrays: Option<Packed>,
}

impl<'s, 'e> Writer<'s, 'e> {
    fn new(sheet: &'s Sheet) -> Self {
        // Without a pool, there is no text in it.
        let pool = sheet.pool().unwrap_or_default();
        Self { sheet, pool, texts: HashMap::new(), more: Vec::new(), arrays: None }
    }

    fn write(mut self, edit: &'e TableEdits) -> Result<Pieces> {
        let sheet = self.sheet;
        self.find_texts(edit)?;
        let mut relay = Relay::new(&sheet.source, sheet.entries);
        for (row, set) in &edit.set {
            let record = sheet.record(*row).ok_or_else(|| crate::table::no_cell(&edit.table, *row, 0))?;
            let mut data = record.data.to_vec();
            let index = sheet.sections.saturating_add(*row);
            for (column, value) in set {
                match column.checked_sub(1) {
                    None => drop(relay.names.insert(index, name(value)?)),
                    Some(field) => self.cell(&mut data, field, value)?,
                }
            }
            if data != record.data {
                let mut pieces = Pieces::new();
                pieces.insert(data);
                relay.data.insert(index, pieces);
            }
        }
        relay.removed.extend(edit.remove.iter().map(|row| sheet.sections.saturating_add(*row)));
        for set in &edit.add {
            relay.added.push(self.record(set)?);
        }
        self.sections(&mut relay)?;
        let mut pieces = relay.finish()?;
        if edit.add.is_empty() && edit.remove.is_empty() && pieces.is_in_place(sheet.source.bytes().len()) {
            pieces.read_back = ReadBack::Rows;
        }
        Ok(pieces)
    }

    /// An inserted record: missing cells are zero, and missing texts empty.
    fn record(&mut self, set: &'e ColumnValues) -> Result<Added> {
        let mut data = vec![0; self.sheet.layout.size];
        let Some(((0, called), cells)) = set.split_first() else { return Err(refused("a new record needs a name")) };
        let mut cells = cells.iter().peekable();
        for field in 0..self.sheet.fields().len() {
            let column = field.saturating_add(1);
            match cells.next_if(|(other, _)| *other == column) {
                Some((_, value)) => self.cell(&mut data, field, value)?,
                None if self.is_text(field) => self.cell(&mut data, field, const { &Value::text("") })?,
                None => {}
            }
        }
        Ok(Added { name: name(called)?, extension: [0; 8], data })
    }

    fn is_text(&self, field: usize) -> bool {
        let kind = self.sheet.fields().get(field).map(|field| field.kind);
        matches!(kind, Some(FieldKind::Text | FieldKind::ArrayText(_)))
    }

    /// Finds in the pool what is written, in one walk over it.
    fn find_texts(&mut self, edit: &'e TableEdits) -> Result<()> {
        for set in edit.set.iter().map(|(_, set)| set).chain(&edit.add) {
            for (column, value) in set {
                let Some(field) = column.checked_sub(1).filter(|field| self.is_text(*field)) else { continue };
                let text = self.text(field, value)?;
                self.texts.entry(text).or_default();
            }
        }
        if !edit.add.is_empty() && (0..self.sheet.fields().len()).any(|field| self.is_text(field)) {
            self.texts.entry(Cow::default()).or_default();
        }
        let mut left = self.texts.len();
        let mut start = 0usize;
        for end in memchr::memchr_iter(0, self.pool) {
            if left == 0 {
                break;
            }
            if let Some(found @ None) = self.pool.get(start..end).and_then(|text| self.texts.get_mut(text)) {
                *found = u32::try_from(start).ok();
                left = left.saturating_sub(1);
            }
            start = end.saturating_add(1);
        }
        Ok(())
    }

    /// The bytes of a text that is written.
    fn text(&self, field: usize, value: &'e Value<'_>) -> Result<Cow<'e, [u8]>> {
        bytes_of(value).filter(|bytes| !bytes.contains(&0) && bytes.len() < MAX_TEXT).ok_or_else(|| {
            self.does_not_fit(field, value, &format!("a text without NUL of less than {MAX_TEXT} bytes"))
        })
    }

    #[cold]
    fn does_not_fit(&self, field: usize, value: &Value<'_>, what: &str) -> Error {
        let column = self.sheet.columns.get(field.saturating_add(1)).expect("each field has a column");
        refused(format!("column {}: {} does not fit: {what}", column.name, short(value)))
    }

    /// The offset of a text in the pool; a new text is appended.
    fn offset(&mut self, text: Cow<'e, [u8]>) -> Result<u32> {
        if let Some(Some(offset)) = self.texts.get(&text) {
            return Ok(*offset);
        }
        if self.sheet.pool.is_none() {
            return Err(refused("the sheet has no !!string section for texts"));
        }
        if self.pool.last().is_some_and(|&last| last != 0) {
            return Err(damaged(self.sheet.source.view(sections::POOL), "the last text has no terminating NUL"));
        }
        let offset = u32::try_from(self.pool.len().saturating_add(self.more.len()));
        let offset = offset.map_err(|_| refused("the texts would have more than 4 GB"))?;
        self.more.extend_from_slice(&text);
        self.more.push(0);
        self.texts.insert(text, Some(offset));
        Ok(offset)
    }

    /// Writes a cell into the words of a record.
    fn cell(&mut self, data: &mut [u8], number: usize, value: &'e Value<'static>) -> Result<()> {
        let field: &'s SheetField =
            self.sheet.layout.fields.get(number).ok_or_else(|| crate::table::no_cell("records", 0, number))?;
        let word = match (field.kind, value) {
            (FieldKind::Uint, Value::Uint(number)) => u32::try_from(*number).ok(),
            (FieldKind::Int, Value::Int(number)) => i32::try_from(*number).ok().map(i32::cast_unsigned),
            (FieldKind::Float, Value::F32(number)) => Some(number.to_bits()),
            (FieldKind::Raw, Value::Id32(word)) => Some(*word),
            (FieldKind::Wide, Value::Uint(number)) => {
                let to = data.get_mut(field.offset..).and_then(<[u8]>::first_chunk_mut);
                *to.ok_or_else(|| self.too_short(field))? = number.to_be_bytes();
                return Ok(());
            }
            (FieldKind::Text, value) => {
                let text = self.text(number, value)?;
                Some(self.offset(text)?)
            }
            (FieldKind::ArrayText(array), value) => {
                let text = self.text(number, value)?;
                let index = self.item(array, text)?;
                if bits(index, 0, field.bits) != index {
                    let most = 1u64.wrapping_shl(field.bits.into());
                    let what = format!("its array has room for {most} texts, and this one is not among them");
                    return Err(self.does_not_fit(number, value, &what));
                }
                Some(index)
            }
            _ => None,
        };
        let word = word.ok_or_else(|| self.does_not_fit(number, value, field.kind.name()))?;
        let to = data.get_mut(field.offset..).and_then(<[u8]>::first_chunk_mut);
        let to: &mut [u8; 4] = to.ok_or_else(|| self.too_short(field))?;
        let mask = bits(u32::MAX, 0, field.bits).wrapping_shl(field.shift.into());
        let new = word.wrapping_shl(field.shift.into()) & mask;
        *to = (u32::from_be_bytes(*to) & !mask | new).to_be_bytes();
        Ok(())
    }

    #[cold]
    fn too_short(&self, field: &SheetField) -> Error {
        damaged(self.sheet.source.view("record"), format!("a record is too short for field {}", field.name))
    }

    /// The number of a text in a string array; a new text is appended.
    fn item(&mut self, array: u32, text: Cow<'e, [u8]>) -> Result<u32> {
        if self.arrays.is_none() {
            self.arrays = Some(Packed::read(self.sheet)?);
        }
        if let Some(index) = self.arrays.as_ref().and_then(|arrays| arrays.find(array, &text)) {
            return Ok(index);
        }
        let offset = self.offset(text.clone())?;
        let arrays = self.arrays.as_mut().ok_or_else(|| refused("the sheet has no string arrays"))?;
        arrays.push(array, &text, offset)
    }

    /// The sections that the records need otherwise than they are.
    fn sections(self, relay: &mut Relay<'_>) -> Result<()> {
        if let Some(range) = self.sheet.pool.clone().filter(|_| !self.more.is_empty()) {
            let mut pool = Pieces::new();
            pool.keep(range);
            pool.insert(self.more);
            relay.data.insert(section(self.sheet, sections::POOL)?, pool);
        }
        let Some(arrays) = self.arrays.filter(|arrays| arrays.changed) else { return Ok(()) };
        let (words, starts) = arrays.words_and_starts()?;
        for (name, bytes) in
            [(sections::ARRAY, words), (sections::ARRAY_INFO, arrays.info()), (sections::ARRAY_LIST, starts)]
        {
            let mut pieces = Pieces::new();
            pieces.insert(bytes);
            relay.data.insert(section(self.sheet, name)?, pieces);
        }
        Ok(())
    }
}

/// The number of a section's entry.
fn section(sheet: &Sheet, name: &str) -> Result<usize> {
    let found = sheet.section_entries().iter().position(|entry| entry.name_bytes() == name.as_bytes());
    found.ok_or_else(|| refused(format!("the sheet has no {name} section")))
}

/// The bytes of a text: bytes that are not text are escaped in its shown form. `None` for other values.
fn bytes_of<'v>(value: &'v Value<'_>) -> Option<Cow<'v, [u8]>> {
    let text = value.as_text()?;
    Some(match unescaped(&text).filter(|bytes| std::str::from_utf8(bytes).is_err()) {
        Some(bytes) => bytes.into(),
        None => match text {
            Cow::Borrowed(text) => text.as_bytes().into(),
            Cow::Owned(text) => text.into_bytes().into(),
        },
    })
}

/// The name of a record, padded.
fn name(value: &Value<'_>) -> Result<[u8; 0x10]> {
    let mut name = [0; 0x10];
    let bytes = bytes_of(value).filter(|bytes| !bytes.contains(&0) && (1..=name.len()).contains(&bytes.len()));
    let what = match &bytes {
        Some(bytes) if bytes.starts_with(b"!") => "sections begin with !",
        Some(bytes) => {
            name.iter_mut().zip(&**bytes).for_each(|(to, byte)| *to = *byte);
            return Ok(name);
        }
        None => "a name of 1 to 16 bytes",
    };
    Err(refused(format!("column record: {} does not fit: {what}", short(value))))
}

/// The string arrays of a sheet, unpacked from their words.
struct Packed {
    per_word: u32,
    bits: u8,
    /// The offsets of each array's items.
    items: Vec<Vec<u32>>,
    /// The numbers of the texts that each array has.
    known: Vec<HashMap<Vec<u8>, u32>>,
    /// The arrays in file order.
    order: Vec<usize>,
    changed: bool,
}

impl Packed {
    fn read(sheet: &Sheet) -> Result<Self> {
        let arrays = match &sheet.arrays {
            Some(Ok(arrays)) => arrays,
            Some(Err(error)) => return Err(error.clone()),
            None => return Err(refused("the sheet has no string arrays")),
        };
        let count = arrays.spans.len();
        let used = used(sheet, count);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&array| arrays.spans.get(array).map(|span| (span.start, span.end)));
        let (mut items, mut known) = (Vec::new(), Vec::new());
        for (number, used) in (0u32..).zip(used) {
            let all = (0..=u32::MAX).map_while(|index| arrays.item(sheet.source.bytes(), number, index));
            let mut list: Vec<u32> = all.collect();
            // Unused slots of the last word are filled before a new word.
            while list.len() > used as usize && list.last() == Some(&0) {
                list.pop();
            }
            let mut texts = HashMap::new();
            for (index, offset) in (0u32..).zip(&list) {
                if let Some(text) = sheet.text_bytes(*offset) {
                    texts.entry(text.to_vec()).or_insert(index);
                }
            }
            items.push(list);
            known.push(texts);
        }
        Ok(Self { per_word: arrays.per_word, bits: arrays.bits, items, known, order, changed: false })
    }

    fn find(&self, array: u32, text: &[u8]) -> Option<u32> {
        self.known.get(array as usize)?.get(text).copied()
    }

    fn push(&mut self, array: u32, text: &[u8], offset: u32) -> Result<u32> {
        let lists = (self.items.get_mut(array as usize), self.known.get_mut(array as usize));
        let (Some(items), Some(known)) = lists else { return Err(refused("the sheet has no such string array")) };
        let index = u32::try_from(items.len()).map_err(|_| refused("a string array is full"))?;
        items.push(offset);
        known.insert(text.to_vec(), index);
        let need = u8::try_from(32u32.saturating_sub(offset.leading_zeros())).unwrap_or(32);
        if need > self.bits {
            self.bits = need;
            self.per_word = 32u32.checked_div(need.into()).unwrap_or(1);
        }
        self.changed = true;
        Ok(index)
    }

    /// The section of the words' packing.
    fn info(&self) -> Vec<u8> {
        let per_word = self.per_word.try_into().expect("a word of 32 bits has at most 32 items");
        ArrayInfo { reserved: [0; 2], per_word, bits: self.bits }.as_bytes().to_vec()
    }

    /// The section of the words, and the section of the start of each array.
    fn words_and_starts(&self) -> Result<(Vec<u8>, Vec<u8>)> {
        let mut words: Vec<u8> = Vec::new();
        let mut starts = vec![be::U32::ZERO; self.items.len()];
        for &array in &self.order {
            let arrays = (self.items.get(array), starts.get_mut(array));
            let (Some(items), Some(start)) = arrays else { continue };
            *start = relay::number(words.len())?;
            for chunk in items.chunks(self.per_word as usize) {
                // A word has one item of 32 bits, or several smaller ones from the lowest bit on.
                let word = chunk.iter().rev().fold(0u32, |word, item| word.wrapping_shl(self.bits.into()) | item);
                words.extend_from_slice(&word.to_be_bytes());
            }
        }
        Ok((words, starts.as_bytes().to_vec()))
    }
}

/// How many items of each array the records use at least.
fn used(sheet: &Sheet, count: usize) -> Vec<u32> {
    let mut used = vec![0u32; count];
    let fields: Vec<(&SheetField, u32)> = sheet
        .fields()
        .iter()
        .filter_map(|field| match field.kind {
            FieldKind::ArrayText(array) => Some((field, array)),
            _ => None,
        })
        .collect();
    for row in 0..sheet.records().len() {
        let Some(record) = sheet.record(row) else { continue };
        for (field, array) in &fields {
            let word = record.data.get(field.offset..).and_then(<[u8]>::first_chunk).map(|w| u32::from_be_bytes(*w));
            if let (Some(word), Some(used)) = (word, used.get_mut(*array as usize)) {
                *used = (*used).max(bits(word, field.shift.into(), field.bits).saturating_add(1));
            }
        }
    }
    used
}
