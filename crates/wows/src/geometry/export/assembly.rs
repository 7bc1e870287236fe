//! Scenes of several geometries: a ship with its mounts.

use super::part::PartShape;
use super::{AlikePlates, Scene, band};
use crate::armor::PlateUse;
use crate::camouflage::Camouflages;
use crate::error::Result;
use crate::geometry::armor::Plate;
use crate::geometry::{Geometry, material_name};
use crate::models::{Model, ModelFiles};
use crate::scene::model::Node;
use crate::scene::{Context, Options};
use std::collections::BTreeMap;

/// A model of a geometry, and the places where it stands.
#[derive(Debug)]
pub struct Assembled<'g> {
    /// The meshes.
    pub geometry: &'g Geometry,
    /// The render sets.
    pub model: Model,
    /// The name and the transform of each place, as [`Placement::transform`](crate::models::Placement::transform); `None` stands for the origin.
    pub places: Vec<Place>,
    /// The places whose plates have a stated thickness, by that thickness.
    pub armor: Vec<ArmoredPlaces<'g>>,
}

/// The name and the transform of a place; `None` stands for the origin.
pub type Place = (String, Option<[f32; 16]>);

/// Places of a model where its plates are equally thick.
#[derive(Debug)]
pub struct ArmoredPlaces<'g> {
    pub places: Vec<Place>,
    /// Statements of the thickness of plates. The first one counts.
    pub uses: Vec<&'g PlateUse>,
}

/// Parts of the names of render sets that a ship shows only once it is damaged.
const DAMAGED: [&str; 2] = ["_crack", "_hide"];

/// The scene called `name` with all `parts` in their places. Meshes are written once, wherever they stand.
///
/// # Errors
/// When the mappings of a geometry do not lie in its file.
pub(crate) fn assemble<'g>(
    name: &str,
    parts: &[Assembled<'g>],
    context: &Context<'_>,
    camouflages: Option<&Camouflages>,
    options: &Options,
) -> Result<Scene<'g>> {
    let mut scene = Scene { name: name.to_owned(), ..Scene::default() };
    let mut top = Vec::new();
    let mut left_out = 0usize;
    for part in parts {
        scene.damage.extend(part.geometry.decode_all().into_iter().map(|error| error.context(&part.model.name)));
        let mut groups = part.geometry.groups_of(std::slice::from_ref(&part.model))?;
        left_out += groups.groups.len();
        groups.groups.retain(|group| !DAMAGED.iter().any(|word| group.name.contains(word)));
        left_out -= groups.groups.len();
        if options.meshes {
            let first = scene.parts.len();
            for nodes in scene.add_groups(part.geometry, &groups, options.lod).values() {
                scene.stand(nodes, &part.places, &mut top);
            }
            scene.name_geometry(first, part.geometry);
        }
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
            scene.glb_only.push(scene.nodes.len());
            scene.nodes.push(Node { name: format!("{name} armor").into(), children: armor, ..Node::default() });
        }
    }
    scene.add_root("", top);
    scene.dress(&ModelFiles::new(context), context.textures, options, &|_| None);
    if let Some((camouflages, files)) = camouflages.zip(context.textures) {
        scene.add_variants(camouflages, files, options);
    }
    Ok(scene)
}

impl<'g> Scene<'g> {
    /// Puts a model with these nodes at each of the places. A node has one parent, so each place has nodes of its own that
    /// show the same parts.
    fn stand(&mut self, nodes: &[Node], places: &[Place], top: &mut Vec<usize>) {
        for (name, transform) in places {
            let matrix =
                transform.and_then(|transform| self.matrix("placement", format_args!(" of {name}"), transform));
            if matrix.is_some() || transform.is_none() {
                top.push(
                    self.add(Node { name: name.as_str().into(), matrix, ..Node::default() }, nodes.iter().cloned()),
                );
            }
        }
    }

    /// Adds the plates of a part, one mesh for each thickness and material, in the colours of the game's own view.
    fn add_plates(&mut self, part: &Assembled<'g>, armored: &ArmoredPlaces<'g>, top: &mut Vec<usize>) {
        // By the thickness in tenths of a millimetre, which are integers that sort, if it is stated; and by material.
        let mut alike: AlikePlates<'_, (Option<u64>, u16)> = BTreeMap::new();
        for (row, place) in part.geometry.armor_places().all.iter().enumerate() {
            let Ok(plate) = place.read::<Plate<'_>>(part.geometry) else { continue };
            let (layer, id) = (plate.header().layer.get(), plate.header().material_id.get());
            let mm = armored.uses.iter().find_map(|found| found.thickness(layer, id));
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a key, not a value")]
            let tenths = mm.map(|mm| (mm * 10.0).round() as u64);
            alike.entry((tenths, id)).or_default().push((row, plate));
        }
        let mut nodes = Vec::new();
        for ((tenths, id), plates) in alike {
            let mm = tenths.map(|tenths| tenths as f64 / 10.0);
            let title = mm.map_or_else(|| "no stated thickness".to_owned(), |mm| format!("{mm} mm"));
            let (_, colour) = band(mm);
            let material = self.paint(format!("armor {title}"), colour);
            let mut name = format!("{}/{id} {}", part.model.name, material_name(id).unwrap_or("unknown"));
            if mm.is_some() {
                name = format!("{name}, {title}");
            }
            nodes.extend(self.show(name, Ok(PartShape::plates(&plates, mm)), material));
        }
        if !nodes.is_empty() {
            self.stand(&nodes, &armored.places, top);
        }
    }
}
