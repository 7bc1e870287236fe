//! The rules of declarations: how the properties of a [`Column`] and of a table's [`Nature`] may go together.

use super::{Accepts, Column, Kind, Role, Table, ValueShape, column_index};
use std::fmt::Display;

/// Lists what contradicts itself in the declarations of a file's tables, a line each. For tests of formats: an output, an edit or a
/// query relies on these rules and does not check them.
///
/// ```
/// use assetq::table::{Column, DeclaredTable, Table, validate};
///
/// let words = ["bow"];
/// let table = DeclaredTable::over("words", &words).column(Column::text("word").wide(), |(_, word)| Ok((**word).into()));
/// let tables: [Box<dyn Table>; 1] = [Box::new(table)];
/// assert_eq!(validate(&tables), ["words.word: wide, but Text"]);
/// ```
pub fn validate(tables: &[Box<dyn Table + '_>]) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        let name = table.name();
        if name.is_empty() || tables[..number].iter().any(|other| other.name() == name) {
            faults.push(format!("{name}: table {number} has no name of its own"));
        }
        let mut declaration = Declaration { table: &**table, tables, faults: &mut faults };
        for column in table.columns() {
            declaration.column(column);
        }
        declaration.nature();
    }
    faults
}

struct Declaration<'d> {
    table: &'d dyn Table,
    tables: &'d [Box<dyn Table + 'd>],
    faults: &'d mut Vec<String>,
}

/// Whether a column of this kind may hold ids whose texts another column shows: ids, or numbers with names.
fn is_of_ids(column: &Column) -> bool {
    matches!(column.kind, Kind::Id64 | Kind::Id32 | Kind::Uint | Kind::Int)
}

/// Whether values of this kind identify a row.
fn is_exact(kind: Kind) -> bool {
    !matches!(kind, Kind::F32 | Kind::F64 | Kind::Nested | Kind::Any)
}

fn is_text(column: &Column) -> bool {
    column.kind == Kind::Text
}

fn is_written(column: &Column) -> bool {
    column.accepts != Accepts::Nothing
}

impl<'d> Declaration<'d> {
    fn columns(&self) -> &'d [Column] {
        self.table.columns()
    }

    fn require(&mut self, holds: bool, column: &Column, what: impl Display) {
        if !holds {
            self.faults.push(format!("{}.{}: {what}", self.table.name(), column.name));
        }
    }

    /// Requires that a property, if declared, names another column that `fits`.
    fn names(&mut self, column: &Column, property: &str, name: Option<&str>, fits: fn(&Column) -> bool) {
        let Some(name) = name else { return };
        let named = column_index(self.table, name).map(|at| &self.columns()[at]);
        let fits = named.is_some_and(|named| named != column && fits(named));
        self.require(fits, column, format_args!("{property} {name}, which is no such column"));
    }

    fn column(&mut self, column: &Column) {
        let at = self.columns().iter().position(|other| other.name.eq_ignore_ascii_case(&column.name));
        let is_first = at.is_some_and(|at| std::ptr::eq(&self.columns()[at], column));
        self.require(is_first && !column.name.is_empty(), column, "another column has this name, or it has none");
        self.kind(column);
        self.accepts(column);
        self.role(column);
        self.names(column, "text for", column.text_for, is_of_ids);
        self.names(column, "texts of", column.texts_of, is_of_ids);
        self.names(column, "ends in", column.ends_in, is_text);
        self.names(column, "typed by", column.typed_by, is_text);
        if let Some(name) = column.refers_to {
            let target = self.tables.iter().find(|table| table.name() == name);
            let unique = target.map(|target| target.columns().iter().filter(|column| column.unique).count());
            self.require(unique == Some(1), column, format_args!("refers to {name}, where no column is unique"));
        }
    }

    /// The properties that only some kinds of cells have.
    fn kind(&mut self, column: &Column) {
        let kind = column.kind;
        let is_branch = !matches!(column.shape, Some(ValueShape::Value { .. }));
        for (is_declared, property, fits) in [
            (column.wide, "wide", kind == Kind::Uint),
            (column.shape.is_some(), "of one shape", kind == Kind::Nested && is_branch),
            (column.folders, "in folders", kind == Kind::Text),
            (column.unique, "unique", is_exact(kind)),
            (column.role == Role::Key, "a key", is_exact(kind)),
            (column.role == Role::Resolved, "resolved", kind == Kind::Text),
            (column.ends_in.is_some(), "a path that ends in a name", kind == Kind::Text),
            (column.texts_of.is_some(), "texts of ids", matches!(kind, Kind::Text | Kind::Any)),
            (column.typed_by.is_some(), "of different types", kind == Kind::Any),
        ] {
            self.require(!is_declared || fits, column, format_args!("{property}, but {kind:?}"));
        }
    }

    fn accepts(&mut self, column: &Column) {
        let (kind, accepts) = (column.kind, column.accepts);
        let fits = match accepts {
            Accepts::Nothing | Accepts::Any | Accepts::OrNull => true,
            Accepts::Bits(bits) => matches!(kind, Kind::Uint | Kind::Int) && (1..=64).contains(&bits),
            Accepts::Bytes(bytes) => kind == Kind::Text && bytes > 0,
            Accepts::Numbers(count) => kind == Kind::Nested && count > 0,
            Accepts::Path | Accepts::Name => column.role == Role::Resolved,
        };
        self.require(fits, column, format_args!("accepts {accepts:?}, but is {:?}, {kind:?}", column.role));
        let id = match accepts {
            Accepts::Path => Kind::Id64,
            Accepts::Name => Kind::Id32,
            _ => return,
        };
        // A writer puts the id of the text into the previous column.
        let is_before = self.ids(column).is_some_and(|ids| ids.kind == id && is_written(ids));
        let is_before = is_before && column.text_for.is_none();
        self.require(is_before, column, format_args!("accepts {accepts:?}, but no {id:?} before it is written"));
    }

    fn role(&mut self, column: &Column) {
        match column.role {
            Role::Resolved => {
                self.require(self.ids(column).is_some_and(is_of_ids), column, "resolved, but of no column of ids");
                let is_stored = is_written(column) && !matches!(column.accepts, Accepts::Path | Accepts::Name);
                self.require(!is_stored && column.texts_of.is_none(), column, "resolved, but has values of its own");
            }
            _ => self.require(column.text_for.is_none(), column, "text for another column, but not resolved"),
        }
    }

    /// The column of the ids whose texts `column` shows.
    fn ids(&self, column: &Column) -> Option<&'d Column> {
        let at = match column.text_for {
            Some(name) => column_index(self.table, name)?,
            None => column_index(self.table, &column.name)?.checked_sub(1)?,
        };
        self.columns().get(at)
    }

    fn nature(&mut self) {
        let (table, columns, nature) = (self.table, self.columns(), self.table.nature());
        let is_key = |at: usize| columns[at].role == Role::Key;
        let has_item = nature.item().is_none_or(|item| {
            let keys: Vec<usize> = (0..columns.len()).filter(|at| is_key(*at)).collect();
            // Items are grouped by the number of their owner, in the first column.
            let is_numbered = [0, item].iter().all(|at| columns.get(*at).is_some_and(|c| c.kind == Kind::Uint));
            keys.len() > 1 && keys.last() == Some(&item) && !is_written(&columns[item]) && is_numbered
        });
        let has_ids = columns.iter().any(|c| c.role == Role::Key && matches!(c.kind, Kind::Id64 | Kind::Id32));
        let label = columns.get(table.label());
        let leaves = nature.leaves.is_none_or(|leaves| {
            let [path, value, graph] = [leaves.path, leaves.value, leaves.graph].map(|at| columns.get(at));
            path.is_some_and(is_text) && value.is_some() && graph.is_some_and(is_text)
        });
        let folders = columns.iter().filter(|column| column.folders);
        for (holds, what) in [
            (!columns.is_empty(), "no columns"),
            (!(nature.random_access && nature.sequential), "random access, but found by a walk"),
            (has_item, "items, but the last key does not number them"),
            (nature.item().is_none() || table.stored_rows().is_some(), "items, but of no lists"),
            (!nature.dictionary || has_ids && columns.iter().any(is_text), "a dictionary, but without ids and texts"),
            (label.is_some_and(|label| label.kind != Kind::Nested), "a label that is no column, or nested"),
            (leaves, "leaves, but not their columns"),
            (folders.count() <= 1, "folders of two columns"),
        ] {
            if !holds {
                self.faults.push(format!("{}: {what}", table.name()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::DeclaredTable;
    use super::*;
    use crate::table::Value;

    /// The faults of a table `t` with these columns.
    fn faults(columns: &[Column]) -> Vec<String> {
        faults_of(columns, |table| table)
    }

    type Declared = DeclaredTable<'static, ()>;

    fn faults_of(columns: &[Column], more: impl FnOnce(Declared) -> Declared) -> Vec<String> {
        let table = DeclaredTable::new("t", || Ok(0), |_| Ok(None));
        let table: Box<dyn Table> = Box::new(more(table.columns(columns.iter().cloned(), |_, _| Ok(Value::Null))));
        validate(&[table])
    }

    #[test]
    fn texts_of_ids_follow_their_ids() {
        let (id, path) = (Column::id64("id").key().writable(), Column::text("path").resolved());
        assert_eq!(faults(&[id.clone(), path.clone().accepts(Accepts::Path)]), [""; 0]);
        assert_eq!(faults(&[path.clone(), id.clone()]), ["t.path: resolved, but of no column of ids"]);
        assert_eq!(faults(&[path.clone().text_for("id"), id.clone()]), [""; 0]);
        assert_eq!(
            faults(&[path.clone().text_for("key"), id.clone()]),
            ["t.path: resolved, but of no column of ids", "t.path: text for key, which is no such column"]
        );
        assert_eq!(faults(&[id.clone(), path.clone().writable()]), ["t.path: resolved, but has values of its own"]);
        assert_eq!(
            faults(&[Column::id64("id"), path.accepts(Accepts::Path)]),
            ["t.path: accepts Path, but no Id64 before it is written"]
        );
        assert_eq!(
            faults(&[id, Column::text("path").accepts(Accepts::Path)])[0],
            "t.path: accepts Path, but is Value, Text"
        );
    }

    #[test]
    fn properties_fit_the_kinds_of_cells() {
        for (column, fault) in [
            (Column::text("a").accepts(Accepts::Bits(8)), "t.a: accepts Bits(8), but is Value, Text"),
            (Column::uint("a").accepts(Accepts::Bits(65)), "t.a: accepts Bits(65), but is Value, Uint"),
            (Column::uint("a").accepts(Accepts::Numbers(3)), "t.a: accepts Numbers(3), but is Value, Uint"),
            (Column::f32("a").key(), "t.a: a key, but F32"),
            (Column::f32("a").unique(), "t.a: unique, but F32"),
            (Column::uint("a").in_folders(), "t.a: in folders, but Uint"),
            (Column::text("a").shaped(Some(ValueShape::of(Kind::Text))), "t.a: of one shape, but Text"),
            (Column::uint("a").refers_to("other"), "t.a: refers to other, where no column is unique"),
            (Column::text("a").ends_in("a"), "t.a: ends in a, which is no such column"),
        ] {
            assert_eq!(faults(&[column]), [fault]);
        }
        let twice = faults(&[Column::uint("a"), Column::uint("A")]);
        assert_eq!(twice, ["t.A: another column has this name, or it has none"]);
    }

    #[test]
    fn the_last_key_numbers_the_items_of_a_list() {
        let [owner, index, later] = ["owner", "index", "later"].map(Column::uint);
        let of_no_lists = "t: items, but of no lists";
        assert_eq!(faults_of(&[owner.clone().key(), index.clone().key()], Declared::with_items), [of_no_lists]);
        let unnumbered = "t: items, but the last key does not number them";
        assert_eq!(faults_of(&[owner.key(), index.key(), later], Declared::with_items), [unnumbered, of_no_lists]);
    }
}
