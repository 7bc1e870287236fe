//! A scene as the package of scenes draws and writes it.

use super::super::{AXES, Attribute, METRES};
use super::Scene;
use super::part::{ATTRIBUTES, Baked, PartShape, ScenePart, mirror, normal};
use super::rig::number_of;
use crate::materials::region;
use crate::scene::figure::{
    self, Arrangement, Figure, Influences, Iter, Joint, PaintedSolid, Plated, Solid, SolidKind, Solids,
};
use crate::scene::matrix::Matrix;
use crate::scene::model::{self, Model, Part, Rig, Values};
use std::collections::HashMap;

impl Scene<'_> {
    pub(super) fn as_figure<'s>(&'s self) -> Figure<'s> {
        let model = self.model();
        let is_space = model.shown().any(|shown| shown.above.is_some_and(|above| above.row.is_some()));
        let (rigs, rig_of_part) = self.known_rigs();
        let solids = model.solids().into_iter().zip(rig_of_part);
        Figure::Solids(Solids {
            name: &self.name,
            files: Vec::new(),
            arrangement: Arrangement::default(),
            materials: model.figure_materials(),
            solids: solids.map(|(solid, rig)| PaintedSolid { rig, ..solid }).collect(),
            places: model.places(),
            rigs,
            metres: Some(METRES),
            axes: if is_space { figure::AXES } else { AXES },
            armor: vec![self.uses],
            notes: self.notes.as_slice().into(),
            damage: self.damage.as_slice().into(),
        })
    }

    /// The scene, to be written.
    pub fn model(&self) -> Model<'_> {
        Model {
            name: &self.name,
            // Buffers hold the numbers of the file.
            scale: [METRES; 3],
            parts: self.parts.iter().map(|part| part as &dyn Part).collect(),
            materials: self.materials.iter().map(|material| &material.look).collect(),
            images: &self.images,
            nodes: &self.nodes,
            rigs: &self.rigs,
            roots: &self.roots,
            glb_only: &self.glb_only,
            variants: &self.variants,
        }
    }
}

impl ScenePart<'_> {
    /// The values of an attribute, if the part has it.
    fn values(&self, attribute: Attribute) -> Option<Values<'_>> {
        let group = self.group_vertices();
        Some(match attribute {
            Attribute::Position => Values::Vec3(self.positions()),
            Attribute::Normal => Values::Vec3(self.normals()?),
            // The fourth number is the side of the binormal.
            Attribute::Tangent | Attribute::Binormal => Values::Vec4(self.tangents()?),
            Attribute::Uv => Values::Vec2(self.uvs()?),
            Attribute::Uv2 => Values::Vec2(Box::new(group?.uv2s()?)),
            Attribute::Radius => Values::Scalar(Box::new(group?.radii()?.map(|radius| [radius]))),
            #[allow(clippy::cast_precision_loss, reason = "ids that do not fit are left out")]
            Attribute::Id if self.ids_fit => Values::Scalar(Box::new(group?.ids()?.map(|id| [id as f32]))),
            Attribute::Id => return None,
            Attribute::Bones if self.is_skinned() => {
                let bones = |all: Influences| filled(all.map(|(bone, _)| bone));
                Values::Bytes(Box::new(self.influences()?.map(bones)))
            }
            Attribute::Weights if self.is_skinned() => {
                let weights = |all: Influences| filled(all.map(|(_, weight)| weight));
                Values::Shares(Box::new(self.influences()?.map(weights)))
            }
            Attribute::Bones | Attribute::Weights => return None,
            Attribute::Colour => Values::Bytes(Box::new(group?.colours()?)),
        })
    }
}

fn filled([a, b, c]: [u8; 3]) -> [u8; 4] {
    [a, b, c, 0]
}

impl Part for ScenePart<'_> {
    fn material(&self) -> usize {
        self.material
    }

    fn attributes(&self) -> Vec<model::Attribute<'_>> {
        let all = ATTRIBUTES.into_iter();
        all.filter_map(|(semantic, attribute)| Some(model::Attribute { semantic, values: self.values(attribute)? }))
            .collect()
    }

    fn index_count(&self) -> Option<usize> {
        self.indices
    }

    fn greatest_index(&self) -> u32 {
        self.greatest
    }

    fn extras(&self) -> Option<serde_json::Value> {
        self.origin.as_ref().map(|origin| serde_json::json!(origin))
    }
}

impl Scene<'_> {
    /// The rigs whose joints are nodes of a visual, and the rig of each part. Numbered joints have no position to turn around.
    fn known_rigs(&self) -> (Vec<Vec<Joint<'_>>>, Vec<Option<usize>>) {
        let (mut rigs, mut numbers) = (Vec::new(), Vec::new());
        for rig in &self.rigs {
            let is_known = rig.joints.iter().any(|&joint| number_of(&self.nodes[joint].name).is_none());
            numbers.push(is_known.then_some(rigs.len()));
            if is_known {
                rigs.push(self.joints(rig));
            }
        }
        let mut of_part = vec![None; self.parts.len()];
        for node in &self.nodes {
            if let Some((part, rig)) = node.part.zip(node.rig) {
                of_part[part] = numbers[rig];
            }
        }
        (rigs, of_part)
    }

    fn joints(&self, rig: &Rig) -> Vec<Joint<'_>> {
        let numbered = rig.joints.iter().enumerate();
        let below =
            numbered.flat_map(|(number, &joint)| self.nodes[joint].children.iter().map(move |&child| (child, number)));
        let parents: HashMap<usize, usize> = below.collect();
        let joints = rig.joints.iter().zip(&rig.inverse).map(|(joint, inverse)| Joint {
            name: &self.nodes[*joint].name,
            parent: parents.get(joint).copied(),
            rest: Matrix::of_numbers(inverse).inverse().unwrap_or(Matrix::scale(1.0)).numbers(),
        });
        joints.collect()
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

    fn influences(&self) -> Option<Iter<'_, Influences>> {
        let all = self.group_vertices()?.influences()?;
        Some(Box::new(all.map(|all| all.map(|(bone, weight)| if weight == 0 { (0, 0) } else { (bone, weight) }))))
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
