//! A part of a scene: triangles of one material, right-handed.

use super::back::Origin;
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::mesh::{Group, side, turns};
use crate::geometry::{Attribute, Geometry, Hull, Indices, Plate, Vertices, unpack_normal};
use crate::scene::cube;
use crate::scene::figure::{Iter, Plated, Solid as _, SolidKind};
use crate::scene::matrix::Matrix;
use crate::scene::vector::{cross, dot, minus, unit, zip};
use std::sync::Arc;

/// The attributes of vertices under their names in glTF, in the order in which they are written. One without a meaning in glTF is written
/// under a name of its own.
pub(super) const ATTRIBUTES: [(&str, Attribute); 10] = [
    ("POSITION", Attribute::Position),
    ("NORMAL", Attribute::Normal),
    ("TANGENT", Attribute::Tangent),
    ("TEXCOORD_0", Attribute::Uv),
    ("TEXCOORD_1", Attribute::Uv2),
    ("JOINTS_0", Attribute::Bones),
    ("WEIGHTS_0", Attribute::Weights),
    ("_RADIUS", Attribute::Radius),
    ("_ID", Attribute::Id),
    ("_COLOUR", Attribute::Colour),
];

#[derive(Debug)]
pub(super) enum PartShape<'a> {
    /// A render group, with whether its triangles turn right around their normals once x is turned around.
    Group {
        vertices: Vertices<'a>,
        indices: Indices<'a>,
        flip: bool,
    },
    Solid(Baked),
}

/// Vertices in memory, right-handed; triangles turn left around their normals.
#[derive(Debug)]
pub(super) struct Baked {
    pub kind: SolidKind,
    pub positions: Vec<[f32; 3]>,
    pub normals: Vec<[f32; 3]>,
    /// `None` where each three vertices are a triangle.
    pub indices: Option<Vec<[u32; 3]>>,
    /// Plates of armour that the triangles are of.
    pub plates: Vec<Plated>,
}

impl<'a> PartShape<'a> {
    /// A render group. The winding follows the normals: skinned meshes of the game turn the other way.
    pub(super) fn group(vertices: Vertices<'a>, indices: Indices<'a>) -> Self {
        let (left, right) = turns(&vertices, &indices);
        Self::Group { vertices, indices, flip: left >= right }
    }

    fn triangles(kind: SolidKind, triangles: impl Iterator<Item = ([[f32; 3]; 3], [f32; 3])>) -> Self {
        let both = triangles.map(|(corners, normal)| (corners, [normal; 3]));
        let (positions, normals) = both.unzip::<_, _, Vec<_>, Vec<_>>();
        let (positions, normals) = (positions.into_flattened(), normals.into_flattened());
        Self::Solid(Baked { kind, positions, normals, indices: None, plates: Vec::new() })
    }

    /// Armour plates of one thickness in millimetres, if stated; each with its row in the table of plates.
    pub(super) fn plates(plates: &[(usize, Plate<'_>)], thickness: Option<f64>) -> Self {
        let triangles = plates.iter().flat_map(|(_, plate)| plate.triangles()).map(|triangle| {
            let [a, b, c] = triangle.map(|v| mirror(v.position.map(|c| c.get())));
            let normal = mirror(unpack_normal(triangle[0].normal));
            let corners = if side([a, b, c], normal) < 0.0 { [a, c, b] } else { [a, b, c] };
            (corners, unit(normal).unwrap_or_else(|| flat_normal(corners)))
        });
        let mut shape = Self::triangles(SolidKind::Armor, triangles);
        if let Self::Solid(baked) = &mut shape {
            baked.plates.extend(plates.iter().map(|(row, plate)| Plated {
                row: *row,
                layer: plate.header().layer.get(),
                thickness,
                triangles: plate.triangles().len(),
            }));
        }
        shape
    }

    /// A collision hull: its faces as fans of triangles.
    pub(super) fn hull(name: &str, hull: &Hull<'_>) -> Result<Self> {
        let corners = hull.vertices();
        if let Some(bad) = hull.faces().flat_map(|face| face.vertices).find(|c| c.get() as usize >= corners.len()) {
            return Err(damaged(name, format!("corner {bad} of {}", corners.len())));
        }
        let triangles = hull.faces().flat_map(|face| {
            let rest = face.vertices.get(1..).into_iter().flat_map(|rest| rest.array_windows());
            rest.map(|[b, c]| [face.vertices[0], *c, *b].map(|i| mirror(corners[i.get() as usize].map(|v| v.get()))))
        });
        Ok(Self::triangles(SolidKind::Hull, triangles.map(|corners| (corners, flat_normal(corners)))))
    }

    /// A cube from -1 to 1, which matrices make hit boxes of.
    pub(super) fn cube() -> Self {
        let (positions, normals) = cube::corners().unzip();
        let indices = Some(cube::triangles().collect());
        Self::Solid(Baked { kind: SolidKind::Zone, positions, normals, indices, plates: Vec::new() })
    }
}

/// A part of a scene, whose numbers have all been looked at.
#[derive(Debug)]
pub(super) struct ScenePart<'a> {
    pub name: Arc<str>,
    pub shape: PartShape<'a>,
    pub material: usize,
    /// The matrix from the space of its vertices to the model, if bones move them: no node does.
    pub bind: Option<Matrix>,
    /// The group that it comes from.
    pub origin: Option<Origin>,
    /// The levels of detail that show it; empty where they are not known, or for a part without any.
    pub lods: Vec<usize>,
    /// Whether its levels of detail are guessed.
    pub is_guessed: bool,
    pub vertices: usize,
    /// Indices; `None` where each three vertices are a triangle.
    pub indices: Option<usize>,
    /// The greatest index.
    pub greatest: u32,
    pub min: [f32; 3],
    pub max: [f32; 3],
    /// Whether ids are small enough to be written as floats.
    pub ids_fit: bool,
}

impl<'a> ScenePart<'a> {
    /// The part, or `None` where it has no triangles.
    pub(super) fn new(
        name: Arc<str>,
        shape: PartShape<'a>,
        material: usize,
        notes: &mut Vec<String>,
    ) -> Result<Option<Self>> {
        let (vertices, indices, greatest) = match &shape {
            PartShape::Group { vertices, indices, .. } => {
                let Some(greatest) = indices.max() else { return Ok(None) };
                if greatest as usize >= vertices.len() {
                    return Err(damaged(&name, format!("index {greatest} of {} vertices", vertices.len())));
                }
                (vertices.len(), Some(indices.len() - indices.len() % 3), greatest)
            }
            // All indices of a cube fit 16 bits.
            PartShape::Solid(baked) => (baked.positions.len(), baked.indices.as_ref().map(|all| 3 * all.len()), 0),
        };
        if vertices == 0 || indices == Some(0) {
            return Ok(None);
        }
        let (bind, origin, lods, [min, max]) = (None, None, Vec::new(), [[0.0; 3]; 2]);
        let mut part = Self {
            name,
            shape,
            material,
            bind,
            origin,
            lods,
            vertices,
            indices,
            greatest,
            min,
            max,
            ids_fit: true,
            is_guessed: false,
        };
        part.look(notes)?;
        Ok(Some(part))
    }

    /// Looks at every number once: finds the box, and that all of them are numbers.
    fn look(&mut self, notes: &mut Vec<String>) -> Result<()> {
        let (mut min, mut max) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for (i, position) in self.positions().enumerate() {
            if !position.iter().all(|v| v.is_finite()) {
                return Err(damaged(&self.name, format!("the position of vertex {i} is not a number")));
            }
            (min, max) = (zip(min, position, f32::min), zip(max, position, f32::max));
        }
        (self.min, self.max) = (min, max);
        let PartShape::Group { vertices, .. } = &self.shape else { return Ok(()) };
        let mut uvs = vertices.uvs().into_iter().flatten().chain(vertices.uv2s().into_iter().flatten());
        if !uvs.all(|[u, v]| u.is_finite() && v.is_finite()) {
            return Err(damaged(&self.name, "a texture coordinate is not a number".into()));
        }
        if vertices.radii().is_some_and(|mut r| r.any(|v| !v.is_finite())) {
            return Err(damaged(&self.name, "a radius is not a number".into()));
        }
        if vertices.ids().is_some_and(|mut ids| ids.any(|id| id > 1 << 24)) {
            self.ids_fit = false;
            notes.push(format!("{}: ids are left out, as they do not fit a float", self.name));
        }
        let missing = vertices.normals().map_or(0, |n| n.filter(|&n| unit(n).is_none()).count());
        if missing > 0 {
            notes.push(format!("{}: {missing} vertices have no normal; up stands in for it", self.name));
        }
        Ok(())
    }

    /// The part of a render group, whose skinned vertices are put into the model as its bones do; `None` where it has no triangles.
    pub(super) fn of_group(
        group: &Group,
        geometry: &'a Geometry,
        bind: Option<[f32; 16]>,
        notes: &mut Vec<String>,
    ) -> Result<Option<Self>> {
        let vertices = geometry.mapped_vertices(group.vertices)?;
        let is_skinned = vertices.format().has(Attribute::Bones) && vertices.format().has(Attribute::Weights);
        let bind = bind.filter(|_| is_skinned).map(|bind| Matrix::of_numbers(&bind));
        let bind = bind.filter(|bind| bind.inverse().is_some());
        let mut shape = PartShape::group(vertices, geometry.mapped_indices(group.indices)?);
        if let (PartShape::Group { flip, .. }, Some(bind)) = (&mut shape, &bind) {
            *flip ^= bind.determinant() < 0.0;
        }
        let Some(mut part) = Self::new((&*group.name).into(), shape, 0, notes)? else { return Ok(None) };
        if bind.is_some() {
            part.bind = bind;
            part.look(&mut Vec::new())?;
        }
        Ok(Some(part))
    }

    /// The place of a vertex in the model.
    pub(super) fn placed(&self, position: [f32; 3]) -> [f32; 3] {
        self.bind.map_or(position, |bind| bind.place(position))
    }

    /// The direction of a vertex in the model.
    pub(super) fn turned(&self, direction: [f32; 3]) -> [f32; 3] {
        self.bind.map_or(direction, |bind| bind.turn(direction))
    }

    /// Tangents of length 1, right-handed, with the side on which the binormal lies.
    pub(super) fn tangents(&self) -> Option<Iter<'_, [f32; 4]>> {
        let PartShape::Group { vertices, .. } = &self.shape else { return None };
        let both = vertices.normals()?.zip(vertices.tangents()?).zip(vertices.binormals()?);
        Some(Box::new(both.map(|((n, t), b)| {
            let n = self.turned(normal(n));
            let [x, y, z] = unit(mirror(t)).map_or_else(|| across(n), |t| self.turned(t));
            let side = dot(cross(n, [x, y, z]), self.turned(mirror(b)));
            [x, y, z, if side < 0.0 { -1.0 } else { 1.0 }]
        })))
    }

    pub(super) fn group_vertices(&self) -> Option<&Vertices<'a>> {
        match &self.shape {
            PartShape::Group { vertices, .. } => Some(vertices),
            _ => None,
        }
    }

    /// Whether bones move the vertices.
    pub(super) fn is_skinned(&self) -> bool {
        self.has(Attribute::Bones) && self.has(Attribute::Weights)
    }

    /// Whether vertices have `attribute`.
    pub(super) fn has(&self, attribute: Attribute) -> bool {
        self.group_vertices().is_some_and(|v| v.format().has(attribute))
    }
}

#[cold]
fn damaged(part: &str, what: String) -> Error {
    Error::of_part(ErrorKind::damaged(what), part.to_owned())
}

/// Turns the left-handed space into the right-handed one. Adding zero makes a negative zero positive.
pub(super) fn mirror([x, y, z]: [f32; 3]) -> [f32; 3] {
    [-x + 0.0, y, z]
}

pub(super) fn normal(stored: [f32; 3]) -> [f32; 3] {
    unit(mirror(stored)).unwrap_or([0.0, 1.0, 0.0])
}

/// Some unit vector at right angles to `n`.
pub(super) fn across(n: [f32; 3]) -> [f32; 3] {
    let [x, _, z] = n;
    unit([z, 0.0, -x]).unwrap_or([1.0, 0.0, 0.0])
}

/// The unit normal around which the corners turn left; up where they have no area.
pub(super) fn flat_normal([a, b, c]: [[f32; 3]; 3]) -> [f32; 3] {
    let n = cross(minus(b, a), minus(c, a));
    let length = dot(n, n).sqrt();
    if length > 0.0 && length.is_finite() { n.map(|v| v / length) } else { [0.0, 1.0, 0.0] }
}
