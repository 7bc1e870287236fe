//! Answers kept as a database.

use super::names::quoted;
use super::{Answer, Fault};
use crate::table::Kind;
use rusqlite::types::{ToSqlOutput, Type, ValueRef};
use rusqlite::{Connection, Error as SqlError, OpenFlags, params_from_iter};
use std::path::Path;

/// The types of the cells of a column.
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
    match Fault::from(error) {
        Fault::System(message) => Fault::Output(message),
        other => other,
    }
}

/// Writes an answer as a table of a new database at `path`, which must be empty or not exist. Gives the number of rows.
///
/// # Errors
/// The answer's, and `Output` when the file cannot be written.
pub fn keep(path: &Path, table: &str, answer: &mut Answer<'_>) -> Result<u64, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags).map_err(failed)?;
    // An incomplete file is deleted, so that nothing need be undone.
    database.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;").map_err(failed)?;
    let names: Vec<String> = answer.columns().iter().map(|column| quoted(&column.name)).collect();
    let create = |types: &mut dyn Iterator<Item = &'static str>| {
        let columns: Vec<String> = names.iter().zip(types).map(|(name, kind)| format!("{name}{kind}")).collect();
        format!("CREATE TABLE {}({})", quoted(table), columns.join(", "))
    };
    database.execute_batch(&format!("BEGIN; {}", create(&mut std::iter::repeat("")))).map_err(failed)?;
    let mut seen = vec![Seen::default(); names.len()];
    let mut rows = 0u64;
    {
        let places = vec!["?"; names.len()].join(", ");
        let mut insert =
            database.prepare(&format!("INSERT INTO {} VALUES ({places})", quoted(table))).map_err(failed)?;
        answer.raw_rows(|cells| {
            seen.iter_mut().zip(cells).for_each(|(seen, cell)| seen.add(*cell));
            insert.execute(params_from_iter(cells.iter().map(|cell| ToSqlOutput::Borrowed(*cell)))).map_err(failed)?;
            rows = rows.saturating_add(1);
            Ok::<_, Fault>(())
        })?;
    }
    // The types are known only now; they describe the existing cells.
    let types = seen.iter().zip(answer.columns()).map(|(seen, column)| match seen.declared() {
        " INTEGER" if column.kind == Some(Kind::Bool) => " BOOLEAN",
        other => other,
    });
    let create = create(&mut types.collect::<Vec<_>>().into_iter());
    database.execute_batch("COMMIT; PRAGMA writable_schema = ON;").map_err(failed)?;
    database
        .execute("UPDATE sqlite_schema SET sql = ?1 WHERE type = 'table' AND name = ?2", [&*create, table])
        .map_err(failed)?;
    database.execute_batch("PRAGMA writable_schema = OFF;").map_err(failed)?;
    database.close().map_err(|(_, error)| failed(error))?;
    Ok(rows)
}
