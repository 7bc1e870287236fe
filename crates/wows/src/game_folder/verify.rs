//! Walks all indexes, and the ends of all files in the volumes that are there, and lists what is wrong.

use super::index::{Index, StoredFile};
use super::tree::Tree;
use super::volumes::{check_trailer, file_name};
use super::{WowsArchive, ids::Ids};
use crate::archive::Archive;
use crate::codec::cityhash64;
use crate::error::{ErrorKind, Result};
use crate::report::{Check, Progress, Report, counted};
use crate::threads::prelude::*;

pub(super) fn game(game: &WowsArchive, progress: &Progress) -> Report {
    let indexes = game.indexes();
    let resources: u64 = indexes.iter().map(|index| index.resource_count() as u64).fold(0, u64::saturating_add);
    let files: u64 = indexes.iter().map(|index| index.file_count() as u64).fold(0, u64::saturating_add);
    progress.announce(resources.saturating_add(files));
    let tree = game.tree();
    vec![
        opened(game),
        each(indexes, "checksums", |_, index, check| {
            check.note(index.check());
        })
        .with_detail(format!("{} indexes", indexes.len())),
        each(indexes, "ids", |n, index, check| paths(game, tree, n, index, check, progress))
            .with_detail(format!("{resources} folders and files")),
        volumes(game),
        twice(game),
        ranges(game, progress),
    ]
    .into()
}

fn each(indexes: &[Index], name: &'static str, check: impl Fn(usize, &Index, &mut Check) + Sync) -> Check {
    let checks = indexes.par_iter().enumerate().map(|(n, index)| {
        let mut found = Check::new(name);
        check(n, index, &mut found);
        found.context(index.name())
    });
    checks.reduce(|| Check::new(name), Check::merge)
}

fn opened(game: &WowsArchive) -> Check {
    let mut check = Check::new("indexes");
    for error in game.damage() {
        check.fail(error);
    }
    check.with_detail(format!("{} opened", game.indexes().len()))
}

/// Checks that each id is the hash of the path in the names, and that each file has a name.
fn paths(game: &WowsArchive, tree: &Tree, at: usize, index: &Index, check: &mut Check, progress: &Progress) {
    for (n, resource) in (0..index.resource_count()).map_while(|n| Some((n, index.resource(n)?))) {
        match tree.join(game.naming_indexes(), (at, n)) {
            Ok(path) => {
                let computed = cityhash64(path.as_bytes());
                if computed != resource.id {
                    check.fail_with(|| {
                        let (algorithm, stored) = ("CityHash64", resource.id);
                        let kind = ErrorKind::Checksum { algorithm, stored, computed };
                        resource.view().error(kind).context(path)
                    });
                }
            }
            Err(error) => check.fail_with(|| error.context(format_args!("resource {n}"))),
        }
    }
    progress.advance(index.resource_count() as u64);
}

/// Checks that each volume has a valid file name, and the hash of the name as id.
fn volumes(game: &WowsArchive) -> Check {
    let mut check = Check::new("volumes");
    let mut count = 0u64;
    for index in game.indexes() {
        for volume in (0..index.volume_count()).map_while(|n| index.volume(n)) {
            count = count.saturating_add(1);
            let named = file_name(&volume).and_then(|name| match cityhash64(name.as_bytes()) {
                computed if computed == volume.id => Ok(()),
                computed => {
                    let kind = ErrorKind::Checksum { algorithm: "CityHash64", stored: volume.id, computed };
                    Err(volume.view().error(kind).context(name))
                }
            });
            check.note(named.map_err(|error| error.context(index.name())));
        }
    }
    check.with_detail(counted(count, "name"))
}

/// Checks that no file is in two indexes with other bytes.
fn twice(game: &WowsArchive) -> Check {
    let mut check = Check::new("files");
    let count = game.indexes().iter().map(Index::file_count).fold(0, usize::saturating_add);
    let mut first = Ids::with_capacity(count);
    let mut places = Vec::with_capacity(count);
    for index in game.indexes() {
        for (n, file) in (0..index.file_count()).map_while(|n| Some((n, index.file(n)?))) {
            if first.insert(file.id, places.len()) {
                places.push((file.size, file.crc32));
            } else if first.get(file.id).and_then(|at| places.get(at)) != Some(&(file.size, file.crc32)) {
                check.fail_with(|| {
                    index
                        .file_view(n)
                        .error(ErrorKind::damaged(format!("file {:#018X} is there already, with other bytes", file.id)))
                        .context(index.name())
                });
            }
        }
    }
    check.with_detail(counted(count, "entry"))
}

/// The files seen in a part of the indexes, summed up.
struct Seen {
    check: Check,
    missing: u64,
    trailers: u64,
    unknown: u64,
}

impl Seen {
    fn new() -> Self {
        Self { check: Check::new("ranges and trailers"), missing: 0, trailers: 0, unknown: 0 }
    }

    fn of(game: &WowsArchive, index: &Index) -> Self {
        let mut seen = Self::new();
        let has_trailers = index.variant().has_trailers();
        let archive: &dyn Archive = game;
        for (n, entry) in (0..index.file_count()).map_while(|n| Some((n, index.file(n)?))) {
            seen.unknown = seen.unknown.saturating_add(u64::from(!archive.decodes(entry.codec())));
            match look(game, index, n, &entry) {
                Ok(()) => seen.trailers = seen.trailers.saturating_add(u64::from(has_trailers)),
                Err(error) if matches!(error.kind(), ErrorKind::NotInstalled { .. }) => {
                    seen.missing = seen.missing.saturating_add(1);
                }
                Err(error) => {
                    seen.check.fail_with(|| error.context(format_args!("{}: file {n}", index.name())));
                }
            }
        }
        seen
    }

    fn merge(self, other: Self) -> Self {
        Self {
            check: self.check.merge(other.check),
            missing: self.missing.saturating_add(other.missing),
            trailers: self.trailers.saturating_add(other.trailers),
            unknown: self.unknown.saturating_add(other.unknown),
        }
    }
}

/// Checks the place of file `n` of an index in its volume, and its trailer.
fn look(game: &WowsArchive, index: &Index, n: usize, entry: &StoredFile) -> Result<()> {
    let volume = game.volume_of(index, n, entry)?;
    volume.check(entry.offset, entry.stored_size)?;
    if index.variant().has_trailers() {
        check_trailer(volume, entry.offset.saturating_add(entry.stored_size), entry.crc32, entry.size)?;
    }
    Ok(())
}

/// Checks that files are inside of their volumes, and that their trailers agree with the index.
fn ranges(game: &WowsArchive, progress: &Progress) -> Check {
    let seen = game.indexes().par_iter().map(|index| {
        let seen = Seen::of(game, index);
        progress.advance(index.file_count() as u64);
        seen
    });
    let Seen { check, missing, trailers, unknown } = seen.reduce(Seen::new, Seen::merge);
    let mut detail = format!("{trailers} trailers");
    for (count, why) in [(missing, "files are not installed"), (unknown, "files are of a codec that is not supported")]
    {
        if count > 0 {
            detail = format!("{detail}; {count} {why}");
        }
    }
    check.with_detail(detail)
}
