//! The fields without parts.

use super::Typed;
use super::types::{Type, TypeKind};
use super::walker::{Leaf, NameId, PathId};
use crate::bytes::{View, le};
use crate::error::Result;
use crate::packed_string::PackedString;
use crate::table::{Kind, Value};

/// A byte that is a truth value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag(pub bool);

/// A packed string (0x10 bytes) in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a>(pub &'a str);

/// A value that exists, but that no reader lays out.
#[derive(Debug, Clone, Copy)]
pub struct NotLaidOut;

/// A reference to a resource by name, in an action: a packed string, whose text may follow it directly. Only where it is
/// none, its first eight bytes are a pointer to a text whose length nothing states, relative to eight bytes before the
/// reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceRef<'a>(pub &'a str);

macro_rules! leaves {
    ($($kind:ident $name:literal $type:ty, $size:expr, $shown:ident, |$view:ident, $value:pat_param| $read:expr, $leaf:expr;)+) => {$(
        impl<'a> Typed<'a> for $type {
            const OF: &'static Type = &Type::leaf($name, $size, TypeKind::$kind, Kind::$shown, |$view| {
                let $value = $read;
                Ok($leaf)
            });

            #[inline]
            fn read($view: View<'a>) -> Result<Self> {
                Ok($read)
            }
        }
    )+};
}

fn plain<'a>(value: impl Into<Value<'a>>) -> Leaf<'a> {
    Leaf::Value(value.into())
}

fn floats<const N: usize>(view: View<'_>) -> Result<[f32; N]>
where
    [le::F32; N]: crate::bytes::Overlay,
{
    Ok(view.read::<[le::F32; N]>()?.map(|number| number.get()))
}

leaves! {
    U8 "u8" u8, 1, Uint, |view, number| *view.read::<u8>()?, plain(number);
    U16 "u16" u16, 2, Uint, |view, number| view.read::<le::U16>()?.get(), plain(number);
    I16 "i16" i16, 2, Int, |view, number| view.read::<le::I16>()?.get(), plain(number);
    U32 "u32" u32, 4, Uint, |view, number| view.read::<le::U32>()?.get(), plain(number);
    I32 "i32" i32, 4, Int, |view, number| view.read::<le::I32>()?.get(), plain(number);
    U64 "u64" u64, 8, Uint, |view, number| view.read::<le::U64>()?.get(), plain(number);
    F32 "f32" f32, 4, F32, |view, number| view.read::<le::F32>()?.get(), plain(number);
    F32x2 "f32x2" [f32; 2], 8, Nested, |view, numbers| floats::<2>(view)?, Leaf::Value(Value::floats(numbers));
    F32x3 "f32x3" [f32; 3], 12, Nested, |view, numbers| floats::<3>(view)?, Leaf::Value(Value::floats(numbers));
    F32x4 "f32x4" [f32; 4], 16, Nested, |view, numbers| floats::<4>(view)?, Leaf::Value(Value::floats(numbers));
    F32x16 "f32x16" [f32; 16], 64, Nested, |view, numbers| floats::<16>(view)?, Leaf::Value(Value::floats(numbers));
    Flag "flag" Flag, 1, Bool, |view, Flag(flag)| Flag(*view.read::<u8>()? != 0), plain(flag);
    Name "name" NameId, 4, Id32, |view, id| NameId(view.read::<le::U32>()?.get()), Leaf::Name(id);
    Path "path" PathId, 8, Id64, |view, id| PathId(view.read::<le::U64>()?.get()), Leaf::Path(id);
    Text "text" Text<'a>, 0x10, Text, |view, Text(text)| Text(PackedString::text_at(&view)?), Leaf::Text(text);
    Resource "ResourceRef" ResourceRef<'a>, 0x10, Text,
        |view, ResourceRef(text)| ResourceRef(view.utf8(resource_bytes(view)?)?), Leaf::Text(text);
    Parts "-" NotLaidOut, 0, Any, |_view, _| NotLaidOut, plain("layout not known");
}

pub(super) fn text_bytes(kind: TypeKind, view: View<'_>) -> Option<Result<&[u8]>> {
    match kind {
        TypeKind::Text => Some(PackedString::bytes_at(&view)),
        TypeKind::Resource => Some(resource_bytes(view)),
        _ => None,
    }
}

/// The longest text that a [`ResourceRef`] without a length may have.
const LONGEST: usize = 1024;

fn resource_bytes(view: View<'_>) -> Result<&[u8]> {
    let error = match view.skip(4).read::<le::U32>()?.get() {
        0 => match PackedString::bytes_at(&view) {
            Ok(text) => return Ok(text),
            Err(error) => error,
        },
        upper => view.skip(4).bad_value("upper half of the length of a text", upper),
    };
    // Any eight bytes lead somewhere: taken only where a text for people to read lies there.
    without_length(view).ok_or(error)
}

fn without_length(view: View<'_>) -> Option<&[u8]> {
    let pointer = view.read::<le::I64>().ok()?.get().checked_sub(8)?;
    let target = view.follow(pointer).ok()?;
    let inside = view.position()..view.position().saturating_add(ResourceRef::SIZE);
    if inside.contains(&target.position()) {
        return None;
    }
    let rest = target.rest();
    let text = rest.get(..rest.len().min(LONGEST))?;
    let text = text.get(..memchr::memchr(0, text)?)?;
    let printable = text.iter().all(|b| b.is_ascii_graphic() || *b == b' ');
    (printable && !text.is_empty()).then_some(text)
}
