//! The order of many texts that begin alike, as paths do: eight bytes of all are compared before the next eight of any.
//! A sort by whole texts waits for memory at each of its comparisons, and reads their common beginnings again.

use crate::threads::prelude::*;
use std::cmp::Ordering;

/// Items that are compared by their whole texts.
const FEW: usize = 24;
/// Items that are worth more than one thread.
const MANY: usize = 1 << 12;
/// Parts that are cut out of each other. Texts of a hostile file may differ at each eighth byte of a megabyte.
const DEPTH: usize = 256;

/// The next eight bytes of an item's text, and the item's number.
type TextPrefix = (u64, u32);

/// The numbers of `items` in the order of their texts; items of one text in the order of `then`.
pub(super) fn by_text<'t, T: Sync>(
    items: &'t [T],
    text: impl Fn(&'t T) -> &'t [u8] + Sync,
    then: impl Fn(&T, &T) -> Ordering + Sync,
) -> Vec<u32> {
    let mut places: Vec<TextPrefix> = (0u32..).zip(items).map(|(number, _)| (0, number)).collect();
    let sort = Sort {
        text: |item: u32| text(&items[item as usize]),
        compare: |a: u32, b: u32| {
            let (a, b) = (&items[a as usize], &items[b as usize]);
            text(a).cmp(text(b)).then_with(|| then(a, b))
        },
    };
    sort.sort(&mut places, 0, 0);
    places.into_iter().map(|(_, item)| item).collect()
}

struct Sort<T, C> {
    text: T,
    compare: C,
}

impl<'t, T: Fn(u32) -> &'t [u8] + Sync, C: Fn(u32, u32) -> Ordering + Sync> Sort<T, C> {
    /// Sorts `places`; their texts share the first `skip` bytes.
    fn sort(&self, places: &mut [TextPrefix], mut skip: usize, depth: usize) {
        loop {
            if places.len() <= FEW || depth >= DEPTH {
                return self.sort_few(places);
            }
            match places.len() {
                ..MANY => self.load(places, skip),
                _ => places.par_chunks_mut(MANY).for_each(|some| self.load(some, skip)),
            }
            let Some(&(start, first)) = places.first() else { return };
            if places.iter().any(|place| place.0 != start) {
                break;
            }
            let first = self.behind(first, skip);
            let common = places
                .iter()
                .map(|place| shared(first, self.behind(place.1, skip)))
                .min()
                .expect("there is a first place");
            // Fewer if a text ends, or all of them are equal.
            if common < size_of::<u64>() {
                return self.sort_few(places);
            }
            skip += common;
        }
        skip += size_of::<u64>();
        if places.len() < MANY {
            places.sort_unstable();
            return places.chunk_by_mut(|a, b| a.0 == b.0).for_each(|part| self.sort(part, skip, depth + 1));
        }
        places.par_sort_unstable();
        let parts: Vec<&mut [TextPrefix]> = places.chunk_by_mut(|a, b| a.0 == b.0).collect();
        parts.into_par_iter().for_each(|part| self.sort(part, skip, depth + 1));
    }

    fn load(&self, places: &mut [TextPrefix], skip: usize) {
        places.iter_mut().for_each(|place| place.0 = eight(self.behind(place.1, skip)));
    }

    fn sort_few(&self, places: &mut [TextPrefix]) {
        places.sort_unstable_by(|a, b| (self.compare)(a.1, b.1));
    }

    /// The text of an item after its first `skip` bytes.
    fn behind(&self, item: u32, skip: usize) -> &'t [u8] {
        let text = (self.text)(item);
        &text[skip.min(text.len())..]
    }
}

/// The first eight bytes as a number with the same order; zeros if there are fewer.
fn eight(text: &[u8]) -> u64 {
    match text.first_chunk() {
        Some(eight) => u64::from_be_bytes(*eight),
        None => {
            let mut eight = [0; 8];
            eight.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
            u64::from_be_bytes(eight)
        }
    }
}

/// The number of bytes that two texts begin with in common, in whole steps of eight.
fn shared(a: &[u8], b: &[u8]) -> usize {
    let (eights, _) = a.as_chunks::<8>();
    let (others, _) = b.as_chunks::<8>();
    // Runs of rows may share one text.
    let steps = match std::ptr::eq(a, b) {
        true => eights.len(),
        false => eights.iter().zip(others).take_while(|(a, b)| a == b).count(),
    };
    steps * size_of::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(texts: &[Vec<u8>]) {
        let sorted = by_text(texts, |text| text, |a, b| a.as_ptr().cmp(&b.as_ptr()));
        let mut expected: Vec<u32> = (0..texts.len() as u32).collect();
        expected.sort_by(|&a, &b| {
            let (a, b) = (&texts[a as usize], &texts[b as usize]);
            a.cmp(b).then(a.as_ptr().cmp(&b.as_ptr()))
        });
        assert!(sorted == expected, "{} texts", texts.len());
    }

    #[test]
    fn texts_come_in_the_order_of_their_bytes() {
        let mut rng = fastrand::Rng::with_seed(5);
        for (count, len, letters) in [(0, 1, 2), (1, 4, 2), (30, 0, 1), (300, 3, 2), (5000, 40, 2), (20_000, 12, 200)] {
            let mut text = |_| {
                let own = (0..rng.usize(..=len)).map(|_| rng.u8(..letters));
                b"content/gameplay/".iter().copied().chain(own).collect()
            };
            let texts: Vec<Vec<u8>> = (0..count).map(&mut text).collect();
            check(&texts);
        }
    }

    #[test]
    fn a_text_comes_before_those_that_go_on_with_zeros() {
        check(&(0..100usize).rev().map(|zeros| vec![0; zeros]).collect::<Vec<_>>());
        check(&vec![vec![7; 64]; 100]);
    }

    #[test]
    fn parts_are_cut_out_of_each_other_to_a_bound() {
        check(&(0..4 * DEPTH).rev().map(|len| vec![b'a'; len * 9]).collect::<Vec<_>>());
    }
}
