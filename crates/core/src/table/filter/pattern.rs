//! `LIKE` and `GLOB` exactly as SQLite means them.

use crate::table::Literal;
use crate::table::search::Pieces;
use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq)]
pub struct LikePattern(Shape);

/// The part of a pattern that the path of a folder matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderMatch {
    /// No path in the folder matches.
    Never,
    /// This many of the texts inside of the pattern are in the folder's path, and the others must be in the name.
    Found(u32),
    Unknown,
}

/// Nearly all patterns, and the rest.
#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Pieces(Pieces),
    General {
        tokens: Box<[Token]>,
        /// Whether upper and lower case of ASCII letters are the same.
        fold: bool,
    },
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

impl LikePattern {
    /// A pattern of `LIKE` without `ESCAPE`: `%`, `_`; ASCII letters match in either case.
    pub fn like(pattern: &str) -> Self {
        let tokens = until_nul(pattern).chars().map(|c| match c {
            '%' => Token::Any,
            '_' => Token::One,
            other => Token::Char(other.to_ascii_lowercase()),
        });
        Self(Shape::of(tokens.collect(), true))
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
                    None => return Self(Shape::Never),
                },
                other => Token::Char(other),
            });
        }
        Self(Shape::of(tokens, false))
    }

    /// Whether the whole of `text` matches.
    #[inline]
    pub fn matches(&self, text: &str) -> bool {
        let text = until_nul(text);
        match &self.0 {
            Shape::Pieces(pieces) => pieces.matches(text.as_bytes()),
            Shape::General { tokens, fold } => general(text, tokens, *fold),
            Shape::Never => false,
        }
    }

    /// The part of the pattern that the path of a folder, with its trailing '/', matches: for [`LikePattern::matches_in`].
    pub fn in_folder(&self, folder: &str) -> FolderMatch {
        match &self.0 {
            Shape::Pieces(pieces) if !folder.contains('\0') => pieces.in_folder(folder.as_bytes()),
            Shape::Pieces(_) | Shape::General { .. } => FolderMatch::Unknown,
            Shape::Never => FolderMatch::Never,
        }
    }

    /// Whether the path of a name in a folder matches; `None` if only the whole path can tell.
    #[inline]
    pub fn matches_in(&self, folder: FolderMatch, name: &str) -> Option<bool> {
        match (&self.0, folder) {
            (_, FolderMatch::Never) => Some(false),
            (Shape::Pieces(pieces), FolderMatch::Found(found)) if memchr::memchr(0, name.as_bytes()).is_none() => {
                pieces.matches_after(found as usize, name.as_bytes())
            }
            _ => None,
        }
    }

    /// The text of a pattern that is a single text, and its required position.
    pub fn literal(&self) -> Option<Literal> {
        match &self.0 {
            Shape::Pieces(pieces) => pieces.literal(),
            Shape::General { .. } | Shape::Never => None,
        }
    }
}

/// SQLite reads text only up to a NUL here.
#[inline]
fn until_nul(text: &str) -> &str {
    memchr::memchr(0, text.as_bytes()).map_or(text, |end| &text[..end])
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
    fn of(tokens: Vec<Token>, fold: bool) -> Self {
        let texts = tokens.split(|token| *token == Token::Any).map(|tokens| tokens.iter().map(Token::char).collect());
        let pieces = texts.collect::<Option<Vec<String>>>().and_then(|texts| Pieces::new(texts, fold));
        pieces.map_or_else(|| Self::General { tokens: tokens.into(), fold }, Self::Pieces)
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
    fn char(&self) -> Option<char> {
        match self {
            Self::Char(c) => Some(*c),
            _ => None,
        }
    }

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
            assert_eq!(LikePattern::like(pattern).matches(text), matches, "{text} LIKE {pattern}");
        }
    }

    #[test]
    fn a_path_in_two_parts_matches_as_a_whole() {
        let (folders, names) =
            (["a/", "Hull/a/", "deck/hull/", "h\0/", "/"], ["", "a", "Deck", "hull.deck", "x\0deck", "u/l"]);
        let patterns = [
            "%",
            "%hull%",
            "%hull%deck%",
            "%hull%deck",
            "a%",
            "hull/a/d%",
            "%/a",
            "%l/a%",
            "%a/d_ck",
            "%k",
            "%a%a%",
            "%a/%",
            "a/",
            "%/%/%",
        ];
        let patterns =
            patterns.map(LikePattern::like).into_iter().chain([LikePattern::glob("*[a-h]"), LikePattern::glob("[")]);
        let mut known = 0;
        for (pattern, folder) in patterns.flat_map(|pattern| folders.map(|folder| (pattern.clone(), folder))) {
            for name in names {
                let matches = pattern.matches_in(pattern.in_folder(folder), name);
                known += usize::from(matches.is_some());
                let whole = pattern.matches(&format!("{folder}{name}"));
                assert_eq!(matches.unwrap_or(whole), whole, "{pattern:?}: {folder} {name:?}");
            }
        }
        assert!(known > 150, "{known}");
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
            assert_eq!(LikePattern::glob(pattern).matches(text), matches, "{text} GLOB {pattern}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        assert!(!LikePattern::glob(&"*a".repeat(1000)).matches(&"b".repeat(5000)));
        let text = "a".repeat(2000) + "b";
        assert!(!LikePattern::like(&("%a".repeat(500) + "%c_")).matches(&text));
    }
}
