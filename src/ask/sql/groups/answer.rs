//! The answer to a question: its groups in the order of their keys.

use super::codes::{FinishedTexts, Texts};
use super::joined;
use super::partitions::{Groups, SharedGroups};
use super::read::Reading;
use super::shape::{First, Question};
use super::sources::SourceTables;
use super::state::{directed, order};
use super::stored::{Place, Stored};
use super::walk::Walk;
use crate::error::Result;
use crate::table::Value;
use crate::threads::prelude::*;
use std::cmp::Ordering;

/// The rows of an answer: the cells of the columns, then the aggregates.
pub(super) struct Rows {
    stored: Stored,
    texts: FinishedTexts,
    /// Whether the groups descend by each of the columns.
    descends: Vec<bool>,
    groups: Vec<Place>,
}

/// Answers a question.
///
/// # Errors
/// Damage, and where SQLite must decide. It answers then.
pub(super) fn answer(question: &Question, sources: &SourceTables<'_>, walk: Walk<'_>) -> Result<Rows> {
    let texts = Texts::default();
    let mut stored = match &sources.joined {
        Some(joined) => joined::groups(question, sources.first, joined, &texts, walk)?,
        None => {
            let conditions = (question.condition.iter().collect(), 0);
            let reading =
                Reading::new(sources.first, &question.keys, question.calls.clone(), conditions, &texts, walk)?;
            let keys = (0..).zip(&reading.keys).map(|(place, key)| (place, key.kind)).collect();
            let call_places = (0..question.calls.len()).collect();
            Stored {
                groups: reading.groups(sources.first, question.first.as_ref())?,
                keys,
                calls: question.calls.clone(),
                call_places,
            }
        }
    };
    // Without grouped columns there is one row, even of no rows.
    if !question.is_grouped && stored.groups.is_empty() {
        let shared = SharedGroups::new(stored.layout());
        let mut own = shared.own();
        own.states(&[], 0)?;
        own.finish()?;
        stored.groups = shared.finish();
    }
    let rows = Rows { stored, texts: texts.finish(), descends: question.descends.clone(), groups: Vec::new() };
    rows.chosen(question.first.as_ref())
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    pub(super) fn cell(&self, row: usize, column: usize) -> Option<Value<'_>> {
        let group = *self.groups.get(row)?;
        match column.checked_sub(self.stored.keys.len()) {
            None => self.stored.code(group, column).map(|(code, kind)| self.texts.cell(kind, code)),
            Some(call) => self.stored.value(group, call)?.ok(),
        }
    }

    fn by_key(&self, a: Place, b: Place, column: usize, descends: bool) -> Ordering {
        let codes = self.stored.code(a, column).zip(self.stored.code(b, column));
        codes.map_or(Ordering::Equal, |((a, kind), (b, _))| directed(self.texts.order(kind, a, b), descends))
    }

    fn by_keys(&self, a: Place, b: Place) -> Ordering {
        let mut orders = (0..).zip(&self.descends).map(|(column, descends)| self.by_key(a, b, column, *descends));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    fn by_terms(&self, a: Place, b: Place, terms: &[(usize, bool)]) -> Ordering {
        let term = |&(column, descends): &(usize, bool)| match column.checked_sub(self.stored.keys.len()) {
            None => self.by_key(a, b, column, descends),
            Some(call) => match (self.stored.value(a, call), self.stored.value(b, call)) {
                (Some(Ok(a)), Some(Ok(b))) => directed(order(&a, &b), descends),
                _ => Ordering::Equal,
            },
        };
        terms.iter().map(term).find(|order| order.is_ne()).unwrap_or_else(|| self.by_keys(a, b))
    }

    /// The groups of a partition, or those that may be among the first ones.
    fn chosen_of(&self, partition: usize, first: Option<&First>) -> Result<Vec<Place>> {
        let len = self.stored.groups.get(partition).map_or(0, Groups::len);
        let (mut chosen, mut last): (Vec<Place>, Option<Place>) = (Vec::new(), None);
        for place in 0..len {
            let group = (partition, place);
            // A sum that SQLite refuses is one in a group that is not shown, too.
            for (state, call) in self.stored.states(group).iter().zip(&self.stored.calls) {
                state.value(*call)?;
            }
            let Some(First { count, terms }) = first else {
                chosen.push(group);
                continue;
            };
            if last.is_some_and(|last| self.by_terms(group, last, terms).is_gt()) {
                continue;
            }
            chosen.push(group);
            // Twice as many as wanted, so that the worse half goes seldom.
            if chosen.len() >= count.saturating_mul(2).max(64) {
                last = self.keep_first(&mut chosen, *count, terms);
            }
        }
        Ok(chosen)
    }

    /// Keeps the first `count` groups, in any order, and returns the last of them.
    fn keep_first(&self, groups: &mut Vec<Place>, count: usize, terms: &[(usize, bool)]) -> Option<Place> {
        let last = count.checked_sub(1).filter(|at| *at < groups.len());
        let last = last.map(|at| *groups.select_nth_unstable_by(at, |a, b| self.by_terms(*a, *b, terms)).1);
        groups.truncate(count);
        last
    }

    /// The groups in the order of their keys, or the first ones if the question wants no others.
    fn chosen(mut self, first: Option<&First>) -> Result<Self> {
        let partitions = 0..self.stored.groups.len();
        let chosen: Result<Vec<Vec<Place>>> =
            partitions.into_par_iter().map(|partition| self.chosen_of(partition, first)).collect();
        let mut chosen = chosen?.concat();
        if let Some(First { count, terms }) = first {
            self.keep_first(&mut chosen, *count, terms);
        }
        let descends = self.descends.first().copied().unwrap_or_default();
        let leading = |group: &Place| {
            let first = self.stored.code(*group, 0).map_or(0, |(code, kind)| self.texts.leading(kind, code));
            if descends { !first } else { first }
        };
        let mut sorted: Vec<(u64, Place)> = chosen.iter().map(|group| (leading(group), *group)).collect();
        sorted
            .par_sort_unstable_by(|(a_first, a), (b_first, b)| a_first.cmp(b_first).then_with(|| self.by_keys(*a, *b)));
        self.groups = sorted.into_iter().map(|(_, group)| group).collect();
        Ok(self)
    }
}
