//! Rows of what records hold: those of one record after those of the record before.

use super::ahead::Ahead;
use super::{KIND, Rows, label, within};
use crate::bytes::View;
use crate::error::{Error, Result};
use crate::formats::bwdb::record::{Leaf, ListInfo, NameId, Walker};
use crate::formats::bwdb::references::Budget;
use crate::lazy;
use crate::table::search::Literal;
use crate::table::{Column, Kind, RowCursor, Table, Value, no_cell};
use rayon::prelude::*;
use std::cell::OnceCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// What a record holds several of.
pub(super) trait Children<'a>: Send + Sync + 'a {
    /// What is read once for all cells of a row.
    type Row;

    /// How many rows a record has.
    fn count(&self, record: View<'a>) -> Result<usize>;

    /// The row at `index` of a record.
    fn row(&self, record: View<'a>, index: usize) -> Result<Self::Row>;

    /// A cell, where `column` counts the columns of its own that the table has.
    fn cell(&self, row: &Self::Row, column: usize) -> Result<Value<'a>>;

    /// Whether a column is a nested value that may have texts in it; `None` for a column that is none.
    fn nested_text(&self, column: usize) -> Option<bool> {
        let _ = column;
        None
    }

    /// Shows the nested value in a column of a row to a walker.
    fn walk(&self, row: &Self::Row, column: usize, walker: &mut dyn Walker<'a>) {
        let _ = (row, column, walker);
    }

    /// The column that has the texts of names, which lie anywhere in the file.
    const NAME: usize = usize::MAX;

    /// The ids of names in these rows of a record.
    fn names(&self, record: View<'a>, rows: Range<usize>) -> Result<Vec<NameId>> {
        let _ = (record, rows);
        Ok(Vec::new())
    }
}

/// Looks for a text among what is walked. What cannot be read, and ids, whose texts are elsewhere, may have it.
struct Texts<'l> {
    literal: &'l Literal,
    budget: &'l Budget,
    found: bool,
}

impl<'a> Walker<'a> for Texts<'_> {
    fn leaf(&mut self, name: &'static str, leaf: Leaf<'a>) {
        self.found |= match leaf {
            Leaf::Value(Value::Text(text)) => name != KIND && self.literal.is_in(&text),
            Leaf::Value(_) => false,
            Leaf::Name(_) | Leaf::Path(_) => true,
        };
    }

    fn begin(&mut self, _: &'static str) {}
    fn end(&mut self) {}

    fn begin_list(&mut self, _: &'static str, list: &ListInfo<'a>) -> bool {
        let walk = list.texts && !self.found;
        let afford = !walk || self.budget.spend(list.bytes());
        self.found |= !afford;
        walk && afford
    }

    fn end_list(&mut self) {}

    fn damage(&mut self, _: &'static str, _: Error) {
        self.found = true;
    }
}

/// The rows of all records' children, one after another. A record whose children cannot be read has one row, whose
/// cells say why.
pub(super) struct Nested<'a, R, C> {
    name: &'static str,
    columns: Vec<Column>,
    /// How many columns come first that say what the record says, which its rows share.
    lead: usize,
    rows: R,
    children: C,
    /// For each record, the row behind its last child; counted when it is first asked for.
    ends: OnceLock<Arc<[usize]>>,
    /// The record that was found last: cells are asked for row by row, and rows of one record follow each other.
    last: AtomicUsize,
    file: PhantomData<fn() -> View<'a>>,
}

impl<R, C> fmt::Debug for Nested<'_, R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nested").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'a, R: Rows<'a>, C: Children<'a>> Nested<'a, R, C> {
    pub(super) fn new(name: &'static str, rows: R, own: Vec<Column>, children: C) -> Self {
        let mut columns = rows.lead_columns();
        let lead = columns.len();
        columns.push(Column::new("index", Kind::Uint).brief().key());
        columns.extend(own);
        let (ends, last) = (OnceLock::new(), AtomicUsize::new(0));
        Self { name, columns, lead, rows, children, ends, last, file: PhantomData }
    }

    fn ends(&self) -> &[usize] {
        self.ends.get_or_init(|| {
            let of_record = |record| self.rows.view(record).and_then(|view| self.children.count(view)).unwrap_or(1);
            let records = self.rows.len();
            let parts = lazy::parts_for(records, 1 << 12);
            let share = records.div_ceil(parts);
            let part = |i: usize| {
                let start = i.saturating_mul(share).min(records);
                (start..start.saturating_add(share).min(records)).map(of_record).collect::<Vec<_>>()
            };
            let count = || lazy::parts(parts, part).concat();
            self.rows.counts().get(self.name, count)
        })
    }

    fn rows_of(&self, record: usize) -> Range<usize> {
        let ends = self.ends();
        let start = record.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
        start..ends.get(record).copied().unwrap_or(start)
    }

    /// The record that a row belongs to, which may be `guess`, and all of that record's rows.
    fn record_of(&self, row: usize, guess: usize) -> (usize, Range<usize>) {
        let rows = self.rows_of(guess);
        if rows.contains(&row) {
            return (guess, rows);
        }
        let record = self.ends().partition_point(|&end| end <= row);
        (record, self.rows_of(record))
    }

    /// Of the columns that are no lead and no index, the number.
    fn own(&self, column: usize) -> Option<usize> {
        column.checked_sub(self.lead.saturating_add(1))
    }

    fn row(&self, record: usize, index: usize) -> Result<C::Row> {
        self.children.row(self.rows.view(record)?, index)
    }
}

impl<'a, R: Rows<'a>, C: Children<'a>> Table for Nested<'a, R, C> {
    fn name(&self) -> &str {
        self.name
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        Ok(self.ends().last().copied().unwrap_or(0))
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        if column >= self.columns.len() || row >= self.len()? {
            return Err(no_cell(self.name, row, column));
        }
        let (record, rows) = self.record_of(row, self.last.load(Ordering::Relaxed));
        self.last.store(record, Ordering::Relaxed);
        let index = row.saturating_sub(rows.start);
        match column.checked_sub(self.lead) {
            None => self.rows.lead_value(record, column),
            Some(0) => Ok(index.into()),
            Some(column) => self
                .row(record, index)
                .and_then(|row| self.children.cell(&row, column.saturating_sub(1)))
                .map_err(|error| within(self.name, row, error)),
        }
    }

    fn cursor(&self, first: usize) -> Box<dyn RowCursor + '_> {
        let lead = std::iter::repeat_with(OnceCell::new).take(self.lead).collect();
        let (own, ahead) = (OnceCell::new(), Ahead::from(first));
        Box::new(NestedCursor { table: self, next: first, record: 0, rows: 0..0, lead, own, ahead })
    }

    fn splits(&self) -> bool {
        true
    }

    fn holds_text(&self, column: usize) -> bool {
        let kind = || self.columns.get(column).is_some_and(|c| matches!(c.kind, Kind::Text | Kind::Any | Kind::Nested));
        self.own(column).and_then(|own| self.children.nested_text(own)).unwrap_or_else(kind)
    }

    fn search(&self, column: usize, literal: &Literal) -> Option<Vec<usize>> {
        let own = self.own(column)?;
        if !self.children.nested_text(own)? {
            return Some(Vec::new());
        }
        let budget = Budget::for_file(self.rows.view(0).map_or(0, |view| view.data().len()));
        let of_record = |record: usize| {
            let rows = self.rows_of(record);
            let (start, record) = (rows.start, self.rows.view(record).ok());
            let may_have = |row: &usize| {
                let mut texts = Texts { literal, budget: &budget, found: false };
                match record.and_then(|record| self.children.row(record, row.saturating_sub(start)).ok()) {
                    Some(row) => self.children.walk(&row, own, &mut texts),
                    None => return true,
                }
                texts.found
            };
            rows.filter(may_have).collect::<Vec<_>>()
        };
        // Counted before, by one thread.
        self.ends();
        Some((0..self.rows.len()).into_par_iter().with_min_len(64).flat_map_iter(of_record).collect())
    }

    fn words(&self) -> &'static [&'static str] {
        &[KIND]
    }

    fn finds(&self, column: usize) -> bool {
        self.rows.finds().contains(&column)
    }

    fn find(&self, column: usize, key: &Value<'_>) -> Option<Result<Vec<usize>>> {
        let records = if column < self.lead { self.rows.find(column, key)? } else { return None };
        Some(records.map(|records| records.into_iter().flat_map(|record| self.rows_of(record)).collect()))
    }

    fn label(&self) -> usize {
        label(&self.columns)
    }
}

/// A walk that reads once what the rows of a record share, a joined path above all, and what the cells of a row do.
struct NestedCursor<'t, 'a, R, C: Children<'a>> {
    table: &'t Nested<'a, R, C>,
    next: usize,
    /// The record of the current row, and its rows.
    record: usize,
    rows: Range<usize>,
    /// The first cells of the rows of `record`, as far as they were asked for; `None` in one that cannot be read.
    lead: Vec<OnceCell<Option<Value<'a>>>>,
    /// The current row, once it is asked for; `None` in it where it cannot be read.
    own: OnceCell<Option<C::Row>>,
    ahead: Ahead,
}

impl<'a, R: Rows<'a>, C: Children<'a>> NestedCursor<'_, 'a, R, C> {
    /// Looks for the names of these rows of the record.
    fn look(&self, rows: Range<usize>) {
        let rows = rows.start.saturating_sub(self.rows.start)..rows.end.saturating_sub(self.rows.start);
        let record = self.table.rows.view(self.record);
        if let Ok(ids) = record.and_then(|record| self.table.children.names(record, rows)) {
            self.table.rows.names().ahead(&ids);
        }
    }
}

impl<'a, R: Rows<'a>, C: Children<'a>> RowCursor for NestedCursor<'_, 'a, R, C> {
    fn advance(&mut self) -> Result<bool> {
        if self.next >= self.table.len()? {
            return Ok(false);
        }
        if !self.rows.contains(&self.next) {
            (self.record, self.rows) = self.table.record_of(self.next, self.record.saturating_add(1));
            self.lead.iter_mut().for_each(|cell| drop(cell.take()));
        }
        self.own.take();
        self.next = self.next.saturating_add(1);
        Ok(true)
    }

    fn row(&self) -> usize {
        self.next.saturating_sub(1)
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        if let Some(cell) = self.lead.get(column) {
            match cell.get_or_init(|| self.table.rows.lead_value(self.record, column).ok()) {
                Some(Value::Text(text)) => return Ok(Value::text(text)),
                Some(value) => return Ok(value.clone()),
                None => {}
            }
        } else if column < self.table.columns.len() {
            let index = self.row().saturating_sub(self.rows.start);
            let Some(own) = column.saturating_sub(self.lead.len()).checked_sub(1) else { return Ok(index.into()) };
            if own == C::NAME
                && let Some(rows) = self.ahead.of(self.row(), self.rows.end)
            {
                self.look(rows);
            }
            if let Some(row) = self.own.get_or_init(|| self.table.row(self.record, index).ok()) {
                return self.table.children.cell(row, own).map_err(|e| within(self.table.name, self.row(), e));
            }
        }
        // What is damaged says so each time.
        self.table.value(self.row(), column)
    }
}
