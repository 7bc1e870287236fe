//! Scenes of several geometries: a ship with its mounts.

use super::part::Shape;
use super::{Material, Node, Scene, band, right_handed};
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::armor::Plate;
use crate::geometry::{Geometry, material_name};
use crate::scene::{Context, Model, Options};
use std::collections::BTreeMap;
use std::fmt;

/// A model of a geometry, and the places where it stands.
pub struct Assembled<'g> {
    /// The meshes.
    pub geometry: &'g Geometry,
    /// The render sets.
    pub model: Model,
    /// The name and the transform of each place, as [`crate::scene::Placement::transform`]; `None` stands for the origin.
    pub places: Vec<Place>,
    /// The places whose plates have a stated thickness, by that thickness.
    pub armor: Vec<ArmoredPlaces<'g>>,
}

/// The name and the transform of a place; `None` stands for the origin.
pub type Place = (String, Option<[f32; 16]>);

/// Places of a model where its plates are equally thick.
pub struct ArmoredPlaces<'g> {
    /// The places.
    pub places: Vec<Place>,
    /// Millimetres by layer and material of the plates.
    pub thickness: Thickness<'g>,
}

/// Millimetres of the plates with this layer and material; `None` if they are not stated.
pub type Thickness<'g> = Box<dyn Fn(u16, u16) -> Option<f64> + 'g>;

impl fmt::Debug for ArmoredPlaces<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArmoredPlaces").field("places", &self.places).finish_non_exhaustive()
    }
}

impl fmt::Debug for Assembled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assembled")
            .field("model", &self.model.name)
            .field("places", &self.places)
            .field("armor", &self.armor)
            .finish()
    }
}

/// Plates with their rows, by thickness and material. A thickness is in tenths of a millimetre, which are integers that sort; `None` if it
/// is not stated.
type ByThickness<'g> = BTreeMap<(Option<u64>, u16), Vec<(usize, Plate<'g>)>>;

/// Parts of the names of render sets that a ship shows only once it is damaged.
const DAMAGED: [&str; 2] = ["_crack", "_hide"];

/// The scene called `name` with all `parts` in their places. Meshes are written once, wherever they stand.
///
/// # Errors
/// When the mappings of a geometry do not lie in its file.
pub fn assemble<'g>(
    name: &str,
    parts: &[Assembled<'g>],
    context: &Context<'_>,
    options: &Options,
) -> Result<Scene<'g>> {
    let mut scene = Scene { name: name.to_owned(), ..Scene::default() };
    let mut top = Vec::new();
    let mut left_out = 0usize;
    for part in parts {
        scene.damage.extend(part.geometry.decode_all().into_iter().map(|error| error.context(&part.model.name)));
        let mut groups = part.geometry.groups_of(std::slice::from_ref(&part.model))?;
        let all = groups.groups.len();
        groups.groups.retain(|group| !DAMAGED.iter().any(|word| group.name.contains(word)));
        left_out = left_out.saturating_add(all.saturating_sub(groups.groups.len()));
        let mut shown = Vec::new();
        if options.meshes {
            scene.add_groups(part.geometry, &groups, None, options.lod, &mut shown);
        }
        let [shown] = *shown else { continue };
        scene.stand(shown, &part.places, &mut top);
    }
    if left_out > 0 {
        scene.notes.push(format!("{left_out} render sets of damaged states are left out"));
    }
    if options.armor {
        let mut armor = Vec::new();
        for part in parts {
            scene.damage.extend(part.geometry.armor_places().damage.clone());
            for armored in &part.armor {
                scene.add_plates(part, armored, &mut armor);
            }
        }
        if !armor.is_empty() {
            let name = format!("{name} armor");
            let root = scene.node(Node { name, children: armor, ..Node::default() });
            scene.glb_only.push(root);
        }
    }
    scene.colour();
    let root = scene.node(Node { name: name.to_owned(), children: top, ..Node::default() });
    scene.roots.push(root);
    scene.dress(context, options);
    scene.add_variants(context, options);
    Ok(scene)
}

impl<'g> Scene<'g> {
    /// Puts the node `shown` with its children at each of the places. A node has one parent, so each place but the first has
    /// nodes of its own that show the same parts.
    fn stand(&mut self, shown: usize, places: &[Place], top: &mut Vec<usize>) {
        let children = self.nodes.get(shown).map(|node| node.children.clone()).unwrap_or_default();
        for (number, (name, transform)) in places.iter().enumerate() {
            let matrix = match transform.map(right_handed) {
                None => None,
                Some(Some(matrix)) => Some(matrix),
                Some(None) => {
                    let what = format!("the transform of {name} is invalid: {transform:?}").into();
                    self.damage.push(Error::of_part(ErrorKind::Damaged { what }, "placement"));
                    continue;
                }
            };
            let children = if number == 0 {
                children.clone()
            } else {
                let copies = children.iter().filter_map(|&child| {
                    let node = self.nodes.get(child)?;
                    Some(Node { name: node.name.clone(), part: node.part, ..Node::default() })
                });
                let copies: Vec<Node> = copies.collect();
                copies.into_iter().map(|copy| self.node(copy)).collect()
            };
            let node = Node { name: name.clone(), children, matrix, ..Node::default() };
            match self.nodes.get_mut(shown).filter(|_| number == 0) {
                Some(first) => {
                    *first = node;
                    top.push(shown);
                }
                None => {
                    let node = self.node(node);
                    top.push(node);
                }
            }
        }
    }

    /// Adds the plates of a part, one mesh for each thickness and material, in the colours of the game's own view.
    fn add_plates(&mut self, part: &Assembled<'g>, armored: &ArmoredPlaces<'g>, top: &mut Vec<usize>) {
        let mut by_thickness = ByThickness::new();
        for (row, place) in part.geometry.armor_places().all.iter().enumerate() {
            let Ok(plate) = place.read::<Plate<'_>>(part.geometry) else { continue };
            let header = plate.header();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a key, not a value")]
            let tenths =
                (armored.thickness)(header.layer.get(), header.material_id.get()).map(|mm| (mm * 10.0).round() as u64);
            by_thickness.entry((tenths, header.material_id.get())).or_default().push((row, plate));
        }
        let mut children = Vec::new();
        for ((tenths, id), plates) in by_thickness {
            let mm = tenths.map(|tenths| tenths as f64 / 10.0);
            let title = mm.map_or_else(|| "no stated thickness".to_owned(), |mm| format!("{mm} mm"));
            let (_, colour) = band(mm);
            let material = Material { colour, double_sided: true, ..Material::new(format!("armor {title}")) };
            let material = self.material(material);
            let mut name = format!("{}/{id} {}", part.model.name, material_name(id).unwrap_or("unknown"));
            if mm.is_some() {
                name = format!("{name}, {title}");
            }
            children.extend(self.show(name, Shape::Plates(plates, mm), material, None));
        }
        if !children.is_empty() {
            let name = part.model.name.clone();
            let node = self.node(Node { name, children, ..Node::default() });
            self.stand(node, &armored.places, top);
        }
    }
}
