//! Where one statement ends and the next one begins.

use super::names::is_one_of;

/// A statement and its place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement<'t> {
    /// The statement's text, up to its `;`.
    pub text: &'t str,
    /// The byte at which it begins.
    pub start: usize,
    /// Whether it ends with a `;`.
    pub ended: bool,
}

impl Statement<'_> {
    /// Whether the first word allows the statement to query rows, to change rows, or to control a transaction. The words of
    /// statements that change anything else, such as DROP and REINDEX, are not in the list.
    pub fn is_query_or_edit(&self) -> bool {
        const WORDS: &str =
            "BEGIN COMMIT DELETE END INSERT RELEASE REPLACE ROLLBACK SAVEPOINT SELECT UPDATE VALUES WITH";
        let rest = after_blanks(self.text);
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        is_one_of(WORDS, &rest[..end])
    }
}

/// The statements of `text`. Semicolons in quotes and comments are part of them; empty ones are left out.
pub fn statements(text: &str) -> impl Iterator<Item = Statement<'_>> {
    let mut start = 0usize;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
            let (length, ended) = end_of_statement(rest);
            let statement = Statement { text: &rest[..length], start, ended };
            start += length;
            if !after_blanks(statement.text).is_empty() {
                return Some(statement);
            }
        }
    })
}

/// Whether every statement of `text` ends with a `;`, so that a prompt need not wait for more.
pub fn is_complete(text: &str) -> bool {
    statements(text).last().is_none_or(|last| last.ended)
}

/// `text` without leading space, comments and semicolons.
fn after_blanks(mut text: &str) -> &str {
    while let Some(c) = text.chars().next() {
        let skipped = match skip(text) {
            Some((length, Skipped::Comment)) => length,
            _ if c.is_whitespace() || c == ';' => c.len_utf8(),
            _ => break,
        };
        text = &text[skipped..];
    }
    text
}

/// The length of the first statement with its `;`, and whether it has one.
fn end_of_statement(text: &str) -> (usize, bool) {
    let mut at = 0usize;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        match skip(rest) {
            Some((length, Skipped::Open)) => return (at + length, false),
            Some((length, _)) => at += length,
            None => {
                at += rest.chars().next().map_or(1, char::len_utf8);
                if rest.starts_with(';') {
                    return (at, true);
                }
            }
        }
    }
    (text.len(), false)
}

#[derive(Debug, PartialEq)]
pub(super) enum Skipped {
    Quoted,
    Comment,
    /// A quote or a comment that does not end.
    Open,
}

/// The length of the quoted text or the comment that `text` begins with.
pub(super) fn skip(text: &str) -> Option<(usize, Skipped)> {
    let (open, close, kind) = match text.as_bytes() {
        [b'\'', ..] => (1, "'", Skipped::Quoted),
        [b'"', ..] => (1, "\"", Skipped::Quoted),
        [b'`', ..] => (1, "`", Skipped::Quoted),
        [b'[', ..] => (1, "]", Skipped::Quoted),
        [b'-', b'-', ..] => (2, "\n", Skipped::Comment),
        [b'/', b'*', ..] => (2, "*/", Skipped::Comment),
        _ => return None,
    };
    let inner = &text[open..];
    match inner.find(close) {
        // A doubled quote begins the next piece at once, which amounts to the same.
        Some(length) => Some((length + open + close.len(), kind)),
        // SQLite ends comments where the text ends.
        None if kind == Skipped::Comment && close == "\n" => Some((text.len(), kind)),
        None => Some((text.len(), Skipped::Open)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        statements(text).map(|s| s.text.trim()).collect()
    }

    #[test]
    fn statements_end_at_semicolons_that_are_their_own() {
        assert_eq!(texts("SELECT 1; SELECT ';' ;"), ["SELECT 1;", "SELECT ';' ;"]);
        assert_eq!(texts("SELECT \"a;\"\"b\", [c;], `d;` -- e;\n;"), ["SELECT \"a;\"\"b\", [c;], `d;` -- e;\n;"]);
        assert_eq!(texts("/* ; */ SELECT 'it''s;'; ;; -- nothing"), ["/* ; */ SELECT 'it''s;';"]);
        assert_eq!(texts(" ;\n -- a\n"), [""; 0]);
    }

    #[test]
    fn a_prompt_waits_for_the_end() {
        for (text, complete) in [
            ("SELECT 1", false),
            ("SELECT 1;", true),
            ("SELECT 1; -- done", true),
            ("SELECT ';", false),
            ("SELECT 1; SELECT", false),
            ("SELECT 1; /*", false),
            ("", true),
        ] {
            assert_eq!(is_complete(text), complete, "{text}");
        }
    }

    #[test]
    fn places_are_those_in_the_whole_text() {
        let text = "SELECT 1;\nSELECT 2";
        let second = statements(text).nth(1).unwrap();
        assert_eq!((&text[second.start..], second.ended), (second.text, false));
    }
}
