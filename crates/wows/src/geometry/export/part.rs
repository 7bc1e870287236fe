//! A part of a scene: triangles of one material, right-handed.

use super::boxes;
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::mesh::{cross, dot, minus, side, turns};
use crate::geometry::{Attribute, Hull, Indices, Plate, Vertices, unpack_normal};

#[derive(Debug)]
pub(super) enum Shape<'a> {
    /// A render group, with whether its triangles turn right around their normals once x is turned around.
    Group { vertices: Vertices<'a>, indices: Indices<'a>, flip: bool },
    /// Armour plates of one material and one thickness in millimetres, if stated; each with its row in the table of plates.
    Plates(Vec<(usize, Plate<'a>)>, Option<f64>),
    /// A collision hull.
    Hull(Hull<'a>),
    /// A cube from -1 to 1, which matrices make hit boxes of.
    Cube,
}

impl<'a> Shape<'a> {
    /// A render group. The winding follows the normals: skinned meshes of the game turn the other way.
    pub(super) fn group(vertices: Vertices<'a>, indices: Indices<'a>) -> Self {
        let (left, right) = turns(&vertices, &indices);
        Self::Group { vertices, indices, flip: left >= right }
    }
}

/// A part of a scene, whose numbers have all been looked at.
#[derive(Debug)]
pub(super) struct ScenePart<'a> {
    pub name: String,
    pub shape: Shape<'a>,
    pub material: usize,
    /// JSON to be kept with the mesh.
    pub extras: Option<String>,
    /// The levels of detail that show it; empty where they are not known, or for a part without any.
    pub lods: Vec<usize>,
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

/// A box of a boxed iterator: parts have different ones.
type Iter<'p, T> = Box<dyn Iterator<Item = T> + 'p>;

impl<'a> ScenePart<'a> {
    /// The part, or `None` where it has no triangles.
    pub(super) fn new(
        name: String,
        shape: Shape<'a>,
        material: usize,
        extras: Option<String>,
        notes: &mut Vec<String>,
    ) -> Result<Option<Self>> {
        let (vertices, indices, greatest) = match &shape {
            Shape::Group { vertices, indices, .. } => {
                let Some(greatest) = indices.max() else { return Ok(None) };
                if greatest as usize >= vertices.len() {
                    return Err(damaged(&name, format!("index {greatest} of {} vertices", vertices.len())));
                }
                (vertices.len(), Some(indices.len().saturating_sub(indices.len() % 3)), greatest)
            }
            Shape::Plates(plates, _) => {
                (plates.iter().map(|(_, p)| p.triangles().len().saturating_mul(3)).sum(), None, 0)
            }
            Shape::Hull(hull) => {
                if let Some(bad) =
                    hull.faces().flat_map(|f| f.vertices).find(|c| c.get() as usize >= hull.vertices().len())
                {
                    return Err(damaged(&name, format!("corner {bad} of {}", hull.vertices().len())));
                }
                (hull.faces().map(|f| f.vertices.len().saturating_sub(2).saturating_mul(3)).sum(), None, 0)
            }
            Shape::Cube => (24, Some(36), 23),
        };
        if vertices == 0 || indices == Some(0) {
            return Ok(None);
        }
        let mut part = Self {
            name,
            shape,
            material,
            extras,
            lods: Vec::new(),
            vertices,
            indices,
            greatest,
            min: [0.0; 3],
            max: [0.0; 3],
            ids_fit: true,
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
            for ((v, min), max) in position.iter().zip(&mut min).zip(&mut max) {
                *min = min.min(*v);
                *max = max.max(*v);
            }
        }
        (self.min, self.max) = (min, max);
        let Shape::Group { vertices, .. } = &self.shape else { return Ok(()) };
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

    /// Positions, right-handed.
    pub(super) fn positions(&self) -> Iter<'_, [f32; 3]> {
        match &self.shape {
            Shape::Group { vertices, .. } => Box::new(vertices.positions().into_iter().flatten().map(mirror)),
            Shape::Plates(..) => Box::new(self.plate_triangles().flat_map(|(points, _)| points)),
            Shape::Hull(hull) => Box::new(hull_triangles(hull).flatten()),
            Shape::Cube => Box::new(boxes::corners().map(|(position, _)| position)),
        }
    }

    /// Normals of length 1, right-handed; `None` where vertices have none.
    pub(super) fn normals(&self) -> Option<Iter<'_, [f32; 3]>> {
        match &self.shape {
            Shape::Group { vertices, .. } => Some(Box::new(vertices.normals()?.map(normal))),
            Shape::Plates(..) => Some(Box::new(self.plate_triangles().flat_map(|(points, normal)| {
                let flat = flat_normal(points);
                [unit(normal).unwrap_or(flat); 3]
            }))),
            Shape::Hull(hull) => Some(Box::new(hull_triangles(hull).flat_map(|t| [flat_normal(t); 3]))),
            Shape::Cube => Some(Box::new(boxes::corners().map(|(_, normal)| normal))),
        }
    }

    /// Tangents of length 1, right-handed, with the side on which the binormal lies.
    pub(super) fn tangents(&self) -> Option<Iter<'_, [f32; 4]>> {
        let Shape::Group { vertices, .. } = &self.shape else { return None };
        let both = vertices.normals()?.zip(vertices.tangents()?).zip(vertices.binormals()?);
        Some(Box::new(both.map(|((n, t), b)| {
            let n = normal(n);
            let [x, y, z] = unit(mirror(t)).unwrap_or_else(|| across(n));
            let side = dot(cross(n, [x, y, z]), mirror(b));
            [x, y, z, if side < 0.0 { -1.0 } else { 1.0 }]
        })))
    }

    /// The vertices of a render group.
    pub(super) fn group_vertices(&self) -> Option<&Vertices<'a>> {
        match &self.shape {
            Shape::Group { vertices, .. } => Some(vertices),
            _ => None,
        }
    }

    /// Whether vertices have `attribute`.
    pub(super) fn has(&self, attribute: Attribute) -> bool {
        self.group_vertices().is_some_and(|v| v.format().has(attribute))
    }

    /// Triangles by vertices, turning left around their normals.
    pub(super) fn triangles(&self) -> Iter<'_, [u32; 3]> {
        match &self.shape {
            Shape::Group { indices, flip, .. } => {
                let flip = *flip;
                Box::new(indices.triangles().map(move |[a, b, c]| if flip { [a, c, b] } else { [a, b, c] }))
            }
            Shape::Cube => Box::new(boxes::triangles()),
            _ => {
                let corners = (0u32..).step_by(3).take(self.vertices / 3);
                Box::new(corners.map(|first| [0, 1, 2].map(|corner| first.saturating_add(corner))))
            }
        }
    }

    /// The triangles of plates with their stored normals, right-handed and turning left around them.
    fn plate_triangles(&self) -> impl Iterator<Item = ([[f32; 3]; 3], [f32; 3])> + '_ {
        let plates: &[(usize, Plate<'_>)] = if let Shape::Plates(plates, _) = &self.shape { plates } else { &[] };
        plates.iter().flat_map(|(_, p)| p.triangles()).map(|triangle| {
            let [a, b, c] = triangle.map(|v| mirror(v.position.map(|c| c.get())));
            let [first, ..] = triangle;
            let normal = mirror(unpack_normal(first.normal));
            (if side([a, b, c], normal) < 0.0 { [a, c, b] } else { [a, b, c] }, normal)
        })
    }
}

/// The faces of a hull as fans of triangles, right-handed and turning left seen from outside.
fn hull_triangles<'h>(hull: &Hull<'h>) -> impl Iterator<Item = [[f32; 3]; 3]> + use<'h> {
    let corners = hull.vertices();
    // All corners have been looked at: none is left out here.
    let corner = move |i: u32| corners.get(i as usize).map_or([0.0; 3], |c| mirror(c.map(|v| v.get())));
    hull.faces().flat_map(move |face| {
        let (first, rest) = face.vertices.split_first().map_or((0, &[][..]), |(first, rest)| (first.get(), rest));
        rest.array_windows().map(move |[b, c]| [corner(first), corner(c.get()), corner(b.get())])
    })
}

#[cold]
fn damaged(part: &str, what: String) -> Error {
    Error::of_part(ErrorKind::Damaged { what: what.into() }, part.to_owned())
}

/// Turns the left-handed space into the right-handed one. Adding zero makes a negative zero positive.
pub(super) fn mirror([x, y, z]: [f32; 3]) -> [f32; 3] {
    [-x + 0.0, y, z]
}

fn normal(stored: [f32; 3]) -> [f32; 3] {
    unit(mirror(stored)).unwrap_or([0.0, 1.0, 0.0])
}

/// The vector at length 1; `None` where it is next to nothing, as for vertices without a normal.
pub(super) fn unit(v: [f32; 3]) -> Option<[f32; 3]> {
    let length = dot(v, v).sqrt();
    (length > 0.05 && length.is_finite()).then(|| v.map(|c| c / length))
}

/// Some unit vector at right angles to `n`.
fn across(n: [f32; 3]) -> [f32; 3] {
    let [x, _, z] = n;
    unit([z, 0.0, -x]).unwrap_or([1.0, 0.0, 0.0])
}

/// The unit normal around which the corners turn left; up where they have no area.
pub(super) fn flat_normal([a, b, c]: [[f32; 3]; 3]) -> [f32; 3] {
    let n = cross(minus(b, a), minus(c, a));
    let length = dot(n, n).sqrt();
    if length > 0.0 && length.is_finite() { n.map(|v| v / length) } else { [0.0, 1.0, 0.0] }
}
