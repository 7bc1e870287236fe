//! The engine's hash maps (docs/formats/bwdb.md §3): slot = key mod capacity, linear probing to the first empty slot.

use super::layout::{ResourceBucket, StringBucket};
use std::num::NonZeroU64;

pub(super) trait Bucket {
    /// The key, widened.
    fn key(&self) -> u64;
    /// Any non-zero flag: builds differ in the bit that they set.
    fn is_occupied(&self) -> bool;
}

impl Bucket for ResourceBucket {
    #[inline(always)]
    fn key(&self) -> u64 {
        self.key.get()
    }
    #[inline(always)]
    fn is_occupied(&self) -> bool {
        self.occupied.get() != 0
    }
}

impl Bucket for StringBucket {
    #[inline(always)]
    fn key(&self) -> u64 {
        self.key.get().into()
    }
    #[inline(always)]
    fn is_occupied(&self) -> bool {
        self.occupied.get() != 0
    }
}

/// The results of `of` for each occupied slot, in order. `values` has one element for each bucket.
///
/// Occupied slots cannot be predicted, so there is no branch on them: each item is written, and the next one over
/// an item that does not count.
pub(super) fn gather<B: Bucket, V, T: Copy + Default>(
    buckets: &[B],
    values: impl IntoIterator<Item = V>,
    of: impl Fn(&B, V) -> T,
) -> Vec<T> {
    let mut items = vec![T::default(); buckets.len()];
    let mut count = 0usize;
    for (bucket, value) in buckets.iter().zip(values) {
        if let Some(item) = items.get_mut(count) {
            *item = of(bucket, value);
        }
        count = count.saturating_add(usize::from(bucket.is_occupied()));
    }
    items.truncate(count);
    items
}

/// The occupied slots, which are the rows of the map's table.
pub(super) fn occupied<B: Bucket>(buckets: &[B]) -> Vec<u32> {
    gather(buckets, 0u32.., |_, slot| slot)
}

/// The number of slots that are occupied, counted without a list of them.
pub(super) fn count<B: Bucket>(buckets: &[B]) -> usize {
    buckets.iter().filter(|bucket| bucket.is_occupied()).count()
}

/// Remainders by one capacity without a division: a multiplication by its reciprocal, and one correction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Modulus {
    capacity: u64,
    /// floor((2^64 - 1) / capacity).
    reciprocal: u64,
}

impl Modulus {
    /// The modulus of a map of `capacity` slots; without slots, every key has slot 0.
    pub(super) fn new(capacity: u32) -> Self {
        let capacity = u64::from(capacity);
        Self { capacity, reciprocal: NonZeroU64::new(capacity).map_or(0, |capacity| u64::MAX / capacity) }
    }

    /// `key` mod capacity.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // The slot is below the capacity, which is a u32.
    pub(super) fn slot(self, key: u64) -> usize {
        // The quotient is the true one or one less, so the remainder is below twice the capacity (below 2^33).
        let quotient = (u128::from(key).wrapping_mul(u128::from(self.reciprocal)) >> 64) as u64;
        let rest = key.wrapping_sub(quotient.wrapping_mul(self.capacity));
        let slot = if rest >= self.capacity { rest.wrapping_sub(self.capacity) } else { rest };
        slot as usize
    }
}

/// The slot with `key`. Every slot is read at most once, even if none is empty.
#[inline]
pub(super) fn find<B: Bucket>(buckets: &[B], modulus: Modulus, key: u64) -> Option<usize> {
    let mut slot = modulus.slot(key);
    for _ in 0..buckets.len() {
        let bucket = buckets.get(slot)?;
        if bucket.key() == key && bucket.is_occupied() {
            return Some(slot);
        }
        if !bucket.is_occupied() {
            return None;
        }
        slot = slot.wrapping_add(1);
        if slot == buckets.len() {
            slot = 0;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_remainders() {
        let mut rng = fastrand::Rng::with_seed(7);
        for capacity in [1, 2, 3, 7, 8, 393_241, 786_433, 1 << 31, u32::MAX] {
            let modulus = Modulus::new(capacity);
            let edges = [0, 1, capacity as u64 - 1, capacity as u64, u64::MAX, u64::MAX - 1, 1 << 63];
            for key in edges.into_iter().chain((0..1000).map(|_| rng.u64(..))) {
                assert_eq!(modulus.slot(key) as u64, key % capacity as u64, "{key} mod {capacity}");
            }
        }
        assert_eq!(Modulus::new(0).slot(5), 5, "never used: a map without slots has no bucket 5");
    }

    fn bucket(key: u64, occupied: u64) -> ResourceBucket {
        ResourceBucket { key: key.into(), occupied: occupied.into() }
    }

    #[test]
    fn a_full_map_ends_and_a_wrapped_chain_is_followed() {
        let full: Vec<_> = [4, 8, 6, 3].map(|k| bucket(k, 1)).into();
        let modulus = Modulus::new(4);
        assert_eq!(find(&full, modulus, 3), Some(3));
        assert_eq!(find(&full, modulus, 4), Some(0));
        assert_eq!(find(&full, modulus, 7), None, "every slot looked at once");
        let wrapped = [bucket(7, 1 << 63), bucket(0, 0), bucket(0, 0), bucket(3, 1)];
        assert_eq!(find(&wrapped, modulus, 7), Some(0));
        assert_eq!(find(&wrapped, modulus, 11), None);
    }

    #[test]
    fn key_zero_is_told_from_an_empty_slot() {
        let modulus = Modulus::new(2);
        assert_eq!(find(&[bucket(0, 0), bucket(0, 0)], modulus, 0), None);
        assert_eq!(find(&[bucket(0, 1), bucket(0, 0)], modulus, 0), Some(0));
    }

    #[test]
    fn a_map_without_slots_is_empty() {
        assert_eq!(find::<ResourceBucket>(&[], Modulus::new(0), 9), None);
    }
}
