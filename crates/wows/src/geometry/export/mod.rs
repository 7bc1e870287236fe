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
mod glb;
mod levels;
mod named;
mod obj;
mod part;
mod skin;
mod svg;

use crate::report::counted;
pub use crate::scene::Options;
pub use assembly::{ArmoredPlaces, Assembled, Place, assemble};
pub use glb::write_glb;
pub use named::scene;
pub use obj::write_obj;
pub use svg::write_svg;

use super::armor::Plate;
use super::mesh::{Group, Groups, Pairing};
use super::{Geometry, material_name};
use crate::armor::PlateUse;
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id32;
use crate::scene::Placement;
use crate::source::Source;
use part::{PartShape, ScenePart};
use serde_json::json;
use skin::{Image, Skin};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

/// Parts with triangles, and nodes that show them.
#[derive(Debug, Default)]
pub struct Scene<'a> {
    name: String,
    parts: Vec<ScenePart<'a>>,
    materials: Vec<Material>,
    /// The materials of meshes that are distinguished by colours, in the order of the colours.
    coloured: BTreeMap<String, usize>,
    nodes: Vec<Node>,
    /// The nodes without a parent: meshes, armour and hulls. Each is a scene of a GLB.
    roots: Vec<usize>,
    /// The nodes above the armour of a ship, coloured by its thickness, and above hit boxes. Each is a scene of a GLB that other
    /// drawings leave out.
    glb_only: Vec<usize>,
    /// Images of materials.
    images: Vec<Image>,
    /// Textures that are written as they are, under their paths.
    files: Vec<(String, Source)>,
    /// Other materials for the materials.
    variants: Vec<coats::Variant>,
    /// The ships and components that have the plates. The first one's thickness is shown.
    uses: &'a [PlateUse],
    /// Guesses, omissions and inventions, in words.
    pub notes: Vec<String>,
    /// Errors of parts that are left out as they cannot be read.
    pub damage: Vec<Error>,
}

#[derive(Debug, Clone, PartialEq)]
struct Material {
    name: String,
    colour: [f32; 4],
    double_sided: bool,
    /// Whether render groups use it, rather than armour or hulls.
    is_of_mesh: bool,
    /// The material's id in a database.
    mfm: Option<u64>,
    skin: Option<Skin>,
}

impl Material {
    /// A grey material.
    fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), colour: GREY, double_sided: false, is_of_mesh: false, mfm: None, skin: None }
    }
}

/// The name of the material of meshes whose material is not known.
const UNKNOWN: &str = "unknown";

#[derive(Debug, Clone, Default)]
struct Node {
    name: Arc<str>,
    part: Option<usize>,
    children: Vec<usize>,
    /// Columns of a matrix for column vectors, right-handed.
    matrix: Option<[f32; 16]>,
    /// The number of the instance of a space.
    row: Option<usize>,
}

/// A part where it is shown.
struct PlacedPart<'s, 'a> {
    node: &'s Node,
    above: Option<&'s Node>,
    number: usize,
    part: &'s ScenePart<'a>,
    matrix: Option<&'s [f32; 16]>,
}

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
                Some(placements) => scene.place(groups, &parts, placements),
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
        scene.colour();
        scene
    }

    /// Whether nothing is shown.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Each node that shows a part, with the node above it and the matrix that puts it into place. Of nodes that lie below
    /// each other one at most has a matrix, as a scene is two levels deep: a model and its parts.
    fn shown(&self) -> impl Iterator<Item = PlacedPart<'_, 'a>> {
        self.shown_below(&[])
    }

    /// As [`Self::shown`], also below the nodes `also`.
    fn shown_below<'s>(&'s self, also: &'s [usize]) -> impl Iterator<Item = PlacedPart<'s, 'a>> {
        let top = (None::<&Node>, None::<&[f32; 16]>);
        let mut open: Vec<_> = self.roots.iter().chain(also).rev().map(|&root| (root, top)).collect();
        std::iter::from_fn(move || {
            loop {
                let (number, (above, matrix)) = open.pop()?;
                let node = &self.nodes[number];
                let matrix = node.matrix.as_ref().or(matrix);
                open.extend(node.children.iter().rev().map(|&child| (child, (Some(node), matrix))));
                if let Some(number) = node.part {
                    return Some(PlacedPart { node, above, number, part: &self.parts[number], matrix });
                }
            }
        })
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
        self.material(Material { colour, double_sided: true, ..Material::new(name) })
    }

    /// Gives the materials of meshes soft colours. Those of armour have strong ones, by their ids.
    fn colour(&mut self) {
        for (rank, material) in self.coloured.values().enumerate() {
            let [r, g, b] = crate::scene::colour(rank, self.coloured.len()).map(|c| 0.5 + 0.32 * c);
            self.materials[*material].colour = [r, g, b, 1.0];
        }
    }

    /// Adds a part after a look at all of its numbers. Returns a node that shows it. Damaged or empty ones are left out.
    fn show(&mut self, name: String, shape: Result<PartShape<'a>>, material: usize) -> Option<Node> {
        let part = shape.and_then(|shape| ScenePart::new(name.into(), shape, material, &mut self.notes));
        let part = self.note(part)??;
        let node = Node { name: Arc::clone(&part.name), part: Some(self.parts.len()), ..Node::default() };
        self.parts.push(part);
        Some(node)
    }

    fn add_groups(&mut self, geometry: &'a Geometry, groups: &Groups, lod: Option<usize>) -> PartNodes {
        let mut coarsest: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        for (model, lod) in groups.groups.iter().flat_map(|group| group.lods.iter().map(|lod| (group.model, *lod))) {
            let last = coarsest.entry(model).or_default();
            *last = lod.max(*last);
        }
        let mut nodes = PartNodes::new();
        for group in &groups.groups {
            if let (Some(lod), [_, ..]) = (lod, &*group.lods)
                && !group.lods.contains(&lod.min(coarsest[&group.model]))
            {
                continue;
            }
            let name = group.material.as_deref().unwrap_or(UNKNOWN);
            let material = self.material(Material { is_of_mesh: true, mfm: group.mfm, ..Material::new(name) });
            if let Some(name) = &group.material {
                self.coloured.entry(name.clone()).or_insert(material);
            }
            let vertices = geometry.mapped_vertices(group.vertices);
            let shape = vertices.and_then(|v| Ok(PartShape::group(v, geometry.mapped_indices(group.indices)?)));
            let shape = shape.map_err(|error| error.context(&group.name));
            let Some(mut node) = self.show(group.name.clone(), shape, material) else { continue };
            let part = self.parts.last_mut().expect("it was just added");
            (part.extras, part.lods) = (extras(geometry, group), group.lods.clone());
            node.matrix = group.transform.and_then(|transform| self.matrix("node", "", transform));
            nodes.entry(group.model).or_default().push(node);
        }
        nodes
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
            let Some(model) = model else {
                top.extend(nodes.into_iter().map(|node| self.add(node, [])));
                continue;
            };
            if model == 0 {
                nodes.extend(groups.hard_points.iter().map(|point| {
                    let matrix = self.matrix("node", "", point.transform);
                    Node { name: point.name.as_str().into(), matrix, ..Node::default() }
                }));
            }
            top.push(self.add(Node { name: groups.models[model].as_str().into(), ..Node::default() }, nodes));
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
                let name = geometry.collision_model(model as usize).and_then(|model| model.name());
                let name = self.note(name).map_or_else(String::new, |name| format!(" {name}"));
                let name = format!("collision {model}{name}").trim_end().into();
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

/// The ids of the mappings of a group, by which its mesh comes back, and how they were found to belong together where no
/// render set says it. As JSON.
fn extras(geometry: &Geometry, group: &Group) -> Option<serde_json::Value> {
    let vertices = Id32(geometry.vertex_mappings().ok()?.get(group.vertices)?.mapping_id.get()).to_string();
    let indices = Id32(geometry.index_mappings().ok()?.get(group.indices)?.mapping_id.get()).to_string();
    Some(match group.pairing {
        Pairing::RenderSet => json!({ "vertices": vertices, "indices": indices }),
        pairing => json!({ "vertices": vertices, "indices": indices, "pairing": pairing.to_string() }),
    })
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

fn written<T>(result: std::io::Result<T>) -> Result<T> {
    result.map_err(|error| Error::io("cannot write", error))
}
