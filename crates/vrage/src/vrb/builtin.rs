//! The types that are built into the engine: numbers below 0x200, the same among types and models (§4.4).

use std::borrow::Cow;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// The least number of bytes.
    pub least: u32,
    /// Whether the size is exact.
    pub fixed: bool,
    /// Whether the size is exact and any bytes are a valid value.
    pub opaque: bool,
    /// The number of leaves, if the size is exact.
    pub leaves: usize,
}

/// `Nullable<T>`, open.
pub(super) const NULLABLE: u32 = 0x14;

/// A built-in whose values can be read. The widths of [`Builtin::by_position`] ones follow from their place in the
/// row of .NET's type codes; the widths of the others from real values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Builtin {
    /// A prefix, a length in bytes, and UTF-16.
    String = 0x02,
    /// A type index.
    Type = 0x03,
    Boolean = 0x04,
    Byte = 0x07,
    Int16 = 0x08,
    UInt16 = 0x09,
    Int32 = 0x0A,
    UInt32 = 0x0B,
    Int64 = 0x0C,
    UInt64 = 0x0D,
    Single = 0x0F,
    Double = 0x10,
    /// 16 bytes in .NET's order.
    Guid = 0x19,
}

impl Builtin {
    /// The one with this number. `None` also for numbers whose values nothing is known about: 0x05 and 0x06 are char
    /// and sbyte in some order, 0x0E is unknown, and 0 stands for no type.
    #[inline]
    pub fn from_id(id: u32) -> Option<Self> {
        Some(match id {
            0x02 => Self::String,
            0x03 => Self::Type,
            0x04 => Self::Boolean,
            0x07 => Self::Byte,
            0x08 => Self::Int16,
            0x09 => Self::UInt16,
            0x0A => Self::Int32,
            0x0B => Self::UInt32,
            0x0C => Self::Int64,
            0x0D => Self::UInt64,
            0x0F => Self::Single,
            0x10 => Self::Double,
            0x19 => Self::Guid,
            _ => return None,
        })
    }

    /// Whether no real value of it is known, only its position among the others.
    pub fn by_position(self) -> bool {
        matches!(self, Self::Int16 | Self::UInt16 | Self::UInt32 | Self::Double)
    }

    pub(super) fn extent(self) -> Extent {
        let least = match self {
            Self::String | Self::Type => return Extent { least: 1, ..Extent::default() },
            Self::Boolean | Self::Byte => 1,
            Self::Int16 | Self::UInt16 => 2,
            Self::Int32 | Self::UInt32 | Self::Single => 4,
            Self::Int64 | Self::UInt64 | Self::Double => 8,
            Self::Guid => 16,
        };
        // A check counts the values that no known file confirms, so it must not pass over them.
        let opaque = self != Self::Boolean && !self.by_position();
        Extent { least, fixed: true, opaque, leaves: 1 }
    }

    /// Whether it is an integer, as an enum is stored.
    pub(super) fn is_integer(self) -> bool {
        use Builtin::{Byte, Int16, Int32, Int64, UInt16, UInt32, UInt64};
        matches!(self, Byte | Int16 | UInt16 | Int32 | UInt32 | Int64 | UInt64)
    }

    /// The .NET name of a built-in, or its number if the name is not known.
    pub fn name_of(id: u32) -> Cow<'static, str> {
        match id {
            0x02 => "System.String",
            0x03 => "System.Type",
            0x04 => "System.Boolean",
            0x07 => "System.Byte",
            0x08 => "System.Int16",
            0x09 => "System.UInt16",
            0x0A => "System.Int32",
            0x0B => "System.UInt32",
            0x0C => "System.Int64",
            0x0D => "System.UInt64",
            0x0F => "System.Single",
            0x10 => "System.Double",
            NULLABLE => "System.Nullable`1",
            0x15 => "System.Collections.Generic.List`1",
            0x17 => "System.Collections.Generic.Dictionary`2",
            0x19 => "System.Guid",
            _ => return format!("built-in {id:#04x}").into(),
        }
        .into()
    }
}
