//! Plain cells, which pass from a field of a file to a typed output without a [`Value`].

use super::Value;
use crate::error::Result;
use crate::id::{Id32, Id64};
use std::borrow::Cow;

/// A consumer of the cells of a column, one after another. Each method appends one cell. All of them fail if the cell does not fit
/// into the column.
pub trait CellSink {
    fn value(&mut self, cell: &Value<'_>) -> Result<()>;

    /// Appends an unsigned integer.
    fn uint(&mut self, number: u64) -> Result<()>;

    /// Appends a single-precision float.
    fn f32(&mut self, number: f32) -> Result<()>;

    fn text(&mut self, text: &str) -> Result<()>;

    /// Appends a text in two parts.
    fn joined(&mut self, start: &str, end: &str) -> Result<()>;

    /// Appends an id of 64 bits.
    fn id64(&mut self, id: Id64) -> Result<()>;

    /// Appends an id of 32 bits.
    fn id32(&mut self, id: Id32) -> Result<()>;
}

/// A cell of one kind, or null.
pub trait PlainCell<'a>: Into<Value<'a>> {
    fn put(self, sink: &mut dyn CellSink) -> Result<()>;
}

macro_rules! plain_cells {
    ($($of:ty: $take:ident $(as $wide:ty)?;)+) => {$(
        impl<'a> PlainCell<'a> for $of {
            #[inline]
            fn put(self, sink: &mut dyn CellSink) -> Result<()> {
                sink.$take(self $(as $wide)?)
            }
        }
    )+};
}
plain_cells! {
    u16: uint as u64;
    u32: uint as u64;
    u64: uint;
    usize: uint as u64;
    f32: f32;
    &'a str: text;
    Id64: id64;
    Id32: id32;
}

impl<'a> PlainCell<'a> for Cow<'a, str> {
    #[inline]
    fn put(self, sink: &mut dyn CellSink) -> Result<()> {
        sink.text(&self)
    }
}

impl<'a, T: PlainCell<'a>> PlainCell<'a> for Option<T> {
    #[inline]
    fn put(self, sink: &mut dyn CellSink) -> Result<()> {
        match self {
            Some(cell) => cell.put(sink),
            None => sink.value(&Value::Null),
        }
    }
}

impl<'a> From<Cow<'a, str>> for Value<'a> {
    #[inline]
    fn from(text: Cow<'a, str>) -> Self {
        Self::Text(text)
    }
}

impl From<Id64> for Value<'_> {
    #[inline]
    fn from(id: Id64) -> Self {
        Self::Id64(id.0)
    }
}

impl From<Id32> for Value<'_> {
    #[inline]
    fn from(id: Id32) -> Self {
        Self::Id32(id.0)
    }
}
