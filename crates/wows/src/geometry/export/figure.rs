//! A scene as pages and pictures show it.

use super::super::{AXES, METRES};
use super::Scene;
use super::part::{Baked, PartShape, ScenePart, mirror, normal};
use super::skin::Role;
use crate::materials::region;
use crate::scene::figure::{
    self, Arrangement, Figure, Iter, PaintedSolid, Plated, Solid, SolidInstance, SolidKind, SolidMaterial, Solids,
    SurfaceMaps,
};

impl Scene<'_> {
    pub(super) fn as_figure<'s>(&'s self) -> Figure<'s> {
        let materials = self.materials.iter().map(|material| {
            let [image, normal, metal_roughness, occlusion] =
                [Role::Base, Role::Normal, Role::MetalRoughness, Role::Occlusion]
                    .map(|role| self.image(material, role).map(|image| &*image.png));
            SolidMaterial {
                name: &material.name,
                colour: material.colour,
                two_sided: material.double_sided,
                image,
                maps: SurfaceMaps { normal, metal_roughness, occlusion },
            }
        });
        let is_space = self.shown().any(|shown| shown.above.is_some_and(|above| above.row.is_some()));
        let places = self.shown_below(&self.glb_only).map(|shown| SolidInstance {
            solid: shown.number,
            group: shown.above.map_or("", |above| &above.name),
            matrix: shown.matrix,
            row: shown.above.and_then(|above| above.row),
        });
        Figure::Solids(Solids {
            name: &self.name,
            files: Vec::new(),
            arrangement: Arrangement::default(),
            materials: materials.collect(),
            solids: self.parts.iter().map(|part| PaintedSolid { solid: part, material: part.material }).collect(),
            places: places.collect(),
            metres: Some(METRES),
            axes: if is_space { figure::AXES } else { AXES },
            armor: vec![self.uses],
            notes: self.notes.as_slice().into(),
            damage: self.damage.as_slice().into(),
        })
    }
}

impl Solid for ScenePart<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> SolidKind {
        match &self.shape {
            PartShape::Group { .. } => SolidKind::Mesh,
            PartShape::Solid(Baked { kind, .. }) => *kind,
        }
    }

    fn lods(&self) -> &[usize] {
        &self.lods
    }

    fn has_guessed_lods(&self) -> bool {
        self.is_guessed
    }

    fn bounds(&self) -> ([f32; 3], [f32; 3]) {
        (self.min, self.max)
    }

    fn vertices(&self) -> usize {
        self.vertices
    }

    fn positions(&self) -> Iter<'_, [f32; 3]> {
        match &self.shape {
            PartShape::Group { vertices, .. } => {
                Box::new(vertices.positions().into_iter().flatten().map(|v| self.placed(mirror(v))))
            }
            PartShape::Solid(baked) => Box::new(baked.positions.iter().copied()),
        }
    }

    fn normals(&self) -> Option<Iter<'_, [f32; 3]>> {
        Some(match &self.shape {
            PartShape::Group { vertices, .. } => Box::new(vertices.normals()?.map(|n| self.turned(normal(n)))),
            PartShape::Solid(baked) => Box::new(baked.normals.iter().copied()),
        })
    }

    fn uvs(&self) -> Option<Iter<'_, [f32; 2]>> {
        Some(Box::new(self.group_vertices()?.uvs()?))
    }

    fn indices(&self) -> Option<Iter<'_, [u32; 3]>> {
        Some(match &self.shape {
            PartShape::Group { indices, flip, .. } => {
                let flip = *flip;
                Box::new(indices.triangles().map(move |[a, b, c]| if flip { [a, c, b] } else { [a, b, c] }))
            }
            PartShape::Solid(baked) => Box::new(baked.indices.as_ref()?.iter().copied()),
        })
    }

    fn plates(&self) -> Vec<Plated> {
        match &self.shape {
            PartShape::Group { .. } => Vec::new(),
            PartShape::Solid(Baked { plates, .. }) => plates.clone(),
        }
    }

    fn region(&self) -> Option<&'static str> {
        let title = self.name.rsplit('/').next().filter(|_| self.kind() == SolidKind::Armor)?;
        Some(region(title.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start()))
    }
}
