//! Exported rows: each names a row of the file, and may have other cells.

use super::{Outcome, Resolved, RowKey, StoredRow, is_derived, is_shown_as, keyed, misfit};
use crate::compare::{hash_values, same_value};
use crate::edit::read::Given;
use crate::edit::{ColumnValues, refused};
use crate::error::Result;
use crate::table::{Accepts, Kind, Role, Value};
use crate::writable::{self, ValueSource, short};
use std::collections::{HashMap, VecDeque};

/// Cells by the numbers of their columns.
type CellsOf<'v> = Vec<(usize, Value<'v>)>;

/// An exported row whose key several rows have. It is known which one it is once all exported rows with the key are known.
pub(super) struct Unmatched {
    key: Vec<Value<'static>>,
    cells: CellsOf<'static>,
    from: ValueSource,
    insert: bool,
    shown: String,
    /// Its number among the exported rows.
    number: usize,
}

impl Unmatched {
    /// Whether the exported row has a cell of this column.
    fn gives(&self, column: usize) -> bool {
        self.cells.iter().any(|(given, _)| *given == column)
    }
}

/// The rows with one key, and the rows that no exported row is yet.
struct Candidates {
    rows: Vec<usize>,
    /// The rows by their position in the file.
    at: HashMap<u64, VecDeque<usize>>,
    alike: Alike,
}

/// The cells that make an exported row equal to a row of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Equality {
    /// All cells of the exported row.
    Full,
    /// The cells that can be written. Other cells may follow from rows or files that have changed since the export.
    Writable,
}

/// Rows that may be equal to exported rows.
struct Alike {
    by: Equality,
    /// The rows by the hash of the columns `compared`.
    rows: HashMap<u64, VecDeque<usize>>,
    compared: Vec<usize>,
    /// The comparisons that are left. Rows of one key that are hard to tell apart must not take time that grows with their square.
    budget: usize,
}

impl Resolved<'_> {
    /// Notes the edits that make the row with the key of an exported row equal to it. `None` if several rows have the key:
    /// [`Resolved::match_exported`] decides among them.
    pub(in crate::edit) fn exported(
        &mut self,
        cells: Given<'_>,
        from: ValueSource,
        insert: bool,
    ) -> Result<Option<Outcome>> {
        let number = self.rows;
        self.rows += 1;
        let named = self.numbered(cells)?;
        if named.is_empty() {
            return Err(refused(format!("{}: a row without columns", self.table.name())));
        }
        let key = self.exported_key(&named, from, number)?;
        let shown = match &key[..] {
            [only] => self.shown(only),
            more => format!("{} {}", self.table.name(), more.iter().map(short).collect::<Vec<_>>().join(", ")),
        };
        let (rows, sharers) = self.rows_of(&key)?;
        if rows.len() > 1 || self.keys.is_empty() {
            let cells = named.into_iter().map(|(at, value)| (at, value.into_owned())).collect();
            self.unmatched.push(Unmatched { key, cells, from, insert, shown, number });
            return Ok(None);
        }
        let Some(&row) = rows.first() else {
            let key = RowKey { cells: key, nth: None };
            return self.new_row(key, &rows, named, from, insert, &shown).map(Some);
        };
        self.exported_as(StoredRow { row, sharers }, &named, from, &shown).map(Some)
    }

    /// Takes one of the table's rows that are shown as these empty cells, unless all were exported. All calls have the same cells.
    pub(in crate::edit) fn take_blank(&mut self, cells: &Given<'_>, from: ValueSource) -> Result<bool> {
        let left = match self.blanks {
            Some(left) => left,
            None => self.count_blank(cells, from)?,
        };
        self.blanks = Some(left.saturating_sub(1));
        Ok(left > 0)
    }

    fn count_blank(&mut self, cells: &Given<'_>, from: ValueSource) -> Result<usize> {
        let named = self.numbered(cells.clone())?;
        let rows = if self.keys.is_empty() {
            (0..self.table.len()?).collect()
        } else {
            // A key that is no text cannot be empty.
            match self.exported_key(&named, from, self.rows) {
                Ok(key) => self.rows_of(&key)?.0,
                Err(_) => return Ok(0),
            }
        };
        let is_blank = |row: &usize| {
            named.iter().all(|(at, value)| self.table.value(*row, *at).is_ok_and(|now| is_shown_as(&now, value, from)))
        };
        Ok(rows.iter().filter(|row| is_blank(row)).count())
    }

    /// Inserts an exported row that has no row in the file.
    fn new_row(
        &mut self,
        key: RowKey,
        rows: &[usize],
        mut named: CellsOf<'_>,
        from: ValueSource,
        insert: bool,
        shown: &str,
    ) -> Result<Outcome> {
        if !insert {
            return Ok(Outcome::LeftOut(format!("{shown}: not found; --insert adds rows")));
        }
        named.retain(|(at, value)| !self.keys.contains(at) && !is_shown_as(&Value::Null, value, from));
        self.add(key, rows, named, from, shown)
    }

    /// Notes the edits that make `row` equal to an exported row with its key.
    fn exported_as(
        &mut self,
        row: StoredRow,
        named: &[(usize, Value<'_>)],
        from: ValueSource,
        shown: &str,
    ) -> Result<Outcome> {
        if !self.seen.insert(row.identity()) {
            return Err(refused(format!("{shown}: there are two rows of it")));
        }
        let asked = self.exported_cells(row.row, named, from).map_err(|error| error.context(shown))?;
        if asked.is_empty() {
            return Ok(Outcome::Held);
        }
        self.put(&row, asked, shown)?;
        Ok(Outcome::Done)
    }

    /// Decides which rows the exported rows are whose keys several rows have: an equal row, else the row at the position that
    /// the exported row states. The order of the exported rows decides nothing.
    pub(in crate::edit) fn match_exported(&mut self) -> Result<Vec<Outcome>> {
        let (mut groups, mut places) = (Vec::<Vec<Unmatched>>::new(), HashMap::new());
        for row in std::mem::take(&mut self.unmatched) {
            let place = if self.keys.is_empty() { 0 } else { self.hash(&row.key) };
            let place = *places.entry(place).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.push(row),
                None => groups.push(vec![row]),
            }
        }
        let mut outcomes = Vec::new();
        groups.into_iter().try_for_each(|group| self.match_group(group, &mut outcomes))?;
        Ok(outcomes)
    }

    /// Matches the exported rows that have one key.
    fn match_group(&mut self, group: Vec<Unmatched>, outcomes: &mut Vec<Outcome>) -> Result<()> {
        let Some(first) = group.first() else { return Ok(()) };
        let rows = if self.keys.is_empty() { (0..self.table.len()?).collect() } else { self.rows_of(&first.key)?.0 };
        let (mut moved, mut differing) = (false, Vec::new());
        let mut same = self.alike(&rows, &group, Equality::Full);
        for row in group {
            match self.equal_row(&mut same, &row)? {
                Some(equal) => {
                    moved |= equal != row.number;
                    self.seen.insert((equal, 0));
                    outcomes.push(Outcome::Held);
                }
                None => differing.push(row),
            }
        }
        if differing.is_empty() {
            return Ok(());
        }
        let mut candidates = self.candidates(rows, &differing)?;
        let mut rest = Vec::new();
        for row in differing {
            let here = self.row_at(&mut candidates, &row)?;
            match here.filter(|here| self.is_equal(*here, &row, Equality::Writable)) {
                Some(here) => {
                    moved |= here != row.number;
                    outcomes.push(self.exported_as(
                        StoredRow { row: here, sharers: None },
                        &row.cells,
                        row.from,
                        &row.shown,
                    )?);
                }
                None => rest.push((here, row)),
            }
        }
        let mut edited = Vec::new();
        for (here, row) in rest {
            match here {
                None if let Some(equal) = self.equal_row(&mut candidates.alike, &row)? => {
                    moved |= equal != row.number;
                    self.seen.insert((equal, 0));
                    outcomes.push(Outcome::Held);
                }
                _ => edited.push((here, row)),
            }
        }
        // Rows without keys and positions are known by their numbers, if all are there and none has another place.
        let has_order = self.keys.is_empty() && !moved && self.rows >= candidates.rows.len();
        for (here, row) in edited {
            let here = here.or_else(|| candidates.rows.get(row.number).copied().filter(|_| has_order));
            outcomes.push(self.edited_row(&mut candidates, here, row, has_order)?);
        }
        Ok(())
    }

    /// Notes the edits of an exported row that differs from the row at its position, `here`, if that is known.
    fn edited_row(
        &mut self,
        candidates: &mut Candidates,
        here: Option<usize>,
        row: Unmatched,
        has_order: bool,
    ) -> Result<Outcome> {
        if let Some(here) = here {
            let is_whole = !has_order && self.is_whole(&row);
            if is_whole && let Some(other) = self.equal_row(&mut candidates.alike, &row)? {
                let what = "it equals row";
                return Err(refused(format!(
                    "{}: {what} {other}, and states the position of row {here}: which of both it is cannot be known",
                    row.shown
                )));
            }
            return self.exported_as(StoredRow { row: here, sharers: None }, &row.cells, row.from, &row.shown);
        }
        let many = candidates.rows.len();
        if candidates.rows.iter().all(|row| self.seen.contains(&(*row, 0))) {
            let Unmatched { key, cells, from, insert, shown, .. } = row;
            let key = RowKey { cells: key, nth: (!self.keys.is_empty()).then_some(many) };
            return self.new_row(key, &candidates.rows, cells, from, insert, &shown);
        }
        let how = match self.position_column() {
            Some(at) => format!("column {} states which", self.table.columns()[at].name),
            None => "edit it by SQL, or as a row of `diff -f patch`".to_owned(),
        };
        if self.keys.is_empty() {
            let name = self.table.name();
            return Err(refused(format!("{name}: its rows have no key, and no row equals this one: {how}")));
        }
        Err(refused(format!("{}: {many} rows have this key, and none of them equals this row: {how}", row.shown)))
    }

    fn candidates(&self, rows: Vec<usize>, group: &[Unmatched]) -> Result<Candidates> {
        let mut at = HashMap::<u64, VecDeque<usize>>::new();
        if let Some(position) = self.position_column().filter(|at| group.iter().any(|row| row.gives(*at))) {
            for &row in &rows {
                at.entry(self.hash([&self.table.value(row, position)?])).or_default().push_back(row);
            }
        }
        let alike = self.alike(&rows, group, Equality::Writable);
        Ok(Candidates { rows, at, alike })
    }

    fn alike(&self, rows: &[usize], group: &[Unmatched], by: Equality) -> Alike {
        /// Comparisons for each row.
        const TIMES: usize = 64;
        let columns = self.table.columns().iter().enumerate();
        let compared = columns.filter(|(at, column)| {
            !matches!(column.accepts, Accepts::Path | Accepts::Name)
                && (by == Equality::Full || column.accepts != Accepts::Nothing)
                && !matches!(column.kind, Kind::Any | Kind::Nested)
                && !self.keys.contains(at)
                && group.iter().all(|row| row.gives(*at))
        });
        let compared: Vec<usize> = compared.map(|(at, _)| at).collect();
        let mut alike = HashMap::<u64, VecDeque<usize>>::new();
        for &row in rows {
            let cells = compared.iter().map(|at| Ok(comparable(self.table.value(row, *at)?)));
            // A row that cannot be read equals none.
            if let Ok(cells) = cells.collect::<Result<Vec<_>>>() {
                alike.entry(hash_values(&cells, &self.state)).or_default().push_back(row);
            }
        }
        let budget = rows.len().saturating_add(group.len()).saturating_mul(TIMES);
        Alike { by, rows: alike, compared, budget }
    }

    /// The first column with a position of the row in the file, such as its number.
    fn position_column(&self) -> Option<usize> {
        let mut columns = self.table.columns().iter();
        columns.position(|column| column.role == Role::Place && column.accepts == Accepts::Nothing)
    }

    /// The row at the position that an exported row states, if that has its key. Of several ones, the first that is no
    /// exported row yet.
    fn row_at(&self, candidates: &mut Candidates, row: &Unmatched) -> Result<Option<usize>> {
        let Some(at) = self.position_column() else { return Ok(None) };
        let Some((_, given)) = row.cells.iter().find(|(given, _)| *given == at) else { return Ok(None) };
        let kind = self.table.columns()[at].kind;
        let Some(given) = writable::typed(kind, given, row.from, None) else { return Ok(None) };
        let Some(rows) = candidates.at.get_mut(&self.hash([&given])) else { return Ok(None) };
        while rows.len() > 1 && rows.front().is_some_and(|first| self.seen.contains(&(*first, 0))) {
            rows.pop_front();
        }
        for &other in &*rows {
            if same_value(&self.table.value(other, at)?, &given) {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// Whether an exported row equals `row`.
    fn is_equal(&mut self, row: usize, exported: &Unmatched, by: Equality) -> bool {
        let derived = self.derived.take();
        let asked = self.exported_cells(row, &exported.cells, exported.from);
        let other = std::mem::replace(&mut self.derived, derived);
        asked.is_ok_and(|asked| asked.is_empty()) && (by == Equality::Writable || other.is_none())
    }

    /// Whether an exported row has all cells that can be written.
    fn is_whole(&self, row: &Unmatched) -> bool {
        let mut columns = self.table.columns().iter().enumerate();
        columns.all(|(at, column)| {
            matches!(column.accepts, Accepts::Nothing | Accepts::Path | Accepts::Name) || row.gives(at)
        })
    }

    /// The first row that equals an exported row, and is no other exported row.
    fn equal_row(&mut self, alike: &mut Alike, row: &Unmatched) -> Result<Option<usize>> {
        let cells = alike.compared.iter().map(|at| {
            let given = row.cells.iter().find(|(given, _)| given == at).map(|(_, given)| given)?;
            // CSV has no null.
            if is_shown_as(&Value::Null, given, row.from) {
                return Some(Value::Null);
            }
            writable::typed(self.table.columns()[*at].kind, given, row.from, None).map(comparable)
        });
        let Some(cells) = cells.collect::<Option<Vec<_>>>() else { return Ok(None) };
        let Some(rows) = alike.rows.get_mut(&hash_values(&cells, &self.state)) else { return Ok(None) };
        while rows.front().is_some_and(|first| self.seen.contains(&(*first, 0))) {
            rows.pop_front();
        }
        for &mut other in rows {
            let Some(budget) = alike.budget.checked_sub(1) else {
                let what = "too many rows have this key and are nearly equal: which one this is cannot be found";
                return Err(refused(format!("{}: {what}", row.shown)));
            };
            alike.budget = budget;
            if !self.seen.contains(&(other, 0)) && self.is_equal(other, row, alike.by) {
                return Ok(Some(other));
            }
        }
        Ok(None)
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

    /// The cells of an exported row that differ from the cells of `row`, except keys.
    fn exported_cells(&mut self, row: usize, named: &[(usize, Value<'_>)], from: ValueSource) -> Result<ColumnValues> {
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
        for (at, given) in named.iter().map(|(at, given)| (*at, given)) {
            if self.keys.contains(&at) {
                continue;
            }
            let (column, now) = (&self.table.columns()[at], self.table.value(row, at)?);
            if is_shown_as(&now, given, from) {
                continue;
            }
            match column.accepts {
                Accepts::Nothing => {
                    let typed = writable::typed(column.kind, given, from, Some(&now));
                    if self.derived.is_none() && !typed.is_some_and(|typed| same_value(&typed, &now)) {
                        self.derived = Some(is_derived(&*self.table, column, given).to_string());
                    }
                    continue;
                }
                // The text of an id that had no known text when the row was exported.
                Accepts::Path | Accepts::Name if is_shown_as(&Value::Null, given, from) => continue,
                _ => {}
            }
            let (column, value) =
                self.cell_of(at, given.clone(), from, Some(row).filter(|_| !retyped.contains(&at)))?;
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
}

/// A cell of an exported row, or of the file, so that equal cells have equal hashes.
fn comparable(value: Value<'_>) -> Value<'_> {
    match value {
        Value::F32(number) if !number.is_finite() => Value::Null,
        Value::F64(number) if !number.is_finite() => Value::Null,
        Value::Text(text) if text.is_empty() => Value::Null,
        other => other,
    }
}
