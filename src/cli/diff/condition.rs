//! The condition of `diff`. Some tables lack its columns.

use crate::cli::Failure;
use crate::diff::{Side, TableDiff};
use crate::report::counted;
use crate::table::filter::{Bound, Filter, find_column};
use crate::table::{Column, Table};

/// The condition for each side of a table.
pub(super) type Filters = [Option<Bound>; 2];

/// A condition, and what the tables so far lacked of it.
pub(super) struct Condition {
    filter: Filter,
    /// Its columns that no table so far has.
    unknown: Vec<String>,
    /// The columns of the tables so far.
    tables: Vec<String>,
    /// The tables that differ and whose rows the condition does not decide: their names, the number of rows, and their columns.
    left_out: Vec<(String, usize, String)>,
    /// Why the first table cannot be compared with it.
    first: Option<crate::Error>,
}

impl Condition {
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let filter = Filter::parse(text)?;
        let unknown = filter.column_names().into_iter().map(str::to_owned).collect();
        Ok(Self { filter, unknown, tables: Vec::new(), left_out: Vec::new(), first: None })
    }

    /// The condition for each of the tables of the file at `path`. A table that lacks its columns has none.
    pub(super) fn bind(&mut self, path: Option<&str>, tables: &[TableDiff<'_>]) -> Vec<Option<Filters>> {
        tables.iter().map(|table| self.bind_table(path, table)).collect()
    }

    /// As [`Condition::bind`], for tables that the user named.
    ///
    /// # Errors
    /// When one of them lacks its columns.
    pub(super) fn bind_all(&mut self, tables: &[TableDiff<'_>]) -> Result<Vec<Option<Filters>>, Failure> {
        let bound = self.bind(None, tables);
        match self.first.take() {
            Some(error) if bound.iter().any(Option::is_none) => Err(error.into()),
            _ => Ok(bound),
        }
    }

    fn bind_table(&mut self, path: Option<&str>, table: &TableDiff<'_>) -> Option<Filters> {
        let sides = [Side::Old, Side::New].map(|side| table.side(side));
        let has = |name: &str| sides.iter().flatten().any(|table| find_column(table.columns(), name).is_ok());
        self.unknown.retain(|name| !has(name));
        let of_file = path.map_or_else(String::new, |path| format!("{path}:"));
        self.tables.push(format!("{of_file}{} has {}", table.name(), names(table)));
        let bind = |columns: &[Column]| self.filter.decidable(columns).as_ref().unwrap_or(&self.filter).bind(columns);
        match sides.map(|table| table.map(|table| bind(table.columns())).transpose()) {
            [Ok(old), Ok(new)] => Some([old, new]),
            [Err(error), _] | [_, Err(error)] => {
                self.first.get_or_insert(error);
                None
            }
        }
    }

    /// Notes that the rows of a table that differ are left out.
    pub(super) fn leave_out(&mut self, name: &str, rows: usize, table: &TableDiff<'_>) {
        self.left_out.push((name.to_owned(), rows, names(table)));
    }

    /// The note about the tables that differ and are left out, if any; with their columns if no row is selected.
    pub(super) fn note(&self, is_empty: bool) -> Option<String> {
        /// Tables that are named.
        const SHOWN: usize = 8;
        let mut shown: Vec<String> = Vec::new();
        for (name, rows, columns) in self.left_out.iter().take(SHOWN) {
            let columns = if is_empty { format!(" (it has {columns})") } else { String::new() };
            shown.push(format!("{} of {name}{columns}", counted(*rows, "row")));
        }
        let more = self.left_out.len().saturating_sub(SHOWN);
        shown.extend((more > 0).then(|| counted(more, "other table")));
        let wanted = self.filter.column_names().join(", ");
        (!shown.is_empty()).then(|| format!("left out, as they differ and lack {wanted}: {}", shown.join(", ")))
    }

    /// The condition, if each of its columns is in a table. The files in an archive have more tables.
    ///
    /// # Errors
    /// The column that no table has.
    pub(super) fn checked(self, is_archive: bool) -> Result<Self, Failure> {
        /// Tables that are described.
        const SHOWN: usize = 8;
        let Some(unknown) = self.unknown.first() else { return Ok(self) };
        if let (1, Some(first), false) = (self.tables.len(), &self.first, is_archive) {
            return Err(first.clone().into());
        }
        let columns = self.tables.iter().flat_map(|table| table.split([' ', ',']));
        let hint = crate::suggest::hint(unknown, columns);
        let shown = self.tables.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("; ");
        let deep = if is_archive { "; --deep also compares the tables of files in it" } else { "" };
        let separator = if hint.is_empty() { ";" } else { "" };
        let what = format!("filter: there is no column {unknown} in what is compared{hint}{separator} {shown}{deep}");
        Err(Failure::usage(what))
    }
}

/// The names of the columns of a table.
fn names(table: &TableDiff<'_>) -> String {
    let side = table.side(Side::New).or_else(|| table.side(Side::Old));
    let names = side.map(|table: &dyn Table| table.columns().iter().map(|column| &*column.name).collect::<Vec<_>>());
    names.unwrap_or_default().join(", ")
}
