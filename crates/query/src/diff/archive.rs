//! Archives: files by path, compared by their entries in the indexes.
//!
//! Files with one path are equal if id, CRC-32 and size are equal. Without a CRC-32 in the indexes (loose files, plain
//! folders), sizes are compared, then contents. If the volume of one is not installed, their whole entries are
//! compared. A removed file and an added file with the same CRC-32 and size are one moved file.

use super::pair::number;
use crate::archive::{self, Archive, File, Identity};
use crate::asset::Asset;
use crate::codec::crc32;
use crate::compare::{Comparable, Damaged, Differences, Each, Faults, FieldChange, Keys, Pair, Side, Special, Verdict};
use crate::error::{Error, ErrorKind, Result};
use crate::table::Value;
use crate::threads::{self, lock, prelude::*};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Mutex;

pub(super) fn special<'a>(table: &str, old: &'a Asset, new: &'a Asset) -> Option<Box<dyn Special + 'a>> {
    let both = [old.reader().archive()?, new.reader().archive()?];
    if table != archive::FILES {
        return None;
    }
    let (a, b) = threads::join(|| has_identities(both[0]), || has_identities(both[1]));
    Some(Box::new(Files { both, has_identities: a && b, state: RandomState::new(), missing: Mutex::default() }))
}

/// Whether an archive knows its files by the hashes of their paths. This may read all indexes.
fn has_identities(archive: &dyn Archive) -> bool {
    archive.game().is_some_and(|game| game.identity(0).is_some())
}

struct Files<'a> {
    both: [&'a dyn Archive; 2],
    /// Whether files are identified by the hashes of their paths, so that no path of an equal file is built.
    has_identities: bool,
    state: RandomState,
    /// Volumes that are not installed, with the rows with unknown contents in them, by side (old, new).
    missing: Mutex<[BTreeMap<String, BTreeSet<u32>>; 2]>,
}

/// A checksum and a size, which identify the contents of a file.
type Content = (u32, u64);

impl<'a> Files<'a> {
    fn archive(&self, side: Side) -> &'a dyn Archive {
        self.both[side as usize]
    }

    fn file(&self, side: Side, row: u32) -> Result<File<'a>> {
        self.archive(side).file(row as usize)
    }

    fn identity(&self, side: Side, row: u32) -> Option<Identity> {
        self.archive(side).game().filter(|_| self.has_identities)?.identity(row as usize)
    }

    fn key_hash(&self, side: Side, row: u32) -> Result<u64> {
        match self.identity(side, row) {
            Some(identity) => Ok(self.state.hash_one(identity.id)),
            None => Ok(self.state.hash_one(key(&self.file(side, row)?))),
        }
    }

    /// The hash of an unreadable row, which equals no other row.
    fn unknown(&self, side: Side, row: u32) -> u64 {
        self.state.hash_one((side as u8, row))
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

    /// The CRC-32 as outputs show it; `None` for a file in a volume that is not installed.
    fn shown_crc32(&self, side: Side, row: u32, file: &File<'_>, damaged: &mut Damaged<'_>) -> Option<Value<'static>> {
        match self.crc32(side, file) {
            Ok(crc32) => Some(Value::Id32(crc32)),
            Err(error) if self.is_missing(side, row, file, &error) => None,
            Err(error) => {
                damaged(side, error);
                Some(Value::Null)
            }
        }
    }

    /// The contents of these files according to their indexes, or else their bytes, as far as they have one of these sizes.
    fn contents_of(&self, side: Side, rows: &[u32], sizes: &HashSet<u64>) -> Vec<(u32, Content)> {
        let contents = rows.par_iter().filter_map(|&row| {
            let file = self.file(side, row).ok().filter(|file| file.size > 0 && sizes.contains(&file.size))?;
            Some((row, (self.crc32(side, &file).ok()?, file.size)))
        });
        contents.collect()
    }

    fn sizes(&self, side: Side, rows: &[u32]) -> HashSet<u64> {
        rows.iter().filter_map(|row| Some(self.file(side, *row).ok()?.size)).collect()
    }

    /// The last part of the path of a file.
    fn name(&self, side: Side, row: u32) -> Option<String> {
        self.file(side, row).ok()?.path.rsplit('/').next().map(str::to_owned)
    }

    /// Notes a file that cannot be read because its volume is not installed. Returns `false` for any other error.
    fn is_missing(&self, side: Side, row: u32, file: &File<'_>, error: &Error) -> bool {
        let ErrorKind::NotInstalled { what } = error.kind() else { return false };
        let volume = file.volume.as_deref().unwrap_or(what).to_owned();
        lock(&self.missing)[side as usize].entry(volume).or_default().insert(row);
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
        if key(&old) != key(&new) {
            return Ok(Verdict::Other);
        }
        let is_same = same_id(&old, &new)
            && old.size == new.size
            && self.is_same_content(&old, &new).or_else(|(side, error)| {
                let (row, file) = if side == Side::Old { (rows.0, &old) } else { (rows.1, &new) };
                let is_missing = self.is_missing(side, row, file, &error);
                if is_missing { Ok(is_listed_alike(&old, &new)) } else { Err((side, error)) }
            })?;
        Ok(if is_same { Verdict::Same } else { Verdict::Changed })
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
        let hashes = (0..number(len))
            .into_par_iter()
            .map(|row| self.key_hash(side, row).map_err(|error| faults.add(side, error)).ok());
        let hashes: Vec<Option<u64>> = hashes.collect();
        let skipped = (0..).zip(&hashes).filter(|(_, hash)| hash.is_none()).map(|(row, _)| row).collect();
        let hashes = (0..).zip(hashes).map(|(row, hash)| hash.unwrap_or_else(|| self.unknown(side, row))).collect();
        Keys { hashes, skipped }
    }

    fn compare(&self, pairs: &[(u32, u32)], each: &mut Each<'_>) {
        for &pair in pairs {
            each(pair, self.verdict(pair));
        }
    }

    fn contents(&self, side: Side, rows: &[u32]) -> Vec<u64> {
        let contents = rows.iter().map(|&row| match self.file(side, row) {
            Ok(file) => self.state.hash_one((file.crc32, file.size)),
            Err(_) => self.unknown(side, row),
        });
        contents.collect()
    }
}

fn add<'s>(name: &'static str, old: Value<'s>, new: Value<'s>, fields: &mut Vec<FieldChange<'s>>) {
    if old != new {
        fields.push(FieldChange { name: name.into(), old, new });
    }
}

impl Special for Files<'_> {
    fn fields<'s>(&'s self, row: (u32, u32), fields: &mut Vec<FieldChange<'s>>, damaged: &mut Damaged<'_>) {
        let old = self.file(Side::Old, row.0).map_err(|error| damaged(Side::Old, error));
        let new = self.file(Side::New, row.1).map_err(|error| damaged(Side::New, error));
        let (Ok(old), Ok(new)) = (old, new) else { return };
        add("path", old.path.clone().into_owned().into(), new.path.clone().into_owned().into(), fields);
        if old.path == new.path && !same_id(&old, &new) {
            add("id", old.id.map_or(Value::Null, Value::Id64), new.id.map_or(Value::Null, Value::Id64), fields);
        }
        add("size", old.size.into(), new.size.into(), fields);
        let old_crc32 = self.shown_crc32(Side::Old, row.0, &old, damaged);
        match (old_crc32, self.shown_crc32(Side::New, row.1, &new, damaged)) {
            (Some(a), Some(b)) => add("crc32", a, b, fields),
            _ if !is_listed_alike(&old, &new) => {
                add("stored_size", old.stored_size.into(), new.stored_size.into(), fields);
                add("codec", Value::Text(old.codec.name()), Value::Text(new.codec.name()), fields);
            }
            _ => {}
        }
    }

    fn notes(&self) -> Vec<(Side, String)> {
        let [old, new] = &*lock(&self.missing);
        // A volume that both sides lack is one note.
        let only_new = new.keys().filter(|name| !old.contains_key(*name)).map(|name| (Side::New, name));
        let all = old.keys().map(|name| (Side::Old, name)).chain(only_new);
        let notes = all.map(|(side, name)| {
            let counts = [old, new].into_iter().filter_map(|volumes| Some(volumes.get(name)?.len()));
            let files = match counts.max() {
                Some(1) | None => "1 file".to_owned(),
                Some(count) => format!("{count} files"),
            };
            (side, format!("{name} is not installed: {files} in it compared by the list alone"))
        });
        notes.collect()
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
        // Files of a size that only one side has are not read for their contents.
        let mut sizes = self.sizes(Side::Old, &found.removed);
        let new_sizes = self.sizes(Side::New, &found.added);
        sizes.retain(|size| new_sizes.contains(size));
        let mut gone: HashMap<Content, Vec<u32>> = HashMap::new();
        for (row, content) in self.contents_of(Side::Old, &found.removed, &sizes) {
            gone.entry(content).or_default().push(row);
        }
        if gone.is_empty() {
            return;
        }
        let mut moved: HashMap<u32, u32> = HashMap::new();
        let came = self.contents_of(Side::New, &found.added, &sizes);
        for same_name in [true, false] {
            for (row, content) in &came {
                if moved.contains_key(row) {
                    continue;
                }
                let Some(from) = gone.get_mut(content) else { continue };
                let at = match same_name {
                    // Many files of one content, as empty pictures are, would be looked through for each of them.
                    true if from.len() > MANY => None,
                    true => from.iter().position(|&old| self.name(Side::Old, old) == self.name(Side::New, *row)),
                    false => from.len().checked_sub(1),
                };
                if let Some(at) = at {
                    moved.insert(*row, from.swap_remove(at));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use crate::report::Progress;

    /// An archive of these files. A file without a path has a damaged entry, the contents of `torn` cannot be read, and
    /// volumes are not installed.
    struct Listed(Result<Vec<File<'static>>>);

    impl Archive for Listed {
        fn len(&self) -> Result<usize> {
            self.0.as_ref().map(Vec::len).map_err(Error::clone)
        }

        fn file(&self, n: usize) -> Result<File<'_>> {
            let files = self.0.as_ref().map_err(Error::clone)?;
            let file = files.get(n).filter(|file| !file.path.is_empty()).cloned();
            file.ok_or_else(|| Error::of_part(ErrorKind::damaged("the entry"), format!("file {n}")))
        }

        fn stored(&self, file: &File<'_>) -> Result<Source> {
            match &file.volume {
                Some(volume) => Err(Error::of_part(ErrorKind::NotInstalled { what: volume.to_string() }, "")),
                None if file.path.ends_with("torn") => Err(Error::of_part(ErrorKind::damaged("the contents"), "torn")),
                None => Ok(Source::from_vec(&file.path, file.path.as_bytes().to_vec())),
            }
        }
    }

    fn file(path: &'static str, crc32: Option<u32>) -> File<'static> {
        let mut file = File::new(path, path.len() as u64, 0);
        file.crc32 = crc32;
        file
    }

    fn files<'a>(old: &'a Listed, new: &'a Listed) -> Files<'a> {
        Files { both: [old, new], has_identities: false, state: RandomState::new(), missing: Mutex::default() }
    }

    /// The differences, and the damage with its side.
    fn found(of: &Files<'_>) -> (Differences, Vec<String>) {
        let found = super::super::pair::differences(of, &Progress::default(), 0);
        let mut faults: Vec<String> = found.faults.iter().map(|(side, error)| format!("{side:?} {error}")).collect();
        faults.sort();
        (found, faults)
    }

    /// The fields of two files that differ, and the damage with its side.
    fn fields(of: &Files<'_>, rows: (u32, u32)) -> (Vec<String>, Vec<String>) {
        let (mut fields, mut faults) = (Vec::new(), Vec::new());
        of.fields(rows, &mut fields, &mut |side, error| faults.push(format!("{side:?} {error}")));
        let shown = fields.iter().map(|field| format!("{} {} -> {}", field.name, field.old, field.new));
        (shown.collect(), faults)
    }

    #[test]
    fn a_damaged_entry_or_list_is_damage_of_its_side_and_no_file_is_added_or_removed() {
        let whole = Listed(Ok(vec![file("a", Some(1)), file("b", Some(2)), file("c", Some(3))]));
        let torn = Listed(Ok(vec![file("a", Some(9)), file("", None)]));
        let unlisted = Listed(Err(Error::of_part(ErrorKind::damaged("the list"), "")));
        let (differences, faults) = found(&files(&whole, &torn));
        assert_eq!(faults, ["New file 1: the entry"]);
        assert_eq!((differences.removed, differences.added, differences.changed), (vec![], vec![], vec![(0, 0)]));
        let (differences, faults) = found(&files(&unlisted, &whole));
        assert_eq!(faults, ["Old the list"]);
        assert_eq!((differences.added.len(), differences.rows_old, differences.rows_new), (0, 0, 3));
    }

    #[test]
    fn files_with_one_path_are_paired_by_their_contents_first() {
        let old = Listed(Ok(vec![file("a", Some(1)), file("a", Some(2))]));
        let new = Listed(Ok(vec![file("b", Some(7)), file("a", Some(2)), file("a", Some(3)), file("a", Some(1))]));
        let (differences, faults) = found(&files(&old, &new));
        assert_eq!((differences.removed, differences.added, differences.changed), (vec![], vec![0, 2], vec![]));
        assert!(faults.is_empty(), "{faults:?}");
        // A damaged entry has the contents of no other file.
        let torn = Listed(Ok(vec![file("", None), file("", None)]));
        let of = files(&torn, &torn);
        let [old, new] = [Side::Old, Side::New].map(|side| of.contents(side, &[0, 1]));
        assert!(old[0] != old[1] && old.iter().all(|hash| !new.contains(hash)), "{old:?} {new:?}");
    }

    #[test]
    fn a_file_that_differs_is_described_by_what_can_be_read() {
        let with_id = |id| {
            let mut file = file("a", Some(1));
            file.id = Some(id);
            file
        };
        let in_volume = |stored_size| {
            let mut file = file("v", None);
            (file.volume, file.stored_size) = (Some("a.pkg".into()), stored_size);
            file
        };
        let old = Listed(Ok(vec![with_id(1), file("torn", Some(5)), in_volume(8), file("a", Some(1))]));
        let new = Listed(Ok(vec![with_id(2), file("torn", None), in_volume(9), file("b", Some(1))]));
        let of = files(&old, &new);
        for (row, shown, damage) in [
            (0, &["id 0x0000000000000001 -> 0x0000000000000002"][..], &[][..]),
            // The checksum of the new contents is unknown.
            (1, &["crc32 0x00000005 -> "], &["New torn: the contents"]),
            // The contents are unknown in both archives: their lists differ.
            (2, &["stored_size 8 -> 9"], &[]),
            (3, &["path a -> b"], &[]),
        ] {
            let expected = [shown, damage].map(|lines| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
            assert_eq!(<[Vec<String>; 2]>::from(fields(&of, (row, row))), expected, "{row}");
        }
        assert_eq!(
            of.notes(),
            [(Side::Old, "a.pkg is not installed: 1 file in it compared by the list alone".to_owned())]
        );
        // Two paths of one hash are two files.
        assert_eq!(of.verdict((3, 3)).unwrap(), Verdict::Other);
    }
}
