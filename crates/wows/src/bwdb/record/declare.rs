//! Declarations of structs and unions, and the code that follows from one: a [`Type`], and typed getters.

use super::types::{FieldInfo, Type};
use crate::bytes::View;
use crate::error::Result;
use crate::schema::is_same_text;

/// A type of fields in structs.
pub trait Typed<'a>: Copy {
    /// The type as data.
    const OF: &'static Type;
    /// Its size in the file, in bytes.
    const SIZE: usize = Self::OF.size;

    /// Reads it at the position of `view`.
    ///
    /// # Errors
    /// When it does not fit.
    fn read(view: View<'a>) -> Result<Self>;
}

/// Whether fields and spans of unused bytes cover 0 to `size` without gap or overlap, in any order.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "the compiler evaluates it")]
pub(in crate::bwdb) const fn tile(fields: &[FieldInfo], unused: &[(usize, usize)], size: usize) -> bool {
    let (mut at, mut used) = (0, 0);
    while at < size {
        let before = used;
        let mut i = 0;
        while i < fields.len() {
            if fields[i].at == at && fields[i].size() > 0 {
                at += fields[i].size();
                used += 1;
            }
            i += 1;
        }
        i = 0;
        while i < unused.len() {
            if unused[i].0 == at && unused[i].1 > at {
                at = unused[i].1;
                used += 1;
            }
            i += 1;
        }
        if used == before {
            return false;
        }
    }
    at == size && used == fields.len() + unused.len()
}

/// The number of the field `name` of a struct with these fields.
pub(in crate::bwdb) const fn number_of(name: &str, mut names: &[&str]) -> usize {
    let mut number = 0usize;
    while let [first, rest @ ..] = names {
        if is_same_text(first, name) {
            return number;
        }
        (number, names) = (number.saturating_add(1), rest);
    }
    panic!("no field has the name of the count of an array")
}

/// Declares prototype structs: their sizes, and each field with its type and offset. The name in documents and the table of
/// a struct follow its size.
///
/// Bytes without a field are declared as `unused`; the declaration is checked when it is compiled.
///
/// `name: Type @ offset` is a field in place; `name: [Type; count_field] @ offset` is a pointer at that offset to as
/// many elements as another field says, relative to the struct; `name: [Type] @ offset` points to a single element. A
/// field without a column in the table of the struct names after `in` the table or column that shows it, unless it is an array of
/// structs with a table. The lifetime at the start is the one that types use.
macro_rules! prototype {
    ($a:lifetime $(
        $(#[$meta:meta])*
        $type:ident = $size:literal $(as $name:literal)? $(in $shown:ident)? $(, unused $($from:literal..$to:literal),+)? {
            $(
                $(#[$field_meta:meta])*
                $field:ident: $kind:tt $(<$life:lifetime>)? @ $offset:literal $(in $table:ident)?,
            )+
        }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy)]
        pub struct $type<$a> {
            view: $crate::bytes::View<$a>,
        }

        #[allow(dead_code, reason = "not every type needs each method")]
        impl<$a> $type<$a> {
            const NAMES: &'static [&'static str] = &[$(stringify!($field)),+];

            /// The declared fields, in order.
            pub(in $crate::bwdb) const FIELDS: &'static [$crate::bwdb::record::FieldInfo] = &[$(
                $crate::bwdb::record::FieldInfo::new(
                    stringify!($field),
                    $offset,
                    prototype!(@of $kind $(<$life>)?),
                    prototype!(@form $kind $(<$life>)?),
                    prototype!(@word $(stringify!($table))?),
                ),
            )+];

            pub(in $crate::bwdb) const fn number_of(name: &str) -> usize {
                $crate::bwdb::record::number_of(name, Self::NAMES)
            }

            /// The record's place.
            pub fn view(&self) -> $crate::bytes::View<$a> {
                self.view
            }

            pub fn walk_fields(&self, walker: &mut dyn $crate::bwdb::record::Walker<$a>) {
                <Self as $crate::bwdb::record::Typed>::OF.walk_fields(self.view, walker);
            }

            $(
                #[doc = concat!("`", stringify!($field), "`, at offset ", stringify!($offset), ".")]
                ///
                $(#[$field_meta])*
                ///
                /// # Errors
                /// When it, or the data that it points to, leaves the file.
                pub fn $field(&self) -> $crate::error::Result<prototype!(@type $a $kind $(<$life>)?)> {
                    prototype!(@read self, $offset, $kind $(<$life>)?)
                }
            )+
        }

        impl<$a> $crate::bwdb::record::Typed<$a> for $type<$a> {
            const OF: &'static $crate::bwdb::record::Type = &$crate::bwdb::record::Type::of_fields(
                prototype!(@name $type $($name)?),
                $size,
                prototype!(@word $(stringify!($shown))?),
                Self::FIELDS,
            );

            #[inline]
            fn read(view: $crate::bytes::View<$a>) -> $crate::error::Result<Self> {
                view.take($size)?;
                Ok(Self { view })
            }
        }

        const _: () = assert!(
            $crate::bwdb::record::tile($type::FIELDS, &[$($(($from, $to)),+)?], $size),
            concat!("fields of ", stringify!($type), " lie on each other, outside of it, or leave a gap undeclared"),
        );
    )+};
    (@name $type:ident) => { stringify!($type) };
    (@name $type:ident $name:literal) => { $name };
    (@word) => { None };
    (@word $word:expr) => { Some($word) };
    (@type $a:lifetime [$element:ty; $count:ident]) => { $crate::bwdb::record::List<$a, $element> };
    (@type $a:lifetime [$element:ty]) => { $element };
    (@type $a:lifetime $type:ty) => { $type };
    (@read $self:ident, $offset:literal, [$element:ty; $count:ident]) => {{
        let count = $crate::bwdb::record::checked_count($self.$count()?, $self.view)?;
        $crate::bwdb::record::List::follow($self.view, $offset, count)
    }};
    (@read $self:ident, $offset:literal, [$element:ty]) => {
        $crate::bwdb::record::follow_one($self.view, $offset)
            .and_then($crate::bwdb::record::Typed::read)
    };
    (@read $self:ident, $offset:literal, $type:ty) => {
        $crate::bwdb::record::Typed::read($self.view.skip($offset))
    };
    (@form [$element:ty; $count:ident]) => {
        $crate::bwdb::record::Form::Array { count: Self::number_of(stringify!($count)) }
    };
    (@form [$element:ty]) => { $crate::bwdb::record::Form::One };
    (@form $type:ty) => { $crate::bwdb::record::Form::Inline };
    (@of [$element:ty; $count:ident]) => { <$element as $crate::bwdb::record::Typed>::OF };
    (@of [$element:ty]) => { <$element as $crate::bwdb::record::Typed>::OF };
    (@of $type:ty) => { <$type as $crate::bwdb::record::Typed>::OF };
}
pub(in crate::bwdb) use prototype;

/// Declares unions: each kind with its name and the type of its value.
macro_rules! unions {
    ($a:lifetime $($(#[$meta:meta])* $type:ident { $($kind:literal => $name:literal $value:ty,)+ })+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy)]
        pub struct $type<$a>($crate::bytes::View<$a>);

        impl<$a> $type<$a> {
            const KINDS: &'static [$crate::bwdb::record::UnionKind] = &[$($crate::bwdb::record::UnionKind {
                kind: $kind,
                name: $name,
                of: <$value as $crate::bwdb::record::Typed>::OF,
            },)+];

            /// The kind as stored; -1 for none.
            ///
            /// # Errors
            /// When it leaves the file.
            pub fn kind(&self) -> $crate::error::Result<i32> {
                $crate::bwdb::record::Typed::read(self.0)
            }
        }

        impl<$a> $crate::bwdb::record::Typed<$a> for $type<$a> {
            const OF: &'static $crate::bwdb::record::Type =
                &$crate::bwdb::record::Type::of_kinds(stringify!($type), Self::KINDS);

            fn read(view: $crate::bytes::View<$a>) -> $crate::error::Result<Self> {
                view.take(Self::SIZE)?;
                Ok(Self(view))
            }
        }
    )+};
}
pub(in crate::bwdb) use unions;
