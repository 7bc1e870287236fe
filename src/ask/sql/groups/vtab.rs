//! The groups of a question as a virtual table of SQLite.
//!
//! The two `unsafe impl`s promise SQLite that the first field of a table and of a cursor is its own.
#![allow(unsafe_code)]

use super::answer::{Rows, answer};
use super::shape::{Question, call_name};
use super::walk::Walk;
use crate::ask::sql::cells::Cell;
use crate::ask::sql::names::quoted;
use crate::report::Progress;
use rusqlite::Error as SqlError;
use rusqlite::ffi::{Error as SqliteError, SQLITE_INTERRUPT};
use rusqlite::vtab::{
    Context, CreateVTab, Filters, IndexInfo, Module, VTab, VTabConfig, VTabConnection, VTabCursor, VTabKind,
    sqlite3_vtab, sqlite3_vtab_cursor,
};
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The virtual tables of groups as a module of SQLite.
pub(in crate::ask::sql) const MODULE: &Module<'static, GroupTable> = &Module::read_only_module();

/// The questions of a session, by the numbers of their tables.
#[derive(Clone, Default)]
pub(in crate::ask::sql) struct GroupTables(Arc<Mutex<Vec<Arc<Asked>>>>);

/// A question, and its answer once it was requested; `None` where SQLite must answer.
struct Asked {
    question: Question,
    rows: OnceLock<Option<Rows>>,
    progress: Arc<Progress>,
    /// Whether the statement was stopped.
    stop: Arc<AtomicBool>,
}

impl GroupTables {
    /// Adds a question, and returns the name of its table and the statement that creates it.
    pub(in crate::ask::sql) fn add(
        &self,
        question: Question,
        progress: &Arc<Progress>,
        stop: &Arc<AtomicBool>,
    ) -> (String, String) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = all.len();
        let (progress, stop) = (Arc::clone(progress), Arc::clone(stop));
        all.push(Arc::new(Asked { question, rows: OnceLock::new(), progress, stop }));
        let name = format!("assetq groups {number}");
        let create = format!("CREATE VIRTUAL TABLE temp.{} USING assetq_groups({number});", quoted(&name));
        (name, create)
    }

    fn get(&self, number: usize) -> Option<Arc<Asked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(number).cloned()
    }
}

impl Asked {
    fn rows(&self) -> Option<&Rows> {
        let ask = || {
            // Damage is reported by the statement as it was given.
            answer(&self.question, &self.question.source.tables()?, Walk { progress: &self.progress, stop: &self.stop })
                .ok()
        };
        self.rows.get_or_init(ask).as_ref()
    }

    fn declaration(&self) -> String {
        let Question { declared, calls, .. } = &self.question;
        let calls = (0..calls.len()).map(|number| quoted(&call_name(number)));
        let columns: Vec<String> = declared.iter().cloned().chain(calls).collect();
        format!("CREATE TABLE x({})", columns.join(", "))
    }
}

/// A table of groups, as one connection knows it.
#[repr(C)]
pub(in crate::ask::sql) struct GroupTable {
    base: sqlite3_vtab,
    asked: Arc<Asked>,
}

/// A walk over groups.
#[repr(C)]
pub(in crate::ask::sql) struct GroupCursor {
    base: sqlite3_vtab_cursor,
    asked: Arc<Asked>,
    row: usize,
}

const _: () = assert!(offset_of!(GroupTable, base) == 0 && offset_of!(GroupCursor, base) == 0);

// SAFETY: `repr(C)` with SQLite's struct as the first field.
unsafe impl VTab<'static> for GroupTable {
    type Aux = GroupTables;
    type Cursor = GroupCursor;

    fn connect(
        db: &mut VTabConnection,
        questions: Option<&Self::Aux>,
        _: &[u8],
        _: &[u8],
        _: &[u8],
        arguments: &[&[u8]],
    ) -> rusqlite::Result<(Cow<'static, CStr>, Self)> {
        let number = arguments.first().and_then(|argument| str::from_utf8(argument).ok()?.trim().parse().ok());
        let asked = questions.zip(number).and_then(|(questions, number)| questions.get(number));
        let asked = asked.ok_or_else(|| SqlError::ModuleError("tables of groups cannot be created".to_owned()))?;
        db.config(VTabConfig::Innocuous)?;
        let declaration = CString::new(asked.declaration())?;
        Ok((Cow::Owned(declaration), Self { base: sqlite3_vtab::default(), asked }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> rusqlite::Result<bool> {
        info.set_estimated_cost(1000.0);
        info.set_estimated_rows(1000);
        Ok(true)
    }

    fn open(&'static mut self) -> rusqlite::Result<GroupCursor> {
        Ok(GroupCursor { base: sqlite3_vtab_cursor::default(), asked: Arc::clone(&self.asked), row: 0 })
    }
}

impl CreateVTab<'static> for GroupTable {
    const KIND: VTabKind = VTabKind::Default;
}

// SAFETY: `repr(C)` with SQLite's struct as the first field.
unsafe impl VTabCursor for GroupCursor {
    fn filter(&mut self, _: c_int, _: Option<&str>, _: &Filters<'_>) -> rusqlite::Result<()> {
        self.row = 0;
        match self.asked.rows() {
            Some(_) => Ok(()),
            None if self.asked.stop.load(Ordering::Relaxed) => {
                Err(SqlError::SqliteFailure(SqliteError::new(SQLITE_INTERRUPT), None))
            }
            None => Err(SqlError::ModuleError("SQLite answers this statement".to_owned())),
        }
    }

    fn next(&mut self) -> rusqlite::Result<()> {
        self.row = self.row.saturating_add(1);
        Ok(())
    }

    fn eof(&self) -> bool {
        self.asked.rows().is_none_or(|rows| self.row >= rows.len())
    }

    fn column(&self, context: &mut Context, column: c_int) -> rusqlite::Result<()> {
        let rows = self.asked.rows().zip(usize::try_from(column).ok());
        let cell = rows.and_then(|(rows, column)| rows.cell(self.row, column));
        cell.map_or(Ok(()), |cell| context.set_result(Cell(cell)))
    }

    fn rowid(&self) -> rusqlite::Result<i64> {
        Ok(i64::try_from(self.row).unwrap_or(-1))
    }
}
