//! Tables with a row for each record, and the columns that they begin with.

use super::cells::{cell_of, field_columns};
use crate::budget::RowBudget;
use crate::bwdb::NameLookup;
use crate::bwdb::counts::Counts;
use crate::bwdb::record::{Ids, Type};
use crate::bytes::View;
use crate::error::Result;
use crate::source::Source;
use crate::table::{Column, DeclaredTable, Find, StoredRows, Table, Value, no_cell};
use std::ops::Range;
use std::sync::Arc;

/// A leading column of every table of some records. Its cells describe the record with a given number.
pub(super) struct Lead<'a> {
    pub(super) column: Column,
    pub(super) get: Box<dyn Fn(usize) -> Result<Value<'a>> + Send + Sync + 'a>,
    pub(super) find: Option<Find<'a>>,
    /// As in [`DeclaredTable::found_if`].
    pub(super) finds: Option<Box<dyn Fn() -> bool + Send + Sync + 'a>>,
    /// Touches the cells of some records, as in [`DeclaredTable::looked_ahead`].
    pub(super) look: Option<Box<dyn Fn(Range<usize>) + Send + Sync + 'a>>,
}

impl<'a> Lead<'a> {
    pub(super) fn new(column: Column, get: impl Fn(usize) -> Result<Value<'a>> + Send + Sync + 'a) -> Self {
        Self { column, get: Box::new(get), find: None, finds: None, look: None }
    }

    pub(super) fn found_by(
        mut self,
        find: impl Fn(&Value<'_>) -> Option<Result<Vec<usize>>> + Send + Sync + 'a,
    ) -> Self {
        self.find = Some(Box::new(find));
        self
    }

    pub(super) fn found_if(mut self, finds: impl Fn() -> bool + Send + Sync + 'a) -> Self {
        self.finds = Some(Box::new(finds));
        self
    }

    pub(super) fn looked_ahead(mut self, look: impl Fn(Range<usize>) + Send + Sync + 'a) -> Self {
        self.look = Some(Box::new(look));
        self
    }

    /// The number of a record, below `count`.
    pub(super) fn number(column: Column, count: usize) -> Self {
        Self::new(column, |row| Ok(row.into()))
            .found_by(move |key| Some(Ok(Some(super::number(key)?).into_iter().filter(|&row| row < count).collect())))
    }
}

/// The file of records.
pub(super) struct Origin<'a> {
    pub(super) names: &'a dyn NameLookup,
    pub(super) file: &'a Source,
    pub(super) counts: &'a Counts,
}

/// The origin of a table's records, and the columns that every table of them begins with.
pub(super) trait Records<'a>: Copy + Send + Sync + 'a {
    /// Whether comparing two files compares these records with the resources that they are of.
    const DERIVED: bool = false;

    fn len(self) -> usize;
    fn view(self, row: usize) -> Result<View<'a>>;
    fn leads(self) -> Vec<Lead<'a>>;
    fn origin(self) -> Origin<'a>;

    fn names(self) -> &'a dyn NameLookup {
        self.origin().names
    }

    fn file(self) -> &'a Source {
        self.origin().file
    }

    /// The number of records. Rows after them show records again, under other keys.
    fn stored(self) -> usize {
        self.len()
    }

    /// As [`StoredRows::sharing`].
    fn sharing(self, row: usize) -> Vec<usize> {
        let _ = row;
        Vec::new()
    }

    /// The stretch of the file in which the records' own texts lie.
    fn texts(self) -> Range<usize> {
        0..self.file().bytes().len()
    }
}

/// Records as they are stored: once for all of their keys.
struct StoredRecords<R>(R);

impl<'a, R: Records<'a>> StoredRows for StoredRecords<R> {
    fn sharing(&self, row: usize) -> Vec<usize> {
        self.0.sharing(row)
    }

    fn stored_len(&self) -> Option<usize> {
        Some(self.0.stored()).filter(|stored| *stored < self.0.len())
    }
}

/// A record and its number, and the budget of its cells.
pub(super) struct Row<T> {
    pub(super) number: usize,
    pub(super) record: Result<T>,
    pub(super) budget: RowBudget,
}

impl<T> Row<T> {
    /// The row after `before`, if known, in a table of `rows` rows of `file`.
    pub(super) fn new(number: usize, record: Result<T>, before: Option<Self>, rows: usize, file: &Source) -> Self {
        let budget = before.map_or_else(|| RowBudget::new(file.bytes().len(), rows), |before| before.budget.next());
        Self { number, record, budget }
    }

    /// The record, or the error of reading it.
    pub(super) fn read(&self) -> Result<&T> {
        self.record.as_ref().map_err(crate::Error::clone)
    }
}

/// A table of `count()` records of `file`.
pub(super) fn rows_of<'a, T: Send + 'a>(
    name: &'static str,
    file: &'a Source,
    count: impl Fn() -> usize + Copy + Send + Sync + 'a,
    read: impl Fn(usize) -> Result<T> + Send + Sync + 'a,
) -> DeclaredTable<'a, Row<T>> {
    let table = DeclaredTable::walked(
        name,
        move || Ok(count()),
        move |row, before| Ok((row < count()).then(|| Row::new(row, read(row), before, count(), file))),
    );
    table.random_access()
}

/// A table that begins with the columns that all tables of `rows` do.
pub(super) fn table_of<'a, T: Send + 'a, R: Records<'a>>(
    name: &'static str,
    rows: R,
    read: impl Fn(usize) -> Result<T> + Send + Sync + 'a,
) -> DeclaredTable<'a, Row<T>> {
    let mut table = rows_of(name, rows.file(), move || rows.len(), read);
    if R::DERIVED {
        table = table.derived().own_texts(false);
        table = table.stored_by(Arc::new(StoredRecords(rows)));
    }
    rows.leads().into_iter().fold(table, |table, Lead { column, get, find, finds, look }| {
        let mut table = table.column(column, move |row: &Row<T>| get(row.number));
        if let Some(find) = find {
            table = table.found_by(find);
        }
        if let Some(finds) = finds {
            table = table.found_if(finds);
        }
        if let Some(look) = look {
            table = table.looked_ahead(move |ahead| {
                let end = ahead.end.min(rows.len());
                look(ahead.start..end);
                end
            });
        }
        table
    })
}

/// The columns of the fields of a struct, whose place `view` gets out of a row.
pub(super) fn with_fields<'a, T: 'a>(
    mut table: DeclaredTable<'a, Row<T>>,
    name: &'static str,
    of: &'static Type,
    names: &'a dyn NameLookup,
    view: impl Fn(&T) -> Result<View<'a>> + Send + Sync + 'a,
) -> DeclaredTable<'a, Row<T>> {
    let (columns, sources) = field_columns(of);
    if sources.iter().any(|source| source.place.info().of.traits.texts.own) {
        table = table.own_texts(true);
    }
    table.columns(columns, move |row: &Row<T>, column| {
        let source = sources.get(column).copied().ok_or_else(|| no_cell(name, row.number, column))?;
        let cell = row.read().and_then(&view).and_then(|view| cell_of(view, source, names, row.budget.get()));
        cell.map_err(|error| within(name, row.number, error))
    })
}

pub(super) fn records<'a, R: Records<'a>>(name: &'static str, rows: R, of: &'static Type) -> Box<dyn Table + 'a> {
    let table = table_of(name, rows, move |row| {
        let view: View<'a> = rows.view(row)?;
        view.take(of.size).map(|_| view)
    });
    let table = table.prefetched_by(move |ahead| {
        let mut ids = Ids::default();
        let records = ahead.iter().cloned().flatten().map_while(|row| rows.view(row).ok());
        records.for_each(|view| of.walk_fields(view, &mut ids));
        rows.names().ahead(&ids);
    });
    Box::new(with_fields(table, name, of, rows.names(), |view| Ok(*view)))
}

pub(super) fn within(table: &str, row: usize, error: crate::Error) -> crate::Error {
    error.context(format_args!("{table} {row}"))
}
