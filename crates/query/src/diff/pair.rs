//! Pairs the rows of two tables by their keys.
//!
//! Rows that lie in the same order on both sides, as most do, are paired by walking; only the rows that are left over
//! are sorted by key. Nothing of a row is kept but the hash of its key and, of those that differ, its number.

use crate::compare::{Comparable, Differences, Faults, Keys, Side, Verdict};
use crate::report::Progress;
use crate::threads::{self, prelude::*};
use std::borrow::Borrow;

/// Consecutive rows on both sides that may be pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    old: u32,
    new: u32,
    len: u32,
}

/// The runs and the remaining rows of a walk over both sides.
#[derive(Debug, Default)]
struct Aligned {
    runs: Vec<Run>,
    old: Vec<u32>,
    new: Vec<u32>,
}

/// The number of rows that are searched where the two sides differ.
const NEAR: usize = 16;
/// Lookahead in rows after a long run: a block may have been inserted or deleted.
const FAR: usize = 1024;

/// Walks over both sides and pairs equal keys in the same order. Each step needs a bounded number of comparisons.
fn align(old: &[u64], new: &[u64]) -> Aligned {
    let mut aligned = Aligned::default();
    let (mut i, mut j) = (0usize, 0usize);
    while let (Some(a), Some(b)) = (old.get(i..), new.get(j..)) {
        let equal = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        if equal > 0 {
            aligned.runs.push(Run { old: number(i), new: number(j), len: number(equal) });
            (i, j) = (i + equal, j + equal);
        }
        let (Some((first_old, a)), Some((first_new, b))) =
            (old.get(i..).and_then(<[_]>::split_first), new.get(j..).and_then(<[_]>::split_first))
        else {
            break;
        };
        let ahead = if equal >= FAR / 16 { FAR } else { NEAR };
        let in_old = a.iter().take(ahead).position(|key| key == first_new);
        let in_new = b.iter().take(ahead).position(|key| key == first_old);
        let (skip_old, skip_new) = match (in_old, in_new) {
            (Some(a), Some(b)) if b < a => (0, b + 1),
            (Some(a), _) => (a + 1, 0),
            (None, Some(b)) => (0, b + 1),
            (None, None) => (1, 1),
        };
        aligned.old.extend((i..i + skip_old).map(number));
        aligned.new.extend((j..j + skip_new).map(number));
        (i, j) = (i + skip_old, j + skip_new);
    }
    aligned.old.extend((i..old.len()).map(number));
    aligned.new.extend((j..new.len()).map(number));
    aligned
}

/// The number of a row, in 32 bits: tables are compared up to row `MAX_ROWS`, which is less than 2^32.
pub(super) fn number(row: usize) -> u32 {
    u32::try_from(row).expect("fewer rows are compared")
}

pub(super) fn differences(rows: &dyn Comparable, progress: &Progress, steps: u64) -> Differences {
    let faults = Faults::default();
    let (old, new) = threads::join(|| rows.keys(Side::Old, &faults), || rows.keys(Side::New, &faults));
    // A row that cannot be found in one file is not missing there.
    let is_whole = faults.is_empty();
    let aligned = align(&old.hashes, &new.hashes);
    let total = (old.hashes.len() as u64).max(1);
    let advance = |count: usize| progress.advance(count as u64 * steps / total);

    let piece = rows.piece().max(1);
    // Equal rows within a run need no further work: any pairing of them is valid.
    let parted = match rows.arranged(&mut aligned.runs.iter().copied().flat_map(Run::pairs)) {
        Some(pairs) => compared(rows, pairs.par_chunks(piece), &faults, &advance),
        None => {
            let runs: Vec<Run> = aligned.runs.iter().flat_map(|run| run.split(piece)).collect();
            let pairs = runs.par_iter().map(|run| run.pairs().collect::<Vec<_>>());
            compared(rows, pairs, &faults, &advance)
        }
    };
    let left_old = left(aligned.old, parted.iter().map(|(pair, _)| pair.0), &old);
    let left_new = left(aligned.new, parted.iter().map(|(pair, _)| pair.1), &new);
    let (rows_old, rows_new) = (old.hashes.len() as u64, new.hashes.len() as u64);
    drop((old, new));

    let mut sorted = Sorted::default();
    sorted.pair(rows, &left_old, &left_new);
    let Sorted { mut pairs, mut removed, mut added } = sorted;
    pairs.par_sort_unstable();
    let mut changed = Vec::new();
    for (pair, verdict) in compared(rows, pairs.par_chunks(piece), &faults, &|_| {}) {
        if verdict == Verdict::Changed {
            changed.push(pair);
        } else {
            removed.push(pair.0);
            added.push(pair.1);
        }
    }
    if !is_whole {
        removed.clear();
        added.clear();
    }
    removed.sort_unstable();
    added.sort_unstable();
    let (faults, fault_count) = faults.into_inner();
    Differences { removed, added, changed, rows_old, rows_new, faults, fault_count }
}

/// The rows that are left over, and the rows of pairs that are parted again, sorted by key.
fn left(rows: Vec<u32>, parted: impl Iterator<Item = u32>, keys: &Keys) -> Vec<Hashed> {
    let rows = rows.into_iter().chain(parted).filter(|row| keys.skipped.binary_search(row).is_err());
    let mut left: Vec<Hashed> = rows.map(|row| (keys.hashes[row as usize], row)).collect();
    left.par_sort_unstable();
    left
}

/// The unequal pairs. Threads take the pieces in turn, and `advance` gets the number of compared pairs.
fn compared<P: Borrow<[(u32, u32)]> + Send>(
    rows: &dyn Comparable,
    pieces: impl IndexedParallelIterator<Item = P>,
    faults: &Faults,
    advance: &(dyn Fn(usize) + Sync),
) -> Vec<((u32, u32), Verdict)> {
    let differing = pieces.with_max_len(1).flat_map_iter(|pairs| {
        let mut differing = Vec::new();
        rows.compare(pairs.borrow(), &mut |pair, verdict| match verdict {
            Ok(Verdict::Same) => {}
            Ok(verdict) => differing.push((pair, verdict)),
            Err((side, error)) => faults.add(side, error),
        });
        advance(pairs.borrow().len());
        differing
    });
    differing.collect()
}

impl Run {
    fn split(self, piece: usize) -> impl Iterator<Item = Self> {
        let piece = number(piece);
        (0..self.len).step_by(piece as usize).map(move |start| Self {
            old: self.old + start,
            new: self.new + start,
            len: piece.min(self.len - start),
        })
    }

    fn pairs(self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.len).map(move |at| (self.old + at, self.new + at))
    }
}

/// Rows that are left over, sorted by key and then by row.
#[derive(Debug, Default)]
struct Sorted {
    pairs: Vec<(u32, u32)>,
    removed: Vec<u32>,
    added: Vec<u32>,
}

type Hashed = (u64, u32);

/// Removes the entries with the first hash from the front, and returns them.
fn take_group<'s>(sorted: &mut &'s [Hashed]) -> &'s [Hashed] {
    let Some((first, _)) = sorted.first() else { return &[] };
    let len = sorted.iter().take_while(|(hash, _)| hash == first).count();
    let (group, rest) = sorted.split_at(len);
    *sorted = rest;
    group
}

/// Walks over two sorted lists, a group of one hash at a time.
fn groups<'s>(mut old: &'s [Hashed], mut new: &'s [Hashed], mut each: impl FnMut(&'s [Hashed], &'s [Hashed])) {
    loop {
        match (old.first(), new.first()) {
            (None, None) => return,
            (Some(a), Some(b)) if a.0 == b.0 => {
                let group = take_group(&mut old);
                each(group, take_group(&mut new));
            }
            (Some(a), b) if b.is_none_or(|b| a.0 < b.0) => each(take_group(&mut old), &[]),
            _ => each(&[], take_group(&mut new)),
        }
    }
}

impl Sorted {
    /// Pairs rows of one key. For repeated keys, equal rows are paired first, then the others in order.
    fn pair(&mut self, rows: &dyn Comparable, old: &[Hashed], new: &[Hashed]) {
        let (mut many_old, mut many_new) = (Vec::new(), Vec::new());
        groups(old, new, |a, b| match (a, b) {
            ([a], [b]) => self.pairs.push((a.1, b.1)),
            (a, []) => self.removed.extend(a.iter().map(|a| a.1)),
            ([], b) => self.added.extend(b.iter().map(|b| b.1)),
            (a, b) => {
                many_old.extend_from_slice(a);
                many_new.extend_from_slice(b);
            }
        });
        if many_old.is_empty() {
            return;
        }
        let (old_contents, new_contents) =
            threads::join(|| contents(rows, Side::Old, &many_old), || contents(rows, Side::New, &many_new));
        groups(&many_old, &many_new, |a, b| {
            let (a, b) = (by_content(a, &old_contents), by_content(b, &new_contents));
            let (mut rest_old, mut rest_new) = (Vec::new(), Vec::new());
            groups(&a, &b, |a, b| {
                let both = a.len().min(b.len());
                self.pairs.extend(a.iter().zip(b).map(|(a, b)| (a.1, b.1)));
                rest_old.extend(a.iter().skip(both).map(|a| a.1));
                rest_new.extend(b.iter().skip(both).map(|b| b.1));
            });
            rest_old.sort_unstable();
            rest_new.sort_unstable();
            let both = rest_old.len().min(rest_new.len());
            self.pairs.extend(rest_old.iter().copied().zip(rest_new.iter().copied()));
            self.removed.extend(rest_old.into_iter().skip(both));
            self.added.extend(rest_new.into_iter().skip(both));
        });
    }
}

/// The rows of a group with the hashes of their contents, in the order of these.
fn by_content(group: &[Hashed], contents: &[(u32, u64)]) -> Vec<Hashed> {
    let hashed = group.iter().map(|(_, row)| {
        let at = contents.binary_search_by_key(row, |content| content.0).expect("the contents of all groups are read");
        (contents[at].1, *row)
    });
    let mut group: Vec<Hashed> = hashed.collect();
    group.sort_unstable();
    group
}

/// The contents of these rows, in the order of rows.
fn contents(rows: &dyn Comparable, side: Side, of: &[Hashed]) -> Vec<(u32, u64)> {
    let mut numbers: Vec<u32> = of.iter().map(|(_, row)| *row).collect();
    numbers.par_sort_unstable();
    let chunks = numbers.par_chunks(rows.piece());
    chunks.flat_map_iter(|chunk| chunk.iter().copied().zip(rows.contents(side, chunk))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Each;
    use crate::error::{Error, ErrorKind};

    /// Rows of a key and a text. After the text "lost" no row is found. The text "other" is the text of another key with the
    /// same hash.
    struct Lists([Vec<(u64, &'static str)>; 2]);

    impl Comparable for Lists {
        fn keys(&self, side: Side, faults: &Faults) -> Keys {
            if self.0[side as usize].iter().any(|row| row.1 == "lost") {
                faults.add(side, Error::of_part(ErrorKind::damaged("the rows"), "lost"));
            }
            Keys { hashes: self.0[side as usize].iter().map(|row| row.0).collect(), skipped: Vec::new() }
        }

        fn compare(&self, pairs: &[(u32, u32)], each: &mut Each<'_>) {
            for &(a, b) in pairs {
                let verdict = match (self.0[0][a as usize], self.0[1][b as usize]) {
                    (old, new) if old == new => Verdict::Same,
                    (old, new) if (old.1 == "other") != (new.1 == "other") => Verdict::Other,
                    _ => Verdict::Changed,
                };
                each((a, b), Ok(verdict));
            }
        }

        fn contents(&self, side: Side, rows: &[u32]) -> Vec<u64> {
            rows.iter().map(|&row| self.0[side as usize][row as usize].1.len() as u64).collect()
        }

        fn piece(&self) -> usize {
            3
        }
    }

    fn compared(old: &[(u64, &'static str)], new: &[(u64, &'static str)]) -> (Vec<u32>, Vec<u32>, Vec<(u32, u32)>) {
        let found = differences(&Lists([old.to_vec(), new.to_vec()]), &Progress::default(), 0);
        (found.removed, found.added, found.changed)
    }

    #[test]
    fn rows_are_paired_by_key_in_any_order() {
        let old = [(1, "a"), (2, "b"), (3, "c"), (4, "d")];
        assert_eq!(compared(&old, &old), (vec![], vec![], vec![]));
        assert_eq!(compared(&old, &[(4, "d"), (2, "b"), (1, "a"), (3, "c")]), (vec![], vec![], vec![]));
        assert_eq!(compared(&old, &[(9, "z"), (1, "a"), (4, "x"), (3, "c")]), (vec![1], vec![0], vec![(3, 2)]));
        assert_eq!(compared(&old, &[]), (vec![0, 1, 2, 3], vec![], vec![]));
        assert_eq!(compared(&[], &old), (vec![], vec![0, 1, 2, 3], vec![]));
    }

    #[test]
    fn two_keys_of_one_hash_are_a_removed_and_an_added_row() {
        let old = [(1, "a"), (2, "b"), (3, "c")];
        assert_eq!(compared(&old, &[(1, "a"), (3, "x"), (2, "other")]), (vec![1], vec![2], vec![(2, 1)]));
    }

    #[test]
    fn rows_that_the_other_side_may_have_are_neither_added_nor_removed() {
        let (old, cut) = ([(1, "a"), (2, "b"), (3, "c")], [(4, "d"), (2, "x"), (5, "lost")]);
        assert_eq!(compared(&old, &cut), (vec![], vec![], vec![(1, 1)]));
        assert_eq!(compared(&cut, &old), (vec![], vec![], vec![(1, 1)]));
    }

    #[test]
    fn of_rows_with_one_key_equal_ones_go_together_first() {
        let old = [(7, "a"), (7, "bb"), (7, "ccc"), (7, "dddd")];
        assert_eq!(compared(&old, &[(7, "bb"), (7, "ccc"), (7, "dddd")]), (vec![0], vec![], vec![]));
        assert_eq!(compared(&old, &[(7, "dddd"), (7, "a"), (7, "xxxxx"), (7, "bb")]), (vec![], vec![], vec![(2, 2)]));
        assert_eq!(compared(&old[..1], &old), (vec![], vec![1, 2, 3], vec![]));
    }

    #[test]
    fn a_walk_finds_its_way_back_after_a_gap() {
        let old: Vec<u64> = (0..5000).collect();
        let mut new = old.clone();
        new.drain(2000..2500);
        new.splice(100..100, 9000..9010);
        let aligned = align(&old, &new);
        assert_eq!(aligned.old, (2000..2500).collect::<Vec<_>>());
        assert_eq!(aligned.new, (100..110).collect::<Vec<_>>());
        assert_eq!(aligned.runs.len(), 3);
    }

    #[test]
    fn shuffled_sides_agree_with_a_comparison_of_all_with_all() {
        let mut rng = fastrand::Rng::with_seed(5);
        for _ in 0..300 {
            let texts = ["", "a", "bb", "ccc"];
            let mut side = || (0..rng.usize(..24)).map(|_| (rng.u64(..9), texts[rng.usize(..4)])).collect::<Vec<_>>();
            let (old, new) = (side(), side());
            let (removed, added, changed) = compared(&old, &new);
            // Each key keeps as many equal pairs as there can be, and as few rows alone.
            for key in 0..9 {
                let count = |side: &[(u64, &str)], text: &str| side.iter().filter(|r| **r == (key, text)).count();
                let total = |side: &[(u64, &str)]| side.iter().filter(|r| r.0 == key).count();
                let equal: usize = texts.iter().map(|t| count(&old, t).min(count(&new, t))).sum();
                let pairs = total(&old).min(total(&new));
                assert_eq!(changed.iter().filter(|p| old[p.0 as usize].0 == key).count(), pairs - equal);
                assert_eq!(removed.iter().filter(|r| old[**r as usize].0 == key).count(), total(&old) - pairs);
                assert_eq!(added.iter().filter(|r| new[**r as usize].0 == key).count(), total(&new) - pairs);
            }
        }
    }
}
