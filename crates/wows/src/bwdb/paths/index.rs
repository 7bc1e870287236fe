//! The entries of paths by their ids.

use crate::bwdb::layout::PathEntry;

/// The position of an id without a path.
pub(super) const NO_PATH: u32 = u32::MAX;

/// Finds path entries by id: all ids in order, with the positions of their entries. The first bits of an id, which is a hash, lead to
/// a few of them.
#[derive(Debug)]
pub(super) struct Index {
    /// By the first bits of ids: a few by position, and more of them by id and then by position. The first entry with an id is the one
    /// that counts.
    items: Vec<(u64, u32)>,
    /// Where the items with the same first bits begin.
    starts: Vec<u32>,
    /// The bits of an id after the first ones.
    shift: u32,
}

/// Items with the same first bits that are compared one after another.
const FEW: usize = 8;

impl Index {
    pub(super) fn build(entries: &[PathEntry]) -> Self {
        let bits = entries.len().next_power_of_two().ilog2().saturating_sub(1).clamp(1, 24);
        let shift = u64::BITS.saturating_sub(bits);
        let mut sorted = Buckets::new(entries.iter().map(|entry| Some(entry.self_id.get())), shift);
        let starts = sorted.starts.windows(2);
        for (start, end) in starts.filter_map(|pair| Some((*pair.first()? as usize, *pair.last()? as usize))) {
            if end.saturating_sub(start) > FEW
                && let Some(items) = sorted.items.get_mut(start..end)
            {
                items.sort_unstable();
            }
        }
        Self { items: sorted.items, starts: sorted.starts, shift }
    }

    /// The items with this id, and up to [`FEW`] others among them.
    #[inline]
    fn items_near(&self, id: u64) -> &[(u64, u32)] {
        let bucket = first_bits(id, self.shift);
        let range = self.starts.get(bucket).zip(self.starts.get(bucket.saturating_add(1)));
        let range = range.map_or(0..0, |(start, end)| *start as usize..*end as usize);
        let items = self.items.get(range).unwrap_or_default();
        if items.len() <= FEW {
            return items;
        }
        let (start, end) = (items.partition_point(|item| item.0 < id), items.partition_point(|item| item.0 <= id));
        items.get(start..end).unwrap_or_default()
    }

    /// The positions of all entries with this id, in order.
    pub(super) fn all(&self, id: u64) -> impl Iterator<Item = u32> {
        self.items_near(id).iter().filter(move |(other, _)| *other == id).map(|(_, position)| *position)
    }

    #[inline]
    pub(super) fn find(&self, id: u64) -> Option<u32> {
        self.all(id).next()
    }

    /// The position of the entry with each of these ids, or [`NO_PATH`]. Ids whose items are near each other are found together, as
    /// the caches serve these.
    pub(super) fn positions(&self, ids: impl ExactSizeIterator<Item = Option<u64>> + Clone) -> Vec<u32> {
        let mut positions = vec![NO_PATH; ids.len()];
        for (id, number) in Buckets::new(ids, u64::BITS.saturating_sub(8)).items {
            if let (Some(position), Some(found)) = (positions.get_mut(number as usize), self.find(id)) {
                *position = found;
            }
        }
        positions
    }
}

#[expect(clippy::cast_possible_truncation, reason = "at most 24 bits are left")]
fn first_bits(id: u64, shift: u32) -> usize {
    (id >> shift) as usize
}

/// Ids with their numbers, by the first bits of the ids and then by number.
struct Buckets {
    items: Vec<(u64, u32)>,
    /// Where each bucket begins, and at last where they end.
    starts: Vec<u32>,
}

impl Buckets {
    /// The buckets of all ids that are there. `shift` is the number of bits after the first ones.
    fn new(ids: impl Iterator<Item = Option<u64>> + Clone, shift: u32) -> Self {
        let buckets = 1usize << u64::BITS.saturating_sub(shift);
        let mut starts = vec![0u32; buckets.saturating_add(1)];
        for id in ids.clone().flatten() {
            if let Some(count) = starts.get_mut(first_bits(id, shift)) {
                *count = count.saturating_add(1);
            }
        }
        let mut end = 0u32;
        for start in &mut starts {
            let count = std::mem::replace(start, end);
            end = end.saturating_add(count);
        }
        let mut items = vec![(0, 0); end as usize];
        let mut next = starts.clone();
        for (number, id) in (0u32..).zip(ids) {
            let Some(id) = id else { continue };
            let Some(place) = next.get_mut(first_bits(id, shift)) else { continue };
            if let Some(item) = items.get_mut(*place as usize) {
                *item = (id, number);
            }
            *place = place.saturating_add(1);
        }
        Self { items, starts }
    }
}
