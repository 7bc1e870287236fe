//! Shapes of nested values.

use super::Kind;
use super::Value;
use std::borrow::Cow;

/// The shape of a nested value. Any part may be null besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueShape {
    /// A value of this kind, which is not nested.
    Value {
        kind: Kind,
        /// Whether an unsigned integer may need all 64 bits.
        wide: bool,
    },
    /// A list of items of one shape.
    List(Box<ValueShape>),
    /// Values with names. A map may lack some of them.
    Map(Vec<(Cow<'static, str>, ValueShape)>),
}

impl ValueShape {
    pub const fn of(kind: Kind) -> Self {
        Self::Value { kind, wide: false }
    }

    /// A list of items of the shape `item`.
    pub fn list(item: Self) -> Self {
        Self::List(Box::new(item))
    }

    /// An id and its text, which is called `text` or `path`.
    pub fn reference(kind: Kind, text: &'static str) -> Self {
        Self::Map(vec![("id".into(), Self::of(kind)), (text.into(), Self::of(Kind::Text))])
    }
}

/// The value called `name` among the values of a map: most often the one at the same place as in the shape.
pub fn member<'v, 'a>(map: &'v [(Cow<'a, str>, Value<'a>)], place: usize, name: &str) -> Option<&'v Value<'a>> {
    let here = map.get(place).filter(|(other, _)| other == name);
    here.or_else(|| map.iter().find(|(other, _)| other == name)).map(|(_, value)| value)
}
