//! A cube from -1 to 1. A matrix turns it into a box.

#![allow(clippy::arithmetic_side_effects, reason = "numbers of its 24 vertices")]

/// The vertices, four for each face, with their normals.
pub fn corners() -> impl Iterator<Item = ([f32; 3], [f32; 3])> {
    let faces = [0usize, 1, 2].into_iter().flat_map(|axis| [(axis, 1.0f32), (axis, -1.0)]);
    faces.flat_map(|(axis, sign)| {
        // Two other axes, such that the corners turn left around the normal.
        [[-1.0f32, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[u, v]| {
            let (mut point, mut normal) = ([sign, u * sign, v], [sign, 0.0, 0.0]);
            point.rotate_right(axis);
            normal.rotate_right(axis);
            (point, normal)
        })
    })
}

/// The triangles, by their vertices.
pub fn triangles() -> impl Iterator<Item = [u32; 3]> {
    (0..24).step_by(4).flat_map(|first: u32| [[0, 1, 2], [0, 2, 3]].map(|face| face.map(|n| first + n)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{cross, minus};

    #[test]
    fn faces_of_the_cube_turn_left_around_their_normals() {
        let corners: Vec<_> = corners().collect();
        assert_eq!((corners.len(), triangles().count()), (24, 12));
        for corner in triangles() {
            let [(a, normal), (b, _), (c, _)] = corner.map(|n| corners[n as usize]);
            assert_eq!(cross(minus(b, a), minus(c, a)), normal.map(|n| n * 4.0));
        }
    }
}
