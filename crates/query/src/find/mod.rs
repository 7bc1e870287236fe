//! Text found in the tables of files: paths, names, strings.
//!
//! A table whose texts lie together in the file is searched as one stretch of bytes, and only the hits there are looked
//! at as rows; other tables are walked row by row.

mod pattern;

pub use pattern::{Exact, Options, Pattern, Syntax};

use crate::asset::Asset;
use crate::error::{Error, Result};
use crate::reader::Reader;
use crate::report::Progress;
use crate::table::{Column, Kind, Role, RowCursor, Table, Value};
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
    let own = |table: &dyn Table| {
        let mut columns = columns(table, pattern);
        let resolved = |column: usize| table.columns().get(column).is_none_or(|c| c.role == Role::Resolved);
        columns.retain(|&column| !resolved(column) || table.name_of_path(column).is_some());
        columns
    };
    let tables = tables.into_iter().map(|table| {
        let columns = own(&*table);
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
    while paths.len() < most && rows.advance().unwrap_or(false) {
        if let Ok(value) = rows.value(label)
            && let Some(path) = value.as_text()
            && path.rsplit('/').next() == Some(name)
        {
            paths.push(path.into_owned());
        }
    }
    paths
}

/// The columns of `table` that may hold text, without columns that repeat a part of another column. For a pattern that is a
/// number or an id, also the columns of numbers and ids that are no positions in the file.
pub fn columns(table: &dyn Table, pattern: &Pattern) -> Vec<usize> {
    let all = table.columns();
    let is_name = |index: usize| (0..all.len()).any(|other| table.name_of_path(other) == Some(index));
    let is_number = |index: usize| {
        let column = all.get(index).filter(|column| column.role != Role::Place && pattern.exact().is_some());
        column.is_some_and(|column| !matches!(column.kind, Kind::Text | Kind::Bool | Kind::Nested))
    };
    let holds = |index: usize, column: &Column| column.may_hold_text() && !is_name(index) || is_number(index);
    all.iter().enumerate().filter(|(index, column)| holds(*index, column)).map(|(index, _)| index).collect()
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
pub struct Look<'l> {
    /// Whether rows are only counted: the path of a matching name is then not built, so that its text
    /// is empty and damage in its folders is not found.
    pub count_only: bool,
    /// The counter of rows that were looked at.
    pub progress: Option<&'l Progress>,
}

impl Look<'_> {
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
    each_of(table, columns, pattern, &Look::default(), damaged, each)
}

/// Passes every matching text in `columns` of `table` to `each`, in order of rows: first for each column that can be
/// searched at once, then for the others together. `damaged` gets the unreadable cells that may match.
pub fn each_of<E>(
    table: &dyn Table,
    columns: &[usize],
    pattern: &Pattern,
    look: &Look<'_>,
    mut damaged: impl FnMut(Error),
    mut each: impl FnMut(&Hit<'_>) -> Result<ControlFlow<()>, E>,
) -> Result<ControlFlow<()>, E> {
    let mut walked = Vec::new();
    for &column in columns {
        let is_text = table.columns().get(column).is_some_and(|c| matches!(c.kind, Kind::Text | Kind::Nested));
        let some = match pattern.exact() {
            // Cells of other kinds may hold the number itself, which a search over texts does not find.
            Some(exact) if !is_text => exact.rows_of(table, column).map(|rows| (rows, true)),
            _ => candidates(table, column, pattern).or_else(|| paths(table, column, pattern, look)),
        };
        let Some((rows, sure)) = some else {
            walked.push(column);
            continue;
        };
        let name = table.name_of_path(column);
        let nested = table.columns().get(column).is_some_and(|c| c.kind == Kind::Nested)
            || pattern.exact().is_some() && !is_text;
        for row in rows {
            look.advance(1);
            let row = SingleRow { table, row };
            if nested {
                if look_into(table, &row, column, pattern, &mut damaged, &mut each)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                continue;
            }
            match found(&row, column, name, pattern, sure, look) {
                Ok(None) => {}
                Ok(Some(text)) => {
                    let name = table.columns().get(column).map_or("".into(), |c| Cow::Borrowed(&*c.name));
                    if each(&Hit { row: &row, column, name, text: text.into() })?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Err(error) => damaged(error),
            }
        }
    }
    if walked.is_empty() { Ok(ControlFlow::Continue(())) } else { walk(table, &walked, pattern, look, damaged, each) }
}

/// The text of a row, if it matches.
fn found(
    row: &SingleRow<'_>,
    column: usize,
    name: Option<usize>,
    pattern: &Pattern,
    sure: bool,
    look: &Look<'_>,
) -> Result<Option<String>> {
    if let Some(name) = name.filter(|_| look.count_only && pattern.scope() == Scope::Name) {
        let matches = sure || pattern.is_match(&row.value(name)?.as_text().unwrap_or_default());
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
fn paths(table: &dyn Table, column: usize, pattern: &Pattern, look: &Look<'_>) -> Option<(Vec<usize>, bool)> {
    /// The number of rows that one core walks before a second core pays off.
    const SHARE: usize = 1 << 14;
    let name = table.name_of_path(column)?;
    let len = table.len().ok()?;
    let share = |i: usize| {
        let first = i.saturating_mul(SHARE);
        let mut rows = table.cursor(first);
        let mut found = Vec::new();
        for _ in 0..SHARE {
            if !matches!(rows.advance(), Ok(true)) {
                break;
            }
            let matches = || {
                let name = rows.value(name)?;
                let name = name.as_text().unwrap_or_default();
                if pattern.scope() == Scope::Name {
                    return Ok(pattern.is_match(&name));
                }
                let path = rows.value(column)?;
                Ok::<_, Error>(pattern.is_path_match(&path.as_text().unwrap_or_default(), name.len()))
            };
            // An unreadable row is a candidate: its reader reports the error.
            let matches = matches().unwrap_or(true);
            if matches {
                found.push(rows.row());
            }
        }
        look.advance(SHARE);
        found
    };
    Some(((0..len.div_ceil(SHARE)).into_par_iter().flat_map_iter(share).collect(), true))
}

/// Looks at every row.
fn walk<E>(
    table: &dyn Table,
    columns: &[usize],
    pattern: &Pattern,
    look: &Look<'_>,
    mut damaged: impl FnMut(Error),
    mut each: impl FnMut(&Hit<'_>) -> Result<ControlFlow<()>, E>,
) -> Result<ControlFlow<()>, E> {
    let mut rows = table.cursor(0);
    loop {
        match rows.advance() {
            Ok(true) => {}
            Ok(false) => return Ok(ControlFlow::Continue(())),
            Err(error) => {
                damaged(error);
                return Ok(ControlFlow::Continue(()));
            }
        }
        look.advance(1);
        for &column in columns {
            if look_into(table, &*rows, column, pattern, &mut damaged, &mut each)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
}

/// Hands the texts in one cell that match to `each`.
fn look_into<E>(
    table: &dyn Table,
    row: &dyn RowCursor,
    column: usize,
    pattern: &Pattern,
    damaged: &mut impl FnMut(Error),
    each: &mut impl FnMut(&Hit<'_>) -> Result<ControlFlow<()>, E>,
) -> Result<ControlFlow<()>, E> {
    let cell = match row.value(column) {
        Ok(cell) => cell,
        Err(error) => {
            damaged(error);
            return Ok(ControlFlow::Continue(()));
        }
    };
    let Some(info) = table.columns().get(column) else { return Ok(ControlFlow::Continue(())) };
    let hit = |name: &str, text: &str| each(&Hit { row, column, name: name.into(), text: text.into() });
    Inside { pattern, words: table.nature().vocabulary, hit }.look(&cell, &mut info.name.to_string())
}

/// Looks into nested values.
struct Inside<'p, H> {
    pattern: &'p Pattern,
    /// Members that hold no texts of the file.
    words: &'static [&'static str],
    hit: H,
}

impl<E, H: FnMut(&str, &str) -> Result<ControlFlow<()>, E>> Inside<'_, H> {
    /// `name` is the position of `value`; it is restored afterwards.
    fn look(&mut self, value: &Value<'_>, name: &mut String) -> Result<ControlFlow<()>, E> {
        let len = name.len();
        match value {
            Value::List(values) => {
                for (index, value) in values.iter().enumerate() {
                    name.push_str(&format!("[{index}]"));
                    let flow = self.look(value, name)?;
                    name.truncate(len);
                    if flow.is_break() {
                        return Ok(flow);
                    }
                }
            }
            Value::Map(values) => {
                for (key, value) in values {
                    if self.words.contains(&&**key) {
                        continue;
                    }
                    name.push('.');
                    name.push_str(key);
                    let flow = self.look(value, name)?;
                    name.truncate(len);
                    if flow.is_break() {
                        return Ok(flow);
                    }
                }
            }
            leaf => {
                if let Some(text) = leaf.as_text() {
                    if self.pattern.is_match(&text) {
                        return (self.hit)(name, &text);
                    }
                } else if self.pattern.exact().is_some_and(|exact| exact.is_equal(leaf)) {
                    return (self.hit)(name, &leaf.to_string());
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// One row by its number.
struct SingleRow<'t> {
    table: &'t dyn Table,
    row: usize,
}

impl RowCursor for SingleRow<'_> {
    fn advance(&mut self) -> Result<bool> {
        Ok(false)
    }

    fn row(&self) -> usize {
        self.row
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        self.table.value(self.row, column)
    }
}
