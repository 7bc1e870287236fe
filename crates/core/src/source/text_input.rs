//! Text of the user: UTF-8, or UTF-16 as `>` of Windows PowerShell 5 and the "Unicode text" of spreadsheets write it.

#![allow(clippy::arithmetic_side_effects, reason = "positions in a buffer")]

use crate::bytes::{BOM, View, is_utf16, without_bom};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::io::{self, BufRead, ErrorKind, Read};

/// Reads a text as UTF-8, without its byte order mark. A text that begins with the mark of UTF-16 is converted.
///
/// Reads no more than its input has ready, unless the first byte may begin a mark: a terminal is not waited for.
#[derive(Debug)]
pub struct TextInput<R> {
    from: R,
    encoding: Encoding,
    /// UTF-8 that was read from the input and not yet from here.
    ready: Vec<u8>,
    /// The part of `ready` that was read.
    used: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Unknown,
    Utf8,
    Utf16 { is_big: bool },
}

/// Units that are converted at once.
const UNITS: u64 = 1 << 15;

impl<R: BufRead> TextInput<R> {
    pub fn new(from: R) -> Self {
        Self { from, encoding: Encoding::Unknown, ready: Vec::new(), used: 0 }
    }

    /// Skips the byte order mark, if any.
    fn begin(&mut self) -> io::Result<()> {
        let first = self.from.fill_buf()?.first().copied();
        let most = match first {
            Some(0xEF) => 3,
            Some(0xFE | 0xFF) => 2,
            _ => 0,
        };
        self.from.by_ref().take(most).read_to_end(&mut self.ready)?;
        self.encoding = Encoding::Utf8;
        if is_utf16(&self.ready) {
            self.encoding = Encoding::Utf16 { is_big: first == Some(0xFE) };
        }
        if self.encoding != Encoding::Utf8 || self.ready == BOM.as_bytes() {
            self.ready.clear();
        }
        Ok(())
    }

    /// Converts the next units.
    fn convert(&mut self, is_big: bool) -> io::Result<()> {
        self.ready.clear();
        self.used = 0;
        let mut bytes = Vec::new();
        self.from.by_ref().take(2 * UNITS).read_to_end(&mut bytes)?;
        let unit = |pair: &[u8; 2]| if is_big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) };
        let mut units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(unit).collect();
        if units.last().is_some_and(|unit| matches!(unit, 0xD800..0xDC00)) {
            // The other half of the character.
            let mut half = [0; 2];
            self.from.read_exact(&mut half).map_err(|_| wrong())?;
            units.push(unit(&half));
        }
        if bytes.len() % 2 == 1 {
            return Err(wrong());
        }
        self.ready = String::from_utf16(&units).map_err(|_| wrong())?.into_bytes();
        Ok(())
    }
}

fn wrong() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "its text in UTF-16 lacks half of a character")
}

impl<R: BufRead> BufRead for TextInput<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.encoding == Encoding::Unknown {
            self.begin()?;
        }
        if self.used >= self.ready.len()
            && let Encoding::Utf16 { is_big } = self.encoding
        {
            self.convert(is_big)?;
        }
        match self.ready.get(self.used..) {
            None | Some([]) if self.encoding == Encoding::Utf8 => self.from.fill_buf(),
            ready => Ok(ready.unwrap_or_default()),
        }
    }

    fn consume(&mut self, bytes: usize) {
        if self.used < self.ready.len() {
            self.used += bytes;
        } else {
            self.from.consume(bytes);
        }
    }
}

impl<R: BufRead> Read for TextInput<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

/// The text of a file in memory, without its byte order mark.
///
/// # Errors
/// `Io` for UTF-16 with half of a character, and `Text` for other bytes that are not UTF-8.
pub fn text_of(bytes: &[u8]) -> Result<Cow<'_, str>> {
    if is_utf16(bytes) {
        let mut text = String::new();
        TextInput::new(bytes).read_to_string(&mut text).map_err(|error| Error::io("cannot read", error))?;
        return Ok(Cow::Owned(text));
    }
    View::new(bytes, "").utf8(bytes).map(|text| Cow::Borrowed(without_bom(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn wide(text: &str, is_big: bool) -> Vec<u8> {
        let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
        units.flat_map(|unit| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    }

    fn read(bytes: &[u8], at_once: usize) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        TextInput::new(BufReader::with_capacity(at_once, bytes)).read_to_end(&mut text).map(|_| text)
    }

    #[test]
    fn texts_of_each_encoding_are_the_same_text() {
        let text = format!("a,ä,😀\r\n{}", "😀".repeat(40_000));
        for bytes in
            [text.clone().into_bytes(), format!("{BOM}{text}").into_bytes(), wide(&text, false), wide(&text, true)]
        {
            for at_once in [1, 2, 7, 1 << 16] {
                assert!(read(&bytes, at_once).unwrap() == text.as_bytes(), "{:x?} {at_once}", &bytes[..4]);
            }
            assert!(text_of(&bytes).unwrap() == text);
        }
    }

    #[test]
    fn other_bytes_stay_as_they_are() {
        for bytes in [&b""[..], b"\xEF", b"\xEF\xBB", b"\xFF", b"\xFEabc", b"glTF\0\0"] {
            assert_eq!(read(bytes, 1).unwrap(), bytes);
        }
    }

    #[test]
    fn half_of_a_character_is_an_error() {
        for bytes in [&b"\xFF\xFEa"[..], b"\xFF\xFE\x00\xD8", b"\xFF\xFE\x00\xDC", b"\xFE\xFF\xD8\x00\x00a"] {
            let error = read(bytes, 1).unwrap_err().to_string();
            assert!(error.contains("UTF-16"), "{bytes:x?}: {error}");
        }
    }
}
