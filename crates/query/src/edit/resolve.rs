//! The edits of one table, resolved against its rows.

mod exported;
mod insert;

use super::read::Given;
use super::{Cells, Change, ColumnValues, Edit, EditPosition, NTH, TableEdits, agrees, refused};
use crate::asset::Asset;
use crate::compare::{hash_values, same_value};
use crate::error::{Error, Result};
use crate::find;
use crate::hash_index::HashIndex;
use crate::table::{Accepts, Column, Kind, Role, RowEdits, Table, Value};
use crate::writable::{self, ValueSource, key_hashes, short, short_text};
use self_cell::self_cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Display;
use std::hash::RandomState;

/// The outcome of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is applied.
    Done,
    /// The file contains it already.
    Held,
    /// It is skipped, with the reason.
    LeftOut(String),
}

/// The row or list that an edit names.
pub(super) enum Lookup<T> {
    Found(T),
    /// It is not there, or not the only one, for this reason.
    LeftOut(String),
}

/// Rows that are searched one by one before an index of all is built: with probes, and with walks.
const PROBES: usize = 64;
const WALKS: usize = 8;

type OptionalTable<'a> = Option<Box<dyn Table + 'a>>;

self_cell!(
    /// The table of another file, if that holds one of this name.
    struct KnownTable {
        owner: Asset,
        #[covariant]
        dependent: OptionalTable,
    }
);

pub(super) struct Resolved<'a> {
    pub(super) table: Box<dyn Table + 'a>,
    /// The table whose keys identify its rows, if edits of another table change them. Its rows have the same numbers.
    known: Option<KnownTable>,
    pub(super) last: Option<EditPosition>,
    keys: Vec<usize>,
    state: RandomState,
    probes: usize,
    /// Hashes of keys and their rows, in order, after many lookups.
    index: Option<HashIndex>,
    set: BTreeMap<usize, Vec<EditedCell>>,
    add: Vec<(Vec<Value<'static>>, ColumnValues)>,
    /// Numbers of inserted rows, by the hash of their key.
    coming: HashMap<u64, Vec<usize>>,
    /// The number of items inserted into a list, by the hash of its key.
    items: HashMap<u64, usize>,
    remove: BTreeSet<usize>,
    /// Rows that exported rows name, with the hash of the key if several keys share the row.
    seen: BTreeSet<(usize, u64)>,
    /// Edits of rows and lists that several keys share.
    shared: HashMap<EditPosition, Shared>,
    /// Exported rows with a key that several rows have.
    unmatched: Vec<exported::Unmatched>,
    /// The number of exported rows.
    rows: usize,
    /// The rows of the table without any text that no exported row is, once they were counted.
    blanks: Option<usize>,
    /// The first derived cell that an edit tried to change, reported if no other edit was requested.
    pub(super) derived: Option<String>,
}

struct EditedCell {
    column: usize,
    value: Value<'static>,
    differs: bool,
}

/// A row that is stored, and the keys that share it, if there are several.
struct StoredRow {
    row: usize,
    sharers: Option<Sharers>,
}

impl StoredRow {
    /// The row and the hash of its key among the keys that share it.
    fn identity(&self) -> (usize, u64) {
        (self.row, self.sharers.as_ref().map_or(0, |sharers| sharers.own))
    }
}

struct Sharers {
    /// The hash of the key that is edited.
    own: u64,
    /// All of the keys by their hashes, and as messages show them.
    all: Vec<(u64, String)>,
}

/// An edit of a row or list that several keys share. It is made only if all of the keys request it: no row changes that no edit
/// names.
struct Shared {
    keys: Vec<(u64, String)>,
    /// The columns that each key wants to change.
    asked: HashMap<u64, BTreeSet<usize>>,
}

impl Shared {
    fn is_whole(&self) -> bool {
        let mut asked = self.keys.iter().map(|(key, _)| self.asked.get(key));
        let first = asked.next().flatten();
        first.is_some() && asked.all(|other| other == first)
    }

    /// The hash of the first key, which all edits of one list have.
    fn group(&self) -> Option<u64> {
        self.keys.first().map(|(key, _)| *key)
    }
}

struct RowKey {
    cells: Vec<Value<'static>>,
    nth: Option<usize>,
}

impl<'a> Resolved<'a> {
    pub(super) fn new(table: Box<dyn Table + 'a>) -> Self {
        Self {
            known: None,
            last: None,
            keys: writable::keys(&*table).collect(),
            table,
            state: RandomState::new(),
            probes: 0,
            index: None,
            set: BTreeMap::new(),
            add: Vec::new(),
            coming: HashMap::new(),
            items: HashMap::new(),
            remove: BTreeSet::new(),
            seen: BTreeSet::new(),
            shared: HashMap::new(),
            unmatched: Vec::new(),
            rows: 0,
            blanks: None,
            derived: None,
        }
    }

    /// From now on, rows have the keys that they have in `known`.
    pub(super) fn know(&mut self, known: &Asset) {
        if self.known.is_none() {
            (self.index, self.probes) = (None, 0);
            self.known = Some(KnownTable::new(known.clone(), |asset| asset.reader().table(self.table.name())));
        }
    }

    pub(super) fn column(&self, name: &str) -> Result<(usize, &Column)> {
        let columns = self.table.columns();
        columns.iter().enumerate().find(|(_, column)| column.name == name).ok_or_else(|| {
            let hint = crate::table::hint_of_columns(name, "there are", columns);
            refused(format!("{}: no column {}{hint}", self.table.name(), short_text(name)))
        })
    }

    fn key_names(&self) -> String {
        self.keys.iter().map(|key| &*self.table.columns()[*key].name).collect::<Vec<_>>().join(", ")
    }

    fn shown(&self, key: &Value<'_>) -> String {
        format!("{} {}", self.table.name(), short(key))
    }

    fn key(&self, given: &Value<'static>) -> Result<RowKey> {
        let Value::Map(parts) = given else {
            let cell = match (&self.keys[..], given) {
                ([], Value::Uint(_)) => Some(given.clone()),
                ([], _) => return Err(self.wrong(given, "rows of this table are known by their numbers")),
                ([key], _) => writable::key(&self.table.columns()[*key], given),
                _ => {
                    return Err(
                        self.wrong(given, format_args!("the key of this table is an object of {}", self.key_names()))
                    );
                }
            };
            let cell = cell.ok_or_else(|| self.wrong(given, format_args!("no {}", self.key_names())))?;
            return Ok(RowKey { cells: vec![cell], nth: None });
        };
        let mut cells: Vec<Option<Value<'static>>> = vec![None; self.keys.len()];
        let mut nth = None;
        for (name, part) in parts {
            if name == NTH && self.column(NTH).is_err() {
                match part {
                    Value::Uint(number) if let Ok(number) = usize::try_from(*number) => nth = Some(number),
                    _ => return Err(self.wrong(given, format_args!("{NTH} is no number"))),
                }
                continue;
            }
            let (at, column) = self.column(name)?;
            let (at, cell) = match part {
                _ if self.keys.contains(&at) => (at, writable::key(column, part)),
                // The text of an id stands for it.
                Value::Text(text) if let Some(id) = writable::id_of(column.accepts, text) => (at - 1, Some(id)),
                _ => (at, None),
            };
            let (Some(slot), Some(cell)) = (self.keys.iter().position(|key| *key == at), cell) else {
                let (part, names) = (short(part), self.key_names());
                return Err(self.wrong(given, format_args!("{name} {part} is no part of a key: that is {names}")));
            };
            cells[slot] = Some(cell);
        }
        let cells = cells.into_iter().collect::<Option<Vec<_>>>().filter(|cells| !cells.is_empty());
        let cells = cells.ok_or_else(|| self.wrong(given, format_args!("the key is {}", self.key_names())))?;
        Ok(RowKey { cells, nth })
    }

    #[cold]
    fn wrong(&self, key: &Value<'_>, what: impl Display) -> Error {
        refused(format!("{}: {what}", self.shown(key)))
    }

    fn hash<'v>(&self, cells: impl IntoIterator<Item = &'v Value<'v>>) -> u64 {
        hash_values(cells, &self.state)
    }

    /// The key with these cells that a table has in its columns, with its hash.
    fn sharer(&self, cell: impl Fn(usize) -> Result<Value<'static>>) -> Result<(u64, String)> {
        let keys = self.keys.iter().filter(|key| self.table.nature().item() != Some(**key));
        let cells = keys.map(|key| cell(*key)).collect::<Result<Vec<_>>>()?;
        Ok((self.hash(&cells), cells.iter().map(short).collect::<Vec<_>>().join(", ")))
    }

    /// The stored row that a row of `table` shows, and the keys that share it.
    fn stored(&self, table: &dyn Table, row: usize) -> Result<StoredRow> {
        let rows = if table.stored_len().is_some() { table.sharing(row) } else { Vec::new() };
        let Some(&stored) = rows.first() else { return Ok(StoredRow { row, sharers: None }) };
        let mut sharers = Sharers { own: 0, all: Vec::new() };
        for other in rows {
            let key = self.sharer(|column| Ok(table.value(other, column)?.into_owned()))?;
            if other == row {
                sharers.own = key.0;
            }
            sharers.all.push(key);
        }
        Ok(StoredRow { row: stored, sharers: Some(sharers) })
    }

    /// Notes that the edit of a key changes these columns of the row that it shares, or inserts or deletes it.
    fn ask(&mut self, at: EditPosition, sharers: Option<&Sharers>, columns: impl IntoIterator<Item = usize>) {
        let Some(sharers) = sharers else { return };
        let shared = self.shared.entry(at);
        let shared = shared.or_insert_with(|| Shared { keys: sharers.all.clone(), asked: HashMap::new() });
        shared.asked.entry(sharers.own).or_default().extend(columns);
    }

    /// Whether other keys have requested this edit of the shared row, and this key has not.
    fn is_asked_by_others(&self, at: EditPosition, sharers: Option<&Sharers>) -> bool {
        let (Some(shared), Some(sharers)) = (self.shared.get(&at), sharers) else { return false };
        !shared.asked.contains_key(&sharers.own)
    }

    /// The edits that only some of the keys ask for that share a row, with all other edits of that row or of its list: a list
    /// that changed by half would be no key's.
    pub(super) fn unshared(&self) -> impl Iterator<Item = (EditPosition, Error)> {
        const SHOWN: usize = 4;
        let parts = self.shared.values().filter(|shared| !shared.is_whole());
        let parts: BTreeSet<Option<u64>> = parts.map(Shared::group).collect();
        self.shared.iter().filter(move |(_, shared)| parts.contains(&shared.group())).map(|(at, shared)| {
            let names: Vec<&str> = shared.keys.iter().take(SHOWN).map(|(_, name)| &**name).collect();
            let more = if shared.keys.len() > SHOWN { ", …" } else { "" };
            let what = "share what is edited, as it is stored once; give all of them the same edit";
            (*at, refused(format!("{}: {}{more} {what}", self.table.name(), names.join(" and "))))
        })
    }

    /// The rows of a key, in order, and the keys that share them, if there are several.
    fn rows_of(&mut self, cells: &[Value<'static>]) -> Result<(Vec<usize>, Option<Sharers>)> {
        if self.keys.is_empty() {
            let len = self.table.len()?;
            let rows = match cells {
                [Value::Uint(row)] => usize::try_from(*row).ok().filter(|row| *row < len).into_iter().collect(),
                _ => Vec::new(),
            };
            return Ok((rows, None));
        }
        let table = keyed(self.known.as_ref(), &*self.table);
        let probes = if self.table.nature().sequential { WALKS } else { PROBES };
        let mut probed = None;
        if self.index.is_none() && self.probes < probes {
            self.probes += 1;
            // An index has the rows before damage.
            probed = self.keys.iter().zip(cells).find_map(|(key, cell)| table.find(*key, cell)).and_then(Result::ok);
        }
        let mut rows = match (probed, &self.index) {
            (Some(rows), _) => rows,
            (None, Some(index)) => index.rows(self.hash(cells)).collect(),
            (None, None) => {
                // Rows before damage can be edited, later rows cannot.
                let index = HashIndex::new(key_hashes(table, &self.keys, &self.state));
                let rows = index.rows(self.hash(cells)).collect();
                self.index = Some(index);
                rows
            }
        };
        rows.retain(|row| {
            let mut parts = self.keys.iter().zip(cells);
            parts.all(|(key, cell)| table.value(*row, *key).is_ok_and(|value| same_value(&value, cell)))
        });
        rows.sort_unstable();
        let Some(&first) = rows.first() else { return Ok((rows, None)) };
        let StoredRow { row, sharers } = self.stored(table, first)?;
        Ok((if sharers.is_some() { vec![row] } else { rows }, sharers))
    }

    /// Describes the first of `cells` that differs from the row.
    fn differing(&self, row: usize, cells: &Cells) -> Result<Option<String>> {
        for (name, wanted) in cells {
            let (at, column) = self.column(name)?;
            if column.role == Role::Place || column.accepts == Accepts::Nothing {
                continue;
            }
            let now = self.table.value(row, at)?;
            let same = match column.accepts {
                Accepts::Path | Accepts::Name => true,
                // Of references, the id says all.
                _ if column.kind == Kind::Nested && agrees(&now, wanted) => true,
                _ => writable::fit(column, wanted.clone(), ValueSource::Typed, Some(&now))
                    .is_ok_and(|v| same_value(&v, &now)),
            };
            if !same {
                return Ok(Some(format!("{name} is {}, not {}", short(&now), short(wanted))));
            }
        }
        Ok(None)
    }

    fn has(&self, row: usize, set: &ColumnValues) -> Result<bool> {
        for (column, wanted) in set {
            let now = self.table.value(row, *column)?;
            if !same_value(&now, wanted) && !writable::is_same(&now, wanted) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn cell_of(
        &self,
        at: usize,
        given: Value<'_>,
        from: ValueSource,
        row: Option<usize>,
    ) -> Result<(usize, Value<'static>)> {
        let now = row.map(|row| self.table.value(row, at)).transpose()?;
        cell_of(&*self.table, at, given, from, now.as_ref())
    }

    pub(super) fn edit(&mut self, edit: Edit) -> Result<Outcome> {
        // Tables without writable columns are derived from others; a patch's rows for them are skipped.
        let is_told = edit.old.is_some() || matches!(edit.change, Change::Add(_));
        let is_written = self.table.columns().iter().any(|column| column.accepts != Accepts::Nothing);
        if is_told && !is_written && self.table.nature().row_edits == RowEdits::None {
            return Ok(Outcome::Held);
        }
        let origin = edit.origin;
        self.take_edit(edit).map_err(|error| match origin {
            Some(origin) => error.context(format_args!("row {origin}")),
            None => error,
        })
    }

    fn take_edit(&mut self, edit: Edit) -> Result<Outcome> {
        let shown = self.shown(&edit.key);
        let key = self.key(&edit.key)?;
        let (rows, sharers) = self.rows_of(&key.cells)?;
        let (change, old) = (edit.change, edit.old.as_ref());
        if let Change::Add(cells) = change {
            let cells = self.numbered(cells)?;
            return self.add(key, &rows, cells, ValueSource::Typed, &shown);
        }
        if change == Change::Remove {
            self.rows_may_go(&shown)?;
            if old.is_some() && (rows.is_empty() || key.nth.is_some_and(|nth| nth >= rows.len())) {
                return Ok(Outcome::Held);
            }
        }
        let selected = self.selected_row(&rows, &key, old, &shown)?;
        let why = match (&selected, old) {
            (Lookup::Found(row), Some(old)) => self.differing(*row, old)?,
            _ => None,
        };
        if let Change::Set(cells) = &change
            && (why.is_some() || matches!(selected, Lookup::LeftOut(_)))
            && self.is_renamed(&key, cells, old, rows.is_empty())?
        {
            return Ok(Outcome::Held);
        }
        let row = match selected {
            Lookup::Found(row) => StoredRow { row, sharers },
            Lookup::LeftOut(why) => return Ok(Outcome::LeftOut(why)),
        };
        match change {
            Change::Set(cells) => self.set(&row, cells, old, why, &shown),
            _ if let Some(why) = why => Ok(Outcome::LeftOut(format!("{shown}: {why}"))),
            _ => self.remove(&row, &shown),
        }
    }

    /// Whether the row of an edit has its new key already: a row has the key that `cells` change `key` to, and these cells.
    /// If rows with the old key remain, the row also has the other cells of `old`, which tell it apart from them.
    fn is_renamed(&mut self, key: &RowKey, cells: &Cells, old: Option<&Cells>, is_gone: bool) -> Result<bool> {
        let others =
            old.into_iter().flatten().filter(|(name, _)| !is_gone && cells.iter().all(|(other, _)| other != name));
        let others: Cells = others.cloned().collect();
        if others.is_empty() && !is_gone {
            return Ok(false);
        }
        let mut new = key.cells.clone();
        for (name, given) in cells {
            let (at, column) = self.column(name)?;
            let slot = self.keys.iter().position(|key| *key == at).and_then(|slot| new.get_mut(slot));
            if let (Some(slot), Some(cell)) = (slot, writable::key(column, given)) {
                *slot = cell;
            }
        }
        if new == key.cells {
            return Ok(false);
        }
        for row in self.rows_of(&new)?.0 {
            let asked = self.asked(row, cells.clone(), None)?;
            if self.has(row, &asked)? && self.differing(row, &others)?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn rows_may_go(&self, shown: &str) -> Result<()> {
        rows_may_change(&*self.table).map_err(|error| refused(format!("{shown}: {error}")))
    }

    fn remove(&mut self, StoredRow { row, sharers }: &StoredRow, shown: &str) -> Result<Outcome> {
        let (at, sharers) = (EditPosition::Remove(*row), sharers.as_ref());
        if !self.is_asked_by_others(at, sharers) && (self.set.contains_key(row) || !self.remove.insert(*row)) {
            return Err(refused(format!("{shown}: there are two edits of this row")));
        }
        self.ask(at, sharers, []);
        self.last = Some(at);
        Ok(Outcome::Done)
    }

    /// The selected row among the rows with its key.
    fn selected_row(&self, rows: &[usize], key: &RowKey, old: Option<&Cells>, shown: &str) -> Result<Lookup<usize>> {
        let rows: Vec<usize> = rows.iter().copied().filter(|row| self.table.repeated(*row).is_none()).collect();
        let found = match (&rows[..], key.nth) {
            (rows, Some(nth)) => rows.get(nth).copied(),
            ([row], _) => Some(*row),
            ([], _) => None,
            (rows, None) => {
                let mut those = Vec::new();
                for &row in rows {
                    if let Some(old) = old
                        && self.differing(row, old)?.is_none()
                    {
                        those.push(row);
                    }
                }
                let [row] = those[..] else {
                    let many = rows.len();
                    return Ok(Lookup::LeftOut(format!(
                        "{shown}: {many} rows have this key; \"{NTH}\" in it says which"
                    )));
                };
                Some(row)
            }
        };
        Ok(found.map_or_else(|| Lookup::LeftOut(format!("{shown}: not found")), Lookup::Found))
    }

    /// Notes changed cells of a row. `why` states how the row differs from `old`.
    fn set(
        &mut self,
        row: &StoredRow,
        cells: Cells,
        old: Option<&Cells>,
        why: Option<String>,
        shown: &str,
    ) -> Result<Outcome> {
        let asked = self.asked(row.row, cells, old)?;
        if let Some(why) = why
            && (asked.is_empty() || !self.has(row.row, &asked)?)
        {
            return Ok(Outcome::LeftOut(format!("{shown}: {why}")));
        }
        let outcome = self.put(row, asked, shown)?;
        if outcome == Outcome::Done {
            self.last = Some(EditPosition::Set(row.row));
        }
        Ok(outcome)
    }

    /// The cells that a row gets by an edit to `cells`.
    fn asked(&self, row: usize, cells: Cells, old: Option<&Cells>) -> Result<ColumnValues> {
        let mut asked = Vec::new();
        let names: Vec<_> = cells.iter().map(|(name, _)| name.clone()).collect();
        for (name, given) in cells {
            let (at, column) = self.column(&name)?;
            // Derived columns in a patch follow from the other cells.
            if column.accepts == Accepts::Nothing && old.is_some_and(|old| old.iter().any(|(other, _)| *other == name))
            {
                continue;
            }
            // The text of the old id says nothing about a new one.
            if matches!(column.accepts, Accepts::Path | Accepts::Name)
                && names.contains(&self.table.columns()[at - 1].name)
                && same_value(&self.table.value(row, at)?, &given)
            {
                continue;
            }
            // A value of another type is not like the one that is there.
            let is_retyped = self.table.typed_by(at).is_some_and(|at| names.contains(&self.table.columns()[at].name));
            asked.push(self.cell_of(at, given, ValueSource::Typed, Some(row).filter(|_| !is_retyped))?);
        }
        Ok(asked)
    }

    /// Notes cells of a row, all or none.
    fn put(&mut self, StoredRow { row, sharers }: &StoredRow, cells: ColumnValues, shown: &str) -> Result<Outcome> {
        let row = *row;
        let is_removed = self.remove.contains(&row);
        let there = self.set.get(&row).map_or(&[][..], |cells| cells);
        let mut new: Vec<EditedCell> = Vec::with_capacity(cells.len());
        let mut differing = Vec::new();
        for (column, value) in cells {
            let differs = !same_value(&self.table.value(row, column)?, &value);
            differing.extend(differs.then_some(column));
            match there.iter().chain(&new).find(|cell| cell.column == column) {
                Some(cell) if !is_removed && same_value(&cell.value, &value) => {}
                None if !is_removed => new.push(EditedCell { column, value, differs }),
                _ => {
                    let name = &self.table.columns()[column].name;
                    return Err(refused(format!("{shown}: there are two edits of column {name}")));
                }
            }
        }
        self.set.entry(row).or_default().extend(new);
        if differing.is_empty() {
            return Ok(Outcome::Held);
        }
        self.ask(EditPosition::Set(row), sharers.as_ref(), differing);
        Ok(Outcome::Done)
    }

    fn numbered<'v>(&self, cells: Given<'v>) -> Result<Vec<(usize, Value<'v>)>> {
        let mut named = Vec::with_capacity(cells.len());
        // Columns mostly come in order.
        let mut next = 0usize;
        for (name, given) in cells {
            let at = match self.table.columns().get(next) {
                Some(column) if column.name == name => next,
                _ => self.column(&name)?.0,
            };
            named.push((at, given));
            next = at + 1;
        }
        Ok(named)
    }

    pub(super) fn set_cell(
        &mut self,
        row: usize,
        column: usize,
        given: Value<'_>,
        from: ValueSource,
    ) -> Result<Outcome> {
        let name = self.table.name().to_owned();
        let cell = self.cell_of(column, given, from, Some(row))?;
        self.put(&self.stored(&*self.table, row)?, vec![cell], &name)
    }

    /// Notes resolved edits, from SQL. Returns how many changed rows differ, and how many do not.
    pub(super) fn take(&mut self, edits: TableEdits) -> Result<(u64, u64)> {
        let name = self.table.name().to_owned();
        let (mut done, mut held) = (0, 0);
        for (row, set) in edits.set {
            let outcome = self.put(&self.stored(&*self.table, row)?, set, &name)?;
            *(if outcome == Outcome::Held { &mut held } else { &mut done }) += 1;
        }
        for row in edits.remove {
            self.remove(&self.stored(&*self.table, row)?, &name)?;
        }
        self.add.extend(edits.add.into_iter().map(|set| (Vec::new(), set)));
        Ok((done, held))
    }

    /// The first damage that ends a walk of the rows.
    pub(super) fn damage(&self) -> Option<Error> {
        let mut rows = self.table.cursor_over(0, Some(&self.keys));
        loop {
            match rows.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(damage) => return Some(damage),
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.add.is_empty() && self.remove.is_empty()
    }

    /// Removes the edits and returns them, in the form of [`Resolved::take`].
    pub(super) fn finish(&mut self) -> TableEdits {
        let set = std::mem::take(&mut self.set).into_iter().map(|(row, mut cells)| {
            cells.retain(|cell| cell.differs);
            cells.sort_by_key(|cell| cell.column);
            (row, cells.into_iter().map(|cell| (cell.column, cell.value)).collect::<ColumnValues>())
        });
        TableEdits {
            table: self.table.name().to_owned(),
            set: set.filter(|(_, cells)| !cells.is_empty()).collect(),
            add: std::mem::take(&mut self.add).into_iter().map(|(_, set)| set).collect(),
            remove: std::mem::take(&mut self.remove).into_iter().collect(),
        }
    }
}

/// The table that has the keys of the rows.
fn keyed<'t>(known: Option<&'t KnownTable>, own: &'t dyn Table) -> &'t dyn Table {
    known.and_then(|known| known.borrow_dependent().as_deref()).unwrap_or(own)
}

/// The column and the value to write if `given` is requested in column `at`, for a cell with the value `now`.
fn cell_of(
    table: &dyn Table,
    at: usize,
    given: Value<'_>,
    from: ValueSource,
    now: Option<&Value<'_>>,
) -> Result<(usize, Value<'static>)> {
    let column = table.columns().get(at).ok_or_else(|| crate::table::no_cell(table.name(), 0, at))?;
    match (column.accepts, &given) {
        (Accepts::Nothing, _) => Err(is_derived(table, column, &given)),
        // The text stands for the id in the column before it.
        (takes, Value::Text(text)) if let Some(id) = writable::id_of(takes, text) => Ok((at - 1, id)),
        _ => {
            let value = writable::fit(column, given, from, now);
            Ok((at, value.map_err(|e| refused(format!("{}: {e}", table.name())))?))
        }
    }
}

/// The column and the value to write if SQL requests `given` in column `at`, for a cell with the value `now`.
///
/// # Errors
/// `Syntax` with the column, the value and what fits.
pub fn check_cell(
    table: &dyn Table,
    at: usize,
    given: Value<'static>,
    now: Option<&Value<'_>>,
) -> Result<(usize, Value<'static>)> {
    cell_of(table, at, given, ValueSource::Sql, now)
}

/// The cells of a row that SQL inserts, from its values in the order of the columns. A copy of a row has all cells, derived ones
/// included.
///
/// # Errors
/// As [`check_cell`], and `Syntax` for items whose list is unknown and for cells that contradict each other.
pub fn insert_cells(table: &dyn Table, given: Vec<Value<'static>>, is_copy: bool) -> Result<ColumnValues> {
    let (mut set, mut of_list) = (ColumnValues::new(), Vec::new());
    let item = table.nature().item();
    for ((at, column), value) in table.columns().iter().enumerate().zip(given) {
        if value.is_null() {
            continue;
        }
        if item.is_some_and(|item| at <= item) {
            of_list.push((at, value));
        } else if column.accepts != Accepts::Nothing || !is_copy {
            let cell = check_cell(table, at, value.clone(), None);
            cell.and_then(|cell| add_cell(table, &mut set, at, cell, &value)).map_err(|e| e.context("an added row"))?;
        }
    }
    if let Some(item) = item {
        set.extend(item_cells(table, item, of_list)?);
        set.sort_by_key(|(column, _)| *column);
    }
    Ok(set)
}

/// Adds the cell that `given` in column `at` requests to the cells of an inserted row.
///
/// # Errors
/// As [`put_cell`], unless the row is a copy: the text of another row's id yields to the id.
fn add_cell(
    table: &dyn Table,
    set: &mut ColumnValues,
    at: usize,
    cell: (usize, Value<'static>),
    given: &Value<'_>,
) -> Result<()> {
    let is_other = cell.0 != at && writable::cell(set, cell.0).is_some_and(|id| !same_value(id, &cell.1));
    if is_other && !find::rows_with(table, cell.0, &cell.1)?.is_empty() {
        return Ok(());
    }
    put_cell(table, set, at, cell, given)
}

/// Adds the cell that `given` in column `at` requests to the cells of a row.
///
/// # Errors
/// `Syntax` if another column gives it another value: an id and a text contradict each other.
pub fn put_cell(
    table: &dyn Table,
    set: &mut ColumnValues,
    at: usize,
    checked: (usize, Value<'static>),
    given: &Value<'_>,
) -> Result<()> {
    let (to, value) = checked;
    match set.binary_search_by_key(&to, |(column, _)| *column) {
        Ok(place) if set.get(place).is_some_and(|(_, there)| same_value(there, &value)) => Ok(()),
        Ok(place) => {
            let (id, column) = (&set[place].1, &table.columns()[to].name);
            Err(misfit(table, &table.columns()[at], given, format_args!("does not fit: {column} is {}", short(id))))
        }
        Err(place) => {
            set.insert(place, (to, value));
            Ok(())
        }
    }
}

/// The cells of an inserted item: its list, from the values that SQL gives for the columns before the number of the
/// item, and the number, if given.
///
/// # Errors
/// `Syntax` for no list, several lists, or different lists in different columns.
fn item_cells(table: &dyn Table, item: usize, given: Vec<(usize, Value<'static>)>) -> Result<ColumnValues> {
    let (name, columns) = (table.name(), table.columns());
    let (mut list, mut index) = (None, None);
    for (at, cell) in given {
        let column = &columns[at];
        let Some(fitted) = writable::key(column, &cell) else {
            let fits = writable::what_fits(&column.clone().accepts(Accepts::Any));
            return Err(misfit(table, column, &cell, format_args!("does not fit: {fits}")));
        };
        if at == item {
            index = Some((at, fitted));
            continue;
        }
        let mut lists = table.lists(at, &fitted)?;
        let what = match (lists.pop(), lists.is_empty()) {
            (None, _) => "has no such list",
            (Some(_), false) => "has several such lists",
            (Some(found), true) if list.is_none() && !found.shared.is_empty() && column.role == Role::Key => {
                let what = format!("shares its list with other rows: name the list by {}", columns[0].name);
                return Err(misfit(table, column, &cell, what));
            }
            (Some(found), true) if list.as_ref().is_none_or(|list| *list == found) => {
                list = Some(found);
                continue;
            }
            _ => "has another list than the columns before it say",
        };
        return Err(misfit(table, column, &cell, what));
    }
    let before = columns.iter().take(item).map(|column| &*column.name).collect::<Vec<_>>().join(", ");
    let list = list.ok_or_else(|| refused(format!("{name}: an inserted row names its list: {before}")))?;
    let mut cells = list.cells;
    cells.extend(index);
    Ok(cells)
}

/// Checks that rows of a table can be inserted and deleted.
pub(crate) fn rows_may_change(table: &dyn Table) -> Result<()> {
    if table.nature().row_edits == RowEdits::None { Err(refused(fixed_rows(table))) } else { Ok(()) }
}

pub(super) fn fixed_rows(table: &dyn Table) -> String {
    format!("rows of {} can neither be added nor removed", table.name())
}

#[cold]
fn is_derived(table: &dyn Table, column: &Column, given: &Value<'_>) -> Error {
    misfit(table, column, given, format_args!("does not fit: it takes {}", writable::what_fits(column)))
}

/// The error of a value that a column cannot have, for the reason `what`.
#[cold]
pub(super) fn misfit(table: &dyn Table, column: &Column, given: &Value<'_>, what: impl Display) -> Error {
    refused(format!("{}: column {}: {} {what}", table.name(), column.name, short(given)))
}

/// Whether `given` equals the output for `now`, for the common kinds.
fn is_shown_as(now: &Value<'_>, given: &Value<'_>, from: ValueSource) -> bool {
    match (now, given) {
        (Value::Null, given) => given.is_null() || (from.is_text() && matches!(given, Value::Text(t) if t.is_empty())),
        (Value::Text(now), Value::Text(given)) => now == given,
        (now, given) => same_value(now, given),
    }
}
