//! Ids in a page: each once for each text that it has, whatever tables have it.
//!
//! Ids have *places*, by which columns name them. What the *dictionary* says, those tables that have the texts of all ids of
//! their kind, is known before other tables are read: these look their ids up there, and read texts of the others only.

use super::Block;
use super::column::{Places, ROWS, Texts, hash};
use crate::error::Result;
use crate::table::Kind;
use std::ops::Range;

/// What is said of an id.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Said<T> {
    /// Nothing.
    Nothing,
    /// That it has no text.
    Null,
    Text(T),
}

impl<T> Said<T> {
    fn map<U>(&self, text: impl FnOnce(&T) -> U) -> Said<U> {
        match self {
            Self::Nothing => Said::Nothing,
            Self::Null => Said::Null,
            Self::Text(of) => Said::Text(text(of)),
        }
    }
}

/// An id as a hash: many are hashes already, and others are small numbers.
fn spread(id: u64) -> u64 {
    id.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The ids of a stretch of rows.
#[derive(Debug, Default)]
pub(super) struct LocalIds {
    all: Vec<LocalId>,
    texts: String,
    known: Places,
    /// For each row 0 for null, or 1 and the place of its id; its place in this stretch has another bit.
    rows: Vec<u32>,
}

#[derive(Debug, Clone)]
struct LocalId {
    id: u64,
    text: Said<Range<usize>>,
}

/// Marks places in a stretch.
const HERE: u32 = 1 << 31;

impl LocalIds {
    /// Adds the id of a row. `text` writes what is said of it, and is asked where that is not known. With `is_of_id`, an id has
    /// one text wherever it stands, which is what the dictionary says where it says one.
    pub(super) fn push(
        &mut self,
        id: Option<u64>,
        dictionary: Option<&Ids>,
        is_of_id: bool,
        text: Option<impl FnOnce(&mut String) -> Result<Said<()>>>,
    ) -> Result<()> {
        let Some(id) = id else {
            self.rows.push(0);
            return Ok(());
        };
        let Self { all, texts, known, rows } = self;
        let is_it = |place: u32| all.get(place as usize).is_some_and(|local| local.id == id);
        let is_shared = is_of_id || text.is_none();
        if is_shared {
            let last = rows.last().filter(|last| **last & HERE != 0).map(|last| (last & !HERE).saturating_sub(1));
            if let Some(place) = last.filter(|last| is_it(*last)) {
                rows.push(place.saturating_add(1) | HERE);
                return Ok(());
            }
            if let Some(place) = dictionary.and_then(|all| if text.is_some() { all.sure(id) } else { all.first(id) }) {
                rows.push(place.saturating_add(1));
                return Ok(());
            }
            if let Some(place) = known.find(spread(id), is_it) {
                rows.push(place.saturating_add(1) | HERE);
                return Ok(());
            }
        }
        let begin = texts.len();
        let (said, damage) = match text.map(|text| text(texts)) {
            None => (Said::Nothing, Ok(())),
            Some(Ok(said)) => (said, Ok(())),
            Some(Err(error)) => (Said::Null, Err(error)),
        };
        let place = u32::try_from(all.len()).unwrap_or(u32::MAX);
        if is_shared {
            known.add(spread(id), place);
        }
        all.push(LocalId { id, text: said.map(|()| begin..texts.len()) });
        rows.push(place.saturating_add(1) | HERE);
        damage
    }

    /// About how many bytes they take.
    pub(super) fn size(&self) -> usize {
        self.texts.len().saturating_add(self.rows.len().saturating_mul(8))
    }
}

/// Ids of all tables, each once for each text that it has.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// The place of the first one.
    first: usize,
    all: Vec<u64>,
    said: Vec<Said<Range<usize>>>,
    /// Whether the text of an id is the only one that was said.
    sure: Vec<bool>,
    texts: String,
    /// Each id where it came first.
    known: Places,
    /// Further texts of ids.
    others: Places,
}

impl Ids {
    /// Further ones than these, which begin a stretch of their own.
    fn after(dictionary: &Self) -> Self {
        Self { first: dictionary.all.len().next_multiple_of(ROWS), ..Self::default() }
    }

    fn index_of(&self, id: u64) -> Option<usize> {
        let is_it = |index: u32| self.all.get(index as usize) == Some(&id);
        self.known.find(spread(id), is_it).map(|index| index as usize)
    }

    fn place_of(&self, index: usize) -> u32 {
        u32::try_from(self.first.saturating_add(index)).unwrap_or(u32::MAX).min(HERE - 2)
    }

    fn text(&self, index: usize) -> Said<&str> {
        let said = self.said.get(index).unwrap_or(&Said::Nothing);
        said.map(|range| self.texts.get(range.clone()).unwrap_or_default())
    }

    /// The place of an id that has one text.
    fn sure(&self, id: u64) -> Option<u32> {
        let index = self.index_of(id)?;
        let is_sure = matches!(self.said.get(index), Some(Said::Text(_))) && self.sure.get(index) == Some(&true);
        is_sure.then(|| self.place_of(index))
    }

    /// The first place of an id.
    fn first(&self, id: u64) -> Option<u32> {
        self.index_of(id).map(|index| self.place_of(index))
    }

    /// Adds the ids of a stretch, and gives the places of its rows.
    fn add(&mut self, local: LocalIds, dictionary: Option<&Self>) -> Vec<u32> {
        self.known.reserve(local.all.len());
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
            && let Some(index) = of.index_of(local.id)
            && (text == Said::Nothing || of.text(index) == text)
        {
            return of.place_of(index);
        }
        let Some(index) = self.index_of(local.id) else {
            let place = self.new_place(local.id, text);
            self.known.add(spread(local.id), place);
            return self.place_of(place as usize);
        };
        let own = self.text(index);
        // Nothing said is said by whatever else is known of the id.
        if text == Said::Nothing || own == text {
            return self.place_of(index);
        }
        if own == Said::Nothing {
            let text = self.keep(text);
            if let Some(own) = self.said.get_mut(index) {
                *own = text;
            }
            return self.place_of(index);
        }
        if let Some(sure) = self.sure.get_mut(index) {
            *sure = false;
        }
        let hash = match text {
            Said::Text(text) => spread(local.id) ^ hash(text.as_bytes()),
            _ => !spread(local.id),
        };
        let is_it = |other: u32| self.all.get(other as usize) == Some(&local.id) && self.text(other as usize) == text;
        if let Some(other) = self.others.find(hash, is_it) {
            return self.place_of(other as usize);
        }
        let other = self.new_place(local.id, text);
        self.others.add(hash, other);
        self.place_of(other as usize)
    }

    fn new_place(&mut self, id: u64, text: Said<&str>) -> u32 {
        let index = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let text = self.keep(text);
        self.all.push(id);
        self.said.push(text);
        self.sure.push(true);
        index
    }

    fn keep(&mut self, text: Said<&str>) -> Said<Range<usize>> {
        let begin = self.texts.len();
        if let Said::Text(text) = text {
            self.texts.push_str(text);
        }
        text.map(|_| begin..self.texts.len())
    }

    /// The numbers of the stretches that these ids take.
    fn stretches(&self) -> Range<usize> {
        let first = self.first / ROWS;
        first..first.saturating_add(self.all.len().div_ceil(ROWS))
    }

    /// A stretch as a block: a `u32` count, the ids, and the folders and the names that their texts consist of.
    fn block(&self, stretch: usize) -> Result<Block> {
        let begin = stretch.saturating_mul(ROWS).saturating_sub(self.first).min(self.all.len());
        let end = begin.saturating_add(ROWS).min(self.all.len());
        let (mut folders, mut names) = (Texts::default(), Texts::default());
        for index in begin..end {
            let text = if let Said::Text(text) = self.text(index) { Some(text) } else { None };
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
        Block::new(&bytes)
    }
}

/// The ids of both kinds.
#[derive(Debug, Default)]
pub(super) struct Both {
    long: Ids,
    short: Ids,
}

impl Both {
    /// The names of their blocks, and of the facts that count them.
    const NAMES: [&'static str; 2] = ["i64", "i32"];

    /// Further ones than these.
    pub(super) fn after(&self) -> Self {
        Self { long: Ids::after(&self.long), short: Ids::after(&self.short) }
    }

    /// Those of a kind.
    pub(super) fn of(&self, kind: Kind) -> &Ids {
        if kind == Kind::Id64 { &self.long } else { &self.short }
    }

    /// Adds the ids of a stretch of a column, and gives the places of its rows.
    pub(super) fn add(&mut self, kind: Kind, ids: LocalIds, dictionary: Option<&Self>) -> Vec<u32> {
        let own = if kind == Kind::Id64 { &mut self.long } else { &mut self.short };
        own.add(ids, dictionary.map(|dictionary| dictionary.of(kind)))
    }

    fn each(&self) -> [(&'static str, &Ids); 2] {
        let [long, short] = Self::NAMES;
        [(long, &self.long), (short, &self.short)]
    }

    /// What is to be written: for each stretch its kind, as in [`Both::block`], and its number.
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

    /// How many stretches there are of each kind behind the last of these.
    pub(super) fn counts(&self) -> [(&'static str, usize); 2] {
        self.each().map(|(name, ids)| (name, ids.stretches().end))
    }
}
