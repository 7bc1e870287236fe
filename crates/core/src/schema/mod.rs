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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{be, le};
    use crate::error::ErrorKind;
    use crate::id::{Id32, Id64};
    use crate::table::Kind;

    crate::schema! {
        /// A ware with a field of each kind.
        struct Ware: 0x33 {
            name: [u8; 6] as str => "name".key(),
            tag: [u8; 2] => "tag",
            is_new: u8 as bool => "is_new".writable(),
            stock: u8 => "stock".writable(),
            cents: be::U16 => "cents".writable(),
            change: le::I32 => "change".writable(),
            path: le::U64 as Id64 => "path",
            maker: le::U32 as Id32 => "maker",
            weight: le::F32 => "weight".writable(),
            place: [le::F32; 2] => "place".writable(),
            padding: [u8; 3],
            total: le::F64 => "total",
        }
    }

    fn named(name: &str) -> &'static Field {
        Ware::FIELDS.iter().find(|field| field.name == name).unwrap()
    }

    /// A value of each field, and its bytes.
    fn values() -> Vec<(&'static str, Value<'static>, Vec<u8>)> {
        vec![
            ("name", Value::text("rope"), b"rope\0\0".to_vec()),
            ("tag", Value::List(vec![Value::Uint(1), Value::Uint(255)]), vec![1, 255]),
            ("is_new", Value::Bool(true), vec![1]),
            ("stock", Value::Uint(200), vec![200]),
            ("cents", Value::Uint(0x1234), vec![0x12, 0x34]),
            ("change", Value::Int(-2), vec![0xFE, 0xFF, 0xFF, 0xFF]),
            ("path", Value::Id64(3), vec![3, 0, 0, 0, 0, 0, 0, 0]),
            ("maker", Value::Id32(4), vec![4, 0, 0, 0]),
            ("weight", Value::F32(0.5), 0.5_f32.to_le_bytes().to_vec()),
            ("place", Value::floats([1.0, -1.0]), [1.0_f32.to_le_bytes(), (-1.0_f32).to_le_bytes()].concat()),
            ("total", Value::F64(1e300), 1e300_f64.to_le_bytes().to_vec()),
        ]
    }

    #[test]
    fn fields_of_a_record_are_read_and_stored_where_it_declares_them() {
        let mut bytes = vec![0xAA; 2];
        for (name, value, stored) in values() {
            let field = named(name);
            bytes.resize(2 + field.offset, 0);
            assert_eq!(field.encode(&value).unwrap(), stored, "{name}");
            bytes.extend(stored);
        }
        let record = View::new(&bytes, "wares").skip(2);
        for (name, value, _) in values() {
            assert_eq!(named(name).value(record).unwrap(), value, "{name}");
        }
    }

    #[test]
    fn a_value_that_its_field_cannot_store_is_refused() {
        let refused: [(&str, &[Value<'_>]); 8] = [
            ("name", &[Value::text("anchors"), Value::text("a\0b"), Value::Uint(1)]),
            ("tag", &[Value::List(vec![Value::Uint(1)]), Value::List(vec![Value::Uint(256); 2]), Value::Uint(1)]),
            ("is_new", &[Value::Uint(1)]),
            ("stock", &[Value::Uint(256), Value::Int(1)]),
            ("cents", &[Value::Uint(0x1_0000), Value::Null]),
            ("change", &[Value::Int(1 << 31), Value::Uint(1)]),
            ("maker", &[Value::Uint(4)]),
            ("place", &[Value::floats([1.0]), Value::F32(1.0), Value::List(vec![Value::Null; 2])]),
        ];
        for (name, values) in refused {
            for value in values {
                assert_eq!(named(name).encode(value), None, "{name}: {value}");
            }
        }
    }

    #[test]
    fn the_column_of_a_field_has_its_kind_and_accepts_what_it_can_store() {
        let column = |name| named(name).column();
        assert_eq!((column("cents").kind, column("cents").accepts), (Kind::Uint, Accepts::Bits(16)));
        assert_eq!((column("change").kind, column("change").accepts), (Kind::Int, Accepts::Bits(32)));
        assert_eq!((column("is_new").kind, column("is_new").accepts), (Kind::Bool, Accepts::Any));
        assert_eq!((column("place").kind, column("place").accepts), (Kind::Nested, Accepts::Numbers(2)));
        assert_eq!((column("maker").kind, column("maker").accepts), (Kind::Id32, Accepts::Nothing));
        assert_eq!(column("stock").field, Some(named("stock")));
        assert_eq!(format!("{:?}", named("cents")), "Field(cents at 0xa)");
        assert_eq!(field::<Ware>("cents"), [*named("cents")]);
    }

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        for (a, b, same) in
            [("cents", "cents", true), ("cent", "cents", false), ("cents", "cent", false), ("", "", true)]
        {
            assert_eq!(is_same_text(a, b), same, "{a} {b}");
        }
    }

    #[test]
    #[should_panic(expected = "the record shows no field with this name")]
    fn a_field_without_a_column_does_not_compile_in_a_constant() {
        field::<Ware>("padding");
    }

    #[test]
    fn a_field_that_leaves_the_file_or_is_no_text_is_an_error_at_its_offset() {
        let bytes = [b'r', 0xFF, 0, 0, 0, 0, 0, 0];
        let record = View::new(&bytes, "wares");
        let error = named("name").value(record).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Text { .. }), "{error:?}");
        let error = named("cents").value(record).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OutOfBounds { .. }) && error.to_string().contains("0xa"), "{error}");
    }
}
