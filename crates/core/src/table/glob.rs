//! Globs, with one meaning everywhere.
//!
//! `*` matches any text, including `/`; `?` one character; `[a-z]` one character of a set, `[!a-z]` one character outside of it; `{a,b}`
//! either text; `\` the next character. A glob must match the whole text. A text also matches if it equals the glob, because names such
//! as `[Main]` contain these characters. Brackets around a number also match themselves, because paths of values such as `items[3].id`
//! contain them.
//!
//! A glob over files on a disk ([`Glob::of_files`]) has the meaning that a shell gives it: `*`, `?` and sets match no `/`, `**` does.

use super::search::{Pieces, is_equal};
use crate::error::{Error, Result};
use regex::{Regex, RegexBuilder};
use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

/// The longest glob, in bytes.
const LONGEST: usize = 10_000;
/// The deepest nesting of braces.
const DEEPEST: usize = 16;

/// A glob, ready to be matched.
#[derive(Debug, Clone)]
pub struct Glob {
    test: Test,
    /// The glob itself, if an equal text matches.
    own: Option<Box<str>>,
    ignore_case: bool,
    folders: Option<usize>,
    has_ending: bool,
    parts: Option<Vec<GlobPart>>,
}

/// A part of a glob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GlobPart {
    Text(String),
    /// A `*` that matches any text.
    Any,
    /// Another wildcard.
    Other,
}

#[derive(Debug, Clone)]
enum Test {
    /// Texts with `*` between them.
    Pieces(Pieces),
    Regex(Regex),
}

impl Glob {
    /// Whether a text that may be a glob or a plain text is a glob.
    pub fn is_glob(text: &str) -> bool {
        text.contains(['*', '?', '[', '{'])
    }

    /// Reads a glob with smart case: upper and lower case are the same unless the glob has an upper-case letter.
    ///
    /// # Errors
    /// As [`Glob::new`].
    pub fn smart_case(glob: &str) -> Result<Self> {
        Self::new(glob, !has_uppercase(glob))
    }

    /// Reads a glob. With `ignore_case` upper and lower case of ASCII letters are the same.
    ///
    /// # Errors
    /// `Syntax` for one that is not closed, or too large to be matched.
    pub fn new(glob: &str, ignore_case: bool) -> Result<Self> {
        Self::parse(glob, ignore_case, Crossing::AnyWildcard)
    }

    /// Reads a glob over paths of files on a disk, with smart case: only `**` matches a `/`.
    ///
    /// # Errors
    /// As [`Glob::new`].
    pub fn of_files(glob: &str) -> Result<Self> {
        Self::parse(glob, !has_uppercase(glob), Crossing::DoubleStar)
    }

    fn parse(glob: &str, ignore_case: bool, crossing: Crossing) -> Result<Self> {
        if glob.len() > LONGEST {
            return Err(syntax(format!("a glob of {} bytes is longer than {LONGEST}", glob.len())));
        }
        let mut translation = Translation {
            regex: String::from("^"),
            ignore_case,
            crossing,
            parts: Vec::new(),
            has_braces: false,
            has_ending: false,
        };
        translation.glob(glob).map_err(|what| syntax(format!("{glob}: {what}")))?;
        let has_ending = translation.has_ending;
        // Compiling a regular expression takes longer than searching the pieces.
        let parts = Some(translation.parts).filter(|_| !translation.has_braces);
        let texts = parts.as_ref().filter(|_| !glob.contains('\0')).and_then(|parts| {
            let texts = parts.split(|part| *part == GlobPart::Any).map(|parts| match parts {
                [] => Some(String::new()),
                [GlobPart::Text(text)] => Some(text.clone()),
                _ => None,
            });
            texts.collect()
        });
        let test = match texts.and_then(|texts| Pieces::new(texts, ignore_case)) {
            Some(pieces) => Test::Pieces(pieces),
            None => {
                let regex = RegexBuilder::new(&translation.regex).dot_matches_new_line(true).build();
                Test::Regex(regex.map_err(|_| syntax("this glob takes too much memory to be matched"))?)
            }
        };
        let folders = (crossing == Crossing::DoubleStar && !glob.contains("**")).then(|| glob.matches('/').count());
        Ok(Self { test, own: (!glob.contains('\\')).then(|| glob.into()), ignore_case, folders, has_ending, parts })
    }

    /// The parts of the glob in order, unless it has alternatives in braces.
    pub fn parts(&self) -> Option<&[GlobPart]> {
        self.parts.as_deref()
    }

    /// The most folders that a matching path has, if the glob limits them.
    pub fn folders(&self) -> Option<usize> {
        self.folders
    }

    /// Whether the glob states the ending of all names that it matches, as `*.bin` and `*.{bin,data}` do.
    pub fn has_ending(&self) -> bool {
        self.has_ending
    }

    /// For a glob that matches nothing: how it is to be written, as the end of a message.
    pub fn hint(glob: &str) -> String {
        match glob.trim_matches('*') {
            inner if inner.starts_with('/') && inner.len() > 1 && !glob.starts_with('*') => {
                format!("; paths begin without a '/': '{}'", glob.trim_start_matches('/'))
            }
            inner if Self::is_glob(glob) && !glob.starts_with('*') && !inner.is_empty() => {
                format!("; a glob matches from the beginning to the end: '*{inner}*' matches anywhere")
            }
            _ => String::new(),
        }
    }

    /// Whether the whole of `text` matches.
    pub fn is_match(&self, text: &str) -> bool {
        let matches = match &self.test {
            Test::Regex(regex) => regex.is_match(text),
            Test::Pieces(pieces) => pieces.matches(text.as_bytes()),
        };
        matches || self.own.as_deref().is_some_and(|own| is_equal(own.as_bytes(), text.as_bytes(), self.ignore_case))
    }
}

/// Whether a pattern has an upper-case letter: then a search with smart case distinguishes case.
pub fn has_uppercase(pattern: &str) -> bool {
    pattern.chars().any(char::is_uppercase)
}

/// The wildcards that match a `/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Crossing {
    AnyWildcard,
    DoubleStar,
}

/// A glob on its way to a regular expression.
struct Translation {
    regex: String,
    crossing: Crossing,
    parts: Vec<GlobPart>,
    has_braces: bool,
    /// Whether a point follows the last `/` and the last wildcard of any length.
    has_ending: bool,
    ignore_case: bool,
}

/// A brace that is open.
struct OpenBrace {
    /// Whether a component begins there.
    begins_component: bool,
    /// Whether an ending begins before it.
    had_ending: bool,
    /// Whether all alternatives so far state an ending.
    all_have_ending: bool,
}

impl Translation {
    fn glob(&mut self, glob: &str) -> Result<(), String> {
        let mut chars = glob.chars().peekable();
        let mut open: Vec<OpenBrace> = Vec::new();
        // A '**' that is a whole component also matches no folder.
        let mut component_begins = true;
        while let Some(c) = chars.next() {
            let began = std::mem::replace(&mut component_begins, c == '/');
            if matches!(c, '?' | '[') {
                self.parts.push(GlobPart::Other);
            }
            match c {
                '*' => {
                    self.has_ending = false;
                    let is_double = chars.next_if_eq(&'*').is_some();
                    if is_double && began && chars.next_if_eq(&'/').is_some() {
                        self.regex.push_str("(?:.*/)?");
                        self.parts.push(GlobPart::Other);
                        component_begins = true;
                    } else if is_double || self.crossing == Crossing::AnyWildcard {
                        self.regex.push_str(".*");
                        self.parts.push(GlobPart::Any);
                    } else {
                        self.regex.push_str("[^/]*");
                        self.parts.push(GlobPart::Other);
                    }
                }
                '?' if self.crossing == Crossing::DoubleStar => self.regex.push_str("[^/]"),
                '?' => self.regex.push('.'),
                '[' if self.crossing == Crossing::DoubleStar => {
                    self.regex.push('[');
                    self.set(&mut chars)?;
                    self.regex.push_str("&&[^/]]");
                }
                '[' => {
                    let inner: String = chars.clone().take_while(|c| *c != ']').collect();
                    let is_number = !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_digit());
                    if is_number {
                        self.regex.push_str(&format!("(?:\\[{inner}\\]|"));
                    }
                    self.set(&mut chars)?;
                    if is_number {
                        self.regex.push(')');
                    }
                }
                '{' if open.len() == DEEPEST => return Err(format!("braces are nested more than {DEEPEST} deep")),
                '{' => {
                    self.has_braces = true;
                    let had_ending = self.has_ending;
                    open.push(OpenBrace { begins_component: began, had_ending, all_have_ending: true });
                    self.regex.push_str("(?:");
                    component_begins = began;
                }
                ',' if !open.is_empty() => {
                    self.regex.push('|');
                    if let Some(brace) = open.last_mut() {
                        brace.all_have_ending &= self.has_ending;
                        self.has_ending = brace.had_ending;
                        component_begins = brace.begins_component;
                    }
                }
                '}' => {
                    let brace = open.pop().ok_or("a '}' without a '{' before it")?;
                    self.has_ending &= brace.all_have_ending;
                    self.regex.push(')');
                }
                '\\' => self.literal(chars.next().ok_or("a '\\' at the end")?),
                other => self.literal(other),
            }
        }
        self.regex.push('$');
        if !open.is_empty() { Err("a '{' without its '}'".to_owned()) } else { Ok(()) }
    }

    fn literal(&mut self, c: char) {
        match c {
            '.' => self.has_ending = true,
            '/' => self.has_ending = false,
            _ => {}
        }
        match self.parts.last_mut() {
            Some(GlobPart::Text(text)) => text.push(c),
            _ => self.parts.push(GlobPart::Text(c.into())),
        }
        if self.ignore_case && c.is_ascii_alphabetic() {
            self.regex.extend(['[', c.to_ascii_lowercase(), c.to_ascii_uppercase(), ']']);
        } else {
            self.regex.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
        }
    }

    /// The rest of a class, after its '['.
    fn set(&mut self, chars: &mut Peekable<Chars<'_>>) -> Result<(), String> {
        let negated = chars.next_if(|c| matches!(c, '!' | '^')).is_some();
        self.regex.push_str(if negated { "[^" } else { "[" });
        // A leading ']' is a member of the set.
        let mut first = true;
        loop {
            let from = chars.next().ok_or("a '[' without its ']'")?;
            if from == ']' && !std::mem::replace(&mut first, false) {
                self.regex.push(']');
                return Ok(());
            }
            first = false;
            let mut ahead = chars.clone();
            let to = match (ahead.next(), ahead.next()) {
                (Some('-'), Some(to)) if to != ']' => {
                    *chars = ahead;
                    to
                }
                _ => from,
            };
            if from > to {
                return Err(format!("the range {from}-{to} goes backwards"));
            }
            self.range(from, to);
            if self.ignore_case {
                // The letters of the range in the other case.
                let (small, large) = ((from.max('a'), to.min('z')), (from.max('A'), to.min('Z')));
                if small.0 <= small.1 {
                    self.range(small.0.to_ascii_uppercase(), small.1.to_ascii_uppercase());
                }
                if large.0 <= large.1 {
                    self.range(large.0.to_ascii_lowercase(), large.1.to_ascii_lowercase());
                }
            }
        }
    }

    fn range(&mut self, from: char, to: char) {
        // To write to a string does not fail.
        let _ = write!(self.regex, "\\x{{{:x}}}-\\x{{{:x}}}", u32::from(from), u32::from(to));
    }
}

#[cold]
fn syntax(what: impl Into<String>) -> Error {
    Error::syntax(what.into()).context("glob")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn what_each_sign_means() {
        for (glob, text, matches) in [
            ("*.dds", "a/b.dds", true),
            ("*Turret*.visual", "USS_Turret_1.visual", true),
            ("*Turret*.visual", "Turret.visual", true),
            ("*Turret*.visual", "Turret.visual.x", false),
            ("*ab*ba*", "aba", false),
            ("*ab*ba*", "abxba", true),
            ("ab*ba", "aba", false),
            ("ab*ba", "abba", true),
            ("*", "", true),
            ("", "", true),
            ("a", "ab", false),
            ("*b*", "b", true),
            ("a?c", "aüc", true),
            ("a?c", "auuc", false),
            ("[ä-ü]*", "öx", true),
            ("[]x]", "]", true),
            ("[!]x]", "]", false),
            ("[a-]", "-", true),
            ("**/c", "c", true),
            ("a/**/c", "a/c", true),
            ("a/**/c", "a/b/b/c", true),
            ("a/**/c", "ac", false),
            ("a/**", "a/b/c", true),
            ("a**c", "a/b/c", true),
            ("{b,**/a}", "x/a", true),
            ("{b,**/a}", "a", true),
            ("a.c+(d)", "a.c+(d)", true),
            ("a.c", "abc", false),
            ("a?c", "a/c", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("*.{dds,tga}", "a.tga", true),
            ("{a,b{c,d}}", "bd", true),
            ("[ab],c", "a,c", true),
            ("[ab],c", "a", false),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
            ("a\\*", "a\\*", false),
            ("a*b", "a\nb", true),
            ("[Main]", "[Main]", true),
            ("[Main]", "M", true),
            ("A*", "ab", false),
            ("items[12]*", "items[12].id", true),
            ("items[12]*", "items2.id", true),
            ("items[12]*", "items[1].id", false),
            ("items[1-2]*", "items[1].id", false),
        ] {
            assert_eq!(Glob::new(glob, false).unwrap().is_match(text), matches, "{glob} {text}");
        }
        for (glob, text, matches) in [
            ("[b-d]X", "Cx", true),
            ("[B-D]x", "cX", true),
            ("[!b-d]", "C", false),
            ("ü", "Ü", false),
            ("[Y-b]", "B", true),
            ("*.Visual", "A.VISUAL", true),
            ("uss*gun*9*", "USS_GUN_009x", true),
            ("uss*gun*9*", "USS_GU_009x", false),
            ("a*a", "A", false),
        ] {
            assert_eq!(Glob::new(glob, true).unwrap().is_match(text), matches, "{glob} {text}");
        }
        assert!(Glob::new("[Main]", true).unwrap().is_match("[main]"));
    }

    #[test]
    fn on_a_disk_only_two_stars_cross_folders() {
        for (glob, text, matches) in [
            ("*.wdb", "a.wdb", true),
            ("*.wdb", "x/a.wdb", false),
            ("*/a.wdb", "x/a.wdb", true),
            ("*/a.wdb", "x/y/a.wdb", false),
            ("**/a.wdb", "x/y/a.wdb", true),
            ("**/a.wdb", "a.wdb", true),
            ("**.wdb", "x/y/a.wdb", true),
            ("x/**", "x/y/a.wdb", true),
            ("x?a", "x/a", false),
            ("x[!b]a", "x/a", false),
            ("x[+-9]a", "x/a", false),
            ("x[+-9]a", "x5a", true),
            ("v[12]", "v[12]", true),
            ("v[12].wdb", "v1.wdb", true),
            ("{a,b/c}.wdb", "b/c.wdb", true),
        ] {
            assert_eq!(Glob::of_files(glob).unwrap().is_match(text), matches, "{glob} {text}");
        }
        let folders = |glob| Glob::of_files(glob).unwrap().folders();
        assert_eq!((folders("*.wdb"), folders("*/{a,b/c}"), folders("**/a")), (Some(0), Some(2), None));
    }

    #[test]
    fn a_glob_may_state_an_ending() {
        for (glob, expected) in [
            ("*.wdb", true),
            ("a/**/b.bin", true),
            ("*", false),
            ("a.b/*", false),
            ("a.*", false),
            ("*/c", false),
            ("{a,b}.bin", true),
            ("*.{bin,data}", true),
            ("{*.bin,c}", false),
            ("{*,a.bin}", false),
            ("{a.b,c.d}/e", false),
            ("*.b?n", true),
            ("*.[bB]in", true),
            ("a\\.b", true),
        ] {
            assert_eq!(Glob::of_files(glob).unwrap().has_ending(), expected, "{glob}");
        }
    }

    #[test]
    fn a_glob_with_a_fixed_beginning_has_a_hint() {
        let hint = "; a glob matches from the beginning to the end: '*ship/x.v*' matches anywhere";
        assert_eq!(
            (Glob::hint("ship/x.v*"), Glob::hint("*.visual"), Glob::hint("x")),
            (hint.into(), String::new(), String::new())
        );
        assert_eq!(Glob::hint("/content/*"), "; paths begin without a '/': 'content/*'");
    }

    #[test]
    fn smart_case_distinguishes_case_for_upper_case_letters_only() {
        for (glob, text, matches) in [
            ("*.visual", "A.Visual", true),
            ("*turret?", "USS_TURRET1", true),
            ("*.Visual", "a.visual", false),
            ("*[A-C]", "b", false),
            ("[main]", "[Main]", true),
        ] {
            assert_eq!(Glob::smart_case(glob).unwrap().is_match(text), matches, "{glob} {text}");
        }
    }

    #[test]
    fn a_glob_that_cannot_be_matched_is_an_error_and_no_panic() {
        let nested = |depth: usize| format!("{}a{}", "{".repeat(depth), "}".repeat(depth));
        assert!(Glob::new(&nested(DEEPEST), false).unwrap().is_match("a"));
        for glob in [
            nested(DEEPEST + 1),
            nested(126),
            "{".repeat(5000),
            "a".repeat(LONGEST + 1),
            "{a,b".to_owned(),
            "[a".to_owned(),
            "[z-a]".to_owned(),
            "\\".to_owned(),
            "a}".to_owned(),
        ] {
            let error = Glob::new(&glob, false).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Syntax { .. }), "{error}");
        }
        // A glob of the greatest length may have any number of the pieces that need memory.
        for piece in ["[!a]", "?", "*", "[!\u{10FFFF}]", "{a,b}", "**/"] {
            let _ = Glob::new(&piece.repeat(LONGEST / piece.len()), true);
        }
    }
}
