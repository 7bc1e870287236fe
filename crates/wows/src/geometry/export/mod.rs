//! Meshes, armour and collision hulls written for other programs: GLB, OBJ, and drawings as SVG.
//!
//! The game's space is left-handed with y up. The written shapes are right-handed: x is turned around, so that a mesh
//! that looks forward (along z) still does, and triangles turn left around their normals.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "numbers are positions in lists of a scene in memory, and part.rs has looked at all indices of files"
)]

mod assembly;
pub(in crate::geometry) mod back;
pub(crate) mod boxes;
mod coats;
mod figure;
pub(in crate::geometry) mod lay;
pub(in crate::geometry) mod levels;
mod named;
mod part;
mod rig;
mod skin;
mod tangents;
mod vertex_search;

use crate::report::counted;
pub use crate::scene::Options;
pub(crate) use assembly::{ArmoredPlaces, Assembled, Place, assemble};
pub use named::scene;

use super::armor::Plate;
use super::mesh::{Group, Groups, Pairing};
use super::{Geometry, material_name};
use crate::armor::PlateUse;
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id32;
use crate::models::Placement;
use crate::scene::model::{self, Image, Node, Rig, Variant};
use crate::source::Source;
use back::Origin;
use part::{PartShape, ScenePart};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::Arc;

/// Parts with triangles, and nodes that show them.
#[derive(Debug, Default)]
pub struct Scene<'a> {
    name: String,
    parts: Vec<ScenePart<'a>>,
    materials: Vec<Material>,
    nodes: Vec<Node>,
    /// The joints of skinned meshes.
    rigs: Vec<Rig>,
    /// The nodes without a parent: meshes, armour and hulls.
    roots: Vec<usize>,
    /// The nodes above the armour of a ship, coloured by its thickness, and above hit boxes, which are drawn in a GLB and not
    /// elsewhere.
    glb_only: Vec<usize>,
    /// Images of materials.
    images: Vec<Image>,
    /// Textures that are written as they are, under their paths.
    files: Vec<(String, Source)>,
    /// Other materials for the materials.
    variants: Vec<Variant>,
    /// The ships and components that have the plates. The first one's thickness is shown.
    uses: &'a [PlateUse],
    /// Guesses, omissions and inventions, in words.
    pub notes: Vec<String>,
    /// Errors of parts that are left out as they cannot be read.
    pub damage: Vec<Error>,
}

#[derive(Debug, Clone, PartialEq)]
struct Material {
    look: model::Material,
    /// Whether render groups use it, rather than armour or hulls.
    is_of_mesh: bool,
    /// The material's id in a database.
    mfm: Option<u64>,
    /// The path of the material whose look it has.
    path: String,
    /// The path of the texture of its colour.
    base: Option<String>,
}

impl Material {
    /// A grey material.
    fn new(name: impl Into<String>) -> Self {
        Self { look: model::Material::new(name, GREY), is_of_mesh: false, mfm: None, path: String::new(), base: None }
    }
}

/// The name of the material of meshes whose material is not known.
const UNKNOWN: &str = "unknown";

/// The nodes of parts by their models, before they are added to a scene: they stand wherever a model does.
type PartNodes = BTreeMap<Option<usize>, Vec<Node>>;

/// Plates with their rows, by what they have in common.
type AlikePlates<'a, K> = BTreeMap<K, Vec<(usize, Plate<'a>)>>;

/// The most nodes of a scene: a few times as many as the largest space has, and no more than memory holds.
const MAX_NODES: usize = 4_000_000;

const GREY: [f32; 4] = [0.62, 0.64, 0.66, 1.0];
const HULL: [f32; 4] = [0.25, 0.55, 0.9, 0.4];

impl<'a> Scene<'a> {
    /// The scene called `name` with the render groups of `geometry`, its armour and its hulls. With `placements`,
    /// the models of `groups` are put where those say, and shapes that belong to no model are left out.
    ///
    /// Decodes all buffers, in parallel. Damaged parts are left out and listed in [`Scene::damage`].
    pub fn new(
        name: &str,
        geometry: &'a Geometry,
        groups: &Groups,
        placements: Option<&[Placement]>,
        options: Options,
    ) -> Self {
        let mut scene = Self { name: name.to_owned(), damage: geometry.decode_all(), ..Self::default() };
        if options.meshes {
            scene.notes.extend(groups.notes.iter().cloned());
            let parts = scene.add_groups(geometry, groups, options.lod);
            let models = match placements {
                Some(placements) => {
                    scene.name_geometry(0, geometry);
                    scene.place(groups, &parts, placements)
                }
                None => scene.add_models(groups, parts),
            };
            scene.add_root("", models);
        }
        // In a space, hulls and armour have no position of their own: they belong to models, and are placed with them.
        if options.armor && placements.is_none() {
            let armor = scene.add_armor(geometry);
            scene.add_root(" armor", armor);
        }
        if options.collision && placements.is_none() {
            let hulls = scene.add_collision(geometry);
            scene.add_root(" hulls", hulls);
        }
        scene
    }

    /// Whether nothing is shown.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the value, or lists its error as damage.
    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.damage.push(error)).ok()
    }

    /// Adds a node above others. Returns its number.
    fn add(&mut self, node: Node, below: impl IntoIterator<Item = Node>) -> usize {
        let first = self.nodes.len();
        self.nodes.extend(below);
        let children = (first..self.nodes.len()).collect();
        self.nodes.push(Node { children, ..node });
        self.nodes.len() - 1
    }

    /// Adds the node of a scene of a GLB, unless nothing is below it.
    fn add_root(&mut self, suffix: &str, children: Vec<usize>) {
        if !children.is_empty() {
            self.roots.push(self.nodes.len());
            self.nodes.push(Node { name: format!("{}{suffix}", self.name).into(), children, ..Node::default() });
        }
    }

    fn material(&mut self, material: Material) -> usize {
        self.materials.iter().position(|known| *known == material).unwrap_or_else(|| {
            self.materials.push(material);
            self.materials.len() - 1
        })
    }

    /// A material that both sides of triangles have.
    fn paint(&mut self, name: impl Into<String>, colour: [f32; 4]) -> usize {
        let mut material = Material::new(name);
        (material.look.colour, material.look.double_sided) = (colour, true);
        self.material(material)
    }

    /// Adds a part after a look at all of its numbers. Returns a node that shows it. Damaged or empty ones are left out.
    fn show(&mut self, name: String, shape: Result<PartShape<'a>>, material: usize) -> Option<Node> {
        let part = shape.and_then(|shape| ScenePart::new(name.into(), shape, material, &mut self.notes));
        self.note(part)?.map(|part| self.add_part(part))
    }

    /// Adds the groups of a level of detail: of a model without that level, the next coarser one that the file has, else the coarsest.
    fn add_groups(&mut self, geometry: &'a Geometry, groups: &Groups, lod: Option<usize>) -> PartNodes {
        let mut there: BTreeMap<Option<usize>, BTreeSet<usize>> = BTreeMap::new();
        for group in &groups.groups {
            there.entry(group.model).or_default().extend(&group.lods);
        }
        let level = |group: &Group| {
            let all = &there[&group.model];
            lod.and_then(|lod| all.range(lod..).next().or(all.last()).copied())
        };
        let mut found = Vec::new();
        for group in &groups.groups {
            if level(group).is_some_and(|level| !group.lods.is_empty() && !group.lods.contains(&level)) {
                continue;
            }
            let bind = group.transform.and_then(right_handed);
            let part = ScenePart::of_group(group, geometry, bind, &mut self.notes);
            let part = part.map_err(|error| error.context(&group.name));
            if let Some(Some(mut part)) = self.note(part) {
                part.lods.clone_from(&group.lods);
                found.push((group, part));
            }
        }
        // Models have levels of their own, or none.
        let lone = found.iter_mut().filter(|(group, _)| group.model.is_none());
        let mut parts: Vec<&mut ScenePart<'_>> = lone.map(|(_, part)| part).collect();
        let guessed = levels::guess(&mut parts);
        let is_wanted =
            |part: &ScenePart<'_>| !part.is_guessed || lod.is_none_or(|lod| part.lods.contains(&lod.min(guessed)));
        let coarser = found.iter().filter(|(_, part)| !is_wanted(part)).count();
        if guessed > 0 {
            let what = "levels of detail are not stated: meshes around which the same box fits are taken for levels of one thing";
            let left = format!("; {} of {} meshes are of other levels", coarser, found.len());
            self.notes.push(format!("{what}{}", if coarser > 0 { left } else { String::new() }));
        }
        let finest = found.iter().filter_map(|(group, _)| level(group).filter(|_| !group.lods.is_empty())).min();
        if let Some((finest, lod)) = finest.zip(lod).filter(|(finest, lod)| finest != lod) {
            self.notes.push(format!("level of detail {finest} is drawn, as this file has no mesh of level {lod}"));
        }
        let mut nodes = PartNodes::new();
        for (group, mut part) in found.into_iter().filter(|(_, part)| is_wanted(part)) {
            let name = group.material.as_deref().unwrap_or(UNKNOWN);
            part.material = self.material(Material { is_of_mesh: true, mfm: group.mfm, ..Material::new(name) });
            let matrix = group.transform.and_then(|transform| self.matrix("node", "", transform));
            // Bones put skinned vertices where they are, and no node does.
            let (node, bind) = if part.bind.is_some() { (None, matrix) } else { (matrix, None) };
            let matrix = node;
            part.origin = origin(geometry, group).map(|origin| Origin { node, bind, ..origin });
            nodes.entry(group.model).or_default().push(Node { matrix, ..self.add_part(part) });
        }
        nodes
    }

    /// Adds a part. Returns a node that shows it.
    fn add_part(&mut self, part: ScenePart<'a>) -> Node {
        let node = Node { name: Arc::clone(&part.name), part: Some(self.parts.len()), ..Node::default() };
        self.parts.push(part);
        node
    }

    /// States the file of the parts from `first` on, which other nodes put into place.
    fn name_geometry(&mut self, first: usize, geometry: &Geometry) {
        let origins = self.parts.iter_mut().skip(first).filter_map(|part| part.origin.as_mut());
        origins.for_each(|origin| origin.geometry = Some(geometry.source().stem().to_owned()));
    }

    /// The matrix of a transform, unless the transform is invalid.
    fn matrix(&mut self, part: &'static str, of: impl Display, transform: [f32; 16]) -> Option<[f32; 16]> {
        let matrix = right_handed(transform).ok_or_else(|| {
            Error::of_part(ErrorKind::damaged(format!("the transform{of} is invalid: {transform:?}")), part)
        });
        self.note(matrix)
    }

    /// Adds models where they are, the first one with its hard points: nodes without a part, for other models.
    fn add_models(&mut self, groups: &Groups, parts: PartNodes) -> Vec<usize> {
        let mut top = Vec::new();
        for (model, mut nodes) in parts {
            let skeleton = self.add_skeleton(groups, &mut nodes);
            let Some(model) = model else {
                top.extend(nodes.into_iter().map(|node| self.add(node, [])));
                top.extend(skeleton);
                continue;
            };
            if model == 0 && skeleton.is_empty() {
                nodes.extend(groups.hard_points.iter().map(|point| {
                    let matrix = self.matrix("node", "", point.transform);
                    Node { name: point.name.as_str().into(), matrix, ..Node::default() }
                }));
            }
            let model = self.add(Node { name: groups.models[model].as_str().into(), ..Node::default() }, nodes);
            self.nodes[model].children.extend(skeleton);
            top.push(model);
        }
        top
    }

    /// Puts models where the placements say. A node has one parent, so each placement has nodes of its own that
    /// show the same parts.
    fn place(&mut self, groups: &Groups, parts: &PartNodes, placements: &[Placement]) -> Vec<usize> {
        let names: Vec<Arc<str>> = groups.models.iter().map(|name| name.as_str().into()).collect();
        let (mut top, mut without) = (Vec::new(), 0usize);
        for (i, placement) in placements.iter().enumerate() {
            let Some(nodes) = parts.get(&Some(placement.model)) else {
                without += 1;
                continue;
            };
            let matrix = self.matrix("placement", format_args!(" of instance {i}"), placement.transform);
            let Some(matrix) = matrix else { continue };
            let count = self.nodes.len() + nodes.len();
            if count > MAX_NODES {
                let kind = ErrorKind::Limit { what: "nodes of a scene", value: count as u64, limit: MAX_NODES as u64 };
                self.damage.push(Error::of_part(kind, "placement").context(format_args!("instance {i}")));
                break;
            }
            let name = Arc::clone(&names[placement.model]);
            let node = Node { name, matrix: Some(matrix), row: Some(placement.row), ..Node::default() };
            top.push(self.add(node, nodes.iter().cloned()));
        }
        if without > 0 {
            self.notes.push(format!("{} of models without render groups here", counted(without, "instance")));
        }
        top
    }

    /// Chooses the first of the things that have the plates, and names the others.
    fn find_armor(&mut self, geometry: &'a Geometry) {
        let uses = geometry.armor_uses().map_err(|error| error.context("thickness"));
        let Some(uses) = self.note(uses) else { return };
        if let Some((first, others)) = uses.split_first() {
            let mut note = format!("armour is as thick as that of {}", first.label());
            let others = others.iter().filter(|armor| !armor.is_like(first));
            let others: Vec<String> = others.map(PlateUse::label).collect();
            if !others.is_empty() {
                note = format!("{note}; it differs on {}", others.join(", "));
            }
            self.notes.push(note);
            self.uses = uses;
        }
    }

    /// Adds armour, one part for each material and thickness of a model.
    fn add_armor(&mut self, geometry: &'a Geometry) -> Vec<usize> {
        self.find_armor(geometry);
        let places = geometry.armor_places();
        self.damage.extend(places.damage.clone());
        let mut rows = (0..).step_by(geometry.rows_of_plate().get());
        let mut top = Vec::new();
        for of_model in places.all.chunk_by(|a, b| a.model == b.model) {
            // By material and by the bits of the thickness.
            let mut alike: AlikePlates<'_, (u16, Option<u64>)> = BTreeMap::new();
            for (place, row) in of_model.iter().zip(&mut rows) {
                let Ok(plate) = place.read::<Plate<'_>>(geometry) else { continue };
                let (id, layer) = (plate.header().material_id.get(), plate.header().layer.get());
                let thickness = self.uses.first().and_then(|armor| armor.thickness(layer, id));
                alike.entry((id, thickness.map(f64::to_bits))).or_default().push((row, plate));
            }
            let name = geometry.armor_model(of_model[0].model as usize).and_then(|model| model.name());
            let name = self.note(name).unwrap_or("armor");
            if !self.uses.is_empty() {
                // In this order the materials are a legend.
                let mut all: Vec<_> = alike.keys().map(|(_, bits)| bits.map(f64::from_bits)).collect();
                all.sort_by(|a, b| a.unwrap_or(f64::INFINITY).total_cmp(&b.unwrap_or(f64::INFINITY)));
                for (name, colour) in all.into_iter().map(band) {
                    self.paint(name, colour);
                }
            }
            let mut nodes = Vec::new();
            for ((id, bits), plates) in alike {
                let thickness = bits.map(f64::from_bits);
                let mut title = format!("{id} {}", material_name(id).unwrap_or("unknown"));
                let material = if self.uses.is_empty() {
                    let [r, g, b] = crate::scene::colour_of_id(id);
                    self.paint(&title, [r, g, b, 1.0])
                } else {
                    let (name, colour) = band(thickness);
                    self.paint(name, colour)
                };
                if let Some(mm) = thickness {
                    title = format!("{title}, {mm} mm");
                }
                nodes.extend(self.show(format!("{name}/{title}"), Ok(PartShape::plates(&plates, thickness)), material));
            }
            if !nodes.is_empty() {
                top.push(self.add(Node { name: name.into(), ..Node::default() }, nodes));
            }
        }
        top
    }

    fn add_collision(&mut self, geometry: &'a Geometry) -> Vec<usize> {
        let places = geometry.collision_places();
        self.damage.extend(places.damage.clone());
        let mut top = Vec::new();
        for of_model in places.all.chunk_by(|a, b| a.model == b.model) {
            let model = of_model[0].model;
            let material = self.paint("collision", HULL);
            let mut nodes = Vec::new();
            for place in of_model {
                let Ok(hull) = place.read(geometry) else { continue };
                let name = format!("collision {model}/hull {}", place.number);
                let shape = PartShape::hull(&name, &hull);
                nodes.extend(self.show(name, shape, material));
            }
            if !nodes.is_empty() {
                let own = self.note(geometry.collision_model(model as usize).and_then(|model| model.name()));
                let name = format!("collision {model} {}", own.unwrap_or_default()).trim_end().into();
                top.push(self.add(Node { name, ..Node::default() }, nodes));
            }
        }
        top
    }
}

/// The name and the colour of plates of this thickness, from the scale of the game's own view.
fn band(thickness: Option<f64>) -> (String, [f32; 4]) {
    let Some(thickness) = thickness else { return ("thickness not stated".to_owned(), GREY) };
    let (name, colour) = crate::armor::band(thickness);
    let [r, g, b] = colour.map(|byte| f32::from(byte) / 255.0);
    (name, [r, g, b, 1.0])
}

/// The ids of the mappings of a group, by which its mesh comes back.
fn origin(geometry: &Geometry, group: &Group) -> Option<Origin> {
    let vertices = Id32(geometry.vertex_mappings().ok()?.get(group.vertices)?.mapping_id.get()).to_string();
    let indices = Id32(geometry.index_mappings().ok()?.get(group.indices)?.mapping_id.get()).to_string();
    let pairing =
        Some(group.pairing).filter(|pairing| *pairing != Pairing::RenderSet).map(|pairing| pairing.to_string());
    let bones = group.bones.clone();
    Some(Origin { vertices: Some(vertices), indices: Some(indices), pairing, bones, ..Origin::default() })
}

/// The transform (rows, for row vectors, left-handed) as columns for column vectors, right-handed. `None` where it is
/// not one: numbers that are not finite, or a last column that is not 0, 0, 0, 1.
fn right_handed(mut m: [f32; 16]) -> Option<[f32; 16]> {
    let last = [m[3], m[7], m[11], m[15] - 1.0];
    if !m.iter().all(|v| v.is_finite()) || last.iter().any(|v| v.abs() > 1e-5) {
        return None;
    }
    let [_, xy, xz, _, yx, _, _, _, zx, _, _, _, x, ..] = &mut m;
    [xy, xz, yx, zx, x].into_iter().for_each(|v| *v = -*v);
    // Exact, as other programs ask for it; and no negative zeros.
    [m[3], m[7], m[11], m[15]] = [0.0, 0.0, 0.0, 1.0];
    Some(m.map(|v| v + 0.0))
}
