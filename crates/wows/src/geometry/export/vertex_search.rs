//! Vertices by their positions.

#![warn(clippy::arithmetic_side_effects, clippy::indexing_slicing)]

use crate::scene::vector::{dot, minus, zip};
use std::collections::HashMap;

/// An index of vertices by the cells of a grid.
pub(super) struct VertexSearch<'p> {
    positions: &'p [[f32; 3]],
    cell: f32,
    /// The vertices of each cell, in order.
    cells: HashMap<[i64; 3], Vec<u32>>,
    /// The vertices on a curve through all of space, on which near ones are mostly near.
    curve: Vec<(u64, u32)>,
    low: [f32; 3],
    size: f32,
}

/// Vertices of a cell that are looked at. More than that many share no position in real meshes.
const MOST: usize = 64;

impl<'p> VertexSearch<'p> {
    /// Indexes `positions`; two that differ by at most `limit` count as one.
    pub(super) fn new(positions: &'p [[f32; 3]], limit: f32) -> Self {
        let low = positions.iter().fold([f32::INFINITY; 3], |low, p| zip(low, *p, f32::min));
        let high = positions.iter().fold([f32::NEG_INFINITY; 3], |high, p| zip(high, *p, f32::max));
        let size = minus(high, low).into_iter().fold(f32::MIN_POSITIVE, f32::max);
        let mut search = Self {
            positions,
            cell: (limit * 4.0).max(size * 1e-6),
            cells: HashMap::new(),
            curve: Vec::new(),
            low,
            size,
        };
        for (number, position) in (0..).zip(positions) {
            let cell = search.cells.entry(search.cell(*position)).or_default();
            if cell.len() < MOST {
                cell.push(number);
            }
        }
        search.curve = (0..).zip(positions).map(|(number, position)| (search.curve(*position), number)).collect();
        search.curve.sort_unstable();
        search
    }

    #[expect(clippy::cast_possible_truncation, reason = "a cell, which saturates")]
    fn cell(&self, position: [f32; 3]) -> [i64; 3] {
        position.map(|v| (f64::from(v) / f64::from(self.cell)).floor() as i64)
    }

    /// The vertices around a place, near ones and some that are not.
    pub(super) fn at(&self, place: [f32; 3]) -> impl Iterator<Item = usize> {
        let [x, y, z] = self.cell(place);
        let around = |v: i64| [v, v.saturating_sub(1), v.saturating_add(1)];
        let cells = around(x)
            .into_iter()
            .flat_map(move |x| around(y).into_iter().flat_map(move |y| around(z).map(|z| [x, y, z])));
        cells.flat_map(|cell| self.cells.get(&cell).into_iter().flatten()).map(|number| *number as usize)
    }

    /// The number of a place on the curve: the bits of its coordinates in turns.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 21 bits")]
    fn curve(&self, position: [f32; 3]) -> u64 {
        let scaled = minus(position, self.low).map(|v| (v / self.size * 2_097_151.0).clamp(0.0, 2_097_151.0) as u64);
        let bits = (0..21u32).rev().flat_map(|bit| scaled.map(|v| v >> bit & 1));
        bits.fold(0, |all, bit| all << 1 | bit)
    }

    /// A vertex that is near to a place: at it, if any is. `None` without vertices.
    pub(super) fn nearest(&self, place: [f32; 3]) -> Option<usize> {
        const AROUND: usize = 16;
        let middle = self.curve.partition_point(|(at, _)| *at < self.curve(place));
        let around =
            self.curve.get(middle.saturating_sub(AROUND)..self.curve.len().min(middle.saturating_add(AROUND)))?;
        let around = around.iter().map(|(_, number)| *number as usize).chain(self.at(place));
        let distance = |number: &usize| {
            let apart = minus(self.positions.get(*number).copied().unwrap_or(place), place);
            dot(apart, apart)
        };
        around.min_by(|a, b| distance(a).total_cmp(&distance(b)).then(a.cmp(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_are_found_where_they_are_and_near_it() {
        let mut random = fastrand::Rng::with_seed(1);
        let positions: Vec<[f32; 3]> = (0..500).map(|_| [0; 3].map(|_| random.f32() * 9.0 - 4.0)).collect();
        let search = VertexSearch::new(&positions, 1e-5);
        for (number, position) in positions.iter().enumerate() {
            assert!(search.at(position.map(|v| v + 9e-6)).any(|found| found == number));
            assert_eq!(search.nearest(*position), Some(number));
        }
        assert_eq!(VertexSearch::new(&[], 0.0).nearest([0.0; 3]), None);
        assert!(VertexSearch::new(&[[1.0; 3]; 9], 0.0).nearest([0.0; 3]).is_some());
    }
}
