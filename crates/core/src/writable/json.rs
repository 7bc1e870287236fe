//! Nested values as JSON text.

use super::refused;
use crate::error::{Error, Result};
use crate::table::Value;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A JSON value with its members in order.
pub struct Tree(pub Value<'static>);

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Tree;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_bool<E>(self, v: bool) -> Result<Tree, E> {
                Ok(Tree(v.into()))
            }

            fn visit_i64<E>(self, v: i64) -> Result<Tree, E> {
                Ok(Tree(v.into()))
            }

            fn visit_u64<E>(self, v: u64) -> Result<Tree, E> {
                Ok(Tree(v.into()))
            }

            fn visit_f64<E>(self, v: f64) -> Result<Tree, E> {
                Ok(Tree(v.into()))
            }

            fn visit_str<E>(self, v: &str) -> Result<Tree, E> {
                Ok(Tree(Value::owned(v.to_owned())))
            }

            fn visit_string<E>(self, v: String) -> Result<Tree, E> {
                Ok(Tree(Value::owned(v)))
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
    serde_json::from_str(text).map(|Tree(value)| value).map_err(|e| wrong_json(e, 0))
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
