use super::le;
use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// The byte order mark, which some programs write before a text.
pub const BOM: &str = "\u{FEFF}";

/// Whether a file that begins with these bytes is a text in UTF-16.
pub fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF")
}

/// `text` without the byte order mark before it.
pub fn without_bom(text: &str) -> &str {
    text.strip_prefix(BOM).unwrap_or(text)
}

/// The shown form of a text: bytes that are not UTF-8 are shown as `\xff`, so that nothing is lost.
#[inline]
pub fn shown(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(escaped(bytes)),
    }
}

#[cold]
fn escaped(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len().saturating_mul(2));
    for chunk in bytes.utf8_chunks() {
        shown.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// Borrowed little-endian UTF-16 text. Compared in place; turned into UTF-8 only on output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Utf16<'a> {
    units: &'a [le::U16],
}

impl<'a> Utf16<'a> {
    #[inline]
    pub const fn new(units: &'a [le::U16]) -> Self {
        Self { units }
    }

    #[inline]
    pub const fn units(&self) -> &'a [le::U16] {
        self.units
    }

    /// Whether it has no units.
    pub const fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The text without the NULs at its end.
    #[must_use]
    pub fn trim_nul(self) -> Self {
        let mut units = self.units;
        while let [rest @ .., last] = units
            && last.get() == 0
        {
            units = rest;
        }
        Self { units }
    }

    /// The text's characters; a surrogate without its partner is the error that holds it.
    pub fn chars(self) -> impl Iterator<Item = Result<char, u16>> + 'a {
        char::decode_utf16(self.units.iter().map(|u| u.get())).map(|c| c.map_err(|e| e.unpaired_surrogate()))
    }

    /// The index of the first surrogate without its partner, if there is one.
    pub fn first_unpaired(self) -> Option<usize> {
        let mut at = 0usize;
        for c in self.chars() {
            match c {
                Ok(c) => at = at.saturating_add(c.len_utf16()),
                Err(_) => return Some(at),
            }
        }
        None
    }
}

impl PartialEq<str> for Utf16<'_> {
    fn eq(&self, other: &str) -> bool {
        self.units.iter().map(|u| u.get()).eq(other.encode_utf16())
    }
}

impl PartialEq<&str> for Utf16<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

/// A surrogate without its partner is shown as `\u{d800}`, so that no two different texts look the same.
impl fmt::Display for Utf16<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.units;
        while let Some(first) = rest.first() {
            // Most text is ASCII, which is written many characters at a time.
            let mut ascii = [0u8; 64];
            let mut run = 0usize;
            for (unit, byte) in rest.iter().zip(&mut ascii) {
                let [low, high] = unit.get().to_le_bytes();
                if high != 0 || low > 0x7F {
                    break;
                }
                *byte = low;
                run = run.saturating_add(1);
            }
            if let (1.., Ok(text)) = (run, std::str::from_utf8(ascii.split_at(run).0)) {
                f.write_str(text)?;
                rest = rest.split_at(run).1;
                continue;
            }
            let (len, written) = match (Utf16 { units: rest }).chars().next() {
                Some(Ok(c)) => (c.len_utf16(), f.write_char(c)),
                _ => (1, write!(f, "\\u{{{:x}}}", first.get())),
            };
            written?;
            rest = rest.split_at(len).1;
        }
        Ok(())
    }
}

impl fmt::Debug for Utf16<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &[u16]) -> Vec<le::U16> {
        text.iter().map(|&u| le::U16::new(u)).collect()
    }

    #[test]
    fn compares_without_conversion_and_shows_as_text() {
        let stored = units(&"Über 😀\0\0".encode_utf16().collect::<Vec<_>>());
        let text = Utf16::new(&stored).trim_nul();
        assert!(text == "Über 😀");
        assert!(text != "Über");
        assert_eq!(text.to_string(), "Über 😀");
        assert_eq!(text.first_unpaired(), None);
    }

    /// Runs of ASCII of every length around the size in which they are written.
    #[test]
    fn shows_long_text_of_mixed_characters() {
        for run in [0, 1, 63, 64, 65, 127, 128, 200] {
            let text = format!("{}é{}😀{}", "a".repeat(run), "b".repeat(run), "c".repeat(run));
            let stored = units(&text.encode_utf16().collect::<Vec<_>>());
            assert_eq!(Utf16::new(&stored).to_string(), text);
        }
    }

    #[test]
    fn an_unpaired_surrogate_is_shown_and_found() {
        let stored = units(&[0x61, 0xD800, 0x62]);
        assert_eq!(Utf16::new(&stored).to_string(), "a\\u{d800}b");
        assert_eq!(Utf16::new(&stored).first_unpaired(), Some(1));
    }
}
