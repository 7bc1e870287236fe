//! The groups of an answer, and where each of them has its cells.

use super::partitions::{Groups, Layout};
use super::shape::Call;
use super::state::State;
use crate::error::Result;
use crate::table::{Kind, Value};

/// Groups, and where each of them has its keys and aggregates.
#[derive(Default)]
pub(super) struct Stored {
    pub(super) groups: Vec<Groups>,
    /// For each grouped column of the question, the place of its code, and its kind.
    pub(super) keys: Vec<(usize, Kind)>,
    /// The aggregates in the order of the states of a group.
    pub(super) calls: Vec<Call>,
    /// For each aggregate of the question, the place of its state.
    pub(super) call_places: Vec<usize>,
}

/// A group by its partition and its place there.
pub(super) type Place = (usize, usize);

impl Stored {
    pub(super) fn layout(&self) -> Layout<'_> {
        Layout { keys: self.keys.len(), calls: &self.calls }
    }

    /// The code and the kind of a grouped column.
    pub(super) fn code(&self, (partition, place): Place, column: usize) -> Option<(u64, Kind)> {
        let (at, kind) = *self.keys.get(column)?;
        Some((*self.layout().codes(self.groups.get(partition)?, place).get(at)?, kind))
    }

    pub(super) fn states(&self, (partition, place): Place) -> &[State] {
        self.groups.get(partition).map_or(&[], |groups| self.layout().states(groups, place))
    }

    /// The value of an aggregate.
    pub(super) fn value(&self, group: Place, call: usize) -> Option<Result<Value<'_>>> {
        let at = *self.call_places.get(call)?;
        Some(self.states(group).get(at)?.value(*self.calls.get(at)?))
    }
}
