//! The tables of parameters. Those after `fields` show some of its values with names and types of their own.

use super::arena::{Node, Pickle};
use super::catalog::{Catalog, ValueRow};
use super::entities::Entity;
use super::fields::Fields;
use super::parts::EntityPart;
use super::{Params, in_entity, walk};
use crate::budget::{self, Budget};
use crate::error::Result;
use crate::id;
use crate::lazy::Lazy;
use crate::materials::material_name;
use crate::table::{Column, DeclaredTable, Kind, Table, Tree, Value};
use std::sync::Arc;

type Made<'p> = Box<dyn Table + 'p>;

/// A function that makes a table.
type Make = for<'p> fn(&'p Params) -> Made<'p>;

/// All tables by name, the main one first.
const TABLES: [(&str, Make); 16] = [
    ("entities", entities),
    ("fields", |params| Box::new(Fields::new(params))),
    ("ships", ships),
    ("ship_upgrades", ship_upgrades),
    ("ship_components", ship_components),
    ("hulls", hulls),
    ("armor", armor),
    ("barbettes", barbettes),
    ("hit_locations", hit_locations),
    ("hit_location_boxes", hit_location_boxes),
    ("mounts", mounts),
    ("ammo", ammo),
    ("projectiles", projectiles),
    ("modernizations", modernizations),
    ("modernization_ships", modernization_ships),
    ("abilities", abilities),
];

pub(super) fn all(params: &Params) -> Vec<Made<'_>> {
    TABLES.iter().map(|(_, make)| make(params)).collect()
}

pub(super) fn one<'p>(params: &'p Params, name: &str) -> Option<Made<'p>> {
    let (_, make) = TABLES.iter().find(|(known, _)| *known == name)?;
    Some(make(params))
}

fn text<'a>(node: Option<Node<'a>>) -> Result<Value<'a>> {
    Ok(match node.map(Node::text).transpose()?.flatten() {
        Some(text) => Value::Text(text),
        None => Value::Null,
    })
}

fn number<'a>(node: Option<Node<'a>>) -> Value<'a> {
    node.and_then(Node::number).into()
}

/// A whole number, however it is stored. A float that is not whole is shown as it is.
fn integer<'a>(node: Option<Node<'a>>) -> Value<'a> {
    match node.and_then(Node::int) {
        Some(whole) => whole.into(),
        None => number(node),
    }
}

/// A truth value, which builds store also as a number.
fn truth<'a>(node: Option<Node<'a>>) -> Value<'a> {
    match node.and_then(Node::int) {
        Some(number @ (0 | 1)) => (number == 1).into(),
        _ => Value::Null,
    }
}

/// A value with all values in it. `cells` is the number of such cells of the table, which may share their values: together they may
/// cost what a walk over the file may.
fn nested<'a>(params: &Params, node: Option<Node<'a>>, cells: usize) -> Result<Value<'a>> {
    /// Values of a cell of a large table. The game's have less than 100.
    const LEAST: u64 = 1 << 12;
    let Some(node) = node else { return Ok(Value::Null) };
    let all = budget::walked(params.pickle()?.source().bytes().len());
    let limit = all.checked_div(cells as u64).unwrap_or(all).max(LEAST);
    let mut tree = Tree::default();
    walk::show(node, &Budget::new("values of a cell, which are shared", limit), &mut tree)?;
    Ok(tree.into_value())
}

fn id_of<'a>(entity: &Entity<'_>) -> Value<'a> {
    entity.id().and_then(|id| u64::try_from(id).ok()).into()
}

fn title<'p>(params: &'p Params, entity: &Entity<'_>) -> Result<Value<'p>> {
    Ok(params.title(entity)?.map_or(Value::Null, Value::Text))
}

/// The entities with the numbers that `numbers` gives, with the columns that name them.
fn of_entities<'p>(
    params: &'p Params,
    name: &'static str,
    numbers: impl Fn(&'p Params) -> Result<Numbers<'p>> + Copy + Send + Sync + 'p,
) -> DeclaredTable<'p, Entity<'p>> {
    DeclaredTable::new(
        name,
        move || Ok(numbers(params)?.len()),
        move |row| match numbers(params)?.get(row) {
            Some(number) => params.entity(number),
            None => Ok(None),
        },
    )
    .column(Column::text("name").brief().key(), |entity: &Entity<'p>| Ok(Value::Text(entity.name()?)))
    .found_by(move |key| {
        let found = params.numbers_of(&key.as_text()?);
        Some(found.and_then(|found| Ok(numbers(params)?.rows_of(found))))
    })
    .column(Column::text("index").brief(), |entity| text(entity.get("index")))
    .column(Column::uint("id").brief(), |entity| Ok(id_of(entity)))
    .found_by(move |key| {
        let id = match key {
            Value::Uint(id) => i64::try_from(*id).ok()?,
            Value::Int(id) => *id,
            _ => return None,
        };
        let found = params.entities().and_then(|all| Ok(all.by_id(params.pickle()?, id)));
        Some(found.and_then(|found| Ok(numbers(params)?.rows_of(found))))
    })
}

/// Numbers of entities in order: all of them, or the ones of a type.
enum Numbers<'p> {
    All(usize),
    Some(&'p [u32]),
}

impl Numbers<'_> {
    fn len(&self) -> usize {
        match self {
            Self::All(len) => *len,
            Self::Some(numbers) => numbers.len(),
        }
    }

    fn get(&self, row: usize) -> Option<usize> {
        match self {
            Self::All(len) => (row < *len).then_some(row),
            Self::Some(numbers) => numbers.get(row).map(|number| *number as usize),
        }
    }

    fn row_of(&self, number: usize) -> Option<usize> {
        match self {
            Self::All(len) => (number < *len).then_some(number),
            Self::Some(numbers) => numbers.binary_search(&u32::try_from(number).ok()?).ok(),
        }
    }

    fn rows_of(&self, found: impl IntoIterator<Item = usize>) -> Vec<usize> {
        found.into_iter().filter_map(|number| self.row_of(number)).collect()
    }
}

fn entities(params: &Params) -> Made<'_> {
    let table = of_entities(params, "entities", |params| Ok(Numbers::All(params.len()?)));
    let table = with_info(table, ["type", "nation", "species"])
        .column(Column::text("title").brief(), |entity| title(params, entity))
        .column(Column::uint("part").key(), |entity| Ok(entity.part().into()))
        .column(Column::text("realm").key(), |entity| text(entity.realm()))
        .column(Column::text("class"), |entity| Ok(entity.node().class()?.map_or(Value::Null, Value::Text)))
        .column(Column::uint("fields").place(), |entity| Ok(params.rows()?.rows(entity.number()).len().into()))
        .known(|| params.len().ok());
    Box::new(table.random_access())
}

/// Columns of members of the type information.
fn with_info<'p, const N: usize>(
    table: DeclaredTable<'p, Entity<'p>>,
    names: [&'static str; N],
) -> DeclaredTable<'p, Entity<'p>> {
    table.columns(names.map(|name| Column::text(name).brief()), move |entity, which| {
        text(names.get(which).and_then(|name| entity.info(name)))
    })
}

/// Columns of numbers, by their names and the names of members of the row's node.
fn with_numbers<'p, R, const N: usize>(
    table: DeclaredTable<'p, R>,
    names: [(&'static str, &'static str); N],
    node: impl for<'r> Fn(&'r R) -> Node<'p> + Send + Sync + 'p,
) -> DeclaredTable<'p, R> {
    table.columns(names.map(|(name, _)| Column::new(name, Kind::F64).brief()), move |row, which| {
        Ok(number(names.get(which).and_then(|(_, member)| node(row).get(member))))
    })
}

fn ships(params: &Params) -> Made<'_> {
    let table = of_entities(params, "ships", |params| Ok(Numbers::Some(&params.lists()?.ships)));
    let table = with_info(table, ["nation", "species"])
        .column(Column::int("level").brief(), |entity| Ok(integer(entity.get("level"))))
        .column(Column::text("group").brief(), |entity| text(entity.get("group")))
        .column(Column::bool("paper"), |entity| Ok(truth(entity.get("isPaperShip"))))
        .column(Column::text("title").brief(), |entity| title(params, entity));
    Box::new(table.also_called(&["tier", "tiers", "vessels"]).derived().own_texts(false))
}

/// A row of the catalogue, with its entity.
struct Located<'p, T> {
    row: ValueRow<T>,
    entity: Entity<'p>,
    pickle: &'p Pickle,
}

impl<'p, T> Located<'p, T> {
    fn part(&self) -> EntityPart<'p> {
        self.row.part.part(self.pickle)
    }

    /// The key of the row's value, as text.
    fn key(&self) -> Result<Value<'p>> {
        text(Some(self.node(self.row.key)))
    }

    fn ship(&self) -> Result<Value<'p>> {
        if self.entity.is("Ship") { Ok(Value::Text(self.entity.name()?)) } else { Ok(Value::Null) }
    }

    fn node(&self, cell: u32) -> Node<'p> {
        self.pickle.node(cell)
    }
}

/// A table of rows of the catalogue, each of an entity.
fn located<'p, T: Copy + Send + Sync + 'static>(
    params: &'p Params,
    name: &'static str,
    rows: fn(&'p Catalog) -> &'p [ValueRow<T>],
) -> DeclaredTable<'p, Located<'p, T>> {
    let table = DeclaredTable::new(
        name,
        move || Ok(params.catalog().map(rows)?.len()),
        move |row| {
            let Some(row) = params.catalog().map(rows)?.get(row).copied() else { return Ok(None) };
            let entity = params.entity(row.part.entity as usize)?;
            let pickle = params.pickle()?;
            Ok(entity.map(|entity| Located { row, entity, pickle }))
        },
    );
    table.derived().own_texts(false).random_access()
}

/// A table of rows of the catalogue, each of an entity, with the column `ship`, by which rows are found.
fn of_catalog<'p, T: Copy + Send + Sync + 'static>(
    params: &'p Params,
    name: &'static str,
    rows: fn(&'p Catalog) -> &'p [ValueRow<T>],
) -> DeclaredTable<'p, Located<'p, T>> {
    located(params, name, rows)
        .column(Column::text("ship").brief().key(), |found: &Located<'p, T>| found.ship())
        .found_by(move |key| {
            let numbers = params.numbers_of(&key.as_text()?);
            Some(numbers.and_then(|numbers| {
                let all = params.catalog().map(rows)?;
                let found = numbers.into_iter().flat_map(|number| {
                    let start = all.partition_point(|row| (row.part.entity as usize) < number);
                    start..all.partition_point(|row| row.part.entity as usize <= number)
                });
                Ok(found.collect())
            }))
        })
}

fn ship_upgrades(params: &Params) -> Made<'_> {
    let table = of_catalog(params, "ship_upgrades", |all| &all.upgrades)
        .column(Column::text("upgrade").brief().key(), |found| found.key())
        .column(Column::text("uc_type").brief(), |found| text(found.part().node.get("ucType")))
        .column(Column::text("prev").brief(), |found| {
            // The first one of a line has an empty text.
            let prev = text(found.part().node.get("prev"))?;
            Ok(if prev == Value::text("") { Value::Null } else { prev })
        })
        .column(Column::nested("next_ships"), move |found| {
            let next_ships = found.part().node.get("nextShips");
            nested(params, next_ships, params.catalog()?.upgrades.len())
        });
    Box::new(table)
}

fn ship_components(params: &Params) -> Made<'_> {
    let table = of_catalog(params, "ship_components", |all| &all.ship_components)
        .column(Column::text("upgrade").brief().key(), |found| found.key())
        .column(Column::text("kind").brief().key(), |found| text(Some(found.node(found.row.value))))
        .column(Column::text("component").brief().key(), |found| text(Some(found.part().node)));
    Box::new(table.also_called(&["modules", "components"]))
}

fn model_id<'a>(part: EntityPart<'_>) -> Result<Value<'a>> {
    let model = part.model()?.filter(|model| !model.is_empty());
    Ok(model.map_or(Value::Null, |model| Value::Id64(id::of_path(&model))))
}

fn hulls(params: &Params) -> Made<'_> {
    let numbers = [
        ("health", "health"),
        ("mass", "mass"),
        ("tonnage", "tonnage"),
        ("draft", "draft"),
        ("max_speed", "maxSpeed"),
        ("turning_radius", "turningRadius"),
        ("rudder_time", "rudderTime"),
        ("visibility", "visibilityFactor"),
    ];
    let table = of_catalog(params, "hulls", |all| &all.hulls)
        .column(Column::text("component").brief().key(), |found| text(found.part().component))
        .column(Column::text("model").brief(), |found| text(found.part().node.get("model")))
        .column(Column::id64("model_id").reference(), |found| model_id(found.part()));
    let table = with_numbers(table, numbers, |found| found.part().node).column(Column::nested("size"), move |found| {
        nested(params, found.part().node.get("size"), params.catalog()?.hulls.len())
    });
    Box::new(table)
}

/// The columns of a plate's layer and material.
fn with_plate<'p>(table: DeclaredTable<'p, Located<'p, (u16, u16)>>) -> DeclaredTable<'p, Located<'p, (u16, u16)>> {
    table
        .column(Column::uint("layer").brief().key(), |found| Ok(found.row.value.0.into()))
        .column(Column::uint("material_id").brief().key(), |found| Ok(found.row.value.1.into()))
        .column(Column::text("material").brief().resolved(), |found| Ok(material_name(found.row.value.1).into()))
}

fn armor(params: &Params) -> Made<'_> {
    let table = of_catalog(params, "armor", |all| &all.armor)
        .column(Column::text("entity").key(), |found| Ok(Value::Text(found.entity.name()?)))
        .column(Column::text("component").brief().key().repeats(), |found| text(found.part().component))
        .column(Column::text("mount").brief().key(), |found| text(found.part().mount))
        .column(Column::text("model"), |found| text(found.part().node.get("model")))
        .column(Column::id64("model_id").reference(), |found| model_id(found.part()));
    let table = with_plate(table)
        .column(Column::new("thickness", Kind::F64).brief(), |found| Ok(number(Some(found.node(found.row.key)))));
    Box::new(table)
}

fn barbettes(params: &Params) -> Made<'_> {
    let table = of_catalog(params, "barbettes", |all| &all.barbettes)
        .column(Column::text("component").brief().key(), |found| text(found.part().component))
        .column(Column::text("mount").brief().key(), |found| found.key());
    Box::new(with_plate(table).column(Column::text("entity"), |found| Ok(Value::Text(found.entity.name()?))))
}

fn hit_locations(params: &Params) -> Made<'_> {
    let table = of_catalog(params, "hit_locations", |all| &all.hit_locations)
        .column(Column::text("component").brief().key(), |found| text(found.part().component))
        .column(Column::text("name").brief().key(), |found| found.key())
        .label()
        .column(Column::text("hl_type").brief(), |found| text(found.node(found.row.value).get("hlType")));
    let numbers = [("max_hp", "maxHP"), ("regenerated", "regeneratedHPPart")];
    let table = with_numbers(table, numbers, |found| found.node(found.row.value))
        .column(Column::text("parent").brief(), |found| text(found.node(found.row.value).get("parentHL")))
        .column(Column::text("entity"), |found| Ok(Value::Text(found.entity.name()?)));
    Box::new(table)
}

fn hit_location_boxes(params: &Params) -> Made<'_> {
    let table = of_catalog(params, "hit_location_boxes", |all| &all.boxes)
        .column(Column::text("component").brief().key(), |found| text(found.part().component))
        .column(Column::text("hit_location").brief().key(), |found| found.key())
        .column(Column::text("box").brief().key(), |found| text(Some(found.node(found.row.value))))
        .label()
        .column(Column::text("entity"), |found| Ok(Value::Text(found.entity.name()?)));
    Box::new(table)
}

fn mounts(params: &Params) -> Made<'_> {
    let table = of_catalog(params, "mounts", |all| &all.mounts)
        .column(Column::text("component").brief().key(), |found| text(found.part().component))
        .column(Column::text("mount").brief().key(), |found| text(found.part().mount))
        .column(Column::text("name").brief(), |found| text(found.part().node.get("name")))
        .column(Column::text("model").brief(), |found| text(found.part().node.get("model")))
        .column(Column::id64("model_id").reference(), |found| model_id(found.part()))
        .column(Column::text("species").brief(), |found| {
            text(found.part().node.get("typeinfo").and_then(|info| info.get("species")))
        })
        .column(Column::int("barrels").brief(), |found| Ok(integer(found.part().node.get("numBarrels"))))
        .column(Column::new("barrel_diameter", Kind::F64).brief(), |found| {
            Ok(number(found.part().node.get("barrelDiameter")))
        })
        .columns(["shot_delay", "rotation_speed"].map(|name| Column::new(name, Kind::F64)), |found, which| {
            let node = found.part().node;
            Ok(match which {
                0 => number(node.get("shotDelay")),
                // Horizontally and vertically, or one number for both.
                _ => number(node.get("rotationSpeed").map(|speeds| speeds.item(0).unwrap_or(speeds))),
            })
        })
        .column(Column::text("entity"), |found| Ok(Value::Text(found.entity.name()?)));
    Box::new(table.also_called(&["guns", "turrets", "weapons"]))
}

fn ammo(params: &Params) -> Made<'_> {
    let table = of_catalog(params, "ammo", |all| &all.ammo)
        .column(Column::text("component").brief().key(), |found| text(found.part().component))
        .column(Column::text("mount").brief().key(), |found| text(found.part().mount))
        .column(Column::text("name").brief().key(), |found| found.key())
        .label()
        .column(Column::text("entity"), |found| Ok(Value::Text(found.entity.name()?)));
    Box::new(table)
}

fn projectiles(params: &Params) -> Made<'_> {
    let numbers = [
        ("damage", "alphaDamage"),
        ("mass", "bulletMass"),
        ("diameter", "bulletDiametr"),
        ("speed", "bulletSpeed"),
        ("krupp", "bulletKrupp"),
        ("air_drag", "bulletAirDrag"),
        ("piercing_he", "alphaPiercingHE"),
        ("burn_chance", "burnProb"),
    ];
    let table = of_entities(params, "projectiles", |params| Ok(Numbers::Some(&params.lists()?.projectiles)))
        .column(Column::text("ammo_type").brief(), |entity| text(entity.get("ammoType")));
    let table = with_numbers(table, numbers, |entity| entity.node())
        .column(Column::text("title"), |entity| title(params, entity));
    Box::new(table.also_called(&["shells", "bombs", "torpedoes", "rockets"]).derived().own_texts(false))
}

fn modernizations(params: &Params) -> Made<'_> {
    const LISTS: [(&str, &str); 6] = [
        ("ships", "ships"),
        ("excludes", "excludes"),
        ("ship_types", "shiptype"),
        ("levels", "shiplevel"),
        ("nations", "nation"),
        ("groups", "group"),
    ];
    let table = of_entities(params, "modernizations", |params| Ok(Numbers::Some(&params.lists()?.modernizations)))
        .column(Column::int("slot").brief(), |entity| Ok(integer(entity.get("slot"))))
        .column(Column::text("title").brief(), |entity| title(params, entity))
        .column(Column::nested("modifiers"), move |entity| {
            nested(params, entity.get("modifiers"), params.lists()?.modernizations.len())
        })
        .columns(LISTS.map(|(name, _)| Column::nested(name)), move |entity, which| {
            let list = LISTS.get(which).and_then(|(_, field)| entity.get(field));
            nested(params, list, params.lists()?.modernizations.len())
        });
    Box::new(table.also_called(&["upgrades", "equipment"]).derived().own_texts(false))
}

/// Whether `ship` can mount the modernization, by its lists (docs/formats/gameparams.md §6).
fn fits(modernization: &Entity<'_>, ship: &Entity<'_>) -> Result<bool> {
    let name = ship.name()?;
    if listed(modernization, "excludes").any(|found| found.is_text(&name)) {
        return Ok(false);
    }
    if listed(modernization, "ships").any(|found| found.is_text(&name)) {
        return Ok(true);
    }
    let level = ship.get("level").and_then(Node::int);
    let mut limited = false;
    if listed(modernization, "shiplevel").next().is_some() {
        limited = true;
        if level.is_none() || !listed(modernization, "shiplevel").any(|found| found.int() == level) {
            return Ok(false);
        }
    }
    for (list, value) in
        [("shiptype", ship.info("species")), ("nation", ship.info("nation")), ("group", ship.get("group"))]
    {
        if listed(modernization, list).next().is_some() {
            limited = true;
            let value = value.map(Node::text).transpose()?.flatten();
            if !value.is_some_and(|value| listed(modernization, list).any(|found| found.is_text(&value))) {
                return Ok(false);
            }
        }
    }
    // One that names ships alone is theirs.
    Ok(limited || listed(modernization, "ships").next().is_none())
}

fn listed<'a>(entity: &Entity<'a>, field: &str) -> impl Iterator<Item = Node<'a>> + use<'a> {
    entity.get(field).map(Node::items).into_iter().flatten()
}

/// The ships of each modernization.
fn pairs(params: &Params) -> Result<Vec<(Entity<'_>, Entity<'_>)>> {
    let lists = params.lists()?;
    let mut pairs = Vec::new();
    for modernization in &lists.modernizations {
        let Some(modernization) = params.entity(*modernization as usize)? else { continue };
        for ship in &lists.ships {
            let Some(ship) = params.entity(*ship as usize)? else { continue };
            if fits(&modernization, &ship).map_err(|error| in_entity(&modernization, error))? {
                pairs.push((modernization, ship));
            }
        }
    }
    Ok(pairs)
}

fn modernization_ships(params: &Params) -> Made<'_> {
    let all = Arc::new(Lazy::<Vec<(Entity<'_>, Entity<'_>)>>::default());
    let of_count = Arc::clone(&all);
    let table = DeclaredTable::new(
        "modernization_ships",
        move || Ok(of_count.get_or_try_init(|| pairs(params))?.len()),
        move |row| Ok(all.get_or_try_init(|| pairs(params))?.get(row).copied()),
    );
    let table = table
        .column(Column::text("modernization").brief().key(), |(found, _): &(Entity<'_>, Entity<'_>)| {
            Ok(Value::Text(found.name()?))
        })
        .column(Column::text("ship").brief().key(), |(_, ship)| Ok(Value::Text(ship.name()?)))
        .column(Column::int("slot").brief(), |(found, _)| Ok(integer(found.get("slot"))))
        .known(|| None);
    Box::new(table.derived().own_texts(false))
}

fn abilities(params: &Params) -> Made<'_> {
    let numbers = [
        ("consumables", "numConsumables"),
        ("reload_time", "reloadTime"),
        ("work_time", "workTime"),
        ("preparation_time", "preparationTime"),
    ];
    let table = located(params, "abilities", |all| &all.abilities)
        .column(Column::text("name").brief().key(), |found| Ok(Value::Text(found.entity.name()?)))
        .column(Column::text("variant").brief().key(), |found| text(found.part().component))
        .column(Column::text("index"), |found| text(found.entity.get("index")))
        .column(Column::uint("id"), |found| Ok(id_of(&found.entity)))
        .column(Column::text("consumable_type").brief(), |found| text(found.part().node.get("consumableType")));
    let table = with_numbers(table, numbers, |found| found.part().node)
        .column(Column::text("title").brief(), |found| title(params, &found.entity));
    Box::new(table.also_called(&["consumables", "skills"]))
}
