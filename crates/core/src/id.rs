//! Ids in text: their one output form, and their input forms.
//!
//! An id of 64 bits is the hash of a path, one of 32 bits the hash of a name. Both are written as `0x` and all of their
//! digits in upper case. They are read as `0x` and up to 16 digits, as 16 hexadecimal digits without `0x`, or in
//! decimal. Sixteen digits are hexadecimal even if none of them is a letter: they are far more often an id from another
//! tool than a decimal number of exactly this length.

use crate::codec::{cityhash64, murmur3};
use crate::paths::slashed;
use std::borrow::Cow;
use std::fmt;

/// Parses an id in the form `0x…`, 16 hexadecimal digits, or decimal. `None` for any other text, such as a path.
pub fn parse(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit()) => (text, 16),
        None => (text, 10),
    };
    // The standard library also reads a sign, which no id has.
    let unsigned = digits.bytes().next().is_some_and(|b| b.is_ascii_hexdigit());
    unsigned.then(|| u64::from_str_radix(digits, radix).ok()).flatten()
}

/// As [`parse`], for an id of 32 bits; `None` also for a larger one.
pub fn parse32(text: &str) -> Option<u32> {
    parse(text)?.try_into().ok()
}

/// The id of a path as World of Warships computes it: CityHash64 of the path below `res/`.
pub fn of_path(path: &str) -> u64 {
    cityhash64(normal_path(path).as_bytes())
}

/// The id of a name as World of Warships computes it: MurmurHash3.
pub fn of_name(name: &str) -> u32 {
    murmur3(name.as_bytes())
}

/// `path` as World of Warships hashes it: `/` between components, no leading slash, not below `res/`.
pub fn normal_path(path: &str) -> Cow<'_, str> {
    slashed(path).map_or_else(|| below_res(path).into(), |path| below_res(&path).to_owned().into())
}

fn below_res(path: &str) -> &str {
    let path = path.trim_start_matches('/');
    path.strip_prefix("res/").unwrap_or(path)
}

/// An id of 64 bits, shown as `0x` and 16 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id64(pub u64);

/// An id of 32 bits, shown as `0x` and 8 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id32(pub u32);

impl Id64 {
    /// The id's text form.
    #[inline]
    pub const fn to_ascii(self) -> [u8; 18] {
        let [a, b, c, d, e, f, g, h] = digits((self.0 >> 32) as u32);
        let [i, j, k, l, m, n, o, p] = digits((self.0 & 0xFFFF_FFFF) as u32);
        [b'0', b'x', a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
    }
}

impl Id32 {
    /// The id's text form.
    #[inline]
    pub const fn to_ascii(self) -> [u8; 10] {
        let [a, b, c, d, e, f, g, h] = digits(self.0);
        [b'0', b'x', a, b, c, d, e, f, g, h]
    }
}

impl fmt::Display for Id64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ascii(&self.to_ascii()))
    }
}

impl fmt::Display for Id32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ascii(&self.to_ascii()))
    }
}

/// The text of what `to_ascii` returns.
#[inline]
#[expect(clippy::expect_used, reason = "`to_ascii` writes hexadecimal digits, 'x' and dashes, whatever the number is")]
pub fn ascii(digits: &[u8]) -> &str {
    std::str::from_utf8(digits).expect("digits are ASCII")
}

/// Eight hexadecimal digits, computed in parallel: exports write ids by the million.
#[inline]
const fn digits(number: u32) -> [u8; 8] {
    // Spreads the half-bytes to one byte each.
    let mut spread = number as u64;
    spread = (spread | spread << 16) & 0x0000_FFFF_0000_FFFF;
    spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF;
    spread = (spread | spread << 4) & 0x0F0F_0F0F_0F0F_0F0F;
    // 1 in each byte above 9: its letter is seven further than the digits.
    let letters = (spread.wrapping_add(0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
    spread.wrapping_add(0x3030_3030_3030_3030).wrapping_add(letters.wrapping_mul(7)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_an_id() {
        let id = 0x6220_887D_C8DB_7739;
        for text in ["0x6220887DC8DB7739", "0X6220887dc8db7739", "6220887DC8DB7739", "7070801488793794361"] {
            assert_eq!(parse(text), Some(id), "{text}");
        }
        // Sixteen digits are hexadecimal, one more or less is decimal.
        assert_eq!(parse("0000000000000042"), Some(0x42));
        assert_eq!(parse("1234567890123456"), Some(0x1234_5678_9012_3456));
        assert_eq!(parse("123456789012345"), Some(123_456_789_012_345));
        assert_eq!(parse("12345678901234567"), Some(12_345_678_901_234_567));
        assert_eq!((parse("0x2a"), parse("42"), parse("18446744073709551615")), (Some(42), Some(42), Some(u64::MAX)));
        for text in ["", "0x", "0x+2a", "+42", "-1", "2A", "0x10000000000000000", "18446744073709551616", " 42", "a/b"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!((parse32("0xFFFFFFFF"), parse32("0x100000000")), (Some(u32::MAX), None));
    }

    #[test]
    fn digits_are_those_of_the_standard_library() {
        let mut rng = fastrand::Rng::with_seed(4);
        for id in [0, 9, 10, 15, 16, 0x99AA_00FF, u64::MAX].into_iter().chain((0..10_000).map(|_| rng.u64(..))) {
            assert_eq!(Id64(id).to_string(), format!("0x{id:016X}"));
            assert_eq!(Id32(id as u32).to_string(), format!("0x{:08X}", id as u32));
            assert_eq!(parse(&Id64(id).to_string()), Some(id));
        }
    }
}
