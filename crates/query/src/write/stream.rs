//! Rows of an open file in portions, read ahead by a separate thread, for programs that consume rows.
//!
//! A [`Selection`] selects rows and columns. [`Selection::batches`] returns them as Arrow record batches, [`Selection::rows`] as values.
//! Both keep the file open, and end their thread when they are dropped.
//!
//! ```
//! # fn main() -> assetq::Result<()> {
//! use assetq::{Asset, Source, write::stream::Selection};
//! let bytes = assetq_sample::geometry::splash(&[("bow", [-1.0; 3], [1.0; 3]), ("stern", [2.0; 3], [3.0; 3])]);
//! let asset = Asset::open(Source::from_vec("ship.splash", bytes))?;
//! let stern = Selection::new(asset, "boxes")?.columns(&["name", "max_x"])?.filter("min_x > 0")?;
//! let batch = stern.batches()?.next().expect("a row matches").expect("it can be read");
//! assert_eq!((batch.num_rows(), batch.num_columns()), (1, 2));
//! # Ok(())
//! # }
//! ```

use super::arrow::ArrowBatches;
use super::rows::{RowSink as _, SinkEvent};
use crate::asset::Asset;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{hint_of_describing_files, named_beside};
use crate::reader::hint_of_tables;
use crate::report::Check;
use crate::table::filter::{Bound, Filter, find_column};
use crate::table::{Column, Kind, RowCursor, Table, Value};
use crate::threads::lock;
use crate::writable::refused;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

const AHEAD: usize = 2;
/// Rows of one portion of values.
const ROWS: usize = 1024;

/// Rows and columns of a table of an open file.
#[derive(Debug, Clone)]
pub struct Selection {
    asset: Asset,
    table: String,
    /// All columns of the table, by the names that they have here.
    all: Vec<Column>,
    columns: Vec<usize>,
    chosen: Vec<Column>,
    filter: Vec<Bound>,
    range: Range<usize>,
    left_out: Option<Arc<Mutex<Check>>>,
}

impl Selection {
    /// All rows and columns of the table called `table`.
    ///
    /// # Errors
    /// `NotFound` where the file has no such table, with the reason or with the names of the tables that it has.
    pub fn new(asset: Asset, table: &str) -> Result<Self> {
        let all = open(&asset, table)?.columns().to_vec();
        let (columns, chosen) = ((0..all.len()).collect(), all.clone());
        let (filter, range) = (Vec::new(), 0..usize::MAX);
        Ok(Self { asset, table: table.to_owned(), all, columns, chosen, filter, range, left_out: None })
    }

    /// The same rows beside a column called `name`: if the table has a column of that name, the table's own one becomes
    /// `name_2`, here and in conditions.
    #[must_use]
    pub fn beside(mut self, name: &str) -> Self {
        self.all = named_beside(&[Column::named(name.to_owned(), Kind::Text)], &self.all);
        self.choose(self.columns.clone());
        self
    }

    fn choose(&mut self, columns: Vec<usize>) {
        self.chosen = columns.iter().map(|&column| self.all[column].clone()).collect();
        self.columns = columns;
    }

    /// The same rows with these columns only, in this order.
    ///
    /// # Errors
    /// `Syntax` for a column that the table does not have, or that is named twice.
    pub fn columns(mut self, names: &[impl AsRef<str>]) -> Result<Self> {
        let mut columns = Vec::with_capacity(names.len());
        for name in names.iter().map(AsRef::as_ref) {
            // Among the columns that were chosen before.
            let column = self.columns[find_column(&self.chosen, name)?];
            if columns.contains(&column) {
                return Err(refused(format!("column {name} is named twice")));
            }
            columns.push(column);
        }
        self.choose(columns);
        Ok(self)
    }

    /// The rows for which `condition` holds, as in `size > 10k`: see [`filter`](crate::table::filter).
    ///
    /// # Errors
    /// `Syntax` where the condition makes no sense for the table.
    pub fn filter(self, condition: &str) -> Result<Self> {
        self.filter_by(&Filter::parse(condition)?)
    }

    /// The rows that `filter` accepts.
    ///
    /// # Errors
    /// `Syntax` where it makes no sense for the table.
    pub fn filter_by(mut self, filter: &Filter) -> Result<Self> {
        let bound = filter.bind(&self.all)?;
        self.filter.push(bound);
        Ok(self)
    }

    /// The rows of the table with these numbers, of those that are selected so far. Conditions do not change the numbers.
    #[must_use]
    pub fn slice(mut self, rows: Range<usize>) -> Self {
        self.range = self.range.start.max(rows.start)..self.range.end.min(rows.end);
        self
    }

    /// Whether a walk may begin at any row without extra cost, so that several readers can each read a slice.
    ///
    /// # Errors
    /// `NotFound` if the table does not exist.
    pub fn is_random_access(&self) -> Result<bool> {
        Ok(open(&self.asset, &self.table)?.nature().random_access)
    }

    /// The same rows less the damaged ones and those that cannot be found: each damaged row is noted in `left_out`, and once why rows
    /// cannot be found. Otherwise the first damage is an error.
    #[must_use]
    pub fn leave_out_damaged(self, left_out: Arc<Mutex<Check>>) -> Self {
        Self { left_out: Some(left_out), ..self }
    }

    /// The file.
    pub fn asset(&self) -> &Asset {
        &self.asset
    }

    /// The name of the table.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// The columns that are chosen.
    pub fn chosen(&self) -> &[Column] {
        &self.chosen
    }

    /// The rows' numbers in the table.
    pub fn numbers(&self) -> &[usize] {
        &self.columns
    }

    /// The number of rows. With a condition this reads the cells that the condition is about; if damaged rows are left out, and for several
    /// files, it reads the rows.
    ///
    /// # Errors
    /// The errors of reading the rows.
    pub fn count(&self) -> Result<usize> {
        let table = open(&self.asset, &self.table)?;
        let leaves_out = self.left_out.is_some();
        if self.filter.is_empty() && !leaves_out && table.parts().is_none() {
            return Ok((self.range.start..self.range.end.min(table.len()?)).len());
        }
        let mut count = 0usize;
        self.walk(&*table, &mut |row| {
            if leaves_out {
                self.columns.iter().try_for_each(|&column| row.value(column).map(drop))?;
            }
            count += 1;
            Ok(true)
        })?;
        Ok(count)
    }

    /// Calls `each` with each row until it returns `false`.
    ///
    /// # Errors
    /// The error of the first damaged row unless damaged rows are left out, and the errors of `each`, by which a row
    /// counts as damaged as well unless writing failed.
    pub fn each(&self, mut each: impl FnMut(&dyn RowCursor) -> Result<bool>) -> Result<()> {
        let table = open(&self.asset, &self.table)?;
        self.walk(&*table, &mut each)
    }

    fn walk(&self, table: &dyn Table, each: &mut dyn FnMut(&dyn RowCursor) -> Result<bool>) -> Result<()> {
        if self.range.is_empty() {
            return Ok(());
        }
        let mut rows = match self.filter.as_slice() {
            [] => table.cursor_over(self.range.start, Some(&self.columns)),
            [filter] => filter.walk_within(table, &self.range, &self.columns),
            all => Bound::And(all.to_vec()).walk_within(table, &self.range, &self.columns),
        };
        loop {
            match rows.advance() {
                // The number of a row may take time to find.
                Ok(true) if self.range.end == usize::MAX || rows.row() < self.range.end => {}
                Ok(_) => return Ok(()),
                // No further row can be found.
                Err(error) => return self.damaged(None, error),
            }
            let row = &*rows;
            let is_meant = self.filter.iter().try_fold(true, |meant, filter| Ok(meant && filter.matches(row)?));
            match is_meant.and_then(|meant| if meant { each(row) } else { Ok(true) }) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) => self.damaged(Some(row.row()), error)?,
            }
        }
    }

    /// Notes damage if damaged rows are left out. Returns its error otherwise. `row` is the damaged row; `None` if rows cannot be found.
    fn damaged(&self, row: Option<usize>, error: Error) -> Result<()> {
        let error = match row {
            Some(row) => error.in_row(&self.table, row),
            None => error.in_table(&self.table),
        };
        match &self.left_out {
            Some(left_out) if !matches!(error.kind(), ErrorKind::Io { .. }) => {
                lock(left_out).fail(error);
                Ok(())
            }
            _ => Err(error),
        }
    }

    /// The rows as values, some at a time.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn rows(&self) -> Result<Portions<Vec<OwnedRow>>> {
        let this = self.clone();
        Portions::read(move |give, is_wanted| {
            let mut portion = Vec::new();
            this.each(|row| {
                portion.push(this.columns.iter().map(|&c| row.value(c).map(Value::into_owned)).collect::<Result<_>>()?);
                if portion.len() >= ROWS {
                    give(std::mem::take(&mut portion));
                }
                Ok(is_wanted())
            })?;
            if !portion.is_empty() {
                give(portion);
            }
            Ok(())
        })
    }

    /// The rows as a stream of Arrow, whose errors name the file.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn batches(&self) -> Result<Batches> {
        let (schema, file) = (self.schema(), self.asset.source().name().to_owned());
        Ok(Batches { schema, portions: self.record_batches()?, file })
    }

    /// The schema of the rows in Arrow.
    pub fn schema(&self) -> SchemaRef {
        ArrowBatches::new(&self.chosen, |_| Ok(())).schema()
    }

    /// The rows as Arrow record batches. Several batches of a splittable table are read in parallel.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn record_batches(&self) -> Result<Portions<RecordBatch>> {
        let this = self.clone();
        Portions::read(move |give, is_wanted| {
            let table = open(&this.asset, &this.table)?;
            let mut sink = ArrowBatches::new(&this.chosen, |batch| {
                give(batch);
                Ok(())
            });
            let at_once = match this.filter.as_slice() {
                [] => sink.rows_within(&*table, this.range.clone(), &this.columns, |event| match event {
                    SinkEvent::Rows(_) if is_wanted() => Ok(()),
                    SinkEvent::Rows(_) => Err(unwanted()),
                    SinkEvent::Damage(row, error) => this.damaged(row, error),
                }),
                _ => None,
            };
            match at_once {
                Some(done) => done?,
                None => this.walk(&*table, &mut |row| sink.row_of(row, &this.columns).map(|()| is_wanted()))?,
            }
            sink.finish()
        })
    }
}

/// The cells of a row.
pub type OwnedRow = Vec<Value<'static>>;

fn open<'a>(asset: &'a Asset, name: &str) -> Result<Box<dyn Table + 'a>> {
    let reader = asset.reader();
    reader.table(name).ok_or_else(|| {
        if let Some(damage) = reader.table_damage(name) {
            return damage.context(format_args!("no table {name}"));
        }
        let why = reader.absent(name).unwrap_or_else(|| hint_of_tables(reader, name, "there are"));
        let why = format!("{why}{}", hint_of_describing_files(asset, name));
        let why = why.trim_start_matches("; ");
        Error::of_part(ErrorKind::NotFound { what: format!("table {name:?} not found ({why})") }, "")
    })
}

/// Ends the reading after the consumer was dropped; nothing receives this error.
fn unwanted() -> Error {
    Error::of_part(ErrorKind::Damaged { what: "the rows have no consumer".into() }, "")
}

/// The rows that a thread reads, portion by portion. Ends after the first error.
#[derive(Debug)]
pub struct Portions<T> {
    from: Option<Receiver<Result<T>>>,
    reader: Option<JoinHandle<()>>,
    unwanted: Arc<AtomicBool>,
}

impl<T: Send + 'static> Portions<T> {
    /// Runs `read` in a thread of its own. It passes portions on, and checks from time to time whether they are still wanted.
    fn read(read: impl FnOnce(&mut dyn FnMut(T), &dyn Fn() -> bool) -> Result<()> + Send + 'static) -> Result<Self> {
        let (to, from) = sync_channel(AHEAD);
        let unwanted = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&unwanted);
        let reader = thread::Builder::new().name("assetq rows".to_owned()).spawn(move || {
            let read = read(
                &mut |portion| {
                    if to.send(Ok(portion)).is_err() {
                        told.store(true, Ordering::Relaxed);
                    }
                },
                &|| !told.load(Ordering::Relaxed),
            );
            if let Err(error) = read {
                // A failure means that the consumer is gone.
                let _ = to.send(Err(error));
            }
        });
        let reader = reader.map_err(|error| Error::io("cannot start a thread", error))?;
        Ok(Self { from: Some(from), reader: Some(reader), unwanted })
    }
}

impl<T> Iterator for Portions<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        let portion = self.from.as_ref()?.recv();
        if !matches!(portion, Ok(Ok(_))) {
            self.from = None;
        }
        portion.map_or_else(
            |_| {
                // The thread has ended, perhaps by a fault of this program: missing rows must not go unnoticed.
                let what = "the thread that reads the rows came to grief".into();
                let ended = self.reader.take().map_or(Ok(()), JoinHandle::join);
                ended.err().map(|_| Err(Error::of_part(ErrorKind::Damaged { what }, "")))
            },
            Some,
        )
    }
}

impl<T> Drop for Portions<T> {
    fn drop(&mut self) {
        self.unwanted.store(true, Ordering::Relaxed);
    }
}

/// Rows as Arrow record batches.
#[derive(Debug)]
pub struct Batches {
    schema: SchemaRef,
    portions: Portions<RecordBatch>,
    file: String,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.portions.next()?;
        Some(batch.map_err(|error| ArrowError::ExternalError(Box::new(error.context(&self.file)))))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::{Float32Type, Int64Type};
    use assetq_sample::{self, Size};

    fn geometry() -> Asset {
        Asset::open(Source::from_vec("ship.geometry", assetq_sample::geometry::demo(1, Size::Small))).unwrap()
    }

    #[test]
    fn batches_and_rows_say_what_the_table_says() {
        let asset = geometry();
        let chosen = Selection::new(asset.clone(), "vertices").unwrap().columns(&["y", "index"]).unwrap();
        let table = asset.reader().table("vertices").unwrap();
        let (y, index) = (crate::table::column_index(&*table, "y"), crate::table::column_index(&*table, "index"));
        let expected: Vec<_> = (0..table.len().unwrap())
            .map(|row| [y, index].map(|column| table.value(row, column.unwrap()).unwrap().into_owned()))
            .collect();
        assert_eq!(chosen.count().unwrap(), expected.len());
        let rows: Vec<OwnedRow> = chosen.rows().unwrap().flat_map(Result::unwrap).collect();
        assert_eq!(rows, expected);
        let mut got = Vec::new();
        for batch in chosen.batches().unwrap().map(Result::unwrap) {
            let (y, index) =
                (batch.column(0).as_primitive::<Float32Type>(), batch.column(1).as_primitive::<Int64Type>());
            got.extend((0..batch.num_rows()).map(|i| [Value::F32(y.value(i)), Value::Uint(index.value(i) as u64)]));
        }
        assert_eq!(got, expected);
    }

    #[test]
    fn conditions_add_up_and_may_be_about_columns_that_are_not_chosen() {
        let some = |condition: &str| Selection::new(geometry(), "vertices").unwrap().filter(condition).unwrap();
        let (first, second) = (some("x > 0").count().unwrap(), some("x > 0").filter("buffer = 1").unwrap());
        assert!(0 < second.count().unwrap() && second.count().unwrap() < first);
        let narrow = second.columns(&["index"]).unwrap();
        let rows: usize = narrow.batches().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!((rows, narrow.chosen().len()), (narrow.count().unwrap(), 1));
        assert!(narrow.columns(&["x"]).is_err(), "x is no longer among the columns");
    }

    #[test]
    fn slices_have_all_rows_together_whatever_else_is_chosen() {
        let geometry = Selection::new(geometry(), "vertices").unwrap();
        let bytes = assetq_sample::bwdb::demo(1, Size::Small);
        let assets = Asset::open(Source::from_vec("assets.bin", bytes)).unwrap();
        let path = Selection::new(assets, "paths").unwrap();
        let id = path.rows().unwrap().next().unwrap().unwrap()[9][0].to_string();
        let by_probe = path.clone().filter(&format!("id = {id}")).unwrap();
        let some = geometry.clone().filter("x > 0").unwrap().columns(&["y"]).unwrap();
        for whole in [geometry, some, path, by_probe] {
            let all: Vec<OwnedRow> = whole.rows().unwrap().flat_map(Result::unwrap).collect();
            let ends = [0, 1, 9, 10, 60, usize::MAX - 1, usize::MAX];
            let slices: Vec<_> = ends.windows(2).map(|ends| whole.clone().slice(ends[0]..ends[1])).collect();
            let rows = slices.iter().flat_map(|slice| slice.rows().unwrap().flat_map(Result::unwrap));
            assert_eq!(rows.collect::<Vec<_>>(), all);
            let in_batches = |slice: &Selection| slice.batches().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
            let counts: Vec<(usize, usize)> = slices.iter().map(|s| (s.count().unwrap(), in_batches(s))).collect();
            assert!(counts.iter().all(|(count, in_batches)| count == in_batches), "{counts:?}");
            assert_eq!(counts.iter().map(|(count, _)| count).sum::<usize>(), all.len());
            #[expect(clippy::reversed_empty_ranges, reason = "a caller may compute such a range")]
            let nothing = whole.slice(5..3);
            assert_eq!(nothing.count().unwrap(), 0);
        }
    }

    #[test]
    fn a_selection_says_what_it_reads() {
        let vertices = Selection::new(geometry(), "vertices").unwrap().columns(&["y", "x"]).unwrap();
        assert_eq!((vertices.table(), vertices.asset().source().name()), ("vertices", geometry().source().name()));
        let rows = vertices.asset().reader().table("vertices").unwrap();
        assert_eq!(vertices.is_random_access().unwrap(), rows.nature().random_access);
        let names: Vec<&str> = vertices.numbers().iter().map(|number| &*rows.columns()[*number].name).collect();
        assert_eq!(names, ["y", "x"]);
        let batches = vertices.batches().unwrap();
        assert_eq!(RecordBatchReader::schema(&batches), vertices.schema());
    }

    #[test]
    fn what_is_not_there_is_named() {
        let error = Selection::new(geometry(), "vertexes").unwrap_err().to_string();
        assert!(error.contains("vertexes") && error.contains("did you mean vertices?"), "{error}");
        let vertices = Selection::new(geometry(), "vertices").unwrap();
        assert!(vertices.clone().columns(&["nope"]).unwrap_err().to_string().contains("nope"));
        assert!(vertices.clone().columns(&["x", "X"]).is_err());
        assert!(vertices.filter("x >").is_err());
    }

    #[test]
    fn a_column_gets_a_number_beside_another_of_its_name() {
        let vertices = Selection::new(geometry(), "vertices").unwrap().beside("X");
        let positive = vertices.clone().filter("x_2 > 0").unwrap().columns(&["y", "x_2"]).unwrap();
        let names: Vec<&str> = positive.chosen().iter().map(|column| &*column.name).collect();
        assert_eq!((names, positive.schema().field(1).name().as_str()), (vec!["y", "x_2"], "x_2"));
        let own = Selection::new(geometry(), "vertices").unwrap().filter("x > 0").unwrap();
        assert_eq!(positive.count().unwrap(), own.count().unwrap());
        assert!(vertices.filter("x > 0").is_err(), "x is the other column");
    }

    #[test]
    fn damage_is_an_error_unless_it_is_left_out() {
        let bytes = assetq_sample::bwdb::demo(1, Size::Small);
        let whole = Asset::open(Source::from_vec("assets.bin", bytes.clone())).unwrap();
        let paths = Selection::new(whole, "paths").unwrap();
        let count = paths.count().unwrap();
        // The first path's parent is made the path itself: no path leads through it.
        let mut bytes = bytes;
        let id = paths.rows().unwrap().next().unwrap().unwrap()[0][0].clone();
        let Value::Id64(id) = id else { panic!("{id:?}") };
        let at = bytes.windows(8).rposition(|w| w == id.to_le_bytes()).unwrap();
        bytes[at + 8..at + 16].copy_from_slice(&id.to_le_bytes());
        let damaged = Asset::open(Source::from_vec("assets.bin", bytes)).unwrap();
        let all = Selection::new(damaged, "paths").unwrap();
        let error = all.rows().unwrap().find_map(Result::err).expect("a path is damaged").to_string();
        let of_batches = all.batches().unwrap().find_map(Result::err).expect("a path is damaged").to_string();
        assert!(
            error.contains("paths") && of_batches.contains(&format!("assets.bin: {error}")),
            "{error} / {of_batches}"
        );
        let left_out = Arc::new(Mutex::new(Check::new("rows")));
        let some = all.leave_out_damaged(Arc::clone(&left_out));
        let rows: usize = some.batches().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
        let found = left_out.lock().unwrap().found();
        assert_eq!(rows as u64 + found, count as u64);
        assert!(found > 0);
        assert_eq!(some.count().unwrap(), rows);
    }

    #[test]
    fn the_thread_of_a_stream_that_is_dropped_ends() {
        let (told, ended) = std::sync::mpsc::channel();
        let portions = Portions::read(move |give, is_wanted| {
            while is_wanted() {
                give(0u8);
            }
            told.send(()).unwrap();
            Ok(())
        });
        drop(portions.unwrap());
        ended.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    }

    #[test]
    fn a_reader_that_panics_is_an_error_and_no_end() {
        let mut portions = Portions::read(|give, _| {
            give(1u8);
            panic!("on purpose");
        })
        .unwrap();
        assert!(matches!(portions.next(), Some(Ok(1))));
        assert!(matches!(portions.next(), Some(Err(_))));
        assert!(portions.next().is_none());
    }
}
