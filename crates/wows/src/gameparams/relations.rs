//! References of entities: texts that are names of other entities, and paths of resources.
//!
//! Entities have no ids that other files know. Here an entity goes by the hash of its name, as a resource goes by the hash of
//! its path.

use super::walk::{Event, Trail, Walker};
use super::{Entity, Params, in_entity};
use crate::error::{Error, Result};
use crate::id;
use crate::relations::{By, Edge, Entries, EntryLocation, Found, IdTexts, Keep, Relations};
use crate::report::Progress;
use std::borrow::Cow;

/// The table whose rows are the values that refer to others.
const TABLE: &str = "fields";

impl Params {
    /// Adds the references of `entity` that `keep` wants, by the hash of a text and the text.
    fn add_references(&self, entity: &Entity<'_>, keep: &dyn Fn(u64, &str) -> bool, found: &mut Found) -> Result<()> {
        let (budget, from) = (self.budget()?, id::of_path(&entity.name()?));
        let (mut walker, mut trail) = (Walker::new(entity.node()), Trail::default());
        let mut next = self.rows()?.rows(entity.number());
        while let Some(event) = walker.next(&budget)? {
            trail.follow(event)?;
            let node = match event {
                Event::Leaf(node) | Event::Within(node, _) => node,
                _ => continue,
            };
            let Some(row) = next.next() else { break };
            let Ok(Some(text)) = node.text() else { continue };
            let to = id::of_path(&text);
            // Its own name is no reference.
            if !text.is_empty() && to != from && keep(to, &text) {
                let column = trail.path().to_owned();
                found.edges.push(Edge {
                    from: Some(from),
                    to,
                    table: TABLE,
                    row,
                    column,
                    text: Some(text.into_owned()),
                });
            }
        }
        Ok(())
    }
}

impl Relations for Params {
    fn references(&self, keep: Keep<'_>, progress: &Progress) -> Found {
        let mut found = Found::default();
        let (Some(all), Some(len)) = (found.damage.note(self.all_entities()), self.len().ok()) else { return found };
        progress.announce(len as u64);
        for entity in all {
            if let Err(error) = self.add_references(&entity, &|to, _| keep(to, By::Text), &mut found) {
                found.damage.fail(in_entity(&entity, error));
            }
            progress.advance(1);
        }
        found
    }

    /// Texts count where they are names of entities, or look like paths.
    fn references_of(&self, id: u64) -> Found {
        let mut found = Found::default();
        let Some(Some(entity)) = found.damage.note(self.entity_of_hash(id)) else { return found };
        if let Err(error) = self.add_references(&entity, &|to, text| text.contains('/') || self.has(to), &mut found) {
            found.damage.fail(in_entity(&entity, error));
        }
        found
    }

    fn entries(&self) -> Option<&dyn Entries> {
        Some(self)
    }

    fn texts(&self) -> Option<&dyn IdTexts> {
        Some(self)
    }
}

impl Params {
    fn entity_of_hash(&self, hash: u64) -> Result<Option<Entity<'_>>> {
        Ok(self.entities()?.hashed(self.pickle()?, hash))
    }
}

impl Entries for Params {
    fn has(&self, id: u64) -> bool {
        matches!(self.entity_of_hash(id), Ok(Some(_)))
    }

    fn resolve(&self, query: &str, _: bool, _: &mut dyn FnMut(Error)) -> Result<Option<EntryLocation>> {
        let found = match self.find(query)? {
            Some(found) => Some(found),
            None => id::parse(query).map(|hash| self.entity_of_hash(hash)).transpose()?.flatten(),
        };
        let Some(entity) = found else { return Ok(None) };
        let name = entity.name()?.into_owned();
        let kind = entity.info("type").map(|kind| kind.text()).transpose()?.flatten().map(Cow::into_owned);
        let record = Some(entity.number());
        Ok(Some(EntryLocation { id: id::of_path(&name), path: Some(name), kind, record, ..EntryLocation::default() }))
    }
}

impl IdTexts for Params {
    fn path(&self, id: u64) -> Result<Option<Cow<'_, str>>> {
        Ok(self.entity_of_hash(id)?.map(|entity| entity.name()).transpose()?.map(|name| Cow::Owned(name.into_owned())))
    }
}
