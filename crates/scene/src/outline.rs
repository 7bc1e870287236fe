//! Outlines of boxes seen from above, and room for their names.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "numbers of shapes in memory")]

use std::collections::HashSet;
use std::ops::RangeInclusive;

/// A point of a plan.
pub type Point = [f64; 2];

/// Height of the text of labels.
pub const LABEL: f64 = 9.0;

/// The smallest polygon without dents around points, counterclockwise (Andrew's monotone chain).
pub fn hull(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let mut lower = chain(points.iter());
    lower.extend(chain(points.iter().rev()));
    lower
}

/// The points of one side of the polygon, except the last one.
fn chain<'p>(points: impl Iterator<Item = &'p Point>) -> Vec<Point> {
    let mut chain: Vec<Point> = Vec::new();
    for &[x, y] in points {
        while let [.., [ax, ay], [bx, by]] = chain.as_slice()
            && (bx - ax) * (y - ay) - (by - ay) * (x - ax) <= 0.0
        {
            chain.pop();
        }
        chain.push([x, y]);
    }
    chain.pop();
    chain
}

pub fn area(corners: &[Point]) -> f64 {
    let next = corners.iter().cycle().skip(1);
    corners.iter().zip(next).map(|([ax, ay], [bx, by])| ax * by - bx * ay).sum::<f64>().abs() / 2.0
}

/// The parts of the paper that have a label already, in squares of a label's height.
#[derive(Default)]
pub struct Taken(HashSet<(i64, i64)>);

impl Taken {
    /// Reserves the squares around `center` if all of them are free. Returns whether they were.
    pub fn take(&mut self, [x, y]: Point, [width, height]: Point) -> bool {
        let rows = squares(y, height);
        let squares: Vec<_> = squares(x, width).flat_map(|x| rows.clone().map(move |y| (x, y))).collect();
        let is_free = squares.iter().all(|square| !self.0.contains(square));
        if is_free {
            self.0.extend(squares);
        }
        is_free
    }
}

/// The numbers of the squares that `size` covers around `middle`.
#[expect(clippy::cast_possible_truncation, reason = "a float that no integer holds becomes the nearest one")]
fn squares(middle: f64, size: f64) -> RangeInclusive<i64> {
    let [from, to] = [middle - size / 2.0, middle + size / 2.0].map(|at| (at / LABEL).floor() as i64);
    // The greatest width of a label, however long its name.
    from..=to.min(from.saturating_add(200))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outline_of_a_turned_square() {
        let square = vec![[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0], [0.0, 0.0], [0.1, 0.2], [0.0, 1.0]];
        let outline = hull(square);
        assert_eq!(outline, [[-1.0, 0.0], [0.0, -1.0], [1.0, 0.0], [0.0, 1.0]]);
        assert!((area(&outline) - 2.0).abs() < 1e-12);
        assert_eq!(hull(vec![[1.0, 1.0]; 8]), [[1.0, 1.0]]);
    }

    #[test]
    fn labels_do_not_lie_on_each_other() {
        let mut taken = Taken::default();
        assert!(taken.take([100.0, 100.0], [60.0, 11.0]));
        assert!(!taken.take([130.0, 104.0], [60.0, 11.0]));
        assert!(taken.take([100.0, 140.0], [60.0, 11.0]));
        assert!(taken.take([f64::MAX, f64::MAX], [1e300, 1e300]));
    }
}
