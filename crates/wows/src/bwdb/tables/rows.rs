//! The records of the two files that have tables of them.

use super::super::record::Typed as _;
use super::records::{Lead, Origin, Records};
use super::{id64, number};
use crate::bwdb::owners::Alias;
use crate::bwdb::{Blob, Database, Models, State, prototypes as p};
use crate::bytes::View;
use crate::error::Result;
use crate::table::{Column, Value, no_cell};
use std::ops::Range;

/// The rows that `with_id` finds for the hash of `path`, if their path is `path`: a file may give an id to any path.
pub(super) fn at_path(db: &Database, path: &str, with_id: impl Fn(u64) -> Result<Vec<usize>>) -> Result<Vec<usize>> {
    let id = Database::path_id(path);
    let rows = with_id(id)?;
    let is_its = rows.is_empty() || db.path(id)?.is_some_and(|found| found == path);
    Ok(if is_its { rows } else { Vec::new() })
}

/// A row for each record, known by the smallest id of its valid resources, and after them a row for each further one.
#[derive(Clone, Copy)]
pub(super) struct DatabaseRows<'a> {
    pub(super) db: &'a Database,
    pub(super) blob: Blob<'a>,
}

impl<'a> DatabaseRows<'a> {
    pub(super) fn aliases(self) -> &'a [Alias] {
        self.db.aliases(self.blob.index())
    }

    /// The further resource that a row is of.
    pub(super) fn alias(self, row: usize) -> Option<&'a Alias> {
        self.aliases().get(row.checked_sub(self.blob.len())?)
    }

    pub(super) fn record(self, row: usize) -> usize {
        if row < self.blob.len() { row } else { self.alias(row).map_or(row, |alias| alias.record) }
    }

    pub(super) fn id(self, row: usize) -> Option<u64> {
        match self.alias(row) {
            Some(alias) => Some(alias.id),
            None => self.db.owner(self.blob.index(), row),
        }
    }

    pub(super) fn of_record(self, record: usize) -> impl Iterator<Item = usize> {
        let aliases = self.aliases();
        let [start, end] =
            [record, record.saturating_add(1)].map(|n| aliases.partition_point(|alias| alias.record < n));
        let base = self.blob.len();
        std::iter::once(record)
            .filter(move |record| *record < base)
            .chain((start..end).map(move |at| base.saturating_add(at)))
    }

    /// The row of a valid resource with this id, if its record is one of these.
    pub(super) fn with_id(self, id: u64) -> Result<Vec<usize>> {
        let found = self.db.lookup(id)?.filter(|r| r.state() == State::Valid);
        let Some(found) = found.filter(|r| r.database_index() == self.blob.index()) else { return Ok(Vec::new()) };
        let mut rows = self.of_record(found.record_index());
        let own = rows.next();
        Ok(rows.find(|&row| self.alias(row).is_some_and(|alias| alias.id == id)).or(own).into_iter().collect())
    }
}

impl<'a> Records<'a> for DatabaseRows<'a> {
    const DERIVED: bool = true;

    fn len(self) -> usize {
        self.blob.len().saturating_add(self.aliases().len())
    }

    fn stored(self) -> usize {
        self.blob.len()
    }

    fn sharing(self, row: usize) -> Vec<usize> {
        if self.aliases().is_empty() {
            return Vec::new();
        }
        let rows: Vec<usize> = self.of_record(self.record(row)).collect();
        if rows.len() > 1 { rows } else { Vec::new() }
    }

    fn view(self, row: usize) -> Result<View<'a>> {
        self.blob.record_span(self.record(row)).map(|(view, _)| view)
    }

    fn leads(self) -> Vec<Lead<'a>> {
        let path = Lead::new(Column::text("path").brief().resolved().in_folders(), move |row| match self.id(row) {
            Some(id) => self.db.path(id).map(Value::from),
            None => Ok(Value::Null),
        });
        vec![
            Lead::new(Column::uint("record").brief().place(), move |row| Ok(self.record(row).into()))
                .found_by(move |key| Some(Ok(self.of_record(number(key)?).collect()))),
            Lead::new(Column::id64("id").key(), move |row| Ok(self.id(row).map_or(Value::Null, Value::Id64)))
                .found_by(move |key| Some(self.with_id(id64(key)?))),
            path.found_by(move |key| match key {
                Value::Text(path) => Some(at_path(self.db, path, |id| self.with_id(id))),
                _ => None,
            })
            .found_if(move || self.db.hashes_paths())
            .looked_ahead(move |rows| self.db.paths().ahead(rows.filter_map(|row| self.id(row)))),
        ]
    }

    fn origin(self) -> Origin<'a> {
        Origin { names: self.db, file: &self.db.source, counts: &self.db.counts }
    }

    fn texts(self) -> Range<usize> {
        self.blob.view().position()..self.blob.end()
    }
}

#[derive(Clone, Copy)]
pub(super) struct ModelRows<'a>(pub(super) &'a Models);

impl<'a> Records<'a> for ModelRows<'a> {
    fn len(self) -> usize {
        self.0.len()
    }

    fn view(self, row: usize) -> Result<View<'a>> {
        self.0.model(row).map(|m| m.view()).ok_or_else(|| no_cell("models", row, 0))
    }

    fn leads(self) -> Vec<Lead<'a>> {
        let id = Lead::new(Column::id64("id").brief().key(), move |row| {
            Ok(Value::Id64(p::MergedModel::read(self.view(row)?)?.id()?.0))
        });
        vec![
            Lead::number(Column::uint("model").brief().place(), self.len()),
            id.found_by(move |key| Some(Ok(self.0.all_with(id64(key)?)))),
        ]
    }

    fn origin(self) -> Origin<'a> {
        Origin { names: self.0.names(), file: self.0.source(), counts: &self.0.counts }
    }
}
