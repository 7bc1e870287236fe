//! Rows that belong to parts of a file, one part after another.

use std::ops::Range;

/// The end of the rows of each part.
#[derive(Debug, Clone, Default)]
pub struct RowEnds(Vec<usize>);

impl RowEnds {
    /// Adds a part with this many rows. A sum that memory could not hold is as good as the largest.
    pub fn push(&mut self, rows: usize) {
        self.0.push(self.total().saturating_add(rows));
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.0.len()
    }

    /// The number of rows of all parts.
    pub fn total(&self) -> usize {
        self.0.last().map_or(0, |end| *end)
    }

    /// The rows of a part; none, after all rows, past the last part.
    pub fn rows(&self, part: usize) -> Range<usize> {
        let before = part.min(self.0.len()).checked_sub(1);
        let start = before.map_or(0, |before| self.0[before]);
        start..self.0.get(part).map_or(start, |end| *end)
    }

    /// The part that has `row`, and the row's number in it.
    pub fn locate(&self, row: usize) -> Option<(usize, usize)> {
        let part = self.0.partition_point(|end| *end <= row);
        (part < self.0.len()).then(|| (part, row - self.rows(part).start))
    }
}

impl FromIterator<usize> for RowEnds {
    fn from_iter<I: IntoIterator<Item = usize>>(rows: I) -> Self {
        let mut ends = Self::default();
        rows.into_iter().for_each(|rows| ends.push(rows));
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_of_parts_and_empty_parts_have_none() {
        let ends: RowEnds = [2, 0, 1].into_iter().collect();
        assert_eq!((ends.total(), ends.rows(0), ends.rows(1), ends.rows(2), ends.rows(3)), (3, 0..2, 2..2, 2..3, 3..3));
        assert_eq!([0, 1, 2, 3].map(|row| ends.locate(row)), [Some((0, 0)), Some((0, 1)), Some((2, 0)), None]);
    }
}
