//! Patterns, and literals that every match has in it, so that most rows need not be looked at.

use crate::error::{Error, ErrorKind, Result};
use crate::id;
use crate::regex;
use crate::table::glob::{Glob, GlobPart};
use crate::table::{Anchor, Guid, Kind, Literal, Table, Value};
use ::regex::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind, Look};

/// How a pattern is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Syntax {
    /// A glob if it contains a character of one ([`Glob::is_glob`]), else a text.
    #[default]
    Auto,
    /// A text at any position.
    Text,
    /// A [glob](crate::table::glob) for the whole text.
    Glob,
    /// A regular expression that matches anywhere.
    Regex,
}

/// The interpretation of a pattern.
#[derive(Debug, Clone, Copy, Default)]
pub struct PatternOptions {
    /// How it is written.
    pub syntax: Syntax,
    /// Whether upper and lower case are the same: of ASCII letters, in regular expressions of all.
    pub ignore_case: bool,
    /// Whether a path is found when its folders match.
    pub full_path: bool,
}

/// A pattern, ready to search for.
#[derive(Debug, Clone)]
pub struct Pattern {
    test: Test,
    /// A literal that every text that matches has in it.
    required: Option<Literal>,
    scope: Scope,
    exact: Option<Exact>,
}

/// A number, an id or a GUID, which cells of these kinds equal or not.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Exact {
    whole: Option<i128>,
    float: Option<f64>,
    id: Option<u64>,
    guid: Option<Guid>,
}

impl Exact {
    /// Reads a number, an id (`0x…`, 16 hex digits, or decimal) or a GUID.
    fn parse(text: &str) -> Option<Self> {
        // Rust also reads words such as `inf`.
        let is_number = text.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit());
        let number = Some(text).filter(|_| is_number);
        let exact = Self {
            whole: number.and_then(|text| text.parse().ok()),
            float: number.and_then(|text| text.parse().ok()),
            id: id::parse(text),
            guid: Guid::parse(text),
        };
        (exact != Self::default()).then_some(exact)
    }

    /// Whether a cell that is no text equals it.
    pub fn is_equal(&self, cell: &Value<'_>) -> bool {
        #[expect(clippy::cast_possible_truncation, reason = "a float is compared in its own precision")]
        match cell {
            Value::Int(number) => self.whole == Some((*number).into()),
            Value::Uint(number) => self.whole == Some((*number).into()),
            Value::F32(number) => self.float.is_some_and(|float| float as f32 == *number),
            Value::F64(number) => self.float == Some(*number),
            Value::Id64(id) => self.id == Some(*id),
            Value::Id32(id) => self.id == Some((*id).into()),
            Value::Guid(guid) => self.guid == Some(*guid),
            _ => false,
        }
    }

    /// The rows of `table` whose id in `column` equals it, if an index finds them.
    pub(super) fn rows_of(&self, table: &dyn Table, column: usize) -> Option<Vec<usize>> {
        let key = match table.columns().get(column)?.kind {
            Kind::Id64 => Value::Id64(self.id?),
            Kind::Id32 => Value::Id32(u32::try_from(self.id?).ok()?),
            _ => return None,
        };
        // A damaged index is no answer: the walk reports what is damaged.
        table.find(column, &key)?.ok()
    }
}

#[derive(Debug, Clone)]
enum Test {
    Literal(Literal),
    Glob(Box<Glob>),
    Regex(Regex),
}

/// The part of a path that a pattern is matched against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Name,
    Path,
    /// The whole path; the match must reach into the last component.
    IntoName,
}

fn syntax(what: impl Into<String>) -> Error {
    Error::of_part(ErrorKind::Syntax { what: what.into().into() }, "pattern")
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// `Syntax` if the pattern is empty, or not a glob or regular expression.
    pub fn new(text: &str, options: PatternOptions) -> Result<Self> {
        if text.is_empty() {
            return Err(syntax("the text to find is empty"));
        }
        let kind = match options.syntax {
            Syntax::Auto if Glob::is_glob(text) => Syntax::Glob,
            Syntax::Auto => Syntax::Text,
            given => given,
        };
        let fold = options.ignore_case;
        let scope = match kind {
            _ if options.full_path => Scope::Path,
            _ if !text.contains('/') => Scope::Name,
            Syntax::Text | Syntax::Auto => Scope::IntoName,
            Syntax::Glob | Syntax::Regex => Scope::Path,
        };
        let (test, required) = match kind {
            Syntax::Glob => glob(text, fold, scope)?,
            Syntax::Regex => expression(text, fold, scope)?,
            Syntax::Text | Syntax::Auto => {
                let literal = Literal::new(text, Anchor::Anywhere, fold);
                (Test::Literal(literal.ok_or_else(|| syntax("texts in files have no NUL in them"))?), None)
            }
        };
        let exact = (options.syntax == Syntax::Auto).then(|| Exact::parse(text)).flatten();
        Ok(Self { test, required, scope, exact })
    }

    /// Whether a text that is no path matches.
    pub fn is_match(&self, text: &str) -> bool {
        match &self.test {
            Test::Literal(literal) => literal.is_in(text),
            Test::Glob(glob) => glob.is_match(text),
            Test::Regex(regex) => regex.is_match(text.as_bytes()),
        }
    }

    /// Whether a path matches whose last component is its last `name` bytes.
    pub fn is_path_match(&self, path: &str, name: usize) -> bool {
        let name_at = path.len().saturating_sub(name);
        match (&self.test, self.scope) {
            (_, Scope::Name) => path.get(name_at..).is_some_and(|name| self.is_match(name)),
            (Test::Literal(literal), Scope::IntoName) => {
                // A match that begins here or later ends in the last component.
                let first = name_at.saturating_sub(literal.text().len() - 1);
                path.as_bytes().get(first..).is_some_and(|tail| literal.is_in_bytes(tail))
            }
            (_, Scope::Path | Scope::IntoName) => self.is_match(path),
        }
    }

    /// The number, id or GUID that it is, if written so.
    pub fn exact(&self) -> Option<&Exact> {
        self.exact.as_ref()
    }

    pub(super) fn scope(&self) -> Scope {
        self.scope
    }

    /// The literal that alone decides whether a text matches.
    pub(super) fn whole(&self) -> Option<&Literal> {
        match &self.test {
            Test::Literal(literal) => Some(literal),
            Test::Glob(_) | Test::Regex(_) => None,
        }
    }

    /// A literal that every text that matches has in it.
    pub(super) fn required(&self) -> Option<&Literal> {
        self.whole().or(self.required.as_ref())
    }

    /// A literal that the last component of every path that matches has in it.
    pub(super) fn required_of_name(&self) -> Option<Literal> {
        let literal = self.required()?;
        let last = literal.text().rsplit_once('/').map_or(literal.text(), |(_, last)| last);
        match self.scope {
            Scope::Name => Some(literal.clone()),
            // Either the last '/' of the text is the one before the name, or it is in the name.
            Scope::IntoName if last.is_empty() => Literal::new("/", Anchor::Anywhere, false),
            Scope::IntoName => Literal::new(last, Anchor::Anywhere, literal.ignores_case()),
            // The end of the path is the end of its name, up to a '/' in it.
            Scope::Path => match literal.anchor() {
                Anchor::End | Anchor::Whole => Literal::new(last, Anchor::End, literal.ignores_case()),
                Anchor::Anywhere | Anchor::Start => None,
            },
        }
    }
}

enum Piece {
    Text(String),
    /// The start or the end of the text.
    Edge,
    Other,
}

/// The literal that alone decides whether a text matches, or else one that is part of every match: the longest, and for
/// a path the last one, because the others may be in its folders.
fn literals(pieces: &[Piece], fold: bool, scope: Scope) -> (Option<Literal>, Option<Literal>) {
    let texts = pieces.iter().enumerate().filter_map(|(index, piece)| match piece {
        Piece::Text(text) => Some((index, text)),
        _ => None,
    });
    let best = texts.max_by_key(|(index, text)| match scope {
        Scope::Name => text.len(),
        Scope::Path | Scope::IntoName => *index,
    });
    let best = best.and_then(|(index, text)| {
        let is_at_start = index > 0 && matches!(pieces[index - 1], Piece::Edge);
        let anchor = match (is_at_start, matches!(pieces.get(index + 1), Some(Piece::Edge))) {
            (true, true) => Anchor::Whole,
            (true, false) => Anchor::Start,
            (false, true) => Anchor::End,
            (false, false) => Anchor::Anywhere,
        };
        Literal::new(text, anchor, fold)
    });
    let whole = pieces.iter().filter(|piece| !matches!(piece, Piece::Edge)).count() == 1;
    if whole { (best, None) } else { (None, best) }
}

fn glob(pattern: &str, fold: bool, scope: Scope) -> Result<(Test, Option<Literal>)> {
    let glob = Glob::new(pattern, fold)?;
    let pieces = glob.parts().map_or_else(Vec::new, glob_pieces);
    let (whole, required) = literals(&pieces, fold, scope);
    Ok((whole.map_or_else(|| Test::Glob(Box::new(glob)), Test::Literal), required))
}

/// The pieces of a glob. A `*` at an end leaves the text open there.
fn glob_pieces(parts: &[GlobPart]) -> Vec<Piece> {
    let start = (parts.first() != Some(&GlobPart::Any)).then_some(Piece::Edge);
    let end = (parts.last() != Some(&GlobPart::Any)).then_some(Piece::Edge);
    let inner = parts.iter().enumerate().filter_map(|(at, part)| match part {
        GlobPart::Text(text) => Some(Piece::Text(text.clone())),
        GlobPart::Any if at == 0 || at + 1 == parts.len() => None,
        GlobPart::Any | GlobPart::Other => Some(Piece::Other),
    });
    start.into_iter().chain(inner).chain(end).collect()
}

fn expression(pattern: &str, fold: bool, scope: Scope) -> Result<(Test, Option<Literal>)> {
    let pieces = regex_pieces(&regex::parse(pattern).map_err(syntax)?);
    // Letters of other alphabets fold to ASCII ones, so a literal would be too strict.
    let (whole, required) = if fold { (None, None) } else { literals(&pieces, false, scope) };
    let test = match whole {
        Some(literal) => Test::Literal(literal),
        None => {
            let built = RegexBuilder::new(pattern).case_insensitive(fold).build();
            Test::Regex(built.map_err(|error| syntax(regex::last_line(&error.to_string())))?)
        }
    };
    Ok((test, required))
}

fn regex_pieces(hir: &Hir) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut open = vec![hir];
    while let Some(hir) = open.pop() {
        match hir.kind() {
            HirKind::Concat(parts) => open.extend(parts.iter().rev()),
            HirKind::Capture(capture) => open.push(&capture.sub),
            HirKind::Literal(literal) => match (std::str::from_utf8(&literal.0), pieces.last_mut()) {
                (Ok(more), Some(Piece::Text(text))) => text.push_str(more),
                (Ok(text), _) => pieces.push(Piece::Text(text.to_owned())),
                (Err(_), _) => pieces.push(Piece::Other),
            },
            HirKind::Look(Look::Start) if pieces.is_empty() => pieces.push(Piece::Edge),
            HirKind::Look(Look::End) if open.is_empty() => pieces.push(Piece::Edge),
            HirKind::Empty => {}
            _ => pieces.push(Piece::Other),
        }
    }
    pieces
}
