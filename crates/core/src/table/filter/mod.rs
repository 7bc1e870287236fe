//! Conditions on rows: `size > 10k and (name ~ '*.dds' or not deleted = true)`.
//!
//! They are a part of SQL's expressions and have SQL's answers: comparisons of a column with a literal by `=` (or `==`),
//! `!=` (or `<>`), `<`, `<=`, `>`, `>=`, `[not] like`, `[not] glob`, `[not] in (…)`, `[not] between … and …` and
//! `is [not] null`, joined by `and`, `or`, `not` and parentheses. A comparison with a cell that is null is unknown, and so
//! is its opposite: neither `size = 1` nor `size != 1` nor `not size = 1` finds that row.
//!
//! SQL does not have: `~` ([glob](super::glob)) and `!~`; `= null` and `!= null` for `is null` and `is not null`; numbers
//! with `k`, `M` or `G` for thousands, millions or thousand millions; backticks around a column; ids in any of the forms
//! of [`id`](crate::id), with or without quotes; a comparison by order with a number, in a column of several kinds, that holds
//! for numbers only; floats in their own precision, so that `scale = 0.1` finds the number
//! that is shown as 0.1. Patterns are compared with the shown form of a cell.
//!
//! Literals are numbers (`10`, `-1.5`, `0xFF`), text in single or double quotes (a doubled quote is the quote itself),
//! `true`, `false` and `null`. A column whose name is not a plain word goes in double quotes or backticks.

mod bound;
mod condition;
mod number;
mod parse;
pub mod pattern;

pub use bound::{Bound, Compare, find_column};
pub use condition::{Filter, Literal, Op};

use super::parts::{PartsCursor, TableParts};
use super::{Column, NumberedRows, RowCursor, Table};
use crate::error::Result;
use std::ops::Range;

impl Filter {
    /// Reads a condition.
    ///
    /// # Errors
    /// `Syntax` with the character at which it stops making sense.
    pub fn parse(text: &str) -> Result<Self> {
        parse::parse(text)
    }

    /// The same condition for a table with these columns.
    ///
    /// # Errors
    /// `Syntax` for a column that the table does not have, a literal that the column's cells cannot be compared with,
    /// or a malformed glob.
    pub fn bind(&self, columns: &[Column]) -> Result<Bound> {
        Ok(match self {
            Self::And(filters) => Bound::And(filters.iter().map(|filter| filter.bind(columns)).collect::<Result<_>>()?),
            Self::Or(filters) => Bound::Or(filters.iter().map(|filter| filter.bind(columns)).collect::<Result<_>>()?),
            Self::Not(filter) => Bound::Not(Box::new(filter.bind(columns)?)),
            Self::Compare { column, op, literal } => Bound::Compare(Compare::bind(columns, column, *op, literal)?),
        })
    }

    /// The part of the condition that a table with these columns decides: alternatives about columns that it lacks are unknown there.
    /// `None` if all of it is unknown.
    pub fn decidable(&self, columns: &[Column]) -> Option<Self> {
        match self {
            Self::And(filters) => {
                filters.iter().map(|filter| filter.decidable(columns)).collect::<Option<_>>().map(Self::And)
            }
            Self::Or(filters) => {
                let known: Vec<Self> = filters.iter().filter_map(|filter| filter.decidable(columns)).collect();
                (!known.is_empty()).then_some(Self::Or(known))
            }
            Self::Not(_) | Self::Compare { .. } => {
                self.column_names().into_iter().all(|name| find_column(columns, name).is_ok()).then(|| self.clone())
            }
        }
    }

    /// The names of the columns that it compares, in order.
    pub fn column_names(&self) -> Vec<&str> {
        match self {
            Self::And(filters) | Self::Or(filters) => filters.iter().flat_map(Self::column_names).collect(),
            Self::Not(filter) => filter.column_names(),
            Self::Compare { column, .. } => vec![column],
        }
    }
}

impl Bound {
    /// The rows of `table` to judge by [`Bound::matches`]: the candidates of a probe if there is one, else all. The caller reads only
    /// `columns` if they are given.
    pub fn walk_over<'t>(&self, table: &'t dyn Table, columns: Option<&[usize]>) -> Box<dyn RowCursor + 't> {
        if let Some(parts) = table.parts() {
            return self.walk_parts(table, parts, columns);
        }
        match self.candidates(table) {
            Some(rows) => picked(table, rows),
            None => table.cursor_over(0, columns),
        }
    }

    /// As [`Bound::walk_over`], for a table of several parts.
    pub fn walk_parts<'t>(
        &self,
        table: &'t dyn Table,
        parts: &'t dyn TableParts,
        columns: Option<&[usize]>,
    ) -> Box<dyn RowCursor + 't> {
        let is_empty = matches!(self, Self::And(all) if all.is_empty());
        Box::new(PartsCursor::new(table, parts, columns, (!is_empty).then(|| self.clone())))
    }

    /// As [`Bound::walk_over`], from row `rows.start` on. The walk may lead past `rows.end`.
    pub fn walk_within<'t>(
        &self,
        table: &'t dyn Table,
        rows: &Range<usize>,
        columns: &[usize],
    ) -> Box<dyn RowCursor + 't> {
        if rows.start == 0 {
            return self.walk_over(table, Some(columns));
        }
        match self.candidates(table) {
            Some(mut found) => {
                found.retain(|row| rows.contains(row));
                picked(table, found)
            }
            None => table.cursor_over(rows.start, Some(columns)),
        }
    }
}

/// The rows with these numbers.
pub fn picked<'t>(
    table: &'t dyn Table,
    rows: impl IntoIterator<Item = usize, IntoIter: Send + 't>,
) -> Box<dyn RowCursor + 't> {
    Box::new(NumberedRows { table, rows: rows.into_iter().map(Ok), row: 0 })
}

#[cfg(test)]
mod tests;
