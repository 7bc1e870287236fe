//! Exported rows, which name what is there and may differ from it.

use super::{Found, Key, Outcome, Resolved, is_derived, is_shown_as};
use crate::compare::same_value;
use crate::edit::read::Given;
use crate::edit::{ColumnValues, refused};
use crate::error::{Error, Result};
use crate::table::{Accepts, Value};
use crate::writable::{self, ValueSource, short};

impl Resolved<'_> {
    /// Takes an exported row.
    ///
    /// # Errors
    /// As [`Resolved::edit`].
    pub(in crate::edit) fn exported(&mut self, cells: Given<'_>, from: ValueSource, insert: bool) -> Result<Outcome> {
        let number = self.rows;
        self.rows += 1;
        let mut named = self.numbered(cells)?;
        if named.is_empty() {
            return Err(refused(format!("{}: a row without columns", self.table.name())));
        }
        let key = self.exported_key(&named, from, number)?;
        let shown = match &key[..] {
            [only] => self.shown(only),
            more => format!("{} {}", self.table.name(), more.iter().map(short).collect::<Vec<_>>().join(", ")),
        };
        let Found { rows, sharers } = self.rows_of(&key, None)?;
        let nth = match rows.len() {
            0 | 1 => 0,
            _ => {
                let hash = self.hash(&key);
                let times = self.times.entry(hash).or_default();
                let nth = *times;
                *times += 1;
                nth
            }
        };
        let Some(&row) = rows.get(nth) else {
            if !insert {
                return Ok(Outcome::LeftOut(format!("{shown}: not found; --insert adds rows")));
            }
            let empty = |value: &Value<'_>| {
                value.is_null() || (from.is_text() && matches!(value, Value::Text(t) if t.is_empty()))
            };
            named.retain(|(at, value)| !self.keys.contains(at) && !empty(value));
            let key = Key { cells: key, nth: (!rows.is_empty()).then_some(nth) };
            return self.add(key, &rows, named, from, None, &shown);
        };
        if !self.seen.insert((row, sharers.as_ref().map_or(0, |sharers| sharers.own))) {
            return Err(refused(format!("{shown}: there are two rows of it")));
        }
        let asked = self.exported_cells(row, named, from)?;
        if asked.is_empty() {
            return Ok(Outcome::Held);
        }
        self.put(row, sharers.as_ref(), asked, &shown)?;
        Ok(Outcome::Done)
    }

    /// The key of exported row `number`, with the cells `named`.
    fn exported_key(
        &mut self,
        named: &[(usize, Value<'_>)],
        from: ValueSource,
        number: usize,
    ) -> Result<Vec<Value<'static>>> {
        let mut key = Vec::with_capacity(self.keys.len());
        for &at in &self.keys {
            let column = &self.table.columns()[at];
            let Some((_, given)) = named.iter().find(|(other, _)| *other == at) else {
                let name = &column.name;
                return Err(refused(format!(
                    "{}: rows are known by column {name}, which is not there",
                    self.table.name()
                )));
            };
            let cell = writable::key(column, given).ok_or_else(|| {
                refused(format!(
                    "{}: column {}: {} does not fit: {}",
                    self.table.name(),
                    column.name,
                    short(given),
                    writable::what_fits(column)
                ))
            })?;
            key.push(cell);
        }
        if self.keys.is_empty() {
            key.push(number.into());
        }
        // CSV has one form for no text and for an empty one.
        let has_empty = from.is_text() && key.iter().any(|cell| matches!(cell, Value::Text(text) if text.is_empty()));
        if has_empty && self.rows_of(&key, None)?.rows.is_empty() {
            let or_null = |cell: &Value<'static>| match cell {
                Value::Text(text) if text.is_empty() => Value::Null,
                other => other.clone(),
            };
            let nulls: Vec<Value<'static>> = key.iter().map(or_null).collect();
            let takes_null = |at: &usize| self.table.columns().get(*at).is_some_and(|c| c.accepts == Accepts::OrNull);
            if self.keys.iter().any(takes_null) || !self.rows_of(&nulls, None)?.rows.is_empty() {
                key = nulls;
            }
        }
        Ok(key)
    }

    /// The cells of an exported row that differ from those of `row`.
    fn exported_cells(
        &mut self,
        row: usize,
        named: Vec<(usize, Value<'_>)>,
        from: ValueSource,
    ) -> Result<ColumnValues> {
        let retyped: Vec<usize> = (0..self.table.columns().len())
            .filter(|at| {
                let types = self.table.typed_by(*at);
                let given = types.and_then(|types| named.iter().find(|(other, _)| *other == types));
                given.is_some_and(|(types, given)| {
                    self.table.value(row, *types).is_ok_and(|now| !is_shown_as(&now, given, from))
                })
            })
            .collect();
        let mut asked = ColumnValues::new();
        for (at, given) in named {
            if self.keys.contains(&at) {
                continue;
            }
            let Some(column) = self.table.columns().get(at) else { continue };
            let now = self.table.value(row, at)?;
            if is_shown_as(&now, &given, from) {
                continue;
            }
            if column.accepts == Accepts::Nothing {
                let is_same =
                    || writable::typed(column.kind, &given, from, Some(&now)).is_some_and(|v| same_value(&v, &now));
                if self.derived.is_none() && !is_same() {
                    self.derived = Some(is_derived(&*self.table, column, &given).to_string());
                }
                continue;
            }
            if matches!(column.accepts, Accepts::Path | Accepts::Name)
                && !matches!(&given, Value::Text(t) if !t.is_empty())
            {
                continue;
            }
            let (column, value) = self.cell_of(at, given, from, Some(row).filter(|_| !retyped.contains(&at)))?;
            if !same_value(&self.table.value(row, column)?, &value) {
                asked.push((column, value));
            }
        }
        Ok(asked)
    }

    /// Deletes the rows that no exported row names; returns their number.
    pub(in crate::edit) fn delete_missing(&mut self) -> Result<usize> {
        let missing = self.keyed(None, |table| {
            let mut missing = Vec::new();
            for row in 0..table.len()? {
                let (row, sharers) = self.stored(table, row)?;
                if !self.seen.contains(&(row, sharers.as_ref().map_or(0, |sharers| sharers.own))) {
                    missing.push((row, sharers));
                }
            }
            Ok::<_, Error>(missing)
        })?;
        if !missing.is_empty() {
            self.rows_may_go(self.table.name())?;
        }
        let name = self.table.name().to_owned();
        for (row, sharers) in &missing {
            self.remove(*row, sharers.as_ref(), &name)?;
        }
        Ok(missing.len())
    }

    /// If rows have no keys but their numbers, all rows must have been exported.
    pub(in crate::edit) fn check_rows(&self) -> Result<()> {
        if !self.keys.is_empty() || self.rows == 0 {
            return Ok(());
        }
        let len = self.table.len()?;
        if self.rows < len {
            let (name, rows) = (self.table.name(), self.rows);
            return Err(refused(format!(
                "{name}: its rows have no key, so all {len} must be there, and these are {rows}"
            )));
        }
        Ok(())
    }
}
