//! The words of a statement, with their places in its text.

use std::ops::Range;

/// A word of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name without quotes, which may be a keyword.
    Word(String),
    /// A name in quotes.
    Name(String),
    Text(String),
    Integer(i64),
    Real(f64),
    /// An operator, a bracket or a comma.
    Sign(&'static str),
}

/// A word and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) at: Range<usize>,
}

impl Placed {
    pub(super) fn is_sign(&self, sign: &str) -> bool {
        matches!(&self.token, Token::Sign(own) if *own == sign)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(&self.token, Token::Word(own) if own.eq_ignore_ascii_case(word))
    }

    /// The name that this may be, with or without quotes.
    pub(super) fn name(&self) -> Option<&str> {
        match &self.token {
            Token::Word(name) | Token::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// Operators and other signs, the longer ones first.
const SIGNS: [&str; 25] = [
    "->>", "||", "<<", ">>", "<=", ">=", "==", "!=", "<>", "->", "(", ")", ",", ".", "=", "<", ">", "+", "-", "*", "/",
    "%", "&", "|", "~",
];

/// The words of `text`. `None` if something in it is not known here, such as parameters and blobs.
pub(super) fn tokens(text: &str) -> Option<Vec<Placed>> {
    let mut tokens = Vec::new();
    let mut at = 0usize;
    while let Some(c) = text.get(at..)?.chars().next() {
        let rest = text.get(at..)?;
        let (token, length) = match c {
            _ if c.is_ascii_whitespace() => (None, 1),
            '-' if rest.starts_with("--") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (None, rest.find("*/")?.checked_add(2)?),
            ';' => (None, 1),
            '\'' => quoted(rest, '\'').map(|(text, length)| (Some(Token::Text(text)), length))?,
            '"' | '`' => quoted(rest, c).map(|(name, length)| (Some(Token::Name(name)), length))?,
            '[' => {
                let end = rest.find(']')?;
                (Some(Token::Name(rest.get(1..end)?.to_owned())), end.checked_add(1)?)
            }
            '0'..='9' => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_').unwrap_or(rest.len());
                let number = rest.get(..end)?;
                let is_real = number.contains('.');
                let plain = number.chars().all(|c| c.is_ascii_digit() || c == '.');
                let token = match (plain, is_real) {
                    (true, false) => Token::Integer(number.parse().ok()?),
                    (true, true) => Token::Real(number.parse().ok()?),
                    (false, _) => return None,
                };
                (Some(token), end)
            }
            _ if c.is_alphabetic() || c == '_' || !c.is_ascii() => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
                let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
                // A blob is written as x'…'.
                if rest.get(end..)?.starts_with('\'') {
                    return None;
                }
                (Some(Token::Word(rest.get(..end)?.to_owned())), end)
            }
            _ => {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
                (Some(Token::Sign(sign)), sign.len())
            }
        };
        let end = at.checked_add(length)?;
        tokens.extend(token.map(|token| Placed { token, at: at..end }));
        at = end;
    }
    Some(tokens)
}

/// The text in the quotes that `rest` begins with, and its length with them. A doubled quote stands for itself.
fn quoted(rest: &str, quote: char) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return Some((text, at.checked_add(1)?));
        }
        text.push(c);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_their_places() {
        let text = "SELECT \"a\"\"b\", 'it''s' -- c\n FROM [x y] WHERE n>=-1.5";
        let tokens = tokens(text).unwrap();
        let places: Vec<&str> = tokens.iter().map(|token| &text[token.at.clone()]).collect();
        let expected = ["SELECT", "\"a\"\"b\"", ",", "'it''s'", "FROM", "[x y]", "WHERE", "n", ">=", "-", "1.5"];
        assert_eq!(places, expected);
        assert_eq!((tokens[1].name(), &tokens[3].token), (Some("a\"b"), &Token::Text("it's".to_owned())));
        for other in ["SELECT ?1", "SELECT x'00'", "SELECT 1e5", "SELECT 'open", "SELECT 0x10", "SELECT :a"] {
            assert_eq!(super::tokens(other), None, "{other}");
        }
    }
}
