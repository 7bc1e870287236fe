//! Rows that begin with what their record says.

use super::Lazy;
use crate::error::Result;
use crate::table::{RowCursor, Table as _, Value};
use std::cell::OnceCell;

/// The first columns of a table whose rows say there what a record says that they belong to.
pub(super) struct Shared<'a> {
    pub(super) columns: usize,
    /// The record that a row belongs to.
    pub(super) parent: Box<dyn Fn(usize) -> usize + Send + Sync + 'a>,
}

impl<'a> Shared<'a> {
    /// A walk over the rows of `table` from `first` on.
    pub(super) fn cursor<'t>(&'t self, table: &'t Lazy<'a>, first: usize) -> SharedCursor<'t, 'a> {
        let lead = std::iter::repeat_with(OnceCell::new).take(self.columns).collect();
        SharedCursor { table, shared: self, next: first, parent: None, lead }
    }
}

/// A walk that reads once what rows share with those before, a joined path above all.
pub(super) struct SharedCursor<'t, 'a> {
    table: &'t Lazy<'a>,
    shared: &'t Shared<'a>,
    next: usize,
    parent: Option<usize>,
    /// The first cells of the rows of `parent`, as far as they were asked for; `None` in one that cannot be read.
    lead: Vec<OnceCell<Option<Value<'t>>>>,
}

impl RowCursor for SharedCursor<'_, '_> {
    fn advance(&mut self) -> Result<bool> {
        if self.next >= self.table.len()? {
            return Ok(false);
        }
        let parent = Some((self.shared.parent)(self.next));
        if parent != self.parent {
            self.parent = parent;
            self.lead.iter_mut().for_each(|cell| drop(cell.take()));
        }
        self.next = self.next.saturating_add(1);
        Ok(true)
    }

    fn row(&self) -> usize {
        self.next.saturating_sub(1)
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        let read = || self.table.value(self.row(), column);
        match self.lead.get(column).and_then(|cell| cell.get_or_init(|| read().ok()).as_ref()) {
            Some(Value::Text(text)) => Ok(Value::text(text)),
            Some(value) => Ok(value.clone()),
            // One that is damaged says so each time.
            None => read(),
        }
    }
}
