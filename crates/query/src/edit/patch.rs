//! Patches: changes as rows that [`Editor`] takes, each complete, with stored values.

use super::editor::writable;
use super::resolve::fixed_rows;
use super::{Cells, Change, ColumnValues, Edit, Editor, Item, ListEdit, Lists, NTH, TableEdits, refused};
use crate::asset::Asset;
use crate::compare::{DifferenceKind, Pair, hash_values, same_value};
use crate::diff::{self, Side};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::report::Progress;
use crate::table::{Accepts, Column, Role, RowEdits, Table, Value};
use crate::writable::{self, Nth, key_hashes, keys};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};
use std::fmt;
use std::hash::RandomState;

fn row(edit: Edit) -> Value<'static> {
    let (kind, new) = match edit.change {
        Change::Set(new) => (DifferenceKind::Changed, Value::Map(new)),
        Change::Add(new) => (DifferenceKind::Added, Value::Map(new)),
        Change::Remove => (DifferenceKind::Removed, Value::Null),
    };
    Value::Map(vec![
        ("table".into(), edit.table.map(|table| table.to_string()).into()),
        ("change".into(), kind.name().into()),
        ("key".into(), edit.key),
        ("old".into(), edit.old.map_or(Value::Null, Value::Map)),
        ("new".into(), new),
    ])
}

fn edit(table: &str, key: Value<'static>, old: Option<Cells>, change: Change) -> Edit {
    Edit { old, ..Edit::new(Some(table), key, change) }
}

/// Whether a patch contains a column.
fn is_stored(column: &Column) -> bool {
    !matches!(column.accepts, Accepts::Nothing | Accepts::Path | Accepts::Name)
}

/// Whether a patch can contain rows of a table.
pub(super) fn is_written(table: &dyn Table) -> bool {
    table.nature().row_edits != RowEdits::None || table.columns().iter().any(is_stored)
}

/// The writable cells of a row besides its keys, with stored values: the row of a patch that inserts or deletes it.
fn stored(table: &dyn Table, row: usize) -> Result<Cells> {
    let columns = table.columns().iter().enumerate();
    let written = columns.filter(|(_, column)| is_stored(column) && column.role != Role::Key);
    written.map(|(at, column)| Ok((column.name.clone(), table.value(row, at)?.into_owned()))).collect()
}

/// Differences that no patch can express.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Unpatched {
    /// How many rows differ still once the patch is made, by table.
    pub tables: Vec<(String, u64)>,
    /// Why, of the first rows that cannot be written.
    pub reasons: Vec<String>,
    /// Damage of the old file that keeps rows from being written.
    damage: Vec<Error>,
}

impl Unpatched {
    /// As many as people read.
    const REASONS: usize = 8;

    fn refused(&mut self, table: &str, error: Error) {
        self.count(table, self.counted(table) + 1);
        if !is_damage(&error) {
            self.reason(error);
        } else if self.damage.len() < Self::REASONS {
            self.damage.push(error);
        }
    }

    fn reason(&mut self, reason: impl fmt::Display) {
        let reason = reason.to_string();
        if self.reasons.len() < Self::REASONS && !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    fn counted(&self, table: &str) -> u64 {
        self.tables.iter().find(|(name, _)| name == table).map_or(0, |(_, count)| *count)
    }

    /// Notes that at least `count` rows of a table still differ.
    fn count(&mut self, table: &str, count: u64) {
        match self.tables.iter_mut().find(|(name, _)| name == table) {
            Some((_, known)) => *known = count.max(*known),
            None if count > 0 => self.tables.push((table.to_owned(), count)),
            None => {}
        }
    }

    /// Whether the patch makes of the old file all that the new one is.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.reasons.is_empty()
    }
}

/// Whether an edit failed because the file cannot be read, rather than because it is refused.
fn is_damage(error: &Error) -> bool {
    error.offset().is_some() || matches!(error.kind(), ErrorKind::Damaged { .. } | ErrorKind::Io { .. })
}

/// Compares `old` with `new` and calls `each` with every row of the patch, `damaged` with every row that cannot be read.
/// Compares only `tables`, if some are named. An editor has accepted each row, and the file that all rows make was compared
/// with `new`.
///
/// # Errors
/// `Syntax` if the format cannot be written, or lacks one of the tables, and the errors of `each`.
pub fn between(
    old: &Asset,
    new: &Asset,
    options: &Options,
    tables: &[String],
    damaged: &mut dyn FnMut(Side, Error),
    each: &mut dyn FnMut(Value<'static>) -> Result<()>,
) -> Result<Unpatched> {
    let writable = writable(old)?;
    let mut wanted: Vec<String> = match tables {
        [] => writable.patched().unwrap_or_else(|| {
            let all = old.reader().tables();
            let told = all.iter().filter(|table| is_written(&***table) && !table.nature().derived);
            told.map(|table| table.name().to_owned()).collect()
        }),
        some => some.to_vec(),
    };
    // Rows of other tables have the keys after its edits.
    wanted.sort_by_key(|name| writable.keying() != Some(name));
    let mut editor = Editor::with_options(old, options)?;
    let mut draft = Draft { new, options, damaged, left: Unpatched::default() };
    let mut told = false;
    let mut near = None;
    for name in &wanted {
        let edits = if writable.keying() == Some(name) {
            draft.keying(old, name)?
        } else {
            let known = editor.known()?;
            let known = known.as_ref().unwrap_or(old);
            draft.edits(known, name, near.get_or_insert_with(|| Near::between(known, new)))?
        };
        let edits = taken(&mut editor, name, edits, &mut draft.left);
        editor.edits(edits.iter().cloned())?;
        told |= !edits.is_empty();
        edits.into_iter().try_for_each(|edit| each(row(edit)))?;
    }
    let Draft { mut left, damaged, .. } = draft;
    std::mem::take(&mut left.damage).into_iter().for_each(|error| damaged(Side::Old, error));
    let made = match told.then(|| editor.finish()).transpose() {
        Ok(Some(plan)) if plan.makes(new.source().bytes()) => return Ok(left),
        Ok(Some(plan)) => plan.asset(),
        Ok(None) => Ok(old.clone()),
        Err(error) => Err(error),
    };
    let made = match made {
        Ok(made) => made,
        Err(error) if is_damage(&error) => {
            damaged(Side::Old, error);
            return Ok(left);
        }
        Err(error) => {
            left.reason(format!("these rows together: {error}"));
            return Ok(left);
        }
    };
    for table in diff::tables(&made, new, tables)? {
        let found = table.find(&Progress::default(), 0);
        left.count(table.name(), found.len() as u64);
        // The faults of tables that a patch contains are known from their own comparison.
        if table.damage().is_some() || !wanted.iter().any(|name| name == table.name()) {
            found.faults.into_iter().for_each(|(side, error)| damaged(side, error));
        }
    }
    Ok(left)
}

/// The differing rows of the tables that decide where others differ, if there are few.
struct Near {
    old: Asset,
    new: Asset,
    /// For each such table that was searched, the name of its key, and the keys of these rows.
    keys: HashMap<&'static str, Option<(String, Vec<Value<'static>>)>>,
}

impl Near {
    fn between(old: &Asset, new: &Asset) -> Self {
        Self { old: old.clone(), new: new.clone(), keys: HashMap::new() }
    }

    fn find(&mut self, table: &diff::TableDiff<'_>) -> Result<diff::Differences> {
        let (old, new) = (&self.old, &self.new);
        let among = match diff::comparison(old, new).and_then(|compared| compared.decisive(table.name())) {
            Some(decisive) => {
                let keys = match self.keys.entry(decisive) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(unknown) => unknown.insert(differing_keys(old, new, decisive)?),
                };
                keys.as_ref().and_then(|(key, cells)| table.find_among(key, cells))
            }
            None => None,
        };
        Ok(among.unwrap_or_else(|| table.find(&Progress::default(), 0)))
    }
}

/// The name of the key of table `name`, and the keys of its differing rows; `None` unless it has one key and few rows differ.
fn differing_keys(old: &Asset, new: &Asset, name: &str) -> Result<Option<(String, Vec<Value<'static>>)>> {
    /// Rows of other tables are searched one by one if at most one of `ONE_OF` rows differs.
    const ONE_OF: u64 = 16;
    for table in diff::tables(old, new, &[name.to_owned()])? {
        let found = table.find(&Progress::default(), 0);
        let few = found.len() as u64 * ONE_OF <= found.rows_old + found.rows_new;
        let (Some(before), true) = (table.side(Side::Old), few && found.faults.is_empty()) else { continue };
        let [at] = keys(before).collect::<Vec<_>>()[..] else { continue };
        let cells = found.pairs().map(|pair| {
            let (side, row) = match pair.new {
                Some(row) => (Side::New, row),
                None => (Side::Old, pair.old?),
            };
            Some(table.side(side)?.value(row as usize, at).ok()?.into_owned())
        });
        let name = before.columns()[at].name.to_string();
        return Ok(cells.collect::<Option<_>>().map(|cells| (name, cells)));
    }
    Ok(None)
}

/// Two tables of one name, and the numbers of rows with the same key in each.
struct TablePair<'t> {
    before: &'t dyn Table,
    after: &'t dyn Table,
    old_numbers: Nth,
    new_numbers: Nth,
}

impl<'t> TablePair<'t> {
    /// `found` are the rows of the patch.
    fn new(before: &'t dyn Table, after: &'t dyn Table, found: &diff::Differences) -> Self {
        let of_old = found.removed.iter().copied().chain(found.changed.iter().map(|pair| pair.0));
        let old_numbers = Nth::of_rows(before, of_old.map(|row| row as usize));
        let new_numbers = Nth::of_inserted(after, found.added.iter().map(|row| *row as usize));
        Self { before, after, old_numbers, new_numbers }
    }

    /// The edit of a row that differs; `None` if all stored cells of the `wanted` columns are equal.
    ///
    /// # Errors
    /// The damage of a cell, with the side of the cell.
    fn edit(&self, pair: Pair, wanted: fn(&Column) -> bool) -> Result<Option<Edit>, (Side, Error)> {
        let (before, after) = (self.before, self.after);
        Ok(match (pair.old.map(|row| row as usize), pair.new.map(|row| row as usize)) {
            (Some(old), Some(new)) => {
                let (mut had, mut has) = (Cells::new(), Cells::new());
                // If other rows have its key and it gets another one, all of its cells tell it apart from them, which have other numbers
                // afterwards.
                let is_repeated = self.old_numbers.is_repeated(old);
                let (mut same, mut gets_key) = (Cells::new(), false);
                let columns = before.columns().iter().enumerate();
                for (at, column) in columns.filter(|(_, column)| is_stored(column) && wanted(column)) {
                    let Some(other) = after.columns().iter().position(|c| c.name == column.name) else { continue };
                    let a = before.value(old, at).map_err(|error| (Side::Old, error))?;
                    let b = after.value(new, other).map_err(|error| (Side::New, error))?;
                    let (name, is_key) = (column.name.clone(), column.role == Role::Key);
                    if !same_value(&a, &b) {
                        had.push((name.clone(), a.into_owned()));
                        has.push((name, b.into_owned()));
                        gets_key |= is_key;
                    } else if is_repeated && !is_key {
                        same.push((name, a.into_owned()));
                    }
                }
                if has.is_empty() {
                    return Ok(None);
                }
                if gets_key {
                    had.extend(same);
                }
                let key = self.old_numbers.key(before, old).map_err(|error| (Side::Old, error))?;
                Some(edit(before.name(), key, Some(had), Change::Set(has)))
            }
            (Some(old), None) => Some(self.removal(old).map_err(|error| (Side::Old, error))?),
            (None, Some(new)) => Some(self.addition(new).map_err(|error| (Side::New, error))?),
            (None, None) => None,
        })
    }

    fn removal(&self, row: usize) -> Result<Edit> {
        let cells = stored(self.before, row)?;
        Ok(edit(self.before.name(), self.old_numbers.key(self.before, row)?, Some(cells), Change::Remove))
    }

    fn addition(&self, row: usize) -> Result<Edit> {
        let cells = Change::Add(stored(self.after, row)?);
        Ok(edit(self.before.name(), self.new_numbers.key(self.after, row)?, None, cells))
    }
}

/// Rows that differ, paired. If rows can be neither inserted nor deleted, rows with writable keys got other keys, and
/// other rows are reported as left.
fn pairs(both: &TablePair<'_>, found: &diff::Differences, left: &mut Unpatched) -> Vec<Pair> {
    let table = both.before;
    let nature = table.nature();
    if matches!(nature.row_edits, RowEdits::All | RowEdits::Items(_)) {
        let renamed = if has_own_key(table) { rekeyed(found) } else { renamed(both, found) };
        let old: HashSet<_> = renamed.iter().map(|pair| pair.old).collect();
        let new: HashSet<_> = renamed.iter().map(|pair| pair.new).collect();
        let rest = found.pairs().filter(|pair| !old.contains(&pair.old) && !new.contains(&pair.new));
        return rest.chain(renamed.iter().copied()).collect();
    }
    let has_other_keys = keys(table).any(|key| is_stored(&table.columns()[key]));
    let both = if has_other_keys { found.removed.len().min(found.added.len()) } else { 0 };
    let others = found.removed.iter().copied().zip(found.added.iter().copied()).take(both);
    let others = others.chain(found.changed.iter().copied());
    let mut pairs: Vec<Pair> = others.map(|(old, new)| Pair { old: Some(old), new: Some(new) }).collect();
    let (removed, added) = (&found.removed[both..], &found.added[both..]);
    if nature.row_edits == RowEdits::Last {
        // Of more inserted rows the last ones are inserted, and of more deleted rows these are deleted.
        pairs.extend(added.iter().map(|row| Pair { old: None, new: Some(*row) }));
        pairs.extend(removed.iter().map(|row| Pair { old: Some(*row), new: None }));
    } else if !(removed.is_empty() && added.is_empty()) {
        left.count(table.name(), removed.len().max(added.len()) as u64);
        left.reason(fixed_rows(table));
    }
    pairs
}

/// Whether rows have one key, which edits can change.
fn has_own_key(table: &dyn Table) -> bool {
    let mut keys = keys(table).map(|key| &table.columns()[key]);
    keys.next().is_some_and(is_stored) && keys.next().is_none()
}

/// Pairs deleted rows with rows that were inserted at the same place: they got other keys, and the patch keeps their place.
fn rekeyed(found: &diff::Differences) -> Vec<Pair> {
    let (mut removed, mut added) = (places(&found.removed).peekable(), places(&found.added).peekable());
    let mut pairs = Vec::new();
    while let (Some((old_place, old)), Some((new_place, new))) = (removed.peek(), added.peek()) {
        match old_place.cmp(new_place) {
            Ordering::Less => drop(removed.next()),
            Ordering::Greater => drop(added.next()),
            Ordering::Equal => {
                pairs.push(Pair { old: Some(*old), new: Some(*new) });
                removed.next();
                added.next();
            }
        }
    }
    pairs
}

/// For each of `rows` of a file, in order, the number of earlier rows that are not among them, and the row.
fn places(rows: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    (0..).zip(rows).map(|(earlier, row)| (row - earlier, row))
}

/// Pairs rows that consist of their keys alone and got another last key: the only deleted row and the only inserted row with a
/// first key. Some of these rows can neither be deleted nor inserted.
fn renamed(both: &TablePair<'_>, found: &diff::Differences) -> Vec<Pair> {
    let columns: Vec<usize> = keys(both.before).collect();
    let ([first, _, ..], true) =
        (&columns[..], both.before.columns().iter().all(|column| !is_stored(column) || column.role == Role::Key))
    else {
        return Vec::new();
    };
    let removed = found.removed.iter().map(|row| (both.before, Pair { old: Some(*row), new: None }));
    let added = found.added.iter().map(|row| (both.after, Pair { old: None, new: Some(*row) }));
    let mut groups: HashMap<String, Vec<Pair>> = HashMap::new();
    for (table, pair) in removed.chain(added) {
        let row = pair.old.or(pair.new).and_then(|row| table.value(row as usize, *first).ok());
        row.into_iter().for_each(|key| groups.entry(key.to_string()).or_default().push(pair));
    }
    let mut renamed: Vec<Pair> = groups
        .into_values()
        .filter_map(|group| match group[..] {
            [Pair { old: old @ Some(_), new: None }, Pair { old: None, new: new @ Some(_) }] => Some(Pair { old, new }),
            _ => None,
        })
        .collect();
    renamed.sort_unstable_by_key(|pair| pair.old);
    renamed
}

struct Draft<'d> {
    new: &'d Asset,
    options: &'d Options,
    damaged: &'d mut dyn FnMut(Side, Error),
    left: Unpatched,
}

impl Draft<'_> {
    fn edits(&mut self, old: &Asset, name: &str, near: &mut Near) -> Result<Vec<Edit>> {
        let mut edits = Vec::new();
        for table in diff::tables(old, self.new, &[name.to_owned()])? {
            let (Some(before), Some(after)) = (table.side(Side::Old), table.side(Side::New)) else { continue };
            if !is_written(before) {
                return Err(refused(format!("table {name} is derived from others, so that no patch contains it")));
            }
            let found = near.find(&table)?;
            let both = TablePair::new(before, after, &found);
            edits.extend(self.edits_of(&both, found).into_iter().map(|(_, edit)| edit));
        }
        Ok(edits)
    }

    fn edits_of(&mut self, both: &TablePair<'_>, mut found: diff::Differences) -> Vec<(Pair, Edit)> {
        found.faults.drain(..).for_each(|(side, error)| (self.damaged)(side, error));
        let mut edits = Vec::new();
        for pair in pairs(both, &found, &mut self.left) {
            match both.edit(pair, |_| true) {
                Ok(edit) => edits.extend(edit.map(|edit| (pair, edit))),
                Err((side, error)) => (self.damaged)(side, error),
            }
        }
        edits
    }

    /// The edits of the table that keys the rows of other tables. A changed target of such a row is written only if it
    /// then has the contents of the new file: otherwise the patch changes the contents of the target.
    fn keying(&mut self, old: &Asset, name: &str) -> Result<Vec<Edit>> {
        let mut told = Vec::new();
        for table in diff::tables(old, self.new, &[name.to_owned()])? {
            let (Some(before), Some(after)) = (table.side(Side::Old), table.side(Side::New)) else { continue };
            let found = table.find(&Progress::default(), 0);
            let both = TablePair::new(before, after, &found);
            let all = self.edits_of(&both, found);
            if !before.columns().iter().any(|column| is_stored(column) && column.role == Role::Place) {
                told.extend(all.into_iter().map(|(_, edit)| edit));
                continue;
            }
            // Some have targets that the old file lacks.
            let mut editor = Editor::with_options(old, self.options)?;
            let edits = all.iter().map(|(_, edit)| edit.clone()).collect();
            let edits = taken(&mut editor, name, edits, &mut Unpatched::default());
            editor.edits(edits)?;
            let mut differing = HashSet::new();
            if let Some(made) = editor.known()? {
                for table in diff::tables(&made, self.new, &[name.to_owned()])? {
                    differing.extend(table.find(&Progress::default(), 0).pairs().filter_map(|pair| pair.new));
                }
            }
            for (pair, edit) in all {
                let is_other = pair.new.is_some_and(|row| differing.contains(&row));
                match edit.change {
                    Change::Set(_) if is_other => match both.edit(pair, |column| column.role != Role::Place) {
                        Ok(edit) => told.extend(edit),
                        Err((side, error)) => (self.damaged)(side, error),
                    },
                    // Its contents are inserted with rows of other tables.
                    Change::Add(_) if is_other && before.nature().row_edits != RowEdits::Last => {
                        let what = "its target is not in the old file, and no patch creates it";
                        self.left.refused(name, refused(format!("{name} {}: {what}", edit.key)));
                    }
                    _ => told.push(edit),
                }
            }
        }
        Ok(told)
    }
}

fn taken(editor: &mut Editor<'_>, table: &str, edits: Vec<Edit>, left: &mut Unpatched) -> Vec<Edit> {
    /// The limit of the time of all tries, in multiples of the first one.
    const TIMES: usize = 64;
    /// Bytes of the file that are read in the time of one try.
    const BYTES_OF_ROW: usize = 1 << 10;
    let of_file = editor.asset.source().bytes().len() / BYTES_OF_ROW;
    let budget = (of_file + edits.len()) * TIMES;
    Tries { editor, table, left, of_file, budget }.taken(edits)
}

/// The remaining tries to find the edits that cannot be written, if the format does not name them.
struct Tries<'t, 'e> {
    editor: &'t mut Editor<'e>,
    table: &'t str,
    left: &'t mut Unpatched,
    /// The cost of a try besides its edits.
    of_file: usize,
    budget: usize,
}

impl Tries<'_, '_> {
    fn taken(&mut self, mut edits: Vec<Edit>) -> Vec<Edit> {
        while !edits.is_empty() {
            let Some(budget) = self.budget.checked_sub(self.of_file + edits.len()) else {
                self.budget = 0;
                self.left.count(self.table, self.left.counted(self.table) + edits.len() as u64);
                self.left.reason(format!("{}: too many rows cannot be written to try each of them", self.table));
                return Vec::new();
            };
            self.budget = budget;
            match self.editor.refusals(self.table, edits.iter().cloned()) {
                Ok(refused) if refused.is_empty() => break,
                Ok(refused) => {
                    let numbers: Vec<usize> = refused.iter().map(|(number, _)| *number).collect();
                    refused.into_iter().for_each(|(_, error)| self.left.refused(self.table, error));
                    let mut refused = numbers.into_iter().peekable();
                    let mut number = 0usize..;
                    edits.retain(|_| number.next().is_none_or(|number| refused.next_if_eq(&number).is_none()));
                }
                Err(error) if edits.len() == 1 => {
                    self.left.refused(self.table, error);
                    return Vec::new();
                }
                // One that cannot is found in as many steps as it can be halved.
                Err(_) => {
                    let more = edits.split_off(edits.len() / 2);
                    let mut taken = self.taken(edits);
                    taken.extend(self.taken(more));
                    return taken;
                }
            }
        }
        edits
    }
}

/// The rows that reverse the edits of one list, as `diff` reports them: items after an inserted or deleted item have
/// other numbers.
fn undo_list(
    before: &dyn Table,
    edits: &TableEdits,
    of: usize,
    list: &ListEdit,
    each: &mut dyn FnMut(Value<'static>) -> Result<()>,
) -> Result<()> {
    let items = list.order(before.name()).map_err(|(_, error)| error)?;
    // The list of an owner that the same edits insert goes with it.
    let Some(found) = before.lists(0, &Value::from(of))?.pop() else { return Ok(()) };
    // Each key that shares the list has a row of its own.
    let owners = if found.shared.is_empty() { vec![found.cells] } else { found.shared };
    for number in 0..list.len.max(items.len()) {
        let now = match items.get(number) {
            Some(Item::New(place)) => Some(own_cells(before, &edits.add[*place])),
            Some(Item::Kept(kept)) => {
                let mut cells = stored(before, list.first + kept)?;
                let set = list.set.get(kept).map(|place| own_cells(before, &edits.set[*place].1));
                for (column, value) in set.into_iter().flatten() {
                    cells.retain(|(other, _)| *other != column);
                    cells.push((column, value));
                }
                Some(cells)
            }
            None => None,
        };
        let was = (number < list.len).then(|| stored(before, list.first + number)).transpose()?;
        let (old, change) = match (now, was) {
            (Some(mut now), Some(mut was)) => {
                let kept = now.clone();
                now.retain(|(name, value)| !has_cell(&was, name, value));
                was.retain(|(name, value)| !has_cell(&kept, name, value));
                if was.is_empty() {
                    continue;
                }
                (Some(now), Change::Set(was))
            }
            (None, Some(was)) => (None, Change::Add(was)),
            (now, None) => (now, Change::Remove),
        };
        for owner in &owners {
            let keys = before.columns().iter().enumerate().filter(|(_, column)| column.role == Role::Key);
            let key = keys.map(|(at, column)| {
                let cell = writable::cell(owner, at).cloned();
                (column.name.clone(), cell.unwrap_or_else(|| number.into()))
            });
            each(row(edit(before.name(), Value::Map(key.collect()), old.clone(), change.clone())))?;
        }
    }
    Ok(())
}

/// The cells of an item without its list and its number.
fn own_cells(table: &dyn Table, set: &ColumnValues) -> Cells {
    let own = set.iter().filter(|(at, _)| table.nature().item().is_none_or(|item| *at > item));
    own.map(|(at, value)| (table.columns()[*at].name.clone(), value.clone())).collect()
}

fn has_cell(cells: &Cells, name: &str, value: &Value<'_>) -> bool {
    cells.iter().any(|(other, old)| other == name && same_value(old, value))
}

/// The patch that reverses these edits, as rows: for a file that contains them, whatever else changed in it.
///
/// # Errors
/// When a deleted row is damaged, and the errors of `each`.
pub fn undo(old: &Asset, edits: &[TableEdits], each: &mut dyn FnMut(Value<'static>) -> Result<()>) -> Result<()> {
    for edits in edits {
        let Some(table) = old.reader().table(&edits.table) else { continue };
        let before = &*table;
        let rows = edits.set.iter().map(|(row, _)| *row).chain(edits.remove.iter().copied());
        let nth = Nth::of_rows(before, rows);
        let lists = Lists::new(before, edits, |_| false)?;
        let of_lists: HashSet<usize> = lists.0.values().flat_map(|list| list.set.values().copied()).collect();
        lists.0.iter().try_for_each(|(of, list)| undo_list(before, edits, *of, list, each))?;
        let mut new_keys = None;
        for (place, (at, set)) in edits.set.iter().enumerate() {
            if !of_lists.contains(&place) && !set.is_empty() {
                let is_key = |(at, _): &(usize, Value<'_>)| before.columns()[*at].role == Role::Key;
                let is_repeated = set.iter().any(is_key)
                    && new_keys.get_or_insert_with(|| NewKeys::new(before, edits)).is_repeated(before, *at, set);
                undo_set(before, &nth, *at, set, is_repeated, each)?;
            }
        }
        if before.nature().item().is_some() {
            continue;
        }
        edits.add.iter().try_for_each(|set| each(row(undo_add(before, set))))?;
        for &at in &edits.remove {
            each(row(edit(before.name(), nth.key(before, at)?, None, Change::Add(stored(before, at)?))))?;
        }
    }
    Ok(())
}

/// How many rows of an edited table have each key, by the hashes of the keys.
struct NewKeys {
    keys: Vec<usize>,
    state: RandomState,
    counts: HashMap<u64, usize>,
}

impl NewKeys {
    fn new(before: &dyn Table, edits: &TableEdits) -> Self {
        let (keys, state) = (keys(before).collect::<Vec<_>>(), RandomState::new());
        let gone: HashSet<usize> = edits.remove.iter().chain(edits.set.iter().map(|(row, _)| row)).copied().collect();
        let mut new = Self { counts: HashMap::new(), keys, state };
        let kept = key_hashes(before, &new.keys, &new.state).into_iter().filter(|(_, row)| !gone.contains(row));
        let set = edits.set.iter().filter_map(|(row, set)| new.hash(before, Some(*row), set));
        let added = edits.add.iter().filter_map(|set| new.hash(before, None, set));
        let mut counts = HashMap::new();
        for hash in kept.map(|(hash, _)| hash).chain(set).chain(added) {
            *counts.entry(hash).or_insert(0) += 1;
        }
        new.counts = counts;
        new
    }

    /// The hash of the key that `row`, or an inserted row, has with the cells `set`; `None` if it cannot be read.
    fn hash(&self, before: &dyn Table, row: Option<usize>, set: &ColumnValues) -> Option<u64> {
        let cells = self.keys.iter().map(|key| match (writable::cell(set, *key), row) {
            (Some(cell), _) => Some(cell.clone()),
            (None, Some(row)) => before.value(row, *key).ok().map(Value::into_owned),
            (None, None) => Some(Value::Null),
        });
        Some(hash_values(&cells.collect::<Option<Vec<_>>>()?, &self.state))
    }

    /// Whether other rows have the key that `row` has with the cells `set`.
    fn is_repeated(&self, before: &dyn Table, row: usize, set: &ColumnValues) -> bool {
        let count = self.hash(before, Some(row), set).and_then(|hash| self.counts.get(&hash));
        count.is_some_and(|count| *count > 1)
    }
}

/// The rows that reverse the edit of row `at`: one for each key that shares it. With `is_repeated`, other rows have its new key,
/// and its other cells tell it apart from them.
fn undo_set(
    before: &dyn Table,
    nth: &Nth,
    at: usize,
    set: &ColumnValues,
    is_repeated: bool,
    each: &mut dyn FnMut(Value<'static>) -> Result<()>,
) -> Result<()> {
    let (mut had, mut has) = (Cells::new(), Cells::new());
    let mut key = nth.key(before, at)?;
    for (number, value) in set {
        let column = &before.columns()[*number];
        had.push((column.name.clone(), before.value(at, *number)?.into_owned()));
        has.push((column.name.clone(), value.clone()));
        // By the key that the row has now, if it changed.
        match &mut key {
            _ if column.role != Role::Key => {}
            Value::Map(parts) => {
                parts.retain(|(name, _)| name != NTH);
                parts.iter_mut().filter(|(name, _)| *name == column.name).for_each(|(_, part)| *part = value.clone());
            }
            only => *only = value.clone(),
        }
    }
    for other in before.sharing(at).into_iter().filter(|other| *other != at) {
        let key = nth.key(before, other)?;
        each(row(edit(before.name(), key, Some(has.clone()), Change::Set(had.clone()))))?;
    }
    if is_repeated {
        let others = stored(before, at)?;
        has.extend(others.into_iter().filter(|(name, _)| had.iter().all(|(other, _)| other != name)));
    }
    each(row(edit(before.name(), key, Some(has), Change::Set(had))))
}

fn undo_add(before: &dyn Table, set: &ColumnValues) -> Edit {
    let (mut key, mut cells) = (Cells::new(), Cells::new());
    for (at, column) in before.columns().iter().enumerate() {
        let is_key = column.role == Role::Key;
        let value = match writable::cell(set, at) {
            Some(value) => value.clone(),
            // A part of a key that is left out is null.
            None if is_key && column.accepts == Accepts::OrNull => Value::Null,
            None => continue,
        };
        if is_key { &mut key } else { &mut cells }.push((column.name.clone(), value));
    }
    let key = if key.len() == 1 { key.remove(0).1 } else { Value::Map(key) };
    edit(before.name(), key, Some(cells), Change::Remove)
}
