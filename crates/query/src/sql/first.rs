//! The first rows of an order, for a query with `ORDER BY` and `LIMIT`: of the other rows only the cells are read that decide.

use crate::error::Result;
use crate::id::{Id32, Id64};
use crate::table::filter::picked;
use crate::table::{CellSink, Kind, RowCursor, Table, Value};
use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

/// The rows that a query needs of its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FirstRows {
    pub(super) keys: Vec<SortKey>,
    /// How many rows.
    pub(super) len: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SortKey {
    /// `None` for the number of the row.
    pub(super) column: Option<usize>,
    pub(super) descends: bool,
}

/// Rows that are kept in memory at most.
pub(super) const MOST: usize = 1 << 16;

/// Whether the order of cells of this kind is known here: cells of one column then compare as SQLite compares what it sees of them.
pub(super) const fn is_ordered(kind: Kind) -> bool {
    !matches!(kind, Kind::Any | Kind::Nested)
}

/// A cell in SQLite's order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum SortCell<'v> {
    Null,
    Int(i64),
    /// The bits of a float, in the order of its numbers.
    Real(i64),
    Id(u64),
    Text(Cow<'v, str>),
}

impl<'v> SortCell<'v> {
    fn new(value: Value<'v>) -> Self {
        match value {
            Value::Bool(truth) => Self::Int(truth.into()),
            Value::Int(number) => Self::Int(number),
            // A larger number is seen as its text.
            Value::Uint(number) => i64::try_from(number).map_or_else(|_| Self::text(number.to_string()), Self::Int),
            Value::F32(number) => Self::real(number.into()),
            Value::F64(number) => Self::real(number),
            Value::Id64(id) => Self::Id(id),
            Value::Id32(id) => Self::Id(id.into()),
            Value::Text(text) => Self::Text(text),
            Value::Utf16(_) | Value::Guid(_) => Self::text(value.to_string()),
            Value::Null | Value::List(_) | Value::Map(_) => Self::Null,
        }
    }

    fn text(text: String) -> Self {
        Self::Text(text.into())
    }

    /// NaN is null, and both zeros are equal.
    fn real(number: f64) -> Self {
        if number.is_nan() {
            return Self::Null;
        }
        let bits = if number == 0.0 { 0 } else { number.to_bits().cast_signed() };
        // The bits of negative numbers ascend where the numbers descend.
        Self::Real(if bits < 0 { bits ^ i64::MAX } else { bits })
    }

    fn into_owned(self) -> SortCell<'static> {
        match self {
            Self::Null => SortCell::Null,
            Self::Int(number) => SortCell::Int(number),
            Self::Real(bits) => SortCell::Real(bits),
            Self::Id(id) => SortCell::Id(id),
            Self::Text(text) => SortCell::Text(text.into_owned().into()),
        }
    }
}

/// A cell of a column that ascends or descends. All cells of a column are one or the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Directed<'v> {
    Up(SortCell<'v>),
    Down(Reverse<SortCell<'v>>),
}

impl<'v> Directed<'v> {
    fn read(rows: &'v dyn RowCursor, key: SortKey) -> Result<Self> {
        let cell = match key.column {
            Some(column) => SortCell::new(rows.value(column)?),
            None => SortCell::Id(rows.row() as u64),
        };
        Ok(if key.descends { Self::Down(Reverse(cell)) } else { Self::Up(cell) })
    }

    /// The order of the current row's cell and this one.
    fn order_of(&self, rows: &dyn RowCursor, key: SortKey) -> Result<Ordering> {
        let (Self::Up(other) | Self::Down(Reverse(other))) = self;
        let mut comparison = Comparison { other, order: Ordering::Equal };
        match key.column {
            Some(column) => rows.put(column, &mut comparison)?,
            None => comparison.compare(&SortCell::Id(rows.row() as u64))?,
        }
        Ok(if key.descends { comparison.order.reverse() } else { comparison.order })
    }

    fn into_owned(self) -> Directed<'static> {
        match self {
            Self::Up(cell) => Directed::Up(cell.into_owned()),
            Self::Down(Reverse(cell)) => Directed::Down(Reverse(cell.into_owned())),
        }
    }
}

/// Compares a cell with the cell of another row, without a copy of its text.
struct Comparison<'l> {
    other: &'l SortCell<'l>,
    /// The order of the cell and the other one, once the cell is read.
    order: Ordering,
}

impl Comparison<'_> {
    fn compare(&mut self, cell: &SortCell<'_>) -> Result<()> {
        self.order = cell.cmp(self.other);
        Ok(())
    }
}

impl CellSink for Comparison<'_> {
    fn value(&mut self, cell: &Value<'_>) -> Result<()> {
        self.compare(&SortCell::new(cell.borrowed()))
    }

    fn uint(&mut self, number: u64) -> Result<()> {
        self.compare(&SortCell::new(Value::Uint(number)))
    }

    fn f32(&mut self, number: f32) -> Result<()> {
        self.compare(&SortCell::real(number.into()))
    }

    fn text(&mut self, text: &str) -> Result<()> {
        self.compare(&SortCell::Text(text.into()))
    }

    fn joined(&mut self, start: &str, end: &str) -> Result<()> {
        let SortCell::Text(other) = self.other else { return self.text(start) };
        let (head, tail) = other.as_bytes().split_at(other.len().min(start.len()));
        self.order = start.as_bytes().cmp(head).then_with(|| end.as_bytes().cmp(tail));
        Ok(())
    }

    fn id64(&mut self, id: Id64) -> Result<()> {
        self.compare(&SortCell::Id(id.0))
    }

    fn id32(&mut self, id: Id32) -> Result<()> {
        self.compare(&SortCell::Id(id.0.into()))
    }
}

/// Collects the first rows; of equal rows the earlier ones.
pub(super) struct Collector<'f> {
    table: &'f dyn Table,
    len: usize,
    /// The cells that are read of each row.
    keys: &'f [SortKey],
    /// The last key, if the table orders many rows by it at once.
    last: Option<SortKey>,
    /// The rows so far by their cells. The rows of the last cells are needed to reach `len`.
    rows: BTreeMap<Vec<Directed<'static>>, Vec<usize>>,
    count: usize,
}

impl<'f> Collector<'f> {
    pub(super) fn new(first: &'f FirstRows, table: &'f dyn Table) -> Self {
        let (keys, last) = match first.keys.split_last() {
            Some((last, keys)) if last.column.is_some_and(|column| table.texts(column).is_some()) => {
                (keys, Some(*last))
            }
            _ => (&*first.keys, None),
        };
        Self { table, len: first.len, keys, last, rows: BTreeMap::new(), count: 0 }
    }

    /// Takes the current row, unless it follows all that were taken and these suffice.
    pub(super) fn offer(&mut self, rows: &dyn RowCursor) -> Result<()> {
        if self.count >= self.len {
            let Some(mut last) = self.rows.last_entry() else { return Ok(()) };
            let mut order = Ordering::Equal;
            for (key, of_last) in self.keys.iter().zip(last.key()) {
                order = of_last.order_of(rows, *key)?;
                if order != Ordering::Equal {
                    break;
                }
            }
            if order == Ordering::Equal && self.last.is_some() {
                last.get_mut().push(rows.row());
                self.count += 1;
            }
            if order != Ordering::Less {
                return Ok(());
            }
        }
        let cells = self.keys.iter().map(|key| Directed::read(rows, *key)).collect::<Result<Vec<_>>>()?;
        let cells = cells.into_iter().map(Directed::into_owned).collect();
        self.rows.entry(cells).or_default().push(rows.row());
        self.count += 1;
        while let Some(mut last) = self.rows.last_entry() {
            if self.count - last.get().len() >= self.len {
                self.count -= last.remove().len();
                continue;
            }
            if self.last.is_none() && self.count > self.len {
                last.get_mut().pop();
                self.count -= 1;
            }
            break;
        }
        Ok(())
    }

    /// The numbers of the rows, in order.
    pub(super) fn into_rows(self) -> Result<Vec<usize>> {
        let mut all = Vec::new();
        for (_, rows) in self.rows {
            let left = self.len.saturating_sub(all.len());
            match self.last {
                Some(key) if rows.len() > 1 => all.extend(first_of(self.table, &rows, key, left)?),
                _ => all.extend(rows.into_iter().take(left)),
            }
        }
        Ok(all)
    }
}

#[cold]
pub(super) fn within(table: &dyn Table, row: usize, error: crate::error::Error) -> crate::error::Error {
    error.context(format_args!("{}: row {row}", table.name()))
}

/// The first `len` of some rows in the order of a text.
fn first_of(table: &dyn Table, rows: &[usize], key: SortKey, len: usize) -> Result<Vec<usize>> {
    let texts = key.column.and_then(|column| table.texts(column));
    if let Some(first) = texts.and_then(|texts| texts.first(rows, len, key.descends)) {
        return Ok(first.into_iter().filter_map(|number| rows.get(number).copied()).collect());
    }
    let mut first = BinaryHeap::new();
    let mut rows = picked(table, rows.iter().copied());
    while rows.advance()? {
        let cell = Directed::read(&*rows, key).map_err(|error| within(table, rows.row(), error))?;
        first.push((cell.into_owned(), rows.row()));
        if first.len() > len {
            first.pop();
        }
    }
    Ok(first.into_sorted_vec().into_iter().map(|(_, row)| row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::filter::pattern::LikePattern;
    use crate::table::{Column, ColumnTexts, DeclaredTable};
    use std::sync::Arc;

    /// Sorts the texts of cells, or refuses to.
    struct SortedTexts<'c> {
        cells: &'c [(Value<'static>, Value<'static>)],
        refuses: bool,
    }

    impl ColumnTexts for SortedTexts<'_> {
        fn matching(&self, _: &LikePattern) -> Option<Vec<usize>> {
            None
        }

        fn first(&self, rows: &[usize], len: usize, descends: bool) -> Option<Vec<usize>> {
            let text = |number: &usize| self.cells[rows[*number]].1.as_text();
            let mut numbers: Vec<usize> = (0..rows.len()).collect();
            numbers.sort_by(|a, b| if descends { text(b).cmp(&text(a)) } else { text(a).cmp(&text(b)) });
            numbers.truncate(len);
            (!self.refuses).then_some(numbers)
        }
    }

    #[test]
    fn a_text_in_two_parts_is_compared_as_a_whole() {
        let texts = ["", "a", "a/", "a/b", "a/ba", "a/c", "b", "ä/b", "ä"];
        for (other, whole) in texts.iter().flat_map(|other| texts.map(|whole| (*other, whole))) {
            let other = SortCell::text(other.to_owned());
            for at in (0..=whole.len()).filter(|at| whole.is_char_boundary(*at)) {
                let mut comparison = Comparison { other: &other, order: Ordering::Equal };
                comparison.joined(&whole[..at], &whole[at..]).unwrap();
                assert_eq!(comparison.order, SortCell::Text(whole.into()).cmp(&other), "{whole} at {at}, {other:?}");
            }
        }
    }

    /// Cells of each kind, in the order that SQLite has for what it sees of them: null, then numbers, then texts.
    #[test]
    fn cells_of_each_kind_have_the_order_of_sqlite() {
        let guid = |first| Value::Guid(crate::table::Guid([first; 16]));
        for cells in [
            vec![Value::Null, Value::Bool(false), Value::Bool(true)],
            vec![Value::Null, Value::Int(-3), Value::Int(20)],
            // A number that no integer of SQLite holds is a text.
            vec![Value::Uint(2), Value::Uint(10), Value::Uint(u64::MAX)],
            vec![Value::F32(f32::NAN), Value::F32(-2.5), Value::F32(0.0), Value::F32(10.0)],
            vec![Value::F64(f64::NEG_INFINITY), Value::F64(-0.5), Value::F64(1e300)],
            vec![Value::Id64(9), Value::Id64(0x10)],
            vec![Value::Id32(9), Value::Id32(0x10)],
            vec![Value::text("B"), Value::text("a")],
            vec![guid(1), guid(0xA0)],
        ] {
            let reversed: Vec<Value<'_>> = cells.iter().rev().map(Value::borrowed).collect();
            let table = DeclaredTable::over("cells", &reversed)
                .column(Column::new("cell", Kind::Any), |(_, cell)| Ok(cell.borrowed()));
            for (column, descends) in [(Some(0), false), (Some(0), true), (None, true)] {
                let first = FirstRows { keys: vec![SortKey { column, descends }], len: cells.len() - 1 };
                let mut collector = Collector::new(&first, &table);
                let mut rows = table.cursor_over(0, None);
                while rows.advance().unwrap() {
                    collector.offer(&*rows).unwrap();
                }
                let mut expected: Vec<usize> = (0..cells.len()).collect();
                if column.is_none() || !descends {
                    expected.reverse();
                }
                expected.pop();
                assert_eq!(collector.into_rows().unwrap(), expected, "{cells:?} by {column:?}");
            }
        }
    }

    #[test]
    fn the_first_rows_are_those_of_a_stable_sort() {
        let mut rng = fastrand::Rng::with_seed(7);
        let cells: Vec<(Value<'static>, Value<'static>)> = (0..500)
            .map(|_| {
                let number = match rng.u8(..6) {
                    0 => Value::Null,
                    1 => Value::F64(f64::NAN),
                    2 => Value::F64(-0.0),
                    _ => Value::F64(f64::from(rng.i8(-3..3))),
                };
                (number, Value::owned(["a", "b", "", "ä"][rng.usize(..4)].to_owned()))
            })
            .collect();
        let table = || {
            DeclaredTable::over("cells", &cells)
                .column(Column::new("number", Kind::F64), |(_, (number, _))| Ok(number.borrowed()))
                .column(Column::text("text"), |(_, (_, text))| Ok(text.borrowed()))
        };
        let texts = |refuses| Arc::new(SortedTexts { cells: &cells, refuses });
        // The last table cannot order its rows after all, as with a damaged text.
        let tables = [table(), table().known_texts(texts(false)), table().known_texts(texts(true))];
        let orders =
            [([false, true], 7), ([true, false], 1), ([true, true], 499), ([false, false], 1000), ([true; 2], 0)];
        for (table, (descends, len)) in tables.iter().flat_map(|table| orders.map(|order| (table, order))) {
            let keys = (0..).map(Some).zip(descends).map(|(column, descends)| SortKey { column, descends }).collect();
            let first = FirstRows { keys, len };
            let mut collector = Collector::new(&first, table);
            let mut rows = table.cursor_over(0, None);
            while rows.advance().unwrap() {
                collector.offer(&*rows).unwrap();
            }
            let number = |row: usize| match cells[row].0 {
                Value::F64(number) if !number.is_nan() => number,
                _ => f64::NEG_INFINITY,
            };
            let mut sorted: Vec<usize> = (0..cells.len()).collect();
            sorted.sort_by(|a, b| {
                let numbers = number(*a).partial_cmp(&number(*b)).unwrap();
                let texts = cells[*a].1.as_text().cmp(&cells[*b].1.as_text());
                let turned = |order: Ordering, descends| if descends { order.reverse() } else { order };
                turned(numbers, descends[0]).then(turned(texts, descends[1]))
            });
            sorted.truncate(len);
            assert_eq!(collector.into_rows().unwrap(), sorted, "{descends:?} {len}");
        }
    }
}
