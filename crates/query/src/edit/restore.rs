//! The exact bytes that an undo file brings back: ranges of the new file, and the bytes that were replaced.

use super::{Cells, Piece, Pieces, refused};
use crate::codec::xxh64;
use crate::error::Result;
use crate::table::Value;
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
    /// The file that it is applied to.
    pub old: Fingerprint,
    /// The file that it gives.
    pub new: Fingerprint,
    pieces: Vec<Piece>,
}

impl Restore {
    pub(super) fn new(pieces: &Pieces, old: &[u8], new: &[u8]) -> Self {
        let pieces = pieces.inverse(old).list().to_vec();
        Self { old: Fingerprint::bytes(new), new: Fingerprint::bytes(old), pieces }
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
        Value::Map(vec![
            ("table".into(), Value::Null),
            ("change".into(), "restored".into()),
            ("key".into(), Value::Null),
            ("old".into(), Value::Map(self.old.value())),
            ("new".into(), Value::Map(new)),
        ])
    }

    /// The pieces that a row of an undo file states; `None` for any other row.
    pub(super) fn read(old: Option<&Cells>, new: Option<&Cells>) -> Option<Self> {
        let (old, new) = (old?, new?);
        let Value::List(pieces) = named(new, "pieces")? else { return None };
        let pieces = pieces.iter().map(piece).collect::<Option<_>>()?;
        Some(Self { old: Fingerprint::read(old)?, new: Fingerprint::read(new)?, pieces })
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
