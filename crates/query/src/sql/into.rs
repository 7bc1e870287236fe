//! Answers kept as a database.

use super::names::quoted;
use super::{Answer, Fault};
use crate::table::Kind;
use crate::threads::{self, lock};
use rusqlite::types::{ToSqlOutput, Type, ValueRef};
use rusqlite::{Connection, Error as SqlError, ErrorCode, OpenFlags, params_from_iter};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, mpsc};
use std::thread;

#[derive(Debug, Clone, Copy, Default)]
enum Seen {
    #[default]
    Nothing,
    One(Type),
    Several,
}

impl Seen {
    fn add(&mut self, cell: ValueRef<'_>) {
        *self = match (*self, cell.data_type()) {
            (seen, Type::Null) => seen,
            (Self::Nothing, new) => Self::One(new),
            (Self::One(old), new) if old == new => return,
            _ => Self::Several,
        };
    }

    /// The type to declare. A column of several types has none, as SQLite would turn the cells into one of them.
    const fn declared(self) -> &'static str {
        match self {
            Self::One(Type::Integer) => " INTEGER",
            Self::One(Type::Real) => " REAL",
            Self::One(Type::Text) => " TEXT",
            Self::One(Type::Blob) => " BLOB",
            _ => "",
        }
    }
}

/// The fault of a new database that cannot be written.
fn failed(error: SqlError) -> Fault {
    let is_read_only = error.sqlite_error_code() == Some(ErrorCode::ReadOnly);
    match Fault::from(error) {
        Fault::System(message) | Fault::Database(message) => Fault::Output(message),
        Fault::Statement { message, .. } if is_read_only => Fault::Output(message),
        other => other,
    }
}

/// Bytes of rows that are written at once.
const BATCH: usize = 1 << 18;

/// Batches that wait for the thread that writes them, which bounds the memory for them.
const WAITING: usize = 4;

enum BatchCell {
    Null,
    Integer(i64),
    Real(f64),
    Text(Range<usize>),
    Blob(Range<usize>),
}

#[derive(Default)]
struct Batch {
    cells: Vec<BatchCell>,
    /// Texts and blobs, one after the other.
    bytes: Vec<u8>,
}

impl Batch {
    fn push(&mut self, row: &[ValueRef<'_>]) {
        for cell in row {
            let start = self.bytes.len();
            if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = cell {
                self.bytes.extend_from_slice(bytes);
            }
            let kept = start..self.bytes.len();
            self.cells.push(match *cell {
                ValueRef::Null => BatchCell::Null,
                ValueRef::Integer(number) => BatchCell::Integer(number),
                ValueRef::Real(number) => BatchCell::Real(number),
                ValueRef::Text(_) => BatchCell::Text(kept),
                ValueRef::Blob(_) => BatchCell::Blob(kept),
            });
        }
    }

    fn cell(&self, cell: &BatchCell) -> ValueRef<'_> {
        match cell {
            BatchCell::Null => ValueRef::Null,
            BatchCell::Integer(number) => ValueRef::Integer(*number),
            BatchCell::Real(number) => ValueRef::Real(*number),
            BatchCell::Text(range) => ValueRef::Text(&self.bytes[range.clone()]),
            BatchCell::Blob(range) => ValueRef::Blob(&self.bytes[range.clone()]),
        }
    }

    fn is_full(&self) -> bool {
        self.cells.len() * size_of::<BatchCell>() + self.bytes.len() >= BATCH
    }
}

struct NewDatabase<'n> {
    database: Connection,
    table: &'n str,
    /// The names of the columns, quoted.
    names: Vec<String>,
    seen: Vec<Seen>,
}

impl<'n> NewDatabase<'n> {
    fn create(path: &Path, table: &'n str, names: Vec<String>) -> Result<Self, Fault> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Connection::open_with_flags(path, flags).map_err(failed)?;
        // An incomplete file is deleted, so that nothing need be undone.
        database.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;").map_err(failed)?;
        let seen = vec![Seen::default(); names.len()];
        let new = Self { database, table, names, seen };
        new.database.execute_batch(&format!("BEGIN; {}", new.declared(std::iter::repeat("")))).map_err(failed)?;
        Ok(new)
    }

    /// The statement that declares the table with these types of its columns.
    fn declared(&self, types: impl Iterator<Item = &'static str>) -> String {
        let columns: Vec<String> = self.names.iter().zip(types).map(|(name, kind)| format!("{name}{kind}")).collect();
        format!("CREATE TABLE {}({})", quoted(self.table), columns.join(", "))
    }

    fn insert(&mut self, batch: &Batch) -> Result<(), Fault> {
        let places = vec!["?"; self.names.len()].join(", ");
        let insert = format!("INSERT INTO {} VALUES ({places})", quoted(self.table));
        let mut insert = self.database.prepare(&insert).map_err(failed)?;
        for row in batch.cells.chunks(self.names.len().max(1)) {
            let cells = row.iter().map(|cell| batch.cell(cell));
            self.seen.iter_mut().zip(cells.clone()).for_each(|(seen, cell)| seen.add(cell));
            insert.execute(params_from_iter(cells.map(ToSqlOutput::Borrowed))).map_err(failed)?;
        }
        Ok(())
    }

    /// Ends the database. `kinds` are the kinds of the columns, where known.
    fn finish(self, kinds: &[Option<Kind>]) -> Result<(), Fault> {
        // The types are known only now; they describe the existing cells.
        let types = self.seen.iter().zip(kinds).map(|(seen, kind)| match seen.declared() {
            " INTEGER" if *kind == Some(Kind::Bool) => " BOOLEAN",
            other => other,
        });
        let declared = self.declared(types);
        self.database.execute_batch("COMMIT; PRAGMA writable_schema = ON;").map_err(failed)?;
        self.database
            .execute("UPDATE sqlite_schema SET sql = ?1 WHERE type = 'table' AND name = ?2", [&*declared, self.table])
            .map_err(failed)?;
        self.database.execute_batch("PRAGMA writable_schema = OFF;").map_err(failed)?;
        self.database.close().map_err(|(_, error)| failed(error))
    }
}

/// Writes an answer as a table of a new database at `path`, which must be empty or not exist. Returns the number of rows.
///
/// # Errors
/// The answer's, and `Output` when the file cannot be written.
pub fn keep(path: &Path, table: &str, answer: &mut Answer<'_>) -> Result<u64, Fault> {
    let names = answer.columns().iter().map(|column| quoted(&column.name)).collect();
    let kinds: Vec<Option<Kind>> = answer.columns().iter().map(|column| column.kind).collect();
    let mut new = NewDatabase::create(path, table, names)?;
    let rows = insert_all(answer, &mut new)?;
    new.finish(&kinds)?;
    Ok(rows)
}

/// Inserts the rows of an answer, and returns their number. One thread writes while the caller's thread reads further rows.
fn insert_all(answer: &mut Answer<'_>, new: &mut NewDatabase<'_>) -> Result<u64, Fault> {
    let new = &Mutex::new(new);
    let (mut rows, mut batch) = (0u64, Batch::default());
    thread::scope(|scope| {
        let mut writer = None;
        let mut is_alone = threads::count() < 2;
        let asked = answer.raw_rows(|cells| {
            rows += 1;
            batch.push(cells);
            if !batch.is_full() {
                return Ok(());
            }
            let full = std::mem::take(&mut batch);
            if writer.is_none() && !is_alone {
                let (give, take) = mpsc::sync_channel::<Batch>(WAITING);
                let started = thread::Builder::new()
                    .spawn_scoped(scope, move || take.iter().try_for_each(|batch| lock(new).insert(&batch)));
                is_alone = started.is_err();
                writer = started.ok().map(|writer| (give, writer));
            }
            match &writer {
                // The error of a writer that has ended replaces this one.
                Some((give, _)) => give.send(full).map_err(|_| Fault::Output(String::new())),
                None => lock(new).insert(&full),
            }
        });
        if let Some((give, writer)) = writer {
            drop(give);
            writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        asked
    })?;
    lock(new).insert(&batch)?;
    Ok(rows)
}
