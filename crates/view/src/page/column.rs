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

use crate::codec::{spread, xxh64};
use crate::error::{Error, ErrorKind, Result};
use crate::table::{Kind, Value};
use crate::write::{json, plain};
use hashbrown::HashTable;
use std::collections::HashSet;

pub(super) const ROWS: usize = 1 << 16;

/// Numbers as a column, which scripts read by `assetq.column`.
pub fn numbers(all: Vec<i64>) -> Vec<u8> {
    Cells::Numbers(Numbers { all, ..Numbers::default() }).to_bytes()
}

#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The excess of each number over the base; anything for null.
    all: Vec<i64>,
    /// 0, or 2^63 if there are numbers above the signed range.
    base: i128,
    nulls: Vec<usize>,
}

impl Numbers {
    const BEYOND: i128 = 1 << 63;

    /// Adds a cell; `false` if one base cannot serve it and the cells before: negative numbers, and numbers from 2^63 on.
    fn push(&mut self, cell: &Value<'_>) -> bool {
        let number = match *cell {
            Value::Bool(truth) => i128::from(truth),
            Value::Int(number) => number.into(),
            Value::Uint(number) => number.into(),
            _ => {
                self.nulls.push(self.all.len());
                self.all.push(0);
                return true;
            }
        };
        if i64::try_from(number).is_err() && !self.widen() {
            return false;
        }
        let excess = i64::try_from(number - self.base);
        self.all.extend(excess);
        excess.is_ok()
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
    fn to_texts(&self) -> Result<TextColumn> {
        let mut texts = TextColumn::default();
        let mut nulls = self.nulls.iter().peekable();
        for (row, &excess) in self.all.iter().enumerate() {
            let number = nulls.next_if_eq(&&row).is_none().then(|| (self.base + i128::from(excess)).to_string());
            texts.push(number.as_deref())?;
        }
        Ok(texts)
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
            (least..most).find(|number| !there.contains(number)).expect("there are fewer rows than numbers")
        });
        let mut all = self.all.clone();
        for &row in &self.nulls {
            all[row] = null;
        }
        out.extend((self.base + i128::from(null)).to_le_bytes());
        push_numbers(&all, self.base, out);
    }
}

/// The minimum and the maximum; 0 without numbers.
fn span(mut numbers: impl Iterator<Item = i64>) -> (i64, i64) {
    let Some(first) = numbers.next() else { return (0, 0) };
    numbers.fold((first, first), |(least, most), n| (least.min(n), most.max(n)))
}

fn steps(all: &[i64]) -> impl Iterator<Item = i64> {
    all.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]))
}

/// Appends whole numbers as a byte of the width (0, 1, 2, 4 or 8), a byte that is 1 where each says how much more it is
/// than the one before, the first number or else the least, the least step, both as `i128`, and the excess of each
/// number or step over the least one: all lowest bytes, then all second ones, …
fn push_numbers(all: &[i64], base: i128, out: &mut Vec<u8>) {
    /// The largest range whose steps are computed with numbers of 64 bits.
    const NARROW: u64 = 1 << 62;
    let (least, most) = span(all.iter().copied());
    let range = most.abs_diff(least);
    let (step, most_step) = if range < NARROW { span(steps(all)) } else { (0, 0) };
    let steep = most_step.abs_diff(step);
    let by_steps = range < NARROW && steep < range;
    let above: Vec<u64> = match by_steps {
        true => std::iter::once(0).chain(steps(all).map(|n| n.wrapping_sub(step).cast_unsigned())).collect(),
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
    let first = if by_steps { all[0] } else { least };
    out.extend((base + i128::from(first)).to_le_bytes());
    out.extend(i128::from(step).to_le_bytes());
    planes(&above, width, out);
}

fn places(all: &[u32], out: &mut Vec<u8>) {
    push_numbers(&all.iter().map(|&place| place.into()).collect::<Vec<_>>(), 0, out);
}

/// The `width` lower bytes of all `items`: all lowest ones, then all second ones, …
fn planes<T: Into<u64> + Copy>(items: &[T], width: u8, out: &mut Vec<u8>) {
    out.reserve(items.len() * usize::from(width));
    for shift in (0..u32::from(width)).map(|byte| byte * 8) {
        out.extend(items.iter().map(|item| ((*item).into() >> shift).to_le_bytes()[0]));
    }
}

/// Places of things by their hashes, which are kept, so that it grows without access to the things.
#[derive(Debug, Default)]
pub(super) struct Places(HashTable<(u32, u32)>);

impl Places {
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let short = Self::short(hash);
        let found = self.0.find(spread(short.into()), |&(other, place)| other == short && is_it(place));
        found.map(|(_, place)| *place)
    }

    pub(super) fn add(&mut self, hash: u64, place: u32) {
        let short = Self::short(hash);
        self.0.insert_unique(spread(short.into()), (short, place), |(short, _)| spread((*short).into()));
    }

    fn short(hash: u64) -> u32 {
        (hash >> 32) as u32
    }
}

/// A number of rows, or of other things whose limit is checked, as a page stores it.
pub(super) fn short(n: usize) -> u32 {
    u32::try_from(n).expect("a page has fewer rows and bytes of texts than 2^32")
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

    pub(super) fn push(&mut self, cell: &Value<'_>, scratch: &mut String) -> Result<()> {
        match self {
            Self::Numbers(numbers) => {
                if !numbers.push(cell) {
                    let mut texts = numbers.to_texts()?;
                    texts.push(plain::text(cell, scratch)?)?;
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
                texts.push_value(plain::text(cell, scratch)?, is_literal)?;
            }
            Self::Lists(lists) => {
                if !lists.push(cell) {
                    let mut texts = lists.to_texts()?;
                    texts.push(plain::text(cell, scratch)?)?;
                    *self = Self::Texts(texts);
                }
            }
        }
        Ok(())
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Numbers(numbers) => numbers.write(&mut out),
            Self::F32(all) => {
                out.push(2);
                planes(&all.iter().map(|n| n.to_bits()).collect::<Vec<_>>(), 4, &mut out);
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
            Self::Numbers(numbers) => numbers.all.len() * 4,
            Self::F32(all) => all.len() * 4,
            Self::F64(all) => all.len() * 8,
            Self::Texts(texts) => texts.all.len() + texts.rows.len() * 4,
            Self::Lists(lists) => (lists.all.len() + lists.rows.len()) * 4,
        }
    }

    /// The width of its cells in characters, of texts the width that 95 of 100 distinct ones have at most.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Numbers(Numbers { base: 0, all, .. }) => {
                let most = all.iter().map(|n| n.unsigned_abs()).max();
                most.and_then(u64::checked_ilog10).map_or(1, |digits| digits as usize + 1)
            }
            Self::Numbers(_) => 20,
            Self::F32(_) => 11,
            Self::F64(_) => 14,
            Self::Texts(texts) => {
                let mut lengths = texts.lengths.clone();
                let Some(place) = (lengths.len() * 95).div_ceil(100).checked_sub(1) else { return 0 };
                *lengths.select_nth_unstable(place).1 as usize
            }
            Self::Lists(lists) => lists.len * 5,
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
    ///
    /// # Errors
    /// `Limit` if all distinct texts have 2^32 bytes or more.
    pub fn push(&mut self, text: Option<&str>) -> Result<()> {
        self.push_value(text, false)
    }

    /// As [`TextColumn::push`]; `is_literal` if the text is a number, a truth or nested.
    fn push_value(&mut self, text: Option<&str>, is_literal: bool) -> Result<()> {
        let row = if let Some(text) = text { self.place(text, is_literal.into())? + 1 } else { 0 };
        self.rows.push(row);
        Ok(())
    }

    fn is(&self, place: u32, text: &str, literal: u32) -> bool {
        let place = place as usize;
        let begin = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.all[begin..self.ends[place]] == text && self.literals.as_ref().is_none_or(|all| all[place] == literal)
    }

    fn place(&mut self, text: &str, literal: u32) -> Result<u32> {
        // A row often has the text of the row before.
        if let Some(last) = self.rows.last().and_then(|last| last.checked_sub(1))
            && self.is(last, text, literal)
        {
            return Ok(last);
        }
        let hash = hash(text.as_bytes());
        if let Some(place) = self.known.find(hash, |place| self.is(place, text, literal)) {
            return Ok(place);
        }
        let (value, limit) = ((self.all.len() + text.len()) as u64, u64::from(u32::MAX));
        if value > limit {
            let what = "bytes of the texts of a column of a page";
            return Err(Error::of_part(ErrorKind::Limit { what, value, limit }, "page"));
        }
        if let Some(literals) = &mut self.literals {
            literals.push(literal);
        }
        let place = short(self.ends.len());
        self.all.push_str(text);
        self.ends.push(self.all.len());
        self.lengths.push(short(if text.is_ascii() { text.len() } else { text.encode_utf16().count() }));
        self.known.add(hash, place);
        Ok(place)
    }

    fn write(&self, out: &mut Vec<u8>) {
        if self.ends.is_empty() {
            return out.push(0);
        }
        out.push(if self.literals.is_some() { 7 } else { 4 });
        out.extend(short(self.ends.len()).to_le_bytes());
        places(&self.lengths, out);
        out.extend(short(self.all.len()).to_le_bytes());
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
    /// Their bits, because 0 and -0 are shown differently.
    all: Vec<u32>,
    known: Places,
    rows: Vec<u32>,
}

impl Lists {
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
                Value::F32(number) if number.is_finite() => self.all.push(number.to_bits()),
                _ => {
                    self.all.truncate(begin);
                    return false;
                }
            }
        }
        self.len = values.len();
        let list = &self.all[begin..];
        let hash = list
            .chunks(2)
            .fold(0u64, |hash, pair| mixed(hash ^ pair.iter().fold(0, |bits, number| bits << 32 | u64::from(*number))));
        let place = self.known.find(hash, |place| self.list(place) == list).unwrap_or_else(|| {
            let place = short(begin / self.len);
            self.known.add(hash, place);
            place
        });
        if place as usize * self.len != begin {
            self.all.truncate(begin);
        }
        self.rows.push(place + 1);
        true
    }

    fn list(&self, place: u32) -> &[u32] {
        &self.all[place as usize * self.len..][..self.len]
    }

    /// These cells as texts: the JSON of the lists.
    fn to_texts(&self) -> Result<TextColumn> {
        let mut texts = TextColumn::default();
        for row in &self.rows {
            let list = row.checked_sub(1).map(|place| self.list(place).iter().map(|bits| f32::from_bits(*bits)));
            let text = list.map(|list| json::to_string(&Value::floats(list))).transpose()?;
            texts.push(text.as_deref())?;
        }
        Ok(texts)
    }

    fn write(&self, out: &mut Vec<u8>) {
        if self.len == 0 {
            return out.push(0);
        }
        out.push(5);
        out.extend(short(self.len).to_le_bytes());
        out.extend(short(self.all.len() / self.len).to_le_bytes());
        // The numbers at one position of a matrix are mostly equal in many lists.
        for at in 0..self.len {
            places(&self.all.iter().skip(at).step_by(self.len).copied().collect::<Vec<_>>(), out);
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
                let text = match cell {
                    Value::Int(_) => Some("-5"),
                    Value::Uint(_) => Some("18446744073709551615"),
                    _ => None,
                };
                texts.push(text).unwrap();
            }
            assert!(cells.are_texts());
            assert_eq!(cells.to_bytes(), texts.to_bytes());
        }
    }
}
