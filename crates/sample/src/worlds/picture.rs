//! Pictures made of flat shapes, with the same texels on every platform: only sums, products and quotients.

use crate::dds::painted;

pub type Point = [f32; 2];
pub type Colour = [u8; 3];

/// An area of a picture, whose sides are 1; y leads down.
#[derive(Debug, Clone)]
pub enum Area {
    /// A middle and a radius.
    Disc(Point, f32),
    /// A line with its width at both ends.
    Line(Point, Point, [f32; 2]),
    Polygon(Vec<Point>),
}
pub use Area::{Disc, Line, Polygon};

impl Area {
    fn has(&self, [x, y]: Point) -> bool {
        match self {
            Self::Disc([cx, cy], radius) => (x - cx) * (x - cx) + (y - cy) * (y - cy) <= radius * radius,
            Self::Line([ax, ay], [bx, by], [at_a, at_b]) => {
                let [along, across] = [bx - ax, by - ay];
                let t = ((x - ax) * along + (y - ay) * across) / (along * along + across * across);
                let t = t.clamp(0.0, 1.0);
                let [dx, dy] = [x - ax - along * t, y - ay - across * t];
                let half = (at_a + (at_b - at_a) * t) / 2.0;
                dx * dx + dy * dy <= half * half
            }
            Self::Polygon(corners) => {
                let sides = corners.iter().zip(corners.iter().cycle().skip(1));
                let crossed = sides
                    .filter(|([ax, ay], [bx, by])| (*ay > y) != (*by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax);
                crossed.count() % 2 == 1
            }
        }
    }

    /// The corners of a rectangle around the area.
    fn bounds(&self) -> [Point; 2] {
        let around = |points: &[Point], reach: f32| {
            let least = |axis: usize| points.iter().map(|point| point[axis]).fold(f32::MAX, f32::min) - reach;
            let most = |axis: usize| points.iter().map(|point| point[axis]).fold(f32::MIN, f32::max) + reach;
            [[least(0), least(1)], [most(0), most(1)]]
        };
        match self {
            Self::Disc(middle, radius) => around(&[*middle], *radius),
            Self::Line(from, to, [a, b]) => around(&[*from, *to], a.max(*b) / 2.0),
            Self::Polygon(corners) => around(corners, 0.0),
        }
    }
}

/// A `.dds` with all levels: areas on a ground, later ones in front.
pub fn picture(side: u32, ground: Colour, areas: &[(Area, Colour)]) -> Vec<u8> {
    // Each texel is the mean of four points.
    let fine = 2 * side as usize;
    let mut points = vec![ground; fine * fine];
    for (area, colour) in areas {
        let [low, high] =
            area.bounds().map(|corner| corner.map(|c| (c * fine as f32).clamp(0.0, fine as f32) as usize));
        for row in low[1]..(high[1] + 1).min(fine) {
            for column in low[0]..(high[0] + 1).min(fine) {
                if area.has([column, row].map(|at| (at as f32 + 0.5) / fine as f32)) {
                    points[row * fine + column] = *colour;
                }
            }
        }
    }
    painted(side, |[x, y]| {
        let corner = 2 * y as usize * fine + 2 * x as usize;
        let four = [0, 1, fine, fine + 1].map(|step| points[corner + step]);
        [0, 1, 2].map(|c| (four.iter().map(|point| u32::from(point[c])).sum::<u32>() / 4) as u8)
    })
}
