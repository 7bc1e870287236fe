//! An open file, and the SQL names of its tables and columns.

use super::cells::declared;
use super::names::{in_sql, quoted, unique};
use super::rowids::RowIds;
use crate::asset::Asset;
use crate::edit::refused;
use crate::error::Result;
use crate::table::{Column, Kind, Table};
use self_cell::self_cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

const MOST_COLUMNS: usize = 2000;

/// Words of SQL that tables and columns of files have as names, and names for them that need no quotes.
const TABLE_ALIAS: (&str, &str) = ("values", "fields");
const COLUMN_ALIAS: (&str, &str) = ("index", "position");

/// Another name for what has a word of SQL as its name.
pub(super) fn alias_of(name: &str) -> Option<&'static str> {
    [TABLE_ALIAS, COLUMN_ALIAS].into_iter().find(|(word, _)| name.eq_ignore_ascii_case(word)).map(|(_, alias)| alias)
}

type TableList<'a> = Vec<Box<dyn Table + 'a>>;

self_cell!(
    struct Tables {
        owner: Asset,
        #[covariant]
        dependent: TableList,
    }
);

pub(super) struct OpenFile {
    number: usize,
    tables: Tables,
    /// The names of its tables in SQL.
    names: Vec<String>,
    /// The ids of the rows of tables whose rows have other numbers than on disk.
    ids: HashMap<usize, Arc<RowIds>>,
}

impl fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenFile").field("asset", self.asset()).finish_non_exhaustive()
    }
}

/// The SQL name of the table `name`: SQLite reserves names that begin with `sqlite_`.
fn not_reserved(name: &str) -> String {
    let is_reserved = name.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_"));
    if is_reserved { format!("_{name}") } else { name.to_owned() }
}

impl OpenFile {
    /// `number` is its place among all files.
    pub(super) fn new(number: usize, asset: Asset) -> Self {
        let tables = Tables::new(asset, |asset| asset.reader().tables());
        let free: Vec<String> = tables.borrow_dependent().iter().map(|table| not_reserved(table.name())).collect();
        let names = unique(free.iter().map(String::as_str));
        Self { number, tables, names, ids: HashMap::new() }
    }

    /// This file after edits: `asset`, whose tables have the same numbers here.
    pub(super) fn after(&self, asset: Asset, ids: HashMap<usize, Arc<RowIds>>) -> Result<Self> {
        let tables = Tables::try_new(asset, |asset| {
            let mut tables = asset.reader().tables();
            let wanted = self.tables().map(|wanted| {
                let found = tables.iter().position(|table| {
                    let names = table.columns().iter().map(|column| &column.name);
                    table.name() == wanted.name() && names.eq(wanted.columns().iter().map(|column| &column.name))
                });
                let lost =
                    || refused(format!("table {} is not in the edited file, or has other columns", wanted.name()));
                found.map(|at| tables.swap_remove(at)).ok_or_else(lost)
            });
            wanted.collect::<Result<_>>()
        })?;
        Ok(Self { number: self.number, tables, names: self.names.clone(), ids })
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = &dyn Table> {
        self.tables.borrow_dependent().iter().map(|table| &**table)
    }

    /// The ids of the rows of a table, unless they are the numbers of the rows.
    pub(super) fn ids(&self, index: usize) -> Option<&Arc<RowIds>> {
        self.ids.get(&index)
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    pub(super) fn asset(&self) -> &Asset {
        self.tables.borrow_owner()
    }

    pub(super) fn name(&self) -> &str {
        self.asset().source().name()
    }

    pub(super) fn table(&self, index: usize) -> Option<&dyn Table> {
        self.tables.borrow_dependent().get(index).map(|table| &**table)
    }

    /// The names of its tables, as SQL knows them.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The names of a table's columns, as SQL knows them.
    pub(super) fn columns(&self, index: usize) -> Vec<String> {
        unique(self.shown(index).iter().map(|column| &*column.name))
    }

    /// A table that also has another name, and that name.
    pub(super) fn table_alias(&self) -> Option<(usize, &'static str)> {
        let (word, alias) = TABLE_ALIAS;
        let at = self.names.iter().position(|name| name == word)?;
        (!self.names.iter().any(|name| name.eq_ignore_ascii_case(alias))).then_some((at, alias))
    }

    /// The column of a table that is also a hidden one, after all others.
    pub(super) fn column_alias(&self, index: usize) -> Option<usize> {
        let (word, alias) = COLUMN_ALIAS;
        let columns = self.table(index)?.columns();
        let is_free = columns.len() < MOST_COLUMNS && !columns.iter().any(|c| c.name.eq_ignore_ascii_case(alias));
        columns.iter().position(|column| column.name == word).filter(|_| is_free)
    }

    fn shown(&self, index: usize) -> &[Column] {
        let columns = self.table(index).map_or(&[][..], |table| table.columns());
        columns.get(..MOST_COLUMNS).unwrap_or(columns)
    }

    /// The statement that declares a table's columns to SQLite.
    pub(super) fn declaration(&self, index: usize) -> String {
        let names = self.columns(index);
        let columns = names.iter().zip(self.shown(index));
        let mut columns: Vec<String> =
            columns.map(|(name, c)| format!("{} {}", quoted(name), declared(c.kind))).collect();
        if let Some(column) = self.column_alias(index).and_then(|at| self.shown(index).get(at)) {
            columns.push(format!("{} {} HIDDEN", COLUMN_ALIAS.1, declared(column.kind)));
        }
        format!("CREATE TABLE x({})", columns.join(", "))
    }

    /// A table's columns with their types, for people.
    pub(super) fn described(&self, index: usize) -> String {
        let names = self.columns(index);
        let columns = names.iter().zip(self.shown(index)).map(|(name, column)| match column.kind {
            Kind::Id64 | Kind::Id32 => in_sql(name) + " ID",
            Kind::Guid => in_sql(name) + " GUID",
            Kind::Nested => in_sql(name) + " JSON",
            Kind::Any => in_sql(name),
            kind => format!("{} {}", in_sql(name), declared(kind)),
        });
        columns.collect::<Vec<_>>().join(", ")
    }

    /// Names that SQL sees otherwise than the file has them: for notes.
    pub(super) fn changes(&self) -> Vec<String> {
        let mut changes = Vec::new();
        for (index, name) in self.names.iter().enumerate() {
            let Some(table) = self.table(index) else { continue };
            if table.name() != name {
                changes.push(renaming(table.name(), name));
            }
            let renamed = self.columns(index).into_iter().zip(table.columns()).filter(|(to, from)| *to != *from.name);
            changes.extend(renamed.map(|(to, from)| format!("{name}: {}", renaming(&from.name, &to))));
            if table.columns().len() > MOST_COLUMNS {
                let all = table.columns().len();
                changes.push(format!("{name}: only the first {MOST_COLUMNS} of its {all} columns are there"));
            }
        }
        changes
    }
}

fn renaming(from: &str, to: &str) -> String {
    format!("{from:?} is called {to:?} here, as SQL has no two names that differ by case only")
}
