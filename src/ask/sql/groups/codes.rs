//! Cells of grouped columns as numbers: equal cells of a column have equal codes, different cells different ones.

use crate::ask::sql::cells;
use crate::error::{Error, ErrorKind, Result};
use crate::id;
use crate::table::{Kind, RowCursor, Table, Value};
use hashbrown::HashTable;
use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The code of null. SQLite answers if a cell has this code. As a signed number it is less than all others, as null is.
pub(super) const NULL: u64 = 1 << 63;

/// The most bytes of the texts of one answer.
const MOST_BYTES: usize = 256 << 20;

/// Texts are divided by their hashes into this many shards, so that threads seldom wait for each other.
const SHARDS: u64 = 32;
#[expect(clippy::cast_possible_truncation, reason = "few")]
const SHARD_COUNT: usize = SHARDS as usize;

/// Ids whose texts a thread keeps.
const MOST_KNOWN: usize = 1 << 19;

/// Texts that a thread keeps by their hashes, for columns with few texts.
const RECENT: u64 = 64;
#[expect(clippy::cast_possible_truncation, reason = "few")]
const RECENT_COUNT: usize = RECENT as usize;

/// Why SQLite itself must answer: a number is outside of 63 bits, a sum is, or a cell has another kind than its column.
pub(super) fn outside() -> Error {
    Error::of_part(ErrorKind::Unsupported { what: "numbers of more than 63 bits in groups".into() }, "")
}

/// Why SQLite itself must answer: memory and time for an answer are bounded.
pub(super) fn so_many(what: &str) -> Error {
    Error::of_part(ErrorKind::Unsupported { what: format!("so many {what}").into() }, "")
}

/// The hash of codes, which differs for different codes if there is one.
pub(super) fn hash(codes: &[u64]) -> u64 {
    let mixed = codes.iter().fold(0u64, |all, code| (all.rotate_left(23) ^ code).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed ^ mixed >> 32
}

/// The code of an id, a whole number or a truth.
pub(super) fn number(cell: &Value<'_>) -> Result<u64> {
    let code = match cell {
        Value::Null => return Ok(NULL),
        Value::Bool(truth) => (*truth).into(),
        Value::Int(number) => number.cast_unsigned(),
        Value::Uint(number) if i64::try_from(*number).is_ok() => *number,
        Value::Id64(id) => *id,
        Value::Id32(id) => (*id).into(),
        _ => return Err(outside()),
    };
    if code == NULL { Err(outside()) } else { Ok(code) }
}

/// The different texts of an answer, by their numbers.
#[derive(Default)]
pub(super) struct Texts {
    shards: [Mutex<Shard>; SHARD_COUNT],
    bytes: AtomicUsize,
}

/// Texts one after another.
#[derive(Default)]
struct Shard {
    /// Hashes of texts, and their places.
    index: HashTable<(u64, u32)>,
    text: String,
    ends: Vec<usize>,
    /// For each text, the code of the first id that had it.
    ids: Vec<u64>,
}

impl Shard {
    fn get(&self, place: usize) -> Option<&str> {
        let start = place.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.text.get(start..*self.ends.get(place)?)
    }
}

impl Texts {
    /// The code of a text, and the code of the first id with this text.
    fn code(&self, hash: u64, text: &str, id: u64) -> Result<(u64, u64)> {
        let number = (hash >> 40) % SHARDS;
        let shard = usize::try_from(number).ok().and_then(|number| self.shards.get(number)).ok_or_else(outside)?;
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |(other, place): &(u64, u32)| *other == hash && shard.get(*place as usize) == Some(text);
        let (place, first) = match shard.index.find(hash, is_same) {
            Some((_, place)) => (*place, shard.ids.get(*place as usize).copied().unwrap_or(NULL)),
            None => {
                if self.bytes.fetch_add(text.len(), Relaxed).saturating_add(text.len()) > MOST_BYTES {
                    return Err(so_many("bytes of texts"));
                }
                let place = u32::try_from(shard.ends.len()).map_err(|_| so_many("texts"))?;
                shard.text.push_str(text);
                let end = shard.text.len();
                shard.ends.push(end);
                shard.ids.push(id);
                shard.index.insert_unique(hash, (hash, place), |(hash, _)| *hash);
                (place, id)
            }
        };
        Ok((u64::from(place).wrapping_mul(SHARDS) | number, first))
    }

    /// All texts, once there will be no more.
    pub(super) fn finish(self) -> FinishedTexts {
        FinishedTexts(self.shards.map(|shard| shard.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The cell of a column of this kind that has this code.
    pub(super) fn cell(&self, kind: Kind, code: u64) -> Value<'static> {
        let text = |number: usize, place: usize| {
            let shard = self.shards.get(number)?.lock().unwrap_or_else(PoisonError::into_inner);
            shard.get(place).map(str::to_owned)
        };
        cell(kind, code, |number, place| text(number, place).map(Value::owned))
    }
}

/// The texts of an answer.
pub(super) struct FinishedTexts([Shard; SHARD_COUNT]);

impl FinishedTexts {
    /// The cell of a column of this kind that has this code.
    pub(super) fn cell(&self, kind: Kind, code: u64) -> Value<'_> {
        cell(kind, code, |number, place| self.0.get(number)?.get(place).map(Value::text))
    }

    /// The order of the cells of two codes in SQLite.
    pub(super) fn order(&self, kind: Kind, a: u64, b: u64) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        match kind {
            Kind::Text | Kind::Guid => match (self.cell(kind, a), self.cell(kind, b)) {
                (Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
                (a, b) => b.is_null().cmp(&a.is_null()),
            },
            kind => leading_number(kind, a).cmp(&leading_number(kind, b)),
        }
    }

    /// A number that orders codes of one column as [`FinishedTexts::order`] does. Texts with equal numbers may still differ.
    pub(super) fn leading(&self, kind: Kind, code: u64) -> u64 {
        match kind {
            Kind::Text | Kind::Guid => match self.cell(kind, code) {
                Value::Text(text) => {
                    let mut first = [0; 8];
                    first.iter_mut().zip(text.as_bytes()).for_each(|(to, byte)| *to = *byte);
                    u64::from_be_bytes(first)
                }
                _ => 0,
            },
            kind => leading_number(kind, code).1,
        }
    }
}

/// Numbers in the order of the codes of one column: null first, whole numbers by sign.
fn leading_number(kind: Kind, code: u64) -> (bool, u64) {
    match kind {
        Kind::Id64 | Kind::Id32 => (code != NULL, if code == NULL { 0 } else { code }),
        _ => (true, code ^ NULL),
    }
}

fn cell<'t>(kind: Kind, code: u64, text: impl FnOnce(usize, usize) -> Option<Value<'t>>) -> Value<'t> {
    match kind {
        _ if code == NULL => Value::Null,
        Kind::Id64 => Value::Id64(code),
        Kind::Id32 => u32::try_from(code).map(Value::Id32).unwrap_or_default(),
        Kind::Text | Kind::Guid => {
            let (number, place) = (code % SHARDS, code / SHARDS);
            let places = usize::try_from(number).ok().zip(usize::try_from(place).ok());
            places.and_then(|(number, place)| text(number, place)).unwrap_or_default()
        }
        // Truths are numbers in SQLite.
        _ => Value::Int(code.cast_signed()),
    }
}

/// A column whose cells are coded.
#[derive(Debug, Clone, Copy)]
pub(super) struct CodedColumn {
    pub(super) column: usize,
    pub(super) kind: Kind,
    /// The column of the ids from which its texts follow.
    ids: Option<usize>,
    /// The kind of this column, or of the other one without it.
    id_kind: Kind,
}

impl CodedColumn {
    pub(super) fn new(table: &dyn Table, column: usize) -> Result<Self> {
        let kind = |column: usize| table.columns().get(column).map(|column| column.kind);
        let is_id_of =
            |id: &usize| matches!(kind(*id), Some(Kind::Id64 | Kind::Id32)) && table.text_of(*id) == Some(column);
        // The texts of one id may differ between files.
        let ids = match table.parts() {
            None => (0..table.columns().len()).find(is_id_of),
            Some(_) => None,
        };
        let own = kind(column).ok_or_else(outside)?;
        Ok(Self { column, kind: own, ids, id_kind: ids.and_then(kind).unwrap_or(own) })
    }

    /// Whether texts follow from ids, so that rows can be grouped by the ids first.
    pub(super) const fn is_by_id(self) -> bool {
        self.ids.is_some()
    }

    /// Whether the text of a row is the one that the games' hashes make its id of. No other id has this text then.
    pub(super) fn has_own_text(self, row: &dyn RowCursor, code: u64) -> Result<bool> {
        let text = row.value(self.column)?;
        Ok(match (self.id_kind, text.as_text()) {
            (Kind::Id32, Some(text)) => u64::from(id::of_name(&text)) == code,
            (Kind::Id64, Some(text)) => id::of_path(&text) == code,
            _ => false,
        })
    }

    /// The columns that are read.
    pub(super) fn columns(self) -> impl Iterator<Item = usize> {
        [self.column].into_iter().chain(self.ids)
    }

    /// The code of the text of a row with the id `id`, and whether no other id has had this text.
    pub(super) fn named(self, table: &dyn Table, row: usize, id: u64, names: &Names<'_>) -> Result<(u64, bool)> {
        match table.value(row, self.column)? {
            // Only one id without a text is a group of its own.
            Value::Null => {
                let first = names.first_without.compare_exchange(NULL, id, Relaxed, Relaxed);
                Ok((NULL, id != NULL && first.map_or_else(|first| first == id, |_| true)))
            }
            text => {
                let text = text.as_text().ok_or_else(outside)?;
                let (code, first) = names.texts.code(hash_of(&text)?, &text, id)?;
                Ok((code, first == id))
            }
        }
    }
}

/// The texts of the ids of a column.
pub(super) struct Names<'t> {
    texts: &'t Texts,
    /// The first id without a text.
    first_without: AtomicU64,
}

impl<'t> Names<'t> {
    pub(super) const fn new(texts: &'t Texts) -> Self {
        Self { texts, first_without: AtomicU64::new(NULL) }
    }
}

/// The codes of the cells of a column, for one thread.
pub(super) struct Coder<'t> {
    of: CodedColumn,
    texts: &'t Texts,
    /// Codes of ids, and codes of their texts.
    known: HashTable<(u64, u64)>,
    /// Texts and their codes, by the hashes of the texts.
    recent: Vec<(String, u64)>,
}

impl<'t> Coder<'t> {
    pub(super) fn new(of: CodedColumn, texts: &'t Texts) -> Self {
        Self { of, texts, known: HashTable::new(), recent: Vec::new() }
    }

    /// The code of the cell of a row, or of its id.
    pub(super) fn code_or_id(&mut self, row: &dyn RowCursor) -> Result<u64> {
        match self.of.ids {
            Some(ids) => number(&row.value(ids)?),
            None => self.code(row),
        }
    }

    /// The code of the cell of a row.
    pub(super) fn code(&mut self, row: &dyn RowCursor) -> Result<u64> {
        let Some(ids) = self.of.ids else { return self.own_code(&row.value(self.of.column)?) };
        let id = number(&row.value(ids)?)?;
        let by_id = hash(&[id]);
        if let Some((_, code)) = self.known.find(by_id, |(known, _)| *known == id) {
            return Ok(*code);
        }
        let code = match row.value(self.of.column)? {
            Value::Null => NULL,
            // Texts of ids are seldom met again.
            text => {
                let text = text.as_text().ok_or_else(outside)?;
                self.texts.code(hash_of(&text)?, &text, id)?.0
            }
        };
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert_unique(by_id, (id, code), |(id, _)| hash(&[*id]));
        Ok(code)
    }

    fn own_code(&mut self, cell: &Value<'_>) -> Result<u64> {
        match (self.of.kind, cell) {
            (_, Value::Null) => Ok(NULL),
            (Kind::Text, text) => self.text_code(&text.as_text().ok_or_else(outside)?),
            (Kind::Guid, Value::Guid(guid)) => self.text_code(&guid.to_string()),
            (Kind::Id64, Value::Id64(_))
            | (Kind::Id32, Value::Id32(_))
            | (Kind::Bool | Kind::Int | Kind::Uint, Value::Bool(_) | Value::Int(_) | Value::Uint(_)) => number(cell),
            _ => Err(outside()),
        }
    }

    fn text_code(&mut self, text: &str) -> Result<u64> {
        let hash = hash_of(text)?;
        self.recent.resize(RECENT_COUNT, (String::new(), NULL));
        let place = usize::try_from(hash % RECENT).ok().and_then(|place| self.recent.get_mut(place));
        let (recent, code) = place.ok_or_else(outside)?;
        if *code == NULL || recent != text {
            *code = self.texts.code(hash, text, NULL)?.0;
            recent.clear();
            recent.push_str(text);
        }
        Ok(*code)
    }
}

fn hash_of(text: &str) -> Result<u64> {
    cells::hash(&Value::text(text)).ok_or_else(outside)
}
