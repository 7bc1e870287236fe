//! Errors: the fault, with its part, its file, its absolute offset and its value.

use crate::escape::Escaped;
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io;
use std::sync::Arc;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error with its location: the part of the file and the absolute file offset.
///
/// One pointer wide, so that it costs nothing in the result of a lookup that succeeds. A clone shares its contents: the holder
/// of an error returns a clone of it to every caller.
#[derive(Clone)]
pub struct Error(Arc<Repr>);

/// The text: `main` shows the error that it returns in this form.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[derive(Clone)]
struct Repr {
    kind: ErrorKind,
    part: Cow<'static, str>,
    offset: Option<u64>,
}

/// The fault, with the value that shows it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused: the file could not be opened, mapped, read or written.
    Io {
        /// The attempt, such as "cannot open".
        action: &'static str,
        source: Arc<io::Error>,
    },
    /// No known format begins like this.
    UnknownFormat {
        /// The first bytes of the file, at most eight.
        head: Vec<u8>,
    },
    /// A pointer of Git LFS in place of the file.
    GitLfsPointer {
        /// The size of the file.
        size: u64,
        /// The hash of the file, with the name of the algorithm.
        oid: String,
    },
    /// A folder that no format reads as a whole.
    UnknownFolder,
    /// The format or its variant is recognised, but this build does not support it.
    Unsupported {
        /// The unsupported thing, as a message.
        what: Cow<'static, str>,
    },
    /// A magic number differs from the format's.
    BadMagic {
        expected: u64,
        found: u64,
    },
    BadVersion {
        found: i64,
    },
    /// More bytes are needed than exist.
    OutOfBounds {
        /// Bytes needed from the error's offset on.
        need: u64,
        /// Bytes that exist from the error's offset on.
        have: u64,
    },
    /// A relative pointer that leads out of its data (the database, or the file), or an invalid null pointer.
    BadPointer {
        value: i64,
    },
    /// A field with a value that the format does not allow.
    BadValue {
        /// The field and the broken rule, such as "compression type".
        what: Cow<'static, str>,
        value: i128,
    },
    /// A checksum does not match.
    Checksum {
        /// The algorithm, such as "MurmurHash3".
        algorithm: &'static str,
        /// The value stored in the file.
        stored: u64,
        /// The value computed from the bytes.
        computed: u64,
    },
    /// A codec could not decode its input.
    Codec {
        codec: &'static str,
        message: Cow<'static, str>,
    },
    /// Bytes that are not valid text.
    Text {
        /// The expected encoding, such as "UTF-8".
        encoding: &'static str,
        /// The number of valid units before the first invalid one.
        valid_up_to: u64,
    },
    /// A chain of references that returns to itself.
    Cycle {
        /// The id or index where it closes.
        at: u64,
    },
    /// A bound that keeps hostile input from exhausting time or memory.
    Limit {
        what: &'static str,
        /// The value that the file requires.
        value: u64,
        limit: u64,
    },
    /// A requested name or id does not exist.
    NotFound {
        /// The missing thing, as a sentence.
        what: String,
    },
    /// A file of an index that is not on this machine: a volume of a partly installed game.
    NotInstalled {
        what: String,
    },
    /// A query that cannot be parsed: a filter, an id, a name of a column.
    Syntax {
        what: Cow<'static, str>,
    },
    /// Any other damage.
    Damaged {
        what: Cow<'static, str>,
    },
}

impl ErrorKind {
    /// The error for `bytes` bytes that there is no memory for: the file may be sound.
    #[cold]
    pub fn no_memory(bytes: u64) -> Self {
        let what = format!("there is no memory for its {bytes} bytes");
        let source = Arc::new(io::Error::new(io::ErrorKind::OutOfMemory, what));
        Self::Io { action: "cannot read", source }
    }

    /// Damage, in words.
    pub fn damaged(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Damaged { what: what.into() }
    }

    /// The kind's name in other languages' interfaces.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Io { .. } => "io",
            Self::UnknownFormat { .. } => "unknown_format",
            Self::GitLfsPointer { .. } => "git_lfs_pointer",
            Self::UnknownFolder => "unknown_folder",
            Self::Unsupported { .. } => "unsupported",
            Self::BadMagic { .. } => "bad_magic",
            Self::BadVersion { .. } => "bad_version",
            Self::OutOfBounds { .. } => "out_of_bounds",
            Self::BadPointer { .. } => "bad_pointer",
            Self::BadValue { .. } => "bad_value",
            Self::Checksum { .. } => "checksum",
            Self::Codec { .. } => "codec",
            Self::Text { .. } => "text",
            Self::Cycle { .. } => "cycle",
            Self::Limit { .. } => "limit",
            Self::NotFound { .. } => "not_found",
            Self::NotInstalled { .. } => "not_installed",
            Self::Syntax { .. } => "syntax",
            Self::Damaged { .. } => "damaged",
        }
    }
}

impl Error {
    /// An error of `kind` in `part` (such as "strings.values") at the absolute file offset `offset`.
    #[cold]
    pub fn new(kind: ErrorKind, part: impl Into<Cow<'static, str>>, offset: u64) -> Self {
        Self(Arc::new(Repr { kind, part: part.into(), offset: Some(offset) }))
    }

    /// An error without a position in a file.
    #[cold]
    pub fn of_part(kind: ErrorKind, part: impl Into<Cow<'static, str>>) -> Self {
        Self(Arc::new(Repr { kind, part: part.into(), offset: None }))
    }

    /// An error of wrong usage: `what` is wrong, and what fits.
    #[cold]
    pub fn syntax(what: impl Into<Cow<'static, str>>) -> Self {
        Self::of_part(ErrorKind::Syntax { what: what.into() }, "")
    }

    /// The system's error `source` during `action`, such as "cannot open".
    #[cold]
    pub fn io(action: &'static str, source: io::Error) -> Self {
        Self::of_part(ErrorKind::Io { action, source: Arc::new(source) }, "")
    }

    /// Adds the container of the part: "visual 12" before "render sets".
    #[cold]
    #[must_use]
    pub fn context(mut self, outer: impl fmt::Display) -> Self {
        let part = match self.part() {
            "" => outer.to_string(),
            part => format!("{outer}: {part}"),
        };
        Arc::make_mut(&mut self.0).part = part.into();
        self
    }

    /// Adds the row of a table that the error is in, unless its part begins with that row.
    #[cold]
    #[must_use]
    pub fn in_row(self, table: &str, row: usize) -> Self {
        let is_named = self.part().starts_with(&format!("{table} {row}"));
        if is_named { self } else { self.context(format_args!("{table} row {row}")) }
    }

    /// Adds the table that the error is in, unless its part begins with that table.
    #[cold]
    #[must_use]
    pub fn in_table(self, table: &str) -> Self {
        let rest = self.part().strip_prefix(table);
        let is_named = rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        if is_named { self } else { self.context(table) }
    }

    /// Moves the offset into the message, as an offset of `file`: for errors in another file than the one that the user
    /// named.
    #[cold]
    #[must_use]
    pub fn in_file(mut self, file: &str) -> Self {
        if let Some(offset) = self.0.offset {
            let repr = Arc::make_mut(&mut self.0);
            let space = if repr.part.is_empty() { "" } else { " " };
            repr.part = format!("{}{space}in {file} at {offset:#x}", repr.part).into();
            repr.offset = None;
        }
        self
    }

    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The part of the file with the fault; empty for the whole file.
    pub fn part(&self) -> &str {
        &self.0.part
    }

    /// The absolute file offset of the fault.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names in a file may contain line breaks and other control characters; an error is one line.
        let mut line = Escaped(f);
        if !self.0.part.is_empty() {
            write!(line, "{}: ", self.0.part)?;
        }
        write!(line, "{}", self.0.kind)?;
        match self.0.offset {
            Some(at) => write!(f, " (at offset {at:#x})"),
            None => Ok(()),
        }
    }
}

/// The beginnings of files that commands write or that stand beside the files of a game, and the names of their formats.
const FOREIGN: [(&[u8], &str); 5] = [
    (b"glTF", "a GLB model"),
    (b"\x89PNG", "a PNG image"),
    (b"PAR1", "a Parquet file"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"SQLite format 3", "a SQLite database"),
];

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { action, source } => write!(f, "{action}: {source}"),
            Self::UnknownFormat { head } if head.is_empty() => f.write_str("the file is empty"),
            Self::UnknownFormat { head } => {
                f.write_str("not a format that assetq knows: ")?;
                if let Some((_, name)) = FOREIGN.iter().find(|(magic, _)| head.starts_with(magic)) {
                    return write!(f, "it seems to be {name}");
                }
                f.write_str("it begins with")?;
                head.iter().try_for_each(|b| write!(f, " {b:02x}"))
            }
            Self::GitLfsPointer { size, oid } => write!(f, "a Git LFS pointer: {size} bytes, {oid}"),
            Self::UnknownFolder => {
                f.write_str("a directory, but not that of a game that assetq knows: name a file in it")
            }
            Self::Unsupported { what } => write!(f, "{what} is not supported"),
            Self::BadMagic { expected, found } => write!(f, "magic is {found:#x}, expected {expected:#x}"),
            Self::BadVersion { found } => write!(f, "unknown version {found}"),
            Self::OutOfBounds { need, have } => write!(f, "{need} bytes needed, {have} left"),
            Self::BadPointer { value: 0 } => f.write_str("null pointer where data is needed"),
            Self::BadPointer { value } => write!(f, "pointer {value} leads outside of the data it belongs to"),
            Self::BadValue { what, value } => write!(f, "{what}: {value} is not allowed"),
            Self::Checksum { algorithm, stored, computed } => {
                write!(f, "{algorithm} checksum is {computed:#x}, stored {stored:#x}")
            }
            Self::Codec { codec, message } => write!(f, "{codec}: {message}"),
            Self::Text { encoding, valid_up_to } => write!(f, "not valid {encoding} after {valid_up_to} units"),
            Self::Cycle { at } => write!(f, "references form a cycle at {at:#x}"),
            Self::Limit { what, value, limit } => write!(f, "{what}: {value} is more than the limit of {limit}"),
            Self::NotFound { what } => f.write_str(what),
            Self::NotInstalled { what } => write!(f, "{what} is not installed"),
            Self::Syntax { what } | Self::Damaged { what } => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io { source, .. } => Some(&**source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_where_and_at_which_offset() {
        let error = Error::new(ErrorKind::OutOfBounds { need: 40, have: 12 }, "render sets", 0x1F0);
        assert_eq!(
            error.context("visual 12").to_string(),
            "visual 12: render sets: 40 bytes needed, 12 left (at offset 0x1f0)"
        );
    }

    #[test]
    fn a_program_that_returns_it_from_main_shows_its_text() {
        let error = Error::new(ErrorKind::damaged("two tables overlap"), "header", 0x10);
        assert_eq!(format!("Error: {error:?}"), "Error: header: two tables overlap (at offset 0x10)");
    }

    #[test]
    fn is_one_line_whatever_names_are_in_it() {
        let kind = ErrorKind::NotFound { what: "a\nb\u{202e} not found".to_owned() };
        let error = Error::of_part(kind, "field \x1b[31m");
        assert_eq!(error.to_string(), "field \\u{1b}[31m: a\\nb\\u{202e} not found");
    }

    #[test]
    fn an_unknown_file_is_named_if_its_beginning_is_well_known() {
        let said = |head: &[u8]| ErrorKind::UnknownFormat { head: head.into() }.to_string();
        assert_eq!(said(b"\x89PNG\r\n"), "not a format that assetq knows: it seems to be a PNG image");
        assert_eq!(said(b"PN"), "not a format that assetq knows: it begins with 50 4e");
    }

    #[test]
    fn a_clone_keeps_the_kind_and_gets_a_part_of_its_own() {
        let error = Error::io("cannot read", io::ErrorKind::PermissionDenied.into());
        let clone = error.clone().context("a.bin");
        assert!(
            matches!(clone.kind(), ErrorKind::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
        );
        assert_eq!((error.part(), clone.part()), ("", "a.bin"));
    }

    /// Programs in Python and C tell faults apart by these names, so that a name never changes.
    #[test]
    fn kinds_have_the_names_that_other_languages_know() {
        let what = || "hull".to_owned();
        let kinds = [
            (Error::io("cannot read", io::ErrorKind::NotFound.into()).kind().clone(), "io"),
            (ErrorKind::UnknownFormat { head: vec![1] }, "unknown_format"),
            (ErrorKind::GitLfsPointer { size: 1, oid: what() }, "git_lfs_pointer"),
            (ErrorKind::UnknownFolder, "unknown_folder"),
            (ErrorKind::Unsupported { what: what().into() }, "unsupported"),
            (ErrorKind::BadMagic { expected: 1, found: 2 }, "bad_magic"),
            (ErrorKind::BadVersion { found: 3 }, "bad_version"),
            (ErrorKind::OutOfBounds { need: 2, have: 1 }, "out_of_bounds"),
            (ErrorKind::BadPointer { value: -1 }, "bad_pointer"),
            (ErrorKind::BadValue { what: what().into(), value: 1 }, "bad_value"),
            (ErrorKind::Cycle { at: 1 }, "cycle"),
            (ErrorKind::NotFound { what: what() }, "not_found"),
            (ErrorKind::NotInstalled { what: what() }, "not_installed"),
            (ErrorKind::Syntax { what: what().into() }, "syntax"),
            (ErrorKind::damaged("hull"), "damaged"),
        ];
        for (kind, name) in kinds {
            assert_eq!(kind.name(), name);
        }
    }

    #[test]
    fn an_error_of_the_system_is_the_source() {
        use std::error::Error as _;
        let error = Error::io("cannot read", io::ErrorKind::PermissionDenied.into());
        assert_eq!(error.source().unwrap().to_string(), "permission denied");
        assert!(Error::syntax("no column").source().is_none());
    }

    #[test]
    fn is_one_pointer_wide() {
        assert_eq!(size_of::<Result<Option<&u8>>>(), 2 * size_of::<usize>());
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }
}
