//! Boxes as binary glTF: a node for each box, over one cube.
//!
//! The game's axes are left-handed and glTF's axes are right-handed: x is mirrored. Below the root, which scales to metres,
//! everything else has the numbers of the file.

use super::Scene;
use super::part::PartShape;
use crate::error::Result;
use crate::scene::glb;
use crate::scene::model::Node;
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
    /// The matrix that makes this box of a cube: columns, right-handed.
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
    glb::write(&scene.model(), out)
}
