//! Boxes as binary glTF: a node for each box, over one cube.
//!
//! The game's axes are left-handed and glTF's axes are right-handed: x is mirrored. Below the root, which scales to metres,
//! everything else has the numbers of the file.

use super::part::PartShape;
use super::{Node, Scene, write_glb};
use crate::error::Result;
use std::io::Write;

/// The name of the scene with hit boxes and of its root, which the way back ignores.
pub(crate) const HIT_BOXES: &str = "hit boxes";

/// A box to be written.
pub(crate) struct GlbBox<'a> {
    pub(crate) name: &'a str,
    pub(crate) material: usize,
    pub(crate) center: [f64; 3],
    /// Vectors from the centre to three of its sides. A box without a size is shown as a small cube.
    pub(crate) sides: [[f64; 3]; 3],
}

/// Half the size of a box whose size is not known, as the file counts.
const SMALL: f64 = 0.05;

impl GlbBox<'_> {
    /// The matrix that makes this box of [`corners`]: columns, right-handed.
    fn matrix(&self) -> [f32; 16] {
        let unknown = self.sides.as_flattened().iter().all(|v| *v == 0.0);
        let small = [[SMALL, 0.0, 0.0], [0.0, SMALL, 0.0], [0.0, 0.0, SMALL]];
        let [[a, b, c], [d, e, f], [g, h, i]] = if unknown { small } else { self.sides };
        let [x, y, z] = self.center;
        #[expect(clippy::cast_possible_truncation, reason = "files have floats of 32 bits")]
        [-a, b, c, 0.0, -d, e, f, 0.0, -g, h, i, 0.0, -x, y, z, 1.0].map(|v| (v + 0.0) as f32)
    }
}

impl Scene<'_> {
    /// Adds boxes as a scene called `name`, with materials by their names and colours.
    pub(crate) fn add_boxes<'n>(
        &mut self,
        name: &str,
        materials: impl Iterator<Item = (&'n str, [f32; 3])>,
        boxes: impl Iterator<Item = GlbBox<'n>>,
    ) {
        let mut cubes = Vec::new();
        for (name, [r, g, b]) in materials {
            let material = self.paint(name, [r, g, b, 1.0]);
            cubes.push(self.show(name.to_owned(), Ok(PartShape::cube()), material).expect("a cube has triangles"));
        }
        let boxes =
            boxes.map(|one| Node { name: one.name.into(), matrix: Some(one.matrix()), ..cubes[one.material].clone() });
        let root = self.add(Node { name: name.into(), ..Node::default() }, boxes);
        self.glb_only.push(root);
    }
}

/// Writes boxes alone: see [`Scene::add_boxes`].
///
/// # Errors
/// `Limit` when the file would have more than 4 GiB, and `Io` when `out` fails.
pub(crate) fn write<'n>(
    name: &str,
    materials: impl Iterator<Item = (&'n str, [f32; 3])>,
    boxes: impl Iterator<Item = GlbBox<'n>>,
    out: &mut dyn Write,
) -> Result<()> {
    let mut scene = Scene { name: name.to_owned(), ..Scene::default() };
    scene.add_boxes(name, materials, boxes);
    write_glb(&scene, out)
}

/// The vertices of a cube from -1 to 1, four for each face, with their normals.
pub(in crate::geometry) fn corners() -> impl Iterator<Item = ([f32; 3], [f32; 3])> {
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

/// The triangles of the cube, by its vertices.
pub(in crate::geometry) fn triangles() -> impl Iterator<Item = [u32; 3]> {
    (0..24).step_by(4).flat_map(|first: u32| [[0, 1, 2], [0, 2, 3]].map(|face| face.map(|n| first + n)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_of_the_cube_turn_left_around_their_normals() {
        let corners: Vec<_> = corners().collect();
        assert_eq!((corners.len(), triangles().count()), (24, 12));
        for corner in triangles() {
            let [(a, normal), (b, _), (c, _)] = corner.map(|n| corners[n as usize]);
            let minus = |p: [f32; 3], q: [f32; 3]| [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
            let ([x, y, z], [u, v, w]) = (minus(b, a), minus(c, a));
            let turn = [y * w - z * v, z * u - x * w, x * v - y * u];
            assert_eq!(turn, normal.map(|n| n * 4.0));
        }
    }
}
