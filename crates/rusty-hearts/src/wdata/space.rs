//! Boxes of a map in space: the boxes that contain a point, or intersect a segment or another box.

use super::layout::Obb;
use super::{BoxType, Map};
use crate::bytes::le::F32;
use crate::error::Result;
use crate::table::place::{OrientedBox, Region, dot, minus};
use crate::threads::prelude::*;

type Vec3 = [f64; 3];

/// The space of a stored box: `extents` times `scale`, rotated by `rotation`, around `position`, as the published
/// program draws it. `None` if a number is not finite or the rotation is 0 0 0 0.
pub fn volume_of(obb: &Obb) -> Option<OrientedBox> {
    let [x, y, z, w] = &obb.rotation;
    let [x, y, z, w] = [number(x), number(y), number(z), number(w)];
    let length = (x * x + y * y + z * z + w * w).sqrt();
    let ([sx, sy, sz], [ex, ey, ez]) = (numbers(&obb.scale), numbers(&obb.extents));
    let volume = OrientedBox {
        center: numbers(&obb.position),
        axes: rotation([x / length, y / length, z / length, w / length]),
        half: [(sx * ex).abs(), (sy * ey).abs(), (sz * ez).abs()],
    };
    volume.is_finite().then_some(volume)
}

/// The axes that a unit quaternion turns x, y and z into.
fn rotation([x, y, z, w]: [f64; 4]) -> [Vec3; 3] {
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w), 2.0 * (x * z - y * w)],
        [2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w)],
        [2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hits {
    /// Type and number within the type, by type and in file order.
    pub boxes: Vec<(BoxType, usize)>,
    /// The number of boxes that describe no space, and can be neither inside nor outside.
    pub undecided: usize,
}

impl Map {
    /// The event boxes that share a point with `place`.
    ///
    /// # Errors
    /// When a box cannot be found.
    pub fn boxes_at(&self, place: &Region) -> Result<Hits> {
        self.find_all_boxes();
        let mut all = Hits::default();
        for box_type in BoxType::ALL {
            let records = self.boxes(box_type)?;
            records.check()?;
            let found = records.places().filter_map(|(number, obb)| {
                if is_far(obb, place) {
                    return None;
                }
                match volume_of(obb) {
                    Some(volume) => volume.is_at(place).then_some((number, true)),
                    None => Some((number, false)),
                }
            });
            for (number, decided) in found.collect::<Vec<_>>() {
                if decided {
                    all.boxes.push((box_type, number));
                } else {
                    all.undecided = all.undecided.saturating_add(1);
                }
            }
        }
        Ok(all)
    }
}

/// Whether the bounding sphere of a box misses `place`: decided without its rotation, which takes most of the time.
/// `false` for a box that describes no space.
fn is_far(obb: &Obb, place: &Region) -> bool {
    let center @ [cx, cy, cz] = numbers(&obb.position);
    let ([sx, sy, sz], [ex, ey, ez]) = (numbers(&obb.scale), numbers(&obb.extents));
    let half = [sx * ex, sy * ey, sz * ez];
    let nearest = match *place {
        Region::Point(point) => point,
        Region::Segment(a, b) => {
            let along = minus(b, a);
            let t = (dot(minus(center, a), along) / dot(along, along)).clamp(0.0, 1.0);
            let t = if t.is_nan() { 0.0 } else { t };
            let ([ax, ay, az], [x, y, z]) = (a, along);
            [ax + x * t, ay + y * t, az + z * t]
        }
        Region::Box([ax, ay, az], [bx, by, bz]) => {
            fn between(c: f64, a: f64, b: f64) -> f64 {
                c.max(a.min(b)).min(a.max(b))
            }
            [between(cx, ax, bx), between(cy, ay, by), between(cz, az, bz)]
        }
    };
    let apart = minus(center, nearest);
    let turns = obb.rotation.iter().any(|v| v.get() != 0.0) && obb.rotation.iter().all(|v| v.get().is_finite());
    // A margin for rounding errors.
    turns && dot(half, half).is_finite() && dot(apart, apart) > dot(half, half) * (1.0 + 1e-9)
}

#[inline]
fn number(stored: &F32) -> f64 {
    stored.get().into()
}

#[inline]
fn numbers([x, y, z]: &[F32; 3]) -> Vec3 {
    [number(x), number(y), number(z)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::FRAC_PI_8;

    /// 4 by 2 by 1 (half), turned by 45 degrees around the vertical axis, scaled by 2 along the first.
    fn turned() -> OrientedBox {
        let floats = |v: [f32; 3]| v.map(F32::new);
        let rotation = [0.0, FRAC_PI_8.sin(), 0.0, FRAC_PI_8.cos()].map(F32::new);
        volume_of(&Obb {
            position: floats([10.0, 0.0, 10.0]),
            scale: floats([2.0, 1.0, 1.0]),
            rotation,
            extents: floats([2.0, 2.0, 1.0]),
        })
        .unwrap()
    }

    #[test]
    fn the_rotation_decides_what_is_inside() {
        let volume = turned();
        // A rotation by +45 degrees around y takes the long axis x to (1, 0, -1).
        assert!(volume.contains([12.5, 0.0, 7.5]));
        assert!(!volume.contains([12.5, 0.0, 12.5]));
        assert!(volume.contains([10.0, 2.0, 10.0]), "its surface belongs to it");
        assert!(!volume.contains([10.0, 2.001, 10.0]));
        for corner in volume.corners() {
            let shrunk: [f64; 3] = std::array::from_fn(|i| volume.center[i] + (corner[i] - volume.center[i]) * 0.999);
            assert!(volume.contains(shrunk));
        }
    }

    #[test]
    fn segments_meet_what_they_pass_through() {
        let volume = turned();
        assert!(volume.meets_segment([10.0, 50.0, 10.0], [10.0, -50.0, 10.0]));
        assert!(!volume.meets_segment([10.0, 50.0, 10.0], [10.0, 3.0, 10.0]), "it ends above");
        assert!(volume.meets_segment([10.0, 0.0, 10.0], [10.1, 0.0, 10.0]), "it lies within");
        assert!(!volume.meets_segment([14.0, 0.0, 0.0], [14.0, 0.0, 4.0]));
        assert!(volume.contains([10.0, 0.0, 10.0]) && volume.meets_segment([10.0, 0.0, 10.0], [10.0, 0.0, 10.0]));
    }

    #[test]
    fn boxes_meet_boxes_like_their_points_do() {
        let volume = turned();
        assert!(volume.meets(&OrientedBox::between([12.0, -1.0, 7.0], [13.0, 1.0, 8.0])));
        // Inside of the bounds of the rotated box, but outside of the box.
        assert!(!volume.meets(&OrientedBox::between([12.2, -1.0, 12.2], [13.0, 1.0, 13.0])));
        assert!(volume.meets(&OrientedBox::between([-99.0; 3], [99.0; 3])));
        // Two bars that cross at a distance of 1: only a plane along both of their edges separates them.
        let stick = |axes: [[f64; 3]; 3], y: f64| OrientedBox { center: [0.0, y, 0.0], axes, half: [10.0, 0.1, 0.1] };
        let h = std::f64::consts::FRAC_1_SQRT_2;
        let a = stick([[h, h, 0.0], [-h, h, 0.0], [0.0, 0.0, 1.0]], 0.0);
        let b = stick([[0.0, h, h], [0.0, -h, h], [1.0, 0.0, 0.0]], 1.0);
        assert!(a.meets(&a) && b.meets(&b) && !a.meets(&b) && !b.meets(&a));
    }

    #[test]
    fn what_describes_no_space_is_no_volume() {
        let zero = [F32::new(0.0); 3];
        let obb = Obb { position: zero, scale: zero, rotation: [F32::new(0.0); 4], extents: zero };
        assert_eq!(volume_of(&obb), None);
    }
}
