//! Reads conditions as people write them.

use super::condition::{Filter, Literal, Op, syntax};
use super::number::number;
use crate::error::{Error, Result};
use crate::id;

/// Deepest nesting of parentheses and `not`: reading is recursive.
const MAX_DEPTH: u32 = 64;

/// The limit on comparisons: each row may be compared with each of them.
const MAX_COMPARISONS: usize = 1000;

const OPERATORS: &str = "= != < <= > >= ~ !~, or like, glob, in, between, is null";

#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// A bare word: a column or one of the language's own words.
    Word(String),
    /// A text in double quotes or backticks: a column before an operator, text after it.
    Quoted(String),
    /// A text in single quotes.
    Text(String),
    Number(String),
    Op(Op),
    Open,
    Close,
    Comma,
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Word(text) | Self::Number(text) => f.write_str(text),
            Self::Quoted(text) => write!(f, "\"{text}\""),
            Self::Text(text) => write!(f, "'{text}'"),
            Self::Op(_) => f.write_str("an operator"),
            Self::Open => f.write_str("("),
            Self::Close => f.write_str(")"),
            Self::Comma => f.write_str(","),
        }
    }
}

pub(super) fn parse(text: &str) -> Result<Filter> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: tokens.into_iter().peekable(), end: text.chars().count(), comparisons: 0 };
    let filter = parser.any_of(0)?;
    match parser.tokens.next() {
        None => Ok(filter),
        Some((at, token)) => Err(wrong(at, format!("{token} comes where 'and', 'or' or the end should"))),
    }
}

/// An error at the character with this number.
#[cold]
fn wrong(at: usize, what: impl std::fmt::Display) -> Error {
    syntax(format!("{what} (at character {})", at + 1))
}

struct Parser {
    tokens: std::iter::Peekable<std::vec::IntoIter<(usize, Token)>>,
    end: usize,
    /// Values that a column is compared with, so far.
    comparisons: usize,
}

impl Parser {
    fn at(&mut self) -> usize {
        self.tokens.peek().map_or(self.end, |(at, _)| *at)
    }

    /// Takes the next token when it is this word.
    fn word(&mut self, word: &str) -> bool {
        let found = self.tokens.next_if(|(_, token)| matches!(token, Token::Word(w) if w.eq_ignore_ascii_case(word)));
        found.is_some()
    }

    fn any_of(&mut self, depth: u32) -> Result<Filter> {
        self.joined("or", Filter::Or, |parser| parser.all_of(depth))
    }

    fn all_of(&mut self, depth: u32) -> Result<Filter> {
        self.joined("and", Filter::And, |parser| parser.one(depth))
    }

    /// One part, or several with `word` between them.
    fn joined(
        &mut self,
        word: &str,
        join: impl Fn(Vec<Filter>) -> Filter,
        part: impl Fn(&mut Self) -> Result<Filter>,
    ) -> Result<Filter> {
        let first = part(self)?;
        if !self.word(word) {
            return Ok(first);
        }
        let mut parts = vec![first, part(self)?];
        while self.word(word) {
            parts.push(part(self)?);
        }
        Ok(join(parts))
    }

    fn one(&mut self, depth: u32) -> Result<Filter> {
        let at = self.at();
        if depth >= MAX_DEPTH {
            return Err(wrong(at, "nested too deeply"));
        }
        let deeper = depth + 1;
        if self.word("not") {
            return Ok(Filter::Not(Box::new(self.one(deeper)?)));
        }
        match self.tokens.next() {
            Some((_, Token::Open)) => {
                let inner = self.any_of(deeper)?;
                match self.tokens.next() {
                    Some((_, Token::Close)) => Ok(inner),
                    _ => Err(wrong(at, "this parenthesis is not closed")),
                }
            }
            Some((_, Token::Word(column) | Token::Quoted(column))) => self.comparison(column),
            Some((at, token)) => Err(wrong(at, format!("a column is needed, not {token}"))),
            None => Err(wrong(at, "a column is needed")),
        }
    }

    /// The rest of a comparison after its column: an operator with a value, or one of SQL's tests.
    fn comparison(&mut self, column: String) -> Result<Filter> {
        let at = self.at();
        if self.word("is") {
            let op = if self.word("not") { Op::Ne } else { Op::Eq };
            let at = self.at();
            return match self.literal()? {
                Literal::Null => Ok(compare(&column, op, Literal::Null)),
                _ => Err(wrong(at, "null is needed after 'is'; other values are compared by = and !=")),
            };
        }
        let negated = self.word("not");
        let filter = if self.word("like") {
            compare(&column, Op::Like, self.literal()?)
        } else if self.word("glob") {
            compare(&column, Op::SqlGlob, self.literal()?)
        } else if self.word("between") {
            let low = compare(&column, Op::Ge, self.literal()?);
            let at = self.at();
            if !self.word("and") {
                return Err(wrong(at, "'and' is needed between the two values"));
            }
            Filter::And(vec![low, compare(&column, Op::Le, self.literal()?)])
        } else if self.word("in") {
            Filter::Or(self.list()?.into_iter().map(|literal| compare(&column, Op::Eq, literal)).collect())
        } else {
            match self.tokens.next() {
                Some((_, Token::Op(op))) if !negated => compare(&column, op, self.literal()?),
                _ => return Err(wrong(at, format!("an operator is needed after {column}: {OPERATORS}"))),
            }
        };
        Ok(if negated { Filter::Not(Box::new(filter)) } else { filter })
    }

    /// The values of `in (…)`.
    fn list(&mut self) -> Result<Vec<Literal>> {
        let at = self.at();
        let mut literals = Vec::new();
        let mut before = Token::Open;
        loop {
            match self.tokens.next() {
                Some((_, token)) if token == before => match (self.at(), self.literal()?) {
                    (at, Literal::Null) => return Err(wrong(at, "no value equals null; use 'is null'")),
                    (_, literal) => literals.push(literal),
                },
                Some((_, Token::Close)) if !literals.is_empty() => return Ok(literals),
                _ => return Err(wrong(at, "values in parentheses, with commas between them, are needed after 'in'")),
            }
            before = Token::Comma;
        }
    }

    fn literal(&mut self) -> Result<Literal> {
        let at = self.at();
        self.comparisons += 1;
        if self.comparisons > MAX_COMPARISONS {
            return Err(wrong(
                at,
                format!("more than {MAX_COMPARISONS} comparisons; IN (…) in `assetq sql` takes more"),
            ));
        }
        Ok(match self.tokens.next() {
            Some((_, Token::Number(text) | Token::Text(text) | Token::Quoted(text))) => Literal::Text(text),
            Some((_, Token::Word(word))) => match &*word.to_ascii_lowercase() {
                "null" => Literal::Null,
                "true" => Literal::Bool(true),
                "false" => Literal::Bool(false),
                // Of 16 digits the first may be a letter.
                _ if id::parse(&word).is_some() => Literal::Text(word),
                _ => return Err(wrong(at, format!("text goes in quotes: '{word}'"))),
            },
            _ => return Err(wrong(at, "a value is needed after the operator")),
        })
    }
}

fn compare(column: &str, op: Op, literal: Literal) -> Filter {
    Filter::Compare { column: column.to_owned(), op, literal }
}

/// The tokens and the number of the character at which each begins.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>> {
    let mut tokens = Vec::new();
    let mut chars = (0..).zip(text.chars()).peekable();
    while let Some((at, c)) = chars.next() {
        let token = match c {
            c if c.is_whitespace() => continue,
            '(' => Token::Open,
            ')' => Token::Close,
            ',' => Token::Comma,
            '~' => Token::Op(Op::Glob),
            '=' => {
                follows(&mut chars, '=');
                Token::Op(Op::Eq)
            }
            '!' if follows(&mut chars, '=') => Token::Op(Op::Ne),
            '!' if follows(&mut chars, '~') => Token::Op(Op::NotGlob),
            '<' if follows(&mut chars, '=') => Token::Op(Op::Le),
            '<' if follows(&mut chars, '>') => Token::Op(Op::Ne),
            '<' => Token::Op(Op::Lt),
            '>' if follows(&mut chars, '=') => Token::Op(Op::Ge),
            '>' => Token::Op(Op::Gt),
            quote @ ('\'' | '"' | '`') => {
                let mut inner = String::new();
                loop {
                    match chars.next() {
                        Some((_, c)) if c != quote => inner.push(c),
                        Some(_) if follows(&mut chars, quote) => inner.push(quote),
                        Some(_) => break,
                        None => return Err(wrong(at, "this quote is not closed")),
                    }
                }
                if quote == '\'' { Token::Text(inner) } else { Token::Quoted(inner) }
            }
            first if first.is_alphanumeric() || "_-+.$#".contains(first) => {
                let mut word = String::from(first);
                while let Some((_, c)) = chars.next_if(|(_, c)| c.is_alphanumeric() || "_-+.$#".contains(*c)) {
                    word.push(c);
                }
                if first.is_ascii_digit() || "-+.".contains(first) {
                    if number(&word).is_none() && id::parse(&word).is_none() {
                        return Err(wrong(at, format!("{word} is not a number; text goes in quotes")));
                    }
                    Token::Number(word)
                } else {
                    Token::Word(word)
                }
            }
            other => return Err(wrong(at, format!("{other} means nothing here"))),
        };
        tokens.push((at, token));
    }
    Ok(tokens)
}

/// Takes the next character if it is `wanted`.
fn follows(chars: &mut std::iter::Peekable<impl Iterator<Item = (usize, char)>>, wanted: char) -> bool {
    chars.next_if(|(_, c)| *c == wanted).is_some()
}
