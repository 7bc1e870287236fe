//! Memory: allocations of lookups, budgets of damaged files, and what files leave after they are dropped.
#![cfg(feature = "cli")]
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

mod allocations;
mod budgets;
#[path = "../common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
mod soak;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// One test, because the allocations of a test in another thread would be counted too.
#[test]
fn memory_is_bounded_and_freed() {
    allocations::lookups_allocate_nothing_and_hostile_counts_little();
    budgets::damaged_files_stay_within_their_budgets();
    #[cfg(target_os = "linux")]
    soak::files_that_were_dropped_leave_nothing();
}
