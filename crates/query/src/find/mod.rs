//! Text found in the tables of files: paths, names, strings.
//!
//! A table whose texts lie together in the file is searched as one stretch of bytes, and only the hits there are looked
//! at as rows; other tables are walked row by row.

mod pattern;

pub use pattern::{Exact, Pattern, PatternOptions, Syntax};

use crate::asset::Asset;
use crate::compare::same_value;
use crate::error::{Error, Result};
use crate::reader::Reader;
use crate::report::Progress;
use crate::table::filter::picked;
use crate::table::{Kind, Role, RowCursor, Table, Value, advance};
use crate::threads::prelude::*;
use pattern::Scope;
use std::borrow::Cow;
use std::ops::ControlFlow;

/// A text that was found.
#[non_exhaustive]
pub struct Hit<'h> {
    /// The row of the match.
    pub row: &'h dyn RowCursor,
    /// The number of the column.
    pub column: usize,
    /// The name of the column; in a nested value with the position in it, such as `events[2].name`.
    pub name: Cow<'h, str>,
    /// The whole text.
    pub text: Cow<'h, str>,
}

impl std::fmt::Debug for Hit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { column, name, text, .. } = self;
        f.debug_struct("Hit").field("column", column).field("name", name).field("text", text).finish_non_exhaustive()
    }
}

/// The tables of `asset` with texts of their own, and their columns of texts; for a pattern that is a number or an id, also
/// their columns of numbers and ids. The records of a prototype database repeat its paths and strings, so that of these
/// tables only columns with nested texts count.
pub fn tables<'a>(asset: &'a Asset, pattern: &Pattern) -> Vec<(Box<dyn Table + 'a>, Vec<usize>)> {
    let mut tables = asset.reader().tables();
    tables.retain(|table| !table.nature().texts_elsewhere);
    let tables = tables.into_iter().map(|table| {
        let mut columns = columns(&*table, pattern, false);
        columns.retain(|&at| table.columns()[at].role != Role::Resolved || table.name_of_path(at).is_some());
        (table, columns)
    });
    tables.filter(|(_, columns)| !columns.is_empty()).collect()
}

/// The paths in the main table with the last component `name`: at most `most`.
pub fn paths_named(reader: &dyn Reader, name: &str, most: usize) -> Vec<String> {
    let Some(table) = reader.tables().into_iter().next() else { return Vec::new() };
    let label = table.label();
    if name.is_empty() || !table.columns().get(label).is_some_and(|column| column.folders) {
        return Vec::new();
    }
    let (mut paths, mut rows) = (Vec::new(), table.cursor(0));
    // Rows that cannot be read have no name to be known by.
    while paths.len() < most && advance(&mut *rows, drop) {
        if let Ok(value) = rows.value(label)
            && let Some(path) = value.as_text()
            && path.rsplit('/').next() == Some(name)
        {
            paths.push(path.into_owned());
        }
    }
    paths
}

/// The rows whose cell in `column` is `value`: by an index if the table has one.
pub(crate) fn rows_with(table: &dyn Table, column: usize, value: &Value<'_>) -> Result<Vec<usize>> {
    if let Some(found) = table.find(column, value) {
        return found;
    }
    let (mut rows, mut cursor) = (Vec::new(), table.cursor_over(0, Some(&[column])));
    while cursor.advance()? {
        // A row that cannot be read is not known to be one of these.
        if cursor.value(column).is_ok_and(|cell| same_value(&cell, value)) {
            rows.push(cursor.row());
        }
    }
    Ok(rows)
}

/// The columns of `table` that may hold text, without columns that repeat a part of another column. For a pattern that is a
/// number or an id, also the columns of numbers and ids; numbers of positions in the file only with `places`.
pub fn columns(table: &dyn Table, pattern: &Pattern, places: bool) -> Vec<usize> {
    let all = table.columns();
    let names: Vec<usize> = (0..all.len()).filter_map(|path| table.name_of_path(path)).collect();
    let columns = all.iter().enumerate().filter(|(index, column)| {
        let is_id = matches!(column.kind, Kind::Id64 | Kind::Id32 | Kind::Guid);
        let is_number = !matches!(column.kind, Kind::Text | Kind::Bool | Kind::Nested);
        let is_number = is_number && (is_id || places || column.role != Role::Place);
        column.may_hold_text() && !names.contains(index) || is_number && pattern.exact().is_some()
    });
    columns.map(|(index, _)| index).collect()
}

/// The rows of `table` in which `pattern` may match the text of `column`, in order, by a search over all of these texts
/// at once. If the flag is set, every readable row matches; otherwise some may not. `None` if only a check of every row
/// can answer.
pub fn candidates(table: &dyn Table, column: usize, pattern: &Pattern) -> Option<(Vec<usize>, bool)> {
    match table.name_of_path(column) {
        Some(name) => {
            let rows = table.search(name, &pattern.required_of_name()?)?;
            Some((rows, pattern.scope() == Scope::Name && pattern.whole().is_some()))
        }
        None => Some((table.search(column, pattern.required()?)?, pattern.whole().is_some())),
    }
}

/// Options of a search.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct FindOptions<'l> {
    /// Whether rows are only counted: the path of a matching name is then not built, so that its text
    /// is empty and damage in its folders is not found.
    pub count_only: bool,
    /// The counter of rows that were looked at.
    pub progress: Option<&'l Progress>,
}

impl FindOptions<'_> {
    fn advance(&self, rows: usize) {
        if let Some(progress) = self.progress {
            progress.advance(rows as u64);
        }
    }
}

/// As [`each_of`], with all texts.
pub fn each<E>(
    table: &dyn Table,
    columns: &[usize],
    pattern: &Pattern,
    damaged: impl FnMut(Error),
    each: impl FnMut(&Hit<'_>) -> Result<ControlFlow<()>, E>,
) -> Result<ControlFlow<()>, E> {
    each_of(table, columns, pattern, &FindOptions::default(), damaged, each)
}

/// Calls `each` with every matching text in `columns` of `table`, in order of rows: first for each column that can be
/// searched at once, then for the others together. `damaged` gets the unreadable cells that may match.
pub fn each_of<E>(
    table: &dyn Table,
    columns: &[usize],
    pattern: &Pattern,
    look: &FindOptions<'_>,
    damaged: impl FnMut(Error),
    each: impl FnMut(&Hit<'_>) -> Result<ControlFlow<()>, E>,
) -> Result<ControlFlow<()>, E> {
    let words = table.nature().vocabulary;
    match (Search { table, pattern, look, words, damaged, each }).run(columns) {
        ControlFlow::Continue(()) => Ok(ControlFlow::Continue(())),
        ControlFlow::Break(ended) => ended.map(ControlFlow::Break),
    }
}

/// A search in one table, which breaks if no more hits are wanted, or if the caller fails.
struct Search<'s, D, H> {
    table: &'s dyn Table,
    pattern: &'s Pattern,
    look: &'s FindOptions<'s>,
    /// Members of nested values that hold no texts of the file.
    words: &'static [&'static str],
    damaged: D,
    each: H,
}

impl<E, D: FnMut(Error), H: FnMut(&Hit<'_>) -> Result<ControlFlow<()>, E>> Search<'_, D, H> {
    fn run(&mut self, columns: &[usize]) -> ControlFlow<Result<(), E>> {
        let (table, pattern) = (self.table, self.pattern);
        let mut walked = Vec::new();
        for &column in columns {
            let kind = table.columns().get(column).map(|column| column.kind);
            let is_text = matches!(kind, Some(Kind::Text | Kind::Nested));
            let some = match pattern.exact() {
                // Cells of other kinds may hold the number itself, which a search over texts does not find.
                Some(exact) if !is_text => exact.rows_of(table, column).map(|rows| (rows, true)),
                _ => candidates(table, column, pattern).or_else(|| paths(table, column, pattern, self.look)),
            };
            let Some((rows, sure)) = some else {
                walked.push(column);
                continue;
            };
            let name = table.name_of_path(column);
            let is_nested = kind == Some(Kind::Nested) || pattern.exact().is_some() && !is_text;
            let mut row = picked(table, rows);
            while advance(&mut *row, &mut self.damaged) {
                self.look.advance(1);
                if is_nested {
                    self.look_into(&*row, column)?;
                    continue;
                }
                match found(&*row, column, name, pattern, sure, self.look) {
                    Ok(None) => {}
                    Ok(Some(text)) => self.hit(&*row, column, &table.columns()[column].name, &text)?,
                    Err(error) => (self.damaged)(error),
                }
            }
        }
        if walked.is_empty() { ControlFlow::Continue(()) } else { self.walk(&walked) }
    }

    fn walk(&mut self, columns: &[usize]) -> ControlFlow<Result<(), E>> {
        let mut rows = self.table.cursor(0);
        while advance(&mut *rows, &mut self.damaged) {
            self.look.advance(1);
            for &column in columns {
                self.look_into(&*rows, column)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Passes the matching texts in one cell to the caller.
    fn look_into(&mut self, row: &dyn RowCursor, column: usize) -> ControlFlow<Result<(), E>> {
        match row.value(column) {
            Ok(cell) => self.look_at(row, column, &cell, &mut self.table.columns()[column].name.to_string())?,
            Err(error) => (self.damaged)(error),
        }
        ControlFlow::Continue(())
    }

    /// `name` is the position of `value` in the cell; it is restored afterwards.
    fn look_at(
        &mut self,
        row: &dyn RowCursor,
        column: usize,
        value: &Value<'_>,
        name: &mut String,
    ) -> ControlFlow<Result<(), E>> {
        let len = name.len();
        match value {
            Value::List(values) => {
                for (index, value) in values.iter().enumerate() {
                    name.push_str(&format!("[{index}]"));
                    self.look_at(row, column, value, name)?;
                    name.truncate(len);
                }
            }
            Value::Map(values) => {
                for (key, value) in values {
                    if self.words.contains(&&**key) {
                        continue;
                    }
                    name.push('.');
                    name.push_str(key);
                    self.look_at(row, column, value, name)?;
                    name.truncate(len);
                }
            }
            leaf => {
                if let Some(text) = leaf.as_text() {
                    if self.pattern.is_match(&text) {
                        self.hit(row, column, name, &text)?;
                    }
                } else if self.pattern.exact().is_some_and(|exact| exact.is_equal(leaf)) {
                    self.hit(row, column, name, &leaf.to_string())?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn hit(&mut self, row: &dyn RowCursor, column: usize, name: &str, text: &str) -> ControlFlow<Result<(), E>> {
        match (self.each)(&Hit { row, column, name: name.into(), text: text.into() }) {
            Ok(ControlFlow::Continue(())) => ControlFlow::Continue(()),
            Ok(ControlFlow::Break(())) => ControlFlow::Break(Ok(())),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }
}

fn found(
    row: &dyn RowCursor,
    column: usize,
    name: Option<usize>,
    pattern: &Pattern,
    sure: bool,
    look: &FindOptions<'_>,
) -> Result<Option<String>> {
    if let Some(name) = name.filter(|_| look.count_only && pattern.scope() == Scope::Name) {
        let matches = sure || row.value(name)?.as_text().is_some_and(|name| pattern.is_match(&name));
        return Ok(matches.then(String::new));
    }
    let cell = row.value(column)?;
    let Some(text) = cell.as_text() else { return Ok(None) };
    let matches = match name {
        _ if sure => true,
        Some(name) => {
            let name = row.value(name)?;
            pattern.is_path_match(&text, name.as_text().map_or(0, |name| name.len()))
        }
        None => pattern.is_match(&text),
    };
    Ok(matches.then(|| text.into_owned()))
}

/// The rows whose path may match, by a check of each of them on all cores. `None` if `column` holds no paths.
fn paths(table: &dyn Table, column: usize, pattern: &Pattern, look: &FindOptions<'_>) -> Option<(Vec<usize>, bool)> {
    /// The number of rows that one core walks before a second core pays off.
    const SHARE: usize = 1 << 14;
    let name = table.name_of_path(column)?;
    let len = table.len().ok()?;
    let found = (0..len.div_ceil(SHARE)).into_par_iter().flat_map_iter(|share| {
        let mut rows = table.cursor(share * SHARE);
        let mut found = Vec::new();
        for _ in 0..SHARE {
            if !matches!(rows.advance(), Ok(true)) {
                break;
            }
            // An unreadable row is a candidate: its reader reports the error.
            if is_path_match(&*rows, column, name, pattern).unwrap_or(true) {
                found.push(rows.row());
            }
        }
        look.advance(SHARE);
        found
    });
    Some((found.collect(), true))
}

/// Whether the path of a row matches, whose last component is in column `name`.
fn is_path_match(row: &dyn RowCursor, column: usize, name: usize, pattern: &Pattern) -> Result<bool> {
    let name = row.value(name)?;
    let Some(name) = name.as_text() else { return Ok(false) };
    if pattern.scope() == Scope::Name {
        return Ok(pattern.is_match(&name));
    }
    Ok(row.value(column)?.as_text().is_some_and(|path| pattern.is_path_match(&path, name.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, DeclaredTable};

    /// The debug output of a hit shows where its text is.
    #[test]
    fn debug_output_of_a_hit_has_its_column_and_its_text() {
        let texts = ["hull", "deck"];
        let table = DeclaredTable::new("names", move || Ok(2), move |row| Ok(texts.get(row).copied()))
            .column(Column::text("name"), |text| Ok(Value::text(text)));
        let pattern = Pattern::new("deck", PatternOptions::default()).unwrap();
        let mut shown = Vec::new();
        let found = each(&table, &[0], &pattern, drop, |hit| {
            shown.push(format!("{hit:?}"));
            Ok::<_, Error>(ControlFlow::Continue(()))
        });
        assert!(found.unwrap().is_continue());
        assert_eq!(shown, ["Hit { column: 0, name: \"name\", text: \"deck\", .. }"]);
    }
}
