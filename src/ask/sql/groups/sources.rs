//! The tables of a question.

use crate::table::{Column, Kind, Table};

/// One table, or two that are joined. The columns of the second table are numbered after the columns of the first.
pub(super) struct SourceTables<'a> {
    pub(super) first: &'a dyn Table,
    pub(super) joined: Option<JoinedTable<'a>>,
}

/// A second table, and the equal columns of both.
pub(super) struct JoinedTable<'a> {
    pub(super) table: &'a dyn Table,
    pub(super) on: [usize; 2],
}

/// Whether cells of the two kinds are equal in SQLite just if their codes are.
const fn joins(a: Kind, b: Kind) -> bool {
    const fn is_id(kind: Kind) -> bool {
        matches!(kind, Kind::Id64 | Kind::Id32)
    }
    const fn is_whole(kind: Kind) -> bool {
        matches!(kind, Kind::Bool | Kind::Int | Kind::Uint)
    }
    is_id(a) && is_id(b) || is_whole(a) && is_whole(b)
}

pub(super) fn len(table: &dyn Table) -> usize {
    table.known_len().unwrap_or(usize::MAX)
}

impl<'a> SourceTables<'a> {
    pub(super) fn one(first: &'a dyn Table) -> Self {
        Self { first, joined: None }
    }

    /// `None` if SQLite joins them sooner, or joins other rows.
    pub(super) fn two([first, second]: [&'a dyn Table; 2], on: [usize; 2]) -> Option<Self> {
        let (a, b) = (first.columns().get(on[0])?, second.columns().get(on[1])?);
        if !joins(a.kind, b.kind) || first.parts().is_some() || second.parts().is_some() {
            return None;
        }
        let (first_len, second_len) = (len(first), len(second));
        let (larger, column, least, most) = match second_len > first_len {
            true => (second, on[1], first_len, second_len),
            false => (first, on[0], second_len, first_len),
        };
        // SQLite finds the few rows that match few others.
        const FEW: usize = 64;
        let is_probe = larger.finds(column) && least.saturating_mul(FEW) < most;
        (!is_probe).then_some(Self { first, joined: Some(JoinedTable { table: second, on }) })
    }

    /// The columns of all tables.
    pub(super) fn columns(&self) -> impl Iterator<Item = &'a Column> {
        self.first.columns().iter().chain(self.joined.iter().flat_map(|joined| joined.table.columns()))
    }

    /// The table with a column, and the column's number in it.
    pub(super) fn table_of(&self, column: usize) -> Option<(&'a dyn Table, usize)> {
        match column.checked_sub(self.first.columns().len()) {
            None => Some((self.first, column)),
            Some(own) => Some((self.joined.as_ref()?.table, own)),
        }
    }
}
