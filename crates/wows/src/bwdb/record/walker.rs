//! Leaves of records, and visits of them.

use super::types::Elements;
use crate::bytes::View;
use crate::error::Error;
use crate::id::{Id32, Id64};
use crate::table::Value;
use std::fmt;

/// The MurmurHash3 of a name; the text is in the database's string pool, if anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct NameId(pub u32);

/// The CityHash64 of a path: a reference to another resource. 0 refers to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PathId(pub u64);

macro_rules! ids {
    ($($id:ident($number:ty) as $shown:ident),+) => {$(
        impl From<$number> for $id {
            fn from(id: $number) -> Self {
                Self(id)
            }
        }

        impl From<$id> for $number {
            fn from(id: $id) -> Self {
                id.0
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $shown(self.0).fmt(f)
            }
        }
    )+};
}
ids!(NameId(u32) as Id32, PathId(u64) as Id64);

/// A leaf that a walk meets.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Leaf<'a> {
    /// A plain value, or a word of the reader's.
    Value(Value<'a>),
    Text(&'a str),
    Name(NameId),
    Path(PathId),
}

/// Visits the fields of a struct, with their nesting. Damage is reported in place, and the walk continues.
pub trait Walker<'a> {
    /// A field without parts.
    fn leaf(&mut self, name: &'static str, leaf: Leaf<'a>) {
        let _ = (name, leaf);
    }

    /// A struct begins; its fields follow.
    fn begin(&mut self, name: &'static str) {
        let _ = name;
    }

    /// The struct that began last ends.
    fn end(&mut self) {}

    /// A value of `size` bytes at the target of a pointer: it is walked next.
    fn target(&mut self, view: View<'a>, size: usize) {
        let _ = (view, size);
    }

    /// An array begins. With `true` its elements follow and then [`Walker::end_list`]; with `false` neither.
    fn begin_list(&mut self, name: &'static str, list: &Elements<'a>) -> bool;

    /// The array that began last ends.
    fn end_list(&mut self) {}

    /// A field that cannot be read.
    fn damage(&mut self, name: &'static str, error: Error);

    /// The fields of structs that are visited, with their targets.
    fn wanted(&self) -> Wanted {
        Wanted::All
    }
}

/// The fields of structs that a walker visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    All,
    /// Fields with texts or ids of texts, or with pointers to them.
    Texts,
    /// Fields with pointers. Other fields lie in their struct, so that they cannot be damaged.
    Pointers,
}

/// The texts that a value, or the data at its pointers, may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldTexts {
    /// Texts in the value's own database.
    pub own: bool,
    /// Ids of texts.
    pub by_id: bool,
}

impl HeldTexts {
    pub(in crate::bwdb) const NONE: Self = Self { own: false, by_id: false };
    pub(in crate::bwdb) const OWN: Self = Self { own: true, by_id: false };
    pub(in crate::bwdb) const BY_ID: Self = Self { own: false, by_id: true };

    /// The texts of two values together.
    pub(in crate::bwdb) const fn or(self, other: Self) -> Self {
        Self { own: self.own || other.own, by_id: self.by_id || other.by_id }
    }

    /// Whether there are any.
    pub(in crate::bwdb) const fn any(self) -> bool {
        self.own || self.by_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbers_and_shown_with_all_digits() {
        let (name, path) = (NameId::from(0x2A), PathId::from(0x2A));
        assert_eq!((u32::from(name), u64::from(path)), (0x2A, 0x2A));
        assert_eq!([name.to_string(), path.to_string()], ["0x0000002A", "0x000000000000002A"]);
    }
}
