//! Rows of the arrays in records: the rows of one record after the rows of the record before.

use super::records::{Lead, Records, within};
use crate::budget::{Budget, RowBudget};
use crate::bwdb::counts::Counted;
use crate::bwdb::record::{Elements, HeldTexts, Ids, KIND, Leaf, Walker, Wanted};
use crate::bwdb::text_search::stands;
use crate::bytes::View;
use crate::error::{Error, Result};
use crate::lazy;
use crate::table::{Column, DeclaredTable, ItemList, Literal, PlainCell, Role, RowEnds, StoredRows, Table, Value};
use crate::threads::prelude::*;
use std::cell::{Cell, OnceCell};
use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Several things that a record holds.
pub(super) trait Children<'a>: Send + Sync + 'a {
    /// The children of one record, located once for all of their rows.
    type List: Send + 'a;
    /// One child, read once for all cells of its row.
    type Row: Send + 'a;

    /// Bytes of a row in its array.
    fn size(&self) -> usize;

    fn list(&self, record: View<'a>) -> Result<Self::List>;

    fn count(&self, list: &Self::List) -> Result<usize>;

    /// The position of the first child.
    fn first(&self, list: &Self::List) -> Result<View<'a>>;

    fn row(&self, list: &Self::List, index: usize) -> Result<Self::Row>;

    /// Appends the ids in these rows of a record, whose texts may be anywhere in the file.
    fn ids(&self, list: &Self::List, rows: Range<usize>, ids: &mut Ids) -> Result<()>;
}

/// The number of records whose cache misses overlap.
const RECORDS: usize = 32;

/// Searches the visited texts for a text. Unreadable texts, and ids, whose texts are stored elsewhere, count as
/// matches.
struct TextSearch<'l> {
    literal: &'l Literal,
    budget: &'l Budget,
    found: bool,
}

impl<'a> Walker<'a> for TextSearch<'_> {
    fn leaf(&mut self, _: &'static str, leaf: Leaf<'a>) {
        self.found |= match leaf {
            Leaf::Text(text) => self.literal.is_in(text),
            Leaf::Value(_) => false,
            Leaf::Name(_) | Leaf::Path(_) => true,
        };
    }

    fn begin_list(&mut self, _: &'static str, list: &Elements<'a>) -> bool {
        let walk = list.of.traits.texts.any() && !self.found;
        let afford = !walk || self.budget.spend(list.bytes() as u64).is_ok();
        self.found |= !afford;
        walk && afford
    }

    fn damage(&mut self, _: &'static str, _: Error) {
        self.found = true;
    }

    fn wanted(&self) -> Wanted {
        Wanted::Texts
    }
}

/// The rows of all records' children, in order. A record whose children cannot be counted has none: the rows end with its error, which
/// a search for the record returns, too. If arrays overlap too much, the rows end with an error, too.
struct Parents<'a, R, C> {
    name: &'static str,
    records: R,
    children: C,
    /// The columns with which the rows begin.
    leads: Vec<Lead<'a>>,
    /// The literal of the last search in all texts, and whether it was found.
    stood: Mutex<Option<(Literal, bool)>>,
    /// The rows of the children of each record, up to one that exceeds all limits; counted on first use.
    counted: OnceLock<Arc<Counted>>,
    /// The last found record: cells are read row by row, and rows of one record are consecutive.
    last: AtomicUsize,
}

impl<'a, R: Records<'a>, C: Children<'a>> Parents<'a, R, C> {
    fn ends(&self) -> &RowEnds {
        &self.counted().ends
    }

    fn counted(&self) -> &Counted {
        self.counted.get_or_init(|| {
            let records = self.records.len();
            let parts = lazy::parts_for(records, 1 << 12);
            let share = records.div_ceil(parts);
            self.records.origin().counts.get(self.name, self.file_size(), self.children.size(), || {
                lazy::parts(parts, |part| {
                    let start = part.saturating_mul(share);
                    self.counts(start.min(records)..start.saturating_add(share).min(records))
                })
                .concat()
            })
        })
    }

    /// The number of rows of each of these records; `None` if it cannot be counted.
    fn counts(&self, records: Range<usize>) -> Vec<Option<usize>> {
        records.map(|record| self.count(record).ok()).collect()
    }

    fn count(&self, record: usize) -> Result<usize> {
        self.children.count(&self.list(record)?)
    }

    fn list(&self, record: usize) -> Result<C::List> {
        self.children.list(self.records.view(record)?)
    }

    /// Touches the first children of some records, because memory serves many independent requests in the time of one.
    fn touch(&self, records: Range<usize>) {
        let first = |record| self.children.first(&self.list(record).ok()?).ok()?.rest().first();
        // All positions first: reads that wait for memory run beside each other.
        let all: Vec<&u8> = records.filter_map(first).collect();
        black_box(all.into_iter().fold(0, |all, first| all ^ first));
    }

    fn lead(&self, number: usize) -> &Lead<'a> {
        self.leads.get(number).expect("each leading column has its number")
    }

    /// The row `row`; `before` is the row that a walk located before.
    fn locate(&self, row: usize, before: Option<Child<'a, C>>) -> Result<Option<Child<'a, C>>> {
        if row >= self.len() {
            return self.check_all().map(|()| None);
        }
        let own = OnceCell::new();
        let (guess, touched, budget) = match before {
            Some(before) if before.of.rows.contains(&row) => {
                return Ok(Some(Child { row, own, budget: before.budget.next(), ..before }));
            }
            Some(before) => (before.of.record.saturating_add(1), Some(before.of.touched), before.budget.next()),
            None => (self.last.load(Ordering::Relaxed), None, RowBudget::new(self.file_size(), self.len())),
        };
        let (record, rows) = self.record_of(row, guess);
        self.last.store(record, Ordering::Relaxed);
        // Many walks end with their first record.
        let touched = touched.unwrap_or_else(|| record.saturating_add(1).into());
        let of = ParentRecord { record, rows, leads: OnceCell::new(), list: OnceCell::new(), touched };
        Ok(Some(Child { row, of: Box::new(of), own, budget }))
    }

    /// The number of rows, if they were counted or can be counted in less time than the start of a process. The records
    /// of a game's own database are ten times as many, at scattered positions.
    fn known_len(&self) -> Option<usize> {
        const FEW_RECORDS: usize = 1 << 12;
        let counted = self.records.len() <= FEW_RECORDS || self.records.origin().counts.has(self.name);
        counted.then(|| self.check_all().ok().map(|()| self.len())).flatten()
    }

    /// The cells that identify a record, with the numbers of their columns.
    fn key_cells(&self, record: usize) -> Result<Vec<(usize, Value<'static>)>> {
        let leads = self.leads.iter().enumerate();
        let keys = leads.filter(|(_, lead)| matches!(lead.column.role, Role::Place | Role::Key));
        keys.map(|(at, lead)| Ok((at, (lead.get)(record)?.into_owned()))).collect()
    }

    /// Rows that can be read.
    fn len(&self) -> usize {
        self.ends().total()
    }

    fn file_size(&self) -> usize {
        self.records.file().bytes().len()
    }

    /// Checks that the rows of `record` can be counted, and can all be read.
    fn check_counted(&self, record: usize) -> Result<()> {
        let counted = self.ends().parts();
        if record < counted {
            let in_record = |error: Error| error.context(format_args!("{} of record {record}", self.name));
            return self.count(record).map(drop).map_err(in_record);
        }
        // The record that exceeds the limit, whichever was requested.
        let view = self.records.view(counted)?;
        let rows = self.len().saturating_add(self.count(counted).unwrap_or(1));
        let spent = Budget::of_arrays(self.file_size()).spend_at(view, rows.saturating_mul(self.children.size()));
        spent.map_err(|error| error.context(self.name))
    }

    /// Checks the rows of all records.
    fn check_all(&self) -> Result<()> {
        let last = self.records.len().checked_sub(1);
        match self.counted().unreadable.filter(|(record, _)| *record < self.ends().parts()) {
            Some((record, records @ 2..)) => self.count(record).map(drop).map_err(|error| {
                error.context(format_args!("{} of record {record}, the first of {records}", self.name))
            }),
            Some((record, _)) => self.check_counted(record),
            None => last.map_or(Ok(()), |last| self.check_counted(last)),
        }
    }

    fn rows_of(&self, record: usize) -> Range<usize> {
        self.ends().rows(record)
    }

    /// The record that a row belongs to, which may be `guess`, and all of that record's rows.
    fn record_of(&self, row: usize, guess: usize) -> (usize, Range<usize>) {
        let rows = self.rows_of(guess);
        if rows.contains(&row) {
            return (guess, rows);
        }
        let record = self.ends().locate(row).map_or(self.ends().parts(), |(record, _)| record);
        (record, self.rows_of(record))
    }

    fn child(&self, row: &Child<'a, C>) -> Result<C::Row> {
        let of = &row.of;
        let list = of.list.get_or_init(|| {
            if of.record >= of.touched.get() {
                of.touched.set(of.record.saturating_add(RECORDS).min(self.ends().parts()));
                self.touch(of.record..of.touched.get());
            }
            self.list(of.record).ok()
        });
        match list {
            Some(list) => self.children.row(list, row.index()),
            None => self.children.row(&self.list(of.record)?, row.index()),
        }
    }

    /// The cell that `get` reads from a row.
    #[inline]
    fn cell<T>(&self, row: &Child<'a, C>, get: impl Fn(&C::Row, &Budget) -> Result<T>) -> Result<T> {
        let cell = match row.own.get_or_init(|| self.child(row).ok()) {
            Some(own) => get(own, row.budget.get()),
            None => self.child(row).and_then(|own| get(&own, row.budget.get())),
        };
        cell.map_err(|error| within(self.name, row.row, error))
    }

    /// Touches the texts of these rows, as far as they belong to one record, and returns the next row.
    fn look(&self, rows: Range<usize>) -> usize {
        let mut ids = Ids::default();
        let (_, end) = self.collect(rows, self.last.load(Ordering::Relaxed), &mut ids);
        self.records.names().ahead(&ids);
        end
    }

    /// Looks for the texts of all these rows.
    fn prefetch(&self, rows: &[Range<usize>]) {
        let (mut ids, mut record) = (Ids::default(), 0);
        for rows in rows {
            let (mut start, rows) = (rows.start, rows.end.min(self.len()));
            while start < rows {
                let (found, end) = self.collect(start..rows, record, &mut ids);
                (record, start) = (found, end.max(start.saturating_add(1)));
            }
        }
        self.records.names().ahead(&ids);
    }

    /// Collects the ids in these rows, as far as they belong to one record, probably `guess`. Returns the record and
    /// the next row.
    fn collect(&self, rows: Range<usize>, guess: usize, ids: &mut Ids) -> (usize, usize) {
        let (record, of_record) = self.record_of(rows.start, guess);
        let end = rows.end.min(of_record.end);
        let inside = rows.start.saturating_sub(of_record.start)..end.saturating_sub(of_record.start);
        // Damage is reported by the cells.
        let _ = self.list(record).and_then(|list| self.children.ids(&list, inside, ids));
        (record, end)
    }

    /// Calls `look` with the records of these rows and some later records. Returns the row after all of their rows. A record has
    /// several rows, so that these are beyond the requested rows.
    fn look_at_records(&self, rows: Range<usize>, look: &dyn Fn(Range<usize>)) -> usize {
        let (first, _) = self.record_of(rows.start, self.last.load(Ordering::Relaxed));
        let end = first.saturating_add(RECORDS).min(self.ends().parts());
        look(first..end);
        self.rows_of(end.saturating_sub(1)).end
    }

    /// Whether `literal` occurs anywhere among the texts of all records. Several columns need it in turn.
    fn stands(&self, literal: &Literal) -> bool {
        let mut last = self.stood.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((of, stood)) if of == literal => *stood,
            _ => {
                let stood = stands(self.records.file().bytes(), &self.records.texts(), literal);
                *last = Some((literal.clone(), stood));
                stood
            }
        }
    }

    /// The rows in whose nested value, which `walk` shows to a walker, a text may be. `None` where there are more rows than
    /// can be read, or more in them: a walk ends with an error that says so.
    fn search(&self, literal: &Literal, walk: &(dyn Fn(&C::Row, &mut dyn Walker<'a>) + Sync)) -> Option<Vec<usize>> {
        // Also counts them, before several threads need it.
        self.check_all().ok()?;
        let budget = Budget::of_arrays(self.file_size());
        let rows = (0..self.records.len()).into_par_iter().with_min_len(64).flat_map_iter(|record| {
            let rows = self.rows_of(record);
            let (start, list) = (rows.start, self.list(record).ok());
            let budget = &budget;
            rows.filter(move |row| {
                let mut texts = TextSearch { literal, budget, found: false };
                match list.as_ref().and_then(|list| self.children.row(list, row.saturating_sub(start)).ok()) {
                    Some(row) => walk(&row, &mut texts),
                    None => return true,
                }
                texts.found
            })
        });
        let rows = rows.collect();
        (!budget.is_spent()).then_some(rows)
    }
}

/// A row.
pub(super) struct Child<'a, C: Children<'a>> {
    row: usize,
    /// In a box, because a walk moves the row.
    of: Box<ParentRecord<'a, C>>,
    /// Read on first use; `None` if unreadable.
    own: OnceCell<Option<C::Row>>,
    budget: RowBudget,
}

/// A record, with what its rows share.
struct ParentRecord<'a, C: Children<'a>> {
    record: usize,
    rows: Range<usize>,
    /// The first cells of the record's rows, such as a joined path, as far as they were needed; `None` if unreadable.
    leads: OnceCell<Box<[OnceCell<Option<Value<'a>>>]>>,
    /// The children of the record, located on first use; `None` if unreadable.
    list: OnceCell<Option<C::List>>,
    /// The record after the last one that the walk has touched.
    touched: Cell<usize>,
}

impl<'a, C: Children<'a>> Child<'a, C> {
    fn index(&self) -> usize {
        self.row.saturating_sub(self.of.rows.start)
    }
}

impl<'a, R: Records<'a>, C: Children<'a>> StoredRows for Parents<'a, R, C> {
    fn sharing(&self, row: usize) -> Vec<usize> {
        let (record, rows) = self.record_of(row, self.last.load(Ordering::Relaxed));
        let index = row.saturating_sub(rows.start);
        let all = self.records.sharing(record).into_iter().map(|record| self.rows_of(record));
        all.filter(|rows| index < rows.len()).map(|rows| rows.start.saturating_add(index)).collect()
    }

    fn stored_len(&self) -> Option<usize> {
        let stored = self.records.stored();
        (stored < self.records.len()).then(|| self.rows_of(stored.saturating_sub(1)).end)
    }

    fn lists(&self, column: usize, cell: &Value<'_>) -> Result<Vec<ItemList>> {
        let Some(lead) = self.leads.get(column) else { return Ok(Vec::new()) };
        let Some(records) = lead.find.as_ref().and_then(|find| find(cell)) else { return Ok(Vec::new()) };
        let mut records = records?;
        if lead.column.role == Role::Place {
            // A record is one list, for any number of keys.
            records.retain(|record| *record < self.records.stored());
        }
        let lists = records.into_iter().map(|record| {
            let shared = self.records.sharing(record).into_iter().map(|record| self.key_cells(record));
            let (cells, len) = (self.key_cells(record)?, self.count(record)?);
            Ok(ItemList { cells, len, shared: shared.collect::<Result<_>>()? })
        });
        lists.collect()
    }
}

/// An unfinished table of children: begins with the columns of the record and the child's index in it.
pub(super) struct Nested<'a, R, C: Children<'a>> {
    parents: Arc<Parents<'a, R, C>>,
    table: DeclaredTable<'a, Child<'a, C>>,
    /// Whether a column has texts that only these records hold.
    has_own_texts: bool,
}

impl<'a, R: Records<'a>, C: Children<'a>> Nested<'a, R, C> {
    pub(super) fn new(name: &'static str, records: R, children: C) -> Self {
        let (leads, stood, counted, last) = (records.leads(), Mutex::default(), OnceLock::new(), AtomicUsize::new(0));
        let parents = Arc::new(Parents { name, records, children, leads, stood, counted, last });
        let [of_count, of_row, of_touch, of_damage, of_known] = std::array::from_fn(|_| Arc::clone(&parents));
        let mut table =
            DeclaredTable::walked(name, move || Ok(of_count.len()), move |row, before| of_row.locate(row, before))
                .random_access()
                .prefetched_by(move |rows| of_touch.prefetch(rows))
                .damaged(move || of_damage.check_all().err())
                .known(move || of_known.known_len());
        if R::DERIVED {
            table = table.derived();
        }
        for (number, lead) in parents.leads.iter().enumerate() {
            let [of_cell, of_look, of_find, of_finds] = std::array::from_fn(|_| Arc::clone(&parents));
            table = table.column_of_row(lead.column.clone(), move |child: &Child<'a, C>| {
                let get = &of_cell.lead(number).get;
                let record = child.of.record;
                let leads = child.of.leads.get_or_init(|| of_cell.leads.iter().map(|_| OnceCell::new()).collect());
                let Some(cell) = leads.get(number) else { return get(record) };
                match cell.get_or_init(|| get(record).ok()) {
                    Some(Value::Text(text)) => Ok(Value::text(text)),
                    Some(value) => Ok(value.clone()),
                    // A damaged cell returns its error each time.
                    None => get(record),
                }
            });
            if lead.look.is_some() {
                table = table.looked_ahead(move |rows| match &of_look.lead(number).look {
                    Some(look) => of_look.look_at_records(rows, look),
                    None => rows.end,
                });
            }
            if lead.find.is_some() {
                table = table.found_by(move |key| {
                    let records = of_find.lead(number).find.as_ref()?(key)?;
                    Some(records.and_then(|records| {
                        records.iter().try_for_each(|&record| of_find.check_counted(record))?;
                        Ok(records.into_iter().flat_map(|record| of_find.rows_of(record)).collect())
                    }))
                });
                table = table.found_if(move || of_finds.lead(number).finds.as_ref().is_none_or(|finds| finds()));
            }
        }
        let table = table.field(Column::uint("index").brief().key(), |child| Ok(child.index()));
        let table = table.with_items().stored_by(Arc::clone(&parents));
        Self { parents, table, has_own_texts: !R::DERIVED }
    }

    /// A further column of the children's own.
    pub(super) fn column(self, column: Column, get: impl Fn(&C::Row) -> Result<Value<'a>> + Send + Sync + 'a) -> Self {
        self.column_within(column, move |own, _| get(own))
    }

    /// As [`Nested::column`], for cells of one kind.
    pub(super) fn field<T: PlainCell<'a> + 'a>(
        mut self,
        column: Column,
        get: impl Fn(&C::Row) -> Result<T> + Send + Sync + 'a,
    ) -> Self {
        let parents = Arc::clone(&self.parents);
        self.table = self.table.field(column, move |child| parents.cell(child, |own, _| get(own)));
        self
    }

    /// Adds a column of the children, whose cells may contain arrays.
    pub(super) fn column_within(
        mut self,
        column: Column,
        get: impl Fn(&C::Row, &Budget) -> Result<Value<'a>> + Send + Sync + 'a,
    ) -> Self {
        let parents = Arc::clone(&self.parents);
        self.table = self.table.column(column, move |child| parents.cell(child, &get));
        self
    }

    /// Adds a prefetch of the texts of rows.
    pub(super) fn looked_ahead(mut self) -> Self {
        let parents = Arc::clone(&self.parents);
        self.table = self.table.looked_ahead(move |rows| parents.look(rows));
        self
    }

    /// Declares that the last column has the texts that `walk` passes to a walker: a text, or nested values with texts.
    pub(super) fn searched(
        mut self,
        texts: HeldTexts,
        walk: impl Fn(&C::Row, &mut dyn Walker<'a>) + Send + Sync + 'a,
    ) -> Self {
        let parents = Arc::clone(&self.parents);
        self.table = self.table.with_texts(texts.any()).searched_by(move |literal| match texts {
            HeldTexts::NONE => Some(Vec::new()),
            HeldTexts::OWN if !parents.stands(literal) => Some(Vec::new()),
            _ => parents.search(literal, &walk),
        });
        self.has_own_texts |= texts.own;
        self
    }

    pub(super) fn build(self) -> Box<dyn Table + 'a> {
        Box::new(self.table.with_words(&[KIND]).own_texts(self.has_own_texts))
    }
}
