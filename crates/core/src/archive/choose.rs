//! The files of an archive that are written out, and their names there.

use super::{Archive, File};
use crate::error::{Error, ErrorKind, Result};
use std::collections::{HashMap, HashSet};

/// Times that the bytes of all volumes may be read: files of an archive may share bytes, and files that overlap on
/// purpose could otherwise be decoded without end.
pub(super) const SHARED: u64 = 8;

/// The files whose path `wanted` accepts, in the order of the archive, each under a unique name: a name that equals an
/// earlier one, ignoring case, gets a number at its end. Names are the archive's and may be unfit for files. `damaged`
/// gets the error of each entry that cannot be read.
///
/// # Errors
/// `Limit` when the files overlap so that they take many times the bytes of their volumes; as [`Archive::len`].
pub fn choose<'a>(
    archive: &'a dyn Archive,
    wanted: impl Fn(&str) -> bool,
    mut damaged: impl FnMut(Error),
) -> Result<Vec<(String, File<'a>)>> {
    let mut taken = HashSet::new();
    let mut chosen = Vec::new();
    for n in 0..archive.len()? {
        match archive.file(n) {
            Ok(file) if wanted(&file.path) => {
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
    archive.damage().into_iter().for_each(damaged);
    check_shared(archive, chosen.iter().map(|(_, file)| file))?;
    Ok(chosen)
}

/// Refuses files whose stored bytes overlap so much that their sum is many times the size of the volumes. A file
/// outside of its volume is not counted, because none of its bytes is read.
///
/// # Errors
/// `Limit`.
pub(super) fn check_shared<'a>(archive: &dyn Archive, files: impl Iterator<Item = &'a File<'a>>) -> Result<()> {
    let in_volumes = files.filter(|file| file.installed && file.stored_size > 0);
    let in_volumes: Vec<_> = in_volumes.filter_map(|file| Some((file.volume.as_deref()?, file))).collect();
    if in_volumes.is_empty() {
        return Ok(());
    }
    let volumes = archive.volumes()?;
    let sizes: HashMap<&str, u64> = volumes.iter().filter_map(|volume| Some((&*volume.name, volume.size?))).collect();
    let fits = |(volume, file): &&(&str, &File<'_>)| {
        let end = file.offset.unwrap_or(0).checked_add(file.stored_size);
        sizes.get(volume).is_none_or(|size| end.is_some_and(|end| end <= *size))
    };
    let value = in_volumes.iter().filter(fits).map(|(_, file)| file.stored_size).fold(0, u64::saturating_add);
    let there = volumes.iter().filter_map(|volume| volume.size).fold(0, u64::saturating_add);
    let limit = there.saturating_mul(SHARED);
    if value > limit {
        let kind = ErrorKind::Limit { what: "bytes of all files together, which overlap", value, limit };
        return Err(Error::of_part(kind, "volumes"));
    }
    Ok(())
}
