//! A table of all files of a set.

use super::set::{FileSet, Schema};
use crate::asset::Asset;
use crate::error::{Error, Result};
use crate::table::parts::PartsCursor;
use crate::table::{
    CellSink, Column, Nature, Region, RowCursor, Table, TablePart, TableParts, Value, column_index, no_cell,
};
use self_cell::self_cell;
use std::sync::Arc;

/// The rows of one table of all files, after the columns of their file.
pub(super) struct SetTable<'s> {
    pub(super) set: &'s FileSet,
    pub(super) schema: &'s Schema,
}

impl Table for SetTable<'_> {
    fn name(&self) -> &str {
        &self.schema.name
    }

    fn columns(&self) -> &[Column] {
        &self.schema.columns
    }

    fn len(&self) -> Result<usize> {
        self.start(self.count())
    }

    /// Unknown: files that are left out are known once their rows are read.
    fn known_len(&self) -> Option<usize> {
        None
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        if let Some((part, row)) = self.place(row)? {
            if let Some(cell) = self.common(part, column) {
                return Ok(cell);
            }
            if let Some(open) = self.set.kept_table(part, self.schema)? {
                return open.table().value(row, column).map(Value::into_owned);
            }
        }
        Err(no_cell(&self.schema.name, row, column))
    }

    fn cursor_over(&self, first: usize, columns: Option<&[usize]>) -> Box<dyn RowCursor + '_> {
        PartsCursor::from(self, self, columns, first)
    }

    fn nature(&self) -> Nature {
        Nature { sequential: true, label: Some(self.schema.label), also: self.schema.also, ..Nature::default() }
    }

    fn finds(&self, column: usize) -> bool {
        self.schema.finds.get(column).copied().unwrap_or(false)
    }

    fn parts(&self) -> Option<&dyn TableParts> {
        Some(self)
    }

    fn is_at(&self, row: usize, place: &Region) -> Option<Result<bool>> {
        self.is_row_at(row, place).transpose()
    }
}

impl SetTable<'_> {
    fn is_row_at(&self, row: usize, place: &Region) -> Result<Option<bool>> {
        let Some((part, row)) = self.place(row)? else { return Ok(None) };
        let Some(open) = self.set.kept_table(part, self.schema)? else { return Ok(None) };
        open.table().is_at(row, place).transpose()
    }

    /// The file of a row, and the number of the row in it. `None` past the last row.
    fn place(&self, row: usize) -> Result<Option<(usize, usize)>> {
        let (mut low, mut high) = (0usize, self.count());
        if row >= self.len()? {
            return Ok(None);
        }
        // The last file that begins at the row or before it.
        while high - low > 1 {
            let middle = low.midpoint(high);
            if self.start(middle)? <= row { low = middle } else { high = middle }
        }
        Ok(Some((low, row - self.start(low)?)))
    }
}

impl TableParts for SetTable<'_> {
    fn count(&self) -> usize {
        self.set.list().len()
    }

    fn common(&self, part: usize, column: usize) -> Option<Value<'_>> {
        self.set.common(part, column)
    }

    fn open(&self, part: usize) -> Result<Option<Arc<dyn TablePart>>> {
        // Many probes of few files.
        if self.schema.finds.is_empty() {
            self.set.open_table(part, self.schema)
        } else {
            self.set.kept_table(part, self.schema)
        }
    }

    fn leave_out(&self, part: usize, error: Error) -> Result<()> {
        self.set.leave_out(part, Some(&self.schema.name), error)
    }

    fn start(&self, part: usize) -> Result<usize> {
        self.schema.start(part, &|part| self.set.count_rows(part, self.schema))
    }

    fn keep_len(&self, part: usize, len: usize) {
        self.schema.keep_len(part, len);
    }
}

self_cell!(
    /// A table of an open file, as a part of the table of all files.
    pub(super) struct OpenTable {
        owner: Asset,
        #[covariant]
        dependent: FileTable,
    }
);

impl OpenTable {
    /// The table of `asset` that `schema` describes, with the cells that all its rows share.
    pub(super) fn open(asset: Asset, schema: &Schema, common: Vec<Value<'static>>) -> Self {
        Self::new(asset, |asset| {
            let inner = asset.reader().table(&schema.name);
            let numbers = schema.own_names.iter().map(|name| column_index(&**inner.as_ref()?, name)).collect();
            FileTable { name: Arc::clone(&schema.name), columns: Arc::clone(&schema.columns), common, inner, numbers }
        })
    }
}

impl TablePart for OpenTable {
    fn table(&self) -> &dyn Table {
        self.borrow_dependent()
    }
}

/// The table of one file with the columns of the table of all files.
pub(super) struct FileTable<'a> {
    name: Arc<str>,
    columns: Arc<[Column]>,
    common: Vec<Value<'static>>,
    inner: Option<Box<dyn Table + 'a>>,
    /// The numbers of the further columns in the file's own table.
    numbers: Vec<Option<usize>>,
}

impl FileTable<'_> {
    /// The number of a column in the file's own table.
    fn own(&self, column: usize) -> Option<(&dyn Table, usize)> {
        let number = self.numbers.get(column.checked_sub(self.common.len())?).copied().flatten()?;
        Some((&**self.inner.as_ref()?, number))
    }

    /// A cell that is not in the file's own table.
    fn other(&self, row: usize, column: usize) -> Result<Value<'_>> {
        match self.common.get(column) {
            Some(cell) => Ok(cell.borrowed()),
            None if column < self.columns.len() => Ok(Value::Null),
            None => Err(no_cell(&self.name, row, column)),
        }
    }

    fn walk<'t>(&'t self, rows: impl FnOnce(&'t dyn Table) -> Box<dyn RowCursor + 't>) -> Box<dyn RowCursor + 't> {
        Box::new(FileCursor { table: self, rows: self.inner.as_deref().map(rows) })
    }
}

impl Table for FileTable<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        self.inner.as_ref().map_or(Ok(0), |inner| inner.len())
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        match self.own(column) {
            Some((inner, column)) => inner.value(row, column),
            None => self.other(row, column),
        }
    }

    fn cursor_over(&self, first: usize, columns: Option<&[usize]>) -> Box<dyn RowCursor + '_> {
        let own: Option<Vec<usize>> =
            columns.map(|columns| columns.iter().filter_map(|column| Some(self.own(*column)?.1)).collect());
        self.walk(|inner| inner.cursor_over(first, own.as_deref()))
    }

    fn finds(&self, column: usize) -> bool {
        self.own(column).is_some_and(|(inner, column)| inner.finds(column))
    }

    fn find(&self, column: usize, key: &Value<'_>) -> Option<Result<Vec<usize>>> {
        let (inner, column) = self.own(column)?;
        inner.find(column, key)
    }

    fn is_at(&self, row: usize, place: &Region) -> Option<Result<bool>> {
        self.inner.as_ref()?.is_at(row, place)
    }
}

struct FileCursor<'t> {
    table: &'t FileTable<'t>,
    rows: Option<Box<dyn RowCursor + 't>>,
}

impl RowCursor for FileCursor<'_> {
    fn advance(&mut self) -> Result<bool> {
        self.rows.as_mut().map_or(Ok(false), |rows| rows.advance())
    }

    fn skip_damage(&mut self) -> bool {
        self.rows.as_mut().is_some_and(|rows| rows.skip_damage())
    }

    fn row(&self) -> usize {
        self.rows.as_ref().map_or(0, |rows| rows.row())
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        match (self.table.own(column), &self.rows) {
            (Some((_, column)), Some(rows)) => rows.value(column),
            _ => self.table.other(self.row(), column),
        }
    }

    fn put(&self, column: usize, sink: &mut dyn CellSink) -> Result<()> {
        match (self.table.own(column), &self.rows) {
            (Some((_, column)), Some(rows)) => rows.put(column, sink),
            _ => self.table.other(self.row(), column).and_then(|cell| sink.value(&cell)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, DeclaredTable};

    /// The rows of a file have the file's columns first, and null in a column that only other files have.
    #[test]
    fn a_table_of_one_file_has_its_rows_after_the_columns_of_the_file() {
        let rows = [7u64, 8];
        let of = |inner: Option<Box<dyn Table + 'static>>| FileTable {
            name: "records".into(),
            columns: [Column::text("file"), Column::uint("id"), Column::uint("other")].into(),
            common: vec![Value::text("a.wdb")],
            inner,
            numbers: vec![Some(0), None],
        };
        let own = DeclaredTable::new("records", || Ok(2), move |row| Ok(rows.get(row).copied()))
            .column(Column::uint("id"), |row| Ok(Value::Uint(*row)));
        for (table, len) in [(of(Some(Box::new(own))), 2), (of(None), 0)] {
            assert_eq!((table.name(), table.len().unwrap()), ("records", len));
            let mut cursor = table.cursor_over(0, None);
            let mut shown = Vec::new();
            while cursor.advance().unwrap() {
                let cells = (0..3).map(|column| cursor.value(column).unwrap().to_string());
                shown.push(cells.collect::<Vec<_>>().join(","));
            }
            assert_eq!(shown, ["a.wdb,7,", "a.wdb,8,"][..len]);
            assert!(!cursor.skip_damage(), "no row is damaged");
            let error = table.value(0, 3).unwrap_err().to_string();
            assert_eq!(error, "records: row 0, column 3 not found");
        }
    }
}
