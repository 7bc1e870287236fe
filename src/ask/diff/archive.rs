//! Archives: files by path, compared by what the indexes say of them.
//!
//! Files of one path are the same where id, CRC-32 and size are; where the indexes have no CRC-32, as of loose files, sizes
//! are compared, and then contents. A file that went and one that came with its CRC-32 and size are one that moved.

use crate::archive::{self, Archive, File};
use crate::asset::Asset;
use crate::codec::xxh64;
use crate::compare::{Comparable, Damaged, Differences, Each, Faults, Field, Keys, Pair, Side, Special, Verdict};
use crate::error::{Error, Result};
use crate::table::Value;
use crate::threads::prelude::*;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

/// The rows of `table` of two archives.
pub(super) fn special<'a>(table: &str, old: &'a Asset, new: &'a Asset) -> Option<Box<dyn Special + 'a>> {
    let both = [old.reader().archive()?, new.reader().archive()?];
    (table == archive::FILES).then(|| Box::new(Files { both, state: RandomState::new() }) as _)
}

struct Files<'a> {
    both: [&'a dyn Archive; 2],
    /// Seeded anew in each run, so that no archive can be made whose paths collide.
    state: RandomState,
}

/// What tells the contents of a file from those of others, where the index has it.
type Content = (u32, u64);

impl<'a> Files<'a> {
    fn file(&self, side: Side, row: u32) -> Result<File<'a>> {
        let [old, new] = self.both;
        if side == Side::Old { old.file(row as usize) } else { new.file(row as usize) }
    }

    fn decoded(&self, side: Side, file: &File<'_>) -> Result<crate::Source> {
        let [old, new] = self.both;
        archive::open(if side == Side::Old { old } else { new }, file, "")
    }

    fn verdict(&self, rows: (u32, u32)) -> Result<Verdict, (Side, Error)> {
        let old = self.file(Side::Old, rows.0).map_err(|e| (Side::Old, e))?;
        let new = self.file(Side::New, rows.1).map_err(|e| (Side::New, e))?;
        let same = if key(&old) != key(&new) {
            return Ok(Verdict::Other);
        } else if old.id != new.id || old.size != new.size {
            false
        } else if let (Some(a), Some(b)) = (old.crc32, new.crc32) {
            a == b
        } else {
            let a = self.decoded(Side::Old, &old).map_err(|e| (Side::Old, e))?;
            let b = self.decoded(Side::New, &new).map_err(|e| (Side::New, e))?;
            a.bytes() == b.bytes()
        };
        Ok(if same { Verdict::Same } else { Verdict::Changed })
    }
}

/// What a file is known by. Several lists may have one path.
fn key<'f>(file: &'f File<'_>) -> (&'f str, Option<&'f str>) {
    (&file.path, file.list.as_deref())
}

/// The contents of a file that has some, as its index tells them.
fn content(file: &File<'_>) -> Option<Content> {
    file.crc32.filter(|_| file.size > 0).map(|crc32| (crc32, file.size))
}

impl Comparable for Files<'_> {
    fn keys(&self, side: Side, faults: &Faults) -> Keys {
        let [old, new] = self.both;
        let len = match (if side == Side::Old { old } else { new }).len() {
            Ok(len) => len.min(super::MAX_ROWS),
            Err(error) => {
                faults.add(side, error);
                0
            }
        };
        let number = |row: usize| u32::try_from(row).unwrap_or(u32::MAX);
        let hash = |row: usize| match self.file(side, number(row)) {
            Ok(file) => Some(self.state.hash_one(key(&file))),
            Err(error) => {
                faults.add(side, error);
                None
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
            fields.push(Field { name: Cow::Borrowed(name), old, new });
        };
        if old.path != new.path {
            field("path", old.path.clone().into_owned().into(), new.path.clone().into_owned().into());
        }
        if old.size == new.size && (old.crc32.is_none() || new.crc32.is_none()) {
            let mut hash = |side, file: &File<'_>| {
                let decoded = self.decoded(side, file).map_err(|error| damaged(side, error)).ok();
                decoded.map_or(Value::Null, |decoded| Value::Id64(xxh64(decoded.bytes(), 0)))
            };
            let (a, b) = (hash(Side::Old, &old), hash(Side::New, &new));
            if a != b {
                field("content", a, b);
            }
        }
    }

    /// A file that moved is known by its new path.
    fn key(&self, pair: Pair) -> Option<Value<'static>> {
        let (Some(_), Some(new)) = (pair.old, pair.new) else { return None };
        let file = self.file(Side::New, new).ok()?;
        file.list.is_none().then(|| file.path.into_owned().into())
    }

    /// Files that went and came with the same contents are ones that moved: those of one name first, each with one.
    fn settle(&self, found: &mut Differences) {
        let mut gone: HashMap<Content, Vec<u32>> = HashMap::new();
        for &row in &found.removed {
            if let Some(content) = self.file(Side::Old, row).ok().as_ref().and_then(content) {
                gone.entry(content).or_default().push(row);
            }
        }
        if gone.is_empty() {
            return;
        }
        let name = |side, row| self.file(side, row).ok().and_then(|f| f.path.rsplit('/').next().map(str::to_owned));
        let mut moved: HashMap<u32, u32> = HashMap::new();
        for same_name in [true, false] {
            for &row in &found.added {
                if moved.contains_key(&row) {
                    continue;
                }
                let Some(content) = self.file(Side::New, row).ok().as_ref().and_then(content) else { continue };
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
        let gone: std::collections::HashSet<u32> = moved.values().copied().collect();
        found.removed.retain(|row| !gone.contains(row));
        found.added.retain(|row| !moved.contains_key(row));
        found.changed.extend(moved.into_iter().map(|(new, old)| (old, new)));
        found.changed.sort_unstable();
    }
}

/// Files of one content of which the one with the same name is looked for.
const MANY: usize = 64;
