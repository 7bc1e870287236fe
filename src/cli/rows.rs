//! The selected rows of a table.

use super::{Context, Failure};
use crate::error::{Error, Result as AssetResult};
use crate::table::filter::{self, Bound, Filter, Literal, Op};
use crate::table::glob::Glob;
use crate::table::{Region, RowCursor, Table, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;

#[derive(Clone)]
pub(super) struct SelectedRows<'a> {
    pub(super) table: &'a dyn Table,
    filter: Option<Bound>,
    pattern: Pattern,
    place: Option<Region>,
    limit: usize,
    /// The columns that the caller reads, if it knows them.
    columns: Option<Vec<usize>>,
}

#[derive(Clone)]
enum Pattern {
    All,
    Glob(Glob),
    /// Without wildcards: the text itself, or a folder of that name.
    Exact(String),
}

impl Pattern {
    fn new(text: &str) -> Result<Self, Failure> {
        if Glob::is_glob(text) {
            Ok(Self::Glob(Glob::smart_case(text)?))
        } else {
            Ok(Self::Exact(text.trim_end_matches('/').into()))
        }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::All => true,
            Self::Glob(glob) => glob.is_match(text),
            Self::Exact(exact) => {
                text.strip_prefix(exact.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
        }
    }
}

/// Handles damage during a walk: in the row with this number, or after the last row that can be found. An error ends the walk;
/// otherwise the row is skipped.
pub(super) type OnDamage<'a> = &'a dyn Fn(Option<usize>, Error) -> Result<(), Failure>;

impl<'a> SelectedRows<'a> {
    pub(super) fn new(table: &'a dyn Table) -> Self {
        Self { table, filter: None, pattern: Pattern::All, place: None, limit: usize::MAX, columns: None }
    }

    pub(super) fn with_condition(self, condition: Option<&str>) -> Result<Self, Failure> {
        Ok(Self { filter: condition.map(|text| Filter::parse(text)?.bind(self.table.columns())).transpose()?, ..self })
    }

    pub(super) fn with_name(self, name: Option<&str>) -> Result<Self, Failure> {
        Ok(Self { pattern: name.map_or(Ok(Pattern::All), Pattern::new)?, ..self })
    }

    pub(super) fn with_place(self, place: Option<Region>) -> Self {
        Self { place, ..self }
    }

    /// Declares that the caller reads these columns only.
    pub(super) fn of_columns(mut self, columns: &[usize]) -> Self {
        let mut columns = columns.to_vec();
        if !matches!(self.pattern, Pattern::All) {
            columns.push(self.table.label());
        }
        self.columns = Some(columns);
        self
    }

    pub(super) fn with_limit(self, limit: Option<usize>) -> Self {
        Self { limit: limit.unwrap_or(self.limit), ..self }
    }

    fn is_meant(&self, row: &dyn RowCursor) -> AssetResult<bool> {
        if let Some(filter) = &self.filter
            && !filter.matches(row)?
        {
            return Ok(false);
        }
        if !matches!(self.pattern, Pattern::All) && !self.pattern.matches(&text_of(&row.value(self.table.label())?)) {
            return Ok(false);
        }
        self.place.as_ref().and_then(|place| self.table.is_at(row.row(), place)).unwrap_or(Ok(true))
    }

    /// The columns whose values repeat rows: see [`Column::repeats`](crate::table::Column::repeats).
    pub(super) fn repeating(&self) -> Vec<usize> {
        let columns = (0..).zip(self.table.columns());
        columns.filter(|(_, column)| column.repeats).map(|(at, _)| at).collect()
    }

    /// The columns among `repeating` with several values in the selected rows, and the condition that selects one of these values.
    /// `None` if each column has one value.
    fn of_one_thing(&self, repeating: &[usize]) -> AssetResult<Option<(Vec<&'a str>, String)>> {
        let columns = self.table.columns();
        if repeating.is_empty() {
            return Ok(None);
        }
        let mut cursor = match &self.filter {
            Some(filter) => filter.walk_over(self.table, None),
            None => self.table.cursor_over(0, None),
        };
        let (mut first, mut varies) = (Vec::new(), vec![false; repeating.len()]);
        while varies.contains(&false) && cursor.advance()? {
            if !self.is_meant(&*cursor)? {
                continue;
            }
            let values: Vec<_> = repeating.iter().map(|at| cursor.value(*at)).collect::<AssetResult<_>>()?;
            if first.is_empty() {
                first = values.into_iter().map(Value::into_owned).collect();
                continue;
            }
            varies
                .iter_mut()
                .zip(first.iter().zip(&values))
                .for_each(|(varies, (first, value))| *varies |= first != value);
        }
        let varying = repeating.iter().zip(first).zip(varies).filter(|(_, varies)| *varies);
        let (names, terms): (Vec<&str>, Vec<String>) = varying
            .map(|((at, value), _)| {
                let name = &*columns[*at].name;
                let term = match value.as_text() {
                    Some(text) => format!("{name} = '{}'", text.replace('\'', "''")),
                    None => format!("{name} is null"),
                };
                (name, term)
            })
            .unzip();
        Ok((!names.is_empty()).then(|| (names, terms.join(" and "))))
    }

    /// Passes each selected row to `each`, which returns whether it took the row. Returns the number of rows taken.
    pub(super) fn each(
        &self,
        file: &str,
        damaged: OnDamage<'_>,
        mut each: impl FnMut(&dyn RowCursor) -> Result<bool, Failure>,
    ) -> Result<usize, Failure> {
        if self.place.as_ref().is_some_and(|place| self.table.is_at(0, place).is_none()) {
            let message = format!("{file}: rows of {} have no place in space", self.table.name());
            return Err(Failure::usage(message));
        }
        let mut cursor = match &self.filter {
            Some(filter) => filter.walk_over(self.table, self.columns.as_deref()),
            None => self.table.cursor_over(0, self.columns.as_deref()),
        };
        let mut taken = 0;
        while taken < self.limit {
            match cursor.advance() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    damaged(None, error)?;
                    if !cursor.skip_damage() {
                        break;
                    }
                    continue;
                }
            }
            match self.is_meant(&*cursor) {
                Ok(true) => taken += usize::from(each(&*cursor)?),
                Ok(false) => {}
                Err(error) => damaged(Some(cursor.row()), error)?,
            }
        }
        Ok(taken)
    }
}

/// The values of a column that the condition wants other values of, as the end of a message about an empty selection.
pub(super) fn hint_of_values(condition: &str, table: &dyn Table) -> String {
    let terms = match Filter::parse(condition) {
        Ok(Filter::And(terms)) => terms,
        Ok(term) => vec![term],
        Err(_) => return String::new(),
    };
    terms.iter().find_map(|term| values_instead(term, table)).unwrap_or_default()
}

/// The texts in the column of a comparison. `None` if a row matches, or if there are too many texts to list.
fn values_instead(term: &Filter, table: &dyn Table) -> Option<String> {
    const LISTED: usize = 40;
    let Filter::Compare { column, op: Op::Eq | Op::Glob | Op::Like | Op::SqlGlob, literal: Literal::Text(wanted) } =
        term
    else {
        return None;
    };
    let index = filter::find_column(table.columns(), column).ok()?;
    let bound = term.bind(table.columns()).ok()?;
    let mut cursor = table.cursor_over(0, Some(&[index]));
    let mut values = BTreeSet::new();
    while cursor.advance().ok()? {
        if bound.matches(&*cursor).ok()? {
            return None;
        }
        if let Some(text) = cursor.value(index).ok()?.as_text()
            && !values.contains(&*text)
        {
            values.insert(text.into_owned());
        }
        if values.len() > LISTED {
            return None;
        }
    }
    let wanted = wanted.trim_matches(['*', '%']);
    let there_are = format!("values of {column}:");
    (!values.is_empty()).then(|| crate::suggest::hint_or_all(wanted, &there_are, values.iter().map(String::as_str)))
}

/// The text by which people know a cell.
pub(super) fn text_of<'v>(value: &'v Value<'_>) -> Cow<'v, str> {
    value.as_text().unwrap_or_else(|| value.to_string().into())
}

impl Context {
    /// Notes that the selected rows repeat, so that their number is not taken for the number of things.
    pub(super) fn note_repeated(&self, file: &str, rows: &SelectedRows<'_>, repeating: &[usize], option: &str) {
        // Damage was reported with the rows.
        if let Ok(Some((names, condition))) = rows.of_one_thing(repeating) {
            let (table, names) = (rows.table.name(), names.join(" and "));
            let what = format!(
                "rows of {table} repeat for each {names}; \"{condition}\" in {option} selects one, which may lack things of others"
            );
            self.note(file, &what);
        }
    }

    /// Reports the damage of a row, and skips the row.
    pub(super) fn say_damaged(&self, file: &str) -> impl Fn(Option<usize>, Error) -> Result<(), Failure> {
        move |_, error| {
            self.damaged(file, &error);
            Ok(())
        }
    }

    /// The numbers of the named columns, in the order of the names; all columns without names.
    pub(super) fn columns(&self, file: &str, table: &dyn Table, names: &[String]) -> Result<Vec<usize>, Failure> {
        let all = table.columns();
        if names.is_empty() {
            return Ok((0..all.len()).collect());
        }
        let mut columns = Vec::with_capacity(names.len());
        for name in names {
            let column = filter::find_column(all, name.trim()).map_err(|_| {
                let hint = crate::table::hint_of_columns(name.trim(), "it has", all);
                Failure::usage(format!("{file}: {} has no column {name:?}{hint}", table.name()))
            })?;
            if columns.contains(&column) {
                return Err(Failure::usage(format!("{file}: column {name:?} is named twice")));
            }
            columns.push(column);
        }
        Ok(columns)
    }
}
