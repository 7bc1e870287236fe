//! The prompt: statements from a terminal, with history and completion.

use super::{Context, Failure, Session};

pub(super) fn run(session: &Session, context: &Context) -> Result<(), Failure> {
    super::script(session, context)
}
