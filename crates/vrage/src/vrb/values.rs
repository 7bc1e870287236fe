//! `values`: every leaf of every chunk as a row, found in one walk.

use super::graph::{Event, Walker};
use super::path::{Path, Step, is_shown, push_index, push_name};
use super::types::{ModelId, TypeModel};
use super::{Chunk, VrbArchive};
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::table::{Column, Kind, Leaves, Nature, NoRows, RowCursor, RowEdits, Table, Value, no_cell};
use crate::threads::prelude::*;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of rows between two positions that are kept for good.
const STRIDE: usize = 1 << 14;

/// The number of rows between two positions near rows that were used recently, so that small steps back, such as for members
/// in another order, cost little.
const STEP: usize = 1 << 7;

/// The limit of positions near rows that were used recently: threads read rows of a few stretches.
const RECENT: usize = 4 * STRIDE / STEP;

/// Rows that are gone to from the first one before places between are kept.
const JUMPS: usize = 16;

/// The columns. [`column`] has their numbers.
static COLUMNS: [Column; 4] = [
    Column::text("path").brief().key().in_folders().writable(),
    Column::text("type").brief().writable(),
    Column::new("value", Kind::Any).brief().writable(),
    Column::text("chunk").key().writable(),
];

/// The numbers of the columns.
pub(super) mod column {
    pub const PATH: usize = 0;
    pub const TYPE: usize = 1;
    pub const VALUE: usize = 2;
    pub const CHUNK: usize = 3;
}

/// The table. Rows follow the walk, so that a scan reads every byte once; a row asked for by its number is walked to
/// from the closest place before it that was kept.
pub(super) struct Values<'a> {
    archive: &'a VrbArchive,
    columns: Vec<Column>,
    len: Lazy<usize>,
    seek: Mutex<Seek<'a>>,
}

#[derive(Default)]
struct Seek<'a> {
    /// The walk that answered last.
    last: Option<ValueCursor<'a>>,
    /// Walks by their rows.
    kept: BTreeMap<usize, ValueCursor<'a>>,
    /// The number of walks that are not kept for good.
    recent: usize,
    /// Rows that were gone to from the first one.
    jumps: usize,
}

impl<'a> Seek<'a> {
    /// Keeps a walk at `row`, if it is one of the kept positions.
    fn keep(&mut self, row: usize, walk: &ValueCursor<'a>) {
        /// Each walk would keep a copy of a path that is longer than any program writes.
        const LONGEST: usize = 1 << 12;
        let for_good = row.is_multiple_of(STRIDE);
        let is_place = for_good || (row.is_multiple_of(STEP) && walk.path.len() <= LONGEST);
        if !is_place || self.kept.contains_key(&row) {
            return;
        }
        if !for_good && self.recent == RECENT {
            self.kept.retain(|row, _| row.is_multiple_of(STRIDE));
            self.recent = 0;
        }
        self.recent = self.recent.saturating_add(usize::from(!for_good));
        self.kept.insert(row, walk.clone());
    }
}

impl<'a> Values<'a> {
    pub(super) fn new(archive: &'a VrbArchive) -> Self {
        let mut columns = COLUMNS.to_vec();
        // The path alone identifies a value unless there are several chunks.
        let has_several = archive.header().chunk_count.get() != 0;
        columns.iter_mut().skip(column::CHUNK).for_each(|chunk| chunk.brief = has_several);
        Self { archive, columns, len: Lazy::default(), seek: Mutex::default() }
    }

    /// A walk positioned at `row`; `None` past the end.
    fn at(&self, seek: &mut Seek<'a>, row: usize) -> Result<Option<ValueCursor<'a>>> {
        let last = seek.last.take().filter(|walk| walk.number().is_some_and(|at| at <= row));
        let kept = seek.kept.range(..=row).next_back().map(|(_, walk)| walk);
        let mut rows = match (last, kept) {
            (Some(last), Some(kept)) if last.number() < kept.number() => kept.clone(),
            (Some(last), _) => last,
            (None, Some(kept)) => kept.clone(),
            (None, None) => ValueCursor::new(self.archive)?,
        };
        // A few rows are reached by a walk over all others; for many, kept positions pay off.
        if seek.jumps < JUMPS && rows.number().is_none_or(|at| row.saturating_sub(at) > STRIDE) {
            seek.jumps = seek.jumps.saturating_add(1);
            let mut jumped = rows.clone();
            // Only single steps show which rows precede damage.
            if let Ok(found) = jumped.jump(row) {
                return Ok(found.then_some(jumped));
            }
        }
        while rows.number() != Some(row) {
            match rows.step() {
                Ok(true) => seek.keep(rows.row(), &rows),
                Ok(false) => return rows.passed.into_iter().next().map_or(Ok(None), Err),
                Err(error) if rows.is_over => return Err(error),
                Err(error) => rows.pass_damage(error),
            }
        }
        Ok(Some(rows))
    }

    /// The rows at `path`: the walk skips values outside of it, so that no other path is built.
    fn places(&self, path: &str) -> Result<Vec<usize>> {
        let Some(wanted) = Path::parse(path).filter(|wanted| wanted.to_string() == path) else { return Ok(Vec::new()) };
        let (chunks, rest) = self.archive.known_chunks();
        let found: Vec<Result<_>> = chunks.par_iter().map(|chunk| rows_at(chunk, wanted.steps())).collect();
        let (mut rows, mut before) = (Vec::new(), 0usize);
        for found in found {
            let (found, leaves) = found?;
            rows.extend(found.into_iter().map(|row| before.saturating_add(row)));
            before = before.saturating_add(leaves);
        }
        rest.map(|()| rows)
    }
}

/// The rows of a chunk, from 0 on, to which these steps lead; and the number of its leaves.
fn rows_at(chunk: &Chunk<'_>, wanted: &[Step<'_>]) -> Result<(Vec<usize>, usize)> {
    let mut walker = chunk.root()?.walk();
    let mut rows = Vec::new();
    // Leaves so far, and branches that are open: the steps lead into each of them.
    let (mut leaves, mut open) = (0usize, 0usize);
    while let Some(event) = walker.next()? {
        let step = open.checked_sub(1).and_then(|last| wanted.get(last));
        let leads = match (&event, step) {
            (Event::BeginRecord(_) | Event::BeginList(..) | Event::BeginDictionary { .. }, _) => {
                open = open.saturating_add(1);
                continue;
            }
            (Event::EndRecord | Event::EndList | Event::EndDictionary { .. }, _) => {
                open = open.saturating_sub(1);
                continue;
            }
            (Event::EntryEnd, _) => continue,
            (Event::Leaf(..), _) => {
                if open == wanted.len() {
                    rows.push(leaves);
                }
                leaves = leaves.saturating_add(1);
                continue;
            }
            (Event::Member(name), Some(Step::Name(wanted))) => *name == wanted,
            (Event::Key(key), Some(Step::Name(wanted))) => is_shown(*key, wanted),
            (Event::Item(at) | Event::EntryValue(at), Some(Step::Index(wanted))) => at == wanted,
            (Event::EntryKey(at), Some(Step::Key(wanted))) => at == wanted,
            _ => false,
        };
        if !leads && let Some(passed) = walker.pass(usize::MAX)? {
            leaves = leaves.saturating_add(passed);
        }
    }
    walker.expect_end()?;
    chunk.chunk.leaves.get_or_make(|| leaves);
    Ok((rows, leaves))
}

impl Table for Values<'_> {
    fn name(&self) -> &str {
        "values"
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        self.len
            .get_or_try_init(|| {
                let mut rows = ValueCursor::new(self.archive)?;
                while rows.advance()? {}
                Ok(rows.next)
            })
            .copied()
    }

    fn known_len(&self) -> Option<usize> {
        self.len.get().copied()
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        let mut seek = self.seek.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = self.at(&mut seek, row)?.ok_or_else(|| no_cell("values", row, column))?;
        let value = match column {
            column::PATH => Value::owned(rows.path.clone()),
            _ => rows.archived(column)?,
        };
        seek.last = Some(rows);
        Ok(value)
    }

    fn nature(&self) -> Nature {
        let leaves = Leaves { path: column::PATH, value: column::VALUE, graph: column::CHUNK };
        Nature { sequential: true, row_edits: RowEdits::All, leaves: Some(leaves), ..Nature::default() }
    }

    fn finds(&self, column: usize) -> bool {
        column == column::PATH
    }

    fn find(&self, column: usize, key: &Value<'_>) -> Option<Result<Vec<usize>>> {
        key.as_text().filter(|_| self.finds(column)).map(|path| self.places(&path))
    }

    fn cursor_over(&self, first: usize, _columns: Option<&[usize]>) -> Box<dyn RowCursor + '_> {
        let start = match first.checked_sub(1) {
            None => ValueCursor::new(self.archive).map(Some),
            Some(before) => self.at(&mut self.seek.lock().unwrap_or_else(PoisonError::into_inner), before),
        };
        match start {
            Ok(Some(rows)) => Box::new(rows),
            Ok(None) => Box::new(NoRows(None)),
            Err(error) => Box::new(NoRows(Some(error))),
        }
    }
}

/// The limit of damage that a walk remembers before its first row.
const REMEMBERED: usize = 8;

/// A walk over the leaves of all chunks. A damaged chunk has the rows before its damage.
#[derive(Clone)]
struct ValueCursor<'a> {
    archive: &'a VrbArchive,
    types: &'a TypeModel,
    chunks: Arc<[Chunk<'a>]>,
    /// The chunk after the current one.
    next_chunk: usize,
    walker: Option<Walker<'a>>,
    path: String,
    /// Length of the path at each open branch.
    marks: Vec<usize>,
    leaf: Option<(ModelId, Value<'a>)>,
    /// One more than the number of the current row; 0 before the first.
    next: usize,
    /// The first row of the current chunk.
    first: usize,
    key: String,
    /// Bytes of paths and names of types that may still be put together.
    text: Cell<u64>,
    /// The damage before the current row that the next calls of [`RowCursor::advance`] report.
    passed: Vec<Error>,
    /// Whether no chunk is left.
    is_over: bool,
}

impl<'a> ValueCursor<'a> {
    fn new(archive: &'a VrbArchive) -> Result<Self> {
        // Damage of the list of chunks is reported after the rows of the known chunks.
        let (types, chunks) = (archive.types()?, archive.known_chunks().0.into());
        let (path, marks, key) = (String::new(), Vec::new(), String::new());
        let text = Cell::new(archive.text_limit());
        let (next_chunk, walker, leaf, next, first) = (0, None, None, 0, 0);
        let (passed, is_over) = (Vec::new(), false);
        Ok(Self {
            archive,
            types,
            chunks,
            next_chunk,
            walker,
            path,
            marks,
            leaf,
            next,
            first,
            key,
            text,
            passed,
            is_over,
        })
    }

    /// Remembers damage that the walk has passed.
    fn pass_damage(&mut self, error: Error) {
        if self.passed.len() < REMEMBERED {
            self.passed.push(error);
        }
    }

    /// Walks on to the next leaf. After an error it continues in the next chunk.
    fn step(&mut self) -> Result<bool> {
        self.walk_past(0).inspect_err(|_| self.walker = None)
    }

    fn number(&self) -> Option<usize> {
        self.next.checked_sub(1)
    }

    fn chunk(&self) -> Option<&Chunk<'a>> {
        self.chunks.get(self.next_chunk.checked_sub(1)?)
    }

    /// Walks forward to `row`, and skips all values that do not contain it.
    fn jump(&mut self, row: usize) -> Result<bool> {
        while self.number() != Some(row) {
            if !self.walk_past(row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Walks on to the next leaf, and skips all values whose leaves precede `row`.
    #[inline]
    fn walk_past(&mut self, row: usize) -> Result<bool> {
        self.leaf = None;
        loop {
            let Some(walker) = &mut self.walker else {
                let Some(chunk) = self.chunks.get(self.next_chunk) else {
                    let was_over = std::mem::replace(&mut self.is_over, true);
                    return if was_over { Ok(false) } else { self.archive.known_chunks().1.map(|()| false) };
                };
                self.next_chunk = self.next_chunk.saturating_add(1);
                self.first = self.next;
                if let Some(leaves) = chunk.chunk.leaves.get().filter(|n| self.next.saturating_add(**n) <= row) {
                    self.next = self.next.saturating_add(*leaves);
                    continue;
                }
                self.walker = Some(chunk.root()?.walk());
                self.path.clear();
                self.marks.clear();
                continue;
            };
            if self.next < row
                && let Some(passed) = walker.pass(row.saturating_sub(self.next))?
            {
                self.next = self.next.saturating_add(passed);
            }
            let Some(event) = walker.next()? else {
                walker.expect_end()?;
                self.walker = None;
                if let Some(chunk) = self.chunk() {
                    chunk.chunk.leaves.get_or_make(|| self.next.saturating_sub(self.first));
                }
                continue;
            };
            if let Event::Leaf(model, value) = event {
                self.spend(self.path.len())?;
                self.leaf = Some((model, value));
                self.next = self.next.saturating_add(1);
                return Ok(true);
            }
            let before = self.branch_len();
            self.follow(event);
            self.spend(self.path.len().saturating_sub(before))?;
        }
    }

    /// Charges `bytes` bytes of built text to the budget: a hostile archive could have long names in all of its values.
    fn spend(&self, bytes: usize) -> Result<()> {
        match self.text.get().checked_sub(bytes as u64) {
            Some(left) => {
                self.text.set(left);
                Ok(())
            }
            None => Err(self.long_text(bytes)),
        }
    }

    #[cold]
    fn long_text(&self, bytes: usize) -> Error {
        let limit = self.archive.text_limit();
        let value = limit.saturating_sub(self.text.get()).saturating_add(bytes as u64);
        let kind = ErrorKind::Limit { what: "bytes of the paths and types of all values", value, limit };
        let at = self.walker.as_ref().map_or(0, |walker| walker.position() as u64);
        Error::new(kind, self.chunk().map_or_else(String::new, |chunk| chunk.part().label().to_owned()), at)
    }

    /// The length of the path to the open branch: none outside of branches.
    fn branch_len(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    /// Keeps the path in step with the walk.
    fn follow(&mut self, event: Event<'a>) {
        match event {
            Event::BeginRecord(_) | Event::BeginList(..) | Event::BeginDictionary { .. } => {
                self.marks.push(self.path.len());
                return;
            }
            Event::EndRecord | Event::EndList | Event::EndDictionary { .. } => {
                self.marks.pop();
                return;
            }
            _ => self.path.truncate(self.branch_len()),
        }
        match event {
            Event::Member(name) => push_name(&mut self.path, name),
            Event::Key(key) => {
                self.key.clear();
                // Writing to a String cannot fail.
                let _ = write!(self.key, "{key}");
                push_name(&mut self.path, &self.key);
            }
            Event::Item(index) | Event::EntryValue(index) => push_index(&mut self.path, index),
            Event::EntryKey(index) => {
                push_index(&mut self.path, index);
                self.path.push_str("#key");
            }
            _ => {}
        }
    }

    /// A cell of the current row that borrows from the archive: any but the path, which changes with the next step.
    #[inline]
    fn archived(&self, column: usize) -> Result<Value<'a>> {
        match (column, &self.leaf) {
            (column::TYPE, Some((model, _))) => {
                let name = self.types.model_name(*model)?;
                if let Value::Text(Cow::Owned(name)) = &name {
                    self.spend(name.len())?;
                }
                Ok(name)
            }
            (column::VALUE, Some((_, value))) => Ok(value.clone()),
            (column::CHUNK, Some(_)) => Ok(self.chunk().map(Chunk::name).into()),
            _ => Err(no_cell("values", self.row(), column)),
        }
    }
}

impl RowCursor for ValueCursor<'_> {
    fn advance(&mut self) -> Result<bool> {
        if self.passed.is_empty() { self.step() } else { Err(self.passed.remove(0)) }
    }

    fn skip_damage(&mut self) -> bool {
        !self.is_over
    }

    fn row(&self) -> usize {
        self.next.saturating_sub(1)
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        match column {
            column::PATH if self.leaf.is_some() => Ok(Value::text(&self.path)),
            _ => self.archived(column),
        }
    }
}
