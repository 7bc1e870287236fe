//! Tangents of vertices without any, as most programs compute them: MikkTSpace.

#![warn(clippy::arithmetic_side_effects, clippy::indexing_slicing)]

use super::lay::{Corners, normalized};
use crate::scene::vector::dot;
use bevy_mikktspace::{Geometry, TangentSpace, generate_tangents};
use std::collections::HashMap;

struct Surface<'c> {
    positions: &'c [[f32; 3]],
    normals: &'c [[f32; 3]],
    uvs: &'c [[f32; 2]],
    triangles: &'c [[u32; 3]],
    /// The sums of the tangents of each vertex.
    tangents: Vec<[f32; 4]>,
}

/// Triangles around one vertex. The library follows them from one to the next by recursion; real meshes have dozens.
const MOST: usize = 1024;

impl Surface<'_> {
    fn corner(&self, face: usize, vertex: usize) -> usize {
        let corner = self.triangles.get(face).and_then(|corners| corners.get(vertex));
        corner.map_or(0, |corner| *corner as usize)
    }

    /// The value of a corner; zeros for a vertex without one.
    fn value<const N: usize>(&self, values: &[[f32; N]], face: usize, vertex: usize) -> [f32; N] {
        values.get(self.corner(face, vertex)).copied().unwrap_or([0.0; N])
    }
}

impl Geometry for Surface<'_> {
    fn num_faces(&self) -> usize {
        self.triangles.len()
    }

    fn num_vertices_of_face(&self, _: usize) -> usize {
        3
    }

    fn position(&self, face: usize, vertex: usize) -> [f32; 3] {
        self.value(self.positions, face, vertex)
    }

    fn normal(&self, face: usize, vertex: usize) -> [f32; 3] {
        self.value(self.normals, face, vertex)
    }

    fn tex_coord(&self, face: usize, vertex: usize) -> [f32; 2] {
        self.value(self.uvs, face, vertex)
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, vertex: usize) {
        let corner = self.corner(face, vertex);
        let (Some(space), Some([a, b, c, sides])) = (space, self.tangents.get_mut(corner)) else { return };
        let [x, y, z, side] = space.tangent_encoded();
        // A vertex with both sides has that of its first triangle.
        if *sides == 0.0 || (*sides < 0.0) == (side < 0.0) {
            (*a, *b, *c, *sides) = (*a + x, *b + y, *c + z, side);
        }
    }
}

/// The tangents of all vertices, with the side of the binormal; `None` if normals or texture coordinates are absent, or if a vertex
/// has more triangles than any real mesh.
pub(super) fn compute(corners: &Corners, triangles: &[[u32; 3]]) -> Option<Vec<[f32; 4]>> {
    let (normals, uvs) = corners.normals.as_ref().zip(corners.uvs.as_ref())?;
    let normals: Vec<[f32; 3]> = normals.iter().map(|normal| normalized(*normal)).collect();
    let mut fans: HashMap<[u32; 3], usize> = HashMap::new();
    for corner in triangles.iter().flatten() {
        let place = corners.positions.get(*corner as usize)?.map(|v| (v + 0.0).to_bits());
        let fan = fans.entry(place).or_default();
        *fan = fan.saturating_add(1);
        if *fan > MOST {
            return None;
        }
    }
    let tangents = vec![[0.0; 4]; corners.positions.len()];
    let mut surface = Surface { positions: &corners.positions, normals: &normals, uvs, triangles, tangents };
    generate_tangents(&mut surface).ok()?;
    let all = surface.tangents.into_iter().zip(&normals).map(|([x, y, z, side], normal)| {
        let tangent = normalized([x, y, z]);
        let tangent = if dot(tangent, tangent) > 0.5 { tangent } else { super::part::across(*normal) };
        let [x, y, z] = tangent;
        [x, y, z, if side < 0.0 { -1.0 } else { 1.0 }]
    });
    Some(all.collect())
}

/// Whether computed sides are mostly the opposite of those that the file has for the vertices that `matched` names.
pub(super) fn is_mirrored(computed: &[[f32; 4]], old: Option<&[[f32; 4]]>, matched: &[Option<u32>]) -> bool {
    let both = computed.iter().zip(matched).filter_map(|(new, at)| Some((new, old?.get((*at)? as usize)?)));
    let (mut same, mut other) = (0usize, 0usize);
    for ([.., new], [.., old]) in both {
        let count = if (*new < 0.0) == (*old < 0.0) { &mut same } else { &mut other };
        *count = count.saturating_add(1);
    }
    other > same
}
