//! The entities of the game, in the order of the file, and how they are found.

use super::arena::{Node, Pickle};
use super::leaf::NodeKind;
use crate::archive::PathIndex;
use crate::error::{ErrorKind, Result};
use crate::lazy::Lazy;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

/// An entity by its cells: its key, and its value.
#[derive(Debug, Clone, Copy)]
struct EntityCells {
    key: u32,
    value: u32,
    /// The dictionary of the root that it is in, by number.
    part: u32,
    /// The key of the dictionary of a realm, if the entity is in one.
    realm: Option<u32>,
}

#[derive(Debug)]
pub(super) struct Entities {
    places: Vec<EntityCells>,
    names: Lazy<PathIndex>,
    ids: Lazy<HashMap<i64, usize>>,
}

/// An entity: a ship, a gun, a shell, …
#[derive(Debug, Clone, Copy)]
pub struct Entity<'a> {
    number: usize,
    key: Node<'a>,
    value: Node<'a>,
    part: u32,
    realm: Option<Node<'a>>,
}

impl<'a> Entity<'a> {
    /// The entity's number.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The entity's number, as rows of the catalogue store it.
    pub(super) fn short_number(&self) -> u32 {
        u32::try_from(self.number).expect("each entity has a byte of the pickle, which has less than 2 GiB")
    }

    /// The entity's value, with all of its attributes.
    pub fn node(&self) -> Node<'a> {
        self.value
    }

    /// The dictionary of the root that it is in, by number.
    pub fn part(&self) -> u32 {
        self.part
    }

    /// The key of the dictionary that it is in, where the root's dictionaries hold others: the realm.
    pub fn realm(&self) -> Option<Node<'a>> {
        self.realm
    }

    /// The entity's name, by which others refer to it: `PASB018_Iowa`.
    ///
    /// # Errors
    /// When the text is damaged.
    pub fn name(&self) -> Result<Cow<'a, str>> {
        Ok(self.key.text()?.unwrap_or_default())
    }

    pub(super) fn key(&self) -> Node<'a> {
        self.key
    }

    /// The entity's attribute called `name`.
    pub fn get(&self, name: &str) -> Option<Node<'a>> {
        self.value.get(name)
    }

    /// The number by which the game knows it.
    pub fn id(&self) -> Option<i64> {
        self.get("id")?.int()
    }

    /// The first part of its name: `PASB018`.
    ///
    /// # Errors
    /// When the text is damaged.
    pub fn index(&self) -> Result<Option<Cow<'a, str>>> {
        self.get("index").map_or(Ok(None), Node::text)
    }

    fn has_index(&self, index: &str) -> bool {
        self.get("index").is_some_and(|found| found.is_text(index))
    }

    /// The member `name` of its type information: its `type`, `nation` or `species`.
    pub fn info(&self, name: &str) -> Option<Node<'a>> {
        self.get("typeinfo")?.get(name)
    }

    /// Whether it is of this type: `Ship`, `Gun`, …
    pub fn is(&self, kind: &str) -> bool {
        self.info("type").is_some_and(|found| found.is_text(kind))
    }
}

impl Entities {
    /// The entities of all dictionaries that the root has.
    ///
    /// # Errors
    /// `Damaged` for a root that has no dictionary.
    pub(super) fn new(pickle: &Pickle) -> Result<Self> {
        let root = pickle.root();
        let parts: Vec<Node<'_>> = match root.kind() {
            NodeKind::Dict => vec![root],
            NodeKind::List => root.items().filter(|item| item.kind() == NodeKind::Dict).collect(),
            _ => Vec::new(),
        };
        if parts.is_empty() {
            let what = format!("the root is of kind {}, and no dictionary of entities is in it", root.kind().name());
            return Err(root.error(ErrorKind::damaged(what)));
        }
        let mut entities = Self { places: Vec::new(), names: Lazy::default(), ids: Lazy::default() };
        // A dictionary that is shared counts once.
        let mut seen = HashSet::new();
        for (part, dict) in (0u32..).zip(parts) {
            if !seen.insert(dict.cell()) {
                continue;
            }
            for (key, value) in dict.members() {
                if !is_realm(value) {
                    entities.places.push(EntityCells { key: key.cell(), value: value.cell(), part, realm: None });
                } else if seen.insert(value.cell()) {
                    let realm = Some(key.cell());
                    entities.places.extend(value.members().map(|(key, value)| EntityCells {
                        key: key.cell(),
                        value: value.cell(),
                        part,
                        realm,
                    }));
                }
            }
        }
        Ok(entities)
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn get<'a>(&self, pickle: &'a Pickle, number: usize) -> Option<Entity<'a>> {
        let place = self.places.get(number)?;
        Some(Entity {
            number,
            key: pickle.node(place.key),
            value: pickle.node(place.value),
            part: place.part,
            realm: place.realm.map(|key| pickle.node(key)),
        })
    }

    pub(super) fn all<'a>(&'a self, pickle: &'a Pickle) -> impl Iterator<Item = Entity<'a>> {
        (0..self.len()).filter_map(|number| self.get(pickle, number))
    }

    fn names(&self, pickle: &Pickle) -> &PathIndex {
        let Ok(names) = self.names.get_or_try_init(|| {
            let named = self.all(pickle).filter_map(|entity| Some((entity.number, entity.name().ok()?.into_owned())));
            Ok::<_, Infallible>(PathIndex::new(named))
        });
        names
    }

    pub(super) fn named<'a>(&'a self, pickle: &'a Pickle, name: &'a str) -> impl Iterator<Item = Entity<'a>> {
        let found = self.names(pickle).candidates(name).filter_map(|number| self.get(pickle, number));
        found.filter(move |entity| entity.key.is_text(name))
    }

    pub(super) fn hashed<'a>(&self, pickle: &'a Pickle, hash: u64) -> Option<Entity<'a>> {
        self.get(pickle, self.names(pickle).of_hash(hash).next()?)
    }

    /// The first entity with an id. Two entities with one id are damage, which `verify` reports.
    pub(super) fn by_id(&self, pickle: &Pickle, id: i64) -> Option<usize> {
        let ids = self.ids.get_or_init(|| {
            let mut ids = HashMap::new();
            for entity in self.all(pickle) {
                if let Some(id) = entity.id() {
                    ids.entry(id).or_insert(entity.number);
                }
            }
            ids
        });
        ids.get(&id).copied()
    }

    /// The entity that `query` names, by its name, its index or its id.
    pub(super) fn find<'a>(&'a self, pickle: &'a Pickle, query: &'a str) -> Option<Entity<'a>> {
        if let Some(found) = self.all(pickle).find(|entity| entity.key.is_text(query)) {
            return Some(found);
        }
        // An index is the first part of a name.
        let begins_with_query =
            |name: Cow<'_, str>| name.strip_prefix(query).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
        let mut indexed = self.all(pickle).filter(|entity| entity.has_index(query));
        if let Some(found) = indexed.find(|entity| entity.name().is_ok_and(begins_with_query)) {
            return Some(found);
        }
        let id = crate::id::parse(query).and_then(|id| i64::try_from(id).ok());
        id.and_then(|id| self.by_id(pickle, id))
            .and_then(|number| self.get(pickle, number))
            .or_else(|| self.all(pickle).find(|entity| entity.has_index(query)))
    }
}

/// Whether a value is a dictionary of entities, and no entity itself: entities have a type.
fn is_realm(value: Node<'_>) -> bool {
    value.kind() == NodeKind::Dict
        && value.get("typeinfo").is_none()
        && value.members().next().is_some_and(|(_, first)| first.get("typeinfo").is_some())
}
