//! `fields`: every leaf of every entity as a row.

use super::Params;
use super::arena::Node;
use super::entities::Entity;
use super::walk::{Event, Trail, Walker, within};
use crate::budget::Budget;
use crate::error::Result;
use crate::table::{Column, Kind, Nature, NoRows, RowCursor, RowEnds, Table, Value, no_cell};
use std::sync::{Mutex, PoisonError};

/// The rows of each entity.
pub(super) fn rows_of_entities(params: &Params) -> Result<RowEnds> {
    let budget = params.budget()?;
    let mut ends = RowEnds::default();
    for entity in params.all_entities()? {
        let (mut walker, mut rows) = (Walker::new(entity.node()), 0usize);
        loop {
            match walker.next(&budget) {
                Ok(None) => break,
                Ok(Some(Event::Leaf(_) | Event::Within(..))) => rows = rows.saturating_add(1),
                Ok(Some(_)) => {}
                Err(error) if budget.is_spent() => return Err(error),
                // Values that are too deep are an error of one row.
                Err(_) => {
                    rows = rows.saturating_add(1);
                    break;
                }
            }
        }
        ends.push(rows);
    }
    Ok(ends)
}

/// Bytes of the path of a leaf that cost one unit of a walk's budget.
const PATH_SHARE: usize = 16;

mod column {
    pub(super) const ENTITY: usize = 0;
    pub(super) const PATH: usize = 1;
    pub(super) const KIND: usize = 2;
    pub(super) const VALUE: usize = 3;
}

static COLUMNS: [Column; 4] = [
    Column::text("entity").brief().key(),
    Column::text("path").brief().key(),
    Column::text("kind").brief(),
    Column::new("value", Kind::Any).brief(),
];

/// The table.
pub(super) struct Fields<'a> {
    params: &'a Params,
    /// The walk that answered last.
    last: Mutex<Option<LeafCursor<'a>>>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(params: &'a Params) -> Self {
        Self { params, last: Mutex::default() }
    }
}

impl Table for Fields<'_> {
    fn name(&self) -> &str {
        "fields"
    }

    fn columns(&self) -> &[Column] {
        &COLUMNS
    }

    fn len(&self) -> Result<usize> {
        Ok(self.params.rows()?.total())
    }

    fn known_len(&self) -> Option<usize> {
        self.params.rows.get()?.as_ref().ok().map(RowEnds::total)
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, within) = self.params.rows()?.locate(row).ok_or_else(|| no_cell("fields", row, column))?;
        let mut rows = match last.take().filter(|rows| rows.started && rows.number == number && rows.row <= row) {
            Some(rows) => rows,
            None => {
                let mut rows = LeafCursor::new(self.params, row.saturating_sub(within), number)?;
                rows.advance()?;
                rows
            }
        };
        while rows.row < row {
            if !rows.advance()? {
                return Err(no_cell("fields", row, column));
            }
        }
        let value = rows.cell(column)?.into_owned();
        *last = Some(rows);
        Ok(value)
    }

    fn cursor_over(&self, first: usize, _columns: Option<&[usize]>) -> Box<dyn RowCursor + '_> {
        match LeafCursor::at(self.params, first) {
            Ok(rows) => Box::new(rows),
            Err(error) => Box::new(NoRows(Some(error))),
        }
    }

    fn nature(&self) -> Nature {
        Nature { random_access: true, ..Nature::default() }
    }

    fn finds(&self, column: usize) -> bool {
        column == column::ENTITY
    }

    fn find(&self, column: usize, key: &Value<'_>) -> Option<Result<Vec<usize>>> {
        let numbers = self.params.numbers_of(&key.as_text().filter(|_| self.finds(column))?);
        Some(numbers.and_then(|numbers| {
            let all = self.params.rows()?;
            Ok(numbers.into_iter().flat_map(|number| all.rows(number)).collect())
        }))
    }
}

/// The leaf of a row.
enum Cell<'a> {
    Node(Node<'a>),
    /// A container in itself: what stands in its place.
    Within(Node<'a>, Value<'static>),
    /// The reason why the values here are not read.
    Failed(crate::Error),
}

/// A walk over the leaves of all entities.
struct LeafCursor<'a> {
    params: &'a Params,
    budget: Budget,
    number: usize,
    entity: Option<Entity<'a>>,
    walker: Option<Walker<'a>>,
    trail: Trail,
    cell: Option<Cell<'a>>,
    /// The current row, once the walk has started.
    row: usize,
    started: bool,
}

impl<'a> LeafCursor<'a> {
    /// A walk whose first row is the first one of entity `number`.
    fn new(params: &'a Params, row: usize, number: usize) -> Result<Self> {
        let budget = params.budget()?;
        let (entity, walker, trail, cell) = (None, None, Trail::default(), None);
        Ok(Self { params, budget, number, entity, walker, trail, cell, row, started: false })
    }

    /// A walk whose next row is `row`.
    fn at(params: &'a Params, row: usize) -> Result<Self> {
        if row == 0 {
            return Self::new(params, 0, 0);
        }
        let Some((number, within)) = params.rows()?.locate(row) else { return Self::new(params, row, usize::MAX) };
        let mut rows = Self::new(params, row.saturating_sub(within), number)?;
        for _ in 0..within {
            rows.advance()?;
        }
        Ok(rows)
    }

    /// Walks on to the next leaf.
    fn walk(&mut self) -> Result<bool> {
        loop {
            let Some(walker) = &mut self.walker else {
                if self.entity.is_some() {
                    self.number = self.number.saturating_add(1);
                }
                self.entity = self.params.entity(self.number)?;
                let Some(entity) = &self.entity else { return Ok(false) };
                self.walker = Some(Walker::new(entity.node()));
                self.trail = Trail::default();
                continue;
            };
            match walker.next(&self.budget) {
                Ok(None) => self.walker = None,
                Ok(Some(event)) => {
                    self.trail.follow(event)?;
                    self.cell = match event {
                        Event::Leaf(node) => Some(Cell::Node(node)),
                        Event::Within(node, depth) => Some(Cell::Within(node, within(&self.trail, depth))),
                        _ => continue,
                    };
                    // Paths of real leaves have about 40 bytes; a long key is in the path of each leaf below it.
                    let size = (self.trail.path().len() / PATH_SHARE) as u64;
                    if let (Err(kind), Some(entity)) = (self.budget.spend(size), &self.entity) {
                        return Err(entity.node().error(kind));
                    }
                    return Ok(true);
                }
                Err(error) if self.budget.is_spent() => return Err(error),
                Err(error) => {
                    self.walker = None;
                    self.cell = Some(Cell::Failed(error));
                    return Ok(true);
                }
            }
        }
    }

    fn cell(&self, column: usize) -> Result<Value<'_>> {
        let (Some(cell), Some(entity)) = (&self.cell, &self.entity) else {
            return Err(no_cell("fields", self.row, column));
        };
        match column {
            column::ENTITY => Ok(Value::Text(entity.name()?)),
            column::PATH => Ok(Value::text(self.trail.path())),
            column::KIND | column::VALUE => match cell {
                Cell::Node(node) if column == column::VALUE => node.value(),
                Cell::Within(_, value) if column == column::VALUE => Ok(value.clone()),
                Cell::Node(node) | Cell::Within(node, _) => Ok(Value::text(node.kind().name())),
                Cell::Failed(error) => Err(error.clone()),
            },
            _ => Err(no_cell("fields", self.row, column)),
        }
    }
}

impl RowCursor for LeafCursor<'_> {
    fn advance(&mut self) -> Result<bool> {
        if !self.walk()? {
            return Ok(false);
        }
        if self.started {
            self.row = self.row.saturating_add(1);
        }
        self.started = true;
        Ok(true)
    }

    fn row(&self) -> usize {
        self.row
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        self.cell(column)
    }
}
