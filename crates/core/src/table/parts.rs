//! Tables of several parts, which open one by one, such as the files of a pattern.

use super::filter::Bound;
use super::{CellSink, RowCursor, Table, Value};
use crate::error::{Error, Result};
use crate::threads::prelude::*;
use self_cell::self_cell;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;

/// Cells of a part that are read ahead; a part with more is read row by row.
const CELLS: usize = 16 << 10;
const MOST_AT_ONCE: usize = 64;

/// The parts of a table. The rows of the table are the rows of all parts, in order.
pub trait TableParts: Send + Sync {
    fn count(&self) -> usize;

    /// The cell that all rows of a part have in `column`, if it is known without opening the part.
    fn common(&self, part: usize, column: usize) -> Option<Value<'_>>;

    /// Opens a part as a table with the same columns. `None` for a damaged part, which is left out.
    ///
    /// # Errors
    /// When a damaged part ends the walk.
    fn open(&self, part: usize) -> Result<Option<Arc<dyn TablePart>>>;

    /// Notes that the rows of a part cannot be read, so that they are left out.
    ///
    /// # Errors
    /// `error`, if a damaged part ends the walk.
    fn leave_out(&self, part: usize, error: Error) -> Result<()>;

    /// The number of the first row of a part. The rows of all parts before it are counted, once, also rows that are left out: a row has
    /// one number, whatever a walk reads.
    ///
    /// # Errors
    /// As [`TableParts::open`].
    fn start(&self, part: usize) -> Result<usize>;

    /// Keeps the number of rows of a part, for [`TableParts::start`].
    fn keep_len(&self, part: usize, len: usize);

    /// The parts whose rows may match, by what is known without opening them.
    fn candidates(&self, bound: Option<&Bound>) -> Vec<usize> {
        let mut parts: Vec<usize> = (0..self.count()).collect();
        if let Some(bound) = bound {
            parts.retain(|part| bound.may_match(&|column| self.common(*part, column)));
        }
        parts
    }
}

pub trait TablePart: Send + Sync {
    fn table(&self) -> &dyn Table;
}

type BoxedCursor<'a> = Box<dyn RowCursor + 'a>;

self_cell!(
    struct OpenWalk {
        owner: Arc<dyn TablePart>,
        #[not_covariant]
        dependent: BoxedCursor,
    }
);

/// A part that was opened, or read, ahead.
enum Ready {
    LeftOut,
    Rows(PrefetchedRows),
    Open(usize, Arc<dyn TablePart>),
}

struct PrefetchedRows {
    part: usize,
    /// The numbers of the rows in the part.
    rows: Vec<usize>,
    /// The cells of the requested columns, row by row.
    cells: Vec<Value<'static>>,
}

enum Current {
    /// Before the first part, or after the last one.
    None,
    /// The rows, and the place of the current one among them.
    Rows(PrefetchedRows, usize),
    Walk(usize, OpenWalk),
}

/// A walk over the rows of all parts. Several parts are opened and read at once, in bounded memory.
pub struct PartsCursor<'t> {
    table: &'t dyn Table,
    parts: &'t dyn TableParts,
    left: std::vec::IntoIter<usize>,
    /// The columns to read ahead. `None` if only the reader of the rows knows them.
    columns: Option<Vec<usize>>,
    bound: Option<Bound>,
    ready: VecDeque<Result<Ready>>,
    at_once: usize,
    current: Current,
    /// The number of the first row of the current part, once it was requested.
    start: Cell<Option<usize>>,
    /// The part and the row in it that the walk begins at.
    first: (usize, usize),
}

impl<'t> PartsCursor<'t> {
    /// A walk over the rows for which `bound` may hold; rows for which it does not hold may be among them.
    pub fn new(
        table: &'t dyn Table,
        parts: &'t dyn TableParts,
        columns: Option<&[usize]>,
        bound: Option<Bound>,
    ) -> Self {
        let left = parts.candidates(bound.as_ref()).into_iter();
        let columns = columns.map(|columns| {
            let mut columns = columns.to_vec();
            // The caller may check the condition again.
            bound.iter().for_each(|bound| bound.add_columns(&mut columns));
            // A damaged part is left out of a count, too.
            if columns.iter().all(|column| parts.common(0, *column).is_some()) {
                columns = (0..table.columns().len()).collect();
            }
            columns
        });
        Self {
            table,
            parts,
            left,
            columns,
            bound,
            ready: VecDeque::new(),
            at_once: 1,
            current: Current::None,
            start: Cell::new(None),
            first: (0, 0),
        }
    }

    /// A walk from row `first` on.
    pub fn from(
        table: &'t dyn Table,
        parts: &'t dyn TableParts,
        columns: Option<&[usize]>,
        first: usize,
    ) -> Box<dyn RowCursor + 't> {
        let mut walk = Self::new(table, parts, columns, None);
        walk.first.1 = first;
        while first > 0 && walk.first.0 < parts.count() {
            match parts.start(walk.first.0 + 1) {
                Ok(next) if next > first => break,
                Ok(next) => walk.first = (walk.first.0 + 1, first - next),
                Err(error) => {
                    walk.ready.push_back(Err(error));
                    break;
                }
            }
        }
        walk.left = (walk.first.0..parts.count()).collect::<Vec<_>>().into_iter();
        Box::new(walk)
    }

    /// Opens the next parts, each in a thread, and reads them if they are small.
    fn fill(&mut self) {
        let next: Vec<usize> = self.left.by_ref().take(self.at_once).collect();
        self.at_once = (self.at_once * 2).min(MOST_AT_ONCE);
        let (parts, columns, bound) = (self.parts, self.columns.as_deref(), self.bound.as_ref());
        let loaded: Vec<_> = match next.as_slice() {
            [part] => vec![load(parts, *part, columns, bound)],
            several => several.par_iter().with_max_len(1).map(|part| load(parts, *part, columns, bound)).collect(),
        };
        self.ready.extend(loaded);
    }

    /// The current part, and the number of the current row in it.
    fn place(&self) -> Option<(usize, usize)> {
        match &self.current {
            Current::None => None,
            Current::Rows(read, at) => Some((read.part, read.rows[*at])),
            Current::Walk(part, walk) => Some((*part, walk.with_dependent(|_, rows| rows.row()))),
        }
    }

    /// Moves to the next row, even one before the first.
    fn step(&mut self) -> Result<bool> {
        loop {
            match &mut self.current {
                Current::Rows(read, at) => {
                    *at += 1;
                    if *at < read.rows.len() {
                        return Ok(true);
                    }
                }
                Current::Walk(part, walk) => match walk.with_dependent_mut(|_, rows| rows.advance()) {
                    Ok(true) => return Ok(true),
                    Ok(false) => {}
                    Err(error) => self.parts.leave_out(*part, error)?,
                },
                Current::None => {}
            }
            self.current = Current::None;
            self.start.set(None);
            if self.ready.is_empty() {
                self.fill();
            }
            match self.ready.pop_front() {
                None => return Ok(false),
                Some(Err(error)) => {
                    self.left = Vec::new().into_iter();
                    self.ready.clear();
                    return Err(error);
                }
                Some(Ok(Ready::LeftOut)) => {}
                Some(Ok(Ready::Rows(read))) if read.rows.is_empty() => {}
                Some(Ok(Ready::Rows(read))) => {
                    self.current = Current::Rows(read, 0);
                    return Ok(true);
                }
                Some(Ok(Ready::Open(part, open))) => {
                    let (columns, bound) = (self.columns.as_deref(), self.bound.as_ref());
                    let walk = OpenWalk::new(open, |open| walk(open.table(), columns, bound));
                    self.current = Current::Walk(part, walk);
                }
            }
        }
    }
}

fn load(parts: &dyn TableParts, part: usize, columns: Option<&[usize]>, bound: Option<&Bound>) -> Result<Ready> {
    let Some(open) = parts.open(part)? else { return Ok(Ready::LeftOut) };
    let Some(columns) = columns else { return Ok(Ready::Open(part, open)) };
    match read(part, open.table(), columns, bound) {
        Ok(Some(rows)) => {
            if bound.is_none() {
                parts.keep_len(part, rows.rows.len());
            }
            Ok(Ready::Rows(rows))
        }
        Ok(None) => Ok(Ready::Open(part, open)),
        Err(error) => parts.leave_out(part, error).map(|()| Ready::LeftOut),
    }
}

fn walk<'t>(table: &'t dyn Table, columns: Option<&[usize]>, bound: Option<&Bound>) -> BoxedCursor<'t> {
    match bound {
        Some(bound) => bound.walk_over(table, columns),
        None => table.cursor_over(0, columns),
    }
}

/// The rows of a part; `None` if there are too many to keep. All are read in any case: a damaged part is left out, whatever its size.
fn read(part: usize, table: &dyn Table, columns: &[usize], bound: Option<&Bound>) -> Result<Option<PrefetchedRows>> {
    let most = CELLS / columns.len().max(1);
    let mut fits = true;
    let mut walk = walk(table, Some(columns), bound);
    let (mut rows, mut cells) = (Vec::new(), Vec::new());
    while walk.advance()? {
        if bound.map_or(Ok(true), |bound| bound.matches(&*walk))? {
            if fits && rows.len() >= most {
                (fits, rows, cells) = (false, Vec::new(), Vec::new());
            }
            if fits {
                rows.push(walk.row());
            }
            for &column in columns {
                let cell = walk.value(column)?;
                if fits {
                    cells.push(cell.into_owned());
                }
            }
        }
    }
    Ok(fits.then_some(PrefetchedRows { part, rows, cells }))
}

impl RowCursor for PartsCursor<'_> {
    fn advance(&mut self) -> Result<bool> {
        while self.step()? {
            if self.place().is_none_or(|place| place >= self.first) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn row(&self) -> usize {
        let Some((part, row)) = self.place() else { return 0 };
        if self.start.get().is_none() {
            self.start.set(self.parts.start(part).ok());
        }
        // If the rows of the parts before it cannot be counted, a row has its number in its part.
        self.start.get().map_or(row, |start| start + row)
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        match &self.current {
            Current::None => Err(super::no_cell(self.table.name(), 0, column)),
            Current::Rows(read, at) => {
                let columns = self.columns.as_deref().expect("rows are read ahead for known columns");
                match columns.iter().position(|known| *known == column) {
                    Some(place) => Ok(read.cells[at * columns.len() + place].borrowed()),
                    None => self.table.value(self.row(), column),
                }
            }
            Current::Walk(_, walk) => walk.with_dependent(|_, rows| rows.value(column)),
        }
    }

    fn put(&self, column: usize, sink: &mut dyn CellSink) -> Result<()> {
        match &self.current {
            Current::Walk(_, walk) => walk.with_dependent(|_, rows| rows.put(column, sink)),
            Current::None | Current::Rows(..) => self.value(column).and_then(|cell| sink.value(&cell)),
        }
    }
}
