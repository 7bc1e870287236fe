//! Ships put together: hull and mounts as the game's parameters list them, with the meshes and nodes that its database has.
//!
//! The one question that is about a certain game: it knows the tables of parameters by name, and shapes by the trait of
//! placements.

use crate::archive::{self, Archive};
use crate::armor::{PlateUse, Plating};
use crate::asset::Asset;
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::Geometry;
use crate::geometry::export::{ArmoredPlaces, Assembled, Place, Scene, assemble};
use crate::options::Options;
use crate::scene::{self, Context, Placements, Visual};
use crate::table::{Table, Value, column_index};
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
    /// The kind of a mount, by the kind of its component.
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
    /// Whether the ship's camouflages are looked up.
    pub camouflages: bool,
}

impl Query {
    /// Whether parts of a kind are selected.
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
    /// Parts that are missing, in words.
    pub notes: Vec<String>,
    geometries: Vec<Asset>,
    parts: Vec<ShipComponent>,
    camouflages: Option<super::camouflage::Camouflages>,
}

/// The cells of rows of a table, by the names of its columns.
struct NamedCells<'t> {
    table: Box<dyn Table + 't>,
}

impl<'t> NamedCells<'t> {
    fn of(asset: &'t Asset, name: &str) -> Result<Self> {
        Ok(Self {
            table: asset.reader().table(name).ok_or_else(|| {
                let what = format!("{} has no table {name}", asset.source().name());
                Error::of_part(ErrorKind::NotFound { what }, "")
            })?,
        })
    }

    fn text(&self, row: usize, column: &str) -> Result<String> {
        let Some(column) = column_index(&*self.table, column) else { return Ok(String::new()) };
        Ok(match self.table.value(row, column)? {
            Value::Null => String::new(),
            value => value.to_string(),
        })
    }

    /// The rows whose cell is `text`: by a probe if the table has one.
    fn with(&self, column: &str, text: &str) -> Result<Vec<usize>> {
        let Some(number) = column_index(&*self.table, column) else { return Ok(Vec::new()) };
        if let Some(found) = self.table.find(number, &Value::text(text)) {
            return found;
        }
        let mut rows = Vec::new();
        let mut cursor = self.table.cursor_over(0, &[number]);
        let mut row = 0usize;
        while cursor.advance()? {
            // An id is a number in the table.
            if cursor.value(number)?.to_string() == text {
                rows.push(row);
            }
            row = row.saturating_add(1);
        }
        Ok(rows)
    }
}

impl Ship {
    /// The ship that `query` names, of the parameters `params`, with the models of `database` and the files of `game`.
    ///
    /// # Errors
    /// `NotFound` without such a ship or hull, with the nearest names; `Syntax` if several ships have the title; and the
    /// errors of the files that are read.
    pub fn open(game: &Asset, params: &Asset, database: &Asset, query: &Query, options: &Options) -> Result<Self> {
        let name = find_ship(params, &query.ship)?;
        let components = components(params, &name, query.hull.as_deref())?;
        let archive =
            game.reader().archive().ok_or_else(|| not_found(format!("{} holds no files", game.source().name())))?;
        let placements = database.reader().placements();
        let placements =
            placements.ok_or_else(|| not_found(format!("{} holds no models", database.source().name())))?;
        let hull = components.get("hull").cloned();
        let hull = hull.ok_or_else(|| not_found(format!("{name} has no hull among its components")))?;
        let mut ship = Self {
            name: name.clone(),
            hull: hull.clone(),
            notes: Vec::new(),
            geometries: Vec::new(),
            parts: Vec::new(),
            camouflages: None,
        };
        let mut files = Files { game, archive, options, numbers: BTreeMap::new() };
        let hulls = NamedCells::of(params, "hulls")?;
        let mut model = String::new();
        for row in hulls.with("ship", &name)? {
            if hulls.text(row, "component")? == hull {
                model = hulls.text(row, "model")?;
            }
        }
        let nodes = ship.add_hull(placements, &mut files, &model, query.wants(PartKind::Hull))?;
        let chosen: Vec<&str> = components.values().map(String::as_str).collect();
        let mounts = NamedCells::of(params, "mounts")?;
        let mut by_model: BTreeMap<String, Vec<Place>> = BTreeMap::new();
        let mut without_node = Vec::new();
        for row in mounts.with("ship", &name)? {
            let component = mounts.text(row, "component")?;
            let kind = components.iter().find(|(_, chosen)| **chosen == component).map(|(kind, _)| kind.as_str());
            let Some(kind) = kind.map(PartKind::of_component).filter(|kind| query.wants(*kind)) else { continue };
            let (mount, model) = (mounts.text(row, "mount")?, mounts.text(row, "model")?);
            match nodes.get(&mount) {
                _ if model.is_empty() => {}
                Some(matrix) => by_model.entry(model).or_default().push((mount, Some(*matrix))),
                None => without_node.push(format!("{mount} ({kind:?})")),
            }
        }
        if !without_node.is_empty() {
            ship.notes.push(format!("the hull has no nodes for these mounts: {}", without_node.join(", ")));
        }
        for (model, places) in by_model {
            ship.add(placements, &mut files, &model, places)?;
        }
        if let Some(plating) = params.reader().facet::<dyn Plating>() {
            ship.add_armor(plating, &chosen)?;
        }
        if query.camouflages {
            ship.add_camouflages(params, &files)?;
        }
        Ok(ship)
    }

    /// Finds the camouflages that the parameters list for the ship.
    fn add_camouflages(&mut self, params: &Asset, files: &Files<'_>) -> Result<()> {
        use super::camouflage::{Camouflages, PATH};
        let fields = NamedCells::of(params, "fields")?;
        let exteriors = NamedCells::of(params, "entities")?;
        let mut wanted: Vec<(String, String)> = Vec::new();
        for row in fields.with("entity", &self.name)? {
            let path = fields.text(row, "path")?;
            if path != "nativePermoflage" && !path.starts_with("permoflages[") {
                continue;
            }
            let exterior = fields.text(row, "value")?;
            let Some(&found) = exteriors.with("name", &exterior)?.first() else { continue };
            let title = exteriors.text(found, "title")?;
            for row in fields.with("entity", &exterior)? {
                let name = fields.text(row, "value")?;
                let is_new = !name.is_empty() && !wanted.iter().any(|(known, _)| *known == name);
                if is_new && fields.text(row, "path")? == "camouflage" {
                    wanted.push((name, if title.is_empty() { exterior.clone() } else { title.clone() }));
                }
            }
        }
        let Some(file) = files.archive.find(PATH)? else {
            self.notes.push(format!("the game has no {PATH}: camouflages are left out"));
            return Ok(());
        };
        let name = files.game.source().name();
        let source = archive::open(files.archive, &file, name)?;
        self.camouflages = Some(Camouflages::of_ship(&source, &self.name, &wanted)?);
        Ok(())
    }

    /// The ship's camouflages, as variants of its materials.
    pub fn coats(&self) -> Option<&dyn scene::Coats> {
        self.camouflages.as_ref().map(|camouflages| camouflages as &dyn scene::Coats)
    }

    /// Adds the thickness of plates that the parameters state for this ship with these components.
    fn add_armor(&mut self, plating: &dyn Plating, components: &[&str]) -> Result<()> {
        let (name, hull) = (&self.name, &self.hull);
        let mut of_hull = Vec::new();
        for part in &mut self.parts {
            let uses = plating.armor_of(&part.visual.geometry)?.into_iter();
            part.armor = uses
                .filter(|found| {
                    found.ship.as_ref() == Some(name)
                        && found.component.as_ref().is_some_and(|component| components.contains(&component.as_str()))
                })
                .collect();
            of_hull.extend(part.armor.iter().filter(|found| found.component.as_ref() == Some(hull)).cloned());
        }
        for part in self.parts.iter_mut().filter(|part| !part.armor.is_empty()) {
            part.armor.extend(of_hull.iter().cloned());
        }
        Ok(())
    }

    /// Adds the visuals of the hull and of its sections; gives the nodes of all of them.
    fn add_hull(
        &mut self,
        placements: &dyn Placements,
        files: &mut Files<'_>,
        model: &str,
        is_wanted: bool,
    ) -> Result<BTreeMap<String, [f32; 16]>> {
        let stem = model.rsplit_once('.').map_or(model, |(stem, _)| stem);
        let sections = SECTIONS.iter().map(|section| (*section, format!("{stem}_{section}.visual")));
        let mut nodes = BTreeMap::new();
        for (section, path) in std::iter::once(("Hull", model.to_owned())).chain(sections) {
            let visual = match placements.visual(&path)? {
                Some(visual) => visual,
                None if section == "Hull" => {
                    return Err(not_found(format!("the database lacks the hull's model {path:?}")));
                }
                None => continue,
            };
            for (name, matrix) in &visual.nodes {
                nodes.entry(name.clone()).or_insert(*matrix);
            }
            if is_wanted {
                self.add_visual(visual, files, vec![(section.to_owned(), None)])?;
            }
        }
        Ok(nodes)
    }

    fn add(
        &mut self,
        placements: &dyn Placements,
        files: &mut Files<'_>,
        model: &str,
        places: Vec<Place>,
    ) -> Result<()> {
        match placements.visual(model)? {
            Some(visual) => self.add_visual(visual, files, places),
            None => {
                let names: Vec<&str> = places.iter().map(|(name, _)| name.as_str()).collect();
                self.notes.push(format!("the database has no model {model:?} for {}", names.join(", ")));
                Ok(())
            }
        }
    }

    fn add_visual(&mut self, visual: Visual, files: &mut Files<'_>, places: Vec<Place>) -> Result<()> {
        match files.geometry(&visual.geometry, &mut self.geometries)? {
            Some(geometry) => self.parts.push(ShipComponent { visual, geometry, places, armor: Vec::new() }),
            None => self.notes.push(format!("{} is not in the game's files", visual.geometry)),
        }
        Ok(())
    }

    /// The ship as a scene. `armor` states how thick plates are.
    ///
    /// # Errors
    /// When a geometry is damaged beyond its parts.
    pub fn scene(&self, context: &Context<'_>, options: &scene::Options) -> Result<Scene<'_>> {
        let assembled = self.parts.iter().filter_map(|part| {
            let geometry = self.geometries.get(part.geometry)?.get::<Geometry>()?;
            let (model, places) = (part.visual.model.clone(), part.places.clone());
            Some(Assembled { geometry, model, places, armor: part.armored_places() })
        });
        let mut scene = assemble(&self.name, &assembled.collect::<Vec<_>>(), context, options)?;
        scene.notes.extend(self.notes.iter().cloned());
        Ok(scene)
    }
}

/// The geometries of a game, each opened once.
struct Files<'g> {
    game: &'g Asset,
    archive: &'g dyn Archive,
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

/// The name of the ship that `query` means: its name, index or id exactly, else its title in any case.
fn find_ship(params: &Asset, query: &str) -> Result<String> {
    let ships = NamedCells::of(params, "ships")?;
    for column in ["name", "index", "id"] {
        if let [row, ..] = *ships.with(column, query)? {
            return ships.text(row, "name");
        }
    }
    let wanted = query.to_lowercase();
    let (mut titled, mut near) = (Vec::new(), Vec::new());
    for row in 0..ships.table.len()? {
        let (name, title) = (ships.text(row, "name")?, ships.text(row, "title")?.to_lowercase());
        if title == wanted || name.to_lowercase() == wanted {
            titled.push(name);
        } else if near.len() < 5 && (title.contains(&wanted) || name.to_lowercase().contains(&wanted)) {
            near.push(name);
        }
    }
    match &*titled {
        [only] => Ok(only.clone()),
        [] if near.is_empty() => Err(not_found(format!("there is no ship {query:?}"))),
        [] => Err(not_found(format!("there is no ship {query:?}; did you mean {}?", near.join(", ")))),
        several => {
            let what = format!("{query:?} is the title of {}: give one of these names", several.join(", ")).into();
            Err(Error::of_part(ErrorKind::Syntax { what }, ""))
        }
    }
}

/// Returns a component of each kind: the last one that the hull's upgrade lists, else the last one of the ship.
fn components(params: &Asset, ship: &str, hull: Option<&str>) -> Result<BTreeMap<String, String>> {
    let upgrades = NamedCells::of(params, "ship_upgrades")?;
    let mut hulls: Vec<(String, String)> = Vec::new();
    for row in upgrades.with("ship", ship)? {
        if upgrades.text(row, "uc_type")? == "_Hull" {
            hulls.push((upgrades.text(row, "upgrade")?, upgrades.text(row, "prev")?));
        }
    }
    let table = NamedCells::of(params, "ship_components")?;
    // For each upgrade the components of each kind.
    let mut all: Vec<(String, String, String)> = Vec::new();
    for row in table.with("ship", ship)? {
        all.push((table.text(row, "upgrade")?, table.text(row, "kind")?, table.text(row, "component")?));
    }
    let chosen = match hull {
        Some(wanted) => hulls.iter().find(|(upgrade, _)| upgrade == wanted || has_hull(&all, upgrade, wanted)),
        // The upgrade that no other one follows.
        None => hulls.iter().rev().find(|(upgrade, _)| !hulls.iter().any(|(_, prev)| prev == upgrade)),
    };
    let Some((chosen, _)) = chosen else {
        let names: Vec<&str> = hulls.iter().map(|(upgrade, _)| upgrade.as_str()).collect();
        let wanted = hull.map_or_else(|| "that no upgrade replaces".to_owned(), |hull| format!("{hull:?}"));
        return Err(not_found(format!("{ship} has no hull {wanted}; it has {}", names.join(", "))));
    };
    let mut components = BTreeMap::new();
    for (_, kind, component) in &all {
        components.insert(kind.clone(), component.clone());
    }
    for (_, kind, component) in all.iter().filter(|(upgrade, ..)| upgrade == chosen) {
        components.insert(kind.clone(), component.clone());
    }
    if let Some(wanted) = hull.filter(|wanted| has_hull(&all, chosen, wanted)) {
        components.insert("hull".into(), wanted.to_owned());
    }
    Ok(components)
}

/// Whether an upgrade has a hull among `all` components: the upgrade, the kind and the name of each.
fn has_hull(all: &[(String, String, String)], upgrade: &str, hull: &str) -> bool {
    all.iter().any(|(of, kind, name)| of == upgrade && kind == "hull" && name == hull)
}
