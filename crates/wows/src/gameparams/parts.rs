//! Parts of ships: upgrades, components, mounts, armour and hit locations.

use super::arena::Node;
use super::entities::Entity;
use crate::error::Result;
use std::borrow::Cow;
use std::collections::HashSet;

/// The beginning of the names of hardpoints, where guns and more are mounted.
const HARDPOINT: &str = "HP_";

/// An upgrade of a ship: components that it is sold with.
#[derive(Debug, Clone, Copy)]
pub struct Upgrade<'a> {
    /// The upgrade's name.
    pub name: Node<'a>,
    /// The upgrade's attributes.
    pub node: Node<'a>,
}

impl<'a> Upgrade<'a> {
    /// The upgrade's components: the kind, as in `hull`, and the name, as in `A_Hull`.
    pub fn components(self) -> impl Iterator<Item = (Node<'a>, Node<'a>)> {
        let kinds = self.node.get("components").map(Node::members).into_iter().flatten();
        kinds.flat_map(|(kind, names)| names.items().map(move |name| (kind, name)))
    }
}

/// A part of an entity: a component (`A_Hull`), or what is mounted on one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EntityPart<'a> {
    /// The key of the component; `None` for the entity itself, as where a gun has armour.
    pub component: Option<Node<'a>>,
    /// The key of the mount in the component (`HP_AGM_1`).
    pub mount: Option<Node<'a>>,
    /// The part's attributes.
    pub node: Node<'a>,
}

impl<'a> EntityPart<'a> {
    /// The path of its model.
    ///
    /// # Errors
    /// When the text is damaged.
    pub fn model(self) -> Result<Option<Cow<'a, str>>> {
        self.node.get("model").map_or(Ok(None), Node::text)
    }

    /// The thickness of its plates.
    pub fn armor(self) -> impl Iterator<Item = ArmorPlate<'a>> {
        let plates = self.node.get("armor").map(Node::members).into_iter().flatten();
        plates.filter_map(|(key, value)| ArmorPlate::new(key, value))
    }
}

/// The thickness of the plates of a layer and a material.
#[derive(Debug, Clone, Copy)]
pub struct ArmorPlate<'a> {
    pub layer: u16,
    pub material: u16,
    /// Millimetres.
    pub thickness: Node<'a>,
}

impl<'a> ArmorPlate<'a> {
    /// The key of material 1 in layer 0, which no plate has.
    const NONE: u32 = 1;

    fn new(key: Node<'a>, thickness: Node<'a>) -> Option<Self> {
        let [layer, material] = plate_of(key).filter(|plate| *plate != [0, Self::NONE])?;
        Some(Self { layer: layer.try_into().ok()?, material: material.try_into().ok()?, thickness })
    }
}

/// The layer and material of a key: an integer, or the digits of one.
pub(super) fn plate_of(key: Node<'_>) -> Option<[u32; 2]> {
    let number = match key.int() {
        Some(number) => number,
        None => key.text().ok()??.parse().ok()?,
    };
    let number = u32::try_from(number).ok()?;
    Some([number >> 16, number & 0xFFFF])
}

impl<'a> Entity<'a> {
    /// The entity's attributes that have attributes of their own: components of ships, variants of abilities, …
    fn inner(&self) -> impl Iterator<Item = (Node<'a>, Node<'a>)> {
        self.node().members().filter(|(key, value)| !value.is_empty() && !key.is_text("typeinfo"))
    }

    /// The upgrades of a ship.
    pub fn upgrades(&self) -> impl Iterator<Item = Upgrade<'a>> {
        let all = self.get("ShipUpgradeInfo").map(Node::members).into_iter().flatten();
        // Prices lie between them.
        all.filter(|(_, node)| node.get("components").is_some()).map(|(name, node)| Upgrade { name, node })
    }

    /// The entity's components: attributes that have attributes.
    pub fn components(&self) -> impl Iterator<Item = EntityPart<'a>> {
        self.inner().map(|(key, node)| EntityPart { component: Some(key), mount: None, node })
    }

    /// The hulls of a ship: the components that its upgrades call hulls, and others that have a model and health.
    pub fn hulls(&self) -> impl Iterator<Item = EntityPart<'a>> {
        let hulls = self.upgrades().flat_map(Upgrade::components).filter(|(kind, _)| kind.is_text("hull"));
        let named: HashSet<Cow<'a, str>> = hulls.filter_map(|(_, name)| name.text().ok()?).collect();
        self.components().filter(move |part| {
            let key = part.component.and_then(|key| key.text().ok().flatten());
            key.is_some_and(|key| named.contains(&key))
                || (part.node.get("model").is_some() && part.node.get("health").is_some())
        })
    }

    /// All that is mounted on its components: guns, torpedo tubes, directors, … with models.
    pub fn mounts(&self) -> impl Iterator<Item = EntityPart<'a>> {
        self.components().flat_map(EntityPart::mounts)
    }
}

impl<'a> EntityPart<'a> {
    /// The mounts of this component.
    pub fn mounts(self) -> impl Iterator<Item = EntityPart<'a>> {
        let members = self.node.members().filter(|(_, node)| !node.is_empty());
        let mounts = members.filter(|(key, node)| key.begins_with(HARDPOINT) && node.get("model").is_some());
        mounts.map(move |(key, node)| EntityPart { component: self.component, mount: Some(key), node })
    }

    /// The part's hit locations: their names and attributes.
    pub fn hit_locations(self) -> impl Iterator<Item = (Node<'a>, Node<'a>)> {
        self.node.members().filter(|(_, node)| !node.is_empty() && node.get("hlType").is_some())
    }
}
