//! Numbers by id.

use hashbrown::HashTable;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// Numbers by id. Ids of a sound file are hashes already. Ids of a hostile file may be any numbers, so that the table
/// uses a random secret.
#[derive(Debug)]
pub(super) struct Ids {
    table: HashTable<(u64, u32)>,
    secret: [u64; 2],
}

fn hash(id: u64, [moved, factor]: [u64; 2]) -> u64 {
    let mixed = (id ^ moved).wrapping_mul(factor);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(moved);
    mixed ^ mixed >> 29
}

impl Ids {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        let secret = [0, 1].map(|_| RandomState::new().build_hasher().finish() | 1);
        Self { table: HashTable::with_capacity(capacity), secret }
    }

    pub(super) fn get(&self, id: u64) -> Option<usize> {
        self.table.find(hash(id, self.secret), |(other, _)| *other == id).map(|&(_, number)| number as usize)
    }

    /// Adds `number` for `id` unless there is one; returns whether it is the first.
    pub(super) fn insert(&mut self, id: u64, number: usize) -> bool {
        let Ok(number) = u32::try_from(number) else { return false };
        let secret = self.secret;
        let entry = self.table.entry(hash(id, secret), |(other, _)| *other == id, |(other, _)| hash(*other, secret));
        match entry {
            hashbrown::hash_table::Entry::Vacant(free) => {
                free.insert((id, number));
                true
            }
            hashbrown::hash_table::Entry::Occupied(_) => false,
        }
    }
}
