//! Ships put together: hull and mounts as the game's parameters list them, with the meshes and nodes that its database has.
//!
//! The one question that is about a certain game: it reads its parameters, and knows shapes by the trait of placements.

use crate::archive::{self, Archive};
use crate::armor::{PlateUse, Plating};
use crate::asset::Asset;
use crate::error::{Error, ErrorKind, Result};
use crate::gameparams::{Entity, Node, Params, Upgrade};
use crate::geometry::Geometry;
use crate::geometry::export::{ArmoredPlaces, Assembled, Place, Scene, assemble};
use crate::models::{Placements, Visual};
use crate::options::Options;
use crate::scene::{self, Context};
use assetq_core::suggest;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The parts of a ship that can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PartKind {
    Hull,
    /// Turrets of the main battery.
    Guns,
    /// Turrets of the secondary battery.
    Secondaries,
    Torpedoes,
    /// Anti-aircraft guns.
    AntiAir,
    /// Directors, finders, radars and other things.
    Other,
}

impl PartKind {
    fn of_component(kind: &str) -> Self {
        match kind {
            "hull" => Self::Hull,
            "artillery" => Self::Guns,
            "atba" => Self::Secondaries,
            "torpedoes" => Self::Torpedoes,
            "airDefense" => Self::AntiAir,
            _ => Self::Other,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Hull => "hull",
            Self::Guns => "guns",
            Self::Secondaries => "secondaries",
            Self::Torpedoes => "torpedoes",
            Self::AntiAir => "anti_air",
            Self::Other => "other_mounts",
        }
    }
}

/// A choice of a ship and of its parts.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The name, the index, the id or the title of the ship.
    pub ship: String,
    /// The hull's upgrade or component; the last one of the ship's upgrades if absent.
    pub hull: Option<String>,
    /// The kinds of parts; an empty list selects all of them.
    pub parts: Vec<PartKind>,
    /// The camouflages to look up, by title or name; an empty list selects all of the ship, and none are looked up if absent.
    pub camouflages: Option<Vec<String>>,
}

impl Query {
    fn wants(&self, kind: PartKind) -> bool {
        self.parts.is_empty() || self.parts.contains(&kind)
    }
}

/// Parts of names that the visuals of a hull's sections have after the hull's own.
const SECTIONS: [&str; 4] = ["Bow", "MidFront", "MidBack", "Stern"];

#[derive(Debug)]
struct ShipComponent {
    visual: Visual,
    /// The component's geometry, by number in [`Ship::geometries`].
    geometry: usize,
    places: Vec<Place>,
    /// The thickness of its plates: of a mount its own, then the hull's.
    armor: Vec<PlateUse>,
}

impl ShipComponent {
    /// The places by the thickness of their plates: mounts of one model may be armoured differently.
    fn armored_places(&self) -> Vec<ArmoredPlaces<'_>> {
        let mut alike: Vec<ArmoredPlaces<'_>> = Vec::new();
        for place in &self.places {
            let uses: Vec<&PlateUse> =
                self.armor.iter().filter(|found| found.mounts.is_empty() || found.mounts.contains(&place.0)).collect();
            match alike.iter_mut().find(|known| known.uses == uses) {
                Some(known) => known.places.push(place.clone()),
                None if uses.is_empty() => {}
                None => alike.push(ArmoredPlaces { places: vec![place.clone()], uses }),
            }
        }
        alike
    }
}

/// A ship, with the files that it is made of.
#[derive(Debug)]
pub struct Ship {
    /// The ship's name, as in `PASB018_Iowa`.
    pub name: String,
    /// The component of its hull, as in `A_Hull`.
    pub hull: String,
    /// Its title, nation, class and level in the parameters, and the number of its mounts of each kind.
    pub facts: Vec<(&'static str, String)>,
    /// Parts that are missing, in words.
    pub notes: Vec<String>,
    geometries: Vec<Asset>,
    parts: Vec<ShipComponent>,
    camouflages: Option<super::camouflage::Camouflages>,
}

impl Ship {
    /// The ship that `query` names, of the parameters `params`, with the models of `database` and the files of `game`.
    ///
    /// # Errors
    /// `NotFound` without such a ship or hull, with the nearest names; `Syntax` if several ships have the title; and the
    /// errors of the files that are read.
    pub fn open(game: &Asset, params: &Asset, database: &Asset, query: &Query, options: &Options) -> Result<Self> {
        let Some(params) = params.get::<Params>() else {
            return Err(not_found(format!("{} holds no parameters", params.source().name())));
        };
        params.check_parts()?;
        let found = find_ship(params, &query.ship)?;
        let name = found.name()?.into_owned();
        let components = components(&found, query.hull.as_deref())?;
        let Some(archive) = game.reader().archive() else {
            return Err(not_found(format!("{} holds no files", game.source().name())));
        };
        let Some(placements) = database.reader().facet::<dyn Placements>() else {
            return Err(not_found(format!("{} holds no models", database.source().name())));
        };
        let Some(hull) = components.get("hull") else {
            return Err(not_found(format!("{name} has no hull among its components")));
        };
        let title = params.title(&found)?.map(Cow::into_owned);
        let infos = [("nation", found.info("nation")), ("class", found.info("species")), ("level", found.get("level"))];
        let mut facts = vec![("title", title.unwrap_or_default())];
        for (name, node) in infos {
            let number = node.and_then(Node::number).map(|number| number.to_string());
            facts.push((name, number.map_or_else(|| text(node), Ok)?));
        }
        let (notes, geometries, parts) = (Vec::new(), Vec::new(), Vec::new());
        let mut ship =
            Self { name: name.clone(), hull: hull.clone(), facts, notes, geometries, parts, camouflages: None };
        let mut files = Files { game, archive, placements, options, numbers: BTreeMap::new() };
        let model = found.hulls().filter(|part| part.component.is_some_and(|key| key.is_text(hull))).last();
        let model = text(model.and_then(|part| part.node.get("model")))?;
        let nodes = ship.add_hull(&mut files, &model, query.wants(PartKind::Hull))?;
        let mut by_model: BTreeMap<String, Vec<Place>> = BTreeMap::new();
        let (mut without_node, mut placed) = (Vec::new(), Vec::new());
        for part in found.mounts() {
            let chosen = components.iter().find(|(_, name)| part.component.is_some_and(|key| key.is_text(name)));
            let kind = chosen.map(|(kind, _)| PartKind::of_component(kind)).filter(|kind| query.wants(*kind));
            let Some(kind) = kind else { continue };
            let (mount, model) = (text(part.mount)?, text(part.node.get("model"))?);
            match nodes.get(&mount) {
                _ if model.is_empty() => {}
                Some(matrix) => {
                    placed.push(kind);
                    by_model.entry(model).or_default().push((mount, Some(*matrix)));
                }
                None => without_node.push(format!("{mount} ({kind:?})")),
            }
        }
        placed.sort_unstable();
        let kinds = placed.chunk_by(|kind, next| kind == next);
        ship.facts.extend(kinds.filter_map(|same| Some((same.first()?.name(), same.len().to_string()))));
        if !without_node.is_empty() {
            ship.notes.push(format!("the hull has no nodes for these mounts: {}", without_node.join(", ")));
        }
        for (model, places) in by_model {
            match placements.visual(&model)? {
                Some(visual) => ship.add(visual, &mut files, places)?,
                None => {
                    let names: Vec<&str> = places.iter().map(|(name, _)| name.as_str()).collect();
                    ship.notes.push(format!("the database has no model {model:?} for {}", names.join(", ")));
                }
            }
        }
        ship.add_armor(params, &components)?;
        if let Some(names) = &query.camouflages {
            ship.add_camouflages(params, &found, &files, names)?;
        }
        Ok(ship)
    }

    /// Finds the camouflages that the parameters list for the ship: those called by `names`, or all.
    fn add_camouflages(
        &mut self,
        params: &Params,
        ship: &Entity<'_>,
        files: &Files<'_>,
        names: &[String],
    ) -> Result<()> {
        use super::camouflage::{Camouflages, PATH};
        let native = ship.get("nativePermoflage");
        let others = ship.get("permoflages").map(Node::items).into_iter().flatten();
        let mut wanted: Vec<(String, String)> = Vec::new();
        for exterior in native.into_iter().chain(others) {
            let exterior = text(Some(exterior))?;
            let Some(found) = params.named(&exterior)? else { continue };
            let name = text(found.get("camouflage"))?;
            if !name.is_empty() && !wanted.iter().any(|(known, _)| *known == name) {
                let title = params.title(&found)?.filter(|title| !title.is_empty());
                wanted.push((name, title.map_or(exterior, Cow::into_owned)));
            }
        }
        let is_called = |(name, title): &(String, String), wanted: &String| {
            [name, title].into_iter().any(|known| known.eq_ignore_ascii_case(wanted))
        };
        if let Some(unknown) = names.iter().find(|name| !wanted.iter().any(|known| is_called(known, name))) {
            let known: Vec<&str> = wanted.iter().map(|(_, title)| title.as_str()).collect();
            let what = format!("camouflage {unknown:?} of {}: it has {}", self.name, known.join(", "));
            return Err(Error::of_part(ErrorKind::NotFound { what }, ""));
        }
        if !names.is_empty() {
            wanted.retain(|known| names.iter().any(|name| is_called(known, name)));
        }
        let Some(file) = files.archive.find(PATH)? else {
            self.notes.push(format!("the game has no {PATH}: camouflages are left out"));
            return Ok(());
        };
        let name = files.game.source().name();
        let source = archive::open(files.archive, &file, name)?;
        let camouflages = Camouflages::of_ship(&source, &self.name, &wanted)?;
        self.notes.extend_from_slice(camouflages.notes());
        self.camouflages = Some(camouflages);
        Ok(())
    }

    /// Adds the thickness of plates that the parameters state for this ship with these components.
    fn add_armor(&mut self, params: &Params, components: &BTreeMap<String, String>) -> Result<()> {
        let (name, hull) = (&self.name, &self.hull);
        let mut of_hull = Vec::new();
        for part in &mut self.parts {
            part.armor = params.armor_of(&part.visual.geometry)?;
            part.armor.retain(|found| {
                let is_chosen = components.values().any(|chosen| found.component.as_ref() == Some(chosen));
                found.ship.as_ref() == Some(name) && is_chosen
            });
            of_hull.extend(part.armor.iter().filter(|found| found.component.as_ref() == Some(hull)).cloned());
        }
        for part in self.parts.iter_mut().filter(|part| !part.armor.is_empty()) {
            part.armor.extend(of_hull.iter().cloned());
        }
        Ok(())
    }

    /// Adds the visuals of the hull and of its sections; gives the nodes of all of them.
    fn add_hull(&mut self, files: &mut Files<'_>, model: &str, is_wanted: bool) -> Result<BTreeMap<String, [f32; 16]>> {
        let stem = model.rsplit_once('.').map_or(model, |(stem, _)| stem);
        let sections = SECTIONS.iter().map(|section| (*section, format!("{stem}_{section}.visual")));
        let mut nodes = BTreeMap::new();
        for (section, path) in std::iter::once(("Hull", model.to_owned())).chain(sections) {
            let Some(visual) = files.placements.visual(&path)? else {
                if section == "Hull" {
                    return Err(not_found(format!("the database lacks the hull's model {path:?}")));
                }
                continue;
            };
            for (name, matrix) in &visual.nodes {
                nodes.entry(name.clone()).or_insert(*matrix);
            }
            if is_wanted {
                self.add(visual, files, vec![(section.to_owned(), None)])?;
            }
        }
        Ok(nodes)
    }

    fn add(&mut self, visual: Visual, files: &mut Files<'_>, places: Vec<Place>) -> Result<()> {
        match files.geometry(&visual.geometry, &mut self.geometries)? {
            Some(geometry) => self.parts.push(ShipComponent { visual, geometry, places, armor: Vec::new() }),
            None => self.notes.push(format!("{} is not in the game's files", visual.geometry)),
        }
        Ok(())
    }

    /// The ship as a scene, with its camouflages as variants of its materials.
    ///
    /// # Errors
    /// When a geometry is damaged beyond its parts.
    pub fn scene(&self, context: &Context<'_>, options: &scene::Options) -> Result<Scene<'_>> {
        let assembled = self.parts.iter().filter_map(|part| {
            let geometry = self.geometries.get(part.geometry)?.get::<Geometry>()?;
            let (model, places) = (part.visual.model.clone(), part.places.clone());
            Some(Assembled { geometry, model, places, armor: part.armored_places() })
        });
        let mut scene =
            assemble(&self.name, &assembled.collect::<Vec<_>>(), context, self.camouflages.as_ref(), options)?;
        scene.notes.extend(self.notes.iter().cloned());
        Ok(scene)
    }
}

/// The files of a game; its geometries are opened once.
struct Files<'g> {
    game: &'g Asset,
    archive: &'g dyn Archive,
    placements: &'g dyn Placements,
    options: &'g Options,
    numbers: BTreeMap<String, usize>,
}

impl Files<'_> {
    fn geometry(&mut self, path: &str, opened: &mut Vec<Asset>) -> Result<Option<usize>> {
        if let Some(known) = self.numbers.get(path) {
            return Ok(Some(*known));
        }
        let Some(file) = self.archive.find(path)? else { return Ok(None) };
        let asset = archive::open_file(self.archive, &file, self.game.source().name(), self.options)?;
        let number = opened.len();
        opened.push(asset);
        self.numbers.insert(path.to_owned(), number);
        Ok(Some(number))
    }
}

#[cold]
fn not_found(what: String) -> Error {
    Error::of_part(ErrorKind::NotFound { what }, "")
}

/// The text of a node; empty for anything else.
fn text(node: Option<Node<'_>>) -> Result<String> {
    Ok(node.map(Node::text).transpose()?.flatten().map_or_else(String::new, Cow::into_owned))
}

/// The ship that `query` names: see [`Params::ship`].
fn find_ship<'p>(params: &'p Params, query: &'p str) -> Result<Entity<'p>> {
    if let Some(found) = params.ship(query)? {
        return Ok(found);
    }
    let (wanted, mut near) = (query.to_lowercase(), Vec::new());
    for ship in params.ships()? {
        let title = params.title(&ship)?.map_or_else(String::new, |title| title.to_lowercase());
        let name = ship.name()?;
        if near.len() < 5 && [title, name.to_lowercase()].iter().any(|known| known.contains(&wanted)) {
            near.push(name);
        }
    }
    let near = if near.is_empty() { nearest_ships(params, query)? } else { near };
    Err(not_found(format!("there is no ship {query:?}{}", suggest::hint_of(&near))))
}

/// The names of the ships whose name or title is most alike to `query`.
fn nearest_ships(params: &Params, query: &str) -> Result<Vec<Cow<'static, str>>> {
    let mut names = Vec::new();
    for ship in params.ships()? {
        let name = ship.name()?.into_owned();
        names.extend(params.title(&ship)?.map(|title| (title.into_owned(), name.clone())));
        names.push((name.clone(), name));
    }
    let near = suggest::nearest(query, names.iter().map(|(known, _)| known));
    let of_near = near.iter().filter_map(|near| names.iter().find(|(known, _)| known == *near));
    let mut ships: Vec<Cow<'static, str>> = of_near.map(|(_, name)| name.clone().into()).collect();
    ships.dedup();
    Ok(ships)
}

/// Returns a component of each kind: the last one that the hull's upgrade lists, else the last one of the ship.
fn components(ship: &Entity<'_>, hull: Option<&str>) -> Result<BTreeMap<String, String>> {
    let upgrades: Vec<Upgrade<'_>> = ship.upgrades().collect();
    let hulls = upgrades.iter().filter(|one| one.node.get("ucType").is_some_and(|kind| kind.is_text("_Hull")));
    let hulls: Vec<&Upgrade<'_>> = hulls.collect();
    let mut previous = Vec::new();
    for upgrade in &hulls {
        previous.push(text(upgrade.node.get("prev"))?);
    }
    let chosen = match hull {
        Some(wanted) => hulls.iter().find(|upgrade| upgrade.name.is_text(wanted) || has_hull(upgrade, wanted)),
        // The upgrade that no other one follows.
        None => hulls.iter().rev().find(|upgrade| !previous.iter().any(|name| upgrade.name.is_text(name))),
    };
    let Some(chosen) = chosen else {
        let names = hulls.iter().map(|upgrade| text(Some(upgrade.name))).collect::<Result<Vec<_>>>()?.join(", ");
        let wanted = hull.map_or_else(|| "that no upgrade replaces".to_owned(), |hull| format!("{hull:?}"));
        return Err(not_found(format!("{} has no hull {wanted}; it has {names}", ship.name()?)));
    };
    let mut components = BTreeMap::new();
    for (kind, component) in upgrades.iter().chain([*chosen]).flat_map(|upgrade| upgrade.components()) {
        components.insert(text(Some(kind))?, text(Some(component))?);
    }
    if let Some(wanted) = hull.filter(|wanted| has_hull(chosen, wanted)) {
        components.insert("hull".into(), wanted.to_owned());
    }
    Ok(components)
}

fn has_hull(upgrade: &Upgrade<'_>, hull: &str) -> bool {
    upgrade.components().any(|(kind, name)| kind.is_text("hull") && name.is_text(hull))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_named_by_the_components_that_mount_them() {
        for (component, name) in [
            ("hull", "hull"),
            ("artillery", "guns"),
            ("atba", "secondaries"),
            ("torpedoes", "torpedoes"),
            ("airDefense", "anti_air"),
            ("directors", "other_mounts"),
        ] {
            assert_eq!(PartKind::of_component(component).name(), name, "{component}");
        }
    }
}
