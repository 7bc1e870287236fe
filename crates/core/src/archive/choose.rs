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
