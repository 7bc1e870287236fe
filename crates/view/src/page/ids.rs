//! Ids in a page: each is stored once for each of its texts, for all tables.
//!
//! Columns refer to ids by their *places*. The *dictionary* consists of the tables with the texts of all ids of their
//! kind. It is read before other tables, which look up their ids in it and read the texts of other ids only.

use super::Block;
use super::column::{Places, ROWS, TextColumn, hash, short};
use crate::codec::spread;
use crate::error::{Error, ErrorKind, Result};
use crate::table::{Kind, Value};
use crate::threads::prelude::*;
use hashbrown::HashTable;
use std::ops::Range;

/// A text of an id, or why it has no text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum IdText<T> {
    /// The row states no text.
    Nothing,
    /// The row has a null in place of the text.
    Null,
    Text(T),
}

impl<T> IdText<T> {
    fn map<U>(&self, text: impl FnOnce(&T) -> U) -> IdText<U> {
        match self {
            Self::Nothing => IdText::Nothing,
            Self::Null => IdText::Null,
            Self::Text(of) => IdText::Text(text(of)),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct LocalIds {
    all: Vec<LocalId>,
    texts: String,
    known: Places,
    /// For each row 0 for null, or 1 plus the place of its id; a place in this stretch has a further bit.
    rows: Vec<u32>,
    /// The ids of later rows, without a place so far.
    later: Vec<Option<u64>>,
}

#[derive(Debug, Clone)]
struct LocalId {
    id: u64,
    text: IdText<Range<usize>>,
}

/// Marks places in a stretch.
const HERE: u32 = 1 << 31;
/// The limit of the texts of a stretch's ids in bytes.
const MOST_TEXTS: usize = 64 << 20;

impl LocalIds {
    /// Starts empty, with room for `rows` rows.
    pub(super) fn of_rows(rows: usize) -> Self {
        Self { rows: Vec::with_capacity(rows), ..Self::default() }
    }

    /// Adds the id of a row. `text` writes the row's text for the id, or returns `false` for null; it is called if the text is
    /// not known. With `is_of_id`, an id has one text in all rows.
    pub(super) fn push(
        &mut self,
        id: Option<u64>,
        is_of_id: bool,
        text: Option<impl FnOnce(&mut String) -> Result<bool>>,
    ) -> Result<()> {
        let Some(id) = id else {
            self.rows.push(0);
            return Ok(());
        };
        let is_shared = is_of_id || text.is_none();
        if is_shared {
            let last = self.rows.last().filter(|last| **last & HERE != 0).map(|last| (last & !HERE) - 1);
            let last = last.filter(|last| self.all[*last as usize].id == id);
            let known = last.or_else(|| self.known.find(spread(id), |place| self.all[place as usize].id == id));
            if let Some(place) = known {
                self.rows.push((place + 1) | HERE);
                return Ok(());
            }
        }
        let begin = self.texts.len();
        let said = text.map_or(Ok(IdText::Nothing), |text| {
            let has_text = text(&mut self.texts)?;
            let value = self.texts.len() as u64;
            if self.texts.len() > MOST_TEXTS {
                let what = "bytes of the texts of ids in a stretch of a page";
                let limit = ErrorKind::Limit { what, value, limit: MOST_TEXTS as u64 };
                return Err(Error::of_part(limit, "page"));
            }
            Ok(if has_text { IdText::Text(begin..self.texts.len()) } else { IdText::Null })
        });
        let (text, damage) = match said {
            Ok(text) => (text, Ok(())),
            Err(error) => {
                self.texts.truncate(begin);
                (IdText::Null, Err(error))
            }
        };
        let place = short(self.all.len());
        if is_shared {
            self.known.add(spread(id), place);
        }
        self.all.push(LocalId { id, text });
        self.rows.push((place + 1) | HERE);
        damage
    }

    /// Adds the id of a row for a later lookup.
    pub(super) fn push_later(&mut self, id: Option<u64>) {
        self.later.push(id);
    }

    /// Looks up the pending ids together, because memory serves many requests in the time of one. `text` writes a row's
    /// text for its id; it takes the number of the row in the stretch, and is called if the dictionary lacks the text.
    pub(super) fn settle(
        &mut self,
        dictionary: &Ids,
        mut text: Option<impl FnMut(usize, &mut String) -> Result<bool>>,
        met: &mut dyn FnMut(Error),
    ) {
        let later = std::mem::take(&mut self.later);
        let found = dictionary.places_of(&later, text.is_some());
        for (id, found) in later.iter().zip(found) {
            if let Some(place) = found {
                self.rows.push(place + 1);
                continue;
            }
            let row = self.rows.len();
            let text = text.as_mut().map(|text| |texts: &mut String| text(row, texts));
            self.push(*id, true, text).unwrap_or_else(&mut *met);
        }
        // The buffer is reused.
        self.later = later;
        self.later.clear();
    }

    pub(super) fn size(&self) -> usize {
        self.texts.len() + (self.rows.len() + self.later.len()) * 8
    }
}

#[derive(Debug, Clone, Copy)]
struct Known {
    id: u64,
    /// The position of its first occurrence.
    index: u32,
    /// Whether it has one text, without any other.
    is_sure: bool,
}

/// Ids of all tables, each once for each of its texts.
#[derive(Debug, Default)]
pub(super) struct Ids {
    first: usize,
    all: Vec<u64>,
    said: Vec<IdText<Range<usize>>>,
    texts: String,
    /// The size of the longest one in bytes.
    pub(super) longest: usize,
    known: HashTable<Known>,
    others: Places,
}

impl Ids {
    /// Ids after those in `dictionary`, starting with a new stretch.
    fn after(dictionary: &Self) -> Self {
        Self { first: dictionary.all.len().next_multiple_of(ROWS), ..Self::default() }
    }

    fn known(&self, id: u64) -> Option<Known> {
        self.known.find(spread(id), |known| known.id == id).copied()
    }

    /// The places of `ids`; with `must_be_sure`, only of sure ones.
    fn places_of(&self, ids: &[Option<u64>], must_be_sure: bool) -> Vec<Option<u32>> {
        // The table exceeds the caches of a core: all lookups in one part of it are made together.
        const PARTS: usize = 64;
        let buckets = self.known.num_buckets().max(PARTS) as u64;
        let mut parts = vec![Vec::new(); PARTS];
        let mut last = None;
        for (row, id) in (0usize..).zip(ids) {
            // A row often has the id of the row before.
            if let Some(id) = id.filter(|_| *id != last) {
                // The number of buckets is a power of two.
                #[expect(clippy::cast_possible_truncation, reason = "a number of a part")]
                parts[(spread(id) % buckets / (buckets / PARTS as u64)) as usize].push((row, id));
            }
            last = *id;
        }
        let mut places = vec![None; ids.len()];
        for (row, id) in parts.into_iter().flatten() {
            let known = self.known(id).filter(|known| known.is_sure || !must_be_sure);
            places[row] = known.map(|known| self.place_of(known.index));
        }
        let mut last = (None, None);
        for (place, id) in places.iter_mut().zip(ids) {
            if *id == last.0 {
                *place = last.1;
            }
            last = (*id, *place);
        }
        places
    }

    fn place_of(&self, index: u32) -> u32 {
        short(self.first) + index
    }

    fn text(&self, index: u32) -> IdText<&str> {
        self.said[index as usize].map(|range| &self.texts[range.clone()])
    }

    /// Adds the ids of a stretch, and returns the places of its rows.
    fn add(&mut self, local: LocalIds, dictionary: Option<&Self>) -> Vec<u32> {
        self.known.reserve(local.all.len(), |known| spread(known.id));
        let places: Vec<u32> = local.all.iter().map(|of| self.place(of, &local.texts, dictionary)).collect();
        let mut rows = local.rows;
        for row in rows.iter_mut().filter(|row| **row & HERE != 0) {
            *row = places[(*row & !HERE) as usize - 1] + 1;
        }
        rows
    }

    fn place(&mut self, local: &LocalId, texts: &str, dictionary: Option<&Self>) -> u32 {
        let text = local.text.map(|range| &texts[range.clone()]);
        if let Some(of) = dictionary
            && let Some(known) = of.known(local.id)
            && (text == IdText::Nothing || of.text(known.index) == text)
        {
            return of.place_of(known.index);
        }
        let Some(known) = self.known(local.id) else {
            let known =
                Known { id: local.id, index: self.new_index(local.id, text), is_sure: matches!(text, IdText::Text(_)) };
            self.known.insert_unique(spread(local.id), known, |known| spread(known.id));
            return self.place_of(known.index);
        };
        let index = known.index;
        let own = self.text(index);
        // An id without a stated text agrees with any known text of it.
        if text == IdText::Nothing || own == text {
            return self.place_of(index);
        }
        let is_first = own == IdText::Nothing;
        if let Some(known) = self.known.find_mut(spread(local.id), |known| known.id == local.id) {
            known.is_sure = is_first && matches!(text, IdText::Text(_));
        }
        if is_first {
            let text = self.keep(text);
            self.said[index as usize] = text;
            return self.place_of(index);
        }
        let hash = match text {
            IdText::Text(text) => spread(local.id) ^ hash(text.as_bytes()),
            _ => !spread(local.id),
        };
        let known = self.others.find(hash, |other| self.all[other as usize] == local.id && self.text(other) == text);
        let other = known.unwrap_or_else(|| {
            let other = self.new_index(local.id, text);
            self.others.add(hash, other);
            other
        });
        self.place_of(other)
    }

    fn new_index(&mut self, id: u64, text: IdText<&str>) -> u32 {
        let index = short(self.all.len());
        let text = self.keep(text);
        self.all.push(id);
        self.said.push(text);
        index
    }

    fn keep(&mut self, text: IdText<&str>) -> IdText<Range<usize>> {
        let begin = self.texts.len();
        if let IdText::Text(text) = text {
            self.texts.push_str(text);
            self.longest = self.longest.max(text.len());
        }
        text.map(|_| begin..self.texts.len())
    }

    fn stretches(&self) -> Range<usize> {
        let first = self.first / ROWS;
        first..first + self.all.len().div_ceil(ROWS)
    }

    /// A stretch as a block: a `u32` count, the ids, and the folders and names of their texts.
    fn block(&self, stretch: usize) -> Result<Block> {
        let begin = stretch * ROWS - self.first;
        let end = (begin + ROWS).min(self.all.len());
        let (mut folders, mut names) = (TextColumn::default(), TextColumn::default());
        for index in begin..end {
            let text = if let IdText::Text(text) = self.text(short(index)) { Some(text) } else { None };
            let cut = text.map(|text| text.split_at(text.rfind('/').map_or(0, |at| at + 1)));
            folders.push(cut.map(|(folder, _)| folder))?;
            names.push(cut.map(|(_, name)| name))?;
        }
        let ids = &self.all[begin..end];
        let mut bytes = short(ids.len()).to_le_bytes().to_vec();
        let is_short = ids.iter().all(|id| u32::try_from(*id).is_ok());
        let size = if is_short { 4 } else { 8 };
        bytes.extend(short(size).to_le_bytes());
        ids.iter().for_each(|id| bytes.extend(&id.to_le_bytes()[..size]));
        for texts in [folders.to_bytes(), names.to_bytes()] {
            bytes.extend(short(texts.len()).to_le_bytes());
            bytes.extend(texts);
        }
        Block::of_texts(&bytes)
    }
}

#[derive(Debug, Default)]
pub(super) struct IdDictionaries {
    long: Ids,
    short: Ids,
}

impl IdDictionaries {
    pub(super) fn after(&self) -> Self {
        Self { long: Ids::after(&self.long), short: Ids::after(&self.short) }
    }

    /// Whether a cell is an id whose common text in all columns is known.
    pub(super) fn is_sure(&self, cell: &Value<'_>) -> bool {
        let (ids, id) = match *cell {
            Value::Id64(id) => (&self.long, id),
            Value::Id32(id) => (&self.short, id.into()),
            _ => return false,
        };
        ids.known(id).is_some_and(|known| known.is_sure)
    }

    pub(super) fn ids_of_kind(&self, kind: Kind) -> &Ids {
        if kind == Kind::Id64 { &self.long } else { &self.short }
    }

    /// Adds the ids of a stretch of a column, and returns the places of its rows.
    pub(super) fn add(&mut self, kind: Kind, ids: LocalIds, dictionary: Option<&Self>) -> Vec<u32> {
        let own = if kind == Kind::Id64 { &mut self.long } else { &mut self.short };
        own.add(ids, dictionary.map(|dictionary| dictionary.ids_of_kind(kind)))
    }

    fn each(&self) -> [(&'static str, &Ids); 2] {
        [("i64", &self.long), ("i32", &self.short)]
    }

    pub(super) fn blocks(&self) -> Vec<Result<(String, Block)>> {
        let stretches = self.each().into_iter().flat_map(|(name, ids)| ids.stretches().map(move |n| (name, ids, n)));
        let stretches: Vec<_> = stretches.collect();
        let blocks = stretches.par_iter().with_max_len(1);
        blocks.map(|(name, ids, n)| Ok((format!("{name}.{n}"), ids.block(*n)?))).collect()
    }

    /// The number of stretches of each kind after the last of these.
    pub(super) fn counts(&self) -> [(&'static str, usize); 2] {
        self.each().map(|(name, ids)| (name, ids.stretches().end))
    }
}
