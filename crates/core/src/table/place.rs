//! Positions in space for queries, and the volumes of rows.

type Vec3 = [f64; 3];

pub fn dot([ax, ay, az]: Vec3, [bx, by, bz]: Vec3) -> f64 {
    ax * bx + ay * by + az * bz
}

pub fn minus(a: Vec3, b: Vec3) -> Vec3 {
    let ([ax, ay, az], [bx, by, bz]) = (a, b);
    [ax - bx, ay - by, az - bz]
}

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    let ([ax, ay, az], [bx, by, bz]) = (a, b);
    [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]
}

/// A position in space for a query, in the coordinates of the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Region {
    Point([f64; 3]),
    /// The straight line between two points.
    Segment([f64; 3], [f64; 3]),
    /// The box that is parallel to the axes and has these corners.
    Box([f64; 3], [f64; 3]),
}

impl Region {
    /// This place in the nearest numbers of single precision.
    pub(crate) fn in_singles(&self) -> Self {
        match *self {
            Self::Point(point) => Self::Point(nearest_singles(point)),
            Self::Segment(a, b) => Self::Segment(nearest_singles(a), nearest_singles(b)),
            Self::Box(a, b) => Self::Box(nearest_singles(a), nearest_singles(b)),
        }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "the nearest float is wanted")]
fn nearest_singles(point: Vec3) -> Vec3 {
    point.map(|v| f64::from(v as f32))
}

/// An oriented box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrientedBox {
    pub center: [f64; 3],
    /// The directions of its edges, each of length 1.
    pub axes: [[f64; 3]; 3],
    /// Half of its size along each of `axes`.
    pub half: [f64; 3],
}

impl OrientedBox {
    /// The box that is parallel to the axes and has these corners.
    pub fn between(a: [f64; 3], b: [f64; 3]) -> Self {
        let ([ax, ay, az], [bx, by, bz]) = (a, b);
        Self {
            center: [f64::midpoint(ax, bx), f64::midpoint(ay, by), f64::midpoint(az, bz)],
            axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            half: [(ax - bx).abs() / 2.0, (ay - by).abs() / 2.0, (az - bz).abs() / 2.0],
        }
    }

    /// The box that is parallel to the axes and has these corners, in single precision.
    pub fn of_corners(a: [f32; 3], b: [f32; 3]) -> Self {
        Self::between(a.map(f64::from), b.map(f64::from))
    }

    /// A point as a box without extent.
    pub fn of_point(point: [f32; 3]) -> Self {
        Self::of_corners(point, point)
    }

    pub fn is_finite(&self) -> bool {
        self.center.iter().chain(&self.half).chain(self.axes.iter().flatten()).all(|number| number.is_finite())
    }

    /// A point in the box's own axes, from its centre.
    fn local(&self, point: Vec3) -> Vec3 {
        let from_center = minus(point, self.center);
        let [x, y, z] = self.axes;
        [dot(x, from_center), dot(y, from_center), dot(z, from_center)]
    }

    /// Whether `point` is in it, or on its surface.
    pub fn contains(&self, point: [f64; 3]) -> bool {
        self.local(point).iter().zip(self.half).all(|(distance, half)| distance.abs() <= half)
    }

    /// Whether any point of the line from `a` to `b` is in it.
    pub fn meets_segment(&self, a: [f64; 3], b: [f64; 3]) -> bool {
        let (from, to) = (self.local(a), self.local(b));
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        for ((from, to), half) in from.into_iter().zip(to).zip(self.half) {
            let along = to - from;
            if along == 0.0 {
                if from.abs() > half {
                    return false;
                }
                continue;
            }
            let (near, far) = ((-half - from) / along, (half - from) / along);
            enter = enter.max(near.min(far));
            leave = leave.min(near.max(far));
        }
        enter <= leave
    }

    /// Whether the two share a point: no plane separates them, neither along a face of one nor along an edge of each.
    pub fn meets(&self, other: &Self) -> bool {
        let between = minus(other.center, self.center);
        let edges = self.axes.iter().flat_map(|a| other.axes.iter().map(|b| cross(*a, *b)));
        // Parallel edges have no plane between them that their faces do not have.
        let edges = edges.filter(|axis| dot(*axis, *axis) > 1e-12);
        let mut axes = self.axes.iter().chain(&other.axes).copied().chain(edges);
        !axes.any(|axis| dot(between, axis).abs() > self.extent(axis) + other.extent(axis))
    }

    /// How far it reaches from its centre along `axis`.
    fn extent(&self, axis: Vec3) -> f64 {
        self.axes.iter().zip(self.half).map(|(own, half)| (dot(*own, axis) * half).abs()).sum()
    }

    /// Whether it shares a point with `place`.
    pub fn is_at(&self, place: &Region) -> bool {
        match place {
            Region::Point(point) => self.contains(*point),
            Region::Segment(a, b) => self.meets_segment(*a, *b),
            Region::Box(a, b) => self.meets(&Self::between(*a, *b)),
        }
    }

    /// The box's corners: bit 0 of their number selects the end of the first axis.
    pub fn corners(&self) -> [[f64; 3]; 8] {
        std::array::from_fn(|corner| {
            let mut point = self.center;
            for (bit, (axis, half)) in self.axes.iter().zip(self.half).enumerate() {
                let sign = if corner & (1 << bit) == 0 { -half } else { half };
                point.iter_mut().zip(axis).for_each(|(p, a)| *p += a * sign);
            }
            point
        })
    }
}
