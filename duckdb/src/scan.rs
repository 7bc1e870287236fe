//! Scans of a table: what a query requests of it, and the walks of its threads.

use crate::api::{Handle, api};
use crate::kept::{self, KeptColumn, KeptColumns};
use crate::vector::{ColumnType, Vector};
use assetq::formats::ErrorKind;
use assetq::query::files::FileSet;
use assetq::table::filter::{Bound, picked};
use assetq::table::{RowCursor, Table, TablePart, TableParts, Value};
use assetq::write::text::escape;
use assetq::{Asset, Error};
use self_cell::self_cell;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows that a thread takes at once, at least and at most: a vector, and a row group of DuckDB.
const ROWS: Range<usize> = kept::ROWS..122_880;
/// Shares of rows in a table of middle size.
const SHARES: usize = 16;

type DynTable<'a> = Box<dyn Table + 'a>;
type DynCursor<'a> = Box<dyn RowCursor + 'a>;

self_cell!(
    /// A table of an open file.
    pub struct OpenTable {
        owner: Asset,
        #[covariant]
        dependent: DynTable,
    }
);

self_cell!(
    /// A walk over the rows of an open table.
    struct OpenWalk {
        owner: Arc<Opened>,
        #[covariant]
        dependent: DynCursor,
    }
);

/// A table that remains open as long as a query needs it.
pub enum Opened {
    /// A table of a file.
    File(OpenTable),
    /// A table of one of many files.
    Part(Arc<dyn TablePart>),
    /// A table that is not in a file.
    Made(DynTable<'static>),
}

impl Opened {
    /// The table.
    pub fn table(&self) -> &dyn Table {
        match self {
            Self::File(open) => &**open.borrow_dependent(),
            Self::Part(part) => part.table(),
            Self::Made(table) => &**table,
        }
    }

    fn asset(&self) -> Option<&Asset> {
        match self {
            Self::File(open) => Some(open.borrow_owner()),
            Self::Part(_) | Self::Made(_) => None,
        }
    }

    /// The addresses of the file's bytes, which remain as long as the table is open.
    fn map(&self) -> Range<usize> {
        self.asset().map_or(0..0, |asset| {
            let bytes = asset.source().bytes().as_ptr_range();
            bytes.start.addr()..bytes.end.addr()
        })
    }
}

/// A call of a function of the extension: the table and the options of its scans.
pub struct Bind {
    /// The address of the file, for errors.
    pub file: String,
    /// The table.
    pub opened: Arc<Opened>,
    /// The columns that are kept of the file.
    pub columns: Option<Arc<KeptColumns>>,
    /// The ones that scans have used: texts of their cells are not copied.
    pub held: Mutex<Vec<Arc<KeptColumn>>>,
    /// The types of its columns.
    pub types: Vec<ColumnType>,
    /// The condition on its rows.
    pub filter: Option<Bound>,
    /// Whether damaged rows are skipped.
    pub skip_damaged: bool,
    /// The rows that were skipped.
    pub skipped: Mutex<Skipped>,
}

/// Rows that were skipped because of damage.
#[derive(Default)]
pub struct Skipped {
    /// The number of damaged rows, and the error of the first one.
    rows: (u64, Option<String>),
    /// Why further rows cannot be found, for each file.
    lost: Vec<String>,
}

impl Bind {
    /// The text of an error as the command prints it.
    fn error(&self, error: &Error) -> String {
        format!("{}: {error}", self.file)
    }

    /// Keeps the cells of a column as long as the query can be run.
    fn hold(&self, column: &Arc<KeptColumn>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if !held.iter().any(|known| Arc::ptr_eq(known, column)) {
            held.push(Arc::clone(column));
        }
    }

    /// Skips a damaged row, or rows that cannot be found, if the caller allows it.
    #[cold]
    fn damaged(&self, file: &str, row: Option<usize>, error: Error) -> Result<(), String> {
        let name = self.opened.table().name();
        let error = match row {
            Some(row) => error.in_row(name, row),
            None => error.in_table(name),
        };
        let text = format!("{file}: {error}");
        if !self.skip_damaged || matches!(error.kind(), ErrorKind::Io { .. }) {
            return Err(text);
        }
        let mut skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        match row {
            Some(_) => {
                skipped.rows.0 = skipped.rows.0.saturating_add(1);
                skipped.rows.1.get_or_insert(text);
            }
            // A query may scan a table twice.
            None if skipped.lost.contains(&text) => {}
            None => skipped.lost.push(text),
        }
        Ok(())
    }
}

impl Drop for Bind {
    /// Prints what scans left out: DuckDB's stable API has no warnings.
    fn drop(&mut self) {
        if let Some(set) = self.opened.asset().and_then(|asset| asset.get::<FileSet>()) {
            let (listed, opened) = (set.list().damaged().to_vec(), set.left_out());
            listed.iter().chain(&opened).for_each(|(file, error)| say(&format!("{file}: left out: {error}")));
        }
        let skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        if let (count, Some(first)) = &skipped.rows {
            say(&format!("{count} damaged rows left out, the first: {first}"));
        }
        let name = self.opened.table().name();
        skipped.lost.iter().for_each(|why| say(&format!("rows of {name} that cannot be found are left out: {why}")));
    }
}

/// Prints a line for people.
fn say(line: &str) {
    eprintln!("assetq: {}", escape(line));
}

/// The shares of the rows that threads take one after another.
enum Shares {
    /// Ranges of rows, in a table of `len` rows that can be entered anywhere.
    Ranges { len: usize, step: usize },
    /// The files of a pattern.
    Parts(Vec<usize>),
    /// The rows that an index found.
    Found(Vec<usize>),
    /// All rows, in one walk.
    Whole,
}

/// A scan of a query.
pub struct Scan {
    bind: Arc<Bind>,
    /// The columns that the query reads, and their places in a chunk.
    columns: Vec<usize>,
    places: Vec<u64>,
    /// Columns that are only read to leave out rows with damaged cells, if the query reads no column.
    checked: Vec<usize>,
    /// The same columns in memory, where their cells are kept.
    keeping: Vec<Option<Arc<KeptColumn>>>,
    /// Further columns of the query, which are complete in memory, and their places.
    kept: Vec<(u64, Arc<KeptColumn>)>,
    shares: Shares,
    next: AtomicUsize,
}

impl Scan {
    /// A scan of the columns `requested`, by place. A number that is no column stands for a row without cells.
    pub fn new(bind: Arc<Bind>, requested: &[u64]) -> Result<Self, String> {
        let (mut columns, mut places) = (Vec::new(), Vec::new());
        for (place, column) in (0..).zip(requested) {
            if let Some(column) = usize::try_from(*column).ok().filter(|column| *column < bind.types.len()) {
                columns.push(column);
                places.push(place);
            }
        }
        let table = bind.opened.table();
        let found = bind.filter.as_ref().and_then(|filter| filter.candidates(table));
        let shares = match (table.parts(), found) {
            (Some(parts), _) => Shares::Parts(parts.candidates(bind.filter.as_ref())),
            (None, Some(found)) => Shares::Found(found),
            (None, None) if table.nature().random_access => match table.len() {
                Ok(len) => Shares::Ranges { len, step: step(len) },
                // The walk returns the error, after the rows before it.
                Err(_) => Shares::Whole,
            },
            (None, None) => Shares::Whole,
        };
        let (keeping, kept) = (Vec::new(), Vec::new());
        // A count leaves out the rows that a list of them leaves out.
        let checked =
            if bind.skip_damaged && columns.is_empty() { (0..bind.types.len()).collect() } else { Vec::new() };
        let mut scan = Self { bind, columns, checked, places, keeping, kept, shares, next: AtomicUsize::new(0) };
        scan.use_kept();
        Ok(scan)
    }

    /// Takes columns from memory that earlier queries have read, and keeps those that this one reads. Only if a chunk always has all rows
    /// of its range.
    fn use_kept(&mut self) {
        let Self { bind, columns, places, keeping, kept, shares, .. } = self;
        // SAFETY: a function without arguments.
        let is_usual = unsafe { (api().vector_size)() } == kept::ROWS as u64;
        let len = match (&bind.columns, &*shares) {
            (Some(_), Shares::Ranges { len, .. }) if is_usual && bind.filter.is_none() && !bind.skip_damaged => *len,
            _ => return keeping.resize(columns.len(), None),
        };
        for (column, place) in std::mem::take(columns).into_iter().zip(std::mem::take(places)) {
            let is_flat = bind.types.get(column).is_some_and(|of| of.width().is_some());
            let known = bind.columns.as_ref().filter(|_| is_flat);
            match known.map(|known| known.column(bind.opened.table().name(), column, len)) {
                Some(known) if known.is_complete() => {
                    bind.hold(&known);
                    kept.push((place, known));
                }
                known => {
                    known.iter().for_each(|known| bind.hold(known));
                    columns.push(column);
                    places.push(place);
                    keeping.push(known);
                }
            }
        }
    }

    fn uses_kept(&self) -> bool {
        !self.kept.is_empty() || self.keeping.iter().any(Option::is_some)
    }

    /// The number of threads that can each read a share.
    pub fn threads(&self) -> u64 {
        let shares = match &self.shares {
            Shares::Ranges { len, step } => len.div_ceil(*step),
            Shares::Parts(parts) => parts.len(),
            Shares::Found(_) | Shares::Whole => 1,
        };
        shares.max(1) as u64
    }

    fn walk(&self, file: String, opened: Arc<Opened>, part: Option<usize>, rows: Range<usize>) -> Walk {
        let map = if part.is_none() { opened.map() } else { 0..0 };
        let open = OpenWalk::new(opened, |opened| match &self.bind.filter {
            Some(filter) if rows == (0..usize::MAX) => filter.walk_over(opened.table(), Some(&self.columns)),
            _ => opened.table().cursor_over(rows.start, Some(&self.columns)),
        });
        Walk { rows: Rows::Open(open), next: rows.start, end: rows.end, file, part, map }
    }

    /// The walk over the next share.
    fn next(&self) -> Result<Option<Walk>, String> {
        let bind = &*self.bind;
        loop {
            let share = self.next.fetch_add(1, Ordering::Relaxed);
            let opened = Arc::clone(&bind.opened);
            let walk = match &self.shares {
                Shares::Ranges { len, step } => {
                    let start = share.saturating_mul(*step);
                    let end = start.saturating_add(*step).min(*len);
                    if start >= end {
                        return Ok(None);
                    }
                    if self.columns.is_empty() && self.checked.is_empty() && bind.filter.is_none() {
                        let rows = Rows::Counted(end.saturating_sub(start));
                        let file = String::new();
                        return Ok(Some(Walk { rows, next: start, end, file, part: None, map: 0..0 }));
                    }
                    Ok(self.walk(bind.file.clone(), opened, None, start..end))
                }
                Shares::Parts(parts) => {
                    let Some(&part) = parts.get(share) else { return Ok(None) };
                    let Some(set) = bind.opened.table().parts() else { return Ok(None) };
                    match set.open(part) {
                        Ok(None) => continue,
                        Ok(Some(open)) => {
                            let opened = Arc::new(Opened::Part(open));
                            Ok(self.walk(name_of(set, part, bind), opened, Some(part), 0..usize::MAX))
                        }
                        Err(error) => Err(error),
                    }
                }
                Shares::Found(_) | Shares::Whole if share > 0 => return Ok(None),
                Shares::Found(rows) => {
                    let found = OpenWalk::new(opened, |opened| picked(opened.table(), rows.clone()));
                    let (rows, map) = (Rows::Open(found), bind.opened.map());
                    Ok(Walk { rows, next: 0, end: usize::MAX, file: bind.file.clone(), part: None, map })
                }
                Shares::Whole => Ok(self.walk(bind.file.clone(), opened, None, 0..usize::MAX)),
            };
            return walk.map(Some).map_err(|error| bind.error(&error));
        }
    }
}

/// The rows that a thread takes at once from a table of `len` rows.
fn step(len: usize) -> usize {
    len.div_ceil(SHARES).next_multiple_of(ROWS.start).clamp(ROWS.start, ROWS.end)
}

fn name_of(parts: &dyn TableParts, part: usize, bind: &Bind) -> String {
    match parts.common(part, 0) {
        Some(Value::Text(name)) => name.into_owned(),
        _ => bind.file.clone(),
    }
}

/// A walk over a share of the rows.
struct Walk {
    rows: Rows,
    /// The next row, in a range without rows that are left out.
    next: usize,
    /// The row after the last one.
    end: usize,
    /// The file, for errors.
    file: String,
    /// The number of the file among the files of a pattern.
    part: Option<usize>,
    /// The addresses of bytes that outlive the query.
    map: Range<usize>,
}

enum Rows {
    Open(OpenWalk),
    /// Rows without a cell that is read.
    Counted(usize),
}

/// The state of a thread of a scan.
pub struct Local {
    vectors: Vec<Vector>,
    walk: Option<Walk>,
}

impl Local {
    /// The state before the first share.
    pub fn new(scan: &Scan) -> Self {
        let vectors = scan.columns.iter().filter_map(|column| scan.bind.types.get(*column)).map(Vector::new);
        Self { vectors: vectors.collect(), walk: None }
    }

    /// Fills `chunk` with the next rows; without further rows it remains empty.
    ///
    /// # Safety
    /// `chunk` is an empty chunk of the columns of `scan`.
    pub unsafe fn fill(&mut self, scan: &Scan, chunk: Handle) -> Result<(), String> {
        // SAFETY: the chunk has a vector at each place of a column.
        unsafe {
            for (vector, place) in self.vectors.iter_mut().zip(&scan.places) {
                vector.attach((api().data_chunk_get_vector)(chunk, *place));
            }
            let most = usize::try_from((api().vector_size)()).expect("a vector is in memory");
            let mut filled = 0;
            let mut first = 0;
            while filled < most {
                let Some(walk) = &mut self.walk else {
                    self.walk = scan.next()?;
                    if self.walk.is_none() {
                        break;
                    }
                    continue;
                };
                let before = filled;
                if before == 0 {
                    first = walk.next;
                }
                let has_more = walk.read(scan, &mut self.vectors, &mut filled, most)?;
                walk.next = walk.next.saturating_add(filled.saturating_sub(before));
                if !has_more {
                    self.walk = None;
                    // The rows of a chunk that is kept follow each other.
                    if filled > 0 && scan.uses_kept() {
                        break;
                    }
                }
            }
            if filled > 0 {
                for (vector, keeping) in self.vectors.iter_mut().zip(&scan.keeping) {
                    match keeping {
                        Some(column) => vector.finish_kept(column, first, filled),
                        None => vector.finish(),
                    }
                }
                for (place, column) in &scan.kept {
                    let raw = (api().data_chunk_get_vector)(chunk, *place);
                    let cells = column.chunk(first).ok_or("a kept column has lost its rows")?;
                    cells.write(raw);
                }
            }
            (api().data_chunk_set_size)(chunk, filled as u64);
        }
        Ok(())
    }
}

impl Walk {
    /// Reads rows until `most` are filled. Returns whether rows may follow.
    ///
    /// # Safety
    /// The vectors are attached, and have room for `most` rows.
    unsafe fn read(
        &mut self,
        scan: &Scan,
        vectors: &mut [Vector],
        filled: &mut usize,
        most: usize,
    ) -> Result<bool, String> {
        let bind = &*scan.bind;
        let rows = match &mut self.rows {
            Rows::Counted(left) => {
                let count = (*left).min(most.saturating_sub(*filled));
                *filled = filled.saturating_add(count);
                *left = left.saturating_sub(count);
                return Ok(*left > 0);
            }
            Rows::Open(rows) => rows,
        };
        let (end, map, file, part) = (self.end, &self.map, &*self.file, self.part);
        rows.with_dependent_mut(|_, cursor| {
            while *filled < most {
                match cursor.advance() {
                    Ok(true) if end == usize::MAX || cursor.row() < end => {}
                    Ok(_) => return Ok(false),
                    Err(error) => {
                        return match (part, bind.opened.table().parts()) {
                            (Some(part), Some(parts)) => {
                                parts.leave_out(part, error).map_err(|error| format!("{file}: {error}"))
                            }
                            _ => bind.damaged(file, None, error),
                        }
                        .map(|()| false);
                    }
                }
                let row = &**cursor;
                let set = match bind.filter.as_ref().map_or(Ok(true), |filter| filter.matches(row)) {
                    Ok(false) => continue,
                    // SAFETY: as the caller promises.
                    Ok(true) => unsafe { set(row, scan, vectors, *filled, map) },
                    Err(error) => Err(error),
                };
                match set {
                    Ok(()) => *filled = filled.saturating_add(1),
                    Err(error) => {
                        bind.damaged(file, Some(row.row()), error)?;
                        vectors.iter_mut().for_each(|vector| vector.take_back(*filled));
                    }
                }
            }
            Ok(true)
        })
    }
}

/// Sets the cells of `row`.
///
/// # Safety
/// As [`Walk::read`].
#[inline]
unsafe fn set(
    row: &dyn RowCursor,
    scan: &Scan,
    vectors: &mut [Vector],
    at: usize,
    map: &Range<usize>,
) -> assetq::Result<()> {
    scan.checked.iter().try_for_each(|column| row.value(*column).map(drop))?;
    for (vector, column) in vectors.iter_mut().zip(&scan.columns) {
        // SAFETY: as the caller promises.
        let mut cell = unsafe { vector.cell(at, map) };
        row.put(*column, &mut cell)?;
    }
    Ok(())
}
