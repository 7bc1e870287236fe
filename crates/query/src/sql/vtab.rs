//! Tables of asset files as SQLite's virtual tables.
//!
//! The two `unsafe impl`s promise SQLite that the first field of a table and of a cursor is its own; the rest of the
//! work is safe code.
#![allow(unsafe_code)]

use super::cells::{self, ResultSink};
use super::damage::{Damage, DamagePosition};
use super::file::OpenFile;
use super::first::{self, Collector, FirstRows};
use super::large_numbers::LargeNumbers;
use super::pending::{self, Changes, GivenTexts, TableNumber};
use super::plan::{self, Access, QueryPlan, TableView, TermOutcome};
use super::rights::Rights;
use crate::edit::writable;
use crate::error::{ErrorKind, Result};
use crate::hash_index::HashIndex;
use crate::report::Progress;
use crate::table::filter::{Bound, picked};
use crate::table::{CellSink as _, RowCursor, Table};
use crate::threads::lock;
use rusqlite::Error as SqlError;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::vtab::{
    Context, CreateVTab, Filters, IndexInfo, Inserts, Module, UpdateVTab, Updates, VTab, VTabConfig, VTabConnection,
    VTabCursor, VTabKind, sqlite3_vtab, sqlite3_vtab_cursor,
};
use self_cell::self_cell;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{CStr, CString, c_int};
use std::mem::offset_of;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

pub(super) const MODULE: &Module<'static, AssetTable> = &Module::read_only_module();

/// The same, for statements that change tables.
pub(super) const WRITTEN: &Module<'static, AssetTable> = &Module::update_module();

/// A table of a file, as one connection knows it.
#[repr(C)]
pub(super) struct AssetTable {
    base: sqlite3_vtab,
    /// The file on disk.
    file: Arc<OpenFile>,
    /// The table of the file that the statements so far have made.
    state: Mutex<Arc<TableState>>,
}

/// Rows of a walk that are counted at once.
const COUNTED: usize = 256;

#[repr(C)]
pub(super) struct AssetCursor {
    base: sqlite3_vtab_cursor,
    state: Arc<TableState>,
    plan: Option<Arc<QueryPlan>>,
    walk: Option<Walk>,
    /// The room for a text in several parts.
    text: Cell<String>,
    /// The number that SQLite took last from the current row, and its column: aggregates of one column each take its cell.
    last: Cell<Option<(c_int, ValueRef<'static>)>>,
}

const _: () = assert!(offset_of!(AssetTable, base) == 0 && offset_of!(AssetCursor, base) == 0);

/// Files and settings that all tables of a connection share.
#[derive(Clone)]
pub(super) struct Files {
    pub(super) open: Vec<Arc<OpenFile>>,
    pub(super) damage: Arc<Damage>,
    pub(super) progress: Arc<Progress>,
    pub(super) changes: Arc<Changes>,
    pub(super) rights: Arc<Rights>,
    /// The columns whose values repeat rows and that a statement does not read, by the tables that it reads.
    pub(super) repeated: Arc<Mutex<BTreeMap<TableNumber, BTreeSet<usize>>>>,
    pub(super) numbers: Arc<LargeNumbers>,
}

impl Files {
    /// The file and the table whose numbers are the arguments of a statement.
    fn named(&self, arguments: &[&[u8]]) -> Option<(&Self, &Arc<OpenFile>, usize)> {
        let mut numbers = arguments.iter().map(|argument| str::from_utf8(argument).ok()?.trim().parse::<usize>().ok());
        let (file, index) = (self.open.get(numbers.next()??)?, numbers.next()??);
        file.table(index).map(|_| (self, file, index))
    }

    fn failed(&self, file: &OpenFile, error: crate::error::Error) -> SqlError {
        match error.kind() {
            ErrorKind::Syntax { .. } => SqlError::ModuleError(error.to_string()),
            _ => self.damage.stop(file, error),
        }
    }
}

struct TableState {
    file: Arc<OpenFile>,
    index: usize,
    /// The column that the hidden one after all others stands for.
    alias: Option<usize>,
    /// The plans so far. SQLite passes the number of a plan back.
    plans: Arc<Mutex<Vec<Arc<QueryPlan>>>>,
    /// For each column of a join: whether it was queried once, or its index, which the second query builds.
    joins: Mutex<HashMap<usize, Join>>,
    read: AtomicUsize,
    shared: Files,
    texts: Arc<GivenTexts>,
}

enum Join {
    AskedOnce,
    HashIndex(Arc<HashIndex>),
}

/// The owner of the values that a walk borrows: its table, and the conditions on its rows.
struct WalkOwner {
    state: Arc<TableState>,
    bound: Bound,
}

type BoxedCursor<'a> = Box<dyn RowCursor + 'a>;

self_cell!(
    struct Walk {
        owner: WalkOwner,
        #[not_covariant]
        dependent: BoxedCursor,
    }
);

impl TableState {
    fn table(&self) -> &dyn Table {
        self.file.table(self.index).expect("only a table that the file has is connected")
    }

    /// The number of a column, for the hidden one the number of the column that it stands for.
    fn column(&self, column: usize) -> usize {
        self.alias.filter(|_| self.table().columns().len() == column).unwrap_or(column)
    }

    /// The plan as SQLite will ask for it.
    fn keep(&self, plan: QueryPlan) -> usize {
        let mut plans = lock(&self.plans);
        if let Some(same) = plans.iter().position(|known| **known == plan) {
            return same;
        }
        plans.push(Arc::new(plan));
        plans.len() - 1
    }

    fn plan(&self, number: c_int) -> Option<Arc<QueryPlan>> {
        let plans = lock(&self.plans);
        plans.get(usize::try_from(number).ok()?).cloned()
    }

    fn place(&self, row: Option<usize>) -> DamagePosition {
        DamagePosition { file: self.file.number(), table: self.index, row }
    }

    /// The file and the table, by their numbers.
    fn table_number(&self) -> TableNumber {
        (self.file.number(), self.index)
    }

    fn change<T>(&self, change: impl FnOnce(&dyn Table) -> Result<T>) -> rusqlite::Result<T> {
        let changed = writable(self.file.asset()).and_then(|_| change(self.table()));
        changed.map_err(|error| self.shared.failed(&self.file, error))
    }

    /// The number of a row in the table; `None` if there is no such row.
    fn row(&self, id: i64) -> Option<usize> {
        let id = usize::try_from(id).ok()?;
        self.file.ids(self.index).map_or(Some(id), |ids| ids.row(id))
    }

    fn view(&self) -> TableView {
        let is_numbered = self.file.ids(self.index).is_none();
        TableView {
            alias: self.alias,
            is_numbered,
            has_all_texts: self.texts.is_empty(),
            leaves_out: self.shared.damage.is_left_out(),
            may_distinguish_case: self.shared.rights.may_distinguish_case(),
        }
    }

    fn number_of(&self, row: ValueRef<'_>) -> rusqlite::Result<usize> {
        let row = row.as_i64().ok().and_then(|id| self.row(id));
        row.ok_or_else(|| SqlError::ModuleError("no row".to_owned()))
    }

    fn name(&self) -> &str {
        self.table().name()
    }

    /// Moves to the next row that can be found, if damaged rows are left out.
    fn advance(&self, rows: &mut dyn RowCursor) -> Result<bool> {
        loop {
            match rows.advance() {
                Ok(moved) => {
                    // One report for every COUNTED rows.
                    if moved && self.read.fetch_add(1, Ordering::Relaxed).is_multiple_of(COUNTED) {
                        self.shared.progress.advance(COUNTED as u64);
                    }
                    return Ok(moved);
                }
                Err(error) => self.shared.damage.skip_or_fail(self.place(None), error)?,
            }
            if !rows.skip_damage() {
                return Ok(false);
            }
        }
    }

    /// Moves on to a row that matches and, if damaged rows are skipped, can be read.
    fn next(&self, rows: &mut dyn RowCursor, bound: &Bound, columns: &[usize]) -> Result<bool> {
        while self.advance(rows)? {
            let wanted = bound.matches(rows).and_then(|wanted| {
                if wanted && self.shared.damage.is_left_out() {
                    columns.iter().try_for_each(|&column| rows.value(column).map(drop))?;
                }
                Ok(wanted)
            });
            match wanted {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(error) => {
                    self.shared.damage.skip_or_fail(self.place(Some(rows.row())), self.within(rows.row(), error))?
                }
            }
        }
        Ok(false)
    }

    /// The first of the rows that match, in an order.
    fn first(&self, rows: &mut dyn RowCursor, bound: &Bound, first: &FirstRows) -> Result<Vec<usize>> {
        let mut collector = Collector::new(first, self.table());
        while self.next(rows, bound, &[])? {
            collector.offer(rows).map_err(|error| self.within(rows.row(), error))?;
        }
        collector.into_rows()
    }

    fn within(&self, row: usize, error: crate::error::Error) -> crate::error::Error {
        first::within(self.table(), row, error)
    }

    /// The rows whose cell of `column` may have this hash: by an index from the second question on.
    fn joined(&self, table: &dyn Table, column: usize, hash: u64) -> Result<Option<Vec<usize>>> {
        let mut joins = lock(&self.joins);
        let index = match joins.get(&column) {
            None => {
                joins.insert(column, Join::AskedOnce);
                return Ok(None);
            }
            Some(Join::HashIndex(index)) => Arc::clone(index),
            Some(Join::AskedOnce) => {
                let index = Arc::new(self.index_of(table, column)?);
                joins.insert(column, Join::HashIndex(Arc::clone(&index)));
                index
            }
        };
        Ok(Some(index.rows(hash).collect()))
    }

    fn index_of(&self, table: &dyn Table, column: usize) -> Result<HashIndex> {
        let mut index = Vec::new();
        let mut rows = table.cursor_over(0, Some(&[column]));
        while self.advance(&mut *rows)? {
            let row = rows.row();
            match rows.value(column) {
                Ok(cell) => index.extend(cells::hash(&cell).map(|hash| (hash, row))),
                Err(error) => self.shared.damage.skip_or_fail(self.place(Some(row)), self.within(row, error))?,
            }
        }
        Ok(HashIndex::new(index))
    }

    /// Begins the walk that `plan` says. `None` where no row can be meant.
    fn walk(state: &Arc<Self>, plan: &QueryPlan, arguments: &Filters<'_>) -> Result<Option<Walk>> {
        let table = state.table();
        let mut bounds = Vec::new();
        let mut first = None;
        for (number, (term, value)) in plan.terms.iter().zip(arguments.iter()).enumerate() {
            match term.check(value, &state.shared.numbers) {
                TermOutcome::Never => return Ok(None),
                TermOutcome::Unknown => {}
                TermOutcome::Rows(bound) if number == 0 => first = Some(bound),
                TermOutcome::Rows(bound) => bounds.push(bound),
            }
        }
        let rows = match (plan.access, &first) {
            (Access::Row, _) => plan.number(arguments).map(|number| {
                let row = state.row(number);
                match (table.len(), row) {
                    (Ok(len), _) => Ok(row.filter(|&row| row < len).into_iter().collect()),
                    // The row may lie before the damage that keeps the rows from being counted.
                    (Err(_), Some(row)) => state
                        .advance(&mut *table.cursor_over(row, Some(&[])))
                        .map(|found| found.then_some(row).into_iter().collect()),
                    (Err(error), None) => Err(error),
                }
            }),
            (Access::Probe, Some(bound)) if let Some(found) = bound.candidates(table) => Some(Ok(found)),
            // The walk over several files leaves out whole files.
            (Access::Probe, _) if table.parts().is_some() => None,
            // A column whose own index is damaged is read once for many questions, too.
            (Access::Hash | Access::Probe, Some(bound)) => {
                let asked = bound.hash(cells::hash);
                asked.and_then(|(column, hash)| state.joined(table, column, hash).transpose())
            }
            _ => None,
        };
        let mut rows = rows.transpose()?;
        // Rows that an index found are not compared again.
        bounds.extend(first.filter(|_| rows.is_none()));
        if plan.access == Access::Scan {
            let found = bounds.iter().enumerate().find_map(|(at, bound)| Some((at, bound.search(table)?)));
            rows = found.map(|(at, found)| {
                // A search for a pattern found all rows that match, and no others.
                if !bounds.get(at).is_some_and(Bound::is_equality) {
                    bounds.remove(at);
                }
                found
            });
        }
        let start = match plan.access {
            Access::Offset => plan.number(arguments).and_then(|n| usize::try_from(n).ok()).unwrap_or(0),
            _ => 0,
        };
        let source = WalkOwner { state: Arc::clone(state), bound: Bound::And(bounds) };
        let columns = &plan.columns;
        let only_counts = plan.access == Access::Scan && plan.terms.is_empty() && columns.is_empty();
        let len = (only_counts && table.parts().is_none()).then(|| table.known_len()).flatten();
        Ok(Some(Walk::new(source, |source| {
            let table = source.state.table();
            match (rows, len, table.parts()) {
                (Some(rows), _, _) => picked(table, rows),
                (None, Some(len), _) => picked(table, 0..len),
                // Conditions on the file leave out whole files, and each file may have an index.
                (None, None, Some(parts)) => source.bound.walk_parts(table, parts, Some(columns)),
                (None, None, None) => table.cursor_over(start, Some(columns)),
            }
        })))
    }
}

// SAFETY: `repr(C)` with SQLite's struct as the first field.
unsafe impl VTab<'static> for AssetTable {
    type Aux = Files;
    type Cursor = AssetCursor;

    fn connect(
        db: &mut VTabConnection,
        files: Option<&Self::Aux>,
        _: &[u8],
        _: &[u8],
        _: &[u8],
        arguments: &[&[u8]],
    ) -> rusqlite::Result<(Cow<'static, CStr>, Self)> {
        let Some((files, file, index)) = files.and_then(|files| files.named(arguments)) else {
            return Err(SqlError::ModuleError("tables of files cannot be created".to_owned()));
        };
        db.config(VTabConfig::Innocuous)?;
        let declaration = CString::new(file.declaration(index))?;
        let state = TableState {
            file: Arc::clone(file),
            index,
            alias: file.column_alias(index),
            plans: Arc::default(),
            joins: Mutex::default(),
            read: AtomicUsize::new(0),
            shared: files.clone(),
            texts: Arc::default(),
        };
        let state = Mutex::new(Arc::new(state));
        Ok((Cow::Owned(declaration), Self { base: sqlite3_vtab::default(), file: Arc::clone(file), state }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> rusqlite::Result<bool> {
        // SQLite plans a statement before it runs and after all statements before it.
        let state = self.after(Changes::settled)?;
        let table = state.table();
        let plan = plan::best(info, table, &state.view())?;
        let repeating = (0..).zip(table.columns()).filter(|(at, column)| column.repeats && !plan.columns.contains(at));
        let unread: BTreeSet<usize> = repeating.map(|(at, _)| at).collect();
        if !unread.is_empty() {
            lock(&state.shared.repeated).entry(state.table_number()).or_default().extend(unread);
        }
        info.set_idx_str(&plan.describe(table.columns()));
        info.set_idx_num(QueryPlan::number_of(state.keep(plan)));
        Ok(true)
    }

    fn open(&'static mut self) -> rusqlite::Result<AssetCursor> {
        let base = sqlite3_vtab_cursor::default();
        let state = self.after(Changes::current)?;
        Ok(AssetCursor { base, state, plan: None, walk: None, text: Cell::default(), last: Cell::default() })
    }
}

impl AssetTable {
    /// The table in the file that statements have made.
    fn after(
        &self,
        made: impl FnOnce(&Changes, &Arc<OpenFile>) -> Result<Arc<OpenFile>>,
    ) -> rusqlite::Result<Arc<TableState>> {
        let mut state = lock(&self.state);
        let file = made(&state.shared.changes, &self.file).map_err(|error| state.shared.failed(&self.file, error))?;
        if !Arc::ptr_eq(&state.file, &file) {
            *state = Arc::new(TableState {
                file,
                index: state.index,
                alias: state.alias,
                plans: Arc::clone(&state.plans),
                joins: Mutex::default(),
                read: AtomicUsize::new(0),
                shared: state.shared.clone(),
                texts: state.shared.changes.texts(),
            });
        }
        Ok(Arc::clone(&state))
    }
}

impl CreateVTab<'static> for AssetTable {
    const KIND: VTabKind = VTabKind::Default;
}

impl UpdateVTab<'static> for AssetTable {
    fn delete(&mut self, row: ValueRef<'_>) -> rusqlite::Result<()> {
        let state = self.after(Changes::current)?;
        let row = state.number_of(row)?;
        state.change(|table| state.shared.changes.delete(state.table_number(), table, row))
    }

    fn insert(&mut self, values: &Inserts<'_>) -> rusqlite::Result<i64> {
        let index = lock(&self.state).index;
        let state = self.after(|changes, file| changes.for_insert(file, index))?;
        let values = values.iter().skip(2).map(pending::owned);
        let row = state.change(|table| {
            let first = state.file.ids(index).map_or_else(|| table.len(), |ids| Ok(ids.next()))?;
            state.shared.changes.insert(state.table_number(), table, values, state.alias, first)
        })?;
        i64::try_from(row).map_err(|_| SqlError::ModuleError("too many rows".to_owned()))
    }

    fn update(&mut self, values: &Updates<'_>) -> rusqlite::Result<()> {
        let all: Vec<ValueRef<'_>> = values.iter().collect();
        let [row, new_row, cells @ ..] = &all[..] else { return Ok(()) };
        if row != new_row {
            return Err(SqlError::ModuleError("the number of a row cannot be another".to_owned()));
        }
        let state = self.after(Changes::current)?;
        let row = state.number_of(*row)?;
        // Columns that the statement does not name have no value.
        let named = cells.iter().enumerate().filter(|(column, _)| !values.no_change(column + 2));
        let named: Vec<_> = named.map(|(column, cell)| (state.column(column), *cell)).collect();
        state.change(|table| state.shared.changes.update(state.table_number(), table, row, &named))
    }
}

// SAFETY: `repr(C)` with SQLite's struct as the first field.
unsafe impl VTabCursor for AssetCursor {
    fn filter(&mut self, number: c_int, _: Option<&str>, arguments: &Filters<'_>) -> rusqlite::Result<()> {
        self.walk = None;
        self.plan = self.state.plan(number);
        let Some(plan) = &self.plan else { return Ok(()) };
        self.walk = TableState::walk(&self.state, plan, arguments).or_else(|error| {
            let error = error.context(self.state.name());
            self.state
                .shared
                .damage
                .skip_or_fail(self.state.place(None), error)
                .map(|()| None)
                .map_err(|e| self.state.shared.damage.stop(&self.state.file, e))
        })?;
        if let Some(first) = &plan.first
            && let Some(walk) = &mut self.walk
        {
            let rows = walk.with_dependent_mut(|source, rows| source.state.first(&mut **rows, &source.bound, first));
            let rows = rows.map_err(|error| self.state.shared.damage.stop(&self.state.file, error))?;
            let source = WalkOwner { state: Arc::clone(&self.state), bound: Bound::And(Vec::new()) };
            self.walk = Some(Walk::new(source, |source| picked(source.state.table(), rows)));
        }
        self.next()
    }

    fn next(&mut self) -> rusqlite::Result<()> {
        self.last.set(None);
        let Some(plan) = &self.plan else { return Ok(()) };
        if let Some(walk) = &mut self.walk {
            match walk.with_dependent_mut(|source, rows| source.state.next(&mut **rows, &source.bound, &plan.columns)) {
                Ok(true) => {}
                Ok(false) => self.walk = None,
                Err(error) => return Err(self.state.shared.damage.stop(&self.state.file, error)),
            }
        }
        Ok(())
    }

    fn eof(&self) -> bool {
        self.walk.is_none()
    }

    fn column(&self, context: &mut Context, column: c_int) -> rusqlite::Result<()> {
        // An UPDATE does not need the cells that it does not change.
        if context.no_change() {
            return Ok(());
        }
        if let Some((_, number)) = self.last.get().filter(|(last, _)| *last == column) {
            return context.set_result(ToSqlOutput::Borrowed(number));
        }
        let number = column;
        let column = self.state.column(usize::try_from(column).expect("SQLite numbers columns from 0 on"));
        let Some(walk) = &self.walk else { return Ok(()) };
        let table = self.state.table();
        let mut sink = ResultSink::new(context, self.text.take());
        walk.with_dependent(|_, rows| {
            let put = match self.state.texts.is_empty() {
                true => rows.put(column, &mut sink),
                false => pending::seen(&**rows, table, column, &self.state.texts).and_then(|value| sink.value(&value)),
            };
            self.last.set(sink.number().map(|taken| (number, taken)));
            let (text, result) = sink.finish();
            self.text.set(text);
            put.map_err(|error| self.state.shared.damage.stop(&self.state.file, self.state.within(rows.row(), error)))?;
            result
        })
    }

    fn rowid(&self) -> rusqlite::Result<i64> {
        let row = self.walk.as_ref().map(|walk| walk.with_dependent(|_, rows| rows.row()));
        let ids = self.state.file.ids(self.state.index);
        let id = row.and_then(|row| ids.map_or(Some(row), |ids| ids.id(row)));
        Ok(id.and_then(|id| i64::try_from(id).ok()).unwrap_or(-1))
    }
}
