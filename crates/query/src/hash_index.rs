//! Rows by the hashes of their keys or cells.

/// Hashes and their rows, in order. The first bits of most hashes say nearly where each lies: a search by halves would wait
/// for memory at each step.
#[derive(Debug)]
pub(crate) struct HashIndex {
    rows: Vec<(u64, usize)>,
    /// Where the rows begin whose hashes have these first bits, and the end of all rows.
    starts: Vec<usize>,
    shift: u32,
}

impl HashIndex {
    /// One or two rows for each of the first bits.
    pub(crate) fn new(mut rows: Vec<(u64, usize)>) -> Self {
        rows.sort_unstable();
        let bits = rows.len().checked_ilog2().map_or(1, |bits| bits.max(1));
        let shift = u64::BITS - bits;
        let count = 1u64 << bits;
        let starts = (0..=count).map(|first| rows.partition_point(|(hash, _)| hash >> shift < first)).collect();
        Self { rows, starts, shift }
    }

    pub(crate) fn rows(&self, hash: u64) -> impl Iterator<Item = usize> {
        let first =
            usize::try_from(hash >> self.shift).expect("the first bits are as many as the starts in memory need");
        let near = &self.rows[self.starts[first]..self.starts[first + 1]];
        let start = near.partition_point(|(other, _)| *other < hash);
        near[start..].iter().take_while(move |(other, _)| *other == hash).map(|(_, row)| *row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_their_hashes_however_many_there_are() {
        let hash = |n: usize| crate::codec::spread(n as u64);
        for len in [0, 1, 2, 3, 100, 1000] {
            // Two rows of each hash, and the least and the greatest there is.
            let rows = (0..len).flat_map(|n| [(hash(n / 2 + 1), n)]).chain([(0, len), (u64::MAX, len + 1)]);
            let index = HashIndex::new(rows.clone().collect());
            for (wanted, row) in rows.clone() {
                let same: Vec<usize> = rows.clone().filter(|(h, _)| *h == wanted).map(|(_, row)| row).collect();
                assert_eq!(index.rows(wanted).collect::<Vec<_>>(), same, "{len}: {row}");
                assert_eq!(index.rows(wanted ^ 1).count(), 0, "{len}: {row}");
            }
        }
        assert_eq!(HashIndex::new(Vec::new()).rows(5).count(), 0);
    }
}
