//! The order of rows by their cells.

use super::{Context, Failure};
use crate::error::Error;
use crate::table::{RowCursor, Table, Value};
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy)]
struct SortColumn {
    column: usize,
    is_descending: bool,
}

/// The order of rows: by the first column, equal ones by the next.
#[derive(Debug)]
pub(super) struct SortOrder(Vec<SortColumn>);

/// A row with the cells that it is ordered by, and the cells to show.
struct SortedRow {
    keys: Vec<Value<'static>>,
    cells: Vec<Value<'static>>,
}

impl SortOrder {
    /// Reads `COLUMN`, `COLUMN:asc` and `COLUMN:desc`.
    pub(super) fn parse(given: &[String], file: &str, table: &dyn Table, context: &Context) -> Result<Self, Failure> {
        let mut order = Vec::with_capacity(given.len());
        for text in given {
            let (name, is_descending) = match text.rsplit_once(':') {
                Some((name, "asc")) => (name, false),
                Some((name, "desc")) => (name, true),
                Some((_, other)) => {
                    return Err(Failure::usage(format!(
                        "--sort {text}: {other:?} is no order; there are asc and desc"
                    )));
                }
                None => (text.as_str(), false),
            };
            let columns = context.columns(file, table, &[name.to_owned()])?;
            order.extend(columns.into_iter().map(|column| SortColumn { column, is_descending }));
        }
        Ok(Self(order))
    }

    /// Whether rows keep the order of the file.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|by| by.column)
    }

    fn compare(&self, a: &SortedRow, b: &SortedRow) -> Ordering {
        let cells = a.keys.iter().zip(&b.keys).zip(&self.0);
        let mut orders = cells.map(|((a, b), by)| match (a.is_null(), b.is_null()) {
            // Rows without a value come last in either order.
            (false, false) if by.is_descending => compare(b, a),
            (false, false) => compare(a, b),
            (a, b) => a.cmp(&b),
        });
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// An empty collection of the first `limit` rows in this order.
    pub(super) fn collect(&self, limit: Option<usize>) -> SortedRows<'_> {
        SortedRows { order: self, most: limit, rows: Vec::new() }
    }
}

pub(super) struct SortedRows<'o> {
    order: &'o SortOrder,
    most: Option<usize>,
    rows: Vec<SortedRow>,
}

impl SortedRows<'_> {
    /// Rows that are kept before those past the limit are dropped.
    const SPARE: usize = 1 << 12;

    /// Adds the cells of `columns` of the current row of `row`. A damaged cell is null, and `damaged` gets its error.
    pub(super) fn add(&mut self, row: &dyn RowCursor, columns: &[usize], mut damaged: impl FnMut(Error)) {
        // Damage of a key is reported if its cell is shown.
        let keys = self.order.columns().map(|column| row.value(column).map_or(Value::Null, Value::into_owned));
        let cells = columns.iter().map(|&column| {
            let cell = row.value(column).map_err(&mut damaged);
            cell.map_or(Value::Null, Value::into_owned)
        });
        self.rows.push(SortedRow { keys: keys.collect(), cells: cells.collect() });
        if self.most.is_some_and(|most| self.rows.len() / 2 > most.max(Self::SPARE)) {
            self.sort();
        }
    }

    fn sort(&mut self) {
        self.rows.sort_by(|a, b| self.order.compare(a, b));
        self.rows.truncate(self.most.unwrap_or(self.rows.len()));
    }

    pub(super) fn finish(mut self) -> Vec<Vec<Value<'static>>> {
        self.sort();
        self.rows.into_iter().map(|row| row.cells).collect()
    }
}

/// The order of two cells: truth values, numbers, ids and texts each in their own order.
fn compare(a: &Value<'_>, b: &Value<'_>) -> Ordering {
    match (number(a), number(b)) {
        (Some((a, whole_a)), Some((b, whole_b))) => a.total_cmp(&b).then(whole_a.cmp(&whole_b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => match (a.as_text(), b.as_text()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.to_string().cmp(&b.to_string()),
        },
    }
}

/// A number of a cell, as a float, and without its fraction: a float distinguishes no large whole numbers.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "each part has what the other lacks")]
fn number(cell: &Value<'_>) -> Option<(f64, i128)> {
    let whole: i128 = match *cell {
        Value::Bool(truth) => truth.into(),
        Value::Int(number) => number.into(),
        Value::Uint(number) | Value::Id64(number) => number.into(),
        Value::Id32(id) => id.into(),
        Value::F32(number) => return Some((number.into(), number as i128)),
        Value::F64(number) => return Some((number, number as i128)),
        _ => return None,
    };
    Some((whole as f64, whole))
}
