//! Declarations of fixed-size records: [`schema!`](crate::schema!) states a struct of a file once, with the columns that show
//! its fields. Tables ([`DeclaredTable::fields`](crate::table::DeclaredTable::fields)) and edits in place
//! ([`Patches::set`](crate::writable::patches::Patches::set)) follow from it.

mod field_type;

pub use field_type::{FieldType, Stored};

use crate::bytes::{Overlay, View};
use crate::error::Result;
use crate::table::{Accepts, Column, Value};
use std::fmt;

/// A struct of a file with declared fields.
pub trait Record: Overlay {
    /// The fields that columns show, in the order of the file.
    const FIELDS: &'static [Field];
    /// The name, the offset and the size of each member.
    const MEMBERS: &'static [(&'static str, usize, usize)];
}

/// A field of a record: its position, its bytes, and the column that shows it.
#[derive(Clone, Copy)]
pub struct Field {
    pub name: &'static str,
    pub offset: usize,
    column: fn() -> Column,
    accepts: Accepts,
    value: for<'a> fn(View<'a>) -> Result<Value<'a>>,
    encode: fn(&Value<'_>) -> Option<Vec<u8>>,
}

impl Field {
    /// The field `name` of type `T` at `offset`, shown as `S` in the column that `column` makes: see [`FieldType::column`].
    pub const fn new<T: FieldType<S>, S: ?Sized>(name: &'static str, offset: usize, column: fn() -> Column) -> Self {
        Self {
            name,
            offset,
            column,
            accepts: T::ACCEPTS,
            value: |view| T::value(view.read()?, view),
            encode: |value| Some(T::from_value(value)?.as_bytes().to_vec()),
        }
    }

    /// The column that shows the field. It carries the field, and accepts what the field can store if it is writable.
    pub fn column(&'static self) -> Column {
        let mut column = (self.column)();
        if column.accepts == Accepts::Any {
            column.accepts = self.accepts;
        }
        column.field = Some(self);
        column
    }

    /// The value of the field in the record at `record`.
    ///
    /// # Errors
    /// `OutOfBounds` if the field leaves the file, and the errors of its type.
    pub fn value<'a>(&self, record: View<'a>) -> Result<Value<'a>> {
        (self.value)(record.skip(self.offset))
    }

    /// The bytes that store `value`; `None` if it does not fit.
    pub fn encode(&self, value: &Value<'_>) -> Option<Vec<u8>> {
        (self.encode)(value)
    }
}

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.offset) == (other.name, other.offset)
    }
}

impl Eq for Field {}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Field({} at {:#x})", self.name, self.offset)
    }
}

/// The shown field `name` of `T` alone. For constants: a name that does not exist does not compile.
pub const fn field<T: Record>(name: &str) -> &'static [Field] {
    let mut fields: &'static [Field] = T::FIELDS;
    while let [field, rest @ ..] = fields {
        if is_same_text(field.name, name) {
            return std::slice::from_ref(field);
        }
        fields = rest;
    }
    panic!("the record shows no field with this name")
}

/// Whether two texts are equal, for use at compile time.
pub const fn is_same_text(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (a_rest, b_rest);
    }
    a.is_empty() && b.is_empty()
}

/// Declares structs of a file: their sizes, and their fields with types and columns.
///
/// A field may be shown as another type (`as`, see [`FieldType`](crate::schema::FieldType)). The text after `=>` names its
/// column, and methods of [`Column`](crate::table::Column) follow. A field without a column can have any type of fixed layout.
///
/// ```
/// use assetq::formats::bytes::le;
/// assetq::formats::schema! {
///     /// A price.
///     pub struct Price: 0x14 {
///         /// The item's name, padded with NULs.
///         name: [u8; 16] as str => "name".brief().key(),
///         /// The price in cents.
///         cents: le::U32 => "cents".brief().writable(),
///     }
/// }
/// # use assetq::formats::schema::Record;
/// assert_eq!(Price::FIELDS[1].offset, 16);
/// ```
#[macro_export]
macro_rules! schema {
    (@shown) => { $crate::schema::Stored };
    (@shown $shown:ty) => { $shown };
    ($(
        $(#[$about:meta])*
        $scope:vis struct $record:ident: $size:literal {
            $(
                $(#[$about_field:meta])*
                $field_scope:vis $field:ident: $type:ty
                    $($(as $shown:ty)? => $column:literal $(.$option:ident($($argument:expr)?))*)?
            ),* $(,)?
        }
    )+) => {$(
        $(#[$about])*
        #[derive(
            Debug, Clone, Copy, ::zerocopy::FromBytes, ::zerocopy::KnownLayout, ::zerocopy::Immutable, ::zerocopy::Unaligned,
        )]
        #[repr(C)]
        $scope struct $record {
            $($(#[$about_field])* $field_scope $field: $type,)*
        }
        const _: () = assert!(::core::mem::size_of::<$record>() == $size);

        impl $crate::schema::Record for $record {
            const FIELDS: &'static [$crate::schema::Field] = &[$($(
                $crate::schema::Field::new::<$type, $crate::schema!(@shown $($shown)?)>(
                    stringify!($field),
                    ::core::mem::offset_of!($record, $field),
                    || <$type as $crate::schema::FieldType<$crate::schema!(@shown $($shown)?)>>::column($column)
                        $(.$option($($argument)?))*,
                ),
            )?)*];
            const MEMBERS: &'static [(&'static str, usize, usize)] = &[$(
                (stringify!($field), ::core::mem::offset_of!($record, $field), ::core::mem::size_of::<$type>()),
            )*];
        }
    )+};
}
