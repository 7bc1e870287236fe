//! The list of files: deciphered, and decoded step by step, its records judged as they come (docs/formats/rusty_hearts.md
//! §2, §3).

use super::layout::FileLocation;
use crate::archive::PathIndex;
use crate::budget;
use crate::bytes::{Cursor, Utf16, View};
use crate::codec::ZlibSteps;
use crate::error::{Error, Result};
use crate::lazy::Lazy;
use crate::source::Source;
use std::fmt::Write as _;

/// Decoded bytes for each byte of a list. The published program has room for 15.
const EXPANSION: u64 = 60;

/// The part that errors in decoded bytes name; offsets in it count from the first decoded byte.
const DECODED: &str = "decoded list";

/// The files of a list, or those up to one that was sought.
#[derive(Debug)]
pub(super) struct List {
    pub(super) bytes: Vec<u8>,
    /// The starts of the records of files.
    starts: Vec<u32>,
    pub(super) unnamed: u64,
    /// The error that may hide further files.
    pub(super) damage: Option<Error>,
    /// The number of bytes after the stream.
    pub(super) left: usize,
    index: Lazy<PathIndex>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ListRecord<'a> {
    name: Utf16<'a>,
    pub(super) place: &'a FileLocation,
    /// The start of `place` in the decoded list.
    pub(super) at: View<'a>,
}

impl ListRecord<'_> {
    /// The record's name as a path: with `/` where the game has `\`.
    pub(super) fn path(&self) -> String {
        let mut path = String::with_capacity(self.name.units().len());
        for c in self.name.chars() {
            match c {
                Ok('\\') => path.push('/'),
                Ok(c) => path.push(c),
                // Writing to a string cannot fail.
                Err(unit) => {
                    let _ = write!(path, "\\u{{{unit:x}}}");
                }
            }
        }
        path
    }

    /// Whether its path is `path`, which costs no memory where it is not.
    pub(super) fn is_at(&self, path: &str) -> bool {
        let mut wanted = path.chars();
        for c in self.name.chars() {
            match c.map(|c| if c == '\\' { '/' } else { c }) {
                Ok(c) if wanted.next() == Some(c) => {}
                Ok(_) => return false,
                Err(_) => return self.path() == path,
            }
        }
        wanted.next().is_none()
    }

    /// Whether it could be the first record of a list.
    fn is_likely(&self) -> bool {
        !self.name.is_empty()
            && self.name.units().iter().all(|unit| unit.get() >= 0x20 && unit.get() != u16::from(b'/'))
            && self.place.size.get() >= 0
            && self.place.offset.get() >= 0
    }
}

/// The record at `at`, and where the next one begins.
fn record(bytes: &[u8], at: usize) -> Result<(ListRecord<'_>, usize)> {
    let mut cursor = Cursor::new(View::new(bytes, DECODED).at(at));
    let units = cursor.u16()?;
    let name = cursor.utf16(units.into())?;
    let at = cursor.view();
    Ok((ListRecord { name, place: cursor.read()?, at }, cursor.position()))
}

/// `bytes` with the key taken off, or put on.
pub(super) fn crypt(bytes: &[u8], key: &[u8; 256]) -> Vec<u8> {
    bytes.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key).collect()
}

/// Whether `bytes` begin as a list does.
pub(super) fn is_list(bytes: &[u8], key: &[u8; 256]) -> bool {
    /// Bytes of the stream that hold the first record of any likely list.
    const HEAD: usize = 4 << 10;
    let Some(start) = bytes.first_chunk::<2>() else { return false };
    let is_zlib = matches!(*crypt(start, key), [method, flags]
        if method & 0xF == 8 && method >> 4 <= 7 && flags & 0x20 == 0 && u16::from_be_bytes([method, flags]).is_multiple_of(31));
    if !is_zlib {
        return false;
    }
    let (head, _) = bytes.split_at(bytes.len().min(HEAD));
    let (head, mut decoded) = (crypt(head, key), Vec::new());
    let mut steps = ZlibSteps::new(&head, u64::MAX);
    steps.step(&mut decoded).is_ok() && record(&decoded, 0).is_ok_and(|(record, _)| record.is_likely())
}

impl List {
    /// Reads the list that `source` holds until `stop` says so of a record; says whether it did.
    pub(super) fn read(
        source: &Source,
        key: &[u8; 256],
        mut stop: impl FnMut(&ListRecord<'_>) -> bool,
    ) -> (Self, bool) {
        let stream = crypt(source.bytes(), key);
        let limit = budget::decoded(stream.len() as u64, EXPANSION).min(u32::MAX.into());
        let mut steps = ZlibSteps::new(&stream, limit);
        let mut list =
            Self { bytes: Vec::new(), starts: Vec::new(), unnamed: 0, damage: None, left: 0, index: Lazy::default() };
        let mut at = 0;
        loop {
            match steps.step(&mut list.bytes) {
                Ok(true) => {}
                Ok(false) => break,
                Err(kind) => {
                    let read = stream.len().saturating_sub(steps.unread().len());
                    list.damage = Some(source.view("list").at(read).error(kind));
                    return (list, false);
                }
            }
            // A record that is not whole may become so with the next step.
            while let Ok((record, next)) = record(&list.bytes, at) {
                if record.name.is_empty() {
                    list.unnamed = list.unnamed.saturating_add(1);
                } else {
                    list.starts.push(at.try_into().expect("the limit of decoded bytes is that of a u32"));
                    if stop(&record) {
                        return (list, true);
                    }
                }
                at = next;
            }
        }
        list.left = steps.unread().len();
        if at < list.bytes.len() {
            list.damage = record(&list.bytes, at).err();
        }
        (list, false)
    }

    /// The number of files, without the ones that damage hides.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn record(&self, n: usize) -> Option<ListRecord<'_>> {
        let at = *self.starts.get(n)?;
        record(&self.bytes, at as usize).ok().map(|(record, _)| record)
    }

    /// The numbers and paths of all files.
    fn paths(&self) -> impl Iterator<Item = (usize, String)> {
        (0..self.len()).filter_map(|n| Some((n, self.record(n)?.path())))
    }

    /// The files at `path`, in order.
    pub(super) fn find(&self, path: &str) -> impl Iterator<Item = usize> {
        let index = self.index.get_or_make(|| PathIndex::new(self.paths()));
        index.candidates(path).filter(move |&n| self.record(n).is_some_and(|record| record.is_at(path)))
    }

    /// The files whose path an earlier one has as well.
    pub(super) fn repeated(&self) -> impl Iterator<Item = (usize, String)> {
        self.paths().filter(|(n, path)| self.find(path).next() != Some(*n))
    }
}
