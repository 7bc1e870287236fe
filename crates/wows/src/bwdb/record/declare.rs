//! Declarations of structs, and the code that follows from one: getters, a walk, comparisons, the fields as data.

use super::{Field, FieldColumns, FieldType, HeldTexts, Walker};
use crate::bytes::View;

/// A struct whose fields were declared with `prototype!`.
pub trait Prototype<'a>: Field<'a> + Send {
    /// Evaluates only where its declaration covers each byte once: fields, and bytes that are declared as unused.
    const LAID_OUT: ();

    /// The prototype's declared fields, in order.
    const FIELDS: &'static [FieldInfo];

    /// The prototype's place.
    fn view(&self) -> View<'a>;

    /// Shows one field to a walker.
    fn walk_field(&self, field: usize, walker: &mut dyn Walker<'a>);

    /// Shows all fields to a walker.
    fn walk_fields(&self, walker: &mut dyn Walker<'a>) {
        let texts_only = walker.texts_only();
        let fields = Self::FIELDS.iter().enumerate().filter(|(_, field)| field.texts.any() || !texts_only);
        fields.for_each(|(i, _)| self.walk_field(i, walker));
    }

    /// Shows the fields that have pointers to a walker.
    fn walk_pointers(&self, walker: &mut dyn Walker<'a>) {
        let fields = Self::FIELDS.iter().enumerate().filter(|(_, field)| !field.flat);
        fields.for_each(|(i, _)| self.walk_field(i, walker));
    }
}

/// How a field holds values of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One value, in place.
    Inline,
    /// A pointer to as many values as the field `count` states.
    Array {
        /// The name of the field.
        count: &'static str,
    },
    /// A pointer to one value.
    One,
}

impl FieldInfo {
    /// The field's place in the struct when it is a pointer.
    pub const fn pointer(&self) -> Option<usize> {
        match self.form {
            Form::Inline => None,
            Form::Array { .. } | Form::One => Some(self.at),
        }
    }
}

/// Whether spans of bytes, each an offset and a length, cover 0 to `size` without gap or overlap, in any order.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "the compiler evaluates it")]
pub(in crate::bwdb) const fn tile(spans: &[(usize, usize)], size: usize) -> bool {
    let (mut at, mut used) = (0, 0);
    while at < size {
        let mut i = 0;
        while i < spans.len() && (spans[i].0 != at || spans[i].1 == 0) {
            i += 1;
        }
        if i == spans.len() {
            return false;
        }
        at += spans[i].1;
        used += 1;
    }
    at == size && used == spans.len()
}

/// A declared field.
#[derive(Debug, Clone, Copy)]
pub struct FieldInfo {
    /// The field's name.
    pub name: &'static str,
    /// The field's place in the struct.
    pub at: usize,
    /// Its type, or its elements' type.
    pub of: FieldType,
    /// Whether it is a pointer to them.
    pub form: Form,
    /// How a table shows it.
    pub shown: FieldColumns,
    /// The texts that it, or the data at its pointers, may hold.
    pub texts: HeldTexts,
    /// Whether its bytes say all: it has no pointers.
    pub flat: bool,
    /// The table or the column that tells it, where the table of its struct has no column for it.
    pub told_in: Option<&'static str>,
}

/// Declares a prototype struct: its size, and each field with its type and offset.
///
/// Bytes without a field are declared as `unused`; the declaration is checked when it is compiled.
///
/// `name: Type @ offset` is a field in place; `name: [Type; count_field] @ offset` is a pointer at that offset to as
/// many elements as another field says, relative to the struct; `name: [Type] @ offset` points to a single element. A
/// field without a column in the table of the struct names after `in` the table or column that shows it. The lifetime at the start is the
/// one that types use.
macro_rules! prototype {
    ($a:lifetime $(
        $(#[$meta:meta])*
        $type:ident = $size:literal $(, unused $($from:literal..$to:literal),+)? {
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

        impl<$a> $type<$a> {
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

        impl<$a> $crate::bwdb::record::Field<$a> for $type<$a> {
            const SIZE: usize = $size;
            const TYPE: $crate::bwdb::record::FieldType = $crate::bwdb::record::FieldType::Struct(stringify!($type));
            const SHOWN: $crate::bwdb::record::FieldColumns = $crate::bwdb::record::FieldColumns::Plain($crate::table::Kind::Nested);
            const REFERS: bool = false $( || prototype!(@refers $kind $(<$life>)?) )+;
            const TEXTS: $crate::bwdb::record::HeldTexts =
                $crate::bwdb::record::HeldTexts::NONE $( .or(prototype!(@texts $kind $(<$life>)?)) )+;

            #[inline]
            fn read(view: $crate::bytes::View<$a>) -> $crate::error::Result<Self> {
                view.take($size)?;
                Ok(Self { view })
            }

            fn walk(self, name: &'static str, walker: &mut dyn $crate::bwdb::record::Walker<$a>) {
                walker.begin(name);
                $crate::bwdb::record::Prototype::walk_fields(&self, walker);
                walker.end();
            }

            const FLAT: bool = true $( && prototype!(@flat $kind $(<$life>)?) )+;

            fn same(
                old: $crate::bytes::View<$a>,
                new: $crate::bytes::View<$a>,
                share: &mut $crate::budget::BudgetShare<'_>,
            ) -> $crate::error::Result<bool> {
                let (old, new) = (Self::read(old)?, Self::read(new)?);
                $( if !prototype!(@same old, new, share, $offset, $field, $kind $(<$life>)?) {
                    return Ok(false);
                } )+
                Ok(true)
            }

            fn differ(
                old: $crate::bytes::View<$a>,
                new: $crate::bytes::View<$a>,
                differ: &mut $crate::bwdb::record::Differ<$a, '_>,
            ) -> $crate::error::Result<()> {
                let (old, new) = (Self::read(old)?, Self::read(new)?);
                $( differ.within(stringify!($field), |differ| {
                    prototype!(@differ old, new, differ, $offset, $field, $kind $(<$life>)?)
                }); )+
                Ok(())
            }
        }

        impl<$a> $crate::bwdb::record::Prototype<$a> for $type<$a> {
            const LAID_OUT: () = assert!(
                $crate::bwdb::record::tile(
                    &[$(($offset, prototype!(@size $kind $(<$life>)?)),)+ $($(($from, $to - $from)),+)?],
                    $size,
                ),
                concat!("fields of ", stringify!($type), " lie on each other, outside of it, or leave a gap undeclared"),
            );

            const FIELDS: &'static [$crate::bwdb::record::FieldInfo] = &[$(
                $crate::bwdb::record::FieldInfo {
                    name: stringify!($field),
                    at: $offset,
                    of: prototype!(@of $kind $(<$life>)?),
                    form: prototype!(@form $kind $(<$life>)?),
                    shown: prototype!(@shown $kind $(<$life>)?),
                    texts: prototype!(@texts $kind $(<$life>)?),
                    flat: prototype!(@flat $kind $(<$life>)?),
                    told_in: prototype!(@told_in $($table)?),
                },
            )+];

            fn view(&self) -> $crate::bytes::View<$a> {
                self.view
            }

            fn walk_field(&self, field: usize, walker: &mut dyn $crate::bwdb::record::Walker<$a>) {
                use $crate::bwdb::record::Field as _;
                let steps: &[fn(&Self, &mut dyn $crate::bwdb::record::Walker<$a>)] = &[$(
                    |this, walker| match this.$field() {
                        Ok(value) => value.walk(stringify!($field), walker),
                        Err(error) => walker.damage(stringify!($field), error),
                    },
                )+];
                if let Some(step) = steps.get(field) {
                    step(self, walker);
                }
            }
        }

        const _: () = <$type<'static> as $crate::bwdb::record::Prototype<'static>>::LAID_OUT;
    )+};
    (@type $a:lifetime [$element:ty; $count:ident]) => { $crate::bwdb::record::List<$a, $element> };
    (@type $a:lifetime [$element:ty]) => { $element };
    (@type $a:lifetime $type:ty) => { $type };
    (@read $self:ident, $offset:literal, [$element:ty; $count:ident]) => {{
        let count = $crate::bwdb::record::Count::count($self.$count()?, $self.view)?;
        $crate::bwdb::record::List::follow($self.view, $offset, count)
    }};
    (@read $self:ident, $offset:literal, [$element:ty]) => {
        $crate::bwdb::record::follow_one($self.view, $offset)
            .and_then($crate::bwdb::record::Field::read)
    };
    (@read $self:ident, $offset:literal, $type:ty) => {
        $crate::bwdb::record::Field::read($self.view.skip($offset))
    };
    (@told_in) => { None };
    (@told_in $table:ident) => { Some(stringify!($table)) };
    (@flat [$element:ty; $count:ident]) => { false };
    (@flat [$element:ty]) => { false };
    (@flat $type:ty) => { <$type as $crate::bwdb::record::Field>::FLAT };
    (@same $old:ident, $new:ident, $share:ident, $offset:literal, $field:ident, [$element:ty; $count:ident]) => {
        $old.$field()?.same($new.$field()?, $share)?
    };
    (@same $old:ident, $new:ident, $share:ident, $offset:literal, $field:ident, [$element:ty]) => {
        <$element as $crate::bwdb::record::Field>::same(
            $crate::bwdb::record::follow_one($old.view, $offset)?,
            $crate::bwdb::record::follow_one($new.view, $offset)?,
            $share,
        )?
    };
    (@same $old:ident, $new:ident, $share:ident, $offset:literal, $field:ident, $type:ty) => {
        <$type as $crate::bwdb::record::Field>::same($old.view.skip($offset), $new.view.skip($offset), $share)?
    };
    (@differ $old:ident, $new:ident, $differ:ident, $offset:literal, $field:ident, [$element:ty; $count:ident]) => {
        $differ.lists($old.$field()?, $new.$field()?)
    };
    (@differ $old:ident, $new:ident, $differ:ident, $offset:literal, $field:ident, [$element:ty]) => {
        <$element as $crate::bwdb::record::Field>::differ(
            $crate::bwdb::record::follow_one($old.view, $offset)?,
            $crate::bwdb::record::follow_one($new.view, $offset)?,
            $differ,
        )
    };
    (@differ $old:ident, $new:ident, $differ:ident, $offset:literal, $field:ident, $type:ty) => {
        <$type as $crate::bwdb::record::Field>::differ($old.view.skip($offset), $new.view.skip($offset), $differ)
    };
    (@shown [$element:ty; $count:ident]) => { $crate::bwdb::record::FieldColumns::Plain($crate::table::Kind::Nested) };
    (@shown [$element:ty]) => { $crate::bwdb::record::FieldColumns::Plain($crate::table::Kind::Nested) };
    (@shown $type:ty) => { <$type as $crate::bwdb::record::Field>::SHOWN };
    (@form [$element:ty; $count:ident]) => { $crate::bwdb::record::Form::Array { count: stringify!($count) } };
    (@form [$element:ty]) => { $crate::bwdb::record::Form::One };
    (@form $type:ty) => { $crate::bwdb::record::Form::Inline };
    (@of [$element:ty; $count:ident]) => { <$element as $crate::bwdb::record::Field>::TYPE };
    (@of [$element:ty]) => { <$element as $crate::bwdb::record::Field>::TYPE };
    (@of $type:ty) => { <$type as $crate::bwdb::record::Field>::TYPE };
    (@refers [$element:ty; $count:ident]) => { <$element as $crate::bwdb::record::Field>::REFERS };
    (@refers [$element:ty]) => { <$element as $crate::bwdb::record::Field>::REFERS };
    (@refers $type:ty) => { <$type as $crate::bwdb::record::Field>::REFERS };
    (@texts [$element:ty; $count:ident]) => { <$element as $crate::bwdb::record::Field>::TEXTS };
    (@texts [$element:ty]) => { <$element as $crate::bwdb::record::Field>::TEXTS };
    (@texts $type:ty) => { <$type as $crate::bwdb::record::Field>::TEXTS };
    (@size [$element:ty; $count:ident]) => { 8 };
    (@size [$element:ty]) => { 8 };
    (@size $type:ty) => { <$type as $crate::bwdb::record::Field>::SIZE };
}
pub(in crate::bwdb) use prototype;
