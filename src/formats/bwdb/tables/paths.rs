use super::super::Database;
use crate::codec::cityhash64;
use crate::error::Result;
use crate::table::{Column, IndexCursor, Kind, Literal, RowCursor, Table, Value, no_cell};
use std::cell::{Cell, OnceCell};

/// `paths`, with a cursor that writes each path over the one before.
#[derive(Debug)]
pub(super) struct PathsTable<'a> {
    db: &'a Database,
    columns: [Column; 4],
    /// Whether ids are the hashes of paths, so that a path finds its row.
    hashed: bool,
}

impl<'a> PathsTable<'a> {
    pub(super) fn new(db: &'a Database) -> Self {
        let columns = [
            Column::new("id", Kind::Id64).key(),
            Column::new("parent_id", Kind::Id64).reference(),
            Column::new("name", Kind::Text),
            Column::new("path", Kind::Text).brief().resolved(),
        ];
        Self { db, columns, hashed: db.hashes_paths() }
    }

    fn cell(&self, row: usize, column: usize) -> Result<Value<'a>> {
        let paths = self.db.paths();
        let entry = paths.entries().get(row).ok_or_else(|| no_cell("paths", row, column))?;
        Ok(match column {
            0 => Value::Id64(entry.self_id.get()),
            1 => Value::Id64(entry.parent_id.get()),
            2 => Value::text(paths.name(entry)?),
            3 => Value::owned(paths.path_at(row)?),
            _ => return Err(no_cell("paths", row, column)),
        })
    }
}

impl Table for PathsTable<'_> {
    fn name(&self) -> &str {
        "paths"
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        Ok(self.db.paths().len())
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        self.cell(row, column)
    }

    fn cursor(&self, first: usize) -> Box<dyn RowCursor + '_> {
        Box::new(PathCursor { table: self, next: first, spare: Cell::default(), path: OnceCell::new() })
    }

    fn cursor_over(&self, first: usize, columns: &[usize]) -> Box<dyn RowCursor + '_> {
        // Without paths there is nothing to keep between rows.
        if columns.contains(&3) {
            return self.cursor(first);
        }
        let count = self.db.paths().len();
        Box::new(IndexCursor::new(self, first, move |row| Ok(row < count)))
    }

    fn splits(&self) -> bool {
        true
    }

    fn finds(&self, column: usize) -> bool {
        column == 0 || column == 3 && self.hashed
    }

    fn find(&self, column: usize, key: &Value<'_>) -> Option<Result<Vec<usize>>> {
        let id = match (column, key) {
            (0, Value::Id64(id)) => *id,
            (3, Value::Text(path)) if self.hashed => cityhash64(path.as_bytes()),
            _ => return None,
        };
        let paths = self.db.paths();
        let found = paths.find(id);
        Some(match (found, key) {
            (Some(row), Value::Text(path)) => {
                paths.path_at(row).map(|p| if p == **path { vec![row] } else { Vec::new() })
            }
            (found, _) => Ok(found.into_iter().collect()),
        })
    }

    fn search(&self, column: usize, literal: &Literal) -> Option<Vec<usize>> {
        if column == 2 { self.db.paths().search_names(literal) } else { None }
    }

    fn name_of_path(&self, column: usize) -> Option<usize> {
        (column == 3).then_some(2)
    }

    fn label(&self) -> usize {
        3
    }
}

struct PathCursor<'t, 'a> {
    table: &'t PathsTable<'a>,
    next: usize,
    /// A path that is of no use any more, for the next one to be written into.
    spare: Cell<String>,
    /// The path of the current row, once it is asked for; `None` in it where it cannot be read.
    path: OnceCell<Option<String>>,
}

impl RowCursor for PathCursor<'_, '_> {
    fn advance(&mut self) -> Result<bool> {
        if self.next >= self.table.db.paths().len() {
            return Ok(false);
        }
        self.next = self.next.saturating_add(1);
        if let Some(Some(path)) = self.path.take() {
            self.spare.set(path);
        }
        Ok(true)
    }

    fn row(&self) -> usize {
        self.next.saturating_sub(1)
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        if column == 3 {
            let join = || {
                let mut path = self.spare.take();
                self.table.db.paths().write_path(self.row(), &mut path).ok().map(|()| path)
            };
            if let Some(path) = self.path.get_or_init(join) {
                return Ok(Value::text(path));
            }
        }
        // A row whose path failed says so through the table.
        self.table.cell(self.row(), column)
    }
}
