//! Lists whose items are rows of a table: the new order of each list after insertions and deletions.
//!
//! As in `diff`, a deleted item is identified by its number in the old list, an inserted item by its number in the new
//! list. The other items keep their order, so that the inverse of such an edit is such an edit, too.

use super::{EditPosition, TableEdits, cell, refused};
use crate::error::{Error, Result};
use crate::table::{Table, Value};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// The item with this number in the old list.
    Kept(usize),
    /// The item with this index among the inserted rows of the table.
    New(usize),
}

#[derive(Debug, Default)]
pub struct ListEdit {
    /// The row of its first item, or the row that this item would have.
    pub first: usize,
    pub len: usize,
    /// Indexes of edited rows of the table, by the number of the item.
    pub set: BTreeMap<usize, usize>,
    pub remove: BTreeSet<usize>,
    /// Indexes of inserted rows of the table, with the requested number of each.
    add: Vec<(usize, Option<usize>)>,
}

impl ListEdit {
    /// The items of the new list: inserted items at their requested numbers, or last, and all others in their order.
    ///
    /// # Errors
    /// The impossible edit, and why.
    pub fn order(&self, table: &str) -> Result<Vec<Item>, (EditPosition, Error)> {
        let len = self.len + self.add.len() - self.remove.len();
        let mut slots: Vec<Option<Item>> = vec![None; len];
        for (place, index) in &self.add {
            let Some(index) = *index else { continue };
            let what = match slots.get_mut(index) {
                Some(slot @ None) => {
                    *slot = Some(Item::New(*place));
                    continue;
                }
                Some(_) => "two rows are inserted there".to_owned(),
                None => format!("the list has {len} items then, from 0 on"),
            };
            return Err((EditPosition::Add(*place), refused(format!("{table}: index {index}: {what}"))));
        }
        let kept = (0..self.len).filter(|item| !self.remove.contains(item)).map(Item::Kept);
        let last = self.add.iter().filter(|(_, index)| index.is_none()).map(|(place, _)| Item::New(*place));
        let mut others = kept.chain(last);
        Ok(slots.into_iter().map_while(|slot| slot.or_else(|| others.next())).collect())
    }

    /// The edits that change its length.
    pub fn moving(&self) -> impl Iterator<Item = EditPosition> {
        let gone = self.remove.iter().map(|item| EditPosition::Remove(self.first + *item));
        self.add.iter().map(|(place, _)| EditPosition::Add(*place)).chain(gone)
    }
}

fn number(value: &Value<'_>) -> Option<usize> {
    match value {
        Value::Uint(number) => usize::try_from(*number).ok(),
        _ => None,
    }
}

fn number_at(table: &dyn Table, row: usize, column: usize) -> Result<usize> {
    number(&table.value(row, column)?).ok_or_else(|| crate::table::no_cell(table.name(), row, column))
}

/// The edited lists of a table, by the number of their owner: the first cell of their rows.
#[derive(Debug, Default)]
pub struct Lists(pub BTreeMap<usize, ListEdit>);

impl Lists {
    /// The lists of some edits. `also` returns which edited rows change their list, too.
    ///
    /// # Errors
    /// When a row is damaged, or an inserted row names no list.
    pub fn new(table: &dyn Table, edits: &TableEdits, also: impl Fn(&super::ColumnValues) -> bool) -> Result<Self> {
        let Some(item) = table.nature().item() else { return Ok(Self::default()) };
        let mut lists: BTreeMap<usize, ListEdit> = BTreeMap::new();
        for &row in &edits.remove {
            lists.entry(number_at(table, row, 0)?).or_default().remove.insert(number_at(table, row, item)?);
        }
        for (place, set) in edits.add.iter().enumerate() {
            let of = cell(set, 0).and_then(number);
            let of = of.ok_or_else(|| refused(format!("{}: an inserted row names no list", table.name())))?;
            lists.entry(of).or_default().add.push((place, cell(set, item).and_then(number)));
        }
        for (row, _) in edits.set.iter().filter(|(_, set)| also(set)) {
            lists.entry(number_at(table, *row, 0)?).or_default();
        }
        if lists.is_empty() {
            return Ok(Self::default());
        }
        for (place, (row, _)) in edits.set.iter().enumerate() {
            if let Some(list) = lists.get_mut(&number_at(table, *row, 0)?) {
                list.set.insert(number_at(table, *row, item)?, place);
            }
        }
        let rows = table.stored_len().map_or_else(|| table.len(), Ok)?;
        for (of, list) in &mut lists {
            // The first row that is not of a list before it.
            let (mut first, mut end) = (0, rows);
            while first < end {
                let middle = first.midpoint(end);
                if number_at(table, middle, 0)? < *of { first = middle + 1 } else { end = middle }
            }
            list.first = first;
            list.len = table.lists(0, &Value::from(*of))?.first().map_or(0, |list| list.len);
        }
        Ok(Self(lists))
    }

    /// The numbers of the inserted rows in the new table.
    pub fn added(&self, edits: &TableEdits) -> Vec<usize> {
        let mut numbers = vec![usize::MAX; edits.add.len()];
        let (mut came, mut went) = (0, 0);
        for list in self.0.values() {
            // The writer refuses the edits of a list that has no new order.
            for (at, item) in list.order(&edits.table).into_iter().flatten().enumerate() {
                if let Item::New(place) = item {
                    numbers[place] = list.first + came - went + at;
                }
            }
            came += list.add.len();
            went += list.remove.len();
        }
        numbers
    }

    /// Adds the rows whose number changes to the edited rows, without cells.
    pub fn note_moved(&self, edits: &mut TableEdits) {
        let mut set: BTreeMap<usize, super::ColumnValues> = std::mem::take(&mut edits.set).into_iter().collect();
        for list in self.0.values() {
            for (at, item) in list.order(&edits.table).into_iter().flatten().enumerate() {
                if let Item::Kept(old) = item
                    && old != at
                {
                    set.entry(list.first + old).or_default();
                }
            }
        }
        edits.set = set.into_iter().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(len: usize, remove: &[usize], add: &[Option<usize>]) -> ListEdit {
        let add = add.iter().copied().enumerate().collect();
        ListEdit { len, remove: remove.iter().copied().collect(), add, ..ListEdit::default() }
    }

    #[test]
    fn items_that_come_lie_where_they_say_and_others_keep_their_order() {
        use Item::{Kept, New};
        let order = |edit: ListEdit| edit.order("lods").unwrap();
        assert_eq!(order(edit(3, &[1], &[])), [Kept(0), Kept(2)]);
        assert_eq!(order(edit(2, &[], &[Some(2), Some(3)])), [Kept(0), Kept(1), New(0), New(1)]);
        assert_eq!(order(edit(2, &[], &[Some(0), None])), [New(0), Kept(0), Kept(1), New(1)]);
        assert_eq!(order(edit(2, &[0], &[Some(0)])), [New(0), Kept(1)]);
        assert_eq!(order(edit(2, &[0, 1], &[])), []);
    }

    #[test]
    fn numbers_that_cannot_be_are_named() {
        let (at, error) = edit(2, &[], &[Some(2), Some(2)]).order("lods").unwrap_err();
        assert_eq!(
            (at, error.to_string().as_str()),
            (EditPosition::Add(1), "lods: index 2: two rows are inserted there")
        );
        let (at, error) = edit(2, &[1], &[Some(2)]).order("lods").unwrap_err();
        let what = "lods: index 2: the list has 2 items then, from 0 on";
        assert_eq!((at, error.to_string().as_str()), (EditPosition::Add(0), what));
    }
}
