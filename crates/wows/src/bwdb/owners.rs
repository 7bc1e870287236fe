use super::layout::ResourceBucket;
use super::{Blob, Location, State};
use crate::bytes::le;
use crate::error::Result;
use std::collections::BTreeSet;

/// The resources that each record belongs to.
///
/// Of several resources with one record, the one with the smallest id names it, wherever a record has a single name. Ids are
/// hashes of paths, so that two files of one content agree, however their maps are laid out.
#[derive(Debug)]
pub(super) struct Owners {
    /// The place of a record in the upper half, the slot of a resource in the lower one: by place, then by id.
    entries: Vec<u64>,
    /// Where the entries of each database begin.
    starts: Vec<usize>,
}

/// The place of a record, by database and then by record.
fn place(database: usize, record: usize) -> Option<u32> {
    Some(Location::new(database, record)?.place())
}

fn place_of(entry: u64) -> u32 {
    (entry >> 32) as u32
}

pub(super) fn id_of(buckets: &[ResourceBucket], entry: u64) -> u64 {
    let slot = usize::try_from(entry & u64::from(u32::MAX)).ok();
    slot.and_then(|slot| buckets.get(slot)).map_or(0, |bucket| bucket.key.get())
}

impl Owners {
    pub(super) fn build(buckets: &[ResourceBucket], values: &[le::U32]) -> Self {
        let slots = (0u32..).zip(buckets.iter().zip(values));
        let mut entries: Vec<u64> = slots
            .filter(|(_, (bucket, _))| bucket.occupied.get() != 0)
            .map(|(slot, (_, value))| (slot, Location(value.get())))
            .filter(|(_, location)| location.state() == State::Valid)
            .map(|(slot, location)| u64::from(location.place()) << 32 | u64::from(slot))
            .collect();
        entries.sort_unstable();
        for shared in entries.chunk_by_mut(|a, b| place_of(*a) == place_of(*b)).filter(|shared| shared.len() > 1) {
            shared.sort_unstable_by_key(|&entry| id_of(buckets, entry));
        }
        let firsts = (0..Location::DATABASES).filter_map(|database| place(database, 0));
        let starts = firsts.map(|first| entries.partition_point(|&entry| place_of(entry) < first)).collect();
        Self { entries, starts }
    }

    pub(super) fn owners_of(&self, database: usize, record: usize) -> &[u64] {
        let (Some(place), Some(&start)) = (place(database, record), self.starts.get(database)) else { return &[] };
        // If each record has one owner, owners are in the order of records.
        let likely = start.saturating_add(record);
        let is_first = self.entries.split_at_checked(likely).is_some_and(|(before, rest)| {
            before.last().is_none_or(|&entry| place_of(entry) < place)
                && rest.first().is_some_and(|&entry| place_of(entry) == place)
        });
        let first = if is_first { likely } else { self.entries.partition_point(|&entry| place_of(entry) < place) };
        let (_, rest) = self.entries.split_at(first);
        rest.split_at(rest.iter().take_while(|&&entry| place_of(entry) == place).count()).0
    }
}

/// A further valid resource of a record: one whose id is not the smallest of the record's resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Alias {
    pub record: usize,
    pub id: u64,
}

/// The further resources of records that several valid resources share, by database.
#[derive(Debug)]
pub(super) struct Aliases(Vec<Vec<Alias>>);

impl Aliases {
    pub(super) fn aliases_of(&self, database: usize) -> &[Alias] {
        self.0.get(database).map_or(&[], Vec::as_slice)
    }

    pub(super) fn build<'a>(
        buckets: &[ResourceBucket],
        values: &[le::U32],
        databases: impl Iterator<Item = Result<Blob<'a>>>,
    ) -> Self {
        let slots = buckets.iter().zip(values).map(|(bucket, value)| (bucket, Location(value.get())));
        let is_valid = |bucket: &ResourceBucket, location: Location| {
            (bucket.occupied.get() != 0) & (location.state() == State::Valid)
        };
        // A bit for each record: the map of a game has as many locations as records, and none of them twice.
        let mut seen: Vec<Vec<u64>> = databases.take(Location::DATABASES).map(bits).collect();
        let mut shared = BTreeSet::new();
        for (bucket, location) in slots.clone() {
            let record = location.record_index();
            let word = seen.get_mut(location.database_index()).and_then(|words| words.get_mut(record / 64));
            let Some(word) = word else { continue };
            // Occupied slots cannot be predicted, so there is no branch on them: the others have no bit.
            let bit = u64::from(is_valid(bucket, location)) << (record % 64);
            if *word & bit != 0 {
                shared.insert(location.place());
            }
            *word |= bit;
        }
        let mut aliases = vec![Vec::new(); seen.len()];
        if shared.is_empty() {
            return Self(aliases);
        }
        for (bucket, location) in slots.filter(|(bucket, location)| is_valid(bucket, *location)) {
            if shared.contains(&location.place())
                && let Some(aliases) = aliases.get_mut(location.database_index())
            {
                aliases.push(Alias { record: location.record_index(), id: bucket.key.get() });
            }
        }
        for aliases in &mut aliases {
            aliases.sort_unstable();
            // A damaged map may have a key twice.
            aliases.dedup();
            let mut last = None;
            aliases.retain(|alias| last.replace(alias.record) == Some(alias.record));
        }
        Self(aliases)
    }
}

/// A zero bit for each record of a database.
fn bits(blob: Result<Blob<'_>>) -> Vec<u64> {
    vec![0; blob.map_or(0, |blob| blob.len()).div_ceil(64)]
}
