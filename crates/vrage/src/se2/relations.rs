//! References of definitions: to the definitions that they take values from, and to the GUIDs in their files.
//!
//! Definitions and files have no ids that other files know. Here each goes by the hash of its GUID in small letters.

use super::Se2Archive;
use super::definitions::Definitions;
use super::parts::{GuidsOf, REFERENCE, guid_of};
use crate::archive::{self, Archive as _};
use crate::error::{Error, Result};
use crate::id;
use crate::relations::{By, Edge, Entries, EntryLocation, Found, IdTexts, Keep, Relations};
use crate::report::Progress;
use crate::table::{Guid, Value};
use crate::threads::prelude::*;
use std::borrow::Cow;

/// The table with a row for each definition.
const TABLE: &str = "definitions";

/// The owner of a GUID.
#[derive(Debug, Clone, Copy)]
pub(super) enum Owner {
    /// A definition, by its number.
    Definition(usize),
    /// A file of the content cache, by its number.
    File(usize),
}

/// The id by which references name a GUID.
pub(super) fn id_of(guid: Guid) -> u64 {
    id::of_path(&guid.to_string())
}

/// A reference to a GUID.
struct Reference {
    to: Guid,
    column: String,
    by: By,
}

/// The references of a definition, and the damage of its file.
#[derive(Default)]
struct References {
    all: Vec<Reference>,
    damage: Option<Error>,
}

impl Se2Archive {
    /// The references of the definition with this number.
    fn references_in(&self, row: usize) -> References {
        let mut read = References::default();
        let Some(definition) = self.definitions().get(row) else { return read };
        let parent = definition.parent.map(|to| Reference { to, column: "parent_guid".to_owned(), by: By::Id });
        read.all.extend(parent);
        let Some(path) = &definition.file else { return read };
        let guids = match self.guids_in(path) {
            Ok(guids) => guids,
            Err(error) => {
                read.damage = Some(error.context(path));
                return read;
            }
        };
        for (column, text) in guids {
            let Some(to) = guid_of(&Value::text(&text)).filter(|to| *to != definition.guid) else { continue };
            let by = if text.starts_with(REFERENCE) { By::Id } else { By::Text };
            read.all.push(Reference { to, column, by });
        }
        read
    }

    fn guids_in(&self, path: &str) -> Result<GuidsOf> {
        let file = self.find(path)?.ok_or_else(|| archive::no_file(usize::MAX))?;
        super::parts::guids(&self.stored(&file)?)
    }

    fn add(&self, row: usize, read: References, keep: Keep<'_>, found: &mut Found) {
        if let Some(error) = read.damage {
            found.damage.fail(error);
        }
        let from = self.definitions().get(row).map(|definition| id_of(definition.guid));
        for Reference { to, column, by } in read.all {
            let id = id_of(to);
            if keep(id, by) {
                let text = (!self.gathered().owners.contains_key(&id)).then(|| to.to_string());
                found.edges.push(Edge { from, to: id, table: TABLE, row, column, text });
            }
        }
    }

    fn owner(&self, query: &str) -> Option<u64> {
        let gathered = self.gathered();
        if let Some(guid) = guid_of(&Value::text(query)) {
            return Some(id_of(guid)).filter(|id| gathered.owners.contains_key(id));
        }
        let of_file = gathered.assets.iter().find(|asset| asset.path == query).map(|asset| asset.guid);
        let of_definition = || {
            let by_file = gathered.definitions.iter().find(|found| found.file.as_deref() == Some(query));
            Some(by_file.or_else(|| gathered.definitions.get(gathered.find(query)?))?.guid)
        };
        of_file.or_else(of_definition).map(id_of)
    }
}

impl Relations for Se2Archive {
    fn references(&self, keep: Keep<'_>, progress: &Progress) -> Found {
        let mut found = Found::default();
        let rows = self.definitions().len();
        progress.announce(rows as u64);
        let read = (0..rows).into_par_iter().map(|row| {
            progress.advance(1);
            self.references_in(row)
        });
        let read: Vec<_> = read.collect();
        for (row, references) in read.into_iter().enumerate() {
            self.add(row, references, keep, &mut found);
        }
        found
    }

    /// A GUID without the mark of a reference counts if it belongs to a definition or file of the folder.
    fn references_of(&self, id: u64) -> Found {
        let mut found = Found::default();
        if let Some(Owner::Definition(row)) = self.gathered().owners.get(&id) {
            let keep = |to: u64, by: By| by == By::Id || self.has(to);
            self.add(*row, self.references_in(*row), &keep, &mut found);
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

impl Entries for Se2Archive {
    fn has(&self, id: u64) -> bool {
        self.gathered().owners.contains_key(&id)
    }

    fn resolve(&self, query: &str, _: bool, _: &mut dyn FnMut(Error)) -> Result<Option<EntryLocation>> {
        let Some(id) = self.owner(query).or_else(|| id::parse(query)) else { return Ok(None) };
        let gathered = self.gathered();
        let Some(owner) = gathered.owners.get(&id) else { return Ok(None) };
        let path = self.path(id)?.map(Cow::into_owned);
        let (kind, record) = match *owner {
            Owner::Definition(row) => (gathered.definitions.get(row).and_then(|found| found.ty.clone()), Some(row)),
            Owner::File(_) => (None, None),
        };
        Ok(Some(EntryLocation { id, path, kind, record, ..EntryLocation::default() }))
    }
}

impl IdTexts for Se2Archive {
    /// The path of the file with this GUID, or what else is known of it.
    fn path(&self, id: u64) -> Result<Option<Cow<'_, str>>> {
        let Definitions { definitions, assets, owners, .. } = self.gathered();
        Ok(match owners.get(&id) {
            Some(Owner::File(number)) => assets.get(*number).map(|asset| asset.path.as_str().into()),
            Some(Owner::Definition(row)) => definitions.get(*row).map(|found| {
                let known = found.file.as_ref().or(found.name.as_ref());
                known.map_or_else(|| found.guid.to_string().into(), |text| text.as_str().into())
            }),
            None => None,
        })
    }

    fn id_of_path(&self, path: &str) -> Option<u64> {
        self.owner(path)
    }
}
