//! Columns as bytes that the page's scripts read in place, little endian.
//!
//! A column is stored in stretches of rows, each a block. The first byte of a stretch says how its cells lie:
//!
//! | byte | cells |
//! |---|---|
//! | 0 | all null |
//! | 1 | a byte that is 1 where there are nulls, then the number that stands for them as `i128`, and *numbers*: whole numbers of one width, as follows |
//! | 2 | single-precision floats, NaN for null: all first bytes, then all second ones, … |
//! | 3 | double-precision floats likewise |
//! | 4 | *texts*: a `u32` count of distinct texts, their lengths in UTF-16 units as numbers, the bytes of all of them as a `u32` length and UTF-8, and for each row as numbers 0 for null or 1 and the place of its text |
//! | 5 | lists of `u32` floats each: a `u32` count of distinct lists, their floats as all first bytes of all first floats, then all second bytes of those, …, and for each row as numbers 0 or 1 and the place of its list |
//! | 6 | ids: for each row as numbers 0 or 1 and the place of its id among all of the page |
//!
//! What repeats is stored once, and what is alike lies together: deflate makes little of the rest.

use crate::codec::xxh64;
use crate::error::Result;
use crate::table::Value;
use crate::write::{json, plain};
use hashbrown::HashTable;

/// Rows of a stretch.
pub(super) const ROWS: usize = 1 << 16;

/// Numbers as a column: what scripts read by `assetq.column`.
pub fn numbers(all: Vec<i128>) -> Vec<u8> {
    Cells::Numbers { all, nulls: Vec::new() }.to_bytes()
}

/// Whole numbers as a byte of the width (0, 1, 2, 4 or 8), a byte that is 1 where each says how much more it is than the one
/// before, the first number or else the least, the least step, both as `i128`, and what the numbers or steps are above the
/// least: all lowest bytes, then all second ones, …
fn push_numbers(all: &[i128], out: &mut Vec<u8>) {
    let span = |values: &mut dyn Iterator<Item = i128>| {
        let first = values.next().unwrap_or(0);
        let (least, most) = values.fold((first, first), |(least, most), n| (least.min(n), most.max(n)));
        (least, most.abs_diff(least))
    };
    let steps = || all.iter().zip(all.iter().skip(1)).map(|(a, b)| b.wrapping_sub(*a));
    let (least, range) = span(&mut all.iter().copied());
    let (step, steep) = span(&mut steps());
    let by_steps = steep < range;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "64 bits hold the range of any column")]
    let above: Vec<u64> = match by_steps {
        true => std::iter::once(0).chain(steps().map(|n| n.wrapping_sub(step) as u64)).collect(),
        false => all.iter().map(|n| n.wrapping_sub(least) as u64).collect(),
    };
    let width: u8 = match if by_steps { steep } else { range } {
        0 => 0,
        1..=0xFF => 1,
        0x100..=0xFFFF => 2,
        0x1_0000..=0xFFFF_FFFF => 4,
        _ => 8,
    };
    out.extend([width, u8::from(by_steps)]);
    let first = all.first().copied().unwrap_or(0);
    out.extend(if by_steps { first } else { least }.to_le_bytes());
    out.extend(step.to_le_bytes());
    out.reserve(above.len().saturating_mul(width.into()));
    for n in 0..u32::from(width) {
        out.extend(
            above.iter().map(|above| above.wrapping_shr(n.saturating_mul(8)).to_le_bytes()).map(|[byte, ..]| byte),
        );
    }
}

fn numbers_of(mut out: Vec<u8>, all: &[i128]) -> Vec<u8> {
    push_numbers(all, &mut out);
    out
}

/// Places as numbers.
fn places(all: &[u32], out: &mut Vec<u8>) {
    push_numbers(&all.iter().map(|&place| place.into()).collect::<Vec<_>>(), out);
}

/// The bytes of all `items`, `N` of each: all first ones, then all second ones, …
fn planes<const N: usize>(items: impl Iterator<Item = [u8; N]> + Clone, out: &mut Vec<u8>) {
    for n in 0..N {
        out.extend(items.clone().map(|bytes| bytes.get(n).copied().unwrap_or(0)));
    }
}

fn count(n: usize, out: &mut Vec<u8>) {
    out.extend(u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes());
}

/// A hash by which what repeats is found.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    xxh64(bytes, 0)
}

/// The cells of a column in a stretch of rows.
#[derive(Debug)]
pub(super) enum Cells {
    /// The numbers, and 0 for null, of which there are some.
    Numbers {
        all: Vec<i128>,
        nulls: Vec<usize>,
    },
    F32(Vec<f32>),
    F64(Vec<f64>),
    Texts(Texts),
    /// Lists of as many floats each, as long as nothing else comes.
    Lists(Lists),
}

impl Cells {
    /// Adds a cell.
    pub(super) fn push(&mut self, cell: &Value<'_>, scratch: &mut String) -> Result<()> {
        match self {
            Self::Numbers { all, nulls } => {
                let number = match *cell {
                    Value::Bool(truth) => Some(i128::from(truth)),
                    Value::Int(number) => Some(number.into()),
                    Value::Uint(number) => Some(number.into()),
                    _ => None,
                };
                if number.is_none() {
                    nulls.push(all.len());
                }
                all.push(number.unwrap_or(0));
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
            Self::Texts(texts) => texts.push(plain::text(cell, scratch)?),
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
            Self::Numbers { all, nulls } if nulls.len() == all.len() => out.push(0),
            Self::Numbers { all, nulls } => {
                out.push(1);
                out.push(u8::from(!nulls.is_empty()));
                if nulls.is_empty() {
                    return numbers_of(out, all);
                }
                // One less than the least one stands for null.
                let mut is_null = nulls.iter().copied().peekable();
                let is_null = (0..all.len()).map(|row| is_null.next_if_eq(&row).is_some());
                let is_null: Vec<bool> = is_null.collect();
                let there = all.iter().zip(&is_null).filter(|(_, is_null)| !**is_null).map(|(n, _)| *n);
                let null = there.min().unwrap_or(0).saturating_sub(1);
                out.extend(null.to_le_bytes());
                let all: Vec<i128> =
                    all.iter().zip(&is_null).map(|(n, is_null)| if *is_null { null } else { *n }).collect();
                return numbers_of(out, &all);
            }
            Self::F32(all) => {
                out.push(2);
                planes(all.iter().map(|n| n.to_le_bytes()), &mut out);
            }
            Self::F64(all) => {
                out.push(3);
                planes(all.iter().map(|n| n.to_le_bytes()), &mut out);
            }
            Self::Texts(texts) => texts.write(&mut out),
            Self::Lists(lists) => lists.write(&mut out),
        }
        out
    }

    /// About how many bytes the cells take.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Numbers { all, .. } => all.len().saturating_mul(4),
            Self::F32(all) => all.len().saturating_mul(4),
            Self::F64(all) => all.len().saturating_mul(8),
            Self::Texts(texts) => texts.all.len().saturating_add(texts.rows.len().saturating_mul(4)),
            Self::Lists(lists) => lists.all.len().saturating_add(lists.rows.len()).saturating_mul(4),
        }
    }

    /// The characters of its widest cells, as far as that is worth knowing.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Numbers { all, .. } => {
                let most = all.iter().map(|n| n.unsigned_abs()).max().unwrap_or(0);
                usize::try_from(most.checked_ilog10().unwrap_or(0)).unwrap_or(0).saturating_add(1)
            }
            Self::F32(_) => 11,
            Self::F64(_) => 14,
            Self::Texts(texts) => texts.lengths.iter().copied().max().unwrap_or(0) as usize,
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

/// Texts as a column, of which each is kept once.
#[derive(Debug, Default)]
pub struct Texts {
    all: String,
    ends: Vec<usize>,
    /// In UTF-16 units.
    lengths: Vec<u32>,
    known: HashTable<u32>,
    rows: Vec<u32>,
}

impl Texts {
    /// Adds the text of a row, or null.
    pub fn push(&mut self, text: Option<&str>) {
        let place = text.map_or(0, |text| self.place(text).saturating_add(1));
        self.rows.push(place);
    }

    fn get<'t>(all: &'t str, ends: &[usize], place: u32) -> Option<&'t str> {
        let place = place as usize;
        let begin = place.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied())?;
        all.get(begin..*ends.get(place)?)
    }

    fn place(&mut self, text: &str) -> u32 {
        let Self { all, ends, lengths, known, rows } = self;
        // Rows often say what the row before says.
        if let Some(last) = rows.last().and_then(|last| last.checked_sub(1))
            && Self::get(all, ends, last) == Some(text)
        {
            return last;
        }
        let hash_of = |text: &str| hash(text.as_bytes());
        let is_it = |place: &u32| Self::get(all, ends, *place) == Some(text);
        if let Some(place) = known.find(hash_of(text), is_it) {
            return *place;
        }
        let place = u32::try_from(ends.len()).unwrap_or(u32::MAX);
        all.push_str(text);
        ends.push(all.len());
        let units = if text.is_ascii() { text.len() } else { text.encode_utf16().count() };
        lengths.push(u32::try_from(units).unwrap_or(u32::MAX));
        known.insert_unique(hash_of(text), place, |place| hash_of(Self::get(all, ends, *place).unwrap_or_default()));
        place
    }

    fn write(&self, out: &mut Vec<u8>) {
        if self.ends.is_empty() {
            return out.push(0);
        }
        out.push(4);
        count(self.ends.len(), out);
        places(&self.lengths, out);
        count(self.all.len(), out);
        out.extend(self.all.as_bytes());
        places(&self.rows, out);
    }

    /// The column: what scripts read by `assetq.column`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }
}

/// Lists of floats, of which each is kept once.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Floats of each list; 0 as long as none came.
    len: usize,
    all: Vec<f32>,
    known: HashTable<u32>,
    rows: Vec<u32>,
}

impl Lists {
    /// Floats that a list may have.
    const LONGEST: usize = 64;

    /// Adds a cell; `false` where it is neither null nor a list like those before.
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
        let hash_of = |place: u32| {
            let mut bytes = [[0; 4]; Self::LONGEST];
            let list = list(place).unwrap_or_default();
            bytes.iter_mut().zip(list).for_each(|(bytes, n)| *bytes = n.to_le_bytes());
            hash(bytes.as_flattened().get(..list.len().saturating_mul(4)).unwrap_or_default())
        };
        let new = u32::try_from(begin.checked_div(*len).unwrap_or(0)).unwrap_or(u32::MAX);
        // Bits decide, as 0 and -0 are two numbers to read.
        let bits = |place: u32| list(place).unwrap_or_default().iter().map(|n| n.to_bits());
        let place = match known.find(hash_of(new), |place| bits(*place).eq(bits(new))).copied() {
            Some(place) => place,
            None => {
                known.insert_unique(hash_of(new), new, |place| hash_of(*place));
                new
            }
        };
        rows.push(place.saturating_add(1));
        if place != new {
            all.truncate(begin);
        }
        true
    }

    /// The same cells as texts.
    fn to_texts(&self) -> Result<Texts> {
        let mut texts = Texts::default();
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
        for at in 0..self.len {
            planes(self.all.iter().skip(at).step_by(self.len).map(|n| n.to_le_bytes()), out);
        }
        places(&self.rows, out);
    }
}
