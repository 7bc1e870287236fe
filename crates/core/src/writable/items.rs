//! Lists whose items are rows of a table: the new order of each list after insertions and deletions.
//!
//! As in `diff`, a deleted item is identified by its number in the old list, an inserted item by its number in the new
//! list. The other items keep their order, so that the inverse of such an edit is such an edit, too.

use super::{EditPosition, TableEdits, refused};
use crate::error::{Error, Result};
use crate::table::{Table, Value};
use std::collections::{BTreeMap, BTreeSet};

/// An item of a new list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// The item with this number in the old list.
    Kept(usize),
    /// The item with this index among the inserted rows of the table.
    New(usize),
}

/// The edits of one list.
#[derive(Debug, Default)]
pub struct ListEdit {
    /// The row of its first item, or the row that this item would have.
    pub first: usize,
    /// The number of items.
    pub len: usize,
    /// Indexes of edited rows of the table, by the number of the item.
    pub set: BTreeMap<usize, usize>,
    /// Deleted items.
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
        let len = self.len.saturating_sub(self.remove.len()).saturating_add(self.add.len());
        let mut slots: Vec<Option<Item>> = vec![None; len];
        for (place, index) in &self.add {
            let Some(index) = *index else { continue };
            let wrong =
                |what: String| Err((EditPosition::Add(*place), refused(format!("{table}: index {index}: {what}"))));
            match slots.get_mut(index) {
                Some(slot @ None) => *slot = Some(Item::New(*place)),
                Some(_) => return wrong("two rows are inserted there".to_owned()),
                None => return wrong(format!("the list has {len} items then, from 0 on")),
            }
        }
        let kept = (0..self.len).filter(|item| !self.remove.contains(item)).map(Item::Kept);
        let last = self.add.iter().filter(|(_, index)| index.is_none()).map(|(place, _)| Item::New(*place));
        let mut others = kept.chain(last);
        Ok(slots.into_iter().map_while(|slot| slot.or_else(|| others.next())).collect())
    }

    /// The edits that change its length.
    pub fn moving(&self) -> impl Iterator<Item = EditPosition> {
        let gone = self.remove.iter().map(|item| EditPosition::Remove(self.first.saturating_add(*item)));
        self.add.iter().map(|(place, _)| EditPosition::Add(*place)).chain(gone)
    }
}

/// The edited lists of a table, by the number of their owner: the first cell of their rows.
#[derive(Debug, Default)]
pub struct Lists(pub BTreeMap<usize, ListEdit>);

impl Lists {
    /// The lists of some edits. `also` returns which edited rows change their list, too.
    ///
    /// # Errors
    /// When a row is damaged, or an inserted row names no list.
    pub fn of(table: &dyn Table, edits: &TableEdits, also: impl Fn(&super::ColumnValues) -> bool) -> Result<Self> {
        let Some(item) = table.nature().item else { return Ok(Self::default()) };
        let number = |value: &Value<'_>| match value {
            Value::Uint(number) => usize::try_from(*number).ok(),
            _ => None,
        };
        let at = |row: usize, column: usize| {
            number(&table.value(row, column)?).ok_or_else(|| crate::table::no_cell(table.name(), row, column))
        };
        let mut lists: BTreeMap<usize, ListEdit> = BTreeMap::new();
        for &row in &edits.remove {
            lists.entry(at(row, 0)?).or_default().remove.insert(at(row, item)?);
        }
        for (place, set) in edits.add.iter().enumerate() {
            let cell =
                |column: usize| set.iter().find(|(other, _)| *other == column).and_then(|(_, cell)| number(cell));
            let of = cell(0).ok_or_else(|| refused(format!("{}: an inserted row names no list", table.name())))?;
            lists.entry(of).or_default().add.push((place, cell(item)));
        }
        for (row, _) in edits.set.iter().filter(|(_, set)| also(set)) {
            lists.entry(at(*row, 0)?).or_default();
        }
        if lists.is_empty() {
            return Ok(Self::default());
        }
        for (place, (row, _)) in edits.set.iter().enumerate() {
            if let Some(list) = lists.get_mut(&at(*row, 0)?) {
                list.set.insert(at(*row, item)?, place);
            }
        }
        let rows = table.stored_len().map_or_else(|| table.len(), Ok)?;
        for (of, list) in &mut lists {
            // The first row that is not of a list before it.
            let (mut first, mut end) = (0, rows);
            while first < end {
                let middle = first.midpoint(end);
                if at(middle, 0)? < *of { first = middle + 1 } else { end = middle }
            }
            list.first = first;
            list.len = table.lists(0, &Value::from(*of))?.first().map_or(0, |list| list.len);
        }
        Ok(Self(lists))
    }

    /// The numbers of the inserted rows in the new table.
    pub fn added(&self, edits: &TableEdits) -> Vec<usize> {
        let mut numbers = vec![usize::MAX; edits.add.len()];
        let (mut came, mut went) = (0usize, 0usize);
        for list in self.0.values() {
            let first = list.first.saturating_add(came).saturating_sub(went);
            let items = list.order(&edits.table).unwrap_or_default();
            for (at, item) in items.iter().enumerate() {
                if let Item::New(place) = item
                    && let Some(number) = numbers.get_mut(*place)
                {
                    *number = first.saturating_add(at);
                }
            }
            came = came.saturating_add(list.add.len());
            went = went.saturating_add(list.remove.len());
        }
        numbers
    }

    /// Adds the rows whose number changes to the edited rows, without cells.
    pub fn note_moved(&self, edits: &mut TableEdits) {
        let mut set: BTreeMap<usize, super::ColumnValues> = std::mem::take(&mut edits.set).into_iter().collect();
        for list in self.0.values() {
            let items = list.order(&edits.table).unwrap_or_default();
            let moved = items.iter().enumerate().filter_map(|(at, item)| match item {
                Item::Kept(old) if *old != at => Some(list.first.saturating_add(*old)),
                _ => None,
            });
            for row in moved {
                set.entry(row).or_default();
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
