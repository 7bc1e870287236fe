//! Leaves of a pickle, decoded from the opcodes that make them.

use super::op;
use crate::bytes::View;
use crate::error::{ErrorKind, Result};
use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Leaf<'a> {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer that needs all 64 bits.
    Wide(u64),
    Float(f64),
    /// A text, or an integer that does not fit into 64 bits by its digits.
    Text(Cow<'a, str>),
}

pub(super) fn kind(data: &[u8], at: usize) -> NodeKind {
    match data.get(at).copied().unwrap_or(op::NONE) {
        op::TRUE | op::FALSE => NodeKind::Bool,
        op::INT if matches!(data.get(at..), Some([_, b'0', b'0' | b'1', b'\n', ..])) => NodeKind::Bool,
        op::INT | op::BININT | op::BININT1 | op::BININT2 | op::LONG | op::LONG1 | op::LONG4 => NodeKind::Int,
        op::FLOAT | op::BINFLOAT => NodeKind::Float,
        op::NONE => NodeKind::Null,
        _ => NodeKind::Text,
    }
}

/// How the text of an opcode is stored.
enum Stored<'a> {
    Utf8(&'a [u8]),
    /// Bytes of Python 2: UTF-8 as a rule.
    Bytes(&'a [u8]),
    /// A literal of Python 2, with quotes and escapes.
    Literal(&'a [u8]),
    /// Latin-1, with `\u` escapes.
    Escaped(&'a [u8]),
}

/// The line at `view`, without its end.
pub(super) fn line(view: View<'_>) -> Result<&[u8]> {
    let rest = view.rest();
    let line = memchr::memchr(b'\n', rest).and_then(|end| rest.get(..end));
    line.ok_or_else(|| view.error(ErrorKind::damaged("a line without an end")))
}

/// The bytes after a length of `N` bytes.
pub(super) fn sized<'a, const N: usize>(view: View<'a>) -> Result<&'a [u8]> {
    let mut size = [0; 8];
    size.iter_mut().zip(view.take(N)?).for_each(|(to, from)| *to = *from);
    let len = u64::from_le_bytes(size);
    // The lengths of 32 bits of Python 2 are signed; none is that large.
    let behind = view.skip(N);
    behind.take(usize::try_from(len).map_err(|_| behind.bad_value("length", len))?)
}

fn stored<'a>(at: View<'a>) -> Result<Option<Stored<'a>>> {
    let behind = at.skip(1);
    Ok(Some(match at.take(1)?.first().copied().unwrap_or(op::NONE) {
        op::SHORT_BINUNICODE => Stored::Utf8(sized::<1>(behind)?),
        op::BINUNICODE => Stored::Utf8(sized::<4>(behind)?),
        op::BINUNICODE8 => Stored::Utf8(sized::<8>(behind)?),
        op::SHORT_BINSTRING | op::SHORT_BINBYTES => Stored::Bytes(sized::<1>(behind)?),
        op::BINSTRING | op::BINBYTES => Stored::Bytes(sized::<4>(behind)?),
        op::BINBYTES8 => Stored::Bytes(sized::<8>(behind)?),
        op::STRING => Stored::Literal(line(behind)?),
        op::UNICODE => Stored::Escaped(line(behind)?),
        // The name of a class, after the line of its module.
        op::GLOBAL => Stored::Utf8(line(behind.skip(line(behind)?.len().saturating_add(1)))?),
        _ => return Ok(None),
    }))
}

/// The bytes of a text in one of the usual forms. They are UTF-8, or of Python 2.
#[inline]
fn usual(at: View<'_>) -> Option<&[u8]> {
    match at.rest() {
        [op::SHORT_BINUNICODE | op::SHORT_BINSTRING, len, rest @ ..] => rest.get(..usize::from(*len)),
        [op::BINUNICODE | op::BINSTRING, a, b, c, d, rest @ ..] => {
            rest.get(..usize::try_from(u32::from_le_bytes([*a, *b, *c, *d])).ok()?)
        }
        _ => None,
    }
}

/// The bytes of the text at `at`, or of the line that has the digits of a number; 0 for any other leaf.
pub(super) fn text_size(at: View<'_>) -> usize {
    match (stored(at), at.rest()) {
        (Ok(Some(Stored::Utf8(text) | Stored::Bytes(text) | Stored::Literal(text) | Stored::Escaped(text))), _) => {
            text.len()
        }
        (_, [op::INT | op::LONG | op::FLOAT, ..]) => line(at.skip(1)).map_or(0, <[u8]>::len),
        _ => 0,
    }
}

/// Whether the leaf at `at` is a text that begins with `start`, which is ASCII.
#[inline]
pub(super) fn begins_with(at: View<'_>, start: &str) -> bool {
    match usual(at) {
        Some(bytes) => bytes.starts_with(start.as_bytes()),
        None => matches!(read(at), Ok(Leaf::Text(found)) if found.starts_with(start)),
    }
}

/// Whether the leaf at `at` is the text `text`, which `is_ascii` or not: the caller compares one text with many leaves.
#[inline]
pub(super) fn is_text(at: View<'_>, text: &str, is_ascii: bool) -> bool {
    // Bytes that differ from ASCII text differ in any encoding.
    if let Some(bytes) = usual(at)
        && (is_ascii || bytes == text.as_bytes())
    {
        return bytes == text.as_bytes();
    }
    match stored(at) {
        Ok(Some(Stored::Utf8(bytes))) => bytes == text.as_bytes(),
        // Bytes that are not UTF-8 are latin-1.
        Ok(Some(Stored::Bytes(bytes))) => bytes == text.as_bytes() || (!bytes.is_ascii() && lenient(bytes) == text),
        Ok(Some(_)) => matches!(read(at), Ok(Leaf::Text(found)) if found == text),
        _ => false,
    }
}

pub(super) fn read(at: View<'_>) -> Result<Leaf<'_>> {
    if let Some(stored) = stored(at)? {
        return Ok(Leaf::Text(match stored {
            Stored::Utf8(bytes) => Cow::Borrowed(at.utf8(bytes)?),
            Stored::Bytes(bytes) => lenient(bytes),
            Stored::Literal(line) => literal(at, line)?,
            Stored::Escaped(line) => escaped(line),
        }));
    }
    let behind = at.skip(1);
    Ok(match at.take(1)?.first().copied().unwrap_or(op::NONE) {
        op::TRUE => Leaf::Bool(true),
        op::FALSE => Leaf::Bool(false),
        op::BININT1 => Leaf::Int((*behind.read::<u8>()?).into()),
        op::BININT2 => Leaf::Int(behind.read::<crate::bytes::le::U16>()?.get().into()),
        op::BININT => Leaf::Int(behind.read::<crate::bytes::le::I32>()?.get().into()),
        op::BINFLOAT => Leaf::Float(f64::from_be_bytes(*behind.read::<[u8; 8]>()?)),
        op::LONG1 => long(at, sized::<1>(behind)?)?,
        op::LONG4 => long(at, sized::<4>(behind)?)?,
        op::INT => match line(behind)? {
            b"00" => Leaf::Bool(false),
            b"01" => Leaf::Bool(true),
            digits => digits_of(at, digits)?,
        },
        op::LONG => {
            let digits = line(behind)?;
            digits_of(at, digits.strip_suffix(b"L").unwrap_or(digits))?
        }
        op::FLOAT => {
            let text = at.utf8(line(behind)?)?;
            let Ok(number) = text.trim().parse() else {
                return Err(at.error(ErrorKind::damaged(format!("{text:?} is no number"))));
            };
            Leaf::Float(number)
        }
        _ => Leaf::Null,
    })
}

/// An integer as little-endian bytes in two's complement.
fn long<'a>(at: View<'a>, bytes: &[u8]) -> Result<Leaf<'a>> {
    const MOST: usize = 16;
    if bytes.len() > MOST {
        let kind = ErrorKind::Limit { what: "bytes of an integer", value: bytes.len() as u64, limit: MOST as u64 };
        return Err(at.error(kind));
    }
    let fill = if bytes.last().is_some_and(|byte| byte & 0x80 != 0) { 0xFF } else { 0 };
    let mut wide = [fill; MOST];
    wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    let number = i128::from_le_bytes(wide);
    Ok(fitting(number).unwrap_or_else(|| Leaf::Text(number.to_string().into())))
}

fn fitting(number: i128) -> Option<Leaf<'static>> {
    i64::try_from(number).map(Leaf::Int).or_else(|_| u64::try_from(number).map(Leaf::Wide)).ok()
}

/// An integer by its decimal digits.
fn digits_of<'a>(at: View<'a>, digits: &'a [u8]) -> Result<Leaf<'a>> {
    let text = at.utf8(digits)?.trim();
    if let Some(found) = text.parse::<i128>().ok().and_then(fitting) {
        return Ok(found);
    }
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(at.error(ErrorKind::damaged(format!("{text:?} is no integer"))));
    }
    Ok(Leaf::Text(text.into()))
}

/// Bytes that are UTF-8 as a rule, and latin-1 otherwise.
fn lenient(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(latin1(bytes)),
    }
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// The value of `count` hexadecimal digits at the start of `bytes`.
fn hex(bytes: &[u8], count: usize) -> Option<u32> {
    let digits = std::str::from_utf8(bytes.get(..count)?).ok()?;
    if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) { u32::from_str_radix(digits, 16).ok() } else { None }
}

/// A text of opcode `V`: latin-1 with `\uXXXX` and `\UXXXXXXXX`. Halves of surrogate pairs that are escaped one after the
/// other are one character; a half by itself is shown as U+FFFD.
fn escaped(line: &[u8]) -> Cow<'_, str> {
    if line.is_ascii() && memchr::memchr(b'\\', line).is_none() {
        return Cow::Borrowed(std::str::from_utf8(line).expect("ASCII is UTF-8"));
    }
    let mut units: Vec<u16> = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&first, left)) = rest.split_first() {
        let escape = match left {
            [b'u', digits @ ..] if first == b'\\' => hex(digits, 4).zip(digits.get(4..)),
            [b'U', digits @ ..] if first == b'\\' => hex(digits, 8).zip(digits.get(8..)),
            _ => None,
        };
        match escape {
            Some((code, left)) => {
                match u16::try_from(code) {
                    Ok(unit) => units.push(unit),
                    Err(_) => {
                        let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                        units.extend(c.encode_utf16(&mut [0; 2]).iter());
                    }
                }
                rest = left;
            }
            None => {
                units.push(first.into());
                rest = left;
            }
        }
    }
    Cow::Owned(String::from_utf16_lossy(&units))
}

/// A text of opcode `S`: a literal of Python 2, in quotes.
fn literal<'a>(at: View<'a>, line: &'a [u8]) -> Result<Cow<'a, str>> {
    let quoted = match line {
        [b'\'', inner @ .., b'\''] | [b'"', inner @ .., b'"'] => inner,
        _ => return Err(at.error(ErrorKind::damaged("a text without quotes"))),
    };
    if memchr::memchr(b'\\', quoted).is_none() {
        return Ok(lenient(quoted));
    }
    let mut bytes = Vec::with_capacity(quoted.len());
    let mut rest = quoted;
    while let Some((&first, left)) = rest.split_first() {
        rest = left;
        if first != b'\\' {
            bytes.push(first);
            continue;
        }
        let Some((&code, left)) = rest.split_first() else { break };
        rest = left;
        match code {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'r' => bytes.push(b'\r'),
            b'a' => bytes.push(7),
            b'b' => bytes.push(8),
            b'f' => bytes.push(12),
            b'v' => bytes.push(11),
            b'\\' | b'\'' | b'"' => bytes.push(code),
            b'x' => match hex(left, 2).and_then(|code| u8::try_from(code).ok()).zip(left.get(2..)) {
                Some((byte, left)) => {
                    bytes.push(byte);
                    rest = left;
                }
                None => return Err(at.error(ErrorKind::damaged("\\x without two digits in a text"))),
            },
            b'0'..=b'7' => {
                let more = left.iter().take(2).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
                let (more, left) = left.split_at(more);
                // Python keeps the lower eight bits.
                bytes.push(more.iter().fold(code & 7, |value, byte| value << 3 | byte & 7));
                rest = left;
            }
            other => bytes.extend([b'\\', other]),
        }
    }
    Ok(Cow::Owned(lenient(&bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(bytes: &[u8]) -> Leaf<'_> {
        read(View::new(bytes, "test")).unwrap()
    }

    #[test]
    fn numbers_of_every_opcode() {
        for (bytes, expected) in [
            (&b"I-7\n"[..], Leaf::Int(-7)),
            (b"I01\n", Leaf::Bool(true)),
            (b"I00\n", Leaf::Bool(false)),
            (b"K\xFF", Leaf::Int(255)),
            (b"M\x01\x02", Leaf::Int(513)),
            (b"J\xFF\xFF\xFF\xFF", Leaf::Int(-1)),
            (b"L4179506384L\n", Leaf::Int(4_179_506_384)),
            (b"L18446744073709551615L\n", Leaf::Wide(u64::MAX)),
            (
                b"L-99999999999999999999999999999999999999999L\n",
                Leaf::Text("-99999999999999999999999999999999999999999".into()),
            ),
            (b"\x8A\x00", Leaf::Int(0)),
            (b"\x8A\x05\xD0\x34\x1E\xF9\x00", Leaf::Int(4_179_506_384)),
            (b"\x8A\x01\x80", Leaf::Int(-128)),
            (b"\x8A\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01", Leaf::Text("18446744073709551616".into())),
            (b"F1.5e3\n", Leaf::Float(1500.0)),
            (b"G\x3F\xE0\0\0\0\0\0\0", Leaf::Float(0.5)),
            (b"N", Leaf::Null),
            (b"\x88", Leaf::Bool(true)),
        ] {
            assert_eq!(leaf(bytes), expected, "{bytes:?}");
        }
        for bytes in [
            &b"Ix\n"[..],
            b"I\n",
            b"L12",
            b"Fx\n",
            b"\x8A\x05\x01",
            b"\x8B\x11\0\0\0zzzzzzzzzzzzzzzzz",
            b"Sabc\n",
            b"S'\\x9'\n",
        ] {
            assert!(read(View::new(bytes, "test")).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn texts_of_every_opcode() {
        let text = |bytes| match leaf(bytes) {
            Leaf::Text(text) => text.into_owned(),
            other => panic!("{other:?}"),
        };
        for (bytes, expected) in [
            (&b"X\x03\0\0\0abc"[..], "abc"),
            (b"\x8C\x02\xC3\xA4", "\u{e4}"),
            (b"\x8D\x01\0\0\0\0\0\0\0a", "a"),
            (b"U\x01\xE4", "\u{e4}"),
            (b"T\x02\0\0\0\xC3\xA4", "\u{e4}"),
            (b"C\x01a", "a"),
            (b"Va\\u00e4\xE4\\ud83d\\ude00\\x\n", "a\u{e4}\u{e4}\u{1f600}\\x"),
            (b"S'a\\n\\x41\\101\\'\\\\\\q'\n", "a\nAA'\\\\q"),
            (b"S\"it's\"\n", "it's"),
            (b"S'\\n\\t\\r\\a\\b\\f\\v'\n", "\n\t\r\u{7}\u{8}\u{c}\u{b}"),
            (b"V\\U0001f600\\U00e4\n", "\u{1f600}\\U00e4"),
            // Past the last character of Unicode.
            (b"V\\UFFFFFFFF\n", "\u{fffd}"),
            (b"B\x02\0\0\0\xC3\xA4", "\u{e4}"),
            (b"\x8E\x01\0\0\0\0\0\0\0a", "a"),
        ] {
            assert_eq!(text(bytes), expected, "{bytes:?}");
            assert!(is_text(View::new(bytes, "test"), expected, expected.is_ascii()), "{bytes:?}");
            assert!(!is_text(View::new(bytes, "test"), "other", true), "{bytes:?}");
        }
        assert!(read(View::new(b"X\x01\0\0\0\xE4", "test")).is_err());
    }
}

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NodeKind {
    /// `None`.
    Null,
    /// A truth value.
    Bool,
    /// An integer.
    Int,
    Float,
    /// A text, or the bytes that Python 2 has for texts.
    Text,
    /// A list, a tuple or a set.
    List,
    /// A dictionary.
    Dict,
    /// An object of a class of the game.
    Object,
}

impl NodeKind {
    /// The name that outputs use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float",
            Self::Text => "text",
            Self::List => "list",
            Self::Dict => "dict",
            Self::Object => "object",
        }
    }

    /// Whether values of this kind have further values in them.
    pub const fn is_container(self) -> bool {
        matches!(self, Self::List | Self::Dict | Self::Object)
    }
}
