//! The rows of tables about parts of entities, found in one pass over all entities.

use super::arena::{Node, Pickle};
use super::parts::{EntityPart, plate_of};
use super::{Entity, Params};
use crate::budget::Budget;
use crate::error::Result;
use crate::threads::prelude::*;

/// A part as it is kept: by cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartRow {
    /// The number of its entity.
    pub entity: u32,
    component: Option<u32>,
    mount: Option<u32>,
    node: u32,
}

impl PartRow {
    fn new(entity: u32, part: EntityPart<'_>) -> Self {
        Self {
            entity,
            component: part.component.map(Node::cell),
            mount: part.mount.map(Node::cell),
            node: part.node.cell(),
        }
    }

    fn of_node(entity: u32, node: Node<'_>) -> Self {
        Self { entity, component: None, mount: None, node: node.cell() }
    }

    pub(super) fn part<'a>(&self, pickle: &'a Pickle) -> EntityPart<'a> {
        EntityPart {
            component: self.component.map(|cell| pickle.node(cell)),
            mount: self.mount.map(|cell| pickle.node(cell)),
            node: pickle.node(self.node),
        }
    }
}

/// A value that belongs to a part, or to an entity.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueRow<T> {
    pub part: PartRow,
    /// The key of the value, or the value itself.
    pub key: u32,
    pub value: T,
}

impl ValueRow<()> {
    fn of_part(part: PartRow) -> Self {
        Self { part, key: part.node, value: () }
    }
}

/// The plates of a layer and a material.
type PlateRow = ValueRow<(u16, u16)>;

/// The numbers of the entities of a table, by its type.
#[derive(Debug, Default)]
pub(super) struct EntityLists {
    pub ships: Vec<u32>,
    pub projectiles: Vec<u32>,
    pub modernizations: Vec<u32>,
}

impl EntityLists {
    pub(super) fn read(params: &Params) -> Result<Self> {
        let mut all = Self::default();
        let budget = params.budget()?;
        for entity in params.all_entities()? {
            // Entities may share their members and their type information.
            let info = entity.get("typeinfo");
            let members = entity.node().len().saturating_add(info.map_or(0, Node::len));
            budget.spend(members as u64).map_err(|kind| entity.node().error(kind))?;
            let Some(kind) = info.and_then(|info| info.get("type")) else { continue };
            let list = match () {
                () if kind.is_text("Ship") => &mut all.ships,
                () if kind.is_text("Projectile") => &mut all.projectiles,
                () if kind.is_text("Modernization") => &mut all.modernizations,
                () => continue,
            };
            list.push(entity.short_number());
        }
        Ok(all)
    }
}

/// The parts of all entities, each in the order of entities.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    /// The attributes of upgrades, by their names.
    pub upgrades: Vec<ValueRow<()>>,
    /// The components of upgrades, by the names of these, with their kinds.
    pub ship_components: Vec<ValueRow<u32>>,
    pub hulls: Vec<ValueRow<()>>,
    pub mounts: Vec<ValueRow<()>>,
    /// Parts with armour.
    pub armored: Vec<PartRow>,
    pub armor: Vec<PlateRow>,
    pub barbettes: Vec<PlateRow>,
    pub hit_locations: Vec<ValueRow<u32>>,
    pub boxes: Vec<ValueRow<u32>>,
    pub ammo: Vec<ValueRow<()>>,
    pub abilities: Vec<ValueRow<()>>,
}

/// Charges the values of `node` and the values of each of them: the parts of an entity are found by both.
fn spend_on(node: Node<'_>, budget: &Budget) -> Result<()> {
    let members = node.members().map(|(_, value)| value.len() as u64);
    budget.spend(members.sum::<u64>().saturating_add(node.len() as u64)).map_err(|kind| node.error(kind))
}

impl Catalog {
    /// Entities that a thread reads at once.
    const AT_ONCE: usize = 512;

    pub(super) fn read(params: &Params) -> Result<Self> {
        let budget = params.budget()?;
        let entities: Vec<Entity<'_>> = params.all_entities()?.collect();
        let read = entities.par_chunks(Self::AT_ONCE).map(|entities| Self::of_some(entities, &budget));
        let read: Vec<Result<Self>> = read.collect();
        read.into_iter().try_fold(Self::default(), |all, some| Ok(all.with(some?)))
    }

    /// These rows, and the rows of later entities after them.
    fn with(mut self, mut later: Self) -> Self {
        self.upgrades.append(&mut later.upgrades);
        self.ship_components.append(&mut later.ship_components);
        self.hulls.append(&mut later.hulls);
        self.mounts.append(&mut later.mounts);
        self.armored.append(&mut later.armored);
        self.armor.append(&mut later.armor);
        self.barbettes.append(&mut later.barbettes);
        self.hit_locations.append(&mut later.hit_locations);
        self.boxes.append(&mut later.boxes);
        self.ammo.append(&mut later.ammo);
        self.abilities.append(&mut later.abilities);
        self
    }

    fn of_some(entities: &[Entity<'_>], budget: &Budget) -> Result<Self> {
        let mut all = Self::default();
        for entity in entities {
            // Parts may be shared by entities, and values by parts.
            spend_on(entity.node(), budget)?;
            let upgrades = entity.get("ShipUpgradeInfo");
            upgrades.map_or(Ok(()), |upgrades| spend_on(upgrades, budget))?;
            let number = entity.short_number();
            for upgrade in entity.upgrades() {
                spend_on(upgrade.node, budget)?;
                upgrade.node.get("components").map_or(Ok(()), |kinds| spend_on(kinds, budget))?;
                let (part, key) = (PartRow::of_node(number, upgrade.node), upgrade.name.cell());
                all.upgrades.push(ValueRow { part, key, value: () });
                all.ship_components.extend(upgrade.components().map(|(kind, component)| ValueRow {
                    part: PartRow::of_node(number, component),
                    key,
                    value: kind.cell(),
                }));
            }
            if entity.is("Ship") {
                all.hulls.extend(entity.hulls().map(|part| ValueRow::of_part(PartRow::new(number, part))));
            }
            let itself = EntityPart { component: None, mount: None, node: entity.node() };
            let is_ability = entity.is("Ability");
            all.add(PartRow::new(number, itself), itself, is_ability, budget)?;
            for part in entity.components() {
                spend_on(part.node, budget)?;
                all.add(PartRow::new(number, part), part, is_ability, budget)?;
                for mount in part.mounts() {
                    spend_on(mount.node, budget)?;
                    all.add(PartRow::new(number, mount), mount, is_ability, budget)?;
                }
            }
        }
        Ok(all)
    }

    fn add(&mut self, row: PartRow, part: EntityPart<'_>, is_ability: bool, budget: &Budget) -> Result<()> {
        let before = self.armor.len();
        let plates = part.armor().map(|plate| ValueRow {
            part: row,
            key: plate.thickness.cell(),
            value: (plate.layer, plate.material),
        });
        self.armor.extend(plates);
        if self.armor.len() > before {
            self.armored.push(row);
        }
        if part.mount.is_some() {
            self.mounts.push(ValueRow::of_part(row));
            let ammo = part.node.get("ammoList").map(Node::items).into_iter().flatten();
            self.ammo.extend(ammo.map(|name| ValueRow { part: row, key: name.cell(), value: () }));
            return Ok(());
        }
        if part.component.is_none() {
            return Ok(());
        }
        if is_ability && part.node.kind().is_container() && part.node.get("consumableType").is_some() {
            self.abilities.push(ValueRow::of_part(row));
        }
        let barbettes = part.node.get("barbettes");
        barbettes.map_or(Ok(()), |barbettes| spend_on(barbettes, budget))?;
        for (mount, plates) in barbettes.map(Node::members).into_iter().flatten() {
            for [layer, material] in plates.items().filter_map(plate_of) {
                if let (Ok(layer), Ok(material)) = (layer.try_into(), material.try_into()) {
                    self.barbettes.push(ValueRow { part: row, key: mount.cell(), value: (layer, material) });
                }
            }
        }
        for (name, location) in part.hit_locations() {
            spend_on(location, budget)?;
            let value = ValueRow { part: row, key: name.cell(), value: location.cell() };
            self.hit_locations.push(value);
            let boxes = location.get("splashBoxes").map(Node::items).into_iter().flatten();
            self.boxes.extend(boxes.map(|name| ValueRow { value: name.cell(), ..value }));
        }
        Ok(())
    }
}
