//! The fields without parts.

use super::field::{Differ, Field, FieldColumns, FieldType};
use super::walker::{HeldTexts, Leaf, NameId, PathId, Walker};
use crate::budget::BudgetShare;
use crate::bytes::{View, le};
use crate::error::Result;
use crate::table::{Kind, Value};

/// A byte that is a truth value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag(pub bool);

macro_rules! plain_fields {
    ($($of:ident $type:ty, $raw:ty, $kind:ident, |$value:ident| $make:expr, $to:expr;)+) => {$(
        impl<'a> Field<'a> for $type {
            const SIZE: usize = size_of::<$raw>();
            const TYPE: FieldType = FieldType::$of;
            const SHOWN: FieldColumns = FieldColumns::Plain(Kind::$kind);
            const PLAIN: bool = true;

            #[inline]
            fn read(view: View<'a>) -> Result<Self> {
                let $value = view.read::<$raw>()?;
                Ok($make)
            }

            #[inline]
            fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>) {
                let to: fn(Self) -> Value<'a> = $to;
                walker.leaf(name, Leaf::Value(to(self)));
            }
        }
    )+};
}

plain_fields! {
    U8 u8, u8, Uint, |v| *v, Value::from;
    U16 u16, le::U16, Uint, |v| v.get(), Value::from;
    I16 i16, le::I16, Int, |v| v.get(), Value::from;
    U32 u32, le::U32, Uint, |v| v.get(), Value::from;
    I32 i32, le::I32, Int, |v| v.get(), Value::from;
    U64 u64, le::U64, Uint, |v| v.get(), Value::from;
    F32 f32, le::F32, F32, |v| v.get(), Value::from;
    F32x2 [f32; 2], [le::F32; 2], Nested, |v| v.map(|x| x.get()), Value::floats;
    F32x3 [f32; 3], [le::F32; 3], Nested, |v| v.map(|x| x.get()), Value::floats;
    F32x4 [f32; 4], [le::F32; 4], Nested, |v| v.map(|x| x.get()), Value::floats;
    F32x16 [f32; 16], [le::F32; 16], Nested, |v| v.map(|x| x.get()), Value::floats;
}

impl<'a> Field<'a> for Flag {
    const SIZE: usize = 1;
    const TYPE: FieldType = FieldType::Flag;
    const SHOWN: FieldColumns = FieldColumns::Plain(Kind::Bool);
    const PLAIN: bool = true;

    #[inline]
    fn read(view: View<'a>) -> Result<Self> {
        Ok(Self(*view.read::<u8>()? != 0))
    }

    #[inline]
    fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>) {
        walker.leaf(name, Leaf::Value(Value::Bool(self.0)));
    }

    #[inline]
    fn same(old: View<'a>, new: View<'a>, _: &mut BudgetShare<'_>) -> Result<bool> {
        Ok(Self::read(old)? == Self::read(new)?)
    }
}

impl<'a> Field<'a> for NameId {
    const SIZE: usize = 4;
    const TYPE: FieldType = FieldType::Name;
    const SHOWN: FieldColumns = FieldColumns::Name;
    const LEAF: bool = true;
    const TEXTS: HeldTexts = HeldTexts::BY_ID;

    #[inline]
    fn read(view: View<'a>) -> Result<Self> {
        Ok(Self(view.read::<le::U32>()?.get()))
    }

    fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>) {
        walker.leaf(name, Leaf::Name(self));
    }

    fn differ(old: View<'a>, new: View<'a>, differ: &mut Differ<'a, '_>) -> Result<()> {
        let (old, new) = (Self::read(old)?, Self::read(new)?);
        if old != new {
            differ.leaf(Leaf::Name(old), Leaf::Name(new));
        }
        Ok(())
    }
}

impl<'a> Field<'a> for PathId {
    const SIZE: usize = 8;
    const TYPE: FieldType = FieldType::Path;
    const SHOWN: FieldColumns = FieldColumns::Path;
    const LEAF: bool = true;
    const REFERS: bool = true;
    const TEXTS: HeldTexts = HeldTexts::BY_ID;

    #[inline]
    fn read(view: View<'a>) -> Result<Self> {
        Ok(Self(view.read::<le::U64>()?.get()))
    }

    fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>) {
        walker.leaf(name, Leaf::Path(self));
    }

    fn differ(old: View<'a>, new: View<'a>, differ: &mut Differ<'a, '_>) -> Result<()> {
        let (old, new) = (Self::read(old)?, Self::read(new)?);
        if old != new {
            differ.leaf(Leaf::Path(old), Leaf::Path(new));
        }
        Ok(())
    }
}

/// A packed string (0x10 bytes) in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a>(pub &'a str);

impl<'a> Field<'a> for Text<'a> {
    const SIZE: usize = 0x10;
    const TYPE: FieldType = FieldType::Text;
    const SHOWN: FieldColumns = FieldColumns::Plain(Kind::Text);
    const LEAF: bool = true;
    const FLAT: bool = false;
    const REFERS: bool = true;
    const TEXTS: HeldTexts = HeldTexts::OWN;

    fn read(view: View<'a>) -> Result<Self> {
        view.packed_str().map(Self)
    }

    fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>) {
        walker.leaf(name, Leaf::Value(Value::text(self.0)));
    }

    fn same(old: View<'a>, new: View<'a>, share: &mut BudgetShare<'_>) -> Result<bool> {
        let at = old;
        let (old, new) = (old.packed_bytes()?, new.packed_bytes()?);
        let same = old.len() == new.len();
        if same {
            share.spend(at, old.len())?;
        }
        Ok(same && old == new)
    }
}

/// A field that announces the number of elements.
pub(in crate::bwdb) trait Count {
    fn count(self, view: View<'_>) -> Result<usize>;
}

impl Count for u8 {
    fn count(self, _: View<'_>) -> Result<usize> {
        Ok(self.into())
    }
}

impl Count for u16 {
    fn count(self, _: View<'_>) -> Result<usize> {
        Ok(self.into())
    }
}

impl Count for u32 {
    fn count(self, _: View<'_>) -> Result<usize> {
        Ok(self as usize)
    }
}

impl Count for i32 {
    fn count(self, view: View<'_>) -> Result<usize> {
        usize::try_from(self).map_err(|_| view.bad_value("count", self))
    }
}
