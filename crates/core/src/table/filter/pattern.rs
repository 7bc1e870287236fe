//! `LIKE` and `GLOB` exactly as SQLite means them.

use crate::table::{Anchor, Literal};
use std::borrow::Cow;

/// A parsed pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    shape: Shape,
    /// Whether upper and lower case of ASCII letters are the same.
    fold: bool,
}

/// Nearly all patterns, and the rest.
#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Exact(Box<[u8]>),
    Prefix(Box<[u8]>),
    Suffix(Box<[u8]>),
    Inside(Box<[u8]>),
    /// A start, several texts after it in this order, and an end; the start and the end may be empty.
    Several {
        start: Box<[u8]>,
        inside: Box<[Box<[u8]>]>,
        end: Box<[u8]>,
    },
    General(Box<[Token]>),
    Never,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Char(char),
    /// Any one character.
    One,
    /// Any number of any characters.
    Any,
    /// A character in one of these ranges, or in none of them.
    Set {
        negated: bool,
        ranges: Box<[(char, char)]>,
    },
}

/// SQLite refuses longer patterns.
pub const LONGEST: usize = 50_000;

impl Pattern {
    /// A pattern of `LIKE` without `ESCAPE`: `%`, `_`; ASCII letters match in either case.
    pub fn like(pattern: &str) -> Self {
        let tokens = until_nul(pattern).chars().map(|c| match c {
            '%' => Token::Any,
            '_' => Token::One,
            other => Token::Char(other.to_ascii_lowercase()),
        });
        Self { shape: Shape::of(tokens.collect()), fold: true }
    }

    /// A pattern of `GLOB`: `*`, `?`, `[a-z]`, `[^a-z]`; case matters, nothing is special about `/`.
    pub fn glob(pattern: &str) -> Self {
        let mut tokens = Vec::new();
        let mut chars = until_nul(pattern).chars().peekable();
        while let Some(c) = chars.next() {
            tokens.push(match c {
                '*' => Token::Any,
                '?' => Token::One,
                '[' => match set(&mut chars) {
                    Some(set) => set,
                    None => return Self { shape: Shape::Never, fold: false },
                },
                other => Token::Char(other),
            });
        }
        Self { shape: Shape::of(tokens), fold: false }
    }

    /// Whether the whole of `text` matches.
    #[inline]
    pub fn matches(&self, text: &str) -> bool {
        let bytes = until_nul(text).as_bytes();
        match &self.shape {
            Shape::Exact(part) => self.same(bytes, part),
            Shape::Prefix(part) => bytes.get(..part.len()).is_some_and(|start| self.same(start, part)),
            Shape::Suffix(part) => {
                let start = bytes.len().checked_sub(part.len());
                start.and_then(|start| bytes.get(start..)).is_some_and(|end| self.same(end, part))
            }
            Shape::Inside(part) => self.find(bytes, part).is_some(),
            Shape::Several { start, inside, end } => self.several(bytes, start, inside, end),
            Shape::General(tokens) => general(until_nul(text), tokens, self.fold),
            Shape::Never => false,
        }
    }

    /// The text of a pattern that is a single text, and its required position.
    pub fn literal(&self) -> Option<Literal> {
        let (part, anchor) = match &self.shape {
            Shape::Exact(part) => (part, Anchor::Whole),
            Shape::Prefix(part) => (part, Anchor::Start),
            Shape::Suffix(part) => (part, Anchor::End),
            Shape::Inside(part) => (part, Anchor::Anywhere),
            Shape::Several { .. } | Shape::General(_) | Shape::Never => return None,
        };
        Literal::new(str::from_utf8(part).ok()?, anchor, self.fold)
    }

    #[inline]
    fn same(&self, text: &[u8], part: &[u8]) -> bool {
        if self.fold { text.eq_ignore_ascii_case(part) } else { text == part }
    }

    /// The position after the first `part` in `text`.
    fn find(&self, text: &[u8], part: &[u8]) -> Option<usize> {
        let Some((&first, rest)) = part.split_first() else { return Some(0) };
        let start = if self.fold {
            let is_at = |start: usize| text.get(start..)?.get(1..part.len()).map(|found| self.same(found, rest));
            let mut starts = memchr::memchr2_iter(first, first.to_ascii_uppercase(), text);
            starts.find(|start| is_at(*start) == Some(true))?
        } else {
            memchr::memmem::find(text, part)?
        };
        start.checked_add(part.len())
    }

    /// The first place of each text is as good as any later one.
    fn several(&self, text: &[u8], start: &[u8], inside: &[Box<[u8]>], end: &[u8]) -> bool {
        let Some((first, mut rest)) = text.split_at_checked(start.len()) else { return false };
        let Some((inner, last)) = rest.len().checked_sub(end.len()).and_then(|at| rest.split_at_checked(at)) else {
            return false;
        };
        rest = inner;
        let mut is_next = |part: &[u8]| {
            rest = self.find(rest, part).and_then(|after| rest.get(after..))?;
            Some(())
        };
        self.same(first, start) && self.same(last, end) && inside.iter().all(|part| is_next(part).is_some())
    }
}

/// SQLite reads text only up to a NUL here.
#[inline]
fn until_nul(text: &str) -> &str {
    memchr::memchr(0, text.as_bytes()).and_then(|end| text.get(..end)).unwrap_or(text)
}

/// The set after a `[`. `None` if it is not closed: such a pattern matches nothing.
fn set(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<Token> {
    let negated = chars.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    // A bracket at the start is a member.
    if chars.next_if_eq(&']').is_some() {
        ranges.push((']', ']'));
    }
    let mut prior = None;
    loop {
        let c = chars.next()?;
        if c == ']' {
            return Some(Token::Set { negated, ranges: ranges.into() });
        }
        match (c, prior, chars.peek()) {
            ('-', Some(from), Some(&to)) if to != ']' => {
                chars.next();
                ranges.push((from, to));
                prior = None;
            }
            _ => {
                ranges.push((c, c));
                prior = Some(c);
            }
        }
    }
}

impl Shape {
    fn of(tokens: Vec<Token>) -> Self {
        let literal = |tokens: &[Token]| {
            let mut text = String::new();
            for token in tokens {
                let Token::Char(c) = token else { return None };
                text.push(*c);
            }
            Some(text.into_bytes().into_boxed_slice())
        };
        let simple = match tokens.as_slice() {
            [Token::Any, inner @ .., Token::Any] => literal(inner).map(Self::Inside),
            [Token::Any, end @ ..] => literal(end).map(Self::Suffix),
            [start @ .., Token::Any] => literal(start).map(Self::Prefix),
            all => literal(all).map(Self::Exact),
        };
        let several = || {
            let mut parts: Vec<Box<[u8]>> =
                tokens.split(|token| *token == Token::Any).map(literal).collect::<Option<_>>()?;
            let (end, start) = (parts.pop()?, parts.first_mut().map(std::mem::take)?);
            let inside = parts.into_iter().skip(1).filter(|part| !part.is_empty()).collect();
            Some(Self::Several { start, inside, end })
        };
        simple.or_else(several).unwrap_or_else(|| Self::General(tokens.into()))
    }
}

/// Matches by going back to the last `Token::Any` only: the text that an earlier one took need never change.
fn general(text: &str, tokens: &[Token], fold: bool) -> bool {
    let mut text = text.chars();
    let mut rest = tokens;
    let mut back: Option<(std::str::Chars<'_>, &[Token])> = None;
    loop {
        if let Some((Token::Any, behind)) = rest.split_first() {
            back = Some((text.clone(), behind));
            rest = behind;
            continue;
        }
        let mut ahead = text.clone();
        match (ahead.next(), rest.split_first()) {
            (None, None) => return true,
            (Some(c), Some((token, behind))) if token.matches(c, fold) => {
                text = ahead;
                rest = behind;
            }
            (None, Some(_)) => return false,
            _ => {
                let Some((from, behind)) = &mut back else { return false };
                if from.next().is_none() {
                    return false;
                }
                text = from.clone();
                rest = behind;
            }
        }
    }
}

impl Token {
    fn matches(&self, c: char, fold: bool) -> bool {
        match self {
            Self::Char(wanted) => *wanted == if fold { c.to_ascii_lowercase() } else { c },
            Self::One | Self::Any => true,
            Self::Set { negated, ranges } => ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated,
        }
    }
}

/// The text of a cell that a pattern is matched with; `None` for cells that are no text.
pub(super) fn text_of<'v>(cell: &'v crate::table::Value<'_>) -> Option<Cow<'v, str>> {
    use crate::table::Value;
    match cell {
        Value::Text(text) => Some(Cow::Borrowed(text)),
        Value::Utf16(_) | Value::Id64(_) | Value::Id32(_) | Value::Guid(_) => Some(Cow::Owned(cell.to_string())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_like() {
        for (pattern, text, matches) in [
            ("%.VISUAL", "a/b.visual", true),
            ("%.visual", ".VISUAL", true),
            ("%.visual", "visual", false),
            ("content/%", "Content/", true),
            ("%Hull%", "x/hULL/y", true),
            ("%hull%", "hul", false),
            ("a_c", "aüc", true),
            ("a_c", "ac", false),
            ("%a%b_", "xxaxxaxbxbz", true),
            ("%a%b_", "xxaxxaxbxb", false),
            ("ü", "Ü", false),
            ("", "", true),
            ("%", "", true),
            ("_%", "", false),
            ("%%", "x", true),
            ("%hull%deck%", "a/Hull/DECK/b", true),
            ("%hull%deck%", "a/deck/hull", false),
            ("%aa%a%", "aa", false),
            ("a%b%c", "abc", true),
            ("a%b%c", "ac", false),
            ("a%a", "a", false),
            ("a%b%", "xab", false),
            ("%a%ü", "aÜ", false),
        ] {
            assert_eq!(Pattern::like(pattern).matches(text), matches, "{text} LIKE {pattern}");
        }
    }

    #[test]
    fn sets_of_glob() {
        for (pattern, text, matches) in [
            ("[a-c]*", "bx", true),
            ("[^a-c]*", "bx", false),
            ("[]x]", "]", true),
            ("[^]x]", "]", false),
            ("[a-]", "-", true),
            ("[-a]", "-", true),
            ("[z-a]", "m", false),
            ("[abc", "a", false),
            ("[]", "]", false),
            ("*.visual", "A.VISUAL", false),
            ("*/ship/*", "content/ship/x", true),
            ("a?[0-9]", "aü7", true),
        ] {
            assert_eq!(Pattern::glob(pattern).matches(text), matches, "{text} GLOB {pattern}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        assert!(!Pattern::glob(&"*a".repeat(1000)).matches(&"b".repeat(5000)));
        let text = "a".repeat(2000) + "b";
        assert!(!Pattern::like(&("%a".repeat(500) + "%c_")).matches(&text));
    }
}
