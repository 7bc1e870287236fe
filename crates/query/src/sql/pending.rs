//! Pending changes of statements, and the files that they make.
//!
//! All changes are in one log. SQLite keeps the log's length as the version of its main database, which is in memory: a transaction
//! or a savepoint that is rolled back brings the length back, and the log is cut there. A statement that reads a table of a changed
//! file reads the file that the statements before it made: the format builds it in memory, once.

use super::cells::SqlCell;
use super::file::OpenFile;
use super::rowids::{Renumbering, RowIds};
use crate::asset::Asset;
use crate::diff;
use crate::edit::{
    ColumnValues, EditPlan, Editor, Pieces, ReadBack, Steps, TableEdits, check_cell, insert_cells, key_of, put_cell,
    refused, rows_may_change,
};
use crate::error::Result;
use crate::options::Options;
use crate::report::Progress;
use crate::table::{Accepts, Column, RowCursor, Table, Value, advance};
use crate::threads::lock;
use crate::writable::{cell, cut, id_of};
use rusqlite::types::{ToSql as _, ToSqlOutput, Value as Owned, ValueRef};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

/// The edits of a file by statements.
#[derive(Debug, Clone)]
pub enum FileEdits {
    /// The edits of its tables.
    Rows(Vec<TableEdits>),
    /// A file that was made in steps, because statements read what others before them had changed.
    Steps(Box<Steps>),
}

/// The number of a file and of one of its tables.
pub(super) type TableNumber = (usize, usize);

#[derive(Debug)]
struct PendingChange {
    table: TableNumber,
    row: RowChange,
}

/// A change, with the number of its row in the file that the statement has read.
#[derive(Debug)]
enum RowChange {
    Set(usize, ColumnValues),
    Add(ColumnValues),
    Remove(usize),
}

/// A file after the first changes of the log.
#[derive(Debug)]
struct Draft {
    /// The number of changes in it.
    position: usize,
    steps: Steps,
    /// The number of steps.
    count: usize,
    ids: HashMap<usize, Arc<RowIds>>,
    /// The file, unless later changes were read since.
    file: Option<Arc<OpenFile>>,
}

#[derive(Debug, Default)]
struct Journal {
    log: Vec<PendingChange>,
    /// The length of the log that SQLite knows: all changes of complete statements.
    kept: usize,
    /// The drafts of each file, in order.
    drafts: HashMap<usize, Vec<Draft>>,
    /// The number of rows that were inserted into a table since the last draft of its file.
    added: HashMap<TableNumber, usize>,
    texts: Arc<GivenTexts>,
    /// Whether the statement reads tables, so that its values may be copies.
    is_reading: bool,
}

/// Texts that statements gave for ids. The file holds the ids alone.
#[derive(Debug, Clone, Default)]
pub(super) struct GivenTexts(HashMap<u64, Arc<str>>);

impl GivenTexts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of an id.
    pub(super) fn get(&self, id: &Value<'_>) -> Option<&str> {
        self.0.get(&number_of_id(id)?).map(|text| &**text)
    }
}

/// Ids of 32 and of 64 bits are different numbers, except with a probability of 2^-32.
fn number_of_id(id: &Value<'_>) -> Option<u64> {
    match id {
        Value::Id64(id) => Some(*id),
        Value::Id32(id) => Some((*id).into()),
        _ => None,
    }
}

impl Journal {
    /// The number of changes in the last draft of a file.
    fn drafted(&self, file: usize) -> usize {
        self.drafts.get(&file).and_then(|drafts| drafts.last()).map_or(0, |draft| draft.position)
    }

    /// The changes of a file from number `from` on.
    fn changes(&self, file: usize, from: usize) -> impl Iterator<Item = &PendingChange> {
        self.log.iter().skip(from).filter(move |change| change.table.0 == file)
    }

    fn count_added(&mut self) {
        let mut added = HashMap::new();
        for (number, change) in self.log.iter().enumerate() {
            if matches!(change.row, RowChange::Add(_)) && number >= self.drafted(change.table.0) {
                *added.entry(change.table).or_default() += 1;
            }
        }
        self.added = added;
    }
}

/// The rows of a table that statements changed, in the order of their numbers.
#[derive(Default)]
struct RowsChanged {
    set: BTreeMap<usize, ColumnValues>,
    add: Vec<ColumnValues>,
    remove: BTreeSet<usize>,
}

/// The edits of each table, by its number.
fn edits_of<'c>(file: &OpenFile, changes: impl Iterator<Item = &'c PendingChange>) -> BTreeMap<usize, TableEdits> {
    let mut tables: BTreeMap<usize, RowsChanged> = BTreeMap::new();
    for change in changes {
        let rows = tables.entry(change.table.1).or_default();
        match &change.row {
            RowChange::Add(cells) => rows.add.push(cells.clone()),
            RowChange::Remove(row) => drop(rows.remove.insert(*row)),
            RowChange::Set(row, cells) => {
                let set = rows.set.entry(*row).or_default();
                // Of two changes of a row by one statement, the last one counts.
                set.retain(|(column, _)| cell(cells, *column).is_none());
                set.extend(cells.iter().cloned());
                set.sort_by_key(|(column, _)| *column);
            }
        }
    }
    let edits = tables.into_iter().filter_map(|(index, RowsChanged { mut set, add, remove })| {
        set.retain(|row, _| !remove.contains(row));
        let (set, remove) = (set.into_iter().collect(), remove.into_iter().collect());
        Some((index, TableEdits { table: file.table(index)?.name().to_owned(), set, add, remove }))
    });
    edits.collect()
}

/// The changes of all files.
#[derive(Debug, Default)]
pub(super) struct Changes {
    journal: Mutex<Journal>,
    options: Options,
}

impl Changes {
    pub(super) fn new(options: &Options) -> Self {
        Self { journal: Mutex::default(), options: options.clone() }
    }

    /// The length of the log, if the statement that just ran has changed rows.
    pub(super) fn grown(&self) -> Option<usize> {
        let journal = lock(&self.journal);
        Some(journal.log.len()).filter(|len| *len > journal.kept)
    }

    /// Keeps the first `len` changes, the changes of complete statements. If no transaction can bring earlier drafts back, they are
    /// dropped.
    pub(super) fn keep(&self, len: usize, is_final: bool) {
        let journal = &mut *lock(&self.journal);
        if len < journal.log.len() {
            journal.log.truncate(len);
            for drafts in journal.drafts.values_mut() {
                drafts.retain(|draft| draft.position <= len);
            }
            journal.count_added();
        }
        journal.kept = len;
        for drafts in journal.drafts.values_mut().filter(|_| is_final) {
            drafts.drain(..drafts.len().saturating_sub(1));
        }
    }

    /// Notes whether the statement that runs next reads tables.
    pub(super) fn begin(&self, is_reading: bool) {
        lock(&self.journal).is_reading = is_reading;
    }

    fn log(&self, table: TableNumber, row: RowChange) {
        lock(&self.journal).log.push(PendingChange { table, row });
    }

    /// The texts of ids that statements gave so far.
    pub(super) fn texts(&self) -> Arc<GivenTexts> {
        Arc::clone(&lock(&self.journal).texts)
    }

    /// Notes the text of an id, if `given` is one in this column.
    fn note_text(&self, table: &dyn Table, column: usize, given: &Value<'_>) {
        let (Some(column), Value::Text(text)) = (table.columns().get(column), given) else { return };
        if let Some(id) = id_of(column.accepts, text).as_ref().and_then(number_of_id) {
            let journal = &mut *lock(&self.journal);
            Arc::make_mut(&mut journal.texts).0.insert(id, Arc::from(&**text));
        }
    }

    /// The last file that was made of `base`.
    pub(super) fn current(&self, base: &Arc<OpenFile>) -> Result<Arc<OpenFile>> {
        let mut journal = lock(&self.journal);
        let Some(draft) = journal.drafts.get_mut(&base.number()).and_then(|drafts| drafts.last_mut()) else {
            return Ok(Arc::clone(base));
        };
        if let Some(file) = &draft.file {
            return Ok(Arc::clone(file));
        }
        let asset = draft.steps.open(base.asset(), &self.options)?;
        let file = Arc::new(base.after(asset, draft.ids.clone())?);
        draft.file = Some(Arc::clone(&file));
        Ok(file)
    }

    /// The file that the complete statements have made of `base`.
    pub(super) fn settled(&self, base: &Arc<OpenFile>) -> Result<Arc<OpenFile>> {
        let before = self.current(base)?;
        let (number, edits, kept) = {
            let journal = lock(&self.journal);
            let number = base.number();
            let open = journal.changes(number, journal.drafted(number));
            (number, edits_of(&before, open), journal.kept)
        };
        if edits.is_empty() {
            return Ok(before);
        }
        let mut editor = Editor::with_options(before.asset(), &self.options)?;
        edits.values().try_for_each(|edits| editor.resolved_edits(edits.clone()))?;
        let plan = editor.finish_step()?;
        let (asset, pieces) = plan.step()?;
        let ids = ids_after(&before, &asset, &edits, &plan, &pieces)?;
        let file = Arc::new(base.after(asset, ids.clone())?);
        let mut tables: BTreeSet<String> = edits.into_values().map(|edits| edits.table).collect();
        tables.extend(plan.edits().iter().map(|edits| edits.table.clone()));
        let mut journal = lock(&self.journal);
        let drafts = journal.drafts.entry(number).or_default();
        let mut steps = Steps { pieces, tables: Vec::new(), done: 0 };
        let mut count = 1;
        if let Some(last) = drafts.last_mut() {
            // It is made again if a transaction goes back to it.
            last.file = None;
            steps.pieces = steps.pieces.after(&last.steps.pieces);
            tables.extend(last.steps.tables.iter().cloned());
            count += last.count;
        }
        // Which rows differ in the end, no step knows.
        steps.pieces.read_back = ReadBack::All;
        steps.tables = tables.into_iter().collect();
        drafts.push(Draft { position: kept, steps, count, ids, file: Some(Arc::clone(&file)) });
        journal.added.retain(|table, _| table.0 != number);
        Ok(file)
    }

    /// The edits of a file; `None` if no statement changes it.
    pub(super) fn edits(&self, base: &Arc<OpenFile>) -> Result<Option<FileEdits>> {
        let number = base.number();
        {
            let journal = lock(&self.journal);
            let drafts = journal.drafts.get(&number).and_then(|drafts| drafts.last()).map_or(0, |draft| draft.count);
            let is_open = journal.changes(number, journal.drafted(number)).next().is_some();
            match (drafts, is_open) {
                (0, false) => return Ok(None),
                (0, true) | (1, false) => {
                    let edits = edits_of(base, journal.changes(number, 0)).into_values().collect();
                    return Ok(Some(FileEdits::Rows(edits)));
                }
                _ => {}
            }
        }
        let new = self.settled(base)?;
        let journal = lock(&self.journal);
        let Some(last) = journal.drafts.get(&number).and_then(|drafts| drafts.last()) else { return Ok(None) };
        let mut steps = last.steps.clone();
        for table in diff::tables(base.asset(), new.asset(), &steps.tables)? {
            steps.done += table.find(&Progress::default(), 0).len() as u64;
        }
        Ok(Some(FileEdits::Steps(Box::new(steps))))
    }

    /// The file into which a statement inserts a row. What statements before this one changed is in it if the row may depend on that.
    pub(super) fn for_insert(&self, base: &Arc<OpenFile>, index: usize) -> Result<Arc<OpenFile>> {
        let is_item = base.table(index).is_some_and(|table| table.nature().item().is_some());
        let is_read = {
            let journal = lock(&self.journal);
            let mut open = journal.log[..journal.kept].iter().skip(journal.drafted(base.number()));
            open.any(|change| change.table.0 == base.number() && (is_item || change.table.1 != index))
        };
        if is_read { self.settled(base) } else { self.current(base) }
    }

    pub(super) fn delete(&self, at: TableNumber, table: &dyn Table, row: usize) -> Result<()> {
        rows_may_change(table)?;
        self.log(at, RowChange::Remove(row));
        Ok(())
    }

    /// Inserts a row, and returns its id. `first` is the id of the next row in the file.
    pub(super) fn insert(
        &self,
        at: TableNumber,
        table: &dyn Table,
        values: impl Iterator<Item = Result<Value<'static>>>,
        alias: Option<usize>,
        first: usize,
    ) -> Result<usize> {
        rows_may_change(table)?;
        let mut values: Vec<Result<Value<'static>>> = values.collect();
        let hidden = values.get(table.columns().len()).is_some_and(|value| !matches!(value, Ok(Value::Null)));
        if let Some(column) = alias.filter(|_| hidden) {
            values.swap(column, table.columns().len());
        }
        let given = values.into_iter().take(table.columns().len()).collect::<Result<Vec<_>>>()?;
        given.iter().enumerate().for_each(|(column, value)| self.note_text(table, column, value));
        let is_copy = lock(&self.journal).is_reading;
        let cells = insert_cells(table, given, is_copy)?;
        let journal = &mut *lock(&self.journal);
        journal.log.push(PendingChange { table: at, row: RowChange::Add(cells) });
        let added = journal.added.entry(at).or_default();
        *added += 1;
        Ok(first + *added - 1)
    }

    /// Sets the changed cells of a row: those in `values`, by the numbers of their columns.
    pub(super) fn update(
        &self,
        at: TableNumber,
        table: &dyn Table,
        row: usize,
        values: &[(usize, ValueRef<'_>)],
    ) -> Result<()> {
        let (mut cursor, texts) = (table.cursor(row), self.texts());
        if !advance(&mut *cursor, drop) {
            return Err(crate::table::no_cell(table.name(), row, 0));
        }
        let within = |error: crate::error::Error| match key_of(table, row) {
            Ok(key) => error.context(format_args!("row {}", cut(key.to_string()))),
            Err(_) => error,
        };
        let mut changed = ColumnValues::new();
        for (column, wanted) in values {
            let now = seen(&*cursor, table, *column, &texts)?;
            // The text of the old id says nothing about a new one.
            if is_seen_as(&now, wanted) {
                continue;
            }
            // A value of another type differs from the present one.
            let is_retyped = table.typed_by(*column).is_some_and(|types| cell(&changed, types).is_some());
            let given = owned(*wanted).map_err(|error| match table.columns().get(*column) {
                Some(column) => error.context(format_args!("{}: column {}", table.name(), column.name)),
                None => error,
            });
            let now = Some(&now).filter(|_| !is_retyped);
            let given = given.map_err(within)?;
            self.note_text(table, *column, &given);
            let checked = check_cell(table, *column, given.clone(), now).map_err(within)?;
            put_cell(table, &mut changed, *column, checked, &given).map_err(within)?;
        }
        self.log(at, RowChange::Set(row, changed));
        Ok(())
    }
}

fn moves_rows(edits: &TableEdits) -> bool {
    !edits.add.is_empty() || !edits.remove.is_empty()
}

/// The ids of rows in the tables of `after` whose rows are no longer numbered as in the file on disk. `asked` are the edits of
/// `before` that statements requested, by the number of the table.
fn ids_after(
    before: &OpenFile,
    after: &Asset,
    asked: &BTreeMap<usize, TableEdits>,
    plan: &EditPlan<'_>,
    pieces: &Pieces,
) -> Result<HashMap<usize, Arc<RowIds>>> {
    let mut ids = HashMap::new();
    let has_moved = plan.edits().iter().any(moves_rows);
    for (index, table) in before.tables().enumerate() {
        let old = before.ids(index);
        let written = plan.edits().iter().find(|edits| edits.table == table.name());
        let edits = written.or_else(|| asked.get(&index));
        let is_edited = written.is_some_and(moves_rows) || asked.get(&index).is_some_and(moves_rows);
        let may_follow = has_moved && pieces.also.iter().any(|also| also == table.name());
        let Some(new) = after.reader().table(table.name()).filter(|_| is_edited || may_follow || old.is_some()) else {
            continue;
        };
        let renumbering = Renumbering { before: table, after: &*new, ids: old.map(|ids| &**ids) };
        let is_in_order = written.is_some_and(moves_rows) && !pieces.vouched.iter().any(|name| name == table.name());
        let new_ids = match edits {
            Some(edits) if is_in_order => {
                let gone = asked.get(&index).into_iter().flat_map(|edits| &edits.remove).copied().collect();
                renumbering.in_order(edits, pieces, &gone)?
            }
            _ if is_edited || new.len()? != table.len()? => renumbering.by_key(edits)?,
            _ => {
                ids.extend(old.map(|old| (index, Arc::clone(old))));
                continue;
            }
        };
        ids.insert(index, Arc::new(new_ids));
    }
    Ok(ids)
}

/// A cell as statements see it: the text of an id may be known by a statement alone.
pub(super) fn seen<'v>(
    rows: &'v dyn RowCursor,
    table: &dyn Table,
    column: usize,
    texts: &'v GivenTexts,
) -> Result<Value<'v>> {
    let value = rows.value(column)?;
    if texts.is_empty() || !value.is_null() || !table.columns().get(column).is_some_and(is_text_of_id) {
        return Ok(value);
    }
    let id = rows.value(column - 1)?;
    Ok(texts.get(&id).map_or(value, Value::text))
}

/// Whether a column has the texts of the ids in the column before it.
pub(super) fn is_text_of_id(column: &Column) -> bool {
    matches!(column.accepts, Accepts::Path | Accepts::Name)
}

fn is_seen_as(now: &Value<'_>, wanted: &ValueRef<'_>) -> bool {
    let cell = SqlCell(now);
    match (cell.to_sql(), wanted) {
        // 0.0 and -0.0 have different bits.
        (Ok(ToSqlOutput::Borrowed(ValueRef::Real(seen))), ValueRef::Real(wanted)) => seen.to_bits() == wanted.to_bits(),
        (Ok(ToSqlOutput::Borrowed(seen)), wanted) => seen == *wanted,
        (Ok(ToSqlOutput::Owned(Owned::Text(text))), wanted) => *wanted == ValueRef::Text(text.as_bytes()),
        _ => false,
    }
}

/// Converts a value of SQLite to a value of an edit.
pub(super) fn owned(value: ValueRef<'_>) -> Result<Value<'static>> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::F64(number),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Value::owned(text.to_owned()),
            Err(_) => return Err(refused("a text that is not UTF-8")),
        },
        ValueRef::Blob(_) => return Err(refused("a blob fits into no column")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_numbers_of_sqlite_are_values_of_edits_and_bytes_are_not() {
        for (given, value) in [
            (ValueRef::Null, Value::Null),
            (ValueRef::Integer(-3), Value::Int(-3)),
            (ValueRef::Real(0.5), Value::F64(0.5)),
            (ValueRef::Text("é".as_bytes()), Value::text("é")),
        ] {
            assert_eq!(owned(given).unwrap(), value);
        }
        for (given, what) in [
            (ValueRef::Text(b"\xFF"), "a text that is not UTF-8"),
            (ValueRef::Blob(b"a"), "a blob fits into no column"),
        ] {
            assert!(owned(given).unwrap_err().to_string().contains(what), "{what}");
        }
    }
}
