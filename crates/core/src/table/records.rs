//! Rows by the names of their columns, for programs that read a table in a few lines.

use super::{Column, Nature, RowCursor, Table, Value, column_index, hint_of_columns, hint_of_rows};
use crate::error::{Error, ErrorKind, Result};
use crate::reader::entry;
use std::fmt;

impl<'t> dyn Table + 't {
    pub fn rows(&self) -> Rows<'_> {
        Rows { table: self, cursor: Some(self.cursor(0)) }
    }

    /// Row `number`.
    ///
    /// # Errors
    /// `NotFound` past the last row.
    pub fn row_at(&self, number: usize) -> Result<Row<'_>> {
        if number >= self.len()? {
            let what = format!("row {number} of {} not found", self.name());
            return Err(Error::of_part(ErrorKind::NotFound { what }, ""));
        }
        Ok(Row { table: self, number, cells: None })
    }

    /// The first row whose key or name is `key`: an id, a path, a name.
    ///
    /// # Errors
    /// `NotFound` with the nearest names, and damage of a row on the way.
    pub fn row(&self, key: impl fmt::Display) -> Result<Row<'_>> {
        let key = key.to_string();
        let found = match entry::row_of(self, &key)? {
            Some(found) => Some(found),
            None => entry::row_named(self, &key)?,
        };
        let number = found.ok_or_else(|| {
            let what = format!("{key:?} not found in {}{}", self.name(), hint_of_rows(&key, self));
            Error::of_part(ErrorKind::NotFound { what }, "")
        })?;
        Ok(Row { table: self, number, cells: None })
    }
}

/// The rows of a table, each as a [`Row`]. Ends after the first row that cannot be found.
pub struct Rows<'t> {
    table: &'t (dyn Table + 't),
    /// `None` after the end.
    cursor: Option<Box<dyn RowCursor + 't>>,
}

impl fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("table", &self.table.name()).finish_non_exhaustive()
    }
}

impl<'t> Iterator for Rows<'t> {
    type Item = Result<Row<'t>>;

    fn next(&mut self) -> Option<Self::Item> {
        let cursor = self.cursor.as_mut()?;
        let advanced = cursor.advance();
        if !matches!(advanced, Ok(true)) {
            let goes_on = advanced.is_err() && cursor.skip_damage();
            self.cursor = self.cursor.take().filter(|_| goes_on);
            return advanced.err().map(Err);
        }
        // A walk to each cell would take the time of the whole table.
        let cells = self.table.nature().sequential.then(|| {
            let columns = 0..self.table.columns().len();
            columns.map(|column| cursor.value(column).map(Value::into_owned)).collect()
        });
        Some(Ok(Row { table: self.table, number: cursor.row(), cells }))
    }
}

/// A row of a table. Cells are read when they are requested, so that a damaged cell is an error of its own.
pub struct Row<'t> {
    table: &'t (dyn Table + 't),
    number: usize,
    /// The cells, of a table that is read in order only.
    cells: Option<Vec<Result<Value<'static>>>>,
}

impl fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row").field("table", &self.table.name()).field("number", &self.number).finish_non_exhaustive()
    }
}

impl Row<'_> {
    /// The number of the row in its table.
    pub fn number(&self) -> usize {
        self.number
    }

    pub fn columns(&self) -> &[Column] {
        self.table.columns()
    }

    /// The cell in `column` as a `T`: a number, `bool`, `String`, `Cow<str>`, a `Vec` of them, or an `Option` for cells that may
    /// be null.
    ///
    /// # Errors
    /// As [`Row::value`], and `Syntax` for a value that is no `T`.
    pub fn get<'r, T: TryFrom<Value<'r>, Error = Error>>(&'r self, column: &str) -> Result<T> {
        T::try_from(self.value(column)?).map_err(|error| {
            error.context(format_args!("row {} of {}, column {column}", self.number, self.table.name()))
        })
    }

    /// The cell in `column`.
    ///
    /// # Errors
    /// `Syntax` for a missing column; damage of the cell.
    pub fn value(&self, column: &str) -> Result<Value<'_>> {
        let table = self.table;
        let at = column_index(table, column).ok_or_else(|| {
            let hint = hint_of_columns(column, "it has", table.columns());
            Error::syntax(format!("table {}: no column {column}{hint}", table.name()))
        })?;
        match &self.cells {
            Some(cells) => cells.get(at).cloned().unwrap_or_else(|| Err(super::no_cell(table.name(), self.number, at))),
            None => table.value(self.number, at),
        }
    }
}

/// Rows in memory, such as the answer of a query: a table as any other.
#[derive(Debug, Clone, Default)]
pub struct RowBuffer {
    name: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Value<'static>>>,
}

impl RowBuffer {
    /// The table `name` of rows with a value for each of `columns`.
    pub fn new(name: impl Into<String>, columns: Vec<Column>, rows: Vec<Vec<Value<'static>>>) -> Self {
        Self { name: name.into(), columns, rows }
    }

    pub fn rows(&self) -> Rows<'_> {
        let table: &dyn Table = self;
        table.rows()
    }

    pub fn values(&self) -> &[Vec<Value<'static>>] {
        &self.rows
    }
}

impl Table for RowBuffer {
    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        Ok(self.rows.len())
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        let cell = self.rows.get(row).and_then(|cells| cells.get(column));
        cell.map(Value::borrowed).ok_or_else(|| super::no_cell(&self.name, row, column))
    }

    fn nature(&self) -> Nature {
        Nature { random_access: true, ..Nature::default() }
    }
}

impl<'r> IntoIterator for &'r RowBuffer {
    type Item = Result<Row<'r>>;
    type IntoIter = Rows<'r>;

    fn into_iter(self) -> Rows<'r> {
        self.rows()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Kind, Region};

    fn prices() -> RowBuffer {
        let columns = vec![Column::text("name").key(), Column::uint("cents")];
        let row = |name: &'static str, cents: u64| vec![Value::text(name), cents.into()];
        RowBuffer::new("prices", columns, vec![row("rope", 250), row("anchor", 9000)])
    }

    #[test]
    fn a_row_is_found_by_its_number_and_by_its_key() {
        let prices = prices();
        let table: &dyn Table = &prices;
        for row in [table.row_at(1).unwrap(), table.row("anchor").unwrap()] {
            assert_eq!((row.number(), row.columns().len(), row.get::<u64>("cents").unwrap()), (1, 2, 9000));
            assert_eq!(format!("{row:?}"), "Row { table: \"prices\", number: 1, .. }");
        }
        let shown: Vec<String> = prices.into_iter().map(|row| row.unwrap().get("name").unwrap()).collect();
        assert_eq!(shown, ["rope", "anchor"]);
        assert_eq!(format!("{:?}", prices.rows()), "Rows { table: \"prices\", .. }");
        assert_eq!(prices.values()[0][1], Value::Uint(250));
    }

    #[test]
    fn a_missing_row_or_column_is_named_with_the_nearest() {
        let prices = prices();
        let table: &dyn Table = &prices;
        let row = table.row_at(0).unwrap();
        for (error, message) in [
            (table.row_at(2).unwrap_err(), "row 2 of prices not found"),
            (table.row("ankor").unwrap_err(), "\"ankor\" not found in prices; did you mean anchor?"),
            (row.value("cent").unwrap_err(), "table prices: no column cent; did you mean cents?"),
            (row.get::<u64>("name").unwrap_err(), "row 0 of prices, column name"),
            (prices.value(2, 0).unwrap_err(), "prices: row 2, column 0 not found"),
        ] {
            assert!(error.to_string().contains(message), "{message}: {error}");
        }
    }

    /// A table by its four functions: all else is left out.
    #[test]
    fn a_table_of_four_functions_has_no_index_and_no_places() {
        struct One(Vec<Column>);
        impl Table for One {
            fn name(&self) -> &str {
                "one"
            }

            fn columns(&self) -> &[Column] {
                &self.0
            }

            fn len(&self) -> Result<usize> {
                Ok(1)
            }

            fn value(&self, _: usize, _: usize) -> Result<Value<'_>> {
                Ok(5u64.into())
            }
        }
        let one = One(vec![Column::new("number", Kind::Uint)]);
        let table: &dyn Table = &one;
        assert_eq!((table.name(), table.known_len(), table.nature()), ("one", Some(1), Nature::default()));
        assert!(!table.finds(0) && table.find(0, &5u64.into()).is_none() && table.texts(0).is_none());
        assert!(table.is_at(0, &Region::Point([0.0; 3])).is_none() && table.parts().is_none());
        let rows: Vec<u64> = table.rows().map(|row| row.unwrap().get("number").unwrap()).collect();
        assert_eq!(rows, [5]);
        let mut none = crate::table::NoRows(None);
        assert!(!none.advance().unwrap() && none.row() == 0 && none.value(0).is_err());
    }
}
