//! Numbers of rows that statements see: they stay the same while other rows are inserted and deleted.

use crate::compare::hash_values;
use crate::edit::{Pieces, TableEdits};
use crate::error::Result;
use crate::table::Table;
use crate::writable::{cell, key_hashes, keys};
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::RandomState;

/// The numbers of the rows of a table that has other rows than the file on disk: the numbers there, and further ones for inserted
/// rows.
#[derive(Debug)]
pub(super) struct RowIds {
    ids: Vec<usize>,
    rows: HashMap<usize, usize>,
    next: usize,
}

impl RowIds {
    fn new(ids: Vec<usize>, next: usize) -> Self {
        let rows = ids.iter().enumerate().map(|(row, id)| (*id, row)).collect();
        Self { ids, rows, next }
    }

    /// The id of a row.
    pub(super) fn id(&self, row: usize) -> Option<usize> {
        self.ids.get(row).copied()
    }

    /// The row with an id.
    pub(super) fn row(&self, id: usize) -> Option<usize> {
        self.rows.get(&id).copied()
    }

    /// The id that the next inserted row gets.
    pub(super) fn next(&self) -> usize {
        self.next
    }
}

/// Ids that no row has had, from the first one on.
struct FreshIds(usize);

impl FreshIds {
    fn take(&mut self) -> usize {
        self.0 += 1;
        self.0 - 1
    }
}

/// A table before and after a step of edits.
pub(super) struct Renumbering<'t> {
    pub(super) before: &'t dyn Table,
    pub(super) after: &'t dyn Table,
    pub(super) ids: Option<&'t RowIds>,
}

impl Renumbering<'_> {
    fn id(&self, row: usize) -> usize {
        self.ids.and_then(|ids| ids.id(row)).unwrap_or(row)
    }

    fn next(&self) -> Result<usize> {
        self.ids.map_or_else(|| self.before.len(), |ids| Ok(ids.next()))
    }

    /// The ids after edits that keep the order of the other rows. Inserted rows are where `pieces` says, or last. `gone` are the
    /// rows that statements deleted, rows that show what other rows store included.
    pub(super) fn in_order(&self, edits: &TableEdits, pieces: &Pieces, gone: &HashSet<usize>) -> Result<RowIds> {
        let (len, stored) = (self.before.len()?, self.before.stored_len());
        let (new_len, new_stored) = (self.after.len()?, self.after.stored_len());
        let removed: HashSet<usize> = edits.remove.iter().copied().collect();
        let mut kept = (0..stored.unwrap_or(len)).filter(|row| !removed.contains(row));
        let added = pieces.added.iter().find(|(table, _)| *table == edits.table).map(|(_, rows)| &**rows);
        let added: HashMap<usize, usize> = added.into_iter().flatten().copied().zip(0..).collect();
        let first = self.next()?;
        let (mut last, mut new) = (FreshIds(first), FreshIds(first + edits.add.len()));
        let mut ids = Vec::with_capacity(new_len);
        for row in 0..new_stored.unwrap_or(new_len) {
            ids.push(match added.get(&row) {
                Some(number) => first + number,
                None => kept.next().map_or_else(|| last.take(), |row| self.id(row)),
            });
        }
        let shown: Vec<usize> = (stored.unwrap_or(len)..len).filter(|row| !gone.contains(row)).collect();
        // Which rows show an inserted row is not known.
        let is_known = shown.len() == new_len.saturating_sub(ids.len());
        let mut shown = shown.into_iter().filter(|_| is_known);
        while ids.len() < new_len {
            ids.push(shown.next().map(|row| self.id(row)).unwrap_or_else(|| new.take()));
        }
        Ok(RowIds::new(ids, new.0))
    }

    /// The ids after edits that change the order: rows are known by their keys.
    pub(super) fn by_key(&self, edits: Option<&TableEdits>) -> Result<RowIds> {
        let (state, keys) = (RandomState::new(), keys(self.before).collect::<Vec<_>>());
        let removed: HashSet<usize> = edits.iter().flat_map(|edits| &edits.remove).copied().collect();
        let mut known: HashMap<u64, VecDeque<usize>> = HashMap::new();
        for (mut hash, row) in key_hashes(self.before, &keys, &state) {
            let set = edits.and_then(|edits| {
                let at = edits.set.binary_search_by_key(&row, |(row, _)| *row).ok()?;
                edits.set.get(at).map(|(_, set)| set).filter(|set| keys.iter().any(|key| cell(set, *key).is_some()))
            });
            if let Some(set) = set {
                let cells = keys.iter().map(|key| match cell(set, *key) {
                    Some(value) => Ok(value.clone()),
                    None => Ok(self.before.value(row, *key)?.into_owned()),
                });
                hash = hash_values(&cells.collect::<Result<Vec<_>>>()?, &state);
            }
            if !removed.contains(&row) {
                known.entry(hash).or_default().push_back(self.id(row));
            }
        }
        let mut new = FreshIds(self.next()?);
        let mut ids = vec![None; self.after.len()?];
        for (hash, row) in key_hashes(self.after, &keys, &state) {
            if let Some(id) = ids.get_mut(row) {
                *id = known.get_mut(&hash).and_then(VecDeque::pop_front);
            }
        }
        let ids = ids.into_iter().map(|id| id.unwrap_or_else(|| new.take())).collect();
        Ok(RowIds::new(ids, new.0))
    }
}
