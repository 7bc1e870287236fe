//! Values computed on first use.

use crate::threads;
use std::convert::Infallible;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A value that is computed on first use and kept. A failed computation is not kept: the next call tries again.
#[derive(Debug)]
pub struct Lazy<T>(OnceLock<T>);

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> From<T> for Lazy<T> {
    fn from(value: T) -> Self {
        Self(value.into())
    }
}

impl<T> Lazy<T> {
    /// The value, computed by `make` on first use. Two threads may compute it at once; the first result is kept.
    ///
    /// # Errors
    /// The error of `make`.
    pub fn get_or_try_init<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        if let Some(value) = self.0.get() {
            return Ok(value);
        }
        let value = make()?;
        Ok(self.0.get_or_init(|| value))
    }

    /// The value, computed by `make` on first use, without a lock: two threads may compute it at once, and `make` may use rayon.
    pub fn get_or_make(&self, make: impl FnOnce() -> T) -> &T {
        let Ok(value) = self.get_or_try_init(|| Ok::<_, Infallible>(make()));
        value
    }

    /// The value, computed by `make` on first use. Others wait for it, so that `make` must not use rayon: see `parts`.
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(make)
    }

    /// `None` until it is computed.
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }
}

impl<T, E: Clone> Lazy<Result<T, E>> {
    /// The value, computed by `make` on first use. Its error is kept as well, for damage that takes long to meet.
    ///
    /// # Errors
    /// The error of `make`.
    pub fn get_or_keep(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        self.get_or_make(make).as_ref().map_err(E::clone)
    }
}

/// The cost so far of queries that an index would answer at once. The index is built when they have cost as much as
/// building it: a few queries never wait for it, and any number costs at most twice the minimum.
#[derive(Debug, Default)]
pub struct ScanCost(AtomicUsize);

impl ScanCost {
    /// Whether less than `price` was paid.
    pub fn is_below(&self, price: usize) -> bool {
        self.0.load(Ordering::Relaxed) < price
    }

    /// The cost so far.
    pub fn paid(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether this is the first query, if the first one is answered without the index.
    pub fn is_first(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) == 0
    }

    pub fn pay(&self, cost: usize) {
        self.0.fetch_add(cost, Ordering::Relaxed);
    }
}

/// The results of `make` for each number below `count`, each on a thread of its own.
///
/// For values that other threads wait for. Rayon would deadlock: a waiting worker takes up other work, and if that
/// needs the same value, the worker waits for itself.
pub fn parts<T: Send>(count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let make = &make;
    thread::scope(|scope| {
        let others = (1..count).map(|i| (i, thread::Builder::new().spawn_scoped(scope, move || make(i))));
        let others: Vec<_> = others.collect();
        let mut parts: Vec<T> = (0..count.min(1)).map(make).collect();
        parts.extend(others.into_iter().map(|(i, other)| match other {
            Ok(other) => other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // No further thread is available.
            Err(_) => make(i),
        }));
        parts
    })
}

/// The number of [`parts`] that pays off for `items` items, if one thread processes `share` items in the time of
/// starting another thread.
pub fn parts_for(items: usize, share: usize) -> usize {
    threads::count().min(items.checked_div(share).unwrap_or(1)).clamp(1, 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    #[test]
    fn a_failed_computation_is_repeated_unless_its_error_is_kept() {
        let (tried, kept) = (Lazy::<u8>::default(), Lazy::<Result<u8, &str>>::default());
        assert_eq!(
            (tried.get_or_try_init(|| Err("damaged")), tried.get_or_try_init(|| Ok::<_, &str>(1))),
            (Err("damaged"), Ok(&1))
        );
        assert_eq!((kept.get_or_keep(|| Err("damaged")), kept.get_or_keep(|| Ok(1))), (Err("damaged"), Err("damaged")));
    }

    #[test]
    fn parts_come_in_order() {
        for count in [0, 1, 2, 7] {
            assert_eq!(parts(count, |i| i * 2), (0..count).map(|i| i * 2).collect::<Vec<_>>());
        }
    }

    /// With rayon instead of `parts`, this test does not end.
    #[allow(clippy::disallowed_methods)]
    #[test]
    fn workers_that_need_one_value_do_not_wait_for_themselves() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        // An interpreter needs a minute for each.
        let times = if cfg!(miri) { 3 } else { 200 };
        for _ in 0..times {
            let lazy = Lazy::default();
            let make = || parts(4, |i| (0..2000u64).fold(i as u64, |x, i| x.rotate_left(5) ^ i)).len();
            let ask = |_| *lazy.get_or_init(make);
            let sum: usize = pool.install(|| (0..4).into_par_iter().with_max_len(1).map(ask).sum());
            assert_eq!(sum, 16);
        }
    }

    #[test]
    fn a_failure_is_tried_again() {
        let lazy = Lazy::default();
        assert_eq!(lazy.get_or_try_init(|| Err("no")), Err("no"));
        assert_eq!(lazy.get_or_try_init(|| Ok::<_, ()>(7)), Ok(&7));
        assert_eq!(lazy.get_or_try_init(|| Ok::<_, ()>(8)), Ok(&7));
    }
}
