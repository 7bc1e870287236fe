//! The files of an archive that are written out, and their names there.

use super::{Archive, File, Volume};
use crate::error::{Error, ErrorKind, Result};
use std::collections::{HashMap, HashSet};

/// Times that the bytes of all volumes may be read: files of an archive may share bytes, and files that overlap on
/// purpose could otherwise be decoded without end.
const SHARED: u64 = 8;
/// The minimum budget: more than files that share a few bytes in a small archive ever take.
const LEAST: u64 = 64 << 20;

/// The files that `wanted` accepts, in the order of the archive, each under a unique name: a name that equals an
/// earlier one, ignoring case, gets a number at its end. Names are the archive's and may be unfit for files. `damaged`
/// gets the error of each entry that cannot be read.
///
/// Files that overlap so much that they would take many times the bytes of their volumes are left out, each with an error.
///
/// # Errors
/// As [`Archive::len`].
pub fn choose<'a>(
    archive: &'a dyn Archive,
    wanted: impl Fn(&File<'a>) -> bool,
    mut damaged: impl FnMut(Error),
) -> Result<Vec<(String, File<'a>)>> {
    let mut taken = HashSet::new();
    let mut chosen = Vec::new();
    for n in 0..archive.len()? {
        match archive.file(n) {
            Ok(file) if wanted(&file) => {
                let mut name = file.path.clone().into_owned();
                while !taken.insert(name.to_lowercase()) {
                    name = format!("{name}~{n}");
                }
                chosen.push((name, file));
            }
            Ok(_) => {}
            Err(error) => damaged(error),
        }
    }
    archive.damage().into_iter().for_each(&mut damaged);
    let mut budget = StoredBudget::new(archive)?;
    chosen.retain(|(name, file)| match budget.spend(file) {
        Ok(()) => true,
        Err(error) => {
            damaged(error.context(name));
            false
        }
    });
    Ok(chosen)
}

/// The stored bytes that files may still take from the volumes of an archive. Files may share bytes.
pub(super) struct StoredBudget {
    sizes: HashMap<String, u64>,
    spent: u64,
    limit: u64,
}

impl StoredBudget {
    /// The budget for all files of `archive`.
    ///
    /// # Errors
    /// As [`Archive::volumes`].
    pub(super) fn new(archive: &dyn Archive) -> Result<Self> {
        let volumes = archive.volumes()?;
        let there = volumes.iter().filter_map(Volume::known_size).fold(0, u64::saturating_add);
        let sizes = volumes.iter().filter_map(|volume| Some((volume.name.to_string(), volume.known_size()?))).collect();
        Ok(Self { sizes, spent: 0, limit: there.saturating_mul(SHARED).max(LEAST) })
    }

    /// Charges the stored bytes of a file. A file outside of its volume costs nothing, because none of its bytes is read.
    ///
    /// # Errors
    /// `Limit` if they do not fit; a smaller file may still do.
    pub(super) fn spend(&mut self, file: &File<'_>) -> Result<()> {
        let place = file.volume.as_deref().zip(file.offset).filter(|_| file.installed);
        let Some((volume, offset)) = place else { return Ok(()) };
        let end = offset.checked_add(file.stored_size);
        if self.sizes.get(volume).is_some_and(|size| end.is_none_or(|end| end > *size)) {
            return Ok(());
        }
        let (value, limit) = (self.spent.saturating_add(file.stored_size), self.limit);
        if value > limit {
            let kind = ErrorKind::Limit { what: "bytes of all files together, which overlap", value, limit };
            return Err(Error::of_part(kind, "volumes"));
        }
        self.spent = value;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    /// Files that all have the same bytes of one volume.
    struct Overlapping {
        files: usize,
        size: u64,
    }

    impl Archive for Overlapping {
        fn len(&self) -> Result<usize> {
            Ok(self.files)
        }

        fn file(&self, n: usize) -> Result<File<'_>> {
            let stored = File::new(["a", "A"][n % 2], self.size, 0);
            Ok(File { volume: Some("volume".into()), offset: Some(0), installed: true, ..stored })
        }

        fn stored(&self, _: &File<'_>) -> Result<Source> {
            Ok(Source::from_vec("volume", vec![0; self.size as usize]))
        }

        fn volumes(&self) -> Result<Vec<Volume>> {
            Ok(vec![Volume::new("volume", Ok(Some(self.size)), self.files as u64)])
        }
    }

    #[test]
    fn files_that_overlap_are_written_up_to_a_multiple_of_their_volume() {
        let archive = Overlapping { files: 10, size: LEAST / SHARED };
        let mut left_out = Vec::new();
        let chosen = choose(&archive, |_| true, |error| left_out.push(error.to_string())).unwrap();
        let names: Vec<&str> = chosen.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["a", "A~1", "a~2", "A~3", "a~4", "A~5", "a~6", "A~7"]);
        assert!(left_out.len() == 2 && left_out[0].contains("which overlap"), "{left_out:?}");
        assert_eq!(archive.stored(&chosen[0].1).unwrap().bytes().len() as u64, LEAST / SHARED);
    }
}
