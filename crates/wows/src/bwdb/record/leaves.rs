//! The fields without parts.

use super::Field;
use super::types::{FieldType, Type};
use super::walker::{Leaf, NameId, PathId};
use crate::bytes::{View, le};
use crate::error::Result;
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
    ($($kind:ident $name:literal $type:ty, $size:expr, $shown:ident, |$view:ident| $read:expr, $leaf:expr;)+) => {$(
        impl<'a> Field<'a> for $type {
            const OF: &'static Type =
                &Type::leaf($name, $size, FieldType::$kind, Kind::$shown, |$view| Ok($leaf($read)));

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

fn vector<'a, const N: usize>(floats: [f32; N]) -> Leaf<'a> {
    Leaf::Value(Value::floats(floats))
}

fn flag(flag: Flag) -> Leaf<'static> {
    plain(flag.0)
}

fn text(text: Text<'_>) -> Leaf<'_> {
    Leaf::Text(text.0)
}

fn resource(text: ResourceRef<'_>) -> Leaf<'_> {
    Leaf::Text(text.0)
}

fn unknown(_: NotLaidOut) -> Leaf<'static> {
    plain("layout not known")
}

fn floats<const N: usize>(view: View<'_>) -> Result<[f32; N]>
where
    [le::F32; N]: crate::bytes::Overlay,
{
    Ok(view.read::<[le::F32; N]>()?.map(|number| number.get()))
}

leaves! {
    U8 "u8" u8, 1, Uint, |view| *view.read::<u8>()?, plain;
    U16 "u16" u16, 2, Uint, |view| view.read::<le::U16>()?.get(), plain;
    I16 "i16" i16, 2, Int, |view| view.read::<le::I16>()?.get(), plain;
    U32 "u32" u32, 4, Uint, |view| view.read::<le::U32>()?.get(), plain;
    I32 "i32" i32, 4, Int, |view| view.read::<le::I32>()?.get(), plain;
    U64 "u64" u64, 8, Uint, |view| view.read::<le::U64>()?.get(), plain;
    F32 "f32" f32, 4, F32, |view| view.read::<le::F32>()?.get(), plain;
    F32x2 "f32x2" [f32; 2], 8, Nested, |view| floats(view)?, vector::<2>;
    F32x3 "f32x3" [f32; 3], 12, Nested, |view| floats(view)?, vector::<3>;
    F32x4 "f32x4" [f32; 4], 16, Nested, |view| floats(view)?, vector::<4>;
    F32x16 "f32x16" [f32; 16], 64, Nested, |view| floats(view)?, vector::<16>;
    Flag "flag" Flag, 1, Bool, |view| Flag(*view.read::<u8>()? != 0), flag;
    Name "name" NameId, 4, Id32, |view| NameId(view.read::<le::U32>()?.get()), Leaf::Name;
    Path "path" PathId, 8, Id64, |view| PathId(view.read::<le::U64>()?.get()), Leaf::Path;
    Text "text" Text<'a>, 0x10, Text, |view| Text(view.packed_str()?), text;
    Resource "ResourceRef" ResourceRef<'a>, 0x10, Text,
        |view| ResourceRef(view.utf8(resource_bytes(view)?)?), resource;
    Parts "-" NotLaidOut, 0, Any, |_view| NotLaidOut, unknown;
}

pub(super) fn text_bytes(kind: FieldType, view: View<'_>) -> Option<Result<&[u8]>> {
    match kind {
        FieldType::Text => Some(view.packed_bytes()),
        FieldType::Resource => Some(resource_bytes(view)),
        _ => None,
    }
}

/// The longest text that a [`ResourceRef`] without a length may have.
const LONGEST: usize = 1024;

fn resource_bytes(view: View<'_>) -> Result<&[u8]> {
    let error = match view.skip(4).read::<le::U32>()?.get() {
        0 => match view.packed_bytes() {
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
