//! Groups of the pairs of rows of two tables that have equal ids or whole numbers.
//!
//! The rows of one table are grouped by the equal column and by the other columns of the question. The rows of the other table are
//! walked: each is joined with groups, whose counts and sums stand for their rows.

use super::answer::Stored;
use super::codes::{NULL, Texts, hash, number, outside, so_many};
use super::condition::Condition;
use super::partitions::{Groups, Layout, SharedGroups};
use super::read::Reading;
use super::shape::{Call, Question, What, is_key};
use super::sources::{JoinedTable, SourceTables, len};
use super::state::State;
use super::walk::Walk;
use crate::error::Result;
use crate::table::RowCursor;
use hashbrown::HashTable;

/// The groups of a table by the code of their first key.
struct Index<'g> {
    /// A code, and the last group with it.
    last: HashTable<(u64, u32)>,
    /// The groups, and for each the group before with the same code.
    groups: Vec<((&'g [u64], &'g [State]), Option<u32>)>,
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
    fn with(&self, code: u64) -> impl Iterator<Item = (&'g [u64], &'g [State])> {
        let mut next = self.last.find(hash(&[code]), |(other, _)| *other == code).map(|(_, last)| *last);
        std::iter::from_fn(move || {
            let (group, before) = self.groups.get(next? as usize)?;
            next = *before;
            Some(*group)
        })
    }
}

/// The groups of the joined rows of two tables.
pub(super) fn groups(
    question: &Question,
    sources: &SourceTables<'_>,
    JoinedTable { table: second, on }: &JoinedTable<'_>,
    texts: &Texts,
    walk: Walk<'_>,
) -> Result<Stored> {
    // Groups are fewer than rows.
    let grouped = usize::from(len(*second) > len(sources.first));
    let (table, walked) = if grouped == 0 { (sources.first, *second) } else { (*second, sources.first) };
    let [on_grouped, on_walked] = if grouped == 0 { *on } else { [on[1], on[0]] };
    let second_column = sources.first.columns().len();
    let [first_of_grouped, first_of_walked] = if grouped == 0 { [0, second_column] } else { [second_column, 0] };
    let is_grouped = |column: usize| sources.side(column).0 == grouped;
    let own = |column: usize| sources.side(column).1;

    // Conditions on one of the tables, and on both.
    let (mut of_grouped, mut of_walked, mut of_pairs) = (Vec::new(), Vec::new(), Vec::new());
    for condition in question.condition.iter().flat_map(Condition::all) {
        let mut columns = Vec::new();
        condition.add_columns(&mut columns);
        match (columns.iter().any(|column| is_grouped(*column)), columns.iter().all(|column| is_grouped(*column))) {
            (_, true) => of_grouped.push(condition),
            (false, _) => of_walked.push(condition),
            _ => of_pairs.push((condition, columns)),
        }
    }
    // The keys of groups, each once, by their own numbers.
    let mut keys = vec![on_grouped];
    let mut place = |column: usize| {
        let known = keys.iter().position(|key| *key == own(column));
        known.unwrap_or_else(|| {
            keys.push(own(column));
            keys.len().saturating_sub(1)
        })
    };
    let (mut walked_keys, mut key_places) = (Vec::new(), Vec::new());
    for key in &question.keys {
        match is_grouped(*key) {
            true => key_places.push(place(*key)),
            false => walked_keys.push(own(*key)),
        }
    }
    let mut pair_places = Vec::new();
    for (_, columns) in &of_pairs {
        for column in columns.iter().filter(|column| is_grouped(**column)) {
            let kind = table.columns().get(own(*column)).map(|column| column.kind);
            pair_places.push((*column, place(*column), kind.filter(|kind| is_key(*kind)).ok_or_else(outside)?));
        }
    }
    let (mut calls, mut walked_calls) = (vec![Call { what: What::Count, column: None }], Vec::new());
    for call in &question.calls {
        let to = if call.column.is_some_and(is_grouped) { &mut calls } else { &mut walked_calls };
        to.push(Call { what: call.what, column: call.column.map(own) });
    }

    let reading = Reading::new(table, &keys, calls, (of_grouped, first_of_grouped), texts, walk)?;
    let groups = reading.groups(table)?;
    let index = Index::new(&groups, reading.layout())?;
    let walked_reading = Reading::new(walked, &walked_keys, walked_calls, (of_walked, first_of_walked), texts, walk)?;
    let of_walk = of_pairs.iter().flat_map(|(_, columns)| columns).filter(|column| !is_grouped(**column));
    let walked_reading = walked_reading.with_columns(of_walk.map(|column| own(*column)).chain([on_walked]));

    // A joined group has the keys and aggregates of the walked table first, then the ones of the grouped table.
    let mut stored = Stored::default();
    let kind_of =
        |column: usize| sources.table_of(column).and_then(|(table, own)| Some(table.columns().get(own)?.kind));
    let (mut of_walk, mut of_group) = (0..walked_keys.len(), walked_keys.len()..);
    for key in &question.keys {
        let place = if is_grouped(*key) { of_group.next() } else { of_walk.next() };
        stored.keys.push((place.ok_or_else(outside)?, kind_of(*key).ok_or_else(outside)?));
    }
    let (mut of_walk, mut of_group) = (0..walked_reading.calls.len(), walked_reading.calls.len()..);
    for call in &question.calls {
        let place = if call.column.is_some_and(is_grouped) { of_group.next() } else { of_walk.next() };
        stored.call_places.push(place.ok_or_else(outside)?);
    }
    stored.calls = walked_reading.calls.iter().chain(reading.calls.iter().skip(1)).copied().collect();

    let shared = SharedGroups::new(Layout { keys: question.keys.len(), calls: &stored.calls });
    let holds = |row: &dyn RowCursor, codes: &[u64]| -> Result<bool> {
        for (condition, _) in &of_pairs {
            let cell = |column: usize| match pair_places.iter().find(|(of, ..)| *of == column) {
                Some((_, place, kind)) => Ok(codes.get(*place).map(|code| texts.cell(*kind, *code))),
                None => row.value(own(column)).map(Some),
            };
            if condition.answer(&cell)? != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    };
    walked_reading.rows(
        walked,
        || (walked_reading.reader(), shared.own(), Vec::new()),
        |(reader, own, codes), row| {
            let on = number(&row.value(on_walked)?)?;
            let mut pairs = index.with(on).peekable();
            if on == NULL || pairs.peek().is_none() {
                return Ok(());
            }
            codes.clear();
            codes.extend(reader.codes(row)?);
            for (number, (group, states)) in pairs.enumerate() {
                walk.check(number)?;
                if !holds(row, group)? {
                    continue;
                }
                codes.truncate(walked_keys.len());
                codes.extend(key_places.iter().filter_map(|place| group.get(*place)));
                let Some((State::Count(count), states)) = states.split_first() else { return Err(outside()) };
                let to = own.states(codes, row.row())?;
                let (of_row, of_group) = to.split_at_mut_checked(walked_reading.calls.len()).ok_or_else(outside)?;
                reader.add(of_row, row, *count)?;
                of_group.iter_mut().zip(states).try_for_each(|(to, state)| to.merge(state))?;
            }
            Ok(())
        },
        |(_, own, _)| own.finish(),
    )?;
    stored.groups = shared.finish();
    Ok(stored)
}
