//! A table of an open file or pattern: its columns, its partitions, and the reading of its rows.

use assetq::files::FileSet;
use assetq::report::Check;
use assetq::table::filter::Bound;
use assetq::table::{Column, RowCursor, Table, TableParts};
use assetq::write::arrow::ArrowBatches;
use assetq::{Asset, Error, ErrorKind, Result};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::physical_plan::metrics::Count;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that a file counts for besides its own: the cost of opening it.
const OPEN_BYTES: u64 = 64 << 10;

/// Whether damage is an error, or is left out and noted.
#[derive(Debug, Clone, Default)]
pub struct Damage(Option<Arc<Mutex<Check>>>);

impl Damage {
    pub fn new(is_strict: bool) -> Self {
        Self((!is_strict).then(|| Arc::new(Mutex::new(Check::new("rows")))))
    }

    pub fn is_strict(&self) -> bool {
        self.0.is_none()
    }

    /// Notes an error, or returns it.
    fn meet(&self, error: Error) -> Result<()> {
        match &self.0 {
            Some(noted) if !matches!(error.kind(), ErrorKind::Io { .. }) => {
                noted.lock().unwrap_or_else(PoisonError::into_inner).fail(error);
                Ok(())
            }
            _ => Err(error),
        }
    }

    /// The errors that were noted since the last call.
    pub fn take(&self) -> Check {
        let none = Check::new("rows");
        match &self.0 {
            Some(noted) => std::mem::replace(&mut *noted.lock().unwrap_or_else(PoisonError::into_inner), none),
            None => none,
        }
    }
}

/// A table of an open file, or of all files of a pattern.
#[derive(Debug)]
pub struct Source {
    asset: Asset,
    name: String,
    columns: Vec<Column>,
    schema: SchemaRef,
    /// The number of first columns that all rows of a file share: `file` and `build`.
    common: usize,
    damage: Damage,
    partition_rows: usize,
}

/// Some rows of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The number of the file.
    pub file: usize,
    /// The numbers of the rows in it. The end may be past the last row.
    pub rows: Range<usize>,
    /// The number of rows, if it is known.
    pub len: Option<usize>,
    /// The share of a scan in bytes.
    cost: u64,
}

impl Source {
    pub fn new(asset: Asset, name: &str, damage: Damage, partition_rows: usize) -> Result<Self> {
        let table = asset.reader().table(name).ok_or_else(|| no_table(name))?;
        let columns = table.columns().to_vec();
        let is_common = |parts: &dyn TableParts, column| parts.common(0, column).is_some();
        let common = table.parts().map_or(0, |parts| (0..columns.len()).take_while(|c| is_common(parts, *c)).count());
        drop(table);
        let schema = ArrowBatches::new(&columns, |_| Ok(())).schema();
        Ok(Self { asset, name: name.to_owned(), columns, schema, common, damage, partition_rows })
    }

    pub fn asset(&self) -> &Asset {
        &self.asset
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The columns that all rows of a file share.
    pub fn common_columns(&self) -> &[Column] {
        self.columns.get(..self.common).unwrap_or_default()
    }

    fn table(&self) -> Result<Box<dyn Table + '_>> {
        self.asset.reader().table(&self.name).ok_or_else(|| no_table(&self.name))
    }

    /// Whether damage is an error.
    pub fn is_strict(&self) -> bool {
        self.damage.is_strict()
    }

    /// The number of files.
    pub fn files(&self) -> usize {
        self.set().map_or(1, |set| set.list().len())
    }

    fn set(&self) -> Option<&FileSet> {
        self.asset.get()
    }

    fn file_name(&self, file: usize) -> String {
        self.set().map_or_else(|| self.asset.source().name().to_owned(), |set| set.list().name(file))
    }

    /// For each of the common columns, the cell of each file.
    pub fn common_cells(&self) -> Result<Vec<Vec<Option<String>>>> {
        let table = self.table()?;
        let Some(parts) = table.parts() else { return Ok(Vec::new()) };
        let cell = |file, column| parts.common(file, column)?.as_text().map(|text| text.into_owned());
        Ok((0..self.common).map(|column| (0..parts.count()).map(|file| cell(file, column)).collect()).collect())
    }

    /// The number of rows, if counting them needs no walk.
    pub fn known_len(&self) -> Option<usize> {
        // Damaged files and rows are not among the rows that a scan returns.
        let is_whole = self.damage.is_strict() && self.set().is_none_or(|set| set.left_out().is_empty());
        self.table().ok().filter(|_| is_whole)?.known_len()
    }

    /// Whether an index of the format finds the rows that satisfy the condition.
    pub fn is_probe(&self, bound: &Bound) -> bool {
        fn is_probe(bound: &Bound, table: &dyn Table) -> bool {
            match bound {
                Bound::Compare(_) => bound.hash(|_| Some(0)).is_some_and(|(column, _)| table.finds(column)),
                Bound::And(all) => all.iter().any(|bound| is_probe(bound, table)),
                Bound::Or(any) => any.iter().all(|bound| is_probe(bound, table)),
                _ => false,
            }
        }
        self.table().is_ok_and(|table| is_probe(bound, &*table))
    }

    /// Divides the rows of the files that `is_wanted` into at most `count` partitions, by files and ranges of rows.
    /// Files are opened only to divide their rows.
    pub fn partitions(
        &self,
        is_wanted: &dyn Fn(usize) -> bool,
        bound: &Bound,
        count: usize,
    ) -> Result<Vec<Vec<Piece>>> {
        let table = self.table()?;
        let mut files = table.parts().map_or_else(|| vec![0], |parts| parts.candidates(Some(bound)));
        files.retain(|file| is_wanted(*file));
        let size = |file: usize| match self.set() {
            Some(set) => set.list().size(file).unwrap_or_default(),
            None => self.asset.source().bytes().len() as u64,
        };
        let files: Vec<_> = files.into_iter().map(|file| (file, size(file).saturating_add(OPEN_BYTES))).collect();
        let total = files.iter().fold(0u64, |sum, (_, cost)| sum.saturating_add(*cost)).max(1);
        let share = total.div_ceil(count.max(1) as u64).max(1);
        let is_probe = self.is_probe(bound);
        let mut pieces = Vec::with_capacity(files.len());
        for (file, cost) in files {
            let shares = usize::try_from(cost.div_ceil(share)).unwrap_or(count);
            let whole = |len| Piece { file, rows: 0..usize::MAX, len, cost };
            match table.parts() {
                _ if shares < 2 || is_probe => pieces.push(whole(None)),
                None => self.divide(&*table, whole(None), shares, &mut pieces)?,
                // A damaged file is met, or left out, by the reader of the partition.
                Some(parts) => match parts.open(file)? {
                    Some(open) => self.divide(open.table(), whole(None), shares, &mut pieces)?,
                    None => pieces.push(whole(None)),
                },
            }
        }
        let mut partitions: Vec<(Option<u128>, Vec<Piece>)> = Vec::new();
        let mut before = 0u128;
        for piece in pieces {
            let cost = u128::from(piece.cost);
            // The partition with the middle of the piece, if all had the same cost.
            let number = before.saturating_add(cost / 2).saturating_mul(count as u128).checked_div(u128::from(total));
            before = before.saturating_add(cost);
            match partitions.last_mut() {
                Some((last, pieces)) if *last == number => pieces.push(piece),
                _ => partitions.push((number, vec![piece])),
            }
        }
        let mut partitions: Vec<_> = partitions.into_iter().map(|(_, pieces)| pieces).collect();
        if partitions.is_empty() {
            partitions.push(Vec::new());
        }
        Ok(partitions)
    }

    /// Divides the rows of a file into `shares` ranges, if a walk can begin at any row.
    fn divide(&self, table: &dyn Table, whole: Piece, shares: usize, pieces: &mut Vec<Piece>) -> Result<()> {
        if !table.is_random_access() {
            pieces.push(whole);
            return Ok(());
        }
        let len = match table.len() {
            Ok(len) => len,
            Err(error) => {
                self.damage.meet(self.located(error, whole.file, None))?;
                return Ok(());
            }
        };
        let shares = shares.min(len.div_ceil(self.partition_rows)).max(1);
        let step = len.div_ceil(shares);
        for first in (0..shares).map(|share| share.saturating_mul(step).min(len)) {
            let end = first.saturating_add(step).min(len);
            let (len, cost) = (Some(end.saturating_sub(first)), whole.cost.checked_div(shares as u64));
            pieces.push(Piece { rows: first..end, len, cost: cost.unwrap_or_default(), ..whole.clone() });
        }
        Ok(())
    }

    /// An error with the table, its row and its file in front.
    fn located(&self, error: Error, file: usize, row: Option<usize>) -> Error {
        let name = &self.name;
        let error = match row {
            // Some errors name their row already.
            Some(row) if !error.part().starts_with(&format!("{name} {row}")) => {
                error.context(format_args!("{name} row {row}"))
            }
            Some(_) => error,
            None => error.context(name),
        };
        error.context(self.file_name(file))
    }

    /// Hands each requested row of some pieces to `each`. Ends when `is_wanted` returns `false`.
    pub fn read(
        &self,
        pieces: &[Piece],
        request: &Request,
        each: &mut dyn FnMut(&dyn RowCursor) -> Result<()>,
        is_wanted: &dyn Fn() -> bool,
        done: &Counts,
    ) -> Result<()> {
        let table = self.table()?;
        let mut left = request.limit.unwrap_or(usize::MAX);
        for piece in pieces {
            let mut walk = Walk { piece, request, each: &mut *each, is_wanted, left, read: 0 };
            let read = match table.parts() {
                None => self.read_piece(&*table, &mut walk),
                Some(parts) => match parts.open(piece.file)? {
                    Some(open) => self.read_piece(open.table(), &mut walk),
                    None => self.meet_left_out(piece.file),
                },
            };
            done.files.add(1);
            done.rows.add(walk.read);
            left = walk.left;
            read?;
            if left == 0 || !is_wanted() {
                break;
            }
        }
        Ok(())
    }

    /// A file that is left out is an error, unless damage is left out.
    fn meet_left_out(&self, file: usize) -> Result<()> {
        let (true, Some(set)) = (self.damage.is_strict(), self.set()) else { return Ok(()) };
        let name = set.list().name(file);
        let known = set.left_out().into_iter().find(|(damaged, _)| *damaged == name);
        known.map_or(Ok(()), |(_, error)| Err(error.context(name)))
    }

    fn read_piece(&self, table: &dyn Table, walk: &mut Walk<'_>) -> Result<()> {
        let Walk { piece, request, .. } = *walk;
        let rows = match &request.bound {
            Bound::And(all) if all.is_empty() => Ok(table.cursor_over(piece.rows.start, &request.columns)),
            bound => bound.walk_within(table, &piece.rows, &request.columns),
        };
        let mut rows = match rows {
            Ok(rows) => rows,
            Err(error) => return self.damage.meet(self.located(error, piece.file, None)),
        };
        while walk.left > 0 {
            match rows.advance() {
                Ok(true) if piece.rows.end == usize::MAX || rows.row() < piece.rows.end => {}
                Ok(_) => break,
                // The later rows of the file are lost.
                Err(error) => return self.damage.meet(self.located(error, piece.file, None)),
            }
            walk.read = walk.read.saturating_add(1);
            let taken = match request.bound.matches(&*rows) {
                Ok(true) => (walk.each)(&*rows).map(|()| walk.left = walk.left.saturating_sub(1)),
                Ok(false) => Ok(()),
                Err(error) => Err(error),
            };
            if !(walk.is_wanted)() {
                break;
            }
            if let Err(error) = taken {
                self.damage.meet(self.located(error, piece.file, Some(rows.row())))?;
            }
        }
        Ok(())
    }
}

/// The rows and columns that a scan reads.
#[derive(Debug, Clone)]
pub struct Request {
    /// The columns of the result and of the condition.
    pub columns: Vec<usize>,
    /// The condition, which is `And` of nothing for all rows.
    pub bound: Bound,
    /// The number of rows after which a partition ends.
    pub limit: Option<usize>,
}

/// The files and rows that a scan has read so far.
#[derive(Debug, Clone)]
pub struct Counts {
    pub files: Count,
    /// The rows that were located, whether they satisfy the condition or not.
    pub rows: Count,
}

struct Walk<'a> {
    piece: &'a Piece,
    request: &'a Request,
    each: &'a mut dyn FnMut(&dyn RowCursor) -> Result<()>,
    is_wanted: &'a dyn Fn() -> bool,
    /// The number of rows that are still wanted.
    left: usize,
    /// The number of rows that were located.
    read: usize,
}

fn no_table(name: &str) -> Error {
    Error::of_part(ErrorKind::NotFound { what: format!("table {name:?}") }, "")
}
