//! Archives: files by path, compared by their entries in the indexes.
//!
//! Files with one path are equal if id, CRC-32 and size are equal. Without a CRC-32 in the indexes (loose files, plain
//! folders), sizes are compared, then contents. If the volume of one is not installed, their whole entries are
//! compared. A removed file and an added file with the same CRC-32 and size are one moved file.

use crate::archive::{self, Archive, File, Identity};
use crate::asset::Asset;
use crate::codec::crc32;
use crate::compare::{Comparable, Damaged, Differences, Each, Faults, Field, Keys, Pair, Side, Special, Verdict};
use crate::error::{Error, ErrorKind, Result};
use crate::table::Value;
use crate::threads::{self, prelude::*};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};

/// The rows of `table` of two archives.
pub(super) fn special<'a>(table: &str, old: &'a Asset, new: &'a Asset) -> Option<Box<dyn Special + 'a>> {
    let both = [old.reader().archive()?, new.reader().archive()?];
    if table != archive::FILES {
        return None;
    }
    let [a, b] = both;
    // The first may read all indexes.
    let first = |archive: &dyn Archive| archive.path_ids()?.identity(0);
    let (a, b) = threads::join(|| first(a).is_some(), || first(b).is_some());
    let has_identities = a && b;
    Some(Box::new(Files { both, has_identities, state: RandomState::new(), missing: Mutex::default() }))
}

struct Files<'a> {
    both: [&'a dyn Archive; 2],
    /// Whether files are known by the hashes of their paths, so that no path is put together of those that are the same.
    has_identities: bool,
    /// Whether files are identified by the hashes of their paths, so that no path of an equal file is built.
    state: RandomState,
    /// Volumes that are not installed, with the rows with unknown contents in them, by side (old, new).
    missing: Mutex<[BTreeMap<String, BTreeSet<u32>>; 2]>,
}

/// A checksum and a size, which identify the contents of a file.
type Content = (u32, u64);

impl<'a> Files<'a> {
    fn archive(&self, side: Side) -> &'a dyn Archive {
        let [old, new] = self.both;
        if side == Side::Old { old } else { new }
    }

    fn file(&self, side: Side, row: u32) -> Result<File<'a>> {
        self.archive(side).file(row as usize)
    }

    fn identity(&self, side: Side, row: u32) -> Option<Identity> {
        self.archive(side).path_ids().filter(|_| self.has_identities)?.identity(row as usize)
    }

    fn decoded(&self, side: Side, file: &File<'_>) -> Result<crate::Source> {
        archive::open(self.archive(side), file, "")
    }

    /// The CRC-32 of a file: the index's, else one of its bytes.
    fn crc32(&self, side: Side, file: &File<'_>) -> Result<u32> {
        match file.crc32 {
            Some(crc32) => Ok(crc32),
            None => Ok(crc32(self.decoded(side, file)?.bytes())),
        }
    }

    /// The contents of a file according to its index, or else its bytes.
    fn content(&self, side: Side, row: u32) -> Option<Content> {
        let file = self.file(side, row).ok().filter(|file| file.size > 0)?;
        Some((self.crc32(side, &file).ok()?, file.size))
    }

    /// Takes note of a file that cannot be read as its volume is not installed. `false` for any other error.
    fn is_missing(&self, side: Side, row: u32, file: &File<'_>, error: &Error) -> bool {
        let ErrorKind::NotInstalled { what } = error.kind() else { return false };
        let volume = file.volume.as_deref().unwrap_or(what).to_owned();
        let [old, new] = &mut *self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let of_side = if side == Side::Old { old } else { new };
        of_side.entry(volume).or_default().insert(row);
        true
    }

    /// Whether two files of one size have the same contents.
    fn is_same_content(&self, old: &File<'_>, new: &File<'_>) -> Result<bool, (Side, Error)> {
        if old.crc32.is_some() || new.crc32.is_some() {
            let a = self.crc32(Side::Old, old).map_err(|e| (Side::Old, e))?;
            return Ok(a == self.crc32(Side::New, new).map_err(|e| (Side::New, e))?);
        }
        let a = self.decoded(Side::Old, old).map_err(|e| (Side::Old, e))?;
        let b = self.decoded(Side::New, new).map_err(|e| (Side::New, e))?;
        Ok(a.bytes() == b.bytes())
    }

    fn verdict(&self, rows: (u32, u32)) -> Result<Verdict, (Side, Error)> {
        if let (Some(old), Some(new)) = (self.identity(Side::Old, rows.0), self.identity(Side::New, rows.1)) {
            match (old.crc32, new.crc32) {
                _ if old.id != new.id => return Ok(Verdict::Other),
                _ if old.size != new.size => return Ok(Verdict::Changed),
                (Some(a), Some(b)) => return Ok(if a == b { Verdict::Same } else { Verdict::Changed }),
                // Loose files.
                _ => {}
            }
        }
        let old = self.file(Side::Old, rows.0).map_err(|e| (Side::Old, e))?;
        let new = self.file(Side::New, rows.1).map_err(|e| (Side::New, e))?;
        let same = if key(&old) != key(&new) {
            return Ok(Verdict::Other);
        } else if !same_id(&old, &new) || old.size != new.size {
            false
        } else {
            match self.is_same_content(&old, &new) {
                Err((Side::Old, error)) if self.is_missing(Side::Old, rows.0, &old, &error) => {
                    is_listed_alike(&old, &new)
                }
                Err((Side::New, error)) if self.is_missing(Side::New, rows.1, &new, &error) => {
                    is_listed_alike(&old, &new)
                }
                found => found?,
            }
        };
        Ok(if same { Verdict::Same } else { Verdict::Changed })
    }
}

/// The key of a file. Several lists may have one path.
fn key<'f>(file: &'f File<'_>) -> (&'f str, Option<&'f str>) {
    (&file.path, file.list.as_deref())
}

/// Whether two files of one size are stored in the same way, if both are in volumes: a loose file is uncompressed.
fn is_listed_alike(old: &File<'_>, new: &File<'_>) -> bool {
    let is_loose = old.volume.is_none() || new.volume.is_none();
    is_loose || (old.stored_size, old.codec) == (new.stored_size, new.codec)
}

/// Whether two files have the same id, if both have one.
fn same_id(old: &File<'_>, new: &File<'_>) -> bool {
    old.id.zip(new.id).is_none_or(|(old, new)| old == new)
}

impl Comparable for Files<'_> {
    fn keys(&self, side: Side, faults: &Faults) -> Keys {
        let len = match self.archive(side).len() {
            Ok(len) => len.min(super::table::MAX_ROWS),
            Err(error) => {
                faults.add(side, error);
                0
            }
        };
        self.archive(side).damage().into_iter().for_each(|error| faults.add(side, error));
        let number = |row: usize| u32::try_from(row).unwrap_or(u32::MAX);
        let hash = |row: usize| {
            if let Some(identity) = self.identity(side, number(row)) {
                return Some(self.state.hash_one(identity.id));
            }
            match self.file(side, number(row)) {
                Ok(file) => Some(self.state.hash_one(key(&file))),
                Err(error) => {
                    faults.add(side, error);
                    None
                }
            }
        };
        let hashes: Vec<Option<u64>> = (0..len).into_par_iter().map(hash).collect();
        let skipped =
            hashes.iter().enumerate().filter(|(_, hash)| hash.is_none()).map(|(row, _)| number(row)).collect();
        let unknown = |row: usize| self.state.hash_one((side as u8, row));
        let hashes = hashes.into_iter().enumerate().map(|(row, hash)| hash.unwrap_or_else(|| unknown(row))).collect();
        Keys { hashes, skipped }
    }

    fn compare(&self, pairs: &[(u32, u32)], each: &mut Each<'_>) {
        for &pair in pairs {
            each(pair, self.verdict(pair));
        }
    }

    fn contents(&self, side: Side, rows: &[u32]) -> Vec<u64> {
        let content = |&row: &u32| self.file(side, row).map(|file| self.state.hash_one((file.crc32, file.size)));
        rows.iter().map(|row| content(row).unwrap_or(0)).collect()
    }
}

impl Special for Files<'_> {
    fn fields<'s>(&'s self, row: (u32, u32), fields: &mut Vec<Field<'s>>, damaged: &mut Damaged<'_>) {
        let mut file = |side, row| self.file(side, row).map_err(|error| damaged(side, error)).ok();
        let (Some(old), Some(new)) = (file(Side::Old, row.0), file(Side::New, row.1)) else { return };
        let mut field = |name: &'static str, old: Value<'s>, new: Value<'s>| {
            if old == new {
                return;
            }
            fields.push(Field { name: Cow::Borrowed(name), old, new });
        };
        field("path", old.path.clone().into_owned().into(), new.path.clone().into_owned().into());
        if old.path == new.path && !same_id(&old, &new) {
            field("id", old.id.map_or(Value::Null, Value::Id64), new.id.map_or(Value::Null, Value::Id64));
        }
        field("size", old.size.into(), new.size.into());
        // `None` for a file in a volume that is not installed.
        let mut crc32 = |side, row, file: &File<'_>| match self.crc32(side, file) {
            Ok(crc32) => Some(Value::Id32(crc32)),
            Err(error) if self.is_missing(side, row, file, &error) => None,
            Err(error) => {
                damaged(side, error);
                Some(Value::Null)
            }
        };
        match (crc32(Side::Old, row.0, &old), crc32(Side::New, row.1, &new)) {
            (Some(a), Some(b)) => field("crc32", a, b),
            _ if !is_listed_alike(&old, &new) => {
                field("stored_size", old.stored_size.into(), new.stored_size.into());
                field("codec", Value::Text(old.codec.name()), Value::Text(new.codec.name()));
            }
            _ => {}
        }
    }

    fn notes(&self) -> Vec<(Side, String)> {
        let [old, new] = &*self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let count = |volumes: &BTreeMap<String, BTreeSet<u32>>, name| volumes.get(name).map_or(0, BTreeSet::len);
        // A volume that both sides lack is one note.
        let only_new = new.keys().filter(|name| !old.contains_key(*name)).map(|name| (Side::New, name));
        let all = old.keys().map(|name| (Side::Old, name)).chain(only_new);
        let note = |(side, name)| {
            let files = match count(old, name).max(count(new, name)) {
                1 => "1 file".to_owned(),
                count => format!("{count} files"),
            };
            (side, format!("{name} is not installed: {files} in it compared by the list alone"))
        };
        all.map(note).collect()
    }

    fn says_all(&self) -> bool {
        true
    }

    /// A file that moved is known by its new path.
    fn key(&self, pair: Pair) -> Option<Value<'static>> {
        let (Some(_), Some(new)) = (pair.old, pair.new) else { return None };
        let file = self.file(Side::New, new).ok()?;
        file.list.is_none().then(|| file.path.into_owned().into())
    }

    /// Pairs removed and added files of the same contents as moved files: files with the same name first, each once.
    fn settle(&self, found: &mut Differences) {
        let sizes = |side, rows: &[u32]| {
            let size = |row: &u32| self.file(side, *row).ok().map(|file| file.size);
            rows.iter().filter_map(size).collect::<HashSet<u64>>()
        };
        // Files of a size that only one side has are not read for their contents.
        let (old, new) = (sizes(Side::Old, &found.removed), sizes(Side::New, &found.added));
        let contents = |side, rows: &[u32]| -> Vec<(u32, Option<Content>)> {
            let may_match = |row: u32| {
                let size = self.file(side, row).map_or(0, |file| file.size);
                old.contains(&size) && new.contains(&size)
            };
            rows.par_iter().map(|&row| (row, may_match(row).then(|| self.content(side, row)).flatten())).collect()
        };
        let mut gone: HashMap<Content, Vec<u32>> = HashMap::new();
        for (row, content) in contents(Side::Old, &found.removed) {
            if let Some(content) = content {
                gone.entry(content).or_default().push(row);
            }
        }
        if gone.is_empty() {
            return;
        }
        let name = |side, row| self.file(side, row).ok().and_then(|f| f.path.rsplit('/').next().map(str::to_owned));
        let mut moved: HashMap<u32, u32> = HashMap::new();
        let came = contents(Side::New, &found.added);
        for same_name in [true, false] {
            for &(row, content) in &came {
                if moved.contains_key(&row) {
                    continue;
                }
                let Some(content) = content else { continue };
                let Some(from) = gone.get_mut(&content) else { continue };
                let at = match same_name {
                    // Many files of one content, as empty pictures are, would be looked through for each of them.
                    true if from.len() > MANY => None,
                    true => from.iter().position(|&old| name(Side::Old, old) == name(Side::New, row)),
                    false => from.len().checked_sub(1),
                };
                if let Some(at) = at {
                    moved.insert(row, from.swap_remove(at));
                }
            }
        }
        let gone: HashSet<u32> = moved.values().copied().collect();
        found.removed.retain(|row| !gone.contains(row));
        found.added.retain(|row| !moved.contains_key(row));
        found.changed.extend(moved.into_iter().map(|(new, old)| (old, new)));
        found.changed.sort_unstable();
    }
}

/// The limit of files with one content among which a file with the same name is searched.
const MANY: usize = 64;
