//! References of the models of Legends to others, to visuals, geometries, materials, shaders and textures.

use super::super::State;
use super::super::references::{Collector, Reference};
use super::super::relations::known_path;
use super::UberModels;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::id;
use crate::relations::{By, Edge, Entries, Entry, Found, IdTexts, Keep, Relations};
use crate::report::Progress;
use crate::table::Value;
use crate::threads::prelude::*;

impl UberModels {
    /// The references of a model for which `keep` holds, and errors of parts that cannot be read. Its own id is not a reference.
    fn references_in(&self, row: usize, keep: Keep<'_>, budget: &Budget) -> (Vec<Reference>, Vec<Error>) {
        let own = self.id(row);
        let keep = |id, by| Some(id) != own && keep(id, by);
        let mut collector = Collector::new(&keep, budget);
        match self.model(row) {
            Ok(model) => collector.uber(&model, &*self.names),
            Err(error) => collector.errors.push(error),
        }
        let errors = collector.errors.into_iter().map(|error| error.context(format_args!("models {row}")));
        (collector.found, errors.collect())
    }

    fn edges(&self, row: usize, found: Vec<Reference>) -> impl Iterator<Item = Edge> + use<> {
        let from = self.id(row);
        found.into_iter().map(move |Reference { id, column, .. }| Edge {
            from,
            to: id,
            table: "models",
            row,
            column,
            text: None,
        })
    }
}

impl Relations for UberModels {
    fn references(&self, keep: Keep<'_>, progress: &Progress) -> Found {
        let mut found = Found::default();
        if !self.has_models() {
            found.notes.extend(crate::reader::Reader::absent(self, "lods"));
            return found;
        }
        progress.announce(self.len() as u64);
        let budget = Budget::of_arrays(self.data().bytes().len());
        let rows = (0..self.len()).into_par_iter().with_min_len(64).map(|row| {
            progress.advance(1);
            self.references_in(row, keep, &budget)
        });
        for (row, (references, errors)) in rows.collect::<Vec<_>>().into_iter().enumerate() {
            errors.into_iter().for_each(|error| found.damage.fail(error));
            found.edges.extend(self.edges(row, references));
        }
        found
    }

    fn references_of(&self, id: u64) -> Found {
        let mut found = Found::default();
        let Some(row) = self.find(id) else { return found };
        let budget = Budget::of_arrays(self.data().bytes().len());
        let (references, errors) = self.references_in(row, &|_, by| by == By::Id, &budget);
        errors.into_iter().for_each(|error| found.damage.fail(error));
        found.edges.extend(self.edges(row, references));
        found
    }

    fn entries(&self) -> Option<&dyn Entries> {
        Some(self)
    }

    fn texts(&self) -> Option<&dyn IdTexts> {
        (!self.names.is_empty()).then_some(&*self.names)
    }
}

/// The models by the ids of their paths, which the files do not have.
impl Entries for UberModels {
    fn has(&self, id: u64) -> bool {
        self.find(id).is_some()
    }

    fn resolve(&self, query: &str, path: bool, damaged: &mut dyn FnMut(Error)) -> Result<Option<Entry>> {
        let asked = id::parse(query);
        let id = asked.unwrap_or_else(|| id::of_path(query));
        let Some(row) = self.find(id) else { return Ok(None) };
        let path = known_path(&self.names, query, path, damaged);
        let place = match self.blob(row) {
            Ok(view) => Some((view.offset(), view.rest().len())),
            Err(_) if !self.has_models() => None,
            Err(error) => {
                damaged(error);
                None
            }
        };
        let state = Value::from(State::Valid);
        let kind = Some("ModelUber".to_owned());
        Ok(Some(Entry { id, path, kind, database: None, record: Some(row), state, place }))
    }
}
