//! Nested values as JSON text.

use super::refused;
use crate::bytes::without_bom;
use crate::error::{Error, Result};
use crate::table::Value;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A JSON value with its members in order.
struct Tree(Value<'static>);

macro_rules! leaves {
    ($($visit:ident: $type:ty,)+) => {$(
        fn $visit<E>(self, v: $type) -> Result<Tree, E> {
            Ok(Tree(v.into()))
        }
    )+};
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Tree;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            leaves! {
                visit_bool: bool,
                visit_i64: i64,
                visit_u64: u64,
                visit_f64: f64,
                visit_string: String,
            }

            fn visit_str<E>(self, v: &str) -> Result<Tree, E> {
                Ok(Tree(Value::owned(v.to_owned())))
            }

            fn visit_unit<E>(self) -> Result<Tree, E> {
                Ok(Tree(Value::Null))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree, A::Error> {
                let mut items = Vec::new();
                while let Some(Tree(item)) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Tree(Value::List(items)))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let mut parts: Vec<(Cow<'static, str>, Value<'static>)> = Vec::new();
                while let Some((name, Tree(part))) = map.next_entry::<String, Tree>()? {
                    parts.push((name.into(), part));
                }
                Ok(Tree(Value::Map(parts)))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// The value that `text` is as JSON, with members in order.
///
/// # Errors
/// `Syntax` with the place.
pub fn value(text: &str) -> Result<Value<'static>> {
    value_of(without_bom(text)).map_err(|e| wrong_json(e, 0))
}

/// As [`value`], with the parser's error. A whole number of more than 64 bits is a text of its digits: a float would lose
/// some of them, and columns of floats take their texts.
pub fn value_of(text: &str) -> serde_json::Result<Value<'static>> {
    serde_json::from_str(&with_long_numbers_quoted(text)).map(|Tree(value)| value)
}

fn with_long_numbers_quoted(text: &str) -> Cow<'_, str> {
    /// Whole numbers with fewer digits have 64 bits at most.
    const DIGITS: usize = 19;
    let mut runs = text.as_bytes().chunk_by(|a, b| a.is_ascii_digit() && b.is_ascii_digit());
    if !runs.any(|run| run.len() >= DIGITS) {
        return Cow::Borrowed(text);
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        let (before, token) = rest.split_at(at);
        quoted.push_str(before);
        let is_text = token.starts_with('"');
        let end = if is_text { end_of_text(token) } else { token.find(|c: char| !is_of_number(c)) };
        let (token, after) = token.split_at(end.unwrap_or(token.len()));
        let is_whole = !is_text && token.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit());
        if is_whole && token.len() >= DIGITS && token.parse::<u64>().is_err() && token.parse::<i64>().is_err() {
            quoted.extend(["\"", token, "\""]);
        } else {
            quoted.push_str(token);
        }
        rest = after;
    }
    quoted.push_str(rest);
    Cow::Owned(quoted)
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E')
}

/// The end of a text in quotes.
fn end_of_text(token: &str) -> Option<usize> {
    let mut is_escaped = false;
    let close = token.bytes().enumerate().skip(1).find(|(_, b)| {
        let is_end = *b == b'"' && !is_escaped;
        is_escaped = *b == b'\\' && !is_escaped;
        is_end
    });
    close.map(|(at, _)| at + 1)
}

pub fn wrong_json(error: serde_json::Error, line: u64) -> Error {
    if error.is_io() {
        return Error::io("cannot read", error.into());
    }
    match line {
        0 => refused(format!("no JSON: {error}")),
        line => refused(format!("line {line}: no JSON: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_beyond_64_bits_keep_their_digits() {
        let all = r#"["x \" 18446744073709551616", 18446744073709551615, -9223372036854775808, 18446744073709551616,
            -9223372036854775809, 18446744073709551616.5, 1e30, {"\\": 99999999999999999999}]"#;
        let Value::List(all) = value(all).unwrap() else { panic!("a list") };
        let beyond = |at: usize| all[at].as_text().unwrap().into_owned();
        assert_eq!(beyond(0), "x \" 18446744073709551616");
        assert_eq!((&all[1], &all[2]), (&Value::Uint(u64::MAX), &Value::Int(i64::MIN)));
        assert_eq!((beyond(3), beyond(4)), ("18446744073709551616".into(), "-9223372036854775809".into()));
        assert_eq!((&all[5], &all[6]), (&Value::F64(18446744073709551616.5), &Value::F64(1e30)));
        assert_eq!(all[7], Value::Map(vec![("\\".into(), "99999999999999999999".into())]));
    }
}
