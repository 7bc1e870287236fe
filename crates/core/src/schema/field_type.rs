//! The types that fields of declared records can have.

use crate::bytes::{Overlay, View};
use crate::error::Result;
use crate::id::{Id32, Id64};
use crate::table::{Accepts, Column, Kind, Value};
use zerocopy::{ByteOrder, F32, F64, I16, I32, I64, IntoBytes, U16, U32, U64};

/// Shows a field as its own type.
#[derive(Debug)]
pub enum Stored {}

/// A type of fields, shown as `S`: [`Stored`], `bool`, `str`, [`Id32`] or [`Id64`].
pub trait FieldType<S: ?Sized>: Overlay + IntoBytes {
    /// The kind of its values.
    const KIND: Kind;
    /// The values that it can store.
    const ACCEPTS: Accepts = Accepts::Any;

    /// A column of its values.
    fn column(name: &'static str) -> Column {
        Column::new(name, Self::KIND)
    }

    /// Its value; `view` is its position.
    ///
    /// # Errors
    /// `Text` for a text that is not UTF-8.
    fn value<'a>(&'a self, view: View<'a>) -> Result<Value<'a>>;

    /// The field that stores `value`; `None` if it does not fit.
    fn from_value(value: &Value<'_>) -> Option<Self>
    where
        Self: Sized;
}

macro_rules! numbers {
    ($($type:ident $(as $shown:ty)?: $kind:ident, $accepts:expr;)+) => {$(
        impl<O: ByteOrder + 'static> FieldType<$crate::schema!(@shown $($shown)?)> for $type<O> {
            const KIND: Kind = Kind::$kind;
            const ACCEPTS: Accepts = $accepts;

            fn value<'a>(&'a self, _: View<'a>) -> Result<Value<'a>> {
                Ok(Value::$kind(self.get().into()))
            }

            fn from_value(value: &Value<'_>) -> Option<Self> {
                let Value::$kind(number) = value else { return None };
                (*number).try_into().ok().map(Self::new)
            }
        }
    )+};
}

numbers! {
    U16: Uint, Accepts::Bits(16);
    U32: Uint, Accepts::Bits(32);
    U64: Uint, Accepts::Any;
    I16: Int, Accepts::Bits(16);
    I32: Int, Accepts::Bits(32);
    I64: Int, Accepts::Any;
    F32: F32, Accepts::Any;
    F64: F64, Accepts::Any;
    U32 as Id32: Id32, Accepts::Any;
    U64 as Id64: Id64, Accepts::Any;
}

impl FieldType<Stored> for u8 {
    const KIND: Kind = Kind::Uint;
    const ACCEPTS: Accepts = Accepts::Bits(8);

    fn value<'a>(&'a self, _: View<'a>) -> Result<Value<'a>> {
        Ok((*self).into())
    }

    fn from_value(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Uint(number) => (*number).try_into().ok(),
            _ => None,
        }
    }
}

/// Any number but 0 is true.
impl FieldType<bool> for u8 {
    const KIND: Kind = Kind::Bool;

    fn value<'a>(&'a self, _: View<'a>) -> Result<Value<'a>> {
        Ok((*self != 0).into())
    }

    fn from_value(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Bool(truth) => Some((*truth).into()),
            _ => None,
        }
    }
}

/// Bytes, such as a magic.
impl<const N: usize> FieldType<Stored> for [u8; N] {
    const KIND: Kind = Kind::Nested;

    fn column(name: &'static str) -> Column {
        Column::numbers(name)
    }

    fn value<'a>(&'a self, _: View<'a>) -> Result<Value<'a>> {
        Ok(Value::List(self.iter().map(|byte| (*byte).into()).collect()))
    }

    fn from_value(value: &Value<'_>) -> Option<Self> {
        let Value::List(items) = value else { return None };
        let bytes: Option<Vec<u8>> = items.iter().map(<u8 as FieldType<Stored>>::from_value).collect();
        bytes?.try_into().ok()
    }
}

/// A text in UTF-8, padded with NULs.
impl<const N: usize> FieldType<str> for [u8; N] {
    const KIND: Kind = Kind::Text;
    #[expect(clippy::cast_possible_truncation, reason = "no field has 4 GiB")]
    const ACCEPTS: Accepts = Accepts::Bytes(N as u32);

    fn value<'a>(&'a self, view: View<'a>) -> Result<Value<'a>> {
        let end = memchr::memchr(0, self).unwrap_or(N);
        Ok(Value::text(view.utf8(view.take(end)?)?))
    }

    fn from_value(value: &Value<'_>) -> Option<Self> {
        let text = value.as_text().filter(|text| !text.contains('\0'))?;
        let mut bytes = [0; N];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(bytes)
    }
}

impl<O: ByteOrder + 'static, const N: usize> FieldType<Stored> for [F32<O>; N] {
    const KIND: Kind = Kind::Nested;
    #[expect(clippy::cast_possible_truncation, reason = "a matrix has 16 numbers")]
    const ACCEPTS: Accepts = Accepts::Numbers(N as u8);

    fn column(name: &'static str) -> Column {
        Column::floats(name)
    }

    fn value<'a>(&'a self, _: View<'a>) -> Result<Value<'a>> {
        Ok(Value::floats(self.map(|number| number.get())))
    }

    fn from_value(value: &Value<'_>) -> Option<Self> {
        let Value::List(items) = value else { return None };
        let numbers: Option<Vec<F32<O>>> = items.iter().map(F32::from_value).collect();
        numbers?.try_into().ok()
    }
}
