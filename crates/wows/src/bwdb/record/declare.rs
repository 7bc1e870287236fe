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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bwdb::record::Form;

    fn fields(places: &[usize]) -> Vec<FieldInfo> {
        places.iter().map(|at| FieldInfo::new("field", *at, <u32 as Typed>::OF, Form::Inline, None)).collect()
    }

    /// Fields of four bytes at these places.
    #[test]
    fn fields_and_unused_bytes_cover_a_struct_once() {
        for (places, unused, size, covers) in [
            (&[0, 4][..], &[][..], 8, true),
            (&[4, 0], &[], 8, true),
            (&[0, 6], &[(4, 6)], 10, true),
            (&[], &[(0, 2), (2, 4)], 4, true),
            // Gaps between fields and at the end.
            (&[0, 6], &[], 10, false),
            (&[0], &[], 8, false),
            // Overlaps, and fields and spans outside of the struct.
            (&[0, 2], &[], 6, false),
            (&[0, 0], &[], 4, false),
            (&[0, 4], &[(4, 8)], 8, false),
            (&[0, 4], &[], 4, false),
            (&[0], &[(4, 8)], 4, false),
            (&[0], &[], 2, false),
        ] {
            assert_eq!(tile(&fields(places), unused, size), covers, "{places:?} {unused:?} {size}");
        }
    }

    #[test]
    fn a_pointer_has_eight_bytes_and_its_array_the_table_of_its_elements() {
        let numbers = FieldInfo::new("numbers", 0, <u16 as Typed>::OF, Form::Array { count: 1 }, Some("lists"));
        let own = FieldInfo { form: Form::Inline, ..numbers };
        assert_eq!((numbers.size(), own.size()), (8, 2));
        assert!(!numbers.is_flat() && own.is_flat());
        assert_eq!(numbers.told_in, Some("lists"));
        let elements = Box::leak(Box::new(Type::of_fields("Node", 4, Some("nodes"), Vec::leak(fields(&[0])))));
        for (form, told, shown_in) in [
            (Form::Array { count: 0 }, None, Some("nodes")),
            (Form::Array { count: 0 }, Some("bones"), Some("bones")),
            (Form::One, None, None),
        ] {
            assert_eq!(FieldInfo::new("nodes", 8, elements, form, told).told_in, shown_in, "{form:?}");
        }
    }

    #[test]
    fn a_count_is_the_number_of_its_field() {
        assert_eq!(["first", "second"].map(|name| number_of(name, &["first", "second"])), [0, 1]);
    }

    #[test]
    #[should_panic(expected = "no field has the name of the count of an array")]
    fn a_count_without_a_field_does_not_compile_in_a_declaration() {
        number_of("third", &["first", "second"]);
    }
}
