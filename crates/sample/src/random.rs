//! Random numbers that are the same on all systems.

use std::ops::{Bound, Deref, DerefMut, RangeBounds};

/// A generator whose numbers depend on its seed alone. That of [`fastrand`] draws other indexes where `usize` has 32 bits.
#[derive(Clone, Debug)]
pub struct Rng(fastrand::Rng);

impl Rng {
    pub fn with_seed(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    pub fn usize(&mut self, range: impl RangeBounds<usize>) -> usize {
        let wide = |bound: Bound<&usize>| bound.map(|n| *n as u64);
        self.u64((wide(range.start_bound()), wide(range.end_bound()))) as usize
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in 1..items.len() {
            items.swap(i, self.usize(..=i));
        }
    }
}

impl Deref for Rng {
    type Target = fastrand::Rng;

    fn deref(&self) -> &fastrand::Rng {
        &self.0
    }
}

impl DerefMut for Rng {
    fn deref_mut(&mut self) -> &mut fastrand::Rng {
        &mut self.0
    }
}
