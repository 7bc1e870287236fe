//! Inserted rows, and items of lists.

use super::{Lookup, Outcome, Resolved, RowKey, Sharers, add_cell, keyed};
use crate::compare::same_value;
use crate::edit::{ColumnValues, EditPosition, refused};
use crate::error::Result;
use crate::table::{Accepts, Value, no_cell};
use crate::writable::{self, ValueSource, short};

impl Resolved<'_> {
    /// Notes an inserted row, with its cells by the numbers of their columns.
    pub(super) fn add(
        &mut self,
        mut key: RowKey,
        rows: &[usize],
        cells: Vec<(usize, Value<'_>)>,
        from: ValueSource,
        shown: &str,
    ) -> Result<Outcome> {
        let (list, sharers) = self.shared_list(&key)?.unzip();
        if let Some(cells) = &list {
            // A list that several keys share is written as the first one's.
            for (at, cell) in self.keys.iter().zip(&mut key.cells) {
                if let Some(own) = writable::cell(cells, *at) {
                    *cell = own.clone();
                }
            }
        }
        let mut set = self.added_cells(&key, cells, from, shown)?;
        // Of rows with one key, another one may say the same.
        for (number, &row) in rows.iter().enumerate() {
            if key.nth.is_none_or(|nth| nth == number) && self.has(row, &set)? {
                return Ok(Outcome::Held);
            }
        }
        self.rows_may_go(shown)?;
        let hash = self.hash(&key.cells);
        let mut coming = self.coming.get(&hash).map_or_else(Vec::new, Clone::clone);
        coming.retain(|number| {
            let other = &self.add[*number].0;
            other.len() == key.cells.len() && other.iter().zip(&key.cells).all(|(a, b)| same_value(a, b))
        });
        if let [number] = coming[..]
            && self.is_asked_by_others(EditPosition::Add(number), sharers.as_ref())
            && self.is_added(number, &set, list.as_ref())
        {
            self.ask(EditPosition::Add(number), sharers.as_ref(), []);
            self.last = Some(EditPosition::Add(number));
            return Ok(Outcome::Done);
        }
        let there = rows.iter().filter(|row| !self.remove.contains(row)).count();
        if there > 0 && (key.nth.is_none() && rows.len() == 1 || key.nth.is_some_and(|nth| nth < rows.len())) {
            return Ok(Outcome::LeftOut(format!("{shown}: it is there already, with other values")));
        }
        if !coming.is_empty() && key.nth.is_none() {
            return Err(refused(format!("{shown}: it is added twice")));
        }
        match self.list_of(&key)? {
            Lookup::Found(cells) => set.extend(cells.into_iter().filter(|(at, _)| !self.keys.contains(at))),
            Lookup::LeftOut(why) => return Ok(Outcome::LeftOut(format!("{shown}: {why}"))),
        }
        set.sort_by_key(|(column, _)| *column);
        let at = EditPosition::Add(self.add.len());
        self.ask(at, sharers.as_ref(), []);
        self.last = Some(at);
        self.coming.entry(hash).or_default().push(self.add.len());
        self.add.push((key.cells, set));
        Ok(Outcome::Done)
    }

    /// The cells of an inserted row, in the order of their columns.
    fn added_cells(
        &self,
        key: &RowKey,
        mut cells: Vec<(usize, Value<'_>)>,
        from: ValueSource,
        shown: &str,
    ) -> Result<ColumnValues> {
        // Ids precede their texts.
        cells.sort_by_key(|(at, _)| *at);
        let is_item = self.table.nature().item().is_some();
        let mut set = ColumnValues::with_capacity(self.keys.len() + cells.len());
        let keys = self.keys.iter().zip(&key.cells).map(|(at, cell)| (*at, cell.clone(), ValueSource::Typed, is_item));
        let told = cells.into_iter().filter(|(_, given)| !given.is_null()).map(|(at, given)| (at, given, from, false));
        for (at, given, from, decides) in keys.chain(told) {
            let column = &self.table.columns()[at];
            let cell = match column.accepts {
                Accepts::Nothing if decides => (at, given.clone().into_owned()),
                // A row of another file has all cells, including derived ones.
                Accepts::Nothing => continue,
                _ => self.cell_of(at, given.clone(), from, None)?,
            };
            add_cell(&*self.table, &mut set, at, cell, &given).map_err(|error| error.context(shown.to_owned()))?;
        }
        Ok(set)
    }

    /// The list that an item is added to, if several keys share it: its cells for the first of them, and the keys.
    pub(super) fn shared_list(&self, key: &RowKey) -> Result<Option<(ColumnValues, Sharers)>> {
        let (Some(_), Some(of), Some(cell)) = (self.table.nature().item(), self.keys.first(), key.cells.first()) else {
            return Ok(None);
        };
        let table = keyed(self.known.as_ref(), &*self.table);
        let mut lists = if table.stored_len().is_some() { table.lists(*of, cell)? } else { Vec::new() };
        let Some(list) = lists.pop().filter(|list| lists.is_empty() && !list.shared.is_empty()) else {
            return Ok(None);
        };
        let all = list.shared.iter().map(|cells| self.list_key(cells)).collect::<Result<_>>()?;
        let sharers = Sharers { own: self.list_key(&list.cells)?.0, all };
        Ok(list.shared.into_iter().next().map(|cells| (cells, sharers)))
    }

    fn list_key(&self, cells: &ColumnValues) -> Result<(u64, String)> {
        self.sharer(|column| {
            let cell = writable::cell(cells, column).cloned();
            cell.ok_or_else(|| no_cell(self.table.name(), 0, column))
        })
    }

    /// Whether an added row has these cells, besides the cells of the list that it comes to.
    pub(super) fn is_added(&self, number: usize, set: &ColumnValues, list: Option<&ColumnValues>) -> bool {
        let (_, added) = &self.add[number];
        let own = added
            .iter()
            .filter(|(at, _)| self.keys.contains(at) || list.is_none_or(|list| writable::cell(list, *at).is_none()));
        let own: Vec<_> = own.collect();
        own.len() == set.len() && own.iter().zip(set).all(|(a, b)| a.0 == b.0 && same_value(&a.1, &b.1))
    }

    /// The cells that identify the list of an inserted item, unless there is no such list, or its number is too large.
    pub(super) fn list_of(&mut self, key: &RowKey) -> Result<Lookup<ColumnValues>> {
        let (Some(_), Some(of), Some(cell)) = (self.table.nature().item(), self.keys.first(), key.cells.first()) else {
            return Ok(Lookup::Found(ColumnValues::new()));
        };
        let lists = keyed(self.known.as_ref(), &*self.table).lists(*of, cell)?;
        let [list] = &lists[..] else {
            return Ok(Lookup::LeftOut(match lists.len() {
                0 => format!("not found: nothing that has such a list is {}", short(cell)),
                more => format!("{more} lists have this key"),
            }));
        };
        // The last part of the key is the number of the item.
        let owner = self.hash(&key.cells[..key.cells.len() - 1]);
        let more = self.items.entry(owner).or_default();
        let next = list.len + *more;
        if let Some(Value::Uint(index)) = key.cells.last()
            && usize::try_from(*index).is_ok_and(|index| index > next)
        {
            return Ok(Lookup::LeftOut(format!("{index} is beyond the next, which is {next}")));
        }
        *more += 1;
        Ok(Lookup::Found(list.cells.clone()))
    }
}
