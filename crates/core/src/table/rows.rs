//! Tables declared column by column over rows that are located once: [`DeclaredTable`].

use super::{
    CellSink, Column, ColumnTexts, Literal, Nature, OrientedBox, PlainCell, Region, RowCursor, RowEdits, StoredRows,
    Table, Value, no_cell,
};
use crate::bytes::View;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::Field;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

type Count<'a> = Box<dyn Fn() -> Result<usize> + Send + Sync + 'a>;
type Locate<'a, R> = Box<dyn Fn(usize, Option<R>) -> Result<Option<R>> + Send + Sync + 'a>;
type FromMap<'a, R> = Box<dyn Fn(&R, usize) -> Result<Value<'a>> + Send + Sync + 'a>;
type FromRow<'a, R> = Box<dyn for<'r> Fn(&'r R) -> Result<Value<'r>> + Send + Sync + 'a>;
pub type Find<'a> = Box<dyn Fn(&Value<'_>) -> Option<Result<Vec<usize>>> + Send + Sync + 'a>;
type Search<'a> = Box<dyn Fn(&Literal) -> Option<Vec<usize>> + Send + Sync + 'a>;
type Look<'a> = Box<dyn Fn(Range<usize>) -> usize + Send + Sync + 'a>;
type Touch<'a> = Box<dyn Fn(&[Range<usize>]) + Send + Sync + 'a>;
type IsAt<'a, R> = Box<dyn Fn(&R, &Region) -> Result<bool> + Send + Sync + 'a>;

/// A table whose rows are values of type `R`, which borrow from a file for `'a`. A format provides the number of rows,
/// a function that locates a row, and a function for each column that reads its cell. Walks, probes and errors are
/// implemented here.
///
/// ```
/// use assetq::table::{Column, Kind, Table, DeclaredTable};
///
/// let words = ["bow", "stern"];
/// let table = DeclaredTable::new("words", || Ok(words.len()), |row| Ok(words.get(row).copied()))
///     .column(Column::new("word", Kind::Text).key(), |word| Ok((*word).into()))
///     .column(Column::new("length", Kind::Uint), |word| Ok(word.len().into()));
/// assert_eq!(table.value(1, 1)?.to_string(), "5");
/// # Ok::<(), assetq::Error>(())
/// ```
#[must_use]
pub struct DeclaredTable<'a, R> {
    name: Cow<'a, str>,
    columns: Vec<Column>,
    /// The source of each column's cells.
    cells: Vec<CellSource<'a>>,
    gets: Vec<Get<'a, R>>,
    count: Count<'a>,
    known: Option<Box<dyn Fn() -> Option<usize> + Send + Sync + 'a>>,
    damage: Option<Box<dyn Fn() -> Option<Error> + Send + Sync + 'a>>,
    locate: Locate<'a, R>,
    /// Whether `locate` depends on the previous row.
    takes_over: bool,
    is_at: Option<IsAt<'a, R>>,
    prefetch: Option<Touch<'a>>,
    nature: Nature,
    stored: Option<Arc<dyn StoredRows + 'a>>,
}

enum Get<'a, R> {
    FromMap(FromMap<'a, R>),
    FromRow(FromRow<'a, R>),
    Plain(Box<dyn PlainField<'a, R> + 'a>),
}

/// A field of a row, as a value or as what it is.
trait PlainField<'a, R>: Send + Sync {
    fn value(&self, row: &R) -> Result<Value<'a>>;
    fn put(&self, row: &R, sink: &mut dyn CellSink) -> Result<()>;
}

/// A field that a function reads.
struct ReadField<F>(F);

impl<'a, R, T: PlainCell<'a>, F: Fn(&R) -> Result<T> + Send + Sync> PlainField<'a, R> for ReadField<F> {
    fn value(&self, row: &R) -> Result<Value<'a>> {
        (self.0)(row).map(Into::into)
    }

    fn put(&self, row: &R, sink: &mut dyn CellSink) -> Result<()> {
        (self.0)(row)?.put(sink)
    }
}

struct CellSource<'a> {
    get: usize,
    /// The column's number among the columns that share `get`.
    number: usize,
    find: Option<Find<'a>>,
    /// Whether `find` can be used, if only the file decides.
    finds: Option<Box<dyn Fn() -> bool + Send + Sync + 'a>>,
    search: Option<Search<'a>>,
    texts: Option<Arc<dyn ColumnTexts + 'a>>,
    look: Option<Look<'a>>,
}

impl<'a> CellSource<'a> {
    /// The index of the column, if the file lets it be used.
    fn index(&self) -> Option<&Find<'a>> {
        self.find.as_ref().filter(|_| self.finds.as_ref().is_none_or(|finds| finds()))
    }
}

impl<'a, T: Sync> DeclaredTable<'a, (usize, &'a T)> {
    /// A table without columns over a slice. A row is an item and its number.
    pub fn over(name: impl Into<Cow<'a, str>>, rows: &'a [T]) -> Self {
        Self::new(name, || Ok(rows.len()), |row| Ok(rows.get(row).map(|item| (row, item))))
    }
}

impl<'a, R> DeclaredTable<'a, R> {
    /// A table without columns. `count` returns the number of rows that can be located; `locate` returns a row, or
    /// `None` past the last.
    pub fn new(
        name: impl Into<Cow<'a, str>>,
        count: impl Fn() -> Result<usize> + Send + Sync + 'a,
        locate: impl Fn(usize) -> Result<Option<R>> + Send + Sync + 'a,
    ) -> Self {
        Self { takes_over: false, ..Self::walked(name, count, move |row, _| locate(row)) }
    }

    /// As [`DeclaredTable::new`], for rows that depend on the previous row: a walk passes that row to `locate`, a single
    /// lookup passes none.
    pub fn walked(
        name: impl Into<Cow<'a, str>>,
        count: impl Fn() -> Result<usize> + Send + Sync + 'a,
        locate: impl Fn(usize, Option<R>) -> Result<Option<R>> + Send + Sync + 'a,
    ) -> Self {
        Self {
            name: name.into(),
            columns: Vec::new(),
            cells: Vec::new(),
            gets: Vec::new(),
            count: Box::new(count),
            known: None,
            damage: None,
            locate: Box::new(locate),
            takes_over: true,
            is_at: None,
            prefetch: None,
            nature: Nature::default(),
            stored: None,
        }
    }

    /// Adds a column whose cells `get` borrows from the file.
    pub fn column(self, column: Column, get: impl Fn(&R) -> Result<Value<'a>> + Send + Sync + 'a) -> Self {
        self.add([column], Get::FromMap(Box::new(move |row, _| get(row))))
    }

    /// As [`DeclaredTable::column`], for cells of one kind: typed outputs take them without a [`Value`].
    pub fn field<T: PlainCell<'a> + 'a>(
        self,
        column: Column,
        get: impl Fn(&R) -> Result<T> + Send + Sync + 'a,
    ) -> Self {
        self.add([column], Get::Plain(Box::new(ReadField(get))))
    }

    /// Adds columns with one function, which takes a column's number among them.
    pub fn columns(
        self,
        columns: impl IntoIterator<Item = Column>,
        get: impl Fn(&R, usize) -> Result<Value<'a>> + Send + Sync + 'a,
    ) -> Self {
        self.add(columns, Get::FromMap(Box::new(get)))
    }

    /// Adds the columns of declared fields; `record` locates the record of a row.
    pub fn fields(
        self,
        fields: &'static [Field],
        record: impl Fn(&R) -> Result<View<'a>> + Copy + Send + Sync + 'a,
    ) -> Self {
        fields.iter().fold(self, |table, field| table.column(field.column(), move |row| field.value(record(row)?)))
    }

    /// Adds a column whose cells borrow from the row; [`Table::value`] copies them, because it keeps no row.
    pub fn column_of_row(
        self,
        column: Column,
        get: impl for<'r> Fn(&'r R) -> Result<Value<'r>> + Send + Sync + 'a,
    ) -> Self {
        self.add([column], Get::FromRow(Box::new(get)))
    }

    fn add(mut self, columns: impl IntoIterator<Item = Column>, get: Get<'a, R>) -> Self {
        let at = self.gets.len();
        self.gets.push(get);
        for (number, column) in columns.into_iter().enumerate() {
            self.columns.push(column);
            self.cells.push(CellSource {
                get: at,
                number,
                find: None,
                finds: None,
                search: None,
                texts: None,
                look: None,
            });
        }
        self
    }

    /// The last column's cells.
    fn last(&mut self) -> &mut CellSource<'a> {
        self.cells.last_mut().expect("options of a column follow the column")
    }

    /// Adds an index for the last column: see [`Table::find`].
    pub fn found_by(mut self, find: impl Fn(&Value<'_>) -> Option<Result<Vec<usize>>> + Send + Sync + 'a) -> Self {
        self.last().find = Some(Box::new(find));
        self
    }

    /// Adds an index for the last column that exists only if `finds` returns true: it runs at the first lookup.
    pub fn found_if(mut self, finds: impl Fn() -> bool + Send + Sync + 'a) -> Self {
        self.last().finds = Some(Box::new(finds));
        self
    }

    /// Adds a search over the texts of the last column: see [`Table::search`].
    pub fn searched_by(mut self, search: impl Fn(&Literal) -> Option<Vec<usize>> + Send + Sync + 'a) -> Self {
        self.last().search = Some(Box::new(search));
        self
    }

    /// Adds answers about all texts of the last column: see [`Table::texts`].
    pub fn known_texts(mut self, texts: Arc<dyn ColumnTexts + 'a>) -> Self {
        self.last().texts = Some(texts);
        self
    }

    /// Adds a prefetch for the last column, whose cells are scattered over the file: `look` touches the cells of the
    /// given rows before a walk reads them, and returns the row that it reached. Memory serves many independent
    /// requests in the time of one.
    pub fn looked_ahead(mut self, look: impl Fn(Range<usize>) -> usize + Send + Sync + 'a) -> Self {
        self.last().look = Some(Box::new(look));
        self
    }

    /// Adds a prefetch for rows: see [`Table::prefetch`].
    pub fn prefetched_by(mut self, touch: impl Fn(&[Range<usize>]) + Send + Sync + 'a) -> Self {
        self.prefetch = Some(Box::new(touch));
        self
    }

    /// Declares whether cells of the last column contain texts: see [`Column::holds_text`].
    pub fn with_texts(mut self, holds_text: bool) -> Self {
        self.columns.last_mut().expect("options of a column follow the column").holds_text = Some(holds_text);
        self
    }

    /// Marks the last column as the name of its row for people. Default: the first column of texts.
    pub fn label(mut self) -> Self {
        self.nature.label = self.columns.len().checked_sub(1);
        self
    }

    /// Adds `damage` after the last row that can be located: why later rows cannot be.
    pub fn damaged(mut self, damage: impl Fn() -> Option<Error> + Send + Sync + 'a) -> Self {
        self.damage = Some(Box::new(damage));
        self
    }

    /// Adds a function that returns the number of rows if it is known without much decoding or walking: see [`Table::known_len`].
    pub fn known(mut self, known: impl Fn() -> Option<usize> + Send + Sync + 'a) -> Self {
        self.known = Some(Box::new(known));
        self
    }

    /// Adds a test of a row's position in space: see [`Table::is_at`].
    pub fn placed(mut self, is_at: impl Fn(&R, &Region) -> Result<bool> + Send + Sync + 'a) -> Self {
        self.is_at = Some(Box::new(is_at));
        self
    }

    /// Declares the volume that a row takes in space, in single precision, for [`Table::is_at`]; `None` for a row without one.
    pub fn with_box(self, volume: impl Fn(&R) -> Result<Option<OrientedBox>> + Send + Sync + 'a) -> Self {
        let name = self.name.clone().into_owned();
        // Coordinates are singles: so is a number as a user copies it.
        self.placed(move |row, place| match volume(row)? {
            Some(volume) if volume.is_finite() => Ok(volume.is_at(&place.in_singles())),
            Some(_) => {
                let what = "coordinates that are not finite, which describe no place in space".into();
                Err(Error::of_part(ErrorKind::Damaged { what }, name.clone()))
            }
            None => Ok(false),
        })
    }

    /// As [`DeclaredTable::with_writable_rows`], for a table whose rows are referenced by number: see [`RowEdits::Last`].
    pub fn with_positional_rows(mut self) -> Self {
        self.nature.row_edits = RowEdits::Last;
        self
    }

    /// Marks each row as an item of a list: the last column numbers the items. Items can be inserted and deleted. The lists are
    /// those of [`DeclaredTable::stored_by`].
    pub fn with_items(mut self) -> Self {
        self.nature.row_edits = RowEdits::Items(self.columns.len().checked_sub(1).expect("it follows a column"));
        self
    }

    /// Adds what knows how rows are stored: see [`Table::stored_rows`].
    pub fn stored_by(mut self, stored: Arc<impl StoredRows + 'a>) -> Self {
        self.stored = Some(stored);
        self
    }

    fn damage(&self) -> Result<()> {
        self.damage.as_ref().and_then(|damage| damage()).map_or(Ok(()), Err)
    }

    fn get(&self, column: usize) -> Option<(&Get<'a, R>, &CellSource<'a>)> {
        let source = self.cells.get(column)?;
        Some((self.gets.get(source.get)?, source))
    }

    #[cold]
    fn no_cell(&self, row: usize, column: usize) -> Error {
        no_cell(&self.name, row, column)
    }
}

/// The [`Nature`] of the table.
impl<R> DeclaredTable<'_, R> {
    /// Declares which members of nested values are the reader's own words: see [`Nature::vocabulary`].
    pub fn with_words(mut self, words: &'static [&'static str]) -> Self {
        self.nature.vocabulary = words;
        self
    }

    /// Adds other words by which users look for the table: see [`Nature::also`].
    pub fn also_called(mut self, words: &'static [&'static str]) -> Self {
        self.nature.also = words;
        self
    }

    /// Marks any row as located at the same cost: see [`Nature::random_access`].
    pub fn random_access(mut self) -> Self {
        self.nature.random_access = true;
        self
    }

    /// Marks the rows as derived from other tables: see [`Nature::derived`].
    pub fn derived(mut self) -> Self {
        self.nature.derived = true;
        self
    }

    /// Marks each row as read from a file of its own: see [`Nature::opens_files`].
    pub fn opens_files(mut self) -> Self {
        self.nature.opens_files = true;
        self
    }

    /// Marks the texts as the texts of all ids of the file: see [`Nature::dictionary`].
    pub fn dictionary(mut self) -> Self {
        self.nature.dictionary = true;
        self
    }

    /// Declares whether this table holds texts that no other table of the file holds. Default: it does. See
    /// [`Nature::texts_elsewhere`].
    pub fn own_texts(mut self, has: bool) -> Self {
        self.nature.texts_elsewhere = !has;
        self
    }

    /// Allows rows to be inserted and deleted.
    pub fn with_writable_rows(mut self) -> Self {
        self.nature.row_edits = RowEdits::All;
        self
    }
}

impl<R> fmt::Debug for DeclaredTable<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeclaredTable")
            .field("name", &self.name)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

impl<R: Send> Table for DeclaredTable<'_, R> {
    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        self.damage()?;
        (self.count)()
    }

    fn known_len(&self) -> Option<usize> {
        match &self.known {
            None => self.len().ok(),
            Some(known) => known().filter(|_| self.damage().is_ok()),
        }
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        let (get, &CellSource { number, .. }) = self.get(column).ok_or_else(|| self.no_cell(row, column))?;
        let located = (self.locate)(row, None)?.ok_or_else(|| self.no_cell(row, column))?;
        match get {
            Get::FromMap(get) => get(&located, number),
            Get::FromRow(get) => get(&located).map(Value::into_owned),
            Get::Plain(get) => get.value(&located),
        }
    }

    fn cursor_over(&self, first: usize, _columns: Option<&[usize]>) -> Box<dyn RowCursor + '_> {
        let (current, before) = (OnceCell::new(), Cell::new(None));
        Box::new(Cursor { table: self, row: first, next: first, end: None, current, before, looked: Cell::new(first) })
    }

    fn nature(&self) -> Nature {
        self.nature
    }

    fn prefetch(&self, rows: &[Range<usize>]) {
        if let Some(prefetch) = &self.prefetch {
            prefetch(rows);
        }
    }

    fn stored_rows(&self) -> Option<&dyn StoredRows> {
        self.stored.as_deref()
    }

    fn finds(&self, column: usize) -> bool {
        self.cells.get(column).is_some_and(|cell| cell.index().is_some())
    }

    fn find(&self, column: usize, key: &Value<'_>) -> Option<Result<Vec<usize>>> {
        self.cells.get(column)?.index()?(key)
    }

    fn search(&self, column: usize, literal: &Literal) -> Option<Vec<usize>> {
        self.cells.get(column)?.search.as_ref()?(literal)
    }

    fn texts(&self, column: usize) -> Option<&dyn ColumnTexts> {
        self.cells.get(column)?.texts.as_deref()
    }

    fn is_at(&self, row: usize, place: &Region) -> Option<Result<bool>> {
        let is_at = self.is_at.as_ref()?;
        let located = (self.locate)(row, None).and_then(|found| found.ok_or_else(|| self.no_cell(row, 0)));
        Some(located.and_then(|row| is_at(&row, place)))
    }
}

/// A walk that locates each row once, at the read of its first cell.
struct Cursor<'t, 'a, R> {
    table: &'t DeclaredTable<'a, R>,
    row: usize,
    /// The number of the next row.
    next: usize,
    /// The number of rows, once counted.
    end: Option<usize>,
    /// The current row; `None` in it if it cannot be located.
    current: OnceCell<Option<R>>,
    /// The previously located row.
    before: Cell<Option<R>>,
    /// The last row that was prefetched. At first the walk's first row, which is not: many walks end after it.
    looked: Cell<usize>,
}

/// Rows that are prefetched together.
const AHEAD: usize = 64;

impl<'a, R> Cursor<'_, 'a, R> {
    /// The function of a column, the column's number in it, and the current row; `None` if one of them does not exist.
    #[inline]
    fn cell(&self, column: usize) -> Option<(&Get<'a, R>, usize, &R)> {
        let (get, source) = self.table.get(column)?;
        if let Some(look) = &source.look
            && self.row > self.looked.get()
        {
            self.looked.set(look(self.row..self.row + AHEAD).max(self.next) - 1);
        }
        if self.current.get().is_none() {
            // `OnceCell::get_or_init` is optimized for a rare first call, but here every row makes one.
            let _ = self.current.set((self.table.locate)(self.row, self.before.take()).ok().flatten());
        }
        Some((get, source.number, self.current.get()?.as_ref()?))
    }
}

impl<R: Send> RowCursor for Cursor<'_, '_, R> {
    fn advance(&mut self) -> Result<bool> {
        let end = match self.end {
            Some(end) => end,
            None => *self.end.insert((self.table.count)()?),
        };
        if self.next >= end {
            return self.table.damage().map(|()| false);
        }
        self.row = self.next;
        self.next += 1;
        let last = self.current.take().flatten();
        if self.table.takes_over && last.is_some() {
            self.before.set(last);
        }
        Ok(true)
    }

    fn row(&self) -> usize {
        self.row
    }

    #[inline]
    fn value(&self, column: usize) -> Result<Value<'_>> {
        match self.cell(column) {
            Some((Get::FromMap(get), number, row)) => get(row, number),
            Some((Get::FromRow(get), _, row)) => get(row),
            Some((Get::Plain(get), _, row)) => get.value(row),
            // A row that cannot be located returns its error each time.
            None => self.table.value(self.row, column),
        }
    }

    #[inline]
    fn put(&self, column: usize, sink: &mut dyn CellSink) -> Result<()> {
        let cell = match self.cell(column) {
            Some((Get::Plain(get), _, row)) => return get.put(row, sink),
            Some((Get::FromMap(get), number, row)) => get(row, number),
            Some((Get::FromRow(get), _, row)) => get(row),
            None => self.table.value(self.row, column),
        };
        // By reference: to move a value right after it was made stalls the processor.
        match cell {
            Ok(ref cell) => sink.value(cell),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::table::Kind;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn broken() -> Error {
        Error::new(ErrorKind::Damaged { what: "a row".into() }, "numbers", 7)
    }

    #[test]
    fn a_walk_locates_each_row_once_and_knows_the_one_before() {
        let located = AtomicUsize::new(0);
        let locate = |row: usize, before: Option<(usize, usize)>| {
            located.fetch_add(1, Ordering::Relaxed);
            Ok((row < 3).then(|| (row, before.map_or(row, |(_, sum)| sum + row))))
        };
        let table = DeclaredTable::walked("sums", || Ok(3), locate)
            .column(Column::new("row", Kind::Uint), |row| Ok(row.0.into()))
            .column(Column::new("sum", Kind::Uint), |row| Ok(row.1.into()));
        let mut cursor = table.cursor_over(0, None);
        let mut sums = Vec::new();
        while cursor.advance().unwrap() {
            assert_eq!(cursor.value(0).unwrap(), cursor.row().into());
            sums.push(cursor.value(1).unwrap().to_string());
        }
        assert_eq!(sums, ["0", "1", "3"]);
        assert_eq!(located.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn a_walk_looks_ahead_from_its_second_row_on() {
        let looked = std::sync::Mutex::new(Vec::new());
        let look = |rows: Range<usize>| {
            looked.lock().unwrap().push(rows.start);
            rows.start + 2
        };
        let table = DeclaredTable::new("numbers", || Ok(6), |row| Ok(Some(row)))
            .column(Column::uint("n"), |row| Ok((*row).into()))
            .looked_ahead(look);
        let mut cursor = table.cursor_over(0, None);
        while cursor.advance().unwrap() {
            cursor.value(0).unwrap();
        }
        drop(cursor);
        assert_eq!(*looked.lock().unwrap(), [1, 3, 5]);
    }

    #[test]
    fn a_row_that_cannot_be_located_is_an_error_of_its_own() {
        let table = DeclaredTable::new("numbers", || Ok(3), |row| if row == 1 { Err(broken()) } else { Ok(Some(row)) })
            .column(Column::new("n", Kind::Uint), |row| Ok((*row).into()));
        let mut cursor = table.cursor_over(0, None);
        let mut seen = Vec::new();
        while cursor.advance().unwrap() {
            seen.push(cursor.value(0).map(Value::into_owned).map_err(|e| e.to_string()));
        }
        assert_eq!(seen, [Ok(0usize.into()), Err(broken().to_string()), Ok(2usize.into())]);
        assert!(table.value(0, 1).is_err());
    }

    #[test]
    fn damage_comes_behind_the_last_row_and_keeps_them_from_being_counted() {
        let table = DeclaredTable::new("numbers", || Ok(1), |row| Ok(Some(row)))
            .column(Column::new("n", Kind::Uint), |row| Ok((*row).into()))
            .damaged(|| Some(broken()));
        let mut cursor = table.cursor_over(0, None);
        assert!(cursor.advance().unwrap());
        assert_eq!(cursor.advance().unwrap_err().to_string(), broken().to_string());
        assert!(table.len().is_err());
        assert_eq!(table.known_len(), None);
    }

    #[test]
    fn a_box_that_is_not_finite_is_damage_and_a_row_without_box_is_nowhere() {
        let table = DeclaredTable::new("boxes", || Ok(3), |row| Ok(Some(row)))
            .column(Column::new("n", Kind::Uint), |row| Ok((*row).into()))
            .with_box(|row| {
                let half = if *row == 1 { f64::NAN } else { 1.0 };
                Ok((*row < 2).then(|| OrientedBox::between([-half; 3], [half; 3])))
            });
        let place = Region::Point([0.0; 3]);
        let found = |row| table.is_at(row, &place).map(|found| found.map_err(|error| error.to_string()));
        assert_eq!(found(0), Some(Ok(true)));
        assert!(found(1).unwrap().unwrap_err().contains("coordinates that are not finite"));
        assert_eq!(found(2), Some(Ok(false)));
    }

    #[test]
    fn cells_that_a_row_keeps_are_lent_by_walks_and_copied_by_single_questions() {
        let table = DeclaredTable::new("texts", || Ok(1), |row| Ok((row == 0).then(|| "kept".to_owned())))
            .column_of_row(Column::new("text", Kind::Text), |text| Ok(Value::text(text)));
        let mut cursor = table.cursor_over(0, None);
        assert!(cursor.advance().unwrap());
        assert!(matches!(cursor.value(0), Ok(Value::Text(Cow::Borrowed("kept")))));
        assert!(matches!(table.value(0, 0), Ok(Value::Text(Cow::Owned(text))) if text == "kept"));
    }
}
