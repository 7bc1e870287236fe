//! Groups of the pairs of rows of two tables that have equal ids or whole numbers.
//!
//! The rows of one table are grouped by the equal column and by the other columns of the question. The rows of the other table are
//! walked: each is joined with groups, whose counts and sums stand for their rows.

use super::codes::{NULL, Texts, hash, number, outside, so_many};
use super::condition::Condition;
use super::partitions::{Groups, Layout, SharedGroups};
use super::read::Reading;
use super::shape::{Call, Question, What, is_key};
use super::sources::{JoinedTable, len};
use super::state::State;
use super::stored::Stored;
use super::walk::Walk;
use crate::error::Result;
use crate::table::{Kind, RowCursor, Table};
use hashbrown::HashTable;

/// The codes and the aggregates of a group.
type Group<'g> = (&'g [u64], &'g [State]);

/// The groups of a table by the code of their first key.
struct Index<'g> {
    /// A code, and the last group with it.
    last: HashTable<(u64, u32)>,
    /// The groups, and for each the group before with the same code.
    groups: Vec<(Group<'g>, Option<u32>)>,
}

impl<'g> Index<'g> {
    fn new(groups: &'g [Groups], layout: Layout<'_>) -> Result<Self> {
        let mut index = Self { last: HashTable::new(), groups: Vec::new() };
        let all = groups.iter().flat_map(|groups| (0..groups.len()).map(move |place| (groups, place)));
        for (groups, place) in all {
            let codes = layout.codes(groups, place);
            let code = codes.first().copied().filter(|code| *code != NULL);
            let Some(code) = code else { continue };
            let group = u32::try_from(index.groups.len()).map_err(|_| so_many("groups"))?;
            let by_code = hash(&[code]);
            let before = match index.last.find_mut(by_code, |(other, _)| *other == code) {
                Some((_, last)) => Some(std::mem::replace(last, group)),
                None => {
                    index.last.insert_unique(by_code, (code, group), |(code, _)| hash(&[*code]));
                    None
                }
            };
            index.groups.push(((codes, layout.states(groups, place)), before));
        }
        Ok(index)
    }

    /// The groups with this code.
    fn with(&self, code: u64) -> impl Iterator<Item = Group<'g>> {
        let mut next = self.last.find(hash(&[code]), |(other, _)| *other == code).map(|(_, last)| *last);
        std::iter::from_fn(move || {
            let (group, before) = self.groups.get(next? as usize)?;
            next = *before;
            Some(*group)
        })
    }
}

/// One of the tables, and what the question wants of it. Columns have the table's own numbers.
struct Side<'a, 'q> {
    table: &'a dyn Table,
    /// The equal column.
    on: usize,
    /// The number of its first column among the columns of both tables.
    first: usize,
    keys: Vec<usize>,
    calls: Vec<Call>,
    conditions: Vec<&'q Condition>,
}

impl Side<'_, '_> {
    /// The own number of a column; `None` for a column of the other table.
    fn own(&self, column: usize) -> Option<usize> {
        column.checked_sub(self.first).filter(|own| *own < self.table.columns().len())
    }

    fn kind(&self, column: usize) -> Result<Kind> {
        self.table.columns().get(column).map(|column| column.kind).ok_or_else(outside)
    }

    /// The place of a key, which is added unless it is known.
    fn place_of_key(&mut self, column: usize) -> usize {
        let known = self.keys.iter().position(|key| *key == column);
        known.unwrap_or_else(|| {
            self.keys.push(column);
            self.keys.len().saturating_sub(1)
        })
    }

    fn reading<'r>(&self, texts: &'r Texts, walk: Walk<'r>) -> Result<Reading<'r>>
    where
        Self: 'r,
    {
        let conditions = (self.conditions.clone(), self.first);
        Reading::new(self.table, &self.keys, self.calls.clone(), conditions, texts, walk)
    }
}

/// The plan of a join.
struct Plan<'a, 'q> {
    /// Its groups are counted first. The first key is the equal column.
    grouped: Side<'a, 'q>,
    walked: Side<'a, 'q>,
    /// The places of the keys of a joined group among the keys of the grouped table.
    places: Vec<usize>,
    conditions: Vec<&'q Condition>,
    /// The columns of the grouped table in these conditions, by their numbers among the columns of both, with the places of their
    /// codes.
    cells: Vec<(usize, usize, Kind)>,
    stored: Stored,
}

impl<'a, 'q> Plan<'a, 'q> {
    fn new(question: &'q Question, first: &'a dyn Table, joined: &JoinedTable<'a>) -> Result<Self> {
        let side = |table: &'a dyn Table, on, first| Side {
            table,
            on,
            first,
            keys: Vec::new(),
            calls: Vec::new(),
            conditions: Vec::new(),
        };
        let [on_first, on_second] = joined.on;
        let sides = (side(first, on_first, 0), side(joined.table, on_second, first.columns().len()));
        // Groups are fewer than rows.
        let is_second = len(joined.table) > len(first);
        let (mut grouped, mut walked) = if is_second { (sides.1, sides.0) } else { sides };
        let (mut stored, mut places) = (Stored::default(), Vec::new());
        grouped.place_of_key(grouped.on);
        grouped.calls.push(Call { what: What::Count, column: None });
        // A joined group has the keys and aggregates of the walked table first, then the ones of the grouped table.
        walked.keys = question.keys.iter().filter_map(|key| walked.own(*key)).collect();
        let mut next = 0..walked.keys.len();
        for key in &question.keys {
            if let Some(own) = grouped.own(*key) {
                stored.keys.push((walked.keys.len().saturating_add(places.len()), grouped.kind(own)?));
                places.push(grouped.place_of_key(own));
            } else {
                let place = next.next().ok_or_else(outside)?;
                stored.keys.push((place, walked.kind(walked.own(*key).ok_or_else(outside)?)?));
            }
        }
        let of_grouped = |call: &Call| call.column.and_then(|column| grouped.own(column));
        let count = question.calls.iter().filter(|call| of_grouped(call).is_none()).count();
        let (mut of_walk, mut of_groups) = (0..count, count..);
        let mut calls = Vec::new();
        for call in &question.calls {
            let own = of_grouped(call);
            stored.call_places.extend(if own.is_some() { of_groups.next() } else { of_walk.next() });
            match own {
                Some(_) => calls.push(Call { column: own, ..*call }),
                None => walked.calls.push(Call { column: call.column.and_then(|column| walked.own(column)), ..*call }),
            }
        }
        stored.calls = walked.calls.iter().chain(&calls).copied().collect();
        grouped.calls.extend(calls);
        let (mut conditions, mut cells) = (Vec::new(), Vec::new());
        for condition in question.condition.iter().flat_map(Condition::all) {
            let mut columns = Vec::new();
            condition.add_columns(&mut columns);
            let own: Vec<(usize, usize)> =
                columns.iter().filter_map(|column| Some((*column, grouped.own(*column)?))).collect();
            if own.len() == columns.len() {
                grouped.conditions.push(condition);
            } else if own.is_empty() {
                walked.conditions.push(condition);
            } else {
                conditions.push(condition);
                for (column, own) in own {
                    let kind = grouped.kind(own)?;
                    if !is_key(kind) {
                        return Err(outside());
                    }
                    cells.push((column, grouped.place_of_key(own), kind));
                }
            }
        }
        Ok(Self { grouped, walked, places, conditions, cells, stored })
    }

    /// Whether a row of the walked table and a group match the conditions on both tables.
    fn matches(&self, row: &dyn RowCursor, codes: &[u64], texts: &Texts) -> Result<bool> {
        for condition in &self.conditions {
            let cell = |column: usize| match self.cells.iter().find(|(of, ..)| *of == column) {
                Some((_, place, kind)) => Ok(codes.get(*place).map(|code| texts.cell(*kind, *code))),
                None => row.value(column.saturating_sub(self.walked.first)).map(Some),
            };
            if condition.answer(&cell)? != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The groups of the joined rows of two tables.
pub(super) fn groups(
    question: &Question,
    first: &dyn Table,
    joined: &JoinedTable<'_>,
    texts: &Texts,
    walk: Walk<'_>,
) -> Result<Stored> {
    let plan = Plan::new(question, first, joined)?;
    let (grouped, walked) = (plan.grouped.reading(texts, walk)?, plan.walked.reading(texts, walk)?);
    let mut also = vec![plan.walked.on];
    for condition in &plan.conditions {
        let mut columns = Vec::new();
        condition.add_columns(&mut columns);
        also.extend(columns.into_iter().filter_map(|column| plan.walked.own(column)));
    }
    let walked = walked.with_columns(also.into_iter());
    let groups = grouped.groups(plan.grouped.table, None)?;
    let index = Index::new(&groups, grouped.layout())?;
    let shared = SharedGroups::new(Layout { keys: question.keys.len(), calls: &plan.stored.calls });
    walked.rows(
        plan.walked.table,
        || (walked.reader(), shared.own(), Vec::new()),
        |(reader, own, codes), row| {
            let on = number(&row.value(plan.walked.on)?)?;
            let mut pairs = index.with(on).peekable();
            if on == NULL || pairs.peek().is_none() {
                return Ok(());
            }
            codes.clear();
            codes.extend(reader.codes(row)?);
            for (number, (group, states)) in pairs.enumerate() {
                walk.check(number)?;
                if !plan.matches(row, group, texts)? {
                    continue;
                }
                codes.truncate(plan.walked.keys.len());
                codes.extend(plan.places.iter().filter_map(|place| group.get(*place)));
                let Some((State::Count(count), states)) = states.split_first() else { return Err(outside()) };
                let (to, _) = own.states(codes, row.row())?;
                let (of_row, of_group) = to.split_at_mut_checked(plan.walked.calls.len()).ok_or_else(outside)?;
                reader.add(of_row, row, *count)?;
                of_group.iter_mut().zip(states).try_for_each(|(to, state)| to.merge(state))?;
            }
            Ok(())
        },
        |(_, own, _)| own.finish(),
    )?;
    let groups = shared.finish();
    Ok(Stored { groups, ..plan.stored })
}
