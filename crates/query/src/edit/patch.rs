//! Patches: changes as rows that [`Editor`] takes, each complete, with stored values.

use super::editor::stored;
use super::{Cells, Change, ColumnValues, Edit, Editor, Item, ListEdit, Lists, NTH, TableEdits, refused};
use crate::asset::Asset;
use crate::compare::{DifferenceKind, Pair, same_value};
use crate::diff::{self, Side};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::report::Progress;
use crate::table::{Accepts, Column, Role, Table, Value};
use crate::writable::{Nth, keys};
use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};
use std::fmt;

/// The row of a patch.
fn row(
    table: &str,
    change: DifferenceKind,
    key: Value<'static>,
    old: Option<Cells>,
    new: Option<Cells>,
) -> Value<'static> {
    let side = |cells: Option<Cells>| cells.map_or(Value::Null, Value::Map);
    Value::Map(vec![
        ("table".into(), Value::owned(table.to_owned())),
        ("change".into(), change.name().into()),
        ("key".into(), key),
        ("old".into(), side(old)),
        ("new".into(), side(new)),
    ])
}

/// Whether a patch contains a column.
fn is_stored(column: &Column) -> bool {
    !matches!(column.accepts, Accepts::Nothing | Accepts::Path | Accepts::Name)
}

fn is_written(table: &dyn Table) -> bool {
    table.nature().writable_rows || table.columns().iter().any(is_stored)
}

/// Differences that no patch can express.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Unpatched {
    /// How many rows differ still once the patch is made, by table.
    pub tables: Vec<(String, u64)>,
    /// Why, of the first rows that cannot be written.
    pub reasons: Vec<String>,
}

impl Unpatched {
    fn refused(&mut self, table: &str, error: &Error) {
        self.count(table, self.counted(table) + 1);
        self.reason(error);
    }

    fn reason(&mut self, reason: impl fmt::Display) {
        /// As many as people read.
        const MOST: usize = 8;
        if self.reasons.len() < MOST {
            self.reasons.push(reason.to_string());
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

/// The patch that makes of `old` what `new` is: gives each row to `each`, and what cannot be read to `damaged`. Only
/// `tables`, where some are named. Each row was taken by an editor, and what they all make was compared with `new`.
///
/// # Errors
/// `Syntax` where the format is not written, or there is no such table, and those of `each`.
pub fn between(
    old: &Asset,
    new: &Asset,
    options: &Options,
    tables: &[String],
    damaged: &mut dyn FnMut(Side, Error),
    each: &mut dyn FnMut(Value<'static>) -> Result<()>,
) -> Result<Unpatched> {
    let format = old.format();
    let writable = old.reader().writable();
    let writable = writable.ok_or_else(|| refused(format!("{format} files are read and not written")))?;
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
    let mut left = Unpatched::default();
    let mut told = false;
    let mut near = None;
    for name in &wanted {
        let rows = if writable.keying() == Some(name) {
            keying(old, new, options, name, &mut left, damaged)?
        } else {
            let known = editor.known()?;
            let known = known.as_ref().unwrap_or(old);
            let near = near.get_or_insert_with(|| Near::between(known, new));
            rows(known, new, name, near, &mut left, damaged)?
        };
        let rows = taken(&mut editor, name, rows, &mut left);
        editor.edits(rows.iter().map(|row| row.edit(name)))?;
        told |= !rows.is_empty();
        rows.into_iter().try_for_each(|row| each(row.told(name)))?;
    }
    let made = if told { editor.finish().map(Some) } else { Ok(None) };
    let made = match made {
        Ok(Some(plan)) if plan.makes(new.source().bytes()) => return Ok(left),
        Ok(plan) => plan.map_or_else(|| Ok(old.clone()), |plan| plan.asset()),
        Err(error) => Err(error),
    };
    let made = match made {
        Ok(made) => made,
        Err(error) => {
            left.reason(format!("these rows together: {error}"));
            return Ok(left);
        }
    };
    for table in diff::tables(&made, new, tables)? {
        left.count(table.name(), table.find(&Progress::default(), 0).len() as u64);
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

    /// The rows of a table that differ.
    fn find(&mut self, table: &diff::TableDiff<'_>) -> Result<diff::Differences> {
        let (old, new) = (&self.old, &self.new);
        let compared = if old.format() == new.format() { old.reader().compared(new.reader()) } else { None };
        let among = match compared.and_then(|compared| compared.decisive(table.name())) {
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
        let few = (found.len() as u64).saturating_mul(ONE_OF) <= found.rows_old + found.rows_new;
        let key = table.side(Side::Old).and_then(|table| match &keys(table).collect::<Vec<_>>()[..] {
            [key] => Some((*key, table.columns().get(*key)?.name.to_string())),
            _ => None,
        });
        let Some((at, name)) = key.filter(|_| few && found.faults.is_empty()) else { continue };
        let cell = |pair: Pair| {
            let (side, row) = match pair.new {
                Some(row) => (Side::New, row),
                None => (Side::Old, pair.old?),
            };
            Some(table.side(side)?.value(row as usize, at).ok()?.into_owned())
        };
        let keys = found.pairs().map(cell).collect::<Option<Vec<_>>>().map(|cells| (name, cells));
        return Ok(keys);
    }
    Ok(None)
}

/// A row of an unfinished patch.
#[derive(Clone)]
struct DraftEdit {
    kind: DifferenceKind,
    key: Value<'static>,
    old: Option<Cells>,
    new: Option<Cells>,
}

impl DraftEdit {
    fn edit(&self, table: &str) -> Edit {
        let cells = || self.new.clone().unwrap_or_default();
        let change = match self.kind {
            DifferenceKind::Changed => Change::Set(cells()),
            DifferenceKind::Added => Change::Add(cells()),
            DifferenceKind::Removed => Change::Remove,
        };
        Edit { old: self.old.clone(), ..Edit::new(Some(table), self.key.clone(), change) }
    }

    fn told(self, table: &str) -> Value<'static> {
        row(table, self.kind, self.key, self.old, self.new)
    }
}

/// Two tables of one name, and the numbers of rows with the same key in each.
struct TablePair<'t> {
    before: &'t dyn Table,
    after: &'t dyn Table,
    nth: (Nth, Nth),
}

impl<'t> TablePair<'t> {
    /// `found` are the rows of the patch.
    fn new(before: &'t dyn Table, after: &'t dyn Table, found: &diff::Differences) -> Self {
        let of_old = found.removed.iter().copied().chain(found.changed.iter().map(|pair| pair.0));
        let old = Nth::of_rows(before, of_old.map(|row| row as usize));
        let new = Nth::of_rows(after, found.added.iter().map(|row| *row as usize));
        Self { before, after, nth: (old, new) }
    }

    /// The patch row of a row that differs; `None` if all stored cells of the `wanted` columns are equal.
    fn told(&self, pair: Pair, wanted: &dyn Fn(&Column) -> bool) -> Result<Option<DraftEdit>> {
        let (before, after) = (self.before, self.after);
        let rows = (pair.old.map(|row| row as usize), pair.new.map(|row| row as usize));
        let kind = pair.kind();
        Ok(match rows {
            (Some(old), Some(new)) => {
                let (mut had, mut has) = (Cells::new(), Cells::new());
                let columns = before.columns().iter().enumerate();
                for (at, column) in columns.filter(|(_, column)| is_stored(column) && wanted(column)) {
                    let Some(other) = after.columns().iter().position(|c| c.name == column.name) else { continue };
                    let (a, b) = (before.value(old, at)?, after.value(new, other)?);
                    if !same_value(&a, &b) {
                        had.push((column.name.clone(), a.into_owned()));
                        has.push((column.name.clone(), b.into_owned()));
                    }
                }
                if had.is_empty() {
                    return Ok(None);
                }
                Some(DraftEdit {
                    kind: DifferenceKind::Changed,
                    key: self.nth.0.key(before, old)?,
                    old: Some(had),
                    new: Some(has),
                })
            }
            (Some(old), None) => {
                let cells = stored(before, old, false)?;
                Some(DraftEdit { kind, key: self.nth.0.key(before, old)?, old: Some(cells), new: None })
            }
            (None, Some(new)) => {
                let cells = stored(after, new, false)?;
                Some(DraftEdit { kind, key: self.nth.1.key(after, new)?, old: None, new: Some(cells) })
            }
            (None, None) => None,
        })
    }
}

/// Rows that differ, paired. If rows can be neither inserted nor deleted, rows with writable keys got other keys, and
/// other rows are reported as left.
fn pairs(table: &dyn Table, found: &diff::Differences, left: &mut Unpatched) -> Vec<Pair> {
    if table.nature().writable_rows && !table.nature().positional {
        return found.pairs().collect();
    }
    let has_other_keys = keys(table).any(|key| table.columns().get(key).is_some_and(is_stored));
    let both = if has_other_keys { found.removed.len().min(found.added.len()) } else { 0 };
    let lone = found.removed.len().max(found.added.len()).saturating_sub(both);
    if table.nature().positional {
        // Where more come than go, the last ones do, and where more go, these.
        let come = found.added.iter().skip(both).map(|row| Pair { old: None, new: Some(*row) });
        let go = found.removed.iter().skip(both).map(|row| Pair { old: Some(*row), new: None });
        let stay = found.removed.iter().zip(&found.added).take(both).map(|(old, new)| (*old, *new));
        let stay = stay.chain(found.changed.iter().copied());
        return stay.map(|(old, new)| Pair { old: Some(old), new: Some(new) }).chain(come).chain(go).collect();
    }
    if lone > 0 {
        left.count(table.name(), lone as u64);
        left.reason(format!("rows of {} can neither be added nor removed", table.name()));
    }
    let others = found.removed.iter().zip(&found.added).take(both).map(|(old, new)| (*old, *new));
    let pairs = others.chain(found.changed.iter().copied());
    pairs.map(|(old, new)| Pair { old: Some(old), new: Some(new) }).collect()
}

/// The rows of a patch for one table.
fn rows(
    old: &Asset,
    new: &Asset,
    name: &str,
    near: &mut Near,
    left: &mut Unpatched,
    damaged: &mut dyn FnMut(Side, Error),
) -> Result<Vec<DraftEdit>> {
    let mut rows = Vec::new();
    for table in diff::tables(old, new, &[name.to_owned()])? {
        let (Some(before), Some(after)) = (table.side(Side::Old), table.side(Side::New)) else { continue };
        if !is_written(before) {
            return Err(refused(format!("table {name} is derived from others, so that no patch contains it")));
        }
        let found = told_faults(near.find(&table)?, damaged);
        if found.is_empty() {
            continue;
        }
        let both = TablePair::new(before, after, &found);
        for pair in pairs(before, &found, left) {
            match both.told(pair, &|_| true) {
                Ok(row) => rows.extend(row),
                Err(error) => damaged(if pair.new.is_some() { Side::New } else { Side::Old }, error),
            }
        }
    }
    Ok(rows)
}

/// The `rows` that can be written.
fn taken(editor: &mut Editor<'_>, name: &str, rows: Vec<DraftEdit>, left: &mut Unpatched) -> Vec<DraftEdit> {
    /// The limit of the time of all tries, in multiples of the first one.
    const TIMES: usize = 64;
    /// Bytes of the file that are read in the time of one try.
    const BYTES_OF_ROW: usize = 1 << 10;
    let of_file = editor.size() / BYTES_OF_ROW;
    let left_to_do = (of_file + rows.len()).saturating_mul(TIMES);
    tried(editor, name, rows, left, &mut Tries { of_file, left: left_to_do })
}

/// The remaining tries to find the rows that cannot be written, if the format does not name them.
struct Tries {
    /// The cost of a try besides its rows.
    of_file: usize,
    left: usize,
}

impl Tries {
    /// Whether one more may be made.
    fn take(&mut self, rows: usize) -> bool {
        let left = self.left.checked_sub(self.of_file + rows);
        self.left = left.unwrap_or(0);
        left.is_some()
    }
}

fn tried(
    editor: &mut Editor<'_>,
    name: &str,
    mut rows: Vec<DraftEdit>,
    left: &mut Unpatched,
    tries: &mut Tries,
) -> Vec<DraftEdit> {
    while !rows.is_empty() {
        if !tries.take(rows.len()) {
            left.count(name, left.counted(name) + rows.len() as u64);
            left.reason(format!("{name}: too many rows cannot be written to try each of them"));
            return Vec::new();
        }
        match editor.refusals(name, rows.iter().map(|row| row.edit(name))) {
            Ok(refused) if refused.is_empty() => break,
            Ok(refused) => {
                refused.iter().for_each(|(_, error)| left.refused(name, error));
                let mut refused = refused.into_iter().map(|(number, _)| number).peekable();
                let mut number = 0usize..;
                rows.retain(|_| number.next().is_none_or(|number| refused.next_if_eq(&number).is_none()));
            }
            Err(error) if rows.len() == 1 => {
                left.refused(name, &error);
                return Vec::new();
            }
            // One that cannot is found in as many steps as it can be halved.
            Err(_) => {
                let more = rows.split_off(rows.len() / 2);
                let mut taken_first = tried(editor, name, rows, left, tries);
                taken_first.extend(tried(editor, name, more, left, tries));
                return taken_first;
            }
        }
    }
    rows
}

fn told_faults(mut found: diff::Differences, damaged: &mut dyn FnMut(Side, Error)) -> diff::Differences {
    found.faults.drain(..).for_each(|(side, error)| damaged(side, error));
    found
}

/// The rows of a patch for the table that keys the rows of other tables. A changed target of such a row is written only
/// if it then has the contents of the new file: otherwise the patch changes the contents of the target.
fn keying(
    old: &Asset,
    new: &Asset,
    options: &Options,
    name: &str,
    left: &mut Unpatched,
    damaged: &mut dyn FnMut(Side, Error),
) -> Result<Vec<DraftEdit>> {
    let is_no_place = |column: &Column| column.role != Role::Place;
    let mut told = Vec::new();
    for table in diff::tables(old, new, &[name.to_owned()])? {
        let (Some(before), Some(after)) = (table.side(Side::Old), table.side(Side::New)) else { continue };
        let found = told_faults(table.find(&Progress::default(), 0), damaged);
        if found.is_empty() {
            continue;
        }
        let both = TablePair::new(before, after, &found);
        let has_places = before.columns().iter().any(|column| is_stored(column) && !is_no_place(column));
        let mut editor = Editor::with_options(old, options)?;
        let mut all = Vec::new();
        for pair in pairs(before, &found, left) {
            match both.told(pair, &|_| true) {
                Ok(row) => all.extend(row.map(|row| (pair, row))),
                Err(error) => damaged(if pair.new.is_some() { Side::New } else { Side::Old }, error),
            }
        }
        if !has_places {
            told.extend(all.into_iter().map(|(_, row)| row));
            continue;
        }
        // Some have targets that the old file lacks.
        let mut lost = Unpatched::default();
        let rows = all.iter().map(|(_, row)| row.clone()).collect();
        let rows = taken(&mut editor, name, rows, &mut lost);
        editor.edits(rows.iter().map(|row| row.edit(name)))?;
        let mut differing = HashSet::new();
        if let Some(made) = editor.known()? {
            for table in diff::tables(&made, new, &[name.to_owned()])? {
                differing.extend(table.find(&Progress::default(), 0).pairs().filter_map(|pair| pair.new));
            }
        }
        for (pair, row) in all {
            let is_other = pair.new.is_some_and(|row| differing.contains(&row));
            match row.kind {
                DifferenceKind::Changed if is_other => told.extend(both.told(pair, &is_no_place)?),
                // Its contents are inserted with rows of other tables.
                DifferenceKind::Added if is_other && !before.nature().positional => {
                    let what = "its target is not in the old file, and no patch creates it";
                    left.refused(name, &refused(format!("{name} {}: {what}", row.key)));
                }
                _ => told.push(row),
            }
        }
    }
    Ok(told)
}

/// The rows that reverse the edits of one list, as `diff` reports them: items after an inserted or deleted item have
/// other numbers.
fn undo_list(
    before: &dyn Table,
    edit: &TableEdits,
    of: usize,
    list: &ListEdit,
    each: &mut dyn FnMut(Value<'static>) -> Result<()>,
) -> Result<()> {
    let items = list.order(before.name()).map_err(|(_, error)| error)?;
    let (owner, shared) =
        before.lists(0, &Value::from(of))?.pop().map(|list| (list.cells, list.shared)).unwrap_or_default();
    // Each key that shares the list has a row of its own.
    let owners = if shared.is_empty() { vec![owner] } else { shared };
    let name = |at: usize| before.columns().get(at).map(|column| column.name.clone());
    let named = |set: &ColumnValues| -> Cells {
        let is_key = |at: usize| before.nature().item.is_some_and(|item| at <= item);
        set.iter().filter(|(at, _)| !is_key(*at)).filter_map(|(at, value)| Some((name(*at)?, value.clone()))).collect()
    };
    let old = |item: usize| stored(before, list.first + item, false);
    let new = |item: &Item| match item {
        Item::New(place) => Ok::<Cells, Error>(named(&edit.add[*place])),
        Item::Kept(number) => {
            let mut cells = old(*number)?;
            let set = list.set.get(number).and_then(|place| edit.set.get(*place));
            for (column, value) in set.into_iter().flat_map(|(_, set)| named(set)) {
                cells.retain(|(other, _)| *other != column);
                cells.push((column, value));
            }
            Ok(cells)
        }
    };
    for number in 0..list.len.max(items.len()) {
        let key = |owner: &ColumnValues| {
            let mut key = Cells::new();
            for (at, column) in before.columns().iter().enumerate().filter(|(_, column)| column.role == Role::Key) {
                let cell = owner.iter().find(|(other, _)| *other == at).map(|(_, cell)| cell.clone());
                key.push((column.name.clone(), cell.unwrap_or_else(|| number.into())));
            }
            Value::Map(key)
        };
        let now = items.get(number).map(new).transpose()?;
        let was = (number < list.len).then(|| old(number)).transpose()?;
        let (kind, has, had) = match (now, was) {
            (Some(mut now), Some(mut was)) => {
                let same = |cells: &Cells, (name, value): &(_, Value<'_>)| {
                    cells.iter().any(|(other, old)| other == name && same_value(old, value))
                };
                let kept = now.clone();
                now.retain(|cell| !same(&was, cell));
                was.retain(|cell| !same(&kept, cell));
                if was.is_empty() {
                    continue;
                }
                (DifferenceKind::Changed, Some(now), Some(was))
            }
            (None, Some(was)) => (DifferenceKind::Added, None, Some(was)),
            (now, None) => (DifferenceKind::Removed, now, None),
        };
        owners.iter().try_for_each(|owner| each(row(&edit.table, kind, key(owner), has.clone(), had.clone())))?;
    }
    Ok(())
}

/// The patch that reverses these edits, as rows: for a file that contains them, whatever else changed in it.
///
/// # Errors
/// When a deleted row is damaged, and the errors of `each`.
pub fn undo(old: &Asset, edits: &[TableEdits], each: &mut dyn FnMut(Value<'static>) -> Result<()>) -> Result<()> {
    for edit in edits {
        let Some(before) = old.reader().table(&edit.table) else { continue };
        let all = |row: usize| match before.sharing(row) {
            shared if shared.is_empty() => vec![row],
            shared => shared,
        };
        let rows = edit.set.iter().map(|(row, _)| *row).chain(edit.remove.iter().copied());
        let nth = Nth::of_rows(&*before, rows);
        let lists = Lists::of(&*before, edit, |_| false)?;
        let of_lists: HashSet<usize> = lists.0.values().flat_map(|list| list.set.values().copied()).collect();
        lists.0.iter().try_for_each(|(of, list)| undo_list(&*before, edit, *of, list, each))?;
        for (place, (at, set)) in edit.set.iter().enumerate() {
            if of_lists.contains(&place) || set.is_empty() {
                continue;
            }
            let (mut had, mut has) = (Cells::new(), Cells::new());
            for (column, value) in set {
                let Some(of) = before.columns().get(*column) else { continue };
                had.push((of.name.clone(), before.value(*at, *column)?.into_owned()));
                has.push((of.name.clone(), value.clone()));
            }
            for other in all(*at).into_iter().filter(|other| other != at) {
                each(row(
                    &edit.table,
                    DifferenceKind::Changed,
                    nth.key(&*before, other)?,
                    Some(has.clone()),
                    Some(had.clone()),
                ))?;
            }
            let mut key = nth.key(&*before, *at)?;
            // By the key that the row has now, if it changed.
            for (column, value) in set {
                let Some(of) = before.columns().get(*column).filter(|c| c.role == Role::Key) else { continue };
                match &mut key {
                    Value::Map(parts) => {
                        parts.retain(|(name, _)| name != NTH);
                        if let Some((_, part)) = parts.iter_mut().find(|(name, _)| *name == of.name) {
                            *part = value.clone();
                        }
                    }
                    only => *only = value.clone(),
                }
            }
            each(row(&edit.table, DifferenceKind::Changed, key, Some(has), Some(had)))?;
        }
        if before.nature().item.is_some() {
            continue;
        }
        for set in &edit.add {
            let cell = |at: usize| set.iter().find(|(column, _)| *column == at).map(|(_, value)| value.clone());
            let mut key = Cells::new();
            let mut cells = Cells::new();
            for (at, column) in before.columns().iter().enumerate() {
                // A part of a key that is left out is null.
                let null = Some(Value::Null).filter(|_| column.role == Role::Key && column.accepts == Accepts::OrNull);
                let Some(value) = cell(at).or(null) else { continue };
                let to = if column.role == Role::Key { &mut key } else { &mut cells };
                to.push((column.name.clone(), value));
            }
            let key = if key.len() == 1 { key.remove(0).1 } else { Value::Map(key) };
            each(row(&edit.table, DifferenceKind::Removed, key, Some(cells), None))?;
        }
        for &at in &edit.remove {
            each(row(
                &edit.table,
                DifferenceKind::Added,
                nth.key(&*before, at)?,
                None,
                Some(stored(&*before, at, false)?),
            ))?;
        }
    }
    Ok(())
}
