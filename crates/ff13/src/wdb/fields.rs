//! The position of each field of a record, computed once for a sheet (docs/formats/wdb.md §2).

use std::fmt;

const WORD: usize = 4;

/// One field of a sheet: a column.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SheetField {
    /// The field's name in the sheet or in the list of known names; otherwise `field_N`.
    pub name: String,
    /// How its cells are read.
    pub kind: FieldKind,
    /// The field's size in bits: 32 for a whole word, 64 for two.
    pub bits: u8,
    /// The byte of the record at which its word begins.
    pub offset: usize,
    /// The field's lowest bit in that word.
    pub shift: u8,
}

impl SheetField {
    /// The letter that its name begins with, for its kind.
    fn letter(&self) -> Option<u8> {
        self.name.bytes().next()
    }
}

/// How the cells of a field are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldKind {
    Uint,
    /// A signed integer, two's complement.
    Int,
    /// A single-precision float, a whole word.
    Float,
    /// The offset of a text in `!!string`, a whole word.
    Text,
    /// An index into the string array of this number.
    ArrayText(u32),
    /// A 64-bit unsigned integer, two words.
    Wide,
    /// A packed word with unknown fields.
    Raw,
    Fault(Fault),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The list of fields is longer than the list of words.
    NoWord,
    /// A width that no word has room for: 0, or more than 32.
    Width,
    /// An unknown letter, in a packed word.
    Letter,
    /// A text without a width in a packed word.
    Text,
    /// A word kind that the format does not have.
    WordKind(u32),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWord => f.write_str("the sheet lists more fields than words"),
            Self::Width => f.write_str("its name gives a width that a packed word has no room for"),
            Self::Letter => f.write_str("its name begins with a letter that stands for no kind"),
            Self::Text => f.write_str("a text without a width in a packed word"),
            Self::WordKind(kind) => write!(f, "its word has the unknown kind {kind}"),
        }
    }
}

impl FieldKind {
    /// The name that the `fields` table uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uint | Self::Wide => "uint",
            Self::Int => "int",
            Self::Float => "float",
            Self::Text => "string",
            Self::ArrayText(_) => "string array",
            Self::Raw => "unknown bits",
            Self::Fault(_) => "unreadable",
        }
    }
}

/// The kind letter and width that a field name begins with.
#[derive(Debug, Clone, Copy)]
struct Prefix {
    letter: Option<u8>,
    /// The one or two digits after the letter.
    width: Option<u8>,
}

impl Prefix {
    fn of(name: &str) -> Self {
        let mut bytes = name.bytes();
        let letter = bytes.next();
        let digits = bytes.take(2).take_while(u8::is_ascii_digit).map(|digit| digit.wrapping_sub(b'0'));
        Self { letter, width: digits.reduce(|tens, ones| tens.saturating_mul(10).saturating_add(ones)) }
    }
}

/// The word kinds that list a 64-bit field. Only two files show it, in different ways: the fitting one is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wide {
    /// One word kind, eight bytes.
    OneKind,
    /// Two word kinds, eight bytes.
    TwoKinds,
    /// As any other integer word.
    No,
}

/// The fields of a sheet and their sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub fields: Vec<SheetField>,
    /// The number of named fields; later fields are left-over words.
    pub named: usize,
    /// Bytes that a record must have.
    pub size: usize,
    /// Fields that index string arrays.
    pub arrays: u32,
}

impl Layout {
    /// Whether each name has its word, each word its name, and each name's letter suits its word.
    pub fn fits(&self) -> bool {
        self.named == self.fields.len()
            && self.fields.iter().all(|field| match field.kind {
                FieldKind::Float => field.letter() == Some(b'f'),
                FieldKind::Text => field.letter() == Some(b's'),
                FieldKind::Uint | FieldKind::Wide => field.letter() == Some(b'u'),
                FieldKind::Int => matches!(field.letter(), Some(b'i' | b'f')),
                FieldKind::ArrayText(_) => true,
                FieldKind::Raw | FieldKind::Fault(_) => false,
            })
    }

    /// Whether the first game's second list has the same number of fields of each type. Its order has no meaning.
    pub fn agrees_with(&self, types: &[u32]) -> bool {
        let mut own: Vec<u32> = self
            .fields
            .iter()
            .map(|field| match field.letter() {
                Some(b'i') => 0,
                Some(b'f') => 1,
                Some(b's') => 2,
                _ => 3,
            })
            .collect();
        let mut types = types.to_vec();
        own.sort_unstable();
        types.sort_unstable();
        own == types
    }
}

/// Assigns the fields `names` to words of these `kinds`. Words without a name become `field_N`, with the types of
/// `types`, the first game's second list.
pub(super) fn lay_out<'n, I>(names: I, kinds: &[u32], types: &[u32], record: Option<usize>) -> Layout
where
    I: Iterator<Item = &'n str> + Clone,
{
    let may_be_wide = names.clone().any(|name| name.starts_with("u64"));
    let variants: &[Wide] = if may_be_wide { &[Wide::OneKind, Wide::TwoKinds, Wide::No] } else { &[Wide::No] };
    let layouts = variants.iter().rev().map(|variant| Planner::new(kinds, types, *variant).run(names.clone()));
    // The first one that fits, or the first.
    let best = layouts.max_by_key(|layout| layout.fits() && record.is_none_or(|size| size == layout.size));
    best.expect("there is a way to list wide fields")
}

struct Planner<'k> {
    kinds: &'k [u32],
    types: &'k [u32],
    wide: Wide,
    fields: Vec<SheetField>,
    word: usize,
    /// The byte of the record where the next word begins.
    offset: usize,
    /// Used bits of the current packed word; 32 if it is full or absent.
    used: u8,
    arrays: u32,
}

impl<'k> Planner<'k> {
    fn new(kinds: &'k [u32], types: &'k [u32], wide: Wide) -> Self {
        Self { kinds, types, wide, fields: Vec::new(), word: 0, offset: 0, used: 32, arrays: 0 }
    }

    fn run<'n>(mut self, names: impl Iterator<Item = &'n str>) -> Layout {
        names.for_each(|name| self.named(name));
        let named = self.fields.len();
        while let Some(&kind) = self.kinds.get(self.word) {
            self.unnamed(kind);
        }
        Layout { fields: self.fields, named, size: self.offset, arrays: self.arrays }
    }

    /// Takes the next word, as its first byte.
    fn next_word(&mut self) -> usize {
        let offset = self.offset;
        self.word = self.word.saturating_add(1);
        self.offset = self.offset.saturating_add(WORD);
        self.used = 32;
        offset
    }

    fn push(&mut self, name: &str, kind: FieldKind, bits: u8, offset: usize, shift: u8) {
        self.fields.push(SheetField { name: name.to_owned(), kind, bits, offset, shift });
    }

    fn named(&mut self, name: &str) {
        let prefix = Prefix::of(name);
        let bits = prefix.width.unwrap_or(32);
        // A field that fits into what is left of a packed word belongs there; one without bits nowhere.
        if let Some(used) = self.used.checked_add(bits).filter(|&used| bits > 0 && used <= 32) {
            let (offset, shift) = (self.offset.saturating_sub(WORD), self.used);
            self.used = used;
            return self.packed(name, prefix, bits, offset, shift);
        }
        match self.kinds.get(self.word).copied() {
            // The field belongs to the current packed word, so that it must not use the next one.
            _ if bits == 0 && self.used < 32 => self.push(name, FieldKind::Fault(Fault::Width), bits, self.offset, 0),
            None => self.push(name, FieldKind::Fault(Fault::NoWord), bits, self.offset, 0),
            Some(0) if bits == 0 => self.push(name, FieldKind::Fault(Fault::Width), bits, self.offset, 0),
            Some(0) => {
                let offset = self.next_word();
                self.used = bits.min(32);
                self.packed(name, prefix, bits, offset, 0);
            }
            Some(kind) => self.whole(name, kind, prefix),
        }
    }

    /// A field of `bits` in the packed word at `offset`.
    fn packed(&mut self, name: &str, prefix: Prefix, bits: u8, offset: usize, shift: u8) {
        let kind = match prefix.letter {
            _ if bits > 32 => FieldKind::Fault(Fault::Width),
            Some(b'u') => FieldKind::Uint,
            // An f# of a packed word is an integer, too.
            Some(b'i' | b'f') => FieldKind::Int,
            Some(b's') if prefix.width.is_none() => FieldKind::Fault(Fault::Text),
            Some(b's') => {
                let array = self.arrays;
                self.arrays = self.arrays.saturating_add(1);
                FieldKind::ArrayText(array)
            }
            _ => FieldKind::Fault(Fault::Letter),
        };
        self.push(name, kind, bits, offset, shift);
    }

    /// A field with a whole word: the word's kind decides its type, the letter only whether it is signed.
    fn whole(&mut self, name: &str, kind: u32, prefix: Prefix) {
        let is_wide = kind == 3 && self.wide != Wide::No && (prefix.letter, prefix.width) == (Some(b'u'), Some(64));
        let offset = self.next_word();
        if is_wide {
            self.offset = self.offset.saturating_add(WORD);
            if self.wide == Wide::TwoKinds {
                self.word = self.word.saturating_add(1);
            }
            return self.push(name, FieldKind::Wide, 64, offset, 0);
        }
        let kind = match (kind, prefix.letter) {
            (1, _) => FieldKind::Float,
            (2, _) => FieldKind::Text,
            (3, Some(b'i')) => FieldKind::Int,
            (3, _) => FieldKind::Uint,
            (kind, _) => FieldKind::Fault(Fault::WordKind(kind)),
        };
        self.push(name, kind, 32, offset, 0);
    }

    /// A word without a name. The two lists distinguish a single integer from a packed word only if they have equal
    /// lengths.
    fn unnamed(&mut self, kind: u32) {
        let lone = self.types.get(self.word).copied().filter(|_| self.types.len() == self.kinds.len());
        let read = match (kind, lone) {
            (0 | 3, Some(0)) => FieldKind::Int,
            (0, Some(3)) | (3, _) => FieldKind::Uint,
            (0, _) => FieldKind::Raw,
            (1, _) => FieldKind::Float,
            (2, _) => FieldKind::Text,
            (kind, _) => FieldKind::Fault(Fault::WordKind(kind)),
        };
        let (name, offset) = (format!("field_{}", self.fields.len()), self.next_word());
        self.push(&name, read, 32, offset, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(names: &[&str], kinds: &[u32]) -> Layout {
        lay_out(names.iter().copied(), kinds, &[], None)
    }

    fn places(layout: &Layout) -> Vec<(&str, usize, u8, u8)> {
        layout.fields.iter().map(|f| (f.kind.name(), f.offset, f.shift, f.bits)).collect()
    }

    #[test]
    fn packed_fields_fill_words_from_the_lowest_bit() {
        let names = ["u7A", "u9B", "u9C", "u1D", "u2E", "u1F", "u13G", "u16H", "f16I", "i5j", "s4K", "sName"];
        let layout = plan(&names, &[0, 0, 0, 2]);
        assert!(layout.fits());
        assert_eq!(
            places(&layout)[..8],
            [
                ("uint", 0, 0, 7),
                ("uint", 0, 7, 9),
                ("uint", 0, 16, 9),
                ("uint", 0, 25, 1),
                ("uint", 0, 26, 2),
                ("uint", 0, 28, 1),
                ("uint", 4, 0, 13),
                ("uint", 4, 13, 16),
            ]
        );
        assert_eq!(
            places(&layout)[8..],
            [("int", 8, 0, 16), ("int", 8, 16, 5), ("string array", 8, 21, 4), ("string", 12, 0, 32)]
        );
        assert_eq!((layout.size, layout.arrays), (16, 1));
    }
    #[test]
    fn a_64_bit_field_is_listed_as_what_fits() {
        let names = ["sA", "uB", "u64C"];
        for (kinds, record, wide) in [
            // One kind for eight bytes, two kinds for eight bytes, and an integer like any other.
            (vec![2, 3, 3], 16, true),
            (vec![2, 3, 3, 3], 16, true),
            (vec![2, 3, 3], 12, false),
        ] {
            let layout = lay_out(names.into_iter(), &kinds, &[], Some(record));
            assert_eq!((layout.fits(), layout.size), (true, record), "{kinds:?}");
            assert_eq!(layout.fields[2].kind == FieldKind::Wide, wide, "{kinds:?}");
        }
        // An unfitting list is shown by the file's kinds, with left-over words.
        assert!(!lay_out(names.into_iter(), &[2, 3, 3, 3, 3], &[], Some(20)).fits());
    }

    #[test]
    fn a_field_without_bits_takes_no_word() {
        let layout = plan(&["u8A", "u0B", "uC"], &[0, 3]);
        let kinds: Vec<_> = layout.fields.iter().map(|f| f.kind).collect();
        assert_eq!(kinds, [FieldKind::Uint, FieldKind::Fault(Fault::Width), FieldKind::Uint]);
        assert_eq!((layout.fields[2].offset, layout.size), (4, 8));
    }

    #[test]
    fn names_must_suit_their_words() {
        for (name, kind) in [("fA", 2), ("sA", 3), ("uA", 1), ("iA", 2), ("sA", 1), ("qA", 3), ("uA", 7), ("sA", 0)] {
            assert!(!plan(&[name], &[kind]).fits(), "{name} in {kind}");
        }
        for (name, kind) in [("fA", 1), ("sA", 2), ("uA", 3), ("iA", 3), ("iA", 0), ("u32A", 0), ("u4A", 0), ("u4A", 3)]
        {
            assert!(plan(&[name], &[kind]).fits(), "{name} in {kind}");
        }
        assert!(!plan(&["uA"], &[3, 3]).fits());
        assert!(!plan(&["uA", "uB"], &[3]).fits());
    }
}
