//! References between resources, models and instances, and their places.

use super::layout::PathEntry;
use super::record_references::{Collector, Reference};
use super::{Blob, Database, Models, Space, State};
use crate::archive::names::NameSources;
use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};
use crate::id::{self, Id64};
use crate::relations::{By, Edge, Entries, EntryLocation, Found, IdTexts, Keep, PARENT, Relations};
use crate::report::{Check, Progress};
use crate::table::Value;
use crate::threads::prelude::*;
use std::borrow::Cow;

impl Relations for Database {
    fn references(&self, keep: Keep<'_>, progress: &Progress) -> Found {
        /// The number of records that one core reads before a second core pays off.
        const SHARE: usize = 1024;
        let mut found = Found::default();
        let entries = self.paths().entries();
        let records =
            self.databases().flatten().filter(Blob::refers).map(|blob| blob.len()).fold(0, usize::saturating_add);
        progress.announce(records.saturating_add(entries.len()) as u64);
        let parents =
            entries.par_iter().enumerate().with_min_len(1 << 14).filter_map(|(row, entry)| parent(entry, row));
        found.edges = parents.filter(|edge| keep(edge.to, By::Id)).collect();
        progress.advance(entries.len() as u64);

        let budget = Budget::of_arrays(self.source().bytes().len());
        let mut places: Vec<((usize, usize), &'static str, Reference)> = Vec::new();
        for blob in self.databases() {
            let Some((blob, table)) = laid_out(blob, &mut found).filter(|(blob, _)| blob.refers()) else { continue };
            let shares = (0..blob.len().div_ceil(SHARE)).into_par_iter().map(|i| {
                let first = i.saturating_mul(SHARE);
                let records = first..first.saturating_add(SHARE).min(blob.len());
                let mut kept = Vec::new();
                let mut damage = Check::new("references");
                progress.advance(records.len() as u64);
                for record in records {
                    let (references, errors) = of_record(self, blob, record, keep, &budget);
                    kept.extend(references.into_iter().map(|found| ((blob.index(), record), table, found)));
                    errors.into_iter().for_each(|e| damage.fail(e.context(format_args!("{table} {record}"))));
                }
                (kept, damage)
            });
            for (kept, damage) in shares.collect::<Vec<_>>() {
                places.extend(kept);
                found.damage = found.damage.merge(damage);
            }
        }
        // Of a record with many references, each of many owners has all.
        let most = self.source().bytes().len();
        for ((database, record), table, Reference { id, column, .. }) in places {
            if found.edges.len() > most {
                let (value, limit) = (found.edges.len() as u64, most as u64);
                let kind = ErrorKind::Limit { what: "references from records that many resources share", value, limit };
                found.damage.fail(Error::of_part(kind, table));
                break;
            }
            // One record may belong to several resources, or to none.
            let mut owners = self.owners(database, record).map(Some).peekable();
            let nobody = owners.peek().is_none().then_some(None);
            for from in owners.chain(nobody) {
                found.edges.push(Edge { from, to: id, table, row: record, column: column.clone(), text: None });
            }
        }
        found
    }

    fn references_of(&self, id: u64) -> Found {
        let mut found = Found::default();
        let paths = self.paths();
        if let Some((row, entry)) = paths.find(id).and_then(|row| Some((row, paths.entries().get(row)?))) {
            found.edges.extend(parent(entry, row));
        }
        let Ok(Some(resource)) = self.lookup(id) else { return found };
        if resource.state() != State::Valid {
            found.notes.push(format!("{} is deleted or not valid, and its record is not followed", Id64(id)));
            return found;
        }
        let Some((blob, table)) = laid_out(resource.database(), &mut found) else { return found };
        let (budget, row) = (Budget::of_arrays(self.source().bytes().len()), resource.record_index());
        let (references, errors) = of_record(self, blob, row, &|_, _| true, &budget);
        errors.into_iter().for_each(|error| found.damage.fail(error.context(format_args!("{table} {row}"))));
        for Reference { id: to, column, by } in references {
            if by == By::Id || matches!(self.lookup(to), Ok(Some(_))) || paths.find(to).is_some() {
                found.edges.push(Edge { from: Some(id), to, table, row, column, text: None });
            }
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

/// Whether a reference of a model leads to another entry: its own id is no reference.
fn is_of_other(reference: &Reference) -> bool {
    reference.column != "id"
}

impl Relations for Models {
    fn references(&self, keep: Keep<'_>, progress: &Progress) -> Found {
        progress.announce(self.len() as u64);
        let budget = Budget::of_arrays(self.source().bytes().len());
        let mut found = Found::default();
        let rows = (0..self.len()).into_par_iter().with_min_len(64).map(|row| {
            progress.advance(1);
            let mut collector = Collector::new(keep, &budget);
            let model = self.model(row);
            if let Some(model) = &model {
                collector.merged(model);
            }
            (row, model.and_then(|m| m.id().ok()).map(|id| id.0), collector.found, collector.errors)
        });
        for (row, from, references, errors) in rows.collect::<Vec<_>>() {
            errors.into_iter().for_each(|e| found.damage.fail(e.context(format_args!("models {row}"))));
            for Reference { id: to, column, .. } in references.into_iter().filter(is_of_other) {
                found.edges.push(Edge { from, to, table: "models", row, column, text: None });
            }
        }
        found
    }

    fn texts(&self) -> Option<&dyn IdTexts> {
        (!self.names.is_empty()).then_some(&*self.names)
    }

    fn references_of(&self, id: u64) -> Found {
        let mut found = Found::default();
        let budget = Budget::of_arrays(self.source().bytes().len());
        if let Some((row, model)) = self.find(id).and_then(|row| Some((row, self.model(row)?))) {
            let mut collector = Collector::new(&|_, by| by == By::Id, &budget);
            collector.merged(&model);
            collector.errors.into_iter().for_each(|e| found.damage.fail(e.context(format_args!("models {row}"))));
            for Reference { id: to, column, .. } in collector.found.into_iter().filter(is_of_other) {
                found.edges.push(Edge { from: Some(id), to, table: "models", row, column, text: None });
            }
        }
        found
    }

    fn entries(&self) -> Option<&dyn Entries> {
        Some(self)
    }
}

impl Relations for Space {
    fn references(&self, keep: Keep<'_>, _: &Progress) -> Found {
        let mut found = Found::default();
        for (row, instance) in self.instances().iter().enumerate() {
            let to = instance.id.get();
            if to != 0 && keep(to, By::Id) {
                found.edges.push(Edge { from: None, to, table: "instances", row, column: "id".to_owned(), text: None });
            }
        }
        found
    }

    fn texts(&self) -> Option<&dyn IdTexts> {
        (!self.names.is_empty()).then_some(&*self.names)
    }
}

/// Paths and resources.
impl Entries for Database {
    fn has(&self, id: u64) -> bool {
        matches!(self.lookup(id), Ok(Some(_))) || self.paths().find(id).is_some()
    }

    fn resolve(&self, query: &str, path: bool, damaged: &mut dyn FnMut(Error)) -> Result<Option<EntryLocation>> {
        let asked = id::parse(query);
        let resource = match asked {
            Some(id) => self.lookup(id)?,
            None => self.lookup_path(query)?,
        };
        let id = resource.map(|r| r.id()).or(asked).unwrap_or_else(|| id::of_path(query));
        // The path of an id that is a path's hash needs no walk.
        let path = match asked {
            None if resource.is_some() => Some(query.to_owned()),
            _ if !path && resource.is_some() => None,
            _ => match Database::path(self, id) {
                Ok(None) if resource.is_none() => return Ok(None),
                Ok(path) => path,
                Err(error) => {
                    damaged(error);
                    None
                }
            },
        };
        let mut found = EntryLocation { id, path, ..EntryLocation::default() };
        let Some(resource) = resource else { return Ok(Some(found)) };
        found.database = Some(resource.database_index());
        found.record = Some(resource.record_index());
        found.state = resource.state().into();
        match resource.database() {
            Ok(blob) => {
                found.kind = Some(blob.type_name_or_magic());
                if resource.state() == State::Valid {
                    match blob.record_span(resource.record_index()) {
                        Ok((view, size)) => found.place = Some((view.offset(), size)),
                        // Records that are shown raw are no damage.
                        Err(error) if matches!(error.kind(), ErrorKind::Unsupported { .. }) => {}
                        Err(error) => damaged(error),
                    }
                }
            }
            Err(error) => damaged(error),
        }
        Ok(Some(found))
    }
}

impl IdTexts for Database {
    fn path(&self, id: u64) -> Result<Option<Cow<'_, str>>> {
        Ok(Database::path(self, id)?.map(Cow::Owned))
    }

    fn name(&self, id: u32) -> Result<Option<Cow<'_, str>>> {
        match self.string(id)? {
            None => IdTexts::name(&*self.more_names, id),
            name => Ok(name.map(Cow::Borrowed)),
        }
    }

    fn id_of_path(&self, path: &str) -> Option<u64> {
        Some(self.lookup_path(path).ok()??.id())
    }
}

/// The models by the ids of their paths, which the file does not have.
impl Entries for Models {
    fn has(&self, id: u64) -> bool {
        self.ids
            .get_or_init(|| self.models().filter_map(|model| model.id().ok()).map(|id| id.0).collect())
            .contains(&id)
    }

    fn resolve(&self, query: &str, path: bool, damaged: &mut dyn FnMut(Error)) -> Result<Option<EntryLocation>> {
        let asked = id::parse(query);
        let id = asked.unwrap_or_else(|| id::of_path(query));
        let found = self.find(id).and_then(|record| Some((record, self.model(record)?)));
        Ok(found.map(|(record, model)| EntryLocation {
            id,
            path: known_path(&self.names, query, path, damaged),
            kind: Some("ModelPrototype".to_owned()),
            database: None,
            record: Some(record),
            state: Value::from(State::Valid),
            place: Some((model.view().offset(), Models::MODEL_SIZE)),
        }))
    }
}

/// The path that a query for an entry states, or, if `path` and if known, the path of the id that it states.
pub(super) fn known_path(
    names: &NameSources,
    query: &str,
    path: bool,
    damaged: &mut dyn FnMut(Error),
) -> Option<String> {
    let known = match id::parse(query) {
        None => return Some(query.to_owned()),
        Some(_) if !path => return None,
        Some(id) => IdTexts::path(names, id),
    };
    known.map_err(damaged).ok().flatten().map(Cow::into_owned)
}

fn parent(entry: &PathEntry, row: usize) -> Option<Edge> {
    let to = Database::parent_of(entry)?;
    Some(Edge { from: Some(entry.self_id.get()), to, table: "paths", row, column: PARENT.to_owned(), text: None })
}

/// A database and the table of its records, if it is readable and its layout is known.
fn laid_out<'a>(blob: Result<Blob<'a>>, found: &mut Found) -> Option<(Blob<'a>, &'static str)> {
    let blob = blob.map_err(|error| found.damage.fail(error)).ok()?;
    found.notes.extend(blob.note());
    Some((blob, blob.layout()?.table()))
}

fn of_record(
    db: &Database,
    blob: Blob<'_>,
    record: usize,
    keep: Keep<'_>,
    budget: &Budget,
) -> (Vec<Reference>, Vec<Error>) {
    let mut collector = Collector::new(keep, budget);
    match blob.record(record) {
        Ok(Some(record)) => collector.record(&record, db),
        Ok(None) => {}
        Err(error) => collector.errors.push(error),
    }
    (collector.found, collector.errors)
}
