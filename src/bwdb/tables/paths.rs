use super::super::Database;
use super::super::paths::hash;
use crate::codec::cityhash64;
use crate::error::Result;
use crate::table::{Column, Kind, RowCursor, Table, Value, no_cell};
use hashbrown::HashTable;

/// `paths`, with a cursor that keeps the folder of the row before.
#[derive(Debug)]
pub(super) struct PathsTable<'a> {
    db: &'a Database,
    columns: [Column; 4],
}

impl<'a> PathsTable<'a> {
    pub(super) fn new(db: &'a Database) -> Self {
        let columns = [
            Column::new("id", Kind::Id64).key(),
            Column::new("parent_id", Kind::Id64).reference(),
            Column::new("name", Kind::Text),
            Column::new("path", Kind::Text).brief().resolved(),
        ];
        Self { db, columns }
    }

    fn cell(&self, row: usize, column: usize) -> Result<Value<'a>> {
        let paths = self.db.paths();
        let entry = paths.entries().get(row).ok_or_else(|| no_cell("paths", row, column))?;
        Ok(match column {
            0 => Value::Id64(entry.self_id.get()),
            1 => Value::Id64(entry.parent_id.get()),
            2 => Value::text(paths.name(entry)?),
            3 => Value::owned(paths.seek_path(row)?),
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
        Box::new(PathCursor {
            table: self,
            next: first,
            folders: Folders::default(),
            text: String::new(),
            failed: None,
        })
    }

    fn cursor_over(&self, first: usize, columns: &[usize]) -> Box<dyn RowCursor + '_> {
        // Without paths there is nothing to keep between rows.
        if columns.contains(&3) { self.cursor(first) } else { Box::new(EntryCursor { table: self, next: first }) }
    }

    fn finds(&self, column: usize) -> bool {
        matches!(column, 0 | 3)
    }

    fn find(&self, column: usize, key: &Value<'_>) -> Option<Result<Vec<usize>>> {
        let id = match (column, key) {
            (0, Value::Id64(id)) => *id,
            (3, Value::Text(path)) => cityhash64(path.as_bytes()),
            _ => return None,
        };
        let paths = self.db.paths();
        let found = paths.seek(id);
        Some(match (found, key) {
            (Some(row), Value::Text(path)) => {
                paths.seek_path(row).map(|p| if p == **path { vec![row] } else { Vec::new() })
            }
            (found, _) => Ok(found.into_iter().collect()),
        })
    }

    fn label(&self) -> usize {
        3
    }
}

/// A walk over entries as they lie in the file.
struct EntryCursor<'t, 'a> {
    table: &'t PathsTable<'a>,
    next: usize,
}

impl RowCursor for EntryCursor<'_, '_> {
    fn advance(&mut self) -> Result<bool> {
        if self.next >= self.table.db.paths().len() {
            return Ok(false);
        }
        self.next = self.next.saturating_add(1);
        Ok(true)
    }

    fn row(&self) -> usize {
        self.next.saturating_sub(1)
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        self.table.cell(self.row(), column)
    }
}

struct PathCursor<'t, 'a> {
    table: &'t PathsTable<'a>,
    next: usize,
    folders: Folders,
    /// The path of the current row.
    text: String,
    failed: Option<usize>,
}

/// Paths of folders that rows lie in, with the '/' behind them: most rows share their folder with others.
#[derive(Default)]
struct Folders {
    places: HashTable<(u64, std::ops::Range<usize>)>,
    text: String,
}

/// Bytes of folders that are kept. All folders of the game take two million.
const KEPT_FOLDERS: usize = 32 << 20;

impl Folders {
    fn get(&self, id: u64) -> Option<&str> {
        self.places.find(hash(id), |place| place.0 == id).and_then(|place| self.text.get(place.1.clone()))
    }

    fn put(&mut self, id: u64, path: &str) {
        if self.text.len() > KEPT_FOLDERS {
            *self = Self::default();
        }
        let start = self.text.len();
        self.text.push_str(path);
        self.places.insert_unique(hash(id), (id, start..self.text.len()), |place| hash(place.0));
    }
}

impl PathCursor<'_, '_> {
    /// Makes `text` the path of the current row.
    fn join(&mut self) -> Result<()> {
        let paths = self.table.db.paths();
        let entry = paths.entries().get(self.row()).ok_or_else(|| no_cell("paths", self.row(), 3))?;
        let folder = entry.parent_id.get();
        let name = paths.name(entry)?;
        self.text.clear();
        match self.folders.get(folder) {
            Some(path) => self.text.push_str(path),
            None => {
                if let Some(position) = paths.parent(entry, |paths, id| paths.find(id))? {
                    self.text = paths.path_at(position)?;
                    self.text.push('/');
                }
                self.folders.put(folder, &self.text);
            }
        }
        self.text.push_str(name);
        Ok(())
    }
}

impl RowCursor for PathCursor<'_, '_> {
    fn advance(&mut self) -> Result<bool> {
        if self.next >= self.table.db.paths().len() {
            return Ok(false);
        }
        self.next = self.next.saturating_add(1);
        self.failed = self.join().is_err().then_some(self.row());
        Ok(true)
    }

    fn row(&self) -> usize {
        self.next.saturating_sub(1)
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        match column {
            // A row whose path failed says so through the table.
            3 if self.failed != Some(self.row()) => Ok(Value::text(&self.text)),
            _ => self.table.cell(self.row(), column),
        }
    }
}
