//! How commands end: exit codes, and failures.

use crate::error::{Error, ErrorKind};
use std::path::Path;

/// The end of a command. Its context keeps the exit code of a command that did not fail.
pub(super) type Outcome = Result<(), Failure>;

/// How a command ends. Of several ends the greatest one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Exit {
    #[default]
    Done,
    NotFound,
    /// The output is good, and lacks a part of what was asked for.
    Partial,
    Usage,
    Damaged,
    Io,
}

impl Exit {
    /// The exit code, on which other programs rely.
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::NotFound => 1,
            Self::Usage => 2,
            Self::Damaged => 3,
            Self::Io => 4,
            Self::Partial => 5,
        }
    }
}

/// Why a command could not continue: one line for standard error, and an exit code.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) exit: Exit,
    pub(super) message: String,
    pub(super) closed_pipe: bool,
}

impl Failure {
    pub(super) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), closed_pipe: false }
    }

    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub(super) fn io(file: impl AsRef<Path>, action: &'static str, error: std::io::Error) -> Self {
        Self::in_file(file, &Error::io(action, error))
    }

    /// `error`, with the file that it is about: `file`, unless it is an output that could not be written.
    pub(super) fn in_file(file: impl AsRef<Path>, error: &Error) -> Self {
        let failure = Self::from_error(error);
        // The name of a game ends with a colon.
        let file = file.as_ref().to_string_lossy();
        let file = file.trim_end_matches(':');
        let message = if output_of(error).is_some() { failure.message } else { format!("{file}: {error}") };
        Self { message, ..failure }
    }

    /// [`Failure::in_file`] for errors of `file`, for `map_err`.
    pub(super) fn of_file<'f>(file: &'f (impl AsRef<Path> + ?Sized)) -> impl Fn(Error) -> Self + Copy + 'f {
        move |error| Self::in_file(file, &error)
    }

    pub(super) fn from_error(error: &Error) -> Self {
        let exit = match error.kind() {
            ErrorKind::Io { .. } | ErrorKind::UnknownFolder => Exit::Io,
            ErrorKind::Syntax { .. } => Exit::Usage,
            ErrorKind::NotFound { .. } if error.offset().is_none() => Exit::NotFound,
            ErrorKind::NotInstalled { .. } => Exit::NotFound,
            _ => Exit::Damaged,
        };
        let closed_pipe =
            matches!(error.kind(), ErrorKind::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe);
        let message = output_of(error).map_or_else(|| error.to_string(), |output| format!("{output}: {error}"));
        Self { exit, message, closed_pipe }
    }
}

pub(super) fn output_of(error: &Error) -> Option<&str> {
    match error.kind() {
        ErrorKind::Io { source, .. } => crate::atomic_file::output_of(source),
        _ => None,
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::from_error(&error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Error::io("cannot write", error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_ends_4_wins_then_3_2_5_and_1() {
        let mut ends = [Exit::Usage, Exit::Partial, Exit::Io, Exit::Done, Exit::NotFound, Exit::Damaged];
        ends.sort();
        assert_eq!(ends.map(Exit::code), [0, 1, 5, 2, 3, 4]);
    }
}
