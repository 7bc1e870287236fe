//! The meshes of a GLB that may be render groups: where they come from, and how far they were moved.

#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use super::boxes::HIT_BOXES;
use super::{Options, Scene};
use crate::error::Result;
use crate::geometry::content::turned;
use crate::geometry::mesh::Groups;
use crate::geometry::{Geometry, METRES};
use crate::scene::figure::Solid as _;
use crate::scene::glb::read::{self, Glb, MeshPlace, Surface, plain};
use crate::scene::matrix::Matrix;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Deref;

/// A mesh of a GLB, and its origin.
pub(in crate::geometry) struct Mesh<'g> {
    mesh: read::Mesh<'g>,
    /// The record of its origin that assetq wrote, unless another program dropped it.
    pub origin: Option<Origin>,
}

impl<'g> Deref for Mesh<'g> {
    type Target = read::Mesh<'g>;

    fn deref(&self) -> &Self::Target {
        &self.mesh
    }
}

/// The meshes of a GLB, without hit boxes.
///
/// # Errors
/// As [`Glb::meshes`].
pub(in crate::geometry) fn meshes<'g>(glb: &'g Glb<'_>) -> Result<Vec<Mesh<'g>>> {
    let meshes = glb.meshes(HIT_BOXES)?.into_iter();
    Ok(meshes
        .map(|mesh| Mesh { origin: mesh.extras.and_then(|extras| serde_json::from_str(extras).ok()), mesh })
        .collect())
}

/// The origin of a mesh, which a GLB of assetq states in its extras.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub(in crate::geometry) struct Origin {
    /// The ids of its vertex mapping and of its index mapping.
    pub vertices: Option<String>,
    pub indices: Option<String>,
    /// How the two were found to belong together, if no render set says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairing: Option<String>,
    /// The matrix of its node below the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<[f32; 16]>,
    /// The matrix from the space of its vertices to the model, if bones move them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bind: Option<[f32; 16]>,
    /// The names of its bones, by number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bones: Vec<String>,
    /// The stem of its file, for a mesh in a scene of several files or places, whose nodes put it somewhere else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geometry: Option<String>,
}

impl Origin {
    /// The ids of both mappings, if stated.
    pub fn ids(&self) -> Option<(u32, u32)> {
        let [vertices, indices] = [&self.vertices, &self.indices].map(|id| id.as_deref().and_then(crate::id::parse32));
        vertices.zip(indices)
    }
}

/// The change of place of a mesh since it was written.
pub(super) enum Motion {
    /// It is where it was.
    Still,
    /// From the space of its positions to the space of its group.
    By(Matrix),
}

impl Mesh<'_> {
    /// Whether it or its node has this name, which another program may have numbered.
    pub fn is_named(&self, name: &str) -> bool {
        [Some(self.name), self.object].into_iter().flatten().any(|own| plain(own) == name)
    }

    /// Finds how far the mesh is from `expected`, the matrix of its group to the scene in metres.
    ///
    /// # Errors
    /// Wrong usage for a mesh in several places that are all new, and for one that is flat.
    pub(super) fn motion(&self, expected: &Matrix) -> Result<Motion> {
        let back = expected.inverse();
        let local = back.and_then(|_| Matrix::scale(METRES.into()).inverse()).map(|metres| metres.after(expected));
        let is_own = |place: &MeshPlace| {
            let is_placed = self.origin.as_ref().is_some_and(|origin| origin.geometry.is_some());
            place.world.is_near(expected) || is_placed && local.is_some_and(|local| place.local.is_near(&local))
        };
        let Some(first) = self.places.first().filter(|_| !self.places.iter().any(is_own)) else {
            return Ok(Motion::Still);
        };
        if self.joints.is_none() && self.places.iter().any(|place| !place.world.is_near(&first.world)) {
            return Err(self.refuse("several nodes show it, and none of them where it was"));
        }
        let by = back.map(|back| back.after(&first.world)).filter(|by| by.inverse().is_some());
        by.map(Motion::By).ok_or_else(|| self.refuse("its node makes it flat, or holds numbers that are not finite"))
    }
}

/// Triangles by the bits of their corners, each once and in order, whatever their first corners. Other programs drop triangles
/// that repeat or have no area.
type Outline = BTreeSet<[[u32; 3]; 3]>;

fn outline(positions: &[[f32; 3]], triangles: impl IntoIterator<Item = [u32; 3]>) -> Outline {
    let corners = triangles.into_iter().map(|triangle| {
        triangle.map(|index| {
            let position = positions.get(index as usize).expect("indices of both were checked");
            // Adding zero makes a negative zero positive.
            position.map(|v| (v + 0.0).to_bits())
        })
    });
    corners.filter(|[a, b, c]| a != b && b != c && a != c).map(turned).collect()
}

/// The armour and the collision hulls of a file, which are written to a GLB and not read from one.
#[derive(Default)]
pub(in crate::geometry) struct Fixed(OnceCell<Vec<Outline>>);

impl Fixed {
    /// Whether a mesh is one of these shapes and unchanged.
    pub fn has(&self, geometry: &Geometry, glb: &Glb<'_>, mesh: &Mesh<'_>) -> bool {
        let shapes = self.0.get_or_init(|| {
            let options = Options { meshes: false, ..Options::default() };
            let scene = Scene::new("", geometry, &Groups::default(), None, options);
            scene.parts.iter().map(|part| outline(&part.positions().collect::<Vec<_>>(), part.triangles())).collect()
        });
        let Ok(Surface { positions, triangles }) = glb.surface(mesh) else { return false };
        let is_still = matches!(mesh.motion(&Matrix::scale(METRES.into())), Ok(Motion::Still));
        is_still && shapes.contains(&outline(&positions, triangles))
    }
}
