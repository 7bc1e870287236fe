//! Meshes, armour and collision hulls written for other programs: GLB, OBJ, and drawings as SVG.
//!
//! The game's space is left-handed with y up. The written shapes are right-handed: x is turned around, so that a mesh
//! that looks forward (along z) still does, and triangles turn left around their normals.

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
pub use assembly::{ArmoredPlaces, Assembled, Place, Thickness, assemble};
pub use glb::write_glb;
pub use named::scene;
pub use obj::write_obj;
pub use svg::write_svg;

use super::armor::Plate;
use super::layout::Mapping;
use super::mesh::{Group, Groups, HardPoint, Pairing};
use super::{Geometry, material_name};
use crate::armor::PlateUse;
use crate::error::{Error, ErrorKind, Result};
use crate::scene::Placement;
use crate::source::Source;
use part::{ScenePart, Shape};
use skin::{Image, Skin};
use std::collections::BTreeMap;

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

#[derive(Debug, Default)]
struct Node {
    name: String,
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

/// Plates with their rows and their thickness, by material and by the bits of that thickness.
type ByMaterial<'a> = BTreeMap<(u16, Option<u64>), (Option<f64>, Vec<(usize, Plate<'a>)>)>;

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
        let (mut meshes, mut armor, mut hulls) = (Vec::new(), Vec::new(), Vec::new());
        if options.meshes {
            scene.notes.extend(groups.notes.iter().cloned());
            scene.add_groups(geometry, groups, placements, options.lod, &mut meshes);
        }
        // In a space, hulls and armour have no position of their own: they belong to models, and are placed with them.
        if options.armor && placements.is_none() {
            scene.add_armor(geometry, &mut armor);
        }
        if options.collision && placements.is_none() {
            scene.add_collision(geometry, &mut hulls);
        }
        scene.colour();
        for (nodes, suffix) in [(meshes, ""), (armor, " armor"), (hulls, " hulls")] {
            if !nodes.is_empty() {
                let root = Node { name: format!("{name}{suffix}"), children: nodes, ..Node::default() };
                let root = scene.node(root);
                scene.roots.push(root);
            }
        }
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
            while let Some((number, (above, matrix))) = open.pop() {
                let Some(node) = self.nodes.get(number) else { continue };
                let matrix = node.matrix.as_ref().or(matrix);
                open.extend(node.children.iter().rev().map(|&child| (child, (Some(node), matrix))));
                if let Some((number, part)) = node.part.and_then(|number| Some((number, self.parts.get(number)?))) {
                    return Some(PlacedPart { node, above, number, part, matrix });
                }
            }
            None
        })
    }

    fn node(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len().saturating_sub(1)
    }

    fn material(&mut self, material: Material) -> usize {
        match self.materials.iter().position(|m| *m == material) {
            Some(known) => known,
            None => {
                self.materials.push(material);
                self.materials.len().saturating_sub(1)
            }
        }
    }

    /// Gives the materials of meshes soft colours. Those of armour have strong ones, by their ids.
    fn colour(&mut self) {
        for (rank, material) in self.coloured.values().enumerate() {
            if let Some(material) = self.materials.get_mut(*material) {
                let [r, g, b] = crate::scene::colour(rank, self.coloured.len()).map(|c| 0.5 + 0.32 * c);
                material.colour = [r, g, b, 1.0];
            }
        }
    }

    /// Adds a part after a look at all of its numbers, and a node that shows it. Damaged or empty ones are left out.
    fn show(&mut self, name: String, shape: Shape<'a>, material: usize, extras: Option<String>) -> Option<usize> {
        match ScenePart::new(name.clone(), shape, material, extras, &mut self.notes) {
            Ok(Some(part)) => {
                self.parts.push(part);
                let part = Some(self.parts.len().saturating_sub(1));
                Some(self.node(Node { name, part, ..Node::default() }))
            }
            Ok(None) => None,
            Err(error) => {
                self.damage.push(error);
                None
            }
        }
    }

    fn add_groups(
        &mut self,
        geometry: &'a Geometry,
        groups: &Groups,
        placements: Option<&[Placement]>,
        lod: Option<usize>,
        top: &mut Vec<usize>,
    ) {
        let mut coarsest = vec![0usize; groups.models.len()];
        for group in &groups.groups {
            let last = group.lods.iter().copied().max().unwrap_or(0);
            group.model.and_then(|m| coarsest.get_mut(m)).into_iter().for_each(|c| *c = last.max(*c));
        }
        let mut of_model: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for group in &groups.groups {
            let coarsest = group.model.and_then(|m| coarsest.get(m)).copied().unwrap_or(0);
            let wanted = lod.is_none_or(|lod| group.lods.is_empty() || group.lods.contains(&lod.min(coarsest)));
            if !wanted {
                continue;
            }
            let both = geometry
                .mapped_vertices(group.vertices)
                .and_then(|v| Ok(Shape::group(v, geometry.mapped_indices(group.indices)?)));
            let shape = match both {
                Ok(shape) => shape,
                Err(error) => {
                    self.damage.push(error.context(&group.name));
                    continue;
                }
            };
            let name = group.material.as_deref().unwrap_or(UNKNOWN);
            let material = self.material(Material { is_of_mesh: true, mfm: group.mfm, ..Material::new(name) });
            if let Some(name) = &group.material {
                self.coloured.entry(name.clone()).or_insert(material);
            }
            let extras = Some(extras(geometry, group));
            let Some(node) = self.show(group.name.clone(), shape, material, extras) else { continue };
            if let Some(part) = self.parts.last_mut() {
                part.lods.clone_from(&group.lods);
            }
            if let Some(transform) = group.transform {
                self.transform(node, transform);
            }
            match group.model {
                Some(model) => of_model.entry(model).or_default().push(node),
                None if placements.is_none() => top.push(node),
                None => {}
            }
        }
        match placements {
            None => {
                for (model, mut children) in of_model {
                    if model == 0 {
                        children.extend(self.hard_points(&groups.hard_points));
                    }
                    let name = groups.models.get(model).cloned().unwrap_or_default();
                    top.push(self.node(Node { name, children, ..Node::default() }));
                }
            }
            Some(placements) => self.place(groups, &of_model, placements, top),
        }
    }

    /// Puts a node into its place.
    fn transform(&mut self, node: usize, transform: [f32; 16]) {
        let matrix = right_handed(transform);
        if matrix.is_none() {
            let what = format!("the transform is invalid: {transform:?}").into();
            self.damage.push(Error::of_part(ErrorKind::Damaged { what }, "node"));
        }
        if let Some(node) = self.nodes.get_mut(node) {
            node.matrix = matrix;
        }
    }

    /// Nodes without a part, for other models.
    fn hard_points(&mut self, all: &[HardPoint]) -> Vec<usize> {
        all.iter()
            .map(|point| {
                let node = self.node(Node { name: point.name.clone(), ..Node::default() });
                self.transform(node, point.transform);
                node
            })
            .collect()
    }

    /// Puts models where the placements say. A node has one parent, so each placement has nodes of its own that
    /// show the same parts.
    fn place(
        &mut self,
        groups: &Groups,
        of_model: &BTreeMap<usize, Vec<usize>>,
        placements: &[Placement],
        top: &mut Vec<usize>,
    ) {
        let mut without = 0usize;
        for (i, placement) in placements.iter().enumerate() {
            let Some(nodes) = of_model.get(&placement.model) else {
                without = without.saturating_add(1);
                continue;
            };
            let Some(matrix) = right_handed(placement.transform) else {
                let what = format!("the transform of instance {i} is invalid: {:?}", placement.transform).into();
                self.damage.push(Error::of_part(ErrorKind::Damaged { what }, "placement"));
                continue;
            };
            if self.nodes.len().saturating_add(nodes.len()) > MAX_NODES {
                let kind = ErrorKind::Limit {
                    what: "nodes of a scene",
                    value: self.nodes.len().saturating_add(nodes.len()) as u64,
                    limit: MAX_NODES as u64,
                };
                self.damage.push(Error::of_part(kind, "placement").context(format_args!("instance {i}")));
                break;
            }
            let mut children = Vec::with_capacity(nodes.len());
            for &node in nodes {
                let Some(shown) = self.nodes.get(node) else { continue };
                let copy = Node { name: shown.name.clone(), part: shown.part, ..Node::default() };
                children.push(self.node(copy));
            }
            let name = groups.models.get(placement.model).cloned().unwrap_or_default();
            let row = Some(placement.row);
            top.push(self.node(Node { name, children, matrix: Some(matrix), row, ..Node::default() }));
        }
        if without > 0 {
            self.notes.push(format!("{} of models without render groups here", counted(without, "instance")));
        }
        // The nodes that were copied are shown by nothing any more; a tree without them has no stray roots.
        self.drop_unreachable(of_model.values().flatten().copied().collect(), top);
    }

    /// Removes `gone` from the nodes and renumbers the others.
    fn drop_unreachable(&mut self, gone: std::collections::BTreeSet<usize>, top: &mut [usize]) {
        let mut next = 0usize;
        let new: Vec<usize> = (0..self.nodes.len())
            .map(|i| {
                let number = next;
                next = next.saturating_add(usize::from(!gone.contains(&i)));
                number
            })
            .collect();
        let mut number = 0usize;
        self.nodes.retain(|_| {
            let keep = !gone.contains(&number);
            number = number.saturating_add(1);
            keep
        });
        let renumber = |i: &mut usize| *i = new.get(*i).copied().unwrap_or(*i);
        self.nodes.iter_mut().flat_map(|n| n.children.iter_mut()).for_each(renumber);
        top.iter_mut().for_each(renumber);
    }

    /// Chooses the first of the things that have the plates, and names the others.
    fn find_armor(&mut self, geometry: &'a Geometry) {
        let uses = match geometry.armor_uses() {
            Ok(uses) => uses,
            Err(error) => return self.damage.push(error.context("thickness")),
        };
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

    fn add_armor(&mut self, geometry: &'a Geometry, top: &mut Vec<usize>) {
        self.find_armor(geometry);
        let index = geometry.armor_places();
        self.damage.extend(index.damage.clone());
        let mut rows = (0..).step_by(geometry.rows_of_plate().get());
        for of_model in index.all.chunk_by(|a, b| a.model == b.model) {
            let Some(model) = of_model.first().map(|p| p.model) else { continue };
            let mut by_material = ByMaterial::new();
            for (place, row) in of_model.iter().zip(&mut rows) {
                let Ok(plate) = place.read::<Plate<'_>>(geometry) else { continue };
                let (id, layer) = (plate.header().material_id.get(), plate.header().layer.get());
                let thickness = self.uses.first().and_then(|armor| armor.thickness(layer, id));
                // Millimetres are few hundreds, and positive.
                let order = thickness.map(|mm| mm.max(0.0).to_bits());
                by_material.entry((id, order)).or_insert_with(|| (thickness, Vec::new())).1.push((row, plate));
            }
            let name = geometry.armor_model(model as usize).and_then(|m| m.name()).unwrap_or("armor");
            if !self.uses.is_empty() {
                // In this order the materials are a legend.
                let mut all: Vec<_> = by_material.values().map(|(thickness, _)| *thickness).collect();
                all.sort_by(|a, b| a.unwrap_or(f64::INFINITY).total_cmp(&b.unwrap_or(f64::INFINITY)));
                for (name, colour) in all.into_iter().map(band) {
                    self.material(Material { colour, double_sided: true, ..Material::new(name) });
                }
            }
            let mut children = Vec::new();
            for ((id, _), (thickness, plates)) in by_material {
                let mut title = format!("{id} {}", material_name(id).unwrap_or("unknown"));
                let material = if self.uses.is_empty() {
                    let [r, g, b] = crate::scene::colour_of_id(id);
                    let colour = [r, g, b, 1.0];
                    self.material(Material { colour, double_sided: true, ..Material::new(&title) })
                } else {
                    let (band, colour) = band(thickness);
                    title = thickness.map_or_else(|| title.clone(), |mm| format!("{title}, {mm} mm"));
                    self.material(Material { colour, double_sided: true, ..Material::new(band) })
                };
                children.extend(self.show(format!("{name}/{title}"), Shape::Plates(plates, thickness), material, None));
            }
            if !children.is_empty() {
                top.push(self.node(Node { name: name.to_owned(), children, ..Node::default() }));
            }
        }
    }

    fn add_collision(&mut self, geometry: &'a Geometry, top: &mut Vec<usize>) {
        let index = geometry.collision_places();
        self.damage.extend(index.damage.clone());
        for of_model in index.all.chunk_by(|a, b| a.model == b.model) {
            let Some(model) = of_model.first().map(|p| p.model) else { continue };
            let material = self.material(Material { colour: HULL, double_sided: true, ..Material::new("collision") });
            let mut children = Vec::new();
            for place in of_model {
                let Ok(hull) = place.read(geometry) else { continue };
                let name = format!("collision {model}/hull {}", place.number);
                children.extend(self.show(name, Shape::Hull(hull), material, None));
            }
            if !children.is_empty() {
                let name = geometry.collision_model(model as usize).and_then(|m| m.name()).unwrap_or("");
                let name = format!("collision {model} {name}").trim_end().to_owned();
                top.push(self.node(Node { name, children, ..Node::default() }));
            }
        }
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
fn extras(geometry: &Geometry, group: &Group) -> String {
    let id = |mappings: Result<&[Mapping]>, number: usize| {
        let mapping = mappings.ok().and_then(|mappings| mappings.get(number));
        crate::id::Id32(mapping.map_or(0, |mapping| mapping.mapping_id.get()))
    };
    let vertices = id(geometry.vertex_mappings(), group.vertices);
    let indices = id(geometry.index_mappings(), group.indices);
    let ids = format!("\"vertices\":\"{vertices}\",\"indices\":\"{indices}\"");
    match group.pairing {
        Pairing::RenderSet => format!("{{{ids}}}"),
        pairing => format!("{{{ids},\"pairing\":\"{pairing}\"}}"),
    }
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

/// The error that writing gave.
fn io(error: std::io::Error) -> Error {
    Error::io("cannot write", error)
}

/// As [`io`], for functions that give the value.
fn written<T>(result: std::io::Result<T>) -> Result<T> {
    result.map_err(io)
}
