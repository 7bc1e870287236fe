//! The most memory that a piece of work allocates.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The system's allocator, which counts while `peak` runs.
pub struct Counting;

static ON: AtomicBool = AtomicBool::new(false);
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn add(size: usize) {
    if ON.load(Relaxed) {
        MOST.fetch_max(NOW.fetch_add(size, Relaxed) + size, Relaxed);
    }
}

fn remove(size: usize) {
    if ON.load(Relaxed) {
        // Memory from before the count may be freed during the count.
        let _ = NOW.fetch_update(Relaxed, Relaxed, |now| Some(now.saturating_sub(size)));
    }
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        remove(layout.size());
        add(size);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(at, layout, size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        remove(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

/// The most bytes that were allocated at once while `work` ran. Nothing else may run meanwhile.
pub fn peak<T>(work: impl FnOnce() -> T) -> (usize, T) {
    NOW.store(0, Relaxed);
    MOST.store(0, Relaxed);
    ON.store(true, Relaxed);
    let result = work();
    ON.store(false, Relaxed);
    (MOST.load(Relaxed), result)
}
