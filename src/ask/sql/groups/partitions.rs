//! Tables of groups, which several threads fill.

use super::codes::{hash, outside, so_many};
use super::shape::Call;
use super::state::State;
use crate::error::Result;
use crate::threads::prelude::*;
use hashbrown::HashTable;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Groups are divided by their hashes into this many partitions. A thread locks one partition at a time.
const PARTITIONS: u64 = 64;
#[expect(clippy::cast_possible_truncation, reason = "few")]
const PARTITION_COUNT: usize = PARTITIONS as usize;

/// The most groups that a thread keeps to itself, which fit into its cache.
const MOST_OWN: usize = 8192;

/// The most groups of one answer, which bounds the memory for them. SQLite answers if there are more.
const MOST_GROUPS: usize = 2 << 20;

/// Groups by the codes of their keys. `codes` and `states` begin with the first group; the second one follows.
#[derive(Default)]
pub(super) struct Groups {
    /// Hashes and places.
    index: HashTable<(u64, u32)>,
    hashes: Vec<u64>,
    /// A row of each group.
    rows: Vec<usize>,
    codes: Vec<u64>,
    states: Vec<State>,
}

/// The part with this number of a slice of parts.
fn part<T>(all: &[T], number: usize, width: usize) -> &[T] {
    let start = number.saturating_mul(width);
    all.get(start..start.saturating_add(width)).unwrap_or_default()
}

impl Groups {
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Hands the row and the codes of each group to `each`, which may replace the codes. `before` takes the next rows.
    pub(super) fn recode(
        &mut self,
        width: usize,
        before: impl Fn(&[usize]) -> Result<()>,
        mut each: impl FnMut(usize, &mut [u64]) -> Result<()>,
    ) -> Result<()> {
        /// The number of rows whose cache misses overlap.
        const AHEAD: usize = 64;
        let mut codes = self.codes.chunks_exact_mut(width.max(1));
        self.rows.chunks(AHEAD).try_for_each(|rows| {
            before(rows)?;
            rows.iter().zip(&mut codes).try_for_each(|(row, codes)| each(*row, codes))
        })
    }

    /// Keeps these groups only, by their places. No group is found in them any more.
    pub(super) fn keep(&mut self, layout: Layout<'_>, places: &[usize]) {
        let mut kept = Self::default();
        for place in places {
            kept.hashes.extend(self.hashes.get(*place));
            kept.rows.extend(self.rows.get(*place));
            kept.codes.extend_from_slice(layout.codes(self, *place));
            kept.states.extend(layout.states_mut(self, *place).iter_mut().map(State::take));
        }
        *self = kept;
    }

    /// Computes the hashes again, after codes were replaced.
    fn rehash(&mut self, width: usize) {
        self.hashes.iter_mut().zip(self.codes.chunks_exact(width.max(1))).for_each(|(own, codes)| *own = hash(codes));
    }

    /// Removes all groups, and keeps their memory for others.
    fn clear(&mut self) {
        self.index.clear();
        self.hashes.clear();
        self.rows.clear();
        self.codes.clear();
        self.states.clear();
    }

    /// The place of the group with these codes, and whether it is new: its states must be added then.
    fn place(&mut self, hash: u64, codes: &[u64], row: usize) -> Result<(usize, bool)> {
        let Self { index, hashes, rows, codes: all, .. } = self;
        // One code has a hash of its own.
        let is_same = |(other, place): &(u64, u32)| {
            *other == hash && (codes.len() == 1 || part(all, *place as usize, codes.len()).iter().eq(codes))
        };
        if let Some((_, place)) = index.find(hash, is_same) {
            return Ok((*place as usize, false));
        }
        let place = hashes.len();
        let number = u32::try_from(place).map_err(|_| so_many("groups"))?;
        index.insert_unique(hash, (hash, number), |(hash, _)| *hash);
        hashes.push(hash);
        rows.push(row);
        all.extend_from_slice(codes);
        Ok((place, true))
    }
}

/// The keys and aggregates of a table of groups.
#[derive(Clone, Copy)]
pub(super) struct Layout<'q> {
    /// The number of codes of a group.
    pub(super) keys: usize,
    pub(super) calls: &'q [Call],
}

impl Layout<'_> {
    pub(super) fn codes<'g>(&self, groups: &'g Groups, place: usize) -> &'g [u64] {
        part(&groups.codes, place, self.keys)
    }

    pub(super) fn states<'g>(&self, groups: &'g Groups, place: usize) -> &'g [State] {
        part(&groups.states, place, self.calls.len())
    }

    fn states_mut<'g>(&self, groups: &'g mut Groups, place: usize) -> &'g mut [State] {
        let start = place.saturating_mul(self.calls.len());
        groups.states.get_mut(start..start.saturating_add(self.calls.len())).unwrap_or_default()
    }
}

/// The groups of all threads.
pub(super) struct SharedGroups<'q> {
    layout: Layout<'q>,
    partitions: Vec<Mutex<Groups>>,
    made: AtomicUsize,
}

impl<'q> SharedGroups<'q> {
    pub(super) fn new(layout: Layout<'q>) -> Self {
        let partitions = std::iter::repeat_with(Mutex::default).take(PARTITION_COUNT).collect();
        Self { layout, partitions, made: AtomicUsize::new(0) }
    }

    /// The groups of one thread, which are merged with all others when there are many of them.
    pub(super) fn own(&self) -> OwnGroups<'_, 'q> {
        OwnGroups { shared: self, groups: Groups::default() }
    }

    /// Moves groups with the same layout here.
    fn merge(&self, groups: &mut Groups) -> Result<()> {
        let mut places: Vec<Vec<usize>> = vec![Vec::new(); PARTITION_COUNT];
        for (place, hash) in groups.hashes.iter().enumerate() {
            let number = (hash >> 40) % PARTITIONS;
            let places = usize::try_from(number).ok().and_then(|number| places.get_mut(number));
            places.ok_or_else(outside)?.push(place);
        }
        let Groups { hashes, rows, codes, states, .. } = groups;
        let width = self.layout.calls.len();
        for (partition, places) in self.partitions.iter().zip(places).filter(|(_, places)| !places.is_empty()) {
            let mut to = partition.lock().unwrap_or_else(PoisonError::into_inner);
            for from in places {
                let hash = hashes.get(from).copied().unwrap_or_default();
                let row = rows.get(from).copied().unwrap_or_default();
                let (place, is_new) = to.place(hash, part(codes, from, self.layout.keys), row)?;
                let start = from.saturating_mul(width);
                let states = states.get_mut(start..start.saturating_add(width)).unwrap_or_default();
                if is_new {
                    if self.made.fetch_add(1, Relaxed) >= MOST_GROUPS {
                        return Err(so_many("groups"));
                    }
                    to.states.extend(states.iter_mut().map(State::take));
                } else {
                    let own = self.layout.states_mut(&mut to, place);
                    own.iter_mut().zip(states).try_for_each(|(own, state)| own.merge(state))?;
                }
            }
        }
        groups.clear();
        Ok(())
    }

    /// Moves groups here whose codes were replaced.
    pub(super) fn regroup(&self, groups: Vec<Groups>) -> Result<()> {
        groups.into_par_iter().try_for_each(|mut groups| {
            groups.rehash(self.layout.keys);
            self.merge(&mut groups)
        })
    }

    /// Moves the groups of `other` here, which have the same layout.
    pub(super) fn absorb(&self, other: SharedGroups<'_>) -> Result<()> {
        other.finish().iter_mut().try_for_each(|groups| self.merge(groups))
    }

    /// The groups. Each has codes that no other group has.
    pub(super) fn finish(self) -> Vec<Groups> {
        let groups =
            self.partitions.into_iter().map(|groups| groups.into_inner().unwrap_or_else(PoisonError::into_inner));
        groups.filter(|groups| groups.len() > 0).collect()
    }
}

/// The groups of one thread.
pub(super) struct OwnGroups<'s, 'q> {
    shared: &'s SharedGroups<'q>,
    groups: Groups,
}

impl OwnGroups<'_, '_> {
    /// The aggregates of the group with these codes, which `row` belongs to, and whether this thread did not have the group.
    pub(super) fn states(&mut self, codes: &[u64], row: usize) -> Result<(&mut [State], bool)> {
        if self.groups.len() >= MOST_OWN {
            self.shared.merge(&mut self.groups)?;
        }
        let layout = self.shared.layout;
        let (place, is_new) = self.groups.place(hash(codes), codes, row)?;
        if is_new {
            self.groups.states.extend(layout.calls.iter().map(State::new));
        }
        Ok((layout.states_mut(&mut self.groups, place), is_new))
    }

    /// Merges the groups with all others.
    pub(super) fn finish(mut self) -> Result<()> {
        self.shared.merge(&mut self.groups)
    }
}
