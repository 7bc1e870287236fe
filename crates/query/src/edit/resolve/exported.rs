//! Exported rows, which name what is there and may differ from it.

use super::{Key, Outcome, Resolved, StoredRow, is_derived, is_shown_as, keyed, misfit};
use crate::compare::same_value;
use crate::edit::read::Given;
use crate::edit::{ColumnValues, refused};
use crate::error::Result;
use crate::table::{Accepts, Value};
use crate::writable::{self, ValueSource, short};

impl Resolved<'_> {
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
        let (rows, sharers) = self.rows_of(&key)?;
        let mut nth = 0;
        if rows.len() > 1 {
            let times = self.times.entry(self.hash(&key)).or_default();
            nth = *times;
            *times += 1;
        }
        let Some(&row) = rows.get(nth) else {
            if !insert {
                return Ok(Outcome::LeftOut(format!("{shown}: not found; --insert adds rows")));
            }
            named.retain(|(at, value)| !self.keys.contains(at) && !is_shown_as(&Value::Null, value, from));
            let key = Key { cells: key, nth: (!rows.is_empty()).then_some(nth) };
            return self.add(key, &rows, named, from, &shown);
        };
        let row = StoredRow { row, sharers };
        if !self.seen.insert(row.identity()) {
            return Err(refused(format!("{shown}: there are two rows of it")));
        }
        let asked = self.exported_cells(row.row, named, from)?;
        if asked.is_empty() {
            return Ok(Outcome::Held);
        }
        self.put(&row, asked, &shown)?;
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
                let (table, name) = (self.table.name(), &column.name);
                return Err(refused(format!("{table}: rows are known by column {name}, which is not there")));
            };
            key.push(writable::key(column, given).ok_or_else(|| {
                misfit(&*self.table, column, given, format_args!("does not fit: {}", writable::what_fits(column)))
            })?);
        }
        if self.keys.is_empty() {
            key.push(number.into());
        }
        // CSV has one form for no text and for an empty one.
        let has_empty = from.is_text() && key.iter().any(|cell| matches!(cell, Value::Text(text) if text.is_empty()));
        if has_empty && self.rows_of(&key)?.0.is_empty() {
            let nulls = key.iter().map(|cell| match cell {
                Value::Text(text) if text.is_empty() => Value::Null,
                other => other.clone(),
            });
            let nulls: Vec<Value<'static>> = nulls.collect();
            let takes_null = self.keys.iter().any(|at| self.table.columns()[*at].accepts == Accepts::OrNull);
            if takes_null || !self.rows_of(&nulls)?.0.is_empty() {
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
            let (column, now) = (&self.table.columns()[at], self.table.value(row, at)?);
            if is_shown_as(&now, &given, from) {
                continue;
            }
            match column.accepts {
                Accepts::Nothing => {
                    let typed = writable::typed(column.kind, &given, from, Some(&now));
                    if self.derived.is_none() && !typed.is_some_and(|typed| same_value(&typed, &now)) {
                        self.derived = Some(is_derived(&*self.table, column, &given).to_string());
                    }
                    continue;
                }
                Accepts::Path | Accepts::Name if !matches!(&given, Value::Text(t) if !t.is_empty()) => continue,
                _ => {}
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
        let table = keyed(self.known.as_ref(), &*self.table);
        let mut missing = Vec::new();
        for row in 0..table.len()? {
            let row = self.stored(table, row)?;
            if !self.seen.contains(&row.identity()) {
                missing.push(row);
            }
        }
        if !missing.is_empty() {
            self.rows_may_go(self.table.name())?;
        }
        let name = self.table.name().to_owned();
        missing.iter().try_for_each(|row| self.remove(row, &name).map(drop))?;
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
