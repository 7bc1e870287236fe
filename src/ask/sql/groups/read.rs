//! Reads the groups of the rows of one table.

use super::codes::{CodedColumn, Coder, Names, Texts};
use super::condition::Condition;
use super::partitions::{Groups, Layout, SharedGroups};
use super::shape::{Call, First, What};
use super::state::{State, directed, order};
use super::walk::Walk;
use crate::error::{ErrorKind, Result};
use crate::table::{RowCursor, Table, TableParts, Value};
use crate::threads::prelude::*;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The plan for reading the rows of a table.
pub(super) struct Reading<'q> {
    pub(super) keys: Vec<CodedColumn>,
    pub(super) calls: Vec<Call>,
    /// For each aggregate of different cells, its column.
    distinct: Vec<Option<CodedColumn>>,
    /// All are required. Their columns are numbered from `first` on.
    conditions: Vec<&'q Condition>,
    first: usize,
    columns: Vec<usize>,
    texts: &'q Texts,
    walk: Walk<'q>,
}

/// A thread's own state while it reads rows.
pub(super) struct Reader<'r> {
    keys: Vec<Coder<'r>>,
    distinct: Vec<Option<Coder<'r>>>,
    calls: &'r [Call],
    codes: Vec<u64>,
}

impl<'q> Reading<'q> {
    /// Keys and aggregates number the columns of the table itself; in the conditions, `first` is its first column.
    pub(super) fn new(
        table: &dyn Table,
        keys: &[usize],
        calls: Vec<Call>,
        (conditions, first): (Vec<&'q Condition>, usize),
        texts: &'q Texts,
        walk: Walk<'q>,
    ) -> Result<Self> {
        let keys: Vec<CodedColumn> = keys.iter().map(|key| CodedColumn::new(table, *key)).collect::<Result<_>>()?;
        let coded = |call: &Call| {
            let column = call.column.filter(|_| call.what == What::CountDistinct);
            column.map(|column| CodedColumn::new(table, column)).transpose()
        };
        let distinct: Vec<Option<CodedColumn>> = calls.iter().map(coded).collect::<Result<_>>()?;
        let mut columns = Vec::new();
        conditions.iter().for_each(|condition| condition.add_columns(&mut columns));
        columns.iter_mut().for_each(|column| *column = column.saturating_sub(first));
        columns.extend(keys.iter().chain(distinct.iter().flatten()).flat_map(|column| column.columns()));
        columns.extend(calls.iter().filter_map(|call| call.column));
        let reading = Self { keys, calls, distinct, conditions, first, columns: Vec::new(), texts, walk };
        Ok(reading.with_columns(columns.into_iter()))
    }

    /// Adds columns of the table that are read besides.
    pub(super) fn with_columns(mut self, columns: impl Iterator<Item = usize>) -> Self {
        self.columns.extend(columns);
        self.columns.sort_unstable();
        self.columns.dedup();
        self
    }

    pub(super) fn layout(&self) -> Layout<'_> {
        Layout { keys: self.keys.len(), calls: &self.calls }
    }

    /// The groups of all rows, or those that may be among the first ones.
    pub(super) fn groups(&self, table: &dyn Table, first: Option<&First>) -> Result<Vec<Groups>> {
        let groups = SharedGroups::new(self.layout());
        let first = first.map(|first| (first.count, first.leading_calls(self.keys.len())));
        let first = first.filter(|(count, terms)| *count > 0 && !terms.is_empty());
        // Texts of groups that are not shown are read once, to find damage and ids with the same text.
        let is_distinct = AtomicBool::new(first.is_some());
        match table.parts() {
            Some(parts) => self.parts(parts, &groups)?,
            None => self.table(table, &groups, Some(&is_distinct))?,
        }
        let mut groups = groups.finish();
        if let Some((count, terms)) = first.filter(|_| is_distinct.into_inner()) {
            let keep = |groups: &mut Groups| self.keep_first(groups, count, &terms);
            groups.par_chunks_mut(1).try_for_each(|groups| groups.iter_mut().try_for_each(keep))?;
        }
        self.named(table, groups)
    }

    /// Keeps the groups of a partition that are not after the first `count` by these aggregates.
    fn keep_first(&self, groups: &mut Groups, count: usize, terms: &[(usize, bool)]) -> Result<()> {
        let (layout, all) = (self.layout(), &*groups);
        let value = |place: usize, call: usize| {
            let state = layout.states(all, place).get(call).zip(self.calls.get(call));
            state.map_or(Ok(Value::Null), |(state, call)| state.value(*call))
        };
        // A sum that SQLite refuses is one in a group that is not shown, too.
        for (place, call) in (0..all.len()).flat_map(|place| (0..self.calls.len()).map(move |call| (place, call))) {
            value(place, call)?;
        }
        let order = |a: usize, b: usize| {
            let term = |&(call, descends): &(usize, bool)| match (value(a, call), value(b, call)) {
                (Ok(a), Ok(b)) => directed(order(&a, &b), descends),
                _ => Ordering::Equal,
            };
            terms.iter().map(term).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        let mut places: Vec<usize> = (0..all.len()).collect();
        let Some(last) = count.checked_sub(1).filter(|last| *last < places.len()) else { return Ok(()) };
        let last = *places.select_nth_unstable_by(last, |a, b| order(*a, *b)).1;
        places.retain(|place| order(*place, last).is_le());
        groups.keep(layout, &places);
        Ok(())
    }

    /// The groups by texts, of groups by the ids of texts.
    fn named(&self, table: &dyn Table, mut groups: Vec<Groups>) -> Result<Vec<Groups>> {
        let width = self.keys.len();
        let mut is_split = false;
        for (at, key) in self.keys.iter().enumerate().filter(|(_, key)| key.is_by_id()) {
            let (names, shared) = (Names::new(self.texts), AtomicBool::new(false));
            let recode = |groups: &mut Groups| {
                let before = |rows: &[usize]| {
                    let rows: Vec<Range<usize>> = rows.iter().map(|row| *row..row.saturating_add(1)).collect();
                    table.prefetch(&rows);
                    self.walk.check_now()
                };
                groups.recode(width, before, |row, codes| {
                    let Some(code) = codes.get_mut(at) else { return Ok(()) };
                    let (named, is_first) = key.named(table, row, *code, &names)?;
                    *code = named;
                    shared.fetch_or(!is_first, Relaxed);
                    Ok(())
                })
            };
            groups.par_chunks_mut(1).try_for_each(|groups| groups.iter_mut().try_for_each(recode))?;
            is_split |= shared.into_inner();
        }
        if !is_split {
            return Ok(groups);
        }
        // Several ids have one text.
        let all = SharedGroups::new(self.layout());
        all.regroup(groups)?;
        Ok(all.finish())
    }

    fn parts(&self, parts: &dyn TableParts, groups: &SharedGroups<'_>) -> Result<()> {
        let may_match = |part: &usize| {
            let fails = |condition: &&Condition| {
                condition.answer(&|column| Ok(parts.common(*part, column))).ok() == Some(Some(false))
            };
            !self.conditions.iter().any(fails)
        };
        let wanted: Vec<usize> = (0..parts.count()).filter(may_match).collect();
        let read = |part: &usize| {
            let Some(open) = parts.open(*part)? else { return Ok(()) };
            // A damaged part may be left out.
            let own = SharedGroups::new(self.layout());
            match self.table(open.table(), &own, None) {
                Err(error) if !matches!(error.kind(), ErrorKind::Unsupported { .. }) => parts.leave_out(*part, error),
                read => read.and_then(|()| groups.absorb(own)),
            }
        };
        wanted.par_iter().try_for_each(read)
    }

    /// Clears `is_distinct` if several ids may have one text.
    fn table(&self, table: &dyn Table, groups: &SharedGroups<'_>, is_distinct: Option<&AtomicBool>) -> Result<()> {
        self.rows(
            table,
            || (self.reader(), groups.own()),
            |(reader, own), row| {
                let (states, is_new) = own.states(reader.codes_or_ids(row)?, row.row())?;
                if let Some(is_distinct) = is_distinct.filter(|all| is_new && all.load(Relaxed)) {
                    for (key, code) in self.keys.iter().zip(&reader.codes).filter(|(key, _)| key.is_by_id()) {
                        is_distinct.fetch_and(key.has_own_text(row, *code)?, Relaxed);
                    }
                }
                reader.add(states, row, 1)
            },
            |(_, own)| own.finish(),
        )
    }

    /// Hands each row that matches the conditions to `each`, as in [`Walk::rows`].
    pub(super) fn rows<W>(
        &self,
        table: &dyn Table,
        begin: impl Fn() -> W + Sync,
        each: impl Fn(&mut W, &dyn RowCursor) -> Result<()> + Sync,
        end: impl Fn(W) -> Result<()> + Sync,
    ) -> Result<()> {
        let each = |own: &mut W, row: &dyn RowCursor| {
            for condition in &self.conditions {
                if condition.answer(&|column| row.value(column.saturating_sub(self.first)).map(Some))? != Some(true) {
                    return Ok(());
                }
            }
            each(own, row)
        };
        self.walk.rows(table, &self.columns, begin, each, end)
    }

    pub(super) fn reader(&self) -> Reader<'_> {
        let coder = |of: &CodedColumn| Coder::new(*of, self.texts);
        Reader {
            keys: self.keys.iter().map(coder).collect(),
            distinct: self.distinct.iter().map(|of| of.as_ref().map(coder)).collect(),
            calls: &self.calls,
            codes: Vec::new(),
        }
    }
}

impl Reader<'_> {
    /// The codes of the keys of a row, or of their ids.
    fn codes_or_ids(&mut self, row: &dyn RowCursor) -> Result<&[u64]> {
        self.codes.clear();
        for key in &mut self.keys {
            self.codes.push(key.code_or_id(row)?);
        }
        Ok(&self.codes)
    }

    /// The codes of the keys of a row.
    pub(super) fn codes(&mut self, row: &dyn RowCursor) -> Result<&[u64]> {
        self.codes.clear();
        for key in &mut self.keys {
            self.codes.push(key.code(row)?);
        }
        Ok(&self.codes)
    }

    /// Adds the cells of a row to the aggregates, as often as `times`.
    pub(super) fn add(&mut self, states: &mut [State], row: &dyn RowCursor, times: u64) -> Result<()> {
        for ((state, call), coder) in states.iter_mut().zip(self.calls).zip(&mut self.distinct) {
            match (call.column, coder) {
                (None, _) => state.count(times),
                (Some(_), Some(coder)) => state.add_code(coder.code(row)?),
                (Some(column), None) => state.add(&row.value(column)?, times)?,
            }
        }
        Ok(())
    }
}
