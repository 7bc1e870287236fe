//! A file as lines of text that stay where they are: what `git diff` and `git log -p` compare.
//!
//! Tables come in the order of the reader, rows in the order of their keys, and each cell is a line of its own. Where rows
//! lie, and how they are stored, is left out, so that the same contents are the same text. The key of a row begins a line,
//! its cells are indented: a change shows below the row that it is in.

use crate::ask::diff;
use crate::asset::Asset;
use crate::clean::clean;
use crate::error::{Error, Result};
use crate::table::{Role, Table, Value};
use std::io::{self, Write};

/// Writes `asset` as lines. Cells and rows that are damaged are a line that says so, and told to `damaged`.
///
/// # Errors
/// When `out` fails.
pub fn write(asset: &Asset, out: &mut dyn Write, mut damaged: impl FnMut(Error)) -> io::Result<()> {
    let version = asset.reader().version();
    writeln!(out, "format: {}", asset.format())?;
    if !version.is_empty() {
        writeln!(out, "version: {}", clean(&version))?;
    }
    for table in asset.reader().tables() {
        let mut lines = Lines { table: &*table, out, damaged: &mut damaged };
        lines.table()?;
    }
    Ok(())
}

struct Lines<'t> {
    table: &'t dyn Table,
    out: &'t mut dyn Write,
    damaged: &'t mut dyn FnMut(Error),
}

impl Lines<'_> {
    fn table(&mut self) -> io::Result<()> {
        let table = self.table;
        writeln!(self.out, "\n[{}]", clean(table.name()))?;
        let cells: Vec<usize> = (0..table.columns().len()).filter(|&at| is_shown(table, at)).collect();
        let mut seeker = diff::Seeker::new(table);
        for (key, row) in self.rows()? {
            writeln!(self.out, "{}", clean(&key))?;
            // A row is located once for all of its cells.
            let found = match seeker.at(u32::try_from(row).unwrap_or(u32::MAX)) {
                Ok(found) => found,
                Err(error) => {
                    self.damage("row", error)?;
                    continue;
                }
            };
            for &at in &cells {
                let Some(column) = table.columns().get(at) else { continue };
                match found.value(at) {
                    Ok(value) => leaves(&mut column.name.to_string(), &value, self.out)?,
                    Err(error) => self.damage(&column.name, error)?,
                }
            }
        }
        Ok(())
    }

    /// All rows, in the order of their keys; as they lie where they have none.
    fn rows(&mut self) -> io::Result<Vec<(Box<str>, usize)>> {
        let mut rows = Vec::new();
        let mut cursor = self.table.cursor(0);
        loop {
            match cursor.advance() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.damage("rows", error)?;
                    break;
                }
            }
            rows.push(cursor.row());
        }
        drop(cursor);
        let key = |row: usize| -> Result<Box<str>> {
            let key = diff::key_of_row(self.table, row)?;
            Ok(match key {
                Value::Map(parts) => {
                    let parts: Vec<String> = parts.iter().map(|(_, part)| part.to_string()).collect();
                    parts.join("  ").into()
                }
                key => key.to_string().into(),
            })
        };
        let keyed = rows.into_iter().map(|row| (key(row).unwrap_or_else(|error| error.to_string().into()), row));
        let mut keyed: Vec<(Box<str>, usize)> = keyed.collect();
        if self.table.columns().iter().any(|column| column.role == Role::Key) {
            keyed.sort();
        }
        Ok(keyed)
    }

    fn damage(&mut self, name: &str, error: Error) -> io::Result<()> {
        writeln!(self.out, "\t{}: damaged: {error}", clean(name))?;
        (self.damaged)(error);
        Ok(())
    }
}

/// Whether a column says something that is neither a key, which the row's line says, nor a place.
fn is_shown(table: &dyn Table, at: usize) -> bool {
    let column = table.columns().get(at);
    column.is_some_and(|column| !matches!(column.role, Role::Key | Role::Place))
}

/// Writes `value`, which is called `name`, as a line for each part that is no list of plain values. `name` is the same
/// again afterwards. Null is no line.
fn leaves(name: &mut String, value: &Value<'_>, out: &mut dyn Write) -> io::Result<()> {
    let len = name.len();
    match value {
        Value::Null => {}
        Value::Map(parts) => {
            for (part, value) in parts {
                name.push('.');
                name.push_str(part);
                leaves(name, value, out)?;
                name.truncate(len);
            }
        }
        Value::List(parts) if parts.iter().any(|part| matches!(part, Value::Map(_) | Value::List(_))) => {
            for (index, value) in parts.iter().enumerate() {
                name.push_str(&format!("[{index}]"));
                leaves(name, value, out)?;
                name.truncate(len);
            }
        }
        value => writeln!(out, "\t{}: {}", clean(name), clean(&value.to_string()))?,
    }
    Ok(())
}
