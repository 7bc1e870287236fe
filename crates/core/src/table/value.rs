use super::Kind;
use crate::bytes::Utf16;
use std::borrow::Cow;
use std::fmt;

/// One cell of a table, or one leaf or branch of an entry. Text borrows from the map if it is stored as UTF-8.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value<'a> {
    /// Nothing: the format has no value here.
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    /// A single-precision float.
    F32(f32),
    /// A double-precision float.
    F64(f64),
    /// A 64-bit id.
    Id64(u64),
    /// A 32-bit hash.
    Id32(u32),
    Guid(Guid),
    Text(Cow<'a, str>),
    /// UTF-16 text in the file.
    Utf16(Utf16<'a>),
    /// Values in order.
    List(Vec<Value<'a>>),
    /// Values with names, in order.
    Map(Vec<(Cow<'a, str>, Value<'a>)>),
}

/// A GUID in the byte order of .NET: the first three groups little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Guid(pub [u8; 16]);

impl Guid {
    /// The text form: lower case, with dashes.
    pub fn to_ascii(self) -> [u8; 36] {
        const DIGITS: [u8; 16] = *b"0123456789abcdef";
        const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = self.0;
        let mut text = [b'-'; 36];
        for (byte, at) in [d, c, b, a, f, e, h, g, i, j, k, l, m, n, o, p].into_iter().zip(PLACES) {
            text[at] = DIGITS[usize::from(byte >> 4)];
            text[at + 1] = DIGITS[usize::from(byte & 15)];
        }
        text
    }

    /// The GUID that `text` is: with dashes, in upper or lower case.
    pub fn parse(text: &str) -> Option<Self> {
        let mut digits = [0u8; 32];
        let mut next = digits.iter_mut();
        for (at, byte) in text.bytes().enumerate() {
            match (at, byte) {
                (8 | 13 | 18 | 23, b'-') => {}
                (8 | 13 | 18 | 23, _) => return None,
                _ => *next.next()? = u8::try_from(char::from(byte).to_digit(16)?).ok()?,
            }
        }
        if next.next().is_some() {
            return None;
        }
        let mut bytes = [0u8; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = pair.iter().fold(0, |byte, digit| byte << 4 | digit);
        }
        let [d, c, b, a, f, e, h, g, rest @ ..] = bytes;
        let [i, j, k, l, m, n, o, p] = rest;
        Some(Self([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]))
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(crate::id::ascii(&self.to_ascii()))
    }
}

impl<'a> Value<'a> {
    /// Text that is borrowed.
    #[inline]
    pub const fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// Generated text.
    pub const fn owned(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }

    /// A list of single-precision floats, as in a position or a matrix.
    pub fn floats(values: impl IntoIterator<Item = f32>) -> Self {
        Self::List(values.into_iter().map(Self::F32).collect())
    }

    /// The text of a value with a hash and a text, because it is more useful than the hash.
    pub fn named(&self) -> Option<&Self> {
        let Self::Map(parts) = self else { return None };
        match &**parts {
            [(_, Self::Id64(_) | Self::Id32(_)), (name, text @ Self::Text(_))]
                if matches!(&**name, "text" | "path") =>
            {
                Some(text)
            }
            _ => None,
        }
    }

    /// The kind of columns with such values; `None` for null.
    pub const fn kind(&self) -> Option<Kind> {
        Some(match self {
            Self::Null => return None,
            Self::Bool(_) => Kind::Bool,
            Self::Int(_) => Kind::Int,
            Self::Uint(_) => Kind::Uint,
            Self::F32(_) => Kind::F32,
            Self::F64(_) => Kind::F64,
            Self::Id64(_) => Kind::Id64,
            Self::Id32(_) => Kind::Id32,
            Self::Guid(_) => Kind::Guid,
            Self::Text(_) | Self::Utf16(_) => Kind::Text,
            Self::List(_) | Self::Map(_) => Kind::Nested,
        })
    }

    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The text of a text value: borrowed, or converted from UTF-16.
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Utf16(text) => Some(Cow::Owned(text.to_string())),
            _ => None,
        }
    }

    /// The same value; texts are borrowed from this one.
    pub fn borrowed(&self) -> Value<'_> {
        match self {
            Self::Text(text) => Value::text(text),
            other => other.clone(),
        }
    }

    /// Copies borrowed parts, so that the value is independent of the file.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(v) => Value::Bool(v),
            Self::Int(v) => Value::Int(v),
            Self::Uint(v) => Value::Uint(v),
            Self::F32(v) => Value::F32(v),
            Self::F64(v) => Value::F64(v),
            Self::Id64(v) => Value::Id64(v),
            Self::Id32(v) => Value::Id32(v),
            Self::Guid(v) => Value::Guid(v),
            Self::Text(v) => Value::owned(v.into_owned()),
            Self::Utf16(v) => Value::owned(v.to_string()),
            Self::List(v) => Value::List(v.into_iter().map(Value::into_owned).collect()),
            Self::Map(v) => {
                Value::Map(v.into_iter().map(|(k, v)| (Cow::Owned(k.into_owned()), v.into_owned())).collect())
            }
        }
    }
}

macro_rules! value_from {
    ($($from:ty => $variant:ident as $to:ty),+ $(,)?) => {$(
        impl From<$from> for Value<'_> {
            #[inline]
            fn from(value: $from) -> Self {
                Self::$variant(<$to>::from(value))
            }
        }
    )+};
}
value_from! {
    bool => Bool as bool,
    i8 => Int as i64, i16 => Int as i64, i32 => Int as i64, i64 => Int as i64,
    u8 => Uint as u64, u16 => Uint as u64, u32 => Uint as u64, u64 => Uint as u64,
    f32 => F32 as f32, f64 => F64 as f64, Guid => Guid as Guid, String => Text as Cow<'static, str>,
}

impl From<usize> for Value<'_> {
    #[inline]
    fn from(value: usize) -> Self {
        Self::Uint(value as u64)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    #[inline]
    fn from(value: &'a str) -> Self {
        Self::text(value)
    }
}

impl<'a> From<Utf16<'a>> for Value<'a> {
    #[inline]
    fn from(value: Utf16<'a>) -> Self {
        Self::Utf16(value)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    #[inline]
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<'a, T: Into<Value<'a>>> From<Vec<T>> for Value<'a> {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_guids_have_the_fixed_form() {
        assert_eq!(Value::Id64(0xA330_4644_2D83_27FC).to_string(), "0xA33046442D8327FC");
        assert_eq!(Value::Id64(1).to_string(), "0x0000000000000001");
        assert_eq!(Value::Id32(0x10C3_0510).to_string(), "0x10C30510");
        let bytes = [0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF];
        assert_eq!(Guid(bytes).to_string(), "00112233-4455-6677-8899-aabbccddeeff");
        for text in ["00112233-4455-6677-8899-aabbccddeeff", "00112233-4455-6677-8899-AABBCCDDEEFF"] {
            assert_eq!(Guid::parse(text), Some(Guid(bytes)));
        }
        let wrong = ["", "00112233-4455-6677-8899-aabbccddeef", "00112233-4455-6677-8899-aabbccddeeff0"];
        let more = [
            "00112233445566778899aabbccddeeff",
            "0011223g-4455-6677-8899-aabbccddeeff",
            "{G}00112233-4455-6677-8899-aabbccddeeff",
        ];
        for text in wrong.iter().chain(&more) {
            assert_eq!(Guid::parse(text), None, "{text}");
        }
    }

    #[test]
    fn nested_values_read_as_lists() {
        let value = Value::Map(vec![("a".into(), Value::floats([1.0, 0.5])), ("b".into(), Value::Null)]);
        assert_eq!(value.to_string(), "{a: [1, 0.5], b: }");
    }
}
