//! Columns as bytes that the page's scripts read in place, little endian.
//!
//! A column is stored in stretches of rows, each a block. The first byte of a stretch is the layout of its cells:
//!
//! | byte | cells |
//! |---|---|
//! | 0 | all null |
//! | 1 | a byte that is 1 where there are nulls, then the number that stands for them as `i128`, and *numbers*: whole numbers of one width, as follows |
//! | 2 | single-precision floats, NaN for null: all first bytes, then all second ones, … |
//! | 3 | double-precision floats likewise |
//! | 4 | *texts*: a `u32` count of distinct texts, their lengths in UTF-16 units as numbers, the bytes of all of them as a `u32` length and UTF-8, and for each row as numbers 0 for null or 1 and the place of its text |
//! | 5 | lists of `u32` floats each: a `u32` count of distinct lists, the bits of all of their first floats as numbers, then of all second floats, …, and for each row as numbers 0 or 1 and the place of its list |
//! | 6 | ids: for each row as numbers 0 or 1 and the place of its id among all of the page |
//! | 7 | values of several kinds: as texts (4), and then for each distinct text as numbers 1 if it is a number, a truth or nested, as JSON has it, or 0 if it is a text |
//!
//! A repeated text, list or id is stored once, and similar bytes are adjacent: deflate compresses the rest well.

use crate::codec::xxh64;
use crate::error::Result;
use crate::table::{Kind, Value};
use crate::write::{json, plain};
use hashbrown::HashTable;
use std::collections::HashSet;

/// The number of rows of a stretch.
pub(super) const ROWS: usize = 1 << 16;

/// Numbers as a column, which scripts read by `assetq.column`.
pub fn numbers(all: Vec<i64>) -> Vec<u8> {
    Cells::Numbers(Numbers { all, ..Numbers::default() }).to_bytes()
}

/// Whole numbers of a stretch.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The excess of each number over the base; anything for null.
    all: Vec<i64>,
    /// 0, or 2^63 if there are numbers above the signed range.
    base: i128,
    /// The rows of nulls.
    nulls: Vec<usize>,
}

impl Numbers {
    const BEYOND: i128 = 1 << 63;

    /// Adds a cell; `false` if one base cannot serve it and the cells before: negative numbers, and numbers from 2^63 on.
    fn push(&mut self, cell: &Value<'_>) -> bool {
        let number = match *cell {
            Value::Bool(truth) => Some(truth.into()),
            Value::Int(number) if self.base == 0 => Some(number),
            Value::Int(number) => match u64::try_from(number) {
                Ok(number) => Some(Self::beside(number)),
                Err(_) => return false,
            },
            Value::Uint(number) => match i64::try_from(number) {
                Ok(number) if self.base == 0 => Some(number),
                _ => {
                    if !self.widen() {
                        return false;
                    }
                    Some(Self::beside(number))
                }
            },
            _ => None,
        };
        if number.is_none() {
            self.nulls.push(self.all.len());
        }
        self.all.push(number.unwrap_or(0));
        true
    }

    /// The excess of a number over 2^63.
    fn beside(number: u64) -> i64 {
        (number ^ 1 << 63).cast_signed()
    }

    /// Moves the base to 2^63; `false` if a number is negative.
    fn widen(&mut self) -> bool {
        if self.base == 0 {
            if self.all.iter().any(|number| *number < 0) {
                return false;
            }
            self.base = Self::BEYOND;
            self.all.iter_mut().for_each(|number| *number ^= i64::MIN);
        }
        true
    }

    /// These cells as texts: the decimal digits of the numbers.
    fn to_texts(&self) -> TextColumn {
        let mut texts = TextColumn::default();
        let mut nulls = self.nulls.iter().peekable();
        for (row, &excess) in self.all.iter().enumerate() {
            let number = nulls.next_if_eq(&&row).is_none().then(|| self.base.wrapping_add(excess.into()).to_string());
            texts.push(number.as_deref());
        }
        texts
    }

    fn write(&self, out: &mut Vec<u8>) {
        if self.nulls.len() == self.all.len() {
            return out.push(0);
        }
        out.push(1);
        out.push(u8::from(!self.nulls.is_empty()));
        if self.nulls.is_empty() {
            push_numbers(&self.all, self.base, out);
            return;
        }
        // Null is stored as one less than the minimum, or one more than the maximum.
        let mut nulls = self.nulls.iter().peekable();
        let there = self.all.iter().enumerate().filter(|(row, _)| nulls.next_if_eq(&row).is_none());
        let (least, most) = span(there.map(|(_, number)| *number));
        let null = least.checked_sub(1).or_else(|| most.checked_add(1)).unwrap_or_else(|| {
            let there: HashSet<i64> = self.all.iter().copied().collect();
            (least..most).find(|number| !there.contains(number)).unwrap_or(0)
        });
        let mut all = self.all.clone();
        for &row in &self.nulls {
            if let Some(number) = all.get_mut(row) {
                *number = null;
            }
        }
        out.extend(self.base.wrapping_add(null.into()).to_le_bytes());
        push_numbers(&all, self.base, out);
    }
}

/// The minimum and the maximum.
fn span(mut numbers: impl Iterator<Item = i64>) -> (i64, i64) {
    let first = numbers.next().unwrap_or(0);
    numbers.fold((first, first), |(least, most), n| (least.min(n), most.max(n)))
}

/// Appends whole numbers as a byte of the width (0, 1, 2, 4 or 8), a byte that is 1 where each says how much more it is
/// than the one before, the first number or else the least, the least step, both as `i128`, and the excess of each
/// number or step over the least one: all lowest bytes, then all second ones, …
fn push_numbers(all: &[i64], base: i128, out: &mut Vec<u8>) {
    /// The largest range whose steps are computed with numbers of 64 bits.
    const NARROW: u64 = 1 << 62;
    let (least, most) = span(all.iter().copied());
    let range = most.abs_diff(least);
    let steps = || all.iter().zip(all.iter().skip(1)).map(|(a, b)| b.wrapping_sub(*a));
    let (step, most_step) = if range < NARROW { span(steps()) } else { (0, 0) };
    let steep = most_step.abs_diff(step);
    let by_steps = range < NARROW && steep < range;
    let above: Vec<u64> = match by_steps {
        true => std::iter::once(0).chain(steps().map(|n| n.wrapping_sub(step).cast_unsigned())).collect(),
        false => all.iter().map(|n| n.wrapping_sub(least).cast_unsigned()).collect(),
    };
    let width: u8 = match if by_steps { steep } else { range } {
        0 => 0,
        1..=0xFF => 1,
        0x100..=0xFFFF => 2,
        0x1_0000..=0xFFFF_FFFF => 4,
        _ => 8,
    };
    out.extend([width, u8::from(by_steps)]);
    let first = if by_steps { all.first().copied().unwrap_or(0) } else { least };
    out.extend(base.wrapping_add(first.into()).to_le_bytes());
    out.extend(i128::from(step).to_le_bytes());
    planes(&above, width, out);
}

/// Numbers of 32 bits, such as places.
fn places(all: &[u32], out: &mut Vec<u8>) {
    push_numbers(&all.iter().map(|&place| place.into()).collect::<Vec<_>>(), 0, out);
}

/// The `width` lower bytes of all `items`: all lowest ones, then all second ones, …
fn planes(items: &[u64], width: u8, out: &mut Vec<u8>) {
    out.reserve(items.len().saturating_mul(width.into()));
    for n in 0..u32::from(width) {
        let shift = n.saturating_mul(8);
        out.extend(items.iter().map(|item| item.wrapping_shr(shift).to_le_bytes()[0]));
    }
}

/// The bytes of the bits of all 32-bit floats: all lowest ones, then all second ones, …
fn planes32(items: &[u32], out: &mut Vec<u8>) {
    out.reserve(items.len().saturating_mul(4));
    for shift in [0, 8, 16, 24] {
        out.extend(items.iter().map(|item| item.wrapping_shr(shift).to_le_bytes()[0]));
    }
}

/// Places of things by their hashes, which are kept, so that it grows without access to the things.
#[derive(Debug, Default)]
pub(super) struct Places(HashTable<(u32, u32)>);

impl Places {
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let short = Self::short(hash);
        let is_it = |&(other, place): &(u32, u32)| other == short && is_it(place);
        self.0.find(Self::spread(short), is_it).map(|(_, place)| *place)
    }

    /// Adds the place of a new item.
    pub(super) fn add(&mut self, hash: u64, place: u32) {
        let short = Self::short(hash);
        self.0.insert_unique(Self::spread(short), (short, place), |(short, _)| Self::spread(*short));
    }

    fn short(hash: u64) -> u32 {
        u32::try_from(hash >> 32).unwrap_or(0)
    }

    /// The table looks at the first and the last bits.
    fn spread(short: u32) -> u64 {
        u64::from(short).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

fn count(n: usize, out: &mut Vec<u8>) {
    out.extend(u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes());
}

/// Spreads the information in a number over all of its bits, the first ones above all.
pub(super) fn mixed(number: u64) -> u64 {
    let product = u128::from(number ^ 0xA076_1D64_78BD_642F).wrapping_mul(0xE703_7ED1_A0B4_28DB);
    #[allow(clippy::cast_possible_truncation, reason = "its halves are taken")]
    let halves = [(product >> 64) as u64, product as u64];
    halves[0] ^ halves[1]
}

/// A hash for finding repeated bytes.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    xxh64(bytes, 0)
}

/// The cells of a column in a stretch of rows.
#[derive(Debug)]
pub(super) enum Cells {
    Numbers(Numbers),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Texts(TextColumn),
    /// Lists with this number of floats each, as long as all cells are such lists.
    Lists(Lists),
}

impl Cells {
    /// Starts empty, for a column of `rows` rows.
    pub(super) fn new(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::Bool | Kind::Int | Kind::Uint => {
                Self::Numbers(Numbers { all: Vec::with_capacity(rows), ..Numbers::default() })
            }
            Kind::F32 => Self::F32(Vec::with_capacity(rows)),
            Kind::F64 => Self::F64(Vec::with_capacity(rows)),
            Kind::Nested => Self::Lists(Lists { rows: Vec::with_capacity(rows), ..Lists::default() }),
            kind => Self::Texts(TextColumn {
                rows: Vec::with_capacity(rows),
                literals: (kind == Kind::Any).then(Vec::new),
                ..TextColumn::default()
            }),
        }
    }

    /// Whether most of them are texts.
    pub(super) fn are_texts(&self) -> bool {
        matches!(self, Self::Texts(_))
    }

    /// Whether each of them is null. A float that is not finite is null here.
    pub(super) fn are_null(&self) -> bool {
        match self {
            Self::Numbers(numbers) => numbers.nulls.len() == numbers.all.len(),
            Self::F32(all) => all.iter().all(|number| number.is_nan()),
            Self::F64(all) => all.iter().all(|number| number.is_nan()),
            Self::Texts(texts) => texts.ends.is_empty(),
            Self::Lists(lists) => lists.all.is_empty(),
        }
    }

    /// Adds a cell.
    pub(super) fn push(&mut self, cell: &Value<'_>, scratch: &mut String) -> Result<()> {
        match self {
            Self::Numbers(numbers) => {
                if !numbers.push(cell) {
                    let mut texts = numbers.to_texts();
                    texts.push(plain::text(cell, scratch)?);
                    *self = Self::Texts(texts);
                }
            }
            Self::F32(all) => all.push(match *cell {
                Value::F32(number) if number.is_finite() => number,
                _ => f32::NAN,
            }),
            Self::F64(all) => all.push(match *cell {
                Value::F64(number) if number.is_finite() => number,
                Value::F32(number) if number.is_finite() => number.into(),
                _ => f64::NAN,
            }),
            Self::Texts(texts) => {
                let is_literal = !matches!(cell, Value::Text(_) | Value::Utf16(_) | Value::Guid(_))
                    && !matches!(cell, Value::Id64(_) | Value::Id32(_));
                texts.push_value(plain::text(cell, scratch)?, is_literal);
            }
            Self::Lists(lists) => {
                if !lists.push(cell) {
                    let mut texts = lists.to_texts()?;
                    texts.push(plain::text(cell, scratch)?);
                    *self = Self::Texts(texts);
                }
            }
        }
        Ok(())
    }

    /// The bytes of all cells.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Numbers(numbers) => numbers.write(&mut out),
            Self::F32(all) => {
                out.push(2);
                planes32(&all.iter().map(|n| n.to_bits()).collect::<Vec<_>>(), &mut out);
            }
            Self::F64(all) => {
                out.push(3);
                planes(&all.iter().map(|n| n.to_bits()).collect::<Vec<_>>(), 8, &mut out);
            }
            Self::Texts(texts) => texts.write(&mut out),
            Self::Lists(lists) => lists.write(&mut out),
        }
        out
    }

    /// The approximate size of the cells in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.all.len().saturating_mul(4),
            Self::F32(all) => all.len().saturating_mul(4),
            Self::F64(all) => all.len().saturating_mul(8),
            Self::Texts(texts) => texts.all.len().saturating_add(texts.rows.len().saturating_mul(4)),
            Self::Lists(lists) => lists.all.len().saturating_add(lists.rows.len()).saturating_mul(4),
        }
    }

    /// The width of its cells in characters, of texts the width that 95 of 100 distinct ones have at most.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Numbers(Numbers { base: 0, all, .. }) => {
                let most = all.iter().map(|n| n.unsigned_abs()).max().unwrap_or(0);
                usize::try_from(most.checked_ilog10().unwrap_or(0)).unwrap_or(0).saturating_add(1)
            }
            Self::Numbers(_) => 20,
            Self::F32(_) => 11,
            Self::F64(_) => 14,
            Self::Texts(texts) => {
                let mut lengths = texts.lengths.clone();
                let place = lengths.len().saturating_mul(95).div_ceil(100).saturating_sub(1);
                if place >= lengths.len() { 0 } else { *lengths.select_nth_unstable(place).1 as usize }
            }
            Self::Lists(lists) => lists.len.saturating_mul(5),
        }
    }
}

/// Ids of a stretch of rows, as places among all ids of the page and 1, or 0 for null.
pub(super) fn ids(places_of_rows: &[u32]) -> Vec<u8> {
    let mut out = vec![6];
    places(places_of_rows, &mut out);
    out
}

/// Texts as a column. Each text is stored once.
#[derive(Debug, Default)]
pub struct TextColumn {
    all: String,
    ends: Vec<usize>,
    /// The lengths in UTF-16 units.
    lengths: Vec<u32>,
    known: Places,
    rows: Vec<u32>,
    /// In a column of several kinds, for each distinct text 1 if it is JSON as it is, and 0 for a text.
    literals: Option<Vec<u32>>,
}

impl TextColumn {
    /// Adds the text of a row, or null.
    pub fn push(&mut self, text: Option<&str>) {
        self.push_value(text, false);
    }

    /// As [`TextColumn::push`]; `is_literal` if the text is a number, a truth or nested.
    fn push_value(&mut self, text: Option<&str>, is_literal: bool) {
        let place = text.map_or(0, |text| self.place(text, is_literal.into()).saturating_add(1));
        self.rows.push(place);
    }

    fn get<'t>(all: &'t str, ends: &[usize], place: u32) -> Option<&'t str> {
        let place = place as usize;
        let begin = place.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied())?;
        all.get(begin..*ends.get(place)?)
    }

    fn place(&mut self, text: &str, literal: u32) -> u32 {
        let Self { all, ends, lengths, known, rows, literals } = self;
        let is_of_kind = |literals: &Option<Vec<u32>>, place: u32| {
            literals.as_ref().is_none_or(|all| all.get(place as usize) == Some(&literal))
        };
        // A row often has the text of the row before.
        if let Some(last) = rows.last().and_then(|last| last.checked_sub(1))
            && Self::get(all, ends, last) == Some(text)
            && is_of_kind(literals, last)
        {
            return last;
        }
        let hash = hash(text.as_bytes());
        let is_it = |place| Self::get(all, ends, place) == Some(text) && is_of_kind(literals, place);
        if let Some(place) = known.find(hash, is_it) {
            return place;
        }
        if let Some(literals) = literals {
            literals.push(literal);
        }
        let place = u32::try_from(ends.len()).unwrap_or(u32::MAX);
        all.push_str(text);
        ends.push(all.len());
        let units = if text.is_ascii() { text.len() } else { text.encode_utf16().count() };
        lengths.push(u32::try_from(units).unwrap_or(u32::MAX));
        known.add(hash, place);
        place
    }

    fn write(&self, out: &mut Vec<u8>) {
        if self.ends.is_empty() {
            return out.push(0);
        }
        out.push(if self.literals.is_some() { 7 } else { 4 });
        count(self.ends.len(), out);
        places(&self.lengths, out);
        count(self.all.len(), out);
        out.extend(self.all.as_bytes());
        places(&self.rows, out);
        if let Some(literals) = &self.literals {
            places(literals, out);
        }
    }

    /// The column, which scripts read by `assetq.column`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }
}

/// Lists of floats. Each list is stored once.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The number of floats of each list; 0 before the first.
    len: usize,
    all: Vec<f32>,
    known: Places,
    rows: Vec<u32>,
}

impl Lists {
    /// The greatest number of floats in a list.
    const LONGEST: usize = 64;

    /// Adds a cell; `false` if it is neither null nor a list with the same length as earlier ones.
    fn push(&mut self, cell: &Value<'_>) -> bool {
        let values = match cell {
            Value::Null => {
                self.rows.push(0);
                return true;
            }
            Value::List(values) if (1..=Self::LONGEST).contains(&values.len()) => values,
            _ => return false,
        };
        if self.len != values.len() && self.len != 0 {
            return false;
        }
        let begin = self.all.len();
        for value in values {
            match *value {
                Value::F32(number) if number.is_finite() => self.all.push(number),
                _ => {
                    self.all.truncate(begin);
                    return false;
                }
            }
        }
        self.len = values.len();
        let Self { len, all, known, rows } = self;
        let list = |place: u32| all.get((place as usize).saturating_mul(*len)..).and_then(|rest| rest.get(..*len));
        let new = u32::try_from(begin.checked_div(*len).unwrap_or(0)).unwrap_or(u32::MAX);
        // Compares bits, because 0 and -0 are shown differently.
        let bits = |place: u32| list(place).unwrap_or_default().iter().map(|n| n.to_bits());
        let two = |pair: &[f32]| pair.iter().fold(0u64, |bits, n| bits << 32 | u64::from(n.to_bits()));
        let hash = list(new).unwrap_or_default().chunks(2).fold(0u64, |hash, pair| mixed(hash ^ two(pair)));
        let place = known.find(hash, |place| bits(place).eq(bits(new))).unwrap_or(new);
        if place == new {
            known.add(hash, new);
        }
        rows.push(place.saturating_add(1));
        if place != new {
            all.truncate(begin);
        }
        true
    }

    /// These cells as texts: the JSON of the lists.
    fn to_texts(&self) -> Result<TextColumn> {
        let mut texts = TextColumn::default();
        for &row in &self.rows {
            let begin = row.checked_sub(1).map(|place| (place as usize).saturating_mul(self.len));
            let list = begin.and_then(|begin| self.all.get(begin..)).and_then(|rest| rest.get(..self.len));
            let text = list.map(|list| json::to_string(&Value::floats(list.iter().copied()))).transpose()?;
            texts.push(text.as_deref());
        }
        Ok(texts)
    }

    fn write(&self, out: &mut Vec<u8>) {
        if self.len == 0 {
            return out.push(0);
        }
        out.push(5);
        count(self.len, out);
        count(self.all.len().checked_div(self.len).unwrap_or(0), out);
        // The numbers at one position of a matrix are mostly equal in many lists.
        for at in 0..self.len {
            let bits = |list: &[f32]| list.get(at).map_or(0, |n| n.to_bits());
            places(&self.all.chunks_exact(self.len).map(bits).collect::<Vec<_>>(), out);
        }
        places(&self.rows, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_and_numbers_beyond_the_signed_ones_are_both_kept() {
        let (negative, large) = (Value::Int(-5), Value::Uint(u64::MAX));
        for order in [[&negative, &Value::Null, &large], [&large, &Value::Null, &negative]] {
            let mut cells = Cells::new(Kind::Int, order.len());
            for cell in order {
                cells.push(cell, &mut String::new()).unwrap();
            }
            let mut texts = TextColumn::default();
            for cell in order {
                texts.push(match cell {
                    Value::Int(_) => Some("-5"),
                    Value::Uint(_) => Some("18446744073709551615"),
                    _ => None,
                });
            }
            assert!(cells.are_texts());
            assert_eq!(cells.to_bytes(), texts.to_bytes());
        }
    }
}
