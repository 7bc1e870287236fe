//! Ids in a page: each is stored once for each of its texts, for all tables.
//!
//! Columns refer to ids by their *places*. The *dictionary* consists of the tables with the texts of all ids of their
//! kind. It is read before other tables, which look up their ids in it and read the texts of other ids only.

use super::Block;
use super::column::{Places, ROWS, TextColumn, hash};
use crate::error::{Error, ErrorKind, Result};
use crate::table::Kind;
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

/// The hash of an id: many ids are hashes already, others are small numbers.
fn spread(id: u64) -> u64 {
    id.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32)
}

/// The ids of a stretch of rows.
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

    /// Adds the id of a row. `text` writes the row's text for the id, and is called if the text is not known. With
    /// `is_of_id`, an id has one text in all rows.
    pub(super) fn push(
        &mut self,
        id: Option<u64>,
        is_of_id: bool,
        text: Option<impl FnOnce(&mut String) -> Result<IdText<()>>>,
    ) -> Result<()> {
        let Some(id) = id else {
            self.rows.push(0);
            return Ok(());
        };
        let Self { all, texts, known, rows, .. } = self;
        let is_it = |place: u32| all.get(place as usize).is_some_and(|local| local.id == id);
        let is_shared = is_of_id || text.is_none();
        if is_shared {
            let last = rows.last().filter(|last| **last & HERE != 0).map(|last| (last & !HERE).saturating_sub(1));
            if let Some(place) = last.filter(|last| is_it(*last)).or_else(|| known.find(spread(id), is_it)) {
                rows.push(place.saturating_add(1) | HERE);
                return Ok(());
            }
        }
        let begin = texts.len();
        let said = text.map(|text| {
            let said = text(texts)?;
            let value = texts.len() as u64;
            if texts.len() > MOST_TEXTS {
                texts.truncate(begin);
                let what = "bytes of the texts of ids in a stretch of a page";
                let limit = ErrorKind::Limit { what, value, limit: MOST_TEXTS as u64 };
                return Err(Error::of_part(limit, "page"));
            }
            Ok(said)
        });
        let (said, damage) = match said {
            None => (IdText::Nothing, Ok(())),
            Some(Ok(said)) => (said, Ok(())),
            Some(Err(error)) => (IdText::Null, Err(error)),
        };
        let place = u32::try_from(all.len()).unwrap_or(u32::MAX);
        if is_shared {
            known.add(spread(id), place);
        }
        all.push(LocalId { id, text: said.map(|()| begin..texts.len()) });
        rows.push(place.saturating_add(1) | HERE);
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
        mut text: Option<impl FnMut(usize, &mut String) -> Result<IdText<()>>>,
        met: &mut dyn FnMut(Error),
    ) {
        let later = std::mem::take(&mut self.later);
        let found = dictionary.places_of(&later, text.is_some());
        for (id, found) in later.iter().zip(found) {
            if let Some(place) = found {
                self.rows.push(place.saturating_add(1));
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

    /// The approximate size in bytes.
    pub(super) fn size(&self) -> usize {
        self.texts.len().saturating_add(self.rows.len().saturating_add(self.later.len()).saturating_mul(8))
    }
}

/// A known id.
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
    /// The place of the first one.
    first: usize,
    all: Vec<u64>,
    said: Vec<IdText<Range<usize>>>,
    texts: String,
    /// The size of the longest one in bytes.
    pub(super) longest: usize,
    known: HashTable<Known>,
    /// Further texts of ids.
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

    /// Whether the common text of an id in all columns is known.
    pub(super) fn is_sure(&self, id: u64) -> bool {
        self.known(id).is_some_and(|known| known.is_sure)
    }

    /// The places of `ids`; with `must_be_sure`, only of sure ones.
    fn places_of(&self, ids: &[Option<u64>], must_be_sure: bool) -> Vec<Option<u32>> {
        // The table exceeds the caches of a core: all lookups in one part of it are made together.
        const PARTS: usize = 64;
        let buckets = self.known.num_buckets().max(PARTS);
        let part = |id: u64| {
            let slot = usize::try_from(spread(id)).ok().and_then(|hash| hash.checked_rem(buckets));
            slot.and_then(|slot| slot.checked_div(buckets / PARTS)).unwrap_or(0)
        };
        let mut parts = vec![Vec::new(); PARTS];
        let mut last = None;
        for (row, id) in (0u32..).zip(ids) {
            // A row often has the id of the row before.
            if let Some(id) = id.filter(|_| *id != last)
                && let Some(part) = parts.get_mut(part(id))
            {
                part.push(row);
            }
            last = *id;
        }
        let mut places = vec![None; ids.len()];
        for row in parts.iter().flatten().map(|row| *row as usize) {
            let known = ids.get(row).and_then(|id| self.known((*id)?)).filter(|known| known.is_sure || !must_be_sure);
            if let Some(place) = places.get_mut(row) {
                *place = known.map(|known| self.place_of(known.index as usize));
            }
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

    fn place_of(&self, index: usize) -> u32 {
        u32::try_from(self.first.saturating_add(index)).unwrap_or(u32::MAX).min(HERE - 2)
    }

    fn text(&self, index: usize) -> IdText<&str> {
        let said = self.said.get(index).unwrap_or(&IdText::Nothing);
        said.map(|range| self.texts.get(range.clone()).unwrap_or_default())
    }

    /// Adds the ids of a stretch, and returns the places of its rows.
    fn add(&mut self, local: LocalIds, dictionary: Option<&Self>) -> Vec<u32> {
        self.known.reserve(local.all.len(), |known| spread(known.id));
        let places: Vec<u32> = local.all.iter().map(|of| self.place(of, &local.texts, dictionary)).collect();
        let mut rows = local.rows;
        for row in rows.iter_mut().filter(|row| **row & HERE != 0) {
            let of = (*row & !HERE).checked_sub(1).and_then(|here| places.get(here as usize));
            *row = of.map_or(0, |place| place.saturating_add(1));
        }
        rows
    }

    fn place(&mut self, local: &LocalId, texts: &str, dictionary: Option<&Self>) -> u32 {
        let text = local.text.map(|range| texts.get(range.clone()).unwrap_or_default());
        if let Some(of) = dictionary
            && let Some(known) = of.known(local.id)
            && (text == IdText::Nothing || of.text(known.index as usize) == text)
        {
            return of.place_of(known.index as usize);
        }
        let Some(known) = self.known(local.id) else {
            let known =
                Known { id: local.id, index: self.new_index(local.id, text), is_sure: matches!(text, IdText::Text(_)) };
            self.known.insert_unique(spread(local.id), known, |known| spread(known.id));
            return self.place_of(known.index as usize);
        };
        let index = known.index as usize;
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
            if let Some(own) = self.said.get_mut(index) {
                *own = text;
            }
            return self.place_of(index);
        }
        let hash = match text {
            IdText::Text(text) => spread(local.id) ^ hash(text.as_bytes()),
            _ => !spread(local.id),
        };
        let is_it = |other: u32| self.all.get(other as usize) == Some(&local.id) && self.text(other as usize) == text;
        if let Some(other) = self.others.find(hash, is_it) {
            return self.place_of(other as usize);
        }
        let other = self.new_index(local.id, text);
        self.others.add(hash, other);
        self.place_of(other as usize)
    }

    fn new_index(&mut self, id: u64, text: IdText<&str>) -> u32 {
        let index = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
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

    /// The numbers of the stretches of these ids.
    fn stretches(&self) -> Range<usize> {
        let first = self.first / ROWS;
        first..first.saturating_add(self.all.len().div_ceil(ROWS))
    }

    /// A stretch as a block: a `u32` count, the ids, and the folders and names of their texts.
    fn block(&self, stretch: usize) -> Result<Block> {
        let begin = stretch.saturating_mul(ROWS).saturating_sub(self.first).min(self.all.len());
        let end = begin.saturating_add(ROWS).min(self.all.len());
        let (mut folders, mut names) = (TextColumn::default(), TextColumn::default());
        for index in begin..end {
            let text = if let IdText::Text(text) = self.text(index) { Some(text) } else { None };
            let cut = text.map(|text| text.split_at(text.rfind('/').map_or(0, |at| at.saturating_add(1))));
            folders.push(cut.map(|(folder, _)| folder));
            names.push(cut.map(|(_, name)| name));
        }
        let ids = self.all.get(begin..end).unwrap_or_default();
        let mut bytes = u32::try_from(ids.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
        let is_short = ids.iter().all(|id| u32::try_from(*id).is_ok());
        bytes.extend(if is_short { 4u32 } else { 8 }.to_le_bytes());
        let size = if is_short { 4 } else { 8 };
        ids.iter().for_each(|id| bytes.extend(id.to_le_bytes().iter().take(size)));
        for texts in [folders.to_bytes(), names.to_bytes()] {
            bytes.extend(u32::try_from(texts.len()).unwrap_or(u32::MAX).to_le_bytes());
            bytes.extend(texts);
        }
        Block::of_texts(&bytes)
    }
}

/// The ids of both kinds.
#[derive(Debug, Default)]
pub(super) struct IdDictionaries {
    long: Ids,
    short: Ids,
}

impl IdDictionaries {
    /// The names of their blocks, and of the facts with their counts.
    const NAMES: [&'static str; 2] = ["i64", "i32"];

    /// Ids of both kinds after these.
    pub(super) fn after(&self) -> Self {
        Self { long: Ids::after(&self.long), short: Ids::after(&self.short) }
    }

    /// The ids of `kind`.
    pub(super) fn of(&self, kind: Kind) -> &Ids {
        if kind == Kind::Id64 { &self.long } else { &self.short }
    }

    /// Adds the ids of a stretch of a column, and returns the places of its rows.
    pub(super) fn add(&mut self, kind: Kind, ids: LocalIds, dictionary: Option<&Self>) -> Vec<u32> {
        let own = if kind == Kind::Id64 { &mut self.long } else { &mut self.short };
        own.add(ids, dictionary.map(|dictionary| dictionary.of(kind)))
    }

    fn each(&self) -> [(&'static str, &Ids); 2] {
        let [long, short] = Self::NAMES;
        [(long, &self.long), (short, &self.short)]
    }

    /// The stretches to be written: for each its kind, as in [`IdDictionaries::block`], and its number.
    pub(super) fn stretches(&self) -> Vec<(usize, usize)> {
        let of = |(kind, (_, ids)): (usize, (_, &Ids))| ids.stretches().map(move |stretch| (kind, stretch));
        self.each().into_iter().enumerate().flat_map(of).collect()
    }

    /// The name and the bytes of such a stretch.
    pub(super) fn block(&self, (kind, stretch): (usize, usize)) -> Result<(String, Block)> {
        let [long, short] = self.each();
        let (name, ids) = if kind == 0 { long } else { short };
        Ok((format!("{name}.{stretch}"), ids.block(stretch)?))
    }

    /// The number of stretches of each kind after the last of these.
    pub(super) fn counts(&self) -> [(&'static str, usize); 2] {
        self.each().map(|(name, ids)| (name, ids.stretches().end))
    }
}
