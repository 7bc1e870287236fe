//! Sheets and packs of the FINAL FANTASY XIII trilogy.

use crate::Size;
use crate::random::Rng;
use crate::writer::{Writer, bytes};
use std::collections::HashMap;

/// The game whose sections a sheet has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Game {
    /// XIII: lists of u32, no field names.
    First,
    /// XIII-2 and Lightning Returns: word kinds as bytes, field names.
    Later,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// An integer; the field keeps its lowest bits.
    Int(i64),
    Float(f32),
    /// The text of a string word or of a string array.
    Text(Vec<u8>),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f32> for Cell {
    fn from(value: f32) -> Self {
        Self::Float(value)
    }
}

/// Builds a sheet. Field names determine the storage of a field: kind letter, width in bits, name. Without a width it
/// takes a word of its own (`f` a float, `s` a text, `u` and `i` integers), with one it is packed; `u64` takes two words.
#[derive(Debug, Clone)]
pub struct Sheet {
    game: Game,
    name: String,
    version: u32,
    fields: Vec<Field>,
    records: Vec<(Vec<u8>, Vec<Cell>)>,
}

#[derive(Debug, Clone)]
struct Field {
    name: String,
    letter: u8,
    width: Option<u32>,
}

impl Sheet {
    pub fn new(game: Game, name: &str) -> Self {
        Self { game, name: name.to_owned(), version: 0x1234_5678, fields: Vec::new(), records: Vec::new() }
    }

    /// Adds fields, whose names say how they are stored.
    #[must_use]
    pub fn fields<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.fields.extend(names.into_iter().map(|name| {
            let digits: String = name.chars().skip(1).take(2).take_while(char::is_ascii_digit).collect();
            Field { name: name.to_owned(), letter: name.as_bytes()[0], width: digits.parse().ok() }
        }));
        self
    }

    /// Adds a field that is packed although its name gives no width: a signed integer of 32 bits.
    #[must_use]
    pub fn packed_word(mut self, name: &str) -> Self {
        self.fields.push(Field { name: name.to_owned(), letter: name.as_bytes()[0], width: Some(32) });
        self
    }

    pub fn field_names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| &*field.name)
    }

    pub fn records(&self) -> &[(Vec<u8>, Vec<Cell>)] {
        &self.records
    }

    /// Adds a record with a cell for each field.
    #[must_use]
    pub fn record(mut self, name: impl AsRef<[u8]>, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.records.push((name.as_ref().to_vec(), cells.into_iter().collect()));
        self
    }

    pub fn build(&self) -> Vec<u8> {
        let mut texts = TextPool::default();
        texts.add(b"");
        // The texts of arrays come first, in the order of the arrays.
        let arrays = self.fields.iter().enumerate().map(|(n, field)| {
            let is_array = field.letter == b's' && field.width.is_some();
            is_array.then(|| self.array(n, &mut texts))
        });
        let arrays: Vec<Option<Vec<u32>>> = arrays.collect();
        let records = self.records.iter().map(|(_, cells)| self.words(cells, &arrays, &mut texts));
        let records: Vec<Vec<u8>> = records.collect();
        let arrays: Vec<Vec<u32>> = arrays.into_iter().flatten().collect();
        let item_bits = 32 - arrays.iter().flatten().max().map_or(32, |offset| offset.leading_zeros()).min(31);

        let mut sections: Vec<(&str, Vec<u8>)> = Vec::new();
        if self.game == Game::Later {
            sections.push(("!!sheetname", [self.name.as_bytes(), &[0]].concat()));
        }
        if !arrays.is_empty() {
            let per_word = 32 / item_bits;
            let (mut words, mut starts) = (Vec::new(), Vec::new());
            for array in &arrays {
                starts.push(words.len() as u32 * 4);
                words.extend(
                    array
                        .chunks(per_word as usize)
                        .map(|items| (0..).zip(items).fold(0, |word, (slot, &item)| word | item << (slot * item_bits))),
                );
            }
            sections.push(("!!strArray", be(&words)));
            sections.push(("!!strArrayInfo", vec![0, 0, per_word as u8, item_bits as u8]));
            sections.push(("!!strArrayList", be(&starts)));
        }
        sections.push(("!!string", texts.pool));
        let kinds = self.kinds();
        match self.game {
            Game::First => {
                sections.push(("!!strtypelist", be(&kinds)));
                sections.push(("!!typelist", be(&self.types())));
            }
            Game::Later => sections.push(("!!strtypelistb", kinds.iter().map(|&k| k as u8).collect())),
        }
        sections.push(("!!version", be(&[self.version])));
        if self.game == Game::Later {
            let names = self.fields.iter().flat_map(|f| f.name.bytes().chain([0])).collect();
            sections.push(("!structitem", names));
            sections.push(("!structitemnum", be(&[self.fields.len() as u32])));
        }
        let sections = sections.iter().map(|(name, data)| (name.as_bytes(), &b""[..], &**data));
        let records = self.records.iter().zip(&records).map(|((name, _), data)| (&**name, &b""[..], &**data));
        container(&sections.chain(records).collect::<Vec<_>>(), 4)
    }

    /// The distinct texts of one field, as offsets in the pool.
    fn array(&self, field: usize, texts: &mut TextPool) -> Vec<u32> {
        let mut offsets = Vec::new();
        for (_, cells) in &self.records {
            let Cell::Text(text) = &cells[field] else { panic!("a string array needs texts") };
            let offset = texts.add(text);
            if !offsets.contains(&offset) {
                offsets.push(offset);
            }
        }
        offsets
    }

    fn words(&self, cells: &[Cell], arrays: &[Option<Vec<u32>>], texts: &mut TextPool) -> Vec<u8> {
        assert_eq!(cells.len(), self.fields.len(), "a cell for each field");
        let mut words: Vec<u32> = Vec::new();
        let mut used = 32;
        for ((field, cell), array) in self.fields.iter().zip(cells).zip(arrays) {
            match (field.width, cell) {
                (Some(64), Cell::Int(value)) => {
                    words.extend([(*value as u64 >> 32) as u32, *value as u32]);
                    used = 32;
                }
                (Some(width), cell) => {
                    let value = match (cell, array) {
                        (Cell::Int(value), None) => *value as u32,
                        (Cell::Text(text), Some(array)) => {
                            let offset = texts.add(text);
                            array.iter().position(|other| *other == offset).expect("a text of the array") as u32
                        }
                        other => panic!("{}: {other:?} cannot be packed", field.name),
                    };
                    if used + width > 32 {
                        words.push(0);
                        used = 0;
                    }
                    *words.last_mut().unwrap() |= (value & (u32::MAX >> (32 - width))) << used;
                    used += width;
                }
                (None, cell) => {
                    words.push(match cell {
                        Cell::Int(value) => *value as u32,
                        Cell::Float(value) => value.to_bits(),
                        Cell::Text(text) => texts.add(text),
                    });
                    used = 32;
                }
            }
        }
        be(&words)
    }

    fn kinds(&self) -> Vec<u32> {
        let (mut kinds, mut used) = (Vec::new(), 32);
        for field in &self.fields {
            match (field.width, field.letter) {
                (Some(width), _) if width < 64 => {
                    if used + width > 32 {
                        kinds.push(0);
                        used = 0;
                    }
                    used += width;
                    continue;
                }
                (None, b'f') => kinds.push(1),
                (None, b's') => kinds.push(2),
                _ => kinds.push(3),
            }
            used = 32;
        }
        kinds
    }

    fn types(&self) -> Vec<u32> {
        let types = self.fields.iter().map(|field| match field.letter {
            b'i' => 0,
            b'f' => 1,
            b's' => 2,
            _ => 3,
        });
        types.collect()
    }
}

/// The big-endian bytes of numbers.
fn be(numbers: &[u32]) -> Vec<u8> {
    bytes(numbers.iter().map(|number| number.to_be()))
}

/// The pool: each distinct text once.
#[derive(Debug, Default)]
struct TextPool {
    pool: Vec<u8>,
    offsets: HashMap<Vec<u8>, u32>,
}

impl TextPool {
    fn add(&mut self, text: &[u8]) -> u32 {
        if let Some(&offset) = self.offsets.get(text) {
            return offset;
        }
        let offset = self.pool.len() as u32;
        self.pool.extend_from_slice(text);
        self.pool.push(0);
        self.offsets.insert(text.to_vec(), offset);
        offset
    }
}

/// A pack of files, each with name, extension and bytes. Data begins at multiples of 128 bytes, as in the games.
pub fn pack(files: &[(&str, &str, Vec<u8>)]) -> Vec<u8> {
    let entries = files.iter().map(|(name, extension, data)| (name.as_bytes(), extension.as_bytes(), &**data));
    container(&entries.collect::<Vec<_>>(), 128)
}

/// The container: entries with name, extension and data.
fn container(entries: &[(&[u8], &[u8], &[u8])], alignment: usize) -> Vec<u8> {
    let size = entries.iter().map(|(_, _, data)| data.len() + alignment + 0x20).sum();
    let mut out = Writer::with_capacity(size);
    out.push(b"WPD\0");
    out.all([(entries.len() as u32).to_be(), 0, 0]);
    let table = out.zeros(entries.len() * 0x20);
    for (index, (name, extension, data)) in entries.iter().enumerate() {
        assert!(name.len() <= 16 && extension.len() <= 8, "an entry's name has 16 bytes, its extension 8");
        out.align(alignment);
        let offset = out.push(data);
        let entry = table + index * 0x20;
        out.patch(entry, name);
        out.patch(entry + 0x10, be(&[offset as u32, data.len() as u32]));
        out.patch(entry + 0x18, extension);
    }
    out.align(alignment);
    out.into_bytes()
}

/// A sheet of `records` records with `fields` fields of every kind, most of them packed as in the games.
pub fn generated(seed: u64, game: Game, records: usize, fields: usize) -> Sheet {
    let mut rng = Rng::with_seed(seed);
    let kinds = "sName fScale u7Race u9SaveIndex u9SortId u1IsBoss u2Memory i8Random uFlags u4Repeat f16Rate i5Attribute \
                 iSituation u13Zone u16Count u8Level sSpec i16Argument u6Genre u1Limit";
    let kinds: Vec<&str> = kinds.split_whitespace().collect();
    let arrays = usize::from(game == Game::Later).min(fields);
    let names = (0..fields - arrays).map(|i| match i / kinds.len() {
        0 => kinds[i].to_owned(),
        round => format!("{}_{round}", kinds[i % kinds.len()]),
    });
    let names: Vec<String> = names.chain(std::iter::repeat_n("s4Family".to_owned(), arrays)).collect();
    let texts: Vec<String> = (0..256).map(|i| format!("text_{i:03}")).collect();
    let mut sheet = Sheet::new(game, "Generated").fields(names.iter().map(String::as_str));
    for row in 0..records {
        let cells: Vec<Cell> = sheet
            .fields
            .iter()
            .map(|field| match (field.letter, field.width) {
                (b's', None) => Cell::from(&*texts[rng.usize(..texts.len())]),
                (b's', _) => Cell::from(["beast", "flan", "machine", "soldier", ""][rng.usize(..5)]),
                (b'f', None) => Cell::Float(rng.i32(-4000..4000) as f32 / 8.0),
                (b'i' | b'f', width) => Cell::Int(i64::from(rng.i32(..) >> (32 - width.unwrap_or(32)))),
                (_, width) => Cell::Int(i64::from(rng.u32(..) >> (32 - width.unwrap_or(32)))),
            })
            .collect();
        sheet = sheet.record(format!("r{row:07}"), cells);
    }
    sheet
}

/// A believable sheet of Lightning Returns.
pub fn demo(seed: u64, size: Size) -> Vec<u8> {
    generated(seed, Game::Later, size.pick(24, 4000), 26).build()
}

/// The fields of the first game's sheet of bonuses for chains, in the order in which its records have them.
pub const CHAINS: [&str; 10] = [
    "u6WhoFrom",
    "u6When0",
    "u6When1",
    "u6When2",
    "u6WhatState",
    "u6WhoTo",
    "u6DoWhat",
    "u6Where",
    "u6How",
    "u16Bonus",
];

/// A believable pack: two sheets and two other files.
pub fn demo_pack(seed: u64, size: Size) -> Vec<u8> {
    let mut rng = Rng::with_seed(seed);
    let chains = Sheet::new(Game::First, "")
        .fields(CHAINS)
        .record("chain_a", [1, 2, 3, 4, 5, 6, 7, 8, 9, 150].map(Cell::Int))
        .record("chain_b", [9, 8, 7, 6, 5, 4, 3, 2, 1, 65_535].map(Cell::Int));
    pack(&[
        ("bt_chainbonus", "wdb", chains.build()),
        ("btscene", "wdb", generated(seed, Game::Later, size.pick(12, 2000), 20).build()),
        ("0cf22cd9a62847b5", "clb", (0..840).map(|_| rng.u8(..)).collect()),
        ("readme", "", b"a file without extension".to_vec()),
    ])
}
