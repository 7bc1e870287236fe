//! Conditions as they are written.

use crate::error::Error;

/// A condition as it was written, for any table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Filter {
    Compare {
        column: String,
        op: Op,
        /// The other side of the comparison.
        literal: Literal,
    },
    And(Vec<Filter>),
    /// At least one of these conditions.
    Or(Vec<Filter>),
    Not(Box<Filter>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// `~`
    Glob,
    /// `!~`
    NotGlob,
    /// `LIKE`
    Like,
    /// `GLOB`, whose patterns differ from those of `~`.
    SqlGlob,
}

/// The value that a column is compared with.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Literal {
    Null,
    Bool(bool),
    /// A number or a text, as written. Which of them it is depends on the column.
    Text(String),
}

#[cold]
pub(super) fn syntax(what: impl Into<String>) -> Error {
    Error::syntax(what.into()).context("filter")
}

impl std::fmt::Display for Literal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(truth) => truth.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}
