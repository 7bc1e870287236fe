//! Rayon's parallel iterators, with a fallback to the calling thread if the system refuses to start more.
//!
//! Code for several threads uses this module rather than rayon's prelude: rayon starts its threads at the first parallel work, and
//! panics if the system refuses. A pool that is built at the start of the process would need no traits of its own, but starting
//! threads takes longer than many a lookup, which needs none.
#![allow(clippy::disallowed_methods)]

/// The parallel-iterator traits, to import in place of rayon's prelude.
pub mod prelude {
    pub use super::{Parallel, ParallelSlice};
    pub use rayon::iter::{IndexedParallelIterator, ParallelIterator};
}

use rayon::iter::IntoParallelIterator;
use rayon::slice::{Chunks, ChunksMut, Iter, ParallelSliceMut};
use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::borrow::{Borrow, BorrowMut};
use std::io;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, mpsc};
use std::thread;

/// Threads for each core that may be asked for: work that waits for a disk may want some more than there are cores.
const PER_CORE: usize = 4;

/// The number of threads that were asked for; 0 for as many as there are cores.
static WANTED: AtomicUsize = AtomicUsize::new(0);

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Sets the number of threads. Call it before any parallel work. Returns the number, capped at four per core.
pub fn limit(wanted: usize) -> usize {
    let most = cores().saturating_mul(PER_CORE);
    let threads = wanted.clamp(1, most);
    WANTED.store(threads, Ordering::Relaxed);
    threads
}

/// The number of threads that work at once.
pub fn count() -> usize {
    if rayon::current_thread_index().is_some() {
        return rayon::current_num_threads();
    }
    match WANTED.load(Ordering::Relaxed) {
        0 => cores(),
        wanted => wanted,
    }
}

/// Starts the threads of the pool, once. If the system starts only some of them, the pool has fewer; if it starts none, the calling
/// thread does all work.
fn ready() {
    static ONCE: Once = Once::new();
    // A program that uses this library may have threads of its own, and ask from one of them.
    if rayon::current_thread_index().is_none() {
        ONCE.call_once(|| {
            let (threads, hand_over) = start(count(), |work| thread::Builder::new().spawn(work).map(drop));
            // Fails where the program has set its own threads up, which serve as well.
            let _ = pool(threads).spawn_handler(hand_over).build_global();
        });
    }
}

type Work = Box<dyn FnOnce() + Send>;

/// As many of `wanted` threads as `spawn` starts, and a function that makes each of them a worker of a pool. They are
/// started before the pool is set up, as rayon has no way back from one that lacks a thread.
fn start(
    wanted: usize,
    mut spawn: impl FnMut(Work) -> io::Result<()>,
) -> (usize, impl FnMut(ThreadBuilder) -> io::Result<()>) {
    let (give, take) = mpsc::channel::<ThreadBuilder>();
    let take = Arc::new(Mutex::new(take));
    let started = (0..wanted).take_while(|_| {
        let take = Arc::clone(&take);
        let started = spawn(Box::new(move || {
            let worker = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
            // Nothing comes where the pool was not wanted.
            if let Ok(worker) = worker {
                worker.run();
            }
        }));
        started.is_ok()
    });
    (started.count(), move |worker| give.send(worker).map_err(|_| io::Error::other("its threads have ended")))
}

/// A pool of this many threads, or of the thread that sets it up.
fn pool(threads: usize) -> ThreadPoolBuilder {
    let pool = ThreadPoolBuilder::new().num_threads(threads.max(1));
    if threads == 0 { pool.use_current_thread() } else { pool }
}

/// Locks a mutex, whatever a thread was doing that panicked while it held the lock.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs both, at once where there is a thread for it.
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    ready();
    rayon::join(a, b)
}

/// Runs `here` on this thread, while others run the tasks that it spawns.
pub fn scope<'s, R>(here: impl FnOnce(&rayon::Scope<'s>) -> R) -> R {
    ready();
    rayon::in_place_scope(here)
}

/// Things that several threads can work on.
pub trait Parallel: IntoParallelIterator {
    fn into_par_iter(self) -> Self::Iter;
}

impl<T: IntoParallelIterator> Parallel for T {
    fn into_par_iter(self) -> Self::Iter {
        ready();
        IntoParallelIterator::into_par_iter(self)
    }
}

/// Slices that several threads work on.
pub trait ParallelSlice<T>: BorrowMut<[T]> {
    fn par_iter(&self) -> Iter<'_, T>
    where
        T: Sync,
    {
        Parallel::into_par_iter(Borrow::<[T]>::borrow(self))
    }

    fn par_chunks(&self, len: usize) -> Chunks<'_, T>
    where
        T: Sync,
    {
        ready();
        rayon::slice::ParallelSlice::par_chunks(self.borrow(), len)
    }

    fn par_chunks_mut(&mut self, len: usize) -> ChunksMut<'_, T>
    where
        T: Send,
    {
        ready();
        ParallelSliceMut::par_chunks_mut(self.borrow_mut(), len)
    }

    fn par_sort_unstable(&mut self)
    where
        T: Ord + Send,
    {
        ready();
        ParallelSliceMut::par_sort_unstable(self.borrow_mut());
    }

    fn par_sort_unstable_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K + Sync)
    where
        T: Send,
    {
        ready();
        ParallelSliceMut::par_sort_unstable_by_key(self.borrow_mut(), key);
    }
}

impl<T> ParallelSlice<T> for [T] {}

#[cfg(test)]
mod tests {
    use super::prelude::*;
    use super::{Work, join, pool, start};
    use std::{io, thread};

    fn sum_on(wanted: usize, given: usize) -> (usize, u64) {
        let mut started = 0;
        let spawn = |work: Work| {
            if started == given {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            started += 1;
            thread::Builder::new().spawn(work).map(drop)
        };
        // In a thread of its own: where none can be started, the pool takes the one that builds it.
        thread::scope(|scope| {
            let sum = || {
                let (threads, hand_over) = start(wanted, spawn);
                let pool = pool(threads).spawn_handler(hand_over).build().unwrap();
                let sum = || join(|| (0..1000u64).into_par_iter().sum::<u64>(), || 0).0;
                (pool.current_num_threads(), pool.install(sum))
            };
            scope.spawn(sum).join().unwrap()
        })
    }

    #[test]
    fn some_threads_or_none_do_all_work() {
        assert_eq!(sum_on(4, 4), (4, 499_500));
        assert_eq!(sum_on(4, 2), (2, 499_500));
        assert_eq!(sum_on(4, 0), (1, 499_500));
    }
}
