//! The cells of the table that cannot hold, with their reasons.

use crate::state::State;

/// The loop, the state (all if `None`), the beginning of the file's name, and the reason.
pub const CELLS: &[(&str, Option<State>, &str, &str)] = &[(
    "left out",
    Some(State::Damaged),
    "real/idx/system_data.idx.partial",
    "files of two indexes are compared by their ids, which are whole; only names are damaged",
)];

/// Why the cell cannot hold.
pub fn reason(of: &str, state: State, subject: &str) -> Option<&'static str> {
    let found = CELLS.iter().find(|(name, only, file, _)| {
        *name == of && only.is_none_or(|only| only == state) && subject.starts_with(file)
    });
    found.map(|(.., reason)| *reason)
}
