//! The files of an archive by their paths, which need not be unique.

use crate::codec::cityhash64;
use crate::threads::prelude::*;

/// An index of paths, which it does not keep: it has their hashes.
#[derive(Debug, Default)]
pub struct PathIndex(Vec<(u64, usize)>);

impl PathIndex {
    /// An index of these files, each of a number and a path.
    pub fn new<P: AsRef<str>>(files: impl Iterator<Item = (usize, P)>) -> Self {
        let mut hashes: Vec<_> = files.map(|(n, path)| (cityhash64(path.as_ref().as_bytes()), n)).collect();
        hashes.par_sort_unstable();
        Self(hashes)
    }

    /// The numbers of the files whose path may be `path`, in ascending order: all of those whose path it is, and hardly ever
    /// another.
    pub fn candidates(&self, path: &str) -> impl Iterator<Item = usize> {
        self.of_hash(cityhash64(path.as_bytes()))
    }

    /// The numbers of the files whose path has this hash, in ascending order.
    pub fn of_hash(&self, hash: u64) -> impl Iterator<Item = usize> {
        let first = self.0.partition_point(|(other, _)| *other < hash);
        self.0.iter().skip(first).take_while(move |(other, _)| *other == hash).map(|(_, n)| *n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_of_a_path_come_in_order() {
        let paths = ["b", "a", "c", "a", "a", ""];
        let index = PathIndex::new(paths.iter().enumerate());
        let found = |path| index.candidates(path).collect::<Vec<_>>();
        assert_eq!((found("a"), found("b"), found(""), found("d")), (vec![1, 3, 4], vec![0], vec![5], vec![]));
    }
}
