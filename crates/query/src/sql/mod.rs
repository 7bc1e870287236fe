//! SQL queries of the tables of files, by SQLite.
//!
//! Every table is a virtual table that reads the file in place during a statement: nothing is imported, and only the
//! columns in the statement are read. `=` and `IN` on a column of [`Table::find`] are probes; other conditions are
//! checked during the scan by the code of [`filter`](crate::table::filter), before SQLite sees the row.
//!
//! Ids are text in the form of all outputs, `0x` and upper-case digits, so that all 64 bits are exact. Their columns
//! compare by number, in any of the forms of [`id`](crate::id): `id = '0x2a'`, `id = '000000000000002A'`, `id = '42'`
//! and `id = 42` select the same entry; a number without quotes is parsed from its digits, without leading zeros, and may
//! have all 64 bits. A whole number above 63 bits that is not an id is its decimal text. Booleans are 0 and 1, nested values JSON text;
//! single-precision floats are the double with the same digits, so that `scale = 0.1` finds what is shown as 0.1.

mod answer;
mod cells;
mod compound;
mod damage;
mod fault;
mod file;
mod first;
mod functions;
mod into;
mod large_numbers;
mod names;
mod pending;
mod plan;
mod query;
mod rights;
mod rowids;
mod script;
mod vtab;

pub use answer::{Answer, ResultColumn};
pub use damage::LeftOut;
pub use fault::Fault;
pub use into::keep;
pub use names::in_sql;
pub use pending::FileEdits;
pub use query::{buffer, query};
pub use script::{Statement, is_complete, statements};

use crate::asset::Asset;
use crate::error::ErrorKind;
use crate::files::hint_of_describing_files;
use crate::options::Options;
use crate::paths::unlimited;
use crate::report::Progress;
use crate::source::head_of;
use crate::suggest;
use crate::table::Table;
use crate::threads::lock;
use damage::Damage;
use file::OpenFile;
use large_numbers::LargeNumbers;
use names::{quoted, unique};
use pending::Changes;
use rights::Rights;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::hooks::AuthContext;
use rusqlite::limits::Limit;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The pragma of a database in memory that holds the number of changes.
const CHANGES: &str = "user_version";

const SQLITE_MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// A queried file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Input {
    /// An asset file.
    Asset(Asset),
    /// Asset files with one schema, such as a game and the files that describe its others. Of two tables with one name the first counts.
    Assets(Vec<Asset>),
    /// A database of SQLite, which is only read.
    Database(PathBuf),
}

impl Input {
    /// Whether `path` is a database of SQLite.
    pub fn is_database(path: &Path) -> bool {
        head_of(path) == Some(*SQLITE_MAGIC)
    }
}

/// A connection to SQLite that knows the tables of some files.
pub struct Session {
    connection: Connection,
    shared: vtab::Files,
    /// For each schema its name, and the number of its file unless that is a database of SQLite.
    schemas: Vec<(String, Option<usize>)>,
    rights: Arc<Rights>,
    /// Where there are more files than SQLite has schemas for, the names of the tables of each file in the only one.
    flat: Option<Vec<Vec<String>>>,
    notes: Vec<String>,
    /// Whether the statements edit a file, so that no other statements are accepted.
    is_edited: bool,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("schemas", &self.schemas).finish_non_exhaustive()
    }
}

impl Session {
    /// Registers the files. The tables of a single file have their own names. Several files are schemas with the given
    /// names; a table name alone selects the first file with such a table. SQLite has ten schemas: with more files, a
    /// table is called by both names in one, `"schema.table"`. With `left_out`, damaged rows are skipped and counted.
    ///
    /// # Errors
    /// When there are more databases than SQLite takes, or one cannot be attached.
    pub fn new(inputs: Vec<(String, Input)>, left_out: bool) -> Result<Self, Fault> {
        Self::open(inputs, left_out, None)
    }

    /// As [`Session::new`], with tables that `UPDATE`, `INSERT` and `DELETE` change: later statements see that, and
    /// [`Session::edits`] gives it. Nothing is written. `options` are those that the files were opened with.
    ///
    /// # Errors
    /// As [`Session::new`].
    pub fn for_writing(inputs: Vec<(String, Input)>, left_out: bool, options: &Options) -> Result<Self, Fault> {
        Self::open(inputs, left_out, Some(options))
    }

    fn open(inputs: Vec<(String, Input)>, left_out: bool, written: Option<&Options>) -> Result<Self, Fault> {
        let mut connection = Connection::open_in_memory()?;
        // A name in double quotes is a name, never a text; and no code in an attached file runs.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        let numbers = Arc::<LargeNumbers>::default();
        functions::add(&connection, &numbers)?;
        let most = connection.limit(Limit::SQLITE_LIMIT_ATTACHED)?;
        let most = usize::try_from(most).expect("a limit is not below 0");
        let flat = inputs.len() > most;
        let databases = inputs.iter().filter(|(_, input)| matches!(input, Input::Database(_))).count();
        if databases > most {
            let what = format!("SQLite takes at most {most} databases at once, and these are {databases}");
            return Err(Fault::message(what));
        }
        let (names, mut notes) = schema_names(&inputs);
        let single = inputs.len() == 1;
        let mut files = Vec::new();
        let mut schemas = Vec::new();
        for (name, (_, input)) in names.into_iter().zip(inputs) {
            let assets = match input {
                Input::Asset(asset) => vec![asset],
                Input::Assets(assets) => assets,
                Input::Database(path) => {
                    attach_database(&connection, &name, &path)?;
                    schemas.push((name, None));
                    continue;
                }
            };
            if !single && !flat {
                connection.execute(&format!("ATTACH ':memory:' AS {}", quoted(&name)), [])?;
            }
            for asset in assets {
                let file = OpenFile::new(files.len(), asset);
                notes.extend(file.changes().into_iter().map(|change| format!("{}: {change}", file.name())));
                schemas.push((name.clone(), Some(files.len())));
                files.push(Arc::new(file));
            }
        }
        let (damage, progress) = (Arc::new(Damage::new(left_out)), Arc::default());
        let changes = Arc::new(written.map_or_else(Changes::default, Changes::new));
        let rights = Arc::<Rights>::default();
        let of_tables = Arc::clone(&rights);
        let shared = vtab::Files {
            open: files,
            damage,
            progress,
            changes,
            rights: of_tables,
            repeated: Arc::default(),
            numbers,
        };
        let module = if written.is_some() { vtab::WRITTEN } else { vtab::MODULE };
        connection.create_module("assetq", module, Some(shared.clone()))?;
        let asked = Arc::clone(&rights);
        connection.authorizer(Some(move |context: AuthContext<'_>| asked.answer(context)))?;
        let flat = flat.then(|| flat_names(&schemas, &shared.open));
        if let Some(name) = flat.iter().flatten().last().and_then(|names| names.first()) {
            let name = quoted(name);
            notes.push(format!("of more than {most} files a table has the name of its file in its own, as in {name}"));
        }
        Ok(Self { connection, shared, schemas, rights, flat, notes, is_edited: written.is_some() })
    }

    /// Notes on names that differ from the names in the files.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The tables that statements since the last call read without a column whose values [repeat](crate::table::Column::repeats) rows:
    /// the number of the file among [`Session::assets`], the table, and these columns.
    pub fn take_repeated(&self) -> Vec<(usize, &dyn Table, Vec<usize>)> {
        let taken = std::mem::take(&mut *lock(&self.shared.repeated));
        let tables = taken.into_iter().filter_map(|((file, table), columns)| {
            Some((file, self.shared.open.get(file)?.table(table)?, columns.into_iter().collect()))
        });
        tables.collect()
    }

    /// The files, in their given order, without databases.
    pub fn assets(&self) -> impl Iterator<Item = &Asset> {
        self.shared.open.iter().map(|file| file.asset())
    }

    /// The edits of statements, by the number of the file among [`Session::assets`].
    ///
    /// # Errors
    /// When a transaction is open, whose changes SQLite would drop, or the edits do not fit together.
    pub fn edits(&self) -> Result<BTreeMap<usize, FileEdits>, Fault> {
        if !self.connection.is_autocommit() {
            return Err(Fault::message(
                "nothing is written: a transaction is open at the end; COMMIT or ROLLBACK ends it",
            ));
        }
        let mut edits = BTreeMap::new();
        for file in &self.shared.open {
            let of_file = self.shared.changes.edits(file).map_err(|error| match error.kind() {
                ErrorKind::Syntax { .. } => Fault::message(error.to_string()),
                _ => Fault::Damaged { file: file.name().to_owned(), error },
            })?;
            edits.extend(of_file.map(|of_file| (file.number(), of_file)));
        }
        Ok(edits)
    }

    /// Keeps the changes of a statement that has run. SQLite has their number as the version of its main database, and brings the
    /// number back where it rolls back.
    fn note_changes(&self, is_complete: bool) -> Result<(), Fault> {
        if !self.is_edited {
            return Ok(());
        }
        let changes = &self.shared.changes;
        let len = match changes.grown().filter(|_| is_complete) {
            Some(len) => {
                let version = i32::try_from(len).map_err(|_| Fault::message("too many changes"))?;
                self.rights.as_own(|| self.connection.pragma_update(Some("main"), CHANGES, version))?;
                len
            }
            None => {
                let known = self
                    .rights
                    .as_own(|| self.connection.pragma_query_value(Some("main"), CHANGES, |row| row.get::<_, i32>(0)))?;
                usize::try_from(known).expect("the number is the length of a list")
            }
        };
        changes.keep(len, self.connection.is_autocommit());
        Ok(())
    }

    /// Why SQLite stopped.
    fn fault(&self, error: rusqlite::Error) -> Fault {
        match (self.shared.damage.take_stopped(), self.rights.take_refused()) {
            (Some((file, error)), _) => Fault::Damaged { file, error },
            (None, Some(why)) => Fault::message(format!("not authorized: {why}")),
            (None, None) => Fault::from(error),
        }
    }

    /// The damaged rows that statements skipped since the last call.
    pub fn take_left_out(&self) -> LeftOut {
        self.shared.damage.take_left_out()
    }

    /// How many rows statements have read.
    pub fn progress(&self) -> &Progress {
        &self.shared.progress
    }

    /// A handle to stop the running statement from another thread.
    pub fn stopper(&self) -> impl Fn() + Send + 'static {
        let handle = self.connection.get_interrupt_handle();
        move || handle.interrupt()
    }

    /// Prepares one statement.
    ///
    /// # Errors
    /// SQLite's, with the place.
    pub fn ask(&self, statement: Statement<'_>) -> Result<Answer<'_>, Fault> {
        if self.is_edited && !statement.is_query_or_edit() {
            return Err(Fault::message("a file is edited by UPDATE, INSERT and DELETE, and queried by SELECT"));
        }
        self.rights.as_own(|| {
            self.create_tables(statement.text)?;
            self.shared.numbers.note(statement.text, &self.connection)
        })?;
        self.rights.take_refused();
        self.rights.take_read();
        let prepared = self.connection.prepare(statement.text).map_err(|error| match Fault::from(error) {
            _ if let Some((file, error)) = self.shared.damage.take_stopped() => Fault::Damaged { file, error },
            Fault::Statement { message, .. } if let Some(damaged) = self.damaged_table(&message) => damaged,
            Fault::Statement { message, at } => {
                let at = at.map(|at| at + statement.start);
                Fault::Statement { message: self.explained(message, statement.text), at }
            }
            fault => fault,
        })?;
        self.shared.changes.begin(self.rights.take_read());
        Ok(Answer::new(prepared, statement.text, self))
    }

    /// The table that a statement names, perhaps with a schema, and that no file has.
    pub fn missing_table(&self, statement: Statement<'_>) -> Option<String> {
        self.rights.as_own(|| self.create_tables(statement.text)).ok()?;
        match Fault::from(self.connection.prepare(statement.text).err()?) {
            Fault::Statement { message, .. } => message.strip_prefix("no such table: ").map(str::to_owned),
            _ => None,
        }
    }

    /// Makes those tables known to SQLite that a statement may be about, because their names are in it: a file may
    /// have hundreds.
    fn create_tables(&self, sql: &str) -> Result<(), Fault> {
        let sql = sql.to_ascii_lowercase();
        let mut create = String::new();
        let single = self.has_one_schema();
        let all_names = self.flat.iter().flatten().flatten();
        let mut first: HashSet<String> = all_names.map(|name| name.to_ascii_lowercase()).collect();
        for (schema, file) in self.schemas.iter().filter_map(|(schema, file)| Some((schema, (*file)?))) {
            let Some(open) = self.shared.open.get(file) else { continue };
            if let Some(flat) = &self.flat {
                let names = flat.get(file).into_iter().flatten();
                for (table, (own, name)) in open.names().iter().zip(names).enumerate() {
                    // The table's own name selects the first file that contains it.
                    let own = first.insert(own.to_ascii_lowercase()).then_some(own);
                    for name in own.into_iter().chain([name]).filter(|name| may_name(&sql, name)) {
                        create.push_str(&create_table(&quoted(name), file, table));
                    }
                }
                continue;
            }
            // The schema of a single file exists for statements that name it.
            let own = single && may_name(&sql, schema) && self.attach(schema)?;
            let schemas = [(single, "main"), (own || !single, schema)];
            let names = open.names().iter().map(String::as_str).enumerate();
            let alias = open.table_alias().filter(|(_, alias)| !self.has_table(alias));
            for (table, name) in names.chain(alias).filter(|(_, name)| may_name(&sql, name)) {
                for (_, schema) in schemas.iter().filter(|(wanted, _)| *wanted) {
                    create.push_str(&create_table(&format!("{}.{}", quoted(schema), quoted(name)), file, table));
                }
            }
        }
        if create.is_empty() {
            return Ok(());
        }
        Ok(self.connection.execute_batch(&format!("SAVEPOINT assetq; {create} RELEASE assetq;"))?)
    }

    /// Whether some file has a table of this name.
    fn has_table(&self, name: &str) -> bool {
        self.shared.open.iter().any(|file| file.names().iter().any(|own| own.eq_ignore_ascii_case(name)))
    }

    /// Attaches a schema, unless a transaction is open.
    fn attach(&self, schema: &str) -> Result<bool, Fault> {
        let known = "SELECT count(*) FROM pragma_database_list WHERE name = ?1 COLLATE NOCASE";
        if self.connection.query_row(known, [schema], |row| row.get::<_, i64>(0))? > 0 {
            return Ok(!schema.eq_ignore_ascii_case("main"));
        }
        Ok(self.connection.execute(&format!("ATTACH ':memory:' AS {}", quoted(schema)), []).is_ok())
    }

    /// The damage of a file that may have the table that SQLite does not find.
    fn damaged_table(&self, message: &str) -> Option<Fault> {
        let table = message.strip_prefix("no such table: ")?;
        let own = table.rsplit('.').next().unwrap_or(table);
        self.shared.open.iter().find_map(|file| {
            let error = file.asset().reader().table_damage(own)?.context(format_args!("no table {own}"));
            Some(Fault::Damaged { file: file.name().to_owned(), error })
        })
    }

    /// SQLite's message, with advice if known.
    fn explained(&self, message: String, sql: &str) -> String {
        if let Some(why) = self.rights.take_refused() {
            return format!("{message}: {why}");
        }
        let mut words = sql.split([' ', '\n', '\t', ',', ';', '(', ')']);
        // In quotes it may be a text; SQLite's message contains it if it is a name.
        let is_file = |word: &&str| word.contains('/') && Path::new(word).exists();
        let quoted = sql.split(['\'', '"']).filter(|word| message.contains(word));
        if let Some(word) = words.by_ref().chain(quoted).find(is_file) {
            return format!("{message}; {word} is a file: files follow the query, and it names their tables");
        }
        let near = message.strip_prefix("near \"").and_then(|rest| rest.strip_suffix("\": syntax error"));
        let is_name = near.is_some_and(|word| {
            let mut names = self.tables().flat_map(|table| std::iter::once(table.name).chain(table.columns));
            names.any(|name| name.eq_ignore_ascii_case(word))
        });
        if let Some(word) = near.filter(|_| is_name) {
            let alias = file::alias_of(word).map_or_else(String::new, |alias| format!(", or is called {alias}"));
            return format!("{message}; as a name it goes in double quotes, as it is a word of SQL: \"{word}\"{alias}");
        }
        // The name stands in double quotes, in which other programs write texts.
        let (message, is_quoted) = match message.split_once(" - should this be a string literal") {
            Some((message, _)) => (message, true),
            None => (&*message, false),
        };
        let column = message
            .strip_prefix("no such column: ")
            .map(|name| name.rsplit('.').next().unwrap_or(name).trim_matches('"'))
            .or_else(|| message.split_once(" has no column named ").map(|(_, name)| name));
        if let Some(column) = column {
            let tables = self.tables().filter(|table| is_named(sql, &table.name));
            let names: Vec<String> = tables.flat_map(|table| table.columns).collect();
            let hint = suggest::hint(column, &names);
            if is_quoted && hint.is_empty() {
                return format!("{message}; texts go in single quotes: '{}'", column.replace('\'', "''"));
            }
            let columns = self.columns_of(sql);
            let columns = if hint.is_empty() { columns.as_str() } else { columns.trim_start_matches(';') };
            return format!("{message}{hint}{columns}");
        }
        match message.strip_prefix("no such table: ") {
            Some(table) => {
                if self.shared.open.is_empty() {
                    return format!("{message}; no file was given: files follow the query, as in: sql QUERY FILE");
                }
                let own = table.rsplit('.').next().unwrap_or(table);
                if let Some(why) = self.shared.open.iter().find_map(|file| file.asset().reader().absent(own)) {
                    return format!("{message}: {why}");
                }
                let names: Vec<String> = self.tables().map(|table| table.shown()).collect();
                let hint = suggest::hint(table, &names);
                let (shown, more) = (names.get(..12).unwrap_or(&names), if names.len() > 12 { ", …" } else { "" });
                let separator = if hint.is_empty() { "; there" } else { " There" };
                let inside: String =
                    self.shared.open.iter().map(|file| hint_of_describing_files(file.asset(), own)).collect();
                format!("{message}{hint}{separator} are {}{more}{inside}", shown.join(", "))
            }
            None => message.to_owned(),
        }
    }

    /// The columns of the tables that a statement names, in words.
    fn columns_of(&self, sql: &str) -> String {
        const MOST: usize = 40;
        let mut said = String::new();
        for table in self.tables().filter(|table| is_named(sql, &table.name)) {
            let names: Vec<String> = table.columns.iter().take(MOST).map(|name| in_sql(name)).collect();
            let more = if table.columns.len() > MOST { ", …" } else { "" };
            said.push_str(&format!("; {} has {}{more}", table.shown(), names.join(", ")));
        }
        said
    }

    /// The tables of all files.
    pub fn tables(&self) -> impl Iterator<Item = TableName> {
        let schemas = self.schemas.iter().filter_map(|(schema, file)| Some((schema, self.shared.open.get((*file)?)?)));
        let several = !self.has_one_schema();
        schemas.flat_map(move |(schema, file)| {
            let flat = self.flat.as_ref().and_then(|flat| flat.get(file.number()));
            file.names().iter().enumerate().map(move |(index, name)| TableName {
                schema: (several && flat.is_none()).then(|| schema.clone()),
                name: flat.and_then(|names| names.get(index)).unwrap_or(name).clone(),
                columns: file.columns(index),
                described: file.described(index),
            })
        })
    }

    /// The tables that a statement names without a schema and that several files have, each with what it means.
    pub fn ambiguous(&self, sql: &str) -> Vec<String> {
        if self.has_one_schema() || self.flat.is_some() {
            return Vec::new();
        }
        let sql = sql.to_ascii_lowercase();
        let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let files = self.schemas.iter().filter_map(|(schema, file)| Some((schema, self.shared.open.get((*file)?)?)));
        for (schema, own) in files.flat_map(|(schema, file)| file.names().iter().map(move |own| (schema, own))) {
            let name = own.to_ascii_lowercase();
            let is_word = file::alias_of(&name).is_some();
            let is_meant = if is_word { sql.contains(&quoted(&name)) } else { is_named(&sql, &name) };
            if is_meant && !sql.contains(&format!(".{name}")) && !sql.contains(&format!(".{}", quoted(&name))) {
                named.entry(name).or_default().push(format!("{}.{}", in_sql(schema), in_sql(own)));
            }
        }
        let several = named.into_iter().filter_map(|(name, all)| {
            let (first, rest) = all.split_first().filter(|(_, rest)| !rest.is_empty())?;
            Some(format!("{name} without a schema is {first}, and not {}", rest.join(", ")))
        });
        several.collect()
    }

    fn has_one_schema(&self) -> bool {
        self.schemas.windows(2).all(|pair| pair[0].0 == pair[1].0)
    }

    /// The schemas: one for each file, or for each database if there are too many files.
    pub fn schemas(&self) -> impl Iterator<Item = &str> {
        let schemas = self.schemas.iter().filter(|(_, file)| self.flat.is_none() || file.is_none());
        let mut names: Vec<&str> = schemas.map(|(name, _)| name.as_str()).collect();
        names.dedup();
        names.into_iter()
    }
}

fn is_named(sql: &str, name: &str) -> bool {
    sql.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word.eq_ignore_ascii_case(name))
}

/// Whether a statement in lower case may be about a table of this name.
fn may_name(sql: &str, name: &str) -> bool {
    // How a name with quotes in it is written there is not worth knowing.
    name.contains(['"', '`']) || ["sqlite_", "pragma", &name.to_ascii_lowercase()].iter().any(|word| sql.contains(word))
}

fn create_table(name: &str, file: usize, table: usize) -> String {
    format!("CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING assetq({file}, {table});")
}

/// Attaches a database of SQLite, which is only read.
fn attach_database(connection: &Connection, name: &str, path: &Path) -> Result<(), Fault> {
    let shown = path.to_string_lossy();
    if let Some(reason) = unreadable_log(path) {
        let advice = "in sqlite3, PRAGMA wal_checkpoint(TRUNCATE) moves it into the database";
        return Err(Fault::System(format!("{shown}: {reason}; {advice}")));
    }
    let attached = connection.execute(&format!("ATTACH ?1 AS {}", quoted(name)), [uri(path)]);
    attached.map(drop).map_err(|error| match Fault::from(error) {
        Fault::System(what) => Fault::System(format!("{shown}: {what}")),
        Fault::Database(what) => Fault::Database(format!("{shown}: {what}")),
        other => Fault::message(format!("{shown}: {other}")),
    })
}

/// The names of the tables of each file if all are in one schema: all different.
fn flat_names(schemas: &[(String, Option<usize>)], files: &[Arc<OpenFile>]) -> Vec<Vec<String>> {
    let named = schemas.iter().filter_map(|(schema, file)| Some((schema, files.get((*file)?)?)));
    let names = named.flat_map(|(schema, file)| file.names().iter().map(move |table| format!("{schema}.{table}")));
    let mut names = unique(names.collect::<Vec<_>>().iter().map(|name| &**name)).into_iter();
    files.iter().map(|file| names.by_ref().take(file.names().len()).collect()).collect()
}

/// A table as statements name it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TableName {
    /// The schema, if there are several.
    pub schema: Option<String>,
    /// The table's name there.
    pub name: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    described: String,
}

impl TableName {
    /// The table's name in a statement, with its schema if there are several.
    pub fn shown(&self) -> String {
        let name = in_sql(&self.name);
        self.schema.as_ref().map_or(name.clone(), |schema| format!("{}.{name}", in_sql(schema)))
    }

    /// The table's columns with their types, for people: ids are text that compares by number, `JSON` is nested.
    pub fn schema_text(&self) -> String {
        format!("CREATE TABLE {}({});", self.shown(), self.described)
    }
}

/// The functions besides SQLite's own, with their descriptions.
pub fn functions() -> &'static [(&'static str, &'static str)] {
    &functions::FUNCTIONS
}

/// The names of all functions, SQLite's own and those of [`functions`], in order.
pub fn function_names() -> Vec<String> {
    let names = || {
        let connection = Connection::open_in_memory()?;
        functions::add(&connection, &Arc::default())?;
        let mut names = connection.prepare("SELECT DISTINCT name FROM pragma_function_list ORDER BY name")?;
        names.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
    };
    let mut names = names().unwrap_or_default();
    // Operators have functions, too.
    names.retain(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !rights::is_forbidden(name));
    names
}

/// The names of schemas, all different, and notes on names that differ from the requested ones.
fn schema_names(inputs: &[(String, Input)]) -> (Vec<String>, Vec<String>) {
    let wanted = ["main", "temp"].into_iter().chain(inputs.iter().map(|(name, _)| name.as_str()));
    let names: Vec<String> = unique(wanted).into_iter().skip(2).collect();
    let renamed = inputs.iter().zip(&names).filter(|((wanted, _), name)| wanted != *name && inputs.len() > 1);
    let notes = renamed.map(|((wanted, input), name)| {
        let file = match input {
            Input::Asset(asset) => asset.source().name().into(),
            Input::Assets(assets) => assets.first().map_or("", |asset| asset.source().name()).into(),
            Input::Database(path) => path.to_string_lossy(),
        };
        format!("{file}: is {} here, as {wanted:?} is taken; NAME=FILE chooses another name", in_sql(name))
    });
    let notes = notes.collect();
    (names, notes)
}

/// The address by which SQLite opens a file without ever writing to it.
fn uri(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file:");
    // Separators as well: after two of them SQLite would take the name of a server.
    for &byte in unlimited(&absolute).as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => uri.push(byte.into()),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    // Beside a database with a write-ahead log SQLite makes files, also to read it. Where the log is empty it is not needed.
    uri + if takes_log(path) && !has_log(path) { "?mode=ro&immutable=1" } else { "?mode=ro&readonly_shm=1" }
}

/// Whether the mode of a database is that of a write-ahead log.
fn takes_log(path: &Path) -> bool {
    /// The offset in the header of the database's mode, and its value for a write-ahead log.
    const READ_VERSION: (usize, u8) = (19, 2);
    let head: Option<[u8; READ_VERSION.0 + 1]> = head_of(path);
    head.is_some_and(|head| head.last() == Some(&READ_VERSION.1))
}

/// Whether a log beside a database contains further changes.
fn has_log(path: &Path) -> bool {
    std::fs::metadata(beside(path, "-wal")).is_ok_and(|meta| meta.len() > 0)
}

/// Why the log beside a database cannot be read, if so.
fn unreadable_log(path: &Path) -> Option<&'static str> {
    if !takes_log(path) || !has_log(path) {
        None
    } else if cfg!(target_os = "wasi") {
        Some("its write-ahead log cannot be read in a page, as SQLite needs memory that programs share for it")
    // The remains of a crashed process, or a copy of them. On Windows SQLite makes the missing file.
    } else if !beside(path, "-shm").exists() {
        Some("its write-ahead log has no -shm file, and nothing is written to make one")
    } else {
        None
    }
}

/// The file of SQLite that belongs to a database.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
