//! The exact bytes that an undo file brings back: ranges of the new file, and the bytes that were replaced.

use super::{Cells, Piece, Pieces, refused};
use crate::codec::xxh64;
use crate::error::Result;
use crate::table::Value;
use std::borrow::Cow;
use std::fmt::Write as _;

/// The size and digest that tell a file from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    /// The file's size in bytes.
    pub size: u64,
    /// The XXH64 of the file's bytes.
    pub content: u64,
}

impl Fingerprint {
    fn bytes(bytes: &[u8]) -> Self {
        Self { size: bytes.len() as u64, content: xxh64(bytes, 0) }
    }

    /// Whether it is the fingerprint of these bytes.
    pub(super) fn is_of(self, bytes: &[u8]) -> bool {
        self.size == bytes.len() as u64 && self.content == xxh64(bytes, 0)
    }

    fn value(self) -> Cells {
        vec![("size".into(), self.size.into()), ("content".into(), Value::Id64(self.content))]
    }

    fn read(cells: &Cells) -> Option<Self> {
        match (named(cells, "size")?, named(cells, "content")?) {
            (Value::Uint(size), Value::Text(content)) => {
                Some(Self { size: *size, content: crate::id::parse(content)? })
            }
            _ => None,
        }
    }
}

fn named<'c>(cells: &'c Cells, wanted: &str) -> Option<&'c Value<'static>> {
    cells.iter().find(|(name, _)| name == wanted).map(|(_, value)| value)
}

/// The pieces that bring the bytes of a file back from the file that was made of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Restore {
    /// The edited file in an archive, if these are pieces of the archive. The rows of the patch are rows of the edited file.
    pub inner: Option<String>,
    /// The file that it is applied to.
    pub old: Fingerprint,
    /// The file that it gives.
    pub new: Fingerprint,
    pieces: Vec<Piece>,
    /// The differences that only these bytes undo, and no row of the patch.
    pub unpatched: Vec<String>,
}

impl Restore {
    pub(super) fn new(pieces: &Pieces, old: &[u8], new: &[u8]) -> Self {
        let pieces = pieces.inverse(old).list().to_vec();
        let (old, new) = (Fingerprint::bytes(new), Fingerprint::bytes(old));
        Self { inner: None, old, new, pieces, unpatched: Vec::new() }
    }

    /// The row of a patch that says this.
    pub fn row(&self) -> Value<'static> {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Keep(range) => Value::List(vec![range.start.into(), range.end.into()]),
            Piece::New(bytes) => {
                let mut text = String::with_capacity(bytes.len() * 2);
                for byte in bytes {
                    // Writing to a String cannot fail.
                    let _ = write!(text, "{byte:02x}");
                }
                Value::owned(text)
            }
        });
        let mut new = self.new.value();
        new.push(("pieces".into(), Value::List(pieces.collect())));
        if !self.unpatched.is_empty() {
            new.push(("unpatched".into(), Value::List(self.unpatched.iter().cloned().map(Value::owned).collect())));
        }
        Value::Map(vec![
            ("table".into(), Value::Null),
            ("change".into(), "restored".into()),
            ("key".into(), self.inner.clone().into()),
            ("old".into(), Value::Map(self.old.value())),
            ("new".into(), Value::Map(new)),
        ])
    }

    /// The pieces that a row of an undo file states; `None` for any other row.
    pub(super) fn read(key: &Value<'static>, old: Option<&Cells>, new: Option<&Cells>) -> Option<Self> {
        let (old, new) = (old?, new?);
        let unpatched = match named(new, "unpatched") {
            Some(Value::List(names)) => names.iter().map(|name| name.as_text().map(Cow::into_owned)).collect(),
            Some(_) => None,
            None => Some(Vec::new()),
        };
        let Value::List(pieces) = named(new, "pieces")? else { return None };
        let pieces = pieces.iter().map(piece).collect::<Option<_>>()?;
        Some(Self {
            inner: key.as_text().map(Cow::into_owned),
            old: Fingerprint::read(old)?,
            new: Fingerprint::read(new)?,
            pieces,
            unpatched: unpatched?,
        })
    }

    pub(super) fn pieces(&self, len: usize) -> Result<Pieces> {
        let mut pieces = Pieces::new();
        let mut size = 0u64;
        for piece in &self.pieces {
            match piece {
                Piece::Keep(range) if range.start > range.end || range.end > len => {
                    return Err(refused("an undo that leaves the file"));
                }
                Piece::Keep(range) => {
                    pieces.keep(range.clone());
                    size += range.len() as u64;
                }
                Piece::New(bytes) => {
                    pieces.insert(bytes.as_slice());
                    size += bytes.len() as u64;
                }
            }
            // Ranges may be named again and again.
            if size > self.new.size {
                break;
            }
        }
        if size != self.new.size {
            return Err(refused("an undo that gives a file of another size than it says"));
        }
        Ok(pieces)
    }
}

/// The piece that a value of a row is: the two ends of a range, or bytes in hexadecimal digits.
fn piece(value: &Value<'static>) -> Option<Piece> {
    match value {
        Value::List(range) => match range[..] {
            [Value::Uint(start), Value::Uint(end)] => Some(Piece::Keep(start.try_into().ok()?..end.try_into().ok()?)),
            _ => None,
        },
        Value::Text(text) => {
            let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
            let bytes = pairs.iter().map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok());
            bytes.collect::<Option<_>>().map(Piece::New)
        }
        _ => None,
    }
}
