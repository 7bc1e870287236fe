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
        let get = |wanted: &str| cells.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
        let Some(Value::Uint(size)) = get("size") else { return None };
        let Some(Value::Text(content)) = get("content") else { return None };
        Some(Self { size: *size, content: crate::id::parse(content)? })
    }
}

/// The pieces that bring the bytes of a file back from the file that was made of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Restore {
    /// The file that it is applied to.
    pub old: Fingerprint,
    /// The file that it gives.
    pub new: Fingerprint,
    pieces: Vec<StoredPiece>,
}

#[derive(Debug, Clone, PartialEq)]
enum StoredPiece {
    Keep(u64, u64),
    New(Vec<u8>),
}

impl Restore {
    pub(super) fn new(pieces: &Pieces, old: &[u8], new: &[u8]) -> Self {
        let back = pieces.inverse(old);
        let part = |piece: &Piece| match piece {
            Piece::Keep(range) => StoredPiece::Keep(range.start as u64, range.end as u64),
            Piece::New(bytes) => StoredPiece::New(bytes.clone()),
        };
        Self {
            old: Fingerprint::bytes(new),
            new: Fingerprint::bytes(old),
            pieces: back.list().iter().map(part).collect(),
        }
    }

    /// The row of a patch that says this.
    pub fn row(&self) -> Value<'static> {
        let pieces = self.pieces.iter().map(|part| match part {
            StoredPiece::Keep(start, end) => Value::List(vec![(*start).into(), (*end).into()]),
            StoredPiece::New(bytes) => {
                let mut text = String::with_capacity(bytes.len().saturating_mul(2));
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

    /// The pieces that a row of a patch says, where it is such a row.
    pub(super) fn read(old: Option<&Cells>, new: Option<&Cells>) -> Option<Self> {
        let (old, new) = (old?, new?);
        let (_, Value::List(pieces)) = new.iter().find(|(name, _)| name == "pieces")? else { return None };
        let part = |piece: &Value<'static>| match piece {
            Value::List(range) => match range[..] {
                [Value::Uint(start), Value::Uint(end)] => Some(StoredPiece::Keep(start, end)),
                _ => None,
            },
            Value::Text(text) => {
                let pairs = text.as_bytes().chunks(2);
                let byte =
                    |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok().filter(|p| p.len() == 2)?, 16).ok();
                pairs.map(byte).collect::<Option<Vec<u8>>>().map(StoredPiece::New)
            }
            _ => None,
        };
        let pieces = pieces.iter().map(part).collect::<Option<Vec<_>>>()?;
        Some(Self { old: Fingerprint::read(old)?, new: Fingerprint::read(new)?, pieces })
    }

    /// The pieces, for a file of `len` bytes.
    pub(super) fn pieces(&self, len: usize) -> Result<Pieces> {
        let mut pieces = Pieces::new();
        let mut size = 0u64;
        for part in &self.pieces {
            match part {
                StoredPiece::Keep(start, end) => {
                    let range = usize::try_from(*start).ok().zip(usize::try_from(*end).ok());
                    let range = range.filter(|(start, end)| start <= end && *end <= len);
                    let (start, end) = range.ok_or_else(|| refused("an undo that leaves the file"))?;
                    pieces.keep(start..end);
                    size += end.saturating_sub(start) as u64;
                }
                StoredPiece::New(bytes) => {
                    pieces.put(bytes.as_slice());
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
