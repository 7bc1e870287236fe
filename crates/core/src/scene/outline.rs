//! Outlines of boxes seen from above, and room for their names.

use std::collections::HashSet;

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
    let turn = |[ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point| (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
    let chain = |points: &mut dyn Iterator<Item = Point>| {
        let mut chain: Vec<Point> = Vec::new();
        for point in points {
            while let [.., a, b] = chain.as_slice()
                && turn(*a, *b, point) <= 0.0
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut lower = chain(&mut points.iter().copied());
    lower.extend(chain(&mut points.iter().rev().copied()));
    lower
}

/// The area of a polygon.
pub fn area(corners: &[Point]) -> f64 {
    let next = corners.iter().cycle().skip(1);
    corners.iter().zip(next).map(|([ax, ay], [bx, by])| ax * by - bx * ay).sum::<f64>().abs() / 2.0
}

/// The parts of the paper that have a label already, in squares of a label's height.
#[derive(Default)]
pub struct Taken(HashSet<(i64, i64)>);

impl Taken {
    /// Takes the place around `center`, if all of it is free.
    #[expect(clippy::cast_possible_truncation, reason = "a float that no integer holds becomes the nearest one")]
    pub fn take(&mut self, [x, y]: Point, [width, height]: Point) -> bool {
        let squares = |middle: f64, size: f64| {
            let (from, to) = ((middle - size / 2.0) / LABEL, (middle + size / 2.0) / LABEL);
            // The greatest width of a label, however long its name.
            (from.floor() as i64)..=(to.floor() as i64).min((from.floor() as i64).saturating_add(200))
        };
        let (columns, rows) = (squares(x, width), squares(y, height));
        let all = || columns.clone().flat_map(|column| rows.clone().map(move |row| (column, row)));
        let free = !all().any(|square| self.0.contains(&square));
        if free {
            self.0.extend(all());
        }
        free
    }
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
